//! Page-mapped FTLs: one engine, and policies that only decide.
//!
//! The write path is in `engine/write.rs` and collection in `engine/reclaim.rs`. What the engine
//! keeps is [`DriveState`], what decides is a [`Policy`]. What may be due after a write is in
//! `engine/background.rs`, with collection in steps (`engine/incremental.rs`), wear levelling
//! (`engine/level.rs`), blocks that are rewritten in time (`engine/refresh.rs`) and blocks that fail
//! (`engine/retire.rs`).

mod composed;
mod config;
mod directed;
pub(crate) mod drive;
pub(crate) mod engine;
pub mod entry;
pub(crate) mod gc_schedule;
pub(crate) mod handle_streams;
pub mod policy;
pub(crate) mod reclaim_groups;
mod refresh;

pub use crate::stream::{Stream, StreamId};
pub use composed::Composed;
pub use config::{ConfigError, DriveConfig};
pub use directed::Directed;
pub use drive::{DriveState, FreeBlock, Phase, SeenAs, WearLeveling, sum_of_owners};
pub use engine::{Adopt, PageMapped, Resume};
pub use gc_schedule::{
    GC_SCHEDULES, GarbageParameters, GcSchedule, GradualParameters, StepParameters,
    ThrottledParameters,
};
pub use handle_streams::Handles;
pub use policy::{
    BlockScore, Hint, Hints, HostWrite, Lifetime, Placement, Policy, Relocation, SampleBytes,
    VictimRule, Victims,
};
pub use reclaim_groups::ReclaimGroups;
pub use refresh::{Refresh, Refreshed};

//! Every FTL by name: the one place where names are resolved, and from which help and docs derive.

mod arguments;
mod build;
mod decisions;
mod entry;
mod error;
mod list;
mod macros;
mod memory;
mod names;
mod row;
#[cfg(test)]
mod tests;
mod units;

pub use crate::ftl::DynFtl;
pub use crate::hybrid::FtlEntry;
pub use crate::page::entry::{
    DriveShape, FitContext, Hinted, OracleGroup, PlacementEntry, PolicyEntry, VictimEntry,
};
pub use build::{
    DynAdopting, DynMapped, boxed_policy, build, build_boxed, build_for_drive, build_mapped,
    build_over, build_page_mapped, build_to_adopt, with_policy,
};
pub use decisions::{Decisions, Piece};
pub use entry::{Entry, Kind};
pub use error::BuildError;
pub use list::{PolicyVisitor, covering_names, ftl_names, known_ftls, policy_names};
pub use memory::{drive_bytes, memory_bytes, policy_bytes};
pub use names::{decisions, entries, fit, hints, maps_blocks, resolve, with_fitted};
pub use units::in_units;

//! Experiments: one or many FTLs over one workload, decoded once.
//!
//! ```
//! use ftlab_sim::{DriveOptions, Experiment, Fill, Length, Logical, Workload};
//!
//! let workload = Workload::parse("zipf:theta=0.9", Default::default())?;
//! let experiment = Experiment {
//!     drive: DriveOptions {
//!         logical: Logical::Pages(16_384),
//!         pages_per_block: Some(64),
//!         ..DriveOptions::default()
//!     },
//!     fill: Fill::Sequential,
//!     length: Length::DriveWrites(3.0),
//!     ..Experiment::new(workload, vec!["1r-greedy".parse()?, "2r++".parse()?])
//! };
//! let result = experiment.run(&mut ())?;
//! for run in &result.runs {
//!     println!("{}: {:.2} flash pages per host page", run.ftl, run.waf);
//! }
//! assert_eq!(result.runs[0].host_writes, 3 * 16_384);
//! assert!(result.runs[1].waf < result.runs[0].waf);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Experiment::prepare`] finds everything that can be wrong before anything runs;
//! [`Prepared::run`] decodes the workload in batches, and while it decodes the next one all FTLs
//! apply the present one. Results do not depend on threads or batches. A workload is never held as a
//! whole.

#![forbid(unsafe_code)]

pub mod atlas;
mod causes;
mod drive;
mod drive_class;
mod erase_counts;
mod error;
pub mod evidence;
mod experiment;
pub mod fact;
mod fdp;
pub mod format;
mod frames;
mod ftl_run;
mod groups;
mod host_bytes;
mod hosts;
mod identity;
mod judged;
pub mod lesson;
mod likeness;
mod luns;
mod map;
mod mappings;
mod memory;
mod model_of;
mod moves;
mod observed_workload;
mod option;
mod parameters;
mod precondition;
mod progress;
mod python_options;
mod python_types;
mod repeated;
mod response_summary;
pub mod result;
mod run;
mod run_options;
mod run_result;
mod sizing;
mod steady;
pub mod summary;
mod threads;
mod timing;
mod transactions;
pub mod trust;
mod versions;
mod workload;

pub use drive::{DRIVE_OPTIONS, DriveOptions, EarlyCollection, Logical, Physical};
pub use drive_class::{DriveClass, Model, ModelSize, small_blocks};
pub use error::SimError;
pub use ftlab_feed::FeedError;
pub use ftlab_flash::Faults;
pub use ftlab_ftl::colours;
pub use ftlab_ftl::map::Mapping;
pub use ftlab_host::{TIMINGS, TimingPreset};
pub use ftlab_stack::{OwnPolicies, OwnPolicy, SlcCache, StackError, WhenFull};
pub use ftlab_trace::StreamMap;
pub use identity::{ExperimentIdentity, RunIdentity, WorkloadIdentity};
pub use judged::{are_steady, compared_wafs};
pub use likeness::doubts;
pub use mappings::Mappings;
pub use memory::{MemoryShare, SLACK_BYTES, limit_memory, wait_for_memory};
pub use option::{OptionOf, Options, Told, page_size, told};
pub use precondition::Fill;
pub use progress::{Phase, Progress, Status};
pub use python_types::PYTHON_FILES;
pub use result::ExperimentResult;
pub use run::Prepared;
pub use run_options::{
    BATCH_WRITES, Experiment, GENERATOR_DRIVE_WRITES, Length, RUN_OPTIONS,
    UNTIL_STEADY_DRIVE_WRITES,
};
pub use sizing::usual_pages_per_block;
pub use steady::{Settling, Verdict};
pub use threads::Threads;
pub use versions::other_versions;
pub use workload::{Copies, Requests, Workload};

//! Experiment files and sweeps: one TOML file is many runs, carried out on all processors, and on many
//! machines by shards.
//!
//! ```
//! use std::ops::ControlFlow;
//! use ftlab_experiments::sweep::{ExperimentFile, Plan, Scale, Shard, Store, SweepOptions, read_runs, sweep};
//!
//! let text = r#"
//!     title = "How much over-provisioning does 2R need?"
//!     workloads = ["zipf:theta={theta}"]
//!     ftls = ["1r-greedy", "2r-fifo"]
//!     [drive]
//!     logical-pages = 4096
//!     pages-per-block = 64
//!     op = "{op}"
//!     [grid]
//!     op = ["20%", "40%"]
//!     theta = [0.5, 0.9]
//! "#;
//! let file = ExperimentFile::parse("op.toml".as_ref(), text)?;
//! let plan = Plan::new(file, Scale::FULL)?;
//! assert_eq!((plan.points.len(), plan.jobs.len()), (8, 4));
//!
//! let directory = tempfile::tempdir()?;
//! let mut store = Store::open(directory.path(), Shard::WHOLE)?;
//! let outcome = sweep(&plan, &mut store, SweepOptions::default(), &|_| ControlFlow::Continue(()))?;
//! assert_eq!((outcome.ran, outcome.reused), (8, 0));
//! let again = sweep(&plan, &mut store, SweepOptions::default(), &|_| ControlFlow::Continue(()))?;
//! assert_eq!((again.ran, again.reused), (0, 8));
//!
//! let results = read_runs(directory.path())?;
//! for point in &plan.points {
//!     let run = &results[&point.run].result.runs[0];
//!     println!("{} {}: {:.2}", point.label("op").unwrap(), run.ftl, run.waf);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A run has an identity before it is carried out: a hash over everything that decides its result, with
//! values by default ([`Point::run`]). What the [`Store`] has under it is not run again.

mod columns;
mod compare;
mod file;
mod file_error;
mod held;
mod inspection;
mod items;
mod job;
mod measured;
mod metric;
mod option_table;
mod plan;
mod prose;
mod recognition;
mod recorded;
mod report;
mod runner;
mod scalar;
mod scale;
mod series;
mod settings;
mod setup;
mod shard;
mod spread;
mod stated;
mod store;
mod trust;
mod variables;

pub use columns::StoredRun;
pub use compare::{Comparison, Numbers, Results, compare, extent, measured, places};
pub use file::{Case, ExperimentFile, Kind, schema};
pub use file_error::FileError;
pub use held::{BESIDE_SERIES, Held};
pub use inspection::Inspected;
pub use items::{FtlItem, WorkloadItem};
pub use job::{Failure, JobOutcome};
pub use measured::SeriesTable;
pub use metric::{METRICS, Metric};
pub use option_table::{Described, OptionTable};
pub use plan::{Job, Plan, Point};
pub use prose::filled_in;
pub use recognition::Recognised;
pub use recorded::Recorded;
pub use report::{Basis, Expectation, FigureKind, FigureSpec, Reduce, Selector};
pub use runner::{Outcome, SweepOptions, SweepStatus, sweep};
pub use scalar::{AxisValue, Choice, Pairs, Scalar};
pub use scale::{PAGES_PER_BLOCK_MIN, Scale};
pub use series::{AxisKind, Curve, SERIES, Series};
pub use setup::{StatedLine, stated};
pub use shard::Shard;
pub use spread::{Over, Spread, spread};
pub use stated::Stated;
pub use store::{Store, read_runs, read_runs_of};
pub use trust::{trust_of, without_evidence};

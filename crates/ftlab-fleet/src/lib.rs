//! Fleets: traces of many volumes, each on a drive of its own.
//!
//! [`Fleet::plan`] reads every trace once. It sets the requests of each volume apart in files, looks at what is in them,
//! selects volumes, and writes a [`Manifest`]: every run that there is to do. [`run`] does the runs of a
//! [shard](ftlab_experiments::sweep::Shard), and keeps each as soon as it is finished. [`rows`] makes a table of them,
//! [`Totals`] says what they come to.
//!
//! A run is an experiment like any other, on the requests of one volume: its numbers are those of `ftlab run --volume`.

#![forbid(unsafe_code)]

mod cells;
mod inputs;
mod inspector;
mod manifest;
mod pack;
mod pass;
mod plan;
mod rows;
mod select;
mod sizes;
mod table;
mod totals;
mod volume;

pub use cells::{CELLS, CellName, CellResult, OnCell, Outcome, finished, run};
pub use inputs::InputFile;
pub use manifest::{Cell, Manifest, Member, Pack, PlannedVolume};
pub use pack::{Order, PACK_MAX, Packing};
pub use pass::MANIFEST;
pub use plan::{Fleet, Means, OnPlan, USUAL_SELECTION};
pub use rows::{Row, State, rows};
pub use select::{Selection, variables};
pub use sizes::Sizes;
pub use table::write_rows;
pub use totals::{Flagged, FtlTotals, Spread, Totals};
pub use volume::Volume;

pub use ftlab_volumes::{Facts, FleetSource, generated};

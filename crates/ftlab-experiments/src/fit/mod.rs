//! Which drive has given series of host and media bytes: over-provisioning, unit size, reserve and FTL.
//!
//! Drives are simulated scaled down: the number of units and the number of drive writes stay, and a unit has fewer
//! pages; two sizes tell what the real one would do (`scale.rs`). Of every FTL a drive is looked for that writes as much as
//! was measured: it is over-provisioning that decides how much, and when it is matched, the course of the series tells
//! FTLs and sizes of units apart. Most are told apart by the beginning of the series; the nearest are run over all of it,
//! with several seeds, and [`Bounds`] tell what the series does not. All runs are kept, so that a fit that was stopped
//! continues where it was.
//!
//! Several series of one drive, under workloads of their own, are fitted together. Each of them counts the same, and each
//! is predicted by a fit of the others ([`LeftOut`]).
//!
//! Drives count bytes of the host, and a page that it writes in part costs a whole one. So the bytes are turned into the
//! page writes that the workload needs for them before drives are compared.

mod answer;
mod bounds;
mod counters;
mod drive;
mod in_pages;
mod known;
mod left_out;
mod noise;
mod overhead;
mod pace;
mod question;
mod refreshed;
mod runner;
mod saved;
mod scale;
mod search;
mod series;
mod shared;
mod verdict;
mod written;

pub use answer::{
    Fit, Scales, SeriesFacts, TRIALS, Trials, USUAL_OP_RATIOS, USUAL_PAGES, possible_ftls,
    unit_pages,
};
pub use bounds::{Bounds, ProfilePoint};
pub use counters::{CounterName, Counters, ReadAs, Reading};
pub use drive::{Candidate, OfSeries, Trial};
pub use left_out::{Errors, LeftOut, off};
pub use question::{Question, Series};
pub use series::{Distance, Measured};
pub use verdict::{Cause, Instead, Verdict};
pub use written::Written;

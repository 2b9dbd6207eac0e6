//! One FTL on its way through the workload.

mod finish;
mod history;
mod run;
mod totals;

pub(crate) use run::{FlashOfRun, FtlRun, Label};

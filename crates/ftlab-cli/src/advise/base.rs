//! What every run of a question about a drive has in common.

use crate::error::CliError;
use crate::options::ReadingArgs;
use ftlab_experiments::advise::usual_length;
use ftlab_sim::{DriveOptions, Experiment, Length, Workload};
use ftlab_spec::Spec;

/// Runs of `ftls` on `drive`, of `writes` host page writes if that is given, and otherwise as long as usual.
pub(crate) fn base(
    workload: &str,
    reading: &ReadingArgs,
    drive: DriveOptions,
    ftls: Vec<Spec>,
    (writes, once): (Option<u64>, bool),
) -> Result<Experiment, CliError> {
    let workload = Workload::parse(workload, reading.open_options(drive.page_bytes))?;
    let length = writes.map_or_else(|| usual_length(&workload, once), Length::Writes);
    Ok(Experiment { drive, length, ..Experiment::new(workload, ftls) })
}

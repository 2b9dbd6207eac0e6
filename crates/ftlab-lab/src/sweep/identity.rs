//! What makes two runs the same.

use ftlab_flash::Timing;
use ftlab_ftl::registry;
use ftlab_sim::{DriveOptions, Experiment, SimError, Workload};
use ftlab_spec::{Parameters, Spec, SpecError};
use ftlab_trace::{TraceError, file_fingerprint, synthetic};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_128;

/// Finds out what makes an experiment the one it is; looks at each trace once.
#[derive(Default)]
pub(crate) struct Identity(BTreeMap<PathBuf, String>);

impl Identity {
    /// Everything that decides the results of an experiment besides its FTLs, with values by default
    /// and however it was typed; `reading` says how its trace is read.
    pub(crate) fn of(
        &mut self,
        experiment: &Experiment,
        reading: &str,
    ) -> Result<String, SimError> {
        let workload = match &experiment.workload {
            Workload::Generator(spec) => synthetic::identity(spec)?,
            Workload::Trace { path, .. } => format!("trace {} {reading}", self.trace(path)?),
            // Nobody else has them, and they live no longer than the program.
            Workload::Requests(_) => format!("requests {:?}", experiment.workload),
        };
        let timing = experiment.timing.as_ref().map(Timing::from_spec).transpose()?;
        let parts = (
            workload,
            resolved_drive(&experiment.drive)?,
            format!("{:?}", experiment.length),
            experiment.fill.to_string(),
            experiment.warmup_writes,
            experiment.interval_writes,
            timing.map(|timing| format!("{:?}", timing.values())),
            experiment.faults.map(|faults| format!("{:?}", faults.values())),
            experiment.endurance_cycles,
            experiment.seed,
            (experiment.wrap, experiment.ignore_trims, experiment.observe),
        );
        Ok(serde_json::to_string(&(env!("CARGO_PKG_VERSION"), parts)).unwrap_or_default())
    }

    /// Length and hash of both ends of a trace: a copy elsewhere is the same.
    fn trace(&mut self, path: &Path) -> Result<String, SimError> {
        if let Some(known) = self.0.get(path) {
            return Ok(known.clone());
        }
        let name = path.display().to_string();
        let of = file_fingerprint(path)
            .map_err(|source| SimError::Trace(TraceError::Io { name, source }))?;
        self.0.insert(path.into(), of.clone());
        Ok(of)
    }
}

/// The drive with its number of pages and blocks, where its size does not depend on the trace.
fn resolved_drive(drive: &DriveOptions) -> Result<String, SimError> {
    match drive.asked_pages() {
        Some(_) => drive.drive_config().map(|config| format!("{config:?}")),
        None => Ok(format!("{drive:?}")),
    }
}

/// The hash of a run: 32 hexadecimal digits.
pub(crate) fn run_hash(experiment: &str, ftl: &Spec) -> Result<String, SpecError> {
    let parameters = registry::resolve(ftl)?;
    let text = format!("{experiment} {} {parameters:?}", ftl.name);
    Ok(format!("{:032x}", XxHash3_128::oneshot(text.as_bytes())))
}

/// The same of an experiment that looks at its workload alone.
pub(crate) fn run_hash_of_workload(experiment: &str) -> String {
    format!("{:032x}", XxHash3_128::oneshot(experiment.as_bytes()))
}

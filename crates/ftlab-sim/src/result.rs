//! What an experiment yields.
//!
//! Counts are whole numbers of pages, blocks or requests, shares are in 0..=1, sizes in bytes. Counts
//! of a run exclude fill and warm-up.

pub use crate::causes::{ErasesByCause, ProgramsByCause};
pub use crate::drive::DriveSummary;
pub use crate::erase_counts::EraseCounts;
pub use crate::evidence::{RunEvidence, Standing};
pub use crate::fdp::{
    FdpEvent, FdpEventCounts, FdpEventType, FdpHandle, FdpIsolation, FdpStatistics, OF_DRIVE,
    OF_HANDLE,
};
pub use crate::frames::{Bytes, FREE, Frame, Observed, RETIRED};
pub use crate::groups::GroupResult;
pub use crate::map::MapResult;
pub use crate::model_of::ModelOf;
pub use crate::moves::Moves;
pub use crate::observed_workload::ObservedWorkload;
pub use crate::response_summary::ResponseSummary;
pub use crate::run_result::{
    Endurance, FACTS, FaultsResult, Memory, OwnWorkload, RefreshResult, RunResult, SlcResult,
    StreamResult, VictimValidShare, shown,
};
pub use crate::steady::Settling;
pub use crate::timing::{
    BufferResult, LunSeconds, OperationTimes, RequestsResult, SlowResult, TimingResult,
    TimingSummary, TransactionsResult, WaitsResult,
};

use crate::atlas::AtlasDrive;
use crate::drive_class::DriveClass;
use crate::format::{percent, significant};
use crate::judged::trust_of;
use crate::option::tell;
use crate::run_options::Experiment;
use crate::trust::Trust;
use ftlab_spec::Spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that an experiment yields; `results.json` holds one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Stored")]
#[schemars(title = "Results of ftlab run", !from)]
pub struct ExperimentResult {
    /// Version of ftlab, with the commit that it was built from, if that is known: `0.1.0 (647af12)`.
    pub version: String,
    /// The command that was typed; none if the experiment was run from a program.
    pub command: Option<String>,
    /// What was simulated.
    pub config: Config,
    /// What the workload turned out to be.
    pub workload: WorkloadSummary,
    /// XXH3-128 over operation, address and length of the requests that were taken, warm-up included:
    /// 32 hexadecimal digits. Independent of container, compression and page size; a request of which
    /// only a part was needed counts whole. The fill is not in it.
    pub trace_hash: String,
    /// One run for each FTL, in the order in which they were named.
    pub runs: Vec<RunResult>,
    /// What an answer from these runs rests on.
    pub trust: Trust,
    /// The drive that was named, if it is one of the atlas or of a file; left out if not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_drive: Option<KnownDrive>,
}

/// A real drive whose model was run, and what is known of it beyond that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownDrive {
    /// What `--drive` was given.
    pub name: String,
    /// Media bytes that it writes beside those of the host and those that it moves, as a share of them. No other number
    /// includes them.
    pub overhead: f64,
    /// Media bytes per host byte that its counters would show, with the overhead, of each run.
    pub media_bytes_per_host_byte: Vec<f64>,
    /// What the model was fitted to, and how far it is off.
    pub rests_on: String,
}

impl KnownDrive {
    /// What is known of the drive, and what its counters would show, in two lines at most.
    pub fn line(&self, runs: &[RunResult]) -> String {
        if self.overhead == 0.0 {
            return format!("{}\n", self.rests_on);
        }
        let counted = self.media_bytes_per_host_byte.iter().zip(runs);
        let counted = counted.map(|(own, run)| format!("{} ({})", significant(*own, 4), run.ftl));
        format!(
            "This drive writes {} of that beside (overhead, not in the table): its counters would show {} media bytes per \
             host byte.\n{}\n",
            percent(self.overhead),
            counted.collect::<Vec<_>>().join(", "),
            self.rests_on
        )
    }
}

/// Results as they are in a file: those of earlier versions do not tell bytes of the host.
#[derive(Deserialize)]
struct Stored {
    version: String,
    command: Option<String>,
    config: Config,
    workload: WorkloadSummary,
    trace_hash: String,
    runs: Vec<RunResult>,
    #[serde(default)]
    known_drive: Option<KnownDrive>,
}

impl From<Stored> for ExperimentResult {
    fn from(stored: Stored) -> Self {
        let Stored { version, command, config, workload, trace_hash, mut runs, known_drive } =
            stored;
        let page_bytes = u64::from(config.drive.page_bytes);
        for run in runs.iter_mut().filter(|run| run.host_bytes == 0) {
            run.host_bytes = run.host_writes * page_bytes;
            run.media_bytes_per_host_byte = run.waf;
        }
        for run in runs.iter_mut().filter(|run| run.evidence.is_none()) {
            run.judge(&config.drive, None);
        }
        let trust = trust_of(&config.drive, &config.fill, config.timing.as_ref(), &runs);
        Self { version, command, config, workload, trace_hash, runs, trust, known_drive }
    }
}

impl ExperimentResult {
    /// It as what was run on the model of this drive.
    #[must_use]
    pub fn on(mut self, drive: &AtlasDrive) -> Self {
        let overhead = drive.overhead.0;
        self.known_drive = Some(KnownDrive {
            name: drive.name.clone(),
            overhead,
            media_bytes_per_host_byte: counted(overhead, &self.runs),
            rests_on: self.rests_on(drive),
        });
        self
    }

    /// What is said of the drive, if it was run as it was fitted, or else what was not as there.
    fn rests_on(&self, drive: &AtlasDrive) -> String {
        let own = &self.config.drive;
        let fitted: Vec<Spec> =
            drive.as_good().into_iter().flatten().chain([drive.ftl.clone()]).collect();
        let is_fitted = |ftl: &String| ftl.parse().is_ok_and(|ftl| fitted.contains(&ftl));
        let op = drive.class.parse().ok().and_then(|class: DriveClass| class.op);
        let differs = [
            ("FTL", !self.config.ftls.iter().all(is_fitted)),
            ("over-provisioning", op.is_some() && own.op_ratio_asked != op.map(|op| op.0)),
            ("reserve", own.reserve_blocks != drive.reserve),
            ("gc", own.gc != drive.gc.to_string()),
        ];
        let differs = differs.into_iter().filter_map(|(what, differs)| differs.then_some(what));
        let others: Vec<&str> = differs.chain(own.options.keys().map(String::as_str)).collect();
        if others.is_empty() {
            return drive.rests_on();
        }
        format!(
            "This is not {} as it was fitted: {} differ{}. How far that is off is not known.",
            drive.title,
            others.join(", "),
            if others.len() == 1 { "s" } else { "" }
        )
    }

    /// It with these of its runs only.
    #[must_use]
    pub fn with_runs(mut self, runs: Vec<RunResult>) -> Self {
        self.config.ftls = runs.iter().map(|run| run.ftl.clone()).collect();
        let Config { drive, fill, timing, .. } = &self.config;
        self.trust = trust_of(drive, fill, timing.as_ref(), &runs);
        if let Some(known) = &mut self.known_drive {
            known.media_bytes_per_host_byte = counted(known.overhead, &runs);
        }
        self.runs = runs;
        self
    }
}

/// Media bytes per host byte of each run, with those that the drive writes beside.
fn counted(overhead: f64, runs: &[RunResult]) -> Vec<f64> {
    runs.iter().map(|run| (1.0 + overhead) * run.media_bytes_per_host_byte).collect()
}

/// What is simulated. Together with the trace it decides every number but the times.
#[expect(clippy::struct_excessive_bools, reason = "a set of independent options")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = tell::<Experiment>)]
pub struct Config {
    /// The trace as it was named, or the generator with its parameters.
    pub workload: String,
    /// Every parameter of the generator with its value, given or by default; none for a trace.
    pub workload_parameters: Option<BTreeMap<String, String>>,
    /// The format of the trace with its parameters; none for a generator.
    pub format: Option<String>,
    /// The drive.
    pub drive: DriveSummary,
    /// FTLs as they were named.
    pub ftls: Vec<String>,
    /// How the drive is filled before anything is counted: "none", "sequential" or "random".
    pub fill: String,
    /// Host page writes that are executed after the fill and not counted.
    pub warmup_writes: u64,
    /// Host page writes that are counted at most; all of the trace if none.
    pub writes_max: Option<u64>,
    /// Whether counting ended as soon as every FTL was steady; left out if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_steady: bool,
    /// Whether a trace began again when it ended; left out if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat: bool,
    /// Host page writes of an interval of the running write amplification.
    pub interval_writes: u64,
    /// Seed of generator and random fill.
    pub seed: u64,
    /// The streams of requests by where they lie, such as "1MiB..2MiB=1"; none if requests name their own,
    /// or none.
    pub streams: Option<String>,
    /// Whether addresses beyond the drive are taken modulo its size.
    pub wrap: bool,
    /// Whether trims do nothing.
    pub ignore_trims: bool,
    /// Program/erase cycles that a block endures, if given.
    pub endurance_cycles: Option<u32>,
    /// How long operations take; none if time is not simulated.
    pub timing: Option<TimingSummary>,
    /// How often operations fail, every parameter with its value; none if they do not.
    pub faults: Option<BTreeMap<String, String>>,
    /// The real drive that the drive is a model of; left out if it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_of: Option<ModelOf>,
    /// The options that are told where they are not off, by name.
    #[serde(flatten)]
    #[schemars(skip)]
    pub options: BTreeMap<String, String>,
}

impl Config {
    /// How many times as large the drive is as the one that is simulated: 1 unless that is a model.
    pub(crate) fn times_smaller(&self) -> f64 {
        let of = |of: &ModelOf| of.logical_bytes as f64 / self.drive.logical_bytes.max(1) as f64;
        self.model_of.as_ref().map_or(1.0, of)
    }

    /// Whether it ends as soon as every FTL is steady, even before the workload: a trace that is run once does not.
    pub fn may_end_early(&self) -> bool {
        self.until_steady && (self.repeat || self.format.is_none())
    }
}

/// What a workload turned out to be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadSummary {
    /// Requests that were taken, by operation: write, trim, flush, read. Reads and flushes do nothing. Where
    /// each FTL has its own, those of the first; `own_workload` of the runs has all.
    pub requests: BTreeMap<String, u64>,
    /// Host page writes, warm-up included.
    pub page_writes: u64,
    /// Write requests that do not begin and end at page boundaries. A page that the host writes in part costs a whole
    /// program; that the rest of it has to be read before is not simulated.
    #[serde(default)]
    #[schemars(!default)]
    pub unaligned_writes: u64,
    /// Whether requests name streams.
    pub has_streams: bool,
    /// Lines of the trace that were passed over.
    pub skipped_lines: u64,
    /// Lines that were passed over, by reason.
    pub skipped: Vec<SkippedSummary>,
    /// Where its writes go; none unless pages and blocks are watched.
    pub observed: Option<ObservedWorkload>,
}

/// Lines that were passed over for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedSummary {
    /// Why.
    pub reason: String,
    /// How many.
    pub count: u64,
    /// Number of the first, from 1.
    pub first_line: u64,
    /// Its text, cut if long.
    pub first_text: String,
}

/// The JSON Schema of [`ExperimentResult`], as published.
pub fn schema() -> String {
    let schema = schemars::schema_for!(ExperimentResult);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

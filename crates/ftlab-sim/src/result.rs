//! What an experiment yields.
//!
//! Counts are whole numbers of pages, blocks or requests, shares are in 0..=1, sizes in bytes. Counts
//! of a run exclude fill and warm-up.

pub use crate::erase_counts::EraseCounts;
pub use crate::fdp::{
    FdpEvent, FdpEventCounts, FdpEventType, FdpHandle, FdpIsolation, FdpStatistics,
};
pub use crate::frames::{Bytes, FREE, Frame, Observed, RETIRED};
pub use crate::groups::GroupResult;
pub use crate::moves::Moves;
pub use crate::observed_workload::ObservedWorkload;
pub use crate::response_summary::ResponseSummary;
pub use crate::steady::Settling;
pub use crate::timing::{
    BufferResult, LunSeconds, OperationTimes, RequestsResult, SlowResult, TimingResult,
    TimingSummary, TransactionsResult, WaitsResult,
};

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
}

impl From<Stored> for ExperimentResult {
    fn from(stored: Stored) -> Self {
        let Stored { version, command, config, workload, trace_hash, mut runs } = stored;
        let page_bytes = u64::from(config.drive.page_bytes);
        for run in runs.iter_mut().filter(|run| run.host_bytes == 0) {
            run.host_bytes = run.host_writes * page_bytes;
            run.media_bytes_per_host_byte = run.waf;
        }
        Self { version, command, config, workload, trace_hash, runs }
    }
}

/// What is simulated. Together with the trace it decides every number but the times.
#[expect(clippy::struct_excessive_bools, reason = "a set of independent options")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
}

/// The simulated drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriveSummary {
    /// Bytes per page.
    pub page_bytes: u32,
    /// Pages per erase block.
    pub pages_per_block: u32,
    /// Erase blocks.
    pub blocks: u32,
    /// Pages that the host can address.
    pub logical_pages: u32,
    /// The same in bytes.
    pub logical_bytes: u64,
    /// Bytes of flash.
    pub physical_bytes: u64,
    /// Where the logical size comes from: "asked", "device of the trace" or "highest address of the
    /// trace".
    pub size_from: String,
    /// Bytes that rounding to whole pages added; negative if it took some away.
    pub rounded_bytes: i64,
    /// Over-provisioning as asked for, (physical - logical) / logical; none if blocks were given.
    pub op_ratio_asked: Option<f64>,
    /// Over-provisioning as it came out, (physical - logical) / logical.
    pub op_ratio: f64,
    /// (physical - logical) / physical.
    pub spare_factor: f64,
    /// Free blocks that host writes may not take.
    pub reserve_blocks: u32,
    /// While fewer blocks are free, blocks are collected ahead of need; 0 is never.
    pub gc_start_blocks: u32,
    /// The most valid pages of a block that is collected ahead of need.
    pub early_valid_pages_max: u32,
    /// When garbage is collected: "foreground", "background:pages=N" or "incremental:pages=N" after host
    /// writes, "garbage:share=S" or "gradual:from=S".
    pub gc: String,
    /// Which free block is opened next: "fifo" or "least-worn".
    pub free_block: String,
    /// How many more erases than the least worn block a block may have before cold pages are moved; 0
    /// is any number.
    pub wear_threshold: u32,
    /// When pages are rewritten because they were read too often or are too old: "reads=N,age=N"; none if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh: Option<String>,
    /// The SLC cache, with every option; none if there is none. Its blocks come on top of `blocks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slc_cache: Option<String>,
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
    /// The same by reason.
    pub skipped: Vec<SkippedSummary>,
    /// Where its writes go; none unless pages and blocks are watched.
    pub observed: Option<ObservedWorkload>,
}

/// What an FTL was asked for where each has its own order of requests: which job of fio writes next depends
/// on when writes are complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnWorkload {
    /// Requests that were taken, by operation: write, trim, flush, read.
    pub requests: BTreeMap<String, u64>,
    /// Host page writes, warm-up included.
    pub page_writes: u64,
    /// The hash of these requests, like `trace_hash`, which is that of the first FTL.
    pub trace_hash: String,
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

/// What happened in an SLC cache. Pages that were written to it are folded, dropped, or still there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlcResult {
    /// Its erase blocks.
    pub blocks: u32,
    /// The pages that each holds.
    pub pages_per_block: u32,
    /// Pages that the host wrote to it.
    pub writes: u64,
    /// Pages that the host wrote past it, since it was full.
    pub bypassed: u64,
    /// Pages that were written to normal blocks, which are among the relocations.
    pub folds: u64,
    /// Pages that were written again or trimmed before.
    pub dropped: u64,
    /// Pages that the host read from it, where reads take time.
    pub read_hits: u64,
    /// Blocks of it that were erased.
    pub erases: u64,
    /// Folds in each whole interval of `config.interval_writes`.
    pub running_folds: Vec<u64>,
}

/// What was rewritten in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefreshResult {
    /// Blocks that were rewritten.
    pub blocks: u64,
    /// Their valid pages, which are among the relocations.
    pub relocations: u64,
    /// The same in each whole interval of `config.interval_writes`.
    pub running_relocations: Vec<u64>,
}

/// What one FTL did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// The FTL as it was named.
    pub ftl: String,
    /// Every parameter of the FTL with its value, given, by default, or worked out where it is "auto".
    pub parameters: BTreeMap<String, String>,
    /// XXH3-128 of everything that decides the result besides the trace: drive, preparation, length, seed,
    /// the FTL and the generator with all their parameters and the versions of their decisions; equal
    /// however these were typed. 32 hexadecimal digits.
    pub config_hash: String,
    /// Pages that the host wrote, in part or whole. Drive writes are these, divided by the pages that the host can
    /// address.
    pub host_writes: u64,
    /// Bytes that the host sent with these: fewer than the pages have if requests did not begin and end at page
    /// boundaries. Results of earlier versions count whole pages.
    #[serde(default)]
    #[schemars(!default)]
    pub host_bytes: u64,
    /// Valid pages that garbage collection moved, copies of merges not included.
    pub relocations: u64,
    /// Of these, pages of blocks that were rewritten because they were read too often or too old; none without
    /// refresh.
    pub refresh: Option<RefreshResult>,
    /// What happened in the SLC cache; none if there is none. Its folds are among the relocations.
    pub slc: Option<SlcResult>,
    /// Blocks erased, those of an SLC cache included.
    pub erases: u64,
    /// Trimmed pages that held data.
    pub trims: u64,
    /// Collections; each takes one victim or more. Of hybrid-mapped FTLs, log blocks reclaimed.
    pub collections: u64,
    /// Pages that merges copied; like all counts of merges 0 but for hybrid-mapped FTLs.
    pub merge_copies: u64,
    /// Merges into a fresh block.
    pub full_merges: u64,
    /// Merges that copied only the pages that a log block written in order lacks at its end.
    pub partial_merges: u64,
    /// Merges that had nothing to copy.
    pub switch_merges: u64,
    /// Of the full merges, those of an isolated page, a few at each host write.
    pub progressive_merges: u64,
    /// Of the full merges, those of an isolated page that were due at once, for want of room.
    pub hurried_merges: u64,
    /// Write amplification, which is of pages here and wherever it is called so: (`host_writes` + `relocations` +
    /// `merge_copies`) / `host_writes`.
    pub waf: f64,
    /// Media bytes per host byte, as the counters of a drive give it: bytes of these pages / `host_bytes`. The same as
    /// `waf` if the host wrote whole pages.
    #[serde(default)]
    #[schemars(!default)]
    pub media_bytes_per_host_byte: f64,
    /// Write amplification over the last tenth of the host writes.
    pub waf_last_tenth: f64,
    /// Host writes of that last tenth, exact to a thousandth of all.
    pub last_tenth_host_writes: u64,
    /// Whether write amplification has settled.
    pub settling: Settling,
    /// Write amplification of each whole interval of `config.interval_writes`.
    pub running_waf: Vec<f64>,
    /// Bytes that the host sent in each of these; none if it wrote whole pages.
    pub running_host_bytes: Option<Vec<u64>>,
    /// Relocations in each of these.
    pub running_relocations: Vec<u64>,
    /// Erases in each of these.
    pub running_erases: Vec<u64>,
    /// `cold_region_share` at the end of each; none if the FTL has no cold stream.
    pub running_cold_region_share: Option<Vec<f64>>,
    /// Share of the drive's erase blocks that hold pages of cold streams, at the end; none if the FTL
    /// has no cold stream.
    pub cold_region_share: Option<f64>,
    /// Valid share of the collected blocks.
    pub victim_valid_share: VictimValidShare,
    /// The streams that the FTL keeps apart.
    pub streams: Vec<StreamResult>,
    /// Erases of each block, without those of an SLC cache.
    pub erase_counts: EraseCounts,
    /// How much the host can write; none if the cycles of a block were not given.
    pub endurance: Option<Endurance>,
    /// The logs of a drive with flexible data placement; none unless the FTL has placement handles.
    pub fdp: Option<FdpStatistics>,
    /// What failed; none if nothing can.
    pub faults: Option<FaultsResult>,
    /// Memory of the FTL.
    pub memory: Memory,
    /// Processor seconds in the FTL, decoding excluded. Varies from run to run, as all times.
    pub seconds: f64,
    /// Nanoseconds in the FTL per flash page program (host write, relocation or copy of a merge).
    pub nanoseconds_per_program: f64,
    /// Nanoseconds in the FTL per host write, collections excluded, but merges included.
    pub nanoseconds_per_host_write: f64,
    /// Nanoseconds in collections (choice of victims and erases included) per relocation; none if
    /// collections moved nothing.
    pub nanoseconds_per_relocation: Option<f64>,
    /// Time on the simulated flash; none if it is not simulated.
    pub timing: Option<TimingResult>,
    /// What it was asked for; none if all FTLs were asked for the same.
    pub own_workload: Option<OwnWorkload>,
    /// What was watched of pages and blocks; none if nothing was. Watching takes time: what the FTL itself
    /// takes is then less than `seconds` and the nanoseconds say.
    pub observed: Option<Observed>,
}

impl RunResult {
    /// Whether the host wrote pages in part, so that media bytes per host byte are more than the write amplification.
    pub fn has_parts(&self) -> bool {
        self.media_bytes_per_host_byte > self.waf
    }
}

/// Valid share of collected blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VictimValidShare {
    /// The mean; none if nothing was collected.
    pub mean: Option<f64>,
    /// Victims in twenty bins of 5% each, the lower border of a bin included; the last one has full
    /// blocks too.
    pub histogram: Vec<u64>,
}

/// A stream of pages that an FTL keeps apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamResult {
    /// Its name.
    pub name: String,
    /// Whether its blocks are the cold region, or a part of it.
    pub cold: bool,
    /// Blocks that hold its pages at the end.
    pub blocks: u32,
    /// Its blocks that were erased.
    pub erases: u64,
    /// Valid pages that were moved out of its blocks.
    pub relocations: u64,
    /// Mean valid share of its collected blocks; none if there were none, as of data blocks, which are
    /// merged.
    pub victim_valid_share: Option<f64>,
}

/// How much can be written before the flash is worn out, at the media bytes per host byte of the run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Endurance {
    /// Program/erase cycles of a block, as given.
    pub cycles: u32,
    /// Years over which drive writes per day are counted.
    pub years: f64,
    /// Terabytes (10^12 bytes) written by the host: cycles x physical capacity / media bytes per host byte.
    pub tbw: f64,
    /// Drive writes per day, of host bytes: bytes written / (logical capacity x 365 x years).
    pub dwpd: f64,
}

impl Endurance {
    /// Years of the usual warranty.
    const YEARS: f64 = 5.0;

    pub(crate) fn new(
        cycles: u32,
        media_bytes_per_host_byte: f64,
        physical_bytes: f64,
        logical_bytes: f64,
    ) -> Self {
        let bytes = f64::from(cycles) * physical_bytes / media_bytes_per_host_byte;
        Self {
            cycles,
            years: Self::YEARS,
            tbw: bytes / 1e12,
            dwpd: bytes / (logical_bytes * 365.0 * Self::YEARS),
        }
    }
}

/// What failed, fill and warm-up included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultsResult {
    /// Blocks that were bad from birth.
    pub bad_blocks: u32,
    /// Blocks out of use at the end, those bad from birth included.
    pub retired_blocks: u32,
    /// Programs and copies that failed.
    pub failed_programs: u64,
    /// Erases that failed.
    pub failed_erases: u64,
    /// Counted host writes after which the drive became read-only and the run ended; none if it did not.
    pub read_only_after: Option<u64>,
    /// Why it did.
    pub read_only: Option<String>,
}

/// Memory of an FTL, here and in a controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Bytes of mapping tables, valid bits, block states and free list, which every FTL has.
    pub drive_bytes: u64,
    /// Bytes that the policy keeps beside them.
    pub policy_bytes: u64,
    /// Both per flash page.
    pub bytes_per_flash_page: f64,
    /// What the algorithm has to remember beside what every FTL keeps, packed as a controller would
    /// pack it: such as "1 bits/block + 32 bytes".
    pub metadata: String,
    /// The bytes that this makes on this drive.
    pub metadata_bytes: u64,
}

/// The JSON Schema of [`ExperimentResult`], as published.
pub fn schema() -> String {
    let schema = schemars::schema_for!(ExperimentResult);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

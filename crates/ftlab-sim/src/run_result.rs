//! What one FTL did, and where each number of it is shown.

use crate::causes::{ErasesByCause, ProgramsByCause};
use crate::erase_counts::EraseCounts;
use crate::evidence::RunEvidence;
use crate::fact::{
    Column, Fact, Facts, Kind, Measured, Sheet, Shown, Value, When, facts, report, shown_of, spare,
    sweep, table, tell,
};
use crate::fdp::FdpStatistics;
use crate::format::significant;
use crate::frames::Observed;
use crate::luns::luns;
use crate::map::MapResult;
use crate::steady::Settling;
use crate::timing::{OperationTimes, TimingResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

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

facts! {
    Run:
    /// What happened in an SLC cache. Pages that were written to it are folded, dropped, or still there.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct SlcResult {
        /// Its erase blocks.
        blocks: u32 = Count, "blocks", from "--slc-cache" [frame(80, "slc_blocks")];
        /// The pages that each holds.
        pages_per_block: u32 = Count, "pages", from "--slc-cache" [frame(90, "slc_pages_per_block")];
        /// Pages that the host wrote to it.
        writes: u64 = Count, "pages", from "the SLC cache" [
            table(Slc, 10, "pages\nwritten to it", Always),
            frame(100, "slc_writes"),
        ];
        /// Pages that the host wrote past it, since it was full.
        bypassed: u64 = Count, "pages", from "the SLC cache" [
            table(Slc, 20, "past it", Always),
            frame(110, "slc_bypassed"),
        ];
        /// Pages that were written to normal blocks, which are among the relocations.
        folds: u64 = Count, "pages", from "the SLC cache" [
            table(Slc, 40, "folded", Always),
            report(Runs, 60, "folded", "Of the relocations, pages written from the SLC cache to normal blocks", Known),
            frame(120, "slc_folds"),
        ];
        /// Pages that were written again or trimmed before.
        dropped: u64 = Count, "pages", from "the SLC cache" [
            table(Slc, 30, "rewritten or\ntrimmed there", Always),
            report(Runs, 70, "SLC hits", "Of the host writes, pages rewritten or trimmed in the SLC cache", Known),
            frame(130, "slc_dropped"),
        ];
        /// Pages that the host read from it, where reads take time.
        read_hits: u64 = Count, "pages", from "the SLC cache" [frame(140, "slc_read_hits")];
        /// Blocks of it that were erased.
        erases: u64 = Count, "blocks", from "the SLC cache" [
            table(Slc, 60, "its\nerases", Always),
            frame(150, "slc_erases"),
        ];
        /// Folds in each whole interval of `config.interval_writes`.
        running_folds: Vec<u64> = Series, "pages", from "the SLC cache" [
            running(140, "slc_folds", Optional, 100),
        ];
    }
}

facts! {
    Run:
    /// What was rewritten in time.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct RefreshResult {
        /// Blocks that were rewritten.
        blocks: u64 = Count, "blocks", from "the FTL" [
            table(Refresh, 10, "blocks\nrewritten", Always),
            frame(60, "refresh_blocks"),
        ];
        /// Their valid pages, which are among the relocations.
        relocations: u64 = Count, "pages", from "the FTL" [
            table(Refresh, 20, "their\npages", Always),
            report(Runs, 50, "refreshed", "Of the relocations, pages of blocks read too often or too old", Known),
            frame(70, "refresh_relocations"),
        ];
        /// These pages in each whole interval of `config.interval_writes`.
        running_relocations: Vec<u64> = Series, "pages", from "the FTL" [
            running(80, "refresh_relocations", Optional, 90),
        ];
    }
}

facts! {
    Run:
    /// What one FTL did.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct RunResult {
        /// The FTL as it was named; where runs have different maps, with the map: "2r++ with dftl:cache=2MiB".
        ftl: String;
        /// Where its map is, with every option, if runs differ in that; `config.drive.mapping` has all of them.
        @ #[serde(default)]
        mapping: Option<String> = Text, "", from "--mapping" [frame(5, "mapping")];
        /// Every parameter of the FTL with its value, given, by default, or worked out where it is "auto".
        parameters: BTreeMap<String, String>;
        /// XXH3-128 of everything that decides the result besides the trace: drive, preparation, length, seed,
        /// the FTL and the generator with all their parameters and the versions of their decisions; equal
        /// however these were typed. 32 hexadecimal digits.
        config_hash: String = Text, "", from "the simulation" [compared(100, "config_hash")];
        /// Pages that the host wrote, in part or whole. Drive writes are these, divided by the pages that the host can
        /// address.
        host_writes: u64 = Count, "pages", from "the host" [
            report(Runs, 140, "host writes", "Pages that the host wrote", Known),
            sweep(40, "host-writes", "page writes of the host"),
            stored(10, "host_writes", Whole),
            compared(30, "host_writes"),
        ];
        /// Bytes that the host sent with these: fewer than the pages have if requests did not begin and end at page
        /// boundaries. Results of earlier versions count whole pages.
        @ #[serde(default)] #[schemars(!default)]
        host_bytes: u64 = Count, "bytes", from "the host" [
            report(Runs, 150, "host bytes", "Bytes that the host sent with these", InPart),
            sweep(50, "host-bytes", "bytes that the host sent"),
            stored(20, "host_bytes", Whole),
        ];
        /// Valid pages that garbage collection moved, copies of merges not included.
        relocations: u64 = Count, "pages", from "the FTL" [
            spare(3, table(Runs, 40, "relocations", Known)),
            report(Runs, 40, "relocations", "Valid pages that garbage collection moved", Known),
            stored(30, "relocations", Whole),
            compared(40, "relocations"),
        ];
        /// Of these, pages of blocks that were rewritten because they were read too often or too old; none without
        /// refresh.
        refresh: Option<RefreshResult> => tell;
        /// What happened in the SLC cache; none if there is none. Its folds are among the relocations.
        slc: Option<SlcResult> => tell;
        /// What looking up pages cost; none if the map is in memory. Results of earlier versions do not tell it.
        @ #[serde(default)]
        map: Option<MapResult> => tell;
        /// Blocks erased, those of an SLC cache included.
        erases: u64 = Count, "blocks", from "the FTL" [
            spare(2, table(Runs, 60, "erases", Known)),
            report(Runs, 90, "erases", "Blocks erased", Known),
            sweep(200, "erases", "blocks erased"),
            stored(50, "erases", Whole),
            compared(60, "erases"),
        ];
        /// Flash pages programmed, by cause: their sum, divided by `host_writes`, is `waf`. Results of earlier versions do
        /// not tell it.
        @ #[serde(default)]
        programs_by_cause: Option<ProgramsByCause> => tell;
        /// Blocks erased, by cause. Results of earlier versions do not tell it.
        @ #[serde(default)]
        erases_by_cause: Option<ErasesByCause> => tell;
        /// Trimmed pages that held data.
        trims: u64 = Count, "pages", from "the FTL";
        /// Trimmed pages that held nothing: they were never written, or not since they were trimmed before. Pages that are
        /// in a write buffer only hold nothing. Results of earlier versions do not tell it.
        @ #[serde(default)] #[schemars(!default)]
        unwritten_trims: u64 = Count, "pages", from "the host and the FTL" [
            report(Runs, 85, "trims of unwritten", "Trimmed pages that held nothing", Nonzero),
            sweep(570, "unwritten-trims", "trims of pages that held nothing"),
        ];
        /// Collections; each takes one victim or more. Of hybrid-mapped FTLs, log blocks reclaimed.
        collections: u64 = Count, "collections", from "the FTL";
        /// Pages that merges copied; like all counts of merges 0 but for hybrid-mapped FTLs.
        merge_copies: u64 = Count, "pages", from "the FTL" [
            spare(4, table(Runs, 50, "merge\ncopies", Nonzero)),
            report(Runs, 80, "merge copies", "Pages that merges of a hybrid-mapped FTL copied", Nonzero),
            stored(40, "merge_copies", Whole),
            compared(50, "merge_copies"),
        ];
        /// Merges into a fresh block.
        full_merges: u64 = Count, "merges", from "the FTL" [sweep(210, "full-merges", "merges into a fresh block")];
        /// Merges that copied only the pages that a log block written in order lacks at its end.
        partial_merges: u64 = Count, "merges", from "the FTL";
        /// Merges that had nothing to copy.
        switch_merges: u64 = Count, "merges", from "the FTL";
        /// Of the full merges, those of an isolated page, a few at each host write.
        progressive_merges: u64 = Count, "merges", from "the FTL";
        /// Of the full merges, those of an isolated page that were due at once, for want of room.
        hurried_merges: u64 = Count, "merges", from "the FTL";
        /// Log blocks whose valid pages were all merged at once, by the number of data blocks that took them, from 0 on;
        /// none if there were no such log blocks. Results of earlier versions do not tell it.
        @ #[serde(default)]
        merged_log_blocks: Option<Vec<u64>>;
        /// Write amplification once it has settled: the mean of the last rounds, without the transient before them. None
        /// if it has not, or if the run was too short to say.
        @ #[serde(default)]
        steady_waf: Option<f64> = Ratio(5), "", from "the simulation" [
            table(Runs, 5, "steady\nWAF", Nonzero),
            report(
                Runs,
                5,
                "steady value",
                "Write amplification once it has settled, without the transient before",
                Known
            ),
            sweep(5, "steady-waf", "write amplification once it has settled; none if it has not"),
            stored(55, "steady_waf", Optional),
            compared(5, "steady_waf"),
        ];
        /// Write amplification of the whole run, which is of pages here and wherever it is called so: (`host_writes` + `relocations` +
        /// `merge_copies` + `map.writes`) / `host_writes`.
        waf: f64 = Ratio(5), "", from "the FTL" [
            table(Runs, 10, "WAF", Known),
            report(Runs, 10, "write amplification", "Flash pages programmed per page that the host wrote", Known),
            sweep(10, "waf", "write amplification, which is of pages"),
            stored(60, "waf", Real),
            compared(10, "waf"),
        ];
        /// Media bytes per host byte, as the counters of a drive give it: bytes of these pages / `host_bytes`. The same as
        /// `waf` if the host wrote whole pages.
        @ #[serde(default)] #[schemars(!default)]
        media_bytes_per_host_byte: f64 = Ratio(5), "", from "the FTL and the host" [
            table(Runs, 20, "media per\nhost byte", InPart),
            report(
                Runs,
                20,
                "media bytes per host byte",
                "Bytes of these pages per byte that the host sent, as counters of drives give it: pages written in part count whole",
                InPart
            ),
            sweep(
                20, "media-bytes-per-host-byte",
                "what counters of a drive give: more than that where the host writes pages in part"
            ),
            stored(70, "media_bytes_per_host_byte", Real),
        ];
        /// Write amplification over the last tenth of the host writes.
        waf_last_tenth: f64 = Ratio(5), "", from "the FTL" [
            table(Runs, 30, "WAF,\nlast 10%", Known),
            report(Runs, 30, "last tenth", "Write amplification over the last tenth of the host writes", Known),
            sweep(30, "waf-last-tenth", "write amplification over the last tenth of the host writes"),
            stored(80, "waf_last_tenth", Real),
            compared(20, "waf_last_tenth"),
        ];
        /// Host writes of that last tenth, exact to a thousandth of all.
        last_tenth_host_writes: u64 = Count, "pages", from "the host";
        /// What it is evidence of. Results of earlier versions do not tell it.
        @ #[serde(default)]
        evidence: Option<RunEvidence>;
        /// Whether write amplification has settled.
        settling: Settling = Text, "", from "the simulation" [
            table(Runs, 120, "settled?", Known),
            report(
                Runs,
                15,
                "settled?",
                "Steady: a run of ten times the length has this value within 3% of WAF - 1; if not, what it has at least or at most",
                Known
            ),
            stored(90, "settling", Column::Text),
            compared(70, "settling"),
        ];
        /// Write amplification of each whole interval of `config.interval_writes`.
        running_waf: Vec<f64> = Series, "", from "the FTL" [running(30, "waf", Real, 10)];
        /// Bytes that the host sent in each of these; none if it wrote whole pages.
        running_host_bytes: Option<Vec<u64>> = Series, "bytes", from "the host" [running(150, "host_bytes", Optional, 20)];
        /// Relocations in each of these.
        running_relocations: Vec<u64> = Series, "pages", from "the FTL" [running(10, "relocations", Whole, 30)];
        /// Erases in each of these.
        running_erases: Vec<u64> = Series, "blocks", from "the FTL" [running(20, "erases", Whole, 40)];
        /// `cold_region_share` at the end of each; none if the FTL has no cold stream.
        running_cold_region_share: Option<Vec<f64>> = Series, "", from "the FTL" [
            running(40, "cold_region_share", Optional, 50),
        ];
        /// Share of the drive's erase blocks that hold pages of cold streams, at the end; none if the FTL
        /// has no cold stream.
        cold_region_share: Option<f64> = Share, "", from "the FTL" [
            spare(5, table(Runs, 80, "cold\nregion", Known)),
            report(Runs, 110, "cold region", "Share of the blocks in cold streams at the end", Known),
            sweep(260, "cold-region", "share of the blocks that are the cold region at the end"),
            stored(110, "cold_region_share", Optional),
        ];
        /// Groups of pages alike in temperature at the end of each interval; none if their number never changes.
        running_groups: Option<Vec<u32>> = Series, "groups", from "the FTL" [running(160, "groups", Optional, 55)];
        /// Number of the rule by which the FTL decided at the end of each interval, from 0 on, as its page lists them; none
        /// if it does not choose among rules.
        @ #[serde(default)] #[schemars(!default)]
        running_rule: Option<Vec<u32>> = Series, "", from "the FTL" [
            running(165, "rule", Optional, 56),
        ];
        /// These rules by name, each with its share of the intervals; none if it does not choose among rules.
        @ #[serde(default)] #[schemars(!default)]
        rules: Option<String> = Text, "", from "the FTL" [
            report(Runs, 115, "rules", "Rules by which it decided, with their shares of the time", Known),
            frame(115, "rules"),
        ];
        /// Valid share of the collected blocks.
        victim_valid_share: VictimValidShare => tell;
        /// The streams that the FTL keeps apart.
        streams: Vec<StreamResult> => each<StreamResult>;
        /// Erases of each block, without those of an SLC cache.
        erase_counts: EraseCounts => tell;
        /// How much the host can write; none if the cycles of a block were not given.
        endurance: Option<Endurance> => tell;
        /// The logs of a drive with flexible data placement; none unless the FTL has placement handles.
        fdp: Option<FdpStatistics> => tell;
        /// What failed; none if nothing can.
        faults: Option<FaultsResult> => tell;
        /// Memory of the FTL.
        memory: Memory => tell;
        /// Processor seconds in the FTL, decoding excluded. Varies from run to run, as all times.
        seconds: f64 = Time(3), "s", from "this machine" [
            sweep(560, "seconds", "seconds here"),
            stored(140, "seconds", Real),
        ];
        /// Nanoseconds in the FTL per flash page program (host write, relocation or copy of a merge).
        nanoseconds_per_program: f64 = Time(3), "ns", from "this machine" [
            sweep(540, "ns-per-program", "nanoseconds here per flash page program"),
        ];
        /// Nanoseconds in the FTL per host write, collections excluded, but merges included.
        nanoseconds_per_host_write: f64 = Time(3), "ns", from "this machine" [
            spare(7, table(Runs, 100, "ns per\nwrite", Known)),
            sweep(550, "ns-per-write", "nanoseconds here per host write, collections excluded"),
        ];
        /// Nanoseconds in collections (choice of victims and erases included) per relocation; none if
        /// collections moved nothing.
        nanoseconds_per_relocation: Option<f64> = Time(3), "ns", from "this machine" [
            spare(8, table(Runs, 110, "ns per\nmove", Known)),
        ];
        /// Time on the simulated flash; none if it is not simulated.
        timing: Option<TimingResult> => tell;
        /// What is unlike a drive that is built, where time is simulated, each with its value, limit and remedy: too few
        /// blocks, LUNs that no block reaches, erases that take too much time. Results of earlier versions do not tell it.
        @ #[serde(default)] #[schemars(!default)]
        doubts: Vec<String>;
        /// What it was asked for; none if all FTLs were asked for the same.
        own_workload: Option<OwnWorkload>;
        /// What was watched of pages and blocks; none if nothing was. Watching takes time: what the FTL itself
        /// takes is then less than `seconds` and the nanoseconds say.
        observed: Option<Observed> => tell;
    }
}

impl RunResult {
    /// Whether the host wrote pages in part, so that media bytes per host byte are more than the write amplification.
    pub fn has_parts(&self) -> bool {
        self.media_bytes_per_host_byte > self.waf
    }
}

facts! {
    Run:
    /// Valid share of collected blocks.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct VictimValidShare {
        /// The mean; none if nothing was collected.
        mean: Option<f64> = Share, "", from "the FTL" [
            spare(1, table(Runs, 70, "victims\nvalid", Known)),
            report(Runs, 100, "victims valid", "Mean share of pages still valid in the blocks collected", Known),
            sweep(230, "victims-valid", "mean valid share of collected blocks"),
            stored(100, "victim_valid_share", Optional),
            frame(10, "victim_valid_share"),
        ];
        /// Victims in twenty bins of 5% each, the lower border of a bin included; the last one has full
        /// blocks too.
        histogram: Vec<u64>;
    }
}

facts! {
    Stream:
    /// A stream of pages that an FTL keeps apart.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct StreamResult {
        /// Its name.
        name: String;
        /// Whether its blocks are the cold region, or a part of it.
        cold: bool;
        /// Blocks that hold its pages at the end.
        blocks: u32 = Count, "blocks", from "the FTL";
        /// Its blocks that were erased.
        erases: u64 = Count, "blocks", from "the FTL";
        /// Valid pages that were moved out of its blocks.
        relocations: u64 = Count, "pages", from "the FTL";
        /// Mean valid share of its collected blocks; none if there were none, as of data blocks, which are
        /// merged.
        victim_valid_share: Option<f64> = Share, "", from "the FTL";
    }
}

facts! {
    Run:
    /// How much can be written before the flash is worn out, at the media bytes per host byte of the run; to the real drive,
    /// if the run is on a model of one.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct Endurance {
        /// Program/erase cycles of a block, as given.
        cycles: u32 = Count, "cycles", from "--endurance";
        /// Years over which drive writes per day are counted.
        years: f64 = Time(1), "years", from "the usual warranty";
        /// Terabytes (10^12 bytes) written by the host: cycles x physical capacity / media bytes per host byte.
        tbw: f64 = Ratio(4), "TB", from "--endurance and the FTL" [
            table(Wear, 50, "terabytes\nwritten", Always),
            report(Wear, 50, "terabytes written", "What the host can write before the flash is worn out", Known),
            frame(160, "tbw"),
        ];
        /// Drive writes per day, of host bytes: bytes written / (logical capacity x 365 x years).
        dwpd: f64 = Ratio(4), "drive writes a day", from "--endurance and the FTL" [
            table(Wear, 60, "drive writes\nper day", Always),
            report(Wear, 60, "drive writes per day", "The same, over the years of a usual warranty", Known),
            frame(170, "dwpd"),
        ];
    }
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

facts! {
    Run:
    /// What failed, fill and warm-up included.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct FaultsResult {
        /// Blocks that were bad from birth.
        bad_blocks: u32 = Count, "blocks", from "--faults" [
            table(Faults, 10, "factory\nbad", Always),
            report(Faults, 10, "factory bad", "Blocks", Known),
        ];
        /// Blocks out of use at the end, those bad from birth included.
        retired_blocks: u32 = Count, "blocks", from "the FTL" [
            table(Faults, 20, "retired\nat the end", Always),
            report(Faults, 20, "retired at the end", "Blocks", Known),
        ];
        /// Programs and copies that failed.
        failed_programs: u64 = Count, "programs", from "the flash" [
            table(Faults, 30, "failed\nprograms", Always),
            report(Faults, 30, "failed programs", "Programs and copies", Known),
        ];
        /// Erases that failed.
        failed_erases: u64 = Count, "erases", from "the flash" [
            table(Faults, 40, "failed\nerases", Always),
            report(Faults, 40, "failed erases", "Erases", Known),
        ];
        /// Counted host writes after which the drive became read-only and the run ended; none if it did not.
        read_only_after: Option<u64> = Moment, "writes", from "the FTL" [
            table(Faults, 50, "read-only\nafter", Known),
            report(Faults, 50, "read-only after", "Host page writes", Known),
        ];
        /// Why it did.
        read_only: Option<String>;
    }
}

facts! {
    Run:
    /// Memory of an FTL, here and in a controller.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct Memory {
        /// Bytes of mapping tables, valid bits, block states and free list, which every FTL has.
        drive_bytes: u64 = Count, "bytes", from "the FTL";
        /// Bytes that the policy keeps beside them.
        policy_bytes: u64 = Count, "bytes", from "the FTL" [
            sweep(520, "policy-bytes", "bytes that the policy keeps here"),
        ];
        /// Both per flash page.
        bytes_per_flash_page: f64 = Ratio(4), "bytes", from "the FTL";
        /// What the algorithm has to remember beside what every FTL keeps, packed as a controller would
        /// pack it: such as "1 bits/block + 32 bytes".
        metadata: String;
        /// The bytes that this makes on this drive.
        metadata_bytes: u64 = Count, "bytes", from "the FTL" [
            spare(6, table(Runs, 90, "metadata", Known)),
            report(
                Runs,
                120,
                "metadata",
                "State that a controller keeps for the algorithm in addition to the mapping",
                Known
            ),
            sweep(510, "metadata", "bytes that a controller keeps for the policy"),
            compared(80, "metadata_bytes"),
            frame(50, "metadata_bytes"),
        ];
    }
}

/// Every fact of a run: those that are fields of it, and those that follow from several.
pub static FACTS: LazyLock<Vec<Fact<RunResult>>> = LazyLock::new(|| {
    let mut facts = RunResult::facts();
    facts.extend(derived());
    facts
});

/// What tables work out of the times of LUNs and channels, each of which a run has in JSON.
static LUNS: LazyLock<Vec<Fact<RunResult>>> = LazyLock::new(|| {
    let columns = luns().into_iter();
    columns.map(|fact| fact.within("timing", |run: &RunResult| run.timing.as_ref())).collect()
});

/// The facts that are shown in a place, those of LUNs included, with what `pick` takes of it, in the order of the numbers
/// that it gives.
pub fn shown<T>(pick: impl Fn(&Shown) -> Option<(u32, T)>) -> Vec<(T, &'static Fact<RunResult>)> {
    shown_of(FACTS.iter().chain(LUNS.iter()), pick)
}

/// What follows from several fields.
fn derived() -> Vec<Fact<RunResult>> {
    let of_relocations = |run: &RunResult, pages: u64| {
        Some(Value::Real(pages as f64 / run.relocations.max(1) as f64))
    };
    let share = |sheet, at| table(sheet, at, "of\nrelocations", When::Always);
    let mut facts = vec![
        Fact::new(
            "refresh.share",
            (Kind::Percent(3), "", "the FTL"),
            &["Of the relocations, the share of pages that were rewritten in time; not in JSON."],
            move |run: &RunResult| of_relocations(run, run.refresh.as_ref()?.relocations),
        )
        .shown(vec![share(Sheet::Refresh, 30)]),
        Fact::new(
            "slc.share",
            (Kind::Percent(3), "", "the SLC cache"),
            &["Of the relocations, the share of pages that were folded; not in JSON."],
            move |run: &RunResult| of_relocations(run, run.slc.as_ref()?.folds),
        )
        .shown(vec![share(Sheet::Slc, 50)]),
        Fact::new(
            "nanoseconds_per_host_write.all",
            (Kind::Text, "ns", "this machine"),
            &["Nanoseconds in the FTL per host write, collections included; not in JSON."],
            |run: &RunResult| {
                let all = 1e9 * run.seconds / run.host_writes as f64;
                Some(Value::Text { text: significant(all, 4), rank: all })
            },
        )
        .shown(vec![Shown::Compared { at: 90, name: "nanoseconds_per_host_write" }]),
    ];
    facts.extend(of_flash());
    facts.extend(of_reads());
    facts.extend(quantiles_over_time());
    facts
}

/// Whether the flash is like that of a drive, where time is simulated.
fn of_flash() -> Vec<Fact<RunResult>> {
    vec![
        Fact::new(
            "doubts",
            (Kind::Text, "", "the simulation"),
            &["What is unlike a drive that is built, where time is simulated; a list in JSON."],
            |run: &RunResult| {
                let rank = run.doubts.len() as f64;
                run.timing.as_ref().map(|_| Value::Text { text: run.doubts.join("; "), rank })
            },
        )
        .shown(vec![sweep(
            500,
            "doubts",
            "how much is unlike a drive that is built (with --timing)",
        )]),
        Fact::new(
            "timing.lun_seconds.share_of_erases",
            (Kind::Share, "", "the clock"),
            &["Of the time that LUNs were busy, the share that erases took; not in JSON."],
            |run: &RunResult| run.timing.as_ref()?.lun_seconds.share_of_erases().measured(),
        )
        .shown(vec![sweep(
            490,
            "erase-time",
            "share of the LUNs' busy time that erases took",
        )]),
    ]
}

/// How long read requests took.
fn of_reads() -> Vec<Fact<RunResult>> {
    let reports = [
        ("mean", 110, "reads: mean", "Mean response time of a read request"),
        ("p99", 120, "p99", "99% of the reads took no longer"),
        ("p99_9", 130, "p99.9", "99.9% of the reads took no longer"),
        ("p99_99", 140, "p99.99", "99.99% of the reads took no longer"),
        ("p99_999", 150, "p99.999", "99.999% of the reads took no longer"),
    ];
    let sweeps = [
        (
            "mean",
            350,
            "read-response-mean",
            "mean response time of a read request, ms (with unit=request)",
        ),
        ("p50", 360, "read-response-p50", "median of it, ms"),
        ("p99", 370, "read-response-p99", "99th percentile of it, ms"),
        ("p99_9", 380, "read-response-p99.9", "99.9th percentile of it, ms"),
        ("p99_99", 390, "read-response-p99.99", "99.99th percentile of it, ms"),
    ];
    let path = "timing.requests.operations.read.response_ns";
    let facts = tell(path, |run: &RunResult| {
        let requests = run.timing.as_ref()?.requests.as_ref()?;
        requests.operations.get("read").map(|reads| &reads.response_ns)
    });
    let facts = facts.into_iter().map(|fact| {
        let is_it = |name: &str| fact.path.rsplit('.').next() == Some(name);
        let of_report =
            reports.iter().filter(|(name, ..)| is_it(name)).map(|&(_, at, heading, meaning)| {
                report(Sheet::Responses, at, heading, meaning, When::Known)
            });
        let of_sweep = sweeps.iter().filter(|(name, ..)| is_it(name));
        let shown = of_report.chain(of_sweep.map(|&(_, at, name, doc)| sweep(at, name, doc)));
        let shown = shown.collect();
        fact.shown(shown)
    });
    facts.collect()
}

/// Quantiles of response times in each interval, of reads and writes.
fn quantiles_over_time() -> Vec<Fact<RunResult>> {
    type Running = fn(&OperationTimes) -> &Option<Vec<Option<u64>>>;
    let quantiles: [(&str, &str, Running); 2] = [
        ("p50", "median", |times| &times.running_p50_ns),
        ("p99_9", "99.9th percentile", |times| &times.running_p99_9_ns),
    ];
    let mut facts = Vec::new();
    for (operation, at) in [("read", 100), ("write", 120)] {
        for (index, (quantile, name, running)) in (0..).zip(quantiles) {
            let path = format!("timing.requests.operations.{operation}.running_{quantile}_ns");
            let doc = format!("The {name} of the response times of {operation}s in each interval.");
            let fact = Fact::new(
                &path,
                (Kind::Series, "ns", "the clock"),
                &[&doc],
                move |run: &RunResult| {
                    let requests = run.timing.as_ref()?.requests.as_ref()?;
                    running(requests.operations.get(operation)?).measured()
                },
            );
            facts.push(fact.shown(vec![Shown::Running {
                at: at + 10 * index,
                name: RUNNING_QUANTILES[facts.len()],
                column: Column::Optional,
                frame: at + 20 + 10 * index,
            }]));
        }
    }
    facts
}

const RUNNING_QUANTILES: [&str; 4] = [
    "read_response_p50_ns",
    "read_response_p99_9_ns",
    "write_response_p50_ns",
    "write_response_p99_9_ns",
];

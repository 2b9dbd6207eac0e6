//! One FTL on its way through the workload.

use crate::SimError;
use crate::erase_counts;
use crate::expander::Segment;
use crate::fdp::FdpRecord;
use crate::feed::Chunk;
use crate::format::grouped;
use crate::frames::{self, blocks_per_cell};
use crate::result::{
    Config, Endurance, EraseCounts, FaultsResult, FdpStatistics, Frame, Memory, Observed,
    RefreshResult, RunResult, SlcResult, StreamResult, TimingResult, TimingSummary,
    VictimValidShare,
};
use crate::steady::{self, Rounds, Settling, Verdict};
use crate::stopwatch::Spent;
use crate::timing::OfPage;
use crate::transactions::Transactions;
use ftlab_flash::{Faults, Geometry};
use ftlab_ftl::page::{DriveConfig, Refreshed};
use ftlab_ftl::{Counters, SlcCounts};
use ftlab_host::{Arrival, HostOp, Interval};
use ftlab_machine::{AnyFtl, Step, Stop, Watch};
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Done, Issued};
use std::collections::BTreeMap;

/// Rounds of a run that ends when it is steady, at least: two drive writes.
const ROUNDS_MIN: u64 = 8;

/// Requests and operations that may wait: some hundred bytes each.
const BACKLOG_MAX: u64 = 1 << 22;

/// An FTL, and what is recorded of it.
pub(crate) struct FtlRun {
    name: String,
    parameters: BTreeMap<String, String>,
    config_hash: String,
    /// Its erase blocks are reclaim units, if the FTL has some.
    geometry: Geometry,
    /// Erase blocks in a reclaim unit.
    unit_blocks: u32,
    logical_pages: u32,
    ftl: AnyFtl,
    faults: Option<Faults>,
    /// Of placement handles, if it has some, since counting began.
    fdp: Option<FdpRecord>,
    /// Why the drive became read-only, if it did: it takes no more writes.
    read_only: Option<String>,
    /// What segments brought since counting began, as far as the drive took it.
    taken: Taken,
    /// As it was when counting began.
    base: Option<(Counters, Watch)>,
    /// What had been rewritten by then.
    refreshed_before: Refreshed,
    /// What had happened in the SLC cache by then.
    slc_before: SlcCounts,
    /// Its blocks, and the pages of each.
    slc_blocks: Option<[u32; 2]>,
    /// Pages that were in the write buffer then.
    buffered_before: u64,
    series: Series,
    rounds: Rounds,
    round_start: Totals,
    /// Totals at even distances, for the last tenth.
    checkpoints: Vec<Totals>,
    /// Steps before counting began, if they are recorded.
    first_step: usize,
    /// Pictures of the flash at even distances; none unless pages are watched.
    frames: Vec<Frame>,
    /// The names of tenants, by their numbers.
    tenants: Vec<String>,
    /// Transactions that were complete, if it is told of some.
    transactions: Option<Transactions>,
    spent: Spent,
}

/// Pages that the host wrote, the sectors of them that it did not send, and pages that it trimmed.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    pages: u64,
    lacking: u64,
    trimmed: u64,
}

/// Declares counts that only grow, and what has been counted since an earlier moment.
macro_rules! totals {
    ($(#[$meta:meta])* struct $name:ident { $($(#[$doc:meta])* $count:ident,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default)]
        struct $name {
            $($(#[$doc])* $count: u64,)+
        }

        impl $name {
            fn since(self, earlier: Self) -> Self {
                Self { $($count: self.$count - earlier.$count,)+ }
            }
        }
    };
}

totals! {
    /// Counts since counting began.
    struct Totals {
        host_writes,
        /// Sectors of these pages that the host did not send.
        lacking,
        /// Of these, pages that came to the FTL: the others were rewritten or trimmed in the write buffer, or are
        /// still there.
        host_programs,
        relocations,
        merge_copies,
        erases,
        refreshed,
        folds,
    }
}

impl Totals {
    /// Flash pages programmed.
    fn programs(self) -> u64 {
        self.host_programs + self.relocations + self.merge_copies
    }

    /// Flash pages programmed per page that the host wrote.
    fn waf(self) -> f64 {
        self.programs() as f64 / self.host_writes as f64
    }

    /// Bytes that the host sent.
    fn host_bytes(self, page_bytes: u32) -> u64 {
        (self.host_writes * u64::from(page_bytes)).saturating_sub(self.lacking * SECTOR_BYTES)
    }

    /// Bytes of flash pages programmed per byte that the host sent.
    fn media_bytes_per_host_byte(self, page_bytes: u32) -> f64 {
        if self.lacking == 0 {
            return self.waf();
        }
        let media_bytes = self.programs() as f64 * f64::from(page_bytes);
        media_bytes / self.host_bytes(page_bytes) as f64
    }
}

#[derive(Debug, Default)]
struct Series {
    start: Totals,
    waf: Vec<f64>,
    host_bytes: Vec<u64>,
    relocations: Vec<u64>,
    refreshed: Vec<u64>,
    folds: Vec<u64>,
    erases: Vec<u64>,
    cold_region_share: Vec<f64>,
    times: Vec<Interval>,
}

impl FtlRun {
    pub(crate) fn new(
        name: String,
        parameters: BTreeMap<String, String>,
        config_hash: String,
        drive: DriveConfig,
        ftl: AnyFtl,
        faults: Option<Faults>,
    ) -> Self {
        Self {
            name,
            parameters,
            config_hash,
            geometry: drive.geometry,
            unit_blocks: 1,
            logical_pages: drive.logical_pages,
            ftl,
            faults,
            fdp: None,
            read_only: None,
            taken: Taken::default(),
            base: None,
            refreshed_before: Refreshed::default(),
            slc_before: SlcCounts::default(),
            slc_blocks: None,
            buffered_before: 0,
            series: Series::default(),
            rounds: Rounds::default(),
            round_start: Totals::default(),
            checkpoints: vec![Totals::default()],
            first_step: 0,
            frames: Vec::new(),
            tenants: Vec::new(),
            transactions: None,
            spent: Spent::default(),
        }
    }

    pub(crate) fn config_hash(&self) -> &str {
        &self.config_hash
    }

    /// The same with reclaim units of so many erase blocks, which are the erase blocks of its drive.
    pub(crate) fn in_units_of(self, unit_blocks: u32) -> Self {
        Self { unit_blocks, ..self }
    }

    /// The same with an SLC cache of so many blocks of so many pages.
    pub(crate) fn with_slc_blocks(self, slc_blocks: Option<[u32; 2]>) -> Self {
        Self { slc_blocks, ..self }
    }

    /// Counts from here on.
    pub(crate) fn begin(&mut self) {
        let counters = self.ftl.counters();
        let handles = self.ftl.placement_handles();
        self.fdp = handles.map(|handles| FdpRecord::new(handles, counters.host_writes));
        self.taken = Taken::default();
        self.base = Some((counters, self.ftl.watch().clone()));
        self.refreshed_before = self.ftl.refreshed();
        self.slc_before = self.ftl.slc_counts().unwrap_or_default();
        self.first_step = self.ftl.steps().len();
        self.ftl.measure();
        let [_, buffered] = self.ftl.absorbed();
        self.buffered_before = buffered;
        self.ftl.count_moves();
        self.transactions.iter_mut().for_each(|of| *of = Transactions::default());
        self.frames.extend(self.frame(0));
    }

    /// Its steps so far, and how many of them came before counting began.
    pub(crate) fn steps(&self) -> (&[Step], usize) {
        (self.ftl.steps(), self.first_step)
    }

    /// Carries out the writes and trims of a chunk, as far as the drive takes them.
    pub(crate) fn apply(&mut self, chunk: &Chunk) -> Result<(), SimError> {
        for segment in chunk.segments() {
            if self.is_read_only() {
                break;
            }
            let outcome = self.in_measured_time(|run| run.serve(segment));
            self.end_segment(segment, outcome)?;
        }
        Ok(())
    }

    fn serve(&mut self, segment: &Segment) -> Result<(), Stop> {
        match &segment.parts[..] {
            [] => self.ftl.apply(&segment.batch, &segment.arrivals_us),
            parts => self.ftl.serve(&segment.batch, parts),
        }
    }

    /// Records what has been carried out, or why it could not be.
    fn end_segment(
        &mut self,
        segment: &Segment,
        outcome: Result<(), Stop>,
    ) -> Result<(), SimError> {
        match outcome {
            Ok(()) => {
                self.take(segment);
                self.record(segment);
                self.check_backlog()?;
            }
            Err(Stop::ReadOnly(reason)) => self.stop_within(segment, reason),
            Err(Stop::Error(reason)) => return Err(self.failed(reason)),
        }
        Ok(())
    }

    /// Counts what a segment brought, all of which was carried out.
    fn take(&mut self, segment: &Segment) {
        self.take_some(segment, segment.batch.writes.len());
    }

    fn take_some(&mut self, segment: &Segment, writes: usize) {
        self.taken.pages += writes as u64;
        self.taken.lacking += segment.batch.lacking_of(writes).unsigned_abs();
        self.taken.trimmed += trimmed(segment, writes);
    }

    /// The drive took a part of a segment, and takes no more writes.
    fn stop_within(&mut self, segment: &Segment, reason: String) {
        let taken = self.totals().host_writes.saturating_sub(self.taken.pages) as usize;
        self.take_some(segment, taken.min(segment.batch.writes.len()));
        self.read_only = Some(reason);
    }

    /// Refuses to remember ever more that has not been done.
    fn check_backlog(&mut self) -> Result<(), SimError> {
        let pending = self.ftl.pending() as u64;
        if pending <= BACKLOG_MAX {
            return Ok(());
        }
        Err(SimError::Unusable {
            what: format!(
                "{}: the flash falls ever further behind its host, and {} requests and operations wait",
                self.name,
                grouped(pending)
            ),
            remedy: "lower speed-up or rate, add LUNs, or use arrivals=closed".into(),
        })
    }

    /// The same at one time of the clock, in nanoseconds; when the last of these writes is complete.
    pub(crate) fn apply_at(&mut self, chunk: &Chunk, arrival_ns: u64) -> Result<u64, SimError> {
        let mut done_ns = 0;
        for segment in chunk.segments() {
            match self.ftl.apply_at(&segment.batch, arrival_ns) {
                Ok(done) => done_ns = done_ns.max(done),
                Err(Stop::ReadOnly(reason)) => {
                    self.stop_within(segment, reason);
                    break;
                }
                Err(Stop::Error(reason)) => return Err(self.failed(reason)),
            }
            self.take(segment);
            self.record(segment);
        }
        Ok(done_ns)
    }

    /// Carries out the request of a host, or a part of it, within [`Self::in_measured_time`]: it is too short for
    /// its own time to be taken.
    pub(crate) fn apply_of(&mut self, chunk: &mut Chunk, of: Issued) -> Result<(), SimError> {
        let Issued { host, tenant, time_ns, queued_ns } = of;
        let parts = chunk.segments_mut().iter_mut().flat_map(|segment| &mut segment.parts);
        parts.for_each(|part| {
            part.arrival = Arrival::Of { host, time_ns, queued_ns };
            part.asker.tenant = tenant;
        });
        for segment in chunk.segments() {
            if self.is_read_only() {
                break;
            }
            let outcome = self.serve(segment);
            self.end_segment(segment, outcome)?;
        }
        Ok(())
    }

    /// Passes time until a request of a host is complete, at most to `until_ns`: which host, and when.
    pub(crate) fn await_hosts(&mut self, until_ns: u64) -> Result<Option<(u32, u64)>, SimError> {
        match self.ftl.await_hosts(until_ns) {
            Ok(ended) => Ok(ended),
            Err(Stop::ReadOnly(reason)) => {
                self.read_only = Some(reason);
                Ok(None)
            }
            Err(Stop::Error(reason)) => Err(self.failed(reason)),
        }
    }

    /// These are the tenants that ask, by their numbers.
    pub(crate) fn name_tenants(&mut self, names: Vec<String>) {
        self.tenants = names;
    }

    /// Keeps an account of transactions, of which it is told.
    pub(crate) fn keep_transactions(&mut self) {
        self.transactions = Some(Transactions::default());
    }

    /// These are complete.
    pub(crate) fn end_transactions(&mut self, done: Vec<Done>) {
        let Some(transactions) = &mut self.transactions else { return };
        for done in done {
            transactions.add(done);
        }
    }

    /// When everything so far is complete, in nanoseconds of its clock.
    pub(crate) fn end_ns(&mut self) -> u64 {
        self.ftl.end_ns().unwrap_or(0)
    }

    /// Does `work`, and counts the time that it takes if the writes in it are counted.
    pub(crate) fn in_measured_time<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        if self.base.is_none() {
            return work(self);
        }
        let mut spent = self.spent;
        let result = spent.on(|| work(self));
        self.spent = spent;
        result
    }

    /// Whether the drive takes no more writes.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    fn failed(&self, reason: String) -> SimError {
        SimError::Ftl { ftl: self.name.clone(), reason }
    }

    fn record(&mut self, segment: &Segment) {
        let marks = segment.marks;
        if marks.begin {
            self.begin();
        }
        if !(marks.interval || marks.round || marks.checkpoint || marks.frame) {
            return;
        }
        let totals = self.totals();
        if marks.interval {
            let interval = totals.since(self.series.start);
            self.series.start = totals;
            self.series.waf.push(interval.waf());
            self.series.host_bytes.push(interval.host_bytes(self.geometry.page_bytes()));
            self.series.relocations.push(interval.relocations);
            self.series.refreshed.push(interval.refreshed);
            self.series.folds.push(interval.folds);
            self.series.erases.push(interval.erases);
            self.series.cold_region_share.extend(self.cold_region_share());
            self.series.times.extend(self.ftl.end_interval());
            self.transactions.iter_mut().for_each(Transactions::end_interval);
            if let (Some(record), Some(handles)) = (&mut self.fdp, self.ftl.placement_handles()) {
                record.end_interval(handles, &self.geometry);
            }
        }
        if marks.round {
            let round = totals.since(self.round_start);
            self.round_start = totals;
            self.rounds.push(round.waf(), round.erases);
        }
        if marks.checkpoint {
            self.checkpoints.push(totals);
        }
        if marks.thin_out {
            thin_out(&mut self.checkpoints);
        }
        if marks.frame {
            self.frames.extend(self.frame(totals.host_writes));
        }
        if marks.thin_out_frames {
            thin_out(&mut self.frames);
        }
    }

    /// The flash as it is now; none if pages are not watched.
    fn frame(&self, host_writes: u64) -> Option<Frame> {
        let picture = self.ftl.picture(&self.geometry)?;
        Some(frames::draw(&picture, &self.geometry, host_writes))
    }

    fn totals(&self) -> Totals {
        let Some((base, _)) = &self.base else { return Totals::default() };
        let counters = self.ftl.counters();
        let host_programs = counters.host_writes - base.host_writes;
        let [absorbed, buffered] = self.ftl.absorbed();
        Totals {
            host_writes: host_programs + absorbed + buffered - self.buffered_before,
            lacking: self.taken.lacking,
            host_programs,
            relocations: counters.relocations() - base.relocations(),
            merge_copies: counters.merges.copies - base.merges.copies,
            erases: (counters.erases() - base.erases()) * u64::from(self.unit_blocks),
            refreshed: self.ftl.refreshed().pages - self.refreshed_before.pages,
            folds: self.slc_counts().folds,
        }
    }

    /// What has happened in the SLC cache, if there is one.
    fn slc_counts(&self) -> SlcCounts {
        self.ftl.slc_counts().unwrap_or_default().since(&self.slc_before)
    }

    fn slc(&mut self) -> Option<SlcResult> {
        let [blocks, pages_per_block] = self.slc_blocks?;
        let SlcCounts { writes, bypassed, folds, dropped, read_hits, erases } = self.slc_counts();
        let running_folds = std::mem::take(&mut self.series.folds);
        Some(SlcResult {
            blocks,
            pages_per_block,
            writes,
            bypassed,
            folds,
            dropped,
            read_hits,
            erases,
            running_folds,
        })
    }

    /// Whether write amplification has settled by now.
    pub(crate) fn settling(&self) -> Settling {
        self.rounds.settling(steady::round_writes(self.logical_pages))
    }

    /// Whether it has been steady for long enough to end the run.
    pub(crate) fn is_steady(&self) -> bool {
        let settling = self.settling();
        settling.verdict == Verdict::Steady && settling.rounds >= ROUNDS_MIN
    }

    /// Write amplification so far, for progress.
    pub(crate) fn waf(&self) -> Option<f64> {
        let totals = self.totals();
        (totals.host_writes > 0).then(|| totals.waf())
    }

    fn cold_region_share(&self) -> Option<f64> {
        let streams = self.ftl.streams();
        let cold = streams.iter().filter(|stream| stream.cold);
        let blocks: u32 = cold.clone().map(|stream| stream.blocks).sum();
        (cold.count() > 0).then(|| f64::from(blocks) / f64::from(self.geometry.blocks()))
    }

    /// What happened in the last tenth of the host writes, from the nearest checkpoint on.
    fn last_tenth(&self, totals: Totals) -> Totals {
        let wanted = totals.host_writes - totals.host_writes.div_ceil(10);
        let nearest = self
            .checkpoints
            .iter()
            .filter(|checkpoint| checkpoint.host_writes < totals.host_writes)
            .min_by_key(|checkpoint| checkpoint.host_writes.abs_diff(wanted));
        totals.since(nearest.copied().unwrap_or_default())
    }

    fn memory(&self) -> Memory {
        let bytes = self.ftl.memory_bytes();
        let pages = f64::from(self.geometry.pages());
        let metadata = self.ftl.metadata();
        Memory {
            drive_bytes: bytes.drive as u64,
            policy_bytes: bytes.policy as u64,
            bytes_per_flash_page: (bytes.drive + bytes.policy) as f64 / pages,
            metadata: metadata.to_string(),
            metadata_bytes: metadata.total_bytes(self.logical_pages, self.geometry.blocks()),
        }
    }

    /// The logs of placement handles, if it has some; the host sent `host_bytes`.
    fn fdp_statistics(&mut self, host_bytes: u64) -> Option<FdpStatistics> {
        let handles = self.ftl.placement_handles()?;
        Some(self.fdp.take()?.finish(&handles, &self.geometry, host_bytes))
    }

    /// What failed, if anything may.
    fn faults(&mut self) -> Option<FaultsResult> {
        let faults = self.faults?;
        let failures = self.ftl.failures();
        Some(FaultsResult {
            bad_blocks: faults.bad_blocks,
            retired_blocks: self.ftl.retired_blocks(),
            failed_programs: failures.programs,
            failed_erases: failures.erases,
            read_only_after: self.read_only.as_ref().map(|_| self.totals().host_writes),
            read_only: self.read_only.clone(),
        })
    }

    /// What was watched of pages and blocks, if it was.
    fn observed(&mut self, erases: &[u32]) -> Option<Observed> {
        let moves = self.ftl.moves()?.into();
        let erase_percentiles = erase_counts::percentiles(erases);
        let host_writes = self.totals().host_writes;
        let mut frames = std::mem::take(&mut self.frames);
        if frames.last().is_none_or(|last| last.host_writes < host_writes) {
            frames.extend(self.frame(host_writes));
        }
        Some(Observed {
            moves,
            erase_percentiles,
            blocks_per_cell: blocks_per_cell(&self.geometry) * self.unit_blocks,
            frames,
        })
    }

    /// Time on the simulated flash, if it is simulated; the host sent `host_bytes`.
    fn timing(&mut self, config: &Config, host_bytes: u64) -> Option<TimingResult> {
        let time = self.ftl.measured()?;
        let is_open_loop = config.timing.as_ref().is_some_and(TimingSummary::is_open_loop);
        let intervals = self.series.times.iter().map(|interval| interval.elapsed_ns);
        let transactions = self.transactions.as_ref().map(|of| of.finish(intervals));
        let sent_bytes = host_bytes as f64 / self.totals().host_writes.max(1) as f64;
        let of_page = OfPage { bytes: self.geometry.page_bytes(), sent_bytes };
        Some(TimingResult {
            transactions,
            ..TimingResult::new(&time, &self.series.times, of_page, &self.tenants, is_open_loop)
        })
    }

    /// The result.
    pub(crate) fn finish(mut self, config: &Config) -> Result<RunResult, SimError> {
        if !self.is_read_only() {
            match self.ftl.empty_buffer() {
                Ok(()) => {}
                Err(Stop::ReadOnly(reason)) => self.read_only = Some(reason),
                Err(Stop::Error(reason)) => return Err(self.failed(reason)),
            }
        }
        // A drive that becomes read-only leaves a collection half done.
        if !self.is_read_only() {
            let broken = |broken| self.failed(format!("{broken}; please report the command"));
            self.ftl.check().map_err(broken)?;
        }
        if let Some(reason) = self.read_only.as_ref().filter(|_| self.totals().host_writes == 0) {
            return Err(self.failed(format!("before any write was counted, {reason}")));
        }
        let (base, watched) =
            self.base.clone().unwrap_or_else(|| (self.ftl.counters(), self.ftl.watch().clone()));
        let counters = self.ftl.counters().since(&base);
        let seen = self.ftl.watch().since(&watched);
        let memory = self.memory();
        let settling = self.settling();
        let seconds = self.spent.processor.as_secs_f64();
        let collecting = self.spent.processor_seconds_of(seen.collecting());
        let totals = self.totals();
        let last_tenth = self.last_tenth(totals);
        let cold_region_share = self.cold_region_share();
        let merges = counters.merges;
        let page_bytes = self.geometry.page_bytes();
        let host_bytes = totals.host_bytes(page_bytes);
        let media_bytes_per_host_byte = totals.media_bytes_per_host_byte(page_bytes);
        let fdp = self.fdp_statistics(host_bytes);
        let blocks = self.ftl.refreshed().blocks - self.refreshed_before.blocks;
        let refresh = config.drive.option("refresh").is_some().then(|| RefreshResult {
            blocks: blocks * u64::from(self.unit_blocks),
            relocations: totals.refreshed,
            running_relocations: std::mem::take(&mut self.series.refreshed),
        });
        let slc = self.slc();
        let faults = self.faults();
        let observed = self.observed(seen.erases());
        let timing = self.timing(config, host_bytes);
        Ok(RunResult {
            parameters: self.parameters,
            config_hash: self.config_hash,
            host_writes: totals.host_writes,
            host_bytes,
            relocations: totals.relocations,
            refresh,
            slc,
            erases: totals.erases,
            trims: counters.trims,
            unwritten_trims: self.taken.trimmed.saturating_sub(counters.trims),
            collections: counters.collections,
            merge_copies: merges.copies,
            full_merges: merges.full,
            partial_merges: merges.partial,
            switch_merges: merges.switch,
            progressive_merges: merges.progressive,
            hurried_merges: merges.hurried,
            waf: totals.waf(),
            media_bytes_per_host_byte,
            waf_last_tenth: last_tenth.waf(),
            last_tenth_host_writes: last_tenth.host_writes,
            settling,
            running_waf: self.series.waf,
            running_host_bytes: (totals.lacking > 0).then_some(self.series.host_bytes),
            running_relocations: self.series.relocations,
            running_erases: self.series.erases,
            running_cold_region_share: cold_region_share.map(|_| self.series.cold_region_share),
            cold_region_share,
            victim_valid_share: VictimValidShare {
                mean: seen.valid_share(),
                histogram: seen.victims().to_vec(),
            },
            streams: streams(&self.ftl, &counters, &seen, self.unit_blocks),
            erase_counts: EraseCounts::of(seen.erases()),
            endurance: config.endurance_cycles.map(|cycles| {
                let bytes = |pages: u32| f64::from(pages) * f64::from(page_bytes);
                let geometry = self.geometry;
                Endurance::new(
                    cycles,
                    media_bytes_per_host_byte,
                    bytes(geometry.pages()),
                    bytes(self.logical_pages),
                )
            }),
            fdp,
            faults,
            memory,
            seconds,
            nanoseconds_per_program: 1e9 * seconds / totals.programs() as f64,
            nanoseconds_per_host_write: 1e9 * (seconds - collecting) / totals.host_writes as f64,
            nanoseconds_per_relocation: (collecting > 0.0 && totals.relocations > 0)
                .then(|| 1e9 * collecting / totals.relocations as f64),
            timing,
            own_workload: None,
            observed,
            ftl: self.name,
        })
    }
}

/// Pages that the host trims in a segment before and after its first `writes` writes.
fn trimmed(segment: &Segment, writes: usize) -> u64 {
    let trims = segment.batch.trims.iter();
    let trims = trims.take_while(|trim| trim.after_writes as usize <= writes);
    let mut written = 0;
    let parts = segment.parts.iter().take_while(|part| {
        written += if part.op == HostOp::Write { part.pages as usize } else { 0 };
        written <= writes
    });
    let parts = parts.filter(|part| part.op == HostOp::Trim).map(|part| part.pages);
    trims.map(|trim| trim.pages).chain(parts).map(u64::from).sum()
}

/// Drops every other one, beginning with the second.
fn thin_out<T>(kept: &mut Vec<T>) {
    let mut index = 0;
    kept.retain(|_| {
        index += 1;
        index % 2 == 1
    });
}

fn streams(ftl: &AnyFtl, counters: &Counters, seen: &Watch, unit_blocks: u32) -> Vec<StreamResult> {
    let streams = ftl.streams().into_iter().zip(&counters.streams).enumerate();
    streams
        .map(|(index, (stream, counts))| StreamResult {
            name: stream.name.to_owned(),
            cold: stream.cold,
            blocks: stream.blocks * unit_blocks,
            erases: counts.erases * u64::from(unit_blocks),
            relocations: counts.relocations,
            victim_valid_share: seen.stream_valid_share(index),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::{DriveOptions, Experiment, Fill, Logical, Physical, Requests, Workload};
    use ftlab_spec::Share;
    use ftlab_trace::{Input, OpenOptions, open_input};

    /// Writes of pages 0 to 499 and again, with trims: of written pages, of these again, and of pages beyond.
    fn experiment() -> Experiment {
        let open = || {
            let mut lines = String::from("W,0,500\nT,10,4\nT,12,6\nT,900,3\n");
            (0..8).for_each(|_| lines += "W,0,500\n");
            lines += "T,899,2\nT,0,1\nW,1,1\n";
            let map = Some("op=1,off:pages=2,len:pages=3".to_owned());
            let input = Input::from_bytes("test", lines.into_bytes())?;
            open_input(input, &OpenOptions { map, ..OpenOptions::default() })
        };
        let drive = DriveOptions {
            logical: Logical::Pages(1024),
            pages_per_block: Some(16),
            physical: Physical::OverProvisioning(Share(0.3)),
            ..DriveOptions::default()
        };
        let workload = Workload::Requests(Requests::new("test", false, open));
        let ftls = ["1r-greedy", "fast"].map(|ftl| ftl.parse().unwrap()).to_vec();
        Experiment { drive, fill: Fill::None, ..Experiment::new(workload, ftls) }
    }

    fn trims(experiment: &Experiment) -> Vec<[u64; 2]> {
        let result = experiment.run(&mut ()).unwrap();
        result.runs.iter().map(|run| [run.trims, run.unwritten_trims]).collect()
    }

    #[test]
    fn trims_of_pages_that_held_nothing_are_told_apart() {
        // 10 to 17 and 0 held data; 12 and 13 the second time, 900 to 902, and 899 and 900 did not.
        assert_eq!(trims(&experiment()), [[9, 7]; 2]);
        let timed =
            Experiment { timing: Some("slc:unit=request".parse().unwrap()), ..experiment() };
        assert_eq!(trims(&timed), [[9, 7]; 2]);
        let full = Experiment { fill: Fill::Sequential, ..experiment() };
        assert_eq!(trims(&full), [[13, 3]; 2], "12 and 13 again, and 900 again");
        let one = vec!["1r-greedy".parse().unwrap()];
        let mut cached = Experiment { ftls: one, ..experiment() };
        cached.drive.slc_cache = Some("size=1MiB".parse().unwrap());
        assert_eq!(trims(&cached), [[9, 7]]);
        assert_eq!(trims(&Experiment { ignore_trims: true, ..experiment() }), [[0, 0]; 2]);
    }
}

//! An FTL run, from its first write to its last.

use super::history::{History, thin_out};
use super::totals::{Taken, Totals};
use crate::SimError;
use crate::expander::Segment;
use crate::fdp::FdpRecord;
use crate::feed::Chunk;
use crate::format::grouped;
use crate::frames;
use crate::result::Frame;
use crate::steady::{self, Circumstances, Settling, Verdict};
use crate::stopwatch::Spent;
use crate::transactions::Transactions;
use ftlab_flash::{Faults, Geometry};
use ftlab_host::{Arrival, Interval};
use ftlab_stack::{AnyFtl, Step, Stop, Tally, Watch};
use ftlab_trace::{Done, Issued};
use std::collections::BTreeMap;

/// A stream of fewer blocks, as a share of the drive, is not waited for: what it does hardly counts.
const STREAM_MIN: f64 = 0.01;

/// Requests and operations that may wait: some hundred bytes each.
const BACKLOG_MAX: u64 = 1 << 22;

/// What tells a run from others in its results.
#[derive(Debug)]
pub(crate) struct Label {
    /// The FTL as it was named.
    pub(crate) name: String,
    /// Every parameter with its value, defaults included.
    pub(crate) parameters: BTreeMap<String, String>,
    /// Of everything that decides the result.
    pub(crate) config_hash: String,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct FlashOfRun {
    /// Its erase blocks are reclaim units, if the FTL has some.
    pub(crate) geometry: Geometry,
    /// Pages that the host can address.
    pub(crate) logical_pages: u32,
    /// Erase blocks in a reclaim unit.
    pub(crate) unit_blocks: u32,
    /// Blocks of its SLC cache, and the pages of each.
    pub(crate) slc_blocks: Option<[u32; 2]>,
    /// How often operations fail, if they do.
    pub(crate) faults: Option<Faults>,
}

/// How an FTL stood when counting began.
pub(super) struct Base {
    pub(super) tally: Tally,
    pub(super) watch: Watch,
    /// Steps before, if they are recorded.
    steps: usize,
}

impl Base {
    pub(super) fn of(ftl: &AnyFtl) -> Self {
        Self { tally: ftl.tally(), watch: ftl.watch().clone(), steps: ftl.steps().len() }
    }
}

/// An FTL, and what is recorded of it.
pub(crate) struct FtlRun {
    pub(super) label: Label,
    pub(super) flash: FlashOfRun,
    pub(super) ftl: AnyFtl,
    /// How it stood when counting began, if it has.
    pub(super) base: Option<Base>,
    /// Of placement handles, if it has some, since counting began.
    pub(super) fdp: Option<FdpRecord>,
    /// Why the drive became read-only, if it did: it takes no more writes.
    pub(super) read_only: Option<String>,
    /// What segments brought since counting began, as far as the drive took it.
    pub(super) taken: Taken,
    pub(super) history: History,
    /// The share of the cold region at the end of each interval, if there is one.
    pub(super) cold_region_shares: Vec<f64>,
    /// The number of groups at the end of each interval, if it changes.
    pub(super) groups: Vec<u32>,
    /// The time of each interval, if time is simulated.
    pub(super) intervals: Vec<Interval>,
    /// Pictures of the flash at even distances; none unless pages are watched.
    pub(super) frames: Vec<Frame>,
    /// The names of tenants, by their numbers.
    pub(super) tenants: Vec<String>,
    /// Transactions that were complete, if it is told of some.
    pub(super) transactions: Option<Transactions>,
    pub(super) spent: Spent,
}

impl FtlRun {
    pub(crate) fn new(label: Label, flash: FlashOfRun, ftl: AnyFtl) -> Self {
        Self {
            label,
            flash,
            ftl,
            base: None,
            fdp: None,
            read_only: None,
            taken: Taken::default(),
            history: History::default(),
            cold_region_shares: Vec::new(),
            groups: Vec::new(),
            intervals: Vec::new(),
            frames: Vec::new(),
            tenants: Vec::new(),
            transactions: None,
            spent: Spent::default(),
        }
    }

    pub(crate) fn config_hash(&self) -> &str {
        &self.label.config_hash
    }

    /// Counts from here on.
    pub(crate) fn begin(&mut self) {
        self.ftl.measure();
        self.ftl.count_moves();
        let base = Base::of(&self.ftl);
        let handles = self.ftl.placement_handles();
        self.fdp = handles.map(|handles| FdpRecord::new(handles, base.tally.counters.host_writes));
        self.base = Some(base);
        self.taken = Taken::default();
        self.transactions.iter_mut().for_each(|of| *of = Transactions::default());
        self.frames.extend(self.frame(0));
    }

    /// Its steps so far, and how many of them came before counting began.
    pub(crate) fn steps(&self) -> (&[Step], usize) {
        (self.ftl.steps(), self.base.as_ref().map_or(0, |base| base.steps))
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
                self.taken.add(segment, segment.batch.writes.len());
                self.record(segment);
                self.check_backlog()?;
            }
            Err(Stop::ReadOnly(reason)) => self.stop_within(segment, reason),
            Err(Stop::Error(reason)) => return Err(self.failed(reason)),
        }
        Ok(())
    }

    /// The drive took a part of a segment, and takes no more writes.
    fn stop_within(&mut self, segment: &Segment, reason: String) {
        let taken = self.totals().host_writes.saturating_sub(self.taken.pages) as usize;
        self.taken.add(segment, taken.min(segment.batch.writes.len()));
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
                self.label.name,
                grouped(pending)
            ),
            remedy: "lower speed-up or rate, add LUNs, or use arrivals=closed".into(),
        })
    }

    /// Carries out a chunk at one time of the clock, in nanoseconds; when the last of its writes is complete.
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
            self.taken.add(segment, segment.batch.writes.len());
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

    pub(super) fn failed(&self, reason: String) -> SimError {
        SimError::Ftl { ftl: self.label.name.clone(), reason }
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
            self.end_interval(totals);
        }
        if marks.round {
            self.history.end_round(totals, marks.pass);
        }
        if marks.checkpoint {
            self.history.add_checkpoint(totals);
        }
        if marks.thin_out {
            self.history.thin_out_checkpoints();
        }
        if marks.frame {
            self.frames.extend(self.frame(totals.host_writes));
        }
        if marks.thin_out_frames {
            thin_out(&mut self.frames);
        }
    }

    fn end_interval(&mut self, totals: Totals) {
        self.history.end_interval(totals, self.flash.geometry.page_bytes());
        self.cold_region_shares.extend(self.cold_region_share());
        self.groups.extend(self.ftl.groups());
        self.intervals.extend(self.ftl.end_interval());
        self.transactions.iter_mut().for_each(Transactions::end_interval);
        if let (Some(record), Some(handles)) = (&mut self.fdp, self.ftl.placement_handles()) {
            record.end_interval(handles, &self.flash.geometry);
        }
    }

    /// The flash as it is now; none if pages are not watched.
    pub(super) fn frame(&self, host_writes: u64) -> Option<Frame> {
        let picture = self.ftl.picture(&self.flash.geometry)?;
        Some(frames::draw(&picture, &self.flash.geometry, host_writes))
    }

    /// Totals since counting began; none before.
    pub(super) fn totals(&self) -> Totals {
        self.base.as_ref().map_or_else(Totals::default, |base| {
            let tally = self.ftl.tally().since(&base.tally);
            Totals::new(&tally, self.taken.lacking, self.flash.unit_blocks)
        })
    }

    /// Whether write amplification has settled by now, of a run that was looked at before or not.
    pub(crate) fn settling(&self, was_looked_at: bool) -> Settling {
        self.history.settling(Circumstances {
            round_writes: steady::round_writes(self.flash.logical_pages),
            turnovers: self.turnovers(),
            was_looked_at,
        })
    }

    /// How often the slowest stream was collected since counting began, measured by its size.
    fn turnovers(&self) -> Option<f64> {
        let base = self.base.as_ref()?;
        let erases = self.ftl.tally().since(&base.tally).counters.streams;
        let all = f64::from(self.flash.geometry.blocks());
        let streams = self.ftl.streams().into_iter().zip(erases);
        let large = streams.filter(|(stream, _)| f64::from(stream.blocks) >= STREAM_MIN * all);
        large.map(|(stream, of)| of.erases as f64 / f64::from(stream.blocks)).reduce(f64::min)
    }

    /// Whether it is looked at now, and found steady.
    pub(crate) fn is_steady(&self) -> bool {
        self.history.is_look() && self.settling(true).verdict == Verdict::Steady
    }

    /// Write amplification so far, for progress.
    pub(crate) fn waf(&self) -> Option<f64> {
        let totals = self.totals();
        (totals.host_writes > 0).then(|| totals.waf())
    }

    pub(super) fn cold_region_share(&self) -> Option<f64> {
        let streams = self.ftl.streams();
        let cold = streams.iter().filter(|stream| stream.cold);
        let blocks: u32 = cold.clone().map(|stream| stream.blocks).sum();
        (cold.count() > 0).then(|| f64::from(blocks) / f64::from(self.flash.geometry.blocks()))
    }
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

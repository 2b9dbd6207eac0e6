//! An FTL run, from its first write to its last.

use super::history::{History, thin_out};
use super::totals::Totals;
use crate::SimError;
use crate::fdp::FdpRecord;
use crate::frames;
use crate::result::Frame;
use crate::steady::{self, Circumstances, Settling, Verdict};
use ftlab_feed::{Chunk, Fed, Hosted, Marks, Record, Transactions};
use ftlab_flash::{Faults, Geometry};
use ftlab_ftl::ChosenRule;
use ftlab_host::Interval;
use ftlab_stack::{AnyFtl, Step, Tally, Watch};
use std::collections::BTreeMap;

/// A stream of fewer blocks, as a share of the drive, is not waited for: what it does hardly counts.
const STREAM_MIN: f64 = 0.01;

/// What tells a run from others in its results.
#[derive(Debug)]
pub(crate) struct Label {
    /// Every parameter with its value, defaults included.
    pub(crate) parameters: BTreeMap<String, String>,
    /// Of everything that decides the result.
    pub(crate) config_hash: String,
    /// Its map, if others have another.
    pub(crate) mapping: Option<String>,
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
    /// Memory for the entries of a map on flash; 0 if the map is in memory.
    pub(crate) cache_bytes: u64,
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
    pub(super) fed: Fed,
    pub(super) log: Log,
}

/// What is recorded of an FTL.
pub(super) struct Log {
    pub(super) label: Label,
    pub(super) flash: FlashOfRun,
    /// How the FTL stood when counting began, if it has.
    pub(super) base: Option<Base>,
    /// Of placement handles, if it has some, since counting began.
    pub(super) fdp: Option<FdpRecord>,
    pub(super) history: History,
    /// The share of the cold region at the end of each interval, if there is one.
    pub(super) cold_region_shares: Vec<f64>,
    /// The number of groups at the end of each interval, if it changes.
    pub(super) groups: Vec<u32>,
    /// The rule at the end of each interval, if it is chosen.
    pub(super) rules: Vec<ChosenRule>,
    /// The time of each interval, if time is simulated.
    pub(super) intervals: Vec<Interval>,
    /// Pictures of the flash at even distances; none unless pages are watched.
    pub(super) frames: Vec<Frame>,
}

impl FtlRun {
    /// The run of an FTL of this name.
    pub(crate) fn new(name: String, label: Label, flash: FlashOfRun, ftl: AnyFtl) -> Self {
        let log = Log {
            label,
            flash,
            base: None,
            fdp: None,
            history: History::default(),
            cold_region_shares: Vec::new(),
            groups: Vec::new(),
            rules: Vec::new(),
            intervals: Vec::new(),
            frames: Vec::new(),
        };
        Self { fed: Fed::new(name, ftl), log }
    }

    pub(crate) fn config_hash(&self) -> &str {
        &self.log.label.config_hash
    }

    /// Counts from here on.
    pub(crate) fn begin(&mut self) {
        self.log.begin(&mut self.fed);
    }

    /// Its steps so far, and how many of them came before counting began.
    pub(crate) fn steps(&self) -> (&[Step], usize) {
        (self.fed.ftl.steps(), self.log.base.as_ref().map_or(0, |base| base.steps))
    }

    /// Carries out the writes and trims of a chunk, as far as the drive takes them.
    pub(crate) fn apply(&mut self, chunk: &Chunk) -> Result<(), SimError> {
        Ok(self.fed.apply(chunk, &mut self.log)?)
    }

    /// Carries out the next requests of hosts; false at the end.
    pub(crate) fn advance(&mut self, hosted: &mut Hosted) -> Result<bool, SimError> {
        Ok(hosted.advance(&mut self.fed, &mut self.log)?)
    }

    /// Keeps an account of transactions, of which it is told.
    pub(crate) fn keep_transactions(&mut self) {
        self.fed.transactions = Some(Transactions::default());
    }

    /// Whether the drive takes no more writes.
    pub(crate) fn is_read_only(&self) -> bool {
        self.fed.is_read_only()
    }

    /// The error of an FTL that stopped.
    pub(super) fn failed(&self, reason: String) -> SimError {
        self.fed.failed(reason).into()
    }

    /// Totals since counting began; none before.
    pub(super) fn totals(&self) -> Totals {
        self.log.totals(&self.fed)
    }

    /// Whether it is looked at now, and found steady.
    pub(crate) fn is_steady(&self) -> bool {
        self.log.is_steady(&self.fed)
    }

    /// Write amplification so far, for progress.
    pub(crate) fn waf(&self) -> Option<f64> {
        let totals = self.totals();
        (totals.host_writes > 0).then(|| totals.waf())
    }
}

impl Record for Log {
    fn record(&mut self, fed: &mut Fed, marks: Marks) {
        if marks.begin {
            self.begin(fed);
        }
        if !(marks.interval || marks.round || marks.checkpoint || marks.frame) {
            return;
        }
        let totals = self.totals(fed);
        if marks.interval {
            self.end_interval(fed, totals);
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
            self.frames.extend(self.frame(fed, totals.host_writes));
        }
        if marks.thin_out_frames {
            thin_out(&mut self.frames);
        }
    }

    fn is_steady(&self, fed: &Fed) -> bool {
        self.history.is_look() && self.settling(fed, true).verdict == Verdict::Steady
    }
}

impl Log {
    fn begin(&mut self, fed: &mut Fed) {
        fed.begin();
        let base = Base::of(&fed.ftl);
        let handles = fed.ftl.placement_handles();
        self.fdp = handles.map(|handles| FdpRecord::new(handles, base.tally.counters.host_writes));
        self.base = Some(base);
        self.frames.extend(self.frame(fed, 0));
    }

    fn end_interval(&mut self, fed: &mut Fed, totals: Totals) {
        self.history.end_interval(totals, self.flash.geometry.page_bytes());
        self.cold_region_shares.extend(self.cold_region_share(fed));
        self.groups.extend(fed.ftl.groups());
        self.rules.extend(fed.ftl.rule());
        self.intervals.extend(fed.ftl.end_interval());
        fed.transactions.iter_mut().for_each(Transactions::end_interval);
        if let (Some(record), Some(handles)) = (&mut self.fdp, fed.ftl.placement_handles()) {
            record.end_interval(handles, &self.flash.geometry);
        }
    }

    /// The flash as it is now; none if pages are not watched.
    pub(super) fn frame(&self, fed: &Fed, host_writes: u64) -> Option<Frame> {
        let picture = fed.ftl.picture(&self.flash.geometry)?;
        Some(frames::draw(&picture, &self.flash.geometry, host_writes))
    }

    fn totals(&self, fed: &Fed) -> Totals {
        self.base.as_ref().map_or_else(Totals::default, |base| {
            let tally = fed.ftl.tally().since(&base.tally);
            let waited = base.tally.map.waiting;
            Totals::new(&tally, waited, fed.taken.lacking, self.flash.unit_blocks)
        })
    }

    /// Whether write amplification has settled by now, of a run that was looked at before or not.
    pub(super) fn settling(&self, fed: &Fed, was_looked_at: bool) -> Settling {
        self.history.settling(Circumstances {
            round_writes: steady::round_writes(self.flash.logical_pages),
            turnovers: self.turnovers(fed),
            was_looked_at,
        })
    }

    /// How often the slowest stream was collected since counting began, measured by its size.
    fn turnovers(&self, fed: &Fed) -> Option<f64> {
        let base = self.base.as_ref()?;
        let erases = fed.ftl.tally().since(&base.tally).counters.streams;
        let all = f64::from(self.flash.geometry.blocks());
        let streams = fed.ftl.streams().into_iter().zip(erases);
        let large = streams.filter(|(stream, _)| f64::from(stream.blocks) >= STREAM_MIN * all);
        large.map(|(stream, of)| of.erases as f64 / f64::from(stream.blocks)).reduce(f64::min)
    }

    pub(super) fn cold_region_share(&self, fed: &Fed) -> Option<f64> {
        let streams = fed.ftl.streams();
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

//! What is said of a run: the options of an experiment, besides those of its drive.

use crate::drive::DriveOptions;
use crate::model_of::ModelOf;
use crate::option::{by_text, by_value, drive_writes, options, word};
use crate::precondition::Fill;
use crate::workload::Workload;
use ftlab_flash::Faults;
use ftlab_spec::Spec;
use ftlab_stack::OwnPolicies;
use ftlab_trace::StreamMap;
use std::num::NonZeroU32;

/// Page writes that are decoded together: 1 MiB of page numbers.
pub const BATCH_WRITES: u64 = 256 * 1024;

/// Drive writes of a generator that is given no length.
pub const GENERATOR_DRIVE_WRITES: f64 = 4.0;

/// Drive writes after which a run ends that has not become steady, if nothing else is given.
pub const UNTIL_STEADY_DRIVE_WRITES: f64 = 200.0;

/// How many host page writes are counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Length {
    /// All of a trace, or of a generator that ends; [`GENERATOR_DRIVE_WRITES`] of one that does not.
    OfWorkload,
    /// This many; fewer if the workload ends before.
    Writes(u64),
    /// A multiple of the drive's logical pages, rounded to a whole page write.
    DriveWrites(f64),
    /// Until the write amplification of every FTL is [steady](crate::Verdict), but no more than this multiple
    /// of the drive's logical pages.
    UntilSteady(f64),
}

impl Length {
    /// Host page writes on a drive of `logical_pages`; none if the workload decides.
    pub fn writes(self, logical_pages: u64) -> Option<u64> {
        match self {
            Self::OfWorkload => None,
            Self::Writes(writes) => Some(writes),
            Self::DriveWrites(drives) | Self::UntilSteady(drives) => {
                Some(of_drive(drives, logical_pages))
            }
        }
    }
}

/// Page writes of a multiple of a drive of `logical_pages`, rounded.
pub(crate) fn of_drive(drives: f64, logical_pages: u64) -> u64 {
    (drives * logical_pages as f64).round() as u64
}

/// One or many FTLs over one workload.
#[expect(clippy::struct_excessive_bools, reason = "a set of independent options")]
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Where the writes come from.
    pub workload: Workload,
    /// What serves them.
    pub ftls: Vec<Spec>,
    /// Policies that they may name, beside those of the registry.
    pub policies: OwnPolicies,
    /// On which drive.
    pub drive: DriveOptions,
    /// The real drive that it is a model of, if it is one.
    pub model_of: Option<ModelOf>,
    /// How many host writes are counted.
    pub length: Length,
    /// Whether a trace begins again when it ends; a generator that ends does not.
    pub repeat: bool,
    /// How the drive is filled first.
    pub fill: Fill,
    /// Host writes that are executed after the fill and not counted.
    pub warmup_writes: u64,
    /// Host writes of an interval of the running write amplification; a quarter of the drive, at
    /// least 1, if `None`.
    pub interval_writes: Option<u64>,
    /// How long operations take, such as `slc:channels=4`, if time is simulated.
    pub timing: Option<Spec>,
    /// Whether jobs of fio that run on a clock are hosts of their own; if not, their requests come one after the
    /// other, as they take turns without a clock, when the timing says. They do with random arrivals.
    pub jobs_are_hosts: bool,
    /// How many of the slowest requests are kept with what LUNs did meanwhile.
    pub slowest: usize,
    /// How often operations fail, if they do.
    pub faults: Option<Faults>,
    /// Program/erase cycles that a block endures, for how much the host can write.
    pub endurance_cycles: Option<u32>,
    /// Seed of generator and random fill.
    pub seed: u64,
    /// The streams of requests by where they lie, instead of those that a trace names.
    pub streams: Option<StreamMap>,
    /// Whether addresses beyond the drive are taken modulo its size, instead of being an error.
    pub wrap: bool,
    /// Whether trims do nothing, as in papers whose FTLs do not know them.
    pub ignore_trims: bool,
    /// Whether pages and blocks are watched for a report, which makes the FTLs slower.
    pub observe: bool,
    /// Threads at most; as many as there are processors if `None`. Results do not depend on it.
    pub threads: Option<usize>,
    /// Host writes that are decoded together. Results do not depend on it.
    pub batch_writes: u64,
}

options! { RUN_OPTIONS of Experiment:
    under "Drive" {
        /// Program/erase cycles that a block endures: adds terabytes written and drive writes per day.
        endurance: by_value::<NonZeroU32>, "CYCLES" => |run, cycles| run.endurance_cycles = Some(cycles.get());
        files "Program/erase cycles that a block endures.";
        python "int";
        /// Injects flash failures: shares of programs and erases that fail, number of factory bad
        /// blocks, and a seed, such as program=1e-5,erase=1e-4,bad=20,seed=1.
        faults: by_text::<Faults>, "KEY=VALUE,..." => |run, faults| run.faults = Some(faults);
        files "Lets flash fail, such as program=1e-5,erase=1e-4.";
        python "str";
        /// Simulates time, with the flash timing NAME, such as slc:channels=4,luns=2,queue-depth=16.
        /// Blocks are those of its chip, one on each LUN, unless --pages-per-block is given. See `ftlab list timings`.
        timing: by_text::<Spec>, "NAME[:KEY=VALUE,...]" => |run, timing| run.timing = Some(timing);
        files "Simulates time, such as slc:channels=4.";
        python "str";
        had |run| run.timing.as_ref().map(Spec::to_string);
        /// Takes addresses beyond the drive modulo its size, instead of rejecting them.
        wrap: by_value::<bool>, "" => |run, on| run.wrap = on;
        files "Whether addresses beyond the drive are taken modulo its size.";
        python "bool";
        /// Ignores trims, as in papers whose FTLs do not support them.
        ignore_trims: by_value::<bool>, "" => |run, on| run.ignore_trims = on;
        files "Whether trims do nothing.";
        python "bool";
        /// Assigns streams (placement handles) to requests by their start address, instead of those
        /// named in the trace: 1MiB..2MiB=1,4GiB..8GiB=2; the rest is stream 0.
        streams: by_text::<StreamMap>, "RANGE=STREAM,..." => |run, streams| run.streams = Some(streams);
        files "The streams of requests by their start address, such as 1MiB..2MiB=1; the rest is stream 0.";
        python "str";
    }
    under "Length" {
        /// How the drive is filled first, which is executed but not counted: none, every page once in
        /// ascending order (sequential) or in random order (random), or every page twice (twice).
        fill: by_value::<Fill>, "HOW" = "sequential" => |run, fill| run.fill = fill;
        files "How the drive is filled first: none, sequential, random or twice.";
        python "Literal[\"sequential\", \"random\", \"twice\", \"none\"]";
        /// Prepares the drive as a test does: pts, as SNIA's Performance Test Specification, writes every page twice
        /// and then runs the workload until it is steady.
        precondition: word("pts"), "TEST", of "pts", without fill | writes | until
            => |run, _pts| { (run.fill, run.repeat) = (Fill::Twice, true); run.end_when_steady() };
        files "Prepares the drive as a test does: pts, as SNIA's Performance Test Specification.";
        python "Literal[\"pts\"]";
        /// Host page writes after the fill that are executed but not counted.
        warmup_writes: by_value::<u64>, "N" = "0" => |run, writes| run.warmup_writes = writes;
        files "Host page writes that are executed after the fill and not counted.";
        python "int";
        had |run| Some(run.warmup_writes.to_string());
        /// Host page writes that are not counted, as a multiple of the logical capacity, which is given too.
        warmup_drive_writes: drive_writes, "X", instead of warmup_writes
            => |run, drives| run.warmup_writes = run.writes_of_drive(drives)?;
        files "Drive writes that are not counted, at the beginning.";
        python "float";
        /// Maximum number of host page writes to count; if neither this nor --drive-writes is given, a
        /// whole trace, or 4 drive writes of a generator.
        writes: by_value::<u64>, "N" => |run, writes| run.length = Length::Writes(writes);
        files "Host page writes that are counted at most; all of a trace.";
        python "int";
        had |run| match run.length {
            Length::Writes(writes) => Some(writes.to_string()),
            _ => None,
        };
        /// Maximum number of host page writes to count, as a multiple of the logical capacity.
        drive_writes: drive_writes, "X", instead of writes => |run, drives| run.length = match run.length {
            Length::UntilSteady(_) => Length::UntilSteady(drives),
            _ => Length::DriveWrites(drives),
        };
        files "Drive writes that are counted at most; 4 of a generator.";
        python "float";
        had |run| match run.length {
            Length::DriveWrites(drives) | Length::UntilSteady(drives) => Some(drives.to_string()),
            _ => None,
        };
        /// Begins a trace again when it ends, until --writes, --drive-writes (4 by default) or --until ends the run.
        repeat: by_value::<bool>, "" => |run, on| run.repeat |= on;
        files "Whether a trace begins again when it ends.";
        python "bool";
        /// Ends when the write amplification of every FTL is steady: a run of ten times the length would have the same,
        /// within 3% of WAF - 1. That takes 8 drive writes at least; a trace that has fewer needs --repeat. After
        /// --drive-writes (200 by default) it ends all the same, and results tell what is known: at least, or at most.
        until: word("steady"), "WHAT", of "steady", without writes => |run, _steady| run.end_when_steady();
        files "Ends when the write amplification of every FTL is steady: steady.";
        python "Literal[\"steady\"]";
        /// Seed of generator and random fill: same seed, same result.
        seed: by_value::<u64>, "N" = "1" => |run, seed| run.seed = seed;
        python "int";
    }
    under "Report" {
        /// Length of an interval of the running write amplification, in host page writes; by default a
        /// quarter of the drive.
        interval: by_value::<u64>, "N" => |run, writes| run.interval_writes = Some(writes);
        files "Host page writes of an interval of the running numbers; a quarter of the drive.";
        python "int";
        /// Number of threads; by default one per processor. Results do not depend on it.
        threads: by_value::<NonZeroU32>, "N" => |run, threads| run.threads = Some(threads.get() as usize);
        python "int";
    }
    under "" {
        /// Tracks pages and blocks, for plots of the flash and of what is moved; the counts are the same,
        /// and the run takes two to three times as long.
        observe: by_value::<bool>, "" => |run, on| run.observe = on;
        files "Whether pages and blocks are watched, for which pages are moved and where they lie.";
        python "bool";
    }
}

impl Experiment {
    /// An experiment with the default drive, full at first, and all of the workload.
    pub fn new(workload: Workload, ftls: Vec<Spec>) -> Self {
        Self {
            workload,
            ftls,
            policies: OwnPolicies::default(),
            drive: DriveOptions::default(),
            length: Length::OfWorkload,
            repeat: false,
            model_of: None,
            fill: Fill::default(),
            warmup_writes: 0,
            interval_writes: None,
            timing: None,
            jobs_are_hosts: true,
            slowest: 0,
            faults: None,
            endurance_cycles: None,
            seed: 1,
            streams: None,
            wrap: false,
            ignore_trims: false,
            observe: false,
            threads: None,
            batch_writes: BATCH_WRITES,
        }
    }

    fn end_when_steady(&mut self) {
        let most = match self.length {
            Length::DriveWrites(most) | Length::UntilSteady(most) => most,
            Length::Writes(_) | Length::OfWorkload => UNTIL_STEADY_DRIVE_WRITES,
        };
        self.length = Length::UntilSteady(most);
    }

    /// A multiple of the drive's pages, whose number has to be known.
    fn writes_of_drive(&self, drives: f64) -> Result<u64, String> {
        match self.drive.asked_pages() {
            Some(pages) => Ok(of_drive(drives, pages)),
            None => Err(format!(
                "\"{drives}\" is not possible without the size of the drive; give logical too, or warmup-writes"
            )),
        }
    }
}

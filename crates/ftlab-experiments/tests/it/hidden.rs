//! Drives of the lab whose parameters are hidden, and what their counters tell.

use ftlab_experiments::Stop;
use ftlab_experiments::fit::{Fit, Measured, Question, Series, possible_ftls, unit_pages};
use ftlab_sim::{DriveOptions, Experiment, Fill, Length, Logical, Physical, Workload};
use ftlab_spec::{Share, Spec};
use ftlab_trace::OpenOptions;

/// Bytes of a page.
pub(crate) const PAGE_BYTES: u32 = 128 * 1024;

/// Pages of the drives that are simulated in its place, where the time is short.
pub(crate) const FITTED_ON: u32 = 32_768;

/// Bytes of a drive with this many pages.
pub(crate) fn capacity(pages: u32) -> u64 {
    u64::from(pages) * u64::from(PAGE_BYTES)
}

/// A hidden drive: FTL, over-provisioning and units.
#[derive(Clone, Copy)]
pub(crate) struct Hidden {
    pub(crate) ftl: &'static str,
    pub(crate) op_ratio: f64,
    pub(crate) units: u32,
    pub(crate) seed: u64,
}

/// A hidden drive that is larger than those that are simulated in its place, and the workload that it was under.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) hidden: Hidden,
    pub(crate) workload: &'static str,
    /// How many times larger.
    pub(crate) times: u32,
    /// Pages of those that are simulated.
    pub(crate) fitted_on: u32,
}

/// FTLs of hidden drives: five plain ones, and five that know more.
const FTLS: [&str; 10] = [
    "1r-greedy",
    "lfs-cb",
    "fifo",
    "sepbit",
    "sep-gc/greedy",
    "dac-greedy",
    "sep-gc/fifo",
    "2r++",
    "sep-gc/cost-benefit",
    "midas",
];

/// Workloads that they are under.
const WORKLOADS: [&str; 5] =
    ["fio-randwrite:bs=128", "uniform", "fio-randwrite:bs=128", "zipf:theta=0.9", "hotcold"];

impl Case {
    /// One of them, any number is one, fitted on drives of so many pages.
    pub(crate) fn of(number: usize, fitted_on: u32) -> Self {
        let round = number / FTLS.len();
        let hidden = Hidden {
            ftl: FTLS[number % FTLS.len()],
            // From 7 to 28%, in no order.
            op_ratio: 0.07 + 0.21 * (number as f64 * 0.618_034).fract(),
            units: [256, 512, 1024][number % 3],
            seed: 500 + number as u64,
        };
        Self {
            hidden,
            workload: WORKLOADS[(number + round) % WORKLOADS.len()],
            times: if (number + round) % 4 == 3 { 64 } else { 4 },
            fitted_on,
        }
    }

    /// What its counters tell, each sample off by up to half a percent of an interval, and its over-provisioning in whole
    /// units.
    pub(crate) fn measured(&self) -> (Measured, f64) {
        noisy_series(&self.hidden, self.workload, (self.fitted_on * self.times, 8.0), 0.005)
    }

    /// What the fit says of it, on `threads` threads.
    pub(crate) fn fit(&self, measured: Measured, threads: usize) -> Fit {
        let series = vec![of_series(measured, base(self.workload))];
        let real = capacity(self.fitted_on * self.times);
        let asked = asked(series, real, self.fitted_on, possible_ftls());
        Question { tries_gradual: true, ..asked }.answer(None, threads, &|_| ()).unwrap()
    }
}

pub(crate) fn base(workload: &str) -> Experiment {
    let workload = Workload::parse(workload, OpenOptions::default()).unwrap();
    Experiment {
        drive: DriveOptions { page_bytes: PAGE_BYTES, ..DriveOptions::default() },
        fill: Fill::None,
        ..Experiment::new(workload, Vec::new())
    }
}

/// What a drive of the lab writes, as the table that its counters would give: with another seed than that of
/// the fit; and its over-provisioning in whole units.
pub(crate) fn series(
    hidden: &Hidden,
    workload: &str,
    pages: u32,
    drive_writes: f64,
) -> (Measured, f64) {
    noisy_series(hidden, workload, (pages, drive_writes), 0.0)
}

/// The same of counters that are off by up to this share of an interval at each sample.
pub(crate) fn noisy_series(
    hidden: &Hidden,
    workload: &str,
    (pages, drive_writes): (u32, f64),
    noise: f64,
) -> (Measured, f64) {
    let mut experiment = Experiment {
        ftls: vec![hidden.ftl.parse().unwrap()],
        length: Length::DriveWrites(drive_writes),
        interval_writes: Some(u64::from(pages / 8)),
        seed: hidden.seed,
        ..base(workload)
    };
    experiment.drive.logical = Logical::Pages(u64::from(pages));
    experiment.drive.pages_per_block = Some(pages / hidden.units);
    experiment.drive.physical = Physical::OverProvisioning(Share(hidden.op_ratio));
    let prepared = experiment.prepare().unwrap();
    let op_ratio = prepared.config().drive.op_ratio;
    let run = prepared.run(&mut ()).unwrap().runs.remove(0);
    let bytes = capacity(pages) as f64 / 8.0;
    let (mut host, mut media) = (0.0, 0.0);
    let mut random = hidden.seed;
    let rows = run.running_waf.iter().map(|waf| {
        host += bytes;
        media += waf * bytes;
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let off = noise * bytes * ((random >> 40) as f64 / f64::from(1_u32 << 23) - 1.0);
        format!("{host:.0},{:.0}\n", media + off)
    });
    let table = format!("host_bytes,media_bytes\n0,0\n{}", rows.collect::<String>());
    (Measured::parse(&table).unwrap(), op_ratio)
}

pub(crate) fn of_series(measured: Measured, base: Experiment) -> Series {
    Series { name: "series".into(), base, measured, skip: 0.0, after: 0 }
}

pub(crate) fn asked(series: Vec<Series>, capacity: u64, pages: u32, ftls: Vec<Spec>) -> Question {
    Question {
        series,
        capacities: vec![capacity],
        overhead: None,
        tries_gradual: false,
        pages,
        ftls,
        op_ratios: (0.05, 0.35),
        unit_pages: unit_pages(pages),
        stop: Stop::default(),
    }
}

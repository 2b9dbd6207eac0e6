//! Curves of a run by name.

use super::columns::StoredRun;
use ftlab_sim::result::{Frame, RunResult, TimingResult};
use ftlab_spec::SpecError;

/// How numbers on an axis are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisKind {
    /// As they are.
    Numbers,
    /// As percentages.
    Shares,
    /// In thousands, millions and so on.
    Counts,
    /// Their logarithms, at powers of ten.
    Powers,
}

type Points = Vec<(f64, f64)>;

/// A line to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What goes to the right, and how it is shown.
    pub x: (&'static str, AxisKind),
    /// What goes up, and how it is shown.
    pub y: (&'static str, AxisKind),
    /// The points, by x ascending.
    pub points: Vec<(f64, f64)>,
}

/// A curve that a run has.
#[derive(Debug, Clone, Copy)]
pub struct Series {
    /// Its name in experiment files.
    pub name: &'static str,
    /// What its points are, in a few words.
    pub doc: &'static str,
    x: (&'static str, AxisKind),
    y: (&'static str, AxisKind),
    points: fn(&StoredRun, &RunResult, f64) -> Option<Points>,
}

const HOST_WRITES: (&str, AxisKind) = ("host page writes", AxisKind::Counts);
const WAF: (&str, AxisKind) = ("write amplification", AxisKind::Numbers);

/// Every curve.
pub const SERIES: &[Series] = &[
    Series {
        name: "running-waf",
        doc: "write amplification of each interval",
        x: HOST_WRITES,
        y: WAF,
        points: |stored, run, _| Some(over_writes(stored, run.running_waf.iter().copied())),
    },
    Series {
        name: "waf-by-drive-writes",
        doc: "the same against drive writes, beside the series that drives gave",
        x: ("host writes, in sizes of the drive", AxisKind::Numbers),
        y: WAF,
        points: |stored, run, _| {
            let pages = f64::from(stored.result.config.drive.logical_pages);
            let points = over_writes(stored, run.running_waf.iter().copied());
            let half = stored.result.config.interval_writes as f64 / 2.0;
            Some(points.into_iter().map(|(writes, waf)| ((writes - half) / pages, waf)).collect())
        },
    },
    Series {
        name: "cumulative-waf",
        doc: "write amplification since counting began",
        x: HOST_WRITES,
        y: ("cumulative write amplification", AxisKind::Numbers),
        points: |stored, run, _| Some(over_writes(stored, cumulative(&run.running_waf))),
    },
    Series {
        name: "cold-region",
        doc: "share of the blocks that are the cold region",
        x: HOST_WRITES,
        y: ("cold region, of all blocks", AxisKind::Shares),
        points: |stored, run, _| {
            let shares = run.running_cold_region_share.as_ref()?;
            Some(over_writes(stored, shares.iter().copied()))
        },
    },
    Series {
        name: "writes-per-second",
        doc: "page writes per simulated second in each interval",
        x: HOST_WRITES,
        y: ("page writes per second", AxisKind::Counts),
        points: |stored, run, _| {
            let rates = &run.timing.as_ref()?.running_iops;
            Some(over_writes(stored, rates.iter().copied()))
        },
    },
    Series {
        name: "transactions-per-second",
        doc: "transactions per simulated second in each interval (with unit=transaction)",
        x: HOST_WRITES,
        y: ("transactions per second", AxisKind::Counts),
        points: |stored, run, _| {
            let transactions = run.timing.as_ref()?.transactions.as_ref()?;
            Some(over_writes(stored, transactions.running_per_second.iter().copied()))
        },
    },
    Series {
        name: "response-mean",
        doc: "mean response time of each interval",
        x: HOST_WRITES,
        y: ("mean response time, ms", AxisKind::Numbers),
        points: |stored, run, _| {
            let time: &TimingResult = run.timing.as_ref()?;
            let means = time.running_response_mean_ns.iter().map(|ns| ns / 1e6);
            Some(over_writes(stored, means))
        },
    },
    Series {
        name: "response-max",
        doc: "longest response time of each interval",
        x: HOST_WRITES,
        y: ("longest response time, ms", AxisKind::Numbers),
        points: |stored, run, _| {
            let longest = &run.timing.as_ref()?.running_response_max_ns;
            Some(over_writes(stored, longest.iter().map(|ns| *ns as f64 / 1e6)))
        },
    },
    Series {
        name: "response-tail",
        doc: "share of the writes that take longer",
        x: ("response time, us", AxisKind::Powers),
        y: ("one write in N takes longer", AxisKind::Powers),
        points: |_, run, _| {
            let tail = run.timing.as_ref()?.response_ns.tail.iter();
            let some = tail.filter(|(ns, longer)| *ns > 0 && *longer > 0.0);
            Some(some.map(|(ns, longer)| ((*ns as f64 / 1e3).log10(), -longer.log10())).collect())
        },
    },
    Series {
        name: "victims",
        doc: "collected blocks by their valid share",
        x: ("valid share of the victim", AxisKind::Shares),
        y: ("victims", AxisKind::Shares),
        points: |_, run, _| {
            let bins = &run.victim_valid_share.histogram;
            let all = bins.iter().sum::<u64>().max(1) as f64;
            Some(middles(bins.iter().map(|victims| *victims as f64 / all)))
        },
    },
    Series {
        name: "merges",
        doc: "log blocks by the data blocks that at most took their pages in merges",
        x: ("data blocks merged for a log block, at most", AxisKind::Numbers),
        y: ("log blocks", AxisKind::Shares),
        points: |_, run, _| {
            let blocks = run.merged_log_blocks.as_ref()?;
            let all = blocks.iter().sum::<u64>().max(1) as f64;
            let mut sum = 0;
            let shares = (0..).zip(blocks).map(|(data_blocks, log_blocks)| {
                sum += log_blocks;
                (f64::from(data_blocks), sum as f64 / all)
            });
            Some(shares.collect())
        },
    },
    Series {
        name: "blocks",
        doc: "all blocks by their valid share at a moment (if observed)",
        x: ("valid share of the block", AxisKind::Shares),
        y: ("blocks", AxisKind::Powers),
        points: |_, run, at| {
            let streams = &frame(run, at)?.blocks_by_valid_share;
            let bins = streams.iter().map(Vec::len).max().unwrap_or(0);
            let of_bin = |bin| streams.iter().filter_map(|s: &Vec<u32>| s.get(bin)).sum::<u32>();
            Some(middles((0..bins).map(|bin| f64::from(of_bin(bin)).max(0.5).log10())))
        },
    },
    Series {
        name: "cold-by-block",
        doc: "blocks by their share of cold pages at a moment, ascending (if observed)",
        x: ("blocks, those with fewest cold pages first", AxisKind::Shares),
        y: ("cold pages, of the pages of the block", AxisKind::Shares),
        points: |_, run, at| {
            let shares = &frame(run, at)?.cold_percentiles.0;
            let last = shares.len().saturating_sub(1).max(1) as f64;
            let place =
                |(index, share): (usize, &u8)| (index as f64 / last, f64::from(*share) / 255.0);
            Some(shares.iter().enumerate().map(place).collect())
        },
    },
];

impl Series {
    /// The curve with this name.
    pub fn find(name: &str) -> Result<&'static Self, SpecError> {
        SERIES.iter().find(|series| series.name == name).ok_or_else(|| SpecError::UnknownName {
            kind: "curve",
            name: name.into(),
            known: SERIES.iter().map(|series| series.name.to_owned()).collect(),
        })
    }

    /// The curve of a run, at a share of it where it has a moment; none where the run does not have it.
    pub fn of(&self, stored: &StoredRun, at: f64) -> Option<Curve> {
        let run = stored.result.runs.first()?;
        let points = (self.points)(stored, run, at).filter(|points| !points.is_empty())?;
        Some(Curve { x: self.x, y: self.y, points })
    }
}

/// Values at the ends of the intervals.
fn over_writes(stored: &StoredRun, values: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
    let interval = stored.result.config.interval_writes;
    (1..).zip(values).map(|(index, value)| ((index * interval) as f64, value)).collect()
}

/// Means of all intervals so far; intervals are equally long.
pub(super) fn cumulative(running: &[f64]) -> impl ExactSizeIterator<Item = f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    running.iter().map(move |waf| {
        (sum, count) = (sum + waf, count + 1.0);
        sum / count
    })
}

/// Heights of even bins of shares, at their middles.
fn middles(heights: impl ExactSizeIterator<Item = f64>) -> Vec<(f64, f64)> {
    let bins = heights.len().max(1) as f64;
    heights.enumerate().map(|(bin, height)| ((bin as f64 + 0.5) / bins, height)).collect()
}

/// The picture of the flash that is nearest to a share of the run.
fn frame(run: &RunResult, at: f64) -> Option<&Frame> {
    let wanted = (at * run.host_writes as f64).round() as u64;
    let frames = run.observed.as_ref()?.frames.iter();
    frames.min_by_key(|frame| frame.host_writes.abs_diff(wanted))
}

//! Numbers of a run by name.

use super::columns::StoredRun;
use super::series::cumulative;
use ftlab_sim::fact::{Fact, Shown};
use ftlab_sim::result::{Config, Moves, RunResult, TransactionsResult, shown};
use ftlab_spec::SpecError;
use std::ops::Range;
use std::sync::LazyLock;

/// A number that a run has.
pub struct Metric {
    /// Its name in experiment files and tables.
    pub name: &'static str,
    /// A few words on it, for `ftlab list metrics`.
    pub doc: &'static str,
    /// Its place among all.
    at: u32,
    value: Value,
}

/// Where a number comes from.
enum Value {
    /// It is told of the run.
    Fact(&'static Fact<RunResult>),
    /// It follows from what is told.
    Derived(fn(&RunResult, &Config) -> Option<f64>),
}

impl Metric {
    /// The metric of this name; an unknown one is refused with those that there are.
    pub fn find(name: &str) -> Result<&'static Self, SpecError> {
        METRICS.iter().find(|metric| metric.name == name).ok_or_else(|| SpecError::UnknownName {
            kind: "metric",
            name: name.into(),
            known: METRICS.iter().map(|metric| metric.name.to_owned()).collect(),
        })
    }

    /// Whether it follows from what is told of a run, and is not told itself.
    pub fn is_derived(&self) -> bool {
        matches!(self.value, Value::Derived(_))
    }

    /// Its value; none where the run does not have it, such as times without a clock.
    pub fn of(&self, stored: &StoredRun) -> Option<f64> {
        let run = stored.result.runs.first()?;
        match &self.value {
            Value::Fact(fact) => fact.of(run).map(|value| fact.number(&value)),
            Value::Derived(value) => value(run, &stored.result.config),
        }
    }
}

/// Every metric: the facts of a run that are shown in sweeps, and what follows from them.
pub static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
    let facts = shown(|shown| match *shown {
        Shown::Sweep { at, name, doc } => Some((at, (at, name, doc))),
        _ => None,
    });
    let of_fact = |((at, name, doc), fact)| Metric { name, doc, at, value: Value::Fact(fact) };
    let mut metrics: Vec<_> = derived().into_iter().chain(facts.into_iter().map(of_fact)).collect();
    metrics.sort_by_key(|metric| metric.at);
    metrics
});

/// Declares metrics that follow from several facts, each with its place among all.
macro_rules! metrics {
    ($($at:literal, $name:literal, $doc:literal: |$run:pat_param, $config:pat_param| $value:expr;)+) => {
        vec![$(Metric {
            name: $name,
            doc: $doc,
            at: $at,
            value: Value::Derived(|$run, $config| $value),
        }),+]
    };
}

fn derived() -> Vec<Metric> {
    metrics! {
        52, "writes-until-waf-1.1", "share of the host writes before write amplification of an interval exceeds 1.1":
            |run, _| share_until(run.running_waf.iter().copied(), 1.1);
        54, "writes-until-cumulative-waf-1.1",
            "share of the host writes before write amplification since counting began exceeds 1.1":
            |run, _| share_until(cumulative(&run.running_waf), 1.1);
        60, "host-writes-per-page", "page writes of the host per page that it can address":
            |run, config| Some(run.host_writes as f64 / f64::from(config.drive.logical_pages));
        70, "copies", "pages moved by collections and merges": |run, _| Some(copies(run));
        80, "copies-per-write", "pages moved per host write: write amplification less 1":
            |run, _| Some(run.waf - 1.0);
        85, "copies-of-first-stream", "pages moved out of the blocks of the first stream":
            |run, _| Some(run.streams.first()?.relocations as f64);
        90, "copies-per-flash-page", "the same per page of the drive":
            |run, config| Some(copies(run) / flash_pages(config));
        100, "moves-hot", "moves per host write of pages that the host soon overwrites (if observed)":
            |run, _| moved(run, |moves| moves.hot);
        110, "moves-warm", "moves per host write of pages that it overwrites within two windows": |run, _| moved(run, |m| m.warm);
        120, "moves-cold", "moves per host write of pages that it overwrites later": |run, _| moved(run, |moves| moves.cold);
        130, "moves-frozen", "moves per host write of pages that it never overwrites": |run, _| moved(run, |m| m.frozen);
        140, "moves-unfrozen", "moves per host write of pages that it overwrites, soon or late":
            |run, _| moved(run, |moves| moves.hot + moves.warm + moves.cold);
        150, "moves-within-data-size",
            "moves per host write of pages that it overwrites before it has written as much as the drive holds":
            |run, _| moved(run, |moves| moves.within_data_size);
        160, "moves-frozen-share", "of all moves, those of pages that the host never overwrites":
            |run, _| frozen_share(run);
        170, "copies-per-page-last-tenth", "pages moved over the last tenth of the host writes, per logical page":
            |run, config| {
                let writes = run.host_writes as f64 / 10.0;
                Some((run.waf_last_tenth - 1.0) * writes / f64::from(config.drive.logical_pages))
            };
        180, "cold-in-least", "share of cold pages in the block that has fewest, at the end (if observed)":
            |run, _| cold_percentile(run, 0);
        190, "cold-in-median", "share of cold pages in the median block, at the end (if observed)":
            |run, _| cold_percentile(run, 50);
        220, "merges-per-reclaim", "full merges for each log block that is reclaimed":
            |run, _| (run.collections > 0).then(|| run.full_merges as f64 / run.collections as f64);
        222, "merges-below-10", "share of the log blocks whose pages were merged into fewer than 10 data blocks":
            |run, _| merged_into(run, 0..10);
        224, "merges-15-to-20", "share of the log blocks whose pages were merged into 15 to 20 data blocks":
            |run, _| merged_into(run, 15..21);
        240, "victims-valid-last-tenth",
            "mean valid share of blocks collected in the last tenth of the host writes, which take what is gained":
            |run, _| Some(1.0 - 1.0 / run.waf_last_tenth);
        250, "normal-victims-valid", "mean valid share of collected blocks that are not of the cold region":
            |run, _| normal_victims_valid(run);
        270, "cold-region-mean", "mean share of the blocks that are the cold region, the first tenth left out":
            |run, _| run.running_cold_region_share.as_deref().and_then(mean_beyond_a_tenth);
        272, "groups-least", "the fewest groups of an FTL of which they come and go, the first tenth left out":
            |run, _| beyond_a_tenth(run.running_groups.as_deref()?).min().map(f64::from);
        274, "groups-most", "the most groups of such an FTL, the first tenth left out":
            |run, _| beyond_a_tenth(run.running_groups.as_deref()?).max().map(f64::from);
        420, "transactions-per-second-last-tenth", "transactions per second over the last tenth of the intervals":
            |run, _| transactions_at_end(run, 10);
        430, "transactions-per-second-last-hundredth", "transactions per second over the last hundredth":
            |run, _| transactions_at_end(run, 100);
        440, "transaction-mean", "mean time that a transaction takes, ms":
            |run, _| transactions(run).map(|of| of.response_ns.mean / 1e6);
        450, "transaction-p99", "99th percentile of the time that a transaction takes, ms":
            |run, _| transactions(run).map(|of| of.response_ns.p99 as f64 / 1e6);
        460, "transaction-p99.9", "99.9th percentile of the time that a transaction takes, ms":
            |run, _| transactions(run).map(|of| of.response_ns.p99_9 as f64 / 1e6);
        490, "writes-per-second-last-tenth", "page writes per second over the last tenth of the intervals":
            |run, _| rate_at_end(&run.timing.as_ref()?.running_iops, 10);
        500, "writes-per-second-last-hundredth", "page writes per second over the last hundredth":
            |run, _| rate_at_end(&run.timing.as_ref()?.running_iops, 100);
    }
}

fn copies(run: &RunResult) -> f64 {
    (run.relocations + run.merge_copies) as f64
}

/// The share of intervals, which are equally long, before a value first exceeds a limit; none if there are none.
fn share_until(mut values: impl ExactSizeIterator<Item = f64>, limit: f64) -> Option<f64> {
    let count = values.len();
    let before = values.position(|value| value > limit).unwrap_or(count);
    (count > 0).then(|| before as f64 / count as f64)
}

/// The share of log blocks whose valid pages were merged into a number of data blocks within `wanted`.
fn merged_into(run: &RunResult, wanted: Range<usize>) -> Option<f64> {
    let histogram = run.merged_log_blocks.as_ref()?;
    let all: u64 = histogram.iter().sum();
    let within: u64 = histogram.iter().take(wanted.end).skip(wanted.start).sum();
    (all > 0).then(|| within as f64 / all as f64)
}

/// Values of intervals that are equally long, the first tenth left out.
fn beyond_a_tenth<T: Copy>(running: &[T]) -> impl ExactSizeIterator<Item = T> {
    running[running.len() / 10..].iter().copied()
}

/// The mean of these.
fn mean_beyond_a_tenth(running: &[f64]) -> Option<f64> {
    let later = beyond_a_tenth(running);
    let count = later.len() as f64;
    (count > 0.0).then(|| later.sum::<f64>() / count)
}

/// Writes per second over the last of `parts` equal parts of a run, but over an interval at least, from the
/// rates of intervals that have as many writes each.
fn rate_at_end(running: &[f64], parts: usize) -> Option<f64> {
    let last = &running[running.len() - running.len().div_ceil(parts)..];
    (!last.is_empty()).then(|| last.len() as f64 / last.iter().map(|rate| 1.0 / rate).sum::<f64>())
}

fn transactions(run: &RunResult) -> Option<&TransactionsResult> {
    run.timing.as_ref()?.transactions.as_ref()
}

/// Transactions per second over the last of `parts` equal parts of a run, but over an interval at least.
fn transactions_at_end(run: &RunResult, parts: usize) -> Option<f64> {
    let rates = &transactions(run)?.running_per_second;
    let writes = &run.timing.as_ref()?.running_iops;
    let last = rates.len() - rates.len().div_ceil(parts)..;
    // Intervals have as many writes each, and so last longer the fewer of these there are a second.
    let done: f64 =
        rates[last.clone()].iter().zip(&writes[last.clone()]).map(|(of, w)| of / w).sum();
    let time: f64 = writes[last].iter().map(|rate| 1.0 / rate).sum();
    (time > 0.0).then(|| done / time)
}

fn flash_pages(config: &Config) -> f64 {
    f64::from(config.drive.blocks) * f64::from(config.drive.pages_per_block)
}

/// The mean over streams that are not cold, weighted by their erases.
fn normal_victims_valid(run: &RunResult) -> Option<f64> {
    let normal = run.streams.iter().filter(|stream| !stream.cold);
    let shares = normal.filter_map(|s| Some((s.victim_valid_share?, s.erases as f64)));
    let (sum, erases) =
        shares.fold((0.0, 0.0), |(sum, all), (share, erases)| (sum + share * erases, all + erases));
    (erases > 0.0).then(|| sum / erases)
}

/// Moves of a class per host write.
fn moved(run: &RunResult, class: fn(&Moves) -> u64) -> Option<f64> {
    run.observed.as_ref().map(|seen| class(&seen.moves) as f64 / run.host_writes as f64)
}

/// Moves of pages that are never overwritten, of all moves.
fn frozen_share(run: &RunResult) -> Option<f64> {
    let moves = run.observed.as_ref()?.moves;
    let all = moves.hot + moves.warm + moves.cold + moves.frozen + moves.undecided;
    (all > 0).then(|| moves.frozen as f64 / all as f64)
}

/// The share of cold pages in the block at a percentile, in the last frame.
fn cold_percentile(run: &RunResult, percentile: usize) -> Option<f64> {
    let frame = run.observed.as_ref()?.frames.last()?;
    frame.cold_percentiles.0.get(percentile).map(|share| f64::from(*share) / 255.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_tenth_of_a_run_is_left_out_of_its_mean() {
        let running: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(mean_beyond_a_tenth(&running), Some(10.5));
        assert_eq!(mean_beyond_a_tenth(&[]), None);
    }

    #[test]
    fn intervals_count_until_the_first_beyond_a_limit() {
        let until = |values: &[f64]| share_until(values.iter().copied(), 1.1);
        assert_eq!((until(&[1.0, 1.05, 1.2, 1.0]), until(&[1.0, 1.1])), (Some(0.5), Some(1.0)));
        assert_eq!((until(&[2.0]), until(&[])), (Some(0.0), None));
    }

    #[test]
    fn a_rate_at_the_end_is_writes_by_time_and_has_an_interval_at_least() {
        let running: Vec<f64> = (1..=20).map(f64::from).collect();
        let expected = 2.0 / (1.0 / 19.0 + 1.0 / 20.0);
        assert!((rate_at_end(&running, 10).unwrap() - expected).abs() < 1e-12);
        assert_eq!(rate_at_end(&running, 100), Some(20.0));
        assert_eq!(rate_at_end(&[], 10), None);
    }

    #[test]
    fn names_are_different_and_a_wrong_one_proposes_the_right_one() {
        for (index, metric) in METRICS.iter().enumerate() {
            assert!(METRICS[index + 1..].iter().all(|other| other.name != metric.name));
        }
        let error = Metric::find("wafs").err().unwrap().to_string();
        assert!(error.contains("unknown metric \"wafs\" (did you mean \"waf\"?)"), "{error}");
    }
}

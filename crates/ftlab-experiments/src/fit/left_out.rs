//! How well a fit predicts what it was not made with: each series by a fit of the others. Each of these
//! begins with all FTLs, as any fit does, and has fewer steps.

use super::question::Question;
use super::runner::{Bar, Runner, SEEDS};
use crate::error::ExperimentsError;
use serde::Serialize;

/// The share of errors that the larger of the two limits holds.
const NINE_TENTHS: f64 = 0.9;

/// Write amplification, beside the overhead, of a series in which something is moved.
const MOVED: f64 = 1.02;

/// A series, and what a fit of the others says that it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    /// Its place among those that were asked about.
    pub index: usize,
    /// The FTL that the others gave.
    pub ftl: String,
    /// The over-provisioning that they gave.
    pub op_ratio: f64,
    /// The bytes of a unit that they gave.
    pub unit_bytes: f64,
    /// Write amplification, as measured and as predicted.
    pub waf: (f64, f64),
    /// Over the last fifth, as measured and as predicted.
    pub waf_last_fifth: (f64, f64),
}

/// How large the errors of predictions are, in shares of the measured WAF - 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Errors {
    /// Half of them are no larger.
    pub median: f64,
    /// Nine of ten are no larger.
    pub nine_tenths: f64,
    /// Pairs of series.
    pub pairs: usize,
    /// Pairs of which the one that amplifies more was predicted to.
    pub in_order: usize,
}

/// Where next to nothing moves, errors are shares of this.
const LEAST_BESIDE: f64 = 0.01;

/// How far write amplification is off, in shares of the measured WAF - 1.
pub fn off(waf: f64, measured: f64) -> f64 {
    (waf - measured) / (measured - 1.0).max(LEAST_BESIDE)
}

impl LeftOut {
    /// How far the prediction is off over the whole series, in shares of the measured WAF - 1.
    pub fn off(&self) -> f64 {
        off(self.waf.1, self.waf.0)
    }
}

impl Errors {
    /// Those of all predictions; `None` if there are none.
    pub fn of(all: &[LeftOut]) -> Option<Self> {
        let mut off: Vec<f64> = all.iter().map(|own| own.off().abs()).collect();
        off.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (share * off.len() as f64).ceil() as usize;
            off.get(place.saturating_sub(1)).copied()
        };
        let pairs =
            all.iter().enumerate().flat_map(|(at, a)| all[at + 1..].iter().map(move |b| (a, b)));
        let ordered = |(a, b): &(&LeftOut, &LeftOut)| {
            (a.waf.0 - b.waf.0).signum() == (a.waf.1 - b.waf.1).signum()
        };
        Some(Self {
            median: at(0.5)?,
            nine_tenths: at(NINE_TENTHS)?,
            pairs: pairs.clone().count(),
            in_order: pairs.filter(ordered).count(),
        })
    }
}

impl Question {
    /// What fits of all series but one say of that one; nothing if there is only one.
    pub(super) fn left_out(
        &self,
        runner: &Runner<'_>,
        threads: usize,
    ) -> Result<Vec<LeftOut>, ExperimentsError> {
        let mut all = Vec::new();
        for index in 0..self.series.len() {
            if self.others_tell(runner, index) {
                all.extend(self.predicted(runner, index, threads)?);
            }
        }
        Ok(all)
    }

    /// Whether something is moved in one of the other series: if not, they tell nothing of how much that is.
    fn others_tell(&self, runner: &Runner<'_>, index: usize) -> bool {
        let overhead = runner.overhead(&self.whole(Some(index)), self.capacities[0]);
        let others = self.series.iter().enumerate().filter(|(at, _)| *at != index);
        others.map(|(_, own)| own.measured.waf()).any(|waf| waf > (1.0 + overhead) * MOVED)
    }

    /// What a fit of the others says of a series.
    fn predicted(
        &self,
        runner: &Runner<'_>,
        index: usize,
        threads: usize,
    ) -> Result<Option<LeftOut>, ExperimentsError> {
        let Some(best) = self.search_others(runner, index, threads)? else { return Ok(None) };
        let candidate = &best.candidate;
        let overhead = runner.overhead(&self.whole(Some(index)), candidate.capacity);
        let all = self.whole(None);
        let trial = runner.trial_with(candidate, (&all, SEEDS), overhead, &Bar::NONE)?;
        let series = &self.series[index];
        let measured = runner.in_pages(index, &series.measured, candidate.capacity);
        let skip = measured.skipped_by(&series.measured, series.skip * candidate.capacity as f64);
        Ok(trial.and_then(|trial| {
            let own = trial.series.iter().find(|own| own.index == index)?;
            Some(LeftOut {
                index,
                ftl: candidate.ftl.clone(),
                op_ratio: trial.op_ratio,
                unit_bytes: trial.unit_bytes,
                waf: (measured.waf_after(skip), own.waf),
                waf_last_fifth: (measured.waf_last_fifth(), own.waf_last_fifth),
            })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_of_what_is_written_beside_the_host() {
        let of = |waf: (f64, f64)| LeftOut {
            index: 0,
            ftl: "fifo".into(),
            op_ratio: 0.1,
            unit_bytes: 1.0,
            waf,
            waf_last_fifth: waf,
        };
        let all = [of((2.0, 2.1)), of((3.0, 2.6)), of((1.5, 2.7))];
        let errors = Errors::of(&all).unwrap();
        assert!((errors.median - 0.2).abs() < 1e-9, "{errors:?}");
        assert!((errors.nine_tenths - 2.4).abs() < 1e-9, "{errors:?}");
        assert_eq!((errors.pairs, errors.in_order), (3, 1), "the last was the least");
        assert_eq!(Errors::of(&[]), None);
    }
}

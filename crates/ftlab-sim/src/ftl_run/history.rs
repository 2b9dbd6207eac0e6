//! What was counted by moments of a run.

use super::totals::Totals;
use crate::steady::{Circumstances, Rounds, Settling};
use ftlab_feed::Pass;

/// Totals at the moments at which something ends.
#[derive(Debug)]
pub(super) struct History {
    /// Of each interval.
    pub(super) series: Series,
    interval_start: Totals,
    rounds: Rounds,
    round_start: Totals,
    /// Totals at even distances, for the last tenth.
    checkpoints: Vec<Totals>,
}

/// What happened in each interval.
#[derive(Debug, Default)]
pub(super) struct Series {
    pub(super) waf: Vec<f64>,
    pub(super) host_bytes: Vec<u64>,
    pub(super) relocations: Vec<u64>,
    pub(super) refreshed: Vec<u64>,
    pub(super) folds: Vec<u64>,
    pub(super) erases: Vec<u64>,
}

impl Default for History {
    fn default() -> Self {
        Self {
            series: Series::default(),
            interval_start: Totals::default(),
            rounds: Rounds::default(),
            round_start: Totals::default(),
            checkpoints: vec![Totals::default()],
        }
    }
}

impl History {
    pub(super) fn end_interval(&mut self, totals: Totals, page_bytes: u32) {
        let interval = totals.since(self.interval_start);
        self.interval_start = totals;
        let series = &mut self.series;
        series.waf.push(interval.waf_of_part());
        series.host_bytes.push(interval.host_bytes(page_bytes));
        series.relocations.push(interval.relocations);
        series.refreshed.push(interval.refreshed);
        series.folds.push(interval.folds);
        series.erases.push(interval.erases);
    }

    /// Ends a round.
    pub(super) fn end_round(&mut self, totals: Totals, pass: Pass) {
        let round = totals.since(self.round_start);
        self.round_start = totals;
        self.rounds.push(round.waf_of_part(), round.erases, pass);
    }

    /// Whether it may have settled: not between two looks, and not while part of a trace has yet to come.
    pub(super) fn is_look(&self) -> bool {
        self.rounds.is_look()
    }

    pub(super) fn add_checkpoint(&mut self, totals: Totals) {
        self.checkpoints.push(totals);
    }

    pub(super) fn thin_out_checkpoints(&mut self) {
        thin_out(&mut self.checkpoints);
    }

    /// Whether write amplification has settled by now.
    pub(super) fn settling(&self, given: Circumstances) -> Settling {
        self.rounds.settling(given)
    }

    /// What happened in the last tenth of the host writes, from the nearest checkpoint on after which some were taken.
    pub(super) fn last_tenth(&self, totals: Totals) -> Totals {
        let wanted = totals.host_writes - totals.host_writes.div_ceil(10);
        let nearest = self
            .checkpoints
            .iter()
            .filter(|checkpoint| checkpoint.taken < totals.taken)
            .min_by_key(|checkpoint| checkpoint.host_writes.abs_diff(wanted));
        totals.since(nearest.copied().unwrap_or_default())
    }
}

/// Drops every other one, beginning with the second.
pub(super) fn thin_out<T>(kept: &mut Vec<T>) {
    let mut index = 0;
    kept.retain(|_| {
        index += 1;
        index % 2 == 1
    });
}

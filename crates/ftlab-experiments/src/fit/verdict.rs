//! Whether anything explains what was measured, and what may be wrong with the question if nothing does.
//!
//! A drive that is far off is no answer. Then other capacities and other workloads are tried quickly, with the nearest
//! FTLs and the plainest ones. One of them that comes near is likely to be what was really measured.

use super::drive::{EXPLAINED, Trial};
use super::question::{Question, Series};
use super::runner::Runner;
use crate::error::ExperimentsError;
use ftlab_sim::Workload;
use ftlab_spec::Spec;
use ftlab_trace::OpenOptions;
use serde::Serialize;
use std::sync::Arc;

/// A drive explains what was measured in part if it is off by no more than this.
const IN_PART: f64 = 0.2;

/// FTLs with which other questions are tried: the nearest, of this number, and the plainest.
const NEAREST: usize = 3;
const PLAINEST: [&str; 5] = ["1r-greedy", "fifo", "lfs-cb", "sep-gc/greedy", "sep-gc/cost-benefit"];

/// Capacities that are tried, as multiples of the one that was told.
const CAPACITIES: [f64; 4] = [0.5, 2.0, 0.25, 4.0];

/// Another question is named if its best drive is off by no more than this share of what the first is off.
const NAMED: f64 = 0.5;

/// Whether the best drive explains what was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It does.
    Explained,
    /// It does in part: the drive does something else as well.
    InPart,
    /// It does not, and neither does any other.
    Unexplained {
        /// What may be wrong with the question, the likeliest first.
        causes: Vec<Cause>,
    },
}

/// Something else to ask, which would have an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// What is to be changed in the question.
    pub instead: Instead,
    /// The FTL that is nearest then.
    pub ftl: String,
    /// How far off it is.
    pub rms: f64,
}

/// A change of a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Instead {
    /// Another capacity, in bytes.
    Capacity(u64),
    /// Another workload.
    Workload {
        /// The series under it.
        index: usize,
        /// Its name.
        workload: String,
    },
}

/// How far a drive is off, but for what chance makes of the very drive, and for how far counters are off: that is nothing
/// to explain.
fn off_beside_chance(trial: &Trial) -> f64 {
    let chance = trial.chance() + trial.simulated() + trial.quiet();
    (trial.distance.rms.powi(2) - chance).max(0.0).sqrt()
}

/// Whether this drive explains nothing of what was measured.
pub(super) fn is_unexplained(trial: &Trial) -> bool {
    off_beside_chance(trial) > IN_PART
}

fn is_plain(ftl: &Spec) -> bool {
    PLAINEST.contains(&ftl.to_string().as_str())
}

impl Question {
    /// Whether the first of `drives`, which are in order, explains what was measured.
    pub(super) fn verdict(
        &self,
        runner: &Runner<'_>,
        drives: &[Trial],
        threads: usize,
    ) -> Result<Verdict, ExperimentsError> {
        let best = &drives[0];
        if off_beside_chance(best) <= EXPLAINED {
            return Ok(Verdict::Explained);
        }
        if !is_unexplained(best) {
            return Ok(Verdict::InPart);
        }
        let ftls = self.nearest_and_plainest(drives);
        let mut causes = Vec::new();
        for (instead, series, capacity) in self.others(best) {
            let capacities = vec![capacity];
            let other = Self { series, capacities, ftls: ftls.clone(), ..self.clone() };
            let runner = Runner::knowing(&other, Arc::clone(&runner.ran))?;
            let Some(found) = other.search_quickly(&runner, threads)? else { continue };
            let rms = found.distance.rms;
            if rms <= NAMED * best.distance.rms && !is_unexplained(&found) {
                causes.push(Cause { instead, ftl: found.candidate.ftl, rms });
            }
        }
        causes.sort_by(|a, b| a.rms.total_cmp(&b.rms));
        Ok(Verdict::Unexplained { causes })
    }

    fn nearest_and_plainest(&self, drives: &[Trial]) -> Vec<Spec> {
        let nearest: Vec<&str> =
            drives.iter().take(NEAREST).map(|own| own.candidate.ftl.as_str()).collect();
        let is_tried = |ftl: &&Spec| nearest.contains(&ftl.to_string().as_str()) || is_plain(ftl);
        self.ftls.iter().filter(is_tried).cloned().collect()
    }

    /// The plainest FTLs of those to choose from; the first of them if none is plain.
    pub(super) fn plainest(&self) -> Vec<Spec> {
        let plain: Vec<Spec> = self.ftls.iter().filter(|ftl| is_plain(ftl)).cloned().collect();
        if plain.is_empty() { self.ftls[..1].to_vec() } else { plain }
    }

    /// Other questions: what is changed, the series and the capacity.
    fn others(&self, best: &Trial) -> Vec<(Instead, Vec<Series>, u64)> {
        if !self.is_scaled() {
            return Vec::new();
        }
        let own = best.candidate.capacity;
        let capacities = CAPACITIES.iter().map(|times| (own as f64 * times) as u64);
        let capacities = capacities.filter(|capacity| !self.capacities.contains(capacity));
        let mut others: Vec<_> = capacities
            .map(|capacity| (Instead::Capacity(capacity), self.series.clone(), capacity))
            .collect();
        let furthest = best.series.iter().max_by(|a, b| a.distance.rms.total_cmp(&b.distance.rms));
        let Some(index) = furthest.map(|own| own.index) else { return others };
        for workload in self.other_workloads(index) {
            let name = workload.name();
            let mut series = self.series.clone();
            series[index].base.workload = workload;
            others.push((Instead::Workload { index, workload: name }, series, own));
        }
        others
    }

    /// Plain workloads that a series may have been measured under instead.
    fn other_workloads(&self, index: usize) -> Vec<Workload> {
        let base = &self.series[index].base;
        let kibibytes = (base.drive.page_bytes / 1024).max(1);
        let plain = [
            "uniform".to_owned(),
            format!("fio-randwrite:bs={kibibytes}"),
            "zipf:theta=0.6".to_owned(),
            "zipf:theta=0.8".to_owned(),
            "zipf:theta=0.99".to_owned(),
            "hotcold".to_owned(),
        ];
        let read =
            plain.iter().filter_map(|text| Workload::parse(text, OpenOptions::default()).ok());
        read.filter(|workload| *workload != base.workload).collect()
    }
}

//! The search for the drive that explains most.

use super::answer::{LatencyFit, LoadRow, Off};
use super::measured::{LatencyTimes, MeasuredLoad};
use super::model::{DataSheet, Model, NUMBERS};
use super::simulated::{LoadDrive, LoadQuestion, SimulatedLoad};
use crate::error::ExperimentsError;
use crate::parallel::{lock, parallel};
use ftlab_sim::SimError;
use std::collections::HashMap;
use std::sync::Mutex;

/// How much a factor between simulated and measured counts: of mean, median, 99th and 99.9th percentile of reads, of the
/// median of writes, of writes and of reads a second.
const WEIGHTS: [f64; 7] = [1.0, 0.5, 1.0, 0.2, 0.1, 3.0, 3.0];

/// Logarithms of factors count for no more than this, so that what nothing explains does not bend the rest.
const BOUND: f64 = 0.5;

/// How much a factor counts by which a number is away from where the search began, for what no load tells: of
/// over-provisioning, a read, a slice, a suspension, a transfer.
const HELD: [f64; NUMBERS] = [0.03, 0.03, 0.03, 0.03, 0.3];

/// Of a number, to find what depends on it, as a factor.
const STEP: f64 = 0.12;

/// A step counts if it leaves less than this of the squares.
const NEARER: f64 = 0.98;

/// Damping of steps, which are tried beside each other.
const DAMPING: [f64; 3] = [0.01, 0.3, 10.0];

/// Steps of least squares: at first, of each other choice, and at the end.
const STEPS: [usize; 3] = [4, 2, 3];

/// Rounds over all choices.
const ROUNDS: usize = 3;

/// How much more than the best a drive with another choice may be off, in squares, to be followed.
const FOLLOWED: f64 = 1.5;

type Vector = [f64; NUMBERS];

struct Search<'a> {
    question: &'a LoadQuestion,
    known: DataSheet,
    /// What was measured and, last, what the data sheet says of random writes.
    loads: Vec<MeasuredLoad>,
    threads: usize,
    ran: Mutex<HashMap<(String, usize), SimulatedLoad>>,
    on_run: &'a (dyn Fn(usize) + Sync),
}

/// A drive with how far it is off: a residual for each number that was measured.
#[derive(Clone)]
struct Tried {
    model: Model,
    residuals: Vec<f64>,
    squares: f64,
}

impl LoadQuestion {
    /// Searches the drive that explains what was measured. `on_run` is told how many runs there were so far.
    pub fn answer(
        &self,
        known: DataSheet,
        threads: usize,
        on_run: &(dyn Fn(usize) + Sync),
    ) -> Result<LatencyFit, ExperimentsError> {
        let loads = &self.measured.loads;
        let of_sheet = known
            .random
            .map(|writes_per_second| MeasuredLoad { writes_per_second, ..MeasuredLoad::default() });
        let search = Search {
            question: self,
            known,
            loads: loads.iter().cloned().chain(of_sheet).collect(),
            threads,
            ran: Mutex::default(),
            on_run,
        };
        let all: Vec<usize> = (0..loads.len()).collect();
        let best = search.best(&all)?;
        let mut rows = Vec::new();
        let whole = search.whole(&best, &all)?;
        for &left_out in &all {
            let measured = &loads[left_out];
            let simulated = self.simulate(&whole, measured)?;
            let others: Vec<usize> = all.iter().copied().filter(|load| *load != left_out).collect();
            let predicted = if self.leaves_out && others.len() > 1 {
                let whole = search.whole(&search.best(&others)?, &others)?;
                Some(self.simulate(&whole, measured)?)
            } else {
                None
            };
            rows.push(LoadRow {
                measured: measured.clone(),
                simulated,
                off: Off::of(&simulated, measured),
                predicted,
                predicted_off: predicted.map(|predicted| Off::of(&predicted, measured)),
            });
        }
        let runs = lock(&search.ran).len();
        Ok(LatencyFit { runs, ..LatencyFit::new(self, &whole, rows)? })
    }
}

impl Search<'_> {
    /// The drive that explains these loads best.
    fn best(&self, loads: &[usize]) -> Result<Model, ExperimentsError> {
        let of_loads: Vec<&MeasuredLoad> = loads.iter().map(|load| &self.loads[*load]).collect();
        let measured = self.question.measured.loads.len();
        let is_saturated = loads.iter().any(|load| self.loads[*load].is_saturated());
        let of_sheet = (measured..self.loads.len()).filter(|_| !is_saturated);
        let loads: &[usize] = &loads.iter().copied().chain(of_sheet).collect::<Vec<_>>();
        let first = Model::first(&self.known, &of_loads, self.question.queues > 1);
        let held = first.numbers;
        let first = self.try_all(&[first], &held, loads)?.remove(0);
        let mut best = self.least_squares(first, &held, loads, STEPS[0])?;
        for _ in 0..ROUNDS {
            let mut others =
                self.try_all(&best.model.others(self.question.queues > 1), &held, loads)?;
            others.sort_by(|a, b| a.squares.total_cmp(&b.squares));
            others.retain(|other| other.squares < FOLLOWED * best.squares);
            others.truncate(2);
            let mut is_better = false;
            for other in others {
                let other = self.least_squares(other, &held, loads, STEPS[1])?;
                if other.squares < best.squares {
                    (best, is_better) = (other, true);
                }
            }
            if !is_better {
                break;
            }
        }
        Ok(self.least_squares(best, &held, loads, STEPS[2])?.model)
    }

    /// Follows a drive with its choices to where it is least off.
    fn least_squares(
        &self,
        mut best: Tried,
        held: &Vector,
        loads: &[usize],
        steps: usize,
    ) -> Result<Tried, ExperimentsError> {
        let free: Vec<usize> =
            (0..NUMBERS).filter(|number| *number > 0 || self.known.op_ratio.is_none()).collect();
        for _ in 0..steps {
            let aside: Vec<Model> = free
                .iter()
                .map(|number| {
                    let mut model = best.model.clone();
                    model.numbers[*number] *= STEP.exp();
                    if model.clone().within() == best.model {
                        model.numbers[*number] *= (-2.0 * STEP).exp();
                    }
                    model.within()
                })
                .collect();
            let tried = self.try_all(&aside, held, loads)?;
            let slopes: Vec<Vec<f64>> = tried
                .iter()
                .zip(&free)
                .map(|(tried, number)| {
                    let by = (tried.model.numbers[*number] / best.model.numbers[*number]).ln();
                    let by = if by == 0.0 { STEP } else { by };
                    let pairs = tried.residuals.iter().zip(&best.residuals);
                    pairs.map(|(there, here)| (there - here) / by).collect()
                })
                .collect();
            let next: Vec<Model> = DAMPING
                .iter()
                .map(|damping| {
                    let step = solve(&slopes, &best.residuals, *damping);
                    let mut model = best.model.clone();
                    for (number, by) in free.iter().zip(step) {
                        model.numbers[*number] *= by.clamp(-1.0, 1.0).exp();
                    }
                    model.within()
                })
                .collect();
            let next = self.try_all(&next, held, loads)?;
            let nearest =
                tried.into_iter().chain(next).min_by(|a, b| a.squares.total_cmp(&b.squares));
            match nearest {
                Some(nearest) if nearest.squares < NEARER * best.squares => best = nearest,
                _ => break,
            }
        }
        Ok(best)
    }

    /// How far drives are off at these loads.
    fn try_all(
        &self,
        models: &[Model],
        held: &Vector,
        loads: &[usize],
    ) -> Result<Vec<Tried>, ExperimentsError> {
        let runs: Vec<(&Model, usize)> =
            models.iter().flat_map(|model| loads.iter().map(move |load| (model, *load))).collect();
        let simulated = parallel(self.threads, &runs, |(model, load)| self.simulated(model, *load));
        let simulated: Vec<SimulatedLoad> = simulated.into_iter().collect::<Result<_, _>>()?;
        let of_models = models.iter().zip(simulated.chunks(loads.len()));
        Ok(of_models
            .map(|(model, simulated)| {
                let of_loads = simulated.iter().zip(loads);
                let mut residuals: Vec<f64> = of_loads
                    .flat_map(|(simulated, load)| residuals(simulated, &self.loads[*load]))
                    .collect();
                let away = model.numbers.iter().zip(held);
                let away = away.map(|(number, held)| (number / held).ln());
                residuals.extend(away.zip(HELD).map(|(away, weight)| weight * away));
                let squares = residuals.iter().map(|residual| residual * residual).sum();
                Tried { model: model.clone(), residuals, squares }
            })
            .collect())
    }

    /// The whole drive of a model. Its over-provisioning is such that it amplifies as much as the part that was simulated,
    /// whose blocks are smaller.
    fn whole(&self, model: &Model, loads: &[usize]) -> Result<LoadDrive, ExperimentsError> {
        let mut whole = model.drive(&self.known, 1).map_err(SimError::from)?;
        if self.known.op_ratio.is_some() {
            return Ok(whole);
        }
        let writes = |load: &&usize| self.loads[**load].writes_per_second;
        let heaviest = loads.iter().max_by(|a, b| writes(a).total_cmp(&writes(b)));
        let heaviest = *heaviest.unwrap_or(&0);
        let part = self.simulated(model, heaviest)?;
        let amplified = self.question.simulate(&whole, &self.loads[heaviest])?.waf / part.waf;
        whole.op_ratio = (1e4 * whole.op_ratio * amplified).round() / 1e4;
        Ok(whole)
    }

    /// A drive at a load, simulated once.
    fn simulated(&self, model: &Model, load: usize) -> Result<SimulatedLoad, ExperimentsError> {
        // Where nobody waits for a slot, drives that differ in that are one.
        let has_queues = self.question.has_queues(&self.loads[load]);
        let slots = model.slots.filter(|_| has_queues);
        let model = Model { slots, ..model.clone() };
        let parts = model.parts().min(self.question.parts_most(&self.loads[load]));
        let drive = model.drive(&self.known, parts).map_err(SimError::from)?;
        let key = (format!("{} {} {}", drive.timing, drive.op_ratio, drive.gc), load);
        if let Some(known) = lock(&self.ran).get(&key) {
            return Ok(*known);
        }
        let measured = &self.loads[load];
        let simulated = self.question.simulate_part(&drive, measured, parts)?;
        let mut ran = lock(&self.ran);
        ran.insert(key, simulated);
        (self.on_run)(ran.len());
        Ok(simulated)
    }
}

/// Weighted logarithms of simulated over measured, of all that was measured.
fn residuals(simulated: &SimulatedLoad, measured: &MeasuredLoad) -> Vec<f64> {
    let of = |times: &LatencyTimes| [times.mean_us, times.p50_us, times.p99_us, times.p99_9_us];
    let mut pairs: Vec<(Option<f64>, Option<f64>)> =
        of(&simulated.reads).into_iter().zip(of(&measured.reads)).collect();
    // While a buffer has room, writes tell the command alone.
    let write = measured.writes.p50_us.filter(|_| measured.is_saturated());
    pairs.push((simulated.writes.p50_us, write));
    pairs.push((Some(simulated.writes_per_second), Some(measured.writes_per_second)));
    // Where it writes, too, reads are a share of that.
    let only_reads = measured.is_closed() && measured.writes_per_second == 0.0;
    let reads = measured.reads_per_second.filter(|_| only_reads);
    pairs.push((Some(simulated.reads_per_second), reads));
    let known = pairs.into_iter().zip(WEIGHTS);
    known
        .map(|((simulated, measured), weight)| {
            let Some(measured) = measured.filter(|measured| *measured > 0.0) else { return 0.0 };
            // Requests that never end are as far off as can be.
            let Some(simulated) = simulated.filter(|simulated| *simulated > 0.0) else {
                return weight * BOUND;
            };
            let off = (simulated / measured).ln();
            weight * off / (1.0 + (off / BOUND).powi(2)).sqrt()
        })
        .collect()
}

/// The step of damped least squares: of the normal equations with a diagonal that is so much larger.
fn solve(slopes: &[Vec<f64>], residuals: &[f64], damping: f64) -> Vec<f64> {
    let count = slopes.len();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut rows: Vec<Vec<f64>> = (0..count)
        .map(|i| {
            let mut row: Vec<f64> = (0..count).map(|j| dot(&slopes[i], &slopes[j])).collect();
            row[i] = row[i] * (1.0 + damping) + 1e-9;
            row.push(-dot(&slopes[i], residuals));
            row
        })
        .collect();
    // Gauss and Jordan; the matrix is positive definite.
    for pivot in 0..count {
        let by = rows[pivot][pivot];
        rows[pivot].iter_mut().for_each(|value| *value /= by);
        let pivot_row = rows[pivot].clone();
        for (number, row) in rows.iter_mut().enumerate() {
            if number != pivot {
                let by = row[pivot];
                row.iter_mut().zip(&pivot_row).for_each(|(value, of)| *value -= by * of);
            }
        }
    }
    rows.into_iter().map(|row| row[count]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_without_damping_ends_where_a_linear_model_is_least_off() {
        // Residuals 2x + y - 4, x - y + 1 and 3y - 6 are 0 at (1, 2).
        let slopes = [vec![2.0, 1.0, 0.0], vec![1.0, -1.0, 3.0]];
        let step = solve(&slopes, &[-4.0, 1.0, -6.0], 0.0);
        assert!((step[0] - 1.0).abs() < 1e-6 && (step[1] - 2.0).abs() < 1e-6, "{step:?}");
        let damped = solve(&slopes, &[-4.0, 1.0, -6.0], 10.0);
        assert!(damped[0].abs() < 0.5 && damped[1].abs() < 0.5, "{damped:?}");
    }
}

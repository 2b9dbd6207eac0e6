//! Means and trends of series whose neighbours are correlated.

/// Batches at most.
const BATCHES_MAX: usize = 20;
/// Groups of rounds of which some are cut off.
const GROUPS: usize = 64;
/// Correlation of neighbours that is reckoned with at most: with more, there is no error to speak of.
const CORRELATION_MAX: f64 = 0.95;
/// Standard deviations by which the correlation may be larger than it is found to be.
const CORRELATION_DEVIATIONS: f64 = 2.0;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// What is left without the transient: at least a half and at most three quarters.
pub(super) fn window(rounds: &[f64]) -> &[f64] {
    let groups = (rounds.len() / 2).clamp(1, GROUPS);
    let begin = |group: usize| group * rounds.len() / groups;
    let (mut sum, mut squares) = (0.0, 0.0);
    let (mut best, mut cut) = (f64::INFINITY, 0);
    for group in (0..groups).rev() {
        let value = mean(&rounds[begin(group)..begin(group + 1)]);
        sum += value;
        squares += value * value;
        let count = (groups - group) as f64;
        // The square of the standard error of the mean.
        let error = (squares - sum * sum / count) / (count * count);
        if group <= groups / 2 && error <= best {
            (best, cut) = (error, group);
        }
    }
    &rounds[begin(cut).max(rounds.len() / 4)..]
}

/// Means of batches of equal length, the last ones if not all fit; of whole passes, where passes are of `pass` rounds.
pub(super) fn batches(rounds: &[f64], pass: f64) -> Vec<f64> {
    let all = rounds.len() as f64;
    let count = BATCHES_MAX.min(rounds.len() / 2).max(1);
    let mut length = all / count as f64;
    if pass > 0.0 {
        // Parts of a pass differ as the pass does, again and again.
        length = (length / pass).floor().max(1.0) * pass;
    }
    let count = (all / length + 1e-9).floor() as usize;
    let mut sums = vec![0.0];
    for value in rounds {
        sums.push(sums[sums.len() - 1] + value);
    }
    let until = |at: f64| {
        let whole = (at as usize).min(rounds.len());
        sums[whole] + rounds.get(whole).map_or(0.0, |value| value * (at - whole as f64))
    };
    let first = (all - count as f64 * length).max(0.0);
    let begin = |batch: usize| first + batch as f64 * length;
    (0..count).map(|batch| (until(begin(batch + 1)) - until(begin(batch))) / length).collect()
}

/// A straight line through a series.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fit {
    batches: usize,
    pub(super) mean: f64,
    /// From its beginning to its end.
    pub(super) change: f64,
    /// How far the mean may be off.
    pub(super) mean_error: f64,
    /// How far the change may be off.
    pub(super) change_error: f64,
    /// One standard deviation of the change.
    pub(super) change_deviation: f64,
}

impl Fit {
    /// The best line through `values`, three or more; errors are one standard deviation.
    pub(super) fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = mean(values);
        // From -1 at the beginning to 1 at the end.
        let place = |index: usize| (2 * index + 1) as f64 / count - 1.0;
        let places = || (0..values.len()).map(place);
        let spread: f64 = places().map(|at| at * at).sum();
        let slope = places().zip(values).map(|(at, value)| at * value).sum::<f64>() / spread;
        let left: Vec<f64> =
            places().zip(values).map(|(at, value)| value - mean - slope * at).collect();
        let squares: f64 = left.iter().map(|of| of * of).sum();
        let variance = squares / (count - 2.0) * inflation(&left, squares);
        let change_deviation = 2.0 * (variance / spread).sqrt();
        Self {
            batches: values.len(),
            mean,
            change: 2.0 * slope,
            mean_error: (variance / count).sqrt(),
            change_error: change_deviation,
            change_deviation,
        }
    }

    /// The fit with errors of `deviations` standard deviations; of more if there are few batches, as Student's t has.
    pub(super) fn widened(self, deviations: f64) -> Self {
        let few = |batches: usize| 1.0 + 3.0 / (batches as f64 - 2.0);
        let deviations = deviations * few(self.batches) / few(BATCHES_MAX);
        Self {
            mean_error: self.mean_error * deviations,
            change_error: self.change_error * deviations,
            ..self
        }
    }
}

/// How much larger the variance of a mean is since neighbours are correlated as in an autoregression of first order.
fn inflation(left: &[f64], squares: f64) -> f64 {
    if squares <= 0.0 {
        return 1.0;
    }
    let count = left.len() as f64;
    let found = left.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / squares;
    // A short series shows less correlation than there is, and tells it badly: an answer must not rest on luck.
    let likely = found + (1.0 + 3.0 * found.max(0.0)) / count;
    let deviation = ((1.0 - likely * likely).max(0.0) / count).sqrt();
    let correlation = (likely + CORRELATION_DEVIATIONS * deviation).clamp(0.0, CORRELATION_MAX);
    (1.0 + correlation) / (1.0 - correlation)
}

//! Response times of host writes: exact moments, and quantiles from a histogram.

use hdrhistogram::Histogram;

/// The longest time that is told from longer ones: about 20 hours.
const LONGEST_NS: u64 = 1 << 46;

/// Significant decimal digits of a quantile.
const DIGITS: u8 = 3;

/// Response times, in nanoseconds.
#[derive(Debug, Clone)]
pub struct ResponseTimes {
    histogram: Histogram<u64>,
    count: u64,
    sum: u128,
    sum_of_squares: u128,
    max: u64,
}

impl Default for ResponseTimes {
    fn default() -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, LONGEST_NS, DIGITS)
                .expect("these bounds are possible"),
            count: 0,
            sum: 0,
            sum_of_squares: 0,
            max: 0,
        }
    }
}

/// Takes response times one by one; those in a row that are equal cost next to nothing, and most are,
/// since most writes find nothing in their way.
#[derive(Debug, Clone, Default)]
pub struct ResponseTimeRecorder {
    times: ResponseTimes,
    /// The latest ones, which are equal, and not among `times` yet.
    latest: u64,
    latest_count: u64,
}

impl ResponseTimeRecorder {
    /// Takes one more.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        if nanoseconds != self.latest {
            self.times.record(self.latest, self.latest_count);
            (self.latest, self.latest_count) = (nanoseconds, 0);
        }
        self.latest_count += 1;
    }

    /// All of them.
    pub fn times(&self) -> ResponseTimes {
        let mut times = self.times.clone();
        times.record(self.latest, self.latest_count);
        times
    }
}

impl ResponseTimes {
    /// `count` more took this long.
    #[inline]
    pub(crate) fn record(&mut self, nanoseconds: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.histogram.saturating_record_n(nanoseconds, count);
        self.count += count;
        let sum = u128::from(nanoseconds) * u128::from(count);
        self.sum += sum;
        let squares = sum.saturating_mul(u128::from(nanoseconds));
        self.sum_of_squares = self.sum_of_squares.saturating_add(squares);
        self.max = self.max.max(nanoseconds);
    }

    /// Requests, or page writes, that were recorded.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The longest, exact.
    pub fn max_ns(&self) -> u64 {
        self.max
    }

    /// The mean, exact; 0 if there are none.
    pub fn mean_ns(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }

    /// The standard deviation of all of them; 0 if there are none.
    pub fn stddev_ns(&self) -> f64 {
        let count = u128::from(self.count.max(1));
        // n times the sum of squares, less the square of the sum: no rounding where they fit.
        if let Some(squares) = count.checked_mul(self.sum_of_squares)
            && let Some(square) = self.sum.checked_mul(self.sum)
        {
            return (squares.saturating_sub(square) as f64).sqrt() / count as f64;
        }
        let mean_square = self.sum_of_squares as f64 / count as f64;
        (mean_square - self.mean_ns().powi(2)).max(0.0).sqrt()
    }

    /// Response times, ascending, each with the share of all that were longer; the last one is 0. Times
    /// that are less than 5% apart are taken together as the first of them.
    pub fn tail(&self) -> Vec<(u64, f64)> {
        let mut tail: Vec<(u64, f64)> = Vec::new();
        let mut longer = self.histogram.len();
        for step in self.histogram.iter_recorded() {
            let time = step.value_iterated_to().min(self.max);
            longer -= step.count_since_last_iteration();
            let share = longer as f64 / self.count as f64;
            match tail.last_mut() {
                Some((first, last)) if time as f64 <= 1.05 * *first as f64 => *last = share,
                _ => tail.push((time, share)),
            }
        }
        tail
    }

    /// The time that a `share` of the responses did not exceed, too long by at most 0.1%.
    pub fn quantile_ns(&self, share: f64) -> u64 {
        self.histogram.value_at_quantile(share).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_exact_and_quantiles_within_their_digits() {
        let mut recorder = ResponseTimeRecorder::default();
        (1..=100_000_u64).for_each(|time| recorder.record(time * 1000));
        let times = recorder.times();
        assert_eq!((times.count(), times.max_ns()), (100_000, 100_000_000));
        assert!((times.mean_ns() - 50_000_500.0).abs() < 1e-6);
        let stddev = (1e10_f64 - 1.0).sqrt() / 12_f64.sqrt() * 1000.0;
        assert!((times.stddev_ns() / stddev - 1.0).abs() < 1e-12);
        for share in [0.5, 0.9, 0.99, 0.999, 0.9999] {
            let exact = share * 100_000_000.0;
            assert!((times.quantile_ns(share) as f64 / exact - 1.0).abs() <= 0.001, "{share}");
        }
        assert_eq!(times.quantile_ns(1.0), 100_000_000);
        let tail = times.tail();
        assert!((100..250).contains(&tail.len()), "{}", tail.len());
        for (time, share) in &tail {
            let exact = 1.0 - *time as f64 / 1e8;
            assert!(*share <= exact + 0.001 && *share >= exact - 0.05, "{time}: {share}");
        }
        assert_eq!(tail.last().map(|(_, share)| *share), Some(0.0));
    }

    #[test]
    fn equal_times_in_a_row_all_count() {
        let mut recorder = ResponseTimeRecorder::default();
        for time in [5, 5, 5, 9, 5, 5] {
            recorder.record(time);
        }
        for times in [recorder.times(), recorder.times()] {
            assert_eq!((times.count(), times.max_ns()), (6, 9));
            assert!((times.mean_ns() - 34.0 / 6.0).abs() < 1e-12);
            assert_eq!(times.tail(), [(5, 1.0 / 6.0), (9, 0.0)]);
        }
    }

    #[test]
    fn no_responses_are_no_error() {
        let times = ResponseTimeRecorder::default().times();
        assert!(times.mean_ns().abs() < f64::EPSILON && times.stddev_ns().abs() < f64::EPSILON);
        assert_eq!((times.quantile_ns(0.99), times.tail()), (0, Vec::new()));
    }
}

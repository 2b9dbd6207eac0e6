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

impl ResponseTimes {
    pub(crate) fn record(&mut self, nanoseconds: u64) {
        self.histogram.saturating_record(nanoseconds);
        self.count += 1;
        self.sum += u128::from(nanoseconds);
        let square = u128::from(nanoseconds) * u128::from(nanoseconds);
        self.sum_of_squares = self.sum_of_squares.saturating_add(square);
        self.max = self.max.max(nanoseconds);
    }

    /// How many there are.
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
        let mut times = ResponseTimes::default();
        (1..=100_000_u64).for_each(|time| times.record(time * 1000));
        assert_eq!((times.count(), times.max_ns()), (100_000, 100_000_000));
        assert!((times.mean_ns() - 50_000_500.0).abs() < 1e-6);
        let stddev = (1e10_f64 - 1.0).sqrt() / 12_f64.sqrt() * 1000.0;
        assert!((times.stddev_ns() / stddev - 1.0).abs() < 1e-12);
        for share in [0.5, 0.9, 0.99, 0.999, 0.9999] {
            let exact = share * 100_000_000.0;
            assert!((times.quantile_ns(share) as f64 / exact - 1.0).abs() <= 0.001, "{share}");
        }
        assert_eq!(times.quantile_ns(1.0), 100_000_000);
    }

    #[test]
    fn no_responses_are_no_error() {
        let times = ResponseTimes::default();
        assert!(times.mean_ns().abs() < f64::EPSILON && times.stddev_ns().abs() < f64::EPSILON);
        assert_eq!(times.quantile_ns(0.99), 0);
    }
}

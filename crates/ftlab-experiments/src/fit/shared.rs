//! Errors that all intervals of a series share: of [`scale`](super::scale), and of media bytes that are told by
//! [`pace`](super::pace).
//!
//! Each is a shape over the intervals, of which nobody knows how much there is: a standard normal number of it. So a series is
//! held against a candidate with the likeliest two numbers, and pays for them.

/// The two errors: what each interval would be off by, if it were one standard deviation; nothing if there is none.
pub(super) type Shared = [Vec<f64>; 2];

/// Intervals with the likeliest of these errors.
pub(super) struct Likeliest {
    /// The mean of the squares that are left.
    pub(super) square: f64,
    /// How much the errors add to the deviance of all intervals.
    pub(super) unlikely: f64,
}

/// What is left of how far intervals are off, if they have a variance beside and are worth so many independent ones.
pub(super) fn likeliest(
    residuals: &[f64],
    shared: &Shared,
    variance: f64,
    intervals: f64,
) -> Likeliest {
    let count = residuals.len().max(1) as f64;
    let mean = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / count;
    let [a, b] = shared;
    let (of_a, of_b, of_both) = (mean(a, a), mean(b, b), mean(a, b));
    let (off_a, off_b) = (mean(residuals, a), mean(residuals, b));
    let beside = variance / intervals;
    let determinant = (of_a + beside) * (of_b + beside) - of_both * of_both;
    let error_a = (off_a * (of_b + beside) - off_b * of_both) / determinant;
    let error_b = (off_b * (of_a + beside) - off_a * of_both) / determinant;
    let explained = 2.0 * (error_a * off_a + error_b * off_b)
        - error_a * error_a * of_a
        - error_b * error_b * of_b
        - 2.0 * error_a * error_b * of_both;
    Likeliest {
        square: (mean(residuals, residuals) - explained).max(0.0),
        unlikely: error_a * error_a + error_b * error_b + (determinant / beside / beside).ln(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_number_and_seldom_large() {
        // Half a standard deviation of the first, one of the second, and 1% of chance.
        let chance = |n: usize| if n.is_multiple_of(2) { 0.01 } else { -0.01 };
        let first: Vec<f64> = (0..64).map(|n| 0.04 * f64::from(n / 8 % 4)).collect();
        let second = vec![0.05; 64];
        let off = |a: f64, b: f64| -> Vec<f64> {
            (0..64).map(|n| a * first[n] + b * second[n] + chance(n)).collect()
        };
        let both = [first.clone(), second.clone()];
        let found = likeliest(&off(0.5, 1.0), &both, 1e-4, 64.0);
        assert!((found.square - 1e-4).abs() < 1e-6, "{}", found.square);
        let more = likeliest(&off(8.0, 1.0), &both, 1e-4, 64.0);
        assert!(more.unlikely > found.unlikely + 50.0, "{} {}", more.unlikely, found.unlikely);
        let one = likeliest(&off(0.5, 0.0), &[first.clone(), Vec::new()], 1e-4, 64.0);
        assert!((one.square - 1e-4).abs() < 1e-6 && one.unlikely < found.unlikely);
        let none = likeliest(&off(0.0, 1.0), &[Vec::new(), Vec::new()], 1e-4, 64.0);
        assert!((none.square - 0.0026).abs() < 1e-6, "{}", none.square);
        assert!(none.unlikely.abs() < 1e-9);
    }
}

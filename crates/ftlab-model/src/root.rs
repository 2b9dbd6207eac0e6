//! Roots between two bounds.

/// The root of a falling function between two bounds, to the precision of the numbers, by bisection.
///
/// Where the function has one sign throughout, the bound nearer to the root.
pub(crate) fn falling(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    // Halving 200 times outlasts any interval of doubles that is not about 0.
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if function(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::falling;

    #[test]
    fn finds_the_root_or_the_nearer_bound() {
        assert!((falling(0.0, 9.0, |x| 2.0 - x * x) - 2_f64.sqrt()).abs() < 1e-15);
        assert!((falling(2.0, 9.0, |x| 1.0 - x) - 2.0).abs() < 1e-14);
        assert!((falling(2.0, 9.0, |x| 99.0 - x) - 9.0).abs() < 1e-14);
    }
}

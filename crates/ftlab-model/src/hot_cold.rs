//! Writes of two temperatures to one region, in which nothing separates them.

use crate::root;

/// Write amplification when the oldest block is cleaned (FIFO) and the share `writes_share` of the
/// writes goes to the share `pages_share` of the pages, uniformly within each part.
///
/// The root A of
/// A = 1 + r / (e^(r alpha / (f A)) - 1) + (1 - r) / (e^((1 - r) alpha / ((1 - f) A)) - 1)
/// with r = `writes_share` and f = `pages_share`: between two collections of a block alpha / A drive
/// writes pass, and a page survives them with a probability that depends on its temperature.
/// Infinite at `op_ratio` 0. At r = f this is [`uniform::fifo`](crate::uniform::fifo).
///
/// Source: Desnoyers, "Analytic models of SSD write performance", ACM TOS 10(2), 2014 (FIFO cleaning
/// of non-uniform writes).
///
/// # Panics
/// If `op_ratio` is negative, `writes_share` is not in 0..=1, or `pages_share` is not between 0 and 1.
pub fn fifo(op_ratio: f64, writes_share: f64, pages_share: f64) -> f64 {
    assert!(op_ratio >= 0.0, "op_ratio {op_ratio} must be at least 0");
    assert!((0.0..=1.0).contains(&writes_share), "writes_share {writes_share} must be in 0..=1");
    assert!(
        pages_share > 0.0 && pages_share < 1.0,
        "pages_share {pages_share} must be between 0 and 1"
    );
    if op_ratio == 0.0 {
        return f64::INFINITY;
    }
    let alpha = 1.0 + op_ratio;
    let part = |a: f64, writes: f64, pages: f64| {
        pages * a / alpha * relative_decay(writes * alpha / (pages * a))
    };
    let surplus = |a: f64| {
        1.0 + part(a, writes_share, pages_share) + part(a, 1.0 - writes_share, 1.0 - pages_share)
            - a
    };
    // The surplus is positive at 1 and convex; relative_decay is at most 1, so it is not positive at
    // 1 + 1 / op_ratio: there is one root between them.
    root::falling(1.0, 1.0 + 1.0 / op_ratio, surplus)
}

/// y / (e^y - 1), which is 1 at 0.
fn relative_decay(y: f64) -> f64 {
    if y == 0.0 { 1.0 } else { y / y.exp_m1() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uniform;

    #[track_caller]
    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value / expected - 1.0).abs() < tolerance, "{value} is not {expected}");
    }

    #[test]
    fn values_agree_with_published_evaluations() {
        let op_ratio = 1.0 / 0.85 - 1.0;
        close(fifo(op_ratio, 0.8, 0.2), 3.869, 2e-4);
        close(fifo(op_ratio, 0.9, 0.1), 4.430, 2e-4);
    }

    #[test]
    fn without_skew_it_is_the_uniform_form() {
        for op_ratio in [1e-4, 0.01, 0.07, 0.3, 2.0] {
            for share in [0.01, 0.3, 0.5] {
                close(fifo(op_ratio, share, share), uniform::fifo(op_ratio), 1e-10);
            }
        }
    }

    #[test]
    fn the_two_parts_can_be_named_in_either_order() {
        close(fifo(0.1, 0.9, 0.2), fifo(0.1, 0.1, 0.8), 1e-12);
    }

    #[test]
    fn pages_that_nobody_writes_only_take_up_room() {
        // Half of the pages is always valid; every block carries its part of them.
        let a = fifo(0.2, 0.0, 0.5);
        assert!(a.is_finite() && a > uniform::fifo(0.2), "{a}");
        close(a, fifo(0.2, 1e-9, 0.5), 1e-6);
    }
}

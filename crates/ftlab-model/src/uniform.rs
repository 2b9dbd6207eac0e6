//! Uniform random writes to one region.

use crate::{lambert, root};

/// Write amplification when the oldest block is cleaned (FIFO, also called LRU cleaning).
///
/// A = alpha / (alpha + W(-alpha e^-alpha)), for blocks of many pages. Infinite at `op_ratio` 0.
///
/// Source: Desnoyers, "Analytic models of SSD write performance", ACM TOS 10(2), 2014, section 3.
///
/// # Panics
/// If `op_ratio` is negative or not a number.
pub fn fifo(op_ratio: f64) -> f64 {
    assert!(op_ratio >= 0.0, "op_ratio {op_ratio} must be at least 0");
    let alpha = 1.0 + op_ratio;
    alpha / (alpha - lambert::partner(alpha))
}

/// Write amplification when the block with the fewest valid pages is cleaned (greedy).
///
/// With b pages per block and k = 1 + 1/(2b), the fewest valid pages are
/// X0 = 1/2 - (b/alpha) W(-k alpha e^(-k alpha)), and A = b / (b - X0 + 1).
///
/// Source: Desnoyers, "Analytic models of SSD write performance", ACM TOS 10(2), 2014, section 4.
///
/// # Panics
/// If `op_ratio` is negative or not a number, or `pages_per_block` is 0.
pub fn greedy(op_ratio: f64, pages_per_block: u32) -> f64 {
    assert!(op_ratio >= 0.0, "op_ratio {op_ratio} must be at least 0");
    assert!(pages_per_block > 0, "a block must have pages");
    let alpha = 1.0 + op_ratio;
    let b = f64::from(pages_per_block);
    let k = 1.0 + 1.0 / (2.0 * b);
    let fewest = 0.5 + b / alpha * lambert::partner(k * alpha);
    b / (b - fewest + 1.0)
}

/// Write amplification when the block with the fewest valid pages among `d` blocks drawn at random is
/// cleaned (d-choices).
///
/// The mean field of many blocks: with b pages per block, rho = 1 / alpha and S_j the share of blocks
/// that have at least j valid pages, a victim has at least j with probability S_j^d, and in the steady
/// state c j (S_j - S_{j+1}) = 1 - S_j^d for j = 1..=b, where S_{b+1} = 0. Every S_j falls as c grows,
/// and c is the one number for which they sum up to b rho, the valid pages of a mean block. Then
/// A = 1 / (c rho). At d = 1 this is 1 + 1 / `op_ratio`; as d grows it approaches greedy.
///
/// Infinite at `op_ratio` 0.
///
/// Source: Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based
/// solid state drives", SIGMETRICS 2013; the reduction to one unknown is ours.
///
/// # Panics
/// If `op_ratio` is negative or not a number, or `pages_per_block` or `d` is 0.
pub fn d_choices(op_ratio: f64, pages_per_block: u32, d: u32) -> f64 {
    assert!(op_ratio >= 0.0, "op_ratio {op_ratio} must be at least 0");
    assert!(pages_per_block > 0, "a block must have pages");
    assert!(d > 0, "d-choices must choose among at least one block");
    if op_ratio == 0.0 {
        return f64::INFINITY;
    }
    let alpha = 1.0 + op_ratio;
    let valid_pages = f64::from(pages_per_block) / alpha;
    let surplus = |c: f64| mean_valid_pages(c, pages_per_block, f64::from(d)) - valid_pages;
    // c = alpha / A, where A is at least 1 and at most that of a random victim, alpha / op_ratio.
    alpha / root::falling(op_ratio, alpha, surplus)
}

/// The sum of the S_j that `c` leads to; see [`d_choices`].
fn mean_valid_pages(c: f64, pages_per_block: u32, d: f64) -> f64 {
    let (mut sum, mut next) = (0.0, 0.0);
    for j in (1..=pages_per_block).rev() {
        let slope = c * f64::from(j);
        // slope S + S^d = 1 + slope next: convex and not below at 1, so Newton's steps only descend.
        let mut share: f64 = 1.0;
        for _ in 0..100 {
            let power = share.powf(d - 1.0);
            let step = (slope * (share - next) + power * share - 1.0) / (slope + d * power);
            share -= step;
            if step <= 1e-15 {
                break;
            }
        }
        sum += share;
        next = share;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 2e-4, "{value} is not {expected}");
    }

    #[test]
    fn values_agree_with_published_evaluations() {
        close(fifo(1.0 / 0.85 - 1.0), 3.519);
        close(greedy(1.0 / 0.85 - 1.0, 64), 3.353);
        close(greedy(1.0 / 0.93 - 1.0, 256), 7.124);
    }

    #[test]
    fn d_choices_agree_with_published_evaluations() {
        let op_ratio = 1.0 / 0.85 - 1.0;
        close(d_choices(op_ratio, 64, 2), 4.648);
        close(d_choices(op_ratio, 64, 10), 3.464);
    }

    #[test]
    fn d_choices_lie_between_a_random_victim_and_greedy() {
        for op_ratio in [1e-3, 0.07, 0.28, 2.0] {
            close(d_choices(op_ratio, 64, 1), 1.0 + 1.0 / op_ratio);
            let amplifications = [1, 2, 3, 10, 100, 1000].map(|d| d_choices(op_ratio, 64, d));
            assert!(amplifications.is_sorted_by(|a, b| a >= b), "{amplifications:?}");
        }
        // The mean field knows whole pages only and greedy's form is an approximation.
        let (many, greedy) = (d_choices(0.15, 64, 10_000), greedy(0.15, 64));
        assert!((many / greedy - 1.0).abs() < 5e-3, "{many} and {greedy}");
    }

    #[test]
    fn fifo_is_accurate_where_almost_nothing_is_spare() {
        for op_ratio in [1e-6, 1e-3, 9e-3] {
            // A = 1 / (2 e) + 2/3 + ... with e = op_ratio, from the series of W at its branch point.
            let a = fifo(op_ratio);
            assert!((a - 0.5 / op_ratio - 2.0 / 3.0).abs() < 0.01 + 1e-9 * a, "{a}");
        }
        assert!(fifo(0.0).is_infinite());
        assert!(greedy(0.0, 1 << 30).is_finite());
    }

    #[test]
    fn fifo_solves_its_fixed_point() {
        // A block of age alpha / A drive writes still holds the share e^(-alpha/A) of its pages.
        for op_ratio in [0.05, 0.1, 0.3, 1.0] {
            let a = fifo(op_ratio);
            let share_valid = (-(1.0 + op_ratio) / a).exp();
            close(1.0 / (1.0 - share_valid), a);
        }
    }

    #[test]
    fn greedy_is_never_worse_than_fifo_and_meets_it_in_large_blocks() {
        for op_ratio in [0.07, 0.15, 0.28, 0.5] {
            assert!(greedy(op_ratio, 64) < fifo(op_ratio));
            close(greedy(op_ratio, 1 << 20), fifo(op_ratio));
        }
    }
}

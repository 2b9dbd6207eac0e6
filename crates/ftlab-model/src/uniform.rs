//! Uniform random writes to one region.

use lambert_w::lambert_w0;

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
    alpha / (alpha + lambert_w0(-alpha * (-alpha).exp()))
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
    let fewest = 0.5 - b / alpha * lambert_w0(-k * alpha * (-k * alpha).exp());
    b / (b - fewest + 1.0)
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

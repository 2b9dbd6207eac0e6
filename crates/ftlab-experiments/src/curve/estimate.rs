//! The write amplification of a whole drive, from those of samples.
//!
//! The fewer pages a block has, the more chance decides how many of them are valid, and the less the best victim has: a
//! sample amplifies too little. How much too little is close to linear, over the drives of a sample, in the reciprocals of
//! both: 1 / WAF, which is the share of a victim that is free, rises with 1 / (pages of a block).

use serde::{Deserialize, Serialize};

/// The write amplification of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sighting {
    /// Pages of a block of its drive.
    pub pages_per_block: u32,
    /// Write amplification.
    pub waf: f64,
}

/// The write amplification of the whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The best guess.
    pub waf: f64,
    /// The ends of an interval that has it with a probability of 90%.
    pub interval: [f64; 2],
}

/// How the half of an interval follows from its parts, all of them fitted to half of the cells of
/// docs/notes/sampling-cells.md, so that 90% of those were within; the other half is the test.
///
/// Standard errors, as far as samples of one size differ from each other.
const STANDARD_ERRORS: f64 = 2.0;
/// Of what the larger samples are corrected by: lines are not quite straight.
const OF_CORRECTION: f64 = 0.25;
/// Of WAF - 1: what no sample has, such as runs of addresses.
const OF_MOVED: f64 = 0.022;
/// The least, where next to nothing is moved.
const LEAST: f64 = 0.001;

impl Estimate {
    /// It with an interval of this share of WAF - 1 to both sides at least.
    #[must_use]
    pub fn widened(self, share: f64) -> Self {
        let [low, high] = self.interval;
        let half = share * (self.waf - 1.0);
        Self { interval: [low.min(self.waf - half).max(1.0), high.max(self.waf + half)], ..self }
    }
}

/// The write amplification of a drive whose blocks have `pages_per_block` pages.
pub fn estimate(seen: &[Sighting], pages_per_block: u32) -> Estimate {
    let count = seen.len().max(1) as f64;
    let place =
        |seen: &Sighting| 1.0 / f64::from(seen.pages_per_block) - 1.0 / f64::from(pages_per_block);
    let mean = |of: &dyn Fn(&Sighting) -> f64| seen.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(&place), mean(&|seen| 1.0 / seen.waf));
    let spread = count * mean(&|seen| (place(seen) - x).powi(2));
    let slope = count * mean(&|seen| (place(seen) - x) * (1.0 / seen.waf - y)) / spread;
    let slope = if spread > 0.0 { slope } else { 0.0 };
    // No victim is more than full.
    let waf = 1.0 / (y - slope * x).max(1e-6);
    let waf = waf.max(1.0);
    let error = (deviation(seen) * (1.0 / count + x * x / spread.max(1e-12)).sqrt()) * waf * waf;
    let most = seen.iter().map(|seen| seen.pages_per_block).max().unwrap_or(1);
    let largest: Vec<f64> =
        seen.iter().filter(|seen| seen.pages_per_block == most).map(|seen| seen.waf).collect();
    let correction = waf - largest.iter().sum::<f64>() / largest.len().max(1) as f64;
    let parts =
        [STANDARD_ERRORS * error, OF_CORRECTION * correction, OF_MOVED * (waf - 1.0), LEAST];
    let half = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
    Estimate { waf, interval: [(waf - half).max(1.0), waf + half] }
}

/// The standard deviation of 1 / WAF among samples of one size; 0 if there is one of each.
fn deviation(seen: &[Sighting]) -> f64 {
    let (mut squares, mut free) = (0.0, 0);
    let mut sizes: Vec<u32> = seen.iter().map(|seen| seen.pages_per_block).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for size in sizes {
        let alike = seen.iter().filter(|seen| seen.pages_per_block == size);
        let alike: Vec<f64> = alike.map(|seen| 1.0 / seen.waf).collect();
        let mean = alike.iter().sum::<f64>() / alike.len() as f64;
        squares += alike.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
        free += alike.len() - 1;
    }
    if free == 0 { 0.0 } else { (squares / free as f64).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples on a line: 1 / WAF is `free` on whole blocks, and more by `slope` / pages.
    fn seen(free: f64, slope: f64, whole: u32) -> Vec<Sighting> {
        let of = |pages: u32| {
            let place = 1.0 / f64::from(pages) - 1.0 / f64::from(whole);
            Sighting { pages_per_block: pages, waf: 1.0 / (free + slope * place) }
        };
        [64, 64, 16, 16].map(of).to_vec()
    }

    #[test]
    fn a_line_is_followed_to_the_whole() {
        for (free, slope) in [(0.1, 0.85), (0.4, 0.6), (0.9, 0.0), (0.25, -0.2)] {
            let Estimate { waf, interval } = estimate(&seen(free, slope, 4096), 4096);
            assert!((waf - 1.0 / free).abs() < 1e-9, "{waf}");
            assert!(interval[0] < waf && waf < interval[1]);
        }
    }

    #[test]
    fn what_differs_and_what_is_corrected_widen_the_interval() {
        let width = |seen: &[Sighting]| {
            let Estimate { waf, interval } = estimate(seen, 4096);
            (interval[1] - interval[0]) / (waf - 1.0)
        };
        let straight = seen(0.4, 0.6, 4096);
        let mut noisy = straight.clone();
        noisy[0].waf *= 1.02;
        noisy[1].waf /= 1.02;
        assert!(width(&noisy) > 1.5 * width(&straight));
        assert!(width(&seen(0.4, 3.0, 4096)) > 1.1 * width(&straight));
    }

    #[test]
    fn what_is_known_to_be_far_off_has_a_wide_interval() {
        let narrow = estimate(&seen(0.5, 0.6, 4096), 4096);
        let [low, high] = narrow.widened(0.2).interval;
        assert!((low - 1.8).abs() < 1e-9 && (high - 2.2).abs() < 1e-9, "{low} to {high}");
        assert_eq!(narrow.widened(0.001), narrow);
    }

    #[test]
    fn nothing_is_below_one() {
        let nothing = [Sighting { pages_per_block: 64, waf: 1.0 }; 2];
        let Estimate { waf, interval } = estimate(&nothing, 512);
        assert!((waf - 1.0).abs() < 1e-12 && interval[0] >= 1.0 && interval[1] < 1.01);
    }
}

//! Counters of the medium that a drive refreshes more rarely than they are read.
//!
//! Some drives count what they program only every minute or two. Read more often, the counter stands still in some
//! intervals and then makes up for it; read about as often, every few intervals have twice as much as those beside them.
//! Samples that tell no more than that are left out: those at which the counter stood still, and, where it makes up for
//! it at times, all but those at which it did, because there it is equally late. So is the first sample of such a series,
//! which may lack what was written before.

/// An interval has made up for another if it has this many times what those beside it have on average, give or take the
/// tolerance. The P5520 has 1.91 to 2.03. A drive that collects several units at once may have 1.8.
const TWICE: f64 = 2.0;
const TOLERANCE: f64 = 0.065;

/// How far those beside it may be apart, as a share of their mean.
const ALIKE: f64 = 0.2;

/// The least share of intervals that have made up for another, for it to be the counter that does so.
const SHARE_MIN: f64 = 0.125;

/// The least share of intervals in which a counter stands still, for it to be refreshed more rarely.
const STILL_MIN: f64 = 0.05;

/// The samples to keep of a series, in order; all if its counter is refreshed as often as it is read.
pub(super) fn kept(host: &[f64], media: &[f64]) -> Vec<usize> {
    let moved: Vec<usize> = (1..media.len()).filter(|at| media[*at] > media[at - 1]).collect();
    let twice = made_up(&moved, host, media);
    if !twice.is_empty() && twice.len() as f64 >= SHARE_MIN * moved.len() as f64 {
        return twice;
    }
    let still = media.len().saturating_sub(1 + moved.len());
    if still as f64 >= STILL_MIN * media.len() as f64 {
        return moved;
    }
    std::iter::once(0).chain(moved).collect()
}

/// The ends of the intervals that have made up for another.
fn made_up(samples: &[usize], host: &[f64], media: &[f64]) -> Vec<usize> {
    let waf = |pair: &[usize]| (media[pair[1]] - media[pair[0]]) / (host[pair[1]] - host[pair[0]]);
    let wafs: Vec<f64> = samples.windows(2).map(waf).collect();
    let is_twice = |near: &[f64]| {
        let beside = f64::midpoint(near[0], near[2]);
        (near[1] / (TWICE * beside) - 1.0).abs() <= TOLERANCE
            && (near[0] - near[2]).abs() <= ALIKE * beside
    };
    let around = wafs.windows(3).zip(&samples[2.min(samples.len())..]);
    around.filter(|(near, _)| is_twice(near)).map(|(_, end)| *end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a counter tells that is read after every second, and refreshed with a period in seconds; the drive writes
    /// `waf` bytes for each of the host.
    fn told(period: f64, waf: f64) -> (Vec<f64>, Vec<f64>) {
        let seconds: Vec<f64> = (0..80).map(f64::from).collect();
        let media =
            seconds.iter().map(|now| (now / period + 1e-9).floor() * period * waf).collect();
        (seconds, media)
    }

    #[test]
    fn a_counter_that_keeps_up_loses_nothing() {
        let (host, media) = told(1.0, 3.0);
        assert_eq!(kept(&host, &media), (0..80).collect::<Vec<_>>());
        // Ups and downs of the drive itself are no reason either.
        let with = |wafs: &[f64]| -> Vec<f64> {
            let sum = |sum: &mut f64, waf: &f64| {
                *sum += waf;
                Some(*sum)
            };
            wafs.iter().cycle().take(80).scan(0.0, sum).collect()
        };
        assert_eq!(kept(&host, &with(&[1.4, 3.4, 2.3, 1.8, 1.3])).len(), 80);
        // Nor is a drive that collects several units at once, as `lfs-cb` does.
        let wafs = [4.34, 4.34, 7.96, 4.44, 7.94, 4.53, 4.35, 7.87];
        assert_eq!(kept(&host, &with(&wafs)).len(), 80);
    }

    #[test]
    fn what_a_late_counter_tells_is_merged_until_it_is_even() {
        for period in [0.8, 5.0, 12.5] {
            let (host, media) = told(period, 3.0);
            let kept = kept(&host, &media);
            assert!(kept.len() < 40 && kept.len() > 5, "{period}: {}", kept.len());
            assert!(kept[0] > 0, "the first may lack what was written before");
            let waf = |pair: &[usize]| {
                (media[pair[1]] - media[pair[0]]) / (host[pair[1]] - host[pair[0]])
            };
            for pair in kept.windows(2) {
                assert!((waf(pair) / 3.0 - 1.0).abs() < 0.1, "{period}: {}", waf(pair));
            }
        }
    }
}

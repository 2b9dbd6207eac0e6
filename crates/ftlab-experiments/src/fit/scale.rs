//! How large the drives are that are simulated instead of the real one.
//!
//! A small drive does what a large one does if both have as many units, as many of them in reserve and open, and as much
//! over-provisioning. What differs is the number of pages of a unit: the fewer, the more units differ by chance in how
//! many of them are valid, and the cheaper it is to collect the emptiest. How much cheaper is a third with four times as many
//! pages: in proportion to pages^-0.79. That was *fitted* to four FTLs under fio's random writes, with 8 to 8,192 pages to a
//! unit (docs/notes/real-drives.md). So two sizes tell what the real one would do:
//! r(real) = r(n) + (r(n) - r(n/4)) (1 - (n/real)^0.79) / 2.
//! What they add is not a third for every FTL. So a share of it is an [error](super::shared) that all intervals share.
//!
//! So does chance. That a collection is in one interval or the next depends on units, of which both have as many. How many
//! pages of a unit are valid is a sum over pages, whose variance is in inverse proportion to them: v(n) = a + b/n.

use super::drive::Candidate;
use super::question::{Extent, Question};

/// How much smaller the other is.
const SMALLER: u32 = 4;

/// Pages of a large drive. Over the beginning of a series, drives are no larger, even if their units then have fewer pages than
/// they should.
pub(super) const LARGE: u64 = 524_288;

/// How many times less that is off then: fitted.
const LESS_OFF: f64 = 3.0;

/// The standard deviation of what two sizes add to the larger one, as a share of it: fitted (docs/notes/real-drives.md).
pub(super) const ERROR: f64 = 0.4;

/// The sizes on which a candidate is simulated, in pages, and how much what is relocated on each counts.
pub(super) fn scales(
    question: &Question,
    candidate: &Candidate,
    extent: &Extent<'_>,
) -> Vec<(f64, u32)> {
    if !question.is_scaled() {
        return vec![(1.0, extent.pages)];
    }
    let real = candidate.capacity / u64::from(question.base().drive.page_bytes);
    if extent.is_rough {
        return vec![(1.0, within(extent.pages.into(), real))];
    }
    let units = u64::from(question.pages / candidate.pages_per_block.max(1));
    let most = if extent.is_beginning { LARGE } else { u64::MAX };
    let wanted = (units * u64::from(extent.unit_pages)).min(most).max(extent.pages.into());
    let pages = within(wanted, real);
    if u64::from(pages) >= real {
        return vec![(1.0, pages)];
    }
    let exponent = LESS_OFF.ln() / f64::from(SMALLER).ln();
    let left = (f64::from(pages) / real as f64).powf(exponent);
    let more = (1.0 - left) / (LESS_OFF - 1.0);
    vec![(1.0 + more, pages), (-more, pages / SMALLER)]
}

/// The variance that chance makes of a real drive, from that of simulated ones of the larger and of the smaller size; these
/// have the given share of its pages.
pub(super) fn chance(larger: f64, smaller: Option<f64>, share_of_real: f64) -> f64 {
    let more = smaller.map_or(0.0, |smaller| smaller - larger);
    let of_pages = (more / f64::from(SMALLER - 1)).clamp(0.0, larger);
    larger - of_pages * (1.0 - share_of_real)
}

/// This many pages, and no more than the real drive has.
fn within(pages: u64, real: u64) -> u32 {
    pages.min(real).try_into().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_of_pages_shrinks_with_their_number_and_that_of_units_stays() {
        let variance = |pages: f64| 3.0 + 64.0 / pages;
        let cases = [
            (variance(64.0), Some(variance(16.0)), 64.0 / 1024.0, variance(1024.0)),
            (4.0, None, 1.0, 4.0),
            // Seeds are few: the smaller drive may have had less of it, or far more.
            (4.0, Some(3.0), 0.25, 4.0),
            (4.0, Some(100.0), 0.25, 1.0),
        ];
        for (larger, smaller, share, expected) in cases {
            let found = chance(larger, smaller, share);
            assert!((found - expected).abs() < 1e-12, "{larger} {smaller:?}: {found}");
        }
    }
}

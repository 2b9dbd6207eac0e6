//! How large the drives are that are simulated instead of the real one.
//!
//! A small drive does what a large one does if both have as many units, as many of them in reserve and open, and as much
//! over-provisioning. What differs is the number of pages of a unit: the fewer, the more units differ by chance in how
//! many of them are valid, and the cheaper it is to collect the emptiest. How much cheaper is a third with four times as many
//! pages: in proportion to pages^-0.79. That was *fitted* to four FTLs under fio's random writes, with 8 to 8,192 pages to a
//! unit (docs/notes/real-drives.md). So two sizes tell what the real one would do:
//! r(real) = r(n) + (r(n) - r(n/4)) (1 - (n/real)^0.79) / 2.

use super::drive::Candidate;
use super::question::{Extent, Question};

/// How much smaller the other is.
const SMALLER: u32 = 4;

/// How many times less that is off then: fitted.
const LESS_OFF: f64 = 3.0;

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
    let pages = within((units * u64::from(extent.unit_pages)).max(extent.pages.into()), real);
    if u64::from(pages) >= real {
        return vec![(1.0, pages)];
    }
    let exponent = LESS_OFF.ln() / f64::from(SMALLER).ln();
    let left = (f64::from(pages) / real as f64).powf(exponent);
    let more = (1.0 - left) / (LESS_OFF - 1.0);
    vec![(1.0 + more, pages), (-more, pages / SMALLER)]
}

/// This many pages, and no more than the real drive has.
fn within(pages: u64, real: u64) -> u32 {
    pages.min(real).try_into().unwrap_or(u32::MAX)
}

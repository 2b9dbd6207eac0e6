//! From requests to page operations.
//!
//! A write or read touches every page that it overlaps: writing one sector of a page is one page
//! write, as an FTL sees it after its read-modify-write. What the host did not send of such a page is told
//! beside it ([`Lacking`]). A trim lets go of the pages that it covers whole, because the rest of a page
//! still holds data. A flush has no pages.
//!
//! ```
//! use ftlab_trace::pages::{PageSink, expand};
//! use ftlab_trace::{Op, RequestBatch};
//!
//! #[derive(Default)]
//! struct Count { written: u64, trimmed: u64 }
//! impl PageSink for Count {
//!     fn write(&mut self, _first_page: u64, pages: u64) { self.written += pages; }
//!     fn trim(&mut self, _first_page: u64, pages: u64) { self.trimmed += pages; }
//! }
//!
//! let mut batch = RequestBatch::new();
//! batch.push(Op::Write, 7, 2); // two sectors, across the border of pages 0 and 1
//! batch.push(Op::Trim, 7, 10); // covers page 1 whole, page 0 and 2 in part
//! let mut count = Count::default();
//! expand(&batch, 8, &mut count)?;
//! assert_eq!((count.written, count.trimmed), (2, 1));
//! # Ok::<(), ftlab_trace::TraceError>(())
//! ```

use crate::{Op, RequestBatch, TraceError};
use std::num::NonZeroU64;

/// Bytes of a sector, the unit of [`RequestBatch::lba`].
pub const SECTOR_BYTES: u64 = 512;

/// Sectors that a write or read does not cover of the pages that it touches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lacking {
    /// At the beginning of the first page.
    pub first: u32,
    /// At the end of the last page, which may be the same.
    pub last: u32,
}

impl Lacking {
    /// It covers all of them.
    pub const NOTHING: Self = Self { first: 0, last: 0 };
}

/// Takes page operations; a run of pages is `first_page..first_page + pages` with `pages` >= 1.
pub trait PageSink {
    /// The host writes these pages, in ascending order.
    fn write(&mut self, first_page: u64, pages: u64);

    /// A write of a request that does not begin and end at page boundaries: the host sends all of these pages but
    /// what is `lacking`.
    fn write_in_part(&mut self, first_page: u64, pages: u64, lacking: Lacking) {
        let _ = lacking;
        self.write(first_page, pages);
    }

    /// The host lets go of these pages.
    fn trim(&mut self, first_page: u64, pages: u64) {
        let _ = (first_page, pages);
    }

    /// The host wants everything durable.
    fn flush(&mut self) {}

    /// The host reads these pages.
    fn read(&mut self, first_page: u64, pages: u64) {
        let _ = (first_page, pages);
    }

    /// A read of a request that does not begin and end at page boundaries.
    fn read_in_part(&mut self, first_page: u64, pages: u64, lacking: Lacking) {
        let _ = lacking;
        self.read(first_page, pages);
    }
}

/// Sectors per page of `page_bytes`; an error unless that is a multiple of 512, at least 512.
pub fn page_sectors(page_bytes: u32) -> Result<u32, TraceError> {
    let sectors = page_bytes / SECTOR_BYTES as u32;
    if sectors == 0 || !u64::from(page_bytes).is_multiple_of(SECTOR_BYTES) {
        return Err(TraceError::PageSize { page_bytes: u64::from(page_bytes) });
    }
    Ok(sectors)
}

/// Hands every request of `batch` to `sink` as page operations, in order, for pages of
/// `page_sectors` sectors (any number from 1).
///
/// A request of no sectors touches no page. A request that ends beyond 2^64 sectors is
/// [`TraceError::AddressOverflow`]; the requests before it have been handed on by then.
#[inline]
pub fn expand(
    batch: &RequestBatch,
    page_sectors: u32,
    sink: &mut impl PageSink,
) -> Result<(), TraceError> {
    let Some(divisor) = NonZeroU64::new(u64::from(page_sectors)) else {
        return Err(TraceError::PageSize { page_bytes: 0 });
    };
    if divisor.is_power_of_two() {
        let (shift, mask) = (divisor.trailing_zeros(), divisor.get() - 1);
        expand_with(batch, |sector| (sector >> shift, sector & mask), divisor.get(), sink)
    } else {
        expand_with(batch, |sector| (sector / divisor, sector % divisor), divisor.get(), sink)
    }
}

/// [`expand`] with `place_of` a sector: its page, and where in it.
#[inline]
fn expand_with(
    batch: &RequestBatch,
    place_of: impl Fn(u64) -> (u64, u64),
    page_sectors: u64,
    sink: &mut impl PageSink,
) -> Result<(), TraceError> {
    let touched = |lba: u64, end: u64| {
        let (first, before) = place_of(lba);
        let (last, at) = place_of(end - 1);
        let lacking = Lacking { first: before as u32, last: (page_sectors - 1 - at) as u32 };
        (first, last - first + 1, lacking)
    };
    for (op, lba, sectors) in batch.iter() {
        let Some(end) = lba.checked_add(u64::from(sectors)) else {
            return Err(TraceError::AddressOverflow { lba, sectors });
        };
        match op {
            Op::Flush => sink.flush(),
            _ if sectors == 0 => {}
            Op::Write => match touched(lba, end) {
                (first, pages, Lacking::NOTHING) => sink.write(first, pages),
                (first, pages, lacking) => sink.write_in_part(first, pages, lacking),
            },
            Op::Read => match touched(lba, end) {
                (first, pages, Lacking::NOTHING) => sink.read(first, pages),
                (first, pages, lacking) => sink.read_in_part(first, pages, lacking),
            },
            Op::Trim => {
                let (page, before) = place_of(lba);
                let first = page + u64::from(before > 0);
                let (after, _) = place_of(end);
                if after > first {
                    sink.trim(first, after - first);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[derive(Debug, Default, PartialEq, Eq)]
    struct Recorder(Vec<(Op, u64)>, Vec<Lacking>);

    impl Recorder {
        fn record(&mut self, op: Op, first_page: u64, pages: u64) {
            assert!(pages > 0);
            self.0.extend((first_page..first_page + pages).map(|page| (op, page)));
        }
    }

    impl PageSink for Recorder {
        fn write(&mut self, first_page: u64, pages: u64) {
            self.record(Op::Write, first_page, pages);
        }
        fn write_in_part(&mut self, first_page: u64, pages: u64, lacking: Lacking) {
            self.write(first_page, pages);
            self.1.push(lacking);
        }
        fn read_in_part(&mut self, first_page: u64, pages: u64, lacking: Lacking) {
            self.read(first_page, pages);
            self.1.push(lacking);
        }
        fn trim(&mut self, first_page: u64, pages: u64) {
            self.record(Op::Trim, first_page, pages);
        }
        fn flush(&mut self) {
            self.0.push((Op::Flush, 0));
        }
        fn read(&mut self, first_page: u64, pages: u64) {
            self.record(Op::Read, first_page, pages);
        }
    }

    /// The naive twin: looks at every sector of a request.
    fn naive(op: Op, lba: u64, sectors: u32, page_sectors: u64) -> Vec<(Op, u64)> {
        let covered: BTreeSet<u64> = (lba..lba + u64::from(sectors)).collect();
        let touched: BTreeSet<u64> = covered.iter().map(|sector| sector / page_sectors).collect();
        let whole = |page: &u64| {
            (page * page_sectors..(page + 1) * page_sectors).all(|s| covered.contains(&s))
        };
        match op {
            Op::Flush => vec![(op, 0)],
            Op::Trim => touched.into_iter().filter(whole).map(|page| (op, page)).collect(),
            _ => touched.into_iter().map(|page| (op, page)).collect(),
        }
    }

    /// The naive twin of what a write or read lacks; none if it has no sectors or covers its pages whole.
    fn naive_lacking(lba: u64, sectors: u32, page_sectors: u64) -> Option<Lacking> {
        let last = (lba + u64::from(sectors)).checked_sub(1).filter(|_| sectors > 0)?;
        let first = (0..page_sectors).filter(|at| lba / page_sectors * page_sectors + at < lba);
        let after = (0..page_sectors).filter(|at| last / page_sectors * page_sectors + at > last);
        let lacking = Lacking { first: first.count() as u32, last: after.count() as u32 };
        (lacking != Lacking::default()).then_some(lacking)
    }

    proptest! {
        #[test]
        fn expansion_equals_its_naive_twin(
            requests in prop::collection::vec((0u8..4, 0u64..200, 0u32..70), 0..20),
            page_sectors in 1u32..40,
        ) {
            let mut batch = RequestBatch::new();
            let (mut expected, mut lacking) = (Vec::new(), Vec::new());
            for (code, lba, sectors) in requests {
                let op = Op::from_code(code).unwrap();
                batch.push(op, lba, sectors);
                expected.extend(naive(op, lba, sectors, u64::from(page_sectors)));
                if matches!(op, Op::Write | Op::Read) {
                    lacking.extend(naive_lacking(lba, sectors, u64::from(page_sectors)));
                }
            }
            let mut recorder = Recorder::default();
            expand(&batch, page_sectors, &mut recorder).unwrap();
            prop_assert_eq!(recorder.0, expected);
            prop_assert_eq!(recorder.1, lacking);
        }
    }

    #[test]
    fn the_end_of_the_address_space_is_an_error_not_a_panic() {
        for op in Op::ALL {
            let mut batch = RequestBatch::new();
            batch.push(op, u64::MAX, 1);
            let error = expand(&batch, 8, &mut Recorder::default()).unwrap_err().to_string();
            assert!(error.contains("ends beyond 2^64 sectors"), "{error}");
        }
        let mut batch = RequestBatch::new();
        batch.push(Op::Trim, u64::MAX - 8, 8);
        for page_sectors in [1, 3, 8, u32::MAX] {
            expand(&batch, page_sectors, &mut Recorder::default()).unwrap();
        }
    }

    #[test]
    fn page_sizes_are_multiples_of_the_sector() {
        assert_eq!(page_sectors(4096).unwrap(), 8);
        assert_eq!(page_sectors(1536).unwrap(), 3);
        for page_bytes in [0, 511, 4097] {
            assert!(page_sectors(page_bytes).is_err(), "{page_bytes}");
        }
        assert!(expand(&RequestBatch::new(), 0, &mut Recorder::default()).is_err());
    }
}

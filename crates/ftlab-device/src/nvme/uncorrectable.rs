//! Blocks that the host has marked as unreadable (Write Uncorrectable), until they are written.

use super::layout::Status;
use super::lock::lock;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most ranges, so that memory stays bounded.
const RANGES_MAX: usize = 4096;

/// Marked ranges of bytes of the drive, apart from each other. They last as long as the server: a drive does
/// not store them.
#[derive(Debug, Default)]
pub(super) struct Uncorrectable {
    /// Beginning and end of each.
    ranges: Mutex<BTreeMap<u64, u64>>,
    /// Their number: nearly always 0, and then nobody takes the lock.
    count: AtomicUsize,
}

impl Uncorrectable {
    /// Marks a range.
    pub(super) fn mark(&self, range: &Range<u64>) -> Result<(), Status> {
        let mut ranges = lock(&self.ranges);
        if ranges.len() >= RANGES_MAX {
            return Err(Status::INTERNAL);
        }
        remove(&mut ranges, range);
        ranges.insert(range.start, range.end);
        self.count.store(ranges.len(), Ordering::Release);
        Ok(())
    }

    /// A range is written.
    #[inline]
    pub(super) fn clear(&self, range: &Range<u64>) {
        if self.count.load(Ordering::Acquire) > 0 {
            self.remove(range);
        }
    }

    #[cold]
    fn remove(&self, range: &Range<u64>) {
        let mut ranges = lock(&self.ranges);
        remove(&mut ranges, range);
        self.count.store(ranges.len(), Ordering::Release);
    }

    /// An error if any of a range is marked.
    #[inline]
    pub(super) fn check(&self, range: &Range<u64>) -> Result<(), Status> {
        if self.count.load(Ordering::Acquire) == 0 { Ok(()) } else { self.find(range) }
    }

    #[cold]
    fn find(&self, range: &Range<u64>) -> Result<(), Status> {
        let ranges = lock(&self.ranges);
        let last = ranges.range(..range.end).next_back();
        if last.is_some_and(|(_, end)| *end > range.start) {
            Err(Status::UNREADABLE)
        } else {
            Ok(())
        }
    }
}

/// Takes `gone` out of the ranges.
fn remove(ranges: &mut BTreeMap<u64, u64>, gone: &Range<u64>) {
    while let Some((&start, &end)) =
        ranges.range(..gone.end).next_back().filter(|(_, end)| **end > gone.start)
    {
        ranges.remove(&start);
        if end > gone.end {
            ranges.insert(gone.end, end);
        }
        if start < gone.start {
            ranges.insert(start, gone.start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_set_of_numbers(steps in prop::collection::vec((any::<bool>(), 0..50_u64, 1..20_u64), 1..40)) {
            let (marked, mut twin) = (Uncorrectable::default(), [false; 80]);
            for (marks, start, length) in steps {
                let range = start..start + length;
                if marks {
                    marked.mark(&range).unwrap();
                } else {
                    marked.clear(&range);
                }
                twin[start as usize..(start + length) as usize].fill(marks);
                for (at, is_marked) in (0..).zip(twin) {
                    prop_assert_eq!(marked.check(&(at..at + 1)).is_err(), is_marked);
                }
                let any = twin[10..30].contains(&true);
                prop_assert_eq!(marked.check(&(10..30)).is_err(), any);
            }
        }
    }
}

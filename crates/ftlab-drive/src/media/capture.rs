//! The mapping as of one operation, copied slice by slice while the drive keeps working.

use ftlab_flash::{Lpn, Ppn};
use std::collections::BTreeMap;

/// The mapping of a page when the capture began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    flash_page: u32,
    checksum: u32,
}

/// Preserves the old values of changes in slices that have not been copied yet.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    /// The first page that has not been copied.
    next: u32,
    /// Page -> its old value.
    changed: BTreeMap<u32, Entry>,
}

impl Capture {
    /// `lpn`, which is at `before` and has this checksum, is about to change.
    pub(crate) fn preserve(&mut self, lpn: Lpn, before: Option<Ppn>, checksum: u32) {
        if lpn.0 >= self.next {
            let flash_page = before.map_or(u32::MAX, |page| page.0);
            self.changed.entry(lpn.0).or_insert(Entry { flash_page, checksum });
        }
    }

    /// Takes the next slice: restores `flash_pages` and `checksums` from their current to their old
    /// values.
    pub(crate) fn take(&mut self, flash_pages: &mut [u32], checksums: &mut [u32]) {
        let first = self.next;
        self.next += flash_pages.len() as u32;
        let later = self.changed.split_off(&self.next);
        for (lpn, entry) in std::mem::replace(&mut self.changed, later) {
            let index = (lpn - first) as usize;
            flash_pages[index] = entry.flash_page;
            checksums[index] = entry.checksum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_what_it_was_when_the_capture_began() {
        let mut capture = Capture::default();
        capture.preserve(Lpn(1), Some(Ppn(10)), 100);
        capture.preserve(Lpn(1), Some(Ppn(11)), 101);
        capture.preserve(Lpn(3), None, 300);
        let (mut pages, mut checksums) = ([50, 51], [0, 1]);
        capture.take(&mut pages, &mut checksums);
        assert_eq!((pages, checksums), ([50, 10], [0, 100]));
        capture.preserve(Lpn(0), Some(Ppn(50)), 0);
        capture.preserve(Lpn(2), Some(Ppn(52)), 2);
        let (mut pages, mut checksums) = ([60, 61], [6, 7]);
        capture.take(&mut pages, &mut checksums);
        assert_eq!((pages, checksums), ([52, u32::MAX], [2, 300]));
        assert!(capture.changed.is_empty());
    }
}

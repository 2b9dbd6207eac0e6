//! Undo records: what transactions write down to be able to roll back.

use super::{File, Files};
use std::collections::VecDeque;

/// InnoDB's rollback segments (MariaDB 10.11 always has 128).
const SEGMENTS: u32 = 128;

/// Rollback segments, which transactions take in turn. Each has a header, whose list of committed
/// transactions every commit changes, and a page that fills with their records; a full one is purged, and
/// used again when those that were full before it have been.
#[derive(Debug, Clone)]
pub(crate) struct Undo {
    headers: u32,
    page_bytes: u32,
    segments: Vec<Segment>,
    next: usize,
    free: VecDeque<u32>,
    /// The page that is next where nothing is purged.
    kept: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    page: u32,
    used_bytes: u32,
}

impl Undo {
    /// Takes `pages` pages, at least 2, of `page_bytes`.
    pub(crate) fn new(files: &mut Files, pages: u32, page_bytes: u32) -> Self {
        let pages = pages.max(2);
        Self::at(files.reserve(pages), pages, page_bytes)
    }

    /// In `pages` pages from `headers` on, at least 2; of fewer than 256, half are headers.
    pub(crate) fn at(headers: u32, pages: u32, page_bytes: u32) -> Self {
        let count = SEGMENTS.min(pages / 2);
        let mut free: VecDeque<u32> = (headers + count..headers + pages).collect();
        let pages = free.drain(..count as usize);
        let segments = pages.map(|page| Segment { page, used_bytes: 0 }).collect();
        Self { headers, page_bytes, segments, next: 0, free, kept: None }
    }

    /// The next transaction takes a new page of `file` where its records do not fit, and not one that has been
    /// purged.
    #[inline]
    pub(crate) fn keep(&mut self, file: &mut File, files: &mut Files) {
        if self.kept.is_none() || self.free.front() != self.kept.as_ref() {
            let page = file.grow(files);
            self.free.clear();
            self.free.push_back(page);
            self.kept = Some(page);
        }
    }

    /// A transaction with `bytes` of records, which go to another page where they do not fit: `change` is
    /// given the header of its segment and each page that they are in.
    #[inline]
    pub(super) fn append(&mut self, bytes: u32, mut change: impl FnMut(u32)) {
        let number = self.next;
        self.next = if number + 1 == self.segments.len() { 0 } else { number + 1 };
        change(self.headers + number as u32);
        let Self { segments, free, page_bytes, .. } = self;
        let segment = &mut segments[number];
        let mut take_next = |page: &mut u32| {
            free.push_back(*page);
            *page = free.pop_front().expect("the page that was pushed, at least");
        };
        segment.used_bytes += bytes;
        if segment.used_bytes > *page_bytes {
            segment.used_bytes = bytes;
            take_next(&mut segment.page);
        }
        while segment.used_bytes > *page_bytes {
            change(segment.page);
            segment.used_bytes -= *page_bytes;
            take_next(&mut segment.page);
        }
        change(segment.page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_take_turns_and_full_pages_are_used_again() {
        let mut files = Files::new(1000);
        let mut undo = Undo::new(&mut files, 5, 1000);
        // Headers 0 and 1; pages 2 and 3 to begin with, 4 free.
        let mut append = |bytes| {
            let mut pages = Vec::new();
            undo.append(bytes, |page| pages.push(page));
            pages
        };
        for expected in [[0, 2], [1, 3], [0, 2], [1, 3], [0, 4], [1, 2], [0, 4]] {
            assert_eq!(append(400), expected);
        }
        assert_eq!(append(2_100), [1, 3, 2, 3]);
        assert_eq!(append(201), [0, 2]);
        assert_eq!(append(900), [1, 3]);
    }

    #[test]
    fn what_is_kept_is_never_used_again() {
        let (mut files, mut file) = (Files::new(1000), File::default());
        let mut undo = Undo::new(&mut files, 4, 1000);
        let mut pages = Vec::new();
        for _ in 0..100 {
            undo.keep(&mut file, &mut files);
            undo.append(400, |page| pages.extend((page > 1).then_some(page)));
        }
        // Two transactions of 400 bytes fit into a page.
        pages.sort_unstable();
        assert!(pages.chunks(2).all(|pair| pair[0] == pair[1]));
        pages.dedup();
        assert_eq!(pages.len(), 50);
    }

    #[test]
    fn of_many_pages_128_are_headers() {
        let mut files = Files::new(2000);
        let mut undo = Undo::new(&mut files, 1000, 1000);
        let mut headers = std::collections::BTreeSet::new();
        for _ in 0..1000 {
            undo.append(1, |page| headers.extend((page < 128).then_some(page)));
        }
        assert_eq!((headers.len(), headers.last()), (128, Some(&127)));
    }
}

//! The redo log and the double-write area.

use super::Layout;
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Op, RequestBatch};

/// Of the redo log's size, how much may be written before a change has to be on the drive: what
/// InnoDB calls the asynchronous flush point.
pub(super) const CHECKPOINT_SHARE: f64 = 0.75;

/// A ring of sectors after a first page, which records checkpoints.
#[derive(Debug, Clone)]
pub(super) struct RedoLog {
    first_sector: u64,
    page_sectors: u64,
    ring_sectors: u64,
    is_here: bool,
    /// Commits that are written at once, and those since the log was written.
    group: u32,
    committed: u32,
    /// Bytes of the log so far, and how many of them have been written.
    end_bytes: u64,
    written_bytes: u64,
    checkpoint_sectors: u64,
}

impl RedoLog {
    pub(super) fn new(first_page: u32, layout: &Layout) -> Self {
        let page_sectors = u64::from(layout.page_sectors());
        Self {
            first_sector: u64::from(first_page) * page_sectors,
            page_sectors,
            ring_sectors: u64::from(layout.log_pages.saturating_sub(1).max(1)) * page_sectors,
            is_here: layout.logs_here,
            group: layout.group,
            committed: 0,
            end_bytes: 0,
            written_bytes: 0,
            checkpoint_sectors: 0,
        }
    }

    #[inline]
    pub(super) fn append(&mut self, bytes: u32) {
        self.end_bytes += u64::from(bytes);
    }

    /// Where it ends, counted from 1.
    #[inline]
    pub(super) fn end_sectors(&self) -> u64 {
        self.end_bytes / SECTOR_BYTES + 1
    }

    /// How far back the first change of a page in the pool may lie.
    #[inline]
    pub(super) fn max_age_sectors(&self) -> u64 {
        (CHECKPOINT_SHARE * self.ring_sectors as f64) as u64
    }

    /// A transaction is over: with the last of a group, what has not been written is, with the sector in which
    /// that begins.
    pub(super) fn commit(&mut self, out: &mut RequestBatch) {
        self.committed += 1;
        if self.committed < self.group {
            return;
        }
        self.committed = 0;
        if !self.is_here || self.end_bytes == self.written_bytes {
            return;
        }
        let mut sector = self.written_bytes / SECTOR_BYTES;
        let end = self.end_bytes.div_ceil(SECTOR_BYTES);
        while sector < end {
            let place = sector % self.ring_sectors;
            let sectors = (end - sector).min(self.ring_sectors - place);
            out.push(Op::Write, self.first_sector + self.page_sectors + place, sectors as u32);
            sector += sectors;
        }
        out.push(Op::Flush, 0, 0);
        self.written_bytes = self.end_bytes;
        if end > self.checkpoint_sectors + self.ring_sectors / 4 {
            self.checkpoint_sectors = end;
            out.push(Op::Write, self.first_sector, 1);
        }
    }
}

/// Changed pages on their way to the drive, and the area where they are written first.
#[derive(Debug, Clone)]
pub(super) struct DoubleWrite {
    first_page: u32,
    area_pages: u32,
    page_sectors: u32,
    waiting: Vec<u32>,
}

impl DoubleWrite {
    /// An area of no pages for none.
    pub(super) fn new(first_page: u32, layout: &Layout) -> Self {
        let area_pages = layout.doublewrite_pages;
        let waiting = Vec::with_capacity(area_pages as usize);
        Self { first_page, area_pages, page_sectors: layout.page_sectors(), waiting }
    }

    /// Takes pages, and writes those that wait whenever the area is full.
    pub(super) fn add(&mut self, pages: &[u32], out: &mut RequestBatch) {
        if self.area_pages == 0 {
            return self.write_in_place(pages, out);
        }
        for page in pages {
            self.waiting.push(*page);
            if self.waiting.len() == self.area_pages as usize {
                self.write(out);
            }
        }
    }

    /// Writes the pages that wait, twice.
    pub(super) fn write(&mut self, out: &mut RequestBatch) {
        if self.waiting.is_empty() {
            return;
        }
        let sectors = self.waiting.len() as u32 * self.page_sectors;
        out.push(Op::Write, self.lba(self.first_page), sectors);
        out.push(Op::Flush, 0, 0);
        self.write_in_place(&self.waiting, out);
        self.waiting.clear();
    }

    fn write_in_place(&self, pages: &[u32], out: &mut RequestBatch) {
        out.extend(Op::Write, pages.iter().map(|page| self.lba(*page)), self.page_sectors);
    }

    #[inline]
    fn lba(&self, page: u32) -> u64 {
        u64::from(page) * u64::from(self.page_sectors)
    }
}

//! How much of a drive a trace writes, writes again, and gives up.

use ftlab_trace::pages::{Lacking, PageSink, expand};
use ftlab_trace::{Op, RequestBatch, TraceError};

/// Page writes between two notes of how many pages are new.
const STEP: u64 = 64;

/// Which pages of a drive a trace has written, and which hold something.
#[derive(Debug, Clone)]
pub struct Coverage {
    ignores_trims: bool,
    is_written: Vec<u64>,
    holds_data: Vec<u64>,
    logical_pages: u64,
    write_requests: u64,
    page_writes: u64,
    lacking_sectors: u64,
    written_pages: u64,
    trimmed_pages: u64,
    /// The first time and the last, in microseconds, if there are any.
    times_us: Option<(u64, u64)>,
    /// Pages that were written after every [`STEP`] writes.
    steps: Vec<u64>,
}

impl Coverage {
    /// Of a drive with this many pages, each of which holds data or none does; pages beyond it begin again at the first.
    pub fn new(logical_pages: u32, is_filled: bool, ignores_trims: bool) -> Self {
        let words = logical_pages.div_ceil(64) as usize;
        let mut holds_data = vec![if is_filled { u64::MAX } else { 0 }; words];
        if let Some(last) = holds_data.last_mut().filter(|_| !logical_pages.is_multiple_of(64)) {
            *last &= (1 << (logical_pages % 64)) - 1;
        }
        Self {
            ignores_trims,
            is_written: vec![0; words],
            holds_data,
            logical_pages: logical_pages.into(),
            write_requests: 0,
            page_writes: 0,
            lacking_sectors: 0,
            written_pages: 0,
            trimmed_pages: 0,
            times_us: None,
            steps: Vec::new(),
        }
    }

    /// Takes requests in, whose pages have this many sectors.
    pub fn add(&mut self, requests: &RequestBatch, page_sectors: u32) -> Result<(), TraceError> {
        expand(requests, page_sectors, self)?;
        self.write_requests += requests.op.iter().filter(|op| **op == Op::Write).count() as u64;
        for time in &requests.time_us {
            let (first, last) = self.times_us.unwrap_or((*time, *time));
            self.times_us = Some((first.min(*time), last.max(*time)));
        }
        Ok(())
    }

    /// Pages of the drive.
    pub fn logical_pages(&self) -> u64 {
        self.logical_pages
    }

    /// Write requests.
    pub fn write_requests(&self) -> u64 {
        self.write_requests
    }

    /// Writes of pages, those of the same page included.
    pub fn page_writes(&self) -> u64 {
        self.page_writes
    }

    /// Sectors of these pages that the host does not send.
    pub fn lacking_sectors(&self) -> u64 {
        self.lacking_sectors
    }

    /// Pages that were written at least once.
    pub fn written_pages(&self) -> u64 {
        self.written_pages
    }

    /// Pages that were trimmed while they held data; none if trims are ignored.
    pub fn trimmed_pages(&self) -> u64 {
        self.trimmed_pages
    }

    /// Pages that were never written and hold nothing.
    pub fn empty_pages(&self) -> u64 {
        let used = |(written, holds): (&u64, &u64)| u64::from((written | holds).count_ones());
        self.logical_pages - self.is_written.iter().zip(&self.holds_data).map(used).sum::<u64>()
    }

    /// Page writes of the last half, and how many of them went to pages that had not been written before.
    pub fn last_half(&self) -> (u64, u64) {
        let half = (self.page_writes / 2 / STEP) as usize;
        let before = half.checked_sub(1).map_or(0, |last| self.steps[last]);
        (self.page_writes - half as u64 * STEP, self.written_pages - before)
    }

    /// Microseconds from the first request to the last, if they have times.
    pub fn elapsed_us(&self) -> Option<u64> {
        self.times_us.map(|(first, last)| last - first)
    }
}

/// Sets the bit of a page; whether it was set.
fn set(bits: &mut [u64], page: u64) -> bool {
    let (word, bit) = (&mut bits[(page / 64) as usize], 1 << (page % 64));
    let was_set = *word & bit != 0;
    *word |= bit;
    was_set
}

impl PageSink for Coverage {
    fn write(&mut self, first_page: u64, pages: u64) {
        for page in first_page..first_page.saturating_add(pages) {
            let page = page % self.logical_pages;
            self.written_pages += u64::from(!set(&mut self.is_written, page));
            set(&mut self.holds_data, page);
            self.page_writes += 1;
            if self.page_writes.is_multiple_of(STEP) {
                self.steps.push(self.written_pages);
            }
        }
    }

    fn write_in_part(&mut self, first_page: u64, pages: u64, lacking: Lacking) {
        self.lacking_sectors += u64::from(lacking.first) + u64::from(lacking.last);
        self.write(first_page, pages);
    }

    fn trim(&mut self, first_page: u64, pages: u64) {
        if self.ignores_trims {
            return;
        }
        let all = first_page.saturating_add(self.logical_pages);
        for page in first_page..first_page.saturating_add(pages).min(all) {
            let page = page % self.logical_pages;
            let (word, bit) = (&mut self.holds_data[(page / 64) as usize], 1 << (page % 64));
            self.trimmed_pages += u64::from(*word & bit != 0);
            *word &= !bit;
        }
    }
}

//! A sample as a source of requests.

use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Op, RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource};
use std::sync::Arc;

/// It lets go of the page, instead of writing it.
const IS_TRIM: u32 = 1 << 31;
/// It is of the same request as the one before.
const CONTINUES: u32 = 1 << 30;

/// The writes and trims of the pages of a sample, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Pages that it has, written or not.
    pub pages: u32,
    page_bytes: u32,
    /// Its page writes.
    pub writes: u64,
    steps: Vec<u32>,
}

impl Sample {
    pub(super) fn empty(pages: u32, page_bytes: u32) -> Self {
        Self { pages, page_bytes, writes: 0, steps: Vec::new() }
    }

    #[inline]
    pub(super) fn push(&mut self, page: u32, is_write: bool, continues: bool) {
        let flags = if is_write { 0 } else { IS_TRIM } | if continues { CONTINUES } else { 0 };
        self.steps.push(page | flags);
        self.writes += u64::from(is_write);
    }

    /// Its requests, from the first.
    pub fn open(self: &Arc<Self>) -> SampleSource {
        let metadata = TraceMetadata {
            format: "sample".into(),
            device_bytes: Some(u64::from(self.pages) * u64::from(self.page_bytes)),
            ..TraceMetadata::default()
        };
        SampleSource { sample: Arc::clone(self), at: 0, metadata, skipped: Skipped::default() }
    }
}

/// Reads a sample.
#[derive(Debug)]
pub struct SampleSource {
    sample: Arc<Sample>,
    at: usize,
    metadata: TraceMetadata,
    skipped: Skipped,
}

impl TraceSource for SampleSource {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        let sectors = self.sample.page_bytes / SECTOR_BYTES as u32;
        while let Some(step) = self.sample.steps.get(self.at) {
            let op = if step & IS_TRIM == 0 { Op::Write } else { Op::Trim };
            let is_full = batch.is_full();
            match batch.sectors.last_mut() {
                Some(last) if step & CONTINUES != 0 => *last += sectors,
                _ if is_full => break,
                _ => {
                    let page = step & !(IS_TRIM | CONTINUES);
                    batch.push(op, u64::from(page) * u64::from(sectors), sectors);
                }
            }
            self.at += 1;
        }
        Ok(!batch.is_empty())
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn progress(&self) -> Option<f64> {
        Some(self.at as f64 / self.sample.steps.len().max(1) as f64)
    }
}

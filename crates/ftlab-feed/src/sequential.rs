//! Every page of a drive in ascending order.

use ftlab_trace::{
    Op, RequestBatch, Skipped, Space, TraceError, TraceMetadata, TraceSource, pages,
};

/// The first `writes` page writes of those that pass over a drive again and again, in requests of `pages`.
pub fn sequential(
    space: &Space,
    writes: u64,
    pages: u32,
) -> Result<Box<dyn TraceSource>, TraceError> {
    Ok(Box::new(Sequential {
        request_pages: u64::from(pages.max(1)),
        page_sectors: pages::page_sectors(space.page_bytes)?,
        next_page: 0,
        logical_pages: space.logical_pages,
        end: writes,
        metadata: TraceMetadata::default(),
        skipped: Skipped::default(),
    }))
}

struct Sequential {
    request_pages: u64,
    page_sectors: u32,
    next_page: u64,
    logical_pages: u64,
    /// Page writes in all.
    end: u64,
    metadata: TraceMetadata,
    skipped: Skipped,
}

impl TraceSource for Sequential {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        while self.next_page < self.end && batch.len() < batch.limit() {
            let page = self.next_page % self.logical_pages;
            let left = (self.end - self.next_page).min(self.logical_pages - page);
            let pages = self.request_pages.min(left);
            let sectors = pages as u32 * self.page_sectors;
            batch.push(Op::Write, page * u64::from(self.page_sectors), sectors);
            self.next_page += pages;
        }
        Ok(!batch.is_empty())
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }
}

//! Every page of a drive in ascending order.

use ftlab_trace::{
    Op, RequestBatch, Skipped, Space, TraceError, TraceMetadata, TraceSource, pages,
};

/// The first `writes` page writes of those that pass over a drive again and again.
pub fn sequential(space: &Space, writes: u64) -> Result<Box<dyn TraceSource>, TraceError> {
    Ok(Box::new(Sequential {
        page_sectors: pages::page_sectors(space.page_bytes)?,
        next_page: 0,
        logical_pages: space.logical_pages,
        end: writes,
        metadata: TraceMetadata::default(),
        skipped: Skipped::default(),
    }))
}

struct Sequential {
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
        let end = self.end.min(self.next_page + batch.limit() as u64);
        for page in (self.next_page..end).map(|page| page % self.logical_pages) {
            batch.push(Op::Write, page * u64::from(self.page_sectors), self.page_sectors);
        }
        self.next_page = end;
        Ok(!batch.is_empty())
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }
}

//! A sequence of pages as a source of requests.

use super::sequence::Sequence;
use super::write_watch::WriteWatch;
use ftlab_trace::{RequestBatch, Skipped, Space, TraceError, TraceMetadata, TraceSource, pages};

/// A sequence for a drive as a source, which has this name.
pub(super) fn source_of(
    name: String,
    sequence: Sequence,
    space: &Space,
    watch: Option<WriteWatch>,
) -> Result<Box<dyn TraceSource>, TraceError> {
    let page_sectors = pages::page_sectors(space.page_bytes)?;
    let mut metadata = TraceMetadata { format: name.clone(), ..TraceMetadata::default() };
    metadata.device_bytes = Some(space.logical_pages * u64::from(space.page_bytes));
    metadata.properties.insert("generator".into(), name);
    metadata.properties.insert("seed".into(), space.seed.to_string());
    let properties = sequence.properties().into_iter();
    metadata.properties.extend(properties.map(|(name, value)| (name.to_owned(), value)));
    let skipped = Skipped::default();
    Ok(Box::new(PageSource { sequence, page_sectors, metadata, skipped, watch }))
}

/// A sequence of pages as a source of requests.
struct PageSource {
    sequence: Sequence,
    page_sectors: u32,
    metadata: TraceMetadata,
    skipped: Skipped,
    /// If it has no end, and is read until pages are written.
    watch: Option<WriteWatch>,
}

impl TraceSource for PageSource {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        let has_more = self.sequence.next_requests(batch, self.page_sectors)?;
        if let Some(watch) = &mut self.watch {
            watch.see(batch);
            watch.check(&self.metadata.format)?;
        }
        Ok(has_more)
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }
}

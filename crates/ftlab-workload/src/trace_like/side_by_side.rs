//! A trace side by side with itself, on any drive: `trace-like` of requests that come from anywhere.

use super::survey::{Origin, Survey, read};
use super::{GENERATOR, TraceLike};
use crate::page_source::source_of;
use crate::requests::Stepped;
use ftlab_trace::{Space, TraceError, TraceSource};
use std::sync::Arc;

/// A trace that was read once, and can be repeated in as many copies as a drive has room for.
#[derive(Debug, Clone)]
pub struct SideBySide {
    survey: Arc<Survey>,
}

impl SideBySide {
    /// The name and the version of what decides the requests of copies.
    pub const VERSION: (&str, u32) = (GENERATOR.name, GENERATOR.version);

    /// Reads the trace that `open` hands out, whenever it is called, in pages of `page_bytes`.
    pub fn new(
        name: impl Into<String>,
        page_bytes: u32,
        open: impl Fn() -> Result<Box<dyn TraceSource>, TraceError> + Send + Sync + 'static,
    ) -> Result<Self, TraceError> {
        Ok(Self { survey: Arc::new(read(Origin::new(name, open), page_bytes)?) })
    }

    /// Pages of the drive that the trace is of.
    pub fn drive_pages(&self) -> u64 {
        self.survey.drive_pages
    }

    /// Its write requests.
    pub fn write_requests(&self) -> u64 {
        self.survey.write_requests
    }

    /// Whether its requests name streams, which copies do not.
    pub fn has_streams(&self) -> bool {
        self.survey.has_streams
    }

    /// The requests of its copies on a drive, from the first to the last.
    pub fn open(&self, space: &Space) -> Result<Box<dyn TraceSource>, TraceError> {
        let sequence = Box::new(Stepped::new(TraceLike::new(Arc::clone(&self.survey), space)?));
        source_of(GENERATOR.name.to_owned(), sequence, space, None)
    }
}

impl PartialEq for SideBySide {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.survey, &other.survey)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_trace::{Input, OpenOptions, RequestBatch, open_input};

    fn trace(lines: &'static str) -> Result<SideBySide, TraceError> {
        let open = move || {
            let input = Input::from_bytes("test", lines.as_bytes().to_vec())?;
            let map = Some("ts:us=1,op=2,off:pages=3,len:pages=4".to_owned());
            open_input(input, &OpenOptions { map, ..OpenOptions::default() })
        };
        SideBySide::new("test", 4096, open)
    }

    #[test]
    fn every_copy_writes_its_own_part_as_often_as_it_is_opened() {
        let trace = trace("0,W,0,2\n1,R,0,1\n2,W,3,1\n").unwrap();
        assert_eq!((trace.drive_pages(), trace.write_requests()), (4, 2));
        assert!(!trace.has_streams());
        let space = Space { logical_pages: 12, page_bytes: 4096, seed: 1 };
        let pages = || {
            let mut source = trace.open(&space).unwrap();
            assert_eq!(source.metadata().device_bytes, Some(12 * 4096));
            let (mut batch, mut pages) = (RequestBatch::new(), Vec::new());
            while source.next_batch(&mut batch).unwrap() {
                pages.extend(batch.iter().map(|(_, lba, sectors)| (lba / 8, sectors / 8)));
            }
            pages.sort_unstable();
            pages
        };
        assert_eq!(pages(), [(0, 2), (3, 1), (4, 2), (7, 1), (8, 2), (11, 1)]);
        assert_eq!(pages(), pages());
    }

    #[test]
    fn a_trace_without_writes_is_refused() {
        let error = trace("0,R,0,2\n").unwrap_err().to_string();
        assert!(error.contains("test, which has no writes"), "{error}");
    }
}

//! Writes `lpn-u32`: page numbers as raw little-endian u32, one per page write.

use super::output::{Encoder, StreamSink};
use super::{CreateOptions, TraceSink, WriterInfo, Written};
use crate::pages::{self, PageSink};
use crate::{Op, PartialFile, RequestBatch, TraceError};

pub(super) const WRITER: WriterInfo = WriterInfo {
    name: "lpn-u32",
    extensions: &["u32", "lpn"],
    summary: "page writes only, as raw little-endian u32; trims, flushes and reads are left out",
    create,
};

fn create(file: PartialFile, options: &CreateOptions) -> Result<Box<dyn TraceSink>, TraceError> {
    let page_sectors = pages::page_sectors(options.page_bytes)?;
    StreamSink::boxed(file, LpnEncoder { page_sectors })
}

struct LpnEncoder {
    page_sectors: u32,
}

struct PageNumbers<'a> {
    out: &'a mut Vec<u8>,
    /// A page that four bytes cannot name.
    beyond: Option<u64>,
}

impl PageSink for PageNumbers<'_> {
    fn write(&mut self, first_page: u64, pages: u64) {
        let last = first_page.saturating_add(pages - 1);
        if last > u64::from(u32::MAX) {
            self.beyond.get_or_insert(last);
            return;
        }
        for page in first_page..=last {
            self.out.extend_from_slice(&(page as u32).to_le_bytes());
        }
    }
}

impl Encoder for LpnEncoder {
    fn encode(
        &mut self,
        batch: &RequestBatch,
        out: &mut Vec<u8>,
        written: &mut Written,
    ) -> Result<(), TraceError> {
        for op in &batch.op {
            match op {
                Op::Write => written.requests += 1,
                other => written.leave_out(*other),
            }
        }
        let mut sink = PageNumbers { out, beyond: None };
        pages::expand(batch, self.page_sectors, &mut sink)?;
        match sink.beyond {
            None => Ok(()),
            Some(page) => Err(TraceError::Unsupported {
                what: format!("page {page} does not fit in lpn-u32, which ends at {}", u32::MAX),
                remedy: "write parquet, or use larger pages".into(),
            }),
        }
    }
}

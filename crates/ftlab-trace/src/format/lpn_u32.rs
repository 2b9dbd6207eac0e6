//! `lpn-u32`: page numbers as raw little-endian u32, each one page write.

use super::{FormatInfo, Looks};
use crate::quantity::Bytes;
use crate::skipped::UNFINISHED;
use crate::{
    Input, Op, OpenOptions, RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource, pages,
};
use ftlab_spec::{Parameters, Spec};
use std::io::{ErrorKind, Read};

ftlab_spec::parameters! {
    /// How page numbers become addresses.
    pub struct LpnU32Parameters {
        /// Bytes per page; 0 takes the page size of the run.
        page: Bytes = Bytes(0), "page", from "our format";
    }
}

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "lpn-u32",
    extensions: &["u32", "lpn"],
    summary: "page numbers as raw little-endian u32, each one page write",
    source: "our own, for golden sequences",
    parameters: LpnU32Parameters::describe,
    detect: |_| Looks::Unlike,
    volumes_together: false,
    open,
};

fn open(
    input: Input,
    spec: &Spec,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    let parameters = LpnU32Parameters::from_spec(spec)?;
    let page_bytes = match parameters.page.0 {
        0 => options.page_bytes,
        bytes => u32::try_from(bytes).map_err(|_| TraceError::PageSize { page_bytes: bytes })?,
    };
    let requests = input.total_bytes().map(|bytes| bytes / 4);
    Ok(Box::new(LpnSource {
        name: input.name().into(),
        page_sectors: pages::page_sectors(page_bytes)?,
        metadata: TraceMetadata { format: spec.to_string(), requests, ..TraceMetadata::default() },
        is_unfinished: input.is_unfinished(),
        progress: input.progress(),
        reader: input.into_reader(),
        bytes: Vec::new(),
        requests: 0,
        skipped: Skipped::default(),
    }))
}

struct LpnSource {
    name: String,
    page_sectors: u32,
    metadata: TraceMetadata,
    progress: crate::input::Progress,
    reader: Box<dyn Read + Send>,
    bytes: Vec<u8>,
    requests: u64,
    skipped: Skipped,
    /// Whether it may end in the middle of a page number.
    is_unfinished: bool,
}

impl LpnSource {
    /// Reads until `self.bytes` is full or the file ends; how much was read.
    fn fill(&mut self) -> Result<usize, TraceError> {
        let mut filled = 0;
        while filled < self.bytes.len() {
            match self.reader.read(&mut self.bytes[filled..]) {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(TraceError::io(&self.name, error)),
            }
        }
        Ok(filled)
    }
}

impl TraceSource for LpnSource {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        self.bytes.resize(4 * batch.limit(), 0);
        let mut filled = self.fill()?;
        if self.is_unfinished && filled < self.bytes.len() {
            filled -= filled % 4;
            self.is_unfinished = false;
            self.skipped.add(UNFINISHED, self.requests + filled as u64 / 4 + 1, b"");
        }
        if filled % 4 != 0 {
            let whole = self.requests + filled as u64 / 4;
            return Err(TraceError::Damaged {
                name: self.name.clone(),
                what: format!("{} bytes follow page number {whole}, not 4", filled % 4),
                remedy: "the file is cut short, or is not lpn-u32".into(),
            });
        }
        if filled == 0 && self.requests == 0 {
            return Err(TraceError::NoRequests {
                name: self.name.clone(),
                unit: "record",
                lines: 0,
                skipped: "the file is empty".into(),
                remedy: None,
            });
        }
        let page_sectors = u64::from(self.page_sectors);
        batch.lba.extend(
            self.bytes[..filled]
                .as_chunks()
                .0
                .iter()
                .map(|bytes| u64::from(u32::from_le_bytes(*bytes)) * page_sectors),
        );
        batch.op.resize(filled / 4, Op::Write);
        batch.sectors.resize(filled / 4, self.page_sectors);
        self.requests += filled as u64 / 4;
        Ok(filled > 0)
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn progress(&self) -> Option<f64> {
        self.progress.share()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_look_like_text_are_numbers() {
        let numbers = [0x0020_000a_u32, 0x0020_0020, 0x0021_0030, 0x0022_0031];
        let bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pages.u32");
        std::fs::write(&path, bytes).unwrap();
        let mut source = crate::open(&path, &OpenOptions::default()).unwrap();
        let mut batch = RequestBatch::new();
        assert!(source.next_batch(&mut batch).unwrap());
        assert_eq!(batch.lba, numbers.map(|number| u64::from(number) * 8));
    }
}

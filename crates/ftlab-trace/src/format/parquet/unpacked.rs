//! Pages in Zstandard, for builds without the library in C that the Parquet library calls.

use bytes::Bytes;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::io::Read;

/// Pages that `inner` hands out as they are in the file.
pub(super) struct Unpacked<P> {
    inner: P,
    decoder: FrameDecoder,
    /// What all pages of the column take at most.
    bytes_max: u64,
}

impl<P: PageReader> Unpacked<P> {
    /// Unpacks the pages of a column that takes `column_bytes`.
    pub(super) fn new(inner: P, column_bytes: i64) -> Self {
        let bytes_max = u64::try_from(column_bytes).unwrap_or(0);
        Self { inner, decoder: FrameDecoder::new(), bytes_max }
    }

    /// The first `plain` bytes as they are, and what the others unpack to.
    fn unpack(&mut self, bytes: &Bytes, plain: usize) -> Result<Bytes> {
        let general = |what: String| ParquetError::General(format!("a page in Zstandard: {what}"));
        let (plain, packed) = bytes
            .split_at_checked(plain)
            .ok_or_else(|| general("it ends within its levels".into()))?;
        let mut unpacked = plain.to_vec();
        if packed.is_empty() {
            return Ok(unpacked.into());
        }
        let frame = StreamingDecoder::new_with_decoder(packed, &mut self.decoder)
            .map_err(|error| general(error.to_string()))?;
        let length = frame.take(self.bytes_max + 1).read_to_end(&mut unpacked)?;
        if length as u64 > self.bytes_max {
            return Err(general(format!("it has more than {} bytes", self.bytes_max)));
        }
        Ok(unpacked.into())
    }
}

impl<P: PageReader> PageReader for Unpacked<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(mut page) = self.inner.get_next_page()? else { return Ok(None) };
        match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => {
                *buf = self.unpack(buf, 0)?;
            }
            Page::DataPageV2 {
                buf,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                ..
            } => {
                if std::mem::take(is_compressed) {
                    let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                    *buf = self.unpack(buf, levels)?;
                }
            }
        }
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.inner.skip_next_page()
    }
}

impl<P: PageReader> Iterator for Unpacked<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CreateOptions, Op, RequestBatch, create};
    use parquet::basic::Compression;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::file::serialized_reader::SerializedPageReader;
    use std::fs::File;
    use std::sync::Arc;

    fn bytes(page: &Page) -> &Bytes {
        match page {
            Page::DataPage { buf, .. }
            | Page::DictionaryPage { buf, .. }
            | Page::DataPageV2 { buf, .. } => buf,
        }
    }

    #[test]
    fn pages_are_those_that_the_library_in_c_unpacks() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.parquet");
        let mut sink = create(&path, &CreateOptions::default()).unwrap();
        let mut batch = RequestBatch::new();
        (0..50_000).for_each(|row| batch.push_at(row, Op::Write, row * row % 4096 * 8, 8));
        sink.write(&batch).unwrap();
        sink.finish().unwrap();
        let file = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let group = file.get_row_group(0).unwrap();
        for (index, column) in group.metadata().columns().iter().enumerate() {
            assert!(matches!(column.compression(), Compression::ZSTD(_)));
            let as_it_is = column.clone().into_builder();
            let as_it_is = as_it_is.set_compression(Compression::UNCOMPRESSED).build().unwrap();
            let file = Arc::new(File::open(&path).unwrap());
            let packed = SerializedPageReader::new(file, &as_it_is, 50_000, None).unwrap();
            let ours = Unpacked::new(packed, column.uncompressed_size());
            let theirs = group.get_column_page_reader(index).unwrap();
            let [ours, theirs] = [
                &mut ours.map(Result::unwrap) as &mut dyn Iterator<Item = Page>,
                &mut theirs.map(Result::unwrap),
            ]
            .map(|pages| pages.map(|page| bytes(&page).clone()).collect::<Vec<_>>());
            assert!(!ours.is_empty() && ours == theirs, "column {index}");
        }
    }
}

//! A Parquet file, finished or not, and the pages of its columns.
//!
//! The library reads it by one type, so that its readers are compiled once, and for the types of our columns only.

use super::parts::Recovered;
#[cfg(not(feature = "zstd"))]
use super::unpacked::Unpacked;
use crate::input::RandomAccess;
use bytes::Bytes;
#[cfg(not(feature = "zstd"))]
use parquet::basic::Compression;
use parquet::column::page::PageReader;
use parquet::errors::Result;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use std::io::Read;
use std::sync::Arc;

pub(super) enum FileBytes {
    /// Of one that was finished.
    Whole(RandomAccess),
    /// Of one that was not, with the footer that it lacks.
    Recovered(Recovered),
}

impl Length for FileBytes {
    fn len(&self) -> u64 {
        match self {
            Self::Whole(file) => file.len(),
            Self::Recovered(file) => file.len(),
        }
    }
}

impl ChunkReader for FileBytes {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        match self {
            Self::Whole(file) => file.get_read(start),
            Self::Recovered(file) => Ok(Box::new(file.get_read(start)?)),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        match self {
            Self::Whole(file) => file.get_bytes(start, length),
            Self::Recovered(file) => file.get_bytes(start, length),
        }
    }
}

/// A file whose footer has been read.
pub(super) struct ParquetFile {
    bytes: Arc<FileBytes>,
    metadata: ParquetMetaData,
}

impl ParquetFile {
    /// Reads the footer.
    pub(super) fn open(bytes: FileBytes) -> Result<Self> {
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes)?;
        Ok(Self { bytes: Arc::new(bytes), metadata })
    }

    /// What the footer says.
    pub(super) fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }

    /// The pages of a column of a group of rows.
    pub(super) fn pages(&self, group: usize, column: usize) -> Result<Box<dyn PageReader>> {
        let group = self.metadata.row_group(group);
        let (column, rows) = (group.column(column), usize::try_from(group.num_rows())?);
        let bytes = Arc::clone(&self.bytes);
        #[cfg(not(feature = "zstd"))]
        if let Compression::ZSTD(_) = column.compression() {
            let as_it_is = column.clone().into_builder();
            let as_it_is = as_it_is.set_compression(Compression::UNCOMPRESSED).build()?;
            let packed = SerializedPageReader::new(bytes, &as_it_is, rows, None)?;
            return Ok(Box::new(Unpacked::new(packed, column.uncompressed_size())));
        }
        Ok(Box::new(SerializedPageReader::new(bytes, column, rows, None)?))
    }
}

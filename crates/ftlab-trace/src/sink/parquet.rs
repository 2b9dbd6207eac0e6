//! Writes the native form: Parquet with Zstandard, provenance in its key-value metadata.

use super::spool::Spool;
use super::{CreateOptions, TraceSink, WriterInfo, Written};
use crate::format::parquet::{CUT_PROPERTY, footer_of, part_footer_of};
use crate::{PartialFile, RequestBatch, TraceError, TraceMetadata};
use ftlab_spec::written_by;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

pub(super) const WRITER: WriterInfo = WriterInfo {
    name: "parquet",
    extensions: &["parquet"],
    summary: "the native form; everything is kept",
    create,
};

/// Rows that are held in memory and written together: about 20 MB.
const GROUP_ROWS: usize = 1 << 20;
const ZSTD_LEVEL: i32 = 3;
/// What a file begins with.
const MAGIC_BYTES: usize = 4;
/// More than the footer of a file takes in addition to those of its groups.
#[cfg(target_os = "linux")]
const FOOTER_MARGIN_BYTES: u64 = 1 << 16;

#[expect(clippy::unnecessary_wraps, reason = "the registry's signature")]
fn create(file: PartialFile, options: &CreateOptions) -> Result<Box<dyn TraceSink>, TraceError> {
    Ok(Box::new(ParquetSink {
        file,
        metadata: options.metadata.clone(),
        rows: RequestBatch::with_limit(options.group_rows.unwrap_or(GROUP_ROWS)),
        writer: None,
        whole: Whole::default(),
        groups: Vec::new(),
        annotations: Vec::new(),
    }))
}

struct ParquetSink {
    file: PartialFile,
    metadata: TraceMetadata,
    /// Rows of the present group.
    rows: RequestBatch,
    /// Opened with the first group, because that shows which columns there are.
    writer: Option<SerializedFileWriter<Spool>>,
    whole: Whole,
    /// All groups, once the writer, which then forgets them, is to finish the file.
    groups: Vec<RowGroupMetaData>,
    /// Metadata that was not known when the file was opened.
    annotations: Vec<KeyValue>,
}

/// The part of the file that can be read whatever follows.
#[derive(Debug, Clone, Copy, Default)]
struct Whole {
    groups: usize,
    requests: u64,
    bytes: u64,
    /// Bytes of it that are footers of groups.
    footer_bytes: u64,
}

impl TraceSink for ParquetSink {
    fn write(&mut self, batch: &RequestBatch) -> Result<(), TraceError> {
        self.rows.extend_from(batch);
        if !self.rows.is_full() {
            return Ok(());
        }
        self.write_part().map_err(|error| self.not_written(error))
    }

    fn requests(&self) -> u64 {
        self.whole.requests + self.rows.len() as u64
    }

    fn annotate(&mut self, key: &str, value: String) {
        self.annotations.retain(|pair| pair.key != key);
        self.annotations.push(KeyValue::new(key.to_owned(), value));
    }

    fn finish(mut self: Box<Self>) -> Result<Written, TraceError> {
        let requests = self.requests();
        self.close().map_err(|error| self.not_written(error))?;
        self.file.complete()?;
        Ok(Written { requests, ..Written::default() })
    }
}

impl ParquetSink {
    /// Writes a group, and makes what was written so far readable, should nothing follow.
    fn write_part(&mut self) -> Result<(), ParquetError> {
        self.write_group()?;
        let pairs = self.pairs();
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let Some(group) = writer.flushed_row_groups().last() else { return Ok(()) };
        let footer = part_footer_of(group, pairs)?;
        writer.write_all(&footer)?;
        writer.flush()?;
        self.whole.groups += 1;
        self.whole.requests += self.rows.len() as u64;
        self.whole.bytes = writer.bytes_written() as u64;
        self.whole.footer_bytes += footer.len() as u64;
        self.rows.clear();
        self.reserve();
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => {
                let file = Spool::new(self.file.handle()?);
                none.insert(open_writer(file, &self.rows, &self.metadata)?)
            }
        };
        write_rows(writer, &self.rows)
    }

    /// Completes the content.
    fn close(&mut self) -> Result<(), ParquetError> {
        if !self.rows.is_empty() || self.writer.is_none() {
            self.write_group()?;
        }
        let Some(writer) = &mut self.writer else { return Ok(()) };
        for annotation in &self.annotations {
            writer.append_key_value_metadata(annotation.clone());
        }
        if self.file.keeps_part() {
            self.groups = writer.flushed_row_groups().to_vec();
        }
        writer.finish()?;
        // Gives back what is still set aside.
        let file = self.file.handle()?;
        file.set_len(file.metadata()?.len())?;
        Ok(())
    }

    /// Sets room aside after the whole part, so that a footer fits there when the disk is full.
    fn reserve(&self) {
        #[cfg(target_os = "linux")]
        if let (true, Ok(file)) = (self.file.keeps_part(), self.file.handle()) {
            use rustix::fs::{FallocateFlags, fallocate};
            let bytes = self.whole.footer_bytes + FOOTER_MARGIN_BYTES;
            // Not every file system can; then the small footers have to do.
            let _ = fallocate(&file, FallocateFlags::KEEP_SIZE, self.whole.bytes, bytes);
        }
    }

    /// What the file says of itself.
    fn pairs(&self) -> Vec<KeyValue> {
        let properties = self.writer.as_ref().map(SerializedFileWriter::properties);
        let pairs = properties.and_then(|properties| properties.key_value_metadata().cloned());
        pairs.into_iter().flatten().chain(self.annotations.iter().cloned()).collect()
    }

    /// Ends the file early, and keeps what there is room for, if it is to be kept.
    fn not_written(&mut self, error: ParquetError) -> TraceError {
        let error = io_error(error);
        if !self.file.keeps_part() {
            return self.file.not_written(error, None);
        }
        // Where even that fails, the footers of the groups remain.
        let more = self.cut(&error).unwrap_or_default();
        let requests = self.whole.requests + more;
        let part = format!("the first {requests} requests");
        self.file.not_written(error, (requests > 0).then_some(&part))
    }

    /// Makes a whole file of the groups that are whole, and of as many of the rows as fit; how many.
    fn cut(&mut self, error: &io::Error) -> Result<u64, ParquetError> {
        let mut pairs = self.pairs();
        pairs.push(KeyValue::new(CUT_PROPERTY.to_owned(), error.to_string()));
        let Some(mut writer) = self.writer.take() else { return Ok(0) };
        writer.inner_mut().close();
        let mut groups = std::mem::take(&mut self.groups);
        if groups.is_empty() {
            groups = writer.flushed_row_groups().to_vec();
        }
        groups.truncate(self.whole.groups);
        let file = self.file.handle()?;
        let mut rows = std::mem::take(&mut self.rows);
        loop {
            let end = self.encode_end(&groups, &rows, &pairs)?;
            if file.write_all_at(&end, self.whole.bytes).is_ok() {
                file.set_len(self.whole.bytes + end.len() as u64)?;
                return Ok(rows.len() as u64);
            }
            if rows.is_empty() {
                file.set_len(self.whole.bytes)?;
                return Ok(0);
            }
            rows.truncate(rows.len() / 2);
        }
    }

    /// The bytes that follow the whole part if the file ends with these rows.
    fn encode_end(
        &self,
        groups: &[RowGroupMetaData],
        rows: &RequestBatch,
        pairs: &[KeyValue],
    ) -> Result<Vec<u8>, ParquetError> {
        let (mut end, mut groups) = (Vec::new(), groups.to_vec());
        if !rows.is_empty() {
            let mut writer = open_writer(Spool::in_memory(), rows, &self.metadata)?;
            write_rows(&mut writer, rows)?;
            writer.flush()?;
            // The start of the file is there already, unless this is the first group.
            let from = if self.whole.groups == 0 { 0 } else { MAGIC_BYTES };
            let moved = (self.whole.bytes - from as u64).cast_signed();
            for group in writer.flushed_row_groups() {
                groups.push(moved_by(group, moved, self.whole.groups)?);
            }
            end.extend_from_slice(&writer.inner().held()[from..]);
        }
        if !groups.is_empty() {
            end.extend(footer_of(groups, pairs.to_vec())?);
        }
        Ok(end)
    }
}

/// A group as it is described this many bytes and groups later in the file.
fn moved_by(
    group: &RowGroupMetaData,
    bytes: i64,
    groups: usize,
) -> Result<RowGroupMetaData, ParquetError> {
    let moved = |column: &ColumnChunkMetaData| {
        let dictionary = column.dictionary_page_offset().map(|offset| offset + bytes);
        let data = column.data_page_offset() + bytes;
        let column = column.clone().into_builder().set_data_page_offset(data);
        column.set_dictionary_page_offset(dictionary).build()
    };
    let columns = group.columns().iter().map(moved).collect::<Result<_, _>>()?;
    let mut moved = group.clone().into_builder().set_column_metadata(columns);
    if let Some(offset) = group.file_offset() {
        moved = moved.set_file_offset(offset + bytes);
    }
    if let Ok(ordinal) = i16::try_from(groups) {
        moved = moved.set_ordinal(ordinal);
    }
    moved.build()
}

/// What the system says, if it was the system.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

fn open_writer(
    out: Spool,
    rows: &RequestBatch,
    metadata: &TraceMetadata,
) -> Result<SerializedFileWriter<Spool>, ParquetError> {
    let mut schema = String::from("message requests { ");
    if !rows.time_us.is_empty() {
        schema += "required int64 t_us (integer(64,false)); ";
    }
    schema += "required int32 op (integer(8,false)); required int64 lba (integer(64,false)); \
               required int32 sectors (integer(32,false)); ";
    if !rows.stream.is_empty() {
        schema += "required int32 stream (integer(16,false)); ";
    }
    if !rows.volume.is_empty() {
        schema += "required int32 volume (integer(32,false)); ";
    }
    let schema = Arc::new(parse_message_type(&(schema + "}"))?);
    let mut properties = metadata.properties.clone();
    if let Some(device_bytes) = metadata.device_bytes {
        properties.insert("device_bytes".into(), device_bytes.to_string());
    }
    let pairs = properties.into_iter().map(|(key, value)| KeyValue::new(key, value)).collect();
    // Times rise and addresses repeat: deltas for the one, dictionaries for the rest.
    let time_us = ColumnPath::from("t_us");
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        .set_created_by(written_by())
        .set_key_value_metadata(Some(pairs))
        .set_column_dictionary_enabled(time_us.clone(), false)
        .set_column_encoding(time_us, Encoding::DELTA_BINARY_PACKED)
        .build();
    SerializedFileWriter::new(out, schema, Arc::new(properties))
}

fn write_rows(
    writer: &mut SerializedFileWriter<Spool>,
    rows: &RequestBatch,
) -> Result<(), ParquetError> {
    let mut columns: Vec<Values> = Vec::new();
    let signed = |values: &[u64]| Values::Wide(values.iter().map(|v| v.cast_signed()).collect());
    if !rows.time_us.is_empty() {
        columns.push(signed(&rows.time_us));
    }
    columns.push(Values::Narrow(rows.op.iter().map(|op| *op as i32).collect()));
    columns.push(signed(&rows.lba));
    columns
        .push(Values::Narrow(rows.sectors.iter().map(|sectors| sectors.cast_signed()).collect()));
    if !rows.stream.is_empty() {
        columns.push(Values::Narrow(rows.stream.iter().map(|s| i32::from(*s)).collect()));
    }
    if !rows.volume.is_empty() {
        columns
            .push(Values::Narrow(rows.volume.iter().map(|volume| volume.cast_signed()).collect()));
    }
    let mut group = writer.next_row_group()?;
    for values in columns {
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General("batches differ in their columns".into()));
        };
        match (column.untyped(), &values) {
            (ColumnWriter::Int32ColumnWriter(writer), Values::Narrow(values)) => {
                writer.write_batch(values, None, None)?
            }
            (ColumnWriter::Int64ColumnWriter(writer), Values::Wide(values)) => {
                writer.write_batch(values, None, None)?
            }
            _ => return Err(ParquetError::General("batches differ in their columns".into())),
        };
        column.close()?;
    }
    group.close()?;
    Ok(())
}

enum Values {
    Narrow(Vec<i32>),
    Wide(Vec<i64>),
}

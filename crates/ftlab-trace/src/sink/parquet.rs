//! Writes the native form: Parquet with Zstandard, provenance in its key-value metadata.

use super::{CreateOptions, TraceSink, WriterInfo, Written};
use crate::format::parquet::footer_of;
use crate::{PartialFile, RequestBatch, TraceError, TraceMetadata};
use ftlab_spec::written_by;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::io::BufWriter;
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

#[expect(clippy::unnecessary_wraps, reason = "the registry's signature")]
fn create(file: PartialFile, options: &CreateOptions) -> Result<Box<dyn TraceSink>, TraceError> {
    Ok(Box::new(ParquetSink {
        file,
        metadata: options.metadata.clone(),
        rows: RequestBatch::with_limit(options.group_rows.unwrap_or(GROUP_ROWS)),
        writer: None,
        requests: 0,
        annotations: Vec::new(),
    }))
}

struct ParquetSink {
    file: PartialFile,
    metadata: TraceMetadata,
    /// Rows of the present group.
    rows: RequestBatch,
    /// Opened with the first group, because that shows which columns there are.
    writer: Option<SerializedFileWriter<BufWriter<File>>>,
    requests: u64,
    /// Metadata that was not known when the file was opened.
    annotations: Vec<KeyValue>,
}

impl TraceSink for ParquetSink {
    fn write(&mut self, batch: &RequestBatch) -> Result<(), TraceError> {
        self.rows.extend_from(batch);
        if self.rows.is_full() {
            self.write_group()?;
            self.write_part_footer()?;
        }
        Ok(())
    }

    fn requests(&self) -> u64 {
        self.requests + self.rows.len() as u64
    }

    fn annotate(&mut self, key: &str, value: String) {
        self.annotations.push(KeyValue::new(key.to_owned(), value));
    }

    fn finish(mut self: Box<Self>) -> Result<Written, TraceError> {
        let name = self.file.name().to_owned();
        if !self.rows.is_empty() || self.writer.is_none() {
            self.write_group()?;
        }
        if let Some(mut writer) = self.writer.take() {
            for annotation in self.annotations {
                writer.append_key_value_metadata(annotation);
            }
            writer.close().map_err(|error| cannot_write(&name, &error))?;
        }
        self.file.complete()?;
        Ok(Written { requests: self.requests, ..Written::default() })
    }
}

impl ParquetSink {
    fn write_group(&mut self) -> Result<(), TraceError> {
        let name = self.file.name().to_owned();
        if self.writer.is_none() {
            let file = self.file.handle().map_err(|error| TraceError::io(&name, error))?;
            let writer = open_writer(file, &self.rows, &self.metadata);
            self.writer = Some(writer.map_err(|error| cannot_write(&name, &error))?);
        }
        let writer = self.writer.as_mut().expect("opened above");
        write_rows(writer, &self.rows).map_err(|error| cannot_write(&name, &error))?;
        self.requests += self.rows.len() as u64;
        self.rows.clear();
        Ok(())
    }
}

impl ParquetSink {
    /// Makes what was written so far readable, should the process be killed.
    fn write_part_footer(&mut self) -> Result<(), TraceError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let mut pairs = writer.properties().key_value_metadata().cloned().unwrap_or_default();
        pairs.extend(self.annotations.iter().cloned());
        let footer = writer.flushed_row_groups().last().map(|group| footer_of(group, pairs));
        footer
            .unwrap_or_else(|| Ok(Vec::new()))
            .and_then(|footer| Ok(writer.write_all(&footer)?))
            .and_then(|()| Ok(writer.flush()?))
            .map_err(|error| cannot_write(self.file.name(), &error))
    }
}

fn cannot_write(name: &str, error: &ParquetError) -> TraceError {
    TraceError::io(name, std::io::Error::other(error.to_string()))
}

fn open_writer(
    file: File,
    rows: &RequestBatch,
    metadata: &TraceMetadata,
) -> Result<SerializedFileWriter<BufWriter<File>>, ParquetError> {
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
    let file = BufWriter::with_capacity(1 << 20, file);
    SerializedFileWriter::new(file, schema, Arc::new(properties))
}

fn write_rows(
    writer: &mut SerializedFileWriter<BufWriter<File>>,
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

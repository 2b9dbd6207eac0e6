//! `parquet`: the native form. Columns `t_us` u64 (optional), `op` u8 (0 write, 1 trim, 2 flush,
//! 3 read), `lba` u64 (512-byte sectors), `sectors` u32, and optionally `stream` u16 and `volume`
//! u32, found by name; others are ignored. Key-value metadata of the file becomes
//! [`TraceMetadata::properties`], its `device_bytes` the size of the drive, its `volumes` a JSON list of
//! the names of the volumes by number. A write or read of more than 2 GiB is damage. A file that was not
//! finished is read as far as its groups of rows are whole.

mod footer;
mod parts;

pub(crate) use parts::{CUT_PROPERTY, footer_of, part_footer_of};

use super::FormatInfo;
use crate::caught::caught;
use crate::input::RandomAccess;
use crate::skipped::UNFINISHED;
use crate::{
    DATA_SECTORS_MAX, Input, Op, OpenOptions, RequestBatch, Skipped, TraceError, TraceMetadata,
    TraceSource,
};
use ftlab_spec::{NoParameters, Parameters, Spec};
use parquet::basic::{LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::SchemaDescriptor;
use std::sync::Arc;

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "parquet",
    extensions: &["parquet"],
    summary: "the native form: columns t_us, op, lba, sectors in a Parquet file",
    source: "our own",
    parameters: NoParameters::describe,
    detect: |head| head.starts_with(b"PAR1").into(),
    volumes_together: false,
    open,
};

/// The property with the names of the volumes by number, a JSON list.
pub(crate) const VOLUMES_PROPERTY: &str = "volumes";
/// Metadata that other tools need and people do not.
const HIDDEN_PROPERTIES: &[&str] = &["ARROW:schema", "pandas"];

fn open(
    input: Input,
    spec: &Spec,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    NoParameters::from_spec(spec)?;
    let name = input.name().to_owned();
    guarded(&name.clone(), || open_guarded(name, input, spec, options))
}

/// Runs `work`, in which the parquet library may panic over a damaged file, and makes an error of
/// that. What `work` was changing must not be used after an error.
fn guarded<T>(name: &str, work: impl FnOnce() -> Result<T, TraceError>) -> Result<T, TraceError> {
    caught(work).unwrap_or_else(|panic| Err(TraceError::parquet(name, panic)))
}

fn open_guarded(
    name: String,
    input: Input,
    spec: &Spec,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    let (file, is_recovered) = match input.into_random_access()? {
        RandomAccess::File(file) => open_reader(&name, file)?,
        RandomAccess::Memory(bytes) => open_reader(&name, bytes)?,
    };
    let columns = Columns::find(&name, file.metadata().file_metadata().schema_descr(), options)?;
    let mut metadata = describe(file.as_ref(), spec);
    let cut = metadata.properties.remove(CUT_PROPERTY);
    if metadata.requests == Some(0) {
        let skipped = "the file has no rows".to_owned();
        return Err(TraceError::NoRequests { name, unit: "row", lines: 0, skipped, remedy: None });
    }
    let mut skipped = Skipped::default();
    if is_recovered || cut.is_some() {
        let rows = metadata.requests.unwrap_or_default();
        skipped.add(UNFINISHED, rows + 1, cut.unwrap_or_default().as_bytes());
    }
    Ok(Box::new(ParquetSource {
        name: name.into(),
        file,
        columns,
        volumes: metadata
            .properties
            .get(VOLUMES_PROPERTY)
            .map_or_else(Vec::new, |names| serde_json::from_str(names).unwrap_or_default()),
        metadata,
        next_group: 0,
        group_rows: 0,
        read_rows: 0,
        skipped,
    }))
}

/// Opens a file, and whether it was not finished: then as far as its groups are whole.
fn open_reader(
    name: &str,
    file: impl ChunkReader + 'static,
) -> Result<(Box<dyn FileReader>, bool), TraceError> {
    if !parts::is_unfinished(&file) {
        return Ok((read_footer(name, file)?, false));
    }
    let Some(found) = parts::find(&file) else {
        return Err(TraceError::Damaged {
            name: name.into(),
            what:
                "not a readable Parquet file: it was not finished, and no group of rows in it is \
                   whole"
                    .into(),
            remedy: "nothing can be read of it; record or convert it again".into(),
        });
    };
    let (data_bytes, footer) = found.map_err(|error| TraceError::parquet(name, error))?;
    Ok((read_footer(name, parts::Recovered { file, data_bytes, footer })?, true))
}

fn read_footer(
    name: &str,
    file: impl ChunkReader + 'static,
) -> Result<Box<dyn FileReader>, TraceError> {
    footer::check(&file).map_err(|why| TraceError::parquet(name, why))?;
    let reader = SerializedFileReader::new(file);
    Ok(Box::new(reader.map_err(|error| TraceError::parquet(name, error))?))
}

fn describe(file: &dyn FileReader, spec: &Spec) -> TraceMetadata {
    let file_metadata = file.metadata().file_metadata();
    let pairs = file_metadata.key_value_metadata().into_iter().flatten();
    let properties: std::collections::BTreeMap<_, _> = pairs
        .filter(|pair| !HIDDEN_PROPERTIES.contains(&pair.key.as_str()))
        .filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?)))
        .collect();
    TraceMetadata {
        format: spec.to_string(),
        device_bytes: properties.get("device_bytes").and_then(|text| text.parse().ok()),
        requests: u64::try_from(file_metadata.num_rows()).ok(),
        properties,
    }
}

struct ParquetSource {
    /// Shared, so that guarding a batch costs no allocation.
    name: Arc<str>,
    file: Box<dyn FileReader>,
    columns: Columns,
    /// Names of the volumes, by number.
    volumes: Vec<String>,
    metadata: TraceMetadata,
    next_group: usize,
    /// Rows of the present group that are not read yet.
    group_rows: usize,
    read_rows: u64,
    skipped: Skipped,
}

impl ParquetSource {
    /// Moves to the next group that has rows; `false` after the last.
    fn open_group(&mut self) -> Result<bool, TraceError> {
        while self.group_rows == 0 {
            if self.next_group == self.file.num_row_groups() {
                return Ok(false);
            }
            let damaged = |error| TraceError::parquet(&self.name, error);
            let group = self.file.get_row_group(self.next_group).map_err(damaged)?;
            self.group_rows = usize::try_from(group.metadata().num_rows())
                .map_err(|error| TraceError::parquet(&self.name, error))?;
            for column in self.columns.iter_mut() {
                column.reader = Some(group.get_column_reader(column.index).map_err(damaged)?);
            }
            self.next_group += 1;
        }
        Ok(true)
    }
}

impl TraceSource for ParquetSource {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        let name = Arc::clone(&self.name);
        guarded(&name, || self.fill(batch))
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn volumes(&self) -> &[String] {
        &self.volumes
    }

    fn progress(&self) -> Option<f64> {
        let requests = self.metadata.requests.filter(|requests| *requests > 0)?;
        Some((self.read_rows as f64 / requests as f64).min(1.0))
    }
}

impl ParquetSource {
    fn fill(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        if !self.open_group()? {
            return Ok(false);
        }
        let rows = self.group_rows.min(batch.limit());
        self.columns.read(rows, batch).map_err(|problem| TraceError::Damaged {
            name: self.name.to_string(),
            what: format!("rows from {}: {problem}", self.read_rows),
            remedy: "check that the file is complete and was written in the native form".into(),
        })?;
        self.group_rows -= rows;
        self.read_rows += rows as u64;
        Ok(true)
    }
}

/// The columns that are read; each keeps its scratch memory from batch to batch.
struct Columns {
    time_us: Option<Column>,
    op: Column,
    lba: Column,
    sectors: Column,
    stream: Option<Column>,
    volume: Option<Column>,
}

impl Columns {
    fn find(
        name: &str,
        schema: &SchemaDescriptor,
        options: &OpenOptions,
    ) -> Result<Self, TraceError> {
        let find = |column, physical| Column::find(name, schema, column, physical);
        let need = |column: &'static str, physical| {
            find(column, physical)?.ok_or_else(|| {
                let found: Vec<_> = schema.columns().iter().map(|c| c.name()).collect();
                let what = format!("there is no column {column:?}, only {}", found.join(", "));
                TraceError::Column { name: name.into(), what }
            })
        };
        Ok(Self {
            time_us: if options.need_time { find("t_us", Type::INT64)? } else { None },
            op: need("op", Type::INT32)?,
            lba: need("lba", Type::INT64)?,
            sectors: need("sectors", Type::INT32)?,
            stream: find("stream", Type::INT32)?,
            volume: find("volume", Type::INT32)?,
        })
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Column> {
        let Self { time_us, op, lba, sectors, stream, volume } = self;
        [Some(op), Some(lba), Some(sectors), time_us.as_mut(), stream.as_mut(), volume.as_mut()]
            .into_iter()
            .flatten()
    }

    fn read(&mut self, rows: usize, batch: &mut RequestBatch) -> Result<(), String> {
        let ops = self.op.read32(rows)?;
        // One test for all keeps the common loop free of branches.
        if let Some(code) = ops.iter().find(|code| !(0..4).contains(*code)) {
            return Err(format!("op is {code}, not 0 write, 1 trim, 2 flush or 3 read"));
        }
        batch.op.extend(ops.iter().map(|code| Op::ALL[(code & 3) as usize]));
        batch.lba.extend(self.lba.read64(rows)?.iter().map(|lba| *lba as u64));
        batch.sectors.extend(self.sectors.read32(rows)?.iter().map(|sectors| *sectors as u32));
        if batch.is_overlong_from(0) {
            return Err(format!("a write or read of more than {DATA_SECTORS_MAX} sectors (2 GiB)"));
        }
        if let Some(column) = &mut self.time_us {
            batch.time_us.extend(column.read64(rows)?.iter().map(|time_us| *time_us as u64));
        }
        if let Some(column) = &mut self.stream {
            for stream in column.read32(rows)? {
                let stream = u16::try_from(*stream as u32);
                batch.stream.push(stream.map_err(|_| "stream is above 65535".to_owned())?);
            }
        }
        if let Some(column) = &mut self.volume {
            batch.volume.extend(column.read32(rows)?.iter().map(|volume| *volume as u32));
        }
        Ok(())
    }
}

struct Column {
    name: &'static str,
    index: usize,
    /// Bits of the type may be read as unsigned; else a negative value is an error.
    unsigned: bool,
    reader: Option<ColumnReader>,
    levels: Vec<i16>,
    values32: Vec<i32>,
    values64: Vec<i64>,
}

impl Column {
    fn find(
        file: &str,
        schema: &SchemaDescriptor,
        name: &'static str,
        physical: Type,
    ) -> Result<Option<Self>, TraceError> {
        let Some(index) = schema.columns().iter().position(|column| column.name() == name) else {
            return Ok(None);
        };
        let column = schema.column(index);
        if column.physical_type() != physical || column.max_rep_level() > 0 {
            return Err(TraceError::Column {
                name: file.into(),
                what: format!("column {name:?} is {}, not {physical}", column.physical_type()),
            });
        }
        let unsigned = match column.logical_type_ref() {
            Some(LogicalType::Integer(integer)) => !integer.is_signed,
            _ => format!("{}", column.converted_type()).starts_with("UINT"),
        };
        Ok(Some(Self {
            name,
            index,
            unsigned,
            reader: None,
            levels: Vec::new(),
            values32: Vec::new(),
            values64: Vec::new(),
        }))
    }

    fn read32(&mut self, rows: usize) -> Result<&[i32], String> {
        let Some(ColumnReader::Int32ColumnReader(reader)) = &mut self.reader else {
            return Err(format!("column {} is not INT32", self.name));
        };
        read_exactly::<Int32Type>(self.name, reader, rows, &mut self.levels, &mut self.values32)?;
        if !self.unsigned && self.values32.iter().any(|value| *value < 0) {
            return Err(format!("{} is negative", self.name));
        }
        Ok(&self.values32)
    }

    fn read64(&mut self, rows: usize) -> Result<&[i64], String> {
        let Some(ColumnReader::Int64ColumnReader(reader)) = &mut self.reader else {
            return Err(format!("column {} is not INT64", self.name));
        };
        read_exactly::<Int64Type>(self.name, reader, rows, &mut self.levels, &mut self.values64)?;
        if !self.unsigned && self.values64.iter().any(|value| *value < 0) {
            return Err(format!("{} is negative", self.name));
        }
        Ok(&self.values64)
    }
}

fn read_exactly<T: DataType>(
    name: &str,
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<T::T>,
) -> Result<(), String> {
    values.clear();
    levels.clear();
    let (records, non_null, _) = reader
        .read_records(rows, Some(levels), None, values)
        .map_err(|error| format!("column {name}: {error}"))?;
    if records != rows {
        return Err(format!("column {name} ends {} rows early", rows - records));
    }
    if non_null != rows {
        return Err(format!("column {name} has {} empty values", rows - non_null));
    }
    Ok(())
}

//! `parquet`: the native form. Columns `t_us` u64 (optional), `op` u8 (0 write, 1 trim, 2 flush,
//! 3 read), `lba` u64 (512-byte sectors), `sectors` u32, and optionally `stream` u16 and `volume`
//! u32, found by name; others are ignored. Key-value metadata of the file becomes
//! [`TraceMetadata::properties`], its `device_bytes` the size of the drive, its `volumes` a JSON list of
//! the names of the volumes by number. A write or read of more than 2 GiB is damage. A file that was not
//! finished is read as far as its groups of rows are whole.

mod bytes;
mod file;
mod footer;
mod parts;
#[cfg(any(not(feature = "zstd"), test))]
mod unpacked;

pub(crate) use parts::CUT_PROPERTY;
#[cfg(feature = "write")]
pub(crate) use parts::{footer_of, part_footer_of};

use super::FormatInfo;
use crate::caught::caught;
use crate::skipped::UNFINISHED;
use crate::{
    DATA_SECTORS_MAX, Input, Op, OpenOptions, RequestBatch, Skipped, TraceError, TraceMetadata,
    TraceSource,
};
use file::{FileBytes, ParquetFile};
use ftlab_spec::{NoParameters, Parameters, Spec};
use parquet::basic::LogicalType;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::ParquetMetaData;
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
    let (bytes, is_recovered) = recovered(&name, input)?;
    footer::check(&bytes).map_err(|why| TraceError::parquet(&name, why))?;
    let file = ParquetFile::open(bytes).map_err(|error| TraceError::parquet(&name, error))?;
    let columns = Columns::find(&name, file.metadata().file_metadata().schema_descr(), options)?;
    let mut metadata = describe(file.metadata(), spec);
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

/// The bytes of a file, and whether it was not finished: then as far as its groups are whole.
fn recovered(name: &str, input: Input) -> Result<(FileBytes, bool), TraceError> {
    let file = input.into_random_access()?;
    if !parts::is_unfinished(&file) {
        return Ok((FileBytes::Whole(file), false));
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
    Ok((FileBytes::Recovered(parts::Recovered { file, data_bytes, footer }), true))
}

fn describe(metadata: &ParquetMetaData, spec: &Spec) -> TraceMetadata {
    let file_metadata = metadata.file_metadata();
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
    file: ParquetFile,
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
            let metadata = self.file.metadata();
            if self.next_group == metadata.num_row_groups() {
                return Ok(false);
            }
            self.group_rows = usize::try_from(metadata.row_group(self.next_group).num_rows())
                .map_err(|error| TraceError::parquet(&self.name, error))?;
            self.columns
                .open(&self.file, self.next_group)
                .map_err(|error| TraceError::parquet(&self.name, error))?;
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
    time_us: Option<Column<Int64Type>>,
    op: Column<Int32Type>,
    lba: Column<Int64Type>,
    sectors: Column<Int32Type>,
    stream: Option<Column<Int32Type>>,
    volume: Option<Column<Int32Type>>,
}

impl Columns {
    fn find(
        name: &str,
        schema: &SchemaDescriptor,
        options: &OpenOptions,
    ) -> Result<Self, TraceError> {
        Ok(Self {
            time_us: if options.need_time { Column::find(name, schema, "t_us")? } else { None },
            op: Column::need(name, schema, "op")?,
            lba: Column::need(name, schema, "lba")?,
            sectors: Column::need(name, schema, "sectors")?,
            stream: Column::find(name, schema, "stream")?,
            volume: Column::find(name, schema, "volume")?,
        })
    }

    /// Begins with the rows of the group with this number.
    fn open(&mut self, file: &ParquetFile, group: usize) -> ParquetResult<()> {
        let Self { time_us, op, lba, sectors, stream, volume } = self;
        for column in [Some(op), Some(sectors), stream.as_mut(), volume.as_mut()] {
            column.map(|column| column.open(file, group)).transpose()?;
        }
        for column in [Some(lba), time_us.as_mut()] {
            column.map(|column| column.open(file, group)).transpose()?;
        }
        Ok(())
    }

    fn read(&mut self, rows: usize, batch: &mut RequestBatch) -> Result<(), String> {
        let ops = self.op.read(rows)?;
        // One test for all keeps the common loop free of branches.
        if let Some(code) = ops.iter().find(|code| !(0..4).contains(*code)) {
            return Err(format!("op is {code}, not 0 write, 1 trim, 2 flush or 3 read"));
        }
        batch.op.extend(ops.iter().map(|code| Op::ALL[(code & 3) as usize]));
        batch.lba.extend(self.lba.read(rows)?.iter().map(|lba| *lba as u64));
        batch.sectors.extend(self.sectors.read(rows)?.iter().map(|sectors| *sectors as u32));
        if batch.is_overlong_from(0) {
            return Err(format!("a write or read of more than {DATA_SECTORS_MAX} sectors (2 GiB)"));
        }
        if let Some(column) = &mut self.time_us {
            batch.time_us.extend(column.read(rows)?.iter().map(|time_us| *time_us as u64));
        }
        if let Some(column) = &mut self.stream {
            for stream in column.read(rows)? {
                let stream = u16::try_from(*stream as u32);
                batch.stream.push(stream.map_err(|_| "stream is above 65535".to_owned())?);
            }
        }
        if let Some(column) = &mut self.volume {
            batch.volume.extend(column.read(rows)?.iter().map(|volume| *volume as u32));
        }
        Ok(())
    }
}

struct Column<T: DataType> {
    name: &'static str,
    index: usize,
    /// Bits of the type may be read as unsigned; else a negative value is an error.
    unsigned: bool,
    reader: Option<ColumnReaderImpl<T>>,
    levels: Vec<i16>,
    values: Vec<T::T>,
}

impl<T: DataType> Column<T> {
    /// The column of this name; an error if there is none.
    fn need(file: &str, schema: &SchemaDescriptor, name: &'static str) -> Result<Self, TraceError> {
        Self::find(file, schema, name)?.ok_or_else(|| {
            let found: Vec<_> = schema.columns().iter().map(|c| c.name()).collect();
            let what = format!("there is no column {name:?}, only {}", found.join(", "));
            TraceError::Column { name: file.into(), what }
        })
    }

    fn find(
        file: &str,
        schema: &SchemaDescriptor,
        name: &'static str,
    ) -> Result<Option<Self>, TraceError> {
        let Some(index) = schema.columns().iter().position(|column| column.name() == name) else {
            return Ok(None);
        };
        let column = schema.column(index);
        let physical = T::get_physical_type();
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
        let (levels, values) = (Vec::new(), Vec::new());
        Ok(Some(Self { name, index, unsigned, reader: None, levels, values }))
    }

    fn open(&mut self, file: &ParquetFile, group: usize) -> ParquetResult<()> {
        let description = file.metadata().file_metadata().schema_descr().column(self.index);
        self.reader = Some(ColumnReaderImpl::new(description, file.pages(group, self.index)?));
        Ok(())
    }

    /// The next values, as many as there are rows.
    fn read(&mut self, rows: usize) -> Result<&[T::T], String> {
        let Self { name, reader, levels, values, .. } = self;
        let Some(reader) = reader else { return Err(format!("column {name} is not open")) };
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
        if !self.unsigned && self.values.iter().any(|value| *value < T::T::default()) {
            return Err(format!("{name} is negative"));
        }
        Ok(&self.values)
    }
}

//! Requests from Arrow tables, and into them.
//!
//! A table is held by reference, and its columns are read in place; only the requests of a batch
//! are converted to the form that the engine reads.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, RecordBatch, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, DataType};
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Op, RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource};
use std::sync::Arc;

const KNOWN: &str = "give lpn (page numbers) and optionally pages, or lba and sectors (of 512 bytes), or \
                     offset and size (in bytes, multiples of 512); and optionally op (write, trim, flush, read, or 0 to 3), t_us and stream";

/// A stream of tables.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch, TraceError>> + Send>;

/// The requests of tables, one table after the other.
pub(crate) struct Rows {
    name: String,
    page_bytes: u64,
    batches: Batches,
    present: Option<Columns>,
    /// Rows so far, and their total number if known.
    done: u64,
    all: Option<u64>,
    metadata: TraceMetadata,
    skipped: Skipped,
}

impl Rows {
    pub(crate) fn new(name: &str, page_bytes: u32, batches: Batches, all: Option<u64>) -> Self {
        let metadata =
            TraceMetadata { format: "arrow".into(), requests: all, ..TraceMetadata::default() };
        Self {
            name: name.into(),
            page_bytes: u64::from(page_bytes),
            batches,
            present: None,
            done: 0,
            all,
            metadata,
            skipped: Skipped::default(),
        }
    }

    /// The table that contains the next row, and the number of that row in it.
    fn next(&mut self) -> Result<Option<usize>, TraceError> {
        loop {
            if let Some(columns) = &mut self.present
                && columns.next < columns.rows
            {
                columns.next += 1;
                return Ok(Some(columns.next - 1));
            }
            let Some(batch) = self.batches.next().transpose()? else { return Ok(None) };
            self.present = Some(Columns::new(&self.name, &batch)?);
        }
    }

    fn refuse(&self, reason: &str) -> TraceError {
        TraceError::Refused {
            name: self.name.clone(),
            unit: "row",
            line: self.done + 1,
            reason: reason.into(),
            remedy: "fix the table".into(),
        }
    }

    /// Adds a row of the current table to `batch`.
    fn push(&self, row: usize, batch: &mut RequestBatch) -> Result<(), TraceError> {
        let Some(columns) = &self.present else { return Ok(()) };
        let number = |column: &Numbers, name: &str| {
            let number = column.get(row);
            number.ok_or_else(|| self.refuse(&format!("{name} is negative or missing")))
        };
        let op = columns.op.as_ref().map_or(Some(Op::Write), |op| op.get(row));
        let op =
            op.ok_or_else(|| self.refuse("op is none of write, trim, flush, read (0 to 3)"))?;
        let unit = columns.unit.bytes(self.page_bytes);
        let sectors = |name: &str, units: u64| {
            let bytes = u128::from(units) * u128::from(unit);
            if !bytes.is_multiple_of(u128::from(SECTOR_BYTES)) {
                return Err(self.refuse(&format!(
                    "{name} is {units} bytes, not a multiple of {SECTOR_BYTES}"
                )));
            }
            u64::try_from(bytes)
                .map(|bytes| bytes / SECTOR_BYTES)
                .map_err(|_| self.refuse("an address or length is beyond 2^64 bytes"))
        };
        let (name, length_name) = columns.unit.names();
        let first = sectors(name, number(&columns.first, name)?)?;
        let length = columns.length.as_ref();
        let length = length.map_or(Ok(1), |length| number(length, length_name))?;
        let length = sectors(length_name, length)?;
        let length = u32::try_from(length)
            .map_err(|_| self.refuse("a request is longer than 2^32 sectors"))?;
        if let Some(time_us) = &columns.time_us {
            batch.time_us.push(number(time_us, "t_us")?);
        }
        if let Some(stream) = &columns.stream {
            let stream = u16::try_from(number(stream, "stream")?);
            batch.stream.push(stream.map_err(|_| self.refuse("stream is above 65535"))?);
        }
        batch.push(op, first, length);
        Ok(())
    }
}

impl TraceSource for Rows {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        while !batch.is_full() {
            let Some(row) = self.next()? else { break };
            self.push(row, batch)?;
            self.done += 1;
        }
        Ok(!batch.is_empty())
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn progress(&self) -> Option<f64> {
        self.all.map(|all| self.done as f64 / all.max(1) as f64)
    }
}

/// What addresses and lengths are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Pages,
    Sectors,
    Bytes,
}

impl Unit {
    const ALL: [Self; 3] = [Self::Pages, Self::Sectors, Self::Bytes];

    /// The columns of addresses and lengths.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Pages => ("lpn", "pages"),
            Self::Sectors => ("lba", "sectors"),
            Self::Bytes => ("offset", "size"),
        }
    }

    const fn bytes(self, page_bytes: u64) -> u64 {
        match self {
            Self::Pages => page_bytes,
            Self::Sectors => SECTOR_BYTES,
            Self::Bytes => 1,
        }
    }
}

/// The columns of one table, as references.
struct Columns {
    rows: usize,
    next: usize,
    unit: Unit,
    first: Numbers,
    length: Option<Numbers>,
    op: Option<Ops>,
    time_us: Option<Numbers>,
    stream: Option<Numbers>,
}

impl Columns {
    fn new(table: &str, batch: &RecordBatch) -> Result<Self, TraceError> {
        let wrong = |what: String| TraceError::Unsupported {
            what: format!("{table}: {what}"),
            remedy: KNOWN.into(),
        };
        let numbers = |name: &str| {
            let Some(column) = batch.column_by_name(name) else { return Ok(None) };
            let found = column.data_type();
            let numbers = Numbers::new(column);
            numbers.map(Some).ok_or_else(|| wrong(format!("{name} is {found}, not whole numbers")))
        };
        if batch.column_by_name("volume").is_some() {
            return Err(wrong(
                "there is a column volume: keep one volume and drop the column".into(),
            ));
        }
        let mut found = Vec::new();
        for unit in Unit::ALL {
            found.extend(numbers(unit.names().0)?.map(|first| (unit, first)));
        }
        let (unit, first) = match <[_; 1]>::try_from(found) {
            Ok([found]) => found,
            Err(found) if found.is_empty() => {
                let found = batch.schema();
                let names: Vec<_> =
                    found.fields().iter().map(|field| field.name().as_str()).collect();
                return Err(wrong(format!("the columns are {}", names.join(", "))));
            }
            Err(found) => {
                let names: Vec<_> = found.iter().map(|(unit, _)| unit.names().0).collect();
                return Err(wrong(format!("there is both {}", names.join(" and "))));
            }
        };
        let (name, length_name) = unit.names();
        let length = numbers(length_name)?;
        if length.is_none() && unit != Unit::Pages {
            return Err(wrong(format!("there is {name} without {length_name}")));
        }
        let op = match batch.column_by_name("op") {
            None => None,
            Some(column) => {
                let found = column.data_type();
                let op = Ops::new(column);
                Some(op.ok_or_else(|| wrong(format!("op is {found}, not text or numbers")))?)
            }
        };
        let (time_us, stream) = (numbers("t_us")?, numbers("stream")?);
        let rows = batch.num_rows();
        Ok(Self { rows, next: 0, unit, first, length, op, time_us, stream })
    }
}

/// A column of whole numbers, and how to read one of them.
struct Numbers {
    column: ArrayRef,
    read: fn(&ArrayRef, usize) -> Option<u64>,
}

impl Numbers {
    fn new(column: &ArrayRef) -> Option<Self> {
        macro_rules! read {
            ($type:ty) => {
                |column, row| u64::try_from(column.as_primitive::<$type>().value(row)).ok()
            };
        }
        let read: fn(&ArrayRef, usize) -> Option<u64> = match column.data_type() {
            DataType::UInt8 => read!(UInt8Type),
            DataType::UInt16 => read!(UInt16Type),
            DataType::UInt32 => read!(UInt32Type),
            DataType::UInt64 => read!(UInt64Type),
            DataType::Int8 => read!(Int8Type),
            DataType::Int16 => read!(Int16Type),
            DataType::Int32 => read!(Int32Type),
            DataType::Int64 => read!(Int64Type),
            _ => return None,
        };
        Some(Self { column: Arc::clone(column), read })
    }

    /// The number in a row; none if it is null or negative.
    fn get(&self, row: usize) -> Option<u64> {
        if self.column.is_null(row) { None } else { (self.read)(&self.column, row) }
    }
}

/// A column of operations.
enum Ops {
    Codes(Numbers),
    Names(ArrayRef, fn(&ArrayRef, usize) -> &str),
}

impl Ops {
    fn new(column: &ArrayRef) -> Option<Self> {
        let read: fn(&ArrayRef, usize) -> &str = match column.data_type() {
            DataType::Utf8 => |column, row| column.as_string::<i32>().value(row),
            DataType::LargeUtf8 => |column, row| column.as_string::<i64>().value(row),
            DataType::Utf8View => |column, row| column.as_string_view().value(row),
            _ => return Numbers::new(column).map(Self::Codes),
        };
        Some(Self::Names(Arc::clone(column), read))
    }

    fn get(&self, row: usize) -> Option<Op> {
        match self {
            Self::Codes(codes) => Op::from_code(u8::try_from(codes.get(row)?).ok()?),
            Self::Names(names, _) if names.is_null(row) => None,
            Self::Names(names, read) => {
                let name = read(names, row);
                Op::ALL.into_iter().find(|op| op.name() == name)
            }
        }
    }
}

/// The requests of a batch as a table, with the columns of ftlab's native form.
pub(crate) fn to_table(batch: &RequestBatch) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
    if !batch.time_us.is_empty() {
        columns.push(("t_us", Arc::new(UInt64Array::from(batch.time_us.clone()))));
    }
    let op = UInt8Array::from_iter_values(batch.op.iter().map(|op| *op as u8));
    columns.push(("op", Arc::new(op)));
    columns.push(("lba", Arc::new(UInt64Array::from(batch.lba.clone()))));
    columns.push(("sectors", Arc::new(UInt32Array::from(batch.sectors.clone()))));
    if !batch.stream.is_empty() {
        columns.push(("stream", Arc::new(UInt16Array::from(batch.stream.clone()))));
    }
    if !batch.volume.is_empty() {
        columns.push(("volume", Arc::new(UInt32Array::from(batch.volume.clone()))));
    }
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, false)),
    )
}

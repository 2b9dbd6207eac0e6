//! From a line in columns to a request: the one parser behind `csv` and every preset.

use super::Delimiter;
use super::cut::{Row, TOO_FEW, UNUSED, cut, for_each_field};
use super::map::{ColumnMap, ColumnName, LengthUnit, TimeUnit, VolumeColumns};
use crate::format::fields::{decimal, fixed_point, scaled, sectors_of_bytes, whole};
use crate::format::rwbs;
use crate::input::{ItemParser, Verdict};
use crate::volumes::VolumeNames;
use crate::{Op, RequestBatch};

/// Columns that a line may have before the first that is mapped.
const COLUMNS_MAX: usize = 10_000;

/// Parses lines by a map.
pub(super) struct Rows {
    map: ColumnMap,
    delimiter: Delimiter,
    page_bytes: u64,
    /// Columns of a line at least.
    columns_min: usize,
    /// Known from the first line on.
    columns: Option<Columns>,
    /// Those of a header in a comment, before the first row.
    commented: Option<Columns>,
    volumes: Volumes,
}

/// Places of the mapped columns in a line.
struct Columns {
    /// What is in column i: an index into the slots of [`Row`], or `UNUSED`.
    slots: Vec<u8>,
    /// Columns of a line at most, if there is a header.
    most: Option<usize>,
    time_unit: Option<TimeUnit>,
    /// Bytes per unit.
    offset_unit: u64,
    /// Bytes per unit; a page where no column is mapped.
    length_unit: Option<u64>,
}

#[derive(Default)]
struct Volumes {
    names: VolumeNames,
    /// A name made of two columns.
    joined: Vec<u8>,
}

// The slots of a [`Row`].
const TIME: usize = 0;
const OFFSET: usize = 1;
const LENGTH: usize = 2;
const OP: usize = 3;
const STREAM: usize = 4;
const VOLUME: usize = 5;
const VOLUME_PART: usize = 6;

impl ItemParser for Rows {
    #[inline]
    fn parse(&mut self, line: &[u8], batch: &mut RequestBatch) -> Verdict {
        match line.first() {
            None => return Verdict::Skip("blank line"),
            Some(b'#') => return self.comment(line),
            Some(b' ' | b'\t') if line.trim_ascii().is_empty() => {
                return Verdict::Skip("blank line");
            }
            Some(_) => {}
        }
        if self.columns.is_none()
            && let Some(verdict) = self.read_header(line)
        {
            return verdict;
        }
        let Some(columns) = &self.columns else { return Verdict::Bad(TOO_FEW) };
        match cut(line, self.delimiter, &columns.slots, columns.most) {
            Ok(row) => push(&row, &self.map, columns, self.page_bytes, &mut self.volumes, batch),
            Err(expected) => Verdict::Bad(expected),
        }
    }

    fn volumes(&self) -> &[String] {
        self.volumes.names.as_slice()
    }
}

impl Rows {
    /// A parser of lines with the columns of `map`; without lengths, requests are of a page.
    pub(super) fn new(map: ColumnMap, delimiter: Delimiter, page_bytes: u32) -> Self {
        Self {
            map,
            delimiter,
            page_bytes: u64::from(page_bytes),
            columns_min: 0,
            columns: None,
            commented: None,
            volumes: Volumes::default(),
        }
    }

    /// A line with fewer than `columns` columns is wrong.
    pub(super) fn of_at_least(self, columns: usize) -> Self {
        Self { columns_min: columns, ..self }
    }

    /// A comment, which is the header if it has the names of the map.
    #[cold]
    fn comment(&mut self, line: &[u8]) -> Verdict {
        if self.columns.is_none() && self.map.has_names() {
            let signs = line.iter().take_while(|byte| **byte == b'#').count();
            let text = line[signs..].trim_ascii();
            let delimiter = self.delimiter.or_of(text);
            let header = header_of(text, delimiter);
            if let Ok(mut columns) = self.find_columns(&header) {
                columns.most = Some(header.len());
                self.commented = Some(columns);
                return Verdict::Skip("header");
            }
        }
        Verdict::Skip("comment")
    }

    /// Finds the columns in the first line, which is a header or already a request; `None` if it is a request.
    #[cold]
    fn read_header(&mut self, line: &[u8]) -> Option<Verdict> {
        self.delimiter = self.delimiter.or_of(line);
        if let Some(columns) = self.commented.take() {
            self.columns = Some(columns);
            return None;
        }
        let header = header_of(line, self.delimiter);
        let columns = match self.find_columns(&header) {
            Ok(columns) => columns,
            Err(missing) => {
                let shown: Vec<_> = header.iter().map(|f| String::from_utf8_lossy(f)).collect();
                let shown = shown.join(", ");
                return Some(Verdict::refuse(
                    format!("the map names column {missing:?}, and the header has {shown}"),
                    "correct --map, or name columns by number from 1",
                ));
            }
        };
        let columns = self.columns.insert(columns);
        let is_word = |field: &[u8]| field.first().is_some_and(u8::is_ascii_alphabetic);
        let row = cut(line, self.delimiter, &columns.slots, None);
        let is_header = self.map.has_names() || row.is_ok_and(|row| is_word(row[OFFSET]));
        is_header.then(|| {
            columns.most = Some(header.len());
            Verdict::Skip("header")
        })
    }

    /// Where the mapped columns are; the first that the header does not have.
    fn find_columns(&self, header: &[&[u8]]) -> Result<Columns, String> {
        let map = &self.map;
        let mut slots = vec![UNUSED; self.columns_min];
        let [volume, volume_part] = map.volume_columns();
        let named = [
            (TIME, map.time.as_ref().map(|(column, _)| column)),
            (OFFSET, map.offset.as_ref().map(|(column, _)| column)),
            (LENGTH, map.length.as_ref().map(|(column, _)| column)),
            (OP, map.op.as_ref()),
            (STREAM, map.stream.as_ref()),
            (VOLUME, volume),
            (VOLUME_PART, volume_part),
        ];
        for (slot, column) in named {
            let index = match column {
                None => continue,
                Some(ColumnName::Number(number)) => number - 1,
                Some(ColumnName::Header(name)) => header
                    .iter()
                    .position(|field| *field == name.as_bytes())
                    .ok_or_else(|| name.clone())?,
            };
            if index >= COLUMNS_MAX {
                return Err((index + 1).to_string());
            }
            slots.resize(slots.len().max(index + 1), UNUSED);
            if slots[index] != UNUSED {
                return Err(format!("{} twice", index + 1));
            }
            slots[index] = slot as u8;
        }
        let unit_bytes = |unit: LengthUnit| unit.bytes(self.page_bytes);
        Ok(Columns {
            slots,
            most: None,
            time_unit: map.time.as_ref().map(|(_, unit)| *unit),
            offset_unit: unit_bytes(map.offset.as_ref().map_or(LengthUnit::Bytes, |o| o.1)),
            length_unit: map.length.as_ref().map(|(_, unit)| unit_bytes(*unit)),
        })
    }
}

/// All fields of a line.
fn header_of(line: &[u8], delimiter: Delimiter) -> Vec<&[u8]> {
    let mut header = Vec::new();
    for_each_field(line, delimiter, line.len() + 1, |_, field| header.push(field));
    header
}

/// Adds the request of a line.
#[inline]
fn push(
    row: &Row<'_>,
    map: &ColumnMap,
    columns: &Columns,
    page_bytes: u64,
    volumes: &mut Volumes,
    batch: &mut RequestBatch,
) -> Verdict {
    let meaning = if map.op.is_some() { map.meaning(row[OP]) } else { map.any_word };
    let (flush_first, op) = match meaning {
        Some(Some(op)) => (false, op),
        Some(None) => return Verdict::Skip("operation that the map skips"),
        None => match rwbs::of_word(row[OP]) {
            Some((flush, op)) => (flush && op.is_some(), op.unwrap_or(Op::Flush)),
            None => return Verdict::Bad("an operation; give other words a meaning with op:WORD=W"),
        },
    };
    let time_us = match columns.time_unit.map(|unit| microseconds(row[TIME], unit)) {
        Some(None) => return Verdict::Bad("a time as a number from 0"),
        time_us => time_us.flatten(),
    };
    let extent = if op == Op::Flush { Ok((0, 0)) } else { extent(row, columns, page_bytes, op) };
    let (lba, sectors) = match extent {
        Ok(extent) => extent,
        Err(expected) => return Verdict::Bad(expected),
    };
    if map.stream.is_some() {
        let Some(stream) = decimal(row[STREAM]).and_then(|stream| u16::try_from(stream).ok())
        else {
            return Verdict::Bad("a stream in 0..=65535");
        };
        batch.stream.push(stream);
    }
    if let Some(columns) = &map.volume {
        let Some(volume) = volume(row, columns, volumes) else {
            batch.stream.truncate(batch.len());
            return Verdict::Bad("a volume below 2^32");
        };
        batch.volume.push(volume);
    }
    if flush_first {
        push_flush_before(batch, time_us);
    }
    batch.push(op, lba, sectors);
    batch.time_us.extend(time_us);
    Verdict::Parsed
}

/// Adds the flush that comes before a request, whose stream and volume are there already.
#[cold]
fn push_flush_before(batch: &mut RequestBatch, time_us: Option<u64>) {
    batch.stream.extend(batch.stream.last().copied());
    batch.volume.extend(batch.volume.last().copied());
    batch.push(Op::Flush, 0, 0);
    batch.time_us.extend(time_us);
}

#[inline]
fn extent(
    row: &Row<'_>,
    columns: &Columns,
    page_bytes: u64,
    op: Op,
) -> Result<(u64, u32), &'static str> {
    let offset = whole(row[OFFSET]).ok_or("a whole number as offset")?;
    let offset = offset.checked_mul(columns.offset_unit).ok_or("an offset below 2^64 bytes")?;
    let bytes = match columns.length_unit {
        None => page_bytes,
        Some(unit) => whole(row[LENGTH])
            .ok_or("a whole number as length")?
            .checked_mul(unit)
            .ok_or("a length below 2 TiB")?,
    };
    sectors_of_bytes(offset, bytes, op != Op::Trim)
        .ok_or("an end below 2^64 bytes and a length below 2 TiB")
}

#[inline]
fn volume(row: &Row<'_>, columns: &VolumeColumns, volumes: &mut Volumes) -> Option<u32> {
    match columns {
        VolumeColumns::Number(_) => u32::try_from(whole(row[VOLUME])?).ok(),
        VolumeColumns::Name(_, None) => Some(volumes.names.number(row[VOLUME])),
        VolumeColumns::Name(_, Some(_)) => {
            volumes.joined.clear();
            volumes.joined.extend_from_slice(row[VOLUME]);
            volumes.joined.push(b'_');
            volumes.joined.extend_from_slice(row[VOLUME_PART]);
            Some(volumes.names.number(&volumes.joined))
        }
    }
}

#[inline]
fn microseconds(text: &[u8], unit: TimeUnit) -> Option<u64> {
    // Most times are whole numbers of their unit.
    let fixed =
        |digits: i32| fixed_point(text, digits as usize).or_else(|| scaled(text, digits, false));
    let whole = |text: &[u8]| decimal(text).or_else(|| fixed(0));
    match unit {
        TimeUnit::Seconds => fixed(6),
        TimeUnit::Milliseconds => fixed(3),
        TimeUnit::Microseconds => whole(text),
        TimeUnit::HundredNanoseconds => Some(whole(text)? / 10),
        TimeUnit::Nanoseconds => Some(whole(text)? / 1000),
    }
}

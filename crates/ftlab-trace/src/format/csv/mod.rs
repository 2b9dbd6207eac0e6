//! `csv`: one request per line, in columns that a map names.
//!
//! ```text
//! --map "ts:us=5,op=2,off:bytes=3,len:bytes=4"       17,W,81920,4096,1577900000000321
//! --map "ts:s=1,off:sectors=2,len:sectors=3,op=4,op:0=R,op:1=W"   1538350007,204800,16,1,1063
//! --map "off:pages=lpn,op:*=W"                       lpn
//!                                                    4711
//! ```
//!
//! # The map
//! Entries `FIELD:UNIT=COLUMN`, separated by commas (or semicolons, so that a map can stand in
//! `--format csv:map=...`). COLUMN is a number from 1 or a name of the header.
//!
//! | FIELD | UNIT, the first is usual | meaning |
//! |---|---|---|
//! | `off` | `bytes` `sectors` `pages` `KiB` | where the request begins; required |
//! | `len` | `bytes` `sectors` `pages` `KiB` | its length; one page where it is not named |
//! | `op` | | the operation, a word |
//! | `ts` | `us` `s` `ms` `ns` `100ns` | the time; fractions are read, cut to microseconds |
//! | `stream`, `volume` | | numbers that are kept with the request |
//!
//! Known words, in any case: `w write`, `r read`, `t d trim discard unmap`, `f flush sync`. Others
//! need a meaning: `op:WORD=W`, `R`, `T`, `F` or `skip`, and `op:*=W` gives all others one; `op:=skip`
//! passes over lines without one. 0 and 1 mean opposite things in different formats and are
//! never guessed. A map needs `op` or `op:*`.
//!
//! # The file
//! The delimiter is the first of tab, semicolon, comma that the first line has, else blanks. The
//! first line is a header if the map uses names, or if it has a word where the offset should be.
//! Fields may be quoted with `"`; blanks around them and lines that begin with `#` are ignored. A
//! write or read that is not made of whole sectors counts for every sector it touches, a trim for
//! those it covers. A file with the header `t_us,op,lba,sectors` or `op,lba,sectors`, as our own
//! writer makes it, needs no map.

mod cut;
mod map;

pub use map::ColumnMap;

use super::FormatInfo;
use super::fields::{decimal, fixed_point, sectors_of_bytes};
use crate::input::{LineParser, LineSource, Verdict};
use crate::quantity::Bytes;
use crate::{Input, Op, OpenOptions, RequestBatch, TraceError, TraceSource, pages};
use cut::{Row, UNUSED, cut, for_each_field};
use ftlab_spec::{Parameters, Spec, SpecError, Value};
use map::{ColumnName, LengthUnit, TimeUnit};

ftlab_spec::choices! {
    /// What stands between two fields.
    pub enum Delimiter {
        /// What the first line has.
        Auto = "auto",
        /// A comma.
        Comma = "comma",
        /// A semicolon.
        Semicolon = "semicolon",
        /// A tab.
        Tab = "tab",
        /// One or more blanks.
        Blank = "blank",
    }
}

ftlab_spec::parameters! {
    /// What the columns mean.
    pub struct CsvParameters {
        /// The columns; must be given unless the file has our own header.
        map: ColumnMap = ColumnMap::default(), "map", from "the user knows the file";
        /// What stands between two fields.
        delimiter: Delimiter = Delimiter::Auto, "delimiter", from "our reading";
        /// Bytes per page for `pages` and missing lengths; 0 takes the page size of the run.
        page: Bytes = Bytes(0), "page", from "our reading";
    }
}

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "csv",
    extensions: &[],
    summary: "one request per line in columns that --map names",
    source: "any tool",
    parameters: CsvParameters::describe,
    detect: |head| own_map(head).is_some(),
    open,
};

/// Headers that our own writer makes, and their maps.
pub(crate) const OWN_HEADERS: [(&str, &str); 2] = [
    ("t_us,op,lba,sectors", "ts:us=t_us;op=op;off:sectors=lba;len:sectors=sectors"),
    ("op,lba,sectors", "op=op;off:sectors=lba;len:sectors=sectors"),
];

fn own_map(head: &[u8]) -> Option<&'static str> {
    let first_line = head.split(|byte| *byte == b'\n').next()?.trim_ascii_end();
    OWN_HEADERS.iter().find(|(header, _)| header.as_bytes() == first_line).map(|(_, map)| *map)
}

fn open(
    input: Input,
    spec: &Spec,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    let mut spec = spec.clone();
    if spec.get("map").is_none() {
        let Some(map) = own_map(input.head()) else {
            return Err(SpecError::BadValue {
                of: "csv".into(),
                key: "map".into(),
                value: String::new(),
                expects: ColumnMap::expects(),
            }
            .into());
        };
        spec.arguments.push(("map".into(), map.into()));
    }
    let CsvParameters { map, delimiter, page } = CsvParameters::from_spec(&spec)?;
    let page_bytes = match page.0 {
        0 => options.page_bytes,
        bytes => u32::try_from(bytes).map_err(|_| TraceError::PageSize { page_bytes: bytes })?,
    };
    pages::page_sectors(page_bytes)?;
    let page_bytes = u64::from(page_bytes);
    let parser = Parser { map, delimiter, page_bytes, columns: None };
    Ok(Box::new(LineSource::new(input, parser, spec.to_string(), options)))
}

struct Parser {
    map: ColumnMap,
    delimiter: Delimiter,
    page_bytes: u64,
    /// Known from the first line on.
    columns: Option<Columns>,
}

/// Places of the mapped columns in a line.
#[derive(Clone)]
struct Columns {
    /// What is in column i: an index into the slots of [`Row`], or `UNUSED`.
    slots: Vec<u8>,
    time_unit: TimeUnit,
    /// Bytes per unit.
    offset_unit: u64,
    length_unit: u64,
}

// The slots of a [`Row`].
const TIME: usize = 0;
const OFFSET: usize = 1;
const LENGTH: usize = 2;
const OP: usize = 3;
const STREAM: usize = 4;
const VOLUME: usize = 5;

impl LineParser for Parser {
    #[inline]
    fn parse(&mut self, line: &[u8], batch: &mut RequestBatch) -> Verdict {
        if line.trim_ascii().is_empty() {
            return Verdict::Skip("blank line");
        }
        if line.starts_with(b"#") {
            return Verdict::Skip("comment");
        }
        match &self.columns {
            Some(columns) => {
                let row = cut(line, self.delimiter, &columns.slots);
                self.push(&row, columns, batch)
            }
            None => self.first_line(line, batch),
        }
    }
}

impl Parser {
    /// Finds the columns; the first line is a header or already a request.
    #[cold]
    fn first_line(&mut self, line: &[u8], batch: &mut RequestBatch) -> Verdict {
        if self.delimiter == Delimiter::Auto {
            self.delimiter =
                [(b'\t', Delimiter::Tab), (b';', Delimiter::Semicolon), (b',', Delimiter::Comma)]
                    .into_iter()
                    .find(|(byte, _)| line.contains(byte))
                    .map_or(Delimiter::Blank, |(_, delimiter)| delimiter);
        }
        let mut header = Vec::new();
        for_each_field(line, self.delimiter, line.len() + 1, |_, field| header.push(field));
        let columns = match self.find_columns(&header) {
            Ok(columns) => columns,
            Err(missing) => {
                let shown: Vec<_> = header.iter().map(|f| String::from_utf8_lossy(f)).collect();
                return Verdict::Refuse {
                    reason: format!(
                        "the map names column {missing:?}, and the header has {}",
                        shown.join(", ")
                    ),
                    remedy: "correct --map, or name columns by number from 1".into(),
                };
            }
        };
        let row = cut(line, self.delimiter, &columns.slots);
        let named = self.map.columns().any(|column| matches!(column, ColumnName::Header(_)));
        let is_word = |field: &[u8]| field.first().is_some_and(u8::is_ascii_alphabetic);
        let verdict = if named || row[OFFSET].is_some_and(is_word) {
            Verdict::Skip("header")
        } else {
            self.push(&row, &columns, batch)
        };
        self.columns = Some(columns);
        verdict
    }

    /// Where the mapped columns are; the first that the header does not have.
    fn find_columns(&self, header: &[&[u8]]) -> Result<Columns, String> {
        let map = &self.map;
        let mut slots = Vec::new();
        let named = [
            (TIME, map.time.as_ref().map(|(column, _)| column)),
            (OFFSET, map.offset.as_ref().map(|(column, _)| column)),
            (LENGTH, map.length.as_ref().map(|(column, _)| column)),
            (OP, map.op.as_ref()),
            (STREAM, map.stream.as_ref()),
            (VOLUME, map.volume.as_ref()),
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
            if index > 10_000 {
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
            time_unit: map.time.as_ref().map_or(TimeUnit::Microseconds, |(_, unit)| *unit),
            offset_unit: unit_bytes(map.offset.as_ref().map_or(LengthUnit::Bytes, |o| o.1)),
            length_unit: unit_bytes(map.length.as_ref().map_or(LengthUnit::Bytes, |l| l.1)),
        })
    }

    /// Adds the request of a line.
    #[inline]
    fn push(&self, row: &Row<'_>, columns: &Columns, batch: &mut RequestBatch) -> Verdict {
        let meaning = match (&self.map.op, row[OP]) {
            (None, _) => self.map.any_word,
            (Some(_), Some(word)) => self.map.meaning(word),
            (Some(_), None) => return Verdict::Bad("as many columns as the map names"),
        };
        let op = match meaning {
            Some(Some(op)) => op,
            Some(None) => return Verdict::Skip("operation that the map skips"),
            None => return Verdict::Bad("an operation; give other words a meaning with op:WORD=W"),
        };
        let time_us = match row[TIME].map(|time| microseconds(time, columns.time_unit)) {
            Some(None) => return Verdict::Bad("a time as a number from 0"),
            Some(Some(time_us)) => Some(time_us),
            None if self.map.time.is_some() => {
                return Verdict::Bad("as many columns as the map names");
            }
            None => None,
        };
        let extent = if op == Op::Flush { Ok((0, 0)) } else { self.extent(row, columns, op) };
        let numbers =
            (small(row[STREAM], u64::from(u16::MAX)), small(row[VOLUME], u32::MAX.into()));
        let ((lba, sectors), (stream, volume)) = match (extent, numbers) {
            (Err(expected), _) => return Verdict::Bad(expected),
            (Ok(extent), (Some(stream), Some(volume))) => (extent, (stream, volume)),
            _ => return Verdict::Bad("a stream in 0..=65535 and a volume below 2^32"),
        };
        batch.push(op, lba, sectors);
        batch.time_us.extend(time_us);
        if self.map.stream.is_some() {
            batch.stream.push(stream as u16);
        }
        if self.map.volume.is_some() {
            batch.volume.push(volume as u32);
        }
        Verdict::Parsed
    }

    #[inline]
    fn extent(&self, row: &Row<'_>, columns: &Columns, op: Op) -> Result<(u64, u32), &'static str> {
        let offset = row[OFFSET].and_then(decimal).ok_or("a whole number as offset")?;
        let offset = offset.checked_mul(columns.offset_unit).ok_or("an offset below 2^64 bytes")?;
        let bytes = match (&self.map.length, row[LENGTH]) {
            (None, _) => self.page_bytes,
            (Some(_), length) => length
                .and_then(decimal)
                .ok_or("a whole number as length")?
                .checked_mul(columns.length_unit)
                .ok_or("a length below 2 TiB")?,
        };
        sectors_of_bytes(offset, bytes, op != Op::Trim)
            .ok_or("an end below 2^64 bytes and a length below 2 TiB")
    }
}

/// A number up to `max`; 0 where the column is not mapped or the line ends before it.
fn small(field: Option<&[u8]>, max: u64) -> Option<u64> {
    field.map_or(Some(0), |field| decimal(field).filter(|number| *number <= max))
}

#[inline]
fn microseconds(text: &[u8], unit: TimeUnit) -> Option<u64> {
    match unit {
        TimeUnit::Seconds => fixed_point(text, 6),
        TimeUnit::Milliseconds => fixed_point(text, 3),
        TimeUnit::Microseconds => fixed_point(text, 0),
        TimeUnit::HundredNanoseconds => Some(fixed_point(text, 0)? / 10),
        TimeUnit::Nanoseconds => Some(fixed_point(text, 0)? / 1000),
    }
}

#[cfg(test)]
mod tests;

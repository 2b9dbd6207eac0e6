//! Traces of caches as text.
//!
//! # Columns and units
//! `meta` (2022 and 2024): columns by the names of the header; `key`, `op` and `size` must be there, `key_size` and
//! `op_count` may be. Sizes in bytes; a get whose `size` is 0 was a miss. Operations: GET and GET_LEASE, SET and
//! SET_LEASE, DELETE; each is asked `op_count` times.
//!
//! `twitter`: time, key, bytes of key, bytes of value, client, operation, TTL, without a header. Operations: get and gets;
//! set, add, replace, cas, append, prepend, incr and decr; delete.
//!
//! # Traps
//! Keys of `twitter` may have commas in them. What one of its `append` makes of an object is not in the trace: it is
//! taken for a set with the size that the line gives.

use super::columns::{DELETE, GET, SET, push};
use ftlab_trace::format::decimal;
use ftlab_trace::{ItemParser, RequestBatch, Verdict};
use twox_hash::XxHash64;

/// Columns of a Meta trace at most; those of 2024 have 10.
const FIELDS_MAX: usize = 32;

/// Where the columns of a Meta trace are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    key: usize,
    op: usize,
    size: usize,
    key_size: Option<usize>,
    op_count: Option<usize>,
    all: usize,
}

impl Columns {
    /// Those of a header, if it is one.
    pub(super) fn of(header: &[u8]) -> Option<Self> {
        let header = header.strip_suffix(b"\r").unwrap_or(header);
        let names: Vec<&[u8]> = header.split(|byte| *byte == b',').collect();
        if names.len() > FIELDS_MAX {
            return None;
        }
        let place = |name: &str| names.iter().position(|other| *other == name.as_bytes());
        Some(Self {
            key: place("key")?,
            op: place("op")?,
            size: place("size")?,
            key_size: place("key_size"),
            op_count: place("op_count"),
            all: names.len(),
        })
    }
}

/// Lines of Meta's traces; the columns, once the header has been read.
#[derive(Default)]
pub(super) struct Meta {
    columns: Option<Columns>,
}

impl ItemParser for Meta {
    fn parse(&mut self, line: &[u8], batch: &mut RequestBatch) -> Verdict {
        let Some(columns) = self.columns else {
            self.columns = Columns::of(line);
            return match self.columns {
                Some(_) => Verdict::Skip("header"),
                None => Verdict::Bad("a header with the columns key, op and size"),
            };
        };
        let mut fields = [&b""[..]; FIELDS_MAX];
        let mut count = 0;
        for (place, field) in fields.iter_mut().zip(line.split(|byte| *byte == b',')) {
            *place = field;
            count += 1;
        }
        if count < columns.all {
            return Verdict::Bad("as many fields as the header has");
        }
        let ask = match fields[columns.op] {
            b"GET" | b"GET_LEASE" => GET,
            b"SET" | b"SET_LEASE" => SET,
            b"DELETE" => DELETE,
            // Where files were joined.
            b"op" if Columns::of(line).is_some() => return Verdict::Skip("header"),
            _ => return Verdict::Bad("GET, GET_LEASE, SET, SET_LEASE or DELETE as op"),
        };
        let number = |column: Option<usize>, otherwise: u64| {
            column.map_or(Some(otherwise), |column| decimal(fields[column]))
        };
        let numbers = (
            number(Some(columns.size), 0),
            number(columns.key_size, 0),
            number(columns.op_count, 1),
        );
        let (Some(size), Some(key_size), Some(times)) = numbers else {
            return Verdict::Bad("whole numbers as size, key_size and op_count");
        };
        if times == 0 {
            return Verdict::Skip("op_count 0");
        }
        request(batch, fields[columns.key], key_size, size, ask, times)
    }
}

/// Adds a request for the object with this key.
fn request(
    batch: &mut RequestBatch,
    key: &[u8],
    key_size: u64,
    size: u64,
    ask: u16,
    times: u64,
) -> Verdict {
    let is_known = ask == SET || size > 0;
    let bytes = if is_known { key_size.saturating_add(size).max(1) } else { 0 };
    let (Ok(bytes), Ok(times)) = (u32::try_from(bytes), u32::try_from(times)) else {
        return Verdict::Bad("an object and a number of requests below 2^32");
    };
    push(batch, XxHash64::oneshot(0, key), bytes, ask, times);
    Verdict::Parsed
}

/// Key, bytes of key and value, and what is asked, of a line of a Twitter trace.
pub(super) fn twitter(line: &[u8]) -> Option<(&[u8], u64, u64, u16)> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let start = line.iter().position(|byte| *byte == b',')? + 1;
    decimal(&line[..start - 1])?;
    let mut fields = line[start..].rsplitn(6, |byte| *byte == b',');
    let _ttl = fields.next()?;
    let ask = match fields.next()? {
        b"get" | b"gets" => GET,
        b"set" | b"add" | b"replace" | b"cas" | b"append" | b"prepend" | b"incr" | b"decr" => SET,
        b"delete" => DELETE,
        _ => return None,
    };
    let _client = fields.next()?;
    let value_size = decimal(fields.next()?)?;
    let key_size = decimal(fields.next()?)?;
    Some((fields.next()?, key_size, value_size, ask))
}

pub(super) struct Twitter;

impl ItemParser for Twitter {
    fn parse(&mut self, line: &[u8], batch: &mut RequestBatch) -> Verdict {
        match twitter(line) {
            Some((key, key_size, size, ask)) => request(batch, key, key_size, size, ask, 1),
            None => Verdict::Bad("time,key,key size,value size,client,operation,TTL"),
        }
    }
}

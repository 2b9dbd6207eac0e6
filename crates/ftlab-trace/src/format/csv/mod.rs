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
//! | `stream` | | a number that is kept with the request |
//! | `volume` | | the volume's number; `volume:name=2+3` for a name, in one column or two |
//!
//! Known words, in any case: `w write`, `r read`, `t d trim discard unmap`, `f flush sync`. Others
//! need a meaning: `op:WORD=W`, `R`, `T`, `F` or `skip`, and `op:*=W` gives all others one; `op:=skip`
//! passes over lines without one. Where the map gives them none, words that the kernel writes mean what it means:
//! `WS` is a write, `RA` a read, `FWFS` a flush and a write (see [`blkparse`](super::blkparse)). 0 and 1 mean opposite things in different formats and are
//! never guessed. A map needs `op` or `op:*`.
//!
//! # The file
//! The delimiter is the first of tab, semicolon, comma, `|` that the first line has, else blanks. The
//! first line is a header if the map uses names, or if it has a word where the offset should be; with names, a
//! line that begins with `#` and has them is one, too.
//! Fields may be quoted with `"`; blanks around them and other lines that begin with `#` are ignored. Numbers may be
//! hexadecimal (`0x1000`), and have a fraction or an exponent, if what they count is whole (`4096.0`). A
//! write or read that is not made of whole sectors counts for every sector it touches, a trim for
//! those it covers. A file with the header `t_us,op,lba,sectors` or `op,lba,sectors`, as our own
//! writer makes it, needs no map.

pub mod alibaba;
mod cut;
mod delimiter;
pub mod disksim;
mod map;
pub mod mqsim;
pub mod msr;
mod preset;
mod proposal;
mod rows;
pub mod spc;
pub mod systor;
pub mod tencent;

pub use delimiter::Delimiter;
pub use map::ColumnMap;
pub(crate) use map::LengthUnit;
pub(super) use proposal::propose;

use super::FormatInfo;
use crate::input::LineSource;
use crate::quantity::Bytes;
use crate::{Input, OpenOptions, TraceError, TraceSource, pages};
use ftlab_spec::{Parameters, Spec, SpecError, Value};
use rows::Rows;

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
    detect: |head| own_map(head).is_some().into(),
    volumes_together: false,
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
    let rows = Rows::new(map, delimiter, page_bytes);
    Ok(Box::new(LineSource::new(input, rows, spec.to_string(), options)))
}

#[cfg(test)]
mod tests;

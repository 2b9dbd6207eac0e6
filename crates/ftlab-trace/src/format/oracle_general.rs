//! `oracle-general`: the binary traces of libCacheSim, which say what is asked for and not whether it
//! is read or written.
//!
//! Little-endian records of 24 bytes without a header: ts u32 in seconds, object u64, size u32 in
//! bytes, next i64 (when the object comes again), which is not read.
//!
//! # Columns and units
//! An object of a block trace is a block: its number counts pages, unless `object` names another unit
//! of addresses. `object=place` is for objects that are not addresses but names (hashes): each gets a
//! place of its own, in order of first mention; one that grows gets a new place, and its old one is
//! trimmed.
//!
//! # Where
//! The libCacheSim project (github.com/1a1a11a/libCacheSim) lists many public traces in this form.
//!
//! # Traps
//! - There are no operations: `--assume-write` says that every request is a write, and nothing is read
//!   without it.
//! - Objects of conversions may be sectors. Where each begins at the sector after the one before, that is seen, and they
//!   are not taken for pages: `object=sectors`.
//! - Nothing in the file shows its format, so that `--format` or the ending `.oracleGeneral` must.

use super::csv::LengthUnit;
use super::fields::sectors_of_bytes;
use super::{FormatInfo, Looks};
use crate::input::{ItemParser, RecordSource, Verdict};
use crate::pages::SECTOR_BYTES;
use crate::{Input, Op, OpenOptions, RequestBatch, TraceError, TraceSource};
use ftlab_spec::{Parameters, Spec};
use rustc_hash::FxHashMap;

const RECORD_BYTES: usize = 24;

ftlab_spec::choices! {
    /// What the number of an object is.
    pub enum Object {
        /// The number of a page.
        Pages = "pages",
        /// A sector of 512 bytes.
        Sectors = "sectors",
        /// A byte.
        Bytes = "bytes",
        /// A name: the object gets a place of its own.
        Place = "place",
    }
}

ftlab_spec::parameters! {
    /// How objects become writes.
    pub struct OracleGeneralParameters {
        /// Takes every request for a write; nothing is read without it.
        assume_write: bool = false, "assume-write", from "the format has no operations";
        /// What the number of an object is.
        object: Object = Object::Pages, "object", from "our reading: objects of block traces are blocks";
    }
}

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "oracle-general",
    extensions: &["oracleGeneral"],
    summary: "libCacheSim's oracleGeneral: binary, without operations (--assume-write)",
    source: "libCacheSim, traceReader/customizedReader/oracle",
    parameters: OracleGeneralParameters::describe,
    detect: |_| Looks::Unlike,
    volumes_together: false,
    open,
};

fn open(
    input: Input,
    spec: &Spec,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    let OracleGeneralParameters { assume_write, object } = Parameters::from_spec(spec)?;
    if !assume_write {
        return Err(TraceError::Unsupported {
            what: format!(
                "{}: the format does not say what is read and what is written",
                input.name()
            ),
            remedy: "add --assume-write to take every request for a write".into(),
        });
    }
    let page_bytes = u64::from(options.page_bytes);
    if spec.get("object").is_none() && counts_sectors(input.head(), page_bytes) {
        return Err(TraceError::Unsupported {
            what: format!(
                "{}: its objects follow one another as sectors of {SECTOR_BYTES} bytes do, and would be taken for pages of {page_bytes}",
                input.name()
            ),
            remedy: "add --format oracle-general:object=sectors, or object=pages if their numbers do count pages"
                .into(),
        });
    }
    let unit_bytes = match object {
        Object::Pages => Some(LengthUnit::Pages.bytes(page_bytes)),
        Object::Sectors => Some(LengthUnit::Sectors.bytes(page_bytes)),
        Object::Bytes => Some(1),
        Object::Place => None,
    };
    let parser = Parser { unit_bytes, page_bytes, places: FxHashMap::default(), end_bytes: 0 };
    Ok(Box::new(RecordSource::new(input, RECORD_BYTES, parser, spec.to_string(), options)))
}

/// Whether the numbers of objects count sectors: where one ends the next begins, as it would not if they counted pages.
fn counts_sectors(head: &[u8], page_bytes: u64) -> bool {
    /// Of a hundred steps from one object to the next, those from its end at least.
    const SHARE: u64 = 1;
    let objects = head.chunks_exact(RECORD_BYTES).map(|record| {
        let fields = Fields::of(record);
        (u128::from(fields.object), u128::from(fields.bytes))
    });
    let objects: Vec<_> = objects.collect();
    let steps = |unit: u64| {
        let unit = u128::from(unit);
        let follows = |pair: &&[(u128, u128)]| {
            pair[0].1 > 0 && pair[0].0 * unit + pair[0].1 == pair[1].0 * unit
        };
        objects.windows(2).filter(follows).count() as u64
    };
    let by_sectors = steps(SECTOR_BYTES);
    page_bytes > SECTOR_BYTES
        && by_sectors > 0
        && 100 * by_sectors >= SHARE * objects.len() as u64
        && steps(page_bytes) == 0
}

/// The fields of a record that are read.
struct Fields {
    seconds: u32,
    object: u64,
    bytes: u32,
}

impl Fields {
    #[inline]
    fn of(record: &[u8]) -> Self {
        let u32_at = |at: usize| {
            u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
        };
        let object = u64::from(u32_at(4)) | u64::from(u32_at(8)) << 32;
        Self { seconds: u32_at(0), object, bytes: u32_at(12) }
    }
}

struct Parser {
    /// Bytes per unit of the numbers of objects; `None` for names.
    unit_bytes: Option<u64>,
    page_bytes: u64,
    /// Offset and size of every object with a place of its own.
    places: FxHashMap<u64, (u64, u32)>,
    /// Behind the last place.
    end_bytes: u64,
}

impl ItemParser for Parser {
    #[inline]
    fn parse(&mut self, record: &[u8], batch: &mut RequestBatch) -> Verdict {
        let Fields { seconds, object, bytes } = Fields::of(record);
        let time_us = u64::from(seconds) * 1_000_000;
        let (offset, left) = match self.unit_bytes {
            Some(unit) => (object.checked_mul(unit), None),
            None => self.place(object, bytes),
        };
        let extent = offset.and_then(|offset| sectors_of_bytes(offset, bytes.into(), true));
        let Some((lba, sectors)) = extent else {
            return Verdict::Bad("an object below 2^64 bytes; object=place is for names");
        };
        if let Some((lba, sectors)) = left {
            batch.push_at(time_us, Op::Trim, lba, sectors);
        }
        batch.push_at(time_us, Op::Write, lba, sectors);
        Verdict::Parsed
    }
}

impl Parser {
    /// Where an object of `bytes` bytes lies, and the extent that it leaves if it has grown.
    fn place(&mut self, object: u64, bytes: u32) -> (Option<u64>, Option<(u64, u32)>) {
        let old = self.places.get(&object).copied();
        if let Some((offset, size)) = old
            && bytes <= size
        {
            return (Some(offset), None);
        }
        let offset = self.end_bytes;
        let pages = u64::from(bytes).div_ceil(self.page_bytes).max(1);
        let Some(end_bytes) = offset.checked_add(pages * self.page_bytes) else {
            return (None, None);
        };
        self.end_bytes = end_bytes;
        let size = u32::try_from(pages * self.page_bytes).unwrap_or(u32::MAX);
        self.places.insert(object, (offset, size));
        let left = old.and_then(|(offset, size)| sectors_of_bytes(offset, size.into(), false));
        (Some(offset), left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_input;

    fn read(records: &[(u32, u64, u32)], format: &str) -> Result<RequestBatch, String> {
        let mut bytes = Vec::new();
        for (seconds, object, size) in records {
            bytes.extend(seconds.to_le_bytes());
            bytes.extend(object.to_le_bytes());
            bytes.extend(size.to_le_bytes());
            bytes.extend((-1i64).to_le_bytes());
        }
        let options = OpenOptions { format: Some(format.into()), ..OpenOptions::default() };
        let input = Input::from_bytes("test", bytes).unwrap();
        let mut batch = RequestBatch::new();
        open_input(input, &options)
            .and_then(|mut source| source.next_batch(&mut batch))
            .map_err(|error| error.to_string())?;
        Ok(batch)
    }

    const TWO: &[(u32, u64, u32)] = &[(3, 5, 4096), (4, 1 << 40, 512)];

    #[test]
    fn objects_are_pages_unless_said_otherwise() {
        let batch = read(TWO, "oracle-general:assume-write=on").unwrap();
        let requests: Vec<_> = batch.iter().collect();
        assert_eq!(requests, [(Op::Write, 40, 8), (Op::Write, 1 << 43, 1)]);
        assert_eq!(batch.time_us, [3_000_000, 4_000_000]);
        let batch = read(TWO, "oracle-general:assume-write=on,object=bytes").unwrap();
        assert_eq!(batch.lba, [0, 1 << 31]);
        assert_eq!(batch.sectors, [9, 1]);
        let error = read(TWO, "oracle-general").unwrap_err();
        assert!(error.contains("add --assume-write"), "{error}");
    }

    #[test]
    fn sectors_are_not_taken_for_pages() {
        let single = [(0, 100, 512), (0, 101, 512), (0, 102, 512), (1, 7, 512)];
        let wide = [(0, 100, 4096), (0, 108, 1024), (0, 110, 512)];
        for records in [&single[..], &wide] {
            let error = read(records, "oracle-general:assume-write=on").unwrap_err();
            assert!(error.contains("follow one another as sectors of 512 bytes do"), "{error}");
            assert!(error.contains("--format oracle-general:object=sectors"), "{error}");
            let batch = read(records, "oracle-general:assume-write=on,object=sectors").unwrap();
            assert_eq!(batch.lba[..2], [100, records[1].1]);
            let batch = read(records, "oracle-general:assume-write=on,object=pages").unwrap();
            assert_eq!(batch.lba[0], 800);
        }
        let pages = [(0, 100, 4096), (0, 101, 8192), (0, 103, 512), (1, 104, 512)];
        assert_eq!(read(&pages, "oracle-general:assume-write=on").unwrap().lba[1], 808);
    }

    #[test]
    fn names_get_places_and_move_when_they_grow() {
        let records = [(0, u64::MAX, 5000), (0, 7, 100), (0, u64::MAX, 6000), (0, u64::MAX, 9000)];
        let batch = read(&records, "oracle-general:assume-write=on,object=place").unwrap();
        let expected = [
            (Op::Write, 0, 10),
            (Op::Write, 16, 1),
            (Op::Write, 0, 12),
            (Op::Trim, 0, 16),
            (Op::Write, 24, 18),
        ];
        assert_eq!(batch.iter().collect::<Vec<_>>(), expected);
        let error = read(&records, "oracle-general:assume-write=on").unwrap_err();
        assert!(error.contains("test, record 1: \"00000000ffffffff"), "{error}");
        assert!(error.contains("object=place is for names"), "{error}");
    }
}

//! Naming the streams of a trace that names none: by where its requests lie.

use crate::pages::SECTOR_BYTES;
use crate::{RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource};
use ftlab_spec::{ByteSize, SpecError};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Which stream the requests of an address range belong to, such as `1MiB..2MiB=1,4GiB..8GiB=2`: byte
/// ranges without their ends, apart from each other; everything else is stream 0.
///
/// ```
/// use ftlab_trace::StreamMap;
/// let map: StreamMap = "4KiB..8KiB=3".parse()?;
/// assert_eq!([7, 8, 15, 16].map(|sector| map.stream_of(sector)), [0, 3, 3, 0]);
/// assert!("0..8KiB=1,4KiB..1MiB=2".parse::<StreamMap>().is_err());
/// # Ok::<(), ftlab_spec::SpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamMap(Vec<Entry>);

/// Sectors and their stream.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    bytes: Range<u64>,
    stream: u16,
}

impl StreamMap {
    /// The stream of a request that begins at this 512-byte sector.
    #[inline]
    pub fn stream_of(&self, sector: u64) -> u16 {
        let byte = u128::from(sector) * u128::from(SECTOR_BYTES);
        let within = |entry: &&Entry| {
            (u128::from(entry.bytes.start)..u128::from(entry.bytes.end)).contains(&byte)
        };
        self.0.iter().find(within).map_or(0, |entry| entry.stream)
    }
}

impl FromStr for StreamMap {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let wrong = || SpecError::Quantity {
            text: text.into(),
            expects: "byte ranges that do not overlap and a stream in 0..=65535 for each, such as \
                      1MiB..2MiB=1,4GiB..8GiB=2",
        };
        let entry = |part: &str| {
            let (range, stream) = part.split_once('=')?;
            let (start, end) = range.split_once("..")?;
            let bytes = |text: &str| text.trim().parse::<ByteSize>().ok().map(|size| size.0);
            let bytes = bytes(start)?..bytes(end)?;
            let stream = stream.trim().parse().ok()?;
            (bytes.start < bytes.end).then_some(Entry { bytes, stream })
        };
        let mut entries: Vec<Entry> =
            text.split(',').map(entry).collect::<Option<_>>().ok_or_else(wrong)?;
        entries.sort_by_key(|entry| entry.bytes.start);
        if entries.windows(2).any(|pair| pair[0].bytes.end > pair[1].bytes.start) {
            return Err(wrong());
        }
        Ok(Self(entries))
    }
}

impl fmt::Display for StreamMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Entry { bytes, stream }) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{}..{}={stream}", ByteSize(bytes.start), ByteSize(bytes.end))?;
        }
        Ok(())
    }
}

/// `source` with the streams of `map`, instead of any that it names itself.
pub fn name_streams(source: Box<dyn TraceSource>, map: StreamMap) -> Box<dyn TraceSource> {
    Box::new(Named { source, map })
}

struct Named {
    source: Box<dyn TraceSource>,
    map: StreamMap,
}

impl TraceSource for Named {
    fn metadata(&self) -> &TraceMetadata {
        self.source.metadata()
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        let more = self.source.next_batch(batch)?;
        batch.stream.clear();
        batch.stream.extend(batch.lba.iter().map(|lba| self.map.stream_of(*lba)));
        Ok(more)
    }

    fn skipped(&self) -> &Skipped {
        self.source.skipped()
    }

    fn volumes(&self) -> &[String] {
        self.source.volumes()
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, OpenOptions, open_input};

    #[test]
    fn maps_parse_in_any_order_and_print() {
        let map: StreamMap = "1GiB..2GiB=2, 0..4KiB=1".parse().unwrap();
        assert_eq!(map.to_string().parse::<StreamMap>().unwrap(), map);
        assert_eq!([0, 7, 8, 1 << 21, 1 << 22].map(|lba| map.stream_of(lba)), [1, 1, 0, 2, 0]);
        for wrong in
            ["", "4KiB=1", "8KiB..4KiB=1", "0..4KiB=65536", "0..4KiB", "0..2MiB=1,1MiB..3MiB=2"]
        {
            assert!(wrong.parse::<StreamMap>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_request_is_named_by_where_it_begins() {
        let bytes: Vec<u8> = (0_u32..200).flat_map(u32::to_le_bytes).collect();
        let options = OpenOptions { format: Some("lpn-u32".into()), ..OpenOptions::default() };
        let numbers = open_input(Input::from_bytes("numbers", bytes).unwrap(), &options).unwrap();
        let mut source = name_streams(numbers, "0..400KiB=5".parse().unwrap());
        let mut batch = RequestBatch::new();
        source.next_batch(&mut batch).unwrap();
        assert_eq!([batch.stream.len(), batch.len()], [200; 2]);
        for (lba, stream) in batch.lba.iter().zip(&batch.stream) {
            assert_eq!(*stream, if *lba < 800 { 5 } else { 0 });
        }
    }
}

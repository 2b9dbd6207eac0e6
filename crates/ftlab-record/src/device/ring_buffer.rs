//! The kernel's ring buffer of events, as read from `trace_pipe_raw`.
//!
//! It consists of sub-buffers: a header (the time of the first record, the bytes in use), then
//! records, each preceded by a word with five bits of kind and 27 bits of time since the previous
//! record. The kernel describes the format in `events/header_page` and `events/header_event`.

use super::event_format::Field;

/// Kinds of records; smaller values are the length in words, or 0 if the next word holds it.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
const DELTA_BITS: u32 = 27;
/// Bits of the header word that hold the number of bytes in use; the others are flags.
const LENGTH_MASK: u64 = (1 << 27) - 1;
/// High bits that a time stamp does not contain, and shares with the previous time.
const TIME_STAMP_ABOVE: u64 = 0xf8 << 56;

/// The layout of a sub-buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SubBuffer {
    used: Field,
    data: Field,
}

impl SubBuffer {
    /// Reads `events/header_page`.
    pub(super) fn parse(description: &str) -> Option<Self> {
        let used = Field::find(description, "commit").filter(Field::is_number)?;
        let data = Field::find(description, "data")?;
        let time = Field::find(description, "timestamp")?;
        let is_known = time == Field { offset: 0, size: 8 } && data.offset >= 8;
        is_known.then_some(Self { used, data })
    }

    /// Its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.data.offset + self.data.size
    }

    /// Passes every record of `bytes`, a sub-buffer, to `each` with its time in nanoseconds;
    /// returns `false` if it is damaged.
    pub(super) fn records(&self, bytes: &[u8], mut each: impl FnMut(u64, &[u8])) -> bool {
        let used = (self.used.number(bytes) & LENGTH_MASK) as usize;
        let Some(mut rest) = bytes.get(self.data.offset..self.data.offset + used) else {
            return false;
        };
        let mut time_ns = Field { offset: 0, size: 8 }.number(bytes);
        while let Some(first) = word(rest, 0) {
            let (kind, delta) = split(first);
            if kind == PADDING && delta == 0 {
                return true;
            }
            let second = word(rest, 4);
            let (data, next) = match (kind, second) {
                // The length in the second word includes that word.
                (PADDING | TIME_EXTEND | TIME_STAMP | 0, None) | (0, Some(0..4)) => return false,
                (PADDING, Some(length)) => (0..0, 4 + length as usize),
                (TIME_EXTEND | TIME_STAMP, Some(_)) => (0..0, 8),
                (0, Some(length)) => {
                    let end = 4 + (length as usize).next_multiple_of(4);
                    (8..end, end)
                }
                (words, _) => (4..4 + 4 * words as usize, 4 + 4 * words as usize),
            };
            let high = u64::from(second.unwrap_or(0)) << DELTA_BITS;
            time_ns = match kind {
                TIME_EXTEND => time_ns.wrapping_add(high + delta),
                TIME_STAMP => (time_ns & TIME_STAMP_ABOVE) | (high + delta),
                _ => time_ns.wrapping_add(delta),
            };
            let Some(record) = rest.get(data) else { return false };
            if !record.is_empty() {
                each(time_ns, record);
            }
            rest = rest.get(next..).unwrap_or_default();
        }
        true
    }
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    let bytes = bytes.get(offset..offset + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

/// The kind of a record, and its time since the previous one.
fn split(word: u32) -> (u32, u64) {
    if cfg!(target_endian = "little") {
        (word & 31, u64::from(word >> 5))
    } else {
        (word >> DELTA_BITS, u64::from(word & ((1 << DELTA_BITS) - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
";

    fn header(kind: u32, delta: u32) -> u32 {
        if cfg!(target_endian = "little") { kind | delta << 5 } else { kind << 27 | delta }
    }

    /// A sub-buffer whose first record is at `time`, with these words in use.
    fn sub_buffer(time: u64, words: &[u32], flags: u64) -> Vec<u8> {
        let mut bytes = time.to_ne_bytes().to_vec();
        bytes.extend(((4 * words.len() as u64) | flags).to_ne_bytes());
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes.resize(4096, 0xee);
        bytes
    }

    fn read(words: &[u32], flags: u64) -> (bool, Vec<(u64, Vec<u32>)>) {
        let layout = SubBuffer::parse(HEADER).unwrap();
        let bytes = sub_buffer(1000, words, flags);
        assert_eq!(bytes.len(), layout.bytes());
        let mut records = Vec::new();
        let is_whole = layout.records(&bytes, |time, record| {
            let words = record.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap()));
            records.push((time, words.collect()));
        });
        (is_whole, records)
    }

    #[test]
    fn times_add_up_over_every_kind_of_record() {
        let words = [
            header(1, 5),
            11, // one word
            header(0, 7),
            12,
            21,
            22, // eight bytes, whose length is in the first word
            header(TIME_EXTEND, 3),
            2,
            header(2, 1),
            31,
            32,
            header(PADDING, 1),
            8, // a discarded record
            77,
            header(TIME_STAMP, 9),
            1 << 5,
            header(1, 0),
            41,
        ];
        let long = 1012 + (2 << 27) + 3;
        let expected = vec![
            (1005, vec![11]),
            (1012, vec![21, 22]),
            (long + 1, vec![31, 32]),
            ((1 << 32) + 9, vec![41]),
        ];
        assert_eq!(read(&words, 0), (true, expected.clone()));
        // The flags for missing events are not part of the length.
        assert_eq!(read(&words, 3 << 30), (true, expected));
    }

    #[test]
    fn padding_without_time_ends_a_sub_buffer() {
        let words = [header(1, 0), 1, header(PADDING, 0), 9, 9];
        assert_eq!(read(&words, 0), (true, vec![(1000, vec![1])]));
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), length in 0_u64..200) {
            let layout = SubBuffer::parse(HEADER).unwrap();
            let mut sub_buffer = 1000_u64.to_ne_bytes().to_vec();
            sub_buffer.extend(length.to_ne_bytes());
            sub_buffer.extend(&bytes);
            let mut read = 0;
            layout.records(&sub_buffer, |_, record| read += record.len());
            prop_assert!(read <= bytes.len());
        }
    }

    #[test]
    fn damage_is_told_and_does_no_harm() {
        assert!(!read(&[header(5, 0), 1], 0).0);
        assert!(!read(&[header(0, 0)], 0).0);
        assert!(!read(&[], 5000).0);
        // A record that claims to have no length.
        assert!(!read(&[header(0, 0), 0, header(1, 0), 3], 0).0);
    }
}

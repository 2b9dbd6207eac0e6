//! Requests in few bytes: each as what differs from the one before.
//!
//! A request begins with a byte of flags. Then come, as far as the flags say so, its length, the distance of its
//! address from the end of the one before, the time since that, and its stream, seven bits a byte.

use ftlab_trace::Op;

/// The longest that a request can be.
pub(crate) const REQUEST_BYTES_MAX: usize = 1 + 5 + 10 + 10 + 3;

/// It is as long as the one before.
const SAME_LENGTH: u8 = 1 << 2;
/// It begins where the one before ends.
const IN_SEQUENCE: u8 = 1 << 3;
/// It has a time.
const TIMED: u8 = 1 << 4;
/// It is of another stream than the one before.
const OTHER_STREAM: u8 = 1 << 5;
/// Its distance is in units of 4 KiB.
const IN_PAGES: u8 = 1 << 6;

/// Sectors of 4 KiB, as a power of two.
const PAGE_SHIFT: u32 = 3;

/// A request of a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) op: Op,
    pub(crate) lba: u64,
    pub(crate) sectors: u32,
    pub(crate) time_us: Option<u64>,
    pub(crate) stream: u16,
}

/// What the next request is told by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Before {
    end: u64,
    sectors: u32,
    time_us: u64,
    stream: u16,
}

impl Before {
    /// Adds a request to `bytes`.
    pub(crate) fn encode(&mut self, request: &Request, bytes: &mut Vec<u8>) {
        let Request { op, lba, sectors, time_us, stream } = *request;
        let flags_at = bytes.len();
        let mut flags = op as u8;
        bytes.push(0);
        if sectors == self.sectors {
            flags |= SAME_LENGTH;
        } else {
            put(bytes, u64::from(sectors));
        }
        let distance = lba.wrapping_sub(self.end).cast_signed();
        if distance == 0 {
            flags |= IN_SEQUENCE;
        } else if distance & ((1 << PAGE_SHIFT) - 1) == 0 {
            flags |= IN_PAGES;
            put(bytes, zigzag(distance >> PAGE_SHIFT));
        } else {
            put(bytes, zigzag(distance));
        }
        if let Some(time_us) = time_us {
            flags |= TIMED;
            put(bytes, zigzag(time_us.wrapping_sub(self.time_us).cast_signed()));
            self.time_us = time_us;
        }
        if stream != self.stream {
            flags |= OTHER_STREAM;
            put(bytes, u64::from(stream));
        }
        bytes[flags_at] = flags;
        (self.end, self.sectors, self.stream) =
            (lba.wrapping_add(u64::from(sectors)), sectors, stream);
    }

    /// Takes a request from the front of `bytes`; none if there is no whole one.
    pub(crate) fn decode(&mut self, bytes: &mut &[u8]) -> Option<Request> {
        let (&flags, rest) = bytes.split_first()?;
        *bytes = rest;
        let op = Op::from_code(flags & 3)?;
        if flags & SAME_LENGTH == 0 {
            self.sectors = u32::try_from(take(bytes)?).ok()?;
        }
        let distance = match flags & (IN_SEQUENCE | IN_PAGES) {
            0 => unzigzag(take(bytes)?),
            IN_PAGES => unzigzag(take(bytes)?) << PAGE_SHIFT,
            _ => 0,
        };
        let lba = self.end.wrapping_add(distance.cast_unsigned());
        let is_timed = flags & TIMED != 0;
        if is_timed {
            self.time_us = self.time_us.wrapping_add(unzigzag(take(bytes)?).cast_unsigned());
        }
        if flags & OTHER_STREAM != 0 {
            self.stream = u16::try_from(take(bytes)?).ok()?;
        }
        self.end = lba.wrapping_add(u64::from(self.sectors));
        Some(Request {
            op,
            lba,
            sectors: self.sectors,
            time_us: is_timed.then_some(self.time_us),
            stream: self.stream,
        })
    }
}

fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// Adds a number, the low seven bits first; the last byte is below 128.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..10 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 127) << (7 * place);
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests() -> Vec<Request> {
        let one = |op, lba, sectors, time_us, stream| Request { op, lba, sectors, time_us, stream };
        vec![
            one(Op::Write, 0, 8, Some(0), 0),
            one(Op::Write, 8, 8, Some(3), 0),
            one(Op::Read, 7, 9, Some(2), 4),
            one(Op::Trim, u64::MAX - 8, 8, None, u16::MAX),
            one(Op::Flush, 0, 0, Some(u64::MAX), 0),
            one(Op::Write, 1 << 40, u32::MAX, Some(1), 0),
            one(Op::Write, 3, 1, None, 1),
        ]
    }

    #[test]
    fn requests_come_back_as_they_were() {
        let (mut before, mut bytes) = (Before::default(), Vec::new());
        for request in requests() {
            let begin = bytes.len();
            before.encode(&request, &mut bytes);
            assert!(bytes.len() - begin <= REQUEST_BYTES_MAX);
        }
        let (mut before, mut left) = (Before::default(), bytes.as_slice());
        for request in requests() {
            assert_eq!(before.decode(&mut left), Some(request));
        }
        assert!(left.is_empty() && before.decode(&mut left).is_none());
    }

    #[test]
    fn a_write_in_sequence_takes_two_bytes_and_a_random_one_few() {
        let (mut before, mut bytes) = (Before::default(), Vec::new());
        let write = |page: u64, time: u64| Request {
            op: Op::Write,
            lba: 8 * page,
            sectors: 8,
            time_us: Some(time),
            stream: 0,
        };
        before.encode(&write(0, 0), &mut bytes);
        let first = bytes.len();
        before.encode(&write(1, 60), &mut bytes);
        assert_eq!(bytes.len() - first, 2);
        before.encode(&write(1_000_000, 100), &mut bytes);
        assert_eq!(bytes.len() - first, 2 + 5);
    }

    #[test]
    fn what_is_cut_or_damaged_is_no_request() {
        let (mut before, mut bytes) = (Before::default(), Vec::new());
        before.encode(&requests()[5], &mut bytes);
        for end in 0..bytes.len() {
            assert_eq!(Before::default().decode(&mut &bytes[..end]), None, "{end}");
        }
        let endless =
            [TIMED | SAME_LENGTH | IN_SEQUENCE, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255];
        assert_eq!(Before::default().decode(&mut endless.as_slice()), None);
    }
}

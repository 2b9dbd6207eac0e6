//! A store in memory.

use crate::{BlockMap, DriveStatus, Observed};
use ftlab_drive::{Extent, Store};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

const BLOCK_BYTES: u32 = 4096;

/// The unit of allocation: ranges never written take no memory.
const CHUNK_BYTES: u64 = 64 << 10;

/// A block device in memory that allocates only what has been written: a substitute for a drive in
/// tests of front ends, and the fastest store, for measuring them.
#[derive(Debug)]
pub struct Ram {
    bytes: u64,
    chunks: Vec<Mutex<Option<Box<[u8]>>>>,
}

impl Ram {
    /// An empty device of `bytes` bytes, rounded up to whole blocks.
    pub fn new(bytes: u64) -> Self {
        let bytes = bytes.next_multiple_of(u64::from(BLOCK_BYTES));
        let chunks = (0..bytes.div_ceil(CHUNK_BYTES)).map(|_| Mutex::default()).collect();
        Self { bytes, chunks }
    }

    /// Calls `part` for each chunk of a range: the chunk, the position in it, and the position in
    /// the range.
    fn each(
        &self,
        offset: u64,
        bytes: u64,
        mut part: impl FnMut(MutexGuard<'_, Option<Box<[u8]>>>, usize, std::ops::Range<usize>),
    ) -> io::Result<()> {
        let end = offset.checked_add(bytes).filter(|end| *end <= self.bytes);
        let end = end.ok_or_else(|| {
            let message = format!("{bytes} bytes at {offset} are beyond {} bytes", self.bytes);
            io::Error::new(io::ErrorKind::InvalidInput, message)
        })?;
        let mut at = offset;
        while at < end {
            let next = end.min((at / CHUNK_BYTES + 1) * CHUNK_BYTES);
            let chunk = &self.chunks[(at / CHUNK_BYTES) as usize];
            let chunk = chunk.lock().unwrap_or_else(PoisonError::into_inner);
            part(
                chunk,
                (at % CHUNK_BYTES) as usize,
                (at - offset) as usize..(next - offset) as usize,
            );
            at = next;
        }
        Ok(())
    }
}

impl Store for Ram {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn block_bytes(&self) -> u32 {
        BLOCK_BYTES
    }

    fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        self.each(offset, data.len() as u64, |chunk, at, range| {
            let to = &mut data[range];
            match &*chunk {
                Some(chunk) => to.copy_from_slice(&chunk[at..at + to.len()]),
                None => to.fill(0),
            }
        })
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.each(offset, data.len() as u64, |mut chunk, at, range| {
            let from = &data[range];
            let chunk = chunk.get_or_insert_with(|| vec![0; CHUNK_BYTES as usize].into());
            chunk[at..at + from.len()].copy_from_slice(from);
        })
    }

    fn trim(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.each(offset, bytes, |mut chunk, at, range| {
            if range.len() as u64 == CHUNK_BYTES {
                *chunk = None;
            } else if let Some(chunk) = &mut *chunk {
                chunk[at..at + range.len()].fill(0);
            }
        })
    }

    fn write_zeroes(&self, offset: u64, bytes: u64, _may_trim: bool) -> io::Result<()> {
        self.trim(offset, bytes)
    }

    fn extent(&self, offset: u64, bytes: u64) -> io::Result<Extent> {
        let mut extent = Extent { bytes: 0, has_data: false };
        let mut is_over = false;
        self.each(offset, bytes, |chunk, _, range| {
            is_over |= extent.bytes > 0 && extent.has_data != chunk.is_some();
            if !is_over {
                extent = Extent { bytes: range.end as u64, has_data: chunk.is_some() };
            }
        })?;
        Ok(extent)
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Like a drive without flash.
impl Observed for Ram {
    fn status(&self) -> DriveStatus {
        let logical_pages = (self.bytes / u64::from(BLOCK_BYTES)) as u32;
        DriveStatus { page_bytes: BLOCK_BYTES, logical_pages, ..DriveStatus::default() }
    }

    fn block_map(&self) -> BlockMap {
        BlockMap::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BYTES: usize = 200 << 10;

    #[derive(Debug, Clone)]
    enum Op {
        Write(usize, usize, u8),
        Trim(usize, usize),
    }

    fn op() -> impl Strategy<Value = Op> {
        let range = || (0..BYTES).prop_flat_map(|at| (Just(at), 0..=BYTES - at));
        prop_oneof![
            (range(), any::<u8>()).prop_map(|((at, len), byte)| Op::Write(at, len, byte)),
            range().prop_map(|(at, len)| Op::Trim(at, len)),
        ]
    }

    proptest! {
        #[test]
        fn it_is_an_array_of_bytes(ops in prop::collection::vec(op(), 1..20)) {
            let ram = Ram::new(BYTES as u64);
            let mut twin = vec![0; BYTES];
            for op in ops {
                match op {
                    Op::Write(at, len, byte) => {
                        ram.write(at as u64, &vec![byte; len]).unwrap();
                        twin[at..at + len].fill(byte);
                    }
                    Op::Trim(at, len) => {
                        ram.trim(at as u64, len as u64).unwrap();
                        twin[at..at + len].fill(0);
                    }
                }
            }
            let mut read = vec![1; BYTES];
            ram.read(0, &mut read).unwrap();
            prop_assert!(read == twin);
        }
    }

    #[test]
    fn what_lies_beyond_is_an_error_with_the_numbers() {
        let ram = Ram::new(5000);
        assert_eq!(ram.bytes(), 8192);
        for (offset, bytes) in [(8192, 1), (0, 8193), (u64::MAX, 2)] {
            let error = ram.trim(offset, bytes).unwrap_err().to_string();
            assert_eq!(error, format!("{bytes} bytes at {offset} are beyond 8192 bytes"));
        }
    }
}

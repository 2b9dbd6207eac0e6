//! A buffer before a file.

use std::fs::File;
use std::io::{self, Write};

const BUFFER_BYTES: usize = 1 << 20;

/// Gathers small writes. Unlike `BufWriter`, it writes nothing more after a write has failed, not even when
/// it is dropped: what follows the whole part of the file is the owner's.
pub(super) struct Spool {
    to: To,
    buffer: Vec<u8>,
}

/// Where everything goes.
enum To {
    File(File),
    /// It stays.
    Memory,
    Nowhere,
}

impl Spool {
    pub(super) fn new(file: File) -> Self {
        Self { to: To::File(file), buffer: Vec::with_capacity(BUFFER_BYTES) }
    }

    /// Keeps everything.
    pub(super) fn in_memory() -> Self {
        Self { to: To::Memory, buffer: Vec::new() }
    }

    /// What has not been written, which is everything in memory.
    pub(super) fn held(&self) -> &[u8] {
        &self.buffer
    }

    /// Writes nothing more.
    pub(super) fn close(&mut self) {
        self.to = To::Nowhere;
        self.buffer.clear();
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let passed = match &mut self.to {
            To::File(file) => file.write_all(&self.buffer),
            To::Memory => return Ok(()),
            To::Nowhere => return Err(io::ErrorKind::BrokenPipe.into()),
        };
        self.buffer.clear();
        passed.inspect_err(|_| self.close())
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.pass_on()?;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn everything_arrives_in_order_whatever_the_sizes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        let mut spool = Spool::new(File::create(&path).unwrap());
        let bytes: Vec<u8> = (0..3 * BUFFER_BYTES).map(|n| (n % 251) as u8).collect();
        let (small, large) = bytes.split_at(BUFFER_BYTES / 2);
        small.chunks(1000).for_each(|chunk| spool.write_all(chunk).unwrap());
        spool.write_all(large).unwrap();
        assert!(fs::read(&path).unwrap().len() < bytes.len());
        spool.flush().unwrap();
        assert!(fs::read(&path).unwrap() == bytes);
    }

    #[test]
    fn in_memory_everything_stays() {
        let mut spool = Spool::in_memory();
        let bytes = vec![7; BUFFER_BYTES];
        spool.write_all(&bytes).unwrap();
        spool.write_all(b"more").unwrap();
        spool.flush().unwrap();
        assert!(spool.held() == [&bytes[..], b"more"].concat());
    }

    #[test]
    fn after_a_failure_nothing_is_written() {
        let mut spool = Spool::new(File::options().write(true).open("/dev/full").unwrap());
        spool.write_all(b"one").unwrap();
        assert_eq!(spool.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
        spool.write_all(b"two").unwrap();
        assert_eq!(spool.flush().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}

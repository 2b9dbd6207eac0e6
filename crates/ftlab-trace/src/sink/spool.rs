//! A buffer before a file.

use std::fs::File;
use std::io::{self, Write};

const BUFFER_BYTES: usize = 1 << 20;

/// Gathers small writes. Unlike `BufWriter`, it writes nothing more after a write has failed, not even when
/// it is dropped: what follows the whole part of the file is the owner's.
pub(super) struct Spool {
    file: Option<File>,
    buffer: Vec<u8>,
}

impl Spool {
    pub(super) fn new(file: File) -> Self {
        Self { file: Some(file), buffer: Vec::with_capacity(BUFFER_BYTES) }
    }

    /// Writes nothing more.
    pub(super) fn close(&mut self) {
        self.file = None;
        self.buffer.clear();
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let passed = file.write_all(&self.buffer);
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
    fn after_a_failure_nothing_is_written() {
        let mut spool = Spool::new(File::options().write(true).open("/dev/full").unwrap());
        spool.write_all(b"one").unwrap();
        assert_eq!(spool.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
        spool.write_all(b"two").unwrap();
        assert_eq!(spool.flush().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}

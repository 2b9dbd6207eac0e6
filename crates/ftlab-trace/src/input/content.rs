//! Bytes before anything is made of them, and how many of them were read.

use bytes::Bytes;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes at the start of a trace that decide on its format.
pub(crate) const HEAD_BYTES: usize = 64 * 1024;
/// Bytes that are unpacked at once.
pub(super) const READ_BYTES: usize = 256 * 1024;

/// Bytes that can be read once.
pub(super) type Stream = Box<dyn Read + Send>;

/// Packed bytes: of one type, so that what unpacks them is compiled once.
pub(super) type Packed = BufReader<Stream>;

/// Where the bytes of a trace are.
pub(super) enum Content {
    /// Can be read anywhere in any order, from its start.
    File(File),
    Memory(Bytes),
    /// Can be read once; the head is read already.
    Stream(Stream),
}

impl Content {
    /// The whole, if it can be read in any order, and its bytes from the start.
    pub(super) fn begin(self) -> io::Result<(Option<Self>, Stream)> {
        Ok(match self {
            Self::File(file) => {
                let bytes = Box::new(file.try_clone()?);
                (Some(Self::File(file)), bytes)
            }
            Self::Memory(bytes) => {
                (Some(Self::Memory(bytes.clone())), Box::new(Cursor::new(bytes)))
            }
            Self::Stream(bytes) => (None, bytes),
        })
    }
}

/// The next bytes of `reader`; fewer at its end.
pub(super) fn read_up_to(reader: &mut impl Read, bytes: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(bytes as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// How much of a file has been read; shared between the reader and whoever asks.
#[derive(Clone, Default)]
pub(crate) struct Progress {
    read_bytes: Arc<AtomicU64>,
    total_bytes: u64,
}

impl Progress {
    /// Of a file of `total_bytes`; 0 if that is not known.
    pub(super) fn of(total_bytes: u64) -> Self {
        Self { read_bytes: Arc::default(), total_bytes }
    }

    pub(super) fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// Share read, in 0..=1; `None` where the size is not known.
    pub(crate) fn share(&self) -> Option<f64> {
        let read_bytes = self.read_bytes.load(Ordering::Relaxed) as f64;
        (self.total_bytes > 0).then(|| (read_bytes / self.total_bytes as f64).min(1.0))
    }

    pub(super) fn reset(self) -> Self {
        self.read_bytes.store(0, Ordering::Relaxed);
        self
    }
}

/// Packed bytes that may end anywhere, as if they ended well.
pub(super) struct Torn<R>(pub(super) R);

impl<R: Read> Read for Torn<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            read => read,
        }
    }
}

/// Counts what is read.
pub(super) struct Counted<R> {
    inner: R,
    progress: Progress,
}

impl<R> Counted<R> {
    pub(super) fn new(inner: R, progress: Progress) -> Self {
        Self { inner, progress }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(buffer)?;
        self.progress.read_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

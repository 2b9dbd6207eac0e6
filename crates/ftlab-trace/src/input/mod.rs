//! Bytes of a trace, wherever they come from, unpacked by content.

mod companions;
mod lines;
mod records;
mod source;
mod tally;

pub(crate) use lines::LineSource;
pub(crate) use records::{RecordSource, Records};
pub(crate) use source::ItemParser;
pub(crate) use tally::{Tally, Unit, Verdict};

use crate::{PartialFile, TraceError};
use bytes::Bytes;
use ftlab_spec::did_you_mean;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes at the start of a trace that decide on its format.
const HEAD_BYTES: usize = 64 * 1024;
const READ_BYTES: usize = 256 * 1024;
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// How the bytes of a file are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, with one or more members.
    Gzip,
    /// Zstandard, with one or more frames.
    Zstd,
}

/// The bytes of a trace: a file, standard input or memory; gzip and zstd are unpacked on the way.
pub struct Input {
    name: String,
    head: Vec<u8>,
    compression: Compression,
    content: Content,
    progress: Progress,
    companions: Vec<PathBuf>,
}

enum Content {
    /// Can be read anywhere in any order, from its start.
    File(File),
    Memory(Bytes),
    /// Can be read once; the head is read already.
    Stream(Box<dyn Read + Send>),
}

/// Where a format that needs it can read in any order.
pub(crate) enum RandomAccess {
    File(File),
    Memory(Bytes),
}

impl Input {
    /// Opens a file; `-` is standard input. Of a trace in several files, which blktrace writes, any
    /// one or the name without its ending stands for all.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let (path, companions) = companions::of(path);
        Ok(Self { companions, ..Self::open_alone(&path)? })
    }

    /// The files that [`open`](Self::open) reads for `path`.
    pub(crate) fn files(path: &Path) -> Vec<PathBuf> {
        let (first, mut files) = companions::of(path);
        files.push(first);
        files
    }

    /// Opens a file and no other; `-` is standard input.
    pub(crate) fn open_alone(path: &Path) -> Result<Self, TraceError> {
        if path == Path::new("-") {
            return Self::from_reader("standard input", io::stdin());
        }
        let name = path.display().to_string();
        let mut file = File::open(path)
            .map_err(|error| TraceError::io(&name, with_names_beside(path, error)))?;
        let regular = file.metadata().ok().filter(std::fs::Metadata::is_file);
        let total_bytes = regular.as_ref().map_or(0, std::fs::Metadata::len);
        let mut input = Self::unpack(&name, file.try_clone(), total_bytes)?;
        if regular.is_some() && input.compression == Compression::None {
            file.rewind().map_err(|error| TraceError::io(&name, error))?;
            input.content = Content::File(file);
        }
        Ok(input)
    }

    /// A trace in memory; `name` is for messages.
    pub fn from_bytes(name: &str, bytes: impl Into<Bytes>) -> Result<Self, TraceError> {
        let bytes: Bytes = bytes.into();
        let total_bytes = bytes.len() as u64;
        let mut input = Self::unpack(name, Ok(Cursor::new(bytes.clone())), total_bytes)?;
        if input.compression == Compression::None {
            input.content = Content::Memory(bytes);
        }
        Ok(input)
    }

    /// A trace that is read once, from start to end; `name` is for messages.
    pub fn from_reader(name: &str, reader: impl Read + Send + 'static) -> Result<Self, TraceError> {
        Self::unpack(name, Ok(reader), 0)
    }

    fn unpack(
        name: &str,
        reader: io::Result<impl Read + Send + 'static>,
        total_bytes: u64,
    ) -> Result<Self, TraceError> {
        let io_error = |error| TraceError::io(name, error);
        let progress = Progress { read_bytes: Arc::default(), total_bytes };
        let mut reader = Counted { inner: reader.map_err(io_error)?, progress: progress.clone() };
        let magic = read_up_to(&mut reader, 4).map_err(io_error)?;
        let compression = match magic.as_slice() {
            bytes if bytes.starts_with(GZIP) => Compression::Gzip,
            bytes if bytes.starts_with(ZSTD) || is_skippable_zstd(bytes) => Compression::Zstd,
            _ => Compression::None,
        };
        let packed = BufReader::with_capacity(READ_BYTES, Cursor::new(magic).chain(reader));
        let mut unpacked: Box<dyn Read + Send> = match compression {
            Compression::None => Box::new(packed),
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
            Compression::Zstd => {
                Box::new(zstd::stream::read::Decoder::with_buffer(packed).map_err(io_error)?)
            }
        };
        if PartialFile::is_provisional(name) {
            unpacked = Box::new(Torn(unpacked));
        }
        let head = read_up_to(&mut unpacked, HEAD_BYTES).map_err(io_error)?;
        Ok(Self {
            name: name.into(),
            head,
            compression,
            content: Content::Stream(unpacked),
            progress,
            companions: Vec::new(),
        })
    }

    /// The name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its writer was stopped, by its name: then it may end in the middle of a request.
    pub(crate) fn is_unfinished(&self) -> bool {
        PartialFile::is_provisional(&self.name)
    }

    /// The first unpacked bytes, up to 64 KiB.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// How the bytes are packed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// The other files of a trace in several.
    pub(crate) fn companions(&self) -> &[PathBuf] {
        &self.companions
    }

    pub(crate) fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Unpacked size, where it is known without reading.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        match &self.content {
            Content::Stream(_) => None,
            _ => Some(self.progress.total_bytes),
        }
    }

    /// The unpacked bytes from the start.
    pub(crate) fn into_reader(self) -> Box<dyn Read + Send> {
        match self.content {
            Content::File(file) => {
                Box::new(Counted { inner: file, progress: self.progress.reset() })
            }
            Content::Memory(bytes) => {
                Box::new(Counted { inner: Cursor::new(bytes), progress: self.progress.reset() })
            }
            Content::Stream(rest) => Box::new(Cursor::new(self.head).chain(rest)),
        }
    }

    /// The bytes for reading in any order.
    pub(crate) fn into_random_access(self) -> Result<RandomAccess, TraceError> {
        match self.content {
            Content::File(file) => Ok(RandomAccess::File(file)),
            Content::Memory(bytes) => Ok(RandomAccess::Memory(bytes)),
            Content::Stream(_) => Err(TraceError::Unsupported {
                what: format!("{}: Parquet cannot be read from a stream", self.name),
                remedy: "unpack it to a file; Parquet is compressed inside".into(),
            }),
        }
    }
}

fn is_skippable_zstd(magic: &[u8]) -> bool {
    magic.len() == 4 && magic[0] & 0xf0 == 0x50 && magic[1..] == [0x2a, 0x4d, 0x18]
}

fn read_up_to(reader: &mut impl Read, bytes: usize) -> io::Result<Vec<u8>> {
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
    /// Share read, in 0..=1; `None` where the size is not known.
    pub(crate) fn share(&self) -> Option<f64> {
        let read_bytes = self.read_bytes.load(Ordering::Relaxed) as f64;
        (self.total_bytes > 0).then(|| (read_bytes / self.total_bytes as f64).min(1.0))
    }

    fn reset(self) -> Self {
        self.read_bytes.store(0, Ordering::Relaxed);
        self
    }
}

/// Packed bytes that may end anywhere, as if they ended well.
struct Torn<R>(R);

impl<R: Read> Read for Torn<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            read => read,
        }
    }
}

struct Counted<R> {
    inner: R,
    progress: Progress,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(buffer)?;
        self.progress.read_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}
/// Names the files beside `path` that its name may have been meant for, if there is no such file.
fn with_names_beside(path: &Path, error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return error;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let proposal = did_you_mean(&name, &files_beside(path));
    if proposal.is_empty() {
        return error;
    }
    io::Error::new(io::ErrorKind::NotFound, format!("there is no such file{proposal}"))
}

/// Names of the files in the directory of `path`.
pub fn files_beside(path: &Path) -> Vec<String> {
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    let entries = std::fs::read_dir(directory.unwrap_or(Path::new("."))).into_iter().flatten();
    let files = entries.flatten().filter(|entry| entry.path().is_file());
    files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

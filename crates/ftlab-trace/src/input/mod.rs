//! Bytes of a trace, wherever they come from, unpacked and made text by content.

#[cfg(feature = "containers")]
mod archive;
mod companions;
mod content;
mod lines;
mod packing;
mod records;
mod source;
mod tally;
mod text;

pub(crate) use content::Progress;
pub use lines::LineSource;
pub use packing::Compression;
pub use records::RecordSource;
pub(crate) use records::Records;
pub use source::ItemParser;
pub use tally::Verdict;
pub(crate) use tally::{Tally, Unit};
pub use text::decode_text;

use crate::{PartialFile, TraceError};
use bytes::Bytes;
pub(crate) use content::HEAD_BYTES;
use content::{Content, Counted, read_up_to};
use ftlab_spec::did_you_mean;
use packing::Unpacked;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use text::Encoding;

/// The bytes of a trace: a file, standard input or memory; what they are packed in is taken off on the way,
/// and text becomes UTF-8.
pub struct Input {
    name: String,
    head: Vec<u8>,
    compression: Compression,
    /// Its name in the archive that it comes from.
    member: Option<String>,
    content: Content,
    progress: Progress,
    companions: Vec<PathBuf>,
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
        let file = File::open(path)
            .map_err(|error| TraceError::io(&name, with_names_beside(path, error)))?;
        match file.metadata().ok().filter(std::fs::Metadata::is_file) {
            Some(regular) => Self::unpack(&name, Content::File(file), regular.len()),
            None => Self::from_reader(&name, file),
        }
    }

    /// A trace in memory; `name` is for messages.
    pub fn from_bytes(name: &str, bytes: impl Into<Bytes>) -> Result<Self, TraceError> {
        let bytes: Bytes = bytes.into();
        let total_bytes = bytes.len() as u64;
        Self::unpack(name, Content::Memory(bytes), total_bytes)
    }

    /// A trace that is read once, from start to end; `name` is for messages.
    pub fn from_reader(name: &str, reader: impl Read + Send + 'static) -> Result<Self, TraceError> {
        Self::unpack(name, Content::Stream(Box::new(reader)), 0)
    }

    fn unpack(name: &str, whole: Content, total_bytes: u64) -> Result<Self, TraceError> {
        let io_error = |error| TraceError::io(name, error);
        let progress = Progress::of(total_bytes);
        let (whole, bytes) = whole.begin().map_err(io_error)?;
        let bytes = Box::new(Counted::new(bytes, progress.clone()));
        let Unpacked { mut bytes, mut head, compression, member } =
            packing::unpack(name, bytes, whole.as_ref(), &progress)?;
        let mut is_plain = compression == Compression::None;
        let has_text = !is_binary(member.as_deref().unwrap_or(name));
        for _ in 0..if has_text { Encoding::STEPS } else { 0 } {
            let Some(encoding) = Encoding::of(&head) else { break };
            is_plain = false;
            bytes = encoding.decode(Box::new(Cursor::new(head).chain(bytes))).map_err(io_error)?;
            head = read_up_to(&mut bytes, HEAD_BYTES).map_err(io_error)?;
        }
        let content = match whole.filter(|_| is_plain) {
            Some(Content::File(mut file)) => {
                file.rewind().map_err(io_error)?;
                Content::File(file)
            }
            Some(whole) => whole,
            None => Content::Stream(bytes),
        };
        let name = name.to_owned();
        Ok(Self { name, head, compression, member, content, progress, companions: Vec::new() })
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

    /// How the bytes are packed, on the outside if in several ways.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// The name of what is read: in an archive if it comes from one.
    pub(crate) fn inner_name(&self) -> &str {
        self.member.as_deref().unwrap_or(&self.name)
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
            _ => Some(self.progress.total_bytes()),
        }
    }

    /// The unpacked bytes from the start.
    pub(crate) fn into_reader(self) -> Box<dyn Read + Send> {
        match self.content {
            Content::File(file) => Box::new(Counted::new(file, self.progress.reset())),
            Content::Memory(bytes) => {
                Box::new(Counted::new(Cursor::new(bytes), self.progress.reset()))
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

/// All of the text of the file at `path` (`-` is standard input), unpacked as a trace is, and decoded as
/// [`decode_text`] does.
pub fn read_text(path: &Path) -> Result<String, TraceError> {
    let input = Input::open(path)?;
    let name = input.name().to_owned();
    let mut bytes = Vec::new();
    input.into_reader().read_to_end(&mut bytes).map_err(|error| TraceError::io(&name, error))?;
    Ok(decode_text(&bytes))
}

/// Whether a file with this name has numbers, which are no text even if they look like it.
fn is_binary(name: &str) -> bool {
    let name = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
    name.split('.').skip(1).any(|ending| ["u32", "lpn", "oracleGeneral"].contains(&ending))
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

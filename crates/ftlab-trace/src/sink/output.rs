//! Sinks that encode, and compress by the ending of the name.

use super::{TraceSink, Written};
use crate::{PartialFile, RequestBatch, TraceError};
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

const BUFFER_BYTES: usize = 256 * 1024;
/// Good compression of traces at about 300 MB/s.
const ZSTD_LEVEL: i32 = 3;

enum Packer {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<File>>),
}

impl Packer {
    fn new(file: File, name: &str) -> io::Result<Self> {
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(match Path::new(name).extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Self::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Some("zst") => Self::Zstd(zstd::stream::write::Encoder::new(file, ZSTD_LEVEL)?),
            _ => Self::Plain(file),
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.write_all(bytes),
            Self::Gzip(writer) => writer.write_all(bytes),
            Self::Zstd(writer) => writer.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer,
            Self::Gzip(writer) => writer.finish()?,
            Self::Zstd(writer) => writer.finish()?,
        }
        .flush()
    }
}

/// The part of a writer that differs between formats.
pub(super) trait Encoder: Send {
    /// Bytes before the first request.
    fn header(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }

    /// Appends the bytes of the requests in `batch`; counts them in `written`.
    fn encode(
        &mut self,
        batch: &RequestBatch,
        out: &mut Vec<u8>,
        written: &mut Written,
    ) -> Result<(), TraceError>;

    /// Bytes after the last request.
    fn trailer(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }
}

/// A sink made of an encoder.
pub(super) struct StreamSink<E> {
    file: PartialFile,
    packer: Packer,
    encoder: E,
    buffer: Vec<u8>,
    written: Written,
}

impl<E: Encoder + 'static> StreamSink<E> {
    pub(super) fn boxed(
        file: PartialFile,
        mut encoder: E,
    ) -> Result<Box<dyn TraceSink>, TraceError> {
        let name = file.name().to_owned();
        let packer = file.handle().and_then(|handle| Packer::new(handle, &name));
        let packer = packer.map_err(|error| TraceError::io(&name, error))?;
        let mut buffer = Vec::new();
        encoder.header(&mut buffer);
        Ok(Box::new(Self { file, packer, encoder, buffer, written: Written::default() }))
    }
}

impl<E: Encoder> TraceSink for StreamSink<E> {
    fn write(&mut self, batch: &RequestBatch) -> Result<(), TraceError> {
        self.encoder.encode(batch, &mut self.buffer, &mut self.written)?;
        let result = self.packer.write_all(&self.buffer);
        self.buffer.clear();
        result.map_err(|error| not_written(&mut self.file, error))
    }

    fn requests(&self) -> u64 {
        self.written.requests
    }

    fn finish(self: Box<Self>) -> Result<Written, TraceError> {
        let Self { mut file, mut packer, mut encoder, mut buffer, written } = *self;
        encoder.trailer(&mut buffer);
        packer
            .write_all(&buffer)
            .and_then(|()| packer.finish())
            .map_err(|error| not_written(&mut file, error))?;
        file.complete()?;
        Ok(written)
    }
}

/// Keeps what is in a file, if it is to be kept and there is anything.
fn not_written(file: &mut PartialFile, error: io::Error) -> TraceError {
    let bytes = file.handle().and_then(|file| Ok(file.metadata()?.len())).unwrap_or_default();
    file.not_written(error, (bytes > 0).then_some("what was written until then"))
}

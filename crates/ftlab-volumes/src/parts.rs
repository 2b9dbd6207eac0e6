//! Files of requests sorted by volume.
//!
//! While a trace is read, the requests of each volume are gathered. Whenever they take as much memory as they may, they
//! are added to a file, one piece for each volume, packed with Zstandard.

use crate::codec::{Before, REQUEST_BYTES_MAX, Request};
use ftlab_trace::TraceError;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Take, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twox_hash::XxHash3_128;
use zstd::bulk::Compressor;
use zstd::stream::read::Decoder;
use zstd::zstd_safe::CParameter;

/// Fast; stronger levels save little of what is left.
const LEVEL: i32 = 1;

/// Bytes that are unpacked at a time.
const UNPACKED_BYTES: usize = 64 << 10;

/// The requests of one volume from one stretch of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// Where it begins in the file of parts.
    offset: u64,
    /// Its bytes there.
    bytes: u64,
    /// Its requests.
    requests: u64,
}

/// Adds pieces to a file.
pub struct PartWriter {
    path: PathBuf,
    file: BufWriter<File>,
    packer: Compressor<'static>,
    offset: u64,
}

impl PartWriter {
    /// Makes the file at `path`, or empties it.
    pub fn create(path: &Path) -> Result<Self, TraceError> {
        let at = |error| cannot(path, error);
        let mut packer = Compressor::new(LEVEL).map_err(at)?;
        packer.set_parameter(CParameter::ChecksumFlag(true)).map_err(at)?;
        let file = BufWriter::new(File::create(path).map_err(at)?);
        Ok(Self { path: path.into(), file, packer, offset: 0 })
    }

    /// Adds encoded requests of a volume.
    pub fn add(&mut self, encoded: &[u8], requests: u64) -> Result<Piece, TraceError> {
        let packed = self.packer.compress(encoded).map_err(|error| cannot(&self.path, error))?;
        self.file.write_all(&packed).map_err(|error| cannot(&self.path, error))?;
        let piece = Piece { offset: self.offset, bytes: packed.len() as u64, requests };
        self.offset += piece.bytes;
        Ok(piece)
    }

    /// The file is complete; its size.
    pub fn finish(mut self) -> Result<u64, TraceError> {
        let flushed = self.file.flush().and_then(|()| self.file.get_ref().sync_data());
        flushed.map_err(|error| cannot(&self.path, error))?;
        Ok(self.offset)
    }
}

/// A file of parts cannot be written.
fn cannot(path: &Path, error: std::io::Error) -> TraceError {
    TraceError::io(&path.display().to_string(), error)
}

/// Reads the pieces of a volume from one file, one after the other, and compares them with their hash at the end.
pub(crate) struct PieceReader {
    path: Arc<Path>,
    /// Of all pieces, as it was when they were written.
    hash: String,
    hasher: XxHash3_128,
    left: std::vec::IntoIter<Piece>,
    open: Option<Decoder<'static, BufReader<Take<File>>>>,
    /// Unpacked bytes, of which those before `at` have been taken.
    bytes: Vec<u8>,
    at: usize,
    /// Requests of the open piece that have not been taken.
    requests: u64,
    before: Before,
}

impl PieceReader {
    pub(crate) fn new(path: Arc<Path>, pieces: Vec<Piece>, hash: String) -> Self {
        Self {
            path,
            hash,
            hasher: XxHash3_128::new(),
            left: pieces.into_iter(),
            open: None,
            bytes: Vec::new(),
            at: 0,
            requests: 0,
            before: Before::default(),
        }
    }

    /// The next request; none at the end.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Request>, TraceError> {
        while self.requests == 0 {
            self.take();
            let Some(piece) = self.left.next() else { return self.check().map(|()| None) };
            self.open(piece)?;
        }
        if self.bytes.len() - self.at < REQUEST_BYTES_MAX {
            self.refill()?;
        }
        let mut rest = &self.bytes[self.at..];
        let request =
            self.before.decode(&mut rest).ok_or_else(|| self.damaged("a request is cut"))?;
        self.at = self.bytes.len() - rest.len();
        self.requests -= 1;
        Ok(Some(request))
    }

    fn open(&mut self, piece: Piece) -> Result<(), TraceError> {
        let at = |error| TraceError::io(&self.path.display().to_string(), error);
        let mut file = File::open(&self.path).map_err(at)?;
        file.seek(SeekFrom::Start(piece.offset)).map_err(at)?;
        let packed = BufReader::new(file.take(piece.bytes));
        self.open = Some(Decoder::with_buffer(packed).map_err(at)?);
        (self.bytes, self.at, self.requests) = (Vec::new(), 0, piece.requests);
        Ok(())
    }

    /// Unpacks more of the open piece.
    fn refill(&mut self) -> Result<(), TraceError> {
        self.take();
        let Some(open) = &mut self.open else { return Ok(()) };
        let mut more = open.by_ref().take(UNPACKED_BYTES as u64);
        match more.read_to_end(&mut self.bytes) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.damaged(&error.to_string())),
        }
    }

    /// What was decoded is done with.
    fn take(&mut self) {
        self.hasher.write(&self.bytes[..self.at]);
        self.bytes.drain(..self.at);
        self.at = 0;
    }

    /// Whether these are the requests that were written.
    fn check(&self) -> Result<(), TraceError> {
        let is_same = format!("{:032x}", self.hasher.finish_128()) == self.hash;
        if is_same { Ok(()) } else { Err(self.damaged("they are not those that were read")) }
    }

    fn damaged(&self, what: &str) -> TraceError {
        TraceError::Damaged {
            name: self.path.display().to_string(),
            what: format!("the requests that were set apart are damaged ({what})"),
            remedy: "delete the file, and give the traces again".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_trace::Op;
    use std::fs;

    fn write(page: u64) -> Request {
        Request { op: Op::Write, lba: 8 * page, sectors: 8, time_us: Some(page), stream: 0 }
    }

    fn hash(bytes: &[u8]) -> String {
        format!("{:032x}", XxHash3_128::oneshot(bytes))
    }

    fn pages(path: &Path, pieces: Vec<Piece>, hash: String) -> Result<Vec<u64>, String> {
        let mut reader = PieceReader::new(path.into(), pieces, hash);
        let mut pages = Vec::new();
        while let Some(request) = reader.next().map_err(|error| error.to_string())? {
            pages.push(request.lba / 8);
        }
        Ok(pages)
    }

    #[test]
    fn pieces_of_volumes_are_read_apart() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.part");
        let mut writer = PartWriter::create(&path).unwrap();
        let (mut pieces, mut all) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        let mut before = [Before::default(), Before::default()];
        for stretch in 0..3_u64 {
            for volume in 0..2 {
                let mut bytes = Vec::new();
                let pages = 30_000 * stretch..30_000 * (stretch + 1);
                for page in pages.clone().map(|page| page * 7 % 90_001 + volume as u64) {
                    before[volume].encode(&write(page), &mut bytes);
                }
                pieces[volume].push(writer.add(&bytes, pages.count() as u64).unwrap());
                all[volume].extend(bytes);
            }
        }
        let size = writer.finish().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), size);
        for (volume, pieces) in pieces.into_iter().enumerate() {
            let expected: Vec<_> =
                (0..90_000).map(|page| page * 7 % 90_001 + volume as u64).collect();
            assert!(pages(&path, pieces.clone(), hash(&all[volume])).unwrap() == expected);
            let error = pages(&path, pieces, hash(&all[1 - volume])).unwrap_err();
            assert!(error.contains("not those that were read"), "{error}");
        }
    }

    #[test]
    fn damage_is_an_error_that_names_the_file() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.part");
        let mut writer = PartWriter::create(&path).unwrap();
        let (mut before, mut bytes) = (Before::default(), Vec::new());
        (0..1000).for_each(|page| before.encode(&write(page * page % 997), &mut bytes));
        let piece = writer.add(&bytes, 1000).unwrap();
        writer.finish().unwrap();
        let mut stored = fs::read(&path).unwrap();
        let middle = stored.len() / 2;
        stored[middle] ^= 1;
        fs::write(&path, &stored).unwrap();
        let error = pages(&path, vec![piece], hash(&bytes)).unwrap_err();
        assert!(error.contains("a.part") && error.contains("give the traces again"), "{error}");
        fs::write(&path, &stored[..middle]).unwrap();
        assert!(pages(&path, vec![piece], hash(&bytes)).is_err());
    }
}

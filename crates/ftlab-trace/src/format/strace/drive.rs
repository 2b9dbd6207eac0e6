//! What calls do to files: positions and ends are followed, requests come out.

use super::call::{Call, OpenFile};
use crate::format::fields::{decimal, sectors_of_bytes};
use crate::input::Verdict;
use crate::volumes::VolumeNames;
use crate::{Op, RequestBatch};
use memchr::memmem;
use rustc_hash::FxHashMap;

/// Everything that is known of the files of a trace.
pub(super) struct Files {
    /// Only files below this directory; all but those of the kernel if empty.
    below: String,
    names: VolumeNames,
    /// One past the last byte that is known of each file.
    ends: Vec<u64>,
    /// Positions of open files, by number and file.
    positions: FxHashMap<(u64, u32), Position>,
}

#[derive(Clone, Copy, Default)]
struct Position {
    offset: u64,
    /// Writes go to the end of the file.
    appends: bool,
}

/// Where a call writes or reads.
enum Place {
    /// At the offset that is this many arguments from the end.
    Argument(usize),
    /// At the position of the open file.
    Position,
}

const WRONG_OFFSET: &str = "an offset and a result as numbers";
const NOT_A_FILE: &str = "not a file of the trace";
/// What an entry of io_submit begins with.
const OPCODE: &str = "aio_lio_opcode=IOCB_CMD_";
const FAILED: &str = "call that failed";

impl Files {
    pub(super) fn new(below: String) -> Self {
        Self {
            below,
            names: VolumeNames::default(),
            ends: Vec::new(),
            positions: FxHashMap::default(),
        }
    }

    pub(super) fn names(&self) -> &[String] {
        self.names.as_slice()
    }

    /// Adds the requests of a call.
    pub(super) fn apply(
        &mut self,
        call: &Call<'_>,
        time_us: u64,
        batch: &mut RequestBatch,
    ) -> Verdict {
        let (op, place) = match call.name {
            b"pwrite64" | b"pwrite" | b"pwritev" => (Op::Write, Place::Argument(0)),
            b"pwritev2" => (Op::Write, Place::Argument(1)),
            b"write" | b"writev" => (Op::Write, Place::Position),
            b"pread64" | b"pread" | b"preadv" => (Op::Read, Place::Argument(0)),
            b"preadv2" => (Op::Read, Place::Argument(1)),
            b"read" | b"readv" => (Op::Read, Place::Position),
            b"fsync" | b"fdatasync" | b"sync" | b"syncfs" | b"msync" => {
                return self.flush(call, time_us, batch);
            }
            b"io_submit" => return self.submit(call, time_us, batch),
            b"open" | b"openat" | b"openat2" | b"creat" => return self.open(call, time_us, batch),
            b"lseek" | b"_llseek" => return self.seek(call),
            b"fallocate" => return self.allocate(call, time_us, batch),
            b"ftruncate" | b"ftruncate64" | b"truncate" | b"truncate64" => {
                return self.truncate(call, time_us, batch);
            }
            b"copy_file_range" | b"sendfile" | b"sendfile64" | b"splice" => {
                return Verdict::Skip("copy_file_range, sendfile or splice, which is not read");
            }
            b"io_uring_enter" => return Verdict::Skip("io_uring, which strace cannot see into"),
            _ => return Verdict::Skip("another call"),
        };
        let Some(open) = call.file() else { return Verdict::Skip(NOT_A_FILE) };
        let Some(file) = self.number(open.path) else { return Verdict::Skip(NOT_A_FILE) };
        let Some(bytes) = call.result() else { return Verdict::Skip(FAILED) };
        let offset = match place {
            Place::Argument(index) => call.last_but(index).and_then(|text| {
                // pwritev2 takes -1 for the position.
                if text == b"-1" {
                    Some(self.advance(open.number, file, op, bytes))
                } else {
                    decimal(text)
                }
            }),
            Place::Position => Some(self.advance(open.number, file, op, bytes)),
        };
        match offset {
            Some(offset) => {
                self.push(op, file, offset..offset.saturating_add(bytes), time_us, batch)
            }
            None => Verdict::Bad(WRONG_OFFSET),
        }
    }

    /// The number of the file at `path`; `None` for pipes, sockets, and files that are not wanted.
    fn number(&mut self, path: &[u8]) -> Option<u32> {
        if !path.starts_with(b"/") {
            return None;
        }
        let is_wanted = if self.below.is_empty() {
            !["/proc/", "/sys/", "/dev/"].iter().any(|folder| path.starts_with(folder.as_bytes()))
        } else {
            path.strip_prefix(self.below.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"))
        };
        is_wanted.then(|| {
            let number = self.names.number(path);
            self.ends.resize(self.names.as_slice().len(), 0);
            number
        })
    }

    /// Where the next `bytes` of an open file go; moves its position past them.
    fn advance(&mut self, open: u64, file: u32, op: Op, bytes: u64) -> u64 {
        let end = self.ends[file as usize];
        let position = self.positions.entry((open, file)).or_default();
        if position.appends && op == Op::Write {
            position.offset = end;
        }
        let offset = position.offset;
        position.offset = offset.saturating_add(bytes);
        offset
    }

    fn push(
        &mut self,
        op: Op,
        file: u32,
        bytes: std::ops::Range<u64>,
        time_us: u64,
        batch: &mut RequestBatch,
    ) -> Verdict {
        if bytes.is_empty() {
            return Verdict::Skip("no data");
        }
        let length = bytes.end - bytes.start;
        let Some((lba, sectors)) = sectors_of_bytes(bytes.start, length, op != Op::Trim) else {
            return Verdict::Bad("an end below 2^64 bytes and a length below 2 TiB");
        };
        if op == Op::Write {
            let end = &mut self.ends[file as usize];
            *end = bytes.end.max(*end);
        }
        batch.push_at(time_us, op, lba, sectors);
        batch.volume.push(file);
        Verdict::Parsed
    }

    fn flush(&mut self, call: &Call<'_>, time_us: u64, batch: &mut RequestBatch) -> Verdict {
        // sync and msync name no file: the first stands for all.
        let file = match call.file() {
            Some(open) => self.number(open.path),
            None => (!self.ends.is_empty()).then_some(0),
        };
        let Some(file) = file else { return Verdict::Skip(NOT_A_FILE) };
        if call.result() != Some(0) {
            return Verdict::Skip(FAILED);
        }
        batch.push_at(time_us, Op::Flush, 0, 0);
        batch.volume.push(file);
        Verdict::Parsed
    }

    fn open(&mut self, call: &Call<'_>, time_us: u64, batch: &mut RequestBatch) -> Verdict {
        let Some(open) = OpenFile::parse(call.result) else { return Verdict::Skip(FAILED) };
        let Some(file) = self.number(open.path) else { return Verdict::Skip(NOT_A_FILE) };
        let has = |flag: &str| memmem::find(call.arguments, flag.as_bytes()).is_some();
        let position = Position { offset: 0, appends: has("O_APPEND") };
        self.positions.insert((open.number, file), position);
        if has("O_TRUNC") || call.name == b"creat" {
            return self.shorten(file, 0, time_us, batch);
        }
        Verdict::Skip("open")
    }

    fn seek(&mut self, call: &Call<'_>) -> Verdict {
        let (Some(open), Some(offset)) = (call.file(), call.result()) else {
            return Verdict::Skip(FAILED);
        };
        if let Some(file) = self.number(open.path) {
            self.positions.entry((open.number, file)).or_default().offset = offset;
        }
        Verdict::Skip("lseek")
    }

    /// fallocate(fd, mode, offset, length).
    fn allocate(&mut self, call: &Call<'_>, time_us: u64, batch: &mut RequestBatch) -> Verdict {
        let has = |flag: &str| memmem::find(call.arguments, flag.as_bytes()).is_some();
        if !has("PUNCH_HOLE") && !has("ZERO_RANGE") {
            return Verdict::Skip("another call");
        }
        let Some(file) = call.file().and_then(|open| self.number(open.path)) else {
            return Verdict::Skip(NOT_A_FILE);
        };
        if call.result() != Some(0) {
            return Verdict::Skip(FAILED);
        }
        let number = |index| call.last_but(index).and_then(decimal);
        match (number(1), number(0)) {
            (Some(offset), Some(length)) => {
                self.push(Op::Trim, file, offset..offset.saturating_add(length), time_us, batch)
            }
            _ => Verdict::Bad(WRONG_OFFSET),
        }
    }

    /// ftruncate(fd, length) or truncate("path", length).
    fn truncate(&mut self, call: &Call<'_>, time_us: u64, batch: &mut RequestBatch) -> Verdict {
        let quoted = |text: &[u8]| {
            let rest = text.strip_prefix(b"\"")?;
            memchr::memchr(b'"', rest).map(|end| rest[..end].to_owned())
        };
        let path = match call.file() {
            Some(open) => Some(open.path.to_owned()),
            None => quoted(call.arguments),
        };
        let Some(file) = path.and_then(|path| self.number(&path)) else {
            return Verdict::Skip(NOT_A_FILE);
        };
        if call.result() != Some(0) {
            return Verdict::Skip(FAILED);
        }
        match call.last_but(0).and_then(decimal) {
            Some(end) => self.shorten(file, end, time_us, batch),
            None => Verdict::Bad(WRONG_OFFSET),
        }
    }

    /// Cuts a file at `end`; what follows is trimmed, as far as it is known.
    fn shorten(&mut self, file: u32, end: u64, time_us: u64, batch: &mut RequestBatch) -> Verdict {
        let old_end = std::mem::replace(&mut self.ends[file as usize], end);
        if old_end <= end {
            return Verdict::Skip("open or truncate that frees nothing known");
        }
        self.push(Op::Trim, file, end..old_end, time_us, batch)
    }

    /// The writes and reads of `io_submit(context, count, [{...}, ...]) = accepted`.
    fn submit(&mut self, call: &Call<'_>, time_us: u64, batch: &mut RequestBatch) -> Verdict {
        let Some(accepted) = call.result() else { return Verdict::Skip(FAILED) };
        let mut rest = call.arguments;
        let mut verdict = Verdict::Skip(NOT_A_FILE);
        for _ in 0..accepted {
            let Some(start) = memmem::find(rest, OPCODE.as_bytes()) else { break };
            rest = &rest[start + OPCODE.len()..];
            let end = memmem::find(rest, OPCODE.as_bytes()).unwrap_or(rest.len());
            match self.submit_one(&rest[..end], time_us, batch) {
                Verdict::Parsed => verdict = Verdict::Parsed,
                Verdict::Bad(expected) if !matches!(verdict, Verdict::Parsed) => {
                    verdict = Verdict::Bad(expected);
                }
                _ => {}
            }
        }
        verdict
    }

    fn submit_one(&mut self, entry: &[u8], time_us: u64, batch: &mut RequestBatch) -> Verdict {
        let after = |key: &str| {
            memmem::find(entry, key.as_bytes()).map(|start| &entry[start + key.len()..])
        };
        let number = |key: &str| {
            let text = after(key)?;
            let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
            decimal(&text[..end])
        };
        let open = after("aio_fildes=").and_then(OpenFile::parse);
        let Some(file) = open.and_then(|open| self.number(open.path)) else {
            return Verdict::Skip(NOT_A_FILE);
        };
        if entry.starts_with(b"FSYNC") || entry.starts_with(b"FDSYNC") {
            batch.push_at(time_us, Op::Flush, 0, 0);
            batch.volume.push(file);
            return Verdict::Parsed;
        }
        let op = match entry {
            [b'P', b'W', b'R', b'I', b'T', b'E', b',', ..] => Op::Write,
            [b'P', b'R', b'E', b'A', b'D', b',', ..] => Op::Read,
            _ => return Verdict::Bad("PWRITE, PREAD or FSYNC in io_submit, without vectors"),
        };
        match (number("aio_offset="), number("aio_nbytes=")) {
            (Some(offset), Some(bytes)) => {
                self.push(op, file, offset..offset.saturating_add(bytes), time_us, batch)
            }
            _ => Verdict::Bad(WRONG_OFFSET),
        }
    }
}

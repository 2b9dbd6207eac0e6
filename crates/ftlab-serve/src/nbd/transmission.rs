//! Requests and their replies, after the handshake.

use super::request::{HEADER_BYTES, Refusal, Request};
use super::wire::{
    SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, allocation, chunk, command, errno, flag,
};
use super::{REQUEST_BYTES_MAX, Step};
use crate::net::Replies;
use ftlab_drive::latency::{set_due, take_due};
use ftlab_drive::{Extent, Store};
use std::io;
use std::time::Instant;

/// A write with at most this much data is executed when all of it has been received; a larger one
/// in pieces, so that memory does not grow with it.
pub(super) const WHOLE_BYTES_MAX: u32 = 128 << 10;

/// Pieces of large writes end at a multiple of this within the drive, or of its block size if that
/// is larger.
const PIECE_BYTES: u32 = 64 << 10;

/// A read of more than this is answered in pieces, which end at a multiple of it within the drive, so
/// that memory does not grow with it.
const READ_PIECE_BYTES: u32 = 256 << 10;

/// Maximum number of parts in a reply that tells which hold data.
const EXTENTS_MAX: usize = 4096;

/// Maximum length of an error message: below the 4096 bytes of the specification for any text
/// encoding.
const MESSAGE_CHARS_MAX: usize = 1000;

/// A simple reply without data.
const SIMPLE_BYTES: usize = 16;

/// A chunk of a structured reply up to its data, including the offset of the data.
const CHUNK_BYTES: usize = 28;

/// Size of the pieces of a large write to `store`, in bytes.
fn piece_bytes(store: &dyn Store) -> u32 {
    PIECE_BYTES.max(store.block_bytes())
}

/// The maximum number of bytes needed at once to process a request; options of the handshake are
/// shorter.
pub(super) fn input_bytes(store: &dyn Store) -> usize {
    HEADER_BYTES + WHOLE_BYTES_MAX.max(piece_bytes(store)) as usize
}

/// The state of a transmission.
pub(super) struct Transmission<'a> {
    store: &'a dyn Store,
    size: u64,
    piece_bytes: u32,
    structured: bool,
    tells_allocation: bool,
    state: State,
}

enum State {
    /// A request comes next.
    Requests,
    /// The data of a large write comes next.
    Data(LargeWrite),
    /// The rest of a large read is sent next.
    Reading(LargeRead),
}

/// A read that is answered in pieces: each is a chunk of its own, or all of them are one.
struct LargeRead {
    request: Request,
    offset: u64,
    left: u32,
    is_one_chunk: bool,
    /// When the pieces so far are due; none is sent before an earlier one.
    due: Option<Instant>,
}

/// A write whose data has not been received yet.
struct LargeWrite {
    request: Request,
    offset: u64,
    left: u32,
    /// Why the rest of its data is skipped.
    failed: Option<Refusal>,
}

impl<'a> Transmission<'a> {
    pub(super) fn new(store: &'a dyn Store, structured: bool, tells_allocation: bool) -> Self {
        let (size, piece_bytes) = (store.bytes(), piece_bytes(store));
        let state = State::Requests;
        Self { store, size, piece_bytes, structured, tells_allocation, state }
    }

    /// Whether a request has been received in part.
    pub(super) fn is_within_request(&self) -> bool {
        matches!(self.state, State::Data(_))
    }

    pub(super) fn step(&mut self, input: &[u8], replies: &mut Replies) -> Step {
        match &mut self.state {
            State::Reading(_) => self.read_piece(replies),
            State::Requests => self.request(input, replies),
            State::Data(write) => {
                let used = write.take(input, self.store, self.piece_bytes);
                if write.left > 0 {
                    return if used == 0 { Step::Starved } else { Step::Used(used) };
                }
                let (request, failed) = (write.request, write.failed.take());
                self.state = State::Requests;
                let outcome = match failed {
                    Some(refusal) => Err(refusal),
                    None => self.force(&request),
                };
                self.reply(&request, outcome, replies);
                Step::Used(used)
            }
        }
    }

    fn request(&mut self, input: &[u8], replies: &mut Replies) -> Step {
        let Some((header, rest)) = input.split_first_chunk::<HEADER_BYTES>() else {
            return Step::Starved;
        };
        let Some(request) = Request::parse(header) else {
            return Step::Close(Some(format!("a request begins with {:02x?}", &header[..4])));
        };
        if let Err(refusal) = request.check(self.size, self.structured) {
            return self.refuse(&request, refusal, replies);
        }
        match request.command {
            command::WRITE if request.bytes <= WHOLE_BYTES_MAX => {
                let Some(data) = rest.get(..request.bytes as usize) else { return Step::Starved };
                let done = self.store.write(request.offset, data).map_err(Refusal::from);
                self.reply(&request, done.and_then(|()| self.force(&request)), replies);
                return Step::Used(HEADER_BYTES + data.len());
            }
            command::WRITE => self.state = State::Data(LargeWrite::new(request, None)),
            command::READ if request.bytes > READ_PIECE_BYTES => {
                return self.begin_reading(request, replies);
            }
            command::READ => self.read(&request, replies),
            command::BLOCK_STATUS => self.tell_allocation(&request, replies),
            command::DISC => return Step::Close(None),
            _ => {
                let outcome = self.carry_out(&request);
                self.reply(&request, outcome, replies);
            }
        }
        Step::Used(HEADER_BYTES)
    }

    /// Answers a request that is refused, and skips its data.
    fn refuse(&mut self, request: &Request, refusal: Refusal, replies: &mut Replies) -> Step {
        match request.data_bytes() {
            0 => self.reply(request, Err(refusal), replies),
            bytes if bytes / 2 > REQUEST_BYTES_MAX => {
                let message = refusal.message.clone();
                self.reply(request, Err(refusal), replies);
                return Step::Close(Some(message));
            }
            _ => self.state = State::Data(LargeWrite::new(*request, Some(refusal))),
        }
        Step::Used(HEADER_BYTES)
    }

    /// Flush, trim and write-zeroes.
    fn carry_out(&self, request: &Request) -> Result<(), Refusal> {
        let (offset, bytes) = (request.offset, u64::from(request.bytes));
        let may_trim = !request.has(flag::NO_HOLE);
        match request.command {
            command::FLUSH => return self.store.flush().map_err(Refusal::from),
            command::TRIM => self.store.trim(offset, bytes),
            _ if request.has(flag::FAST_ZERO) && !may_trim => {
                let message = "zeros that must be written are not faster than a write".to_owned();
                return Err(Refusal { errno: errno::ENOTSUP, message });
            }
            _ => self.store.write_zeroes(offset, bytes, may_trim),
        }?;
        self.force(request)
    }

    /// Makes the effect of a request with FUA durable.
    fn force(&self, request: &Request) -> Result<(), Refusal> {
        if request.has(flag::FUA) { self.store.flush().map_err(Refusal::from) } else { Ok(()) }
    }

    fn read(&self, request: &Request, replies: &mut Replies) {
        let (header, bytes) =
            (if self.structured { CHUNK_BYTES } else { SIMPLE_BYTES }, request.bytes as usize);
        let data = &mut replies.room(header + bytes)[header..];
        if let Err(error) = self.store.read(request.offset, data) {
            return self.reply(request, Err(error.into()), replies);
        }
        if self.structured {
            put_chunk(request.cookie, true, chunk::OFFSET_DATA, 8 + request.bytes, replies);
            replies.put_u64(request.offset);
        } else {
            put_simple(request.cookie, 0, replies);
        }
        replies.take(bytes);
    }

    /// Tells which parts of a range hold data, from its start on, as far as one reply goes.
    fn tell_allocation(&self, request: &Request, replies: &mut Replies) {
        if !self.tells_allocation {
            let message = "base:allocation was not selected in the handshake".to_owned();
            let refusal = Refusal { errno: errno::EINVAL, message };
            return self.reply(request, Err(refusal), replies);
        }
        let most = if request.has(flag::REQ_ONE) { 1 } else { EXTENTS_MAX };
        match self.extents(request, most) {
            Err(error) => self.reply(request, Err(error.into()), replies),
            Ok(extents) => {
                let bytes = 4 + 8 * extents.len() as u32;
                put_chunk(request.cookie, true, chunk::BLOCK_STATUS, bytes, replies);
                replies.put_u32(allocation::ID);
                for Extent { bytes, has_data } in extents {
                    replies.put_u32(bytes as u32);
                    let hole = allocation::HOLE | allocation::ZERO;
                    replies.put_u32(if has_data { 0 } else { hole });
                }
            }
        }
    }

    /// The parts of the range of a request, at most this many.
    fn extents(&self, request: &Request, most: usize) -> io::Result<Vec<Extent>> {
        let mut extents: Vec<Extent> = Vec::new();
        let mut offset = request.offset;
        let end = offset + u64::from(request.bytes);
        while offset < end {
            let next = self.store.extent(offset, end - offset)?;
            let is_full = extents.len() == most;
            match extents.last_mut() {
                Some(last) if last.has_data == next.has_data => last.bytes += next.bytes,
                _ if is_full => break,
                _ => extents.push(next),
            }
            offset += next.bytes;
        }
        Ok(extents)
    }

    /// Begins a large read. A reply in one piece for the client must not have others in between, so it
    /// waits for those that are delayed.
    fn begin_reading(&mut self, request: Request, replies: &mut Replies) -> Step {
        let is_one_chunk = !self.structured || request.has(flag::DF);
        if is_one_chunk && replies.is_holding() {
            replies.bar();
            return Step::Starved;
        }
        let (offset, left) = (request.offset, request.bytes);
        self.state = State::Reading(LargeRead { request, offset, left, is_one_chunk, due: None });
        Step::Used(HEADER_BYTES)
    }

    /// Reads the next piece of a large read.
    fn read_piece(&mut self, replies: &mut Replies) -> Step {
        let State::Reading(read) = &mut self.state else { return Step::Used(0) };
        let request = read.request;
        let is_first = read.left == request.bytes;
        let to_end = READ_PIECE_BYTES - (read.offset % u64::from(READ_PIECE_BYTES)) as u32;
        let bytes = read.left.min(to_end);
        let header = match (self.structured, is_first || !read.is_one_chunk) {
            (_, false) => 0,
            (true, true) => CHUNK_BYTES,
            (false, true) => SIMPLE_BYTES,
        };
        let data = &mut replies.room(header + bytes as usize)[header..];
        if let Err(error) = self.store.read(read.offset, data) {
            let is_begun = read.is_one_chunk && !is_first;
            self.state = State::Requests;
            if is_begun {
                return Step::Close(Some(format!(
                    "a read failed after its reply had begun: {error}"
                )));
            }
            self.reply(&request, Err(error.into()), replies);
            return Step::Used(0);
        }
        read.due = read.due.max(take_due());
        if let Some(due) = read.due {
            set_due(due);
        }
        let offset = read.offset;
        read.offset += u64::from(bytes);
        read.left -= bytes;
        let (is_last, is_one_chunk) = (read.left == 0, read.is_one_chunk);
        if header == CHUNK_BYTES {
            let (length, done) =
                if is_one_chunk { (request.bytes, true) } else { (bytes, is_last) };
            put_chunk(request.cookie, done, chunk::OFFSET_DATA, 8 + length, replies);
            replies.put_u64(offset);
        } else if header == SIMPLE_BYTES {
            put_simple(request.cookie, 0, replies);
        }
        replies.take(bytes as usize);
        if is_last {
            self.state = State::Requests;
            if is_one_chunk {
                replies.bar();
            }
        }
        Step::Used(0)
    }

    /// Answers a request other than a read that succeeded.
    fn reply(&self, request: &Request, outcome: Result<(), Refusal>, replies: &mut Replies) {
        match outcome {
            Ok(()) => put_simple(request.cookie, 0, replies),
            Err(refusal) if self.structured => {
                let message = refusal.message.as_bytes();
                let bytes = 4 + 2 + message.len() as u32;
                put_chunk(request.cookie, true, chunk::ERROR, bytes, replies);
                replies.put_u32(refusal.errno);
                replies.put_u16(message.len() as u16);
                replies.put(message);
            }
            Err(refusal) => put_simple(request.cookie, refusal.errno, replies),
        }
    }
}

impl LargeWrite {
    fn new(request: Request, failed: Option<Refusal>) -> Self {
        Self { request, offset: request.offset, left: request.bytes, failed }
    }

    /// Writes the received data, in whole pieces; returns how much of it was used.
    fn take(&mut self, input: &[u8], store: &dyn Store, piece_bytes: u32) -> usize {
        let mut bytes = input.len().min(self.left as usize);
        if self.failed.is_none() {
            if bytes < self.left as usize {
                let end = self.offset + bytes as u64;
                bytes = (end - end % u64::from(piece_bytes)).saturating_sub(self.offset) as usize;
            }
            if bytes == 0 {
                return 0;
            }
            self.failed = store.write(self.offset, &input[..bytes]).err().map(Refusal::from);
            self.offset += bytes as u64;
        }
        self.left -= bytes as u32;
        bytes
    }
}

#[inline]
fn put_simple(cookie: u64, errno: u32, replies: &mut Replies) {
    let room = replies.room(SIMPLE_BYTES);
    room[..4].copy_from_slice(&SIMPLE_REPLY_MAGIC.to_be_bytes());
    room[4..8].copy_from_slice(&errno.to_be_bytes());
    room[8..].copy_from_slice(&cookie.to_be_bytes());
    replies.take(SIMPLE_BYTES);
}

/// Begins a chunk of a structured reply, which may be the last one.
fn put_chunk(cookie: u64, is_last: bool, kind: u16, bytes: u32, replies: &mut Replies) {
    replies.put_u32(STRUCTURED_REPLY_MAGIC);
    replies.put_u16(if is_last { chunk::DONE } else { 0 });
    replies.put_u16(kind);
    replies.put_u64(cookie);
    replies.put_u32(bytes);
}

/// The kind of an error, or of the error behind one of no kind.
fn cause(error: &io::Error) -> io::ErrorKind {
    let mut source = error.get_ref().map(|inner| inner as &dyn std::error::Error);
    while error.kind() == io::ErrorKind::Other
        && let Some(inner) = source
    {
        if let Some(inner) = inner.downcast_ref::<io::Error>() {
            return cause(inner);
        }
        source = inner.source();
    }
    error.kind()
}

/// The error of a store, as one of the few error numbers of NBD.
impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind as Kind;
        let errno = match cause(&error) {
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => errno::EPERM,
            Kind::InvalidInput => errno::EINVAL,
            Kind::OutOfMemory => errno::ENOMEM,
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => errno::ENOSPC,
            Kind::Unsupported => errno::ENOTSUP,
            _ => errno::EIO,
        };
        Self { errno, message: error.to_string().chars().take(MESSAGE_CHARS_MAX).collect() }
    }
}

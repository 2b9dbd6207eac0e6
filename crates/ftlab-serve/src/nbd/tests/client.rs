//! What a client sends, and a strict reader of what a server sends.

use crate::nbd::wire::{
    IHAVEOPT, OPTION_REPLY_MAGIC, REQUEST_MAGIC, SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC,
    allocation, chunk, info, option, reply,
};
use crate::nbd::{Export, Session};
use crate::net::{Conversation, Replies};
use ftlab_drive::Store;

/// An export with a name.
pub(super) fn export() -> Export {
    Export { name: "disk".to_owned(), description: "a disk".to_owned() }
}

pub(super) fn option(option: u32, data: &[u8]) -> Vec<u8> {
    let header = [&IHAVEOPT.to_be_bytes()[..], &option.to_be_bytes()];
    [header.concat(), (data.len() as u32).to_be_bytes().to_vec(), data.to_vec()].concat()
}

pub(super) fn go_data(name: &str, infos: &[u16]) -> Vec<u8> {
    let mut data = (name.len() as u32).to_be_bytes().to_vec();
    data.extend(name.as_bytes());
    data.extend((infos.len() as u16).to_be_bytes());
    data.extend(infos.iter().flat_map(|info| info.to_be_bytes()));
    data
}

/// All that a client says until the transmission begins.
pub(super) fn hello(structured: bool) -> Vec<u8> {
    let mut bytes = 3_u32.to_be_bytes().to_vec();
    if structured {
        bytes.extend(option(option::STRUCTURED_REPLY, &[]));
    }
    bytes.extend(option(option::GO, &go_data("", &[info::BLOCK_SIZE])));
    bytes
}

/// The data of options about contexts.
pub(super) fn context_data(name: &str, queries: &[&str]) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat();
    let queries_data = queries.iter().flat_map(|query| text(query));
    let count = (queries.len() as u32).to_be_bytes();
    text(name).into_iter().chain(count).chain(queries_data).collect()
}

pub(super) fn request(flags: u16, command: u16, cookie: u64, offset: u64, bytes: u32) -> Vec<u8> {
    let mut header = REQUEST_MAGIC.to_be_bytes().to_vec();
    header.extend(flags.to_be_bytes());
    header.extend(command.to_be_bytes());
    header.extend(cookie.to_be_bytes());
    header.extend(offset.to_be_bytes());
    header.extend(bytes.to_be_bytes());
    header
}

/// The state of a connection after everything was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Open,
    /// The client wished to leave.
    Left,
    /// The client violated the protocol.
    Broken(String),
}

/// Gives `input` to a new session in pieces of the given sizes, in turn, as a socket would; what it
/// answered, how many bytes it took, and how it ends.
pub(super) fn converse(store: &dyn Store, input: &[u8], pieces: &[usize]) -> (Vec<u8>, usize, End) {
    let (export, mut replies, mut sent) = (export(), Replies::default(), Vec::new());
    let mut session = Session::begin(store, &export, &mut replies);
    let (mut used, mut end) = (0, 0);
    let mut sizes = pieces.iter().cycle();
    loop {
        used += session.feed(&input[used..end], &mut replies);
        let was_full = replies.is_full();
        sent.extend_from_slice(replies.bytes());
        replies.clear();
        if session.is_closed() {
            return (
                sent,
                used,
                session.problem().map_or(End::Left, |text| End::Broken(text.into())),
            );
        }
        if was_full {
            continue;
        }
        if end == input.len() {
            return (sent, used, End::Open);
        }
        assert!(end - used <= session.input_bytes(), "{} bytes wait", end - used);
        end = input.len().min(end + sizes.next().unwrap());
    }
}

/// Something that a server sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// An answer to an option: which, kind, data.
    Answer(u32, u32, Vec<u8>),
    /// A success without data.
    Done(u64),
    /// A failure: cookie, error, message.
    Failed(u64, u32, String),
    /// Data that was read.
    Data(u64, Vec<u8>),
    /// Lengths of parts, and the flags of each.
    Status(u64, Vec<(u32, u32)>),
}

/// Cookie, offset and data of a piece of a read.
type Piece = (u64, u64, Vec<u8>);

/// Reads what a server sends, strictly: every byte has to be accounted for.
pub(super) struct Listener<'a> {
    pub(super) left: &'a [u8],
    structured: bool,
    /// Cookie -> bytes that were asked for, by reads.
    reads: &'a dyn Fn(u64) -> Option<u32>,
}

impl<'a> Listener<'a> {
    /// Checks the greeting.
    pub(super) fn new(
        sent: &'a [u8],
        structured: bool,
        reads: &'a dyn Fn(u64) -> Option<u32>,
    ) -> Self {
        let left = sent.strip_prefix(b"NBDMAGICIHAVEOPT\0\x03").expect("a greeting");
        Self { left, structured, reads }
    }

    fn bytes(&mut self, bytes: usize) -> &'a [u8] {
        let (first, rest) = self.left.split_at(bytes);
        self.left = rest;
        first
    }

    fn number(&mut self, bytes: usize) -> u64 {
        self.bytes(bytes).iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// All answers up to the one that ends the handshake, or the end.
    pub(super) fn answers(&mut self) -> Vec<Reply> {
        let mut answers = Vec::new();
        while self.left.len() >= 8 && self.left[..8] == OPTION_REPLY_MAGIC.to_be_bytes() {
            self.bytes(8);
            let (option, kind) = (self.number(4) as u32, self.number(4) as u32);
            let bytes = self.number(4) as usize;
            let data = self.bytes(bytes).to_vec();
            answers.push(Reply::Answer(option, kind, data));
            if (option, kind) == (option::GO, reply::ACK) {
                break;
            }
        }
        answers
    }

    /// All replies to requests.
    pub(super) fn replies(&mut self) -> Vec<Reply> {
        let mut replies = Vec::new();
        while !self.left.is_empty() {
            replies.push(match self.number(4) as u32 {
                SIMPLE_REPLY_MAGIC => self.simple(),
                STRUCTURED_REPLY_MAGIC if self.structured => self.chunks(),
                magic => panic!("a reply begins with {magic:#x}"),
            });
        }
        replies
    }

    fn simple(&mut self) -> Reply {
        let (errno, cookie) = (self.number(4) as u32, self.number(8));
        let read = (self.reads)(cookie);
        assert!(!(self.structured && read.is_some()), "reads are answered in a structured way");
        match read {
            _ if errno != 0 => Reply::Failed(cookie, errno, String::new()),
            Some(bytes) => Reply::Data(cookie, self.bytes(bytes as usize).to_vec()),
            None => Reply::Done(cookie),
        }
    }

    /// A reply that consists of pieces, in order.
    fn chunks(&mut self) -> Reply {
        let mut data = Vec::new();
        let mut next = None;
        loop {
            match self.chunk() {
                (is_last, Ok((cookie, offset, bytes))) => {
                    assert!(next.is_none_or(|next| next == (cookie, offset)));
                    next = Some((cookie, offset + bytes.len() as u64));
                    data.extend(bytes);
                    if is_last {
                        return Reply::Data(cookie, data);
                    }
                    assert_eq!(self.number(4) as u32, STRUCTURED_REPLY_MAGIC);
                }
                (is_last, Err(failed)) => {
                    assert!(is_last);
                    return failed;
                }
            }
        }
    }

    /// Whether it is the last one, and a piece of a read, or any other reply.
    fn chunk(&mut self) -> (bool, Result<Piece, Reply>) {
        let is_last = self.number(2) as u16 == chunk::DONE;
        let (kind, cookie, bytes) = (self.number(2) as u16, self.number(8), self.number(4));
        match kind {
            chunk::OFFSET_DATA => {
                let offset = self.number(8);
                (is_last, Ok((cookie, offset, self.bytes(bytes as usize - 8).to_vec())))
            }
            chunk::BLOCK_STATUS => {
                assert_eq!(self.number(4) as u32, allocation::ID);
                let parts = (bytes - 4) / 8;
                let parts = (0..parts).map(|_| (self.number(4) as u32, self.number(4) as u32));
                (is_last, Err(Reply::Status(cookie, parts.collect())))
            }
            chunk::ERROR => {
                let (errno, length) = (self.number(4) as u32, self.number(2));
                assert_eq!(bytes, 6 + length);
                let message = String::from_utf8(self.bytes(length as usize).to_vec()).unwrap();
                (is_last, Err(Reply::Failed(cookie, errno, message)))
            }
            kind => panic!("a chunk of type {kind}"),
        }
    }
}

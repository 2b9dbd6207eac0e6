//! The fixed newstyle handshake: the client sends options until one of them starts the
//! transmission.

use super::wire::{
    FLAG_FIXED_NEWSTYLE, FLAG_NO_ZEROES, IHAVEOPT, NBDMAGIC, OPTION_REPLY_MAGIC, allocation, info,
    option, reply, transmission,
};
use super::{Export, REQUEST_BYTES_MAX, Step};
use crate::net::Replies;
use ftlab_drive::Store;

/// Options with more data are skipped; every option in the specification is shorter.
const OPTION_BYTES_MAX: u32 = 16 << 10;

/// Maximum length of an unknown name in an error message.
const NAME_CHARS_MAX: usize = 80;

/// The state of a handshake.
pub(super) struct Handshake<'a> {
    store: &'a dyn Store,
    export: &'a Export,
    state: State,
    tls: TlsState,
    no_zeroes: bool,
    structured: bool,
    /// Whether the client asked to be told which parts hold data.
    tells_allocation: bool,
}

/// Whether the conversation is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TlsState {
    /// It cannot be.
    Absent,
    /// The client may ask for it.
    Offered,
    /// The client can do nothing else.
    Required,
    /// It is.
    Active,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// The client's flags come next.
    Flags,
    /// An option comes next.
    Options,
    /// This many bytes of an option that is too long come next.
    PassingOver { option: u32, bytes: u32 },
}

/// The effect of an option.
enum Next {
    Option,
    Transmission,
    Tls,
    Close,
}

impl<'a> Handshake<'a> {
    /// Greets the client.
    pub(super) fn begin(store: &'a dyn Store, export: &'a Export, replies: &mut Replies) -> Self {
        replies.put_u64(NBDMAGIC);
        replies.put_u64(IHAVEOPT);
        replies.put_u16(FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES);
        Self {
            store,
            export,
            state: State::Flags,
            tls: TlsState::Absent,
            no_zeroes: false,
            structured: false,
            tells_allocation: false,
        }
    }

    pub(super) fn offer_tls(&mut self, is_required: Option<bool>) {
        self.tls = match is_required {
            None => TlsState::Absent,
            Some(false) => TlsState::Offered,
            Some(true) => TlsState::Required,
        };
    }

    /// Whether the client may ask which parts hold data.
    pub(super) fn tells_allocation(&self) -> bool {
        self.tells_allocation
    }

    /// Whether the client supports structured replies.
    pub(super) fn is_structured(&self) -> bool {
        self.structured
    }

    pub(super) fn step(&mut self, input: &[u8], replies: &mut Replies) -> Step {
        match self.state {
            State::Flags => self.flags(input),
            State::Options => self.option(input, replies),
            State::PassingOver { option, bytes } => {
                let passed = bytes.min(input.len() as u32);
                if passed < bytes {
                    self.state = State::PassingOver { option, bytes: bytes - passed };
                    return if passed == 0 { Step::Starved } else { Step::Used(passed as usize) };
                }
                let message = format!("the data of this option exceeds {OPTION_BYTES_MAX} bytes");
                answer_error(replies, option, reply::ERR_TOO_BIG, &message);
                self.state = State::Options;
                Step::Used(passed as usize)
            }
        }
    }

    fn flags(&mut self, input: &[u8]) -> Step {
        let Some(flags) = input.first_chunk().map(|bytes| u32::from_be_bytes(*bytes)) else {
            return Step::Starved;
        };
        let known = u32::from(FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES);
        if flags & !known != 0 {
            return Step::Close(Some(format!("the client sent unknown flags {flags:#x}")));
        }
        self.no_zeroes = flags & u32::from(FLAG_NO_ZEROES) != 0;
        self.state = State::Options;
        Step::Used(4)
    }

    fn option(&mut self, input: &[u8], replies: &mut Replies) -> Step {
        let mut fields = Fields(input);
        let (Some(magic), Some(option), Some(bytes)) = (fields.u64(), fields.u32(), fields.u32())
        else {
            return Step::Starved;
        };
        if magic != IHAVEOPT {
            return Step::Close(Some(format!("an option begins with {magic:#018x}")));
        }
        let header = input.len() - fields.0.len();
        if bytes > OPTION_BYTES_MAX {
            self.state = State::PassingOver { option, bytes };
            return Step::Used(header);
        }
        let Some(data) = fields.bytes(bytes as usize) else { return Step::Starved };
        let used = header + data.len();
        match self.answer(option, data, replies) {
            Next::Option => Step::Used(used),
            Next::Transmission => Step::Transmission(used),
            Next::Tls => Step::Tls(used),
            Next::Close if self.tls == TlsState::Required => {
                Step::Close(Some("the client does not ask for TLS, which is required".to_owned()))
            }
            Next::Close if option == option::EXPORT_NAME => {
                let name = shown(data);
                Step::Close(Some(format!("the client requests the unknown export {name}")))
            }
            Next::Close => Step::Close(None),
        }
    }

    fn answer(&mut self, option: u32, data: &[u8], replies: &mut Replies) -> Next {
        match option {
            option::ABORT | option::STARTTLS => {}
            option::EXPORT_NAME if self.tls == TlsState::Required => return Next::Close,
            _ if self.tls == TlsState::Required => {
                let message = "this server requires TLS";
                answer_error(replies, option, reply::ERR_TLS_REQD, message);
                return Next::Option;
            }
            _ => {}
        }
        match option {
            option::EXPORT_NAME => return self.answer_export_name(data, replies),
            option::ABORT => {
                answer(replies, option, reply::ACK, &[]);
                return Next::Close;
            }
            option::INFO | option::GO => return self.answer_info(option, data, replies),
            option::LIST | option::STRUCTURED_REPLY | option::STARTTLS if !data.is_empty() => {
                let message = format!("this option has no data, not {} bytes", data.len());
                answer_error(replies, option, reply::ERR_INVALID, &message);
            }
            option::LIST => {
                let name = self.export.name.as_bytes();
                let length = (name.len() as u32).to_be_bytes();
                let description = self.export.description.as_bytes();
                answer(replies, option, reply::SERVER, &[&length, name, description]);
                answer(replies, option, reply::ACK, &[]);
            }
            option::STRUCTURED_REPLY => {
                self.structured = true;
                answer(replies, option, reply::ACK, &[]);
            }
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => {
                self.answer_contexts(option, data, replies);
            }
            option::STARTTLS => return self.answer_starttls(replies),
            _ => answer_error(replies, option, reply::ERR_UNSUP, "unknown option"),
        }
        Next::Option
    }

    /// Nothing that the client said before TLS counts.
    fn answer_starttls(&mut self, replies: &mut Replies) -> Next {
        let option = option::STARTTLS;
        match self.tls {
            TlsState::Absent => {
                let message = "this server does not speak TLS; it needs --tls-cert and --tls-key";
                answer_error(replies, option, reply::ERR_UNSUP, message);
                Next::Option
            }
            TlsState::Active => {
                let message = "the conversation is encrypted already";
                answer_error(replies, option, reply::ERR_INVALID, message);
                Next::Option
            }
            TlsState::Offered | TlsState::Required => {
                answer(replies, option, reply::ACK, &[]);
                self.tls = TlsState::Active;
                self.structured = false;
                self.tells_allocation = false;
                Next::Tls
            }
        }
    }

    /// There is one context, which tells which parts hold data. SET selects it for the transmission, and
    /// LIST without a query lists it.
    fn answer_contexts(&mut self, option: u32, data: &[u8], replies: &mut Replies) {
        let sets = option == option::SET_META_CONTEXT;
        let Some((name, queries)) = name_and_queries(data).filter(|_| self.structured) else {
            let message = "expected structured replies, and then the length of a name, the name, and a \
                           list of queries";
            return answer_error(replies, option, reply::ERR_INVALID, message);
        };
        if !self.export.is_called(name) {
            return self.answer_unknown(option, name, replies);
        }
        let is_asked = queries
            .iter()
            .any(|query| *query == allocation::NAME || (!sets && *query == allocation::NAMESPACE));
        let is_found = is_asked || (!sets && queries.is_empty());
        if is_found {
            let id = if sets { allocation::ID } else { 0 }.to_be_bytes();
            answer(replies, option, reply::META_CONTEXT, &[&id, allocation::NAME]);
        }
        if sets {
            self.tells_allocation = is_found;
        }
        answer(replies, option, reply::ACK, &[]);
    }

    fn answer_unknown(&self, option: u32, name: &[u8], replies: &mut Replies) {
        let known = &self.export.name;
        let message = format!("there is no export {}; request {known:?} or \"\"", shown(name));
        answer_error(replies, option, reply::ERR_UNKNOWN, &message);
    }

    /// The old option to start the transmission, which cannot be refused.
    fn answer_export_name(&self, name: &[u8], replies: &mut Replies) -> Next {
        if !self.export.is_called(name) {
            return Next::Close;
        }
        replies.put_u64(self.store.bytes());
        replies.put_u16(self.transmission_flags());
        if !self.no_zeroes {
            replies.put(&[0; 124]);
        }
        Next::Transmission
    }

    /// INFO and GO: size, flags and block sizes; GO also starts the transmission.
    fn answer_info(&self, option: u32, data: &[u8], replies: &mut Replies) -> Next {
        let Some((name, wanted)) = name_and_infos(data) else {
            let message =
                "expected the length of a name, the name, and a list of information requests";
            answer_error(replies, option, reply::ERR_INVALID, message);
            return Next::Option;
        };
        if !self.export.is_called(name) {
            self.answer_unknown(option, name, replies);
            return Next::Option;
        }
        let mut tell = |info: u16, parts: [&[u8]; 3]| {
            let info = info.to_be_bytes();
            answer(replies, option, reply::INFO, &[&info, parts[0], parts[1], parts[2]]);
        };
        let (size, flags) = (self.store.bytes().to_be_bytes(), self.transmission_flags());
        tell(info::EXPORT, [&size, &flags.to_be_bytes(), &[]]);
        // Any offset and length works; whole blocks are fastest.
        let sizes = [1, self.store.block_bytes(), REQUEST_BYTES_MAX].map(u32::to_be_bytes);
        tell(info::BLOCK_SIZE, [&sizes[0], &sizes[1], &sizes[2]]);
        for info in wanted {
            match info {
                info::NAME => tell(info, [self.export.name.as_bytes(), &[], &[]]),
                info::DESCRIPTION => tell(info, [self.export.description.as_bytes(), &[], &[]]),
                _ => {}
            }
        }
        answer(replies, option, reply::ACK, &[]);
        if option == option::GO { Next::Transmission } else { Next::Option }
    }

    fn transmission_flags(&self) -> u16 {
        use transmission::{
            CAN_MULTI_CONN, HAS_FLAGS, READ_ONLY, SEND_DF, SEND_FAST_ZERO, SEND_FLUSH, SEND_FUA,
            SEND_TRIM, SEND_WRITE_ZEROES,
        };
        // Several connections: a store's flush covers everything that completed before, on any of them.
        let flags = HAS_FLAGS | SEND_FLUSH | SEND_FUA | SEND_TRIM | SEND_WRITE_ZEROES;
        let flags = flags | SEND_FAST_ZERO | CAN_MULTI_CONN;
        let flags = if self.store.is_read_only() { flags | READ_ONLY } else { flags };
        if self.structured { flags | SEND_DF } else { flags }
    }
}

impl Export {
    /// Whether it has this name; the empty name refers to the only export.
    fn is_called(&self, name: &[u8]) -> bool {
        name.is_empty() || name == self.name.as_bytes()
    }
}

/// A name for a message.
fn shown(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let start: String = text.chars().take(NAME_CHARS_MAX).collect();
    let rest = if start.len() < text.len() { "..." } else { "" };
    format!("{start:?}{rest}")
}

/// Parses the data of INFO and GO.
fn name_and_infos(data: &[u8]) -> Option<(&[u8], impl Iterator<Item = u16>)> {
    let mut fields = Fields(data);
    let name_bytes = fields.u32()?;
    let name = fields.bytes(name_bytes as usize)?;
    let count = fields.u16()?;
    let infos = fields.0.chunks_exact(2).map(|info| u16::from_be_bytes([info[0], info[1]]));
    (fields.0.len() == 2 * usize::from(count)).then_some((name, infos))
}

/// Parses the data of options about contexts.
fn name_and_queries(data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let mut fields = Fields(data);
    let name_bytes = fields.u32()?;
    let name = fields.bytes(name_bytes as usize)?;
    let mut queries = Vec::new();
    for _ in 0..fields.u32()? {
        let bytes = fields.u32()?;
        queries.push(fields.bytes(bytes as usize)?);
    }
    fields.0.is_empty().then_some((name, queries))
}

fn answer(replies: &mut Replies, option: u32, kind: u32, parts: &[&[u8]]) {
    replies.put_u64(OPTION_REPLY_MAGIC);
    replies.put_u32(option);
    replies.put_u32(kind);
    replies.put_u32(parts.iter().map(|part| part.len() as u32).sum());
    for part in parts {
        replies.put(part);
    }
}

fn answer_error(replies: &mut Replies, option: u32, kind: u32, message: &str) {
    answer(replies, option, kind, &[message.as_bytes()]);
}

/// Takes fields from the front of bytes; `None` if there are too few.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    fn bytes(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(first)
    }
}

//! Requests and their validation.

use super::REQUEST_BYTES_MAX;
use super::wire::{REQUEST_MAGIC, command, errno, flag};

/// Size of a request without its data, in bytes.
pub(super) const HEADER_BYTES: usize = 28;

/// A request as the client sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) flags: u16,
    pub(super) command: u16,
    /// The client's identifier for it.
    pub(super) cookie: u64,
    pub(super) offset: u64,
    pub(super) bytes: u32,
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) errno: u32,
    pub(super) message: String,
}

impl Request {
    /// `None` if it does not start with the magic number: the connection is unusable.
    pub(super) fn parse(header: &[u8; HEADER_BYTES]) -> Option<Self> {
        let (magic, rest) = header.split_first_chunk()?;
        let (flags, rest) = rest.split_first_chunk()?;
        let (command, rest) = rest.split_first_chunk()?;
        let (cookie, rest) = rest.split_first_chunk()?;
        let (offset, rest) = rest.split_first_chunk()?;
        (u32::from_be_bytes(*magic) == REQUEST_MAGIC).then_some(Self {
            flags: u16::from_be_bytes(*flags),
            command: u16::from_be_bytes(*command),
            cookie: u64::from_be_bytes(*cookie),
            offset: u64::from_be_bytes(*offset),
            bytes: u32::from_be_bytes(*rest.first_chunk()?),
        })
    }

    pub(super) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Bytes that follow it.
    pub(super) fn data_bytes(&self) -> u32 {
        if self.command == command::WRITE { self.bytes } else { 0 }
    }

    /// Refuses requests that an export of `size` bytes cannot execute.
    #[inline]
    pub(super) fn check(&self, size: u64, structured: bool) -> Result<(), Refusal> {
        let flags = match self.command {
            command::READ if structured => flag::FUA | flag::DF,
            command::BLOCK_STATUS => flag::FUA | flag::REQ_ONE,
            command::WRITE_ZEROES => flag::FUA | flag::NO_HOLE | flag::FAST_ZERO,
            command::READ | command::WRITE | command::TRIM | command::FLUSH | command::DISC => {
                flag::FUA
            }
            other => return Err(invalid(format!("unknown command {other}"))),
        };
        if self.flags & !flags != 0 {
            let (name, wrong) = (self.name(), self.flags & !flags);
            return Err(invalid(format!("a {name} cannot have flags {wrong:#x}")));
        }
        match self.command {
            command::DISC => Ok(()),
            command::FLUSH if self.offset == 0 && self.bytes == 0 => Ok(()),
            command::FLUSH => Err(invalid("a flush has no offset and no length".to_owned())),
            _ => self.check_range(size),
        }
    }

    fn check_range(&self, size: u64) -> Result<(), Refusal> {
        let (name, offset, bytes) = (self.name(), self.offset, self.bytes);
        let has_data = matches!(self.command, command::READ | command::WRITE);
        if bytes == 0 {
            return Err(invalid(format!("a {name} of 0 bytes; the minimum is 1")));
        }
        if has_data && bytes > REQUEST_BYTES_MAX {
            let message = format!("a {name} of {bytes} bytes; the maximum is {REQUEST_BYTES_MAX}");
            return Err(invalid(message));
        }
        if offset.checked_add(u64::from(bytes)).is_some_and(|end| end <= size) {
            return Ok(());
        }
        let writes = matches!(self.command, command::WRITE | command::WRITE_ZEROES);
        Err(Refusal {
            errno: if writes { errno::ENOSPC } else { errno::EINVAL },
            message: format!("a {name} of {bytes} bytes at {offset}; there are {size} bytes"),
        })
    }

    fn name(&self) -> &'static str {
        match self.command {
            command::READ => "read",
            command::WRITE => "write",
            command::TRIM => "trim",
            command::WRITE_ZEROES => "write of zeros",
            command::FLUSH => "flush",
            command::BLOCK_STATUS => "query",
            _ => "disconnect",
        }
    }
}

fn invalid(message: String) -> Refusal {
    Refusal { errno: errno::EINVAL, message }
}

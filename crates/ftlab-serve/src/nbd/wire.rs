//! The numbers of the NBD protocol, as its specification names them
//! (github.com/NetworkBlockDevice/nbd, doc/proto.md). All are big-endian.

pub(super) const NBDMAGIC: u64 = u64::from_be_bytes(*b"NBDMAGIC");
pub(super) const IHAVEOPT: u64 = u64::from_be_bytes(*b"IHAVEOPT");
pub(super) const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
pub(super) const REQUEST_MAGIC: u32 = 0x2560_9513;
pub(super) const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
pub(super) const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;

/// Flags of the handshake, the same from both sides.
pub(super) const FLAG_FIXED_NEWSTYLE: u16 = 1 << 0;
pub(super) const FLAG_NO_ZEROES: u16 = 1 << 1;

/// Options of the client in the handshake.
pub(super) mod option {
    pub(crate) const EXPORT_NAME: u32 = 1;
    pub(crate) const ABORT: u32 = 2;
    pub(crate) const LIST: u32 = 3;
    pub(crate) const STARTTLS: u32 = 5;
    pub(crate) const INFO: u32 = 6;
    pub(crate) const GO: u32 = 7;
    pub(crate) const STRUCTURED_REPLY: u32 = 8;
    pub(crate) const LIST_META_CONTEXT: u32 = 9;
    pub(crate) const SET_META_CONTEXT: u32 = 10;
}

/// Replies of the server in the handshake.
pub(super) mod reply {
    pub(crate) const ACK: u32 = 1;
    pub(crate) const SERVER: u32 = 2;
    pub(crate) const INFO: u32 = 3;
    pub(crate) const META_CONTEXT: u32 = 4;
    pub(crate) const ERR_UNSUP: u32 = (1 << 31) + 1;
    pub(crate) const ERR_TLS_REQD: u32 = (1 << 31) + 5;
    pub(crate) const ERR_INVALID: u32 = (1 << 31) + 3;
    pub(crate) const ERR_UNKNOWN: u32 = (1 << 31) + 6;
    pub(crate) const ERR_TOO_BIG: u32 = (1 << 31) + 9;
}

/// Information about an export.
pub(super) mod info {
    pub(crate) const EXPORT: u16 = 0;
    pub(crate) const NAME: u16 = 1;
    pub(crate) const DESCRIPTION: u16 = 2;
    pub(crate) const BLOCK_SIZE: u16 = 3;
}

/// Flags of an export.
pub(super) mod transmission {
    pub(crate) const HAS_FLAGS: u16 = 1 << 0;
    pub(crate) const READ_ONLY: u16 = 1 << 1;
    pub(crate) const SEND_FLUSH: u16 = 1 << 2;
    pub(crate) const SEND_FUA: u16 = 1 << 3;
    pub(crate) const SEND_TRIM: u16 = 1 << 5;
    pub(crate) const SEND_WRITE_ZEROES: u16 = 1 << 6;
    pub(crate) const SEND_DF: u16 = 1 << 7;
    pub(crate) const CAN_MULTI_CONN: u16 = 1 << 8;
    pub(crate) const SEND_FAST_ZERO: u16 = 1 << 11;
}

/// Types of requests.
pub(super) mod command {
    pub(crate) const READ: u16 = 0;
    pub(crate) const WRITE: u16 = 1;
    pub(crate) const DISC: u16 = 2;
    pub(crate) const FLUSH: u16 = 3;
    pub(crate) const TRIM: u16 = 4;
    pub(crate) const WRITE_ZEROES: u16 = 6;
    pub(crate) const BLOCK_STATUS: u16 = 7;
}

/// Flags of requests.
pub(super) mod flag {
    pub(crate) const FUA: u16 = 1 << 0;
    pub(crate) const NO_HOLE: u16 = 1 << 1;
    pub(crate) const DF: u16 = 1 << 2;
    pub(crate) const REQ_ONE: u16 = 1 << 3;
    pub(crate) const FAST_ZERO: u16 = 1 << 4;
}

/// The context that tells which parts hold data, the number that we give it, and its flags.
pub(super) mod allocation {
    pub(crate) const NAME: &[u8] = b"base:allocation";
    pub(crate) const NAMESPACE: &[u8] = b"base:";
    pub(crate) const ID: u32 = 1;
    pub(crate) const HOLE: u32 = 1 << 0;
    pub(crate) const ZERO: u32 = 1 << 1;
}

/// Structured replies: the flag of the last chunk, and types of chunks.
pub(super) mod chunk {
    pub(crate) const DONE: u16 = 1 << 0;
    pub(crate) const OFFSET_DATA: u16 = 1;
    pub(crate) const BLOCK_STATUS: u16 = 5;
    pub(crate) const ERROR: u16 = (1 << 15) + 1;
}

/// Errors of requests.
pub(super) mod errno {
    pub(crate) const EPERM: u32 = 1;
    pub(crate) const EIO: u32 = 5;
    pub(crate) const ENOMEM: u32 = 12;
    pub(crate) const EINVAL: u32 = 22;
    pub(crate) const ENOSPC: u32 = 28;
    pub(crate) const ENOTSUP: u32 = 95;
}

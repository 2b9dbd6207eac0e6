//! Units for the host (NVMe/TCP 1.1, section 3.6.2).

use super::UNIT_BYTES_MAX;
use super::layout::{
    Completion, Data, Header, InitRequest, InitResponse, ReadyToTransfer, Termination, flag, kind,
};
use crate::net::Replies;

pub(super) const DIGEST_BYTES: usize = 4;

/// Digests, and the alignment of data, on which host and controller have agreed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wire {
    pub(super) header_digest: bool,
    pub(super) data_digest: bool,
    /// Data for the host begin at a multiple of this; 0 means anywhere.
    alignment: usize,
}

impl Wire {
    /// What the host proposes, all of which is accepted.
    pub(super) fn agree(request: InitRequest) -> Self {
        Self {
            header_digest: request.digests & 1 != 0,
            data_digest: request.digests & 2 != 0,
            alignment: 4 * (usize::from(request.alignment) + 1),
        }
    }

    /// Answers the host's proposal.
    pub(super) fn greet(self, replies: &mut Replies) {
        let response = InitResponse {
            version: 0,
            alignment: 0,
            digests: u8::from(self.header_digest) | u8::from(self.data_digest) << 1,
            data_bytes_max: UNIT_BYTES_MAX,
        };
        replies.put(&response.encode());
    }

    /// Bytes of a header with its digest.
    pub(super) fn header_bytes(self, bytes: usize) -> usize {
        bytes + if self.header_digest { DIGEST_BYTES } else { 0 }
    }

    /// Puts a unit without data, of which `put` writes what is after the common header.
    fn plain<const BYTES: usize>(
        self,
        kind: u8,
        replies: &mut Replies,
        put: impl FnOnce(&mut [u8]),
    ) {
        let bytes = self.header_bytes(BYTES);
        let room = replies.room(bytes);
        let flags = if self.header_digest { flag::HEADER_DIGEST } else { 0 };
        put(room);
        let header =
            Header { kind, flags, length: BYTES as u8, data_offset: 0, bytes: bytes as u32 };
        header.put(room);
        self.seal(room, BYTES);
        replies.take(bytes);
    }

    /// Puts the digest after a header.
    fn seal(self, unit: &mut [u8], header_bytes: usize) {
        if self.header_digest {
            let (header, rest) = unit.split_at_mut(header_bytes);
            rest[..DIGEST_BYTES].copy_from_slice(&crc32c::crc32c(header).to_le_bytes());
        }
    }

    pub(super) fn response(self, completion: &Completion, replies: &mut Replies) {
        const BYTES: usize = Header::BYTES + Completion::BYTES;
        self.plain::<BYTES>(kind::RESPONSE, replies, |unit| {
            unit[Header::BYTES..BYTES].copy_from_slice(&completion.encode());
        });
    }

    /// Asks for data.
    pub(super) fn ask(self, ready: &ReadyToTransfer, replies: &mut Replies) {
        const BYTES: usize = ReadyToTransfer::BYTES;
        self.plain::<BYTES>(kind::READY_TO_TRANSFER, replies, |unit| ready.put(unit));
    }

    /// Sends data, which `fill` provides; nothing is sent if that fails.
    pub(super) fn data<E>(
        self,
        data: Data,
        flags: u8,
        replies: &mut Replies,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let header_end = self.header_bytes(Data::BYTES);
        let start = header_end.next_multiple_of(self.alignment.max(1));
        let end = start + data.bytes as usize;
        let bytes = end + if self.data_digest { DIGEST_BYTES } else { 0 };
        let unit = replies.room(bytes);
        fill(&mut unit[start..end])?;
        unit[header_end..start].fill(0);
        data.put(unit);
        let mut flags = flags;
        if self.header_digest {
            flags |= flag::HEADER_DIGEST;
        }
        if self.data_digest {
            flags |= flag::DATA_DIGEST;
        }
        let header = Header {
            kind: kind::CONTROLLER_DATA,
            flags,
            length: Data::BYTES as u8,
            data_offset: start as u8,
            bytes: bytes as u32,
        };
        header.put(unit);
        self.seal(unit, Data::BYTES);
        if self.data_digest {
            let digest = crc32c::crc32c(&unit[start..end]).to_le_bytes();
            unit[end..].copy_from_slice(&digest);
        }
        replies.take(bytes);
        Ok(())
    }
}

/// Tells the host that the connection ends because of this error, and shows it the header.
pub(super) fn terminate(error: Termination, header: &[u8], replies: &mut Replies) {
    let shown = &header[..header.len().min(Termination::ERROR_BYTES_MAX)];
    replies.put(&error.encode(kind::CONTROLLER_TERMINATION, shown));
}

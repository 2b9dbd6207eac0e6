//! Units of the host: what they must look like, and their digests (NVMe/TCP 1.1, sections 3.3 and 3.6).

use super::UNIT_BYTES_MAX;
use super::layout::{Command, Data, Header, InitRequest, Termination, fatal, flag, kind};
use super::output::{DIGEST_BYTES, Wire};

pub(super) const COMMAND_HEADER_BYTES: usize = Header::BYTES + Command::BYTES;

/// A unit that is complete.
pub(super) struct Unit<'a> {
    pub(super) header: Header,
    pub(super) bytes: &'a [u8],
    pub(super) data: &'a [u8],
    /// Whether the digest of the data is that of the data.
    pub(super) is_intact: bool,
}

/// What units are possible now.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    pub(super) wire: Wire,
    /// Whether the host has to begin.
    pub(super) is_greeting: bool,
    /// The most data in a capsule.
    pub(super) in_capsule_bytes: usize,
}

impl Expected {
    /// What can be said of a unit by its common header.
    pub(super) fn check(self, header: Header) -> Result<(), Termination> {
        const KIND_AT: u32 = 0;
        const FLAGS_AT: u32 = 1;
        const HEADER_BYTES_AT: u32 = 2;
        const DATA_OFFSET_AT: u32 = 3;
        const BYTES_AT: u32 = 4;
        let wrong = |information| Err(Termination { status: fatal::HEADER_FIELD, information });
        let (header_bytes, data_max) = match header.kind {
            kind::INIT_REQUEST => (InitRequest::BYTES, 0),
            kind::HOST_TERMINATION => (Termination::BYTES, Termination::ERROR_BYTES_MAX),
            kind::COMMAND => (COMMAND_HEADER_BYTES, self.in_capsule_bytes),
            kind::HOST_DATA => (Data::BYTES, UNIT_BYTES_MAX as usize),
            _ => return wrong(KIND_AT),
        };
        let is_in_order = match header.kind {
            kind::INIT_REQUEST => self.is_greeting,
            kind::HOST_TERMINATION => true,
            _ => !self.is_greeting,
        };
        if !is_in_order {
            return Err(Termination { status: fatal::SEQUENCE, information: 0 });
        }
        if usize::from(header.length) != header_bytes {
            return wrong(HEADER_BYTES_AT);
        }
        let has_digests = matches!(header.kind, kind::COMMAND | kind::HOST_DATA);
        let has_header_digest = has_digests && self.wire.header_digest;
        if (header.flags & flag::HEADER_DIGEST != 0) != has_header_digest {
            return wrong(FLAGS_AT);
        }
        let header_end = header_bytes + if has_header_digest { DIGEST_BYTES } else { 0 };
        let bytes = header.bytes as usize;
        // The data of a termination follow its header without being announced.
        let has_data = bytes > header_end && header.kind != kind::HOST_TERMINATION;
        let start = if has_data { usize::from(header.data_offset) } else { header_end };
        if start < header_end || start > bytes {
            return wrong(DATA_OFFSET_AT);
        }
        let has_data_digest = has_data && self.wire.data_digest;
        if has_data && (header.flags & flag::DATA_DIGEST != 0) != has_data_digest {
            return wrong(FLAGS_AT);
        }
        let overhead = start + if has_data_digest { DIGEST_BYTES } else { 0 };
        if bytes < overhead || bytes - overhead > data_max {
            return wrong(BYTES_AT);
        }
        Ok(())
    }

    /// Verifies the digests of a unit, whose header is possible.
    pub(super) fn open(self, header: Header, bytes: &[u8]) -> Result<Unit<'_>, Termination> {
        let has_digests = matches!(header.kind, kind::COMMAND | kind::HOST_DATA);
        let header_bytes = usize::from(header.length);
        let mut header_end = header_bytes;
        if has_digests && self.wire.header_digest {
            header_end += DIGEST_BYTES;
            let (covered, digest) = bytes[..header_end].split_at(header_bytes);
            let expected = crc32c::crc32c(covered);
            if digest != expected.to_le_bytes() {
                let status = fatal::HEADER_DIGEST;
                let found = digest.first_chunk().map_or(0, |digest| u32::from_le_bytes(*digest));
                return Err(Termination { status, information: found });
            }
        }
        let has_data = has_digests && bytes.len() > header_end;
        let mut data = if has_data { &bytes[header.data_offset.into()..] } else { &[] };
        let mut is_intact = true;
        if has_data
            && self.wire.data_digest
            && let Some((covered, digest)) = data.split_last_chunk::<DIGEST_BYTES>()
        {
            is_intact = crc32c::crc32c(covered).to_le_bytes() == *digest;
            data = covered;
        }
        Ok(Unit { header, bytes, data, is_intact })
    }
}

//! Protocol data units (NVMe/TCP 1.1, section 3.6).

use super::fields::{Reader, Writer};

/// Types of units.
pub(crate) mod kind {
    pub(crate) const INIT_REQUEST: u8 = 0x00;
    pub(crate) const INIT_RESPONSE: u8 = 0x01;
    pub(crate) const HOST_TERMINATION: u8 = 0x02;
    pub(crate) const CONTROLLER_TERMINATION: u8 = 0x03;
    pub(crate) const COMMAND: u8 = 0x04;
    pub(crate) const RESPONSE: u8 = 0x05;
    pub(crate) const HOST_DATA: u8 = 0x06;
    pub(crate) const CONTROLLER_DATA: u8 = 0x07;
    pub(crate) const READY_TO_TRANSFER: u8 = 0x09;
}

/// Flags of units.
pub(crate) mod flag {
    /// A digest of the header follows it.
    pub(crate) const HEADER_DIGEST: u8 = 1 << 0;
    /// A digest of the data follows them.
    pub(crate) const DATA_DIGEST: u8 = 1 << 1;
    /// The last data of a transfer.
    pub(crate) const LAST: u8 = 1 << 2;
    /// The command is complete; no response follows.
    pub(crate) const SUCCESS: u8 = 1 << 3;
}

/// Fatal errors, which end a connection.
pub(crate) mod fatal {
    pub(crate) const HEADER_FIELD: u16 = 1;
    pub(crate) const SEQUENCE: u16 = 2;
    pub(crate) const HEADER_DIGEST: u16 = 3;
    pub(crate) const OUT_OF_RANGE: u16 = 4;
    pub(crate) const LIMIT: u16 = 5;
    pub(crate) const UNSUPPORTED: u16 = 6;
}

/// The header that all units have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// PDU-Type.
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    /// HLEN: bytes of the whole header, without its digest.
    pub(crate) length: u8,
    /// PDO: where the data begin; 0 if there are none.
    pub(crate) data_offset: u8,
    /// PLEN: bytes of the unit.
    pub(crate) bytes: u32,
}

impl Header {
    pub(crate) const BYTES: usize = 8;

    /// `None` if there are too few bytes.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let fields = Reader(bytes.get(..Self::BYTES)?);
        Some(Self {
            kind: fields.u8(0),
            flags: fields.u8(1),
            length: fields.u8(2),
            data_offset: fields.u8(3),
            bytes: fields.u32(4),
        })
    }

    pub(crate) fn put(self, bytes: &mut [u8]) {
        let mut fields = Writer(bytes);
        fields.u8(0, self.kind).u8(1, self.flags).u8(2, self.length);
        fields.u8(3, self.data_offset).u32(4, self.bytes);
    }

    /// That of a unit without data or digest.
    fn plain(kind: u8, bytes: usize) -> Self {
        Self { kind, flags: 0, length: bytes as u8, data_offset: 0, bytes: bytes as u32 }
    }
}

/// ICReq: what the host proposes (section 3.6.2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct InitRequest {
    /// PFV: the version of the format.
    pub(crate) version: u16,
    /// HPDA: data for the host begin at a multiple of this, plus one, times 4.
    pub(crate) alignment: u8,
    /// DGST: bit 0 for digests of headers, bit 1 for those of data.
    pub(crate) digests: u8,
    /// MAXR2T: how many transfers of a command the host can have at once, minus one.
    pub(crate) transfers_max: u32,
}

impl InitRequest {
    pub(crate) const BYTES: usize = 128;

    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let fields = Reader(bytes);
        Self {
            version: fields.u16(8),
            alignment: fields.u8(10),
            digests: fields.u8(11),
            transfers_max: fields.u32(12),
        }
    }

    pub(crate) fn encode(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        Header::plain(kind::INIT_REQUEST, Self::BYTES).put(&mut bytes);
        let mut fields = Writer(&mut bytes);
        fields.u16(8, self.version).u8(10, self.alignment).u8(11, self.digests);
        fields.u32(12, self.transfers_max);
        bytes
    }
}

/// ICResp: what the controller answers (section 3.6.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct InitResponse {
    /// PFV.
    pub(crate) version: u16,
    /// CPDA: the same for data to the controller.
    pub(crate) alignment: u8,
    /// DGST: the digests in use.
    pub(crate) digests: u8,
    /// MAXH2CDATA: the most data of one unit from the host.
    pub(crate) data_bytes_max: u32,
}

impl InitResponse {
    pub(crate) const BYTES: usize = 128;

    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let fields = Reader(bytes);
        Self {
            version: fields.u16(8),
            alignment: fields.u8(10),
            digests: fields.u8(11),
            data_bytes_max: fields.u32(12),
        }
    }

    pub(crate) fn encode(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        Header::plain(kind::INIT_RESPONSE, Self::BYTES).put(&mut bytes);
        let mut fields = Writer(&mut bytes);
        fields.u16(8, self.version).u8(10, self.alignment).u8(11, self.digests);
        fields.u32(12, self.data_bytes_max);
        bytes
    }
}

/// H2CTermReq and C2HTermReq without the header that is in error (sections 3.6.2.4 and 3.6.2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Termination {
    /// FES.
    pub(crate) status: u16,
    /// FEI: the offset of the field, the digest, or the parameter.
    pub(crate) information: u32,
}

impl Termination {
    pub(crate) const BYTES: usize = 24;

    /// The most bytes of the header in error.
    pub(crate) const ERROR_BYTES_MAX: usize = 128;

    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let fields = Reader(bytes);
        Self { status: fields.u16(8), information: fields.u32(10) }
    }

    pub(crate) fn encode(self, kind: u8, in_error: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; Self::BYTES];
        let header = Header::plain(kind, Self::BYTES);
        Header { bytes: (Self::BYTES + in_error.len()) as u32, ..header }.put(&mut bytes);
        Writer(&mut bytes).u16(8, self.status).u32(10, self.information);
        bytes.extend_from_slice(in_error);
        bytes
    }
}

/// R2T: the controller asks for data (section 3.6.2.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReadyToTransfer {
    pub(crate) command: u16,
    /// TTAG.
    pub(crate) tag: u16,
    /// R2TO.
    pub(crate) offset: u32,
    /// R2TL.
    pub(crate) bytes: u32,
}

impl ReadyToTransfer {
    pub(crate) const BYTES: usize = 24;

    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let Data { command, tag, offset, bytes } = Data::decode(bytes);
        Self { command, tag, offset, bytes }
    }

    /// Without the common header.
    pub(crate) fn put(&self, bytes: &mut [u8]) {
        let Self { command, tag, offset, bytes: length } = *self;
        Data { command, tag, offset, bytes: length }.put(bytes);
    }
}

/// The header of H2CData and C2HData (sections 3.6.2.8 and 3.6.2.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Data {
    /// CCCID.
    pub(crate) command: u16,
    /// TTAG; reserved towards the host.
    pub(crate) tag: u16,
    /// DATAO: where they belong in the data of the command.
    pub(crate) offset: u32,
    /// DATAL.
    pub(crate) bytes: u32,
}

impl Data {
    pub(crate) const BYTES: usize = 24;

    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let fields = Reader(bytes);
        Self {
            command: fields.u16(8),
            tag: fields.u16(10),
            offset: fields.u32(12),
            bytes: fields.u32(16),
        }
    }

    /// Without the common header.
    pub(crate) fn put(&self, bytes: &mut [u8]) {
        let mut fields = Writer(bytes);
        fields.u16(8, self.command).u16(10, self.tag).u32(12, self.offset).u32(16, self.bytes);
        fields.u32(20, 0);
    }
}

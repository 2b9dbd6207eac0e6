//! Commands and completions (base 2.1, sections 3.3.3 and 4.1 to 4.3).

use super::fields::{Reader, Writer};
use super::status::Status;

/// A data block in the capsule of its command (base 2.1: data block, offset).
pub(crate) const SGL_IN_CAPSULE: u8 = 0x01;

/// A data block that the transport moves (transport SGL data block, transport specific).
pub(crate) const SGL_TRANSPORT: u8 = 0x5a;

/// Operation codes (base 2.1; NVM command set 1.1).
pub(crate) mod opcode {
    /// Of the admin queue.
    pub(crate) mod admin {
        pub(crate) const GET_LOG_PAGE: u8 = 0x02;
        pub(crate) const IDENTIFY: u8 = 0x06;
        pub(crate) const ABORT: u8 = 0x08;
        pub(crate) const SET_FEATURES: u8 = 0x09;
        pub(crate) const GET_FEATURES: u8 = 0x0a;
        pub(crate) const ASYNC_EVENT: u8 = 0x0c;
        pub(crate) const KEEP_ALIVE: u8 = 0x18;
        pub(crate) const DIRECTIVE_RECEIVE: u8 = 0x1a;
        pub(crate) const FORMAT: u8 = 0x80;
        pub(crate) const SANITIZE: u8 = 0x84;
    }

    /// Of I/O queues.
    pub(crate) mod io {
        pub(crate) const FLUSH: u8 = 0x00;
        pub(crate) const WRITE: u8 = 0x01;
        pub(crate) const READ: u8 = 0x02;
        pub(crate) const WRITE_UNCORRECTABLE: u8 = 0x04;
        pub(crate) const COMPARE: u8 = 0x05;
        pub(crate) const WRITE_ZEROES: u8 = 0x08;
        pub(crate) const DATASET_MANAGEMENT: u8 = 0x09;
        pub(crate) const VERIFY: u8 = 0x0c;
        pub(crate) const MANAGEMENT_RECEIVE: u8 = 0x12;
        pub(crate) const COPY: u8 = 0x19;
        pub(crate) const MANAGEMENT_SEND: u8 = 0x1d;
    }

    /// Of every queue: commands of fabrics, whose kind is in the fifth byte.
    pub(crate) const FABRICS: u8 = 0x7f;

    /// Kinds of commands of fabrics.
    pub(crate) mod fabrics {
        pub(crate) const PROPERTY_SET: u8 = 0x00;
        pub(crate) const CONNECT: u8 = 0x01;
        pub(crate) const PROPERTY_GET: u8 = 0x04;
        pub(crate) const DISCONNECT: u8 = 0x08;
    }
}

/// Where the data of a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sgl {
    pub(crate) address: u64,
    pub(crate) bytes: u32,
    /// Type and subtype.
    pub(crate) kind: u8,
}

/// A submission queue entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Command {
    pub(crate) opcode: u8,
    /// Fused operation and form of the data pointer.
    pub(crate) flags: u8,
    pub(crate) id: u16,
    /// The namespace; of a command of fabrics, its kind.
    pub(crate) namespace: u32,
    pub(crate) sgl: Sgl,
    /// Command dwords 10 to 15.
    pub(crate) dwords: [u32; 6],
}

impl Command {
    pub(crate) const BYTES: usize = 64;

    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let fields = Reader(bytes);
        let sgl = Sgl { address: fields.u64(24), bytes: fields.u32(32), kind: fields.u8(39) };
        Self {
            opcode: fields.u8(0),
            flags: fields.u8(1),
            id: fields.u16(2),
            namespace: fields.u32(4),
            sgl,
            dwords: std::array::from_fn(|dword| fields.u32(40 + 4 * dword)),
        }
    }

    pub(crate) fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let mut fields = Writer(&mut bytes);
        fields.u8(0, self.opcode).u8(1, self.flags).u16(2, self.id).u32(4, self.namespace);
        fields.u64(24, self.sgl.address).u32(32, self.sgl.bytes).u8(39, self.sgl.kind);
        for (dword, value) in self.dwords.iter().enumerate() {
            fields.u32(40 + 4 * dword, *value);
        }
        bytes
    }

    /// Command dword 10 to 15, by this number.
    pub(crate) fn dword(&self, number: usize) -> u32 {
        self.dwords[number - 10]
    }

    /// Two dwords as one number, the lower one first.
    pub(crate) fn wide(&self, number: usize) -> u64 {
        u64::from(self.dword(number)) | u64::from(self.dword(number + 1)) << 32
    }

    pub(crate) fn fabrics_kind(&self) -> u8 {
        self.namespace as u8
    }

    /// The lower two bits of its code say where data goes (base 2.1).
    fn direction(&self) -> u8 {
        let code = if self.opcode == opcode::FABRICS { self.fabrics_kind() } else { self.opcode };
        code & 3
    }

    /// Whether it has data for the controller.
    pub(crate) fn has_data(&self) -> bool {
        self.direction() == 1
    }

    /// Whether it asks for data.
    pub(crate) fn wants_data(&self) -> bool {
        self.direction() == 2
    }
}

/// A completion queue entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Completion {
    /// Dwords 0 and 1.
    pub(crate) result: u64,
    pub(crate) queue_head: u16,
    pub(crate) id: u16,
    pub(crate) status: Status,
}

impl Completion {
    pub(crate) const BYTES: usize = 16;

    pub(crate) fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let mut fields = Writer(&mut bytes);
        // The submission queue's number is reserved for fabrics, as is the phase bit.
        fields.u64(0, self.result).u16(8, self.queue_head).u16(12, self.id);
        fields.u16(14, self.status.bits() << 1);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let fields = Reader(bytes);
        Self {
            result: fields.u64(0),
            queue_head: fields.u16(8),
            id: fields.u16(12),
            status: Status::from_bits(fields.u16(14) >> 1),
        }
    }
}

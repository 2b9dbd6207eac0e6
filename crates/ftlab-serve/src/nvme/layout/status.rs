//! Status codes (base 2.1, section 4.2.3; NVM command set 1.1, section 3.1.3).

/// Why a command ends as it does: code type and code, and whether to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status(u16);

/// Code types.
const GENERIC: u16 = 0;
const SPECIFIC: u16 = 1;
const MEDIA: u16 = 2;

/// Trying again does not help (DNR).
const FINAL: u16 = 1 << 14;

impl Status {
    pub(crate) const SUCCESS: Self = Self(0);
    pub(crate) const INVALID_OPCODE: Self = Self::of(GENERIC, 0x01);
    pub(crate) const INVALID_FIELD: Self = Self::of(GENERIC, 0x02);
    pub(crate) const ID_CONFLICT: Self = Self::of(GENERIC, 0x03);
    pub(crate) const INTERNAL: Self = Self::of(GENERIC, 0x06);
    /// Aborted at the host's request.
    pub(crate) const ABORTED: Self = Self::of(GENERIC, 0x07);
    pub(crate) const INVALID_NAMESPACE: Self = Self::of(GENERIC, 0x0b);
    pub(crate) const SEQUENCE: Self = Self::of(GENERIC, 0x0c);
    pub(crate) const DATA_LENGTH: Self = Self::of(GENERIC, 0x0f);
    pub(crate) const SGL_KIND: Self = Self::of(GENERIC, 0x11);
    pub(crate) const WRITE_PROTECTED: Self = Self::of(GENERIC, 0x20);
    /// A digest of the data did not match: the host may try again.
    pub(crate) const TRANSPORT: Self = Self(0x22);
    pub(crate) const BEYOND: Self = Self::of(GENERIC, 0x80);
    pub(crate) const CAPACITY: Self = Self::of(GENERIC, 0x81);
    pub(crate) const AER_LIMIT: Self = Self::of(SPECIFIC, 0x05);
    pub(crate) const INVALID_LOG: Self = Self::of(SPECIFIC, 0x09);
    pub(crate) const INVALID_FORMAT: Self = Self::of(SPECIFIC, 0x0a);
    pub(crate) const NOT_SAVEABLE: Self = Self::of(SPECIFIC, 0x0d);
    pub(crate) const NOT_CHANGEABLE: Self = Self::of(SPECIFIC, 0x0e);
    /// Of Connect: the format of its parameters, too many controllers, after which the host may try again, its
    /// parameters, and the host.
    pub(crate) const CONNECT_FORMAT: Self = Self::of(SPECIFIC, 0x80);
    pub(crate) const CONNECT_BUSY: Self = Self(SPECIFIC << 8 | 0x81);
    pub(crate) const CONNECT_PARAMETER: Self = Self::of(SPECIFIC, 0x82);
    pub(crate) const CONNECT_HOST: Self = Self::of(SPECIFIC, 0x84);
    /// Of a command that reads and writes: a limit that Identify states.
    pub(crate) const SIZE_LIMIT: Self = Self::of(SPECIFIC, 0x83);
    pub(crate) const WRITE_FAULT: Self = Self::of(MEDIA, 0x80);
    pub(crate) const UNREADABLE: Self = Self::of(MEDIA, 0x81);
    pub(crate) const COMPARE: Self = Self::of(MEDIA, 0x85);

    const fn of(kind: u16, code: u16) -> Self {
        Self(kind << 8 | code | FINAL)
    }

    /// The status field of a completion, without the phase bit before it.
    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// Its code type and code, as nvme-cli prints them.
    pub(crate) const fn code(self) -> u16 {
        self.0 & 0x7ff
    }
}

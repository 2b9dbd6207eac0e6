//! What is known of a page write beside its address.

/// What is known of a page write beside its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint {
    /// How long this version of the page lives, and how long others of it do.
    pub lifetime: Lifetime,
    /// The stream that the host names, or [`NO_HANDLE`].
    pub stream: u16,
    /// Sectors of 512 bytes of the page that the host did not send; below 0 if it sent some of them again while the
    /// page was in a write buffer. It comes with the stream.
    pub lacking: i32,
}

impl Hint {
    /// Nothing is known.
    pub const NONE: Self = Self { lifetime: Lifetime::UNKNOWN, stream: NO_HANDLE, lacking: 0 };
}

/// How long what a write leaves lives, in host writes, as only an oracle knows; [`u32::MAX`] if that is longer,
/// for ever, or not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetime {
    /// Until the page is written again or trimmed.
    pub this: u32,
    /// The mean over all versions of the page in the run: the host writes during which it holds data, divided
    /// by how many versions end, plus one half for the one that does not.
    pub mean: u32,
}

impl Lifetime {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { this: u32::MAX, mean: u32::MAX };
}

/// In place of a stream that the host names: it names none.
pub const NO_HANDLE: u16 = u16::MAX;

//! What a program puts into a flash page.

use crate::{Lpn, Ppn};

/// A logical page, and where its content comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page<'a> {
    /// The address by which the host knows it.
    pub lpn: Lpn,
    /// What it holds.
    pub content: Content<'a>,
}

/// The content of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    /// What the host sends; empty where the medium keeps no data.
    New(&'a [u8]),
    /// What this flash page holds: a copy.
    At(Ppn),
}

impl<'a> Page<'a> {
    /// The page `lpn` with new content.
    #[inline]
    pub const fn new(lpn: Lpn, data: &'a [u8]) -> Self {
        Self { lpn, content: Content::New(data) }
    }
}

impl Page<'static> {
    /// A copy of the flash page `from`, which holds `lpn`.
    #[inline]
    pub const fn copy(lpn: Lpn, from: Ppn) -> Self {
        Self { lpn, content: Content::At(from) }
    }
}

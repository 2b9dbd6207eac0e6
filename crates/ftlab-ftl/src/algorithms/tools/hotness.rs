//! The framework of Lee and Kim: a test of hotness, and an open block for each of its levels.
//!
//! Their algorithm 1, as far as it is about placement: a page goes to the open block of its level,
//! whether the host writes it or garbage collection moves it, and the same test judges both. What they
//! compare are tests: a test is a [`Hotness`], and makes a [`Placement`] by itself.
//!
//! Lee and Kim, "An Empirical Study of Hot/Cold Data Separation Policies in Solid State Drives (SSDs)",
//! SYSTOR 2013, section 2.1.

use crate::page::DriveState;
use crate::page::policy::{HostWrite, Placement, Relocation};
use crate::stream::{Stream, StreamId};
use crate::{Metadata, State};
use ftlab_flash::Lpn;

const COLD: StreamId = StreamId(0);
const HOT: StreamId = StreamId(1);

/// From cold to hot.
const LEVELS: [Stream; 2] = [
    Stream { name: "cold", takes_relocations: true, cold: true },
    Stream { name: "hot", takes_relocations: true, cold: false },
];

/// Tells hot pages from cold ones.
pub trait Hotness: State + Send {
    /// How many levels it tells apart: 2, or 1 if all pages are cold.
    const LEVELS: usize = 2;

    /// Takes note of a host write: the study's `Write_...()`. The page is judged afterwards.
    fn record(&mut self, lpn: Lpn);

    /// Whether the page is hot: the study's `Hotness_...()`.
    fn is_hot(&self, lpn: Lpn) -> bool;

    /// The host gave up the content of a page.
    fn forget(&mut self, _lpn: Lpn) {}

    /// What the test has to remember, as a formula; the study's table 3, where it has one.
    fn metadata(&self) -> Metadata;

    /// Bytes of memory that the test takes here.
    fn bytes(&self) -> usize;
}

impl<H: Hotness> Placement for H {
    fn streams(&self) -> Vec<Stream> {
        LEVELS[..H::LEVELS].to_vec()
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, _drive: &DriveState) -> StreamId {
        self.record(write.lpn);
        if self.is_hot(write.lpn) { HOT } else { COLD }
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, _drive: &DriveState) -> StreamId {
        if self.is_hot(page.lpn) { HOT } else { COLD }
    }

    fn on_trim(&mut self, lpn: Lpn, _drive: &DriveState) {
        self.forget(lpn);
    }

    fn metadata(&self) -> Metadata {
        Hotness::metadata(self)
    }

    fn memory_bytes(&self) -> usize {
        self.bytes()
    }
}

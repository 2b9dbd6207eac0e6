//! Watching an FTL at work.

use crate::page::Drive;
use crate::page::policy::{Policy, Victims};
use crate::stream::StreamId;
use ftlab_flash::{BlockId, Lpn, Merge, Ppn};

/// Is told what an FTL does, as it happens. The default methods do nothing and compile away; `()` is
/// the observer that sees nothing.
pub trait Observer: Send {
    /// The host is about to write `lpn`; collections may have to make room first.
    #[inline]
    fn host_write_begins(&mut self, _lpn: Lpn) {}

    /// The host wrote `lpn`, which went to `to`.
    #[inline]
    fn host_write(&mut self, _lpn: Lpn, _to: Ppn, _stream: StreamId) {}

    /// Garbage collection moved `lpn`.
    #[inline]
    fn relocation(&mut self, _lpn: Lpn, _from: Ppn, _to: Ppn, _stream: StreamId) {}

    /// A collection begins, or what is left of one: choosing victims, moving their pages, erasing them.
    #[inline]
    fn collection_begins(&mut self) {}

    /// What began with [`Self::collection_begins`] is done.
    #[inline]
    fn collection_ends(&mut self) {}

    /// A step of a collection begins, after a host write.
    #[inline]
    fn step_begins(&mut self) {}

    /// What began with [`Self::step_begins`] is done.
    #[inline]
    fn step_ends(&mut self) {}

    /// A page-mapped FTL is about to choose victims: `policy` decides, and `drive` is what it decides on.
    #[inline]
    fn choice_begins(&mut self, _policy: &impl Policy, _drive: &Drive) {}

    /// What was chosen after [`Self::choice_begins`], perhaps nothing.
    #[inline]
    fn choice_ends(&mut self, _victims: &Victims) {}

    /// `victim`, which holds `valid_pages` valid pages of `stream`, is about to be collected.
    #[inline]
    fn collection(&mut self, _victim: BlockId, _stream: StreamId, _valid_pages: u32) {}

    /// `block` has been erased.
    #[inline]
    fn erase(&mut self, _block: BlockId) {}

    /// A merge of a hybrid-mapped FTL copied these pages.
    #[inline]
    fn merge(&mut self, _merge: Merge) {}

    /// The host trimmed `lpn`, which held data.
    #[inline]
    fn trim(&mut self, _lpn: Lpn) {}
}

impl Observer for () {}

//! A policy inside every placement handle: the host says which pages belong together, and the drive keeps
//! those of a handle apart as if it were told nothing.
//!
//! The policy is one, for all handles: it learns from all traffic, it chooses the victims, and the stream
//! that it names for a page is taken within the handle of the page. It sees its own streams only: what
//! [`DriveState::stream_of`] tells it of a block is the inner stream.

use crate::page::entry::Hinted;
use crate::page::handle_streams::{Handles, InnerStream};
use crate::page::policy::{
    BlockScore, Hint, Hints, HostWrite, Policy, Relocation, SampleBytes, Victims,
};
use crate::page::{DriveState, SeenAs};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Isolation, Metadata, bits_for};
use ftlab_flash::{BlockId, Lpn, Ppn};

/// `inner` within placement handles.
pub struct Directed {
    handles: Handles,
    inner: Box<dyn Policy>,
}

state!(Directed { handles, inner });

impl Directed {
    /// Handles that are isolated like this on a drive of `flash_pages`, and `inner` within; none if these are too
    /// many streams.
    pub(crate) fn new(
        isolation: &[Isolation],
        inner: Box<dyn Policy>,
        flash_pages: u32,
    ) -> Option<Self> {
        let stream = |stream| InnerStream { stream, takes_host_writes: true };
        let streams: Vec<_> = inner.streams().into_iter().map(stream).collect();
        Some(Self { handles: Handles::new(isolation, 1, &streams, flash_pages)?, inner })
    }

    /// Collection moves the pages of a unit one of `luns` LUNs after the other.
    pub(crate) fn moving_by(self, luns: u32) -> Self {
        Self { handles: self.handles.moving_by(luns), ..self }
    }
}

impl Policy for Directed {
    fn streams(&self) -> Vec<Stream> {
        self.handles.streams().to_vec()
    }

    fn seen_as(&self) -> Option<SeenAs> {
        let streams = self.handles.inner_streams().to_vec();
        Some(SeenAs { own: self.handles.inner(), streams, sets: self.handles.sets() })
    }

    /// Moved pages of every handle that is isolated persistently need as much, and those of the others
    /// together.
    fn reserve_blocks_min(&self) -> u32 {
        self.inner.reserve_blocks_min() * self.handles.sharing_sets()
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        let Hint { stream: named, lacking, .. } = write.hint;
        let write = HostWrite { set: self.handles.host_set(named), ..write };
        let stream = self.inner.place_host(write, drive);
        self.handles.place_host(named, lacking, stream, drive)
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        let set = self.handles.moved_set(page.from);
        let seen = Relocation { from: self.handles.inner_of(page.from), set, ..page };
        let stream = self.inner.place_relocation(seen, drive);
        self.handles.place_relocation(page.from, stream)
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, block: BlockId) {
        self.inner.fetch_ahead(lpn, block);
    }

    #[inline]
    fn fetch_block_ahead(&self, block: BlockId) {
        self.inner.fetch_block_ahead(block);
    }

    #[inline]
    fn on_written(&mut self, to: Ppn, stream: StreamId) {
        self.handles.on_written(to, stream);
        self.inner.on_written(to, self.handles.inner_of(stream));
    }

    #[inline]
    fn on_moved(&mut self, from: Ppn, to: Ppn) {
        self.handles.on_moved(from, to);
        self.inner.on_moved(from, to);
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        victims.show_requester(self.handles.inner_of(victims.requester()));
        self.inner.select_victims(drive, victims);
    }

    fn block_score(&self, block: BlockId, drive: &DriveState) -> Option<BlockScore> {
        self.inner.block_score(block, drive)
    }

    fn wants_collection(&self) -> bool {
        self.inner.wants_collection()
    }

    fn select_wanted(&mut self, drive: &DriveState, victims: &mut Victims) {
        victims.show_requester(self.handles.inner_of(victims.requester()));
        self.inner.select_wanted(drive, victims);
    }

    fn free_block(&self, stream: StreamId, drive: &DriveState) -> Option<BlockId> {
        self.inner.free_block(self.handles.inner_of(stream), drive)
    }

    fn kept_from(&self, stream: StreamId, drive: &DriveState) -> u32 {
        self.inner.kept_from(self.handles.inner_of(stream), drive)
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        self.inner.on_block_opened(block, drive);
    }

    fn on_block_sealed(&mut self, block: BlockId, drive: &DriveState) {
        self.inner.on_block_sealed(block, drive);
    }

    #[inline]
    fn on_invalidate(&mut self, block: BlockId, drive: &DriveState) {
        self.inner.on_invalidate(block, drive);
    }

    fn on_adopted(&mut self, wanted: StreamId, block: BlockId, drive: &DriveState) {
        self.inner.on_adopted(self.handles.inner_of(wanted), block, drive);
    }

    fn on_pages_lost(&mut self, block: BlockId, pages: u32, drive: &DriveState) {
        self.inner.on_pages_lost(block, pages, drive);
    }

    fn on_block_erased(&mut self, block: BlockId, drive: &DriveState) {
        self.handles.on_block_erased(block, drive);
        self.inner.on_block_erased(block, drive);
    }

    fn on_trim(&mut self, lpn: Lpn, drive: &DriveState) {
        self.inner.on_trim(lpn, drive);
    }

    fn handles(&self) -> Option<&Handles> {
        Some(&self.handles)
    }

    fn handles_mut(&mut self) -> Option<&mut Handles> {
        Some(&mut self.handles)
    }

    /// That of the policy, and the stream of every block.
    fn metadata(&self) -> Metadata {
        let streams = self.handles.streams().len() as u32;
        self.inner.metadata() + Metadata::per_block(bits_for(streams))
    }

    fn memory_bytes(&self) -> usize {
        self.handles.bytes() + self.inner.memory_bytes()
    }

    fn sample_bytes(&self, logical_pages: u32) -> SampleBytes {
        self.inner.sample_bytes(logical_pages)
    }

    fn check(&self, drive: &DriveState) -> Result<(), String> {
        self.inner.check(drive)
    }
}

impl Hinted for Directed {
    const HINTS: Option<Hints> = Some(Hints::Streams);
}

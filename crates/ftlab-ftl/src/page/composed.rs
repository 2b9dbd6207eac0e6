//! A placement and a victim rule make a policy.

use crate::page::DriveState;
use crate::page::entry::{Hinted, PlacementEntry};
use crate::page::handle_streams::Handles;
use crate::page::policy::{
    BlockScore, Hints, HostWrite, Placement, Policy, Relocation, SampleBytes, VictimRule, Victims,
};
use crate::stream::{Stream, StreamId};
use crate::{Archive, Metadata, State, StateError};
use ftlab_flash::{BlockId, Lpn, Ppn};

/// The policy `PLACEMENT/VICTIM`.
pub struct Composed<P, V> {
    /// Chooses the stream of a page.
    pub placement: P,
    /// Chooses the blocks to collect.
    pub victim: V,
}

impl<P: State, V: State> State for Composed<P, V> {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        self.placement.transfer(archive)?;
        self.victim.transfer(archive)
    }
}

impl<P: Placement, V: VictimRule> Policy for Composed<P, V> {
    fn streams(&self) -> Vec<Stream> {
        self.placement.streams()
    }

    fn reserve_blocks_min(&self) -> u32 {
        self.placement.reserve_blocks_min()
    }

    fn follows_pages(&self) -> bool {
        self.placement.follows_pages()
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, block: BlockId) {
        self.placement.fetch_ahead(lpn, block);
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        self.placement.place_host(write, drive)
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        self.placement.place_relocation(page, drive)
    }

    #[inline]
    fn on_written(&mut self, to: Ppn, stream: StreamId) {
        self.placement.on_written(to, stream);
    }

    #[inline]
    fn on_moved(&mut self, from: Ppn, to: Ppn) {
        self.placement.on_moved(from, to);
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        self.victim.select(drive, victims);
    }

    fn block_score(&self, block: BlockId, drive: &DriveState) -> Option<BlockScore> {
        self.victim.block_score(block, drive)
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        self.placement.on_block_opened(block, drive);
        self.victim.on_block_opened(block, drive);
    }

    fn on_block_sealed(&mut self, block: BlockId, drive: &DriveState) {
        self.placement.on_block_sealed(block, drive);
        self.victim.on_block_sealed(block, drive);
    }

    #[inline]
    fn on_invalidate(&mut self, block: BlockId, drive: &DriveState) {
        self.placement.on_invalidate(block, drive);
        self.victim.on_invalidate(block, drive);
    }

    fn on_block_erased(&mut self, block: BlockId, drive: &DriveState) {
        self.placement.on_block_erased(block, drive);
        self.victim.on_block_erased(block, drive);
    }

    fn on_trim(&mut self, lpn: Lpn, drive: &DriveState) {
        self.placement.on_trim(lpn, drive);
    }

    fn handles(&self) -> Option<&Handles> {
        self.placement.handles()
    }

    fn handles_mut(&mut self) -> Option<&mut Handles> {
        self.placement.handles_mut()
    }

    fn metadata(&self) -> Metadata {
        self.placement.metadata() + self.victim.metadata()
    }

    fn memory_bytes(&self) -> usize {
        self.placement.memory_bytes() + self.victim.memory_bytes()
    }

    fn sample_bytes(&self, logical_pages: u32) -> SampleBytes {
        self.placement.sample_bytes(logical_pages)
    }

    fn check(&self, drive: &DriveState) -> Result<(), String> {
        self.placement.check(drive)?;
        self.victim.check(drive)
    }
}

/// A victim rule is told nothing of a write.
impl<P: PlacementEntry + 'static, V: VictimRule + 'static> Hinted for Composed<P, V> {
    const HINTS: Option<Hints> = Some(P::HINTS);
}

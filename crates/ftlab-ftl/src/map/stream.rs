//! A stream of translation pages beside those of a policy, if the map is on flash.
//!
//! The policy sees the pages and blocks of the host only, and chooses among these. Blocks of translation pages are
//! collected as greedy would: one of them is the victim if no block of the host has fewer valid pages. Pages of the
//! host and translation pages never share a block.
//!
//! Collections come to an end: one of translation pages gains pages and writes nothing but these; one of the policy
//! gains invalid pages of the host, of which there are finitely many, and the translation pages that are written for
//! it make as many others invalid.

use crate::algorithms::tools::block_list::BlockList;
use crate::map::emptiest::Emptiest;
use crate::page::entry::{DriveShape, Hinted};
use crate::page::handle_streams::Handles;
use crate::page::policy::{BlockScore, Hints, HostWrite, Policy, Relocation, SampleBytes, Victims};
use crate::page::{DriveState, SeenAs};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{ChosenRule, Metadata, ensure::ensure};
use ftlab_flash::{BlockId, Lpn, Ppn};

/// A policy, and translation pages beside, if there are any.
pub(super) struct MapStream {
    policy: Box<dyn Policy>,
    /// Pages from here on are translation pages.
    host_pages: u32,
    /// The stream of these, after those of the policy; [`StreamId::NONE`] if the map is in memory.
    stream: StreamId,
    /// What is known of blocks of the host.
    emptiest: Emptiest,
    map_blocks: BlockList,
    /// The page that is being moved is a translation page.
    moves_map: bool,
    /// Whether the policy is told of single pages.
    follows_pages: bool,
}

state!(
    MapStream { policy, map_blocks, moves_map }
    constant host_pages, stream, emptiest, follows_pages
    then forget
);

impl MapStream {
    /// Translation pages beside `policy`; none if it has as many streams as there can be, or placement handles.
    pub(super) fn new(policy: Box<dyn Policy>, shape: DriveShape) -> Option<Self> {
        let streams = policy.streams().len();
        if policy.handles().is_some() || policy.seen_as().is_some() {
            return None;
        }
        let stream = u8::try_from(streams).ok().map(StreamId).filter(|it| *it != StreamId::NONE)?;
        Some(Self {
            host_pages: shape.logical_pages,
            stream,
            emptiest: Emptiest::new(shape.blocks),
            map_blocks: BlockList::new(shape.blocks),
            ..Self::without(policy)
        })
    }

    /// `policy` alone.
    pub(super) fn without(policy: Box<dyn Policy>) -> Self {
        Self {
            follows_pages: policy.follows_pages(),
            policy,
            host_pages: u32::MAX,
            stream: StreamId::NONE,
            emptiest: Emptiest::new(0),
            map_blocks: BlockList::new(0),
            moves_map: false,
        }
    }

    /// What was known of the blocks before they were restored.
    fn forget(&mut self) {
        self.emptiest.forget();
    }

    /// Whether there are translation pages.
    #[inline]
    fn has_map(&self) -> bool {
        self.stream != StreamId::NONE
    }

    #[inline]
    fn is_of_map(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.host_pages
    }

    /// Takes the emptiest block of translation pages, if it is to be the victim.
    fn take_map_block(&mut self, drive: &DriveState, victims: &mut Victims) -> bool {
        if !self.has_map() {
            return false;
        }
        let most = victims.valid_pages_max().min(drive.pages_per_block() - 1);
        let Some(slot) = self.map_blocks.min() else { return false };
        let valid = self.map_blocks.valid_pages(slot);
        if valid > most || self.emptiest.is_below(valid, drive) {
            return false;
        }
        self.map_blocks.take(slot, victims);
        true
    }

    /// The policy sees its own streams only.
    fn hide_map(&self, victims: &mut Victims) {
        if self.has_map() && victims.requester() == self.stream {
            victims.show_requester(StreamId(0));
        }
    }

    #[inline]
    fn holds_map(&self, block: BlockId, drive: &DriveState) -> bool {
        self.has_map() && drive.holds_map(block)
    }
}

impl Policy for MapStream {
    fn streams(&self) -> Vec<Stream> {
        let mut streams = self.policy.streams();
        if self.has_map() {
            streams.push(Stream { name: "map", takes_relocations: true, cold: false });
        }
        streams
    }

    fn seen_as(&self) -> Option<SeenAs> {
        self.policy.seen_as()
    }

    fn handles(&self) -> Option<&Handles> {
        self.policy.handles()
    }

    fn handles_mut(&mut self) -> Option<&mut Handles> {
        self.policy.handles_mut()
    }

    fn reserve_blocks_min(&self) -> u32 {
        self.policy.reserve_blocks_min() + u32::from(self.has_map())
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        if self.is_of_map(write.lpn) { self.stream } else { self.policy.place_host(write, drive) }
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        self.moves_map = self.is_of_map(page.lpn);
        if self.moves_map { self.stream } else { self.policy.place_relocation(page, drive) }
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, block: BlockId) {
        if self.follows_pages && !self.is_of_map(lpn) {
            self.policy.fetch_ahead(lpn, block);
        }
    }

    #[inline]
    fn fetch_block_ahead(&self, block: BlockId) {
        if self.follows_pages {
            self.policy.fetch_block_ahead(block);
        }
    }

    #[inline]
    fn on_written(&mut self, to: Ppn, stream: StreamId) {
        if self.follows_pages && stream != self.stream {
            self.policy.on_written(to, stream);
        }
    }

    #[inline]
    fn on_moved(&mut self, from: Ppn, to: Ppn) {
        if self.follows_pages && !self.moves_map {
            self.policy.on_moved(from, to);
        }
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        if !self.take_map_block(drive, victims) {
            self.hide_map(victims);
            self.policy.select_victims(drive, victims);
        }
    }

    fn block_score(&self, block: BlockId, drive: &DriveState) -> Option<BlockScore> {
        (!self.holds_map(block, drive)).then(|| self.policy.block_score(block, drive))?
    }

    #[inline]
    fn sorts_moves(&self) -> bool {
        self.policy.sorts_moves()
    }

    #[inline]
    fn wants_collection(&self) -> bool {
        self.follows_pages && self.policy.wants_collection()
    }

    fn select_wanted(&mut self, drive: &DriveState, victims: &mut Victims) {
        self.hide_map(victims);
        self.policy.select_wanted(drive, victims);
    }

    fn free_block(&self, stream: StreamId, drive: &DriveState) -> Option<BlockId> {
        (stream != self.stream).then(|| self.policy.free_block(stream, drive))?
    }

    fn kept_from(&self, stream: StreamId, drive: &DriveState) -> u32 {
        if stream == self.stream { 0 } else { self.policy.kept_from(stream, drive) }
    }

    fn may_share(&self, stream: StreamId, other: StreamId) -> bool {
        let is_of_map = [stream, other].map(|stream| stream == self.stream);
        is_of_map[0] == is_of_map[1] && (is_of_map[0] || self.policy.may_share(stream, other))
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        if self.holds_map(block, drive) {
            self.map_blocks.push(block, drive.pages_per_block(), drive.write_clock());
        } else {
            self.policy.on_block_opened(block, drive);
        }
    }

    fn on_block_sealed(&mut self, block: BlockId, drive: &DriveState) {
        if self.holds_map(block, drive) {
            self.map_blocks.seal(block);
        } else {
            self.emptiest.note(block, drive.valid_pages(block));
            self.policy.on_block_sealed(block, drive);
        }
    }

    #[inline]
    fn on_invalidate(&mut self, block: BlockId, drive: &DriveState) {
        if self.holds_map(block, drive) {
            self.map_blocks.invalidate(block);
        } else {
            self.emptiest.note(block, drive.valid_pages(block));
            self.policy.on_invalidate(block, drive);
        }
    }

    fn on_pages_lost(&mut self, block: BlockId, pages: u32, drive: &DriveState) {
        if self.holds_map(block, drive) {
            (0..pages).for_each(|_| self.map_blocks.invalidate(block));
        } else {
            self.emptiest.note(block, drive.valid_pages(block));
            self.policy.on_pages_lost(block, pages, drive);
        }
    }

    fn on_block_erased(&mut self, block: BlockId, drive: &DriveState) {
        if self.holds_map(block, drive) {
            self.map_blocks.remove(block);
        } else {
            self.policy.on_block_erased(block, drive);
        }
    }

    fn on_adopted(&mut self, stream: StreamId, block: BlockId, drive: &DriveState) {
        if stream != self.stream {
            self.policy.on_adopted(stream, block, drive);
        }
    }

    fn on_trim(&mut self, lpn: Lpn, drive: &DriveState) {
        self.policy.on_trim(lpn, drive);
    }

    fn metadata(&self) -> Metadata {
        self.policy.metadata()
    }

    fn memory_bytes(&self) -> usize {
        self.policy.memory_bytes() + self.emptiest.bytes() + self.map_blocks.bytes()
    }

    fn sample_bytes(&self, logical_pages: u32) -> SampleBytes {
        self.policy.sample_bytes(logical_pages)
    }

    fn groups(&self) -> Option<u32> {
        self.policy.groups()
    }

    fn rule(&self) -> Option<ChosenRule> {
        self.policy.rule()
    }

    fn check(&self, drive: &DriveState) -> Result<(), String> {
        if !self.has_map() {
            return self.policy.check(drive);
        }
        for lpn in (0..drive.all_pages()).map(Lpn) {
            let block = drive.flash_page(lpn).map(|page| drive.block_of(page));
            let of_map = block.is_some_and(|block| drive.holds_map(block));
            ensure!(
                block.is_none() || of_map == self.is_of_map(lpn),
                "page {lpn} is in a block of the other kind"
            );
        }
        self.emptiest.check(drive)?;
        self.map_blocks.check(drive, |block| drive.holds_map(block))?;
        self.policy.check(drive)
    }
}

/// Only the running program knows its policy.
impl Hinted for MapStream {
    const HINTS: Option<Hints> = None;
}

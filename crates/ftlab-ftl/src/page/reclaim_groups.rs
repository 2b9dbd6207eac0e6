//! Reclaim groups: the flash is divided, and every placement handle has a unit in each part.
//!
//! A group is a set of blocks that follow one another, with an inner policy of its own: a placement and a
//! victim rule, which are told of the blocks of the group only. What is moved stays in its group.
//!
//! # Which group
//! A write goes to the group that it names. One that names no handle goes to handle 0 of the group with the
//! fewest valid pages, and those that follow stay there until the unit is full. So does a write whose group
//! holds as many valid pages as it can, unless what it overwrites lies there.
//!
//! # Termination
//! A group takes valid pages up to what its blocks hold beyond its part of the reserve, its open blocks and
//! one more, so what [`DriveConfig::verify`](crate::page::DriveConfig) says of a drive is true of each group:
//! whenever it is short of free blocks, one of its sealed blocks has an invalid page. All groups together
//! take more than the logical pages, so that one of them has room.

use crate::page::entry::{DriveShape, Hinted};
use crate::page::handle_streams::{Handles, InnerStream};
use crate::page::policy::{BlockScore, Hints, HostWrite, Policy, Relocation, SampleBytes, Victims};
use crate::page::{DriveState, SeenAs};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Isolation, Metadata, bits_for};
use ftlab_flash::{BlockId, Lpn, Ppn};

/// Placement handles over several groups of blocks.
pub struct ReclaimGroups {
    handles: Handles,
    groups: Vec<Group>,
    /// Blocks of each group but the last, which has those that are left over as well.
    group_blocks: u32,
    /// Pages of these.
    group_pages: u32,
    /// Of each group, free blocks that host writes may not take.
    reserve_blocks: u32,
    /// The group of the last write that could go to any.
    chosen: u32,
}

state!(ReclaimGroups { handles, groups, chosen } constant group_blocks, group_pages, reserve_blocks);

/// What is kept of a group.
struct Group {
    inner: Box<dyn Policy>,
    free_blocks: u32,
    valid_pages: u32,
    /// The most that it takes.
    valid_pages_max: u32,
}

state!(Group { inner, free_blocks, valid_pages } constant valid_pages_max);

/// A drive that is too small to be divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indivisible {
    /// More streams than a byte can count.
    Streams,
    /// Groups of `each` blocks, of which the handles and the data need `needed`.
    Blocks { each: u32, needed: u32 },
}

impl ReclaimGroups {
    /// Handles that are isolated like this over a group for each of `policies`, which have these streams.
    pub(crate) fn new(
        isolation: &[Isolation],
        policies: Vec<Box<dyn Policy>>,
        inner: &[InnerStream],
        shape: DriveShape,
    ) -> Result<Self, Indivisible> {
        let (count, pages) = (policies.len() as u32, shape.pages_per_block);
        let flash_pages = shape.blocks * pages;
        let handles = Handles::new(isolation, count as u16, inner, flash_pages);
        let handles = handles.ok_or(Indivisible::Streams)?;
        let (group_blocks, reserve_blocks) = (shape.blocks / count, shape.reserve_blocks / count);
        let streams = handles.streams().len() as u32 / count;
        let busy = reserve_blocks + streams + 1;
        let blocks_of = |group| {
            if group + 1 < count { group_blocks } else { shape.blocks - group * group_blocks }
        };
        let group = |(group, inner)| {
            let free_blocks: u32 = blocks_of(group);
            let valid_pages_max = free_blocks.saturating_sub(busy) * pages;
            Group { inner, free_blocks, valid_pages: 0, valid_pages_max }
        };
        let groups: Vec<Group> = (0..).zip(policies).map(group).collect();
        let most: u64 = groups.iter().map(|group| u64::from(group.valid_pages_max)).sum();
        if most <= shape.logical_pages.into() {
            let data_blocks = (shape.logical_pages + 1).div_ceil(pages).div_ceil(count);
            return Err(Indivisible::Blocks { each: group_blocks, needed: data_blocks + busy });
        }
        let group_pages = group_blocks * pages;
        Ok(Self { handles, groups, group_blocks, group_pages, reserve_blocks, chosen: 0 })
    }

    /// Collection moves the pages of a unit one of `luns` LUNs after the other.
    pub(crate) fn moving_by(self, luns: u32) -> Self {
        Self { handles: self.handles.moving_by(luns), ..self }
    }

    #[inline]
    fn group_of(&self, block: BlockId) -> usize {
        ((block.0 / self.group_blocks) as usize).min(self.groups.len() - 1)
    }

    #[inline]
    fn group_mut(&mut self, block: BlockId) -> &mut Group {
        let group = self.group_of(block);
        &mut self.groups[group]
    }

    /// Whether `group` takes a version of `lpn`: one that is overwritten there counts until then.
    #[inline]
    fn takes(&self, group: usize, lpn: Lpn, drive: &DriveState) -> bool {
        let Group { valid_pages, valid_pages_max, .. } = self.groups[group];
        valid_pages < valid_pages_max
            || drive.flash_page(lpn).is_some_and(|at| self.group_of(drive.block_of(at)) == group)
    }

    /// Handle `number` of the group that the drive chooses.
    fn of_any_group(&mut self, number: u8, lpn: Lpn, drive: &DriveState) -> u8 {
        let each = self.handles.format().handles() as u8;
        let of = |group: u32| group as u8 * each + number;
        let stays = self.handles.has_room(of(self.chosen), drive)
            && self.takes(self.chosen as usize, lpn, drive);
        if !stays {
            let groups = (0_u32..).zip(&self.groups);
            let open = groups.filter(|(_, group)| group.valid_pages < group.valid_pages_max);
            let emptiest = open.min_by_key(|(_, group)| group.valid_pages);
            self.chosen = emptiest.map_or(0, |(group, _)| group);
            debug_assert!(emptiest.is_some(), "all groups take more than the logical pages");
        }
        of(self.chosen)
    }

    /// The handle of a group that takes a write.
    #[inline]
    fn handle_for(&mut self, write: HostWrite, drive: &DriveState) -> u8 {
        let (named, each) = (write.hint.stream, self.handles.format().handles() as u8);
        match self.handles.known(named) {
            Some(handle) if self.takes((handle / each).into(), write.lpn, drive) => handle,
            Some(handle) => {
                self.handles.take_note_of_redirected();
                self.of_any_group(handle % each, write.lpn, drive)
            }
            None => {
                let handle = self.of_any_group(0, write.lpn, drive);
                self.handles.take_note_of_invalid(named, handle, drive);
                handle
            }
        }
    }
}

impl Policy for ReclaimGroups {
    fn streams(&self) -> Vec<Stream> {
        self.handles.streams().to_vec()
    }

    fn seen_as(&self) -> Option<SeenAs> {
        let streams = self.handles.inner_streams().to_vec();
        Some(SeenAs { own: self.handles.inner(), streams, sets: self.handles.sets() })
    }

    fn reserve_blocks_min(&self) -> u32 {
        self.groups[0].inner.reserve_blocks_min() * self.handles.sharing_sets()
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        let handle = self.handle_for(write, drive);
        let write = HostWrite { set: Handles::set_of(handle), ..write };
        let group = u16::from(handle) / self.handles.format().handles();
        let stream = self.groups[usize::from(group)].inner.place_host(write, drive);
        self.handles.place_by(handle, write.hint.lacking, stream)
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        let set = self.handles.moved_set(page.from);
        let seen = Relocation { from: self.handles.inner_of(page.from), set, ..page };
        let stream = self.group_mut(page.victim).inner.place_relocation(seen, drive);
        self.handles.place_relocation(page.from, stream)
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, block: BlockId) {
        self.groups[self.group_of(block)].inner.fetch_ahead(lpn, block);
    }

    #[inline]
    fn fetch_block_ahead(&self, block: BlockId) {
        self.groups[self.group_of(block)].inner.fetch_block_ahead(block);
    }

    #[inline]
    fn on_written(&mut self, to: Ppn, stream: StreamId) {
        self.handles.on_written(to, stream);
        let inner = self.handles.inner_of(stream);
        let group = &mut self.groups[self.handles.group_of(stream)];
        group.valid_pages += 1;
        group.inner.on_written(to, inner);
    }

    #[inline]
    fn on_moved(&mut self, from: Ppn, to: Ppn) {
        self.handles.on_moved(from, to);
        let group = ((to.0 / self.group_pages) as usize).min(self.groups.len() - 1);
        self.groups[group].inner.on_moved(from, to);
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        let group = self.handles.group_of(victims.requester());
        victims.show_requester(self.handles.inner_of(victims.requester()));
        self.groups[group].inner.select_victims(drive, victims);
    }

    fn block_score(&self, block: BlockId, drive: &DriveState) -> Option<BlockScore> {
        self.groups[self.group_of(block)].inner.block_score(block, drive)
    }

    fn free_block(&self, stream: StreamId, drive: &DriveState) -> Option<BlockId> {
        let group = self.handles.group_of(stream);
        drive.free_list().iter().copied().find(|&block| self.group_of(block) == group)
    }

    /// All of them, if the group has no more than its part of the reserve.
    fn kept_from(&self, stream: StreamId, drive: &DriveState) -> u32 {
        let group = &self.groups[self.handles.group_of(stream)];
        if group.free_blocks <= self.reserve_blocks { drive.free_blocks() } else { 0 }
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        let group = self.group_mut(block);
        group.free_blocks -= 1;
        group.inner.on_block_opened(block, drive);
    }

    fn on_block_sealed(&mut self, block: BlockId, drive: &DriveState) {
        self.group_mut(block).inner.on_block_sealed(block, drive);
    }

    #[inline]
    fn on_invalidate(&mut self, block: BlockId, drive: &DriveState) {
        let group = self.group_mut(block);
        group.valid_pages -= 1;
        group.inner.on_invalidate(block, drive);
    }

    fn on_pages_lost(&mut self, block: BlockId, pages: u32, drive: &DriveState) {
        self.group_mut(block).inner.on_pages_lost(block, pages, drive);
    }

    fn on_block_erased(&mut self, block: BlockId, drive: &DriveState) {
        self.handles.on_block_erased(block, drive);
        let group = self.group_mut(block);
        group.free_blocks += 1;
        group.inner.on_block_erased(block, drive);
    }

    /// Only one that keeps something of pages needs to know, and it does not matter which group had them.
    fn on_trim(&mut self, lpn: Lpn, drive: &DriveState) {
        self.groups.iter_mut().for_each(|group| group.inner.on_trim(lpn, drive));
    }

    fn handles(&self) -> Option<&Handles> {
        Some(&self.handles)
    }

    fn handles_mut(&mut self) -> Option<&mut Handles> {
        Some(&mut self.handles)
    }

    /// That of one policy, of which each group has a part, and the stream of every block.
    fn metadata(&self) -> Metadata {
        let streams = self.handles.streams().len() as u32;
        self.groups[0].inner.metadata() + Metadata::per_block(bits_for(streams))
    }

    fn memory_bytes(&self) -> usize {
        let inner = self.groups.iter().map(|group| group.inner.memory_bytes());
        self.handles.bytes() + inner.sum::<usize>()
    }

    fn sample_bytes(&self, logical_pages: u32) -> SampleBytes {
        let groups = self.groups.iter().map(|group| group.inner.sample_bytes(logical_pages));
        groups.fold(SampleBytes::default(), |sum, of| SampleBytes {
            here: sum.here + of.here,
            most: sum.most + of.most,
        })
    }

    /// Blocks hold streams of their group only, and what is counted of each is true.
    fn check(&self, drive: &DriveState) -> Result<(), String> {
        let mut found = vec![(0, 0); self.groups.len()];
        for block in (0..drive.geometry().blocks()).map(BlockId) {
            let group = self.group_of(block);
            if drive.phase(block) == crate::page::Phase::Free {
                found[group].0 += 1;
                continue;
            }
            let unwritten = drive.pages_per_block() - drive.programmed_pages(block);
            found[group].1 += drive.valid_pages(block) - unwritten;
            let holds = self.handles.group_of(drive.frontier_of(block));
            if holds != group {
                return Err(format!("block {block} of group {group} holds pages of group {holds}"));
            }
        }
        let counted: Vec<_> =
            self.groups.iter().map(|group| (group.free_blocks, group.valid_pages)).collect();
        if counted == found {
            return Ok(());
        }
        Err(format!("groups have (free blocks, valid pages) {found:?}, counted {counted:?}"))
    }
}

impl Hinted for ReclaimGroups {
    const HINTS: Option<Hints> = Some(Hints::Streams);
}

//! Groups of blocks: what they hold, where their pages go, and which of them gives up a block.

use crate::algorithms::tools::block_list::BlockList;
use crate::page::DriveState;
use crate::page::entry::DriveShape;
use crate::state::state;
use crate::stream::{OpenSet, Stream, StreamId};
use crate::{Metadata, bits_for};
use ftlab_flash::BlockId;

/// The most groups there can be.
pub(crate) const GROUPS_MAX: usize = 16;

/// The most streams that a group can write to at once.
pub(crate) const UNITS_MAX: usize = 16;

/// No group.
pub(super) const NONE: u8 = u8::MAX;

const NAMES: [&str; GROUPS_MAX] = [
    "group-1", "group-2", "group-3", "group-4", "group-5", "group-6", "group-7", "group-8",
    "group-9", "group-10", "group-11", "group-12", "group-13", "group-14", "group-15", "group-16",
];

/// A group: its blocks, and what is known of its pages.
pub(crate) struct Group {
    pub(super) blocks: BlockList,
    /// Free blocks that are kept for it.
    pub(super) donated: u32,
    /// Valid pages.
    pub(super) size: u32,
    /// Host writes to it in the present interval.
    pub(super) interval_writes: u32,
    /// Share of host writes: running average.
    pub(crate) frequency: f64,
    /// Pages beyond its size that it should have.
    pub(crate) over_provisioning: f64,
    /// Intervals for which it keeps its place in the order.
    pub(super) pinned: u32,
    /// Intervals for which its hit rate has been near that of the group `below`.
    pub(super) converged: u32,
    pub(super) below: u8,
    /// The stream that takes its next page.
    unit: usize,
    /// A group that was merged into it and whose open blocks are to be filled first.
    pub(super) drains: u8,
}

state!(Group {
    blocks,
    donated,
    size,
    interval_writes,
    frequency,
    over_provisioning,
    pinned,
    converged,
    below,
    unit,
    drains
});

/// Movements of blocks between groups.
#[derive(Debug, Default)]
pub(super) struct Moving {
    /// Groups with a surplus of blocks give them up of their own accord.
    pub(super) on_their_own: bool,
    /// A movement is to be considered.
    pub(super) is_due: bool,
    /// The block that is erased next was chosen for a movement.
    pub(super) is_under_way: bool,
}

state!(Moving { is_due, is_under_way } constant on_their_own);

/// All groups of a drive, in order of temperature.
///
/// A group is also a number of streams, `units`, which take its pages in turn.
pub struct Groups {
    pub(super) slots: Vec<Group>,
    /// Block -> group.
    pub(super) group_of: Vec<u8>,
    /// Groups in use, the coldest first.
    order: Vec<u8>,
    /// Group -> the next in the order, or itself at an end of it.
    hotter: [u8; GROUPS_MAX],
    colder: [u8; GROUPS_MAX],
    pub(super) units: usize,
    /// Stream -> the group whose pages it takes: its own, or the one that its own was merged into.
    owners: Vec<u8>,
    /// Blocks of groups that are being merged.
    pub(super) merging: Vec<BlockId>,
    /// Blocks that all groups may have without borrowing from the reserve.
    pub(super) blocks_max: u32,
    pub(super) reserve_blocks: u32,
    pub(super) moving: Moving,
    /// Blocks of a group on a LUN are cleaned by themselves.
    pub(super) per_lun: bool,
    /// Erases below the mean at which a block of the coldest group is collected; 0 is never.
    pub(super) wear_threshold: u32,
    /// Wear is to be looked at.
    pub(super) levelling_is_due: bool,
}

state!(Groups { slots, group_of, order, hotter, colder, owners, merging, moving, levelling_is_due }
    constant units, blocks_max, reserve_blocks, per_lun, wear_threshold);

impl Groups {
    /// `active` groups and room for `slots`, each with `units` streams.
    pub(crate) fn new(shape: DriveShape, slots: usize, active: usize, units: usize) -> Self {
        let blocks = shape.blocks;
        let group = || Group {
            blocks: BlockList::new(blocks),
            donated: 0,
            size: 0,
            interval_writes: 0,
            frequency: 0.0,
            over_provisioning: 0.0,
            pinned: 0,
            converged: 0,
            below: NONE,
            unit: 0,
            drains: NONE,
        };
        let mut groups = Self {
            slots: (0..slots).map(|_| group()).collect(),
            group_of: vec![0; blocks as usize],
            order: Vec::with_capacity(slots),
            hotter: [0; GROUPS_MAX],
            colder: [0; GROUPS_MAX],
            units,
            owners: (0..slots).flat_map(|slot| std::iter::repeat_n(slot as u8, units)).collect(),
            merging: Vec::with_capacity(blocks as usize),
            blocks_max: blocks.saturating_sub(shape.reserve_blocks),
            reserve_blocks: shape.reserve_blocks,
            moving: Moving::default(),
            per_lun: false,
            wear_threshold: 0,
            levelling_is_due: false,
        };
        groups.change_order(|order| order.extend(0..active as u8));
        groups
    }

    pub(crate) fn streams(&self) -> Vec<Stream> {
        let names = NAMES.iter().take(self.slots.len());
        names
            .flat_map(|&name| (0..self.units).map(move |_| name))
            .map(|name| Stream { name, takes_relocations: true, cold: false })
            .collect()
    }

    /// Groups in use, the coldest first.
    #[inline]
    pub(crate) fn order(&self) -> &[u8] {
        &self.order
    }

    pub(super) fn change_order<T>(&mut self, change: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let changed = change(&mut self.order);
        for (place, &group) in self.order.iter().enumerate() {
            let at = |place: usize| self.order.get(place).copied().unwrap_or(group);
            self.hotter[usize::from(group)] = at(place + 1);
            self.colder[usize::from(group)] = at(place.wrapping_sub(1));
        }
        changed
    }

    #[inline]
    pub(crate) fn get(&self, group: u8) -> &Group {
        &self.slots[usize::from(group)]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, group: u8) -> &mut Group {
        &mut self.slots[usize::from(group)]
    }

    /// The group whose page or block this is.
    #[inline]
    pub(crate) fn group_of(&self, block: BlockId) -> u8 {
        self.group_of[block.index()]
    }

    /// The group whose pages `stream` takes.
    #[inline]
    pub(super) fn owner(&self, stream: StreamId) -> u8 {
        self.owners[stream.index()]
    }

    /// The next hotter group, or `group` if it is the hottest.
    #[inline]
    pub(crate) fn hotter(&self, group: u8) -> u8 {
        self.hotter[usize::from(group)]
    }

    /// The next colder group, or `group` if it is the coldest.
    #[inline]
    pub(crate) fn colder(&self, group: u8) -> u8 {
        self.colder[usize::from(group)]
    }

    /// The stream for a page that the host writes to `group`.
    #[inline]
    pub(crate) fn place_host(&mut self, group: u8, set: OpenSet, drive: &DriveState) -> StreamId {
        let to = self.get_mut(group);
        to.size += 1;
        to.interval_writes += 1;
        self.frontier(group, set, drive)
    }

    /// The stream for a valid page of a victim of group `from` that is to go to `group`, among the open
    /// blocks of `set`.
    ///
    /// The last free block is opened only if no stream has room there, so one free block is always enough
    /// for a victim, all of whose pages go to one set, however many groups there are.
    #[expect(clippy::inline_always, reason = "called for each page")]
    #[inline(always)]
    pub(crate) fn place_relocation(
        &mut self,
        from: u8,
        group: u8,
        set: OpenSet,
        drive: &DriveState,
    ) -> StreamId {
        let mut stream = self.frontier(group, set, drive);
        let mut to = group;
        if drive.free_blocks() <= 1
            && let Some((other, block)) = self.stream_instead_of(stream, set, drive)
        {
            stream = other;
            to = self.group_of(block);
        }
        // Also if both are the same: the processor would have to guess.
        self.get_mut(from).size -= 1;
        self.get_mut(to).size += 1;
        stream
    }

    /// The stream that takes the next page of `group`.
    #[inline]
    fn frontier(&mut self, group: u8, set: OpenSet, drive: &DriveState) -> StreamId {
        if self.get(group).drains != NONE
            && let Some(stream) = self.drain(group, set, drive)
        {
            return stream;
        }
        let units = self.units;
        let to = self.get_mut(group);
        let stream = usize::from(group) * units + to.unit;
        to.unit = if to.unit + 1 < units { to.unit + 1 } else { 0 };
        StreamId(stream as u8)
    }

    /// An open block of `set` with room that `group` has taken over from groups merged into it. Those of
    /// which no set has room are forgotten on the way.
    #[cold]
    fn drain(&mut self, group: u8, set: OpenSet, drive: &DriveState) -> Option<StreamId> {
        let mut last = group;
        while self.get(last).drains != NONE {
            let merged = self.get(last).drains;
            let room = self.streams_of(merged).find(|&stream| drive.has_room_in(set, stream));
            if room.is_some() {
                return room;
            }
            if self.streams_of(merged).any(|stream| drive.takes_pages(stream)) {
                last = merged;
            } else {
                self.get_mut(last).drains = self.get(merged).drains;
                self.get_mut(merged).drains = NONE;
            }
        }
        None
    }

    pub(super) fn streams_of(&self, group: u8) -> impl Iterator<Item = StreamId> + use<> {
        let first = usize::from(group) * self.units;
        (first..first + self.units).map(|stream| StreamId(stream as u8))
    }

    /// A stream with room, and its open block, if `stream` has none.
    #[cold]
    fn stream_instead_of(
        &self,
        stream: StreamId,
        set: OpenSet,
        drive: &DriveState,
    ) -> Option<(StreamId, BlockId)> {
        if drive.has_room_in(set, stream) {
            return None;
        }
        let streams = (0..self.slots.len() * self.units).map(|stream| StreamId(stream as u8));
        let open = |stream| Some((stream, drive.open_block(drive.in_set(set, stream)?)?));
        streams.into_iter().find_map(open)
    }

    pub(crate) fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        let stream = drive.stream_of(block);
        let group = self.owners[stream.index()];
        self.keep_draining(group, (stream.index() / self.units) as u8);
        self.group_of[block.index()] = group;
        let (pages, stamp) = (drive.pages_per_block(), drive.write_clock());
        self.get_mut(group).blocks.push(block, pages, stamp);
        if self.moving.on_their_own {
            self.take_donated(group, drive);
        }
    }

    /// Sees to it that `group` drains the streams of `merged`: if an open block of theirs failed, another
    /// one is opened after all.
    fn keep_draining(&mut self, group: u8, merged: u8) {
        let mut last = group;
        while last != merged && self.get(last).drains != NONE {
            last = self.get(last).drains;
        }
        if last != merged {
            self.get_mut(last).drains = merged;
            self.get_mut(merged).drains = NONE;
        }
    }

    /// From now on the streams of `from` take pages of `to`.
    pub(super) fn hand_over(&mut self, from: u8, to: u8) {
        self.owners.iter_mut().filter(|owner| **owner == from).for_each(|owner| *owner = to);
    }

    /// From now on the streams of `group` take its own pages.
    pub(super) fn take_back(&mut self, group: u8) {
        for stream in self.streams_of(group) {
            self.owners[stream.index()] = group;
        }
    }

    pub(crate) fn on_block_sealed(&mut self, block: BlockId) {
        let group = self.group_of(block);
        self.get_mut(group).blocks.seal(block);
    }

    #[inline]
    pub(crate) fn on_invalidate(&mut self, block: BlockId) {
        let group = self.group_of(block);
        let group = self.get_mut(group);
        group.size -= 1;
        group.blocks.invalidate(block);
    }

    /// A page that `place_host` placed in `wanted` is in `block`.
    pub(crate) fn on_adopted(&mut self, wanted: StreamId, block: BlockId) {
        let (left, joined) = (self.owner(wanted), self.group_of(block));
        self.get_mut(left).size -= 1;
        self.get_mut(joined).size += 1;
    }

    /// These pages held nothing: the size of the group stays.
    pub(crate) fn on_pages_lost(&mut self, block: BlockId, pages: u32) {
        let group = self.group_of(block);
        (0..pages).for_each(|_| self.get_mut(group).blocks.invalidate(block));
    }

    pub(crate) fn on_block_erased(&mut self, block: BlockId, drive: &DriveState) {
        let group = self.group_of(block);
        self.get_mut(group).blocks.remove(block);
        self.donate(drive);
    }

    /// The group of every block; size, target, frequency and writes of every group.
    pub(crate) fn metadata(&self) -> Metadata {
        let groups = self.slots.len() as u32;
        Metadata::per_block(bits_for(groups)) + Metadata::fixed(20 * u64::from(groups))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots.iter().map(|group| group.blocks.bytes()).sum::<usize>()
            + size_of_val(&self.group_of[..])
            + self.merging.capacity() * size_of::<BlockId>()
    }

    /// Verifies that each group lists its blocks and counts its pages.
    pub(crate) fn check(&self, drive: &DriveState) -> Result<(), String> {
        let mut sizes = [0; GROUPS_MAX];
        for lpn in 0..drive.logical_pages() {
            if let Some(page) = drive.flash_page(ftlab_flash::Lpn(lpn)) {
                sizes[usize::from(self.group_of(drive.block_of(page)))] += 1;
            }
        }
        let (kept, free) = (self.donated(), drive.free_blocks());
        if kept > free.saturating_sub(self.reserve_blocks) {
            return Err(format!("{kept} of {free} free blocks are kept for groups"));
        }
        for (index, group) in self.slots.iter().enumerate() {
            if group.size != sizes[index] {
                return Err(format!(
                    "group {index} counts {} of {} valid pages",
                    group.size, sizes[index]
                ));
            }
            group.blocks.check(drive, |block| {
                !drive.holds_map(block) && usize::from(self.group_of(block)) == index
            })?;
        }
        Ok(())
    }
}

impl Group {
    /// Valid pages.
    #[inline]
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// Share of host writes per page.
    #[inline]
    pub(crate) fn hit_rate(&self) -> f64 {
        if self.size == 0 { 0.0 } else { self.frequency / f64::from(self.size) }
    }
}

//! Groups of blocks: what they hold, where their pages go, and which of them gives up a block.

use crate::page::policy::{Stream, StreamId, Victims};
use crate::page::{BlockList, Drive, Phase};
use ftlab_flash::BlockId;

/// The most groups there can be.
pub(crate) const GROUPS_MAX: usize = 16;

/// The most streams that a group can write to at once.
pub(crate) const UNITS_MAX: usize = 16;

/// No group.
const NONE: u8 = u8::MAX;

const NAMES: [&str; GROUPS_MAX] = [
    "group-1", "group-2", "group-3", "group-4", "group-5", "group-6", "group-7", "group-8",
    "group-9", "group-10", "group-11", "group-12", "group-13", "group-14", "group-15", "group-16",
];

ftlab_spec::choices! {
    /// Which block of a group is collected.
    pub enum Cleaning {
        /// The one with the fewest valid pages.
        Greedy = "greedy",
        /// The one that was allocated first, of those with an invalid page.
        Fifo = "fifo",
    }
}

/// A group: its blocks, and what is known of its pages.
pub(crate) struct Group {
    blocks: BlockList,
    /// Valid pages.
    size: u32,
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
    drains: u8,
}

/// All groups of a drive, in order of temperature.
///
/// A group is also a number of streams, `units`, which take its pages in turn.
pub(crate) struct Groups {
    slots: Vec<Group>,
    /// Block -> group.
    group_of: Vec<u8>,
    /// Groups in use, the coldest first.
    order: Vec<u8>,
    units: usize,
    /// The group of the last host write: the one that asks for a block.
    requester: u8,
    /// Blocks of groups that are being merged.
    merging: Vec<BlockId>,
}

impl Groups {
    /// `active` groups and room for `slots`, each with `units` streams.
    pub(crate) fn new(blocks: u32, slots: usize, active: usize, units: usize) -> Self {
        let group = || Group {
            blocks: BlockList::new(blocks),
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
        let mut order = Vec::with_capacity(slots);
        order.extend(0..active as u8);
        Self {
            slots: (0..slots).map(|_| group()).collect(),
            group_of: vec![0; blocks as usize],
            order,
            units,
            requester: 0,
            merging: Vec::with_capacity(blocks as usize),
        }
    }

    pub(crate) fn streams(&self) -> Vec<Stream> {
        let names = NAMES.iter().take(self.slots.len());
        names
            .flat_map(|&name| (0..self.units).map(move |_| name))
            .map(|name| Stream { name, takes_relocations: true, cold: false })
            .collect()
    }

    /// Groups in use, the coldest first.
    pub(crate) fn order(&self) -> &[u8] {
        &self.order
    }

    pub(super) fn order_mut(&mut self) -> &mut [u8] {
        &mut self.order
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

    /// The group `steps` hotter than `group`, or the hottest or coldest there is.
    #[inline]
    pub(crate) fn neighbour(&self, group: u8, steps: isize) -> u8 {
        let place = self.order.iter().position(|&other| other == group).unwrap_or(0);
        self.order[place.saturating_add_signed(steps).min(self.order.len() - 1)]
    }

    /// The stream for a page that the host writes to `group`.
    #[inline]
    pub(crate) fn place_host(&mut self, group: u8, drive: &Drive) -> StreamId {
        self.requester = group;
        let to = self.get_mut(group);
        to.size += 1;
        to.interval_writes += 1;
        self.frontier(group, drive)
    }

    /// The stream for a valid page of `victim` that is to go to `group`.
    ///
    /// The last free block is opened only if no stream has room, so one free block is always enough
    /// for a victim, however many groups there are.
    #[inline]
    pub(crate) fn place_relocation(
        &mut self,
        victim: BlockId,
        group: u8,
        drive: &Drive,
    ) -> StreamId {
        let from = self.group_of(victim);
        self.get_mut(from).size -= 1;
        let mut stream = self.frontier(group, drive);
        let mut to = group;
        if drive.free_blocks() <= 1
            && !drive.has_room(stream)
            && let Some(other) = self.stream_with_room(drive)
        {
            stream = other;
            to = self.group_of(drive.block_of(drive.next_page(stream)));
        }
        self.get_mut(to).size += 1;
        stream
    }

    /// The stream that takes the next page of `group`.
    #[inline]
    fn frontier(&mut self, group: u8, drive: &Drive) -> StreamId {
        if self.get(group).drains != NONE
            && let Some(stream) = self.drain(group, drive)
        {
            return stream;
        }
        let units = self.units;
        let to = self.get_mut(group);
        let stream = usize::from(group) * units + to.unit;
        to.unit = if to.unit + 1 < units { to.unit + 1 } else { 0 };
        StreamId(stream as u8)
    }

    /// An open block with room that `group` has taken over from groups merged into it.
    #[cold]
    fn drain(&mut self, group: u8, drive: &Drive) -> Option<StreamId> {
        while self.get(group).drains != NONE {
            let merged = self.get(group).drains;
            let room = self.streams_of(merged).find(|&stream| drive.has_room(stream));
            if room.is_some() {
                return room;
            }
            self.get_mut(group).drains = self.get(merged).drains;
            self.get_mut(merged).drains = NONE;
        }
        None
    }

    fn streams_of(&self, group: u8) -> impl Iterator<Item = StreamId> + use<> {
        let first = usize::from(group) * self.units;
        (first..first + self.units).map(|stream| StreamId(stream as u8))
    }

    #[cold]
    fn stream_with_room(&self, drive: &Drive) -> Option<StreamId> {
        let streams = 0..self.slots.len() * self.units;
        streams.map(|stream| StreamId(stream as u8)).find(|&stream| drive.has_room(stream))
    }

    pub(crate) fn on_block_opened(&mut self, block: BlockId, drive: &Drive) {
        let group = drive.stream_of(block).index() / self.units;
        self.group_of[block.index()] = group as u8;
        self.slots[group].blocks.push(block, drive.pages_per_block());
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

    pub(crate) fn on_block_erased(&mut self, block: BlockId) {
        let group = self.group_of(block);
        self.get_mut(group).blocks.remove(block);
    }

    /// Chooses a block of the group that has the most pages above its target, among the groups that
    /// `may_give` and have a block to give; if there is none, the block with the fewest valid pages.
    pub(crate) fn select(
        &mut self,
        cleaning: Cleaning,
        drive: &Drive,
        victims: &mut Victims,
        may_give: impl Fn(&Self, u8) -> bool,
    ) {
        let limit = victims.valid_pages_max().min(drive.pages_per_block() - 1);
        let mut best: Option<(f64, u8, u32)> = None;
        for &group in &self.order {
            if may_give(self, group)
                && let Some(slot) = self.get(group).victim(cleaning, limit)
            {
                let surplus = self.surplus(group, drive);
                if best.is_none_or(|(most, ..)| surplus > most) {
                    best = Some((surplus, group, slot));
                }
            }
        }
        let chosen = best.map(|(_, group, slot)| (group, slot)).or_else(|| self.emptiest(limit));
        if let Some((group, slot)) = chosen {
            let blocks = &mut self.get_mut(group).blocks;
            let valid_pages = blocks.valid_pages(slot);
            victims.push(blocks.take(slot), valid_pages);
        }
    }

    /// True if `group` asks for a block, or stands next to the group that does.
    pub(crate) fn near_requester(&self, group: u8) -> bool {
        [-1, 0, 1].into_iter().any(|step| self.neighbour(self.requester, step) == group)
    }

    /// Pages that `group` has beyond its target; a block more for the group that asks for one.
    fn surplus(&self, group: u8, drive: &Drive) -> f64 {
        let Group { blocks, size, over_provisioning, .. } = self.get(group);
        let wanted = u32::from(group == self.requester);
        f64::from(blocks.len() + wanted) * f64::from(drive.pages_per_block())
            - f64::from(*size)
            - over_provisioning
    }

    fn emptiest(&self, limit: u32) -> Option<(u8, u32)> {
        let of_groups = self.order.iter().filter_map(|&group| {
            let slot = self.get(group).victim(Cleaning::Greedy, limit)?;
            Some((self.get(group).blocks.valid_pages(slot), group, slot))
        });
        of_groups.min().map(|(_, group, slot)| (group, slot))
    }

    /// Pages that the blocks of all groups have beyond the valid ones.
    pub(crate) fn over_provisioning(&self, drive: &Drive) -> f64 {
        let of_groups = self.order.iter().map(|&group| {
            let group = self.get(group);
            f64::from(group.blocks.len()) * f64::from(drive.pages_per_block())
                - f64::from(group.size)
        });
        of_groups.sum()
    }

    /// Puts a new, empty group into the order at `place` and returns it, if there can be another.
    pub(super) fn create(&mut self, place: usize, drive: &Drive) -> Option<u8> {
        let drained = |group: &u8| {
            !self.order.contains(group)
                && !self.streams_of(*group).any(|stream| drive.has_room(stream))
        };
        let group = (0..self.slots.len() as u8).find(drained)?;
        let next = std::mem::replace(&mut self.get_mut(group).drains, NONE);
        for other in &mut self.slots {
            if other.drains == group {
                other.drains = next;
            }
        }
        let created = self.get_mut(group);
        created.frequency = 0.0;
        created.interval_writes = 0;
        created.converged = 0;
        self.order.insert(place, group);
        Some(group)
    }

    /// Merges the group at `place` in the order into the one at `into`: its blocks, open ones
    /// included, and its statistics.
    pub(super) fn merge(&mut self, place: usize, into: usize, drive: &Drive) {
        let (gone, kept) = (self.order[place], self.order[into]);
        self.order.remove(place);
        self.merging.clear();
        for group in [gone, kept] {
            let blocks = &mut self.slots[usize::from(group)].blocks;
            let mut from = 0;
            while let Some(slot) = blocks.next_in_use(from..blocks.end()) {
                let block = blocks.block(slot);
                blocks.remove(block);
                self.merging.push(block);
                from = slot + 1;
            }
        }
        self.merging.sort_unstable_by_key(|&block| drive.allocated(block));
        for &block in &self.merging {
            let blocks = &mut self.slots[usize::from(kept)].blocks;
            self.group_of[block.index()] = kept;
            blocks.push(block, drive.valid_pages(block));
            if drive.phase(block) == Phase::Sealed {
                blocks.seal(block);
            }
        }
        let from = self.get_mut(gone);
        let (size, frequency) = (std::mem::take(&mut from.size), from.frequency);
        let to = self.get_mut(kept);
        to.size += size;
        to.frequency += frequency;
        let mut last = gone;
        while self.get(last).drains != NONE {
            last = self.get(last).drains;
        }
        self.get_mut(last).drains = self.get(kept).drains;
        self.get_mut(kept).drains = gone;
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots.iter().map(|group| group.blocks.bytes()).sum::<usize>()
            + size_of_val(&self.group_of[..])
            + self.merging.capacity() * size_of::<BlockId>()
    }

    /// Verifies that each group lists its blocks and counts its pages.
    pub(crate) fn check(&self, drive: &Drive) -> Result<(), String> {
        let mut sizes = [0; GROUPS_MAX];
        for lpn in 0..drive.logical_pages() {
            if let Some(page) = drive.flash_page(ftlab_flash::Lpn(lpn)) {
                sizes[usize::from(self.group_of(drive.block_of(page)))] += 1;
            }
        }
        for (index, group) in self.slots.iter().enumerate() {
            if group.size != sizes[index] {
                return Err(format!(
                    "group {index} counts {} of {} valid pages",
                    group.size, sizes[index]
                ));
            }
            group.blocks.check(drive, |block| usize::from(self.group_of(block)) == index)?;
        }
        Ok(())
    }
}

impl Group {
    /// Valid pages.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// Share of host writes per page.
    pub(crate) fn hit_rate(&self) -> f64 {
        if self.size == 0 { 0.0 } else { self.frequency / f64::from(self.size) }
    }

    /// The slot of the block to collect, with at most `limit` valid pages.
    fn victim(&self, cleaning: Cleaning, limit: u32) -> Option<u32> {
        match cleaning {
            Cleaning::Greedy => {
                self.blocks.min().filter(|&slot| self.blocks.valid_pages(slot) <= limit)
            }
            Cleaning::Fifo => self.blocks.next_below(0..self.blocks.end(), limit + 1),
        }
    }
}

/// The hooks of a policy that keeps its blocks in `self.groups` and has a `self.detector`.
macro_rules! keep_groups {
    () => {
        fn on_block_opened(&mut self, block: BlockId, drive: &Drive) {
            self.groups.on_block_opened(block, drive);
        }

        fn on_block_sealed(&mut self, block: BlockId, _drive: &Drive) {
            self.groups.on_block_sealed(block);
        }

        #[inline]
        fn on_invalidate(&mut self, block: BlockId, _drive: &Drive) {
            self.groups.on_invalidate(block);
        }

        fn on_block_erased(&mut self, block: BlockId, _drive: &Drive) {
            self.groups.on_block_erased(block);
        }

        fn metadata_bytes(&self) -> usize {
            self.groups.bytes() + self.detector.bytes()
        }

        fn check(&self, drive: &Drive) -> Result<(), String> {
            self.groups.check(drive)
        }
    };
}
pub(crate) use keep_groups;

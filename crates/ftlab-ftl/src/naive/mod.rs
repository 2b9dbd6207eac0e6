//! The engine and its policies once more, without cleverness: what the fast ones must equal.
//!
//! Hash maps, linear scans and whole copies; every operation is slow and easy to believe.

mod hotness;
mod policies;
mod tests;

use crate::page::drive::{Twin, TwinBlock};
use crate::page::policy::{Hint, HostWrite, Policy, Relocation, Victims};
use crate::page::{DriveConfig, DriveState, GcSchedule, Phase, Refreshed};
use crate::stream::StreamId;
use ftlab_flash::{BlockId, Lpn, Ppn};
use std::collections::{HashMap, VecDeque};

/// A page-mapped FTL that keeps everything in the obvious way.
struct NaiveFtl {
    policy: Box<dyn Policy>,
    config: DriveConfig,
    mapping: HashMap<Lpn, (BlockId, usize)>,
    blocks: Vec<TwinBlock>,
    free: VecDeque<BlockId>,
    open: Vec<Option<BlockId>>,
    write_clock: u64,
    allocations: u64,
    relocations: u64,
    trims: u64,
    /// The stream of the last host write that found no room.
    requester: StreamId,
    /// Since a block was borrowed for it, relocated pages went to that stream.
    has_served: bool,
    /// Of collection that begins gradually, or throttled: what is still to be regained, or relocated.
    due: i64,
    /// Victims of a collection in steps that are not erased yet.
    victims: VecDeque<BlockId>,
    /// Pages that were left when its present victim came to be the first, less those moved since.
    left_pages: u32,
    left_writes: u32,
    /// Of the victims as they were chosen.
    invalid_pages: u32,
    /// Full blocks in the order in which they became so.
    sealed: Vec<BlockId>,
    /// Block -> reads of its pages since it was erased.
    reads: HashMap<BlockId, u32>,
    refreshed: Refreshed,
}

impl NaiveFtl {
    fn new(policy: Box<dyn Policy>, config: DriveConfig) -> Self {
        let erased = TwinBlock {
            phase: Phase::Free,
            stream: StreamId(0),
            allocated: 0,
            sealed_at: 0,
            erases: 0,
            pages: Vec::new(),
        };
        Self {
            open: vec![None; policy.streams().len()],
            blocks: vec![erased; config.geometry.blocks() as usize],
            free: (0..config.geometry.blocks()).map(BlockId).collect(),
            mapping: HashMap::new(),
            policy,
            config,
            write_clock: 0,
            allocations: 0,
            relocations: 0,
            trims: 0,
            requester: StreamId(0),
            has_served: false,
            due: 0,
            victims: VecDeque::new(),
            left_pages: 0,
            left_writes: 0,
            invalid_pages: 0,
            sealed: Vec::new(),
            reads: HashMap::new(),
            refreshed: Refreshed::default(),
        }
    }

    /// The drive as a policy sees it, built from nothing.
    fn drive(&self) -> DriveState {
        let mut drive = DriveState::of_twin(Twin {
            config: &self.config,
            streams: self.policy.streams(),
            blocks: &self.blocks,
            free: &self.free,
            mapping: self.mapping.iter().map(|(&lpn, &place)| (lpn, self.ppn(place))),
            write_clock: self.write_clock,
            allocations: self.allocations,
        });
        self.policy.seen_as().into_iter().for_each(|seen_as| drive.show_as(seen_as));
        drive
    }

    fn has_room(&self, stream: StreamId) -> bool {
        let pages = self.config.geometry.pages_per_block() as usize;
        self.open[stream.index()].is_some_and(|b| self.blocks[b.index()].pages.len() < pages)
    }

    fn write(&mut self, lpn: Lpn, hint: Hint) {
        self.write_clock += 1;
        let drive = self.drive();
        let stream = self.policy.place_host(HostWrite::new(lpn, hint), &drive);
        while !self.has_room(stream) {
            self.requester = stream;
            let kept = self.policy.kept_from(stream, &self.drive());
            let has_groups = self.policy.handles().is_some_and(|all| all.format().groups() > 1);
            let reserve = if has_groups { 0 } else { self.config.reserve_blocks };
            if self.free.len() as u32 > reserve + kept || self.may_proceed(stream) {
                if !self.has_room(stream) {
                    self.open(stream);
                }
            } else if self.victims.is_empty() {
                self.collect(self.config.geometry.pages_per_block());
            } else {
                self.advance(u32::MAX);
            }
        }
        self.invalidate(lpn);
        self.program(stream, lpn, |ftl, to| ftl.policy.on_written(to, stream));
        let age = self.config.refresh.age_writes;
        let is_old = |ftl: &Self, block: &BlockId| {
            let it = &ftl.blocks[block.index()];
            it.phase == Phase::Sealed
                && ftl.write_clock - it.sealed_at >= age
                && it.pages.iter().any(Option::is_some)
        };
        while let Some(&old) = self.sealed.iter().find(|block| age > 0 && is_old(self, block)) {
            self.refresh(old);
        }
        if let Some(pages_max) = self.config.gc.step_pages_max() {
            self.step(stream, pages_max);
            return;
        }
        while self.policy.wants_collection() {
            let victims = self.wanted();
            self.reclaim(victims.blocks());
        }
        if let GcSchedule::Garbage { per_million } = self.config.gc {
            self.collect_garbage(per_million);
        }
        if let GcSchedule::Gradual { per_million } = self.config.gc {
            self.collect_gradually(per_million);
        }
        if let GcSchedule::Throttled { from, invalid, moves } = self.config.gc {
            self.collect_throttled([from, invalid, moves].map(u64::from));
        }
        if (self.free.len() as u32) < self.config.gc_start_blocks {
            self.collect(self.config.early_valid_pages_max);
        }
    }

    /// The host reads a page.
    fn read(&mut self, lpn: Lpn) {
        let Some(&(block, _)) = self.mapping.get(&lpn) else { return };
        let reads = self.reads.entry(block).or_default();
        *reads += 1;
        let limit = self.config.refresh.reads;
        let is_full = self.blocks[block.index()].phase == Phase::Sealed;
        if limit > 0 && *reads >= limit && is_full {
            self.refresh(block);
        }
    }

    /// Moves the pages of a full block.
    fn refresh(&mut self, block: BlockId) {
        let sealed_at = self.blocks[block.index()].sealed_at;
        self.advance(u32::MAX);
        self.refill_reserve();
        // It may have been collected meanwhile, and filled with other pages.
        let is_same =
            self.sealed.contains(&block) && self.blocks[block.index()].sealed_at == sealed_at;
        if is_same && self.valid_pages(block) > 0 {
            self.refreshed.blocks += 1;
            self.refreshed.pages += u64::from(self.valid_pages(block));
            self.reclaim(&[block]);
            self.refill_reserve();
        }
    }

    fn refill_reserve(&mut self) {
        while (self.free.len() as u32) < self.policy.reserve_blocks_min() {
            self.collect(self.config.geometry.pages_per_block());
        }
    }

    /// Collection in steps: whether a host write has room now or may open a block of the reserve.
    fn may_proceed(&mut self, stream: StreamId) -> bool {
        let pages_per_block = self.config.geometry.pages_per_block();
        let is_in_debt = (self.free.len() as u32) < self.config.reserve_blocks;
        if self.config.gc.step_pages_max().is_none() || !self.victims.is_empty() || is_in_debt {
            return false;
        }
        self.has_served = false;
        self.choose(pages_per_block);
        if !self.takes_relocations(stream) {
            self.left_writes = self.left_writes.min(pages_per_block / 16);
        }
        if self.open.len() == 1 && self.invalid_pages >= 2 * pages_per_block {
            return false;
        }
        if matches!(self.config.gc, GcSchedule::Background { .. }) {
            self.advance(self.valid_pages(self.victims[0]));
        }
        self.has_room(stream) || self.free.len() as u32 > self.blocks_needed(Some(stream))
    }

    fn takes_relocations(&self, stream: StreamId) -> bool {
        self.policy.streams()[stream.index()].takes_relocations
    }

    fn room(&self, stream: StreamId) -> u32 {
        self.open[stream.index()].map_or(0, |block| {
            let programmed = self.blocks[block.index()].pages.len() as u32;
            self.config.geometry.pages_per_block() - programmed
        })
    }

    /// Free blocks that suffice for the rest of a collection in steps.
    fn blocks_needed(&self, opened: Option<StreamId>) -> u32 {
        let pages_per_block = self.config.geometry.pages_per_block();
        let mut pages = self.victims.front().map_or(0, |&victim| self.valid_pages(victim));
        for stream in (0..self.open.len() as u8).map(StreamId) {
            if self.takes_relocations(stream) && opened != Some(stream) {
                pages += pages_per_block - self.room(stream);
            }
        }
        (pages / pages_per_block).min(self.policy.reserve_blocks_min())
    }

    /// Whole collections until the invalid pages are few enough, or none can be collected.
    fn collect_garbage(&mut self, per_million: u32) {
        let pages = || self.blocks.iter().flat_map(|block| &block.pages);
        let share = |invalid: u64, all: u64| invalid * 1_000_000 >= u64::from(per_million) * all;
        let invalid = pages().filter(|page| page.is_none()).count() as u64;
        let most = self.config.geometry.pages_per_block() - 1;
        if share(invalid, pages().count() as u64) && self.collect(most) {
            self.collect_garbage(per_million);
        }
    }

    /// Regains the share of a page by which the free blocks are short: all of it if only the reserve is left.
    fn collect_gradually(&mut self, per_million: u32) {
        let (geometry, reserve) = (self.config.geometry, self.config.reserve_blocks);
        let share = u64::from(geometry.blocks()) * u64::from(per_million);
        let start = (share.div_ceil(1_000_000) as u32).max(reserve + 1);
        let free = |ftl: &Self| ftl.free.len() as u32;
        self.due += i64::from(start.saturating_sub(free(self)));
        while self.due > 0 && free(self) < start {
            let mut victims = Victims::new(geometry.blocks(), geometry.pages_per_block());
            victims.begin(self.requester, geometry.pages_per_block() - 1);
            self.policy.select_victims(&self.drive(), &mut victims);
            let mut blocks = victims.blocks().to_vec();
            let valid: u32 = blocks.iter().map(|block| self.valid_pages(*block)).sum();
            if blocks.is_empty() {
                self.due = 0;
            } else if valid > 0 {
                let regained = blocks.len() as u32 * geometry.pages_per_block() - valid;
                self.due -= i64::from(regained) * i64::from(start - reserve);
            }
            blocks.extend(self.close(&victims));
            self.reclaim(&blocks);
        }
    }

    /// Relocates as many pages of mostly invalid blocks as a host write pays for, all in millionths.
    fn collect_throttled(&mut self, [from, invalid, moves]: [u64; 3]) {
        let (geometry, reserve) = (self.config.geometry, self.config.reserve_blocks);
        let of = |number: u32, share: u64| (u64::from(number) * share).div_ceil(1_000_000) as u32;
        let start = of(geometry.blocks(), from).max(reserve + 1);
        let most = geometry.pages_per_block() - of(geometry.pages_per_block(), invalid);
        if self.free.len() as u32 >= start {
            return;
        }
        self.due += moves.cast_signed();
        while self.due > 0 && (self.free.len() as u32) < start {
            let mut victims = Victims::new(geometry.blocks(), geometry.pages_per_block());
            victims.begin(self.requester, most);
            self.policy.select_victims(&self.drive(), &mut victims);
            let mut blocks = victims.blocks().to_vec();
            let valid: u32 = blocks.iter().map(|block| self.valid_pages(*block)).sum();
            self.due -= 1_000_000 * i64::from(valid);
            if blocks.is_empty() {
                self.due = -1_000_000;
            }
            blocks.extend(self.close(&victims));
            self.reclaim(&blocks);
        }
    }

    /// Collection in steps: the step after a host write.
    fn step(&mut self, stream: StreamId, pages_max: u32) {
        let (pages_per_block, reserve) =
            (self.config.geometry.pages_per_block(), self.config.reserve_blocks);
        let own = self.takes_relocations(stream);
        let free = self.free.len() as u32;
        let room = self.room(stream) + free.saturating_sub(reserve) * pages_per_block;
        if self.victims.is_empty() {
            let owes = free < reserve && !self.has_served;
            if owes {
                self.choose(pages_per_block);
            } else if self.policy.wants_collection() {
                let victims = self.wanted();
                self.start(&victims);
            }
            if self.victims.is_empty() && !owes && free < self.config.gc_start_blocks {
                self.choose(self.config.early_valid_pages_max);
            }
            if owes {
                self.left_writes /= 2;
            }
            if !own {
                self.left_writes = self.left_writes.min(room / 16);
            }
        }
        if self.victims.is_empty() {
            return;
        }
        let mut writes = self.left_writes;
        self.left_writes = writes.saturating_sub(1);
        if !own {
            writes = writes.min(room);
        }
        let mut pages = self.left_pages.div_ceil(writes.max(1));
        if pages_max > 0 {
            pages = pages.min(pages_max);
        }
        self.advance(pages);
        if (self.free.len() as u32) < self.blocks_needed(None) {
            self.advance(u32::MAX);
        }
    }

    fn valid_pages(&self, block: BlockId) -> u32 {
        self.blocks[block.index()].pages.iter().flatten().count() as u32
    }

    fn choose(&mut self, valid_pages_max: u32) {
        let geometry = self.config.geometry;
        let mut victims = Victims::new(geometry.blocks(), geometry.pages_per_block());
        victims.begin(self.requester, valid_pages_max);
        self.policy.select_victims(&self.drive(), &mut victims);
        self.start(&victims);
    }

    /// The victims of a collection that the policy wants.
    fn wanted(&mut self) -> Victims {
        let geometry = self.config.geometry;
        let mut victims = Victims::new(geometry.blocks(), geometry.pages_per_block());
        victims.begin(self.requester, geometry.pages_per_block());
        self.policy.select_wanted(&self.drive(), &mut victims);
        victims
    }

    fn start(&mut self, victims: &Victims) {
        self.victims = victims.blocks().iter().copied().collect();
        for victim in &self.victims {
            self.blocks[victim.index()].phase = Phase::Victim;
        }
        self.left_writes = victims.invalid_pages();
        self.invalid_pages = victims.invalid_pages();
        self.left_pages = self.victims.iter().map(|&victim| self.valid_pages(victim)).sum();
    }

    /// Moves the next `pages` pages of victims, and erases victims that have none left.
    fn advance(&mut self, mut pages: u32) {
        while let Some(&victim) = self.victims.front() {
            if self.valid_pages(victim) == 0 {
                self.erase(victim);
                self.victims.pop_front();
                self.left_pages = self.victims.iter().map(|&victim| self.valid_pages(victim)).sum();
                continue;
            }
            if pages == 0 {
                return;
            }
            let held = &self.blocks[victim.index()].pages;
            let page = held.iter().position(Option::is_some).expect("a valid page");
            let lpn = held[page].expect("a valid page");
            self.has_served |= self.relocate(lpn, victim) == self.requester;
            self.blocks[victim.index()].pages[page] = None;
            self.left_pages = self.left_pages.saturating_sub(1);
            pages -= 1;
        }
    }

    fn trim(&mut self, lpn: Lpn) {
        if self.mapping.contains_key(&lpn) {
            self.trims += 1;
            self.invalidate(lpn);
            self.policy.on_trim(lpn, &self.drive());
        }
    }

    /// Closes the open blocks of these streams as they are.
    fn renew(&mut self, streams: &[StreamId]) {
        self.advance(u32::MAX);
        let pages_per_block = self.config.geometry.pages_per_block() as usize;
        for &stream in streams {
            let Some(block) = self.open[stream.index()] else { continue };
            let pages = &mut self.blocks[block.index()].pages;
            let lost = pages_per_block - pages.len();
            pages.resize(pages_per_block, None);
            self.policy.on_pages_lost(block, lost as u32, &self.drive());
            self.seal(stream);
        }
    }

    fn invalidate(&mut self, lpn: Lpn) {
        if let Some((block, page)) = self.mapping.remove(&lpn) {
            self.blocks[block.index()].pages[page] = None;
            self.policy.on_invalidate(block, &self.drive());
        }
    }

    fn program(&mut self, stream: StreamId, lpn: Lpn, tell: impl FnOnce(&mut Self, Ppn)) {
        let id = self.open[stream.index()].expect("an open block");
        let pages = &mut self.blocks[id.index()].pages;
        self.mapping.insert(lpn, (id, pages.len()));
        pages.push(Some(lpn));
        tell(self, self.ppn(self.mapping[&lpn]));
        if !self.has_room(stream) {
            self.seal(stream);
        }
    }

    fn seal(&mut self, stream: StreamId) {
        if let Some(id) = self.open[stream.index()].take() {
            let block = &mut self.blocks[id.index()];
            block.phase = Phase::Sealed;
            block.sealed_at = self.write_clock;
            self.sealed.push(id);
            self.policy.on_block_sealed(id, &self.drive());
        }
    }

    fn open(&mut self, stream: StreamId) {
        let wanted = self.policy.free_block(stream, &self.drive());
        let place = self.free.iter().position(|&block| Some(block) == wanted).unwrap_or(0);
        let id = self.free.remove(place).expect("a free block");
        let allocated = self.allocations;
        self.allocations += 1;
        let block = &mut self.blocks[id.index()];
        *block = TwinBlock { phase: Phase::Open, stream, allocated, ..block.clone() };
        self.open[stream.index()] = Some(id);
        self.policy.on_block_opened(id, &self.drive());
    }

    /// One collection; whether it gains anything.
    fn collect(&mut self, valid_pages_max: u32) -> bool {
        let geometry = self.config.geometry;
        let mut victims = Victims::new(geometry.blocks(), geometry.pages_per_block());
        victims.begin(self.requester, valid_pages_max);
        self.policy.select_victims(&self.drive(), &mut victims);
        let mut blocks = victims.blocks().to_vec();
        blocks.extend(self.close(&victims));
        self.reclaim(&blocks);
        victims.invalid_pages() > 0
    }

    /// Closes the open block that is a victim, too.
    fn close(&mut self, victims: &Victims) -> Option<BlockId> {
        let stream = victims.closing()?;
        let block = self.open[stream.index()]?;
        let pages = self.config.geometry.pages_per_block();
        let lost = self.room(stream);
        self.blocks[block.index()].pages.resize(pages as usize, None);
        self.policy.on_pages_lost(block, lost, &self.drive());
        self.seal(stream);
        Some(block)
    }

    fn reclaim(&mut self, victims: &[BlockId]) {
        if self.policy.sorts_moves() {
            let pages = |victim: BlockId| self.blocks[victim.index()].pages.iter().flatten();
            let mut all: Vec<(Lpn, BlockId)> = victims
                .iter()
                .flat_map(|&victim| pages(victim).map(move |&lpn| (lpn, victim)))
                .collect();
            all.sort_unstable();
            for (lpn, victim) in all {
                self.relocate(lpn, victim);
            }
            for &victim in victims {
                self.erase(victim);
            }
            return;
        }
        for &victim in victims {
            let pages = self.blocks[victim.index()].pages.clone();
            let luns = self.policy.handles().map_or(1, |handles| handles.luns() as usize);
            for lun in 0..luns {
                for lpn in pages.iter().skip(lun).step_by(luns).flatten() {
                    self.relocate(*lpn, victim);
                }
            }
            self.erase(victim);
        }
    }

    /// Returns the stream that took the page.
    fn relocate(&mut self, lpn: Lpn, victim: BlockId) -> StreamId {
        let page = Relocation::new(lpn, victim, self.blocks[victim.index()].stream);
        let mut stream = self.policy.place_relocation(page, &self.drive());
        if !self.has_room(stream) && self.free.is_empty() {
            let mut streams = (0..self.open.len() as u8).map(StreamId);
            stream = streams.find(|&other| self.has_room(other)).unwrap();
        } else if !self.has_room(stream) {
            self.open(stream);
        }
        let from = self.ppn(self.mapping[&lpn]);
        self.program(stream, lpn, |ftl, to| ftl.policy.on_moved(from, to));
        self.relocations += 1;
        stream
    }

    fn erase(&mut self, victim: BlockId) {
        let block = &mut self.blocks[victim.index()];
        block.phase = Phase::Free;
        block.pages.clear();
        block.erases += 1;
        self.free.push_back(victim);
        self.sealed.retain(|&block| block != victim);
        self.reads.remove(&victim);
        self.policy.on_block_erased(victim, &self.drive());
    }

    fn flash_page(&self, lpn: Lpn) -> Option<Ppn> {
        self.mapping.get(&lpn).map(|&place| self.ppn(place))
    }

    fn ppn(&self, (block, page): (BlockId, usize)) -> Ppn {
        Ppn(self.config.geometry.first_page(block).0 + page as u32)
    }
}

//! `sfs`: groups of like hotness, found again and again in the blocks of the drive.
//!
//! # Idea
//! What is as likely to be rewritten shares a block, so that blocks end up almost empty or almost full.
//! Where the borders between hot and cold lie, the blocks on the drive tell.
//!
//! # Rule
//! The hotness of a page is the number of its host writes over the time since the last of them, that of a
//! block the sum of its pages' writes over the sum of those times; both count by their logarithms. Each
//! group has a centre and one open block that takes host writes and relocated pages alike; a page goes
//! to the group whose centre is nearest to its hotness. Now and then the groups are quantized: every
//! sealed block joins the group whose centre is nearest to its hotness, and the centre becomes the mean
//! of the group's blocks; three rounds at most, or until nothing changes.
//!
//! # Parameters
//! `groups` 4, as published: hot, warm, cold and read-only. `every`: quantized when that many blocks have
//! been sealed; auto is a 64th of all blocks, at least 1.
//!
//! # Where the paper is silent
//! The paper compares hotness itself; without logarithms the centres all end up among the hottest
//! blocks of a zipf workload (docs/notes/reproduction.md). It quantizes when it writes segments. A page that is being rewritten counts the present write,
//! and the time since the one before. A first write goes to the coldest group: there are no files whose
//! hotness it could take. The first centres are quantiles of the blocks' hotness. A block's sums are made
//! when it is sealed and lose the pages that the host rewrites; those that it trims stay in. The
//! paper's victims, highest (1 - u) / (2 u hotness) first, are left to the victim rule. Times are
//! taken modulo 2^32 host writes.
//!
//! # Reference
//! Min et al., "SFS: Random Write Considered Harmful in Solid State Drives", FAST 2012, section 3.

use crate::algorithms::placement::classes::{CLASSES_MAX, classes, log2};
use crate::algorithms::tools::intervals::writes_since;
use crate::page::entry::{DriveShape, FitContext, PlacementEntry};
use crate::page::policy::{HostWrite, Placement, Relocation};
use crate::page::{DriveState, Phase};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Metadata, memory};
use ftlab_flash::{BlockId, Lpn};
use ftlab_spec::{OrAuto, SpecError};
use std::hint::select_unpredictable;
use std::num::NonZeroU32;

/// Blocks of the drive per block that is sealed between two quantizations, if nothing else is said.
const BLOCKS_PER_SEALED: u32 = 64;

/// Rounds of a quantization at most.
const ROUNDS: usize = 3;

ftlab_spec::parameters! {
    pub struct SfsParameters {
        /// Groups, from cold to hot.
        groups: u32 = 4, "groups" in 1..=CLASSES_MAX, from "SFS (FAST 2012), section 3.3";
        /// Blocks sealed between two quantizations; auto: a 64th of all.
        every: OrAuto<NonZeroU32> = OrAuto::Auto, "every", from "our reading";
    }
}

/// Groups of like hotness.
pub struct Sfs {
    pages: Vec<Page>,
    blocks: Vec<Block>,
    /// Group -> hotness, rising; all alike until blocks tell.
    centres: Vec<f32>,
    is_quantized: bool,
    every: u32,
    left: u32,
}

state!(Sfs { pages, blocks, centres, is_quantized, left } constant every);

/// What is known of a logical page.
#[derive(Debug, Clone, Copy, Default)]
struct Page {
    writes: u32,
    /// The write clock when the host wrote it, modulo 2^32.
    written_at: u32,
}

state!(Page { writes, written_at });

/// What is known of a sealed block: sums over its valid pages.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    writes: f32,
    pages: f32,
    /// Of how long before `sealed_at` the host wrote them; later if negative.
    times: f32,
    /// The write clock, modulo 2^32.
    sealed_at: u32,
}

state!(Block { writes, pages, times, sealed_at });

impl Block {
    /// The page, which the block holds, counts with `sign`.
    fn add(&mut self, page: Page, sign: f32) {
        self.writes += sign * page.writes as f32;
        self.pages += sign;
        self.times += sign * self.sealed_at.wrapping_sub(page.written_at) as f32;
    }

    fn hotness(&self, drive: &DriveState) -> f32 {
        let age = writes_since(self.sealed_at, drive) as f32;
        hotness(self.writes, self.times + self.pages * age)
    }
}

/// The logarithm of writes over time; below 1 both count as 1.
#[inline]
fn hotness(writes: f32, time: f32) -> f32 {
    log2(writes) - log2(time)
}

impl PlacementEntry for Sfs {
    type Parameters = SfsParameters;
    const NAME: &'static str = "sfs";
    const SUMMARY: &'static str =
        "groups of like hotness, writes over age, around centres that blocks tell";
    const SOURCE: &'static str = "SFS (FAST 2012)";

    fn fit(parameters: &mut SfsParameters, context: &FitContext) -> Result<(), SpecError> {
        let blocks = context.shape.blocks / BLOCKS_PER_SEALED;
        parameters.every.fit(|| NonZeroU32::new(blocks).unwrap_or(NonZeroU32::MIN));
        Ok(())
    }

    fn new(parameters: &SfsParameters, shape: DriveShape) -> Self {
        let every = parameters.every.given().map_or(1, |every| every.get());
        Self {
            pages: memory::table(shape.logical_pages as usize, Page::default()),
            blocks: vec![Block::default(); shape.blocks as usize],
            centres: vec![0.0; parameters.groups as usize],
            is_quantized: false,
            every,
            left: every,
        }
    }
}

impl Sfs {
    /// The group whose centre is nearest; the coldest of equal ones.
    #[inline]
    fn group_of(&self, hotness: f32) -> StreamId {
        let mut nearest = 0;
        let mut distance = f32::INFINITY;
        for (group, centre) in self.centres.iter().enumerate() {
            let this = (hotness - centre).abs();
            let is_nearer = this < distance;
            nearest = select_unpredictable(is_nearer, group, nearest);
            distance = select_unpredictable(is_nearer, this, distance);
        }
        StreamId(nearest as u8)
    }

    fn sealed<'a>(&'a self, drive: &'a DriveState) -> impl Iterator<Item = f32> + 'a {
        let blocks = drive.host_blocks();
        let sealed = blocks.filter(|&block| drive.phase(block) == Phase::Sealed);
        let held = sealed.filter(|block| self.blocks[block.index()].pages > 0.0);
        held.map(|block| self.blocks[block.index()].hotness(drive))
    }

    /// Finds the centres again.
    #[cold]
    fn quantize(&mut self, drive: &DriveState) {
        if !self.is_quantized {
            let mut hotness: Vec<f32> = self.sealed(drive).collect();
            if hotness.len() < self.centres.len() {
                return;
            }
            hotness.sort_by(f32::total_cmp);
            let groups = self.centres.len();
            let quantile = |group: usize| hotness[(2 * group + 1) * hotness.len() / (2 * groups)];
            self.centres = (0..groups).map(quantile).collect();
            self.is_quantized = true;
        }
        for _ in 0..ROUNDS {
            if !self.refine(drive) {
                break;
            }
        }
    }

    /// One round: moves every centre to the mean of the blocks nearest to it; whether one moved.
    fn refine(&mut self, drive: &DriveState) -> bool {
        let mut sums = [(0.0_f32, 0_u32); CLASSES_MAX as usize];
        for hotness in self.sealed(drive) {
            let (sum, blocks) = &mut sums[self.group_of(hotness).index()];
            *sum += hotness;
            *blocks += 1;
        }
        let mut moved = false;
        for (centre, (sum, blocks)) in self.centres.iter_mut().zip(sums) {
            if blocks > 0 {
                let mean = sum / blocks as f32;
                moved |= mean.to_bits() != centre.to_bits();
                *centre = mean;
            }
        }
        self.centres.sort_by(f32::total_cmp);
        moved
    }
}

impl Placement for Sfs {
    fn streams(&self) -> Vec<Stream> {
        classes(self.centres.len())
    }

    /// Where free blocks run out, pages of different temper may share one.
    fn reserve_blocks_min(&self) -> u32 {
        1
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, _block: BlockId) {
        memory::prefetch(&self.pages, lpn.index());
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        let page = &mut self.pages[write.lpn.index()];
        let before = *page;
        let now = drive.write_clock() as u32;
        let Some(flash_page) = drive.flash_page(write.lpn) else {
            *page = Page { writes: 1, written_at: now };
            return StreamId(0);
        };
        *page = Page { writes: before.writes.saturating_add(1), written_at: now };
        let writes = page.writes;
        // Of a block that is still open this is overwritten when it is sealed.
        self.blocks[drive.block_of(flash_page).index()].add(before, -1.0);
        self.group_of(hotness(writes as f32, writes_since(before.written_at, drive) as f32))
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        let Page { writes, written_at } = self.pages[page.lpn.index()];
        self.group_of(hotness(writes as f32, writes_since(written_at, drive) as f32))
    }

    fn on_block_sealed(&mut self, block: BlockId, drive: &DriveState) {
        let mut sums = Block { sealed_at: drive.write_clock() as u32, ..Block::default() };
        for lpn in drive.valid_owners(block) {
            sums.add(self.pages[lpn.index()], 1.0);
        }
        self.blocks[block.index()] = sums;
        self.left -= 1;
        if self.left == 0 {
            self.left = self.every;
            self.quantize(drive);
        }
    }

    /// Two numbers of 32 bits for a page; two sums and the time of sealing for a block.
    fn metadata(&self) -> Metadata {
        Metadata::per_page(64.0)
            + Metadata::per_block(128)
            + Metadata::fixed(4 * self.centres.len() as u64)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&self.pages[..]) + size_of_val(&self.blocks[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_go_to_the_nearest_centre() {
        let shape =
            DriveShape { blocks: 20, pages_per_block: 64, logical_pages: 100, reserve_blocks: 4 };
        let mut sfs = Sfs::new(&SfsParameters::default(), shape);
        assert_eq!(sfs.group_of(0.3), StreamId(0), "nothing is known");
        sfs.centres = vec![0.0, 0.1, 0.5, 2.0];
        let groups = [0.0, 0.06, 0.2, 0.31, 9.0].map(|hotness| sfs.group_of(hotness).0);
        assert_eq!(groups, [0, 1, 1, 2, 3]);
    }

    #[test]
    fn a_blocks_sums_follow_its_pages() {
        let page = |writes, written_at| Page { writes, written_at };
        let mut block = Block { sealed_at: 1000, ..Block::default() };
        block.add(page(3, 900), 1.0);
        block.add(page(1, 400), 1.0);
        assert_eq!((block.writes, block.pages, block.times), (4.0, 2.0, 700.0));
        block.add(page(3, 900), -1.0);
        assert_eq!((block.writes, block.pages, block.times), (1.0, 1.0, 600.0));
    }
}

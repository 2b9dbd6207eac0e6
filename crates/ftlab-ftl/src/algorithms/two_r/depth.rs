//! `adapt-depth`: how much of the list 2R-FIFO scans, found out while it runs.
//!
//! The best depth depends on the workload: a deeper scan takes blocks whose pages the host would still have
//! overwritten, a shallower one leaves invalid pages lie. What another depth would have moved cannot be seen
//! from the victims alone, since it would have left other blocks behind. So a [`Shadow`] for each of six
//! depths runs beside the drive on a sample of its pages, one of every 2^k neighbours.
//!
//! ```text
//! a host write or trim of a sampled page: the same in every shadow
//! every L / 2^k sampled writes (an epoch: about one write of the drive, L being its logical pages):
//!     score of each depth = half its score before + pages moved in this epoch
//!     scan-depth = the one with the lowest score; as before, if none is lower or all are alike
//! ```
//!
//! A shadow has fewer blocks than the drive, as large as the drive's: with smaller ones, how empty a block
//! is becomes a matter of chance, which favours shallow scans. Simulating a sample in miniature is known from
//! caches (Waldspurger et al., "Cache Modeling and Optimization using Miniature Simulations", USENIX ATC
//! 2017); depths, epochs and weights are ours.

use crate::algorithms::tools::hash::hash;
use crate::algorithms::two_r::regions::Regions;
use crate::algorithms::two_r::scan::Scan;
use crate::algorithms::two_r::shadow::Shadow;
use crate::page::entry::DriveShape;
use crate::state::state;
use crate::{LINK_BITS, Metadata};
use ftlab_flash::Lpn;

/// The depths that are compared.
const DEPTHS: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// Fewest blocks of a shadow, unless the drive has fewer.
const BLOCKS_MIN: u32 = 128;

/// Most neighbours of which one page is sampled, as a power of two.
const SHIFT_MAX: u32 = 6;

/// What a score keeps of the epochs before.
const MEMORY: f64 = 0.5;

/// Compares depths.
#[derive(Debug)]
pub(super) struct DepthControl {
    /// One for each of [`DEPTHS`].
    shadows: Vec<Shadow>,
    scores: [f64; DEPTHS.len()],
    /// Which depth was found best.
    chosen: Option<u32>,
    /// Sampled writes until the epoch ends.
    left_writes: u32,
    epoch_writes: u32,
    /// One page of 2 to the power of this is sampled.
    shift: u32,
}

state!(DepthControl { shadows, scores, chosen, left_writes } constant epoch_writes, shift);

impl DepthControl {
    /// Of a drive with this scan.
    pub(super) fn new(scan: &Scan, regions: Regions, shape: DriveShape) -> Self {
        let shift = (shape.blocks / BLOCKS_MIN).max(1).ilog2().min(SHIFT_MAX);
        let pages_per_block = shape.pages_per_block;
        let logical_pages = shape.logical_pages.div_ceil(1 << shift);
        let reserve = regions.relocation_streams();
        // Open blocks are as many as on the drive, and not in proportion.
        let open = 1 + reserve;
        let used = shape.blocks.saturating_sub(shape.reserve_blocks + open);
        let blocks = used.div_ceil(1 << shift) + open + reserve;
        let shadows = DEPTHS.map(|depth| {
            let scan = Scan { depth, pages_per_block, ..scan.clone() };
            Shadow::new(scan, regions, blocks, reserve, logical_pages)
        });
        Self {
            shadows: shadows.into(),
            scores: [0.0; DEPTHS.len()],
            chosen: None,
            left_writes: logical_pages,
            epoch_writes: logical_pages,
            shift,
        }
    }

    /// The number of `lpn` in the sample, if it belongs to it.
    fn sampled(&self, lpn: Lpn) -> Option<u32> {
        let group = lpn.0 >> self.shift;
        let others = (1 << self.shift) - 1;
        ((hash(Lpn(group)) as u32 ^ lpn.0) & others == 0).then_some(group)
    }

    /// The host writes `lpn`. At the end of an epoch, what the depth should be from now on, if that has
    /// shown.
    pub(super) fn write(&mut self, lpn: Lpn) -> Option<f64> {
        let page = self.sampled(lpn)?;
        self.shadows.iter_mut().for_each(|shadow| shadow.write(page));
        self.left_writes = self.left_writes.saturating_sub(1);
        if self.left_writes == 0 { self.end_epoch() } else { None }
    }

    fn end_epoch(&mut self) -> Option<f64> {
        self.left_writes = self.epoch_writes;
        for (shadow, score) in self.shadows.iter_mut().zip(&mut self.scores) {
            *score = MEMORY * *score + shadow.take_moved() as f64;
        }
        let present = self.chosen.and_then(|chosen| self.scores.get(chosen as usize));
        let present = present.copied().unwrap_or(f64::MAX);
        let scores = || (0..).zip(self.scores);
        let (best, score) = scores().min_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let tells = scores().any(|(_, other)| other > score);
        if score < present && tells {
            self.chosen = Some(best);
        }
        self.chosen.and_then(|chosen| DEPTHS.get(chosen as usize)).copied()
    }

    /// The host trims `lpn`.
    pub(super) fn trim(&mut self, lpn: Lpn) {
        if let Some(page) = self.sampled(lpn) {
            self.shadows.iter_mut().for_each(|shadow| shadow.trim(page));
        }
    }

    /// What a drive would have to keep for it: mapping and owner of each sampled page, a link and the
    /// stream of each block.
    pub(super) fn metadata(&self) -> Metadata {
        let shadows = DEPTHS.len() as u32;
        let per_page = f64::from(2 * LINK_BITS * shadows) / f64::from(1_u32 << self.shift);
        Metadata::per_page(per_page) + Metadata::per_block(shadows * (LINK_BITS + 2))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.shadows.iter().map(Shadow::memory_bytes).sum()
    }

    pub(super) fn check(&self) -> Result<(), String> {
        self.shadows.iter().try_for_each(Shadow::check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::two_r::fifo;
    use crate::algorithms::two_r::scan::Fallback;

    fn control(logical_pages: u32) -> DepthControl {
        let shape =
            DriveShape { blocks: 560, pages_per_block: 64, logical_pages, reserve_blocks: 4 };
        let scan =
            Scan { blk_util: 0.5, depth: 0.8, fallback: Fallback::Raise, pages_per_block: 64 };
        DepthControl::new(&scan, fifo::REGIONS, shape)
    }

    #[test]
    fn one_of_each_group_of_neighbours_is_sampled() {
        let control = control(512 * 64);
        let sample: Vec<_> = (0..512 * 64).filter_map(|lpn| control.sampled(Lpn(lpn))).collect();
        assert_eq!(sample, (0..128 * 64).collect::<Vec<_>>());
        let firsts = (0..128 * 64).filter(|group| control.sampled(Lpn(group * 4)).is_some());
        assert!((1900..=2200).contains(&firsts.count()), "a quarter are the first of their group");
    }

    #[test]
    fn the_depth_that_moves_least_is_chosen_at_the_end_of_an_epoch() {
        let mut control = control(512 * 64);
        assert_eq!(control.end_epoch(), None, "nothing has moved");
        let mut found = Vec::new();
        for round in 0..20_u64 {
            for write in 0..512 * 64 {
                // Half of the writes go round a twentieth of the drive, slowly.
                let random = (round * 32_768 + write + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
                let page = if write % 2 == 0 { round * 1600 + random % 1600 } else { random };
                if let Some(depth) = control.write(Lpn((page % (512 * 64)) as u32)) {
                    let chosen = control.chosen.unwrap() as usize;
                    assert!(control.scores.iter().all(|&score| score >= control.scores[chosen]));
                    found.push(format!("{depth}"));
                    assert_eq!(found.last(), Some(&format!("{}", DEPTHS[chosen])));
                }
            }
        }
        control.check().unwrap();
        found.dedup();
        assert!(!found.is_empty() && control.scores.iter().all(|&score| score > 0.0));
    }
}

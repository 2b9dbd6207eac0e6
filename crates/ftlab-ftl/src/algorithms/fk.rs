//! `fk`: future knowledge: it is known of every page when it will be rewritten.
//!
//! # Idea
//! Every FTL guesses when pages will be written again. One that knows shows how much better guesses could
//! bring at most by rules like these, from where a page is written to when it is moved.
//!
//! # Rule
//! Pages go to a class by the time that is left of their lives, as those of the placement `fk`. The victim
//! has the highest (1 - u)^2 / (u h), u being its valid share and h the mean over its valid pages of 1 / the
//! host writes that are left of their lives: the block whose emptying gains least by waiting, as of
//! `hazard`, with true lives instead of estimates. A page that is not known to die counts as if it died after
//! as many host writes as there are logical pages.
//!
//! # Parameters
//! Those of the placement `fk`.
//!
//! # Where the paper is silent
//! It is not the least write amplification that is possible, but a bound of that from above: whoever knows
//! the future can do as well as this, and may do better. Nobody knows an algorithm that finds the least.
//! SepBIT's authors use cost-benefit victims, which `fk/cost-benefit:classes=6,spacing=blocks` does; those
//! do not know what they wait for. Ties go to the block that was allocated first.
//!
//! # Reference
//! Ours, from FK of Wang et al., "Separating data via block invalidation time inference for write
//! amplification reduction in log-structured storage", FAST 2022, section 4.1.

use crate::Metadata;
use crate::algorithms::placement;
use crate::page::entry::{DriveShape, PlacementEntry, PolicyEntry};
use crate::page::policy::{BlockScore, Hints, HostWrite, Placement, Policy, Relocation, Victims};
use crate::page::{DriveState, Phase};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use ftlab_flash::{BlockId, Lpn};

/// Knows when pages die, where they are written and which blocks it collects.
pub struct Fk {
    placement: placement::Fk,
}

state!(Fk { placement });

impl PolicyEntry for Fk {
    type Parameters = placement::FkParameters;
    const NAME: &'static str = "fk";
    const SUMMARY: &'static str =
        "knows when each page dies, which only a first pass over the workload tells";
    const SOURCE: &'static str = "ours, from FK of SepBIT (FAST 2022), section 4.1";
    const HINTS: Hints = Hints::Lifetimes;
    const IS_BOXED: bool = true;

    fn new(parameters: &placement::FkParameters, shape: DriveShape) -> Self {
        Self { placement: placement::Fk::new(parameters, shape) }
    }
}

impl Fk {
    /// (1 - u)^2 / (u h) of a sealed block; anything below `enough` if it turns out to be no more than that.
    fn score(&self, block: BlockId, enough: f64, drive: &DriveState) -> f64 {
        let (now, longest) = (drive.write_clock(), u64::from(drive.logical_pages()));
        let pages = f64::from(drive.pages_per_block());
        let invalid = pages - f64::from(drive.valid_pages(block));
        // The sum of rates only grows.
        let rate_max = invalid * invalid / (pages * enough);
        let mut rate = 0.0;
        for lpn in drive.valid_owners(block) {
            let left = self.placement.dies_at(lpn).saturating_sub(now);
            rate += 1.0 / left.clamp(1, longest) as f64;
            if rate > rate_max {
                break;
            }
        }
        invalid * invalid / (pages * rate)
    }
}

impl Policy for Fk {
    fn streams(&self) -> Vec<Stream> {
        Placement::streams(&self.placement)
    }

    fn reserve_blocks_min(&self) -> u32 {
        Placement::reserve_blocks_min(&self.placement)
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, block: BlockId) {
        Placement::fetch_ahead(&self.placement, lpn, block);
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        Placement::place_host(&mut self.placement, write, drive)
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        Placement::place_relocation(&mut self.placement, page, drive)
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        let most = victims.valid_pages_max().min(drive.pages_per_block() - 1);
        let blocks = drive.host_blocks();
        let fitting = blocks.filter(|&block| {
            drive.phase(block) == Phase::Sealed && drive.valid_pages(block) <= most
        });
        let empty = fitting.clone().filter(|&block| drive.valid_pages(block) == 0);
        let mut best = empty.min_by_key(|&block| drive.allocated(block));
        if best.is_none() {
            let mut highest = 0.0;
            for block in fitting {
                let score = self.score(block, highest, drive);
                let is_earlier = |best| drive.allocated(block) < drive.allocated(best);
                if score > highest || score >= highest && best.is_some_and(is_earlier) {
                    (highest, best) = (score, Some(block));
                }
            }
        }
        if let Some(block) = best {
            victims.push(block, drive.valid_pages(block));
        }
    }

    fn block_score(&self, block: BlockId, drive: &DriveState) -> Option<BlockScore> {
        let value = self.score(block, 0.0, drive);
        Some(BlockScore { formula: "(1 - u)^2 / (u h)", value })
    }

    fn metadata(&self) -> Metadata {
        Placement::metadata(&self.placement)
    }

    fn memory_bytes(&self) -> usize {
        Placement::memory_bytes(&self.placement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::DriveConfig;
    use crate::page::policy::{Hint, Lifetime};
    use ftlab_flash::{Geometry, Lpn};

    /// Sixty blocks of sixteen pages, of which some are dead, and lives of all lengths.
    fn drive_in_use() -> (Fk, DriveState) {
        let config = DriveConfig::new(Geometry::new(80, 16, 8).unwrap(), 1024, 4);
        let mut fk = Fk::new(&placement::FkParameters::default(), DriveShape::new(&config));
        let mut drive = DriveState::new(&config, Policy::streams(&fk));
        for lpn in (0..960).map(Lpn) {
            drive.tick();
            let random = lpn.0.wrapping_mul(2_654_435_761) >> 8;
            let this = if random.is_multiple_of(5) { u32::MAX } else { 1 + random % 3000 };
            let lifetime = Lifetime { this, mean: u32::MAX };
            fk.place_host(HostWrite::new(lpn, Hint { lifetime, ..Hint::NONE }), &drive);
            if !drive.has_room(StreamId(0)) {
                drive.open(StreamId(0), None);
            }
            drive.append(StreamId(0), lpn);
            if !drive.has_room(StreamId(0)) {
                drive.seal(StreamId(0));
            }
        }
        for lpn in (0..960).map(Lpn).filter(|lpn| lpn.0 % (2 + lpn.0 / 16) == 1) {
            drive.invalidate(lpn);
        }
        (fk, drive)
    }

    #[test]
    fn the_victim_is_the_best_of_a_full_scan() {
        let (mut fk, drive) = drive_in_use();
        let mut victims = Victims::new(80, 16);
        victims.begin(StreamId(0), 16);
        fk.select_victims(&drive, &mut victims);
        let chosen = victims.blocks()[0];
        let sealed: Vec<_> = (0..80)
            .map(BlockId)
            .filter(|&block| drive.phase(block) == Phase::Sealed && drive.valid_pages(block) < 16)
            .collect();
        let rates = |block| {
            let left = |lpn| fk.placement.dies_at(lpn).saturating_sub(drive.write_clock());
            let rates = drive.valid_owners(block).map(|lpn| 1.0 / left(lpn).clamp(1, 1024) as f64);
            rates.sum::<f64>()
        };
        let score = |block| {
            let u = f64::from(drive.valid_pages(block)) / 16.0;
            (1.0 - u).powi(2) / (u * (rates(block) / (16.0 * u)))
        };
        let best = sealed.iter().copied().max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap();
        assert!(sealed.len() > 20, "{}", sealed.len());
        assert!(score(chosen) > 0.999_999 * score(best), "{chosen} instead of {best}");
    }
}

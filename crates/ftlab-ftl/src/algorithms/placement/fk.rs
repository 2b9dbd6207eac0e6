//! `fk`: future knowledge, pages apart by the time at which they will in fact be rewritten.
//!
//! # Idea
//! Every test of hotness guesses when a page will be written again. One that knows shows how much a
//! better guess can bring.
//!
//! # Rule
//! The lifetime of every host write, until the page is written again or trimmed, is known. N classes,
//! each with one open block that takes host writes and relocated pages alike; a page goes to the class
//! of the time that is left of its life. Between the class of the shortest lives and that of the longest,
//! which also takes pages that are never rewritten, the bounds rise by equal factors (`octaves`) or by a
//! block each (`blocks`).
//!
//! # Parameters
//! `classes` 0 is as many as a third of the spare blocks, at most 16, and at least 6 as far as these leave
//! one to collect into: with two, a drive of few spare blocks moves more than one that guesses.
//! `spacing=blocks,classes=6` is what the paper compares with.
//!
//! # Where the paper is silent
//! Its classes are a block (segment) of host writes wide, so that on a drive of thousands of blocks
//! almost all pages live longer than five of them and share the last class. `octaves` is ours: bounds
//! from a 32nd of the logical pages to twice all of them. Lifetimes are of the run that is simulated;
//! what comes after its end is not known. Where nobody says how long pages live, all go to the last class.
//!
//! # Reference
//! Wang et al., "Separating data via block invalidation time inference for write amplification
//! reduction in log-structured storage", FAST 2022, section 4.1.

use crate::page::DriveState;
use crate::page::entry::{DriveShape, PlacementEntry};
use crate::page::policy::{Hints, HostWrite, Placement, Relocation};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Metadata, STAMP_BITS, bits_for, memory};
use ftlab_flash::{BlockId, Lpn};

ftlab_spec::choices! {
    /// How the bounds between classes rise.
    pub enum Spacing {
        /// By equal factors.
        Octaves = "octaves",
        /// By a block of host writes.
        Blocks = "blocks",
    }
}

ftlab_spec::parameters! {
    pub struct FkParameters {
        /// Classes; 0: a third of the spare blocks, at most 16, and at least 6 if these leave one to collect into.
        classes: u32 = 0, "classes" in 0..=CLASSES_MAX as u32, from "ours";
        /// How the bounds between classes rise.
        spacing: Spacing = Spacing::Octaves, "spacing", from "ours; SepBIT (FAST 2022), section 4.1, has blocks";
    }
}

/// The most classes that there can be.
pub(crate) const CLASSES_MAX: usize = 16;

/// As many as are worth their open blocks also where few are to spare.
const CLASSES_WANTED: u32 = 6;

const NAMES: [&str; CLASSES_MAX] = [
    "life 0", "life 1", "life 2", "life 3", "life 4", "life 5", "life 6", "life 7", "life 8",
    "life 9", "life 10", "life 11", "life 12", "life 13", "life 14", "life 15",
];

/// With `octaves`, the first and the last bound between classes in host writes per logical page.
const BOUNDS: [f64; 2] = [1.0 / 32.0, 2.0];

/// "Never": the page will not be rewritten, or nobody knows when.
const NEVER: u64 = u64::MAX;

/// Classes by the time that is left.
pub struct Fk {
    /// Logical page -> write clock at which its content dies.
    dies_at: Vec<u64>,
    /// Bounds between classes in host writes, rising.
    bounds: Vec<u64>,
}

state!(Fk { dies_at } constant bounds);

impl PlacementEntry for Fk {
    type Parameters = FkParameters;
    const NAME: &'static str = "fk";
    const SUMMARY: &'static str =
        "classes by how long each page will live, which only a first pass over the workload tells";
    const SOURCE: &'static str = "FK of SepBIT (FAST 2022), section 4.1";
    const HINTS: Hints = Hints::Lifetimes;

    fn new(parameters: &FkParameters, shape: DriveShape) -> Self {
        let classes = match parameters.classes {
            0 => default_classes(shape),
            classes => classes,
        };
        let pages = u64::from(shape.pages_per_block);
        let bounds = match parameters.spacing {
            Spacing::Blocks => (1..u64::from(classes)).map(|bound| bound * pages).collect(),
            Spacing::Octaves => octave_bounds(classes, BOUNDS, shape.logical_pages),
        };
        Self::with_bounds(bounds, shape.logical_pages)
    }
}

/// A third of the spare blocks, at least 6 as far as these leave one to collect into.
pub(crate) fn default_classes(shape: DriveShape) -> u32 {
    let spare_blocks = shape.spare_blocks();
    let possible = spare_blocks.saturating_sub(1).clamp(1, CLASSES_MAX as u32);
    (spare_blocks / 3).max(CLASSES_WANTED).min(possible)
}

/// The bounds between `classes` classes, in host writes: from the first to the last of `ends`, in host writes per
/// logical page, by equal factors.
pub(crate) fn octave_bounds(classes: u32, [first, last]: [f64; 2], logical_pages: u32) -> Vec<u64> {
    let steps = f64::from(classes.saturating_sub(2).max(1));
    let bound = |step: u32| {
        let factor = (last / first).powf(f64::from(step) / steps);
        (first * factor * f64::from(logical_pages)).round().max(1.0) as u64
    };
    (0..classes.saturating_sub(1)).map(bound).collect()
}

impl Fk {
    /// Classes with these bounds between them, at most one less than there are names.
    pub(crate) fn with_bounds(bounds: Vec<u64>, logical_pages: u32) -> Self {
        Self { dies_at: memory::table(logical_pages as usize, NEVER), bounds }
    }

    /// Bounds between classes in host writes, rising.
    pub(crate) fn bounds(&self) -> &[u64] {
        &self.bounds
    }

    /// The write clock at which the content of a page dies; the highest number if that is not known.
    #[inline]
    pub fn dies_at(&self, lpn: Lpn) -> u64 {
        self.dies_at[lpn.index()]
    }

    /// The class of a page that has `left` host writes to live.
    #[inline]
    fn class_of(&self, left: u64) -> StreamId {
        StreamId(self.bounds.iter().map(|&bound| u8::from(left >= bound)).sum())
    }
}

impl Placement for Fk {
    fn streams(&self) -> Vec<Stream> {
        let last = self.bounds.len();
        let classes = NAMES.iter().take(last + 1).enumerate();
        let stream = |(class, &name)| Stream { name, takes_relocations: true, cold: class == last };
        classes.map(stream).collect()
    }

    /// Where free blocks run out, classes share one.
    fn reserve_blocks_min(&self) -> u32 {
        1
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, _block: BlockId) {
        memory::prefetch(&self.dies_at, lpn.index());
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        let lifetime = write.hint.lifetime.this;
        let (dies_at, left) = if lifetime == u32::MAX {
            (NEVER, NEVER)
        } else {
            (drive.write_clock() + u64::from(lifetime), u64::from(lifetime))
        };
        self.dies_at[write.lpn.index()] = dies_at;
        self.class_of(left)
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        let dies_at = self.dies_at[page.lpn.index()];
        self.class_of(dies_at.saturating_sub(drive.write_clock()))
    }

    /// When every page dies, and the class of every block.
    fn metadata(&self) -> Metadata {
        let classes = self.bounds.len() as u32 + 1;
        Metadata::per_page(f64::from(STAMP_BITS)) + Metadata::per_block(bits_for(classes))
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&self.dies_at[..]) + size_of_val(&self.bounds[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: DriveShape =
        DriveShape { blocks: 576, pages_per_block: 128, logical_pages: 65_536, reserve_blocks: 4 };

    #[test]
    fn bounds_rise_from_the_first_to_the_last() {
        let octaves = Fk::new(&FkParameters::default(), SHAPE);
        assert_eq!(octaves.bounds.len(), 15);
        assert_eq!((octaves.bounds[0], octaves.bounds[14]), (2048, 131_072));
        assert!(octaves.bounds.is_sorted());
        let published = FkParameters { classes: 6, spacing: Spacing::Blocks };
        assert_eq!(Fk::new(&published, SHAPE).bounds, [128, 256, 384, 512, 640]);
        let few = FkParameters { classes: 2, ..FkParameters::default() };
        assert_eq!(Fk::new(&few, SHAPE).bounds, [2048]);
    }

    #[test]
    fn a_life_on_a_bound_belongs_to_the_longer_ones() {
        let fk = Fk::new(&FkParameters { classes: 6, spacing: Spacing::Blocks }, SHAPE);
        let classes = [0, 127, 128, 639, 640, NEVER].map(|left| fk.class_of(left).0);
        assert_eq!(classes, [0, 0, 1, 4, 5, 5]);
    }
}

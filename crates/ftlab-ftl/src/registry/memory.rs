//! How much memory an FTL takes, before it is made.
//!
//! The tables of a drive follow from its size. What a policy adds only the policy knows: it is made for drives that
//! are much smaller, which differ in one dimension at a time, and what these take is extended to the whole drive. Only
//! samples do not grow with the drive alone.

use crate::page::entry::DriveShape;
use crate::page::policy::Policy;
use crate::registry::build::boxed_policy;
use crate::registry::list::HYBRIDS;
use ftlab_spec::{Spec, SpecError};

/// Bytes per logical page: its place on the flash.
const LOGICAL_PAGE_BYTES: u64 = 4;
/// Bytes per flash page, in eighths: its owner, and two bits.
const FLASH_PAGE_EIGHTHS: u64 = 34;
/// Bytes per erase block: its state, erases and place in lists, those of a hybrid-mapped FTL among them.
const BLOCK_BYTES: u64 = 56;

/// Erase blocks of the largest small drive, and pages of each. Policies that look at spare blocks do there as they do
/// on the whole drive. A policy that needs more gets more.
const SMALL_BLOCKS: u32 = 2048;
const SMALL_PAGES: u32 = 512;

/// Bytes of memory that the FTL that `spec` names takes on a drive like this, within a few percent; its parameters
/// are [fitted](crate::registry::fit) to the drive. A hybrid-mapped one has no more than the tables of its drive.
pub fn memory_bytes(spec: &Spec, shape: DriveShape) -> Result<u64, SpecError> {
    let is_hybrid = HYBRIDS.iter().any(|row| row.name == spec.name);
    let of_policy =
        if is_hybrid { 0 } else { policy_bytes(shape, |small| boxed_policy(spec, small))? };
    Ok(drive_bytes(shape) + of_policy)
}

/// Bytes of the tables of a drive, of either mapping.
pub fn drive_bytes(shape: DriveShape) -> u64 {
    let flash_pages = u64::from(shape.blocks) * u64::from(shape.pages_per_block);
    u64::from(shape.logical_pages) * LOGICAL_PAGE_BYTES
        + flash_pages * FLASH_PAGE_EIGHTHS / 8
        + u64::from(shape.blocks) * BLOCK_BYTES
}

/// Bytes of the policy that `make` makes for a drive of this size; it makes smaller ones only, if it can.
pub fn policy_bytes(
    shape: DriveShape,
    make: impl Fn(DriveShape) -> Result<Box<dyn Policy>, SpecError>,
) -> Result<u64, SpecError> {
    let of = |small| {
        let policy = make(small)?;
        let samples = policy.sample_bytes(shape.logical_pages);
        let grows = policy.memory_bytes().saturating_sub(samples.here);
        Ok::<_, SpecError>([grows as f64, samples.most as f64])
    };
    let (mut blocks, mut pages) = (SMALL_BLOCKS, SMALL_PAGES);
    loop {
        let small = cut(shape, halved(shape.blocks, blocks), halved(shape.pages_per_block, pages));
        match extended(small, shape, of) {
            Ok([grows, samples]) => return Ok((grows + samples).ceil() as u64),
            Err(error) if small == shape => return Err(error),
            // Its parameters may ask for a larger drive than that.
            Err(_) => (blocks, pages) = (blocks.saturating_mul(2), pages.saturating_mul(2)),
        }
    }
}

/// Half as many, and half of that, until there are no more than `most`.
fn halved(mut count: u32, most: u32) -> u32 {
    while count > most.max(2) {
        count = count.div_ceil(2);
    }
    count
}

/// A part of a drive with this many blocks and pages, as full as all of it.
fn cut(whole: DriveShape, blocks: u32, pages_per_block: u32) -> DriveShape {
    let flash_pages = |blocks: u32, pages: u32| u64::from(blocks) * u64::from(pages);
    let part = flash_pages(blocks, pages_per_block);
    let logical_pages = u64::from(whole.logical_pages) * part
        / flash_pages(whole.blocks, whole.pages_per_block).max(1);
    DriveShape { blocks, pages_per_block, logical_pages: logical_pages as u32, ..whole }
}

/// What a whole drive takes, of which `small` is a part, if there is a constant part, one for each block and one for
/// each page. Those of a dimension that is not cut need not be known. Beside that number `of` tells another, which is
/// that of any drive.
fn extended<E>(
    small: DriveShape,
    whole: DriveShape,
    of: impl Fn(DriveShape) -> Result<[f64; 2], E>,
) -> Result<[f64; 2], E> {
    let pages = |shape: DriveShape| f64::from(shape.blocks) * f64::from(shape.pages_per_block);
    let [all, of_any] = of(small)?;
    let mut each_page = 0.0;
    if small.pages_per_block < whole.pages_per_block {
        let fewer = cut(whole, small.blocks, small.pages_per_block / 2);
        each_page = (all - of(fewer)?[0]) / (pages(small) - pages(fewer));
    }
    let mut each_block = 0.0;
    if small.blocks < whole.blocks {
        let fewer = cut(whole, small.blocks / 2, small.pages_per_block);
        let of_pages = each_page * (pages(small) - pages(fewer));
        each_block = (all - of(fewer)?[0] - of_pages) / f64::from(small.blocks - fewer.blocks);
    }
    let of_blocks = each_block * (f64::from(whole.blocks) - f64::from(small.blocks));
    Ok([all + of_blocks + each_page * (pages(whole) - pages(small)), of_any])
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: DriveShape = DriveShape {
        blocks: 36_000,
        pages_per_block: 512,
        logical_pages: 1 << 24,
        reserve_blocks: 4,
    };

    #[test]
    fn blocks_and_pages_are_told_apart() {
        for [constant, block, page] in [[0.0, 7.0, 3.0], [1e6, 0.0, 12.0], [100.0, 40.0, 0.0]] {
            let bytes = |shape: DriveShape| {
                let blocks = f64::from(shape.blocks);
                let of_pages = page * blocks * f64::from(shape.pages_per_block);
                Ok::<_, ()>([constant + block * blocks + of_pages, 5.0])
            };
            for [blocks, pages] in [[512, 64], [WHOLE.blocks, 64], [300, WHOLE.pages_per_block]] {
                let [found, of_any] = extended(cut(WHOLE, blocks, pages), WHOLE, bytes).unwrap();
                assert!((found / bytes(WHOLE).unwrap()[0] - 1.0).abs() < 1e-9, "{found}");
                assert!((of_any - 5.0).abs() < 1e-9);
            }
            assert_eq!(extended(WHOLE, WHOLE, bytes), bytes(WHOLE));
        }
    }

    #[test]
    fn a_part_is_as_full_as_the_whole() {
        assert_eq!((halved(36_000, 512), halved(512, 64), halved(9, 64)), (282, 64, 9));
        let part = cut(WHOLE, 360, 512);
        assert_eq!((part.logical_pages, part.reserve_blocks), ((1 << 24) / 100, 4));
        assert_eq!(cut(WHOLE, WHOLE.blocks, WHOLE.pages_per_block), WHOLE);
    }
}

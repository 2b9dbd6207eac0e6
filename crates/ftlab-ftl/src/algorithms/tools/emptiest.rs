//! The emptiest blocks of a list.

use crate::algorithms::tools::block_list::BlockList;
use crate::page::policy::Victims;
use ftlab_flash::BlockId;

/// Takes the blocks with the fewest valid pages before `end`, all of the region of the first; never
/// one without an invalid page.
pub(crate) fn take_emptiest<R: Eq + Copy>(
    list: &mut BlockList,
    end: u32,
    pages_per_block: u32,
    region_of: impl Fn(BlockId) -> R,
    victims: &mut Victims,
) {
    let most = victims.valid_pages_max().min(pages_per_block - 1);
    let Some(first) = emptiest_before(list, end, |_| true).filter(|&s| list.valid_pages(s) <= most)
    else {
        return;
    };
    let region = region_of(list.block(first));
    let mut next = Some(first);
    while let Some(slot) = next.filter(|&slot| list.valid_pages(slot) <= most) {
        list.take(slot, victims);
        if victims.free_a_block() {
            return;
        }
        next = emptiest_before(list, end, |block| region_of(block) == region);
    }
}

/// Takes the emptiest blocks of the list as well, if the `victims` so far have no invalid page: collecting
/// them would gain nothing.
pub(crate) fn gain_something<R: Eq + Copy>(
    list: &mut BlockList,
    pages_per_block: u32,
    region_of: impl Fn(BlockId) -> R,
    victims: &mut Victims,
) {
    if victims.invalid_pages() == 0 {
        take_emptiest(list, list.end(), pages_per_block, region_of, victims);
    }
}

/// Takes the block with the fewest valid pages before `end`, if it has an invalid page.
pub(crate) fn take_emptiest_one(
    list: &mut BlockList,
    end: u32,
    pages_per_block: u32,
    victims: &mut Victims,
) {
    let most = victims.valid_pages_max().min(pages_per_block - 1);
    let emptiest = emptiest_before(list, end, |_| true);
    if let Some(slot) = emptiest.filter(|&slot| list.valid_pages(slot) <= most) {
        list.take(slot, victims);
    }
}

/// The first slot before `end` with the fewest valid pages among the blocks that `wanted` lets pass.
fn emptiest_before(list: &BlockList, end: u32, wanted: impl Fn(BlockId) -> bool) -> Option<u32> {
    let mut best = None;
    let (mut from, mut threshold) = (0, u32::MAX);
    while let Some(slot) = list.next_below(from..end, threshold) {
        if wanted(list.block(slot)) {
            best = Some(slot);
            threshold = list.valid_pages(slot);
        }
        from = slot + 1;
    }
    best
}

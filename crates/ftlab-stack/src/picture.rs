//! Pictures of the flash, block by block.

use crate::page_ages::PageAges;
use ftlab_flash::{BlockOf, Flash, Geometry, Lpn};
use ftlab_ftl::{BlockUse, Ftl, Observer};

/// The flash at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// What each erase block is used for.
    pub uses: Vec<BlockUse>,
    /// The pages of each erase block.
    pub pages: Vec<BlockPages>,
    /// Streams that the FTL keeps apart.
    pub streams: usize,
}

/// Pages of an erase block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockPages {
    /// Those that are valid.
    pub valid: u32,
    /// Of these, those that have lasted long enough to be cold.
    pub cold: u32,
}

/// Takes a picture; a walk over all logical pages.
pub(crate) fn take<F: Flash, O: Observer>(
    ftl: &dyn Ftl<Flash = F, Observer = O>,
    geometry: &Geometry,
    ages: &PageAges,
) -> Picture {
    let uses = ftl.block_uses();
    let mut pages = vec![BlockPages::default(); uses.len()];
    let block_of: BlockOf = geometry.block_of();
    for lpn in (0..ages.logical_pages()).map(Lpn) {
        // Pages in an SLC cache are in none of these blocks.
        let page = ftl.flash_page(lpn);
        if let Some(block) = page.and_then(|page| pages.get_mut(block_of.page(page).index())) {
            block.valid += 1;
            block.cold += u32::from(ages.is_cold(lpn));
        }
    }
    let of_map =
        (0..ftl.map_pages()).filter_map(|page| ftl.flash_page(Lpn(ages.logical_pages() + page)));
    of_map.for_each(|page| pages[block_of.page(page).index()].valid += 1);
    Picture { uses, pages, streams: ftl.streams().len() }
}

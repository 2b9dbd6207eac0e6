//! The tables of a drive whose mapping is on flash, and in memory in part.
//!
//! In memory are the places of pages whose entries the map keeps there, or that have moved since their translation page
//! was written; and the directory, which tells where translation pages are. Whatever changes a place changes it here, so
//! that what is here is never out of date. What a flash page holds is known of the blocks that streams fill, until they
//! open others, and is read from the spare areas of a block that is collected.
//!
//! A spare area may be damaged. So what the valid pages of each block hold is added up in four bytes, and what is read
//! has to have the same sum.

use crate::page::config::DriveConfig;
use crate::page::drive::places::Places;
use ftlab_flash::{BlockId, Lpn, Ppn};

/// Bytes of an entry of a translation page.
pub(super) const ENTRY_BYTES: u32 = 4;

/// The place of a page that holds nothing.
const NONE: u32 = u32::MAX;

/// Tables in part.
#[derive(Debug)]
pub(super) struct PagedTables {
    /// Places of pages of the host, as far as they are in memory.
    pub(super) places: Places,
    /// Places of translation pages.
    pub(super) directory: Vec<u32>,
    /// Block -> what its valid pages hold, added up.
    pub(super) sums: Vec<u32>,
    /// The block whose spare areas were read last.
    pub(super) read: Owners,
    /// Of each stream the block that it filled last.
    pub(super) filled: Vec<Owners>,
    /// Places that are not here do not come here when pages move: in a replay, which knows what will be asked for.
    pub(super) is_replaying: bool,
}

/// What the pages of a block hold.
#[derive(Debug, Clone, Default)]
pub(super) struct Owners {
    pub(super) block: Option<BlockId>,
    /// By their places in it; nothing, if they have not been asked for.
    pub(super) of: Vec<Lpn>,
}

impl PagedTables {
    /// Those of an erased drive.
    pub(super) fn new(config: &DriveConfig, streams: usize) -> Self {
        let geometry = config.geometry;
        Self {
            places: Places::new(config.logical_pages, geometry.page_bytes() / ENTRY_BYTES),
            directory: vec![NONE; config.map_pages as usize],
            sums: vec![0; geometry.blocks() as usize],
            read: Owners::default(),
            filled: vec![Owners::default(); streams],
            is_replaying: false,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.places.bytes()
            + size_of_val(&self.directory[..])
            + size_of_val(&self.sums[..])
            + size_of_val(&self.read.of[..])
            + self.filled.iter().map(|owners| size_of_val(&owners.of[..])).sum::<usize>()
    }

    /// The page that was valid in `block`, and held `lpn`, is not any more.
    pub(super) fn forget_owner(&mut self, block: BlockId, page: Ppn, lpn: Lpn) {
        let sum = &mut self.sums[block.index()];
        *sum = sum.wrapping_sub(owner_mark(page, lpn));
    }

    /// No page of `block` is valid any more.
    pub(super) fn vacate(&mut self, block: BlockId) {
        self.sums[block.index()] = 0;
        self.forget_block(block);
    }

    /// `block` is about to be erased.
    pub(super) fn forget_block(&mut self, block: BlockId) {
        self.read.block = self.read.block.filter(|read| *read != block);
        for filled in &mut self.filled {
            filled.block = filled.block.filter(|filled| *filled != block);
        }
    }
}

/// A number that tells that `page` holds `lpn`; those of the valid pages of a block add up to its
/// [sum](crate::page::DriveState::owners_sum).
pub(crate) fn owner_mark(page: Ppn, lpn: Lpn) -> u32 {
    let both = u64::from(page.0) << 32 | u64::from(lpn.0);
    let product = (both ^ both >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((product ^ product >> 32).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32) as u32
}

/// What these pages add up to that hold something.
pub fn sum_of_owners(held: impl Iterator<Item = (Ppn, Lpn)>) -> u32 {
    held.fold(0, |sum: u32, (page, lpn)| sum.wrapping_add(owner_mark(page, lpn)))
}

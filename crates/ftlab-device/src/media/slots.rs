//! Where blocks are on the medium, and which pages could not be read.
//!
//! A page that a collection cannot read, whatever it tries, may still be readable later: the fault may lie
//! with a cable or a controller. So the place where it is, is kept: when the FTL erases its block, a spare
//! slot takes the block's place from then on. The FTL knows nothing of it. The journal says which erase
//! replaced which slot, so that a replay comes to the same places.

use ftlab_flash::{BlockId, BlockOf, Geometry, Lpn, Ppn};
use ftlab_ftl::Archive;
use std::collections::BTreeMap;
use std::io;

/// Most pages that are remembered; those beyond are lost.
const UNREADABLE_MAX: usize = 1024;

/// A slot that took the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Replacement {
    /// The erase with which it did, counted since the drive was created.
    pub(crate) erase: u64,
    pub(crate) block: BlockId,
    pub(crate) slot: u32,
}

/// The slots of a drive: as many as blocks, and spare ones.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    block_of: BlockOf,
    pages_per_block: u32,
    blocks: u32,
    end: u32,
    /// Blocks that are not in the slot of their own number.
    replaced: BTreeMap<BlockId, u32>,
    /// Pages whose current version could not be read when it was to be moved, and their places.
    unreadable: BTreeMap<Lpn, Ppn>,
    /// Erases since the drive was created.
    erases: u64,
    /// What a replay is to repeat.
    to_repeat: Vec<Replacement>,
}

/// Spare slots of a drive.
pub(crate) fn spare_slots(geometry: &Geometry) -> u32 {
    (geometry.blocks() / 128).clamp(2, 1024)
}

impl Slots {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        let blocks = geometry.blocks();
        Self {
            block_of: geometry.block_of(),
            pages_per_block: geometry.pages_per_block(),
            blocks,
            end: blocks + spare_slots(geometry),
            replaced: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            erases: 0,
            to_repeat: Vec::new(),
        }
    }

    /// The place of a flash page on the medium.
    #[inline]
    pub(crate) fn place(&self, page: Ppn) -> Ppn {
        if self.replaced.is_empty() {
            return page;
        }
        let block = self.block_of.page(page);
        Ppn(page.0 - block.0 * self.pages_per_block + self.slot(block) * self.pages_per_block)
    }

    fn slot(&self, block: BlockId) -> u32 {
        self.replaced.get(&block).copied().unwrap_or(block.0)
    }

    /// Blocks in spare slots.
    pub(crate) fn replaced(&self) -> u32 {
        self.replaced.len() as u32
    }

    /// Pages that could not be read when they were to be moved.
    pub(crate) fn unreadable(&self) -> impl Iterator<Item = Lpn> {
        self.unreadable.keys().copied()
    }

    /// Where a version of `lpn` is that could not be read.
    pub(crate) fn unreadable_at(&self, lpn: Lpn) -> Option<Ppn> {
        self.unreadable.get(&lpn).copied()
    }

    /// Remembers that the version of `lpn` at `place` could not be read; false if there are too many.
    pub(crate) fn remember(&mut self, lpn: Lpn, place: Ppn) -> bool {
        let has_room = self.unreadable.len() < UNREADABLE_MAX;
        if has_room {
            self.unreadable.entry(lpn).or_insert(place);
        }
        has_room
    }

    /// `lpn` is overwritten or trimmed.
    #[inline]
    pub(crate) fn forget(&mut self, lpn: Lpn) {
        if !self.unreadable.is_empty() {
            self.unreadable.remove(&lpn);
        }
    }

    /// The block is erased. If its slot holds a page to be kept, a spare one takes its place, as long as there
    /// are any.
    pub(crate) fn erase(&mut self, block: BlockId) -> Option<Replacement> {
        self.erases += 1;
        let slot = self.slot(block);
        let pages = slot * self.pages_per_block..(slot + 1) * self.pages_per_block;
        if self.unreadable.is_empty() || !self.unreadable.values().any(|at| pages.contains(&at.0)) {
            return None;
        }
        let last = self.replaced.values().max();
        let next = last.map_or(self.blocks, |slot| slot + 1);
        if next == self.end {
            self.unreadable.retain(|_, at| !pages.contains(&at.0));
            return None;
        }
        self.replaced.insert(block, next);
        Some(Replacement { erase: self.erases, block, slot: next })
    }

    /// What the journal says of replaced slots, before it is replayed.
    pub(crate) fn begin_replay(&mut self, replacements: &[Replacement]) {
        self.to_repeat = replacements.to_vec();
    }

    /// The block is erased again in a replay.
    pub(crate) fn repeat_erase(&mut self, block: BlockId) {
        self.erases += 1;
        let repeated = self.to_repeat.iter().find(|known| known.erase == self.erases);
        if let Some(known) = repeated.filter(|known| known.block == block && known.slot < self.end)
        {
            self.replaced.insert(block, known.slot);
        }
    }

    /// A slot took the place of another, whatever the erase was.
    pub(crate) fn replace(&mut self, known: Replacement) {
        if known.block.0 < self.blocks && (self.blocks..self.end).contains(&known.slot) {
            self.replaced.insert(known.block, known.slot);
            self.erases = self.erases.max(known.erase);
        }
    }

    /// By slot the block that is there, if there is one.
    pub(crate) fn blocks(&self) -> Vec<Option<BlockId>> {
        let mut blocks = vec![None; self.end as usize];
        for block in (0..self.blocks).map(BlockId) {
            blocks[self.slot(block) as usize] = Some(block);
        }
        blocks
    }

    /// Writes it into a checkpoint.
    pub(crate) fn save(&self, body: &mut impl Archive) -> io::Result<()> {
        let (low, high) = (self.erases as u32, (self.erases >> 32) as u32);
        put(body, [low, high])?;
        put(body, [self.replaced.len() as u32, self.unreadable.len() as u32])?;
        self.replaced.iter().try_for_each(|(block, slot)| put(body, [block.0, *slot]))?;
        self.unreadable.iter().try_for_each(|(lpn, place)| put(body, [lpn.0, place.0]))
    }

    /// Reads it from a checkpoint.
    pub(crate) fn load(&mut self, body: &mut impl Archive) -> io::Result<()> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let [low, high] = take(body)?;
        self.erases = u64::from(low) | u64::from(high) << 32;
        let [replaced, unreadable] = take(body)?;
        if replaced > self.end - self.blocks || unreadable as usize > UNREADABLE_MAX {
            return Err(invalid());
        }
        for _ in 0..replaced {
            let [block, slot] = take(body)?;
            if block >= self.blocks || !(self.blocks..self.end).contains(&slot) {
                return Err(invalid());
            }
            self.replaced.insert(BlockId(block), slot);
        }
        for _ in 0..unreadable {
            let [lpn, place] = take(body)?;
            if place / self.pages_per_block >= self.end {
                return Err(invalid());
            }
            self.unreadable.insert(Lpn(lpn), Ppn(place));
        }
        Ok(())
    }
}

fn put(body: &mut impl Archive, pair: [u32; 2]) -> io::Result<()> {
    pair.iter().try_for_each(|number| body.bytes(&mut number.to_le_bytes()))
}

fn take(body: &mut impl Archive) -> io::Result<[u32; 2]> {
    let mut bytes = [[0; 4]; 2];
    bytes.iter_mut().try_for_each(|bytes| body.bytes(bytes))?;
    Ok(bytes.map(u32::from_le_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_moves_to_a_spare_slot_only_if_a_page_of_its_slot_is_to_be_kept() {
        let geometry = Geometry::new(10, 4, 512).unwrap();
        let mut slots = Slots::new(&geometry);
        assert_eq!(slots.erase(BlockId(3)), None);
        assert!(slots.remember(Lpn(7), Ppn(13)));
        let replacement = Replacement { erase: 2, block: BlockId(3), slot: 10 };
        assert_eq!(slots.erase(BlockId(3)), Some(replacement));
        assert_eq!((slots.place(Ppn(13)), slots.place(Ppn(16))), (Ppn(41), Ppn(16)));
        assert_eq!(slots.erase(BlockId(3)), None, "the page is in the slot of before");
        let mut repeated = Slots::new(&geometry);
        repeated.begin_replay(&[replacement]);
        (0..3).for_each(|_| repeated.repeat_erase(BlockId(3)));
        assert_eq!((repeated.place(Ppn(13)), repeated.erases), (Ppn(41), 3));
        assert!(slots.remember(Lpn(8), Ppn(1)) && slots.erase(BlockId(0)).is_some());
        assert!(slots.remember(Lpn(9), Ppn(5)));
        assert_eq!(slots.erase(BlockId(1)), None, "there is no spare slot left");
        assert_eq!(slots.unreadable().collect::<Vec<_>>(), [Lpn(7), Lpn(8)]);
    }
}

//! Where blocks are on the medium, and which pages could not be read.
//!
//! A page that a collection cannot read, or that does not match its checksum, may still be readable later: the fault may
//! lie with a cable or a controller. So its place is kept: when the FTL erases its block, a spare slot takes the place
//! of the block from then on. The FTL knows nothing of it. The journal says which erase replaced which slot, so that a
//! replay comes to the same places.

use ftlab_flash::{BlockId, BlockOf, Geometry, Lpn, Ppn};
use ftlab_ftl::Archive;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Most pages that are kept; those beyond are moved as they are.
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

    /// Forgets all except these; returns how many those were.
    pub(crate) fn forget_all_except(&mut self, lost: &[Lpn]) -> usize {
        let all = self.unreadable.len();
        self.unreadable.retain(|lpn, _| lost.contains(lpn));
        all - self.unreadable.len()
    }

    /// Where a version of `lpn` is that could not be read.
    #[inline]
    pub(crate) fn unreadable_at(&self, lpn: Lpn) -> Option<Ppn> {
        if self.unreadable.is_empty() { None } else { self.unreadable.get(&lpn).copied() }
    }

    /// The version of `lpn` at `place`, which cannot be read, is to stay there when its block is erased; or why
    /// it cannot.
    pub(crate) fn keep(&mut self, lpn: Lpn, place: Ppn) -> Result<(), String> {
        if self.unreadable.len() == UNREADABLE_MAX {
            return Err(format!("{UNREADABLE_MAX} pages are kept already"));
        }
        let slot = self.slot_of(place);
        let kept = self.unreadable.values().map(|at| self.slot_of(*at));
        let mut to_replace: BTreeSet<u32> = kept.filter(|slot| self.is_in_use(*slot)).collect();
        to_replace.insert(slot);
        if to_replace.len() as u32 > self.end - self.next_spare() {
            return Err("no spare block is left".to_owned());
        }
        self.remember(lpn, place);
        Ok(())
    }

    /// Takes note of an unreadable page, as the journal says that it was done.
    pub(crate) fn remember(&mut self, lpn: Lpn, place: Ppn) {
        if self.unreadable.len() < UNREADABLE_MAX {
            self.unreadable.entry(lpn).or_insert(place);
        }
    }

    /// `lpn` could be read, and is moved: where it is now is as good as where it was, which nothing overwrites.
    #[inline]
    pub(crate) fn has_moved(&mut self, lpn: Lpn) {
        if let Some(place) = self.unreadable_at(lpn)
            && !self.is_in_use(self.slot_of(place))
        {
            self.forget(lpn);
        }
    }

    fn slot_of(&self, place: Ppn) -> u32 {
        place.0 / self.pages_per_block
    }

    /// Whether a block is in this slot.
    fn is_in_use(&self, slot: u32) -> bool {
        let is_own = slot < self.blocks && !self.replaced.contains_key(&BlockId(slot));
        is_own || self.replaced.values().any(|used| *used == slot)
    }

    /// The first spare slot that has not been used.
    fn next_spare(&self) -> u32 {
        self.replaced.values().max().map_or(self.blocks, |slot| slot + 1)
    }

    /// `lpn` is overwritten or trimmed.
    #[inline]
    pub(crate) fn forget(&mut self, lpn: Lpn) {
        if !self.unreadable.is_empty() {
            self.unreadable.remove(&lpn);
        }
    }

    /// The block is erased. If its slot holds a page to be kept, a spare one takes its place. If there is none,
    /// returns the pages that are lost: an earlier version of this program kept more than it had room for.
    #[inline]
    pub(crate) fn erase(&mut self, block: BlockId) -> Result<Option<Replacement>, Vec<Lpn>> {
        self.erases += 1;
        if self.unreadable.is_empty() { Ok(None) } else { self.replace(block) }
    }

    #[cold]
    fn replace(&mut self, block: BlockId) -> Result<Option<Replacement>, Vec<Lpn>> {
        let old = self.slot(block);
        let kept = self.unreadable.iter().filter(|(_, at)| self.slot_of(**at) == old);
        let kept: Vec<Lpn> = kept.map(|(lpn, _)| *lpn).collect();
        if kept.is_empty() {
            return Ok(None);
        }
        let slot = self.next_spare();
        if slot == self.end {
            self.unreadable.retain(|lpn, _| !kept.contains(lpn));
            return Err(kept);
        }
        self.replaced.insert(block, slot);
        Ok(Some(Replacement { erase: self.erases, block, slot }))
    }

    /// Whether the slot of `block` holds a page to be kept.
    pub(crate) fn keeps(&self, block: BlockId) -> bool {
        self.unreadable.values().any(|at| self.slot_of(*at) == self.slot(block))
    }

    /// `block` is going to be overwritten: if its slot holds pages to be kept, a spare one takes its place. Returns
    /// those that are lost, because there is none.
    pub(crate) fn vacate(&mut self, block: BlockId) -> Vec<Lpn> {
        self.replace(block).err().unwrap_or_default()
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
    pub(crate) fn repeat(&mut self, known: Replacement) {
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
        assert_eq!(slots.erase(BlockId(3)), Ok(None));
        slots.keep(Lpn(7), Ppn(13)).unwrap();
        let replacement = Replacement { erase: 2, block: BlockId(3), slot: 10 };
        assert_eq!(slots.erase(BlockId(3)), Ok(Some(replacement)));
        assert_eq!((slots.place(Ppn(13)), slots.place(Ppn(16))), (Ppn(41), Ppn(16)));
        assert_eq!(slots.erase(BlockId(3)), Ok(None), "the page is in the slot of before");
        let mut repeated = Slots::new(&geometry);
        repeated.begin_replay(&[replacement]);
        (0..3).for_each(|_| repeated.repeat_erase(BlockId(3)));
        assert_eq!((repeated.place(Ppn(13)), repeated.erases), (Ppn(41), 3));
    }

    #[test]
    fn no_more_pages_are_kept_than_there_are_spare_slots_for() {
        let geometry = Geometry::new(10, 4, 512).unwrap();
        let mut slots = Slots::new(&geometry);
        slots.keep(Lpn(7), Ppn(13)).unwrap();
        slots.keep(Lpn(8), Ppn(14)).unwrap();
        slots.keep(Lpn(9), Ppn(1)).unwrap();
        // Two blocks will take the two spare slots, and others none.
        assert_eq!(slots.keep(Lpn(1), Ppn(20)), Err("no spare block is left".to_owned()));
        // Until its block has another slot, a page is not given up.
        slots.has_moved(Lpn(7));
        assert_eq!(slots.unreadable_at(Lpn(7)), Some(Ppn(13)));
        assert!(slots.erase(BlockId(0)).unwrap().is_some());
        assert_eq!(slots.keep(Lpn(1), Ppn(20)), Err("no spare block is left".to_owned()));
        assert!(slots.erase(BlockId(3)).unwrap().is_some());
        slots.has_moved(Lpn(7));
        assert!(slots.keep(Lpn(1), Ppn(20)).is_err());
        assert_eq!(slots.erase(BlockId(5)), Ok(None));
        assert_eq!(slots.unreadable().collect::<Vec<_>>(), [Lpn(8), Lpn(9)]);
    }

    #[test]
    fn what_an_earlier_version_kept_without_room_is_named_when_it_is_lost() {
        let mut slots = Slots::new(&Geometry::new(10, 4, 512).unwrap());
        (0..3).for_each(|block| slots.remember(Lpn(block), Ppn(4 * block)));
        assert!(slots.erase(BlockId(0)).is_ok() && slots.erase(BlockId(1)).is_ok());
        assert_eq!(slots.erase(BlockId(2)), Err(vec![Lpn(2)]));
        assert_eq!(slots.erase(BlockId(2)), Ok(None));
    }
}

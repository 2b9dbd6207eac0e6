//! The sealed blocks in no order, to draw from at random.

use crate::algorithms::tools::random::Random;
use crate::page::{DriveState, Phase};
use crate::state::state;
use ftlab_flash::BlockId;

const ABSENT: u32 = u32::MAX;

/// A set of blocks with a constant-time draw; deterministic in its seed.
#[derive(Debug, Clone)]
pub(crate) struct SealedBlocks {
    blocks: Vec<BlockId>,
    /// Block -> its place in `blocks`.
    places: Vec<u32>,
    random: Random,
}

state!(SealedBlocks { blocks, places, random });

impl SealedBlocks {
    /// An empty set with room for `blocks` blocks.
    pub(crate) fn new(blocks: u32, seed: u64) -> Self {
        Self {
            blocks: Vec::with_capacity(blocks as usize),
            places: vec![ABSENT; blocks as usize],
            random: Random::new(seed),
        }
    }

    /// Adds a block.
    pub(crate) fn insert(&mut self, block: BlockId) {
        self.places[block.index()] = self.blocks.len() as u32;
        self.blocks.push(block);
    }

    pub(crate) fn remove(&mut self, block: BlockId) {
        let place = std::mem::replace(&mut self.places[block.index()], ABSENT) as usize;
        self.blocks.swap_remove(place);
        if let Some(moved) = self.blocks.get(place) {
            self.places[moved.index()] = place as u32;
        }
    }

    pub(crate) fn draw(&mut self) -> Option<BlockId> {
        let place = self.random.below(self.blocks.len());
        self.blocks.get(place).copied()
    }

    /// The first block that `fits`, from a random one on.
    pub(crate) fn find(&mut self, fits: impl Fn(&BlockId) -> bool) -> Option<BlockId> {
        let start = self.random.below(self.blocks.len());
        let (head, tail) = self.blocks.split_at(start);
        tail.iter().chain(head).copied().find(fits)
    }

    /// Bytes of memory that the set takes.
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<BlockId>() + size_of_val(&self.places[..])
    }

    /// Verifies that exactly the sealed blocks of `drive` are in it, victims included.
    pub(crate) fn check(&self, drive: &DriveState) -> Result<(), String> {
        for block in drive.host_blocks() {
            let place = self.places[block.index()];
            let listed = self.blocks.get(place as usize) == Some(&block);
            if listed != matches!(drive.phase(block), Phase::Sealed | Phase::Victim) {
                return Err(format!("block {block} is {:?}, listed: {listed}", drive.phase(block)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_drawn_about_as_often() {
        let mut sealed = SealedBlocks::new(20, 3);
        assert_eq!(sealed.draw(), None);
        (0..20).for_each(|block| sealed.insert(BlockId(block)));
        (0..10).for_each(|block| sealed.remove(BlockId(block * 2)));
        let mut drawn = [0; 20];
        (0..100_000).for_each(|_| drawn[sealed.draw().unwrap().index()] += 1);
        for (block, count) in drawn.into_iter().enumerate() {
            let expected = if block % 2 == 0 { 0..=0 } else { 9_500..=10_500 };
            assert!(expected.contains(&count), "block {block}: {count}");
        }
    }
}

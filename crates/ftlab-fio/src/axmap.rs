//! fio's random map: which blocks of a pass were written, and the next that was not.
//!
//! A bitmap, a bitmap of its words that are full, one of the words of that, and so on up to a single
//! word, so that a free block is found in a few steps when almost all are taken.

/// Blocks from 0, each taken or free.
#[derive(Debug, Clone)]
pub(super) struct RandomMap {
    blocks: u64,
    /// Of the lowest: a bit for each block that is taken; of each above, for each full word below. Bits
    /// beyond the last block are set.
    levels: Vec<Vec<u64>>,
}

const FULL: u64 = u64::MAX;

impl RandomMap {
    /// All free.
    pub(super) fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut words = blocks.div_ceil(64).max(1);
        levels.push(vec![0; words as usize]);
        while words > 1 {
            words = words.div_ceil(64);
            levels.push(vec![0; words as usize]);
        }
        let mut map = Self { blocks, levels };
        map.clear();
        map
    }

    /// Bytes of memory for `blocks`.
    pub(super) fn bytes(blocks: u64) -> u64 {
        blocks / 8 + blocks / 504 + 64
    }

    /// Frees all blocks.
    pub(super) fn clear(&mut self) {
        let mut entries = self.blocks;
        for level in &mut self.levels {
            level.fill(0);
            let (words, bits) = ((entries / 64) as usize, entries % 64);
            if words < level.len() {
                level[words] = FULL << bits;
            }
            entries = level.len() as u64;
        }
    }

    /// Whether a block is free; one beyond the last is, as in fio.
    #[inline]
    pub(super) fn is_free(&self, block: u64) -> bool {
        block >= self.blocks || self.levels[0][(block / 64) as usize] & (1 << (block % 64)) == 0
    }

    /// Takes `count` blocks from `first` on, up to one that is taken already; how many it took.
    #[inline]
    pub(super) fn take(&mut self, first: u64, count: u64) -> u64 {
        let mut taken = 0;
        while taken < count && first + taken < self.blocks && self.is_free(first + taken) {
            let block = first + taken;
            let word = (block / 64) as usize;
            let room = u64::from((self.levels[0][word] >> (block % 64)).trailing_zeros());
            let run = room.min(64 - block % 64).min(count - taken);
            let bits = if run == 64 { FULL } else { ((1 << run) - 1) << (block % 64) };
            self.levels[0][word] |= bits;
            if self.levels[0][word] == FULL {
                self.fill_above(word);
            }
            taken += run;
        }
        taken
    }

    /// Takes note that a word of the lowest level is full.
    fn fill_above(&mut self, mut word: usize) {
        for level in &mut self.levels[1..] {
            level[word / 64] |= 1 << (word % 64);
            if level[word / 64] != FULL {
                return;
            }
            word /= 64;
        }
    }

    /// The first free block after `block`, which is taken, or from 0 on; `None` if there is none.
    #[inline]
    pub(super) fn next_free(&self, block: u64) -> Option<u64> {
        self.free_from(block + 1).or_else(|| self.free_from(0))
    }

    /// The first free block from `block` on.
    fn free_from(&self, block: u64) -> Option<u64> {
        let mut entry = block;
        for (height, level) in self.levels.iter().enumerate() {
            let word = (entry / 64) as usize;
            let free = !*level.get(word)? & (FULL << (entry % 64));
            if free != 0 {
                let found = word as u64 * 64 + u64::from(free.trailing_zeros());
                return Some(self.descend(height, found));
            }
            entry = word as u64 + 1;
        }
        None
    }

    /// The first free block below entry `found` of a level.
    fn descend(&self, height: usize, found: u64) -> u64 {
        self.levels[..height].iter().rev().fold(found, |entry, level| {
            entry * 64 + u64::from((!level[entry as usize]).trailing_zeros())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A map that scans.
    struct Naive(Vec<bool>);

    impl Naive {
        fn take(&mut self, first: u64, count: u64) -> u64 {
            let mut taken = 0;
            for block in self.0.iter_mut().skip(first as usize).take(count as usize) {
                if std::mem::replace(block, true) {
                    break;
                }
                taken += 1;
            }
            taken
        }

        fn next_free(&self, block: u64) -> Option<u64> {
            let blocks = self.0.len() as u64;
            (block + 1..blocks).chain(0..blocks).find(|block| !self.0[*block as usize])
        }
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_scan(
            blocks in prop_oneof![1u64..200, 4000u64..5000],
            steps in prop::collection::vec((0u64..5000, 1u64..200), 1..200),
        ) {
            let (mut map, mut naive) = (RandomMap::new(blocks), Naive(vec![false; blocks as usize]));
            for (first, count) in steps {
                let first = first % blocks;
                prop_assert_eq!(map.is_free(first), !naive.0[first as usize]);
                prop_assert_eq!(map.take(first, count), naive.take(first, count));
                prop_assert_eq!(map.next_free(first), naive.next_free(first));
            }
            map.clear();
            prop_assert!((0..blocks).all(|block| map.is_free(block)));
        }
    }

    #[test]
    fn a_full_map_has_no_free_block_until_it_is_cleared() {
        for blocks in [1, 63, 64, 65, 4096, 4097, 300_000] {
            let mut map = RandomMap::new(blocks);
            assert_eq!(map.take(0, u64::MAX - 1), blocks);
            assert_eq!(map.next_free(0), None);
            map.clear();
            assert_eq!(map.next_free(blocks - 1), Some(0));
        }
    }
}

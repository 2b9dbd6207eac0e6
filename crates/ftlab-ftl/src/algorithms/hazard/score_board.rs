//! The blocks with the highest scores, without looking at all of them.

use crate::state::state;
use ftlab_flash::BlockId;

/// Steps into which an octave is divided, as a power of two.
pub(super) const STEPS_PER_OCTAVE_BITS: u32 = 3;

/// Blocks whose maximum is kept together, and which are scored together.
pub(super) const GROUP: usize = 64;

/// Blocks whose bytes are compared together.
const WORD: usize = 8;

/// A byte per block: 0 is no candidate; otherwise the logarithm of its score in eighths of an octave.
///
/// Two levels of maxima over 64 bytes each lead to the highest; a byte that goes up, as most do, changes
/// them without a search.
pub(super) struct ScoreBoard {
    scores: Vec<u8>,
    groups: Vec<u8>,
    tops: Vec<u8>,
    /// What stands for a byte of 0, in steps of an octave.
    origin: i32,
}

state!(ScoreBoard { scores, groups, tops } constant origin);

impl ScoreBoard {
    /// For scores from `lowest` on, 31 octaves of them; those beyond count as the nearest.
    pub(super) fn new(blocks: u32, lowest: f32) -> Self {
        let groups = (blocks as usize).div_ceil(GROUP);
        Self {
            scores: vec![0; groups * GROUP],
            groups: vec![0; groups.next_multiple_of(GROUP)],
            tops: vec![0; groups.div_ceil(GROUP)],
            origin: steps(lowest),
        }
    }

    /// `block` has this score; 0 is no candidate.
    #[inline]
    pub(super) fn set(&mut self, block: BlockId, score: f32) {
        self.put(block.index(), byte_of(score, self.origin));
    }

    /// Sets the scores of all blocks, a group at a time; 0 is no candidate.
    pub(super) fn set_all(&mut self, mut scores: impl FnMut(usize) -> [f32; GROUP]) {
        let origin = self.origin;
        let groups = self.scores.as_chunks_mut::<GROUP>().0.iter_mut().zip(&mut self.groups);
        for (group, (bytes, highest)) in groups.enumerate() {
            let scores = scores(group);
            for (byte, score) in bytes.iter_mut().zip(scores) {
                *byte = byte_of(score, origin);
            }
            *highest = max(bytes);
        }
        for (top, groups) in self.tops.iter_mut().zip(self.groups.as_chunks::<GROUP>().0) {
            *top = max(groups);
        }
    }

    /// `block` is no candidate any more.
    #[inline]
    pub(super) fn clear(&mut self, block: BlockId) {
        self.put(block.index(), 0);
    }

    /// The highest byte of all; 0 if there is no candidate.
    pub(super) fn highest(&self) -> u8 {
        max(&self.tops)
    }

    /// Blocks whose byte is `byte`, in order of their numbers, skipping groups without one.
    pub(super) fn with_byte(&self, byte: u8) -> impl Iterator<Item = BlockId> + '_ {
        let tops = (0..self.tops.len()).filter(move |&top| self.tops[top] >= byte);
        let groups = tops.flat_map(|top| top * GROUP..(top + 1) * GROUP);
        let groups = groups.filter(move |&group| self.groups[group] >= byte);
        let words = groups.flat_map(|group| group * GROUP / WORD..(group + 1) * GROUP / WORD);
        words.flat_map(move |word| {
            let equal = self.equal_in(word, byte);
            let next = |&equal: &u64| Some(equal & (equal - 1)).filter(|&rest| rest != 0);
            let ends = std::iter::successors((equal != 0).then_some(equal), next);
            ends.map(move |equal| BlockId((word * WORD) as u32 + equal.trailing_zeros() / u8::BITS))
        })
    }

    /// The highest bits of those bytes of a word that equal `byte`.
    #[inline]
    fn equal_in(&self, word: usize, byte: u8) -> u64 {
        let mut bytes = [0; WORD];
        bytes.copy_from_slice(&self.scores[word * WORD..(word + 1) * WORD]);
        let differing = u64::from_le_bytes(bytes) ^ u64::from_le_bytes([byte; WORD]);
        // The highest bit of a byte is set by a carry from its lower ones, or is set anyhow, unless it is zero.
        let lower = u64::from_le_bytes([0x7F; WORD]);
        !(((differing & lower) + lower) | differing | lower)
    }

    #[inline]
    fn put(&mut self, index: usize, byte: u8) {
        let before = std::mem::replace(&mut self.scores[index], byte);
        let group = index / GROUP;
        let maximum = self.groups[group];
        if byte >= maximum {
            self.groups[group] = byte;
            let top = &mut self.tops[group / GROUP];
            *top = byte.max(*top);
        } else if before == maximum {
            self.lower(group);
        }
    }

    #[cold]
    fn lower(&mut self, group: usize) {
        let before = self.groups[group];
        self.groups[group] = max(&self.scores[group * GROUP..(group + 1) * GROUP]);
        let top = group / GROUP;
        if before == self.tops[top] {
            self.tops[top] = max(&self.groups[top * GROUP..(top + 1) * GROUP]);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.scores.len() + self.groups.len() + self.tops.len()
    }

    /// Verifies the maxima.
    pub(super) fn check(&self) -> Result<(), String> {
        let groups = self.scores.chunks(GROUP).map(max);
        let tops = self.groups.chunks(GROUP).map(max);
        if groups.ne(self.groups[..self.scores.len() / GROUP].iter().copied())
            || tops.ne(self.tops.iter().copied())
        {
            return Err("a maximum of the score board is wrong".into());
        }
        Ok(())
    }
}

/// The byte of a score, `origin` standing for 0.
#[inline]
fn byte_of(score: f32, origin: i32) -> u8 {
    let byte = (steps(score) - origin).clamp(1, 255) as u8;
    if score == 0.0 { 0 } else { byte }
}

fn max(bytes: &[u8]) -> u8 {
    bytes.iter().copied().fold(0, u8::max)
}

/// The logarithm of a positive number in eighths of an octave, straight lines within an octave.
#[inline]
pub(super) fn steps(number: f32) -> i32 {
    (number.to_bits() >> (f32::MANTISSA_DIGITS - 1 - STEPS_PER_OCTAVE_BITS)).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maxima_follow_the_scores_up_and_down() {
        let mut board = ScoreBoard::new(10_000, 1.0);
        let mut state = 1_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let block = BlockId((state >> 40) as u32 % 10_000);
            let score = 1.0 + (state >> 20 & 0xFFFF) as f32;
            if state.is_multiple_of(4) { board.clear(block) } else { board.set(block, score) }
        }
        board.check().unwrap();
        let highest = board.highest();
        let best: Vec<_> = board.with_byte(highest).collect();
        let expected: Vec<_> = (0..10_000)
            .filter(|&block| board.scores[block as usize] == highest)
            .map(BlockId)
            .collect();
        assert_eq!(best, expected);
        assert!(!best.is_empty());
        let scores = |group| std::array::from_fn(|at| ((group * GROUP + at) % 777) as f32);
        board.set_all(scores);
        board.check().unwrap();
        let mut one_by_one = ScoreBoard::new(10_000, 1.0);
        let all = board.scores.len() as u32;
        (0..all).for_each(|block| one_by_one.set(BlockId(block), (block % 777) as f32));
        assert_eq!((board.scores, board.tops), (one_by_one.scores, one_by_one.tops));
    }

    #[test]
    fn bytes_are_eighths_of_an_octave_within_their_range() {
        let board = ScoreBoard::new(1, 1.0);
        let bytes = [0.0, 0.5, 1.0, 1.1, 1.13, 2.0, 4.0, 1e9, 1e12, f32::INFINITY];
        assert_eq!(
            bytes.map(|score| byte_of(score, board.origin)),
            [0, 1, 1, 1, 1, 8, 16, 238, 255, 255]
        );
    }
}

//! Tables of one bit per page, in words of 64.

use crate::memory;

/// The bits of word `word` that stand for pages in `first..end`.
#[inline]
pub(crate) fn word_mask(word: u32, first: u32, end: u32) -> u64 {
    let start = word * 64;
    let mut mask = u64::MAX;
    if first > start {
        mask &= u64::MAX << (first - start);
    }
    if end - start < 64 {
        mask &= !(u64::MAX << (end - start));
    }
    mask
}

/// One bit per page.
#[derive(Debug)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// One bit for each of `pages` pages, none of them set.
    pub(crate) fn new(pages: u32) -> Self {
        Self(vec![0; pages.div_ceil(64) as usize])
    }

    #[inline]
    pub(crate) fn get(&self, page: u32) -> bool {
        self.0[page as usize / 64] >> (page % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn set(&mut self, page: u32) {
        self.0[page as usize / 64] |= 1 << (page % 64);
    }

    #[inline]
    pub(crate) fn clear(&mut self, page: u32) {
        self.0[page as usize / 64] &= !(1 << (page % 64));
    }

    /// The bits of `first..end`, 64 at most, the first one lowest.
    #[inline]
    pub(crate) fn bits(&self, first: u32, end: u32) -> u64 {
        let (word, shift) = (first as usize / 64, first % 64);
        let mut bits = self.0[word] >> shift;
        if shift + (end - first) > 64 {
            bits |= self.0[word + 1] << (64 - shift);
        }
        bits & u64::MAX >> (64 - (end - first))
    }

    /// Fetches the bit of `page`.
    #[inline]
    pub(crate) fn prefetch(&self, page: u32) {
        memory::prefetch(&self.0, page as usize / 64);
    }

    /// Copies the bits of `first..end`, one page or more.
    #[inline]
    pub(crate) fn copy(&mut self, from: &Self, first: u32, end: u32) {
        for word in first / 64..=(end - 1) / 64 {
            let mask = word_mask(word, first, end);
            let bits = &mut self.0[word as usize];
            *bits = *bits & !mask | from.0[word as usize] & mask;
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.0[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_masks_cover_exactly_their_pages() {
        for (first, end) in [(0, 64), (0, 1), (63, 65), (100, 300), (64, 128), (70, 75)] {
            for word in first / 64..=(end - 1) / 64 {
                let expected = (0..64)
                    .filter(|bit| (first..end).contains(&(word * 64 + bit)))
                    .fold(0, |mask, bit| mask | 1_u64 << bit);
                assert_eq!(word_mask(word, first, end), expected, "{first}..{end} word {word}");
            }
        }
    }

    #[test]
    fn bits_are_those_of_the_range() {
        let mut bits = Bits::new(300);
        let set = |page: u32| page % 7 < 3 || page == 299;
        (0..300).filter(|page| set(*page)).for_each(|page| bits.set(page));
        for (first, end) in [(0, 64), (0, 1), (63, 65), (70, 75), (64, 128), (250, 300), (299, 300)]
        {
            let expected = (first..end).map(|page| u64::from(set(page)) << (page - first)).sum();
            assert_eq!(bits.bits(first, end), expected, "{first}..{end}");
        }
    }

    #[test]
    fn a_copy_changes_its_range_and_nothing_else() {
        for (first, end) in [(0, 64), (63, 65), (100, 300), (70, 75)] {
            let (mut ones, zeros) = (Bits::new(300), Bits::new(300));
            (0..300).for_each(|page| ones.set(page));
            ones.copy(&zeros, first, end);
            assert!((0..300).all(|page| ones.get(page) != (first..end).contains(&page)));
        }
    }
}

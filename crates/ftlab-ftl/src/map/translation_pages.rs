//! Which translation pages have the entries of some pages.

/// Finds them once each.
pub(super) struct TranslationPages {
    entries_per_page: u32,
    /// By how many bits the number of an entry is shifted, if a translation page has a power of two of them.
    shift: Option<u32>,
    /// A bit for each translation page, set while it is among those that are found.
    is_found: Vec<u64>,
}

impl TranslationPages {
    pub(super) fn new(map_pages: u32, entries_per_page: u32) -> Self {
        let shift = entries_per_page.is_power_of_two().then(|| entries_per_page.ilog2());
        let is_found = vec![0; map_pages.div_ceil(u64::BITS) as usize];
        Self { entries_per_page, shift, is_found }
    }

    /// The one that has the entry of `lpn`.
    #[inline]
    fn page_of(&self, lpn: u32) -> u32 {
        self.shift.map_or_else(|| lpn / self.entries_per_page, |bits| lpn >> bits)
    }

    /// Puts the translation pages of these pages in their place, each once, in order.
    pub(super) fn pages_of(&mut self, pages: &mut Vec<u32>) {
        let mut found = 0;
        for index in 0..pages.len() {
            let page = self.page_of(pages[index]);
            let (word, bit) = place_of(page);
            // Always written, since whether it counts is hard to foretell.
            pages[found] = page;
            found += usize::from(self.is_found[word] & bit == 0);
            self.is_found[word] |= bit;
        }
        pages.truncate(found);
        if self.is_found.len() <= found {
            self.take_in_order(pages);
        } else {
            for page in &*pages {
                self.is_found[place_of(*page).0] = 0;
            }
            pages.sort_unstable();
        }
    }

    /// Takes those that are found from the bits, which are as good as sorted.
    fn take_in_order(&mut self, pages: &mut Vec<u32>) {
        pages.clear();
        for (word, first) in self.is_found.iter_mut().zip((0..).step_by(u64::BITS as usize)) {
            while *word != 0 {
                pages.push(first + word.trailing_zeros());
                *word &= *word - 1;
            }
        }
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.is_found[..])
    }
}

/// The word and the bit of a translation page.
#[inline]
fn place_of(page: u32) -> (usize, u64) {
    ((page / u64::BITS) as usize, 1 << (page % u64::BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::tools::random::Random;

    #[test]
    fn translation_pages_are_found_once_and_in_order() {
        for entries_per_page in [1, 8, 100, 1024] {
            let mut found =
                TranslationPages::new(70_000_u32.div_ceil(entries_per_page), entries_per_page);
            let mut random = Random::new(1);
            for count in [0, 1, 5, 300, 4000] {
                let mut pages: Vec<_> = (0..count).map(|_| random.below(70_000) as u32).collect();
                let mut expected: Vec<_> =
                    pages.iter().map(|page| page / entries_per_page).collect();
                expected.sort_unstable();
                expected.dedup();
                found.pages_of(&mut pages);
                assert_eq!(pages, expected, "{entries_per_page} entries, {count} pages");
            }
        }
    }
}

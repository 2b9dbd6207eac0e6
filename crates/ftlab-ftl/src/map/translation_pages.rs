//! Which translation pages have the entries of some pages.

use crate::bits::Bits;

/// Finds them once each.
pub(super) struct TranslationPages {
    map_pages: u32,
    entries_per_page: u32,
    /// By how many bits the number of an entry is shifted, if a translation page has a power of two of them.
    shift: Option<u32>,
    /// Those that are found; none in between.
    is_found: Bits,
}

impl TranslationPages {
    pub(super) fn new(map_pages: u32, entries_per_page: u32) -> Self {
        let shift = entries_per_page.is_power_of_two().then(|| entries_per_page.ilog2());
        Self { map_pages, entries_per_page, shift, is_found: Bits::new(map_pages) }
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
            // Always written, since whether it counts is hard to foretell.
            pages[found] = page;
            found += usize::from(!self.is_found.get(page));
            self.is_found.set(page);
        }
        pages.truncate(found);
        let words = (0..self.map_pages).step_by(64);
        if words.len() <= found {
            // The bits are as good as sorted.
            pages.clear();
            for first in words {
                let mut bits = self.is_found.bits(first, self.map_pages.min(first + 64));
                while bits != 0 {
                    pages.push(first + bits.trailing_zeros());
                    bits &= bits - 1;
                }
            }
        } else {
            pages.sort_unstable();
        }
        for page in &*pages {
            self.is_found.clear(*page);
        }
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.is_found.bytes()
    }
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

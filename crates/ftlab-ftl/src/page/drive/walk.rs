//! A walk over the valid pages of a block.

use crate::memory;
use crate::page::drive::tables::DriveState;
use ftlab_flash::{BlockId, Ppn};

/// How many words of valid bits ahead of a walk the owners of their pages are fetched.
const OWNERS_AHEAD: u32 = 4;

/// A walk over the valid pages of a block, between whose steps the drive may change otherwise.
#[derive(Debug)]
pub(crate) struct ValidPages {
    first: u32,
    end: u32,
    word: u32,
    /// Those of the word that are still to come.
    bits: u64,
}

impl ValidPages {
    /// The next valid page; there must be one. Fetches what tells the owners of the pages after it.
    #[inline]
    pub(crate) fn next(&mut self, drive: &DriveState) -> Ppn {
        while self.bits == 0 {
            self.word += 1;
            drive.prefetch_owners(self.word + OWNERS_AHEAD);
            self.bits = drive.valid_word(self.word, self.first, self.end);
        }
        let page = Ppn(self.word * 64 + self.bits.trailing_zeros());
        debug_assert!((self.first..self.end).contains(&page.0), "page {page} of another block");
        self.bits &= self.bits - 1;
        page
    }
}

impl DriveState {
    /// The valid pages of `block`, in page order.
    #[inline]
    pub(crate) fn valid_pages_of(&self, block: BlockId) -> ValidPages {
        let first = self.geometry.first_page(block).0;
        let end = first + self.geometry.pages_per_block();
        let word = first / 64;
        ValidPages { first, end, word, bits: self.valid_word(word, first, end) }
    }

    /// Fetches the first owners of the pages of `block` that a walk comes to.
    #[inline]
    pub(crate) fn prefetch_first_owners(&self, block: BlockId) {
        let word = self.geometry.first_page(block).0 / 64;
        (word..=word + OWNERS_AHEAD).for_each(|word| self.prefetch_owners(word));
    }

    /// Fetches the owners of the pages `word * 64 ..`.
    #[inline]
    fn prefetch_owners(&self, word: u32) {
        const OWNERS_PER_LINE: usize = 16;
        let first = word as usize * 64;
        for owner in (first..first + 64).step_by(OWNERS_PER_LINE) {
            memory::prefetch(&self.owner_of, owner);
        }
    }
}

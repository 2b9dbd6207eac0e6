//! Page and block numbers, and how many of each there are.

use std::fmt;
use thiserror::Error;

/// The most flash pages that a drive may have: page numbers are `u32`, and one value means "none".
pub const PAGES_MAX: u32 = u32::MAX - 1;

/// The most erase blocks, and the most pages in one; far beyond any drive that fits in memory.
pub const BLOCKS_MAX: u32 = 1 << 30;

macro_rules! numbers {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

numbers! {
    /// A logical page number: what the host addresses, in units of one flash page.
    Lpn;
    /// A physical page number: erase block x pages per block + page within the block.
    Ppn;
    /// An erase block: the unit of erase. Papers also say line, superblock, segment or reclaim unit.
    BlockId;
}

/// A medium that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum GeometryError {
    /// Pages, blocks or bytes are missing.
    #[error("{what} is {value}; it must be at least {min}")]
    TooSmall {
        what: &'static str,
        value: u32,
        /// The least that works.
        min: u32,
    },
    /// More blocks, or pages in a block, than can be managed.
    #[error("{what} is {value}; it must be at most {BLOCKS_MAX}")]
    TooLarge { what: &'static str, value: u32 },
    /// More pages than a page number can count.
    #[error(
        "{blocks} blocks of {pages_per_block} pages are {} pages; at most {PAGES_MAX} are possible: \
         use larger pages or a smaller drive",
        u64::from(*blocks) * u64::from(*pages_per_block)
    )]
    TooManyPages {
        /// Erase blocks.
        blocks: u32,
        pages_per_block: u32,
    },
}

/// The size of a medium: `blocks` erase blocks of `pages_per_block` pages of `page_bytes` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    blocks: u32,
    pages_per_block: u32,
    page_bytes: u32,
}

impl Geometry {
    /// A medium of the given size; pages per block may be any number from 2 on.
    pub fn new(blocks: u32, pages_per_block: u32, page_bytes: u32) -> Result<Self, GeometryError> {
        for (what, value, min) in [
            ("the number of erase blocks", blocks, 1),
            ("pages per block", pages_per_block, 2),
            ("the page size in bytes", page_bytes, 1),
        ] {
            if value < min {
                return Err(GeometryError::TooSmall { what, value, min });
            }
        }
        for (what, value) in
            [("the number of erase blocks", blocks), ("pages per block", pages_per_block)]
        {
            if value > BLOCKS_MAX {
                return Err(GeometryError::TooLarge { what, value });
            }
        }
        match blocks.checked_mul(pages_per_block) {
            Some(pages) if pages <= PAGES_MAX => Ok(Self { blocks, pages_per_block, page_bytes }),
            _ => Err(GeometryError::TooManyPages { blocks, pages_per_block }),
        }
    }

    /// Erase blocks on the medium.
    #[inline]
    pub const fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Pages in an erase block.
    #[inline]
    pub const fn pages_per_block(&self) -> u32 {
        self.pages_per_block
    }

    /// Bytes of data that a page holds.
    #[inline]
    pub const fn page_bytes(&self) -> u32 {
        self.page_bytes
    }

    /// Pages on the medium.
    #[inline]
    pub const fn pages(&self) -> u32 {
        self.blocks * self.pages_per_block
    }

    /// The page of `block` that is programmed first after an erase.
    #[inline]
    pub const fn first_page(&self, block: BlockId) -> Ppn {
        Ppn(block.0 * self.pages_per_block)
    }

    /// A divider by `pages_per_block`, for the hot path.
    pub const fn block_of(&self) -> BlockOf {
        BlockOf { reciprocal: u64::MAX / self.pages_per_block as u64 + 1 }
    }
}

/// Maps a page to its block with one multiplication, for any number of pages per block.
///
/// With d pages per block the reciprocal is r = ceil(2^64 / d), and floor(n r / 2^64) = floor(n / d)
/// for every n < 2^32 (Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019).
#[derive(Debug, Clone, Copy)]
pub struct BlockOf {
    reciprocal: u64,
}

impl BlockOf {
    /// The erase block that holds `page`.
    #[inline]
    pub const fn page(self, page: Ppn) -> BlockId {
        BlockId(((page.0 as u128 * self.reciprocal as u128) >> 64) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_by_reciprocal_is_exact() {
        for pages_per_block in [2, 3, 7, 64, 1000, 1024, 1152, 8191, 65_537, BLOCKS_MAX] {
            let block_of = Geometry::new(1, pages_per_block, 1).unwrap().block_of();
            let edges = (0..40).flat_map(|k| {
                let multiple = (u64::from(u32::MAX) / 40 * k / u64::from(pages_per_block))
                    * u64::from(pages_per_block);
                [multiple.saturating_sub(1), multiple, multiple + 1]
            });
            for page in edges.chain([0, 1, u64::from(PAGES_MAX) - 1]).map(|page| page as u32) {
                assert_eq!(block_of.page(Ppn(page)), BlockId(page / pages_per_block));
            }
        }
    }

    #[test]
    fn impossible_media_are_refused_with_the_numbers() {
        let error = Geometry::new(1 << 20, 1 << 12, 4096).unwrap_err().to_string();
        assert!(error.contains("4294967296 pages; at most 4294967294"), "{error}");
        assert!(Geometry::new(0, 64, 4096).is_err());
        let error = Geometry::new(1, 1, 4096).unwrap_err().to_string();
        assert_eq!(error, "pages per block is 1; it must be at least 2");
        let error = Geometry::new(BLOCKS_MAX + 1, 2, 4096).unwrap_err().to_string();
        assert_eq!(
            error,
            "the number of erase blocks is 1073741825; it must be at most 1073741824"
        );
        assert_eq!(Geometry::new(6, PAGES_MAX / 6, 1).unwrap().pages(), PAGES_MAX / 6 * 6);
    }
}

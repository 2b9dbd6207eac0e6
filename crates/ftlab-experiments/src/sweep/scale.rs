//! Experiments on a smaller drive.

use ftlab_sim::{DriveOptions, Logical, Physical, SlcCache, usual_pages_per_block};
use ftlab_spec::ByteSize;
use std::fmt;
use std::str::FromStr;

/// The fraction of its size to which an experiment is scaled down: pages, blocks, writes. What is given
/// relative to the drive stays, and so do traces and the drives of their size.
///
/// Erase blocks shrink first, so that there are as many as before; from [`PAGES_PER_BLOCK_MIN`] pages
/// on there are fewer of them. A drive of fewer than 16,384 pages would have too few for the spare ones that
/// FTLs need, so none is made that small.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale(f64);

/// Blocks are not made smaller than this.
pub const PAGES_PER_BLOCK_MIN: u32 = 128;

/// Drives are not made smaller than this many pages.
const PAGES_MIN: f64 = 16_384.0;

/// A reserve is not made smaller than this.
const RESERVE_MIN: u32 = 4;

/// Blocks of a drive that is scaled down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScaledBlocks {
    pub(crate) pages_per_block: u32,
    /// By which their number changes.
    factor: f64,
}

impl Scale {
    /// As the file says.
    pub const FULL: Self = Self(1.0);

    /// How much a drive of this many pages is scaled.
    pub(crate) fn of_drive(self, logical_pages: u64) -> Self {
        Self(self.0.max((PAGES_MIN / logical_pages.max(1) as f64).min(1.0)))
    }

    pub(crate) fn count(self, count: u64) -> u64 {
        if self == Self::FULL { count } else { ((count as f64 * self.0).round() as u64).max(1) }
    }

    /// The drive at this size.
    pub(crate) fn drive(self, full: &DriveOptions) -> DriveOptions {
        let usual =
            || usual_pages_per_block(full.asked_pages().map_or(u32::MAX, |pages| pages as u32));
        let scaled = self.blocks(full.pages_per_block.unwrap_or_else(usual));
        let whole_pages = |size: ByteSize| size.0 / u64::from(full.page_bytes.max(1));
        DriveOptions {
            logical: match full.logical {
                Logical::Bytes(size) if self == Self::FULL => Logical::Bytes(size),
                Logical::Bytes(size) => Logical::Pages(self.count(whole_pages(size))),
                Logical::Pages(pages) => Logical::Pages(self.count(pages)),
                Logical::OfWorkload => Logical::OfWorkload,
            },
            pages_per_block: full.pages_per_block.map(|_| scaled.pages_per_block),
            physical: match full.physical {
                Physical::Blocks(blocks) => Physical::Blocks(scaled.blocks(blocks)),
                share @ Physical::OverProvisioning(_) => share,
            },
            reserve_blocks: scaled.reserve(full.reserve_blocks),
            slc_cache: full
                .slc_cache
                .as_ref()
                .map(|cache| SlcCache { size: ByteSize(self.count(cache.size.0)), ..*cache }),
            mapping: full.mapping.scaled(|bytes| self.count(bytes).max(full.page_bytes.into())),
            ..full.clone()
        }
    }

    pub(crate) fn blocks(self, pages_per_block: u32) -> ScaledBlocks {
        let smallest = pages_per_block.min(PAGES_PER_BLOCK_MIN);
        let shrunk = (f64::from(pages_per_block) * self.0).round().max(f64::from(smallest));
        let factor = self.0 * f64::from(pages_per_block) / shrunk;
        ScaledBlocks { pages_per_block: shrunk as u32, factor }
    }
}

impl ScaledBlocks {
    pub(crate) fn blocks(self, blocks: u32) -> u32 {
        (f64::from(blocks) * self.factor).ceil() as u32
    }

    pub(crate) fn reserve(self, blocks: u32) -> u32 {
        let scaled = (f64::from(blocks) * self.factor).round() as u32;
        scaled.max(blocks.min(RESERVE_MIN))
    }
}

impl FromStr for Scale {
    type Err = String;

    /// Reads `1/8`, `0.125` or `1`.
    fn from_str(text: &str) -> Result<Self, String> {
        let scale = match text.split_once('/') {
            Some((above, below)) => above.parse::<f64>().ok().zip(below.parse::<f64>().ok()),
            None => text.parse().ok().map(|scale| (scale, 1.0)),
        };
        scale
            .map(|(above, below)| above / below)
            .filter(|scale| (1e-6..=1.0).contains(scale))
            .map(Self)
            .ok_or_else(|| format!("{text:?} is not a fraction of the full size, such as 1/8 or 1"))
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = (1.0 / self.0).round();
        if parts > 1.0 && (self.0 * parts - 1.0).abs() < 1e-9 {
            return write!(f, "1/{parts}");
        }
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_shrink_before_there_are_fewer() {
        let eighth: Scale = "1/8".parse().unwrap();
        for (pages_per_block, blocks, reserve, expected) in [
            (1152, 2048, 80, (144, 2048, 80)),
            (1024, 2816, 4, (128, 2816, 4)),
            (512, 1000, 8, (128, 500, 4)),
            (128, 8192, 4, (128, 1024, 4)),
            (64, 65_537, 1, (64, 8193, 1)),
        ] {
            let scaled = eighth.blocks(pages_per_block);
            let found = (scaled.pages_per_block, scaled.blocks(blocks), scaled.reserve(reserve));
            assert_eq!(found, expected);
        }
        let full = Scale::FULL.blocks(1152);
        assert_eq!((full.pages_per_block, full.blocks(2048), full.reserve(80)), (1152, 2048, 80));
    }

    #[test]
    fn small_drives_shrink_less() {
        let eighth: Scale = "1/8".parse().unwrap();
        for (pages, expected) in
            [(262_144, 32_768), (51_200, 16_384), (10_000, 10_000), (2_097_152, 262_144)]
        {
            assert_eq!(eighth.of_drive(pages).count(pages), expected);
        }
    }

    #[test]
    fn fractions_are_read_and_printed() {
        for (text, scale, printed) in
            [("1/8", 0.125, "1/8"), ("0.25", 0.25, "1/4"), ("1", 1.0, "1")]
        {
            let read: Scale = text.parse().unwrap();
            assert_eq!((read, read.to_string().as_str()), (Scale(scale), printed));
        }
        for text in ["0", "2", "1/0", "x", "-1/8"] {
            assert!(text.parse::<Scale>().is_err(), "{text}");
        }
    }
}

//! What an SLC cache is like.

use ftlab_flash::Geometry;
use ftlab_spec::{ByteSize, Parameters, Spec, SpecError};
use std::fmt;
use std::str::FromStr;

ftlab_spec::choices! {
    /// What becomes of a page for which the cache has no room.
    pub enum WhenFull {
        /// The oldest block is folded first, and the host waits for that.
        Fold = "fold",
        /// The page goes past the cache.
        Bypass = "bypass",
    }
}

ftlab_spec::parameters! {
    /// Erase blocks that are programmed with one bit a cell, and take what the host writes.
    #[derive(Copy)]
    pub struct SlcCache {
        /// What it holds; its blocks, two at least, come on top of those of the drive.
        size: ByteSize = ByteSize(0), "size", from "our choice";
        /// Bits of a cell elsewhere: a block of the cache holds the pages of another divided by that.
        bits: u32 = 3, "bits" in 2..=4, from "TLC";
        /// What becomes of a page for which there is no room.
        full: WhenFull = WhenFull::Fold, "full", from "our choice";
        /// Whether blocks are folded while the host asks for nothing, which needs a clock.
        idle: bool = true, "idle", from "our choice";
    }
}

impl SlcCache {
    /// The pages that a block of the cache holds on flash like this.
    pub fn pages_per_block(&self, geometry: &Geometry) -> u32 {
        geometry.pages_per_block() / self.bits
    }

    /// Bytes of memory that its tables take, on a drive with `logical_pages`.
    pub fn memory_bytes(&self, geometry: &Geometry, logical_pages: u32) -> u64 {
        let blocks = self.blocks(geometry).unwrap_or(0);
        let pages = u64::from(blocks) * u64::from(self.pages_per_block(geometry));
        u64::from(logical_pages) * 4 + pages * 8
    }

    /// The blocks that it needs on flash like this; none if there are not as many.
    pub fn blocks(&self, geometry: &Geometry) -> Option<u32> {
        let block_bytes = self.pages_per_block(geometry).checked_mul(geometry.page_bytes())?;
        let blocks = self.size.0.checked_div(block_bytes.into())?;
        let rounded = blocks + u64::from(!self.size.0.is_multiple_of(block_bytes.into()));
        let blocks = u32::try_from(rounded.max(2)).ok()?;
        let with = geometry.blocks().checked_add(blocks)?;
        Geometry::new(with, geometry.pages_per_block(), geometry.page_bytes()).ok()?;
        Some(blocks)
    }
}

impl FromStr for SlcCache {
    type Err = SpecError;

    /// Reads `size=64MiB,bits=3,full=fold,idle=on`, every part of which but the size may be left out.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        let spec = format!("slc-cache:{text}").parse::<Spec>()?;
        let options = Self::from_spec(&spec)?;
        if options.size.0 > 0 {
            return Ok(options);
        }
        Err(SpecError::BadValue {
            of: "slc-cache".into(),
            key: "size".into(),
            value: spec.get("size").unwrap_or_default().into(),
            expects: "a size above 0; give size=64MiB, or leave out the cache".into(),
        })
    }
}

impl fmt::Display for SlcCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> =
            self.values().into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_has_whole_blocks_and_two_at_least() {
        let geometry = Geometry::new(100, 64, 4096).unwrap();
        for (text, blocks, pages) in [
            ("size=1", 2, 21),
            ("size=168KiB", 2, 21),
            ("size=169KiB", 3, 21),
            ("size=1MiB,bits=2", 8, 32),
            ("size=1MiB,bits=4", 16, 16),
        ] {
            let cache: SlcCache = text.parse().unwrap();
            assert_eq!(cache.blocks(&geometry), Some(blocks), "{text}");
            assert_eq!(cache.pages_per_block(&geometry), pages, "{text}");
            assert_eq!(cache.to_string().parse::<SlcCache>().unwrap(), cache);
        }
        let small = Geometry::new(100, 3, 4096).unwrap();
        assert_eq!("size=1MiB,bits=4".parse::<SlcCache>().unwrap().blocks(&small), None);
        let huge: SlcCache = "size=100TiB".parse().unwrap();
        assert_eq!(huge.blocks(&geometry), None);
    }

    #[test]
    fn wrong_options_say_what_is_right() {
        for (text, part) in [
            ("", "size= is not a size above 0"),
            ("bits=3", "give size=64MiB"),
            ("size=1MiB,bits=5", "bits=5 is not a whole number in 2..=4"),
            ("size=1MiB,full=drop", "full=drop is not one of fold, bypass"),
            ("size=1MiB,idel=on", "did you mean \"idle\"?"),
        ] {
            let error = text.parse::<SlcCache>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

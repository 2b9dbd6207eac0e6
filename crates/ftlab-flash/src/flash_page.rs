//! How many pages of the drive a chip reads or programs as one.

use ftlab_spec::{ByteSize, Value};
use std::fmt;

/// The page of the chip: a size such as `16KiB`, a power of two; or `off` where every page of the drive is read and
/// programmed by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlashPage(Option<u64>);

impl FlashPage {
    /// Every page is read and programmed by itself.
    pub const OFF: Self = Self(None);

    /// Whether every page is read and programmed by itself.
    pub fn is_off(self) -> bool {
        self.0.is_none()
    }

    /// Pages of `page_bytes` that it holds; one if they are larger.
    pub fn pages(self, page_bytes: u32) -> u32 {
        let pages = self.0.unwrap_or(0) / u64::from(page_bytes);
        u32::try_from(pages).map_or(u32::MAX, |pages| pages.max(1))
    }
}

impl fmt::Display for FlashPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => ByteSize(bytes).fmt(f),
            None => f.write_str("off"),
        }
    }
}

/// More than any chip has.
const BYTES_MAX: u64 = 1 << 20;

impl Value for FlashPage {
    fn expects() -> String {
        "off, or the size of a page of the chip, a power of two up to 1MiB, such as 16KiB".into()
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "off" {
            return Some(Self::OFF);
        }
        let bytes = text.parse::<ByteSize>().ok()?.0;
        (bytes.is_power_of_two() && bytes <= BYTES_MAX).then_some(Self(Some(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_two_and_hold_one_page_at_least() {
        for (text, pages) in [("off", 1), ("16KiB", 4), ("32KiB", 8), ("4KiB", 1), ("512B", 1)] {
            let size = FlashPage::parse(text).unwrap();
            assert_eq!((size.to_string().replace(' ', ""), size.pages(4096)), (text.into(), pages));
            assert_eq!(size.is_off(), text == "off");
        }
        for wrong in ["", "0", "12KiB", "2MiB", "on", "-4KiB"] {
            assert_eq!(FlashPage::parse(wrong), None, "{wrong}");
        }
    }
}

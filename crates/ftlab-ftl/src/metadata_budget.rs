//! A limit on what an algorithm may remember.

use ftlab_spec::{ByteSize, SpecError};
use std::fmt;
use std::str::FromStr;

/// The most that an algorithm may remember in all ([`Metadata`](crate::Metadata)): `1MiB`, or as much as
/// `4B/page` or `2bits/page` for each logical page, `64B/block` for each erase block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetadataBudget {
    bits: u64,
    per: Per,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Per {
    Drive,
    Page,
    Block,
}

impl MetadataBudget {
    /// Bytes on a drive of the given size.
    pub fn total_bytes(&self, logical_pages: u32, blocks: u32) -> u64 {
        let times = match self.per {
            Per::Drive => 1,
            Per::Page => logical_pages,
            Per::Block => blocks,
        };
        let bytes = u128::from(self.bits) * u128::from(times) / 8;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

impl FromStr for MetadataBudget {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let wrong = || SpecError::Quantity {
            text: text.into(),
            expects: "a budget of metadata, such as 4B/page, 2bits/page, 64B/block or 1MiB",
        };
        let (amount, per) = match text.split_once('/') {
            None => (text, Per::Drive),
            Some((amount, "page")) => (amount, Per::Page),
            Some((amount, "block")) => (amount, Per::Block),
            Some(_) => return Err(wrong()),
        };
        let bits = match amount.strip_suffix("bits").or_else(|| amount.strip_suffix("bit")) {
            Some(bits) => bits.trim().parse().ok(),
            None => amount.parse::<ByteSize>().ok().and_then(|size| size.0.checked_mul(8)),
        };
        bits.map(|bits| Self { bits, per }).ok_or_else(wrong)
    }
}

impl fmt::Display for MetadataBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bits.is_multiple_of(8) {
            write!(f, "{}", ByteSize(self.bits / 8))?;
        } else {
            write!(f, "{}bits", self.bits)?;
        }
        f.write_str(match self.per {
            Per::Drive => "",
            Per::Page => "/page",
            Per::Block => "/block",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_of_the_drive_or_of_its_pages_or_blocks() {
        let bytes = |text: &str| text.parse::<MetadataBudget>().unwrap().total_bytes(1001, 9);
        assert_eq!(
            ["1MiB", "4B/page", "2bits/page", "1bit/page", "64B/block", "0"].map(bytes),
            [1 << 20, 4004, 250, 125, 576, 0]
        );
        for text in ["4B/page", "2bits/page", "64B/block", "1MiB", "3bits/block"] {
            assert_eq!(text.parse::<MetadataBudget>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_budget_is_refused() {
        for text in ["", "4", "4B/pages", "page", "-1B/page", "x bits", "4B/"] {
            let parsed = text.parse::<MetadataBudget>();
            assert_eq!(parsed.is_ok(), text == "4", "{text}");
        }
    }
}

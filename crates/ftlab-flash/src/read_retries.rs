//! How often a page is read again before its errors can be corrected.

use ftlab_spec::Value;
use std::fmt;

/// More retries than any chip has read voltages for.
const RETRIES_MAX: u32 = 1000;

/// Retries of each read by the P/E cycles of the block, as steps: `1000:1/3000:3` for none up to 999 cycles, 1 up to
/// 2,999 and 3 from there on; or `off`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadRetries(Vec<(u32, u32)>);

impl ReadRetries {
    /// Whether no page is ever read again.
    pub fn is_off(&self) -> bool {
        self.0.is_empty()
    }

    /// Retries after `cycles` P/E cycles.
    pub fn at(&self, cycles: u32) -> u32 {
        let after = self.0.partition_point(|(from, _)| *from <= cycles);
        after.checked_sub(1).map_or(0, |step| self.0[step].1)
    }
}

impl fmt::Display for ReadRetries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_off() {
            return f.write_str("off");
        }
        let steps: Vec<_> =
            self.0.iter().map(|(from, retries)| format!("{from}:{retries}")).collect();
        f.write_str(&steps.join("/"))
    }
}

impl Value for ReadRetries {
    fn expects() -> String {
        format!(
            "off, or P/E cycles with the retries from there on, ascending, such as 1000:1/3000:3, {RETRIES_MAX} \
             retries at most"
        )
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "off" {
            return Some(Self::default());
        }
        let mut steps: Vec<(u32, u32)> = Vec::new();
        for step in text.split('/') {
            let (from, retries) = step.split_once(':')?;
            let (from, retries) = (from.parse().ok()?, retries.parse().ok()?);
            let is_after = steps.last().is_none_or(|last| last.0 < from);
            if !is_after || retries > RETRIES_MAX {
                return None;
            }
            steps.push((from, retries));
        }
        Some(Self(steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_that_is_reached_counts() {
        let retries = ReadRetries::parse("1000:1/3000:3").unwrap();
        let at = [0, 999, 1000, 2999, 3000, u32::MAX].map(|cycles| retries.at(cycles));
        assert_eq!(at, [0, 0, 1, 1, 3, 3]);
        assert_eq!(retries.to_string(), "1000:1/3000:3");
        assert_eq!(ReadRetries::parse("off"), Some(ReadRetries::default()));
        assert_eq!(ReadRetries::default().at(u32::MAX), 0);
        for wrong in ["", "3", "3:", "2:1/2:2", "3:1/2:2", "1:1001", "1:-1", "1:1,2:2"] {
            assert_eq!(ReadRetries::parse(wrong), None, "{wrong}");
        }
    }
}

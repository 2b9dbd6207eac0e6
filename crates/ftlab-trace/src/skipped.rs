//! Lines that a reader passes over, and why.

use crate::error::excerpt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// Why what follows the last request of an unfinished file is passed over.
pub(crate) const UNFINISHED: &str = "end of the file, which was not finished";

/// Lines passed over for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedLines {
    /// Why, such as "another action".
    pub reason: Cow<'static, str>,
    /// How many.
    pub count: u64,
    /// Number of the first such line, from 1.
    pub first_line: u64,
    /// Its text, cut if long.
    pub first_text: String,
}

/// Everything that a reader passed over so far, one entry per reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Skipped {
    entries: Vec<SkippedLines>,
}

impl Skipped {
    /// Counts `line` under `reason`; keeps its text if it is the first.
    pub fn add(&mut self, reason: &'static str, line_number: u64, line: &[u8]) {
        // Readers have a handful of reasons, so a scan beats a map.
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.reason == reason) {
            entry.count += 1;
            return;
        }
        self.entries.push(SkippedLines {
            reason: Cow::Borrowed(reason),
            count: 1,
            first_line: line_number,
            first_text: excerpt(line),
        });
    }

    /// Reasons in the order in which they first occurred.
    pub fn iter(&self) -> impl Iterator<Item = &SkippedLines> {
        self.entries.iter()
    }

    /// Lines passed over, for any reason.
    pub fn total(&self) -> u64 {
        self.entries.iter().map(|entry| entry.count).sum()
    }

    /// Lines passed over for `reason`.
    pub fn count(&self, reason: &str) -> u64 {
        self.iter().find(|entry| entry.reason == reason).map_or(0, |entry| entry.count)
    }

    /// Whether nothing was passed over.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing was passed over");
        }
        for (index, entry) in self.entries.iter().enumerate() {
            let SkippedLines { reason, count, first_line, first_text } = entry;
            let comma = if index == 0 { "" } else { "; " };
            write!(f, "{comma}{count} x {reason}, first line {first_line}: {first_text:?}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_reason_and_keeps_the_first_example() {
        let mut skipped = Skipped::default();
        skipped.add("comment", 1, b"# a");
        skipped.add("blank", 2, b"");
        skipped.add("comment", 9, b"# b");
        assert_eq!((skipped.count("comment"), skipped.total()), (2, 3));
        assert_eq!(
            skipped.to_string(),
            "2 x comment, first line 1: \"# a\"; 1 x blank, first line 2: \"\""
        );
    }
}

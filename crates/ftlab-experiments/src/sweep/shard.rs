//! A part of a sweep, for job arrays.

use std::fmt;
use std::str::FromStr;

/// Part `index` of `count`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// Everything.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// Whether the job at this place of the plan belongs to it.
    pub fn has(self, job: usize) -> bool {
        job % self.count == self.index - 1
    }

    /// As it is in names of files.
    pub(crate) fn in_names(self) -> String {
        format!("{}-of-{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    /// Reads `3/8`.
    fn from_str(text: &str) -> Result<Self, String> {
        text.split_once('/')
            .and_then(|(index, count)| index.parse().ok().zip(count.parse().ok()))
            .filter(|(index, count)| (1..=*count).contains(index))
            .map(|(index, count)| Self { index, count })
            .ok_or_else(|| {
                format!("{text:?} is not a part of a whole such as 3/8, from 1/8 to 8/8")
            })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_in_exactly_one_shard() {
        let shards: Vec<Shard> = (1..=3).map(|n| format!("{n}/3").parse().unwrap()).collect();
        for job in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.has(job)).count(), 1);
        }
        assert!(Shard::WHOLE.has(7));
        for text in ["0/3", "4/3", "3", "x/y"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}

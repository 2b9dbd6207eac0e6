//! A part of a sweep, for job arrays.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
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

    /// Which of jobs with this much work belong to it, the largest first: in that order, each job goes to the part
    /// that has the least to do so far.
    pub fn of_work(self, work: &[u64]) -> Vec<usize> {
        let mut jobs: Vec<_> = (0..work.len()).collect();
        jobs.sort_by_key(|job| (Reverse(work[*job]), *job));
        let parts = self.count.min(jobs.len());
        let mut parts: BinaryHeap<_> = (0..parts).map(|part| Reverse((0_u64, part))).collect();
        jobs.retain(|job| {
            let Some(mut least) = parts.peek_mut() else { return false };
            let Reverse((load, part)) = &mut *least;
            *load = load.saturating_add(work[*job].max(1));
            *part == self.index - 1
        });
        jobs
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
    fn work_is_shared_out_evenly_and_whole() {
        let work = [5, 0, 90, 7, 0, 30, 31, 29, 4];
        let of = |part: &str| part.parse::<Shard>().unwrap().of_work(&work);
        assert_eq!(Shard::WHOLE.of_work(&work), [2, 6, 5, 7, 3, 0, 8, 1, 4]);
        assert_eq!([of("1/2"), of("2/2")], [vec![2, 3, 1, 4], vec![6, 5, 7, 0, 8]]);
        for count in [3, 9, 20] {
            let parts = (1..=count).flat_map(|index| of(&format!("{index}/{count}")));
            let mut all: Vec<_> = parts.collect();
            all.sort_unstable();
            assert_eq!(all, (0..work.len()).collect::<Vec<_>>(), "{count}");
        }
        assert!(of(&format!("{0}/{0}", usize::MAX)).is_empty());
    }

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

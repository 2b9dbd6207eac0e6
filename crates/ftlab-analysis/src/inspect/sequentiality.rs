//! How sequential write requests are.

use crate::{Analysis, Request};
use ftlab_trace::Op;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Earlier requests that one may continue: as many streams may be interleaved.
const RECENT: usize = 64;

/// How many write requests begin where an earlier one ended. Shares are in 0..=1, of the write
/// requests that write anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sequentiality {
    /// Those that continue the write request right before them.
    pub last: SequentialShare,
    /// Those that continue one of the last 64.
    pub recent: SequentialShare,
}

/// Sequential requests as a share of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SequentialShare {
    /// Of the requests.
    pub requests: f64,
    /// Of their bytes.
    pub bytes: f64,
}

/// Counts sequential write requests.
#[derive(Debug, Clone)]
pub struct SequentialCounter {
    /// Where the last requests ended, in a circle.
    ends: [u64; RECENT],
    newest: usize,
    all: Count,
    last: Count,
    recent: Count,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    requests: u64,
    sectors: u64,
}

impl Default for SequentialCounter {
    fn default() -> Self {
        let none = Count::default();
        // No request that ends can begin at the last address.
        Self { ends: [u64::MAX; RECENT], newest: 0, all: none, last: none, recent: none }
    }
}

impl Analysis for SequentialCounter {
    type Report = Sequentiality;

    #[inline]
    fn request(&mut self, request: &Request) {
        let Request { op: Op::Write, lba, sectors: 1.., .. } = *request else { return };
        self.all.add(request);
        if self.ends[self.newest] == lba {
            self.last.add(request);
            self.recent.add(request);
        } else if self.ends.contains(&lba) {
            self.recent.add(request);
        }
        self.newest = (self.newest + 1) % RECENT;
        self.ends[self.newest] = lba.saturating_add(u64::from(request.sectors));
    }

    fn finish(self) -> Sequentiality {
        Sequentiality { last: self.last.share_of(self.all), recent: self.recent.share_of(self.all) }
    }
}

impl Count {
    #[inline]
    fn add(&mut self, request: &Request) {
        self.requests += 1;
        self.sectors += u64::from(request.sectors);
    }

    fn share_of(self, all: Self) -> SequentialShare {
        let share = |part: u64, all: u64| part as f64 / all.max(1) as f64;
        SequentialShare {
            requests: share(self.requests, all.requests),
            bytes: share(self.sectors, all.sectors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(requests: &[(u64, u32)]) -> Sequentiality {
        let mut counter = SequentialCounter::default();
        for (lba, sectors) in requests {
            let request = Request {
                op: Op::Write,
                lba: *lba,
                sectors: *sectors,
                time_us: None,
                stream: None,
            };
            counter.request(&request);
        }
        counter.finish()
    }

    proptest! {
        #[test]
        fn shares_equal_a_look_back(
            requests in prop::collection::vec((0u64..60, 1u32..4), 1..300),
        ) {
            let (mut last, mut recent, mut all) = ([0.0; 2], [0.0; 2], [0.0; 2]);
            for (index, (lba, sectors)) in requests.iter().enumerate() {
                let before = &requests[index.saturating_sub(64)..index];
                let continues = |(lba_before, length): &(u64, u32)| {
                    lba_before + u64::from(*length) == *lba
                };
                let own = [1.0, f64::from(*sectors)];
                let add = |sum: &mut [f64; 2], is: bool| if is {
                    sum[0] += own[0];
                    sum[1] += own[1];
                };
                add(&mut all, true);
                add(&mut last, before.last().is_some_and(continues));
                add(&mut recent, before.iter().any(continues));
            }
            let share = |part: [f64; 2]| SequentialShare {
                requests: part[0] / all[0],
                bytes: part[1] / all[1],
            };
            prop_assert_eq!(found(&requests), Sequentiality { last: share(last), recent: share(recent) });
        }
    }

    #[test]
    fn interleaved_streams_continue_recent_requests() {
        let requests: Vec<_> =
            (0..100).flat_map(|step| [(step * 8, 8), (1000 + step * 8, 8)]).collect();
        let found = found(&requests);
        assert_eq!(found.last, SequentialShare::default());
        assert!((found.recent.requests - 198.0 / 200.0).abs() < 1e-12);
    }
}

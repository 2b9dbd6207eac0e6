//! What requests waited for, at each percentile of their response times.

use ftlab_flash::Waits;

/// Binary digits of a response time that tell buckets apart: those of one are within 1/32 of each other.
const DIGITS: u32 = 5;

/// Requests whose response times are about equal, and what they waited for, in sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Alike {
    /// How many are about equal.
    pub requests: u64,
    /// The sum of what each of them waited for.
    pub waits: Waits,
}

/// What requests waited for, by their response times.
#[derive(Debug, Clone, Default)]
pub struct WaitTimes {
    /// Bucket of response times, ascending -> its requests.
    buckets: Vec<Alike>,
    requests: u64,
}

impl WaitTimes {
    pub(crate) fn record(&mut self, waits: &Waits) {
        let bucket = bucket(waits.total());
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, Alike::default());
        }
        let alike = &mut self.buckets[bucket];
        alike.requests += 1;
        alike.waits.add_all(waits);
        self.requests += 1;
    }

    /// How many requests there are.
    pub fn count(&self) -> u64 {
        self.requests
    }

    /// The requests whose response times are about the one that a `share` of all did not exceed, 1/32 of it more
    /// or less; none if there are no requests.
    pub fn at(&self, share: f64) -> Option<Alike> {
        let rank = ((share * self.requests as f64).ceil() as u64).clamp(1, self.requests.max(1));
        let mut before = 0;
        self.buckets.iter().copied().find(|alike| {
            before += alike.requests;
            alike.requests > 0 && before >= rank
        })
    }

    /// All requests.
    pub fn all(&self) -> Alike {
        self.buckets.iter().fold(Alike::default(), |mut all, alike| {
            all.requests += alike.requests;
            all.waits.add_all(&alike.waits);
            all
        })
    }
}

/// The bucket of a response time: its exponent and first digits.
#[inline]
pub(crate) fn bucket(nanoseconds: u64) -> usize {
    let exponent = (u64::BITS - nanoseconds.leading_zeros()).saturating_sub(DIGITS + 1);
    ((u64::from(exponent) << DIGITS) + (nanoseconds >> exponent)) as usize
}

/// The longest response time of a bucket.
pub(crate) fn longest_of(bucket: usize) -> u64 {
    let exponent = (bucket as u64 >> DIGITS).saturating_sub(1);
    let digits = bucket as u64 - (exponent << DIGITS);
    ((digits + 1) << exponent) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::Wait;

    #[test]
    fn buckets_are_in_order_and_a_thirty_second_wide() {
        let mut last = 0;
        for nanoseconds in (0..100_000).chain((1..4000).map(|step| step * step * 1_000_003)) {
            let of = bucket(nanoseconds);
            assert!(of >= last && of < bucket(nanoseconds + nanoseconds / 31 + 2), "{nanoseconds}");
            let longest = longest_of(of);
            assert!(
                longest >= nanoseconds && bucket(longest) == of && bucket(longest + 1) == of + 1
            );
            last = of;
        }
    }

    #[test]
    fn a_percentile_has_the_requests_about_as_long_and_their_sums() {
        let mut times = WaitTimes::default();
        assert_eq!(times.at(0.5), None);
        for _ in 0..99 {
            times.record(&Waits::of(Wait::Own, 100));
        }
        let mut slow = Waits::of(Wait::Own, 100);
        slow.add(Wait::Erase, 5000);
        times.record(&slow);
        let quick = Alike { requests: 99, waits: Waits::of(Wait::Own, 9900) };
        assert_eq!([times.at(0.0), times.at(0.5), times.at(0.99)], [Some(quick); 3]);
        assert_eq!(times.at(0.999), Some(Alike { requests: 1, waits: slow }));
        assert_eq!(times.at(1.0), times.at(0.999));
        let all = times.all();
        assert_eq!((all.requests, all.waits.total()), (100, 15_000));
        assert_eq!((times.count(), all.waits.get(Wait::Erase)), (100, 5000));
    }
}

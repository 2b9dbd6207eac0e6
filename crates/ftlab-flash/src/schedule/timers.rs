//! When each LUN is done with what it does.

/// A time for each of a fixed number of things, and which of them comes first: a tournament, in which the
/// winner of each pair is the earlier of the two; a change plays the games above it again.
#[derive(Debug, Clone)]
pub(super) struct Timers {
    times: Vec<u64>,
    /// Node -> who won there; node 1 is the final, and the players of node n come from 2n and 2n + 1.
    winners: Vec<u32>,
    /// Where the first of the times would be a node; a power of two.
    leaves: usize,
}

/// Nothing is due.
pub(crate) const NEVER: u64 = u64::MAX;

impl Timers {
    pub(super) fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two().max(2);
        let mut timers = Self { times: vec![NEVER; leaves], winners: vec![0; leaves], leaves };
        (0..leaves).step_by(2).for_each(|index| timers.set(index, NEVER));
        timers
    }

    /// Who comes first, of several at once the one with the least number, and when.
    #[inline]
    pub(super) fn first(&self) -> (u64, usize) {
        let first = self.winners[1] as usize;
        (self.times[first], first)
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> u64 {
        self.times[index]
    }

    #[inline]
    pub(super) fn set(&mut self, index: usize, time: u64) {
        self.times[index] = time;
        let mut node = (self.leaves + index) >> 1;
        let pair = index & !1;
        let mut winner = if self.times[pair] <= self.times[pair + 1] { pair } else { pair + 1 };
        loop {
            self.winners[node] = winner as u32;
            if node == 1 {
                return;
            }
            // A node with an even number has the smaller leaves.
            let other = self.winners[node ^ 1] as usize;
            let (low, high) = if node & 1 == 0 { (winner, other) } else { (other, winner) };
            winner = if self.times[low] <= self.times[high] { low } else { high };
            node >>= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_the_earliest_with_the_least_number() {
        for count in [1, 2, 3, 5, 64, 100] {
            let (mut timers, mut random) = (Timers::new(count), 1_u64);
            let mut times = vec![NEVER; count];
            assert_eq!(timers.first().0, NEVER);
            for _ in 0..2000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let index = (random >> 33) as usize % count;
                let time = if random % 5 == 0 { NEVER } else { (random >> 20) % 50 };
                times[index] = time;
                timers.set(index, time);
                let first = times.iter().enumerate().map(|(index, time)| (*time, index)).min();
                assert_eq!(timers.first().0, first.unwrap().0);
                if timers.first().0 != NEVER {
                    assert_eq!(Some(timers.first()), first);
                }
                assert_eq!(timers.get(index), time);
            }
        }
    }
}

//! When each of a number of things is due: what a LUN is at, or a request.

use std::hint::select_unpredictable;

/// A time for each of them, and which comes first: a tournament, in which the winner of each pair is the earlier of
/// the two; a change plays the games above it again, as far as another one wins. Against a heap it has no searches
/// whose outcome the processor would have to guess.
#[derive(Debug, Clone)]
pub struct Timers {
    /// Node -> who won there; node 1 is the final, the players of node n come from 2n and 2n + 1, and the second half
    /// are the things themselves.
    nodes: Vec<Timer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Timer {
    time: u64,
    index: u32,
}

/// Nothing is due.
pub const NEVER: u64 = u64::MAX;

impl Timers {
    /// At least `count` timers, of which none is due.
    pub fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two().max(2);
        let mut timers = Self { nodes: vec![Timer { time: NEVER, index: 0 }; 2 * leaves] };
        for index in 0..leaves {
            timers.nodes[leaves + index].index = index as u32;
        }
        for node in (1..leaves).rev() {
            timers.nodes[node] = timers.nodes[2 * node];
        }
        timers
    }

    #[inline]
    fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Who comes first, of several at once the one with the least number, and when.
    #[inline]
    pub fn first(&self) -> (u64, usize) {
        let Timer { time, index } = self.nodes[1];
        (time, index as usize)
    }

    /// When something is due.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        self.nodes[self.leaves() + index].time
    }

    /// Something is due at this time; there may be more things than there were.
    #[inline]
    pub fn set(&mut self, index: usize, time: u64) {
        if index >= self.leaves() {
            self.grow(index);
        }
        let mut node = self.leaves() + index;
        let mut winner = Timer { time, index: index as u32 };
        self.nodes[node] = winner;
        while node > 1 {
            let other = self.nodes[node ^ 1];
            // The other one has the smaller number if this node's is odd.
            let is_first = winner.time < other.time.saturating_add(u64::from(node & 1 == 0));
            winner.time = select_unpredictable(is_first, winner.time, other.time);
            winner.index = select_unpredictable(is_first, winner.index, other.index);
            node >>= 1;
            if self.nodes[node] == winner {
                return;
            }
            self.nodes[node] = winner;
        }
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        let mut more = Self::new(index + 1);
        for index in 0..self.leaves() {
            more.set(index, self.get(index));
        }
        *self = more;
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

    #[test]
    fn there_can_be_more_than_at_first() {
        let mut timers = Timers::new(1);
        for (index, time) in [(0, 9), (3, 5), (1000, 4), (2, 4)] {
            timers.set(index, time);
        }
        for expected in [(4, 2), (4, 1000), (5, 3), (9, 0)] {
            assert_eq!(timers.first(), expected);
            timers.set(expected.1, NEVER);
        }
        assert_eq!(timers.first().0, NEVER);
    }
}

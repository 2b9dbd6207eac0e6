//! What will be complete, and when.

use crate::write_buffer::entry_of;
use ftlab_flash::{NEVER, NOBODY, Owner, Timers};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Requests, and pages of the write buffer, of which it is known when they will be complete; each once. Of several at
/// once requests come before pages, and of these the one with the least number.
#[derive(Debug, Clone)]
pub(crate) enum Finishing {
    /// In order: with one LUN, nearly all come in the order in which they will be complete.
    Sorted(VecDeque<(u64, Owner)>),
    /// With more, these are mixed.
    Mixed { requests: Timers, pages: BinaryHeap<Reverse<(u64, Owner)>> },
}

impl Finishing {
    /// None, for this many LUNs.
    pub(crate) fn new(luns: u32) -> Self {
        if luns == 1 {
            return Self::Sorted(VecDeque::new());
        }
        Self::Mixed { requests: Timers::new(1), pages: BinaryHeap::new() }
    }

    /// A request or a page will be complete at this time.
    #[inline]
    pub(crate) fn push(&mut self, time: u64, owner: Owner) {
        match self {
            Self::Sorted(all) if all.back().is_none_or(|last| *last < (time, owner)) => {
                all.push_back((time, owner));
            }
            Self::Sorted(all) => insert(all, (time, owner)),
            Self::Mixed { requests, .. } if entry_of(owner).is_none() => {
                requests.set(owner as usize, time);
            }
            Self::Mixed { pages, .. } => pages.push(Reverse((time, owner))),
        }
    }

    /// When the first of them will be; never if there is none.
    #[inline]
    pub(crate) fn first(&self) -> u64 {
        match self {
            Self::Sorted(all) => all.front().map_or(NEVER, |(time, _)| *time),
            Self::Mixed { requests, pages } => {
                let of_pages = pages.peek().map_or(NEVER, |Reverse((time, _))| *time);
                requests.first().0.min(of_pages)
            }
        }
    }

    /// Whether there is none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first() == NEVER
    }

    /// Takes out the first, of which there is one.
    #[inline]
    pub(crate) fn take_first(&mut self) -> Owner {
        match self {
            Self::Sorted(all) => all.pop_front().map_or(NOBODY, |(_, owner)| owner),
            Self::Mixed { requests, pages } => {
                let (time, request) = requests.first();
                if pages.peek().is_some_and(|Reverse((of_page, _))| *of_page < time) {
                    return pages.pop().map_or(NOBODY, |Reverse((_, owner))| owner);
                }
                requests.set(request, NEVER);
                request as Owner
            }
        }
    }
}

/// Puts one where it belongs.
#[cold]
fn insert(all: &mut VecDeque<(u64, Owner)>, new: (u64, Owner)) {
    all.insert(all.partition_point(|other| *other < new), new);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_buffer::entry_owner;

    #[test]
    fn both_ways_come_in_the_same_order() {
        let (mut sorted, mut mixed) = (Finishing::new(1), Finishing::new(64));
        let (mut present, mut random) = (0, 1_u64);
        let (mut free, mut count) = ((0..200).collect::<Vec<_>>(), 0);
        for _ in 0..5000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if random >> 63 == 0
                && let Some(number) = free.pop()
            {
                let owner = if number % 3 == 0 { entry_owner(number) } else { number };
                let time = present + (random >> 40) % 20;
                sorted.push(time, owner);
                mixed.push(time, owner);
                continue;
            }
            assert_eq!(sorted.first(), mixed.first());
            if !sorted.is_empty() {
                (present, count) = (sorted.first(), count + 1);
                let owner = mixed.take_first();
                assert_eq!(sorted.take_first(), owner);
                free.push(entry_of(owner).unwrap_or(owner));
            }
            assert_eq!(sorted.is_empty(), mixed.is_empty());
        }
        assert!(count > 2000, "{count}");
    }
}

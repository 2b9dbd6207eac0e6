//! The buffer pool: which database pages are in memory, and which of those have changed.

use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

/// When a page was first changed: sectors of redo log written by then, plus 1; 0 for never.
type Age = u64;

/// A place for a page, in the ring of its list.
#[derive(Debug, Clone, Copy)]
struct Frame {
    page: u32,
    newer: u32,
    older: u32,
    /// Pages that had left the pool when this one came to the front of the young list.
    left_before: u32,
    dirty_since: Age,
    is_old: bool,
}

/// A ring of frames, from the newest to the oldest, which is next to the newest again.
#[derive(Debug, Clone, Copy)]
struct Ring {
    newest: u32,
    length: usize,
}

/// Pages in memory, in arrays and in O(1): a young list, from which the page not used for longest goes
/// to the old list, at whose end pages leave.
///
/// Pages that a transaction makes begin young. Pages that are read begin old, and become young when they are
/// used again: InnoDB's midpoint insertion, but for the second that it waits before (with it, write
/// amplification in docs/workloads.md differs by 1%). Without an old list all pages are young: that is LRU.
///
/// As in InnoDB, a page is not moved to the front if less than a quarter of the pool has left since it was
/// there: it is close to it.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    frames: Vec<Frame>,
    /// Frame of each page of the database; [`NONE`] where it is not in memory.
    frame_of: Vec<u32>,
    young: Ring,
    old: Ring,
    /// Pages that have left the pool.
    left: u32,
    capacity: usize,
    old_share: f64,
    /// Frames without a page.
    free: Vec<u32>,
    /// Frames in the order in which their pages were first changed, with some that are not changed any
    /// more, or have another page.
    changed: VecDeque<(u32, Age)>,
}

const EMPTY: Ring = Ring { newest: NONE, length: 0 };

impl Pool {
    /// A pool of `capacity` pages, a share of them old, of a database of at most `pages`.
    pub(super) fn new(capacity: usize, old_share: f64, pages: usize) -> Self {
        Self {
            frames: Vec::with_capacity(capacity + 1),
            frame_of: vec![NONE; pages],
            young: EMPTY,
            old: EMPTY,
            left: 0,
            capacity,
            old_share,
            free: Vec::new(),
            changed: VecDeque::new(),
        }
    }

    /// Uses `page`.
    #[inline]
    pub(super) fn read(&mut self, page: u32) {
        self.bring(page, false);
    }

    /// Changes `page` at `now`, which is not 0; `is_new` if it has just been made.
    #[inline]
    pub(super) fn change(&mut self, page: u32, is_new: bool, now: Age) {
        let frame = self.bring(page, is_new);
        let dirty_since = &mut self.frames[frame as usize].dirty_since;
        if *dirty_since == 0 {
            *dirty_since = now;
            self.changed.push_back((frame, now));
        }
    }

    /// Pages beyond the capacity: there is room for them, but some have to leave.
    #[inline]
    pub(super) fn excess(&self) -> usize {
        self.length().saturating_sub(self.capacity)
    }

    fn length(&self) -> usize {
        self.young.length + self.old.length
    }

    /// Lets the page go whose turn it is; returns it if it has changed.
    pub(super) fn evict(&mut self) -> Option<u32> {
        let ring = if self.old.length > 0 { self.old } else { self.young };
        if ring.length == 0 {
            return None;
        }
        let oldest = self.frames[ring.newest as usize].newer;
        let changed = self.take_change(oldest);
        self.leave(oldest);
        self.balance();
        changed
    }

    /// Passes over pages, the oldest first, until `pages` have left or all have been passed: those that
    /// have changed are given to `write` and stay, and others leave.
    pub(super) fn clean(&mut self, pages: usize, mut write: impl FnMut(u32)) {
        let end = self.length().saturating_sub(pages);
        for is_old in [true, false] {
            let ring = if is_old { self.old } else { self.young };
            let mut newest = ring.newest;
            for _ in 0..ring.length {
                if self.length() == end {
                    break;
                }
                let number = self.frames[newest as usize].newer;
                if let Some(page) = self.take_change(number) {
                    write(page);
                    newest = number;
                } else {
                    self.leave(number);
                }
            }
        }
        self.balance();
    }

    /// The page of a frame if it has changed: it counts as written.
    #[inline]
    fn take_change(&mut self, number: u32) -> Option<u32> {
        let frame = &mut self.frames[number as usize];
        (std::mem::take(&mut frame.dirty_since) != 0).then_some(frame.page)
    }

    /// Lets the page of a frame go.
    #[inline]
    fn leave(&mut self, number: u32) {
        self.unlink(number);
        self.frame_of[self.frames[number as usize].page as usize] = NONE;
        self.free.push(number);
        self.left = self.left.wrapping_add(1);
    }

    /// The changed page whose first change is the oldest, if that was before `limit`; it counts as
    /// written.
    pub(super) fn pop_changed_before(&mut self, limit: Age) -> Option<u32> {
        while let Some((number, since)) = self.changed.front().copied() {
            if since >= limit {
                return None;
            }
            self.changed.pop_front();
            let frame = &mut self.frames[number as usize];
            if frame.dirty_since == since {
                frame.dirty_since = 0;
                return Some(frame.page);
            }
        }
        None
    }

    /// Looks for `pages` ahead of their use: the processor waits for memory once for all of them, and not
    /// for each.
    #[inline]
    pub(super) fn look_ahead(&self, pages: &[u32]) {
        // The last frame stands for none, without a branch.
        let Some(last) = self.frames.len().checked_sub(1) else { return };
        let frame = |page: &u32| self.frames[last.min(self.frame_of[*page as usize] as usize)];
        std::hint::black_box(pages.iter().fold(0, |all, page| all ^ frame(page).left_before));
    }

    /// The frame of `page`.
    #[inline]
    fn bring(&mut self, page: u32, is_new: bool) -> u32 {
        let number = self.frame_of[page as usize];
        if number == NONE {
            return self.load(page, is_new);
        }
        let frame = &self.frames[number as usize];
        if frame.is_old {
            self.unlink(number);
            self.push_young(number);
            self.balance();
        } else if self.left.wrapping_sub(frame.left_before) as usize > self.capacity / 4 {
            self.unlink(number);
            self.push_young(number);
        }
        number
    }

    #[inline(never)]
    fn load(&mut self, page: u32, is_new: bool) -> u32 {
        let frame =
            Frame { page, newer: NONE, older: NONE, left_before: 0, dirty_since: 0, is_old: false };
        let number = if let Some(number) = self.free.pop() {
            self.frames[number as usize] = frame;
            number
        } else {
            self.frames.push(frame);
            self.frames.len() as u32 - 1
        };
        self.frame_of[page as usize] = number;
        if is_new || self.old_share == 0.0 {
            self.push_young(number);
        } else {
            self.push_old(number);
        }
        self.balance();
        number
    }

    /// Moves the border between the lists, so that the old one has its share.
    #[inline]
    fn balance(&mut self) {
        let old = (self.old_share * self.length() as f64) as usize;
        while self.old.length > old {
            let number = self.old.newest;
            self.unlink(number);
            self.frames[number as usize].is_old = false;
            self.young = link(&mut self.frames, self.young, number);
            // Behind all others: the newest is who was it before.
            if self.young.length > 1 {
                self.young.newest = self.frames[number as usize].older;
            }
        }
        while self.old.length < old && self.young.length > 0 {
            let number = self.frames[self.young.newest as usize].newer;
            self.unlink(number);
            self.push_old(number);
        }
    }

    #[inline]
    fn push_young(&mut self, number: u32) {
        let frame = &mut self.frames[number as usize];
        (frame.is_old, frame.left_before) = (false, self.left);
        self.young = link(&mut self.frames, self.young, number);
    }

    #[inline]
    fn push_old(&mut self, number: u32) {
        self.frames[number as usize].is_old = true;
        self.old = link(&mut self.frames, self.old, number);
    }

    /// Takes a frame out of its ring.
    #[inline]
    fn unlink(&mut self, number: u32) {
        let Frame { newer, older, is_old, .. } = self.frames[number as usize];
        self.frames[newer as usize].older = older;
        self.frames[older as usize].newer = newer;
        let ring = if is_old { &mut self.old } else { &mut self.young };
        ring.length -= 1;
        if ring.newest == number {
            ring.newest = if ring.length == 0 { NONE } else { older };
        }
    }
}

/// Puts a frame, which is in no ring, in front of the newest of `ring`.
#[inline]
fn link(frames: &mut [Frame], ring: Ring, number: u32) -> Ring {
    let (older, newer) = if ring.length == 0 {
        (number, number)
    } else {
        (ring.newest, frames[ring.newest as usize].newer)
    };
    let frame = &mut frames[number as usize];
    (frame.older, frame.newer) = (older, newer);
    frames[older as usize].newer = number;
    frames[newer as usize].older = number;
    Ring { newest: number, length: ring.length + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    /// The naive twin: lists from the newest to the oldest.
    struct Naive {
        young: Vec<NaivePage>,
        old: Vec<NaivePage>,
        left: u32,
        capacity: usize,
        old_share: f64,
    }

    #[derive(Clone, Copy)]
    struct NaivePage {
        page: u32,
        left_before: u32,
        since: Age,
    }

    impl Naive {
        fn use_page(&mut self, page: u32, is_new: bool, now: Option<Age>) {
            let touch = |used: &mut NaivePage| {
                used.since = if used.since == 0 { now.unwrap_or(0) } else { used.since };
            };
            let newest = NaivePage { page, left_before: self.left, since: now.unwrap_or(0) };
            if let Some(place) = self.old.iter().position(|other| other.page == page) {
                touch(&mut self.old[place]);
                let used = self.old.remove(place);
                self.young.insert(0, NaivePage { left_before: self.left, ..used });
            } else if let Some(place) = self.young.iter().position(|other| other.page == page) {
                touch(&mut self.young[place]);
                if (self.left - self.young[place].left_before) as usize > self.capacity / 4 {
                    let used = self.young.remove(place);
                    self.young.insert(0, NaivePage { left_before: self.left, ..used });
                }
            } else if is_new || self.old_share == 0.0 {
                self.young.insert(0, newest);
            } else {
                self.old.insert(0, NaivePage { left_before: 0, ..newest });
            }
            self.balance();
        }

        fn balance(&mut self) {
            let old = (self.old_share * (self.young.len() + self.old.len()) as f64) as usize;
            while self.old.len() > old {
                self.young.push(self.old.remove(0));
            }
            while self.old.len() < old && !self.young.is_empty() {
                self.old.insert(0, self.young.pop().unwrap());
            }
        }

        fn evict(&mut self) -> Option<u32> {
            let oldest = self.old.pop().or_else(|| self.young.pop())?;
            self.left += 1;
            self.balance();
            (oldest.since > 0).then_some(oldest.page)
        }

        fn clean(&mut self, pages: usize) -> Vec<u32> {
            let mut written = Vec::new();
            let mut leaving = pages;
            for list in [&mut self.old, &mut self.young] {
                let mut place = list.len();
                while place > 0 && leaving > 0 {
                    place -= 1;
                    if list[place].since > 0 {
                        list[place].since = 0;
                        written.push(list[place].page);
                    } else {
                        list.remove(place);
                        self.left += 1;
                        leaving -= 1;
                    }
                }
            }
            self.balance();
            written
        }

        fn pop_changed_before(&mut self, limit: Age) -> Option<u32> {
            let all = self.young.iter_mut().chain(&mut self.old);
            let changed = all.filter(|page| (1..limit).contains(&page.since));
            let oldest = changed.min_by_key(|page| page.since)?;
            oldest.since = 0;
            Some(oldest.page)
        }
    }

    #[test]
    fn the_pool_equals_its_naive_twin() {
        for (old_share, batch) in [(0.0, 0), (0.375, 0), (0.9, 0), (0.0, 5), (0.375, 5), (0.9, 9)] {
            let mut random = SplitMix64::seed_from_u64(3);
            let mut pool = Pool::new(13, old_share, 60);
            let (young, old) = (Vec::new(), Vec::new());
            let mut naive = Naive { young, old, left: 0, capacity: 13, old_share };
            for now in 1..20_000_u64 {
                let drawn = random.next_u64();
                // Squared, so that some pages are hot.
                let page = ((drawn % 60) * (drawn / 60 % 60) / 60) as u32;
                let is_new = (drawn >> 50).is_multiple_of(8);
                match drawn >> 62 {
                    0 | 1 => {
                        pool.change(page, is_new, now);
                        naive.use_page(page, is_new, Some(now));
                    }
                    2 => {
                        pool.read(page);
                        naive.use_page(page, false, None);
                    }
                    _ => {
                        let limit = now.saturating_sub(40);
                        let expected = naive.pop_changed_before(limit);
                        assert_eq!(pool.pop_changed_before(limit), expected, "at {now}");
                    }
                }
                let excess = pool.excess();
                assert_eq!(excess, (naive.young.len() + naive.old.len()).saturating_sub(13));
                if excess > 0 && batch > 0 {
                    let mut written = Vec::new();
                    pool.clean(excess + batch, |page| written.push(page));
                    assert_eq!(written, naive.clean(excess + batch), "at {now}, {old_share}");
                } else {
                    // Two at a time now and then, as many as have to leave otherwise.
                    for _ in 0..excess * (1 + usize::from(now.is_multiple_of(3))) {
                        assert_eq!(pool.evict(), naive.evict(), "at {now}, {old_share}");
                    }
                }
            }
        }
    }
}

//! The buffer pool: which database pages are in memory, and which of those have changed.

use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

/// When a page was first changed: sectors of redo log written by then, plus 1; 0 for never.
type Age = u64;

/// What the pool knows of a page in memory.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// [`NONE`] in a gap, where the page has left or was moved.
    page: u32,
    /// Pages that had left the pool when this one came to the front of the young list.
    left_before: u32,
    dirty_since: Age,
}

const GAP: Frame = Frame { page: NONE, left_before: 0, dirty_since: 0 };

/// All frames, and which of them each page is in.
#[derive(Debug, Clone)]
struct Frames {
    all: Vec<Frame>,
    /// Frame of each page of the database; [`NONE`] where it is not in memory.
    of_page: Vec<u32>,
}

impl Frames {
    /// The frame of a page, if it is in memory.
    #[inline]
    fn get_mut(&mut self, page: u32) -> Option<&mut Frame> {
        self.all.get_mut(self.of_page[page as usize] as usize)
    }

    /// Puts a page into the frame `number`, which it returns.
    #[inline]
    fn put(&mut self, number: u32, frame: Frame) -> u32 {
        self.all[number as usize] = frame;
        self.of_page[frame.page as usize] = number;
        number
    }
}

/// A list of pages, from the oldest to the newest: places from `oldest` to below `end`, with gaps among
/// them, which go round in a part of the frames.
#[derive(Debug, Clone, Copy)]
struct List {
    first_frame: u32,
    mask: u32,
    oldest: u32,
    end: u32,
    pages: usize,
}

impl List {
    /// A list of at most `pages` pages in the frames from `first_frame` on, with as much room for gaps.
    fn new(first_frame: u32, pages: usize) -> Self {
        let frames = (2 * pages).next_power_of_two();
        let mask = u32::try_from(frames - 1).expect("a pool of at most POOL_PAGES_MAX pages");
        Self { first_frame, mask, oldest: 0, end: 0, pages: 0 }
    }

    /// One past its last frame.
    fn end_frame(&self) -> u32 {
        self.first_frame + self.mask + 1
    }

    /// The frame of a place.
    #[inline]
    fn frame(&self, place: u32) -> u32 {
        self.first_frame + (place & self.mask)
    }

    /// Puts a page in front of the newest; returns its frame.
    #[inline]
    fn push_newest(&mut self, frame: Frame, frames: &mut Frames) -> u32 {
        self.make_room(frames);
        self.pages += 1;
        self.end = self.end.wrapping_add(1);
        frames.put(self.frame(self.end.wrapping_sub(1)), frame)
    }

    /// Puts a page behind the oldest.
    #[inline]
    fn push_oldest(&mut self, frame: Frame, frames: &mut Frames) {
        self.make_room(frames);
        self.pages += 1;
        self.oldest = self.oldest.wrapping_sub(1);
        frames.put(self.frame(self.oldest), frame);
    }

    /// Takes the oldest page, of at least one.
    #[inline]
    fn take_oldest(&mut self, frames: &Frames) -> Frame {
        self.pages -= 1;
        loop {
            let frame = frames.all[self.frame(self.oldest) as usize];
            self.oldest = self.oldest.wrapping_add(1);
            if frame.page != NONE {
                return frame;
            }
        }
    }

    /// Takes the newest page, of at least one.
    #[inline]
    fn take_newest(&mut self, frames: &Frames) -> Frame {
        self.pages -= 1;
        loop {
            self.end = self.end.wrapping_sub(1);
            let frame = frames.all[self.frame(self.end) as usize];
            if frame.page != NONE {
                return frame;
            }
        }
    }

    #[inline]
    fn make_room(&mut self, frames: &mut Frames) {
        if self.end.wrapping_sub(self.oldest) > self.mask {
            self.close_gaps(frames);
        }
    }

    /// Closes the gaps.
    #[cold]
    fn close_gaps(&mut self, frames: &mut Frames) {
        let oldest = std::mem::replace(&mut self.oldest, self.end);
        // From the newest on, so that none is overwritten before its turn.
        let mut place = self.end;
        while place != oldest {
            place = place.wrapping_sub(1);
            let frame = frames.all[self.frame(place) as usize];
            if frame.page != NONE {
                self.oldest = self.oldest.wrapping_sub(1);
                frames.put(self.frame(self.oldest), frame);
            }
        }
    }
}

/// Pages in memory, in arrays and in amortised O(1): a young list, from which the page not used for longest goes
/// to the old list, at whose end pages leave.
///
/// Pages that a transaction makes begin young. Pages that are read begin old, and become young when they are
/// used again: InnoDB's midpoint insertion, but for the second that it waits before. Without an old list all
/// pages are young: that is LRU.
///
/// As in InnoDB, a page is not moved to the front if fewer pages have left since it was there than a quarter
/// of the young list may have: it is close to it.
///
/// The frames of a list lie in its order. A page that leaves or is moved leaves a gap; where gaps have
/// used up all room, they are closed.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    frames: Frames,
    young: List,
    old: List,
    /// Pages that have left the pool.
    left: u32,
    capacity: usize,
    /// A quarter of the young pages of a full pool.
    quarter: u32,
    old_share: f64,
    /// Pages in the order in which they were first changed, with some that are not changed any more.
    changed: VecDeque<(u32, Age)>,
}

impl Pool {
    /// A pool of `capacity` pages, a share of them old, of a database of at most `pages`.
    pub(super) fn new(capacity: usize, old_share: f64, pages: usize) -> Self {
        // One more before others leave, and another if all of those have changed.
        let most = capacity.min(pages) + 2;
        let young = List::new(0, most);
        let old = List::new(young.end_frame(), if old_share > 0.0 { most } else { 0 });
        Self {
            frames: Frames { all: vec![GAP; old.end_frame() as usize], of_page: vec![NONE; pages] },
            young,
            old,
            left: 0,
            capacity,
            quarter: ((1.0 - old_share) * capacity as f64 / 4.0) as u32,
            old_share,
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
        let dirty_since = &mut self.frames.all[frame as usize].dirty_since;
        if *dirty_since == 0 {
            *dirty_since = now;
            self.changed.push_back((page, now));
        }
    }

    /// Pages beyond the capacity: there is room for them, but some have to leave.
    #[inline]
    pub(super) fn excess(&self) -> usize {
        self.length().saturating_sub(self.capacity)
    }

    #[inline]
    fn length(&self) -> usize {
        self.young.pages + self.old.pages
    }

    /// Lets the page go whose turn it is; returns it if it has changed.
    pub(super) fn evict(&mut self) -> Option<u32> {
        if self.length() == 0 {
            return None;
        }
        let list = if self.old.pages > 0 { &mut self.old } else { &mut self.young };
        let frame = list.take_oldest(&self.frames);
        self.frames.of_page[frame.page as usize] = NONE;
        self.left = self.left.wrapping_add(1);
        self.balance();
        (frame.dirty_since != 0).then_some(frame.page)
    }

    /// Passes over pages, the oldest first, until `pages` have left or all have been passed: those that
    /// have changed are given to `write` and stay, and others leave.
    pub(super) fn clean(&mut self, pages: usize, mut write: impl FnMut(u32)) {
        let mut leaving = pages;
        for list in [&mut self.old, &mut self.young] {
            let mut place = list.oldest;
            while place != list.end && leaving > 0 {
                let frame = &mut self.frames.all[list.frame(place) as usize];
                place = place.wrapping_add(1);
                if frame.dirty_since != 0 {
                    frame.dirty_since = 0;
                    write(frame.page);
                } else if frame.page != NONE {
                    self.frames.of_page[frame.page as usize] = NONE;
                    *frame = GAP;
                    list.pages -= 1;
                    self.left = self.left.wrapping_add(1);
                    leaving -= 1;
                }
                // Gaps in front of the oldest that stays are not passed again.
                if frame.page == NONE && place == list.oldest.wrapping_add(1) {
                    list.oldest = place;
                }
            }
        }
        self.balance();
    }

    /// The changed page whose first change is the oldest, if that was before `limit`; it counts as
    /// written.
    pub(super) fn pop_changed_before(&mut self, limit: Age) -> Option<u32> {
        while let Some((page, since)) = self.changed.front().copied() {
            if since >= limit {
                return None;
            }
            self.changed.pop_front();
            let frame = self.frames.get_mut(page);
            if let Some(frame) = frame.filter(|frame| frame.dirty_since == since) {
                frame.dirty_since = 0;
                return Some(page);
            }
        }
        None
    }

    /// Looks for `pages` ahead of their use: the processor waits for memory once for all of them, and not
    /// for each.
    #[inline]
    pub(super) fn look_ahead(&self, pages: &[u32]) {
        let Frames { all, of_page } = &self.frames;
        let frame = |page: &u32| all[(of_page[*page as usize] as usize).min(all.len() - 1)];
        std::hint::black_box(pages.iter().fold(0, |all, page| all ^ frame(page).left_before));
    }

    /// The frame of `page`.
    #[inline]
    fn bring(&mut self, page: u32, is_new: bool) -> u32 {
        let number = self.frames.of_page[page as usize];
        let Some(frame) = self.frames.all.get_mut(number as usize) else {
            return self.load(page, is_new);
        };
        if number >= self.old.first_frame {
            let frame = std::mem::replace(frame, GAP);
            self.old.pages -= 1;
            self.push_young(frame);
            self.balance();
            return self.frames.of_page[page as usize];
        }
        if self.left.wrapping_sub(frame.left_before) > self.quarter {
            let frame = std::mem::replace(frame, GAP);
            self.young.pages -= 1;
            return self.push_young(frame);
        }
        number
    }

    #[inline(never)]
    fn load(&mut self, page: u32, is_new: bool) -> u32 {
        let frame = Frame { page, ..GAP };
        if self.old_share == 0.0 {
            return self.push_young(frame);
        }
        if is_new {
            self.push_young(frame);
        } else {
            self.old.push_newest(frame, &mut self.frames);
        }
        self.balance();
        self.frames.of_page[page as usize]
    }

    /// Makes a page the newest of all; returns its frame.
    #[inline]
    fn push_young(&mut self, frame: Frame) -> u32 {
        self.young.push_newest(Frame { left_before: self.left, ..frame }, &mut self.frames)
    }

    /// Moves the border between the lists, so that the old one has its share.
    #[inline]
    fn balance(&mut self) {
        if self.old_share == 0.0 {
            return;
        }
        let old = (self.old_share * self.length() as f64) as usize;
        while self.old.pages > old {
            let frame = self.old.take_newest(&self.frames);
            self.young.push_oldest(frame, &mut self.frames);
        }
        while self.old.pages < old && self.young.pages > 0 {
            let frame = self.young.take_oldest(&self.frames);
            self.old.push_newest(frame, &mut self.frames);
        }
    }
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
                if self.left - self.young[place].left_before > self.quarter() {
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

        fn quarter(&self) -> u32 {
            ((1.0 - self.old_share) * self.capacity as f64 / 4.0) as u32
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

//! The buffer pool: which database pages are in memory, and which of those have changed.

use std::collections::VecDeque;
use std::hint::{black_box, select_unpredictable};

/// Room is made after each block of uses: one use for every 64 pages of the pool, 256 at most.
const PAGES_PER_USE: usize = 64;
const BLOCK_USES_MAX: usize = 256;

/// Sectors of redo log written by then, plus 1.
pub(super) type Moment = u64;

#[derive(Debug, Clone, Copy)]
pub(super) struct PageUse {
    pub(super) page: u32,
    /// Whether it has just been made.
    pub(super) is_new: bool,
    /// When it is changed; 0 if it is read.
    pub(super) changed: Moment,
}

/// What the pool knows of a page of the database.
#[derive(Debug, Clone, Copy)]
struct Page {
    /// The move that brought it to where it is: a tag in the lowest bits, and when it was.
    last_move: u32,
    /// When it was first changed, as a [`mark`]; 0 if it has not changed.
    dirty: u32,
}

/// To the front of the young list; when is how many pages had left by then.
const FRONT: u32 = 0;
/// Into the old list; when is in which block of uses.
const OLD: u32 = 1;
/// From the old list to the end of the young one; when is in which block of uses.
const BACK: u32 = 2;
/// It is not in memory.
const ABSENT: u32 = 3;

const TAG_BITS: u32 = 2;
const TAG: u32 = (1 << TAG_BITS) - 1;

/// What is kept of the moment of a change: not 0, and another for every other moment in 1 TiB of log.
#[inline]
fn mark(moment: Moment) -> u32 {
    moment as u32 | 1 << 31
}

/// Prefetches what is known of the pages `numbers`, so that the processor waits for memory once for all of
/// them, and not for each.
fn prefetch(pages: &[Page], numbers: impl Iterator<Item = u32>) {
    black_box(numbers.fold(0, |sum, number| sum ^ pages[number as usize].last_move));
}

/// A page that was moved to this place of a list. It is still here if the move was its last: no page comes to a
/// list twice in the same way at the same time.
#[derive(Debug, Clone, Copy)]
struct ListEntry {
    page: u32,
    last_move: u32,
}

/// A list of pages, from the oldest to the newest: entries from `oldest` to below `end`, in a ring. Pages that
/// have left, or have been moved elsewhere, leave a gap.
#[derive(Debug, Clone)]
struct List {
    entries: Vec<ListEntry>,
    oldest: u32,
    end: u32,
    pages: usize,
}

impl List {
    /// A list of at most `pages` pages, with as much room for gaps.
    fn new(pages: usize) -> Self {
        let entries =
            vec![ListEntry { page: 0, last_move: ABSENT }; (2 * pages).next_power_of_two()];
        Self { entries, oldest: 0, end: 0, pages: 0 }
    }

    #[inline]
    fn entry(&self, number: u32) -> ListEntry {
        self.entries[number as usize & (self.entries.len() - 1)]
    }

    #[inline]
    fn set(&mut self, number: u32, entry: ListEntry) {
        let mask = self.entries.len() - 1;
        self.entries[number as usize & mask] = entry;
    }

    /// Takes the page that [`List::entry`] finds at one of the ends, or skips the gap there.
    fn take(&mut self, entry: ListEntry, pages: &[Page]) -> Option<u32> {
        let is_here = pages[entry.page as usize].last_move == entry.last_move;
        self.pages -= usize::from(is_here);
        is_here.then_some(entry.page)
    }

    /// Takes the oldest page, of at least one.
    fn take_oldest(&mut self, pages: &[Page]) -> u32 {
        loop {
            self.oldest = self.oldest.wrapping_add(1);
            if let Some(page) = self.take(self.entry(self.oldest.wrapping_sub(1)), pages) {
                return page;
            }
        }
    }

    /// Takes the newest page, of at least one.
    fn take_newest(&mut self, pages: &[Page]) -> u32 {
        loop {
            self.end = self.end.wrapping_sub(1);
            if let Some(page) = self.take(self.entry(self.end), pages) {
                return page;
            }
        }
    }

    /// Puts a page before the newest, where it is the newest.
    fn push_newest(&mut self, entry: ListEntry, pages: &mut [Page]) {
        self.reserve(1, pages);
        pages[entry.page as usize].last_move = entry.last_move;
        self.set(self.end, entry);
        self.end = self.end.wrapping_add(1);
        self.pages += 1;
    }

    /// Puts a page after the oldest, where it is the oldest.
    fn push_oldest(&mut self, entry: ListEntry, pages: &mut [Page]) {
        self.reserve(1, pages);
        pages[entry.page as usize].last_move = entry.last_move;
        self.oldest = self.oldest.wrapping_sub(1);
        self.set(self.oldest, entry);
        self.pages += 1;
    }

    /// Makes sure that there is room for `entries` more.
    fn reserve(&mut self, entries: usize, pages: &[Page]) {
        let used = self.end.wrapping_sub(self.oldest) as usize;
        if used + entries > self.entries.len() {
            self.close_gaps(pages);
        }
    }

    #[cold]
    fn close_gaps(&mut self, pages: &[Page]) {
        let mut end = self.oldest;
        for number in 0..self.end.wrapping_sub(self.oldest) {
            let entry = self.entry(self.oldest.wrapping_add(number));
            if pages[entry.page as usize].last_move == entry.last_move {
                self.set(end, entry);
                end = end.wrapping_add(1);
            }
        }
        self.end = end;
    }
}

/// Pages in memory, in arrays and in amortised O(1): a young list, from which the page not used for longest goes
/// to the old list, at whose end pages leave.
///
/// Pages that a transaction makes begin young. Pages that are read begin old, and become young when they are
/// used again: InnoDB's midpoint insertion without its delay of a second. Without an old list all
/// pages are young: that is LRU.
///
/// As in InnoDB, a page that is still close to the front is not moved there: since it was moved there last, no
/// more pages have left than a quarter of the young list holds.
///
/// Room is made after each block of uses ([`Pool::block_uses`]), as if a frame were kept free for each of them.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    pages: Vec<Page>,
    young: List,
    old: List,
    capacity: usize,
    old_share: f64,
    /// Pages that leave at a time, beside those that are too many; 0 for those alone.
    batch: usize,
    /// Pages that have left.
    left: u32,
    /// Blocks of uses so far.
    blocks: u32,
    /// A quarter of the young pages of a full pool.
    quarter: u32,
    /// Pages in the order in which they were first changed, with some that are not changed any more.
    changed: VecDeque<(u32, Moment)>,
    /// The last of them, which are not yet there, and how many they are.
    changing: Vec<(u32, Moment)>,
    changing_pages: usize,
}

impl Pool {
    /// A pool of `capacity` pages, a share of them old, of a database of at most `pages`. Once it is full, pages
    /// leave that are too many, and a `batch` of others at the same time.
    pub(super) fn new(capacity: usize, old_share: f64, batch: usize, pages: usize) -> Self {
        let uses = (capacity / PAGES_PER_USE).clamp(1, BLOCK_USES_MAX);
        // As many more as are used before others leave, twice if all of those have changed.
        let most = capacity.min(pages) + 2 * uses;
        Self {
            pages: vec![Page { last_move: ABSENT, dirty: 0 }; pages],
            young: List::new(most),
            old: List::new(if old_share > 0.0 { most } else { uses }),
            capacity,
            old_share,
            batch,
            left: 0,
            blocks: 0,
            quarter: ((1.0 - old_share) * capacity as f64 / 4.0) as u32,
            changed: VecDeque::new(),
            changing: vec![(0, 0); uses],
            changing_pages: 0,
        }
    }

    /// Uses of pages at most before [`Pool::make_room`].
    pub(super) fn block_uses(&self) -> usize {
        self.changing.len()
    }

    /// Whether a page is not in memory.
    pub(super) fn is_absent(&self, page: u32) -> bool {
        self.pages[page as usize].last_move == ABSENT
    }

    /// Prefetches what is known of pages that will be used soon.
    pub(super) fn prefetch(&self, pages: impl Iterator<Item = u32>) {
        prefetch(&self.pages, pages);
    }

    /// Uses pages, one after the other.
    pub(super) fn use_pages(&mut self, uses: impl Iterator<Item = PageUse>) {
        let (front, quarter) = (self.left << TAG_BITS | FRONT, self.quarter);
        let into_old = self.blocks << TAG_BITS | OLD;
        let has_old = self.old_share > 0.0;
        let Self { pages, young, old, changing, changing_pages, .. } = self;
        let (pages, entries, changing) =
            (&mut pages[..], &mut young.entries[..], &mut changing[..]);
        let mask = entries.len() - 1;
        let (mut end, mut young_pages, mut dirtied) = (young.end, young.pages, *changing_pages);
        for PageUse { page, is_new, changed } in uses {
            // Without branches that depend on the page, which the processor would mispredict.
            let known = &mut pages[page as usize];
            let Page { last_move, dirty } = *known;
            let is_dirtied = changed != 0 && dirty == 0;
            changing[dirtied] = (page, changed);
            dirtied += usize::from(is_dirtied);
            known.dirty = select_unpredictable(is_dirtied, mark(changed), dirty);

            let is_absent = last_move == ABSENT;
            if has_old {
                if is_absent && !is_new {
                    let entry = ListEntry { page, last_move: into_old };
                    known.last_move = entry.last_move;
                    old.set(old.end, entry);
                    old.end = old.end.wrapping_add(1);
                    old.pages += 1;
                    continue;
                }
                let is_old = last_move & TAG == OLD;
                old.pages -= usize::from(is_old);
                young_pages += usize::from(is_old);
            }
            // Pages that have left since it came to the front: very many with another tag.
            let is_close = front.wrapping_sub(last_move).rotate_right(TAG_BITS) <= quarter;
            known.last_move = select_unpredictable(is_close, last_move, front);
            // If it is close to the front and stays, `end` does not advance, and this entry does not count.
            entries[end as usize & mask] = ListEntry { page, last_move: front };
            end = end.wrapping_add(u32::from(!is_close));
            young_pages += usize::from(is_absent);
        }
        (young.end, young.pages, *changing_pages) = (end, young_pages, dirtied);
    }

    /// Appends the changed pages that are written now to `written`: those whose first change was before
    /// `limit`, and those of the pages that leave since there are too many. True if these were a batch.
    pub(super) fn make_room(&mut self, limit: Moment, written: &mut Vec<u32>) -> bool {
        self.write_changed_before(limit, written);
        let excess = (self.young.pages + self.old.pages).saturating_sub(self.capacity);
        let is_batch = self.batch > 0 && excess > 0;
        if is_batch {
            self.clean(excess + self.batch, written);
        } else {
            self.evict(excess, written);
        }
        self.blocks = self.blocks.wrapping_add(1);
        self.balance();
        for list in [&mut self.old, &mut self.young] {
            list.reserve(self.changing.len(), &self.pages);
        }
        is_batch
    }

    /// Writes pages whose first change was before `limit`, the one with the oldest first: they are not changed
    /// any more.
    fn write_changed_before(&mut self, limit: Moment, written: &mut Vec<u32>) {
        let Self { pages, changed, changing, .. } = self;
        changed.extend(&changing[..self.changing_pages]);
        self.changing_pages = 0;
        let due = changed.iter().take_while(|(_, since)| *since < limit).count();
        for (page, since) in changed.drain(..due) {
            let dirty = &mut pages[page as usize].dirty;
            if *dirty == mark(since) {
                *dirty = 0;
                written.push(page);
            }
        }
    }

    /// Evicts `count` pages, the oldest first; those that have changed are written.
    fn evict(&mut self, count: usize, written: &mut Vec<u32>) {
        let (mut gone, mut changed) = (0, written.len());
        written.resize(changed + count, 0);
        let (written_pages, pages) = (&mut written[..], &mut self.pages[..]);
        for list in [&mut self.old, &mut self.young] {
            let end = count.min(gone + list.pages);
            list.pages -= end - gone;
            let mut oldest = list.oldest;
            let next =
                (0..(end - gone) as u32).map(|number| list.entry(oldest.wrapping_add(number)));
            prefetch(pages, next.map(|entry| entry.page));
            while gone < end {
                let ListEntry { page, last_move } = list.entry(oldest);
                oldest = oldest.wrapping_add(1);
                let known = &mut pages[page as usize];
                let is_here = known.last_move == last_move;
                written_pages[changed] = page;
                changed += usize::from(is_here && known.dirty != 0);
                gone += usize::from(is_here);
                known.last_move = select_unpredictable(is_here, ABSENT, known.last_move);
                known.dirty = select_unpredictable(is_here, 0, known.dirty);
            }
            list.oldest = oldest;
        }
        written.truncate(changed);
        self.left = self.left.wrapping_add(gone as u32);
    }

    /// Goes through the pages, the oldest first, until `count` have left or none remains: pages that have
    /// changed are written and stay, others leave.
    fn clean(&mut self, count: usize, written: &mut Vec<u32>) {
        let mut gone = 0;
        for list in [&mut self.old, &mut self.young] {
            let mut number = list.oldest;
            while number != list.end && gone < count {
                let ListEntry { page, last_move } = list.entry(number);
                number = number.wrapping_add(1);
                let known = &mut self.pages[page as usize];
                if known.last_move == last_move && known.dirty != 0 {
                    known.dirty = 0;
                    written.push(page);
                    continue;
                }
                if known.last_move == last_move {
                    known.last_move = ABSENT;
                    list.pages -= 1;
                    gone += 1;
                }
                // Gaps before the oldest that stays are not visited again.
                if number == list.oldest.wrapping_add(1) {
                    list.oldest = number;
                }
            }
        }
        self.left = self.left.wrapping_add(gone as u32);
    }

    /// Moves the border between the lists, so that the old one has its share.
    fn balance(&mut self) {
        let old = (self.old_share * (self.young.pages + self.old.pages) as f64) as usize;
        let block = self.blocks << TAG_BITS;
        while self.old.pages > old {
            let page = self.old.take_newest(&self.pages);
            self.young.push_oldest(ListEntry { page, last_move: block | BACK }, &mut self.pages);
        }
        while self.old.pages < old && self.young.pages > 0 {
            let page = self.young.take_oldest(&self.pages);
            self.old.push_newest(ListEntry { page, last_move: block | OLD }, &mut self.pages);
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
        batch: usize,
    }

    #[derive(Clone, Copy)]
    struct NaivePage {
        page: u32,
        /// `None` where it did not come to the front.
        left_before: Option<u32>,
        since: Moment,
    }

    impl Naive {
        fn use_page(&mut self, PageUse { page, is_new, changed }: PageUse) {
            let touch = |used: &mut NaivePage| {
                used.since = if used.since == 0 { changed } else { used.since };
            };
            let newest = NaivePage { page, left_before: Some(self.left), since: changed };
            if let Some(place) = self.old.iter().position(|other| other.page == page) {
                touch(&mut self.old[place]);
                let used = self.old.remove(place);
                self.young.insert(0, NaivePage { left_before: Some(self.left), ..used });
            } else if let Some(place) = self.young.iter().position(|other| other.page == page) {
                touch(&mut self.young[place]);
                let close = |before: u32| self.left - before <= self.quarter();
                if !self.young[place].left_before.is_some_and(close) {
                    let used = self.young.remove(place);
                    self.young.insert(0, NaivePage { left_before: Some(self.left), ..used });
                }
            } else if is_new || self.old_share == 0.0 {
                self.young.insert(0, newest);
            } else {
                self.old.insert(0, newest);
            }
        }

        fn quarter(&self) -> u32 {
            ((1.0 - self.old_share) * self.capacity as f64 / 4.0) as u32
        }

        fn make_room(&mut self, limit: Moment) -> Vec<u32> {
            let all = self.young.iter_mut().chain(&mut self.old);
            let mut due: Vec<_> = all.filter(|page| (1..limit).contains(&page.since)).collect();
            due.sort_by_key(|page| page.since);
            let mut written: Vec<_> = due.iter().map(|page| page.page).collect();
            for page in due {
                page.since = 0;
            }
            let excess = (self.young.len() + self.old.len()).saturating_sub(self.capacity);
            if self.batch == 0 {
                (0..excess).for_each(|_| self.evict(&mut written));
            } else if excess > 0 {
                self.clean(excess + self.batch, &mut written);
            }
            self.balance();
            written
        }

        fn evict(&mut self, written: &mut Vec<u32>) {
            let oldest = self.old.pop().or_else(|| self.young.pop()).unwrap();
            self.left += 1;
            written.extend((oldest.since > 0).then_some(oldest.page));
        }

        fn clean(&mut self, count: usize, written: &mut Vec<u32>) {
            let mut leaving = count;
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
        }

        fn balance(&mut self) {
            let old = (self.old_share * (self.young.len() + self.old.len()) as f64) as usize;
            while self.old.len() > old {
                self.young.push(NaivePage { left_before: None, ..self.old.remove(0) });
            }
            while self.old.len() < old && !self.young.is_empty() {
                self.old.insert(0, self.young.pop().unwrap());
            }
        }
    }

    /// What is done at a time: some pages hot, a quarter of them read, an eighth new.
    fn draw_uses(
        random: &mut SplitMix64,
        pages: u64,
        count: usize,
        now: &mut Moment,
    ) -> Vec<PageUse> {
        let draw = || {
            *now += 1;
            let drawn = random.next_u64();
            PageUse {
                page: ((drawn % pages) * (drawn / pages % pages) / pages) as u32,
                is_new: (drawn >> 50).is_multiple_of(8),
                changed: if drawn >> 62 == 0 { 0 } else { *now },
            }
        };
        std::iter::repeat_with(draw).take(count).collect()
    }

    #[test]
    fn the_pool_equals_its_naive_twin() {
        for (capacity, pages) in [(13, 60), (300, 1_500)] {
            for (old_share, batch) in
                [(0.0, 0), (0.375, 0), (0.9, 0), (0.0, 5), (0.375, 5), (0.9, 9)]
            {
                let mut random = SplitMix64::seed_from_u64(3);
                let mut pool = Pool::new(capacity, old_share, batch, pages);
                assert_eq!(pool.block_uses(), if capacity == 13 { 1 } else { 4 });
                let (young, old) = (Vec::new(), Vec::new());
                let mut naive = Naive { young, old, left: 0, capacity, old_share, batch };
                let mut now = 0;
                for turn in 0..20_000 {
                    // Not as many as possible each time.
                    let count =
                        pool.block_uses() - usize::from(pool.block_uses() > 1 && turn % 3 == 0);
                    let uses = draw_uses(&mut random, pages as u64, count, &mut now);
                    pool.prefetch(uses.iter().map(|next| next.page));
                    pool.use_pages(uses.iter().copied());
                    for next in uses {
                        naive.use_page(next);
                    }
                    // Whatever is changed is written late, soon, or after a while.
                    let limit = now.saturating_sub([3, 40, 4_000][turn / 200 % 3]);
                    let mut written = Vec::new();
                    let is_batch = pool.make_room(limit, &mut written);
                    assert_eq!(written, naive.make_room(limit), "{turn}, {old_share}, {batch}");
                    assert!(batch > 0 || !is_batch);
                }
                assert_eq!(pool.young.pages, naive.young.len());
                assert_eq!(pool.old.pages, naive.old.len());
            }
        }
    }
}

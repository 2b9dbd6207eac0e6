//! Entries in the order of their use, in two segments.
//!
//! An entry is on probation at first. When it is used again it becomes protected. If too many are, the one of them that
//! was used longest ago goes back to probation. The entry on probation that was used longest ago is the next to leave.
//! If none may be protected, this is plain LRU.
//!
//! The order is written down, not linked (`uses.rs`): a use costs one access to what is known of its page, and appends
//! to a list that nothing else waits for.

use crate::ensure::ensure;
use crate::map::index::Index;
use crate::map::uses::{CHANGED, PROTECTED, Uses};
use crate::{Archive, State, StateError};
use ftlab_flash::Lpn;

/// A cache of entries, one for each of some pages.
pub(super) struct SegmentedLru {
    /// Page -> its last use.
    last_use: Index,
    most: u32,
    probation: Uses,
    protected: Uses,
    protected_most: u32,
}

impl State for SegmentedLru {
    /// The pages of each segment in the order of their use, and those that have changed.
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let Self { last_use, most: _, probation, protected, protected_most: _ } = self;
        let [mut on_probation, mut under_protection] =
            [&*probation, &*protected].map(|uses| uses.entries(last_use).collect::<Vec<_>>());
        let held = || on_probation.iter().chain(&under_protection).copied();
        let is_changed = |page: &u32| last_use.get(*page) & CHANGED != 0;
        let mut changed = held().filter(is_changed).collect::<Vec<_>>();
        held().for_each(|page| last_use.remove(page));
        let lists = [
            ("on_probation", &mut on_probation),
            ("under_protection", &mut under_protection),
            ("changed", &mut changed),
        ];
        for (name, pages) in lists {
            archive.name(name)?;
            pages.transfer(archive)?;
        }
        probation.restore(&on_probation, last_use);
        protected.restore(&under_protection, last_use);
        for page in changed {
            if let Some(at) = last_use.get_mut(page) {
                *at |= CHANGED;
            }
        }
        Ok(())
    }
}

impl SegmentedLru {
    /// The most entries that a cache can have.
    pub(super) const ENTRIES_MAX: u32 = Uses::ENTRIES_MAX;

    /// A cache of at most `entries` entries, of which `protected` may be protected, for the pages of a drive; a small one
    /// takes memory for its entries only.
    pub(super) fn new(pages: u32, entries: u32, protected: u32, is_small: bool) -> Self {
        let most = entries.min(pages);
        let protected_most = protected.min(most);
        Self {
            last_use: Index::new(pages, is_small),
            most,
            probation: Uses::new(most, 0),
            protected: Uses::new(protected_most, PROTECTED),
            protected_most,
        }
    }

    /// Entries with a page.
    pub(super) fn len(&self) -> u32 {
        self.probation.len() + self.protected.len()
    }

    /// Whether an entry has to leave before another one comes.
    pub(super) fn is_full(&self) -> bool {
        self.len() == self.most
    }

    /// Uses the entry of `page`: whether there is one.
    #[inline]
    pub(super) fn touch(&mut self, page: Lpn) -> bool {
        let Self { last_use, probation, protected, protected_most, .. } = self;
        let to = if *protected_most > 0 { &mut *protected } else { &mut *probation };
        to.make_room(last_use);
        let Some(at) = last_use.get_mut(page.0) else { return false };
        let was_protected = *at & PROTECTED != 0;
        *at = to.push(page.0) | *at & CHANGED;
        // No branch, since which one is hard to foretell.
        protected.leave(was_protected);
        probation.leave(!was_protected);
        if protected.len() > *protected_most {
            self.demote();
        }
        true
    }

    /// Puts the entry of the protected that was used longest ago on probation again, as the newest one.
    fn demote(&mut self) {
        let Self { last_use, probation, protected, .. } = self;
        let Some(page) = protected.take_oldest(last_use) else { return };
        probation.make_room(last_use);
        if let Some(at) = last_use.get_mut(page) {
            *at = probation.push(page) | *at & CHANGED;
        }
    }

    /// Adds an entry for `page`, which has none, on probation.
    pub(super) fn add(&mut self, page: Lpn) {
        debug_assert!(!self.is_full(), "no room for page {page}");
        debug_assert!(!self.last_use.holds(page.0), "page {page} has an entry");
        self.probation.make_room(&mut self.last_use);
        self.last_use.set(page.0, self.probation.push(page.0));
    }

    /// Uses the entry of `page`, or adds one, for which the next one to leave makes room.
    pub(super) fn keep(&mut self, page: Lpn) {
        if self.touch(page) {
            return;
        }
        if self.is_full() {
            self.drop_oldest();
        }
        self.add(page);
    }

    /// The page of the next entry to leave.
    pub(super) fn oldest(&mut self) -> Option<Lpn> {
        let Self { last_use, probation, protected, .. } = self;
        probation.oldest(last_use).or_else(|| protected.oldest(last_use)).map(Lpn)
    }

    /// Drops the next entry to leave: its page, and whether it has changed.
    pub(super) fn drop_oldest(&mut self) -> Option<(Lpn, bool)> {
        let Self { last_use, probation, protected, .. } = self;
        let page = probation.take_oldest(last_use).or_else(|| protected.take_oldest(last_use))?;
        let is_changed = last_use.get(page) & CHANGED != 0;
        last_use.remove(page);
        Some((Lpn(page), is_changed))
    }

    /// Changes the entry of `page`, which is no use of it: whether there is one.
    #[inline]
    pub(super) fn change(&mut self, page: Lpn) -> bool {
        self.last_use.set_bits(page.0, CHANGED)
    }

    /// Changes the entries of these pages, and adds those that have none to `others`.
    pub(super) fn change_all(&mut self, pages: &[u32], others: &mut Vec<u32>) {
        const AHEAD: usize = 32;
        let before = others.len();
        others.resize(before + pages.len(), 0);
        let mut end = before;
        pages.iter().take(AHEAD).for_each(|page| self.last_use.prefetch(*page));
        for (index, &page) in pages.iter().enumerate() {
            if let Some(ahead) = pages.get(index + AHEAD) {
                self.last_use.prefetch(*ahead);
            }
            // Always written, since whether it counts is hard to foretell.
            others[end] = page;
            end += usize::from(!self.last_use.set_bits(page, CHANGED));
        }
        others.truncate(end);
    }

    /// The pages that have an entry.
    pub(super) fn pages(&self) -> impl Iterator<Item = Lpn> {
        let segments = [&self.probation, &self.protected].into_iter();
        segments.flat_map(|uses| uses.entries(&self.last_use)).map(Lpn)
    }

    /// Whether there is an entry for `page`.
    pub(super) fn holds(&self, page: Lpn) -> bool {
        self.last_use.holds(page.0)
    }

    /// The entry of `page`, if there is one, has not changed any more.
    pub(super) fn clean(&mut self, page: Lpn) {
        if let Some(at) = self.last_use.get_mut(page.0) {
            *at &= !CHANGED;
        }
    }

    /// Whether the entry of `page` has changed; no, if it has none.
    pub(super) fn is_changed(&self, page: Lpn) -> bool {
        self.holds(page) && self.last_use.get(page.0) & CHANGED != 0
    }

    /// Fetches what is known of a page.
    #[inline]
    pub(super) fn fetch(&self, page: Lpn) {
        self.last_use.prefetch(page.0);
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.last_use.bytes() + self.probation.bytes() + self.protected.bytes()
    }

    /// Verifies that segments and pages agree.
    pub(super) fn check(&self) -> Result<(), String> {
        self.probation.check(&self.last_use)?;
        self.protected.check(&self.last_use)?;
        ensure!(self.protected.len() <= self.protected_most, "too many entries are protected");
        let known = self.last_use.len();
        ensure!(known == self.len() as usize, "{known} pages have {} entries", self.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::tools::random::Random;

    /// A page list, newest first; the place in it is the stack distance of the page.
    fn use_page(stack: &mut Vec<u32>, page: u32) -> Option<usize> {
        let distance = stack.iter().position(|other| *other == page);
        distance.map(|distance| stack.remove(distance));
        stack.insert(0, page);
        distance
    }

    #[test]
    fn without_protection_a_page_is_found_if_its_stack_distance_is_below_the_size() {
        for size in [1, 7, 64, 200] {
            let mut lru = SegmentedLru::new(200, size, 0, size % 2 == 0);
            let (mut stack, mut random) = (Vec::new(), Random::new(u64::from(size)));
            let mut hits = 0;
            for _ in 0..4000 {
                let page = random.below(200).min(random.below(200)) as u32;
                let is_hit = use_page(&mut stack, page).is_some_and(|by| by < size as usize);
                assert_eq!(lru.touch(Lpn(page)), is_hit);
                hits += u32::from(is_hit);
                if !is_hit {
                    let leaves = lru.is_full().then(|| lru.oldest().unwrap().0);
                    assert_eq!(leaves, stack.get(size as usize).copied());
                    lru.keep(Lpn(page));
                }
            }
            lru.check().unwrap();
            assert!(hits > 0 && hits < 4000, "{hits}");
        }
    }

    #[test]
    fn a_page_that_was_used_again_outlasts_those_that_were_not() {
        let mut lru = SegmentedLru::new(10, 4, 2, false);
        for page in 0..4 {
            lru.add(Lpn(page));
        }
        assert!([0, 1, 2].map(|page| lru.touch(Lpn(page))) == [true; 3] && lru.is_full());
        assert!(lru.change(Lpn(3)) && !lru.change(Lpn(9)) && lru.is_changed(Lpn(3)));
        lru.check().unwrap();
        // Two are protected, and page 0 went back to probation when the third was.
        let order: Vec<_> = std::iter::from_fn(|| lru.drop_oldest()).collect();
        let pages = [(3, true), (0, false), (1, false), (2, false)];
        assert_eq!(order, pages.map(|(page, is_changed)| (Lpn(page), is_changed)));
        lru.check().unwrap();
        assert_eq!(lru.len(), 0);
    }
}

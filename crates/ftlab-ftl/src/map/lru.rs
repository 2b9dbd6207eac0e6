//! Entries in the order of their use, in two segments.
//!
//! An entry is on probation at first. When it is used again it becomes protected. If too many are, the one of them that
//! was used longest ago goes back to probation. The entry on probation that was used longest ago is the next to leave.
//! If none may be protected, this is plain LRU.

use crate::ensure::ensure;
use crate::map::index::Index;
use crate::map::links::{Ends, Linked, Links, NONE};
use crate::memory;
use crate::state::state;
use ftlab_flash::Lpn;

/// An entry: of which page, and its neighbours in its segment.
#[derive(Debug, Clone, Copy)]
struct Entry {
    links: Links,
    page: u32,
    is_protected: bool,
    is_changed: bool,
}

impl Entry {
    const BLANK: Self =
        Self { links: Links::NONE, page: NONE, is_protected: false, is_changed: false };
}

state!(Entry { links, page, is_protected, is_changed } blank Self::BLANK);

impl Linked for Entry {
    #[inline]
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }
}

/// The entries on probation, or those that are protected.
#[derive(Debug, Clone, Copy)]
struct Segment {
    ends: Ends,
    len: u32,
}

state!(Segment { ends, len });

/// A cache of entries, one for each of some pages.
pub(super) struct SegmentedLru {
    /// Page -> its entry.
    entry_of: Index,
    entries: Vec<Entry>,
    most: u32,
    /// Entries without a page.
    unused: Vec<u32>,
    probation: Segment,
    protected: Segment,
    protected_most: u32,
}

state!(SegmentedLru { entry_of, entries, unused, probation, protected } constant most, protected_most then restore_index);

impl SegmentedLru {
    fn restore_index(&mut self) {
        let Self { entry_of, entries, probation, protected, .. } = self;
        let entries = &*entries;
        let ends = [probation.ends, protected.ends];
        let held = ends.into_iter().flat_map(|ends| ends.all(entries));
        entry_of.restore(held.map(|entry| (entries[entry as usize].page, entry)));
    }

    /// A cache of at most `entries` entries, of which `protected` may be protected, for the pages of a drive; a small one
    /// takes memory for its entries only.
    pub(super) fn new(pages: u32, entries: u32, protected: u32, is_small: bool) -> Self {
        let most = entries.min(pages);
        let entry_of = Index::new(pages, is_small);
        let empty = Segment { ends: Ends::NONE, len: 0 };
        Self {
            entry_of,
            entries: Vec::with_capacity(most as usize),
            most,
            unused: Vec::new(),
            probation: empty,
            protected: empty,
            protected_most: protected,
        }
    }

    /// Entries with a page.
    pub(super) fn len(&self) -> u32 {
        self.probation.len + self.protected.len
    }

    /// Whether an entry has to leave before another one comes.
    pub(super) fn is_full(&self) -> bool {
        self.len() == self.most
    }

    /// Uses the entry of `page`: whether there is one.
    pub(super) fn touch(&mut self, page: Lpn) -> bool {
        let entry = self.entry_of.get(page.0);
        if entry == NONE {
            return false;
        }
        self.unlink(entry);
        self.link(entry, self.protected_most > 0);
        if self.protected.len > self.protected_most {
            let oldest = self.protected.ends.oldest();
            self.unlink(oldest);
            self.link(oldest, false);
        }
        true
    }

    /// Adds an entry for `page`, which has none, on probation.
    pub(super) fn add(&mut self, page: Lpn) {
        debug_assert!(!self.is_full(), "no room for page {page}");
        debug_assert!(!self.entry_of.holds(page.0), "page {page} has an entry");
        let entry = self.unused.pop().unwrap_or_else(|| {
            self.entries.push(Entry::BLANK);
            self.entries.len() as u32 - 1
        });
        self.entries[entry as usize].page = page.0;
        self.entries[entry as usize].is_changed = false;
        self.entry_of.set(page.0, entry);
        self.link(entry, false);
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
    pub(super) fn oldest(&self) -> Option<Lpn> {
        let of = |segment: Segment| self.entries.get(segment.ends.oldest() as usize);
        of(self.probation).or_else(|| of(self.protected)).map(|entry| Lpn(entry.page))
    }

    /// Drops the next entry to leave: its page, and whether it has changed.
    pub(super) fn drop_oldest(&mut self) -> Option<(Lpn, bool)> {
        let of = |segment: Segment| {
            let oldest = segment.ends.oldest();
            (oldest != NONE).then_some(oldest)
        };
        let entry = of(self.probation).or_else(|| of(self.protected))?;
        self.unlink(entry);
        let Entry { page, is_changed, .. } = self.entries[entry as usize];
        self.entry_of.remove(page);
        self.unused.push(entry);
        // The one after it leaves soon.
        if let Some(next) = self.entries.get(self.probation.ends.oldest() as usize) {
            self.entry_of.prefetch(next.page);
            memory::prefetch(&self.entries, next.links.newer() as usize);
        }
        Some((Lpn(page), is_changed))
    }

    /// Changes the entry of `page`, which is no use of it: whether there is one.
    pub(super) fn change(&mut self, page: Lpn) -> bool {
        let entry = self.entries.get_mut(self.entry_of.get(page.0) as usize);
        entry.map(|entry| entry.is_changed = true).is_some()
    }

    /// The pages that have an entry.
    pub(super) fn pages(&self) -> impl Iterator<Item = Lpn> {
        let segments = [self.probation, self.protected].into_iter();
        let entries = segments.flat_map(|segment| segment.ends.all(&self.entries));
        entries.map(|entry| Lpn(self.entries[entry as usize].page))
    }

    /// Whether there is an entry for `page`.
    pub(super) fn holds(&self, page: Lpn) -> bool {
        self.entry_of.holds(page.0)
    }

    /// The entry of `page`, if there is one, has not changed any more.
    pub(super) fn clean(&mut self, page: Lpn) {
        if let Some(entry) = self.entries.get_mut(self.entry_of.get(page.0) as usize) {
            entry.is_changed = false;
        }
    }

    /// Whether the entry of `page` has changed; no, if it has none.
    pub(super) fn is_changed(&self, page: Lpn) -> bool {
        let entry = self.entries.get(self.entry_of.get(page.0) as usize);
        entry.is_some_and(|entry| entry.is_changed)
    }

    /// Fetches where the entry of the last page is, the entry of the second, and the neighbours of that of the first.
    pub(super) fn fetch_ahead(&self, [nearest, near, far]: [Lpn; 3]) {
        self.entry_of.prefetch(far.0);
        memory::prefetch(&self.entries, self.entry_of.get(near.0) as usize);
        if let Some(of) = self.entries.get(self.entry_of.get(nearest.0) as usize) {
            memory::prefetch(&self.entries, of.links.newer() as usize);
            memory::prefetch(&self.entries, of.links.older() as usize);
        }
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.entry_of.bytes() + self.entries.capacity() * size_of::<Entry>()
    }

    /// Verifies that segments and pages agree.
    pub(super) fn check(&self) -> Result<(), String> {
        for (segment, is_protected) in [(self.probation, false), (self.protected, true)] {
            let mut len = 0;
            segment.ends.check(&self.entries, |entry, own| {
                len += 1;
                ensure!(own.is_protected == is_protected, "entry {entry} is in another segment");
                ensure!(self.entry_of.get(own.page) == entry, "entry {entry} is lost");
                Ok(())
            })?;
            ensure!(len == segment.len, "a segment counts {} of {len} entries", segment.len);
        }
        ensure!(self.protected.len <= self.protected_most, "too many entries are protected");
        let known = self.entry_of.len();
        ensure!(known == self.len() as usize, "{known} pages have {} entries", self.len());
        Ok(())
    }

    #[inline]
    fn segment(&mut self, is_protected: bool) -> (&mut Segment, &mut [Entry]) {
        let segment = if is_protected { &mut self.protected } else { &mut self.probation };
        (segment, &mut self.entries)
    }

    fn unlink(&mut self, entry: u32) {
        let (segment, entries) = self.segment(self.entries[entry as usize].is_protected);
        segment.len -= 1;
        segment.ends.unlink(entries, entry);
    }

    /// Puts an entry at the newest end of a segment.
    fn link(&mut self, entry: u32, is_protected: bool) {
        self.entries[entry as usize].is_protected = is_protected;
        let (segment, entries) = self.segment(is_protected);
        segment.len += 1;
        segment.ends.link_newest(entries, entry);
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

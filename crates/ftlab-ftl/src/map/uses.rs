//! The uses of entries in order, each use once.
//!
//! A use is written into a ring, and the entry knows where: its last use. Where the ring has a page that was used again
//! since, or whose entry has left, the use is stale. Stale ones are passed when they are the oldest, and dropped all
//! together when the ring is full. So the entry that was used longest ago is known exactly, as of a linked list. But
//! no use touches the neighbours of an entry, and what is passed is known in advance, so that it can be fetched.

use crate::ensure::ensure;
use crate::map::index::Index;

/// Set in the last use of an entry that is protected.
pub(super) const PROTECTED: u32 = 1 << 31;

/// Set in the last use of an entry that has changed.
pub(super) const CHANGED: u32 = 1 << 30;

/// Places in the ring for each entry: of three uses that are written, one is written again when it is full.
const USES_PER_ENTRY: u32 = 3;

/// A place is below the flags, and not what stands for none.
const PLACES_MAX: u32 = CHANGED - 1;

/// How many uses ahead of the oldest one what is known of a page is fetched.
const FETCH_AHEAD: u32 = 16;

/// What was used, from the oldest use on, in a ring.
pub(super) struct Uses {
    /// Pages; it grows to `room` places.
    ring: Vec<u32>,
    room: u32,
    first: u32,
    /// Uses in it, stale ones included.
    written: u32,
    /// Entries whose last use is in it.
    entries: u32,
    /// What is set in all of these: [`PROTECTED`], or nothing.
    segment: u32,
}

impl Uses {
    /// Half as many as there are places at most.
    pub(super) const ENTRIES_MAX: u32 = 1 << 29;

    /// Of at most so many entries, and one more for a moment.
    pub(super) fn new(most: u32, segment: u32) -> Self {
        debug_assert!(most <= Self::ENTRIES_MAX, "{most} entries");
        let room = USES_PER_ENTRY.saturating_mul(most.saturating_add(1)).min(PLACES_MAX);
        Self {
            ring: Vec::with_capacity(room as usize),
            room,
            first: 0,
            written: 0,
            entries: 0,
            segment,
        }
    }

    /// Entries whose last use is here.
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.entries
    }

    /// Makes room for one more use.
    #[inline]
    pub(super) fn make_room(&mut self, last_use: &mut Index) {
        if self.written == self.room {
            self.drop_stale(last_use);
        }
    }

    /// Writes down a use, for which there is room: where it is.
    #[inline]
    pub(super) fn push(&mut self, page: u32) -> u32 {
        debug_assert!(self.written < self.room, "{} uses", self.written);
        let place = self.place(self.written);
        match self.ring.get_mut(place as usize) {
            Some(at) => *at = page,
            None => self.ring.push(page),
        }
        self.written += 1;
        self.entries += 1;
        place | self.segment
    }

    /// The use of an entry is not its last any more, if `leaves`.
    #[inline]
    pub(super) fn leave(&mut self, leaves: bool) {
        self.entries -= u32::from(leaves);
    }

    /// The entry that was used longest ago.
    #[inline]
    pub(super) fn oldest(&mut self, last_use: &Index) -> Option<u32> {
        while self.written > 0 {
            if let Some(ahead) = self.ring.get(self.place(FETCH_AHEAD.min(self.written)) as usize) {
                last_use.prefetch(*ahead);
            }
            let page = self.ring[self.first as usize];
            if self.is_last(self.first, last_use) {
                return Some(page);
            }
            self.pass_first();
        }
        None
    }

    /// Takes it out.
    #[inline]
    pub(super) fn take_oldest(&mut self, last_use: &Index) -> Option<u32> {
        let page = self.oldest(last_use)?;
        self.pass_first();
        self.leave(true);
        Some(page)
    }

    /// The entries, that used longest ago first.
    pub(super) fn entries<'a>(&'a self, last_use: &'a Index) -> impl Iterator<Item = u32> {
        let places = (0..self.written).map(|number| self.place(number));
        let last = places.filter(|place| self.is_last(*place, last_use));
        last.map(|place| self.ring[place as usize])
    }

    /// All entries are these, that used longest ago first, and have not changed.
    pub(super) fn restore(&mut self, entries: &[u32], last_use: &mut Index) {
        self.ring.clear();
        (self.first, self.written, self.entries) = (0, 0, 0);
        for &page in entries {
            last_use.set(page, self.push(page));
        }
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.ring.capacity() * size_of::<u32>()
    }

    /// Verifies that every entry is known.
    pub(super) fn check(&self, last_use: &Index) -> Result<(), String> {
        let known = self.entries(last_use).count();
        ensure!(known == self.entries as usize, "{known} of {} entries are known", self.entries);
        ensure!(self.written <= self.room, "{} uses are beyond the ring", self.written);
        Ok(())
    }

    /// Where a use is in the ring, by its number from the oldest on.
    #[inline]
    fn place(&self, number: u32) -> u32 {
        let place = self.first + number;
        if place < self.room { place } else { place - self.room }
    }

    #[inline]
    fn pass_first(&mut self) {
        self.first = self.place(1);
        self.written -= 1;
    }

    /// Whether the use at `place` is the last one of its entry.
    #[inline]
    fn is_last(&self, place: u32, last_use: &Index) -> bool {
        last_use.get(self.ring[place as usize]) & !CHANGED == place | self.segment
    }

    /// Drops all stale uses.
    #[cold]
    fn drop_stale(&mut self, last_use: &mut Index) {
        let mut kept = 0;
        for number in 0..self.written {
            if let Some(ahead) =
                self.ring.get(self.place((number + FETCH_AHEAD) % self.room) as usize)
            {
                last_use.prefetch(*ahead);
            }
            let place = self.place(number);
            if self.is_last(place, last_use) {
                let (page, to) = (self.ring[place as usize], self.place(kept));
                self.ring[to as usize] = page;
                let changed = last_use.get(page) & CHANGED;
                last_use.set(page, to | self.segment | changed);
                kept += 1;
            }
        }
        debug_assert_eq!(kept, self.entries, "entries that are not known");
        self.written = kept;
    }
}

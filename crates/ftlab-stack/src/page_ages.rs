//! Which pages are moved: those that the host soon overwrites, or those that it never does.

use ftlab_flash::{Lpn, Merge, Ppn};
use ftlab_ftl::Observer;
use ftlab_ftl::page::StreamId;

/// The window that parts hot pages from others is the drive's logical pages divided by this, as that of
/// `ftlab inspect`.
const WINDOWS_PER_DRIVE: u64 = 10;

/// Windows that a page has to last to be cold: FASTer's second chance doubles the first.
const WINDOWS_COLD: u64 = 2;

/// Pages that collections and merges moved, by how long the version that was moved lasted: host page
/// writes from the one that wrote it to the one that overwrote it, or to its trim.
///
/// The bounds are those of `ftlab inspect` (after FASTer, section III). It takes the mean of a page, and
/// this each version by itself, since a page may be hot for a while and cold from then on (2R, section 2.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moves {
    /// Host page writes: a tenth of the drive's logical pages, and 1 at least.
    pub window_writes: u64,
    /// Moves of versions that lasted less than the window.
    pub hot: u64,
    /// Of those that lasted less than two windows.
    pub warm: u64,
    /// Of those that lasted longer, and were overwritten or trimmed at last.
    pub cold: u64,
    /// Of those that had lasted two windows or longer at the end of the run, and were still valid.
    pub frozen: u64,
    /// Of those that were valid at the end of the run, but too young to tell.
    pub undecided: u64,
    /// Of the hot, warm and cold ones, those of versions that lasted fewer host page writes than pages held
    /// data at their end: 2R's pages that are written at intervals below the size of the database
    /// (section 5.2.3).
    pub within_data_size: u64,
}

/// Follows every logical page, at 16 bytes each.
#[derive(Debug)]
pub(crate) struct PageAges {
    window_writes: u64,
    /// Host writes so far.
    clock: u64,
    versions: Vec<Version>,
    /// Pages that hold data.
    mapped_pages: u64,
    /// Moves of versions that are over: hot, warm, cold.
    moved: [u64; 3],
    /// Of these, moves of versions that lasted less than one write of all that held data.
    within_data_size: u64,
}

/// The newest version of a logical page.
#[derive(Debug, Clone, Copy)]
struct Version {
    /// The clock when it was written, or [`NEVER`].
    written_at: u64,
    /// How often it was moved.
    moves: u64,
}

/// When a page that holds no data was written.
const NEVER: u64 = u64::MAX;

impl Version {
    const NONE: Self = Self { written_at: NEVER, moves: 0 };
}

/// Bytes that a logical page takes.
pub(crate) const PAGE_BYTES: u64 = size_of::<Version>() as u64;

impl PageAges {
    pub(crate) fn new(logical_pages: u32) -> Self {
        Self {
            window_writes: (u64::from(logical_pages) / WINDOWS_PER_DRIVE).max(1),
            clock: 0,
            versions: vec![Version::NONE; logical_pages as usize],
            mapped_pages: 0,
            moved: [0; 3],
            within_data_size: 0,
        }
    }

    pub(crate) fn logical_pages(&self) -> u32 {
        self.versions.len() as u32
    }

    /// Forgets all moves so far; how old pages are is kept.
    pub(crate) fn begin(&mut self) {
        self.moved = [0; 3];
        self.within_data_size = 0;
        self.versions.iter_mut().for_each(|version| version.moves = 0);
    }

    /// Whether `lpn`, which holds data, has lasted long enough to be cold or frozen.
    #[inline]
    pub(crate) fn is_cold(&self, lpn: Lpn) -> bool {
        self.is_over(self.versions[lpn.index()].written_at, WINDOWS_COLD)
    }

    /// Whether a version that was written then has lasted `windows`.
    fn is_over(&self, written_at: u64, windows: u64) -> bool {
        self.clock - written_at >= windows * self.window_writes
    }

    /// Moves so far, as if the run ended now.
    pub(crate) fn moves(&self) -> Moves {
        let [hot, warm, cold] = self.moved;
        let (mut frozen, mut undecided) = (0, 0);
        for version in self.versions.iter().filter(|version| version.written_at != NEVER) {
            let is_old = self.is_over(version.written_at, WINDOWS_COLD);
            *(if is_old { &mut frozen } else { &mut undecided }) += version.moves;
        }
        Moves {
            window_writes: self.window_writes,
            hot,
            warm,
            cold,
            frozen,
            undecided,
            within_data_size: self.within_data_size,
        }
    }

    /// Ends the present version of `lpn`, if it has one.
    #[inline]
    fn end(&mut self, lpn: Lpn) {
        let Version { written_at, moves } = self.versions[lpn.index()];
        if moves > 0 {
            let lasted = self.clock - written_at;
            self.moved[(lasted / self.window_writes).min(WINDOWS_COLD) as usize] += moves;
            if lasted < self.mapped_pages {
                self.within_data_size += moves;
            }
        }
        self.mapped_pages -= u64::from(written_at != NEVER);
        self.versions[lpn.index()] = Version::NONE;
    }
}

impl Observer for PageAges {
    #[inline]
    fn host_write(&mut self, lpn: Lpn, _to: Ppn, _stream: StreamId) {
        self.end(lpn);
        self.versions[lpn.index()].written_at = self.clock;
        self.mapped_pages += 1;
        self.clock += 1;
    }

    #[inline]
    fn relocation(&mut self, lpn: Lpn, _from: Ppn, _to: Ppn, _stream: StreamId) {
        self.versions[lpn.index()].moves += 1;
    }

    #[inline]
    fn merge(&mut self, merge: Merge) {
        for (_, _, lpn) in merge.moves() {
            self.versions[lpn.index()].moves += 1;
        }
    }

    fn trim(&mut self, lpn: Lpn) {
        self.end(lpn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[derive(Debug, Clone, Copy)]
    enum Event {
        Write(u32),
        Move(u32),
        Trim(u32),
    }

    fn observe(ages: &mut PageAges, event: Event) {
        match event {
            Event::Write(page) => ages.host_write(Lpn(page), Ppn(0), StreamId(0)),
            Event::Move(page) => ages.relocation(Lpn(page), Ppn(0), Ppn(1), StreamId(0)),
            Event::Trim(page) => ages.trim(Lpn(page)),
        }
    }

    const PAGES: u32 = 40;

    /// The pages that hold data after `events`.
    fn holding(events: &[Event]) -> BTreeSet<u32> {
        let mut pages = BTreeSet::new();
        for event in events {
            match *event {
                Event::Write(page) => pages.insert(page),
                Event::Trim(page) => pages.remove(&page),
                Event::Move(_) => false,
            };
        }
        pages
    }

    /// Leaves out moves of pages that hold no data.
    fn possible(events: &[Event]) -> Vec<Event> {
        let moves_data = |at: usize| match events[at] {
            Event::Move(page) => holding(&events[..at]).contains(&page),
            Event::Write(_) | Event::Trim(_) => true,
        };
        (0..events.len()).filter(|&at| moves_data(at)).map(|at| events[at]).collect()
    }

    /// Looks for the next write or trim of the page after each move, and for the last before it.
    fn naive(events: &[Event], from: usize, window: u64) -> Moves {
        let mut found = Moves { window_writes: window, ..Moves::default() };
        let writes = |events: &[Event]| {
            events.iter().filter(|event| matches!(event, Event::Write(_))).count() as u64
        };
        for (at, event) in events.iter().enumerate().skip(from) {
            let Event::Move(page) = *event else { continue };
            let ends = |other: &Event| matches!(*other, Event::Write(other) | Event::Trim(other) if other == page);
            let born = writes(&events[..events[..at].iter().rposition(ends).unwrap()]);
            let end = events[at..].iter().position(ends).map(|end| at + end);
            let lasted = writes(&events[..end.unwrap_or(events.len())]) - born;
            let class = match (end, lasted / window) {
                (Some(_), 0) => &mut found.hot,
                (Some(_), 1) => &mut found.warm,
                (Some(_), _) => &mut found.cold,
                (None, 0 | 1) => &mut found.undecided,
                (None, _) => &mut found.frozen,
            };
            *class += 1;
            let within_data_size = |end: usize| lasted < holding(&events[..end]).len() as u64;
            found.within_data_size += u64::from(end.is_some_and(within_data_size));
        }
        found
    }

    proptest! {
        #[test]
        fn classes_equal_those_of_the_definition(
            events in prop::collection::vec(
                prop_oneof![
                    6 => (0..PAGES).prop_map(Event::Write),
                    4 => (0..PAGES).prop_map(Event::Move),
                    1 => (0..PAGES).prop_map(Event::Trim),
                ],
                0..300,
            ),
            from in 0usize..100,
        ) {
            let events = possible(&events);
            let mut ages = PageAges::new(PAGES);
            let from = from.min(events.len());
            events[..from].iter().for_each(|event| observe(&mut ages, *event));
            ages.begin();
            events[from..].iter().for_each(|event| observe(&mut ages, *event));
            prop_assert_eq!(ages.moves(), naive(&events, from, 4));
        }
    }

    #[test]
    fn a_page_is_cold_once_it_has_lasted_two_windows() {
        let mut ages = PageAges::new(PAGES);
        observe(&mut ages, Event::Write(7));
        for page in 0..7 {
            assert!(!ages.is_cold(Lpn(7)), "{page}");
            observe(&mut ages, Event::Write(page));
        }
        assert!(ages.is_cold(Lpn(7)) && !ages.is_cold(Lpn(1)));
    }
}

//! What a map decides.

use crate::State;
use crate::state::state;
use ftlab_flash::{Lpn, Ppn};
use ftlab_spec::{ByteSize, Parameters};

/// Where an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// In memory.
    Here,
    /// In memory, in a translation page, from which it is to be loaded.
    InPage,
    /// In its translation page on flash.
    Nowhere,
    /// Not in memory, where a model tells the place all the same.
    Told,
}

/// A translation page that has to be written, since changed entries of it leave memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriteBack {
    pub(crate) page: u32,
    /// Whether all of it is in memory, so that it need not be read before.
    pub(crate) is_whole: bool,
}

impl WriteBack {
    /// A page of which some entries are in memory.
    pub(crate) fn in_part(page: u32) -> Self {
        Self { page, is_whole: false }
    }
}

/// A page, and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) lpn: Lpn,
    pub(crate) place: Ppn,
}

/// How much is learned: segments, their bytes, and pages that they tell the place of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Learned {
    pub(crate) segments: u64,
    pub(crate) bytes: u64,
    pub(crate) mappings: u64,
}

state!(Learned { segments, bytes, mappings });

/// Where each page is; nowhere, if it holds nothing.
pub(crate) type Places<'a> = dyn Fn(Lpn) -> Option<Ppn> + 'a;

/// How many moved pages ahead what is asked about one is fetched.
const MOVED_AHEAD: [usize; 3] = [4, 8, 16];

/// Which entries of a map are in memory. It decides; `PagedMap` carries out.
pub(crate) trait Map: Send + State {
    /// The place of `lpn` is asked for, and of the `following` pages after it later, which the same request needs:
    /// where its entry is.
    fn look_up(&mut self, lpn: Lpn, following: u32) -> Found;

    /// The same of a page to read, whose place may be told by a model.
    fn look_up_to_read(&mut self, lpn: Lpn, following: u32) -> Found {
        self.look_up(lpn, following)
    }

    /// Drops entries until there is room for those that come with `lpn`, or until some that changed have to be written
    /// back. It is asked again until it returns none.
    fn make_room(&mut self, lpn: Lpn, places: &Places<'_>) -> Option<WriteBack>;

    /// The entry of `lpn` comes into memory, where there is room for it, and what it brings along of its translation
    /// page.
    fn load(&mut self, lpn: Lpn);

    /// `lpn` is at another place, or nowhere: whether its entry is in memory, which tells so from now on.
    fn change(&mut self, lpn: Lpn) -> bool;

    /// Collection has moved these pages: adds those whose entries are not in memory to `others`.
    fn change_moved(&mut self, moved: &[u32], others: &mut Vec<u32>) {
        for (index, &lpn) in moved.iter().enumerate() {
            if let [Some(&nearest), Some(&near), Some(&far)] =
                MOVED_AHEAD.map(|ahead| moved.get(index + ahead))
            {
                self.fetch_ahead([nearest, near, far].map(Lpn));
            }
            if !self.change(Lpn(lpn)) {
                others.push(lpn);
            }
        }
    }

    /// Whether the entry of `lpn` in memory tells otherwise than its translation page.
    fn is_changed(&self, lpn: Lpn) -> bool;

    /// Whether the entry of `lpn` is in memory, of a map that a live drive can have.
    fn holds(&self, _lpn: Lpn) -> bool {
        true
    }

    /// Of such a map, whether the entry that is loaded comes alone.
    fn loads_one(&self) -> bool {
        false
    }

    /// The pages whose entries are in memory one by one, of such a map.
    fn held(&self) -> Vec<Lpn> {
        Vec::new()
    }

    /// The translation pages all of whose entries are in memory beside, of such a map.
    fn held_pages(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Whether a translation page is one of these.
    fn holds_page(&self, _page: u32) -> bool {
        false
    }

    /// Whether it looks at the places of all pages of a translation page before that comes into memory, which decide how
    /// much it takes there.
    fn weighs_pages(&self) -> bool {
        false
    }

    /// A translation page is written, with what has changed of it in memory, if that is to go along.
    fn written(&mut self, _page: u32) {}

    /// If it learns places: how many written pages wait, to be programmed in the order of their addresses. One is
    /// programmed at once.
    fn learns(&self) -> Option<u32> {
        None
    }

    /// Pages that were programmed together are there now, in one block; in order of addresses.
    fn learn(&mut self, _points: &[Point]) {}

    /// Whether `lpn`, whose entry is in memory, is said to be where it is.
    fn predicts(&self, _lpn: Lpn, _place: Ppn) -> bool {
        true
    }

    /// Whether it has models of translation pages, which are trained.
    fn trains(&self) -> bool {
        false
    }

    /// All entries of a translation page are at hand, since it is about to be written after a collection.
    fn train(&mut self, _page: u32, _places: &Places<'_>) {}

    /// The host wrote `lpn`, which is at `place`.
    fn wrote(&mut self, _lpn: Lpn, _place: Ppn) {}

    /// How much is learned.
    fn learned(&self) -> Learned {
        Learned::default()
    }

    /// Bytes of memory that are taken here.
    fn memory_bytes(&self) -> usize;

    /// Fetches what will be asked about three pages, the first of which comes soonest, as far as it was fetched before
    /// where that is.
    fn fetch_ahead(&self, pages: [Lpn; 3]);

    /// Verifies its own invariants; the message says what is broken.
    fn check(&self) -> Result<(), String>;

    /// Verifies what it says of the place of `lpn`.
    fn check_place(&self, _lpn: Lpn, _place: Ppn) -> Result<(), String> {
        Ok(())
    }
}

/// What a map on flash says of itself.
pub(super) trait OnFlash: Parameters + Copy {
    const NAME: &'static str;

    /// Whether it asks which pages are of one request.
    const ASKS_FOR_REQUESTS: bool = false;

    /// Translation pages that the memory has to be as large as.
    const PAGES_MIN: u64 = 1;

    /// Bytes of memory that it needs beside, with this many translation pages, and entries in each.
    fn models(&self, _map_pages: u32, _entries_per_page: u32) -> u64 {
        0
    }

    /// Entries that it keeps one by one at most, in the order of their use.
    fn single_entries(&self, _entries_per_page: u32) -> u32 {
        0
    }

    /// Whether pages that were written wait in memory.
    fn has_buffer(&self) -> bool {
        false
    }

    /// Bytes of memory that it takes in a drive, the directory of translation pages not included.
    fn cache(&mut self) -> &mut ByteSize;

    /// Bytes of memory that its simulation takes at most, of `entries` entries in `map_pages` translation pages.
    fn memory_bytes(&self, entries: u32, map_pages: u32) -> u64;

    /// Whether it weighs pages before they come: then operations that are repeated need the places of all pages of the
    /// translation pages that they ask for.
    const WEIGHS_PAGES: bool = false;

    /// Bytes of memory that it takes at most on a live drive, where entries that are not held take none.
    fn live_bytes(&self, entries: u32, map_pages: u32) -> u64 {
        // Entries stand in two tables more, one of which tells their places.
        (self.memory_bytes(entries, map_pages) - 4 * u64::from(entries)) * 3 / 2
    }

    /// The map of a drive with `entries` entries, `entries_per_page` of which a translation page holds; a small one takes
    /// no memory for each of them, if it can.
    fn make(&self, entries: u32, entries_per_page: u32, is_small: bool) -> Box<dyn Map>;
}

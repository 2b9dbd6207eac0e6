//! `lru`: hot pages are those on the upper of two lists.
//!
//! # Idea
//! A page that is written again while its last write is remembered is hot. Two lists of pages in order
//! of use keep one that was written once from driving out one that is written all the time.
//!
//! # Rule
//! A write moves a page of the hot list to its front, a page of the candidate list to the front of the
//! hot list, and puts any other page at the front of the candidates. What the hot list has no room for
//! goes from its end to the front of the candidates, what these have no room for is forgotten. Hot is
//! what is on the hot list, for host writes and relocated pages alike.
//!
//! # Parameters
//! `hot` 512 and `candidates` 1,532 entries, for a drive of any size; `auto` is a tenth of the logical
//! pages and three times `hot`.
//!
//! # Where the paper is silent
//! A page is judged after its own write is taken note of: its second write finds it hot. A trimmed page
//! leaves both lists. The study searches its lists one by one and lays out 8 bytes per entry: 4 for the
//! page, 2 for each link. Here a hash table finds a page; an entry takes 16 bytes and 64 of the
//! table.
//!
//! # Reference
//! Chang and Kuo, "An Adaptive Striping Architecture for Flash Memory Storage Systems of Embedded
//! Systems", RTAS 2002; Lee and Kim, "An Empirical Study of Hot/Cold Data Separation Policies in Solid
//! State Drives (SSDs)", SYSTOR 2013, section 3.1, algorithm 2.

use crate::Metadata;
use crate::algorithms::tools::hotness::Hotness;
use crate::algorithms::tools::lru_lists::{LruLists, Place};
use crate::page::entry::{DriveShape, FitContext, PlacementEntry};
use ftlab_flash::Lpn;
use ftlab_spec::{OrAuto, SpecError};
use std::num::NonZeroU32;

/// Logical pages per entry of a hot list that is as large as the drive calls for.
const PAGES_PER_HOT_ENTRY: u32 = 10;

/// Candidates per entry of the hot list, nearly as in the study.
const CANDIDATES_PER_HOT_ENTRY: u32 = 3;

const HOT: NonZeroU32 = NonZeroU32::new(512).unwrap();
const CANDIDATES: NonZeroU32 = NonZeroU32::new(1532).unwrap();

ftlab_spec::parameters! {
    pub struct LruParameters {
        /// Entries of the hot list; auto: a tenth of the logical pages.
        hot: OrAuto<NonZeroU32> = OrAuto::Given(HOT), "hot", from "Lee and Kim (SYSTOR 2013), table 1";
        /// Entries of the candidate list; auto: three times hot.
        candidates: OrAuto<NonZeroU32> = OrAuto::Given(CANDIDATES), "candidates", from "Lee and Kim (SYSTOR 2013), table 1";
    }
}

const HOT_LIST: usize = 0;

const CANDIDATE_LIST: usize = 1;

/// Two lists in order of use.
pub struct Lru(LruLists);

impl crate::State for Lru {
    fn transfer(&mut self, archive: &mut dyn crate::Archive) -> Result<(), crate::StateError> {
        self.0.transfer(archive)
    }
}

impl PlacementEntry for Lru {
    type Parameters = LruParameters;
    const NAME: &'static str = "lru";
    const SUMMARY: &'static str =
        "hot pages, on the upper of two LRU lists, have an open block of their own";
    const SOURCE: &'static str = "Lee and Kim (SYSTOR 2013), section 3.1";

    fn fit(parameters: &mut LruParameters, context: &FitContext) -> Result<(), SpecError> {
        let at_least_1 = |entries| NonZeroU32::new(entries).unwrap_or(NonZeroU32::MIN);
        let pages = context.shape.logical_pages;
        let hot = *parameters.hot.fit(|| at_least_1(pages / PAGES_PER_HOT_ENTRY));
        let candidates = hot.get().saturating_mul(CANDIDATES_PER_HOT_ENTRY);
        parameters.candidates.fit(|| at_least_1(candidates));
        Ok(())
    }

    fn new(parameters: &LruParameters, shape: DriveShape) -> Self {
        // No list is ever longer than there are pages.
        let pages = shape.logical_pages.max(1);
        let hot = parameters.hot.given().unwrap_or(&HOT).get();
        let candidates = parameters.candidates.given().unwrap_or(&CANDIDATES).get();
        Self(LruLists::new([hot.min(pages), candidates.min(pages)], pages))
    }
}

impl Lru {
    /// Makes a candidate hot; the oldest hot page takes its place if there is no room for both.
    #[inline]
    fn promote(&mut self, candidate: Place) {
        let Self(lists) = self;
        if lists.is_full(HOT_LIST)
            && let Some(oldest) = lists.oldest(HOT_LIST)
        {
            lists.move_to_front(oldest, CANDIDATE_LIST);
        }
        lists.move_to_front(candidate, HOT_LIST);
    }

    /// Puts a page, which is on neither list, in front of the candidates.
    #[inline]
    fn add_candidate(&mut self, lpn: Lpn) {
        let Self(lists) = self;
        if lists.is_full(CANDIDATE_LIST)
            && let Some(oldest) = lists.oldest(CANDIDATE_LIST)
        {
            lists.remove(oldest);
        }
        lists.push_front(lpn, CANDIDATE_LIST);
    }
}

impl Hotness for Lru {
    #[inline]
    fn record(&mut self, lpn: Lpn) {
        match self.0.find(lpn) {
            Some(place) if place.list() == HOT_LIST => self.0.move_to_front(place, HOT_LIST),
            Some(place) => self.promote(place),
            None => self.add_candidate(lpn),
        }
    }

    #[inline]
    fn is_hot(&self, lpn: Lpn) -> bool {
        self.0.find(lpn).is_some_and(|place| place.list() == HOT_LIST)
    }

    fn forget(&mut self, lpn: Lpn) {
        if let Some(place) = self.0.find(lpn) {
            self.0.remove(place);
        }
    }

    fn metadata(&self) -> Metadata {
        Metadata::fixed(8 * u64::from(self.0.capacity()) + 56)
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

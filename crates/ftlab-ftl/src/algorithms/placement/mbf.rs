//! `mbf`: hot pages are those that several Bloom filters remember.
//!
//! # Idea
//! A filter remembers for a few bits per page that it was written. Several, emptied in turn, tell how
//! often and how lately: the more of them know a page, the hotter it is.
//!
//! # Rule
//! Each of V filters has M bits. A write hashes the page to H places; at each it sets the bit of the
//! current filter or, where that is set, of the next one round that lacks it. A page is hot if at each
//! of its places at least `threshold` filters have their bit set; host writes and relocated pages are
//! judged alike. After every `decay` host writes the filter before the current one becomes the current
//! one, and is emptied.
//!
//! # Parameters
//! V `filters` 4; M `bits` 4,096; H `hashes` 2; `threshold` 2; `decay` 512, for a drive of any size.
//! With `auto`, `decay` is a tenth of the logical pages and `bits` 8 times `decay`, as in the study.
//!
//! # Where the paper is silent
//! A page is judged after its own write is taken note of. The text wants more filters than the
//! threshold, algorithm 3 as many: the algorithm is followed. The hash functions are ours. A filter
//! forgets nothing by itself, so a trim changes nothing: a trimmed page fades away.
//!
//! # Reference
//! Park and Du, "Hot Data Identification for Flash-based Storage Systems Using Multiple Bloom Filters",
//! MSST 2011; Lee and Kim, "An Empirical Study of Hot/Cold Data Separation Policies in Solid State
//! Drives (SSDs)", SYSTOR 2013, section 3.2, algorithm 3.

use crate::Metadata;
use crate::algorithms::tools::hash::{below, hash};
use crate::algorithms::tools::hotness::Hotness;
use crate::page::entry::{DriveShape, FitContext, PlacementEntry};
use crate::state::state;
use ftlab_flash::Lpn;
use ftlab_spec::{OrAuto, SpecError};
use std::num::NonZeroU32;

/// Logical pages per write of a period, if that is as long as the drive calls for.
const PAGES_PER_DECAY: u32 = 10;

/// Bits of a filter per write of a period, as in the study.
const BITS_PER_WRITE: u32 = 8;

/// The largest filters: with 8 of them 1 GiB.
const BITS_MAX: u32 = 1 << 30;

const FILTERS_MAX: u32 = 8;

const BITS: NonZeroU32 = NonZeroU32::new(4096).unwrap();
const DECAY: NonZeroU32 = NonZeroU32::new(512).unwrap();

ftlab_spec::parameters! {
    pub struct MbfParameters {
        /// Bits of a filter; auto: 8 times decay.
        bits: OrAuto<NonZeroU32> = OrAuto::Given(BITS), "bits", from "Lee and Kim (SYSTOR 2013), table 1";
        /// Filters.
        filters: u32 = 4, "filters" in 1..=FILTERS_MAX, from "Lee and Kim (SYSTOR 2013), table 1";
        /// Hash functions.
        hashes: u32 = 2, "hashes" in 1..=8, from "Lee and Kim (SYSTOR 2013), table 1";
        /// How many filters have to know a page that is hot.
        threshold: u32 = 2, "threshold" in 1..=FILTERS_MAX, from "Lee and Kim (SYSTOR 2013), table 1";
        /// Host writes after which a filter is emptied; auto: a tenth of the logical pages.
        decay: OrAuto<NonZeroU32> = OrAuto::Given(DECAY), "decay", from "Lee and Kim (SYSTOR 2013), table 1";
    }
}

/// Filters whose bits for one place lie together.
pub struct Mbf {
    /// For each place one bit per filter, padded to a power of two of them.
    words: Vec<u64>,
    places: u64,
    /// Binary logarithm of the places in a word.
    places_per_word_log2: u32,
    filters: u32,
    hashes: u32,
    /// For the bits of all filters at a place: whether enough of them are set.
    enough: [bool; 1 << FILTERS_MAX],
    current: u32,
    decay: u32,
    /// Host writes until a filter is emptied.
    left: u32,
}

state!(Mbf { words, current, left } constant places, places_per_word_log2, filters, hashes, enough, decay);

impl PlacementEntry for Mbf {
    type Parameters = MbfParameters;
    const NAME: &'static str = "mbf";
    const SUMMARY: &'static str =
        "hot pages, known to several Bloom filters, have an open block of their own";
    const SOURCE: &'static str = "Lee and Kim (SYSTOR 2013), section 3.2";

    fn fit(parameters: &mut MbfParameters, context: &FitContext) -> Result<(), SpecError> {
        let at_least_1 = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        let pages = context.shape.logical_pages;
        let decay = *parameters.decay.fit(|| at_least_1(pages / PAGES_PER_DECAY));
        let bits = decay.get().saturating_mul(BITS_PER_WRITE).min(BITS_MAX);
        let bits = *parameters.bits.fit(|| at_least_1(bits));
        if bits.get() > BITS_MAX {
            let expects = format!("a whole number in 1..={BITS_MAX}");
            return Err(context.refuse("bits", &bits, expects));
        }
        if parameters.threshold > parameters.filters {
            let expects = format!("possible: there are only filters={}", parameters.filters);
            return Err(context.refuse("threshold", &parameters.threshold, expects));
        }
        Ok(())
    }

    fn new(parameters: &MbfParameters, _shape: DriveShape) -> Self {
        let bits = parameters.bits.given().unwrap_or(&BITS).get();
        let decay = parameters.decay.given().unwrap_or(&DECAY).get();
        let places_per_word = u64::BITS / parameters.filters.next_power_of_two();
        Self {
            words: vec![0; bits.div_ceil(places_per_word) as usize],
            places: u64::from(bits),
            places_per_word_log2: places_per_word.ilog2(),
            filters: parameters.filters,
            hashes: parameters.hashes,
            enough: std::array::from_fn(|bits| bits.count_ones() >= parameters.threshold),
            current: 0,
            decay,
            left: decay,
        }
    }
}

impl Mbf {
    /// The places of a page: for each its word, and where its bits begin in it.
    #[inline]
    fn places(&self, lpn: Lpn) -> impl Iterator<Item = (usize, u32)> + use<> {
        let (places, log2) = (self.places, self.places_per_word_log2);
        let width = u64::BITS >> log2;
        places_of(lpn, places, self.hashes).map(move |place| {
            ((place >> log2) as usize, (place as u32 & ((1 << log2) - 1)) * width)
        })
    }

    /// The bit of the first filter, from the current one on, that is not in `bits`; 0 if all are.
    ///
    /// Not a branch, which the processor would have to guess.
    #[inline]
    fn first_lacking(&self, bits: u64) -> u64 {
        let (current, wrapped) = (self.current, self.filters - self.current);
        let lacking = !bits & self.all();
        // From the current filter on, and all filters once more after the last.
        let rotated = (lacking | lacking << self.filters) >> current;
        let first = rotated & rotated.wrapping_neg();
        (first << current | first >> wrapped) & self.all()
    }

    /// A bit for each filter.
    #[inline]
    fn all(&self) -> u64 {
        (1 << self.filters) - 1
    }

    /// Empties the filter before the current one, which becomes the current one.
    #[cold]
    fn decay(&mut self) {
        self.left = self.decay;
        self.current = (self.current + self.filters - 1) % self.filters;
        let width = u64::BITS >> self.places_per_word_log2;
        let bits = (0..u64::BITS).step_by(width as usize).map(|shift| 1_u64 << shift).sum::<u64>();
        let kept = !(bits << self.current);
        self.words.iter_mut().for_each(|word| *word &= kept);
    }
}

/// The places below `places` that the hash functions give to a page: two independent halves of one
/// hash, and sums of them (Kirsch and Mitzenmacher, ESA 2006).
#[inline]
pub(crate) fn places_of(lpn: Lpn, places: u64, hashes: u32) -> impl Iterator<Item = u64> + use<> {
    let hash = hash(lpn);
    let (first, step) = ((hash >> 32) as u32, hash as u32 | 1);
    (0..hashes).map(move |index| below(places, first.wrapping_add(step.wrapping_mul(index))))
}

impl Hotness for Mbf {
    #[inline]
    fn record(&mut self, lpn: Lpn) {
        for (word, shift) in self.places(lpn) {
            self.words[word] |= self.first_lacking(self.words[word] >> shift) << shift;
        }
        self.left -= 1;
        if self.left == 0 {
            self.decay();
        }
    }

    #[inline]
    fn is_hot(&self, lpn: Lpn) -> bool {
        // Not `all`, at which the processor would have to guess after each place.
        self.places(lpn).fold(true, |hot, (word, shift)| {
            hot & self.enough[(self.words[word] >> shift & self.all()) as usize]
        })
    }

    fn metadata(&self) -> Metadata {
        Metadata::fixed(self.places * u64::from(self.filters) / 8 + 4)
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.words[..])
    }
}

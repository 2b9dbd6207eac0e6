//! What streams tell of lifetimes: the information that the host's hints have for the drive.

use crate::{Analysis, Request};
use ftlab_trace::pages::page_sectors;
use ftlab_trace::{Op, TraceError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Pages of the sample at most. Where there are more, every second one is left out.
const PAGES_MAX: usize = 1 << 17;

/// Octaves of lifetimes, and one more for what the workload does not end.
const OCTAVES: usize = 65;
const ENDLESS: usize = OCTAVES - 1;

/// How much the stream of a write says about how long what it writes lives.
///
/// A lifetime is the number of page writes until the page is written again or trimmed, in powers of two; what
/// lives at the end is a class of its own. `known_bits` is the mutual information of stream and class, `bits` the
/// entropy of the class (Shannon 1948), both of a sample of the pages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HintValue {
    /// Lives of pages in the sample.
    pub lives: u64,
    /// Bits that it takes to tell the octave of a lifetime without hints.
    pub bits: f64,
    /// Bits of these that the stream tells.
    pub known_bits: f64,
    /// Each stream, in order of their numbers.
    pub streams: Vec<StreamLives>,
}

/// How long the pages of a stream live.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamLives {
    /// Its number.
    pub stream: u16,
    /// Lives of pages in the sample.
    pub lives: u64,
    /// The median lifetime, in page writes, rounded down to a power of two; none if half of the pages or more live at
    /// the end.
    pub median_from: Option<u64>,
    /// The share that lives at the end, in 0..=1.
    pub endless: f64,
}

/// Counts the lives of a sample of the pages, by stream and octave.
#[derive(Debug, Clone)]
pub struct HintCounter {
    /// Sectors of a page.
    page_sectors: u64,
    /// Page -> when it was written, and in which stream.
    pages: HashMap<u64, (u64, u16)>,
    /// Pages whose hash ends in as many zeros are in the sample.
    zeros: u32,
    page_writes: u64,
    lives: BTreeMap<u16, Lives>,
}

/// Octave -> lives that ended in it.
#[derive(Debug, Clone, Copy)]
struct Lives([u64; OCTAVES]);

impl Default for Lives {
    fn default() -> Self {
        Self([0; OCTAVES])
    }
}

impl Lives {
    fn sum(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Bits that it takes to tell a life from others.
    fn entropy(&self) -> f64 {
        let all = self.sum() as f64;
        let used = self.0.iter().filter(|&&lives| lives > 0);
        used.map(|&lives| lives as f64 / all).map(|share| -share * share.log2()).sum()
    }

    fn median(&self) -> Option<u64> {
        let (mut below, all) = (0, self.sum());
        let octave = self.0.iter().position(|&lives| {
            below += lives;
            2 * below > all
        });
        octave.filter(|&octave| octave < ENDLESS).map(|octave| 1 << octave)
    }
}

/// Spreads page numbers over all bits (the finalizer of SplitMix64).
fn hash(page: u64) -> u64 {
    let mut bits = page.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

impl HintCounter {
    /// For pages of so many bytes, a multiple of 512.
    pub fn new(page_bytes: u32) -> Result<Self, TraceError> {
        let page_sectors = u64::from(page_sectors(page_bytes)?);
        let (pages, lives) = (HashMap::new(), BTreeMap::new());
        Ok(Self { page_sectors, pages, zeros: 0, page_writes: 0, lives })
    }

    fn is_sampled(&self, page: u64) -> bool {
        hash(page).trailing_zeros() >= self.zeros
    }

    fn begin(&mut self, page: u64, stream: u16) {
        self.pages.insert(page, (self.page_writes, stream));
        if self.pages.len() > PAGES_MAX {
            self.zeros += 1;
            let zeros = self.zeros;
            self.pages.retain(|&page, _| hash(page).trailing_zeros() >= zeros);
        }
    }

    fn end(&mut self, page: u64) {
        if let Some((written_at, stream)) = self.pages.remove(&page) {
            let lifetime = (self.page_writes - written_at).max(1);
            self.lives.entry(stream).or_default().0[lifetime.ilog2() as usize] += 1;
        }
    }
}

impl Analysis for HintCounter {
    type Report = Option<HintValue>;

    fn request(&mut self, request: &Request) {
        // As long as no write names a stream, there is nothing to end.
        if request.stream.is_none() && self.pages.is_empty() {
            return;
        }
        let (lba, sectors) = (request.lba, u64::from(request.sectors));
        let end = lba.saturating_add(sectors);
        let pages = match request.op {
            Op::Write if sectors > 0 => lba / self.page_sectors..end.div_ceil(self.page_sectors),
            // A page that is trimmed in part lives on.
            Op::Trim => lba.div_ceil(self.page_sectors)..end / self.page_sectors,
            _ => return,
        };
        for page in pages {
            let is_write = request.op == Op::Write;
            self.page_writes += u64::from(is_write);
            if self.is_sampled(page) {
                self.end(page);
                if let (Op::Write, Some(stream)) = (request.op, request.stream) {
                    self.begin(page, stream);
                }
            }
        }
    }

    /// None if the workload has no streams.
    fn finish(mut self) -> Option<HintValue> {
        for (_, stream) in std::mem::take(&mut self.pages).into_values() {
            self.lives.entry(stream).or_default().0[ENDLESS] += 1;
        }
        let mut all = Lives::default();
        for lives in self.lives.values() {
            all.0.iter_mut().zip(lives.0).for_each(|(all, lives)| *all += lives);
        }
        let lives = all.sum();
        if lives == 0 {
            return None;
        }
        // What is left to tell when the stream is known.
        let left = |own: &Lives| own.sum() as f64 / lives as f64 * own.entropy();
        let left: f64 = self.lives.values().map(left).sum();
        let streams = self.lives.iter().map(|(&stream, own)| StreamLives {
            stream,
            lives: own.sum(),
            median_from: own.median(),
            endless: own.0[ENDLESS] as f64 / own.sum() as f64,
        });
        let bits = all.entropy();
        let known_bits = (bits - left).max(0.0);
        Some(HintValue { lives, bits, known_bits, streams: streams.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(page: u64, stream: u16) -> Request {
        Request { op: Op::Write, lba: 8 * page, sectors: 8, time_us: None, stream: Some(stream) }
    }

    fn value(requests: impl Iterator<Item = Request>) -> Option<HintValue> {
        let mut counter = HintCounter::new(4096).unwrap();
        requests.for_each(|request| counter.request(&request));
        counter.finish()
    }

    #[test]
    fn a_stream_for_each_lifetime_tells_all_of_it() {
        // Page 0 lives for 2 writes, in stream 1, every other page for as long as there is, in stream 2.
        let found = value((0..2000).map(|at| if at % 2 == 0 { write(0, 1) } else { write(at, 2) }));
        let found = found.unwrap();
        assert_eq!(found.lives, 2000);
        // One bit for short or long, and next to nothing for the last life of page 0.
        assert!((found.bits - 1.0).abs() < 0.01 && (found.known_bits - found.bits).abs() < 0.01);
        assert_eq!(found.streams[0].median_from, Some(2));
        assert_eq!((found.streams[1].median_from, found.streams[1].endless), (None, 1.0));
    }

    #[test]
    fn streams_that_take_turns_tell_nothing() {
        let pages = |at: u64| if at.is_multiple_of(4) { 0 } else { 1 + at / 4 % 100 };
        let found = value((0..40_000).map(|at| write(pages(at), (at / 4 % 3) as u16))).unwrap();
        assert!(found.bits > 0.5 && found.known_bits < 0.01, "{found:?}");
    }

    #[test]
    fn a_trim_ends_the_lives_of_whole_pages_and_no_stream_says_nothing() {
        let trim = Request { op: Op::Trim, lba: 0, sectors: 12, stream: None, ..write(0, 0) };
        let found = value([write(0, 5), write(1, 5), trim].into_iter()).unwrap();
        assert_eq!((found.lives, found.streams[0].endless), (2, 0.5));
        let unnamed = |page| Request { stream: None, ..write(page, 0) };
        assert_eq!(value((0..10).map(unnamed)), None);
    }

    #[test]
    fn a_sample_knows_what_all_pages_do() {
        let pages = 2 * PAGES_MAX as u64;
        let writes = (0..3 * pages).map(|at| at % pages);
        let found = value(writes.map(|page| write(page, u16::from(page >= pages / 4)))).unwrap();
        assert!(found.lives < pages * 3 && found.lives > pages / 2);
        // All live as long as the drive has pages, a third of them until the end.
        assert!(found.known_bits < 0.01 && found.streams[0].median_from == Some(pages));
    }
}

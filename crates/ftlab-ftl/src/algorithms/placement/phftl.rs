//! `phftl`: a small neural network tells short-living pages from long-living ones.
//!
//! # Idea
//! How long a page will live shows in more than its last lifetime: in those before, in how it is written, and
//! in what happens around it. A network can learn which of it counts, on the drive, as it runs.
//!
//! # Rule
//! A network of 5 features, twice 16 rectified units and 2 outputs says of every host write whether what it
//! leaves will live for less than a threshold; both answers have a stream. Relocated pages go to one of five
//! streams, by how often they were relocated. The features are the page's last lifetime and the mean of those
//! before, whether it follows the page written before it, how long that run is, and how often the 512 pages
//! around it were written. One of `sample` writes is remembered until its lifetime is known. After each window
//! of host writes the threshold is found again, and the network goes once over the samples that became known.
//!
//! The threshold divides the logarithms of the lifetimes of these samples where the means of both sides lie
//! farthest apart (Otsu's method); it moves half the way there.
//!
//! # Parameters
//! `window` 0.05 drive writes; `sample` one of 4.
//!
//! # Where the paper is silent
//! The paper was at hand only as its abstract, as DOGI's authors sum it up (a recurrent network, GRU, for two
//! classes of host writes; five classes of relocated pages by age), and as a program of others names its
//! features: the ratio of reads to writes, whether requests are sequential, reads and writes of the chunk. An
//! FTL here sees neither reads nor the lengths of requests, so runs of page numbers stand for these. What GRU
//! remembers of a page's past is replaced by a mean that every lifetime moves half the way. How the threshold
//! is adapted, sizes, rates and windows are ours. The paper's victims are left to the victim rule; DOGI's
//! authors take cost-benefit. A first write counts as one after four drive writes. Intervals are taken modulo
//! 2^32 host writes.
//!
//! # Reference
//! Sun et al., "Learning-based Data Separation for Write Amplification Reduction in Solid State Drives", DAC
//! 2023; Kim et al., DOGI, FAST 2026, section 2.2, for its summary.

use crate::algorithms::placement::classes::log2;
use crate::algorithms::tools::intervals::writes_since;
use crate::algorithms::tools::network::Network;
use crate::algorithms::tools::samples::{Sample, Samples};
use crate::page::DriveState;
use crate::page::entry::{DriveShape, PlacementEntry};
use crate::page::policy::{HostWrite, Placement, Relocation, SampleBytes};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Metadata, memory};
use ftlab_flash::{BlockId, Lpn};

ftlab_spec::parameters! {
    pub struct PhftlParameters {
        /// Drive writes after which the threshold is found again and the network is trained.
        window: f64 = 0.05, "window" in 0.001..=100.0, from "ours";
        /// One of this many host writes is a sample.
        sample: u32 = 4, "sample" in 1..=10_000, from "ours";
    }
}

const FEATURES: usize = 5;

type Classifier = Network<FEATURES, 16, 2>;

const SHORT: StreamId = StreamId(0);
const LONG: StreamId = StreamId(1);

/// The last of the streams of relocated pages.
const MOVED_LAST: u8 = 6;

/// The answer that a page will be short-living.
const IS_SHORT: usize = 1;

/// Pages whose writes are counted together.
const CHUNK_PAGES: u32 = 512;

/// Drive writes that count as never. A sampled write need not end to be known after one.
const LONGEST: u32 = 4;

/// Parts of an octave in which lifetimes are told apart, and octaves.
const PARTS: usize = 4;
const OCTAVES: usize = 34;

/// What is known of a logical page.
#[derive(Debug, Clone, Copy, Default)]
struct Page {
    /// The write clock when the host wrote it, modulo 2^32.
    written_at: u32,
    /// The logarithm of its lifetimes, in the mean.
    mean: f32,
}

state!(Page { written_at, mean });

/// Two classes of host writes, by a network.
pub struct Phftl {
    pages: Vec<Page>,
    /// Chunk of pages -> host writes to it, half of them forgotten after every window.
    chunks: Vec<u32>,
    /// The page written last, and pages written one after the other up to it.
    previous: Lpn,
    run: u32,
    samples: Samples<FEATURES>,
    classifier: Box<Classifier>,
    /// The logarithm of the lifetime below which pages are short-living; none before the first window.
    threshold: f32,
    next_window: u64,
    window: u64,
    longest: u32,
}

state!(Phftl { pages, chunks, previous, run, samples, classifier, threshold, next_window } constant window, longest);

impl PlacementEntry for Phftl {
    type Parameters = PhftlParameters;
    const NAME: &'static str = "phftl";
    const SUMMARY: &'static str =
        "a neural network tells short-living pages; relocated ones by how often they were moved";
    const SOURCE: &'static str = "PHFTL (DAC 2023), in spirit";

    fn new(parameters: &PhftlParameters, shape: DriveShape) -> Self {
        let pages = shape.logical_pages;
        let window = (parameters.window * f64::from(pages)).ceil() as u64;
        Self {
            pages: memory::table(pages as usize, Page::default()),
            chunks: vec![0; pages.div_ceil(CHUNK_PAGES) as usize],
            previous: Lpn(0),
            run: 0,
            samples: Samples::new(parameters.sample, pages),
            classifier: Box::new(Classifier::new()),
            threshold: f32::NAN,
            next_window: window,
            window,
            longest: pages.saturating_mul(LONGEST),
        }
    }
}

/// The logarithm of a lifetime that divides those of the samples where the means of both sides lie farthest apart.
fn division(samples: &[Sample<FEATURES>]) -> f32 {
    let mut counts = [0.0_f32; PARTS * OCTAVES];
    for sample in samples {
        let place = (log2(sample.lifetime as f32) * PARTS as f32) as usize;
        counts[place.min(PARTS * OCTAVES - 1)] += 1.0;
    }
    let moment = |(place, count): (usize, &f32)| place as f32 * count;
    let (all, sum) = (samples.len() as f32, counts.iter().enumerate().map(moment).sum::<f32>());
    let (mut below, mut sum_below) = (0.0, 0.0);
    let (mut best, mut widest) = (0, 0.0);
    for (place, count) in counts.iter().enumerate() {
        below += count;
        sum_below += moment((place, count));
        let above = all - below;
        if below > 0.0 && above > 0.0 {
            let apart = sum_below / below - (sum - sum_below) / above;
            let variance = below * above * apart * apart;
            if variance > widest {
                (best, widest) = (place + 1, variance);
            }
        }
    }
    best as f32 / PARTS as f32
}

impl Phftl {
    /// Finds the threshold again, and trains.
    #[cold]
    fn end_window(&mut self, now: u64) {
        self.next_window = now + self.window;
        self.chunks.iter_mut().for_each(|writes| *writes /= 2);
        self.samples.settle_old(self.pages.len() as u64, now);
        if self.samples.known.len() < 64 {
            return;
        }
        let known = std::mem::take(&mut self.samples.known);
        let division = division(&known);
        self.threshold =
            if self.threshold.is_nan() { division } else { 0.5 * (self.threshold + division) };
        let label = |sample: &Sample<FEATURES>| {
            let is_short = log2(sample.lifetime as f32) < self.threshold;
            (sample.features, if is_short { IS_SHORT } else { 0 })
        };
        let labelled: Vec<_> = known.iter().map(label).collect();
        self.classifier.train(&labelled, 1);
    }
}

impl Placement for Phftl {
    fn streams(&self) -> Vec<Stream> {
        let host = |name| Stream { name, takes_relocations: false, cold: false };
        let moved = |name, cold| Stream { name, takes_relocations: true, cold };
        vec![
            host("short-living"),
            host("long-living"),
            moved("moved 1", false),
            moved("moved 2", false),
            moved("moved 3", false),
            moved("moved 4", false),
            moved("moved 5", true),
        ]
    }

    /// Where free blocks run out, pages of different temper may share one.
    fn reserve_blocks_min(&self) -> u32 {
        1
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, _block: BlockId) {
        memory::prefetch(&self.pages, lpn.index());
        self.samples.prefetch(lpn);
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        let (lpn, now) = (write.lpn, drive.write_clock());
        if now >= self.next_window {
            self.end_window(now);
        }
        let page = &mut self.pages[lpn.index()];
        let is_first = drive.flash_page(lpn).is_none();
        let lifetime = if is_first {
            self.longest
        } else {
            self.samples.end(lpn, now);
            writes_since(page.written_at, drive)
        };
        let lifetime = log2(lifetime as f32);
        page.written_at = now as u32;
        let before = if is_first { lifetime } else { page.mean };
        page.mean = 0.5 * (before + lifetime);
        let is_next = lpn.0 == self.previous.0.wrapping_add(1);
        self.run = if is_next { self.run.saturating_add(1) } else { 0 };
        self.previous = lpn;
        let chunk = &mut self.chunks[(lpn.0 / CHUNK_PAGES) as usize];
        let features = [
            lifetime,
            before,
            f32::from(u8::from(is_next)),
            log2(self.run as f32),
            log2(*chunk as f32),
        ];
        *chunk = chunk.saturating_add(1);
        self.samples.begin(lpn, features, now);
        let is_known = !self.threshold.is_nan();
        if is_known && self.classifier.classify(&features) == IS_SHORT { SHORT } else { LONG }
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, _drive: &DriveState) -> StreamId {
        StreamId((page.from.0.max(LONG.0) + 1).min(MOVED_LAST))
    }

    fn on_trim(&mut self, lpn: Lpn, drive: &DriveState) {
        self.samples.end(lpn, drive.write_clock());
    }

    /// A stamp and a mean for every page, a counter for each 512 of them, the class of every block, the network and the
    /// sampled writes.
    fn metadata(&self) -> Metadata {
        Metadata::per_page(64.0 + 32.0 / f64::from(CHUNK_PAGES))
            + Metadata::per_block(3)
            + Metadata::fixed(Classifier::weight_bytes() + self.samples.metadata_bytes())
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&self.pages[..])
            + size_of_val(&self.chunks[..])
            + size_of::<Classifier>()
            + self.samples.bytes()
    }

    fn sample_bytes(&self, logical_pages: u32) -> SampleBytes {
        self.samples.sample_bytes(logical_pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_division_lies_between_two_kinds_of_lifetimes() {
        let sample = |lifetime| Sample { features: [0.0; FEATURES], lifetime };
        let short = (0..300).map(|step| sample(100 + step % 60));
        let long = (0..100).map(|step| sample(20_000 + 50 * step));
        let samples: Vec<_> = short.chain(long).collect();
        let found = division(&samples);
        assert!((log2(159.0)..log2(20_000.0)).contains(&found), "{found}");
    }

    #[test]
    fn relocated_pages_move_on_by_one() {
        let streams = [0, 1, 2, 5, 6].map(|from| (from.max(LONG.0) + 1).min(MOVED_LAST));
        assert_eq!(streams, [2, 2, 3, 6, 6]);
    }
}

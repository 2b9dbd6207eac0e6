//! What is watched besides the counters of the FTL: victims, erases of each block, and what these were for.

use ftlab_flash::{BlockId, Cause};
use ftlab_ftl::Observer;
use ftlab_ftl::page::StreamId;
use std::time::{Duration, Instant};

/// Bins of the histogram of victims by valid share.
pub const BINS: usize = 20;

/// One step of a collection in this many is timed, since reading the clock takes as long as moving some
/// pages. A prime, so that it does not fall in with the steps of a collection.
const STEPS_PER_SAMPLE: u32 = 61;

/// Watches collections and erases only, so that page writes cost nothing.
#[derive(Debug, Clone)]
pub struct Watch {
    pages_per_block: u32,
    /// Victims by valid share.
    victims: [u64; BINS],
    /// By stream: victims, and valid pages in them.
    streams: Vec<[u64; 2]>,
    /// Log blocks of a hybrid-mapped FTL by the data blocks into which their valid pages were merged.
    merged: Vec<u64>,
    /// Erases of each block.
    erases: Vec<u32>,
    /// By cause: valid pages of victims, and erases.
    causes: [[u64; 2]; Cause::ALL.len()],
    collecting: Duration,
    collection_began: Instant,
    /// Steps since the last one that was timed; 0 is one that is timed.
    step: u32,
    /// What reading the clock added just before the step.
    clock: Duration,
}

impl Watch {
    pub(crate) fn new(blocks: u32, pages_per_block: u32) -> Self {
        let erases = vec![0; blocks as usize];
        Self {
            pages_per_block,
            victims: [0; BINS],
            streams: Vec::new(),
            merged: Vec::new(),
            erases,
            causes: [[0; 2]; Cause::ALL.len()],
            collecting: Duration::ZERO,
            collection_began: Instant::now(),
            step: 0,
            clock: Duration::ZERO,
        }
    }

    /// What has been seen since `earlier`, a copy of `self` then.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let pairs = self.erases.iter().zip(&earlier.erases);
        let streams = self.streams.iter().enumerate().map(|(stream, [victims, valid])| {
            let [victims_then, valid_then] = earlier.stream(stream);
            [victims - victims_then, valid - valid_then]
        });
        let then = earlier.merged.iter().chain(std::iter::repeat(&0));
        let merged = self.merged.iter().zip(then).map(|(now, then)| now - then);
        Self {
            pages_per_block: self.pages_per_block,
            victims: std::array::from_fn(|bin| self.victims[bin] - earlier.victims[bin]),
            streams: streams.collect(),
            merged: merged.collect(),
            erases: pairs.map(|(now, then)| now - then).collect(),
            causes: std::array::from_fn(|cause| {
                let ([moved, erases], [moved_then, erases_then]) =
                    (self.causes[cause], earlier.causes[cause]);
                [moved - moved_then, erases - erases_then]
            }),
            collecting: self.collecting.saturating_sub(earlier.collecting),
            collection_began: self.collection_began,
            step: self.step,
            clock: self.clock,
        }
    }

    /// Time in collections: choosing victims, moving their pages, erasing them. That of steps is
    /// estimated from a sample.
    pub fn collecting(&self) -> Duration {
        self.collecting
    }

    /// Log blocks of a hybrid-mapped FTL whose valid pages were all merged, by the number of data blocks from 0 on.
    pub fn merged(&self) -> &[u64] {
        &self.merged
    }

    /// Victims by valid share, in bins of equal width.
    pub fn victims(&self) -> &[u64; BINS] {
        &self.victims
    }

    /// The mean valid share of all victims, if there were any.
    pub fn valid_share(&self) -> Option<f64> {
        let all = self
            .streams
            .iter()
            .fold([0, 0], |[victims, valid], stream| [victims + stream[0], valid + stream[1]]);
        self.share(all)
    }

    /// The mean valid share of the victims of one stream, if there were any.
    pub fn stream_valid_share(&self, stream: usize) -> Option<f64> {
        self.share(self.stream(stream))
    }

    /// Victims of a stream and valid pages in them; there were none if it is beyond the end.
    fn stream(&self, stream: usize) -> [u64; 2] {
        self.streams.get(stream).copied().unwrap_or_default()
    }

    fn share(&self, [victims, valid_pages]: [u64; 2]) -> Option<f64> {
        let pages = victims * u64::from(self.pages_per_block);
        (victims > 0).then(|| valid_pages as f64 / pages as f64)
    }

    /// Erases of each block.
    pub fn erases(&self) -> &[u32] {
        &self.erases
    }

    /// Valid pages of the blocks that were collected for a cause. Of those that are collected in steps, the host may
    /// overwrite some before they move; that is only done for [`Cause::Move`].
    pub fn valid_pages_for(&self, cause: Cause) -> u64 {
        self.causes[cause as usize][0]
    }

    /// Blocks that were erased for this cause, counted as the FTL counts blocks.
    pub fn erases_for(&self, cause: Cause) -> u64 {
        self.causes[cause as usize][1]
    }
}

impl Observer for Watch {
    fn collection_begins(&mut self) {
        self.collection_began = Instant::now();
    }

    fn collection_ends(&mut self) {
        self.collecting += self.collection_began.elapsed();
    }

    fn step_begins(&mut self) {
        self.step = (self.step + 1) % STEPS_PER_SAMPLE;
        if self.step == 0 {
            let before = Instant::now();
            self.collection_began = Instant::now();
            self.clock = self.collection_began - before;
        }
    }

    fn step_ends(&mut self) {
        if self.step == 0 {
            let taken = self.collection_began.elapsed().saturating_sub(self.clock);
            self.collecting += taken * STEPS_PER_SAMPLE;
        }
    }

    fn collection(&mut self, _: BlockId, stream: StreamId, valid_pages: u32, cause: Cause) {
        let bin = u64::from(valid_pages) * BINS as u64 / u64::from(self.pages_per_block);
        // A block that is full of valid pages belongs to the last bin.
        self.victims[(bin as usize).min(BINS - 1)] += 1;
        if self.streams.len() <= stream.index() {
            self.streams.resize(stream.index() + 1, [0, 0]);
        }
        let [victims, valid] = &mut self.streams[stream.index()];
        *victims += 1;
        *valid += u64::from(valid_pages);
        self.causes[cause as usize][0] += u64::from(valid_pages);
    }

    fn emptied_by_merges(&mut self, data_blocks: u32) {
        let blocks = data_blocks as usize;
        if self.merged.len() <= blocks {
            self.merged.resize(blocks + 1, 0);
        }
        self.merged[blocks] += 1;
    }

    fn erase(&mut self, block: BlockId, cause: Cause) {
        self.causes[cause as usize][1] += 1;
        self.erases[block.index()] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_steps_is_estimated_from_a_few() {
        let mut watch = Watch::new(1, 2);
        let start = Instant::now();
        for _ in 0..4 * STEPS_PER_SAMPLE {
            watch.step_begins();
            let step = Instant::now();
            while step.elapsed() < Duration::from_micros(20) {}
            watch.step_ends();
        }
        let least = 4 * STEPS_PER_SAMPLE * Duration::from_micros(19);
        assert!(watch.collecting() >= least, "{:?} of {:?}", watch.collecting(), start.elapsed());
    }

    #[test]
    fn victims_are_counted_by_valid_share_and_block() {
        let mut watch = Watch::new(4, 128);
        watch.collection(BlockId(1), StreamId(0), 0, Cause::Move);
        watch.erase(BlockId(1), Cause::Move);
        let earlier = watch.clone();
        for (block, valid) in [(1, 6), (1, 7), (2, 128), (1, 64)] {
            let cause = if block == 2 { Cause::Wear } else { Cause::Move };
            watch.collection(BlockId(block), StreamId(block as u8), valid, cause);
            watch.erase(BlockId(block), cause);
        }
        watch.emptied_by_merges(2);
        assert_eq!(watch.since(&earlier).merged(), [0, 0, 1]);
        let seen = watch.since(&earlier);
        let bins = seen.victims();
        assert_eq!((bins[0], bins[1], bins[10], bins[19]), (1, 1, 1, 1));
        assert_eq!(seen.valid_share(), Some((6.0 + 7.0 + 128.0 + 64.0) / 512.0));
        let shares = [0, 1, 2, 3].map(|stream| seen.stream_valid_share(stream));
        assert_eq!(shares, [None, Some(77.0 / 384.0), Some(1.0), None]);
        assert_eq!(seen.erases(), [0, 3, 1, 0]);
        let of = |cause| [seen.valid_pages_for(cause), seen.erases_for(cause)];
        assert_eq!([Cause::Move, Cause::Wear, Cause::Fold].map(of), [[77, 3], [128, 1], [0, 0]]);
        assert_eq!(Watch::new(1, 2).valid_share(), None);
    }
}

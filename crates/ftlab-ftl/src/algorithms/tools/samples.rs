//! Writes of which it is found out how long what they leave lives: what classifiers learn from.

use crate::algorithms::tools::hash::hash;
use crate::memory;
use crate::page::policy::SampleBytes;
use crate::state::state;
use ftlab_flash::Lpn;

/// No page.
const NONE: u32 = u32::MAX;

/// Writes that wait at most.
const WAITING_MAX: u32 = 1 << 19;

/// A write whose lifetime is not known yet.
#[derive(Debug, Clone, Copy)]
struct Waiting<const IN: usize> {
    features: [f32; IN],
    lpn: u32,
    written_at: u64,
}

state!([const IN: usize] Waiting<IN> { features, lpn, written_at });

/// A write and what came of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample<const IN: usize> {
    /// What was known when it was written.
    pub(crate) features: [f32; IN],
    /// Host writes that it lived for, or has lived for so far if these are many.
    pub(crate) lifetime: u64,
}

impl<const IN: usize> crate::State for Sample<IN> {
    fn transfer(&mut self, archive: &mut dyn crate::Archive) -> Result<(), crate::StateError> {
        let Self { features, lifetime } = self;
        features.transfer(archive)?;
        lifetime.transfer(archive)
    }

    fn blank() -> Option<Self> {
        Some(Self { features: [0.0; IN], lifetime: 0 })
    }
}

/// Sampled writes: those that wait for their end, and those whose lifetimes are known.
pub(crate) struct Samples<const IN: usize> {
    /// A page has one place; where it is taken, another page is sampled instead.
    waiting: Vec<Waiting<IN>>,
    /// In the order in which they became known.
    pub(crate) known: Vec<Sample<IN>>,
    every: u32,
    /// Writes until one is to be sampled.
    left: u32,
}

state!([const IN: usize] Samples<IN> { waiting, known, left } constant every);

/// Writes that may wait.
fn places(every: u32, logical_pages: u32) -> u32 {
    logical_pages.div_ceil(every).next_power_of_two().min(WAITING_MAX)
}

impl<const IN: usize> Samples<IN> {
    /// Samples one of `every` writes to a drive of `logical_pages`.
    pub(crate) fn new(every: u32, logical_pages: u32) -> Self {
        let places = places(every, logical_pages);
        let none = Waiting { features: [0.0; IN], lpn: NONE, written_at: 0 };
        Self { waiting: vec![none; places as usize], known: Vec::new(), every, left: 0 }
    }

    #[inline]
    fn place(&self, lpn: Lpn) -> usize {
        hash(lpn) as usize & (self.waiting.len() - 1)
    }

    #[inline]
    pub(crate) fn prefetch(&self, lpn: Lpn) {
        memory::prefetch(&self.waiting, self.place(lpn));
    }

    /// The page is written again or trimmed: if its last write was sampled, its lifetime is known.
    #[inline]
    pub(crate) fn end(&mut self, lpn: Lpn, now: u64) {
        let place = self.place(lpn);
        if self.waiting[place].lpn == lpn.0 {
            self.settle(place, now);
        }
    }

    /// The page is written; samples that write if it is its turn.
    #[inline]
    pub(crate) fn begin(&mut self, lpn: Lpn, features: [f32; IN], now: u64) {
        if self.left > 0 {
            self.left -= 1;
            return;
        }
        let place = self.place(lpn);
        if self.waiting[place].lpn == NONE {
            self.waiting[place] = Waiting { features, lpn: lpn.0, written_at: now };
            self.left = self.every - 1;
        }
    }

    /// What has lived for `longest` need not end to be known.
    pub(crate) fn settle_old(&mut self, longest: u64, now: u64) {
        for place in 0..self.waiting.len() {
            let Waiting { lpn, written_at, .. } = self.waiting[place];
            if lpn != NONE && now - written_at >= longest {
                self.settle(place, now);
            }
        }
    }

    fn settle(&mut self, place: usize, now: u64) {
        let waiting = &mut self.waiting[place];
        waiting.lpn = NONE;
        let Waiting { features, written_at, .. } = *waiting;
        if self.known.len() < self.waiting.len() {
            self.known.push(Sample { features, lifetime: now - written_at });
        }
    }

    /// Bytes of the tables.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.waiting[..]) + self.known.capacity() * size_of::<Sample<IN>>()
    }

    /// Bytes that the waiting ones take here, and all of them when a drive of `logical_pages` knows as many as may
    /// be, with a label and two numbers of each to learn from.
    pub(crate) fn sample_bytes(&self, logical_pages: u32) -> SampleBytes {
        let each = size_of::<Waiting<IN>>() + size_of::<Sample<IN>>() + 4 * IN + 20;
        SampleBytes {
            here: size_of_val(&self.waiting[..]),
            most: places(self.every, logical_pages) as usize * each,
        }
    }

    /// What a controller would keep: features, page and time of every write that may wait.
    pub(crate) fn metadata_bytes(&self) -> u64 {
        (self.waiting.len() * (4 * IN + 12)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_of_sampled_writes_become_known() {
        let mut samples = Samples::<1>::new(3, 30);
        // Every third of them, if its place is free.
        for lpn in 0..9 {
            samples.begin(Lpn(lpn), [lpn as f32], u64::from(lpn));
        }
        for lpn in [0, 1] {
            samples.end(Lpn(lpn), 20);
        }
        samples.end(Lpn(0), 25);
        let known = |samples: &Samples<1>| {
            let known = samples.known.iter();
            known.map(|sample| (sample.features[0], sample.lifetime)).collect::<Vec<_>>()
        };
        assert_eq!(known(&samples), [(0.0, 20)]);
        samples.settle_old(15, 20);
        assert_eq!(known(&samples), [(0.0, 20), (3.0, 17)]);
        samples.end(Lpn(6), 30);
        assert_eq!(known(&samples).last(), Some(&(6.0, 24)));
    }
}

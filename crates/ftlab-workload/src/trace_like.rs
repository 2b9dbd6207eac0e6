//! `trace-like`: more of a given trace, for a drive of any size.
//!
//! # Idea
//! A trace is a population of pages with histories. A larger drive has more pages of each kind, a smaller
//! one fewer; and a page might as well have gone on as another did that has been like it so far.
//!
//! # Rule
//! `survey` reads the trace once. Pages next to each other, most of whose writes come in the same requests,
//! are a unit, of at most 16 pages. The drive is then divided into copies of the trace's drive, side by
//! side, as many as fit, and what is left has a sample of the units (`copy`): of as many in a row as there
//! are to one that is kept, one is drawn.
//!
//! All copies repeat the trace, request by request in turn, each a lag of its own behind the first: up
//! to 1/32 of the trace or 65,536 requests, so that like pages of different copies are not written
//! together. A request that is no longer in one piece is as many requests as it has pieces.
//!
//! At the end of every sixteenth of the requests, each copy exchanges units that have been alike so far
//! (`past`), by chance: those of the same number of pages, of writes and of writes within this
//! sixteenth, and written last at about the same time, the last three in quarters of octaves. From there on
//! the history of one is continued by that of the other. That is a bootstrap of matched blocks
//! (Carlstein et al., 1998), with the seed as its chance.
//!
//! What this keeps, because it is not touched: what is written at any moment of the trace (growth, phases,
//! bursts, frozen pages), what is written together, intervals within a sixteenth, request sizes, trims and
//! flushes; and intervals across its border, within a quarter of an octave. The sequence is as long, in
//! drive writes, as the trace is, and then ends.
//!
//! # What is lost
//! Which page it was that was written so long ago that it does not show in numbers any more. Reads. In a
//! sample, the order of addresses with gaps, and the size of long requests, which shrink with the drive.
//! A copy grows as the trace does, in its own part: a table of a database is not in one piece.
//!
//! # Reference
//! Ours. E. Carlstein, K. Do, P. Hall, T. Hesterberg and H. R. Künsch, "Matched-block bootstrap for dependent
//! data", Bernoulli 4(3), 1998.

mod copy;
mod past;
mod side_by_side;
mod survey;

pub use side_by_side::SideBySide;

use super::file_name::FileName;
use super::generator::{End, GeneratorInfo, Make};
use super::requests::{Stepped, Steps};
use super::sequence::PageSequence;
use copy::Copy;
use ftlab_random::draw_below;
use ftlab_spec::{Parameters, Spec, SpecError};
use ftlab_trace::Space;
use ftlab_trace::{Op, RequestBatch, TraceError, TraceSource, pages};
use past::{Like, Past};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use survey::Survey;

/// Parts of the trace, at the ends of which like units are exchanged.
const PERIODS: u64 = 16;

/// Requests that a copy lags behind at most.
const LAG_MAX: u64 = 1 << 16;

ftlab_spec::parameters! {
    /// What is repeated.
    pub struct TraceLikeParameters {
        /// The trace, in a format that is recognised by content.
        file: FileName = FileName::default(), "file", from "must be given";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "trace-like",
    summary: "more of a given trace, for a drive of any size",
    source: "ours",
    parameters: TraceLikeParameters::describe,
    version: 1,
    end: End::Always,
    make: Make::Parameters {
        resolve: TraceLikeParameters::resolve,
        build,
        areas: |_, _| Ok(Vec::new()),
    },
};

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let TraceLikeParameters { file } = TraceLikeParameters::from_spec(spec)?;
    if file.as_str().is_empty() {
        return Err(SpecError::BadValue {
            of: spec.name.clone(),
            key: "file".into(),
            value: String::new(),
            expects: "the path of a trace; give one, as in trace-like:file=trace.parquet".into(),
        }
        .into());
    }
    let survey = survey::of(Path::new(file.as_str()), space.page_bytes)?;
    Ok(Box::new(Stepped::new(TraceLike::new(survey, space)?)))
}

struct TraceLike {
    survey: Arc<Survey>,
    random: Xoshiro256PlusPlus,
    page_sectors: u64,
    copies: Vec<Copy>,
    trace: Box<dyn TraceSource>,
    batch: RequestBatch,
    /// Requests of `batch` that have been taken.
    used: usize,
    /// Number of the next request, beyond the last as long as a copy lags behind; the last ones before
    /// it, as many as the lags need.
    next: u64,
    recent: VecDeque<(Op, u64, u32)>,
    lag_max: u64,
    past: Past,
    /// What is exchanged, and the number of the request before which that happens.
    alike: Vec<Like>,
    exchange_at: u64,
}

impl TraceLike {
    fn new(survey: Arc<Survey>, space: &Space) -> Result<Self, TraceError> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(space.seed);
        let copies = copies(&survey, space, &mut random);
        let lag_max = copies.iter().map(|copy| copy.lag).max().unwrap_or(0);
        Ok(Self {
            random,
            page_sectors: u64::from(pages::page_sectors(space.page_bytes)?),
            copies,
            trace: survey.open()?,
            batch: RequestBatch::new(),
            used: 0,
            next: 0,
            recent: VecDeque::new(),
            lag_max,
            past: Past::new(survey.units.len()),
            alike: Vec::new(),
            exchange_at: u64::MAX,
            survey,
        })
    }

    /// The error of a trace that has become shorter since it was read first.
    fn changed(&self) -> TraceError {
        let Survey { origin, requests, .. } = &*self.survey;
        TraceError::Unsupported {
            what: format!(
                "{}, which had {requests} requests and now has {},",
                origin.name, self.next
            ),
            remedy: "give a trace that nothing writes to".into(),
        }
    }

    /// Takes the next request of the trace, if there is one, into `recent`.
    fn read(&mut self) -> Result<(), TraceError> {
        if self.next >= self.survey.requests {
            return Ok(());
        }
        while self.used == self.batch.len() {
            self.used = 0;
            if !self.trace.next_batch(&mut self.batch)? {
                return Err(self.changed());
            }
            survey::drop_reads(&mut self.batch);
        }
        // Before the first request of a period; the lags are shorter than it is.
        if self.next > 0 && self.next.is_multiple_of((self.survey.requests / PERIODS).max(1)) {
            self.alike = self.past.alike(&self.survey);
            self.exchange_at = self.next;
        }
        self.past.see(&self.survey, &self.batch, self.used, self.page_sectors);
        let index = self.used;
        self.recent.push_back((
            self.batch.op[index],
            self.batch.lba[index],
            self.batch.sectors[index],
        ));
        self.used += 1;
        Ok(())
    }
}

/// Copies of the trace's drive, and a sample of it in the rest.
fn copies(survey: &Survey, space: &Space, random: &mut Xoshiro256PlusPlus) -> Vec<Copy> {
    let (wholes, rest) =
        (space.logical_pages / survey.drive_pages, space.logical_pages % survey.drive_pages);
    let all = wholes + u64::from(rest > 0);
    let lag_max = LAG_MAX.min(survey.requests / PERIODS / 2);
    // Each in its own part of what there is, the first one without.
    let mut lag = |number: u64| match number {
        0 => 0,
        _ => (number * lag_max + draw_below(random, lag_max + 1)) / all,
    };
    let lags: Vec<u64> = (0..all).map(&mut lag).collect();
    let base = |number: u64| number * survey.drive_pages;
    let mut copies: Vec<Copy> = (0..wholes)
        .map(|number| Copy::whole(survey, base(number), lags[number as usize]))
        .collect();
    if rest > 0 {
        copies.push(Copy::sample(survey, base(wholes), rest, lags[wholes as usize], random));
    }
    copies
}

impl Steps for TraceLike {
    fn step(&mut self, out: &mut RequestBatch) -> Result<bool, TraceError> {
        if self.next >= self.survey.requests + self.lag_max {
            return Ok(false);
        }
        self.read()?;
        let newest = self.next;
        self.next += 1;
        // Of `recent`, the number of the first.
        let oldest = (newest + 1).min(self.survey.requests) - self.recent.len() as u64;
        for copy in &mut self.copies {
            let Some(number) = newest.checked_sub(copy.lag) else { continue };
            if number == self.exchange_at {
                copy.exchange(&self.alike, &mut self.random);
            }
            if let Some(request) = self.recent.get((number - oldest) as usize) {
                copy.repeat(&self.survey, self.page_sectors, *request, out);
            }
        }
        if self.recent.len() as u64 > self.lag_max {
            self.recent.pop_front();
        }
        Ok(true)
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        let units = self.survey.units.len();
        vec![("copies", self.copies.len().to_string()), ("units", units.to_string())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build as generate;
    use ftlab_trace::{CreateOptions, convert, create};
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    type Requests = Vec<(Op, u64, u32)>;

    const PAGES: u64 = 8192;

    /// Writes the first requests of a generator to a file.
    fn record(folder: &Path, generator: &str, page_writes: u64) -> PathBuf {
        let path = folder.join("trace.parquet");
        let space = Space { logical_pages: PAGES, page_bytes: 4096, seed: 1 };
        let mut original = generate(&generator.parse().unwrap(), &space).unwrap();
        let options =
            CreateOptions { metadata: original.metadata().clone(), ..CreateOptions::default() };
        convert(original.as_mut(), create(&path, &options).unwrap(), Some(page_writes)).unwrap();
        path
    }

    fn all(source: &mut dyn TraceSource) -> Requests {
        let mut all = Vec::new();
        let mut batch = RequestBatch::new();
        while source.next_batch(&mut batch).unwrap() {
            all.extend(batch.iter());
        }
        all
    }

    fn original(path: &Path) -> Requests {
        all(ftlab_trace::open(path, &ftlab_trace::OpenOptions::default()).unwrap().as_mut())
    }

    fn like(path: &Path, logical_pages: u64, seed: u64) -> Requests {
        let space = Space { logical_pages, page_bytes: 4096, seed };
        let spec = format!("trace-like:file={}", path.display()).parse().unwrap();
        all(generate(&spec, &space).unwrap().as_mut())
    }

    /// Pages written, in order.
    fn pages(requests: &Requests) -> impl Iterator<Item = u64> + '_ {
        let writes = requests.iter().filter(|(op, _, sectors)| *op == Op::Write && *sectors > 0);
        writes.flat_map(|(_, lba, sectors)| lba / 8..=(lba + u64::from(*sectors) - 1) / 8)
    }

    /// Writes of each page, the most-written first.
    fn counts(requests: &Requests) -> Vec<u64> {
        let mut counts = BTreeMap::<u64, u64>::new();
        for page in pages(requests) {
            *counts.entry(page).or_default() += 1;
        }
        let mut counts: Vec<u64> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }

    /// The quartiles of the intervals between writes of a page, in page writes.
    fn quartiles(requests: &Requests) -> [u64; 3] {
        let (mut last, mut intervals) = (BTreeMap::new(), Vec::new());
        for (now, page) in (0_u64..).zip(pages(requests)) {
            intervals.extend(last.insert(page, now).map(|before| now - before));
        }
        intervals.sort_unstable();
        [1, 2, 3].map(|quarter| intervals[intervals.len() * quarter / 4])
    }

    #[test]
    fn footprint_skew_length_and_intervals_are_those_of_the_trace_at_any_scale() {
        let folder = tempfile::tempdir().unwrap();
        let path = record(folder.path(), "hotcold:writes=0.8,pages=0.1", 100_000);
        let expected = original(&path);
        let (most_written, intervals) = (counts(&expected), quartiles(&expected));
        for scale in [0.25, 1.0, 2.5, 4.0] {
            let requests = like(&path, (PAGES as f64 * scale) as u64, 2);
            let counts = counts(&requests);
            let near = |measured: u64, expected: u64| {
                let expected = expected as f64 * scale;
                assert!(
                    (measured as f64 / expected - 1.0).abs() < 0.05,
                    "{measured}, not {expected}, at {scale}"
                );
            };
            near(counts.len() as u64, most_written.len() as u64);
            near(counts.iter().sum(), 100_000);
            let hot = |counts: &[u64]| counts[..counts.len() / 10].iter().sum();
            near(hot(&counts), hot(&most_written));
            for (measured, expected) in quartiles(&requests).into_iter().zip(intervals) {
                near(measured, expected);
            }
        }
    }

    #[test]
    fn a_drive_of_the_same_size_has_the_same_at_every_moment_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = record(folder.path(), "ycsb:workload=a,doublewrite=64", 60_000);
        let expected = original(&path);
        let (one, other) = (like(&path, PAGES, 1), like(&path, PAGES, 2));
        assert_eq!(one, like(&path, PAGES, 1));
        assert_ne!(one, other);
        for requests in [one, other] {
            let shape = |requests: &Requests| pages(requests).count();
            assert_eq!(shape(&requests), shape(&expected));
            assert_eq!(counts(&requests).len(), counts(&expected).len());
            // Flushes, and writes of the long runs, stay as and where they are.
            let still = |requests: &Requests| -> Requests {
                let is_still =
                    |(op, _, sectors): &&(Op, u64, u32)| *op != Op::Write || *sectors > 128;
                requests.iter().filter(is_still).copied().collect()
            };
            assert_eq!(still(&requests), still(&expected));
        }
    }

    #[test]
    fn copies_are_written_in_their_own_parts_and_not_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = record(folder.path(), "uniform", 50_000);
        let expected: Vec<u64> = pages(&original(&path)).collect();
        let requests = like(&path, 3 * PAGES, 1);
        let of_copy = |copy: u64| pages(&requests).filter(move |page| page / PAGES == copy);
        for copy in 0..3 {
            assert_eq!(of_copy(copy).count(), expected.len());
            // Before the first exchange.
            let first = of_copy(copy).take(expected.len() / 16).map(|page| page % PAGES);
            assert!(first.eq(expected[..expected.len() / 16].iter().copied()));
        }
        let together =
            requests.windows(2).filter(|two| two[0].1 % (8 * PAGES) == two[1].1 % (8 * PAGES));
        assert!(together.count() < 100);
    }

    #[test]
    fn a_trace_that_becomes_shorter_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = record(folder.path(), "uniform", 40_000);
        let space = Space { logical_pages: PAGES, page_bytes: 4096, seed: 1 };
        let survey = survey::of(&path, 4096).unwrap();
        record(folder.path(), "uniform", 30_000);
        let mut steps = TraceLike::new(survey, &space).unwrap();
        let mut out = RequestBatch::new();
        let error = loop {
            match steps.step(&mut out) {
                Ok(has_more) => assert!(has_more, "it ended"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("had 40000 requests and now has 30000"), "{error}");
    }

    #[test]
    fn a_trace_has_to_be_given() {
        let error = generate(&"trace-like".parse().unwrap(), &ftlab_trace::TRIAL);
        let error = error.err().unwrap().to_string();
        assert!(error.contains("trace-like:file=trace.parquet"), "{error}");
    }
}

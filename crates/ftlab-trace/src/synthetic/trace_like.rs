//! `trace-like`: more of a given trace, for a drive of any size.
//!
//! # Idea
//! A trace is a population of pages: when each is written first, how often, at which intervals, and in
//! requests of which size. A larger drive has more pages of each kind, and they wait as much longer.
//!
//! # Rule
//! `fit` reads the trace once and sorts its pages into classes: by how often they are written (in
//! quarters of octaves), when for the first time (in sixteenths of the trace) and in requests of which size. Of each
//! class it keeps the number of pages and of writes, and the distribution of the intervals between writes
//! of the same page. The generator makes runs of pages as long as the class's requests, as many as the
//! drive is larger or smaller. Each run is written first at a moment of its sixteenth; after each write it
//! draws an interval of its class, in drive writes, until it has had its number of writes. Pages lie in
//! the order in which they are written first. When all runs are done, the sequence ends.
//!
//! Footprint, growth, skew, the distributions of intervals and of request sizes, and the length in drive
//! writes follow the trace. Which pages are written together does not: docs/workloads.md tells how far write
//! amplification is off for that reason.
//!
//! # What is simplified
//! Intervals of a page are independent of each other, and of those of other pages. Reads, trims and flushes
//! are left out: of a trace that trims much, such as of a log-structured merge tree, it makes one that does
//! not. A page is written in whole, in requests of one size.
//!
//! # Reference
//! Ours.

mod fit;

use super::requests::{Stepped, Steps};
use super::uniform::draw_below;
use super::{GeneratorInfo, PageSequence, Space};
use crate::{Op, RequestBatch, TraceError, pages};
use fit::{BIRTHS, Fit};
use ftlab_spec::{Parameters, Spec, SpecError};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::Arc;

/// The path of a file; empty for none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileName(String);

impl std::fmt::Display for FileName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl ftlab_spec::Value for FileName {
    fn expects() -> String {
        "the path of a trace".into()
    }

    fn parse(text: &str) -> Option<Self> {
        Some(Self(text.into()))
    }
}

ftlab_spec::parameters! {
    /// Which trace.
    pub struct TraceLikeParameters {
        /// The trace, in a format that is recognised by content.
        file: FileName = FileName::default(), "file", from "must be given";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "trace-like",
    summary: "more of a given trace, for a drive of any size: its footprint, growth, skew, intervals and sizes",
    source: "ours",
    parameters: TraceLikeParameters::describe,
    resolve: TraceLikeParameters::resolve,
    build,
    areas: |_, _| Ok(Vec::new()),
};

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let TraceLikeParameters { file } = TraceLikeParameters::from_spec(spec)?;
    if file.0.is_empty() {
        return Err(SpecError::BadValue {
            of: spec.name.clone(),
            key: "file".into(),
            value: String::new(),
            expects: "the path of a trace; give one, as in trace-like:file=trace.parquet".into(),
        }
        .into());
    }
    let fit = fit::of(Path::new(&file.0), space.page_bytes)?;
    Ok(Box::new(Stepped::new(TraceLike::new(fit, space)?, space.page_bytes)))
}

/// A run of pages that is written as one.
#[derive(Debug, Clone, Copy)]
struct Run {
    first_page: u32,
    class: u32,
    /// Writes that are still to come.
    left: u32,
}

struct TraceLike {
    fit: Arc<Fit>,
    random: Xoshiro256PlusPlus,
    /// Moments are page writes of this drive.
    scale: f64,
    page_sectors: u32,
    runs: Vec<Run>,
    /// When each run is written next.
    due: BinaryHeap<Reverse<(u64, u32)>>,
}

impl TraceLike {
    fn new(fit: Arc<Fit>, space: &Space) -> Result<Self, TraceError> {
        if space.logical_pages > u64::from(u32::MAX) {
            return Err(TraceError::Unsupported {
                what: format!("a drive of {} pages", space.logical_pages),
                remedy: format!("trace-like works with up to {}: give larger pages", u32::MAX),
            });
        }
        let scale = space.logical_pages as f64 / fit.drive_pages as f64;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(space.seed);
        let mut born = births(&fit, scale, &mut random);
        born.sort_unstable();
        let (mut runs, mut due) = (Vec::new(), BinaryHeap::new());
        let mut next_page = 0;
        for (moment, class, left) in born {
            let pages = fit.classes[class as usize].run_pages;
            if next_page + u64::from(pages) > space.logical_pages {
                break;
            }
            due.push(Reverse((moment, runs.len() as u32)));
            runs.push(Run { first_page: next_page as u32, class, left });
            next_page += u64::from(pages);
        }
        let page_sectors = pages::page_sectors(space.page_bytes)?;
        Ok(Self { fit, random, scale, page_sectors, runs, due })
    }
}

/// Moment of the first write, class and number of writes of every run.
fn births(fit: &Fit, scale: f64, random: &mut Xoshiro256PlusPlus) -> Vec<(u64, u32, u32)> {
    let mut born = Vec::new();
    for (number, class) in (0..).zip(&fit.classes) {
        let runs = class.pages as f64 * scale / f64::from(class.run_pages);
        // A part of a run is one, as often.
        let runs = runs as u64 + u64::from(unit(random) < runs.fract());
        let writes = class.writes as f64 / class.pages as f64;
        for _ in 0..runs {
            let within = (class.birth as f64 + unit(random)) / BIRTHS as f64;
            let moment = (within * fit.writes as f64 * scale) as u64;
            let count = writes as u32 + u32::from(unit(random) < writes.fract());
            born.push((moment, number, count.max(1)));
        }
    }
    born
}

/// A number in 0..1.
fn unit(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

impl Steps for TraceLike {
    fn step(&mut self, out: &mut RequestBatch) -> bool {
        let Some(Reverse((moment, number))) = self.due.pop() else { return false };
        let run = &mut self.runs[number as usize];
        let class = &self.fit.classes[run.class as usize];
        let lba = u64::from(run.first_page) * u64::from(self.page_sectors);
        out.push(Op::Write, lba, class.run_pages * self.page_sectors);
        run.left -= 1;
        if run.left > 0 {
            let drawn = draw_below(&mut self.random, class.intervals_total().max(1));
            let interval = class.interval(drawn, unit(&mut self.random)) * self.scale;
            self.due.push(Reverse((moment + interval.max(1.0) as u64, number)));
        }
        true
    }

    fn has_end(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::build as generate;
    use crate::{CreateOptions, OpenOptions, convert, create, open};
    use std::collections::BTreeMap;

    /// Writes of each page, the most-written first.
    fn counts(source: &mut dyn crate::TraceSource) -> Vec<u64> {
        let mut counts = BTreeMap::<u64, u64>::new();
        let mut batch = RequestBatch::new();
        while source.next_batch(&mut batch).unwrap() {
            for (_, lba, sectors) in batch.iter() {
                for page in lba / 8..(lba + u64::from(sectors)) / 8 {
                    *counts.entry(page).or_default() += 1;
                }
            }
        }
        let mut counts: Vec<u64> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }

    #[test]
    fn footprint_skew_and_length_are_those_of_the_trace_at_any_scale() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hot.parquet");
        let space = Space { logical_pages: 8192, page_bytes: 4096, seed: 1 };
        let mut original =
            generate(&"hotcold:writes=0.8,pages=0.1".parse().unwrap(), &space).unwrap();
        let metadata = original.metadata().clone();
        let options = CreateOptions { metadata, ..CreateOptions::default() };
        convert(original.as_mut(), create(&path, &options).unwrap(), Some(100_000)).unwrap();
        let expected = counts(open(&path, &OpenOptions::default()).unwrap().as_mut());
        for scale in [1, 4] {
            let space = Space { logical_pages: 8192 * scale, page_bytes: 4096, seed: 2 };
            let spec = format!("trace-like:file={}", path.display()).parse().unwrap();
            let counts = counts(generate(&spec, &space).unwrap().as_mut());
            let near = |measured: u64, expected: u64| {
                let expected = (expected * scale) as f64;
                assert!((measured as f64 / expected - 1.0).abs() < 0.02, "{measured} {expected}");
            };
            near(counts.len() as u64, expected.len() as u64);
            near(counts.iter().sum(), 100_000);
            let hot = |counts: &[u64]| counts[..counts.len() / 10].iter().sum();
            near(hot(&counts), hot(&expected));
        }
    }

    #[test]
    fn a_trace_has_to_be_given() {
        let error = generate(&"trace-like".parse().unwrap(), &crate::synthetic::TRIAL);
        let error = error.err().unwrap().to_string();
        assert!(error.contains("trace-like:file=trace.parquet"), "{error}");
    }
}

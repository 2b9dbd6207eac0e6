//! The kinds of pages that a trace has.

use crate::pages::{self, PageSink, SECTOR_BYTES};
use crate::{OpenOptions, RequestBatch, TraceError, TraceSource, address_range, open};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Parts of the trace in which pages are written for the first time.
pub(super) const BIRTHS: u64 = 16;

/// Buckets of intervals, and of numbers of writes, in an octave.
const STEPS: f64 = 4.0;

/// Pages that are alike.
#[derive(Debug, Clone)]
pub(super) struct Class {
    /// The part of the trace in which they are written first.
    pub(super) birth: u64,
    /// Pages of a request.
    pub(super) run_pages: u32,
    pub(super) pages: u64,
    pub(super) writes: u64,
    /// Intervals between writes of the same page up to each bucket's, in page writes.
    intervals: Vec<u64>,
}

impl Class {
    pub(super) fn intervals_total(&self) -> u64 {
        self.intervals.last().copied().unwrap_or(0)
    }

    /// The interval with the number `drawn`, at a place of its bucket in 0..1.
    pub(super) fn interval(&self, drawn: u64, within: f64) -> f64 {
        let bucket = self.intervals.partition_point(|up_to| *up_to <= drawn);
        ((bucket as f64 + within) / STEPS).exp2()
    }
}

/// What a trace consists of.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    pub(super) drive_pages: u64,
    pub(super) writes: u64,
    pub(super) classes: Vec<Class>,
}

/// Counts of a page: writes, the first of them, and the octaves of the pages of the requests that wrote
/// it: a page of a large load that is then written by itself is one that is written by itself.
#[derive(Debug, Clone, Copy)]
struct Page {
    writes: u64,
    first: u64,
    octaves: f64,
}

/// The first pass: how often each page is written.
#[derive(Default)]
struct Counter {
    writes: u64,
    pages: FxHashMap<u64, Page>,
}

impl PageSink for Counter {
    fn write(&mut self, first_page: u64, pages: u64) {
        let octaves = (pages as f64).log2();
        for number in first_page..first_page + pages {
            let unwritten = Page { writes: 0, first: self.writes, octaves: 0.0 };
            let page = self.pages.entry(number).or_insert(unwritten);
            page.writes += 1;
            page.octaves += octaves;
            self.writes += 1;
        }
    }
}

impl Counter {
    /// The classes, without intervals, and which one each page is in.
    fn classes(self) -> Intervals {
        let mut places = FxHashMap::default();
        let mut classes: Vec<(Class, f64)> = Vec::new();
        let mut pages: Vec<(u64, Page)> = self.pages.into_iter().collect();
        pages.sort_unstable_by_key(|(number, _)| *number);
        let mut last = FxHashMap::default();
        for (number, page) in pages {
            let birth = page.first * BIRTHS / self.writes;
            let size = (page.octaves / page.writes as f64).round() as u32;
            let heat = ((page.writes as f64).log2() * STEPS) as u32;
            let key = (birth, size, heat);
            let place = *places.entry(key).or_insert_with(|| {
                let intervals = Vec::new();
                classes.push((Class { birth, run_pages: 1, pages: 0, writes: 0, intervals }, 0.0));
                classes.len() - 1
            });
            let (class, octaves) = &mut classes[place];
            class.pages += 1;
            class.writes += page.writes;
            *octaves += page.octaves;
            last.insert(number, (place as u32, page.first));
        }
        let classes = classes.into_iter().map(|(mut class, octaves)| {
            let run_pages = (octaves / class.writes as f64).exp2().round() as u64;
            class.run_pages = run_pages.clamp(1, class.pages) as u32;
            class
        });
        Intervals { writes: 0, last, classes: classes.collect() }
    }
}

/// The second pass: the intervals of each class.
struct Intervals {
    writes: u64,
    /// Class and last write of each page.
    last: FxHashMap<u64, (u32, u64)>,
    classes: Vec<Class>,
}

impl PageSink for Intervals {
    fn write(&mut self, first_page: u64, pages: u64) {
        for number in first_page..first_page + pages {
            let now = self.writes;
            self.writes += 1;
            // A file that has grown between the passes has pages that are in no class.
            let Some((class, last)) = self.last.get_mut(&number) else { continue };
            if now > *last {
                let bucket = (((now - *last) as f64).log2() * STEPS) as usize;
                let intervals = &mut self.classes[*class as usize].intervals;
                if intervals.len() <= bucket {
                    intervals.resize(bucket + 1, 0);
                }
                intervals[bucket] += 1;
                *last = now;
            }
        }
    }
}

/// What the trace at `path` consists of, in pages of `page_bytes`; remembered, because it is asked for
/// again as a run is prepared.
pub(super) fn of(path: &Path, page_bytes: u32) -> Result<Arc<Fit>, TraceError> {
    type Known = Vec<((PathBuf, u32), Arc<Fit>)>;
    static KNOWN: Mutex<Known> = Mutex::new(Vec::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (path.to_owned(), page_bytes);
    if let Some((_, fit)) = known().iter().find(|(present, _)| *present == key) {
        return Ok(Arc::clone(fit));
    }
    let fit = Arc::new(read(path, page_bytes)?);
    known().push((key, Arc::clone(&fit)));
    Ok(fit)
}

fn read(path: &Path, page_bytes: u32) -> Result<Fit, TraceError> {
    let options = OpenOptions { page_bytes, need_time: false, ..OpenOptions::default() };
    let mut source = open(path, &options)?;
    let device_bytes = match source.metadata().device_bytes {
        Some(bytes) => bytes,
        None => address_range(path, &options)?.end_sector.saturating_mul(SECTOR_BYTES),
    };
    let mut counter = Counter::default();
    pass(source.as_mut(), page_bytes, &mut counter)?;
    let writes = counter.writes;
    if writes == 0 {
        return Err(TraceError::Unsupported {
            what: format!("{}, which has no writes,", path.display()),
            remedy: "give a trace that writes".into(),
        });
    }
    let mut intervals = counter.classes();
    pass(open(path, &options)?.as_mut(), page_bytes, &mut intervals)?;
    let mut classes = intervals.classes;
    for class in &mut classes {
        let mut sum = 0;
        for count in &mut class.intervals {
            sum += *count;
            *count = sum;
        }
    }
    Ok(Fit { drive_pages: (device_bytes / u64::from(page_bytes)).max(1), writes, classes })
}

/// Hands all pages of a source to `sink`.
fn pass(
    source: &mut dyn TraceSource,
    page_bytes: u32,
    sink: &mut impl PageSink,
) -> Result<(), TraceError> {
    let page_sectors = pages::page_sectors(page_bytes)?;
    let mut batch = RequestBatch::new();
    while source.next_batch(&mut batch)? {
        pages::expand(&batch, page_sectors, sink)?;
    }
    Ok(())
}

//! The loop: the next batch is decoded while all FTLs apply the present one.

use crate::SimError;
use crate::feed::{Chunk, Feed};
use crate::foresight::Foresight;
use crate::lane::Lane;
use crate::result::{Config, ExperimentResult, SkippedSummary, WorkloadSummary};
use crate::threads::Threads;
use ftlab_trace::Op;
use rayon::prelude::*;
use std::ops::ControlFlow;

/// What is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A first pass over the workload, for FTLs that know the future.
    LookAhead,
    /// The drive is filled.
    Fill,
    /// Writes are executed and not counted.
    WarmUp,
    /// Writes are counted.
    Count,
}

/// How far an experiment is.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// What is going on.
    pub phase: Phase,
    /// Host page writes so far in the fill, or else behind it.
    pub writes: u64,
    /// Share of the fill, or else of what follows it, in 0..=1, where it is known.
    pub share: Option<f64>,
    /// Each FTL's write amplification so far, once there is one.
    pub wafs: Vec<Option<f64>>,
}

/// Is told how far an experiment is, some hundred times a second at most; `()` does not care.
pub trait Progress {
    /// Called between two batches; a break stops the experiment with [`SimError::Stopped`].
    fn update(&mut self, status: &Status) -> ControlFlow<()> {
        let _ = status;
        ControlFlow::Continue(())
    }
}

impl Progress for () {}

/// An experiment that is ready to run: whatever could be wrong with it has been found.
pub struct Prepared {
    pub(crate) config: Config,
    pub(crate) requests: Option<u64>,
    pub(crate) memory_bytes: u64,
    /// Fill and workload for the first pass; empty if there is none.
    pub(crate) ahead: Vec<Feed>,
    /// Fill, if there is one, and workload.
    pub(crate) feeds: Vec<Feed>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) pool: Threads,
}

impl Prepared {
    /// What will be simulated.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The configuration hash of the first FTL, as it will be in its result.
    pub(crate) fn config_hash(&self) -> &str {
        self.lanes.first().map_or("", Lane::config_hash)
    }

    /// Requests in the trace, where it says so.
    pub fn requests(&self) -> Option<u64> {
        self.requests
    }

    /// Bytes of memory that all FTLs take together, about.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Runs it.
    pub fn run(self, progress: &mut impl Progress) -> Result<ExperimentResult, SimError> {
        let Self { config, mut ahead, mut feeds, mut lanes, pool, .. } = self;
        if !ahead.is_empty() {
            let pages = config.drive.logical_pages;
            let foresight = Foresight::read_ahead(&mut ahead, pages, progress)?;
            let mut told = 0;
            for feed in &mut feeds {
                feed.tell_lifetimes(foresight.behind(told));
                told += pages as usize;
            }
        }
        let mut feed = feeds.pop().expect("a workload");
        if let Some(fill) = feeds.first_mut() {
            pump(&pool, fill, &mut lanes, |_| Phase::Fill, progress)?;
        }
        if config.warmup_writes == 0 {
            lanes.iter_mut().for_each(Lane::begin);
        }
        let phase = |feed: &Feed| {
            if feed.schedule().counted_so_far() > 0 { Phase::Count } else { Phase::WarmUp }
        };
        pump(&pool, &mut feed, &mut lanes, phase, progress)?;
        if feed.schedule().done() == 0 {
            return Err(SimError::NoWrites { name: config.workload });
        }
        if feed.schedule().counted_so_far() == 0 {
            return Err(SimError::NothingCounted {
                name: config.workload,
                writes: feed.schedule().done(),
                warmup_writes: config.warmup_writes,
            });
        }
        finish(config, &feed, lanes, &pool)
    }
}

/// Runs everything that `feed` has through all lanes.
fn pump(
    pool: &Threads,
    feed: &mut Feed,
    lanes: &mut [Lane],
    phase: impl Fn(&Feed) -> Phase,
    progress: &mut impl Progress,
) -> Result<(), SimError> {
    let (mut present, mut next) = (Chunk::default(), Chunk::default());
    let mut more = feed.next_chunk(&mut present)?;
    while more && !lanes.iter().all(Lane::is_read_only) {
        let status = Status {
            phase: phase(feed),
            writes: feed.schedule().done(),
            share: share(feed),
            wafs: lanes.iter().map(Lane::waf).collect(),
        };
        if progress.update(&status).is_break() {
            return Err(SimError::Stopped);
        }
        let (decoded, applied) = pool.install(|| {
            rayon::join(
                || feed.next_chunk(&mut next),
                || lanes.par_iter_mut().try_for_each(|lane| lane.apply(&present)),
            )
        });
        applied?;
        more = decoded?;
        std::mem::swap(&mut present, &mut next);
    }
    Ok(())
}

/// Share of the feed that has been decoded.
pub(crate) fn share(feed: &Feed) -> Option<f64> {
    let by_writes = feed.schedule().end().map(|end| feed.schedule().done() as f64 / end as f64);
    match (by_writes, feed.source().progress()) {
        // A trace may end before the writes that were asked for.
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

/// Checks every FTL, which takes a pass over its tables, and collects the results.
fn finish(
    config: Config,
    feed: &Feed,
    lanes: Vec<Lane>,
    pool: &Threads,
) -> Result<ExperimentResult, SimError> {
    let requests = Op::ALL.into_iter().zip(feed.operations());
    let skipped = feed.source().skipped();
    let workload = WorkloadSummary {
        requests: requests.map(|(op, count)| (op.name().to_owned(), count)).collect(),
        page_writes: feed.schedule().done(),
        has_streams: feed.has_streams(),
        skipped_lines: skipped.total(),
        skipped: skipped
            .iter()
            .map(|lines| SkippedSummary {
                reason: lines.reason.to_string(),
                count: lines.count,
                first_line: lines.first_line,
                first_text: lines.first_text.clone(),
            })
            .collect(),
    };
    let runs = pool.install(|| {
        lanes.into_par_iter().map(|lane| lane.finish(&config)).collect::<Result<_, _>>()
    })?;
    Ok(ExperimentResult {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: None,
        trace_hash: feed.hash(),
        workload,
        runs,
        config,
    })
}

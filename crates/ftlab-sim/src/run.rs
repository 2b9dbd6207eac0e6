//! The loop: the next batch is decoded while all FTLs apply the present one.

use crate::Fill;
use crate::SimError;
use crate::ftl_run::FtlRun;
use crate::judged::trust_of;
use crate::memory::Promise;
use crate::progress::{Phase, Progress, Status};
use crate::result::{
    Config, ExperimentResult, ObservedWorkload, OwnWorkload, RunResult, SkippedSummary,
    WorkloadSummary,
};
use crate::threads::Threads;
use crate::workload::Workload;
use ftlab_feed::{Brought, Chunk, Feed, FeedError, Hosted, Lifetimes, LookAhead};
use ftlab_ftl::PageBatch;
use ftlab_trace::Op;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// An experiment that is ready to run: whatever could be wrong with it has been found.
pub struct Prepared {
    pub(crate) workload: Workload,
    pub(crate) config: Config,
    pub(crate) requests: Option<u64>,
    pub(crate) notes: Vec<(String, String)>,
    /// Fill and workload for the first pass; empty if there is none.
    pub(crate) ahead: Vec<Feed>,
    /// Fill, if there is one, and workload.
    pub(crate) feeds: Vec<Feed>,
    /// The workload of each FTL, where each has its own order, instead of the last of `feeds`.
    pub(crate) hosted: Vec<Hosted>,
    pub(crate) runs: Vec<FtlRun>,
    pub(crate) pool: Threads,
    /// Given back after everything else.
    pub(crate) memory: Promise,
}

impl Prepared {
    /// What will be simulated.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether the workload may end before all is counted that was asked for.
    pub fn may_end(&self) -> Result<bool, SimError> {
        Ok(!self.config.repeat && self.workload.has_end()?)
    }

    /// The configuration hash of the first FTL, as it will be in its result.
    pub fn config_hash(&self) -> &str {
        self.runs.first().map_or("", FtlRun::config_hash)
    }

    /// Requests in the trace, where it says so.
    pub fn requests(&self) -> Option<u64> {
        self.requests
    }

    /// What is worth knowing of fio's jobs, by name: which there are, and what was passed over.
    pub fn notes(&self) -> &[(String, String)] {
        &self.notes
    }

    /// Bytes of memory that it takes at most, about.
    pub fn memory_bytes(&self) -> u64 {
        self.memory.bytes
    }

    /// Prepares all FTLs, and runs them over one pass of the workload.
    pub fn run(self, progress: &mut impl Progress) -> Result<ExperimentResult, SimError> {
        self.run_and_read(progress, |_| ()).map(|(result, ())| result)
    }

    /// Shows the pages that FTLs would be asked to write and trim, and whether they count, and runs no FTL.
    pub fn see_pages(
        self,
        progress: &mut impl Progress,
        mut see: impl FnMut(&PageBatch, bool),
    ) -> Result<(), SimError> {
        let last = self.feeds.len().saturating_sub(1);
        for (number, mut feed) in self.feeds.into_iter().enumerate() {
            let is_workload = number == last;
            let mut counts = is_workload && self.config.warmup_writes == 0;
            let phase = if is_workload { Phase::Count } else { Phase::Fill };
            let mut chunk = Chunk::default();
            while feed.next_chunk(&mut chunk)? {
                for segment in chunk.segments() {
                    see(&segment.batch, counts);
                    counts |= is_workload && segment.marks.begin;
                }
                let (writes, share) = (feed.schedule().done(), feed.share());
                let status = Status { phase, writes, share, wafs: Vec::new() };
                if progress.update(&status).is_break() {
                    return Err(SimError::Stopped);
                }
            }
        }
        Ok(())
    }

    /// Runs it, and lets `read` see the FTLs before their results are taken.
    pub(crate) fn run_and_read<T>(
        self,
        progress: &mut impl Progress,
        read: impl FnOnce(&[FtlRun]) -> T,
    ) -> Result<(ExperimentResult, T), SimError> {
        let workload = self.workload.clone();
        self.run_all(progress, read).map_err(|mut error| {
            // One error names the size that the whole trace needs.
            if let SimError::Feed(error) = &mut error
                && let FeedError::BeyondDrive { page_bytes, last_page, .. } = &mut **error
            {
                *last_page = workload.last_page(*page_bytes);
            }
            error
        })
    }

    fn run_all<T>(
        self,
        progress: &mut impl Progress,
        read: impl FnOnce(&[FtlRun]) -> T,
    ) -> Result<(ExperimentResult, T), SimError> {
        let Self { workload, config, mut ahead, mut feeds, mut hosted, mut runs, pool, .. } = self;
        if !ahead.is_empty() {
            let pages = config.drive.logical_pages;
            let is_endless = !workload.has_end()?;
            let lifetimes = look_ahead(&mut ahead, is_endless, pages, progress)?;
            let fill: Fill = config.fill.parse()?;
            let fill_writes = fill.writes(pages.into());
            let mut told = 0;
            for feed in &mut feeds {
                feed.tell_lifetimes(lifetimes.after(told));
                told += fill_writes as usize;
            }
        }
        let mut feed = feeds.pop().expect("a workload");
        if let Some(fill) = feeds.first_mut() {
            pump(&pool, fill, &mut runs, |_| Phase::Fill, progress)?;
        }
        if config.warmup_writes == 0 {
            runs.iter_mut().for_each(FtlRun::begin);
        }
        let phase = |feed: &Feed| {
            if feed.schedule().counted_so_far() > 0 { Phase::Count } else { Phase::WarmUp }
        };
        if hosted.is_empty() {
            pump(&pool, &mut feed, &mut runs, phase, progress)?;
        } else {
            pump_each(&pool, &mut hosted, &mut runs, phase, progress)?;
        }
        let is_trace = config.format.is_some();
        let own = hosted.iter().map(|hosted| &hosted.feed);
        let own = own.map(|feed| (own_workload(feed), feed.brought(is_trace))).collect();
        feed = hosted.into_iter().next().map_or(feed, |first| first.feed);
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
        let seen = read(&runs);
        Ok((finish(config, &mut feed, own, runs, &pool)?, seen))
    }
}

/// The lifetimes of the page writes of `feeds`, which are carried out one after the other. A workload may end
/// before its feed does, but not one that `is_endless`.
fn look_ahead(
    feeds: &mut [Feed],
    is_endless: bool,
    logical_pages: u32,
    progress: &mut impl Progress,
) -> Result<Lifetimes, SimError> {
    let mut ends = feeds.iter().map(|feed| feed.schedule().end().filter(|_| is_endless));
    let writes = ends.try_fold(0_u64, |sum, end| Some(sum.saturating_add(end?)));
    let mut pass = LookAhead::new(logical_pages, writes)?;
    for feed in feeds {
        let mut chunk = Chunk::default();
        while feed.next_chunk(&mut chunk)? {
            pass.check_memory()?;
            chunk.segments().iter().for_each(|segment| pass.add(&segment.batch));
            let status = Status {
                phase: Phase::LookAhead,
                writes: pass.writes(),
                share: feed.share(),
                wafs: Vec::new(),
            };
            if progress.update(&status).is_break() {
                return Err(SimError::Stopped);
            }
        }
    }
    Ok(pass.finish())
}

/// Runs everything that `feed` has through all FTLs.
fn pump(
    pool: &Threads,
    feed: &mut Feed,
    runs: &mut [FtlRun],
    phase: impl Fn(&Feed) -> Phase,
    progress: &mut impl Progress,
) -> Result<(), SimError> {
    let (mut present, mut next) = (Chunk::default(), Chunk::default());
    let mut more = feed.next_chunk(&mut present)?;
    while more && !runs.iter().all(FtlRun::is_read_only) {
        report(feed, phase(feed), runs, progress)?;
        let apply = || runs.par_iter_mut().try_for_each(|run| run.apply(&present));
        if feed.schedule().ends_when_steady() {
            pool.install(apply)?;
            more = !runs.iter().all(FtlRun::is_steady) && feed.next_chunk(&mut next)?;
        } else {
            let (decoded, applied) =
                pool.install(|| rayon::join(|| feed.next_chunk(&mut next), apply));
            applied?;
            more = decoded?;
        }
        std::mem::swap(&mut present, &mut next);
    }
    Ok(())
}

/// Tells how far the runs are; an error if they are to stop.
fn report(
    feed: &Feed,
    phase: Phase,
    runs: &[FtlRun],
    progress: &mut impl Progress,
) -> Result<(), SimError> {
    let status = Status {
        phase,
        writes: feed.schedule().done(),
        share: feed.share(),
        wafs: runs.iter().map(FtlRun::waf).collect(),
    };
    if progress.update(&status).is_break() { Err(SimError::Stopped) } else { Ok(()) }
}

/// Runs the workload of each FTL through it.
fn pump_each(
    pool: &Threads,
    hosted: &mut [Hosted],
    runs: &mut [FtlRun],
    phase: impl Fn(&Feed) -> Phase,
    progress: &mut impl Progress,
) -> Result<(), SimError> {
    let mut more = vec![true; runs.len()];
    while more.contains(&true) {
        // The slowest tells.
        let slowest = hosted.iter().zip(&more).find(|(_, more)| **more).map(|(hosted, _)| hosted);
        let Some(Hosted { feed, .. }) = slowest else { break };
        report(feed, phase(feed), runs, progress)?;
        pool.install(|| {
            let each = runs.par_iter_mut().zip(hosted.par_iter_mut()).zip(more.par_iter_mut());
            each.filter(|(_, more)| **more).try_for_each(|((run, hosted), more)| {
                *more = run.advance(hosted)?;
                Ok::<_, SimError>(())
            })
        })?;
    }
    Ok(())
}

/// Requests by operation.
fn requests(feed: &Feed) -> BTreeMap<String, u64> {
    let counts = Op::ALL.into_iter().zip(feed.operations());
    counts.map(|(op, count)| (op.name().to_owned(), count)).collect()
}

fn own_workload(feed: &Feed) -> OwnWorkload {
    let page_writes = feed.schedule().done();
    OwnWorkload { requests: requests(feed), page_writes, trace_hash: feed.hash() }
}

/// Checks every FTL, which takes a pass over its tables, and collects the results; `own` has the workload of
/// each, if they are not the same.
fn finish(
    config: Config,
    feed: &mut Feed,
    own: Vec<(OwnWorkload, Brought)>,
    runs: Vec<FtlRun>,
    pool: &Threads,
) -> Result<ExperimentResult, SimError> {
    let observed = feed.take_watch().map(ObservedWorkload::of);
    let skipped = feed.source().skipped();
    let workload = WorkloadSummary {
        requests: requests(feed),
        page_writes: feed.schedule().done(),
        unaligned_writes: feed.unaligned_writes(),
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
        observed,
    };
    let mut runs: Vec<RunResult> = pool.install(|| {
        runs.into_par_iter().map(|run| run.finish(&config)).collect::<Result<_, _>>()
    })?;
    let is_own = !own.is_empty();
    let shared = std::iter::repeat_n(feed.brought(config.format.is_some()), runs.len());
    let brought: Vec<Brought> =
        if is_own { own.iter().map(|(_, brought)| *brought).collect() } else { shared.collect() };
    for (run, brought) in runs.iter_mut().zip(brought) {
        run.judge(&config.drive, Some(brought));
    }
    for (run, (own, _)) in runs.iter_mut().zip(own) {
        run.own_workload = Some(own);
    }
    Ok(ExperimentResult {
        version: ftlab_spec::version().to_owned(),
        command: None,
        trace_hash: feed.hash(),
        workload,
        trust: trust_of(&config.drive, &config.fill, config.timing.as_ref(), &runs),
        runs,
        config,
        known_drive: None,
    })
}

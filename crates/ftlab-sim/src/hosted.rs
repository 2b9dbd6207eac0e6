//! Jobs of fio with a clock: each job is a host of its own, with its own queue depth, and every FTL has its
//! own order of writes, because which job comes next depends on when writes are complete.

use crate::SimError;
use crate::feed::{Chunk, Feed};
use crate::ftl_run::FtlRun;
use ftlab_trace::fio::{Hosts, JobFile};
use ftlab_trace::synthetic::Space;
use ftlab_trace::{RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Page writes after which the progress is shown.
const STEPS: usize = 1 << 16;

/// What the requests and the flash tell each other, in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// When the hosts begin.
    start: AtomicU64,
    /// When the present request was issued.
    issued: AtomicU64,
    /// When it is complete, as far as its pages are written; 0 before the first.
    done: AtomicU64,
}

impl Clock {
    fn issued_ns(&self) -> u64 {
        self.issued.load(Ordering::Relaxed)
    }

    fn complete(&self, done_ns: u64) {
        self.done.fetch_max(done_ns, Ordering::Relaxed);
    }
}

/// The requests of all hosts, one at a time.
struct Source {
    hosts: Hosts,
    clock: Arc<Clock>,
    has_begun: bool,
    metadata: TraceMetadata,
    skipped: Skipped,
}

impl TraceSource for Source {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        if !std::mem::replace(&mut self.has_begun, true) {
            self.hosts.begin_at(self.clock.start.load(Ordering::Relaxed));
        }
        let done_ns = self.clock.done.swap(0, Ordering::Relaxed);
        let issued_ns = self.hosts.next(done_ns, batch)?;
        self.clock.issued.store(issued_ns.unwrap_or(0), Ordering::Relaxed);
        Ok(issued_ns.is_some())
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }
}

/// What a job file tells of its jobs, by name.
pub(crate) fn notes(metadata: &TraceMetadata) -> Vec<(String, String)> {
    let of_jobs = |(name, value): (&String, &String)| {
        name.strip_prefix("fio ").map(|name| (name.to_owned(), value.clone()))
    };
    metadata.properties.iter().filter_map(of_jobs).collect()
}

/// The requests of the jobs of the workload `name`, and the clock that they and an FTL share;
/// jobs that only read are refused if reads take no time.
pub(crate) fn open(
    jobs: &JobFile,
    name: &str,
    space: &Space,
    reads_take_time: bool,
) -> Result<(Box<dyn TraceSource>, Arc<Clock>), TraceError> {
    let hosts = jobs.hosts(space, reads_take_time)?;
    let mut metadata = TraceMetadata { format: name.to_owned(), ..TraceMetadata::default() };
    metadata.device_bytes = Some(space.logical_pages * u64::from(space.page_bytes));
    let notes = hosts.notes().iter().map(|(name, text)| ((*name).to_owned(), text.clone()));
    metadata.properties.extend(notes);
    let clock = Arc::new(Clock::default());
    let source = Source {
        hosts,
        clock: Arc::clone(&clock),
        has_begun: false,
        metadata,
        skipped: Skipped::default(),
    };
    Ok((Box::new(source), clock))
}

/// The workload of one FTL.
pub(crate) struct Hosted {
    pub(crate) feed: Feed,
    clock: Arc<Clock>,
    chunk: Chunk,
    has_begun: bool,
}

impl Hosted {
    /// `feed` has the requests of `clock`.
    pub(crate) fn new(mut feed: Feed, clock: Arc<Clock>) -> Self {
        feed.read_one_by_one();
        Self { feed, clock, chunk: Chunk::default(), has_begun: false }
    }

    /// Lets an FTL carry out the next page writes; false at the end.
    pub(crate) fn advance(&mut self, run: &mut FtlRun) -> Result<bool, SimError> {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.clock.start.store(run.end_ns(), Ordering::Relaxed);
        }
        run.in_measured_time(|run| {
            for _ in 0..STEPS {
                if run.is_read_only() || !self.feed.next_chunk(&mut self.chunk)? {
                    return Ok(false);
                }
                let done_ns = run.apply_at(&self.chunk, self.clock.issued_ns())?;
                self.clock.complete(done_ns);
                let ends_a_round = self.chunk.segments().iter().any(|segment| segment.marks.round);
                if ends_a_round && self.feed.schedule().ends_when_steady() && run.is_steady() {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }
}

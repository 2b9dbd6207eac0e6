//! Hosts with a clock: each job of fio is one, with its own queue depth, or each thread of a database's clients.
//! Every FTL has its own order of writes, because which host comes next depends on when writes are complete.

use crate::SimError;
use crate::feed::{Chunk, Feed};
use crate::ftl_run::FtlRun;
use crate::workload::Workload;
use ftlab_host::Weights;
use ftlab_spec::Spec;
use ftlab_trace::Space;
use ftlab_trace::{
    ClosedLoop, Issued, OpenOptions, RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource,
    Turn,
};
use ftlab_workload::fio::JobFile;
use ftlab_workload::{Arbiter, Clients, WriteWatch};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Page writes or requests after which the progress is shown.
const STEPS: usize = 1 << 16;

/// The hosts, which the requests and the flash share.
pub(crate) struct Shared(Mutex<Inner>);

/// Who the hosts are.
pub(crate) enum WhichHosts {
    /// Jobs of fio, and how the drive takes their requests: how many at once, by these weights; or any number.
    Jobs(JobFile, Option<(u32, Weights)>),
    /// Threads that run the transactions of a generator.
    Threads(Spec, u32),
}

impl WhichHosts {
    /// Whether all of them end where time passes; transactions end by their number.
    fn ends_by_the_clock(&self) -> bool {
        match self {
            Self::Jobs(jobs, _) => jobs.has_end_by_the_clock(),
            Self::Threads(..) => false,
        }
    }

    /// The hosts; jobs that only read are refused if reads take no time.
    fn begin(
        &self,
        space: &Space,
        reads_take_time: bool,
    ) -> Result<Box<dyn ClosedLoop>, TraceError> {
        match self {
            Self::Jobs(jobs, arbitration) => {
                let hosts = Box::new(jobs.hosts(space, open_replayed, reads_take_time)?);
                let Some((slots, weights)) = arbitration else { return Ok(hosts) };
                let tenants = hosts.tenants();
                let weights = weights.of(tenants.len()).ok_or_else(|| TraceError::Unsupported {
                    what: format!(
                        "weights={weights} for the {} jobs {}",
                        tenants.len(),
                        tenants.join(", ")
                    ),
                    remedy: "give as many weights as jobs, in the order of the file".into(),
                })?;
                Ok(Box::new(Arbiter::new(hosts, *slots, weights)))
            }
            Self::Threads(spec, threads) => Ok(Box::new(Clients::new(spec, space, *threads)?)),
        }
    }
}

/// Opens what a job replays: a trace, or any other workload, for a drive as large as its part.
fn open_replayed(name: &str, space: &Space) -> Result<Box<dyn TraceSource>, TraceError> {
    let told = |error: SimError| match error {
        SimError::Trace(error) => error,
        other => TraceError::Unsupported {
            what: other.to_string(),
            remedy: "name a trace or a workload (ftlab list workloads)".into(),
        },
    };
    let workload = Workload::parse(name, OpenOptions::default()).map_err(told)?;
    workload.generate(space).map_err(told)
}

struct Inner {
    hosts: Box<dyn ClosedLoop>,
    /// The request that was issued last, and when it is complete, as far as its pages are written; none once
    /// somebody else says when it is.
    present: Option<(Issued, u64)>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Whoever panics ends the run.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The requests of all hosts, one at a time.
struct Source {
    shared: Arc<Shared>,
    metadata: TraceMetadata,
    skipped: Skipped,
    watch: WriteWatch,
    /// Whether all hosts end where time passes.
    ends_by_the_clock: bool,
    /// When a request was issued last.
    issued_ns: u64,
}

impl TraceSource for Source {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        let mut inner = self.shared.lock();
        if let Some((Issued { host, time_ns, .. }, done_ns)) = inner.present.take() {
            inner.hosts.complete(host, done_ns.max(time_ns));
        }
        let turn = inner.hosts.turn()?;
        if let Turn::Issue(time_ns) = turn {
            inner.present = inner.hosts.issue(batch).map(|issued| (issued, 0));
            if self.ends_by_the_clock && time_ns > self.issued_ns {
                self.watch.forget();
            }
            self.issued_ns = time_ns;
        }
        self.watch.see(batch);
        self.watch.check(&self.metadata.format)?;
        Ok(turn != Turn::End)
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

/// The requests of the hosts of the workload `name`, and the hosts that they and an FTL share.
pub(crate) fn open(
    which: &WhichHosts,
    name: &str,
    space: &Space,
    reads_take_time: bool,
) -> Result<(Box<dyn TraceSource>, Arc<Shared>), TraceError> {
    let hosts = which.begin(space, reads_take_time)?;
    let mut metadata = TraceMetadata { format: name.to_owned(), ..TraceMetadata::default() };
    metadata.device_bytes = Some(space.logical_pages * u64::from(space.page_bytes));
    let notes = hosts.notes().into_iter().map(|(name, text)| (name.to_owned(), text));
    metadata.properties.extend(notes);
    let shared = Arc::new(Shared(Mutex::new(Inner { hosts, present: None })));
    let source = Source {
        shared: Arc::clone(&shared),
        metadata,
        skipped: Skipped::default(),
        watch: WriteWatch::default(),
        ends_by_the_clock: which.ends_by_the_clock(),
        issued_ns: 0,
    };
    Ok((Box::new(source), shared))
}

/// The workload of one FTL.
pub(crate) struct Hosted {
    pub(crate) feed: Feed,
    shared: Arc<Shared>,
    chunk: Chunk,
    has_begun: bool,
    /// Whether hosts wait for requests, whose end the flash tells when it comes; for page writes, it tells at
    /// once.
    by_request: bool,
    /// The request whose pages are handed out.
    present: Option<Issued>,
}

impl Hosted {
    /// `feed` has the requests of `shared`.
    pub(crate) fn new(mut feed: Feed, shared: Arc<Shared>, by_request: bool) -> Self {
        feed.read_one_by_one();
        let chunk = Chunk::default();
        Self { feed, shared, chunk, has_begun: false, by_request, present: None }
    }

    /// Lets an FTL carry out the next page writes; false at the end.
    pub(crate) fn advance(&mut self, run: &mut FtlRun) -> Result<bool, SimError> {
        if !std::mem::replace(&mut self.has_begun, true) {
            let mut inner = self.shared.lock();
            inner.hosts.begin_at(run.end_ns());
            run.name_tenants(inner.hosts.tenants());
        }
        run.in_measured_time(|run| {
            for _ in 0..STEPS {
                if self.by_request {
                    self.await_turn(run)?;
                }
                if run.is_read_only() || !self.feed.next_chunk(&mut self.chunk)? {
                    return Ok(false);
                }
                self.apply(run)?;
                let ends_a_round = self.chunk.segments().iter().any(|segment| segment.marks.round);
                if ends_a_round && self.feed.schedule().ends_when_steady() && run.is_steady() {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// Passes time until a host issues its next request.
    fn await_turn(&mut self, run: &mut FtlRun) -> Result<(), SimError> {
        while self.feed.is_between_requests() && !run.is_read_only() {
            let (turn, done) = {
                let mut inner = self.shared.lock();
                (inner.hosts.turn()?, inner.hosts.take_done())
            };
            run.end_transactions(done);
            let until_ns = match turn {
                Turn::Issue(time_ns) => time_ns,
                Turn::Wait => u64::MAX,
                Turn::End => return Ok(()),
            };
            let Some((host, done_ns)) = run.await_hosts(until_ns)? else { return Ok(()) };
            self.shared.lock().hosts.complete(host, done_ns);
        }
        Ok(())
    }

    /// Carries out what was read: pages of one request, or nothing of one that has none.
    fn apply(&mut self, run: &mut FtlRun) -> Result<(), SimError> {
        let segments = self.chunk.segments();
        if !self.by_request {
            let issued = self.shared.lock().present;
            let done_ns = run.apply_at(&self.chunk, issued.map_or(0, |(of, _)| of.time_ns))?;
            let mut inner = self.shared.lock();
            inner.present.iter_mut().for_each(|(_, done)| *done = done_ns.max(*done));
            return Ok(());
        }
        let is_empty = segments.iter().all(|segment| segment.parts.is_empty());
        if let Some((issued, _)) = self.shared.lock().present.take() {
            self.present = Some(issued);
        }
        let Some(issued) = self.present else { return Ok(()) };
        if is_empty {
            // It has no pages, such as a trim that is ignored.
            self.shared.lock().hosts.complete(issued.host, issued.time_ns);
            self.present = None;
            return Ok(());
        }
        run.apply_of(&mut self.chunk, issued)?;
        if self.feed.is_between_requests() {
            self.present = None;
        }
        Ok(())
    }
}

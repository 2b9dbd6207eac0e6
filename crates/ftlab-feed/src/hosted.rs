//! Hosts with a clock: each job of fio is one, with its own queue depth, or each thread of a database's clients.
//! Every FTL has its own order of writes, because which host comes next depends on when writes are complete.

use crate::FeedError;
use crate::fed::{Fed, Record};
use crate::feed::{Chunk, Feed};
use ftlab_trace::{
    ClosedLoop, Issued, RequestBatch, Skipped, Space, TraceError, TraceMetadata, TraceSource, Turn,
};
use ftlab_workload::WriteWatch;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Page writes or requests after which the progress is shown.
const STEPS: usize = 1 << 16;

/// The hosts, which the requests and the flash share.
pub struct Shared(Mutex<Inner>);

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

/// The requests of the hosts of the workload `name`, and the hosts that they and an FTL share.
///
/// `ends_by_the_clock` if all of them end where time passes.
pub fn shared(
    hosts: Box<dyn ClosedLoop>,
    ends_by_the_clock: bool,
    name: &str,
    space: &Space,
) -> (Box<dyn TraceSource>, Arc<Shared>) {
    let mut metadata = TraceMetadata { format: name.to_owned(), ..TraceMetadata::default() };
    metadata.device_bytes = Some(space.logical_pages * u64::from(space.page_bytes));
    let notes = hosts.notes().into_iter().map(|(name, text)| (name.to_owned(), text));
    metadata.properties.extend(notes);
    let both = Arc::new(Shared(Mutex::new(Inner { hosts, present: None })));
    let source = Source {
        shared: Arc::clone(&both),
        metadata,
        skipped: Skipped::default(),
        watch: WriteWatch::default(),
        ends_by_the_clock,
        issued_ns: 0,
    };
    (Box::new(source), both)
}

/// The workload of one FTL.
pub struct Hosted {
    /// What it hands out.
    pub feed: Feed,
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
    pub fn new(mut feed: Feed, shared: Arc<Shared>, by_request: bool) -> Self {
        feed.read_one_by_one();
        let chunk = Chunk::default();
        Self { feed, shared, chunk, has_begun: false, by_request, present: None }
    }

    /// Lets an FTL carry out the next page writes; false at the end.
    pub fn advance(&mut self, fed: &mut Fed, record: &mut dyn Record) -> Result<bool, FeedError> {
        if !std::mem::replace(&mut self.has_begun, true) {
            let mut inner = self.shared.lock();
            inner.hosts.begin_at(fed.ftl.end_ns().unwrap_or(0));
            fed.tenants = inner.hosts.tenants();
        }
        fed.in_measured_time(|fed| {
            for _ in 0..STEPS {
                if self.by_request {
                    self.await_turn(fed)?;
                }
                if fed.is_read_only() || !self.feed.next_chunk(&mut self.chunk)? {
                    return Ok(false);
                }
                self.apply(fed, record)?;
                let ends_a_round = self.chunk.segments().iter().any(|segment| segment.marks.round);
                if ends_a_round && self.feed.schedule().ends_when_steady() && record.is_steady(fed)
                {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// Passes time until a host issues its next request.
    fn await_turn(&mut self, fed: &mut Fed) -> Result<(), FeedError> {
        while self.feed.is_between_requests() && !fed.is_read_only() {
            let (turn, done) = {
                let mut inner = self.shared.lock();
                (inner.hosts.turn()?, inner.hosts.take_done())
            };
            fed.end_transactions(done);
            let until_ns = match turn {
                Turn::Issue(time_ns) => time_ns,
                Turn::Wait => u64::MAX,
                Turn::End => return Ok(()),
            };
            let Some((host, done_ns)) = fed.await_hosts(until_ns)? else { return Ok(()) };
            self.shared.lock().hosts.complete(host, done_ns);
        }
        Ok(())
    }

    /// Carries out what was read: pages of one request, or nothing of one that has none.
    fn apply(&mut self, fed: &mut Fed, record: &mut dyn Record) -> Result<(), FeedError> {
        let segments = self.chunk.segments();
        if !self.by_request {
            let issued = self.shared.lock().present;
            let done_ns =
                fed.apply_at(&self.chunk, issued.map_or(0, |(of, _)| of.time_ns), record)?;
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
        fed.apply_of(&mut self.chunk, issued, record)?;
        if self.feed.is_between_requests() {
            self.present = None;
        }
        Ok(())
    }
}

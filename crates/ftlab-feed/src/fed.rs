//! An FTL that carries out what a feed hands out.

use crate::stopwatch::Spent;
use crate::transactions::Transactions;
use crate::{Chunk, FeedError, Marks, Segment};
use ftlab_host::{Arrival, HostOp};
use ftlab_stack::{AnyFtl, Stop};
use ftlab_trace::{Done, Issued};

/// Requests and operations that may wait: some hundred bytes each.
const BACKLOG_MAX: u64 = 1 << 22;

/// What the host brought.
#[derive(Debug, Clone, Copy, Default)]
pub struct Taken {
    /// Pages that it wrote.
    pub pages: u64,
    /// Sectors of these that it did not send.
    pub lacking: u64,
    /// Pages that it trimmed.
    pub trimmed: u64,
}

impl Taken {
    /// Adds what the first `writes` writes of a segment brought, and the trims between them.
    fn add(&mut self, segment: &Segment, writes: usize) {
        self.pages += writes as u64;
        self.lacking += segment.batch.lacking_of(writes).unsigned_abs();
        self.trimmed += trimmed(segment, writes);
    }
}

/// Is told when something happens: not for each page, nor for each request.
pub trait Record {
    /// This happens after the last write of a segment.
    fn record(&mut self, fed: &mut Fed, marks: Marks);

    /// Whether the FTL is looked at now, and found steady.
    fn is_steady(&self, fed: &Fed) -> bool;
}

/// An FTL, and what it has been fed with.
pub struct Fed {
    /// As it was named.
    pub name: String,
    /// The FTL.
    pub ftl: AnyFtl,
    /// Why the drive became read-only, if it did: it takes no more writes.
    pub read_only: Option<String>,
    /// What segments brought since counting began, as far as the drive took it.
    pub taken: Taken,
    /// The names of tenants, by their numbers.
    pub tenants: Vec<String>,
    /// Transactions that were complete, if it is told of some.
    pub transactions: Option<Transactions>,
    /// The time that counted writes took.
    pub spent: Spent,
    /// Host pages that were written when counting began, if it has.
    counted_from: Option<u64>,
}

impl Fed {
    /// An FTL before its first write.
    pub fn new(name: String, ftl: AnyFtl) -> Self {
        Self {
            name,
            ftl,
            read_only: None,
            taken: Taken::default(),
            tenants: Vec::new(),
            transactions: None,
            spent: Spent::default(),
            counted_from: None,
        }
    }

    /// Counts from here on.
    pub fn begin(&mut self) {
        self.ftl.measure();
        self.ftl.count_moves();
        self.counted_from = Some(self.ftl.tally().host_pages);
        self.taken = Taken::default();
        self.transactions.iter_mut().for_each(|of| *of = Transactions::default());
    }

    /// Pages that the host wrote since counting began.
    fn counted_writes(&self) -> u64 {
        self.counted_from.map_or(0, |from| self.ftl.tally().host_pages - from)
    }

    /// Carries out the writes and trims of a chunk, as far as the drive takes them.
    pub fn apply(&mut self, chunk: &Chunk, record: &mut dyn Record) -> Result<(), FeedError> {
        // Reading the clock takes as long as writing some pages, and segments may be short.
        for together in chunk.segments().split_inclusive(|of| of.marks.stop_the_clock()) {
            let Some((last, before)) = together.split_last() else { break };
            let outcome = self.in_measured_time(|fed| {
                for segment in before {
                    if fed.is_read_only() {
                        return Ok(None);
                    }
                    let outcome = fed.serve(segment);
                    fed.end_segment(segment, outcome, record)?;
                }
                Ok::<_, FeedError>((!fed.is_read_only()).then(|| fed.serve(last)))
            })?;
            let Some(outcome) = outcome else { break };
            self.end_segment(last, outcome, record)?;
        }
        Ok(())
    }

    fn serve(&mut self, segment: &Segment) -> Result<(), Stop> {
        match &segment.parts[..] {
            [] => self.ftl.apply(&segment.batch, &segment.arrivals_us),
            parts => self.ftl.serve(&segment.batch, parts),
        }
    }

    /// Records what has been carried out, or why it could not be.
    fn end_segment(
        &mut self,
        segment: &Segment,
        outcome: Result<(), Stop>,
        record: &mut dyn Record,
    ) -> Result<(), FeedError> {
        match outcome {
            Ok(()) => {
                self.take(segment, record);
                self.check_backlog()?;
            }
            Err(Stop::ReadOnly(reason)) => self.stop_within(segment, reason),
            Err(Stop::Error(reason)) => return Err(self.failed(reason)),
        }
        Ok(())
    }

    /// A whole segment is carried out.
    fn take(&mut self, segment: &Segment, record: &mut dyn Record) {
        self.taken.add(segment, segment.batch.writes.len());
        if segment.marks.are_any() {
            record.record(self, segment.marks);
        }
    }

    /// The drive took a part of a segment, and takes no more writes.
    fn stop_within(&mut self, segment: &Segment, reason: String) {
        let taken = self.counted_writes().saturating_sub(self.taken.pages) as usize;
        self.taken.add(segment, taken.min(segment.batch.writes.len()));
        self.read_only = Some(reason);
    }

    /// Refuses to remember ever more that has not been done.
    fn check_backlog(&mut self) -> Result<(), FeedError> {
        let pending = self.ftl.pending() as u64;
        if pending <= BACKLOG_MAX {
            return Ok(());
        }
        Err(FeedError::Backlog { ftl: self.name.clone(), pending })
    }

    /// Carries out a chunk at one time of the clock, in nanoseconds; when the last of its writes is complete.
    pub(crate) fn apply_at(
        &mut self,
        chunk: &Chunk,
        arrival_ns: u64,
        record: &mut dyn Record,
    ) -> Result<u64, FeedError> {
        let mut done_ns = 0;
        for segment in chunk.segments() {
            match self.ftl.apply_at(&segment.batch, arrival_ns) {
                Ok(done) => done_ns = done_ns.max(done),
                Err(Stop::ReadOnly(reason)) => {
                    self.stop_within(segment, reason);
                    break;
                }
                Err(Stop::Error(reason)) => return Err(self.failed(reason)),
            }
            self.take(segment, record);
        }
        Ok(done_ns)
    }

    /// Carries out the request of a host, or a part of it, within [`Self::in_measured_time`]: it is too short for
    /// its own time to be taken.
    pub(crate) fn apply_of(
        &mut self,
        chunk: &mut Chunk,
        of: Issued,
        record: &mut dyn Record,
    ) -> Result<(), FeedError> {
        let Issued { host, tenant, time_ns, queued_ns } = of;
        let parts = chunk.segments_mut().iter_mut().flat_map(|segment| &mut segment.parts);
        parts.for_each(|part| {
            part.arrival = Arrival::Of { host, time_ns, queued_ns };
            part.asker.tenant = tenant;
        });
        for segment in chunk.segments() {
            if self.is_read_only() {
                break;
            }
            let outcome = self.serve(segment);
            self.end_segment(segment, outcome, record)?;
        }
        Ok(())
    }

    /// Passes time until a request of a host is complete, at most to `until_ns`: which host, and when.
    pub(crate) fn await_hosts(&mut self, until_ns: u64) -> Result<Option<(u32, u64)>, FeedError> {
        match self.ftl.await_hosts(until_ns) {
            Ok(ended) => Ok(ended),
            Err(Stop::ReadOnly(reason)) => {
                self.read_only = Some(reason);
                Ok(None)
            }
            Err(Stop::Error(reason)) => Err(self.failed(reason)),
        }
    }

    /// These transactions are complete.
    pub(crate) fn end_transactions(&mut self, done: Vec<Done>) {
        let Some(transactions) = &mut self.transactions else { return };
        for done in done {
            transactions.add(done);
        }
    }

    /// Does `work`, and counts the time that it takes if the writes in it are counted.
    pub(crate) fn in_measured_time<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        if self.counted_from.is_none() {
            return work(self);
        }
        let mut spent = self.spent;
        let result = spent.on(|| work(self));
        self.spent = spent;
        result
    }

    /// Whether the drive takes no more writes.
    pub fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    /// The error of an FTL that stopped.
    pub fn failed(&self, reason: String) -> FeedError {
        FeedError::Ftl { ftl: self.name.clone(), reason }
    }
}

/// Pages that the host trims in a segment before and after its first `writes` writes.
fn trimmed(segment: &Segment, writes: usize) -> u64 {
    let trims = segment.batch.trims.iter();
    let trims = trims.take_while(|trim| trim.after_writes as usize <= writes);
    let mut written = 0;
    let parts = segment.parts.iter().take_while(|part| {
        written += if part.op == HostOp::Write { part.pages as usize } else { 0 };
        written <= writes
    });
    let parts = parts.filter(|part| part.op == HostOp::Trim).map(|part| part.pages);
    trims.map(|trim| trim.pages).chain(parts).map(u64::from).sum()
}

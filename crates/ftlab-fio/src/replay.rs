//! Jobs that replay: the requests of a log, or of any other workload, instead of those that options make.
//!
//! `read_iolog` names a trace that ftlab reads, whatever its format. Whoever knows other workloads by name may
//! hand in how these are [opened](OpenReplay); a generator then takes the part of the file that the job has for
//! its drive.

use super::job::Request;
use super::options::Select;
use super::plan::Plan;
use ftlab_trace::Space;
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Op, OpenOptions, RequestBatch, TraceError, TraceSource};
use std::path::Path;

/// Opens what `read_iolog` names, on a drive as large as the job's part.
pub type OpenReplay = fn(&str, &Space) -> Result<Box<dyn TraceSource>, TraceError>;

/// Opens a trace; other workloads are not known here.
pub(super) fn open_trace(name: &str, space: &Space) -> Result<Box<dyn TraceSource>, TraceError> {
    let path = Path::new(name);
    if !path.exists() {
        return Err(TraceError::Unsupported {
            what: format!("{name}, which is no file, without a clock"),
            remedy: "name a trace; or let the job's requests take time (--timing femu:unit=request), where any \
                     workload can be replayed"
                .into(),
        });
    }
    let options = OpenOptions { page_bytes: space.page_bytes, ..OpenOptions::default() };
    ftlab_trace::open(path, &options)
}

/// What a job replays.
pub(super) struct Replay {
    plan: Plan,
    source: Box<dyn TraceSource>,
    batch: RequestBatch,
    /// The next request of the batch.
    next: usize,
    issued: u64,
    /// When its first request was made.
    first_us: Option<u64>,
    /// Which of the job's placement identifiers comes next.
    identifier: usize,
}

impl Replay {
    /// Opens what the job replays.
    pub(super) fn new(plan: Plan, open: OpenReplay) -> Result<Self, TraceError> {
        let name = plan.options.read_iolog.as_deref().unwrap_or_default();
        let page_bytes = plan.page_bytes;
        let space = Space {
            logical_pages: plan.io_bytes / u64::from(page_bytes),
            page_bytes,
            seed: plan.replay_seed,
        };
        let source = open(name, &space)
            .map_err(|error| plan.refuse(&format!("read_iolog: {error}"), "see docs/fio.md"))?;
        Ok(Self {
            plan,
            source,
            batch: RequestBatch::new(),
            next: 0,
            issued: 0,
            first_us: None,
            identifier: 0,
        })
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The next request; `None` at the end.
    pub(super) fn next_request(&mut self) -> Result<Option<Request>, TraceError> {
        let options = &self.plan.options;
        if options.number_ios > 0 && self.issued == options.number_ios {
            return Ok(None);
        }
        while self.next == self.batch.len() {
            self.next = 0;
            if !self.source.next_batch(&mut self.batch)? {
                return Ok(None);
            }
        }
        let (at, batch) = (self.next, &self.batch);
        let op = batch.op[at];
        let offset = batch.lba[at].saturating_mul(SECTOR_BYTES);
        let bytes = u64::from(batch.sectors[at]) * SECTOR_BYTES;
        if offset.saturating_add(bytes) > self.plan.io_bytes {
            return Err(self.plan.refuse(
                &format!(
                    "replays a request of {bytes} bytes at byte {offset}, beyond the {} bytes of its part",
                    self.plan.io_bytes
                ),
                "let size be larger",
            ));
        }
        let after_us = if options.replay_no_stall {
            0
        } else {
            batch
                .time_us
                .get(at)
                .map_or(0, |now| now.saturating_sub(*self.first_us.get_or_insert(*now)))
        };
        let own = batch.stream.get(at).copied().unwrap_or(0);
        let stream = if op == Op::Write { self.stream(own) } else { 0 };
        self.next += 1;
        self.issued += 1;
        let offset = if op == Op::Flush { 0 } else { self.plan.offset + offset };
        Ok(Some(Request { op, offset, bytes, stream, after_us }))
    }

    /// The stream of a write: one of the job's identifiers in turn, or its own if the job has none.
    fn stream(&mut self, own: u16) -> u16 {
        let Some(placement) = &self.plan.placement else { return own };
        let stream = placement.identifiers[self.identifier];
        self.identifier = (self.identifier + 1) % placement.identifiers.len();
        stream
    }
}

/// Refuses what a job that replays cannot do.
pub(super) fn check(plan: &Plan) -> Result<(), TraceError> {
    let options = &plan.options;
    let Some(name) = &options.read_iolog else { return Ok(()) };
    let is_random = plan.placement.as_ref().is_some_and(|it| it.select == Select::Random);
    let page_bytes = u64::from(plan.page_bytes);
    let (reason, remedy) = if name == "-" {
        ("read_iolog=- reads standard input".to_owned(), "name a file")
    } else if name.starts_with("fio:") || Path::new(name).extension().is_some_and(|it| it == "fio")
    {
        (format!("read_iolog={name} is a job file in a job file"), "include it: include jobs.fio")
    } else if options.loops > 1 || options.time_based {
        let reason = "replays once, but has loops or time_based".to_owned();
        (reason, "leave these out; number_ios and runtime may end it")
    } else if is_random {
        ("replays with plid_select=random".to_owned(), "use roundrobin")
    } else if !plan.io_bytes.is_multiple_of(page_bytes)
        || !(plan.start + plan.offset).is_multiple_of(page_bytes)
    {
        let reason = format!(
            "replays into {} bytes from {} on, which are no whole pages of {page_bytes}",
            plan.io_bytes,
            plan.start + plan.offset
        );
        (reason, "let size and offset be multiples of the page size")
    } else {
        return Ok(());
    };
    Err(plan.refuse(&reason, remedy))
}

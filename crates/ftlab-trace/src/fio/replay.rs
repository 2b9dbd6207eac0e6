//! Jobs that replay: the requests of a log, or of any other workload, instead of those that options make.
//!
//! `read_iolog` names a trace that ftlab reads, whatever its format. Whoever knows other workloads by name may
//! hand in how these are [opened](OpenReplay); a generator then takes the part of the file that the job has for
//! its drive.

use super::job::Request;
use super::options::Select;
use super::plan::Plan;
use crate::pages::SECTOR_BYTES;
use crate::synthetic::Space;
use crate::{Op, OpenOptions, RequestBatch, TraceError, TraceSource};
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
    crate::open(path, &options)
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

#[cfg(test)]
mod tests {
    use crate::fio::JobFile;
    use crate::synthetic::{Space, build};
    use crate::{ClosedLoop, Op, RequestBatch, TraceError, TraceSource, Turn};
    use std::io::Write;

    const SPACE: Space = Space { logical_pages: 1 << 12, page_bytes: 4096, seed: 1 };

    fn open(name: &str, space: &Space) -> Result<Box<dyn TraceSource>, TraceError> {
        if std::path::Path::new(name).exists() {
            return super::open_trace(name, space);
        }
        build(&name.parse()?, space)
    }

    /// (tenant, operation, sector, stream, microseconds) of the first requests, each of which takes 10 us.
    type Seen = Vec<(u16, Op, u64, Option<u16>, u64)>;

    fn seen(text: &str, most: usize) -> Result<Seen, TraceError> {
        let mut hosts = JobFile::parse(text, "text")?.hosts(&SPACE, open, true)?;
        let (mut batch, mut all) = (RequestBatch::new(), Vec::new());
        while all.len() < most {
            if hosts.turn()? == Turn::End {
                break;
            }
            batch.clear();
            let of = hosts.issue(&mut batch).unwrap();
            let stream = batch.stream.first().copied();
            all.push((of.tenant, batch.op[0], batch.lba[0], stream, of.time_ns / 1000));
            hosts.complete(of.host, of.time_ns + 10_000);
        }
        Ok(all)
    }

    fn log() -> tempfile::NamedTempFile {
        let mut file = tempfile::Builder::new().suffix(".log").tempfile().unwrap();
        let log = "fio version 3 iolog\n0 f add\n0 f open\n5 f write 4096 4096\n6 f read 8192 4096\n\
                   100 f write 0 8192\n101 f close\n";
        file.write_all(log.as_bytes()).unwrap();
        file
    }

    #[test]
    fn a_log_is_replayed_in_the_part_of_its_job_at_its_times() {
        let file = log();
        let path = file.path().display();
        let jobs = |more: &str| {
            format!("[a]\nfilename=/dev/d\nread_iolog={path}\noffset=1m\nsize=1m\n{more}")
        };
        let stalled = seen(&jobs(""), 9).unwrap();
        let places: Vec<_> = stalled.iter().map(|of| (of.1, of.2)).collect();
        assert_eq!(places, [(Op::Write, 2056), (Op::Read, 2064), (Op::Write, 2048)]);
        let first = stalled[0].4;
        let times: Vec<_> = stalled.iter().map(|of| of.4 - first).collect();
        assert!(times[1] == 10 && times[2] > 90, "{times:?}");
        let at_once = seen(&jobs("replay_no_stall=1\n"), 9).unwrap();
        assert_eq!(at_once.iter().map(|of| of.4).collect::<Vec<_>>(), [0, 10, 20]);
        assert_eq!(seen(&jobs("number_ios=2\n"), 9).unwrap().len(), 2);
        let error = seen(&jobs("").replace("size=1m", "size=4k"), 9).unwrap_err().to_string();
        assert!(error.contains("beyond the 4096 bytes of its part"), "{error}");
    }

    #[test]
    fn other_workloads_have_queues_parts_and_streams_of_their_own() {
        let text = "[global]\nfilename=/dev/d\nioengine=io_uring\nfdp=1\n\
                    [a]\nread_iolog=zipf:theta=0.9\nsize=4m\niodepth=3\nplids=4,5\n\
                    [b]\nread_iolog=uniform:reads=0.5\noffset=4m\nsize=8m\nplids=7\n";
        let all = seen(text, 4000).unwrap();
        let of = |tenant| all.iter().filter(move |of| of.0 == tenant);
        assert!(of(0).count().abs_diff(3 * of(1).count()) < 8, "queue depths of 3 and 1");
        assert!(of(0).all(|it| it.2 < 8192 && it.1 == Op::Write));
        assert!(of(1).all(|it| (8192..24_576).contains(&it.2)));
        assert!(of(1).any(|it| it.1 == Op::Read) && of(1).any(|it| it.1 == Op::Write));
        let streams: Vec<_> = of(0).take(4).map(|it| it.3).collect();
        assert_eq!(streams, [Some(4), Some(5), Some(4), Some(5)]);
        assert!(of(1).filter(|it| it.1 == Op::Write).all(|it| it.3 == Some(7)));
        // Two tenants with the same workload do not write the same pages at the same time.
        let twice = "[global]\nfilename=/dev/d\nread_iolog=uniform\nsize=4m\n[a]\n[b]\noffset=4m\n";
        let all = seen(twice, 200).unwrap();
        let places = |tenant| -> Vec<u64> {
            all.iter().filter(|of| of.0 == tenant).map(|of| of.2 % 8192).collect()
        };
        assert_ne!(places(0), places(1));
    }

    #[test]
    fn what_cannot_be_replayed_is_an_error_before_anything_runs() {
        let job = |text: &str| format!("[a]\nfilename=/dev/d\n{text}\n");
        for (text, message) in [
            ("read_iolog=-", "reads standard input"),
            ("read_iolog=x.fio", "a job file in a job file"),
            ("read_iolog=uniform\nloops=2", "replays once"),
            ("read_iolog=uniform\nsize=6k", "no whole pages of 4096"),
            ("read_iolog=unifrom", "did you mean"),
            ("read_iolog=zipf:theta=x", "theta"),
        ] {
            let error = seen(&job(text), 1).unwrap_err().to_string();
            assert!(error.contains(message) && error.contains("[a]"), "{text}: {error}");
        }
        let jobs = JobFile::parse(&job("read_iolog=uniform"), "text").unwrap();
        let error = jobs.requests(&SPACE).err().unwrap().to_string();
        assert!(error.contains("without a clock"), "{error}");
        assert!(!jobs.has_end());
    }
}

//! `ftrace`: the block events of Linux as tracefs, `trace-cmd report` and `perf script` print them.
//!
//! ```text
//!  kworker/1:1H-54  [001] .....  1113.783365: block_rq_issue: 8,0 WS 8192 () 2000 + 16 be,0,4 [kworker]
//! task-pid [cpu] flags seconds: event: maj,min rwbs bytes (command) sector + sectors ioprio [task]
//! ```
//!
//! # Columns and units
//! Seconds, sectors of 512 bytes; `rwbs` as in [`blkparse`](super::blkparse). What stands between rwbs
//! and the sector, and after the length, differs between events and kernels (newer ones print an I/O
//! priority): the extent is found by its `+`. A device is a volume, called `MAJ,MIN`.
//!
//! # Where
//! Your own machine: `/sys/kernel/tracing/events/block`, also where a locked-down kernel refuses
//! blktrace.
//!
//! # Traps
//! - A request appears once per event: exactly one event is kept.
//! - `[LOST 12 EVENTS]` says that the trace has a gap; such lines are counted and shown.
//! - A write-zeroes request that the device refuses is followed by the writes that replace it.

use super::fields::{Fields, decimal, fixed_point};
use super::rwbs::{self, AGAIN, Requeued, is_device};
use super::{FormatInfo, Looks, first_lines};
use crate::input::{ItemParser, LineSource, Verdict};
use crate::volumes::VolumeNames;
use crate::{Input, OpenOptions, RequestBatch, TraceError, TraceSource};
use ftlab_spec::{Parameters, Spec};
use memchr::memmem::{self, Finder};

ftlab_spec::choices! {
    /// The event that stands for a request.
    pub enum Event {
        /// The request goes to the drive.
        Issue = "block_rq_issue",
        /// The request enters the scheduler.
        Insert = "block_rq_insert",
        /// The drive has done it.
        Complete = "block_rq_complete",
        /// The file system asks for it.
        Queue = "block_bio_queue",
    }
}

ftlab_spec::parameters! {
    /// Which lines are kept.
    pub struct FtraceParameters {
        /// The one event whose lines are kept.
        event: Event = Event::Issue, "event", from "what the drive sees: requests as issued";
    }
}

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "ftrace",
    extensions: &["ftrace"],
    summary: "block events of tracefs, trace-cmd report or perf script, one event per request kept",
    source: "Linux, include/trace/events/block.h",
    parameters: FtraceParameters::describe,
    detect,
    volumes_together: false,
    open,
};

fn open(
    input: Input,
    spec: &Spec,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    let FtraceParameters { event } = FtraceParameters::from_spec(spec)?;
    let parser = Parser {
        event: Finder::new(&format!("{event}: ")).into_owned(),
        devices: VolumeNames::default(),
        requeued: Requeued::default(),
        counts_issues: matches!(event, Event::Issue | Event::Insert),
        seen: None,
    };
    Ok(Box::new(LineSource::new(input, parser, spec.to_string(), options)))
}

/// A line among the first has a time and a block event.
fn detect(head: &[u8]) -> Looks {
    let is_event = |line: &&[u8]| {
        let event = memmem::find(line, b"block_rq_").or_else(|| memmem::find(line, b"block_bio_"));
        event.is_some_and(|event| time_us(&line[..event]).is_some())
    };
    first_lines(head, 50).iter().any(is_event).into()
}

struct Parser {
    event: Finder<'static>,
    devices: VolumeNames,
    requeued: Requeued,
    /// Whether a request that goes back to its queue comes again.
    counts_issues: bool,
    /// The first other event that could be kept.
    seen: Option<Event>,
}

const EXPECTED: &str = "\"... SECONDS: EVENT: MAJ,MIN RWBS ... SECTOR + SECTORS\"";

impl ItemParser for Parser {
    #[inline]
    fn parse(&mut self, line: &[u8], batch: &mut RequestBatch) -> Verdict {
        let Some(event) = self.event.find(line) else { return self.other_line(line) };
        let Some(time_us) = time_us(&line[..event]) else { return Verdict::Bad(EXPECTED) };
        let request = request(&line[event + self.event.needle().len()..]);
        let Some((device, rwbs, extent)) = request else { return Verdict::Bad(EXPECTED) };
        if self.devices.known(device).is_none() && !is_device(device) {
            return Verdict::Bad(EXPECTED);
        }
        if !self.requeued.is_empty() && self.is_again(device, rwbs, extent) {
            return Verdict::Skip(AGAIN);
        }
        let requests = batch.len();
        let verdict = rwbs::push(rwbs, time_us, extent, batch);
        if matches!(verdict, Verdict::Parsed) {
            let device = self.devices.number(device);
            batch.volume.extend(std::iter::repeat_n(device, batch.len() - requests));
        }
        verdict
    }

    fn volumes(&self) -> &[String] {
        self.devices.as_slice()
    }

    fn remedy(&self) -> Option<String> {
        let event = self.seen?;
        Some(format!(
            "it has requests with event {event}: --format ftrace:event={event} keeps these"
        ))
    }
}

impl Parser {
    /// A line without the event that is kept.
    #[cold]
    fn other_line(&mut self, line: &[u8]) -> Verdict {
        if let Some(at) = memmem::find(line, b"block_") {
            let rest = &line[at..];
            let is_of = |event: &Event| rest.starts_with(format!("{event}: ").as_bytes());
            if self.seen.is_none() {
                let events = [Event::Issue, Event::Insert, Event::Complete, Event::Queue];
                self.seen = events.into_iter().find(is_of);
            }
            if self.counts_issues {
                self.note_requeue(rest);
            }
        }
        other_line(line)
    }

    /// A request goes back to its queue, or is complete and does not come again.
    fn note_requeue(&mut self, event: &[u8]) {
        if let Some(rest) = event.strip_prefix(REQUEUE)
            && let Some((device, rwbs, extent)) = request(rest)
            && let Some(device) = self.devices.known(device)
        {
            self.requeued.add(device, rwbs, extent);
        } else if !self.requeued.is_empty()
            && let Some(rest) = event.strip_prefix(COMPLETE)
            && let Some((device, rwbs, extent)) = request(rest)
        {
            self.is_again(device, rwbs, extent);
        }
    }

    /// Whether a request is one that went back.
    #[cold]
    fn is_again(&mut self, device: &[u8], rwbs: &[u8], extent: (u64, u64)) -> bool {
        let device = self.devices.known(device);
        device.is_some_and(|device| self.requeued.take(device, rwbs, extent))
    }
}

/// The event of a request that goes back to its queue.
const REQUEUE: &[u8] = b"block_rq_requeue: ";

/// The event of a request that the drive has done.
const COMPLETE: &[u8] = b"block_rq_complete: ";

type Request<'a> = (&'a [u8], &'a [u8], (u64, u64));

/// What follows an event: the device, the letters of the operation, the extent.
#[inline]
fn request(text: &[u8]) -> Option<Request<'_>> {
    let mut fields = Fields::new(text);
    let (device, rwbs) = (fields.next()?, fields.next()?);
    Some((device, rwbs, extent(&mut fields)?))
}

/// The numbers around the first `+`.
#[inline]
fn extent(fields: &mut Fields<'_>) -> Option<(u64, u64)> {
    let mut before = fields.next()?;
    loop {
        let field = fields.next()?;
        if field == b"+" {
            // A flush has sector -1 on some kernels, and no length.
            let sectors = decimal(fields.next()?)?;
            let sector = if sectors == 0 { 0 } else { decimal(before)? };
            return Some((sector, sectors));
        }
        before = field;
    }
}

/// The time, which is the last field before the event: `1113.783365:`, and `block:` may follow.
#[inline]
fn time_us(text: &[u8]) -> Option<u64> {
    let text = text.strip_suffix(b"block:").unwrap_or(text).trim_ascii_end();
    let text = text.strip_suffix(b":").unwrap_or(text);
    let start = memchr::memrchr2(b' ', b'\t', text).map_or(0, |blank| blank + 1);
    fixed_point(&text[start..], 6)
}

fn other_line(line: &[u8]) -> Verdict {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Verdict::Skip("blank line");
    }
    if line.starts_with(b"#") {
        return Verdict::Skip("comment");
    }
    if memmem::find(line, b"[LOST ").is_some() {
        return Verdict::Skip("lost events");
    }
    // "cpus=2" begins a report of trace-cmd.
    if line.starts_with(b"cpus=") || memmem::find(line, b": ").is_some() {
        return Verdict::Skip("another event");
    }
    Verdict::Bad(EXPECTED)
}

#[cfg(test)]
mod tests {
    use super::super::read_text;
    use super::*;
    use crate::Op;

    fn parse(text: &str, format: Option<&str>) -> Result<(RequestBatch, String), String> {
        let format = format.map(Into::into);
        read_text(text, &OpenOptions { format, ..OpenOptions::default() })
    }

    #[test]
    fn three_tools_print_the_same_event() {
        for line in [
            "kw/1:1H-54 [001] .....  1.500001: block_rq_issue: 8,0 WS 8192 () 2000 + 16 be,0,4 [kw]",
            "kw/1:1H-54 [001]  1.500001: block_rq_issue:  8,0 WS 8192 () 2000 + 16 [kw]",
            "kw   54 [001]     1.500001987: block:block_rq_issue: 8,0 WS 8192 () 2000 + 16 [kw]",
        ] {
            let (batch, _) = parse(line, None).unwrap();
            assert_eq!(batch.iter().collect::<Vec<_>>(), [(Op::Write, 2000, 16)], "{line}");
            assert_eq!(batch.time_us, [1_500_001]);
        }
    }

    #[test]
    fn events_and_what_stands_between_them_are_counted() {
        let text = "\
# tracer: nop
 a-1 [000] .....  1.0: block_bio_queue: 8,0 W 8 + 8 [a]
 a-1 [000] .....  1.1: block_rq_issue: 8,0 FF 0 () 18446744073709551615 + 0 none,0,0 [a]
CPU:1 [LOST 12 EVENTS]
 a-1 [000] .....  1.2: block_rq_issue: 8,0 DS 4096 () 8 + 8 be,0,4 [a]
 a-1 [000] .....  1.3: block_rq_complete: 8,0 DS () 8 + 8 be,0,4 [0]
";
        let (batch, skipped) = parse(text, None).unwrap();
        assert_eq!(batch.iter().collect::<Vec<_>>(), [(Op::Flush, 0, 0), (Op::Trim, 8, 8)]);
        assert!(skipped.contains("1 x lost events, first line 4"), "{skipped}");
        let (batch, _) = parse(text, Some("ftrace:event=block_bio_queue")).unwrap();
        assert_eq!(batch.iter().collect::<Vec<_>>(), [(Op::Write, 8, 8)]);
        let (batch, _) = parse(text, Some("ftrace:event=block_rq_complete")).unwrap();
        assert_eq!(batch.iter().collect::<Vec<_>>(), [(Op::Trim, 8, 8)]);
    }

    #[test]
    fn a_requeued_request_is_one() {
        let line =
            |event: &str| format!(" a-1 [000] ..... 1.0: {event}: 8,0 W 0 () 8 + 8 be,0,4 [a]\n");
        let events = ["block_rq_issue", "block_rq_requeue", "block_rq_issue", "block_rq_issue"];
        let text: String = events.into_iter().map(line).collect();
        let (batch, skipped) = parse(&text, None).unwrap();
        assert_eq!(batch.len(), 2);
        assert!(
            skipped.contains("1 x request that was requeued, and issued again, first line 3"),
            "{skipped}"
        );
        let inserted = ["insert", "issue", "requeue", "issue", "complete", "insert", "issue"];
        let text: String = inserted.map(|event| line(&format!("block_rq_{event}"))).concat();
        let (batch, _) = parse(&text, Some("ftrace:event=block_rq_insert")).unwrap();
        assert_eq!(batch.len(), 2, "the first was complete before the second was inserted");
    }

    #[test]
    fn another_event_is_proposed_if_there_is_none_of_this() {
        let error =
            parse(" a-1 [000] ..... 1.0: block_bio_queue: 8,0 W 8 + 8 [a]\n", None).unwrap_err();
        assert!(error.ends_with("--format ftrace:event=block_bio_queue keeps these"), "{error}");
    }

    #[test]
    fn wrong_lines_say_what_is_right() {
        for line in [
            "rubbish",
            "a-1 x: block_rq_issue: 8,0 W 0 () 8 + 8 [a]",
            "a-1 1.0: block_rq_issue: 8 W 0 () 8 + 8 [a]",
            "a-1 1.0: block_rq_issue: 8,0 W 0 () 8 8 [a]",
            "a-1 1.0: block_rq_issue: 8,0 W 0 () x + 8 [a]",
        ] {
            let error = parse(line, Some("ftrace")).unwrap_err();
            assert!(error.contains("expected \"... SECONDS: EVENT:"), "{error}");
        }
    }
}

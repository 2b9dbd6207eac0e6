//! `blkparse`: the text that blkparse prints of a blktrace.
//!
//! ```text
//!   8,16   1       42     0.001204311   551  D  WS 274432 + 8 [fio]
//! maj,min cpu sequence seconds.nanos    pid act rwbs sector + sectors [task]
//! ```
//!
//! Each request appears several times, once per action (Q queued, D issued, C completed, ...), so
//! exactly one action is kept; a request that was requeued (R) and issued again is one request. `rwbs`
//! tells the operation: W write; R read; D discard, a trim; N with a length is write-zeroes, a trim; F first is a flush, before the write if one follows
//! (`FWFSM`); the letters after it (F forced unit access, S synchronous, M metadata, A read-ahead)
//! change nothing. Lines of other actions, messages and the summary at the end are passed over.
//! A device is a volume, called `MAJ,MIN`.

use super::fields::{Fields, decimal, fixed_point};
use super::rwbs::{self, AGAIN, Requeued, is_device};
use super::{FormatInfo, Looks, first_lines};
use crate::input::{ItemParser, LineSource, Verdict};
use crate::volumes::VolumeNames;
use crate::{Input, OpenOptions, RequestBatch, TraceError, TraceSource};
use ftlab_spec::{Parameters, Spec, Value};
use std::fmt;

/// The actions that can be kept, those first that say best what the drive sees.
pub(super) const ACTIONS: &[u8; 4] = b"DCIQ";

/// One action letter of blkparse, such as D.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Action(pub u8);

impl Value for Action {
    fn expects() -> String {
        "an action letter of blkparse: Q queued, I inserted, D issued, C completed".into()
    }

    fn parse(text: &str) -> Option<Self> {
        matches!(text, "Q" | "I" | "D" | "C").then(|| Self(text.as_bytes()[0]))
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", char::from(self.0))
    }
}

ftlab_spec::parameters! {
    /// Which lines are kept.
    pub struct BlkparseParameters {
        /// The one action whose lines are kept.
        action: Action = Action(b'D'), "action", from "what the drive sees: requests as issued";
    }
}

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "blkparse",
    extensions: &["blkparse"],
    summary: "text of blkparse, one action per request kept",
    source: "blkparse(1), default output format",
    parameters: BlkparseParameters::describe,
    detect,
    volumes_together: false,
    open,
};

fn open(
    input: Input,
    spec: &Spec,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    let BlkparseParameters { action } = BlkparseParameters::from_spec(spec)?;
    let parser = Parser {
        action: action.0,
        devices: VolumeNames::default(),
        in_summary: false,
        requeued: Requeued::default(),
        seen: Seen::none(),
    };
    Ok(Box::new(LineSource::new(input, parser, spec.to_string(), options)))
}

/// The first line that is not blank begins like a line of blkparse.
fn detect(head: &[u8]) -> Looks {
    let event = first_lines(head, 1).first().and_then(|line| Event::parse(line));
    event.is_some_and(|event| is_device(event.device) && !event.rwbs.is_empty()).into()
}

struct Parser {
    action: u8,
    devices: VolumeNames,
    in_summary: bool,
    requeued: Requeued,
    /// The actions that came besides.
    seen: Seen,
}

/// The actions that came, by letter or number.
pub(super) struct Seen([bool; 128]);

impl Seen {
    pub(super) fn none() -> Self {
        Self([false; 128])
    }

    #[inline]
    pub(super) fn add(&mut self, action: u32) {
        if let Some(seen) = self.0.get_mut(action as usize) {
            *seen = true;
        }
    }

    pub(super) fn has(&self, action: u32) -> bool {
        self.0[action as usize]
    }
}

const EXPECTED: &str = "\"MAJ,MIN CPU SEQUENCE SECONDS PID ACTION RWBS SECTOR + SECTORS\"";

impl ItemParser for Parser {
    #[inline]
    fn parse(&mut self, line: &[u8], batch: &mut RequestBatch) -> Verdict {
        if self.in_summary {
            return Verdict::Skip("summary");
        }
        let Some(event) = Event::parse(line) else {
            return self.other_line(line);
        };
        let is_kept = event.action == [self.action];
        if !is_kept && !self.tells_of_requeues(event.action) {
            return Verdict::Skip("another action");
        }
        let extent = event.extent();
        if !is_kept {
            self.note_requeue(&event, &extent);
            return Verdict::Skip("another action");
        }
        let known = self.devices.known(event.device);
        if known.is_none() && !is_device(event.device) {
            return Verdict::Bad(EXPECTED);
        }
        let extent = match extent {
            Ok(extent) => extent,
            Err(without) => return without.verdict(),
        };
        if !self.requeued.is_empty() && self.is_again(&event, extent) {
            return Verdict::Skip(AGAIN);
        }
        let requests = batch.len();
        let verdict = rwbs::push(event.rwbs, event.time_us, extent, batch);
        if matches!(verdict, Verdict::Parsed) {
            let device = known.unwrap_or_else(|| self.devices.number(event.device));
            batch.volume.extend(std::iter::repeat_n(device, batch.len() - requests));
        }
        verdict
    }

    fn volumes(&self) -> &[String] {
        self.devices.as_slice()
    }

    fn remedy(&self) -> Option<String> {
        remedy("blkparse", |action| self.seen.has(u32::from(action)))
    }
}

/// How the requests of a trace are kept that has none of the action that is kept, but those that it `has`.
pub(super) fn remedy(format: &str, has: impl Fn(u8) -> bool) -> Option<String> {
    let action = ACTIONS.iter().find(|action| has(**action))?;
    let action = Action(*action);
    Some(format!(
        "it has requests with action {action}: --format {format}:action={action} keeps these"
    ))
}

impl Parser {
    /// Whether an event of an action that is not kept may say that a request comes again, or does not.
    #[inline]
    fn tells_of_requeues(&mut self, action: &[u8]) -> bool {
        let [action] = action else { return false };
        self.seen.add(u32::from(*action));
        match action {
            b'R' => matches!(self.action, b'D' | b'I'),
            b'C' => !self.requeued.is_empty(),
            _ => false,
        }
    }

    /// A request goes back to its queue, or is complete and does not come again.
    #[cold]
    fn note_requeue(&mut self, event: &Event<'_>, extent: &Result<(u64, u64), WithoutExtent>) {
        let Ok(extent) = *extent else { return };
        if event.action == b"C" {
            self.is_again(event, extent);
        } else if let Some(device) = self.devices.known(event.device) {
            // One of a device that has had none is not counted twice.
            self.requeued.add(device, event.rwbs, extent);
        }
    }

    /// Whether a request is one that went back.
    #[cold]
    fn is_again(&mut self, event: &Event<'_>, extent: (u64, u64)) -> bool {
        let device = self.devices.known(event.device);
        device.is_some_and(|device| self.requeued.take(device, event.rwbs, extent))
    }

    /// A line that is not an event.
    fn other_line(&mut self, line: &[u8]) -> Verdict {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Verdict::Skip("blank line");
        }
        // "CPU0 (8,16):" or "Total (8,16):" is the first line of the summary.
        let is_summary = [b"CPU".as_slice(), b"Total", b"Throughput", b"Events", b"Skips"]
            .iter()
            .any(|word| line.starts_with(word));
        if is_summary {
            self.in_summary = true;
            return Verdict::Skip("summary");
        }
        Verdict::Bad(EXPECTED)
    }
}

/// One line, cut into its parts.
struct Event<'a> {
    device: &'a [u8],
    time_us: u64,
    action: &'a [u8],
    rwbs: &'a [u8],
    rest: Fields<'a>,
}

impl<'a> Event<'a> {
    #[inline]
    fn parse(line: &'a [u8]) -> Option<Self> {
        let mut fields = Fields::new(line);
        let device = fields.next()?;
        decimal(fields.next()?)?;
        decimal(fields.next()?)?;
        let time_us = fixed_point(fields.next()?, 6)?;
        decimal(fields.next()?)?;
        let action = fields.next()?;
        let rwbs = fields.next().unwrap_or_default();
        Some(Self { device, time_us, action, rwbs, rest: fields })
    }

    /// The first sector, and how many.
    #[inline]
    fn extent(&self) -> Result<(u64, u64), WithoutExtent> {
        let mut rest = self.rest.clone();
        let extent = (rest.next(), rest.next(), rest.next());
        match extent {
            (Some(lba), Some(b"+"), Some(sectors)) => match (decimal(lba), decimal(sectors)) {
                (Some(lba), Some(sectors)) => Ok((lba, sectors)),
                _ => Err(WithoutExtent::Wrong),
            },
            // A flush has no extent: "FN [task]", completed "FN 0 [0]".
            (None, ..) => Ok((0, 0)),
            (Some(task), ..) if task.starts_with(b"[") => Ok((0, 0)),
            (Some(_), Some(error), _) if error.starts_with(b"[") => Ok((0, 0)),
            (Some(_), Some(command), _) if command.starts_with(b"(") => {
                Err(WithoutExtent::PacketCommand)
            }
            _ => Err(WithoutExtent::Wrong),
        }
    }
}

/// Why an event has no extent.
enum WithoutExtent {
    PacketCommand,
    Wrong,
}

impl WithoutExtent {
    fn verdict(&self) -> Verdict {
        match self {
            Self::PacketCommand => Verdict::Skip("packet command"),
            Self::Wrong => Verdict::Bad(EXPECTED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_text;
    use super::*;
    use crate::Op;

    fn parse(lines: &str, parameters: &str) -> Result<(RequestBatch, String), String> {
        let format = Some(format!("blkparse{parameters}"));
        read_text(lines, &OpenOptions { format, ..OpenOptions::default() })
    }

    fn operations(rwbs: &str, extent: &str) -> Vec<(Op, u64, u32)> {
        let line = format!("8,0 1 2 0.000001999 7 D {rwbs} {extent} [x]\n8,0 1 2 0.1 7 D R 1 + 1");
        let (batch, _) = parse(&line, "").unwrap();
        assert_eq!(batch.time_us[0], 1);
        let mut requests: Vec<_> = batch.iter().collect();
        assert_eq!(requests.pop(), Some((Op::Read, 1, 1)));
        requests
    }

    #[test]
    fn rwbs_tells_the_operation() {
        assert_eq!(operations("WSM", "16 + 8"), [(Op::Write, 16, 8)]);
        assert_eq!(operations("RA", "16 + 8"), [(Op::Read, 16, 8)]);
        assert_eq!(operations("DS", "16 + 8"), [(Op::Trim, 16, 8)]);
        assert_eq!(operations("N", "16 + 8"), [(Op::Trim, 16, 8)]);
        for flush in ["FN", "FF", "FWS", "F", "FS"] {
            assert_eq!(operations(flush, ""), [(Op::Flush, 0, 0)], "{flush}");
        }
        assert_eq!(operations("FN", "0"), [(Op::Flush, 0, 0)]);
        assert_eq!(operations("FWFSM", "16 + 8"), [(Op::Flush, 0, 0), (Op::Write, 16, 8)]);
    }

    #[test]
    fn other_actions_messages_and_the_summary_are_counted() {
        let text = "\
  8,16  1  1  0.000000000  551  Q  WS 8 + 8 [fio]
  8,16  1  2  0.000001000  551  m   N cfq551 something
  8,16  1  3  0.000002000  551  D  WS 8 + 8 [fio]

CPU0 (8,16):
 Reads Queued:           0,        0KiB
8,16 not a line
";
        let (batch, skipped) = parse(text, "").unwrap();
        assert_eq!(batch.iter().collect::<Vec<_>>(), [(Op::Write, 8, 8)]);
        assert!(skipped.starts_with("2 x another action, first line 1: \"8,16  1  1"));
        assert!(skipped.contains("1 x blank line"), "{skipped}");
        assert!(skipped.ends_with("3 x summary, first line 5: \"CPU0 (8,16):\""), "{skipped}");
        let (queued, _) = parse(text, ":action=Q").unwrap();
        assert_eq!(queued.time_us, [0]);
    }

    #[test]
    fn a_requeued_request_is_one() {
        let lines = |events: &[(&str, &str)]| {
            let line =
                |(action, rest): &(&str, &str)| format!("8,0 1 1 0.0 5 {action} {rest} [0]\n");
            events.iter().map(line).collect::<String>()
        };
        let write = "WS 8 + 8";
        let text = lines(&[
            ("Q", write),
            ("I", write),
            ("D", write),
            ("R", write),
            ("I", write),
            ("D", "R 8 + 8"),
            ("D", write),
            ("R", write),
            ("D", write),
            ("C", write),
            ("D", write),
        ]);
        for (action, count) in [("Q", 1), ("I", 1), ("D", 3), ("C", 1)] {
            let (batch, skipped) = parse(&text, &format!(":action={action}")).unwrap();
            assert_eq!(batch.len(), count, "{action}: {skipped}");
        }
        let (_, skipped) = parse(&text, "").unwrap();
        assert!(
            skipped.contains("2 x request that was requeued, and issued again, first line 7"),
            "{skipped}"
        );
    }

    #[test]
    fn the_letters_of_flags_change_nothing() {
        let text = "\
259,0 1 1 0.1 1 D DS 0 + 2048 [a]
259,0 1 2 0.2 1 D FWFS 2048 + 8 [jbd2/x 1-8]
259,0 1 3 0.3 1 D FN [a]
259,0 1 4 0.4 1 D WSM 8192 + 16 [a b]
259,0 1 5 0.5 1 D RA 8192 + 16 [a]
259,0 1 6 0.6 1 C RA 8192 + 16 [0]
";
        let (batch, _) = parse(text, "").unwrap();
        let expected = [
            (Op::Trim, 0, 2048),
            (Op::Flush, 0, 0),
            (Op::Write, 2048, 8),
            (Op::Flush, 0, 0),
            (Op::Write, 8192, 16),
            (Op::Read, 8192, 16),
        ];
        assert_eq!(batch.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_device_is_a_volume() {
        let text = "8,0 1 1 0.0 5 D W 8 + 8 [a]\n8,16 1 1 0.0 5 D FW 16 + 8 [a]\n";
        let error = parse(text, "").unwrap_err();
        assert!(error.contains("volume 8,16 follow requests for volume 8,0"), "{error}");
        let options = OpenOptions { volumes: vec!["8,16".into()], ..OpenOptions::default() };
        assert_eq!(read_text(text, &options).unwrap().0.lba, [0, 16]);
    }

    #[test]
    fn wrong_lines_say_what_is_right() {
        for line in [
            "hello",
            "8,0 1 1 0.0 5 D W 8 8",
            "8,0 1 1 0.0 5 D X 8 + 8",
            "8;0 1",
            "8;0 1 1 0.0 5 D W 8 + 8",
        ] {
            let error = parse(&format!("{line}\n"), "").unwrap_err();
            assert!(error.starts_with(&format!("test, line 1: {line:?} is wrong: ")), "{error}");
        }
        let error = parse("8,0 1 1 0.0 5 D W 8 + 4294967296", "").unwrap_err();
        assert!(error.contains("expected fewer than 2^32 sectors"), "{error}");
        let error = parse("8,0 1 1 0.0 5 D W 18446744073709551615 + 8", "").unwrap_err();
        assert!(error.contains("expected a sector below 2^64"), "{error}");
    }

    #[test]
    fn nothing_kept_is_an_error_that_shows_what_there_was() {
        let error =
            parse("8,0 1 1 0.0 5 Q W 8 + 8 [a]\n8,0 1 2 0.0 5 G W 8 + 8 [a]\n", "").unwrap_err();
        assert!(error.contains("no requests in 2 lines (2 x another action"), "{error}");
        assert!(error.ends_with("--format blkparse:action=Q keeps these"), "{error}");
        let completed =
            parse("8,0 1 1 0.0 5 Q W 8 + 8 [a]\n8,0 1 2 0.1 5 C W 8 + 8 [0]\n", "").unwrap_err();
        assert!(completed.ends_with("--format blkparse:action=C keeps these"), "{completed}");
        let empty = parse("8,0 1 1 0.0 5 m N something\n", "").unwrap_err();
        assert!(empty.ends_with("check --format, its parameters and --map"), "{empty}");
        let error = parse("", ":action=X").unwrap_err();
        assert!(error.contains("action=X is not an action letter"), "{error}");
    }
}

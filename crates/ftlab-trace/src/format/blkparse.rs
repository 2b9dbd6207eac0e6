//! `blkparse`: the text that blkparse prints of a blktrace.
//!
//! ```text
//!   8,16   1       42     0.001204311   551  D  WS 274432 + 8 [fio]
//! maj,min cpu sequence seconds.nanos    pid act rwbs sector + sectors [task]
//! ```
//!
//! Each request appears several times, once per action (Q queued, D issued, C completed, ...), so
//! exactly one action is kept. `rwbs` tells the operation: W write; R read; D discard, a trim; N
//! with a length is write-zeroes, a trim; F first is a flush, before the write if one follows
//! (`FWFSM`); the letters after it (F forced unit access, S synchronous, M metadata, A read-ahead)
//! change nothing. Lines of other actions, messages and the summary at the end are passed over.
//! A device is a volume, called `MAJ,MIN`.

use super::fields::{Fields, decimal, fixed_point};
use super::rwbs::{self, is_device};
use super::{FormatInfo, Looks, first_lines};
use crate::input::{ItemParser, LineSource, Verdict};
use crate::volumes::VolumeNames;
use crate::{Input, OpenOptions, RequestBatch, TraceError, TraceSource};
use ftlab_spec::{Parameters, Spec, Value};
use std::fmt;

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
    let parser = Parser { action: action.0, devices: VolumeNames::default(), in_summary: false };
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
        if event.action != [self.action] {
            return Verdict::Skip("another action");
        }
        if self.devices.known(event.device).is_none() && !is_device(event.device) {
            return Verdict::Bad(EXPECTED);
        }
        let requests = batch.len();
        let verdict = event.push(batch);
        if matches!(verdict, Verdict::Parsed) {
            let device = self.devices.number(event.device);
            batch.volume.extend(std::iter::repeat_n(device, batch.len() - requests));
        }
        verdict
    }

    fn volumes(&self) -> &[String] {
        self.devices.as_slice()
    }
}

impl Parser {
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

    /// Adds the request of this line.
    #[inline]
    fn push(&self, batch: &mut RequestBatch) -> Verdict {
        let mut rest = self.rest.clone();
        let extent = (rest.next(), rest.next(), rest.next());
        let (lba, sectors) = match extent {
            (Some(lba), Some(b"+"), Some(sectors)) => match (decimal(lba), decimal(sectors)) {
                (Some(lba), Some(sectors)) => (lba, sectors),
                _ => return Verdict::Bad(EXPECTED),
            },
            // A flush has no extent: "FN [task]", completed "FN 0 [0]".
            (None, ..) => (0, 0),
            (Some(task), ..) if task.starts_with(b"[") => (0, 0),
            (Some(_), Some(error), _) if error.starts_with(b"[") => (0, 0),
            (Some(_), Some(command), _) if command.starts_with(b"(") => {
                return Verdict::Skip("packet command");
            }
            _ => return Verdict::Bad(EXPECTED),
        };
        rwbs::push(self.rwbs, self.time_us, (lba, sectors), batch)
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
        let error = parse("8,0 1 1 0.0 5 Q W 8 + 8 [a]\n", "").unwrap_err();
        assert!(error.contains("no requests in 1 lines (1 x another action"), "{error}");
        let error = parse("", ":action=X").unwrap_err();
        assert!(error.contains("action=X is not an action letter"), "{error}");
    }
}

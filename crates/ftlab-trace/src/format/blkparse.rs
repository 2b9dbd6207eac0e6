//! `blkparse`: the text that blkparse prints of a blktrace.
//!
//! ```text
//!   8,16   1       42     0.001204311   551  D  WS 274432 + 8 [fio]
//! maj,min cpu sequence seconds.nanos    pid act rwbs sector + sectors [task]
//! ```
//!
//! Each request appears several times, once per action (Q queued, D issued, C completed, ...), so
//! exactly one action is kept. `rwbs` tells the operation: W write; R read; D discard, a trim; N
//! with a length is write-zeroes, a trim; F in front is a flush, before the write if one follows
//! (`FWFSM`); the letters behind (F forced unit access, S synchronous, M metadata, A read-ahead)
//! change nothing. Lines of other actions, messages and the summary at the end are passed over.
//!
//! All requests must be for one device, because two devices have two address spaces.

use super::FormatInfo;
use super::fields::{Fields, decimal, fixed_point};
use crate::input::{LineParser, LineSource, Verdict};
use crate::{Input, Op, OpenOptions, RequestBatch, TraceError, TraceSource};
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

/// A device as major:minor, or any one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device(pub Option<(u32, u32)>);

impl Value for Device {
    fn expects() -> String {
        "a device as MAJOR:MINOR, or any".into()
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "any" {
            return Some(Self(None));
        }
        let (major, minor) = text.split_once(':')?;
        Some(Self(Some((major.parse().ok()?, minor.parse().ok()?))))
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((major, minor)) => write!(f, "{major}:{minor}"),
            None => f.write_str("any"),
        }
    }
}

ftlab_spec::parameters! {
    /// Which lines are kept.
    pub struct BlkparseParameters {
        /// The one action whose lines are kept.
        action: Action = Action(b'D'), "action", from "what the drive sees: requests as issued";
        /// The one device whose lines are kept; any refuses a second device.
        device: Device = Device(None), "device", from "our reading: two devices have two address spaces";
    }
}

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "blkparse",
    extensions: &["blkparse"],
    summary: "text of blkparse, one action per request kept",
    source: "blkparse(1), default output format",
    parameters: BlkparseParameters::describe,
    detect,
    open,
};

fn open(
    input: Input,
    spec: &Spec,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    let parser = Parser::new(&BlkparseParameters::from_spec(spec)?);
    Ok(Box::new(LineSource::new(input, parser, spec.to_string(), options)))
}

/// The first line that is not blank begins like a line of blkparse.
fn detect(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines.next().is_some_and(|line| Event::parse(line).is_some_and(|event| !event.rwbs.is_empty()))
}

struct Parser {
    action: u8,
    device: Option<(u32, u32)>,
    /// Whether `device` was asked for, so that lines of others are passed over.
    chosen: bool,
    in_summary: bool,
}

impl Parser {
    fn new(parameters: &BlkparseParameters) -> Self {
        let device = parameters.device.0;
        Self { action: parameters.action.0, device, chosen: device.is_some(), in_summary: false }
    }

    fn refuse_second_device(first: (u32, u32), second: (u32, u32)) -> Verdict {
        let ((a, b), (c, d)) = (first, second);
        Verdict::Refuse {
            reason: format!("requests for {c},{d} follow requests for {a},{b}"),
            remedy: format!("keep one with --format blkparse:device={a}:{b} or device={c}:{d}"),
        }
    }
}

const EXPECTED: &str = "\"MAJ,MIN CPU SEQUENCE SECONDS PID ACTION RWBS SECTOR + SECTORS\"";

impl LineParser for Parser {
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
        match self.device {
            Some(device) if device != event.device && self.chosen => {
                return Verdict::Skip("another device");
            }
            Some(device) if device != event.device => {
                return Self::refuse_second_device(device, event.device);
            }
            _ => {}
        }
        let verdict = event.push(batch);
        if matches!(verdict, Verdict::Parsed) {
            self.device = Some(event.device);
        }
        verdict
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
    device: (u32, u32),
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
        let comma = device.iter().position(|byte| *byte == b',')?;
        let device = (
            u32::try_from(decimal(&device[..comma])?).ok()?,
            u32::try_from(decimal(&device[comma + 1..])?).ok()?,
        );
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
        let Ok(sectors) = u32::try_from(sectors) else {
            return Verdict::Bad("fewer than 2^32 sectors");
        };
        if lba.checked_add(u64::from(sectors)).is_none() {
            return Verdict::Bad("a sector below 2^64");
        }
        let (flush, op) = match operation(self.rwbs, sectors) {
            Ok(operation) => operation,
            Err(verdict) => return verdict,
        };
        if flush {
            batch.push_at(self.time_us, Op::Flush, 0, 0);
        }
        if let Some(op) = op {
            batch.push_at(self.time_us, op, lba, sectors);
        }
        Verdict::Parsed
    }
}

/// What `rwbs` means: whether a flush comes first, and what follows it.
#[inline]
pub(super) fn operation(rwbs: &[u8], sectors: u32) -> Result<(bool, Option<Op>), Verdict> {
    let (flush, rest) = match rwbs {
        [b'F', rest @ ..] => (true, rest),
        _ => (false, rwbs),
    };
    match rest.first() {
        Some(b'W') if sectors > 0 => Ok((flush, Some(Op::Write))),
        Some(b'R') if sectors > 0 => Ok((flush, Some(Op::Read))),
        Some(b'D' | b'N') if sectors > 0 => Ok((flush, Some(Op::Trim))),
        Some(b'Z') => Err(Verdict::Skip("zone operation")),
        // FF, FN, FS, and a flush that carries no data.
        Some(b'F' | b'N' | b'S' | b'W' | b'M') | None if flush => Ok((true, None)),
        Some(b'N' | b'W' | b'R' | b'D') => Err(Verdict::Skip("no data")),
        _ => Err(Verdict::Bad("an RWBS of W, R, D, N or F and further letters")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_text;
    use super::*;

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
    fn two_devices_need_a_choice() {
        let text = "8,0 1 1 0.0 5 D W 8 + 8 [a]\n8,16 1 1 0.0 5 D W 16 + 8 [a]\n";
        assert_eq!(
            parse(text, "").unwrap_err(),
            "test, line 2: requests for 8,16 follow requests for 8,0; keep one with --format \
             blkparse:device=8:0 or device=8:16"
        );
        let (batch, skipped) = parse(text, ":device=8:16").unwrap();
        assert_eq!(batch.lba, [16]);
        assert!(skipped.contains("1 x another device"), "{skipped}");
    }

    #[test]
    fn wrong_lines_say_what_is_right() {
        for line in ["hello", "8,0 1 1 0.0 5 D W 8 8", "8,0 1 1 0.0 5 D X 8 + 8", "8;0 1"] {
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

//! What becomes of each line or record: a request, passed over, tolerated, or an error.

use crate::error::excerpt;
use crate::{OpenOptions, RequestBatch, Skipped, TraceError};

/// Lines before a share of bad ones is judged; the first line of a file is 100% of it.
const JUDGED_LINES_MIN: u64 = 1000;
/// Under this reason wrong lines are counted that are within the tolerance.
pub(crate) const BAD_LINE: &str = "wrong line within the tolerance";
const TOO_LONG: &str = "a write or read of 2 GiB at most";

/// What a parser makes of a line or record.
pub enum Verdict {
    /// One or more requests, pushed onto the batch.
    Parsed,
    /// Not a request, for a reason that every trace of this format has.
    Skip(&'static str),
    /// Not a line of this format; what would be.
    Bad(&'static str),
    /// A good line that this reader must not swallow: why, and what to do.
    Refuse(Box<Refusal>),
}

/// Why a line is not read, and what to do. It is boxed, since every line has a verdict.
pub struct Refusal {
    pub(crate) reason: String,
    pub(crate) remedy: String,
}

impl Verdict {
    pub(crate) fn refuse(reason: String, remedy: &str) -> Self {
        Self::Refuse(Box::new(Refusal { reason, remedy: remedy.into() }))
    }
}

/// Whether a trace is made of lines of text or of binary records.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Line,
    Record,
}

impl Unit {
    fn name(self) -> &'static str {
        if self == Self::Line { "line" } else { "record" }
    }

    /// The text of a message; records are shown as hexadecimal digits.
    fn excerpt(self, bytes: &[u8]) -> String {
        match self {
            Self::Line => excerpt(bytes),
            Self::Record => hexadecimal(bytes),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    const SHOWN: usize = 48;
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('?');
    bytes.iter().take(SHOWN).flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Books what becomes of the lines of one trace, and judges how many may be wrong.
pub(crate) struct Tally {
    pub(crate) name: String,
    pub(crate) skipped: Skipped,
    unit: Unit,
    skip_bad_percent: f64,
    /// Lines or records so far.
    pub(crate) number: u64,
    requests: u64,
    bad: u64,
    /// Number and text of the first wrong line, and what was expected.
    first_bad: (u64, String, &'static str),
}

impl Tally {
    pub(crate) fn new(name: &str, unit: Unit, options: &OpenOptions) -> Self {
        Self {
            name: name.into(),
            skipped: Skipped::default(),
            unit,
            skip_bad_percent: options.skip_bad_percent,
            number: 0,
            requests: 0,
            bad: 0,
            first_bad: <_>::default(),
        }
    }

    /// Lets `parse` push the requests of the next line onto `batch`, and books its verdict.
    #[inline]
    pub(crate) fn next(
        &mut self,
        line: &[u8],
        batch: &mut RequestBatch,
        parse: impl FnOnce(&mut RequestBatch) -> Verdict,
    ) -> Result<(), TraceError> {
        self.number += 1;
        let requests = batch.len();
        let verdict = match parse(batch) {
            Verdict::Parsed if batch.is_overlong_from(requests) => {
                batch.truncate(requests);
                Verdict::Bad(TOO_LONG)
            }
            verdict => verdict,
        };
        match verdict {
            Verdict::Parsed => {
                self.requests += 1;
                Ok(())
            }
            Verdict::Skip(reason) => {
                self.skip(reason, line);
                Ok(())
            }
            other => self.refuse(other, line),
        }
    }

    fn skip(&mut self, reason: &'static str, line: &[u8]) {
        match self.unit {
            Unit::Line => self.skipped.add(reason, self.number, line),
            // The text of a record is made for the first of each reason only.
            Unit::Record if self.skipped.count(reason) > 0 => {
                self.skipped.add(reason, self.number, &[]);
            }
            Unit::Record => self.skipped.add(reason, self.number, hexadecimal(line).as_bytes()),
        }
    }

    #[cold]
    fn refuse(&mut self, verdict: Verdict, line: &[u8]) -> Result<(), TraceError> {
        let (name, unit, number) = (self.name.clone(), self.unit.name(), self.number);
        match verdict {
            Verdict::Bad(expected) if self.skip_bad_percent > 0.0 => {
                self.skip(BAD_LINE, line);
                if self.bad == 0 {
                    self.first_bad = (number, self.unit.excerpt(line), expected);
                }
                self.bad += 1;
                self.judge(false)
            }
            Verdict::Bad(expected) => Err(TraceError::Malformed {
                name,
                unit,
                line: number,
                text: self.unit.excerpt(line),
                expected: expected.into(),
            }),
            Verdict::Refuse(refusal) => {
                let Refusal { reason, remedy } = *refusal;
                Err(TraceError::Refused { name, unit, line: number, reason, remedy })
            }
            Verdict::Parsed | Verdict::Skip(_) => Ok(()),
        }
    }

    /// An error once more lines are bad than tolerated; `at_end` judges short files too.
    fn judge(&self, at_end: bool) -> Result<(), TraceError> {
        let tolerated = self.skip_bad_percent / 100.0 * self.number as f64;
        if self.bad as f64 <= tolerated || !(at_end || self.number >= JUDGED_LINES_MIN) {
            return Ok(());
        }
        let (line, text, expected) = self.first_bad.clone();
        Err(TraceError::TooManyBad {
            name: self.name.clone(),
            unit: self.unit.name(),
            bad: self.bad,
            lines: self.number,
            percent: self.skip_bad_percent,
            line,
            text,
            expected: expected.into(),
        })
    }

    /// Whether `batch` holds requests; if it does not, the trace has ended, and if it never did, `remedy` may say what
    /// would. Times go if nobody needs them.
    pub(crate) fn complete(
        &self,
        batch: &mut RequestBatch,
        need_time: bool,
        remedy: impl FnOnce() -> Option<String>,
    ) -> Result<bool, TraceError> {
        if batch.is_empty() {
            self.finish(remedy)?;
        }
        if !need_time {
            batch.time_us.clear();
        }
        Ok(!batch.is_empty())
    }

    /// The verdict on the whole trace, at its end.
    fn finish(&self, remedy: impl FnOnce() -> Option<String>) -> Result<(), TraceError> {
        self.judge(true)?;
        if self.requests > 0 {
            return Ok(());
        }
        Err(TraceError::NoRequests {
            name: self.name.clone(),
            unit: self.unit.name(),
            lines: self.number,
            skipped: self.skipped.to_string(),
            remedy: remedy(),
        })
    }
}

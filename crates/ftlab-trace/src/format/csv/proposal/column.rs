//! One column of an unknown table: what its name and its values say of it.

use super::super::map::{TimeUnit, usual_word};
use super::words::{self, Counts, Role};
use crate::Op;
use crate::format::fields::whole;
use crate::format::rwbs;
use std::collections::BTreeMap;

/// Codes of operations that a message shows.
const CODES_SHOWN: usize = 8;

/// A column with a name.
pub(super) struct Column<'a> {
    pub(super) name: String,
    pub(super) index: usize,
    /// Whether no other has its name.
    pub(super) is_unique: bool,
    /// What is in it, row by row.
    pub(super) words: Vec<&'a str>,
}

/// What a column says.
pub(super) struct Said {
    pub(super) index: usize,
    /// Entries of a map.
    pub(super) entries: Vec<String>,
    /// What they take for granted.
    pub(super) note: Option<String>,
}

/// Whether `text` is a number, or a hexadecimal one.
pub(super) fn is_number(text: &str) -> bool {
    let is_plain = text.parse::<f64>().is_ok() && text.bytes().any(|byte| byte.is_ascii_digit());
    is_plain || whole(text.as_bytes()).is_some()
}

impl Column<'_> {
    pub(super) fn role(&self) -> Option<Role> {
        words::role(&words::words(&self.name))
    }

    /// How a map names it: by name, or by number where the language of maps or a shell would not take the name.
    pub(super) fn reference(&self) -> String {
        let is_plain = |sign: char| !sign.is_control() && !",;=+\"'`$\\!".contains(sign);
        let is_name = !self.name.is_empty()
            && self.name.parse::<usize>().is_err()
            && self.name.chars().all(is_plain);
        if is_name && self.is_unique { self.name.clone() } else { (self.index + 1).to_string() }
    }

    fn says(&self, entry: String) -> Said {
        Said { index: self.index, entries: vec![entry], note: None }
    }

    /// Its values, if all are whole numbers.
    fn numbers(&self) -> Result<Vec<u64>, String> {
        let number = |word: &&str| {
            whole(word.as_bytes()).ok_or_else(|| {
                format!("what {word:?} in {} is, which is no whole number", self.name)
            })
        };
        self.words.iter().map(number).collect()
    }

    /// Whether all its values can be numbers of volumes.
    pub(super) fn are_volume_numbers(&self) -> bool {
        self.numbers().is_ok_and(|all| all.iter().all(|number| u32::try_from(*number).is_ok()))
    }

    /// The time, by its name or else by its values.
    pub(super) fn time(&self) -> Result<Said, String> {
        let name = self.reference();
        let times: Option<Vec<f64>> = self.words.iter().map(|word| word.parse().ok()).collect();
        let times = times.filter(|times| times.iter().all(|time| *time >= 0.0 && time.is_finite()));
        let Some(times) = times else {
            return Err(format!("the time in {}, which is no number from 0", self.name));
        };
        if let Some(unit) = words::time_unit(&words::words(&self.name)) {
            return Ok(self.says(format!("ts:{unit}={name}")));
        }
        let (unit, because) = if let Some(since) = since_epoch(&times) {
            since
        } else if self.words.iter().any(|word| word.contains('.')) {
            (TimeUnit::Seconds, "because of its fractions")
        } else {
            return Err(format!("the unit of {}: ts:s={name}, or ms, us, ns, 100ns", self.name));
        };
        let note = format!("whether {} counts {unit}, as is assumed {because}", self.name);
        Ok(Said { note: Some(note), ..self.says(format!("ts:{unit}={name}")) })
    }

    /// The entry for an offset or a length, and whether its unit is in its name.
    fn extent(&self, field: &str) -> Result<(Said, bool), String> {
        let numbers = self.numbers()?;
        let reference = self.reference();
        let says = |unit: &str| self.says(format!("{field}:{unit}={reference}"));
        let is_sectors = |bytes: u64| {
            numbers.iter().all(|number| number.wrapping_mul(bytes).is_multiple_of(512))
        };
        let name = &self.name;
        match words::counts(&words::words(name)) {
            Some(Counts::Bytes) => Ok((says("bytes"), true)),
            Some(Counts::KiB) => Ok((says("KiB"), true)),
            Some(Counts::Sectors) => Ok((says("sectors"), true)),
            Some(Counts::Pages) => {
                let note = Some(format!("whether {name} counts pages of --page-size"));
                Ok((Said { note, ..says("pages") }, true))
            }
            Some(Counts::Kilobytes) if !is_sectors(1000) => Ok((says("KiB"), true)),
            Some(Counts::Kilobytes) => Err(format!(
                "whether {name} counts 1,000 bytes, for which maps have no unit, or 1,024: {field}:KiB={reference}"
            )),
            Some(Counts::Megabytes) => {
                Err(format!("how {name} counts in bytes: maps have no unit of megabytes"))
            }
            Some(Counts::Blocks) => Err(format!(
                "the size of the blocks that {name} counts: {field}:sectors={reference} if it is 512 bytes"
            )),
            Some(Counts::BlocksFromZero) => {
                Err(format!("{name} as NVMe counts it, where 0 is one block: add 1 to it first"))
            }
            None if is_sectors(1) && numbers.iter().any(|number| *number > 0) => {
                let note = format!(
                    "whether {name} counts bytes, as is assumed because all of it are multiples of 512"
                );
                Ok((Said { note: Some(note), ..says("bytes") }, false))
            }
            None => Err(format!(
                "the unit of {name}: {field}:bytes={reference}, or sectors, pages, KiB"
            )),
        }
    }

    /// Whether all its words are operations, and one of them reads or writes.
    fn is_operations(&self) -> bool {
        let mut moves_data = false;
        self.words.iter().all(|word| {
            let op = usual_word(word.as_bytes());
            let op = op.or_else(|| {
                rwbs::of_word(word.as_bytes())
                    .and_then(|(flush, op)| op.or(flush.then_some(Op::Flush)))
            });
            moves_data |= matches!(op, Some(Op::Write | Op::Read));
            op.is_some()
        }) && moves_data
    }

    /// Whether not all rows have the same word.
    fn has_several(&self) -> bool {
        self.words.iter().any(|word| *word != self.words[0])
    }

    /// The words that are in it, and how often, such as `1 (3 rows)`.
    fn codes(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for word in &self.words {
            *counts.entry(word).or_default() += 1;
        }
        let shown = counts.iter().take(CODES_SHOWN).map(|(word, count)| {
            let rows = if *count == 1 { "row" } else { "rows" };
            format!("{word:?} ({count} {rows})")
        });
        let more = if counts.len() > CODES_SHOWN { ", ..." } else { "" };
        shown.collect::<Vec<_>>().join(", ") + more
    }

    /// The entries for a column that says yes to what means `yes`, and no to what means `no`.
    fn yes_or_no(&self, yes: &str, no: &str) -> Result<Said, String> {
        let mut entries = vec![format!("op={}", self.reference())];
        let mut known: Vec<&str> = Vec::new();
        for word in &self.words {
            let lower = word.to_ascii_lowercase();
            let meaning = match lower.as_str() {
                "1" | "true" | "t" | "yes" | "y" => yes,
                "0" | "false" | "f" | "no" | "n" => no,
                _ => return Err(format!("what {word:?} in {} means", self.name)),
            };
            if !known.contains(word) {
                known.push(word);
                entries.push(format!("op:{word}={meaning}"));
            }
        }
        Ok(Said { index: self.index, entries, note: None })
    }
}

/// The names of columns, for a message.
pub(super) fn names(columns: &[&Column<'_>]) -> String {
    let shown = columns.iter().take(CODES_SHOWN).map(|column| column.name.as_str());
    let more = if columns.len() > CODES_SHOWN { ", ..." } else { "" };
    shown.collect::<Vec<_>>().join(", ") + more
}

/// The column of the operations, and what is in it.
pub(super) fn operation(columns: &[Column<'_>]) -> Result<Said, String> {
    let of = |role: Role| {
        columns.iter().filter(move |column| column.role() == Some(role)).collect::<Vec<_>>()
    };
    match (&of(Role::IsWrite)[..], &of(Role::IsRead)[..]) {
        ([column], []) => return column.yes_or_no("W", "R"),
        ([], [column]) => return column.yes_or_no("R", "W"),
        _ => {}
    }
    let named = of(Role::Op);
    let by_words = |column: &&&Column<'_>| column.is_operations();
    let mut both: Vec<_> = named.iter().filter(by_words).copied().collect();
    if let Some(rwbs) = both.iter().copied().find(|column| column.name.eq_ignore_ascii_case("rwbs"))
    {
        both = vec![rwbs];
    }
    if named.is_empty() {
        both = columns
            .iter()
            .filter(|column| column.role().is_none() && column.is_operations())
            .collect();
    }
    if let [column] = both[..]
        && let Some(other) =
            named.iter().find(|other| other.index != column.index && other.has_several())
    {
        return Err(format!(
            "which rows are requests, since {} has {}: keep those of one of them, such as with grep",
            other.name,
            other.codes()
        ));
    }
    match (&both[..], &named[..]) {
        ([column], _) => Ok(column.says(format!("op={}", column.reference()))),
        ([], []) => {
            Err("what reads and what writes: op=COLUMN, or op:*=W if every row writes".into())
        }
        ([], [column]) => Err(format!(
            "what {} in {} mean: op={} and op:CODE=W, R, T, F or skip for each",
            column.codes(),
            column.name,
            column.reference()
        )),
        ([], several) | (several, _) => {
            Err(format!("which of {} is the operation: op=COLUMN", names(several)))
        }
    }
}

/// The entry for an offset or a length, which `columns` may be; `none` is what is missing without any.
pub(super) fn extent(field: &str, none: &str, columns: &[&Column<'_>]) -> Result<Said, String> {
    let found: Vec<_> = columns.iter().map(|column| column.extent(field)).collect();
    let by_name = found.iter().filter(|found| matches!(found, Ok((_, true)))).count();
    let known = found.iter().filter(|found| found.is_ok()).count();
    let is_best = |found: &Result<(Said, bool), String>| match found {
        Ok((_, named)) => *named || by_name == 0,
        Err(_) => known == 0,
    };
    let mut best: Vec<_> = found.into_iter().filter(is_best).collect();
    match (best.len(), best.pop()) {
        (0, _) | (_, None) => Err(none.into()),
        (1, Some(found)) => found.map(|(said, _)| said),
        _ => Err(format!("which of {} it is: {field}:UNIT=COLUMN", names(columns))),
    }
}

/// The unit in which all of `times` are between 2000 and 2040, and since when they count then.
fn since_epoch(times: &[f64]) -> Option<(TimeUnit, &'static str)> {
    const YEARS: std::ops::Range<f64> = 946_684_800.0..2_208_988_800.0;
    /// Seconds from 1601 to 1970.
    const WINDOWS: f64 = 11_644_473_600.0;
    let units = [
        (TimeUnit::Seconds, 1.0, 0.0, "because it is of this century then, since 1970"),
        (TimeUnit::Milliseconds, 1e3, 0.0, "because it is of this century then, since 1970"),
        (TimeUnit::Microseconds, 1e6, 0.0, "because it is of this century then, since 1970"),
        (TimeUnit::Nanoseconds, 1e9, 0.0, "because it is of this century then, since 1970"),
        (
            TimeUnit::HundredNanoseconds,
            1e7,
            WINDOWS,
            "because it is of this century then, since 1601",
        ),
    ];
    let fits = |(_, scale, epoch, _): &(TimeUnit, f64, f64, &str)| {
        times.iter().all(|time| YEARS.contains(&(time / scale - epoch)))
    };
    units.into_iter().find(fits).map(|(unit, .., because)| (unit, because))
}

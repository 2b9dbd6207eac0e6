//! Reading host and media bytes, from a table or from what the tools of drives print.
//!
//! A log is read line by line and JSON value by JSON value ([`tools`], [`ata`], [`json`]); a table by its columns
//! ([`sheet`]). What each counter means says the [`catalogue`]; which of them are read, [`samples`] decides: those that
//! are told together most often, of one log if there is a choice.

mod asked;
mod ata;
mod catalogue;
mod column;
mod drives;
mod json;
mod missing;
mod number;
mod reading;
mod samples;
mod sheet;
#[cfg(test)]
mod tests;
mod text;
mod tools;
mod units;
mod value;
mod words;

pub use asked::{CounterName, Counters};
pub use reading::{ReadAs, Reading};

use super::pace::of_pace;
use super::series::Measured;
use crate::error::ExperimentsError;
use ata::Attribute;
use catalogue::Section;
use samples::{Rows, Samples};
use std::fs;
use std::path::Path;

impl Measured {
    /// The series in a file, and what it was read from: a table, or a log of what tools printed.
    pub fn read(path: &Path, counters: &Counters) -> Result<(Self, Reading), ExperimentsError> {
        let bytes = fs::read(path)
            .map_err(|source| ExperimentsError::Read { path: path.into(), source })?;
        Self::of_text(&text::decoded(&bytes), counters)
            .map_err(|reason| ExperimentsError::Series { path: path.into(), reason })
    }

    /// The series in a text whose counters are known; an error says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::of_text(text, &Counters::default()).map(|(measured, _)| measured)
    }

    fn of_text(text: &str, counters: &Counters) -> Result<(Self, Reading), String> {
        let (rows, reading) = rows(text, &counters.by_pace())?;
        let of = if counters.sequential.is_some() { of_pace } else { Self::new };
        let measured = of(rows).map_err(|reason| format!("{reason} (read were {reading})"))?;
        Ok((measured, reading))
    }
}

/// Host and media bytes of the samples of a text.
fn rows(text: &str, counters: &Counters) -> Result<Rows, String> {
    if text.trim().is_empty() {
        return Err("it is empty; the first line of a table is host_bytes,media_bytes".into());
    }
    match sheet::rows(text, counters)? {
        Some(rows) => Ok(rows),
        None => log(text, counters)?.rows(counters),
    }
}

/// All that a log tells.
fn log(text: &str, counters: &Counters) -> Result<Samples, String> {
    let mut log = Log {
        counters,
        samples: Samples::default(),
        section: if has_bare_endurance(text) { Section::Doubtful } else { Section::Other },
        sector: ata::SECTOR,
    };
    let (mut rest, mut number) = (text, 1);
    while !rest.is_empty() {
        let at = |reason| format!("line {number}: {reason}");
        let length = if let Some(found) = json::starting(rest) {
            let (value, length) = found.map_err(at)?;
            json::tell(&value, &mut log.samples, counters).map_err(at)?;
            length
        } else {
            log.line(rest.lines().next().unwrap_or_default()).map_err(at)?;
            rest.find('\n').map_or(rest.len(), |end| end + 1)
        };
        number += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    Ok(log.samples)
}

/// Whether media units of the endurance group log are told before any heading, so that the data units before them may be
/// of two logs.
fn has_bare_endurance(text: &str) -> bool {
    for line in text.lines() {
        if Section::begun_by(line).is_some() {
            return false;
        }
        if tells_endurance(line) {
            return true;
        }
    }
    false
}

/// Whether media units of that log are anywhere on a line, other than in JSON.
fn tells_endurance(line: &str) -> bool {
    let is_json = line.contains('{') || line.trim_start().starts_with('"');
    if is_json || !line.to_ascii_lowercase().contains("units") {
        return false;
    }
    let words = words::words(line);
    let is_physical = |at: usize| at > 0 && words[at - 1].text == "physical";
    (0..words.len()).any(|at| {
        words::found(line, &words, at, "media units written").is_some() && !is_physical(at)
    })
}

/// A log that is being read.
struct Log<'a> {
    counters: &'a Counters,
    samples: Samples,
    section: Section,
    /// Bytes of a logical block.
    sector: f64,
}

impl Log<'_> {
    fn line(&mut self, line: &str) -> Result<(), String> {
        self.samples.of_drives(drives::named(line));
        if line.trim_start().starts_with('#') {
            return Ok(());
        }
        if let Some(section) = Section::begun_by(line) {
            self.section = section;
        }
        if let Some(bytes) = ata::sector(line) {
            self.sector = bytes;
        }
        if let Some(value) = ata::sectors_written(line) {
            let meaning = ata::meaning_of_statistic(self.sector);
            self.samples.tell("Logical Sectors Written", None, &[meaning], value, self.counters);
        } else if let Some(attribute) = Attribute::of(line) {
            self.attribute(&attribute)?;
        } else {
            self.told(line)?;
        }
        Ok(())
    }

    fn attribute(&mut self, attribute: &Attribute<'_>) -> Result<(), String> {
        if attribute.is_counter(self.counters) {
            let Some(value) = attribute.value() else {
                return Err(format!("{} has no whole number: {}", attribute.name, attribute.raw));
            };
            let Attribute { id, name, .. } = *attribute;
            self.samples.tell(name, Some(id), &ata::meanings(name), value, self.counters);
        } else if attribute.is_unnamed() {
            self.samples.unnamed.insert(attribute.id);
        }
        Ok(())
    }

    fn told(&mut self, line: &str) -> Result<(), String> {
        let told = tools::told(line, self.section, self.counters)?;
        if let Some(name) = tools::name_of_number(line).filter(|_| told.is_empty()) {
            self.samples.sounds_alike(name);
        }
        for told in told {
            let meanings = told.meaning.as_slice();
            self.samples.tell(&told.name, None, meanings, told.value, self.counters);
            let is_last = told.name.eq_ignore_ascii_case("media_units_written");
            if is_last && self.section == Section::Endurance {
                self.section = Section::Other;
            }
        }
        Ok(())
    }
}

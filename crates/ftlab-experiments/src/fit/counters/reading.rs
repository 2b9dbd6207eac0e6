//! What was read as what.

use super::catalogue::{GIB, MIB};
use serde::Serialize;
use std::fmt;

/// The counters that a series was read from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reading {
    /// Those of the host, whose sum counts.
    pub host: Vec<ReadAs>,
    /// Those of the medium, whose sum counts.
    pub media: Vec<ReadAs>,
    /// The drive, if the log names it.
    pub drive: Option<String>,
    /// Other counters of written bytes that it has.
    pub not_read: Vec<String>,
}

/// A counter, and what it was read as.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReadAs {
    /// Its name, as written.
    pub counter: String,
    /// The number of a SATA attribute.
    pub attribute: Option<u8>,
    /// The log or the table that it is of.
    pub log: String,
    /// Bytes of one.
    pub unit_bytes: f64,
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "host: {}; media: {}", Sum(&self.host), Sum(&self.media))
    }
}

/// Counters of one side.
struct Sum<'a>(&'a [ReadAs]);

impl fmt::Display for Sum<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            let plus = if index > 0 { " + " } else { "" };
            write!(f, "{plus}{}", part.counter)?;
        }
        let Some(last) = self.0.last() else { return Ok(()) };
        write!(f, " in {} ({})", unit(last.unit_bytes), last.log)
    }
}

/// The unit of a counter, as tools name it.
fn unit(bytes: f64) -> String {
    let is_one = |count: f64| (count - 1.0).abs() < f64::EPSILON;
    let decimal = [(1e9, "GB"), (1e6, "MB")].into_iter().find(|(unit, _)| is_one(bytes / unit));
    let is_power = |count: f64| count >= 1.0 && count.log2().fract() == 0.0;
    let binary = [(GIB, "GiB"), (MIB, "MiB"), (1024.0, "KiB")];
    let binary = binary.into_iter().find(|(unit, _)| is_power(bytes / unit));
    match decimal.or(binary) {
        Some((unit, name)) => format!("units of {} {name}", bytes / unit),
        None if is_one(bytes) => "bytes".into(),
        None => format!("units of {bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_was_read_as_what() {
        let read = |counter: &str, unit_bytes| ReadAs {
            counter: counter.into(),
            attribute: None,
            log: "a log".into(),
            unit_bytes,
        };
        let reading = Reading {
            host: vec![read("a", 512_000.0)],
            media: vec![read("b", 32.0 * MIB), read("c", 32.0 * MIB)],
            drive: None,
            not_read: Vec::new(),
        };
        let line =
            "host: a in units of 512000 bytes (a log); media: b + c in units of 32 MiB (a log)";
        assert_eq!(reading.to_string(), line);
        assert_eq!((unit(1.0).as_str(), unit(1e9).as_str()), ("bytes", "units of 1 GB"));
    }
}

//! Reading host and media bytes, from a table or from what the tools of drives print.

use super::series::Measured;
use crate::error::LabError;
use std::fs;
use std::path::Path;

/// Bytes of a data unit of NVMe's SMART log.
const DATA_UNIT: f64 = 512_000.0;

/// Bytes of a unit of Intel's and Solidigm's additional SMART log.
const VENDOR_UNIT: f64 = 32.0 * 1_048_576.0;

/// Whose bytes a counter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Host,
    Media,
}

/// A counter as a tool names it.
struct Counter {
    /// What its line says, in lower case and with single blanks instead of underscores.
    name: &'static str,
    side: Side,
    /// Bytes of one.
    unit: f64,
}

const fn counter(name: &'static str, side: Side, unit: f64) -> Counter {
    Counter { name, side, unit }
}

/// What `nvme fdp stats`, `nvme ocp smart-add-log`, `nvme intel smart-log-add`, `nvme smart-log` and `smartctl` print.
const COUNTERS: &[Counter] = &[
    counter("host bytes with metadata written (hbmw)", Side::Host, 1.0),
    counter("media bytes with metadata written (mbmw)", Side::Media, 1.0),
    counter("physical media units written", Side::Media, 1.0),
    counter("data units written", Side::Host, DATA_UNIT),
    counter("host bytes written", Side::Host, VENDOR_UNIT),
    counter("nand bytes written", Side::Media, VENDOR_UNIT),
];

/// Names of the columns of a table.
const COLUMNS: [(&str, Side); 6] = [
    ("host_bytes", Side::Host),
    ("hbmw", Side::Host),
    ("host", Side::Host),
    ("media_bytes", Side::Media),
    ("mbmw", Side::Media),
    ("media", Side::Media),
];

impl Measured {
    /// The series in a file: a table with columns `host_bytes` and `media_bytes`, or a log of what tools printed.
    pub fn read(path: &Path) -> Result<Self, LabError> {
        let text = fs::read_to_string(path)
            .map_err(|source| LabError::Read { path: path.into(), source })?;
        Self::parse(&text).map_err(|reason| LabError::Series { path: path.into(), reason })
    }

    /// The same from its text; an error says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let rows = match table(text)? {
            Some(rows) => rows,
            None => log(text)?,
        };
        Self::new(rows)
    }
}

/// The rows of a table; none if the text is no table.
fn table(text: &str) -> Result<Option<Vec<(f64, f64)>>, String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let Some((_, heading)) = lines.next() else {
        return Err("it is empty; the first line of a table is host_bytes,media_bytes".into());
    };
    let names: Vec<_> = heading.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
    let column = |side| {
        names.iter().position(|name| COLUMNS.iter().any(|(own, of)| name == own && *of == side))
    };
    let (Some(host), Some(media)) = (column(Side::Host), column(Side::Media)) else {
        return Ok(None);
    };
    let rows = lines.map(|(index, line)| {
        let cells: Vec<_> = line.split(',').map(str::trim).collect();
        let cell = |column: usize| cells.get(column)?.parse().ok().filter(|n: &f64| n.is_finite());
        cell(host).zip(cell(media)).ok_or_else(|| {
            format!("line {}: {line:?} has no numbers of host and media bytes", index + 1)
        })
    });
    rows.collect::<Result<_, _>>().map(Some)
}

/// The rows of a log: each time that both counters have been told, whatever is between them. A counter that is told
/// again before the other replaces its number.
fn log(text: &str) -> Result<Vec<(f64, f64)>, String> {
    let (mut host, mut media) = (None, None);
    let mut rows = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some((side, bytes)) = told(line) else { continue };
        let bytes = bytes.ok_or_else(|| {
            format!("line {}: {line:?} names a counter and has no number", index + 1)
        })?;
        match side {
            Side::Host => host = Some(bytes),
            Side::Media => media = Some(bytes),
        }
        if let (Some(both_host), Some(both_media)) = (host, media) {
            rows.push((both_host, both_media));
            (host, media) = (None, None);
        }
    }
    if rows.is_empty() {
        return Err("it has neither columns host_bytes and media_bytes nor lines of nvme fdp stats, or of nvme \
                    ocp smart-add-log and nvme smart-log or smartctl; write a table, or append the output of these \
                    commands again and again while the workload runs"
            .into());
    }
    Ok(rows)
}

/// The counter that a line tells, and its bytes, if it tells one.
fn told(line: &str) -> Option<(Side, Option<f64>)> {
    let lower = line.to_ascii_lowercase().replace('_', " ");
    let words: Vec<_> = lower.split_whitespace().collect();
    let plain = words.join(" ");
    let (counter, at) =
        COUNTERS.iter().find_map(|counter| Some((counter, plain.find(counter.name)?)))?;
    let rest = &plain[at + counter.name.len()..];
    Some((counter.side, value(rest).map(|number| number * counter.unit)))
}

/// The number of a counter after its name: the last one that stands for itself, so that a normalised value, a
/// percentage or the high half of a wide number before it does not count, nor what is in brackets after it.
fn value(text: &str) -> Option<f64> {
    let bare = text.split(['(', '[']).next().unwrap_or(text);
    let words = bare.split(|c: char| c.is_whitespace() || c == ':' || c == '=');
    let digits = |word: &str| word.replace([',', '.', '\'', '\u{2019}', '\u{a0}'], "");
    let numbers: Vec<_> = words.filter_map(|word| digits(word).parse::<u128>().ok()).collect();
    numbers.last().map(|number| *number as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<(f64, f64)> {
        match table(text).unwrap() {
            Some(rows) => rows,
            None => log(text).unwrap(),
        }
    }

    #[test]
    fn tables_are_read_by_the_names_of_their_columns() {
        assert_eq!(rows("host_bytes,media_bytes\n0,0\n10,12\n"), [(0.0, 0.0), (10.0, 12.0)]);
        assert_eq!(rows("time,MBMW,HBMW\n1,5,4\n\n2,9,8\n"), [(4.0, 5.0), (8.0, 9.0)]);
        let error = Measured::parse("host_bytes,media_bytes\n0,0\n1,x\n").unwrap_err();
        assert!(error.contains("line 3"), "{error}");
    }

    #[test]
    fn logs_are_read_as_tools_print_them() {
        let fdp = "Mon Nov 23 20:00:00 UTC\nHost Bytes with Metadata Written (HBMW): 4,096\n\
                   Media Bytes with Metadata Written (MBMW): 8192\nMedia Bytes Erased (MBE): 0\n\
                   2026-11-23T21:00:00 Host Bytes with Metadata Written (HBMW): 5000\n\
                   2026-11-23T21:00:00 Media Bytes with Metadata Written (MBMW): 9000\n";
        assert_eq!(rows(fdp), [(4096.0, 8192.0), (5000.0, 9000.0)]);
        let ocp = "Data Units Written:                 1,000 [512 MB]\n\
                   Physical media units written -   \t        0 700000000\n";
        assert_eq!(rows(ocp), [(512e6, 7e8)]);
        let nvme = "data_units_written\t: 2000 (1.02 GB)\n\
                    Physical Media Units Written                 : 2,068,700\n";
        assert_eq!(rows(nvme), [(1024e6, 2_068_700.0)]);
        let intel = "nand_bytes_written              : 100%       sectors: 20\n\
                     host_bytes_written              : 100%       sectors: 10\n";
        assert_eq!(rows(intel), [(10.0 * VENDOR_UNIT, 20.0 * VENDOR_UNIT)]);
    }

    #[test]
    fn what_is_neither_says_what_to_write() {
        for text in ["", "a,b\n1,2\n", "Host Bytes with Metadata Written (HBMW):\n"] {
            let error = Measured::parse(text).unwrap_err();
            assert!(
                error.contains("host_bytes,media_bytes")
                    || error.contains("nvme fdp stats")
                    || error.contains("no number"),
                "{error}"
            );
        }
    }
}

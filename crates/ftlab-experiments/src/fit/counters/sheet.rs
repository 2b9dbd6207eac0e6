//! Tables: a line of names, and a line of numbers for each sample.

use super::asked::Counters;
use super::ata;
use super::catalogue::{Meaning, Section, Side, Unit, entry, half};
use super::column::{Column, Row};
use super::drives::{DriveName, Kind};
use super::number::only;
use super::samples::{Rows, Samples};
use super::units::{as_named, is_rate};
use super::words::{plain, without_brackets};
use std::borrow::Cow;

/// What may stand between cells; a blank is any number of them.
const DELIMITERS: [char; 5] = [',', ';', '\t', '|', ' '];

/// Columns that name a drive.
const DEVICES: [&str; 12] = [
    "device",
    "drive",
    "dev",
    "disk",
    "device name",
    "device path",
    "device node",
    "dev name",
    "disk name",
    "path",
    "node",
    "hostname",
];
const SERIALS: [&str; 4] = ["serial", "serial number", "serial no", "sn"];
const GROUPS: [&str; 3] = ["endgid", "endurance group", "endurance group id"];

/// The rows of a table, and the columns that they were read from; none if the text is no table.
pub(super) fn rows(text: &str, counters: &Counters) -> Result<Option<Rows>, String> {
    let says_nothing = |line: &str| is_rule(line) || names_delimiter(line);
    let lines = text.lines().enumerate().filter(|(_, line)| !says_nothing(line));
    let (comments, lines): (Vec<_>, Vec<_>) = lines.partition(|(_, line)| is_comment(line));
    // numpy writes its heading as a comment.
    let commented =
        comments.iter().rfind(|(at, _)| lines.first().is_some_and(|(first, _)| at < first));
    let heading = commented.map(|(_, line)| line.trim_start().trim_start_matches(['#', '/', ' ']));
    let (first, rest) = match lines.split_first() {
        Some(((_, first), rest)) => (*first, rest),
        None => return Ok(None),
    };
    let below = rest.first().map(|(_, line)| *line);
    let found = delimiter(first, below, counters, &[' ']);
    let (heading, delimiter, rows) = match (found, heading) {
        (Some(delimiter), _) => (first, delimiter, rest),
        (None, Some(heading)) => match delimiter(heading, Some(first), counters, &DELIMITERS) {
            Some(delimiter) => (heading, delimiter, lines.as_slice()),
            None => return Ok(None),
        },
        (None, None) => return Ok(None),
    };
    let rows: Vec<_> = rows.iter().map(|(at, line)| (*at, cells(line, delimiter))).collect();
    let names = cells(heading, delimiter);
    fit(&names, &rows)?;
    told(&names, &rows, delimiter, counters).map(Some)
}

/// The line with which spreadsheets name the delimiter, `sep=;`.
fn names_delimiter(line: &str) -> bool {
    let line = line.trim().trim_matches('"');
    line.len() <= 5 && line.to_ascii_lowercase().starts_with("sep=")
}

/// Refuses rows with more cells than the heading has names.
fn fit(names: &[Cow<'_, str>], rows: &[Row<'_>]) -> Result<(), String> {
    for (at, cells) in rows {
        let more = cells.get(names.len()..).unwrap_or_default();
        let is_note = more.first().is_some_and(|cell| cell.starts_with('#'));
        if !is_note && more.iter().any(|cell| !cell.is_empty()) {
            return Err(format!(
                "line {} has {} cells and the heading has {}; put numbers with marks between their thousands in \
                 quotation marks, or write them without marks",
                at + 1,
                cells.len(),
                names.len()
            ));
        }
    }
    Ok(())
}

/// A line that says nothing, such as that below the heading of a Markdown table.
fn is_rule(line: &str) -> bool {
    line.chars().all(|c| c.is_whitespace() || "|-+:=".contains(c))
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('#') || line.starts_with("//")
}

/// The delimiter of a heading, if it is one: it has no number, and columns of both sides, or of one and numbers below it.
/// With the delimiters `doubtful`, numbers have to be below in any case.
fn delimiter(
    heading: &str,
    below: Option<&str>,
    counters: &Counters,
    doubtful: &[char],
) -> Option<char> {
    DELIMITERS.into_iter().find(|delimiter| {
        let names = cells(heading, *delimiter);
        let sides = |side| {
            let is = |name: &Cow<'_, str>| {
                let known = meanings(total(name).as_ref(), Section::Other);
                let is_known = known.iter().any(|meaning| meaning.side == side);
                is_known || counters.named(side, name, None).is_some()
            };
            names.iter().position(is)
        };
        let below = below.map(|line| cells(line, *delimiter)).unwrap_or_default();
        let is_counted = |place: usize| below.get(place).is_some_and(|cell| only(cell).is_some());
        let is_like = |place| names.len() > 1 && below.len() == names.len() && is_counted(place);
        let is_heading = names.iter().all(|name| is_name(name));
        is_heading
            && match (sides(Side::Host), sides(Side::Media)) {
                (Some(host), Some(media)) => {
                    host != media && (!doubtful.contains(delimiter) || is_like(host))
                }
                (Some(one), None) | (None, Some(one)) => is_like(one),
                (None, None) => false,
            }
    })
}

/// Whether a cell is a name, and neither a number, nor a name with its number, nor a part of JSON.
fn is_name(cell: &str) -> bool {
    let told =
        cell.split_once(':').is_some_and(|(_, rest)| rest.contains(|c: char| c.is_ascii_digit()));
    only(cell).is_none() && !told && !cell.contains(['{', '}', '='])
}

/// The cells of a line, without quotation marks.
fn cells(line: &str, delimiter: char) -> Vec<Cow<'_, str>> {
    if delimiter == ' ' {
        return line.split_whitespace().map(unquoted).collect();
    }
    let (mut cells, mut start, mut is_quoted) = (Vec::new(), 0, false);
    for (at, c) in line.char_indices() {
        is_quoted ^= c == '"';
        if c == delimiter && !is_quoted {
            cells.push(unquoted(&line[start..at]));
            start = at + c.len_utf8();
        }
    }
    cells.push(unquoted(&line[start..]));
    cells
}

fn unquoted(cell: &str) -> Cow<'_, str> {
    let cell = cell.trim();
    let inner =
        cell.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(cell).trim();
    if inner.contains("\"\"") { inner.replace("\"\"", "\"").into() } else { inner.into() }
}

/// The name of what a column counts that may be a rate.
fn total(name: &str) -> Cow<'_, str> {
    if is_rate(name) { name.to_lowercase().replace("rate", "").into() } else { name.into() }
}

/// The log that data units are of: that of the endurance group, if they are beside its media units and no other log is.
fn section(names: &[Cow<'_, str>]) -> Section {
    let plain: Vec<String> = names.iter().map(|name| plain(without_brackets(name))).collect();
    if !plain.iter().any(|name| name == "media units written") {
        return Section::Other;
    }
    let own = ["media units written", "data units written"];
    let is_other = |(name, plain): (&Cow<'_, str>, &String)| {
        !own.contains(&plain.as_str()) && entry(name).is_some()
    };
    let mut columns = names.iter().zip(&plain);
    if columns.any(is_other) { Section::Doubtful } else { Section::Endurance }
}

/// What a column counts.
fn meanings(name: &str, section: Section) -> Vec<Meaning> {
    let of = |side| {
        let (unit, tool) = (Unit::Bytes(1.0), Cow::Borrowed("table"));
        vec![Meaning { side, unit, tool, sum: None }]
    };
    match (plain(name).as_str(), entry(name)) {
        ("host", _) => of(Side::Host),
        ("media", _) => of(Side::Media),
        (_, Some(entry)) => vec![as_named(name, entry.alone(section))],
        _ => half(name).map_or_else(
            || {
                let meanings = ata::meanings(name).into_iter();
                meanings.map(|meaning| Meaning { tool: "table".into(), ..meaning }).collect()
            },
            |half| vec![half],
        ),
    }
}

/// Tells all columns, and reads those that fit.
fn told(
    names: &[Cow<'_, str>],
    rows: &[Row<'_>],
    delimiter: char,
    counters: &Counters,
) -> Result<Rows, String> {
    if rows.is_empty() {
        return Err("it has a heading and no numbers below it".into());
    }
    let columns = columns(names, rows, counters);
    let drives = drives(names, rows);
    let mut samples = Samples::default();
    for (row, (_, cells)) in rows.iter().enumerate() {
        let named = drives.iter().filter_map(|(place, kind)| Some((cells.get(*place)?, *kind)));
        let named = named.filter(|(cell, _)| !cell.is_empty());
        samples.of_drives(named.map(|(cell, kind)| DriveName::of_table(kind, cell)));
        for column in &columns {
            if let Some(value) = column.value(row) {
                samples.tell(column.name, None, &column.meanings, value, counters);
            }
        }
    }
    match samples.rows(counters) {
        Ok((read, reading)) => {
            let used = reading.host.iter().chain(&reading.media);
            let mut used =
                used.filter_map(|used| columns.iter().find(|own| own.name == used.counter));
            used.try_for_each(|column| column.check(names, rows, delimiter, counters))?;
            Ok((read, reading))
        }
        Err(reason) => {
            let is_of = |side| columns.iter().any(|column| column.is_of(side));
            if is_of(Side::Host) && is_of(Side::Media) {
                columns.iter().try_for_each(|column| column.complete(names, rows))?;
            }
            let is_of_side = |name: &&Cow<'_, str>| {
                is_rate(name) && !meanings(&total(name), Section::Other).is_empty()
            };
            let rates: Vec<_> = names.iter().filter(is_of_side).map(Cow::as_ref).collect();
            if !rates.is_empty() {
                return Err(format!(
                    "{} is a rate, and a fit needs totals; log the counters that rise, in bytes",
                    rates.join(", ")
                ));
            }
            Err(reason)
        }
    }
}

/// The columns that name a drive, by their own names or by devices in all their cells.
fn drives(names: &[Cow<'_, str>], rows: &[Row<'_>]) -> Vec<(usize, Kind)> {
    let kind = |place: usize| {
        let name = plain(&names[place]);
        let has = |own: &[&str]| own.contains(&name.as_str());
        let cells = rows.iter().filter_map(|(_, cells)| cells.get(place));
        let mut told = cells.filter(|cell| !cell.is_empty()).peekable();
        let mut is_device =
            || told.peek().is_some() && told.all(|cell| DriveName::key(cell).is_some());
        match () {
            () if has(&SERIALS) => Some(Kind::Serial),
            () if has(&GROUPS) => Some(Kind::Group),
            () if has(&DEVICES) || is_device() => Some(Kind::Device),
            () => None,
        }
    };
    (0..names.len()).filter_map(|place| Some((place, kind(place)?))).collect()
}

/// The columns that count something.
fn columns<'a>(
    names: &'a [Cow<'_, str>],
    rows: &[Row<'_>],
    counters: &Counters,
) -> Vec<Column<'a>> {
    let section = section(names);
    let of = |name: &str| if is_rate(name) { Vec::new() } else { meanings(name, section) };
    let named = names.iter().enumerate().map(|(place, name)| (place, name, of(name)));
    let is_asked = |name: &str| {
        [Side::Host, Side::Media].into_iter().any(|side| counters.named(side, name, None).is_some())
    };
    let counted = named.filter(|(_, name, meanings)| !meanings.is_empty() || is_asked(name));
    let column = |(place, name, meanings): (usize, &'a Cow<'_, str>, Vec<Meaning>)| {
        let cells = rows.iter().map(|(_, cells)| only(cells.get(place)?)).collect();
        Column { place, name: name.as_ref(), meanings, cells }
    };
    counted.map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(f64, f64)> {
        rows(text, &Counters::default()).unwrap().unwrap().0
    }

    #[test]
    fn tables_are_read_however_they_are_written() {
        for text in [
            "host_bytes,media_bytes\n1000,2000\n",
            "host_bytes;media_bytes\r\n1.000;2.000\r\n",
            "host_bytes\tmedia_bytes\n1,000\t2,000\n",
            "\"host_bytes\",\"media_bytes\"\n\"1,000\",\"2,000\"\n",
            "# a drive\n\nhost_bytes,media_bytes\n# begun\n1000,2000\n",
            "# host_bytes media_bytes\n1.000e+03 2.000e+03\n",
            "time,MBMW,HBMW\n5,2000,1000\n",
            "time  host  media\n5  0x3e8  2000.0\n",
            "| host_kib | media_kib |\n| 0.9765625 | 1.953125 |\n",
            "Host Bytes with Metadata Written (HBMW),Media Bytes with Metadata Written (MBMW)\n1000,2000",
            "host_bytes,media_bytes\n1000.0,2000.00\n",
            "Time;Host [KB];NAND writes (kB)\n5;1;2\n",
            "sep=;\nhost_bytes;media_bytes\n1000;2000\n",
        ] {
            assert_eq!(of(text), [(1000.0, 2000.0)], "{text}");
        }
        assert_eq!(
            of("data_units_written,nand_gib\n2,1.5\n"),
            [(1_024_000.0, 1.5 * 1_073_741_824.0)]
        );
        let halves = "data_units_written;physical_media_units_written_hi;physical_media_units_written_lo\n2;1;5\n";
        assert_eq!(of(halves), [(1_024_000.0, 18_446_744_073_709_551_616.0 + 5.0)]);
        assert_eq!(of("host,media\n1.234,2\n5.5,6\n"), [(1.234, 2.0), (5.5, 6.0)]);
    }

    #[test]
    fn what_a_table_lacks_is_named() {
        let error = |text: &str| rows(text, &Counters::default()).unwrap_err();
        assert!(
            error("host_bytes,media_bytes\n1,2\n1,x\n")
                .contains("line 3: \"x\" in column media_bytes")
        );
        assert!(error("host_bytes,media_bytes\n1\n").contains("line 2"));
        assert!(error("t,host_bytes\n1,2\n").contains("no counter of the medium"));
        let ambiguous = error("host_bytes_written,nand_bytes_written\n1,2\n");
        assert!(ambiguous.contains("--media-counter \"nand_bytes_written="), "{ambiguous}");
        let drives = error("device,host,media\n/dev/nvme0n1,1,2\nnvme1,3,4\n");
        assert!(drives.contains("nvme0 and nvme1"), "{drives}");
        for text in [
            "a,b\n1,2\n",
            "Host bytes written: 5, media bytes written: 6\n",
            "HBMW: 5; MBMW: 6\n",
            "# host_bytes, media_bytes\n{\"hbmw\": 1, \"mbmw\": 2}\n",
            "host and media\nHBMW: 5\n",
        ] {
            assert_eq!(rows(text, &Counters::default()), Ok(None), "{text}");
        }
    }
}

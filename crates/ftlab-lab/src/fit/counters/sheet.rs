//! Tables: a line of names, and a line of numbers for each sample.

use super::asked::Counters;
use super::ata;
use super::catalogue::{Meaning, Section, Side, Unit, entry, half};
use super::drives::Drive;
use super::number::{Number, only};
use super::samples::{Rows, Samples};
use super::words::plain;
use std::borrow::Cow;

/// What may stand between cells; a blank is any number of them.
const DELIMITERS: [char; 5] = [',', ';', '\t', '|', ' '];

/// Columns that name a drive.
const DRIVES: [&str; 7] =
    ["device", "drive", "dev", "disk", "serial", "serial number", "serial no"];

/// A column of counts.
struct Column<'a> {
    place: usize,
    name: &'a str,
    meanings: Vec<Meaning>,
    cells: Vec<Option<Number>>,
}

/// The rows of a table, and the columns that they were read from; none if the text is no table.
pub(super) fn rows(text: &str, counters: &Counters) -> Result<Option<Rows>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !is_rule(line));
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
    told(&names, &rows, counters).map(Some)
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
                let is_known = meanings(name).iter().any(|meaning| meaning.side == side);
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

/// What a column counts.
fn meanings(name: &str) -> Vec<Meaning> {
    let of = |side| {
        let (unit, tool) = (Unit::Bytes(1.0), Cow::Borrowed("table"));
        vec![Meaning { side, unit, tool, sum: None }]
    };
    match (plain(name).as_str(), entry(name)) {
        ("host", _) => of(Side::Host),
        ("media", _) => of(Side::Media),
        (_, Some(entry)) => vec![entry.alone(Section::Other)],
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
    rows: &[(usize, Vec<Cow<'_, str>>)],
    counters: &Counters,
) -> Result<Rows, String> {
    if rows.is_empty() {
        return Err("it has a heading and no numbers below it".into());
    }
    let columns = columns(names, rows, counters);
    let drives: Vec<usize> =
        (0..names.len()).filter(|place| DRIVES.contains(&plain(&names[*place]).as_str())).collect();
    let mut samples = Samples::default();
    for (row, (_, cells)) in rows.iter().enumerate() {
        let cells = drives.iter().filter_map(|place| cells.get(*place));
        samples.of_drives(cells.filter(|cell| !cell.is_empty()).map(|cell| Drive::of_table(cell)));
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
            used.try_for_each(|column| column.complete(names, rows))?;
            Ok((read, reading))
        }
        Err(reason) => {
            let is_of = |side| columns.iter().any(|column| column.is_of(side));
            if is_of(Side::Host) && is_of(Side::Media) {
                columns.iter().try_for_each(|column| column.complete(names, rows))?;
            }
            Err(reason)
        }
    }
}

/// The columns that count something.
fn columns<'a>(
    names: &'a [Cow<'_, str>],
    rows: &[(usize, Vec<Cow<'_, str>>)],
    counters: &Counters,
) -> Vec<Column<'a>> {
    let named = names.iter().enumerate().map(|(place, name)| (place, name, meanings(name)));
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

impl Column<'_> {
    fn is_of(&self, side: Side) -> bool {
        self.meanings.iter().any(|meaning| meaning.side == side)
    }

    /// Names the first line that has no number in this column.
    fn complete(
        &self,
        names: &[Cow<'_, str>],
        rows: &[(usize, Vec<Cow<'_, str>>)],
    ) -> Result<(), String> {
        let Some(row) = self.cells.iter().position(Option::is_none) else { return Ok(()) };
        let (at, cells) = &rows[row];
        let cell = cells.get(self.place).map_or("", |cell| cell);
        Err(format!(
            "line {}: {cell:?} in column {} is no number; the names of the columns are {}",
            at + 1,
            self.name,
            names.join(", ")
        ))
    }

    /// The number in a row. A mark that is that of a fraction anywhere in the column is one everywhere, and in a column
    /// of larger units it always is.
    fn value(&self, row: usize) -> Option<f64> {
        let marks = || self.cells.iter().flatten().filter_map(Number::mark_of_fraction);
        let is_large = self.meanings.iter().any(|meaning| {
            meaning.tool == "table" && matches!(meaning.unit, Unit::Bytes(bytes) if bytes >= 1000.0)
        });
        let is_fraction = |mark| is_large || marks().any(|other| other == mark);
        self.cells[row].map(|number| number.with_fractions(is_fraction))
    }
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

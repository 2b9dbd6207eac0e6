//! What the columns of an unknown table mean, as far as the words of its header say so.
//!
//! Nothing is read by it: a user takes it over, or says more. A map is proposed only if the header says where a request
//! begins, how long it is and what it does, and if the first rows can be read by it.

mod column;
mod trial;
mod words;

use super::cut::for_each_field;
use super::delimiter::Delimiter;
use crate::input::HEAD_BYTES;
use column::{Column, Said, names};
use words::Role;

/// Rows that are looked at.
const ROWS: usize = 1000;

/// What is known of a table, to be shown.
pub(in crate::format) fn propose(head: &[u8], page_bytes: u32) -> Option<String> {
    let table = Table::of(head)?;
    let Some(header) = &table.header else {
        return Some(
            "if it is a table, its columns have no names: say with --map what they are".into(),
        );
    };
    let columns = header.iter().enumerate().map(|(index, name)| Column {
        name: name.clone(),
        index,
        is_unique: header.iter().filter(|other| *other == name).count() == 1,
        words: table.rows.iter().map(|row| row[index].as_str()).collect(),
    });
    let proposal = Proposal::of(&columns.collect::<Vec<_>>());
    Some(proposal.text(&table.text, page_bytes))
}

/// The rows of a text that all have as many fields.
struct Table {
    /// The whole lines of it, header and comments included.
    text: String,
    header: Option<Vec<String>>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn of(head: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(head);
        // The last line may be cut, unless this is all.
        let lines = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
        let whole = if head.len() < HEAD_BYTES { &text } else { lines };
        let lines = whole.lines().filter(|line| !line.trim().is_empty()).take(ROWS + 1);
        let mut comment = None;
        let mut rows: Vec<&str> = Vec::new();
        for line in lines.clone() {
            match line.strip_prefix('#') {
                Some(text) if rows.is_empty() => {
                    comment = Some(text.trim_start_matches('#').trim());
                }
                Some(_) => {}
                None => rows.push(line),
            }
        }
        let delimiter = Delimiter::Auto.or_of(rows.first()?.as_bytes());
        let mut rows: Vec<Vec<String>> = rows.iter().map(|row| fields(row, delimiter)).collect();
        let width = rows[0].len();
        if rows.iter().any(|row| row.len() != width) {
            return None;
        }
        let is_header = |names: &[String], rows: &[Vec<String>]| {
            let has_numbers = |index: usize| rows.iter().all(|row| column::is_number(&row[index]));
            names.len() == width
                && !names.iter().any(|name| column::is_number(name))
                && !rows.is_empty()
                && (0..width).any(has_numbers)
        };
        let header = if is_header(&rows[0], &rows[1..]) {
            Some(rows.remove(0))
        } else {
            let names = comment.map(|line| fields(line, Delimiter::Auto.or_of(line.as_bytes())));
            names.filter(|names| is_header(names, &rows))
        };
        // A text of words is no table.
        let is_table =
            (0..width).any(|index| rows.iter().all(|row| column::is_number(&row[index])));
        let text = lines.collect::<Vec<_>>().join("\n") + "\n";
        is_table.then_some(Self { text, header, rows })
    }
}

fn fields(line: &str, delimiter: Delimiter) -> Vec<String> {
    let mut fields = Vec::new();
    for_each_field(line.as_bytes(), delimiter, line.len() + 1, |_, field| {
        fields.push(String::from_utf8_lossy(field).into_owned());
    });
    fields
}

/// A map as far as it goes, and what is not known.
#[derive(Default)]
struct Proposal {
    entries: Vec<String>,
    /// What is missing for a map.
    missing: Vec<String>,
    /// What was taken for something, or left out.
    notes: Vec<String>,
}

impl Proposal {
    fn of(columns: &[Column<'_>]) -> Self {
        let mut proposal = Self::default();
        let of = |role: Role| columns.iter().filter(move |column| column.role() == Some(role));
        let mut used = Vec::new();
        match &of(Role::Time).collect::<Vec<_>>()[..] {
            [] => {}
            [time] => used.extend(proposal.add_optional(time.time())),
            several => proposal.notes.push(format!("which of {} is the time", names(several))),
        }
        used.extend(proposal.add_volume(&of(Role::Volume).collect::<Vec<_>>()));
        used.extend(proposal.add_required(column::operation(columns)));
        for (role, field, what) in [
            (Role::Offset, "off", "no name says where a request begins: off:UNIT=COLUMN"),
            (Role::Length, "len", "no name says how long a request is: len:UNIT=COLUMN"),
        ] {
            used.extend(proposal.add_required(column::extent(
                field,
                what,
                &of(role).collect::<Vec<_>>(),
            )));
        }
        let is_named = |column: &Column<'_>| {
            proposal.missing.iter().chain(&proposal.notes).any(|text| text.contains(&column.name))
        };
        let is_new = |column: &&Column<'_>| !used.contains(&column.index) && !is_named(column);
        let unused: Vec<_> = columns.iter().filter(is_new).collect();
        if !unused.is_empty() {
            proposal.notes.push(format!("what else is in {}", names(&unused)));
        }
        proposal
    }

    fn add(&mut self, said: Said) -> usize {
        self.entries.extend(said.entries);
        self.notes.extend(said.note);
        said.index
    }

    /// Adds what a column says; the number of the column.
    fn add_required(&mut self, said: Result<Said, String>) -> Option<usize> {
        match said {
            Ok(said) => Some(self.add(said)),
            Err(missing) => {
                self.missing.push(missing);
                None
            }
        }
    }

    /// Adds what a map can do without.
    fn add_optional(&mut self, said: Result<Said, String>) -> Option<usize> {
        match said {
            Ok(said) => Some(self.add(said)),
            Err(note) => {
                self.notes.push(note);
                None
            }
        }
    }

    /// Adds the columns that name a volume; their numbers.
    fn add_volume(&mut self, columns: &[&Column<'_>]) -> Vec<usize> {
        let entry = match columns {
            [] => return Vec::new(),
            [volume] if volume.are_volume_numbers() => format!("volume={}", volume.reference()),
            [volume] => format!("volume:name={}", volume.reference()),
            [first, second] => format!("volume:name={}+{}", first.reference(), second.reference()),
            several => {
                self.notes.push(format!("which of {} name a volume", names(several)));
                return Vec::new();
            }
        };
        self.entries.push(entry);
        columns.iter().map(|column| column.index).collect()
    }

    /// All of it, after a trial on the lines of `text`.
    fn text(mut self, text: &str, page_bytes: u32) -> String {
        let map = self.entries.join(",");
        let tried = self.missing.is_empty().then(|| trial::read(&map, text, page_bytes));
        match tried {
            Some(Ok(read)) => {
                let mut lines =
                    vec![format!("by the words of its header, --map \"{map}\" reads it:")];
                lines.extend(read);
                if !self.notes.is_empty() {
                    lines.push(format!("not known: {}", self.notes.join("; ")));
                }
                lines.join("\n    ")
            }
            failed => {
                self.missing.extend(failed.and_then(Result::err));
                let told = match &self.entries[..] {
                    [] => "the words of its header are not enough for a map".to_owned(),
                    entries => {
                        format!("of a map, the words of its header say {}", entries.join(" "))
                    }
                };
                self.missing.extend(self.notes);
                format!("{told}\n    not known: {}", self.missing.join(";\n    "))
            }
        }
    }
}

#[cfg(test)]
mod tests;

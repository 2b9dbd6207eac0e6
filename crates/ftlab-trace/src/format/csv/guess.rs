//! What the columns of an unknown table probably mean: a proposal, which a user checks; nothing is read by it.

use super::cut::for_each_field;
use super::delimiter::Delimiter;
use super::map::usual_word;

/// Lines that are looked at.
const LINES: usize = 200;

/// The longest request that is plausible, in bytes.
const LENGTH_MAX: u64 = 64 << 20;

/// Names of columns, in lower case without separators, by what they usually are.
const TIMES: [&str; 7] = ["ts", "time", "timestamp", "when", "tus", "t", "date"];
const OPS: [&str; 9] =
    ["op", "operation", "type", "rw", "kind", "iotype", "rwbs", "opcode", "action"];
const OFFSETS: [&str; 9] =
    ["offset", "off", "lba", "lbn", "address", "addr", "sector", "where", "position"];
const LENGTHS: [&str; 9] =
    ["length", "len", "size", "sectors", "bytes", "count", "nbytes", "iosize", "howmuch"];

/// A column of the lines that were looked at.
struct Column<'a> {
    /// Its name in the header, or its number from 1.
    name: String,
    words: Vec<&'a str>,
}

impl Column<'_> {
    fn numbers(&self) -> Option<Vec<u64>> {
        self.words.iter().map(|word| word.parse().ok()).collect()
    }

    fn is_called(&self, names: &[&str]) -> bool {
        let bare: String = self.name.chars().filter(char::is_ascii_alphanumeric).collect();
        names.contains(&bare.to_ascii_lowercase().as_str())
    }

    fn is_op(&self) -> bool {
        self.words.iter().all(|word| usual_word(word.as_bytes()).is_some())
    }

    /// Numbers that never fall, such as times.
    fn rises(&self) -> bool {
        let numbers: Option<Vec<f64>> = self.words.iter().map(|word| word.parse().ok()).collect();
        numbers.is_some_and(|all| all.is_sorted() && all.first() < all.last())
    }
}

/// A map for a text whose lines are a table with offsets, and perhaps lengths, operations and times.
pub(in crate::format) fn guess(head: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(head);
    // The last line may be cut.
    let whole = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
    let mut lines: Vec<&str> = whole.lines().filter(|line| !line.starts_with('#')).collect();
    lines.truncate(LINES);
    let delimiter = Delimiter::of(lines.first()?.as_bytes());
    let cut = |line: &&str| {
        let mut words = Vec::new();
        for_each_field(line.as_bytes(), delimiter, line.len() + 1, |_, word| {
            words.push(String::from_utf8_lossy(word).into_owned());
        });
        words
    };
    let rows: Vec<Vec<String>> = lines.iter().map(cut).collect();
    let width = rows.first()?.len();
    if rows.iter().any(|row| row.len() != width) {
        return None;
    }
    let has_digits = |word: &String| word.starts_with(|first: char| first.is_ascii_digit());
    let has_header = !rows[0].iter().any(has_digits);
    let body = &rows[usize::from(has_header)..];
    if body.len() < 2 {
        return None;
    }
    let columns: Vec<Column<'_>> = (0..width)
        .map(|index| Column {
            name: if has_header { rows[0][index].clone() } else { (index + 1).to_string() },
            words: body.iter().map(|row| row[index].as_str()).collect(),
        })
        .collect();
    map_of(&columns)
}

fn map_of(columns: &[Column<'_>]) -> Option<String> {
    let op = columns
        .iter()
        .position(Column::is_op)
        .or_else(|| columns.iter().position(|column| column.is_called(&OPS)));
    let is_free = |index: usize, taken: &[Option<usize>]| !taken.contains(&Some(index));
    let time = columns
        .iter()
        .position(|column| column.is_called(&TIMES))
        .or_else(|| (0..columns.len()).find(|index| columns[*index].rises()));
    let numbers: Vec<(usize, Vec<u64>)> = (0..columns.len())
        .filter(|index| is_free(*index, &[op, time]))
        .filter_map(|index| Some((index, columns[index].numbers()?)))
        .collect();
    let most = |numbers: &[u64]| numbers.iter().copied().max().unwrap_or(0);
    let named = |names: &[&str]| {
        numbers.iter().find(|(index, _)| columns[*index].is_called(names)).map(|(index, _)| *index)
    };
    let offset = named(&OFFSETS).or_else(|| {
        let widest = numbers.iter().max_by_key(|(_, numbers)| most(numbers));
        widest.filter(|(_, numbers)| most(numbers) > 0).map(|(index, _)| *index)
    })?;
    let rest = || numbers.iter().filter(|(index, _)| *index != offset);
    let length = named(&LENGTHS).filter(|index| *index != offset).or_else(|| {
        let plausible = |all: &[u64]| most(all) <= LENGTH_MAX && !all.contains(&0);
        rest().find(|(_, numbers)| plausible(numbers)).map(|(index, _)| *index)
    });
    let of = |wanted: usize| numbers.iter().find(|(index, _)| *index == wanted);
    let in_bytes = [Some(offset), length].into_iter().flatten().all(|index| {
        of(index).is_some_and(|(_, all)| all.iter().all(|number| number.is_multiple_of(512)))
    });
    let unit = if in_bytes { "bytes" } else { "sectors" };
    let mut map = Vec::new();
    map.extend(
        time.map(|index| format!("ts:{}={}", time_unit(&columns[index]), columns[index].name)),
    );
    map.push(op.map_or_else(|| "op:*=W".to_owned(), |index| format!("op={}", columns[index].name)));
    map.push(format!("off:{unit}={}", columns[offset].name));
    map.extend(length.map(|index| format!("len:{unit}={}", columns[index].name)));
    Some(map.join(","))
}

/// Seconds if there are fractions, else what makes the first time one of this century or a small number.
fn time_unit(column: &Column<'_>) -> &'static str {
    if column.words.iter().any(|word| word.contains('.')) {
        return "s";
    }
    match column.words.first().map_or(0, |word| word.len()) {
        17.. => "ns",
        12..14 => "ms",
        10..12 => "s",
        _ => "us",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_guessed_from_names_and_numbers() {
        for (text, map) in [
            (
                "when;kind;where;how_much\n1;WRITE;4096;8192\n2;READ;8192;4096\n",
                "ts:us=when,op=kind,off:bytes=where,len:bytes=how_much",
            ),
            ("1.5,vol,W,8192,4096\n2.5,vol,W,16384,4096\n", "ts:s=1,op=3,off:bytes=4,len:bytes=5"),
            ("W 77 8\nR 12345 16\nW 99 8\n", "op=1,off:sectors=2,len:sectors=3"),
            ("4711\n12\n99\n", "op:*=W,off:sectors=1"),
            (
                "1577900000000321,D,81920,4096\n1577900000000400,W,4096,8192\n",
                "ts:us=1,op=2,off:bytes=3,len:bytes=4",
            ),
        ] {
            assert_eq!(guess(text.as_bytes()).as_deref(), Some(map), "{text}");
        }
        for text in ["", "a\n", "1,2\n3\n", "some words\nof a text\n", "{\n  \"a\": 1\n}\n"] {
            assert_eq!(guess(text.as_bytes()), None, "{text}");
        }
    }
}

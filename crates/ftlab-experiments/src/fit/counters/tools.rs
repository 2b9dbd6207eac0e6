//! Lines of tools in which a counter is named and told: those of nvme-cli and its plugins, smartctl, SPDK, xNVMe and
//! nvmecontrol. There may be several on a line.

use super::asked::Counters;
use super::catalogue::{Entry, Form, Meaning, Section, Unit, entries, half};
use super::number::leading;
use super::units::in_brackets;
use super::value::{Value, Wrong, after};
use super::words::{Word, found, words};

/// A counter on a line.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    /// As it is written there.
    pub(super) name: String,
    /// None if only the user knows it.
    pub(super) meaning: Option<Meaning>,
    pub(super) value: f64,
}

/// Words that make another counter of the name after them.
const QUALIFIERS: [&str; 13] = [
    "lifetime", "average", "avg", "slc", "tlc", "qlc", "system", "total", "timed", "max", "min",
    "delta", "dram",
];

/// The counters that a line tells.
pub(super) fn told(line: &str, section: Section, counters: &Counters) -> Result<Vec<Told>, String> {
    let words = words(line);
    let (mut told, mut index) = (Vec::new(), 0);
    while index < words.len() {
        let Some((named, length)) = named(line, &words, index, counters) else {
            index += 1;
            continue;
        };
        index += length;
        let start = index - length;
        let from = words[start].at.start;
        let half = words.get(index).and_then(|word| half(&line[from..word.at.end]));
        index += usize::from(half.is_some());
        let (name, rest) = line[from..].split_at(end_of_name(line, from, words[index - 1].at.end));
        if is_other(line, &words, start) || is_longer(rest) {
            continue;
        }
        if !counters.says_unit(name) {
            named.map_or(Ok(()), |entry| same_unit(name, rest, entry, section, counters))?;
        }
        let form =
            if half.is_some() { Form::One } else { named.map_or(Form::Halves, |entry| entry.form) };
        let of = |wrong| match wrong {
            Wrong::Number(reason) => format!("{name} {reason}"),
            Wrong::Unit(reason) => format!("{name} {reason}{}", counters.how_to_say(name, named)),
        };
        let Some((value, rest)) = after(rest, form, counters.says_unit(name)).map_err(of)? else {
            continue;
        };
        let has_id = start > 0 && words[start - 1].text.starts_with("0x");
        let meaning = half.or_else(|| named.map(|entry| meaning(entry, &value, section, has_id)));
        told.push(Told { name: name.to_owned(), meaning, value: value.number });
        let end = line.len() - rest.len();
        while words.get(index).is_some_and(|word| word.at.start < end) {
            index += 1;
        }
    }
    Ok(told)
}

/// How long a name is that begins at `from`: over the bracket as well that closes one in it.
fn end_of_name(line: &str, from: usize, end: usize) -> usize {
    let count = |bracket| line[from..end].matches(bracket).count();
    let is_open = count('(') > count(')');
    end - from + usize::from(is_open && line[end..].starts_with(')'))
}

/// Refuses a name with another unit in brackets after it than that of its tool.
fn same_unit(
    name: &str,
    rest: &str,
    entry: &'static Entry,
    section: Section,
    counters: &Counters,
) -> Result<(), String> {
    let Some((inner, _)) =
        rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')'))
    else {
        return Ok(());
    };
    let byte = Unit::Bytes(1.0);
    match in_brackets(&format!("({inner})")) {
        Some(unit) if unit != byte && unit != entry.meaning(section).unit => Err(format!(
            "{name} is in {inner}, and the tool that is known by this name does not count those{}",
            counters.how_to_say(name, Some(entry))
        )),
        _ => Ok(()),
    }
}

/// The name on a line that is a name and a number, with a colon or an equals sign between them.
pub(super) fn name_of_number(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once([':', '='])?;
    leading(rest.trim_start_matches([' ', '\t', '"']), true)?;
    Some(name.trim_matches(|c: char| c.is_whitespace() || c == '"'))
}

/// The longest name that begins with this word: one that is known, or one that the user gave.
fn named(
    line: &str,
    words: &[Word],
    index: usize,
    counters: &Counters,
) -> Option<(Option<&'static Entry>, usize)> {
    let may_be = |name: &str| name.starts_with(words[index].text.as_str());
    let known = entries().iter().filter(|entry| may_be(entry.name)).filter_map(|entry| {
        found(line, words, index, entry.name).map(|length| (Some(entry), length))
    });
    let given =
        counters.plain_names().filter_map(|name| Some((None, found(line, words, index, name)?)));
    // Of the same length, what is known is last among those that are largest.
    given.chain(known).max_by_key(|(_, length)| *length)
}

/// Whether what is before a name makes it part of another.
fn is_other(line: &str, words: &[Word], start: usize) -> bool {
    let Some(before) = start.checked_sub(1).map(|before| &words[before]) else { return false };
    let gap = &line[before.at.end..words[start].at.start];
    let is_blank = !gap.is_empty() && gap.chars().all(|c| c == ' ' || c == '(' || c == '-');
    gap.ends_with('_') || (is_blank && QUALIFIERS.contains(&before.text.as_str()))
}

/// Whether a name goes on after what was found of it.
fn is_longer(rest: &str) -> bool {
    let mut after = rest.chars();
    match after.next() {
        Some('_') => true,
        Some('.') => after.next().is_some_and(char::is_alphanumeric),
        _ => false,
    }
}

/// What a counter means beside such a number. WDC's log CA and Intel's have the same name for media bytes: WDC prints a
/// high half, which is 0, and a low half, without any mark.
fn meaning(entry: &Entry, value: &Value, section: Section, has_id: bool) -> Meaning {
    if entry.form != Form::Normalized {
        return entry.meaning(section);
    }
    if value.count < 2 {
        return entry.alone(section);
    }
    let is_wdc = !value.is_marked && !has_id && value.first == 0.0;
    if is_wdc { entry.of_wdc() } else { entry.meaning(section) }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::Unit;
    use super::*;

    fn of(line: &str) -> Vec<(String, f64, Unit)> {
        let told = told(line, Section::Other, &Counters::default()).unwrap();
        told.into_iter().map(|told| (told.name, told.value, told.meaning.unwrap().unit)).collect()
    }

    #[test]
    fn several_counters_may_be_on_a_line() {
        let line = "2026-11-23T21:00:00 Host Bytes with Metadata Written (HBMW): 1,234 \
                    Media Bytes with Metadata Written (MBMW): 2,345 Media Bytes Erased (MBE): 7";
        let told: Vec<_> = of(line).into_iter().map(|(_, value, _)| value).collect();
        assert_eq!(told, [1234.0, 2345.0]);
        for line in
            ["t=5 hbmw=12 mbmw=34", "5 host_bytes=12, media_bytes=34", "a,b=c hbmw=12i,mbmw=34i 5"]
        {
            let told: Vec<_> = of(line).into_iter().map(|(_, value, _)| value).collect();
            assert_eq!(told, [12.0, 34.0], "{line}");
        }
    }

    #[test]
    fn the_same_name_means_what_its_form_shows() {
        let mib = |count: f64| Unit::Bytes(count * 1_048_576.0);
        for (line, value, unit) in [
            (
                "  NAND Bytes Written             0      234567891000000",
                234_567_891e6,
                Unit::Bytes(1.0),
            ),
            ("nand_bytes_written              : 100%       sectors: 20", 20.0, mib(32.0)),
            ("0xf4    nand_bytes_written          100         40262", 40262.0, mib(32.0)),
            ("NAND Bytes Written              : 100 40262", 40262.0, mib(32.0)),
            ("nand_bytes_written              :   0%       12345", 12345.0, mib(32.0)),
            ("nand_bytes_written: 40262", 40262.0, Unit::Unknown),
        ] {
            let told = of(line);
            assert_eq!((told[0].1, told[0].2), (value, unit), "{line}");
        }
    }

    #[test]
    fn other_counters_with_similar_names_are_not_taken() {
        for line in [
            "Data units written to DRAM namespace            0x0000000000000005",
            "nvme_data_units_written_total{device=\"nvme0\"} 5",
            "\"data_units_written_s\": \"5\"",
            "Average NAND Bytes Written: 5",
            "Host Bytes Read: 5",
            "Media and Data Integrity Errors: 0",
            "Physical media units read    -  \t 0 5",
        ] {
            assert_eq!(of(line), [], "{line}");
        }
    }
}

//! The number after the name of a counter.

use super::catalogue::{Form, HIGH};
use super::number::{Number, leading, unknown_mark};

/// A number after a name, and what shows whose it is.
#[derive(Debug, PartialEq)]
pub(super) struct Value {
    pub(super) number: f64,
    /// How many numbers there were.
    pub(super) count: usize,
    /// The first of them.
    pub(super) first: f64,
    /// A percentage, a colon or an equals sign was before it.
    pub(super) is_marked: bool,
}

/// What is wrong with a number.
#[derive(Debug, PartialEq)]
pub(super) enum Wrong {
    /// It is not one number.
    Number(String),
    /// It is not in the unit of the tool.
    Unit(String),
}

/// What is between a name and its number.
struct Gap<'a> {
    rest: &'a str,
    /// A colon or an equals sign shows that a number has to follow.
    has_sign: bool,
}

/// The number that follows a name, and the rest of the line; none if the name is part of a sentence. An error says what
/// is wrong with the number. With `any`, its unit was said by the user.
pub(super) fn after(rest: &str, form: Form, any: bool) -> Result<Option<(Value, &str)>, Wrong> {
    let gap = Gap::of(rest);
    if let Some(found) = pair(gap.rest) {
        return Ok(Some(found));
    }
    let (numbers, has_percent, rest) = numbers(gap.rest, form);
    if let Some(mark) = unknown_mark(rest.trim_start()) {
        let shown = gap.rest.trim_end();
        return Err(Wrong::Number(format!(
            "is {shown}, with a mark {mark:?} that is not known; log it with LC_ALL=C, or without marks"
        )));
    }
    let Some(last) = numbers.last() else {
        let wrong = || Wrong::Number("has no number".into());
        return if gap.has_sign { Err(wrong()) } else { Ok(None) };
    };
    let shown = gap.rest[..gap.rest.len() - rest.len()].trim();
    if !any {
        refuse(&numbers, shown, rest)?;
    }
    let number = match form {
        Form::Normalized | Form::Last => last.value,
        Form::One | Form::Halves => joined(&numbers, form, shown)?,
    };
    let is_marked = gap.has_sign || has_percent;
    let value = Value { number, count: numbers.len(), first: numbers[0].value, is_marked };
    Ok(Some((value, rest)))
}

impl<'a> Gap<'a> {
    /// Brackets such as `(HBMW)`, then separators.
    fn of(rest: &'a str) -> Self {
        let mut rest = rest.trim_start_matches(['"', ')', ']']).trim_start();
        if let Some(inner) = rest.strip_prefix('(') {
            rest = inner.split_once(')').map_or("", |(_, rest)| rest);
        }
        let is_separator = |c: char| c.is_whitespace() || ":=-|;,\"'>".contains(c);
        let after = rest.trim_start_matches(is_separator);
        let between = &rest[..rest.len() - after.len()];
        Self { rest: after, has_sign: between.contains([':', '=']) }
    }
}

/// The low and the high 64 bits in brackets, as xNVMe prints them.
fn pair(rest: &str) -> Option<(Value, &str)> {
    let (inner, rest) = rest.strip_prefix('[')?.split_once(']')?;
    let (low, high) = inner.split_once(',')?;
    let of = |text: &str| text.trim().parse::<u64>().ok().map(|half| half as f64);
    let (low, high) = (of(low)?, of(high)?);
    let value = Value { number: low + high * HIGH, count: 1, first: low, is_marked: true };
    Some((value, rest))
}

/// The numbers in a row, whether there was a percentage among them, and the rest.
fn numbers(text: &str, form: Form) -> (Vec<Number>, bool, &str) {
    let blanks = matches!(form, Form::One | Form::Halves);
    let (mut numbers, mut has_percent, mut rest) = (Vec::new(), false, text);
    loop {
        let mut next = rest.trim_start();
        if form == Form::Normalized {
            next = next.strip_prefix("sectors:").map_or(next, str::trim_start);
        }
        let Some((number, after)) = leading(next, blanks) else { break };
        numbers.push(number);
        rest = after.strip_prefix('%').unwrap_or(after);
        has_percent |= rest.len() < after.len();
    }
    (numbers, has_percent, rest)
}

/// The word right after a number, such as a unit.
fn unit_after(rest: &str) -> &str {
    let word = rest.trim_start();
    &word[..word.find(|c: char| !c.is_alphabetic()).unwrap_or(word.len())]
}

/// Refuses what is no count in the unit of the tool.
fn refuse(numbers: &[Number], shown: &str, rest: &str) -> Result<(), Wrong> {
    let unit = unit_after(rest);
    let letters = unit.strip_suffix(['B', 'b']).unwrap_or_default();
    let scales = ["k", "K", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi"];
    let is_scaled = scales.contains(&letters);
    let known = unit.to_lowercase();
    let singular = known.strip_suffix('s').unwrap_or(&known);
    let is_counted = ["sector", "block", "page", "lba", "cluster"].contains(&singular);
    let is_bytes = ["", "b", "byte", "unit"].contains(&singular);
    // Any other word may begin the next counter of a joined line, if there is more of it.
    let is_last = rest.trim() == unit;
    if numbers.iter().any(|number| !number.is_whole) {
        let unit = if is_scaled { unit } else { "" };
        return Err(Wrong::Number(format!(
            "is {} and so {ROUNDED}",
            format!("{shown} {unit}").trim()
        )));
    }
    if is_scaled {
        return Err(Wrong::Unit(format!("is {shown} {unit} and so, as it seems, {ROUNDED}")));
    }
    if is_counted || (is_last && !is_bytes) {
        return Err(Wrong::Unit(format!(
            "is {shown} {unit}, and the tool that is known by this name does not count those"
        )));
    }
    Ok(())
}

/// What is wrong with a number such as 123.46 TB.
const ROUNDED: &str = "rounded, and the differences of rounded numbers say nothing; log the whole number that the tool \
                       prints before it, or its JSON";

/// One number of one or two.
fn joined(numbers: &[Number], form: Form, shown: &str) -> Result<f64, Wrong> {
    match numbers {
        [number] => Ok(number.value),
        [high, low] if form == Form::Halves || high.value == 0.0 => {
            Ok(high.value * HIGH + low.value)
        }
        _ => Err(Wrong::Number(format!("has several numbers, {shown}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(rest: &str, form: Form) -> Option<f64> {
        after(rest, form, false).unwrap().map(|(value, _)| value.number)
    }

    #[test]
    fn every_form_gives_its_number() {
        for rest in [
            " (HBMW): 123",
            ": 123 bytes",
            "\t\t\t: 123 (1.02 GB)",
            "                 123 [1.02 GB]",
            "\": 123,",
            "=123 mbmw=456",
            " -   \t        0 123",
            ": [123, 0]",
            "(Bytes): 0x7b",
            ";123;",
        ] {
            assert_eq!(value(rest, Form::Halves), Some(123.0), "{rest}");
        }
        assert_eq!(value(" - 1 0", Form::Halves), Some(HIGH));
        assert_eq!(value(": [0, 1]", Form::One), Some(HIGH));
        for rest in [
            ": 100%       sectors: 123",
            "  100         123",
            ": 244  100%       sectors: 123",
            ": 100 123",
        ] {
            assert_eq!(value(rest, Form::Normalized), Some(123.0), "{rest}");
        }
        assert_eq!(
            value("   3855     0x0000000000000000000000000000007b", Form::Last),
            Some(123.0)
        );
    }

    #[test]
    fn what_is_no_count_is_refused_and_sentences_are_passed_over() {
        let error = |rest| match after(rest, Form::One, false).unwrap_err() {
            Wrong::Number(reason) | Wrong::Unit(reason) => reason,
        };
        for rest in [": 123.46 TB", ": 123 TB", ": 1.5", ": 12 GiB"] {
            assert!(error(rest).contains("rounded"), "{rest}");
        }
        for rest in [": 5 pages", ": 5 blocks more", ": 5 furlongs"] {
            assert!(error(rest).contains("does not count those"), "{rest}");
        }
        for rest in [": 5 bytes", ": 5 B", ": 5 units", ": 5 host_reads : 7"] {
            assert_eq!(value(rest, Form::One), Some(5.0), "{rest}");
        }
        assert!(error(": 1234 5678").contains("several numbers"));
        for rest in [":", " (HBMW):", ": n/a", ": [123 TB]"] {
            assert!(error(rest).contains("no number"), "{rest}");
        }
        for rest in ["", " to DRAM namespace 0x5", " and more"] {
            assert_eq!(after(rest, Form::One, false), Ok(None), "{rest}");
        }
        let said = after(": 12 GiB", Form::One, true).unwrap();
        assert_eq!(said.map(|(value, _)| value.number), Some(12.0));
    }
}

//! Numbers as tools print them: whole, hexadecimal, or with their thousands apart.

/// What stands between thousands, beside a blank: `,` `.` `'` `_`, a typographic apostrophe, and the blanks and marks of
/// locales.
const MARKS: [char; 12] = [
    ',', '.', '\'', '_', '\u{2019}', '\u{a0}', '\u{202f}', '\u{2007}', '\u{2008}', '\u{2009}',
    '\u{200a}', '\u{66c}',
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    /// With its marks between thousands.
    pub(super) value: f64,
    /// Whether it has no fraction.
    pub(super) is_whole: bool,
    /// The only mark in it, if that may be of a fraction: that of `1.5`, and that of `1.234`.
    mark: Option<char>,
    /// Its value if the mark is that of a fraction.
    fraction: f64,
    /// The mark between its thousands, if that cannot be of a fraction: that of `1.234.567`.
    thousands: Option<char>,
    /// Digits after its point.
    pub(super) decimals: usize,
    /// Its exponent is larger than its digits after the point, as in `1.5e9`: other digits were left out.
    pub(super) is_rounded: bool,
}

impl Number {
    fn plain(value: f64) -> Self {
        Self {
            value,
            is_whole: true,
            mark: None,
            fraction: value,
            thousands: None,
            decimals: 0,
            is_rounded: false,
        }
    }

    fn whole(digits: &str, radix: u32) -> Option<Self> {
        let value = u128::from_str_radix(digits, radix).ok()? as f64;
        Some(Self::plain(value))
    }

    fn fraction(text: &str, mark: char) -> Option<Self> {
        let value: f64 = text.replace(mark, ".").parse().ok()?;
        let decimals = text.rsplit(mark).next().map_or(0, str::len);
        Some(Self { is_whole: false, mark: Some(mark), decimals, ..Self::plain(value) })
    }

    pub(super) fn mark_of_fraction(&self) -> Option<char> {
        self.mark.filter(|_| !self.is_whole)
    }

    /// The mark between its thousands, if it surely is one.
    pub(super) fn mark_of_thousands(&self) -> Option<char> {
        self.thousands
    }

    /// The mark of which it does not show what it is.
    pub(super) fn doubtful_mark(&self) -> Option<char> {
        self.mark.filter(|_| self.is_whole)
    }

    /// The number in a column in which `is_fraction` says of marks that they are those of fractions.
    pub(super) fn with_fractions(self, is_fraction: impl Fn(char) -> bool) -> f64 {
        if self.mark.is_some_and(is_fraction) { self.fraction } else { self.value }
    }
}

/// The number that a text begins with, and what comes after it. With `blanks`, a blank may stand between thousands.
/// None if it begins with something else, such as a version, a time or a word.
pub(super) fn leading(text: &str, blanks: bool) -> Option<(Number, &str)> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    if let Some(digits) = hexadecimal {
        let (digits, rest) = digits.split_at(run(digits, |c| c.is_ascii_hexdigit()));
        let is_word = rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        return Some((Number::whole(digits, 16)?, (!is_word).then_some(rest)?));
    }
    let (runs, marks, rest) = runs(text, blanks)?;
    let number = &text[..text.len() - rest.len()];
    if let Some((exponent, rest)) = exponent(rest) {
        let value: f64 = format!("{}{exponent}", number.replace(',', ".")).parse().ok()?;
        let decimals = if marks.is_empty() { 0 } else { runs.last().map_or(0, |run| run.len()) };
        let power: i64 = exponent.get(1..)?.parse().ok()?;
        let is_rounded = power > i64::try_from(decimals).ok()?;
        let is_whole = value.is_finite() && value.fract() == 0.0 && !is_rounded;
        let number = Number { is_whole, decimals, is_rounded, ..Number::plain(value) };
        return Some((number, ended(rest)?));
    }
    Some((joined(&runs, &marks, number)?, ended(rest)?))
}

/// A text that is one number and nothing else.
pub(super) fn only(text: &str) -> Option<Number> {
    let (number, rest) = leading(text.trim(), true)?;
    rest.is_empty().then_some(number)
}

/// How many bytes of the text are of a kind.
fn run(text: &str, is_of_kind: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_of_kind(c)).unwrap_or(text.len())
}

/// The mark between the first digits of a text and others, if it is none that is known: `·` of `104·256`, or what a wrong
/// encoding made of another.
pub(super) fn unknown_mark(text: &str) -> Option<char> {
    let is_number = |c: char| c.is_ascii_digit() || c == ' ' || MARKS.contains(&c);
    let rest = text.trim_start_matches(is_number);
    let digits = &text[..text.len() - rest.len()];
    let is_within = [digits.chars().next(), digits.chars().last()]
        .iter()
        .all(|c| c.is_some_and(|c| c.is_ascii_digit()));
    mark_before_digit(rest).filter(|_| is_within)
}

/// The character that a text begins with, if a digit is after it and it may have been a mark between thousands.
fn mark_before_digit(text: &str) -> Option<char> {
    let mut next = text.chars();
    let mark = next.next().filter(|c| !c.is_ascii() || matches!(c, '`' | '?' | '~'))?;
    next.next().is_some_and(|c| c.is_ascii_digit()).then_some(mark)
}

/// What comes after a number, unless that shows that it was none: `12:30`, `3a`, `2026-11-23`. A unit may follow.
fn ended(rest: &str) -> Option<&str> {
    if mark_before_digit(rest).is_some() {
        return None;
    }
    let mut next = rest.chars();
    match (next.next(), next.next()) {
        (Some(':' | '-' | '/'), Some(digit)) if digit.is_ascii_digit() => None,
        (Some(letter), Some(second)) if letter.is_ascii_alphabetic() && second.is_ascii_digit() => {
            None
        }
        _ => Some(rest),
    }
}

/// Runs of digits, the marks between them, and the rest.
fn runs(text: &str, blanks: bool) -> Option<(Vec<&str>, Vec<char>, &str)> {
    let (first, mut rest) = text.split_at(run(text, |c| c.is_ascii_digit()));
    if first.is_empty() {
        return None;
    }
    let (mut runs, mut marks) = (vec![first], Vec::new());
    while let Some(mark) = rest.chars().next() {
        let after = &rest[mark.len_utf8()..];
        let (digits, then) = after.split_at(run(after, |c| c.is_ascii_digit()));
        let of_blanks =
            || blanks && is_thousands(digits) && is_first(first) && marks.iter().all(|m| *m == ' ');
        let is_mark = if mark == ' ' { of_blanks() } else { MARKS.contains(&mark) };
        if !is_mark || digits.is_empty() || (mark != ' ' && marks.contains(&' ')) {
            break;
        }
        runs.push(digits);
        marks.push(mark);
        rest = then;
    }
    Some((runs, marks, rest))
}

/// An exponent such as `e+08`.
fn exponent(rest: &str) -> Option<(&str, &str)> {
    let power = rest.strip_prefix(['e', 'E'])?;
    let digits = power.strip_prefix(['+', '-']).unwrap_or(power);
    let count = run(digits, |c| c.is_ascii_digit());
    (count > 0).then(|| rest.split_at(rest.len() - digits.len() + count))
}

/// The number of these runs of digits.
fn joined(runs: &[&str], marks: &[char], text: &str) -> Option<Number> {
    let Some((&last, before)) = marks.split_last() else { return Number::whole(text, 10) };
    let is_point = |mark: char| mark == '.' || mark == ',';
    let alike = marks.iter().all(|mark| *mark == last);
    if alike && is_grouped(runs) {
        let number = Number::whole(&runs.concat(), 10)?;
        let may_be_fraction = marks.len() == 1 && is_point(last);
        let Some(fraction) = Number::fraction(text, last).filter(|_| may_be_fraction) else {
            return Some(Number { thousands: Some(last), ..number });
        };
        let (fraction, decimals) = (fraction.value, fraction.decimals);
        return Some(Number { mark: Some(last), fraction, decimals, ..number });
    }
    let (tail, whole) = runs.split_last()?;
    let is_whole_grouped = before.is_empty() || is_grouped(whole);
    let is_other = before.iter().all(|mark| *mark == before[0] && *mark != last);
    let text = format!("{}{last}{tail}", whole.concat());
    let number = Number::fraction(&text, last)?;
    let is_fraction = is_point(last) && is_other && is_whole_grouped;
    is_fraction.then(|| Number { thousands: before.first().copied(), ..number })
}

fn is_thousands(digits: &str) -> bool {
    digits.len() == 3
}

fn is_first(digits: &str) -> bool {
    digits.len() <= 3 && !digits.starts_with('0')
}

/// Whether these are groups of three digits, or, as in India, of two before the last three.
fn is_grouped(runs: &[&str]) -> bool {
    let Some((last, before)) = runs.split_last() else { return false };
    let Some((first, middle)) = before.split_first() else { return false };
    let of = |length: usize| middle.iter().all(|run| run.len() == length);
    let is_indian = !middle.is_empty() && of(2) && first.len() <= 2;
    is_thousands(last) && is_first(first) && (of(3) || is_indian)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_may_be_apart_by_any_mark() {
        for text in [
            "1234567",
            "1,234,567",
            "1.234.567",
            "1'234'567",
            "1\u{2019}234\u{2019}567",
            "1_234_567",
            "1 234 567",
            "1\u{a0}234\u{a0}567",
            "1\u{202f}234\u{202f}567",
            "1\u{2009}234\u{2009}567",
            "12,34,567",
            "0x12d687",
            "1.234567e6",
            "1.234567E+06",
            "1.234567000000000000e+06",
            "1\u{2007}234\u{2007}567",
        ] {
            let number = only(text);
            assert_eq!(number.map(|n| (n.value, n.is_whole)), Some((1_234_567.0, true)), "{text}");
        }
    }

    #[test]
    fn every_number_is_read_as_it_was_printed() {
        for power in 0..38_u32 {
            for number in [10_u128.pow(power), 10_u128.pow(power + 1) - 1, 7 * 10_u128.pow(power)] {
                let plain = number.to_string();
                for mark in MARKS.into_iter().chain([' ']) {
                    let mut text = String::new();
                    for (index, digit) in plain.chars().enumerate() {
                        if index > 0 && (plain.len() - index).is_multiple_of(3) {
                            text.push(mark);
                        }
                        text.push(digit);
                    }
                    assert_eq!(only(&text).map(|n| n.value), Some(number as f64), "{text}");
                }
            }
        }
    }

    #[test]
    fn fractions_are_told_from_thousands() {
        for (text, value) in
            [("123.46", 123.46), ("1,234.5", 1234.5), ("1.234,5", 1234.5), ("0,5", 0.5)]
        {
            let number = only(text).unwrap();
            assert_eq!((number.value, number.is_whole), (value, false), "{text}");
        }
        let either = only("1.234").unwrap();
        assert_eq!((either.value, either.is_whole), (1234.0, true));
        let read = ['.', ','].map(|own| Some(either.with_fractions(|mark| mark == own)));
        assert_eq!(read, [Some(1.234), Some(1234.0)]);
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", "x", "1.2.3", "12:30", "2026-11-23", "1,2", "0x", "0xg", "3a5", "1,23,4"] {
            let number = only(text);
            assert!(number.is_none_or(|n| !n.is_whole), "{text}: {number:?}");
        }
    }

    #[test]
    fn blanks_stand_between_thousands_only_where_they_may() {
        let rest = |text, blanks| leading(text, blanks).map(|(n, rest)| (n.value, rest));
        assert_eq!(rest("241 126 542 [123 TB]", true), Some((241_126_542.0, " [123 TB]")));
        assert_eq!(rest("0 234567", true), Some((0.0, " 234567")));
        assert_eq!(rest("100 402", false), Some((100.0, " 402")));
        assert_eq!(rest("1234 567", true), Some((1234.0, " 567")));
        assert_eq!(rest("1,234 567", true), Some((1234.0, " 567")));
        assert_eq!(rest("5 TB", true), Some((5.0, " TB")));
    }
}

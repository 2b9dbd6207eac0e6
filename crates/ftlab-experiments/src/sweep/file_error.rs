//! What is wrong with an experiment file, and where.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use thiserror::Error;

/// Bytes of the file that a value takes.
pub(crate) type Span = Range<usize>;

/// What is wrong with a value, before it is known in which file.
#[derive(Debug)]
pub(crate) struct Wrong {
    span: Option<Span>,
    message: String,
}

impl Wrong {
    pub(crate) fn at(span: Span, message: impl fmt::Display) -> Self {
        Self { span: Some(span), message: message.to_string() }
    }

    /// Of the file as a whole.
    pub(crate) fn anywhere(message: impl fmt::Display) -> Self {
        Self { span: None, message: message.to_string() }
    }

    pub(crate) fn within(self, path: &Path, text: &str) -> FileError {
        FileError::new(path, text, self.span, &self.message)
    }
}

/// What is wrong with an experiment file: it shows the line.
#[derive(Debug, Error)]
pub struct FileError {
    name: String,
    message: String,
    place: Option<Place>,
}

/// Characters of a line that are shown, around what is wrong.
const LINE_SHOWN: usize = 100;
/// Of them, those before what is wrong.
const BEFORE_SHOWN: usize = 40;
/// Characters of a message that are shown.
const MESSAGE_SHOWN: usize = 1000;

/// A line of the file, and what is wrong in it.
#[derive(Debug)]
struct Place {
    line: usize,
    /// The line, or a part of it.
    text: String,
    /// Characters before what is wrong, and its length.
    column: usize,
    width: usize,
}

impl FileError {
    fn new(path: &Path, text: &str, span: Option<Span>, message: &str) -> Self {
        let place = span.map(|span| Place::of(text, span));
        Self { name: path.display().to_string(), message: cut(message, MESSAGE_SHOWN), place }
    }

    pub(crate) fn from_toml(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        Self::new(path, text, error.span(), error.message().trim_end())
    }
}

impl Place {
    fn of(text: &str, span: Span) -> Self {
        let start = span.start.min(text.len());
        let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
        let line = text[line_start..].lines().next().unwrap_or_default();
        let before = text[line_start..start].chars().count();
        let wide = text.get(span).unwrap_or_default();
        let width = wide.lines().next().unwrap_or_default().chars().count().max(1);
        // A long line is shown from shortly before what is wrong.
        let left_out =
            if line.chars().count() > LINE_SHOWN { before.saturating_sub(BEFORE_SHOWN) } else { 0 };
        let (dots, shown) = match line.char_indices().nth(left_out) {
            Some((start, _)) if left_out > 0 => ("...", &line[start..]),
            _ => ("", line),
        };
        let column = before - left_out + dots.len();
        Self {
            line: text[..start].matches('\n').count() + 1,
            text: format!("{dots}{}", cut(shown, LINE_SHOWN)),
            column,
            width: width.min(LINE_SHOWN - BEFORE_SHOWN),
        }
    }
}

/// A text of at most `most` characters, and dots if there were more.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Place { line, text, column, width }) = &self.place else {
            return write!(f, "{}: {}", self.name, self.message);
        };
        let number = line.to_string();
        let indent = " ".repeat(number.len());
        let (blank, mark) = (" ".repeat(*column), "^".repeat(*width));
        write!(
            f,
            "{}:{line}: {}\n{indent} |\n{number} | {text}\n{indent} | {blank}{mark}",
            self.name, self.message
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, wrong: &str) -> String {
        let start = text.find(wrong).unwrap();
        FileError::new(Path::new("x.toml"), text, Some(start..start + wrong.len()), "bad")
            .to_string()
    }

    #[test]
    fn a_short_line_is_shown_whole() {
        let expected = "x.toml:2: bad\n  |\n2 | b = wrong\n  |     ^^^^^";
        assert_eq!(shown("a = 1\nb = wrong\n", "wrong"), expected);
    }

    #[test]
    fn of_a_long_line_the_part_around_what_is_wrong_is_shown() {
        let long = "é".repeat(100_000);
        for text in [
            format!("a = [\"{long}\", wrong, \"{long}\"]"),
            format!("a = [wrong, \"{long}\"]"),
            format!("a = [\"{long}\", wrong]"),
        ] {
            let message = shown(&text, "wrong");
            let lines: Vec<_> = message.lines().collect();
            assert!(message.chars().count() < 300, "{message}");
            let at = lines[3].chars().position(|letter| letter == '^').unwrap();
            let marked: String = lines[2].chars().skip(at).take(5).collect();
            assert_eq!((lines[3].matches('^').count(), marked.as_str()), (5, "wrong"), "{message}");
        }
        let message = shown(&format!("a = \"{long}\""), &long);
        assert!(message.chars().count() < 300, "{message}");
    }

    #[test]
    fn a_long_message_is_cut() {
        let message = "é".repeat(100_000);
        let error = FileError::new(Path::new("x.toml"), "", None, &message).to_string();
        assert!(error.chars().count() < 1100 && error.ends_with("é..."));
    }
}

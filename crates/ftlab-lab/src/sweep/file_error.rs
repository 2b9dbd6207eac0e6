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
        FileError::new(path, text, self.span, self.message)
    }
}

/// What is wrong with an experiment file: it shows the line.
#[derive(Debug, Error)]
pub struct FileError {
    name: String,
    message: String,
    place: Option<Place>,
}

/// A line of the file, and what is wrong in it.
#[derive(Debug)]
struct Place {
    line: usize,
    text: String,
    /// Characters before what is wrong, and its length.
    column: usize,
    width: usize,
}

impl FileError {
    fn new(path: &Path, text: &str, span: Option<Span>, message: String) -> Self {
        let place = span.map(|span| {
            let start = span.start.min(text.len());
            let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
            let line = text[line_start..].lines().next().unwrap_or_default();
            let column = text[line_start..start].chars().count();
            let wide = text.get(span).unwrap_or_default();
            let width = wide.lines().next().unwrap_or_default().chars().count().max(1);
            Place {
                line: text[..start].matches('\n').count() + 1,
                text: line.to_owned(),
                column,
                width,
            }
        });
        Self { name: path.display().to_string(), message, place }
    }

    pub(crate) fn from_toml(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        Self::new(path, text, error.span(), error.message().trim_end().to_owned())
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

//! What is wrong with an experiment file, and where.

use super::scalar::Span;
use ftlab_sim::SimError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why an experiment file cannot be used, or a sweep not be carried out.
#[derive(Debug, Error)]
pub enum SweepError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// Something in the file is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// Results cannot be read or written.
    #[error("{}: {message}", path.display())]
    Store {
        /// Which file or directory.
        path: PathBuf,
        /// What happened, and what to do.
        message: String,
    },
    /// Anything of the simulator itself.
    #[error(transparent)]
    Sim(#[from] SimError),
}

impl SweepError {
    /// Whether the request was wrong, rather than its execution.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Read { .. } | Self::File(_) => true,
            Self::Store { .. } => false,
            Self::Sim(error) => error.is_usage(),
        }
    }

    pub(crate) fn store(path: &Path, error: &impl fmt::Display) -> Self {
        Self::Store { path: path.into(), message: error.to_string() }
    }
}

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

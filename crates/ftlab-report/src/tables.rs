//! The tables of the page.

use ftlab_sim::ExperimentResult;
use ftlab_sim::fact::{Fact, Sheet, Shown, Value, When};
use ftlab_sim::format::{grouped, significant};
use ftlab_sim::result::{RunResult, shown};

/// A table of the runs.
pub(crate) struct Table {
    pub(crate) headings: Vec<Heading>,
    pub(crate) rows: Vec<Row>,
}

pub(crate) struct Heading {
    pub(crate) text: &'static str,
    pub(crate) meaning: &'static str,
}

pub(crate) struct Row {
    pub(crate) ftl: String,
    pub(crate) cells: Vec<Cell>,
}

/// A text, and the number by which rows are sorted, if any.
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) number: Option<f64>,
}

impl Cell {
    pub(crate) fn new(number: f64, text: String) -> Self {
        Self { text, number: Some(number) }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self { text: text.into(), number: None }
    }

    pub(crate) fn count(number: impl Into<u64>) -> Self {
        let number = number.into();
        Self::new(number as f64, grouped(number))
    }

    pub(crate) fn digits(number: f64, digits: i32) -> Self {
        Self::new(number, significant(number, digits))
    }

    /// A dash if there is no value.
    pub(crate) fn of<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or_else(|| Self::text("–"), cell)
    }
}

/// A heading and its meaning.
pub(crate) type Meaning = (&'static str, &'static str);

impl Table {
    /// Rows under these headings, of which there are none without rows.
    pub(crate) fn of(headings: impl IntoIterator<Item = Meaning>, rows: Vec<Row>) -> Self {
        let headings = headings.into_iter().filter(|_| !rows.is_empty());
        let headings = headings.map(|(text, meaning)| Heading { text, meaning }).collect();
        Self { headings, rows }
    }

    /// Removes empty columns.
    pub(crate) fn without_empty(self) -> Self {
        self.without(|cell| cell.number.is_none())
    }

    /// Removes columns of nothing but zeros.
    pub(crate) fn without_zeros(self) -> Self {
        self.without(|cell| cell.number == Some(0.0))
    }

    /// Removes columns of nothing but such cells.
    fn without(mut self, is_nothing: impl Fn(&Cell) -> bool) -> Self {
        for column in (0..self.headings.len()).rev() {
            if self.rows.iter().all(|row| is_nothing(&row.cells[column])) {
                self.headings.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.cells.remove(column)));
            }
        }
        self
    }
}

/// The table of the facts that are shown on `of`, without columns that no run has a value for.
pub(crate) fn sheet(result: &ExperimentResult, of: Sheet) -> Table {
    let columns = shown(|shown| match *shown {
        Shown::Report { sheet, at, heading, meaning, when } if sheet == of => {
            Some((at, (heading, meaning, when)))
        }
        _ => None,
    });
    let row = |run: &RunResult| Row {
        ftl: run.ftl.clone(),
        cells: columns.iter().map(|((_, _, when), fact)| told(run, *when, fact)).collect(),
    };
    let headings =
        columns.iter().map(|((text, meaning, _), _)| Heading { text, meaning }).collect();
    Table { headings, rows: result.runs.iter().map(row).collect() }.without_empty()
}

/// What a fact says of a run, where it is to be shown.
fn told(run: &RunResult, when: When, fact: &Fact<RunResult>) -> Cell {
    let value = fact.of(run).filter(|value| match when {
        When::Nonzero => value.number() > 0.0,
        When::InPart => run.has_parts(),
        _ => true,
    });
    cell(fact, value)
}

/// What a fact says, or a dash.
pub(crate) fn cell<R: 'static>(fact: &Fact<R>, value: Option<Value>) -> Cell {
    Cell::of(value, |value| Cell::new(fact.number(&value), fact.text(&value)))
}

//! A column of counts, and what the marks in its numbers mean.

use super::asked::Counters;
use super::catalogue::{Meaning, Side, Unit};
use super::number::Number;
use super::units::LARGE;
use std::borrow::Cow;

/// Numbers with a fraction whose last digit counts more are rounded too much.
const STEP_MAX: f64 = 2e9;

/// A line of a table with its place.
pub(super) type Row<'a> = (usize, Vec<Cow<'a, str>>);

/// A column of counts.
pub(super) struct Column<'a> {
    pub(super) place: usize,
    pub(super) name: &'a str,
    pub(super) meanings: Vec<Meaning>,
    pub(super) cells: Vec<Option<Number>>,
}

impl Column<'_> {
    pub(super) fn is_of(&self, side: Side) -> bool {
        self.meanings.iter().any(|meaning| meaning.side == side)
    }

    /// Refuses a column that is read and has a cell without a number, with a doubtful mark, or with a rounded number.
    pub(super) fn check(
        &self,
        names: &[Cow<'_, str>],
        rows: &[Row<'_>],
        delimiter: char,
        counters: &Counters,
    ) -> Result<(), String> {
        self.complete(names, rows)?;
        let unit = self.unit(counters);
        let is_large = unit >= LARGE;
        let doubtful = |number: &Number| {
            is_large && number.doubtful_mark().is_some_and(|mark| self.is_doubtful(mark, delimiter))
        };
        if let Some(shown) = self.first(rows, doubtful) {
            return Err(format!(
                "{shown}, which may be thousands or a fraction; write it in bytes, or without a mark between thousands"
            ));
        }
        let decimals = self.cells.iter().flatten().map(|number| number.decimals).max().unwrap_or(0);
        let step = unit * (0..decimals).fold(1.0, |step, _| step / 10.0);
        let is_coarse = decimals > 0 && step > STEP_MAX;
        let rounded = |number: &Number| number.is_rounded || (is_coarse && number.decimals > 0);
        match self.first(rows, rounded) {
            None => Ok(()),
            Some(shown) => Err(format!(
                "{shown} and so rounded, and the differences of rounded numbers say nothing; write all digits of it"
            )),
        }
    }

    /// Names the first line that has no number in this column.
    pub(super) fn complete(&self, names: &[Cow<'_, str>], rows: &[Row<'_>]) -> Result<(), String> {
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

    /// The first cell of a kind, by its line.
    fn first(&self, rows: &[Row<'_>], is: impl Fn(&Number) -> bool) -> Option<String> {
        let row = self.cells.iter().position(|cell| cell.as_ref().is_some_and(&is))?;
        let (at, cells) = &rows[row];
        let cell = cells.get(self.place).map_or("", |cell| cell);
        Some(format!("line {}: column {} has {cell:?}", at + 1, self.name))
    }

    /// Bytes of its unit, as it says or as the user does.
    fn unit(&self, counters: &Counters) -> f64 {
        let asked = [Side::Host, Side::Media]
            .into_iter()
            .find_map(|side| counters.named(side, self.name, None)?.unit());
        let known = self.meanings.iter().map(|meaning| meaning.unit);
        let bytes = |unit| if let Unit::Bytes(bytes) = unit { Some(bytes) } else { None };
        asked.into_iter().chain(known).find_map(bytes).unwrap_or(1.0)
    }

    /// Whether nothing in the column says if a mark is of thousands or of a fraction.
    fn is_doubtful(&self, mark: char, delimiter: char) -> bool {
        let is_quoted_comma = mark == ',' && delimiter == ',';
        let has_other_fractions = ['.', ','].iter().any(|other| self.has_fractions(*other));
        !is_quoted_comma && !has_other_fractions && !self.has_thousands(mark)
    }

    fn has_fractions(&self, mark: char) -> bool {
        self.cells.iter().flatten().any(|number| number.mark_of_fraction() == Some(mark))
    }

    fn has_thousands(&self, mark: char) -> bool {
        self.cells.iter().flatten().any(|number| number.mark_of_thousands() == Some(mark))
    }

    /// The number in a row. A mark that is that of a fraction anywhere in the column is one everywhere.
    pub(super) fn value(&self, row: usize) -> Option<f64> {
        self.cells[row].map(|number| number.with_fractions(|mark| self.has_fractions(mark)))
    }
}

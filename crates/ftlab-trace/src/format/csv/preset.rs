//! Formats that are a map of columns with a name.

use super::Delimiter;
use super::cut::for_each_field;
use super::map::{ColumnMap, LengthUnit, TimeUnit};
use super::rows::Rows;
use crate::format::{Looks, first_lines};
use crate::input::LineSource;
use crate::{Input, OpenOptions, TraceError, TraceSource};
use ftlab_spec::{Parameter, Parameters, Spec, Value};
use std::fmt;

/// Lines that decide on the format of a file.
const LOOKED_AT: usize = 50;

/// The fields of a line.
pub(super) type Line<'a> = Vec<&'a [u8]>;

/// A format in columns as its documentation has it.
pub(super) struct Preset {
    /// The name to type.
    pub(super) name: &'static str,
    /// Names of the columns, separated by commas, as a header has them.
    pub(super) columns: &'static str,
    /// What the columns mean, in the language of [`super`].
    pub(super) map: &'static str,
    /// What stands between two columns.
    pub(super) delimiter: Delimiter,
    /// How much lines that have all columns look like this format.
    pub(super) looks: fn(&[Line<'_>]) -> Looks,
}

/// A unit, or what the documentation of the format says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit<T>(Option<T>);

impl<T: Value> Value for Unit<T> {
    fn expects() -> String {
        T::expects()
    }

    fn parse(text: &str) -> Option<Self> {
        T::parse(text).map(|unit| Self(Some(unit)))
    }
}

impl<T: Value> fmt::Display for Unit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |unit| unit.fmt(f))
    }
}

ftlab_spec::choices! {
    /// What is done with the column that names the volume.
    enum VolumeColumn {
        /// It is read.
        Read = "read",
        /// It is passed over.
        Ignore = "ignore",
    }
}

ftlab_spec::parameters! {
    /// Units, for files that differ from the documentation.
    struct Units {
        /// Unit of the times.
        time: Unit<TimeUnit> = Unit(None), "time", from "the documentation";
        /// Unit of the offsets.
        offset: Unit<LengthUnit> = Unit(None), "offset", from "the documentation";
        /// Unit of the lengths.
        length: Unit<LengthUnit> = Unit(None), "length", from "the documentation";
        /// Whether the column of the volume is read. If not, all requests are for one.
        volume: VolumeColumn = VolumeColumn::Read, "volume", from "the documentation";
    }
}

impl Preset {
    fn parsed_map(&self) -> ColumnMap {
        ColumnMap::parse(self.map).expect("a test parses the map of every preset")
    }

    fn column_count(&self) -> usize {
        self.columns.split(',').count()
    }

    /// The parameters with the units of the documentation as defaults.
    pub(super) fn parameters(&self) -> Vec<Parameter> {
        let map = self.parsed_map();
        let unit = |unit: Option<String>| unit.unwrap_or_default();
        let mut parameters = Units::describe();
        let defaults = [
            unit(map.time.map(|(_, unit)| unit.to_string())),
            unit(map.offset.map(|(_, unit)| unit.to_string())),
            unit(map.length.map(|(_, unit)| unit.to_string())),
        ];
        for (parameter, default) in parameters.iter_mut().zip(defaults) {
            parameter.default = default;
        }
        parameters
    }

    pub(super) fn open(
        &self,
        input: Input,
        spec: &Spec,
        options: &OpenOptions,
    ) -> Result<Box<dyn TraceSource>, TraceError> {
        let units = Units::from_spec(spec)?;
        let mut map = self.parsed_map();
        if let (Some((_, unit)), Some(asked)) = (&mut map.time, units.time.0) {
            *unit = asked;
        }
        if let (Some((_, unit)), Some(asked)) = (&mut map.offset, units.offset.0) {
            *unit = asked;
        }
        if let (Some((_, unit)), Some(asked)) = (&mut map.length, units.length.0) {
            *unit = asked;
        }
        if units.volume == VolumeColumn::Ignore {
            map.volume = None;
        }
        let rows = Rows::new(map, self.delimiter, options.page_bytes);
        let rows = rows.of_at_least(self.column_count());
        Ok(Box::new(LineSource::new(input, rows, spec.to_string(), options)))
    }

    /// The fields of a line; one more than there are columns shows a line that has more.
    fn fields<'a>(&self, line: &'a [u8]) -> Line<'a> {
        let mut fields = Line::new();
        for_each_field(line, self.delimiter, self.column_count() + 1, |_, field| {
            fields.push(field);
        });
        fields
    }

    /// Whether the first lines are of this format; a header that is the documented one proves it.
    pub(super) fn detect(&self, head: &[u8]) -> Looks {
        let lines = first_lines(head, LOOKED_AT);
        let Some(first) = lines.first() else { return Looks::Unlike };
        if first.eq_ignore_ascii_case(self.columns.as_bytes()) {
            return Looks::Certain;
        }
        let lines: Vec<_> = lines.iter().map(|line| self.fields(line)).collect();
        let lines = &lines[usize::from(self.is_header(&lines[0]))..];
        if lines.is_empty() || lines.iter().any(|line| line.len() != self.column_count()) {
            return Looks::Unlike;
        }
        (self.looks)(lines)
    }

    /// Whether a line is a header with other names than the documented ones: none of its fields is a number.
    fn is_header(&self, line: &Line<'_>) -> bool {
        let is_name = |field: &&[u8]| field.first().is_some_and(u8::is_ascii_alphabetic);
        line.len() == self.column_count() && line.iter().all(is_name)
    }
}

/// Whether `text` is a whole number.
pub(super) fn is_whole(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Whether `text` is a number with a fraction.
pub(super) fn is_fraction(text: &[u8]) -> bool {
    memchr::memchr(b'.', text)
        .is_some_and(|point| is_whole(&text[..point]) && is_whole(&text[point + 1..]))
}

/// Whether `text` is one of `words`, in any case.
pub(super) fn is_word(text: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

//! Facts: what is told of a run, each declared once.
//!
//! `facts!` declares a part of a result with its fields. A field with a kind is a fact: it says what it counts, in
//! which unit, where that comes from, and where it is shown besides JSON. Tables, reports, files and columns of
//! sweeps are rendered from these declarations; nobody carries a number by hand.

mod declare;
mod shown;
mod value;

pub(crate) use declare::facts;
pub use shown::{Sheet, Shown, When};
pub(crate) use shown::{compared, frame, report, running, spare, stored, sweep, table};
pub use value::{Column, Measured, Value};

use crate::format::{bytes, grouped, percent_tenths, significant};
use std::fmt;
use std::sync::Arc;

/// What a fact is, and so how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Count,
    /// After a number of its unit.
    Moment,
    /// A number that a table shows with this many digits.
    Ratio(i32),
    /// From 0 to 1, as a percentage.
    Share,
    /// A share, as a percentage with this many digits.
    Percent(i32),
    /// A share, as a percentage with one decimal, rounded.
    Tenths,
    /// A number that a table shows with this many decimals.
    Decimals(usize),
    /// A duration or speed, with this many digits.
    Time(i32),
    /// A duration in ns that is shown in ms, with this many digits.
    Millis(i32),
    /// A word, or a hash.
    Text,
    /// A number for each interval of the run.
    Series,
    /// A number for each LUN or channel.
    List,
}

impl Kind {
    /// Its name in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Count | Self::Moment => "count",
            Self::Ratio(_) | Self::Decimals(_) | Self::Share | Self::Percent(_) | Self::Tenths => {
                "ratio"
            }
            Self::Time(_) | Self::Millis(_) => "time",
            Self::Text => "text",
            Self::Series => "series",
            Self::List => "list",
        }
    }
}

/// What a fact is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The run of an FTL.
    Run,
    /// A stream of the FTL.
    Stream,
    /// A placement handle.
    Handle,
    /// A LUN or a channel.
    Lun,
}

impl Scope {
    /// Its name in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Stream => "stream",
            Self::Handle => "handle",
            Self::Lun => "LUN",
        }
    }
}

/// Reads the value of a fact, if there is one.
type Read<R> = Arc<dyn Fn(&R) -> Option<Value> + Send + Sync>;

/// Something that is told of an `R`.
pub struct Fact<R> {
    /// Where it is in JSON, such as `refresh.blocks`.
    pub path: String,
    /// How it is written, and with how many digits.
    pub kind: Kind,
    /// In what it is counted, such as pages; empty if in nothing.
    pub unit: &'static str,
    /// What it is told of.
    pub scope: Scope,
    /// What it says.
    pub doc: String,
    /// Where it comes from.
    pub source: &'static str,
    /// Where it is shown, besides JSON.
    pub shown: Vec<Shown>,
    /// How the terminal writes it, if otherwise than `kind` says.
    in_terminal: Option<Kind>,
    read: Read<R>,
}

impl<R> fmt::Debug for Fact<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, kind, unit, scope, shown, .. } = self;
        f.debug_struct("Fact")
            .field("path", path)
            .field("kind", kind)
            .field("unit", unit)
            .field("scope", scope)
            .field("shown", shown)
            .finish_non_exhaustive()
    }
}

impl<R: 'static> Fact<R> {
    /// The fact at `path`: its kind, its unit and its source; `doc` has the lines of its comment.
    pub(crate) fn new(
        path: &str,
        what: (Kind, &'static str, &'static str),
        doc: &[&str],
        read: impl Fn(&R) -> Option<Value> + Send + Sync + 'static,
    ) -> Self {
        Self::read_by(path, what, doc, Arc::new(read))
    }

    /// Compiled once for all facts of an `R`.
    fn read_by(
        path: &str,
        (kind, unit, source): (Kind, &'static str, &'static str),
        doc: &[&str],
        read: Read<R>,
    ) -> Self {
        let doc: Vec<_> = doc.iter().map(|line| line.trim()).collect();
        Self {
            path: path.to_owned(),
            kind,
            unit,
            scope: Scope::Run,
            doc: doc.join(" "),
            source,
            shown: Vec::new(),
            in_terminal: None,
            read,
        }
    }

    /// The fact told of something else; a list is of LUNs whatever it is in.
    #[must_use]
    pub(crate) fn of_each(self, scope: Scope) -> Self {
        let scope = if self.kind == Kind::List { Scope::Lun } else { scope };
        Self { scope, ..self }
    }

    /// The fact with the places where it is shown.
    #[must_use]
    pub(crate) fn shown(self, shown: Vec<Shown>) -> Self {
        Self { shown, ..self }
    }

    /// The fact as the terminal writes it.
    #[must_use]
    pub(crate) fn in_terminal(self, kind: Kind) -> Self {
        Self { in_terminal: Some(kind), ..self }
    }

    /// Its value; none where there is nothing to tell.
    pub fn of(&self, of: &R) -> Option<Value> {
        (self.read)(of)
    }

    /// A value of it as a number, in the unit in which it is shown.
    pub fn number(&self, value: &Value) -> f64 {
        if matches!(self.kind, Kind::Millis(_)) { value.number() / 1e6 } else { value.number() }
    }

    /// A value of it as people read it.
    pub fn text(&self, value: &Value) -> String {
        self.written(self.kind, value)
    }

    /// A value of it as people read it in the terminal.
    pub fn terminal_text(&self, value: &Value) -> String {
        self.written(self.in_terminal.unwrap_or(self.kind), value)
    }

    fn written(&self, kind: Kind, value: &Value) -> String {
        let number = self.number(value);
        match (kind, value) {
            (_, Value::Text { text, .. }) => text.clone(),
            (Kind::Share, _) => percent_tenths(number),
            (Kind::Tenths, _) => format!("{:.1}%", 100.0 * number),
            (Kind::Decimals(decimals), _) => format!("{number:.decimals$}"),
            (Kind::Percent(digits), _) => format!("{}%", significant(100.0 * number, digits)),
            (Kind::Ratio(digits) | Kind::Time(digits) | Kind::Millis(digits), _) => {
                significant(number, digits)
            }
            (_, Value::Count(count)) if self.unit == "bytes" => bytes(*count),
            (_, Value::Count(count)) => grouped(*count),
            (_, Value::Real(number)) => significant(*number, 4),
            (_, Value::Series(_)) => String::new(),
        }
    }

    /// The fact of the part of a `Q` that is at `path`.
    pub(crate) fn within<Q: 'static>(self, path: &str, part: fn(&Q) -> Option<&R>) -> Fact<Q> {
        let Self { path: inner, kind, unit, scope, doc, source, shown, in_terminal, read } = self;
        Fact {
            path: format!("{path}.{inner}"),
            kind,
            unit,
            scope,
            doc,
            source,
            shown,
            in_terminal,
            read: Arc::new(move |of| part(of).and_then(|of| read(of))),
        }
    }
}

/// The facts that are shown in a place, with what `pick` takes of it, in the order of the numbers that it gives.
pub fn shown_of<'a, R: 'a, T>(
    declared: impl IntoIterator<Item = &'a Fact<R>>,
    pick: impl Fn(&Shown) -> Option<(u32, T)>,
) -> Vec<(T, &'a Fact<R>)> {
    let mut all = Vec::new();
    for fact in declared {
        let places = fact.shown.iter().filter_map(&pick);
        all.extend(places.map(|(at, place)| (at, (place, fact))));
    }
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, shown)| shown).collect()
}

/// The facts of a row, one or none for the place of each column; `pick` takes the place of a fact in the row.
pub fn in_places<'a, R>(
    declared: &'a [Fact<R>],
    pick: impl Fn(&Shown) -> Option<u32>,
    places: &[u32],
) -> Vec<Option<&'a Fact<R>>> {
    let told = shown_of(declared, |shown| pick(shown).map(|at| (at, at)));
    let fact = |place: &u32| told.iter().find(|(at, _)| at == place).map(|(_, fact)| *fact);
    places.iter().map(fact).collect()
}

/// A part of a result that declares its facts.
pub trait Facts: Sized + 'static {
    /// All of them, those of its parts included, in the order of the fields.
    fn facts() -> Vec<Fact<Self>>;
}

/// A part that is there, or may be.
pub trait Part {
    /// What it is a part with the facts of.
    type Of: Facts;

    /// It, if it is there.
    fn part(&self) -> Option<&Self::Of>;
}

impl<T: Facts> Part for Option<T> {
    type Of = T;

    fn part(&self) -> Option<&T> {
        self.as_ref()
    }
}

/// The facts of a part, shown where it says.
pub(crate) fn tell<Q: 'static, T: Facts>(path: &str, part: fn(&Q) -> Option<&T>) -> Vec<Fact<Q>> {
    T::facts().into_iter().map(|fact| fact.within(path, part)).collect()
}

/// The facts of a part that is shown elsewhere: they are listed only.
pub(crate) fn list<Q: 'static, T: Facts>(path: &str, part: fn(&Q) -> Option<&T>) -> Vec<Fact<Q>> {
    let told = tell(path, part).into_iter();
    told.map(|fact| fact.shown(Vec::new())).collect()
}

/// The facts of each of many alike: they are listed only.
pub(crate) fn each<Q: 'static, T: Facts>(path: &str) -> Vec<Fact<Q>> {
    list(&format!("{path}[]"), |_: &Q| None::<&T>)
}

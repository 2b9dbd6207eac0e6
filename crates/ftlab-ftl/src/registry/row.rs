//! What is to be known of a registered type without making one.

use crate::engine::Engine;
use crate::page::entry::FitContext;
use crate::page::policy::Hints;
use crate::registry::entry::{Entry, Kind};
use ftlab_spec::{Parameter, Spec, SpecError};

/// Names of parameters with their values.
pub(super) type Values = Vec<(&'static str, String)>;

/// A registered type, as constants and functions of it; `M` makes one.
pub(super) struct Row<M = ()> {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) source: &'static str,
    /// The version of its decisions.
    pub(super) decisions: u32,
    /// What carries them out.
    pub(super) engine: Engine,
    /// What it asks for beside a page's address.
    pub(super) hints: Hints,
    pub(super) describe: fn() -> Vec<Parameter>,
    /// The values of its parameters under a spec: as given or by default, or where there is a context, with `auto`
    /// worked out.
    pub(super) values: fn(&Spec, Option<&FitContext>) -> Result<Values, SpecError>,
    pub(super) make: M,
}

impl<M> Row<M> {
    /// As it is listed.
    pub(super) fn entry(&self, kind: Kind) -> Entry {
        Entry {
            kind,
            name: self.name,
            summary: self.summary.to_owned(),
            source: self.source,
            parameters: (self.describe)(),
        }
    }
}

/// The row of that name; `kind` is what rows of the table are called in an error.
pub(super) fn find<M>(
    rows: &'static [Row<M>],
    kind: &'static str,
    name: &str,
) -> Result<&'static Row<M>, SpecError> {
    let unknown = || SpecError::UnknownName {
        kind,
        name: name.into(),
        known: rows.iter().map(|row| row.name.to_owned()).collect(),
    };
    rows.iter().find(|row| row.name == name).ok_or_else(unknown)
}

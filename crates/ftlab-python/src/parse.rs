//! Parses settings, which come from Python as texts by name.

use crate::error::Result;
use ftlab_spec::{SpecError, Value};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

/// Texts by name, removed one by one; the names are arguments of Python functions.
pub(crate) struct Settings(BTreeMap<String, String>);

impl Settings {
    pub(crate) fn new(texts: BTreeMap<String, String>) -> Self {
        Self(texts)
    }

    /// Whether there is a text of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The text of that name, if given.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// A value that can be parsed from text.
    pub(crate) fn parsed<T: FromStr<Err = SpecError>>(&mut self, name: &str) -> Result<Option<T>> {
        self.by(name, str::parse)
    }

    /// A value that `parse` reads.
    pub(crate) fn by<T, E: Display>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> std::result::Result<T, E>,
    ) -> Result<Option<T>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match parse(&text) {
            Ok(parsed) => Ok(Some(parsed)),
            Err(error) => Err(bad(name, &text, &error.to_string()).into()),
        }
    }

    /// A number, a flag or the name of a choice.
    pub(crate) fn value<T: Value>(&mut self, name: &str) -> Result<Option<T>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match T::parse(&text) {
            Some(value) => Ok(Some(value)),
            None => Err(bad(name, &text, &T::expects_for(&text)).into()),
        }
    }

    /// A number above 0.
    pub(crate) fn number(&mut self, name: &str) -> Result<Option<f64>> {
        self.by(name, |text| {
            let number = text.parse().ok().filter(|number: &f64| *number > 0.0);
            number.filter(|number| number.is_finite()).ok_or("a number above 0")
        })
    }

    /// A flag, off by default.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool> {
        Ok(self.value(name)?.unwrap_or_default())
    }
}

/// The error that `text` is not `expects`.
pub(crate) fn bad(name: &str, text: &str, expects: &str) -> SpecError {
    // Types that parse themselves say this already.
    let expects = expects.strip_prefix(&format!("{text:?} is not ")).unwrap_or(expects);
    SpecError::BadValue {
        of: "ftlab".into(),
        key: name.into(),
        value: text.into(),
        expects: expects.into(),
    }
}

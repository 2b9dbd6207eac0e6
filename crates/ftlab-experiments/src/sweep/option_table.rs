//! Declared options in an experiment file, with the places where they stand.

use super::file_error::Wrong;
use super::scalar::Scalar;
use super::variables::Variables;
use ftlab_sim::{DriveOptions, Experiment, OptionOf, Options};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// The options of a `T` that a table gives, in the words of `ftlab run`.
pub struct OptionTable<T: 'static>(Vec<(&'static OptionOf<T>, Scalar)>);

/// What a table describes.
pub trait Described: Options {
    /// Its name in the schema.
    const NAME: &'static str;
    /// What it is, in the words of `ftlab run`.
    const DOC: &'static str;

    /// The options that files have.
    fn in_files() -> impl Iterator<Item = (&'static OptionOf<Self>, &'static str)> {
        Self::options().iter().filter_map(|option| Some((option, option.brief?)))
    }
}

impl Described for DriveOptions {
    const NAME: &'static str = "DriveTable";
    const DOC: &'static str = "A drive, in the words of `ftlab run`.";
}

impl Described for Experiment {
    const NAME: &'static str = "RunTable";
    const DOC: &'static str = "Length, preparation and seed of a run, in the words of `ftlab run`.";
}

impl<T> fmt::Debug for OptionTable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> Clone for OptionTable<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for OptionTable<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Described> OptionTable<T> {
    /// What is given for an option.
    pub(crate) fn get(&self, id: &str) -> Option<&Scalar> {
        self.0.iter().find(|(option, _)| option.id == id).map(|(_, scalar)| scalar)
    }

    /// One that is given and not among the keys `known`.
    pub(crate) fn other_than(&self, known: &[&str]) -> Option<(&str, &Scalar)> {
        let mut given = self.0.iter().map(|(option, scalar)| (option.key.as_str(), scalar));
        given.find(|(key, _)| !known.contains(key))
    }

    /// What a case gives, and what it takes over; an option replaces those that it excludes.
    pub(crate) fn over(&self, common: &Self) -> Self {
        let is_replaced = |option: &OptionOf<T>| {
            self.0.iter().any(|(other, _)| other.id == option.id || other.excludes(option))
        };
        let taken = common.0.iter().filter(|(option, _)| !is_replaced(option));
        Self(self.0.iter().chain(taken).cloned().collect())
    }

    /// `one` as the options that are `wanted` say, their variables filled in; refuses two that exclude each other.
    pub(crate) fn apply(
        &self,
        one: T,
        variables: &Variables,
        wanted: impl Fn(&OptionOf<T>) -> bool,
    ) -> Result<T, Wrong> {
        for (option, scalar) in &self.0 {
            let Some((other, _)) = self.0.iter().find(|(other, _)| option.excludes(other)) else {
                continue;
            };
            // The one that is listed later is instead of the other, or not with it.
            let place = |of: &OptionOf<T>| T::options().iter().position(|it| it.id == of.id);
            if place(option) > place(other) {
                let message =
                    format!("{} and {} are given both; leave one out", other.key, option.key);
                return Err(Wrong::at(scalar.span(), message));
            }
        }
        let text_of = |option: &'static OptionOf<T>| {
            let scalar = self.get(option.id).filter(|_| wanted(option));
            scalar.map(|scalar| scalar.resolve(variables)).transpose()
        };
        one.with_options(text_of, |option, _, message| {
            let message = format!("{} = {message}", option.key);
            match self.get(option.id) {
                Some(scalar) => Wrong::at(scalar.span(), message),
                None => Wrong::anywhere(message),
            }
        })
    }
}

impl<'de, T: Described> Deserialize<'de> for OptionTable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TableVisitor<T>(PhantomData<T>);

        impl<'de, T: Described> Visitor<'de> for TableVisitor<T> {
            type Value = OptionTable<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "struct {}", T::NAME)
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut given = Vec::new();
                while let Some(Key(option)) = map.next_key()? {
                    given.push((option, map.next_value()?));
                }
                Ok(OptionTable(given))
            }
        }

        deserializer.deserialize_map(TableVisitor(PhantomData))
    }
}

/// The name of an option.
struct Key<T: 'static>(&'static OptionOf<T>);

impl<'de, T: Described> Deserialize<'de> for Key<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        if let Some((option, _)) = T::in_files().find(|(option, _)| option.key == key) {
            return Ok(Self(option));
        }
        let known: Vec<_> = T::in_files().map(|(option, _)| format!("`{}`", option.key)).collect();
        let known = known.join(", ");
        Err(D::Error::custom(format!("unknown field `{key}`, expected one of {known}")))
    }
}

impl<T: Described> JsonSchema for OptionTable<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        for (option, brief) in T::in_files() {
            let mut scalar = generator.subschema_for::<Option<Scalar>>();
            scalar.insert("description".to_owned(), brief.into());
            properties.insert(option.key.clone(), scalar.to_value());
        }
        json_schema!({
            "description": T::DOC,
            "type": "object",
            "properties": Value::Object(properties),
            "additionalProperties": false
        })
    }
}

//! The drive of an experiment file: the options of a drive, with the places where they stand.

use super::file_error::Wrong;
use super::scalar::Scalar;
use super::variables::Variables;
use ftlab_sim::{DRIVE_OPTIONS, DriveOptions, OptionOf};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

type DriveOption = OptionOf<DriveOptions>;

/// A drive, in the words of `ftlab run`.
#[derive(Debug, Clone, Default)]
pub struct DriveTable(Vec<(&'static DriveOption, Scalar)>);

/// The names of the options.
static KEYS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| DRIVE_OPTIONS.iter().map(|option| option.key.as_str()).collect());

impl DriveTable {
    fn get(&self, id: &str) -> Option<&Scalar> {
        self.0.iter().find(|(option, _)| option.id == id).map(|(_, scalar)| scalar)
    }

    /// What a case gives, and what it takes over; an option replaces the one instead of which it is.
    pub(crate) fn over(&self, common: &Self) -> Self {
        let is_replaced = |option: &DriveOption| {
            let by = |other: &DriveOption| {
                other.instead_of == Some(option.id) || option.instead_of == Some(other.id)
            };
            self.get(option.id).is_some() || self.0.iter().any(|(other, _)| by(other))
        };
        let taken = common.0.iter().filter(|(option, _)| !is_replaced(option));
        Self(self.0.iter().chain(taken).cloned().collect())
    }

    /// The drive, its variables filled in; refuses two options of which one is instead of the other.
    pub(crate) fn options(&self, variables: &Variables) -> Result<DriveOptions, Wrong> {
        for (option, scalar) in &self.0 {
            let Some(other) = option.instead_of.filter(|other| self.get(other).is_some()) else {
                continue;
            };
            let message = format!(
                "{} and {} are given both; leave one out",
                other.replace('_', "-"),
                option.key
            );
            return Err(Wrong::at(scalar.span(), message));
        }
        let text_of = |option: &'static DriveOption| {
            self.get(option.id).map(|scalar| scalar.resolve(variables)).transpose()
        };
        OptionOf::read(&DRIVE_OPTIONS, text_of, |option, _, message| {
            let message = format!("{} = {message}", option.key);
            match self.get(option.id) {
                Some(scalar) => Wrong::at(scalar.span(), message),
                None => Wrong::anywhere(message),
            }
        })
    }
}

impl<'de> Deserialize<'de> for DriveTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TableVisitor;

        impl<'de> Visitor<'de> for TableVisitor {
            type Value = DriveTable;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("struct DriveTable")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<DriveTable, M::Error> {
                let mut given = Vec::new();
                while let Some(key) = map.next_key::<Key>()? {
                    given.push((key.0, map.next_value()?));
                }
                Ok(DriveTable(given))
            }
        }

        deserializer.deserialize_map(TableVisitor)
    }
}

/// The name of an option.
struct Key(&'static DriveOption);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        let found = DRIVE_OPTIONS.iter().find(|option| option.key == key);
        found.map(Self).ok_or_else(|| D::Error::unknown_field(&key, &KEYS))
    }
}

impl JsonSchema for DriveTable {
    fn schema_name() -> Cow<'static, str> {
        "DriveTable".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        for option in DRIVE_OPTIONS.iter() {
            let mut scalar = generator.subschema_for::<Option<Scalar>>();
            scalar.insert("description".to_owned(), option.brief.into());
            properties.insert(option.key.clone(), scalar.to_value());
        }
        json_schema!({
            "description": "A drive, in the words of `ftlab run`.",
            "type": "object",
            "properties": Value::Object(properties),
            "additionalProperties": false
        })
    }
}

//! Values of an experiment file, with the place where they stand.

use super::file_error::{Span, Wrong};
use super::variables::Variables;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use toml::Spanned;

/// A text, number or boolean as text; `{name}` in it stands for a variable of the grid.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scalar {
    text: String,
    span: Span,
}

impl Scalar {
    /// As it is in the file, variables and all.
    pub fn as_written(&self) -> &str {
        &self.text
    }

    pub(crate) fn new(text: String, span: Span) -> Self {
        Self { text, span }
    }

    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    /// The text with what the variables stand for.
    pub(crate) fn resolve(&self, variables: &Variables) -> Result<String, Wrong> {
        variables.fill_in(&self.text).map_err(|message| Wrong::at(self.span(), message))
    }

    /// A value of `key` that `parse` makes of the resolved text.
    pub(crate) fn parse<T>(
        &self,
        key: &str,
        variables: &Variables,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, Wrong> {
        let text = self.resolve(variables)?;
        parse(&text).map_err(|message| Wrong::at(self.span(), format!("{key} = {message}")))
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Plain>::deserialize(deserializer)?;
        let span = spanned.span();
        Ok(Self::new(spanned.into_inner().0, span))
    }
}

impl JsonSchema for Scalar {
    fn schema_name() -> Cow<'static, str> {
        "Scalar".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A value; {name} in a text stands for a variable of the grid, {a + b} for a sum.",
            "type": ["string", "number", "boolean"]
        })
    }
}

/// A text, number or boolean as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plain(pub(crate) String);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlainVisitor)
    }
}

struct PlainVisitor;

impl Visitor<'_> for PlainVisitor {
    type Value = Plain;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, true or false")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Plain, E> {
        Ok(Plain(if value { "on" } else { "off" }.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Plain, E> {
        Ok(Plain(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Plain, E> {
        Ok(Plain(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Plain, E> {
        Ok(Plain(value.to_string()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Plain, E> {
        Ok(Plain(value.to_owned()))
    }
}

/// A value, or several of which any will do; an empty text stands for an axis that a point is not on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    values: Vec<String>,
    span: Span,
}

impl Choice {
    /// One value, from nowhere in a file.
    pub(crate) fn of(value: &str) -> Self {
        Self { values: vec![value.to_owned()], span: Span::default() }
    }

    /// Whether a label, or its absence, is among the values.
    pub(crate) fn has(&self, label: Option<&str>) -> bool {
        self.values.iter().any(|value| value == label.unwrap_or_default())
    }

    /// Whether it leaves no choice.
    pub(crate) fn is_single(&self) -> bool {
        self.values.len() == 1
    }

    /// The first value, which stands for the others where there can be only one.
    pub(crate) fn first(&self) -> &str {
        self.values.first().map_or("", String::as_str)
    }

    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }
}

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let choice = Spanned::<Values>::deserialize(deserializer)?;
        Ok(Self { span: choice.span(), values: choice.into_inner().0 })
    }
}

impl JsonSchema for Choice {
    fn schema_name() -> Cow<'static, str> {
        "Choice".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = json_schema!({ "type": ["string", "number", "boolean"] });
        json_schema!({
            "description": "A value, or several of which any will do; \"\" stands for an axis that a point is not on.",
            "anyOf": [one, { "type": "array", "items": one }]
        })
    }
}

/// One value or a list of them.
struct Values(Vec<String>);

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValuesVisitor;

        impl<'de> Visitor<'de> for ValuesVisitor {
            type Value = Values;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, or a list of values")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Values, A::Error> {
                let mut values = Vec::new();
                while let Some(Plain(value)) = list.next_element()? {
                    values.push(value);
                }
                Ok(Values(values))
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Values, E> {
                PlainVisitor.visit_bool(value).map(Values::one)
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Values, E> {
                PlainVisitor.visit_i64(value).map(Values::one)
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Values, E> {
                PlainVisitor.visit_f64(value).map(Values::one)
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Values, E> {
                PlainVisitor.visit_str(value).map(Values::one)
            }
        }

        deserializer.deserialize_any(ValuesVisitor)
    }
}

impl Values {
    fn one(Plain(value): Plain) -> Self {
        Self(vec![value])
    }
}

/// Pairs of a key and a value in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairs<V>(pub(crate) Vec<(String, V)>);

impl<V> Default for Pairs<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Pairs<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor<V>(std::marker::PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for PairsVisitor<V> {
            type Value = Pairs<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Pairs<V>, M::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(PairsVisitor(std::marker::PhantomData))
    }
}

impl<V: JsonSchema> JsonSchema for Pairs<V> {
    fn schema_name() -> Cow<'static, str> {
        format!("TableOf{}", V::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<V>();
        json_schema!({ "type": "object", "additionalProperties": value })
    }
}

/// A value of the grid: one, or a row of several that change together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisValue {
    /// How it is called in results: the value, or the field `name` of a row.
    pub(crate) label: String,
    /// The fields of a row; none of a plain value.
    pub(crate) fields: Vec<(String, String)>,
}

impl AxisValue {
    fn plain(Plain(label): Plain) -> Self {
        Self { label, fields: Vec::new() }
    }
}

impl<'de> Deserialize<'de> for AxisValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AxisVisitor;

        impl<'de> Visitor<'de> for AxisVisitor {
            type Value = AxisValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, or a table such as { name = \"small\", pages = 1024 }")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<AxisValue, M::Error> {
                let mut fields = Vec::new();
                while let Some((key, Plain(value))) = map.next_entry::<String, Plain>()? {
                    fields.push((key, value));
                }
                let name = fields.iter().find(|(key, _)| key == "name");
                let Some(label) = name.map(|(_, value)| value.clone()) else {
                    return Err(M::Error::custom(
                        "a row of the grid needs a name, as in { name = \"small\", pages = 1024 }",
                    ));
                };
                Ok(AxisValue { label, fields })
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<AxisValue, E> {
                PlainVisitor.visit_bool(value).map(AxisValue::plain)
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<AxisValue, E> {
                PlainVisitor.visit_i64(value).map(AxisValue::plain)
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<AxisValue, E> {
                PlainVisitor.visit_u64(value).map(AxisValue::plain)
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<AxisValue, E> {
                PlainVisitor.visit_f64(value).map(AxisValue::plain)
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<AxisValue, E> {
                PlainVisitor.visit_str(value).map(AxisValue::plain)
            }
        }

        deserializer.deserialize_any(AxisVisitor)
    }
}

impl JsonSchema for AxisValue {
    fn schema_name() -> Cow<'static, str> {
        "AxisValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A value of a grid; or a row of values that change together, with a name.",
            "type": ["string", "number", "boolean", "object"],
            "required": ["name"],
            "additionalProperties": { "type": ["string", "number", "boolean"] }
        })
    }
}

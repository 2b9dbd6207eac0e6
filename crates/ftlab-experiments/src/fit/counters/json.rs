//! JSON, as nvme-cli, smartctl and SPDK print it: in one line or in many, one value after another.

use super::asked::Counters;
use super::ata::{self, Attribute};
use super::catalogue::{Entry, Form, HIGH, Meaning, Section, Unit, entry, half};
use super::drives::{DriveName, named};
use super::number::only;
use super::samples::Samples;
use super::units::{LARGE, as_named, in_brackets};
use serde_json::{Deserializer, Map, Value};

/// A value that begins on a line, and how many bytes of the text it takes, from the start of the line on. An error says
/// what is wrong with it. None if the line begins none.
pub(super) fn starting(text: &str) -> Option<Result<(Value, usize), String>> {
    let line = text.lines().next().unwrap_or_default();
    let trimmed = line.trim_start();
    let is_alone =
        trimmed.starts_with('{') || trimmed.starts_with("[{") || trimmed.trim_end() == "[";
    let start = if is_alone { line.len() - trimmed.len() } else { line.find("{\"")? };
    let mut values = Deserializer::from_str(&text[start..]).into_iter::<Value>();
    match values.next()? {
        Ok(value) => Some(Ok((value, start + values.byte_offset()))),
        Err(error) if error.is_eof() && is_alone => Some(Err(
            "begins JSON that ends before it is closed; remove it, or log it again".into(),
        )),
        Err(error) if is_alone => Some(Err(format!("begins JSON that cannot be read: {error}"))),
        Err(_) => None,
    }
}

/// Takes the counters of a value.
pub(super) fn tell(
    value: &Value,
    samples: &mut Samples,
    counters: &Counters,
) -> Result<(), String> {
    Told { samples, counters, sector: sector(value) }.value(value, Section::Other)
}

/// Bytes of a logical block, as smartctl tells them.
fn sector(value: &Value) -> f64 {
    value.get("logical_block_size").and_then(Value::as_f64).unwrap_or(ata::SECTOR)
}

/// Fields that name a device.
const DEVICES: [&str; 9] =
    ["name", "device", "devicename", "devicepath", "devicenode", "path", "node", "drive", "disk"];

struct Told<'a> {
    samples: &'a mut Samples,
    counters: &'a Counters,
    sector: f64,
}

impl Told<'_> {
    fn value(&mut self, value: &Value, section: Section) -> Result<(), String> {
        match value {
            Value::Array(values) => values.iter().try_for_each(|value| self.value(value, section)),
            Value::Object(fields) => self.object(fields, section),
            _ => Ok(()),
        }
    }

    fn object(&mut self, fields: &Map<String, Value>, section: Section) -> Result<(), String> {
        let is_endurance = fields.contains_key("media_units_written");
        let section = if is_endurance { Section::Endurance } else { section };
        if self.attribute(fields) || self.statistic(fields) {
            return Ok(());
        }
        if let (Some(Value::String(name)), Some(value)) =
            (fields.get("attribute_name"), fields.get("attribute_value"))
        {
            return self.field(name, value, section);
        }
        let of_device = fields.get("device").and_then(Value::as_object).into_iter().flatten();
        fields.iter().chain(of_device).for_each(|(key, value)| self.drive(key, value));
        fields.iter().try_for_each(|(key, value)| self.field(key, value, section))
    }

    /// An attribute of a SATA drive, in smartctl's table.
    fn attribute(&mut self, fields: &Map<String, Value>) -> bool {
        let id = fields.get("id").and_then(Value::as_u64).and_then(|id| u8::try_from(id).ok());
        let name = fields.get("name").and_then(Value::as_str);
        let raw = fields.get("raw").and_then(|raw| raw.get("value")).and_then(Value::as_u64);
        let (Some(id), Some(name), Some(raw)) = (id, name, raw) else { return false };
        let text = raw.to_string();
        let attribute = Attribute { id, name, raw: &text };
        if attribute.is_counter(self.counters) {
            let meanings = ata::meanings(name);
            self.samples.tell(name, Some(id), &meanings, raw as f64, self.counters);
        } else if attribute.is_unnamed() {
            self.samples.unnamed.insert(id);
        }
        true
    }

    /// A statistic of a SATA drive.
    fn statistic(&mut self, fields: &Map<String, Value>) -> bool {
        let name = fields.get("name").and_then(Value::as_str);
        let value = fields.get("value").and_then(Value::as_f64);
        let (Some(name @ "Logical Sectors Written"), Some(value)) = (name, value) else {
            return false;
        };
        let meaning = ata::meaning_of_statistic(self.sector);
        self.samples.tell(name, None, &[meaning], value, self.counters);
        true
    }

    fn drive(&mut self, key: &str, value: &Value) {
        if key.eq_ignore_ascii_case("endgid") {
            self.samples.of_drives([DriveName::group(value.to_string().trim_matches('"'))]);
        }
        let Value::String(text) = value else { return };
        let key = key.to_ascii_lowercase().replace(['_', ' '], "");
        if matches!(key.as_str(), "serialnumber" | "serial" | "sn") {
            self.samples.of_drives(DriveName::serial(text));
        } else if DEVICES.contains(&key.as_str()) || key.ends_with("smartlog") {
            self.samples.of_drives(named(text));
        }
    }

    fn field(&mut self, name: &str, value: &Value, section: Section) -> Result<(), String> {
        if value.is_object() || value.is_array() {
            self.samples.of_drives(DriveName::key(name));
        }
        let entry = entry(name);
        let is_asked = self.counters.plain_names().any(|own| own == super::words::plain(name));
        let is_bare = entry.is_none() && value.is_number();
        let own = if is_bare { own(name) } else { Vec::new() };
        if entry.is_none() && !is_asked && own.is_empty() {
            if is_bare {
                self.samples.sounds_alike(name);
            }
            return self.value(value, section);
        }
        let Some(number) = number(value) else {
            let remedy = if value.is_f64() {
                "; it is rounded, log all its digits without exponent"
            } else {
                ""
            };
            return Err(format!("{name} has no whole number: {value}{remedy}"));
        };
        let meanings: Vec<Meaning> = match entry {
            Some(entry) => vec![as_named(name, meaning(entry, value, section))],
            None => own,
        };
        let is_large =
            |meaning: &Meaning| matches!(meaning.unit, Unit::Bytes(bytes) if bytes >= LARGE);
        if in_brackets(name).is_some() && meanings.iter().any(is_large) && is_doubtful(value) {
            return Err(format!(
                "{name} is {value}, which may be thousands or a fraction; write it in bytes, or without a mark"
            ));
        }
        self.samples.tell(name, None, &meanings, number, self.counters);
        Ok(())
    }
}

/// What a field means that is half of a counter, or that a user's own program wrote, such as `host_bytes`.
fn own(name: &str) -> Vec<Meaning> {
    if let Some(half) = half(name) {
        return vec![half];
    }
    if super::words::words(name).len() != 2 {
        return Vec::new();
    }
    let meanings = ata::meanings(name).into_iter();
    let known = meanings.filter(|meaning| matches!(meaning.unit, Unit::Bytes(_)));
    known.map(|meaning| Meaning { tool: "JSON".into(), ..meaning }).collect()
}

/// What a field means: beside a normalised value it is of the vendor log.
fn meaning(entry: &Entry, value: &Value, section: Section) -> Meaning {
    let is_raw = value.get("raw").is_some();
    if is_raw || entry.form != Form::Normalized {
        entry.meaning(section)
    } else {
        entry.alone(section)
    }
}

/// A number: alone, as text, as halves, or beside a normalised value.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => {
            number.as_f64().filter(|value| !number.is_f64() || !is_rounded(*value))
        }
        Value::String(text) => {
            only(text).filter(|number| number.is_whole).map(|number| number.value)
        }
        Value::Array(halves) => match halves.as_slice() {
            [low, high] => Some(low.as_u64()? as f64 + high.as_u64()? as f64 * HIGH),
            _ => None,
        },
        Value::Object(fields) => {
            let half = |names: [&str; 2]| names.into_iter().find_map(|name| fields.get(name));
            if let Some(low) = half(["lo", "low"]) {
                let high = half(["hi", "high"]).map_or(Some(0.0), number)?;
                return Some(number(low)? + high * HIGH);
            }
            number(half(["raw", "value"])?)
        }
        Value::Null | Value::Bool(_) => None,
    }
}

/// Whether a text has a mark that may be of thousands or of a fraction.
fn is_doubtful(value: &Value) -> bool {
    let number = value.as_str().and_then(only);
    number.is_some_and(|number| number.doubtful_mark().is_some())
}

/// Whether a number with a point or an exponent has so few digits that others were left out, such as `1.0426e14`.
fn is_rounded(value: f64) -> bool {
    const FEW: usize = 7;
    let shown = format!("{value:e}");
    let digits = shown.split('e').next().unwrap_or_default();
    value > 1e9 && digits.chars().filter(char::is_ascii_digit).count() <= FEW
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_shape_of_a_number_is_read() {
        for value in [
            json!(5),
            json!("5"),
            json!("0x5"),
            json!({"hi": 0, "lo": 5}),
            json!({"normalized": 100, "raw": 5}),
            json!({"value": 5, "string": "5"}),
            json!([5, 0]),
        ] {
            assert_eq!(number(&value), Some(5.0), "{value}");
        }
        assert_eq!(number(&json!({"hi": 1, "lo": 0})), Some(HIGH));
        for value in [json!("1.5 TB"), json!(null), json!({}), json!([1]), json!(1.0426e14)] {
            assert_eq!(number(&value), None, "{value}");
        }
    }

    #[test]
    fn a_value_may_take_many_lines_and_stand_after_a_time() {
        let of = |text: &str| starting(text).map(|found| found.map(|(_, length)| length));
        assert_eq!(of("{\n \"a\": 1\n}\nrest"), Some(Ok(11)));
        assert_eq!(of("21:00 {\"a\":1} rest"), Some(Ok(13)));
        assert_eq!(of("[ok] {x}"), None);
        assert!(of("{\n \"a\": 1").unwrap().unwrap_err().contains("ends before it is closed"));
        assert!(of("{ a }").unwrap().unwrap_err().contains("cannot be read"));
    }
}

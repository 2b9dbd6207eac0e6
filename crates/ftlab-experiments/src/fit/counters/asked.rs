//! Counters that the user names, for those that no table has.

use super::catalogue::{Entry, Side, Unit};
use super::words::plain;
use ftlab_spec::ByteSize;
use std::borrow::Cow;
use std::str::FromStr;

/// A counter as the user names it: `NAME` or `NAME=SIZE`.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterName {
    name: String,
    plain: String,
    unit: Option<f64>,
}

impl FromStr for CounterName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, unit) = match text.rsplit_once('=') {
            None => (text, None),
            Some((name, size)) => {
                let size: ByteSize = size.trim().parse().map_err(|error| format!("{error}"))?;
                if size.0 == 0 {
                    return Err("a counter cannot count units of 0 bytes; give 1 or more".into());
                }
                (name, Some(size.0 as f64))
            }
        };
        let plain = plain(name);
        if plain.is_empty() {
            return Err(format!("{text:?} has no name; give NAME=SIZE such as NAND_Writes=32MiB"));
        }
        Ok(Self { name: name.trim().to_owned(), plain, unit })
    }
}

impl CounterName {
    /// The unit, if the user gave one.
    pub(super) fn unit(&self) -> Option<Unit> {
        self.unit.map(Unit::Bytes)
    }
}

/// Which counters to read, if not those that are known. Several on a side are parts of one sum.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counters {
    /// Those of the host.
    pub host: Vec<CounterName>,
    /// Those of the medium.
    pub media: Vec<CounterName>,
    /// Bytes a second of sequential writes, if media bytes are to be told by the pace of the host's.
    pub sequential: Option<u64>,
}

/// The column that tells the pace.
const SECONDS: &str = "seconds";

impl Counters {
    /// These, with the counter that tells the pace for that of the medium, if it is to.
    pub(super) fn by_pace(&self) -> Cow<'_, Self> {
        let Some(rate) = self.sequential else { return Cow::Borrowed(self) };
        let (name, plain) = (SECONDS.to_owned(), SECONDS.to_owned());
        let seconds = CounterName { name, plain, unit: Some(rate as f64) };
        Cow::Owned(Self { media: vec![seconds], ..self.clone() })
    }

    fn of(&self, side: Side) -> &[CounterName] {
        match side {
            Side::Host => &self.host,
            Side::Media => &self.media,
        }
    }

    fn all(&self) -> impl Iterator<Item = &CounterName> {
        self.host.iter().chain(&self.media)
    }

    /// Their names in plain words.
    pub(super) fn plain_names(&self) -> impl Iterator<Item = &str> {
        self.all().map(|counter| counter.plain.as_str())
    }

    /// How the user wrote the names of a side; none if it is free.
    pub(super) fn names(&self, side: Side) -> Vec<&str> {
        self.of(side).iter().map(|counter| counter.name.as_str()).collect()
    }

    /// What the user said of a counter for this side.
    pub(super) fn named(&self, side: Side, name: &str, id: Option<u8>) -> Option<&CounterName> {
        let (name, id) = (plain(name), id.map(|id| id.to_string()));
        let is = |counter: &&CounterName| {
            counter.plain == name || id.as_ref().is_some_and(|id| *id == counter.plain)
        };
        self.of(side).iter().find(is)
    }

    /// Whether the user said of how many bytes the units of this counter are.
    pub(super) fn says_unit(&self, name: &str) -> bool {
        let sides = [Side::Host, Side::Media];
        sides
            .into_iter()
            .filter_map(|side| self.named(side, name, None))
            .any(|named| named.unit().is_some())
    }

    /// The remedy if the number of a counter cannot be read as the tool counts.
    pub(super) fn how_to_say(&self, name: &str, entry: Option<&Entry>) -> String {
        let Some(entry) = entry.filter(|_| !self.says_unit(name)) else { return String::new() };
        let option = option(entry.meaning(super::catalogue::Section::Other).side);
        format!("; or, if its unit is another one, say it, such as {option} \"{name}=1GB\"")
    }
}

/// The option that names a counter of a side.
pub(super) fn option(side: Side) -> &'static str {
    match side {
        Side::Host => "--host-counter",
        Side::Media => "--media-counter",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_say_its_unit() {
        let counter = |text: &str| text.parse::<CounterName>();
        assert_eq!(counter("NAND_Writes=32MiB").unwrap().unit, Some(33_554_432.0));
        assert_eq!(counter("243").unwrap().unit, None);
        for text in ["=1", "", "a=0", "a=x"] {
            assert!(counter(text).is_err(), "{text}");
        }
        let media = vec![counter("Total_NAND_Written=1GiB").unwrap(), counter("250").unwrap()];
        let counters = Counters { media, ..Counters::default() };
        let named = |name, id| counters.named(Side::Media, name, id).map(CounterName::unit);
        assert_eq!(named("total nand written", None), Some(Some(Unit::Bytes(1_073_741_824.0))));
        assert_eq!(named("Unknown_Attribute", Some(250)), Some(None));
        assert_eq!(named("Unknown_Attribute", Some(251)), None);
        assert_eq!(counters.named(Side::Host, "total nand written", None), None);
    }
}

//! What the columns of a CSV file mean.

use crate::Op;
use ftlab_spec::Value;
use std::fmt;

/// A map of columns, such as `ts:us=5,op=2,off:bytes=3,len:bytes=4`; see
/// [the module](super) for the language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnMap {
    text: String,
    pub(super) time: Option<(ColumnName, TimeUnit)>,
    pub(super) op: Option<ColumnName>,
    pub(super) offset: Option<(ColumnName, LengthUnit)>,
    pub(super) length: Option<(ColumnName, LengthUnit)>,
    pub(super) stream: Option<ColumnName>,
    pub(super) volume: Option<VolumeColumns>,
    /// Words of the operation column, besides the usual ones.
    pub(super) words: Vec<(Vec<u8>, Meaning)>,
    /// What every other word means.
    pub(super) any_word: Option<Meaning>,
}

/// A column by number from 1 or by its name in the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ColumnName {
    Number(usize),
    Header(String),
}

/// What a word of the operation column means; `None` passes the line over.
pub(super) type Meaning = Option<Op>;

/// Where the volume of a request is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum VolumeColumns {
    /// A column with its number.
    Number(ColumnName),
    /// A column with its name, or two with its parts.
    Name(ColumnName, Option<ColumnName>),
}

ftlab_spec::choices! {
    /// What a table counts time in.
    pub enum TimeUnit {
        /// Seconds.
        Seconds = "s",
        /// Milliseconds.
        Milliseconds = "ms",
        /// Microseconds.
        Microseconds = "us",
        /// Tenths of a microsecond.
        HundredNanoseconds = "100ns",
        /// Nanoseconds.
        Nanoseconds = "ns",
    }
}

ftlab_spec::choices! {
    /// Unit of offsets and lengths.
    pub enum LengthUnit {
        /// Bytes.
        Bytes = "bytes",
        /// 512 bytes.
        Sectors = "sectors",
        /// Pages of the drive.
        Pages = "pages",
        /// 1024 bytes.
        KiB = "KiB",
    }
}

impl LengthUnit {
    /// Bytes per unit.
    pub(crate) fn bytes(self, page_bytes: u64) -> u64 {
        match self {
            Self::Bytes => 1,
            Self::Sectors => 512,
            Self::KiB => 1024,
            Self::Pages => page_bytes,
        }
    }
}

impl Value for ColumnMap {
    fn expects() -> String {
        "a map such as \"ts:us=5,op=2,off:bytes=3,len:bytes=4\": FIELD:UNIT=COLUMN with FIELD ts \
         (s ms us ns 100ns), off and len (bytes sectors pages KiB), op, stream, volume; COLUMN a \
         number from 1 or a name of the header; off is required; volume:name=2+3 for volumes that \
         have names; op:WORD=W|R|T|F|skip gives words a meaning, op:*=W all others"
            .into()
    }

    fn parse(text: &str) -> Option<Self> {
        let mut map = Self {
            text: text.into(),
            time: None,
            op: None,
            offset: None,
            length: None,
            stream: None,
            volume: None,
            words: Vec::new(),
            any_word: None,
        };
        for entry in text.split([',', ';']).filter(|entry| !entry.trim().is_empty()) {
            let (key, value) = entry.split_once('=')?;
            map.add(key.trim(), value.trim())?;
        }
        // Without operations, and without leave to take every line for a write, there is no trace.
        let has_operations = map.op.is_some() || map.any_word.is_some();
        (map.offset.is_some() && has_operations).then_some(map)
    }
}

impl fmt::Display for ColumnMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Default for ColumnMap {
    /// No map, which opening a file refuses unless the file has our own header.
    fn default() -> Self {
        Self {
            text: String::new(),
            time: None,
            op: None,
            offset: None,
            length: None,
            stream: None,
            volume: None,
            words: Vec::new(),
            any_word: None,
        }
    }
}

impl ColumnMap {
    /// Adds one entry; `None` where it is wrong or repeated.
    fn add(&mut self, key: &str, value: &str) -> Option<()> {
        let (field, unit) = match key.split_once(':') {
            Some((field, unit)) => (field, Some(unit)),
            None => (key, None),
        };
        match (field, unit) {
            ("op", Some(word)) => self.add_word(word, meaning(value)?),
            ("op", None) => set(&mut self.op, column(value)?),
            ("ts", unit) => {
                let unit = TimeUnit::parse(unit.unwrap_or("us"))?;
                set(&mut self.time, (column(value)?, unit))
            }
            ("off" | "len", unit) => {
                let place = if field == "off" { &mut self.offset } else { &mut self.length };
                let unit = LengthUnit::parse(unit.unwrap_or("bytes"))?;
                set(place, (column(value)?, unit))
            }
            ("stream", None) => set(&mut self.stream, column(value)?),
            ("volume", None) => set(&mut self.volume, VolumeColumns::Number(column(value)?)),
            ("volume", Some("name")) => set(&mut self.volume, volume_name(value)?),
            _ => None,
        }
    }

    fn add_word(&mut self, word: &str, meaning: Meaning) -> Option<()> {
        if word == "*" {
            return set(&mut self.any_word, meaning);
        }
        let word = word.as_bytes().to_vec();
        if self.words.iter().any(|(known, _)| *known == word) {
            return None;
        }
        self.words.push((word, meaning));
        Some(())
    }

    /// What `word` of the operation column means; `None` where that is not known.
    #[inline]
    pub(super) fn meaning(&self, word: &[u8]) -> Option<Meaning> {
        if let Some((_, meaning)) = self.words.iter().find(|(known, _)| known == word) {
            return Some(*meaning);
        }
        usual_word(word).map(Some).or(self.any_word)
    }

    /// Every column that the map names.
    pub(super) fn columns(&self) -> impl Iterator<Item = &ColumnName> {
        [
            self.time.as_ref().map(|(column, _)| column),
            self.offset.as_ref().map(|(column, _)| column),
            self.length.as_ref().map(|(column, _)| column),
            self.op.as_ref(),
            self.stream.as_ref(),
        ]
        .into_iter()
        .chain(self.volume_columns())
        .flatten()
    }

    /// Whether it names columns of a header.
    pub(super) fn has_names(&self) -> bool {
        self.columns().any(|column| matches!(column, ColumnName::Header(_)))
    }

    pub(super) fn volume_columns(&self) -> [Option<&ColumnName>; 2] {
        match &self.volume {
            None => [None, None],
            Some(VolumeColumns::Number(column)) => [Some(column), None],
            Some(VolumeColumns::Name(column, second)) => [Some(column), second.as_ref()],
        }
    }
}

fn set<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.is_none().then(|| *place = Some(value))
}

fn column(text: &str) -> Option<ColumnName> {
    match text.parse::<usize>() {
        Ok(0) => None,
        Ok(number) => Some(ColumnName::Number(number)),
        Err(_) if text.is_empty() => None,
        Err(_) => Some(ColumnName::Header(text.into())),
    }
}

/// One column or two, as in `2+3`.
fn volume_name(text: &str) -> Option<VolumeColumns> {
    Some(match text.split_once('+') {
        Some((first, second)) => VolumeColumns::Name(column(first)?, Some(column(second)?)),
        None => VolumeColumns::Name(column(text)?, None),
    })
}

fn meaning(text: &str) -> Option<Meaning> {
    if text == "skip" { Some(None) } else { usual_word(text.as_bytes()).map(Some) }
}

/// Words that mean the same everywhere. The numbers 0 and 1 do not: formats differ on them.
#[inline]
pub(super) fn usual_word(word: &[u8]) -> Option<Op> {
    const WORDS: &[(&str, Op)] = &[
        ("w", Op::Write),
        ("write", Op::Write),
        ("r", Op::Read),
        ("read", Op::Read),
        ("t", Op::Trim),
        ("d", Op::Trim),
        ("trim", Op::Trim),
        ("discard", Op::Trim),
        ("unmap", Op::Trim),
        ("f", Op::Flush),
        ("flush", Op::Flush),
        ("sync", Op::Flush),
    ];
    WORDS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known.as_bytes())).map(|(_, op)| *op)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_says_what_columns_mean() {
        let map = ColumnMap::parse("ts:us=5,op=2;off:KiB=Offset,len=4,op:0=W,op:=skip").unwrap();
        assert_eq!(map.time, Some((ColumnName::Number(5), TimeUnit::Microseconds)));
        let offset = (ColumnName::Header("Offset".into()), LengthUnit::KiB);
        assert_eq!(map.offset, Some(offset));
        assert_eq!(map.length, Some((ColumnName::Number(4), LengthUnit::Bytes)));
        assert_eq!(map.columns().count(), 4);
        assert_eq!(map.meaning(b"0"), Some(Some(Op::Write)));
        assert_eq!(map.meaning(b"WRITE"), Some(Some(Op::Write)));
        assert_eq!(map.meaning(b""), Some(None));
        assert_eq!(map.meaning(b"1"), None);
        assert_eq!(map.to_string(), "ts:us=5,op=2;off:KiB=Offset,len=4,op:0=W,op:=skip");
    }

    #[test]
    fn every_word_can_be_a_write() {
        let map = ColumnMap::parse("off=1,op:*=W,op:1=R").unwrap();
        assert_eq!(map.meaning(b"anything"), Some(Some(Op::Write)));
        assert_eq!(map.meaning(b"1"), Some(Some(Op::Read)));
        assert_eq!(map.any_word, Some(Some(Op::Write)));
    }

    #[test]
    fn wrong_maps_are_refused() {
        for text in [
            "",
            "op=1",
            "off=1",
            "off=0,op=1",
            "off=1,op=2,off=3",
            "off:blocks=1,op=2",
            "ts:h=3,off=1,op=2",
            "off=1,op=2,op:0=X",
            "off=1,op=2,op:0=W,op:0=R",
            "size=1,off=1,op=2",
            "off,op=2",
            "off=,op=2",
            "off=1,op=2,volume:name=3+",
            "off=1,op=2,volume:x=3",
        ] {
            assert_eq!(ColumnMap::parse(text), None, "{text}");
        }
    }
}

//! Maps by name.

use crate::map::contract::Map;
use crate::map::dftl::{Dftl, DftlParameters};
use crate::page::DriveConfig;
use ftlab_spec::{ByteSize, Parameters, Spec, SpecError};
use std::fmt;
use std::str::FromStr;

/// Bytes of an entry in a translation page: the number of a flash page.
const ENTRY_BYTES: u32 = 4;

/// Where an FTL keeps which page of the host lies where.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Mapping {
    /// In memory, as a whole.
    #[default]
    Full,
    /// On flash, with a cache of single entries.
    Dftl(DftlParameters),
}

impl Mapping {
    /// All names.
    const NAMES: [&str; 2] = ["full", "dftl"];

    /// Whether all of it is in memory.
    pub fn is_full(&self) -> bool {
        *self == Self::Full
    }

    /// Itself without parameters that are as they are by default.
    pub fn name(&self) -> String {
        match self {
            Self::Full => "full".into(),
            Self::Dftl(dftl) => {
                let usual = DftlParameters::default().values();
                let own = dftl.values().into_iter().filter(|value| !usual.contains(value));
                text_of("dftl", own)
            }
        }
    }

    /// Entries that a translation page of this many bytes holds.
    pub fn entries_per_page(page_bytes: u32) -> u32 {
        page_bytes / ENTRY_BYTES
    }

    /// Translation pages of a drive with so many logical pages.
    pub fn map_pages(&self, logical_pages: u32, page_bytes: u32) -> u32 {
        match self {
            Self::Full => 0,
            Self::Dftl(_) => logical_pages.div_ceil(Self::entries_per_page(page_bytes)),
        }
    }

    /// Bytes of memory that it is said to take, the directory of translation pages not included.
    pub fn cache_bytes(&self) -> u64 {
        match self {
            Self::Full => 0,
            Self::Dftl(dftl) => dftl.cache.0,
        }
    }

    /// The same with another size of the cache, which follows from the present one.
    #[must_use]
    pub fn scaled(self, size: impl Fn(u64) -> u64) -> Self {
        match self {
            Self::Full => self,
            Self::Dftl(dftl) => {
                let cache = ByteSize(size(dftl.cache.0));
                Self::Dftl(DftlParameters { cache, ..dftl })
            }
        }
    }

    /// Bytes of memory that simulating it takes at most, beside the tables of the drive.
    pub fn memory_bytes(&self, logical_pages: u32, page_bytes: u32, blocks: u32) -> u64 {
        let Self::Dftl(dftl) = self else { return 0 };
        let entries = u64::from(dftl.entries().min(logical_pages));
        let pages = u64::from(self.map_pages(logical_pages, page_bytes));
        4 * u64::from(logical_pages) + 32 * entries + 16 * pages + 128 * u64::from(blocks)
    }

    /// Refuses a cache that does not hold what a translation page of this many bytes does.
    pub fn verify(&self, page_bytes: u32) -> Result<(), SpecError> {
        let Self::Dftl(dftl) = self else { return Ok(()) };
        if dftl.cache.0 >= u64::from(page_bytes) {
            return Ok(());
        }
        Err(refuse(
            &dftl.cache.to_string(),
            format!("a size of at least one translation page, {page_bytes} bytes; give cache=2MiB"),
        ))
    }

    /// The map of a drive; none if it is in memory as a whole.
    pub(crate) fn make(&self, config: &DriveConfig) -> Option<Box<dyn Map>> {
        let entries = Self::entries_per_page(config.geometry.page_bytes());
        match self {
            Self::Full => None,
            Self::Dftl(dftl) => Some(Box::new(Dftl::new(dftl, config.logical_pages, entries))),
        }
    }
}

fn text_of(name: &str, values: impl Iterator<Item = (&'static str, String)>) -> String {
    let arguments = values.map(|(key, value)| (key.to_owned(), value)).collect();
    Spec { name: name.to_owned(), arguments }.to_string()
}

fn refuse(value: &str, expects: String) -> SpecError {
    SpecError::BadValue { of: "dftl".into(), key: "cache".into(), value: value.into(), expects }
}

impl FromStr for Mapping {
    type Err = SpecError;

    /// Reads `full`, or `dftl:cache=2MiB`.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        let spec = text.parse::<Spec>()?;
        match spec.name.as_str() {
            "full" => ftlab_spec::NoParameters::from_spec(&spec).map(|_| Self::Full),
            "dftl" => {
                let dftl = DftlParameters::from_spec(&spec)?;
                if dftl.cache.0 == 0 {
                    let given = spec.get("cache").unwrap_or_default();
                    return Err(refuse(given, "a size above 0; give cache=2MiB".into()));
                }
                Ok(Self::Dftl(dftl))
            }
            _ => Err(SpecError::UnknownName {
                kind: "mapping",
                name: spec.name,
                known: Self::NAMES.map(str::to_owned).to_vec(),
            }),
        }
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Dftl(dftl) = self else { return f.write_str("full") };
        f.write_str(&text_of("dftl", dftl.values().into_iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_read_as_it_is_written() {
        for text in ["full", "dftl:cache=2MiB", "dftl:cache=4KiB,entry-bytes=6,protected=0"] {
            let mapping: Mapping = text.parse().unwrap();
            assert_eq!(mapping.to_string().parse::<Mapping>().unwrap(), mapping, "{text}");
        }
        let mapping: Mapping = "dftl:cache=1MiB".parse().unwrap();
        assert_eq!(mapping.map_pages(1024, 4096), 1);
        assert_eq!(mapping.map_pages(1025, 4096), 2);
        assert_eq!(Mapping::Full.map_pages(1025, 4096), 0);
    }

    #[test]
    fn what_is_wrong_is_told_with_the_remedy() {
        for (text, part) in [
            ("dftl", "cache= is not a size above 0; give cache=2MiB"),
            ("dftl:cache=x", "cache=x is not a size"),
            ("dftl:cache=1MiB,protected=2", "protected=2 is not"),
            ("full:cache=1MiB", "full has no parameter \"cache\""),
            ("dtfl:cache=1MiB", "did you mean \"dftl\"?"),
        ] {
            let error = text.parse::<Mapping>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        let small: Mapping = "dftl:cache=2KiB".parse().unwrap();
        let error = small.verify(4096).unwrap_err().to_string();
        assert!(error.contains("at least one translation page, 4096 bytes"), "{error}");
        assert_eq!(small.verify(2048), Ok(()));
    }
}

//! Maps by name.

use crate::map::cdftl::CdftlParameters;
use crate::map::contract::{Map, OnFlash};
use crate::map::dftl::DftlParameters;
use crate::map::leaftl::LeaftlParameters;
use crate::map::learnedftl::LearnedftlParameters;
use crate::map::lru::SegmentedLru;
use crate::map::sftl::SftlParameters;
use crate::map::tpftl::TpftlParameters;
use crate::map::units::UnitPages;
use crate::page::DriveConfig;
use ftlab_flash::Geometry;
use ftlab_spec::{ByteSize, Parameters, Spec, SpecError, Value};
use std::fmt;
use std::str::FromStr;

/// Bytes of an entry in a translation page: the number of a flash page.
const ENTRY_BYTES: u32 = 4;

/// The parameter of a map on flash that names its units.
const UNIT: &str = "unit";

/// The parameters of a map on flash that name memory of the host, and the time of a read from there.
const HOST: [&str; 2] = ["hmb", "hmb-us"];

/// Microseconds of a read from memory of the host by default: a round trip over PCIe, measured at 0.5 to 1 us
/// (Neugebauer et al., SIGCOMM 2018).
const HOST_READ_US: f64 = 1.0;

/// The name of a map in memory by units, and its parameter.
const IU: [&str; 2] = ["iu", "size"];

/// Where an FTL keeps which page of the host lies where.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mapping {
    kept: Kept,
    /// Bytes that an entry tells the place of, if these are not a page.
    unit: Option<ByteSize>,
    /// Memory of the host, if there is some.
    host: Option<HostMemory>,
}

/// Memory of the host, in which translation pages are found that are not in that of the drive.
#[derive(Debug, Clone, Copy, PartialEq)]
struct HostMemory {
    size: ByteSize,
    read_us: f64,
}

/// What is in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kept {
    /// All of it.
    Full,
    Dftl(DftlParameters),
    Cdftl(CdftlParameters),
    Sftl(SftlParameters),
    Tpftl(TpftlParameters),
    Leaftl(LeaftlParameters),
    Learnedftl(LearnedftlParameters),
}

/// The same of any map on flash, with its parameters; none of one in memory.
macro_rules! on_flash {
    ($kept:expr, $of:ident => $of_any:expr) => {
        match $kept {
            Kept::Full => None,
            Kept::Dftl($of) => Some($of_any),
            Kept::Cdftl($of) => Some($of_any),
            Kept::Sftl($of) => Some($of_any),
            Kept::Tpftl($of) => Some($of_any),
            Kept::Leaftl($of) => Some($of_any),
            Kept::Learnedftl($of) => Some($of_any),
        }
    };
}

impl Mapping {
    /// In memory, as a whole, by pages.
    pub const FULL: Self = Self { kept: Kept::Full, unit: None, host: None };

    /// Whether all of it is in memory, by pages.
    pub fn is_full(&self) -> bool {
        *self == Self::FULL
    }

    /// Whether a part of it is on flash.
    pub fn is_on_flash(&self) -> bool {
        self.kept != Kept::Full
    }

    /// Whether an entry tells the place of several pages.
    pub fn has_units(&self) -> bool {
        self.unit.is_some()
    }

    /// Whether pages that were written wait in memory, to be programmed in order.
    pub fn has_buffer(&self) -> bool {
        on_flash!(&self.kept, map => map.has_buffer()).unwrap_or(false)
    }

    /// Whether it asks which pages are of one request.
    pub fn asks_for_requests(&self) -> bool {
        fn of<T: OnFlash>(_: &T) -> bool {
            T::ASKS_FOR_REQUESTS
        }

        self.has_units() || on_flash!(&self.kept, map => of(map)).unwrap_or(false)
    }

    /// Itself without parameters that are as they are by default.
    pub fn name(&self) -> String {
        self.spec(true).to_string()
    }

    fn spec(&self, without_defaults: bool) -> Spec {
        fn of<T: OnFlash>(of: &T, without_defaults: bool) -> Spec {
            let usual = if without_defaults { T::default().values() } else { Vec::new() };
            let own = of.values().into_iter().filter(|value| !usual.contains(value));
            let arguments = own.map(|(key, value)| (key.to_owned(), value)).collect();
            Spec { name: T::NAME.to_owned(), arguments }
        }

        let unit = self.unit.map(|unit| unit.to_string());
        match (on_flash!(&self.kept, map => of(map, without_defaults)), unit) {
            (None, None) => Spec::bare("full"),
            (None, Some(unit)) => {
                let [name, size] = IU.map(str::to_owned);
                Spec { name, arguments: vec![(size, unit)] }
            }
            (Some(mut spec), unit) => {
                spec.arguments.extend(unit.map(|unit| (UNIT.to_owned(), unit)));
                if let Some(HostMemory { size, read_us }) = self.host {
                    let [key, time] = HOST.map(str::to_owned);
                    spec.arguments.push((key, size.to_string()));
                    if !without_defaults || read_us != HOST_READ_US {
                        spec.arguments.push((time, read_us.print()));
                    }
                }
                spec
            }
        }
    }

    /// Entries that a translation page of this many bytes holds.
    pub fn entries_per_page(page_bytes: u32) -> u32 {
        page_bytes / ENTRY_BYTES
    }

    /// Bytes of memory that it is said to take on a drive of this many pages, the directory of translation pages not
    /// included.
    pub fn cache_bytes(&self, logical_pages: u32, page_bytes: u32) -> u64 {
        let mut kept = self.kept;
        on_flash!(&mut kept, map => map.cache().0).unwrap_or_else(|| {
            let entries = logical_pages.div_ceil(self.unit_pages(page_bytes));
            u64::from(entries) * u64::from(ENTRY_BYTES)
        })
    }

    /// The least memory that it takes on a drive of this many pages, if a part of it is on flash.
    pub fn cache_min(&self, logical_pages: u32, page_bytes: u32) -> Option<u64> {
        let unit = self.unit_pages(page_bytes);
        let engine_page = page_bytes.saturating_mul(unit);
        let entries = Self::entries_per_page(engine_page).max(1);
        let map_pages = logical_pages.div_ceil(unit).div_ceil(entries);
        let least = on_flash!(&self.kept, map => [pages_min(map), map.models(map_pages, entries)]);
        let page = u64::from(engine_page);
        least.map(|[pages, models]| if models > 0 { models + page } else { pages * page })
    }

    /// Memory of the host for translation pages, if there is some.
    pub fn host_bytes(&self) -> Option<u64> {
        self.host.map(|host| host.size.0)
    }

    /// The same with other sizes of memory, of the drive and of the host, which follow from the present ones.
    #[must_use]
    pub fn scaled(mut self, size: impl Fn(u64) -> u64) -> Self {
        on_flash!(&mut self.kept, map => *map.cache() = ByteSize(size(map.cache().0)));
        if let Some(host) = &mut self.host {
            host.size = ByteSize(size(host.size.0));
        }
        self
    }

    /// Translation pages that memory of the host holds, and the time of a read from there in nanoseconds, if there is
    /// some.
    pub(crate) fn host_memory(&self, engine: &DriveConfig) -> Option<(u32, u64)> {
        let HostMemory { size, read_us } = self.host?;
        let pages = size.0 / u64::from(engine.geometry.page_bytes());
        let pages = u32::try_from(pages).unwrap_or(u32::MAX).min(engine.map_pages);
        Some((pages, (read_us * 1e3).round() as u64))
    }

    /// Bytes of memory that simulating it takes at most, beside the tables of the drive: that of
    /// [`of_engine`](Self::of_engine).
    pub fn memory_bytes(&self, engine: &DriveConfig) -> u64 {
        let (entries, blocks) = (engine.logical_pages, engine.geometry.blocks());
        let of_cache = on_flash!(&self.kept, map => map.memory_bytes(entries, engine.map_pages));
        of_cache
            .map_or(0, |bytes| bytes + 48 * u64::from(engine.map_pages) + 128 * u64::from(blocks))
    }

    /// Bytes of memory that it takes at most on a live drive, where entries that are not held take none: that of
    /// [`of_engine`](Self::of_engine).
    pub fn live_bytes(&self, engine: &DriveConfig) -> u64 {
        let (entries, blocks) = (engine.logical_pages, engine.geometry.blocks());
        let of_cache = on_flash!(&self.kept, map => map.live_bytes(entries, engine.map_pages));
        let of_drive = 48 * u64::from(engine.map_pages) + 128 * u64::from(blocks) + 16 * 1024;
        of_cache.map_or(0, |bytes| bytes + of_drive)
    }

    /// Whether operations that are repeated on a live drive need the places of all pages of the translation pages that
    /// they ask for.
    pub fn weighs_pages(&self) -> bool {
        fn of<T: OnFlash>(_: &T) -> bool {
            T::WEIGHS_PAGES
        }

        on_flash!(&self.kept, map => of(map)).unwrap_or(false)
    }

    /// Pages of an entry, on a drive with pages of this size.
    pub fn unit_pages(&self, page_bytes: u32) -> u32 {
        let pages = self.unit.map_or(1, |unit| unit.0 / u64::from(page_bytes.max(1)));
        u32::try_from(pages).unwrap_or(u32::MAX).max(1)
    }

    /// The drive as the engine has it, whose pages are the units of this map; refuses one that it does not fit on.
    pub fn of_engine(&self, config: DriveConfig) -> Result<DriveConfig, SpecError> {
        let page_bytes = config.geometry.page_bytes();
        let config = match self.unit {
            Some(unit) => UnitPages::of_engine(unit, config)
                .map_err(|expects| self.refuse(self.unit_key(), &unit.print(), expects))?,
            None => config,
        };
        let mut kept = self.kept;
        let Some(cache) = on_flash!(&mut kept, map => *map.cache()) else { return Ok(config) };
        let (engine_page, units) = (config.geometry.page_bytes(), self.unit.is_some());
        let pages = on_flash!(&self.kept, map => pages_min(map)).unwrap_or(0);
        let entries = Self::entries_per_page(engine_page);
        let map_pages = config.logical_pages.div_ceil(entries);
        let models = on_flash!(&self.kept, map => map.models(map_pages, entries)).unwrap_or(0);
        if models > 0 && cache.0 < models + u64::from(engine_page) {
            let least = ByteSize((models + u64::from(engine_page)).next_multiple_of(1 << 10));
            let expects = format!(
                "a size of at least one translation page of {engine_page} bytes and {models} bytes of models; \
                 give cache={least}"
            );
            return Err(self.refuse("cache", &cache.to_string(), expects));
        }
        if cache.0 < pages * u64::from(engine_page) {
            let of_unit = if units { ", which has the size of a unit" } else { "" };
            let expects = format!(
                "a size of at least {} of {engine_page} bytes{of_unit}; give cache=2MiB",
                if pages == 1 { "one translation page" } else { "two translation pages" }
            );
            return Err(self.refuse("cache", &cache.to_string(), expects));
        }
        let single = on_flash!(&self.kept, map => map.single_entries(entries)).unwrap_or(0);
        if single.min(config.logical_pages) > SegmentedLru::ENTRIES_MAX {
            let expects = format!(
                "a size for at most {} entries one by one; give a smaller one, or larger entry-bytes",
                SegmentedLru::ENTRIES_MAX
            );
            return Err(self.refuse("cache", &cache.to_string(), expects));
        }
        if let Some(HostMemory { size, .. }) = self.host
            && size.0 < u64::from(engine_page)
        {
            let expects =
                format!("at least one translation page of {engine_page} bytes; give hmb=64MiB");
            return Err(self.refuse(HOST[0], &size.to_string(), expects));
        }
        debug_assert!(engine_page >= page_bytes);
        Ok(DriveConfig { map_pages, ..config })
    }

    /// What is kept of a map on flash; none if it is in memory as a whole. A small one takes no memory for entries that
    /// it does not hold.
    pub(crate) fn make(&self, engine: &DriveConfig, is_small: bool) -> Option<Box<dyn Map>> {
        let entries = Self::entries_per_page(engine.geometry.page_bytes());
        on_flash!(&self.kept, map => map.make(engine.logical_pages, entries, is_small))
    }

    /// Why a live drive on this flash cannot have this map, and what to do; none if it can.
    pub fn refused_live(&self, geometry: &Geometry) -> Option<String> {
        let name = self.name();
        let possible = "give full, dftl, s-ftl, cdftl, or tpftl with by-request=off";
        if self.has_units() {
            let of_unit = self.unit_pages(geometry.page_bytes());
            let pages_per_block = geometry.pages_per_block();
            let without = Self { unit: None, ..*self }.name();
            let remedy = match self.unit.map(|unit| unit.to_string()) {
                Some(unit) if pages_per_block.is_multiple_of(of_unit) => format!(
                    "give --page-size {unit} --pages-per-block {} --mapping {without}",
                    pages_per_block / of_unit
                ),
                _ => possible.to_owned(),
            };
            return Some(format!(
                "{name} has units, which are the pages of a live drive with larger pages; {remedy}"
            ));
        }
        if self.host.is_some() {
            return Some(format!(
                "{name} has memory of the host (hmb), which no host lends; leave it out"
            ));
        }
        match self.kept {
            Kept::Full | Kept::Dftl(_) | Kept::Cdftl(_) | Kept::Sftl(_) => None,
            Kept::Tpftl(of) if !of.asks_for_requests() => None,
            Kept::Tpftl(_) => Some(format!(
                "{name} loads what a request needs, and the journal of a live drive has pages; give by-request=off"
            )),
            Kept::Leaftl(_) => Some(format!(
                "{name} has places in segments, which are not kept on flash; {possible}"
            )),
            Kept::Learnedftl(_) => Some(format!(
                "{name} trains models while it collects, which are not kept on flash; {possible}"
            )),
        }
    }

    /// The parameter that names its units.
    fn unit_key(&self) -> &'static str {
        if self.is_on_flash() { UNIT } else { IU[1] }
    }

    fn refuse(&self, key: &str, value: &str, expects: String) -> SpecError {
        let of = self.spec(true).name;
        SpecError::BadValue { of, key: key.into(), value: value.into(), expects }
    }
}

impl Default for Mapping {
    fn default() -> Self {
        Self::FULL
    }
}

impl FromStr for Mapping {
    type Err = SpecError;

    /// Reads `full`, `iu:size=16KiB`, or `dftl:cache=2MiB,unit=16KiB`.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        fn of<T: OnFlash>(spec: &Spec) -> Result<T, SpecError> {
            let mut map = T::from_spec(spec).map_err(with_common)?;
            if map.cache().0 == 0 {
                let value = spec.get("cache").unwrap_or_default().to_owned();
                let expects = "a size above 0; give cache=2MiB".to_owned();
                let (of, key) = (spec.name.clone(), "cache".to_owned());
                return Err(SpecError::BadValue { of, key, value, expects });
            }
            Ok(map)
        }

        let mut spec = text.parse::<Spec>()?;
        let key = if spec.name == IU[0] { IU[1] } else { UNIT };
        let unit = if spec.name == "full" { None } else { take_unit(&mut spec, key)? };
        let is_on_flash = spec.name != "full" && spec.name != IU[0];
        let host = if is_on_flash { take_host(&mut spec)? } else { None };
        let kept = match spec.name.as_str() {
            "full" => ftlab_spec::NoParameters::from_spec(&spec).map(|_| Kept::Full)?,
            name if name == IU[0] => match spec.arguments.first() {
                None => Kept::Full,
                Some((key, _)) => return Err(not_of_units(key, unit)),
            },
            DftlParameters::NAME => Kept::Dftl(of(&spec)?),
            CdftlParameters::NAME => Kept::Cdftl(of(&spec)?),
            SftlParameters::NAME => Kept::Sftl(of(&spec)?),
            TpftlParameters::NAME => Kept::Tpftl(of(&spec)?),
            LeaftlParameters::NAME => Kept::Leaftl(of(&spec)?),
            LearnedftlParameters::NAME => Kept::Learnedftl(of(&spec)?),
            _ => {
                let known = [
                    "full",
                    IU[0],
                    DftlParameters::NAME,
                    SftlParameters::NAME,
                    CdftlParameters::NAME,
                    TpftlParameters::NAME,
                    LeaftlParameters::NAME,
                    LearnedftlParameters::NAME,
                ];
                return Err(SpecError::UnknownName {
                    kind: "mapping",
                    name: spec.name,
                    known: known.map(str::to_owned).to_vec(),
                });
            }
        };
        if spec.name == IU[0] && unit.is_none() {
            let expects = "a size above a page; give size=16KiB".to_owned();
            let (of, key) = (spec.name, key.to_owned());
            return Err(SpecError::BadValue { of, key, value: String::new(), expects });
        }
        Ok(Self { kept, unit, host })
    }
}

fn pages_min<T: OnFlash>(_: &T) -> u64 {
    T::PAGES_MIN
}

/// What a map on flash says of a parameter that it has not, with those that all of these have.
fn with_common(mut error: SpecError) -> SpecError {
    if let SpecError::UnknownParameter { known, .. } = &mut error {
        known.extend([UNIT].into_iter().chain(HOST).map(str::to_owned));
    }
    error
}

/// What a map in memory by units says of a parameter that it has not: maps on flash may have units, too.
fn not_of_units(key: &str, unit: Option<ByteSize>) -> SpecError {
    let [name, size] = IU;
    let unit = unit.unwrap_or(ByteSize(16 << 10));
    SpecError::UnknownParameter {
        of: name.to_owned(),
        key: key.to_owned(),
        known: vec![
            size.to_owned(),
            format!("and on flash, units are those of dftl:cache=2MiB,{UNIT}={unit}"),
        ],
    }
}

/// The memory of the host that is given, which is no parameter of the map itself.
fn take_host(spec: &mut Spec) -> Result<Option<HostMemory>, SpecError> {
    let [size, time] = HOST.map(|key| spec.get(key).map(str::to_owned));
    let refuse = |key: &str, value: &str, expects: String| {
        let (of, key, value) = (spec.name.clone(), key.into(), value.into());
        Err(SpecError::BadValue { of, key, value, expects })
    };
    let Some(size) = size else {
        return match time {
            Some(time) => refuse(HOST[1], &time, "of use without hmb; give hmb=64MiB".into()),
            None => Ok(None),
        };
    };
    let Some(bytes) = ByteSize::parse(&size) else {
        return refuse(HOST[0], &size, ByteSize::expects_for(&size));
    };
    if bytes.0 == 0 {
        return refuse(HOST[0], &size, "a size above 0; give hmb=64MiB".into());
    }
    let is_time = |us: &f64| (0.0..=1e6).contains(us);
    let read_us = match time {
        None => HOST_READ_US,
        Some(text) => match text.parse::<f64>().ok().filter(is_time) {
            Some(us) => us,
            None => return refuse(HOST[1], &text, "from 0 to 1000000 microseconds".into()),
        },
    };
    spec.arguments.retain(|(key, _)| !HOST.contains(&key.as_str()));
    Ok(Some(HostMemory { size: bytes, read_us }))
}

/// The size of units that is given, which is no parameter of the map itself.
fn take_unit(spec: &mut Spec, key: &str) -> Result<Option<ByteSize>, SpecError> {
    let Some(text) = spec.get(key).map(str::to_owned) else { return Ok(None) };
    spec.arguments.retain(|(other, _)| other != key);
    let expects = match ByteSize::parse(&text) {
        Some(unit) if unit.0 > 0 => return Ok(Some(unit)),
        Some(_) => format!("a size above a page; give {key}=16KiB"),
        None => ByteSize::expects_for(&text),
    };
    let (of, key) = (spec.name.clone(), key.to_owned());
    Err(SpecError::BadValue { of, key, value: text, expects })
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec(false).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drive with pages of 4 KiB.
    fn drive(logical_pages: u32, pages_per_block: u32) -> DriveConfig {
        DriveConfig::new(Geometry::new(1000, pages_per_block, 4096).unwrap(), logical_pages, 4)
    }

    #[test]
    fn a_mapping_is_read_as_it_is_written() {
        for text in [
            "full",
            "iu:size=16KiB",
            "dftl:cache=2MiB",
            "dftl:cache=4KiB,entry-bytes=6,protected=0",
            "dftl:cache=2MiB,protected=0,unit=64KiB",
            "tpftl:cache=2MiB,threshold=4,selective=off",
            "s-ftl:cache=2MiB,few=8,hmb=64MiB",
            "dftl:cache=2MiB,unit=64KiB,hmb=1MiB,hmb-us=0.5",
            "leaftl:cache=2MiB,gamma=4,buffer=1",
            "learnedftl:cache=2MiB,pieces=4",
        ] {
            let mapping: Mapping = text.parse().unwrap();
            assert_eq!(mapping.to_string().parse::<Mapping>().unwrap(), mapping, "{text}");
            assert_eq!(mapping.name(), text);
        }
    }

    #[test]
    fn a_cache_of_more_entries_than_are_told_apart_is_refused() {
        let of = |text: &str, pages| text.parse::<Mapping>().unwrap().of_engine(drive(pages, 16));
        for (text, fits) in [
            ("dftl:cache=4GiB", true),
            ("dftl:cache=5GiB", false),
            ("dftl:cache=5GiB,entry-bytes=16", true),
            ("cdftl:cache=12GiB", false),
            ("tpftl:cache=12GiB", true),
        ] {
            assert_eq!(of(text, 1 << 30).is_ok(), fits, "{text}");
            assert!(of(text, 1 << 29).is_ok(), "{text}");
        }
        let error = of("dftl:cache=5GiB", 1 << 30).unwrap_err().to_string();
        assert!(
            error.contains("at most 536870912 entries") && error.contains("smaller"),
            "{error}"
        );
    }

    #[test]
    fn the_engine_has_translation_pages_and_units_are_its_pages() {
        let of = |text: &str, pages| {
            text.parse::<Mapping>().unwrap().of_engine(drive(pages, 16)).unwrap()
        };
        assert_eq!([1024, 1025].map(|pages| of("dftl:cache=1MiB", pages).map_pages), [1, 2]);
        assert_eq!(of("full", 1025), drive(1025, 16));
        let engine = of("dftl:cache=1MiB,unit=16KiB", 16_385);
        assert_eq!((engine.logical_pages, engine.map_pages), (4097, 2));
        let geometry = engine.geometry;
        assert_eq!((geometry.pages_per_block(), geometry.page_bytes()), (4, 16_384));
        assert_eq!(
            (of("iu:size=32KiB", 1025).logical_pages, of("iu:size=8KiB", 4).map_pages),
            (129, 0)
        );
        let cache = |text: &str| text.parse::<Mapping>().unwrap().cache_bytes(1025, 4096);
        assert_eq!([cache("iu:size=32KiB"), cache("dftl:cache=1MiB")], [516, 1 << 20]);
    }

    #[test]
    fn what_is_wrong_is_told_with_the_remedy() {
        for (text, part) in [
            ("dftl", "cache= is not a size above 0; give cache=2MiB"),
            ("dftl:cache=x", "cache=x is not a size"),
            ("dftl:cache=1MiB,protected=2", "protected=2 is not"),
            ("dftl:cache=1MiB,unit=0", "unit=0 is not a size above a page; give unit=16KiB"),
            ("iu", "size= is not a size above a page; give size=16KiB"),
            ("iu:size=x", "size=x is not"),
            (
                "iu:size=8KiB,cache=1MiB",
                "iu has no parameter \"cache\"; it has size, and on flash, units are those of dftl:cache=2MiB,unit=8KiB",
            ),
            ("dftl:foo=1", "it has cache, entry-bytes, protected, unit, hmb, hmb-us"),
            (
                "leaftl:entry-bytes=4",
                "it has cache, gamma, buffer, greedy, compaction, unit, hmb, hmb-us",
            ),
            ("iu:size=16KiB,hmb=1MiB", "iu has no parameter \"hmb\""),
            ("full:hmb=1MiB", "full has no parameter \"hmb\""),
            ("dftl:cache=1MiB,hmb=0", "hmb=0 is not a size above 0; give hmb=64MiB"),
            ("dftl:cache=1MiB,hmb=x", "hmb=x is not a size"),
            ("dftl:cache=1MiB,hmb-us=1", "hmb-us=1 is not of use without hmb; give hmb=64MiB"),
            ("dftl:cache=1MiB,hmb=1MiB,hmb-us=-1", "hmb-us=-1 is not from 0 to 1000000"),
            ("leaftl:cache=1MiB,gamma=65", "gamma=65 is not"),
            ("leaftl:cache=1MiB,buffer=0", "buffer=0 is not"),
            ("leaftl:cache=1MiB,compaction=0", "compaction=0 is not"),
            ("learnedftl:cache=1MiB,pieces=0", "pieces=0 is not"),
            ("full:cache=1MiB", "full has no parameter \"cache\""),
            ("full:unit=16KiB", "full has no parameter \"unit\""),
            ("dtfl:cache=1MiB", "did you mean \"dftl\"?"),
        ] {
            let error = text.parse::<Mapping>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        for (text, part) in [
            ("dftl:cache=2KiB", "at least one translation page of 4096 bytes; give"),
            ("dftl:cache=8KiB,unit=16KiB", "16384 bytes, which has the size of a unit; give"),
            ("dftl:cache=4KiB,hmb=2KiB", "hmb=2KiB is not at least one translation page of 4096"),
            ("learnedftl:cache=4KiB", "4096 bytes and 192 bytes of models; give cache=5KiB"),
            ("cdftl:cache=4KiB", "at least two translation pages of 4096 bytes; give"),
            ("iu:size=4KiB", "size=4KiB is not several pages of 4096 bytes"),
            ("iu:size=2KiB", "size=2KiB is not several pages"),
            ("iu:size=10000", "is not several pages"),
            (
                "dftl:cache=1MiB,unit=12KiB",
                "unit=12KiB is not 3 pages, which divide blocks of 16 pages",
            ),
            ("iu:size=64KiB", "at least two units to a block"),
            ("iu:size=1TiB", "at least two units to a block"),
        ] {
            let error = text.parse::<Mapping>().unwrap().of_engine(drive(1000, 16)).unwrap_err();
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }
}

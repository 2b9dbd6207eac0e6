//! A class of real drives, and the model that stands for it.
//!
//! A drive of terabytes is not simulated page by page. What decides what it amplifies is how much of its flash is spare,
//! and how fine its units are against it: a model keeps the *number* of units, and makes them smaller.
//!
//! # The rule
//! - A drive collects a unit at once, which spans all LUNs. It has 2,048 of them, unless their size is given. That is what
//!   drive A of docs/real-drives.md has (3.75 GB of 7.68 TB); drive B has 512 (7.5 GB of 3.84 TB). Answers therefore span
//!   units of half and of double the size.
//! - The model has 262,144 pages at least, and its unit 64 pages: of coarser units, how full one is has too few values, and
//!   streams that are open take a visible part of what is spare. Up to 4,096 units, their number leaves the size of the
//!   model as it is, so that units of half and of double the size are asked about under the same writes.
//! - A trace of fewer pages is repeated side by side, in as many copies as the model has room for. So what it writes covers
//!   the capacity of the drive, as it does where the application has grown to the size of the drive.
//! - A trace of more pages runs as it is, with units that are as much larger.
//! - Memory for a map, of the drive and of the host, is as much smaller as the model is. A page stays a page: the model's
//!   map has fewer translation pages of the same size, and units of a map and what `leaftl` programs together stay.
//! - A drive of the [atlas](crate::atlas) brings what else is known of it, reserve and schedule of collection, unless others
//!   are asked for.

use crate::SimError;
use crate::atlas::{AtlasDrive, known_drive};
use crate::drive::{DriveOptions, DriveSummary, Logical, Physical};
use crate::evidence::ENOUGH_REQUESTS;
use crate::format::{bytes, decimal, grouped, percent};
use crate::mappings::Mappings;
use crate::model_of::ModelOf;
use crate::run_options::Experiment;
use crate::workload::{Copies, Workload};
use ftlab_ftl::page::Hints;
use ftlab_ftl::registry;
use ftlab_spec::{ByteSize, Share, SpecError};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// Units of a drive whose unit is not known.
const USUAL_UNITS: u32 = 2048;

/// Units that a model may have.
const UNITS: std::ops::RangeInclusive<u64> = 64..=65_536;

/// Pages of a unit of a model, at least.
const UNIT_PAGES_MIN: u32 = 64;

/// Pages of a block below which a drive is no model of one that can be bought.
const BLOCK_PAGES_FEW: u32 = 128;

/// Pages of a model, at least.
const MODEL_PAGES: u64 = 262_144;

/// A class of drives, such as one that can be bought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriveClass {
    /// What the host can address.
    pub capacity: ByteSize,
    /// Over-provisioning, (physical - logical) / logical, if it is known.
    pub op: Option<Share>,
    /// What it collects at once, all LUNs together; 1/2,048 of the capacity if it is not known.
    pub unit: Option<ByteSize>,
    /// The drive of the atlas, or of a file, that it is.
    pub known: Option<&'static AtlasDrive>,
}

/// What stands for a drive of a class under a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The workload, side by side with itself if it was too small.
    pub workload: Workload,
    /// Its size.
    pub size: ModelSize,
    /// What the host can address of the drive.
    capacity: u64,
}

/// The size of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelSize {
    /// Pages that the host can address.
    pub pages: u64,
    /// Pages of a unit.
    pub pages_per_block: u32,
    /// Copies of a trace, side by side; 1 if it runs as it is.
    pub copies: u64,
}

impl FromStr for DriveClass {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        if let Some(known) = known_drive(text) {
            let known = known?;
            return Ok(Self { known: Some(known), ..Self::parsed(&known.class)? });
        }
        Self::parsed(text)
    }
}

impl fmt::Display for DriveClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a drive of {}", decimal(self.capacity.0))?;
        if let Some(Share(op)) = self.op {
            write!(f, " with {} of over-provisioning", percent(op))?;
        }
        Ok(())
    }
}

impl DriveClass {
    /// The options of a drive of this class, before those that are asked for.
    pub fn usual(&self) -> DriveOptions {
        let usual = DriveOptions::default();
        let own = |of: &'static AtlasDrive| DriveOptions {
            reserve_blocks: of.reserve,
            gc: of.gc,
            ..usual.clone()
        };
        let physical = Physical::asked(self.op, None);
        DriveOptions { physical, ..self.known.map_or_else(|| usual.clone(), own) }
    }

    /// The class that a text tells, which is no name.
    fn parsed(text: &str) -> Result<Self, SpecError> {
        let wrong = || SpecError::Quantity {
            text: text.into(),
            expects: "a drive: its capacity, and if they are known its over-provisioning and what it collects at once, as \
                      in \"7.68TB\", \"7.68TB, 7%\" or \"3.84TB, 28%, 7.5GB\"; or a name of `ftlab list drives`, or a file of \
                      `ftlab fit --save`",
        };
        let mut parts = text.split(',').map(str::trim);
        let capacity = parts.next().unwrap_or_default().parse().map_err(|_| wrong())?;
        let mut class = Self { capacity, op: None, unit: None, known: None };
        for part in parts {
            let is_share = part.ends_with('%');
            let is_second = if is_share { class.op.is_some() } else { class.unit.is_some() };
            if is_second {
                return Err(wrong());
            }
            if is_share {
                class.op = Some(part.parse().map_err(|_| wrong())?);
            } else {
                class.unit = Some(part.parse().map_err(|_| wrong())?);
            }
        }
        class.check()?;
        Ok(class)
    }

    /// It as it can be typed again.
    pub fn typed(&self) -> String {
        if let Some(known) = self.known {
            return known.name.clone();
        }
        let exact = |size: ByteSize| {
            let units = [("TB", 12), ("GB", 9), ("MB", 6), ("kB", 3)];
            // What the parser makes the same bytes of.
            let units = units.into_iter().map(|(unit, power)| (unit, 10_f64.powi(power)));
            let decimal = units
                .filter(|(_, of_unit)| size.0 as f64 >= *of_unit)
                .map(|(unit, of_unit)| format!("{}{unit}", size.0 as f64 / of_unit));
            let mut same = decimal.filter(|text| text.len() < 10 && text.parse() == Ok(size));
            same.next().unwrap_or_else(|| size.to_string())
        };
        let op = self.op.map(|Share(op)| percent(op));
        let parts = [Some(exact(self.capacity)), op, self.unit.map(exact)];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Bytes that it collects at once, as they are known or taken to be.
    pub fn unit_bytes(&self) -> u64 {
        self.unit.map_or(self.capacity.0 / u64::from(USUAL_UNITS), |unit| unit.0)
    }

    /// How many of its units hold what the host can address.
    pub fn units(&self) -> u64 {
        let unit = self.unit_bytes().max(1);
        self.capacity.0.saturating_add(unit / 2) / unit
    }

    /// It with units of `times` the size; none if that is beyond the units of every model.
    pub fn with_units(&self, times: f64) -> Option<Self> {
        let unit = (self.unit_bytes() as f64 * times).round() as u64;
        let class = Self { unit: Some(ByteSize(unit)), ..*self };
        class.check().is_ok().then_some(class)
    }

    /// It with units of `bytes` bytes; none if that is beyond the units of every model.
    pub fn with_unit_bytes(&self, bytes: u64) -> Option<Self> {
        let class = Self { unit: Some(ByteSize(bytes)), ..*self };
        class.check().is_ok().then_some(class)
    }

    /// What it writes beside the host's pages and those that it moves, as a share of them; 0 if that is not known.
    pub fn overhead(&self) -> f64 {
        self.known.map_or(0.0, |known| known.overhead.0)
    }

    /// What is taken for granted of it.
    pub fn assumed(&self) -> Option<String> {
        self.unit.is_none().then(|| {
            format!(
                "{} units of {}, which span all LUNs",
                grouped(self.units()),
                decimal(self.unit_bytes())
            )
        })
    }

    /// Refuses what no model has.
    fn check(&self) -> Result<(), SpecError> {
        if UNITS.contains(&self.units()) {
            return Ok(());
        }
        Err(SpecError::Quantity {
            text: format!(
                "{} in units of {}",
                decimal(self.capacity.0),
                decimal(self.unit_bytes())
            ),
            expects: "a drive of 64 to 65,536 units; a unit is what it collects at once, on all LUNs together (3.75GB of \
                      7.68TB), not a page (--page-size)",
        })
    }

    /// The model for a workload, in pages of `page_bytes`.
    pub fn model(
        &self,
        workload: &Workload,
        page_bytes: u32,
        seed: u64,
    ) -> Result<Model, SimError> {
        self.check()?;
        let capacity = self.capacity.0;
        // Not a whole number: a zone as large as a unit has to have as many pages as a unit.
        let in_units = capacity as f64 / self.unit_bytes().max(1) as f64;
        let unit_pages = (MODEL_PAGES as f64 / in_units).ceil().max(f64::from(UNIT_PAGES_MIN));
        let least = (in_units * unit_pages).round() as u64;
        let workload = match workload {
            Workload::Copies(copies) => &copies.of,
            of => of,
        };
        let smallest = u128::from(least) * u128::from(page_bytes);
        if smallest > u128::from(capacity) {
            return Err(SimError::Unusable {
                what: format!(
                    "{} pages of {} bytes, which the model of a drive has at least, are more than {self}",
                    grouped(least),
                    page_bytes
                ),
                remedy: "leave out --drive, and simulate all of it (--logical), or give a smaller --page-size"
                    .into(),
            });
        }
        if workload.is_generator() {
            let size = ModelSize { pages: least, pages_per_block: unit_pages as u32, copies: 1 };
            return Ok(Model { workload: workload.of_capacity(self.capacity.0)?, size, capacity });
        }
        let in_a_unit = |pages: u64| (pages as f64 / in_units) as u32;
        let trace = workload.open_trace(page_bytes, false)?;
        let own = workload.logical_size(Logical::OfWorkload, page_bytes, trace.as_deref())?;
        let own_pages = own.bytes.div_ceil(u128::from(page_bytes.max(1)));
        let own_pages = u64::try_from(own_pages).unwrap_or(u64::MAX);
        if own_pages >= least {
            let pages_per_block = in_a_unit(own_pages);
            let size = ModelSize { pages: own_pages, pages_per_block, copies: 1 };
            return Ok(Model { workload: workload.clone(), size, capacity });
        }
        let copies = side_by_side(workload, page_bytes, [own_pages, least], seed)?;
        let size = ModelSize {
            pages: copies.pages(),
            pages_per_block: in_a_unit(copies.pages()),
            copies: copies.number(),
        };
        Ok(Model { workload: Workload::Copies(Box::new(copies)), size, capacity })
    }
}

/// Copies of a trace that can be repeated, and that says enough.
fn side_by_side(
    workload: &Workload,
    page_bytes: u32,
    pages: [u64; 2],
    seed: u64,
) -> Result<Copies, SimError> {
    if workload.is_read_once() {
        return Err(SimError::Unusable {
            what: format!(
                "{} can be read once only, and a model of a drive repeats it",
                workload.name()
            ),
            remedy: "convert it to a file first: ftlab convert - trace.parquet".into(),
        });
    }
    let copies = Copies::new(workload, page_bytes, pages, seed)?;
    let requests = copies.trace().write_requests();
    if requests >= ENOUGH_REQUESTS {
        return Ok(copies);
    }
    Err(SimError::Unusable {
        what: format!(
            "{} has {} write requests, and copies of it are no evidence: {} or more are",
            workload.name(),
            grouped(requests),
            grouped(ENOUGH_REQUESTS)
        ),
        remedy: "record more of it".into(),
    })
}

impl Model {
    /// An experiment on the model; its over-provisioning stays what it is.
    pub fn of(&self, experiment: &Experiment) -> Result<Experiment, SimError> {
        if let Some(timing) = &experiment.timing {
            return Err(SimError::Unusable {
                what: format!(
                    "{timing} on the model of a real drive, whose units are smaller than those of any chip"
                ),
                remedy: "leave out --drive, and give a drive that the blocks of the chip fit on (--logical)"
                    .into(),
            });
        }
        check_blocks(experiment)?;
        self.check_streams(experiment)?;
        let mut experiment = Experiment { workload: self.workload.clone(), ..experiment.clone() };
        experiment.drive.logical = Logical::Pages(self.size.pages);
        experiment.drive.pages_per_block = Some(self.size.pages_per_block);
        let asked = match experiment.model_of.and_then(|of| of.mapping) {
            Some(asked) => asked.parse()?,
            None => experiment.drive.mapping,
        };
        experiment.drive.mapping = self.maps(&asked, experiment.drive.page_bytes)?;
        let mapping = (experiment.drive.mapping != asked).then(|| asked.name());
        experiment.model_of = Some(ModelOf { logical_bytes: self.capacity, mapping });
        Ok(experiment)
    }

    /// Maps of the drive on the model, which have less memory as the model is smaller.
    fn maps(&self, asked: &Mappings, page_bytes: u32) -> Result<Mappings, SimError> {
        let share = self.size.pages as f64 * f64::from(page_bytes) / self.capacity.max(1) as f64;
        let scaled = |size: u64| (size as f64 * share).round() as u64;
        let pages = u32::try_from(self.size.pages).unwrap_or(u32::MAX);
        for mapping in asked.each() {
            let Some(least) = mapping.cache_min(pages, page_bytes) else { continue };
            let cache = ("cache", mapping.cache_bytes(pages, page_bytes), least);
            let page = u64::from(page_bytes) * u64::from(mapping.unit_pages(page_bytes));
            let host = mapping.host_bytes().map(|bytes| ("hmb", bytes, page));
            for (key, size, least) in [Some(cache), host].into_iter().flatten() {
                if scaled(size) >= least {
                    continue;
                }
                let enough = ((least as f64 / share).ceil() as u64).next_multiple_of(1 << 20);
                return Err(SimError::Unusable {
                    what: format!(
                        "{}: {key}={} of a drive of {} is {} bytes of its model, which takes {} at least",
                        mapping.name(),
                        ByteSize(size),
                        decimal(self.capacity),
                        grouped(scaled(size)),
                        grouped(least)
                    ),
                    remedy: format!(
                        "give {key}={} or more, or a larger model: smaller units, more than 4,096 of them (--drive \
                         CAPACITY,SHARE,UNIT)",
                        ByteSize(enough)
                    ),
                });
            }
        }
        Ok(asked.scaled(scaled))
    }

    /// Refuses FTLs that ask for streams where copies have lost them.
    fn check_streams(&self, experiment: &Experiment) -> Result<(), SimError> {
        let Workload::Copies(copies) = &self.workload else { return Ok(()) };
        if !copies.trace().has_streams() {
            return Ok(());
        }
        for ftl in &experiment.ftls {
            if registry::hints(ftl)? == Hints::Streams {
                return Err(SimError::Unusable {
                    what: format!(
                        "{ftl} on copies of {}, whose requests do not name their streams any more",
                        self.workload.name()
                    ),
                    remedy: "leave out that FTL, or --drive".into(),
                });
            }
        }
        Ok(())
    }
}

/// Refuses FTLs that merge blocks: those of a model are smaller.
fn check_blocks(experiment: &Experiment) -> Result<(), SimError> {
    for ftl in &experiment.ftls {
        if experiment.policies.maps_blocks(ftl)? {
            return Err(SimError::Unusable {
                what: format!(
                    "{ftl} merges blocks, so what it copies depends on their pages, and the model of a drive has fewer"
                ),
                remedy: "name page-mapped FTLs, or leave out --drive, and give the whole drive (--logical, \
                         --pages-per-block)"
                    .into(),
            });
        }
    }
    Ok(())
}

/// What to keep in mind of a drive whose blocks are much smaller than those of a real one.
pub fn small_blocks(drive: &DriveSummary) -> Option<String> {
    let DriveSummary { pages_per_block, page_bytes, logical_bytes, .. } = *drive;
    (pages_per_block < BLOCK_PAGES_FEW).then(|| {
        format!(
            "The drive is {} in blocks of {} pages ({}), far from one that can be bought, and the answer depends on that: \
             name the drive that you mean (--drive \"7.68TB, 7%\").",
            bytes(logical_bytes),
            grouped(pages_per_block.into()),
            bytes(u64::from(pages_per_block) * u64::from(page_bytes))
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Requests;
    use ftlab_trace::{Input, OpenOptions, open_input};

    fn class(text: &str) -> DriveClass {
        text.parse().unwrap()
    }

    fn trace(pages: u64, requests: u64) -> Workload {
        let line = move |n: u64| format!("{n},W,{},1\n", n * 7 % pages);
        let lines: String =
            (0..requests).map(line).chain([format!("0,W,{},1\n", pages - 1)]).collect();
        let open = move || {
            let input = Input::from_bytes("test", lines.clone().into_bytes())?;
            let map = Some("ts:us=1,op=2,off:pages=3,len:pages=4".to_owned());
            open_input(input, &OpenOptions { map, ..OpenOptions::default() })
        };
        Workload::Requests(Requests::new("test", false, open))
    }

    #[test]
    fn a_class_is_a_capacity_and_what_else_is_known() {
        let drive = class("7.68TB");
        assert_eq!((drive.units(), drive.unit_bytes()), (2048, 3_750_000_000));
        assert_eq!(
            (drive.to_string(), drive.typed()),
            ("a drive of 7.68 TB".into(), "7.68TB".into())
        );
        assert_eq!(class("7.68TB,7.5% , 2GiB").typed(), "7.68TB, 7.5%, 2GiB");
        assert_eq!(class("960GB, 3.75GB").typed(), "960GB, 3.75GB");
        assert_eq!(drive.assumed().unwrap(), "2,048 units of 3.75 GB, which span all LUNs");
        let drive = class("3.84TB, 7.5GB ,28%");
        assert_eq!((drive.units(), drive.op, drive.assumed()), (512, Some(Share(0.28)), None));
        assert_eq!(drive.to_string(), "a drive of 3.84 TB with 28% of over-provisioning");
        let units = |times| drive.with_units(times).map(|class| class.units());
        assert_eq!([0.5, 2.0, 10.0].map(units), [Some(1024), Some(256), None]);
    }

    #[test]
    fn what_is_no_class_says_what_is() {
        for text in ["", "7%", "7.68TB, 7%, 8%", "7.68TB, 1GB, 2GB", "7.68TB, many", "big, 7%"] {
            let error = text.parse::<DriveClass>().unwrap_err().to_string();
            assert!(error.contains("\"7.68TB, 7%\""), "{text}: {error}");
        }
        for text in ["1.92TB, 16KiB", "1TB, 1TB", "0"] {
            let error = text.parse::<DriveClass>().unwrap_err().to_string();
            assert!(error.contains("64 to 65,536 units"), "{text}: {error}");
        }
    }

    #[test]
    fn a_drive_of_the_atlas_is_a_class_and_brings_how_it_collects() {
        for known in crate::atlas::atlas() {
            let drive = class(&known.name);
            assert!(drive.op.is_some() && drive.unit.is_some(), "{}", known.name);
            let workload = Workload::parse("zipf", OpenOptions::default()).unwrap();
            let model = drive.model(&workload, 4096, 1).unwrap();
            let ftls = vec![known.ftl.clone()];
            let base = Experiment { drive: drive.usual(), ..Experiment::new(workload, ftls) };
            let experiment = model.of(&base).unwrap();
            assert_eq!(experiment.drive.gc, known.gc);
            assert_eq!(experiment.drive.reserve_blocks, known.reserve);
            // What is asked for stays, whatever it is.
            let asked = DriveOptions { reserve_blocks: 5, ..DriveOptions::default() };
            let experiment = model.of(&Experiment { drive: asked.clone(), ..base }).unwrap();
            assert_eq!((experiment.drive.gc, experiment.drive.reserve_blocks), (asked.gc, 5));
        }
    }

    #[test]
    fn a_model_keeps_the_number_of_units_and_fills_them() {
        let size = |text: &str, workload: &Workload| {
            let ModelSize { pages, pages_per_block, copies } =
                class(text).model(workload, 4096, 1).unwrap().size;
            (pages, pages_per_block, copies)
        };
        let generator = Workload::parse("zipf", OpenOptions::default()).unwrap();
        assert_eq!(size("7.68TB", &generator), (262_144, 128, 1));
        assert_eq!(size("3.84TB, 7.5GB", &generator), (262_144, 512, 1));
        assert_eq!(size("7.68TB, 1.875GB", &generator), (262_144, 64, 1));
        assert_eq!(size("7.68TB, 468.75MB", &generator), (1_048_576, 64, 1));
        // 372.53 units: 2 GiB are a unit of the model, too.
        assert_eq!(size("800GB, 2GiB", &generator), (262_260, 704, 1));
        // 27 copies of 10,000 pages, whatever the units.
        let small = trace(10_000, 1000);
        assert_eq!(size("7.68TB", &small), (270_000, 131, 27));
        assert_eq!(size("7.68TB, 1.875GB", &small), (270_000, 65, 27));
        let copies = class("7.68TB").model(&small, 4096, 1).unwrap();
        assert_eq!(size("7.68TB, 1.875GB", &copies.workload), (270_000, 65, 27));
        assert_eq!(size("7.68TB", &trace(300_000, 1000)), (300_000, 146, 1));
    }

    #[test]
    fn what_a_model_cannot_do_is_refused() {
        let few = class("7.68TB").model(&trace(100, 400), 4096, 1).unwrap_err().to_string();
        assert!(few.contains("401 write requests") && few.contains("1,000 or more"), "{few}");
        let workload = Workload::parse("zipf", OpenOptions::default()).unwrap();
        let model = class("7.68TB").model(&workload, 4096, 1).unwrap();
        let timing = Some("slc".parse().unwrap());
        let timed = Experiment { timing, ..Experiment::new(workload, Vec::new()) };
        let error = model.of(&timed).unwrap_err().to_string();
        assert!(error.contains("leave out --drive"), "{error}");
    }

    #[test]
    fn copies_are_repeated_and_counted_as_one_drive() {
        use crate::Length;
        let ftls = vec!["1r-greedy".parse().unwrap()];
        let base = Experiment {
            length: Length::Writes(540_000),
            repeat: true,
            ..Experiment::new(trace(10_000, 10_000), ftls)
        };
        let model = class("7.68TB").model(&base.workload, 4096, 1).unwrap();
        let result = model.of(&base).unwrap().run(&mut ()).unwrap();
        let drive = &result.config.drive;
        assert_eq!((drive.logical_pages, drive.pages_per_block), (270_000, 131));
        assert_eq!((result.runs[0].host_writes, result.config.repeat), (540_000, true));
        assert_eq!(result.config.workload, "test");
    }
}

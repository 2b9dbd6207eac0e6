//! From the text of an experiment file to an experiment.

use super::file::{DriveTable, RunTable};
use super::file_error::Wrong;
use super::items::WorkloadItem;
use super::scalar::Scalar;
use super::scale::Scale;
use super::variables::Variables;
use ftlab_ftl::page::{FreeBlock, WearLeveling};
use ftlab_host::Timing;
use ftlab_sim::{
    DriveOptions, EarlyCollection, Experiment, Fill, Length, Logical, Physical, SlcCache, Workload,
    usual_pages_per_block,
};
use ftlab_spec::{ByteSize, Share, Spec, Value};
use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

/// What one point of the grid says, before its FTL.
pub(crate) struct Settings<'a> {
    pub(crate) drive: DriveTable,
    pub(crate) run: RunTable,
    pub(crate) workload: &'a WorkloadItem,
    pub(crate) folder: &'a Path,
    pub(crate) seed: u64,
    pub(crate) scale: Scale,
}

/// Reads a type that has a text form of its own.
fn from_str<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// Reads a value of a parameter.
fn value<T: Value>(text: &str) -> Result<T, String> {
    T::parse(text).ok_or_else(|| format!("{text:?} is not {}", T::expects_for(text)))
}

fn positive(text: &str) -> Result<f64, String> {
    value(text)
        .ok()
        .filter(|number: &f64| *number > 0.0 && *number <= 1e9)
        .ok_or_else(|| format!("{text:?} is not a positive number such as 4 or 0.5"))
}

/// A scalar that may be given.
fn given<T>(
    scalar: Option<&Scalar>,
    key: &str,
    variables: &Variables,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, Wrong> {
    scalar.map(|scalar| scalar.parse(key, variables, parse)).transpose()
}

/// Two keys of which one may be given.
fn refuse_both(a: Option<&Scalar>, b: Option<&Scalar>, names: &str) -> Result<(), Wrong> {
    match (a, b) {
        (Some(_), Some(b)) => {
            Err(Wrong::at(b.span(), format!("{names} are given both; leave one out")))
        }
        _ => Ok(()),
    }
}

fn logical_pages(drive: &DriveOptions) -> Option<u64> {
    match drive.logical {
        Logical::Pages(pages) => Some(pages),
        Logical::Bytes(size) => Some(size.0 / u64::from(drive.page_bytes.max(1))),
        Logical::OfWorkload => None,
    }
}

impl Settings<'_> {
    /// The experiment, still without FTLs; or why its workload is absent. Adds what the lengths came to
    /// to the variables: `logical-pages`, `writes` and `warmup-writes`, as far as they are given.
    pub(crate) fn experiment(
        &self,
        variables: &mut Variables,
    ) -> Result<Result<Experiment, String>, Wrong> {
        let is_generator = self.workload.is_generator(self.folder, variables);
        let full = self.drive(variables, Scale::FULL)?;
        let scale = match logical_pages(&full) {
            Some(pages) if is_generator => self.scale.of_drive(pages),
            None if is_generator => self.scale,
            _ => Scale::FULL,
        };
        let drive = self.drive(variables, scale)?;
        let pages = logical_pages(&drive);
        if let Some(pages) = pages {
            variables.set("logical-pages", pages.to_string());
        }
        let length = self.length(variables, scale)?;
        let warmup_writes = self.warmup_writes(variables, scale, pages)?;
        variables.set("warmup-writes", warmup_writes.to_string());
        if let Length::Writes(writes) = length {
            variables.set("writes", writes.to_string());
        }
        match self.workload.workload(variables, self.folder, drive.page_bytes)? {
            Ok(workload) => {
                self.with(workload, drive, length, warmup_writes, variables, scale).map(Ok)
            }
            Err(absent) => Ok(Err(absent)),
        }
    }

    fn with(
        &self,
        workload: Workload,
        drive: DriveOptions,
        length: Length,
        warmup_writes: u64,
        variables: &Variables,
        scale: Scale,
    ) -> Result<Experiment, Wrong> {
        let run = &self.run;
        let timing = given(run.timing.as_ref(), "timing", variables, |text| {
            let spec: Spec = from_str(text)?;
            Timing::from_spec(&spec).map_err(|error| error.to_string())?;
            Ok(spec)
        })?;
        let interval = given(run.interval.as_ref(), "interval", variables, value::<u64>)?;
        let flag = |scalar: &Option<Scalar>, key| {
            given(scalar.as_ref(), key, variables, value::<bool>).map(Option::unwrap_or_default)
        };
        Ok(Experiment {
            drive,
            length,
            fill: given(run.fill.as_ref(), "fill", variables, value::<Fill>)?.unwrap_or_default(),
            warmup_writes,
            interval_writes: interval.map(|writes| scale.count(writes)),
            timing,
            faults: given(run.faults.as_ref(), "faults", variables, from_str)?,
            endurance_cycles: given(run.endurance.as_ref(), "endurance", variables, value::<u32>)?,
            seed: self.seed,
            wrap: flag(&run.wrap, "wrap")?,
            ignore_trims: flag(&run.ignore_trims, "ignore-trims")?,
            observe: flag(&run.observe, "observe")?,
            ..Experiment::new(workload, Vec::new())
        })
    }

    fn drive(&self, variables: &Variables, scale: Scale) -> Result<DriveOptions, Wrong> {
        let drive = &self.drive;
        let default = DriveOptions::default();
        refuse_both(
            drive.logical.as_ref(),
            drive.logical_pages.as_ref(),
            "logical and logical-pages",
        )?;
        refuse_both(drive.op.as_ref(), drive.blocks.as_ref(), "op and blocks")?;
        let given_u32 =
            |scalar: &Option<Scalar>, key| given(scalar.as_ref(), key, variables, value::<u32>);
        let share = |scalar: &Option<Scalar>, key| {
            given(scalar.as_ref(), key, variables, from_str::<Share>)
        };
        let page_bytes = given(drive.page_size.as_ref(), "page-size", variables, page_size)?
            .unwrap_or(default.page_bytes);
        let size = given(drive.logical.as_ref(), "logical", variables, from_str::<ByteSize>)?;
        let pages = given(drive.logical_pages.as_ref(), "logical-pages", variables, value::<u64>)?;
        let pages_per_block = given_u32(&drive.pages_per_block, "pages-per-block")?;
        let asked = pages.or(size.map(|size| size.0 / u64::from(page_bytes.max(1))));
        let usual = || usual_pages_per_block(asked.map_or(u32::MAX, |pages| pages as u32));
        let scaled = scale.blocks(pages_per_block.unwrap_or_else(usual));
        let gc_min_invalid = share(&drive.gc_min_invalid, "gc-min-invalid")?;
        let whole_page = |size: ByteSize| size.0 / u64::from(page_bytes);
        Ok(DriveOptions {
            logical: match (size, pages) {
                (Some(size), _) if scale == Scale::FULL => Logical::Bytes(size),
                (Some(size), _) => Logical::Pages(scale.count(whole_page(size))),
                (None, Some(pages)) => Logical::Pages(scale.count(pages)),
                (None, None) => default.logical,
            },
            page_bytes,
            pages_per_block: pages_per_block.map(|_| scaled.pages_per_block),
            physical: Physical::asked(
                share(&drive.op, "op")?,
                given_u32(&drive.blocks, "blocks")?.map(|blocks| scaled.blocks(blocks)),
            ),
            reserve_blocks: scaled
                .reserve(given_u32(&drive.reserve, "reserve")?.unwrap_or(default.reserve_blocks)),
            early: share(&drive.gc_start, "gc-start")?
                .map(|start| EarlyCollection::new(start, gc_min_invalid)),
            gc: given(drive.gc.as_ref(), "gc", variables, from_str)?.unwrap_or(default.gc),
            wear: WearLeveling {
                free_block: given(drive.free_block.as_ref(), "free-block", variables, value)?
                    .unwrap_or(FreeBlock::Fifo),
                threshold: given_u32(&drive.wear_threshold, "wear-threshold")?.unwrap_or(0),
            },
            refresh: given(drive.refresh.as_ref(), "refresh", variables, from_str)?
                .unwrap_or_default(),
            slc_cache: given(drive.slc_cache.as_ref(), "slc-cache", variables, from_str)?.map(
                |cache: SlcCache| SlcCache { size: ByteSize(scale.count(cache.size.0)), ..cache },
            ),
        })
    }

    fn length(&self, variables: &Variables, scale: Scale) -> Result<Length, Wrong> {
        let run = &self.run;
        refuse_both(run.writes.as_ref(), run.drive_writes.as_ref(), "writes and drive-writes")?;
        let writes = given(run.writes.as_ref(), "writes", variables, value::<u64>)?;
        let drives = given(run.drive_writes.as_ref(), "drive-writes", variables, positive)?;
        Ok(match (writes, drives) {
            (Some(writes), _) => Length::Writes(scale.count(writes)),
            (None, Some(drives)) => Length::DriveWrites(drives),
            (None, None) => Length::OfWorkload,
        })
    }

    fn warmup_writes(
        &self,
        variables: &Variables,
        scale: Scale,
        pages: Option<u64>,
    ) -> Result<u64, Wrong> {
        let (of_writes, of_drives) = (&self.run.warmup_writes, &self.run.warmup_drive_writes);
        refuse_both(
            of_writes.as_ref(),
            of_drives.as_ref(),
            "warmup-writes and warmup-drive-writes",
        )?;
        let drives = given(of_drives.as_ref(), "warmup-drive-writes", variables, positive)?;
        if let Some((drives, scalar)) = drives.zip(of_drives.as_ref()) {
            return match pages {
                Some(pages) => Ok((drives * pages as f64).round() as u64),
                None => Err(Wrong::at(
                    scalar.span(),
                    "warmup-drive-writes needs the size of the drive; give logical too, or warmup-writes",
                )),
            };
        }
        let writes = given(of_writes.as_ref(), "warmup-writes", variables, value::<u64>)?;
        Ok(writes.map_or(0, |writes| scale.count(writes)))
    }
}

/// A page size in bytes.
fn page_size(text: &str) -> Result<u32, String> {
    let size: ByteSize = from_str(text)?;
    u32::try_from(size.0)
        .ok()
        .filter(|bytes| *bytes >= 512 && bytes.is_multiple_of(512))
        .ok_or_else(|| {
            format!("{size} is not a multiple of 512 bytes below 4GiB; 4KiB and 16KiB are usual")
        })
}

//! From the text of an experiment file to an experiment.

use super::drive_table::DriveTable;
use super::file::RunTable;
use super::file_error::Wrong;
use super::items::WorkloadItem;
use super::scalar::Scalar;
use super::scale::Scale;
use super::variables::Variables;
use ftlab_host::Timing;
use ftlab_sim::{DriveOptions, Experiment, Fill, Length, Workload};
use ftlab_spec::{Spec, Value};
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

impl Settings<'_> {
    /// The experiment, still without FTLs; or why its workload is absent. Adds what the lengths came to
    /// to the variables: `logical-pages`, `writes` and `warmup-writes`, as far as they are given.
    pub(crate) fn experiment(
        &self,
        variables: &mut Variables,
    ) -> Result<Result<Experiment, String>, Wrong> {
        let is_generator = self.workload.is_generator(self.folder, variables);
        let full = self.drive.options(variables)?;
        let scale = match full.asked_pages() {
            Some(pages) if is_generator => self.scale.of_drive(pages),
            None if is_generator => self.scale,
            _ => Scale::FULL,
        };
        let drive = scale.drive(&full);
        let pages = drive.asked_pages();
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

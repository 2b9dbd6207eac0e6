//! The experiment file.

use super::drive_table::DriveTable;
use super::file_error::FileError;
use super::items::{FtlItem, WorkloadItem};
use super::measured::SeriesTable;
use super::report::{Expectation, FigureSpec};
use super::scalar::{AxisValue, Pairs, Scalar};
use super::stated::Stated;
use crate::error::LabError;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// An experiment: what is run, and what is expected of it. One TOML file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "Experiment of ftlab sweep and ftlab reproduce")]
pub struct ExperimentFile {
    /// What it is about, in one sentence.
    pub title: String,
    /// Where it comes from: paper, section, figure or table.
    #[serde(default)]
    pub source: String,
    /// What was published, how this differs from it, and why; Markdown.
    #[serde(default)]
    pub text: String,
    /// What explains the differences, of the whole experiment; Markdown, after the results.
    #[serde(default)]
    pub findings: String,
    /// What is done.
    #[serde(default)]
    pub kind: Kind,
    /// Whether it is always run as it stands, because it is as small as it can be.
    #[serde(default)]
    pub unscaled: bool,
    /// The drive of every run.
    #[serde(default)]
    pub drive: DriveTable,
    /// Length, preparation and seed of every run.
    #[serde(default)]
    pub run: RunTable,
    /// Where the writes come from: each is combined with each FTL and each point of the grid.
    #[serde(default)]
    pub workloads: Vec<WorkloadItem>,
    /// What serves them.
    #[serde(default)]
    pub ftls: Vec<FtlItem>,
    /// Variables with the values that they take, in every combination; `{name}` in any value of the
    /// file stands for them.
    #[serde(default)]
    pub grid: Pairs<Vec<AxisValue>>,
    /// Seeds with which every run is repeated.
    #[serde(default)]
    pub seeds: Vec<u64>,
    /// Parts that differ in more than a grid can say; what they give goes before what is above.
    #[serde(default)]
    pub case: Vec<Case>,
    /// The numbers of the publication's setup, each matched by the runs or named as unmatched.
    #[serde(default)]
    pub stated: Vec<Stated>,
    /// What was published or is expected, and is held against what is measured.
    #[serde(default)]
    pub expect: Vec<Expectation>,
    /// Series of host and media bytes that drives gave, and runs are held against.
    #[serde(default)]
    pub series: Vec<SeriesTable>,
    /// The figures to draw.
    #[serde(default)]
    pub figure: Vec<FigureSpec>,
    #[serde(skip)]
    pub(crate) path: PathBuf,
    #[serde(skip)]
    pub(crate) toml: String,
}

/// What an experiment does with its points.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Runs the FTLs over the workloads.
    #[default]
    Runs,
    /// Looks at the workloads alone, as `ftlab inspect` does.
    Inspect,
    /// Divides the spare pages of all workloads of a few groups by the rules that `ftls` names: the
    /// variables of the grid are `chunks`, `groups` and `utilisation`.
    Splits,
}

/// A part of an experiment.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Case {
    /// How it is called in results, as the value of the axis `case`.
    pub name: String,
    /// The drive, where it differs.
    #[serde(default)]
    pub drive: DriveTable,
    /// Length, preparation and seed, where they differ.
    #[serde(default)]
    pub run: RunTable,
    /// Workloads instead of those of the file.
    #[serde(default)]
    pub workloads: Vec<WorkloadItem>,
    /// FTLs instead of those of the file.
    #[serde(default)]
    pub ftls: Vec<FtlItem>,
    /// Variables besides those of the file.
    #[serde(default)]
    pub grid: Pairs<Vec<AxisValue>>,
}

/// Declares a table of optional scalars, and what it takes over from another.
macro_rules! scalar_table {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $doc:literal])+ $field:ident,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: Option<Scalar>,)+
        }

        impl $name {
            /// What is not given here is as in `other`.
            fn or(&self, other: &Self) -> Self {
                Self { $($field: self.$field.clone().or_else(|| other.$field.clone()),)+ }
            }
        }
    };
}

scalar_table! {
    /// Length, preparation and seed of a run, in the words of `ftlab run`.
    RunTable {
        /// How the drive is filled first: none, sequential or random.
        fill,
        /// Host page writes that are executed after the fill and not counted.
        warmup_writes,
        /// The same in drive writes.
        warmup_drive_writes,
        /// Host page writes that are counted at most; all of a trace.
        writes,
        /// The same in drive writes; 4 of a generator.
        drive_writes,
        /// Host page writes of an interval of the running numbers; a quarter of the drive.
        interval,
        /// Simulates time, such as slc:channels=4.
        timing,
        /// Program/erase cycles that a block endures.
        endurance,
        /// Lets flash fail, such as program=1e-5,erase=1e-4.
        faults,
        /// Whether addresses beyond the drive are taken modulo its size.
        wrap,
        /// Whether trims do nothing.
        ignore_trims,
        /// Whether pages and blocks are watched, for which pages are moved and where they lie.
        observe,
    }
}

impl RunTable {
    /// What a case gives, and what it takes over; one way to give a length replaces the other.
    pub(crate) fn over(&self, common: &Self) -> Self {
        let mut merged = self.or(common);
        if self.writes.is_some() != self.drive_writes.is_some() {
            (merged.writes, merged.drive_writes) = (self.writes.clone(), self.drive_writes.clone());
        }
        if self.warmup_writes.is_some() != self.warmup_drive_writes.is_some() {
            (merged.warmup_writes, merged.warmup_drive_writes) =
                (self.warmup_writes.clone(), self.warmup_drive_writes.clone());
        }
        merged
    }
}

impl ExperimentFile {
    /// Reads the file at `path`.
    pub fn read(path: &Path) -> Result<Self, LabError> {
        let text = fs::read_to_string(path)
            .map_err(|source| LabError::Read { path: path.into(), source })?;
        Ok(Self::parse(path, text)?)
    }

    /// An experiment from the text of a file; paths in it are relative to the folder of `path`.
    pub fn parse(path: &Path, text: impl Into<String>) -> Result<Self, FileError> {
        let text = text.into();
        let file = toml::from_str(&text).map_err(|error| FileError::from_toml(path, &text, &error));
        Ok(Self { path: path.into(), toml: text, ..file? })
    }

    /// Where it was read.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The JSON Schema of [`ExperimentFile`], as published.
pub fn schema() -> String {
    let schema = schemars::schema_for!(ExperimentFile);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

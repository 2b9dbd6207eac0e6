//! The experiment file.

use super::file_error::FileError;
use super::items::{FtlItem, WorkloadItem};
use super::measured::SeriesTable;
use super::option_table::OptionTable;
use super::report::{Expectation, FigureSpec};
use super::scalar::{AxisValue, Pairs};
use super::stated::Stated;
use crate::error::ExperimentsError;
use ftlab_sim::{DriveOptions, Experiment, OwnPolicies};
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
    pub drive: OptionTable<DriveOptions>,
    /// Length, preparation and seed of every run.
    #[serde(default)]
    pub run: OptionTable<Experiment>,
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
    /// Policies that it may name, beside those of the registry.
    #[serde(skip)]
    pub policies: OwnPolicies,
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
    /// Shows the writes of the workloads to the hotness tests of the FTLs, which say what they take for hot.
    Recognition,
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
    pub drive: OptionTable<DriveOptions>,
    /// Length, preparation and seed, where they differ.
    #[serde(default)]
    pub run: OptionTable<Experiment>,
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

impl ExperimentFile {
    /// The experiment of the file at `path`, whose errors name its lines.
    pub fn read(path: &Path) -> Result<Self, ExperimentsError> {
        let text = fs::read_to_string(path)
            .map_err(|source| ExperimentsError::Read { path: path.into(), source })?;
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

//! The numbers of a publication's setup, as an experiment file lists them.

use super::report::Selector;
use super::scalar::Scalar;
use schemars::JsonSchema;
use serde::Deserialize;

/// A number of the publication's setup: a setting or a metric matches it, or it says why none does.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Stated {
    /// The number, in the words of the publication.
    pub says: Scalar,
    /// The setting that matches it: an option of the drive or the run that is a number, or the timing;
    /// `workload.KEY` or `ftl.KEY` of a parameter; or an axis.
    pub setting: Option<String>,
    /// The metric that matches it.
    pub metric: Option<Scalar>,
    /// Of which points.
    pub of: Selector,
    /// What the setting or the metric is to have.
    pub value: Option<Scalar>,
    /// How far off a number may be, as a share; 0.1 by default.
    pub tolerance: Option<f64>,
    /// Why nothing matches it.
    pub unmatched: Option<String>,
}

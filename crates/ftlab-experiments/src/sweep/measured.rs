//! Series that drives gave, in experiment files.

use super::file_error::Wrong;
use super::report::Selector;
use super::scalar::Scalar;
use crate::fit::Measured;
use schemars::JsonSchema;
use serde::Deserialize;

/// A series of host and media bytes that a drive gave: what runs are held against.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SeriesTable {
    /// What gave it, as the label of its line.
    pub name: Scalar,
    /// The points that are held against it.
    #[serde(default)]
    pub of: Selector,
    /// What the host could address, in units: a drive write.
    pub capacity: f64,
    /// What the host had written, in units, rising.
    pub host: Vec<f64>,
    /// What the drive had written to its medium by then, in units.
    pub media: Vec<f64>,
    /// Drive writes at the start that do not count in the distance.
    #[serde(default)]
    pub skip: f64,
}

impl SeriesTable {
    pub(super) fn measured(&self) -> Result<Measured, String> {
        if self.capacity.is_nan() || self.capacity <= 0.0 {
            return Err(format!("capacity {} is not above 0", self.capacity));
        }
        Measured::of_units(&self.host, &self.media, 1.0)
    }

    /// What is wrong with it, if anything is.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        self.measured().map(drop).map_err(|reason| {
            Wrong::at(self.name.span(), format!("series {}: {reason}", self.name.as_written()))
        })
    }

    /// Its media bytes per host byte against drive writes.
    pub fn line(&self) -> Vec<(f64, f64)> {
        let Ok(measured) = self.measured() else { return Vec::new() };
        self.drawn(measured.wafs())
    }

    /// Points at the middles of intervals, of which the first is drawn from the beginning, against drive writes.
    pub(super) fn drawn(&self, wafs: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
        let places = wafs
            .enumerate()
            .map(|(index, (host, waf))| (if index == 0 { 0.0 } else { host / self.capacity }, waf));
        places.collect()
    }
}

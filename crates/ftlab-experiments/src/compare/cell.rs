//! Cells of a scoreboard, and what came of them.

use ftlab_sim::format::with_map;
use ftlab_sim::result::RunResult;
use serde::{Deserialize, Serialize};

/// One FTL on one drive under one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The workload as it was named.
    pub workload: String,
    /// How the drive was filled first.
    pub fill: String,
    /// Over-provisioning as asked for.
    pub op_ratio: f64,
    /// Pages per erase block.
    pub pages_per_block: Option<u32>,
    /// Where the map is; none if it is in memory in every cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<String>,
    /// The FTL as it was named.
    pub ftl: String,
}

/// An FTL, and where its map is.
pub(super) type Contestant<'a> = (&'a str, Option<&'a str>);

impl Cell {
    /// What has a row of its own on a scoreboard.
    pub(super) fn contestant(&self) -> Contestant<'_> {
        (&self.ftl, self.mapping.as_deref())
    }

    /// The FTL, with its map if that is told.
    pub fn name(&self) -> String {
        with_map(&self.ftl, self.mapping.as_deref())
    }
}

/// A cell with what came of it: a result without its running series, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What was to be run.
    pub cell: Cell,
    /// What the FTL did.
    pub run: Result<RunResult, String>,
}

//! Where a workload writes, for a report.

use ftlab_analysis::{HeatMap, Skew};
use ftlab_feed::WorkloadWatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the page writes of a workload go, warm-up included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedWorkload {
    /// Page writes by address and time.
    pub heat_map: HeatMap,
    /// How unequally they are spread over the pages written at all.
    pub skew: Skew,
}

impl ObservedWorkload {
    /// What was watched.
    pub(crate) fn of(watch: WorkloadWatch) -> Self {
        let (heat_map, skew) = watch.finish();
        Self { heat_map, skew }
    }
}

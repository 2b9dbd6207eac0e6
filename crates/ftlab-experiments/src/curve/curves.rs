//! What is found: points of curves, and what they rest on.

use super::estimate::Sighting;
use ftlab_sim::evidence::Standing;
use ftlab_sim::trust::Trust;
use serde::{Deserialize, Serialize};

/// Curves of FTLs under one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    /// The workload by its name.
    pub workload: String,
    /// Pages that the host can address.
    pub logical_pages: u32,
    /// Bytes of these.
    pub logical_bytes: u64,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// What was sampled; none if every run has the whole workload.
    pub sample: Option<SampleSummary>,
    /// A curve for each FTL, in the order in which they were named.
    pub curves: Vec<FtlCurve>,
    /// What to keep in mind.
    pub caveats: Vec<String>,
    /// What it rests on.
    pub trust: Trust,
}

/// What was sampled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleSummary {
    /// One page in this many is in the larger samples.
    pub one_in: u32,
    /// Pages of a block that are left in the larger samples, and in the smaller ones.
    pub pages_per_block: [u32; 2],
    /// Samples of each size.
    pub draws: u32,
    /// Page writes of all samples, for each page write of the workload.
    pub work: f64,
    /// Pages of a write request of the workload, on average.
    #[serde(default)]
    pub pages_per_request: f64,
}

/// What an FTL makes of more and more flash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FtlCurve {
    /// The FTL as it was named.
    pub ftl: String,
    /// Drives from small to large.
    pub points: Vec<CurvePoint>,
    /// Why there is no point on some drives, if there is none.
    pub refused: Option<String>,
}

/// An FTL on a drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// (physical - logical) / logical.
    pub op_ratio: f64,
    /// Erase blocks.
    pub blocks: u32,
    /// Write amplification.
    pub waf: f64,
    /// The ends of an interval that has it with a probability of 90%; none of a run of the whole workload.
    pub interval: Option<[f64; 2]>,
    /// Whether all runs had settled.
    pub has_settled: bool,
    /// What the least of its runs is evidence of.
    pub standing: Standing,
    /// The samples that it comes from; empty of a run of the whole workload.
    pub seen: Vec<Sighting>,
}

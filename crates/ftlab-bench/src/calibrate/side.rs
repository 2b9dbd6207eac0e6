//! A workload of a pair, measured.

use super::profile::Profile;
use crate::common::Failure;
use ftlab_sim::{DriveOptions, Experiment, Fill, Length, Logical, Workload};

pub(super) const FTLS: [&str; 3] = ["1r-greedy", "2r-fifo", "2r++"];
pub(super) const FILLS: [Fill; 2] = [Fill::None, Fill::Sequential];
const PAGES_PER_BLOCK: u32 = 128;
pub(super) const SEED: u64 = 1;

/// One side of a pair.
pub(super) struct Side {
    pub(super) name: String,
    pub(super) profile: Profile,
    /// Write amplification of [`FTLS`] for each of [`FILLS`].
    pub(super) wafs: Vec<Vec<f64>>,
}

impl Side {
    pub(super) fn measure(
        workload: &Workload,
        profile: Profile,
        logical_pages: u64,
        ignore_trims: bool,
    ) -> Result<Self, Failure> {
        let name = workload.name();
        let wafs = FILLS.iter().map(|fill| {
            let ftls = FTLS.iter().map(|ftl| ftl.parse()).collect::<Result<_, _>>()?;
            let experiment = Experiment {
                drive: DriveOptions {
                    logical: Logical::Pages(logical_pages),
                    pages_per_block: Some(PAGES_PER_BLOCK),
                    ..DriveOptions::default()
                },
                length: Length::Writes(profile.writes),
                warmup_writes: profile.load_writes,
                fill: *fill,
                ignore_trims,
                seed: SEED,
                ..Experiment::new(workload.clone(), ftls)
            };
            let result = experiment.run(&mut ())?;
            Ok(result.runs.iter().map(|run| run.waf).collect())
        });
        let wafs = wafs.collect::<Result<_, Failure>>()?;
        Ok(Self { name, profile, wafs })
    }
}

//! What is asked of a fit.

use super::series::Measured;
use crate::parallel::Stop;
use ftlab_sim::Experiment;
use ftlab_spec::Spec;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The workload that was run, the fill, the page size, the reserve and the seed.
    pub base: Experiment,
    /// What was measured.
    pub measured: Measured,
    /// Bytes that the host can address; several if that is to be found too.
    pub capacities: Vec<u64>,
    /// Pages of the drives that are simulated.
    pub pages: u32,
    /// The FTLs to choose from.
    pub ftls: Vec<Spec>,
    /// Least and most over-provisioning of the coarse grid.
    pub op_ratios: (f64, f64),
    /// Least and most pages of a unit.
    pub unit_pages: (u32, u32),
    /// Drive writes at the start whose intervals do not count.
    pub skip: f64,
    /// Ends all runs when it is set.
    pub stop: Stop,
}

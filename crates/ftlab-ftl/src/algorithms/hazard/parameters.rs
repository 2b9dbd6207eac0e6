//! What can be set about hazard.

use crate::algorithms::hazard::rungs::RUNGS_MAX;

ftlab_spec::choices! {
    /// When blocks are scored for the choice of victims.
    pub enum Estimates {
        /// Whenever one has lost a thirty-second of its pages, at snapshots, and before it is chosen.
        Kept = "kept",
        /// All of them at every choice; slow.
        Fresh = "fresh",
    }
}

ftlab_spec::parameters! {
    /// Parameters of hazard.
    pub struct HazardParameters {
        /// Classes of update rates; 0: a third of the spare blocks, at least 2 and at most 8.
        rungs: u32 = 0, "rungs" in 0..=RUNGS_MAX as u32, from "ours";
        /// Host writes between two snapshots of the valid pages, per logical page.
        epoch: f64 = 0.031_25, "epoch" in 0.000_1..=1.0, from "ours";
        /// Pages of prior evidence, per page of a block.
        prior: f64 = 0.05, "prior" in 0.000_1..=10.0, from "ours";
        /// Pages of a sequential run that share what is expected of them, at most; 0: all.
        run: u32 = 0, "run" in 0..=u32::MAX, from "ours";
        /// Pages that a rung has to take for a stream of its own, 1 being what an open block costs; 0: none.
        merge: f64 = 1.0, "merge" in 0.0..=1000.0, from "ours";
        /// Pages of evidence for the rate that all blocks have in common, if their spread is 1; 0: none.
        common: f64 = 1.0, "common" in 0.0..=1000.0, from "ours";
        /// When blocks are scored for the choice of victims.
        estimates: Estimates = Estimates::Kept, "estimates", from "ours";
    }
}

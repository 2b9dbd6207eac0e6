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

ftlab_spec::choices! {
    /// Whether it keeps what is expected of every page.
    pub enum KnownPages {
        /// Yes.
        On = "on",
        /// No: what is known of a page is known of its block.
        Off = "off",
    }
}

ftlab_spec::parameters! {
    pub struct HazardParameters {
        /// Streams beside that of first writes, at most; 0: 6, or as many as the spare blocks allow.
        rungs: u32 = 0, "rungs" in 0..=RUNGS_MAX as u32, from "ours";
        /// Host writes between two snapshots of the valid pages, per logical page; there are seven more between them.
        epoch: f64 = 0.031_25, "epoch" in 0.000_1..=1.0, from "ours";
        /// Pages of prior evidence, per page of a block; an eighth for what is lost lately.
        prior: f64 = 0.05, "prior" in 0.000_1..=10.0, from "ours";
        /// Pages of a sequential run that share what is expected of them, at most; 0: all, or one if pages are known.
        run: u32 = 0, "run" in 0..=u32::MAX, from "ours";
        /// Weight of what an open block costs when lifetimes are divided among streams; 0: none, all streams.
        merge: f64 = 2.0, "merge" in 0.0..=1000.0, from "ours";
        /// When blocks are scored for the choice of victims.
        estimates: Estimates = Estimates::Kept, "estimates", from "ours";
        /// Whether it keeps the lifetime expected of every page.
        pages: KnownPages = KnownPages::On, "pages", from "ours";
    }
}

ftlab_spec::parameters! {
    pub struct RateParameters {
        /// Streams, at most; 0: 6, or as many as the spare blocks allow.
        rungs: u32 = 0, "rungs" in 0..=RUNGS_MAX as u32, from "ours";
        /// Host writes between two divisions of lifetimes among streams, per logical page.
        epoch: f64 = 0.031_25, "epoch" in 0.000_1..=1.0, from "ours";
        /// Weight of what an open block costs when lifetimes are divided among streams; 0: none, all streams.
        merge: f64 = 1.0, "merge" in 0.0..=1000.0, from "ours";
    }
}

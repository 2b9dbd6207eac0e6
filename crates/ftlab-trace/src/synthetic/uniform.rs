//! `uniform`: every page equally likely.

use super::{GeneratorInfo, PageSequence, Space};
use crate::TraceError;
use ftlab_spec::{Parameters, Spec};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

ftlab_spec::parameters! {
    /// How pages are drawn.
    pub struct UniformParameters {
        /// Whether each pass over the drive writes every page once, in a new random order, as fio
        /// does unless norandommap is set; off draws every page afresh.
        map: bool = false, "map", from "the models of uniform writes; fio's default is on";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "uniform",
    summary: "every page equally likely",
    source: "all closed forms of write amplification",
    parameters: UniformParameters::describe,
    build,
};

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let _parameters = UniformParameters::from_spec(spec)?;
    let random = Xoshiro256PlusPlus::seed_from_u64(space.seed);
    Ok(Box::new(Independent { random, pages: space.logical_pages }))
}

/// Every page drawn afresh.
struct Independent {
    random: Xoshiro256PlusPlus,
    pages: u64,
}

impl PageSequence for Independent {
    fn fill(&mut self, pages: &mut [u64]) {
        for page in pages {
            *page = ((u128::from(self.random.next_u64()) * u128::from(self.pages)) >> 64) as u64;
        }
    }
}

//! `mix`: every write comes from one of several generators, drawn by share.
//!
//! Each generator runs over the whole drive with a seed of its own and continues where it stopped,
//! as if the others were not there; a generator that counts writes (`skewinc`, `swap`, `join`)
//! counts its own. [`parts`](super::parts) has the grammar. In a shell, quote it:
//! `'mix:of=uniform*0.3;zipf(theta=0.9)*0.7'`.

use super::areas::overlay;
use super::generator::{End, GeneratorInfo, Make, PageSequence, Sequence};
use super::parts::{Parts, pick, seed_of, shares_of_one, thresholds};
use super::space::Space;
use crate::TraceError;
use ftlab_spec::{Parameters, Spec, SpecError, Value};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

fn default_parts() -> Parts {
    Parts::parse("uniform*0.3;zipf(theta=0.9)*0.7").expect("a list of ours")
}

ftlab_spec::parameters! {
    /// What is mixed.
    pub struct MixParameters {
        /// Generators with their shares of the writes, which add up to 1 (0.001 more or less is
        /// scaled). Quote it in a shell.
        of: Parts = default_parts(), "of", from "an example of ours";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "mix",
    summary: "every write from one of several generators, by share",
    source: "ours",
    parameters: MixParameters::describe,
    end: End::Never,
    make: Make::OfParts {
        parts: |spec| MixParameters::from_spec(spec).map(|parameters| parameters.of),
        build,
        areas: |spec, parts| Ok(overlay(&parts, shares(spec)?.into_iter())),
    },
};

/// The share of each part.
fn shares(spec: &Spec) -> Result<Vec<f64>, SpecError> {
    let MixParameters { of } = MixParameters::from_spec(spec)?;
    let amounts: Vec<f64> = of.0.iter().map(|part| part.amount).collect();
    shares_of_one(&spec.name, "of", &of.to_string(), &amounts)
}

fn build(spec: &Spec, space: &Space, parts: Vec<Sequence>) -> Result<Sequence, TraceError> {
    Ok(Box::new(Mix {
        random: Xoshiro256PlusPlus::seed_from_u64(seed_of(space.seed, 0)),
        thresholds: thresholds(&shares(spec)?),
        parts: parts.into_iter().map(Ahead::new).collect(),
    }))
}

struct Mix {
    random: Xoshiro256PlusPlus,
    thresholds: Vec<u64>,
    parts: Vec<Ahead>,
}

impl PageSequence for Mix {
    fn fill(&mut self, pages: &mut [u64]) {
        for page in pages {
            let part = pick(&self.thresholds, self.random.next_u64() >> 11);
            *page = self.parts[part].next();
        }
    }
}

/// A sequence that is drawn some pages ahead.
struct Ahead {
    sequence: Sequence,
    drawn: Vec<u64>,
    used: usize,
}

const AHEAD_PAGES: usize = 1024;

impl Ahead {
    fn new(sequence: Sequence) -> Self {
        Self { sequence, drawn: vec![0; AHEAD_PAGES], used: AHEAD_PAGES }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        if self.used == self.drawn.len() {
            self.sequence.fill(&mut self.drawn);
            self.used = 0;
        }
        self.used += 1;
        self.drawn[self.used - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::sequence;

    #[test]
    fn shares_are_as_asked() {
        let space = Space { logical_pages: 1000, page_bytes: 4096, seed: 7 };
        // The first writes pages 0..100 only, the second 900.. only, the third all.
        let spec =
            "mix:of=hotcold(writes=1;pages=0.1)*0.5;hotcold(writes=0;pages=0.9)*0.3;uniform*0.2";
        let mut drawn = vec![0u64; 1_000_000];
        sequence(&spec.parse().unwrap(), &space).unwrap().fill(&mut drawn);
        let share = |range: std::ops::Range<u64>| {
            drawn.iter().filter(|page| range.contains(page)).count() as f64 / 1e6
        };
        for (range, expected) in [(0..100, 0.52), (100..900, 0.16), (900..1000, 0.32)] {
            // Five standard deviations are at most 0.0025.
            assert!((share(range.clone()) - expected).abs() < 0.0025, "{range:?}");
        }
    }

    #[test]
    fn errors_say_what_is_right() {
        let space = Space { logical_pages: 1000, page_bytes: 4096, seed: 7 };
        for (spec, part) in [
            ("mix:of=uniform*0.3;zipf*0.3", "must add up to 1, not 0.6"),
            ("mix:of=uniform*0.3;zipff*0.7", "did you mean \"zipf\"?"),
            ("mix:of=uniform*0.3;zipf(thet=1)*0.7", "did you mean \"theta\"?"),
            (
                "mix:of=uniform",
                "of=uniform is not a list of generators: part 1, \"uniform\", has no",
            ),
        ] {
            let error = sequence(&spec.parse().unwrap(), &space).err().unwrap().to_string();
            assert!(error.contains(part), "{spec}: {error}");
        }
    }
}

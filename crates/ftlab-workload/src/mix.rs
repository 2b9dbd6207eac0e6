//! `mix`: every write comes from one of several generators, drawn by share.
//!
//! Each generator runs over the whole drive with a seed of its own and continues where it stopped,
//! as if the others were not there; a generator that counts writes (`skewinc`, `swap`, `join`)
//! counts its own. Before a write come the reads, trims and flushes that its generator has there. Shares are of pages: a
//! write of eight pages stands for that draw and for the next seven of the same generator.
//! [`parts`](super::parts) has the grammar. In a shell, quote it:
//! `'mix:of=uniform*0.3;zipf(theta=0.9)*0.7'`.

use super::areas::overlay;
use super::generator::{End, GeneratorInfo, Make};
use super::part::PartRequests;
use super::parts::{Parts, pick, seed_of, shares_of_one, thresholds};
use super::sequence::{PageSequence, Sequence};
use ftlab_spec::{Parameters, Spec, SpecError, Value};
use ftlab_trace::Space;
use ftlab_trace::{RequestBatch, TraceError};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

fn default_parts() -> Parts {
    Parts::parse("uniform*0.3;zipf(theta=0.9)*0.7").expect("a list of ours")
}

ftlab_spec::parameters! {
    /// What is mixed.
    pub struct MixParameters {
        /// Generators with their shares of the pages written, which add up to 1 (0.001 more or less is
        /// scaled). Quote it in a shell.
        of: Parts = default_parts(), "of", from "an example of ours";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "mix",
    summary: "every write from one of several generators, by share",
    source: "ours",
    parameters: MixParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::Parts {
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
        parts: parts.into_iter().map(PartRequests::new).map(|of| (of, 0)).collect(),
        drawn: None,
    }))
}

struct Mix {
    random: Xoshiro256PlusPlus,
    thresholds: Vec<u64>,
    /// Each with the pages that it has written beyond those that were drawn.
    parts: Vec<(PartRequests, u64)>,
    /// The part that was drawn, as long as it has not written.
    drawn: Option<usize>,
}

impl PageSequence for Mix {
    fn next_requests(
        &mut self,
        batch: &mut RequestBatch,
        page_sectors: u32,
    ) -> Result<bool, TraceError> {
        while !batch.is_full() {
            let drawn = self.drawn.take();
            let number =
                drawn.unwrap_or_else(|| pick(&self.thresholds, self.random.next_u64() >> 11));
            let (part, beyond) = &mut self.parts[number];
            if *beyond > 0 {
                *beyond -= 1;
                continue;
            }
            if !part.advance(page_sectors)? {
                break;
            }
            part.push(batch);
            match part.written(page_sectors) {
                0 => self.drawn = Some(number),
                pages => *beyond = pages - 1,
            }
        }
        Ok(!batch.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence;
    use ftlab_trace::Op;

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
    fn every_request_of_every_part_comes_in_its_order() {
        let space = Space { logical_pages: 1 << 16, page_bytes: 4096, seed: 7 };
        let parts = ["lsm", "uniform(reads=0.5)", "three-streams"];
        let spec = format!("mix:of={}*0.5;{}*0.3;{}*0.2", parts[0], parts[1], parts[2]);
        let requests = |spec: &str, seed| {
            let spec: Spec = spec.replace('(', ":").replace(')', "").parse().unwrap();
            PartRequests::new(sequence(&spec, &Space { seed, ..space }).unwrap())
        };
        let mut mix = PartRequests::new(sequence(&spec.parse().unwrap(), &space).unwrap());
        let mut alone =
            [0, 1, 2].map(|part| requests(parts[part], seed_of(space.seed, part as u64 + 1)));
        let mut next = alone.each_mut().map(PartRequests::next);
        let (mut reads, mut trims, mut pages) = (0, 0, [0_u64; 3]);
        for _ in 0..100_000 {
            let request = mix.next();
            let of = next.iter().position(|of| *of == request).expect("of one of them");
            reads += u32::from(request.0 == Op::Read);
            trims += u32::from(request.0 == Op::Trim);
            pages[of] += mix.written(8);
            next[of] = alone[of].next();
        }
        assert!(reads > 1000 && trims > 10, "{reads} {trims}");
        let all: u64 = pages.iter().sum();
        for (pages, share) in pages.into_iter().zip([0.5, 0.3, 0.2]) {
            assert!((pages as f64 / all as f64 - share).abs() < 0.01, "{pages} of {all}");
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

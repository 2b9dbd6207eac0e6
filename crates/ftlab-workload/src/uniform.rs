//! `uniform`: every page equally likely.
//!
//! With `map=on` each pass over the drive is a random permutation, drawn afresh for every pass: no
//! page is written twice before all are written once. fio does so by default (its random map),
//! which lowers the write amplification of every FTL; its order is that of
//! [`fio-randwrite`](super::fio). With `reads` some requests read a page, as likely any as another.

use super::areas::Area;
use super::generator::{End, GeneratorInfo, Make};
use super::sequence::{PageSequence, Pages};
use ftlab_random::draw_below;
use ftlab_random::{NUMBERS_MAX, Permutation};
use ftlab_spec::{Parameters, Spec};
use ftlab_trace::Space;
use ftlab_trace::{Op, RequestBatch, TraceError};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

ftlab_spec::parameters! {
    /// How pages are drawn.
    pub struct UniformParameters {
        /// Whether each pass over the drive writes every page once, in a new random order; off
        /// draws every page afresh.
        map: bool = false, "map", from "the closed forms of uniform writes; fio's default is on";
        /// Share of the requests that read a page instead, drawn afresh.
        reads: f64 = 0.0, "reads" in 0.0..=0.999, from "the closed forms of uniform writes";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "uniform",
    summary: "every page equally likely, whatever was written before; not fio's default, which has a random map \
              and a lower write amplification: fio-randwrite",
    source: "all closed forms of write amplification",
    parameters: UniformParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::Parameters {
        resolve: UniformParameters::resolve,
        build,
        areas: |_, space| Ok(vec![Area { pages: space.logical_pages, writes: 1.0 }]),
    },
};

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let parameters = UniformParameters::from_spec(spec)?;
    let random = Xoshiro256PlusPlus::seed_from_u64(space.seed);
    if parameters.map && space.logical_pages > NUMBERS_MAX {
        return Err(TraceError::Unsupported {
            what: format!("uniform:map=on over {} pages", space.logical_pages),
            remedy: format!("use map=off, or a drive of at most {NUMBERS_MAX} pages"),
        });
    }
    let writes: Box<dyn PageSequence> = if parameters.map {
        Box::new(Passes::new(random, space.logical_pages))
    } else {
        Box::new(Independent { random, pages: space.logical_pages })
    };
    if parameters.reads == 0.0 {
        return Ok(writes);
    }
    // Numbers of their own: which pages are written does not depend on the share of reads.
    let random = Xoshiro256PlusPlus::seed_from_u64(!space.seed);
    let reads_of_all = (parameters.reads * READS_OF as f64).round() as u64;
    Ok(Box::new(WithReads { writes, random, pages: space.logical_pages, reads_of_all }))
}

/// Shares of reads are in parts of this.
const READS_OF: u64 = 1 << 32;

/// Page writes with reads between them.
struct WithReads {
    writes: Box<dyn PageSequence>,
    random: Xoshiro256PlusPlus,
    pages: u64,
    /// Requests that read, in parts of [`READS_OF`].
    reads_of_all: u64,
}

impl PageSequence for WithReads {
    fn next_requests(
        &mut self,
        batch: &mut RequestBatch,
        page_sectors: u32,
    ) -> Result<bool, TraceError> {
        self.writes.next_requests(batch, page_sectors)?;
        let written = std::mem::take(&mut batch.lba);
        batch.clear();
        for lba in written {
            while draw_below(&mut self.random, READS_OF) < self.reads_of_all {
                let page = draw_below(&mut self.random, self.pages);
                batch.push(Op::Read, page * u64::from(page_sectors), page_sectors);
            }
            batch.push(Op::Write, lba, page_sectors);
        }
        Ok(true)
    }
}

/// Every page drawn afresh.
struct Independent {
    random: Xoshiro256PlusPlus,
    pages: u64,
}

impl Pages for Independent {
    fn fill(&mut self, pages: &mut [u64]) {
        for page in pages {
            *page = draw_below(&mut self.random, self.pages);
        }
    }
}

/// One permutation after the other.
struct Passes {
    random: Xoshiro256PlusPlus,
    pass: Permutation,
}

impl Passes {
    fn new(mut random: Xoshiro256PlusPlus, pages: u64) -> Self {
        let pass = Permutation::new(pages, &mut random);
        Self { random, pass }
    }
}

impl Pages for Passes {
    fn fill(&mut self, pages: &mut [u64]) {
        for page in pages {
            *page = loop {
                if let Some(page) = self.pass.next() {
                    break page;
                }
                self.pass.redraw(&mut self.random);
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(spec: &str, pages: u64, seed: u64, count: usize) -> Vec<u64> {
        let space = Space { logical_pages: pages, page_bytes: 4096, seed };
        let mut drawn = vec![0; count];
        build(&spec.parse().unwrap(), &space).unwrap().fill(&mut drawn);
        drawn
    }

    #[test]
    fn reads_are_the_share_that_was_asked_for_and_change_no_write() {
        let space = Space { logical_pages: 1000, page_bytes: 4096, seed: 1 };
        let mut batch = RequestBatch::new();
        let (mut reads, mut read_pages, mut writes) = (0, [0_u32; 1000], Vec::new());
        let mut sequence = build(&"uniform:reads=0.3".parse().unwrap(), &space).unwrap();
        while writes.len() < 70_000 {
            batch.clear();
            assert!(sequence.next_requests(&mut batch, 8).unwrap());
            for (op, lba) in batch.op.iter().zip(&batch.lba) {
                if *op == Op::Read {
                    reads += 1;
                    read_pages[(lba / 8) as usize] += 1;
                } else {
                    writes.push(lba / 8);
                }
            }
        }
        let share = f64::from(reads) / (f64::from(reads) + writes.len() as f64);
        assert!((share - 0.3).abs() < 0.006, "{share}");
        assert!(read_pages.iter().all(|count| *count > 0));
        assert_eq!(writes, draw("uniform", 1000, 1, writes.len()));
    }

    #[test]
    fn pages_are_equally_likely() {
        let mut counts = [0u32; 1000];
        for page in draw("uniform", 1000, 1, 1_000_000) {
            counts[page as usize] += 1;
        }
        let chi_square: f64 =
            counts.iter().map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0).sum();
        // 999 degrees of freedom: mean 999, standard deviation 45.
        assert!((775.0..1225.0).contains(&chi_square), "{chi_square}");
    }

    #[test]
    fn with_the_map_every_pass_is_another_permutation() {
        let drawn = draw("uniform:map=on", 1000, 1, 3000);
        for pass in drawn.chunks(1000) {
            let mut sorted = pass.to_vec();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..1000));
        }
        assert_ne!(drawn[..1000], drawn[1000..2000]);
        assert_ne!(drawn[1000..2000], drawn[2000..]);
    }
}

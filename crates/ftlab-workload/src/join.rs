//! `join`: one generator after the other.
//!
//! Lengths are in drive writes: a part of length 2 yields twice as many writes as the drive has
//! pages, and part k ends at write (sum of the lengths up to k) x pages, rounded. The last part has
//! no end, whatever its length. Writes are counted by pages, from the first that the generator yields, with a
//! warm-up that is taken from it; a request that goes past the end of its part is cut there. Reads, trims and
//! flushes are those of the part. Each part runs over the whole drive with a seed of its own.
//! [`parts`](super::parts) has the grammar. In a shell, quote it:
//! `'join:of=uniform*2;zipf(theta=0.9)*1'`.

use super::areas::overlay;
use super::generator::{End, GeneratorInfo, Make};
use super::part::PartRequests;
use super::parts::Parts;
use super::sequence::{PageSequence, Sequence};
use ftlab_spec::{Parameters, Spec, Value};
use ftlab_trace::Space;
use ftlab_trace::{RequestBatch, TraceError};

fn default_parts() -> Parts {
    Parts::parse("uniform*2;zipf(theta=0.9)*2").expect("a list of ours")
}

ftlab_spec::parameters! {
    /// What follows what.
    pub struct JoinParameters {
        /// Generators with their lengths in drive writes; the last one continues without end. Quote
        /// it in a shell.
        of: Parts = default_parts(), "of", from "an example of ours";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "join",
    summary: "one generator after the other, by drive writes",
    source: "ours",
    parameters: JoinParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::Parts {
        parts: |spec| JoinParameters::from_spec(spec).map(|parameters| parameters.of),
        build,
        areas: |_, parts| {
            let first_alone = std::iter::once(1.0).chain(std::iter::repeat(0.0));
            Ok(overlay(&parts, first_alone))
        },
    },
};

fn build(spec: &Spec, space: &Space, parts: Vec<Sequence>) -> Result<Sequence, TraceError> {
    let JoinParameters { of } = JoinParameters::from_spec(spec)?;
    let mut sum = 0.0;
    let ends = of.0.iter().map(|part| {
        sum += part.amount;
        (sum * space.logical_pages as f64).round() as u64
    });
    let mut parts: Vec<_> = parts.into_iter().map(PartRequests::new).zip(ends).collect();
    if let Some((_, end)) = parts.last_mut() {
        *end = u64::MAX;
    }
    Ok(Box::new(Join { parts, present: 0, written: 0 }))
}

struct Join {
    /// Each with the page write at which it ends.
    parts: Vec<(PartRequests, u64)>,
    present: usize,
    written: u64,
}

impl PageSequence for Join {
    fn next_requests(
        &mut self,
        batch: &mut RequestBatch,
        page_sectors: u32,
    ) -> Result<bool, TraceError> {
        while !batch.is_full() {
            while self.written >= self.parts[self.present].1 {
                self.present += 1;
            }
            let (part, end) = &mut self.parts[self.present];
            if !part.advance(page_sectors)? {
                break;
            }
            let (written, left) = (part.written(page_sectors), *end - self.written);
            if written > left {
                part.shorten(left, page_sectors);
            }
            part.push(batch);
            self.written += written.min(left);
        }
        Ok(!batch.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::seed_of;
    use crate::sequence;
    use ftlab_trace::Op;

    #[test]
    fn parts_change_at_the_exact_write() {
        let space = Space { logical_pages: 1000, page_bytes: 4096, seed: 7 };
        // Pages 0..100 only for 1,500 writes, then 900.. only for 250, then 0..100 again.
        let spec =
            "join:of=hotcold(writes=1)*1.5;hotcold(writes=0;pages=0.9)*0.25;hotcold(writes=1)*1";
        let mut drawn = vec![0u64; 10_000];
        sequence(&spec.parse().unwrap(), &space).unwrap().fill(&mut drawn);
        assert!(drawn[..1500].iter().all(|page| *page < 100));
        assert!(drawn[1500..1750].iter().all(|page| *page >= 900));
        assert!(drawn[1750..].iter().all(|page| *page < 100), "the last continues");
        assert_ne!(drawn[..1000], drawn[1750..2750], "seeds differ");
    }

    #[test]
    fn requests_are_those_of_the_part_and_cut_at_its_end() {
        let space = Space { logical_pages: 1 << 16, page_bytes: 4096, seed: 7 };
        for cut in [60_001_u32, 60_002, 60_003, 60_004] {
            let first = format!("lsm*{}", f64::from(cut) / f64::from(1 << 16));
            let spec = format!("join:of={first};uniform(reads=0.5)*1").parse().unwrap();
            let mut joined = PartRequests::new(sequence(&spec, &space).unwrap());
            let [mut lsm, mut uniform] =
                [("lsm", 1), ("uniform:reads=0.5", 2)].map(|(of, part)| {
                    let space = Space { seed: seed_of(space.seed, part), ..space };
                    PartRequests::new(sequence(&of.parse().unwrap(), &space).unwrap())
                });
            let (mut written, mut others) = (0, 0);
            while written < cut.into() {
                let (request, whole) = (joined.next(), lsm.next());
                written += joined.written(8);
                others += u32::from(request.0 != Op::Write);
                assert!(request == whole || written == u64::from(cut), "{request:?}");
            }
            assert!(written == u64::from(cut) && others > 0, "{written}, {others}");
            let reads = (0..10_000).filter(|_| {
                let request = joined.next();
                assert_eq!(request, uniform.next());
                request.0 == Op::Read
            });
            assert!((4700..5300).contains(&reads.count()));
        }
    }

    #[test]
    fn errors_say_what_is_right() {
        let space = Space { logical_pages: 1000, page_bytes: 4096, seed: 7 };
        for (spec, part) in [
            ("join:of=unifrom*1;zipf*1", "did you mean \"uniform\"?"),
            ("join:of=uniform*0", "has \"0\" after its *, not a number above 0"),
            (
                "join:of=uniform*1;zipf(theta=0.9*1",
                "part 2, \"zipf(theta=0.9*1\", has a ( without a )",
            ),
        ] {
            let error = sequence(&spec.parse().unwrap(), &space).err().unwrap().to_string();
            assert!(error.contains(part), "{spec}: {error}");
        }
    }
}

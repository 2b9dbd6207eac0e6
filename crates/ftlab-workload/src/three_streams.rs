//! `three-streams`: a sequential writer, overwrites of the same data, and random writes to a part of their own.
//!
//! # Idea
//! What drives with placement handles are tried with. Three jobs of fio run at once, and each names a handle: what
//! handles are worth is how much less is moved than if nobody named any.
//!
//! # Rule
//! The drive has two parts, of nine tenths and one tenth. First, both are filled, the first from beginning to end, the
//! second by as many random writes as it has pages, one after every 32 of the first, as 128 KiB and 4 KiB from queues
//! of equal depth would come. Then three jobs write single pages:
//!
//! | stream | job | where |
//! |---|---|---|
//! | 0 | sequential | the first part, from beginning to end, again and again |
//! | 2 | overwrites | the first part: uniform, zipf as fio has it, or zones |
//! | 1 | random | the second part, uniform |
//!
//! Which writes next: each job is owed its share of a page with every write, and the one that is owed most comes next.
//! What the sequential job is owed fluctuates: every `redraw` drive writes, its share is drawn uniformly
//! around its mean, with `fluctuation` as the standard deviation. The other two divide the rest as their means do.
//!
//! # What to know
//! - Jobs that share a drive do not write evenly: on WARP's emulator, the share of the sequential writer in a tenth of
//!   a second is 0.33 to 0.78 (fio's own logs; mean 0.57 to 0.61, standard deviation 0.14). Units of flash therefore hold
//!   different mixtures, which matters where handles are shared: with a fluctuation of 0, write amplification is off by
//!   up to a fifth of WAF - 1.
//! - On a drive that is scaled down, zipf over fewer pages is less skewed: with an exponent of 1.2, 3.4% of the overwrites
//!   of 4 GiB go to the nine tenths written least often, and 1.3% of those of 448 GiB. `drive` is the size of the drive
//!   that is meant: ranks are drawn for its blocks of 4 KiB, and as many neighbouring ranks as it is larger are one page. Every
//!   tenth of the pages then has its share of the writes, whatever the scale.
//!
//! # Reference
//! "Characterizing and Emulating FDP SSDs with WARP", FAST 2026, and its artifact: jobs, and the logs of their bandwidth.

use super::generator::{End, GeneratorInfo, Make};
use super::parts::seed_of;
use super::requests::{Stepped, Steps};
use super::sequence::PageSequence;
use ftlab_random::{Ranks, SPREAD, ZETA_TERMS_MAX, draw_below, draw_share, zeta};
use ftlab_spec::{ByteSize, Parameters, Spec, SpecError};
use ftlab_trace::Space;
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Op, RequestBatch, TraceError};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

ftlab_spec::choices! {
    /// Where overwrites go.
    pub enum Overwrites {
        /// Everywhere alike.
        Uniform = "uniform",
        /// As `zipf` of fio has it.
        Zipf = "zipf",
        /// 80% to the first fifth, 10% to the next and 10% to the rest.
        Zoned = "zoned",
    }
}

ftlab_spec::choices! {
    /// Which placement handles are named.
    pub enum Handles {
        /// One for each stream.
        Own = "own",
        /// Overwrites have that of the sequential writer.
        Shared = "shared",
        /// None.
        None = "none",
    }
}

ftlab_spec::parameters! {
    /// Three streams at once.
    pub struct ThreeStreamsParameters {
        /// Where overwrites go.
        overwrites: Overwrites = Overwrites::Uniform, "overwrites", from "WARP (FAST 2026)";
        /// Skew of zipf.
        theta: f64 = 1.2, "theta" in 0.01..=10.0, from "WARP (FAST 2026)";
        /// Bytes of the drive of which zipf has the skew, if this one is scaled down; 0 for this one.
        drive: ByteSize = ByteSize(0), "drive", from "our choice";
        /// Placement handles.
        handles: Handles = Handles::Own, "handles", from "WARP (FAST 2026)";
        /// Mean share of the writes that the sequential job has.
        sequential: f64 = 0.58, "sequential" in 0.0..=1.0, from "WARP (FAST 2026): 0.57 to 0.61";
        /// Mean share that the overwrites have; random writes have the rest.
        overwriting: f64 = 0.21, "overwriting" in 0.0..=1.0, from "WARP (FAST 2026): 0.19 to 0.22";
        /// Standard deviation of the share of the sequential job.
        fluctuation: f64 = 0.14, "fluctuation" in 0.0..=0.5, from "WARP (FAST 2026): over 0.1 s";
        /// Drive writes for which a share holds.
        redraw: f64 = 0.0006, "redraw" in 0.000_001..=1.0, from "WARP (FAST 2026): 0.3 s";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "three-streams",
    summary: "a sequential writer, overwrites of the same data, and random writes to a tenth, each with a handle",
    source: "WARP (FAST 2026)",
    parameters: ThreeStreamsParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::Parameters {
        resolve: ThreeStreamsParameters::resolve,
        build,
        areas: |_, _| Ok(Vec::new()),
    },
};

/// The smallest drive: each part has pages.
const PAGES_MIN: u64 = 20;
/// Bytes of the blocks that zipf is of.
const BLOCK_BYTES: u64 = 4096;
/// Sequential pages of the fill for each random one.
const FILL_TURN: u64 = 32;
const STEP_WRITES: usize = 256;

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let parameters = ThreeStreamsParameters::from_spec(spec)?;
    check(&parameters, spec)?;
    if space.logical_pages < PAGES_MIN {
        return Err(TraceError::Unsupported {
            what: format!("three-streams on a drive of {} pages", space.logical_pages),
            remedy: format!("give it {PAGES_MIN} at least"),
        });
    }
    Ok(Box::new(Stepped::new(ThreeStreams::new(&parameters, space))))
}

/// Refuses parameters that do not go together.
fn check(parameters: &ThreeStreamsParameters, spec: &Spec) -> Result<(), SpecError> {
    let ThreeStreamsParameters { sequential, overwriting, fluctuation, theta, .. } = *parameters;
    let bad = |key: &str, value: f64, expects: String| {
        let (of, key, value) = (spec.name.clone(), key.into(), value.to_string());
        Err(SpecError::BadValue { of, key, value, expects })
    };
    if (theta - 1.0).abs() < f64::EPSILON {
        let expects = "possible: 1/(1 - theta) has no value there; use 0.99, and say so";
        return bad("theta", theta, expects.into());
    }
    if sequential + overwriting > 1.0 {
        let most = 1.0 - sequential;
        let expects =
            format!("possible: it and sequential are shares of the writes; give {most:.3} at most");
        return bad("overwriting", overwriting, expects);
    }
    let most = sequential.min(1.0 - sequential) / WIDTH;
    if fluctuation > most {
        let expects = format!(
            "possible: the share of the sequential job would leave 0 to 1; give {most:.3} at most"
        );
        return bad("fluctuation", fluctuation, expects);
    }
    Ok(())
}

/// Half the width of a uniform distribution with a standard deviation of 1: the root of 3.
const WIDTH: f64 = 1.732_050_807_568_877_2;

/// What writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Job {
    Sequential,
    Overwrites,
    Random,
}

/// The pages of the overwrites.
enum Target {
    Uniform,
    Zipf {
        ranks: Ranks,
        offset: u64,
    },
    /// Of ten, eight to the first fifth, one to the next and one to the rest.
    Zoned,
}

/// Three jobs on their two parts of the drive.
struct ThreeStreams {
    random: Xoshiro256PlusPlus,
    target: Target,
    handles: Handles,
    page_sectors: u32,
    /// Pages of the first part and the second.
    pages: [u64; 2],
    /// Pages that the fill has written of each.
    filled: [u64; 2],
    /// Where the sequential job goes on.
    next: u64,
    shares: Shares,
}

/// Who writes next.
struct Shares {
    sequential: f64,
    /// Of the rest.
    overwriting: f64,
    /// The most by which the share of the sequential job differs from its mean.
    width: f64,
    /// Writes for which a share holds, and those left of them.
    interval: u64,
    left: u64,
    /// Present shares of the jobs, and what each is owed, in pages.
    present: [f64; 3],
    owed: [f64; 3],
}

impl Shares {
    fn new(parameters: &ThreeStreamsParameters, pages: u64) -> Self {
        let rest = 1.0 - parameters.sequential;
        Self {
            sequential: parameters.sequential,
            overwriting: if rest > 0.0 { parameters.overwriting / rest } else { 0.0 },
            width: parameters.fluctuation * WIDTH,
            interval: ((parameters.redraw * pages as f64).round() as u64).max(1),
            left: 0,
            present: [0.0; 3],
            owed: [0.0; 3],
        }
    }

    #[inline]
    fn next(&mut self, random: &mut Xoshiro256PlusPlus) -> Job {
        if self.left == 0 {
            let uniform = draw_share(random);
            let sequential = self.sequential + self.width * (2.0 * uniform - 1.0);
            let overwriting = (1.0 - sequential) * self.overwriting;
            self.present = [sequential, overwriting, 1.0 - sequential - overwriting];
            self.left = self.interval;
        }
        self.left -= 1;
        for (owed, share) in self.owed.iter_mut().zip(self.present) {
            *owed += share;
        }
        let [sequential, overwrites, random] = self.owed;
        let (job, index) = if sequential >= overwrites && sequential >= random {
            (Job::Sequential, 0)
        } else if overwrites >= random {
            (Job::Overwrites, 1)
        } else {
            (Job::Random, 2)
        };
        self.owed[index] -= 1.0;
        job
    }
}

impl ThreeStreams {
    fn new(parameters: &ThreeStreamsParameters, space: &Space) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed_of(space.seed, 0));
        let second = space.logical_pages / 10;
        let first = space.logical_pages - second;
        let target = match parameters.overwrites {
            Overwrites::Uniform => Target::Uniform,
            Overwrites::Zoned => Target::Zoned,
            Overwrites::Zipf => {
                let blocks = parameters.drive.0 / BLOCK_BYTES;
                let blocks = if blocks == 0 { first } else { blocks - blocks / 10 }.max(2);
                let terms = blocks.min(ZETA_TERMS_MAX);
                let zeta = zeta(terms, parameters.theta);
                Target::Zipf {
                    ranks: Ranks::with_zeta(blocks, parameters.theta, zeta),
                    offset: random.next_u64(),
                }
            }
        };
        Self {
            random,
            target,
            handles: parameters.handles,
            page_sectors: space.page_bytes / SECTOR_BYTES as u32,
            pages: [first, second],
            filled: [0; 2],
            next: 0,
            shares: Shares::new(parameters, space.logical_pages),
        }
    }

    /// The next write of the fill; `None` when it is over.
    fn fill(&mut self) -> Option<(Job, u64)> {
        let [first, second] = self.filled;
        let is_random =
            second < self.pages[1] && (first == self.pages[0] || (second + 1) * FILL_TURN <= first);
        if is_random {
            self.filled[1] += 1;
            return Some((Job::Random, self.random_page()));
        }
        (first < self.pages[0]).then(|| {
            self.filled[0] += 1;
            (Job::Sequential, first)
        })
    }

    /// Of the second part.
    fn random_page(&mut self) -> u64 {
        self.pages[0] + draw_below(&mut self.random, self.pages[1])
    }

    fn sequential_page(&mut self) -> u64 {
        let page = self.next;
        self.next = if page + 1 == self.pages[0] { 0 } else { page + 1 };
        page
    }

    /// Of the first part.
    fn overwritten_page(&mut self) -> u64 {
        let pages = self.pages[0];
        match &self.target {
            Target::Uniform => draw_below(&mut self.random, pages),
            Target::Zoned => {
                let tenths = |tenths: u64| tenths * pages / 10;
                let (from, to) = match draw_below(&mut self.random, 10) {
                    0..8 => (0, tenths(2)),
                    8 => (tenths(2), tenths(4)),
                    _ => (tenths(4), pages),
                };
                from + draw_below(&mut self.random, (to - from).max(1))
            }
            Target::Zipf { ranks, offset } => {
                let rank = u128::from(ranks.draw(&mut self.random));
                let rank = (rank * u128::from(pages) / u128::from(ranks.numbers())) as u64;
                rank.wrapping_mul(SPREAD).wrapping_add(*offset) % pages
            }
        }
    }

    fn stream(&self, job: Job) -> u16 {
        match (job, self.handles) {
            (Job::Overwrites, Handles::Own) => 2,
            (Job::Random, _) => 1,
            _ => 0,
        }
    }
}

impl Steps for ThreeStreams {
    fn step(&mut self, out: &mut RequestBatch) -> Result<bool, TraceError> {
        for _ in 0..STEP_WRITES {
            let (job, page) = self.fill().unwrap_or_else(|| {
                let job = self.shares.next(&mut self.random);
                let page = match job {
                    Job::Sequential => self.sequential_page(),
                    Job::Overwrites => self.overwritten_page(),
                    Job::Random => self.random_page(),
                };
                (job, page)
            });
            out.push(Op::Write, page * u64::from(self.page_sectors), self.page_sectors);
            if self.handles != Handles::None {
                out.stream.push(self.stream(job));
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first requests, as (stream, page).
    fn writes(spec: &str, pages: u64, count: usize) -> Vec<(u16, u64)> {
        let parameters = ThreeStreamsParameters::from_spec(&spec.parse().unwrap()).unwrap();
        let space = Space { logical_pages: pages, page_bytes: 4096, seed: 3 };
        let mut jobs = ThreeStreams::new(&parameters, &space);
        let mut batch = RequestBatch::new();
        while batch.len() < count {
            jobs.step(&mut batch).unwrap();
        }
        let streams = batch.stream.iter().copied().chain(std::iter::repeat(u16::MAX));
        streams.zip(batch.lba.iter().map(|lba| lba / 8)).take(count).collect()
    }

    #[test]
    fn both_parts_are_filled_first() {
        let fill = writes("three-streams", 10_000, 10_000);
        let first: Vec<_> = fill.iter().filter(|(_, page)| *page < 9000).collect();
        assert!(
            first.iter().map(|(_, page)| *page).eq(0..9000) && fill.len() - first.len() == 1000
        );
        assert!(first.iter().all(|(stream, _)| *stream == 0));
        assert!(fill.iter().filter(|(_, page)| *page >= 9000).all(|(stream, _)| *stream == 1));
        assert_eq!(fill[..3300].iter().filter(|(stream, _)| *stream == 1).count(), 100, "1 of 33");
    }

    #[test]
    fn shares_and_their_fluctuation_are_as_asked() {
        let (pages, interval) = (100_000, 200);
        let spec = "three-streams:redraw=0.002,fluctuation=0.1,sequential=0.6,overwriting=0.3";
        let all = writes(spec, pages, 4_100_000);
        let mean = |stream: u16, writes: &[(u16, u64)]| {
            writes.iter().filter(|(other, _)| *other == stream).count() as f64 / writes.len() as f64
        };
        let main = &all[100_000..];
        for (stream, share) in [(0, 0.6), (1, 0.1), (2, 0.3)] {
            assert!((mean(stream, main) - share).abs() < 0.003, "{stream}: {}", mean(stream, main));
        }
        let sequential = main.chunks(interval).map(|writes| mean(0, writes));
        let variance = sequential.map(|share| (share - 0.6).powi(2)).sum::<f64>()
            / (main.len() / interval) as f64;
        assert!((variance.sqrt() - 0.1).abs() < 0.003, "{}", variance.sqrt());
        let pages = main.iter().filter(|(stream, _)| *stream == 0).map(|(_, page)| *page);
        assert!(pages.zip((0..90_000).cycle()).all(|(page, next)| page == next), "round and round");
    }

    #[test]
    fn zones_have_their_shares() {
        let all = writes("three-streams:overwrites=zoned", 10_000, 500_000);
        let over: Vec<_> = all[10_000..].iter().filter(|(stream, _)| *stream == 2).collect();
        let share = |from: u64, to: u64| {
            over.iter().filter(|(_, page)| (from..to).contains(page)).count() as f64
                / over.len() as f64
        };
        for (from, to, expected) in [(0, 1800, 0.8), (1800, 3600, 0.1), (3600, 9000, 0.1)] {
            assert!((share(from, to) - expected).abs() < 0.01, "{from}: {}", share(from, to));
        }
    }

    /// The share of zipf's overwrites that goes beyond the hottest tenth of the ranks of n is
    /// (10^(theta - 1) - 1) / -eta, by solving the rule for the rank.
    #[test]
    fn zipf_has_the_skew_of_the_drive_that_is_meant() {
        let cold = |spec: &str, pages: u64| {
            let space = Space { logical_pages: pages, page_bytes: 4096, seed: 3 };
            let parameters = ThreeStreamsParameters::from_spec(&spec.parse().unwrap()).unwrap();
            let mut jobs = ThreeStreams::new(&parameters, &space);
            let Target::Zipf { offset, .. } = jobs.target else { panic!("zipf") };
            let first = jobs.pages[0];
            // One to one, because this is a power of two.
            assert!(first.is_power_of_two());
            let page = |rank: u64| rank.wrapping_mul(SPREAD).wrapping_add(offset) % first;
            let hot: std::collections::HashSet<_> = (0..first / 10).map(page).collect();
            let draws = 400_000;
            let cold = (0..draws).filter(|_| !hot.contains(&jobs.overwritten_page())).count();
            cold as f64 / f64::from(draws)
        };
        let of_448_gib = 0.012_55;
        for pages in [72_817, 291_271] {
            let share = cold("three-streams:overwrites=zipf,drive=448GiB", pages);
            assert!((share / of_448_gib - 1.0).abs() < 0.05, "{pages} pages: {share}");
        }
        let own = cold("three-streams:overwrites=zipf", 72_817);
        assert!(own > 4.0 * of_448_gib, "{own}");
    }

    #[test]
    fn handles_are_those_asked_for() {
        let streams = |spec: &str| {
            let streams = writes(spec, 1000, 5000).into_iter().map(|(stream, _)| stream);
            streams.collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(streams("three-streams"), [0, 1, 2].into());
        assert_eq!(streams("three-streams:handles=shared"), [0, 1].into());
        assert_eq!(streams("three-streams:handles=none"), [u16::MAX].into());
    }

    #[test]
    fn errors_say_what_is_right() {
        let space = Space { logical_pages: 1000, page_bytes: 4096, seed: 3 };
        for (spec, part) in [
            ("three-streams:sequential=0.7,overwriting=0.4", "give 0.300 at most"),
            ("three-streams:sequential=0.79", "give 0.121 at most"),
            ("three-streams:overwriting=0.5", "give 0.420 at most"),
            ("three-streams:theta=1", "use 0.99"),
        ] {
            let error = build(&spec.parse().unwrap(), &space).err().unwrap().to_string();
            assert!(error.contains(part), "{spec}: {error}");
        }
        let error = build(&"three-streams".parse().unwrap(), &Space { logical_pages: 9, ..space });
        assert!(error.err().unwrap().to_string().contains("give it 20"));
    }
}

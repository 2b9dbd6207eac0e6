//! `oltp`: a pass of scattered, skewed writes to a part of the drive, over and over.
//!
//! # Rule
//! A pass writes `touched` of the pages, each at least once; they fall into groups with `sizes`
//! shares of these pages and `rates` shares of the writes, and what a group has beyond one write for
//! each page goes to its pages at random. Which pages are touched and which are in which group is
//! random: nothing is sequential. The order of the writes is random, and every pass is the same.
//!
//! All touched pages lie in a share `blocks` of the runs of 64 pages that begin at multiples of 64.
//!
//! One more assumption may be made. With `window` below 1, the writes of a page lie in a part of the
//! pass that begins at random, the end and the beginning of the pass being joined.
//!
//! # What to know
//! The defaults are all that the paper states of its trace of TPC-C, which cannot be had: on 8 GiB in
//! pages of 2 KiB, 4 million writes to 1.4 million pages in 75% of the data blocks, 70% of them to 30% of
//! the pages and half to 10%. There is no window in the paper; window=0.28,blocks=0.68 was fitted to
//! its table 2.
//!
//! A pass is held in memory, 4 bytes for each write; to make it takes 8.
//!
//! # Reference
//! Lim, Lee and Moon, "FASTer FTL for Enterprise-Class Flash Memory SSDs", SNAPI 2010, section III.A.

use super::generator::{End, GeneratorInfo, Make};
use super::parts::shares_of_one;
use super::sequence::{PageSequence, Pages};
use super::swap::Numbers;
use ftlab_random::Permutation;
use ftlab_random::draw_below;
use ftlab_spec::{Parameters, Spec, SpecError};
use ftlab_trace::Space;
use ftlab_trace::TraceError;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::ops::Range;

ftlab_spec::parameters! {
    /// What a pass writes, and in which order.
    pub struct OltpParameters {
        /// Share of the pages that is written at all.
        touched: f64 = 0.35, "touched" in 0.0..=1.0, from "FASTer (SNAPI 2010), section III.A";
        /// Shares of these pages, one for each group, separated by ';'.
        sizes: Numbers = Numbers(vec![0.1, 0.2, 0.7]), "sizes", from "FASTer (SNAPI 2010), section III.A";
        /// Shares of the writes, one for each group.
        rates: Numbers = Numbers(vec![0.5, 0.2, 0.3]), "rates", from "FASTer (SNAPI 2010), section III.A";
        /// Writes of a pass, in drive writes.
        pass: f64 = 1.0, "pass" in 0.0..=1000.0, from "FASTer (SNAPI 2010), section V.C: about 4 million writes to 8 GB";
        /// Share of the pass in which the writes of a page lie.
        window: f64 = 1.0, "window" in 0.0..=1.0, from "our reading: the paper is silent";
        /// Share of the runs of 64 pages that touched pages lie in.
        blocks: f64 = 0.75, "blocks" in 0.0..=1.0, from "FASTer (SNAPI 2010), section V: almost 75% of the data blocks";
    }
}

/// Pages of a run: an erase block of the paper.
const RUN_PAGES: u64 = 64;

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "oltp",
    summary: "a pass of scattered, skewed writes to a part of the drive, over and over",
    source: "FASTer (SNAPI 2010), section III.A",
    parameters: OltpParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::Parameters {
        resolve: OltpParameters::resolve,
        areas: |_, _| Ok(Vec::new()),
        build,
    },
};

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let parameters = OltpParameters::from_spec(spec)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(space.seed);
    let writes = (parameters.pass * space.logical_pages as f64).round();
    if space.logical_pages > u64::from(u32::MAX) || writes > f64::from(u32::MAX) {
        return Err(TraceError::Unsupported {
            what: format!("a pass of {writes} writes to {} pages", space.logical_pages),
            remedy: format!("oltp works with up to {} of each", u32::MAX),
        });
    }
    let pages = touched_pages(&parameters, space.logical_pages, &mut random)?;
    let groups = groups(spec, &parameters, pages.len() as u64, writes as u64)?;
    let pass = order(&pages, &groups, parameters.window, &mut random);
    Ok(Box::new(Oltp { pass, next: 0 }))
}

fn unfit(what: String, remedy: &str) -> TraceError {
    TraceError::Unsupported { what, remedy: remedy.into() }
}

/// The pages that are written, in random order.
fn touched_pages(
    parameters: &OltpParameters,
    logical_pages: u64,
    random: &mut Xoshiro256PlusPlus,
) -> Result<Vec<u32>, TraceError> {
    let OltpParameters { touched, blocks, .. } = *parameters;
    let wanted = ((touched * logical_pages as f64).round() as usize).max(1);
    let runs = logical_pages.div_ceil(RUN_PAGES);
    let wanted_runs = ((blocks * runs as f64).round() as usize).max(1);
    let mut walk = Permutation::new(runs, random);
    let runs: Vec<u64> = std::iter::from_fn(|| walk.next()).take(wanted_runs).collect();
    let mut walk = Permutation::new(runs.len() as u64 * RUN_PAGES, random);
    let pages: Vec<u32> = std::iter::from_fn(|| walk.next())
        .map(|place| runs[(place / RUN_PAGES) as usize] * RUN_PAGES + place % RUN_PAGES)
        .filter(|page| *page < logical_pages)
        .map(|page| page as u32)
        .take(wanted)
        .collect();
    if pages.len() < wanted {
        let what = format!("touched={touched} of the pages in blocks={blocks} of the runs");
        return Err(unfit(what, "lower touched, or raise blocks"));
    }
    Ok(pages)
}

/// For each group its touched pages, and its writes.
fn groups(
    spec: &Spec,
    parameters: &OltpParameters,
    pages: u64,
    writes: u64,
) -> Result<Vec<(Range<usize>, u64)>, TraceError> {
    let OltpParameters { sizes, rates, .. } = parameters;
    let of_one = |key, list: &Numbers| shares_of_one(&spec.name, key, &list.to_string(), &list.0);
    let (sizes, shares) = (of_one("sizes", sizes)?, of_one("rates", rates)?);
    if sizes.len() != shares.len() {
        return Err(TraceError::Spec(SpecError::BadValue {
            of: spec.name.clone(),
            key: "rates".into(),
            value: rates.to_string(),
            expects: format!("possible: give {} rates, as many as there are sizes", sizes.len()),
        }));
    }
    let ends = |shares: &[f64], whole: u64| -> Vec<u64> {
        let sums = shares.iter().scan(0.0, |sum, share| {
            *sum += share;
            Some((*sum * whole as f64).round() as u64)
        });
        sums.collect()
    };
    let (mut first_page, mut first_write) = (0, 0);
    let mut groups = Vec::new();
    for (end_page, end_write) in ends(&sizes, pages).into_iter().zip(ends(&shares, writes)) {
        let (group_pages, group_writes) = (end_page - first_page, end_write - first_write);
        if group_writes < group_pages || group_pages == 0 && group_writes > 0 {
            let what = format!(
                "a group of {group_pages} touched pages with {group_writes} writes in a pass"
            );
            return Err(unfit(
                what,
                "every touched page is written, and every write has a page: change sizes or rates, \
                 raise pass or lower touched",
            ));
        }
        groups.push((first_page as usize..end_page as usize, group_writes));
        (first_page, first_write) = (end_page, end_write);
    }
    Ok(groups)
}

/// The writes of a pass in order.
fn order(
    pages: &[u32],
    groups: &[(Range<usize>, u64)],
    window: f64,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<u32> {
    // Moments are fractions of the pass in units of 2^-32, which wrap around.
    let starts: Vec<u32> = pages.iter().map(|_| random.next_u64() as u32).collect();
    let window = (window * (1_u64 << 32) as f64) as u64;
    let mut events = Vec::with_capacity(groups.iter().map(|(_, writes)| *writes as usize).sum());
    for (group, writes) in groups {
        for write in 0..*writes {
            let index = if (write as usize) < group.len() {
                group.start + write as usize
            } else {
                group.start + draw_below(random, group.len() as u64) as usize
            };
            let moment = starts[index].wrapping_add(draw_below(random, window.max(1)) as u32);
            events.push((moment, pages[index]));
        }
    }
    events.sort_unstable();
    events.into_iter().map(|(_, page)| page).collect()
}

/// One pass, over and over.
struct Oltp {
    pass: Vec<u32>,
    next: usize,
}

impl Pages for Oltp {
    fn fill(&mut self, pages: &mut [u64]) {
        for page in pages {
            *page = u64::from(self.pass[self.next]);
            self.next = (self.next + 1) % self.pass.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: u64 = 1 << 16;

    fn pass(spec: &str) -> Result<Vec<u64>, String> {
        let space = Space { logical_pages: PAGES, page_bytes: 2048, seed: 3 };
        let sequence = build(&spec.parse().unwrap(), &space).map_err(|error| error.to_string());
        let mut drawn = vec![0; 2 * PAGES as usize];
        sequence?.fill(&mut drawn);
        let again = drawn.split_off(PAGES as usize);
        assert_eq!(drawn, again, "every pass is the same");
        Ok(drawn)
    }

    #[test]
    fn a_pass_has_what_the_paper_states() {
        let mut counts = vec![0_u32; PAGES as usize];
        pass("oltp").unwrap().iter().for_each(|page| counts[*page as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let touched = counts.iter().filter(|count| **count > 0).count();
        assert_eq!(touched, 22_938, "35% of the pages");
        let share = |pages: f64| {
            let first = &counts[..(pages * touched as f64) as usize];
            f64::from(first.iter().sum::<u32>()) / PAGES as f64
        };
        // The most written pages of the groups below are above a tenth, and so on.
        assert!((0.5..0.51).contains(&share(0.1)), "{}", share(0.1));
        assert!((0.7..0.73).contains(&share(0.3)), "{}", share(0.3));
    }

    #[test]
    fn a_window_holds_all_writes_of_a_page_and_blocks_all_pages() {
        let writes = pass("oltp:window=0.28,blocks=0.68").unwrap();
        let mut runs: Vec<u64> = writes.iter().map(|page| page / RUN_PAGES).collect();
        runs.sort_unstable();
        runs.dedup();
        assert_eq!(runs.len(), 696, "68% of 1,024");
        let mut moments = vec![Vec::new(); PAGES as usize];
        for (moment, page) in writes.iter().enumerate() {
            moments[*page as usize].push(moment as f64 / PAGES as f64);
        }
        for moments in moments.iter().filter(|moments| moments.len() > 1) {
            // The pass is a ring: all but the longest gap is the window.
            let around = moments[0] + 1.0 - moments[moments.len() - 1];
            let gap = moments.windows(2).map(|pair| pair[1] - pair[0]).fold(around, f64::max);
            assert!(1.0 - gap < 0.29, "{moments:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_numbers() {
        for (spec, part) in [
            ("oltp:touched=0.7,blocks=0.5", "touched=0.7 of the pages in blocks=0.5 of the runs"),
            ("oltp:touched=0.9,blocks=1", "a group of 41287 touched pages with 19661 writes"),
            ("oltp:rates=0.5;0.5", "give 3 rates"),
            ("oltp:sizes=0.5;0.2", "must add up to 1, not 0.7"),
            ("oltp:pass=2000", "pass=2000 is not a number in 0.0..=1000.0"),
        ] {
            let error = pass(spec).unwrap_err();
            assert!(error.contains(part), "{spec}: {error}");
        }
    }
}

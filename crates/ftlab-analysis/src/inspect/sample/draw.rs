//! Which pages are in a sample.

use super::counts::{EachPage, PageWrites, Reach};
use super::source::Sample;
use ftlab_trace::{TraceError, TraceSource};
use std::cmp::Reverse;

/// Pages of a sample that stand for the hottest pages together, each for its share of them: our choice.
const HOT_GROUPS: usize = 16;

/// A sample that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// Pages that it has.
    pub pages: u32,
    /// Decides which.
    pub seed: u64,
}

/// Samples of one workload that are filled together.
#[derive(Debug)]
pub struct Samples {
    reach: Reach,
    /// For each page of the drive, one more than its first place in `places`; 0 if it is in no sample.
    first_place: Vec<u32>,
    places: Vec<Place>,
    filling: Vec<Filling>,
    /// Requests so far.
    requests: u64,
}

/// A page of a sample that a page of the drive is, or is a part of.
#[derive(Debug, Clone, Copy)]
struct Place {
    sample: u16,
    /// Whether the next place is of the same page.
    has_next: bool,
    /// Which group of hot pages it is of, if it is of one.
    group: Option<u8>,
    page: u32,
}

/// A sample while it is filled.
#[derive(Debug)]
struct Filling {
    sample: Sample,
    /// Pages of the drive for one of the sample.
    step: f64,
    /// How much of the next write of each group of hot pages has come.
    due: [f64; HOT_GROUPS],
    /// The page that was taken last, and the number of its request.
    before: (u64, u32),
}

impl Samples {
    /// Draws samples of pages that are written so often.
    pub fn draw(counts: &PageWrites, draws: &[Draw]) -> Self {
        let logical = counts.of_page.len();
        let mut order: Vec<u32> = (0..logical as u32).collect();
        order.sort_unstable_by_key(|page| (Reverse(counts.of_page[*page as usize]), *page));
        let mut places: Vec<(u32, Place)> = Vec::new();
        let mut filling = Vec::new();
        for (number, draw) in draws.iter().enumerate() {
            let step = logical as f64 / f64::from(draw.pages.max(1));
            let mut random = SplitMix(draw.seed);
            let begin = random.share();
            let at = |place: f64| ((place * step) as usize).min(logical);
            // Its address, and the pages of the order that it stands for.
            let choose = |page: usize| {
                let one = at(page as f64 + begin).min(logical.saturating_sub(1));
                let group = at(page as f64)..at(page as f64 + 1.0);
                let is_hot = page < HOT_GROUPS && counts.of_page[order[one] as usize] > 0;
                let is_group = is_hot && group.len() > 1;
                (
                    order[one],
                    is_group.then_some(page as u8),
                    if is_group { group } else { one..one + 1 },
                )
            };
            let mut chosen: Vec<_> = (0..draw.pages as usize).map(choose).collect();
            chosen.sort_unstable_by_key(|(page, ..)| *page);
            for (page, (_, group, of)) in (0..).zip(chosen) {
                let place = Place { sample: number as u16, has_next: false, group, page };
                places.extend(order[of].iter().map(|page| (*page, place)));
            }
            let due = std::array::from_fn(|_| random.share() * step);
            let sample = Sample::empty(draw.pages, counts.reach.page_bytes);
            filling.push(Filling { sample, step, due, before: (0, 0) });
        }
        drop(order);
        places.sort_unstable_by_key(|(page, place)| (*page, place.sample));
        let mut first_place = vec![0; logical];
        for at in (0..places.len()).rev() {
            let page = places[at].0;
            places[at].1.has_next = places.get(at + 1).is_some_and(|next| next.0 == page);
            first_place[page as usize] = at as u32 + 1;
        }
        let places = places.into_iter().map(|(_, place)| place).collect();
        Self { reach: counts.reach, first_place, places, filling, requests: 0 }
    }

    /// Fills them from the workload whose pages were counted.
    pub fn fill(mut self, source: &mut dyn TraceSource) -> Result<Vec<Sample>, TraceError> {
        let reach = self.reach;
        reach.pass(source, &mut self)?;
        Ok(self.filling.into_iter().map(|filling| filling.sample).collect())
    }
}

impl EachPage for Samples {
    #[inline]
    fn page(&mut self, page: u32, is_write: bool, continues: bool) {
        let mut at = self.first_place[page as usize] as usize;
        self.requests += u64::from(!continues);
        while at > 0 {
            let place = self.places[at - 1];
            self.filling[usize::from(place.sample)].take(place, is_write, self.requests);
            at = if place.has_next { at + 1 } else { 0 };
        }
    }
}

impl Filling {
    #[inline]
    fn take(&mut self, place: Place, is_write: bool, request: u64) {
        if let Some(group) = place.group {
            let due = &mut self.due[usize::from(group)];
            *due += 1.0;
            if *due < self.step {
                return;
            }
            *due -= self.step;
        }
        let continues = place.page > 0 && self.before == (request, place.page - 1);
        self.sample.push(place.page, is_write, continues);
        self.before = (request, place.page);
    }
}

/// Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
struct SplitMix(u64);

impl SplitMix {
    /// A number from 0 to below 1.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_trace::{Op, RequestBatch, Skipped, TraceMetadata};
    use std::sync::Arc;

    /// Requests that are held: operation, first page, pages.
    struct Held(std::vec::IntoIter<(Op, u64, u32)>, TraceMetadata, Skipped);

    impl TraceSource for Held {
        fn metadata(&self) -> &TraceMetadata {
            &self.1
        }

        fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
            batch.clear();
            for (op, page, pages) in self.0.by_ref().take(7) {
                batch.push(op, 8 * page, 8 * pages);
            }
            Ok(!batch.is_empty())
        }

        fn skipped(&self) -> &Skipped {
            &self.2
        }
    }

    fn held(requests: &[(Op, u64, u32)]) -> Held {
        Held(Vec::from(requests).into_iter(), TraceMetadata::default(), Skipped::default())
    }

    const REACH: Reach = Reach {
        logical_pages: 4096,
        page_bytes: 4096,
        wrap: false,
        ignore_trims: false,
        writes_max: None,
    };

    fn samples(requests: &[(Op, u64, u32)], reach: Reach, draws: &[Draw]) -> Vec<Sample> {
        let counts = PageWrites::count(&mut held(requests), reach).unwrap();
        Samples::draw(&counts, draws).fill(&mut held(requests)).unwrap()
    }

    /// All requests of a sample: operation, first page, pages.
    fn all(sample: Sample) -> Vec<(Op, u64, u32)> {
        let mut source = Arc::new(sample).open();
        let (mut all, mut batch) = (Vec::new(), RequestBatch::with_limit(5));
        while source.next_batch(&mut batch).unwrap() {
            all.extend(batch.iter().map(|(op, lba, sectors)| (op, lba / 8, sectors / 8)));
        }
        all
    }

    /// A page that is written often, and all others in turns.
    fn skewed(writes: u64) -> Vec<(Op, u64, u32)> {
        let page = |write: u64| if write.is_multiple_of(3) { 77 } else { write * 1237 % 4096 };
        (0..writes).map(|write| (Op::Write, page(write), 1)).collect()
    }

    #[test]
    fn a_page_is_in_a_sample_with_all_of_its_writes_or_not_at_all() {
        let requests: Vec<_> = (0..40_960).map(|at| (Op::Write, at * 1237 % 4096, 1)).collect();
        let sample = samples(&requests, REACH, &[Draw { pages: 512, seed: 3 }]).remove(0);
        assert_eq!((sample.pages, sample.writes), (512, 5120));
        let mut writes = vec![0; 512];
        for (_, page, _) in all(sample) {
            writes[page as usize] += 1;
        }
        // Those that stand for eight pages each are written as often, too.
        assert!(writes.iter().all(|writes| (9..=11).contains(writes)), "{writes:?}");
    }

    #[test]
    fn the_hottest_pages_have_their_share_whatever_the_draw() {
        let requests = skewed(100_000);
        let draws: Vec<_> = (0..9).map(|seed| Draw { pages: 64, seed }).collect();
        for sample in samples(&requests, REACH, &draws) {
            let share = sample.writes as f64 * 64.0 / 100_000.0;
            assert!((share - 1.0).abs() < 0.02, "{share}");
            let mut writes = vec![0; 64];
            for (_, page, _) in all(sample) {
                writes[page as usize] += 1;
            }
            let most = f64::from(*writes.iter().max().unwrap()) / 520.0;
            assert!((most - 1.0).abs() < 0.05, "{most}");
        }
    }

    #[test]
    fn samples_depend_on_the_seed_and_not_on_each_other() {
        let requests = skewed(20_000);
        let draws = [1, 2].map(|seed| Draw { pages: 256, seed });
        let both = samples(&requests, REACH, &draws);
        assert!(both[0] != both[1]);
        assert_eq!(both[1..], samples(&requests, REACH, &draws[1..]));
    }

    #[test]
    fn consecutive_pages_of_a_request_stay_one_and_trims_are_kept() {
        let requests = [(Op::Write, 0, 4096), (Op::Read, 0, 8), (Op::Trim, 0, 4096)];
        let sample = samples(&requests, REACH, &[Draw { pages: 1024, seed: 1 }]).remove(0);
        let found = all(sample);
        let pages = |op| found.iter().filter(|of| of.0 == op).map(|of| of.2).sum::<u32>();
        assert!((1020..=1024).contains(&pages(Op::Write)), "{found:?}");
        assert!((1000..=1024).contains(&pages(Op::Trim)), "{found:?}");
        assert!(found.len() < 120, "only pages that stand for several divide it: {}", found.len());
        let ignored = Reach { ignore_trims: true, ..REACH };
        let sample = samples(&requests, ignored, &[Draw { pages: 1024, seed: 1 }]).remove(0);
        assert!(all(sample).iter().all(|of| of.0 == Op::Write));
    }

    #[test]
    fn the_reach_ends_it_and_addresses_beyond_are_refused_or_wrapped() {
        let short = Reach { writes_max: Some(5_000), ..REACH };
        let requests = skewed(20_000);
        assert_eq!(PageWrites::count(&mut held(&requests), short).unwrap().writes(), 5_000);
        let beyond = [(Op::Write, 4090, 8)];
        let error = PageWrites::count(&mut held(&beyond), REACH).unwrap_err().to_string();
        assert!(error.contains("page 4097") && error.contains("--wrap"), "{error}");
        let wrapped = Reach { wrap: true, ..REACH };
        let counts = PageWrites::count(&mut held(&beyond), wrapped).unwrap();
        assert_eq!((counts.of_page[0], counts.of_page[4095], counts.writes()), (1, 1, 8));
        assert!((counts.pages_per_request() - 8.0).abs() < 1e-12);
    }
}

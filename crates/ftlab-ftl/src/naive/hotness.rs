//! The tests of hotness as one would write them down: lists that are searched from end to end, and
//! filters that are lists of bits.

use crate::algorithms::placement::places_of;
use ftlab_flash::Lpn;
use ftlab_spec::Spec;

/// Tells hot pages from cold ones.
pub(super) enum NaiveHotness {
    Lru {
        hot: Vec<Lpn>,
        candidates: Vec<Lpn>,
        hot_max: usize,
        candidates_max: usize,
    },
    Mbf {
        filters: Vec<Vec<bool>>,
        current: usize,
        hashes: u32,
        threshold: usize,
        decay: u64,
        writes: u64,
    },
    /// The first page that is not hot.
    Oracle(u32),
}

impl NaiveHotness {
    /// The test that `spec` names for a drive of `logical_pages` pages, if it is one.
    pub(super) fn new(spec: &Spec, logical_pages: u32) -> Option<Self> {
        let number = |key: &str, default: usize, auto: usize| match spec.get(key) {
            None => default,
            Some("auto") => auto.max(1),
            Some(text) => text.parse().unwrap(),
        };
        let tenth = logical_pages as usize / 10;
        match spec.name.split('/').next()? {
            "lru" => {
                let hot_max = number("hot", 512, tenth);
                let candidates_max = number("candidates", 1532, 3 * hot_max);
                Some(Self::Lru { hot: Vec::new(), candidates: Vec::new(), hot_max, candidates_max })
            }
            "mbf" => {
                let decay = number("decay", 512, tenth);
                let filter = vec![false; number("bits", 4096, 8 * decay)];
                Some(Self::Mbf {
                    filters: vec![filter; number("filters", 4, 0)],
                    current: 0,
                    hashes: number("hashes", 2, 0) as u32,
                    threshold: number("threshold", 2, 0),
                    decay: decay as u64,
                    writes: 0,
                })
            }
            "oracle" => {
                let share: f64 = spec.get("hot")?.parse().unwrap();
                Some(Self::Oracle((share * f64::from(logical_pages)).round() as u32))
            }
            _ => None,
        }
    }

    /// Takes note of a write.
    pub(super) fn write(&mut self, lpn: Lpn) {
        match self {
            Self::Oracle(_) => {}
            Self::Lru { hot, candidates, hot_max, candidates_max } => {
                if hot.contains(&lpn) || candidates.contains(&lpn) {
                    hot.retain(|&page| page != lpn);
                    candidates.retain(|&page| page != lpn);
                    hot.insert(0, lpn);
                } else {
                    candidates.insert(0, lpn);
                }
                if hot.len() > *hot_max {
                    candidates.insert(0, hot.pop().unwrap());
                }
                candidates.truncate(*candidates_max);
            }
            Self::Mbf { filters, current, hashes, decay, writes, .. } => {
                let (count, bits) = (filters.len(), filters[0].len());
                for place in places_of(lpn, bits as u64, *hashes) {
                    let round = (0..count).map(|ahead| (*current + ahead) % count);
                    let lacks = |&filter: &usize| !filters[filter][place as usize];
                    if let Some(filter) = round.into_iter().find(lacks) {
                        filters[filter][place as usize] = true;
                    }
                }
                *writes += 1;
                if *writes % *decay == 0 {
                    *current = (*current + count - 1) % count;
                    filters[*current] = vec![false; bits];
                }
            }
        }
    }

    pub(super) fn is_hot(&self, lpn: Lpn) -> bool {
        match self {
            Self::Oracle(end) => lpn.0 < *end,
            Self::Lru { hot, .. } => hot.contains(&lpn),
            Self::Mbf { filters, hashes, threshold, .. } => {
                places_of(lpn, filters[0].len() as u64, *hashes).all(|place| {
                    let known = filters.iter().filter(|filter| filter[place as usize]);
                    known.count() >= *threshold
                })
            }
        }
    }

    pub(super) fn trim(&mut self, lpn: Lpn) {
        if let Self::Lru { hot, candidates, .. } = self {
            hot.retain(|&page| page != lpn);
            candidates.retain(|&page| page != lpn);
        }
    }
}

/// The registered tests equal these over sequences that are long enough to fill them many times.
mod tests {
    use super::NaiveHotness;
    use crate::algorithms::placement::{Lru, LruParameters, Mbf, MbfParameters};
    use crate::algorithms::tools::hotness::Hotness;
    use crate::page::entry::{DriveShape, FitContext, PlacementEntry};
    use ftlab_flash::Lpn;
    use ftlab_spec::{Parameters, Spec};
    use proptest::prelude::*;

    const SHAPE: DriveShape =
        DriveShape { blocks: 40, pages_per_block: 16, logical_pages: 500, reserve_blocks: 4 };

    /// Writes, and now and then a trim, of pages of which low ones come more often.
    fn steps() -> impl Strategy<Value = Vec<(bool, Lpn)>> {
        let page = (0_u32..500, 0_u32..5).prop_map(|(page, skew)| Lpn(page >> skew));
        let step = (prop::bool::weighted(0.02), page);
        prop::collection::vec(step, 0..3000)
    }

    fn compare<H: Hotness + PlacementEntry>(
        spec: &Spec,
        steps: &[(bool, Lpn)],
    ) -> Result<(), TestCaseError> {
        let mut parameters = H::Parameters::from_spec(spec).unwrap();
        let context = FitContext { ftl: &spec.name, shape: SHAPE, oracle: &[] };
        H::fit(&mut parameters, &context).unwrap();
        let mut fast = H::new(&parameters, SHAPE);
        let mut naive = NaiveHotness::new(spec, SHAPE.logical_pages).unwrap();
        for (step, &(is_trim, lpn)) in steps.iter().enumerate() {
            if is_trim {
                fast.forget(lpn);
                naive.trim(lpn);
            } else {
                fast.record(lpn);
                naive.write(lpn);
            }
            let probe = Lpn(step as u32 * 7 % SHAPE.logical_pages);
            for lpn in [lpn, probe] {
                prop_assert_eq!(fast.is_hot(lpn), naive.is_hot(lpn), "{}, step {}", spec, step);
            }
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn lru_judges_as_two_plain_lists_do(
            steps in steps(),
            hot in 1_u32..80,
            candidates in 1_u32..200,
        ) {
            let spec = format!("lru/greedy:hot={hot},candidates={candidates}").parse().unwrap();
            prop_assert!(LruParameters::from_spec(&spec).is_ok());
            compare::<Lru>(&spec, &steps)?;
            compare::<Lru>(&"lru/greedy:hot=auto,candidates=auto".parse().unwrap(), &steps)?;
        }

        #[test]
        fn mbf_judges_as_plain_lists_of_bits_do(
            steps in steps(),
            bits in 1_u32..3000,
            filters in 1_u32..=8,
            hashes in 1_u32..5,
            share in 0_u32..8,
            decay in 1_u32..300,
        ) {
            let threshold = 1 + share % filters;
            let spec = format!(
                "mbf/greedy:bits={bits},filters={filters},hashes={hashes},threshold={threshold},\
                 decay={decay}"
            );
            let spec = spec.parse().unwrap();
            prop_assert!(MbfParameters::from_spec(&spec).is_ok());
            compare::<Mbf>(&spec, &steps)?;
            compare::<Mbf>(&"mbf/greedy:bits=auto,decay=auto".parse().unwrap(), &steps)?;
        }
    }
}

//! A merge that is timed as one takes as long as its copies one by one.

use crate::drive::BareDrive;
use ftlab_flash::{BlockId, Cause, Flash, Geometry, Lpn, Merge, Page, Ppn};
use ftlab_host::Timing;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const BLOCKS: u32 = 32;
const PAGES_PER_BLOCK: u32 = 128;

/// Drives that differ in whether they are told of merges or of copies.
struct Both {
    at_once: BareDrive,
    one_by_one: BareDrive,
}

impl Both {
    fn new(timing: &str) -> Self {
        let timing = Timing::from_spec(&timing.parse().unwrap()).unwrap();
        let geometry = Geometry::new(BLOCKS, PAGES_PER_BLOCK, 4096).unwrap();
        let mut timed = BareDrive::new(&timing, &geometry);
        timed.measure();
        Self { at_once: timed.clone(), one_by_one: timed }
    }

    fn each(&mut self, mut act: impl FnMut(&mut BareDrive)) {
        act(&mut self.at_once);
        act(&mut self.one_by_one);
    }

    /// Merges the places `places` of a block; one page in `rare` is in the log, as many are empty, if any.
    fn merge(&mut self, random: &mut Random, places: std::ops::Range<u32>, rare: [u32; 2]) {
        let [data, to] = [(); 2].map(|()| random.below(BLOCKS) * PAGES_PER_BLOCK);
        let is_rare = |random: &mut Random, rare| rare > 0 && random.below(rare) == 0;
        for first in places.clone().step_by(Merge::PAGES_MAX as usize) {
            let count = (places.end - first).min(Merge::PAGES_MAX);
            let log_pages: Vec<u32> = (0..count)
                .map(|_| {
                    let is_in_log = is_rare(random, rare[0]);
                    let page = random.below(BLOCKS * PAGES_PER_BLOCK);
                    if is_in_log { page } else { Merge::NOT_IN_LOG }
                })
                .collect();
            let live = (0..count).map(|step| u64::from(!is_rare(random, rare[1])) << step).sum();
            let [data, to] = [data, to].map(|page| Ppn(page + first));
            let merge = Merge { lpn: Lpn(first), data, to, live, log_pages: &log_pages };
            let purpose = Cause::Merge.unawaited();
            self.at_once.merge(merge, purpose).unwrap();
            for (to, page) in merge.copies() {
                self.one_by_one.program(to, page, purpose).unwrap();
            }
        }
    }

    fn check(&mut self) {
        assert_eq!(self.at_once.chip().end_ns(), self.one_by_one.chip().end_ns());
        assert_eq!(self.at_once.take_done_ns(), self.one_by_one.take_done_ns());
        let [at_once, one_by_one] = [&self.at_once, &self.one_by_one].map(BareDrive::measured);
        assert_eq!(at_once.work, one_by_one.work);
        assert_eq!(at_once.elapsed_ns, one_by_one.elapsed_ns);
        assert_eq!(at_once.occupied, one_by_one.occupied);
    }
}

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn below(&mut self, most: u32) -> u32 {
        self.0.next_u32() % most
    }
}

#[test]
fn a_merge_takes_as_long_as_its_copies() {
    let luns = [
        "channels=1,luns=1",
        "channels=1,luns=2",
        "channels=4,luns=2",
        "channels=8,luns=8",
        "channels=16,luns=8",
    ];
    let others = [
        "channels=3,luns=5",
        "channels=8,luns=8,layout=block",
        "channels=8,luns=8,transfer-us=7",
        "channels=2,luns=8,page-types=each,program-us=100/200/300",
    ];
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(1));
    for luns in luns.into_iter().chain(others) {
        for more in ["", ",priority=femu", ",queue-depth=32"] {
            let mut both = Both::new(&format!("femu:{luns}{more}"));
            for _ in 0..150 {
                let page = Ppn(random.below(BLOCKS * PAGES_PER_BLOCK));
                match random.below(4) {
                    0 | 1 => both.each(|timed| {
                        let new = Page::new(Lpn(0), &[]);
                        timed.program(page, new, Cause::Host.awaited()).unwrap();
                    }),
                    2 => {
                        let block = BlockId(random.below(BLOCKS));
                        both.each(|timed| timed.erase(block, Cause::Merge.unawaited()).unwrap());
                    }
                    _ => {
                        let first = random.below(PAGES_PER_BLOCK) * random.below(2);
                        let rare = [random.below(8), random.below(2) * random.below(8)];
                        both.merge(&mut random, first..PAGES_PER_BLOCK, rare);
                    }
                }
                both.check();
            }
        }
    }
}

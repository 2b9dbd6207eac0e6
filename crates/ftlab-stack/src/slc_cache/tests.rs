//! An SLC cache against a naive twin, closed forms, and times known by hand.

use super::{SlcCache, SlcCounts, WhenFull};
use crate::{AnyFtl, OwnPolicies, Tally};
use ftlab_flash::{Geometry, Lpn};
use ftlab_ftl::PageBatch;
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::DriveConfig;
use ftlab_host::{Arrival, Asker, HostOp, RequestPart, RequestTimes, Timing};

const LOGICAL: u32 = 1024;

/// 96 blocks of 16 pages.
fn drive() -> DriveConfig {
    DriveConfig::new(Geometry::new(96, 16, 4096).unwrap(), LOGICAL, 4)
}

fn plain(ftl: &str, timing: Option<&str>) -> AnyFtl {
    let timing = timing.map(|timing| Timing::from_spec(&timing.parse().unwrap()).unwrap());
    let timing = timing.map(Timing::with_slc_pages);
    let own = OwnPolicies::default();
    let spec = ftl.parse().unwrap();
    AnyFtl::new(&spec, &own, &Mapping::FULL, drive(), timing.as_ref(), None, false).unwrap()
}

fn cached(ftl: &str, timing: Option<&str>, options: &str) -> AnyFtl {
    plain(ftl, timing).with_slc_cache(options.parse().unwrap(), &drive()).unwrap()
}

fn random(state: &mut u64, most: u32) -> u32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) % u64::from(most)) as u32
}

/// Writes and trims, of which many are of few pages.
fn workload(count: u32) -> PageBatch {
    let mut batch = PageBatch::default();
    (0..LOGICAL).for_each(|page| batch.writes.push(Lpn(page)));
    let mut state = 1;
    for _ in 0..count {
        let of = [LOGICAL, 40][random(&mut state, 2) as usize];
        let page = Lpn(random(&mut state, of));
        match random(&mut state, 12) {
            0 => batch.trim(page, 1),
            _ => batch.writes.push(page),
        }
    }
    batch
}

/// The cache as a list of blocks, and what it asks of the FTL: none for a trim.
struct Naive {
    options: SlcCache,
    blocks: usize,
    pages: usize,
    /// The oldest first; a page that is out of date is none.
    ring: Vec<Vec<Option<Lpn>>>,
    below: PageBatch,
    is_below: Vec<bool>,
    counts: SlcCounts,
}

impl Naive {
    fn forget(&mut self, lpn: Lpn) {
        let held = self.ring.iter_mut().flatten().filter(|page| **page == Some(lpn));
        let dropped = held.map(|page| *page = None).count();
        self.counts.dropped += dropped as u64;
    }

    fn trim_below(&mut self, lpn: Lpn) {
        if std::mem::take(&mut self.is_below[lpn.index()]) {
            self.below.trim(lpn, 1);
        }
    }

    fn write_below(&mut self, lpn: Lpn) {
        self.below.writes.push(lpn);
        self.is_below[lpn.index()] = true;
    }

    fn write(&mut self, lpn: Lpn) {
        let is_full =
            self.ring.len() == self.blocks && self.ring.iter().all(|it| it.len() == self.pages);
        self.forget(lpn);
        if is_full && self.options.full == WhenFull::Bypass {
            self.counts.bypassed += 1;
            return self.write_below(lpn);
        }
        self.trim_below(lpn);
        if is_full {
            for page in self.ring.remove(0).into_iter().flatten() {
                self.counts.folds += 1;
                self.write_below(page);
            }
            self.counts.erases += 1;
        }
        if self.ring.last().is_none_or(|last| last.len() == self.pages) {
            self.ring.push(Vec::new());
        }
        self.ring.last_mut().unwrap().push(Some(lpn));
        self.counts.writes += 1;
    }
}

#[test]
fn what_reaches_the_ftl_is_what_a_list_of_blocks_lets_through() {
    for options in ["size=64KiB", "size=300KiB,bits=2", "size=100KiB,bits=4,full=bypass"] {
        let options: SlcCache = options.parse().unwrap();
        let geometry = drive().geometry;
        let mut naive = Naive {
            options,
            blocks: options.blocks(&geometry).unwrap() as usize,
            pages: options.pages_per_block(&geometry) as usize,
            ring: Vec::new(),
            below: PageBatch::default(),
            is_below: vec![false; LOGICAL as usize],
            counts: SlcCounts::default(),
        };
        let batch = workload(20_000);
        let mut trims = batch.trims.iter().peekable();
        for index in 0..=batch.writes.len() {
            while let Some(trim) = trims.next_if(|trim| trim.after_writes as usize == index) {
                naive.forget(trim.first);
                naive.trim_below(trim.first);
            }
            if let Some(lpn) = batch.writes.get(index) {
                naive.write(*lpn);
            }
        }
        for ftl in ["1r-greedy", "2r++", "fast", "sep-gc/cost-benefit"] {
            let mut real = cached(ftl, None, &options.to_string());
            real.apply(&batch, &[]).unwrap();
            real.check().unwrap();
            assert_eq!(real.tally().slc, naive.counts, "{ftl}, {options}");
            let mut below = plain(ftl, None);
            below.apply(&naive.below, &[]).unwrap();
            let (real, below) = (real.tally().counters, below.tally().counters);
            assert_eq!(real.host_writes, batch.writes.len() as u64, "{ftl}, {options}");
            assert_eq!(real.relocations() - naive.counts.folds, below.relocations());
            assert_eq!(real.erases() - naive.counts.erases, below.erases());
            assert_eq!(real.merges, below.merges);
            assert_eq!(real.programs() - naive.counts.writes, below.programs(), "every program");
        }
    }
}

#[test]
fn without_overwrites_each_page_is_programmed_twice_but_for_what_is_left() {
    let mut ftl = cached("fifo", None, "size=64KiB");
    let batch = PageBatch { writes: (0..LOGICAL).map(Lpn).collect(), ..PageBatch::default() };
    ftl.apply(&batch, &[]).unwrap();
    let Tally { host_pages: host_writes, counters, slc: counts, .. } = ftl.tally();
    assert_eq!((host_writes, counts.writes, counts.dropped), (1024, 1024, 0));
    // Blocks of 5 pages, 4 of them; nothing is collected.
    assert_eq!((counts.folds, counts.erases), (1005, 201));
    assert!((counters.waf().unwrap() - (1.0 + 1005.0 / 1024.0)).abs() < 1e-12);
    let streams = ftl.streams();
    assert_eq!(streams.last().map(|of| (of.name, of.blocks)), Some(("slc", 4)));
}

#[test]
fn one_page_at_a_time_takes_the_sum_of_all_operations() {
    for timing in ["tlc:slc-read-us=30,slc-program-us=210", "mlc:page-types=each"] {
        let mut ftl = cached("1r-greedy", Some(timing), "size=64KiB");
        let parameters = Timing::from_spec(&timing.parse().unwrap()).unwrap().values();
        let us = |name: &str| -> f64 {
            let value = &parameters.iter().find(|(key, _)| *key == name).unwrap().1;
            value.split('/').map(|part| part.parse::<f64>().unwrap()).sum::<f64>()
                / value.split('/').count() as f64
        };
        ftl.apply(&workload(8_000), &[]).unwrap();
        let Tally { counters, slc: counts, .. } = ftl.tally();
        let moved = (counters.relocations() - counts.folds) as f64;
        let transfer = us("transfer-us");
        let slc = [us("slc-read-us") + transfer, us("slc-program-us") + transfer];
        let normal = [us("read-us") + transfer, us("program-us") + transfer];
        let expected = counts.writes as f64 * slc[1]
            + counts.folds as f64 * (slc[0] + normal[1])
            + moved * (normal[0] + normal[1])
            + counters.erases() as f64 * us("erase-us");
        let measured = ftl.measured().unwrap();
        let ratio = measured.elapsed_ns as f64 / 1e3 / expected;
        // Slow and fast pages are programmed about as often.
        let precision = if timing.contains("each") { 0.01 } else { 1e-9 };
        assert!((ratio - 1.0).abs() < precision, "{timing}: {ratio}");
        assert_eq!(measured.work.host_writes, counts.writes);
    }
}

/// Writes `pages`, one every `gap_us`, and reads each again; the response times.
fn spaced(timing: &str, options: &str, pages: u32, gap_us: u64) -> (RequestTimes, SlcCounts) {
    let mut ftl = cached("1r-greedy", Some(timing), options);
    let (mut batch, mut parts) = (PageBatch::default(), Vec::new());
    for page in 0..pages {
        batch.writes.push(Lpn(page));
        for (op, later) in [(HostOp::Write, 0), (HostOp::Read, gap_us / 2)] {
            parts.push(RequestPart {
                op,
                first: Lpn(page),
                pages: 1,
                lacking: 0,
                arrival: Arrival::At((u64::from(page) * gap_us + later) * 1000),
                asker: Asker::default(),
                begins: true,
                ends: true,
            });
        }
    }
    ftl.serve(&batch, &parts).unwrap();
    ftl.check().unwrap();
    (ftl.measured().unwrap().requests.unwrap(), ftl.tally().slc)
}

#[test]
fn blocks_are_folded_in_idle_time_if_there_is_enough_and_else_when_the_cache_is_full() {
    // 4 blocks of 5 pages. A fold takes 80 + 2926.5 us, an erase 3 ms.
    for more in ["", ",priority=read-first"] {
        let timing =
            format!("tlc:transfer-us=0,slc-read-us=20,slc-program-us=200,unit=request{more}");
        let [read, write] =
            [0, 1].map(|op| move |times: &RequestTimes| times.of[op].max_ns() / 1000);
        let (times, counts) = spaced(&timing, "size=80KiB", 200, 60_000);
        assert_eq!((read(&times), write(&times)), (80, 200), "{more}: always in time");
        assert_eq!((counts.folds, counts.bypassed), (200, 0), "{more}");
        // The last page of each block is read after that was folded.
        assert_eq!(counts.read_hits, 160, "{more}");
        let (times, counts) = spaced(&timing, "size=80KiB,idle=off", 200, 20_000);
        assert_eq!(counts.folds, 180, "{more}: what is left is not full");
        let fold = 5 * (20 + 2926) + 2 + 3000 + 200;
        assert!(write(&times).abs_diff(fold) <= 2, "{more}: {} us, not {fold}", write(&times));
        let (times, counts) = spaced(&timing, "size=80KiB,idle=off,full=bypass", 200, 20_000);
        assert_eq!((counts.writes, counts.bypassed, counts.folds), (20, 180, 0), "{more}");
        assert_eq!((read(&times), write(&times)), (80, 2926), "{more}");
    }
}

//! Hybrid-mapped FTLs equal their naive twins, operation by operation, and keep data.

use super::{Counts, NaiveHybrid, Rule};
use crate::hybrid::{
    Bast, BastParameters, BastVictim, Fast, FastParameters, Faster, FasterParameters, Fmax, Hybrid,
    IsolationKind, Kast, KastParameters, Last, LastParameters, LogSpace,
};
use crate::page::DriveConfig;
use crate::{Counters, Ftl, PageBatch, registry};
use ftlab_flash::{Geometry, Lpn, Memory, NoPayload};
use ftlab_spec::{NoParameters, Parameters};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
enum Operation {
    Write(u32),
    Trim(u32),
    Read(u32),
}

#[derive(Debug, Clone)]
struct Scenario {
    pages_per_block: u32,
    logical_pages: u32,
    /// Log blocks beyond the fewest that an FTL can work with.
    extra_blocks: u32,
    operations: Vec<Operation>,
}

impl Scenario {
    fn config(&self, spare_and_log_blocks: u32) -> DriveConfig {
        let data_blocks = self.logical_pages.div_ceil(self.pages_per_block);
        let blocks = data_blocks + spare_and_log_blocks;
        DriveConfig::new(
            Geometry::new(blocks, self.pages_per_block, 8).unwrap(),
            self.logical_pages,
            4,
        )
    }
}

/// Small drives of any shape, barely large enough or larger; single writes, runs in order, trims.
fn scenarios() -> impl Strategy<Value = Scenario> {
    let pages_per_block = prop_oneof![4 => 2_u32..12, 1 => 60_u32..140];
    let steps = prop::collection::vec((0_u8..24, any::<u32>(), 0_u32..3), 50..500);
    (pages_per_block, 2_u32..16, 0_u32..5, any::<bool>(), steps).prop_map(
        |(pages_per_block, data_blocks, extra_blocks, is_filled, steps)| {
            let data_blocks = if pages_per_block < 60 { data_blocks } else { data_blocks.min(4) };
            let logical_pages = data_blocks * pages_per_block - u32::from(data_blocks % 2 == 0);
            let fill = (0..logical_pages).filter(|_| is_filled).map(Operation::Write);
            let steps = steps.into_iter().flat_map(|(kind, number, skew)| {
                let lpn = number % (logical_pages >> (skew * 2)).max(1);
                match kind {
                    0 => vec![Operation::Trim(lpn), Operation::Trim((lpn + 1) % logical_pages)],
                    1 => vec![Operation::Read(lpn)],
                    // From the beginning of a logical block, some in order and sometimes all.
                    2 => {
                        let first = lpn / pages_per_block * pages_per_block;
                        let end = logical_pages.min(first + pages_per_block);
                        let end = if number % 2 == 0 { end } else { end.min(first + 1 + skew) };
                        (first..end).map(Operation::Write).collect()
                    }
                    _ => vec![Operation::Write(lpn), Operation::Write(number % logical_pages)],
                }
            });
            let operations = fill.chain(steps).collect();
            Scenario { pages_per_block, logical_pages, extra_blocks, operations }
        },
    )
}

impl From<Counters> for Counts {
    fn from(counters: Counters) -> Self {
        let merges = counters.merges;
        Self {
            relocations: counters.relocations(),
            erases: counters.erases(),
            trims: counters.trims,
            reclaimed: counters.collections,
            copies: merges.copies,
            full: merges.full,
            partial: merges.partial,
            switch: merges.switch,
            progressive: merges.progressive,
            hurried: merges.hurried,
        }
    }
}

/// Content of a page that tells page and version.
fn content(lpn: u32, version: usize) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&lpn.to_le_bytes());
    bytes[4..].copy_from_slice(&(version as u32).to_le_bytes());
    bytes
}

/// Runs a scenario over flash in memory: equal to the twin at every step, invariants hold, and every
/// read returns the last write.
fn against_twin<L: LogSpace>(
    scenario: &Scenario,
    parameters: &L::Parameters,
    rule: Rule,
) -> Result<(), TestCaseError> {
    let log_blocks = L::log_blocks_min(parameters) + scenario.extra_blocks;
    let config = scenario.config(log_blocks + L::spare_blocks(parameters));
    let flash = Memory::in_any_order(config.geometry);
    let mut ftl = Hybrid::<L, _, _>::new(parameters, config, flash, ()).unwrap();
    let (pages, logical_pages) = (scenario.pages_per_block, scenario.logical_pages);
    let mut naive = NaiveHybrid::new(rule, pages, logical_pages, log_blocks as usize);
    let mut written = vec![None; logical_pages as usize];
    let name = format!("{} {:?}", L::NAME, parameters.values());
    for (step, operation) in scenario.operations.iter().enumerate() {
        match *operation {
            Operation::Write(lpn) => {
                ftl.write(Lpn(lpn), &content(lpn, step)).unwrap();
                naive.write(lpn);
                written[lpn as usize] = Some(content(lpn, step));
            }
            Operation::Trim(lpn) => {
                ftl.trim(Lpn(lpn)).unwrap();
                naive.trim(lpn);
                written[lpn as usize] = None;
            }
            Operation::Read(lpn) => {
                let mut data = [0; 8];
                let found = ftl.read(Lpn(lpn), &mut data).unwrap().then_some(data);
                prop_assert_eq!(
                    found,
                    written[lpn as usize],
                    "{}: page {}, step {}",
                    name,
                    lpn,
                    step
                );
            }
        }
        prop_assert_eq!(ftl.check(), Ok(()), "{}: step {}", name, step);
        prop_assert_eq!(&Counts::from(ftl.counters()), &naive.counts, "{}: step {}", name, step);
        for lpn in 0..logical_pages {
            let in_log = ftl.drive.log_page_of[lpn as usize] != u32::MAX;
            prop_assert_eq!(in_log, naive.in_log.contains_key(&lpn), "{}: page {}", name, lpn);
            let taken = ftl.drive.programmed.get(lpn);
            prop_assert_eq!(taken, naive.taken.contains(&lpn), "{}: place of {}", name, lpn);
        }
        let blocks: u32 = ftl.streams()[1..].iter().map(|stream| stream.blocks).sum();
        let expected =
            naive.log.len() + naive.isolated.len() + usize::from(naive.sequential.is_some());
        prop_assert_eq!(blocks as usize, expected, "{}: blocks, step {}", name, step);
    }
    for lpn in 0..logical_pages {
        let mut data = [0; 8];
        let found = ftl.read(Lpn(lpn), &mut data).unwrap().then_some(data);
        prop_assert_eq!(found, written[lpn as usize], "{}: page {} at the end", name, lpn);
    }
    Ok(())
}

/// All kinds of isolation, with areas and steps of several sizes.
fn faster_variants() -> Vec<FasterParameters> {
    let mut variants = Vec::new();
    for isolation in [IsolationKind::Copy, IsolationKind::InPlace, IsolationKind::Off] {
        for (isolation_blocks, merge_step) in [(2, 1), (1, 1), (3, 2), (1, 5)] {
            variants.push(FasterParameters { isolation, isolation_blocks, merge_step });
        }
    }
    variants
}

/// Log blocks that few or many logical blocks share, with and without sequences.
fn kast_variants() -> Vec<KastParameters> {
    let of = |k| [true, false].map(|sw| KastParameters { k, sw });
    [1, 2, 4, 100].into_iter().flat_map(of).collect()
}

/// Each parameter at its ends and between, the others as they are.
fn last_variants() -> Vec<LastParameters> {
    let default = LastParameters::default();
    let mut variants = vec![default.clone()];
    for share in [0.0, 0.5, 0.9] {
        variants.push(LastParameters { sequential: share, ..default.clone() });
        variants.push(LastParameters { hot: share, ..default.clone() });
    }
    for window in [0.0, 0.3, 1000.0] {
        variants.push(LastParameters { window, ..default.clone() });
    }
    for candidates in [1, 2] {
        variants.push(LastParameters { candidates, hot: 1.0, sequential: 0.3, ..default.clone() });
    }
    variants
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn hybrid_mapped_ftls_equal_their_naive_twins(scenario in scenarios()) {
        against_twin::<Fmax>(&scenario, &NoParameters::default(), Rule::Fmax)?;
        for sw in [true, false] {
            against_twin::<Fast>(&scenario, &FastParameters { sw }, Rule::Fast { sw })?;
        }
        for victim in [BastVictim::Lru, BastVictim::Fifo] {
            let parameters = BastParameters { victim };
            against_twin::<Bast>(&scenario, &parameters, Rule::Bast(parameters.clone()))?;
        }
        for parameters in kast_variants() {
            against_twin::<Kast>(&scenario, &parameters, Rule::Kast(parameters.clone()))?;
        }
        for parameters in last_variants() {
            against_twin::<Last>(&scenario, &parameters, Rule::Last(parameters.clone()))?;
        }
        for parameters in faster_variants() {
            against_twin::<Faster>(&scenario, &parameters, Rule::Faster(parameters.clone()))?;
        }
    }

    #[test]
    fn a_batch_does_what_its_operations_do_one_by_one(scenario in scenarios()) {
        for name in ["fmax", "bast", "fast", "kast", "last", "faster", "page"] {
            let build = || {
                let config = scenario.config(6 + scenario.extra_blocks);
                registry::build_boxed(&name.parse().unwrap(), config, NoPayload, ()).unwrap()
            };
            let (mut single, mut batched, mut batch) = (build(), build(), PageBatch::default());
            for operation in &scenario.operations {
                match *operation {
                    Operation::Write(lpn) => {
                        single.write(Lpn(lpn), &[]).unwrap();
                        batch.writes.push(Lpn(lpn));
                    }
                    Operation::Trim(lpn) => {
                        single.trim(Lpn(lpn)).unwrap();
                        batch.trim(Lpn(lpn), 1);
                    }
                    Operation::Read(_) => {
                        batched.apply(&batch).unwrap();
                        batch.clear();
                    }
                }
            }
            batched.apply(&batch).unwrap();
            prop_assert_eq!(single.counters(), batched.counters(), "{}", name);
        }
    }
}

/// Data blocks that were filled in order stay in order, so that flash that insists on it will do.
#[test]
fn a_drive_filled_in_order_and_never_trimmed_is_programmed_in_order() {
    let scenario = Scenario {
        pages_per_block: 8,
        logical_pages: 128,
        extra_blocks: 0,
        operations: Vec::new(),
    };
    for name in [
        "fmax",
        "bast",
        "fast:sw=on",
        "fast:sw=off",
        "kast:sw=on",
        "kast:sw=off",
        "last",
        "faster",
        "faster:isolation=inplace",
        "page",
    ] {
        let config = scenario.config(8);
        let flash = Memory::new(config.geometry);
        let mut ftl = registry::build_boxed(&name.parse().unwrap(), config, flash, ()).unwrap();
        let mut lpn = 0;
        for step in 0..2000 {
            lpn = if step < 128 { step } else { (lpn * 5 + step % 3 + 1) % 128 };
            ftl.write(Lpn(lpn), &content(lpn, step as usize)).expect(name);
        }
        ftl.check().expect(name);
        let erases = ftl.counters().erases();
        assert!(erases > 100, "{name} erased {erases}");
    }
}

#[test]
fn sequences_end_as_switches_partial_and_full_merges() {
    let scenario =
        Scenario { pages_per_block: 4, logical_pages: 16, extra_blocks: 0, operations: Vec::new() };
    let config = scenario.config(6);
    let mut ftl = registry::build_boxed(&"fast".parse().unwrap(), config, NoPayload, ()).unwrap();
    let mut merged = |pages: &[u32]| {
        let before = ftl.counters().merges;
        for &lpn in pages {
            ftl.write(Lpn(lpn), &[]).unwrap();
        }
        let after = ftl.counters().merges;
        let kinds = [after.switch - before.switch, after.partial - before.partial];
        (kinds, after.full - before.full, after.copies - before.copies)
    };
    let fill: Vec<u32> = (0..16).collect();
    assert_eq!(merged(&fill), ([0, 0], 0, 0), "all in place");
    assert_eq!(merged(&[0, 1, 2, 3]), ([0, 0], 0, 0), "a sequence");
    assert_eq!(merged(&[4]), ([1, 0], 0, 0), "it was whole");
    assert_eq!(merged(&[5, 8]), ([0, 1], 0, 2), "two of four pages were missing");
    assert_eq!(merged(&[8]), ([0, 1], 0, 3), "a first page ends a sequence of its own, too");
    assert_eq!(merged(&[9, 9, 12]), ([0, 0], 1, 4), "page 9 was rewritten out of sequence");
}

#[test]
fn page_is_greedy_with_a_reserve_of_one() {
    let scenario = Scenario {
        pages_per_block: 8,
        logical_pages: 128,
        extra_blocks: 0,
        operations: Vec::new(),
    };
    let count = |name: &str, reserve_blocks| {
        let config = DriveConfig { reserve_blocks, ..scenario.config(8) };
        let mut ftl = registry::build_boxed(&name.parse().unwrap(), config, NoPayload, ()).unwrap();
        let writes = (0..4000_u32).map(|step| Lpn(step.wrapping_mul(2_654_435_761) >> 16 & 127));
        ftl.apply(&PageBatch { writes: writes.collect(), ..PageBatch::default() }).unwrap();
        ftl.counters()
    };
    assert_eq!(count("page", 4), count("1r-greedy", 1));
    assert_ne!(count("page", 4), count("1r-greedy", 4));
}

#[test]
fn a_drive_without_room_for_a_log_is_refused_with_the_sum() {
    let scenario = Scenario {
        pages_per_block: 64,
        logical_pages: 6400,
        extra_blocks: 0,
        operations: Vec::new(),
    };
    let build = |name: &str, config| {
        let spec = name.parse().unwrap();
        registry::build_boxed(&spec, config, NoPayload, ())
            .map(drop)
            .map_err(|error| error.to_string())
    };
    for (name, fewest) in [
        ("fmax", 2),
        ("bast", 2),
        ("fast:sw=off", 2),
        ("fast", 3),
        ("kast", 2),
        ("last:sequential=0", 3),
        ("last", 4),
        ("faster", 5),
    ] {
        assert_eq!(build(name, scenario.config(fewest)), Ok(()));
        let error = build(name, scenario.config(fewest - 1)).unwrap_err();
        let sum =
            format!("{} in all; raise --op or --blocks (--op {fewest}% is enough)", 100 + fewest);
        assert!(error.contains(&sum) && error.contains("100 data blocks"), "{error}");
    }
    assert_eq!(build("faster:isolation=off", scenario.config(3)), Ok(()));
    assert_eq!(build("faster:isolation-blocks=7", scenario.config(10)), Ok(()));
    assert!(build("faster:isolation-blocks=7", scenario.config(9)).is_err());
    let early = DriveConfig { gc_start_blocks: 9, ..scenario.config(9) };
    assert!(build("faster", early).unwrap_err().contains("leave out --gc, --gc-start"));
}

/// Full merges of all writes, the most of one, and copies, after a drive of 256 logical blocks was filled; 26 are log.
fn merges(name: &str, page: impl Fn(u32) -> u32) -> (u64, u64, u64) {
    let config = DriveConfig::new(Geometry::new(283, 64, 8).unwrap(), 256 * 64, 4);
    let mut ftl = registry::build_boxed(&name.parse().unwrap(), config, NoPayload, ()).unwrap();
    (0..256 * 64).for_each(|lpn| ftl.write(Lpn(lpn), &[]).unwrap());
    let mut most = 0;
    for step in 0..60_000 {
        let before = ftl.counters().merges.full;
        ftl.write(Lpn(page(step)), &[]).unwrap();
        most = most.max(ftl.counters().merges.full - before);
    }
    let merges = ftl.counters().merges;
    (merges.full, most, merges.copies)
}

/// A number below `below`, scattered.
fn scattered(step: u32, below: u32) -> u32 {
    let mut mixed = u64::from(step).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (((mixed >> 32) * u64::from(below)) >> 32) as u32
}

#[test]
fn under_random_writes_the_fewer_share_a_log_block_the_more_is_merged_and_the_less_at_once() {
    let random = |step| scattered(step, 256 * 64);
    let of = |name| merges(name, random);
    let names = ["bast", "kast:sw=off,k=4", "kast:sw=off,k=16", "fast:sw=off"];
    let found = names.map(of);
    for (pair, names) in found.windows(2).zip(names.windows(2)) {
        assert!(pair[0].0 > pair[1].0, "{names:?}: {found:?}");
    }
    let most = found.map(|(_, most, _)| most);
    assert!(most[0] == 1 && most[1] <= 4 && most[2] <= 16 && most[3] > 16, "{most:?}");
}

#[test]
fn two_sequences_at_once_beside_pages_that_are_rewritten_soon_cost_last_less_than_fast() {
    let local = |step: u32| match step % 4 {
        // Whole logical blocks in order, half a block apart.
        0 => scattered(step / 256, 256) * 64 + step / 4 % 64,
        2 => scattered((step + 128) / 256, 256) * 64 + (step + 128) / 4 % 64,
        _ if scattered(step, 100) < 90 => scattered(step, 328) * 50,
        _ => scattered(step, 256 * 64),
    };
    let [(.., fast), (.., last)] = ["fast", "last"].map(|name| merges(name, local));
    assert!(last < fast, "last copies {last}, fast {fast}");
}

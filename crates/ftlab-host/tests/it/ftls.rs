//! FTLs over flash with a clock, and over flash that counts.

use crate::drive::Written;
use ftlab_flash::{Cause, Counted, Geometry, Lpn, NoPayload, Operations};
use ftlab_ftl::PageBatch;
use ftlab_ftl::page::{DriveConfig, Refresh, WearLeveling};
use ftlab_ftl::registry::{DriveShape, OracleGroup, build_boxed, fit, ftl_names, policy_names};
use ftlab_spec::Spec;

const PAGES: u32 = 2000;

fn config() -> DriveConfig {
    DriveConfig::new(Geometry::new(160, 16, 4096).unwrap(), PAGES, 10)
}

/// The FTL after ten drive writes, nine of ten of which go to a tenth of the pages.
fn worn_in(ftl: &str, timing: &str, early: bool) -> Written {
    let config = if early {
        DriveConfig { gc_start_blocks: 20, early_valid_pages_max: 8, ..config() }
    } else {
        config()
    };
    let mut written = Written::new(&fitted(ftl, &config), config, timing);
    written.write(&writes());
    written
}

/// An FTL with parameters that fit what is written.
fn fitted(ftl: &str, config: &DriveConfig) -> Spec {
    let groups = [0.1, 0.9].map(|pages| OracleGroup { pages, writes: 1.0 - pages });
    fit(&ftl.parse().unwrap(), DriveShape::new(config), &groups).unwrap()
}

/// Ten drive writes.
fn writes() -> PageBatch {
    let mut random = 1_u32;
    let mut batch = PageBatch::default();
    for _ in 0..10 * PAGES {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let hot = random >> 24 < 230;
        batch.writes.push(Lpn((random >> 8) % if hot { PAGES / 10 } else { PAGES }));
    }
    batch
}

#[test]
fn with_one_lun_elapsed_time_is_counts_times_latencies() {
    let scheduled = policy_names();
    for (name, early) in ftl_names().iter().zip([false, true].into_iter().cycle()) {
        let early = early && scheduled.contains(name);
        let ftl = worn_in(name, "slc:transfer-us=7", early);
        let counters = ftl.counters();
        let measured = ftl.measured();
        let us = |host: u64, moved: u64, erased: u64| host * 207 + moved * 239 + erased * 1500;
        let moved = counters.relocations() + counters.merges.copies;
        assert!(moved > 0, "{name}");
        assert_eq!(
            measured.elapsed_ns,
            1000 * us(counters.host_writes, moved, counters.erases()),
            "{name}"
        );
        assert_eq!(measured.work.relocations_ns, 239_000 * counters.relocations(), "{name}");
        assert_eq!(measured.work.merges_ns, 239_000 * counters.merges.copies, "{name}");
        assert_eq!(measured.response_times.count(), counters.host_writes);
        // All of it is somebody's wait, but for early collection after the last write.
        let waits = measured.response_times.mean_ns() * counters.host_writes as f64;
        assert!(
            waits <= measured.elapsed_ns as f64
                && (early || waits > 0.999 * measured.elapsed_ns as f64)
        );
    }
}

#[test]
fn more_luns_are_faster_and_count_the_same() {
    let mut last = u64::MAX;
    for luns in [1, 2, 4, 8] {
        let timing = format!("tlc:channels={luns},queue-depth=16");
        let ftl = worn_in("2r-greedy", &timing, false);
        assert_eq!(ftl.counters(), worn_in("2r-greedy", "slc", false).counters());
        let measured = ftl.measured();
        assert!(measured.elapsed_ns < last, "{luns}");
        assert!(measured.occupied.busy_ns.iter().all(|&busy| busy <= measured.elapsed_ns));
        last = measured.elapsed_ns;
    }
}

#[test]
fn a_multi_block_merge_lasts_longer_than_that_of_one_block() {
    let longest = |name: &str| worn_in(name, "slc", false).measured().response_times.max_ns();
    assert!(longest("2r-greedy") > longest("1r-greedy"));
}

#[test]
fn every_operation_has_the_cause_for_which_it_is_counted() {
    let scheduled = policy_names();
    let mut blocks = [0; 2];
    for name in ftl_names() {
        let mut config = config();
        if scheduled.contains(&name) {
            config.wear = WearLeveling { threshold: 6, ..config.wear };
            config.refresh = Refresh { age_writes: 9000, ..Refresh::default() };
        }
        let flash = Counted::new(NoPayload);
        let mut ftl = build_boxed(&fitted(&name, &config), config, flash, ()).unwrap();
        ftl.apply(&writes()).unwrap();
        let of = |cause| ftl.flash().of(cause);
        let sum = |count: fn(Operations) -> u64| -> u64 {
            Cause::ALL.iter().map(|cause| count(of(*cause))).sum()
        };
        let counters = ftl.counters();
        assert_eq!(of(Cause::Host).programs, counters.host_writes, "{name}");
        assert_eq!(sum(|it| it.programs + it.copies), counters.programs(), "{name}");
        assert_eq!(sum(|it| it.erases), counters.erases(), "{name}");
        assert_eq!(of(Cause::Merge).copies, counters.merges.copies, "{name}");
        let rewritten = (of(Cause::Refresh).erases, of(Cause::Refresh).copies);
        assert_eq!(rewritten, (ftl.refreshed().blocks, ftl.refreshed().pages), "{name}");
        (blocks[0], blocks[1]) = (blocks[0] + rewritten.0, blocks[1] + of(Cause::Wear).erases);
        assert_eq!(of(Cause::Fold), of(Cause::Retire), "{name}: neither");
    }
    assert!(blocks.iter().all(|blocks| *blocks > 0), "rewritten and levelled: {blocks:?}");
}

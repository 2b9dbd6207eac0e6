//! Power cuts at random writes, with writes dropped and torn: what was flushed is never lost, and what is
//! left is the drive as it was at one operation, to the last counter.

mod model;

use crate::common::{ftls, times};
use model::{Ends, Model, Random};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Presets, policies, and every placement and every victim rule in one pair.
fn families() -> Vec<String> {
    let pairs = |name: &String| match name.split_once('/') {
        Some((placement, victim)) => victim == "greedy" || placement == "sep-gc",
        None => true,
    };
    ftls().into_iter().filter(pairs).collect()
}

/// Lives of one drive: comparing it with a simulation takes longer the older it is.
const LIVES_MAX: u64 = 100;

/// Does this for each, with a seed of its own, on all processors.
fn for_each<T: Sync>(
    first_seed: u64,
    all: impl IntoIterator<Item = T>,
    work: impl Fn(&T, u64) + Sync,
) {
    let all: Vec<(u64, T)> = (first_seed..).zip(all).collect();
    all.par_iter().with_max_len(1).for_each(|(seed, item)| work(item, *seed));
}

/// Subjects drives to this many power cuts and kills.
fn survive(ftl: &str, gc: &str, cuts: u64, seed: u64) {
    survive_with(ftl, gc, "full", cuts, seed);
}

/// The same with a map.
fn survive_with(ftl: &str, gc: &str, map: &str, cuts: u64, seed: u64) {
    let what = format!("{ftl}, {gc}, {map}");
    survive_as(|| Model::with_map(ftl, gc, map), &what, cuts, seed);
}

fn survive_as(new: impl Fn() -> Model, what: &str, cuts: u64, seed: u64) {
    let mut model = new();
    let mut random = Random::new(seed);
    let mut repeated = 0;
    for life in 0..cuts {
        if life > 0 && life.is_multiple_of(LIVES_MAX) {
            model = new();
        }
        let context = || format!("{what}, seed {seed}, life {life}");
        let drive = model.open().unwrap_or_else(|error| panic!("{}: {error}", context()));
        repeated += drive.recovery().repeated;
        model.verify(&drive).unwrap_or_else(|error| panic!("{}: {error}", context()));
        model.live(&mut random, Ends::AtPowerCut);
    }
    assert!(repeated > cuts, "{what}: {repeated} operations replayed in {cuts} recoveries");
}

/// Repeats a failure, whose message says which: `FTLAB_CRASH="2r++ incremental 7"`.
#[test]
fn a_failure_is_repeated_if_asked_for() {
    let Ok(which) = std::env::var("FTLAB_CRASH") else { return };
    let [ftl, gc, seed] = which.split(' ').collect::<Vec<_>>()[..] else { panic!("{which}") };
    survive(ftl, gc, 1000, seed.parse().unwrap());
}

#[test]
fn every_family_survives_power_cuts() {
    for_each(1, families(), |name, seed| survive(name, "foreground", times(100), seed));
}

/// Such a drive may write to a block in the operation that erased it, before anything else is durable.
#[test]
fn so_do_drives_with_the_least_reserve() {
    for_each(500, families(), |name, seed| {
        let what = format!("{name}, least reserve");
        survive_as(|| Model::with_least_reserve(name), &what, times(100), seed);
    });
}

#[test]
fn so_do_other_schedules_of_collection() {
    for_each(1000, ["1r-greedy", "2r-fifo", "2r++", "wolf", "sepbit"], |name, seed| {
        for gc in [
            "incremental",
            "incremental:pages=2",
            "background",
            "garbage:share=0.2",
            "gradual:from=0.3",
            "throttled:from=0.5,invalid=0.3",
        ] {
            survive(name, gc, times(100), seed);
        }
    });
}

#[test]
fn so_do_ftls_within_placement_handles() {
    let within = ["hazard", "2r++", "wolf,groups-max=3", "sepbit,blocks=2"];
    for_each(2000, within, |inner, seed| {
        for gc in ["foreground", "incremental"] {
            survive(&format!("nvme-fdp:handles=2,persistent=1,inner={inner}"), gc, times(60), seed);
        }
    });
}

/// Maps with entries of a quarter of the pages in memory.
const MAPS: [&str; 5] = [
    "dftl:cache=512",
    "s-ftl:cache=1KiB,buffer=0.5,few=0",
    "dftl:cache=512,protected=0",
    "cdftl:cache=1KiB",
    "tpftl:cache=512,by-request=off",
];

/// FTLs that can be on a drive whose map is on flash.
fn without_handles() -> impl Iterator<Item = String> {
    families().into_iter().filter(|name| !name.starts_with("nvme-fdp"))
}

#[test]
fn so_do_drives_whose_map_is_on_flash() {
    for_each(6000, without_handles().zip(MAPS.iter().cycle()), |(name, map), seed| {
        survive_with(name, "foreground", map, times(60), seed);
    });
    for_each(6500, ["1r-greedy", "2r-fifo", "2r++", "wolf", "sepbit"], |name, seed| {
        for (gc, map) in
            ["incremental", "background", "garbage:share=0.2"].into_iter().zip(&MAPS[1..])
        {
            survive_with(name, gc, map, times(60), seed);
        }
    });
}

/// Drives that are closed are opened without replay.
#[test]
fn a_map_on_flash_does_what_the_simulator_says() {
    for_each(7000, without_handles().zip(MAPS.iter().cycle()), |(name, map), seed| {
        let mut model = Model::with_map(name, "foreground", map);
        let mut random = Random::new(seed);
        for life in 0..4 {
            model.live(&mut random, Ends::Closed(700));
            let drive = model.open().unwrap();
            assert_eq!(drive.recovery().repeated, 0, "{name}, {map}");
            let verified = model.verify(&drive);
            verified.unwrap_or_else(|error| panic!("{name}, {map}, life {life}: {error}"));
        }
        let map_counts = model.open().unwrap().snapshot().map.unwrap();
        assert!(map_counts.writes() > 50, "{name}, {map}");
    });
}

/// Subjects drives to this many power cuts, and lets another FTL take over after each; false if there is no room for it.
fn be_taken_over(ftl: &str, by: &str, gc: &str, cuts: u64, seed: u64) -> bool {
    be_taken_over_with(ftl, by, gc, "full", cuts, seed)
}

/// The same with a map.
fn be_taken_over_with(ftl: &str, by: &str, gc: &str, map: &str, cuts: u64, seed: u64) -> bool {
    let mut model = Model::with_map(ftl, gc, map);
    let mut random = Random::new(seed);
    for life in 0..cuts {
        let context = || format!("{ftl}, {by}, {gc}, {map}, seed {seed}, life {life}");
        model.live(&mut random, Ends::AtPowerCut);
        let taken_over = model.take_over(by, &mut random);
        if !taken_over.unwrap_or_else(|error| panic!("{}: {error}", context())) {
            return false;
        }
        let drive = model.open().unwrap_or_else(|error| panic!("{}: {error}", context()));
        model.verify(&drive).unwrap_or_else(|error| panic!("{}: {error}", context()));
    }
    true
}

#[test]
fn every_page_is_found_whichever_ftl_placed_it() {
    let families = families();
    let others = families.iter().cycle().skip(1);
    let refused = AtomicUsize::new(0);
    for_each(4000, families.iter().zip(others), |(name, other), seed| {
        assert!(
            be_taken_over(name, name, "foreground", times(10), seed),
            "{name} has room for itself"
        );
        if !be_taken_over(name, other, "foreground", times(10), seed) {
            refused.fetch_add(1, Ordering::Relaxed);
        }
    });
    let refused = refused.into_inner();
    assert!(refused < families.len() / 3, "{refused} of {} are too large", families.len());
    for_each(
        4500,
        ["incremental", "background", "gradual:from=0.3", "throttled:from=0.5,invalid=0.3"],
        |gc, seed| {
            assert!(be_taken_over("2r++", "hazard", gc, times(20), seed));
            assert!(be_taken_over("wolf", "wolf", gc, times(20), seed));
        },
    );
}

#[test]
fn so_it_is_if_the_map_is_on_flash() {
    let families: Vec<String> = without_handles().collect();
    let others = families.iter().cycle().skip(1);
    let refused = AtomicUsize::new(0);
    let all = families.iter().zip(others).zip(MAPS.iter().cycle());
    for_each(4700, all, |((name, other), map), seed| {
        assert!(be_taken_over_with(name, name, "foreground", map, times(5), seed));
        if !be_taken_over_with(name, other, "foreground", map, times(10), seed) {
            refused.fetch_add(1, Ordering::Relaxed);
        }
    });
    let refused = refused.into_inner();
    assert!(refused < families.len() / 3, "{refused} of {} are too large", families.len());
}

/// What the other FTL has overwritten is found by the one before, also if the drive had been closed.
#[test]
fn a_takeover_may_be_interrupted_at_any_write() {
    // Most takeovers overwrite nothing; these do.
    let pairs = [("1r-greedy", "hazard", 5002), ("mbf/greedy", "mbf/greedy", 5004)];
    pairs.par_iter().for_each(|&(name, other, seed)| {
        let mut model = Model::new(name, "foreground");
        let mut random = Random::new(seed);
        for life in 0..20 {
            let ends = if life % 3 == 0 { Ends::Closed(300) } else { Ends::AtPowerCut };
            model.live(&mut random, ends);
            let cut = model.cut_takeovers(other, &mut random);
            cut.unwrap_or_else(|error| panic!("{name}, {other}, life {life}, {error}"));
            let drive = model.open().unwrap();
            model.verify(&drive).unwrap();
        }
    });
}

#[test]
#[ignore = "long: `make crash-tests`"]
fn every_page_is_found_a_thousand_times() {
    for_each(40_000, ftls(), |name, seed| {
        assert!(be_taken_over(name, name, "foreground", 300, seed));
        println!("{name}: taken over 300 times");
    });
}

/// Subjects drives to this many syncs that fail; the page cache is dropped after each recovery.
fn survive_failed_syncs(ftl: &str, failures: u64, seed: u64) {
    let mut model = Model::new(ftl, "foreground");
    let mut random = Random::new(seed);
    for life in 0..failures {
        if life > 0 && life.is_multiple_of(LIVES_MAX) {
            model = Model::new(ftl, "foreground");
        }
        let context = || format!("{ftl}, seed {seed}, life {life}");
        model.live(&mut random, Ends::AtFailedSync);
        model.recover_and_drop_cache().unwrap_or_else(|error| panic!("{}: {error}", context()));
        let drive = model.open().unwrap_or_else(|error| panic!("{}: {error}", context()));
        model.verify(&drive).unwrap_or_else(|error| panic!("{}: {error}", context()));
    }
}

#[test]
fn a_failed_sync_costs_nothing_that_was_flushed() {
    for_each(3000, families(), |name, seed| survive_failed_syncs(name, times(40), seed));
}

#[test]
#[ignore = "long: `make crash-tests`"]
fn every_ftl_survives_a_thousand_failed_syncs() {
    for_each(30_000, ftls(), |name, seed| {
        survive_failed_syncs(name, 1000, seed);
        println!("{name}: 1,000 failed syncs survived");
    });
}

#[test]
#[ignore = "long: `make crash-tests`"]
fn every_ftl_survives_a_thousand_power_cuts() {
    for_each(10_000, ftls(), |name, seed| {
        survive(name, "foreground", 1000, seed);
        println!("{name}: 1,000 power cuts survived");
    });
}

#[test]
fn a_recorded_run_in_the_simulator_comes_to_the_same_counters_and_mapping() {
    for_each(2000, ftls(), |name, seed| {
        let mut model = Model::new(name, "foreground");
        let mut random = Random::new(seed);
        for _ in 0..3 {
            model.live(&mut random, Ends::Closed(1500));
        }
        let drive = model.open().unwrap();
        assert_eq!(drive.recovery().repeated, 0, "{name}");
        model.verify(&drive).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(drive.snapshot().counters.erases() > 100, "{name}");
    });
}

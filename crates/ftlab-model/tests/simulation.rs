//! Simulation agrees with theory.

use ftlab_flash::{Geometry, Lpn, NoPayload};
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry::Kind;
use ftlab_ftl::{Ftl, PageBatch, registry};
use ftlab_model::split::{Allocation, Group, write_amplification};
use ftlab_model::{hot_cold, uniform};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::io::Write;

const PAGES_PER_BLOCK: u32 = 128;
const DATA_BLOCKS: u32 = 4096;
const LOGICAL_PAGES: u32 = DATA_BLOCKS * PAGES_PER_BLOCK;
const RESERVE_BLOCKS: u32 = 1;

/// The spare pages that garbage collection can count on, per logical page.
///
/// The reserve stays empty, and so, on average, does half of the open block.
fn usable_op_ratio(blocks: u32) -> f64 {
    let usable = f64::from(blocks - RESERVE_BLOCKS) - 0.5;
    usable / f64::from(DATA_BLOCKS) - 1.0
}

/// Write amplification in the steady state of writes to the pages that `next_page` draws.
fn simulated(
    ftl: &str,
    blocks: u32,
    reserve_blocks: u32,
    mut next_page: impl FnMut(&mut Xoshiro256PlusPlus) -> u32,
) -> f64 {
    let config = DriveConfig::new(
        Geometry::new(blocks, PAGES_PER_BLOCK, 4096).unwrap(),
        LOGICAL_PAGES,
        reserve_blocks,
    );
    let mut ftl = registry::build_boxed(&ftl.parse().unwrap(), config, NoPayload, ()).unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut write = |drive_writes: u32, ftl: &mut dyn Ftl<Flash = NoPayload, Observer = ()>| {
        for _ in 0..drive_writes {
            let writes = (0..LOGICAL_PAGES).map(|_| Lpn(next_page(&mut rng)));
            ftl.apply(&PageBatch { writes: writes.collect(), ..PageBatch::default() }).unwrap();
        }
    };
    ftl.apply(&PageBatch { writes: (0..LOGICAL_PAGES).map(Lpn).collect(), ..PageBatch::default() })
        .unwrap();
    write(6, &mut *ftl);
    let start = ftl.counters();
    write(6, &mut *ftl);
    ftl.check().unwrap();
    ftl.counters().since(&start).waf().unwrap()
}

/// Any page, all alike.
fn uniform_page(rng: &mut Xoshiro256PlusPlus) -> u32 {
    rng.random_range(0..LOGICAL_PAGES)
}

/// Whether the registry knows this placement and this victim rule; says so if not.
fn is_there(placement: &str, victim: &str) -> bool {
    let entries = registry::entries();
    let known = |kind, name| entries.iter().any(|entry| entry.kind == kind && entry.name == name);
    let is_there = known(Kind::Placement, placement) && known(Kind::Victim, victim);
    if !is_there {
        let message = format!("SKIPPED: there is no {placement}/{victim} to simulate\n");
        // Not `eprintln!`, which is shown only if the test fails.
        std::io::stderr().write_all(message.as_bytes()).unwrap();
    }
    is_there
}

#[test]
fn uniform_writes_to_one_region_are_within_one_percent_of_the_closed_forms() {
    println!("{:8} {:>6} {:>9} {:>8} {:>8}", "victims", "op", "simulated", "model", "error");
    for op_percent in [7, 15, 28, 50] {
        let blocks = DATA_BLOCKS + DATA_BLOCKS * op_percent / 100;
        let op_ratio = usable_op_ratio(blocks);
        for (ftl, model) in [
            ("fifo", uniform::fifo(op_ratio)),
            ("1r-greedy", uniform::greedy(op_ratio, PAGES_PER_BLOCK)),
        ] {
            let waf = simulated(ftl, blocks, RESERVE_BLOCKS, uniform_page);
            let error = waf / model - 1.0;
            println!("{ftl:9} {op_percent:4}% {waf:9.3} {model:8.3} {:7.2}%", 100.0 * error);
            assert!(error.abs() < 0.01, "{ftl} at OP {op_percent}%: {waf:.3}, model {model:.3}");
        }
    }
}

#[test]
fn mixed_hot_and_cold_writes_are_within_two_percent_of_the_closed_form() {
    println!("{:>6} {:>6} {:>9} {:>8} {:>8}", "hot", "op", "simulated", "model", "error");
    for (writes, pages) in [(0.8, 0.2), (0.9, 0.1)] {
        for op_percent in [7, 15, 28] {
            let blocks = DATA_BLOCKS + DATA_BLOCKS * op_percent / 100;
            let model = hot_cold::fifo(usable_op_ratio(blocks), writes, pages);
            let hot_pages = (pages * f64::from(LOGICAL_PAGES)) as u32;
            let waf = simulated("fifo", blocks, RESERVE_BLOCKS, |rng| {
                let is_hot = rng.random_bool(writes);
                let range = if is_hot { 0..hot_pages } else { hot_pages..LOGICAL_PAGES };
                rng.random_range(range)
            });
            let error = waf / model - 1.0;
            let name = format!("{}/{}", 100.0 * writes, 100.0 * pages);
            println!("{name:>6} {op_percent:5}% {waf:9.3} {model:8.3} {:7.2}%", 100.0 * error);
            assert!(error.abs() < 0.02, "{name} at OP {op_percent}%: {waf:.3}, model {model:.3}");
        }
    }
}

#[test]
fn victims_among_d_random_blocks_are_within_two_percent_of_the_mean_field() {
    if !is_there("single", "d-choices") {
        return;
    }
    println!("{:>6} {:>6} {:>9} {:>8} {:>8}", "d", "op", "simulated", "model", "error");
    for d in [2, 10] {
        for op_percent in [7, 15, 28] {
            let blocks = DATA_BLOCKS + DATA_BLOCKS * op_percent / 100;
            let model = uniform::d_choices(usable_op_ratio(blocks), PAGES_PER_BLOCK, d);
            let waf =
                simulated(&format!("single/d-choices:d={d}"), blocks, RESERVE_BLOCKS, uniform_page);
            let error = waf / model - 1.0;
            println!("{d:6} {op_percent:5}% {waf:9.3} {model:8.3} {:7.2}%", 100.0 * error);
            assert!(error.abs() < 0.02, "d {d} at OP {op_percent}%: {waf:.3}, model {model:.3}");
        }
    }
}

/// Pages and writes of groups, the coldest first.
const GROUPS: [&[(f64, f64)]; 3] = [
    &[(0.9, 0.1), (0.1, 0.9)],
    &[(0.6, 0.1), (0.3, 0.3), (0.1, 0.6)],
    &[(0.4, 0.05), (0.3, 0.1), (0.15, 0.2), (0.1, 0.25), (0.05, 0.4)],
];

#[test]
fn groups_kept_apart_are_within_one_percent_of_the_sum_of_their_closed_forms() {
    // Enough for pages not to have to share the open block of another group.
    const RESERVE_BLOCKS: u32 = 4;
    let blocks = DATA_BLOCKS + DATA_BLOCKS * 15 / 100;
    println!("{:>6} {:>11} {:>9} {:>8} {:>8}", "groups", "split", "simulated", "model", "error");
    for shares in GROUPS {
        let pages = |share: f64| share * f64::from(LOGICAL_PAGES);
        let groups: Vec<_> =
            shares.iter().map(|&(size, writes)| Group { pages: pages(size), writes }).collect();
        // The reserve stays empty, and so does half of each open block.
        let open = f64::from(RESERVE_BLOCKS) + 0.5 * groups.len() as f64;
        let spare = (f64::from(blocks - DATA_BLOCKS) - open) * f64::from(PAGES_PER_BLOCK);
        let oracle: Vec<_> = shares.iter().map(|(size, _)| size.to_string()).collect();
        for (split, allocation) in [
            (Allocation::Wolf, "closed-form,very-cold=off"),
            (Allocation::SquareRoot, "sqrt"),
            (Allocation::Optimum, "optimum"),
        ] {
            let model = write_amplification(&groups, &split.divide(&groups, spare));
            let ftl = format!(
                "wolf:detector=oracle,oracle={},cleaning=fifo,allocation={allocation}",
                oracle.join("+")
            );
            let waf = simulated(&ftl, blocks, RESERVE_BLOCKS, |rng| {
                let mut draw: f64 = rng.random();
                let mut first = 0.0;
                for (place, &(size, writes)) in shares.iter().enumerate() {
                    if draw < writes || place + 1 == shares.len() {
                        let end = if place + 1 == shares.len() { 1.0 } else { first + size };
                        let range = pages(first).round() as u32..pages(end).round() as u32;
                        return rng.random_range(range);
                    }
                    draw -= writes;
                    first += size;
                }
                unreachable!("the last group takes what is left")
            });
            let error = waf / model - 1.0;
            let name = split.name();
            println!("{:6} {name:>11} {waf:9.3} {model:8.3} {:7.2}%", shares.len(), 100.0 * error);
            assert!(error.abs() < 0.01, "{ftl}: {waf:.3}, model {model:.3}");
        }
    }
}

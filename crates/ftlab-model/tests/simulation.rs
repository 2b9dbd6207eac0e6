//! Simulation agrees with theory.

use ftlab_flash::{Geometry, Lpn, NoPayload};
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::{Ftl, PageBatch, registry};
use ftlab_model::uniform;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

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

/// Write amplification of uniform writes in the steady state.
fn simulated(ftl: &str, blocks: u32) -> f64 {
    let config = DriveConfig {
        geometry: Geometry::new(blocks, PAGES_PER_BLOCK, 4096).unwrap(),
        logical_pages: LOGICAL_PAGES,
        reserve_blocks: RESERVE_BLOCKS,
        gc_start_blocks: 0,
        early_valid_pages_max: 0,
    };
    let mut ftl = registry::build(&ftl.parse().unwrap(), config, NoPayload, ()).unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut write = |drive_writes: u32, ftl: &mut dyn Ftl<Flash = NoPayload, Observer = ()>| {
        for _ in 0..drive_writes {
            let writes = (0..LOGICAL_PAGES).map(|_| Lpn(rng.random_range(0..LOGICAL_PAGES)));
            ftl.apply(&PageBatch { writes: writes.collect(), trims: Vec::new() }).unwrap();
        }
    };
    ftl.apply(&PageBatch { writes: (0..LOGICAL_PAGES).map(Lpn).collect(), trims: Vec::new() })
        .unwrap();
    write(6, &mut *ftl);
    let start = ftl.counters();
    write(6, &mut *ftl);
    ftl.check().unwrap();
    ftl.counters().since(&start).waf().unwrap()
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
            let waf = simulated(ftl, blocks);
            let error = waf / model - 1.0;
            println!("{ftl:9} {op_percent:4}% {waf:9.3} {model:8.3} {:7.2}%", 100.0 * error);
            assert!(error.abs() < 0.01, "{ftl} at OP {op_percent}%: {waf:.3}, model {model:.3}");
        }
    }
}

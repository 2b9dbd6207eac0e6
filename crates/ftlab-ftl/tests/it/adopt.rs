//! Drives whose pages one FTL has placed, taken over by another: it keeps every page where it is, and works on.

use ftlab_flash::{BlockId, Geometry, Lpn, NoPayload, Ppn};
use ftlab_ftl::page::{DriveConfig, GcSchedule, Phase};
use ftlab_ftl::registry::{self, DriveShape, DynAdopting, OracleGroup};

const PAGES_PER_BLOCK: u32 = 16;
const LOGICAL_PAGES: u32 = 48 * PAGES_PER_BLOCK;

type Built = DynAdopting<NoPayload, ()>;

fn config() -> DriveConfig {
    DriveConfig::new(Geometry::new(72, PAGES_PER_BLOCK, 512).unwrap(), LOGICAL_PAGES, 9)
}

fn build(name: &str, config: DriveConfig) -> Built {
    let groups = [0.25, 0.75].map(|pages| OracleGroup { pages, writes: 1.0 - pages });
    let spec = registry::fit(&name.parse().unwrap(), DriveShape::new(&config), &groups).unwrap();
    registry::build_page_mapped(&spec, config, NoPayload, ()).unwrap()
}

/// Skewed writes with a few trims between them.
fn drive_on(ftl: &mut Built, operations: std::ops::Range<u64>) {
    for operation in operations {
        let mut bits = (operation + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hot = bits >> 62 != 0;
        let page = (bits >> 20) as u32 % (LOGICAL_PAGES / if hot { 4 } else { 1 });
        if bits.is_multiple_of(50) {
            ftl.trim(Lpn(page)).unwrap();
        } else {
            ftl.write(Lpn(page), &[]).unwrap();
        }
    }
}

/// Builds `name` of the drive as `from` left it.
fn taken_over(name: &str, from: &Built, config: DriveConfig) -> Built {
    let mut ftl = build(name, config);
    let drive = from.drive();
    let blocks = (0..config.geometry.blocks()).map(BlockId);
    let erases: Vec<u32> = blocks.clone().map(|block| drive.erases(block)).collect();
    let mut owners = vec![u32::MAX; config.geometry.pages() as usize];
    for lpn in (0..LOGICAL_PAGES).map(Lpn) {
        if let Some(Ppn(page)) = drive.flash_page(lpn) {
            owners[page as usize] = lpn.0;
        }
    }
    let owners = |block: BlockId| {
        &owners[block.index() * PAGES_PER_BLOCK as usize..][..PAGES_PER_BLOCK as usize]
    };
    let holds = |block: &BlockId| owners(*block).iter().any(|owner| *owner != u32::MAX);
    let held: Vec<BlockId> = blocks.rev().filter(holds).collect();
    ftl.begin_adoption(&held, drive.mapped_pages(), &from.counters(), &erases);
    for block in held {
        ftl.adopt(block, owners(block));
    }
    ftl
}

fn assert_takes_over(name: &str, from: &str, config: DriveConfig) {
    let mut placed = build(from, config);
    drive_on(&mut placed, 0..7777);
    let mut ftl = taken_over(name, &placed, config);
    let context = |error| panic!("{name} after {from}: {error}");
    ftl.check().unwrap_or_else(context);
    assert_eq!(ftl.drive().mapping(), placed.drive().mapping(), "{name} after {from}");
    let (before, after) = (placed.counters(), ftl.counters());
    assert_eq!(before.host_writes, after.host_writes, "{name} after {from}");
    assert_eq!(before.relocations(), after.relocations(), "{name} after {from}");
    assert_eq!(before.erases(), after.erases(), "{name} after {from}");
    for block in (0..config.geometry.blocks()).map(BlockId) {
        assert_eq!(ftl.drive().erases(block), placed.drive().erases(block));
        assert_ne!(ftl.drive().phase(block), Phase::Open);
    }
    for from in (7777..15_000).step_by(500) {
        drive_on(&mut ftl, from..from + 500);
        ftl.check().unwrap_or_else(context);
    }
}

#[test]
fn every_ftl_takes_over_from_others() {
    for name in registry::covering_names() {
        for from in [&name, "1r-greedy", "2r-fifo", "hazard", "sepbit/cost-benefit"] {
            assert_takes_over(&name, from, config());
        }
    }
}

#[test]
fn so_do_other_schedules_of_collection() {
    for gc in [
        "incremental",
        "background",
        "garbage:share=0.2",
        "gradual:from=0.3",
        "throttled:invalid=0.2",
    ] {
        let gc: GcSchedule = gc.parse().unwrap();
        for name in ["1r-greedy", "2r++", "wolf", "midas", "hazard", "sep-gc/random"] {
            assert_takes_over(name, "2r++", DriveConfig { gc, ..config() });
        }
    }
}

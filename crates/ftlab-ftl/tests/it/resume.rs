//! State saved in the middle of a run and restored into a twin: both continue alike, for every FTL.

use ftlab_flash::{Geometry, Lpn, NoPayload};
use ftlab_ftl::page::{DriveConfig, FreeBlock, GcSchedule, Refresh, WearLeveling};
use ftlab_ftl::registry::{self, DriveShape, DynPageMapped, OracleGroup};
use ftlab_ftl::{Restored, Saved};

const LOGICAL_PAGES: u32 = 48 * 16;

type Built = DynPageMapped<NoPayload, ()>;

fn config() -> DriveConfig {
    DriveConfig::new(Geometry::new(72, 16, 512).unwrap(), LOGICAL_PAGES, 9)
}

fn build(name: &str, config: DriveConfig) -> Built {
    let groups = [0.25, 0.75].map(|pages| OracleGroup { pages, writes: 1.0 - pages });
    let spec = registry::fit(&name.parse().unwrap(), DriveShape::new(&config), &groups).unwrap();
    registry::build_page_mapped(&spec, config, NoPayload, ()).unwrap()
}

/// Skewed writes with a few trims between them, from one operation to another.
fn drive_on(ftl: &mut Built, operations: std::ops::Range<u64>) {
    for operation in operations {
        let mut bits = (operation + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hot = bits >> 62 != 0;
        let page = (bits >> 20) as u32 % LOGICAL_PAGES / if hot { 4 } else { 1 };
        if bits.is_multiple_of(50) {
            ftl.trim(Lpn(page)).unwrap();
        } else {
            ftl.write(Lpn(page), &[]).unwrap();
        }
        if let Some(page) = ftl.flash_page(Lpn(page / 2)) {
            ftl.count_read(page).unwrap();
        }
    }
}

fn saved(ftl: &mut Built) -> Saved {
    let mut state = Saved::default();
    ftl.transfer(&mut state).unwrap();
    state
}

fn assert_resumes(name: &str, config: DriveConfig) {
    let mut ftl = build(name, config);
    drive_on(&mut ftl, 0..7777);
    let state = saved(&mut ftl);
    let mut twin = build(name, config);
    let mut archive = Restored::new(&state.0);
    twin.transfer(&mut archive).unwrap();
    assert!(archive.rest().is_empty(), "{name}");
    let (head, tail) = ftl.drive().mapping().split_at(100);
    twin.set_mapping(Lpn(100), tail).unwrap();
    twin.set_mapping(Lpn(0), head).unwrap();
    twin.check().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(saved(&mut twin), state, "{name}");
    for ftl in [&mut ftl, &mut twin] {
        drive_on(ftl, 7777..15_000);
    }
    assert_eq!(ftl.counters(), twin.counters(), "{name}");
    assert_eq!(ftl.drive().mapping(), twin.drive().mapping(), "{name}");
    assert_eq!(saved(&mut ftl), saved(&mut twin), "{name}");
    twin.check().unwrap_or_else(|error| panic!("{name}: {error}"));
}

#[test]
fn every_ftl_goes_on_as_if_nothing_had_happened() {
    for name in registry::covering_names() {
        assert_resumes(&name, config());
    }
}

#[test]
fn so_do_reclaim_groups() {
    let config = DriveConfig::new(Geometry::new(80, 16, 512).unwrap(), LOGICAL_PAGES, 8);
    assert_resumes("nvme-fdp:handles=2,reclaim-groups=2", config);
}

#[test]
fn so_does_collection_in_steps_with_wear_levelling() {
    let gc = GcSchedule::Incremental { pages_max: 3 };
    let wear = WearLeveling { free_block: FreeBlock::LeastWorn, threshold: 2 };
    for name in [
        "1r-greedy",
        "2r++",
        "2r-fifo:adapt-depth=on",
        "2r-fifo:victims=d-choices",
        "wolf",
        "wolf:movement=interval",
        "fdp-freq:groups=2,groups-max=4",
        "midas",
        "hazard",
        "sep-gc/random",
    ] {
        assert_resumes(name, DriveConfig { gc, wear, ..config() });
    }
}

#[test]
fn so_do_blocks_that_are_rewritten_in_time() {
    let refresh = Refresh { reads: 5, age_writes: 500 };
    for name in ["1r-greedy", "2r++", "sepbit"] {
        let config = DriveConfig { refresh, ..config() };
        assert_resumes(name, config);
        let mut ftl = build(name, config);
        drive_on(&mut ftl, 0..7777);
        assert!(ftl.refreshed().pages > 100, "{name}");
    }
}

#[test]
fn the_state_of_another_drive_is_refused() {
    let mut ftl = build("2r-fifo", config());
    let state = saved(&mut ftl);
    let larger = DriveConfig { geometry: Geometry::new(80, 16, 512).unwrap(), ..config() };
    let mut other = build("2r-fifo", larger);
    assert!(other.transfer(&mut Restored::new(&state.0)).is_err() || other.check().is_err());
    let error = other.set_mapping(Lpn(LOGICAL_PAGES), &[0]).unwrap_err().to_string();
    assert_eq!(error, "a table of 769 entries was saved, and this FTL has 768");
    let error = other.set_mapping(Lpn(0), &[80 * 16]).unwrap_err().to_string();
    assert_eq!(error, "1280 is not a valid value in the saved state");
    let hybrid = registry::build_page_mapped(&"fast".parse().unwrap(), config(), NoPayload, ());
    let error = hybrid.err().unwrap().to_string();
    assert!(error.contains("unknown page-mapped FTL \"fast\""), "{error}");
}

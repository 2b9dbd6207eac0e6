//! State saved in the middle of a run and restored into a twin: both continue alike, for every FTL.

use ftlab_flash::{Geometry, Lpn, NoPayload};
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::{DriveConfig, FreeBlock, GcSchedule, Refresh, WearLeveling};
use ftlab_ftl::registry::{self, DriveShape, DynMapped, OracleGroup};
use ftlab_ftl::{Restored, Saved};

const LOGICAL_PAGES: u32 = 48 * 16;

type Built = DynMapped<NoPayload, ()>;

fn config() -> DriveConfig {
    DriveConfig::new(Geometry::new(72, 16, 512).unwrap(), LOGICAL_PAGES, 9)
}

fn build(name: &str, config: DriveConfig) -> Built {
    build_mapped(name, "full", config)
}

fn build_mapped(name: &str, mapping: &str, config: DriveConfig) -> Built {
    let mapping: Mapping = mapping.parse().unwrap();
    let shape = DriveShape::new(&mapping.of_engine(config).unwrap());
    let groups = [0.25, 0.75].map(|pages| OracleGroup { pages, writes: 1.0 - pages });
    let spec = registry::fit(&name.parse().unwrap(), shape, &groups).unwrap();
    let policy = registry::boxed_policy(&spec, shape).unwrap();
    registry::build_mapped(&mapping, policy, &spec, config, NoPayload, ()).unwrap()
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
        if bits.is_multiple_of(7) {
            ftl.read(Lpn(page / 3), &mut []).unwrap();
        }
    }
}

fn saved(ftl: &mut Built) -> Saved {
    let mut state = Saved::default();
    ftl.transfer(&mut state).unwrap();
    state
}

fn assert_resumes(name: &str, config: DriveConfig) {
    assert_resumes_with(name, "full", config);
}

fn assert_resumes_with(name: &str, mapping: &str, config: DriveConfig) {
    let (mut ftl, mut twin) =
        (build_mapped(name, mapping, config), build_mapped(name, mapping, config));
    drive_on(&mut ftl, 0..7777);
    let state = saved(&mut ftl);
    let name = format!("{name} with {mapping}");
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
    assert_eq!(ftl.map_counts(), twin.map_counts(), "{name}");
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

/// A cache of a quarter of the entries or less, with the choices of every parameter.
const MAPS: [&str; 55] = [
    "iu:size=1KiB",
    "iu:size=2KiB",
    "dftl:cache=1KiB",
    "dftl:cache=1KiB,protected=0",
    "dftl:cache=1KiB,protected=0.25",
    "dftl:cache=1KiB,protected=1",
    "dftl:cache=1KiB,entry-bytes=4",
    "dftl:cache=1KiB,entry-bytes=16",
    "dftl:cache=2KiB,unit=1KiB",
    "dftl:cache=1KiB,hmb=1KiB",
    "tpftl:cache=1KiB,hmb=2KiB,hmb-us=0.5",
    "s-ftl:cache=1KiB",
    "s-ftl:cache=1KiB,buffer=0",
    "s-ftl:cache=1KiB,buffer=0.4",
    "s-ftl:cache=1KiB,few=0",
    "s-ftl:cache=1KiB,few=16",
    "s-ftl:cache=1KiB,entry-bytes=4",
    "s-ftl:cache=2KiB,unit=1KiB",
    "cdftl:cache=1KiB",
    "cdftl:cache=1KiB,pages=0",
    "cdftl:cache=2KiB,pages=0.9",
    "cdftl:cache=1KiB,entry-bytes=4",
    "cdftl:cache=1KiB,entry-bytes=12",
    "cdftl:cache=2KiB,unit=1KiB",
    "tpftl:cache=1KiB",
    "tpftl:cache=1KiB,threshold=1",
    "tpftl:cache=1KiB,threshold=8",
    "tpftl:cache=1KiB,order=last",
    "tpftl:cache=1KiB,entry-bytes=4",
    "tpftl:cache=1KiB,entry-bytes=12",
    "tpftl:cache=1KiB,node-bytes=0",
    "tpftl:cache=1KiB,node-bytes=32",
    "tpftl:cache=1KiB,by-request=off",
    "tpftl:cache=1KiB,selective=off",
    "tpftl:cache=1KiB,together=off",
    "tpftl:cache=1KiB,clean-first=off",
    "tpftl:cache=1KiB,by-request=off,selective=off,together=off,clean-first=off",
    "tpftl:cache=2KiB,unit=1KiB",
    "leaftl:cache=1KiB",
    "leaftl:cache=1KiB,gamma=1",
    "leaftl:cache=1KiB,gamma=4,buffer=64",
    "leaftl:cache=1KiB,gamma=64,greedy=on,buffer=64",
    "leaftl:cache=1KiB,buffer=1",
    "leaftl:cache=1KiB,compaction=1",
    "leaftl:cache=1KiB,gamma=4,compaction=1000",
    "leaftl:cache=1KiB,hmb=2KiB",
    "leaftl:cache=2KiB,gamma=4,unit=1KiB",
    "learnedftl:cache=2KiB",
    "learnedftl:cache=2KiB,pieces=1",
    "learnedftl:cache=4KiB,pieces=64",
    "learnedftl:cache=2KiB,order=last,threshold=1",
    "learnedftl:cache=2KiB,entry-bytes=4,node-bytes=0",
    "learnedftl:cache=2KiB,entry-bytes=12,node-bytes=32,threshold=8",
    "learnedftl:cache=2KiB,hmb=2KiB",
    "learnedftl:cache=3KiB,unit=1KiB",
];

/// Room for translation pages.
fn config_of_maps() -> DriveConfig {
    DriveConfig::new(Geometry::new(80, 16, 512).unwrap(), LOGICAL_PAGES, 12)
}

#[test]
fn so_do_maps_on_flash_and_by_units() {
    for mapping in MAPS {
        assert_resumes_with("2r++", mapping, config_of_maps());
        if mapping.starts_with("learnedftl") {
            assert_resumes_with("address-groups", mapping, config_of_maps());
        }
    }
    let maps = [
        "dftl:cache=1KiB",
        "s-ftl:cache=1KiB",
        "cdftl:cache=1KiB",
        "tpftl:cache=1KiB",
        "leaftl:cache=1KiB,gamma=4,buffer=64",
        "learnedftl:cache=2KiB",
    ];
    let mut maps = maps.iter().cycle();
    let names = registry::covering_names();
    for name in names.iter().filter(|name| !name.starts_with("nvme-fdp")) {
        for mapping in maps.by_ref().take(2) {
            assert_resumes_with(name, mapping, config_of_maps());
        }
    }
}

#[test]
fn the_state_of_a_map_of_another_size_is_refused() {
    let mut ftl = build_mapped("2r++", "dftl:cache=1KiB", config_of_maps());
    let state = saved(&mut ftl);
    let mut in_units = build_mapped("2r++", "dftl:cache=2KiB,unit=1KiB", config_of_maps());
    let error = in_units.transfer(&mut Restored::new(&state.0)).unwrap_err().to_string();
    assert_eq!(error, "a table of 768 entries was saved, and this FTL has 384");
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

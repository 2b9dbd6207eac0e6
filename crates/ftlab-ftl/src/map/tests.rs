//! Maps against their twin, against a map in memory, and with every policy.

use crate::ftl::DynFtl;
use crate::map::Mapping;
use crate::map::twin::{Page, Shape, Twin};
use crate::page::entry::DriveShape;
use crate::page::{DriveConfig, GcSchedule, Hints, Refresh};
use crate::registry::{self, boxed_policy, build_boxed, build_mapped, covering_names};
use crate::{Counters, Ftl, MapCounts, StreamCounters};
use ftlab_flash::{Cause, Counted, Faults, Faulty, Flash, Geometry, Lpn, NoPayload};
use proptest::prelude::*;

type OverCounted<F> = DynFtl<Counted<F>, ()>;

fn mapped<F: Flash + Send + 'static>(
    name: &str,
    mapping: &Mapping,
    config: DriveConfig,
    flash: F,
) -> OverCounted<F> {
    let spec = name.parse().unwrap();
    let policy = boxed_policy(&spec, DriveShape::new(&config)).unwrap();
    build_mapped(mapping, policy, &spec, config, Counted::new(flash), ()).unwrap()
}

#[derive(Debug, Clone, Copy)]
enum Operation {
    Write(u32),
    Trim(u32),
    Read(u32),
}

#[derive(Debug, Clone)]
struct Scenario {
    config: DriveConfig,
    mapping: Mapping,
    shape: Shape,
    operations: Vec<Operation>,
}

/// Small drives, barely large enough or larger; translation pages of 2 to 8 entries.
fn scenarios() -> impl Strategy<Value = Scenario> {
    let sizes = (2_u32..12, 2_u32..16, 0_u32..6, 2_u32..5, 1_u32..5);
    let cache = (1_u32..60, prop_oneof![Just(0.0), Just(0.5), Just(1.0)]);
    let steps = prop::collection::vec((0_u8..12, any::<u32>(), 0_u32..3), 50..500);
    (sizes, cache, steps).prop_map(|(sizes, (entries, protected), steps)| {
        let (pages_per_block, data_blocks, extra_blocks, reserve, entries_per_page) = sizes;
        let entries_per_page = 2 * entries_per_page;
        let host_pages = data_blocks * pages_per_block - u32::from(data_blocks % 2 == 0);
        let map_pages = host_pages.div_ceil(entries_per_page);
        let filled = (host_pages + map_pages).div_ceil(pages_per_block);
        let blocks = filled + reserve + 3 + extra_blocks;
        let page_bytes = 4 * entries_per_page;
        let geometry = Geometry::new(blocks, pages_per_block, page_bytes).unwrap();
        let config = DriveConfig::new(geometry, host_pages, reserve);
        // As much as a page at least.
        let entries = entries.max(entries_per_page);
        let mapping = format!("dftl:cache={},entry-bytes=4,protected={protected}", 4 * entries);
        let entries = entries.min(host_pages);
        let shape = Shape {
            blocks: blocks as usize,
            pages_per_block: pages_per_block as usize,
            reserve: reserve as usize,
            entries_per_page,
            entries: entries as usize,
            protected: (protected * f64::from(entries)) as usize,
        };
        let operations = steps.into_iter().flat_map(|(kind, number, skew)| {
            let lpn = number % (host_pages >> (2 * skew)).max(1);
            let next = (lpn + 1) % host_pages;
            match kind {
                0 => vec![Operation::Trim(lpn), Operation::Trim(next)],
                1 => vec![Operation::Read(lpn)],
                2 => (0..20)
                    .map(|ahead| Operation::Write((number % host_pages + ahead) % host_pages))
                    .collect(),
                _ => vec![Operation::Write(lpn), Operation::Write(number % host_pages)],
            }
        });
        let operations = operations.collect();
        Scenario { config, mapping: mapping.parse().unwrap(), shape, operations }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_cache_of_entries_does_what_its_twin_does(scenario in scenarios()) {
        let Scenario { config, mapping, shape, operations } = scenario;
        let mut fast = mapped("1r-greedy", &mapping, config, NoPayload);
        let mut twin = Twin::new(shape);
        for operation in operations {
            match operation {
                Operation::Write(lpn) => {
                    fast.write(Lpn(lpn), &[]).unwrap();
                    twin.write(lpn);
                }
                Operation::Trim(lpn) => {
                    fast.trim(Lpn(lpn)).unwrap();
                    twin.trim(lpn);
                }
                Operation::Read(lpn) => {
                    fast.read(Lpn(lpn), &mut []).unwrap();
                    twin.read(lpn);
                }
            }
            prop_assert_eq!(fast.map_counts(), Some(twin.counts), "after {:?}", operation);
            let counters = fast.counters();
            let counted = [counters.relocations(), counters.erases()];
            prop_assert_eq!(counted, [twin.relocations, twin.erases], "after {:?}", operation);
        }
        fast.check().unwrap();
        let pages = config.geometry.pages_per_block();
        for lpn in 0..config.logical_pages + fast.map_pages() {
            let page = match lpn.checked_sub(config.logical_pages) {
                None => Page::Host(lpn),
                Some(page) => Page::Map(page),
            };
            let place = twin.places.get(&page).map(|&(block, page)| block as u32 * pages + page as u32);
            prop_assert_eq!(fast.flash_page(Lpn(lpn)).map(|page| page.0), place, "{:?}", page);
        }
    }
}

/// A drive of 1,024 pages, with translation pages of 16 entries.
fn drive() -> DriveConfig {
    DriveConfig::new(Geometry::new(116, 16, 64).unwrap(), 1024, 14)
}

/// Skewed writes, and some trims.
fn work(ftl: &mut (impl Ftl + ?Sized), pages: u32) {
    let mut state = 1_u64;
    let mut next = |end: u32| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        ((state >> 33) % u64::from(end)) as u32
    };
    for lpn in 0..pages {
        ftl.write(Lpn(lpn), &[]).unwrap();
    }
    for _ in 0..8 * pages {
        let lpn = if next(4) == 0 { next(pages) } else { next(pages / 8) };
        if next(50) == 0 {
            ftl.trim(Lpn(lpn)).unwrap();
        } else {
            ftl.write(Lpn(lpn), &[]).unwrap();
        }
    }
}

/// Policies that are told nothing but addresses, and whose parameters fit any drive.
fn policies() -> impl Iterator<Item = String> {
    let is_told = |name: &String| {
        let hints = registry::hints(&name.parse().unwrap()).unwrap();
        hints == Hints::None && !name.starts_with("oracle")
    };
    covering_names().into_iter().filter(is_told)
}

#[test]
fn a_cache_as_large_as_the_map_costs_nothing() {
    let mapping = "dftl:cache=8KiB".parse().unwrap();
    for name in policies() {
        let config = drive();
        let mut fast = mapped(&name, &mapping, config, NoPayload);
        let spec = name.parse().unwrap();
        let mut full = build_boxed(&spec, config, Counted::new(NoPayload), ()).unwrap();
        work(&mut *fast, 1024);
        work(&mut *full, 1024);
        let mut counters: Counters = fast.counters();
        assert_eq!(
            counters.streams.pop(),
            Some(StreamCounters::default()),
            "{name}: the map's own"
        );
        assert_eq!(counters, full.counters(), "{name}");
        let places = |ftl: &OverCounted<NoPayload>| {
            (0..1024).map(|lpn| ftl.flash_page(Lpn(lpn))).collect::<Vec<_>>()
        };
        assert_eq!(places(&fast), places(&full), "{name}");
        let counts = fast.map_counts().unwrap();
        assert_eq!([counts.reads(), counts.writes(), counts.relocations], [0; 3], "{name}");
        assert_eq!(counts.write_lookups - counts.write_hits, 1024, "{name}: once a page");
    }
}

/// What the map counts is what the flash counts.
fn compare<F: Flash + Send>(what: &str, ftl: &OverCounted<F>) -> MapCounts {
    ftl.check()
        .map_err(|broken| format!("{what}: {}", &broken.0[..broken.0.len().min(300)]))
        .unwrap();
    let (counts, of_map) = (ftl.map_counts().unwrap(), ftl.flash().of(Cause::Map));
    assert_eq!([of_map.reads, of_map.programs], [counts.reads(), counts.writes()], "{what}");
    assert_eq!([of_map.copies, of_map.erases], [0; 2], "{what}: that is collection");
    assert!(counts.relocations > 0, "{what}: {counts:?}");
    assert!(counts.write_backs > 0 && counts.move_updates > 0, "{what}: {counts:?}");
    let host = ftl.flash().of(Cause::Host).programs;
    assert_eq!(ftl.counters().host_writes, host, "{what}: translation pages are not of the host");
    counts
}

#[test]
fn every_policy_takes_a_map_on_flash() {
    let mapping = "dftl:cache=512".parse().unwrap();
    let mut lazy = 0;
    for name in policies() {
        let mut ftl = mapped(&name, &mapping, drive(), NoPayload);
        work(&mut *ftl, 1024);
        let counts = compare(&name, &ftl);
        assert_eq!(counts.write_lookups, 9 * 1024, "{name}: writes and trims");
        lazy += counts.lazy_updates;
    }
    assert!(lazy > 0, "no page that was moved was in memory");
}

#[test]
fn collections_of_any_schedule_and_failing_blocks_keep_the_map_right() {
    let mapping = "dftl:cache=1KiB".parse().unwrap();
    let schedules = ["incremental", "incremental:pages=2", "background", "garbage", "gradual"];
    let mut refreshed = 0;
    for name in ["1r-greedy", "2r++", "sepbit", "wolf"] {
        for gc in schedules {
            let gc: GcSchedule = gc.parse().unwrap();
            let refresh = Refresh { age_writes: 2000, ..Refresh::default() };
            let mut config = DriveConfig { gc, refresh, ..drive() };
            config.wear.threshold = 4;
            let mut ftl = mapped(name, &mapping, config, NoPayload);
            work(&mut *ftl, 1024);
            compare(&format!("{name}, {gc}"), &ftl);
            refreshed += ftl.refreshed().pages;
        }
        let faults = Faults { programs: 3e-4, erases: 1e-3, ..Faults::default() };
        let faulty = Faulty::new(NoPayload, &drive().geometry, faults);
        let mut ftl = mapped(name, &mapping, drive(), faulty);
        work(&mut *ftl, 1024);
        ftl.check().unwrap();
        assert!(ftl.retired_blocks() > 0, "{name}");
    }
    assert!(refreshed > 0, "no block was rewritten in time");
}

#[test]
fn a_policy_with_placement_handles_is_refused() {
    let spec = "nvme-fdp".parse().unwrap();
    let policy = boxed_policy(&spec, DriveShape::new(&drive())).unwrap();
    let mapping = "dftl:cache=1KiB".parse().unwrap();
    let made = build_mapped(&mapping, policy, &spec, drive(), NoPayload, ());
    let error = made.err().unwrap().to_string();
    assert!(error.contains("leave out --mapping, or nvme-fdp"), "{error}");
}

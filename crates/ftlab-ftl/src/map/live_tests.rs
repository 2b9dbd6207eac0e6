//! Maps whose entries are on flash and nowhere else, against those that have all of them in memory.

use crate::algorithms::tools::random::Random;
use crate::map::Mapping;
use crate::map::tests::{
    Kind, Operation, OverCounted, SCHEDULES, Scenario, drive, mapped, policies, scenarios,
};
use crate::page::{DriveConfig, GcSchedule};
use crate::registry::{DynMapped, build_for_drive};
use crate::{Restored, Saved};
use ftlab_flash::{Counted, Faults, Faulty, Lpn, Memory, NoPayload};
use proptest::prelude::*;

/// The pages of its data are on `flash`.
fn made(name: &str, mapping: &Mapping, config: DriveConfig, flash: Memory) -> OverCounted<Memory> {
    let spec = name.parse().unwrap();
    build_for_drive(mapping, &spec, config, Counted::new(flash), ()).unwrap()
}

fn live(name: &str, mapping: &Mapping, config: DriveConfig) -> OverCounted<Memory> {
    made(name, mapping, config, Memory::new(config.geometry))
}

/// What is written to a page.
fn content(config: &DriveConfig, lpn: u32, version: u32) -> Vec<u8> {
    let number = u64::from(lpn) << 32 | u64::from(version);
    let page_bytes = config.geometry.page_bytes() as usize;
    number.to_le_bytes().into_iter().cycle().take(page_bytes).collect()
}

/// Both have done the same, and have every page at the same place.
fn compare(what: &str, live: &mut OverCounted<Memory>, full: &OverCounted<NoPayload>) {
    assert_eq!(live.counters(), full.counters(), "{what}");
    assert_eq!(live.map_counts(), full.map_counts(), "{what}");
    for lpn in (0..full.drive().logical_pages()).map(Lpn) {
        assert_eq!(live.find(lpn).unwrap(), full.drive().flash_page(lpn), "{what}, page {lpn}");
    }
    let first = full.drive().logical_pages();
    for lpn in (first..first + full.map_pages()).map(Lpn) {
        let places = [live.drive(), full.drive()].map(|drive| drive.flash_page(lpn));
        assert_eq!(places[0], places[1], "{what}, translation page {lpn}");
    }
    live.check().unwrap();
}

/// It is saved, and another one continues with what is on its flash; if it is replayed, with all of its mapping in memory
/// for a while.
fn continued(
    name: &str,
    mapping: &Mapping,
    config: DriveConfig,
    mut before: OverCounted<Memory>,
    is_replayed: bool,
) -> OverCounted<Memory> {
    let mut state = Saved::default();
    before.transfer(&mut state).unwrap();
    let place = |page: Option<ftlab_flash::Ppn>| page.map_or(u32::MAX, |page| page.0);
    let mut places: Vec<u32> =
        (0..config.logical_pages).map(|lpn| place(before.find(Lpn(lpn)).unwrap())).collect();
    let map_pages = config.logical_pages..config.logical_pages + before.map_pages();
    places.extend(map_pages.clone().map(|lpn| place(before.drive().flash_page(Lpn(lpn)))));
    let flash = before.flash().flash().clone();
    let mut after = made(name, mapping, config, flash);
    let mut archive = Restored::new(&state.0);
    after.transfer(&mut archive).unwrap();
    assert!(archive.rest().is_empty());
    if is_replayed {
        after.page_in();
    }
    after.set_mapping(Lpn(0), &places).unwrap();
    after.check().unwrap();
    if !is_replayed {
        return after;
    }
    let mut data = vec![0; config.geometry.page_bytes() as usize];
    for (number, lpn) in (0..).zip(map_pages.map(Lpn)) {
        let Some(page) = after.drive().flash_page(lpn) else { continue };
        let purpose = ftlab_flash::Cause::Map.unawaited();
        let mut flash = before.flash().flash().clone();
        ftlab_flash::Flash::read(&mut flash, page, &mut data, purpose).unwrap();
        assert!(after.is_told(number, &data), "translation page {number} is wrong");
        after.tell(number, &mut data);
        assert!(after.is_told(number, &data), "translation page {number} is told wrong");
    }
    after.page_out();
    let mut again = Saved::default();
    after.transfer(&mut again).unwrap();
    assert!(again == state);
    after
}

/// Whether a drive can have it, and a simulation page by page does the same.
fn is_live(mapping: &Mapping) -> bool {
    mapping.refused_live(&drive().geometry).is_none()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn with_its_entries_on_flash_alone_a_map_does_the_same(
        scenario in scenarios(),
        stop in any::<prop::sample::Index>(),
    ) {
        let Scenario { config, kind, operations, .. } = scenario;
        let kind = match kind {
            Kind::Tpftl(of) => {
                Kind::Tpftl(crate::map::TpftlParameters { by_request: false, ..of })
            }
            Kind::Learnedftl(_) | Kind::Full => Kind::Lru { entries: 20, protected: 0.5 },
            kind => kind,
        };
        let mapping: Mapping = kind.text().parse().unwrap();
        prop_assert!(is_live(&mapping), "{mapping}");
        let mut full = mapped("1r-greedy", &mapping, config, NoPayload);
        let mut live = live("1r-greedy", &mapping, config);
        let mut versions = vec![0; config.logical_pages as usize];
        let mut data = content(&config, 0, 0);
        let stop = stop.index(operations.len());
        for (number, operation) in (1..).zip(operations) {
            match operation {
                Operation::Write(lpn) => {
                    full.write(Lpn(lpn), &[]).unwrap();
                    live.write(Lpn(lpn), &content(&config, lpn, number)).unwrap();
                    versions[lpn as usize] = number;
                }
                Operation::Trim(lpn) => {
                    full.trim(Lpn(lpn)).unwrap();
                    live.trim(Lpn(lpn)).unwrap();
                    versions[lpn as usize] = 0;
                }
                Operation::Read(lpn) => {
                    full.read(Lpn(lpn), &mut []).unwrap();
                    let holds = live.read(Lpn(lpn), &mut data).unwrap();
                    let version = versions[lpn as usize];
                    prop_assert_eq!(holds, version > 0);
                    prop_assert!(!holds || data == content(&config, lpn, version));
                }
            }
            prop_assert_eq!(live.map_counts(), full.map_counts(), "after {:?}", operation);
            prop_assert_eq!(live.counters(), full.counters(), "after {:?}", operation);
            if number as usize == stop {
                compare("stopped", &mut live, &full);
                live = continued("1r-greedy", &mapping, config, live, stop % 2 == 0);
            }
        }
        compare("at the end", &mut live, &full);
    }
}

/// Skewed writes, and some trims, of both.
fn work(live: &mut OverCounted<Memory>, full: &mut OverCounted<NoPayload>, config: &DriveConfig) {
    let mut random = Random::new(11);
    let pages = config.logical_pages;
    for number in 0..9 * pages {
        let most = if number < pages || random.below(4) == 0 { pages } else { pages / 8 };
        let lpn = if number < pages { number } else { random.below(most as usize) as u32 };
        if random.below(50) == 0 {
            live.trim(Lpn(lpn)).unwrap();
            full.trim(Lpn(lpn)).unwrap();
        } else {
            live.write(Lpn(lpn), &content(config, lpn, number)).unwrap();
            full.write(Lpn(lpn), &[]).unwrap();
        }
    }
}

const MAPS: [&str; 4] =
    ["dftl:cache=512", "tpftl:cache=512,by-request=off", "cdftl:cache=512", "s-ftl:cache=256"];

#[test]
fn every_policy_takes_a_map_whose_entries_are_on_flash_alone() {
    let mut moved = 0;
    for (number, name) in policies().enumerate() {
        let mapping = MAPS[number % 4].parse().unwrap();
        let config = drive();
        let mut full = mapped(&name, &mapping, config, NoPayload);
        let mut live = live(&name, &mapping, config);
        work(&mut live, &mut full, &config);
        compare(&name, &mut live, &full);
        live = continued(&name, &mapping, config, live, number % 2 == 0);
        work(&mut live, &mut full, &config);
        compare(&name, &mut live, &full);
        moved += full.map_counts().unwrap().relocations;
    }
    assert!(moved > 0, "no translation page was moved");
}

#[test]
fn so_do_other_schedules_of_collection() {
    for name in ["1r-greedy", "2r++", "sepbit", "wolf"] {
        for (number, gc) in SCHEDULES.into_iter().enumerate() {
            let mapping = MAPS[number % 4].parse().unwrap();
            let gc: GcSchedule = gc.parse().unwrap();
            let mut config = DriveConfig { gc, ..drive() };
            config.wear.threshold = 4;
            let mut full = mapped(name, &mapping, config, NoPayload);
            let mut live = live(name, &mapping, config);
            work(&mut live, &mut full, &config);
            compare(&format!("{name}, {gc}"), &mut live, &full);
        }
    }
}

/// Reads every page, which holds what was written last.
fn read_all(
    live: &mut DynMapped<Faulty<Memory>, ()>,
    config: &DriveConfig,
    versions: &[u32],
    what: &str,
) {
    let mut data = content(config, 0, 0);
    for (lpn, version) in (0..).zip(versions) {
        let holds = live.read(Lpn(lpn), &mut data).unwrap();
        assert_eq!(holds, *version > 0, "{what}, page {lpn}");
        assert!(!holds || data == content(config, lpn, *version), "{what}, page {lpn}");
    }
}

#[test]
fn a_drive_that_has_become_read_only_tells_what_was_written() {
    for (number, map) in MAPS.iter().cycle().take(16).enumerate() {
        let mapping: Mapping = map.parse().unwrap();
        let config = drive();
        let seed = number as u64;
        let faults = Faults { seed, programs: 1e-4, erases: 4e-3, ..Faults::default() };
        let flash = Faulty::new(Memory::new(config.geometry), &config.geometry, faults);
        let spec = "1r-greedy".parse().unwrap();
        let mut live = build_for_drive(&mapping, &spec, config, flash, ()).unwrap();
        let mut random = Random::new(seed);
        let mut versions = vec![0; config.logical_pages as usize];
        let is_read_only = (1..100_000).any(|version| {
            let lpn = random.below(config.logical_pages as usize) as u32;
            if random.below(50) == 0 {
                live.trim(Lpn(lpn)).unwrap();
                versions[lpn as usize] = 0;
                return false;
            }
            let written = live.write(Lpn(lpn), &content(&config, lpn, version));
            let mut data = content(&config, 0, 0);
            let is_written = written.is_ok()
                || live.read(Lpn(lpn), &mut data).unwrap()
                    && data == content(&config, lpn, version);
            if is_written {
                versions[lpn as usize] = version;
            }
            written.is_err()
        });
        assert!(is_read_only, "{map}, {seed}");
        read_all(&mut live, &config, &versions, &format!("{map}, {seed}"));
        // What is trimmed is told, too.
        for lpn in (0..config.logical_pages).step_by(3) {
            live.trim(Lpn(lpn)).unwrap();
            versions[lpn as usize] = 0;
        }
        for round in 0..4 {
            read_all(&mut live, &config, &versions, &format!("{map}, {seed}, round {round}"));
        }
        live.check().unwrap();
    }
}

//! Drives whose pages were placed by another program than the one that opens them.

use super::*;
use crate::media::{Backing, Checkpoint};
use ftlab_flash::Ppn;
use ftlab_spec::Spec;

const PAGES: u32 = 4096;

fn spec(ftl: &str) -> Spec {
    ftl.parse().unwrap()
}

/// Maps that drives have here.
const MAPS: [&str; 3] = ["full", "dftl:cache=2KiB", "s-ftl:cache=4KiB"];

/// A drive of 4,096 pages under `lfs-cb:batch=8`, after 24,096 writes and a flush, as a kill leaves it.
fn killed() -> (Arc<PowerCut>, Superblock) {
    killed_with("full")
}

/// The same with a map.
fn killed_with(mapping: &str) -> (Arc<PowerCut>, Superblock) {
    let geometry = Geometry::new(300, 16, PAGE as u32).unwrap();
    let config = DriveConfig::new(geometry, PAGES, 9);
    let options = CreateOptions {
        ftl: spec("lfs-cb:batch=8"),
        config,
        mapping: mapping.parse().unwrap(),
        checkpoint_every: None,
    };
    let bytes = Drive::backing_bytes(&options).unwrap() as usize;
    let backing = Arc::new(PowerCut::new(vec![0; bytes]));
    let superblock = Drive::create_on(&(Arc::clone(&backing) as _), &options).unwrap();
    let drive = open(&backing).unwrap();
    written().for_each(|(page, version)| write(&drive, page, version).unwrap());
    drive.flush().unwrap();
    drive.abandon();
    (Arc::new(backing.restarted()), superblock)
}

/// The pages that are written, and which version each time: all once, and then 20,000 times three of four to an eighth.
fn written() -> impl Iterator<Item = (u32, u32)> {
    let random = |number: u32| (u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as u32;
    let rest = (1..=20_000).map(move |number| {
        (random(number) % if number % 4 == 0 { PAGES } else { PAGES / 8 }, number + 1)
    });
    (0..PAGES).map(|page| (page, 1)).chain(rest)
}

fn assert_whole(drive: &Drive) {
    let mut versions = vec![0; PAGES as usize];
    written().for_each(|(page, version)| versions[page as usize] = version);
    for (page, version) in (0..).zip(versions) {
        let mut data = [0; PAGE];
        drive.read(u64::from(page) * PAGE as u64, &mut data).unwrap();
        assert_eq!(data, content(page, version), "page {page}");
    }
}

/// Writes the superblock of a drive with another FTL, as a program would find it that has changed since.
fn change(backing: &Arc<PowerCut>, superblock: &Superblock, ftl: &str) {
    let changed = Superblock { ftl: spec(ftl), ..superblock.clone() };
    changed.write(&**backing).unwrap();
    backing.sync().unwrap();
}

/// Writes into the headers of both checkpoints what decided.
fn pretend(backing: &Arc<PowerCut>, superblock: &Superblock, decider: &str) {
    for slot in [0, 1] {
        let (layout, uuid) = (&superblock.layout, superblock.uuid);
        let mut header = Checkpoint::read(&**backing, layout, uuid, slot).unwrap();
        header.decider = Some(decider.to_owned());
        header.write(&**backing, layout, uuid, slot).unwrap();
    }
    backing.sync().unwrap();
}

fn assert_works_on(backing: &Arc<PowerCut>, ftl: &str) {
    let drive = open(backing).unwrap();
    assert_eq!(drive.recovery().by_map, None, "it is a drive of this program now");
    assert_eq!(drive.snapshot().superblock.ftl.to_string(), ftl);
    assert_whole(&drive);
    for version in 30_000..40_000 {
        write(&drive, version % PAGES, version).unwrap();
    }
    drive.close().unwrap();
    assert_eq!(Drive::check_on(&(Arc::clone(backing) as _)).unwrap().damage, [""; 0]);
}

#[test]
fn the_ftl_that_placed_the_pages_replays() {
    for map in MAPS {
        let (backing, _) = killed_with(map);
        let drive = open(&backing).unwrap();
        assert_eq!(drive.recovery().by_map, None);
        assert!(drive.recovery().repeated > 0);
        assert_whole(&drive);
    }
}

#[test]
fn a_parameter_that_has_changed_since_costs_no_page() {
    for map in MAPS {
        let (backing, superblock) = killed_with(map);
        change(&backing, &superblock, "lfs-cb:batch=2");
        let drive = open(&backing).unwrap();
        let why = drive.recovery().by_map.clone().unwrap();
        assert!(why.contains("placed by lfs-cb:batch=8"), "{why}");
        assert!(why.contains("this program has lfs-cb:batch=2"), "{why}");
        assert_whole(&drive);
        assert_eq!(drive.snapshot().counters.host_writes, 24_096);
        drive.close().unwrap();
        assert_works_on(&backing, "lfs-cb:batch=2");
    }
}

#[test]
fn nor_does_a_version_of_decisions() {
    for map in MAPS {
        let (backing, superblock) = killed_with(map);
        let own = superblock.decider().unwrap();
        pretend(&backing, &superblock, &own.replace("engine 1", "engine 0"));
        let drive = open(&backing).unwrap();
        assert!(drive.recovery().by_map.is_some());
        assert_whole(&drive);
        drive.close().unwrap();
        assert_works_on(&backing, &superblock.ftl.to_string());
    }
}

/// Somebody has changed what an FTL decides and not said so: a replay finds pages where it does not expect them.
#[test]
fn nor_does_a_change_that_nobody_has_noted() {
    for map in MAPS {
        let (backing, superblock) = killed_with(map);
        change(&backing, &superblock, "lfs-cb:batch=2");
        let (changed, _) = Superblock::read(&*backing).unwrap();
        pretend(&backing, &changed, &changed.decider().unwrap());
        let drive = open(&backing).unwrap();
        let why = drive.recovery().by_map.clone().unwrap();
        assert!(why.contains("pages are not where lfs-cb:batch=2"), "{why}");
        assert_whole(&drive);
        drive.close().unwrap();
        assert_works_on(&backing, "lfs-cb:batch=2");
    }
}

/// The same of a few writes, for which not all of a map on flash comes into memory.
#[test]
fn nor_does_one_after_few_writes() {
    let (backing, superblock) = killed_with("dftl:cache=2KiB");
    let drive = open(&backing).unwrap();
    drive.close().unwrap();
    let drive = open(&backing).unwrap();
    written().skip(4096).for_each(|(page, version)| write(&drive, page % 512, version).unwrap());
    (0..512).for_each(|page| write(&drive, page, 77).unwrap());
    drive.flush().unwrap();
    drive.abandon();
    let backing = Arc::new(backing.restarted());
    change(&backing, &superblock, "lfs-cb:batch=2");
    let (changed, _) = Superblock::read(&*backing).unwrap();
    pretend(&backing, &changed, &changed.decider().unwrap());
    let drive = open(&backing).unwrap();
    let why = drive.recovery().by_map.clone().unwrap();
    assert!(why.contains("pages are not where lfs-cb:batch=2"), "{why}");
    let mut versions = vec![0; PAGES as usize];
    written().for_each(|(page, version)| versions[page as usize] = version);
    versions[..512].fill(77);
    for (page, version) in (0..).zip(versions) {
        let mut data = [0; PAGE];
        drive.read(u64::from(page) * PAGE as u64, &mut data).unwrap();
        assert_eq!(data, content(page, version), "page {page}");
    }
}

#[test]
fn a_drive_whose_ftl_is_unknown_can_be_read_and_taken_over() {
    for map in MAPS {
        let (backing, superblock) = killed_with(map);
        change(&backing, &superblock, "forgotten");
        let drive = open(&backing).unwrap();
        let reason = drive.read_only().unwrap();
        assert!(reason.contains("unknown FTL \"forgotten\""), "{reason}");
        assert!(reason.contains("`ftlab drive upgrade --ftl`"), "{reason}");
        assert_whole(&drive);
        drop(drive);
        let options = OpenOptions { ftl: Some(spec("1r-greedy")), ..OpenOptions::default() };
        let drive = Drive::open_alone(Arc::clone(&backing) as _, options).unwrap();
        assert_whole(&drive);
        drive.close().unwrap();
        assert_works_on(&backing, "1r-greedy");
    }
}

#[test]
fn a_later_format_is_refused_with_what_reads_it() {
    let (backing, superblock) = killed();
    let mut bytes = superblock.encode().unwrap();
    bytes[8] = 5;
    let end = bytes.len() - 4;
    let checksum = crc32c::crc32c(&bytes[..end]);
    bytes[end..].copy_from_slice(&checksum.to_le_bytes());
    backing.write_at(&bytes, 0).unwrap();
    let error = open(&backing).err().unwrap().to_string();
    let expected = "this drive has format version 5, but this program reads versions 2 to 4; open it with the version";
    assert!(error.starts_with(expected), "{error}");
}

/// What stands beside pages is damaged, and the pages are not.
#[test]
fn pages_are_found_without_what_stands_beside_them() {
    let (backing, superblock) = killed();
    open(&backing).unwrap().close().unwrap();
    let owners = superblock.layout.owner(Ppn(0))..superblock.layout.owner(Ppn(80 * 16));
    backing.write_at(&vec![0xa5; (owners.end - owners.start) as usize], owners.start).unwrap();
    backing.sync().unwrap();
    let options = OpenOptions { ftl: Some(spec("lfs-cb:batch=2")), ..OpenOptions::default() };
    let drive = Drive::open_alone(Arc::clone(&backing) as _, options).unwrap();
    assert_eq!(drive.recovery().damaged_pages, 0);
    assert_whole(&drive);
    drive.close().unwrap();
    assert_works_on(&backing, "lfs-cb:batch=2");
}

#[test]
fn a_superblock_that_is_not_like_the_other_is_written_again() {
    let (backing, superblock) = killed();
    let changed = Superblock { ftl: spec("lfs-cb:batch=2"), ..superblock.clone() };
    backing.write_at(&changed.encode().unwrap(), superblock.layout.second_superblock()).unwrap();
    backing.sync().unwrap();
    let drive = open(&backing).unwrap();
    let healed = &drive.recovery().healed;
    assert!(healed.iter().any(|healed| healed.contains("superblock")), "{healed:?}");
    assert_whole(&drive);
    drive.close().unwrap();
    let (_, damaged) = Superblock::read(&*backing).unwrap();
    assert!(damaged.is_none(), "{damaged:?}");
}

/// Each write of an upgrade is torn in the middle, whatever else was not synced.
#[test]
fn at_most_one_superblock_is_torn() {
    let (base, superblock) = killed();
    change(&base, &superblock, "lfs-cb:batch=2");
    for cut in 0..200 {
        let backing = Arc::new(base.restarted());
        backing.cut_after(cut);
        let opened = Drive::open_alone(Arc::clone(&backing) as _, OpenOptions::default());
        let is_finished = opened.as_ref().is_ok_and(|drive| drive.read_only().is_none());
        opened.into_iter().for_each(Drive::abandon);
        // Of every write only the first 100 bytes.
        let mut calls = 0;
        let survivor = backing.survivor(|end| {
            calls += 1;
            if calls == 1 { 3 } else { [2, 0, 100][(calls - 2) % 3].min(end - 1) }
        });
        let drive = open(&Arc::new(PowerCut::new(survivor))).unwrap();
        assert_whole(&drive);
        if is_finished {
            return;
        }
    }
    panic!("an upgrade takes more than 200 writes");
}

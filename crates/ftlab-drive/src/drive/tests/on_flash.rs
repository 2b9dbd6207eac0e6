//! Faults of drives whose map is on flash.

use super::*;
use ftlab_flash::{Lpn, Ppn};
use std::sync::Mutex;

/// Entries of a third of the pages are in memory.
const MAP: &str = "dftl:cache=1KiB";

fn paged_options() -> CreateOptions {
    let config = DriveConfig::new(Geometry::new(44, 16, PAGE as u32).unwrap(), LOGICAL_PAGES, 4);
    CreateOptions { config, mapping: MAP.parse().unwrap(), ..options() }
}

/// A new drive whose map is on flash.
fn paged() -> (Arc<PowerCut>, Superblock) {
    let bytes = Drive::backing_bytes(&paged_options()).unwrap() as usize;
    let backing = Arc::new(PowerCut::new(vec![0; bytes]));
    let superblock = Drive::create_on(&(Arc::clone(&backing) as _), &paged_options()).unwrap();
    (backing, superblock)
}

/// Opens it; and what it says from then on.
fn open_told(backing: &Arc<PowerCut>) -> (Drive, Arc<Mutex<Vec<String>>>) {
    let notices = Arc::<Mutex<Vec<String>>>::default();
    let told = Arc::clone(&notices);
    let notice = Arc::new(move |text: &str| told.lock().unwrap().push(text.to_owned()));
    let options = OpenOptions { notice: Some(notice), ..OpenOptions::default() };
    (Drive::open_alone(Arc::clone(backing) as _, options).unwrap(), notices)
}

fn damage(backing: &Arc<PowerCut>) -> Vec<String> {
    Drive::check_on(&(Arc::clone(backing) as _)).unwrap().damage
}

/// Where a translation page is.
fn place_of_map_page(drive: &Drive, number: u32) -> Ppn {
    let mut core = drive.shared.lock();
    let page = core.ftl.drive().flash_page(Lpn(LOGICAL_PAGES + number)).unwrap();
    core.media().slots().place(page)
}

#[test]
fn a_translation_page_that_rots_is_put_together_once() {
    let (backing, superblock) = paged();
    let drive = open(&backing).unwrap();
    fill(&drive, 5);
    let place = superblock.layout.page(place_of_map_page(&drive, 1));
    drive.close().unwrap();
    let mut bytes = backing.survivor(|_| 0);
    bytes[place as usize + 9] ^= 1;
    for end in ["close", "flush", "write"] {
        let backing = Arc::new(PowerCut::new(bytes.clone()));
        let (drive, notices) = open_told(&backing);
        for _ in 0..3 {
            assert_eq!(unreadable_after_fill(&drive, 5), [0_u32; 0]);
        }
        let damaged = |text: &&String| text.starts_with("translation page 1 is damaged");
        assert_eq!(notices.lock().unwrap().iter().filter(damaged).count(), 1);
        match end {
            "close" => drive.close().unwrap(),
            "flush" => {
                drive.shared.lock().media().syncer().sync_all().unwrap();
                drive.abandon();
            }
            _ => {
                write(&drive, 1, 1).unwrap();
                drive.flush().unwrap();
                drive.abandon();
            }
        }
        let backing = Arc::new(PowerCut::new(backing.survivor(|_| 0)));
        assert_eq!(damage(&backing), [""; 0], "{end}");
        let (drive, notices) = open_told(&backing);
        assert_eq!(unreadable_after_fill(&drive, 5), [0_u32; 0]);
        assert!(notices.lock().unwrap().is_empty(), "{end}");
        assert!(drive.recovery().healed.is_empty(), "{end}");
        drop(drive);
        assert_eq!(unreadable_after_fill(&open(&backing).unwrap(), 5), [0_u32; 0]);
    }
}

#[test]
fn a_check_looks_beside_pages() {
    let (backing, superblock) = paged();
    let drive = open(&backing).unwrap();
    fill(&drive, 5);
    let place = Ppn(drive.mapping()[7]);
    drive.close().unwrap();
    assert_eq!(damage(&backing), [""; 0]);
    let mut bytes = backing.survivor(|_| 0);
    bytes[superblock.layout.owner(place) as usize + 5] ^= 4;
    let backing = Arc::new(PowerCut::new(bytes));
    let expected =
        format!("what stands beside flash page {place} does not tell that it holds page 7");
    assert_eq!(damage(&backing), [expected]);
    let drive = open(&backing).unwrap();
    assert_eq!(drive.recovery().healed, ["what stands beside 1 pages was written again"]);
    assert_eq!(unreadable_after_fill(&drive, 5), [0_u32; 0]);
    drive.abandon();
    assert_eq!(damage(&backing), [""; 0]);
}

/// What is cut off may have taken the places of what is left: then nothing is written.
#[test]
fn a_repair_overwrites_nothing_newer() {
    let (backing, superblock) = paged();
    let drive = open(&backing).unwrap();
    fill(&drive, 3);
    drive.checkpoint().unwrap();
    let start = drive.shared.lock().media().journal().head().position;
    let before = drive.snapshot().operations;
    for number in 0..300 {
        write(&drive, number * 7 % LOGICAL_PAGES, 20).unwrap();
        drive.flush().unwrap();
    }
    drive.abandon();
    let bytes = backing.survivor(|_| 0);
    let (mut refused, mut repaired) = (0, 0);
    for batch in [60, 260, 298] {
        let mut bytes = bytes.clone();
        for copy in [0, 1] {
            let position = (start + batch * 512) % superblock.layout.journal_bytes;
            let at = superblock.layout.journal(copy) + position + 74;
            bytes[at as usize] ^= 0x10;
        }
        let backing = Arc::new(PowerCut::new(bytes.clone()));
        let salvage = OpenOptions { salvage: true, ..OpenOptions::default() };
        let drive = Drive::open_alone(Arc::clone(&backing) as _, salvage).unwrap();
        assert!(drive.recovery().lost > 0, "{batch}");
        if let Some(why) = drive.read_only() {
            assert!(why.contains("that were written after operation"), "{why}");
            refused += 1;
            drop(drive);
            let owners = superblock.layout.owner(Ppn(0)) as usize;
            assert!(backing.survivor(|_| 0)[owners..] == bytes[owners..], "{batch}");
        } else {
            repaired += 1;
            assert!(drive.snapshot().operations >= before + batch - 1);
            drive.abandon();
            assert_eq!(damage(&backing), [""; 0]);
        }
    }
    assert!(refused > 0 && repaired > 0, "{refused} refused, {repaired} repaired");
}

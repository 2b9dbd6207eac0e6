//! Faults of drives whose map is on flash.

use super::*;
use crate::drive::opening::{How, MayLose};
use crate::drive::{Recovery, recovery};
use crate::media::Backing;
use ftlab_flash::{Lpn, Ppn};
use ftlab_ftl::map::Mapping;
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

/// Recovers a drive with all of its map in memory, or without; then what is on the medium, and the state.
fn recovered(bytes: &[u8], needs_all: bool) -> (Vec<u8>, Vec<u8>, Vec<u32>, Recovery) {
    let backing: Arc<dyn Backing> = Arc::new(Bytes(Mutex::new(bytes.to_vec())));
    let (superblock, _) = Superblock::read(&*backing).unwrap();
    let how = How { may_lose: MayLose::Nothing, is_taken_over: false, needs_all };
    let (mut core, recovery) = recovery::recover(&backing, &superblock, how).unwrap();
    let mut state = Written(Vec::new());
    core.ftl.transfer(&mut state).unwrap();
    core.ftl.check().unwrap();
    let pages = superblock.config.logical_pages;
    let mapping = (0..pages).map(|lpn| core.find(Lpn(lpn)).unwrap());
    let mapping = mapping.map(|page| page.map_or(u32::MAX, |page| page.0)).collect();
    // Journal and checkpoints name a session at random.
    let start = superblock.layout.owner(Ppn(0));
    let mut after = vec![0; bytes.len() - start as usize];
    backing.read_at(&mut after, start).unwrap();
    (after, state.0, mapping, recovery)
}

/// Whether it is recovered without all of the mapping in memory.
fn is_recovered_in_part(bytes: &[u8]) -> bool {
    let backing: Arc<dyn Backing> = Arc::new(Bytes(Mutex::new(bytes.to_vec())));
    let (superblock, _) = Superblock::read(&*backing).unwrap();
    let how = How { needs_all: false, ..How::AS_IT_IS };
    let recovery = &mut Recovery::default();
    recovery::repeat_all(&backing, &superblock, how, recovery).unwrap().survey.is_some()
}

struct Written(Vec<u8>);

impl ftlab_ftl::Archive for Written {
    fn bytes(&mut self, bytes: &mut [u8]) -> std::io::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

struct Bytes(Mutex<Vec<u8>>);

impl Backing for Bytes {
    fn read_at(&self, data: &mut [u8], offset: u64) -> std::io::Result<()> {
        data.copy_from_slice(&self.0.lock().unwrap()[offset as usize..][..data.len()]);
        Ok(())
    }

    fn write_at(&self, data: &[u8], offset: u64) -> std::io::Result<()> {
        self.0.lock().unwrap()[offset as usize..][..data.len()].copy_from_slice(data);
        Ok(())
    }

    fn sync(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn bytes(&self) -> std::io::Result<u64> {
        Ok(self.0.lock().unwrap().len() as u64)
    }

    fn pause(&self, _: std::time::Duration) {}
}

/// A recovery in the memory of the cache does what one does with all of the map in memory, to the last bit.
#[test]
fn a_recovery_takes_the_memory_of_the_cache_alone() {
    let mut random = 1_u32;
    let mut below = |end: u32| {
        random = random.wrapping_mul(0x915f_77f5).wrapping_add(12345);
        (random >> 8) % end
    };
    let (mut repeated, mut in_part) = (0, 0);
    // If a map asks for whole translation pages, sixteen of them are enough for some to be left.
    for (map, pages) in [
        ("dftl:cache=512", LOGICAL_PAGES),
        ("cdftl:cache=1KiB", LOGICAL_PAGES),
        ("tpftl:cache=512,by-request=off", LOGICAL_PAGES),
        ("s-ftl:cache=1KiB", LOGICAL_PAGES),
        ("s-ftl:cache=2KiB", 16 * 128),
        ("s-ftl:cache=2KiB,buffer=0.5,few=8", 16 * 128 - 50),
    ] {
        for gc in ["foreground", "incremental", "background"] {
            let mut options = CreateOptions { mapping: map.parse().unwrap(), ..paged_options() };
            let blocks = pages.div_ceil(16) * 5 / 4 + 14;
            let geometry = Geometry::new(blocks, 16, PAGE as u32).unwrap();
            options.config = DriveConfig::new(geometry, pages, 4);
            options.config.gc = gc.parse().unwrap();
            options.checkpoint_every = Some(120);
            let bytes = Drive::backing_bytes(&options).unwrap() as usize;
            let backing = Arc::new(PowerCut::new(vec![0; bytes]));
            Drive::create_on(&(Arc::clone(&backing) as _), &options).unwrap();
            let drive = open(&backing).unwrap();
            (0..pages).for_each(|page| write(&drive, page, 1).unwrap());
            drive.close().unwrap();
            let mut bytes = backing.survivor(|_| 0);
            for life in 0..8 {
                let backing = Arc::new(PowerCut::new(bytes));
                backing.cut_after(u64::from(below(300)));
                let Ok(drive) = open(&backing) else {
                    bytes = backing.survivor(&mut below);
                    continue;
                };
                let first = below(pages - 300);
                for step in 0..400 {
                    let page = first + below(300);
                    let offset = u64::from(page) * PAGE as u64;
                    let done = match below(30) {
                        0 => drive.flush(),
                        1 => drive.trim(offset, PAGE as u64),
                        _ => write(&drive, page, life * 1000 + step),
                    };
                    if done.is_err() {
                        break;
                    }
                }
                drive.abandon();
                bytes = backing.survivor(&mut below);
                let [full, part] = [true, false].map(|needs_all| recovered(&bytes, needs_all));
                in_part += u32::from(is_recovered_in_part(&bytes));
                let context = format!("{map}, {gc}, life {life}");
                assert!(full.1 == part.1, "{context}: the states differ");
                assert!(full.2 == part.2, "{context}: the mappings differ");
                assert_eq!(full.3, part.3, "{context}");
                let differ = full.0.iter().zip(&part.0).position(|(full, part)| full != part);
                assert_eq!(differ, None, "{context}: the media differ");
                repeated += part.3.repeated;
            }
        }
    }
    assert!(repeated > 1000 && in_part > 30, "{repeated}, {in_part} in part");
}

/// An entry that a trim looks up stays, and another one leaves: what is found later depends on where the trim stood.
#[test]
fn a_replay_looks_trims_up_between_the_writes_where_they_were() {
    // 64 entries, the oldest of which leaves.
    let mapping = "dftl:cache=512,protected=0".parse().unwrap();
    let options = CreateOptions { mapping, ..paged_options() };
    let bytes = Drive::backing_bytes(&options).unwrap() as usize;
    let backing = Arc::new(PowerCut::new(vec![0; bytes]));
    Drive::create_on(&(Arc::clone(&backing) as _), &options).unwrap();
    let drive = open(&backing).unwrap();
    fill(&drive, 0);
    (0..64).for_each(|page| write(&drive, page, 2).unwrap());
    drive.close().unwrap();
    let filled = backing.survivor(|_| 0);
    // Pages 0 and 1 are the next to leave; the trim of page 100 comes before, between or after their writes.
    for (trimmed, hits) in [(0, 0), (1, 1), (2, 2)] {
        let backing = Arc::new(PowerCut::new(filled.clone()));
        let drive = open(&backing).unwrap();
        let before = drive.map_counts().unwrap();
        for step in 0..=2 {
            if step == trimmed {
                drive.trim(100 * PAGE as u64, PAGE as u64).unwrap();
            }
            if step < 2 {
                write(&drive, step, 3).unwrap();
            }
        }
        drive.flush().unwrap();
        let (counters, counts) = (drive.snapshot().counters, drive.map_counts().unwrap());
        assert_eq!(counts.write_lookups - before.write_lookups, 3);
        assert_eq!(counts.write_hits - before.write_hits, hits, "trimmed after {trimmed} writes");
        drive.abandon();
        let bytes = backing.survivor(|_| 0);
        let [full, part] = [true, false].map(|needs_all| recovered(&bytes, needs_all));
        assert!(full.1 == part.1 && full.2 == part.2, "trimmed after {trimmed} writes");
        assert_eq!((part.3.repeated, part.3.by_map), (3, None));
        let drive = open(&backing).unwrap();
        assert_eq!((drive.snapshot().counters, drive.map_counts().unwrap()), (counters, counts));
        let mut data = [1; PAGE];
        drive.read(100 * PAGE as u64, &mut data).unwrap();
        assert_eq!(data, [0; PAGE]);
    }
}

/// Opens it with another map on flash.
fn remap(backing: &Arc<PowerCut>, map: &str) -> Result<Drive, MediaError> {
    let options = OpenOptions { mapping: Some(map.parse().unwrap()), ..OpenOptions::default() };
    Drive::open_alone(Arc::clone(backing) as _, options)
}

#[test]
fn a_drive_can_have_another_map_on_flash() {
    let (backing, _) = paged();
    let drive = open(&backing).unwrap();
    fill(&drive, 2);
    drive.flush().unwrap();
    let (counters, counts) = (drive.snapshot().counters, drive.map_counts());
    drive.abandon();
    let bytes = backing.survivor(|_| 0);
    for map in ["dftl:cache=512", "dftl:cache=1536", "cdftl:cache=1KiB", "s-ftl:cache=1KiB"] {
        let backing = Arc::new(PowerCut::new(bytes.clone()));
        let drive = remap(&backing, map).unwrap();
        assert_eq!(drive.read_only(), None, "{map}");
        assert_eq!(drive.recovery().other_map, Some(MAP.parse::<Mapping>().unwrap().name()));
        let snapshot = drive.snapshot();
        assert_eq!((&snapshot.counters, snapshot.map), (&counters, counts), "{map}");
        assert_eq!(unreadable_after_fill(&drive, 2), [0_u32; 0]);
        drive.shared.lock().ftl.check().unwrap();
        (0..LOGICAL_PAGES).step_by(3).for_each(|page| write(&drive, page, 4).unwrap());
        drive.close().unwrap();
        assert_eq!(damage(&backing), [""; 0]);
        let drive = open(&backing).unwrap();
        assert_eq!(drive.snapshot().superblock.mapping, map.parse().unwrap());
        assert_eq!((drive.recovery().other_map.clone(), drive.recovery().repeated), (None, 0));
        assert_eq!(unreadable_after_fill(&drive, 3), [0_u32; 0]);
    }
    // Wherever the power is cut meanwhile.
    let mut resumed = 0;
    for cut in 0..60 {
        let backing = Arc::new(PowerCut::new(bytes.clone()));
        backing.cut_after(cut);
        if let Ok(drive) = remap(&backing, "dftl:cache=1536") {
            drive.abandon();
        }
        let backing = Arc::new(PowerCut::new(backing.survivor(|end| cut as u32 % end)));
        let drive = open(&backing).unwrap();
        assert_eq!(drive.read_only(), None, "{cut}");
        resumed += u32::from(drive.recovery().other_map.is_some());
        assert_eq!(drive.snapshot().counters, counters, "{cut}");
        assert_eq!(unreadable_after_fill(&drive, 2), [0_u32; 0], "{cut}");
    }
    assert!(resumed > 5, "{resumed}");
    let refused = remap(&Arc::new(PowerCut::new(bytes.clone())), "leaftl:cache=1KiB");
    let refused = refused.err().unwrap().to_string();
    let why = "which are not kept on flash; give full, dftl, s-ftl";
    assert!(refused.contains(why), "{refused}");
}

/// All of the map is in memory then: pages are searched for, and stay where they are.
#[test]
fn a_drive_can_have_its_map_in_memory_from_now_on_and_not_the_other_way() {
    let (backing, _) = paged();
    let drive = open(&backing).unwrap();
    fill(&drive, 2);
    drive.flush().unwrap();
    let (counters, mapping) = (drive.snapshot().counters, drive.mapping());
    drive.abandon();
    let bytes = backing.survivor(|_| 0);
    let mut finished = 0;
    for cut in (0..300).step_by(3) {
        let backing = Arc::new(PowerCut::new(bytes.clone()));
        backing.cut_after(cut);
        if let Ok(drive) = remap(&backing, "full") {
            assert_eq!(drive.recovery().other_map, Some(MAP.parse::<Mapping>().unwrap().name()));
            finished += u32::from(drive.read_only().is_none());
            drive.abandon();
        }
        let backing = Arc::new(PowerCut::new(backing.survivor(|end| cut as u32 % end)));
        let drive = open(&backing).unwrap();
        assert_eq!(drive.read_only(), None, "{cut}");
        let found = drive.snapshot().counters;
        assert_eq!((found.host_writes, found.trims), (counters.host_writes, counters.trims));
        assert_eq!(unreadable_after_fill(&drive, 2), [0_u32; 0], "{cut}");
        drive.abandon();
        if finished > 3 {
            break;
        }
    }
    assert!(finished > 0);
    let backing = Arc::new(PowerCut::new(bytes));
    let drive = remap(&backing, "full").unwrap();
    assert!(drive.mapping() == mapping, "nothing has moved");
    (0..LOGICAL_PAGES).step_by(3).for_each(|page| write(&drive, page, 4).unwrap());
    drive.close().unwrap();
    assert_eq!(damage(&backing), [""; 0]);
    let drive = open(&backing).unwrap();
    let superblock = drive.snapshot().superblock;
    assert_eq!((superblock.mapping, superblock.format), (Mapping::FULL, 3));
    assert_eq!(unreadable_after_fill(&drive, 3), [0_u32; 0]);
    drive.close().unwrap();
    let refused = remap(&backing, MAP).err().unwrap().to_string();
    assert!(refused.contains("its checkpoints have no room for what dftl:cache=1KiB"), "{refused}");
}

#[test]
fn a_map_that_checkpoints_have_no_room_for_is_refused() {
    let geometry = Geometry::new(15_000, 16, PAGE as u32).unwrap();
    let config = DriveConfig::new(geometry, 200_000, 4);
    let superblock = CreateOptions { config, ..paged_options() }.plan().unwrap();
    let remapped = |map: &str| superblock.remapped(map.parse().unwrap());
    assert_eq!(remapped("dftl:cache=2KiB").unwrap().mapping.name(), "dftl:cache=2KiB");
    let refused = remapped("dftl:cache=1600KiB").unwrap_err().to_string();
    let has = superblock.layout.checkpoint_bytes;
    let expected = format!("bytes of a checkpoint, and this drive has {has}; give less memory");
    assert!(refused.contains("dftl:cache=1600KiB needs"), "{refused}");
    assert!(refused.ends_with(&expected), "{refused}");
}

/// A unit is a page of a drive whose pages are as large: what one writes of it in part is read and written with it.
#[test]
fn a_drive_with_larger_pages_does_what_one_with_units_does() {
    let pages = 4 * LOGICAL_PAGES;
    let small = Geometry::new(36, 64, PAGE as u32).unwrap();
    let config = DriveConfig::new(small, pages, 4);
    for (units, mapping) in
        [("iu:size=2KiB", "full"), ("dftl:cache=2KiB,unit=2KiB", "dftl:cache=2KiB")]
    {
        let units: Mapping = units.parse().unwrap();
        let refused = CreateOptions { config, mapping: units, ..options() }.plan();
        let refused = refused.err().unwrap().to_string();
        let remedy = format!("; give --page-size 2KiB --pages-per-block 16 --mapping {mapping}");
        assert!(refused.ends_with(&remedy), "{refused}");
        let ftl = options().plan().unwrap().ftl;
        let mut simulated =
            ftlab_ftl::registry::build_for_drive(&units, &ftl, config, ftlab_flash::NoPayload, ())
                .unwrap();
        simulated.page_in();
        let large = Geometry::new(36, 16, 4 * PAGE as u32).unwrap();
        let config = DriveConfig::new(large, LOGICAL_PAGES, 4);
        let options = CreateOptions { config, mapping: mapping.parse().unwrap(), ..options() };
        let bytes = Drive::backing_bytes(&options).unwrap() as usize;
        let backing = Arc::new(PowerCut::new(vec![0; bytes]));
        Drive::create_on(&(Arc::clone(&backing) as _), &options).unwrap();
        let drive = open(&backing).unwrap();
        for number in 0..6 * pages {
            let page = if number < pages { number } else { number * 7 % (pages / 5) };
            write(&drive, page, number).unwrap();
            simulated.write(Lpn(page), &[]).unwrap();
        }
        let (of_units, of_pages) = (simulated.counters(), drive.snapshot().counters);
        assert_eq!(of_units.host_writes, of_pages.host_writes);
        assert_eq!(of_units.relocations(), 4 * of_pages.relocations());
        assert_eq!(of_units.erases(), of_pages.erases());
        assert!(of_pages.erases() > 100);
        let (of_units, of_pages) = (simulated.map_counts().unwrap(), drive.map_counts());
        let of_pages = of_pages.unwrap_or_default();
        assert_eq!(of_units.write_lookups, of_units.write_lookups.max(of_pages.write_lookups));
        assert_eq!(of_units.writes(), 4 * of_pages.writes());
    }
}

/// Whatever sector of a checkpoint is lost, the drive is what it was: the other checkpoint and the journal tell.
#[test]
fn every_sector_of_a_checkpoint_may_be_zeros() {
    let (backing, superblock) = paged();
    let drive = open(&backing).unwrap();
    fill(&drive, 2);
    drive.close().unwrap();
    let closed = backing.survivor(|_| 0);
    let drive = open(&backing).unwrap();
    (0..LOGICAL_PAGES).step_by(3).for_each(|page| write(&drive, page, 4).unwrap());
    drive.flush().unwrap();
    let (expected, counters) = (drive.mapping(), drive.snapshot().counters);
    drive.abandon();
    let killed = backing.survivor(|_| 0);
    let layout = superblock.layout;
    let mut hit = 0;
    for (bytes, rounds) in [(&closed, 2), (&killed, 3)] {
        for at in (layout.checkpoint(0)..layout.checkpoint(2)).step_by(512) {
            let sector = at as usize..at as usize + 512;
            if bytes[sector.clone()].iter().all(|byte| *byte == 0) {
                continue;
            }
            let mut bytes = bytes.clone();
            bytes[sector].fill(0);
            let drive = open(&Arc::new(PowerCut::new(bytes))).unwrap();
            assert_eq!(unreadable_after_fill(&drive, rounds), [0_u32; 0], "{at}");
            if rounds == 3 {
                assert!(drive.mapping() == expected, "{at}");
                assert_eq!(drive.snapshot().counters, counters, "{at}");
            }
            hit += usize::from(!drive.recovery().damage.is_empty());
            drive.abandon();
        }
    }
    assert!(hit > 20, "{hit}");
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

#[test]
fn a_copy_of_it_can_have_another_ftl_and_what_is_found_is_saved() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    Drive::create(&path("drive"), &paged_options()).unwrap();
    let drive = Drive::open(&path("drive"), OpenOptions::default()).unwrap();
    fill(&drive, 3);
    let ftl = "1r-greedy".parse().unwrap();
    let copied = drive.copy(&path("copy"), Some(ftl), |_| true).unwrap();
    assert_eq!((copied.pages, copied.unreadable.len()), (LOGICAL_PAGES, 0));
    drive.close().unwrap();
    let restored = crate::drive::restore(&path("drive"), &path("restored")).unwrap();
    assert_eq!((restored.pages, restored.older.len() + restored.lost.len()), (LOGICAL_PAGES, 0));
    for name in ["copy", "restored"] {
        let drive = Drive::open(&path(name), OpenOptions::default()).unwrap();
        assert_eq!(drive.snapshot().superblock.mapping, MAP.parse().unwrap(), "{name}");
        assert_eq!(unreadable_after_fill(&drive, 3), [0_u32; 0], "{name}");
        drive.close().unwrap();
        assert_eq!(crate::drive::check(&path(name)).unwrap().damage, [""; 0], "{name}");
    }
}

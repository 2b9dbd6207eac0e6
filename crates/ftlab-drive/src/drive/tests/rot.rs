//! Bits that go bad, in each structure on the medium.

use super::*;
use crate::media::HEADER_BYTES;

/// The bytes of a drive that was filled and closed.
fn filled(rounds: u32) -> (Vec<u8>, Superblock) {
    let (backing, superblock) = created();
    let drive = open(&backing).unwrap();
    fill(&drive, rounds);
    drive.close().unwrap();
    (backing.survivor(|_| 0), superblock)
}

fn flipped(bytes: &[u8], offset: u64) -> Arc<PowerCut> {
    let mut bytes = bytes.to_vec();
    bytes[offset as usize] ^= 0x10;
    Arc::new(PowerCut::new(bytes))
}

/// What a check says is damaged.
fn damage(backing: &Arc<PowerCut>) -> Vec<String> {
    Drive::check_on(&(Arc::clone(backing) as _)).unwrap().damage
}

#[test]
fn a_drive_without_damage_has_none() {
    let (bytes, _) = filled(5);
    let backing = Arc::new(PowerCut::new(bytes.clone()));
    let checked = Drive::check_on(&(Arc::clone(&backing) as _)).unwrap();
    assert_eq!((checked.damage, checked.pages), (vec![], LOGICAL_PAGES));
    assert_eq!(backing.operations(), 0, "a check changes nothing");
    assert_eq!(unreadable_after_fill(&open(&backing).unwrap(), 5), [0_u32; 0]);
}

#[test]
fn a_page_that_rots_is_an_error_and_a_count_and_stays_one_when_it_moves() {
    let (bytes, superblock) = filled(5);
    let pages = superblock.layout.pages();
    let mut seen = 0;
    for offset in (pages.start..pages.end).step_by(PAGE * 7) {
        let backing = flipped(&bytes, offset);
        let drive = open(&backing).unwrap();
        let unreadable = unreadable_after_fill(&drive, 5);
        assert_eq!(damage(&backing).len(), unreadable.len());
        assert_eq!(drive.snapshot().totals.media_errors, unreadable.len() as u64);
        let [lpn] = unreadable[..] else { continue };
        let error = drive.read(u64::from(lpn) * PAGE as u64, &mut [0; 10]).unwrap_err();
        assert!(error.to_string().starts_with(&format!("page {lpn} is damaged")), "{error}");
        assert!(drive.write(u64::from(lpn) * PAGE as u64 + 1, &[1]).is_err(), "half a page");
        // Collections move it, and it does not heal; a new version does.
        for round in 0..40 {
            let others = (0..LOGICAL_PAGES).filter(|&other| other != lpn && other % 2 == round % 2);
            others.for_each(|other| write(&drive, other, 9).unwrap());
        }
        assert!(drive.read(u64::from(lpn) * PAGE as u64, &mut [0; 10]).is_err());
        write(&drive, lpn, 10).unwrap();
        drive.read(u64::from(lpn) * PAGE as u64, &mut [0; 10]).unwrap();
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn pages_that_rot_stay_where_they_are_as_long_as_there_are_spare_blocks() {
    use crate::media::Backing as _;
    use std::sync::Mutex;
    let (bytes, superblock) = filled(5);
    let mapping = open(&Arc::new(PowerCut::new(bytes.clone()))).unwrap().mapping();
    let mut rotten = Vec::<u32>::new();
    for lpn in (0..LOGICAL_PAGES).filter(|lpn| lpn % 3 != 0) {
        let block = |lpn: u32| mapping[lpn as usize] / 16;
        if rotten.len() < 5 && rotten.iter().all(|other| block(*other) != block(lpn)) {
            rotten.push(lpn);
        }
    }
    let offset = |lpn: u32| superblock.layout.page(ftlab_flash::Ppn(mapping[lpn as usize]));
    let mut damaged = bytes.clone();
    for lpn in &rotten {
        damaged[offset(*lpn) as usize + 9] ^= 1;
    }
    let backing = Arc::new(PowerCut::new(damaged));
    let notices = Arc::<Mutex<Vec<String>>>::default();
    let told = Arc::clone(&notices);
    let notice = Arc::new(move |text: &str| told.lock().unwrap().push(text.to_owned()));
    let options = OpenOptions { notice: Some(notice), ..OpenOptions::default() };
    let drive = Drive::open_alone(Arc::clone(&backing) as _, options).unwrap();
    for round in 0..40 {
        let others = (0..LOGICAL_PAGES).filter(|lpn| !rotten.contains(lpn) && lpn % 2 == round % 2);
        others.for_each(|lpn| write(&drive, lpn, 9).unwrap());
    }
    let notices = notices.lock().unwrap().clone();
    let count = |end: &str| notices.iter().filter(|text| text.ends_with(end)).count();
    assert_eq!(
        count(
            "does not match its checksum; it stays where it is, out of use, and is tried again later"
        ),
        2
    );
    assert!(count("is moved as it is, and reading it stays an error: no spare block is left") >= 3);
    let snapshot = drive.snapshot();
    assert_eq!((snapshot.unreadable.len(), snapshot.replaced_blocks), (2, 2));
    let is_readable = |drive: &Drive, lpn: u32| {
        let mut page = [0; PAGE];
        let read = drive.read(u64::from(lpn) * PAGE as u64, &mut page);
        assert!(read.is_err() || page == content(lpn, 1), "page {lpn}");
        read.is_ok()
    };
    assert!(rotten.iter().all(|lpn| !is_readable(&drive, *lpn)));
    drive.close().unwrap();
    // They are still not readable; and then the medium answers again.
    let drive = open(&backing).unwrap();
    assert_eq!((drive.recovery().damaged_pages, drive.recovery().healed.len()), (2, 0));
    assert_eq!(drive.snapshot().unreadable, snapshot.unreadable);
    drive.close().unwrap();
    for ftlab_flash::Lpn(lpn) in snapshot.unreadable {
        let at = offset(lpn) as usize;
        backing.write_at(&bytes[at..at + PAGE], at as u64).unwrap();
    }
    assert_eq!(damage(&backing).len(), 3);
    let drive = open(&backing).unwrap();
    assert_eq!(drive.recovery().healed, ["2 pages that could not be read before are in place"]);
    assert_eq!(rotten.iter().filter(|lpn| is_readable(&drive, **lpn)).count(), 2);
    assert!(drive.snapshot().unreadable.is_empty());
    // What is moved now has a page of its own, and the old place is not needed.
    for round in 0..10 {
        let others = (0..LOGICAL_PAGES).filter(|lpn| !rotten.contains(lpn) && lpn % 2 == round % 2);
        others.for_each(|lpn| write(&drive, lpn, 10).unwrap());
    }
    assert_eq!(rotten.iter().filter(|lpn| is_readable(&drive, **lpn)).count(), 2);
}

#[test]
fn one_superblock_suffices_and_none_does_not() {
    let (bytes, superblock) = filled(1);
    let second = superblock.layout.second_superblock();
    for offset in [0, 9, 30, 60, second, second + 40, second + HEADER_BYTES as u64 - 1] {
        let backing = flipped(&bytes, offset);
        assert_eq!(damage(&backing).len(), 1, "{offset}");
        let drive = open(&backing).unwrap();
        assert_eq!(drive.recovery().damage.len(), 1, "{offset}");
        let which = if offset < second { 0 } else { second };
        let healed = format!("the superblock at offset {which} was written again");
        assert_eq!(drive.recovery().healed, [healed]);
        assert_eq!(unreadable_after_fill(&drive, 1), [0_u32; 0]);
        drop(drive);
        assert_eq!(damage(&backing), [""; 0]);
    }
    let mut both = bytes;
    both[100] ^= 1;
    both[second as usize + 100] ^= 1;
    let error = open(&Arc::new(PowerCut::new(both))).err().unwrap().to_string();
    assert_eq!(error, "both superblocks are damaged: the drive cannot be identified");
}

#[test]
fn the_older_checkpoint_and_the_journal_come_to_the_same() {
    let (bytes, superblock) = filled(9);
    let layout = superblock.layout;
    let whole = open(&Arc::new(PowerCut::new(bytes.clone()))).unwrap();
    let (counters, mapping) = (whole.snapshot().counters, whole.mapping());
    let mut repeated = 0;
    for slot in [0, 1] {
        for offset in [0, 8, 50, HEADER_BYTES as u64, HEADER_BYTES as u64 + 700] {
            let backing = flipped(&bytes, layout.checkpoint(slot) + offset);
            let checked = Drive::check_on(&(Arc::clone(&backing) as _)).unwrap();
            assert_eq!(checked.damage.len() + checked.notes.len(), 1, "{checked:?}");
            let drive = open(&backing).unwrap();
            repeated += drive.recovery().repeated;
            assert_eq!(drive.snapshot().counters, counters);
            assert_eq!(drive.mapping(), mapping);
            assert_eq!(unreadable_after_fill(&drive, 9), [0_u32; 0]);
            // Opening does not read the body of the checkpoint that it does not need.
            if !drive.recovery().damage.is_empty() {
                let healed = format!("checkpoint {slot} was written again");
                assert_eq!(drive.recovery().healed, [healed]);
                drive.abandon();
                assert_eq!(damage(&backing), [""; 0]);
            }
        }
    }
    assert!(repeated > 0);
    let mut both = bytes;
    for slot in [0, 1] {
        both[layout.checkpoint(slot) as usize + HEADER_BYTES + 9] ^= 1;
    }
    let error = open(&Arc::new(PowerCut::new(both))).err().unwrap().to_string();
    assert!(error.starts_with("neither checkpoint can be used: checkpoint "), "{error}");
    assert!(error.ends_with("its checksum is wrong"), "{error}");
}

/// A drive that was killed after forty batches, each of them flushed; and where they are in both copies.
fn killed_after_forty_flushes() -> (Arc<PowerCut>, [u64; 2]) {
    let (backing, superblock) = created();
    let drive = open(&backing).unwrap();
    for page in 0..40 {
        write(&drive, page, 1).unwrap();
        drive.flush().unwrap();
    }
    drive.abandon();
    (backing, [superblock.layout.journal(0), superblock.layout.journal(1)])
}

/// Bytes that a batch of one page takes.
const BATCH: u64 = 512;

#[test]
fn one_copy_of_the_journal_suffices() {
    let (backing, starts) = killed_after_forty_flushes();
    let bytes = backing.survivor(|_| 0);
    for batch in 0..40 {
        for start in starts {
            let backing = flipped(&bytes, start + batch * BATCH + 74);
            // The power was cut before it was known that the last flush had succeeded.
            let expected: &[_] = if batch < 39 {
                &["journal: 1 batches are damaged in one of its two copies"]
            } else {
                &[]
            };
            assert_eq!(damage(&backing), expected, "{batch}");
            let drive = open(&backing).unwrap();
            assert_eq!(drive.snapshot().operations, 40);
            let mut page = [0; PAGE];
            drive.read(batch * PAGE as u64, &mut page).unwrap();
            assert_eq!(page, content(batch as u32, 1));
            let healed = "journal: 1 batches were written again from the other copy";
            assert_eq!(drive.recovery().healed, [healed]);
            drive.abandon();
            assert_eq!(damage(&backing), [""; 0]);
        }
    }
}

#[test]
fn one_flush_mark_suffices_and_is_written_again() {
    use crate::media::Mark;
    let (backing, superblock) = created();
    let drive = open(&backing).unwrap();
    write(&drive, 1, 1).unwrap();
    drive.flush().unwrap();
    drive.abandon();
    let bytes = backing.survivor(|_| 1);
    for copy in [0, 1] {
        let backing = flipped(&bytes, superblock.layout.mark(copy) + 9);
        let mark = Mark::new(superblock.uuid, superblock.layout);
        assert_eq!(mark.read(&*backing), (1, 1));
        let drive = open(&backing).unwrap();
        assert_eq!(drive.recovery().healed, ["flush mark: both copies were written again"]);
        drive.abandon();
        assert_eq!(mark.read(&*backing), (1, 0));
    }
}

#[test]
fn what_cannot_be_healed_stays_damaged_and_the_drive_works() {
    let (bytes, superblock) = filled(5);
    let second = superblock.layout.second_superblock();
    let backing = flipped(&bytes, second + 40);
    backing.fill_up_beyond(second);
    let drive = open(&backing).unwrap();
    assert_eq!((drive.recovery().damage.len(), drive.recovery().healed.len()), (1, 0));
    write(&drive, 1, 9).unwrap();
    drive.close().unwrap();
    assert_eq!(damage(&backing).len(), 1);
}

#[test]
fn a_journal_that_rots_in_both_copies_is_an_error_and_no_old_data() {
    let (backing, starts) = killed_after_forty_flushes();
    for (batch, was_killed) in (0..40).flat_map(|batch| [(batch, false), (batch, true)]) {
        let mut bytes = if was_killed {
            backing.survivor(|choices| choices / 3)
        } else {
            backing.survivor(|_| 0)
        };
        for start in starts {
            bytes[(start + batch * BATCH + 74) as usize] ^= 0x10;
        }
        let drive = open(&Arc::new(PowerCut::new(bytes.clone())));
        match drive.map(|drive| drive.snapshot().operations).map_err(|error| error.to_string()) {
            // Nothing tells it from a flush that the power cut interrupted.
            Ok(operations) => assert_eq!((operations, batch, was_killed), (39, 39, false)),
            Err(error) => {
                let expected = format!("the journal is damaged after operation {batch}");
                assert!(error.starts_with(&expected), "{batch}: {error}");
                salvage(bytes, batch);
            }
        }
    }
}

/// Opens a drive whose journal ends after `operations`, and goes on with what is left, for good.
fn salvage(bytes: Vec<u8>, operations: u64) {
    let backing = Arc::new(PowerCut::new(bytes));
    let options = OpenOptions { salvage: true, ..OpenOptions::default() };
    let drive = Drive::open_alone(Arc::clone(&backing) as _, options).unwrap();
    assert_eq!((drive.snapshot().operations, drive.recovery().lost > 0), (operations, true));
    write(&drive, 50, 3).unwrap();
    drive.flush().unwrap();
    drive.abandon();
    let drive = open(&Arc::new(PowerCut::new(backing.survivor(|_| 0)))).unwrap();
    assert_eq!(drive.snapshot().operations, operations + 1);
    let mut page = [0; PAGE];
    for lpn in 0..40 {
        drive.read(lpn * PAGE as u64, &mut page).unwrap();
        assert_eq!(page == content(lpn as u32, 1), lpn < operations);
    }
}

#[test]
fn a_truncated_file_is_an_error_with_the_numbers() {
    let (bytes, superblock) = filled(1);
    let expected = superblock.layout.bytes();
    for left in [expected - 1, expected - 4096, expected / 2, 4096] {
        let backing = Arc::new(PowerCut::new(bytes[..left as usize].to_vec()));
        let error = open(&backing).err().unwrap().to_string();
        assert_eq!(error, format!("the file is truncated: it has {left} bytes of {expected}"));
    }
    let error = open(&Arc::new(PowerCut::new(vec![0; 100]))).err().unwrap().to_string();
    assert!(error.starts_with("this is not a drive of ftlab"), "{error}");
}

#[test]
fn another_drive_is_told_apart() {
    let ((bytes, superblock), (other_bytes, other)) = (filled(1), filled(1));
    let backing = Arc::new(PowerCut::new(bytes.clone()));
    let options = OpenOptions { uuid: Some(other.uuid), ..OpenOptions::default() };
    let error = Drive::open_alone(backing as _, options).err().unwrap().to_string();
    assert_eq!(error, format!("this is drive {}, not {}", superblock.uuid, other.uuid));
    let half = superblock.layout.pages().start as usize;
    let mixed = [&bytes[..half], &other_bytes[half..]].concat();
    let error = open(&Arc::new(PowerCut::new(mixed))).err().unwrap().to_string();
    assert!(error.contains("they were mixed up"), "{error}");
    // Checkpoints and journal of another drive are not this one's.
    let mut mixed = bytes;
    mixed[HEADER_BYTES..half].copy_from_slice(&other_bytes[HEADER_BYTES..half]);
    assert!(open(&Arc::new(PowerCut::new(mixed))).is_err());
}

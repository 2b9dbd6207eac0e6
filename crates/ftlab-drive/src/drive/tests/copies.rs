//! Copies of a drive that is being written.

use super::*;
use std::sync::mpsc;
use tempfile::TempDir;

/// A directory for copies, and a drive that was filled.
fn filled(rounds: u32) -> (TempDir, Drive, Arc<PowerCut>) {
    let (backing, _) = created();
    let drive = open(&backing).unwrap();
    fill(&drive, rounds);
    (tempfile::tempdir().unwrap(), drive, backing)
}

#[test]
fn a_copy_is_the_drive_as_it_was_whatever_is_written_and_trimmed_meanwhile() {
    let (directory, drive, _) = filled(2);
    let path = directory.path().join("copy");
    drive.trim(7 * PAGE as u64, PAGE as u64).unwrap();
    let mut version = 100;
    let copied = drive.copy(&path, None, |_| {
        // Pages on both sides of what has been copied.
        for page in (0..LOGICAL_PAGES).step_by(5) {
            write(&drive, page, version).unwrap();
        }
        drive.trim(u64::from(version % 300) * PAGE as u64, 20 * PAGE as u64).unwrap();
        version += 1;
        true
    });
    let copied = copied.unwrap();
    assert_eq!((copied.pages, copied.unreadable.len()), (LOGICAL_PAGES - 1, 0));
    let copy = Drive::open(&path, OpenOptions::default()).unwrap();
    assert_eq!(copy.recovery().repeated, 0);
    let mut page = [1; PAGE];
    copy.read(7 * PAGE as u64, &mut page).unwrap();
    assert_eq!(page, [0; PAGE]);
    write(&copy, 7, 1).unwrap();
    assert_eq!(unreadable_after_fill(&copy, 2), [0_u32; 0]);
    assert_ne!(copy.snapshot().superblock.uuid, drive.snapshot().superblock.uuid);
}

#[test]
fn a_copy_of_a_drive_that_is_only_read_can_have_another_ftl() {
    let (directory, drive, backing) = filled(1);
    drive.close().unwrap();
    let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    let drive = Drive::open_alone(backing as _, options).unwrap();
    let path = directory.path().join("copy");
    let copied = drive.copy(&path, Some("1r-greedy".parse().unwrap()), |_| true).unwrap();
    assert_eq!(copied.superblock.ftl.to_string(), "1r-greedy");
    let copy = Drive::open(&path, OpenOptions::default()).unwrap();
    assert_eq!(unreadable_after_fill(&copy, 1), [0_u32; 0]);
    let error = drive.copy(&path, None, |_| true).unwrap_err().to_string();
    assert!(error.contains("copy exists; remove it first"), "{error}");
}

#[test]
fn nothing_is_left_of_a_copy_that_is_stopped_and_another_can_be_made() {
    let (directory, drive, _) = filled(0);
    let path = directory.path().join("copy");
    let stopped = drive.copy(&path, None, |pages| pages < 100).unwrap_err();
    assert!(matches!(stopped, MediaError::Stopped), "{stopped}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    drive.copy(&path, None, |_| true).unwrap();
}

#[test]
fn one_copy_is_made_at_a_time() {
    let (directory, drive, _) = filled(0);
    let (send, receive) = mpsc::channel();
    drive
        .copy(&directory.path().join("one"), None, |_| {
            let other = drive.copy(&directory.path().join("other"), None, |_| true);
            let _ = send.send(other.unwrap_err().to_string());
            true
        })
        .unwrap();
    let error = receive.recv().unwrap();
    assert!(error.starts_with("a copy of this drive is being made already"), "{error}");
}

#[test]
fn a_page_that_cannot_be_read_is_named_and_the_others_are_copied() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("copy");
    let (backing, superblock) = created();
    let drive = open(&backing).unwrap();
    fill(&drive, 0);
    drive.flush().unwrap();
    let place = drive.mapping()[9];
    drive.close().unwrap();
    let offset = superblock.flash_offsets().start + u64::from(place) * PAGE as u64;
    let medium = Arc::new(PowerCut::new(backing.medium()));
    crate::media::Backing::write_at(&*medium, &[0xee; PAGE], offset).unwrap();
    let drive = open(&medium).unwrap();
    let copied = drive.copy(&path, None, |_| true).unwrap();
    assert_eq!(copied.unreadable, [ftlab_flash::Lpn(9)]);
    let copy = Drive::open(&path, OpenOptions::default()).unwrap();
    let mut page = [1; PAGE];
    copy.read(9 * PAGE as u64, &mut page).unwrap();
    assert_eq!(page, [0; PAGE]);
    write(&copy, 9, 1).unwrap();
    assert_eq!(unreadable_after_fill(&copy, 0), [0_u32; 0]);
}

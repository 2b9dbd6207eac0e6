//! What can be saved of a drive without its checkpoints.

use super::*;
use crate::drive::{Restored, restore};
use ftlab_flash::Lpn;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A drive in a file that was filled and closed, and has lost both checkpoints and its journal.
fn lost(directory: &Path, rounds: u32) -> (PathBuf, Superblock) {
    let path = directory.join("lost");
    let superblock = Drive::create(&path, &options()).unwrap();
    let drive = Drive::open(&path, OpenOptions::default()).unwrap();
    fill(&drive, rounds);
    drive.close().unwrap();
    let layout = superblock.layout;
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    let start = layout.checkpoint(0);
    file.write_all_at(&vec![0; (layout.owner(ftlab_flash::Ppn(0)) - start) as usize], start)
        .unwrap();
    (path, superblock)
}

#[test]
fn a_drive_without_checkpoints_is_restored_from_its_pages() {
    let directory = tempfile::tempdir().unwrap();
    let (path, _) = lost(directory.path(), 7);
    let error = Drive::open(&path, OpenOptions::default()).err().unwrap().to_string();
    assert!(error.starts_with("neither checkpoint can be used"), "{error}");
    let new = directory.path().join("new");
    let restored = restore(&path, &new).unwrap();
    assert_eq!(restored, Restored { pages: LOGICAL_PAGES, ..Restored::default() });
    let drive = Drive::open(&new, OpenOptions::default()).unwrap();
    assert_eq!(unreadable_after_fill(&drive, 7), [0_u32; 0]);
    let error = restore(&path, &new).err().unwrap().to_string();
    assert!(error.contains("exists; remove it first"), "{error}");
}

#[test]
fn a_page_whose_newest_version_is_damaged_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let (path, superblock) = lost(directory.path(), 7);
    let file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    let pages = superblock.layout.pages();
    // Page 5 was written once; the newest versions of every third page are damaged.
    let is_damaged = |page: &[u8; PAGE]| {
        *page == content(5, 1) || (0..LOGICAL_PAGES).step_by(3).any(|lpn| *page == content(lpn, 8))
    };
    let mut page = [0; PAGE];
    for offset in (pages.start..pages.end).step_by(PAGE) {
        file.read_exact_at(&mut page, offset).unwrap();
        if is_damaged(&page) {
            file.write_all_at(&[0xaa; 16], offset).unwrap();
        }
    }
    let restored = restore(&path, &directory.path().join("new")).unwrap();
    assert!(restored.lost.contains(&Lpn(5)) && !restored.older.is_empty());
    assert_eq!(restored.pages + restored.lost.len() as u32, LOGICAL_PAGES);
    let named = restored.lost.iter().chain(&restored.older).filter(|lpn| lpn.0 % 3 == 0);
    assert_eq!(named.count() as u32, LOGICAL_PAGES / 3);
}

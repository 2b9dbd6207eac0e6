//! Faults one by one: what is detected, with which words, and what can still be read.

pub(crate) mod broken_ftl;
mod copies;
mod faults;
mod on_flash;
mod requests;
mod restore;
mod rot;
mod versions;

use crate::drive::{CreateOptions, Drive, OpenOptions};
use crate::media::{MediaError, PowerCut, Superblock};
use crate::store::Store;
use ftlab_flash::Geometry;
use ftlab_ftl::page::DriveConfig;
use std::sync::Arc;

const PAGE: usize = 512;
const LOGICAL_PAGES: u32 = 24 * 16;

fn options() -> CreateOptions {
    let config = DriveConfig::new(Geometry::new(36, 16, PAGE as u32).unwrap(), LOGICAL_PAGES, 4);
    CreateOptions {
        ftl: "2r-fifo".parse().unwrap(),
        config,
        mapping: ftlab_ftl::map::Mapping::FULL,
        checkpoint_every: Some(500),
    }
}

/// A new drive and its backing.
fn created() -> (Arc<PowerCut>, Superblock) {
    let bytes = Drive::backing_bytes(&options()).unwrap() as usize;
    let backing = Arc::new(PowerCut::new(vec![0; bytes]));
    let superblock = Drive::create_on(&(Arc::clone(&backing) as _), &options()).unwrap();
    (backing, superblock)
}

fn open(backing: &Arc<PowerCut>) -> Result<Drive, MediaError> {
    Drive::open_alone(Arc::clone(backing) as _, OpenOptions::default())
}

/// The content of page `page` after its write number `version`.
fn content(page: u32, version: u32) -> [u8; PAGE] {
    let mut bytes = [version as u8; PAGE];
    bytes[..4].copy_from_slice(&page.to_le_bytes());
    bytes
}

fn write(drive: &Drive, page: u32, version: u32) -> std::io::Result<()> {
    drive.write(u64::from(page) * PAGE as u64, &content(page, version))
}

/// Every page once, and then every third one a number of times.
fn fill(drive: &Drive, rounds: u32) {
    (0..LOGICAL_PAGES).for_each(|page| write(drive, page, 1).unwrap());
    for round in 0..rounds {
        (0..LOGICAL_PAGES).step_by(3).for_each(|page| write(drive, page, 2 + round).unwrap());
    }
}

/// Asserts what [`fill`] wrote; returns the pages that cannot be read.
fn unreadable_after_fill(drive: &Drive, rounds: u32) -> Vec<u32> {
    let is_readable = |lpn: &u32| {
        let mut page = [0; PAGE];
        let read = drive.read(u64::from(*lpn) * PAGE as u64, &mut page);
        let version = if lpn.is_multiple_of(3) { 1 + rounds } else { 1 };
        assert!(read.is_err() || page == content(*lpn, version), "page {lpn}");
        read.is_ok()
    };
    let (_, unreadable) = (0..LOGICAL_PAGES).partition::<Vec<_>, _>(is_readable);
    unreadable
}

//! What was done to a drive before it was frozen.

use crate::common;
use ftlab_drive::{CreateOptions, Drive, OpenOptions, PowerCut, Store};
use ftlab_flash::Geometry;
use ftlab_ftl::page::DriveConfig;
use std::sync::Arc;

pub(crate) const PAGE_BYTES: usize = 512;
const PAGES_PER_BLOCK: u32 = 16;
const LOGICAL_PAGES: u32 = 32 * PAGES_PER_BLOCK;

/// Requests of a load, and those of them that no flush follows.
const REQUESTS: u32 = 2000;
const UNFLUSHED: u32 = 60;

/// A drive and what the host did to it.
pub(crate) struct Load {
    pub(crate) name: &'static str,
    ftl: &'static str,
    gc: &'static str,
    /// It was closed, and not killed.
    is_closed: bool,
}

/// One for each way in which drives differ on the medium.
pub(crate) const LOADS: [Load; 6] = [
    Load { name: "greedy-closed", ftl: "1r-greedy", gc: "foreground", is_closed: true },
    Load { name: "2r++-killed", ftl: "2r++", gc: "foreground", is_closed: false },
    Load { name: "lfs-cb-killed", ftl: "lfs-cb:batch=8", gc: "foreground", is_closed: false },
    Load { name: "hazard-killed", ftl: "hazard", gc: "foreground", is_closed: false },
    Load { name: "wolf-steps-killed", ftl: "wolf", gc: "incremental", is_closed: false },
    Load {
        name: "handles-killed",
        ftl: "nvme-fdp:handles=2,persistent=1,inner=2r-fifo",
        gc: "foreground",
        is_closed: false,
    },
];

/// What the host does.
#[derive(Clone, Copy)]
enum Request {
    Write { first: u32, pages: u32, stream: u16 },
    Trim { first: u32, pages: u32 },
    Flush,
}

/// The requests of every load, in order.
fn requests() -> impl Iterator<Item = Request> {
    let random = |number: u32, end: u32| {
        let bits = u64::from(number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) as u32 % end
    };
    (0..REQUESTS).map(move |number| {
        let first = random(4 * number, LOGICAL_PAGES / if number % 4 == 0 { 1 } else { 4 });
        let pages = 1 + random(4 * number + 1, if number % 6 == 0 { 24 } else { 3 });
        let pages = pages.min(LOGICAL_PAGES - first);
        let stream = random(4 * number + 2, 2) as u16;
        match number {
            _ if number + UNFLUSHED == REQUESTS => Request::Flush,
            _ if number % 50 == 49 && number + UNFLUSHED < REQUESTS => Request::Flush,
            _ if number % 20 == 7 => Request::Trim { first, pages },
            _ => Request::Write { first, pages, stream },
        }
    })
}

impl Load {
    pub(crate) fn options(&self) -> CreateOptions {
        let geometry = Geometry::new(80, PAGES_PER_BLOCK, PAGE_BYTES as u32).unwrap();
        let mut config = DriveConfig::new(geometry, LOGICAL_PAGES, 9);
        config.gc = self.gc.parse().unwrap();
        common::options(&self.ftl.parse().unwrap(), config, 1500).unwrap()
    }

    /// Works on the drive until it is closed or killed.
    pub(crate) fn run(&self, backing: &Arc<PowerCut>) {
        let drive = Drive::open_alone(Arc::clone(backing) as _, OpenOptions::default()).unwrap();
        let mut version = 0;
        for request in requests() {
            match request {
                Request::Write { first, pages, stream } => {
                    let data: Vec<u8> = (first..first + pages)
                        .flat_map(|lpn| {
                            version += 1;
                            content(lpn, version)
                        })
                        .collect();
                    drive.write_stream(offset(first), &data, stream).unwrap();
                }
                Request::Trim { first, pages } => {
                    version += 1;
                    drive.trim(offset(first), offset(pages)).unwrap();
                }
                Request::Flush => drive.flush().unwrap(),
            }
        }
        if self.is_closed { drive.close().unwrap() } else { drive.abandon() }
    }

    /// Whether it holds what it did after one of the operations since the last flush.
    pub(crate) fn verify(&self, drive: &Drive) -> Result<(), String> {
        let last = drive.snapshot().operations;
        let (mut versions, mut flushed) = ([0; LOGICAL_PAGES as usize], 0);
        let mut operations = 0;
        for request in requests() {
            match request {
                Request::Write { first, pages, .. } => {
                    for lpn in first..first + pages {
                        operations += 1;
                        if operations <= last {
                            versions[lpn as usize] = operations;
                        }
                    }
                }
                Request::Trim { first, pages } => {
                    operations += 1;
                    if operations <= last {
                        versions[first as usize..][..pages as usize].fill(0);
                    }
                }
                Request::Flush => flushed = operations,
            }
        }
        let flushed = if self.is_closed { operations } else { flushed };
        if !(flushed..=operations).contains(&last) {
            return Err(format!("{last} operations are left of {operations}, {flushed} flushed"));
        }
        let mut page = [0; PAGE_BYTES];
        for (lpn, &version) in (0..).zip(&versions) {
            let read = drive.read(offset(lpn), &mut page);
            read.map_err(|error| format!("page {lpn}: {error}"))?;
            if page != content(lpn, version) {
                return Err(format!("page {lpn} is not that of operation {version}"));
            }
        }
        Ok(())
    }
}

fn offset(pages: u32) -> u64 {
    u64::from(pages) * PAGE_BYTES as u64
}

/// What operation `version` writes to a page; zeros if none did.
fn content(lpn: u32, version: u64) -> [u8; PAGE_BYTES] {
    let mut page = [0; PAGE_BYTES];
    if version > 0 {
        page[..4].copy_from_slice(&lpn.to_le_bytes());
        page[4..12].copy_from_slice(&version.to_le_bytes());
        page[PAGE_BYTES - 8..].copy_from_slice(&version.to_le_bytes());
    }
    page
}

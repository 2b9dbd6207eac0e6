//! The life of a drive, compared with what it should hold.

use super::medium::{Fault, Medium};
use crate::common;
use ftlab_drive::{CreateOptions, Drive, Lpn, OpenOptions, ScrubbedPage, Store};
use ftlab_flash::Geometry;
use ftlab_ftl::page::DriveConfig;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};

pub(crate) const PAGE: usize = 512;
const PAGES_PER_BLOCK: u32 = 16;
pub(crate) const LOGICAL_PAGES: u32 = 20 * PAGES_PER_BLOCK;

/// A new drive of an FTL, and of a map if one is named, and where its pages are.
pub(crate) fn created(ftl: &str) -> (Vec<u8>, Range<u64>) {
    let (ftl, mapping) = ftl.split_once(" over ").unwrap_or((ftl, "full"));
    let mapping = mapping.parse().unwrap();
    // FTLs with many streams need a few more blocks.
    let (options, bytes) = [40, 48]
        .into_iter()
        .find_map(|blocks| {
            let geometry = Geometry::new(blocks, PAGES_PER_BLOCK, PAGE as u32).unwrap();
            let config = DriveConfig::new(geometry, LOGICAL_PAGES, 6);
            let options = common::options(&ftl.parse().unwrap(), config, 400).ok()?;
            let options = CreateOptions { mapping, ..options };
            let bytes = Drive::backing_bytes(&options).ok()?;
            Some((options, vec![0; bytes as usize]))
        })
        .unwrap_or_else(|| panic!("no drive is large enough for {ftl}"));
    let medium = Arc::new(Medium::new(bytes, None));
    let superblock = Drive::create_on(&(Arc::clone(&medium) as _), &options).unwrap();
    (medium.bytes(), superblock.flash_offsets())
}

pub(crate) fn content(lpn: u32, version: u32) -> [u8; PAGE] {
    let mut page = [version as u8; PAGE];
    page[..4].copy_from_slice(&lpn.to_le_bytes());
    page[4..8].copy_from_slice(&version.to_le_bytes());
    page
}

/// The pages that a load writes, in order.
pub(crate) fn load(writes: u32) -> impl Iterator<Item = u32> {
    let random =
        |number: u32| (u64::from(number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as u32;
    let rest = (0..writes).map(move |number| {
        random(number) % if number.is_multiple_of(4) { LOGICAL_PAGES } else { LOGICAL_PAGES / 8 }
    });
    (0..LOGICAL_PAGES).chain(rest)
}

/// A drive, what it should hold, and what happened to it.
pub(crate) struct Life {
    pub(crate) drive: Drive,
    pub(crate) versions: Vec<u32>,
    pub(crate) next: u32,
    /// What the drive had to say.
    pub(crate) notices: Arc<Mutex<Vec<String>>>,
    /// The versions at the last flush.
    flushed: Vec<u32>,
    /// A write that failed: its page may hold it or what was there before.
    failed: Option<(u32, u32)>,
}

impl Life {
    pub(crate) fn open(
        medium: &Arc<Medium>,
        versions: Vec<u32>,
        next: u32,
    ) -> Result<Self, String> {
        medium.enter("opening");
        let notices = Arc::<Mutex<Vec<String>>>::default();
        let told = Arc::clone(&notices);
        let notice = Arc::new(move |text: &str| told.lock().unwrap().push(text.to_owned()));
        let options = OpenOptions { notice: Some(notice), ..OpenOptions::default() };
        let drive = Drive::open_alone(Arc::clone(medium) as _, options);
        let drive = drive.map_err(|error| error.to_string())?;
        Ok(Self { drive, flushed: versions.clone(), versions, next, failed: None, notices })
    }

    /// Writes these pages; false if the drive has become read-only.
    pub(crate) fn write(&mut self, pages: impl Iterator<Item = u32>) -> bool {
        for lpn in pages {
            let version = self.next;
            if self.drive.write(u64::from(lpn) * PAGE as u64, &content(lpn, version)).is_err() {
                self.failed = Some((lpn, version));
                return false;
            }
            self.versions[lpn as usize] = version;
            self.next += 1;
            if version.is_multiple_of(64) && !self.flush() {
                return false;
            }
        }
        self.flush()
    }

    fn flush(&mut self) -> bool {
        let is_flushed = self.drive.flush().is_ok();
        if is_flushed {
            self.flushed.clone_from(&self.versions);
        }
        is_flushed
    }

    /// Ends it, by closing if it can be; whether that succeeded, and the drive opened again.
    pub(crate) fn open_again(
        self,
        medium: &Arc<Medium>,
        closes: bool,
    ) -> Result<(bool, Self), String> {
        let Self { drive, versions, flushed, next, failed, .. } = self;
        medium.enter("closing");
        let is_closed = if closes {
            drive.close().is_ok()
        } else {
            drive.abandon();
            false
        };
        let again = Self::open(medium, versions, next)?;
        Ok((is_closed, Self { flushed, failed, ..again }))
    }

    /// The pages that cannot be read of a drive that may have lost what was written after the last flush; an
    /// error if one is older.
    pub(crate) fn unreadable_since_flush(&self) -> Result<Vec<u32>, String> {
        let mut page = [0; PAGE];
        let mut unreadable = Vec::new();
        for lpn in 0..LOGICAL_PAGES {
            if self.drive.read(u64::from(lpn) * PAGE as u64, &mut page).is_err() {
                unreadable.push(lpn);
                continue;
            }
            let version = u32::from_le_bytes([page[4], page[5], page[6], page[7]]);
            let is_whole = version == 0 || page == content(lpn, version);
            let at = lpn as usize;
            let newest = self.failed.filter(|(failed, _)| *failed == lpn);
            let newest = newest.map_or(self.versions[at], |(_, version)| version);
            if !is_whole || !(self.flushed[at]..=newest).contains(&version) {
                return Err(format!(
                    "page {lpn} is version {version}, flushed {}",
                    self.flushed[at]
                ));
            }
        }
        Ok(unreadable)
    }

    /// The pages that cannot be read; an error if one has another content than was written.
    pub(crate) fn unreadable(&self) -> Result<Vec<u32>, String> {
        let mut page = [0; PAGE];
        let mut unreadable = Vec::new();
        let before = self.drive.snapshot().totals.media_errors;
        for (lpn, &version) in (0..).zip(&self.versions) {
            match self.drive.read(u64::from(lpn) * PAGE as u64, &mut page) {
                Ok(()) if version == 0 || page == content(lpn, version) => {}
                Ok(())
                    if self
                        .failed
                        .is_some_and(|(at, new)| at == lpn && page == content(at, new)) => {}
                Ok(()) => return Err(format!("page {lpn} is not version {version}")),
                Err(_) => unreadable.push(lpn),
            }
        }
        let counted = self.drive.snapshot().totals.media_errors - before;
        if counted < unreadable.len() as u64 {
            return Err(format!("{counted} media errors, but {} pages", unreadable.len()));
        }
        Ok(unreadable)
    }
}

/// A drive that was used and then closed, or killed after its last flush.
pub(crate) struct Used {
    pub(crate) bytes: Vec<u8>,
    pub(crate) versions: Vec<u32>,
    pub(crate) next: u32,
    pub(crate) pages: Range<u64>,
    /// Where the checksums of pages are, if these are beside them only.
    pub(crate) owners: Range<u64>,
    pub(crate) is_closed: bool,
}

/// What became of a drive.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Lived {
    /// Pages that could not be read, at most at a time.
    pub(crate) unreadable: usize,
    /// Operations that were discarded, and pages that could not be read, whether they were tried again or not.
    pub(crate) dropped: u64,
    pub(crate) errors: u64,
    /// It became read-only.
    pub(crate) is_read_only: bool,
    /// What it had to say.
    pub(crate) notices: Vec<String>,
}

impl Used {
    pub(crate) fn new(ftl: &str, is_closed: bool) -> Self {
        let (bytes, pages) = created(ftl);
        let medium = Arc::new(Medium::new(bytes, None));
        let mut life = Life::open(&medium, vec![0; LOGICAL_PAGES as usize], 1).unwrap();
        assert!(life.write(load(1500)));
        if is_closed {
            life.drive.close().unwrap();
        } else {
            life.drive.abandon();
        }
        let owners_bytes = (pages.end - pages.start) / PAGE as u64 * 16;
        let owners = pages.start - owners_bytes.next_multiple_of(4096)..pages.start;
        let is_paged = ftl.contains(" over ");
        Self {
            bytes: medium.bytes(),
            versions: life.versions,
            next: life.next,
            owners: if is_paged { owners } else { 0..0 },
            pages,
            is_closed,
        }
    }

    /// Opens it with a fault; returns how many pages could not be read at most.
    pub(crate) fn survive(&self, bytes: Vec<u8>, fault: Option<Fault>) -> Result<usize, String> {
        let medium = Arc::new(Medium::new(bytes, fault));
        self.live(&medium, false).map(|lived| lived.unreadable)
    }

    /// Opens it, reads everything, writes, also in part, scrubs, copies it if it is to be copied, and opens it again. An error if
    /// anything is not what was written.
    pub(crate) fn live(&self, medium: &Arc<Medium>, copies: bool) -> Result<Lived, String> {
        let mut life = Life::open(medium, self.versions.clone(), self.next)?;
        let mut lived = Lived { dropped: life.drive.recovery().dropped, ..Lived::default() };
        medium.enter("reading");
        let at_first = life.unreadable()?;
        medium.enter("writing");
        // Half of the pages, so that those that cannot be read are collected, and not overwritten.
        let others = (0..600).map(|number| number * 2 % LOGICAL_PAGES);
        let mut is_whole = life.write(others.filter(|lpn| !at_first.contains(lpn)));
        medium.enter("reading");
        let then = life.unreadable()?;
        if is_whole {
            medium.enter("writing in part");
            let unreadable = life.write_parts().and_then(|unreadable| {
                medium.enter("scrubbing");
                life.scrub().map(|scrubbed| unreadable.max(scrubbed))
            });
            is_whole = unreadable.is_ok();
            lived.unreadable = unreadable.unwrap_or(0);
        }
        if copies {
            medium.enter("copying");
            lived.unreadable = lived.unreadable.max(life.copy()?);
        }
        lived.errors = life.drive.snapshot().totals.media_errors;
        lived.notices.clone_from(&life.notices.lock().unwrap());
        lived.is_read_only = !is_whole;
        let (is_closed, life) = life.open_again(medium, is_whole)?;
        medium.enter("reading");
        let last = if is_closed { life.unreadable()? } else { life.unreadable_since_flush()? };
        lived.unreadable = lived.unreadable.max(at_first.len()).max(then.len()).max(last.len());
        Ok(lived)
    }
}

impl Life {
    /// Writes parts of pages that hold the same already; returns how many cannot be, because what is around them
    /// cannot be read. An error if the drive has become read-only.
    fn write_parts(&self) -> io::Result<usize> {
        let mut unreadable = 0;
        for lpn in (1..LOGICAL_PAGES).step_by(8) {
            let part = &content(lpn, self.versions[lpn as usize])[100..300];
            match self.drive.write(u64::from(lpn) * PAGE as u64 + 100, part) {
                Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                    return Err(error);
                }
                written => unreadable += usize::from(written.is_err()),
            }
        }
        Ok(unreadable)
    }

    /// Scrubs all pages; returns how many cannot be read.
    fn scrub(&self) -> io::Result<usize> {
        let scrubbed = (0..LOGICAL_PAGES).map(|lpn| self.drive.scrub(Lpn(lpn)));
        let scrubbed = scrubbed.collect::<Result<Vec<_>, _>>()?;
        Ok(scrubbed.iter().filter(|page| **page == ScrubbedPage::Unreadable).count())
    }

    /// Copies it; returns how many pages are not in the copy, and an error if another one is not what was written.
    fn copy(&self) -> Result<usize, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = directory.path().join("copy");
        let copied = self.drive.copy(&path, None, |_| true).map_err(|error| error.to_string())?;
        let copy = Drive::open(&path, OpenOptions::default()).map_err(|error| error.to_string())?;
        let mut page = [0; PAGE];
        for (lpn, &version) in (0..).zip(&self.versions) {
            let is_named = copied.unreadable.contains(&Lpn(lpn));
            let read = copy.read(u64::from(lpn) * PAGE as u64, &mut page);
            read.map_err(|error| error.to_string())?;
            if !is_named && page != content(lpn, version) {
                return Err(format!("page {lpn} of the copy is not version {version}"));
            }
        }
        Ok(copied.unreadable.len())
    }
}

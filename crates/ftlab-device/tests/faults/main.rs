//! One fault of the medium at a time, everywhere: the drive opens, what it cannot read it says, and
//! everything else is what was flushed.
//!
//! `make fault-tests` prints how many faults of which kind were survived; `docs/drive-format.md` has the
//! table.

#[path = "../common/mod.rs"]
mod common;
mod medium;

use common::ftls;
use ftlab_device::{Drive, OpenOptions, Store};
use ftlab_flash::Geometry;
use ftlab_ftl::page::DriveConfig;
use medium::{Fault, Medium, SECTOR};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

const PAGE: usize = 512;
const PAGES_PER_BLOCK: u32 = 16;
const LOGICAL_PAGES: u32 = 20 * PAGES_PER_BLOCK;

fn created(ftl: &str) -> (Vec<u8>, Range<u64>) {
    let geometry = Geometry::new(40, PAGES_PER_BLOCK, PAGE as u32).unwrap();
    let config = DriveConfig::new(geometry, LOGICAL_PAGES, 6);
    let options = common::options(&ftl.parse().unwrap(), config, 400).unwrap();
    let bytes = vec![0; Drive::backing_bytes(&options).unwrap() as usize];
    let medium = Arc::new(Medium::new(bytes, None));
    let superblock = Drive::create_on(&(Arc::clone(&medium) as _), &options).unwrap();
    (medium.bytes(), superblock.flash_offsets())
}

fn content(lpn: u32, version: u32) -> [u8; PAGE] {
    let mut page = [version as u8; PAGE];
    page[..4].copy_from_slice(&lpn.to_le_bytes());
    page[4..8].copy_from_slice(&version.to_le_bytes());
    page
}

/// The pages that a load writes, in order.
fn load(writes: u32) -> impl Iterator<Item = u32> {
    let random =
        |number: u32| (u64::from(number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as u32;
    let rest = (0..writes).map(move |number| {
        random(number) % if number.is_multiple_of(4) { LOGICAL_PAGES } else { LOGICAL_PAGES / 8 }
    });
    (0..LOGICAL_PAGES).chain(rest)
}

/// A drive, what it should hold, and what happened to it.
struct Life {
    drive: Drive,
    versions: Vec<u32>,
    next: u32,
    /// The same at the last flush.
    flushed: Vec<u32>,
    /// A write that failed: its page may hold it or what was there before.
    failed: Option<(u32, u32)>,
}

impl Life {
    fn open(medium: &Arc<Medium>, versions: Vec<u32>, next: u32) -> Result<Self, String> {
        let drive = Drive::open_alone(Arc::clone(medium) as _, OpenOptions::default());
        let drive = drive.map_err(|error| error.to_string())?;
        Ok(Self { drive, flushed: versions.clone(), versions, next, failed: None })
    }

    /// Writes these pages; false if the drive has become read-only.
    fn write(&mut self, pages: impl Iterator<Item = u32>) -> bool {
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
    fn open_again(self, medium: &Arc<Medium>, closes: bool) -> Result<(bool, Self), String> {
        let Self { drive, versions, flushed, next, failed } = self;
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
    fn unreadable_since_flush(&self) -> Result<Vec<u32>, String> {
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
    fn unreadable(&self) -> Result<Vec<u32>, String> {
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
struct Used {
    bytes: Vec<u8>,
    versions: Vec<u32>,
    next: u32,
    pages: Range<u64>,
    is_closed: bool,
}

impl Used {
    fn new(ftl: &str, is_closed: bool) -> Self {
        let (bytes, pages) = created(ftl);
        let medium = Arc::new(Medium::new(bytes, None));
        let mut life = Life::open(&medium, vec![0; LOGICAL_PAGES as usize], 1).unwrap();
        assert!(life.write(load(1500)));
        if is_closed {
            life.drive.close().unwrap();
        } else {
            life.drive.abandon();
        }
        Self { bytes: medium.bytes(), versions: life.versions, next: life.next, pages, is_closed }
    }

    /// Opens it with a fault, reads everything, goes on, and opens it again. Returns how many pages could not
    /// be read at most.
    fn survive(&self, bytes: Vec<u8>, fault: Option<Fault>) -> Result<usize, String> {
        let medium = Arc::new(Medium::new(bytes, fault));
        let mut life = Life::open(&medium, self.versions.clone(), self.next)?;
        let at_first = life.unreadable()?;
        // Half of the pages, so that those that cannot be read are collected, and not overwritten.
        let others = (0..600).map(|number| number * 2 % LOGICAL_PAGES);
        let is_whole = life.write(others.filter(|lpn| !at_first.contains(lpn)));
        let then = life.unreadable()?;
        let (is_closed, life) = life.open_again(&medium, is_whole)?;
        let last = if is_closed { life.unreadable()? } else { life.unreadable_since_flush()? };
        Ok(at_first.len().max(then.len()).max(last.len()))
    }
}

/// Threads that share the places of faults.
const WORKERS: usize = 16;

impl Used {
    /// Faults of one sector.
    fn survive_at(&self, offset: u64, is_metadata: bool, ftl: &str, tally: &mut Tally) {
        let most = usize::from(!is_metadata);
        let [once, always, flip] = if is_metadata { METADATA } else { DATA };
        let context = |kind| {
            let state = if self.is_closed { "closed" } else { "killed" };
            format!("{ftl}, {state}, {kind} at {offset}")
        };
        let fault = Fault::ReadErrors { offset, times: 1 };
        tally.count(once, &context(once), 0, self.survive(self.bytes.clone(), Some(fault)));
        let fault = Fault::Dead { offset };
        tally.count(always, &context(always), most, self.survive(self.bytes.clone(), Some(fault)));
        let mut bytes = self.bytes.clone();
        bytes[offset as usize + 5] ^= 4;
        tally.count(flip, &context(flip), most, self.survive(bytes, None));
    }
}

/// Faults of a sector of the metadata, and of the data.
const METADATA: [&str; 3] =
    ["metadata: a read that fails once", "metadata: a dead sector", "metadata: a flipped bit"];
const DATA: [&str; 3] =
    ["data: a read that fails once", "data: a dead sector", "data: a flipped bit"];

/// Counts what was survived.
#[derive(Default)]
struct Tally {
    /// Kind of fault -> faults, and those that cost a page.
    survived: BTreeMap<&'static str, (u64, u64)>,
    failures: Vec<String>,
}

impl Tally {
    fn count(
        &mut self,
        what: &'static str,
        context: &str,
        most: usize,
        result: Result<usize, String>,
    ) {
        match result {
            Ok(unreadable) if unreadable <= most => {
                let (all, costly) = self.survived.entry(what).or_default();
                *all += 1;
                *costly += u64::from(unreadable > 0);
            }
            Ok(unreadable) => {
                self.failures.push(format!("{context}: {unreadable} pages are unreadable"));
            }
            Err(error) => self.failures.push(format!("{context}: {error}")),
        }
    }

    fn add(&mut self, other: Self) {
        for (what, (all, costly)) in other.survived {
            let sum = self.survived.entry(what).or_default();
            *sum = (sum.0 + all, sum.1 + costly);
        }
        self.failures.extend(other.failures);
    }

    fn finish(self) {
        for (what, (all, costly)) in &self.survived {
            println!("| {what} | {all} | {costly} |");
        }
        let shown = &self.failures[..self.failures.len().min(40)];
        assert!(shown.is_empty(), "{} failures:\n{}", self.failures.len(), shown.join("\n"));
    }
}

/// Faults of what is on the medium when a drive is opened: at every `step`th sector of the metadata, and at as
/// many places of the data.
fn campaign_at_rest(ftl: &str, step: usize, places: u64, tally: &mut Tally) {
    for is_closed in [true, false] {
        let used = Used::new(ftl, is_closed);
        let end = used.bytes.len() as u64;
        let metadata = (0..used.pages.start).chain(used.pages.end..end);
        let metadata = metadata.step_by(SECTOR as usize * step);
        let pages = used.pages.end - used.pages.start;
        let data = (0..places).map(|place| {
            let random = place.wrapping_mul(0x9e37_79b9_7f4a_7c15) % pages;
            used.pages.start + random / SECTOR * SECTOR
        });
        let sites = metadata.map(|at| (at, true)).chain(data.map(|at| (at, false)));
        let sites: Vec<_> = sites.collect();
        // Much of the time goes into waiting before a read is tried again.
        std::thread::scope(|scope| {
            let (used, parts) = (&used, sites.chunks(sites.len().div_ceil(WORKERS)));
            let workers = parts.map(|part| {
                scope.spawn(move || {
                    let mut tally = Tally::default();
                    for &(offset, is_metadata) in part {
                        used.survive_at(offset, is_metadata, ftl, &mut tally);
                    }
                    tally
                })
            });
            let workers: Vec<_> = workers.collect();
            for worker in workers {
                tally.add(worker.join().unwrap());
            }
        });
    }
}

/// Faults of writes and syncs while a drive is used.
fn campaign_in_use(ftl: &str, step: usize, tally: &mut Tally) {
    let (bytes, pages) = created(ftl);
    let run =
        |fault: Option<Fault>, is_closed: bool| -> Result<(usize, usize, Arc<Medium>), String> {
            let medium = Arc::new(Medium::new(bytes.clone(), fault));
            let mut life = Life::open(&medium, vec![0; LOGICAL_PAGES as usize], 1)?;
            let is_whole = life.write(load(1500));
            let before = if is_whole { life.unreadable()?.len() } else { 0 };
            let (is_closed, life) = life.open_again(&medium, is_whole && is_closed)?;
            let after = if is_closed { life.unreadable()? } else { life.unreadable_since_flush()? };
            let unreadable = before.max(after.len());
            let within = |(offset, len): &(u64, usize)| {
                let is_data = *offset + *len as u64 > pages.start && *offset < pages.end;
                if is_data { len.div_ceil(PAGE) + 1 } else { 0 }
            };
            let most = medium.hit().iter().map(within).sum();
            Ok((unreadable, most, medium))
        };
    let (_, _, medium) = run(None, true).unwrap();
    let (writes, syncs) = medium.operations();
    for is_closed in [true, false] {
        for write in (1..writes).step_by(step) {
            let by = write.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            for (what, fault) in [
                ("a lost write", Fault::LostWrite(write)),
                ("a misdirected write", Fault::Misdirected(write, by)),
                ("a torn write", Fault::TornWrite(write)),
                ("a medium that is full for a while", Fault::Full(write, 3)),
            ] {
                let result = run(Some(fault), is_closed);
                let context = format!("{ftl}, {fault:?}, closed: {is_closed}");
                let most = result.as_ref().map_or(0, |(_, most, _)| *most);
                tally.count(what, &context, most, result.map(|(unreadable, ..)| unreadable));
            }
        }
        for sync in (1..syncs).step_by(step) {
            let fault = Fault::FailedSync(sync);
            let result = run(Some(fault), is_closed).map(|(unreadable, ..)| unreadable);
            tally.count("a sync that fails", &format!("{ftl}, {fault:?}"), 0, result);
        }
    }
}

/// More read errors than a collection tries: the page is where it was, its block is not used again, and what
/// cannot be moved can be read once the medium answers.
#[test]
fn a_page_that_could_not_be_moved_is_kept_where_it_was() {
    const TRIES: u32 = 4;
    let used = Used::new("2r-fifo", true);
    let mut kept = 0;
    for place in 0..40 {
        let offset = used.pages.start + place * 7 * PAGE as u64;
        let fault = Fault::ReadErrors { offset, times: TRIES };
        let medium = Arc::new(Medium::new(used.bytes.clone(), Some(fault)));
        let mut life = Life::open(&medium, used.versions.clone(), used.next).unwrap();
        let others = (0..600).map(|number| number * 2 % LOGICAL_PAGES);
        assert!(life.write(others));
        let snapshot = life.drive.snapshot();
        let [lpn] = snapshot.unreadable[..] else { continue };
        assert_eq!((snapshot.replaced_blocks, snapshot.totals.media_errors), (1, 1));
        assert_eq!(life.unreadable().unwrap(), [0; 0], "page {lpn}");
        let Life { drive, versions, next, .. } = life;
        drive.abandon();
        let life = Life::open(&medium, versions, next).unwrap();
        assert!(life.drive.recovery().repeated > 0);
        assert_eq!(life.drive.snapshot().unreadable, [lpn]);
        assert_eq!(life.unreadable().unwrap(), [0; 0], "page {lpn} after a crash");
        life.drive.close().unwrap();
        let life = Life::open(&medium, life.versions, next).unwrap();
        assert_eq!(life.unreadable().unwrap(), [0; 0], "page {lpn} after closing");
        kept += 1;
    }
    assert!(kept > 3, "{kept}");
}

#[test]
fn one_fault_at_a_time() {
    let mut tally = Tally::default();
    for ftl in ["1r-greedy", "2r++", "hazard"] {
        campaign_at_rest(ftl, 41, 60, &mut tally);
        campaign_in_use(ftl, 23, &mut tally);
    }
    tally.finish();
}

#[test]
#[ignore = "long: `make fault-tests`"]
fn one_fault_at_every_place_under_every_ftl() {
    let mut tally = Tally::default();
    for (number, ftl) in ftls().iter().enumerate() {
        println!("{ftl}");
        let is_thorough = number == 0;
        campaign_at_rest(
            ftl,
            if is_thorough { 1 } else { 13 },
            if is_thorough { 10_000 } else { 300 },
            &mut tally,
        );
        campaign_in_use(ftl, if is_thorough { 1 } else { 7 }, &mut tally);
    }
    tally.finish();
}

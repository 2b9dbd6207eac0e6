//! A model that knows what may be read after a crash.

use crate::common;
use ftlab_drive::{CreateOptions, Drive, MediaError, OpenOptions, PowerCut, Store};
use ftlab_flash::{Geometry, Lpn, NoPayload};
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry::{self, BuildError, DynMapped};
use ftlab_ftl::{HandleUse, PageBatch};
use ftlab_spec::Spec;
use std::sync::Arc;

const PAGE_BYTES: usize = 512;
const PAGES_PER_BLOCK: u32 = 8;
const LOGICAL_PAGES: u32 = 32 * PAGES_PER_BLOCK;

/// Numbers from a seed (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(bits ^ bits >> 31) * u128::from(end)) >> 64) as u32
    }
}

/// How a life of the drive ends.
#[derive(Clone, Copy)]
pub(crate) enum Ends {
    /// At a random write, at which the power is cut, or the process killed.
    AtPowerCut,
    /// At a sync that fails: the page cache then holds what the medium does not.
    AtFailedSync,
    /// After this many requests, by closing it.
    Closed(u32),
}

/// What the host did.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Write(Lpn, u16),
    Trim(Lpn, u32),
    Renew(u16),
}

/// What the medium holds, and all operations that were issued.
pub(crate) struct Model {
    ftl: String,
    config: DriveConfig,
    mapping: Mapping,
    /// The medium: after a kill still with writes that no sync has made durable.
    medium: PowerCut,
    /// Whether there may be such writes: then the power may still be cut before anyone has recovered what
    /// they hold.
    was_killed: bool,
    /// Operation n, counted from 1, is the one at n - 1.
    operations: Vec<Operation>,
    /// Operations at the last acknowledged flush, or when it was last opened.
    flushed: u64,
    /// Operations that a replay has found: so does any later one.
    repeatable: u64,
}

impl Model {
    pub(crate) fn new(ftl: &str, gc: &str) -> Self {
        Self::with_map(ftl, gc, "full")
    }

    pub(crate) fn with_map(ftl: &str, gc: &str, mapping: &str) -> Self {
        Self::of(ftl, config(ftl, gc, mapping, 9), mapping)
    }

    /// A drive that opens a block in the very operation that erased it, where the FTL can.
    pub(crate) fn with_least_reserve(ftl: &str) -> Self {
        let mut all = (1..10).map(|reserve| config(ftl, "foreground", "full", reserve));
        let suffices = |own: &DriveConfig| {
            let fitted = common::options(&ftl.parse().unwrap(), *own, 200);
            fitted.is_ok_and(|fitted| build(&fitted.ftl, *own, &Mapping::FULL).is_ok())
        };
        Self::of(ftl, all.find(suffices).unwrap(), "full")
    }

    fn of(ftl: &str, config: DriveConfig, mapping: &str) -> Self {
        let mapping: Mapping = mapping.parse().unwrap();
        let options = common::options(&ftl.parse().unwrap(), config, 200).unwrap();
        let options = CreateOptions { mapping, ..options };
        let bytes = Drive::backing_bytes(&options).unwrap() as usize;
        let backing = Arc::new(PowerCut::new(vec![0; bytes]));
        let superblock = Drive::create_on(&(Arc::clone(&backing) as _), &options).unwrap();
        Self {
            ftl: superblock.ftl.to_string(),
            config,
            mapping,
            medium: PowerCut::new(backing.survivor(|_| 0)),
            was_killed: false,
            operations: Vec::new(),
            flushed: 0,
            repeatable: 0,
        }
    }

    /// Opens it, closes it, and drops what is cached.
    pub(crate) fn recover_and_drop_cache(&mut self) -> Result<(), MediaError> {
        let backing = Arc::new(self.medium.restarted());
        let drive = Drive::open_alone(Arc::clone(&backing) as _, OpenOptions::default())?;
        drive.close().unwrap();
        self.medium = PowerCut::new(backing.medium());
        Ok(())
    }

    /// Opens a copy of what is left of it.
    pub(crate) fn open(&self) -> Result<Drive, MediaError> {
        let backing = Arc::new(self.medium.restarted());
        Drive::open_alone(backing, OpenOptions::default())
    }

    /// Takes what was found after a crash for what was done, and verifies that it is a past that may be.
    pub(crate) fn verify(&mut self, drive: &Drive) -> Result<(), String> {
        let snapshot = drive.snapshot();
        let (least, issued) = (self.flushed.max(self.repeatable), self.operations.len() as u64);
        if !(least..=issued).contains(&snapshot.operations) {
            let found = snapshot.operations;
            return Err(format!(
                "{found} operations are left of {issued}, at least {least} should be"
            ));
        }
        self.operations.truncate(snapshot.operations as usize);
        if !self.was_killed {
            self.repeatable = snapshot.operations;
        }
        let twin = self.twin();
        if twin.counters() != snapshot.counters {
            return Err(format!("counters: {:?}, not {:?}", snapshot.counters, twin.counters()));
        }
        if twin.map_counts() != snapshot.map {
            let (twin, found) = (twin.map_counts(), snapshot.map);
            return Err(format!("counts of the map: {found:?}, not {twin:?}"));
        }
        if twin.drive().mapping()[..LOGICAL_PAGES as usize] != drive.mapping() {
            return Err("the mapping is another".to_owned());
        }
        verify_handles(&twin, drive)?;
        twin.check().map_err(|error| error.to_string())?;
        self.verify_contents(drive)
    }

    /// Lets another FTL take over a copy of what is left of it, and verifies that it finds all that a replay does, also
    /// if the power is cut meanwhile, and works on.
    /// False if the drive has no room for its state.
    pub(crate) fn take_over(&mut self, ftl: &str, random: &mut Random) -> Result<bool, String> {
        let ftl = common::options(&ftl.parse().unwrap(), self.config, 200).unwrap().ftl;
        let options = || OpenOptions { ftl: Some(ftl.clone()), ..OpenOptions::default() };
        let replayed = self.open().map_err(|error| error.to_string())?.snapshot();
        let backing = Arc::new(self.medium.restarted());
        let taken_over = Drive::open_alone(Arc::new(self.medium.restarted()), options());
        if let Err(MediaError::NoRoomFor { .. }) = taken_over {
            return Ok(false);
        }
        let writes = random.below(40).into();
        let (cut, _) = self.cut_takeover(options(), writes, random);
        for (backing, options) in [(cut, OpenOptions::default()), (Arc::clone(&backing), options())]
        {
            let is_taken_over = options.ftl.is_some();
            let drive = Drive::open_alone(Arc::clone(&backing) as _, options)
                .map_err(|error| error.to_string())?;
            if is_taken_over && drive.recovery().by_map.is_none() {
                return Err("it was not taken over".to_owned());
            }
            if let Some(reason) = drive.read_only() {
                return Err(reason);
            }
            let found = drive.snapshot();
            // A page may have got to its place, and what is kept beside it may not.
            if !(self.flushed..=replayed.operations).contains(&found.operations) {
                let (found, replayed) = (found.operations, replayed.operations);
                return Err(format!("{found} operations were found, and {replayed} replayed"));
            }
            let (counted, counters) = (found.counters, &replayed.counters);
            if found.operations == replayed.operations
                && (counted.host_writes, counted.trims) != (counters.host_writes, counters.trims)
            {
                return Err(format!("counters: {counted:?}, not {counters:?}"));
            }
            let all = self.operations.clone();
            self.operations.truncate(found.operations as usize);
            let at = |step: &str, error| format!("{step}, taken over: {is_taken_over}: {error}");
            self.verify_contents(&drive).map_err(|error| at("when opened", error))?;
            let (before, flushed) = (self.operations.len(), self.flushed);
            while self.operations.len() < before + 300 {
                if !self.request(&drive, random, 40) {
                    return Err("a request failed".to_owned());
                }
            }
            self.verify_contents(&drive).map_err(|error| at("after work", error))?;
            drive.flush().map_err(|error| error.to_string())?;
            drive.abandon();
            let drive = Drive::open_alone(backing, OpenOptions::default());
            let drive = drive.map_err(|error| error.to_string())?;
            self.verify_contents(&drive).map_err(|error| at("when opened again", error))?;
            (self.operations, self.flushed) = (all, flushed);
        }
        Ok(true)
    }

    /// Cuts the power at one write after the other while another FTL takes a copy of it over, until none is left, and
    /// verifies that what was flushed is found by the FTL that it had before.
    pub(crate) fn cut_takeovers(&self, ftl: &str, random: &mut Random) -> Result<(), String> {
        let ftl = common::options(&ftl.parse().unwrap(), self.config, 200).unwrap().ftl;
        // Pages are overwritten in the first of them, checkpoints in the others.
        for writes in (0..24).chain((24..).step_by(5)) {
            let options = OpenOptions { ftl: Some(ftl.clone()), ..OpenOptions::default() };
            let (left, is_done) = self.cut_takeover(options, writes, random);
            let drive = Drive::open_alone(left, OpenOptions::default());
            let drive = drive.map_err(|error| format!("cut at write {writes}: {error}"))?;
            if let Some(reason) = drive.read_only() {
                return Err(format!("cut at write {writes}: {reason}"));
            }
            let (operations, issued) = (drive.snapshot().operations, self.operations.len() as u64);
            if !(self.flushed..=issued).contains(&operations) {
                return Err(format!("cut at write {writes}: {operations} of {}", self.flushed));
            }
            self.verify_contents_after(operations, &drive)
                .map_err(|error| format!("cut at write {writes}: {error}"))?;
            if is_done {
                break;
            }
        }
        Ok(())
    }

    /// What is left of a copy if the power is cut after so many writes while it is opened with `options`; and whether it was
    /// opened before.
    fn cut_takeover(
        &self,
        options: OpenOptions,
        writes: u64,
        random: &mut Random,
    ) -> (Arc<PowerCut>, bool) {
        let cut = Arc::new(self.medium.restarted());
        cut.cut_after(writes);
        let opened = Drive::open_alone(Arc::clone(&cut) as _, options);
        let is_done = opened.as_ref().is_ok_and(|drive| drive.read_only().is_none());
        if let Ok(drive) = opened {
            drive.abandon();
        }
        (Arc::new(PowerCut::new(cut.survivor(|end| random.below(end)))), is_done)
    }

    fn verify_contents(&self, drive: &Drive) -> Result<(), String> {
        self.verify_contents_after(self.operations.len() as u64, drive)
    }

    fn verify_contents_after(&self, operations: u64, drive: &Drive) -> Result<(), String> {
        let mut versions = [0; LOGICAL_PAGES as usize];
        for (number, operation) in (1..=operations).zip(&self.operations) {
            match *operation {
                Operation::Write(lpn, _) => versions[lpn.index()] = number,
                Operation::Trim(first, pages) => {
                    versions[first.index()..][..pages as usize].fill(0);
                }
                Operation::Renew(_) => {}
            }
        }
        let mut page = [0; PAGE_BYTES];
        for (lpn, &version) in versions.iter().enumerate() {
            drive
                .read((lpn * PAGE_BYTES) as u64, &mut page)
                .map_err(|error| format!("page {lpn}: {error}"))?;
            if page != content(lpn as u32, version) {
                return Err(format!("page {lpn} is not that of operation {version}"));
            }
        }
        Ok(())
    }

    /// This FTL in simulation, after these operations.
    fn twin(&self) -> DynMapped<NoPayload, ()> {
        let mut ftl = build(&self.ftl.parse().unwrap(), self.config, &self.mapping).unwrap();
        ftl.page_in();
        for operation in &self.operations {
            match *operation {
                Operation::Write(lpn, stream) => {
                    let (writes, streams) = (vec![lpn], vec![stream]);
                    let batch = PageBatch { writes, streams, ..PageBatch::default() };
                    ftl.apply(&batch).unwrap();
                }
                Operation::Trim(first, pages) => {
                    (first.0..first.0 + pages).for_each(|lpn| ftl.trim(Lpn(lpn)).unwrap());
                }
                Operation::Renew(handle) => assert!(ftl.renew_handle(handle).unwrap()),
            }
        }
        ftl
    }

    /// Opens the drive and works on it until the end of this life.
    pub(crate) fn live(&mut self, random: &mut Random, life: Ends) {
        let backing = Arc::new(self.medium.restarted());
        let mut requests = u32::MAX;
        match life {
            Ends::Closed(count) => requests = count,
            Ends::AtPowerCut => backing.cut_after(random.below(400).into()),
            Ends::AtFailedSync => backing.fail_one_sync_after(random.below(400).into()),
        }
        let opened = Drive::open_alone(Arc::clone(&backing) as _, OpenOptions::default());
        // The power may be cut in the middle of a recovery.
        if let Ok(drive) = opened {
            // Opening has made durable what it recovered.
            self.flushed = self.operations.len() as u64;
            let flush_share = [5, 40, 400][random.below(3) as usize];
            while requests > 0 && self.request(&drive, random, flush_share) {
                requests -= 1;
            }
            if requests == 0 {
                drive.close().unwrap();
                self.flushed = self.operations.len() as u64;
            } else {
                drive.abandon();
            }
        }
        let is_cached = matches!(life, Ends::AtFailedSync);
        self.was_killed = requests > 0 && (is_cached || random.below(8) == 0);
        self.medium = if requests == 0 || self.was_killed {
            backing.restarted()
        } else {
            PowerCut::new(backing.survivor(|end| random.below(end)))
        };
    }

    /// One request; false if it failed.
    fn request(&mut self, drive: &Drive, random: &mut Random, flush_share: u32) -> bool {
        let issued = self.operations.len() as u64;
        if random.below(flush_share) == 0 {
            let flushed = drive.flush().is_ok();
            self.flushed = if flushed { issued } else { self.flushed };
            return flushed;
        }
        let has_handles = drive.placement_handles().is_some();
        if has_handles && random.below(20) == 0 {
            let handle = random.below(2) as u16;
            self.operations.push(Operation::Renew(handle));
            return drive.renew_handle(handle).is_ok_and(|is_known| is_known);
        }
        let span = LOGICAL_PAGES / if random.below(4) == 0 { 1 } else { 4 };
        let first = random.below(span);
        let pages_max = if random.below(5) == 0 { 40 } else { 3 };
        let pages = (1 + random.below(pages_max)).min(span - first);
        let offset = u64::from(first) * PAGE_BYTES as u64;
        if random.below(20) == 0 {
            self.operations.push(Operation::Trim(Lpn(first), pages));
            return drive.trim(offset, u64::from(pages) * PAGE_BYTES as u64).is_ok();
        }
        let mut data = Vec::new();
        let stream = random.below(4) as u16;
        for lpn in first..first + pages {
            self.operations.push(Operation::Write(Lpn(lpn), stream));
            data.extend_from_slice(&content(lpn, self.operations.len() as u64));
        }
        drive.write_stream(offset, &data, stream).is_ok()
    }
}

/// Drives of all tests, which are as small as the FTL allows.
fn config(ftl: &str, gc: &str, mapping: &str, reserve: u32) -> DriveConfig {
    let mapping: Mapping = mapping.parse().unwrap();
    // FTLs within handles have more streams, and so has a map on flash.
    let blocks = if ftl.contains("inner=") { 80 } else { 56 };
    let blocks = if mapping.is_full() { blocks } else { blocks + 4 };
    let geometry = Geometry::new(blocks, PAGES_PER_BLOCK, PAGE_BYTES as u32).unwrap();
    let mut config = DriveConfig::new(geometry, LOGICAL_PAGES, reserve);
    config.gc = gc.parse().unwrap();
    config
}

/// An FTL in simulation.
fn build(
    ftl: &Spec,
    config: DriveConfig,
    mapping: &Mapping,
) -> Result<DynMapped<NoPayload, ()>, BuildError> {
    registry::build_for_drive(mapping, ftl, config, NoPayload, ())
}

/// Whether both tell the same of placement handles.
fn verify_handles(twin: &DynMapped<NoPayload, ()>, drive: &Drive) -> Result<(), String> {
    let (Some(expected), Some(found)) = (twin.placement_handles(), drive.placement_handles())
    else {
        let is_told = drive.placement_handles().is_some();
        return if is_told { Err("handles out of nowhere".to_owned()) } else { Ok(()) };
    };
    let told = |handle: &HandleUse| {
        let HandleUse { counters, remaining_pages, units, .. } = handle;
        let sent_bytes = counters.host_bytes(PAGE_BYTES as u32);
        (sent_bytes, counters.host_writes, counters.relocations, *remaining_pages, *units)
    };
    let pairs = expected.handles.iter().zip(&found.handles);
    let differ = |(expected, found)| told(expected) != told(found);
    if expected.latest != found.latest || pairs.into_iter().any(differ) {
        return Err(format!("of handles: {found:?}, not {expected:?}"));
    }
    Ok(())
}

/// What operation `version` writes to a page; zeros if none did.
fn content(lpn: u32, version: u64) -> [u8; PAGE_BYTES] {
    let mut page = [0; PAGE_BYTES];
    if version > 0 {
        let mut random = Random::new(version << 20 | u64::from(lpn));
        page.fill_with(|| random.below(256) as u8);
    }
    page
}

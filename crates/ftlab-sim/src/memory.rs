//! How much memory an experiment takes, before it begins.
//!
//! A test compares the estimate with what every FTL takes at most: it is at least as much, and at most 1.3 times and
//! [`SLACK_BYTES`].

use crate::SimError;
use crate::frames::CELLS_MAX;
use crate::mappings::Mappings;
use ftlab_feed::Footprint;
use ftlab_feed::INTERVALS_MAX;
use ftlab_feed::WorkloadWatch;
use ftlab_flash::Lpn;
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::{DriveConfig, Hints, Lifetime};
use ftlab_ftl::registry::{self, DriveShape, OracleGroup};
use ftlab_host::{Arrivals, Interval, RequestPart, Timing};
use ftlab_spec::Spec;
use ftlab_stack::{AnyFtl, OwnPolicies, SlcCache};
use ftlab_trace::available_bytes;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What hardly depends on drive and workload: buffers of readers, stacks of threads, names and results.
pub const SLACK_BYTES: u64 = 4 << 20;

/// Bytes per erase block for what is watched of it, and for sorting that at the end.
const BLOCK_BYTES: u64 = 32;
/// Bytes per erase block with a clock: operations under way, and cycles.
const TIMED_BLOCK_BYTES: u64 = 12;
/// Bytes per erase block for a picture of the flash.
const PICTURE_BLOCK_BYTES: u64 = 32;
/// Bytes of the pictures that are kept: for each cell, and beside these.
const CELL_BYTES: u64 = 64 * 3;
const PICTURES_BYTES: u64 = 64 * 2048;
/// Bytes for each FTL: totals at even distances, rounds, names.
const FTL_BYTES: u64 = 256 << 10;
/// Bytes for each FTL with a clock: response times.
const CLOCK_BYTES: u64 = 256 << 10;
/// Bytes per interval of an FTL for what happened in it, and with a clock for how long that took: in vectors that
/// double, and in results.
const INTERVAL_BYTES: u64 = 7 * 8;
const INTERVAL_TIMES_BYTES: u64 = 8 * 8;
/// Bytes per page write and per logical page of a first pass over the workload.
const LIFETIME_BYTES: u64 = 4;
const LOOK_AHEAD_PAGE_BYTES: u64 = 28;

/// What decides how much memory an experiment takes.
pub(crate) struct Needs<'a> {
    pub(crate) ftls: &'a [Spec],
    pub(crate) policies: &'a OwnPolicies,
    pub(crate) drive: &'a DriveConfig,
    pub(crate) slc_cache: Option<SlcCache>,
    pub(crate) mappings: &'a Mappings,
    pub(crate) oracle: &'a [OracleGroup],
    pub(crate) timing: Option<&'a Timing>,
    pub(crate) has_faults: bool,
    /// Whether pages and blocks are watched.
    pub(crate) observe: bool,
    /// What FTLs ask for.
    pub(crate) hints: Vec<Hints>,
    /// Whether the host may write pages in part.
    pub(crate) has_parts: bool,
    /// Page writes of the fill.
    pub(crate) filled: u64,
    /// Page writes after it, those of the warm-up included, if that is known: a workload may end before those that are
    /// asked for.
    pub(crate) page_writes: Option<u64>,
    /// Page writes that are counted at most, if that is known.
    pub(crate) counted: Option<u64>,
    pub(crate) interval_writes: u64,
    pub(crate) batch_writes: u64,
}

impl Needs<'_> {
    /// Bytes that it takes at most, at once.
    pub(crate) fn bytes(&self) -> Result<u64, SimError> {
        let pairs = self
            .ftls
            .iter()
            .flat_map(|ftl| self.mappings.each().iter().map(move |mapping| (ftl, mapping)));
        let mut ftls = pairs.map(|(ftl, mapping)| self.ftl_bytes(ftl, mapping));
        let ftls = ftls.try_fold(0, |sum: u64, of| Ok::<_, SimError>(sum.saturating_add(of?)))?;
        let shared = self.decoding_bytes().saturating_add(self.look_ahead_bytes());
        let bytes = ftls.saturating_add(shared);
        // Memory is handed out in whole pages, and in huge ones.
        Ok(bytes.saturating_add(bytes / 32).saturating_add(SLACK_BYTES))
    }

    /// Bytes of an FTL, and of what is recorded of it.
    fn ftl_bytes(&self, ftl: &Spec, mapping: &Mapping) -> Result<u64, SimError> {
        let (ftl, drive) = registry::in_units(ftl, *self.drive)?;
        let engine = mapping.of_engine(drive)?;
        let shape = DriveShape::new(&engine);
        let fitted = self.policies.fit(&ftl, shape, self.oracle)?;
        let mut block_bytes = BLOCK_BYTES;
        let mut bytes = self.policies.memory_bytes(&fitted, shape)?.saturating_add(FTL_BYTES);
        let intervals = (self.counted.unwrap_or(0) / self.interval_writes).min(INTERVALS_MAX);
        let room = intervals.next_power_of_two();
        let has_clock = self.timing.is_some();
        let mut add = |more: u64| bytes = bytes.saturating_add(more);
        add(room * INTERVAL_BYTES);
        if has_clock || self.has_faults || self.observe {
            block_bytes += TIMED_BLOCK_BYTES;
            add(CLOCK_BYTES);
        }
        if has_clock {
            add(room * size_of::<Interval>() as u64 + intervals * INTERVAL_TIMES_BYTES);
        }
        if self.observe {
            block_bytes += PICTURE_BLOCK_BYTES;
            add(u64::from(drive.logical_pages).saturating_mul(AnyFtl::WATCH_PAGE_BYTES));
            add(u64::from(shape.blocks.min(CELLS_MAX)) * CELL_BYTES + PICTURES_BYTES);
        }
        if let Some(cache) = self.slc_cache {
            add(cache.memory_bytes(&drive.geometry, drive.logical_pages));
        }
        add(mapping.memory_bytes(&engine));
        add(u64::from(shape.blocks) * block_bytes);
        Ok(bytes)
    }

    /// Bytes of what is decoded and waits for the FTLs.
    fn decoding_bytes(&self) -> u64 {
        let mut write_bytes = size_of::<Lpn>();
        if self.hints.contains(&Hints::Streams) {
            write_bytes += size_of::<u16>();
        }
        if self.hints.contains(&Hints::Lifetimes) {
            write_bytes += size_of::<Lifetime>();
        }
        if self.has_parts {
            write_bytes += size_of::<i32>();
        }
        if self.timing.is_some_and(Timing::has_requests) {
            write_bytes += size_of::<RequestPart>();
        } else if self.timing.is_some_and(|timing| timing.arrivals() == Arrivals::Trace) {
            write_bytes += size_of::<u64>();
        }
        if self.mappings.ask_for_requests() {
            write_bytes += size_of::<u32>();
        }
        let most = self.page_writes.map_or(u64::MAX, |writes| writes.max(self.filled));
        let pages = u64::from(self.drive.logical_pages);
        let watch = if self.observe { pages * WorkloadWatch::PAGE_BYTES } else { 0 };
        // One chunk is decoded while another is processed, and vectors may have twice the room.
        let chunks = most.min(self.batch_writes.saturating_mul(2));
        let seen = watch.saturating_add(Footprint::bytes(self.drive.logical_pages));
        chunks.saturating_mul(2 * write_bytes as u64).saturating_add(seen)
    }

    /// Bytes of the lifetimes of all page writes. Those of a trace are seen only when it is read, and checked then.
    fn look_ahead_bytes(&self) -> u64 {
        if !self.hints.contains(&Hints::Lifetimes) {
            return 0;
        }
        let pages = u64::from(self.drive.logical_pages);
        let writes = self.filled.saturating_add(self.page_writes.unwrap_or(0));
        writes.saturating_mul(LIFETIME_BYTES).saturating_add(pages * LOOK_AHEAD_PAGE_BYTES)
    }
}

/// What experiments in this process have been promised, so that several at a time do not count on the same memory.
static PROMISED: Mutex<Promised> =
    Mutex::new(Promised { bytes: 0, available_before: None, limit: None });

struct Promised {
    bytes: u64,
    /// What was available before the first promise.
    available_before: Option<u64>,
    /// What all promises together may come to.
    limit: Option<u64>,
}

impl Promised {
    /// What a further experiment may have; what was promised may be in use by now, or not yet.
    fn left(&mut self, available: Option<u64>) -> Option<u64> {
        if self.bytes == 0 {
            self.available_before = available;
        }
        let before = self.most().map(|bytes| bytes.saturating_sub(self.bytes));
        [available, before].into_iter().flatten().min()
    }

    /// What all promises together can come to.
    fn most(&self) -> Option<u64> {
        [self.available_before, self.limit].into_iter().flatten().min()
    }
}

/// Told when a promise is given back.
static GIVEN_BACK: Condvar = Condvar::new();

fn promised() -> MutexGuard<'static, Promised> {
    PROMISED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// After [`SimError::Memory`]: waits until another experiment of this process gives back what it was promised. `false`
/// if that would not help. Who waits must hold no [`Prepared`](crate::Prepared).
pub fn wait_for_memory(needed_bytes: u64) -> bool {
    let mut promised = promised();
    if promised.bytes == 0 {
        return promised.left(available_bytes()).is_none_or(|left| needed_bytes <= left);
    }
    if promised.most().is_some_and(|most| needed_bytes > most) {
        return false;
    }
    drop(GIVEN_BACK.wait(promised).unwrap_or_else(PoisonError::into_inner));
    true
}

/// Lets the experiments of this process, and what else asks for a [`MemoryShare`], have no more than this together,
/// whatever is available.
pub fn limit_memory(bytes: u64) {
    promised().limit = Some(bytes);
}

/// Memory that something beside experiments may take, until it is dropped.
pub struct MemoryShare(
    #[expect(dead_code, reason = "it is given back when it is dropped")] Promise,
);

impl MemoryShare {
    /// Refused if there is less: see [`wait_for_memory`].
    pub fn new(needed_bytes: u64) -> Result<Self, SimError> {
        Promise::new(needed_bytes, 0).map(Self)
    }
}

/// Memory that an experiment may take, until it is dropped.
pub(crate) struct Promise {
    pub(crate) bytes: u64,
}

impl Promise {
    /// Refuses an experiment that does not fit into memory, with the number of its FTLs.
    pub(crate) fn new(needed_bytes: u64, ftls: usize) -> Result<Self, SimError> {
        let mut promised = promised();
        let left = promised.left(available_bytes());
        check(needed_bytes, ftls, left)?;
        promised.bytes = promised.bytes.saturating_add(needed_bytes);
        Ok(Self { bytes: needed_bytes })
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        promised().bytes -= self.bytes;
        GIVEN_BACK.notify_all();
    }
}

fn check(needed_bytes: u64, ftls: usize, available_bytes: Option<u64>) -> Result<(), SimError> {
    match available_bytes {
        Some(available_bytes) if needed_bytes > available_bytes => {
            Err(SimError::Memory { ftls, needed_bytes, available_bytes })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_refused_with_the_numbers() {
        assert!(check(100 << 20, 1, Some(1 << 30)).is_ok());
        assert!(check(1 << 50, 1000, None).is_ok());
        let error = check(9_019_431_322, 1000, Some(130 << 20)).unwrap_err().to_string();
        assert!(
            error.starts_with("1000 FTLs on this drive need 8.400 GiB of memory, and 130 MiB are"),
            "{error}"
        );
        for remedy in ["--logical", "fewer FTLs", "--threads 1"] {
            assert!(error.contains(remedy), "{error}");
        }
    }

    #[test]
    fn what_is_promised_is_not_promised_again() {
        let mut promised = Promised { bytes: 0, available_before: None, limit: None };
        assert_eq!(promised.left(Some(100)), Some(100));
        promised.bytes = 60;
        assert_eq!(promised.left(Some(100)), Some(40), "the first has not begun to use it");
        assert_eq!(promised.left(Some(30)), Some(30), "others have taken some");
        promised.bytes = 0;
        assert_eq!((promised.left(Some(90)), promised.left(None)), (Some(90), None));
        promised.limit = Some(50);
        assert_eq!((promised.left(Some(90)), promised.left(None)), (Some(50), Some(50)));
        promised.bytes = 20;
        assert_eq!(promised.left(Some(90)), Some(30), "no more than the limit together");
    }
}

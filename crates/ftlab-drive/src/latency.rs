//! Delays replies as real flash would (`--emulate-latency`).
//!
//! The media report every operation to a clock, which computes when the emulated flash would be
//! done ([`ftlab_flash::Chip`]). An operation is carried out at once, on the thread of the front
//! end, and stores its completion time with that thread; the front end replies no earlier. So
//! garbage collection costs the host time, as on hardware, and any number of requests may be
//! pending.

use ftlab_flash::{AtOnce, BlockId, Flash, Geometry, NoPayload, Page, Ppn, Purpose, Timed};
use ftlab_host::Timing;
use std::cell::Cell;
use std::time::{Duration, Instant};

thread_local! {
    /// When the operations requested by this thread would be complete.
    static DUE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// When the operations that this thread has requested since the last call would be complete; `None`
/// if no flash is emulated.
#[inline]
pub fn take_due() -> Option<Instant> {
    DUE.take()
}

/// What [`take_due`] returns, without resetting it.
#[inline]
pub fn due() -> Option<Instant> {
    DUE.get()
}

/// Records for the front end when an operation of this thread would be complete.
pub fn set_due(due: Instant) {
    DUE.set(DUE.get().max(Some(due)));
}

/// The emulated clock of the flash.
#[derive(Debug)]
pub(crate) struct Clock {
    flash: Timed<NoPayload>,
    /// When the clock of its chip was at 0.
    begin: Instant,
}

impl Clock {
    /// `erases` has how often a block has been erased.
    pub(crate) fn new(
        timing: &Timing,
        geometry: &Geometry,
        erases: impl Fn(BlockId) -> u32,
    ) -> Self {
        let mut chip = timing.chip(geometry);
        (0..geometry.blocks()).map(BlockId).for_each(|block| chip.wear(block, erases(block)));
        Self { flash: Timed::new(NoPayload, chip, AtOnce), begin: Instant::now() }
    }

    /// Sets the clock of the chip: what the host asks for arrives now.
    pub(crate) fn arrive(&mut self) {
        let now_ns = self.begin.elapsed().as_nanos() as u64;
        self.flash.chip_mut().pass_to(now_ns);
    }

    /// Leaves for the front end when what the host asked for is complete.
    fn leave(&mut self) {
        if let Some(done_ns) = self.flash.chip_mut().take_answer().done_ns {
            set_due(self.begin + Duration::from_nanos(done_ns));
        }
    }

    pub(crate) fn program(&mut self, to: Ppn, page: Page<'_>, purpose: Purpose) {
        let Ok(()) = self.flash.program(to, page, purpose);
        self.leave();
    }

    pub(crate) fn erase(&mut self, block: BlockId, purpose: Purpose) {
        let Ok(()) = self.flash.erase(block, purpose);
    }

    /// A translation page is read.
    pub(crate) fn map_read(&mut self, from: Ppn, purpose: Purpose) {
        let Ok(()) = self.flash.read(from, &mut [], purpose);
        self.leave();
    }

    /// The host reads a page.
    pub(crate) fn host_read(&mut self, from: Ppn) {
        self.arrive();
        self.flash.chip_mut().read_for_host(from);
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CreateOptions, Drive, OpenOptions, Store};
    use ftlab_ftl::page::DriveConfig;
    use std::path::Path;

    const PAGE_BYTES: u64 = 4096;

    /// A drive whose flash takes 2 ms to program a page and 1 ms to read one, on four LUNs.
    fn slow_drive(path: &Path) -> Drive {
        let config = DriveConfig::new(Geometry::new(88, 16, PAGE_BYTES as u32).unwrap(), 1024, 4);
        let ftl = "1r-greedy".parse().unwrap();
        Drive::create(
            path,
            &CreateOptions {
                ftl,
                config,
                mapping: ftlab_ftl::map::Mapping::FULL,
                checkpoint_every: None,
            },
        )
        .unwrap();
        let timing = "slc:program-us=2000,read-us=1000,luns=4".parse().unwrap();
        let timing = Some(Timing::from_spec(&timing).unwrap());
        Drive::open(path, OpenOptions { timing, ..OpenOptions::default() }).unwrap()
    }

    #[test]
    fn operations_are_due_when_their_luns_are_done() {
        let directory = tempfile::tempdir().unwrap();
        let drive = slow_drive(&directory.path().join("drive"));
        let millisecond = Duration::from_millis(1);
        let expect = |least: Duration, operation: &mut dyn FnMut()| {
            let begin = Instant::now();
            operation();
            let (due, end) = (take_due().unwrap(), Instant::now());
            assert!(due >= begin + least, "{:?}", due - begin);
            assert!(due <= end + least, "{:?}", due - end);
            std::thread::sleep(due.saturating_duration_since(end));
        };
        // Sixteen pages on four LUNs, and one page.
        expect(8 * millisecond, &mut || drive.write(0, &vec![1; 16 << 12]).unwrap());
        expect(2 * millisecond, &mut || drive.write(0, &[2; 1 << 12]).unwrap());
        expect(millisecond, &mut || drive.read(4096, &mut [0; 1 << 12]).unwrap());
        // Pages without data are not read from flash.
        drive.read(1 << 20, &mut [0; 4096]).unwrap();
        assert_eq!(take_due(), None);
    }

    #[test]
    fn collections_take_time() {
        let directory = tempfile::tempdir().unwrap();
        let drive = slow_drive(&directory.path().join("drive"));
        let begin = Instant::now();
        let mut random = 1_u64;
        for _ in 0..4096 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            drive.write((random >> 33) % 1024 * PAGE_BYTES, &[1; 4096]).unwrap();
        }
        let counters = drive.snapshot().counters;
        assert!(counters.relocations() > 100);
        let programs = Duration::from_millis(2) * counters.programs() as u32 / 4;
        assert!(take_due().unwrap() >= begin + programs);
    }
}

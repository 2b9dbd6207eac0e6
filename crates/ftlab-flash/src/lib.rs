//! The medium under a flash translation layer: geometry, page and block numbers, and the [`Flash`]
//! trait with its twins.
//!
//! NAND flash is programmed a page at a time, in order within an erase block, and erased a block at a
//! time. [`NoPayload`] keeps nothing and compiles away, for simulation; [`Memory`] keeps every page
//! and refuses whatever real flash could not do, for tests; [`Timed`] adds time
//! to either, and [`Faulty`] failures.
//!
//! ```
//! use ftlab_flash::{Flash, Geometry, Lpn, Memory, Ppn};
//!
//! let geometry = Geometry::new(4, 16, 512)?;
//! let mut flash = Memory::new(geometry);
//! flash.program(Ppn(0), Lpn(7), &[0xab; 512])?;
//! let mut page = [0; 512];
//! flash.read(Ppn(0), &mut page)?;
//! assert_eq!(page, [0xab; 512]);
//! assert!(flash.program(Ppn(0), Lpn(7), &[0; 512]).is_err(), "no overwrite in place");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod by;
mod cells;
mod faulty;
mod flash_page;
mod geometry;
mod host_op;
mod interval_times;
mod ledger;
mod luns;
mod memory;
mod merge;
mod no_payload;
mod occupation;
mod occupied;
mod owner;
mod page_times;
mod read_retries;
mod response_times;
mod schedule;
mod striping;
mod timed;
mod timeline;
mod timers;
mod timing;
mod waits;
mod weights;
mod write_buffer;

pub use by::By;
pub use faulty::{Failures, Faults, Faulty, FaultyError};
pub use flash_page::FlashPage;
pub use geometry::{BLOCKS_MAX, BlockId, BlockOf, Geometry, GeometryError, Lpn, PAGES_MAX, Ppn};
pub use host_op::HostOp;
pub use memory::{Memory, MemoryError};
pub use merge::Merge;
pub use no_payload::NoPayload;
pub use occupied::Occupied;
pub use page_times::PageTimes;
pub use read_retries::ReadRetries;
pub use response_times::{Recorder, ResponseTimes};
pub use timed::{
    Arrival, Asker, Awaited, Group, GroupTimes, Interval, Measured, RequestTimes, Step, Timed,
};
pub use timeline::{LunWork, Slice, SlowRequest};
pub use timing::{
    Arrivals, GcPriority, Layout, PageTypes, Priority, Suspend, TIMINGS, Timing, TimingParameters,
    TimingPreset, Unit,
};
pub use waits::{Alike, Wait, WaitTimes, Waits};
pub use weights::Weights;
pub use write_buffer::{Acknowledgement, BufferCounts, BufferedWrite, WriteBuffer};

/// What an FTL does to the medium.
///
/// The caller programs a page only after its block was erased, and the pages of a block in
/// ascending order; an implementation may refuse anything else. Hybrid-mapped FTLs alone program data
/// blocks in any order, and need an implementation that lets them. A page holds `page_bytes` bytes, or
/// none at all where the medium keeps no data.
pub trait Flash {
    /// What can go wrong; [`std::convert::Infallible`] where nothing can.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Whether blocks can wear out or be bad; where not, what an FTL does about that compiles away.
    const WEARS_OUT: bool = false;

    /// The host's next page write begins: whatever the FTL does from here to the
    /// [`program`](Self::program) of that page, the host waits for. Every FTL calls it first of all
    /// in a host write; a medium without time does nothing.
    #[inline]
    fn begin_host_write(&mut self) {}

    /// The next program is of the page that `from` holds: a copy, which no host writes. What is done up to that makes
    /// room for it. A medium without time does nothing.
    #[inline]
    fn begin_fold(&mut self, _from: Ppn) {}

    /// Programs the erased page `to` with `data`, the new content of `lpn`.
    fn program(&mut self, to: Ppn, lpn: Lpn, data: &[u8]) -> Result<(), Self::Error>;

    /// Copies the page `from`, which holds `lpn`, to the erased page `to`.
    fn copyback(&mut self, from: Ppn, to: Ppn, lpn: Lpn) -> Result<(), Self::Error>;

    /// A [`copyback`](Self::copyback) that is part of a merge of log and data blocks, not of a
    /// collection. A medium that need not tell them apart leaves it as it is.
    #[inline]
    fn merge_copy(&mut self, from: Ppn, to: Ppn, lpn: Lpn) -> Result<(), Self::Error> {
        self.copyback(from, to, lpn)
    }

    /// A [`merge_copy`](Self::merge_copy) of each of these pages, in order, up to the first that fails.
    #[inline]
    fn merge(&mut self, merge: Merge) -> Result<(), Self::Error> {
        merge.copies().try_for_each(|(from, to, lpn)| self.merge_copy(from, to, lpn))
    }

    /// Erases all pages of `block`.
    fn erase(&mut self, block: BlockId) -> Result<(), Self::Error>;

    /// Reads the programmed page `from` into `data`.
    fn read(&mut self, from: Ppn, data: &mut [u8]) -> Result<(), Self::Error>;

    /// Whether `block` was bad from birth and must not be used.
    fn is_bad(&self, _block: BlockId) -> bool {
        false
    }

    /// Whether `error` says that the block of a program, copyback or erase is worn out: its pages are
    /// still readable, and it must not be programmed or erased again.
    fn is_wear_out(_error: &Self::Error) -> bool {
        false
    }
}

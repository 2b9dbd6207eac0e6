//! The medium under a flash translation layer: geometry, page and block numbers, and the [`Flash`]
//! trait with its twins.
//!
//! NAND flash is programmed a page at a time, in order within an erase block, and erased a block at a
//! time. [`NoPayload`] keeps nothing and compiles away, for simulation; [`Memory`] keeps every page
//! and refuses whatever real flash could not do, for tests; [`Timed`] adds time
//! to either, [`Faulty`] failures, and [`Counted`] counts what was done by its [`Cause`].
//!
//! ```
//! use ftlab_flash::{Cause, Flash, Geometry, Lpn, Memory, Page, Ppn};
//!
//! let geometry = Geometry::new(4, 16, 512)?;
//! let mut flash = Memory::new(geometry);
//! let by_host = Cause::Host.awaited();
//! flash.program(Ppn(0), Page::new(Lpn(7), &[0xab; 512]), by_host)?;
//! let mut page = [0; 512];
//! flash.read(Ppn(0), &mut page, Cause::Host.unawaited())?;
//! assert_eq!(page, [0xab; 512]);
//! let again = flash.program(Ppn(0), Page::new(Lpn(7), &[0; 512]), by_host);
//! assert!(again.is_err(), "no overwrite in place");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod cause;
mod cells;
mod chip;
mod counted;
mod faulty;
mod flash_page;
mod gate;
mod geometry;
mod hint;
mod ledger;
mod luns;
mod memory;
mod merge;
mod no_payload;
mod occupation;
mod occupied;
mod owner;
mod page;
mod page_times;
mod parameters;
mod read_retries;
mod schedule;
mod striping;
mod timed;
mod timeline;
mod timers;
mod unit;
mod waits;
mod work;

pub use cause::{Cause, Purpose};
pub use chip::{Answer, Chip};
pub use counted::{Counted, Operations};
pub use faulty::{Failures, Faults, Faulty, FaultyError};
pub use flash_page::FlashPage;
pub use gate::Gate;
pub use geometry::{BLOCKS_MAX, BlockId, BlockOf, Geometry, GeometryError, Lpn, PAGES_MAX, Ppn};
pub use hint::{Hint, Lifetime, NO_HANDLE};
pub use memory::{Memory, MemoryError};
pub use merge::Merge;
pub use no_payload::NoPayload;
pub use occupied::Occupied;
pub use owner::{NOBODY, Owner};
pub use page::{Content, Page};
pub use page_times::PageTimes;
pub use parameters::{
    ChipParameters, ChipTimes, GcPriority, Layout, LunChoice, LunOrder, PageKinds, PageTypes,
    Priority, Suspend,
};
pub use read_retries::ReadRetries;
pub use schedule::ReadOrder;
pub use timed::{AtOnce, Pace, Timed};
pub use timeline::{Log, LunWork, Slice};
pub use timers::{NEVER, Timers};
pub use unit::Unit;
pub use waits::{Wait, Waits};
pub use work::Work;

/// What an FTL does to the medium, and what each operation is for.
///
/// The caller programs a page only after its block was erased, and the pages of a block in
/// ascending order; an implementation may refuse anything else. Hybrid-mapped FTLs alone program data
/// blocks in any order, and need an implementation that lets them. A page holds `page_bytes` bytes, or
/// none at all where the medium keeps no data.
///
/// For each page write of the host, what is [awaited](Purpose::is_awaited) comes first, and last of it the program of
/// that page, or of its unit; then comes what nobody waits for.
pub trait Flash {
    /// What can go wrong; [`std::convert::Infallible`] where nothing can.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Whether blocks can wear out or be bad; where not, what an FTL does about that compiles away.
    const WEARS_OUT: bool = false;

    /// Programs the erased page `to` with a page: new content, or a copy.
    fn program(&mut self, to: Ppn, page: Page<'_>, purpose: Purpose) -> Result<(), Self::Error>;

    /// [Programs](Self::program) a copy of each of these pages, in order, up to the first that fails.
    #[inline]
    fn merge(&mut self, merge: Merge, purpose: Purpose) -> Result<(), Self::Error> {
        merge.copies().try_for_each(|(to, page)| self.program(to, page, purpose))
    }

    /// [Programs](Self::program) the pages of a unit in order, up to the first that fails.
    #[inline]
    fn program_unit(&mut self, unit: &Unit, purpose: Purpose) -> Result<(), Self::Error> {
        unit.programs(purpose).try_for_each(|(to, page, purpose)| self.program(to, page, purpose))
    }

    /// Erases all pages of `block`.
    fn erase(&mut self, block: BlockId, purpose: Purpose) -> Result<(), Self::Error>;

    /// Reads the programmed page `from` into `data`.
    fn read(&mut self, from: Ppn, data: &mut [u8], purpose: Purpose) -> Result<(), Self::Error>;

    /// [Reads](Self::read) the programmed page `from`, which holds the page `lpn` of a map.
    #[inline]
    fn read_map_page(
        &mut self,
        from: Ppn,
        _lpn: Lpn,
        data: &mut [u8],
        purpose: Purpose,
    ) -> Result<(), Self::Error> {
        self.read(from, data, purpose)
    }

    /// Reads from the spare areas of `block` what its programmed pages hold, by their places in it, until that is right.
    /// Whoever keeps the map in memory as a whole does not ask; a medium that cannot tell leaves `owners` as they are.
    fn owners(
        &mut self,
        _block: BlockId,
        _owners: &mut [Lpn],
        _is_right: &dyn Fn(&[Lpn]) -> bool,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    /// The spare areas of `block` are damaged: its pages hold these, as far as they are known.
    fn mend_owners(&mut self, _block: BlockId, _owners: &[Lpn]) {}

    /// The programmed page `at`, which holds the page `lpn` of a map, cannot be read: this is what it is to tell.
    fn mend_map_page(&mut self, _at: Ppn, _lpn: Lpn, _data: &[u8]) {}

    /// A part of a map that is elsewhere is read in this time, for which the next page that the host reads or writes
    /// waits.
    #[inline]
    fn await_map(&mut self, _time_ns: u64) {}

    /// Whether `block` was bad from birth and must not be used.
    fn is_bad(&self, _block: BlockId) -> bool {
        false
    }

    /// Whether `error` says that the block of a program or erase is worn out: its pages are
    /// still readable, and it must not be programmed or erased again.
    fn is_wear_out(_error: &Self::Error) -> bool {
        false
    }
}

//! Indirection units: what an entry of a map tells the place of, if that is more than a page.
//!
//! The pages of the engine are units, so the host's pages of a unit lie side by side on flash, and every table of the
//! engine and of its policy has an entry a unit. What is below sees the pages of the drive: flash is programmed, read
//! and copied page by page.
//!
//! Consecutive pages of one request that are in one unit are one write of that unit. If they are not all of it, the
//! others are read, where the unit holds something, and programmed with them: a read-modify-write. A request that
//! comes later, with the next page, is another write. A trim gives up the units that it covers; of others it gives up
//! nothing. So a unit holds all of its pages, or none.

use crate::page::{DriveConfig, Refresh};
use ftlab_flash::{BlockId, Cause, Content, Flash, Geometry, Lpn, Page, Ppn, Purpose, Unit};
use ftlab_spec::ByteSize;
use std::ops::Range;

/// How many pages a unit has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnitPages {
    pub(super) pages: u32,
}

impl UnitPages {
    pub(super) fn new(pages: u32) -> Self {
        Self { pages: pages.max(1) }
    }

    /// Whether a unit is a page.
    #[inline]
    pub(super) fn is_one(self) -> bool {
        self.pages == 1
    }

    /// The unit of a page, and which one of its pages that is.
    #[inline]
    pub(super) fn of(self, page: u32) -> (u32, u32) {
        if self.is_one() { (page, 0) } else { (page / self.pages, page % self.pages) }
    }

    /// The drive with units of this size as pages; what such a unit would have to be, if it cannot be one.
    pub(super) fn of_engine(unit: ByteSize, config: DriveConfig) -> Result<DriveConfig, String> {
        let geometry = config.geometry;
        let (page_bytes, block_pages) = (geometry.page_bytes(), geometry.pages_per_block());
        let pages = unit.0 / u64::from(page_bytes);
        if pages < 2 || !unit.0.is_multiple_of(u64::from(page_bytes)) {
            return Err(format!("several pages of {page_bytes} bytes; give a multiple of them"));
        }
        if 2 * pages > u64::from(block_pages) {
            let bytes = u64::from(block_pages) * u64::from(page_bytes);
            return Err(format!(
                "at least two units to a block, which has {bytes} bytes; give a smaller one, or --pages-per-block"
            ));
        }
        let pages = pages as u32;
        if !block_pages.is_multiple_of(pages) {
            return Err(format!(
                "{pages} pages, which divide blocks of {block_pages} pages; give another one, or --pages-per-block"
            ));
        }
        if config.refresh != Refresh::default() {
            return Err("possible with --refresh, which counts pages; leave out one of them".into());
        }
        let in_units = Geometry::new(geometry.blocks(), block_pages / pages, page_bytes * pages);
        let geometry = in_units.map_err(|error| format!("possible: {error}"))?;
        Ok(DriveConfig {
            geometry,
            logical_pages: config.logical_pages.div_ceil(pages),
            early_valid_pages_max: config.early_valid_pages_max / pages,
            gc: config.gc.in_units(pages),
            ..config
        })
    }
}

/// Flash with units for pages, over flash with the pages of the drive.
#[derive(Debug)]
pub(super) struct UnitFlash<F> {
    pub(super) below: F,
    units: UnitPages,
    /// Pages of a unit that the host writes or reads at present.
    pub(super) asked: Range<u32>,
}

impl<F: Flash> UnitFlash<F> {
    pub(super) fn new(below: F, units: UnitPages) -> Self {
        Self { below, units, asked: 0..1 }
    }

    #[inline]
    fn page(&self, unit: Ppn, page: u32) -> Ppn {
        Ppn(unit.0 * self.units.pages + page)
    }

    /// Reads those of the first `pages` pages of a unit for which the host does not ask; how many.
    pub(super) fn read_others(&mut self, unit: Ppn, pages: u32) -> Result<u32, F::Error> {
        let mut others = 0;
        for page in (0..pages).filter(|page| !self.asked.contains(page)) {
            self.below.read(
                Ppn(unit.0 * self.units.pages + page),
                &mut [],
                Cause::Rewrite.awaited(),
            )?;
            others += 1;
        }
        Ok(others)
    }
}

impl<F: Flash> Flash for UnitFlash<F> {
    type Error = F::Error;

    const WEARS_OUT: bool = F::WEARS_OUT;

    #[inline]
    fn program(&mut self, to: Ppn, page: Page<'_>, purpose: Purpose) -> Result<(), F::Error> {
        if self.units.is_one() {
            return self.below.program(to, page, purpose);
        }
        let (lpn, pages) = (Lpn(page.lpn.0 * self.units.pages), self.units.pages);
        match page.content {
            Content::New(data) => {
                debug_assert!(data.is_empty(), "units hold no data");
                let asked =
                    if purpose.cause == Cause::Host { self.asked.clone() } else { 0..pages };
                let unit = Unit { lpn, to: self.page(to, 0), pages, asked };
                self.below.program_unit(&unit, purpose)
            }
            Content::At(from) => (0..pages).try_for_each(|index| {
                let page = Page::copy(Lpn(lpn.0 + index), self.page(from, index));
                self.below.program(self.page(to, index), page, purpose)
            }),
        }
    }

    fn erase(&mut self, block: BlockId, purpose: Purpose) -> Result<(), F::Error> {
        self.below.erase(block, purpose)
    }

    #[inline]
    fn read(&mut self, from: Ppn, data: &mut [u8], purpose: Purpose) -> Result<(), F::Error> {
        if self.units.is_one() {
            return self.below.read(from, data, purpose);
        }
        debug_assert!(data.is_empty(), "units hold no data");
        let of_host = purpose.cause == Cause::Host;
        let pages = if of_host { self.asked.clone() } else { 0..self.units.pages };
        for index in pages {
            self.below.read(self.page(from, index), &mut [], purpose)?;
        }
        Ok(())
    }

    #[inline]
    fn read_map_page(
        &mut self,
        from: Ppn,
        lpn: Lpn,
        data: &mut [u8],
        purpose: Purpose,
    ) -> Result<(), F::Error> {
        if self.units.is_one() {
            return self.below.read_map_page(from, lpn, data, purpose);
        }
        self.read(from, data, purpose)
    }

    fn owners(
        &mut self,
        block: BlockId,
        owners: &mut [Lpn],
        is_right: &dyn Fn(&[Lpn]) -> bool,
    ) -> Result<(), F::Error> {
        debug_assert!(self.units.is_one(), "units hold no data");
        self.below.owners(block, owners, is_right)
    }

    fn mend_owners(&mut self, block: BlockId, owners: &[Lpn]) {
        self.below.mend_owners(block, owners);
    }

    fn mend_map_page(&mut self, at: Ppn, lpn: Lpn, data: &[u8]) {
        debug_assert!(self.units.is_one(), "units hold no data");
        self.below.mend_map_page(at, lpn, data);
    }

    #[inline]
    fn await_map(&mut self, time_ns: u64) {
        self.below.await_map(time_ns);
    }

    fn is_bad(&self, block: BlockId) -> bool {
        self.below.is_bad(block)
    }

    fn is_wear_out(error: &F::Error) -> bool {
        F::is_wear_out(error)
    }
}

//! A hybrid-mapped drive as an [`Ftl`].

use crate::hybrid::entry::FtlEntry;
use crate::hybrid::{HybridDrive, LogSize, LogSpace, Outcome};
use crate::page::{ConfigError, DriveConfig};
use crate::{
    BlockUse, Broken, Counters, DynFtl, ErrorOf, Ftl, FtlError, MemoryBytes, Metadata, Observer,
    PageWrite, StreamUse,
};
use ftlab_flash::{Cause, Flash, Lpn, Ppn};

/// How many writes ahead an entry of the map of the log is fetched.
const FETCH_MAPPING_AHEAD: usize = 24;

/// A hybrid-mapped FTL: `log` decides, and [`HybridDrive`] carries it out.
///
/// ```text
/// write(page):
///     what the log does before every write
///     if the page's place in its data block is clean: program it there
///     else the log makes room and takes it
/// ```
///
/// Nothing is allocated after construction.
pub struct Hybrid<L, F, O> {
    pub(crate) log: L,
    pub(crate) drive: HybridDrive<F, O>,
}

impl<L: LogSpace, F: Flash, O: Observer> Hybrid<L, F, O> {
    /// An erased drive, or the arithmetic why `config` is too small.
    pub fn new(
        parameters: &L::Parameters,
        config: DriveConfig,
        flash: F,
        observer: O,
    ) -> Result<Self, ConfigError> {
        if F::WEARS_OUT {
            return Err(ConfigError::NothingToRetire);
        }
        let (spare_blocks, least) = (L::spare_blocks(parameters), L::log_blocks_min(parameters));
        let log = L::new(parameters, LogSize::new(&config, spare_blocks, least)?);
        let drive = HybridDrive::new(&config, log.streams(), flash, observer);
        Ok(Self { log, drive })
    }

    #[inline]
    fn write_one(&mut self, write: PageWrite<'_>) -> Outcome<(), F> {
        self.drive.is_awaited = write.purpose.is_awaited;
        self.drive.counters.host_writes += 1;
        self.log.before_write(&mut self.drive)?;
        if self.drive.is_clean(write.page.lpn) {
            self.drive.write_in_place(write)
        } else {
            self.log.write(&mut self.drive, write)
        }
    }
}

impl<L: LogSpace> FtlEntry for L {
    type Parameters = L::Parameters;
    const NAME: &'static str = L::NAME;
    const SUMMARY: &'static str = L::SUMMARY;
    const SOURCE: &'static str = L::SOURCE;

    fn build<F: Flash + Send + 'static, O: Observer + 'static>(
        parameters: &Self::Parameters,
        config: DriveConfig,
        flash: F,
        observer: O,
    ) -> Result<DynFtl<F, O>, ConfigError> {
        Ok(Box::new(Hybrid::<L, F, O>::new(parameters, config, flash, observer)?))
    }
}

impl<L: LogSpace, F: Flash + Send, O: Observer> Ftl for Hybrid<L, F, O> {
    type Flash = F;
    type Observer = O;

    fn write_page(&mut self, write: PageWrite<'_>) -> Result<(), ErrorOf<Self>> {
        self.write_one(write)
    }

    fn trim(&mut self, lpn: Lpn) -> Result<(), ErrorOf<Self>> {
        self.drive.trim(lpn);
        Ok(())
    }

    fn read(&mut self, lpn: Lpn, data: &mut [u8]) -> Result<bool, ErrorOf<Self>> {
        match self.drive.flash_page(lpn) {
            Some(page) => {
                let read = self.drive.flash.read(page, data, Cause::Host.unawaited());
                read.map(|()| true).map_err(FtlError::Flash)
            }
            None => Ok(false),
        }
    }

    fn write_pages(&mut self, pages: &[Lpn]) -> Outcome<(), F> {
        for (index, &lpn) in pages.iter().enumerate() {
            if let Some(&soon) = pages.get(index + FETCH_MAPPING_AHEAD) {
                self.drive.prefetch_mapping(soon);
            }
            self.write_one(PageWrite::by_host(lpn, &[]))?;
        }
        Ok(())
    }

    fn fetch_ahead(&self, _near: Lpn, far: Lpn) {
        self.drive.prefetch_mapping(far);
    }

    fn counters(&self) -> Counters {
        self.drive.counters.clone()
    }

    fn streams(&self) -> Vec<StreamUse> {
        StreamUse::of(&self.drive.streams, &self.drive.stream_blocks)
    }

    fn flash_page(&self, lpn: Lpn) -> Option<Ppn> {
        self.drive.flash_page(lpn)
    }

    fn block_uses(&self) -> Vec<BlockUse> {
        let mut uses: Vec<_> = self.drive.stream_of.iter().copied().map(BlockUse::Holds).collect();
        for block in &self.drive.free {
            uses[block.index()] = BlockUse::Free;
        }
        uses
    }

    fn memory_bytes(&self) -> MemoryBytes {
        MemoryBytes { drive: self.drive.bytes(), policy: self.log.memory_bytes() }
    }

    fn metadata(&self) -> Metadata {
        self.log.metadata()
    }

    fn check(&self) -> Result<(), Broken> {
        self.drive.check().and_then(|()| self.log.check(&self.drive)).map_err(Broken)
    }

    fn flash(&self) -> &F {
        &self.drive.flash
    }

    fn flash_mut(&mut self) -> &mut F {
        &mut self.drive.flash
    }

    fn observer(&self) -> &O {
        &self.drive.observer
    }

    fn observer_mut(&mut self) -> &mut O {
        &mut self.drive.observer
    }
}

//! What the engine knows of a hybrid-mapped FTL.

use crate::hybrid::{HybridDrive, Outcome};
use crate::page::{ConfigError, DriveConfig};
use crate::stream::Stream;
use crate::{Metadata, Observer, PageWrite};
use ftlab_flash::Flash;
use ftlab_spec::Parameters;

/// Where pages go that their data blocks cannot take, and what is merged when.
pub trait LogSpace: Send + Sized + 'static {
    /// What its spec may set.
    type Parameters: Parameters;
    /// Its name in commands, files and figures.
    const NAME: &'static str;
    /// One line for lists.
    const SUMMARY: &'static str;
    /// Paper and section.
    const SOURCE: &'static str;

    /// The fewest log blocks that it can work with.
    fn log_blocks_min(parameters: &Self::Parameters) -> u32;

    /// Blocks beyond data and log: those that are merged into or written in order.
    fn spare_blocks(_parameters: &Self::Parameters) -> u32 {
        1
    }

    /// Makes one with an empty log.
    fn new(parameters: &Self::Parameters, size: LogSize) -> Self;

    /// The kinds of blocks that it keeps apart; data blocks come first.
    fn streams(&self) -> Vec<Stream>;

    /// Called before every host write, wherever that goes.
    fn before_write<F: Flash, O: Observer>(
        &mut self,
        _drive: &mut HybridDrive<F, O>,
    ) -> Outcome<(), F> {
        Ok(())
    }

    /// Writes `lpn`, whose place in its data block is taken. Its old version stays valid until the
    /// new one is programmed.
    fn write<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        write: PageWrite<'_>,
    ) -> Outcome<(), F>;

    /// Bytes of memory that it takes beside the drive's own tables.
    fn memory_bytes(&self) -> usize;

    /// What it has to remember beside both maps: block numbers only, as here.
    fn metadata(&self) -> Metadata {
        Metadata::fixed(self.memory_bytes() as u64)
    }

    /// Verifies its own invariants; the message says what is broken.
    fn check<F: Flash, O: Observer>(&self, drive: &HybridDrive<F, O>) -> Result<(), String>;
}

/// How large the log and the drive are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogSize {
    /// Blocks that take rewritten pages.
    pub log_blocks: u32,
    /// Logical blocks, each with a data block.
    pub data_blocks: u32,
    /// Pages of each of both.
    pub pages_per_block: u32,
}

impl LogSize {
    /// What is left of the drive for the log, or the arithmetic why that is too little.
    pub(crate) fn new(
        config: &DriveConfig,
        spare_blocks: u32,
        log_blocks_min: u32,
    ) -> Result<Self, ConfigError> {
        let DriveConfig { geometry, logical_pages, .. } = *config;
        if logical_pages == 0 {
            return Err(ConfigError::NoLogicalPages);
        }
        let plain = DriveConfig::new(geometry, logical_pages, config.reserve_blocks);
        if *config != plain {
            return Err(ConfigError::NothingToSchedule);
        }
        let data_blocks = logical_pages.div_ceil(geometry.pages_per_block());
        let needed = [data_blocks, spare_blocks, log_blocks_min].map(u64::from).iter().sum();
        if u64::from(geometry.blocks()) < needed {
            let spare_pages =
                needed * u64::from(geometry.pages_per_block()) - u64::from(logical_pages);
            return Err(ConfigError::TooFewLogBlocks {
                blocks: geometry.blocks(),
                pages_per_block: geometry.pages_per_block(),
                logical_pages,
                data_blocks,
                spare_blocks,
                log_blocks_min,
                needed,
                op_percent: (100 * spare_pages).div_ceil(u64::from(logical_pages)),
            });
        }
        Ok(Self {
            log_blocks: geometry.blocks() - data_blocks - spare_blocks,
            data_blocks,
            pages_per_block: geometry.pages_per_block(),
        })
    }
}

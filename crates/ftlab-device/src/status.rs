//! What a drive tells of itself, for dashboards, metrics and `ftlab drive smart`.

use crate::{HostRequests, Store};
use ftlab_ftl::Counters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything that is known of a drive while it is served.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Of ftlab.
    pub version: String,
    /// The drive.
    pub drive: DriveStatus,
    /// Flash page programs per page that the host wrote, since the drive was created.
    pub waf: Option<f64>,
    /// The same since serving began: what shadows are to be compared with.
    pub serving_waf: Option<f64>,
    /// What the host asked for.
    pub host: HostRequests,
    /// What other FTLs would have done.
    pub shadows: Vec<ShadowStatus>,
    /// The trace that is being written.
    pub recording: Option<RecordingStatus>,
    /// The timing by which replies are delayed.
    pub emulated_latency: Option<String>,
    /// The second that ended last.
    pub latest: Sample,
}

/// One second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Its end, in seconds since serving began.
    pub seconds: f64,
    /// Pages per second that the host wrote.
    pub host_writes: f64,
    /// Flash pages per second that were programmed.
    pub flash_writes: f64,
    /// Read requests per second.
    pub reads: f64,
    /// Write amplification over the last ten seconds, if the host wrote.
    pub running_waf: Option<f64>,
    /// Half of the writes of this second took no longer, in microseconds; 0 without any.
    pub write_p50_us: f64,
    /// 99% of the writes of this second took no longer, in microseconds; 0 without any.
    pub write_p99_us: f64,
    /// The same of reads.
    pub read_p99_us: f64,
    /// Free blocks.
    pub free_blocks: u32,
    /// Blocks of each region.
    pub region_blocks: Vec<u32>,
    /// The write amplification of each shadow over the last ten seconds, if the host wrote.
    pub shadow_wafs: Vec<Option<f64>>,
}

/// What another FTL would have done on the same writes since serving began. Its drive has the same size
/// and held the same pages, written in the order of their addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShadowStatus {
    /// The FTL with its parameters.
    pub ftl: String,
    /// What it did to its flash; it writes no metadata.
    pub flash: FlashCounters,
    /// Operations of the host that it has not done yet.
    pub behind: u64,
    /// Why it gave up, if it did.
    pub failure: Option<String>,
}

/// A trace that is being written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordingStatus {
    /// The file that there will be.
    pub path: String,
    /// Operations of the host in it.
    pub operations: u64,
    /// Whether it could not be written, and nothing is recorded any more.
    pub has_failed: bool,
}

/// A store that is a drive with flash below it, and says how that is.
pub trait Observed: Store {
    /// Its present state.
    fn status(&self) -> DriveStatus;
    /// The present state of every erase block.
    fn block_map(&self) -> BlockMap;
}

/// The state of a drive. Counters begin with its creation and survive restarts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriveStatus {
    /// Of this drive only.
    pub uuid: String,
    /// The FTL with its parameters, such as `2r-fifo:blk-util=0.4`.
    pub ftl: String,
    /// Bytes in a page.
    pub page_bytes: u32,
    /// Pages in an erase block.
    pub pages_per_block: u32,
    /// Erase blocks, those out of use included.
    pub blocks: u32,
    /// Pages that the host can address.
    pub logical_pages: u32,
    /// Blocks that are erased, or may be.
    pub free_blocks: u32,
    /// Blocks out of use.
    pub retired_blocks: u32,
    /// What was done to the flash.
    pub flash: FlashCounters,
    /// The groups of blocks that the FTL treats alike, such as hot and cold.
    pub regions: Vec<Region>,
    /// What went wrong.
    pub health: Health,
}

/// What was done to the flash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlashCounters {
    /// Pages programmed because the host wrote them.
    pub host_pages: u64,
    /// Pages that garbage collection moved.
    pub relocated_pages: u64,
    /// Pages that the host trimmed and that held data.
    pub trimmed_pages: u64,
    /// Collections.
    pub collections: u64,
    /// Blocks erased.
    pub erased_blocks: u64,
    /// Bytes of headers, summaries and checkpoints.
    pub metadata_bytes: u64,
}

impl FlashCounters {
    /// Those of an FTL, which knows of no metadata.
    pub(crate) fn of(counters: &Counters) -> Self {
        Self {
            host_pages: counters.host_writes,
            relocated_pages: counters.relocations() + counters.merges.copies,
            trimmed_pages: counters.trims,
            collections: counters.collections,
            erased_blocks: counters.erases(),
            metadata_bytes: 0,
        }
    }

    /// Pages programmed.
    pub fn programmed_pages(&self) -> u64 {
        self.host_pages + self.relocated_pages
    }

    /// What was done since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            host_pages: self.host_pages.saturating_sub(earlier.host_pages),
            relocated_pages: self.relocated_pages.saturating_sub(earlier.relocated_pages),
            trimmed_pages: self.trimmed_pages.saturating_sub(earlier.trimmed_pages),
            collections: self.collections.saturating_sub(earlier.collections),
            erased_blocks: self.erased_blocks.saturating_sub(earlier.erased_blocks),
            metadata_bytes: self.metadata_bytes.saturating_sub(earlier.metadata_bytes),
        }
    }

    /// Pages programmed per page that the host wrote, if it wrote any; metadata is apart.
    pub fn waf(&self) -> Option<f64> {
        (self.host_pages > 0).then(|| self.programmed_pages() as f64 / self.host_pages as f64)
    }
}

/// A group of blocks that the FTL treats alike.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Region {
    /// What the FTL calls it.
    pub name: String,
    /// Whether it is meant for data that is rarely written.
    pub cold: bool,
    /// Blocks that belong to it now.
    pub blocks: u32,
}

/// What went wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Why nothing can be written any more, if so.
    pub read_only: Option<String>,
    /// Reads of pages whose content was not what had been written: bit rot that was found.
    pub media_errors: u64,
    /// How often the drive was opened without having been closed.
    pub unsafe_shutdowns: u64,
}

/// The state of every erase block: all lists are as long as there are blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockMap {
    /// A letter per block: `f`ree, `o`pen, `s`ealed, `r`etired.
    pub phases: String,
    /// The region of each block, by its place in [`DriveStatus::regions`]; 0 for free blocks.
    pub regions: Vec<u8>,
    /// How many of the block's pages hold data of the host.
    pub valid_pages: Vec<u32>,
    /// How often each block was erased.
    pub erases: Vec<u32>,
}

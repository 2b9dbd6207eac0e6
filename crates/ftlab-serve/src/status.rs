//! The status of a drive, for dashboards, metrics and `ftlab drive smart`.

use crate::HostRequests;
use ftlab_drive::Store;
use ftlab_ftl::{Counters, HandleEvent, HandleEventKind, colours};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The complete status of a drive that is being served.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// The version of ftlab.
    pub version: String,
    /// The drive.
    pub drive: DriveStatus,
    /// Write amplification, which is of pages: flash page programs per page that the host wrote, since the drive was
    /// created.
    pub waf: Option<f64>,
    /// Bytes that the host sent with these pages: as it sent them, and from before serving began in whole pages.
    #[serde(default)]
    pub host_bytes: u64,
    /// Media bytes per host byte: bytes of the pages that were programmed, without metadata, per byte that the host
    /// sent. More than `waf` if it wrote pages in part.
    #[serde(default)]
    pub media_bytes_per_host_byte: Option<f64>,
    /// Its flash counters since serving began, for comparison with shadows.
    pub serving: FlashCounters,
    /// The requests of the host.
    pub host: HostRequests,
    /// Its placement handles, if it has any.
    pub placement: Option<PlacementStatus>,
    /// The shadows: other FTLs on the same writes.
    pub shadows: Vec<ShadowStatus>,
    /// How the FTL of the drive and those of the shadows are drawn, the same as in figures.
    pub styles: Vec<LineStyle>,
    /// The recording in progress, if any.
    pub recording: Option<RecordingStatus>,
    /// The timing by which replies are delayed.
    pub emulated_latency: Option<String>,
    /// The sample of the last second.
    pub latest: Sample,
}

impl Status {
    /// Bytes that the host sent since the drive was created. The drive keeps count of pages, so those from before serving
    /// began count whole.
    pub(crate) fn sent_bytes(&self) -> u64 {
        let earlier = self.drive.flash.host_pages.saturating_sub(self.serving.host_pages);
        earlier * u64::from(self.drive.page_bytes) + self.host.writes.bytes
    }

    /// The status with what follows from the bytes of the host.
    pub(crate) fn with_host_bytes(self) -> Self {
        let host_bytes = self.sent_bytes();
        let pages = self.drive.flash.programmed_pages();
        let media_bytes = pages as f64 * f64::from(self.drive.page_bytes);
        let ratio = (host_bytes > 0).then(|| media_bytes / host_bytes as f64);
        Self { host_bytes, media_bytes_per_host_byte: ratio, ..self }
    }
}

/// How an FTL is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineStyle {
    /// Which of the seven colours.
    pub colour: usize,
    /// 0 for a line, more for dashes where another FTL has the same colour.
    pub dash: usize,
}

impl LineStyle {
    /// Those of FTLs that are drawn together.
    pub(crate) fn of(ftls: &[&str]) -> Vec<Self> {
        let styles = colours::styles(ftls).into_iter();
        styles.map(|colours::Style { colour, dash }| Self { colour, dash }).collect()
    }
}

/// The sample of one second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Its end, in seconds since serving began.
    pub seconds: f64,
    /// Pages written by the host per second.
    pub host_writes: f64,
    /// Flash pages programmed per second.
    pub flash_writes: f64,
    /// Read requests per second.
    pub reads: f64,
    /// Write amplification over the last ten seconds, if the host wrote.
    pub running_waf: Option<f64>,
    /// Median duration of the writes of this second, in microseconds; 0 if there were none.
    pub write_p50_us: f64,
    /// 99th percentile of the duration of the writes of this second, in microseconds; 0 if there
    /// were none.
    pub write_p99_us: f64,
    /// 99th percentile of the duration of the reads of this second, in microseconds; 0 if there were none.
    pub read_p99_us: f64,
    /// Free blocks.
    pub free_blocks: u32,
    /// Blocks of each region.
    pub region_blocks: Vec<u32>,
    /// The write amplification of each shadow over the last ten seconds, if the host wrote.
    pub shadow_wafs: Vec<Option<f64>>,
}

/// The status of another FTL on the same writes since serving began. Its drive has the same size
/// and initially held the same pages, written in address order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShadowStatus {
    /// The FTL with its parameters.
    pub ftl: String,
    /// Its flash counters; it writes no metadata.
    pub flash: FlashCounters,
    /// Host operations that it has not processed yet.
    pub behind: u64,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// A recording in progress.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordingStatus {
    /// The name of the file.
    pub path: String,
    /// Host operations in it; if it failed, more than that.
    pub operations: u64,
    /// Why nothing more is recorded, if writing it failed, and what is left of it.
    pub failure: Option<String>,
}

/// A store that is a drive with flash, and reports its state.
pub trait Observed: Store {
    /// Its current state.
    fn status(&self) -> DriveStatus;
    /// The current state of every erase block.
    fn block_map(&self) -> BlockMap;
    /// Its placement handles, if its FTL keeps apart what the host names apart.
    fn placement(&self) -> Option<Placement> {
        None
    }
}

/// The placement handles of a drive, by number: the streams that a host may name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placement {
    /// Bytes of a reclaim unit, which is an erase block.
    pub unit_bytes: u64,
    /// The handles.
    pub handles: Vec<PlacementHandle>,
    /// Units of moved pages, of handles whose pages do not stay apart then.
    pub shared_units: u32,
    /// Bytes of those that were erased.
    pub shared_erased_bytes: u64,
    /// Events that the FTL has logged.
    pub logged: u64,
    /// The latest of them, oldest first.
    pub events: Vec<HandleEvent>,
}

/// The placement handles of a drive, for dashboards.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlacementStatus {
    /// Bytes of a reclaim unit.
    pub unit_bytes: u64,
    /// The handles, by number.
    pub handles: Vec<PlacementHandle>,
    /// Units of moved pages, of handles whose pages do not stay apart then.
    pub shared_units: u32,
    /// Events since the drive was created.
    pub events: u64,
    /// The latest of them, newest first.
    pub latest_events: Vec<PlacementEvent>,
}

/// Events that a status has.
const LATEST_EVENTS: usize = 5;

impl From<Placement> for PlacementStatus {
    fn from(placement: Placement) -> Self {
        let latest = placement.events.iter().rev().take(LATEST_EVENTS);
        Self {
            unit_bytes: placement.unit_bytes,
            handles: placement.handles,
            shared_units: placement.shared_units,
            events: placement.logged,
            latest_events: latest.map(PlacementEvent::of).collect(),
        }
    }
}

/// What happened to a reclaim unit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlacementEvent {
    /// What, in the words of the standard.
    pub what: String,
    /// The handle whose unit it was.
    pub handle: u16,
    /// Pages that were moved, or left unwritten.
    pub pages: u32,
    /// Pages that the host had written before.
    pub host_pages: u64,
}

impl PlacementEvent {
    fn of(event: &HandleEvent) -> Self {
        let what = match event.kind {
            HandleEventKind::NotFullyWritten => "unit not written to capacity",
            HandleEventKind::TimeLimitExceeded => "unit open for too long",
            HandleEventKind::Reset => "unit changed by a reset",
            HandleEventKind::InvalidPlacement => "invalid placement identifier",
            HandleEventKind::MediaReallocated => "media reallocated",
            HandleEventKind::ImplicitlyModified => "unit changed by the drive",
        };
        let HandleEvent { handle, pages, write_clock, .. } = *event;
        Self { what: what.to_owned(), handle, pages, host_pages: write_clock }
    }
}

/// A placement handle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlacementHandle {
    /// Whether its pages stay apart when they are moved.
    pub is_persistent: bool,
    /// Bytes that can still be written to its reclaim unit.
    pub left_bytes: u64,
    /// Bytes that the host wrote by it: as it sent them, and from before serving began in whole pages.
    pub host_bytes: u64,
    /// Bytes of the pages that were programmed for these, and of those that were moved later.
    #[serde(default)]
    pub media_bytes: u64,
    /// Bytes of these pages that were moved.
    pub moved_bytes: u64,
    /// Bytes of its units that were erased.
    pub erased_bytes: u64,
    /// Units that hold its pages only.
    pub units: u32,
}

/// The state of a drive. Counters start at its creation and survive restarts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriveStatus {
    /// The UUID of the drive.
    pub uuid: String,
    /// The FTL with its parameters, such as `2r-fifo:blk-util=0.4`.
    pub ftl: String,
    /// Its map, if that is on flash.
    #[serde(default)]
    pub map: Option<MapStatus>,
    /// Bytes per page.
    pub page_bytes: u32,
    /// Pages per erase block.
    pub pages_per_block: u32,
    /// Erase blocks, including retired ones.
    pub blocks: u32,
    /// Pages that the host can address.
    pub logical_pages: u32,
    /// Pages that hold data.
    pub mapped_pages: u32,
    /// Free blocks: erased, or ready to be.
    pub free_blocks: u32,
    /// Retired blocks.
    pub retired_blocks: u32,
    /// Its flash counters.
    pub flash: FlashCounters,
    /// The groups of blocks that the FTL treats alike, such as hot and cold.
    pub regions: Vec<Region>,
    /// Its health.
    pub health: Health,
    /// Program/erase cycles that a block endures, if the drive is rated.
    pub endurance_cycles: Option<u32>,
}

/// A map that is on flash. Counts are since the drive was created.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapStatus {
    /// The map with its parameters, such as `dftl:cache=2MiB`.
    pub name: String,
    /// Bytes of memory that the drive takes for its tables and what is cached.
    pub memory_bytes: u64,
    /// Pages that were looked up to be written or trimmed.
    pub lookups: u64,
    /// Those whose entry was in memory.
    pub hits: u64,
    /// Translation pages read for that, or to be updated.
    pub reads: u64,
    /// Translation pages written.
    pub writes: u64,
}

/// Flash counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlashCounters {
    /// Pages programmed because the host wrote them.
    pub host_pages: u64,
    /// Pages that garbage collection moved.
    pub relocated_pages: u64,
    /// Translation pages programmed, of a drive whose map is on flash.
    #[serde(default)]
    pub map_pages: u64,
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
    /// The counters of an FTL, without metadata.
    pub(crate) fn of(counters: &Counters) -> Self {
        Self {
            host_pages: counters.host_writes,
            relocated_pages: counters.relocations() + counters.merges.copies,
            map_pages: 0,
            trimmed_pages: counters.trims,
            collections: counters.collections,
            erased_blocks: counters.erases(),
            metadata_bytes: 0,
        }
    }

    /// Pages programmed.
    pub fn programmed_pages(&self) -> u64 {
        self.host_pages + self.relocated_pages + self.map_pages
    }

    /// The difference from `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            host_pages: self.host_pages.saturating_sub(earlier.host_pages),
            relocated_pages: self.relocated_pages.saturating_sub(earlier.relocated_pages),
            map_pages: self.map_pages.saturating_sub(earlier.map_pages),
            trimmed_pages: self.trimmed_pages.saturating_sub(earlier.trimmed_pages),
            collections: self.collections.saturating_sub(earlier.collections),
            erased_blocks: self.erased_blocks.saturating_sub(earlier.erased_blocks),
            metadata_bytes: self.metadata_bytes.saturating_sub(earlier.metadata_bytes),
        }
    }

    /// Pages programmed per page written by the host, if any; metadata is not included.
    pub fn waf(&self) -> Option<f64> {
        (self.host_pages > 0).then(|| self.programmed_pages() as f64 / self.host_pages as f64)
    }
}

/// A group of blocks that the FTL treats alike.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Region {
    /// The FTL's name for it.
    pub name: String,
    /// Whether it is for rarely written data.
    pub cold: bool,
    /// Number of blocks that belong to it.
    pub blocks: u32,
}

/// Health.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Why the drive is read-only, if it is.
    pub read_only: Option<String>,
    /// Reads of pages whose content was not what had been written: detected bit rot.
    pub media_errors: u64,
    /// Number of times the drive was opened without having been closed.
    pub unsafe_shutdowns: u64,
}

/// The state of every erase block: all lists have one entry per block.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockMap {
    /// A letter per block: `f`ree, `o`pen, `s`ealed, `r`etired.
    pub phases: String,
    /// The region of each block, by its index in [`DriveStatus::regions`]; 0 for free blocks.
    pub regions: Vec<u8>,
    /// The number of valid pages of each block.
    pub valid_pages: Vec<u32>,
    /// The erase count of each block.
    pub erases: Vec<u32>,
}

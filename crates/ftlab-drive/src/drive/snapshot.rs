//! Snapshots of the counters and the state of a drive.

use crate::drive::core::Core;
use crate::media::{Superblock, Totals};
use ftlab_flash::{BlockId, Lpn};
use ftlab_ftl::page::Phase;
use ftlab_ftl::{Counters, MapCounts, MemoryBytes, StreamUse};

/// An erase block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockSnapshot {
    /// Whether it is free, takes pages, is full, or is out of use.
    pub phase: Phase,
    /// The stream whose pages it holds; meaningless while it is free.
    pub stream: u8,
    /// Valid pages; those of an open block include the pages not yet programmed.
    pub valid_pages: u32,
    /// The number of times it was erased.
    pub erases: u32,
}

/// A drive at one point in time. Counts are since it was created.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Its identity and configuration.
    pub superblock: Superblock,
    /// Host pages, relocations, erases and trims.
    pub counters: Counters,
    /// Streams and their blocks.
    pub streams: Vec<StreamUse>,
    /// Erased blocks that no stream has opened yet.
    pub free_blocks: u32,
    /// Pages that hold data.
    pub mapped_pages: u32,
    /// Every erase block, in order; empty unless requested.
    pub blocks: Vec<BlockSnapshot>,
    /// Blocks whose place a spare one took, because a page in it could not be read.
    pub replaced_blocks: u32,
    /// Pages that could not be read when they were to be moved, and have not been written since.
    pub unreadable: Vec<Lpn>,
    /// What its map has done, if that is on flash.
    pub map: Option<MapCounts>,
    /// Metadata written, media errors, recoveries.
    pub totals: Totals,
    /// Host operations: page writes and trims.
    pub operations: u64,
    /// Of these, those that survive any crash.
    pub durable_operations: u64,
    /// Syncs of the backing since it was opened.
    pub syncs: u64,
    /// Bytes of memory: tables of the FTL and checksums.
    pub memory: MemoryBytes,
    /// Why the drive is read-only, if it is.
    pub read_only: Option<String>,
}

impl Snapshot {
    /// Pages programmed per page that the host wrote, translation pages included; none if it wrote none.
    pub fn waf(&self) -> Option<f64> {
        let of_map = self.map.map_or(0, |map| map.writes()) as f64;
        self.counters.waf().map(|waf| waf + of_map / self.counters.host_writes as f64)
    }
}

impl Core {
    pub(crate) fn snapshot(&mut self, with_blocks: bool) -> Snapshot {
        let drive = self.ftl.drive();
        let block = |block| BlockSnapshot {
            phase: drive.phase(block),
            stream: drive.stream_of(block).0,
            valid_pages: drive.valid_pages(block),
            erases: drive.erases(block),
        };
        let blocks = (0..if with_blocks { drive.geometry().blocks() } else { 0 }).map(BlockId);
        let blocks = blocks.map(block).collect();
        let (free_blocks, mapped_pages) = (drive.free_blocks(), drive.mapped_pages());
        let (counters, streams) = (self.ftl.counters(), self.ftl.streams());
        let map = self.ftl.map_counts();
        let mut memory = self.ftl.memory_bytes();
        let media = self.ftl.flash_mut();
        memory.drive += size_of_val(media.checksums());
        Snapshot {
            superblock: self.superblock.clone(),
            counters,
            streams,
            free_blocks,
            mapped_pages,
            blocks,
            replaced_blocks: media.slots().replaced(),
            unreadable: media.slots().unreadable().collect(),
            map,
            totals: media.totals(),
            operations: media.operations(),
            durable_operations: media.syncer().operations(),
            syncs: media.syncer().syncs(),
            memory,
            read_only: self.read_only.clone(),
        }
    }
}

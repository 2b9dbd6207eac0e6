//! What is counted of a map that does not fit into memory, or by units.

use crate::state::state;

/// What happened to a map that does not fit into memory, or by units. Translation pages are counted in pages of flash:
/// with units, each is a unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MapCounts {
    /// Pages, or units of them, to write or to trim that were looked up.
    pub write_lookups: u64,
    /// Of these, those whose place was in memory.
    pub write_hits: u64,
    /// Pages to read that were looked up.
    pub read_lookups: u64,
    /// Of these, those whose place was in memory.
    pub read_hits: u64,
    /// Pages to read whose place a model told, and whose entry was not in memory.
    pub told: u64,
    /// Pages to read that had to wait for their translation page to be read from flash.
    pub double_reads: u64,
    /// Translation pages read to look up a page.
    pub loads: u64,
    /// Translation pages read to change a part of them.
    pub update_reads: u64,
    /// Translation pages read from memory of the host instead, for either.
    pub host_reads: u64,
    /// Translation pages written because changed entries had to leave memory.
    pub write_backs: u64,
    /// Translation pages written because collection had moved pages.
    pub move_updates: u64,
    /// Pages that collection moved and whose new place was noted in memory only.
    pub lazy_updates: u64,
    /// Translation pages that collection moved.
    pub relocations: u64,
    /// Pages read of units that the host wrote in part.
    pub rewrite_reads: u64,
    /// Pages programmed with those that the host wrote, since they are of the same unit.
    pub rewrites: u64,
    /// Pages that the host trimmed in vain, since it did not trim all of their unit, which held data.
    pub kept_trims: u64,
    /// Pages read in vain since a learned map said that another page is there; not among those of translation pages.
    pub mispredicted: u64,
    /// Segments that a learned map has at present.
    pub segments: u64,
    /// Bytes of these, with their lists of pages.
    pub segment_bytes: u64,
    /// Pages that they tell the place of.
    pub learned: u64,
    /// Pages that the host has written, and that wait at present to be programmed in order.
    pub waiting: u64,
}

state!(MapCounts {
    write_lookups,
    write_hits,
    read_lookups,
    read_hits,
    loads,
    update_reads,
    host_reads,
    write_backs,
    move_updates,
    lazy_updates,
    relocations,
    rewrite_reads,
    rewrites,
    kept_trims,
    mispredicted,
    told,
    double_reads,
    segments,
    segment_bytes,
    learned,
    waiting
});

impl MapCounts {
    /// Translation pages read from flash.
    pub fn reads(&self) -> u64 {
        self.loads + self.update_reads
    }

    /// Translation pages written, those that collection moved not included.
    pub fn writes(&self) -> u64 {
        self.write_backs + self.move_updates
    }

    /// The same of translation pages, and of pages that were moved, each of which is a unit of this many pages.
    #[must_use]
    pub(crate) fn in_pages(self, pages: u32) -> Self {
        let pages = u64::from(pages);
        Self {
            loads: pages * self.loads,
            update_reads: pages * self.update_reads,
            host_reads: pages * self.host_reads,
            write_backs: pages * self.write_backs,
            move_updates: pages * self.move_updates,
            lazy_updates: pages * self.lazy_updates,
            relocations: pages * self.relocations,
            mispredicted: pages * self.mispredicted,
            ..self
        }
    }

    /// What came after `before`; segments, and pages that wait, are those at present.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            write_lookups: self.write_lookups - before.write_lookups,
            write_hits: self.write_hits - before.write_hits,
            read_lookups: self.read_lookups - before.read_lookups,
            read_hits: self.read_hits - before.read_hits,
            told: self.told - before.told,
            double_reads: self.double_reads - before.double_reads,
            loads: self.loads - before.loads,
            update_reads: self.update_reads - before.update_reads,
            host_reads: self.host_reads - before.host_reads,
            write_backs: self.write_backs - before.write_backs,
            move_updates: self.move_updates - before.move_updates,
            lazy_updates: self.lazy_updates - before.lazy_updates,
            relocations: self.relocations - before.relocations,
            rewrite_reads: self.rewrite_reads - before.rewrite_reads,
            rewrites: self.rewrites - before.rewrites,
            kept_trims: self.kept_trims - before.kept_trims,
            mispredicted: self.mispredicted - before.mispredicted,
            ..*self
        }
    }
}

//! What is counted of a map that does not fit into memory.

/// What happened to a map that does not fit into memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MapCounts {
    /// Pages to write or to trim that were looked up.
    pub write_lookups: u64,
    /// Of these, those whose place was in memory.
    pub write_hits: u64,
    /// Pages to read that were looked up.
    pub read_lookups: u64,
    /// Of these, those whose place was in memory.
    pub read_hits: u64,
    /// Translation pages read to look up a page.
    pub loads: u64,
    /// Translation pages read to change a part of them.
    pub update_reads: u64,
    /// Translation pages written because changed entries had to leave memory.
    pub write_backs: u64,
    /// Translation pages written because collection had moved pages.
    pub move_updates: u64,
    /// Pages that collection moved and whose new place was noted in memory only.
    pub lazy_updates: u64,
    /// Translation pages that collection moved.
    pub relocations: u64,
}

impl MapCounts {
    /// Translation pages read.
    pub fn reads(&self) -> u64 {
        self.loads + self.update_reads
    }

    /// Translation pages written, those that collection moved not included.
    pub fn writes(&self) -> u64 {
        self.write_backs + self.move_updates
    }

    /// What came after `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            write_lookups: self.write_lookups - before.write_lookups,
            write_hits: self.write_hits - before.write_hits,
            read_lookups: self.read_lookups - before.read_lookups,
            read_hits: self.read_hits - before.read_hits,
            loads: self.loads - before.loads,
            update_reads: self.update_reads - before.update_reads,
            write_backs: self.write_backs - before.write_backs,
            move_updates: self.move_updates - before.move_updates,
            lazy_updates: self.lazy_updates - before.lazy_updates,
            relocations: self.relocations - before.relocations,
        }
    }
}

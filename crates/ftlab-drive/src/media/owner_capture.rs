//! What the pages of every block held as of one operation, while the drive keeps working: the mapping of a drive whose map
//! is on flash.
//!
//! What a page holds stands beside it until its block is erased. So blocks are read one by one, and a block that is
//! erased before is read then.

use crate::media::owners::Owner;
use crate::media::reading::Unread;
use ftlab_flash::{BlockId, Geometry, Lpn, Ppn};
use ftlab_ftl::page::{DriveState, sum_of_owners};
use std::collections::HashMap;

/// No page.
pub(crate) const NOTHING: u32 = u32::MAX;

/// By places in a block, what they hold, and its checksum.
type Held = Vec<(u32, u32)>;

/// A capture that has begun.
#[derive(Debug)]
pub(crate) struct OwnerCapture {
    geometry: Geometry,
    /// Flash pages that held something then, a bit each.
    held: Vec<u64>,
    /// Block -> the sum of what they held.
    sums: Vec<u32>,
    /// The first block that has not been taken.
    next: u32,
    /// Blocks that have been erased since.
    erased: HashMap<BlockId, Result<Held, String>>,
}

impl OwnerCapture {
    /// Begins now; none if all of the map is in memory.
    pub(crate) fn begin(drive: &DriveState) -> Option<Self> {
        let geometry = *drive.geometry();
        let blocks = (0..geometry.blocks()).map(BlockId);
        let sums = blocks.map(|block| drive.owners_sum(block)).collect::<Option<_>>()?;
        Some(Self { geometry, held: drive.held_bits(), sums, next: 0, erased: HashMap::new() })
    }

    /// `block` is about to be erased.
    pub(crate) fn preserve(
        &mut self,
        block: BlockId,
        read: impl FnOnce(&dyn Fn(&[Lpn]) -> bool) -> Result<Vec<Owner>, Unread>,
    ) {
        if block.0 >= self.next && !self.erased.contains_key(&block) {
            let held = self.read(block, read);
            self.erased.insert(block, held);
        }
    }

    /// Takes `block`, the next one.
    pub(crate) fn take(
        &mut self,
        block: BlockId,
        read: impl FnOnce(&dyn Fn(&[Lpn]) -> bool) -> Result<Vec<Owner>, Unread>,
    ) -> Result<Held, String> {
        self.next = block.0 + 1;
        match self.erased.remove(&block) {
            Some(held) => held,
            None => self.read(block, read),
        }
    }

    fn held(&self, page: Ppn) -> bool {
        self.held[page.index() / 64] >> (page.0 % 64) & 1 == 1
    }

    fn read(
        &self,
        block: BlockId,
        read: impl FnOnce(&dyn Fn(&[Lpn]) -> bool) -> Result<Vec<Owner>, Unread>,
    ) -> Result<Held, String> {
        let first = self.geometry.first_page(block).0;
        let pages = || (first..first + self.geometry.pages_per_block()).map(Ppn);
        if !pages().any(|page| self.held(page)) {
            return Ok(vec![(NOTHING, 0); self.geometry.pages_per_block() as usize]);
        }
        let is_right = |owners: &[Lpn]| {
            let held = pages().zip(owners.iter().copied()).filter(|(page, _)| self.held(*page));
            sum_of_owners(held) == self.sums[block.index()]
        };
        let owners = read(&is_right).map_err(|unread| {
            format!("what block {block} holds cannot be read beside its pages: {unread}")
        })?;
        let held = pages().zip(owners).map(|(page, owner)| {
            if self.held(page) { (owner.lpn.0, owner.checksum) } else { (NOTHING, 0) }
        });
        Ok(held.collect())
    }
}

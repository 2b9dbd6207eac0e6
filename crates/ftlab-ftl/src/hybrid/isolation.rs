//! The isolation area of FASTer: pages that are cold, on their way to their data blocks.

use crate::Observer;
use crate::hybrid::{HybridDrive, Outcome};
use crate::stream::StreamId;
use ftlab_flash::{BlockId, Cause, Flash, Lpn, Ppn};
use std::collections::VecDeque;

ftlab_spec::choices! {
    /// How cold pages are kept until they are merged.
    pub enum IsolationKind {
        /// Copied to blocks of the isolation area.
        Copy = "copy",
        /// Left in their block, which joins the isolation area.
        InPlace = "inplace",
        /// Not at all: they are merged at once.
        Off = "off",
    }
}

pub(super) const ISOLATION: StreamId = StreamId(3);

/// A queue of few blocks whose valid pages are merged in order, some before every host write.
///
/// If it is full and a further block is needed, its oldest one is emptied at once. A block is erased
/// when the next valid page is looked for after it, so that page is merged at once as well.
pub(super) struct Isolation {
    kind: IsolationKind,
    blocks_max: usize,
    merge_step: u32,
    /// The oldest first; copies go to the last one while it has room.
    blocks: VecDeque<BlockId>,
    /// Pages of the oldest block that are done with.
    done: u32,
}

impl Isolation {
    pub(super) fn new(kind: IsolationKind, blocks_max: u32, merge_step: u32) -> Self {
        let blocks_max = blocks_max as usize;
        Self { kind, blocks_max, merge_step, blocks: VecDeque::with_capacity(blocks_max), done: 0 }
    }

    /// Its blocks, the oldest first.
    pub(super) fn blocks(&self) -> &VecDeque<BlockId> {
        &self.blocks
    }

    /// Takes the valid pages of `victim`, which has left the queue of the log.
    pub(super) fn take<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        victim: BlockId,
    ) -> Outcome<(), F> {
        match self.kind {
            IsolationKind::Off => drive.merge_all(victim, |_, _| Ok(()))?,
            IsolationKind::Copy => self.copy(drive, victim)?,
            IsolationKind::InPlace if drive.valid_pages(victim) > 0 => {
                self.make_room(drive)?;
                drive.hand_over(victim, ISOLATION);
                self.blocks.push_back(victim);
                return Ok(());
            }
            IsolationKind::InPlace => {}
        }
        let is_merged = self.kind == IsolationKind::Off;
        drive.erase(victim, if is_merged { Cause::Merge } else { Cause::Move })
    }

    /// Copies the valid pages of `victim`; one that is merged on the way needs no copy.
    fn copy<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        victim: BlockId,
    ) -> Outcome<(), F> {
        for page in drive.pages_of(victim).map(Ppn) {
            if drive.valid(page).is_some() && self.open(drive).is_none() {
                self.make_room(drive)?;
            }
            if let Some(lpn) = drive.valid(page) {
                let open = match self.open(drive) {
                    Some(open) => open,
                    None => self.extend(drive)?,
                };
                drive.relocate(page, lpn, open)?;
            }
        }
        Ok(())
    }

    /// Adds a block for copies.
    fn extend<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
    ) -> Outcome<BlockId, F> {
        let block = drive.open(ISOLATION)?;
        self.blocks.push_back(block);
        Ok(block)
    }

    /// The block that takes copies, if it has room.
    fn open<F: Flash, O: Observer>(&self, drive: &HybridDrive<F, O>) -> Option<BlockId> {
        let last = self.blocks.back().copied().filter(|_| self.kind == IsolationKind::Copy);
        last.filter(|&block| drive.has_room(block))
    }

    /// Makes room for one more block: merges continue at once until the oldest one is erased.
    fn make_room<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
    ) -> Outcome<(), F> {
        while self.blocks.len() >= self.blocks_max {
            drive.counters.merges.hurried += u64::from(self.merge_next(drive)?);
        }
        Ok(())
    }

    /// Merges the logical blocks of the pages that were isolated first, up to `merge_step` of them.
    #[inline]
    pub(super) fn merge_some<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
    ) -> Outcome<(), F> {
        for _ in 0..self.merge_step {
            if !self.merge_next(drive)? {
                break;
            }
            drive.counters.merges.progressive += 1;
        }
        Ok(())
    }

    /// Merges the logical block of the page that was isolated first, if there is one.
    #[inline]
    fn merge_next<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
    ) -> Outcome<bool, F> {
        let Some(lpn) = self.next(drive)? else { return Ok(false) };
        drive.full_merge(drive.logical_block(lpn))?;
        Ok(true)
    }

    /// The page that was isolated first and is still valid. Blocks without any are erased on the way,
    /// but for the one that still takes copies.
    #[inline]
    fn next<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
    ) -> Outcome<Option<Lpn>, F> {
        while let Some(&oldest) = self.blocks.front() {
            let pages = drive.pages_of(oldest);
            for page in pages.skip(self.done as usize) {
                self.done += 1;
                if let Some(lpn) = drive.valid(Ppn(page)) {
                    return Ok(Some(lpn));
                }
            }
            if self.open(drive) == Some(oldest) {
                break;
            }
            self.blocks.pop_front();
            self.done = 0;
            drive.erase(oldest, Cause::Merge)?;
        }
        Ok(None)
    }

    /// Verifies that it has the blocks of its stream, no more than it may, and has left no page
    /// behind.
    pub(super) fn check<F: Flash, O: Observer>(
        &self,
        drive: &HybridDrive<F, O>,
    ) -> Result<(), String> {
        drive.check_stream(ISOLATION, self.blocks.iter().copied(), self.blocks_max)?;
        let Some(&oldest) = self.blocks.front() else { return Ok(()) };
        let mut done = drive.pages_of(oldest).take(self.done as usize);
        match done.find(|&page| drive.valid(Ppn(page)).is_some()) {
            Some(page) => Err(format!("flash page {page} was isolated and left behind")),
            None => Ok(()),
        }
    }
}

//! Which blocks are to be rewritten, and what was: see `refresh.rs`.

use crate::page::{Refresh, Refreshed};
use crate::state::state;
use ftlab_flash::BlockId;
use std::collections::VecDeque;

/// What it takes to know which blocks are due.
#[derive(Debug)]
pub(super) struct Refreshing {
    pub(super) when: Refresh,
    /// Block -> reads of its pages since it was erased; empty if nobody asks.
    pub(super) reads: Vec<u32>,
    /// Blocks in the order in which they became full, and when; some have been erased since.
    pub(super) sealed: VecDeque<(BlockId, u64)>,
    pub(super) sealed_max: usize,
    pub(super) so_far: Refreshed,
}

state!(Refreshing { reads, sealed, so_far } constant when, sealed_max);
state!(Refreshed { blocks, pages });

impl Refreshing {
    /// None if nothing is ever rewritten.
    pub(super) fn new(when: Refresh, blocks: u32) -> Option<Box<Self>> {
        if when.is_off() {
            return None;
        }
        let counted = if when.reads > 0 { blocks as usize } else { 0 };
        let sealed_max = if when.age_writes > 0 { 2 * blocks as usize } else { 0 };
        Some(Box::new(Self {
            when,
            reads: vec![0; counted],
            sealed: VecDeque::with_capacity(sealed_max),
            sealed_max,
            so_far: Refreshed::default(),
        }))
    }

    /// Whether blocks are rewritten after host writes.
    pub(super) fn has_age(&self) -> bool {
        self.when.age_writes > 0
    }

    /// A block became full in the host write of this number.
    ///
    /// It may have done so before in the same write and been collected since: its earlier place is given up.
    pub(super) fn push_sealed(&mut self, block: BlockId, at: u64) {
        let of_this_write = self.sealed.iter().rev().take_while(|sealed| sealed.1 == at);
        if let Some(later) = of_this_write.map(|sealed| sealed.0).position(|it| it == block) {
            self.sealed.remove(self.sealed.len() - 1 - later);
        }
        self.sealed.push_back((block, at));
    }

    pub(super) fn on_erased(&mut self, block: BlockId) {
        if let Some(reads) = self.reads.get_mut(block.index()) {
            *reads = 0;
        }
    }
}

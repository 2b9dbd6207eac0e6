//! Taking over a drive whose pages somebody else has placed: another FTL, or another version of this one.
//!
//! Where pages are is kept as it is, and nothing else is known of them. So the policy learns of them as of host
//! writes, block by block, in the order in which the blocks were written; a block is of the stream to which the policy
//! would write its first page. What is left of a block counts as lost, as that of a block which fails does
//! ([`retire.rs`](super::retire)).

use crate::page::engine::page_mapped::PageMapped;
use crate::page::policy::{Hint, HostWrite, Policy};
use crate::stream::StreamId;
use crate::{Counters, Observer, StreamCounters};
use ftlab_flash::{BlockId, Flash, Lpn};

impl<F: Flash, O: Observer> PageMapped<dyn Policy, F, O> {
    /// Gets ready to adopt these blocks in this order.
    pub(super) fn expect_blocks(&mut self, blocks: &[BlockId]) {
        self.drive.order_free(blocks);
    }

    /// Continues the counts of a drive that holds `mapped` pages, none of which has been adopted yet. Counts of
    /// streams are added up where there were others.
    pub(super) fn continue_counts(&mut self, mapped: u32, counters: &Counters, erases: &[u32]) {
        debug_assert_eq!(self.drive.mapped_pages(), 0, "pages are adopted after this");
        let streams = self.counters.streams.len();
        self.counters = counters.clone();
        if counters.streams.len() != streams {
            let all =
                StreamCounters { relocations: counters.relocations(), erases: counters.erases() };
            self.counters.streams = vec![StreamCounters::default(); streams];
            self.counters.streams[0] = all;
        }
        let write_clock = counters.host_writes.saturating_sub(mapped.into());
        self.drive.continue_counts(write_clock, erases);
        if let Some(handles) = self.policy.handles_mut() {
            handles.on_adopted(write_clock);
        }
    }

    /// Takes over a free block that holds pages: by their places in the block what they hold, or [`u32::MAX`].
    pub(super) fn adopt_block(&mut self, block: BlockId, owners: &[u32]) {
        debug_assert_eq!(owners.len() as u32, self.drive.pages_per_block());
        let mut stream = None;
        for &lpn in owners {
            if lpn == u32::MAX {
                continue;
            }
            let lpn = Lpn(lpn);
            if lpn.0 < self.drive.logical_pages() {
                self.drive.tick();
            }
            let wanted = self.policy.place_host(HostWrite::new(lpn, Hint::NONE), &self.drive);
            let stream = *stream.get_or_insert_with(|| self.open_adopted(block, wanted));
            if wanted != stream {
                self.policy.on_adopted(wanted, block, &self.drive);
            }
            while owners[self.drive.programmed_pages(block) as usize] != lpn.0 {
                self.leave_out(stream, block);
            }
            let to = self.drive.next_page(stream);
            self.drive.count_mapped(lpn);
            self.drive.append(stream, lpn);
            self.policy.on_written(to, stream);
        }
        let Some(stream) = stream else { return };
        while self.drive.has_room(stream) {
            self.leave_out(stream, block);
        }
        self.seal(stream);
    }

    fn leave_out(&mut self, stream: StreamId, block: BlockId) {
        self.drive.leave_out(stream);
        self.policy.on_pages_lost(block, 1, &self.drive);
    }

    fn open_adopted(&mut self, block: BlockId, stream: StreamId) -> StreamId {
        let opened = self.drive.open(stream, Some(block));
        debug_assert_eq!(opened, Some(block), "it is free, and so the one that is opened");
        self.policy.on_block_opened(block, &self.drive);
        stream
    }
}

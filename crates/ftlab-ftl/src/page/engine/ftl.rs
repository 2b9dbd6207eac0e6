//! The page-mapped engine as an [`Ftl`].

use crate::page::engine::page_mapped::PageMapped;
use crate::page::entry::Hinted;
use crate::page::policy::{Hint, Hints, Lifetime};
use crate::page::{DriveState, Phase, Refreshed};
use crate::{
    BlockUse, Broken, ChosenRule, Counters, ErrorOf, Ftl, MemoryBytes, Metadata, Observer,
    PageBatch, PageWrite, PlacementHandles, StreamUse,
};
use ftlab_flash::{BlockId, Flash, Lpn, Ppn};
use std::ops::Range;

/// How many writes ahead a mapping entry is fetched: the wait for memory, in writes.
const FETCH_MAPPING_AHEAD: usize = 24;

/// How many writes ahead the valid bit of the old version is fetched, its mapping entry being there.
const FETCH_VALID_BIT_AHEAD: usize = 12;

impl<P: Hinted, F: Flash + Send, O: Observer> Ftl for PageMapped<P, F, O> {
    type Flash = F;
    type Observer = O;

    fn write_page(&mut self, write: PageWrite<'_>) -> Result<(), ErrorOf<Self>> {
        let mut hint = Hint::NONE;
        if takes::<P>(Hints::Lifetimes) {
            hint.lifetime = write.hint.lifetime;
        }
        if takes::<P>(Hints::Streams) {
            (hint.stream, hint.lacking) = (write.hint.stream, write.hint.lacking);
        }
        self.write_one(PageWrite { hint, ..write })
    }

    fn trim(&mut self, lpn: Lpn) -> Result<(), ErrorOf<Self>> {
        self.trim_page(lpn);
        Ok(())
    }

    fn read(&mut self, lpn: Lpn, data: &mut [u8]) -> Result<bool, ErrorOf<Self>> {
        self.read_page(lpn, data)
    }

    fn write_pages(&mut self, pages: &[Lpn]) -> Result<(), ErrorOf<Self>> {
        self.write_in_order(pages, &[], &[], &[])
    }

    fn write_some(&mut self, batch: &PageBatch, which: Range<usize>) -> Result<(), ErrorOf<Self>> {
        let lifetimes = batch.lifetimes.get(which.clone()).unwrap_or_default();
        let streams = batch.streams.get(which.clone()).unwrap_or_default();
        let lacking = which.start..which.end.min(batch.lacking.len());
        let lacking = batch.lacking.get(lacking).unwrap_or_default();
        self.write_in_order(&batch.writes[which], lifetimes, streams, lacking)
    }

    fn fetch_ahead(&self, near: Lpn, far: Lpn) {
        self.drive.prefetch_mapping(far);
        self.fetch_old_version(near);
    }

    fn counters(&self) -> Counters {
        Counters { host_writes: self.drive.write_clock(), ..self.counters.clone() }
    }

    fn streams(&self) -> Vec<StreamUse> {
        StreamUse::of(self.drive.streams(), self.drive.blocks_by_stream())
    }

    fn flash_page(&self, lpn: Lpn) -> Option<Ppn> {
        self.drive.flash_page(lpn)
    }

    fn block_uses(&self) -> Vec<BlockUse> {
        block_uses(&self.drive)
    }

    fn retired_blocks(&self) -> u32 {
        self.drive.retired_blocks()
    }

    fn count_read(&mut self, page: Ppn) -> Result<(), ErrorOf<Self>> {
        self.any().count_host_read(page)
    }

    fn refreshed(&self) -> Refreshed {
        self.refreshing.as_ref().map_or_else(Refreshed::default, |refreshing| refreshing.so_far)
    }

    fn placement_handles(&self) -> Option<PlacementHandles> {
        self.policy.handles().map(|handles| handles.report(&self.drive))
    }

    fn groups(&self) -> Option<u32> {
        self.policy.groups()
    }

    fn rule(&self) -> Option<ChosenRule> {
        self.policy.rule()
    }

    fn renew_handle(&mut self, handle: u16) -> Result<bool, ErrorOf<Self>> {
        self.any().renew_units(handle)
    }

    fn memory_bytes(&self) -> MemoryBytes {
        MemoryBytes { drive: self.drive.bytes(), policy: self.policy.memory_bytes() }
    }

    fn metadata(&self) -> Metadata {
        self.policy.metadata()
    }

    fn check(&self) -> Result<(), Broken> {
        let handles = || self.policy.handles().map_or(Ok(()), |handles| handles.check(&self.drive));
        // A policy compares with the whole map.
        let policy = || {
            if self.drive.is_paged() { Ok(()) } else { self.policy.check(&self.drive) }
        };
        self.drive.check().and_then(|()| policy()).and_then(|()| handles()).map_err(Broken)
    }

    fn flash(&self) -> &F {
        &self.flash
    }

    fn flash_mut(&mut self) -> &mut F {
        &mut self.flash
    }

    fn observer(&self) -> &O {
        &self.observer
    }

    fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }
}

/// What every block is used for, in order.
fn block_uses(drive: &DriveState) -> Vec<BlockUse> {
    let block_use = |block| match drive.phase(block) {
        Phase::Free => BlockUse::Free,
        Phase::Retired => BlockUse::Retired,
        Phase::Open | Phase::Sealed | Phase::Victim => BlockUse::Holds(drive.frontier_of(block)),
    };
    (0..drive.geometry().blocks()).map(BlockId).map(block_use).collect()
}

/// Whether a policy asks for these hints, as far as is known when it is compiled.
const fn takes<P: Hinted>(hints: Hints) -> bool {
    match P::HINTS {
        None => true,
        Some(asked) => asked as u8 == hints as u8,
    }
}

impl<P: Hinted, F: Flash + Send, O: Observer> PageMapped<P, F, O> {
    /// Writes pages over a medium that keeps no data, what is needed being fetched ahead; hints, where
    /// there are any, have one element for each. What no policy asks for costs nothing: its answer is a
    /// constant.
    fn write_in_order(
        &mut self,
        pages: &[Lpn],
        lifetimes: &[Lifetime],
        streams: &[u16],
        lacking: &[i32],
    ) -> Result<(), ErrorOf<Self>> {
        debug_assert!([0, pages.len()].contains(&lifetimes.len()), "one for each page, or none");
        debug_assert!([0, pages.len()].contains(&streams.len()), "one for each page, or none");
        for &lpn in pages.iter().take(FETCH_MAPPING_AHEAD) {
            self.drive.prefetch_mapping(lpn);
        }
        for (index, &lpn) in pages.iter().enumerate() {
            if let Some(&soon) = pages.get(index + FETCH_MAPPING_AHEAD) {
                self.drive.prefetch_mapping(soon);
            }
            if let Some(&soon) = pages.get(index + FETCH_VALID_BIT_AHEAD) {
                self.fetch_old_version(soon);
            }
            let mut hint = Hint::NONE;
            if takes::<P>(Hints::Lifetimes) {
                hint.lifetime = *lifetimes.get(index).unwrap_or(&hint.lifetime);
            }
            if takes::<P>(Hints::Streams) {
                hint.stream = *streams.get(index).unwrap_or(&hint.stream);
                hint.lacking = *lacking.get(index).unwrap_or(&hint.lacking);
            }
            self.write_one(PageWrite { hint, ..PageWrite::by_host(lpn, &[]) })?;
        }
        Ok(())
    }

    /// Fetches what a write asks about the present version of a page, whose mapping entry is at hand.
    #[inline]
    fn fetch_old_version(&self, lpn: Lpn) {
        if let Some(block) = self.drive.prefetch_valid_bit(lpn) {
            self.policy.fetch_ahead(lpn, block);
            self.policy.fetch_block_ahead(block);
        }
    }
}

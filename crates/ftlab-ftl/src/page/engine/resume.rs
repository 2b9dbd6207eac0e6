//! A page-mapped FTL that outlives its process: what a drive on real media runs.

use crate::page::DriveState;
use crate::page::engine::page_mapped::PageMapped;
use crate::page::entry::Hinted;
use crate::{Archive, Counters, ErrorOf, Ftl, MapCounts, Observer, State, StateError};
use ftlab_flash::{BlockId, Flash, Lpn, Ppn};

/// A page-mapped FTL of any policy, which can be looked into, saved and restored.
///
/// The mapping is kept apart from the rest of the state because it is nearly all of it: it can be saved a
/// part at a time.
pub trait Resume: Ftl {
    /// Mapping, block states and free list, to look at.
    fn drive(&self) -> &DriveState;

    /// Saves all but the mapping, or replaces it by what was saved of an FTL with the same parameters.
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError>;

    /// Restores the mapping from page `first` on, as [`DriveState::mapping`] gives it.
    fn set_mapping(&mut self, first: Lpn, flash_pages: &[u32]) -> Result<(), StateError>;

    /// Whoever has a map on flash, paged out, has all of it in memory from now on: it is restored next.
    fn page_in(&mut self) {}

    /// Keeps the places of those pages in memory only that its map holds there, if it has a map on flash: whoever calls
    /// this has seen to it that the others are in their translation pages.
    fn page_out(&mut self) {}

    /// Before the mapping is restored of whoever has a map on flash, paged out: operations are repeated that ask for the
    /// places of these pages of the host, a bit each, and no others. Translation pages are not read until it is [paged
    /// out](Self::page_out).
    fn begin_replay(&mut self, _asked: Vec<u64>) {}

    /// Pages of the host whose entries are in memory.
    fn held(&self) -> Box<dyn Iterator<Item = Lpn> + '_> {
        Box::new(std::iter::empty())
    }

    /// Whether the entry of `lpn` in memory tells otherwise than its translation page.
    fn is_changed(&self, _lpn: Lpn) -> bool {
        true
    }

    /// After operations were repeated: `lpn`, whose entry is in memory, is at `page`.
    fn restore_held(&mut self, _lpn: Lpn, _page: Ppn) {}

    /// [Saves or replaces](Self::transfer) all but the mapping and what is in memory of it, which is empty afterwards:
    /// for another map on flash.
    fn transfer_without_map(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        self.transfer(archive)
    }

    /// Where the page `lpn` of the host is. If its entry is on flash, it is read there; it does not come into memory, and
    /// is not counted.
    fn find(&mut self, lpn: Lpn) -> Result<Option<Ppn>, ErrorOf<Self>> {
        Ok(self.drive().flash_page(lpn))
    }

    /// What is beside the pages of `block` is damaged: finds in the map what they hold; false if that is damaged as well.
    fn mend_owners(&mut self, _block: BlockId) -> bool {
        false
    }

    /// Whether the data of a translation page, by its number, tells where its pages are, as far as their entries in memory
    /// do not tell so. The whole mapping is in memory.
    fn is_told(&self, _map_page: u32, _data: &[u8]) -> bool {
        true
    }

    /// Fills a translation page, by its number: with the places of its pages. The whole mapping is in memory.
    fn tell(&self, _map_page: u32, _data: &mut [u8]) {}
}

/// One that can take over what another FTL has written, too.
pub trait Adopt: Resume {
    /// Before blocks are [adopted](Self::adopt) in this order, with `mapped` pages of the host: continues the counts of the drive,
    /// whose blocks were erased so often.
    fn begin_adoption(
        &mut self,
        blocks: &[BlockId],
        mapped: u32,
        counters: &Counters,
        erases: &[u32],
    );

    /// The same of the counts of a map on flash.
    fn continue_map_counts(&mut self, _counts: &MapCounts) {}

    /// Takes over a block of a drive whose pages another FTL has placed; nothing has been written to this one. By
    /// its places in the block what each page holds, or [`u32::MAX`]. A map on flash is in memory as a whole; what its
    /// translation pages have to hold is known afterwards.
    fn adopt(&mut self, block: BlockId, owners: &[u32]);
}

impl<P: Hinted, F: Flash + Send, O: Observer> Resume for PageMapped<P, F, O> {
    fn drive(&self) -> &DriveState {
        &self.drive
    }

    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let Self {
            policy,
            drive,
            counters,
            victims,
            requester,
            progress,
            background_below,
            failing,
            is_read_only,
            is_worn_unevenly,
            refreshing,
            flash: _,
            observer: _,
            config: _,
            reserve_min: _,
            has_groups: _,
        } = self;
        let mut fields: [(&'static str, &mut dyn State); 10] = [
            ("policy", policy),
            ("drive", drive),
            ("counters", counters),
            ("victims", victims),
            ("requester", requester),
            ("progress", progress),
            ("background_below", background_below),
            ("failing", failing),
            ("is_read_only", is_read_only),
            ("is_worn_unevenly", is_worn_unevenly),
        ];
        for (name, field) in &mut fields {
            archive.name(name)?;
            field.transfer(archive)?;
        }
        // Nothing is saved of what is off.
        refreshing.iter_mut().try_for_each(|refreshing| refreshing.transfer(archive))
    }

    fn set_mapping(&mut self, first: Lpn, flash_pages: &[u32]) -> Result<(), StateError> {
        self.drive.set_mapping(first, flash_pages)
    }
}

impl<P: Hinted, F: Flash + Send, O: Observer> Adopt for PageMapped<P, F, O> {
    fn begin_adoption(
        &mut self,
        blocks: &[BlockId],
        mapped: u32,
        counters: &Counters,
        erases: &[u32],
    ) {
        self.any().expect_blocks(blocks);
        self.any().continue_counts(mapped, counters, erases);
    }

    fn adopt(&mut self, block: BlockId, owners: &[u32]) {
        self.any().adopt_block(block, owners);
    }
}

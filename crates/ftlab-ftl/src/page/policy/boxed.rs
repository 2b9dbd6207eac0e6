//! A policy whose type is not known until a program runs.

use crate::page::Drive;
use crate::page::policy::{Hints, HostWrite, Policy, Relocation, Stream, StreamId, Victims};
use crate::{Archive, Metadata, State, StateError};
use ftlab_flash::{BlockId, Lpn};

impl State for Box<dyn Policy> {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        (**self).transfer(archive)
    }
}

impl Policy for Box<dyn Policy> {
    fn streams(&self) -> Vec<Stream> {
        (**self).streams()
    }

    fn reserve_blocks_min(&self) -> u32 {
        (**self).reserve_blocks_min()
    }

    fn hints(&self) -> Hints {
        (**self).hints()
    }

    fn place_host(&mut self, write: HostWrite, drive: &Drive) -> StreamId {
        (**self).place_host(write, drive)
    }

    fn place_relocation(&mut self, page: Relocation, drive: &Drive) -> StreamId {
        (**self).place_relocation(page, drive)
    }

    fn fetch_ahead(&self, lpn: Lpn, block: BlockId) {
        (**self).fetch_ahead(lpn, block);
    }

    fn select_victims(&mut self, drive: &Drive, victims: &mut Victims) {
        (**self).select_victims(drive, victims);
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &Drive) {
        (**self).on_block_opened(block, drive);
    }

    fn on_block_sealed(&mut self, block: BlockId, drive: &Drive) {
        (**self).on_block_sealed(block, drive);
    }

    fn on_invalidate(&mut self, block: BlockId, drive: &Drive) {
        (**self).on_invalidate(block, drive);
    }

    fn on_pages_lost(&mut self, block: BlockId, pages: u32, drive: &Drive) {
        (**self).on_pages_lost(block, pages, drive);
    }

    fn on_block_erased(&mut self, block: BlockId, drive: &Drive) {
        (**self).on_block_erased(block, drive);
    }

    fn on_trim(&mut self, lpn: Lpn, drive: &Drive) {
        (**self).on_trim(lpn, drive);
    }

    fn metadata(&self) -> Metadata {
        (**self).metadata()
    }

    fn metadata_bytes(&self) -> usize {
        (**self).metadata_bytes()
    }

    fn check(&self, drive: &Drive) -> Result<(), String> {
        (**self).check(drive)
    }
}

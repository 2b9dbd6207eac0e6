//! What flash pages hold while the journal is replayed, of a drive whose map is on flash: as the checkpoint tells, changed
//! by what has been programmed and erased since.
//!
//! In memory is what was programmed since, and the rest on the medium: the checkpoint is not overwritten meanwhile.

use crate::media::Backing;
use crate::media::owner_capture::NOTHING;
use crate::media::reading::{Unread, with_retries};
use ftlab_flash::{BlockId, Geometry, Lpn, Ppn};
use std::collections::HashMap;

/// Bytes of what a checkpoint tells of a flash page: what it holds, and the checksum of that.
const TOLD_BYTES: usize = 8;

/// By its place in a block what a page holds, and the checksum of that; [`NOTHING`], if it holds nothing.
pub(crate) type Holds = (u32, u32);

/// What flash pages hold.
#[derive(Debug)]
pub(crate) struct Held {
    geometry: Geometry,
    /// Offset of what the checkpoint tells.
    told: u64,
    /// Of each block the checksum of what it tells.
    sums: Vec<u32>,
    /// Blocks that were erased since, a bit each.
    erased: Vec<u64>,
    /// What was programmed since.
    programmed: HashMap<BlockId, Box<[Holds]>>,
    /// The block that was asked for last.
    read: Option<(BlockId, Vec<Holds>)>,
}

impl Held {
    /// As the checkpoint tells at this offset.
    pub(crate) fn new(geometry: Geometry, told: u64) -> Self {
        let blocks = geometry.blocks() as usize;
        Self {
            geometry,
            told,
            sums: vec![0; blocks],
            erased: vec![0; blocks.div_ceil(64)],
            programmed: HashMap::new(),
            read: None,
        }
    }

    /// Takes note that the checkpoint says this of `page`; in the order of pages.
    pub(crate) fn note(&mut self, page: Ppn, held: Holds) {
        let sum = &mut self.sums[(page.0 / self.geometry.pages_per_block()) as usize];
        *sum = append(*sum, page, held);
    }

    fn is_erased(&self, block: BlockId) -> bool {
        self.erased[block.index() / 64] >> (block.0 % 64) & 1 == 1
    }

    pub(crate) fn erase(&mut self, block: BlockId) {
        self.read = None;
        self.programmed.remove(&block);
        self.erased[block.index() / 64] |= 1 << (block.0 % 64);
    }

    pub(crate) fn program(&mut self, page: Ppn, lpn: Lpn, checksum: u32) {
        let pages = self.geometry.pages_per_block();
        let block = BlockId(page.0 / pages);
        let nothing = || vec![(NOTHING, 0); pages as usize].into_boxed_slice();
        let held = self.programmed.entry(block).or_insert_with(nothing);
        held[(page.0 % pages) as usize] = (lpn.0, checksum);
        self.read = self.read.take().filter(|(read, _)| *read != block);
    }

    /// What the pages of `block` hold, whether they are still valid or not.
    pub(crate) fn of(&mut self, backing: &dyn Backing, block: BlockId) -> Result<&[Holds], Unread> {
        if self.read.as_ref().is_none_or(|(read, _)| *read != block) {
            let held = self.find(backing, block)?;
            self.read = Some((block, held));
        }
        Ok(self.read.as_ref().map_or(&[], |(_, held)| held))
    }

    fn find(&self, backing: &dyn Backing, block: BlockId) -> Result<Vec<Holds>, Unread> {
        let mut held = vec![(NOTHING, 0); self.geometry.pages_per_block() as usize];
        if !self.is_erased(block) {
            let first = self.geometry.first_page(block);
            let mut bytes = vec![0; held.len() * TOLD_BYTES];
            let offset = self.told + u64::from(first.0) * TOLD_BYTES as u64;
            with_retries(backing, |_| {
                backing.read_medium_at(&mut bytes, offset)?;
                let mut sum = 0;
                let told = bytes.as_chunks::<TOLD_BYTES>().0;
                for (index, (held, told)) in (first.0..).zip(held.iter_mut().zip(told)) {
                    let told = u64::from_le_bytes(*told);
                    *held = (told as u32, (told >> 32) as u32);
                    if held.0 != NOTHING {
                        sum = append(sum, Ppn(index), *held);
                    }
                }
                (sum == self.sums[block.index()]).then_some(()).ok_or(Unread::Differs)
            })?;
        }
        if let Some(programmed) = self.programmed.get(&block) {
            let since = held.iter_mut().zip(programmed).filter(|(_, since)| since.0 != NOTHING);
            since.for_each(|(held, since)| *held = *since);
        }
        Ok(held)
    }
}

fn append(sum: u32, page: Ppn, (lpn, checksum): Holds) -> u32 {
    let numbers = [page.0, lpn, checksum].map(u32::to_le_bytes);
    crc32c::crc32c_append(sum, numbers.as_flattened())
}

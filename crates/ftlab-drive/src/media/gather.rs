//! Write buffers: consecutive pages of a block are written together.

use crate::media::owners::Owner;
use ftlab_flash::{BlockId, Geometry, Lpn, Ppn};

/// Bytes written together.
const GATHER_BYTES: u32 = 128 << 10;

/// No buffer.
const NONE: u32 = u32::MAX;

/// A page of a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gathered {
    pub(crate) lpn: Lpn,
    pub(crate) checksum: u32,
    /// The host wrote it: there is no other copy.
    pub(crate) is_new: bool,
    pub(crate) sequence: u64,
    /// The number of the operation that wrote or moved it.
    pub(crate) operation: u64,
}

impl Gathered {
    /// What is stored beside the page.
    pub(crate) fn owner(&self) -> Owner {
        Owner { lpn: self.lpn, checksum: self.checksum, sequence: self.sequence }
    }
}

/// The last pages of an open block, not yet written.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) block: BlockId,
    /// The flash page of the first one.
    pub(crate) first: Ppn,
    pub(crate) pages: Vec<Gathered>,
    pub(crate) data: Vec<u8>,
    /// The number of pages already considered for the journal.
    pub(crate) journaled: usize,
    /// Completed operations when the first page was added.
    pub(crate) since: u64,
}

/// The buffers of all open blocks.
#[derive(Debug)]
pub(crate) struct Gather {
    page_bytes: usize,
    pages_max: usize,
    pages_per_block: u32,
    buffers: Vec<Buffer>,
    /// Block -> its buffer.
    buffer_of: Vec<u32>,
    /// Buffers without a block.
    spare: Vec<u32>,
}

impl Gather {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        Self {
            page_bytes: geometry.page_bytes() as usize,
            pages_max: pages_max(geometry) as usize,
            pages_per_block: geometry.pages_per_block(),
            buffers: Vec::new(),
            buffer_of: vec![NONE; geometry.blocks() as usize],
            spare: Vec::new(),
        }
    }

    /// Adds the page `to` of `block`, which follows the previously added one. True if the buffer
    /// should be written: it, or the block, is full.
    pub(crate) fn append(
        &mut self,
        block: BlockId,
        to: Ppn,
        page: Gathered,
        data: &[u8],
        operations: u64,
    ) -> bool {
        let index = self.index(block);
        let buffer = &mut self.buffers[index];
        if buffer.pages.is_empty() {
            buffer.first = to;
            buffer.since = operations;
        }
        debug_assert_eq!(buffer.first.0 + buffer.pages.len() as u32, to.0);
        buffer.pages.push(page);
        buffer.data.extend_from_slice(data);
        let is_last = (to.0 + 1).is_multiple_of(self.pages_per_block);
        is_last || buffer.pages.len() >= self.pages_max
    }

    fn index(&mut self, block: BlockId) -> usize {
        let index = self.buffer_of[block.index()];
        if index != NONE {
            return index as usize;
        }
        let index = self.spare.pop().unwrap_or_else(|| {
            self.buffers.push(Buffer {
                block,
                first: Ppn(0),
                pages: Vec::with_capacity(self.pages_max),
                data: Vec::with_capacity(self.pages_max * self.page_bytes),
                journaled: 0,
                since: 0,
            });
            self.buffers.len() as u32 - 1
        });
        self.buffers[index as usize].block = block;
        self.buffer_of[block.index()] = index;
        index as usize
    }

    /// The data of `page` of `block`, if it has not been written.
    #[inline]
    pub(crate) fn find(&self, block: BlockId, page: Ppn) -> Option<&[u8]> {
        let index = self.buffer_of[block.index()];
        if index == NONE {
            return None;
        }
        let buffer = &self.buffers[index as usize];
        let place = page.0.checked_sub(buffer.first.0)? as usize;
        buffer.data.get(place * self.page_bytes..(place + 1) * self.page_bytes)
    }

    /// What `page` of `block` holds, if it has not been written.
    pub(crate) fn owner(&self, block: BlockId, page: Ppn) -> Option<Gathered> {
        let buffer = self.of(block)?;
        buffer.pages.get(page.0.checked_sub(buffer.first.0)? as usize).copied()
    }

    /// Gives `page` of `block` other data, if it has not been written.
    pub(crate) fn replace(
        &mut self,
        block: BlockId,
        page: Ppn,
        data: &[u8],
        checksum: u32,
    ) -> bool {
        let index = self.buffer_of[block.index()];
        let Some(buffer) = self.buffers.get_mut(index as usize) else { return false };
        let Some(place) = page.0.checked_sub(buffer.first.0) else { return false };
        let Some(gathered) = buffer.pages.get_mut(place as usize) else { return false };
        gathered.checksum = checksum;
        buffer.data[place as usize * self.page_bytes..][..self.page_bytes].copy_from_slice(data);
        true
    }

    pub(crate) fn of(&self, block: BlockId) -> Option<&Buffer> {
        let index = self.buffer_of[block.index()];
        (index != NONE).then(|| &self.buffers[index as usize])
    }

    /// Buffers that hold pages.
    pub(crate) fn filled(&mut self) -> impl Iterator<Item = &mut Buffer> {
        self.buffers.iter_mut().filter(|buffer| !buffer.pages.is_empty())
    }

    /// The blocks whose buffers hold pages.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = BlockId> {
        self.buffers.iter().filter(|buffer| !buffer.pages.is_empty()).map(|buffer| buffer.block)
    }

    /// Discards the pages of `block`, which have been written or erased.
    pub(crate) fn clear(&mut self, block: BlockId) {
        let index = std::mem::replace(&mut self.buffer_of[block.index()], NONE);
        if index != NONE {
            let buffer = &mut self.buffers[index as usize];
            buffer.pages.clear();
            buffer.data.clear();
            buffer.journaled = 0;
            self.spare.push(index);
        }
    }
}

/// Maximum number of buffered pages.
pub(crate) fn pages_max(geometry: &Geometry) -> u32 {
    (GATHER_BYTES / geometry.page_bytes()).clamp(1, geometry.pages_per_block())
}

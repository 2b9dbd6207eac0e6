//! LUNs and channels: who is busy until when.

use crate::timing::{Layout, TimingParameters, nanoseconds};
use crate::{BlockId, BlockOf, Geometry, Ppn};
use std::ops::Range;

/// The LUNs of a drive; LUN l is on channel l mod the number of channels.
///
/// Every operation names the time before which it cannot start and gets the time when it is
/// complete. Operations of a LUN, and transfers of a channel, follow each other in the order in which
/// they are asked for.
#[derive(Debug, Clone)]
pub(crate) struct Luns {
    pub(crate) read_ns: u64,
    pub(crate) program_ns: u64,
    pub(crate) erase_ns: u64,
    pub(crate) transfer_ns: u64,
    layout: Layout,
    pages_per_block: u32,
    block_of: BlockOf,
    /// LUN -> when it is free.
    lun_free: Vec<u64>,
    /// Channel -> when it is free.
    channel_free: Vec<u64>,
    /// LUN -> time for which it was occupied.
    pub(crate) busy_ns: Vec<u64>,
    /// When the last operation is complete.
    pub(crate) end: u64,
}

impl Luns {
    pub(crate) fn new(parameters: &TimingParameters, geometry: &Geometry) -> Self {
        let luns = (parameters.channels * parameters.luns) as usize;
        Self {
            read_ns: nanoseconds(parameters.read_us),
            program_ns: nanoseconds(parameters.program_us),
            erase_ns: nanoseconds(parameters.erase_us),
            transfer_ns: nanoseconds(parameters.transfer_us),
            layout: parameters.layout,
            pages_per_block: geometry.pages_per_block(),
            block_of: geometry.block_of(),
            lun_free: vec![0; luns],
            channel_free: vec![0; parameters.channels as usize],
            busy_ns: vec![0; luns],
            end: 0,
        }
    }

    fn lun_of(&self, page: Ppn) -> usize {
        let block = self.block_of.page(page);
        let number = match self.layout {
            Layout::Superblock => page.0 - block.0 * self.pages_per_block,
            Layout::Block => block.0,
        };
        number as usize % self.lun_free.len()
    }

    /// The LUNs that hold pages of `block`.
    pub(crate) fn luns_of(&self, block: BlockId) -> Range<usize> {
        match self.layout {
            Layout::Superblock => 0..self.lun_free.len().min(self.pages_per_block as usize),
            Layout::Block => {
                let lun = block.index() % self.lun_free.len();
                lun..lun + 1
            }
        }
    }

    /// Reads from the cells, then transfers out; the LUN holds the page until that is done.
    pub(crate) fn read(&mut self, page: Ppn, earliest: u64) -> u64 {
        let lun = self.lun_of(page);
        let channel = lun % self.channel_free.len();
        let start = earliest.max(self.lun_free[lun]);
        let is_read = start + self.read_ns;
        let done = is_read.max(self.channel_free[channel]) + self.transfer_ns;
        if self.transfer_ns > 0 {
            self.channel_free[channel] = done;
            self.occupy(lun, start, done)
        } else {
            self.occupy(lun, start, is_read)
        }
    }

    /// Transfers in, which takes LUN and channel, then programs.
    pub(crate) fn program(&mut self, page: Ppn, earliest: u64) -> u64 {
        let lun = self.lun_of(page);
        let channel = lun % self.channel_free.len();
        let mut start = earliest.max(self.lun_free[lun]);
        if self.transfer_ns > 0 {
            start = start.max(self.channel_free[channel]);
            self.channel_free[channel] = start + self.transfer_ns;
        }
        self.occupy(lun, start, start + self.transfer_ns + self.program_ns)
    }

    /// Erases on every LUN of `block`; complete when the last is.
    pub(crate) fn erase(&mut self, block: BlockId, earliest: u64) -> u64 {
        let mut done = earliest;
        for lun in self.luns_of(block) {
            let start = earliest.max(self.lun_free[lun]);
            done = done.max(self.occupy(lun, start, start + self.erase_ns));
        }
        done
    }

    fn occupy(&mut self, lun: usize, start: u64, done: u64) -> u64 {
        self.busy_ns[lun] += done - start;
        self.lun_free[lun] = done;
        self.end = self.end.max(done);
        done
    }
}

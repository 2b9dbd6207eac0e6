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
    /// A read and a program, each with its transfer.
    pub(crate) copy_ns: u64,
    layout: Layout,
    pages_per_block: u32,
    block_of: BlockOf,
    all: Vec<Lun>,
    /// Channel -> when it is free.
    channel_free: Vec<u64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Lun {
    /// When it is free.
    free: u64,
    /// Time for which it was occupied.
    busy_ns: u64,
    channel: u32,
}

impl Luns {
    pub(crate) fn new(parameters: &TimingParameters, geometry: &Geometry) -> Self {
        let TimingParameters { channels, luns, .. } = *parameters;
        let lun = |number| Lun { channel: number % channels, ..Lun::default() };
        let read_ns = nanoseconds(parameters.read_us);
        let program_ns = nanoseconds(parameters.program_us);
        let transfer_ns = nanoseconds(parameters.transfer_us);
        Self {
            read_ns,
            program_ns,
            erase_ns: nanoseconds(parameters.erase_us),
            transfer_ns,
            copy_ns: read_ns + program_ns + 2 * transfer_ns,
            layout: parameters.layout,
            pages_per_block: geometry.pages_per_block(),
            block_of: geometry.block_of(),
            all: (0..channels * luns).map(lun).collect(),
            channel_free: vec![0; channels as usize],
        }
    }

    /// When the last operation is complete.
    pub(crate) fn end(&self) -> u64 {
        self.all.iter().map(|lun| lun.free).max().unwrap_or(0)
    }

    /// LUN -> time for which it was occupied.
    pub(crate) fn busy_ns(&self) -> Vec<u64> {
        self.all.iter().map(|lun| lun.busy_ns).collect()
    }

    #[inline]
    fn lun_of(&self, page: Ppn) -> usize {
        let luns = self.all.len() as u32;
        if luns == 1 {
            return 0;
        }
        let block = self.block_of.page(page);
        let number = match self.layout {
            Layout::Superblock => page.0 - block.0 * self.pages_per_block,
            Layout::Block => block.0,
        };
        (number % luns) as usize
    }

    /// The LUNs that hold pages of `block`.
    pub(crate) fn luns_of(&self, block: BlockId) -> Range<usize> {
        match self.layout {
            Layout::Superblock => 0..self.all.len().min(self.pages_per_block as usize),
            Layout::Block => {
                let lun = block.index() % self.all.len();
                lun..lun + 1
            }
        }
    }

    /// Reads from the cells, then transfers out; the LUN holds the page until that is done.
    #[inline]
    pub(crate) fn read(&mut self, page: Ppn, earliest: u64) -> u64 {
        let number = self.lun_of(page);
        let lun = &mut self.all[number];
        let start = earliest.max(lun.free);
        let mut done = start + self.read_ns;
        if self.transfer_ns > 0 {
            let channel_free = &mut self.channel_free[lun.channel as usize];
            done = done.max(*channel_free) + self.transfer_ns;
            *channel_free = done;
        }
        lun.occupy(start, done)
    }

    /// Transfers in, which takes LUN and channel, then programs.
    #[inline]
    pub(crate) fn program(&mut self, page: Ppn, earliest: u64) -> u64 {
        let number = self.lun_of(page);
        let lun = &mut self.all[number];
        let mut start = earliest.max(lun.free);
        if self.transfer_ns > 0 {
            let channel_free = &mut self.channel_free[lun.channel as usize];
            start = start.max(*channel_free);
            *channel_free = start + self.transfer_ns;
        }
        lun.occupy(start, start + self.transfer_ns + self.program_ns)
    }

    /// Reads `from` and programs `to`.
    #[inline]
    pub(crate) fn copy(&mut self, from: Ppn, to: Ppn, earliest: u64) -> u64 {
        if let [lun] = &mut self.all[..] {
            // It has its channel for itself, which never keeps it waiting.
            let start = earliest.max(lun.free);
            return lun.occupy(start, start + self.copy_ns);
        }
        let is_read = self.read(from, earliest);
        self.program(to, is_read)
    }

    /// Erases on every LUN of `block`; complete when the last is.
    pub(crate) fn erase(&mut self, block: BlockId, earliest: u64) -> u64 {
        let mut done = earliest;
        for number in self.luns_of(block) {
            let lun = &mut self.all[number];
            let start = earliest.max(lun.free);
            done = done.max(lun.occupy(start, start + self.erase_ns));
        }
        done
    }
}

impl Lun {
    #[inline]
    fn occupy(&mut self, start: u64, done: u64) -> u64 {
        self.busy_ns += done - start;
        self.free = done;
        done
    }
}

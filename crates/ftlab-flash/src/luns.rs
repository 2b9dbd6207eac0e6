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
    striping: Striping,
    all: Vec<Lun>,
    /// Channel -> when it is free.
    channel_free: Vec<u64>,
}

/// Maps pages to LUNs, without a division.
///
/// With d LUNs and r = ceil(2^64 / d), the remainder of n < 2^32 is d (n r mod 2^64) / 2^64 (Lemire, Kaser
/// and Kurz, "Faster remainder by direct computation", 2019).
#[derive(Debug, Clone, Copy)]
struct Striping {
    luns: u32,
    reciprocal: u64,
    pages_per_block: u32,
    block_of: BlockOf,
    layout: Layout,
    /// Whether page p of the drive, too, is on LUN p mod d: a superblock has as many pages on each.
    is_even: bool,
}

impl Striping {
    fn new(luns: u32, layout: Layout, geometry: &Geometry) -> Self {
        let pages_per_block = geometry.pages_per_block();
        Self {
            luns,
            reciprocal: (u64::MAX / u64::from(luns)).wrapping_add(1),
            pages_per_block,
            block_of: geometry.block_of(),
            layout,
            is_even: layout == Layout::Superblock && pages_per_block.is_multiple_of(luns),
        }
    }

    #[inline]
    fn lun(self, page: Ppn) -> usize {
        if self.is_even {
            return self.remainder(page.0);
        }
        let block = self.block_of.page(page);
        match self.layout {
            Layout::Superblock => self.remainder(page.0 - block.0 * self.pages_per_block),
            Layout::Block => self.remainder(block.0),
        }
    }

    /// `number` mod the number of LUNs.
    #[inline]
    fn remainder(self, number: u32) -> usize {
        let fraction = self.reciprocal.wrapping_mul(u64::from(number));
        ((u128::from(fraction) * u128::from(self.luns)) >> 64) as usize
    }
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
            striping: Striping::new(channels * luns, parameters.layout, geometry),
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
        self.striping.lun(page)
    }

    /// The LUNs that hold pages of `block`.
    pub(crate) fn luns_of(&self, block: BlockId) -> Range<usize> {
        match self.striping.layout {
            Layout::Superblock => 0..self.all.len().min(self.striping.pages_per_block as usize),
            Layout::Block => {
                let lun = block.index() % self.all.len();
                lun..lun + 1
            }
        }
    }

    /// Reads from the cells, then transfers out; the LUN holds the page until that is done.
    #[inline]
    pub(crate) fn read(&mut self, page: Ppn, earliest: u64) -> u64 {
        self.read_from(self.lun_of(page), earliest)
    }

    #[inline]
    fn read_from(&mut self, number: usize, earliest: u64) -> u64 {
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
        self.program_on(self.lun_of(page), earliest)
    }

    #[inline]
    fn program_on(&mut self, number: usize, earliest: u64) -> u64 {
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
    #[expect(clippy::inline_always, reason = "called for each page that is moved")]
    #[inline(always)]
    pub(crate) fn copy(&mut self, from: Ppn, to: Ppn, earliest: u64) -> u64 {
        if let [lun] = &mut self.all[..] {
            // It has its channel for itself, which never keeps it waiting.
            let start = earliest.max(lun.free);
            return lun.occupy(start, start + self.copy_ns);
        }
        let (from, to) = (self.lun_of(from), self.lun_of(to));
        if from == to && self.transfer_ns == 0 {
            let lun = &mut self.all[from];
            let start = earliest.max(lun.free);
            return lun.occupy(start, start + self.copy_ns);
        }
        let is_read = self.read_from(from, earliest);
        self.program_on(to, is_read)
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

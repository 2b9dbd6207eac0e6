//! LUNs and channels: who is busy until when.

use crate::timing::{Layout, TimingParameters, nanoseconds};
use crate::{BlockId, BlockOf, Geometry, MergeCopy, Ppn};
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
    /// LUN -> when it is free.
    free: Vec<u64>,
    /// LUN -> time for which it was occupied.
    busy_ns: Vec<u64>,
    /// LUN -> the channel that it is on.
    channel_of: Vec<u32>,
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

impl Luns {
    pub(crate) fn new(parameters: &TimingParameters, geometry: &Geometry) -> Self {
        let TimingParameters { channels, luns, .. } = *parameters;
        let count = channels * luns;
        let read_ns = nanoseconds(parameters.read_us);
        let program_ns = nanoseconds(parameters.program_us);
        let transfer_ns = nanoseconds(parameters.transfer_us);
        Self {
            read_ns,
            program_ns,
            erase_ns: nanoseconds(parameters.erase_us),
            transfer_ns,
            copy_ns: read_ns + program_ns + 2 * transfer_ns,
            striping: Striping::new(count, parameters.layout, geometry),
            free: vec![0; count as usize],
            busy_ns: vec![0; count as usize],
            channel_of: (0..count).map(|lun| lun % channels).collect(),
            channel_free: vec![0; channels as usize],
        }
    }

    /// When the last operation is complete.
    pub(crate) fn end(&self) -> u64 {
        self.free.iter().copied().max().unwrap_or(0)
    }

    /// LUN -> time for which it was occupied.
    pub(crate) fn busy_ns(&self) -> &[u64] {
        &self.busy_ns
    }

    #[inline]
    fn lun_of(&self, page: Ppn) -> usize {
        self.striping.lun(page)
    }

    /// The LUNs that hold pages of `block`.
    pub(crate) fn luns_of(&self, block: BlockId) -> Range<usize> {
        match self.striping.layout {
            Layout::Superblock => 0..self.free.len().min(self.striping.pages_per_block as usize),
            Layout::Block => {
                let lun = block.index() % self.free.len();
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
    fn read_from(&mut self, lun: usize, earliest: u64) -> u64 {
        let start = earliest.max(self.free[lun]);
        let mut done = start + self.read_ns;
        if self.transfer_ns > 0 {
            let channel_free = &mut self.channel_free[self.channel_of[lun] as usize];
            done = done.max(*channel_free) + self.transfer_ns;
            *channel_free = done;
        }
        self.occupy(lun, start, done)
    }

    /// Transfers in, which takes LUN and channel, then programs.
    #[inline]
    pub(crate) fn program(&mut self, page: Ppn, earliest: u64) -> u64 {
        self.program_on(self.lun_of(page), earliest)
    }

    #[inline]
    fn program_on(&mut self, lun: usize, earliest: u64) -> u64 {
        let mut start = earliest.max(self.free[lun]);
        if self.transfer_ns > 0 {
            let channel_free = &mut self.channel_free[self.channel_of[lun] as usize];
            start = start.max(*channel_free);
            *channel_free = start + self.transfer_ns;
        }
        self.occupy(lun, start, start + self.transfer_ns + self.program_ns)
    }

    /// Reads `from` and programs `to`.
    #[expect(clippy::inline_always, reason = "called for each page that is moved")]
    #[inline(always)]
    pub(crate) fn copy(&mut self, from: Ppn, to: Ppn, earliest: u64) -> u64 {
        if self.free.len() == 1 {
            // It has its channel for itself, which never keeps it waiting.
            return self.copy_within(0, earliest);
        }
        let (from, to) = (self.lun_of(from), self.lun_of(to));
        if from == to && self.transfer_ns == 0 {
            return self.copy_within(from, earliest);
        }
        let is_read = self.read_from(from, earliest);
        self.program_on(to, is_read)
    }

    /// [`Self::copy`] for each of a merge; complete when the last is.
    pub(crate) fn copy_all(&mut self, copies: &[MergeCopy], earliest: u64) -> u64 {
        if copies.is_empty() {
            return 0;
        }
        if let [free] = &mut self.free[..] {
            let time = copies.len() as u64 * self.copy_ns;
            *free = earliest.max(*free) + time;
            self.busy_ns[0] += time;
            return *free;
        }
        if self.transfer_ns > 0 {
            let copy = |done, copy: &MergeCopy| self.copy(copy.from, copy.to, earliest).max(done);
            return copies.iter().fold(0, copy);
        }
        // Without transfers LUNs do not wait for each other's: a shorter way to the same.
        let Self { striping, read_ns, program_ns, .. } = *self;
        let (free, busy_ns) = (&mut self.free[..], &mut self.busy_ns[..]);
        let mut last = 0;
        for &MergeCopy { from, to, .. } in copies {
            let (from, to) = (striping.lun(from), striping.lun(to));
            let is_read = free[from].max(earliest) + read_ns;
            free[from] = is_read;
            busy_ns[from] += read_ns;
            let done = free[to].max(is_read) + program_ns;
            free[to] = done;
            busy_ns[to] += program_ns;
            last = done.max(last);
        }
        last
    }

    /// A copy that no channel keeps waiting.
    #[inline]
    fn copy_within(&mut self, lun: usize, earliest: u64) -> u64 {
        let start = earliest.max(self.free[lun]);
        self.occupy(lun, start, start + self.copy_ns)
    }

    /// Erases on every LUN of `block`; complete when the last is.
    pub(crate) fn erase(&mut self, block: BlockId, earliest: u64) -> u64 {
        let luns = self.luns_of(block);
        let mut done = earliest;
        for (free, busy_ns) in self.free[luns.clone()].iter_mut().zip(&mut self.busy_ns[luns]) {
            *free = earliest.max(*free) + self.erase_ns;
            *busy_ns += self.erase_ns;
            done = done.max(*free);
        }
        done
    }

    #[inline]
    fn occupy(&mut self, lun: usize, start: u64, done: u64) -> u64 {
        self.busy_ns[lun] += done - start;
        self.free[lun] = done;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lpn, Timing};

    #[test]
    fn copies_of_a_merge_take_as_long_as_one_by_one() {
        let geometry = Geometry::new(40, 12, 4096).unwrap();
        for timing in
            ["slc", "femu", "femu:luns=3", "femu:channels=1,luns=5,layout=block", "enterprise"]
        {
            let timing = Timing::from_spec(&timing.parse().unwrap()).unwrap();
            let mut together = Luns::new(timing.parameters(), &geometry);
            let mut one_by_one = together.clone();
            let mut random = 1_u32;
            for merge in 0..50_u32 {
                let copy = |place| {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    MergeCopy { from: Ppn((random >> 8) % 480), to: Ppn(36 + place), lpn: Lpn(0) }
                };
                let copies: Vec<_> = (0..merge % 13).map(copy).collect();
                let earliest = u64::from(merge) * 1_000_000;
                let copy = |done, copy: &MergeCopy| {
                    one_by_one.copy(copy.from, copy.to, earliest).max(done)
                };
                let done = copies.iter().fold(0, copy);
                assert_eq!(together.copy_all(&copies, earliest), done);
                assert_eq!(together.free, one_by_one.free);
                assert_eq!(together.busy_ns, one_by_one.busy_ns);
            }
        }
    }
}

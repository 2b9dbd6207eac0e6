//! Pages that a merge copies.

use crate::{Lpn, Page, Ppn};

/// Pages of a data block that a merge copies to another one, to the same places, but from the log where they are newer
/// there.
#[derive(Debug, Clone, Copy)]
pub struct Merge<'a> {
    /// The logical page that the first one holds; the next ones hold those that follow.
    pub lpn: Lpn,
    /// Where the first one is in the data block.
    pub data: Ppn,
    /// Where the first one goes.
    pub to: Ppn,
    /// Bit i is set if the page i after the first one holds something, and is copied.
    pub live: u64,
    /// Page -> where it is in the log, or [`NOT_IN_LOG`](Self::NOT_IN_LOG).
    pub log_pages: &'a [u32],
}

impl Merge<'_> {
    /// More pages take several of these.
    pub const PAGES_MAX: u32 = u64::BITS;

    /// In place of a page of the log.
    pub const NOT_IN_LOG: u32 = u32::MAX;

    /// How many pages are copied.
    #[inline]
    pub fn pages(&self) -> u32 {
        self.live.count_ones()
    }

    /// From where to where which logical pages are copied, in order.
    #[inline]
    pub fn moves(self) -> impl Iterator<Item = (Ppn, Ppn, Lpn)> {
        ones(self.live)
            .map(move |step| (self.from(step), Ppn(self.to.0 + step), Lpn(self.lpn.0 + step)))
    }

    /// What is programmed where, in order.
    #[inline]
    pub fn copies(self) -> impl Iterator<Item = (Ppn, Page<'static>)> {
        self.moves().map(|(from, to, lpn)| (to, Page::copy(lpn, from)))
    }

    /// Where a page is.
    #[inline]
    pub(crate) fn from(&self, step: u32) -> Ppn {
        match self.log_pages[step as usize] {
            Self::NOT_IN_LOG => Ppn(self.data.0 + step),
            log_page => Ppn(log_page),
        }
    }

    /// Bit i is set if page i is copied from the log.
    #[inline]
    pub(crate) fn logged(&self) -> u64 {
        let bit = |(step, &page): (u32, &u32)| u64::from(page != Self::NOT_IN_LOG) << step;
        self.live & (0..).zip(self.log_pages).map(bit).fold(0, |bits, bit| bits | bit)
    }

    /// In parts that end where the number of the page that they go to is a multiple of `pages`, a power of two.
    #[inline]
    pub(crate) fn parts(mut self, pages: u32) -> impl Iterator<Item = Self> {
        std::iter::from_fn(move || {
            let left = self.log_pages.len() as u32;
            let taken = (pages - self.to.0 % pages).min(left);
            let (log_pages, rest) = self.log_pages.split_at(taken as usize);
            let part = Self { log_pages, live: self.live & first_bits(taken), ..self };
            self.log_pages = rest;
            self.live = self.live.checked_shr(taken).unwrap_or(0);
            for number in [&mut self.lpn.0, &mut self.data.0, &mut self.to.0] {
                *number += taken;
            }
            (taken > 0).then_some(part)
        })
    }
}

/// The first `count` bits, 64 at most.
#[inline]
pub(crate) fn first_bits(count: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS - count).unwrap_or(0)
}

/// The bits that are set, in order.
#[inline]
pub(crate) fn ones(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let first = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (first < u64::BITS).then_some(first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: u32 = Merge::NOT_IN_LOG;

    #[test]
    fn newer_versions_come_from_the_log_and_empty_places_stay_empty() {
        let log_pages = [NONE, 70, 71, NONE, 72];
        let merge = Merge {
            lpn: Lpn(10),
            data: Ppn(20),
            to: Ppn(30),
            live: 0b1_1011,
            log_pages: &log_pages,
        };
        let copies: Vec<_> = merge.moves().map(|(from, to, lpn)| (from.0, to.0, lpn.0)).collect();
        assert_eq!(copies, [(20, 30, 10), (70, 31, 11), (23, 33, 13), (72, 34, 14)]);
        assert_eq!((merge.pages(), merge.logged()), (4, 0b1_0010));
    }

    #[test]
    fn parts_end_at_multiples_and_copy_the_same() {
        let log_pages: Vec<u32> =
            (0..64).map(|it| if it % 3 == 0 { 100 + it } else { NONE }).collect();
        for (to, pages, live) in
            [(64, 64, u64::MAX), (3, 8, u64::MAX), (5, 1, 0xf0f0), (60, 128, 1 << 63)]
        {
            for count in [1, 7, 63, 64] {
                let merge = Merge {
                    lpn: Lpn(200),
                    data: Ppn(300),
                    to: Ppn(to),
                    live: live & first_bits(count),
                    log_pages: &log_pages[..count as usize],
                };
                let parts: Vec<_> = merge.parts(pages).collect();
                let end = |part: &Merge| part.to.0 + part.log_pages.len() as u32;
                assert!(parts[..parts.len() - 1].iter().all(|part| end(part) % pages == 0));
                assert!(parts.iter().all(|part| part.log_pages.len() as u32 <= pages));
                let copies: Vec<_> = parts.into_iter().flat_map(Merge::copies).collect();
                assert_eq!(copies, merge.copies().collect::<Vec<_>>(), "{to} {pages} {count}");
            }
        }
    }
}

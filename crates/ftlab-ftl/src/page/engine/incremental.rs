//! Garbage collection in steps: a few relocations after each host write, instead of a whole
//! collection before one.
//!
//! ```text
//! a host write finds no room, and no more blocks are free than the reserve:
//!     choose victims (policy.select_victims)
//!     open a block out of the reserve, and continue
//! after this host write and those that follow:
//!     relocate the next pages of the victims, erase those that are empty
//!     all are erased, and fewer blocks are free than the reserve: choose victims again,
//!         unless relocated pages went to the stream that asked for a block
//!     all are erased, and the policy wants a collection: choose its victims (policy.select_wanted)
//! ```
//!
//! Under the schedule `background` the host write waits for the first of the victims it has chosen, and
//! what follows relocates the others.
//!
//! # When it begins
//! When a whole collection would: the policy then chooses among the same blocks as it would for that,
//! and a drive in steps has as many free blocks at that moment as any other. Only, the host write does
//! not wait, or only for the first victim. It borrows a block of the reserve, which the collection pays
//! back.
//!
//! # When it ends
//! When whole collections would: when as many blocks are free as before, or as soon as relocated pages
//! brought the stream that asked a block with room. What is still owed then, the next host write that
//! finds no room collects before it continues.
//!
//! # Pace
//! A collection that gains g pages is spread over the next g host writes, which would use them up; over
//! half of that if the drive is still in debt for an earlier one. Where relocations do not go to the
//! stream of the host write, it is spread over no more than a sixteenth of the writes for which that has
//! room: the rest is for further collections, if the first leaves debts, and the longer a page waits to be
//! moved, the likelier the host writes it before, which whole collections cannot hope for. The next step
//! relocates the pages left, divided by the host writes left. `pages` limits a step.
//!
//! # What stays whole
//! A collection that gains two blocks or more for the only stream, as that of `lfs-cb`, lays cleaned pages
//! together in blocks of their own. Steps would put host writes between them.
//!
//! # What it must not break
//! - All victims of a selection are collected before the next selection. A host write that finds no
//!   room completes the collection that is under way, and only then begins another.
//! - Pages of a victim that are overwritten or trimmed between two steps are not relocated; the policy
//!   is told as of any other block. A victim is [`Phase::Victim`](crate::page::Phase::Victim), which
//!   no policy can choose.
//! - Free blocks suffice for the rest: see `blocks_needed`. No block is borrowed beyond that, and if a
//!   step leaves fewer, the collection is completed at once. So a reserve of one block more than
//!   relocations may need lets collections proceed in steps, and a smaller one makes some of them whole.
//!
//! # Reference
//! Kang et al., "2R", PVLDB 13(11), 2020, section 4.3.4: the host write proceeds once the first victim is
//! erased, the others are merged in the background. This is `background`; `incremental` goes further. The
//! pace is our choice.

use crate::page::engine::page_mapped::PageMapped;
use crate::page::engine::progress::Progress;
use crate::page::policy::Policy;
use crate::page::{GcSchedule, Phase};
use crate::stream::StreamId;
use crate::{FtlError, Observer};
use ftlab_flash::{BlockId, Cause, Flash, Ppn, Purpose};

impl<F: Flash, O: Observer> PageMapped<dyn Policy, F, O> {
    /// Begins a collection in steps if there may be one. Whether the host write to `stream`, which had no
    /// room, need not wait for its end: it has room now, or may open a block of the reserve, because the
    /// collection pays it back.
    pub(super) fn may_proceed(
        &mut self,
        stream: StreamId,
        purpose: Purpose,
    ) -> Result<bool, FtlError<F::Error>> {
        debug_assert!(!self.drive.has_room(stream));
        let is_in_debt = self.drive.free_blocks() < self.config.reserve_blocks;
        if self.config.gc.step_pages_max().is_none() || self.progress.is_under_way || is_in_debt {
            return Ok(false);
        }
        self.progress.has_served = false;
        self.select(self.drive.pages_per_block(), true)?;
        self.begin();
        self.spread(stream, self.victims.invalid_pages(), self.drive.pages_per_block());
        if self.would_mix() {
            return Ok(false);
        }
        if matches!(self.config.gc, GcSchedule::Background { .. }) {
            self.merge_first(purpose)?;
        }
        let may_borrow = self.drive.free_blocks() > self.blocks_needed(Some(stream));
        Ok(may_borrow || self.drive.has_room(stream))
    }

    /// The step after a host write to `stream`; `pages_max` relocations at most, 0 being no limit.
    pub(super) fn step(
        &mut self,
        stream: StreamId,
        pages_max: u32,
        purpose: Purpose,
    ) -> Result<(), FtlError<F::Error>> {
        if !self.progress.is_under_way {
            let is_in_debt = self.drive.free_blocks() < self.config.reserve_blocks;
            if is_in_debt && !self.progress.has_served {
                self.select(self.drive.pages_per_block(), true)?;
                self.begin();
                self.spread(stream, self.victims.invalid_pages() / 2, self.room(stream));
            } else {
                self.select_wanted();
                let is_short = self.drive.free_blocks() < self.config.gc_start_blocks;
                if self.victims.is_empty() && is_short {
                    self.select(self.config.early_valid_pages_max, false)?;
                }
                self.begin();
                self.spread(stream, self.victims.invalid_pages(), self.room(stream));
            }
        }
        if !self.progress.is_under_way {
            return Ok(());
        }
        debug_assert!(!self.victims.is_empty());
        let pages = self.pages_now(stream);
        self.advance(if pages_max > 0 { pages.min(pages_max) } else { pages }, purpose)?;
        let free_blocks = self.drive.free_blocks();
        if free_blocks < self.reserve_min && free_blocks < self.blocks_needed(None) {
            self.complete(purpose)?;
            debug_assert!(!self.progress.is_under_way);
        }
        Ok(())
    }

    /// Begins the collection of the victims that were selected, if there are any.
    fn begin(&mut self) {
        debug_assert!(!self.progress.is_under_way);
        if self.victims.is_empty() {
            return;
        }
        for &victim in self.victims.blocks() {
            self.drive.mark_victim(victim);
        }
        self.counters.collections += 1;
        let has_served = self.progress.has_served;
        self.progress = Progress { is_under_way: true, has_served, ..Progress::default() };
        self.schedule_background();
        self.enter_victim();
        debug_assert!(self.progress.is_under_way && self.background_below == u32::MAX);
    }

    /// Relocates the valid pages of the first victim and erases it.
    fn merge_first(&mut self, purpose: Purpose) -> Result<(), FtlError<F::Error>> {
        debug_assert_eq!(self.progress.victim, 0);
        let first = self.victims.blocks()[0];
        self.observer.collection_begins();
        self.advance(self.drive.valid_pages(first), purpose)?;
        self.observer.collection_ends();
        debug_assert_ne!(self.drive.phase(first), Phase::Victim);
        Ok(())
    }

    /// Spreads the collection over `writes` host writes, or a sixteenth of the `room` of `stream`.
    fn spread(&mut self, stream: StreamId, writes: u32, room: u32) {
        let most = if self.takes_relocations(stream) { u32::MAX } else { room / 16 };
        self.progress.left_writes = writes.min(most);
        debug_assert!(self.progress.left_writes <= writes);
    }

    /// How many pages this step relocates for the collection to end in time.
    fn pages_now(&mut self, stream: StreamId) -> u32 {
        let mut writes = self.progress.left_writes;
        self.progress.left_writes = writes.saturating_sub(1);
        if !self.takes_relocations(stream) {
            writes = writes.min(self.room(stream));
        }
        let pages = self.progress.left_pages.div_ceil(writes.max(1));
        debug_assert!(pages <= self.progress.left_pages);
        debug_assert!(pages > 0 || self.progress.left_pages == 0, "it would never end");
        pages
    }

    /// Whether host writes would come between pages that several victims bring together.
    fn would_mix(&self) -> bool {
        let is_alone = self.drive.streams().len() == 1;
        is_alone && self.victims.invalid_pages() >= 2 * self.drive.pages_per_block()
    }

    fn takes_relocations(&self, stream: StreamId) -> bool {
        self.drive.streams()[stream.index()].takes_relocations
    }

    /// Host writes to `stream` until it needs a collection, unless relocations bring it room.
    fn room(&self, stream: StreamId) -> u32 {
        let blocks = self.drive.free_blocks().saturating_sub(self.config.reserve_blocks);
        self.drive.room(stream) + blocks * self.drive.pages_per_block()
    }

    /// Free blocks that suffice for the rest of the collection and one host write; `opened` is a stream
    /// that is about to get a new open block.
    ///
    /// Let v pages of the present victim be left to move, and let the open blocks of the streams that
    /// take relocations hold f pages, a missing block counting as a full one. Until e more victims are
    /// erased, at most v + e B pages move, with B pages per block. A stream opens its first block when
    /// its old one is full and each further one B pages later, so that the o blocks opened by then are
    /// (o - e) B < v + f. A policy may know that it needs fewer.
    fn blocks_needed(&self, opened: Option<StreamId>) -> u32 {
        let pages_per_block = self.drive.pages_per_block();
        let streams = (0..self.drive.streams().len() as u8).map(StreamId);
        let room = |stream| {
            if opened == Some(stream) { pages_per_block } else { self.drive.room(stream) }
        };
        let filled: u32 = streams
            .filter(|&stream| self.takes_relocations(stream))
            .map(|stream| pages_per_block - room(stream))
            .sum();
        debug_assert!(self.progress.victim <= self.victims.blocks().len());
        let victim = self.victims.blocks()[self.progress.victim..].first();
        let left = victim.map_or(0, |&victim| self.drive.valid_pages(victim));
        ((left + filled) / pages_per_block).min(self.reserve_min)
    }

    /// Does all that is left of the collection that is under way.
    pub(super) fn complete(&mut self, purpose: Purpose) -> Result<(), FtlError<F::Error>> {
        self.advance(u32::MAX, purpose)
    }

    /// Relocates the next `pages` valid pages, and erases the victims that are empty then.
    fn advance(&mut self, mut pages: u32, purpose: Purpose) -> Result<(), FtlError<F::Error>> {
        while self.progress.is_under_way {
            let victim = self.victims.blocks()[self.progress.victim];
            debug_assert_eq!(self.drive.phase(victim), Phase::Victim);
            if self.drive.valid_pages(victim) == 0 {
                self.erase(victim, purpose)?;
                self.progress.victim += 1;
                self.enter_victim();
            } else if pages == 0 {
                break;
            } else {
                let moved = self.relocate_some(victim, pages, purpose)?;
                debug_assert!(moved <= pages);
                pages -= moved;
            }
        }
        Ok(())
    }

    /// Turns to the next victim, or ends the collection.
    fn enter_victim(&mut self) {
        let rest = &self.victims.blocks()[self.progress.victim..];
        let Some(&victim) = rest.first() else {
            self.progress.is_under_way = false;
            self.schedule_background();
            return;
        };
        debug_assert_eq!(self.drive.phase(victim), Phase::Victim);
        self.progress.page = self.drive.geometry().first_page(victim).0;
        self.progress.left_pages = rest.iter().map(|&block| self.drive.valid_pages(block)).sum();
        let from = self.drive.frontier_of(victim);
        let valid_pages = self.drive.valid_pages(victim);
        self.observer.collection(victim, from, valid_pages, Cause::Move);
    }

    /// Relocates valid pages of `victim`, up to `most` of the next 64; returns how many.
    fn relocate_some(
        &mut self,
        victim: BlockId,
        most: u32,
        purpose: Purpose,
    ) -> Result<u32, FtlError<F::Error>> {
        debug_assert!(most > 0 && self.drive.valid_pages(victim) > 0);
        let word = self.progress.page / 64;
        let bits = lowest(self.drive.valid_word_of(victim, word), most);
        let from = self.drive.frontier_of(victim);
        if self.drive.is_paged() {
            self.know_owners(victim)?;
        }
        let pages = || (0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| Ppn(word * 64 + bit));
        for page in pages() {
            self.fetch(page, victim);
        }
        for page in pages() {
            let lpn = self.drive.owner(page);
            let to = self.relocate(page, lpn, victim, from, purpose);
            let to = to.inspect_err(|_| self.drive.recount(victim))?;
            self.progress.has_served |= to == self.requester;
        }
        self.drive.clear_valid(victim, word, bits);
        let moved = bits.count_ones();
        self.counters.streams[from.index()].relocations += u64::from(moved);
        self.progress.left_pages = self.progress.left_pages.saturating_sub(moved);
        self.progress.page = word * 64 + if moved < most { 64 } else { 64 - bits.leading_zeros() };
        debug_assert!(moved <= most);
        Ok(moved)
    }
}

/// The lowest `count` bits that are set.
fn lowest(bits: u64, count: u32) -> u64 {
    let mut rest = bits;
    for _ in 0..count.min(64) {
        rest &= rest.wrapping_sub(1);
    }
    bits & !rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_bits_are_taken() {
        for (bits, count, expected) in
            [(0b1011, 2, 0b0011), (0b1011, 9, 0b1011), (0, 3, 0), (u64::MAX, 64, u64::MAX)]
        {
            assert_eq!(lowest(bits, count), expected);
        }
        assert_eq!(lowest(1 << 63, 1), 1 << 63);
        assert_eq!(lowest(0b110, 0), 0);
    }
}

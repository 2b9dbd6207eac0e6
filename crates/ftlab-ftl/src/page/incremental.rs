//! Garbage collection in steps: a few relocations behind each host write, instead of a whole
//! collection before one.
//!
//! ```text
//! behind a host write:
//!     if no collection is under way and few blocks are free: begin one (policy.select_victims)
//!     if one is under way: relocate the next pages of its victims, erase those that are empty
//! ```
//!
//! # When it begins
//! When no more blocks are free than the low-water mark: the reserve, or one block more than relocations
//! may open at once if that is more. Foreground collection would wait until a host write finds no
//! room, and the longer a collection waits the fewer pages it has to move. So where relocations do not
//! go to the stream of the host write, it begins only when half a block of host writes is left.
//!
//! # Pace
//! A collection that gains g pages is spread over the next g host writes, which would use them up; or
//! over half of those that its stream has room for, if they are fewer and relocations bring it none:
//! the other half is for a second collection, if the first leaves no more free blocks than there were.
//! The next step relocates the pages left, divided by the host writes left. `pages` limits a step.
//!
//! # What it must not break
//! - All victims of a selection are collected before the next selection. A host write that finds no
//!   room completes the collection that is under way, and only then begins another.
//! - Pages of a victim that are overwritten or trimmed between two steps are not relocated; the policy
//!   is told as of any other block. A victim is [`Phase::Victim`](crate::page::Phase::Victim), which
//!   no policy can choose.
//! - Free blocks suffice for the rest: relocations open at most `reserve_blocks_min` more blocks than
//!   the erases behind them free, whatever the open blocks have room for. If fewer blocks than that
//!   are left behind a step, the collection is completed before the next host write.
//!
//! # Reference
//! Kang et al., "2R", PVLDB 13(11), 2020, section 4.3.4, propose to merge further victims in the
//! background; the pace is our choice.

use crate::page::policy::{Policy, StreamId};
use crate::page::{DriveConfig, PageMapped};
use crate::{FtlError, Observer};
use ftlab_flash::{BlockId, Flash, Ppn};

/// How far the collection is that is under way.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    is_under_way: bool,
    /// The victim, by its place in the selection.
    victim: usize,
    /// The first flash page of it that has not been looked at.
    page: u32,
    /// Pages to relocate, at most.
    left_pages: u32,
    /// Host writes until they should be.
    left_writes: u32,
}

impl Progress {
    pub(crate) fn is_under_way(&self) -> bool {
        self.is_under_way
    }
}

/// Free blocks at which a collection in steps begins: see the head of this file. Never so many that
/// no sealed block might hold an invalid page.
pub(crate) fn low_water_blocks(
    config: &DriveConfig,
    streams: u32,
    reserve_min: u32,
    retired_blocks: u32,
) -> u32 {
    let blocks = config.geometry.blocks() - retired_blocks;
    let most = blocks.saturating_sub(config.data_blocks() + streams + 1);
    config.reserve_blocks.max(reserve_min + 1).min(most).max(config.reserve_blocks)
}

impl<P: Policy, F: Flash, O: Observer> PageMapped<P, F, O> {
    /// The step behind a host write to `stream`; `pages_max` relocations at most, 0 being no limit.
    pub(crate) fn step(
        &mut self,
        stream: StreamId,
        pages_max: u32,
    ) -> Result<(), FtlError<F::Error>> {
        if !self.progress.is_under_way {
            let half = self.drive.pages_per_block() / 2;
            if self.writes_left(stream).is_some_and(|writes| writes > half) {
                return Ok(());
            }
            self.begin()?;
            let half = self.writes_left(stream).map_or(u32::MAX, |writes| writes / 2);
            self.progress.left_writes = self.victims.invalid_pages().min(half);
        }
        let pages = self.pages_now(stream);
        self.advance(if pages_max > 0 { pages.min(pages_max) } else { pages })?;
        // One more page may open the block that the next host write needs.
        while self.progress.is_under_way && self.is_stuck(stream) {
            self.advance(1)?;
        }
        if self.drive.free_blocks() < self.reserve_min {
            self.complete()?;
        }
        Ok(())
    }

    /// Chooses the victims of the next collection, if there are any.
    fn begin(&mut self) -> Result<(), FtlError<F::Error>> {
        if self.drive.free_blocks() <= self.low_water_blocks {
            self.select(self.drive.pages_per_block(), true)?;
        } else {
            self.select(self.config.early_valid_pages_max, false)?;
        }
        if self.victims.is_empty() {
            return Ok(());
        }
        for &victim in self.victims.blocks() {
            self.drive.mark_victim(victim);
        }
        self.counters.collections += 1;
        self.progress = Progress { is_under_way: true, ..Progress::default() };
        self.schedule_background();
        self.enter_victim();
        Ok(())
    }

    /// How many pages this step relocates for the collection to end in time.
    fn pages_now(&mut self, stream: StreamId) -> u32 {
        let mut writes = self.progress.left_writes;
        self.progress.left_writes = writes.saturating_sub(1);
        if let Some(left) = self.writes_left(stream) {
            writes = writes.min(left);
        }
        self.progress.left_pages.div_ceil(writes.max(1))
    }

    /// Host writes to `stream` until it needs a collection, unless relocations bring it room.
    fn writes_left(&self, stream: StreamId) -> Option<u32> {
        let brings_room = self.drive.streams()[stream.index()].takes_relocations;
        let blocks = self.drive.free_blocks().saturating_sub(self.config.reserve_blocks);
        let room = self.drive.room(stream) + blocks * self.drive.pages_per_block();
        (!brings_room).then_some(room)
    }

    /// Whether the next host write to `stream` will need a block that only relocations may open.
    fn is_stuck(&self, stream: StreamId) -> bool {
        !self.drive.has_room(stream)
            && self.drive.free_blocks() <= self.config.reserve_blocks
            && self.drive.streams()[stream.index()].takes_relocations
    }

    /// Does all that is left of the collection that is under way.
    pub(crate) fn complete(&mut self) -> Result<(), FtlError<F::Error>> {
        self.advance(u32::MAX)
    }

    /// Relocates the next `pages` valid pages, and erases the victims that are empty then.
    fn advance(&mut self, mut pages: u32) -> Result<(), FtlError<F::Error>> {
        while self.progress.is_under_way {
            let victim = self.victims.blocks()[self.progress.victim];
            if self.drive.valid_pages(victim) == 0 {
                self.erase(victim)?;
                self.progress.victim += 1;
                self.enter_victim();
            } else if pages == 0 {
                break;
            } else {
                pages -= self.relocate_some(victim, pages)?;
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
        self.progress.page = self.drive.geometry().first_page(victim).0;
        self.progress.left_pages = rest.iter().map(|&block| self.drive.valid_pages(block)).sum();
        let from = self.drive.stream_of(victim);
        self.observer.collection(victim, from, self.drive.valid_pages(victim));
    }

    /// Relocates valid pages of `victim`, up to `most` of the next 64; returns how many.
    fn relocate_some(&mut self, victim: BlockId, most: u32) -> Result<u32, FtlError<F::Error>> {
        let word = self.progress.page / 64;
        let bits = lowest(self.drive.valid_word_of(victim, word), most);
        let from = self.drive.stream_of(victim);
        let pages = || (0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| Ppn(word * 64 + bit));
        pages().for_each(|page| self.fetch(page, victim));
        for page in pages() {
            self.relocate(page, victim, from).inspect_err(|_| self.drive.recount(victim))?;
        }
        self.drive.clear_valid(victim, word, bits);
        let moved = bits.count_ones();
        self.counters.streams[from.index()].relocations += u64::from(moved);
        self.progress.left_pages = self.progress.left_pages.saturating_sub(moved);
        self.progress.page = word * 64 + if moved < most { 64 } else { 64 - bits.leading_zeros() };
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

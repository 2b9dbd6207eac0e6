//! Garbage collection: victims are chosen, their valid pages moved, and they are erased.

use crate::page::Phase;
use crate::page::engine::page_mapped::{Forgotten, PageMapped};
use crate::page::handle_streams::Handles;
use crate::page::policy::{Policy, Relocation};
use crate::stream::StreamId;
use crate::{FtlError, Observer};
use ftlab_flash::{BlockId, Flash, Lpn, Page, Ppn, Purpose};

/// Valid pages of a victim whose owners are read, and whose mappings are fetched, before they move.
const LOOKED_UP: u32 = 32;

/// Pages that move between two rounds of looking up: no more than memory accesses that can be under way.
const STEP: u32 = 8;

impl<P: Forgotten + ?Sized, F: Flash, O: Observer> PageMapped<P, F, O> {
    /// One collection that has to succeed, or the rest of the one that is under way. Each frees at
    /// least one invalid page, of which there is a finite number, and [`DriveConfig::verify`] saw to it
    /// that they suffice: so this comes to an end.
    pub(super) fn collect(&mut self, purpose: Purpose) -> Result<(), FtlError<F::Error>> {
        self.observer.collection_begins();
        if self.progress.is_under_way() {
            debug_assert!(!self.victims.is_empty());
            self.any().complete(purpose)?;
        } else {
            let most = self.drive.pages_per_block();
            self.any().select(most, true)?;
            self.reclaim_victims(purpose)?;
        }
        debug_assert!(!self.progress.is_under_way());
        self.observer.collection_ends();
        Ok(())
    }

    /// Collects the blocks that were selected.
    pub(super) fn reclaim_victims(&mut self, purpose: Purpose) -> Result<(), FtlError<F::Error>> {
        let erased = |ftl: &Self| ftl.counters.erases() + u64::from(ftl.drive.retired_blocks());
        let before = erased(self);
        self.counters.collections += u64::from(!self.victims.is_empty());
        if self.policy.sorts_moves() {
            self.any().close_victim();
            let victims = self.victims.blocks().to_vec();
            self.any().reclaim_sorted(&victims, purpose)?;
        } else {
            for index in 0..self.victims.blocks().len() {
                self.reclaim(self.victims.blocks()[index], purpose)?;
            }
        }
        debug_assert_eq!(erased(self) - before, self.victims.blocks().len() as u64);
        Ok(())
    }

    /// Moves the valid pages of `victim` and erases it.
    pub(super) fn reclaim(
        &mut self,
        victim: BlockId,
        purpose: Purpose,
    ) -> Result<(), FtlError<F::Error>> {
        if self.policy.sorts_moves() {
            return self.any().reclaim_sorted(&[victim], purpose);
        }
        let from = self.drive.frontier_of(victim);
        let moved = self.drive.valid_pages(victim);
        debug_assert_eq!(self.drive.phase(victim), Phase::Sealed);
        self.observer.collection(victim, from, moved, purpose.cause);
        if self.drive.is_paged() {
            self.any().know_owners(victim)?;
        }
        match self.policy.handles().map_or(1, Handles::luns) {
            1 => self.move_in_order(victim, from, moved, purpose)?,
            luns => self.any().move_by_luns(victim, from, luns, purpose)?,
        }
        debug_assert_eq!(self.drive.valid_pages(victim), moved, "an earlier copy counts until now");
        self.drive.vacate(victim);
        self.counters.streams[from.index()].relocations += u64::from(moved);
        self.any().erase(victim, purpose)
    }

    /// Moves the valid pages of `victim`, of which there are `moved`, in page order.
    #[inline]
    fn move_in_order(
        &mut self,
        victim: BlockId,
        from: StreamId,
        moved: u32,
        purpose: Purpose,
    ) -> Result<(), FtlError<F::Error>> {
        self.drive.prefetch_first_owners(victim);
        let mut walk = self.drive.valid_pages_of(victim);
        let mut upcoming = [(Ppn(0), Lpn(0)); LOOKED_UP as usize];
        let mut looked_up = 0;
        for step in (0..moved).step_by(STEP as usize) {
            let until = moved.min(step.saturating_add(LOOKED_UP));
            for index in looked_up..until {
                let page = walk.next(&self.drive);
                upcoming[(index % LOOKED_UP) as usize] = (page, self.fetch(page, victim));
            }
            looked_up = until;
            for index in step..moved.min(step.saturating_add(STEP)) {
                let (page, lpn) = upcoming[(index % LOOKED_UP) as usize];
                self.relocate(page, lpn, victim, from, purpose)
                    .inspect_err(|_| self.drive.recount(victim))?;
            }
        }
        Ok(())
    }

    /// Fetches what is to be asked about a valid page of a victim, and returns what it holds.
    #[inline]
    pub(super) fn fetch(&self, page: Ppn, victim: BlockId) -> Lpn {
        let lpn = self.drive.owner(page);
        self.drive.prefetch_mapping(lpn);
        self.policy.fetch_ahead(lpn, victim);
        lpn
    }

    /// Moves one valid page of `victim`, which holds `lpn`; its pages are of stream `from`. Returns the
    /// stream that it went to.
    #[expect(clippy::inline_always, reason = "called for each page")]
    #[inline(always)]
    pub(super) fn relocate(
        &mut self,
        source: Ppn,
        lpn: Lpn,
        victim: BlockId,
        from: StreamId,
        purpose: Purpose,
    ) -> Result<StreamId, FtlError<F::Error>> {
        debug_assert!(self.drive.may_hold(source, lpn), "{source} holds another page");
        debug_assert!(self.drive.may_be_at(lpn, source), "page {lpn} has moved already");
        debug_assert_eq!(self.drive.frontier_of(victim), from);
        let relocation = Relocation::new(lpn, victim, from);
        let mut stream = self.policy.place_relocation(relocation, &self.drive);
        if !self.drive.has_room(stream) {
            stream = self.any().room_for_relocation(stream)?;
        }
        let mut to = self.drive.next_page(stream);
        let page = Page::copy(lpn, source);
        while let Err(error) = self.flash.program(to, page, purpose) {
            self.any().give_up(stream, error)?;
            self.any().open(stream)?;
            to = self.drive.next_page(stream);
        }
        self.drive.append(stream, lpn);
        self.policy.on_moved(source, to);
        debug_assert!(self.drive.may_be_at(lpn, to));
        debug_assert_ne!(self.drive.block_of(to), victim);
        self.observer.relocation(lpn, source, to, stream);
        if !self.drive.has_room(stream) {
            self.any().seal(stream);
        }
        Ok(stream)
    }
}

impl<F: Flash, O: Observer> PageMapped<dyn Policy, F, O> {
    /// Lets the policy choose among blocks with at most `valid_pages_max` valid pages; if the
    /// collection is `needed`, with an invalid page among them.
    pub(super) fn select(
        &mut self,
        valid_pages_max: u32,
        needed: bool,
    ) -> Result<(), FtlError<F::Error>> {
        debug_assert!(!self.progress.is_under_way(), "its victims are not erased yet");
        self.victims.begin(self.requester, valid_pages_max);
        self.observer.choice_begins(&self.policy, &self.drive);
        self.policy.select_victims(&self.drive, &mut self.victims);
        self.observer.choice_ends(&self.victims);
        debug_assert!(self.are_eligible(valid_pages_max), "victims {:?}", self.victims);
        if needed && self.victims.invalid_pages() == 0 {
            return Err(FtlError::NothingToCollect { free_blocks: self.drive.free_blocks() });
        }
        Ok(())
    }

    /// Lets the policy choose blocks for a collection that it wants, if it does.
    pub(super) fn select_wanted(&mut self) {
        debug_assert!(!self.progress.is_under_way(), "its victims are not erased yet");
        let most = self.drive.pages_per_block();
        self.victims.begin(self.requester, most);
        if self.policy.wants_collection() {
            self.observer.choice_begins(&self.policy, &self.drive);
            self.policy.select_wanted(&self.drive, &mut self.victims);
            self.observer.choice_ends(&self.victims);
        }
        debug_assert!(self.are_eligible(most), "victims {:?}", self.victims);
        debug_assert!(!self.victims.is_empty() || !self.policy.wants_collection());
    }

    /// Moves the valid pages of `victim` one LUN after the other: page i of a unit is on LUN i mod `luns`.
    #[cold]
    fn move_by_luns(
        &mut self,
        victim: BlockId,
        from: StreamId,
        luns: u32,
        purpose: Purpose,
    ) -> Result<(), FtlError<F::Error>> {
        let first = self.drive.geometry().first_page(victim).0;
        let end = first + self.drive.pages_per_block();
        for lun in 0..luns {
            for page in (first + lun..end).step_by(luns as usize).map(Ppn) {
                if self.drive.is_valid(page) {
                    let lpn = self.fetch(page, victim);
                    self.relocate(page, lpn, victim, from, purpose)
                        .inspect_err(|_| self.drive.recount(victim))?;
                }
            }
        }
        Ok(())
    }

    /// Closes the open block that is a victim, if there is one.
    fn close_victim(&mut self) {
        let stream = self.victims.closing();
        let Some(stream) = stream.filter(|&stream| self.drive.has_room(stream)) else { return };
        let block = self.close_early(stream);
        self.victims.push(block, self.drive.valid_pages(block));
    }

    /// Moves the valid pages of victims in the order of their addresses, and erases these.
    #[cold]
    fn reclaim_sorted(
        &mut self,
        victims: &[BlockId],
        purpose: Purpose,
    ) -> Result<(), FtlError<F::Error>> {
        let mut pages = Vec::new();
        for &victim in victims {
            debug_assert_eq!(self.drive.phase(victim), Phase::Sealed);
            let (from, moved) = (self.drive.frontier_of(victim), self.drive.valid_pages(victim));
            self.observer.collection(victim, from, moved, purpose.cause);
            if self.drive.is_paged() {
                self.know_owners(victim)?;
            }
            let mut walk = self.drive.valid_pages_of(victim);
            for _ in 0..moved {
                let page = walk.next(&self.drive);
                pages.push((self.drive.owner(page), page));
            }
        }
        pages.sort_unstable();
        for (lpn, page) in pages {
            let victim = self.drive.block_of(page);
            let from = self.drive.frontier_of(victim);
            self.relocate(page, lpn, victim, from, purpose).inspect_err(|_| {
                for &victim in victims {
                    self.drive.recount(victim);
                }
            })?;
        }
        for &victim in victims {
            let (from, moved) = (self.drive.frontier_of(victim), self.drive.valid_pages(victim));
            self.drive.vacate(victim);
            self.counters.streams[from.index()].relocations += u64::from(moved);
            self.erase(victim, purpose)?;
        }
        Ok(())
    }

    /// Erases `victim`, whose valid pages have moved.
    pub(super) fn erase(
        &mut self,
        victim: BlockId,
        purpose: Purpose,
    ) -> Result<(), FtlError<F::Error>> {
        debug_assert_eq!(self.drive.valid_pages(victim), 0, "block {victim} holds pages");
        if F::WEARS_OUT && self.failing.contains(&victim) {
            return self.retire(victim);
        }
        match self.flash.erase(victim, purpose) {
            Ok(()) => {}
            Err(error) if F::is_wear_out(&error) => return self.retire(victim),
            Err(error) => return Err(FtlError::Flash(error)),
        }
        self.observer.erase(victim, purpose.cause);
        self.drive.release(victim);
        self.watch_wear(victim);
        self.refreshing.iter_mut().for_each(|refreshing| refreshing.on_erased(victim));
        debug_assert_eq!(self.drive.phase(victim), Phase::Free);
        self.policy.on_block_erased(victim, &self.drive);
        self.counters.streams[self.drive.frontier_of(victim).index()].erases += 1;
        Ok(())
    }

    /// Opens a block for `stream`; if none is free, the page goes to another stream that has room.
    ///
    /// Host writes may have filled the blocks that earlier collections opened for several streams, so
    /// that fewer blocks are free than streams need one. One is always free when a collection begins,
    /// which is room for what is valid in a victim.
    #[cold]
    fn room_for_relocation(&mut self, stream: StreamId) -> Result<StreamId, FtlError<F::Error>> {
        debug_assert!(!self.drive.has_room(stream));
        if self.has_free_block(stream) {
            return self.open(stream).map(|()| stream);
        }
        let group = |stream| self.policy.handles().map(|handles| handles.group_of(stream));
        let streams = (0..self.drive.streams().len() as u8).map(StreamId);
        let mut near = streams.filter(|&other| !self.has_groups || group(other) == group(stream));
        let roomy =
            near.find(|&other| self.drive.has_room(other) && self.policy.may_share(stream, other));
        debug_assert!(roomy != Some(stream));
        roomy.ok_or_else(|| self.no_free_block())
    }

    /// Whether a block is free that `stream` may take.
    fn has_free_block(&self, stream: StreamId) -> bool {
        self.drive.free_blocks() > 0
            && (!self.has_groups || self.policy.free_block(stream, &self.drive).is_some())
    }

    /// Whether the victims are sealed and no fuller than `valid_pages_max`, and their counts add up.
    fn are_eligible(&self, valid_pages_max: u32) -> bool {
        let (drive, victims) = (&self.drive, self.victims.blocks());
        let invalid = victims.iter().map(|&b| drive.pages_per_block() - drive.valid_pages(b));
        invalid.sum::<u32>() == self.victims.invalid_pages()
            && victims.iter().all(|&block| {
                drive.phase(block) == Phase::Sealed && drive.valid_pages(block) <= valid_pages_max
            })
    }
}

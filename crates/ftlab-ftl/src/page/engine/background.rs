//! What is done after a host write, if something is due.
//!
//! ```text
//! run_background:
//!     blocks that failed: collect and retire them               (retire.rs)
//!     blocks worn unevenly: collect the least worn one          (level.rs)
//!     blocks that are too old: rewrite them                     (refresh.rs)
//!     collections that the policy wants, until it wants no more (policy.select_wanted)
//!     collection ahead of need, once; or a step of a collection (incremental.rs);
//!     or collections for as long as there is too much garbage, or by how few blocks are free (../gc_schedule.rs)
//! ```
//!
//! Most writes have nothing to do here. They find out by one comparison: `background_below` is the
//! number of free blocks at which collection begins, or beyond all numbers while anything else is due.
//! (Policies that want collections of their own accord say so; for others that is compiled away.)

use crate::page::engine::page_mapped::PageMapped;
use crate::page::gc_schedule::MILLION;
use crate::page::policy::Policy;
use crate::page::{GcSchedule, Phase};
use crate::stream::StreamId;
use crate::{FtlError, Observer};
use ftlab_flash::{BlockId, Flash, Purpose};

/// What is due for a relocation if collection is throttled.
const PAGE_DUE: i64 = MILLION as i64;

impl<F: Flash, O: Observer> PageMapped<dyn Policy, F, O> {
    /// Does what is due after a host write to `stream`.
    #[cold]
    pub(super) fn run_background(
        &mut self,
        stream: StreamId,
        purpose: Purpose,
    ) -> Result<(), FtlError<F::Error>> {
        debug_assert!(
            self.drive.free_blocks() < self.background_below || self.policy.wants_collection()
        );
        if F::WEARS_OUT {
            self.retire_failing(purpose)?;
        }
        debug_assert!(self.failing.is_empty());
        self.level(purpose)?;
        self.refresh_old(purpose)?;
        let steps = self.config.gc.step_pages_max();
        if steps.is_none() {
            self.collect_wanted(purpose)?;
        }
        let is_due = self.progress.is_under_way() || self.policy.wants_collection();
        if self.drive.free_blocks() >= self.collection_start() && !is_due {
            return Ok(());
        }
        let has_own_schedule = match self.config.gc {
            GcSchedule::Garbage { per_million } => {
                self.collect_garbage(per_million, purpose)?;
                true
            }
            GcSchedule::Gradual { .. } => {
                self.collect_gradually(self.config.ahead_start(), purpose)?;
                true
            }
            GcSchedule::Throttled { invalid, moves, .. } => {
                self.collect_throttled((invalid, moves), purpose)?;
                true
            }
            GcSchedule::Foreground
            | GcSchedule::Incremental { .. }
            | GcSchedule::Background { .. } => false,
        };
        if has_own_schedule && self.drive.free_blocks() >= self.config.gc_start_blocks {
            return Ok(());
        }
        if let Some(pages_max) = steps {
            self.observer.step_begins();
            self.step(stream, pages_max, purpose)?;
            self.observer.step_ends();
        } else {
            debug_assert!(!self.progress.is_under_way(), "collections are whole");
            self.observer.collection_begins();
            self.select(self.config.early_valid_pages_max, false)?;
            self.reclaim_victims(purpose)?;
            self.observer.collection_ends();
        }
        Ok(())
    }

    /// Collects for as long as the policy wants it.
    fn collect_wanted(&mut self, purpose: Purpose) -> Result<(), FtlError<F::Error>> {
        while self.policy.wants_collection() {
            self.select_wanted();
            if self.victims.is_empty() {
                break;
            }
            self.observer.collection_begins();
            self.reclaim_victims(purpose)?;
            self.observer.collection_ends();
        }
        Ok(())
    }

    /// Collects while at least `per_million` of a million programmed pages are invalid, and a sealed block
    /// has an invalid page.
    fn collect_garbage(
        &mut self,
        per_million: u32,
        purpose: Purpose,
    ) -> Result<(), FtlError<F::Error>> {
        debug_assert!(!self.progress.is_under_way(), "collections are whole");
        while self.drive.has_garbage(per_million) {
            // A block without an invalid page is never worth collecting.
            self.select(self.drive.pages_per_block() - 1, false)?;
            if self.victims.is_empty() {
                break;
            }
            self.observer.collection_begins();
            debug_assert!(self.victims.invalid_pages() > 0);
            self.reclaim_victims(purpose)?;
            self.observer.collection_ends();
        }
        Ok(())
    }

    /// Collects what a host write makes due if collection begins gradually: the fewer blocks are free, the larger the
    /// share of a page that is regained for it. What a victim regains beyond that is owed by the next host writes.
    fn collect_gradually(
        &mut self,
        start: u32,
        purpose: Purpose,
    ) -> Result<(), FtlError<F::Error>> {
        debug_assert!(!self.progress.is_under_way(), "collections are whole");
        let pages_per_block = self.drive.pages_per_block();
        // In pages times the blocks between the beginning and the reserve, so that shares are whole numbers.
        let whole = i64::from(start - self.config.reserve_blocks);
        self.progress.due += i64::from(start.saturating_sub(self.drive.free_blocks()));
        while self.progress.due > 0 && self.drive.free_blocks() < start {
            // A block without an invalid page is never worth collecting.
            self.select(pages_per_block - 1, false)?;
            let blocks = self.victims.blocks().len() as u32;
            if blocks == 0 {
                self.progress.due = 0;
                break;
            }
            let invalid = self.victims.invalid_pages();
            if invalid < blocks * pages_per_block {
                self.progress.due -= i64::from(invalid) * whole;
            }
            self.observer.collection_begins();
            self.reclaim_victims(purpose)?;
            self.observer.collection_ends();
        }
        Ok(())
    }

    /// Collects what is mostly invalid, with as many relocations as a host write makes due. What a victim has beyond that
    /// is owed by the next host writes.
    fn collect_throttled(
        &mut self,
        (invalid, moves): (u32, u32),
        purpose: Purpose,
    ) -> Result<(), FtlError<F::Error>> {
        debug_assert!(!self.progress.is_under_way(), "collections are whole");
        let pages_per_block = self.drive.pages_per_block();
        let invalid_pages_min =
            (u64::from(pages_per_block) * u64::from(invalid)).div_ceil(PAGE_DUE as u64) as u32;
        let start = self.config.ahead_start();
        if self.drive.free_blocks() >= start {
            return Ok(());
        }
        self.progress.due += i64::from(moves);
        while self.progress.due > 0 && self.drive.free_blocks() < start {
            self.select(pages_per_block - invalid_pages_min, false)?;
            let blocks = self.victims.blocks().len() as u32;
            if blocks == 0 {
                // It is looked for again when the next page is due.
                self.progress.due = -PAGE_DUE;
                break;
            }
            let valid = blocks * pages_per_block - self.victims.invalid_pages();
            self.progress.due -= i64::from(valid) * PAGE_DUE;
            self.observer.collection_begins();
            self.reclaim_victims(purpose)?;
            self.observer.collection_ends();
        }
        Ok(())
    }

    /// Sets `background_below`, after a change of what is due.
    pub(super) fn schedule_background(&mut self) {
        let is_due = self.progress.is_under_way()
            || !self.failing.is_empty()
            || self.is_worn_unevenly
            || self.refreshing.as_ref().is_some_and(|refreshing| refreshing.has_age());
        self.background_below = if is_due { u32::MAX } else { self.collection_start() };
        debug_assert!(self.background_below >= self.config.gc_start_blocks);
    }

    /// Free blocks below which a collection begins after a host write.
    fn collection_start(&self) -> u32 {
        match self.config.gc {
            GcSchedule::Foreground => self.config.gc_start_blocks,
            GcSchedule::Incremental { .. } | GcSchedule::Background { .. } => {
                self.config.gc_start_blocks.max(self.config.reserve_blocks)
            }
            GcSchedule::Gradual { .. } | GcSchedule::Throttled { .. } => {
                self.config.ahead_start().max(self.config.gc_start_blocks)
            }
            // The number of free blocks says nothing of garbage.
            GcSchedule::Garbage { .. } => u32::MAX,
        }
    }

    /// Collects `block`, whatever the policy would choose.
    pub(super) fn collect_block(
        &mut self,
        block: BlockId,
        purpose: Purpose,
    ) -> Result<(), FtlError<F::Error>> {
        debug_assert_eq!(self.drive.phase(block), Phase::Sealed);
        self.observer.collection_begins();
        self.reclaim(block, purpose)?;
        self.observer.collection_ends();
        debug_assert!(matches!(self.drive.phase(block), Phase::Free | Phase::Retired));
        Ok(())
    }

    /// Collects until free blocks suffice for the relocations of the next collection.
    pub(super) fn refill_reserve(&mut self, purpose: Purpose) -> Result<(), FtlError<F::Error>> {
        while self.drive.free_blocks() < self.reserve_min {
            self.collect(purpose)?;
        }
        self.schedule_background();
        debug_assert!(self.drive.free_blocks() >= self.reserve_min);
        Ok(())
    }
}

//! A policy over groups of blocks: what `wolf` and `fdp-freq` have in common.

use crate::algorithms::groups::detector::Detector;
use crate::algorithms::groups::group::Groups;
use crate::algorithms::groups::surplus::Cleaning;
use crate::page::DriveState;
use crate::page::policy::{HostWrite, Policy, Relocation, Victims};
use crate::stream::{Stream, StreamId};
use crate::{Archive, Metadata, State, StateError};
use ftlab_flash::{BlockId, Lpn};

/// What sets policies over groups apart.
pub trait GroupRule: State + Send + 'static {
    /// Works out the targets of all groups, and whatever else changes from interval to interval.
    fn end_interval(&mut self, groups: &mut Groups, detector: &mut Detector, drive: &DriveState);

    /// Whether `group` may give a block to the one that asks for it.
    fn may_give(groups: &Groups, group: u8, requester: u8) -> bool;
}

/// The policy of a rule: the detector tells the group of a page, the group farthest above its target
/// gives the block that is collected.
pub struct Grouped<R> {
    groups: Groups,
    detector: Detector,
    cleaning: Cleaning,
    /// Host writes in an interval, and how many of the present one are to come.
    interval: u32,
    left: u32,
    rule: R,
}

impl<R: GroupRule> Grouped<R> {
    /// A policy whose intervals last for `interval` host writes.
    pub(crate) fn from_parts(
        groups: Groups,
        detector: Detector,
        cleaning: Cleaning,
        interval: u32,
        rule: R,
    ) -> Self {
        Self { groups, detector, cleaning, interval, left: interval, rule }
    }

    #[cold]
    fn end_interval(&mut self, drive: &DriveState) {
        self.left = self.interval;
        self.rule.end_interval(&mut self.groups, &mut self.detector, drive);
        self.groups.consider_movement();
        self.groups.consider_levelling();
    }
}

impl<R: GroupRule> State for Grouped<R> {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let Self { groups, detector, left, rule, cleaning: _, interval: _ } = self;
        groups.transfer(archive)?;
        detector.transfer(archive)?;
        left.transfer(archive)?;
        rule.transfer(archive)
    }
}

impl<R: GroupRule> Policy for Grouped<R> {
    fn streams(&self) -> Vec<Stream> {
        self.groups.streams()
    }

    fn reserve_blocks_min(&self) -> u32 {
        1
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        if self.left == 0 {
            self.end_interval(drive);
        }
        self.left -= 1;
        let group = self.detector.host(write.lpn, &self.groups, drive);
        self.groups.place_host(group, write.set, drive)
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        let present = self.groups.group_of(page.victim);
        let group = self.detector.relocation(page.lpn, present, &self.groups);
        self.groups.place_relocation(present, group, page.set, drive)
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, block: BlockId) {
        self.detector.fetch_ahead(lpn, self.groups.group_of(block));
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        self.groups.select(self.cleaning, drive, victims, R::may_give);
    }

    #[inline]
    fn wants_collection(&self) -> bool {
        self.groups.movement_is_due()
    }

    fn select_wanted(&mut self, drive: &DriveState, victims: &mut Victims) {
        self.groups.select_movement(self.cleaning, drive, victims);
    }

    fn free_block(&self, stream: StreamId, drive: &DriveState) -> Option<BlockId> {
        self.groups.free_block(stream, drive)
    }

    fn kept_from(&self, stream: StreamId, drive: &DriveState) -> u32 {
        self.groups.kept_from(stream, self.cleaning, drive)
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        self.groups.on_block_opened(block, drive);
    }

    fn on_block_sealed(&mut self, block: BlockId, _drive: &DriveState) {
        self.groups.on_block_sealed(block);
    }

    #[inline]
    fn on_invalidate(&mut self, block: BlockId, _drive: &DriveState) {
        self.groups.on_invalidate(block);
    }

    fn on_adopted(&mut self, wanted: StreamId, block: BlockId, _drive: &DriveState) {
        self.groups.on_adopted(wanted, block);
    }

    fn on_pages_lost(&mut self, block: BlockId, pages: u32, _drive: &DriveState) {
        self.groups.on_pages_lost(block, pages);
    }

    fn on_block_erased(&mut self, block: BlockId, drive: &DriveState) {
        self.groups.on_block_erased(block, drive);
    }

    fn groups(&self) -> Option<u32> {
        Some(self.groups.order().len() as u32)
    }

    fn metadata(&self) -> Metadata {
        self.groups.metadata() + self.detector.metadata()
    }

    fn memory_bytes(&self) -> usize {
        self.groups.bytes() + self.detector.bytes()
    }

    fn check(&self, drive: &DriveState) -> Result<(), String> {
        self.groups.check(drive)
    }
}

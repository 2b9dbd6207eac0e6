//! Victim rules: which blocks a collection takes.

mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod random;
mod windowed_greedy;

pub use cost_benefit::{CostBenefit, CostBenefitParameters, Score};
pub use d_choices::{DChoices, DChoicesParameters};
pub use fifo::Fifo;
pub use greedy::Greedy;
pub use random::{Random, RandomParameters};
pub use windowed_greedy::{WindowedGreedy, WindowedGreedyParameters};

use crate::page::Drive;
use crate::page::policy::Victims;
use crate::{Archive, Metadata, State, StateError};
use ftlab_flash::BlockId;

/// Chooses the blocks to collect; any placement goes with it.
pub trait VictimRule: State + Send {
    /// Chooses sealed blocks under the contract of
    /// [`Policy::select_victims`](crate::page::Policy::select_victims).
    fn select(&mut self, drive: &Drive, victims: &mut Victims);

    /// `block` has been opened.
    fn on_block_opened(&mut self, block: BlockId, drive: &Drive);

    /// `block` is full; from now on it may be a victim.
    fn on_block_sealed(&mut self, block: BlockId, drive: &Drive);

    /// One more page of `block` is invalid.
    fn on_invalidate(&mut self, block: BlockId, drive: &Drive);

    /// `block` has been collected and erased.
    fn on_block_erased(&mut self, block: BlockId, drive: &Drive);

    /// What the rule has to remember, as a formula.
    fn metadata(&self) -> Metadata;

    /// Bytes of memory that the rule takes here.
    fn metadata_bytes(&self) -> usize;

    /// Verifies the rule's own invariants.
    fn check(&self, drive: &Drive) -> Result<(), String>;
}

/// Forwards the block hooks of a rule or policy to its `BlockList` in the field `list`.
macro_rules! keep_block_list {
    () => {
        fn on_block_opened(&mut self, block: ftlab_flash::BlockId, drive: &$crate::page::Drive) {
            self.list.push(block, drive.pages_per_block(), drive.write_clock());
        }

        fn on_block_sealed(&mut self, block: ftlab_flash::BlockId, _drive: &$crate::page::Drive) {
            self.list.seal(block);
        }

        #[inline]
        fn on_invalidate(&mut self, block: ftlab_flash::BlockId, _drive: &$crate::page::Drive) {
            self.list.invalidate(block);
        }

        fn on_block_erased(&mut self, block: ftlab_flash::BlockId, _drive: &$crate::page::Drive) {
            self.list.remove(block);
        }

        fn metadata_bytes(&self) -> usize {
            self.list.bytes()
        }

        fn check(&self, drive: &$crate::page::Drive) -> Result<(), String> {
            self.list.check(drive, |_| true)
        }
    };
}
pub(crate) use keep_block_list;

impl State for Box<dyn VictimRule> {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        (**self).transfer(archive)
    }
}

/// A rule whose type was decided by a name: called once per collection and per invalidation.
impl VictimRule for Box<dyn VictimRule> {
    fn select(&mut self, drive: &Drive, victims: &mut Victims) {
        (**self).select(drive, victims);
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &Drive) {
        (**self).on_block_opened(block, drive);
    }

    fn on_block_sealed(&mut self, block: BlockId, drive: &Drive) {
        (**self).on_block_sealed(block, drive);
    }

    #[inline]
    fn on_invalidate(&mut self, block: BlockId, drive: &Drive) {
        (**self).on_invalidate(block, drive);
    }

    fn on_block_erased(&mut self, block: BlockId, drive: &Drive) {
        (**self).on_block_erased(block, drive);
    }

    fn metadata(&self) -> Metadata {
        (**self).metadata()
    }

    fn metadata_bytes(&self) -> usize {
        (**self).metadata_bytes()
    }

    fn check(&self, drive: &Drive) -> Result<(), String> {
        (**self).check(drive)
    }
}

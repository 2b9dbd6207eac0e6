//! What the engine knows of an algorithm.

use crate::boxable::boxable;
use crate::chosen_rule::ChosenRule;
use crate::page::handle_streams::Handles;
use crate::page::{DriveState, SeenAs};
use crate::state::state;
use crate::stream::{OpenSet, Stream, StreamId};
use crate::{Metadata, State};
use ftlab_flash::{BlockId, Lpn, Ppn};

pub use ftlab_flash::{Hint, Lifetime};

/// A page that the host writes.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HostWrite {
    /// The page that is placed.
    pub lpn: Lpn,
    /// What is known beside; nothing to rely on unless the policy asks for hints where it
    /// [presents itself](crate::page::entry::PolicyEntry::HINTS).
    pub hint: Hint,
    /// The open blocks among which the stream names one.
    pub(crate) set: OpenSet,
}

/// The hints that a policy asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hints {
    /// None: like any drive that is told an address only.
    None,
    /// How long pages will live, this time and in the mean, which only an oracle knows: the workload has to be read ahead.
    Lifetimes,
    /// The streams that the host names.
    Streams,
}

/// A valid page that garbage collection moves out of a victim.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Relocation {
    /// The page that is moved.
    pub lpn: Lpn,
    /// The block that it leaves.
    pub victim: BlockId,
    /// The stream of that block.
    pub from: StreamId,
    /// The open blocks among which the stream names one.
    pub(crate) set: OpenSet,
}

impl HostWrite {
    pub(crate) fn new(lpn: Lpn, hint: Hint) -> Self {
        Self { lpn, hint, set: OpenSet::ONLY }
    }
}

impl Relocation {
    pub(crate) fn new(lpn: Lpn, victim: BlockId, from: StreamId) -> Self {
        Self { lpn, victim, from, set: OpenSet::ONLY }
    }
}

/// The blocks that a policy has chosen for one collection.
#[derive(Debug, Clone)]
pub struct Victims {
    blocks: Vec<BlockId>,
    pages_per_block: u32,
    requester: StreamId,
    valid_pages_max: u32,
    invalid_pages: u32,
    closing: Option<StreamId>,
}

// What is closed is so at once.
state!(Victims { blocks, requester, valid_pages_max, invalid_pages } constant pages_per_block, closing);

impl Victims {
    pub(crate) fn new(blocks: u32, pages_per_block: u32) -> Self {
        Self {
            blocks: Vec::with_capacity(blocks as usize),
            pages_per_block,
            requester: StreamId(0),
            valid_pages_max: pages_per_block,
            invalid_pages: 0,
            closing: None,
        }
    }

    /// Starts a choice for `requester` among blocks with at most `valid_pages_max` valid pages.
    pub(crate) fn begin(&mut self, requester: StreamId, valid_pages_max: u32) {
        self.blocks.clear();
        self.invalid_pages = 0;
        self.closing = None;
        self.requester = requester;
        self.valid_pages_max = valid_pages_max;
    }

    /// Chooses `block`, which has `valid_pages` valid pages.
    pub fn push(&mut self, block: BlockId, valid_pages: u32) {
        debug_assert!(valid_pages <= self.valid_pages_max);
        self.blocks.push(block);
        self.invalid_pages += self.pages_per_block - valid_pages;
    }

    /// Chooses the open block of `stream` as well, which is closed as it is; not where collection is in steps.
    pub(crate) fn close(&mut self, stream: StreamId) {
        self.closing = Some(stream);
    }

    /// The stream whose open block is a victim, too.
    pub(crate) fn closing(&self) -> Option<StreamId> {
        self.closing
    }

    /// The stream that asks for a block: that of the last host write that found no room.
    pub fn requester(&self) -> StreamId {
        self.requester
    }

    /// Lets a policy within another one see the stream that asks as its own.
    pub(crate) fn show_requester(&mut self, seen_as: StreamId) {
        self.requester = seen_as;
    }

    /// The most valid pages that a victim may have: fewer than a block holds if this collection is
    /// not urgent, and fuller blocks had better wait.
    pub fn valid_pages_max(&self) -> u32 {
        self.valid_pages_max
    }

    /// True if the invalid pages of the victims make up a block.
    pub fn free_a_block(&self) -> bool {
        self.invalid_pages >= self.pages_per_block
    }

    /// Invalid pages of the victims: what the collection gains.
    pub fn invalid_pages(&self) -> u32 {
        self.invalid_pages
    }

    /// True if no block is chosen.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Blocks chosen, in the order in which they are collected.
    pub fn blocks(&self) -> &[BlockId] {
        &self.blocks
    }
}

/// How much a policy wants to collect a block: of several, that with the highest score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockScore {
    /// How it is computed, for readers; u is the valid share of the block.
    pub formula: &'static str,
    /// What comes of it; infinite where the formula divides by no valid pages.
    pub value: f64,
}

/// Bytes of memory that the samples of a policy take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleBytes {
    /// On its drive, when it was made.
    pub here: usize,
    /// On another drive at most, while they are learned from.
    pub most: usize,
}

boxable! {
    /// An FTL algorithm: it decides, the engine carries out.
    ///
    /// The engine guarantees that every hook is called with the drive as it stands after the event, that
    /// `place_*` and `select_victims` see a consistent drive, and that all victims of a selection are
    /// collected before the next selection.
    pub trait Policy: State + Send {
        /// The streams, in order of their ids; constant over the life of the policy.
        fn streams(&self) -> Vec<Stream>;

        /// What [`DriveState`] is to tell of streams, if not their ids: a policy within another one sees its own
        /// streams.
        fn seen_as(&self) -> Option<SeenAs> {
            None
        }

        /// The fewest free blocks that have to be in reserve for relocations not to run out of them: one
        /// for each stream that takes relocations, since in the worst case each opens one before the
        /// first collection has freed a block. A policy that lets pages of different streams share a
        /// block when free blocks run out needs fewer.
        fn reserve_blocks_min(&self) -> u32 {
            self.streams().iter().filter(|stream| stream.takes_relocations).count() as u32
        }

        /// Which open block takes a page that the host writes. Called before the old version becomes
        /// invalid.
        fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId;

        /// Which open block takes a valid page of a victim.
        fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId;

        /// Whether it takes note of pages beside placing them: has one of `fetch_ahead`, `fetch_block_ahead`,
        /// `on_written`, `on_moved` and `wants_collection`. One that says no need not be asked these for each page.
        fn follows_pages(&self) -> bool {
            true
        }

        /// Fetches, from memory to the cache, what `place_*` will ask about a page that is written or moved
        /// soon. It is in `block` now.
        #[inline]
        fn fetch_ahead(&self, _lpn: Lpn, _block: BlockId) {}

        /// Fetches what `place_host` will ask about the block in which a page lies that the host writes soon.
        #[inline]
        fn fetch_block_ahead(&self, _block: BlockId) {}

        /// A page that the host writes is programmed at `to`, in the open block of `stream`.
        #[inline]
        fn on_written(&mut self, _to: Ppn, _stream: StreamId) {}

        /// A valid page of a victim has been moved.
        #[inline]
        fn on_moved(&mut self, _from: Ppn, _to: Ppn) {}

        /// The page that `place_host` wanted to be in `wanted` is in the open `block` of another stream, where another
        /// FTL has placed it.
        fn on_adopted(&mut self, _wanted: StreamId, _block: BlockId, _drive: &DriveState) {}

        /// Chooses sealed blocks to collect, each with at most [`Victims::valid_pages_max`] valid pages.
        ///
        /// If that limit is a whole block, the choice must contain at least one invalid page wherever
        /// any sealed block has one: that is what makes collection come to an end.
        fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims);

        /// The score of a sealed block in a choice of victims now; none if blocks have no scores, or this
        /// block none. For those who watch: the engine never asks.
        fn block_score(&self, _block: BlockId, _drive: &DriveState) -> Option<BlockScore> {
            None
        }

        /// Whether the valid pages of all victims of a collection move in the order of their addresses, instead of block by
        /// block; not where it is in steps. The free blocks have to have room for them.
        #[inline]
        fn sorts_moves(&self) -> bool {
            false
        }

        /// Whether it wants collections that no host write needs. Asked after each host write.
        #[inline]
        fn wants_collection(&self) -> bool {
            false
        }

        /// Chooses the blocks of such a collection, which need not gain anything; none if it wants no more,
        /// which [`wants_collection`](Self::wants_collection) says from then on. It has to come to that.
        fn select_wanted(&mut self, _drive: &DriveState, _victims: &mut Victims) {}

        /// The free block to open for `stream`; none leaves it to the drive.
        fn free_block(&self, _stream: StreamId, _drive: &DriveState) -> Option<BlockId> {
            None
        }

        /// Free blocks beyond the reserve that `stream` has to leave to others, so that a collection comes
        /// before it opens a block; 0 if no sealed block has an invalid page.
        fn kept_from(&self, _stream: StreamId, _drive: &DriveState) -> u32 {
            0
        }

        /// Whether a moved page of `stream` may go to the open block of `other` where no block is free.
        fn may_share(&self, _stream: StreamId, _other: StreamId) -> bool {
            true
        }

        /// `block` has been opened; [`DriveState::stream_of`] tells for which stream.
        fn on_block_opened(&mut self, _block: BlockId, _drive: &DriveState) {}

        /// `block` is full; from now on it may be a victim.
        fn on_block_sealed(&mut self, _block: BlockId, _drive: &DriveState) {}

        /// One more page of `block` is invalid.
        #[inline]
        fn on_invalidate(&mut self, _block: BlockId, _drive: &DriveState) {}

        /// `pages` of the open `block` will never be programmed, and count as invalid from now on: the flash failed,
        /// or another FTL left them.
        fn on_pages_lost(&mut self, block: BlockId, pages: u32, drive: &DriveState) {
            (0..pages).for_each(|_| self.on_invalidate(block, drive));
        }

        /// `block` has been collected, and erased or taken out of use.
        fn on_block_erased(&mut self, _block: BlockId, _drive: &DriveState) {}

        /// The host trimmed `lpn`, which held data.
        fn on_trim(&mut self, _lpn: Lpn, _drive: &DriveState) {}

        /// What the algorithm has to remember beside what every page-mapped FTL keeps, as a formula.
        fn metadata(&self) -> Metadata;

        /// Bytes of memory that the policy takes here beside the drive's own tables.
        fn memory_bytes(&self) -> usize;

        /// Of these, those of samples, which do not grow in proportion to the drive, and the most that they are on a
        /// drive of this size.
        fn sample_bytes(&self, _logical_pages: u32) -> SampleBytes {
            SampleBytes::default()
        }

        /// Groups of pages alike in temperature that it keeps at present; none if their number never changes.
        fn groups(&self) -> Option<u32> {
            None
        }

        /// The rule by which it decides at present, if it chooses among several.
        fn rule(&self) -> Option<ChosenRule> {
            None
        }

        /// The placement handles whose streams it chooses among, if it has some.
        fn handles(&self) -> Option<&Handles> {
            None
        }

        /// The placement handles, to tell them something.
        fn handles_mut(&mut self) -> Option<&mut Handles> {
            None
        }

        /// Verifies the policy's own invariants; the message says what is broken.
        fn check(&self, _drive: &DriveState) -> Result<(), String> {
            Ok(())
        }
    }
}

/// Chooses the stream of every page; any victim rule goes with it.
pub trait Placement: State + Send {
    /// The streams, in order of their ids.
    fn streams(&self) -> Vec<Stream>;

    /// The fewest free blocks that have to be in reserve, as of
    /// [`Policy::reserve_blocks_min`].
    fn reserve_blocks_min(&self) -> u32 {
        self.streams().iter().filter(|stream| stream.takes_relocations).count() as u32
    }

    /// Whether it takes note of pages beside placing them, as of [`Policy::follows_pages`].
    fn follows_pages(&self) -> bool {
        true
    }

    /// Fetches what the placement keeps of `lpn`, whose present version lies in `block` and which is
    /// about to be written or moved; changes speed only.
    #[inline]
    fn fetch_ahead(&self, _lpn: Lpn, _block: BlockId) {}

    /// Which open block takes a page that the host writes.
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId;

    /// Which open block takes a valid page of a victim.
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId;

    /// A page that the host writes is programmed at `to`, in the open block of `stream`.
    #[inline]
    fn on_written(&mut self, _to: Ppn, _stream: StreamId) {}

    /// A valid page of a victim has been moved.
    #[inline]
    fn on_moved(&mut self, _from: Ppn, _to: Ppn) {}

    /// `block` has been opened; [`DriveState::stream_of`] tells for which stream.
    fn on_block_opened(&mut self, _block: BlockId, _drive: &DriveState) {}

    /// `block` is full; from now on it may be a victim.
    fn on_block_sealed(&mut self, _block: BlockId, _drive: &DriveState) {}

    /// One more page of `block` is invalid: the host wrote or trimmed it, or it is lost with a block that
    /// failed. Called before the victim rule is told; a placement that does not implement it costs
    /// nothing.
    #[inline]
    fn on_invalidate(&mut self, _block: BlockId, _drive: &DriveState) {}

    /// `block` has been collected and erased.
    fn on_block_erased(&mut self, _block: BlockId, _drive: &DriveState) {}

    /// The host trimmed `lpn`, which held data.
    fn on_trim(&mut self, _lpn: Lpn, _drive: &DriveState) {}

    /// What the placement has to remember, as a formula.
    fn metadata(&self) -> Metadata;

    /// Bytes of memory that the placement takes here.
    fn memory_bytes(&self) -> usize {
        0
    }

    /// Of these, those of samples, as [`Policy::sample_bytes`].
    fn sample_bytes(&self, _logical_pages: u32) -> SampleBytes {
        SampleBytes::default()
    }

    /// The placement handles whose streams it chooses among, if it has some.
    fn handles(&self) -> Option<&Handles> {
        None
    }

    /// The placement handles, to tell them something.
    fn handles_mut(&mut self) -> Option<&mut Handles> {
        None
    }

    /// Verifies the placement's own invariants.
    fn check(&self, _drive: &DriveState) -> Result<(), String> {
        Ok(())
    }
}

boxable! {
    /// Chooses the blocks to collect; any placement goes with it.
    pub trait VictimRule: State + Send {
        /// Chooses sealed blocks under the contract of
        /// [`Policy::select_victims`].
        fn select(&mut self, drive: &DriveState, victims: &mut Victims);

        /// The score of a sealed block, as of [`Policy::block_score`].
        fn block_score(&self, _block: BlockId, _drive: &DriveState) -> Option<BlockScore> {
            None
        }

        /// `block` has been opened.
        fn on_block_opened(&mut self, block: BlockId, drive: &DriveState);

        /// `block` is full; from now on it may be a victim.
        fn on_block_sealed(&mut self, block: BlockId, drive: &DriveState);

        /// One more page of `block` is invalid.
        fn on_invalidate(&mut self, block: BlockId, drive: &DriveState);

        /// `block` has been collected and erased.
        fn on_block_erased(&mut self, block: BlockId, drive: &DriveState);

        /// What the rule has to remember, as a formula.
        fn metadata(&self) -> Metadata;

        /// Bytes of memory that the rule takes here.
        fn memory_bytes(&self) -> usize;

        /// Verifies the rule's own invariants.
        fn check(&self, drive: &DriveState) -> Result<(), String>;
    }
}

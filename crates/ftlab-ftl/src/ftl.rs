//! What every FTL can do, whatever its mapping.

use crate::chosen_rule::ChosenRule;
use crate::map_counts::MapCounts;
use crate::page::Refreshed;
use crate::page::policy::{Hint, Lifetime};
use crate::placement_handles::PlacementHandles;
use crate::slc_counts::SlcCounts;
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Metadata, Observer};
use ftlab_flash::{Cause, Flash, Lpn, Page, Ppn, Purpose};
use std::fmt;
use std::ops::Range;
use thiserror::Error;

/// A flash translation layer over a medium.
pub trait Ftl: Send {
    /// The medium below.
    type Flash: Flash;
    /// Who watches.
    type Observer: Observer;

    /// The FTL below, if this is a layer around another one: whatever need not be done by every FTL, and a layer does
    /// not do itself, is passed on to that.
    fn inner(&self) -> Option<&DynInner<Self>> {
        None
    }

    /// The FTL below, to change it.
    fn inner_mut(&mut self) -> Option<&mut DynInner<Self>> {
        None
    }

    /// Writes a page.
    ///
    /// # Panics
    /// If the page is beyond the drive.
    fn write_page(&mut self, write: PageWrite<'_>) -> Result<(), ErrorOf<Self>>;

    /// Writes a page of data by the host; an empty slice where the medium keeps none.
    ///
    /// # Panics
    /// If `lpn` is beyond the drive.
    fn write(&mut self, lpn: Lpn, data: &[u8]) -> Result<(), ErrorOf<Self>> {
        self.write_page(PageWrite::by_host(lpn, data))
    }

    /// Gives up the content of a page: it reads as nothing, and garbage collection need not move it.
    ///
    /// # Panics
    /// If `lpn` is beyond the drive.
    fn trim(&mut self, lpn: Lpn) -> Result<(), ErrorOf<Self>>;

    /// Gives up the content of pages that one request names.
    ///
    /// # Panics
    /// If one is beyond the drive.
    fn trim_pages(&mut self, first: Lpn, pages: u32) -> Result<(), ErrorOf<Self>> {
        (first.0..first.0 + pages).try_for_each(|lpn| self.trim(Lpn(lpn)))
    }

    /// Reads a page into `data`; false, and `data` untouched, if it holds nothing.
    ///
    /// # Panics
    /// If `lpn` is beyond the drive.
    fn read(&mut self, lpn: Lpn, data: &mut [u8]) -> Result<bool, ErrorOf<Self>>;

    /// Writes pages in order over a medium that keeps no data; faster than one by one, because mapping
    /// entries are fetched ahead.
    ///
    /// # Panics
    /// If a page is beyond the drive.
    fn write_pages(&mut self, pages: &[Lpn]) -> Result<(), ErrorOf<Self>>;

    /// Writes those pages of a batch as [`write_pages`](Self::write_pages) does, with what the batch
    /// knows of them; an FTL that asks for no hints ignores that.
    ///
    /// # Panics
    /// If a page is beyond the drive.
    fn write_some(&mut self, batch: &PageBatch, which: Range<usize>) -> Result<(), ErrorOf<Self>> {
        self.write_pages(&batch.writes[which])
    }

    /// Fetches from memory what will be asked about two pages that are read or written soon, `near` before `far`; of
    /// the near one, what depends on its mapping entry. Changes speed and nothing else; a page beyond the drive is
    /// ignored.
    fn fetch_ahead(&self, near: Lpn, far: Lpn) {
        if let Some(inner) = self.inner() {
            inner.fetch_ahead(near, far);
        }
    }

    /// Carries out the writes and trims of a batch, in order.
    ///
    /// # Panics
    /// If a page is beyond the drive.
    fn apply(&mut self, batch: &PageBatch) -> Result<(), ErrorOf<Self>> {
        let mut written = 0;
        for trim in &batch.trims {
            let before = trim.after_writes as usize;
            self.write_some(batch, written..before)?;
            written = before;
            self.trim_pages(trim.first, trim.pages)?;
        }
        self.write_some(batch, written..batch.writes.len())
    }

    /// What it has done since it was made.
    fn counters(&self) -> Counters;

    /// The streams of pages that it keeps apart, and how many blocks each has now.
    fn streams(&self) -> Vec<StreamUse>;

    /// Where the newest version of a page is; none if it holds nothing.
    ///
    /// # Panics
    /// If `lpn` is beyond the drive.
    fn flash_page(&self, lpn: Lpn) -> Option<Ppn>;

    /// What each erase block is used for, in order of their ids.
    fn block_uses(&self) -> Vec<BlockUse>;

    /// Blocks out of use, those bad from birth included.
    fn retired_blocks(&self) -> u32 {
        self.inner().map_or(0, DynInner::<Self>::retired_blocks)
    }

    /// The host is about to read a page, and the `following` pages after it for the same request: a map on flash tells
    /// where it is, if that is not in memory. Whether the page has to be read from flash, if it holds something: it may
    /// wait in memory for its program.
    fn look_up_to_read(&mut self, lpn: Lpn, following: u32) -> Result<bool, ErrorOf<Self>> {
        self.inner_mut().map_or(Ok(true), |inner| inner.look_up_to_read(lpn, following))
    }

    /// The host has read a flash page, which disturbs the others of its block: they may have to be rewritten.
    fn count_read(&mut self, page: Ppn) -> Result<(), ErrorOf<Self>> {
        self.inner_mut().map_or(Ok(()), |inner| inner.count_read(page))
    }

    /// What was rewritten because it was read too often or too old.
    fn refreshed(&self) -> Refreshed {
        self.inner().map_or_else(Refreshed::default, DynInner::<Self>::refreshed)
    }

    /// The host asks for nothing: work that can be done now as well as later, of at most `pages`; false if there is
    /// none.
    fn work_while_idle(&mut self, pages: u32) -> Result<bool, ErrorOf<Self>> {
        self.inner_mut().map_or(Ok(false), |inner| inner.work_while_idle(pages))
    }

    /// What happened in its SLC cache, if it has one.
    fn slc_counts(&self) -> Option<SlcCounts> {
        self.inner()?.slc_counts()
    }

    /// What looking up pages costs it, if its map does not fit into memory.
    fn map_counts(&self) -> Option<MapCounts> {
        self.inner()?.map_counts()
    }

    /// Pages that its map takes on flash at most, whose numbers follow those of the host.
    fn map_pages(&self) -> u32 {
        self.inner().map_or(0, DynInner::<Self>::map_pages)
    }

    /// Groups of pages alike in temperature that it keeps at present; none if their number never changes.
    fn groups(&self) -> Option<u32> {
        self.inner()?.groups()
    }

    /// The rule by which it decides at present, if it chooses among several.
    fn rule(&self) -> Option<ChosenRule> {
        self.inner()?.rule()
    }

    /// Its placement handles, if it has some.
    fn placement_handles(&self) -> Option<PlacementHandles> {
        self.inner()?.placement_handles()
    }

    /// Lets the next write by a placement handle begin a fresh unit: what its present one still took is
    /// lost until collection (reclaim unit handle update). False if there is no such handle.
    fn renew_handle(&mut self, handle: u16) -> Result<bool, ErrorOf<Self>> {
        self.inner_mut().map_or(Ok(false), |inner| inner.renew_handle(handle))
    }

    /// Bytes of memory: mapping tables, block state and what the policy keeps.
    fn memory_bytes(&self) -> MemoryBytes;

    /// What its algorithm has to remember beside what every FTL of its kind keeps, as a formula.
    fn metadata(&self) -> Metadata;

    /// Verifies every invariant; slow.
    fn check(&self) -> Result<(), Broken>;

    /// The medium.
    fn flash(&self) -> &Self::Flash;

    /// The medium, to change it.
    fn flash_mut(&mut self) -> &mut Self::Flash;

    /// Who watches.
    fn observer(&self) -> &Self::Observer;

    /// Who watches, to tell it something.
    fn observer_mut(&mut self) -> &mut Self::Observer;
}

/// An FTL of any mapping over `F`, watched by `O`.
pub type DynFtl<F, O> = Box<dyn Ftl<Flash = F, Observer = O>>;

/// The FTL below a layer, over the same flash.
pub type DynInner<T> = dyn Ftl<Flash = <T as Ftl>::Flash, Observer = <T as Ftl>::Observer>;

/// The error of an FTL over its flash.
pub type ErrorOf<T> = FtlError<<<T as Ftl>::Flash as Flash>::Error>;

/// Why an operation failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FtlError<E: std::error::Error> {
    /// The medium failed.
    #[error("the flash failed: {0}")]
    Flash(#[source] E),
    /// Garbage collection was called for and found no invalid page in any sealed block.
    #[error(
        "no block holds an invalid page that could be collected, and only {free_blocks} blocks are \
         free: this is a bug of the FTL; please report the command"
    )]
    NothingToCollect {
        /// Free blocks left.
        free_blocks: u32,
    },
    /// Too many blocks are worn out.
    #[error(
        "the drive is read-only: {retired_blocks} of {blocks} blocks are worn out, and too few are \
         left to write to; what was written can be read"
    )]
    ReadOnly {
        /// Blocks that are out of use, those bad from birth included.
        retired_blocks: u32,
        /// Erase blocks of the flash, good and bad.
        blocks: u32,
    },
    /// Garbage collection used up the reserve.
    #[error(
        "garbage collection found no free block to write to: this is a bug of the FTL; please \
         report the command"
    )]
    NoFreeBlock,
    /// The spare areas of a block do not tell what its pages hold.
    #[error(
        "what the pages of block {0} hold cannot be read from its spare areas; open the drive again, which finds it \
         elsewhere"
    )]
    SpareAreas(ftlab_flash::BlockId),
}

/// An invariant that does not hold: a bug.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("broken invariant: {0}")]
pub struct Broken(pub String);

/// A page that an FTL is to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageWrite<'a> {
    /// Which page, with its new content, or the flash page that holds it.
    pub page: Page<'a>,
    /// What is known of it beside; an FTL ignores what it does not ask for.
    pub hint: Hint,
    /// What it is for: the host writes it, or it leaves a cache.
    pub purpose: Purpose,
}

impl<'a> PageWrite<'a> {
    /// The host writes `lpn`, and nothing is known of it.
    #[inline]
    pub const fn by_host(lpn: Lpn, data: &'a [u8]) -> Self {
        let purpose = Cause::Host.awaited();
        Self { page: Page::new(lpn, data), hint: Hint::NONE, purpose }
    }

    /// The purpose of what makes room for it.
    #[inline]
    pub(crate) const fn before(&self) -> Purpose {
        self.purpose.because_of(Cause::Move)
    }

    /// The purpose of what is due after it. The host waits for its own page and no longer; where it waits for other
    /// pages to be written, it waits for that, too.
    #[inline]
    pub(crate) const fn after(&self) -> Purpose {
        let is_of_host = matches!(self.purpose.cause, Cause::Host);
        Purpose { cause: Cause::Move, is_awaited: self.purpose.is_awaited && !is_of_host }
    }
}

/// A run of pages that the host trims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trim {
    /// How many writes of the batch come before it.
    pub after_writes: u32,
    /// The first page.
    pub first: Lpn,
    /// How many pages.
    pub pages: u32,
}

/// Page writes in order, and the trims between them.
#[derive(Debug, Clone, Default)]
pub struct PageBatch {
    /// Pages to write, in order.
    pub writes: Vec<Lpn>,
    /// Trims, in ascending order of `after_writes`.
    pub trims: Vec<Trim>,
    /// Of each write, for how many host writes it lives, as of [`Hint`](crate::page::Hint); empty where
    /// that is not known.
    pub lifetimes: Vec<Lifetime>,
    /// Of each write, the stream that the host names, or [`NO_HANDLE`](crate::NO_HANDLE); empty where it
    /// names none.
    pub streams: Vec<u16>,
    /// Of each write, the sectors of 512 bytes of its page that the host did not send, as of
    /// [`Hint`](crate::page::Hint); ends after the last write that lacks some.
    pub lacking: Vec<i32>,
    /// Of each write, how many pages of its request follow it; ends after the last write that some follow, and is empty
    /// unless an FTL asks which pages belong together.
    pub following: Vec<u32>,
}

impl PageBatch {
    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.writes.clear();
        self.trims.clear();
        self.lifetimes.clear();
        self.streams.clear();
        self.lacking.clear();
        self.following.clear();
    }

    /// The writes from `begin` on are of one request, after whose first one `following` pages follow.
    pub fn follow(&mut self, begin: usize, following: u64) {
        let following = u32::try_from(following).unwrap_or(u32::MAX);
        if following > 0 {
            let left = (0..).map(|index| following.saturating_sub(index));
            let own = self.writes.len() - begin;
            self.following.resize(begin, 0);
            self.following.extend(left.take(own));
        }
    }

    /// How many pages of its request follow the write at `index`, as far as that is told.
    #[inline]
    pub fn following(&self, index: usize) -> u32 {
        self.following.get(index).copied().unwrap_or(0)
    }

    /// The host did not send these sectors, maybe none, of the page of the write at `index`.
    pub fn lack(&mut self, index: usize, sectors: i32) {
        if sectors != 0 {
            if self.lacking.len() <= index {
                self.lacking.resize(index + 1, 0);
            }
            self.lacking[index] += sectors;
        }
    }

    /// Sectors that the host did not send of the pages of the first `writes` writes.
    pub fn lacking_of(&self, writes: usize) -> i64 {
        self.lacking.iter().take(writes).map(|sectors| i64::from(*sectors)).sum()
    }

    /// The write at `index`, on a medium that keeps no data.
    ///
    /// # Panics
    /// If there is none.
    pub fn page_write(&self, index: usize) -> PageWrite<'static> {
        let none = Hint::NONE;
        let hint = Hint {
            lifetime: self.lifetimes.get(index).copied().unwrap_or(none.lifetime),
            stream: self.streams.get(index).copied().unwrap_or(none.stream),
            lacking: self.lacking.get(index).copied().unwrap_or(none.lacking),
        };
        PageWrite { hint, ..PageWrite::by_host(self.writes[index], &[]) }
    }

    /// Every page that is written or trimmed, in order.
    pub fn for_each_page(&self, mut see: impl FnMut(Lpn)) {
        let mut written = 0;
        for trim in &self.trims {
            let before = trim.after_writes as usize;
            self.writes[written..before].iter().for_each(|lpn| see(*lpn));
            written = before;
            (trim.first.0..trim.first.0 + trim.pages).for_each(|lpn| see(Lpn(lpn)));
        }
        self.writes[written..].iter().for_each(|lpn| see(*lpn));
    }

    /// Appends a trim.
    pub fn trim(&mut self, first: Lpn, pages: u32) {
        self.trims.push(Trim { after_writes: self.writes.len() as u32, first, pages });
    }
}

/// Counts since the FTL was made; differences of two give those of a span.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// Pages that the host wrote.
    pub host_writes: u64,
    /// Trimmed pages that held data.
    pub trims: u64,
    /// Collections; each takes one victim or more.
    pub collections: u64,
    /// By stream, in order of the FTL's streams.
    pub streams: Vec<StreamCounters>,
    /// Merges of hybrid-mapped FTLs.
    pub merges: Merges,
}

state!(Counters { host_writes, trims, collections, streams, merges });

/// Counts of merges, which bring the pages of a logical block together in one erase block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Merges {
    /// Pages that merges copied.
    pub copies: u64,
    /// Merges into a fresh block.
    pub full: u64,
    /// Merges that copied the pages missing after those of a log block written in order.
    pub partial: u64,
    /// Merges that had nothing to copy, because a log block held all pages in order.
    pub switch: u64,
    /// Of the full merges, those of a cold page, a few at each host write.
    pub progressive: u64,
    /// Of the full merges, those of a cold page that were due at once, for want of room.
    pub hurried: u64,
}

state!(Merges { copies, full, partial, switch, progressive, hurried });

/// Counts of the victims that held pages of one stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamCounters {
    /// Valid pages that were moved out of victims of this stream.
    pub relocations: u64,
    /// Blocks of this stream that were erased.
    pub erases: u64,
}

state!(StreamCounters { relocations, erases });

impl Counters {
    pub(crate) fn new(streams: usize) -> Self {
        let streams = vec![StreamCounters::default(); streams];
        Self { host_writes: 0, trims: 0, collections: 0, streams, merges: Merges::default() }
    }

    /// Valid pages that garbage collection moved.
    pub fn relocations(&self) -> u64 {
        self.streams.iter().map(|stream| stream.relocations).sum()
    }

    /// Blocks erased.
    pub fn erases(&self) -> u64 {
        self.streams.iter().map(|stream| stream.erases).sum()
    }

    /// Flash pages programmed: host writes, relocations and copies of merges.
    pub fn programs(&self) -> u64 {
        self.host_writes + self.relocations() + self.merges.copies
    }

    /// Write amplification: flash page programs per host page write, if there was one.
    pub fn waf(&self) -> Option<f64> {
        (self.host_writes > 0).then(|| self.programs() as f64 / self.host_writes as f64)
    }

    /// What has been counted since `earlier`, counters of the same FTL.
    #[must_use]
    pub fn since(&self, earlier: &Counters) -> Counters {
        let streams = self.streams.iter().zip(&earlier.streams);
        Counters {
            host_writes: self.host_writes - earlier.host_writes,
            trims: self.trims - earlier.trims,
            collections: self.collections - earlier.collections,
            streams: streams
                .map(|(now, then)| StreamCounters {
                    relocations: now.relocations - then.relocations,
                    erases: now.erases - then.erases,
                })
                .collect(),
            merges: self.merges.since(earlier.merges),
        }
    }
}

impl Merges {
    fn since(self, earlier: Self) -> Self {
        Self {
            copies: self.copies - earlier.copies,
            full: self.full - earlier.full,
            partial: self.partial - earlier.partial,
            switch: self.switch - earlier.switch,
            progressive: self.progressive - earlier.progressive,
            hurried: self.hurried - earlier.hurried,
        }
    }
}

/// A stream and its present share of the flash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamUse {
    /// Its name, such as "cold".
    pub name: &'static str,
    /// True if its blocks count as the cold region.
    pub cold: bool,
    /// Blocks that hold its pages.
    pub blocks: u32,
}

impl StreamUse {
    /// That of `streams`, given how many blocks each has.
    pub(crate) fn of(streams: &[Stream], blocks: &[u32]) -> Vec<Self> {
        let uses = streams.iter().zip(blocks);
        uses.map(|(&Stream { name, cold, .. }, &blocks)| Self { name, cold, blocks }).collect()
    }
}

/// What an erase block is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockUse {
    /// It is erased.
    Free,
    /// It holds pages of this stream, or takes them.
    Holds(StreamId),
    /// It is out of use.
    Retired,
}

/// Memory that an FTL takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryBytes {
    /// Mapping tables, valid bits, block states and free list, which every FTL has.
    pub drive: usize,
    /// What the policy keeps beside them.
    pub policy: usize,
}

impl fmt::Display for MemoryBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} + {} bytes", self.drive, self.policy)
    }
}

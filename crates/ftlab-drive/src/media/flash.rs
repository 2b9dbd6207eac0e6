//! Flash whose pages are in a backing, with the order of writes that lets them survive crashes.
//!
//! # Order
//! A block may be overwritten only when its erase is durable: the operation that erased it is in
//! the journal, and the copies of its pages are in their places. Until then, new pages of the block
//! wait in their buffer. `docs/notes/drive-format.md` proves that this suffices.

use crate::latency::Clock;
use crate::media::batch::Record;
use crate::media::capture::Capture;
use crate::media::checkpoint::Totals;
use crate::media::checksum::checksum;
use crate::media::gather::{Gather, Gathered};
use crate::media::held::{Held, Holds};
use crate::media::journal::{Head, Journal};
use crate::media::layout::Layout;
use crate::media::mark::Mark;
use crate::media::owner_capture::OwnerCapture;
use crate::media::owners::{Owner, sequence};
use crate::media::reading::{Origin, Unread, read_medium, with_retries};
use crate::media::replay::Tracker;
use crate::media::slots::Slots;
use crate::media::syncer::{Progress, Syncer};
use crate::media::{Backing, Superblock};
use ftlab_flash::{BlockId, BlockOf, Content, Flash, Lpn, Page, Ppn, Purpose};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use thiserror::Error;

/// Is told what somebody should know, such as a page that cannot be read; it is called while the drive is
/// locked, and must be fast.
pub type Notice = Arc<dyn Fn(&str) + Send + Sync>;

/// The host write in progress, up to its program: what makes room for it may need a sync, which has to make the
/// whole operation durable.
#[derive(Debug, Default)]
struct Staged {
    lpn: Option<Lpn>,
    checksum: u32,
    /// For the journal.
    data: Vec<u8>,
    /// Its data is in the journal: however many syncs the operation needs, once is enough.
    is_journaled: bool,
}

/// What a sync is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// All completed operations survive a crash.
    Flush,
    /// Erased blocks may be overwritten: the operations survive up to those that erased them.
    Erases,
}

/// Flash in a backing.
///
/// Its operations never fail. The first error is kept in [`failure`](Self::failure): nothing is
/// written after it, and pages stay in their buffers, so that they can still be read.
pub(crate) struct Media {
    backing: Arc<dyn Backing>,
    syncer: Arc<Syncer>,
    mark: Mark,
    layout: Layout,
    block_of: BlockOf,
    /// Logical page -> checksum of its current version; if the map is on flash, and the drive is live, of translation
    /// pages only: those of others are beside them.
    checksums: Vec<u32>,
    /// The first page that has one there.
    checksums_from: u32,
    /// Pages of the host, after which translation pages follow.
    host_pages: u32,
    gather: Gather,
    slots: Slots,
    /// By their places, owners that cannot be read beside their pages, of a drive whose map is on flash.
    owners_apart: HashMap<Ppn, Owner>,
    /// The first place of the block whose pages are being moved, and what stands beside them.
    owners_read: Option<(Ppn, Vec<Owner>)>,
    /// By their places, pages that are not there: of a drive that may not be written.
    overlay: HashMap<Ppn, Box<[u8]>>,
    journal: Journal,
    /// Erases so far, and for each block the number of its last erase.
    erases: u64,
    erased: Vec<u64>,
    /// For each of the last erases, which no sync may have covered, the number of its operation.
    erased_in: VecDeque<u64>,
    staged: Staged,
    /// Completed operations.
    operations: u64,
    /// A translation page was written again where it is, of which checkpoints do not know.
    has_mended: bool,
    /// Buffer of one page, for copying.
    page: Vec<u8>,
    /// The tracker, during replay.
    replay: Option<Tracker>,
    /// What flash pages hold during a replay, if the map is not in memory as a whole.
    held: Option<Held>,
    capture: Option<Capture>,
    owner_capture: Option<OwnerCapture>,
    totals: Totals,
    failure: Option<String>,
    notice: Option<Notice>,
    /// The clock, if the timing of flash is emulated.
    clock: Option<Clock>,
}

impl Media {
    /// Flash that replays the journal of a drive from `head`, until it [goes live](Self::go_live).
    pub(crate) fn new(
        backing: Arc<dyn Backing>,
        superblock: &Superblock,
        session: u64,
        head: Head,
    ) -> Self {
        let (layout, config) = (superblock.layout, superblock.config);
        let mark = Mark::new(superblock.uuid, layout);
        let page_bytes = layout.geometry.page_bytes() as usize;
        let first = if superblock.is_paged() { config.logical_pages } else { 0 };
        let durable =
            Progress { operations: head.operations, in_place: head.operations, erases: 0 };
        Self {
            syncer: Arc::new(Syncer::new(Arc::clone(&backing), durable, mark)),
            mark,
            backing,
            layout,
            block_of: layout.geometry.block_of(),
            checksums: vec![0; (superblock.all_pages() - first) as usize],
            checksums_from: first,
            host_pages: config.logical_pages,
            gather: Gather::new(&layout.geometry),
            slots: Slots::new(&layout.geometry),
            owners_apart: HashMap::new(),
            owners_read: None,
            overlay: HashMap::new(),
            notice: None,
            journal: Journal::new(superblock.uuid, layout, session, head, head.position),
            erases: 0,
            erased: vec![0; layout.geometry.blocks() as usize],
            erased_in: VecDeque::new(),
            staged: Staged { data: vec![0; page_bytes], ..Staged::default() },
            operations: head.operations,
            has_mended: false,
            page: vec![0; page_bytes],
            replay: Some(Tracker::default()),
            held: None,
            capture: None,
            owner_capture: None,
            totals: Totals::default(),
            failure: None,
            clock: None,
        }
    }

    /// From now on, tells what happens that somebody should know.
    pub(crate) fn set_notice(&mut self, notice: Notice) {
        self.notice = Some(notice);
    }

    /// Says what somebody should know.
    pub(crate) fn notify(&self, text: &str) {
        if let Some(notice) = &self.notice {
            notice(text);
        }
    }

    /// Where blocks are, and which pages could not be read.
    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    pub(crate) fn slots_mut(&mut self) -> &mut Slots {
        &mut self.slots
    }

    /// Emulates the timing of flash from now on.
    pub(crate) fn set_clock(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    /// The host reads a flash page.
    pub(crate) fn time_host_read(&mut self, from: Ppn) {
        if let Some(clock) = &mut self.clock {
            clock.host_read(from);
        }
    }

    pub(crate) fn backing(&self) -> &Arc<dyn Backing> {
        &self.backing
    }

    pub(crate) fn syncer(&self) -> &Arc<Syncer> {
        &self.syncer
    }

    /// Operations that are complete.
    pub(crate) fn operations(&self) -> u64 {
        self.operations
    }

    /// Whether a translation page was written again where it is since the drive was opened.
    pub(crate) fn has_mended(&self) -> bool {
        self.has_mended
    }

    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    pub(crate) fn totals_mut(&mut self) -> &mut Totals {
        &mut self.totals
    }

    pub(crate) fn journal_mut(&mut self) -> &mut Journal {
        &mut self.journal
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    pub(crate) fn checksums_mut(&mut self) -> &mut [u32] {
        &mut self.checksums
    }

    pub(crate) fn checksums(&self) -> &[u32] {
        &self.checksums
    }

    /// The checksum of the current version of `lpn`; none if it is beside it.
    pub(crate) fn checksum(&self, lpn: Lpn) -> Option<u32> {
        let index = lpn.0.checked_sub(self.checksums_from)?;
        self.checksums.get(index as usize).copied()
    }

    /// Keeps no checksums of pages of the host from now on: they are beside them.
    pub(crate) fn page_out(&mut self) {
        if self.checksums_from == 0 {
            self.checksums = self.checksums.split_off(self.host_pages as usize);
            self.checksums_from = self.host_pages;
        }
    }

    /// Keeps the checksums of all pages, which are restored next.
    pub(crate) fn page_in(&mut self) {
        self.checksums = vec![0; self.host_pages as usize + self.checksums.len()];
        self.checksums_from = 0;
    }

    /// Restores the checksum of `lpn`, if it is kept.
    pub(crate) fn restore_checksum(&mut self, lpn: Lpn, checksum: u32) {
        let index = lpn.0.checked_sub(self.checksums_from);
        if let Some(kept) = index.and_then(|index| self.checksums.get_mut(index as usize)) {
            *kept = checksum;
        }
    }

    /// These places hold something, and it does not stand beside them.
    pub(crate) fn keep_owners(&mut self, owners: impl IntoIterator<Item = (Ppn, Owner)>) {
        self.owners_apart.extend(owners);
    }

    /// Writes beside their places what does not stand there; how many these are.
    pub(crate) fn write_owners(&mut self) -> usize {
        let apart = std::mem::take(&mut self.owners_apart);
        let count = apart.len();
        for (place, owner) in apart {
            self.write_owner(place, owner);
        }
        count
    }

    /// Whether it is a translation page.
    pub(crate) fn is_of_map(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.host_pages
    }

    pub(crate) fn checksums_vec(&mut self) -> &mut Vec<u32> {
        &mut self.checksums
    }

    /// Erases so far.
    pub(crate) fn erases(&self) -> u64 {
        self.erases
    }

    pub(crate) fn replay_mut(&mut self) -> Option<&mut Tracker> {
        self.replay.as_mut()
    }

    pub(crate) fn held_mut(&mut self) -> &mut Option<Held> {
        &mut self.held
    }

    /// What the pages of `block` hold during a replay.
    pub(crate) fn held(&mut self, block: BlockId) -> Result<&[Holds], Unread> {
        match &mut self.held {
            Some(held) => held.of(&*self.backing, block),
            None => Ok(&[]),
        }
    }

    pub(crate) fn capture_mut(&mut self) -> &mut Option<Capture> {
        &mut self.capture
    }

    /// Ends or begins a capture of owners.
    pub(crate) fn capture_owners(&mut self, capture: Option<OwnerCapture>) {
        self.owner_capture = capture;
    }

    /// What the pages of `block` held when the capture of owners began, and their checksums.
    pub(crate) fn take_owners(&mut self, block: BlockId) -> Result<Vec<(u32, u32)>, String> {
        let Some(mut capture) = self.owner_capture.take() else { return Ok(Vec::new()) };
        let owners = capture.take(block, |is_right| self.read_owners(block, is_right));
        self.owner_capture = Some(capture);
        owners
    }

    /// The error after which nothing is written any more.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Stops writing, for this reason.
    pub(crate) fn stop(&mut self, reason: String) {
        self.failure.get_or_insert(reason);
    }

    fn fail(&mut self, what: &str, error: &io::Error) {
        self.stop(format!("{what}: {error}"));
    }

    /// Ends the replay: from now on pages are written. Everything is durable in its place, and the
    /// journal continues at `head`; checkpoints need it from `tail`.
    pub(crate) fn go_live(&mut self, head: Head, session: u64, superblock: &Superblock, tail: u64) {
        (self.replay, self.held) = (None, None);
        self.erases = 0;
        self.erased.fill(0);
        self.erased_in.clear();
        self.journal = Journal::new(superblock.uuid, self.layout, session, head, tail);
        self.operations = head.operations;
        let durable =
            Progress { operations: head.operations, in_place: head.operations, erases: 0 };
        self.syncer = Arc::new(Syncer::new(Arc::clone(&self.backing), durable, self.mark));
    }

    /// Begins the write of a page of a stream by the host; `before` is its current location.
    pub(crate) fn begin_write(
        &mut self,
        lpn: Lpn,
        checksum: u32,
        data: &[u8],
        before: Option<Ppn>,
        stream: u16,
    ) {
        self.preserve(lpn, before);
        self.staged.data.copy_from_slice(data);
        self.stage(lpn, checksum);
        self.log(Record::Write { lpn, checksum, stream });
        if let Some(clock) = &mut self.clock {
            clock.arrive();
        }
    }

    /// Announces a write during replay, whose record is in the journal.
    pub(crate) fn stage(&mut self, lpn: Lpn, checksum: u32) {
        self.staged.lpn = Some(lpn);
        self.staged.checksum = checksum;
        self.staged.is_journaled = false;
    }

    pub(crate) fn begin_trim(&mut self, first: Lpn, pages: u32) {
        self.log(Record::Trim { first, pages });
    }

    /// Begins the renewal of a placement handle's unit.
    pub(crate) fn begin_renewal(&mut self, handle: u16) {
        self.log(Record::Renewal { handle });
    }

    /// Writes what waits in the buffers of blocks that take no more pages: there is room in the journal for
    /// those of open blocks only.
    pub(crate) fn write_closed(&mut self, is_open: impl Fn(BlockId) -> bool) {
        let closed: Vec<BlockId> = self.gather.blocks().filter(|block| !is_open(*block)).collect();
        for block in closed {
            self.put_in_place(block);
        }
    }

    /// Records that `lpn`, which is at `before`, is about to change.
    #[inline]
    pub(crate) fn preserve(&mut self, lpn: Lpn, before: Option<Ppn>) {
        if let Some(capture) = &mut self.capture {
            capture.preserve(lpn, before, self.checksums[lpn.index()]);
        }
    }

    /// Completes the current operation.
    pub(crate) fn complete(&mut self) {
        self.operations += 1;
        self.staged.lpn = None;
    }

    fn log(&mut self, record: Record) {
        self.journal.append(record);
        if self.journal.is_full() && self.failure.is_none() {
            self.write_journal();
        }
    }

    fn write_journal(&mut self) {
        let (in_place, flushed) = (self.syncer.in_place(), self.syncer.operations());
        let metadata_bytes = self.totals.metadata_bytes;
        match self.journal.write(&*self.backing, in_place, flushed, metadata_bytes) {
            Ok(bytes) => self.totals.metadata_bytes += bytes,
            Err(error) => self.fail("the journal could not be written", &error),
        }
    }

    /// Writes what a sync has to make durable. Returns what will be durable then.
    pub(crate) fn drain(&mut self, aim: Aim) -> Result<Progress, String> {
        let covered = self.syncer.erases();
        let blocks: Vec<BlockId> = self.gather.blocks().collect();
        for &block in &blocks {
            if self.erased[block.index()] <= covered {
                self.write_buffer(block);
            }
        }
        // Pages that still wait were moved from blocks that were erased later than theirs.
        let waiting = self.gather.blocks().map(|block| self.erased[block.index()]);
        let erases = waiting.min().unwrap_or(self.erases);
        let last = match aim {
            Aim::Flush => self.operations + 1,
            Aim::Erases => self.operation_of(erases, covered),
        };
        self.log_new_pages(last);
        if self.failure.is_none() {
            self.write_journal();
        }
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let since = self.gather.filled().map(|buffer| buffer.since).min();
        let in_place = since.unwrap_or(self.operations);
        let operations = last.min(self.operations).max(in_place);
        let written = Progress { operations, in_place, erases };
        self.syncer.announce(written);
        Ok(written)
    }

    /// The number of the operation in which an erase took place; 0 if it is covered, as all up to `covered` are.
    fn operation_of(&mut self, erase: u64, covered: u64) -> u64 {
        let first = self.erases - self.erased_in.len() as u64;
        self.erased_in.drain(..covered.saturating_sub(first) as usize);
        let index = erase.checked_sub(covered.max(first) + 1);
        index.and_then(|index| self.erased_in.get(index as usize).copied()).unwrap_or(0)
    }

    /// Puts into the journal the host's pages that cannot be written to their places yet, of operations up to the
    /// one with the number `last`.
    fn log_new_pages(&mut self, last: u64) {
        let page_bytes = self.page.len();
        let blocks: Vec<BlockId> = self.gather.blocks().collect();
        for block in blocks {
            let Some(buffer) = self.gather.of(block) else { continue };
            let from = buffer.journaled;
            let end = buffer.pages.partition_point(|page| page.operation <= last).max(from);
            for index in from..end {
                let Some(buffer) = self.gather.of(block) else { continue };
                let Gathered { lpn, checksum, is_new, .. } = buffer.pages[index];
                if is_new {
                    let data = &buffer.data[index * page_bytes..(index + 1) * page_bytes];
                    self.journal.append(Record::Page { lpn, checksum, data });
                    if self.journal.is_full() && self.failure.is_none() {
                        self.write_journal();
                    }
                }
            }
            if let Some(buffer) = self.gather.filled().find(|buffer| buffer.block == block) {
                buffer.journaled = end;
            }
        }
        if let Some(lpn) = self.staged.lpn
            && last > self.operations
            && !self.staged.is_journaled
        {
            let (checksum, data) = (self.staged.checksum, &self.staged.data[..]);
            self.journal.append(Record::Page { lpn, checksum, data });
            self.staged.is_journaled = true;
        }
    }

    /// Writes the buffered pages of `block`, if that is allowed.
    fn put_in_place(&mut self, block: BlockId) {
        while self.failure.is_none() && !self.syncer.covers(self.erased[block.index()]) {
            let synced = self
                .drain(Aim::Erases)
                .and_then(|written| self.syncer.sync(written).map_err(|error| error.to_string()));
            if let Err(failure) = synced {
                self.stop(failure);
            }
        }
        self.write_buffer(block);
    }

    fn write_buffer(&mut self, block: BlockId) {
        if self.failure.is_some() {
            return;
        }
        let Some(buffer) = self.gather.of(block) else { return };
        let place = self.slots.place(buffer.first);
        let owners: Vec<u8> = buffer.pages.iter().flat_map(|page| page.owner().encode()).collect();
        let written = self
            .backing
            .write_at(&owners, self.layout.owner(place))
            .and_then(|()| self.backing.write_at(&buffer.data, self.layout.page(place)));
        self.totals.metadata_bytes += owners.len() as u64;
        match written {
            Ok(()) => self.gather.clear(block),
            Err(error) => self.fail("pages could not be written", &error),
        }
    }

    /// A page of the operation in progress: one that the host writes, or one that is moved.
    fn gathered_page(&self, lpn: Lpn, checksum: u32, is_new: bool) -> Gathered {
        let sequence = sequence(self.totals.recoveries, self.operations, is_new);
        Gathered { lpn, checksum, is_new, sequence, operation: self.operations + 1 }
    }

    /// Appends a page to those of its block: a new one with its data, or the one that was read to be copied.
    fn append(&mut self, to: Ppn, page: Gathered, new: Option<&[u8]>) {
        let block = self.block_of.page(to);
        // Putting pages in place needs the buffer of the page that was read.
        let data = new.unwrap_or(&self.page);
        if self.gather.append(block, to, page, data, self.operations) {
            self.put_in_place(block);
        }
    }

    /// The data of a flash page that is not yet in its place.
    #[inline]
    pub(crate) fn gathered(&self, page: Ppn) -> Option<&[u8]> {
        if !self.overlay.is_empty() {
            return self.overlay.get(&self.slots.place(page)).map(|data| &**data);
        }
        self.gather.find(self.block_of.page(page), page)
    }

    /// Keeps pages in memory instead of copying them to these places.
    pub(crate) fn lay_over(&mut self, pages: HashMap<Ppn, Box<[u8]>>) {
        self.overlay = pages;
    }

    /// Reads the flash page of `lpn`. What is wrong is read again.
    pub(crate) fn read_page(&mut self, from: Ppn, lpn: Lpn, data: &mut [u8]) -> Result<(), Unread> {
        let read = with_retries(&*self.backing, |origin| self.read_once(origin, from, lpn, data));
        self.totals.media_errors += u64::from(read.is_err());
        read
    }

    /// Reads it once: from its buffer or its place, or else from where it was when it could not be moved.
    fn read_once(
        &self,
        origin: Origin,
        from: Ppn,
        lpn: Lpn,
        data: &mut [u8],
    ) -> Result<(), Unread> {
        let read = match self.gathered(from) {
            Some(page) => {
                data.copy_from_slice(page);
                self.is_current(from, lpn, data).then_some(()).ok_or(Unread::Differs)
            }
            None => self.read_place(origin, self.slots.place(from), lpn, data),
        };
        match self.slots.unreadable_at(lpn) {
            Some(place) if read.is_err() => self.read_place(origin, place, lpn, data),
            _ => read,
        }
    }

    /// Reads a place of the medium, which should hold the current version of `lpn`.
    fn read_place(
        &self,
        origin: Origin,
        place: Ppn,
        lpn: Lpn,
        data: &mut [u8],
    ) -> Result<(), Unread> {
        let offset = self.layout.page(place);
        let sum = self.checksum_at(origin, place, lpn);
        let is_right = |data: &[u8]| Some(checksum(lpn, data)) == sum;
        if origin == Origin::Medium
            && self.backing.read_medium_at(data, offset).is_ok_and(|()| is_right(data))
        {
            return Ok(());
        }
        self.backing.read_at(data, offset)?;
        is_right(data).then_some(()).ok_or(Unread::Differs)
    }

    /// The checksum that the current version of `lpn` should have at `place` of the medium, if that is known.
    fn checksum_at(&self, origin: Origin, place: Ppn, lpn: Lpn) -> Option<u32> {
        self.checksum(lpn).or_else(|| self.checksum_beside(origin, place, lpn))
    }

    /// That which stands beside `place`, if it holds `lpn`.
    fn checksum_beside(&self, origin: Origin, place: Ppn, lpn: Lpn) -> Option<u32> {
        let read = self.owners_read.as_ref().and_then(|(first, owners)| {
            owners.get(place.0.checked_sub(first.0)? as usize).filter(|owner| owner.lpn == lpn)
        });
        let apart = read.or_else(|| self.owners_apart.get(&place)).copied();
        let beside = || Owner::read(&*self.backing, &self.layout, origin, place);
        let owner = apart.or_else(beside)?;
        (owner.lpn == lpn).then_some(owner.checksum)
    }

    /// Whether the medium holds the current version of `lpn` at `from`, or it waits in a buffer.
    pub(crate) fn is_on_medium(&mut self, from: Ppn, lpn: Lpn) -> bool {
        if self.gathered(from).is_some() {
            return true;
        }
        let mut page = std::mem::take(&mut self.page);
        let place = self.slots.place(from);
        let offset = self.layout.page(place);
        let read = read_medium(&*self.backing, &mut page, offset, |page| {
            let sum = self.checksum_at(Origin::Medium, place, lpn);
            (Some(checksum(lpn, page)) == sum).then_some(())
        });
        self.page = page;
        read.is_ok()
    }

    /// Whether this is the current version of `lpn`, which is at `from`.
    pub(crate) fn is_current(&self, from: Ppn, lpn: Lpn, data: &[u8]) -> bool {
        self.checksum_of(Origin::Anywhere, from, lpn) == Some(checksum(lpn, data))
    }

    /// The checksum of the current version of `lpn`, which is at `from`, if that is known.
    fn checksum_of(&self, origin: Origin, from: Ppn, lpn: Lpn) -> Option<u32> {
        let gathered = || self.gather.owner(self.block_of.page(from), from);
        self.checksum(lpn).or_else(|| match gathered() {
            Some(page) => (page.lpn == lpn).then_some(page.checksum),
            None => self.checksum_at(origin, self.slots.place(from), lpn),
        })
    }

    /// Writes beside a place what it holds; if it is not there then, keeps it in memory.
    pub(crate) fn write_owner(&mut self, place: Ppn, owner: Owner) {
        let written = self.backing.write_at(&owner.encode(), self.layout.owner(place));
        self.totals.metadata_bytes += owner.encode().len() as u64;
        let read = || Owner::read(&*self.backing, &self.layout, Origin::Medium, place);
        if written.is_err() || read() != Some(owner) {
            self.owners_apart.insert(place, owner);
        }
    }

    /// Whether what stands beside `from` does not tell that it holds `lpn`, although nothing else tells its checksum.
    pub(crate) fn has_lost_owner(&self, from: Ppn, lpn: Lpn) -> bool {
        self.checksum_of(Origin::Medium, from, lpn).is_none()
    }

    /// What the pages of `block` hold, and their checksums, as it is in its buffer or beside them: read again until that
    /// is right.
    fn read_owners(
        &self,
        block: BlockId,
        is_right: &dyn Fn(&[Lpn]) -> bool,
    ) -> Result<Vec<Owner>, Unread> {
        let first = self.layout.geometry.first_page(block);
        let pages = self.layout.geometry.pages_per_block();
        with_retries(&*self.backing, |origin| {
            let mut owners = Owner::read_all(
                &*self.backing,
                &self.layout,
                origin,
                self.slots.place(first),
                pages,
            );
            for (owner, page) in owners.iter_mut().zip((first.0..).map(Ppn)) {
                if let Some(gathered) = self.gather.owner(block, page) {
                    *owner = gathered.owner();
                } else if let Some(apart) = self.owners_apart.get(&self.slots.place(page)) {
                    *owner = *apart;
                }
            }
            let lpns: Vec<Lpn> = owners.iter().map(|owner| owner.lpn).collect();
            if is_right(&lpns) { Ok(owners) } else { Err(Unread::Differs) }
        })
    }

    /// Programs the page of the host write in progress.
    fn program_new(&mut self, to: Ppn, lpn: Lpn, data: &[u8]) {
        debug_assert_eq!(self.staged.lpn, Some(lpn), "an operation writes one page");
        let checksum = self.staged.checksum;
        if self.checksums_from == 0 {
            self.checksums[lpn.index()] = checksum;
        }
        self.slots.forget(lpn);
        if let Some(tracker) = &mut self.replay {
            tracker.write(lpn, checksum, self.slots.place(to), self.operations + 1);
            if let Some(held) = &mut self.held {
                held.program(to, lpn, checksum);
            }
            return;
        }
        self.staged.lpn = None;
        self.append(to, self.gathered_page(lpn, checksum, true), Some(data));
    }

    /// Programs a translation page. During replay nothing is known of its data, which follows from the map in the end.
    fn program_map_page(&mut self, to: Ppn, lpn: Lpn, data: &[u8]) {
        self.slots.forget(lpn);
        if self.replay.is_some() {
            if let Some(held) = &mut self.held {
                held.program(to, lpn, 0);
            }
            return;
        }
        let checksum = checksum(lpn, data);
        self.checksums[(lpn.0 - self.checksums_from) as usize] = checksum;
        self.append(to, self.gathered_page(lpn, checksum, false), Some(data));
    }

    fn copy(&mut self, from: Ppn, to: Ppn, lpn: Lpn) {
        if self.replay.is_some() {
            self.copy_again(from, to, lpn);
            return;
        }
        self.preserve(lpn, Some(from));
        let mut page = std::mem::take(&mut self.page);
        let sum = match self.read_page(from, lpn, &mut page) {
            Ok(()) => {
                self.slots.has_moved(lpn);
                self.checksum(lpn).unwrap_or_else(|| checksum(lpn, &page))
            }
            // Its checksum stays what it was, so that reading something else is an error.
            Err(unread) => {
                let sum = with_retries(&*self.backing, |origin| {
                    self.checksum_of(origin, from, lpn).ok_or(Unread::Differs)
                });
                if self.keep(lpn, from, &unread) || matches!(unread, Unread::Failed(_)) {
                    page.fill(0);
                }
                sum.unwrap_or_else(|_| !checksum(lpn, &page))
            }
        };
        let checksum = sum;
        self.page = page;
        self.append(to, self.gathered_page(lpn, checksum, false), None);
    }

    /// Moves a page in a replay.
    fn copy_again(&mut self, from: Ppn, to: Ppn, lpn: Lpn) {
        let is_of_host = lpn.0 < self.host_pages;
        let known = self.checksum(lpn);
        let checksum = match (&mut self.held, known) {
            (Some(held), known) => {
                let index = from.0 % self.layout.geometry.pages_per_block();
                let told = held.of(&*self.backing, self.block_of.page(from));
                let told = told.ok().and_then(|held| held.get(index as usize)).map(|held| held.1);
                let checksum = if is_of_host { told } else { known };
                let Some(checksum) = checksum else {
                    self.stop(format!("what flash page {from} holds cannot be read"));
                    return;
                };
                held.program(to, lpn, checksum);
                checksum
            }
            (None, known) => known.unwrap_or(0),
        };
        if let Some(tracker) = self.replay.as_mut().filter(|_| is_of_host) {
            let (from, to) = (self.slots.place(from), self.slots.place(to));
            tracker.relocate(lpn, checksum, from, to, self.operations + 1);
        }
    }

    /// A collection cannot read `lpn` at `from`: it stays where it is, and nothing is where it moves to. False if
    /// it cannot stay.
    #[cold]
    fn keep(&mut self, lpn: Lpn, from: Ppn, unread: &Unread) -> bool {
        if self.slots.unreadable_at(lpn).is_some() {
            return true;
        }
        // A page that waits in its buffer is one that could not stay before, and of which that was said.
        if self.gathered(from).is_some() {
            return false;
        }
        let place = self.slots.place(from);
        let kept = self.slots.keep(lpn, place);
        let what = match &kept {
            Ok(()) => "it stays where it is, out of use, and is tried again later".to_owned(),
            Err(why) => format!("it is moved as it is, and reading it stays an error: {why}"),
        };
        self.notify(&format!("page {lpn} was to be moved, but {unread}; {what}"));
        if kept.is_ok() {
            self.log(Record::Unreadable { lpn, place });
        }
        kept.is_ok()
    }
}

/// Why a translation page or what is beside pages cannot be read.
#[derive(Debug, Error)]
pub(crate) enum FlashError {
    #[error(
        "translation page {page}, at flash page {place}, is lost: {unread}; open the drive again, which writes it again"
    )]
    MapPage { page: u32, place: Ppn, unread: Unread },
    #[error(
        "what block {block} holds cannot be read beside its pages: {unread}; open the drive again, which writes it again"
    )]
    Owners { block: BlockId, unread: Unread },
}

impl Flash for Media {
    type Error = FlashError;

    fn program(&mut self, to: Ppn, page: Page<'_>, purpose: Purpose) -> Result<(), FlashError> {
        if let Some(clock) = &mut self.clock {
            clock.program(to, page, purpose);
        }
        match page.content {
            Content::New(data) if self.is_of_map(page.lpn) => {
                self.program_map_page(to, page.lpn, data);
            }
            Content::New(data) => self.program_new(to, page.lpn, data),
            Content::At(from) => self.copy(from, to, page.lpn),
        }
        Ok(())
    }

    fn erase(&mut self, block: BlockId, purpose: Purpose) -> Result<(), FlashError> {
        if let Some(clock) = &mut self.clock {
            clock.erase(block, purpose);
        }
        if let Some(mut capture) = self.owner_capture.take() {
            capture.preserve(block, |is_right| self.read_owners(block, is_right));
            self.owner_capture = Some(capture);
        }
        self.owners_read = None;
        if let Some(held) = &mut self.held {
            held.erase(block);
        }
        if !self.owners_apart.is_empty() {
            let first = self.slots.place(self.layout.geometry.first_page(block)).0;
            let places = first..first + self.layout.geometry.pages_per_block();
            self.owners_apart.retain(|place, _| !places.contains(&place.0));
        }
        // Only a block that was closed before it was full has pages in its buffer.
        if self.gather.of(block).is_some() {
            self.put_in_place(block);
        }
        self.erases += 1;
        self.erased[block.index()] = self.erases;
        self.gather.clear(block);
        if self.replay.is_some() {
            self.slots.repeat_erase(block);
        } else {
            self.erased_in.push_back(self.operations + 1);
            match self.slots.erase(block) {
                Ok(None) => {}
                Ok(Some(replacement)) => self.log(Record::Replacement(replacement)),
                Err(lost) => self.notify(&format!(
                    "pages that could not be read before are lost, because no spare block is left: {lost:?}"
                )),
            }
        }
        Ok(())
    }

    /// Not verified, for which the page would have to be known: the drive reads by [`read_page`](Self::read_page).
    fn read(&mut self, from: Ppn, data: &mut [u8], _: Purpose) -> Result<(), FlashError> {
        if let Some(page) = self.gathered(from) {
            data.copy_from_slice(page);
        } else {
            let offset = self.layout.page(self.slots.place(from));
            if self.backing.read_at(data, offset).is_err() {
                data.fill(0);
            }
        }
        Ok(())
    }

    fn read_map_page(
        &mut self,
        from: Ppn,
        lpn: Lpn,
        data: &mut [u8],
        purpose: Purpose,
    ) -> Result<(), FlashError> {
        if self.replay.is_some() {
            return Ok(());
        }
        if let Some(clock) = &mut self.clock {
            clock.map_read(from, purpose);
        }
        self.read_page(from, lpn, data).map_err(|unread| {
            let page = lpn.0 - self.host_pages;
            self.notify(&format!(
                "translation page {page} is damaged: {unread}; what it told is looked for beside all pages"
            ));
            FlashError::MapPage { page, place: self.slots.place(from), unread }
        })
    }

    fn owners(
        &mut self,
        block: BlockId,
        owners: &mut [Lpn],
        is_right: &dyn Fn(&[Lpn]) -> bool,
    ) -> Result<(), FlashError> {
        if self.held.is_some() {
            let held = self.held(block).map_err(|unread| FlashError::Owners { block, unread })?;
            let held = owners.iter_mut().zip(held);
            held.for_each(|(owner, (lpn, _))| *owner = Lpn(*lpn));
            return Ok(());
        }
        let read = self.read_owners(block, is_right);
        let read = read.map_err(|unread| FlashError::Owners { block, unread })?;
        for (owner, found) in owners.iter_mut().zip(&read) {
            *owner = found.lpn;
        }
        let first = self.layout.geometry.first_page(block);
        self.owners_read = Some((self.slots.place(first), read));
        Ok(())
    }

    /// A page whose owner is damaged is taken for what is there.
    fn mend_owners(&mut self, block: BlockId, owners: &[Lpn]) {
        self.notify(&format!(
            "what stands beside the pages of block {block} is damaged, and written again"
        ));
        let first = self.layout.geometry.first_page(block).0;
        self.owners_read = None;
        let mut page = std::mem::take(&mut self.page);
        for (at, &lpn) in (first..).map(Ppn).zip(owners) {
            let place = self.slots.place(at);
            let is_in_buffer = self.gathered(at).is_some();
            if lpn.0 == u32::MAX
                || is_in_buffer
                || self.checksum_beside(Origin::Medium, place, lpn).is_some()
            {
                continue;
            }
            let read = with_retries(&*self.backing, |_| {
                Ok(self.backing.read_medium_at(&mut page, self.layout.page(place))?)
            });
            let found = checksum(lpn, &page);
            let is_there = read.is_ok() && self.slots.unreadable_at(lpn).is_none();
            let checksum = if is_there { found } else { !found };
            let sequence = sequence(self.totals.recoveries, self.operations, false);
            self.write_owner(place, Owner { lpn, checksum, sequence });
        }
        self.page = page;
    }

    /// Writes it where it is, so that it is found once only. What moved with a damaged version waits in its buffer.
    fn mend_map_page(&mut self, at: Ppn, lpn: Lpn, data: &[u8]) {
        if self.failure.is_some() || self.replay.is_some() {
            return;
        }
        let (checksum, block) = (checksum(lpn, data), self.block_of.page(at));
        if !self.gather.replace(block, at, data, checksum) {
            let place = self.slots.place(at);
            let offset = self.layout.page(place);
            let is_there = self.backing.write_at(data, offset).is_ok()
                && read_medium(&*self.backing, &mut self.page, offset, |found| {
                    (found == data).then_some(())
                })
                .is_ok();
            if !is_there {
                return;
            }
            let sequence = sequence(self.totals.recoveries, self.operations, false);
            self.write_owner(place, Owner { lpn, checksum, sequence });
            self.has_mended = true;
        }
        self.checksums[(lpn.0 - self.checksums_from) as usize] = checksum;
        self.slots.forget(lpn);
    }
}

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
use crate::media::journal::{Head, Journal};
use crate::media::layout::Layout;
use crate::media::mark::Mark;
use crate::media::owners::sequence;
use crate::media::reading::{Origin, Unread, read_medium, with_retries};
use crate::media::replay::Tracker;
use crate::media::slots::Slots;
use crate::media::syncer::{Progress, Syncer};
use crate::media::{Backing, Superblock};
use ftlab_flash::{BlockId, BlockOf, Content, Flash, Lpn, Page, Ppn, Purpose};
use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;

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
    /// Logical page -> checksum of its current version.
    checksums: Vec<u32>,
    gather: Gather,
    slots: Slots,
    /// By their places, pages that are not there: of a drive that may not be written.
    overlay: HashMap<Ppn, Box<[u8]>>,
    journal: Journal,
    /// Erases so far, and for each block the number of its last erase.
    erases: u64,
    erased: Vec<u64>,
    staged: Staged,
    /// Completed operations.
    operations: u64,
    /// Buffer of one page, for copying.
    page: Vec<u8>,
    /// The tracker, during replay.
    replay: Option<Tracker>,
    capture: Option<Capture>,
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
        let durable =
            Progress { operations: head.operations, in_place: head.operations, erases: 0 };
        Self {
            syncer: Arc::new(Syncer::new(Arc::clone(&backing), durable, mark)),
            mark,
            backing,
            layout,
            block_of: layout.geometry.block_of(),
            checksums: vec![0; config.logical_pages as usize],
            gather: Gather::new(&layout.geometry),
            slots: Slots::new(&layout.geometry),
            overlay: HashMap::new(),
            notice: None,
            journal: Journal::new(superblock.uuid, layout, session, head, head.position),
            erases: 0,
            erased: vec![0; layout.geometry.blocks() as usize],
            staged: Staged { data: vec![0; page_bytes], ..Staged::default() },
            operations: head.operations,
            page: vec![0; page_bytes],
            replay: Some(Tracker::default()),
            capture: None,
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

    pub(crate) fn capture_mut(&mut self) -> &mut Option<Capture> {
        &mut self.capture
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
        self.replay = None;
        self.erases = 0;
        self.erased.fill(0);
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

    /// Writes everything that may be written, so that after a sync all completed operations can be
    /// replayed. Returns what will be durable then.
    pub(crate) fn drain(&mut self) -> Result<Progress, String> {
        let blocks: Vec<BlockId> = self.gather.blocks().collect();
        for &block in &blocks {
            if self.syncer.covers(self.erased[block.index()]) {
                self.write_buffer(block);
            }
        }
        self.log_new_pages();
        if self.failure.is_none() {
            self.write_journal();
        }
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let mut written = Progress {
            operations: self.operations,
            in_place: self.operations,
            erases: self.erases,
        };
        for block in self.gather.blocks() {
            let since = self.gather.of(block).map_or(0, |buffer| buffer.since);
            written.in_place = written.in_place.min(since);
            written.erases = written.erases.min(self.erased[block.index()]);
        }
        self.syncer.announce(written);
        Ok(written)
    }

    /// Puts into the journal the host's pages that cannot be written to their places yet.
    fn log_new_pages(&mut self) {
        let page_bytes = self.page.len();
        let blocks: Vec<BlockId> = self.gather.blocks().collect();
        for block in blocks {
            let from = self.gather.of(block).map_or(0, |buffer| buffer.journaled);
            let end = self.gather.of(block).map_or(0, |buffer| buffer.pages.len());
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
                .drain()
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
        Gathered { lpn, checksum, is_new, sequence }
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
                self.is_current(lpn, data).then_some(()).ok_or(Unread::Differs)
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
        let is_right = |data: &[u8]| self.is_current(lpn, data);
        if origin == Origin::Medium
            && self.backing.read_medium_at(data, offset).is_ok_and(|()| is_right(data))
        {
            return Ok(());
        }
        self.backing.read_at(data, offset)?;
        is_right(data).then_some(()).ok_or(Unread::Differs)
    }

    /// Whether the medium holds the current version of `lpn` at `from`, or it waits in a buffer.
    pub(crate) fn is_on_medium(&mut self, from: Ppn, lpn: Lpn) -> bool {
        if self.gathered(from).is_some() {
            return true;
        }
        let mut page = std::mem::take(&mut self.page);
        let offset = self.layout.page(self.slots.place(from));
        let is_right = |page: &[u8]| self.is_current(lpn, page).then_some(());
        let read = read_medium(&*self.backing, &mut page, offset, is_right);
        self.page = page;
        read.is_ok()
    }

    /// Whether this is the current version of `lpn`.
    pub(crate) fn is_current(&self, lpn: Lpn, data: &[u8]) -> bool {
        checksum(lpn, data) == self.checksums[lpn.index()]
    }

    /// Programs the page of the host write in progress.
    fn program_new(&mut self, to: Ppn, lpn: Lpn, data: &[u8]) {
        debug_assert_eq!(self.staged.lpn, Some(lpn), "an operation writes one page");
        let checksum = self.staged.checksum;
        self.checksums[lpn.index()] = checksum;
        self.slots.forget(lpn);
        if let Some(tracker) = &mut self.replay {
            tracker.write(lpn, checksum, self.slots.place(to), self.operations + 1);
            return;
        }
        self.staged.lpn = None;
        self.append(to, self.gathered_page(lpn, checksum, true), Some(data));
    }

    fn copy(&mut self, from: Ppn, to: Ppn, lpn: Lpn) {
        let checksum = self.checksums[lpn.index()];
        if let Some(tracker) = &mut self.replay {
            let (from, to) = (self.slots.place(from), self.slots.place(to));
            tracker.relocate(lpn, checksum, from, to, self.operations + 1);
            return;
        }
        self.preserve(lpn, Some(from));
        let mut page = std::mem::take(&mut self.page);
        match self.read_page(from, lpn, &mut page) {
            Ok(()) => self.slots.has_moved(lpn),
            // Its checksum stays what it was, so that reading something else is an error.
            Err(unread) => {
                if self.keep(lpn, from, &unread) || matches!(unread, Unread::Failed(_)) {
                    page.fill(0);
                }
            }
        }
        self.page = page;
        self.append(to, self.gathered_page(lpn, checksum, false), None);
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

impl Flash for Media {
    type Error = Infallible;

    fn program(&mut self, to: Ppn, page: Page<'_>, purpose: Purpose) -> Result<(), Infallible> {
        if let Some(clock) = &mut self.clock {
            clock.program(to, page, purpose);
        }
        match page.content {
            Content::New(data) => self.program_new(to, page.lpn, data),
            Content::At(from) => self.copy(from, to, page.lpn),
        }
        Ok(())
    }

    fn erase(&mut self, block: BlockId, purpose: Purpose) -> Result<(), Infallible> {
        if let Some(clock) = &mut self.clock {
            clock.erase(block, purpose);
        }
        self.erases += 1;
        self.erased[block.index()] = self.erases;
        self.gather.clear(block);
        if self.replay.is_some() {
            self.slots.repeat_erase(block);
        } else {
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
    fn read(&mut self, from: Ppn, data: &mut [u8], _: Purpose) -> Result<(), Infallible> {
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
}

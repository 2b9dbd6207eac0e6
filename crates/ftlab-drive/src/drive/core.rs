//! The locked state of a drive.

use crate::drive::HostObserver;
use crate::drive::copying::Copying;
use crate::drive::options::room_needed;
use crate::media::{
    Backing, Checkpoint, Head, Media, MediaError, Superblock, Totals, Unread, checksum, new_session,
};
use ftlab_flash::{BlockId, Hint, Lpn, Ppn};
use ftlab_ftl::PageWrite;
use ftlab_ftl::page::{Hints, StreamId};
use ftlab_ftl::registry::{self, BuildError, DynMapped};
use std::io;
use std::sync::Arc;

/// The FTL and its media.
pub(crate) struct Core {
    pub(crate) superblock: Superblock,
    pub(crate) ftl: DynMapped<Media, ()>,
    pub(crate) observer: Option<Box<dyn HostObserver>>,
    /// The newest checkpoint, and its slot.
    pub(crate) newest: Checkpoint,
    pub(crate) slot: u8,
    /// The FTL keeps apart what the host names apart.
    pub(crate) takes_streams: bool,
    pub(crate) read_only: Option<String>,
    pub(crate) is_checkpointing: bool,
    /// The copy that is being made.
    pub(crate) copying: Option<Copying>,
    /// The journal does not continue from the newest checkpoint.
    pub(crate) is_broken_off: bool,
    /// Maximum journal space of one operation, in bytes.
    pub(crate) room_needed: u64,
    /// Number of erases when the worker was last called.
    pub(crate) erases_seen: u64,
    /// Buffer of one page, for partial pages.
    pub(crate) page: Vec<u8>,
}

impl Core {
    /// A drive that continues from the state of `ftl`.
    pub(crate) fn new(
        ftl: DynMapped<Media, ()>,
        superblock: &Superblock,
        newest: Checkpoint,
        slot: u8,
    ) -> Self {
        let streams = ftl.drive().streams().len() as u64;
        Self {
            room_needed: room_needed(streams, &superblock.config),
            page: vec![0; superblock.config.geometry.page_bytes() as usize],
            superblock: superblock.clone(),
            takes_streams: registry::hints(&superblock.ftl).is_ok_and(|h| h == Hints::Streams),
            ftl,
            observer: None,
            newest,
            slot,
            read_only: None,
            is_checkpointing: false,
            copying: None,
            is_broken_off: false,
            erases_seen: 0,
        }
    }

    /// A new drive, whose first checkpoint is to be written.
    pub(crate) fn empty(
        backing: Arc<dyn Backing>,
        superblock: &Superblock,
    ) -> Result<Self, MediaError> {
        let head = Head { position: 0, number: 0, previous: new_session(), operations: 0 };
        let media = Media::new(backing, superblock, 0, head);
        let mut ftl = build(superblock, media)?;
        ftl.flash_mut().go_live(head, new_session(), superblock, 0);
        let none = Checkpoint {
            number: 0,
            head,
            is_break: false,
            totals: Totals::default(),
            body_bytes: 0,
            body_checksum: 0,
            decider: None,
            sections: Vec::new(),
        };
        Ok(Self::new(ftl, superblock, none, 1))
    }

    pub(crate) fn media(&mut self) -> &mut Media {
        self.ftl.flash_mut()
    }

    /// Returns an error if the drive is read-only.
    pub(crate) fn require_writable(&self) -> io::Result<()> {
        match &self.read_only {
            Some(reason) => Err(read_only(reason)),
            None => Ok(()),
        }
    }

    /// Makes the drive read-only, permanently.
    pub(crate) fn give_up(&mut self, reason: String) {
        if self.read_only.is_none() {
            self.media().notify(&format!("the drive is read-only from now on: {reason}"));
            self.read_only = Some(reason);
        }
    }

    /// Whether the journal has room for another operation.
    pub(crate) fn has_room(&mut self) -> bool {
        self.room_needed <= self.media().journal().room()
    }

    /// Whether it is time for a checkpoint.
    pub(crate) fn is_checkpoint_due(&mut self) -> bool {
        let (newest, every) = (self.newest.head, self.superblock.checkpoint_every);
        let journal_bytes = self.superblock.layout.journal_bytes;
        let media = self.ftl.flash_mut();
        !self.is_checkpointing
            && (media.operations() - newest.operations >= every
                || media.journal().head().position - newest.position > journal_bytes / 3)
    }

    /// Whether erased blocks are waiting for a sync before they can be overwritten.
    pub(crate) fn has_erased(&mut self) -> bool {
        let erases = self.media().erases();
        std::mem::replace(&mut self.erases_seen, erases) != erases
    }

    /// Writes a page of a stream, whose checksum is known, and of which the host sent `sent` bytes.
    pub(crate) fn write_page(
        &mut self,
        lpn: Lpn,
        sum: u32,
        data: &[u8],
        stream: u16,
        sent: usize,
    ) -> io::Result<()> {
        if self.copying.is_some() {
            self.copy_before(lpn);
        }
        // What a checkpoint tells of a map on flash is not preserved page by page.
        let drive = self.ftl.drive();
        let before = if drive.is_paged() { None } else { drive.flash_page(lpn) };
        // To an FTL that does not ask for streams, all pages are alike.
        let lacking = lacking_sectors(data.len(), sent);
        let (named, lacking) = if self.takes_streams { (stream, lacking) } else { (0, 0) };
        self.ftl.flash_mut().begin_write(lpn, sum, data, before, named);
        let written = write(&mut self.ftl, host_write(lpn, data, named, lacking));
        self.complete(written)?;
        if let Some(observer) = &mut self.observer {
            observer.write(lpn, stream);
        }
        Ok(())
    }

    pub(crate) fn trim_pages(&mut self, first: Lpn, pages: u32) -> io::Result<()> {
        if self.copying.is_some() {
            (first.0..first.0 + pages).for_each(|lpn| self.copy_before(Lpn(lpn)));
        }
        self.media().begin_trim(first, pages);
        let is_paged = self.ftl.drive().is_paged();
        let trimmed = (first.0..first.0 + pages).map(Lpn).try_for_each(|lpn| {
            if !is_paged {
                let Some(page) = self.ftl.drive().flash_page(lpn) else { return Ok(()) };
                self.media().preserve(lpn, Some(page));
            }
            // What makes room for its entry may move it before.
            self.ftl.trim(lpn).map_err(|error| error.to_string())?;
            self.media().slots_mut().forget(lpn);
            Ok(())
        });
        self.complete(trimmed)?;
        if let Some(observer) = &mut self.observer {
            observer.trim(first, pages);
        }
        Ok(())
    }

    /// Moves a placement handle to a fresh unit; false if there is no such handle.
    pub(crate) fn renew_handle(&mut self, handle: u16) -> io::Result<bool> {
        let handles = self.ftl.placement_handles().map_or(0, |all| all.handles.len());
        if usize::from(handle) >= handles {
            return Ok(false);
        }
        self.media().begin_renewal(handle);
        let renewed = renew(&mut self.ftl, handle);
        if renewed.is_ok() {
            let drive = self.ftl.drive();
            let streams = (0..drive.streams().len() as u8).map(StreamId);
            let open: Vec<BlockId> = streams.filter_map(|own| drive.open_block(own)).collect();
            self.media().write_closed(|block| open.contains(&block));
        }
        self.complete(renewed)?;
        if let Some(observer) = &mut self.observer {
            observer.renew_handle(handle);
        }
        Ok(true)
    }

    /// Completes an operation. If the FTL failed, the operation is incomplete: nothing more is
    /// written, so that the operation is the last one in the journal, and the next opening discards
    /// it.
    fn complete(&mut self, done: Result<(), String>) -> io::Result<()> {
        let media = self.ftl.flash_mut();
        match done {
            Ok(()) => media.complete(),
            Err(reason) => media.stop(reason),
        }
        if let Some(failure) = media.failure().map(str::to_owned) {
            self.give_up(failure);
        }
        self.require_writable()
    }

    /// Overwrites a part of a page, of which the host sent `sent` bytes.
    pub(crate) fn write_part(
        &mut self,
        lpn: Lpn,
        start: usize,
        part: &[u8],
        stream: u16,
        sent: usize,
    ) -> io::Result<()> {
        let mut page = std::mem::take(&mut self.page);
        let written = self.read_page(lpn, &mut page).and_then(|()| {
            page[start..start + part.len()].copy_from_slice(part);
            self.write_page(lpn, checksum(lpn, &page), &page, stream, sent)
        });
        self.page = page;
        written
    }

    /// Where `lpn` is; an error if that is on flash and cannot be read.
    #[inline]
    pub(crate) fn find(&mut self, lpn: Lpn) -> io::Result<Option<Ppn>> {
        let drive = self.ftl.drive();
        if !drive.is_paged() {
            return Ok(drive.flash_page(lpn));
        }
        self.ftl.find(lpn).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    pub(crate) fn read_page(&mut self, lpn: Lpn, data: &mut [u8]) -> io::Result<()> {
        let Some(page) = self.find(lpn)? else {
            data.fill(0);
            return Ok(());
        };
        let mut read = self.media().read_page(page, lpn, data);
        if read.is_err() && self.media().has_lost_owner(page, lpn) {
            let block = self.ftl.drive().block_of(page);
            if self.ftl.mend_owners(block) {
                read = self.media().read_page(page, lpn, data);
            }
        }
        read.map_err(|unread| match unread {
            Unread::Failed(error) => error,
            Unread::Differs => damaged(lpn, page),
        })
    }
}

/// The FTL of a drive.
pub(crate) fn build(
    superblock: &Superblock,
    media: Media,
) -> Result<DynMapped<Media, ()>, BuildError> {
    let Superblock { mapping, ftl, config, .. } = superblock;
    registry::build_for_drive(mapping, ftl, *config, media, ())
}

/// If its map is on flash, keeps all of it in memory, which is restored next.
pub(crate) fn page_in(ftl: &mut DynMapped<Media, ()>, superblock: &Superblock) {
    if superblock.is_paged() {
        ftl.page_in();
        ftl.flash_mut().page_in();
    }
}

/// If its map is on flash, keeps no more of it in memory from now on than the map says.
pub(crate) fn page_out(ftl: &mut DynMapped<Media, ()>, superblock: &Superblock) {
    if superblock.is_paged() {
        ftl.page_out();
        ftl.flash_mut().page_out();
    }
}

/// Sectors of 512 bytes of a page that the host did not send.
fn lacking_sectors(page_bytes: usize, sent: usize) -> i32 {
    i32::try_from(page_bytes.saturating_sub(sent) / 512).unwrap_or(i32::MAX)
}

/// The write of a page of a stream, of which the host did not send `lacking` sectors.
pub(crate) fn host_write(lpn: Lpn, data: &[u8], stream: u16, lacking: i32) -> PageWrite<'_> {
    let stream = if stream == 0 { Hint::NONE.stream } else { stream };
    let hint = Hint { stream, lacking, ..Hint::NONE };
    PageWrite { hint, ..PageWrite::by_host(lpn, data) }
}

/// Lets the FTL write a page that is staged: for the host, and during replay, without data.
pub(crate) fn write(ftl: &mut DynMapped<Media, ()>, write: PageWrite<'_>) -> Result<(), String> {
    let written = ftl.write_page(write).map_err(|error| error.to_string());
    #[cfg(test)]
    let written = written
        .and_then(|()| super::tests::broken_ftl::carried_out(ftl.flash_mut().operations() + 1));
    written
}

/// Lets the FTL move a placement handle to a fresh unit: for the host, and during replay.
pub(crate) fn renew(ftl: &mut DynMapped<Media, ()>, handle: u16) -> Result<(), String> {
    match ftl.renew_handle(handle) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("there is no placement handle {handle}")),
        Err(error) => Err(error.to_string()),
    }
}

/// The error of a page whose checksum is wrong.
fn damaged(lpn: Lpn, page: Ppn) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("page {lpn} is damaged: flash page {page} does not contain what was written"),
    )
}

/// The error of writes to a drive that is read-only.
pub(crate) fn read_only(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, format!("the drive is read-only: {reason}"))
}

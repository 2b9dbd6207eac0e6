//! Writing checkpoints while the drive keeps working.
//!
//! ```text
//! locked:     write the journal, so that it can continue from here; the FTL's state; begin a capture
//! in slices:  locked: copy the mapping as it was when the capture began; then write the copy
//! unlocked:   sync until every page that the state refers to is in its place
//!             read the body back from the medium
//!             write the header, sync, read it back
//! locked:     forget the journal before the other checkpoint
//! ```

use crate::drive::core::{Core, read_only};
use crate::drive::counted::Counted;
use crate::media::{
    Aim, BodyReader, BodyWriter, Capture, Checkpoint, HEADER_BYTES, Layout, OwnerCapture,
    SLICE_PAGES, Section,
};
use ftlab_flash::BlockId;
use ftlab_ftl::Archive as _;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Access to the locked state.
pub(crate) trait Access {
    /// Locks, and calls `f`.
    fn with<T>(&mut self, f: impl FnOnce(&mut Core) -> T) -> T;
}

impl Access for &mut Core {
    fn with<T>(&mut self, f: impl FnOnce(&mut Core) -> T) -> T {
        f(self)
    }
}

impl Core {
    /// Writes a checkpoint while there is no other activity.
    pub(crate) fn checkpoint_now(&mut self) -> io::Result<()> {
        checkpoint(&mut { self })
    }

    /// Writes a checkpoint in the place of a damaged one. If that fails, it stays damaged.
    pub(crate) fn heal_checkpoint(&mut self) -> io::Result<()> {
        let written = write(&mut { &mut *self });
        *self.media().capture_mut() = None;
        self.media().capture_owners(None);
        let failure = self.media().syncer().failure().map(str::to_owned);
        if let Some(reason) = failure {
            self.give_up(reason);
        }
        written
    }

    /// Writes the journal and those pages that may be written.
    fn drain(&mut self) -> io::Result<crate::media::Progress> {
        self.require_writable()?;
        let drained = self.media().drain(Aim::Erases);
        drained.map_err(|reason| {
            self.give_up(reason.clone());
            read_only(&reason)
        })
    }

    /// Writes the state of the FTL, and tracks changes from now on.
    fn begin_checkpoint(&mut self, body: &mut BodyWriter) -> io::Result<Checkpoint> {
        self.drain()?;
        self.ftl.transfer(body).map_err(io::Error::other)?;
        body.end_section(Section::Ftl);
        self.media().slots().save(body)?;
        body.end_section(Section::Slots);
        let mut counted =
            serde_json::to_vec(&Counted::of(&self.ftl.counters(), self.ftl.map_counts()))?;
        body.bytes(&mut counted)?;
        body.end_section(Section::Counters);
        let drive = self.ftl.drive();
        let blocks = (0..drive.geometry().blocks()).map(BlockId);
        body.numbers(&blocks.map(|block| drive.erases(block)).collect::<Vec<_>>())?;
        body.end_section(Section::Wear);
        if self.superblock.is_paged() {
            let capture = OwnerCapture::begin(self.ftl.drive());
            self.media().capture_owners(capture);
        } else {
            *self.media().capture_mut() = Some(Capture::default());
        }
        let media = self.ftl.flash_mut();
        debug_assert_eq!(media.journal().head().operations, media.operations());
        Ok(Checkpoint {
            number: self.newest.number + 1,
            head: media.journal().head(),
            is_break: self.is_broken_off,
            totals: media.totals(),
            body_bytes: 0,
            body_checksum: 0,
            decider: self.superblock.decider(),
            sections: Vec::new(),
        })
    }

    /// Copies a slice of the mapping and of the checksums.
    fn take_slice(&mut self, first: usize, flash_pages: &mut [u32], checksums: &mut [u32]) {
        let pages = flash_pages.len();
        flash_pages.copy_from_slice(&self.ftl.drive().mapping()[first..][..pages]);
        let media = self.ftl.flash_mut();
        checksums.copy_from_slice(&media.checksums()[first..][..pages]);
        if let Some(capture) = media.capture_mut() {
            capture.take(flash_pages, checksums);
        }
    }

    /// Copies what the pages of some blocks hold, and their checksums.
    fn take_blocks(&mut self, blocks: Range<u32>, owners: &mut Vec<u32>) -> io::Result<()> {
        let mut damage = None;
        for block in blocks.map(BlockId) {
            match self.media().take_owners(block) {
                Ok(held) => owners.extend(held.into_iter().flat_map(|(lpn, sum)| [lpn, sum])),
                // The next attempt finds it as it is now.
                Err(why) => {
                    let kind = io::ErrorKind::InvalidData;
                    let is_mended = self.ftl.mend_owners(block);
                    let kind = if is_mended { kind } else { io::ErrorKind::Other };
                    damage = Some(io::Error::new(kind, why));
                }
            }
        }
        damage.map_or(Ok(()), Err)
    }

    /// Registers a checkpoint that has become durable.
    fn end_checkpoint(&mut self, checkpoint: Checkpoint, slot: u8) {
        let bytes = HEADER_BYTES as u64 + checkpoint.body_bytes;
        let before = std::mem::replace(&mut self.newest, checkpoint);
        self.slot = slot;
        self.is_broken_off = false;
        let media = self.ftl.flash_mut();
        media.totals_mut().metadata_bytes += bytes;
        media.journal_mut().release(before.head.position);
    }
}

/// Writes a checkpoint; only one may be written at a time.
pub(crate) fn checkpoint(access: &mut impl Access) -> io::Result<()> {
    let mut written = write(access);
    if written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::InvalidData) {
        written = write(access);
    }
    access.with(|core| {
        *core.media().capture_mut() = None;
        core.media().capture_owners(None);
        if let Err(error) = &written {
            core.give_up(format!("a checkpoint could not be written: {error}"));
        }
    });
    written
}

fn write(access: &mut impl Access) -> io::Result<()> {
    let (superblock, slot, backing) = access.with(|core| {
        let backing = Arc::clone(core.media().backing());
        (core.superblock.clone(), 1 - core.slot, backing)
    });
    let (layout, logical_pages) = (superblock.layout, superblock.config.logical_pages);
    let mut body = BodyWriter::new(&*backing, &layout, slot);
    let mut checkpoint = access.with(|core| core.begin_checkpoint(&mut body))?;
    if superblock.is_paged() {
        write_owners(access, &mut body, &layout)?;
    } else {
        write_map(access, &mut body, logical_pages)?;
    }
    body.finish(&mut checkpoint)?;
    let syncer = access.with(|core| Arc::clone(core.media().syncer()));
    // Of pages that wait until their block may be overwritten, each sync frees those of one block at least.
    loop {
        access.with(Core::drain)?;
        syncer.sync_all()?;
        if syncer.in_place() >= checkpoint.head.operations {
            break;
        }
    }
    // The other checkpoint is given up for this one: a write that went elsewhere must not cost both.
    if !BodyReader::verify(&*backing, &layout, slot, &checkpoint) {
        return Err(differs());
    }
    checkpoint.write(&*backing, &layout, superblock.uuid, slot)?;
    syncer.sync_all()?;
    let found = Checkpoint::read(&*backing, &layout, superblock.uuid, slot);
    if !found.is_ok_and(|found| found == checkpoint) {
        return Err(differs());
    }
    access.with(|core| core.end_checkpoint(checkpoint, slot));
    Ok(())
}

/// Writes the map, a slice at a time.
fn write_map(
    access: &mut impl Access,
    body: &mut BodyWriter,
    logical_pages: u32,
) -> io::Result<()> {
    let slice = SLICE_PAGES.min(logical_pages) as usize;
    let (mut flash_pages, mut checksums) = (vec![0; slice], vec![0; slice]);
    for first in (0..logical_pages as usize).step_by(slice) {
        let pages = slice.min(logical_pages as usize - first);
        let (flash_pages, checksums) = (&mut flash_pages[..pages], &mut checksums[..pages]);
        access.with(|core| core.take_slice(first, flash_pages, checksums));
        body.numbers(flash_pages)?;
        body.numbers(checksums)?;
    }
    body.end_section(Section::Map);
    Ok(())
}

/// Writes what flash pages hold instead, some blocks at a time.
fn write_owners(
    access: &mut impl Access,
    body: &mut BodyWriter,
    layout: &Layout,
) -> io::Result<()> {
    let blocks = layout.geometry.blocks();
    let at_once = (SLICE_PAGES / layout.geometry.pages_per_block()).max(1);
    let mut owners = Vec::new();
    for first in (0..blocks).step_by(at_once as usize) {
        let some = first..blocks.min(first + at_once);
        access.with(|core| core.take_blocks(some, &mut owners))?;
        body.numbers(&owners)?;
        owners.clear();
    }
    body.end_section(Section::Owners);
    Ok(())
}

/// The error of a checkpoint that the medium does not give back.
fn differs() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is not what was written")
}

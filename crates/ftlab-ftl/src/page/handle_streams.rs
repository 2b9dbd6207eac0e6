//! Placement handles as streams: which open block takes the pages of a handle, and what is counted of it.
//!
//! Within each handle, pages may be kept apart further, by the *inner* streams of a placement. A stream of
//! the drive is then a handle and an inner stream. Pages that collection moves stay with a handle that is
//! isolated persistently; those of the others share streams.
//!
//! With several reclaim groups, each has handles of its own here: the first group those from 0 on, the
//! second those that follow, and so on.
//!
//! ```text
//! streams, in order, for each reclaim group:
//!     for each handle: every inner stream that takes host writes
//!     if a handle is initially isolated: every inner stream that takes moved pages, shared
//!     for each persistently isolated handle: those that take moved pages only
//! ```

use crate::memory;
use crate::page::DriveState;
use crate::placement_handles::{
    EventLog, HandleCounters, HandleEvent, HandleEventKind, HandleUse, IdentifierFormat, Isolation,
    NO_HANDLE, PlacementHandles,
};
use crate::state::state;
use crate::stream::{OpenSet, Stream, StreamId};
use crate::{Archive, State, StateError};
use ftlab_flash::{BlockId, Ppn};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The most streams that there can be: a [`StreamId`] is a byte.
pub(crate) const STREAMS_MAX: usize = 255;

/// The handle of streams that are shared.
const SHARED: u8 = u8::MAX;

/// The most placement handles that there can be, those of all reclaim groups together.
pub(crate) const HANDLES_MAX: usize = 16;

/// What the placement within a handle keeps apart.
#[derive(Debug, Clone)]
pub(crate) struct InnerStream {
    /// Its name is that of the handle if it is empty.
    pub(crate) stream: Stream,
    /// True if host writes may go to it.
    pub(crate) takes_host_writes: bool,
}

/// Host writes that went to another reclaim group than they named; kept where there are several.
#[derive(Debug)]
struct Redirected {
    is_kept: bool,
    writes: u64,
}

impl State for Redirected {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        if self.is_kept { self.writes.transfer(archive) } else { Ok(()) }
    }
}

/// Placement handles, their streams and their logs.
pub struct Handles {
    format: IdentifierFormat,
    /// Of the handles of all groups.
    isolation: Vec<Isolation>,
    /// A bit for each handle that is initially isolated.
    sharing: u16,
    /// Streams that the policy within a handle has.
    inner: usize,
    streams: Vec<Stream>,
    /// Handle x inner stream -> the stream of its host writes.
    host: Vec<StreamId>,
    /// Handle x inner stream -> the stream of pages of that handle that are moved.
    moved: Vec<StreamId>,
    /// Stream -> its handle, or [`SHARED`].
    handle_of: Vec<u8>,
    /// Stream -> the handle with which the pages of its blocks stay when they are moved.
    stays_with: Vec<u8>,
    /// Stream -> its inner stream.
    inner_of: Vec<StreamId>,
    /// Flash page -> the handle by which the host wrote what it holds. Unlike a table of logical pages, it
    /// is read and written in order.
    written_by: Vec<u8>,
    /// Handle -> the stream that its last host write went to.
    last: Vec<StreamId>,
    counters: [HandleCounters; HANDLES_MAX],
    shared_erases: u64,
    unnamed_writes: u64,
    redirected: Redirected,
    /// Handle -> moves of its pages that are in the log.
    logged_moves: [u64; HANDLES_MAX],
    log: EventLog,
    /// LUNs of a unit, if collection moves their pages one LUN after the other; else 1.
    luns: u32,
}

state!(Handles {
    written_by, last, counters, shared_erases, unnamed_writes, logged_moves, log, redirected
} constant format, isolation, sharing, inner, streams, host, moved, handle_of, stays_with, inner_of, luns);

impl Handles {
    /// Handles that are isolated like this in each reclaim group, with these streams in each; none if that is too
    /// many streams.
    pub(crate) fn new(
        isolation: &[Isolation],
        groups: u16,
        inner: &[InnerStream],
        flash_pages: u32,
    ) -> Option<Self> {
        let format = IdentifierFormat::new(groups, isolation.len() as u16);
        let isolation = isolation.repeat(groups.into());
        let handles = isolation.len();
        debug_assert!(handles <= HANDLES_MAX);
        let bits = isolation.iter().zip(0..);
        let shares = bits.filter(|(isolation, _)| **isolation == Isolation::Initial);
        let mut made = Self {
            format,
            redirected: Redirected { is_kept: groups > 1, writes: 0 },
            inner: inner.len(),
            streams: Vec::new(),
            host: vec![StreamId::NONE; handles * inner.len()],
            moved: vec![StreamId::NONE; handles * inner.len()],
            handle_of: Vec::new(),
            stays_with: Vec::new(),
            sharing: shares.map(|(_, handle)| 1 << handle).sum(),
            inner_of: Vec::new(),
            written_by: memory::table(flash_pages as usize, 0),
            last: vec![StreamId::NONE; handles],
            counters: Default::default(),
            shared_erases: 0,
            unnamed_writes: 0,
            logged_moves: Default::default(),
            log: EventLog::new(),
            luns: 1,
            isolation,
        };
        for group in 0..groups {
            made.add_streams(group, inner);
        }
        (made.streams.len() <= STREAMS_MAX).then_some(made)
    }

    /// Collection moves the pages of a unit one of `luns` LUNs after the other.
    pub(crate) fn moving_by(self, luns: u32) -> Self {
        Self { luns, ..self }
    }

    /// LUNs of a unit, if collection moves their pages one LUN after the other; else 1.
    pub(crate) fn luns(&self) -> u32 {
        self.luns
    }

    fn add_streams(&mut self, group: u16, inner: &[InnerStream]) {
        let each = usize::from(self.format.handles());
        let handles = usize::from(group) * each..(usize::from(group) + 1) * each;
        let prefix =
            if self.format.groups() > 1 { format!("group {group} ") } else { String::new() };
        let (sharing, staying): (Vec<usize>, Vec<usize>) =
            handles.clone().partition(|&handle| self.isolation[handle] == Isolation::Initial);
        for handle in handles {
            let name = format!("{prefix}handle {}", handle % each);
            self.add_host_streams(handle, &name, inner);
        }
        self.add_moved_streams(SHARED, &format!("{prefix}moved"), &sharing, inner);
        for handle in staying {
            let name = format!("{prefix}moved {}", handle % each);
            self.add_moved_streams(handle as u8, &name, &[handle], inner);
        }
    }

    fn add_host_streams(&mut self, handle: usize, name: &str, inner: &[InnerStream]) {
        let stays = self.isolation[handle] == Isolation::Persistent;
        for (index, of) in inner.iter().enumerate().filter(|(_, of)| of.takes_host_writes) {
            let takes_relocations = stays && of.stream.takes_relocations;
            let name = format!("{name} {}", of.stream.name);
            let stream = Stream { name: lasting(name.trim()), takes_relocations, ..of.stream };
            let stream = self.add(handle as u8, handle, index, stream);
            self.host[handle * inner.len() + index] = stream;
            if takes_relocations {
                self.moved[handle * inner.len() + index] = stream;
            }
        }
    }

    /// Streams for pages of `members` that are moved and that have none yet.
    fn add_moved_streams(
        &mut self,
        owner: u8,
        name: &str,
        members: &[usize],
        inner: &[InnerStream],
    ) {
        for (index, of) in inner.iter().enumerate().filter(|(_, of)| of.stream.takes_relocations) {
            let places = members.iter().map(|handle| handle * inner.len() + index);
            let lacking: Vec<usize> =
                places.filter(|&place| self.moved[place] == StreamId::NONE).collect();
            if !lacking.is_empty() {
                let name = format!("{name} {}", of.stream.name);
                let stream =
                    Stream { name: lasting(name.trim()), takes_relocations: true, ..of.stream };
                let stream = self.add(owner, members[0], index, stream);
                for place in lacking {
                    self.moved[place] = stream;
                }
            }
        }
    }

    fn add(&mut self, owner: u8, stays_with: usize, inner: usize, stream: Stream) -> StreamId {
        let id = StreamId(self.streams.len() as u8);
        self.streams.push(stream);
        self.handle_of.push(owner);
        self.stays_with.push(stays_with as u8);
        self.inner_of.push(StreamId(inner as u8));
        id
    }

    /// The streams of the drive.
    pub(crate) fn streams(&self) -> &[Stream] {
        &self.streams
    }

    pub(crate) fn inner(&self) -> usize {
        self.inner
    }

    pub(crate) fn inner_streams(&self) -> &[StreamId] {
        &self.inner_of
    }

    #[inline]
    pub(crate) fn inner_of(&self, stream: StreamId) -> StreamId {
        self.inner_of[stream.index()]
    }

    /// The stream of each inner stream in every set of open blocks: see [`host_set`](Self::host_set) and
    /// [`moved_set`](Self::moved_set).
    pub(crate) fn sets(&self) -> Vec<StreamId> {
        [&self.host[..], &self.moved[..]].concat()
    }

    /// The open blocks for host writes by the handle `named`.
    #[inline]
    pub(crate) fn host_set(&self, named: u16) -> OpenSet {
        Self::set_of(self.known(named).unwrap_or_default())
    }

    /// The open blocks for host writes by `handle`.
    #[inline]
    pub(crate) fn set_of(handle: u8) -> OpenSet {
        OpenSet(handle)
    }

    /// The open blocks for pages that are moved out of a block of stream `from`. A block may hold pages of
    /// another handle if no block was free for them: they stay where they came.
    #[inline]
    pub(crate) fn moved_set(&self, from: StreamId) -> OpenSet {
        OpenSet(self.isolation.len() as u8 + self.stays_with[from.index()])
    }

    /// The handle `named`, if there is one.
    #[inline]
    pub(crate) fn known(&self, named: u16) -> Option<u8> {
        let (group, handle) = self.format.parse(named)?;
        Some((group * self.format.handles() + handle) as u8)
    }

    /// Reclaim groups and the handles of each.
    #[inline]
    pub(crate) fn format(&self) -> IdentifierFormat {
        self.format
    }

    /// The reclaim group of `stream`.
    #[inline]
    pub(crate) fn group_of(&self, stream: StreamId) -> usize {
        usize::from(self.stays_with[stream.index()]) / usize::from(self.format.handles())
    }

    /// Sets of streams that moved pages share, in each reclaim group: one for each persistently isolated
    /// handle, and one for the others together.
    pub(crate) fn sharing_sets(&self) -> u32 {
        let of_group = &self.isolation[..self.format.handles().into()];
        let is_persistent = |isolation: &&Isolation| **isolation == Isolation::Persistent;
        let persistent = of_group.iter().filter(is_persistent).count();
        let sets = persistent + usize::from(persistent < of_group.len());
        sets as u32 * u32::from(self.format.groups())
    }

    /// The stream of a host write by the handle `named`, of which the inner stream is known, and how many sectors of
    /// its page the host did not send.
    #[inline]
    pub(crate) fn place_host(
        &mut self,
        named: u16,
        lacking: i32,
        inner: StreamId,
        drive: &DriveState,
    ) -> StreamId {
        let known = self.known(named);
        if known.is_none() {
            self.take_note_of_invalid(named, 0, drive);
        }
        self.place_by(known.unwrap_or_default(), lacking, inner)
    }

    /// Which stream takes a host write by `handle`.
    #[inline]
    pub(crate) fn place_by(&mut self, handle: u8, lacking: i32, inner: StreamId) -> StreamId {
        let handle = usize::from(handle) % HANDLES_MAX;
        self.counters[handle].host_writes += 1;
        self.counters[handle].lacking += i64::from(lacking);
        let stream = self.host[handle * self.inner + inner.index()];
        debug_assert_ne!(stream, StreamId::NONE, "{inner:?} takes no host writes");
        self.last[handle] = stream;
        stream
    }

    /// Takes note of host writes of which nothing is known.
    pub(crate) fn on_adopted(&mut self, writes: u64) {
        self.counters[0].host_writes += writes;
    }

    /// A page that the host writes is at `to`, in a block of `stream`.
    #[inline]
    pub(crate) fn on_written(&mut self, to: Ppn, stream: StreamId) {
        self.written_by[to.index()] = self.handle_of[stream.index()];
    }

    /// Takes note that `handle` takes a write that names no valid one.
    #[cold]
    pub(crate) fn take_note_of_invalid(&mut self, named: u16, handle: u8, drive: &DriveState) {
        if named == NO_HANDLE {
            self.unnamed_writes += 1;
            return;
        }
        let kind = HandleEventKind::InvalidPlacement;
        // The clock has counted this write already.
        let write_clock = drive.write_clock() - 1;
        let handle = handle.into();
        self.log(HandleEvent { kind, write_clock, handle, named, pages: 1 }, drive);
    }

    /// Takes note that a write goes to another reclaim group than it names.
    #[cold]
    pub(crate) fn take_note_of_redirected(&mut self) {
        self.redirected.writes += 1;
    }

    /// Whether the next host write by `handle` needs no new unit, if it goes where the last one went.
    #[inline]
    pub(crate) fn has_room(&self, handle: u8, drive: &DriveState) -> bool {
        let last = self.last[usize::from(handle)];
        last != StreamId::NONE && drive.has_room(last)
    }

    /// The stream of a page that is moved out of a block of stream `from`, of which the inner stream is
    /// known.
    #[inline]
    pub(crate) fn place_relocation(&self, from: StreamId, inner: StreamId) -> StreamId {
        let handle = usize::from(self.stays_with[from.index()]);
        let stream = self.moved[handle * self.inner + inner.index()];
        debug_assert_ne!(stream, StreamId::NONE, "{inner:?} takes no moved pages");
        stream
    }

    /// A page has been moved.
    #[inline]
    pub(crate) fn on_moved(&mut self, from: Ppn, to: Ppn) {
        let writer = self.written_by[from.index()];
        self.written_by[to.index()] = writer;
        let writer = usize::from(writer) % HANDLES_MAX;
        self.counters[writer].relocations += 1;
    }

    /// Logs an event, after that of the pages that were moved until now: what is moved of the victim from
    /// here on belongs to another one.
    fn log(&mut self, event: HandleEvent, drive: &DriveState) {
        self.log_moves(drive);
        self.log.add(event);
    }

    /// Logs that pages were moved, if any were since the last time.
    fn log_moves(&mut self, drive: &DriveState) {
        if let Some(event) = self.moves(drive) {
            self.log.add(event);
        }
        self.logged_moves = self.counters.map(|counters| counters.relocations);
    }

    /// Pages of initially isolated handles that were moved and are not in the log, and the handle that wrote
    /// most of them.
    fn moves(&self, drive: &DriveState) -> Option<HandleEvent> {
        let shares = |handle: &usize| self.sharing >> handle & 1 == 1;
        let moved = |handle: usize| self.counters[handle].relocations - self.logged_moves[handle];
        let of_handles = (0..HANDLES_MAX).filter(shares).map(|handle| (moved(handle), handle));
        let pages = of_handles.clone().map(|(pages, _)| pages).sum::<u64>() as u32;
        let handle = of_handles.max().map_or(0, |(_, handle)| handle) as u16;
        let (kind, write_clock) = (HandleEventKind::MediaReallocated, drive.write_clock());
        let named = self.identifier(handle);
        (pages > 0).then_some(HandleEvent { kind, write_clock, handle, named, pages })
    }

    /// What names a handle.
    fn identifier(&self, handle: u16) -> u16 {
        let each = self.format.handles();
        self.format.identifier(handle / each, handle % each)
    }

    /// `block` has been collected and erased.
    pub(crate) fn on_block_erased(&mut self, block: BlockId, drive: &DriveState) {
        self.log_moves(drive);
        match self.handle_of[drive.frontier_of(block).index()] {
            SHARED => self.shared_erases += 1,
            handle => self.counters[usize::from(handle)].erases += 1,
        }
    }

    /// The open block of `stream` was closed with `pages` pages unwritten; by the host, or else by the
    /// drive.
    pub(crate) fn on_closed_early(
        &mut self,
        stream: StreamId,
        pages: u32,
        by_host: bool,
        drive: &DriveState,
    ) {
        let handle = self.handle_of[stream.index()];
        if handle == SHARED {
            return;
        }
        let kind = if by_host {
            HandleEventKind::NotFullyWritten
        } else {
            HandleEventKind::ImplicitlyModified
        };
        let (write_clock, named) = (drive.write_clock(), self.identifier(handle.into()));
        let handle = handle.into();
        self.log(HandleEvent { kind, write_clock, handle, named, pages }, drive);
    }

    /// The streams that take host writes by the handle `named`; none if there is no such handle.
    pub(crate) fn host_streams(&self, named: u16) -> Option<Vec<StreamId>> {
        let first = usize::from(self.known(named)?) * self.inner;
        let streams = &self.host[first..first + self.inner];
        Some(streams.iter().copied().filter(|&stream| stream != StreamId::NONE).collect())
    }

    /// What is known of every handle.
    pub(crate) fn report(&self, drive: &DriveState) -> PlacementHandles {
        let units_of = |owner: u8| {
            let streams = (0..self.streams.len() as u8).map(StreamId);
            let own = streams.filter(|stream| self.handle_of[stream.index()] == owner);
            own.map(|stream| drive.blocks_by_stream()[stream.index()]).sum()
        };
        let handle = |handle: usize| HandleUse {
            isolation: self.isolation[handle],
            counters: self.counters[handle],
            units: units_of(handle as u8),
            remaining_pages: if self.has_room(handle as u8, drive) {
                drive.room(self.last[handle])
            } else {
                drive.pages_per_block()
            },
        };
        let mut log = self.log.clone();
        if let Some(event) = self.moves(drive) {
            log.add(event);
        }
        let (events, latest) = log.report();
        PlacementHandles {
            format: self.format,
            redirected_writes: self.redirected.writes,
            handles: (0..self.isolation.len()).map(handle).collect(),
            shared_units: units_of(SHARED),
            shared_erases: self.shared_erases,
            unnamed_writes: self.unnamed_writes,
            events,
            latest,
        }
    }

    /// Bytes of memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.written_by[..])
    }

    /// Verifies that every host write was counted once, and every erase.
    pub(crate) fn check(&self, drive: &DriveState) -> Result<(), String> {
        let written: u64 = self.counters.iter().map(|counters| counters.host_writes).sum();
        if written == drive.write_clock() {
            return Ok(());
        }
        Err(format!("handles took {written} host writes of {}", drive.write_clock()))
    }
}

/// A name for the rest of the program: there are few of them.
fn lasting(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let known: &'static str = Box::leak(name.into());
    names.insert(known);
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner(name: &'static str, takes_relocations: bool, takes_host_writes: bool) -> InnerStream {
        let stream = Stream { name, takes_relocations, cold: false };
        InnerStream { stream, takes_host_writes }
    }

    fn names(isolation: &[Isolation], inner: &[InnerStream]) -> Vec<&'static str> {
        let handles = Handles::new(isolation, 1, inner, 8).unwrap();
        handles.streams().iter().map(|stream| stream.name).collect()
    }

    #[test]
    fn moved_pages_join_host_writes_only_where_the_handle_stays_isolated() {
        let both = [inner("hot", false, true), inner("cold", true, true)];
        let (initial, persistent) = (Isolation::Initial, Isolation::Persistent);
        let own = ["handle 0 hot", "handle 0 cold", "handle 1 hot", "handle 1 cold"];
        assert_eq!(names(&[persistent, persistent], &both), own);
        assert_eq!(names(&[persistent, initial], &both)[..4], own);
        assert_eq!(names(&[persistent, initial], &both)[4..], ["moved cold"]);
        let apart = [inner("", false, true), inner("old", true, false)];
        let expected = ["handle 0", "handle 1", "moved old", "moved 1 old"];
        assert_eq!(names(&[initial, persistent], &apart), expected);
    }

    #[test]
    fn every_group_has_the_streams_of_all_handles() {
        let apart = [inner("", false, true), inner("old", true, false)];
        let isolation = [Isolation::Initial, Isolation::Persistent];
        let handles = Handles::new(&isolation, 2, &apart, 8).unwrap();
        let names: Vec<_> = handles.streams().iter().map(|stream| stream.name).collect();
        let of_group = |group: u8| {
            ["handle 0", "handle 1", "moved old", "moved 1 old"]
                .map(|n| format!("group {group} {n}"))
        };
        assert_eq!(names, [of_group(0), of_group(1)].concat());
        assert_eq!((0..8).map(|s| handles.group_of(StreamId(s))).sum::<usize>(), 4);
        assert_eq!(handles.sharing_sets(), 4);
        // Handle 1 of the second group.
        assert_eq!(handles.known(0x8001), Some(3));
        assert_eq!(handles.host_streams(0x8001), Some(vec![StreamId(5)]));
        assert_eq!(handles.known(2), None);
    }

    #[test]
    fn more_streams_than_a_byte_can_count_are_refused() {
        let handles = |count| {
            let inner = vec![inner("s", true, true); count];
            Handles::new(&[Isolation::Persistent; HANDLES_MAX], 1, &inner, 8)
        };
        assert_eq!(handles(15).map(|handles| handles.streams().len()), Some(240));
        assert!(handles(16).is_none());
    }
}

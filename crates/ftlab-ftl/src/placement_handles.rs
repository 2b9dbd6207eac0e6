//! What a drive with placement handles tells of them: the logs of NVMe flexible data placement.

use crate::state::state;
use crate::{Archive, State, StateError};

pub use ftlab_flash::NO_HANDLE;

/// How a placement identifier is divided: its most significant bits are the reclaim group, the rest the
/// placement handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdentifierFormat {
    groups: u16,
    handles: u16,
}

impl IdentifierFormat {
    /// That of a drive of at least 1 reclaim group.
    pub const fn new(groups: u16, handles: u16) -> Self {
        Self { groups, handles }
    }

    /// Reclaim groups.
    pub const fn groups(self) -> u16 {
        self.groups
    }

    /// Placement handles, each of which has a reclaim unit in every group.
    pub const fn handles(self) -> u16 {
        self.handles
    }

    /// Bits of the reclaim group (RGIF): as few as tell the groups apart.
    pub const fn group_bits(self) -> u32 {
        u16::BITS - (self.groups - 1).leading_zeros()
    }

    /// The reclaim group and the handle that an identifier names, if there are such.
    #[inline]
    pub const fn parse(self, identifier: u16) -> Option<(u16, u16)> {
        let shift = u16::BITS - self.group_bits();
        let group = (identifier as u32 >> shift) as u16;
        let handle = (identifier as u32 & ((1 << shift) - 1)) as u16;
        if group < self.groups && handle < self.handles { Some((group, handle)) } else { None }
    }

    /// What names `handle` in `group`.
    pub const fn identifier(self, group: u16, handle: u16) -> u16 {
        ((group as u32) << (u16::BITS - self.group_bits())) as u16 | handle
    }
}

/// How long the pages of a placement handle are kept apart from those of others (RUHT).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Until collection moves them: initially isolated (1h).
    Initial,
    /// For good: persistently isolated (2h).
    Persistent,
}

/// What may happen to reclaim units (FDP event types), in the order of their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleEventKind {
    /// The host moved a handle to another unit before its unit was full (0h).
    NotFullyWritten,
    /// The drive did, because the unit was open for too long (1h). No FTL here does that.
    TimeLimitExceeded,
    /// The drive did, because it was reset (2h). No FTL here does that: open units are resumed.
    Reset,
    /// A write named a handle that does not exist (3h).
    InvalidPlacement,
    /// Collection moved pages that were written by initially isolated handles, most of them by the one named
    /// (80h).
    MediaReallocated,
    /// The drive moved a handle to another unit and the host had no part in it: a program failed (81h).
    ImplicitlyModified,
}

impl HandleEventKind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::NotFullyWritten,
        Self::TimeLimitExceeded,
        Self::Reset,
        Self::InvalidPlacement,
        Self::MediaReallocated,
        Self::ImplicitlyModified,
    ];

    /// Its number in the standard (ETYP).
    pub const fn number(self) -> u8 {
        match self {
            Self::NotFullyWritten => 0x00,
            Self::TimeLimitExceeded => 0x01,
            Self::Reset => 0x02,
            Self::InvalidPlacement => 0x03,
            Self::MediaReallocated => 0x80,
            Self::ImplicitlyModified => 0x81,
        }
    }
}

impl State for HandleEventKind {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let mut number = self.number();
        number.transfer(archive)?;
        let known = Self::ALL.into_iter().find(|kind| kind.number() == number);
        *self = known.ok_or(StateError::Value(number.into()))?;
        Ok(())
    }
}

/// One entry of the events log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandleEvent {
    /// What happened.
    pub kind: HandleEventKind,
    /// Host writes before it.
    pub write_clock: u64,
    /// The place in [`PlacementHandles::handles`] of the handle whose unit it was (RUHID, RGID); of a write
    /// that names no valid one, that which took it.
    pub handle: u16,
    /// What the host named (PID).
    pub named: u16,
    /// Pages that were moved, or that were left unwritten.
    pub pages: u32,
}

state!(HandleEvent { kind, write_clock, handle, named, pages });

/// Events that the log keeps: as many as fit into the 4 KiB of the standard's log page.
pub const EVENTS_KEPT: usize = 63;

/// Events since the drive was made.
#[derive(Debug, Clone)]
pub(crate) struct EventLog {
    /// In the order of [`HandleEventKind::ALL`].
    counts: [u64; HandleEventKind::ALL.len()],
    logged: u64,
    /// A ring: event n is at n mod its length.
    latest: Vec<HandleEvent>,
}

state!(EventLog { counts, logged, latest });

impl EventLog {
    pub(crate) fn new() -> Self {
        let kind = HandleEventKind::NotFullyWritten;
        let none = HandleEvent { kind, write_clock: 0, handle: 0, named: 0, pages: 0 };
        Self { counts: Default::default(), logged: 0, latest: vec![none; EVENTS_KEPT] }
    }

    pub(crate) fn add(&mut self, event: HandleEvent) {
        self.counts[event.kind as usize] += 1;
        self.latest[(self.logged % EVENTS_KEPT as u64) as usize] = event;
        self.logged += 1;
    }

    /// Those kept, oldest first.
    fn latest(&self) -> Vec<HandleEvent> {
        let first = self.logged.saturating_sub(EVENTS_KEPT as u64);
        (first..self.logged)
            .map(|event| self.latest[(event % EVENTS_KEPT as u64) as usize])
            .collect()
    }

    /// Counts by kind, and the latest events.
    pub(crate) fn report(&self) -> (Vec<(HandleEventKind, u64)>, Vec<HandleEvent>) {
        let counts = HandleEventKind::ALL.into_iter().zip(self.counts).collect();
        (counts, self.latest())
    }
}

/// Bytes of a sector, the unit of what the host did not send.
const SECTOR_BYTES: i64 = 512;

/// Counts of one placement handle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HandleCounters {
    /// Pages that the host wrote by it.
    pub host_writes: u64,
    /// Moves of pages that the host had written by it.
    pub relocations: u64,
    /// Its units that were erased.
    pub erases: u64,
    /// Sectors of 512 bytes of these host writes that the host did not send; below 0 if a write buffer took more than
    /// that. It is not saved: what was written before a drive was opened counts as whole pages.
    pub lacking: i64,
}

state!(HandleCounters { host_writes, relocations, erases } constant lacking);

impl HandleCounters {
    fn since(self, earlier: Self) -> Self {
        Self {
            host_writes: self.host_writes - earlier.host_writes,
            relocations: self.relocations - earlier.relocations,
            erases: self.erases - earlier.erases,
            lacking: self.lacking - earlier.lacking,
        }
    }

    /// Bytes that the host sent with its writes, of pages of this size.
    pub fn host_bytes(&self, page_bytes: u32) -> u64 {
        let pages = self.host_writes * u64::from(page_bytes);
        pages.saturating_add_signed(-self.lacking * SECTOR_BYTES)
    }

    /// Bytes of the pages that were programmed of it: by the host, and moved.
    pub fn media_bytes(&self, page_bytes: u32) -> u64 {
        (self.host_writes + self.relocations) * u64::from(page_bytes)
    }
}

/// A placement handle as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandleUse {
    /// How long its pages are kept apart.
    pub isolation: Isolation,
    /// What has been counted.
    pub counters: HandleCounters,
    /// Units that hold its pages only.
    pub units: u32,
    /// Pages that its present unit still takes (RUAMW); a whole unit if the next write opens one.
    pub remaining_pages: u32,
}

/// Everything that a drive tells of its placement handles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacementHandles {
    /// Reclaim groups and handles.
    pub format: IdentifierFormat,
    /// Each handle in order, in the first reclaim group, then in the next.
    pub handles: Vec<HandleUse>,
    /// Units that hold pages which were moved, of initially isolated handles.
    pub shared_units: u32,
    /// Those that were erased.
    pub shared_erases: u64,
    /// Host writes that named no handle and went to the default one, which is handle 0.
    pub unnamed_writes: u64,
    /// Host writes that went to another reclaim group than they named, which held as much as it could.
    pub redirected_writes: u64,
    /// Events by kind, in the order of [`HandleEventKind::ALL`].
    pub events: Vec<(HandleEventKind, u64)>,
    /// The latest events, oldest first, [`EVENTS_KEPT`] at most.
    pub latest: Vec<HandleEvent>,
}

impl PlacementHandles {
    /// How often something happened.
    pub fn count(&self, kind: HandleEventKind) -> u64 {
        self.events.iter().find(|(other, _)| *other == kind).map_or(0, |(_, count)| *count)
    }

    /// What happened since `earlier`, when the write clock was `write_clock`: counts of the span, units as they
    /// stand, and events with the clock of the span.
    #[must_use]
    pub fn since(&self, earlier: &Self, write_clock: u64) -> Self {
        let handles = self.handles.iter().zip(&earlier.handles);
        let events = self.events.iter().zip(&earlier.events);
        let latest = self.latest.iter().filter(|event| event.write_clock >= write_clock);
        Self {
            format: self.format,
            handles: handles
                .map(|(now, then)| HandleUse {
                    counters: now.counters.since(then.counters),
                    ..*now
                })
                .collect(),
            shared_units: self.shared_units,
            shared_erases: self.shared_erases - earlier.shared_erases,
            unnamed_writes: self.unnamed_writes - earlier.unnamed_writes,
            redirected_writes: self.redirected_writes - earlier.redirected_writes,
            events: events.map(|(now, then)| (now.0, now.1 - then.1)).collect(),
            latest: latest
                .map(|event| HandleEvent { write_clock: event.write_clock - write_clock, ..*event })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(write_clock: u64) -> HandleEvent {
        let kind = HandleEventKind::InvalidPlacement;
        HandleEvent { kind, write_clock, handle: 0, named: 9, pages: 1 }
    }

    #[test]
    fn an_identifier_is_a_group_and_a_handle() {
        for (groups, bits) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (16, 4)] {
            let format = IdentifierFormat::new(groups, 3);
            assert_eq!(format.group_bits(), bits);
            for group in 0..groups {
                for handle in 0..3 {
                    let identifier = format.identifier(group, handle);
                    assert_eq!(format.parse(identifier), Some((group, handle)));
                }
                assert_eq!(format.parse(format.identifier(group, 3)), None);
            }
            assert_eq!(format.parse(NO_HANDLE), None);
        }
        assert_eq!(IdentifierFormat::new(2, 8).identifier(1, 3), 0x8003);
        assert_eq!(IdentifierFormat::new(3, 8).parse(0xC000), None);
    }

    #[test]
    fn the_log_keeps_the_latest_events_and_counts_all() {
        let mut log = EventLog::new();
        assert_eq!(log.latest(), []);
        (0..100).for_each(|clock| log.add(event(clock)));
        let (counts, latest) = log.report();
        assert_eq!(counts[3], (HandleEventKind::InvalidPlacement, 100));
        assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), 100);
        let clocks: Vec<_> = latest.iter().map(|event| event.write_clock).collect();
        assert_eq!(clocks, (37..100).collect::<Vec<_>>());
    }

    #[test]
    fn kinds_are_saved_by_their_numbers() {
        for (index, kind) in HandleEventKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            let mut saved = crate::Saved::default();
            kind.clone().transfer(&mut saved).unwrap();
            assert_eq!(saved.0, [kind.number()]);
            let mut restored = HandleEventKind::Reset;
            restored.transfer(&mut crate::Restored::new(&saved.0)).unwrap();
            assert_eq!(restored, kind);
        }
        let wrong = HandleEventKind::Reset.transfer(&mut crate::Restored::new(&[7]));
        assert_eq!(wrong.unwrap_err().to_string(), "7 is not a valid value in the saved state");
    }
}

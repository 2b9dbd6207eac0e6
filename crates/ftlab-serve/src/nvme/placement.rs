//! Placement handles of namespaces, and the reclaim unit handles that they lead to (FDP; base 2.1, section
//! 8.1.10).

use super::layout::{self, Event, RuhStatus, Status};
use super::lock::lock;
use super::namespace::Namespace;
use crate::{Placement, PlacementHandle};
use ftlab_ftl::{HandleEvent, HandleEventKind};
use std::collections::VecDeque;
use std::sync::Mutex;

/// The most events that are kept: those that fit into 4 KiB.
const EVENTS_MAX: usize = 63;

/// The directive that names a placement handle (base 2.1, section 8.1.8.4).
const DATA_PLACEMENT: u8 = 2;

/// Types of events that can happen to a drive: reclaim units have no time limit, a reset of a controller leaves
/// them as they are, and programs do not fail.
const EVENT_TYPES: [u8; 3] =
    [Event::NOT_FULLY_WRITTEN, Event::INVALID_PLACEMENT, Event::MEDIA_REALLOCATED];

/// The reclaim unit handles of a drive.
#[derive(Debug)]
pub(super) struct Placements {
    at_begin: Option<Placement>,
    /// Whether a namespace uses each.
    is_used: Vec<bool>,
    /// The namespace and the placement handle that lead to each, if these are the only ones.
    owners: Vec<Option<(u32, u16)>>,
    namespaces: u32,
    blocks_per_page: u32,
    events: Mutex<Events>,
}

#[derive(Debug)]
struct Events {
    /// Of each handle, whether those of each of [`EVENT_TYPES`] are logged.
    is_enabled: Vec<[bool; EVENT_TYPES.len()]>,
    /// Newest first: those of the controller, and those of the host.
    all: [VecDeque<Event>; 2],
    /// Events of the FTL that have been looked at.
    seen: u64,
}

impl Events {
    fn note(&mut self, event: Event) {
        let kind = EVENT_TYPES.iter().position(|kind| *kind == event.kind);
        if kind.is_some_and(|kind| self.is_enabled[usize::from(event.handle)][kind]) {
            let events = &mut self.all[usize::from(event.is_of_host())];
            events.truncate(EVENTS_MAX - 1);
            events.push_front(event);
        }
    }
}

impl Placements {
    pub(super) fn new(
        placement: Option<Placement>,
        namespaces: &[Namespace],
        page_bytes: u32,
    ) -> Self {
        let handles = placement.as_ref().map_or(0, |placement| placement.handles.len());
        let mut is_used = vec![false; handles];
        let mut owners = vec![None; handles];
        for namespace in namespaces {
            for (placement, handle) in (0..).zip(&namespace.handles) {
                let is_used = &mut is_used[usize::from(*handle)];
                owners[usize::from(*handle)] = (!*is_used).then_some((namespace.id, placement));
                *is_used = true;
            }
        }
        let seen = placement.as_ref().map_or(0, |placement| placement.logged);
        let is_enabled = vec![Default::default(); handles];
        Self {
            at_begin: placement,
            is_used,
            owners,
            namespaces: namespaces.len() as u32,
            blocks_per_page: page_bytes >> namespaces[0].block_shift,
            events: Mutex::new(Events { is_enabled, all: Default::default(), seen }),
        }
    }

    pub(super) fn handles(&self) -> usize {
        self.is_used.len()
    }

    /// Whether there are any.
    pub(super) fn is_enabled(&self) -> bool {
        self.handles() > 0
    }

    /// The stream of a write with a directive: the reclaim unit handle of the placement handle that it
    /// names, or of handle 0. A placement identifier that does not exist does not fail the write.
    #[inline]
    pub(super) fn stream(
        &self,
        namespace: &Namespace,
        directive: u8,
        placement: u16,
        milliseconds: impl FnOnce() -> u64,
    ) -> Result<u16, Status> {
        let Some(first) = namespace.handles.first() else {
            return if directive == 0 { Ok(0) } else { Err(Status::INVALID_FIELD) };
        };
        match directive {
            0 => Ok(*first),
            DATA_PLACEMENT => {
                if let Some(handle) = namespace.handles.get(usize::from(placement)) {
                    return Ok(*handle);
                }
                lock(&self.events).note(Event {
                    kind: Event::INVALID_PLACEMENT,
                    named: Some((namespace.id, placement)),
                    milliseconds: milliseconds(),
                    handle: *first,
                    moved_blocks: 0,
                });
                Ok(*first)
            }
            _ => Err(Status::INVALID_FIELD),
        }
    }

    /// Takes over the events that the FTL has logged since the last time. It knows how many pages the host
    /// had written by then, but not when: they are dated now.
    pub(super) fn take_over(&self, now: &Placement, milliseconds: u64) {
        let mut events = lock(&self.events);
        let new = now.logged.saturating_sub(events.seen).min(now.events.len() as u64) as usize;
        for event in &now.events[now.events.len() - new..] {
            if let Some(event) = self.event(event, milliseconds) {
                events.note(event);
            }
        }
        events.seen = now.logged;
    }

    /// An event of the FTL as NVMe tells it.
    fn event(&self, event: &HandleEvent, milliseconds: u64) -> Option<Event> {
        let moved = event.pages * self.blocks_per_page;
        let (kind, moved_blocks) = match event.kind {
            HandleEventKind::NotFullyWritten => (Event::NOT_FULLY_WRITTEN, 0),
            HandleEventKind::MediaReallocated => {
                (Event::MEDIA_REALLOCATED, u16::try_from(moved).unwrap_or(u16::MAX))
            }
            // Hosts name handles here, and no unit is left for another reason.
            _ => return None,
        };
        let named = *self.owners.get(usize::from(event.handle))?;
        Some(Event { kind, named, milliseconds, handle: event.handle, moved_blocks })
    }

    /// The log of configurations.
    pub(super) fn configurations(&self) -> Vec<u8> {
        let placement = self.at_begin.clone().unwrap_or_default();
        let kinds: Vec<_> = placement.handles.iter().map(|handle| handle.is_persistent).collect();
        layout::configurations(&kinds, placement.unit_bytes, self.namespaces)
    }

    /// The log of the use of handles.
    pub(super) fn usage(&self) -> Vec<u8> {
        layout::usage(&self.is_used)
    }

    /// The log of statistics, since the drive was created: sums over all handles.
    pub(super) fn statistics(now: &Placement) -> Vec<u8> {
        let sum = |bytes: fn(&PlacementHandle) -> u64| -> u128 {
            now.handles.iter().map(|handle| u128::from(bytes(handle))).sum()
        };
        let host = sum(|handle| handle.host_bytes);
        let media = sum(|handle| handle.media_bytes);
        let erased = sum(|handle| handle.erased_bytes) + u128::from(now.shared_erased_bytes);
        layout::statistics(host, media, erased)
    }

    /// The log of events: those of the host, or those of the controller.
    pub(super) fn event_log(&self, of_host: bool) -> Vec<u8> {
        layout::event_log(lock(&self.events).all[usize::from(of_host)].iter())
    }

    /// The reclaim unit handle of a placement handle of a namespace.
    pub(super) fn handle(namespace: &Namespace, placement: u16) -> Result<u16, Status> {
        namespace.handles.get(usize::from(placement)).copied().ok_or(Status::INVALID_FIELD)
    }

    /// The types of events that there are, and whether they are enabled for a placement handle.
    pub(super) fn event_types(
        &self,
        namespace: &Namespace,
        placement: u16,
    ) -> Result<Vec<(u8, bool)>, Status> {
        let handle = Self::handle(namespace, placement)?;
        let is_enabled = lock(&self.events).is_enabled[usize::from(handle)];
        Ok(EVENT_TYPES.into_iter().zip(is_enabled).collect())
    }

    /// Enables events of these types for a placement handle, or disables them.
    pub(super) fn enable_events(
        &self,
        namespace: &Namespace,
        placement: u16,
        types: &[u8],
        is_enabled: bool,
    ) -> Result<(), Status> {
        let handle = Self::handle(namespace, placement)?;
        let place = |kind: &u8| EVENT_TYPES.iter().position(|known| known == kind);
        let places: Option<Vec<_>> = types.iter().map(place).collect();
        let mut events = lock(&self.events);
        for place in places.ok_or(Status::INVALID_FIELD)? {
            events.is_enabled[usize::from(handle)][place] = is_enabled;
        }
        Ok(())
    }

    /// What there is to say of each placement handle of a namespace, as of `now`.
    pub(super) fn status(namespace: &Namespace, now: &Placement) -> Vec<u8> {
        let of_handle = |(placement, handle): (u16, &u16)| {
            let left_bytes = now.handles.get(usize::from(*handle)).map_or(0, |now| now.left_bytes);
            let left_blocks = left_bytes >> namespace.block_shift;
            RuhStatus { placement, handle: *handle, left_blocks }
        };
        let list: Vec<_> = (0..).zip(&namespace.handles).map(of_handle).collect();
        layout::ruh_status(&list)
    }
}

//! Placement handles of namespaces, and the reclaim unit handles that they lead to (FDP; base 2.1, section
//! 8.1.10).

use super::layout::{self, Event, RuhStatus, Status};
use super::lock::lock;
use super::namespace::Namespace;
use crate::{FlashCounters, Placement};
use std::collections::VecDeque;
use std::sync::Mutex;

/// The most events that are kept: those that fit into 4 KiB.
const EVENTS_MAX: usize = 63;

/// The directive that names a placement handle (base 2.1, section 8.1.8.4).
const DATA_PLACEMENT: u8 = 2;

/// Types of events that a drive of one reclaim group can tell: of those that exist, the one that happens.
const EVENT_TYPES: [u8; 1] = [Event::INVALID_PLACEMENT];

/// The reclaim unit handles of a drive.
#[derive(Debug)]
pub(super) struct Placements {
    at_begin: Option<Placement>,
    /// Whether a namespace uses each.
    is_used: Vec<bool>,
    namespaces: u32,
    events: Mutex<Events>,
}

#[derive(Debug)]
struct Events {
    /// Of each handle, whether an invalid placement identifier is an event.
    is_enabled: Vec<bool>,
    /// Those of the host, newest first.
    all: VecDeque<Event>,
}

impl Placements {
    pub(super) fn new(placement: Option<Placement>, namespaces: &[Namespace]) -> Self {
        let handles = placement.as_ref().map_or(0, |placement| placement.handles.len());
        let mut is_used = vec![false; handles];
        for handle in namespaces.iter().flat_map(|namespace| &namespace.handles) {
            is_used[usize::from(*handle)] = true;
        }
        Self {
            at_begin: placement,
            is_used,
            namespaces: namespaces.len() as u32,
            events: Mutex::new(Events { is_enabled: vec![false; handles], all: VecDeque::new() }),
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
                let (kind, handle) = (Event::INVALID_PLACEMENT, *first);
                let (namespace, milliseconds) = (namespace.id, milliseconds());
                self.note(Event { kind, placement, milliseconds, namespace, handle });
                Ok(handle)
            }
            _ => Err(Status::INVALID_FIELD),
        }
    }

    fn note(&self, event: Event) {
        let mut events = lock(&self.events);
        if events.is_enabled[usize::from(event.handle)] {
            events.all.truncate(EVENTS_MAX - 1);
            events.all.push_front(event);
        }
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

    /// The log of statistics, since the drive was created.
    pub(super) fn statistics(&self, flash: &FlashCounters, page_bytes: u32) -> Vec<u8> {
        let unit_bytes = self.at_begin.as_ref().map_or(0, |placement| placement.unit_bytes);
        let bytes = |pages: u64| u128::from(pages) * u128::from(page_bytes);
        let erased = u128::from(flash.erased_blocks) * u128::from(unit_bytes);
        layout::statistics(bytes(flash.host_pages), bytes(flash.programmed_pages()), erased)
    }

    /// The log of events: those of the host, or those of the controller, of which there are none.
    pub(super) fn event_log(&self, of_host: bool) -> Vec<u8> {
        let events = lock(&self.events);
        let shown = if of_host { events.all.len() } else { 0 };
        layout::event_log(events.all.iter().take(shown))
    }

    /// The reclaim unit handle of a placement handle of a namespace.
    fn handle(namespace: &Namespace, placement: u16) -> Result<usize, Status> {
        let handle = namespace.handles.get(usize::from(placement));
        handle.map(|handle| usize::from(*handle)).ok_or(Status::INVALID_FIELD)
    }

    /// The types of events that there are, and whether they are enabled for a placement handle.
    pub(super) fn event_types(
        &self,
        namespace: &Namespace,
        placement: u16,
    ) -> Result<Vec<(u8, bool)>, Status> {
        let handle = Self::handle(namespace, placement)?;
        let is_enabled = lock(&self.events).is_enabled[handle];
        Ok(EVENT_TYPES.map(|kind| (kind, is_enabled)).to_vec())
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
        if types.iter().any(|kind| !EVENT_TYPES.contains(kind)) {
            return Err(Status::INVALID_FIELD);
        }
        if !types.is_empty() {
            lock(&self.events).is_enabled[handle] = is_enabled;
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

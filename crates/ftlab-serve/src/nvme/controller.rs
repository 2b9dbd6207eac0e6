//! A controller: what one host has of the subsystem, from the Connect of its admin queue to the end of that.

use super::VERSION;
use super::events::{Event, Pending};
use super::layout::Status;
use super::lock::lock;
use super::settings::Features;
use crate::net::{Client, Link};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Properties, by their offsets (base 2.1, section 3.1.4).
mod property {
    pub(super) const CAPABILITIES: u32 = 0x00;
    pub(super) const VERSION: u32 = 0x08;
    pub(super) const CONFIGURATION: u32 = 0x14;
    pub(super) const STATUS: u32 = 0x1c;
    pub(super) const READY_TIMEOUTS: u32 = 0x68;
}

/// Bits and fields of the configuration (CC).
mod configuration {
    pub(super) const ENABLE: u32 = 1;

    /// CSS: NVM only, or all command sets.
    pub(super) fn is_valid(bits: u32, is_discovery: bool) -> bool {
        let (command_set, page, entries) = (bits >> 4 & 7, bits >> 7 & 15, bits >> 16 & 0xff);
        // Entries of I/O queues have 2 to the power of 6 and 4 bytes.
        matches!(command_set, 0 | 6) && page == 0 && (is_discovery || entries == 0x46)
    }

    /// SHN: whether a shutdown is asked for.
    pub(super) fn is_shutdown(bits: u32) -> bool {
        bits >> 14 & 3 != 0
    }
}

/// Bits of the status (CSTS).
mod status {
    pub(super) const READY: u32 = 1 << 0;
    pub(super) const FATAL: u32 = 1 << 1;
    /// The shutdown is complete.
    pub(super) const SHUT_DOWN: u32 = 2 << 2;
}

/// How long a host may wait until it is ready, in units of 500 ms.
const READY_TIMEOUT: u64 = 20;

/// A controller, which the threads of its queues share.
pub(super) struct Controller {
    /// CNTLID.
    pub(super) id: u16,
    pub(super) is_discovery: bool,
    /// The host, by its name, and when it was last used.
    pub(super) client: Arc<Client>,
    /// HOSTID.
    pub(super) host_id: u128,
    /// Whether the volatile write cache is on, so that only flushed writes are durable.
    pub(super) has_write_cache: AtomicBool,
    /// The connection of its admin queue.
    link: Link,
    is_over: AtomicBool,
    state: Mutex<State>,
}

/// What changes.
pub(super) struct State {
    configuration: u32,
    status: u32,
    pub(super) features: Features,
    pub(super) events: Pending,
    /// The I/O queues, and how to end their connections.
    queues: Vec<(u16, Link)>,
}

impl Controller {
    /// A controller that is not enabled yet.
    pub(super) fn new(
        id: u16,
        is_discovery: bool,
        client: Arc<Client>,
        host_id: u128,
        link: Link,
        keep_alive_ms: u32,
    ) -> Self {
        Self {
            id,
            is_discovery,
            client,
            host_id,
            link,
            has_write_cache: AtomicBool::new(true),
            is_over: AtomicBool::new(false),
            state: Mutex::new(State {
                configuration: 0,
                status: 0,
                features: Features::new(keep_alive_ms),
                events: Pending::default(),
                queues: Vec::new(),
            }),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Whether its admin queue has ended.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Ends the connections of its queues.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        self.close_queues();
    }

    /// Ends all of its connections, because it makes way for another one.
    pub(super) fn make_way(&self) {
        self.end();
        self.link.close();
    }

    /// The machine that its host is on, if it may be another one.
    pub(super) fn peer(&self) -> Option<IpAddr> {
        self.link.peer()
    }

    fn close_queues(&self) {
        // Their threads take the lock to leave.
        let queues = std::mem::take(&mut self.state().queues);
        for (_, link) in queues {
            link.close();
        }
    }

    /// Whether it takes commands.
    pub(super) fn is_ready(&self) -> bool {
        self.state().status & status::READY != 0
    }

    /// Adds an I/O queue.
    pub(super) fn add_queue(&self, queue: u16, link: Link) -> Result<(), Status> {
        let mut state = self.state();
        let is_there = state.queues.iter().any(|(id, _)| *id == queue);
        if state.status & status::READY == 0 || is_there || self.is_over() {
            return Err(Status::SEQUENCE);
        }
        state.queues.push((queue, link));
        Ok(())
    }

    pub(super) fn remove_queue(&self, queue: u16) {
        self.state().queues.retain(|(id, _)| *id != queue);
    }

    /// The value of a property of 4 or 8 bytes.
    pub(super) fn property(&self, offset: u32, is_wide: bool, entries: u16) -> Result<u64, Status> {
        let state = self.state();
        let (value, of_wide) = match offset {
            property::CAPABILITIES => (capabilities(entries), true),
            property::VERSION => (u64::from(VERSION), false),
            property::CONFIGURATION => (state.configuration.into(), false),
            property::STATUS => (state.status.into(), false),
            property::READY_TIMEOUTS => (READY_TIMEOUT, false),
            _ => return Err(Status::INVALID_FIELD),
        };
        if of_wide == is_wide { Ok(value) } else { Err(Status::INVALID_FIELD) }
    }

    /// Sets a property; true if the host wants a shutdown, before which everything has to be durable.
    pub(super) fn set_property(&self, offset: u32, value: u64) -> Result<bool, Status> {
        if offset != property::CONFIGURATION {
            return Err(Status::INVALID_FIELD);
        }
        let value = value as u32;
        let mut state = self.state();
        let was_enabled = state.configuration & configuration::ENABLE != 0;
        let is_enabled = value & configuration::ENABLE != 0;
        let was_shut_down = configuration::is_shutdown(state.configuration);
        state.configuration = value;
        let mut is_reset = false;
        if is_enabled && !was_enabled {
            let is_valid = configuration::is_valid(value, self.is_discovery);
            state.status = if is_valid { status::READY } else { status::FATAL };
        } else if was_enabled && !is_enabled {
            state.status = 0;
            state.events = Pending::default();
            state.features = Features::new(state.features.keep_alive_ms);
            self.has_write_cache.store(true, Ordering::Relaxed);
            is_reset = true;
        }
        drop(state);
        if is_reset {
            self.close_queues();
        }
        Ok(configuration::is_shutdown(value) && !was_shut_down)
    }

    /// Tells the host of an event, unless it does not want to know.
    pub(super) fn announce(&self, event: Event) {
        let mut state = self.state();
        let enabled_by = event.enabled_by();
        let is_enabled = enabled_by == 0 || state.features.events & enabled_by != 0;
        if is_enabled && !self.is_discovery {
            state.events.add(event);
        }
    }

    /// How long it may hear nothing from its host; `None` if for ever.
    pub(super) fn keep_alive(&self) -> Option<Duration> {
        let milliseconds = self.state().features.keep_alive_ms;
        (milliseconds > 0).then(|| Duration::from_millis(milliseconds.into()))
    }

    /// The shutdown that the host wanted is complete.
    pub(super) fn shut_down(&self) {
        self.state().status |= status::SHUT_DOWN;
    }
}

/// CAP: contiguous queues of `entries`; the NVM command set, and selection of command sets; pages of 4 KiB.
fn capabilities(entries: u16) -> u64 {
    const CONTIGUOUS: u64 = 1 << 16;
    const NVM: u64 = 1 << 37;
    const COMMAND_SETS: u64 = 1 << 43;
    /// It is ready when its media are.
    const READY_WITH_MEDIA: u64 = 1 << 59;
    u64::from(entries - 1)
        | CONTIGUOUS
        | READY_TIMEOUT << 24
        | NVM
        | COMMAND_SETS
        | READY_WITH_MEDIA
}

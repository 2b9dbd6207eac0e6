//! The connections of a server: how many there are, what each is doing, and which one makes way for
//! a new one when there are too many.
//!
//! Clients that have not finished the handshake make way first, then those that have been in the
//! middle of a request or reply for long, then idle ones, then those that are briefly in the middle of
//! something, and last those that were used in the last minutes. Those for which the server is at work never
//! do. Among idle ones, those of the machine with the most connections make way first, then of the host with the
//! most controllers, then those that were not used for longest.

use super::limits::STALLED;
use super::socket::Socket;
use std::collections::HashMap;
use std::net::{IpAddr, Shutdown};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A client that has been this long in the middle of a request or reply makes way before idle ones.
const STALLED_US: u64 = STALLED.as_micros() as u64;

/// A client that was used this recently is in use.
const IN_USE_US: u64 = 300_000_000;

/// Microseconds since some time: 0 is never.
fn now_us() -> u64 {
    /// Before the first time that somebody wanted to know.
    const BEFORE_US: u64 = 86_400_000_000;
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEFORE_US + BEGIN.elapsed().as_micros() as u64
}

/// A client that has several connections, such as a host of NVMe.
#[derive(Debug)]
pub(crate) struct Client {
    name: String,
    begin_us: u64,
    /// When it last read or wrote; 0 if never.
    used_us: AtomicU64,
}

impl Client {
    /// A client that has not been used.
    pub(crate) fn new(name: String) -> Self {
        Self { name, begin_us: now_us(), used_us: AtomicU64::new(0) }
    }

    /// Its name, which others may have too.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// It reads or writes.
    pub(crate) fn note_use(&self) {
        self.used_us.store(now_us(), Ordering::Relaxed);
    }

    /// Whether it read or wrote in the last minutes.
    pub(crate) fn is_in_use(&self) -> bool {
        self.used_us() > 0 && now_us().saturating_sub(self.used_us()) < IN_USE_US
    }

    fn used_us(&self) -> u64 {
        self.used_us.load(Ordering::Relaxed)
    }

    /// The one that has not been used for longest comes first; of those that never were, the oldest.
    pub(crate) fn rank(&self) -> (u64, u64) {
        (self.used_us(), self.begin_us)
    }

    /// Lets time pass since it was last used.
    #[cfg(test)]
    pub(crate) fn let_pass(&self, time: Duration) {
        self.used_us.fetch_sub(time.as_micros() as u64, Ordering::Relaxed);
    }
}

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Phase {
    /// The server waits for the client, which has not finished the handshake.
    Handshake,
    /// The server waits in the middle of a request or a reply.
    Stalled,
    /// The server waits for a request.
    Idle,
    /// The client waits for the server.
    Working,
}

/// One connection, as others see it.
pub(super) struct Slot {
    pub(super) socket: Arc<Socket>,
    pub(super) peer: Option<IpAddr>,
    /// Whose it is, and whether it is the first of them; unknown before the handshake is over.
    client: OnceLock<(Arc<Client>, bool)>,
    phase: AtomicU8,
    since_us: AtomicU64,
}

/// Who makes way for others: the least of all.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// By what it does.
    class: u8,
    /// All connections but those of its machine, and all but those of its host that are a first one.
    others: (usize, usize),
    used: (u64, u64),
    since_us: u64,
}

impl Slot {
    fn new(socket: Socket) -> Self {
        Self {
            peer: socket.peer(),
            socket: Arc::new(socket),
            client: OnceLock::new(),
            phase: AtomicU8::new(Phase::Handshake as u8),
            since_us: AtomicU64::new(now_us()),
        }
    }

    /// Says what it does from now on.
    pub(super) fn enter(&self, phase: Phase) {
        if phase != Phase::Working && self.phase.load(Ordering::Relaxed) != phase as u8 {
            self.since_us.store(now_us(), Ordering::Relaxed);
        }
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// Whether its client waits for the server.
    pub(super) fn is_at_work(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == Phase::Working as u8
    }

    /// Ends the connection, from any thread.
    pub(super) fn close(&self) {
        self.socket.shutdown(Shutdown::Both);
    }

    /// Says whose it is.
    pub(super) fn belongs_to(&self, client: &Arc<Client>, is_first: bool) {
        // A connection has one handshake.
        let _ = self.client.set((Arc::clone(client), is_first));
    }

    fn client(&self) -> Option<&Client> {
        self.client.get().map(|(client, _)| &**client)
    }

    /// Its name, if the connection is the first one of a client.
    fn first_of(&self) -> Option<&str> {
        self.client.get().filter(|(_, is_first)| *is_first).map(|(client, _)| client.name())
    }

    /// Its rank in a crowd of connections of its machine, and of clients of its name; none if it is at work.
    fn rank(&self, now_us: u64, crowd: usize, namesakes: usize) -> Option<Rank> {
        let since_us = self.since_us.load(Ordering::Relaxed);
        let phase = self.phase.load(Ordering::Relaxed);
        let alike = |class| Rank { class, others: (0, 0), used: (0, 0), since_us };
        if phase == Phase::Handshake as u8 {
            return Some(alike(0));
        }
        if phase == Phase::Stalled as u8 {
            let is_long = now_us.saturating_sub(since_us) >= STALLED_US;
            return Some(alike(if is_long { 1 } else { 3 }));
        }
        if phase != Phase::Idle as u8 {
            return None;
        }
        Some(Rank {
            class: if self.client().is_some_and(Client::is_in_use) { 4 } else { 2 },
            others: (usize::MAX - crowd, usize::MAX - namesakes),
            used: self.client().map_or((0, 0), Client::rank),
            since_us,
        })
    }
}

/// All connections of a server.
pub(super) struct Slots {
    most: usize,
    all: Mutex<HashMap<u64, Arc<Slot>>>,
    /// A connection has ended.
    ended: Condvar,
}

impl Slots {
    pub(super) fn new(most: usize) -> Self {
        Self { most, all: Mutex::default(), ended: Condvar::new() }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<u64, Arc<Slot>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn len(&self) -> usize {
        self.all().len()
    }

    /// Adds a connection; closes another one if there are too many. `None` if all are at work.
    pub(super) fn add(&self, id: u64, socket: Socket) -> Option<Arc<Slot>> {
        let mut all = self.all();
        if all.len() >= self.most && !Self::close_one(&mut all) {
            return None;
        }
        let slot = Arc::new(Slot::new(socket));
        all.insert(id, Arc::clone(&slot));
        Some(slot)
    }

    /// Closes the connection that has to make way; false if there is none.
    pub(super) fn make_room(&self) -> bool {
        Self::close_one(&mut self.all())
    }

    fn close_one(all: &mut HashMap<u64, Arc<Slot>>) -> bool {
        let mut crowds: HashMap<Option<IpAddr>, usize> = HashMap::new();
        let mut namesakes: HashMap<&str, usize> = HashMap::new();
        for slot in all.values() {
            *crowds.entry(slot.peer).or_default() += 1;
            if let Some(name) = slot.first_of() {
                *namesakes.entry(name).or_default() += 1;
            }
        }
        let now_us = now_us();
        let ranked = all.iter().filter_map(|(id, slot)| {
            let crowd = crowds.get(&slot.peer).copied().unwrap_or_default();
            let name = slot.client().map(Client::name);
            let namesakes = name.and_then(|name| namesakes.get(name)).copied().unwrap_or_default();
            Some((slot.rank(now_us, crowd, namesakes)?, *id))
        });
        let Some((_, id)) = ranked.min() else { return false };
        if let Some(slot) = all.remove(&id) {
            slot.close();
        }
        true
    }

    pub(super) fn remove(&self, id: u64) {
        self.all().remove(&id);
        self.ended.notify_all();
    }

    /// Stops receiving, gives connections some time to send what they owe, and closes them.
    pub(super) fn close_all(&self, patience: Duration) {
        let all = self.all();
        for slot in all.values() {
            slot.socket.shutdown(Shutdown::Read);
        }
        let some_left = |all: &mut HashMap<u64, Arc<Slot>>| !all.is_empty();
        let waited = self.ended.wait_timeout_while(all, patience, some_left);
        let (all, _) = waited.unwrap_or_else(PoisonError::into_inner);
        for slot in all.values() {
            slot.close();
        }
    }
}

#[cfg(test)]
impl Slot {
    /// A slot of nobody.
    pub(super) fn in_phase(phase: Phase) -> Self {
        let (socket, _) = std::os::unix::net::UnixStream::pair().unwrap();
        let slot = Self::new(Socket::Unix(socket));
        slot.enter(phase);
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn socket() -> Socket {
        Socket::Unix(UnixStream::pair().unwrap().0)
    }

    #[test]
    fn handshakes_make_way_before_idle_clients_and_those_at_work_never() {
        let slots = Slots::new(3);
        let all: Vec<_> = (0..3).map(|id| slots.add(id, socket()).unwrap()).collect();
        all[0].enter(Phase::Idle);
        all[2].enter(Phase::Working);
        let ids = || {
            let mut ids: Vec<_> = slots.all().keys().copied().collect();
            ids.sort_unstable();
            ids
        };
        slots.add(3, socket()).unwrap().enter(Phase::Working);
        assert_eq!(ids(), [0, 2, 3]);
        slots.add(4, socket()).unwrap().enter(Phase::Working);
        assert_eq!(ids(), [2, 3, 4]);
        assert!(slots.add(5, socket()).is_none());
        all[2].enter(Phase::Stalled);
        slots.add(5, socket()).unwrap().enter(Phase::Working);
        assert_eq!(ids(), [3, 4, 5]);
    }

    fn slot(phase: Phase) -> Slot {
        let slot = Slot::in_phase(phase);
        slot.since_us.store(5, Ordering::Relaxed);
        slot
    }

    #[test]
    fn of_idle_clients_those_of_the_largest_crowd_make_way() {
        let idle = slot(Phase::Idle);
        assert!(idle.rank(9, 7, 0) < idle.rank(9, 2, 0));
        assert!(slot(Phase::Handshake).rank(9, 1, 0) < idle.rank(9, 7, 0));
        assert!(slot(Phase::Stalled).rank(2_000_000, 1, 0) < idle.rank(9, 7, 0));
        assert!(slot(Phase::Stalled).rank(900_000, 1, 0) > idle.rank(9, 1, 0));
        assert_eq!(slot(Phase::Working).rank(u64::MAX, 1, 0), None);
    }

    #[test]
    fn who_was_used_in_the_last_minutes_makes_way_last() {
        let of = |client: &Arc<Client>| {
            let slot = slot(Phase::Idle);
            slot.belongs_to(client, true);
            slot
        };
        let client = |name: &str| Arc::new(Client::new(name.to_owned()));
        let (used, idle) = (client("used"), client("idle"));
        used.note_use();
        let (of_used, of_idle) = (of(&used), of(&idle));
        let rank = |slot: &Slot, namesakes| slot.rank(now_us(), 9, namesakes);
        assert!(rank(&of_used, 99) > rank(&of_idle, 1));
        assert!(rank(&of_used, 99) > rank(&slot(Phase::Stalled), 0));
        assert!(of_used.rank(now_us(), 9, 1) > of_used.rank(now_us(), 10, 1), "of another machine");
        // After some time without use, who has many makes way before who was used longer ago.
        used.let_pass(Duration::from_micros(IN_USE_US));
        assert!(!used.is_in_use() && rank(&of_used, 1) > rank(&of_idle, 1));
        assert!(rank(&of_used, 2) < rank(&of_idle, 1));
    }

    #[test]
    fn connections_of_a_client_that_is_used_stay_among_many_idle_ones() {
        let slots = Slots::new(20);
        let used = Arc::new(Client::new("used".to_owned()));
        for id in 0..3 {
            let slot = slots.add(id, socket()).unwrap();
            slot.belongs_to(&used, id == 0);
            slot.enter(Phase::Idle);
        }
        used.note_use();
        for id in 3..200 {
            let slot = slots.add(id, socket()).unwrap();
            slot.belongs_to(&Arc::new(Client::new(format!("idle {id}"))), true);
            slot.enter(Phase::Idle);
        }
        let mut ids: Vec<_> = slots.all().keys().copied().collect();
        ids.sort_unstable();
        assert_eq!(ids, [0, 1, 2].into_iter().chain(183..200).collect::<Vec<_>>());
    }
}

//! The connections of a server: how many there are, what each is doing, and which one makes way for
//! a new one when there are too many.
//!
//! Clients that have not finished the handshake make way first, then those that have been in the
//! middle of a request or reply for long, then idle ones, of the machine that has the most connections,
//! and only then those that are briefly in the middle of something. Those for which the server is at
//! work never do.

use super::socket::Socket;
use std::collections::HashMap;
use std::net::{IpAddr, Shutdown};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A client that has been this long in the middle of a request or reply makes way before idle ones.
const STALLED_US: u64 = 1_000_000;

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
    peer: Option<IpAddr>,
    begin: Instant,
    phase: AtomicU8,
    since_us: AtomicU64,
}

impl Slot {
    /// Says what it does from now on.
    pub(super) fn enter(&self, phase: Phase) {
        if phase != Phase::Working {
            let now_us = self.begin.elapsed().as_micros() as u64;
            if self.phase.load(Ordering::Relaxed) != phase as u8 {
                self.since_us.store(now_us, Ordering::Relaxed);
            }
        }
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// The connection with the least makes way first; none that is at work does.
    fn rank(&self, now_us: u64, crowd: usize) -> Option<(u8, usize, u64)> {
        let since_us = self.since_us.load(Ordering::Relaxed);
        let phase = self.phase.load(Ordering::Relaxed);
        let rank =
            match phase {
                _ if phase == Phase::Handshake as u8 => 0,
                _ if phase == Phase::Stalled as u8 => {
                    if now_us.saturating_sub(since_us) >= STALLED_US { 1 } else { 3 }
                }
                _ if phase == Phase::Idle as u8 => 2,
                _ => return None,
            };
        Some((rank, if rank == 2 { usize::MAX - crowd } else { 0 }, since_us))
    }
}

/// All connections of a server.
pub(super) struct Slots {
    begin: Instant,
    most: usize,
    all: Mutex<HashMap<u64, Arc<Slot>>>,
    /// A connection has ended.
    ended: Condvar,
}

impl Slots {
    pub(super) fn new(most: usize) -> Self {
        Self { begin: Instant::now(), most, all: Mutex::default(), ended: Condvar::new() }
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
        if all.len() >= self.most && !self.close_one(&mut all) {
            return None;
        }
        let slot = Arc::new(Slot {
            peer: socket.peer(),
            socket: Arc::new(socket),
            begin: self.begin,
            phase: AtomicU8::new(Phase::Handshake as u8),
            since_us: AtomicU64::new(self.begin.elapsed().as_micros() as u64),
        });
        all.insert(id, Arc::clone(&slot));
        Some(slot)
    }

    /// Closes the connection that has to make way; false if there is none.
    pub(super) fn make_room(&self) -> bool {
        self.close_one(&mut self.all())
    }

    fn close_one(&self, all: &mut HashMap<u64, Arc<Slot>>) -> bool {
        let mut crowds: HashMap<Option<IpAddr>, usize> = HashMap::new();
        for slot in all.values() {
            *crowds.entry(slot.peer).or_default() += 1;
        }
        let now_us = self.begin.elapsed().as_micros() as u64;
        let ranked = all.iter().filter_map(|(id, slot)| {
            let crowd = crowds.get(&slot.peer).copied().unwrap_or_default();
            Some((slot.rank(now_us, crowd)?, *id))
        });
        let Some((_, id)) = ranked.min() else { return false };
        if let Some(slot) = all.remove(&id) {
            slot.socket.shutdown(Shutdown::Both);
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
            slot.socket.shutdown(Shutdown::Both);
        }
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

    #[test]
    fn of_idle_clients_those_of_the_largest_crowd_make_way() {
        let slot = |phase: Phase| Slot {
            socket: Arc::new(socket()),
            peer: None,
            begin: Instant::now(),
            phase: AtomicU8::new(phase as u8),
            since_us: AtomicU64::new(5),
        };
        let idle = slot(Phase::Idle);
        assert!(idle.rank(9, 7) < idle.rank(9, 2));
        assert!(slot(Phase::Handshake).rank(9, 1) < idle.rank(9, 7));
        assert!(slot(Phase::Stalled).rank(2_000_000, 1) < idle.rank(9, 7));
        assert!(slot(Phase::Stalled).rank(900_000, 1) > idle.rank(9, 1));
        assert_eq!(slot(Phase::Working).rank(u64::MAX, 1), None);
    }
}

//! Memory for data that wait for the rest of their request: leases of it, of which there is a limited number of bytes.
//!
//! Those who want one wait for their turn. The one that has had its lease for longest makes way if that is too long:
//! its connection is closed. So who sends a part of a request and no more cannot keep others from theirs. One whose
//! request is whole, and is being executed, does not make way.

use super::limits::{Limits, STALLED};
use super::slots::Slot;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The leases of a server.
pub(super) struct Leases {
    most_bytes: usize,
    state: Mutex<State>,
    /// A lease has ended, or somebody has had a turn.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    next: u64,
    /// Those who wait, in the order in which they came.
    waiting: VecDeque<u64>,
    held: BTreeMap<u64, Holder>,
    held_bytes: usize,
}

struct Holder {
    bytes: usize,
    since: Instant,
    /// Its connection.
    slot: Option<Arc<Slot>>,
}

/// A lease of memory, until it is dropped.
pub(crate) struct Lease {
    leases: Arc<Leases>,
    id: u64,
}

impl Default for Leases {
    fn default() -> Self {
        Self::new(Limits::default().incomplete_bytes)
    }
}

impl Leases {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { most_bytes, state: Mutex::default(), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leases memory to a connection that has no lease, and waits for it.
    pub(super) fn take(self: &Arc<Self>, bytes: usize, slot: Option<Arc<Slot>>) -> Lease {
        let mut state = self.state();
        let id = state.next;
        state.next += 1;
        state.waiting.push_back(id);
        while let Some(wait) = self.must_wait(&mut state, id, bytes) {
            let waited = self.changed.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.waiting.pop_front();
        state.held_bytes += bytes;
        state.held.insert(id, Holder { bytes, since: Instant::now(), slot });
        drop(state);
        self.changed.notify_all();
        Lease { leases: Arc::clone(self), id }
    }

    /// How long it has to wait before it looks again; `None` if it is its turn, and there is memory.
    fn must_wait(&self, state: &mut State, id: u64, bytes: usize) -> Option<Duration> {
        if state.waiting.front() != Some(&id) {
            return Some(STALLED);
        }
        while state.held_bytes + bytes > self.most_bytes {
            let waits =
                |holder: &&Holder| !holder.slot.as_ref().is_some_and(|slot| slot.is_at_work());
            let holders = state.held.iter().filter(|(_, holder)| waits(holder));
            let Some((oldest, holder)) = holders.min_by_key(|(_, holder)| holder.since) else {
                // Those at work end, or wait for their clients, soon.
                return (!state.held.is_empty()).then_some(STALLED);
            };
            let left = STALLED.saturating_sub(holder.since.elapsed());
            if left > Duration::ZERO {
                return Some(left);
            }
            if let Some(slot) = &holder.slot {
                slot.close();
            }
            let oldest = *oldest;
            state.end(oldest);
        }
        None
    }
}

impl State {
    fn end(&mut self, id: u64) {
        if let Some(holder) = self.held.remove(&id) {
            self.held_bytes -= holder.bytes;
        }
    }
}

impl Lease {
    /// What it is for has begun at this time.
    pub(crate) fn date(&self, since: Instant) {
        if let Some(holder) = self.leases.state().held.get_mut(&self.id) {
            holder.since = since;
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.leases.state().end(self.id);
        self.leases.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::super::slots::Phase;
    use super::*;
    use std::thread;

    fn lease(leases: &Arc<Leases>) -> Lease {
        leases.take(10, None)
    }

    #[test]
    fn who_wants_memory_waits_until_some_is_given_back_and_then_in_turn() {
        let leases = Arc::new(Leases::new(25));
        let (first, second) = (lease(&leases), lease(&leases));
        // However long this machine takes, they are not stalled.
        let later = Instant::now() + 1000 * STALLED;
        first.date(later);
        second.date(later);
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for waiter in 0..3 {
                let (leases, order) = (&leases, &order);
                scope.spawn(move || {
                    let _lease = lease(leases);
                    order.lock().unwrap().push(waiter);
                });
                while leases.state().waiting.len() <= waiter {
                    thread::yield_now();
                }
            }
            assert_eq!(*order.lock().unwrap(), [0; 0]);
            drop(first);
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2]);
        assert_eq!(leases.state().held_bytes, 10);
        drop(second);
    }

    #[test]
    fn who_has_had_it_for_too_long_makes_way_and_nobody_else() {
        let leases = Arc::new(Leases::new(20));
        let begin = Instant::now();
        let (first, second) = (lease(&leases), lease(&leases));
        second.date(begin.checked_sub(2 * STALLED).unwrap());
        let _third = lease(&leases);
        let ids = |leases: &Leases| leases.state().held.keys().copied().collect::<Vec<_>>();
        assert_eq!(ids(&leases), [0, 2]);
        // The first one is not stalled before a second is over.
        let _fourth = lease(&leases);
        assert!(begin.elapsed() >= STALLED);
        assert_eq!(ids(&leases), [2, 3]);
        drop((first, second));
        assert_eq!(
            leases.state().held_bytes,
            20,
            "what was taken from them is not given back again"
        );
    }

    #[test]
    fn who_waits_for_the_server_does_not_make_way() {
        let leases = Arc::new(Leases::new(20));
        let slots = [Phase::Working, Phase::Stalled].map(|phase| Arc::new(Slot::in_phase(phase)));
        let [writing, sending] = slots.clone().map(|slot| leases.take(10, Some(slot)));
        let long_ago = Instant::now().checked_sub(2 * STALLED).unwrap();
        writing.date(long_ago.checked_sub(STALLED).unwrap());
        sending.date(long_ago);
        let _third = lease(&leases);
        let ids = |leases: &Leases| leases.state().held.keys().copied().collect::<Vec<_>>();
        assert_eq!(ids(&leases), [0, 2]);
        // Its write is done, and it sends half of another one.
        slots[0].enter(Phase::Stalled);
        let _fourth = lease(&leases);
        assert_eq!(ids(&leases), [2, 3]);
    }
}

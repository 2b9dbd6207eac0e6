//! Operations on their way from the drive to a companion.

use ftlab_flash::Lpn;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Capacity in operations: 4 MiB.
const OPS_MAX: usize = 1 << 18;

/// How long a companion waits for operations to accumulate. Waking it for each would cost more than
/// the operation.
const PATIENCE: Duration = Duration::from_millis(20);

/// An operation of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostOp {
    /// Writes a page of a stream; 0 if the host names none.
    Write {
        lpn: Lpn,
        stream: u16,
    },
    Trim {
        first: Lpn,
        pages: u32,
    },
    /// Moves a placement handle to a fresh unit.
    RenewHandle(u16),
}

/// An operation of the host, and when it took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimedOp {
    /// Microseconds since the drive was opened.
    pub(super) time_us: u64,
    pub(super) op: HostOp,
}

/// A bounded queue with one end in the drive and one in a companion.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Signals free space.
    room: Condvar,
    /// Signals that it is half full, or closed.
    work: Condvar,
}

#[derive(Debug, Default)]
struct State {
    ops: Vec<TimedOp>,
    /// The number of operations that the companion took last, until it returns.
    taken: usize,
    is_closed: bool,
    /// The companion has failed: operations are dropped, and it reports this.
    is_abandoned: bool,
}

/// Abandons the queue when its companion ends for any reason: the drive must not wait for it.
pub(super) struct AbandonOnDrop<'a>(pub(super) &'a Queue);

impl Drop for AbandonOnDrop<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl Queue {
    pub(super) fn new() -> Self {
        let state = State { ops: Vec::with_capacity(OPS_MAX), ..State::default() };
        Self { state: Mutex::new(state), room: Condvar::new(), work: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an operation; waits while the queue is full.
    pub(super) fn push(&self, op: TimedOp) {
        let is_full = |state: &mut State| state.ops.len() >= OPS_MAX && !state.is_abandoned;
        let waited = self.room.wait_while(self.state(), is_full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_abandoned {
            return;
        }
        state.ops.push(op);
        if state.ops.len() == OPS_MAX / 2 {
            self.work.notify_one();
        }
    }

    /// Exchanges `ops`, which have been processed, for the waiting ones; false at the end.
    pub(super) fn take(&self, ops: &mut Vec<TimedOp>) -> bool {
        ops.clear();
        let mut state = self.state();
        state.taken = 0;
        loop {
            let may_gather = |state: &mut State| state.ops.len() < OPS_MAX / 2 && !state.is_closed;
            let waited = self.work.wait_timeout_while(state, PATIENCE, may_gather);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !state.ops.is_empty() {
                break;
            }
            if state.is_closed {
                return false;
            }
        }
        std::mem::swap(ops, &mut state.ops);
        state.taken = ops.len();
        self.room.notify_one();
        true
    }

    /// Closes the queue: no more operations will be added.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.work.notify_one();
    }

    /// Abandons the queue: no more operations will be taken.
    pub(super) fn abandon(&self) {
        let mut state = self.state();
        state.is_abandoned = true;
        state.ops.clear();
        self.room.notify_one();
    }

    /// Operations not yet processed.
    pub(super) fn behind(&self) -> u64 {
        let state = self.state();
        (state.ops.len() + state.taken) as u64
    }
}

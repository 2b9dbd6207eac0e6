//! Work on many items at a time.

use ftlab_memory::share_one_heap;
use ftlab_sim::{Progress, SimError, Status, wait_for_memory};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Set from elsewhere, ends what runs under it with [`SimError::Stopped`](ftlab_sim::SimError::Stopped).
pub type Stop = Arc<AtomicBool>;

/// Ends a run soon after its [`Stop`] is set.
pub(crate) struct Until<'a>(pub(crate) &'a Stop);

impl Progress for Until<'_> {
    fn update(&mut self, _: &Status) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// What `attempt` makes; once more whenever other runs give back memory that it lacked, so that what comes out does not
/// depend on how many run at a time. What is stopped meanwhile ends there.
pub fn when_it_fits<T>(
    is_stopped: impl Fn() -> bool,
    attempt: impl Fn() -> Result<T, SimError>,
) -> Result<T, SimError> {
    while !is_stopped() {
        match attempt() {
            Err(SimError::Memory { needed_bytes, .. }) if wait_for_memory(needed_bytes) => {}
            outcome => return outcome,
        }
    }
    Err(SimError::Stopped)
}

/// What `work` makes of every item, in order; threads take the next item as they become free.
pub fn parallel<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let one_after_the_other = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            *lock(&results[index]) = Some(work(item));
        }
    };
    on_threads(threads.clamp(1, items.len().max(1)), |_| one_after_the_other());
    results.iter().filter_map(|result| lock(result).take()).collect()
}

/// Does this work on `threads` threads, each of which is told its number; on fewer if the system has no more, and at
/// least on this one.
pub(crate) fn on_threads(threads: usize, work: impl Fn(usize) + Sync) {
    share_one_heap();
    std::thread::scope(|scope| {
        for number in 1..threads {
            let work = &work;
            let spawned = std::thread::Builder::new().spawn_scoped(scope, move || work(number));
            if spawned.is_err() {
                break;
            }
        }
        work(0);
    });
}

/// What a mutex holds; a thread that panicked takes the run with it anyway.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

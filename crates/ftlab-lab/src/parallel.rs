//! Work on many items at a time.

use ftlab_sim::{Progress, Status};
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

/// What `work` makes of every item, in order; threads take the next item as they become free.
pub(crate) fn parallel<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    *lock(&results[index]) = Some(work(item));
                }
            });
        }
    });
    results.iter().filter_map(|result| lock(result).take()).collect()
}

/// What a mutex holds; a thread that panicked takes the run with it anyway.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Threads that apply batches to FTLs.

use crate::SimError;
use ftlab_memory::share_one_heap;
use std::sync::Arc;

/// Threads that one experiment has, or several share: whichever has work takes a free one.
#[derive(Debug, Clone)]
pub struct Threads(Arc<rayon::ThreadPool>);

impl Threads {
    /// A pool of `threads`, one at least.
    pub fn new(threads: usize) -> Result<Self, SimError> {
        share_one_heap();
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1));
        let pool = builder.build().map_err(|error| SimError::Threads(error.to_string()))?;
        Ok(Self(Arc::new(pool)))
    }

    /// As many as there are processors.
    pub fn processors() -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }

    /// Carries out `work` on these threads.
    pub(crate) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.0.install(work)
    }
}

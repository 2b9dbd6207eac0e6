//! Shadows: other FTLs under the same load.

use super::queue::{AbandonOnDrop, HostOp, Queue};
use crate::{FlashCounters, ServeError, ShadowStatus};
use ftlab_drive::MediaError;
use ftlab_flash::{Lpn, NoPayload};
use ftlab_ftl::page::{DriveConfig, Hints};
use ftlab_ftl::registry::{self, DriveShape, DynFtl};
use ftlab_ftl::{Counters, PageBatch};
use ftlab_spec::Spec;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Pages written per batch.
const BATCH_PAGES: usize = 1 << 16;

/// An FTL that carries out the same operations as the drive, on flash without data, on its own
/// thread.
#[derive(Debug)]
pub(super) struct Shadow {
    queue: Arc<Queue>,
    status: Arc<Mutex<ShadowStatus>>,
    thread: Option<JoinHandle<()>>,
}

impl Shadow {
    /// Begins with the pages in `mapping`, in address order; they are not counted.
    pub(super) fn start(
        spec: &Spec,
        config: DriveConfig,
        mapping: &[u32],
        queue: Arc<Queue>,
    ) -> Result<Self, ServeError> {
        let refused = |error: &dyn std::fmt::Display| ServeError::Shadow {
            ftl: spec.to_string(),
            why: error.to_string(),
        };
        if registry::hints(spec).is_ok_and(|hints| hints == Hints::Lifetimes) {
            return Err(refused(&MediaError::Future(spec.to_string())));
        }
        let spec =
            registry::fit(spec, DriveShape::new(&config), &[]).map_err(|error| refused(&error))?;
        let built = registry::build_boxed(&spec, config, NoPayload, ());
        let mut ftl = built.map_err(|error| refused(&error))?;
        fill(&mut ftl, mapping).map_err(|error| refused(&error))?;
        let status = ShadowStatus { ftl: spec.to_string(), ..ShadowStatus::default() };
        let status = Arc::new(Mutex::new(status));
        let (of_thread, queue_of_thread) = (Arc::clone(&status), Arc::clone(&queue));
        let run = move || follow(ftl, &queue_of_thread, &of_thread);
        let thread = std::thread::Builder::new().name("shadow".to_owned()).spawn(run);
        let thread = Some(thread.map_err(|error| ServeError::io("starting a thread", error))?);
        Ok(Self { queue, status, thread })
    }

    pub(super) fn status(&self) -> ShadowStatus {
        ShadowStatus { behind: self.queue.behind(), ..lock(&self.status).clone() }
    }
}

impl Drop for Shadow {
    /// Waits until it has processed all operations.
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            // A panic has been reported where it happened.
            let _ = thread.join();
        }
    }
}

fn fill(ftl: &mut DynFtl<NoPayload, ()>, mapping: &[u32]) -> Result<(), impl std::fmt::Display> {
    let is_mapped = |(_, page): &(usize, &u32)| **page != u32::MAX;
    let pages: Vec<Lpn> =
        mapping.iter().enumerate().filter(is_mapped).map(|(lpn, _)| Lpn(lpn as u32)).collect();
    pages.chunks(BATCH_PAGES).try_for_each(|pages| ftl.write_pages(pages))
}

fn follow(mut ftl: DynFtl<NoPayload, ()>, queue: &Queue, status: &Mutex<ShadowStatus>) {
    let _given_up = AbandonOnDrop(queue);
    let before = ftl.counters();
    let (mut ops, mut batch) = (Vec::new(), PageBatch::default());
    while queue.take(&mut ops) {
        batch.clear();
        let done = ops.iter().try_for_each(|timed| {
            match timed.op {
                HostOp::Write { lpn, stream } => {
                    batch.writes.push(lpn);
                    batch.streams.push(stream);
                }
                HostOp::Trim { first, pages } => batch.trim(first, pages),
                HostOp::RenewHandle(handle) => {
                    ftl.apply(&batch)?;
                    batch.clear();
                    // An FTL without handles has nothing to renew.
                    ftl.renew_handle(handle)?;
                }
            }
            Ok(())
        });
        let done = done.and_then(|()| ftl.apply(&batch));
        let mut status = lock(status);
        status.flash = since(&before, &ftl.counters());
        if let Err(error) = done {
            status.failure = Some(error.to_string());
            return;
        }
    }
}

fn since(before: &Counters, now: &Counters) -> FlashCounters {
    FlashCounters::of(&now.since(before))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

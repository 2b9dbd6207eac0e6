//! Reading all pages of a drive from the medium, behind serving.

use crate::output::say;
use ftlab_drive::{Drive, Lpn, ScrubbedPage};
use ftlab_spec::ByteSize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Interval at which pages fall due.
const TICK: Duration = Duration::from_millis(100);

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pages: u32,
    refreshed: u32,
    pub(crate) unreadable: Vec<Lpn>,
}

impl Found {
    pub(crate) fn add(&mut self, lpn: Lpn, page: ScrubbedPage) {
        match page {
            ScrubbedPage::Empty => return,
            ScrubbedPage::Sound => {}
            ScrubbedPage::Refreshed => self.refreshed += 1,
            ScrubbedPage::Unreadable => self.unreadable.push(lpn),
        }
        self.pages += 1;
    }

    /// In words.
    pub(crate) fn text(&self) -> String {
        let Self { pages, refreshed, unreadable } = self;
        format!(
            "{pages} pages read from the medium, {refreshed} of them written again, {} unreadable\n",
            unreadable.len()
        )
    }
}

/// A thread that scrubs a drive again and again.
pub(crate) struct Scrubber {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Scrubber {
    /// Reads `rate` bytes a second.
    pub(crate) fn start(drive: &Arc<Drive>, rate: ByteSize, page_bytes: u32) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (drive, over) = (Arc::clone(drive), Arc::clone(&is_over));
        let pages_per_tick = rate.0 as f64 / f64::from(page_bytes) * TICK.as_secs_f64();
        let thread = thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let Some(found) = pass(&drive, pages_per_tick, &over) else { return };
                say(&format!("scrub: {}", found.text()));
            }
        });
        Self { is_over, thread: Some(thread) }
    }
}

/// Reads every page once; none if it is to end before, or the drive cannot be written any more.
fn pass(drive: &Drive, pages_per_tick: f64, over: &AtomicBool) -> Option<Found> {
    let mut found = Found::default();
    let (mut due, mut wake) = (0.0, Instant::now());
    for lpn in (0..drive.logical_pages()).map(Lpn) {
        while due < 1.0 {
            wake += TICK;
            thread::sleep(
                wake.saturating_duration_since(Instant::now()).min(Duration::from_secs(1)),
            );
            due += pages_per_tick;
            if over.load(Ordering::Relaxed) {
                return None;
            }
        }
        due -= 1.0;
        found.add(lpn, drive.scrub(lpn).ok()?);
    }
    Some(found)
}

impl Drop for Scrubber {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic has been reported by the thread itself.
            let _ = thread.join();
        }
    }
}

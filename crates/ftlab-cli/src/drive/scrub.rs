//! `ftlab drive scrub`, and scrubbing behind serving.

use super::serving::{TICK, notice};
use crate::error::CliError;
use crate::output::{print, say};
use clap::Args;
use ftlab_device::{Drive, Lpn, OpenOptions, ScrubbedPage, check_openable};

use ftlab_spec::ByteSize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Reads every page of a drive that is not being served from the medium, and writes again what is damaged
/// there but can still be read, and both checkpoints. The exit code is 1 if a page cannot be read.
///
/// `ftlab drive serve --scrub RATE` does the same while it serves.
#[derive(Debug, Args)]
pub(crate) struct ScrubArgs {
    /// The drive.
    file: PathBuf,
}

/// What was found.
#[derive(Debug, Default)]
struct Found {
    pages: u32,
    refreshed: u32,
    unreadable: Vec<Lpn>,
}

impl Found {
    fn add(&mut self, lpn: Lpn, page: ScrubbedPage) {
        match page {
            ScrubbedPage::Empty => return,
            ScrubbedPage::Sound => {}
            ScrubbedPage::Refreshed => self.refreshed += 1,
            ScrubbedPage::Unreadable => self.unreadable.push(lpn),
        }
        self.pages += 1;
    }

    fn text(&self) -> String {
        let Self { pages, refreshed, unreadable } = self;
        format!(
            "{pages} pages read from the medium, {refreshed} of them written again, {} unreadable\n",
            unreadable.len()
        )
    }
}

pub(crate) fn scrub(args: &ScrubArgs) -> Result<(), CliError> {
    check_openable(&args.file)?;
    let options = OpenOptions { notice: Some(notice()), ..OpenOptions::default() };
    let drive = Drive::open(&args.file, options)?;
    let failed = |error: std::io::Error| CliError::failure(error.to_string());
    let mut found = Found::default();
    for lpn in (0..drive.logical_pages()).map(Lpn) {
        found.add(lpn, drive.scrub(lpn).map_err(failed)?);
    }
    for _ in 0..2 {
        drive.checkpoint().map_err(failed)?;
    }
    drive.close().map_err(failed)?;
    print(&found.text())?;
    if found.unreadable.is_empty() {
        return Ok(());
    }
    let pages: Vec<_> = found.unreadable.iter().take(20).map(ToString::to_string).collect();
    let pages = pages.join(", ");
    Err(CliError::failure(format!("pages that cannot be read: {pages}")))
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

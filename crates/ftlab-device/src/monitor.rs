//! Puts together what is known of a drive while it is served, second by second.

use crate::{
    BlockMap, FlashCounters, Observed, RecordingStatus, Sample, ShadowStatus, Status, Watched,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Samples that are kept: a quarter of an hour.
const HISTORY_SAMPLES: usize = 900;

/// A running write amplification is one over so many samples.
const RUNNING_SAMPLES: usize = 10;

/// What goes on beside the drive.
pub trait Company: Send + Sync {
    /// What other FTLs would have done.
    fn shadows(&self) -> Vec<ShadowStatus>;
    /// The trace that is being written.
    fn recording(&self) -> Option<RecordingStatus>;
    /// The timing by which replies are delayed.
    fn emulated_latency(&self) -> Option<String>;
}

/// Nothing goes on beside the drive.
impl Company for () {
    fn shadows(&self) -> Vec<ShadowStatus> {
        Vec::new()
    }

    fn recording(&self) -> Option<RecordingStatus> {
        None
    }

    fn emulated_latency(&self) -> Option<String> {
        None
    }
}

/// Watches a drive that is being served.
pub struct Monitor {
    drive: Arc<dyn Observed>,
    host: Arc<Watched>,
    company: Arc<dyn Company>,
    begin: Instant,
    at_begin: FlashCounters,
    past: Mutex<Past>,
}

#[derive(Default)]
struct Past {
    latest: Status,
    history: VecDeque<Sample>,
    /// The counters of the latest samples, and of the shadows then: oldest first.
    counters: VecDeque<(FlashCounters, Vec<FlashCounters>)>,
}

impl Monitor {
    /// Watches `drive`, which is asked through `host`.
    pub fn new(drive: Arc<dyn Observed>, host: Arc<Watched>, company: Arc<dyn Company>) -> Self {
        let at_begin = drive.status().flash;
        let monitor =
            Self { drive, host, company, begin: Instant::now(), at_begin, past: Mutex::default() };
        monitor.sample();
        monitor
    }

    /// Ends a second, or what a caller that comes at other times takes for one.
    pub fn sample(&self) -> Status {
        let mut past = self.past();
        let mut status = Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            drive: self.drive.status(),
            host: self.host.sample(),
            shadows: self.company.shadows(),
            recording: self.company.recording(),
            emulated_latency: self.company.emulated_latency(),
            ..Status::default()
        };
        let flash = status.drive.flash;
        status.waf = flash.waf();
        status.serving_waf = flash.since(&self.at_begin).waf();
        status.latest = self.sample_of(&status, &past);
        let shadows = status.shadows.iter().map(|shadow| shadow.flash).collect();
        push(&mut past.counters, (flash, shadows), RUNNING_SAMPLES + 1);
        push(&mut past.history, status.latest.clone(), HISTORY_SAMPLES);
        past.latest = status.clone();
        status
    }

    fn sample_of(&self, status: &Status, past: &Past) -> Sample {
        let seconds = self.begin.elapsed().as_secs_f64();
        let flash = status.drive.flash;
        let span = (seconds - past.latest.latest.seconds).max(1e-3);
        let before = past.latest.drive.flash;
        let is_first = past.counters.is_empty();
        let rate = |now: u64, then: u64| {
            if is_first { 0.0 } else { now.saturating_sub(then) as f64 / span }
        };
        let oldest = past.counters.front();
        let running = |now: &FlashCounters, then: Option<&FlashCounters>| {
            then.and_then(|then| now.since(then).waf())
        };
        let then = |index: usize| oldest.and_then(|(_, shadows)| shadows.get(index));
        let shadows = status.shadows.iter().enumerate();
        Sample {
            seconds,
            host_writes: rate(flash.host_pages, before.host_pages),
            flash_writes: rate(flash.programmed_pages(), before.programmed_pages()),
            reads: rate(status.host.reads.requests, past.latest.host.reads.requests),
            running_waf: running(&flash, oldest.map(|(drive, _)| drive)),
            write_p50_us: status.host.writes.recent_latency.p50_us,
            write_p99_us: status.host.writes.recent_latency.p99_us,
            read_p99_us: status.host.reads.recent_latency.p99_us,
            free_blocks: status.drive.free_blocks,
            region_blocks: status.drive.regions.iter().map(|region| region.blocks).collect(),
            shadow_wafs: shadows
                .map(|(index, shadow)| running(&shadow.flash, then(index)))
                .collect(),
        }
    }

    /// What the last [`sample`](Self::sample) found.
    pub fn latest(&self) -> Status {
        self.past().latest.clone()
    }

    /// The samples of the last quarter of an hour, oldest first.
    pub fn history(&self) -> Vec<Sample> {
        self.past().history.iter().cloned().collect()
    }

    /// The present state of every erase block.
    pub fn block_map(&self) -> BlockMap {
        self.drive.block_map()
    }

    fn past(&self) -> MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn push<T>(queue: &mut VecDeque<T>, value: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(value);
}

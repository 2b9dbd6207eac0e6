//! Samples the state of a drive that is being served, every second.

use crate::{
    BlockMap, FlashCounters, LineStyle, Observed, PlacementStatus, RecordingStatus, Sample,
    ShadowStatus, Status, Watched,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Number of samples kept: a quarter of an hour.
const HISTORY_SAMPLES: usize = 900;

/// Number of samples of a running write amplification.
const RUNNING_SAMPLES: usize = 10;

/// The status of a drive's companions.
pub trait CompanionStatus: Send + Sync {
    /// FTLs that repeat what the host does.
    fn shadows(&self) -> Vec<ShadowStatus>;
    /// The recording in progress.
    fn recording(&self) -> Option<RecordingStatus>;
    /// The timing by which replies are delayed.
    fn emulated_latency(&self) -> Option<String>;
}

/// No companions.
impl CompanionStatus for () {
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

/// Monitors a drive that is being served.
pub struct Monitor {
    drive: Arc<dyn Observed>,
    host: Arc<Watched>,
    companions: Arc<dyn CompanionStatus>,
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
    /// Monitors `drive`, whose requests pass through `host`.
    pub fn new(
        drive: Arc<dyn Observed>,
        host: Arc<Watched>,
        companions: Arc<dyn CompanionStatus>,
    ) -> Self {
        let at_begin = drive.status().flash;
        let monitor = Self {
            drive,
            host,
            companions,
            begin: Instant::now(),
            at_begin,
            past: Mutex::default(),
        };
        monitor.sample();
        monitor
    }

    /// Takes a sample, normally once per second.
    pub fn sample(&self) -> Status {
        let mut past = self.past();
        let mut status = Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            drive: self.drive.status(),
            host: self.host.sample(),
            placement: self.drive.placement().map(PlacementStatus::from),
            shadows: self.companions.shadows(),
            recording: self.companions.recording(),
            emulated_latency: self.companions.emulated_latency(),
            ..Status::default()
        };
        let flash = status.drive.flash;
        status.waf = flash.waf();
        status.serving = flash.since(&self.at_begin);
        status = status.with_host_bytes();
        let shadows = status.shadows.iter().map(|shadow| shadow.ftl.as_str());
        let ftls: Vec<_> = std::iter::once(status.drive.ftl.as_str()).chain(shadows).collect();
        status.styles = LineStyle::of(&ftls);
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

    /// The status at the last [`sample`](Self::sample).
    pub fn latest(&self) -> Status {
        self.past().latest.clone()
    }

    /// The samples of the last quarter of an hour, oldest first.
    pub fn history(&self) -> Vec<Sample> {
        self.past().history.iter().cloned().collect()
    }

    /// The current state of every erase block.
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

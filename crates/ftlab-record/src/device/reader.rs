//! Reads the ring buffers of all processors.

use super::block_device::BlockDevice;
use super::events::Events;
use super::order::{Event, Order, bytes_of};
use super::tracefs::Instance;
use crate::RecordError;
use crate::capture::{Captured, Outlet, is_set};
use crate::summary::{DeviceComparison, SectorCounts};
use rustix::fs::OFlags;
use rustix::time::{ClockId, clock_gettime};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Interval between reads. A buffer of 8 MiB has room for 110,000 events: 5 million per second.
const PAUSE: Duration = Duration::from_millis(20);
/// An event may become readable after its time, by as long as its processor is stalled.
const HELD_BACK_NS: u64 = 200_000_000;

/// The reading end of the ring buffers.
pub(super) struct Reader {
    /// Closed before the instance, which could not be removed otherwise.
    processors: Vec<Processor>,
    instance: Arc<Instance>,
    device: BlockDevice,
    events: Events,
    order: Order,
    decoded: u64,
    before: Option<SectorCounts>,
}

struct Processor {
    directory: PathBuf,
    pipe: File,
}

impl Reader {
    /// Opens every buffer; times are counted from `start`.
    pub(super) fn new(
        instance: Arc<Instance>,
        device: BlockDevice,
        events: Events,
        start: Instant,
        before: Option<SectorCounts>,
    ) -> Result<Self, RecordError> {
        let directory = instance.path("per_cpu");
        let entries = fs::read_dir(&directory).map_err(|e| RecordError::path(&directory, e))?;
        let mut processors = Vec::new();
        for entry in entries {
            let directory = entry.map_err(|e| RecordError::path(&directory, e))?.path();
            let path = directory.join("trace_pipe_raw");
            let mut options = OpenOptions::new();
            options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
            let pipe = options.open(&path).map_err(|error| RecordError::NoTracing {
                what: format!("{} cannot be opened: {error}", path.display()),
            })?;
            processors.push(Processor { directory, pipe });
        }
        let start_ns = now_ns().saturating_sub(start.elapsed().as_nanos() as u64);
        let order = Order::new(start_ns, device.first_sector);
        Ok(Self { processors, instance, device, events, order, decoded: 0, before })
    }

    /// Reads and forwards events until `stopping` is set and the buffers are empty.
    pub(super) fn run(
        mut self,
        stopping: &AtomicBool,
        mut outlet: Outlet,
    ) -> Result<Captured, RecordError> {
        loop {
            let is_last = is_set(stopping);
            let until_ns = now_ns().saturating_sub(HELD_BACK_NS);
            self.drain()?;
            self.order.release(if is_last { u64::MAX } else { until_ns }, outlet.batch());
            if !outlet.send() || is_last {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        self.finish()
    }

    /// Reads everything available.
    fn drain(&mut self) -> Result<(), RecordError> {
        let Self { processors, events, order, decoded, .. } = self;
        let mut bytes = vec![0; events.layout.bytes()];
        for processor in processors {
            loop {
                match processor.pipe.read(&mut bytes) {
                    Ok(0) => break,
                    Ok(length) => {
                        let take = |time_ns, record: &[u8]| {
                            *decoded += 1;
                            order.add(decode(events, time_ns, record));
                        };
                        if !events.layout.records(&bytes[..length], take) {
                            return Err(RecordError::Format {
                                what: processor
                                    .directory
                                    .join("trace_pipe_raw")
                                    .display()
                                    .to_string(),
                                found: format!("{:02x?}", &bytes[..length.min(64)]),
                            });
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(RecordError::path(&processor.directory, error)),
                }
            }
        }
        Ok(())
    }

    /// Sums up, when the buffers are empty.
    fn finish(self) -> Result<Captured, RecordError> {
        let after = self.device.counted()?;
        let mut lost = 0;
        let mut read = 0;
        for processor in &self.processors {
            let path = processor.directory.join("stats");
            let text = fs::read_to_string(&path).map_err(|e| RecordError::path(&path, e))?;
            lost += lost_events(&text);
            read += statistic(&text, "read events").unwrap_or(0);
        }
        // Events that were read but not understood are lost too.
        lost += read.saturating_sub(self.decoded);
        let counted = self.before.zip(after).map(|(before, after)| SectorCounts {
            written: after.written.saturating_sub(before.written),
            discarded: after.discarded.saturating_sub(before.discarded),
        });
        let Order { sectors: recorded, reissued, .. } = self.order;
        drop(self.processors);
        drop(self.instance);
        let device = DeviceComparison { recorded, counted, reissued };
        Ok(Captured {
            lost_events: lost,
            device_bytes: bytes_of(self.device.sectors),
            warnings: warnings(lost, &device),
            device: Some(device),
            files: None,
        })
    }
}

fn decode(events: &Events, time_ns: u64, record: &[u8]) -> Option<Event> {
    if let Some(record) = events.issue.read(record) {
        return Event::issued(time_ns, &record);
    }
    let record = events.requeue?.read(record)?;
    Some(Event::requeued(time_ns, &record))
}

/// The clock of the events.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// A number of `per_cpu/*/stats`.
fn statistic(stats: &str, name: &str) -> Option<u64> {
    stats.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key == name).then(|| value.trim().parse().ok())?
    })
}

/// Events that were lost, for any reason.
fn lost_events(stats: &str) -> u64 {
    let names = ["overrun", "commit overrun", "dropped events"];
    names.iter().filter_map(|name| statistic(stats, name)).sum()
}

fn warnings(lost: u64, device: &DeviceComparison) -> Vec<String> {
    /// Tolerated deviation, as a share of the counted sectors.
    const TOLERATED: f64 = 0.01;
    let mut warnings = Vec::new();
    if lost > 0 {
        warnings.push(format!("{lost} events were lost; record again with a larger --buffer"));
    }
    match device.deviation() {
        None => warnings.push("the device does not count (queue/iostats is 0)".into()),
        Some(deviation) if deviation.abs() > TOLERATED => warnings.push(format!(
            "the trace has {:+.1}% of the sectors that the device counted as written; was another \
             user writing when recording began or ended?",
            100.0 * deviation
        )),
        Some(_) => {}
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_events_are_the_sum_of_all_ways_to_lose_them() {
        let stats = "entries: 5\noverrun: 1\ncommit overrun: 20\nbytes: 9\nnow ts: 1.5\n\
                     dropped events: 300\nread events: 4000\n";
        assert_eq!(lost_events(stats), 321);
        assert_eq!(statistic(stats, "read events"), Some(4000));
        assert_eq!(statistic(stats, "now ts"), None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let comparison = |recorded, counted| DeviceComparison {
            recorded: SectorCounts { written: recorded, discarded: 0 },
            counted: Some(SectorCounts { written: counted, discarded: 0 }),
            reissued: 0,
        };
        assert!(warnings(0, &comparison(1000, 1009)).is_empty());
        assert!(warnings(0, &comparison(1020, 1000))[0].contains("+2.0%"));
        assert!(warnings(7, &comparison(0, 0))[0].starts_with("7 events were lost"));
    }
}

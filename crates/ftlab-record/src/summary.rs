//! The summary of a recording.

use serde::Serialize;

/// Sectors of 512 bytes, by operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SectorCounts {
    /// Written, or filled with zeroes by the device.
    pub written: u64,
    /// Sectors that the host no longer needs.
    pub discarded: u64,
}

/// The recording, compared with the device's own counters in sysfs (`/sys/block/X/stat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DeviceComparison {
    /// Sectors of the recorded events.
    pub recorded: SectorCounts,
    /// The device's count over the same time; `None` if it does not count (`queue/iostats` is 0).
    pub counted: Option<SectorCounts>,
    /// Requests that the driver requeued and that were issued again; they are in the trace once.
    pub reissued: u64,
}

impl DeviceComparison {
    /// (recorded - counted) / counted, of written sectors; `None` without counters.
    pub fn deviation(&self) -> Option<f64> {
        let counted = self.counted?.written as f64;
        let difference = self.recorded.written as f64 - counted;
        Some(if difference == 0.0 { 0.0 } else { difference / counted.max(1.0) })
    }
}

/// The effect of the calls on files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FileTotals {
    /// Files below the directory at the start.
    pub files_at_start: u64,
    /// Files that were written.
    pub files_written: u64,
    /// Bytes that the calls wrote.
    pub bytes_written: u64,
}

/// A recording in numbers. Pages are of 4 KiB.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The device or directory.
    pub target: String,
    /// What was run meanwhile, with its arguments.
    pub command: Option<String>,
    /// The exit status of the command, as reported by a shell: 128 plus the signal if it was
    /// killed.
    pub exit_code: Option<u8>,
    /// Whether a signal ended it.
    pub interrupted: bool,
    /// Duration.
    pub seconds: f64,
    /// Requests in the trace.
    pub requests: u64,
    /// Page writes in the trace.
    pub page_writes: u64,
    /// Pages written at least once.
    pub distinct_pages: u64,
    /// Size of the drive.
    pub device_bytes: u64,
    /// Events that the kernel dropped.
    pub lost_events: u64,
    /// Phases and their start times, in microseconds.
    pub phases_us: Vec<(String, u64)>,
    /// The device's own counters, if a device was recorded.
    pub device: Option<DeviceComparison>,
    /// The activity on files, if a directory was recorded.
    pub files: Option<FileTotals>,
    /// Warnings: what the trace does not contain.
    pub warnings: Vec<String>,
}

//! Every request that reaches a block device.
//!
//! The kernel's trace point `block_rq_issue` (D in blktrace) reports each request when it is issued
//! to the driver; devices without a request queue (device mapper, md, zram) have `block_bio_queue`
//! instead. A filter in the kernel selects those of the device. The events go through the ring
//! buffers of our own tracing instance, one per processor, and are read from there in binary:
//! nothing is formatted as text, so that reading keeps up with any device, and no other user of
//! tracing can consume them. When a buffer is full the kernel drops the newest events and counts
//! them; the sum is part of the result.

mod block_device;
mod event_format;
mod events;
mod extents;
mod order;
mod reader;
mod ring_buffer;
mod tracefs;

use crate::RecordError;
use crate::capture::{Capture, Outlet, Stop};
use crate::streams::FileStream;
use block_device::BlockDevice;
use event_format::EventFormat;
use events::Events;
use ftlab_trace::RequestBatch;
use order::bytes_of;
use reader::Reader;
use ring_buffer::SubBuffer;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Instant;
use tracefs::Instance;

pub(crate) struct Options<'a> {
    /// Buffer for events per processor.
    pub(crate) buffer_bytes: u64,
    /// Whether to record reads.
    pub(crate) reads: bool,
    /// Whether to write back the page cache at the end.
    pub(crate) sync: bool,
    /// The streams of the files on it.
    pub(crate) streams: &'a [FileStream],
    pub(crate) out: &'a Path,
}

/// Starts recording the device at `path`; times are microseconds since `start`.
pub(crate) fn start(
    path: &Path,
    options: &Options<'_>,
    start: Instant,
    sender: Sender<RequestBatch>,
    command: &[OsString],
) -> Result<(Capture, Option<Command>), RecordError> {
    let device = BlockDevice::open(path)?;
    if !rustix::process::geteuid().is_root() {
        return Err(RecordError::NotRoot { device: path.into() });
    }
    let out_device = rustix::fs::stat(parent_of(options.out)).map_or(0, |stat| stat.st_dev);
    if device.holds(out_device) {
        return Err(RecordError::OutputOnDevice { out: options.out.into(), device: path.into() });
    }
    let sender = match options.streams {
        [] => sender,
        streams => extents::start(device.clone(), streams.to_vec(), sender)?,
    };
    let instance = Instance::new()?;
    let events = enable(&instance, &device, options)?;
    let stopping = Arc::new(AtomicBool::new(false));
    device.wait_until_idle();
    let before = device.counted()?;
    instance.write("tracing_on", "1")?;
    let instance = Arc::new(instance);
    let reader = Reader::new(instance.clone(), device.clone(), events, start, before)?;
    let thread = std::thread::spawn({
        let stopping = stopping.clone();
        move || reader.run(&stopping, Outlet::new(sender))
    });
    let mut properties = BTreeMap::from([
        ("device".to_owned(), path.display().to_string()),
        ("device_bytes".to_owned(), bytes_of(device.sectors).to_string()),
        ("source".to_owned(), format!("trace point {}, clock mono", events.name)),
    ]);
    if !options.streams.is_empty() {
        let streams: Vec<_> = options.streams.iter().map(ToString::to_string).collect();
        properties.insert("streams".to_owned(), streams.join(" "));
    }
    let stop = Box::new(StopDevice { instance, device, stopping, sync: options.sync });
    let command = command.split_first().map(|(program, arguments)| {
        let mut command = Command::new(program);
        command.args(arguments);
        command
    });
    Ok((Capture { thread, stop, properties }, command))
}

/// Sets up the instance, but does not enable it.
fn enable(
    instance: &Instance,
    device: &BlockDevice,
    options: &Options<'_>,
) -> Result<Events, RecordError> {
    instance.write("tracing_on", "0")?;
    instance.write("trace_clock", "mono")?;
    instance.write("buffer_size_kb", &options.buffer_bytes.div_ceil(1024).to_string())?;
    // Losses are at the end of a burst and counted, not silently overwritten at its beginning.
    instance.write("options/overwrite", "0")?;
    let (name, issue, requeue) = if device.is_bio_based() {
        ("block_bio_queue", "events/block/block_bio_queue", None)
    } else {
        ("block_rq_issue", "events/block/block_rq_issue", Some("events/block/block_rq_requeue"))
    };
    let filter = filter(device, options.reads);
    let event = |directory: &str| {
        instance.write(&format!("{directory}/filter"), &filter)?;
        instance.write(&format!("{directory}/enable"), "1")?;
        described(instance, &format!("{directory}/format"), EventFormat::parse)
    };
    Ok(Events {
        name,
        issue: event(issue)?,
        requeue: requeue.map(event).transpose()?,
        layout: described(instance, "events/header_page", SubBuffer::parse)?,
    })
}

fn described<T>(
    instance: &Instance,
    name: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, RecordError> {
    let text = instance.read(name)?;
    let found = text.clone();
    parse(&text).ok_or(RecordError::Format { what: name.into(), found })
}

/// The kernel's own filter of events: this device, this partition, and writes only.
fn filter(device: &BlockDevice, reads: bool) -> String {
    /// Bits of a minor number in the kernel's device numbers.
    const MINOR_BITS: u32 = 20;
    let (major, minor) = device.disk_number;
    let mut filter = format!("dev == {}", major << MINOR_BITS | minor);
    if let Some(end) = device.partition_end() {
        // A flush has no sectors and applies to the whole disk.
        let first = device.first_sector;
        let range = format!("sector >= {first} && sector < {end}");
        filter = format!("{filter} && (nr_sector == 0 || ({range}))");
    }
    if !reads {
        filter += " && !(rwbs ~ \"R*\")";
    }
    filter
}

/// The parent directory of a file.
fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

struct StopDevice {
    instance: Arc<Instance>,
    device: BlockDevice,
    stopping: Arc<AtomicBool>,
    sync: bool,
}

impl Drop for StopDevice {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Release);
    }
}

impl Stop for StopDevice {
    fn last_phase(&self) -> Option<&'static str> {
        self.sync.then_some("write-back")
    }

    fn stop(&mut self) -> Result<(), RecordError> {
        if self.sync {
            self.device.sync()?;
        }
        self.device.wait_until_idle();
        self.instance.write("tracing_on", "0")?;
        self.stopping.store(true, Ordering::Release);
        Ok(())
    }
}

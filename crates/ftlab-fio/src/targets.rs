//! The files of a job file, and where on the drive they lie.
//!
//! A device (`/dev/...`) is the drive, and two devices are two drives, of which one is taken. A single file
//! is the drive too, from its beginning. Several files lie one after the other, each from a whole mebibyte
//! on, in the order in which they are named: a file system would place them in some other way, which a job
//! file does not tell.

use super::thread::Thread;
use super::values::Amount;
use ftlab_trace::TraceError;

/// Where files begin: at multiples of this.
pub(super) const ALIGNMENT: u64 = 1 << 20;

/// A file or device.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Target {
    pub(super) name: String,
    /// Bytes, if the jobs tell.
    pub(super) bytes: Option<u64>,
}

/// All of them, in the order in which they are named.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Targets(pub(super) Vec<Target>);

/// Where a target begins and how large it is, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extent {
    pub(super) start: u64,
    pub(super) bytes: u64,
}

/// Whether a name is that of a device, by where it lies.
pub(super) fn is_device(name: &str) -> bool {
    name.starts_with("/dev/") || name.starts_with("\\\\.\\")
}

impl Targets {
    /// Those of all jobs; an error if they cannot be on one drive.
    pub(super) fn of(threads: &[Thread]) -> Result<Self, TraceError> {
        let mut targets: Vec<Target> = Vec::new();
        for thread in threads {
            let name = &thread.file;
            let known = targets.iter().position(|target| target.name == *name);
            let index = known.unwrap_or_else(|| {
                targets.push(Target { name: name.clone(), bytes: None });
                targets.len() - 1
            });
            if !is_device(name) {
                let bytes = &mut targets[index].bytes;
                *bytes = (*bytes).max(bytes_of(thread));
            }
        }
        check(&targets)?;
        Ok(Self(targets))
    }

    /// The drive that has room for all; `None` if a size is that of the drive.
    pub(super) fn bytes(&self, alignment: u64) -> Option<u64> {
        if let [target] = self.0.as_slice() {
            return target.bytes;
        }
        self.0.iter().try_fold(0_u64, |sum, target| {
            sum.checked_add(target.bytes?.checked_next_multiple_of(alignment)?)
        })
    }

    /// Where each lies on a drive of this size: from multiples of `alignment` on.
    pub(super) fn place(
        &self,
        drive_bytes: u64,
        alignment: u64,
    ) -> Result<Vec<Extent>, TraceError> {
        if let Some(bytes) = self.bytes(alignment).filter(|bytes| *bytes > drive_bytes) {
            return Err(TraceError::Unsupported {
                what: format!("jobs that need {bytes} bytes, on a drive of {drive_bytes}"),
                remedy: format!("give it at least --logical {bytes}, or leave --logical out"),
            });
        }
        let mut start = 0;
        let extents = self.0.iter().map(|target| {
            let bytes = target.bytes.unwrap_or(drive_bytes);
            let extent = Extent { start, bytes };
            let room = bytes.checked_next_multiple_of(alignment).unwrap_or(u64::MAX);
            start = start.saturating_add(room);
            extent
        });
        Ok(extents.collect())
    }

    pub(super) fn index_of(&self, name: &str) -> usize {
        self.0.iter().position(|target| target.name == name).unwrap_or(0)
    }
}

/// Refuses files that cannot be on one drive.
fn check(targets: &[Target]) -> Result<(), TraceError> {
    let Some(unknown) = targets.iter().find(|target| target.bytes.is_none()) else { return Ok(()) };
    if targets.len() == 1 {
        return Ok(());
    }
    if let Some(device) = targets.iter().find(|target| is_device(&target.name)) {
        return Err(TraceError::Unsupported {
            what: format!("jobs of {}, which are drives of their own", listed(targets)),
            remedy: format!(
                "take one with --volume {0} (fio:file=FILE,device={0}), or give all jobs the same filename=",
                device.name
            ),
        });
    }
    Err(TraceError::Unsupported {
        what: format!(
            "{} files, of which {} has no size of its own, on one drive",
            targets.len(),
            unknown.name
        ),
        remedy: "give each job its size= in bytes, or all jobs the same filename=".into(),
    })
}

/// Names that are shown at most.
const SHOWN_MAX: usize = 4;

/// The names of all, or of the first.
fn listed(targets: &[Target]) -> String {
    let names: Vec<_> = targets.iter().map(|target| target.name.as_str()).collect();
    match names.len().checked_sub(SHOWN_MAX) {
        Some(more @ 1..) => format!("{} and {more} more", names[..SHOWN_MAX].join(", ")),
        _ => names.join(" and "),
    }
}

/// The jobs of one of their files or devices, which `name` names with or without its folder.
pub(super) fn of_device(mut threads: Vec<Thread>, name: &str) -> Result<Vec<Thread>, TraceError> {
    let is_it = |thread: &Thread| {
        thread.file == name || thread.file.strip_prefix("/dev/").is_some_and(|own| own == name)
    };
    if !threads.iter().any(is_it) {
        let mut names: Vec<_> = threads.iter().map(|thread| thread.file.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        return Err(TraceError::Unsupported {
            what: format!("no job writes to {name}"),
            remedy: format!("name one of {}", names.join(", ")),
        });
    }
    threads.retain(is_it);
    Ok(threads)
}

/// How large a job makes its file; `None` if it takes what is there.
fn bytes_of(thread: &Thread) -> Option<u64> {
    let options = &thread.options;
    if options.filesize.is_some() {
        return options.filesize;
    }
    let size = options.size?;
    let Amount::Bytes(increment) = options.offset_increment else { return None };
    if options.offset_percent.is_some() {
        return None;
    }
    let offset = options.offset.checked_add(u64::from(thread.subjob).checked_mul(increment)?)?;
    offset.checked_add(size)
}

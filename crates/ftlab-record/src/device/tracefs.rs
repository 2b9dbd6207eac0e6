//! Our own instance of the kernel's tracing, undisturbed by other users of tracing.

use crate::RecordError;
use rustix::mount::{MountFlags, mount};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The usual mount point.
const MOUNT_POINT: &str = "/sys/kernel/tracing";
const PREFIX: &str = "ftlab-";

/// An instance; removed, with its buffers, when it goes out of scope.
#[derive(Debug)]
pub(super) struct Instance {
    path: PathBuf,
}

impl Instance {
    /// Creates an instance. Those of recorders that were killed are removed first, because they
    /// hold memory.
    pub(super) fn new() -> Result<Self, RecordError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let instances = tracefs()?.join("instances");
        for entry in fs::read_dir(&instances).into_iter().flatten().flatten() {
            if is_left_over(&entry.file_name().to_string_lossy()) {
                // Only to save memory; it may still be in use after all.
                let _ = fs::remove_dir(entry.path());
            }
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = instances.join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&path).map_err(|error| cannot(&path, "made", &error))?;
        Ok(Self { path })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(super) fn read(&self, name: &str) -> Result<String, RecordError> {
        let path = self.path(name);
        read_at_once(&path).map_err(|error| cannot(&path, "read", &error))
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), RecordError> {
        let path = self.path(name);
        let what = format!("set to {text:?}");
        let file = OpenOptions::new().write(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| cannot(&path, &what, &error))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // An instance that cannot be removed is left to the next recording.
        let _ = fs::remove_dir(&self.path);
    }
}

/// The content of a file; some of these files return nothing after the first read.
fn read_at_once(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut part = vec![0; 1 << 16];
    let mut bytes = Vec::new();
    loop {
        match file.read(&mut part)? {
            0 => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
            length => bytes.extend_from_slice(&part[..length]),
        }
    }
}

fn cannot(path: &Path, what: &str, error: &io::Error) -> RecordError {
    RecordError::NoTracing { what: format!("{} cannot be {what}: {error}", path.display()) }
}

/// Whether `name` is an instance of a recorder that no longer exists.
fn is_left_over(name: &str) -> bool {
    let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
    process.is_some_and(|pid| !pid.is_empty() && !Path::new("/proc").join(pid).exists())
}

/// The mount point of tracefs; mounts it at the usual place if it is not mounted.
fn tracefs() -> Result<PathBuf, RecordError> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    if let Some(path) = mount_point(&mounts) {
        return Ok(path);
    }
    let path = Path::new(MOUNT_POINT);
    mount("tracefs", path, "tracefs", MountFlags::empty(), None::<&std::ffi::CStr>)
        .map_err(|error| cannot(path, "mounted", &error.into()))?;
    Ok(path.into())
}

/// The mount point of tracefs in a list such as `/proc/self/mounts`.
fn mount_point(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (path, kind) = (fields.next()?, fields.next()?);
        (kind == "tracefs").then(|| path.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracefs_is_found_wherever_it_is_mounted() {
        let mounts = "sysfs /sys sysfs rw 0 0\ntracefs /sys/kernel/debug/tracing tracefs rw 0 0\n";
        assert_eq!(mount_point(mounts), Some("/sys/kernel/debug/tracing".into()));
        assert_eq!(mount_point("sysfs /sys sysfs rw 0 0\n"), None);
    }

    #[test]
    fn only_instances_of_recorders_that_are_gone_are_left_over() {
        assert!(!is_left_over(&format!("ftlab-{}-0", std::process::id())));
        assert!(is_left_over("ftlab-4294967295-0"));
        assert!(!is_left_over("perf-1") && !is_left_over("ftlab-"));
    }
}

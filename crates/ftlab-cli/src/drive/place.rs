//! The directory that a drive is mounted on: what it hides, and what killed processes have left there.

use crate::error::CliError;
use crate::output::say;
use rustix::fs::statfs;
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The start of the name of a directory that `ftlab drive mount` makes for itself.
pub(crate) const OWN_PREFIX: &str = "ftlab-drive-";

/// Refuses to hide what is in a directory, unless that is wanted.
pub(crate) fn require_empty(directory: &Path, may_hide: bool) -> Result<(), CliError> {
    let name = directory.display();
    let entries = fs::read_dir(directory)
        .map_err(|error| CliError::usage(format!("{name}: {error}; name an existing directory")))?;
    match entries.count() {
        0 => Ok(()),
        _ if may_hide => Ok(()),
        count => Err(CliError::usage(format!(
            "{name} is not empty: mounting would hide {count} of its files from everyone; name an \
             empty directory, or give --nonempty"
        ))),
    }
}

/// Takes down what a killed process has left mounted on a directory: its file, or a file system on top
/// of that.
pub(crate) fn clear_dead_mount(directory: &Path) {
    let mounts = mounts();
    let directory = resolved(directory);
    for Mount { point, .. } in mounts.iter().filter(|mount| mount.is_of_ftlab()) {
        let devices = loop_devices_below(point);
        let is_over =
            |mount: &&Mount| devices.iter().any(|device| Path::new(&mount.source) == device);
        let above: Vec<_> = mounts.iter().filter(is_over).map(|mount| &mount.point).collect();
        if is_dead(point) && (*point == directory || above.contains(&&directory)) {
            take_down(point, &devices, &above);
        }
    }
}

/// Unmounts from the top to the bottom, as far as the system lets us.
fn take_down(point: &Path, devices: &[PathBuf], above: &[&PathBuf]) {
    for mounted in above {
        let _ = unmount(mounted.as_path(), UnmountFlags::DETACH);
    }
    for device in devices {
        let _ = Command::new("losetup").arg("--detach").arg(device).output();
    }
    match unmount(point, UnmountFlags::DETACH) {
        Ok(()) => say(&format!("{}: removed the mount of a killed process\n", point.display())),
        Err(error) => say(&format!("{}: a dead mount is left: {error}\n", point.display())),
    }
    if point.file_name().is_some_and(|name| name.to_string_lossy().starts_with(OWN_PREFIX)) {
        let _ = fs::remove_dir(point);
    }
}

/// The path without links; that of a dead mount cannot be looked up itself.
fn resolved(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize();
    let beside = || Some(parent.ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// Whether nobody answers for it any more. Its attributes may still be known; its size never is.
fn is_dead(point: &Path) -> bool {
    statfs(point).is_err_and(|error| error == Errno::NOTCONN)
}

/// The loop devices over files in a directory.
fn loop_devices_below(directory: &Path) -> Vec<PathBuf> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let below = devices.filter(|device| {
        let file = fs::read_to_string(device.path().join("loop/backing_file"));
        file.is_ok_and(|file| Path::new(file.trim_end()).starts_with(directory))
    });
    below.map(|device| Path::new("/dev").join(device.file_name())).collect()
}

/// Whether something is mounted on a directory.
pub(crate) fn is_mounted(directory: &Path) -> bool {
    let Ok(path) = directory.canonicalize() else { return false };
    mounts().iter().any(|mount| mount.point == path)
}

/// A line of the system's table of mounts.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    source: String,
    point: PathBuf,
    kind: String,
}

impl Mount {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(' ').map(unescaped);
        let (source, point, kind) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Self { source, point: point.into(), kind })
    }

    fn is_of_ftlab(&self) -> bool {
        self.source == "ftlab" && (self.kind == "fuse" || self.kind == "fuse.ftlab")
    }
}

fn mounts() -> Vec<Mount> {
    let table = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    table.lines().filter_map(Mount::parse).collect()
}

/// Blanks, backslashes and ends of lines in names are in octal in that table.
fn unescaped(field: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(field.to_owned(), |text, (octal, letter)| text.replace(octal, letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_table_are_understood() {
        let mount = Mount::parse("ftlab /tmp/my\\040drive fuse rw,nosuid 0 0").unwrap();
        assert_eq!(mount.point, Path::new("/tmp/my drive"));
        assert!(mount.is_of_ftlab());
        assert!(!Mount::parse("/dev/loop0 /mnt ext4 rw 0 0").unwrap().is_of_ftlab());
        assert_eq!(Mount::parse(""), None);
    }
}

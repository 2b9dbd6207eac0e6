//! Devices to record, which are gone when they go out of scope.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Says why a test does nothing.
pub(crate) fn skip(why: &str) {
    // Not `eprintln!`, which is shown only if the test fails.
    std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).unwrap();
}

/// Whether every one of `programs` is here; says so if not.
pub(crate) fn have(programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories: Vec<_> = std::env::split_paths(&path).collect();
    // Debian keeps PostgreSQL's servers apart; the script of its test looks there too.
    let servers = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    directories.extend(servers.map(|version| version.path().join("bin")));
    let found = |name: &str| directories.iter().any(|directory| directory.join(name).is_file());
    let missing: Vec<_> = programs.iter().copied().filter(|name| !found(name)).collect();
    if !missing.is_empty() {
        skip(&format!("{} not installed (make setup-record)", missing.join(", ")));
    }
    missing.is_empty()
}

pub(crate) fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.starts_with("Uid:\t0\t0\t"))
}

/// What a program prints; `None` if it fails.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A block device of our own.
pub(crate) struct Device {
    pub(crate) path: PathBuf,
    kind: Kind,
}

enum Kind {
    Loop,
    Zram(String),
}

const ZRAM_CONTROL: &str = "/sys/class/zram-control";

impl Device {
    /// A loop device over a new file in `directory`; `None`, with a message, where there can be none.
    pub(crate) fn over_file(directory: &Path, mib: u64) -> Option<Self> {
        let file = directory.join("disk");
        fs::File::create(&file).unwrap().set_len(mib << 20).unwrap();
        if !is_root() {
            skip("recording a device needs root");
            return None;
        }
        let arguments =
            ["--find", "--show", "--partscan", "--direct-io=on", file.to_str().unwrap()];
        let Some(path) = output("losetup", &arguments) else {
            skip("no loop device can be made (losetup)");
            return None;
        };
        let device = Self { path: path.into(), kind: Kind::Loop };
        has_tracing().then_some(device)
    }

    /// A disk in memory, whose requests have no queue.
    pub(crate) fn in_memory(mib: u64) -> Option<Self> {
        let number = fs::read_to_string(format!("{ZRAM_CONTROL}/hot_add")).ok();
        let Some(number) = number.filter(|_| is_root()) else {
            skip("no zram device can be made");
            return None;
        };
        let number = number.trim().to_owned();
        let path = PathBuf::from(format!("/dev/zram{number}"));
        let device = Self { path, kind: Kind::Zram(number.clone()) };
        fs::write(format!("/sys/block/zram{number}/disksize"), format!("{mib}M")).unwrap();
        has_tracing().then_some(device)
    }

    pub(crate) fn name(&self) -> &str {
        self.path.to_str().unwrap()
    }

    /// Sectors written and discarded, as the kernel counts them.
    pub(crate) fn counters(&self) -> (u64, u64) {
        let name = self.path.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(format!("/sys/class/block/{name}/stat")).unwrap();
        let numbers: Vec<u64> = text.split_whitespace().map(|n| n.parse().unwrap()).collect();
        (numbers[6], numbers[13])
    }
}

/// Whether this kernel has what recording needs; says so if not.
fn has_tracing() -> bool {
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default().contains("tracefs");
    if !known {
        skip("this kernel has no tracefs");
    }
    known
}

impl Drop for Device {
    fn drop(&mut self) {
        // A script that failed may have left a file system mounted.
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        for line in mounts.lines().filter(|line| line.starts_with(&format!("{} ", self.name()))) {
            output("umount", &["--lazy", line.split(' ').nth(1).unwrap_or_default()]);
        }
        match &self.kind {
            Kind::Loop => drop(output("losetup", &["--detach", self.name()])),
            Kind::Zram(number) => drop(fs::write(format!("{ZRAM_CONTROL}/hot_remove"), number)),
        }
    }
}

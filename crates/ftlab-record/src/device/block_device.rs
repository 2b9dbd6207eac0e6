//! Information about a block device from sysfs: its size, its counters, its underlying devices.

use crate::RecordError;
use crate::summary::SectorCounts;
use rustix::fs::{FileType, Stat, fsync, major, minor, stat, syncfs};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest wait for pending requests.
const IN_FLIGHT_MAX: Duration = Duration::from_secs(2);

/// A disk or a partition.
#[derive(Debug, Clone)]
pub(super) struct BlockDevice {
    /// Its name, such as `/dev/sda1`.
    pub(super) path: PathBuf,
    /// Its directory in sysfs.
    sysfs: PathBuf,
    /// That of the whole disk, which is the same unless it is a partition.
    disk: PathBuf,
    /// (major, minor) of the whole disk, as in events.
    pub(super) disk_number: (u32, u32),
    /// Its first sector on the disk.
    pub(super) first_sector: u64,
    /// Its length in sectors.
    pub(super) sectors: u64,
}

impl BlockDevice {
    pub(super) fn open(path: &Path) -> Result<Self, RecordError> {
        let refuse = |why: String| RecordError::NotADevice { path: path.into(), why };
        let status = stat(path).map_err(|error| refuse(format!("cannot be used: {error}")))?;
        if FileType::from_raw_mode(status.st_mode) != FileType::BlockDevice {
            return Err(refuse("is not a block device".into()));
        }
        let sysfs = sysfs_of(status.st_rdev)
            .ok_or_else(|| refuse("is a device that does not exist in the kernel".into()))?;
        let is_partition = sysfs.join("partition").exists();
        let disk = sysfs.parent().filter(|_| is_partition).unwrap_or(&sysfs).to_owned();
        let number_of = |file: PathBuf| {
            let text =
                fs::read_to_string(&file).map_err(|error| RecordError::path(&file, error))?;
            let found =
                || RecordError::Format { what: file.display().to_string(), found: text.clone() };
            text.trim().parse::<u64>().map_err(|_| found())
        };
        let sectors = number_of(sysfs.join("size"))?;
        if sectors == 0 {
            return Err(refuse("has no medium: its size is 0".into()));
        }
        let disk_number = fs::read_to_string(disk.join("dev"))
            .ok()
            .and_then(|text| parse_number(text.trim()))
            .unwrap_or((major(status.st_rdev), minor(status.st_rdev)));
        let first_sector = if is_partition { number_of(sysfs.join("start"))? } else { 0 };
        Ok(Self { path: path.into(), sysfs, disk, disk_number, first_sector, sectors })
    }

    /// The sector of the disk after its last one, if it is a partition.
    pub(super) fn partition_end(&self) -> Option<u64> {
        (self.sysfs != self.disk).then_some(self.first_sector + self.sectors)
    }

    /// Whether it is bio-based (device mapper, md, zram): it has no request queue.
    pub(super) fn is_bio_based(&self) -> bool {
        !self.disk.join("mq").exists()
    }

    /// Its counters since the system started; `None` if it does not count.
    pub(super) fn counted(&self) -> Result<Option<SectorCounts>, RecordError> {
        let iostats = fs::read_to_string(self.disk.join("queue/iostats")).unwrap_or_default();
        if iostats.trim() == "0" {
            return Ok(None);
        }
        let file = self.sysfs.join("stat");
        let text = fs::read_to_string(&file).map_err(|error| RecordError::path(&file, error))?;
        let counts = parse_stat(&text);
        let damaged =
            || RecordError::Format { what: file.display().to_string(), found: text.clone() };
        counts.map(Some).ok_or_else(damaged)
    }

    /// Waits until no request is pending, for at most two seconds: another user of the device may
    /// keep it busy.
    pub(super) fn wait_until_idle(&self) {
        let start = Instant::now();
        let is_idle = || {
            let text = fs::read_to_string(self.sysfs.join("inflight")).unwrap_or_default();
            text.split_whitespace().all(|number| number == "0")
        };
        while !is_idle() && start.elapsed() < IN_FLIGHT_MAX {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Whether the file system with this device number keeps its data here.
    pub(super) fn holds(&self, device: u64) -> bool {
        sysfs_of(device).is_some_and(|sysfs| self.is_below(&sysfs, 0))
    }

    /// Whether a device is this one, a partition of it, or made of one that is.
    fn is_below(&self, sysfs: &Path, depth: u32) -> bool {
        /// Deeper than any stack of device mapper targets.
        const DEPTH_MAX: u32 = 16;
        if sysfs == self.sysfs || sysfs.parent() == Some(&self.sysfs) {
            return true;
        }
        let slaves = fs::read_dir(sysfs.join("slaves")).into_iter().flatten().flatten();
        let mut slaves = slaves.filter_map(|slave| fs::canonicalize(slave.path()).ok());
        depth < DEPTH_MAX && slaves.any(|slave| self.is_below(&slave, depth + 1))
    }

    /// Where file systems on the device, or on partitions of it, are mounted, and the sector at which each begins; those on
    /// devices that are made of it (device mapper, RAID) are left out.
    pub(super) fn file_systems(&self) -> Vec<(PathBuf, u64)> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mut known = Vec::new();
        let found = mounts.lines().filter_map(|line| {
            let number = parse_number(line.split(' ').nth(2)?)?;
            let sysfs = sysfs_of(rustix::fs::makedev(number.0, number.1))?;
            let first = if sysfs == self.sysfs {
                0
            } else if sysfs.parent() == Some(&self.sysfs) {
                fs::read_to_string(sysfs.join("start")).ok()?.trim().parse().ok()?
            } else {
                return None;
            };
            // What is mounted in several places is one file system; what is mounted from within it is not all of it.
            let is_whole = line.split(' ').nth(3) == Some("/");
            let is_new = is_whole && !known.contains(&number);
            known.extend(is_new.then_some(number));
            let path = PathBuf::from(unescaped(line.split(' ').nth(4)?));
            is_new.then_some((path, first))
        });
        found.collect()
    }

    /// Writes back the page cache of the device and of file systems on it.
    pub(super) fn sync(&self) -> Result<(), RecordError> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        for mount_point in mounts.lines().filter_map(|line| self.mount_point(line)) {
            // A file system that has been unmounted meanwhile has been written back.
            if let Ok(directory) = File::open(&mount_point) {
                syncfs(&directory).map_err(|error| RecordError::path(&mount_point, error))?;
            }
        }
        let device = File::open(&self.path).map_err(|e| RecordError::path(&self.path, e))?;
        fsync(&device).map_err(|error| RecordError::path(&self.path, error))
    }

    /// The mount point in a line of `/proc/self/mountinfo`, if the file system is on this device.
    fn mount_point(&self, line: &str) -> Option<PathBuf> {
        let path = unescaped(line.split(' ').nth(4)?);
        // The numbers of some file systems (btrfs) are not those of a device: these name it.
        let source = unescaped(line.split_once(" - ")?.1.split(' ').nth(1)?);
        let number = parse_number(line.split(' ').nth(2)?)?;
        let is_here = self.holds(rustix::fs::makedev(number.0, number.1))
            || stat(&source).is_ok_and(|source: Stat| {
                FileType::from_raw_mode(source.st_mode) == FileType::BlockDevice
                    && self.holds(source.st_rdev)
            });
        is_here.then(|| path.into())
    }
}

fn sysfs_of(device: u64) -> Option<PathBuf> {
    fs::canonicalize(format!("/sys/dev/block/{}:{}", major(device), minor(device))).ok()
}

/// `MAJOR:MINOR`.
fn parse_number(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Written and discarded sectors of `/sys/block/X/stat` (Documentation/block/stat.rst).
fn parse_stat(text: &str) -> Option<SectorCounts> {
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    // Kernels before 4.18 do not count discards.
    Some(SectorCounts { written: *numbers.get(6)?, discarded: *numbers.get(13).unwrap_or(&0) })
}

/// A path of mountinfo, where blanks are octal.
fn unescaped(path: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(path.to_owned(), |path, (escape, character)| path.replace(escape, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_are_where_the_kernel_documents_them() {
        let text = "1 2 3 4 5 6 700 8 9 10 11 12 13 1400 15 16 17\n";
        assert_eq!(parse_stat(text), Some(SectorCounts { written: 700, discarded: 1400 }));
        assert_eq!(parse_stat("1 2 3 4 5 6"), None);
    }

    #[test]
    fn what_is_no_device_is_refused() {
        for (path, why) in [("/dev/null", "is not a block device"), ("/absent", "No such file")] {
            let error = BlockDevice::open(Path::new(path)).unwrap_err();
            assert!(error.is_usage() && error.to_string().contains(why), "{error}");
        }
    }

    #[test]
    fn blanks_in_mount_points_are_octal() {
        assert_eq!(unescaped(r"/mnt/a\040b\134c"), r"/mnt/a b\c");
    }
}

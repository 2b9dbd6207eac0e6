//! Whether a file can be a drive, and its tables fit into memory: better known before it is opened.

use crate::drive::{CreateOptions, needs_replay};
use crate::media::{BackingFile, Superblock};
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::DriveConfig;
use ftlab_trace::{TraceError, check_memory};
use std::fs::{self, File};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Bytes per logical page: its place on the flash, and its checksum.
const LOGICAL_PAGE_BYTES: u64 = 8;
/// Bytes per flash page, in eighths: its owner, and a valid bit.
const FLASH_PAGE_EIGHTHS: u64 = 33;
/// Bytes per erase block: state, lists of the policy, erase counts.
const BLOCK_BYTES: u64 = 96;

const REMEDY: &str = "make it smaller (--size), or its pages larger (--page-size)";

/// Bytes of memory that a drive takes while it is open, within a tenth; FTLs with state per page take
/// more. One whose map is on flash takes as much while it is opened after a crash.
pub fn memory_bytes(config: &DriveConfig) -> u64 {
    u64::from(config.logical_pages) * LOGICAL_PAGE_BYTES
        + u64::from(config.geometry.pages()) * FLASH_PAGE_EIGHTHS / 8
        + u64::from(config.geometry.blocks()) * BLOCK_BYTES
}

/// Bytes of memory that a drive takes at most while it is open, if its map is in memory in part.
fn paged_bytes(config: &DriveConfig, mapping: &Mapping) -> u64 {
    let Ok(engine) = mapping.of_engine(*config) else { return 0 };
    u64::from(config.geometry.pages()) / 8
        + u64::from(config.geometry.blocks()) * BLOCK_BYTES
        + mapping.live_bytes(&engine)
}

fn bytes(config: &DriveConfig, mapping: &Mapping) -> u64 {
    if mapping.is_on_flash() { paged_bytes(config, mapping) } else { memory_bytes(config) }
}

/// Refuses to create a drive whose tables would not fit into memory.
pub fn check_creatable(options: &CreateOptions) -> Result<(), TraceError> {
    check_memory("this drive", bytes(&options.config, &options.mapping), REMEDY)
}

/// Refuses a path that can be no drive, such as a pipe, which would wait for a writer, and a drive
/// whose tables do not fit into memory. What is wrong with the file itself, opening it reports.
pub fn check_openable(path: &Path) -> Result<(), TraceError> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
    let kind = metadata.file_type();
    if !kind.is_file() && !kind.is_block_device() {
        return Err(TraceError::Unsupported {
            what: format!("{} is neither a regular file nor a block device", path.display()),
            remedy: "name the file of a drive, as ftlab drive create makes it".into(),
        });
    }
    let Ok(file) = File::open(path) else { return Ok(()) };
    let backing = BackingFile::new(file);
    let Ok((superblock, _)) = Superblock::read(&backing) else { return Ok(()) };
    let Superblock { config, mapping, .. } = &superblock;
    let bytes = if needs_replay(&backing, &superblock) {
        memory_bytes(config)
    } else {
        bytes(config, mapping)
    };
    let remedy = "open it on a machine with more memory, or stop other programs";
    check_memory(format!("the drive {}", path.display()), bytes, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::{Drive, OpenOptions};
    use crate::store::Store;
    use ftlab_flash::Geometry;

    fn options() -> CreateOptions {
        let config = DriveConfig::new(Geometry::new(600, 128, 4096).unwrap(), 64_000, 4);
        CreateOptions {
            ftl: "2r++".parse().unwrap(),
            config,
            mapping: ftlab_ftl::map::Mapping::FULL,
            checkpoint_every: None,
        }
    }

    #[test]
    fn the_estimate_is_close_to_what_a_drive_says_of_itself() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("drive");
        Drive::create(&path, &options()).unwrap();
        check_openable(&path).unwrap();
        let memory = Drive::open(&path, OpenOptions::default()).unwrap().snapshot().memory;
        let real = (memory.drive + memory.policy) as f64;
        let estimated = memory_bytes(&options().config) as f64;
        assert!((estimated / real - 1.0).abs() < 0.1, "{estimated} for {real}");
    }

    #[test]
    fn with_a_map_on_flash_it_is_little_and_estimated_at_least() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("drive");
        for map in [
            "dftl:cache=16KiB",
            "s-ftl:cache=16KiB",
            "cdftl:cache=16KiB",
            "tpftl:cache=16KiB,by-request=off",
        ] {
            let options = CreateOptions { mapping: map.parse().unwrap(), ..options() };
            Drive::create(&path, &options).unwrap();
            check_openable(&path).unwrap();
            let drive = Drive::open(&path, OpenOptions::default()).unwrap();
            let check = |what| {
                let memory = drive.snapshot().memory;
                let (real, all) = (memory.drive as u64, memory_bytes(&options.config));
                let estimated = paged_bytes(&options.config, &options.mapping);
                let told =
                    format!("{map}, {what}: {real} bytes, {estimated} estimated, {all} of all");
                assert!(real < estimated && 4 * real > estimated && real < all / 2, "{told}");
            };
            // As it is made ready for a file system.
            drive.trim(0, 64_000 * 4096).unwrap();
            check("trimmed");
            for number in 0..20_000 {
                drive.write(number * 7919 % 64_000 * 4096, &[1; 4096]).unwrap();
            }
            check("written");
            drop(drive);
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn what_cannot_be_a_drive_is_refused_without_waiting() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_path(), directory.path(), Path::new("/dev/zero")] {
            let error = check_openable(path).unwrap_err().to_string();
            assert!(error.contains("is neither a regular file nor a block device"), "{error}");
        }
        check_openable(&directory.path().join("absent")).unwrap();
    }
}

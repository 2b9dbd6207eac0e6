//! The drive as a file, as a block device, and under file systems. Needs root and /dev/fuse; each test
//! says what it lacks and passes without it.

use crate::programs::{have, run, skip};
use ftlab_drive::Store;
use ftlab_serve::{FuseMount, Ram};
use rustix::fs::{FallocateFlags, fallocate};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

struct Mounted {
    mount: Option<FuseMount>,
    ram: Arc<Ram>,
    directory: TempDir,
}

impl Mounted {
    /// `None`, with a message, where it cannot be.
    fn new(bytes: u64) -> Option<Self> {
        if !Path::new("/dev/fuse").exists() || !rustix::process::getuid().is_root() {
            skip("FUSE needs root and /dev/fuse here");
            return None;
        }
        let (directory, ram) = (tempfile::tempdir().unwrap(), Arc::new(Ram::new(bytes)));
        fs::create_dir(directory.path().join("fuse")).unwrap();
        let store = Arc::clone(&ram) as Arc<dyn Store>;
        let mount = FuseMount::start(&directory.path().join("fuse"), store, 2).unwrap();
        Some(Self { mount: Some(mount), ram, directory })
    }

    fn file(&self) -> &Path {
        self.mount.as_ref().unwrap().file()
    }

    fn stop(&mut self) {
        let mount = self.mount.take().unwrap();
        // A program that the other test starts has our files open until it is executed.
        eventually("is not busy", || mount.unmount().is_ok());
        mount.join();
    }
}

/// Waits until `holds`, for two minutes at most.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < end, "never {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// A loop device, which is gone when it goes out of scope.
struct LoopDevice(String);

impl LoopDevice {
    fn over(file: &Path) -> Self {
        let arguments = ["--find", "--show", "--direct-io=on", "--sector-size=4096"];
        let arguments = [&arguments[..], &[file.to_str().unwrap()]].concat();
        Self(run("losetup", &arguments).succeeds().trim().to_owned())
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // A test that failed may have left a file system mounted.
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        for line in mounts.lines().filter(|line| line.starts_with(&format!("{} ", self.0))) {
            run("umount", &["--lazy", line.split(' ').nth(1).unwrap_or_default()]);
        }
        run("losetup", &["--detach", &self.0]);
    }
}

#[test]
fn the_file_is_the_store() {
    let Some(mut mounted) = Mounted::new(1 << 20) else { return };
    let file = File::options().read(true).write(true).open(mounted.file()).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 1 << 20);
    let data: Vec<u8> = (0..50_000).map(|byte: u32| (byte % 251) as u8).collect();
    file.write_all_at(&data, 12_345).unwrap();
    let mut read = vec![0; data.len()];
    mounted.ram.read(12_345, &mut read).unwrap();
    assert_eq!(read, data);
    file.read_exact_at(&mut read, 12_345).unwrap();
    assert_eq!(read, data);
    fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 20_000, 100).unwrap();
    fallocate(&file, FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE, 30_000, 5000).unwrap();
    let mut expected = data;
    expected[20_000 - 12_345..20_100 - 12_345].fill(0);
    expected[30_000 - 12_345..35_000 - 12_345].fill(0);
    file.read_exact_at(&mut read, 12_345).unwrap();
    assert_eq!(read, expected);
    file.sync_all().unwrap();

    // What cannot be, cannot be.
    assert_eq!(file.read_at(&mut read, 1 << 20).unwrap(), 0);
    assert_eq!(file.write_at(&[1; 100], (1 << 20) - 10).unwrap(), 10);
    assert!(file.write_at(&[1], 1 << 20).is_err());
    assert!(file.set_len(5).is_err());
    assert!(fallocate(&file, FallocateFlags::COLLAPSE_RANGE, 0, 4096).is_err());
    let directory = mounted.directory.path().join("fuse");
    assert!(File::create(directory.join("other")).is_err());
    let names: Vec<_> = fs::read_dir(&directory).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["drive"]);

    // Who stops it while the file is open is told, and may come again.
    let mount = mounted.mount.as_ref().unwrap();
    assert_eq!(mount.unmount().unwrap_err().kind(), std::io::ErrorKind::ResourceBusy);
    assert!(mount.is_mounted());
    drop(file);
    mounted.stop();
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
    assert_eq!(Arc::strong_count(&mounted.ram), 1, "nobody holds the store any more");
}

#[test]
fn file_systems_live_on_a_loop_device() {
    // Pages of the file that are on the store.
    let written = |ram: &Ram| {
        let mut data = vec![0; ram.bytes() as usize];
        ram.read(0, &mut data).unwrap();
        data.chunks(4096).filter(|page| page.iter().all(|byte| *byte == 0xa5)).count()
    };
    for (mkfs, fsck) in [
        (&["mkfs.ext4", "-q"][..], &["e2fsck", "-f", "-n"][..]),
        (&["mkfs.xfs", "-q"], &["xfs_repair", "-n"]),
    ] {
        if !have(&["losetup", mkfs[0], fsck[0]]) {
            continue;
        }
        let Some(mut mounted) = Mounted::new(320 << 20) else { return };
        let device = LoopDevice::over(mounted.file());
        run(mkfs[0], &[&mkfs[1..], &[&device.0]].concat()).succeeds();
        let place = mounted.directory.path().join("place");
        fs::create_dir(&place).unwrap();
        let place = place.to_str().unwrap();
        run("mount", &["-o", "discard", &device.0, place]).succeeds();
        let file = format!("{place}/file");
        fs::write(&file, vec![0xa5; 20 << 20]).unwrap();
        run("sync", &["-f", place]).succeeds();
        assert!(written(&mounted.ram) >= 5 << 10, "the data is on the store");
        assert!(fs::read(&file).unwrap() == vec![0xa5; 20 << 20]);
        fs::remove_file(&file).unwrap();
        // What is not committed cannot be trimmed.
        run("sync", &["-f", place]).succeeds();
        run("fstrim", &[place]).succeeds();
        // Some file systems trim in the background.
        eventually("gives way when it is removed", || written(&mounted.ram) < 1 << 8);
        run("umount", &[place]).succeeds();
        run(fsck[0], &[&fsck[1..], &[&device.0]].concat()).succeeds();
        drop(device);
        mounted.stop();
    }
}

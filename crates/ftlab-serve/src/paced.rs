//! Lets front ends wait that reply as soon as an operation returns.

use ftlab_drive::latency::take_due;
use ftlab_drive::{Extent, Store};
use std::io;
use std::sync::Arc;
use std::time::Instant;

/// A store whose operations return when they would be complete: for front ends that reply as soon
/// as operations return, and have enough threads to wait.
pub struct Paced(pub Arc<dyn Store>);

impl Paced {
    fn wait<T>(&self, operation: impl FnOnce(&dyn Store) -> io::Result<T>) -> io::Result<T> {
        take_due();
        let result = operation(self.0.as_ref());
        if let Some(due) = take_due() {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
        result
    }
}

impl Store for Paced {
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn block_bytes(&self) -> u32 {
        self.0.block_bytes()
    }

    fn is_read_only(&self) -> bool {
        self.0.is_read_only()
    }

    fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        self.wait(|store| store.read(offset, data))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.wait(|store| store.write(offset, data))
    }

    fn write_stream(&self, offset: u64, data: &[u8], stream: u16) -> io::Result<()> {
        self.wait(|store| store.write_stream(offset, data, stream))
    }

    fn renew_handle(&self, handle: u16) -> io::Result<bool> {
        self.wait(|store| store.renew_handle(handle))
    }

    fn trim(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.wait(|store| store.trim(offset, bytes))
    }

    fn write_zeroes(&self, offset: u64, bytes: u64, may_trim: bool) -> io::Result<()> {
        self.wait(|store| store.write_zeroes(offset, bytes, may_trim))
    }

    fn extent(&self, offset: u64, bytes: u64) -> io::Result<Extent> {
        self.0.extent(offset, bytes)
    }

    fn flush(&self) -> io::Result<()> {
        self.wait(|store| store.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_drive::{CreateOptions, Drive, OpenOptions, Timing};
    use ftlab_flash::Geometry;
    use ftlab_ftl::page::DriveConfig;
    use std::time::Duration;

    #[test]
    fn a_paced_store_waits() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("drive");
        let config = DriveConfig::new(Geometry::new(88, 16, 4096).unwrap(), 1024, 4);
        let ftl = "1r-greedy".parse().unwrap();
        Drive::create(
            &path,
            &CreateOptions {
                ftl,
                config,
                mapping: ftlab_ftl::map::Mapping::FULL,
                checkpoint_every: None,
            },
        )
        .unwrap();
        let timing = "slc:program-us=2000,luns=4".parse().unwrap();
        let timing = Some(Timing::from_spec(&timing).unwrap());
        let drive = Drive::open(&path, OpenOptions { timing, ..OpenOptions::default() }).unwrap();
        let begin = Instant::now();
        // Sixteen pages on four LUNs.
        Paced(Arc::new(drive)).write(0, &vec![1; 16 << 12]).unwrap();
        assert!(begin.elapsed() >= Duration::from_millis(8));
    }
}

//! Which parts of a drive hold data.

use crate::drive::Drive;
use crate::store::Extent;
use ftlab_flash::Lpn;
use std::io;

/// Maximum number of pages looked up per locking.
const PAGES_AT_ONCE: u32 = 4096;

impl Drive {
    /// The part at `offset`, of at most `bytes` bytes, which are on the drive.
    pub(crate) fn extent_at(&self, offset: u64, bytes: u64) -> io::Result<Extent> {
        let page_bytes = u64::from(self.shared.page_bytes);
        let end = offset + bytes;
        let (first, last) = ((offset / page_bytes) as u32, end.div_ceil(page_bytes) as u32);
        let mut has_data = None;
        for start in (first..last).step_by(PAGES_AT_ONCE as usize) {
            let mut core = self.shared.lock();
            for lpn in start..last.min(start.saturating_add(PAGES_AT_ONCE)) {
                let is_mapped = core.find(Lpn(lpn))?.is_some();
                if *has_data.get_or_insert(is_mapped) != is_mapped {
                    let bytes = u64::from(lpn) * page_bytes - offset;
                    return Ok(Extent { bytes, has_data: !is_mapped });
                }
            }
        }
        Ok(Extent { bytes, has_data: has_data.unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use crate::drive::{CreateOptions, Drive, OpenOptions};
    use crate::store::{Extent, Store};
    use ftlab_flash::Geometry;
    use ftlab_ftl::page::DriveConfig;

    #[test]
    fn pages_that_are_written_hold_data_until_they_are_trimmed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("drive");
        let config = DriveConfig::new(Geometry::new(400, 64, 4096).unwrap(), 20_000, 4);
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
        let drive = Drive::open(&path, OpenOptions::default()).unwrap();
        let size = drive.bytes();
        let extent = |offset: u64, bytes: u64| {
            let Extent { bytes, has_data } = drive.extent(offset, bytes).unwrap();
            (bytes, has_data)
        };
        assert_eq!(extent(0, size), (size, false));
        drive.write(40_960, &[1; 8192]).unwrap();
        drive.write(10_000 * 4096, &[1; 1]).unwrap();
        assert_eq!(extent(0, size), (40_960, false));
        assert_eq!(extent(40_961, size - 40_961), (8191, true));
        assert_eq!(extent(40_961, 10), (10, true));
        assert_eq!(extent(49_152, size - 49_152), (10_000 * 4096 - 49_152, false));
        assert_eq!(extent(10_000 * 4096, size - 10_000 * 4096), (4096, true));
        drive.trim(40_960, 4096).unwrap();
        assert_eq!(extent(0, size), (45_056, false));
        drive.extent(size, 1).unwrap_err();
    }
}

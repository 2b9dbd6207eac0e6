//! Checking a drive without changing it.

use crate::drive::recovery::{self, Recovery};
use crate::drive::{Drive, lock};
use crate::media::{Backing, MediaError, Pages, Superblock};
use rustix::fs::FlockOperation;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// What a check found.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The drive.
    pub superblock: Superblock,
    /// What opening it would do.
    pub recovery: Recovery,
    /// Pages that hold something, and whose data were read.
    pub pages: u32,
    /// Everything that is wrong, in words; empty if nothing is.
    pub damage: Vec<String>,
}

/// Damaged pages that are named.
const NAMED_MAX: usize = 20;

/// Verifies every checksum, the mapping and the counters of a drive that nobody has open. Changes nothing.
pub fn check(path: &Path) -> Result<Checked, MediaError> {
    let file = File::open(path)
        .map_err(|error| MediaError::io(format!("open {}", path.display()), error))?;
    lock(&file, path, FlockOperation::NonBlockingLockShared)?;
    Drive::check_on(&(Arc::new(file) as Arc<dyn Backing>))
}

impl Drive {
    /// The same of any backing.
    pub fn check_on(backing: &Arc<dyn Backing>) -> Result<Checked, MediaError> {
        let (superblock, damaged) = Superblock::read(&**backing)?;
        let mut recovery = Recovery::default();
        let mut damage: Vec<String> = damaged.iter().map(ToString::to_string).collect();
        let repeated = recovery::repeat_all(backing, &superblock, &mut recovery)?;
        let mut loaded = repeated.loaded;
        for (slot, header) in (0..).zip(repeated.headers) {
            if let Some(header) = header.filter(|_| slot != loaded.slot)
                && let Err(error) = recovery::load(backing, &superblock, slot, header)
            {
                recovery.damage.push(format!("checkpoint {slot}: {error}"));
            }
        }
        damage.append(&mut recovery.damage);
        loaded.ftl.check()?;
        let pages = Pages { backing: &**backing, layout: &superblock.layout };
        let tracker = loaded.ftl.flash_mut().replay_mut().map(std::mem::take).unwrap_or_default();
        let sums = std::mem::take(loaded.ftl.flash_mut().checksums_vec());
        let (mut read, mut bad) = (0, Vec::new());
        for (lpn, (&flash_page, &sum)) in loaded.ftl.drive().mapping().iter().zip(&sums).enumerate()
        {
            if flash_page != u32::MAX {
                read += 1;
                if !tracker.is_there(pages, lpn as u32, flash_page, sum)? {
                    bad.push(lpn);
                }
            }
        }
        let named = bad.iter().take(NAMED_MAX);
        damage.extend(named.map(|lpn| format!("page {lpn}: its data have the wrong checksum")));
        if bad.len() > NAMED_MAX {
            damage.push(format!("and {} pages more", bad.len() - NAMED_MAX));
        }
        recovery.damaged_pages = bad.len() as u64;
        Ok(Checked { superblock, recovery, pages: read, damage })
    }
}

//! Saving what can be found on a drive that cannot be opened.

use crate::drive::check::open_shared;
use crate::drive::{CreateOptions, Drive, OpenOptions};
use crate::media::{
    Backing, MediaError, Owner, Reads, Superblock, checksum, for_each_owner, read_medium,
};
use crate::store::Store;
use ftlab_flash::{Lpn, Ppn};
use std::cmp::Reverse;
use std::path::Path;

/// What was saved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// Logical pages that were found.
    pub pages: u32,
    /// Of these, those whose newest version is damaged: they have an older one.
    pub older: Vec<Lpn>,
    /// Logical pages of which no version is undamaged.
    pub lost: Vec<Lpn>,
}

/// Makes a new drive of what can be found on an old one by reading its flash pages, without its checkpoints
/// and its journal. Changes nothing on the old one.
///
/// Every page gets the newest version that is on the medium. Pages that were trimmed may come back, and so may
/// versions that were written after the last flush; what was only in the journal is not found.
pub fn restore(from: &Path, to: &Path) -> Result<Restored, MediaError> {
    let backing = open_shared(from)?;
    let (superblock, _) = Superblock::read(&*backing)?;
    let mut found = read_owners(&*backing, &superblock);
    found.sort_unstable_by_key(|(owner, _)| (owner.lpn, Reverse(owner.sequence)));
    let options = CreateOptions {
        ftl: superblock.ftl.clone(),
        config: superblock.config,
        mapping: superblock.mapping,
        checkpoint_every: Some(superblock.checkpoint_every()),
    };
    Drive::create(to, &options)?;
    let drive = Drive::open(to, OpenOptions::default())?;
    let mut restored = Restored::default();
    let mut page = vec![0; superblock.config.geometry.page_bytes() as usize];
    let failed = |error| MediaError::io(format!("write {}", to.display()), error);
    for versions in found.chunk_by(|(one, _), (other, _)| one.lpn == other.lpn) {
        let lpn = versions[0].0.lpn;
        let mut is_there = |(owner, place): &&(Owner, Ppn)| {
            let is_right = |page: &[u8]| (checksum(lpn, page) == owner.checksum).then_some(());
            read_medium(&*backing, &mut page, superblock.layout.page(*place), is_right).is_ok()
        };
        let Some(index) = versions.iter().position(|version| is_there(&version)) else {
            restored.lost.push(lpn);
            continue;
        };
        if versions[index].0.checksum != versions[0].0.checksum {
            restored.older.push(lpn);
        }
        restored.pages += 1;
        drive.write(u64::from(lpn.0) * page.len() as u64, &page).map_err(failed)?;
    }
    drive.close().map_err(failed)?;
    Ok(restored)
}

/// The owners of all flash pages, and their places. What cannot be read is passed over.
fn read_owners(backing: &dyn Backing, superblock: &Superblock) -> Vec<(Owner, Ppn)> {
    let mut owners = Vec::new();
    for_each_owner(backing, &superblock.layout, Reads::Alike, |place, owner| {
        if owner.lpn.0 < superblock.config.logical_pages {
            owners.push((owner, place));
        }
    });
    owners
}

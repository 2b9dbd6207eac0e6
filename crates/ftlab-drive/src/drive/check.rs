//! Checking a drive without changing it.

use crate::drive::core::Core;
use crate::drive::map_pages::{wrong_map_pages, wrong_owners};
use crate::drive::opening::{Headers, How, Loaded, Recovery};
use crate::drive::recovery;
use crate::drive::replaying::load;
use crate::drive::{Drive, Snapshot, lock};
use crate::media::{Backing, BackingFile, BodyReader, MediaError, Pages, Superblock, retry_all};
use ftlab_flash::{Lpn, Ppn};
use rustix::fs::FlockOperation;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// The result of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// What says which drive it is: its UUID, size, FTL and format.
    pub superblock: Superblock,
    /// What opening the drive would do.
    pub recovery: Recovery,
    /// Pages that hold data, which was read.
    pub pages: u32,
    /// All damage, in words; empty if there is none.
    pub damage: Vec<String>,
    /// Incomplete structures that a crash may leave and that are not needed.
    pub notes: Vec<String>,
}

/// Maximum number of damaged pages to list.
const NAMED_MAX: usize = 20;

/// The counters of a drive that is not open. Changes nothing.
pub fn inspect(path: &Path) -> Result<Snapshot, MediaError> {
    let backing = open_shared(path)?;
    let (superblock, _) = Superblock::read(&*backing)?;
    let how = How { needs_all: false, ..How::AS_IT_IS };
    let repeated = recovery::repeat_all(&backing, &superblock, how, &mut Recovery::default())?;
    let Loaded { ftl, slot, checkpoint, .. } = repeated.loaded;
    Ok(Core::new(ftl, &superblock, checkpoint, slot).snapshot(true))
}

/// Opens a drive for reading, provided that no process writes to it.
pub(crate) fn open_shared(path: &Path) -> Result<Arc<dyn Backing>, MediaError> {
    let file = File::open(path)
        .map_err(|error| MediaError::io(format!("open {}", path.display()), error))?;
    lock(&file, path, FlockOperation::NonBlockingLockShared)?;
    Ok(Arc::new(BackingFile::new(file)))
}

/// Verifies every checksum, the mapping and the counters of a drive that is not open. Changes
/// nothing.
pub fn check(path: &Path) -> Result<Checked, MediaError> {
    Drive::check_on(&open_shared(path)?)
}

impl Drive {
    /// Checks the drive on any backing.
    pub fn check_on(backing: &Arc<dyn Backing>) -> Result<Checked, MediaError> {
        Self::check_with(backing, How::AS_IT_IS)
    }

    pub(super) fn check_with(backing: &Arc<dyn Backing>, how: How) -> Result<Checked, MediaError> {
        let (superblock, damaged) = Superblock::read(&**backing)?;
        let mut recovery = Recovery::default();
        let mut damage: Vec<String> = damaged.iter().map(ToString::to_string).collect();
        let repeated = recovery::repeat_all(backing, &superblock, how, &mut recovery)?;
        let mut loaded = repeated.loaded;
        let spare = spare_checkpoint(backing, &superblock, &loaded, &repeated.headers, &recovery);
        let was_closed = recovery.repeated == 0 && recovery.dropped == 0;
        let mut notes = Vec::new();
        // A crash during its write leaves it in this state.
        if was_closed { &mut damage } else { &mut notes }.extend(spare);
        damage.append(&mut recovery.damage);
        loaded.ftl.check()?;
        let pages = Pages { backing: &**backing, layout: &superblock.layout };
        let of_map = wrong_map_pages(&mut loaded, pages);
        let of_map = of_map.iter().map(|found| found.page.lpn.0 - superblock.config.logical_pages);
        let of_map = of_map.map(|page| format!("translation page {page} is not what it should be"));
        // As a crash leaves them; opening the drive writes them again.
        let as_left = if was_closed { &mut damage } else { &mut notes };
        as_left.extend(of_map);
        if superblock.is_paged() {
            let beside = wrong_owners(&mut loaded, pages);
            name_some(as_left, &beside, |wrong| {
                let lpn = wrong.expected.lpn;
                format!(
                    "what stands beside flash page {} does not tell that it holds page {lpn}",
                    wrong.place
                )
            });
        }
        let mut tracker =
            loaded.ftl.flash_mut().replay_mut().map(std::mem::take).unwrap_or_default();
        let sums = std::mem::take(loaded.ftl.flash_mut().checksums_vec());
        let slots = loaded.ftl.flash_mut().slots().clone();
        tracker.take_kept(&slots, |lpn| sums.get(lpn.index()).copied());
        let of_host = (0..superblock.config.logical_pages).map(Lpn);
        let mapping = of_host.zip(loaded.ftl.drive().mapping()).zip(&sums);
        let mapped = mapping.filter(|((_, flash_page), _)| **flash_page != u32::MAX);
        let current =
            mapped.map(|((lpn, &flash_page), &sum)| (slots.place(Ppn(flash_page)), lpn, sum));
        let mut current: Vec<_> = current.collect();
        let read = current.len() as u32;
        // In the order of the medium.
        current.sort_unstable();
        let missing = pages.without_those_there(&current);
        let missing = retry_all(pages.backing, missing, |(place, lpn, sum)| {
            tracker.is_there(pages, *lpn, *place, *sum)
        })?;
        let mut bad: Vec<Lpn> = missing.into_iter().map(|(_, lpn, _)| lpn).collect();
        bad.sort_unstable();
        name_some(&mut damage, &bad, |lpn| format!("page {lpn}: its data has the wrong checksum"));
        recovery.damaged_pages = bad.len() as u64;
        Ok(Checked { superblock, recovery, pages: read, damage, notes })
    }
}

/// Says what is wrong with these, and of many, how many more there are.
fn name_some<T>(damage: &mut Vec<String>, wrong: &[T], say: impl Fn(&T) -> String) {
    damage.extend(wrong.iter().take(NAMED_MAX).map(say));
    if wrong.len() > NAMED_MAX {
        damage.push(format!("and {} more pages", wrong.len() - NAMED_MAX));
    }
}

/// The damage of the checkpoint that was not needed.
fn spare_checkpoint(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    loaded: &Loaded,
    headers: &Headers,
    recovery: &Recovery,
) -> Option<String> {
    let slot = 1 - loaded.slot;
    let error = match headers.of(slot) {
        Err(error) => error,
        // A newer one has already been tried.
        Ok(header) if header.number > loaded.checkpoint.number => return None,
        // The FTL does not know its state either.
        Ok(header) if recovery.by_map.is_some() => {
            let is_intact = BodyReader::verify(&**backing, &superblock.layout, slot, &header);
            (!is_intact).then(|| "its checksum is wrong".to_owned())?
        }
        Ok(header) => {
            load(backing, superblock, slot, &header, true).err().map(|error| error.to_string())?
        }
    };
    Some(format!("checkpoint {slot}: {error}"))
}

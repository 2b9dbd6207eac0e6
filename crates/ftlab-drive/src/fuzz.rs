//! Entry points for fuzzers: arbitrary bytes for every structure on the medium. Nothing may panic, and everything that can be read must be written back unchanged.

use crate::drive::{CreateOptions, Drive, OpenOptions};
use crate::media::{self, Backing, PowerCut, Superblock};
use crate::store::Store;
use ftlab_flash::{Geometry, Lpn, NoPayload};
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::{Restored, registry};
use std::sync::{Arc, OnceLock};

/// A superblock with a correct checksum.
pub fn superblock(bytes: &[u8]) {
    if let Some(superblock) = Superblock::decode(bytes)
        && let Some(encoded) = superblock.encode()
    {
        // One of an older format is written in the present one.
        let again = Superblock::decode(&encoded).unwrap();
        assert_eq!(again, Superblock { format: again.format, ..superblock });
    }
}

/// The header of a checkpoint with a correct checksum.
pub fn checkpoint(bytes: &[u8]) {
    media::fuzz_checkpoint(bytes);
}

/// The journal, with correct checksums of all batches.
pub fn journal(bytes: &[u8]) {
    media::fuzz_journal(bytes);
}

/// The state of an FTL; the first byte selects the FTL.
pub fn state(bytes: &[u8]) {
    let Some((which, bytes)) = bytes.split_first() else { return };
    let names = registry::policy_names();
    let name = &names[usize::from(*which) % names.len()];
    let spec =
        if name.starts_with("oracle/") { format!("{name}:hot=0..0.1") } else { name.clone() };
    let config = options("full").config;
    let Ok(spec) = spec.parse() else { return };
    let Ok(mut ftl) = registry::build_page_mapped(&spec, config, NoPayload, ()) else { return };
    let mut archive = Restored::new(bytes);
    if ftl.transfer(&mut archive).is_ok() {
        let pages: Vec<u32> =
            archive.rest().as_chunks().0.iter().map(|page| u32::from_le_bytes(*page)).collect();
        let _ = ftl.set_mapping(Lpn(0), &pages);
    }
}

/// Drives with 64 bytes overwritten at an offset given by the first four bytes.
pub fn drive(bytes: &[u8]) {
    for image in images() {
        patched(image, bytes);
    }
}

fn patched(image: &[u8], bytes: &[u8]) {
    let Some((place, patch)) = bytes.split_at_checked(4) else { return };
    let mut image = image.to_vec();
    let place = u32::from_le_bytes([place[0], place[1], place[2], place[3]]) as usize % image.len();
    let end = image.len().min(place + patch.len().min(64));
    image[place..end].copy_from_slice(&patch[..end - place]);
    let backing: Arc<dyn Backing> = Arc::new(PowerCut::new(image));
    let checked = Drive::check_on(&backing);
    let opened = Drive::open_alone(backing, OpenOptions::default());
    assert!(checked.is_err() || opened.is_ok(), "passed the check, but could not be opened");
    let Ok(drive) = opened else { return };
    let mut page = [0; 512];
    for offset in (0..drive.bytes()).step_by(512) {
        if drive.read(offset, &mut page).is_ok() {
            assert!(page.iter().all(|&byte| byte == page[0]), "a page that was never written");
        }
    }
}

fn options(mapping: &str) -> CreateOptions {
    let geometry = Geometry::new(40, 8, 512).expect("a geometry");
    let ftl = "2r-fifo".parse().expect("an FTL");
    CreateOptions {
        ftl,
        config: DriveConfig::new(geometry, 160, 9),
        mapping: mapping.parse().expect("a map"),
        checkpoint_every: Some(300),
    }
}

/// Drives that were killed in the middle of their work: with the map in memory, and on flash. All bytes of a page are
/// equal.
fn images() -> &'static [Vec<u8>; 3] {
    static IMAGES: OnceLock<[Vec<u8>; 3]> = OnceLock::new();
    IMAGES.get_or_init(|| {
        ["full", "dftl:cache=512", "s-ftl:cache=1KiB"].map(|mapping| {
            let options = options(mapping);
            let bytes = Drive::backing_bytes(&options).expect("a size") as usize;
            let backing = Arc::new(PowerCut::new(vec![0; bytes]));
            Drive::create_on(&(Arc::clone(&backing) as _), &options).expect("a new drive");
            let drive = Drive::open_alone(Arc::clone(&backing) as _, OpenOptions::default());
            let drive = drive.expect("an open drive");
            for write in 0..1000_u64 {
                let page = write * write % 160 * 512;
                drive.write(page, &[write as u8; 512]).expect("a write");
                if write % 70 == 0 {
                    drive.flush().expect("a flush");
                }
            }
            drive.abandon();
            backing.survivor(|_| 1)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn no_bytes_are_too_strange(
            bytes in prop::collection::vec(any::<u8>(), 0..5000),
            zeros in 0..5000_usize,
        ) {
            let sparse = [&bytes[..bytes.len() / 8], &vec![0; zeros][..]].concat();
            for bytes in [bytes, sparse] {
                superblock(&bytes);
                checkpoint(&bytes);
                journal(&bytes);
                state(&bytes);
            }
        }

        #[test]
        fn no_patch_is_too_strange(place in any::<u32>(), patch in prop::collection::vec(any::<u8>(), 1..64)) {
            drive(&[&place.to_le_bytes()[..], &patch].concat());
        }
    }
}

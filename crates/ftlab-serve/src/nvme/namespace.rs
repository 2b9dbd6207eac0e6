//! Namespaces: equal parts of the drive, each with its own placement handles.

use super::layout::Status;
use std::ops::Range;

#[derive(Debug, Clone)]
pub(super) struct Namespace {
    /// NSID, from 1.
    pub(super) id: u32,
    /// Where it begins on the drive.
    start: u64,
    pub(super) bytes: u64,
    /// The size of a block, as a power of two.
    pub(super) block_shift: u8,
    /// The reclaim unit handle of each of its placement handles; none without FDP.
    pub(super) handles: Vec<u16>,
    /// NGUID and UUID.
    pub(super) uuid: [u8; 16],
}

/// The largest block: what file systems use. Drives with smaller pages have blocks of that size.
const BLOCK_BYTES_MAX: u32 = 4096;

/// Divides `bytes` of pages of `page_bytes`, and handles, among `count` namespaces. A handle belongs to one
/// namespace if there are enough of them; else several share one.
pub(super) fn divide(
    bytes: u64,
    page_bytes: u32,
    count: u32,
    handles: u16,
    uuid: [u8; 16],
) -> Vec<Namespace> {
    let pages = bytes / u64::from(page_bytes) / u64::from(count);
    let bytes = pages * u64::from(page_bytes);
    let block_shift = page_bytes.min(BLOCK_BYTES_MAX).trailing_zeros() as u8;
    let handles_of = |index: u32| match (u32::from(handles), count) {
        (0, _) => 0..0,
        (handles, count) if handles < count => index % handles..index % handles + 1,
        (handles, count) => index * handles / count..(index + 1) * handles / count,
    };
    let namespace = |index| Namespace {
        id: index + 1,
        start: u64::from(index) * bytes,
        bytes,
        block_shift,
        handles: handles_of(index).map(|handle| handle as u16).collect(),
        uuid: uuid_of(uuid, index + 1),
    };
    (0..count).map(namespace).collect()
}

/// A UUID for each namespace: that of the drive with the number in its last bytes, as one of version 8,
/// whose bits mean what their maker wants.
fn uuid_of(mut uuid: [u8; 16], id: u32) -> [u8; 16] {
    for (byte, of_id) in uuid[12..].iter_mut().zip(id.to_be_bytes()) {
        *byte ^= of_id;
    }
    uuid[6] = 0x80 | uuid[6] & 0x0f;
    uuid[8] = 0x80 | uuid[8] & 0x3f;
    uuid
}

impl Namespace {
    pub(super) fn blocks(&self) -> u64 {
        self.bytes >> self.block_shift
    }

    /// Where a range of blocks is on the drive.
    pub(super) fn range(&self, first: u64, blocks: u64) -> Result<Range<u64>, Status> {
        let end = first.checked_add(blocks).filter(|end| *end <= self.blocks());
        let end = end.ok_or(Status::BEYOND)?;
        Ok(self.start + (first << self.block_shift)..self.start + (end << self.block_shift))
    }

    pub(super) fn whole(&self) -> Range<u64> {
        self.start..self.start + self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handles(count: u32, handles: u16) -> Vec<Vec<u16>> {
        let namespaces = divide(1 << 30, 4096, count, handles, [7; 16]);
        namespaces.into_iter().map(|namespace| namespace.handles).collect()
    }

    #[test]
    fn handles_are_divided_or_shared() {
        assert_eq!(handles(1, 3), [vec![0, 1, 2]]);
        assert_eq!(handles(2, 5), [vec![0, 1], vec![2, 3, 4]]);
        assert_eq!(handles(3, 2), [vec![0], vec![1], vec![0]]);
        assert_eq!(handles(2, 0), [vec![], Vec::<u16>::new()]);
    }

    #[test]
    fn namespaces_do_not_overlap_and_have_names_of_their_own() {
        let namespaces = divide((1 << 20) + 4096, 16384, 3, 0, [7; 16]);
        let ranges: Vec<_> = namespaces.iter().map(Namespace::whole).collect();
        assert_eq!(ranges, [0..344_064, 344_064..688_128, 688_128..1_032_192]);
        assert_eq!(namespaces[0].blocks(), 84);
        assert_eq!(namespaces[1].range(83, 1), Ok(684_032..688_128));
        for beyond in [(83, 2), (84, 1), (u64::MAX, 2)] {
            assert_eq!(namespaces[1].range(beyond.0, beyond.1), Err(Status::BEYOND));
        }
        assert_ne!(namespaces[0].uuid, namespaces[1].uuid);
    }
}

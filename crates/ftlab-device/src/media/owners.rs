//! Beside the data: the logical page that each flash page holds, and when it came there.
//!
//! Nothing needs this as long as there is a checkpoint. If both are lost, the pages that can be found by
//! reading all of it are what can be saved ([`restore`](crate::drive::restore)).

use crate::media::fields::{FieldReader, FieldWriter};
use ftlab_flash::Lpn;

/// Bytes of an owner on the medium.
pub(crate) const OWNER_BYTES: usize = 16;

/// What is known of a flash page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) lpn: Lpn,
    /// Of its data.
    pub(crate) checksum: u32,
    /// Rises with every version of a logical page.
    pub(crate) sequence: u64,
}

/// The sequence of what comes to a place during an operation: versions that the host writes follow those
/// that are moved, and what is written after a recovery follows what was written before.
pub(crate) fn sequence(recoveries: u64, operations: u64, is_new: bool) -> u64 {
    recoveries << 48 | operations << 1 | u64::from(is_new)
}

impl Owner {
    pub(crate) fn encode(self) -> [u8; OWNER_BYTES] {
        let mut bytes = [0; OWNER_BYTES];
        // A page that was never written has zeros here.
        FieldWriter::new(&mut bytes).u32(self.lpn.0 + 1).u32(self.checksum).u64(self.sequence);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = FieldReader::new(bytes);
        let lpn = Lpn(fields.u32()?.checked_sub(1)?);
        Some(Self { lpn, checksum: fields.u32()?, sequence: fields.u64()? })
    }
}

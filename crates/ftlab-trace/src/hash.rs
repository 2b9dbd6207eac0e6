//! A hash of the requests of a trace.

use crate::{Op, OpenOptions, RequestBatch, TraceError, open};
use std::path::Path;
use twox_hash::XxHash3_128;

/// Bytes per request in the hashed stream: lba u64, sectors u32, op u32, little-endian.
const RECORD_BYTES: usize = 16;
const RECORDS: usize = 512;

/// Hashes requests (operation, address, length) with XXH3-128.
///
/// The result does not depend on container, compression, batch borders, times, streams or volumes;
/// the address of a flush counts as 0.
#[derive(Clone)]
pub struct RequestHasher {
    hasher: XxHash3_128,
    records: Box<[u8; RECORDS * RECORD_BYTES]>,
}

impl Default for RequestHasher {
    fn default() -> Self {
        Self { hasher: XxHash3_128::new(), records: Box::new([0; RECORDS * RECORD_BYTES]) }
    }
}

impl RequestHasher {
    /// A hasher of no requests yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the requests of a batch.
    pub fn update(&mut self, batch: &RequestBatch) {
        let columns = batch.op.chunks(RECORDS).zip(batch.lba.chunks(RECORDS));
        for ((ops, lbas), sectors) in columns.zip(batch.sectors.chunks(RECORDS)) {
            let requests = ops.iter().zip(lbas).zip(sectors);
            for (record, ((op, lba), sectors)) in
                self.records.chunks_exact_mut(RECORD_BYTES).zip(requests)
            {
                let addressed = u64::from(*op != Op::Flush);
                let tail = (u64::from(*sectors) * addressed) | ((*op as u64) << 32);
                record[..8].copy_from_slice(&(lba * addressed).to_le_bytes());
                record[8..].copy_from_slice(&tail.to_le_bytes());
            }
            self.hasher.write(&self.records[..ops.len() * RECORD_BYTES]);
        }
    }

    /// The hash of everything added, as 32 hexadecimal digits.
    pub fn finish(&self) -> String {
        format!("{:032x}", self.hasher.finish_128())
    }
}

/// Hashes the whole trace at `path`, in one streaming pass.
pub fn trace_hash(path: &Path, options: &OpenOptions) -> Result<String, TraceError> {
    let options = OpenOptions { need_time: false, ..options.clone() };
    let mut source = open(path, &options)?;
    let mut hasher = RequestHasher::new();
    let mut batch = RequestBatch::new();
    while source.next_batch(&mut batch)? {
        hasher.update(&batch);
    }
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(requests: &[(Op, u64, u32)], batch_requests: usize) -> String {
        let mut hasher = RequestHasher::new();
        for chunk in requests.chunks(batch_requests) {
            let mut batch = RequestBatch::new();
            for (op, lba, sectors) in chunk {
                batch.push(*op, *lba, *sectors);
            }
            hasher.update(&batch);
        }
        hasher.finish()
    }

    #[test]
    fn batch_borders_do_not_matter_and_every_field_does() {
        let requests: Vec<_> =
            (0..5000).map(|n| (Op::ALL[n as usize % 4], n * 17, n as u32 % 9)).collect();
        let whole = hash(&requests, 5000);
        assert_eq!(whole.len(), 32);
        for batch_requests in [1, 7, 512, 513] {
            assert_eq!(hash(&requests, batch_requests), whole, "{batch_requests}");
        }
        for change in 0..3 {
            let mut changed = requests.clone();
            let (op, lba, sectors) = &mut changed[4001];
            match change {
                0 => *op = Op::Read,
                1 => *lba += 1,
                _ => *sectors += 1,
            }
            assert_ne!(hash(&changed, 5000), whole, "{change}");
        }
    }

    #[test]
    fn a_flush_has_no_address() {
        assert_eq!(hash(&[(Op::Flush, 9, 9)], 1), hash(&[(Op::Flush, 0, 0)], 1));
    }

    #[test]
    fn the_hash_is_the_same_for_ever() {
        // Results carry it; a change of this value breaks their comparison.
        let requests = [(Op::Write, 8, 8), (Op::Flush, 0, 0), (Op::Trim, 1 << 40, u32::MAX)];
        assert_eq!(hash(&requests, 3), "bfb6c7ac6e7bced8cbf995b91b0b94fd");
        let bytes: Vec<u8> = [(8u64, 8u64), (0, 2 << 32), (1 << 40, u64::from(u32::MAX) | 1 << 32)]
            .iter()
            .flat_map(|(lba, tail)| [lba.to_le_bytes(), tail.to_le_bytes()].concat())
            .collect();
        assert_eq!(hash(&requests, 3), format!("{:032x}", XxHash3_128::oneshot(&bytes)));
    }
}

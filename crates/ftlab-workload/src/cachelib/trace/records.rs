//! libCacheSim's oracleGeneral: little-endian records of 24 bytes: time u32, object u64, bytes u32, next i64.
//!
//! # Traps
//! There are no operations: every record is a get, and what is missed is set.

use super::columns::{GET, push};
use ftlab_trace::{ItemParser, RequestBatch, Verdict};

pub(super) const BYTES: usize = 24;

/// Records of that format.
pub(super) struct Record;

impl ItemParser for Record {
    #[inline]
    fn parse(&mut self, record: &[u8], batch: &mut RequestBatch) -> Verdict {
        let u32_at = |at: usize| {
            u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
        };
        let object = u64::from(u32_at(4)) | u64::from(u32_at(8)) << 32;
        push(batch, object, u32_at(12), GET, 1);
        Verdict::Parsed
    }
}

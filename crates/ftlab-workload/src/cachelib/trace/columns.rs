//! Requests for objects in the columns of requests for sectors, which is what readers of lines and records make.
//!
//! An object is in the column of addresses, its bytes are in that of lengths, what is asked in that of streams and how often in
//! that of volumes. The operation is always a trim, the length of which has no limit.

use ftlab_trace::{Op, RequestBatch};

/// What is asked, as a number.
pub(super) const GET: u16 = 0;
pub(super) const SET: u16 = 1;
pub(super) const DELETE: u16 = 2;

/// Adds a request for an object, asked `times` times.
pub(super) fn push(batch: &mut RequestBatch, object: u64, bytes: u32, ask: u16, times: u32) {
    batch.push(Op::Trim, object, bytes);
    batch.stream.push(ask);
    batch.volume.push(times);
}

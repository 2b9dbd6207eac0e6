//! The letters with which Linux writes what a block request does, as blkparse and ftrace print them.

use super::fields::decimal;
use crate::input::Verdict;
use crate::{Op, RequestBatch};

/// Whether `text` is a device such as `8,16`.
pub(super) fn is_device(text: &[u8]) -> bool {
    let Some(comma) = memchr::memchr(b',', text) else { return false };
    [&text[..comma], &text[comma + 1..]]
        .into_iter()
        .all(|number| decimal(number).is_some_and(|number| u32::try_from(number).is_ok()))
}

/// Adds the request that `rwbs` asks for at `(sector, sectors)`, and before it the flush if `rwbs`
/// asks for one.
#[inline]
pub(super) fn push(
    rwbs: &[u8],
    time_us: u64,
    (lba, sectors): (u64, u64),
    batch: &mut RequestBatch,
) -> Verdict {
    let Ok(sectors) = u32::try_from(sectors) else {
        return Verdict::Bad("fewer than 2^32 sectors");
    };
    if lba.checked_add(u64::from(sectors)).is_none() {
        return Verdict::Bad("a sector below 2^64");
    }
    let (flush, op) = match operation(rwbs, sectors) {
        Ok(operation) => operation,
        Err(verdict) => return verdict,
    };
    if flush {
        batch.push_at(time_us, Op::Flush, 0, 0);
    }
    if let Some(op) = op {
        batch.push_at(time_us, op, lba, sectors);
    }
    Verdict::Parsed
}

/// What `rwbs` means: whether a flush comes first, and what follows it.
#[inline]
fn operation(rwbs: &[u8], sectors: u32) -> Result<(bool, Option<Op>), Verdict> {
    let (flush, rest) = match rwbs {
        [b'F', rest @ ..] => (true, rest),
        _ => (false, rwbs),
    };
    match rest.first() {
        Some(b'W') if sectors > 0 => Ok((flush, Some(Op::Write))),
        Some(b'R') if sectors > 0 => Ok((flush, Some(Op::Read))),
        Some(b'D' | b'N') if sectors > 0 => Ok((flush, Some(Op::Trim))),
        Some(b'Z') => Err(Verdict::Skip("zone operation")),
        // FF, FN, FS, and a flush that carries no data.
        Some(b'F' | b'N' | b'S' | b'W' | b'M') | None if flush => Ok((true, None)),
        Some(b'N' | b'W' | b'R' | b'D') => Err(Verdict::Skip("no data")),
        _ => Err(Verdict::Bad("an RWBS of W, R, D, N or F and further letters")),
    }
}

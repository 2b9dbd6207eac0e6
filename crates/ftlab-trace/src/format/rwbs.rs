//! The letters with which Linux writes what a block request does, as blkparse and ftrace print them.

use super::fields::decimal;
use crate::input::Verdict;
use crate::{Op, RequestBatch};
use rustc_hash::FxHashMap;

/// Requests that went back to their queue after they were issued, and how many that are alike. They are issued once more,
/// and are one request each.
#[derive(Default)]
pub(super) struct Requeued(FxHashMap<Sent, u32>);

/// A request as it was sent: volume, letters, first sector, sectors.
type Sent = (u32, u64, u64, u64);

impl Requeued {
    /// A request goes back.
    pub(super) fn add(&mut self, volume: u32, rwbs: &[u8], extent: (u64, u64)) {
        *self.0.entry(sent(volume, rwbs, extent)).or_default() += 1;
    }

    /// Whether none did.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a request is one that went back; it is issued, or complete, and is not awaited any more.
    pub(super) fn take(&mut self, volume: u32, rwbs: &[u8], extent: (u64, u64)) -> bool {
        let request = sent(volume, rwbs, extent);
        let Some(count) = self.0.get_mut(&request) else { return false };
        *count -= 1;
        if *count == 0 {
            self.0.remove(&request);
        }
        true
    }
}

fn sent(volume: u32, rwbs: &[u8], (lba, sectors): (u64, u64)) -> Sent {
    (volume, rwbs.iter().fold(0, |letters, letter| letters << 8 | u64::from(*letter)), lba, sectors)
}

/// Why a request that was issued once more is passed over.
pub(super) const AGAIN: &str = "request that was requeued, and issued again";

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

/// What a word of two letters or more means if the kernel writes it so, such as `WS`, `RA` or `FWFS`: whether a flush
/// comes first, and what follows.
#[cold]
pub(super) fn of_word(word: &[u8]) -> Option<(bool, Option<Op>)> {
    let (flush, rest) = match word {
        [b'F', rest @ ..] => (true, rest),
        _ => (false, word),
    };
    let flags = match rest {
        [b'W' | b'R' | b'D', flags @ ..] => flags,
        [b'F' | b'N'] if flush => return Some((true, None)),
        flags if flush => flags,
        _ => return None,
    };
    let is_right = word.len() > 1 && flags.iter().all(|flag| b"FASM".contains(flag));
    if is_right { operation(word, 1).ok() } else { None }
}

/// What `rwbs` means: whether a flush comes first, and what follows it.
#[inline]
pub(super) fn operation(rwbs: &[u8], sectors: u32) -> Result<(bool, Option<Op>), Verdict> {
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

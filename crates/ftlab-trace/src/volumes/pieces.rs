//! Addresses of many volumes, or of a sparse one, in one dense address space.

use crate::{Op, RequestBatch, TraceError};
use rustc_hash::FxHashMap;

/// A piece of the address space of a volume.
#[derive(PartialEq, Eq, Hash)]
struct Piece {
    volume: u32,
    index: u64,
}

/// Gives every piece that is written or read its place, in order of the first touch. 30 to 65 bytes
/// of memory per piece, as the table grows.
pub(super) struct Pieces {
    sectors: u64,
    places: FxHashMap<Piece, u32>,
}

impl Pieces {
    pub(super) fn new(sectors: u64) -> Self {
        Self { sectors, places: FxHashMap::default() }
    }

    /// Adds the requests of `from` to `to`, at their places; a request becomes several where its
    /// pieces are not adjacent. A trim of what was never touched does nothing.
    pub(super) fn place(
        &mut self,
        from: &RequestBatch,
        to: &mut RequestBatch,
    ) -> Result<(), TraceError> {
        for (index, (op, lba, sectors)) in from.iter().enumerate() {
            let volume = from.volume.get(index).copied().unwrap_or(0);
            if op == Op::Flush || sectors == 0 {
                push(to, from, index, 0, 0);
                continue;
            }
            let Some(end) = lba.checked_add(u64::from(sectors)) else {
                return Err(TraceError::AddressOverflow { lba, sectors });
            };
            // The run of adjacent pieces that has not been added yet.
            let mut run: Option<(u64, u64)> = None;
            let mut begin = lba;
            while begin < end {
                let piece = begin / self.sectors;
                let inside = begin - piece * self.sectors;
                let length = (self.sectors - inside).min(end - begin);
                begin += length;
                let place = self.find(Piece { volume, index: piece }, op)?;
                let target = place.map(|place| u64::from(place) * self.sectors + inside);
                match (run, target) {
                    (Some((start, run_end)), Some(target)) if run_end == target => {
                        run = Some((start, target + length));
                    }
                    _ => {
                        flush(run, to, from, index);
                        run = target.map(|target| (target, target + length));
                    }
                }
            }
            flush(run, to, from, index);
        }
        Ok(())
    }

    /// The place of a piece; a trim of one that has none is `None`.
    #[inline]
    fn find(&mut self, piece: Piece, op: Op) -> Result<Option<u32>, TraceError> {
        if op == Op::Trim {
            return Ok(self.places.get(&piece).copied());
        }
        let next = self.places.len();
        match u32::try_from(next) {
            Ok(next) => Ok(Some(*self.places.entry(piece).or_insert(next))),
            Err(_) => Err(TraceError::Unsupported {
                what: format!("more than {} pieces are touched", u32::MAX),
                remedy: "take larger pieces, as in --compact=1MiB".into(),
            }),
        }
    }
}

fn flush(run: Option<(u64, u64)>, to: &mut RequestBatch, from: &RequestBatch, index: usize) {
    if let Some((start, end)) = run {
        // A run is no longer than the request that it is a part of.
        push(to, from, index, start, (end - start) as u32);
    }
}

/// Adds the request at `index` with another extent, and without its volume.
fn push(to: &mut RequestBatch, from: &RequestBatch, index: usize, lba: u64, sectors: u32) {
    to.push(from.op[index], lba, sectors);
    to.time_us.extend(from.time_us.get(index));
    to.stream.extend(from.stream.get(index));
}

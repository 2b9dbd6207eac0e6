//! Addresses of many volumes, or of a sparse one, in one dense address space.

use crate::{Op, RequestBatch, TraceError};
use rustc_hash::FxHashMap;

/// Pieces that follow each other in the address space of a volume.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
struct Row {
    volume: u32,
    index: u64,
}

/// Pieces in a row: 64 bytes of places, which a processor fetches at once.
const ROW: u64 = 16;
/// Of a piece that was never touched.
const NO_PLACE: u32 = u32::MAX;

/// Gives every piece that is written or read its place, in order of the first touch. 5 to 7 bytes of
/// memory per piece where pieces are adjacent, 90 to 120 where each is alone in its row.
pub(super) struct Pieces {
    sectors: u64,
    /// Which of `places` a row has.
    rows: FxHashMap<Row, u32>,
    places: Vec<[u32; ROW as usize]>,
    /// How many pieces have a place.
    touched: u32,
}

impl Pieces {
    pub(super) fn new(sectors: u64) -> Self {
        Self { sectors, rows: FxHashMap::default(), places: Vec::new(), touched: 0 }
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
                let place = self.find(volume, piece, op)?;
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
    fn find(&mut self, volume: u32, piece: u64, op: Op) -> Result<Option<u32>, TraceError> {
        let (row, inside) = (Row { volume, index: piece / ROW }, (piece % ROW) as usize);
        let number = self.rows.get(&row).copied();
        let place = number.map_or(NO_PLACE, |number| self.places[number as usize][inside]);
        if place != NO_PLACE {
            Ok(Some(place))
        } else if op == Op::Trim {
            Ok(None)
        } else {
            self.touch(row, inside).map(Some)
        }
    }

    /// Gives a piece the next place.
    #[cold]
    fn touch(&mut self, row: Row, inside: usize) -> Result<u32, TraceError> {
        let place = self.touched;
        if place == NO_PLACE {
            return Err(TraceError::Unsupported {
                what: format!("more than {NO_PLACE} pieces are touched"),
                remedy: "take larger pieces, as in --compact=1MiB".into(),
            });
        }
        // There are no more rows than pieces.
        let number = *self.rows.entry(row).or_insert(self.places.len() as u32) as usize;
        if number == self.places.len() {
            self.places.push([NO_PLACE; ROW as usize]);
        }
        self.places[number][inside] = place;
        self.touched += 1;
        Ok(place)
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

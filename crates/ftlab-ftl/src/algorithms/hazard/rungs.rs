//! Classes of update rates.

use crate::page::entry::DriveShape;
use crate::stream::{Stream, StreamId};

/// The most rungs that there can be.
pub(super) const RUNGS_MAX: usize = 16;

const NAMES: [&str; RUNGS_MAX] = [
    "rung 0", "rung 1", "rung 2", "rung 3", "rung 4", "rung 5", "rung 6", "rung 7", "rung 8",
    "rung 9", "rung 10", "rung 11", "rung 12", "rung 13", "rung 14", "rung 15",
];

/// Octaves of lifetimes that the rungs cover between them.
const OCTAVES: f64 = 11.0;

/// Lifetimes from short to long, evenly spaced in their logarithms, and first writes.
pub(super) struct Rungs {
    count: usize,
    /// Stream -> the lifetime that it stands for, in host writes; first writes after the rungs.
    lifetimes: [f32; RUNGS_MAX + 1],
    /// Rung -> the lifetime at which the next one begins; infinite for the last.
    ends: [f32; RUNGS_MAX],
}

impl Rungs {
    /// `count` of them, or as many as the spare blocks allow.
    pub(super) fn new(count: u32, shape: DriveShape) -> Self {
        let count = if count == 0 { (shape.spare_blocks() / 3).clamp(2, 8) } else { count };
        let spacing = (OCTAVES / f64::from(count)).max(1.0);
        let logical_pages = f64::from(shape.logical_pages);
        let lifetime = |rung: f64| (logical_pages / 128.0 * (spacing * rung).exp2()) as f32;
        let mut lifetimes = [logical_pages as f32; RUNGS_MAX + 1];
        let mut ends = [f32::INFINITY; RUNGS_MAX];
        for rung in 0..count {
            lifetimes[rung as usize] = lifetime(f64::from(rung) + 0.5);
            if rung + 1 < count {
                ends[rung as usize] = lifetime(f64::from(rung) + 1.0);
            }
        }
        Self { count: count as usize, lifetimes, ends }
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn streams(&self) -> Vec<Stream> {
        let rungs = NAMES.iter().take(self.count).enumerate();
        let rungs = rungs.map(|(rung, &name)| Stream {
            name,
            takes_relocations: true,
            cold: rung + 1 == self.count,
        });
        let first_writes = Stream { name: "first writes", takes_relocations: false, cold: false };
        rungs.chain([first_writes]).collect()
    }

    /// The stream of pages that are written for the first time.
    #[inline]
    pub(super) fn first_writes(&self) -> StreamId {
        StreamId(self.count as u8)
    }

    /// The lifetime that a stream stands for, in host writes.
    #[inline]
    pub(super) fn lifetime(&self, stream: StreamId) -> f32 {
        self.lifetimes[stream.index()]
    }

    /// The rung of a lifetime.
    #[inline]
    pub(super) fn rung_of(&self, lifetime: f32) -> StreamId {
        StreamId(self.ends.iter().map(|&end| u8::from(lifetime >= end)).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rungs_are_evenly_spaced_in_octaves() {
        let shape = DriveShape {
            blocks: 576,
            pages_per_block: 128,
            logical_pages: 65_536,
            reserve_blocks: 4,
        };
        let rungs = Rungs::new(0, shape);
        assert_eq!((rungs.count, rungs.streams().len()), (8, 9));
        let spacing = 11.0 / 8.0;
        for rung in 0..8_u8 {
            let middle = 512.0 * (spacing * (f32::from(rung) + 0.5)).exp2();
            assert!((rungs.lifetime(StreamId(rung)) / middle - 1.0).abs() < 1e-5);
            assert_eq!(rungs.rung_of(middle), StreamId(rung));
        }
        assert_eq!((rungs.rung_of(1.0), rungs.rung_of(1e12)), (StreamId(0), StreamId(7)));
        assert!((rungs.lifetime(rungs.first_writes()) - 65_536.0).abs() < 0.5);
        let small = DriveShape { blocks: 520, ..shape };
        assert_eq!(Rungs::new(0, small).count, 2);
    }
}

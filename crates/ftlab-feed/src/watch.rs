//! Where a workload writes.

use ftlab_analysis::{HeatMap, HeatMapCounter, Skew, WriteCounts};
use ftlab_flash::Lpn;

/// Counts page writes as they are decoded.
#[derive(Debug)]
pub struct WorkloadWatch {
    heat_map: HeatMapCounter,
    /// Of each logical page; stops at 2^32 - 1.
    writes: Vec<u32>,
    index: u64,
}

impl WorkloadWatch {
    /// Bytes per logical page.
    pub const PAGE_BYTES: u64 = 4;

    /// On a drive of `logical_pages`.
    pub fn new(logical_pages: u32) -> Self {
        let writes = vec![0; logical_pages as usize];
        Self { heat_map: HeatMapCounter::default(), writes, index: 0 }
    }

    /// Adds the next writes.
    pub fn add(&mut self, writes: &[Lpn]) {
        for lpn in writes {
            self.heat_map.add(u64::from(lpn.0), self.index);
            self.index += 1;
            let count = &mut self.writes[lpn.index()];
            *count = count.saturating_add(1);
        }
    }

    /// Page writes by address and time, and how unequally they are spread over the pages written at all.
    pub fn finish(self) -> (HeatMap, Skew) {
        let counts = WriteCounts::of_pages(self.writes.into_iter().filter(|writes| *writes > 0));
        (self.heat_map.map(), counts.skew())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_counted_by_page_and_by_time_however_they_come() {
        let pages: Vec<_> =
            (0..1000).map(|write| Lpn(if write % 4 == 0 { write } else { 7 })).collect();
        let watch = |sizes: usize| {
            let mut watch = WorkloadWatch::new(1000);
            pages.chunks(sizes).for_each(|part| watch.add(part));
            watch.finish()
        };
        let seen = watch(1000);
        assert_eq!(seen, watch(7));
        // 250 pages once each, and page 7 750 times.
        assert!((seen.1.top_1_percent - 751.0 / 1000.0).abs() < 1e-12, "{:?}", seen.1);
        assert_eq!(seen.0.columns.iter().flatten().sum::<u64>(), 1000);
        assert_eq!(seen.0.rows, 125);
        assert_eq!(WorkloadWatch::new(5).finish(), (HeatMap::default(), Skew::default()));
    }
}

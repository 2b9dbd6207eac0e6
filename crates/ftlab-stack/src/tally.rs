//! What an FTL and its host have counted.

use crate::watch::Watch;
use ftlab_flash::Cause;
use ftlab_ftl::page::Refreshed;
use ftlab_ftl::{Counters, MapCounts, SlcCounts};

/// Counts of an FTL and its host; the difference of two gives those of a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// Pages that the host has written. Some never came to the FTL, or have not yet: they were written or trimmed again
    /// in the write buffer, or are still there, or wait for a learned map.
    pub host_pages: u64,
    /// What the FTL has counted.
    pub counters: Counters,
    /// What was rewritten because it was read too often or too old.
    pub refreshed: Refreshed,
    /// What happened in its SLC cache; nothing if it has none.
    pub slc: SlcCounts,
    /// What happened to its map; nothing if it is in memory.
    pub map: MapCounts,
}

impl Tally {
    /// What has been counted since `earlier`, a tally of the same FTL. Time was not [measured](crate::AnyFtl::measure)
    /// from another moment on in between.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            host_pages: self.host_pages - earlier.host_pages,
            counters: self.counters.since(&earlier.counters),
            refreshed: self.refreshed.since(earlier.refreshed),
            slc: self.slc.since(&earlier.slc),
            map: self.map.since(&earlier.map),
        }
    }

    /// Flash pages programmed for a cause, if `seen` has watched the same span. A drive that becomes read-only may count
    /// pages of its last block that it could not move.
    pub fn programs_for(&self, cause: Cause, seen: &Watch) -> u64 {
        match cause {
            Cause::Host => self.counters.host_writes,
            Cause::Merge => self.counters.merges.copies,
            Cause::Fold => self.slc.folds,
            Cause::Map => self.map.writes(),
            Cause::Rewrite => self.map.rewrites,
            Cause::Wear | Cause::Refresh | Cause::Retire => seen.valid_pages_for(cause),
            Cause::Move => {
                let others = [Cause::Fold, Cause::Wear, Cause::Refresh, Cause::Retire];
                let moved = others.map(|cause| self.programs_for(cause, seen)).iter().sum();
                self.counters.relocations().saturating_sub(moved)
            }
        }
    }

    /// Erases for a cause, if `seen` has watched the same span.
    pub fn erases_for(&self, cause: Cause, seen: &Watch) -> u64 {
        match cause {
            Cause::Fold => self.slc.erases,
            _ => seen.erases_for(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::workload;
    use ftlab_flash::{Counted, Faults, Faulty, Flash, Geometry, NoPayload};
    use ftlab_ftl::map::Mapping;
    use ftlab_ftl::page::{DriveConfig, Refresh, WearLeveling};
    use ftlab_ftl::registry::{DriveShape, DynFtl, boxed_policy, build_boxed, build_mapped};

    const LOGICAL_PAGES: u32 = 1024;

    type Causes = [[u64; 2]; Cause::ALL.len()];

    /// Programs and erases by cause, which are those that the flash counts.
    fn counted<F: Flash + Send + 'static>(name: &str, config: DriveConfig, flash: F) -> Causes {
        let (watch, flash) = (Watch::new(128, 16), Counted::new(flash));
        count(name, build_boxed(&name.parse().unwrap(), config, flash, watch).unwrap())
    }

    fn count<F: Flash + Send + 'static>(name: &str, mut ftl: DynFtl<Counted<F>, Watch>) -> Causes {
        ftl.apply(&workload(LOGICAL_PAGES, Some(50))).unwrap();
        let counters = ftl.counters();
        let (host_pages, slc) = (counters.host_writes, SlcCounts::default());
        let map = ftl.map_counts().unwrap_or_default();
        let tally = Tally { host_pages, counters, refreshed: ftl.refreshed(), slc, map };
        Cause::ALL.map(|cause| {
            let (of, seen) = (ftl.flash().of(cause), ftl.observer());
            let counted = [tally.programs_for(cause, seen), tally.erases_for(cause, seen)];
            assert_eq!(counted, [of.programs + of.copies, of.erases], "{name}, {cause:?}");
            counted
        })
    }

    #[test]
    fn every_full_merge_of_fast_empties_a_log_block() {
        let geometry = Geometry::new(128, 16, 4096).unwrap();
        let drive = DriveConfig::new(geometry, LOGICAL_PAGES, 6);
        let spec = "fast:sw=off".parse().unwrap();
        let mut ftl = build_boxed(&spec, drive, NoPayload, Watch::new(128, 16)).unwrap();
        ftl.apply(&workload(LOGICAL_PAGES, Some(50))).unwrap();
        let (counters, merged) = (ftl.counters(), ftl.observer().merged());
        let merges: u64 = (0..).zip(merged).map(|(data_blocks, number)| data_blocks * number).sum();
        let log_blocks: u64 = merged.iter().sum();
        assert_eq!((log_blocks, merges), (counters.collections, counters.merges.full));
        assert!(merged.iter().skip(1).all(|number| *number > 0) && merged.len() > 2, "{merged:?}");
    }

    #[test]
    fn counts_by_cause_are_those_of_the_flash() {
        let geometry = Geometry::new(128, 16, 4096).unwrap();
        let drive = DriveConfig::new(geometry, LOGICAL_PAGES, 6);
        let levelled = DriveConfig {
            refresh: Refresh { age_writes: 3000, ..Refresh::default() },
            wear: WearLeveling { threshold: 3, ..drive.wear },
            ..drive
        };
        let steps = DriveConfig { gc: "incremental".parse().unwrap(), ..levelled };
        let faults = Faults { programs: 5e-4, erases: 1e-3, ..Faults::default() };
        let mut all = Vec::new();
        for name in ["1r-greedy", "2r++", "sep-gc/cost-benefit"] {
            all.extend([levelled, steps].map(|config| counted(name, config, NoPayload)));
            all.push(counted(name, levelled, Faulty::new(NoPayload, &geometry, faults)));
        }
        let hybrids = ["fmax", "bast", "fast", "kast", "last", "faster"];
        all.extend(hybrids.map(|name| counted(name, drive, NoPayload)));
        let spec = "2r++".parse().unwrap();
        for (text, config) in [
            ("dftl:cache=4KiB,entry-bytes=32", levelled),
            ("leaftl:cache=8KiB,gamma=4,buffer=64", levelled),
            ("learnedftl:cache=8KiB", levelled),
            ("iu:size=16KiB", drive),
        ] {
            let mapping: Mapping = text.parse().unwrap();
            let engine = mapping.of_engine(config).unwrap();
            let policy = boxed_policy(&spec, DriveShape::new(&engine)).unwrap();
            let (watch, flash) = (Watch::new(128, 16), Counted::new(NoPayload));
            let mapped = build_mapped(&mapping, policy, &spec, config, flash, watch).unwrap();
            all.push(count(text, mapped));
        }
        for cause in Cause::ALL.into_iter().filter(|cause| *cause != Cause::Fold) {
            let programs: u64 = all.iter().map(|causes| causes[cause as usize][0]).sum();
            assert!(programs > 0, "no page was programmed: {cause:?}");
        }
    }
}

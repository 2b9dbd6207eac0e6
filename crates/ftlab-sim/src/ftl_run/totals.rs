//! What came of what the host brought.

use ftlab_stack::Tally;
use ftlab_trace::pages::SECTOR_BYTES;

/// Declares counts that only grow, and what has been counted since an earlier moment.
macro_rules! totals {
    ($(#[$meta:meta])* struct $name:ident { $($(#[$doc:meta])* $count:ident,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default)]
        pub(super) struct $name {
            $($(#[$doc])* pub(super) $count: u64,)+
        }

        impl $name {
            pub(super) fn since(self, earlier: Self) -> Self {
                Self { $($count: self.$count - earlier.$count,)+ }
            }
        }
    };
}

totals! {
    /// Counts since counting began.
    struct Totals {
        host_writes,
        /// Sectors of these pages that the host did not send.
        lacking,
        /// Of these, pages that came to the FTL: the others were rewritten or trimmed in the write buffer, or are
        /// still there.
        host_programs,
        /// Pages of the host that do not wait in the map to be programmed in order; some waited when counting began.
        taken,
        relocations,
        merge_copies,
        /// Translation pages written, and pages of units that the host wrote in part.
        map_writes,
        erases,
        refreshed,
        folds,
    }
}

impl Totals {
    /// Those of a tally since counting began, when `waited` pages waited in the map; the host did not send `lacking`
    /// sectors. An erase of the FTL is one of `unit_blocks` erase blocks.
    pub(super) fn new(tally: &Tally, waited: u64, lacking: u64, unit_blocks: u32) -> Self {
        let Tally { host_pages, counters, refreshed, slc, map } = tally;
        Self {
            host_writes: *host_pages,
            lacking,
            host_programs: counters.host_writes,
            taken: host_pages + waited - map.waiting,
            relocations: counters.relocations(),
            merge_copies: counters.merges.copies,
            map_writes: map.writes() + map.rewrites,
            erases: counters.erases() * u64::from(unit_blocks),
            refreshed: refreshed.pages,
            folds: slc.folds,
        }
    }

    /// Flash pages programmed.
    pub(super) fn programs(self) -> u64 {
        self.host_programs + self.relocations + self.merge_copies + self.map_writes
    }

    /// Flash pages programmed per page that the host wrote.
    pub(super) fn waf(self) -> f64 {
        self.programs() as f64 / self.host_writes as f64
    }

    /// The same of a part of a run. A page counts when it leaves the map in which it waits, with what that costs: else a
    /// part has pages without their programs, or the other way round.
    pub(super) fn waf_of_part(self) -> f64 {
        if self.taken == 0 { self.waf() } else { self.programs() as f64 / self.taken as f64 }
    }

    /// Bytes that the host sent.
    pub(super) fn host_bytes(self, page_bytes: u32) -> u64 {
        (self.host_writes * u64::from(page_bytes)).saturating_sub(self.lacking * SECTOR_BYTES)
    }

    /// Bytes of flash pages programmed per byte that the host sent.
    pub(super) fn media_bytes_per_host_byte(self, page_bytes: u32) -> f64 {
        if self.lacking == 0 {
            return self.waf();
        }
        let media_bytes = self.programs() as f64 * f64::from(page_bytes);
        media_bytes / self.host_bytes(page_bytes) as f64
    }
}

//! `2r-fifo`: two regions, oldest victims first, full blocks passed over.
//!
//! # Idea
//! Greedy victims make 2R-Greedy take young blocks and call their pages cold too early. FIFO gives
//! every page of the normal region time to be rewritten, and blocks that are still full more of it.
//!
//! # Rule
//! Every host write goes to the normal region, every relocated page to the cold region. All blocks
//! stand in one list in order of allocation. A collection scans it from `cur_scan` on, round the
//! oldest `scan-depth` of it; the first block under `blk-util` decides the region, and more blocks
//! under `blk-util` of that region follow until their invalid pages make up a block.
//!
//! # Parameters
//! `victims` fifo-scan, the rule above; `victims.rs` has the others, to compare with 2R++ under equal
//! rules. Of the scan: `blk-util` 0.5 (section 4.3.2), `scan-depth` 0.8 (figure 6), `fallback` raise (our
//! reading). `adapt-depth` off: our own, sets `scan-depth` online (`depth.rs`).
//!
//! # Where the paper is silent
//! What happens when a whole sweep finds no block under `blk-util`, which is normal on a full drive
//! (mean utilisation 0.9 at an over-provisioning of 10%). The default raises the threshold by 5% at
//! a time; the other choices of `fallback` are there to compare. In all of them, the emptiest block
//! of the whole list is taken if nothing else is found. A sweep that finds some blocks but not
//! enough is accepted, and the next collection follows. The open cold block is carried over from one
//! collection to the next.
//!
//! # Reference
//! Kang et al., "2R: Efficiently Isolating Cold Pages in Flash Storages", PVLDB 13(11), 2020,
//! section 4.3.

use crate::Metadata;
use crate::algorithms::two_r::regions::Regions;
use crate::algorithms::two_r::victims::{RegionVictims, VictimParameters, keep_region_victims};
use crate::page::DriveState;
use crate::page::entry::{DriveShape, PolicyEntry};
use crate::page::policy::{HostWrite, Policy, Relocation, Victims};
use crate::state::state;
use crate::stream::{Stream, StreamId};

const NORMAL: StreamId = StreamId(0);

/// Streams and regions: normal and cold; the valid pages of both are cold.
pub(super) const REGIONS: Regions = Regions { of_stream: [0, 1, 1], relocated_to: [1, 1, 1] };

/// Two regions with scanned FIFO victims.
pub struct TwoRFifo {
    victims: RegionVictims,
}

state!(TwoRFifo { victims });

impl PolicyEntry for TwoRFifo {
    type Parameters = VictimParameters;
    const NAME: &'static str = "2r-fifo";
    const SUMMARY: &'static str =
        "two regions; relocated pages are cold; oldest blocks under a threshold";
    const SOURCE: &'static str = "2R (PVLDB 2020), section 4.3";

    fn new(parameters: &VictimParameters, shape: DriveShape) -> Self {
        Self { victims: RegionVictims::new(parameters, REGIONS, shape) }
    }
}

impl Policy for TwoRFifo {
    fn streams(&self) -> Vec<Stream> {
        vec![
            Stream { name: "normal", takes_relocations: false, cold: false },
            Stream { name: "cold", takes_relocations: true, cold: true },
        ]
    }

    fn follows_pages(&self) -> bool {
        false
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, _drive: &DriveState) -> StreamId {
        self.victims.on_host_write(write.lpn);
        NORMAL
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, _drive: &DriveState) -> StreamId {
        REGIONS.relocated_to(page.from)
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        self.victims.select(drive, victims);
    }

    fn metadata(&self) -> Metadata {
        // The region, and what the victims need.
        Metadata::per_block(1) + self.victims.metadata()
    }

    keep_region_victims!();
}

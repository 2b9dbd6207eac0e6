//! `fdp-freq`: groups in a fixed order, each taken to be twice as hot as the next colder one.
//!
//! # Idea
//! Pages of like update frequency share groups of blocks, and the hotter a group is, the more spare
//! space it gets. How hot a group is, is not measured but follows from its place in the order: when
//! the workload changes, pages have to move to where they belong. Wolf's rival in its evaluation.
//!
//! # Rule
//! Group i + 1 is taken to be hit twice as often per page as group i; over-provisioned space is divided
//! by the numeric optimum for these frequencies and the present sizes. Within a group the oldest block
//! is collected. A block moves only between neighbouring groups: the group that asks for a block, or a
//! neighbour, gives it, whichever is farthest above its target. A page moves to the next hotter group
//! when the host writes it and to the next colder one when it is relocated, as the detector says.
//!
//! ```text
//! place_host, place_relocation: as those of wolf                               (grouped.rs)
//!
//! end_interval, every L / 1000 host writes, L being the logical pages:
//!     the hottest group has a block of pages or more, there are fewer than `groups-max`, and none was
//!         created for 50 intervals: an empty group above it
//!     host write `swap-at` has passed, once: detector.swap, shares `swap` change groups
//!     the frequency of the group at place i is size x 2^i, the coldest being at place 0
//!     allocator.apply:                                                          (allocation.rs)
//!         optimum: the price at which the OP of all groups (pages_at) sums up to the total;
//!             there a page more is worth the same to every group
//!
//! select_victims = groups.select:                                               (surplus.rs)
//!     for the group that needs a block, the next colder and the next hotter one (may_give), if it
//!             has a victim (the oldest block with an invalid page):
//!         surplus = pages of its blocks - size - OP; a block more for the group that needs one
//!     the victim of the group with the largest surplus
//!     no victim: groups.emptiest, the block with the fewest valid pages of all groups
//! ```
//!
//! # Parameters
//! `groups` 4, of which there may come to be `groups-max`; auto, the default, is no more than `groups`.
//! `allocation` optimum, or `closed-form`, as for the green line of figure 10, or `sqrt`. `detector` bloom,
//! as in wolf; with `oracle` the groups are `oracle`, shares of the address space, and `hottest` says
//! which end of the space is hot; where these are not given, the
//! generator tells, and the groups are taken to be in order. `swap-at`: after that host write the shares
//! `swap` change places: the oracle knows that their frequencies were swapped. `cleaning` fifo.
//!
//! # Where the paper is silent
//! Wolf's paper sketches this rival in a few lines; Stoica and Ailamaki's own paper was not at hand. Its groups
//! grow in number, since none is merged and a new one needs no skew (5.2): with `groups-max` a group is
//! created as in Wolf, but whatever the hit rates. That reaches any limit, and the paper names none, so by
//! default the number is fixed. Targets are worked out again every thousandth of the
//! logical pages. A full block of valid pages is passed over in favour of the next oldest, since a
//! collection has to gain something. If neither the asking group nor a neighbour has an invalid page
//! to give, the block with the fewest valid pages of all is collected.
//!
//! No reading gives what the paper shows after a swap of frequencies, 152% of the drive in extra
//! relocations and then equilibrium; docs/notes/reproduction.md lists what was tried.
//!
//! # Reference
//! Dayan, Bouganim, Bonnet, "Modelling and Managing SSD Write-amplification", 2015, sections 2.2, 5.3
//! and 6, after Stoica and Ailamaki, "Improving Flash Write Performance by Using Update Frequency",
//! PVLDB 6(9), 2013.

use crate::algorithms::groups::allocation::{Allocation, Allocator, VeryCold};
use crate::algorithms::groups::detector::{AddressShares, Detector, DetectorChoice, SharePair};
use crate::algorithms::groups::group::{GROUPS_MAX, Groups};
use crate::algorithms::groups::grouped::{GroupRule, Grouped};
use crate::algorithms::groups::surplus::Cleaning;
use crate::page::DriveState;
use crate::page::entry::{DriveShape, FitContext, OracleGroup, PolicyEntry};
use crate::state::state;
use ftlab_spec::{OrAuto, SpecError};

/// Targets are worked out once per this many logical pages.
const INTERVALS: u32 = 1000;

/// Intervals between the creation of one group and of the next: Wolf's w.
const SETTLE: u32 = 50;

ftlab_spec::choices! {
    /// An end of the address space.
    pub enum End {
        /// Low page numbers.
        First = "first",
        /// High page numbers.
        Last = "last",
        /// The hotter end of the generator's groups; last where they are not known.
        Auto = "auto",
    }
}

ftlab_spec::parameters! {
    pub struct FdpFreqParameters {
        /// How many groups there are, unless the detector is an oracle.
        groups: u32 = 4, "groups" in 2..=GROUPS_MAX as u32, from "our reading: the paper is silent";
        /// How many there may come to be; auto: no more.
        groups_max: OrAuto<u32> = OrAuto::Auto, "groups-max", from "our reading: they grow, Wolf (2015), section 5.2";
        /// How over-provisioned space is divided among groups.
        allocation: Allocation = Allocation::Optimum, "allocation", from "Wolf (2015), section 6.2";
        /// How the temperature of a page is found out.
        detector: DetectorChoice = DetectorChoice::Bloom, "detector", from "Wolf (2015), section 5.6";
        /// With detector=oracle: the groups, as shares of the address space; auto: the generator's.
        oracle: OrAuto<AddressShares> = OrAuto::Auto, "oracle", from "Wolf (2015), section 6.1";
        /// With detector=oracle: which of these shares is hottest.
        hottest: End = End::Auto, "hottest", from "our reading: the paper is silent";
        /// With detector=oracle: the host write, fill included, after which two shares change places
        /// in the order of temperature; 0 is never.
        swap_at: u64 = 0, "swap-at", from "Wolf (2015), section 6.1";
        /// Which shares do; a number beyond the last means the last.
        swap: SharePair = SharePair(0, GROUPS_MAX - 1), "swap", from "Wolf (2015), section 6.1";
        /// Which block of a group is collected.
        cleaning: Cleaning = Cleaning::Fifo, "cleaning", from "Wolf (2015), section 2.2";
    }
}

/// Groups in a fixed order.
pub type FdpFreq = Grouped<FdpFreqRule>;

/// What frequency-based data placement does at the end of an interval.
pub struct FdpFreqRule {
    allocator: Allocator,
    /// How many groups there may be, and the pages that the hottest has to have for another.
    groups_max: usize,
    pages_min: u32,
    /// Intervals until there may be another.
    hold: u32,
    /// The write after which the oracle lets two shares change places, if that is to come.
    swap_at: Option<u64>,
    swap: SharePair,
}

state!(FdpFreqRule { allocator, hold, swap_at } constant groups_max, pages_min, swap);

impl PolicyEntry for FdpFreq {
    type Parameters = FdpFreqParameters;
    const NAME: &'static str = "fdp-freq";
    const SUMMARY: &'static str =
        "groups in a fixed order, each taken to be twice as hot as the next";
    const SOURCE: &'static str = "Wolf (2015), section 6, after Stoica and Ailamaki (PVLDB 2013)";

    fn fit(parameters: &mut FdpFreqParameters, context: &FitContext) -> Result<(), SpecError> {
        if parameters.detector == DetectorChoice::Oracle && parameters.hottest == End::Auto {
            let heat = |group: Option<&OracleGroup>| group.map_or(0.0, OracleGroup::heat);
            let first_is_hotter = heat(context.oracle.first()) > heat(context.oracle.last());
            parameters.hottest = if first_is_hotter { End::First } else { End::Last };
        }
        if let OrAuto::Given(most) = parameters.groups_max
            && !(parameters.groups..=GROUPS_MAX as u32).contains(&most)
        {
            let expects = format!("a number from groups, {}, to {GROUPS_MAX}", parameters.groups);
            return Err(context.refuse("groups-max", &most, expects));
        }
        parameters.detector.fit(&mut parameters.oracle, context)
    }

    fn new(parameters: &FdpFreqParameters, shape: DriveShape) -> Self {
        let known = parameters.detector.groups(&parameters.oracle);
        let count = known.map_or(parameters.groups as usize, AddressShares::count);
        let groups_max = match (known, parameters.groups_max) {
            (None, OrAuto::Given(most)) => most as usize,
            _ => count,
        };
        let mut detector = Detector::new(known, groups_max, shape.logical_pages);
        if parameters.hottest == End::First {
            detector.reverse();
        }
        Self::from_parts(
            Groups::new(shape, groups_max, count, 1),
            detector,
            parameters.cleaning,
            shape.logical_pages.div_ceil(INTERVALS),
            FdpFreqRule {
                allocator: Allocator::new(parameters.allocation, VeryCold::Off),
                groups_max,
                pages_min: shape.pages_per_block,
                hold: SETTLE,
                swap_at: (parameters.swap_at > 0).then_some(parameters.swap_at),
                swap: parameters.swap,
            },
        )
    }
}

impl FdpFreqRule {
    /// An empty group above the hottest, if that is large enough and there may be another.
    fn grow(&mut self, groups: &mut Groups, detector: &mut Detector, drive: &DriveState) {
        self.hold = self.hold.saturating_sub(1);
        let count = groups.order().len();
        if count < self.groups_max
            && self.hold == 0
            && groups.get(groups.order()[count - 1]).size() >= self.pages_min
            && let Some(created) = groups.create(count, drive)
        {
            detector.reset(created);
            self.hold = SETTLE;
        }
    }
}

impl GroupRule for FdpFreqRule {
    fn end_interval(&mut self, groups: &mut Groups, detector: &mut Detector, drive: &DriveState) {
        if self.swap_at.is_some_and(|write| drive.write_clock() >= write) {
            detector.swap(self.swap);
            self.swap_at = None;
        }
        self.grow(groups, detector, drive);
        self.allocator.apply(groups, drive, |place, groups| {
            // Twice the hits per page at each place.
            f64::from(groups.get(groups.order()[place]).size()) * f64::from(1_u32 << place)
        });
    }

    fn may_give(groups: &Groups, group: u8, requester: u8) -> bool {
        [groups.colder(requester), requester, groups.hotter(requester)].contains(&group)
    }
}

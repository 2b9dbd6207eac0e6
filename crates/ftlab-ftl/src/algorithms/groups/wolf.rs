//! `wolf`: groups of pages by measured update frequency, and over-provisioned space that follows it.
//!
//! # Idea
//! Pages that are hit alike share groups of blocks. How much spare space a group is worth depends on
//! its size and on its share of the writes. Both are measured all the time, so that when the workload
//! changes, spare space moves between groups instead of pages.
//!
//! # Rule
//! Host writes and relocated pages of a group share its open blocks. Every interval the share of the
//! writes that each group took enters a running average, the groups are ordered by hit rate (share of
//! writes per page), and each gets a target: its size and half the over-provisioned space in
//! proportion to its size, half in proportion to its share of writes. When a block is needed, the
//! group farthest above its target gives one, that with the fewest valid pages. With `movement=interval`
//! groups with a block too many also give it up when none is needed, after each interval and each erase,
//! and it is kept for the group with the largest deficit.
//!
//! Two Bloom filters per group, the older one dropped after as many writes as the group has pages,
//! tell temperature: a host write to a page that is in both moves the page to the next hotter group,
//! a relocated page that is in neither to the next colder one. The first write goes to the coldest.
//!
//! A new hottest group comes into being when the hottest has at least F pages and is Q times as hot
//! as the next; a group between two whose hit rates differ by more than 2 Q; each keeps its place for
//! w intervals. Groups with fewer than F pages, and neighbours alike for w intervals, are merged.
//!
//! ```text
//! place_host(page):                                                      (grouped.rs)
//!     `interval` host writes since the last time: end_interval
//!     detector.host: the group that holds the page; the next hotter one if both filters of the
//!         group have the page; the coldest if it held no data            (detector.rs)
//!     the page enters the active filter of the group where it goes
//!     groups.place_host: counts the write; what merged groups left open is filled first, then the
//!         `units` streams of the group in turn                           (group.rs)
//!
//! place_relocation(page):
//!     detector.relocation: the victim's group; the next colder one if neither filter has the page
//!     groups.place_relocation: the stream as above; if it has no room and one free block is left,
//!         any stream with room
//!
//! end_interval:                                                          (life.rs, membership.rs)
//!     of each group: frequency += weight x (its share of the interval's writes - frequency)
//!     sort: by hit_rate = frequency / size; new groups stay where they are for w intervals
//!     merge: groups of fewer than F pages, each into the neighbour of the nearer hit rate;
//!         of two that were alike for w intervals, the smaller into the larger; two groups stay
//!     create_between: a group between two if the upper is more than 2 Q times as hot
//!     create_hottest: a group above the hottest, if that has F pages and is Q times as hot as the
//!         next; once in w intervals
//!     allocator.apply:                                                   (allocation.rs)
//!         total = the pages of all groups' blocks that are not valid, less borrowed blocks
//!         closed_form: OP = total x (size / sum of sizes + frequency / sum of frequencies) / 2
//!         special_case: a very cold group has a fixed OP; closed_form divides the rest
//!
//! select_victims = groups.select:                                        (surplus.rs)
//!     for each group that has a victim (a block with an invalid page; the fewest valid pages):
//!         surplus = pages of its blocks - size - OP; a block more for the group that needs one
//!     the victim of the group with the largest surplus
//!
//! select_wanted, with movement=interval: groups.select_movement:         (movement.rs)
//!     after an interval and after an erase, while every free block is kept for a group:
//!         giver, taker = the groups with the largest surplus and the largest deficit
//!         end if the surplus is less than a block, or there is no deficit
//!         a free block kept for the giver is kept for the taker from now on; or, if there is none,
//!             a victim of the giver is collected, and the block that it frees is kept for the taker
//! ```
//!
//! # Parameters
//! `interval` 0.001 of the logical pages, `q` 2, `w` 50, F = `units` blocks: section 5.2. `weight`
//! 0.03. `detector` bloom; with `oracle` the groups are `oracle`, shares of the address space, and stay;
//! they are the generator's own if none are given.
//! `allocation` closed-form, or `optimum` (numeric), or `sqrt` (root of size times frequency; ours).
//! `cleaning` greedy. `units` 1 open blocks per group, filled in turn; `groups-max` 10.
//!
//! `movement` need, which departs from section 5.3: there, groups with a surplus give blocks up after every
//! interval and every erase, as greedily as possible (`interval`). With the closed form alone (`very-cold=off`),
//! with the optimal division, or with an oracle and the very cold group as printed, both cost the same. With
//! filters and a very cold group the paper's way costs 3 to 16%: pages come back to that group from
//! hotter ones, and it gets no block beyond its fixed share (docs/notes/reproduction.md). In either a block that a host write needed is that write's, whichever group has
//! the largest deficit: handing it on would collect another, and ever more free blocks would wait.
//!
//! # Where the paper is silent
//! Equations 4, 7 and 8 are misprinted; OP_x = (s_x V + p_x OP) / 2 is meant. So is the weight of the
//! running average, "3 h": the default of 0.03 is fitted to figure 6, where the printed 0.003 has eleven times
//! the extra copies. A coldest group hit less than 5% as often
//! as the next gets a fixed 5% of the smallest group's size as spare space: of its own by default
//! (`very-cold`), since with a small hot and a large cold group the printed rule starves the cold one
//! (7.0 instead of 2.2 where 90% of the writes go to 10% of the pages); with an oracle, `off` is better
//! still (docs/notes/reproduction.md). Only host writes enter the filters and end their intervals. "Alike" means hit
//! rates within a factor of the root of Q. A merged group's open block is filled by the group that
//! took it over. `units` are streams. By default victims come from the whole group; with `victims-per-lun`
//! from the LUN that is shortest of free blocks, as section 5.7 says, if the group has a victim there, and
//! a stream opens blocks of its LUN if one is free. `wear-levelling` is section 5.8, which gives neither
//! threshold nor pace: the hotter half of the groups is hot, a block is exceptionally young if its erases
//! are that far below the mean, and one is freed per interval. The reserve is not part of the spare space
//! that is divided, whether or not blocks of it are borrowed. When one free block is left, a relocated page goes to any open block
//! with room rather than open it. The number of groups has to have a limit.
//!
//! # Reference
//! Dayan, Bouganim, Bonnet, "Modelling and Managing SSD Write-amplification", 2015, section 5.

use crate::algorithms::groups::allocation::{Allocation, Allocator, VeryCold};
use crate::algorithms::groups::detector::{AddressShares, Detector, DetectorChoice};
use crate::algorithms::groups::group::{GROUPS_MAX, Groups, UNITS_MAX};
use crate::algorithms::groups::grouped::{GroupRule, Grouped};
use crate::algorithms::groups::life::Life;
use crate::algorithms::groups::movement::Movement;
use crate::algorithms::groups::surplus::Cleaning;
use crate::page::DriveState;
use crate::page::entry::{DriveShape, FitContext, PolicyEntry};
use crate::state::state;
use ftlab_spec::{OrAuto, SpecError};

ftlab_spec::parameters! {
    pub struct WolfParameters {
        /// How the temperature of a page is found out.
        detector: DetectorChoice = DetectorChoice::Bloom, "detector", from "Wolf (2015), section 5.6";
        /// With detector=oracle: the groups, as shares of the address space; auto: the generator's.
        oracle: OrAuto<AddressShares> = OrAuto::Auto, "oracle", from "Wolf (2015), section 6.1";
        /// How over-provisioned space is divided among groups.
        allocation: Allocation = Allocation::ClosedForm, "allocation", from "Wolf (2015), section 5.5.3";
        /// With allocation=closed-form: of which group's size a very cold group gets 5% as spare space.
        very_cold: VeryCold = VeryCold::Own, "very-cold", from "our reading of Wolf (2015), section 5.5.3";
        /// When a group with a surplus of blocks gives one up.
        movement: Movement = Movement::Need, "movement", from "measured; interval in Wolf (2015), section 5.3";
        /// Which block of a group is collected.
        cleaning: Cleaning = Cleaning::Greedy, "cleaning", from "Wolf (2015), section 5.4";
        /// Host writes in an interval, per logical page.
        interval: f64 = 0.001, "interval" in 0.000_001..=1.0, from "Wolf (2015), section 5.1";
        /// Weight of an interval in the running average.
        weight: f64 = 0.03, "weight" in 0.0..=1.0, from "fitted to Wolf (2015), figure 6; 0.003 as printed";
        /// How much hotter than the next a group must be to count as different.
        q: f64 = 2.0, "q" in 1.0..=1000.0, from "Wolf (2015), section 5.2";
        /// Intervals that new groups are given to settle.
        w: u32 = 50, "w" in 0..=1_000_000, from "Wolf (2015), section 5.2";
        /// Open blocks of a group: LUNs that it writes to in turn.
        units: u32 = 1, "units" in 1..=UNITS_MAX as u32, from "one unit; 8 in Wolf (2015), table 2";
        /// Whether the blocks that a group has on a LUN are opened and cleaned by themselves: LUN i of
        /// `units` has every block whose number leaves i.
        victims_per_lun: bool = false, "victims-per-lun", from "true in Wolf (2015), section 5.7";
        /// Erases below the mean at which a block of the coldest group is collected for the hot ones; with
        /// any but 0, hot groups open the least worn free block, cold ones the most worn one.
        wear_levelling: u32 = 0, "wear-levelling", from "our reading of Wolf (2015), section 5.8; 0 is off";
        /// The most groups there can be.
        groups_max: u32 = 10, "groups-max" in 2..=GROUPS_MAX as u32, from "our reading: the paper saw 7 to 9";
    }
}

/// Groups with measured sizes and update frequencies.
pub type Wolf = Grouped<WolfRule>;

/// What Wolf does at the end of an interval.
pub struct WolfRule {
    life: Life,
    allocator: Allocator,
}

state!(WolfRule { life, allocator });

impl PolicyEntry for Wolf {
    type Parameters = WolfParameters;
    const NAME: &'static str = "wolf";
    const SUMMARY: &'static str =
        "groups by measured update frequency; spare space moves to where it is worth most";
    const SOURCE: &'static str = "Wolf (2015), section 5";

    fn fit(parameters: &mut WolfParameters, context: &FitContext) -> Result<(), SpecError> {
        parameters.detector.fit(&mut parameters.oracle, context)
    }

    fn new(parameters: &WolfParameters, shape: DriveShape) -> Self {
        let known = parameters.detector.groups(&parameters.oracle);
        let (slots, active) = known
            .map_or((parameters.groups_max as usize, 2), |shares| (shares.count(), shares.count()));
        let interval =
            (parameters.interval * f64::from(shape.logical_pages)).round().max(1.0) as u32;
        let life = Life {
            weight: parameters.weight,
            interval,
            pages_min: shape.pages_per_block * parameters.units,
            ratio: parameters.q,
            settle: parameters.w,
            changes: known.is_none(),
            hold: 0,
        };
        Self::from_parts(
            Groups::new(shape, slots, active, parameters.units as usize)
                .with_movement(parameters.movement)
                .with_choice_of_blocks(parameters.victims_per_lun, parameters.wear_levelling),
            Detector::new(known, slots, shape.logical_pages),
            parameters.cleaning,
            interval,
            WolfRule {
                life,
                allocator: Allocator::new(parameters.allocation, parameters.very_cold),
            },
        )
    }
}

impl GroupRule for WolfRule {
    fn end_interval(&mut self, groups: &mut Groups, detector: &mut Detector, drive: &DriveState) {
        self.life.end_interval(groups, detector, drive);
        self.allocator
            .apply(groups, drive, |place, groups| groups.get(groups.order()[place]).frequency);
    }

    fn may_give(_groups: &Groups, _group: u8, _asking: u8) -> bool {
        true
    }
}

//! The end of an interval: statistics, the order of groups, their creation and merging.

use crate::algorithms::groups::detector::Detector;
use crate::algorithms::groups::group::Groups;
use crate::page::DriveState;
use crate::state::state;

/// When groups come and go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Life {
    /// Weight of an interval in the running average.
    pub(super) weight: f64,
    /// h: host writes in an interval.
    pub(super) interval: u32,
    /// F: pages below which a group is too small.
    pub(super) pages_min: u32,
    /// Q: how much hotter a group must be than the next to count as different.
    pub(super) ratio: f64,
    /// w: intervals that a new group is given, and that two groups must have been alike.
    pub(super) settle: u32,
    /// False if groups are given: they are ordered, but stay as they are.
    pub(super) changes: bool,
    /// Intervals until there may be another hottest group.
    pub(super) hold: u32,
}

state!(Life { hold } constant weight, interval, pages_min, ratio, settle, changes);

impl Life {
    /// Takes the counts of an interval into account.
    pub(super) fn end_interval(
        &mut self,
        groups: &mut Groups,
        detector: &mut Detector,
        drive: &DriveState,
    ) {
        for place in 0..groups.order().len() {
            let group = groups.get_mut(groups.order()[place]);
            let share = f64::from(group.interval_writes) / f64::from(self.interval);
            group.frequency += self.weight * (share - group.frequency);
            group.interval_writes = 0;
            group.pinned = group.pinned.saturating_sub(1);
        }
        sort(groups);
        if self.changes {
            self.hold = self.hold.saturating_sub(1);
            self.merge(groups, drive);
            self.create_between(groups, detector, drive);
            self.create_hottest(groups, detector, drive);
        }
    }

    /// Merges groups that have become too small, or have been alike for long.
    fn merge(&self, groups: &mut Groups, drive: &DriveState) {
        let mut place = 0;
        while place < groups.order().len() && groups.order().len() > 2 {
            let group = groups.get(groups.order()[place]);
            if group.pinned == 0 && group.size() < self.pages_min {
                groups.merge(place, nearer_neighbour(groups, place), drive);
            } else if place > 0 && self.alike(groups, place) {
                let larger_below = groups.get(groups.order()[place - 1]).size()
                    >= groups.get(groups.order()[place]).size();
                let (gone, kept) =
                    if larger_below { (place, place - 1) } else { (place - 1, place) };
                groups.merge(gone, kept, drive);
            } else {
                place += 1;
            }
        }
    }

    /// Counts for how long the group at `place` and the next colder one have been alike.
    fn alike(&self, groups: &mut Groups, place: usize) -> bool {
        let (below, group) = (groups.order()[place - 1], groups.order()[place]);
        let settled = groups.get(below).pinned == 0 && groups.get(group).pinned == 0;
        let near = groups.get(group).hit_rate() < self.ratio.sqrt() * groups.get(below).hit_rate();
        let group = groups.get_mut(group);
        if !settled || !near || group.below != below {
            group.converged = 0;
            group.below = below;
        }
        group.converged += u32::from(settled && near);
        group.converged > self.settle
    }

    /// An empty group between two whose hit rates are far apart.
    fn create_between(&self, groups: &mut Groups, detector: &mut Detector, drive: &DriveState) {
        for place in (1..groups.order().len()).rev() {
            let (below, above) =
                (groups.get(groups.order()[place - 1]), groups.get(groups.order()[place]));
            let settled = below.pinned == 0 && above.pinned == 0;
            if settled
                && below.hit_rate() > 0.0
                && above.hit_rate() > 2.0 * self.ratio * below.hit_rate()
            {
                self.create(place, groups, detector, drive);
            }
        }
    }

    /// An empty group above the hottest, if that is large enough and much hotter than the next.
    fn create_hottest(&mut self, groups: &mut Groups, detector: &mut Detector, drive: &DriveState) {
        let [.., second, hottest] = *groups.order() else { return };
        let (second, hottest) = (groups.get(second), groups.get(hottest));
        if self.hold == 0
            && hottest.size() >= self.pages_min
            && hottest.hit_rate() > 0.0
            && hottest.hit_rate() >= self.ratio * second.hit_rate()
            && self.create(groups.order().len(), groups, detector, drive)
        {
            self.hold = self.settle;
        }
    }

    fn create(
        &self,
        place: usize,
        groups: &mut Groups,
        detector: &mut Detector,
        drive: &DriveState,
    ) -> bool {
        let Some(created) = groups.create(place, drive) else { return false };
        groups.get_mut(created).pinned = self.settle;
        detector.reset(created);
        true
    }
}

/// Orders groups by hit rate; pinned ones keep their places.
fn sort(groups: &mut Groups) {
    let count = groups.order().len();
    let free = |groups: &Groups, place: usize| groups.get(groups.order()[place]).pinned == 0;
    for end in 1..count {
        let mut place = end;
        while free(groups, place)
            && let Some(before) = (0..place).rev().find(|&before| free(groups, before))
            && groups.get(groups.order()[before]).hit_rate()
                > groups.get(groups.order()[place]).hit_rate()
        {
            groups.change_order(|order| order.swap(before, place));
            place = before;
        }
    }
}

/// The place next to `place` whose hit rate is nearer.
fn nearer_neighbour(groups: &Groups, place: usize) -> usize {
    let rate = |place: usize| groups.get(groups.order()[place]).hit_rate();
    if place == 0 {
        1
    } else if place + 1 < groups.order().len()
        && rate(place + 1) - rate(place) < rate(place) - rate(place - 1)
    {
        place + 1
    } else {
        place - 1
    }
}

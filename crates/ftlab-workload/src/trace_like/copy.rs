//! A repetition of the trace in a part of the drive.

use super::past::Like;
use super::survey::{NONE, Survey, Unit};
use ftlab_random::draw_below;
use ftlab_trace::{Op, RequestBatch};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Where the pages of the trace are in this copy.
#[derive(Debug, Clone)]
pub(super) struct Copy {
    /// First page of the copy's part of the drive.
    base: u64,
    /// The first page of each unit, counted from `base`; [`NONE`] if the copy is without it.
    places: Vec<u32>,
    /// Whether it has all units: then the pages that are never written are where they were, too.
    is_whole: bool,
    /// Requests that it is behind the reader of the trace.
    pub(super) lag: u64,
}

impl Copy {
    /// All units, where they are.
    pub(super) fn whole(survey: &Survey, base: u64, lag: u64) -> Self {
        let places = survey.units.iter().map(|unit| unit.first).collect();
        Self { base, places, is_whole: true, lag }
    }

    /// A sample of the units, packed into `pages` pages: of as many in a row as there are to one that
    /// is kept, some are drawn, so that each part of the trace's drive is represented.
    pub(super) fn sample(
        survey: &Survey,
        base: u64,
        pages: u64,
        lag: u64,
        random: &mut Xoshiro256PlusPlus,
    ) -> Self {
        let share = pages as f64 / survey.drive_pages as f64;
        let row = (1.0 / share).ceil() as usize;
        let mut places = Vec::with_capacity(survey.units.len());
        let (mut owed, mut next) = (0.0, 0);
        for units in survey.units.chunks(row) {
            owed += share * units.len() as f64;
            for (index, unit) in units.iter().enumerate() {
                let left = (units.len() - index) as u64;
                let wanted = owed as u64;
                let is_kept = wanted > 0 && draw_below(random, left) < wanted;
                let fits = u64::from(next) + u64::from(unit.pages) <= pages;
                if is_kept {
                    owed -= 1.0;
                }
                places.push(if is_kept && fits { next } else { NONE });
                next += if is_kept && fits { unit.pages } else { 0 };
            }
        }
        Self { base, places, is_whole: false, lag }
    }

    /// Exchanges the places of units that have been alike so far.
    pub(super) fn exchange(&mut self, alike: &[Like], random: &mut Xoshiro256PlusPlus) {
        for same in alike.chunk_by(|one, other| one.class == other.class) {
            // Fisher and Yates, over the units that this copy has.
            let units = same.iter().map(|like| like.unit as usize);
            let mut kept: Vec<usize> = units.filter(|&unit| self.places[unit] != NONE).collect();
            while let Some(last) = kept.len().checked_sub(1) {
                let other = draw_below(random, kept.len() as u64) as usize;
                self.places.swap(kept[last], kept[other]);
                kept.swap_remove(other);
            }
        }
    }

    /// The page of the drive that `page` of the trace is in this copy.
    #[inline]
    fn page(&self, survey: &Survey, page: u64) -> Option<u64> {
        let unit = survey.unit_of.get(page as usize).copied().unwrap_or(NONE);
        if unit == NONE {
            let is_there = self.is_whole && page < survey.drive_pages;
            return is_there.then_some(self.base + page);
        }
        let place = self.places[unit as usize];
        let Unit { first, .. } = survey.units[unit as usize];
        (place != NONE).then(|| self.base + u64::from(place) + page - u64::from(first))
    }

    /// Puts the requests into `out` that this request of the trace is in this copy: one for each run of
    /// pages that still lie next to each other.
    #[inline]
    pub(super) fn repeat(
        &self,
        survey: &Survey,
        page_sectors: u64,
        (op, lba, sectors): (Op, u64, u32),
        out: &mut RequestBatch,
    ) {
        if sectors == 0 {
            out.push(op, 0, 0);
            return;
        }
        let end = lba + u64::from(sectors);
        let (mut first, mut after) = (0, 0);
        for page in lba / page_sectors..=(end - 1) / page_sectors {
            let Some(target) = self.page(survey, page) else { continue };
            let start = page * page_sectors;
            let place = target * page_sectors;
            let from = place + lba.saturating_sub(start);
            if from != after {
                push(op, first, after, out);
                first = from;
            }
            after = place + page_sectors.min(end - start);
        }
        push(op, first, after, out);
    }
}

#[inline]
fn push(op: Op, first: u64, after: u64, out: &mut RequestBatch) {
    if after > first {
        out.push(op, first, (after - first) as u32);
    }
}

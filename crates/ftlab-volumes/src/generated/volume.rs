//! A volume that is made up: how large it is, how often it writes, and where.

use super::published::{END_GIB, FOOTPRINT_GIB, READS_PER_WRITE, WRITES_PER_PAGE, at};
use ftlab_random::{Permutation, Rejection, draw_below, draw_share};
use ftlab_trace::Op;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Bytes of a page, and sectors.
const PAGE_BYTES: f64 = 4096.0;
const PAGE_SECTORS: u64 = 8;

/// Pages that lie together: 1 MiB.
const EXTENT_PAGES: u64 = 256;

/// Pages that are hot or cold together.
const GRAIN_PAGES: u64 = 16;

/// How a volume writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Small writes, some pages much more often than others, as most volumes.
    General,
    /// Small writes after Zipf, and a log that is written in a circle.
    Database,
    /// A log alone, which is written in a circle.
    Log,
    /// Large writes from the beginning to the end, again and again.
    Sequential,
    /// Hardly any.
    Idle,
}

/// Shares of the kinds: our choice, since nobody publishes them.
const KINDS: [(Kind, f64); 5] = [
    (Kind::General, 0.45),
    (Kind::Database, 0.25),
    (Kind::Log, 0.1),
    (Kind::Sequential, 0.1),
    (Kind::Idle, 0.1),
];

/// Pages of a small request, and the share of each length: our choice, so that three quarters have 16 KiB at most, as
/// Li et al. (IISWC 2020) found.
const LENGTHS: [(u64, f64); 5] = [(1, 0.55), (2, 0.12), (4, 0.13), (8, 0.12), (16, 0.08)];

/// The share of a database that is its log.
const LOG_SHARE: f64 = 0.1;

/// Spread of how often volumes write, as the standard deviation of a logarithm: our choice.
const WRITES_SIGMA: f64 = 1.2;

/// A volume that hands out its requests one after the other.
pub(super) struct Generated {
    random: Xoshiro256PlusPlus,
    kind: Kind,
    footprint: u64,
    extents: Permutation,
    grains: Permutation,
    ranks: Rejection,
    /// Where the log, or all of it, is written next.
    next: u64,
    /// Bytes that its address space has.
    pub(super) capacity_bytes: u64,
    /// Page writes that are left.
    left: u64,
    /// Reads for each write.
    reads: f64,
    /// Mean microseconds between two requests.
    gap_us: f64,
    pub(super) time_us: u64,
}

/// A request: operation, first sector, sectors.
pub(super) type Request = (Op, u64, u32);

impl Generated {
    /// The volume of this number. Sizes are `scale` times those published, and times are within `days`.
    pub(super) fn new(seed: u64, number: u64, scale: f64, days: f64, start_us: u64) -> Self {
        let seed = seed
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(number.wrapping_mul(0xd134_2543_de82_ef95));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let kind = draw_of(&KINDS, draw_share(&mut random));
        let pages = |gib: f64| (gib * scale * f64::from(1 << 30) / PAGE_BYTES).ceil();
        let footprint =
            (pages(at(&FOOTPRINT_GIB, draw_share(&mut random))) as u64).max(2 * GRAIN_PAGES);
        let end = pages(at(&END_GIB, draw_share(&mut random))) as u64;
        let extents_all = end.max(footprint).div_ceil(EXTENT_PAGES) + 1;
        let writes = WRITES_PER_PAGE
            * (WRITES_SIGMA * normal(&mut random) - WRITES_SIGMA * WRITES_SIGMA / 2.0).exp();
        let writes = if kind == Kind::Idle { 0.02 * writes } else { writes };
        let left = (writes * footprint as f64).ceil() as u64;
        let reads = READS_PER_WRITE * -(1.0 - draw_share(&mut random)).ln();
        let theta = 0.6 + 0.5 * draw_share(&mut random);
        let requests = left as f64 / 3.0 * (1.0 + reads);
        Self {
            kind,
            footprint,
            extents: Permutation::new(extents_all, &mut random),
            grains: Permutation::new(footprint.div_ceil(GRAIN_PAGES), &mut random),
            ranks: Rejection::new(footprint.div_ceil(GRAIN_PAGES), theta),
            next: 0,
            capacity_bytes: extents_all * EXTENT_PAGES * PAGE_BYTES as u64,
            left,
            reads,
            gap_us: days * 86_400e6 / requests.max(1.0),
            time_us: start_us,
            random,
        }
    }

    /// The next request; none when it has written enough.
    pub(super) fn next(&mut self) -> Option<Request> {
        if self.left == 0 {
            return None;
        }
        self.time_us += (self.gap_us * -(1.0 - draw_share(&mut self.random)).ln()) as u64;
        if draw_share(&mut self.random) < self.reads / (1.0 + self.reads) {
            let (page, pages) = self.skewed();
            return Some(self.request(Op::Read, page, pages));
        }
        let is_of_log = self.kind == Kind::Database && draw_share(&mut self.random) < 0.3;
        let (page, pages) = match self.kind {
            Kind::Database if is_of_log => self.in_circle(4, LOG_SHARE),
            Kind::General | Kind::Idle | Kind::Database => self.skewed(),
            Kind::Log => self.in_circle(16, 1.0),
            Kind::Sequential => self.in_circle(64, 1.0),
        };
        let request = self.request(Op::Write, page, pages);
        self.left = self.left.saturating_sub(u64::from(request.2) / PAGE_SECTORS);
        Some(request)
    }

    /// A page of the footprint after Zipf, and a small number of pages from it on.
    fn skewed(&mut self) -> (u64, u64) {
        let rank = self.ranks.draw(&mut self.random) - 1;
        let grain = self.grains.at(rank) * GRAIN_PAGES;
        let page = (grain + draw_below(&mut self.random, GRAIN_PAGES)).min(self.footprint - 1);
        (page, draw_of(&LENGTHS, draw_share(&mut self.random)))
    }

    /// The next pages of the first `part` of the footprint, which is written in a circle.
    fn in_circle(&mut self, pages: u64, part: f64) -> (u64, u64) {
        let circle = ((part * self.footprint as f64) as u64).max(1);
        let page = self.next % circle;
        let pages = pages.min(circle - page);
        self.next = page + pages;
        (page, pages)
    }

    /// A request for pages of the footprint, which lies in extents all over the volume; it ends with its extent.
    fn request(&self, op: Op, page: u64, pages: u64) -> Request {
        let (extent, inside) = (page / EXTENT_PAGES, page % EXTENT_PAGES);
        let pages = pages.min(EXTENT_PAGES - inside).min(self.footprint - page);
        let place = self.extents.at(extent) * EXTENT_PAGES + inside;
        (op, place * PAGE_SECTORS, (pages * PAGE_SECTORS) as u32)
    }
}

/// A number of the standard normal distribution, after Box and Muller.
fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let (radius, angle) = (1.0 - draw_share(random), draw_share(random));
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// What has this place among choices with these shares.
fn draw_of<T: Copy>(choices: &[(T, f64)], place: f64) -> T {
    let mut below = 0.0;
    for (choice, share) in choices {
        below += share;
        if place < below {
            return *choice;
        }
    }
    choices[choices.len() - 1].0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn requests_stay_within_the_volume_and_its_footprint() {
        for number in 0..60 {
            let mut volume = Generated::new(7, number, 1.0 / 65_536.0, 31.0, 5);
            let (left, footprint, capacity) =
                (volume.left, volume.footprint, volume.capacity_bytes);
            let (mut written, mut pages, mut last) = (0, BTreeSet::new(), 5);
            while let Some((op, lba, sectors)) = volume.next() {
                assert!(volume.time_us >= last && sectors > 0);
                last = volume.time_us;
                assert!((lba + u64::from(sectors)) * 512 <= capacity);
                if op == Op::Write {
                    written += u64::from(sectors) / PAGE_SECTORS;
                    pages.extend(lba / PAGE_SECTORS..(lba + u64::from(sectors)) / PAGE_SECTORS);
                }
            }
            assert!(written >= left && written < left + 64, "{written} {left}");
            assert!(pages.len() as u64 <= footprint);
        }
    }

    #[test]
    fn half_of_the_volumes_have_the_published_median() {
        let footprints =
            (0..2001).map(|number| Generated::new(1, number, 1.0 / 1024.0, 31.0, 0).footprint);
        let mut footprints: Vec<_> = footprints.collect();
        footprints.sort_unstable();
        // 1.7 GiB / 1024 are 435 pages.
        let median = footprints[1000];
        assert!((300..600).contains(&median), "{median}");
    }
}

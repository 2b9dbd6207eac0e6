//! Where pages are, learned: segments of lines, the newer of which lie above the older.
//!
//! # Rule
//! The logical pages of a translation page are cut into *groups* of 256. A *segment* takes 8 bytes: its first page in the
//! group and its length, a byte each, a slope of two and a first flash page of four. An accurate segment has pages at
//! equal distances that lie in consecutive flash pages, so a division tells which pages it has. An approximate one tells
//! the place of its pages up to the error bound. The pages that it has are listed beside it, a byte each and one for the
//! end: that is the *conflict resolution buffer* of the group. A page is listed there once at most.
//!
//! Segments of one level do not overlap. A new one goes to the top. Those that it overlaps lose the pages that it has:
//! what is left becomes shorter, goes, or sinks by a level if it overlaps still. If it would overlap there as well, it
//! has a level of its own between. A look-up asks the levels from the top.
//!
//! Compaction takes from every segment what those above have, and lifts it to the highest level where it overlaps none.

use crate::ensure::ensure;
use crate::state::state;

/// Pages of a group: a byte tells one.
pub(super) const GROUP_PAGES: u32 = 256;

/// Bytes of a segment.
const SEGMENT_BYTES: u32 = 8;

/// The slope of a line with as many flash pages as pages: the greatest.
pub(super) const ONE: i64 = 1 << 15;

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    first: u8,
    last: u8,
    slope: u16,
    /// The page from which the slope counts, and its flash page.
    from: u8,
    base: u32,
    /// Pages from one that it has to the next; 0 if they are listed.
    step: u8,
    listed: Vec<u8>,
}

state!(Segment { first, last, slope, from, base, step, listed } blank Self::BLANK);

impl Segment {
    const BLANK: Self =
        Self { first: 0, last: 0, slope: 0, from: 0, base: 0, step: 1, listed: Vec::new() };

    /// Whether its pages are listed: its places may be off.
    fn is_approximate(&self) -> bool {
        self.step == 0
    }

    fn has(&self, page: u8) -> bool {
        (self.first..=self.last).contains(&page)
            && if self.is_approximate() {
                self.listed.binary_search(&page).is_ok()
            } else {
                (page - self.first).is_multiple_of(self.step)
            }
    }

    /// Where it says that a page is.
    fn place(&self, page: u8) -> u32 {
        let by = i64::from(page) - i64::from(self.from);
        (i64::from(self.base) + line(i64::from(self.slope), by)) as u32
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// Its pages.
    fn all(&self) -> impl Iterator<Item = u8> + '_ {
        (self.first..=self.last).filter(|page| self.has(*page))
    }

    /// Bytes of itself, and of what is listed.
    fn bytes(&self) -> u32 {
        SEGMENT_BYTES + if self.is_approximate() { self.listed.len() as u32 + 1 } else { 0 }
    }

    /// Gives up pages; whether any is left. Of those of an accurate segment, the ones within stay, below the one that
    /// has them now.
    fn give_up(&mut self, taken: impl Fn(u8) -> bool) -> bool {
        let mut left = self.all().filter(|page| !taken(*page));
        let Some(first) = left.next() else { return false };
        let last = left.last().unwrap_or(first);
        self.listed.retain(|page| !taken(*page));
        (self.first, self.last) = (first, last);
        true
    }
}

/// Flash pages after `by` pages, rounded.
pub(super) fn line(slope: i64, by: i64) -> i64 {
    (slope * by + ONE / 2).div_euclid(ONE)
}

/// The lines through some pages of a group, in order, and the flash pages where they are: each has as many pages as
/// there is a line for that starts in the first, and is at most `bound` flash pages off. Without a bound, all are accurate.
/// If that is not `greedy`, approximate ones take fewer bytes than accurate ones would.
fn learn(points: &[(u8, u32)], bound: u32, greedy: bool) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut rest = points;
    while let Some(&(first, base)) = rest.first() {
        let exact = exact(rest);
        let (near, slope) = if bound == 0 { (0, 0) } else { within(rest, bound) };
        let is_exact = exact >= near || !greedy && near as u32 + 1 >= more_bytes(&rest[..near]);
        let taken = if is_exact { exact } else { near };
        let last = rest[taken - 1].0;
        let (slope, step, listed) = if is_exact {
            let step = if taken > 1 { rest[1].0 - first } else { 1 };
            (ONE / i64::from(step), step, Vec::new())
        } else {
            (slope, 0, rest[..taken].iter().map(|(page, _)| *page).collect())
        };
        let slope = slope as u16;
        segments.push(Segment { first, last, slope, from: first, base, step, listed });
        rest = &rest[taken..];
    }
    segments
}

/// Bytes of all accurate segments of these points but the first.
fn more_bytes(points: &[(u8, u32)]) -> u32 {
    let (mut rest, mut bytes) = (&points[exact(points)..], 0);
    while !rest.is_empty() {
        rest = &rest[exact(rest)..];
        bytes += SEGMENT_BYTES;
    }
    bytes
}

/// How many of the points from the first on have equal distances and consecutive flash pages.
fn exact(points: &[(u8, u32)]) -> usize {
    let Some(&[(a, _), (b, _)]) = points.first_chunk() else { return points.len() };
    let follows = |pair: &&[(u8, u32)]| {
        let [(page, at), (next, next_at)] = [pair[0], pair[1]];
        next > page && next - page == b - a && at.checked_add(1) == Some(next_at)
    };
    1 + points.windows(2).take_while(follows).count()
}

/// How many of the points from the first on a line through that meets up to `bound`, and its slope.
pub(super) fn within<P: Copy + Into<u32>>(points: &[(P, u32)], bound: u32) -> (usize, i64) {
    let (mut least, mut most, mut taken) = (0, ONE, 1);
    let (first, base) = points[0];
    for pair in points.windows(2) {
        let (page, place) = pair[1];
        if page.into() <= pair[0].0.into() {
            break;
        }
        let by = i64::from(page.into() - first.into());
        let off = i64::from(place) - i64::from(base);
        let [low, high] = [off - i64::from(bound), off + i64::from(bound) + 1];
        let at_least = (low * ONE - ONE / 2 + by - 1).div_euclid(by);
        let at_most = (high * ONE - ONE / 2 - 1).div_euclid(by);
        let [new_least, new_most] = [least.max(at_least), most.min(at_most)];
        if new_least > new_most {
            break;
        }
        (least, most, taken) = (new_least, new_most, taken + 1);
    }
    (taken, i64::midpoint(least, most))
}

/// The segments of a group: those of each level in order of their pages, the newest level first.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    levels: Vec<Level>,
}

state!(Group { levels });

/// Segments that do not overlap, in order of their pages.
#[derive(Debug, Clone, Default)]
struct Level {
    segments: Vec<Segment>,
}

state!(Level { segments } blank Self::default());

impl Level {
    /// The segment that has a page.
    fn of(&self, page: u8) -> Option<&Segment> {
        let after = self.segments.partition_point(|segment| segment.first <= page);
        self.segments[..after].last().filter(|segment| segment.has(page))
    }

    fn overlaps(&self, segment: &Segment) -> bool {
        self.segments.iter().any(|other| other.overlaps(segment))
    }

    fn put(&mut self, segment: Segment) {
        let at = self.segments.partition_point(|other| other.first < segment.first);
        self.segments.insert(at, segment);
    }
}

impl Group {
    /// Where a page is said to be.
    pub(super) fn look_up(&self, page: u8) -> Option<u32> {
        self.levels.iter().find_map(|level| level.of(page)).map(|segment| segment.place(page))
    }

    /// Learns where pages are, in the order of both within a block.
    pub(super) fn learn(&mut self, points: &[(u8, u32)], bound: u32, greedy: bool) {
        for segment in learn(points, bound, greedy) {
            self.insert(segment);
        }
    }

    fn insert(&mut self, segment: Segment) {
        if segment.is_approximate() {
            self.take_from_lists(&segment);
        }
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let top = &mut self.levels[0];
        let overlaps = |other: &mut Segment| other.overlaps(&segment);
        let below: Vec<_> = top.segments.extract_if(.., overlaps).collect();
        let mut sinking = Vec::new();
        for mut other in below {
            if other.give_up(|page| segment.has(page)) {
                if other.overlaps(&segment) { sinking.push(other) } else { top.put(other) }
            }
        }
        top.put(segment);
        let mut between = Level::default();
        for other in sinking {
            match self.levels.get_mut(1) {
                Some(next) if !next.overlaps(&other) => next.put(other),
                _ => between.put(other),
            }
        }
        if !between.segments.is_empty() {
            self.levels.insert(1, between);
        }
    }

    /// A page that is listed is so for the newest segment only.
    fn take_from_lists(&mut self, newest: &Segment) {
        for level in &mut self.levels {
            level.segments.retain_mut(|other| {
                !other.is_approximate()
                    || !other.overlaps(newest)
                    || other.give_up(|page| newest.has(page))
            });
        }
        self.levels.retain(|level| !level.segments.is_empty());
    }

    /// Drops what is outdated, and lifts what is left.
    pub(super) fn compact(&mut self) {
        let mut taken = [false; GROUP_PAGES as usize];
        let old = std::mem::take(&mut self.levels);
        for mut segment in old.into_iter().flat_map(|level| level.segments) {
            if !segment.give_up(|page| taken[usize::from(page)]) {
                continue;
            }
            segment.all().for_each(|page| taken[usize::from(page)] = true);
            let above = self.levels.iter().rposition(|level| level.overlaps(&segment));
            let level = above.map_or(0, |level| level + 1);
            if level == self.levels.len() {
                self.levels.push(Level::default());
            }
            self.levels[level].put(segment);
        }
    }

    /// Segments, and bytes that they take.
    pub(super) fn size(&self) -> [u32; 2] {
        let all = self.levels.iter().flat_map(|level| &level.segments);
        all.fold([0; 2], |[segments, bytes], segment| [segments + 1, bytes + segment.bytes()])
    }

    /// Bytes of memory that its simulation takes.
    pub(super) fn memory_bytes(&self) -> usize {
        let segments = self.levels.iter().flat_map(|level| &level.segments);
        let lists: usize = segments.map(|segment| segment.listed.capacity()).sum();
        let segments: usize = self.levels.iter().map(|level| level.segments.capacity()).sum();
        lists + segments * size_of::<Segment>() + self.levels.capacity() * size_of::<Level>()
    }

    /// Verifies that segments of a level are in order and do not overlap, and that no page is listed twice.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut listed = [false; GROUP_PAGES as usize];
        for level in &self.levels {
            ensure!(!level.segments.is_empty(), "a level is empty");
            for pair in level.segments.windows(2) {
                ensure!(pair[0].last < pair[1].first, "{:?} overlaps {:?}", pair[0], pair[1]);
            }
            for segment in &level.segments {
                ensure!(segment.has(segment.first), "{segment:?} starts elsewhere");
                ensure!(segment.has(segment.last), "{segment:?} ends elsewhere");
                for page in &segment.listed {
                    let was_listed = std::mem::replace(&mut listed[usize::from(*page)], true);
                    ensure!(!was_listed, "page {page} is listed twice");
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Points of one flush: rising pages, with flash pages that rise as well.
    fn points() -> impl Strategy<Value = Vec<(u8, u32)>> {
        let steps =
            prop::collection::vec((1_u8..6, prop_oneof![4 => Just(1_u32), 1 => 1_u32..5]), 1..60);
        (any::<u8>(), 0_u32..100_000, steps, 0_u8..3).prop_map(|(start, base, steps, kind)| {
            let (mut page, mut place) = (start / 2, base);
            let mut points = vec![(page, place)];
            for (by, off) in steps {
                let by = if kind == 0 { 1 } else { by };
                let Some(next) = page.checked_add(by) else { break };
                (page, place) = (next, place + off);
                points.push((page, place));
            }
            points
        })
    }

    proptest! {
        #[test]
        fn the_newest_segment_that_has_a_page_tells_its_place_up_to_the_bound(
            flushes in prop::collection::vec(points(), 1..40),
            bound in prop_oneof![Just(0_u32), Just(1), Just(4), Just(16)],
            compact_every in 1_usize..10,
            greedy in any::<bool>(),
        ) {
            let mut group = Group::default();
            let mut truth = [None; 256];
            // All segments ever learned, of which nothing is taken.
            let mut history: Vec<Segment> = Vec::new();
            for (number, points) in flushes.iter().enumerate() {
                group.learn(points, bound, greedy);
                history.extend(learn(points, bound, greedy));
                for (page, place) in points {
                    truth[usize::from(*page)] = Some(*place);
                }
                if number % compact_every == 0 {
                    group.compact();
                }
                group.check().unwrap();
                for page in 0..=255 {
                    let newest = history.iter().rev().find(|segment| segment.has(page));
                    let told = group.look_up(page);
                    prop_assert_eq!(told, newest.map(|segment| segment.place(page)));
                    let off = truth[usize::from(page)].zip(told).map(|(is, told)| u32::abs_diff(is, told));
                    prop_assert_eq!(off.is_some(), truth[usize::from(page)].is_some(), "page {}", page);
                    prop_assert!(off.unwrap_or(0) <= bound, "page {} is {:?} off", page, off);
                }
            }
        }

        #[test]
        fn no_line_from_the_first_page_on_has_one_more(points in points(), bound in 0_u32..6) {
            let (taken, _) = within(&points, bound);
            let meets = |slope: i64, count: usize| points[..count].iter().all(|(page, place)| {
                let told = i64::from(points[0].1) + line(slope, i64::from(page - points[0].0));
                told.abs_diff(i64::from(*place)) <= u64::from(bound)
            });
            prop_assert!((0..=ONE).any(|slope| meets(slope, taken)));
            if taken < points.len() {
                prop_assert!(!(0..=ONE).any(|slope| meets(slope, taken + 1)));
            }
        }
    }

    #[test]
    fn segments_of_the_paper_take_what_it_says() {
        let mut group = Group::default();
        // Four pages in order, and four at equal distances: one segment each.
        group.learn(&[(0, 100), (1, 101), (2, 102), (3, 103)], 0, true);
        assert_eq!(group.size(), [1, 8]);
        group.learn(&[(64, 304), (66, 305), (68, 306)], 0, true);
        assert_eq!(group.size(), [2, 16]);
        assert_eq!(
            [0, 3, 66, 67].map(|page| group.look_up(page)),
            [Some(100), Some(103), Some(305), None]
        );
        // Pages at no equal distances: one with their list, and an end.
        group.learn(&[(75, 155), (78, 156), (82, 157)], 1, true);
        assert_eq!(group.size(), [3, 16 + 8 + 4]);
        // Without a bound, two.
        let mut group = Group::default();
        group.learn(&[(75, 155), (78, 156), (82, 157)], 0, true);
        assert_eq!(group.size()[0], 2);
    }
}

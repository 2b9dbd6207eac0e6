//! The shapes of tables and indexes: which page a row is in.

use super::{File, Files};
use std::hint::black_box;

/// Of a page of an index, what is not for rows: header, directory and trailer.
const PAGE_OVERHEAD_BYTES: u32 = 128;

/// Rows of `row_bytes` that a page of `page_bytes` holds if they come in order: InnoDB leaves a
/// sixteenth free for their growth.
pub(crate) fn rows_per_page(page_bytes: u32, row_bytes: u32) -> u32 {
    (page_bytes.saturating_sub(PAGE_OVERHEAD_BYTES) / 16 * 15 / row_bytes).max(1)
}

/// Rows that stay where they were loaded.
#[derive(Debug, Clone)]
pub(crate) struct Fixed {
    first: u32,
    /// 2^63 divided by the rows of a page, rounded up.
    pages_per_row: u64,
}

impl Fixed {
    /// Loads `rows` rows.
    pub(crate) fn new(files: &mut Files, rows: u64, rows_per_page: u32) -> Self {
        let first = files.reserve(pages_of(rows, rows_per_page));
        Self { first, pages_per_row: (1_u64 << 63).div_ceil(u64::from(rows_per_page)) }
    }

    #[inline]
    pub(crate) fn page(&self, row: u64) -> u32 {
        // Exact as long as rows times rows of a page are below 2^63.
        self.first + ((u128::from(row) * u128::from(self.pages_per_row)) >> 63) as u32
    }
}

pub(crate) fn pages_of(rows: u64, rows_per_page: u32) -> u32 {
    rows.div_ceil(u64::from(rows_per_page)) as u32
}

/// Rows that are appended at one or several places of the order of their keys, such as after the
/// last order of each district: each place has a page that fills, and then another.
#[derive(Debug, Clone)]
pub(crate) struct Appended {
    file: File,
    rows_per_page: u32,
    /// Page of each place, and rows that it still takes.
    tails: Vec<(u32, u32)>,
    /// Pages whose rows have all been deleted.
    free: Vec<u32>,
}

impl Appended {
    /// A table without rows.
    pub(crate) fn new(places: usize, rows_per_page: u32) -> Self {
        Self { file: File::default(), rows_per_page, tails: vec![(0, 0); places], free: Vec::new() }
    }

    /// Appends a row at `place`; returns its page, and whether that is new.
    #[inline]
    pub(crate) fn insert(&mut self, place: usize, files: &mut Files) -> (u32, bool) {
        let (page, is_new, _) = self.insert_some(place, 1, files);
        (page, is_new)
    }

    /// Appends as many of `rows` rows, at least one, at `place` as the page there takes; returns the page,
    /// whether that is new, and how many.
    #[inline]
    pub(crate) fn insert_some(
        &mut self,
        place: usize,
        rows: u32,
        files: &mut Files,
    ) -> (u32, bool, u32) {
        let is_new = self.tails[place].1 == 0;
        if is_new {
            let page = self.free.pop().unwrap_or_else(|| self.file.grow(files));
            self.tails[place] = (page, self.rows_per_page);
        }
        let (page, left) = &mut self.tails[place];
        let taken = rows.min(*left);
        *left -= taken;
        (*page, is_new, taken)
    }

    /// All rows of `page` have been deleted: it is used again.
    pub(crate) fn release(&mut self, page: u32) {
        self.free.push(page);
    }

    /// Whether `page` still takes rows at `place`.
    pub(crate) fn is_open(&self, place: usize, page: u32) -> bool {
        self.tails[place].0 == page && self.tails[place].1 > 0
    }
}

/// How full the leaves are of an index into which rows came in random order: ln 2.
pub(crate) const RANDOM_FILL: f64 = std::f64::consts::LN_2;

/// In which order the rows of an index were loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loaded {
    /// In that of their keys.
    InOrder,
    /// In any other.
    AnyOrder,
}

impl Loaded {
    /// Rows of a leaf of an index loaded so, on average, if a page holds `rows_per_page` in order.
    pub(crate) fn rows_of_a_leaf(self, rows_per_page: u32) -> u32 {
        match self {
            Self::InOrder => rows_per_page,
            Self::AnyOrder => {
                ((f64::from(rows_per_page) * 16.0 / 15.0 * RANDOM_FILL) as u32).max(1)
            }
        }
    }
}

/// A leaf of an index.
#[derive(Debug, Clone, Copy)]
struct Leaf {
    page: u32,
    rows: u32,
    first_slot: u32,
    slots: u32,
}

/// The leaves of an index into which rows are inserted anywhere: one that is full splits in half.
///
/// The keys are divided into slots, of which every leaf has some in a row. Where a leaf with a single
/// slot is full, it stays so, and a new one takes its place: those keys are inserted in order.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    file: File,
    /// Rows that a leaf holds.
    leaf_rows: u32,
    slots_per_key: f64,
    leaf_of_slot: Vec<u32>,
    leaves: Vec<Leaf>,
}

impl Index {
    /// An index with `keys` keys over `rows` rows that may grow to `leaves_max` leaves. Its leaves are
    /// full, as far as [`rows_per_page`] fills them, or have split as rows came in `Loaded::AnyOrder`.
    pub(crate) fn new(
        files: &mut Files,
        keys: u64,
        rows: u64,
        rows_per_page: u32,
        order: Loaded,
        leaves_max: u32,
    ) -> Self {
        let leaf_rows = (rows_per_page * 16 / 15).max(2);
        let loaded = pages_of(rows, order.rows_of_a_leaf(rows_per_page)).max(1);
        let slots = loaded.max(leaves_max).saturating_mul(2).min(u32::MAX / 2);
        let first = files.reserve(loaded);
        let bound = |leaf: u32| (u64::from(leaf) * u64::from(slots) / u64::from(loaded)) as u32;
        let mut leaf_of_slot = Vec::with_capacity(slots as usize);
        let leaves = (0..loaded).map(|leaf| {
            let (first_slot, end) = (bound(leaf), bound(leaf + 1));
            leaf_of_slot.resize(end as usize, leaf);
            let rows = match order {
                Loaded::InOrder => (rows / u64::from(loaded)) as u32,
                // From half to as much above the mean, neighbours differing.
                Loaded::AnyOrder => {
                    let spread = leaf.wrapping_mul(2_654_435_761) >> 16;
                    let most = (2.0 * RANDOM_FILL - 0.5) * f64::from(leaf_rows);
                    let least = f64::from(leaf_rows) / 2.0;
                    (least + (most - least) * f64::from(spread) / 65_536.0) as u32
                }
            };
            Leaf { page: first + leaf, rows, first_slot, slots: end - first_slot }
        });
        let leaves = leaves.collect();
        let slots_per_key = f64::from(slots) / keys as f64;
        Self { file: File::default(), leaf_rows, slots_per_key, leaf_of_slot, leaves }
    }

    #[inline]
    fn slot(&self, key: u64) -> usize {
        // The processor converts to 32 bits with fewer steps.
        ((key as f64 * self.slots_per_key) as u32 as usize).min(self.leaf_of_slot.len() - 1)
    }

    /// Looks for the leaves of the rows with these keys: the processor waits for memory once for all of
    /// them, and not for each.
    pub(crate) fn look_ahead(&self, keys: impl Iterator<Item = u64>) {
        black_box(keys.fold(0, |sum, key| sum ^ self.page(key)));
    }

    /// The page of the rows with this key.
    #[inline]
    pub(crate) fn page(&self, key: u64) -> u32 {
        self.leaves[self.leaf_of_slot[self.slot(key)] as usize].page
    }

    /// Inserts a row; returns its page, and the new one if the leaf has split.
    #[inline]
    pub(crate) fn insert(&mut self, key: u64, files: &mut Files) -> (u32, Option<u32>) {
        let slot = self.slot(key);
        let number = self.leaf_of_slot[slot];
        let leaf = &mut self.leaves[number as usize];
        let page = leaf.page;
        leaf.rows += 1;
        let other = (leaf.rows > self.leaf_rows).then(|| self.split(number, files));
        (page, other)
    }

    /// Deletes a row; returns its page.
    #[inline]
    pub(crate) fn delete(&mut self, key: u64) -> u32 {
        let slot = self.slot(key);
        let leaf = &mut self.leaves[self.leaf_of_slot[slot] as usize];
        leaf.rows = leaf.rows.saturating_sub(1);
        leaf.page
    }

    /// Splits a full leaf; returns the new page.
    #[inline(never)]
    fn split(&mut self, number: u32, files: &mut Files) -> u32 {
        let page = self.file.grow(files);
        let leaf = &mut self.leaves[number as usize];
        if leaf.slots == 1 {
            (leaf.page, leaf.rows) = (page, 1);
            return page;
        }
        let (rows, slots) = (leaf.rows / 2, leaf.slots / 2);
        leaf.rows -= rows;
        leaf.slots -= slots;
        let upper = Leaf { page, rows, first_slot: leaf.first_slot + leaf.slots, slots };
        let new = self.leaves.len() as u32;
        self.leaves.push(upper);
        let moved = upper.first_slot as usize..(upper.first_slot + slots) as usize;
        self.leaf_of_slot[moved].fill(new);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fill_pages_as_in_the_captured_database() {
        // Of 4 KiB, as the files of the captured trace of TPC-C: 11 of stock, 6 customers.
        assert_eq!((rows_per_page(4096, 330), rows_per_page(4096, 600)), (11, 6));
        let mut files = Files::new(1000);
        let table = Fixed::new(&mut files, 100, 11);
        assert_eq!((table.page(0), table.page(10), table.page(11), table.page(99)), (0, 0, 1, 9));
    }

    #[test]
    fn a_row_is_in_the_page_that_division_gives() {
        for rows_per_page in [1, 2, 3, 7, 11, 1023, 4097] {
            let table = Fixed::new(&mut Files::new(1000), 1, rows_per_page);
            for near in [0, 1, 100, 1 << 20, 1 << 31] {
                let first = near * u64::from(rows_per_page);
                let last = first + u64::from(rows_per_page) - 1;
                let pages = (table.page(first), table.page(last), table.page(last + 1));
                assert_eq!(pages, (near as u32, near as u32, near as u32 + 1));
            }
        }
    }

    #[test]
    fn every_place_fills_a_page_of_its_own() {
        let mut files = Files::new(1000);
        let mut table = Appended::new(2, 3);
        let pages: Vec<_> = [0, 0, 1, 0, 0, 1].map(|place| table.insert(place, &mut files)).into();
        let expected = [(0, true), (0, false), (1, true), (0, false), (2, true), (1, false)];
        assert_eq!(pages, expected);
        assert!(table.is_open(0, 2) && !table.is_open(0, 0));
        table.release(0);
        assert_eq!(
            (table.insert(1, &mut files), table.insert(1, &mut files)),
            ((1, false), (0, true))
        );
    }

    #[test]
    fn full_leaves_split_and_keep_the_order_of_keys() {
        let mut files = Files::new(100_000);
        let mut index = Index::new(&mut files, 1 << 32, 30, 15, Loaded::InOrder, 1000);
        let high = u64::from(u32::MAX);
        assert_eq!((index.page(0), index.page(high)), (0, 1));
        assert_eq!(index.insert(high, &mut files), (1, None));
        let (page, other) = index.insert(high, &mut files);
        assert_eq!((page, other), (1, Some(64)));
        assert_eq!((index.page(high), index.page(1 << 31)), (64, 1));
        // Two thirds full on average, where keys are drawn at random.
        let mut key = 1_u32;
        for _ in 0..10_000 {
            key = key.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            index.insert(u64::from(key), &mut files);
        }
        let filled = 10_032.0 / (f64::from(index.leaf_rows) * index.leaves.len() as f64);
        assert!((0.6..0.8).contains(&filled), "{filled}");
        assert!(index.leaves.iter().all(|leaf| leaf.rows <= index.leaf_rows));
    }

    #[test]
    fn a_leaf_of_one_slot_is_followed_by_another() {
        let mut files = Files::new(100_000);
        let mut index = Index::new(&mut files, 1, 1, 15, Loaded::InOrder, 1);
        let pages: Vec<_> = (0..100).map(|_| index.insert(0, &mut files).0).collect();
        let mut distinct = pages.clone();
        distinct.dedup();
        assert!(distinct.len() >= 6, "{distinct:?}");
        assert_eq!(index.delete(0), index.page(0));
    }
}

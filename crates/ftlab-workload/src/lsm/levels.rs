//! The levels of the tree: which keys are in which file, and what is compacted next.

use crate::extents::Extent;
use std::ops::Range;

/// A file of sorted keys.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    pub(super) keys: Vec<u32>,
    pub(super) extents: Vec<Extent>,
    /// The stream of its level.
    pub(super) stream: u16,
}

impl Table {
    fn first(&self) -> u32 {
        self.keys.first().copied().unwrap_or(0)
    }

    fn last(&self) -> u32 {
        self.keys.last().copied().unwrap_or(0)
    }
}

/// How large levels may be, in keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Keys of a file at most.
    pub(super) file_keys: usize,
    /// Files of level 0 that are compacted.
    pub(super) level0_files: usize,
    /// Keys of the smallest sorted level at most.
    pub(super) base_keys: f64,
    /// How much larger a level is than the one before.
    pub(super) ratio: f64,
}

impl Shape {
    /// Sorted levels of a tree of this many keys, one at least.
    pub(super) fn sorted_levels(&self, keys: usize) -> usize {
        let (mut size, mut levels) = (keys as f64, 1);
        while size > self.base_keys {
            size /= self.ratio;
            levels += 1;
        }
        levels
    }
}

/// Files that are compacted, taken out of the tree, and the level that the result goes to.
#[derive(Debug)]
pub(super) struct Compaction {
    pub(super) inputs: Vec<Table>,
    /// The level, and where in it.
    pub(super) level: usize,
    place: usize,
}

/// Level 0, whose files overlap, the newest last; and after it sorted levels of files that do not.
#[derive(Debug, Clone)]
pub(super) struct Levels {
    shape: Shape,
    level0: Vec<Table>,
    sorted: Vec<Vec<Table>>,
}

impl Levels {
    /// A tree with all data in the last level, and as many empty levels before it as levels of a
    /// growing size need: each by `ratio` smaller than the next, until one is no larger than
    /// `base_keys`.
    pub(super) fn new(shape: Shape, last: Vec<Table>) -> Self {
        let keys = last.iter().map(|table| table.keys.len()).sum();
        let mut sorted = vec![Vec::new(); shape.sorted_levels(keys) - 1];
        sorted.push(last);
        Self { shape, level0: Vec::new(), sorted }
    }

    pub(super) fn flush(&mut self, table: Table) {
        self.level0.push(table);
    }

    /// The files of all levels.
    #[cfg(test)]
    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.level0.iter().chain(self.sorted.iter().flatten())
    }

    /// What is compacted next: the level that is fullest for its size, if one is too full.
    pub(super) fn pick(&mut self) -> Option<Compaction> {
        let score0 = self.level0.len() as f64 / self.shape.level0_files as f64;
        let scores = self.sorted.iter().zip(self.targets()).map(|(level, target)| {
            level.iter().map(|table| table.keys.len()).sum::<usize>() as f64 / target
        });
        // The last level has nowhere to go.
        let before_last = scores.take(self.sorted.len() - 1).enumerate();
        let fullest = before_last.max_by(|a, b| a.1.total_cmp(&b.1));
        match fullest {
            Some((level, score)) if score > 1.0 && score >= score0 => Some(self.push_down(level)),
            _ if score0 >= 1.0 => Some(self.empty_level0()),
            _ => None,
        }
    }

    /// The size of each sorted level, seen from the last one, which is as large as it is.
    fn targets(&self) -> Vec<f64> {
        let last = self.sorted.last().into_iter().flatten();
        let size = last.map(|table| table.keys.len()).sum::<usize>() as f64;
        let levels = i32::try_from(self.sorted.len()).unwrap_or(i32::MAX);
        (1..=levels).map(|level| (size / self.shape.ratio.powi(levels - level)).max(1.0)).collect()
    }

    /// All of level 0, with what overlaps it in the first sorted level.
    fn empty_level0(&mut self) -> Compaction {
        let mut inputs = std::mem::take(&mut self.level0);
        let first = inputs.iter().map(Table::first).min().unwrap_or(0);
        let last = inputs.iter().map(Table::last).max().unwrap_or(0);
        let overlap = overlap(&self.sorted[0], first, last);
        let place = overlap.start;
        inputs.extend(self.sorted[0].drain(overlap));
        Compaction { inputs, level: 0, place }
    }

    /// The file of `level` that overlaps least of the next level, for its size, with what it overlaps.
    fn push_down(&mut self, level: usize) -> Compaction {
        let (upper, lower) = self.sorted.split_at_mut(level + 1);
        let (upper, lower) = (&mut upper[level], &mut lower[0]);
        let cost = |table: &Table| {
            let overlapped = &lower[overlap(lower, table.first(), table.last())];
            let keys: usize = overlapped.iter().map(|table| table.keys.len()).sum();
            keys as f64 / table.keys.len().max(1) as f64
        };
        let costs = upper.iter().map(cost).enumerate();
        let cheapest = costs.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(index, _)| index);
        let table = upper.remove(cheapest);
        let overlap = overlap(lower, table.first(), table.last());
        let place = overlap.start;
        let mut inputs = vec![table];
        inputs.extend(lower.drain(overlap));
        Compaction { inputs, level: level + 1, place }
    }

    /// The keys that a compaction results in, file by file.
    pub(super) fn merge(&self, compaction: &Compaction) -> Vec<Vec<u32>> {
        let mut keys = Vec::new();
        for table in &compaction.inputs {
            keys = if keys.last().is_none_or(|last| *last < table.first()) {
                keys.extend_from_slice(&table.keys);
                keys
            } else {
                union(&keys, &table.keys)
            };
        }
        keys.chunks(self.shape.file_keys).map(<[u32]>::to_vec).collect()
    }

    /// Puts the result of a compaction where it belongs.
    pub(super) fn install(&mut self, compaction: &Compaction, tables: Vec<Table>) {
        let place = compaction.place;
        self.sorted[compaction.level].splice(place..place, tables);
    }
}

/// The files of a sorted level that overlap `first..=last`.
fn overlap(level: &[Table], first: u32, last: u32) -> Range<usize> {
    let start = level.partition_point(|table| table.last() < first);
    let end = level.partition_point(|table| table.first() <= last);
    start..end.max(start)
}

/// The keys of both, once each.
fn union(one: &[u32], other: &[u32]) -> Vec<u32> {
    let mut merged = Vec::with_capacity(one.len() + other.len());
    let (mut i, mut j) = (0, 0);
    while i < one.len() && j < other.len() {
        let (a, b) = (one[i], other[j]);
        merged.push(a.min(b));
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    merged.extend_from_slice(&one[i..]);
    merged.extend_from_slice(&other[j..]);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { file_keys: 100, level0_files: 2, base_keys: 200.0, ratio: 10.0 };

    fn table(keys: impl Iterator<Item = u32>) -> Table {
        Table { keys: keys.collect(), ..Table::default() }
    }

    #[test]
    fn compactions_keep_every_key_and_every_level_sorted() {
        let last = (0..100).map(|file| table(file * 100..file * 100 + 100)).collect();
        let mut levels = Levels::new(SHAPE, last);
        // 10,000 keys, 1,000, 100.
        assert_eq!(levels.sorted.len(), 3);
        for round in 0..200_u32 {
            levels.flush(table((0..60).map(|key| key * 160 + round * 7 % 160)));
            while let Some(compaction) = levels.pick() {
                let merged = levels.merge(&compaction);
                assert!(merged.iter().all(|keys| keys.is_sorted_by(|a, b| a < b)));
                let tables = merged.into_iter().map(|keys| table(keys.into_iter())).collect();
                levels.install(&compaction, tables);
            }
            assert!(levels.level0.len() < 2);
            for level in &levels.sorted {
                let keys: Vec<u32> = level.iter().flat_map(|table| table.keys.clone()).collect();
                assert!(keys.is_sorted_by(|a, b| a < b), "round {round}");
            }
        }
        let last = levels.sorted.last().unwrap();
        assert_eq!(last.iter().map(|table| table.keys.len()).sum::<usize>(), 10_000);
    }
}

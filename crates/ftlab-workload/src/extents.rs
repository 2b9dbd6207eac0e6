//! Where files lie: free space is given out as a file system does it.

use std::collections::BTreeMap;

/// Pages in a row: the first, and how many.
pub(super) type Extent = (u32, u32);

/// Free pages as runs, none next to another.
///
/// Space for a file is searched after the file allocated last (next fit), as ext4 does it for large
/// files: the first run that holds all of it; where there is none, the runs that follow, one by one.
#[derive(Debug, Clone)]
pub(super) struct Space {
    free: BTreeMap<u32, u32>,
    free_pages: u32,
    goal: u32,
}

impl Space {
    /// All of 0..`pages` is free.
    pub(super) fn new(pages: u32) -> Self {
        Self { free: BTreeMap::from([(0, pages)]), free_pages: pages, goal: 0 }
    }

    #[cfg(test)]
    pub(super) fn free_pages(&self) -> u32 {
        self.free_pages
    }

    /// Takes `pages` pages; `None`, and nothing taken, if there are fewer.
    pub(super) fn allocate(&mut self, pages: u32) -> Option<Vec<Extent>> {
        if pages > self.free_pages {
            return None;
        }
        let runs = self.free.range(self.goal..).chain(self.free.range(..self.goal));
        let whole = runs.clone().find(|(_, length)| **length >= pages);
        if let Some((first, length)) = whole.map(|(first, length)| (*first, *length)) {
            self.take(first, length, pages);
            return Some(vec![(first, pages)]);
        }
        let mut left = pages;
        let mut pieces = Vec::new();
        for (first, length) in runs {
            let piece = left.min(*length);
            pieces.push((*first, *length, piece));
            left -= piece;
            if left == 0 {
                break;
            }
        }
        for (first, length, piece) in &pieces {
            self.take(*first, *length, *piece);
        }
        Some(pieces.into_iter().map(|(first, _, piece)| (first, piece)).collect())
    }

    /// Takes the first `pages` of a run.
    fn take(&mut self, first: u32, length: u32, pages: u32) {
        self.free.remove(&first);
        if length > pages {
            self.free.insert(first + pages, length - pages);
        }
        self.free_pages -= pages;
        self.goal = first + pages;
    }

    /// Gives pages back.
    pub(super) fn release(&mut self, (mut first, mut pages): Extent) {
        self.free_pages += pages;
        if let Some((&before, &length)) = self.free.range(..first).next_back()
            && before + length == first
        {
            self.free.remove(&before);
            first = before;
            pages += length;
        }
        if let Some(length) = self.free.remove(&(first + pages)) {
            pages += length;
        }
        self.free.insert(first, pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_allocated_after_the_last_file_and_joined_again_when_freed() {
        let mut space = Space::new(100);
        let files: Vec<_> = (0..10).map(|_| space.allocate(10).unwrap()).collect();
        assert_eq!(files[9], [(90, 10)]);
        assert_eq!(space.allocate(1), None);
        for file in [2, 3, 7] {
            space.release(files[file][0]);
        }
        // Whole before in pieces, the goal at the end before the beginning.
        assert_eq!(space.allocate(15), Some(vec![(20, 15)]));
        assert_eq!(space.allocate(12), Some(vec![(35, 5), (70, 7)]));
        assert_eq!(space.free_pages(), 3);
        assert_eq!(space.allocate(4), None);
        for extent in [(70, 7), (35, 5), (20, 15), (0, 20), (40, 30), (80, 20)] {
            space.release(extent);
        }
        assert_eq!((space.free.len(), space.free_pages()), (1, 100));
    }
}

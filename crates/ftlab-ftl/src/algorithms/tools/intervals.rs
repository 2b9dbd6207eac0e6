//! How often the host rewrites each page: what placements by update frequency know.

use crate::memory;
use crate::page::DriveState;
use crate::state::state;
use ftlab_flash::Lpn;
use std::hint::select_unpredictable;

/// Logical page -> a mean of the intervals between its host writes, and the last host write; 8 bytes each.
pub(crate) struct Intervals {
    pages: Vec<Page>,
}

state!(Intervals { pages });

#[derive(Debug, Clone, Copy, Default)]
struct Page {
    /// In host writes; infinite before the first rewrite.
    mean: f32,
    /// The write clock when the host wrote it, modulo 2^32.
    written_at: u32,
}

state!(Page { mean, written_at });

impl Intervals {
    pub(crate) fn new(logical_pages: u32) -> Self {
        Self { pages: memory::table(logical_pages as usize, Page::default()) }
    }

    #[inline]
    pub(crate) fn prefetch(&self, lpn: Lpn) {
        memory::prefetch(&self.pages, lpn.index());
    }

    /// The host writes a page that held nothing.
    #[inline]
    pub(crate) fn begin(&mut self, lpn: Lpn, drive: &DriveState) {
        let written_at = drive.write_clock() as u32;
        self.pages[lpn.index()] = Page { mean: f32::INFINITY, written_at };
    }

    /// The host rewrites a page: its mean from now on, which `mean` makes of the one before and the latest
    /// interval. The first interval is the mean itself.
    #[inline]
    pub(crate) fn rewrite(
        &mut self,
        lpn: Lpn,
        drive: &DriveState,
        mean: impl FnOnce(f32, f32) -> f32,
    ) -> f32 {
        let page = &mut self.pages[lpn.index()];
        let interval = writes_since(page.written_at, drive) as f32;
        page.written_at = drive.write_clock() as u32;
        let next = mean(page.mean, interval);
        page.mean = select_unpredictable(page.mean.is_finite(), next, interval);
        page.mean
    }

    /// The interval to expect of a page that is moved: its mean, or its age if that is longer. Before its
    /// first rewrite only the age speaks.
    #[inline]
    pub(crate) fn expected(&self, lpn: Lpn, drive: &DriveState) -> f32 {
        let page = self.pages[lpn.index()];
        let age = writes_since(page.written_at, drive) as f32;
        select_unpredictable(page.mean.is_finite(), page.mean.max(age), age)
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.pages[..])
    }
}

/// Host writes since a write clock that is known modulo 2^32.
#[inline]
pub(crate) fn writes_since(written_at: u32, drive: &DriveState) -> u32 {
    (drive.write_clock() as u32).wrapping_sub(written_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::DriveConfig;
    use ftlab_flash::Geometry;

    #[test]
    fn a_page_is_expected_by_its_age_until_it_has_been_rewritten() {
        let config = DriveConfig::new(Geometry::new(8, 16, 4096).unwrap(), 64, 2);
        let mut drive = DriveState::new(&config, Vec::new());
        let mut intervals = Intervals::new(64);
        let pass = |drive: &mut DriveState, writes: u32| (0..writes).for_each(|_| drive.tick());
        let mean = |mean: f32, interval: f32| 0.5 * (mean + interval);
        let mut found = Vec::new();
        intervals.begin(Lpn(3), &drive);
        pass(&mut drive, 5);
        found.push(intervals.expected(Lpn(3), &drive));
        found.push(intervals.rewrite(Lpn(3), &drive, mean));
        pass(&mut drive, 3);
        found.push(intervals.expected(Lpn(3), &drive));
        found.push(intervals.rewrite(Lpn(3), &drive, mean));
        pass(&mut drive, 9);
        found.push(intervals.expected(Lpn(3), &drive));
        assert_eq!(found, [5.0, 5.0, 5.0, 4.0, 9.0]);
    }
}

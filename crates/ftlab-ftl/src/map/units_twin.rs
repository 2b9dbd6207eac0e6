//! Units once more, in the obvious way: a set of pages for each unit that a request touches.

use crate::MapCounts;
use crate::map::slow::Slow;
use crate::map::twin::{Page, Shape, Twin};
use std::collections::{BTreeMap, BTreeSet};

/// A drive whose pages are units.
pub(super) struct UnitTwin {
    of_units: Twin,
    unit_pages: u32,
    units_per_block: usize,
    logical_pages: u32,
    pub(super) host_writes: u64,
    pub(super) trimmed: u64,
    rewrites: u64,
    rewrite_reads: u64,
    kept_trims: u64,
}

impl UnitTwin {
    /// A drive whose blocks have as many units as `shape` says pages.
    pub(super) fn new(
        shape: Shape,
        cache: Option<Box<dyn Slow>>,
        unit_pages: u32,
        logical_pages: u32,
    ) -> Self {
        Self {
            of_units: Twin::new(shape, cache),
            unit_pages,
            units_per_block: shape.pages_per_block,
            logical_pages,
            host_writes: 0,
            trimmed: 0,
            rewrites: 0,
            rewrite_reads: 0,
            kept_trims: 0,
        }
    }

    /// What a request names of each unit.
    fn by_unit(&self, first: u32, length: u32) -> BTreeMap<u32, BTreeSet<u32>> {
        let mut units: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for page in first..first + length {
            units.entry(page / self.unit_pages).or_default().insert(page);
        }
        units
    }

    /// The pages of a unit that there are.
    fn all_of(&self, unit: u32) -> BTreeSet<u32> {
        let pages = (0..self.unit_pages).map(|page| unit * self.unit_pages + page);
        pages.filter(|page| *page < self.logical_pages).collect()
    }

    pub(super) fn write(&mut self, first: u32, length: u32) {
        let by_unit = self.by_unit(first, length);
        let units = by_unit.len() as u32;
        for ((unit, pages), number) in by_unit.into_iter().zip(1..) {
            // Looking it up may collect, but cannot bring or take the unit.
            let is_held = self.of_units.places.contains_key(&Page::Host(unit));
            if is_held {
                self.rewrite_reads += self.all_of(unit).difference(&pages).count() as u64;
            }
            self.rewrites += u64::from(self.unit_pages) - pages.len() as u64;
            self.host_writes += pages.len() as u64;
            self.of_units.write(unit, units - number);
        }
    }

    pub(super) fn trim(&mut self, first: u32, length: u32) {
        for (unit, pages) in self.by_unit(first, length) {
            let is_held = self.of_units.places.contains_key(&Page::Host(unit));
            if pages == self.all_of(unit) {
                self.trimmed += if is_held { pages.len() as u64 } else { 0 };
                self.of_units.trim(unit);
            } else if is_held {
                self.kept_trims += pages.len() as u64;
            }
        }
    }

    pub(super) fn read(&mut self, first: u32, length: u32) {
        let last_unit = (first + length - 1) / self.unit_pages;
        for page in first..first + length {
            let unit = page / self.unit_pages;
            self.of_units.read(unit, last_unit - unit);
        }
    }

    pub(super) fn relocations(&self) -> u64 {
        self.of_units.relocations * u64::from(self.unit_pages)
    }

    pub(super) fn erases(&self) -> u64 {
        self.of_units.erases
    }

    /// The flash page of a page of the host, or after these, of one of a translation page.
    pub(super) fn place(&self, page: u32) -> Option<u32> {
        let (of, index) = match page.checked_sub(self.logical_pages) {
            None => (Page::Host(page / self.unit_pages), page % self.unit_pages),
            Some(page) => (Page::Map(page / self.unit_pages), page % self.unit_pages),
        };
        let (block, unit) = self.of_units.places.get(&of)?;
        Some((block * self.units_per_block + unit) as u32 * self.unit_pages + index)
    }

    pub(super) fn counts(&self) -> MapCounts {
        let pages = u64::from(self.unit_pages);
        let of = self.of_units.counts;
        MapCounts {
            loads: of.loads * pages,
            update_reads: of.update_reads * pages,
            host_reads: of.host_reads * pages,
            write_backs: of.write_backs * pages,
            move_updates: of.move_updates * pages,
            lazy_updates: of.lazy_updates * pages,
            relocations: of.relocations * pages,
            rewrite_reads: self.rewrite_reads,
            rewrites: self.rewrites,
            kept_trims: self.kept_trims,
            ..of
        }
    }
}

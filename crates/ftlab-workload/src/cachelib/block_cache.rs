//! BlockCache: large objects in regions, each of which is written once, from its beginning to its end.

use super::parameters::Eviction;
use super::regions::Regions;
use super::table::{PRESENT, Table};
use ftlab_random::draw_below;
use ftlab_trace::{Op, RequestBatch};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;

/// Bytes that an object takes beside its key and value.
const OBJECT_HEADER_BYTES: u64 = 32;
/// Objects begin at multiples of it.
const ALIGNMENT_BYTES: u64 = 512;
/// A write is never larger.
const WRITE_BYTES_MAX: u64 = 1 << 20;

/// What of a region that is evicted is written again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reinsertion {
    /// Objects with at least these hits since they were written; 0 is none.
    pub(super) hits: u32,
    /// The share of all other objects, in parts of 2^32.
    pub(super) share: u64,
}

/// How a cache of large objects is laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) first_sector: u64,
    pub(super) sector_bytes: u64,
    pub(super) regions: u32,
    pub(super) region_bytes: u64,
    /// Regions that are kept without objects, to be written next.
    pub(super) clean: u32,
    pub(super) eviction: Eviction,
    pub(super) reinsertion: Reinsertion,
    /// Whether regions are trimmed when they are evicted.
    pub(super) trims: bool,
    /// The stream of its writes.
    pub(super) stream: Option<u16>,
}

/// Large objects on flash.
///
/// Objects are collected in a buffer in memory, as large as a region. When it is full, it is written, in
/// requests spread over the time in which the next one fills, so that the writes of others come between
/// them.
pub(super) struct BlockCache {
    layout: Layout,
    random: Xoshiro256PlusPlus,
    /// The [`Place`] of each object.
    index: Table,
    /// The objects of each region in order: key and size.
    objects: Vec<Vec<(u64, u32)>>,
    /// Regions with objects that can be evicted.
    full: Regions,
    clean: VecDeque<u32>,
    /// The region of the buffer that fills, and its bytes so far.
    open: u32,
    open_bytes: u64,
    /// Objects of evicted regions that are written again.
    again: VecDeque<(u64, u32)>,
    /// What is left to write of the buffer that filled before: first sector and sectors.
    left: (u64, u64),
    /// Bytes that have come into the buffer since the last write.
    came_bytes: u64,
}

/// Where an object is, in a number: its hits since it was written, its number in the region, the region.
#[derive(Debug, Clone, Copy)]
struct Place(u64);

impl Place {
    /// As many as [`Reinsertion::hits`] asks for.
    const HITS_MAX: u64 = 255;
    const NUMBER_SHIFT: u32 = 8;
    const REGION_SHIFT: u32 = 31;

    /// A region holds 2^21 objects at most.
    #[inline]
    fn new(region: u32, number: usize) -> Self {
        debug_assert!(number < 1 << (Self::REGION_SHIFT - Self::NUMBER_SHIFT));
        Self(u64::from(region) << Self::REGION_SHIFT | (number as u64) << Self::NUMBER_SHIFT)
    }

    #[inline]
    fn hits(self) -> u32 {
        (self.0 & Self::HITS_MAX) as u32
    }

    /// Region and number there.
    #[inline]
    fn at(self) -> u64 {
        (self.0 & !PRESENT) >> Self::NUMBER_SHIFT
    }

    #[inline]
    fn region(self) -> u32 {
        ((self.0 & !PRESENT) >> Self::REGION_SHIFT) as u32
    }
}

/// How many objects of a region that is evicted are fetched ahead.
const AHEAD: usize = 16;

impl BlockCache {
    /// There are more regions than clean ones and the open one.
    pub(super) fn new(layout: Layout, random: Xoshiro256PlusPlus) -> Self {
        Self {
            random,
            index: Table::new(),
            objects: vec![Vec::new(); layout.regions as usize],
            full: Regions::new(layout.regions),
            clean: (1..layout.regions).collect(),
            open: 0,
            open_bytes: 0,
            again: VecDeque::new(),
            left: (0, 0),
            came_bytes: 0,
            layout,
        }
    }

    /// Reads an object, if it is here.
    #[inline]
    pub(super) fn get(&mut self, key: u64) -> bool {
        let Some(place) = self.index.get_mut(key) else { return false };
        *place += u64::from(*place & Place::HITS_MAX < Place::HITS_MAX);
        if self.layout.eviction == Eviction::Lru {
            let region = Place(*place).region();
            self.full.use_again(region);
        }
        true
    }

    /// Whether an object is here.
    #[inline]
    pub(super) fn contains(&self, key: u64) -> bool {
        self.index.get(key).is_some()
    }

    /// Fetches where an object is.
    #[inline]
    pub(super) fn prefetch(&self, key: u64) {
        self.index.prefetch(key);
    }

    /// Forgets an object, which costs no write: its place is empty until its region is evicted.
    #[inline]
    pub(super) fn remove(&mut self, key: u64) {
        self.index.remove(key);
    }

    /// Puts an object in or replaces it, and whatever of evicted regions is to be written again; what is
    /// larger than a region is not kept.
    pub(super) fn insert(&mut self, key: u64, bytes: u32, out: &mut RequestBatch) {
        self.put(key, bytes, out);
        while let Some((key, bytes)) = self.again.pop_front() {
            self.put(key, bytes, out);
        }
    }

    fn put(&mut self, key: u64, bytes: u32, out: &mut RequestBatch) {
        let slot = (u64::from(bytes) + OBJECT_HEADER_BYTES).next_multiple_of(ALIGNMENT_BYTES);
        if slot > self.layout.region_bytes {
            self.index.remove(key);
            return;
        }
        if self.open_bytes + slot > self.layout.region_bytes {
            self.turn_over(out);
        }
        let objects = &mut self.objects[self.open as usize];
        let place = Place::new(self.open, objects.len());
        objects.push((key, bytes));
        self.index.insert(key, place.0);
        self.open_bytes += slot;
        self.came_bytes += slot;
        while self.came_bytes >= WRITE_BYTES_MAX {
            self.came_bytes -= WRITE_BYTES_MAX;
            self.write(WRITE_BYTES_MAX, out);
        }
    }

    /// Writes at most `bytes` of the buffer that filled before.
    fn write(&mut self, bytes: u64, out: &mut RequestBatch) {
        let (first, left) = self.left;
        let sectors = left.min(bytes / self.layout.sector_bytes);
        if sectors > 0 {
            self.request(Op::Write, first, sectors, out);
            self.left = (first + sectors, left - sectors);
        }
    }

    fn request(&self, op: Op, first: u64, sectors: u64, out: &mut RequestBatch) {
        out.push(op, first, sectors as u32);
        out.stream.extend(self.layout.stream);
    }

    /// Begins to write the open region, and opens the next one.
    fn turn_over(&mut self, out: &mut RequestBatch) {
        while self.left.1 > 0 {
            self.write(WRITE_BYTES_MAX, out);
        }
        self.left = self.sectors(self.open);
        self.full.add(self.open);
        self.open = self.clean.pop_front().expect("a region is clean whenever one is full");
        (self.open_bytes, self.came_bytes) = (0, 0);
        while self.clean.len() < self.layout.clean as usize {
            self.evict(out);
        }
    }

    /// First sector and sectors of a region.
    fn sectors(&self, region: u32) -> (u64, u64) {
        let sectors = self.layout.region_bytes / self.layout.sector_bytes;
        (self.layout.first_sector + u64::from(region) * sectors, sectors)
    }

    /// Empties the region whose turn it is.
    fn evict(&mut self, out: &mut RequestBatch) {
        let region = self.full.take().expect("more regions than are clean or open");
        let mut objects = std::mem::take(&mut self.objects[region as usize]);
        objects.iter().take(AHEAD).for_each(|(key, _)| self.index.prefetch(*key));
        for (number, (key, bytes)) in objects.iter().enumerate() {
            if let Some((key, _)) = objects.get(number + AHEAD) {
                self.index.prefetch(*key);
            }
            let Some(place) = self.index.get(*key).map(Place) else { continue };
            if place.at() != Place::new(region, number).at() {
                continue;
            }
            let Reinsertion { hits, share } = self.layout.reinsertion;
            let is_hit = hits > 0 && place.hits() >= hits;
            if is_hit || (share > 0 && draw_below(&mut self.random, 1 << 32) < share) {
                self.again.push_back((*key, *bytes));
            }
            self.index.remove(*key);
        }
        objects.clear();
        self.objects[region as usize] = objects;
        self.clean.push_back(region);
        if self.layout.trims {
            // What is left of its last write comes first.
            while self.left.1 > 0
                && self.sectors(region).0 + self.sectors(region).1 == self.left.0 + self.left.1
            {
                self.write(WRITE_BYTES_MAX, out);
            }
            let (first, sectors) = self.sectors(region);
            self.request(Op::Trim, first, sectors, out);
        }
    }
}

//! A page-mapped FTL whose map is on flash.

use crate::map::contract::Map;
use crate::map::mapping::Mapping;
use crate::map::stream::MapStream;
use crate::map::watch::{MapWatch, NEXT_VICTIM};
use crate::page::entry::DriveShape;
use crate::page::{ConfigError, DriveConfig, PageMapped, Policy, Refreshed};
use crate::{
    BlockUse, Broken, Counters, ErrorOf, Ftl, MapCounts, MemoryBytes, Metadata, Observer,
    PageBatch, PageWrite, StreamUse,
};
use ftlab_flash::{Flash, Lpn, Ppn};
use std::ops::Range;

/// How many writes ahead what is asked about a page is fetched: of its old version, and before.
const FETCH_AHEAD: [usize; 2] = [12, 24];

/// A page-mapped FTL, and which part of its map is in memory.
pub(crate) struct PagedMap<F, O> {
    ftl: PageMapped<Box<dyn Policy>, F, MapWatch<O>>,
    map: Box<dyn Map>,
    host_pages: u32,
    map_pages: u32,
    entries_per_page: u32,
    counts: MapCounts,
    /// Moved pages and translation pages of a victim, kept for their memory.
    moved: Vec<u32>,
    pages: Vec<u32>,
}

impl<F: Flash + Send, O: Observer> PagedMap<F, O> {
    /// An erased drive of this policy, which has the pages that its map needs.
    pub(crate) fn new(
        map: Box<dyn Map>,
        policy: Box<dyn Policy>,
        config: DriveConfig,
        flash: F,
        observer: O,
    ) -> Result<Self, ConfigError> {
        let DriveConfig { geometry, logical_pages, map_pages, .. } = config;
        let stream = MapStream::new(policy, DriveShape::new(&config));
        let policy: Box<dyn Policy> = Box::new(stream.ok_or(ConfigError::StreamsNeedFullMap)?);
        let watch = MapWatch::new(observer, logical_pages);
        Ok(Self {
            ftl: PageMapped::new(policy, config, flash, watch)?,
            map,
            host_pages: logical_pages,
            map_pages,
            entries_per_page: Mapping::entries_per_page(geometry.page_bytes()),
            counts: MapCounts::default(),
            moved: Vec::new(),
            pages: Vec::new(),
        })
    }

    /// Brings the entry of `lpn` into memory; whether it was there.
    fn look_up(&mut self, lpn: Lpn) -> Result<bool, ErrorOf<Self>> {
        if self.map.look_up(lpn) {
            return Ok(true);
        }
        while let Some(page) = self.map.make_room(lpn) {
            self.counts.write_backs += 1;
            self.update(page)?;
            self.settle()?;
        }
        let page = self.map_page(lpn.0 / self.entries_per_page);
        self.counts.loads += u64::from(self.ftl.read_map_page(page)?);
        self.map.load(lpn);
        Ok(false)
    }

    fn look_up_to_write(&mut self, lpn: Lpn) -> Result<(), ErrorOf<Self>> {
        debug_assert!(lpn.0 < self.host_pages, "page {lpn} is beyond the drive");
        let was_there = self.look_up(lpn)?;
        self.counts.write_lookups += 1;
        self.counts.write_hits += u64::from(was_there);
        Ok(())
    }

    /// The logical page of a translation page.
    fn map_page(&self, page: u32) -> Lpn {
        Lpn(self.host_pages + page)
    }

    /// Writes a translation page with a part of its entries changed; what it has of the others is read.
    fn update(&mut self, page: u32) -> Result<(), ErrorOf<Self>> {
        let page = self.map_page(page);
        self.counts.update_reads += u64::from(self.ftl.read_map_page(page)?);
        self.ftl.write_map_page(page)
    }

    /// Takes note of what has moved since, victim by victim. What is written for it may move further pages.
    fn settle(&mut self) -> Result<(), ErrorOf<Self>> {
        while !self.ftl.observer().moved.is_empty() {
            let mut moved = std::mem::take(&mut self.moved);
            std::mem::swap(&mut moved, &mut self.ftl.observer_mut().moved);
            let settled = moved
                .split(|lpn| *lpn == NEXT_VICTIM)
                .try_for_each(|of_victim| self.settle_victim(of_victim));
            moved.clear();
            self.moved = moved;
            settled?;
        }
        Ok(())
    }

    fn settle_victim(&mut self, moved: &[u32]) -> Result<(), ErrorOf<Self>> {
        let mut pages = std::mem::take(&mut self.pages);
        pages.clear();
        for &lpn in moved {
            if self.map.change(Lpn(lpn)) {
                self.counts.lazy_updates += 1;
            } else {
                pages.push(lpn / self.entries_per_page);
            }
        }
        pages.sort_unstable();
        pages.dedup();
        let settled = pages.iter().try_for_each(|page| {
            self.counts.move_updates += 1;
            self.update(*page)
        });
        self.pages = pages;
        settled
    }

    /// Every entry is up to date in memory or on flash.
    fn check_entries(&self) -> Result<(), String> {
        for lpn in (0..self.host_pages).map(Lpn) {
            let page = self.map_page(lpn.0 / self.entries_per_page);
            let is_told = self.map.is_changed(lpn) || self.ftl.flash_page(page).is_some();
            if self.ftl.flash_page(lpn).is_some() && !is_told {
                return Err(format!("nothing tells where page {lpn} is"));
            }
        }
        Ok(())
    }
}

impl<F: Flash + Send, O: Observer> Ftl for PagedMap<F, O> {
    type Flash = F;
    type Observer = O;

    fn write_page(&mut self, write: PageWrite<'_>) -> Result<(), ErrorOf<Self>> {
        let lpn = write.page.lpn;
        self.look_up_to_write(lpn)?;
        self.ftl.write_page(write)?;
        let is_there = self.map.change(lpn);
        debug_assert!(is_there, "page {lpn} was looked up");
        self.settle()
    }

    fn trim(&mut self, lpn: Lpn) -> Result<(), ErrorOf<Self>> {
        self.look_up_to_write(lpn)?;
        if self.ftl.flash_page(lpn).is_some() {
            self.map.change(lpn);
        }
        self.ftl.trim(lpn)
    }

    fn read(&mut self, lpn: Lpn, data: &mut [u8]) -> Result<bool, ErrorOf<Self>> {
        let was_there = self.look_up(lpn)?;
        self.counts.read_lookups += 1;
        self.counts.read_hits += u64::from(was_there);
        self.ftl.read(lpn, data)
    }

    fn write_pages(&mut self, pages: &[Lpn]) -> Result<(), ErrorOf<Self>> {
        for (index, &lpn) in pages.iter().enumerate() {
            self.fetch_of(pages, index);
            self.write_page(PageWrite::by_host(lpn, &[]))?;
        }
        Ok(())
    }

    fn write_some(&mut self, batch: &PageBatch, which: Range<usize>) -> Result<(), ErrorOf<Self>> {
        for index in which {
            self.fetch_of(&batch.writes, index);
            self.write_page(batch.page_write(index))?;
        }
        Ok(())
    }

    fn fetch_ahead(&self, near: Lpn, far: Lpn) {
        self.map.fetch_ahead(far);
        self.ftl.fetch_ahead(near, far);
    }

    fn counters(&self) -> Counters {
        self.ftl.counters()
    }

    fn streams(&self) -> Vec<StreamUse> {
        self.ftl.streams()
    }

    fn flash_page(&self, lpn: Lpn) -> Option<Ppn> {
        self.ftl.flash_page(lpn)
    }

    fn block_uses(&self) -> Vec<BlockUse> {
        self.ftl.block_uses()
    }

    fn retired_blocks(&self) -> u32 {
        self.ftl.retired_blocks()
    }

    fn count_read(&mut self, page: Ppn) -> Result<(), ErrorOf<Self>> {
        self.ftl.count_read(page)?;
        self.settle()
    }

    fn refreshed(&self) -> Refreshed {
        self.ftl.refreshed()
    }

    fn work_while_idle(&mut self, pages: u32) -> Result<bool, ErrorOf<Self>> {
        let worked = self.ftl.work_while_idle(pages)?;
        self.settle()?;
        Ok(worked)
    }

    fn map_counts(&self) -> Option<MapCounts> {
        Some(MapCounts { relocations: self.ftl.observer().relocations, ..self.counts })
    }

    fn map_pages(&self) -> u32 {
        self.map_pages
    }

    fn groups(&self) -> Option<u32> {
        self.ftl.groups()
    }

    fn memory_bytes(&self) -> MemoryBytes {
        let MemoryBytes { drive, policy } = self.ftl.memory_bytes();
        MemoryBytes { drive: drive + self.map.memory_bytes(), policy }
    }

    fn metadata(&self) -> Metadata {
        self.ftl.metadata()
    }

    fn check(&self) -> Result<(), Broken> {
        self.map.check().and_then(|()| self.check_entries()).map_err(Broken)?;
        self.ftl.check()
    }

    fn flash(&self) -> &F {
        self.ftl.flash()
    }

    fn flash_mut(&mut self) -> &mut F {
        self.ftl.flash_mut()
    }

    fn observer(&self) -> &O {
        &self.ftl.observer().below
    }

    fn observer_mut(&mut self) -> &mut O {
        &mut self.ftl.observer_mut().below
    }
}

impl<F: Flash + Send, O: Observer> PagedMap<F, O> {
    #[inline]
    fn fetch_of(&self, pages: &[Lpn], index: usize) {
        let ahead = FETCH_AHEAD.map(|ahead| pages.get(index + ahead));
        if let [Some(&near), Some(&far)] = ahead {
            self.fetch_ahead(near, far);
        }
    }
}

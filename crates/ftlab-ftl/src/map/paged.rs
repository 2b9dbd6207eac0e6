//! A page-mapped FTL whose map is on flash, or by units.

use crate::map::contract::{Found, Learned, Map, Point, WriteBack};
use crate::map::in_memory::InMemory;
use crate::map::lru::SegmentedLru;
use crate::map::mapping::Mapping;
use crate::map::stream::MapStream;
use crate::map::translation_pages::TranslationPages;
use crate::map::units::{UnitFlash, UnitPages};
use crate::map::waiting::{Waiting, Write};
use crate::map::watch::{MapWatch, NEXT_VICTIM};
use crate::page::entry::DriveShape;
use crate::page::{
    Adopt, ConfigError, DriveConfig, DriveState, PageMapped, Policy, Refreshed, Resume,
};
use crate::{
    Archive, BlockUse, Broken, ChosenRule, Counters, ErrorOf, Ftl, FtlError, MapCounts,
    MemoryBytes, Metadata, Observer, PageBatch, PageWrite, State, StateError, StreamUse,
};
use ftlab_flash::{BlockId, Cause, Content, Flash, Lpn, Page, Ppn, Purpose};
use std::collections::BTreeMap;
use std::ops::Range;

/// How many writes ahead what is asked about a page is fetched: what its entry refers to, its entry and its old version,
/// and before that where these are.
const FETCH_AHEAD: [usize; 3] = [6, 12, 24];

/// Pages of the map for which a page of the host waits, and those for which none does.
const AWAITED: Purpose = Cause::Map.awaited();
const UNAWAITED: Purpose = Cause::Map.unawaited();

/// A page that the host writes.
const HOST: Purpose = Cause::Host.awaited();

/// A page-mapped FTL whose pages are units, and which part of its map is in memory.
pub(crate) struct PagedMap<F, O> {
    ftl: PageMapped<MapStream, UnitFlash<F>, MapWatch<O>>,
    map: Box<dyn Map>,
    /// Translation pages in memory of the host, and the time of a read from there.
    host: Option<SegmentedLru>,
    host_ns: u64,
    units: UnitPages,
    /// Pages that the host can address.
    logical_pages: u32,
    /// Units of the host, after which translation pages follow.
    host_units: u32,
    map_pages: u32,
    entries_per_page: u32,
    counts: MapCounts,
    /// Pages that the host wrote and that do not wait, and those that it trimmed of what it had written.
    written: u64,
    trimmed: u64,
    /// Of the next writes, this many were written already, with the first page of their request in this unit.
    ahead: u32,
    /// What was written and waits, if the map has it programmed in order.
    waiting: Option<Waiting>,
    /// Pages of a block of the engine, if the map learns places.
    learns: Option<u32>,
    /// Whether the map has models of translation pages.
    trains: bool,
    points: Vec<Point>,
    /// Moved pages and translation pages of a victim, kept for their memory.
    moved: Vec<u32>,
    pages: Vec<u32>,
    to_update: TranslationPages,
    /// If places are on flash alone: how many may be in memory before those that the map does not hold are dropped.
    places_most: usize,
    /// While operations are repeated: the pages of the host whose places are asked for, a bit each.
    asked: Option<Vec<u64>>,
    /// Whether the map weighs translation pages before they come, and the one that is about to.
    weighs: bool,
    coming: Option<u32>,
    /// Data of a translation page that is read or written.
    content: Vec<u8>,
    /// Translation pages that the drive did not take, since it became read-only: they stay in memory.
    unwritten: BTreeMap<u32, Vec<u8>>,
    /// Data of a translation page that was read for [`Resume::find`], and its number, if it is as on flash.
    found: (Option<u32>, Vec<u8>),
}

impl<F: Flash + Send, O: Observer> PagedMap<F, O> {
    /// An erased drive of this policy; The second configuration is what [`Mapping::of_engine`] makes
    /// of the first. A small one takes no memory for entries that are not held.
    pub(crate) fn new(
        (mapping, is_small): (&Mapping, bool),
        policy: Box<dyn Policy>,
        [config, engine]: [DriveConfig; 2],
        flash: F,
        observer: O,
    ) -> Result<Self, ConfigError> {
        let DriveConfig { geometry, logical_pages: host_units, map_pages, .. } = engine;
        let logical_pages = config.logical_pages;
        let entries_per_page = Mapping::entries_per_page(geometry.page_bytes());
        let units = UnitPages::new(geometry.page_bytes() / config.geometry.page_bytes());
        let map = mapping.make(&engine, is_small);
        let (host, host_ns) = match mapping.host_memory(&engine) {
            Some((pages, ns)) => (Some(SegmentedLru::new(map_pages, pages, 0, false)), ns),
            None => (None, 0),
        };
        let policy = match &map {
            Some(_) => {
                let stream = MapStream::new(policy, DriveShape::new(&engine));
                stream.ok_or(ConfigError::StreamsNeedFullMap)?
            }
            None => MapStream::without(policy),
        };
        let buffer = map.as_ref().and_then(|map| map.learns());
        let learns = buffer.map(|_| geometry.pages_per_block());
        let waiting = buffer.filter(|pages| *pages > 1);
        let waiting = waiting.map(|pages| Waiting::new(pages, host_units));
        let trains = map.as_ref().is_some_and(|map| map.trains());
        let weighs = map.as_ref().is_some_and(|map| map.weighs_pages());
        let content = vec![u8::MAX; if is_small { geometry.page_bytes() as usize } else { 0 }];
        let watch = MapWatch::new(observer, units, [host_units, logical_pages], map.is_some());
        Ok(Self {
            ftl: PageMapped::with_tables(
                policy,
                engine,
                UnitFlash::new(flash, units),
                watch,
                is_small,
            )
            .map_err(|error| error.in_pages(units.pages, logical_pages))?,
            map: map.unwrap_or_else(|| Box::new(InMemory)),
            host,
            host_ns,
            units,
            logical_pages,
            host_units,
            map_pages,
            entries_per_page,
            counts: MapCounts::default(),
            written: 0,
            trimmed: 0,
            ahead: 0,
            waiting,
            learns,
            trains,
            points: Vec::new(),
            moved: Vec::new(),
            pages: Vec::new(),
            to_update: TranslationPages::new(map_pages, entries_per_page),
            places_most: 0,
            asked: None,
            weighs,
            coming: None,
            content: content.clone(),
            unwritten: BTreeMap::new(),
            found: (None, content),
        })
    }

    /// The first page after those that a unit has.
    fn end_of(&self, unit: u32) -> u32 {
        ((unit + 1) * self.units.pages).min(self.logical_pages)
    }

    /// Writes `pages` pages of one request, all of one unit, from that of `write` on; the request has pages of `following`
    /// units after it.
    #[inline]
    fn write_in_unit(
        &mut self,
        write: PageWrite<'_>,
        pages: u32,
        following: u32,
    ) -> Result<(), ErrorOf<Self>> {
        let (unit, first) = self.units.of(write.page.lpn.0);
        let asked = first..first + pages;
        if let Some(waiting) = &mut self.waiting {
            if let (Content::New(data), HOST) = (write.page.content, write.purpose) {
                self.ftl.refuse_if_read_only()?;
                let is_full = waiting.add(unit, asked, data, write.hint);
                return if is_full { self.program_waiting() } else { Ok(()) };
            }
            self.program_waiting()?;
        }
        self.look_up_to_write(Lpn(unit), following, AWAITED)?;
        self.program(write, unit, asked)?;
        self.learn(&[unit]);
        Ok(())
    }

    /// Programs a unit, `asked` of which the host has written.
    fn program(
        &mut self,
        write: PageWrite<'_>,
        unit: u32,
        asked: Range<u32>,
    ) -> Result<(), ErrorOf<Self>> {
        let pages = asked.len() as u64;
        if !self.units.is_one() {
            self.complete(unit, asked)?;
        }
        let page = Page { lpn: Lpn(unit), ..write.page };
        let written = self.ftl.write_page(PageWrite { page, ..write });
        if let Err(FtlError::ReadOnly { .. }) = &written {
            // Whether it was carried out or not.
            self.map.change(Lpn(unit));
            self.settle()?;
            self.learn(&[unit]);
        }
        written?;
        self.written += pages;
        let is_there = self.map.change(Lpn(unit));
        debug_assert!(is_there, "unit {unit} was looked up");
        self.settle()?;
        if self.trains
            && let Some(place) = self.ftl.flash_page(Lpn(unit))
        {
            self.map.wrote(Lpn(unit), place);
        }
        Ok(())
    }

    /// Programs what waits in the order of addresses. What the drive does not take waits further, with the write that
    /// met the end, although that is refused.
    fn program_waiting(&mut self) -> Result<(), ErrorOf<Self>> {
        self.ftl.refuse_if_read_only()?;
        let Some(waiting) = &mut self.waiting else { return Ok(()) };
        let mut writes = waiting.take_in_order(self.entries_per_page);
        let mut programmed = 0;
        let result = self.program_all(&writes, &mut programmed);
        if let (Some(waiting), true) = (&mut self.waiting, result.is_err()) {
            waiting.put_back(writes.split_off(programmed));
        }
        result
    }

    /// Programs these, and counts them. What is of one translation page is learned together.
    fn program_all(
        &mut self,
        writes: &[Write],
        programmed: &mut usize,
    ) -> Result<(), ErrorOf<Self>> {
        let entries = self.entries_per_page;
        let mut units = Vec::new();
        for of_page in writes.chunk_by(|a, b| a.unit / entries == b.unit / entries) {
            units.clear();
            let result = of_page.iter().try_for_each(|write| {
                self.program_one_that_waited(write)?;
                units.push(write.unit);
                Ok(())
            });
            *programmed += units.len();
            self.learn(&units);
            result?;
        }
        Ok(())
    }

    fn program_one_that_waited(&mut self, write: &Write) -> Result<(), ErrorOf<Self>> {
        let Write { unit, asked, data, hint, is_again } = write;
        // Where an older version went with the same pages is not learned.
        if *is_again {
            self.bring_to_write(Lpn(*unit), 0, AWAITED)?;
        } else {
            self.look_up_to_write(Lpn(*unit), 0, AWAITED)?;
        }
        let write = PageWrite { hint: *hint, ..PageWrite::by_host(Lpn(*unit), data) };
        self.program(write, *unit, asked.clone())
    }

    /// The map learns where units are, if it does.
    #[inline]
    fn learn(&mut self, units: &[u32]) {
        if let Some(block_pages) = self.learns {
            self.learn_places(units, block_pages);
        }
    }

    fn learn_places(&mut self, units: &[u32], block_pages: u32) {
        self.points.clear();
        let place = |unit: &u32| self.ftl.flash_page(Lpn(*unit)).map(|place| (Lpn(*unit), place));
        self.points.extend(units.iter().filter_map(place).map(|(lpn, place)| Point { lpn, place }));
        let block = |point: &Point| point.place.0 / block_pages;
        self.points.sort_unstable_by_key(|point| (block(point), point.lpn));
        self.points.dedup();
        for of_block in self.points.chunk_by(|a, b| block(a) == block(b)) {
            self.map.learn(of_block);
        }
    }

    /// Reads a flash page in vain, if the map says that unit `lpn` is elsewhere.
    #[inline]
    fn predict(&mut self, lpn: Lpn, purpose: Purpose) -> Result<(), ErrorOf<Self>> {
        if self.learns.is_none() {
            return Ok(());
        }
        match self.ftl.flash_page(lpn) {
            Some(place) if !self.map.predicts(lpn, place) => {
                self.counts.mispredicted += 1;
                self.ftl.read_in_vain(place, purpose)
            }
            _ => Ok(()),
        }
    }

    /// Reads what the host does not write of a unit.
    fn complete(&mut self, unit: u32, asked: Range<u32>) -> Result<(), ErrorOf<Self>> {
        let held = self.end_of(unit) - unit * self.units.pages;
        self.counts.rewrites += u64::from(self.units.pages - asked.len() as u32);
        let place = self.ftl.flash_page(Lpn(unit));
        let flash = self.ftl.flash_mut();
        flash.asked = asked;
        if let Some(place) = place {
            let read = flash.read_others(place, held).map_err(FtlError::Flash)?;
            self.counts.rewrite_reads += u64::from(read);
        }
        Ok(())
    }

    /// Gives up the units that a trim covers, and counts what it names of others.
    fn trim_units(&mut self, pages: Range<u32>) -> Result<(), ErrorOf<Self>> {
        let mut page = pages.start;
        while page < pages.end {
            let (unit, first) = self.units.of(page);
            let end = self.end_of(unit).min(pages.end);
            if first == 0 && end == self.end_of(unit) {
                self.trim_unit(unit)?;
            } else if self.ftl.flash_page(Lpn(unit)).is_some() || self.waits(unit) {
                self.counts.kept_trims += u64::from(end - page);
            }
            page = end;
        }
        Ok(())
    }

    fn trim_unit(&mut self, unit: u32) -> Result<(), ErrorOf<Self>> {
        if self.waits(unit) {
            match self.program_waiting() {
                Err(FtlError::ReadOnly { .. }) => self.forget_waiting(unit),
                programmed => programmed?,
            }
        }
        self.look_up_to_write(Lpn(unit), 0, UNAWAITED)?;
        let mut is_there = true;
        if self.ftl.flash_page(Lpn(unit)).is_some() {
            is_there = self.map.change(Lpn(unit));
            self.trimmed += u64::from(self.end_of(unit) - unit * self.units.pages);
        }
        self.ftl.trim(Lpn(unit))?;
        if !is_there {
            debug_assert!(self.is_read_only(), "unit {unit} was looked up");
            self.update(WriteBack::in_part(unit / self.entries_per_page), UNAWAITED)?;
        }
        Ok(())
    }

    /// Brings the entry of unit `lpn` into memory; whether it was there.
    #[inline]
    fn look_up(
        &mut self,
        lpn: Lpn,
        following: u32,
        purpose: Purpose,
    ) -> Result<bool, ErrorOf<Self>> {
        let found = self.map.look_up(lpn, following);
        self.bring(lpn, found, purpose)
    }

    /// Brings the entry of unit `lpn` into memory, which was found there or not; whether it was.
    #[inline]
    fn bring(&mut self, lpn: Lpn, found: Found, purpose: Purpose) -> Result<bool, ErrorOf<Self>> {
        match found {
            Found::Here => Ok(true),
            Found::Told => Ok(false),
            Found::InPage | Found::Nowhere => self.bring_in(lpn, found, purpose),
        }
    }

    fn bring_in(
        &mut self,
        lpn: Lpn,
        found: Found,
        purpose: Purpose,
    ) -> Result<bool, ErrorOf<Self>> {
        if self.is_read_only() {
            return self.look_at(lpn, found, purpose);
        }
        let page = lpn.0 / self.entries_per_page;
        let is_ahead = self.weighs && found == Found::Nowhere && !self.content.is_empty();
        if is_ahead {
            self.bring_page(page, purpose)?;
        }
        while let Some(written) = self.map.make_room(lpn, &|lpn| self.ftl.flash_page(lpn)) {
            self.counts.write_backs += 1;
            self.update(written, purpose)?;
            self.settle()?;
        }
        if found == Found::Nowhere {
            let is_read = if is_ahead {
                self.ftl.flash_page(self.map_page(page)).is_some()
            } else {
                self.read(page, purpose)?
            };
            self.counts.loads += u64::from(is_read);
        }
        self.map.load(lpn);
        if is_ahead {
            self.coming = None;
        } else if found == Found::Nowhere {
            self.bring_loaded(lpn);
        }
        self.settle()?;
        Ok(found == Found::InPage)
    }

    /// Whether flash that wears out takes no pages any more.
    fn is_read_only(&self) -> bool {
        F::WEARS_OUT && self.ftl.is_read_only()
    }

    /// Looks up the entry of unit `lpn` on a drive that is read-only. What is in memory stays, since what has changed of
    /// it has nowhere to go; whether the entry was there.
    #[cold]
    fn look_at(&mut self, lpn: Lpn, found: Found, purpose: Purpose) -> Result<bool, ErrorOf<Self>> {
        if found == Found::InPage {
            return Ok(true);
        }
        let is_read = self.read(lpn.0 / self.entries_per_page, purpose)?;
        self.counts.loads += u64::from(is_read);
        if !self.content.is_empty() {
            let entry = (lpn.0 % self.entries_per_page) as usize;
            let place = places(&self.content).nth(entry).unwrap_or(NOWHERE);
            self.ftl.drive_mut().bring(lpn, place);
        }
        Ok(false)
    }

    /// Whether a unit was written, and is not programmed yet.
    fn waits(&self, unit: u32) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| waiting.holds(unit))
    }

    /// Gives up a unit that a read-only drive cannot program.
    #[cold]
    fn forget_waiting(&mut self, unit: u32) {
        if let Some(waiting) = &mut self.waiting {
            waiting.forget(unit);
        }
    }

    /// Brings the entry of a unit into memory, which tells the place that is given up.
    #[inline]
    fn look_up_to_write(
        &mut self,
        lpn: Lpn,
        following: u32,
        purpose: Purpose,
    ) -> Result<(), ErrorOf<Self>> {
        self.bring_to_write(lpn, following, purpose)?;
        self.predict(lpn, UNAWAITED)
    }

    #[inline]
    fn bring_to_write(
        &mut self,
        lpn: Lpn,
        following: u32,
        purpose: Purpose,
    ) -> Result<(), ErrorOf<Self>> {
        debug_assert!(lpn.0 < self.host_units, "unit {lpn} is beyond the drive");
        let was_there = self.look_up(lpn, following, purpose)?;
        self.counts.write_lookups += 1;
        self.counts.write_hits += u64::from(was_there);
        Ok(())
    }

    /// The logical page of a translation page.
    fn map_page(&self, page: u32) -> Lpn {
        Lpn(self.host_units + page)
    }

    /// Writes a translation page; what is not in memory of it is read before. It stays in memory if the drive is
    /// read-only.
    fn update(
        &mut self,
        WriteBack { page, is_whole }: WriteBack,
        purpose: Purpose,
    ) -> Result<(), ErrorOf<Self>> {
        self.map.written(page);
        if !is_whole {
            self.counts.update_reads += u64::from(self.read(page, purpose)?);
        }
        let mut content = std::mem::take(&mut self.content);
        if is_whole {
            erase(&mut content);
        }
        self.lay_over(page, is_whole, &mut content);
        let written = self.ftl.write_map_page(self.map_page(page), &content, purpose);
        if let Err(FtlError::ReadOnly { .. }) = &written {
            self.unwritten.insert(page, content.clone());
            self.content = content;
            return Ok(());
        }
        self.content = content;
        written?;
        if let Some(host) = &mut self.host {
            host.keep(Lpn(page));
        }
        Ok(())
    }

    /// The entries of a translation page are at hand, since it is about to be written.
    fn train(&mut self, page: u32) {
        let Self { map, ftl, .. } = self;
        map.train(page, &|lpn| ftl.flash_page(lpn));
    }

    /// Reads a translation page, if it has been written: whether it came from flash.
    fn read(&mut self, page: u32, purpose: Purpose) -> Result<bool, ErrorOf<Self>> {
        if let Some(content) = self.unwritten.get(&page) {
            self.content.clone_from(content);
            return Ok(false);
        }
        if self.host.as_mut().is_some_and(|host| host.touch(Lpn(page))) {
            self.counts.host_reads += 1;
            if purpose.is_awaited {
                self.ftl.flash_mut().await_map(self.host_ns);
            }
            return Ok(false);
        }
        let lpn = self.map_page(page);
        let is_read = self.ftl.read_map_page(lpn, &mut self.content, purpose)?;
        if !is_read {
            erase(&mut self.content);
        }
        if let Some(host) = self.host.as_mut().filter(|_| is_read) {
            host.keep(Lpn(page));
        }
        Ok(is_read)
    }

    /// Takes note of what has moved since, and drops places that are not needed in memory.
    #[inline]
    fn settle(&mut self) -> Result<(), ErrorOf<Self>> {
        if !self.ftl.observer().moved.is_empty() {
            self.settle_moved()?;
        }
        let drive = self.ftl.drive();
        if drive.is_paged() && drive.places_in_memory() > self.places_most && self.asked.is_none() {
            self.drop_places();
        }
        Ok(())
    }

    /// Takes note victim by victim. What is written for it may move further pages.
    fn settle_moved(&mut self) -> Result<(), ErrorOf<Self>> {
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
        self.map.change_moved(moved, &mut pages);
        self.counts.lazy_updates += (moved.len() - pages.len()) as u64;
        self.to_update.pages_of(&mut pages);
        self.learn(moved);
        let settled = pages.iter().try_for_each(|page| {
            self.counts.move_updates += 1;
            if self.trains {
                self.train(*page);
            }
            self.update(WriteBack::in_part(*page), UNAWAITED)
        });
        self.pages = pages;
        settled
    }

    /// Every entry is up to date in memory or on flash.
    fn check_entries(&self) -> Result<(), String> {
        for lpn in (0..self.host_units).map(Lpn) {
            let page = self.map_page(lpn.0 / self.entries_per_page);
            let is_told = self.map.is_changed(lpn)
                || self.ftl.flash_page(page).is_some()
                || self.unwritten.contains_key(&(lpn.0 / self.entries_per_page));
            if self.ftl.flash_page(lpn).is_some() && !is_told {
                return Err(format!("nothing tells where unit {lpn} is"));
            }
            if let Some(place) = self.ftl.flash_page(lpn) {
                self.map.check_place(lpn, place)?;
            }
        }
        Ok(())
    }
}

impl<F: Flash + Send, O: Observer> Ftl for PagedMap<F, O> {
    type Flash = F;
    type Observer = O;

    fn write_page(&mut self, write: PageWrite<'_>) -> Result<(), ErrorOf<Self>> {
        self.write_in_unit(write, 1, 0)
    }

    fn trim(&mut self, lpn: Lpn) -> Result<(), ErrorOf<Self>> {
        self.trim_pages(lpn, 1)
    }

    fn trim_pages(&mut self, first: Lpn, pages: u32) -> Result<(), ErrorOf<Self>> {
        self.trim_units(first.0..first.0 + pages)
    }

    fn read(&mut self, lpn: Lpn, data: &mut [u8]) -> Result<bool, ErrorOf<Self>> {
        let is_on_flash = self.look_up_to_read(lpn, 0)?;
        let (unit, page) = self.units.of(lpn.0);
        if let Some(written) = self.waiting.as_ref().filter(|_| !is_on_flash) {
            let written = written.data(unit).unwrap_or_default();
            data[..written.len()].copy_from_slice(written);
            return Ok(true);
        }
        self.ftl.flash_mut().asked = page..page + 1;
        self.ftl.read(Lpn(unit), data)
    }

    fn look_up_to_read(&mut self, lpn: Lpn, following: u32) -> Result<bool, ErrorOf<Self>> {
        let (unit, page) = self.units.of(lpn.0);
        if self.waiting.as_ref().is_some_and(|waiting| waiting.holds_page(unit, page)) {
            return Ok(false);
        }
        let units = following.saturating_sub(self.units.pages - 1 - page);
        let found = self.map.look_up_to_read(Lpn(unit), units.div_ceil(self.units.pages));
        let loads = self.counts.loads;
        let was_there = self.bring(Lpn(unit), found, AWAITED)?;
        self.counts.read_lookups += 1;
        self.counts.read_hits += u64::from(was_there);
        self.counts.told += u64::from(found == Found::Told);
        self.counts.double_reads += self.counts.loads - loads;
        self.predict(Lpn(unit), AWAITED)?;
        Ok(true)
    }

    fn write_pages(&mut self, pages: &[Lpn]) -> Result<(), ErrorOf<Self>> {
        for (index, &lpn) in pages.iter().enumerate() {
            self.fetch_of(pages, index);
            self.write_page(PageWrite::by_host(lpn, &[]))?;
        }
        Ok(())
    }

    fn write_some(&mut self, batch: &PageBatch, which: Range<usize>) -> Result<(), ErrorOf<Self>> {
        let mut index = which.start + (self.ahead as usize).min(which.len());
        self.ahead -= (index - which.start) as u32;
        while index < which.end {
            self.fetch_of(&batch.writes, index);
            let lpn = batch.writes[index].0;
            let left = batch.following(index).saturating_add(1);
            let (pages, units) = if self.units.is_one() {
                (1, left - 1)
            } else {
                let pages = left.min(self.end_of(self.units.of(lpn).0) - lpn);
                (pages, (left - pages).div_ceil(self.units.pages))
            };
            self.write_in_unit(batch.page_write(index), pages, units)?;
            let next = index + pages as usize;
            self.ahead = next.saturating_sub(which.end) as u32;
            index = next.min(which.end);
        }
        Ok(())
    }

    fn fetch_ahead(&self, near: Lpn, far: Lpn) {
        let [near, far] = [near, far].map(|page| Lpn(self.units.of(page.0).0));
        self.map.fetch_ahead([near, near, far]);
        self.ftl.fetch_ahead(near, far);
    }

    fn counters(&self) -> Counters {
        let mut counters = self.ftl.counters();
        (counters.host_writes, counters.trims) = (self.written, self.trimmed);
        for stream in &mut counters.streams {
            stream.relocations *= u64::from(self.units.pages);
        }
        counters
    }

    fn streams(&self) -> Vec<StreamUse> {
        self.ftl.streams()
    }

    fn flash_page(&self, lpn: Lpn) -> Option<Ppn> {
        let ((unit, page), first) = match lpn.0.checked_sub(self.logical_pages) {
            None => (self.units.of(lpn.0), 0),
            Some(page) => (self.units.of(page), self.host_units),
        };
        let place = self.ftl.flash_page(Lpn(first + unit))?;
        Some(Ppn(place.0 * self.units.pages + page))
    }

    fn block_uses(&self) -> Vec<BlockUse> {
        self.ftl.block_uses()
    }

    fn retired_blocks(&self) -> u32 {
        self.ftl.retired_blocks()
    }

    fn count_read(&mut self, page: Ppn) -> Result<(), ErrorOf<Self>> {
        let counted = self.ftl.count_read(Ppn(self.units.of(page.0).0));
        self.settle()?;
        counted
    }

    fn refreshed(&self) -> Refreshed {
        let Refreshed { blocks, pages } = self.ftl.refreshed();
        Refreshed { blocks, pages: pages * u64::from(self.units.pages) }
    }

    fn work_while_idle(&mut self, pages: u32) -> Result<bool, ErrorOf<Self>> {
        let worked = self.ftl.work_while_idle(pages);
        self.settle()?;
        worked
    }

    fn map_counts(&self) -> Option<MapCounts> {
        let relocations = self.ftl.observer().relocations;
        let Learned { segments, bytes: segment_bytes, mappings: learned } = self.map.learned();
        let waiting = self.waiting.as_ref().map_or(0, Waiting::pages);
        let counts =
            MapCounts { relocations, segments, segment_bytes, learned, waiting, ..self.counts };
        Some(counts.in_pages(self.units.pages))
    }

    fn map_pages(&self) -> u32 {
        self.map_pages * self.units.pages
    }

    fn groups(&self) -> Option<u32> {
        self.ftl.groups()
    }

    fn rule(&self) -> Option<ChosenRule> {
        self.ftl.rule()
    }

    fn memory_bytes(&self) -> MemoryBytes {
        let MemoryBytes { drive, policy } = self.ftl.memory_bytes();
        let host = self.host.as_ref().map_or(0, SegmentedLru::bytes);
        let waiting = self.waiting.as_ref().map_or(0, Waiting::bytes);
        let map = self.map.memory_bytes() + self.to_update.bytes();
        MemoryBytes { drive: drive + map + host + waiting, policy }
    }

    fn metadata(&self) -> Metadata {
        self.ftl.metadata()
    }

    fn check(&self) -> Result<(), Broken> {
        if self.ftl.drive().is_paged() {
            self.map.check().map_err(Broken)?;
            return self.ftl.check();
        }
        let host = self.host.as_ref().map_or(Ok(()), SegmentedLru::check);
        host.and_then(|()| self.map.check()).and_then(|()| self.check_entries()).map_err(Broken)?;
        self.ftl.check()
    }

    fn flash(&self) -> &F {
        &self.ftl.flash().below
    }

    fn flash_mut(&mut self) -> &mut F {
        &mut self.ftl.flash_mut().below
    }

    fn observer(&self) -> &O {
        &self.ftl.observer().below
    }

    fn observer_mut(&mut self) -> &mut O {
        &mut self.ftl.observer_mut().below
    }
}

impl<F: Flash + Send, O: Observer> Resume for PagedMap<F, O> {
    /// That of the engine: its pages are units, and those after the units of the host are translation pages.
    fn drive(&self) -> &DriveState {
        self.ftl.drive()
    }

    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let Self {
            ftl,
            map,
            host,
            host_ns: _,
            counts,
            written,
            trimmed,
            ahead,
            waiting,
            learns: _,
            trains: _,
            points: _,
            units: _,
            logical_pages: _,
            host_units,
            map_pages,
            entries_per_page: _,
            moved: _,
            pages: _,
            to_update: _,
            places_most: _,
            asked: _,
            weighs: _,
            coming: _,
            content: _,
            // Of flash that wears out, which is in memory alone.
            unwritten: _,
            found: _,
        } = self;
        for expected in [*host_units, *map_pages] {
            let mut found = expected;
            found.transfer(archive)?;
            if found != expected {
                let [found, expected] = [found, expected].map(u64::from);
                return Err(StateError::Length { found, expected });
            }
        }
        let fields: [(&'static str, &mut dyn State); 8] = [
            ("map", map),
            ("host", host),
            ("counts", counts),
            ("written", written),
            ("trimmed", trimmed),
            ("ahead", ahead),
            ("waiting", waiting),
            ("watch", ftl.observer_mut()),
        ];
        for (name, field) in fields {
            archive.name(name)?;
            field.transfer(archive)?;
        }
        ftl.transfer(archive)?;
        // Of those that hold nothing, the mapping that is restored next tells nothing.
        if ftl.drive().is_paged() {
            self.bring_held();
        }
        Ok(())
    }

    fn transfer_without_map(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let Self { counts, written, trimmed, ftl, .. } = self;
        let fields: [&mut dyn State; 4] = [counts, written, trimmed, ftl.observer_mut()];
        for field in fields {
            field.transfer(archive)?;
        }
        ftl.transfer(archive)
    }

    fn set_mapping(&mut self, first: Lpn, flash_pages: &[u32]) -> Result<(), StateError> {
        if !self.ftl.drive().is_paged() {
            return self.ftl.set_mapping(first, flash_pages);
        }
        let drive = self.ftl.drive();
        let (flash, pages) = (drive.geometry().pages(), drive.all_pages());
        for (&page, lpn) in flash_pages.iter().zip(first.0..) {
            if lpn >= pages {
                let (found, expected) = (u64::from(lpn) + 1, pages.into());
                return Err(StateError::Length { found, expected });
            }
            if page != NOWHERE && page >= flash {
                return Err(StateError::Value(page.into()));
            }
            let is_asked = |asked: &Vec<u64>| asked[lpn as usize / 64] >> (lpn % 64) & 1 == 1;
            let holds = lpn < self.host_units
                && (self.asked.as_ref().is_some_and(is_asked) || self.map.holds(Lpn(lpn)));
            if page != NOWHERE {
                self.ftl.drive_mut().restore_place(Lpn(lpn), Ppn(page), holds);
            }
        }
        Ok(())
    }

    fn page_in(&mut self) {
        self.content = Vec::new();
        self.ftl.drive_mut().page_in();
    }

    fn page_out(&mut self) {
        debug_assert!(self.units.is_one() && self.host.is_none() && self.learns.is_none());
        debug_assert!(self.ftl.observer().moved.is_empty(), "between operations");
        let page_bytes = self.ftl.drive().geometry().page_bytes() as usize;
        self.content = vec![u8::MAX; page_bytes];
        self.found = (None, vec![u8::MAX; page_bytes]);
        if self.asked.take().is_some() {
            // Those that hold nothing are nowhere.
            self.bring_held();
            self.ftl.drive_mut().set_replaying(false, 0);
            self.drop_places();
        }
        self.ftl.page_out(&self.map.held(), &self.map.held_pages());
    }

    fn begin_replay(&mut self, asked: Vec<u64>) {
        debug_assert!(self.ftl.drive().is_paged(), "all of the map is in memory");
        let pages: u32 = asked.iter().map(|word| word.count_ones()).sum();
        self.content = Vec::new();
        let drive = self.ftl.drive_mut();
        drive.set_replaying(true, pages as usize);
        // The mapping that is restored next tells nothing of those that hold nothing.
        let is_asked = |lpn: &u32| asked[*lpn as usize / 64] >> (lpn % 64) & 1 == 1;
        for lpn in (0..self.host_units).filter(is_asked) {
            drive.bring(Lpn(lpn), NOWHERE);
        }
        self.asked = Some(asked);
    }

    fn held(&self) -> Box<dyn Iterator<Item = Lpn> + '_> {
        let of_pages = self.map.held_pages().into_iter().flat_map(|page| self.entries_of(page));
        Box::new(self.map.held().into_iter().chain(of_pages.map(Lpn)))
    }

    fn is_changed(&self, lpn: Lpn) -> bool {
        self.map.is_changed(lpn)
    }

    fn restore_held(&mut self, lpn: Lpn, page: Ppn) {
        self.ftl.drive_mut().bring(lpn, page.0);
    }

    fn find(&mut self, lpn: Lpn) -> Result<Option<Ppn>, ErrorOf<Self>> {
        let in_memory = self.ftl.drive().place_in_memory(lpn);
        let place = match in_memory {
            Some(place) => place,
            None => self.find_on_flash(lpn)?,
        };
        Ok((place != NOWHERE).then_some(Ppn(place)))
    }

    fn mend_owners(&mut self, block: BlockId) -> bool {
        self.ftl.mend(block)
    }

    fn is_told(&self, map_page: u32, data: &[u8]) -> bool {
        let tells =
            |(lpn, place): (u32, u32)| place == self.place_of(lpn) || self.map.is_changed(Lpn(lpn));
        self.entries_of(map_page).zip(places(data)).all(tells)
    }

    fn tell(&self, map_page: u32, data: &mut [u8]) {
        erase(data);
        for (lpn, entry) in self.entries_of(map_page).zip(data.as_chunks_mut().0) {
            *entry = self.place_of(lpn).to_le_bytes();
        }
    }
}

/// Nothing of its map is in memory before.
impl<F: Flash + Send, O: Observer> Adopt for PagedMap<F, O> {
    fn begin_adoption(
        &mut self,
        blocks: &[BlockId],
        mapped: u32,
        counters: &Counters,
        erases: &[u32],
    ) {
        debug_assert!(self.units.is_one() && !self.ftl.drive().is_paged());
        (self.written, self.trimmed) = (counters.host_writes, counters.trims);
        self.ftl.begin_adoption(blocks, mapped, counters, erases);
    }

    fn continue_map_counts(&mut self, counts: &MapCounts) {
        self.counts = *counts;
        self.ftl.observer_mut().relocations = counts.relocations;
    }

    fn adopt(&mut self, block: BlockId, owners: &[u32]) {
        self.ftl.adopt(block, owners);
    }
}

/// What an entry says of a page that holds nothing.
const NOWHERE: u32 = u32::MAX;

/// The content of a translation page becomes that of an erased one.
fn erase(content: &mut [u8]) {
    // Filling nothing takes 40 ns on processors that write under a mask.
    if !content.is_empty() {
        content.fill(u8::MAX);
    }
}

/// The entries of a translation page.
fn places(data: &[u8]) -> impl Iterator<Item = u32> {
    data.as_chunks().0.iter().map(|entry| u32::from_le_bytes(*entry))
}

/// Places that are on flash alone.
impl<F: Flash + Send, O: Observer> PagedMap<F, O> {
    /// The pages whose entries a translation page has.
    fn entries_of(&self, map_page: u32) -> Range<u32> {
        let first = map_page * self.entries_per_page;
        first..first.saturating_add(self.entries_per_page).min(self.host_units)
    }

    /// As the whole mapping in memory has it.
    fn place_of(&self, lpn: u32) -> u32 {
        self.ftl.flash_page(Lpn(lpn)).map_or(NOWHERE, |page| page.0)
    }

    /// Brings the places of entries that have come into memory with the translation page that was read.
    fn bring_loaded(&mut self, loaded: Lpn) {
        if self.content.is_empty() {
            return;
        }
        let map_page = loaded.0 / self.entries_per_page;
        if self.map.loads_one() {
            let entry = (loaded.0 % self.entries_per_page) as usize;
            let place = places(&self.content).nth(entry).unwrap_or(NOWHERE);
            self.ftl.drive_mut().bring(loaded, place);
            return;
        }
        for (lpn, place) in self.entries_of(map_page).zip(places(&self.content)) {
            if self.map.holds(Lpn(lpn)) {
                self.ftl.drive_mut().bring(Lpn(lpn), place);
            }
        }
    }

    /// Lays the places that are in memory over what a translation page is to have.
    fn lay_over(&mut self, map_page: u32, is_whole: bool, content: &mut [u8]) {
        if content.is_empty() {
            return;
        }
        if self.found.0 == Some(map_page) {
            self.found.0 = None;
        }
        let drive = self.ftl.drive();
        for (lpn, entry) in self.entries_of(map_page).zip(content.as_chunks_mut().0) {
            let place = drive.place_in_memory(Lpn(lpn));
            debug_assert!(place.is_some() || !is_whole, "the entry of page {lpn} is on flash");
            if let Some(place) = place {
                *entry = place.to_le_bytes();
            }
        }
    }

    /// Brings the places of all entries that the map holds; those that are not in memory are nowhere.
    fn bring_held(&mut self) {
        let drive = self.ftl.drive_mut();
        self.map.held_pages().into_iter().for_each(|page| drive.bring_page(page, |_| NOWHERE));
        self.map.held().into_iter().for_each(|lpn| drive.bring(lpn, NOWHERE));
    }

    /// Brings the places of all entries of a translation page that is to come. That it is read is counted when it does.
    fn bring_page(&mut self, page: u32, purpose: Purpose) -> Result<(), ErrorOf<Self>> {
        self.read(page, purpose)?;
        let (first, told) = (page * self.entries_per_page, self.content.as_chunks().0);
        let place = |lpn: u32| u32::from_le_bytes(told[(lpn - first) as usize]);
        self.ftl.drive_mut().bring_page(page, place);
        self.coming = Some(page);
        Ok(())
    }

    /// Drops places that the map does not hold any more. None has to be written.
    #[cold]
    fn drop_places(&mut self) {
        let (map, coming) = (&self.map, self.coming);
        let keeps_all_of = |page| coming == Some(page) || map.holds_page(page);
        self.ftl.drive_mut().keep_places(|lpn| map.holds(lpn), keeps_all_of);
        // At least an eighth is dropped by the next time.
        self.places_most = self.ftl.drive().places_in_memory() * 9 / 8 + 1024;
    }

    #[cold]
    fn find_on_flash(&mut self, lpn: Lpn) -> Result<u32, ErrorOf<Self>> {
        let page = lpn.0 / self.entries_per_page;
        if let Some(content) = self.unwritten.get(&page) {
            let place = places(content).nth((lpn.0 % self.entries_per_page) as usize);
            return Ok(place.unwrap_or(NOWHERE));
        }
        if self.found.0 != Some(page) {
            self.found.0 = None;
            let of_map = self.map_page(page);
            let is_read = self.ftl.read_map_page(of_map, &mut self.found.1, UNAWAITED)?;
            if !is_read {
                erase(&mut self.found.1);
            }
            self.found.0 = Some(page);
        }
        let place = places(&self.found.1).nth((lpn.0 % self.entries_per_page) as usize);
        Ok(place.unwrap_or(NOWHERE))
    }
}

impl<F: Flash + Send, O: Observer> PagedMap<F, O> {
    #[inline]
    fn fetch_of(&self, pages: &[Lpn], index: usize) {
        let ahead = FETCH_AHEAD.map(|ahead| pages.get(index + ahead));
        if let [Some(&nearest), Some(&near), Some(&far)] = ahead {
            let [nearest, near, far] =
                [nearest, near, far].map(|page| Lpn(self.units.of(page.0).0));
            self.map.fetch_ahead([nearest, near, far]);
            self.ftl.fetch_ahead(near, far);
        }
    }
}

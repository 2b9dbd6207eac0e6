//! How long the cells of a page take, where that depends on the page.
//!
//! A word line has as many pages as its cells have bits; those of a block on a LUN take turns on its planes, and
//! then in its word lines: page i is on plane i mod p, and of place (i / p) mod b in its word line, 0 for the LSB.
//! Pages that are programmed at once wait for the last of them in the registers of their planes: each of the
//! others takes its transfer only.
//!
//! With `flash-page` these are pages of the chip, of k pages of the drive each, and a LUN reads the pages of the same
//! place on all of its planes at once: p * k pages of the drive, its sheet. Of the pages of a sheet that the same
//! reader asks for, with nothing else asked of the LUN's registers in between, the first takes the read; each of the
//! others takes its transfer only.
//!
//! The pages of an SLC cache come after those of the geometry: each is read and programmed by itself.

use crate::owner::Owner;
use crate::parameters::{ChipParameters, ChipTimes, PageKinds, PageTypes, nanoseconds};
use crate::read_retries::ReadRetries;
use crate::striping::Striping;
use crate::{BlockId, Geometry, Ppn};

/// Times of the cells by page, in nanoseconds, without transfers.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    striping: Striping,
    pages_per_block: u32,
    /// Place in the word line -> time.
    read_ns: Vec<u64>,
    program_ns: Vec<u64>,
    transfer_ns: u64,
    /// Pages of a page of the chip.
    unit: u32,
    /// Pages of one place on all planes.
    sheet: u32,
    /// LUN -> what its registers hold, if pages are read by sheets.
    registers: Vec<Option<Sensed>>,
    /// Whether the pages of a word line are programmed at once.
    is_one_shot: bool,
    retries: ReadRetries,
    /// Block -> how often it was erased; empty if nothing depends on it.
    cycles: Vec<u32>,
    /// The first SLC page, and the times to read and to program one.
    slc_from: u32,
    slc_ns: [u64; 2],
}

/// Who reads a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// The FTL, to move it.
    Ftl,
    /// The host, by a request that it made at this time.
    Host { request: Owner, now: u64 },
}

/// A sheet in the registers of a LUN.
#[derive(Debug, Clone, Copy)]
struct Sensed {
    block: BlockId,
    /// Its number in the block.
    sheet: u32,
    by: Reader,
    /// The page for which it was read.
    first: Ppn,
}

impl Cells {
    /// None if all pages take as long. There may be SLC pages.
    pub(crate) fn new(
        parameters: &ChipParameters,
        striping: Striping,
        geometry: &Geometry,
        has_slc_pages: bool,
    ) -> Option<Self> {
        let ChipTimes { read_us, program_us, transfer_us, slc_read_us, slc_program_us, .. } =
            parameters.times;
        let PageKinds { page_types, planes, flash_page, pe_cycles, .. } = parameters.pages;
        let retries = parameters.pages.read_retries.clone();
        let are_alike = page_types == PageTypes::Mean && planes == 1 && retries.is_off();
        let has_sheets = !flash_page.is_off();
        if are_alike && !has_sheets && !has_slc_pages {
            return None;
        }
        let luns = if has_sheets { parameters.luns() } else { 0 };
        let unit = flash_page.pages(geometry.page_bytes());
        let places = read_us.places().max(program_us.places());
        let blocks = if retries.is_off() { 0 } else { geometry.blocks() as usize };
        Some(Self {
            striping,
            pages_per_block: geometry.pages_per_block(),
            read_ns: (0..places).map(|place| nanoseconds(read_us.at(place))).collect(),
            program_ns: (0..places).map(|place| nanoseconds(program_us.at(place))).collect(),
            transfer_ns: nanoseconds(transfer_us),
            unit,
            sheet: planes.saturating_mul(unit),
            registers: vec![None; luns as usize],
            is_one_shot: page_types == PageTypes::OneShot,
            retries,
            cycles: vec![pe_cycles; blocks],
            slc_from: geometry.pages(),
            slc_ns: [slc_read_us, slc_program_us].map(nanoseconds),
        })
    }

    /// How many pages of its block come before a page on its LUN, and how many there are.
    fn index(&self, page: Ppn) -> (u32, u32) {
        let offset = page.0 - self.striping.block(page).0 * self.pages_per_block;
        let (unit, width) = (self.unit, self.striping.width());
        let row = unit.saturating_mul(width);
        // Of a row that the end of the block cuts, the LUN may have some pages or none.
        let lun = offset / unit % width;
        let of_last = (self.pages_per_block % row).saturating_sub(lun * unit).min(unit);
        (offset / row * unit + offset % unit, self.pages_per_block / row * unit + of_last)
    }

    /// Place in the word line of the page that is on its LUN the so manieth of its block.
    fn place(&self, index: u32) -> usize {
        (index / self.sheet) as usize % self.read_ns.len()
    }

    /// A page is about to be read: unless the registers of its LUN hold its sheet for the same reader, they do from
    /// here on.
    #[cold]
    pub(crate) fn sense(&mut self, page: Ppn, by: Reader) {
        let lun = self.striping.lun(page);
        if lun >= self.registers.len() {
            return;
        }
        if page.0 >= self.slc_from {
            self.registers[lun] = None;
            return;
        }
        let (block, sheet) = (self.striping.block(page), self.index(page).0 / self.sheet);
        let is_there = |held: Sensed| (held.block, held.sheet, held.by) == (block, sheet, by);
        if !self.registers[lun].is_some_and(is_there) {
            self.registers[lun] = Some(Sensed { block, sheet, by, first: page });
        }
    }

    /// Whether the page that its LUN was last asked for was read together with another.
    fn is_sensed(&self, page: Ppn) -> bool {
        if self.registers.is_empty() {
            return false;
        }
        self.registers[self.striping.lun(page)].is_some_and(|held| held.first != page)
    }

    /// Reads it once and for each retry again; all but the last of these pages pass to the controller, too, which
    /// finds that it cannot correct them. Nothing if it was [read](Self::sense) with another page.
    #[cold]
    pub(crate) fn read_ns(&self, page: Ppn) -> u64 {
        if self.is_sensed(page) {
            return 0;
        }
        if page.0 >= self.slc_from {
            return self.slc_ns[0];
        }
        let read_ns = self.read_ns[self.place(self.index(page).0)];
        let cycles = self.cycles.get(self.striping.block(page).index());
        let retries = cycles.map_or(0, |cycles| self.retries.at(*cycles));
        read_ns + u64::from(retries) * (read_ns + self.transfer_ns)
    }

    /// Programs it, and all that waits for it; nothing if it waits for another.
    #[cold]
    pub(crate) fn program_ns(&self, page: Ppn) -> u64 {
        if page.0 >= self.slc_from {
            return self.slc_ns[1];
        }
        let (index, count) = self.index(page);
        let word_lines = if self.is_one_shot { self.program_ns.len() as u32 } else { 1 };
        let at_once = self.sheet.saturating_mul(word_lines);
        let is_last = (index + 1).is_multiple_of(at_once) || index + 1 == count;
        match (is_last, self.is_one_shot) {
            (false, _) => 0,
            (true, false) => self.program_ns[self.place(index)],
            (true, true) => self.program_ns.iter().sum(),
        }
    }

    /// A block is erased so often more.
    pub(crate) fn wear(&mut self, block: BlockId, erases: u32) {
        for register in &mut self.registers {
            *register = register.filter(|held| held.block != block);
        }
        if let Some(cycles) = self.cycles.get_mut(block.index()) {
            *cycles = cycles.saturating_add(erases);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_spec::Parameters;

    const PAGES_PER_BLOCK: u32 = 50;

    fn cells(timing: &str) -> Cells {
        let parameters = ChipParameters::from_spec(&timing.parse().unwrap()).unwrap();
        let geometry = Geometry::new(4, PAGES_PER_BLOCK, 4096).unwrap();
        let striping = Striping::new(&parameters, &geometry);
        Cells::new(&parameters, striping, &geometry, false).unwrap()
    }

    /// The pages of a block on each of its LUNs, `unit` of them on one after the other.
    fn by_lun(block: u32, unit: usize, width: usize) -> Vec<Vec<u32>> {
        let pages: Vec<_> = (block * PAGES_PER_BLOCK..(block + 1) * PAGES_PER_BLOCK).collect();
        let mut luns = vec![Vec::new(); width];
        for (pages, lun) in pages.chunks(unit).zip((0..width).cycle()) {
            luns[lun].extend(pages);
        }
        luns
    }

    #[test]
    fn pages_are_read_together_as_walking_through_their_sheets_does() {
        for (luns, planes, unit, blocks) in [(1, 1, 4, 1), (2, 2, 4, 2), (3, 2, 1, 4), (4, 3, 2, 3)]
        {
            let kib = 4 * unit;
            let mut cells =
                cells(&format!("slc:read-us=7,luns={luns},planes={planes},flash-page={kib}KiB"));
            let sheets: Vec<Vec<Vec<u32>>> = (0..blocks)
                .map(|block| by_lun(block, unit, luns))
                .flat_map(|of_block| of_block.into_iter().enumerate())
                .fold(vec![Vec::new(); luns], |mut all, (lun, pages)| {
                    all[lun].extend(pages.chunks(planes * unit).map(<[u32]>::to_vec));
                    all
                });
            // LUN -> the sheet that it read last, for whom, and for which page.
            let mut held: Vec<Option<(&[u32], u32, u32)>> = vec![None; luns];
            let mut random = 1_u64;
            let mut draw = |below: usize| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 33) as usize % below
            };
            let mut together = 0;
            for _ in 0..20_000 {
                let lun = draw(luns);
                let sheet = match held[lun] {
                    Some((sheet, ..)) if draw(4) > 0 => sheet,
                    _ => &sheets[lun][draw(sheets[lun].len())],
                };
                let (page, reader) = (sheet[draw(sheet.len())], draw(10) as u32 / 4);
                let is_held = held[lun].is_some_and(|it| (it.0, it.1) == (sheet, reader));
                if !is_held {
                    held[lun] = Some((sheet, reader, page));
                }
                let is_first = held[lun].is_some_and(|it| it.2 == page);
                let by = match reader {
                    0 => Reader::Ftl,
                    now => Reader::Host { request: 3, now: now.into() },
                };
                cells.sense(Ppn(page), by);
                assert_eq!(cells.read_ns(Ppn(page)), if is_first { 7000 } else { 0 }, "{page}");
                together += u32::from(!is_first);
                if draw(50) == 0 {
                    let block = draw(blocks as usize) as u32;
                    cells.wear(BlockId(block), 1);
                    for held in &mut held {
                        *held = held.filter(|it| it.0[0] / PAGES_PER_BLOCK != block);
                    }
                }
            }
            assert!(together > 1000, "{together}");
        }
    }

    #[test]
    fn pages_are_programmed_at_once_as_walking_through_their_blocks_does() {
        let times = [1, 2, 5];
        for (luns, planes, unit, layout) in [
            (1, 1, 1, "superblock"),
            (4, 2, 1, "superblock"),
            (5, 3, 1, "superblock"),
            (3, 4, 1, "block"),
            (60, 2, 1, "superblock"),
            (1, 1, 4, "superblock"),
            (2, 2, 4, "superblock"),
            (4, 1, 8, "superblock"),
            (3, 2, 2, "superblock"),
            (3, 2, 4, "block"),
            (4, 2, 256, "superblock"),
        ] {
            for types in ["each", "one-shot"] {
                let flash_page = if unit == 1 { "off".into() } else { format!("{}KiB", 4 * unit) };
                let cells = cells(&format!(
                    "slc:page-types={types},read-us=1/2/5,program-us=1/2/5,luns={luns},planes={planes},\
                     layout={layout},flash-page={flash_page}"
                ));
                let width = if layout == "block" { 1 } else { luns };
                for (lun, pages) in by_lun(1, unit, width).into_iter().enumerate() {
                    if layout == "superblock" {
                        assert!(pages.iter().all(|page| cells.striping.lun(Ppn(*page)) == lun));
                    }
                    let offsets: Vec<_> = pages.chunks(planes * unit).collect();
                    for (offset, pages) in offsets.iter().enumerate() {
                        let (place, is_end) = (offset % 3, offset + 1 == offsets.len());
                        for (index, page) in pages.iter().enumerate() {
                            assert_eq!(cells.read_ns(Ppn(*page)), times[place] * 1000);
                            let is_last = index + 1 == pages.len();
                            let expected = match types {
                                "each" if is_last => times[place],
                                "one-shot" if is_last && (place == 2 || is_end) => 8,
                                _ => 0,
                            };
                            let program_ns = cells.program_ns(Ppn(*page));
                            assert_eq!(
                                program_ns,
                                expected * 1000,
                                "{types} {luns} {planes}: {page}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn retries_take_a_read_and_a_transfer_each_and_come_with_wear() {
        let mut cells = cells("slc:read-us=10,transfer-us=1,read-retries=2:1/3:4,pe-cycles=1");
        for expected in [10, 21, 10 + 4 * 11, 10 + 4 * 11] {
            assert_eq!(cells.read_ns(Ppn(60)), expected * 1000);
            assert_eq!(cells.read_ns(Ppn(0)), 10_000, "another block");
            cells.wear(BlockId(1), 1);
        }
    }
}

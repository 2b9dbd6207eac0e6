//! How long the cells of a page take, where that depends on the page.
//!
//! A word line has as many pages as its cells have bits; those of a block on a LUN take turns on its planes, and
//! then in its word lines: page i is on plane i mod p, and of place (i / p) mod b in its word line, 0 for the LSB.
//! Pages that are programmed at once wait for the last of them in the registers of their planes: each of the
//! others takes its transfer only.
//!
//! The pages of an SLC cache come after those of the geometry: each is programmed by itself.

use crate::read_retries::ReadRetries;
use crate::striping::Striping;
use crate::timing::{PageTypes, Timing, TimingParameters, nanoseconds};
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
    planes: u32,
    /// Whether the pages of a word line are programmed at once.
    is_one_shot: bool,
    retries: ReadRetries,
    /// Block -> how often it was erased; empty if nothing depends on it.
    cycles: Vec<u32>,
    /// The first SLC page, and the times to read and to program one.
    slc_from: u32,
    slc_ns: [u64; 2],
}

impl Cells {
    /// None if all pages take as long.
    pub(crate) fn new(timing: &Timing, striping: Striping, geometry: &Geometry) -> Option<Self> {
        let parameters = timing.parameters();
        let TimingParameters { read_us, program_us, planes, page_types, .. } = *parameters;
        let retries = parameters.read_retries.clone();
        let are_alike = page_types == PageTypes::Mean && planes == 1 && retries.is_off();
        if are_alike && !timing.has_slc_pages() {
            return None;
        }
        let places = read_us.places().max(program_us.places());
        let blocks = if retries.is_off() { 0 } else { geometry.blocks() as usize };
        Some(Self {
            striping,
            pages_per_block: geometry.pages_per_block(),
            read_ns: (0..places).map(|place| nanoseconds(read_us.at(place))).collect(),
            program_ns: (0..places).map(|place| nanoseconds(program_us.at(place))).collect(),
            transfer_ns: nanoseconds(parameters.transfer_us),
            planes,
            is_one_shot: page_types == PageTypes::OneShot,
            retries,
            cycles: vec![parameters.pe_cycles; blocks],
            slc_from: geometry.pages(),
            slc_ns: [parameters.slc_read_us, parameters.slc_program_us].map(nanoseconds),
        })
    }

    /// How many pages of its block come before a page on its LUN, and how many there are.
    fn index(&self, page: Ppn) -> (u32, u32) {
        let offset = page.0 - self.striping.block(page).0 * self.pages_per_block;
        let width = self.striping.width();
        (offset / width, (self.pages_per_block - offset % width).div_ceil(width))
    }

    /// Place in the word line of the page that is on its LUN the so manieth of its block.
    fn place(&self, index: u32) -> usize {
        (index / self.planes) as usize % self.read_ns.len()
    }

    /// Reads it once and for each retry again; all but the last of these pages pass to the controller, too, which
    /// finds that it cannot correct them.
    #[cold]
    pub(crate) fn read_ns(&self, page: Ppn) -> u64 {
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
        let is_last = (index + 1).is_multiple_of(self.planes * word_lines) || index + 1 == count;
        match (is_last, self.is_one_shot) {
            (false, _) => 0,
            (true, false) => self.program_ns[self.place(index)],
            (true, true) => self.program_ns.iter().sum(),
        }
    }

    /// A block is erased so often more.
    pub(crate) fn wear(&mut self, block: BlockId, erases: u32) {
        if let Some(cycles) = self.cycles.get_mut(block.index()) {
            *cycles = cycles.saturating_add(erases);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES_PER_BLOCK: u32 = 50;

    fn cells(timing: &str) -> Cells {
        let timing = Timing::from_spec(&timing.parse().unwrap()).unwrap();
        let geometry = Geometry::new(4, PAGES_PER_BLOCK, 4096).unwrap();
        let parameters = timing.parameters();
        let luns = parameters.channels * parameters.luns;
        let striping = Striping::new(luns, parameters.layout, &geometry);
        Cells::new(&timing, striping, &geometry).unwrap()
    }

    #[test]
    fn pages_are_programmed_at_once_as_walking_through_their_blocks_does() {
        let times = [1, 2, 5];
        for (luns, planes, layout) in [
            (1, 1, "superblock"),
            (4, 2, "superblock"),
            (5, 3, "superblock"),
            (3, 4, "block"),
            (60, 2, "superblock"),
        ] {
            for types in ["each", "one-shot"] {
                let cells = cells(&format!(
                    "slc:page-types={types},read-us=1/2/5,program-us=1/2/5,luns={luns},planes={planes},layout={layout}"
                ));
                // The pages of a block in turn on its LUNs; then those of a LUN in turn on its planes.
                let width = if layout == "block" { 1 } else { luns as usize };
                for lun in 0..width.min(PAGES_PER_BLOCK as usize) {
                    let pages: Vec<_> =
                        (PAGES_PER_BLOCK..2 * PAGES_PER_BLOCK).skip(lun).step_by(width).collect();
                    let offsets: Vec<_> = pages.chunks(planes).collect();
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

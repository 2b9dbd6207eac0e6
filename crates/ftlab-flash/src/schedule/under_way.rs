//! Programs and erases that are not complete, by their page or their part of a block.

use super::operation::NONE;
use crate::{BlockOf, Geometry, Ppn};

/// For each page its last program, and for each part of a block its last erase, as long as these are not complete.
/// Few blocks have some, so only those have tables.
#[derive(Debug, Clone)]
pub(super) struct UnderWay {
    block_of: BlockOf,
    pages_per_block: u32,
    /// Of erases, one for each LUN that has a part of the block.
    parts_per_block: u32,
    /// Block -> its table; as many as were ever in use, for a cache may have blocks beyond those of the drive.
    table_of: Vec<u32>,
    tables: Vec<Table>,
    free: Vec<u32>,
}

#[derive(Debug, Clone)]
struct Table {
    /// Operations of the pages, and then of the parts.
    of: Box<[u32]>,
    count: u32,
}

impl UnderWay {
    pub(super) fn new(geometry: &Geometry, parts_per_block: u32) -> Self {
        Self {
            block_of: geometry.block_of(),
            pages_per_block: geometry.pages_per_block(),
            parts_per_block,
            table_of: vec![NONE; geometry.blocks() as usize],
            tables: Vec::new(),
            free: Vec::new(),
        }
    }

    /// The block of a page, and its place among the operations of the block.
    #[inline]
    fn place(&self, page: u32) -> (u32, u32) {
        let block = self.block_of.page(Ppn(page)).0;
        (block, page - block * self.pages_per_block)
    }

    #[inline]
    pub(super) fn program(&self, page: u32) -> Option<u32> {
        let (block, place) = self.place(page);
        self.get(block, place)
    }

    /// The erase of a part of the block that has this page.
    #[inline]
    pub(super) fn erase_below(&self, page: u32, part: u32) -> Option<u32> {
        self.get(self.place(page).0, self.pages_per_block + part)
    }

    #[inline]
    fn get(&self, block: u32, place: u32) -> Option<u32> {
        let table = self.tables.get(*self.table_of.get(block as usize)? as usize)?;
        Some(table.of[place as usize]).filter(|operation| *operation != NONE)
    }

    /// A page is programmed by this operation.
    #[inline]
    pub(super) fn begin_program(&mut self, page: u32, operation: u32) {
        let (block, place) = self.place(page);
        self.begin(block, place, operation);
    }

    /// A part of a block is erased by this operation.
    pub(super) fn begin_erase(&mut self, block: u32, part: u32, operation: u32) {
        self.begin(block, self.pages_per_block + part, operation);
    }

    #[inline]
    fn begin(&mut self, block: u32, place: u32, operation: u32) {
        let table = match self.table_of.get(block as usize) {
            Some(&table) if table != NONE => table,
            _ => self.open(block),
        };
        let table = &mut self.tables[table as usize];
        let before = std::mem::replace(&mut table.of[place as usize], operation);
        table.count += u32::from(before == NONE);
    }

    #[cold]
    fn open(&mut self, block: u32) -> u32 {
        let table = self.free.pop().unwrap_or_else(|| {
            let operations = self.pages_per_block + self.parts_per_block;
            let of = vec![NONE; operations as usize].into_boxed_slice();
            self.tables.push(Table { of, count: 0 });
            self.tables.len() as u32 - 1
        });
        if block as usize >= self.table_of.len() {
            self.table_of.resize(block as usize + 1, NONE);
        }
        self.table_of[block as usize] = table;
        table
    }

    /// The program of a page is complete.
    #[inline]
    pub(super) fn end_program(&mut self, page: u32, operation: u32) {
        let (block, place) = self.place(page);
        self.end(block, place, operation);
    }

    /// The erase of a part of a block is complete.
    pub(super) fn end_erase(&mut self, block: u32, part: u32, operation: u32) {
        self.end(block, self.pages_per_block + part, operation);
    }

    /// An operation is complete, which is not the last of its place if that was asked for again meanwhile.
    #[inline]
    fn end(&mut self, block: u32, place: u32, operation: u32) {
        let number = self.table_of[block as usize];
        let Some(table) = self.tables.get_mut(number as usize) else { return };
        let present = &mut table.of[place as usize];
        if *present != operation {
            return;
        }
        *present = NONE;
        table.count -= 1;
        if table.count == 0 {
            self.table_of[block as usize] = NONE;
            self.free.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn it_is_a_map_from_places_to_their_last_operations() {
        let mut under_way = UnderWay::new(&Geometry::new(5, 7, 4096).unwrap(), 3);
        let (mut programs, mut erases, mut random) = (HashMap::new(), HashMap::new(), 1_u64);
        let mut draw = |most: u32| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) as u32 % most
        };
        let mut open = Vec::new();
        for operation in 0..3000 {
            let (page, block, part) = (draw(35), draw(5), draw(3));
            match draw(5) {
                0 | 1 => {
                    under_way.begin_program(page, operation);
                    programs.insert(page, operation);
                    open.push((true, page, 0, operation));
                }
                2 => {
                    under_way.begin_erase(block, part, operation);
                    erases.insert((block, part), operation);
                    open.push((false, block, part, operation));
                }
                _ if open.is_empty() => {}
                _ => match open.swap_remove(draw(open.len() as u32) as usize) {
                    (true, page, _, ended) => {
                        under_way.end_program(page, ended);
                        programs.retain(|_, operation| *operation != ended);
                    }
                    (false, block, part, ended) => {
                        under_way.end_erase(block, part, ended);
                        erases.retain(|_, operation| *operation != ended);
                    }
                },
            }
            assert_eq!(under_way.program(page), programs.get(&page).copied());
            assert_eq!(under_way.erase_below(page, part), erases.get(&(page / 7, part)).copied());
        }
        assert!(under_way.tables.len() <= 5);
    }
}

//! Flash in memory that keeps every page and holds its user to the rules of the medium.

use crate::{BlockId, Content, Flash, Geometry, Lpn, Page, Ppn, Purpose};
use thiserror::Error;

/// A breach of the rules of flash: a bug in the FTL above.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum MemoryError {
    /// The page is not the next erased one of its block.
    #[error("page {page} of block {block} was programmed; the next erased page is {next}")]
    NotNext {
        block: BlockId,
        /// Which page within it.
        page: u32,
        /// Which page is next.
        next: u32,
    },
    /// The page holds something.
    #[error("flash page {0} was programmed, and holds data since its last erase")]
    NotErased(Ppn),
    /// The page holds nothing.
    #[error("flash page {0} is read and was never programmed since its erase")]
    NotProgrammed(Ppn),
    /// The page holds another logical page than the caller says.
    #[error("flash page {page} holds logical page {found}, not {expected}")]
    WrongPage {
        /// Where.
        page: Ppn,
        /// What the caller says.
        expected: Lpn,
        found: Lpn,
    },
    /// Data of the wrong length.
    #[error("{given} bytes given for a page of {page_bytes}")]
    WrongLength {
        /// Bytes given.
        given: usize,
        page_bytes: u32,
    },
}

/// Keeps the content and the logical page number of every flash page.
///
/// Only the next erased page of a block can be programmed, or any erased one of a medium made by
/// [`in_any_order`](Self::in_any_order); and only programmed pages can be read.
#[derive(Debug, Clone)]
pub struct Memory {
    geometry: Geometry,
    data: Vec<u8>,
    /// [`ERASED`] where nothing is programmed.
    owners: Vec<Lpn>,
    programmed_pages: Vec<u32>,
    any_order: bool,
}

const ERASED: Lpn = Lpn(u32::MAX);

impl Memory {
    /// Erased flash of the given geometry.
    pub fn new(geometry: Geometry) -> Self {
        let pages = geometry.pages() as usize;
        Self {
            geometry,
            data: vec![0; pages * geometry.page_bytes() as usize],
            owners: vec![ERASED; pages],
            programmed_pages: vec![0; geometry.blocks() as usize],
            any_order: false,
        }
    }

    /// Erased flash that takes the pages of a block in any order, each once: for hybrid mapping, which
    /// programs the pages of a data block in the order in which the host first writes them. Early NAND
    /// allowed that; NAND of today does not.
    pub fn in_any_order(geometry: Geometry) -> Self {
        Self { any_order: true, ..Self::new(geometry) }
    }

    fn range(&self, page: Ppn) -> std::ops::Range<usize> {
        let page_bytes = self.geometry.page_bytes() as usize;
        page.index() * page_bytes..(page.index() + 1) * page_bytes
    }

    fn split(&self, page: Ppn) -> (BlockId, u32) {
        let pages_per_block = self.geometry.pages_per_block();
        (BlockId(page.0 / pages_per_block), page.0 % pages_per_block)
    }

    /// Takes the page `to` for `lpn`, if it is erased and in order.
    fn claim(&mut self, to: Ppn, lpn: Lpn) -> Result<(), MemoryError> {
        let (block, page) = self.split(to);
        let next = self.programmed_pages[block.index()];
        if self.any_order && self.owners[to.index()] != ERASED {
            return Err(MemoryError::NotErased(to));
        }
        if !self.any_order && page != next {
            return Err(MemoryError::NotNext { block, page, next });
        }
        self.programmed_pages[block.index()] += 1;
        self.owners[to.index()] = lpn;
        Ok(())
    }

    fn require_programmed(&self, page: Ppn) -> Result<(), MemoryError> {
        if self.owners[page.index()] == ERASED {
            return Err(MemoryError::NotProgrammed(page));
        }
        Ok(())
    }

    /// Whether the page `from` holds `lpn`.
    fn require_owner(&self, from: Ppn, lpn: Lpn) -> Result<(), MemoryError> {
        self.require_programmed(from)?;
        let found = self.owners[from.index()];
        if found == lpn {
            Ok(())
        } else {
            Err(MemoryError::WrongPage { page: from, expected: lpn, found })
        }
    }

    fn require_length(&self, given: usize) -> Result<(), MemoryError> {
        let page_bytes = self.geometry.page_bytes();
        if given == page_bytes as usize {
            Ok(())
        } else {
            Err(MemoryError::WrongLength { given, page_bytes })
        }
    }
}

impl Flash for Memory {
    type Error = MemoryError;

    fn program(&mut self, to: Ppn, page: Page<'_>, _: Purpose) -> Result<(), MemoryError> {
        match page.content {
            Content::New(data) => {
                self.require_length(data.len())?;
                self.claim(to, page.lpn)?;
                let range = self.range(to);
                self.data[range].copy_from_slice(data);
            }
            Content::At(from) => {
                self.require_owner(from, page.lpn)?;
                self.claim(to, page.lpn)?;
                let (source, target) = (self.range(from), self.range(to).start);
                self.data.copy_within(source, target);
            }
        }
        Ok(())
    }

    fn erase(&mut self, block: BlockId, _: Purpose) -> Result<(), MemoryError> {
        self.programmed_pages[block.index()] = 0;
        let first = self.geometry.first_page(block).index();
        self.owners[first..first + self.geometry.pages_per_block() as usize].fill(ERASED);
        Ok(())
    }

    fn read(&mut self, from: Ppn, data: &mut [u8], _: Purpose) -> Result<(), MemoryError> {
        self.require_length(data.len())?;
        self.require_programmed(from)?;
        data.copy_from_slice(&self.data[self.range(from)]);
        Ok(())
    }

    fn read_map_page(
        &mut self,
        from: Ppn,
        lpn: Lpn,
        data: &mut [u8],
        purpose: Purpose,
    ) -> Result<(), MemoryError> {
        self.require_owner(from, lpn)?;
        self.read(from, data, purpose)
    }

    fn owners(
        &mut self,
        block: BlockId,
        owners: &mut [Lpn],
        _: &dyn Fn(&[Lpn]) -> bool,
    ) -> Result<(), MemoryError> {
        let first = self.geometry.first_page(block).index();
        owners.copy_from_slice(&self.owners[first..][..owners.len()]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause;

    fn flash() -> Memory {
        Memory::new(Geometry::new(2, 4, 1).unwrap())
    }

    fn program(flash: &mut Memory, to: Ppn, lpn: Lpn, data: &[u8]) -> Result<(), MemoryError> {
        flash.program(to, Page::new(lpn, data), Cause::Host.awaited())
    }

    #[test]
    fn pages_are_programmed_in_order_and_once() {
        let mut flash = flash();
        program(&mut flash, Ppn(4), Lpn(0), &[1]).unwrap();
        assert_eq!(
            program(&mut flash, Ppn(4), Lpn(0), &[1]),
            Err(MemoryError::NotNext { block: BlockId(1), page: 0, next: 1 })
        );
        assert!(program(&mut flash, Ppn(6), Lpn(0), &[1]).is_err(), "page 1 is next");
        flash.erase(BlockId(1), Cause::Move.unawaited()).unwrap();
        assert_eq!(
            flash.read(Ppn(4), &mut [0], Cause::Host.unawaited()),
            Err(MemoryError::NotProgrammed(Ppn(4)))
        );
        program(&mut flash, Ppn(4), Lpn(0), &[2]).unwrap();
    }

    #[test]
    fn a_copyback_moves_the_data_of_the_page_it_names() {
        let mut flash = flash();
        program(&mut flash, Ppn(0), Lpn(3), &[9]).unwrap();
        assert!(
            flash.program(Ppn(4), Page::copy(Lpn(2), Ppn(0)), Cause::Move.unawaited()).is_err(),
            "page 0 holds another page"
        );
        flash.program(Ppn(4), Page::copy(Lpn(3), Ppn(0)), Cause::Move.unawaited()).unwrap();
        let mut data = [0];
        flash.read(Ppn(4), &mut data, Cause::Host.unawaited()).unwrap();
        assert_eq!(data, [9]);
    }

    #[test]
    fn in_any_order_still_means_once() {
        let mut flash = Memory::in_any_order(Geometry::new(2, 4, 1).unwrap());
        program(&mut flash, Ppn(6), Lpn(0), &[1]).unwrap();
        program(&mut flash, Ppn(5), Lpn(1), &[2]).unwrap();
        assert_eq!(program(&mut flash, Ppn(6), Lpn(0), &[1]), Err(MemoryError::NotErased(Ppn(6))));
        assert_eq!(
            flash.read(Ppn(7), &mut [0], Cause::Host.unawaited()),
            Err(MemoryError::NotProgrammed(Ppn(7)))
        );
        flash.erase(BlockId(1), Cause::Move.unawaited()).unwrap();
        assert_eq!(
            flash.read(Ppn(6), &mut [0], Cause::Host.unawaited()),
            Err(MemoryError::NotProgrammed(Ppn(6)))
        );
        program(&mut flash, Ppn(6), Lpn(0), &[3]).unwrap();
    }
}

//! Flash that counts what it is asked for.

use crate::{BlockId, Cause, Content, Flash, Lpn, Merge, Page, Ppn, Purpose, Unit};

/// Operations for one cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Operations {
    /// Programs of new content.
    pub programs: u64,
    /// Programs of copies, each with the read of its source.
    pub copies: u64,
    /// Erases of whole blocks.
    pub erases: u64,
    /// Reads, but for those of copies.
    pub reads: u64,
}

/// Any flash, and what it did by [`Cause`]. What fails is not counted.
#[derive(Debug, Clone)]
pub struct Counted<F> {
    flash: F,
    by_cause: [Operations; Cause::ALL.len()],
}

impl<F: Flash> Counted<F> {
    /// Counts the operations of `flash` from here on.
    pub fn new(flash: F) -> Self {
        Self { flash, by_cause: [Operations::default(); Cause::ALL.len()] }
    }

    /// The flash below.
    pub fn flash(&self) -> &F {
        &self.flash
    }

    /// The operations for one cause.
    pub fn of(&self, cause: Cause) -> Operations {
        self.by_cause[cause as usize]
    }

    fn of_mut(&mut self, purpose: Purpose) -> &mut Operations {
        &mut self.by_cause[purpose.cause as usize]
    }
}

impl<F: Flash> Flash for Counted<F> {
    type Error = F::Error;

    const WEARS_OUT: bool = F::WEARS_OUT;

    #[inline]
    fn program(&mut self, to: Ppn, page: Page<'_>, purpose: Purpose) -> Result<(), F::Error> {
        self.flash.program(to, page, purpose)?;
        match page.content {
            Content::New(_) => self.of_mut(purpose).programs += 1,
            Content::At(_) => self.of_mut(purpose).copies += 1,
        }
        Ok(())
    }

    #[inline]
    fn program_unit(&mut self, unit: &Unit, purpose: Purpose) -> Result<(), F::Error> {
        self.flash.program_unit(unit, purpose)?;
        let asked = unit.asked_pages();
        self.of_mut(purpose).programs += u64::from(asked);
        self.of_mut(Cause::Rewrite.unawaited()).programs += u64::from(unit.pages - asked);
        Ok(())
    }

    #[inline]
    fn merge(&mut self, merge: Merge, purpose: Purpose) -> Result<(), F::Error> {
        self.flash.merge(merge, purpose)?;
        self.of_mut(purpose).copies += u64::from(merge.pages());
        Ok(())
    }

    #[inline]
    fn erase(&mut self, block: BlockId, purpose: Purpose) -> Result<(), F::Error> {
        self.flash.erase(block, purpose)?;
        self.of_mut(purpose).erases += 1;
        Ok(())
    }

    #[inline]
    fn read(&mut self, from: Ppn, data: &mut [u8], purpose: Purpose) -> Result<(), F::Error> {
        self.flash.read(from, data, purpose)?;
        self.of_mut(purpose).reads += 1;
        Ok(())
    }

    #[inline]
    fn read_map_page(
        &mut self,
        from: Ppn,
        lpn: Lpn,
        data: &mut [u8],
        purpose: Purpose,
    ) -> Result<(), F::Error> {
        self.flash.read_map_page(from, lpn, data, purpose)?;
        self.of_mut(purpose).reads += 1;
        Ok(())
    }

    fn owners(
        &mut self,
        block: BlockId,
        owners: &mut [Lpn],
        is_right: &dyn Fn(&[Lpn]) -> bool,
    ) -> Result<(), F::Error> {
        self.flash.owners(block, owners, is_right)
    }

    fn mend_owners(&mut self, block: BlockId, owners: &[Lpn]) {
        self.flash.mend_owners(block, owners);
    }

    fn mend_map_page(&mut self, at: Ppn, lpn: Lpn, data: &[u8]) {
        self.flash.mend_map_page(at, lpn, data);
    }

    #[inline]
    fn await_map(&mut self, time_ns: u64) {
        self.flash.await_map(time_ns);
    }

    fn is_bad(&self, block: BlockId) -> bool {
        self.flash.is_bad(block)
    }

    fn is_wear_out(error: &F::Error) -> bool {
        F::is_wear_out(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Faults, Faulty, Geometry, NoPayload};

    #[test]
    fn what_is_done_counts_for_its_cause_and_what_fails_does_not() {
        let mut flash = Counted::new(NoPayload);
        let (new, copy) = (Page::new(Lpn(0), &[]), Page::copy(Lpn(0), Ppn(0)));
        flash.program(Ppn(0), new, Cause::Host.awaited()).unwrap();
        flash.program(Ppn(1), copy, Cause::Fold.unawaited()).unwrap();
        flash.program(Ppn(2), copy, Cause::Refresh.unawaited()).unwrap();
        flash.erase(BlockId(0), Cause::Refresh.awaited()).unwrap();
        flash.read(Ppn(2), &mut [], Cause::Host.unawaited()).unwrap();
        let log_pages = [Merge::NOT_IN_LOG; 3];
        let (lpn, data, to) = (Lpn(0), Ppn(0), Ppn(4));
        let merge = Merge { lpn, data, to, live: 0b101, log_pages: &log_pages };
        flash.merge(merge, Cause::Merge.awaited()).unwrap();
        let none = Operations::default();
        let expected = |cause| match cause {
            Cause::Host => Operations { programs: 1, reads: 1, ..none },
            Cause::Fold => Operations { copies: 1, ..none },
            Cause::Refresh => Operations { copies: 1, erases: 1, ..none },
            Cause::Merge => Operations { copies: 2, ..none },
            Cause::Move | Cause::Wear | Cause::Retire | Cause::Map | Cause::Rewrite => none,
        };
        assert_eq!(Cause::ALL.map(|cause| flash.of(cause)), Cause::ALL.map(expected));

        let faults = Faults { programs: 1.0, erases: 1.0, ..Faults::default() };
        let geometry = Geometry::new(1, 4, 1).unwrap();
        let mut failing = Counted::new(Faulty::new(NoPayload, &geometry, faults));
        failing.program(Ppn(0), new, Cause::Host.awaited()).unwrap_err();
        failing.erase(BlockId(0), Cause::Move.awaited()).unwrap_err();
        assert_eq!(Cause::ALL.map(|cause| failing.of(cause)), Cause::ALL.map(|_| none));
    }
}

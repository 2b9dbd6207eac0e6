//! Flash with a clock.
//!
//! # What takes how long
//! A program is a transfer over the channel and the program itself; a read is the read from the cells
//! and a transfer; a copy is a read and a program, the page passing through the controller, which
//! corrects its errors; an erase takes the time of an erase on every LUN that holds a part of the
//! block. Where pages differ, by their places in word lines and planes or by wear (`page-types`, `planes`,
//! `read-retries`), each takes its own time. An operation starts as soon as it has been asked for, what it depends on
//! is complete, and its LUN and channel are free; each LUN and each channel serves in the order in which it is asked.
//! Time is in whole nanoseconds and depends on nothing but the operations.
//!
//! # What a host write waits for
//! It lasts from its arrival to the end of the program of its page. What the FTL does before that
//! program, and says is [awaited](Purpose::is_awaited), makes room for it: the program starts when all of it is
//! complete, and so do the programs of later host writes, since the drive serves them in order. What nobody waits for,
//! such as a step of incremental collection after the program, delays later host writes only where it takes their LUN
//! or channel.
//!
//! # What waits for a map
//! A map that does not fit into memory reads and writes its own pages first, if it has to, to tell where a page of the
//! host is. If these are [awaited](Purpose::is_awaited), the next page that the host reads or writes starts when they are
//! complete, whatever the rule. So does a unit of several pages, which is programmed as one: what is not written of it
//! is read first, and the host waits for the program of its last page.
//!
//! An erase starts when every copy before it is complete, since these may have been of its pages.
//!
//! # Who asks, and when
//! The [`Chip`] has the clock. Whoever is above passes time on it, asks, and takes the answers: a simulated host, or a
//! drive that is served, by the clock of the machine. Page writes that an FTL carries out many at a time arrive one by
//! one, as a [`Pace`] says, which also hears when each is complete.
//!
//! # The rule of FEMU
//! With `priority=femu` nothing waits for anything but its LUN: not the host write for the collection
//! before it, nor the program of a copy for its read, nor an erase for the pages that leave the block.
//!
//! An operation that fails takes no time.
//!
//! With one LUN and one page write at a time, the time that passes is exactly the sum of all operations,
//! each count times its latency.

use crate::chip::Chip;
use crate::{BlockId, Cause, Content, Flash, Merge, Page, Ppn, Purpose, Unit};

/// When the page writes of a host arrive that an FTL carries out one after the other.
pub trait Pace {
    /// The next page write begins: when it arrived, in nanoseconds; it begins at the present if that is later.
    fn next(&mut self) -> u64;

    /// A page write that arrived at this time will be complete at that one.
    fn written(&mut self, arrival_ns: u64, done_ns: u64);
}

/// Page writes begin at the present.
#[derive(Debug, Clone, Copy, Default)]
pub struct AtOnce;

impl Pace for AtOnce {
    #[inline]
    fn next(&mut self) -> u64 {
        0
    }

    #[inline]
    fn written(&mut self, _: u64, _: u64) {}
}

/// Any flash, and the time that its operations take.
#[derive(Debug, Clone)]
pub struct Timed<F, P = AtOnce> {
    flash: F,
    chip: Chip,
    pace: P,
}

impl<F: Flash, P: Pace> Timed<F, P> {
    /// Gives `flash` the times of a chip; its page writes come at this pace.
    pub fn new(flash: F, chip: Chip, pace: P) -> Self {
        Self { flash, chip, pace }
    }

    /// The flash below.
    pub fn below(&self) -> &F {
        &self.flash
    }

    /// What the flash below is made of, and how busy it is.
    #[inline]
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    /// The chip, to ask it for something.
    #[inline]
    pub fn chip_mut(&mut self) -> &mut Chip {
        &mut self.chip
    }

    /// The chip and the pace.
    #[inline]
    pub fn parts_mut(&mut self) -> (&mut Chip, &mut P) {
        (&mut self.chip, &mut self.pace)
    }

    /// The pace of page writes.
    pub fn pace(&self) -> &P {
        &self.pace
    }

    /// If this is the first of what a page write of the host waits for, that arrives.
    #[inline]
    fn arrive(&mut self, purpose: Purpose) {
        if self.chip.begins_host_write(purpose) {
            self.chip.begin_host_write(self.pace.next());
        }
    }
}

impl<F: Flash, P: Pace> Flash for Timed<F, P> {
    type Error = F::Error;

    const WEARS_OUT: bool = F::WEARS_OUT;

    fn is_bad(&self, block: BlockId) -> bool {
        self.flash.is_bad(block)
    }

    fn is_wear_out(error: &F::Error) -> bool {
        F::is_wear_out(error)
    }

    fn await_map(&mut self, time_ns: u64) {
        self.arrive(Cause::Map.awaited());
        self.chip.await_map(time_ns);
    }

    #[expect(clippy::inline_always, reason = "called for each page")]
    #[inline(always)]
    fn program(&mut self, to: Ppn, page: Page<'_>, purpose: Purpose) -> Result<(), F::Error> {
        self.flash.program(to, page, purpose)?;
        self.arrive(purpose);
        if let Content::At(from) = page.content {
            self.chip.copy(from, to, purpose);
        } else if purpose.cause == Cause::Map && purpose.is_awaited {
            self.chip.program_map(to);
        } else if let Some(done) = self.chip.program(to, purpose.is_awaited) {
            self.pace.written(self.chip.now_ns(), done);
        }
        Ok(())
    }

    fn program_unit(&mut self, unit: &Unit, purpose: Purpose) -> Result<(), F::Error> {
        self.flash.program_unit(unit, purpose)?;
        self.arrive(purpose);
        if let Some(done) = self.chip.program_unit(unit, purpose) {
            self.pace.written(self.chip.now_ns(), done);
        }
        Ok(())
    }

    #[inline]
    fn merge(&mut self, merge: Merge, purpose: Purpose) -> Result<(), F::Error> {
        if !self.chip.adds_up() {
            let mut copies = merge.copies();
            return copies.try_for_each(|(to, page)| self.program(to, page, purpose));
        }
        self.flash.merge(merge, purpose)?;
        self.arrive(purpose);
        self.chip.merge(merge, purpose);
        Ok(())
    }

    #[inline]
    fn erase(&mut self, block: BlockId, purpose: Purpose) -> Result<(), F::Error> {
        self.flash.erase(block, purpose)?;
        self.arrive(purpose);
        self.chip.erase(block, purpose.is_awaited);
        Ok(())
    }

    fn read(&mut self, from: Ppn, data: &mut [u8], purpose: Purpose) -> Result<(), F::Error> {
        self.flash.read(from, data, purpose)?;
        self.arrive(purpose);
        let tells_or_completes = matches!(purpose.cause, Cause::Map | Cause::Rewrite);
        if tells_or_completes && purpose.is_awaited {
            self.chip.read_map(from);
        } else {
            self.chip.read(from, purpose.is_awaited);
        }
        Ok(())
    }
}

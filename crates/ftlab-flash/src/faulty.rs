//! Flash that wears out: programs and erases that fail, and blocks that are bad from birth.

use crate::{BlockId, Flash, Geometry, Lpn, Ppn};
use thiserror::Error;

/// How often operations fail; shares are in 0..=1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Faults {
    /// Seed of the schedule: the same operations fail for the same seed.
    pub seed: u64,
    /// Share of the programs and copybacks that fail.
    pub programs: f64,
    /// Share of the erases that fail.
    pub erases: f64,
    /// Share of the blocks that are bad from birth.
    pub bad_blocks: f64,
}

/// Why an operation on faulty flash failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FaultyError<E: std::error::Error> {
    /// The page was not programmed.
    #[error("flash page {0} could not be programmed: its block is worn out")]
    Program(Ppn),
    /// The block was not erased.
    #[error("block {0} could not be erased: it is worn out")]
    Erase(BlockId),
    /// The flash below.
    #[error(transparent)]
    Below(#[from] E),
}

/// Any flash, some of whose programs and erases fail, without any effect, by a schedule.
///
/// What was programmed before a failure stays readable, as on flash: it is the failed page that is
/// lost. Whoever goes on programming or erasing a block that has failed may fail or not.
#[derive(Debug, Clone)]
pub struct Faulty<F> {
    flash: F,
    faults: Faults,
    bad: Vec<bool>,
    /// State of the xorshift generator (Marsaglia, "Xorshift RNGs", 2003); never 0.
    random: u64,
}

impl<F: Flash> Faulty<F> {
    /// Lets operations of `flash`, which has this geometry, fail.
    pub fn new(flash: F, geometry: &Geometry, faults: Faults) -> Self {
        let random = faults.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).max(1);
        let mut faulty = Self { flash, faults, bad: Vec::new(), random };
        faulty.bad = (0..geometry.blocks()).map(|_| faulty.draw(faults.bad_blocks)).collect();
        faulty
    }

    /// True for a `share` of the calls.
    fn draw(&mut self, share: f64) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        // 53 bits, as many as a float has.
        ((self.random >> 11) as f64) < share * (1_u64 << 53) as f64
    }
}

impl<F: Flash> Flash for Faulty<F> {
    type Error = FaultyError<F::Error>;

    const WEARS_OUT: bool = true;

    fn begin_host_write(&mut self) {
        self.flash.begin_host_write();
    }

    fn program(&mut self, to: Ppn, lpn: Lpn, data: &[u8]) -> Result<(), Self::Error> {
        if self.draw(self.faults.programs) {
            return Err(FaultyError::Program(to));
        }
        Ok(self.flash.program(to, lpn, data)?)
    }

    fn copyback(&mut self, from: Ppn, to: Ppn, lpn: Lpn) -> Result<(), Self::Error> {
        if self.draw(self.faults.programs) {
            return Err(FaultyError::Program(to));
        }
        Ok(self.flash.copyback(from, to, lpn)?)
    }

    fn merge_copy(&mut self, from: Ppn, to: Ppn, lpn: Lpn) -> Result<(), Self::Error> {
        if self.draw(self.faults.programs) {
            return Err(FaultyError::Program(to));
        }
        Ok(self.flash.merge_copy(from, to, lpn)?)
    }

    fn erase(&mut self, block: BlockId) -> Result<(), Self::Error> {
        if self.draw(self.faults.erases) {
            return Err(FaultyError::Erase(block));
        }
        Ok(self.flash.erase(block)?)
    }

    fn read(&mut self, from: Ppn, data: &mut [u8]) -> Result<(), Self::Error> {
        Ok(self.flash.read(from, data)?)
    }

    fn is_bad(&self, block: BlockId) -> bool {
        self.bad[block.index()]
    }

    fn is_wear_out(error: &Self::Error) -> bool {
        match error {
            FaultyError::Program(_) | FaultyError::Erase(_) => true,
            FaultyError::Below(error) => F::is_wear_out(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Memory;

    #[test]
    fn so_many_fail_as_were_asked_for_and_the_same_for_the_same_seed() {
        let geometry = Geometry::new(10_000, 2, 1).unwrap();
        let faults = Faults { seed: 3, programs: 0.25, erases: 0.5, bad_blocks: 0.1 };
        let failures = || {
            let mut flash = Faulty::new(Memory::new(geometry), &geometry, faults);
            let blocks = || (0..10_000).map(BlockId);
            let bad = blocks().filter(|&block| flash.is_bad(block)).count();
            let erases = blocks().filter(|&block| flash.erase(block).is_err()).count();
            let mut program = |block| flash.program(Ppn(2 * block), Lpn(0), &[1]).is_err();
            (bad, erases, (0..10_000_u32).filter(|&block| program(block)).count())
        };
        let (bad, erases, programs) = failures();
        assert_eq!(failures(), (bad, erases, programs));
        for (found, expected) in [(bad, 1000), (erases, 5000), (programs, 2500)] {
            assert!(found.abs_diff(expected) < 200, "{found} for {expected}");
        }
    }

    #[test]
    fn what_failed_had_no_effect() {
        let geometry = Geometry::new(1, 2, 1).unwrap();
        let faults = Faults { seed: 1, programs: 1.0, erases: 1.0, bad_blocks: 0.0 };
        let mut flash = Faulty::new(Memory::new(geometry), &geometry, faults);
        let error = flash.program(Ppn(0), Lpn(0), &[1]).unwrap_err();
        assert!(Faulty::<Memory>::is_wear_out(&error), "{error}");
        let error = flash.read(Ppn(0), &mut [0]).unwrap_err();
        assert!(!Faulty::<Memory>::is_wear_out(&error), "{error}");
    }
}

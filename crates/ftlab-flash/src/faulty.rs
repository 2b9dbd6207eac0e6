//! Flash that wears out: programs and erases that fail, and blocks that are bad from birth.

use crate::{BLOCKS_MAX, BlockId, Flash, Geometry, Page, Ppn, Purpose};
use ftlab_spec::{Parameters, Spec, SpecError};
use std::str::FromStr;
use thiserror::Error;

ftlab_spec::parameters! {
    /// How often operations fail.
    #[derive(Copy)]
    pub struct Faults {
        /// Share of the programs and copybacks that fail.
        programs: f64 = 0.0, "program" in 0.0..=1.0, from "our choice";
        /// Share of the erases that fail.
        erases: f64 = 0.0, "erase" in 0.0..=1.0, from "our choice";
        /// Blocks that are bad from birth.
        bad_blocks: u32 = 0, "bad" in 0..=BLOCKS_MAX, from "our choice";
        /// Seed of the schedule: the same operations fail for the same seed.
        seed: u64 = 1, "seed", from "our choice";
    }
}

impl FromStr for Faults {
    type Err = SpecError;

    /// Reads `program=1e-5,erase=1e-4,bad=20,seed=1`, every part of which may be left out.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        format!("faults:{text}").parse::<Spec>().and_then(|spec| Self::from_spec(&spec))
    }
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

/// What has failed so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Failures {
    /// Programs and copybacks.
    pub programs: u64,
    /// Erases of whole blocks.
    pub erases: u64,
}

/// Any flash, some of whose programs and erases fail, without any effect, by a schedule.
///
/// What was programmed before a failure stays readable, as on flash: it is the failed page that is
/// lost. Further programs and erases of a block that has failed may fail or not.
#[derive(Debug, Clone)]
pub struct Faulty<F> {
    flash: F,
    faults: Faults,
    bad: Vec<bool>,
    failures: Failures,
    /// State of the xorshift generator (Marsaglia, "Xorshift RNGs", 2003); never 0.
    random: u64,
}

impl<F: Flash> Faulty<F> {
    /// Lets operations of `flash`, which has this geometry, fail.
    pub fn new(flash: F, geometry: &Geometry, faults: Faults) -> Self {
        let random = faults.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).max(1);
        let bad = vec![false; geometry.blocks() as usize];
        let mut faulty = Self { flash, faults, bad, failures: Failures::default(), random };
        // Each block in turn is one of the bad ones that are left with the right probability.
        let mut left = faults.bad_blocks.min(geometry.blocks());
        for block in 0..geometry.blocks() {
            let is_bad = faulty.draw(f64::from(left) / f64::from(geometry.blocks() - block));
            faulty.bad[block as usize] = is_bad;
            left -= u32::from(is_bad);
        }
        faulty
    }

    /// What has failed so far.
    pub fn failures(&self) -> Failures {
        self.failures
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

    fn program(&mut self, to: Ppn, page: Page<'_>, purpose: Purpose) -> Result<(), Self::Error> {
        if self.draw(self.faults.programs) {
            self.failures.programs += 1;
            return Err(FaultyError::Program(to));
        }
        Ok(self.flash.program(to, page, purpose)?)
    }

    fn erase(&mut self, block: BlockId, purpose: Purpose) -> Result<(), Self::Error> {
        if self.draw(self.faults.erases) {
            self.failures.erases += 1;
            return Err(FaultyError::Erase(block));
        }
        Ok(self.flash.erase(block, purpose)?)
    }

    fn read(&mut self, from: Ppn, data: &mut [u8], purpose: Purpose) -> Result<(), Self::Error> {
        Ok(self.flash.read(from, data, purpose)?)
    }

    fn await_map(&mut self, time_ns: u64) {
        self.flash.await_map(time_ns);
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
    use crate::{Cause, Lpn, Memory};

    #[test]
    fn so_many_fail_as_were_asked_for_and_the_same_for_the_same_seed() {
        let geometry = Geometry::new(10_000, 2, 1).unwrap();
        let faults = Faults { seed: 3, programs: 0.25, erases: 0.5, bad_blocks: 1000 };
        let failures = || {
            let mut flash = Faulty::new(Memory::new(geometry), &geometry, faults);
            let blocks = || (0..10_000).map(BlockId);
            let bad = blocks().filter(|&block| flash.is_bad(block)).count();
            let erases = blocks()
                .filter(|&block| flash.erase(block, Cause::Move.awaited()).is_err())
                .count();
            let (page, by_host) = (Page::new(Lpn(0), &[1]), Cause::Host.awaited());
            let mut program = |block| flash.program(Ppn(2 * block), page, by_host).is_err();
            (bad, erases, (0..10_000_u32).filter(|&block| program(block)).count())
        };
        let (bad, erases, programs) = failures();
        assert_eq!(failures(), (bad, erases, programs));
        assert_eq!(bad, 1000);
        for (found, expected) in [(erases, 5000), (programs, 2500)] {
            assert!(found.abs_diff(expected) < 200, "{found} for {expected}");
        }
    }

    #[test]
    fn what_failed_had_no_effect() {
        let geometry = Geometry::new(1, 2, 1).unwrap();
        let faults = Faults { seed: 1, programs: 1.0, erases: 1.0, bad_blocks: 0 };
        let mut flash = Faulty::new(Memory::new(geometry), &geometry, faults);
        let by_host = Cause::Host.awaited();
        let error = flash.program(Ppn(0), Page::new(Lpn(0), &[1]), by_host).unwrap_err();
        assert!(Faulty::<Memory>::is_wear_out(&error), "{error}");
        let error = flash.read(Ppn(0), &mut [0], by_host).unwrap_err();
        assert!(!Faulty::<Memory>::is_wear_out(&error), "{error}");
        assert_eq!(flash.failures(), Failures { programs: 1, erases: 0 });
    }

    #[test]
    fn faults_are_typed_like_everything_else() {
        let faults = |text: &str| text.parse::<Faults>().map_err(|error| error.to_string());
        let expected = Faults { programs: 1e-5, erases: 1e-4, bad_blocks: 20, seed: 3 };
        assert_eq!(faults("program=1e-5,erase=1e-4,bad=20,seed=3"), Ok(expected));
        assert_eq!(faults("bad=20"), Ok(Faults { bad_blocks: 20, ..Faults::default() }));
        let error = faults("program=2").unwrap_err();
        assert_eq!(error, "faults: program=2 is not a number in 0.0..=1.0");
        let error = faults("programs=1").unwrap_err();
        assert!(error.contains("did you mean \"program\"?"), "{error}");
    }
}

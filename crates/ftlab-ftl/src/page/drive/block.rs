//! What is kept of an erase block and of a write frontier.

use crate::state::state;
use crate::{Archive, State, StateError};

/// What an erase block is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Erased, on the free list.
    Free,
    /// The block of a stream, which takes its pages.
    Open,
    /// Full: it may become a victim.
    Sealed,
    /// Chosen for a collection in steps.
    Victim,
    /// Out of use: worn out, or bad from birth.
    Retired,
}

impl State for Phase {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        const PHASES: [Phase; 5] =
            [Phase::Free, Phase::Open, Phase::Sealed, Phase::Victim, Phase::Retired];
        let mut number = *self as u8;
        number.transfer(archive)?;
        *self = *PHASES.get(usize::from(number)).ok_or(StateError::Value(number.into()))?;
        Ok(())
    }
}

/// What is kept of an erase block besides its count of valid pages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) phase: Phase,
    /// How many blocks had been allocated before it.
    pub(super) allocated: u64,
    /// Write clock when it was sealed.
    pub(super) sealed_at: u64,
}

state!(Block { phase, allocated, sealed_at });

/// The next page that a stream programs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frontier {
    pub(super) next: u32,
    /// One past the last page of the open block; both 0 if the stream has none.
    pub(super) end: u32,
}

state!(Frontier { next, end });

impl Frontier {
    /// That of a stream without an open block.
    pub(super) const NONE: Self = Self { next: 0, end: 0 };

    /// Pages that the open block still takes.
    #[inline]
    pub(super) fn room(self) -> u32 {
        debug_assert!(self.next <= self.end, "programmed beyond the open block");
        self.end - self.next
    }
}

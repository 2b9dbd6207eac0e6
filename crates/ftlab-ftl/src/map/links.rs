//! Lists of the entries of a table, in the order of their use.

use crate::ensure::ensure;
use crate::state::state;

/// No entry.
pub(super) const NONE: u32 = u32::MAX;

/// The neighbours of an entry in its list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Links {
    newer: u32,
    older: u32,
}

state!(Links { newer, older });

impl Links {
    /// Of an entry that is in no list.
    pub(super) const NONE: Self = Self { newer: NONE, older: NONE };

    /// The entry that was used next after it.
    #[inline]
    pub(super) const fn newer(self) -> u32 {
        self.newer
    }

    /// The entry that was used last before it.
    #[inline]
    pub(super) const fn older(self) -> u32 {
        self.older
    }
}

/// What can be in a list.
pub(super) trait Linked {
    /// Its neighbours.
    fn links(&mut self) -> &mut Links;
}

/// The ends of a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    newest: u32,
    oldest: u32,
}

state!(Ends { newest, oldest });

impl Ends {
    /// Those of a list without entries.
    pub(super) const NONE: Self = Self { newest: NONE, oldest: NONE };

    /// The entry that was used last.
    #[inline]
    pub(super) const fn newest(self) -> u32 {
        self.newest
    }

    /// The entry that was used longest ago.
    #[inline]
    pub(super) const fn oldest(self) -> u32 {
        self.oldest
    }

    /// Takes `entry` out of the list.
    #[inline]
    pub(super) fn unlink<E: Linked>(&mut self, entries: &mut [E], entry: u32) {
        let Links { newer, older } = *entries[entry as usize].links();
        match entries.get_mut(newer as usize) {
            Some(newer) => newer.links().older = older,
            None => self.newest = older,
        }
        match entries.get_mut(older as usize) {
            Some(older) => older.links().newer = newer,
            None => self.oldest = newer,
        }
    }

    /// Puts `entry`, which is in no list, at the newest end.
    #[inline]
    pub(super) fn link_newest<E: Linked>(&mut self, entries: &mut [E], entry: u32) {
        let older = std::mem::replace(&mut self.newest, entry);
        *entries[entry as usize].links() = Links { newer: NONE, older };
        match entries.get_mut(older as usize) {
            Some(older) => older.links().newer = entry,
            None => self.oldest = entry,
        }
    }

    /// Puts `entry`, which is in no list, at the oldest end.
    #[inline]
    pub(super) fn link_oldest<E: Linked>(&mut self, entries: &mut [E], entry: u32) {
        let newer = std::mem::replace(&mut self.oldest, entry);
        *entries[entry as usize].links() = Links { newer, older: NONE };
        match entries.get_mut(newer as usize) {
            Some(newer) => newer.links().older = entry,
            None => self.newest = entry,
        }
    }

    /// Every entry, from the newest on.
    pub(super) fn all<E: Linked + Copy>(self, entries: &[E]) -> impl Iterator<Item = u32> {
        let is_entry = |entry: u32| (entry != NONE).then_some(entry);
        std::iter::successors(is_entry(self.newest), move |entry| {
            let mut entry = entries[*entry as usize];
            is_entry(entry.links().older)
        })
    }

    /// Calls `see` with every entry, from the newest on, and verifies that their links agree.
    pub(super) fn check<E: Linked + Copy>(
        self,
        entries: &[E],
        mut see: impl FnMut(u32, E) -> Result<(), String>,
    ) -> Result<(), String> {
        let (mut newer, mut next) = (NONE, self.newest);
        for _ in 0..=entries.len() {
            let Some(mut entry) = entries.get(next as usize).copied() else { break };
            ensure!(entry.links().newer == newer, "entry {next} has another neighbour");
            see(next, entry)?;
            (newer, next) = (next, entry.links().older);
        }
        ensure!(next == NONE && newer == self.oldest, "a list ends with another entry");
        Ok(())
    }
}

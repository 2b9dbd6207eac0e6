//! What is damaged in one of its copies is written again when a drive is opened, before the other rots as well.
//!
//! What cannot be written stays damaged, and the drive works as it did.

use crate::drive::core::Core;
use crate::media::{Backing, Half, JournalReader, Mark, Superblock};
use std::sync::Arc;

/// What is known to be damaged, and there is another copy of.
#[derive(Debug, Default)]
pub(crate) struct Wounds {
    /// Batches of the journal.
    pub(crate) halves: Vec<Half>,
    /// The slot of the checkpoint.
    pub(crate) checkpoint: Option<u8>,
    /// Copies of the flush mark, and what it should say.
    pub(crate) marks: u64,
    pub(crate) flushed: u64,
}

impl Wounds {
    /// Writes batches of the journal again. The next sync makes them durable.
    pub(crate) fn mend_journal(
        &self,
        backing: &dyn Backing,
        superblock: &Superblock,
        healed: &mut Vec<String>,
    ) {
        let mend = |half: &&Half| {
            let layout = &superblock.layout;
            let mut reader = JournalReader::new(backing, superblock.uuid, layout, half.head);
            reader.mend(**half).is_ok_and(|is_there| is_there)
        };
        let mended = self.halves.iter().filter(mend).count();
        if mended > 0 {
            healed
                .push(format!("journal: {mended} batches were written again from the other copy"));
        }
    }

    /// Writes everything else again.
    pub(crate) fn heal(&self, core: &mut Core, healed: &mut Vec<String>) {
        if let Some(slot) = self.checkpoint
            && core.slot != slot
            && core.heal_checkpoint().is_ok()
        {
            healed.push(format!("checkpoint {slot} was written again"));
        }
        if self.marks > 0 && self.flushed > 0 {
            let mark = Mark::new(core.superblock.uuid, core.superblock.layout);
            let backing = Arc::clone(core.media().backing());
            let written = mark.write(&*backing, self.flushed);
            if written.is_ok() && mark.read(&*backing) == (self.flushed, 0) {
                healed.push("flush mark: both copies were written again".to_owned());
            }
        }
    }
}

impl Core {
    /// Writes a damaged superblock again.
    pub(crate) fn heal_superblocks(&mut self, healed: &mut Vec<String>) {
        let backing = Arc::clone(self.media().backing());
        for offset in self.superblock.heal(&*backing) {
            healed.push(format!("the superblock at offset {offset} was written again"));
        }
        if let Err(error) = self.media().syncer().sync_all() {
            self.give_up(format!("writes could not be made durable: {error}"));
        }
    }
}

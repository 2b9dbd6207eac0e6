//! `kast` without cleverness: who shares a log block is counted whenever it is asked.

use super::{Kind, LogBlock, NaiveHybrid};
use crate::hybrid::KastParameters;

impl NaiveHybrid {
    pub(super) fn write_kast(&mut self, lpn: u32, parameters: &KastParameters) {
        let index = self.place_kast(lpn, parameters);
        self.append(index, lpn);
        let id = self.log[index].id;
        let logical = self.logical(lpn);
        if self.homes.insert(logical, id) != Some(id) {
            self.touch(index);
        }
    }

    fn place_kast(&mut self, lpn: u32, parameters: &KastParameters) -> usize {
        let (logical, offset) = (self.logical(lpn), (lpn % self.pages_per_block) as usize);
        let home = self.homes.get(&logical).copied();
        let home = self.log.iter().position(|block| Some(block.id) == home);
        if let Some(index) = home.filter(|&index| !self.is_full(&self.log[index])) {
            if self.log[index].kind == Kind::Sequential && self.log[index].pages.len() != offset {
                self.log[index].kind = Kind::Random;
                self.touch(index);
            }
            return index;
        }
        let kind = if parameters.sw && offset == 0 { Kind::Sequential } else { Kind::Random };
        if self.log.len() == self.log_blocks {
            let may_share = |block: &LogBlock| {
                block.kind == Kind::Random
                    && !self.is_full(block)
                    && self.shared(block) < parameters.k as usize
            };
            let open = (0..self.log.len()).filter(|&index| may_share(&self.log[index]));
            let least = open
                .min_by_key(|&index| (self.shared(&self.log[index]), self.log[index].since, index));
            match least.filter(|_| kind == Kind::Random) {
                Some(index) => return index,
                None => self.reclaim_kast(),
            }
        }
        let block = LogBlock { kind, ..self.new_block(false) };
        self.log.push(block);
        self.log.len() - 1
    }

    /// Logical blocks whose pages `block` takes.
    fn shared(&self, block: &LogBlock) -> usize {
        self.homes.values().filter(|&&home| home == block.id).count()
    }

    /// Another number of logical blocks shares the block at `index` from now on.
    fn touch(&mut self, index: usize) {
        self.opened += 1;
        self.log[index].since = self.opened;
    }

    fn reclaim_kast(&mut self) {
        let victim = self.log.remove(0);
        self.counts.reclaimed += 1;
        self.homes.retain(|_, home| *home != victim.id);
        let owner = self.logical(victim.pages[0]);
        let in_place =
            victim.pages.iter().copied().eq(self.pages_in(owner).take(victim.pages.len()));
        if victim.kind == Kind::Sequential && in_place && self.is_all_valid(&victim) {
            self.end(owner, &victim);
            self.leave(owner);
            return;
        }
        while let Some(&page) = self.valid(&victim).first() {
            self.full_merge(self.logical(page));
            self.leave(self.logical(page));
        }
        self.counts.erases += 1;
    }

    /// The pages of `logical` were merged.
    fn leave(&mut self, logical: u32) {
        let Some(home) = self.homes.remove(&logical) else { return };
        if let Some(index) = self.log.iter().position(|block| block.id == home) {
            if !self.is_full(&self.log[index]) {
                self.log[index].kind = Kind::Random;
            }
            self.touch(index);
        }
    }
}

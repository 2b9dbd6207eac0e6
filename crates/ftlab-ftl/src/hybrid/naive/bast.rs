//! `bast` without cleverness: the log in the order in which its blocks are given up.

use super::NaiveHybrid;
use crate::hybrid::{BastParameters, BastVictim};

impl NaiveHybrid {
    pub(super) fn write_bast(&mut self, lpn: u32, parameters: &BastParameters) {
        let logical = self.logical(lpn);
        let mut own = self.log.iter().position(|block| self.logical(block.pages[0]) == logical);
        if let Some(index) = own.filter(|&index| self.is_full(&self.log[index])) {
            self.give_up(index);
            own = None;
        }
        let index = own.unwrap_or_else(|| {
            if self.log.len() == self.log_blocks {
                self.give_up(0);
            }
            let block = self.new_block(false);
            self.log.push(block);
            self.log.len() - 1
        });
        self.append(index, lpn);
        if parameters.victim == BastVictim::Lru {
            let used = self.log.remove(index);
            self.log.push(used);
        }
    }

    fn give_up(&mut self, index: usize) {
        let block = self.log.remove(index);
        self.counts.reclaimed += 1;
        self.end(self.logical(block.pages[0]), &block);
    }
}

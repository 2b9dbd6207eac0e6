//! `last` without cleverness: a list of what every page write went to.

use super::{Kind, LogBlock, NaiveHybrid};
use crate::hybrid::LastParameters;
use std::collections::HashSet;

/// How many log blocks are for what.
struct Sizes {
    sequences: usize,
    random: usize,
    hot: usize,
}

impl NaiveHybrid {
    fn sizes(&self, parameters: &LastParameters) -> Sizes {
        let wanted = (self.log_blocks as f64 * parameters.sequential).floor() as usize;
        let least = usize::from(parameters.sequential > 0.0);
        let sequences = wanted.max(least).min(self.log_blocks - 2);
        let random = self.log_blocks - sequences;
        let hot = ((random as f64 * parameters.hot).floor() as usize).max(1).min(random - 1);
        Sizes { sequences, random, hot }
    }

    pub(super) fn write_last(&mut self, lpn: u32, parameters: &LastParameters) {
        let (logical, offset) = (self.logical(lpn), (lpn % self.pages_per_block) as usize);
        if let Some(index) = self.sequence(logical)
            && offset > 0
            && self.log[index].pages.len() == offset
        {
            self.append(index, lpn);
            let used = self.log.remove(index);
            self.log.push(used);
        } else if self.is_hot(lpn, parameters) {
            self.write_part(lpn, Kind::Hot, parameters);
        } else if offset == 0 && self.sizes(parameters).sequences > 0 {
            self.begin(lpn, self.sizes(parameters).sequences);
        } else {
            self.write_part(lpn, Kind::Cold, parameters);
        }
    }

    /// The sequence of a logical block.
    fn sequence(&self, logical: u32) -> Option<usize> {
        self.log.iter().position(|block| {
            block.kind == Kind::Sequential && self.logical(block.pages[0]) == logical
        })
    }

    fn is_hot(&self, lpn: u32, parameters: &LastParameters) -> bool {
        let Some((id, _)) = self.in_log.get(&lpn) else { return false };
        let block = self.log.iter().find(|block| block.id == *id).expect("a log block");
        if block.kind == Kind::Sequential {
            return block.pages.len() < self.pages_in(self.logical(lpn)).len();
        }
        let (kind, at) = self.last_taken[&lpn];
        let window = self.sizes(parameters).hot as f64 * f64::from(self.pages_per_block);
        kind == block.kind && ((self.parts[&kind] - at) as f64) < parameters.window * window
    }

    fn begin(&mut self, lpn: u32, most: usize) {
        let logical = self.logical(lpn);
        let sequences: Vec<usize> =
            (0..self.log.len()).filter(|&index| self.log[index].kind == Kind::Sequential).collect();
        let oldest = sequences.first().copied().filter(|_| sequences.len() == most);
        if let Some(index) = self.sequence(logical).or(oldest) {
            let ended = self.log.remove(index);
            self.counts.reclaimed += 1;
            self.end(self.logical(ended.pages[0]), &ended);
        }
        let block = LogBlock { kind: Kind::Sequential, ..self.new_block(false) };
        self.log.push(block);
        self.append(self.log.len() - 1, lpn);
    }

    fn of(&self, kind: Kind) -> Vec<usize> {
        (0..self.log.len()).filter(|&index| self.log[index].kind == kind).collect()
    }

    fn write_part(&mut self, lpn: u32, kind: Kind, parameters: &LastParameters) {
        let open = |naive: &Self| {
            let of = naive.of(kind);
            of.into_iter().find(|&index| !naive.is_full(&naive.log[index]))
        };
        if open(self).is_none() {
            self.make_room_last(kind, parameters);
            let block = LogBlock { kind, ..self.new_block(false) };
            self.log.push(block);
        }
        let index = open(self).expect("an open block");
        self.append(index, lpn);
        let taken = self.parts.entry(kind).or_default();
        self.last_taken.insert(lpn, (kind, *taken));
        *taken += 1;
    }

    fn make_room_last(&mut self, kind: Kind, parameters: &LastParameters) {
        let Sizes { random, hot, .. } = self.sizes(parameters);
        let full = |naive: &Self, kind| {
            let of = naive.of(kind).into_iter().filter(|&index| naive.is_full(&naive.log[index]));
            of.take(parameters.candidates as usize).collect::<Vec<_>>()
        };
        let used = |naive: &Self| naive.of(Kind::Hot).len() + naive.of(Kind::Cold).len();
        let too_hot = kind == Kind::Hot && self.of(Kind::Hot).len() == hot;
        if !too_hot && used(self) < random {
            return;
        }
        let dead = full(self, Kind::Hot)
            .into_iter()
            .find(|&index| self.valid(&self.log[index]).is_empty());
        if let Some(index) = dead {
            self.log.remove(index);
            self.counts.reclaimed += 1;
            self.counts.erases += 1;
            return;
        }
        if too_hot {
            let mut aged = self.log.remove(self.of(Kind::Hot)[0]);
            aged.kind = Kind::Cold;
            self.log.push(aged);
        }
        if used(self) == random {
            let merges = |index: &usize| {
                let pages = self.valid(&self.log[*index]).into_iter();
                pages.map(|page| self.logical(page)).collect::<HashSet<_>>().len()
            };
            let victim = full(self, Kind::Cold).into_iter().min_by_key(merges).expect("a victim");
            let victim = self.log.remove(victim);
            self.counts.reclaimed += 1;
            while let Some(&page) = self.valid(&victim).first() {
                let logical = self.logical(page);
                self.full_merge(logical);
                if let Some(index) = self.sequence(logical) {
                    self.log.remove(index);
                    self.counts.erases += 1;
                }
            }
            self.counts.erases += 1;
        }
    }
}

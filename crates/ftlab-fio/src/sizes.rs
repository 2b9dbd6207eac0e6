//! How long requests are: always the same, of a range, or of a list with shares.

use ftlab_random::Random;

/// The sizes of the requests of one direction.
#[derive(Debug, Clone)]
pub(super) struct Sizes {
    pub(super) least: u64,
    pub(super) most: u64,
    /// Of `bssplit`: sizes, each with how many of 100 requests have it; empty for a range.
    pub(super) split: Vec<(u64, u32)>,
}

impl Sizes {
    /// The size of a request of which `room` bytes fit; `None` if not even the least does.
    #[inline]
    pub(super) fn draw(&self, random: &mut Random, room: u64) -> Option<u64> {
        if self.least == self.most {
            return Some(self.least);
        }
        let fits = |(size, share): &(u64, u32)| *share > 0 && size - size % self.least <= room;
        if self.least > room || !(self.split.is_empty() || self.split.iter().any(fits)) {
            return None;
        }
        loop {
            let size = self.draw_any(random, room);
            let size = (size - size % self.least).min(self.most);
            if size <= room {
                return Some(size);
            }
        }
    }

    fn draw_any(&self, random: &mut Random, room: u64) -> u64 {
        if self.split.is_empty() {
            // The mean is above that of the range: what is added to the least is up to the most.
            return self.least + (self.most as f64 * random.share()) as u64;
        }
        let (drawn, most) = random.draw();
        let (mut percent, mut size) = (0, 0);
        for (of_part, share) in self.split.iter().filter(|(_, share)| *share > 0) {
            size = *of_part;
            percent += u64::from(*share);
            if drawn / percent <= most / 100 && size <= room {
                break;
            }
        }
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_within_bounds_and_have_their_shares() {
        let mut random = Random::new(3, false);
        let range = Sizes { least: 4096, most: 65536, split: Vec::new() };
        let drawn: Vec<u64> = (0..10_000).filter_map(|_| range.draw(&mut random, 32768)).collect();
        assert!(drawn.iter().all(|size| size % 4096 == 0 && (4096..=32768).contains(size)));
        assert_eq!(range.draw(&mut random, 100), None);
        let split = vec![(8192, 20), (4096, 80)];
        let split = Sizes { least: 4096, most: 8192, split };
        let drawn = (0..10_000).filter_map(|_| split.draw(&mut random, 1 << 30));
        let large = drawn.filter(|size| *size == 8192).count();
        assert!(large.abs_diff(2000) < 200, "{large}");
    }
}

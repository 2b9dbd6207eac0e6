//! The places of the pages of a translation page, in little memory where they follow one another.

/// The place of a page that holds nothing. What follows it holds nothing, too.
const NONE: u32 = u32::MAX;

/// Places of consecutive pages: a bit for each says whether its place follows from the one before, and there is a number
/// for each that does not.
#[derive(Debug, Clone)]
pub(super) struct Runs {
    /// Set where a run begins.
    begins: Box<[u64]>,
    /// The place of the first page of each run.
    places: Vec<u32>,
}

/// The place that follows another.
fn next(place: u32) -> u32 {
    if place == NONE { NONE } else { place + 1 }
}

impl Runs {
    /// The places of some pages.
    pub(super) fn new(places: impl ExactSizeIterator<Item = u32>) -> Self {
        let mut begins = vec![0; places.len().div_ceil(64)].into_boxed_slice();
        let mut firsts = Vec::new();
        let mut expected = None;
        for (index, place) in places.enumerate() {
            if expected != Some(place) {
                begins[index / 64] |= 1 << (index % 64);
                firsts.push(place);
            }
            expected = Some(next(place));
        }
        firsts.shrink_to_fit();
        Self { begins, places: firsts }
    }

    fn begins(&self, index: usize) -> bool {
        self.begins[index / 64] >> (index % 64) & 1 == 1
    }

    /// How many runs begin before `index`.
    fn rank(&self, index: usize) -> usize {
        let (word, bit) = (index / 64, index % 64);
        let before: u32 = self.begins[..word].iter().map(|word| word.count_ones()).sum();
        let within = self.begins[word] & ((1 << bit) - 1);
        (before + within.count_ones()) as usize
    }

    /// The place of a page.
    pub(super) fn get(&self, index: usize) -> u32 {
        let of_run = self.rank(index) + usize::from(self.begins(index));
        let place = self.places[of_run - 1];
        if place == NONE { NONE } else { place + (index - self.first_of(index)) as u32 }
    }

    /// Where the run of a page begins.
    fn first_of(&self, index: usize) -> usize {
        let (mut word, bit) = (index / 64, index % 64);
        let mut bits = self.begins[word] & (u64::MAX >> (63 - bit));
        while bits == 0 {
            word -= 1;
            bits = self.begins[word];
        }
        word * 64 + 63 - bits.leading_zeros() as usize
    }

    /// The page is elsewhere; there are `pages` of them.
    pub(super) fn set(&mut self, index: usize, place: u32, pages: usize) {
        let after = (index + 1 < pages).then(|| self.get(index + 1));
        self.put(index, place);
        if let Some(after) = after {
            self.put(index + 1, after);
        }
    }

    /// The page has this place, whatever those after it had until now.
    fn put(&mut self, index: usize, place: u32) {
        let follows = index > 0 && next(self.get(index - 1)) == place;
        let rank = self.rank(index);
        match (self.begins(index), follows) {
            (true, false) => self.places[rank] = place,
            (false, true) => {}
            (begins, _) => {
                self.begins[index / 64] ^= 1 << (index % 64);
                if begins {
                    self.places.remove(rank);
                } else {
                    self.places.insert(rank, place);
                }
            }
        }
    }

    /// Numbers of four bytes that it takes.
    pub(super) fn numbers(&self) -> usize {
        2 * self.begins.len() + self.places.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_page_has_the_place_that_was_set_last(
            first in prop::collection::vec(prop_oneof![Just(NONE), 0_u32..20], 1..200),
            changes in prop::collection::vec(
                (any::<prop::sample::Index>(), prop_oneof![Just(NONE), 0_u32..20, 100_u32..300]),
                0..300,
            ),
        ) {
            let mut expected = first;
            let mut runs = Runs::new(expected.iter().copied());
            for (index, place) in changes {
                let index = index.index(expected.len());
                // Some follow the one before.
                let place = if place >= 100 { next(expected[index.saturating_sub(1)]) } else { place };
                expected[index] = place;
                runs.set(index, place, expected.len());
                let again = Runs::new(expected.iter().copied());
                prop_assert_eq!(&runs.begins, &again.begins);
                prop_assert_eq!(&runs.places, &again.places);
                for (index, place) in expected.iter().enumerate() {
                    prop_assert_eq!(runs.get(index), *place);
                }
            }
        }
    }
}

//! Regions in the order in which they are evicted.

/// No region.
const NONE: u32 = u32::MAX;

/// Some of the regions, in a row: the next one to be evicted first.
pub(super) struct Regions {
    /// For each region the one before and the one after it; for [`NONE`] at the end of the vector the last and
    /// the first one.
    links: Vec<(u32, u32)>,
    /// Whether a region is in the row.
    present: Vec<bool>,
}

impl Regions {
    /// None of 0..`regions`.
    pub(super) fn new(regions: u32) -> Self {
        Self {
            links: vec![(NONE, NONE); regions as usize + 1],
            present: vec![false; regions as usize],
        }
    }

    fn link(&mut self, region: u32) -> &mut (u32, u32) {
        let end = self.links.len() - 1;
        &mut self.links[if region == NONE { end } else { region as usize }]
    }

    /// Adds a region at the end.
    pub(super) fn add(&mut self, region: u32) {
        let last = self.link(NONE).0;
        *self.link(region) = (last, NONE);
        self.link(last).1 = region;
        self.link(NONE).0 = region;
        self.present[region as usize] = true;
    }

    fn unlink(&mut self, region: u32) {
        let (before, after) = *self.link(region);
        self.link(before).1 = after;
        self.link(after).0 = before;
        self.present[region as usize] = false;
    }

    /// Moves a region to the end, if it is in the row.
    #[inline]
    pub(super) fn use_again(&mut self, region: u32) {
        if self.present[region as usize] && self.link(NONE).0 != region {
            self.unlink(region);
            self.add(region);
        }
    }

    /// Takes the first region.
    pub(super) fn take(&mut self) -> Option<u32> {
        let first = self.link(NONE).1;
        if first == NONE {
            return None;
        }
        self.unlink(first);
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn regions_are_in_order_of_use(operations in prop::collection::vec((0_u32..8, 0..3), 0..200)) {
            let mut regions = Regions::new(8);
            let mut row: Vec<u32> = Vec::new();
            for (region, operation) in operations {
                let known = row.iter().position(|other| *other == region);
                match (operation, known) {
                    (0, None) => {
                        regions.add(region);
                        row.push(region);
                    }
                    (1, _) => {
                        regions.use_again(region);
                        if let Some(place) = known {
                            row.remove(place);
                            row.push(region);
                        }
                    }
                    (2, _) => {
                        let expected = if row.is_empty() { None } else { Some(row.remove(0)) };
                        prop_assert_eq!(regions.take(), expected);
                    }
                    _ => {}
                }
            }
        }
    }
}

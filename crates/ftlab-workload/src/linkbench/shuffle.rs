//! Which node has a rank.

use ftlab_random::draw_below;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Groups of nodes, as in LinkBench: nodes are of the same group whose numbers leave the same remainder.
const GROUPS: u64 = 1024;

/// Ranks dealt out to the groups in turn, each of which begins anywhere: those that follow each other lie
/// far apart.
#[derive(Debug, Clone)]
pub(super) struct Shuffle {
    /// The place in each group where its first rank is.
    starts: [u32; GROUPS as usize],
    /// Places in the last group, and how many groups have one more.
    places: u64,
    larger: u64,
}

impl Shuffle {
    pub(super) fn new(nodes: u64, random: &mut Xoshiro256PlusPlus) -> Self {
        let (places, larger) = (nodes / GROUPS, nodes % GROUPS);
        Self { starts: [(); _].map(|()| draw_below(random, places.max(1)) as u32), places, larger }
    }

    #[inline]
    pub(super) fn node(&self, rank: u64) -> u64 {
        let (group, place) = (rank % GROUPS, rank / GROUPS);
        let places = self.places + u64::from(group < self.larger);
        let place = place + u64::from(self.starts[group as usize]);
        let place = if place >= places { place - places } else { place };
        place * GROUPS + group
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn every_node_has_a_rank_and_the_first_ranks_lie_far_apart() {
        for nodes in [1, 5, 1024, 3000, 100_003] {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(nodes);
            let shuffle = Shuffle::new(nodes, &mut random);
            let mut seen: Vec<_> = (0..nodes).map(|rank| shuffle.node(rank)).collect();
            let of_first = seen[..seen.len().min(100)].iter().map(|node| node * 10 / nodes);
            let tenths: std::collections::BTreeSet<_> = of_first.collect();
            assert!(nodes < 100_000 || tenths.len() > 5, "{tenths:?} of {nodes}");
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..nodes));
        }
    }
}

//! How many links the nodes have.

use super::shuffle::Shuffle;

/// Links, and the share of the nodes that have more: of the distribution that LinkBench comes with
/// (`nlinks` of its Distribution.dat), 21 of its points.
const MORE_THAN: [(f64, f64); 21] = [
    (0.0, 0.8025),
    (1.0, 0.2702),
    (2.0, 0.1326),
    (3.0, 0.0818),
    (4.0, 0.0554),
    (5.0, 0.0413),
    (7.0, 0.0262),
    (10.0, 0.0166),
    (16.0, 0.00967),
    (30.0, 0.005_350),
    (50.0, 0.003_482),
    (70.0, 0.002_775),
    (100.0, 0.002_265),
    (150.0, 0.001_842),
    (250.0, 0.001_441),
    (300.0, 0.001_304),
    (500.0, 0.001_004),
    (740.0, 0.000_816),
    (1581.0, 0.000_491),
    (2060.0, 0.000_389),
    (2769.0, 0.000_294),
];

/// Behind the last point, as many nodes have twice as many links as have half of them: one in 300,000 has
/// as many as this, which makes 2.2 million links, as the captured database has.
const LINKS_MAX: f64 = 250_000.0;

/// Links of each node.
#[derive(Debug, Clone)]
pub(super) struct Degrees {
    /// Links of all nodes before each, and at last of all.
    before: Vec<u32>,
}

impl Degrees {
    /// The links of `nodes` nodes, of which the first have the most.
    pub(super) fn new(nodes: u64, order: &Shuffle) -> Self {
        let mut before = vec![0; nodes as usize + 1];
        for rank in 0..nodes {
            let node = order.node(rank);
            before[node as usize + 1] = links((rank as f64 + 0.5) / nodes as f64);
        }
        let mut sum = 0_u32;
        for links in &mut before {
            sum = sum.saturating_add(*links);
            *links = sum;
        }
        Self { before }
    }

    /// Links of all nodes.
    pub(super) fn total(&self) -> u64 {
        u64::from(*self.before.last().expect("one entry more than nodes"))
    }

    /// Links before those of `node`, and links that it has.
    #[inline]
    pub(super) fn of(&self, node: u64) -> (u64, u64) {
        let node = node as usize;
        let before = self.before[node];
        (u64::from(before), u64::from(self.before[node + 1] - before))
    }
}

/// The links of a node if this share of the nodes has more.
fn links(share: f64) -> u32 {
    let after = MORE_THAN.partition_point(|(_, more)| *more >= share);
    if after == MORE_THAN.len() {
        let (links, more) = MORE_THAN[after - 1];
        return (links * more / share).min(LINKS_MAX) as u32;
    }
    let Some(before) = after.checked_sub(1) else { return 0 };
    let ((low, more), (high, less)) = (MORE_THAN[before], MORE_THAN[after]);
    // Between two points, both on scales of powers; a node with more than 4 has 5 at least.
    let part = (share / more).ln() / (less / more).ln();
    (low + 1.0).mul_add(((high + 1.0) / (low + 1.0)).powf(part), 1e-9) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn nodes_have_the_links_that_were_counted() {
        let nodes = 300_000;
        let order = Shuffle::new(nodes, &mut Xoshiro256PlusPlus::seed_from_u64(1));
        let degrees = Degrees::new(nodes, &order);
        let links: Vec<u64> = (0..nodes).map(|node| degrees.of(node).1).collect();
        for (number, more) in MORE_THAN {
            let counted = links.iter().filter(|links| **links > number as u64).count() as f64;
            let share = counted / nodes as f64;
            assert!((share / more - 1.0).abs() < 0.02, "{share}, not {more}, of {number}");
        }
        assert_eq!(links.iter().sum::<u64>(), degrees.total());
        // LinkBench makes 2.2 million for 300,000 nodes.
        assert!((2_000_000..2_400_000).contains(&degrees.total()), "{}", degrees.total());
        assert!(links[order.node(0) as usize] > 100_000);
    }
}

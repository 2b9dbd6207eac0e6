//! `warcip`: clusters of like rewrite intervals, by k-means as writes come in.
//!
//! # Idea
//! Pages of a block that are rewritten after about the same time leave it together: what makes garbage
//! collection dear is the variance of rewrite intervals within a block.
//!
//! # Rule
//! k clusters, each with a centre and an open block. A rewritten page goes to the cluster whose centre is
//! nearest to the interval since the host wrote it last, and moves that centre towards it by 1 / B, B
//! being the pages of a block. Relocated pages have an open block of their own. From time to time the
//! two clusters that can best be joined are, and the widest is split, if the variance falls by that.
//!
//! # Parameters
//! `clusters` 5. `period`: clusters may be joined and split after that many host writes; auto is 16 blocks.
//!
//! # Where the paper is silent
//! The paper was at hand only as its abstract: clusters that minimise the variance of rewrite intervals.
//! Centres begin at k equal steps up to the logical pages. Two clusters are joined, and one is split
//! into its mean plus and minus its deviation, where the squared distances that a split saves, three
//! quarters of the cluster's own as if its intervals were uniform, exceed what joining adds. A first
//! write goes to the cluster of the longest intervals. Intervals are taken modulo 2^32 host writes.
//!
//! # Reference
//! Yang, Pei, Yang, "WARCIP: Write Amplification Reduction by Clustering I/O Pages", SYSTOR 2019; Wang et
//! al., SepBIT, FAST 2022, section 4.1, for five clusters and a sixth block for relocated pages.

use crate::algorithms::placement::classes::{CLASSES_MAX, classes};
use crate::algorithms::tools::intervals::writes_since;
use crate::page::DriveState;
use crate::page::entry::{DriveShape, FitContext, PlacementEntry};
use crate::page::policy::{HostWrite, Placement, Relocation};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Metadata, memory};
use ftlab_flash::{BlockId, Lpn};
use ftlab_spec::{OrAuto, SpecError};
use std::hint::select_unpredictable;
use std::num::NonZeroU32;

/// Blocks of host writes after which clusters may be joined and split, if nothing else is said.
const PERIOD_BLOCKS: u32 = 16;

/// The stream of relocated pages; clusters follow, from long intervals to short ones.
const RELOCATED: StreamId = StreamId(0);

ftlab_spec::parameters! {
    pub struct WarcipParameters {
        /// Clusters.
        clusters: u32 = 5, "clusters" in 1..=CLASSES_MAX - 1, from "SepBIT (FAST 2022), section 4.1";
        /// Host writes after which clusters may be joined and split; auto: 16 blocks.
        period: OrAuto<NonZeroU32> = OrAuto::Auto, "period", from "our reading";
    }
}

/// Clusters of rewrite intervals.
pub struct Warcip {
    /// Logical page -> write clock when the host last wrote it, modulo 2^32.
    written_at: Vec<u32>,
    /// From long intervals to short ones.
    clusters: Vec<Cluster>,
    /// How far an interval moves the centre of its cluster.
    weight: f32,
    period: u32,
    left: u32,
}

state!(Warcip { written_at, clusters, left } constant weight, period);

/// A cluster, and what it took since clusters were last joined or split.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Cluster {
    centre: f32,
    writes: f32,
    /// Sum of the squared distances of its intervals from its centre.
    squares: f32,
}

state!(Cluster { centre, writes, squares });

impl Cluster {
    fn at(centre: f32) -> Self {
        Self { centre, ..Self::default() }
    }

    /// How much the squared distances grow if the two have one centre.
    fn cost_of_joining(&self, other: &Self) -> f32 {
        let writes = self.writes + other.writes;
        if writes == 0.0 {
            return 0.0;
        }
        self.writes * other.writes / writes * (self.centre - other.centre).powi(2)
    }

    fn joined(&self, other: &Self) -> Self {
        let writes = (self.writes + other.writes).max(1.0);
        let sum = self.centre * self.writes + other.centre * other.writes;
        Self::at(if sum > 0.0 { sum / writes } else { self.centre })
    }

    /// Two halves, as if its intervals were spread evenly.
    fn halves(&self) -> [Self; 2] {
        let deviation = (self.squares / self.writes.max(1.0)).sqrt();
        [deviation, -deviation].map(|step| Self::at((self.centre + step).max(1.0)))
    }
}

/// Joins two clusters and splits one, if that makes the squared distances smaller; counts begin again at 0.
fn adapt(clusters: &mut Vec<Cluster>) {
    let neighbours = 0..clusters.len().saturating_sub(1);
    let cost = |first: usize| clusters[first].cost_of_joining(&clusters[first + 1]);
    let joined = neighbours.min_by(|&a, &b| cost(a).total_cmp(&cost(b)));
    let widest =
        (0..clusters.len()).max_by(|&a, &b| clusters[a].squares.total_cmp(&clusters[b].squares));
    if let (Some(first), Some(widest)) = (joined, widest)
        && first != widest
        && first + 1 != widest
        && 0.75 * clusters[widest].squares > cost(first)
    {
        let joined = clusters[first].joined(&clusters[first + 1]);
        let halves = clusters[widest].halves();
        let mut index = 0;
        clusters.retain(|_| {
            index += 1;
            ![first, first + 1, widest].contains(&(index - 1))
        });
        clusters.extend([joined, halves[0], halves[1]]);
        clusters.sort_by(|a, b| b.centre.total_cmp(&a.centre));
    }
    for cluster in clusters {
        *cluster = Cluster::at(cluster.centre);
    }
}

impl PlacementEntry for Warcip {
    type Parameters = WarcipParameters;
    const NAME: &'static str = "warcip";
    const SUMMARY: &'static str = "clusters of like rewrite intervals; relocated pages apart";
    const SOURCE: &'static str = "WARCIP (SYSTOR 2019)";

    fn fit(parameters: &mut WarcipParameters, context: &FitContext) -> Result<(), SpecError> {
        let writes = context.shape.pages_per_block.saturating_mul(PERIOD_BLOCKS);
        parameters.period.fit(|| NonZeroU32::new(writes).unwrap_or(NonZeroU32::MIN));
        Ok(())
    }

    fn new(parameters: &WarcipParameters, shape: DriveShape) -> Self {
        let count = parameters.clusters;
        let centre = |rank: u32| shape.logical_pages as f32 * rank as f32 / count as f32;
        let period = parameters.period.given().map_or(1, |period| period.get());
        Self {
            written_at: memory::table(shape.logical_pages as usize, 0),
            clusters: (1..=count).rev().map(|rank| Cluster::at(centre(rank))).collect(),
            weight: 1.0 / shape.pages_per_block as f32,
            period,
            left: period,
        }
    }
}

impl Warcip {
    /// The cluster whose centre is nearest; it takes note of the interval.
    #[inline]
    fn place(&mut self, interval: f32) -> usize {
        let mut nearest = 0;
        let mut distance = f32::INFINITY;
        for (index, cluster) in self.clusters.iter().enumerate() {
            let this = (interval - cluster.centre).abs();
            let is_nearer = this < distance;
            nearest = select_unpredictable(is_nearer, index, nearest);
            distance = select_unpredictable(is_nearer, this, distance);
        }
        let cluster = &mut self.clusters[nearest];
        cluster.writes += 1.0;
        cluster.squares += distance * distance;
        cluster.centre += self.weight * (interval - cluster.centre);
        nearest
    }
}

impl Placement for Warcip {
    fn streams(&self) -> Vec<Stream> {
        let mut streams = classes(self.clusters.len() + 1);
        streams[RELOCATED.index() + 1..].iter_mut().for_each(|s| s.takes_relocations = false);
        streams
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, _block: BlockId) {
        memory::prefetch(&self.written_at, lpn.index());
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        let written_at = &mut self.written_at[write.lpn.index()];
        let interval = writes_since(*written_at, drive) as f32;
        *written_at = drive.write_clock() as u32;
        self.left -= 1;
        if self.left == 0 {
            self.left = self.period;
            adapt(&mut self.clusters);
        }
        let is_first = drive.flash_page(write.lpn).is_none();
        let cluster = if is_first { 0 } else { self.place(interval) };
        StreamId(RELOCATED.0 + 1 + cluster as u8)
    }

    #[inline]
    fn place_relocation(&mut self, _page: Relocation, _drive: &DriveState) -> StreamId {
        RELOCATED
    }

    fn metadata(&self) -> Metadata {
        Metadata::per_page(32.0) + Metadata::fixed(size_of_val(&self.clusters[..]) as u64)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&self.written_at[..]) + size_of_val(&self.clusters[..])
    }

    fn check(&self, _drive: &DriveState) -> Result<(), String> {
        let centres = self.clusters.iter().map(|cluster| cluster.centre);
        if centres.clone().all(f32::is_finite) {
            return Ok(());
        }
        Err(format!("the centres are {:?}", centres.collect::<Vec<_>>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined_where_splitting_the_widest_saves_more() {
        let cluster = |centre, writes, squares| Cluster { centre, writes, squares };
        let mut clusters =
            vec![cluster(1000.0, 100.0, 1e6), cluster(60.0, 50.0, 10.0), cluster(50.0, 50.0, 10.0)];
        let before: Vec<_> = clusters.iter().map(|c| Cluster::at(c.centre)).collect();
        adapt(&mut clusters);
        assert_eq!(clusters, [1100.0, 900.0, 55.0].map(Cluster::at));
        let mut even = before.clone();
        for cluster in &mut even {
            (cluster.writes, cluster.squares) = (100.0, 1.0);
        }
        adapt(&mut even);
        assert_eq!(even, before);
    }
}

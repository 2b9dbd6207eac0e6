//! Nodes, links and counts: their tables and indexes, and where the rows of a node are.

use super::degrees::Degrees;
use super::shuffle::Shuffle;
use crate::database::tables::{Fixed, Index, Loaded, rows_per_page};
use crate::database::{Database, Files, Layout, too_small};
use ftlab_random::scale_below;
use ftlab_trace::TraceError;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Bytes of a row in a page, what InnoDB adds to it included. The data of a node has 211 bytes on average and
/// that of a link 13: LinkBench draws the sizes from log-normal distributions with medians of 128 and 8 and a
/// sigma of 1, whose means are 1.65 times the medians.
pub(super) mod row_bytes {
    pub(crate) const NODE: u32 = 255;
    pub(crate) const LINK: u32 = 70;
    pub(crate) const LINK_BY_TIME: u32 = 59;
    pub(crate) const COUNT: u32 = 56;
}

/// Bytes of redo log and of undo records for a changed row or index entry.
pub(super) const REDO_BYTES: u32 = 180;
pub(super) const UNDO_BYTES: u32 = 120;

/// Types of links: a node has as many of each, or one more of the first.
pub(super) const LINK_TYPES: u64 = 2;

/// Links of a node on average: 2.2 million of 300,000 nodes.
const LINKS_MEAN: f64 = 7.3;

/// Nodes at most: their links are counted in 32 bits.
const NODES_MAX: u64 = 1 << 28;

/// Places in the order of keys for a link.
const KEYS_PER_LINK: u64 = 4;

/// Of the initial database, what undo records take: 368 pages beside 25,000 in the captured database.
const UNDO_SHARE: f64 = 0.015;

/// The links that a node has of one type.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinksOf {
    /// How many have been loaded.
    pub(super) loaded: u64,
    /// Their keys in the table, and in the index by time.
    first_key: u64,
    keys: u64,
    first_time: u64,
    times: u64,
    first_id: u64,
}

impl LinksOf {
    /// How many times as many links as were loaded there may be; or one, where none were.
    pub(super) const RANGE: u64 = 20;

    /// Which link this is of all that there may be, of all nodes and types.
    #[inline]
    pub(super) fn id(&self, number: u64) -> u64 {
        self.first_id + number
    }

    /// The key of a link in the table: new ones come after those that were loaded.
    #[inline]
    pub(super) fn key(&self, number: u64) -> u64 {
        let number = number.min(self.loaded);
        let place = self.keys * number / self.loaded.max(1);
        self.first_key + place.min(self.keys.saturating_sub(1))
    }

    /// Where a link is in the order of time, which has nothing to do with that of the table: at
    /// `random`, a number without bound.
    #[inline]
    pub(super) fn time(&self, random: u64) -> u64 {
        self.first_time + scale_below(random, self.times)
    }

    /// Where the newest link is.
    #[inline]
    pub(super) fn newest(&self) -> u64 {
        self.first_time + self.times.saturating_sub(1)
    }

    /// Places between two links in the order of time.
    pub(super) const TIMES_PER_LINK: u64 = KEYS_PER_LINK;
}

/// The tables and indexes.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    pub(super) nodes: u64,
    pub(super) node: Fixed,
    /// Links in the order of type and node, and in that of node, type and time.
    pub(super) link: Index,
    pub(super) link_by_time: Index,
    pub(super) count: Fixed,
    pub(super) undo_pages: u32,
    degrees: Degrees,
}

impl Tables {
    /// The tables of an initial database of `pages` pages, and the order of the nodes by how many links
    /// they have.
    pub(super) fn new(
        pages: u32,
        layout: &Layout,
        files: &mut Files,
        random: &mut Xoshiro256PlusPlus,
    ) -> Result<(Self, Shuffle), TraceError> {
        let rows = |bytes| rows_per_page(layout.page_bytes, bytes);
        let undo_pages = (UNDO_SHARE * f64::from(pages)) as u32 + 1;
        // Half an extent for each of the 5 files is not filled.
        let fixed = Database::system_pages(layout) + undo_pages + 5 * 32;
        if pages <= fixed {
            return Err(too_small(fixed + 1, pages, "start"));
        }
        let pages_of = |rows_of_a_node: f64, bytes| rows_of_a_node / f64::from(rows(bytes));
        let pages_of_a_node = pages_of(1.0, row_bytes::NODE)
            + pages_of(LINKS_MEAN, row_bytes::LINK)
            + pages_of(LINKS_MEAN, row_bytes::LINK_BY_TIME)
            + pages_of(1.0, row_bytes::COUNT);
        let nodes = (f64::from(pages - fixed) / pages_of_a_node) as u64 + 1;
        if nodes > NODES_MAX {
            return Err(TraceError::Unsupported {
                what: format!("a graph of {nodes} nodes"),
                remedy: format!("linkbench works with up to {NODES_MAX}: lower start"),
            });
        }
        let by_links = Shuffle::new(nodes, random);
        let degrees = Degrees::new(nodes, &by_links);
        let links = degrees.total().max(1);
        let mut index = |bytes| {
            let keys = links * KEYS_PER_LINK;
            Index::new(files, keys, links, rows(bytes), Loaded::InOrder, layout.pages / 2)
        };
        let tables = Self {
            link: index(row_bytes::LINK),
            link_by_time: index(row_bytes::LINK_BY_TIME),
            node: Fixed::new(files, nodes, rows(row_bytes::NODE)),
            count: Fixed::new(files, nodes, rows(row_bytes::COUNT)),
            undo_pages,
            degrees,
            nodes,
        };
        Ok((tables, by_links))
    }

    #[inline]
    pub(super) fn links_of(&self, node: u64, link_type: u64) -> LinksOf {
        let (before, links) = self.degrees.of(node);
        let keys = links * KEYS_PER_LINK / LINK_TYPES;
        let first = before * KEYS_PER_LINK;
        let of_type = self.degrees.total() * KEYS_PER_LINK / LINK_TYPES;
        let loaded = |link_type| (links + LINK_TYPES - 1 - link_type) / LINK_TYPES;
        let before_type: u64 = (0..link_type).map(loaded).sum();
        LinksOf {
            loaded: loaded(link_type),
            first_key: link_type * of_type + first / LINK_TYPES,
            keys,
            first_time: first + link_type * keys,
            times: keys,
            first_id: (before + before_type) * LinksOf::RANGE + node * LINK_TYPES + link_type,
        }
    }

    /// Links that there may be, of all nodes and types.
    pub(super) fn ids(&self) -> u64 {
        self.degrees.total() * LinksOf::RANGE + self.nodes * LINK_TYPES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn links_of_nodes_and_types_are_apart() {
        let layout = Layout { page_bytes: 16_384, pages: 8_000, ..Layout::SMALL };
        let (_, mut files) = Database::new(layout);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let (tables, _) = Tables::new(1_000, &layout, &mut files, &mut random).unwrap();
        let (mut keys, mut times, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        for link_type in 0..LINK_TYPES {
            for node in 0..tables.nodes {
                let links = tables.links_of(node, link_type);
                keys.extend((0..links.loaded).map(|number| links.key(number)));
                let range = (links.loaded * LinksOf::RANGE).max(1);
                ids.push((node, link_type, links.id(0), links.id(range)));
                // One that is added comes after them, and is not another node's.
                if links.loaded > 0 {
                    assert!(links.key(links.loaded) >= links.key(links.loaded - 1));
                    times.push((node, link_type, links.time(0), links.time(u64::MAX)));
                    assert_eq!(links.newest(), links.time(u64::MAX));
                }
            }
        }
        let links = tables.degrees.total();
        assert_eq!(keys.len() as u64, links);
        // In the order of type and node, and all different.
        assert!(keys.is_sorted_by(|a, b| a < b));
        assert!(*keys.last().unwrap() < links * KEYS_PER_LINK);
        ids.sort_unstable();
        assert!(ids.is_sorted_by(|(.., end), (.., next, _)| end <= next));
        assert!(ids.last().unwrap().3 <= tables.ids());
        times.sort_unstable();
        assert!(times.is_sorted_by(|(.., first), (.., second, _)| first < second));
    }
}

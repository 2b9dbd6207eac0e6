//! The load: links of chunks of nodes by several loaders, nodes by another, batch by batch.

use super::tables::{LINK_TYPES, LinksOf, REDO_BYTES, Tables, UNDO_BYTES};
use crate::database::{Undo, Uses};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

/// Loaders of links, and nodes of a chunk, which they take from the last to the first (LinkBench's
/// LinkConfigMysql.properties and its default).
const LOADERS: usize = 10;
const CHUNK_NODES: u64 = 2048;

/// Rows that a transaction of the load inserts.
const BATCH_ROWS: u32 = 1024;

/// The links of a chunk that are loaded, and the counts that wait.
#[derive(Debug, Clone)]
struct Loader {
    node: u64,
    end: u64,
    link_type: u64,
    /// Links of that type of the node that have been loaded.
    loaded: u64,
    /// Pages of counts that wait for a batch.
    counts: Vec<u32>,
}

/// What a loader inserts at a time.
enum Rows {
    /// A link: those of its node and type, and its number among them.
    Link(LinksOf, u64),
    /// Counts, in these pages.
    Counts(Vec<u32>),
}

impl Loader {
    /// What comes next, from another chunk of the `left` nodes if this one is loaded; `None` if all is.
    fn next(&mut self, tables: &Tables, left: &mut u64) -> Option<Rows> {
        loop {
            if self.node == self.end {
                let is_due = self.counts.len() >= BATCH_ROWS as usize || *left == 0;
                let counts = if is_due { std::mem::take(&mut self.counts) } else { Vec::new() };
                (self.node, self.end) = (left.saturating_sub(CHUNK_NODES), *left);
                *left = self.node;
                if !counts.is_empty() {
                    return Some(Rows::Counts(counts));
                }
                if self.node == self.end {
                    return None;
                }
            }
            let links = tables.links_of(self.node, self.link_type);
            if self.loaded < links.loaded {
                self.loaded += 1;
                return Some(Rows::Link(links, self.loaded - 1));
            }
            if self.loaded > 0 {
                self.counts.push(tables.count.page(self.node));
            }
            self.loaded = 0;
            self.link_type = (self.link_type + 1) % LINK_TYPES;
            self.node += u64::from(self.link_type == 0);
        }
    }
}

/// What has been loaded.
#[derive(Debug, Clone)]
pub(super) struct Load {
    /// Nodes that no loader has taken.
    left: u64,
    nodes_loaded: u64,
    loaders: Vec<Loader>,
    turn: usize,
    /// Pages of the database that have a row.
    is_made: Vec<bool>,
    undo: Undo,
    random: Xoshiro256PlusPlus,
}

impl Load {
    /// Nothing is loaded of a database of `pages` pages; its undo records go to `undo`.
    pub(super) fn new(nodes: u64, pages: u32, undo: Undo, random: Xoshiro256PlusPlus) -> Self {
        let idle = Loader { node: 0, end: 0, link_type: 0, loaded: 0, counts: Vec::new() };
        Self {
            left: nodes,
            nodes_loaded: 0,
            loaders: vec![idle; LOADERS],
            turn: 0,
            is_made: vec![false; pages as usize],
            undo,
            random,
        }
    }

    /// A batch of the loader whose turn it is; false, and nothing done, if all is loaded.
    pub(super) fn step(&mut self, tables: &Tables, uses: &mut Uses) -> bool {
        // All loaders of links, and that of nodes.
        for _ in 0..=LOADERS {
            self.turn = (self.turn + 1) % (LOADERS + 1);
            let rows = match self.turn.checked_sub(1) {
                Some(loader) => self.load_links(loader, tables, uses),
                None => self.load_nodes(tables, uses),
            };
            if rows > 0 {
                uses.write_undo(&mut self.undo, UNDO_BYTES * rows);
                uses.commit();
                return true;
            }
        }
        false
    }

    fn load_nodes(&mut self, tables: &Tables, uses: &mut Uses) -> u32 {
        let rows = u64::from(BATCH_ROWS).min(tables.nodes - self.nodes_loaded);
        for _ in 0..rows {
            self.insert(uses, tables.node.page(self.nodes_loaded));
            self.nodes_loaded += 1;
        }
        rows as u32
    }

    fn load_links(&mut self, number: usize, tables: &Tables, uses: &mut Uses) -> u32 {
        let mut rows = 0;
        while rows < BATCH_ROWS {
            match self.loaders[number].next(tables, &mut self.left) {
                None => break,
                Some(Rows::Link(links, number)) => {
                    let time = links.time(self.random.next_u64());
                    self.insert(uses, tables.link.page(links.key(number)));
                    self.insert(uses, tables.link_by_time.page(time));
                    rows += 1;
                }
                Some(Rows::Counts(pages)) => {
                    rows += pages.len() as u32;
                    for page in pages {
                        self.insert(uses, page);
                    }
                }
            }
        }
        rows
    }

    #[inline]
    fn insert(&mut self, uses: &mut Uses, page: u32) {
        let is_new = !std::mem::replace(&mut self.is_made[page as usize], true);
        uses.change_or_make(page, is_new, REDO_BYTES);
    }
}

//! `linkbench`: a social graph that grows, as its page writes reach the drive.
//!
//! # Idea
//! The requests of LinkBench with the mix and the skew of its Facebook workload, row by row on tables and
//! indexes of real sizes; a buffer pool decides which page writes come of them.
//!
//! - nodes are appended, and updated in place;
//! - links are inserted anywhere in two orders, that of the table and that of its index by time; an
//!   update is a change in one and a deletion and an insertion in the other, which is purged later;
//! - a count of links is updated with each of them;
//! - most nodes have a link or two, and few have most of the links (`degrees`): these are many pages that
//!   are hardly written, because a node is drawn no more often for having many;
//! - nodes are drawn by Zipf distributions, and dealt out to 1,024 groups: each group begins with the
//!   nodes that are used most.
//!
//! # Rule
//! The initial database takes `start` of the drive and is written first, in order; how many nodes that
//! are follows from the sizes of rows. Then requests run one by one over what
//! `database` describes, reads included, because they take places in the pool. When
//! the database has grown to `end` of the drive, the sequence ends.
//!
//! # Parameters
//! What describes a setup: sizes as shares of the initial database or of the drive, and what else is on
//! the drive. The defaults are those of the 2R paper; its trace is of MySQL, whose pages have 16 KiB and
//! which writes twice.
//!
//! # What is simplified
//! Row sizes are constants. Nodes that are made later have no links. Purging follows `PURGE_LAG` changes
//! later. See `database` for what happens below.
//!
//! # Reference
//! T. G. Armstrong et al., "LinkBench: a Database Benchmark Based on the Facebook Social Graph", SIGMOD
//! 2013, and the benchmark's FBWorkload.properties (request mix, exponents of the distributions). Kang et
//! al., "2R: Efficiently Isolating Cold Pages in Flash Storages", PVLDB 2020, section 5.1.

mod degrees;

use super::database::tables::{Appended, Fixed, Index, Loaded, rows_per_page};
use super::database::{Benchmark, Database, Files, Layout, Setup, Transactions, Undo, too_small};
use super::ranks::Ranks;
use super::requests::Stepped;
use super::uniform::draw_below;
use super::{GeneratorInfo, PageSequence, Space};
use crate::TraceError;
use degrees::Degrees;
use ftlab_spec::{Parameters, Spec};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;

ftlab_spec::parameters! {
    /// The setup.
    pub struct LinkBenchParameters {
        /// Share of the drive that the initial database takes, log and double-write area included.
        start: f64 = 0.07, "start" in 0.001..=1.0, from "2R (PVLDB 2020), section 5.1: from 2 GB to 30 GB";
        /// Share of the drive that the database grows to.
        end: f64 = 1.0, "end" in 0.001..=1.0, from "2R (PVLDB 2020), section 5.1";
        /// Share of the initial database that is written by the load and never again, such as undo logs
        /// of the load and tables that nobody uses.
        idle: f64 = 0.0, "idle" in 0.0..=0.9, from "our choice";
        /// Buffer pool, as a share of the initial database.
        buffer: f64 = 0.1, "buffer" in 0.0..=10.0, from "2R (PVLDB 2020), section 5.1";
        /// Share of the pool that pages pass through which are read, without ever being moved to the
        /// front; 0 for LRU.
        old: f64 = 0.0, "old" in 0.0..=0.95, from "LRU; InnoDB under load: 0.37 (innodb_old_blocks_pct)";
        /// Share of the pool that leaves at a time; 0 is page by page.
        batch: f64 = 0.0, "batch" in 0.0..=0.9, from "LRU; MariaDB: half of innodb_lru_scan_depth, 768 pages";
        /// Drive pages of a database page.
        page: u32 = 4, "page" in 1..=64, from "InnoDB: 16 KiB";
        /// Whether the redo log is on this drive.
        log: bool = true, "log", from "our reading: the drive has the whole of MySQL";
        /// Size of the redo log, as a share of the initial database: changed pages are on the drive
        /// before it has gone round.
        log_size: f64 = 0.06, "log-size" in 0.0..=10.0, from "our choice";
        /// Database pages of the double-write area, which is written from its start; 0 for none.
        doublewrite: u32 = 128, "doublewrite" in 0..=4096, from "InnoDB: 2 MiB";
        /// Transactions whose commits go into one write of the log, as those of many clients do.
        group: u32 = 1, "group" in 1..=1024, from "one client; InnoDB: group commit";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "linkbench",
    summary: "a social graph that grows, behind a buffer pool; ends when it has grown",
    source: "LinkBench (SIGMOD 2013); 2R (PVLDB 2020), section 5.1",
    parameters: LinkBenchParameters::describe,
    resolve: LinkBenchParameters::resolve,
    build,
    areas: |_, _| Ok(Vec::new()),
};

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let LinkBenchParameters {
        start,
        end,
        idle,
        buffer,
        old,
        batch,
        page,
        log,
        log_size,
        doublewrite,
        group,
    } = LinkBenchParameters::from_spec(spec)?;
    let setup =
        Setup { start, end, idle, buffer, old, batch, log_size, log, page, doublewrite, group };
    let benchmark = Benchmark::new("linkbench", &setup, space, LinkBench::new)?;
    Ok(Box::new(Stepped::new(benchmark, space.page_bytes)))
}

/// Bytes of a row in a page, what InnoDB adds to it included.
mod row_bytes {
    pub(super) const NODE: u32 = 172;
    pub(super) const LINK: u32 = 65;
    pub(super) const LINK_BY_TIME: u32 = 54;
    pub(super) const COUNT: u32 = 56;
}

/// Links of a node on average: 2.2 million of 300,000 nodes.
const LINKS_MEAN: f64 = 7.3;

/// Of a hundred link writes, those whose node is drawn by how many links it has.
const CORRELATED_PERCENT: u64 = 5;

/// Places in the order of keys for a link, of which each type takes an equal part.
const KEYS_PER_LINK: u64 = 4;

/// Types of links.
const LINK_TYPES: u64 = 2;

/// Of the initial database, what undo records take: 368 pages beside 25,000 in the captured database.
const UNDO_SHARE: f64 = 0.015;

/// Bytes of redo log and of undo records for a changed row or index entry.
const REDO_BYTES: u32 = 180;
const UNDO_BYTES: u32 = 120;

/// Changes after which an entry that was marked as deleted is purged.
const PURGE_LAG: usize = 1000;

/// Requests in a million, in the order of [`Request`].
const MIX: [(Request, u32); 10] = [
    (Request::GetLinkList, 507_119),
    (Request::GetNode, 129_327),
    (Request::AddLink, 89_887),
    (Request::UpdateLink, 80_122),
    (Request::UpdateNode, 73_664),
    (Request::CountLink, 48_864),
    (Request::DeleteLink, 29_908),
    (Request::AddNode, 25_733),
    (Request::DeleteNode, 10_116),
    (Request::GetLink, 5_260),
];

/// Groups that nodes are dealt out to, as in FBWorkload: the hottest of each group lie at its start.
const GROUPS: u64 = 1024;

/// The node that has the rank drawn.
#[inline]
fn spread(ranks: &Ranks, random: &mut Xoshiro256PlusPlus) -> u64 {
    let rank = ranks.draw(random);
    let groups = GROUPS.min(ranks.numbers);
    let (size, larger) = (ranks.numbers / groups, ranks.numbers % groups);
    let (group, place) = (rank % groups, rank / groups);
    group * size + group.min(larger) + place
}

/// A link: its key in the table, and in the order of time, where it has been and where it goes.
#[derive(Debug, Clone, Copy)]
struct Link {
    node: u64,
    key: u64,
    old: u64,
    newest: u64,
}

#[derive(Debug, Clone, Copy)]
enum Request {
    GetLinkList,
    GetNode,
    AddLink,
    UpdateLink,
    UpdateNode,
    CountLink,
    DeleteLink,
    AddNode,
    DeleteNode,
    GetLink,
}

/// All tables and indexes, and who draws.
struct LinkBench {
    random: Xoshiro256PlusPlus,
    files: Files,
    nodes: u64,
    read_link: Ranks,
    write_link: Ranks,
    read_node: Ranks,
    update_node: Ranks,
    node: Fixed,
    new_node: Appended,
    degrees: Degrees,
    /// Links in the order of type and node, and in that of node, type and time.
    link: Index,
    link_by_time: Index,
    count: Fixed,
    undo: Undo,
    /// Keys of entries of the index by time that wait to be purged.
    marked: VecDeque<u64>,
    changes: u32,
}

impl LinkBench {
    fn new(
        pages: u32,
        layout: &Layout,
        mut files: Files,
        random: Xoshiro256PlusPlus,
    ) -> Result<Self, TraceError> {
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
        let degrees = Degrees::new(nodes);
        let links = degrees.total().max(1);
        let loading = &mut files;
        let mut index = |bytes| {
            let keys = links * KEYS_PER_LINK;
            Index::new(loading, keys, links, rows(bytes), Loaded::InOrder, layout.pages / 2)
        };
        Ok(Self {
            link: index(row_bytes::LINK),
            link_by_time: index(row_bytes::LINK_BY_TIME),
            node: Fixed::new(&mut files, nodes, rows(row_bytes::NODE)),
            new_node: Appended::new(1, rows(row_bytes::NODE)),
            count: Fixed::new(&mut files, nodes, rows(row_bytes::COUNT)),
            undo: Undo::new(&mut files, undo_pages, layout.page_bytes),
            read_link: Ranks::new(nodes, 0.8),
            write_link: Ranks::new(nodes, 0.741),
            read_node: Ranks::new(nodes, 0.625),
            update_node: Ranks::new(nodes, 0.606),
            degrees,
            nodes,
            files,
            random,
            marked: VecDeque::new(),
            changes: 0,
        })
    }

    #[inline]
    fn change(&mut self, database: &mut Database, page: u32) {
        self.changes += 1;
        database.change(page, REDO_BYTES);
    }

    fn change_leaf(&mut self, database: &mut Database, (page, other): (u32, Option<u32>)) {
        self.change(database, page);
        if let Some(other) = other {
            // Half of a page of rows goes through the log.
            database.make(other, 8192);
        }
    }

    /// A link that is written: one of its node's. Looks for its pages.
    fn draw_link(&mut self, database: &Database) -> Link {
        let random = &mut self.random;
        let is_correlated = draw_below(random, 100) < CORRELATED_PERCENT;
        let node = if is_correlated {
            Degrees::node_of_rank(self.write_link.draw(random), self.nodes)
        } else {
            spread(&self.write_link, random)
        };
        let kind = draw_below(random, LINK_TYPES);
        let (before, links) = self.degrees.of(node);
        let (first, keys) = (before * KEYS_PER_LINK, links * KEYS_PER_LINK);
        let of_kind = keys / LINK_TYPES;
        let total = self.degrees.total() * KEYS_PER_LINK;
        let place = draw_below(random, keys.max(1));
        let link = Link {
            node,
            key: kind * (total / LINK_TYPES) + (first + place) / LINK_TYPES,
            old: first + kind * of_kind + place / LINK_TYPES,
            newest: first + ((kind + 1) * of_kind).saturating_sub(1),
        };
        let [old, newest] = self.link_by_time.pages([link.old, link.newest]);
        let pages = [self.link.page(link.key), old, newest, self.count.page(node)];
        database.look_ahead(&pages);
        link
    }

    fn add_link(&mut self, database: &mut Database) {
        let link = self.draw_link(database);
        let leaf = self.link.insert(link.key, &mut self.files);
        self.change_leaf(database, leaf);
        let leaf = self.link_by_time.insert(link.newest, &mut self.files);
        self.change_leaf(database, leaf);
        self.change(database, self.count.page(link.node));
    }

    /// Changes the time of a link, or hides it, which the count notices.
    fn update_link(&mut self, database: &mut Database, hides: bool) {
        let link = self.draw_link(database);
        self.change(database, self.link.page(link.key));
        self.change(database, self.link_by_time.page(link.old));
        let leaf = self.link_by_time.insert(link.newest, &mut self.files);
        self.change_leaf(database, leaf);
        self.marked.push_back(link.old);
        if hides {
            self.change(database, self.count.page(link.node));
        }
    }

    /// Deletes the entry of the index that has been marked for longest.
    fn purge(&mut self, database: &mut Database) {
        if let Some(key) = self.marked.pop_front() {
            let page = self.link_by_time.delete(key);
            database.change(page, REDO_BYTES);
        }
    }

    fn request(&mut self, database: &mut Database, request: Request) {
        let random = &mut self.random;
        match request {
            Request::GetLinkList => {
                let (before, links) = self.degrees.of(spread(&self.read_link, random));
                let newest = (before + links) * KEYS_PER_LINK;
                database.read(self.link_by_time.page(newest.saturating_sub(1)));
            }
            Request::GetNode => {
                database.read(self.node.page(spread(&self.read_node, random)));
            }
            Request::CountLink => {
                let node = spread(&self.read_link, random);
                database.read(self.count.page(node));
            }
            Request::GetLink => {
                let (before, links) = self.degrees.of(spread(&self.read_link, random));
                let place = draw_below(random, (links * KEYS_PER_LINK).max(1));
                let key = (before * KEYS_PER_LINK + place) / LINK_TYPES;
                database.read(self.link.page(key));
            }
            Request::AddLink => self.add_link(database),
            Request::UpdateLink => self.update_link(database, false),
            Request::DeleteLink => self.update_link(database, true),
            Request::AddNode => {
                let (page, is_new) = self.new_node.insert(0, &mut self.files);
                if is_new {
                    database.make(page, 0);
                }
                self.change(database, page);
            }
            Request::UpdateNode => {
                let node = spread(&self.update_node, random);
                self.change(database, self.node.page(node));
            }
            Request::DeleteNode => {
                let node = draw_below(random, self.nodes);
                self.change(database, self.node.page(node));
            }
        }
    }
}

impl Transactions for LinkBench {
    #[inline]
    fn run_one(&mut self, database: &mut Database) -> bool {
        if self.files.is_full() {
            return false;
        }
        let mut drawn = draw_below(&mut self.random, 1_000_000) as u32;
        for (request, share) in MIX {
            if drawn < share {
                self.request(database, request);
                break;
            }
            drawn -= share;
        }
        if self.changes > 0 {
            database.write_undo(&mut self.undo, UNDO_BYTES * self.changes);
            self.changes = 0;
            if self.marked.len() > PURGE_LAG {
                self.purge(database);
            }
            database.commit();
        }
        true
    }

    fn files(&self) -> &Files {
        &self.files
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        vec![("nodes", self.nodes.to_string())]
    }
}

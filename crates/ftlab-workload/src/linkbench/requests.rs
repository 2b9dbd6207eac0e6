//! The load and the requests of LinkBench, as the pages that they read and change.

use super::inputs::{Inputs, Link, Request};
use super::load::Load;
use super::state::{LinkState, State};
use super::tables::{LinksOf, REDO_BYTES, Tables, UNDO_BYTES, row_bytes};
use crate::database::tables::{Appended, rows_per_page};
use crate::database::{File, Files, Layout, Transactions, Undo, Uses};
use ftlab_trace::TraceError;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;

/// Links that a list has at most.
const LIST_MAX: u64 = 10_000;

/// Changes after which an entry that was marked as deleted is purged.
const PURGE_LAG: usize = 1000;

/// All tables and indexes.
pub(super) struct LinkBench {
    inputs: Inputs,
    files: Files,
    tables: Tables,
    state: State,
    new_node: Appended,
    undo: Undo,
    /// Where undo records go that are never purged.
    history: Option<File>,
    /// Until all is loaded.
    load: Option<Load>,
    has_requests: bool,
    /// Keys of entries of the index by time that wait to be purged.
    marked: VecDeque<u64>,
    /// Rows changed by the request that runs.
    changes: u32,
    /// Links in a page of the index by time.
    links_per_page: u64,
}

impl LinkBench {
    pub(super) fn new(
        pages: u32,
        layout: &Layout,
        mut files: Files,
        mut random: Xoshiro256PlusPlus,
        has_requests: bool,
        purges: bool,
    ) -> Result<Self, TraceError> {
        let (tables, by_links) = Tables::new(pages, layout, &mut files, &mut random)?;
        let undo = Undo::new(&mut files, tables.undo_pages, layout.page_bytes);
        let load_undo = match layout.idle_pages {
            0 | 1 => undo.clone(),
            pages => Undo::at(layout.idle_first, pages, layout.page_bytes),
        };
        let rows = |bytes| rows_per_page(layout.page_bytes, bytes);
        let load_random = random.clone();
        random.jump();
        Ok(Self {
            load: Some(Load::new(tables.nodes, files.pages(), load_undo, load_random)),
            inputs: Inputs::new(tables.nodes, by_links, random),
            has_requests,
            new_node: Appended::new(1, rows(row_bytes::NODE)),
            links_per_page: u64::from(rows(row_bytes::LINK_BY_TIME)),
            state: State::new(&tables),
            tables,
            undo,
            history: (!purges).then(File::default),
            files,
            marked: VecDeque::new(),
            changes: 0,
        })
    }

    /// Looks for the leaves that the next requests need.
    fn look_ahead(&self) {
        let Self { inputs, tables, state, .. } = self;
        let requests = || inputs.requests.iter();
        let written = || {
            requests().filter_map(|request| match request {
                Request::PutLink(link) | Request::HideLink(link) => Some(link),
                _ => None,
            })
        };
        state.look_ahead(written().map(|link| link.id));
        let read = requests().filter_map(|request| match request {
            Request::GetLink(key) => Some(*key),
            _ => None,
        });
        tables.link.look_ahead(written().map(|link| link.key).chain(read));
        let listed = requests().filter_map(|request| match request {
            Request::ListLinks(links) => Some(links.newest()),
            _ => None,
        });
        let times = written().flat_map(|link| [link.time, link.newest]);
        tables.link_by_time.look_ahead(times.chain(listed));
    }

    #[inline]
    fn change(&mut self, uses: &mut Uses, page: u32) {
        self.changes += 1;
        uses.change(page, REDO_BYTES);
    }

    fn change_leaf(&mut self, uses: &mut Uses, leaf: (u32, Option<u32>)) {
        self.changes += 1;
        uses.change_leaf(leaf, REDO_BYTES);
    }

    /// Adds a link or, if it exists, changes it and shows it.
    fn put_link(&mut self, uses: &mut Uses, link: &Link) {
        let LinkState { exists, is_hidden } = self.state.put(link);
        if exists {
            self.change_link(uses, link);
        } else {
            let leaf = self.tables.link.insert(link.key, &mut self.files);
            self.change_leaf(uses, leaf);
            let leaf = self.tables.link_by_time.insert(link.newest, &mut self.files);
            self.change_leaf(uses, leaf);
        }
        if !exists || is_hidden {
            self.change(uses, self.tables.count.page(link.node));
        }
    }

    /// Hides a link if it is there.
    fn hide_link(&mut self, uses: &mut Uses, link: &Link) {
        if self.state.hide(link) {
            self.change_link(uses, link);
            self.change(uses, self.tables.count.page(link.node));
        } else {
            uses.read(self.tables.link.page(link.key));
        }
    }

    /// Changes a link. In the index by time, the old entry is marked, and a new one made.
    fn change_link(&mut self, uses: &mut Uses, link: &Link) {
        self.change(uses, self.tables.link.page(link.key));
        self.change(uses, self.tables.link_by_time.page(link.time));
        if self.history.is_none() {
            self.marked.push_back(link.time);
        }
        let leaf = self.tables.link_by_time.insert(link.newest, &mut self.files);
        self.change_leaf(uses, leaf);
    }

    /// Deletes the entry of the index that has been marked for longest.
    fn purge(&mut self, uses: &mut Uses) {
        if let Some(key) = self.marked.pop_front() {
            let page = self.tables.link_by_time.delete(key);
            uses.change(page, REDO_BYTES);
        }
    }

    /// Reads the newest links of a node.
    fn list_links(&self, uses: &mut Uses, links: &LinksOf) {
        let listed = links.loaded.clamp(1, LIST_MAX);
        for number in (0..listed).step_by(self.links_per_page as usize) {
            let time = links.newest() - number * LinksOf::TIMES_PER_LINK;
            uses.read(self.tables.link_by_time.page(time));
        }
    }

    fn change_node(&mut self, uses: &mut Uses, node: u64, is_there: bool) {
        let page = self.tables.node.page(node);
        if is_there {
            self.change(uses, page);
        } else {
            uses.read(page);
        }
    }

    fn add_node(&mut self, uses: &mut Uses) {
        let (page, is_new) = self.new_node.insert(0, &mut self.files);
        self.changes += 1;
        uses.change_or_make(page, is_new, REDO_BYTES);
    }
}

impl Transactions for LinkBench {
    fn loads_rows(&self) -> bool {
        true
    }

    fn is_loading(&self) -> bool {
        self.load.is_some()
    }

    #[inline]
    fn run_one(&mut self, uses: &mut Uses) -> bool {
        if let Some(load) = &mut self.load {
            if load.step(&self.tables, uses) {
                return true;
            }
            self.load = None;
        }
        if self.files.is_full() || !self.has_requests {
            return false;
        }
        if self.inputs.requests.is_empty() {
            self.inputs.draw(&self.tables);
            self.look_ahead();
        }
        match self.inputs.requests.pop_front().expect("just drawn") {
            Request::ListLinks(links) => self.list_links(uses, &links),
            Request::GetLink(key) => uses.read(self.tables.link.page(key)),
            Request::CountLinks(node) => uses.read(self.tables.count.page(node)),
            Request::PutLink(link) => self.put_link(uses, &link),
            Request::HideLink(link) => self.hide_link(uses, &link),
            Request::GetNode(node) => uses.read(self.tables.node.page(node)),
            Request::AddNode => self.add_node(uses),
            Request::UpdateNode(node) => {
                let is_there = self.state.has_node(node);
                self.change_node(uses, node, is_there);
            }
            Request::DeleteNode(node) => {
                let is_there = self.state.delete_node(node);
                self.change_node(uses, node, is_there);
            }
        }
        if self.changes > 0 {
            if let Some(history) = &mut self.history {
                self.undo.keep(history, &mut self.files);
            }
            uses.write_undo(&mut self.undo, UNDO_BYTES * self.changes);
            self.changes = 0;
            if self.marked.len() > PURGE_LAG {
                self.purge(uses);
            }
            uses.commit();
        }
        true
    }

    fn files(&self) -> &Files {
        &self.files
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        vec![("nodes", self.tables.nodes.to_string())]
    }
}

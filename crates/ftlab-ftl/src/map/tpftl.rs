//! `tpftl`: entries clustered by translation page, loaded ahead and written back together.
//!
//! # Idea
//! Most changed entries that leave a cache have others of their translation page beside them, and requests use
//! neighbours. So entries are kept by translation page: what is written back takes all changed entries of the page with
//! it, and what is read brings those along that will be asked for.
//!
//! # Rule
//! Each translation page with entries in memory is a node. An entry is as hot as its last look-up is late, a node as its
//! entries are on average. What leaves is of the coldest node: the entry there that was used longest ago and has not
//! changed, or if all have changed, the one that was used longest ago; then all changed ones of the node are written
//! back with it, and stay.
//!
//! If an entry is not in memory, the translation page is read for it, and for the entries after it that the request
//! needs. If requests seem to follow one another, it is also read for as many entries after it as there are entries in
//! memory right before it: from when the number of nodes has fallen by `threshold`, until it has risen by as much. What
//! comes ahead of need may take the place of entries of one node only, the coldest.
//!
//! # Parameters
//! `threshold` is by how many nodes the number has to change. `order=last` makes a node as hot as its own last look-up,
//! as public code does. `by-request`, `selective`, `together` and `clean-first` turn parts of the rule off. An entry takes
//! `entry-bytes`, its place in the translation page and a flash page; a node `node-bytes`.
//!
//! # Where the paper is silent
//! How hot an entry is: the number of look-ups before its last one. Entries that come ahead of need are as hot as the
//! one that is needed, and leave before it. They do not take the place of entries of their own node. When collection
//! writes a translation page, all changed entries of its node are written with it, too.
//!
//! # Reference
//! Zhou, Wu, Huang, He, Xie, Zhou, "An Efficient Page-level FTL to Optimize Address Translation in Flash Memory",
//! EuroSys 2015, section 4.

use crate::ensure::ensure;
use crate::map::coldest::Coldest;
use crate::map::contract::{Found, Map, OnFlash, Places, WriteBack};
use crate::map::index::Index;
use crate::map::links::{Ends, Linked, Links, NONE};
use crate::memory;
use crate::state::state;
use ftlab_flash::Lpn;
use ftlab_spec::ByteSize;
use std::ops::Range;

ftlab_spec::choices! {
    /// Which node is the coldest.
    pub enum NodeOrder {
        /// The one whose entries were looked up longest ago, on average.
        Mean = "mean",
        /// The one that was looked up longest ago, found or not. If what a request needs takes the last entry of a
        /// node, nothing comes ahead of need. LearnedFTL's code has it so.
        Last = "last",
    }
}

ftlab_spec::parameters! {
    /// What a cache of entries by translation page is like.
    #[derive(Copy)]
    pub struct TpftlParameters {
        /// Memory for nodes and entries, at least as much as a page holds.
        cache: ByteSize = ByteSize(0), "cache", from "our choice";
        /// Bytes that an entry takes there.
        entry_bytes: u32 = 6, "entry-bytes" in 1..=64, from "TPFTL (2015), section 4.1";
        /// Bytes that a node takes beside its entries.
        node_bytes: u32 = 8, "node-bytes" in 0..=64, from "TPFTL (2015), section 4.1";
        /// By how many nodes their number changes before entries come ahead of requests, or do so no more.
        threshold: u32 = 3, "threshold" in 1..=1000, from "TPFTL (2015), section 4.3";
        /// Which node is the coldest.
        order: NodeOrder = NodeOrder::Mean, "order", from "TPFTL (2015), section 4.2";
        /// Whether a miss brings the entries that its request needs.
        by_request: bool = true, "by-request", from "TPFTL (2015), section 4.3";
        /// Whether a miss brings more where requests follow one another.
        selective: bool = true, "selective", from "TPFTL (2015), section 4.3";
        /// Whether all changed entries of a translation page are written back together.
        together: bool = true, "together", from "TPFTL (2015), section 4.4";
        /// Whether an entry that has not changed leaves first.
        clean_first: bool = true, "clean-first", from "TPFTL (2015), section 4.4";
    }
}

impl TpftlParameters {
    /// Whether what it does depends on which pages are of one request.
    pub(super) fn asks_for_requests(&self) -> bool {
        self.by_request
    }
}

impl OnFlash for TpftlParameters {
    const NAME: &'static str = "tpftl";

    const ASKS_FOR_REQUESTS: bool = true;

    fn cache(&mut self) -> &mut ByteSize {
        &mut self.cache
    }

    fn memory_bytes(&self, entries: u32, map_pages: u32) -> u64 {
        let most = self.cache.0 / u64::from(self.entry_bytes);
        let held = most.min(u64::from(entries));
        4 * u64::from(entries) + 48 * held + 64 * u64::from(map_pages)
    }

    fn make(&self, entries: u32, entries_per_page: u32, is_small: bool) -> Box<dyn Map> {
        Box::new(Tpftl::new(*self, entries, entries_per_page, is_small))
    }
}

/// An entry in memory, and its neighbours in its node.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The number of its last look-up.
    used: u64,
    links: Links,
    page: u32,
    is_changed: bool,
}

state!(Entry { used, links, page, is_changed }
    blank Self { used: 0, links: Links::NONE, page: NONE, is_changed: false });

impl Linked for Entry {
    #[inline]
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }
}

/// The entries of a translation page.
#[derive(Debug, Clone, Copy)]
struct Node {
    ends: Ends,
    entries: u32,
    changed: u32,
    /// How hot its entries are in all.
    heat: u64,
    /// The look-ups before its last one.
    used: u64,
}

state!(Node { ends, entries, changed, heat, used });

/// What is known of the entries that come with one that is not in memory.
#[derive(Debug, Clone, Copy, Default)]
struct Plan {
    /// Pages that its request needs after it.
    following: u32,
    /// The last of the entries that are to come, once that is known.
    wanted: Option<u32>,
    /// The only node whose entries make room for those that are not needed yet.
    victim: Victim,
    /// The node of the one that is needed is new, and counts already.
    is_counted: bool,
}

/// Whose entries leave ahead of need.
#[derive(Debug, Clone, Copy, Default)]
enum Victim {
    #[default]
    NotChosen,
    Node(u32),
    /// There is none, or it has no entries any more.
    None,
}

/// Entries by translation page.
pub(super) struct Tpftl {
    parameters: TpftlParameters,
    entries_per_page: u32,
    pages: u32,
    /// Page -> its entry.
    entry_of: Index,
    entries: Vec<Entry>,
    unused: Vec<u32>,
    /// By translation page.
    nodes: Vec<Node>,
    /// Those with entries, the coldest first.
    coldest: Coldest,
    /// Entries and nodes in memory.
    held: u32,
    bytes: u64,
    look_ups: u64,
    plan: Plan,
    /// By how many nodes the number has changed since it was 0.
    change: i64,
    /// Whether entries come ahead of requests.
    is_sequential: bool,
}

// A plan is made and carried out within one look-up.
state!(Tpftl {
    entry_of, entries, unused, nodes, coldest, held, bytes, look_ups, change, is_sequential
} constant parameters, entries_per_page, pages, plan then restore_index);

impl Tpftl {
    fn restore_index(&mut self) {
        let Self { entry_of, entries, nodes, .. } = self;
        let entries = &*entries;
        let held = nodes.iter().flat_map(|node| node.ends.all(entries));
        entry_of.restore(held.map(|entry| (entries[entry as usize].page, entry)));
    }

    pub(super) fn new(
        parameters: TpftlParameters,
        pages: u32,
        entries_per_page: u32,
        is_small: bool,
    ) -> Self {
        let map_pages = pages.div_ceil(entries_per_page) as usize;
        let empty = Node { ends: Ends::NONE, entries: 0, changed: 0, heat: 0, used: 0 };
        Self {
            parameters,
            entries_per_page,
            pages,
            entry_of: Index::new(pages, is_small),
            entries: Vec::new(),
            unused: Vec::new(),
            nodes: vec![empty; map_pages],
            coldest: Coldest::new(map_pages),
            held: 0,
            bytes: 0,
            look_ups: 0,
            plan: Plan::default(),
            change: 0,
            is_sequential: false,
        }
    }

    fn node_of(&self, lpn: u32) -> u32 {
        lpn / self.entries_per_page
    }

    /// The pages after `lpn` of the same translation page, as far as there are any.
    fn after(&self, lpn: u32) -> Range<u32> {
        let end = (self.node_of(lpn) + 1).saturating_mul(self.entries_per_page);
        lpn + 1..end.min(self.pages)
    }

    /// Pages right before `lpn` whose entries are in memory, all of its translation page.
    fn run_before(&self, lpn: u32) -> u32 {
        let first = self.node_of(lpn) * self.entries_per_page;
        (first..lpn).rev().take_while(|page| self.entry_of.holds(*page)).count() as u32
    }

    /// Bytes that an entry of this node takes more.
    fn cost(&self, node: u32) -> u64 {
        let of_node =
            if self.nodes[node as usize].entries == 0 { self.parameters.node_bytes } else { 0 };
        u64::from(of_node) + u64::from(self.parameters.entry_bytes)
    }

    /// The entries that are to come with that of `lpn`, which is the first of them.
    fn wanted(&self, lpn: u32, last: u32) -> impl Iterator<Item = u32> + '_ {
        (lpn..=last).filter(|page| !self.entry_of.holds(*page))
    }

    /// The last page whose entry is to come with that of `lpn`.
    fn last_wanted(&self, lpn: u32) -> u32 {
        let Range { end, .. } = self.after(lpn);
        let by_request = if self.parameters.by_request { self.plan.following } else { 0 };
        let is_ahead = self.parameters.selective && self.is_sequential;
        let ahead = if is_ahead { self.run_before(lpn) } else { 0 };
        lpn.saturating_add(by_request.max(ahead)).min(end - 1)
    }

    fn warm(&mut self, node: u32) {
        let (heat, entries) = self.heat(node);
        self.coldest.set(node, heat, entries);
    }

    /// How hot a node is: a sum, and of how many.
    fn heat(&self, node: u32) -> (u64, u32) {
        let Node { heat, entries, used, .. } = self.nodes[node as usize];
        match self.parameters.order {
            NodeOrder::Mean => (heat, entries),
            NodeOrder::Last => (used, entries.min(1)),
        }
    }

    fn count_nodes(&mut self, change: i64) {
        self.change += change;
        let threshold = i64::from(self.parameters.threshold);
        if self.change.abs() == threshold {
            self.is_sequential = self.change < 0;
            self.change = 0;
        }
    }

    /// Drops an entry of `node`; what has to be written for it.
    fn drop_of(&mut self, node: u32) -> Option<WriteBack> {
        let of = self.nodes[node as usize];
        let mut entry = of.ends.oldest();
        if self.parameters.clean_first && of.changed < of.entries {
            while self.entries[entry as usize].is_changed {
                entry = self.entries[entry as usize].links.newer();
            }
        }
        let is_changed = self.entries[entry as usize].is_changed;
        self.remove(node, entry);
        if is_changed && self.parameters.together {
            self.clean(node);
        }
        is_changed.then(|| WriteBack::in_part(node))
    }

    /// Its entries are as their translation page has them.
    fn clean(&mut self, node: u32) {
        let Node { ends, changed, .. } = &mut self.nodes[node as usize];
        let mut left = std::mem::take(changed);
        let mut entry = ends.newest();
        while left > 0 {
            let of = &mut self.entries[entry as usize];
            left -= u32::from(std::mem::take(&mut of.is_changed));
            entry = of.links.older();
        }
    }

    fn remove(&mut self, node: u32, entry: u32) {
        self.unlink(node, entry);
        let Entry { used, page, is_changed, .. } = self.entries[entry as usize];
        self.entry_of.remove(page);
        self.unused.push(entry);
        let of = &mut self.nodes[node as usize];
        (of.entries, of.heat) = (of.entries - 1, of.heat - used);
        of.changed -= u32::from(is_changed);
        self.held -= 1;
        self.bytes -= u64::from(self.parameters.entry_bytes);
        if of.entries == 0 {
            self.bytes -= u64::from(self.parameters.node_bytes);
            self.coldest.remove(node);
            self.count_nodes(-1);
        } else {
            self.warm(node);
        }
    }

    /// Adds an entry for `page` as the newest of its node, or as the oldest.
    fn add(&mut self, page: u32, is_newest: bool) {
        let node = self.node_of(page);
        self.bytes += self.cost(node);
        let blank = Entry { used: self.look_ups, links: Links::NONE, page, is_changed: false };
        let entry = self.unused.pop().unwrap_or(self.entries.len() as u32);
        if entry as usize == self.entries.len() {
            self.entries.push(blank);
        } else {
            self.entries[entry as usize] = blank;
        }
        self.entry_of.set(page, entry);
        self.link(node, entry, is_newest);
        let of = &mut self.nodes[node as usize];
        (of.entries, of.heat) = (of.entries + 1, of.heat + self.look_ups);
        of.used = self.look_ups;
        let is_new = of.entries == 1;
        self.held += 1;
        self.warm(node);
        if is_new && !std::mem::take(&mut self.plan.is_counted) {
            self.count_nodes(1);
        }
    }

    fn unlink(&mut self, node: u32, entry: u32) {
        self.nodes[node as usize].ends.unlink(&mut self.entries, entry);
    }

    fn link(&mut self, node: u32, entry: u32, is_newest: bool) {
        let ends = &mut self.nodes[node as usize].ends;
        if is_newest {
            ends.link_newest(&mut self.entries, entry);
        } else {
            ends.link_oldest(&mut self.entries, entry);
        }
    }
}

impl Map for Tpftl {
    fn look_up(&mut self, lpn: Lpn, following: u32) -> Found {
        self.look_ups += 1;
        let (entry, node) = (self.entry_of.get(lpn.0), self.node_of(lpn.0));
        self.nodes[node as usize].used = self.look_ups;
        if entry == NONE {
            if self.parameters.order == NodeOrder::Last && self.nodes[node as usize].entries > 0 {
                self.warm(node);
            }
            self.plan = Plan { following, ..Plan::default() };
            return Found::Nowhere;
        }
        self.unlink(node, entry);
        self.link(node, entry, true);
        let used = std::mem::replace(&mut self.entries[entry as usize].used, self.look_ups);
        self.nodes[node as usize].heat += self.look_ups - used;
        self.warm(node);
        Found::Here
    }

    fn make_room(&mut self, lpn: Lpn, _places: &Places<'_>) -> Option<WriteBack> {
        let node = self.node_of(lpn.0);
        if self.plan.wanted.is_none() {
            self.plan.wanted = Some(self.last_wanted(lpn.0));
        }
        while self.bytes + self.cost(node) > self.parameters.cache.0 {
            let coldest = self.coldest.first()?;
            let written = self.drop_of(coldest);
            let is_gone = self.nodes[coldest as usize].entries == 0;
            if is_gone && self.parameters.order == NodeOrder::Last {
                self.plan.wanted = Some(lpn.0);
            }
            if written.is_some() {
                return written;
            }
        }
        if self.parameters.order == NodeOrder::Last
            && self.nodes[node as usize].entries == 0
            && !std::mem::replace(&mut self.plan.is_counted, true)
        {
            self.count_nodes(1);
        }
        let last = self.plan.wanted.unwrap_or(lpn.0);
        let more = self.wanted(lpn.0, last).count() as u64 - 1;
        let more = more * u64::from(self.parameters.entry_bytes);
        while self.bytes + self.cost(node) + more > self.parameters.cache.0 {
            if matches!(self.plan.victim, Victim::NotChosen) {
                let coldest = self.coldest.first().filter(|coldest| *coldest != node);
                self.plan.victim = coldest.map_or(Victim::None, Victim::Node);
            }
            let Victim::Node(victim) = self.plan.victim else { return None };
            let written = self.drop_of(victim);
            if self.nodes[victim as usize].entries == 0 {
                self.plan.victim = Victim::None;
            }
            if written.is_some() {
                return written;
            }
        }
        None
    }

    fn load(&mut self, lpn: Lpn) {
        let last = self.plan.wanted.unwrap_or(lpn.0);
        self.add(lpn.0, true);
        for page in lpn.0 + 1..=last {
            let entry_bytes = u64::from(self.parameters.entry_bytes);
            if self.bytes + entry_bytes > self.parameters.cache.0 {
                break;
            }
            if !self.entry_of.holds(page) {
                self.add(page, false);
            }
        }
        self.plan = Plan::default();
    }

    fn change(&mut self, lpn: Lpn) -> bool {
        let entry = self.entry_of.get(lpn.0);
        let Some(of) = self.entries.get_mut(entry as usize) else { return false };
        let was_changed = std::mem::replace(&mut of.is_changed, true);
        let node = self.node_of(lpn.0);
        self.nodes[node as usize].changed += u32::from(!was_changed);
        true
    }

    fn is_changed(&self, lpn: Lpn) -> bool {
        let entry = self.entries.get(self.entry_of.get(lpn.0) as usize);
        entry.is_some_and(|entry| entry.is_changed)
    }

    fn holds(&self, lpn: Lpn) -> bool {
        self.entry_of.holds(lpn.0)
    }

    fn held(&self) -> Vec<Lpn> {
        let entries = self.nodes.iter().flat_map(|node| node.ends.all(&self.entries));
        entries.map(|entry| Lpn(self.entries[entry as usize].page)).collect()
    }

    fn written(&mut self, page: u32) {
        if self.parameters.together {
            self.clean(page);
        }
    }

    fn memory_bytes(&self) -> usize {
        self.entry_of.bytes()
            + self.entries.capacity() * size_of::<Entry>()
            + self.unused.capacity() * size_of::<u32>()
            + size_of_val(&self.nodes[..])
            + self.coldest.memory_bytes()
    }

    fn fetch_ahead(&self, [nearest, near, far]: [Lpn; 3]) {
        self.entry_of.prefetch(far.0);
        memory::prefetch(&self.entries, self.entry_of.get(near.0) as usize);
        if let Some(of) = self.entries.get(self.entry_of.get(nearest.0) as usize) {
            memory::prefetch(&self.entries, of.links.newer() as usize);
            memory::prefetch(&self.entries, of.links.older() as usize);
        }
    }

    fn check(&self) -> Result<(), String> {
        let (mut held, mut bytes) = (0, 0);
        for (node, of) in (0..).zip(&self.nodes) {
            let mut seen = Node { entries: 0, changed: 0, heat: 0, ..*of };
            of.ends.check(&self.entries, |entry, own| {
                ensure!(self.entry_of.get(own.page) == entry, "entry {entry} is lost");
                ensure!(self.node_of(own.page) == node, "entry {entry} is in another node");
                seen.entries += 1;
                seen.changed += u32::from(own.is_changed);
                seen.heat += own.used;
                Ok(())
            })?;
            let counts = |node: &Node| (node.entries, node.changed, node.heat);
            ensure!(counts(of) == counts(&seen), "node {node} counts {of:?} of {seen:?}");
            held += of.entries;
            if of.entries > 0 {
                bytes += u64::from(self.parameters.node_bytes);
            }
        }
        bytes += u64::from(held) * u64::from(self.parameters.entry_bytes);
        ensure!((held, bytes) == (self.held, self.bytes), "{held} entries take {bytes} bytes");
        ensure!(bytes <= self.parameters.cache.0, "{bytes} bytes do not fit");
        let known = self.entry_of.len();
        ensure!(known == held as usize, "{known} pages have {held} entries");
        self.coldest.check(|node| self.heat(node))
    }
}

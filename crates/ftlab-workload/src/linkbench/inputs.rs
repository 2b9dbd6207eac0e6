//! What the requests are about: all that is drawn of them.
//!
//! It depends on nothing that requests change. So it is drawn ahead, and the leaves of indexes that many
//! requests need can be looked for at once.

use super::shuffle::Shuffle;
use super::tables::{LINK_TYPES, LinksOf, Tables};
use ftlab_random::{Ranks, draw_below, scale_below};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use std::collections::VecDeque;

/// Requests that are drawn at a time.
const AHEAD: usize = 32;

/// Of two hundred link requests, those whose node is drawn by how many links it has.
const CORRELATED_WRITES: u64 = 10;
const CORRELATED_READS: u64 = 1;

/// How many times as many links as a node was loaded with are those that a request may be for: of additions,
/// one in twenty is for a link that was loaded, of other writes nine in ten.
const ADD_RANGE: f64 = LinksOf::RANGE as f64;
const UPDATE_RANGE: f64 = 1.0 / 0.9;

/// A request, with the rows that it is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Request {
    /// The newest links of a node.
    ListLinks(LinksOf),
    /// The link with a key.
    GetLink(u64),
    /// How many links a node has.
    CountLinks(u64),
    /// Adds a link or, if it exists, changes it and shows it.
    PutLink(Link),
    /// Hides a link if it is there.
    HideLink(Link),
    GetNode(u64),
    AddNode,
    /// Updates a node if it is there.
    UpdateNode(u64),
    /// Deletes a node if it is there.
    DeleteNode(u64),
}

/// A link that is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) node: u64,
    pub(super) key: u64,
    /// Where it is in the order of time, and where it goes.
    pub(super) time: u64,
    pub(super) newest: u64,
    /// Which it is of all that there may be.
    pub(super) id: u64,
    pub(super) is_loaded: bool,
}

/// Who draws, and the requests that have been drawn and wait for their turn.
pub(super) struct Inputs {
    random: Xoshiro256PlusPlus,
    read_link: Ranks,
    write_link: Ranks,
    read_node: Ranks,
    update_node: Ranks,
    /// The node with a rank: by its links, for requests for links whatever it has, and for nodes.
    by_links: Shuffle,
    by_use: Shuffle,
    node_by_use: Shuffle,
    pub(super) requests: VecDeque<Request>,
}

impl Inputs {
    /// Draws among `nodes` nodes, of which `by_links` is the order by how many links they have.
    pub(super) fn new(nodes: u64, by_links: Shuffle, mut random: Xoshiro256PlusPlus) -> Self {
        Self {
            read_link: Ranks::new(nodes, 0.8),
            write_link: Ranks::new(nodes, 0.741),
            read_node: Ranks::new(nodes, 0.625),
            update_node: Ranks::new(nodes, 0.606),
            by_use: Shuffle::new(nodes, &mut random),
            node_by_use: Shuffle::new(nodes, &mut random),
            by_links,
            random,
            requests: VecDeque::with_capacity(AHEAD),
        }
    }

    /// Draws the next requests: first for which nodes, and then, all at once, for which of their links.
    pub(super) fn draw(&mut self, tables: &Tables) {
        let drawn = [(); AHEAD].map(|()| self.draw_one(tables.nodes));
        self.requests.extend(drawn.map(|drawn| drawn.request(tables)));
    }

    fn draw_one(&mut self, nodes: u64) -> Drawn {
        let kind = Kind::draw(&mut self.random);
        let node = match kind {
            Kind::ListLinks | Kind::GetLink | Kind::CountLinks => {
                let is_correlated = draw_below(&mut self.random, 200) < CORRELATED_READS;
                let order = if is_correlated { &self.by_links } else { &self.by_use };
                order.node(self.read_link.draw(&mut self.random))
            }
            Kind::AddLink | Kind::UpdateLink | Kind::DeleteLink => {
                let is_correlated = draw_below(&mut self.random, 200) < CORRELATED_WRITES;
                let order = if is_correlated { &self.by_links } else { &self.by_use };
                order.node(self.write_link.draw(&mut self.random))
            }
            Kind::GetNode => self.node_by_use.node(self.read_node.draw(&mut self.random)),
            Kind::UpdateNode => self.node_by_use.node(self.update_node.draw(&mut self.random)),
            Kind::DeleteNode => draw_below(&mut self.random, nodes),
            Kind::AddNode => 0,
        };
        Drawn { kind, node, random: [self.random.next_u64(), self.random.next_u64()] }
    }
}

/// What a request does.
#[derive(Debug, Clone, Copy)]
enum Kind {
    ListLinks,
    GetNode,
    AddLink,
    UpdateLink,
    UpdateNode,
    CountLinks,
    DeleteLink,
    AddNode,
    DeleteNode,
    GetLink,
}

impl Kind {
    /// The mix in a million, the most frequent first.
    #[inline]
    fn draw(random: &mut Xoshiro256PlusPlus) -> Self {
        match draw_below(random, 1_000_000) {
            0..507_119 => Self::ListLinks,
            507_119..636_446 => Self::GetNode,
            636_446..726_333 => Self::AddLink,
            726_333..806_455 => Self::UpdateLink,
            806_455..880_119 => Self::UpdateNode,
            880_119..928_983 => Self::CountLinks,
            928_983..958_891 => Self::DeleteLink,
            958_891..984_624 => Self::AddNode,
            984_624..994_740 => Self::DeleteNode,
            _ => Self::GetLink,
        }
    }
}

/// What has been drawn of a request, before its node's links are looked up.
#[derive(Debug, Clone, Copy)]
struct Drawn {
    kind: Kind,
    node: u64,
    random: [u64; 2],
}

impl Drawn {
    #[inline]
    fn request(self, tables: &Tables) -> Request {
        let links = || tables.links_of(self.node, self.random[1] % LINK_TYPES);
        match self.kind {
            Kind::ListLinks => Request::ListLinks(links()),
            Kind::GetLink => {
                let links = links();
                Request::GetLink(links.key(scale_below(self.random[0], links.loaded)))
            }
            Kind::CountLinks => Request::CountLinks(self.node),
            Kind::AddLink => Request::PutLink(self.link(&links(), ADD_RANGE)),
            Kind::UpdateLink => Request::PutLink(self.link(&links(), UPDATE_RANGE)),
            Kind::DeleteLink => Request::HideLink(self.link(&links(), UPDATE_RANGE)),
            Kind::GetNode => Request::GetNode(self.node),
            Kind::UpdateNode => Request::UpdateNode(self.node),
            Kind::DeleteNode => Request::DeleteNode(self.node),
            Kind::AddNode => Request::AddNode,
        }
    }

    /// A link that is written, of `range` times as many as were loaded, or the only one of a node without.
    #[inline]
    fn link(&self, links: &LinksOf, range: f64) -> Link {
        let range = (links.loaded as f64 * range).ceil() as u64;
        let number = scale_below(self.random[0], range.max(1));
        Link {
            node: self.node,
            key: links.key(number),
            time: links.time(self.random[1]),
            newest: links.newest(),
            id: links.id(number),
            is_loaded: number < links.loaded,
        }
    }
}

//! Two lists of pages in order of use, searched with one look into one table.

use crate::algorithms::tools::page_table::PageTable;
use crate::state::state;
use ftlab_flash::Lpn;

/// How many lists there are.
const LISTS: usize = 2;

/// The ring of nodes without a page.
const FREE: usize = LISTS;

/// A page between its neighbours on a ring.
///
/// The first nodes are the heads of the lists and of the free nodes: what is older than a head is the
/// newest of its ring, what is newer is the oldest. So no node lacks a neighbour.
#[derive(Debug, Clone, Copy)]
struct Node {
    lpn: Lpn,
    newer: u32,
    older: u32,
    list: u32,
}

state!(Node { lpn, newer, older, list });

/// Where a page is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    node: u32,
    list: u32,
}

impl Place {
    /// The list that the page is on.
    #[inline]
    pub(crate) fn list(self) -> usize {
        self.list as usize
    }
}

/// At most `capacities` pages on two lists, each from the newest to the oldest; no page is on both.
///
/// Nothing is allocated after construction.
#[derive(Debug)]
pub(crate) struct LruLists {
    nodes: Vec<Node>,
    /// Page -> node.
    table: PageTable,
    lengths: [u32; LISTS],
    capacities: [u32; LISTS],
}

state!(LruLists { nodes, table, lengths } constant capacities);

impl LruLists {
    /// Two empty lists for pages below `logical_pages`; each capacity is at least 1.
    pub(crate) fn new(capacities: [u32; LISTS], logical_pages: u32) -> Self {
        let entries = capacities[0].saturating_add(capacities[1]).min(logical_pages.max(1));
        let head = |node| Node { lpn: Lpn(u32::MAX), newer: node, older: node, list: node };
        let mut lists = Self {
            nodes: (0..=FREE as u32).map(head).collect(),
            table: PageTable::new(entries),
            lengths: [0; LISTS],
            capacities,
        };
        lists.nodes.reserve_exact(entries as usize);
        for _ in 0..entries {
            let node = lists.nodes.len() as u32;
            lists.nodes.push(head(node));
            lists.link_newest(node, FREE);
        }
        lists
    }

    /// The most pages that both lists can hold.
    #[inline]
    pub(crate) fn capacity(&self) -> u32 {
        self.capacities.iter().sum()
    }

    #[inline]
    pub(crate) fn is_full(&self, list: usize) -> bool {
        self.lengths[list] == self.capacities[list]
    }

    /// Where `lpn` is, if it is on a list.
    #[inline]
    pub(crate) fn find(&self, lpn: Lpn) -> Option<Place> {
        self.table.get(lpn).map(|node| Place { node, list: self.nodes[node as usize].list })
    }

    /// Where the oldest page of `list` is.
    #[inline]
    pub(crate) fn oldest(&self, list: usize) -> Option<Place> {
        let node = self.nodes[list].newer;
        (node as usize != list).then_some(Place { node, list: list as u32 })
    }

    /// Makes the page at `place` the newest of `list`, whatever list it was on.
    #[inline]
    pub(crate) fn move_to_front(&mut self, place: Place, list: usize) {
        self.unlink(place.node);
        self.link_newest(place.node, list);
        self.lengths[place.list()] -= 1;
        self.lengths[list] += 1;
    }

    /// Adds `lpn`, which is on neither list, as the newest of `list`; there must be room.
    #[inline]
    pub(crate) fn push_front(&mut self, lpn: Lpn, list: usize) {
        debug_assert!(!self.is_full(list) && self.find(lpn).is_none());
        let node = self.nodes[FREE].older;
        self.unlink(node);
        self.link_newest(node, list);
        self.nodes[node as usize].lpn = lpn;
        self.table.insert(lpn, node);
        self.lengths[list] += 1;
    }

    /// Takes the page at `place` off its list.
    #[inline]
    pub(crate) fn remove(&mut self, place: Place) {
        self.table.remove(self.nodes[place.node as usize].lpn);
        self.unlink(place.node);
        self.link_newest(place.node, FREE);
        self.lengths[place.list()] -= 1;
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..]) + self.table.bytes()
    }

    /// Takes `node` off its ring.
    #[inline]
    fn unlink(&mut self, node: u32) {
        let Node { newer, older, .. } = self.nodes[node as usize];
        self.nodes[newer as usize].older = older;
        self.nodes[older as usize].newer = newer;
    }

    /// Puts `node`, which is on no ring, before all others of `ring`.
    #[inline]
    fn link_newest(&mut self, node: u32, ring: usize) {
        let second = std::mem::replace(&mut self.nodes[ring].older, node);
        self.nodes[second as usize].newer = node;
        let linked = &mut self.nodes[node as usize];
        *linked = Node { newer: ring as u32, older: second, list: ring as u32, ..*linked };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pages(lists: &LruLists, list: usize) -> Vec<Lpn> {
        let mut next = lists.nodes[list].older as usize;
        let pages = std::iter::from_fn(|| {
            let node = lists.nodes[next];
            let page = (next != list).then_some(node.lpn);
            next = node.older as usize;
            page
        });
        pages.collect()
    }

    proptest! {
        #[test]
        fn they_are_plain_lists_with_the_newest_in_front(
            capacities in [1_u32..12, 1_u32..12],
            steps in prop::collection::vec((0_u8..5, 0_usize..2, 0_u32..20), 0..300),
        ) {
            let mut lists = LruLists::new(capacities, 20);
            let allocated = lists.nodes.capacity();
            let mut plain: [Vec<Lpn>; 2] = Default::default();
            for (operation, list, page) in steps {
                let lpn = Lpn(page);
                let full = plain[list].len() == capacities[list] as usize;
                prop_assert_eq!(lists.is_full(list), full);
                let place = lists.find(lpn);
                let expected = plain.iter().position(|pages| pages.contains(&lpn));
                prop_assert_eq!(place.map(Place::list), expected);
                match (operation, place) {
                    (0, _) => {
                        let oldest = lists.oldest(list);
                        prop_assert_eq!(oldest.is_some(), plain[list].pop().is_some());
                        if let Some(oldest) = oldest {
                            lists.remove(oldest);
                        }
                    }
                    (1, Some(place)) => {
                        lists.remove(place);
                        plain[place.list()].retain(|&other| other != lpn);
                    }
                    (_, Some(place)) if place.list() == list || !full => {
                        lists.move_to_front(place, list);
                        plain[place.list()].retain(|&other| other != lpn);
                        plain[list].insert(0, lpn);
                    }
                    (_, None) if !full => {
                        lists.push_front(lpn, list);
                        plain[list].insert(0, lpn);
                    }
                    _ => {}
                }
                prop_assert_eq!([pages(&lists, 0), pages(&lists, 1)], plain.clone());
            }
            prop_assert_eq!(lists.nodes.capacity(), allocated);
        }
    }
}

//! Pages in order of use, each found in constant time.

use super::hash::hash;
use ftlab_flash::Lpn;

/// No node.
const NONE: u32 = u32::MAX;

/// A page in the list; a node without a page is on the list of free nodes, linked by `older`.
#[derive(Debug, Clone, Copy)]
struct Node {
    lpn: Lpn,
    newer: u32,
    older: u32,
    /// The next node whose page has the same hash.
    chain: u32,
}

/// At most `capacity` pages, from the newest to the oldest; a chained hash table finds them.
///
/// Nothing is allocated after construction.
#[derive(Debug)]
pub(crate) struct LruList {
    nodes: Vec<Node>,
    /// Hash -> first node of its chain; a power of two of them.
    chains: Vec<u32>,
    newest: u32,
    oldest: u32,
    free: u32,
}

impl LruList {
    /// An empty list; `capacity` is at least 1.
    pub(crate) fn new(capacity: u32) -> Self {
        let node = |index| Node {
            lpn: Lpn(NONE),
            newer: NONE,
            older: if index + 1 < capacity { index + 1 } else { NONE },
            chain: NONE,
        };
        Self {
            nodes: (0..capacity).map(node).collect(),
            chains: vec![NONE; (capacity as usize).next_power_of_two()],
            newest: NONE,
            oldest: NONE,
            free: 0,
        }
    }

    /// The most pages that it can hold.
    pub(crate) fn capacity(&self) -> u32 {
        self.nodes.len() as u32
    }

    pub(crate) fn is_full(&self) -> bool {
        self.free == NONE
    }

    #[inline]
    pub(crate) fn contains(&self, lpn: Lpn) -> bool {
        self.find(lpn) != NONE
    }

    /// Makes `lpn` the newest; false if it is not in the list.
    #[inline]
    pub(crate) fn move_to_front(&mut self, lpn: Lpn) -> bool {
        let node = self.find(lpn);
        if node != NONE && node != self.newest {
            self.unlink(node);
            self.link_newest(node);
        }
        node != NONE
    }

    /// Adds `lpn`, which is not in the list, as the newest; there must be room.
    pub(crate) fn push_front(&mut self, lpn: Lpn) {
        debug_assert!(!self.is_full() && !self.contains(lpn));
        let node = self.free;
        self.free = self.nodes[node as usize].older;
        let chain = self.chain_of(lpn);
        self.nodes[node as usize].lpn = lpn;
        self.nodes[node as usize].chain = std::mem::replace(&mut self.chains[chain], node);
        self.link_newest(node);
    }

    /// Takes out the oldest.
    pub(crate) fn pop_back(&mut self) -> Option<Lpn> {
        let lpn = self.nodes.get(self.oldest as usize)?.lpn;
        self.remove(lpn);
        Some(lpn)
    }

    /// Takes out `lpn`; false if it is not in the list.
    pub(crate) fn remove(&mut self, lpn: Lpn) -> bool {
        let node = self.find(lpn);
        if node == NONE {
            return false;
        }
        self.unchain(node);
        self.unlink(node);
        self.nodes[node as usize].older = std::mem::replace(&mut self.free, node);
        true
    }

    /// From the newest to the oldest.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = Lpn> {
        let mut next = self.newest;
        std::iter::from_fn(move || {
            let node = self.nodes.get(next as usize)?;
            next = node.older;
            Some(node.lpn)
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.chains[..])
    }

    #[inline]
    fn chain_of(&self, lpn: Lpn) -> usize {
        hash(lpn) as usize & (self.chains.len() - 1)
    }

    #[inline]
    fn find(&self, lpn: Lpn) -> u32 {
        let mut node = self.chains[self.chain_of(lpn)];
        while let Some(found) = self.nodes.get(node as usize)
            && found.lpn != lpn
        {
            node = found.chain;
        }
        node
    }

    /// Takes `node` out of its chain.
    fn unchain(&mut self, node: u32) {
        let Node { lpn, chain: after, .. } = self.nodes[node as usize];
        let chain = self.chain_of(lpn);
        let mut before = self.chains[chain];
        if before == node {
            self.chains[chain] = after;
            return;
        }
        while self.nodes[before as usize].chain != node {
            before = self.nodes[before as usize].chain;
        }
        self.nodes[before as usize].chain = after;
    }

    /// Takes `node` out of the order.
    #[inline]
    fn unlink(&mut self, node: u32) {
        let Node { newer, older, .. } = self.nodes[node as usize];
        match self.nodes.get_mut(newer as usize) {
            Some(newer) => newer.older = older,
            None => self.newest = older,
        }
        match self.nodes.get_mut(older as usize) {
            Some(older) => older.newer = newer,
            None => self.oldest = newer,
        }
    }

    /// Puts `node` before all others.
    #[inline]
    fn link_newest(&mut self, node: u32) {
        let second = std::mem::replace(&mut self.newest, node);
        self.nodes[node as usize].newer = NONE;
        self.nodes[node as usize].older = second;
        match self.nodes.get_mut(second as usize) {
            Some(second) => second.newer = node,
            None => self.oldest = node,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_plain_list_with_the_newest_in_front(
            capacity in 1_u32..12,
            steps in prop::collection::vec((0_u8..4, 0_u32..20), 0..300),
        ) {
            let mut list = LruList::new(capacity);
            let mut plain: Vec<Lpn> = Vec::new();
            for (operation, page) in steps {
                let lpn = Lpn(page);
                let place = plain.iter().position(|&other| other == lpn);
                prop_assert_eq!(list.contains(lpn), place.is_some());
                prop_assert_eq!(list.is_full(), plain.len() == capacity as usize);
                match (operation, place) {
                    (0, _) => prop_assert_eq!(list.pop_back(), plain.pop()),
                    (1, _) => {
                        prop_assert_eq!(list.remove(lpn), place.is_some());
                        plain.retain(|&other| other != lpn);
                    }
                    (_, Some(place)) => {
                        prop_assert!(list.move_to_front(lpn));
                        plain.remove(place);
                        plain.insert(0, lpn);
                    }
                    (_, None) if list.is_full() => prop_assert!(!list.move_to_front(lpn)),
                    (_, None) => {
                        list.push_front(lpn);
                        plain.insert(0, lpn);
                    }
                }
                prop_assert_eq!(list.iter().collect::<Vec<_>>(), plain.clone());
            }
        }
    }
}

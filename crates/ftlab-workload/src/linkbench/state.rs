//! Which links and nodes there are.

use super::inputs::Link;
use super::tables::Tables;
use std::hint::black_box;

/// Bits of a link, and links of a word.
const ADDED: u64 = 1;
const HIDDEN: u64 = 2;
const LINK_BITS: u64 = 2;
const WORD_LINKS: u64 = 32;

/// What has become of the links that were loaded or may be added, and of the nodes that were loaded.
#[derive(Debug, Clone)]
pub(super) struct State {
    /// Two bits for each link that there may be.
    links: Vec<u64>,
    deleted_nodes: Vec<u64>,
}

/// What a link was before a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinkState {
    pub(super) exists: bool,
    pub(super) is_hidden: bool,
}

impl State {
    /// All that has been loaded is there, and visible.
    pub(super) fn new(tables: &Tables) -> Self {
        Self {
            links: vec![0; (tables.ids() / WORD_LINKS) as usize + 1],
            deleted_nodes: vec![0; (tables.nodes / 64) as usize + 1],
        }
    }

    /// Looks for the links `ids`: the processor waits for memory once for all of them, and not for each.
    pub(super) fn look_ahead(&self, ids: impl Iterator<Item = u64>) {
        black_box(ids.fold(0, |sum, id| sum ^ self.links[(id / WORD_LINKS) as usize]));
    }

    #[inline]
    fn of(link: &Link, bits: u64) -> LinkState {
        LinkState { exists: link.is_loaded || bits & ADDED != 0, is_hidden: bits & HIDDEN != 0 }
    }

    /// Adds `link`, or shows it.
    #[inline]
    pub(super) fn put(&mut self, link: &Link) -> LinkState {
        let word = &mut self.links[(link.id / WORD_LINKS) as usize];
        let shift = link.id % WORD_LINKS * LINK_BITS;
        let before = Self::of(link, *word >> shift);
        *word = (*word & !(HIDDEN << shift)) | (ADDED << shift);
        before
    }

    /// Hides `link`; false, and nothing done, if it is not there or hidden.
    #[inline]
    pub(super) fn hide(&mut self, link: &Link) -> bool {
        let word = &mut self.links[(link.id / WORD_LINKS) as usize];
        let shift = link.id % WORD_LINKS * LINK_BITS;
        let before = Self::of(link, *word >> shift);
        let hides = before.exists && !before.is_hidden;
        *word |= (u64::from(hides) * HIDDEN) << shift;
        hides
    }

    /// Whether `node` has not been deleted.
    #[inline]
    pub(super) fn has_node(&self, node: u64) -> bool {
        self.deleted_nodes[(node / 64) as usize] & (1 << (node % 64)) == 0
    }

    /// Deletes `node`; false, and nothing done, if it has been.
    #[inline]
    pub(super) fn delete_node(&mut self, node: u64) -> bool {
        let is_there = self.has_node(node);
        self.deleted_nodes[(node / 64) as usize] |= 1 << (node % 64);
        is_there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_added_once_hidden_and_shown_and_nodes_deleted_once() {
        let mut state = State { links: vec![0; 4], deleted_nodes: vec![0; 2] };
        let link = |id, is_loaded| Link { node: 0, key: 0, time: 0, newest: 0, id, is_loaded };
        let (absent, there) = (false, true);
        let was = |exists, is_hidden| LinkState { exists, is_hidden };
        for id in [0, 31, 32, 100] {
            let added = link(id, false);
            assert!(!state.hide(&added));
            assert_eq!(state.put(&added), was(absent, false));
            assert_eq!(state.put(&added), was(there, false));
            assert!(state.hide(&added) && !state.hide(&added));
            assert_eq!(state.put(&added), was(there, true));
            assert_eq!(state.put(&added), was(there, false));
        }
        assert_eq!(state.put(&link(33, true)), was(there, false));
        assert!(state.hide(&link(34, true)));
        assert_eq!(state.put(&link(35, false)), was(absent, false));
        assert!(state.has_node(70) && state.delete_node(70));
        assert!(!state.has_node(70) && !state.delete_node(70) && state.has_node(71));
    }
}

//! What transactions do to pages, one use after the other.

use super::Undo;

/// A use of a page, or the end of a transaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use {
    pub(super) page: u32,
    /// Bytes that the redo log grows by, and in the lowest bits the kind.
    what: u32,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Change,
    /// Changes a page that was not there or not used.
    Make,
    /// Ends a transaction; the page has no meaning.
    Commit,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Read, Self::Change, Self::Make, Self::Commit];
    const BITS: u32 = 2;
}

impl Use {
    #[inline]
    fn new(kind: Kind, page: u32, redo_bytes: u32) -> Self {
        Self { page, what: redo_bytes << Kind::BITS | kind as u32 }
    }

    #[inline]
    pub(super) fn kind(self) -> Kind {
        Kind::ALL[self.what as usize % Kind::ALL.len()]
    }

    #[inline]
    pub(super) fn redo_bytes(self) -> u32 {
        self.what >> Kind::BITS
    }
}

/// What transactions do, in order, to pages of `page_bytes`.
#[derive(Debug, Clone)]
pub(crate) struct Uses {
    pub(super) all: Vec<Use>,
    page_bytes: u32,
    /// Where transactions end, if that is kept.
    pub(super) ends: Vec<usize>,
    /// How many of these, the first ones, are parts of the load.
    pub(super) loads: usize,
}

impl Uses {
    /// None so far.
    pub(super) fn new(page_bytes: u32) -> Self {
        Self::with_room(page_bytes, 0)
    }

    /// None so far, and room for `uses` and those of one more transaction.
    pub(super) fn with_room(page_bytes: u32, uses: usize) -> Self {
        let all = Vec::with_capacity(uses + uses / 8);
        Self { all, page_bytes, ends: Vec::new(), loads: 0 }
    }

    /// A transaction looks at `page`.
    #[inline]
    pub(crate) fn read(&mut self, page: u32) {
        self.all.push(Use::new(Kind::Read, page, 0));
    }

    /// A transaction changes `page`, and the redo log grows by `redo_bytes`.
    #[inline]
    pub(crate) fn change(&mut self, page: u32, redo_bytes: u32) {
        self.all.push(Use::new(Kind::Change, page, redo_bytes));
    }

    /// Changes a page that may be new: not there before, or not used.
    #[inline]
    pub(crate) fn change_or_make(&mut self, page: u32, is_new: bool, redo_bytes: u32) {
        let kind = if is_new { Kind::Make } else { Kind::Change };
        self.all.push(Use::new(kind, page, redo_bytes));
    }

    /// A transaction changes a leaf of an index. If that has split, the other page is new, and half of a
    /// page of rows goes through the log.
    #[inline]
    pub(crate) fn change_leaf(&mut self, (page, other): (u32, Option<u32>), redo_bytes: u32) {
        self.change(page, redo_bytes);
        if let Some(other) = other {
            self.change_or_make(other, true, self.page_bytes / 2);
        }
    }

    /// A transaction writes undo records, which the redo log has with what they are for.
    #[inline]
    pub(crate) fn write_undo(&mut self, undo: &mut Undo, bytes: u32) {
        undo.append(bytes, |page| self.change(page, 0));
    }

    /// A transaction is over.
    #[inline]
    pub(crate) fn commit(&mut self) {
        self.all.push(Use::new(Kind::Commit, 0, 0));
    }
}

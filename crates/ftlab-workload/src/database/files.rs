//! Where tables lie: files that take the drive in extents.

const EXTENT_PAGES: u32 = 64;

/// The part of the drive that the database may take, handed out in extents from the start.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    next: u32,
    end: u32,
    is_full: bool,
}

impl Files {
    /// Extents for at most `pages` pages, at least one extent.
    pub(super) fn new(pages: u32) -> Self {
        Self { next: 0, end: pages, is_full: false }
    }

    /// Pages of the extents that `pages` pages take.
    pub(super) fn extents(pages: u32) -> u32 {
        pages.next_multiple_of(EXTENT_PAGES)
    }

    /// Takes `pages` in a row, in whole extents; returns the first.
    pub(crate) fn reserve(&mut self, pages: u32) -> u32 {
        let first = self.next;
        self.next += Self::extents(pages);
        first
    }

    /// Pages handed out so far.
    pub(crate) fn pages(&self) -> u32 {
        self.next
    }

    /// Whether an extent was asked for that is not there.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The next extent; the last one again where there is no other.
    fn extent(&mut self) -> u32 {
        if self.next + EXTENT_PAGES > self.end {
            self.is_full = true;
            return self.next - EXTENT_PAGES;
        }
        self.reserve(EXTENT_PAGES)
    }
}

/// A file that grows page by page.
#[derive(Debug, Clone, Default)]
pub(crate) struct File {
    next: u32,
    left: u32,
}

impl File {
    /// The next page of the file.
    #[inline]
    pub(crate) fn grow(&mut self, files: &mut Files) -> u32 {
        if self.left == 0 {
            self.next = files.extent();
            self.left = EXTENT_PAGES;
        }
        self.next += 1;
        self.left -= 1;
        self.next - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_take_extents_in_turn_until_there_are_none() {
        let mut files = Files::new(200);
        let (mut one, mut other) = (File::default(), File::default());
        let first: Vec<_> = (0..65).map(|_| one.grow(&mut files)).collect();
        assert_eq!((first[0], first[63], first[64]), (0, 63, 64));
        assert_eq!(other.grow(&mut files), 128);
        assert!(!files.is_full());
        let more: Vec<_> = (0..64).map(|_| other.grow(&mut files)).collect();
        assert!(files.is_full() && more.iter().all(|page| *page < 192));
    }
}

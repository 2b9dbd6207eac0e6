//! Units of several pages that are programmed together.

/// A unit whose pages are asked for one after the other.
#[derive(Debug)]
pub(crate) struct Group {
    pub(super) number: u32,
    /// The lookup that has to tell where it is, if there is one.
    pub(super) lookup: Option<u32>,
}

/// How many pages of each unit are not complete; their memory is used again.
#[derive(Debug, Clone, Default)]
pub(super) struct Units {
    left: Vec<u32>,
    free: Vec<u32>,
}

impl Units {
    /// Another one of this many pages: its number.
    pub(super) fn begin(&mut self, pages: u32) -> u32 {
        let number = self.free.pop().unwrap_or(self.left.len() as u32);
        if number as usize == self.left.len() {
            self.left.push(0);
        }
        self.left[number as usize] = pages;
        number
    }

    /// A page of one is complete: whether all of it is.
    pub(super) fn leave(&mut self, number: u32) -> bool {
        let left = &mut self.left[number as usize];
        *left -= 1;
        if *left == 0 {
            self.free.push(number);
        }
        *left == 0
    }
}

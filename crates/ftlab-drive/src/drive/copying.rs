//! Which pages of a drive are still to be copied.

use crate::store::Store;
use ftlab_flash::Lpn;
use std::sync::Arc;

/// A copy that is being made.
pub(crate) struct Copying {
    target: Arc<dyn Store>,
    /// Pages that have been copied, or hold no data, a bit each.
    copied: Vec<u64>,
    pub(crate) pages: u32,
    pub(crate) unreadable: Vec<Lpn>,
    /// Why it cannot be finished.
    pub(crate) failure: Option<String>,
}

impl Copying {
    pub(crate) fn new(target: Arc<dyn Store>, logical_pages: u32) -> Self {
        let copied = vec![0; logical_pages.div_ceil(64) as usize];
        Self { target, copied, pages: 0, unreadable: Vec::new(), failure: None }
    }

    /// Whether the page is still to be copied; from now on it is not.
    pub(crate) fn takes(&mut self, lpn: Lpn) -> bool {
        let (word, bit) = (&mut self.copied[lpn.index() / 64], 1 << (lpn.0 % 64));
        let is_new = *word & bit == 0 && self.failure.is_none();
        *word |= bit;
        is_new
    }

    pub(crate) fn put(&mut self, lpn: Lpn, data: &[u8]) {
        let offset = u64::from(lpn.0) * data.len() as u64;
        if let Err(error) = self.target.write(offset, data) {
            self.failure.get_or_insert(error.to_string());
        }
    }

    /// Lets go of the copy: pages that were copied, those of them that could not be read, or why it failed.
    pub(crate) fn finish(self) -> Result<(u32, Vec<Lpn>), String> {
        let Self { pages, unreadable, failure, .. } = self;
        failure.map_or(Ok((pages, unreadable)), Err)
    }
}

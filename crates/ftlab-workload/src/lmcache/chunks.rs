//! Chunks on the drive: files of which the least recently used are deleted.

use crate::extents::{Extent, Space};
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Op, RequestBatch};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Bytes of a request at most.
const REQUEST_BYTES: u32 = 1 << 20;

/// A chunk that is there.
struct Stored {
    extents: Vec<Extent>,
    used_at: u64,
}

pub(super) struct Chunks {
    stored: FxHashMap<u64, Stored>,
    /// Chunks in order of use, with the number of the use and the pages written before it; an entry that is not the
    /// latest of its chunk means nothing.
    queue: VecDeque<(u64, u64, u64)>,
    uses: u64,
    space: Space,
    written_pages: u64,
    /// Pages of a full chunk.
    chunk_pages: f64,
    page_sectors: u64,
    request_pages: u32,
    /// How many pages are written until a chunk that is not used is deleted; 0 for any number.
    ttl_pages: u64,
    trims: bool,
}

impl Chunks {
    /// Room for `pages` pages of `page_bytes` bytes, more than a chunk has.
    pub(super) fn new(
        pages: u32,
        chunk_pages: f64,
        page_bytes: u32,
        ttl_pages: u64,
        trims: bool,
    ) -> Self {
        Self {
            stored: FxHashMap::default(),
            queue: VecDeque::new(),
            uses: 0,
            space: Space::new(pages),
            written_pages: 0,
            chunk_pages,
            page_sectors: u64::from(page_bytes) / SECTOR_BYTES,
            request_pages: (REQUEST_BYTES / page_bytes).max(1),
            ttl_pages,
            trims,
        }
    }

    /// Uses a chunk, and writes it if it is not there; `share` is how full it is.
    pub(super) fn take(&mut self, key: u64, share: f64, out: &mut RequestBatch) {
        self.uses += 1;
        self.queue.push_back((key, self.uses, self.written_pages));
        if let Some(stored) = self.stored.get_mut(&key) {
            stored.used_at = self.uses;
        } else {
            let pages = (self.chunk_pages * share).ceil().max(1.0) as u32;
            let extents = loop {
                match self.space.allocate(pages) {
                    Some(extents) => break extents,
                    None => self.delete_next(out),
                }
            };
            self.write(&extents, out);
            self.written_pages += u64::from(pages);
            self.stored.insert(key, Stored { extents, used_at: self.uses });
        }
        self.expire(out);
    }

    /// Deletes what has not been used for too long, and forgets entries that mean nothing.
    fn expire(&mut self, out: &mut RequestBatch) {
        if self.queue.len() > 4 * self.stored.len() + 1024 {
            let stored = &self.stored;
            self.queue.retain(|(key, at, _)| stored.get(key).is_some_and(|s| s.used_at == *at));
        }
        while self.ttl_pages > 0
            && let Some((.., written)) = self.queue.front()
            && self.written_pages - written > self.ttl_pages
        {
            self.delete_next(out);
        }
    }

    /// Deletes the chunk at the front of the queue, if it was not used again.
    fn delete_next(&mut self, out: &mut RequestBatch) {
        let (key, at, _) = self.queue.pop_front().expect("chunks that take room are in the queue");
        if self.stored.get(&key).is_none_or(|stored| stored.used_at != at) {
            return;
        }
        let extents = self.stored.remove(&key).map(|stored| stored.extents);
        for extent in extents.into_iter().flatten() {
            self.space.release(extent);
            if self.trims {
                let (first, sectors) = self.sectors(extent);
                out.push(Op::Trim, first, sectors);
            }
        }
    }

    fn sectors(&self, (first, pages): Extent) -> (u64, u32) {
        (u64::from(first) * self.page_sectors, pages * self.page_sectors as u32)
    }

    fn write(&self, extents: &[Extent], out: &mut RequestBatch) {
        for (first, pages) in extents {
            for start in (0..*pages).step_by(self.request_pages as usize) {
                let length = self.request_pages.min(pages - start);
                let (first, sectors) = self.sectors((first + start, length));
                out.push(Op::Write, first, sectors);
            }
        }
    }

    /// Chunks that are there, and the pages that they take.
    #[cfg(test)]
    pub(super) fn held(&self) -> (usize, u64) {
        let pages = self.stored.values().flat_map(|stored| &stored.extents);
        (self.stored.len(), pages.map(|(_, pages)| u64::from(*pages)).sum())
    }
}

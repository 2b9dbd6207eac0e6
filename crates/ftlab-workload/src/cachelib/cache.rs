//! The cache: memory in front of two engines on flash.

use super::access::{Access, Ask};
use super::big_hash::{BUCKET_BYTES, BigHash};
use super::block_cache::BlockCache;
use super::dram::{Dram, Evicted};
use super::metadata::Metadata;
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Op, RequestBatch};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

/// BigHash and where it lies.
pub(super) struct Small {
    pub(super) table: BigHash,
    pub(super) first_sector: u64,
    /// The stream of its writes.
    pub(super) stream: Option<u16>,
}

/// What has happened, in objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) gets: u64,
    pub(super) dram_hits: u64,
    pub(super) flash_hits: u64,
    /// Objects put into BigHash, and objects deleted from it.
    pub(super) small_inserts: u64,
    pub(super) small_removes: u64,
    /// Objects put into BlockCache, without those of evicted regions.
    pub(super) large_inserts: u64,
}

/// A cache, and what it writes.
pub(super) struct Cache {
    pub(super) dram: Dram,
    pub(super) small: Option<Small>,
    pub(super) large: BlockCache,
    pub(super) metadata: Metadata,
    /// The largest small object.
    pub(super) small_bytes_max: u32,
    /// Whether an object may be asked for with another size than before, or without.
    pub(super) sizes_change: bool,
    /// Draws of 53 bits below this are admitted to flash.
    pub(super) admitted: u64,
    pub(super) random: Xoshiro256PlusPlus,
    pub(super) counts: Counts,
}

impl Cache {
    /// Fetches whatever a request will look at.
    #[inline]
    pub(super) fn prefetch(&self, access: &Access) {
        self.dram.prefetch(access.key);
        self.prefetch_on_flash(access.key, access.bytes);
    }

    /// Fetches whatever the next `count` entries of the queue of memory will look at when they leave.
    #[inline]
    pub(super) fn prefetch_leaving(&mut self, count: usize) {
        while let Some((key, bytes)) = self.dram.next_leaving(count) {
            self.dram.prefetch(key);
            self.prefetch_on_flash(key, bytes);
        }
    }

    /// Fetches where an object of this size may be on flash.
    #[inline]
    fn prefetch_on_flash(&self, key: u64, bytes: u32) {
        match self.small_for(bytes) {
            Some(small) => small.table.prefetch(key),
            None => self.large.prefetch(key),
        }
    }

    /// BigHash, if an object of this size belongs there.
    #[inline]
    fn small_for(&self, bytes: u32) -> Option<&Small> {
        self.small.as_ref().filter(|_| bytes <= self.small_bytes_max)
    }

    /// Answers a request, and puts what it writes to flash into `out`.
    #[inline]
    pub(super) fn answer(&mut self, access: &Access, out: &mut RequestBatch) {
        let Access { key, bytes, ask } = *access;
        match ask {
            Ask::Get => self.get(key, bytes),
            Ask::Set => {
                let was_only_here = self.dram.put(key, bytes, false);
                if !was_only_here {
                    self.forget(key, bytes, out);
                }
            }
            Ask::Delete => {
                self.dram.remove(key);
                self.forget(key, bytes, out);
            }
        }
        while let Some(evicted) = self.dram.evict() {
            self.demote(evicted, out);
        }
    }

    /// Reads an object; after a miss it is set, if its size is known.
    #[inline]
    fn get(&mut self, key: u64, bytes: u32) {
        self.counts.gets += 1;
        if self.dram.get(key) {
            self.counts.dram_hits += 1;
            return;
        }
        let is_on_flash = self.read(key, bytes);
        self.counts.flash_hits += u64::from(is_on_flash);
        if bytes > 0 {
            self.dram.put(key, bytes, is_on_flash);
        }
    }

    /// Reads an object from flash, if it is there.
    #[inline]
    fn read(&mut self, key: u64, bytes: u32) -> bool {
        let is_small = self.small_for(bytes).is_some();
        let small =
            |cache: &Self| cache.small.as_ref().is_some_and(|small| small.table.contains(key));
        let (first, second) =
            (if is_small { small(self) } else { self.large.get(key) }, self.sizes_change);
        first || (second && if is_small { self.large.get(key) } else { small(self) })
    }

    /// Deletes an object from flash: of BigHash, the bucket is written without it.
    #[inline]
    fn forget(&mut self, key: u64, bytes: u32, out: &mut RequestBatch) {
        let is_small = self.small_for(bytes).is_some();
        if (is_small || self.sizes_change)
            && let Some(small) = &mut self.small
            && small.table.remove(key)
        {
            self.counts.small_removes += 1;
            self.write_bucket(key, out);
        }
        if !is_small || self.sizes_change {
            self.large.remove(key);
        }
    }

    /// Puts an object that leaves memory on flash, unless it is there.
    fn demote(&mut self, evicted: Evicted, out: &mut RequestBatch) {
        let Evicted { key, bytes, is_clean } = evicted;
        let is_small = self.small_for(bytes).is_some();
        if is_clean {
            let small = self.small.as_ref().filter(|_| is_small);
            let is_there =
                small.map_or_else(|| self.large.contains(key), |small| small.table.contains(key));
            if is_there {
                return;
            }
        }
        if self.admitted < 1 << 53 && self.random.next_u64() >> 11 >= self.admitted {
            return;
        }
        if let Some(small) = self.small.as_mut().filter(|_| is_small) {
            if self.sizes_change {
                self.large.remove(key);
            }
            small.table.insert(key, bytes);
            self.counts.small_inserts += 1;
            self.write_bucket(key, out);
        } else {
            if self.sizes_change {
                self.forget(key, bytes, out);
            }
            self.counts.large_inserts += 1;
            self.large.insert(key, bytes, out);
        }
    }

    fn write_bucket(&self, key: u64, out: &mut RequestBatch) {
        let Some(small) = &self.small else { return };
        let sectors = u64::from(BUCKET_BYTES) / SECTOR_BYTES;
        let first = small.first_sector + small.table.bucket(key) * sectors;
        out.push(Op::Write, first, sectors as u32);
        out.stream.extend(small.stream);
    }
}

//! A backing whose power can be cut, for tests.

use crate::media::Backing;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The units into which a disk may tear a write.
const SECTOR_BYTES: usize = 512;

/// A backing in memory that tracks what is durable.
///
/// [`cut_after`](Self::cut_after) cuts the power at a write: it and all operations after it fail.
/// [`survivor`](Self::survivor) is then what may be found when power returns: any subset of the
/// writes that no sync made durable, each whole or in part.
#[derive(Debug)]
pub struct PowerCut {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// The content visible to reads.
    bytes: Vec<u8>,
    durable: Vec<u8>,
    /// Writes since the last sync, in order.
    unsynced: Vec<(usize, Vec<u8>)>,
    /// The write at which the power was cut.
    cut: Option<(usize, Vec<u8>)>,
    /// Writes and syncs until the power is cut; none if it is never cut.
    left: Option<u64>,
    /// Writes and syncs until a sync fails once.
    failing_sync: Option<u64>,
    /// A sync has failed: what is read may not be on the medium.
    is_lying: bool,
    operations: u64,
    fails_to_sync: bool,
    /// Writes beyond this offset fail because the disk is full.
    full_beyond: Option<u64>,
}

impl PowerCut {
    /// A backing that holds `bytes`, all of them durable.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { inner: Mutex::new(Inner::new(bytes)) }
    }

    /// Cuts the power at the write or sync after this many more of them.
    pub fn cut_after(&self, operations: u64) {
        self.lock().left = Some(operations);
    }

    /// Makes the first sync after this many writes and syncs fail, as that of a page cache does: the writes
    /// before it can still be read, are not on the medium unless they got there by chance, and later syncs
    /// succeed without them.
    pub fn fail_one_sync_after(&self, operations: u64) {
        self.lock().failing_sync = Some(operations);
    }

    /// What is on the medium if nothing is cached any more.
    pub fn medium(&self) -> Vec<u8> {
        self.lock().medium()
    }

    /// Makes all further syncs fail.
    pub fn fail_to_sync(&self) {
        self.lock().fails_to_sync = true;
    }

    /// Makes writes beyond this offset fail for lack of space.
    pub fn fill_up_beyond(&self, offset: u64) {
        self.lock().full_beyond = Some(offset);
    }

    /// Writes and syncs so far.
    pub fn operations(&self) -> u64 {
        self.lock().operations
    }

    /// What a restarted process finds after a kill: nothing is lost, and nothing became durable.
    #[must_use]
    pub fn restarted(&self) -> Self {
        let inner = self.lock();
        let (bytes, durable) = (inner.bytes.clone(), inner.durable.clone());
        let (unsynced, is_lying) = (inner.unsynced.clone(), inner.is_lying);
        Self { inner: Mutex::new(Inner { durable, unsynced, is_lying, ..Inner::new(bytes) }) }
    }

    /// What may be left if the power is cut now: `choose(n)` returns a number below n, and decides
    /// for each write whether it survived.
    pub fn survivor(&self, mut choose: impl FnMut(u32) -> u32) -> Vec<u8> {
        let inner = self.lock();
        let mut bytes = inner.durable.clone();
        // All dropped, all kept, or each decided separately: extremes would be rare otherwise.
        let fate = choose(4);
        for (offset, data) in inner.unsynced.iter().chain(&inner.cut) {
            let fate = if fate < 2 { fate } else { choose(3) };
            match fate {
                0 => {}
                1 => bytes[*offset..*offset + data.len()].copy_from_slice(data),
                _ => tear(&mut bytes[*offset..], data, &mut choose),
            }
        }
        bytes
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes some sectors of `data`, or its first bytes.
fn tear(bytes: &mut [u8], data: &[u8], choose: &mut impl FnMut(u32) -> u32) {
    if choose(2) == 0 {
        let len = choose(data.len() as u32) as usize;
        bytes[..len].copy_from_slice(&data[..len]);
        return;
    }
    for (sector, data) in data.chunks(SECTOR_BYTES).enumerate() {
        if choose(2) == 0 {
            bytes[sector * SECTOR_BYTES..][..data.len()].copy_from_slice(data);
        }
    }
}

impl Inner {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            durable: bytes.clone(),
            bytes,
            unsynced: Vec::new(),
            cut: None,
            left: None,
            failing_sync: None,
            is_lying: false,
            operations: 0,
            fails_to_sync: false,
            full_beyond: None,
        }
    }

    /// Counts an operation; an error if there is no power.
    fn step(&mut self) -> io::Result<()> {
        match &mut self.left {
            Some(0) => return Err(io::Error::other("the power is off")),
            Some(left) => *left -= 1,
            None => {}
        }
        self.operations += 1;
        if let Some(left) = &mut self.failing_sync {
            *left = left.saturating_sub(1);
        }
        Ok(())
    }

    fn medium(&self) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        for (offset, data) in &self.unsynced {
            bytes[*offset..*offset + data.len()].copy_from_slice(data);
        }
        bytes
    }

    /// Forgets what was to be synced, except for every other write.
    fn lose_writes(&mut self) {
        let Self { durable, unsynced, .. } = self;
        for (number, (offset, data)) in unsynced.drain(..).enumerate() {
            if number % 2 == 0 {
                durable[offset..offset + data.len()].copy_from_slice(&data);
            }
        }
        self.is_lying = true;
    }
}

impl Backing for PowerCut {
    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<()> {
        let inner = self.lock();
        if inner.left == Some(0) {
            return Err(io::Error::other("the power is off"));
        }
        let bytes = inner.bytes.get(offset as usize..offset as usize + data.len());
        data.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn read_medium_at(&self, data: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_at(data, offset)?;
        let inner = self.lock();
        if inner.is_lying {
            let start = offset as usize;
            let end = start + data.len();
            data.copy_from_slice(&inner.durable[start..end]);
            for (at, written) in &inner.unsynced {
                let (from, to) = (start.max(*at), end.min(at + written.len()));
                if from < to {
                    data[from - start..to - start].copy_from_slice(&written[from - at..to - at]);
                }
            }
        }
        Ok(())
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        let mut inner = self.lock();
        let offset = offset as usize;
        if inner.left == Some(0) && offset + data.len() <= inner.bytes.len() {
            inner.cut.get_or_insert_with(|| (offset, data.to_vec()));
        }
        inner.step()?;
        if inner.full_beyond.is_some_and(|end| offset as u64 >= end) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let range = inner.bytes.get_mut(offset..offset + data.len());
        range.ok_or(io::ErrorKind::UnexpectedEof)?.copy_from_slice(data);
        inner.unsynced.push((offset, data.to_vec()));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut inner = self.lock();
        inner.step()?;
        if inner.failing_sync == Some(0) {
            inner.failing_sync = None;
            inner.lose_writes();
            return Err(io::Error::other("the disk failed to write"));
        }
        if inner.fails_to_sync {
            return Err(io::Error::other("the disk failed to write"));
        }
        let Inner { durable, unsynced, .. } = &mut *inner;
        for (offset, data) in unsynced.drain(..) {
            durable[offset..offset + data.len()].copy_from_slice(&data);
        }
        Ok(())
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(self.lock().bytes.len() as u64)
    }

    fn pause(&self, _: Duration) {}
}

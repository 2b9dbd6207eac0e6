//! A medium with one fault.

use ftlab_device::Backing;
use std::io;
use std::sync::{Mutex, PoisonError};

/// The smallest part of a disk that fails.
pub(crate) const SECTOR: u64 = 512;

/// What goes wrong, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The first reads of a sector fail.
    ReadErrors { offset: u64, times: u32 },
    /// The sector can be neither read nor written; as a disk does, a write elsewhere changes nothing.
    Dead { offset: u64 },
    /// This write is acknowledged, and nothing is written.
    LostWrite(u64),
    /// This write goes to another place, as many bytes further on.
    Misdirected(u64, u64),
    /// Only the first half of this write is written.
    TornWrite(u64),
    /// The medium is full for a while: this write fails, and as many after it.
    Full(u64, u64),
    /// This sync fails.
    FailedSync(u64),
}

/// Bytes in memory, and a fault.
pub(crate) struct Medium(Mutex<Inner>);

struct Inner {
    bytes: Vec<u8>,
    fault: Option<Fault>,
    writes: u64,
    syncs: u64,
    /// The offset and length of the write that went wrong, and where it went.
    hit: Vec<(u64, usize)>,
}

impl Medium {
    pub(crate) fn new(bytes: Vec<u8>, fault: Option<Fault>) -> Self {
        Self(Mutex::new(Inner { bytes, fault, writes: 0, syncs: 0, hit: Vec::new() }))
    }

    /// What is on it.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.lock().bytes.clone()
    }

    /// Writes and syncs so far.
    pub(crate) fn operations(&self) -> (u64, u64) {
        let inner = self.lock();
        (inner.writes, inner.syncs)
    }

    /// What the fault hit.
    pub(crate) fn hit(&self) -> Vec<(u64, usize)> {
        self.lock().hit.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn covers(offset: u64, len: usize, sector: u64) -> bool {
    offset < sector + SECTOR && sector < offset + len as u64
}

fn input_output_error() -> io::Error {
    io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error())
}

impl Inner {
    fn put(&mut self, data: &[u8], offset: u64) -> io::Result<()> {
        let range = offset as usize..offset as usize + data.len();
        let target = self.bytes.get_mut(range).ok_or(io::ErrorKind::UnexpectedEof)?;
        target.copy_from_slice(data);
        Ok(())
    }
}

impl Backing for Medium {
    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<()> {
        let mut inner = self.lock();
        match &mut inner.fault {
            Some(Fault::ReadErrors { offset: bad, times })
                if *times > 0 && covers(offset, data.len(), *bad) =>
            {
                *times -= 1;
                return Err(input_output_error());
            }
            Some(Fault::Dead { offset: bad }) if covers(offset, data.len(), *bad) => {
                return Err(input_output_error());
            }
            _ => {}
        }
        let bytes = inner.bytes.get(offset as usize..offset as usize + data.len());
        data.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        let mut inner = self.lock();
        inner.writes += 1;
        let number = inner.writes;
        match inner.fault {
            Some(Fault::Dead { offset: bad }) if covers(offset, data.len(), bad) => {
                Err(input_output_error())
            }
            Some(Fault::LostWrite(which)) if which == number => {
                inner.hit.push((offset, data.len()));
                Ok(())
            }
            Some(Fault::Misdirected(which, by)) if which == number => {
                inner.hit.push((offset, data.len()));
                let last = inner.bytes.len() as u64 - data.len() as u64;
                let elsewhere = (offset + by) % last / SECTOR * SECTOR;
                inner.hit.push((elsewhere, data.len()));
                inner.put(data, elsewhere)
            }
            Some(Fault::TornWrite(which)) if which == number => {
                inner.hit.push((offset, data.len()));
                inner.put(&data[..data.len() / 2], offset)
            }
            Some(Fault::Full(which, count)) if (which..which + count).contains(&number) => {
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => inner.put(data, offset),
        }
    }

    fn sync(&self) -> io::Result<()> {
        let mut inner = self.lock();
        inner.syncs += 1;
        match inner.fault {
            Some(Fault::FailedSync(which)) if which == inner.syncs => {
                Err(io::Error::other("the disk failed to write"))
            }
            _ => Ok(()),
        }
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(self.lock().bytes.len() as u64)
    }
}

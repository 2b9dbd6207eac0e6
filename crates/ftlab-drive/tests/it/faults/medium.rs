//! A medium with one fault.

use ftlab_drive::Backing;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The smallest part of a disk that fails.
pub(crate) const SECTOR: u64 = 512;

/// What a read returns that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// An error.
    Failed,
    /// Less than was asked for.
    Short,
    /// One bit is another.
    Flip,
    Zeros,
    /// What is in another place.
    Elsewhere,
    /// The second half is of another place.
    Torn,
}

impl Form {
    pub(crate) const ALL: [Self; 6] =
        [Self::Failed, Self::Short, Self::Flip, Self::Zeros, Self::Elsewhere, Self::Torn];
}

/// What goes wrong, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// This read.
    Read(u64, Form),
    /// Reads of a sector, from this one on; it may heal when it is written.
    Sector { offset: u64, form: Form, from: u64, times: u32, heals: bool },
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
    /// This sync reports an error.
    FailedSync(u64),
}

/// A read: what the drive was doing, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) phase: &'static str,
    pub(crate) offset: u64,
    pub(crate) len: usize,
}

/// Bytes in memory, and a fault.
pub(crate) struct Medium(Mutex<Inner>);

struct Inner {
    bytes: Vec<u8>,
    fault: Option<Fault>,
    phase: &'static str,
    /// If they are logged.
    log: Option<Vec<Read>>,
    reads: u64,
    writes: u64,
    syncs: u64,
    /// The offset and length of the write that went wrong, and where it went.
    hit: Vec<(u64, usize)>,
}

impl Medium {
    pub(crate) fn new(bytes: Vec<u8>, fault: Option<Fault>) -> Self {
        let (phase, hit) = ("", Vec::new());
        let inner = Inner { bytes, fault, phase, log: None, reads: 0, writes: 0, syncs: 0, hit };
        Self(Mutex::new(inner))
    }

    /// Logs reads from now on.
    pub(crate) fn log_reads(&self) {
        self.lock().log = Some(Vec::new());
    }

    pub(crate) fn logged(&self) -> Vec<Read> {
        self.lock().log.take().unwrap_or_default()
    }

    /// What the drive does from now on.
    pub(crate) fn enter(&self, phase: &'static str) {
        self.lock().phase = phase;
    }

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

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn covers(offset: u64, len: usize, sector: u64) -> bool {
    offset < sector + SECTOR && sector < offset + len as u64
}

fn input_output_error() -> io::Error {
    io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error())
}

/// Pseudo-random numbers.
pub(crate) fn mix(number: u64) -> u64 {
    let number = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

impl Inner {
    fn put(&mut self, data: &[u8], offset: u64) -> io::Result<()> {
        let range = offset as usize..offset as usize + data.len();
        let target = self.bytes.get_mut(range).ok_or(io::ErrorKind::UnexpectedEof)?;
        target.copy_from_slice(data);
        Ok(())
    }

    /// Makes what was read at `offset` wrong.
    fn spoil(&self, form: Form, data: &mut [u8], offset: u64) -> io::Result<()> {
        let len = data.len();
        match form {
            Form::Failed => return Err(input_output_error()),
            Form::Short => {
                data[len / 2..].fill(0);
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Form::Flip => {
                // Every other one near the start, where long reads have what matters.
                let random = mix(offset + self.reads);
                let end = if random.is_multiple_of(2) { len.min(600) } else { len };
                data[(random / 16) as usize % end] ^= 1 << (random / 2 % 8);
            }
            Form::Zeros => data.fill(0),
            Form::Elsewhere => self.take(data, offset),
            Form::Torn => self.take(&mut data[len / 2..], offset + len as u64 / 2),
        }
        Ok(())
    }

    /// What is seven sectors further on, or at the start.
    fn take(&self, data: &mut [u8], offset: u64) {
        let at = offset as usize + 7 * SECTOR as usize;
        let at = if at + data.len() > self.bytes.len() { 0 } else { at };
        data.copy_from_slice(&self.bytes[at..at + data.len()]);
    }

    /// Whether this read goes wrong: how, and which part of it.
    fn goes_wrong(&mut self, offset: u64, len: usize) -> Option<(Form, std::ops::Range<usize>)> {
        let reads = self.reads;
        match &mut self.fault {
            Some(Fault::Read(number, form)) if *number == reads => Some((*form, 0..len)),
            Some(Fault::Sector { offset: bad, form, from, times, .. })
                if *times > 0 && reads >= *from && covers(offset, len, *bad) =>
            {
                *times -= 1;
                let start = bad.saturating_sub(offset) as usize;
                let end = (*bad + SECTOR - offset) as usize;
                Some((*form, start..end.min(len)))
            }
            Some(Fault::Dead { offset: bad }) if covers(offset, len, *bad) => {
                Some((Form::Failed, 0..len))
            }
            _ => None,
        }
    }
}

impl Backing for Medium {
    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<()> {
        let mut inner = self.lock();
        inner.reads += 1;
        let read = Read { phase: inner.phase, offset, len: data.len() };
        if let Some(log) = &mut inner.log {
            log.push(read);
        }
        let bytes = inner.bytes.get(offset as usize..offset as usize + data.len());
        data.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        match inner.goes_wrong(offset, data.len()) {
            Some((form, range)) => {
                let at = offset + range.start as u64;
                inner.spoil(form, &mut data[range], at)
            }
            None => Ok(()),
        }
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        let mut inner = self.lock();
        inner.writes += 1;
        let number = inner.writes;
        match inner.fault {
            Some(Fault::Sector { offset: bad, heals: true, from, .. })
                if inner.reads >= from && covers(offset, data.len(), bad) =>
            {
                inner.fault = None;
                inner.put(data, offset)
            }
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

    fn pause(&self, _: Duration) {}
}

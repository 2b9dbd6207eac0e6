//! Where and when: the addresses that a trace uses, and parts of a trace by time.

use crate::{
    Op, OpenOptions, RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource, open, pages,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;

/// The addresses that a trace uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddressRange {
    /// The lowest sector of any request; 0 where there is none.
    pub first_sector: u64,
    /// One past the highest sector of any request; 0 where there is none.
    pub end_sector: u64,
    /// Requests of any kind, flushes too.
    pub requests: u64,
}

impl AddressRange {
    /// Adds the requests of a batch. Flushes and requests of no sectors have no address.
    pub fn update(&mut self, batch: &RequestBatch) -> Result<(), TraceError> {
        for (op, lba, sectors) in batch.iter() {
            let sectors = if op == Op::Flush { 0 } else { sectors };
            let Some(end) = lba.checked_add(u64::from(sectors)) else {
                return Err(TraceError::AddressOverflow { lba, sectors });
            };
            self.add(lba, end);
        }
        Ok(())
    }

    /// Adds a request from the sector `lba` to the one before `end`; it has no address if they are
    /// equal.
    pub fn add(&mut self, lba: u64, end: u64) {
        self.requests += 1;
        if lba == end {
            return;
        }
        let is_first = self.end_sector == 0;
        self.first_sector = if is_first { lba } else { self.first_sector.min(lba) };
        self.end_sector = self.end_sector.max(end);
    }

    /// The smallest drive that has all these addresses, in bytes; `None` above 2^64 bytes.
    pub fn device_bytes(&self) -> Option<u64> {
        self.end_sector.checked_mul(pages::SECTOR_BYTES)
    }
}

/// Reads the trace at `path` once, in constant memory, for the addresses that it uses: for traces
/// that do not say how large their drive was.
pub fn address_range(path: &Path, options: &OpenOptions) -> Result<AddressRange, TraceError> {
    let options = OpenOptions { need_time: false, ..options.clone() };
    address_range_of(open(path, &options)?.as_mut())
}

/// The address range of a trace that is open; it is at its end then.
pub fn address_range_of(source: &mut dyn TraceSource) -> Result<AddressRange, TraceError> {
    let mut batch = RequestBatch::new();
    let mut range = AddressRange::default();
    while source.next_batch(&mut batch)? {
        range.update(&batch)?;
    }
    Ok(range)
}

/// The part of `source` with times in `range_us`; an error at the first batch without times.
///
/// ```no_run
/// # use ftlab_trace::{OpenOptions, open, window};
/// let source = open("oltp.parquet".as_ref(), &OpenOptions::default())?;
/// let start_us = source.metadata().phase_us("run").unwrap_or(0);
/// let run = window(source, start_us..u64::MAX);
/// # Ok::<(), ftlab_trace::TraceError>(())
/// ```
pub fn window(source: Box<dyn TraceSource>, range_us: Range<u64>) -> Box<dyn TraceSource> {
    Box::new(Window { source, range_us, whole: RequestBatch::new() })
}

struct Window {
    source: Box<dyn TraceSource>,
    range_us: Range<u64>,
    whole: RequestBatch,
}

impl TraceSource for Window {
    fn metadata(&self) -> &TraceMetadata {
        self.source.metadata()
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        while batch.is_empty() {
            if !self.source.next_batch(&mut self.whole)? {
                return Ok(false);
            }
            if self.whole.time_us.len() != self.whole.len() {
                return Err(TraceError::Unsupported {
                    what: format!("{} has no times to choose by", self.metadata().format),
                    remedy: "take all of it, or a trace with times".into(),
                });
            }
            for (index, time_us) in self.whole.time_us.iter().enumerate() {
                if self.range_us.contains(time_us) {
                    batch.push_from(&self.whole, index);
                }
            }
        }
        Ok(true)
    }

    fn skipped(&self) -> &Skipped {
        self.source.skipped()
    }

    fn volumes(&self) -> &[String] {
        self.source.volumes()
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}

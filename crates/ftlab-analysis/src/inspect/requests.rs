//! What is asked, where and when.

use crate::{Analysis, Request};
use ftlab_trace::pages::{self, SECTOR_BYTES};
use ftlab_trace::{AddressRange, Op, TraceError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One number per operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Operations {
    /// Of writes.
    pub write: u64,
    /// Of trims.
    pub trim: u64,
    /// Of flushes.
    pub flush: u64,
    /// Of reads.
    pub read: u64,
}

impl Operations {
    fn from_array([write, trim, flush, read]: [u64; 4]) -> Self {
        Self { write, trim, flush, read }
    }

    /// All together.
    pub fn total(&self) -> u64 {
        self.write + self.trim + self.flush + self.read
    }
}

/// What is asked, where and when.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestSummary {
    /// Requests by operation.
    pub requests: Operations,
    /// Bytes by operation, as the requests say (flushes have none).
    pub bytes: Operations,
    /// Pages that the trims cover whole.
    pub page_trims: u64,
    /// Write requests that do not begin and end at page borders.
    pub unaligned_writes: u64,
    /// The addresses that are used.
    pub addresses: AddressRange,
    /// Times of the earliest and the latest request, in microseconds, where there are times.
    pub time_us: Option<(u64, u64)>,
}

/// Counts requests.
#[derive(Debug, Clone)]
pub struct RequestCounter {
    page_sectors: u64,
    requests: [u64; 4],
    sectors: [u64; 4],
    page_trims: u64,
    unaligned_writes: u64,
    addresses: AddressRange,
    time_us: Option<(u64, u64)>,
}

impl RequestCounter {
    /// For pages of `page_bytes`, a multiple of 512.
    pub fn new(page_bytes: u32) -> Result<Self, TraceError> {
        Ok(Self {
            page_sectors: u64::from(pages::page_sectors(page_bytes)?),
            requests: [0; 4],
            sectors: [0; 4],
            page_trims: 0,
            unaligned_writes: 0,
            addresses: AddressRange::default(),
            time_us: None,
        })
    }
}

impl Analysis for RequestCounter {
    type Report = RequestSummary;

    #[inline]
    fn request(&mut self, request: &Request) {
        let Request { op, lba, time_us, .. } = *request;
        let sectors = u64::from(request.sectors);
        self.requests[op as usize] += 1;
        self.sectors[op as usize] += sectors;
        if op == Op::Write {
            let is_aligned =
                lba.is_multiple_of(self.page_sectors) && sectors.is_multiple_of(self.page_sectors);
            self.unaligned_writes += u64::from(!is_aligned);
        }
        // A request beyond the last address ends the pass with an error that names it.
        let end = lba.saturating_add(sectors);
        if op == Op::Trim {
            let pages_before = lba.div_ceil(self.page_sectors);
            self.page_trims += (end / self.page_sectors).saturating_sub(pages_before);
        }
        self.addresses.add(lba, end);
        if let Some(time_us) = time_us {
            let (first, last) = self.time_us.unwrap_or((time_us, time_us));
            self.time_us = Some((first.min(time_us), last.max(time_us)));
        }
    }

    fn finish(self) -> RequestSummary {
        RequestSummary {
            requests: Operations::from_array(self.requests),
            bytes: Operations::from_array(self.sectors.map(|n| n.saturating_mul(SECTOR_BYTES))),
            page_trims: self.page_trims,
            unaligned_writes: self.unaligned_writes,
            addresses: self.addresses,
            time_us: self.time_us,
        }
    }
}

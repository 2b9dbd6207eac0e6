//! Merges the events of all processors in order of time.

use ftlab_trace::format::operation_of_rwbs;
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Op, RequestBatch};
use rustc_hash::FxHashMap;

use super::event_format::Record;
use crate::summary::SectorCounts;

/// A request issued to the device, or requeued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) time_ns: u64,
    sector: u64,
    sectors: u32,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Whether a flush comes first, what follows it, and whether the device counts it as written.
    Issued { flush: bool, op: Option<Op>, counts_as_written: bool },
    /// Requeued by the driver.
    Requeued,
}

impl Event {
    /// An issued request; `None` if it carries no data and flushes nothing.
    pub(super) fn issued(time_ns: u64, record: &Record<'_>) -> Option<Self> {
        let (flush, op) = operation_of_rwbs(record.rwbs, record.sectors)?;
        // Devices count write-zeroes, which we treat as trims, as written.
        let zeroes = op == Some(Op::Trim) && record.rwbs.contains(&b'N');
        let counts_as_written = op == Some(Op::Write) || zeroes;
        let what = What::Issued { flush, op, counts_as_written };
        Some(Self { time_ns, sector: record.sector, sectors: record.sectors, what })
    }

    /// A request that will be issued again.
    pub(super) fn requeued(time_ns: u64, record: &Record<'_>) -> Self {
        Self { time_ns, sector: record.sector, sectors: record.sectors, what: What::Requeued }
    }
}

/// Holds back events until no processor can have an earlier one, and converts them to requests.
#[derive(Debug, Default)]
pub(super) struct Order {
    held: Vec<Event>,
    /// Requests that were requeued, and how often they will be issued again.
    requeued: FxHashMap<(u64, u32), u32>,
    pub(super) reissued: u64,
    pub(super) sectors: SectorCounts,
    /// The sector of the disk that is the first of the trace.
    first_sector: u64,
    /// The start time of the trace, in nanoseconds.
    start_ns: u64,
}

impl Order {
    pub(super) fn new(start_ns: u64, first_sector: u64) -> Self {
        Self { first_sector, start_ns, ..Self::default() }
    }

    pub(super) fn add(&mut self, event: Option<Event>) {
        self.held.extend(event);
    }

    /// Moves the events before `until_ns` to `batch`.
    pub(super) fn release(&mut self, until_ns: u64, batch: &mut RequestBatch) {
        // Mostly sorted already, in one run per processor, so that sorting only merges the runs.
        self.held.sort_by_key(|event| event.time_ns);
        let released = self.held.partition_point(|event| event.time_ns < until_ns);
        let mut held = std::mem::take(&mut self.held);
        for event in held.drain(..released) {
            self.take(&event, batch);
        }
        self.held = held;
    }

    fn take(&mut self, event: &Event, batch: &mut RequestBatch) {
        let Event { sector, sectors, .. } = *event;
        let What::Issued { flush, op, counts_as_written } = event.what else {
            *self.requeued.entry((sector, sectors)).or_default() += 1;
            return;
        };
        if let Some(times) = self.requeued.get_mut(&(sector, sectors)).filter(|times| **times > 0) {
            *times -= 1;
            self.reissued += 1;
            return;
        }
        if counts_as_written {
            self.sectors.written += u64::from(sectors);
        } else if op == Some(Op::Trim) {
            self.sectors.discarded += u64::from(sectors);
        }
        let time_us = event.time_ns.saturating_sub(self.start_ns) / 1000;
        if flush {
            batch.push_at(time_us, Op::Flush, 0, 0);
        }
        if let Some(op) = op {
            batch.push_at(time_us, op, sector.saturating_sub(self.first_sector), sectors);
        }
    }
}

pub(super) fn bytes_of(sectors: u64) -> u64 {
    sectors.saturating_mul(SECTOR_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issued(time_ns: u64, rwbs: &[u8], sector: u64, sectors: u32) -> Option<Event> {
        Event::issued(time_ns, &Record { sector, sectors, rwbs })
    }

    #[test]
    fn events_leave_in_order_of_time_and_only_when_nothing_earlier_can_come() {
        let mut order = Order::new(1000, 100);
        order.add(issued(9_000, b"WS", 108, 8));
        order.add(issued(5_000, b"FWFS", 100, 8));
        order.add(issued(20_000, b"D", 116, 64));
        let mut batch = RequestBatch::new();
        order.release(10_000, &mut batch);
        assert_eq!(
            batch.iter().collect::<Vec<_>>(),
            [(Op::Flush, 0, 0), (Op::Write, 0, 8), (Op::Write, 8, 8)]
        );
        assert_eq!(batch.time_us, [4, 4, 8]);
        order.release(u64::MAX, &mut batch);
        assert_eq!(batch.iter().last(), Some((Op::Trim, 16, 64)));
        assert_eq!(order.sectors, SectorCounts { written: 16, discarded: 64 });
    }

    #[test]
    fn a_request_that_was_handed_back_counts_once() {
        let mut order = Order::new(0, 0);
        order.add(issued(1, b"W", 8, 8));
        order.add(Some(Event::requeued(2, &Record { sector: 8, sectors: 8, rwbs: b"W" })));
        order.add(issued(3, b"W", 8, 8));
        order.add(issued(4, b"W", 8, 8));
        let mut batch = RequestBatch::new();
        order.release(u64::MAX, &mut batch);
        assert_eq!((batch.len(), order.reissued, order.sectors.written), (2, 1, 16));
    }

    #[test]
    fn zeroes_are_trims_that_the_device_counts_as_written() {
        let mut order = Order::new(0, 0);
        order.add(issued(1, b"NS", 8, 128));
        let mut batch = RequestBatch::new();
        order.release(u64::MAX, &mut batch);
        assert_eq!(batch.op, [Op::Trim]);
        assert_eq!(order.sectors, SectorCounts { written: 128, discarded: 0 });
        assert_eq!(Event::issued(0, &Record { sector: 0, sectors: 0, rwbs: b"N" }), None);
    }
}

//! Requests by the rule of FEMU, written down as such: what simulating them takes at least.

use crate::common::Failure;
use crate::reference::Reference;
use crate::stopwatch::Stopwatch;
use ftlab_flash::{BlockId, Cause, Content, Flash, Lpn, Page, Ppn, Purpose};
use ftlab_host::HostOp;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;

const LUNS: usize = 64;
const READ_NS: u64 = 40_000;
const PROGRAM_NS: u64 = 200_000;
const ERASE_NS: u64 = 2_000_000;
const QUEUE_DEPTH: usize = 256;

/// How many requests ahead memory is asked for what they need.
const FETCH_FAR: usize = 8;
const FETCH_NEAR: usize = 4;

/// Each LUN has a time from which it is available; an operation starts then or now, whichever is later.
pub(crate) struct Rule {
    available: [u64; LUNS],
    now: u64,
    /// When the latest page of the host is complete.
    done: u64,
}

impl Rule {
    pub(crate) fn new() -> Self {
        Self { available: [0; LUNS], now: 0, done: 0 }
    }

    fn advance(&mut self, lun: usize, takes: u64) -> u64 {
        let available = &mut self.available[lun % LUNS];
        *available = self.now.max(*available) + takes;
        *available
    }
}

impl Flash for Rule {
    type Error = Infallible;

    #[inline]
    fn program(&mut self, to: Ppn, page: Page<'_>, _: Purpose) -> Result<(), Infallible> {
        if let Content::At(from) = page.content {
            self.advance(from.0 as usize, READ_NS);
            self.advance(to.0 as usize, PROGRAM_NS);
        } else {
            self.done = self.advance(to.0 as usize, PROGRAM_NS);
        }
        Ok(())
    }

    fn erase(&mut self, _: BlockId, _: Purpose) -> Result<(), Infallible> {
        (0..LUNS).for_each(|lun| _ = self.advance(lun, ERASE_NS));
        Ok(())
    }

    fn read(&mut self, from: Ppn, _: &mut [u8], _: Purpose) -> Result<(), Infallible> {
        self.done = self.advance(from.0 as usize, READ_NS);
        Ok(())
    }
}

/// A host with [`QUEUE_DEPTH`] requests under way, of a page each, and the sum of their response times.
#[derive(Default)]
pub(crate) struct Host {
    under_way: BinaryHeap<Reverse<u64>>,
    response_ns: u64,
}

impl Host {
    /// Millions of page operations a second in the second half of the requests, the drive being full.
    pub(crate) fn measure(
        mut self,
        ftl: &mut Reference<Rule>,
        mut requests: impl FnMut(&mut Vec<(HostOp, Lpn)>),
        batches: u64,
    ) -> Result<f64, Failure> {
        let (mut batch, mut operations, mut seconds) = (Vec::new(), 0, 0.0);
        for index in 0..2 * batches {
            requests(&mut batch);
            let before = ftl.host_writes + ftl.relocations;
            let start = Stopwatch::start();
            self.serve(ftl, &batch)?;
            if index >= batches {
                seconds += start.elapsed().as_secs_f64();
                let reads = batch.iter().filter(|(op, _)| *op == HostOp::Read).count() as u64;
                operations += ftl.host_writes + ftl.relocations - before + reads;
            }
        }
        assert!(self.response_ns > 0, "requests take time");
        Ok(operations as f64 / seconds / 1e6)
    }

    fn serve(&mut self, ftl: &mut Reference<Rule>, batch: &[(HostOp, Lpn)]) -> Result<(), Failure> {
        for (index, (op, lpn)) in batch.iter().enumerate() {
            if let Some((_, far)) = batch.get(index + FETCH_FAR) {
                ftl.fetch_ahead(batch[index + FETCH_NEAR].1, *far);
            }
            if self.under_way.len() == QUEUE_DEPTH
                && let Some(Reverse(first)) = self.under_way.pop()
            {
                ftl.flash.now = ftl.flash.now.max(first);
            }
            match op {
                HostOp::Read => {
                    let from = ftl.flash_page(*lpn);
                    ftl.flash.read(from, &mut [], Cause::Host.unawaited())?;
                }
                _ => ftl.write(lpn.0),
            }
            self.response_ns += ftl.flash.done - ftl.flash.now;
            self.under_way.push(Reverse(ftl.flash.done));
        }
        Ok(())
    }
}

//! What a timing says: of a chip, of a host, and of what is told about it.

use crate::by::By;
use crate::weights::Weights;
use crate::write_buffer::WriteBuffer;
use ftlab_flash::{ChipTimes, LunChoice, LunOrder, PageKinds};

ftlab_spec::choices! {
    /// When the host asks for its next page write or request.
    pub enum Arrivals {
        /// As soon as one of `queue-depth` earlier ones is complete: a closed loop.
        Closed = "closed",
        /// At the time of the request in the trace, however many are not complete: an open loop.
        Trace = "trace",
        /// At random, `rate` a second on average, independent of each other and of the drive: an open loop.
        Poisson = "poisson",
    }
}

ftlab_spec::choices! {
    /// What the host asks for, and waits for, as one.
    pub enum Unit {
        /// A page write; reads, trims and flushes take no time.
        Page = "page",
        /// A request, of any operation: its pages go out at once, and it is complete when all of them are.
        Request = "request",
        /// A transaction of a database (tpcc, linkbench, ycsb): its page reads and writes and its log, which are
        /// requests, one after the other.
        Transaction = "transaction",
    }
}

ftlab_spec::choices! {
    /// With priority=read-first and a write buffer: reads of the host that come while writes wait for room in it.
    pub enum ReadsWhenFull {
        /// They come first, as always.
        First = "first",
        /// They take turns with the host's programs, and suspend nothing.
        Turn = "turn",
        /// They come last, and suspend nothing.
        Last = "last",
    }
}

ftlab_spec::parameters! {
    pub struct TimingParameters {
        ..times: ChipTimes;
        /// When the host asks for its next page write, or request with unit=request.
        arrivals: Arrivals = Arrivals::Closed, "arrivals", from "our choice", of "host";
        /// With arrivals=closed: page writes that the host has under way at once, requests with
        /// unit=request, or transactions, as threads do, with unit=transaction.
        queue_depth: u32 = 1, "queue-depth" in 1..=65536, from "our choice", of "host";
        /// With arrivals=trace: how much faster than recorded the requests come.
        speed_up: f64 = 1.0, "speed-up" in 1e-6..=1e6, from "as recorded", of "host";
        /// With arrivals=poisson: page writes a second, or requests with unit=request.
        rate: f64 = 1000.0, "rate" in 1e-3..=1e9, from "our choice", of "host";
        /// With arrivals=poisson: requests that come at once; the rate stays that of all.
        burst: u32 = 1, "burst" in 1..=1_000_000, from "our choice", of "host";
        /// With arrivals=poisson: the seed of the times between them.
        arrivals_seed: u64 = 1, "arrivals-seed", from "our choice", of "host";
        /// What the host waits for.
        unit: Unit = Unit::Page, "unit", from "papers on write amplification count page writes", of "host";
        /// With unit=request: microseconds that each request takes beside its pages, in the host and the controller.
        command_us: f64 = 0.0, "command-us" in 0.0..=1e6, from "none: times of the flash alone", of "drive";
        ..order: LunOrder;
        /// A buffer of pages that the host has written and the flash has not: a size, maybe with parts: plp=off
        /// if it does not survive a loss of power, ack=program if the host is told of a page when that is in
        /// flash, keep=50% to leave so much of it there to be rewritten.
        write_buffer: WriteBuffer = WriteBuffer::OFF, "write-buffer", from "none, as papers on write amplification", of "drive";
        /// With priority=read-first and a write buffer: reads that come while writes wait for room in it.
        reads_when_full: ReadsWhenFull = ReadsWhenFull::First, "reads-when-full", from "our choice", of "drive";
        ..choice: LunChoice;
        /// With unit=request and several jobs of fio: requests that the drive takes at once from the queues of its
        /// tenants; 0 for any number.
        slots: u32 = 0, "slots" in 0..=65536, from "our choice", of "drive";
        /// With slots: how many requests it takes from each tenant in turn, in the order of the job file, such as
        /// 3/1; equal for one each; oldest for whichever has waited longest.
        weights: Weights = Weights::default(), "weights", from "NVMe base specification, weighted round robin", of "drive";
        /// With unit=request: by what response times are told apart, beside the operation: size for the pages of a
        /// request in powers of two, tenant for fio's jobs, stream for placement handles, or several, as size/stream.
        by: By = By::default(), "by", from "our choice", of "report";
        /// With unit=request: whether to tell what requests waited for, at each percentile.
        waits: bool = false, "waits", from "our choice", of "report";
        ..pages: PageKinds;
        /// Pages of an erase block of the chip, each as large as what it programs as one. The blocks of a drive that is
        /// given none have as many on every plane and LUN.
        block_pages: u32 = 64, "block-pages" in 1..=65536, from "FASTer (SNAPI 2010), section V", of "chip";
    }
}

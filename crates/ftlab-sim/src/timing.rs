//! What time a run took on its simulated flash.

use crate::fact::facts;
use crate::groups::GroupResult;
use crate::parameters::named;
use crate::response_summary::ResponseSummary;
use ftlab_flash::{Slice, Wait};
use ftlab_host::{
    Alike, Arrivals, BufferCounts, HostOp, Interval, Measured, RequestTimes, ResponseTimes,
    SlowRequest, Timing, WaitTimes,
};
use ftlab_spec::Spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How long operations take and when the host asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimingSummary {
    /// The timing as it was named.
    pub timing: String,
    /// Every parameter with its value, given or by default.
    pub parameters: BTreeMap<String, String>,
}

impl TimingSummary {
    pub(crate) fn new(spec: &Spec, timing: &Timing) -> Self {
        Self { timing: spec.to_string(), parameters: named(timing.values()) }
    }

    /// Whether the host asks however much is not complete.
    pub fn is_open_loop(&self) -> bool {
        self.parameters
            .get("arrivals")
            .is_some_and(|arrivals| *arrivals != Arrivals::Closed.to_string())
    }
}

facts! {
    Run:
    /// Time on the simulated flash; what each number means is in the documentation of
    /// `ftlab_host` and `ftlab_flash::Timed`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct TimingResult {
        /// Seconds from the end of the last operation before counting to that of the last one counted.
        elapsed_seconds: f64 = Time(4), "s", from "the clock" [sweep(470, "elapsed", "simulated seconds")];
        /// Response times of host page writes; of write requests, with unit=request.
        response_ns: ResponseSummary => tell;
        /// With unit=request or unit=transaction, what the host waited for.
        requests: Option<RequestsResult> => tell;
        /// With unit=transaction, what its transactions took.
        transactions: Option<TransactionsResult> => tell;
        /// In an open loop, seconds from the same moment to the arrival of the last page write; none in a
        /// closed one. If `elapsed_seconds` is much more, the drive does not keep up with the clock of the trace, and
        /// response times tell the length of the run.
        arrived_seconds: Option<f64> = Time(4), "s", from "the trace";
        /// Host page writes per second.
        iops: f64 = Ratio(4), "pages a second", from "the clock" [
            sweep(480, "writes-per-second", "page writes per simulated second"),
            frame(180, "iops"),
        ];
        /// Bytes that the host wrote per second, as it sent them.
        bytes_per_second: f64 = Ratio(4), "bytes a second", from "the clock";
        /// `iops` of each whole interval of `config.interval_writes`; times `config.drive.page_bytes` it is
        /// the bandwidth in whole pages.
        running_iops: Vec<f64> = Series, "pages a second", from "the clock" [running(50, "iops", Optional, 60)];
        /// Mean response time in each of these.
        running_response_mean_ns: Vec<f64> = Series, "ns", from "the clock" [
            running(60, "response_mean_ns", Optional, 70),
        ];
        /// Longest response time in each of these.
        running_response_max_ns: Vec<u64> = Series, "ns", from "the clock" [
            running(70, "response_max_ns", Optional, 80),
        ];
        /// Share of the time for which each LUN was occupied.
        lun_busy_share: Vec<f64> = List, "", from "the clock";
        /// Pages of the host that waited for each LUN, averaged over time.
        lun_queue_mean: Vec<f64> = List, "pages", from "the clock";
        /// Share of the time for which a page passed over each channel.
        channel_busy_share: Vec<f64> = List, "", from "the clock";
        /// Seconds of LUNs by what they did.
        lun_seconds: LunSeconds => tell;
    }
}

facts! {
    Run:
    /// Transactions of a database (unit=transaction).
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct TransactionsResult {
        /// How many were complete.
        count: u64 = Count, "transactions", from "the workload";
        /// How many a second, from the end of the first to that of the last.
        per_second: f64 = Ratio(4), "transactions a second", from "the clock" [
            sweep(410, "transactions-per-second", "transactions per simulated second (with unit=transaction)"),
        ];
        /// From when a thread begins a transaction to the end of the last of its requests.
        response_ns: ResponseSummary => list;
        /// How many a second in each whole interval of `config.interval_writes`; 0 during the load.
        running_per_second: Vec<f64> = Series, "transactions a second", from "the clock" [
            running(90, "transactions_per_second", Optional, 110),
        ];
    }
}

facts! {
    Run:
    /// Requests of the host; their arrivals and ends are told apart by nanoseconds.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct RequestsResult {
        /// Each operation that was asked for: read, write, trim, flush.
        operations: BTreeMap<String, OperationTimes>;
        /// Response times by size, tenant and stream, as far as `by` asks for them.
        groups: Vec<GroupResult>;
        /// Requests under way, averaged over time; with slots, those that wait for one included.
        under_way_mean: f64 = Ratio(4), "requests", from "the clock" [
            sweep(
                400, "requests-under-way",
                "requests under way, averaged over time (with unit=request)"
            ),
        ];
        /// Of these, requests that wait for a slot, in the queues of their tenants.
        queued_mean: f64 = Ratio(4), "requests", from "the clock";
        /// The most that were, without those that wait for a slot.
        under_way_max: u64 = Count, "requests", from "the clock";
        /// What happened in the write buffer, if there is one.
        write_buffer: Option<BufferResult> => tell;
        /// The slowest requests, the slowest first, if they were asked for.
        slowest: Option<Vec<SlowResult>>;
    }
}

/// One of the slowest requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowResult {
    /// Its number, from 0 for the first one, before counting began.
    pub number: u64,
    /// What it asked for: read, write, trim, flush.
    pub operation: String,
    /// When it arrived, in nanoseconds of the simulated clock.
    pub arrival_ns: u64,
    /// When it was complete.
    pub done_ns: u64,
    /// What it waited for.
    pub waits: WaitsResult,
    /// What the LUNs did meanwhile, and an eighth of its response time before; not part of what is stored.
    #[serde(skip)]
    pub slices: Vec<Slice>,
}

impl SlowResult {
    fn new(of: &SlowRequest) -> Self {
        let name = format!("request {}", of.number);
        Self {
            number: of.number,
            operation: of.op.name().to_owned(),
            arrival_ns: of.arrival_ns,
            done_ns: of.done_ns,
            waits: WaitsResult::new(&name, &Alike { requests: 1, waits: of.waits }),
            slices: of.slices.clone(),
        }
    }
}

facts! {
    Run:
    /// Pages in the write buffer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct BufferResult {
        /// Pages that the host wrote.
        writes: u64 = Count, "pages", from "the write buffer";
        /// Of these, pages that took the place of an older version, which was never programmed.
        coalesced: u64 = Count, "pages", from "the write buffer";
        /// Pages that were trimmed before they were programmed.
        trimmed: u64 = Count, "pages", from "the write buffer";
        /// Pages that had to wait until there was room.
        waited: u64 = Count, "pages", from "the write buffer";
        /// Pages that the host read from the buffer.
        read_hits: u64 = Count, "pages", from "the write buffer";
    }
}

impl From<BufferCounts> for BufferResult {
    fn from(counts: BufferCounts) -> Self {
        let BufferCounts { writes, coalesced, trimmed, waited, read_hits } = counts;
        Self { writes, coalesced, trimmed, waited, read_hits }
    }
}

/// Requests of one operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationTimes {
    /// How many there were.
    pub count: u64,
    /// How many a second.
    pub per_second: f64,
    /// From the arrival of a request to the end of its last page.
    pub response_ns: ResponseSummary,
    /// Of reads and writes, the median in each whole interval of `config.interval_writes`, too long by at most 1/32;
    /// null where there were none.
    pub running_p50_ns: Option<Vec<Option<u64>>>,
    /// Of reads and writes, the 99.9th percentile in each whole interval; null where there were none.
    pub running_p99_9_ns: Option<Vec<Option<u64>>>,
    /// With waits=on, what these requests waited for: all of them, and those at each percentile from the median to
    /// 99.999%.
    pub waits: Option<Vec<WaitsResult>>,
}

facts! {
    Run:
    /// What some requests waited for, in nanoseconds on average; the parts add up to the response time. A request waits
    /// for what the page of it waits for that is complete last.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct WaitsResult {
        /// Of which requests: all, those whose response times are within 1/32 of a percentile, such as p99.9, or one.
        of: String;
        /// How many these are.
        requests: u64 = Count, "requests", from "the clock" [
            table(Waits, 10, "requests", Known),
            report(Waits, 10, "requests", "How many these are", Known),
        ];
        /// Their mean response time.
        response_ns: f64 = Millis(4), "ns", from "the clock" [
            table(Waits, 20, "response\ntime", Known),
            report(
                Waits, 20, "response",
                "The response time in milliseconds, on average, which is the sum of the rest", Known
            ),
        ];
        /// Their own operations: the cells and the transfer.
        own_ns: f64 = Millis(4), "ns", from "the clock" [
            table(Waits, 30, "own\noperation", Known),
            report(Waits, 30, "own", "The request's own operations: the cells and the transfer", Known),
        ];
        /// The LUN was busy with other operations of the host, or those had reserved it.
        lun_ns: f64 = Millis(4), "ns", from "the clock" [
            table(Waits, 40, "host's\nLUN", Known),
            report(
                Waits, 40, "host's LUN",
                "The LUN was busy with other operations of the host, or kept for them", Known
            ),
        ];
        /// Other pages of the host were on the channel, or had reserved it.
        channel_ns: f64 = Millis(4), "ns", from "the clock" [
            table(Waits, 50, "host's\nchannel", Known),
            report(
                Waits, 50, "host's channel",
                "Other pages of the host were on the channel, or it was kept for them", Known
            ),
        ];
        /// Pages were moved, by collections or merges, on the LUN or channel or for a write to have room.
        collection_ns: f64 = Millis(4), "ns", from "the clock" [
            table(Waits, 60, "collection", Known),
            report(
                Waits, 60, "collection",
                "Pages were moved, on the LUN or channel or for a write to have room", Known
            ),
        ];
        /// The LUN erased, or a write waited for an erase.
        erase_ns: f64 = Millis(4), "ns", from "the clock" [
            table(Waits, 70, "erase", Known),
            report(Waits, 70, "erase", "The LUN erased, or a write waited for an erase", Known),
        ];
        /// The LUN or channel was busy with pages of a map on flash or of the rest of a unit, or these had to be read
        /// first. Results of earlier versions do not tell it.
        @ #[serde(default)] #[schemars(!default)]
        map_ns: f64 = Millis(4), "ns", from "the clock" [
            table(Waits, 75, "map", Nonzero),
            report(
                Waits, 75, "map",
                "Pages of the map, or of the rest of a unit, on the LUN or channel, or had to be read first", Known
            ),
        ];
        /// The write buffer was full, or a page waited there for its program.
        buffer_ns: f64 = Millis(4), "ns", from "the clock" [
            table(Waits, 80, "buffer", WithBuffer),
            report(
                Waits, 80, "buffer",
                "The write buffer was full, or a page waited there for its program", Known
            ),
        ];
        /// They waited for a slot, in the queues of their tenants.
        queue_ns: f64 = Millis(4), "ns", from "the clock" [
            table(Waits, 90, "tenant's\nqueue", WithQueues),
            report(
                Waits, 90, "queue",
                "The request waited in the queue of its tenant until the drive took it", Known
            ),
        ];
    }
}

/// The percentiles of which it is told what requests waited for.
const PERCENTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
    ("p99.999", 0.99999),
];

impl WaitsResult {
    fn all(times: &WaitTimes) -> Vec<Self> {
        let at = PERCENTILES.into_iter().filter_map(|(of, share)| Some((of, times.at(share)?)));
        std::iter::once(("all", times.all())).chain(at).map(|(of, it)| Self::new(of, &it)).collect()
    }

    fn new(of: &str, alike: &Alike) -> Self {
        let mean = |ns: u64| ns as f64 / alike.requests.max(1) as f64;
        let waited = |cause| mean(alike.waits.get(cause));
        Self {
            of: of.to_owned(),
            requests: alike.requests,
            response_ns: mean(alike.waits.total()),
            own_ns: waited(Wait::Own),
            lun_ns: waited(Wait::Lun),
            channel_ns: waited(Wait::Channel),
            collection_ns: waited(Wait::Collection),
            erase_ns: waited(Wait::Erase),
            map_ns: waited(Wait::Map),
            buffer_ns: waited(Wait::Buffer),
            queue_ns: waited(Wait::Queue),
        }
    }

    /// What was waited for, by name, in the order of the fields.
    pub fn parts(&self) -> [(&'static str, f64); 8] {
        [
            ("own", self.own_ns),
            ("LUN", self.lun_ns),
            ("channel", self.channel_ns),
            ("collection", self.collection_ns),
            ("erase", self.erase_ns),
            ("map", self.map_ns),
            ("buffer", self.buffer_ns),
            ("queue", self.queue_ns),
        ]
    }
}

impl RequestsResult {
    fn new(
        times: &RequestTimes,
        elapsed_ns: u64,
        intervals: &[Interval],
        page_bytes: u32,
        tenants: &[String],
    ) -> Self {
        let operations = HostOp::ALL.into_iter().zip(&times.of);
        let some = operations.filter(|(_, times)| times.count() > 0);
        let running = |op: HostOp, quantile: usize| {
            let of = |interval: &Interval| {
                interval.quantiles_ns.get(op as usize).copied().flatten().map(|all| all[quantile])
            };
            matches!(op, HostOp::Read | HostOp::Write).then(|| intervals.iter().map(of).collect())
        };
        let times_of = |op: HostOp, of: &ResponseTimes| OperationTimes {
            count: of.count(),
            per_second: of.count() as f64 * 1e9 / elapsed_ns.max(1) as f64,
            response_ns: ResponseSummary::new(of),
            running_p50_ns: running(op, 0),
            running_p99_9_ns: running(op, 1),
            waits: times.waits.as_ref().map(|waits| WaitsResult::all(&waits[op as usize])),
        };
        let groups = times.groups.iter();
        let groups = groups.map(|of| GroupResult::new(of, elapsed_ns, page_bytes, tenants));
        Self {
            operations: some.map(|(op, of)| (op.name().to_owned(), times_of(op, of))).collect(),
            groups: groups.collect(),
            under_way_mean: times.under_way_mean,
            queued_mean: times.queued_mean,
            under_way_max: times.under_way_max,
            write_buffer: times.buffer.map(BufferResult::from),
            slowest: (!times.slowest.is_empty())
                .then(|| times.slowest.iter().map(SlowResult::new).collect()),
        }
    }
}

facts! {
    Run:
    /// Seconds that operations took on their LUNs, summed over all LUNs; waits are not in it.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct LunSeconds {
        /// Programs of pages that the host wrote.
        host_writes: f64 = Time(4), "s", from "the clock";
        /// Reads of pages that the host asked for.
        host_reads: f64 = Time(4), "s", from "the clock";
        /// Copies of valid pages by collections.
        relocations: f64 = Time(4), "s", from "the clock";
        /// Copies of valid pages by merges; their erases are among the erases.
        merges: f64 = Time(4), "s", from "the clock";
        /// Erases.
        erases: f64 = Time(4), "s", from "the clock";
        /// Anything else that the FTL read or programmed: pages of its map, and those of units that the host wrote in part.
        others: f64 = Time(4), "s", from "the clock";
    }
}

impl LunSeconds {
    /// All of them.
    pub(crate) fn all(&self) -> f64 {
        let Self { host_writes, host_reads, relocations, merges, erases, others } = self;
        host_writes + host_reads + relocations + merges + erases + others
    }

    /// The share of them that erases took; none if nothing took time.
    pub fn share_of_erases(&self) -> Option<f64> {
        (self.all() > 0.0).then(|| self.erases / self.all())
    }
}

/// Bytes of a page, and how many of them the host sent on average.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfPage {
    pub(crate) bytes: u32,
    pub(crate) sent_bytes: f64,
}

impl TimingResult {
    pub(crate) fn new(
        measured: &Measured,
        intervals: &[Interval],
        of_page: OfPage,
        tenants: &[String],
        is_open_loop: bool,
    ) -> Self {
        let per_second = |count: u64, nanoseconds: u64| {
            if nanoseconds == 0 { 0.0 } else { count as f64 * 1e9 / nanoseconds as f64 }
        };
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        let elapsed_ns = measured.elapsed_ns;
        let iops = per_second(measured.work.host_writes, elapsed_ns);
        let share = |busy: &u64| *busy as f64 / elapsed_ns.max(1) as f64;
        let occupied = &measured.occupied;
        let mean = |i: &Interval| i.response_sum_ns as f64 / i.responses.max(1) as f64;
        Self {
            elapsed_seconds: seconds(elapsed_ns),
            arrived_seconds: is_open_loop.then(|| seconds(measured.arrived_ns)),
            response_ns: ResponseSummary::new(&measured.response_times),
            requests: measured.requests.as_ref().map(|times| {
                RequestsResult::new(times, elapsed_ns, intervals, of_page.bytes, tenants)
            }),
            transactions: None,
            iops,
            bytes_per_second: iops * of_page.sent_bytes,
            running_iops: intervals
                .iter()
                .map(|i| per_second(i.host_writes, i.elapsed_ns))
                .collect(),
            running_response_mean_ns: intervals.iter().map(mean).collect(),
            running_response_max_ns: intervals.iter().map(|i| i.response_max_ns).collect(),
            lun_busy_share: occupied.busy_ns.iter().map(share).collect(),
            lun_queue_mean: occupied.queued_ns.iter().map(share).collect(),
            channel_busy_share: occupied.channel_ns.iter().map(share).collect(),
            lun_seconds: LunSeconds {
                host_writes: seconds(measured.work.host_writes_ns),
                host_reads: seconds(measured.work.host_reads_ns),
                relocations: seconds(measured.work.relocations_ns),
                merges: seconds(measured.work.merges_ns),
                erases: seconds(measured.work.erases_ns),
                others: seconds(measured.work.others_ns),
            },
        }
    }
}

//! Several jobs at once, with a clock: each is a host of its own.
//!
//! A job issues its next request as soon as fewer are under way than its `iodepth`, its `startdelay` is over,
//! its `rate` allows it, and it has thought (`thinktime`, after every `thinktime_blocks` requests, when all
//! of them are complete). With `runtime` it issues none after that. Of all jobs, the one that issues first
//! comes first, and of several at the same time the first of the file. How long a request takes, somebody
//! else knows, who says so: at once, or when it is complete.

use super::job::Request;
use super::options::{READ, TRIM, WRITE};
use super::plan::Plan;
use super::replay::OpenReplay;
use super::turns::{Requests, Waiting, open_groups, push};
use ftlab_trace::{ClosedLoop, Issued, Turn};
use ftlab_trace::{Op, RequestBatch, TraceError};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// A job and its clock, in nanoseconds.
struct Host {
    /// Which of all hosts that there ever were.
    number: u32,
    /// The number of its name.
    tenant: u16,
    job: Requests,
    /// What it issues next; none after its last request.
    pending: Option<Request>,
    /// When it began, its start delay included.
    start: u64,
    /// When it issued its last request.
    last: u64,
    /// When it has thought.
    ready: u64,
    /// Requests under way of which nobody knows when they are complete.
    unknown: usize,
    /// When each of the others is.
    under_way: BinaryHeap<Reverse<u64>>,
    /// When the last of all so far is complete.
    done: u64,
    /// Bytes issued of reads, writes and trims.
    issued: [u64; 3],
    /// Requests since it last thought.
    unthought: u64,
    /// Whether it has no more requests.
    is_at_end: bool,
}

/// When a host issues its next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    At(u64),
    /// That depends on when requests under way are complete.
    Waits,
    /// It does not: it has none, or its time is over.
    Never,
}

impl Host {
    /// Begins at `start`; `None` if it has nothing to do.
    fn begin(
        job: Waiting,
        start: u64,
        number: u32,
        tenant: u16,
    ) -> Result<Option<Self>, TraceError> {
        let start = start + job.plan().options.startdelay_us.saturating_mul(1000);
        let mut host = Self {
            number,
            tenant,
            job: job.begin()?,
            pending: None,
            start,
            last: start,
            ready: start,
            unknown: 0,
            under_way: BinaryHeap::new(),
            done: start,
            issued: [0; 3],
            unthought: 0,
            is_at_end: false,
        };
        host.prepare()?;
        Ok(host.pending.is_some().then_some(host))
    }

    /// Makes its next request known, unless it is or there is none.
    fn prepare(&mut self) -> Result<(), TraceError> {
        if self.pending.is_none() && !self.is_at_end {
            self.pending = self.job.next_request()?;
            self.is_at_end = self.pending.is_none();
        }
        Ok(())
    }

    fn next(&self) -> Next {
        let Some(pending) = self.pending else { return Next::Never };
        let slot = match self.under_way.peek() {
            _ if !self.is_full() => 0,
            Some(Reverse(done)) => *done,
            None => return Next::Waits,
        };
        if self.thinks() && self.unknown > 0 {
            return Next::Waits;
        }
        let by_log = self.start.saturating_add(pending.after_us.saturating_mul(1000));
        let next = self.last.max(self.ready).max(slot).max(self.by_rate(pending)).max(by_log);
        let runtime = self.job.plan().options.runtime_us.saturating_mul(1000);
        let is_over = runtime > 0 && next >= self.start.saturating_add(runtime);
        if is_over { Next::Never } else { Next::At(next) }
    }

    fn is_full(&self) -> bool {
        self.under_way.len() + self.unknown == self.job.plan().depth as usize
    }

    /// Whether it thinks when all of its requests are complete.
    fn thinks(&self) -> bool {
        let options = &self.job.plan().options;
        options.thinktime_us > 0 && self.unthought >= options.thinktime_blocks
    }

    /// When its rate lets it issue a request.
    fn by_rate(&self, pending: Request) -> u64 {
        let options = &self.job.plan().options;
        let Some(direction) = direction(pending.op) else { return 0 };
        let (least, _) = options.bs_of(direction);
        let by_iops = options.rate_iops[direction].saturating_mul(least);
        let bytes_per_second =
            [options.rate[direction], by_iops].into_iter().find(|rate| *rate > 0);
        let after = |rate| u128::from(self.issued[direction]) * 1_000_000_000 / u128::from(rate);
        bytes_per_second.map_or(0, |rate: u64| self.start.saturating_add(after(rate) as u64))
    }

    /// Bytes of a request as its rate counts them: with `rate_iops`, a replayed request is one whatever its size.
    fn counted_bytes(&self, request: Request, direction: usize) -> u64 {
        let options = &self.job.plan().options;
        let by_number = options.rate[direction] == 0 && options.rate_iops[direction] > 0;
        if by_number && options.read_iolog.is_some() {
            options.bs_of(direction).0
        } else {
            request.bytes
        }
    }

    fn issue(&mut self, time: u64) -> Option<Request> {
        if self.is_full() {
            self.under_way.pop();
        }
        self.last = time;
        let request = self.pending.take()?;
        if let Some(direction) = direction(request.op) {
            self.issued[direction] += self.counted_bytes(request, direction);
        }
        self.unknown += 1;
        self.unthought += 1;
        Some(request)
    }

    /// A request of it is complete.
    fn complete(&mut self, done: u64) {
        self.unknown -= 1;
        self.under_way.push(Reverse(done));
        self.done = self.done.max(done);
        if self.unknown == 0 && self.thinks() {
            self.unthought = 0;
            let thinktime_us = self.job.plan().options.thinktime_us;
            self.ready = self.done.saturating_add(thinktime_us.saturating_mul(1000));
        }
    }
}

fn direction(op: Op) -> Option<usize> {
    match op {
        Op::Read => Some(READ),
        Op::Write => Some(WRITE),
        Op::Trim => Some(TRIM),
        Op::Flush => None,
    }
}

/// The requests of all jobs in the order in which they are issued.
pub struct Hosts {
    /// Groups that have not begun, the first first.
    waiting: VecDeque<Vec<Waiting>>,
    running: Vec<Host>,
    /// Hosts that have begun.
    begun: u32,
    /// Jobs by name, numbered in the order of the file; clones share a name.
    tenants: BTreeMap<String, u16>,
    /// When the groups that have ended had.
    now: u64,
    has_streams: bool,
    notes: Vec<(&'static str, String)>,
}

impl Hosts {
    /// Groups of jobs, of which each begins when the one before has ended.
    pub(super) fn new(
        groups: Vec<Vec<Plan>>,
        notes: Vec<(&'static str, String)>,
        open: OpenReplay,
        reads_take_time: bool,
    ) -> Result<Self, TraceError> {
        for plan in groups.iter().flatten().filter(|_| !reads_take_time) {
            if plan.options.read_iolog.is_some() {
                continue;
            }
            let takes_time = plan.options.direction.does[WRITE];
            if !takes_time || (plan.options.direction.does[READ] && plan.options.rwmixread == 100) {
                return Err(plan.refuse(
                    "writes nothing, and reads and trims take no time on the simulated flash",
                    "let requests take time (--timing slc:unit=request), or leave out the job",
                ));
            }
        }
        let has_streams = groups.iter().flatten().any(Plan::has_streams);
        let mut tenants = BTreeMap::new();
        for plan in groups.iter().flatten() {
            let next = u16::try_from(tenants.len()).unwrap_or(u16::MAX);
            tenants.entry(plan.name.clone()).or_insert(next);
        }
        Ok(Self {
            waiting: open_groups(groups, open)?,
            running: Vec::new(),
            begun: 0,
            tenants,
            now: 0,
            has_streams,
            notes,
        })
    }

    /// The host that issues first, and when; of several at the same time the first of the file.
    fn first(&self) -> Option<(u64, usize)> {
        let times = self.running.iter().enumerate().filter_map(|(index, host)| match host.next() {
            Next::At(time_ns) => Some((time_ns, index)),
            Next::Waits | Next::Never => None,
        });
        times.min()
    }
}

impl ClosedLoop for Hosts {
    fn notes(&self) -> Vec<(&'static str, String)> {
        self.notes.clone()
    }

    fn tenants(&self) -> Vec<String> {
        let mut tenants: Vec<_> = self.tenants.iter().collect();
        tenants.sort_by_key(|(_, number)| **number);
        tenants.into_iter().map(|(name, _)| name.clone()).collect()
    }

    fn begin_at(&mut self, now_ns: u64) {
        self.now = now_ns;
    }

    fn turn(&mut self) -> Result<Turn, TraceError> {
        loop {
            self.running.iter_mut().try_for_each(Host::prepare)?;
            let is_over = |host: &Host| host.unknown == 0 && host.next() == Next::Never;
            if let Some(index) = self.running.iter().position(is_over) {
                let host = self.running.remove(index);
                self.now = self.now.max(host.done);
                continue;
            }
            if let Some((time_ns, _)) = self.first() {
                return Ok(Turn::Issue(time_ns));
            }
            if !self.running.is_empty() {
                return Ok(Turn::Wait);
            }
            let Some(group) = self.waiting.pop_front() else { return Ok(Turn::End) };
            for job in group {
                let tenant = self.tenants.get(&job.plan().name).copied().unwrap_or(0);
                self.running.extend(Host::begin(job, self.now, self.begun, tenant)?);
                self.begun += 1;
            }
        }
    }

    fn issue(&mut self, batch: &mut RequestBatch) -> Option<Issued> {
        let (time_ns, index) = self.first()?;
        let host = &mut self.running[index];
        let request = host.issue(time_ns)?;
        push(batch, request, host.job.plan().start, self.has_streams);
        Some(Issued { host: host.number, tenant: host.tenant, time_ns, queued_ns: 0 })
    }

    fn complete(&mut self, host: u32, done_ns: u64) {
        if let Some(host) = self.running.iter_mut().find(|running| running.number == host) {
            host.complete(done_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::JobFile;
    use crate::replay::open_trace;
    use ftlab_trace::Space;
    use ftlab_trace::{ClosedLoop, Issued, RequestBatch, Turn};
    use std::collections::VecDeque;

    const SPACE: Space = Space { logical_pages: 1 << 12, page_bytes: 4096, seed: 1 };

    /// Who issues when, in microseconds, if a request takes `service_us` alone, and they are served one after
    /// the other: by the sector, which tells the job.
    fn issued(text: &str, service_us: u64, most: usize) -> Vec<(u64, u64)> {
        let text = format!("[global]\nioengine=io_uring\nfilename=/dev/drive\nrw=write\n{text}");
        let mut hosts =
            JobFile::parse(&text, "text").unwrap().hosts(&SPACE, open_trace, false).unwrap();
        let (mut batch, mut done, mut all) = (RequestBatch::new(), 0, Vec::new());
        while all.len() < most && hosts.turn().unwrap() != Turn::End {
            batch.clear();
            let Issued { host, time_ns, .. } = hosts.issue(&mut batch).unwrap();
            done = done.max(time_ns) + service_us * 1000;
            hosts.complete(host, done);
            all.push((time_ns / 1000, batch.lba[0] / 2048));
        }
        // Nothing changes if nobody knows when requests are complete until they are.
        let mut hosts =
            JobFile::parse(&text, "text").unwrap().hosts(&SPACE, open_trace, false).unwrap();
        let (mut done, mut under_way) = (0, VecDeque::new());
        for expected in &all {
            let time_ns = loop {
                let turn = hosts.turn().unwrap();
                let until = if let Turn::Issue(time_ns) = turn { time_ns } else { u64::MAX };
                let Some((host, end)) = under_way.front().filter(|(_, end)| *end <= until) else {
                    break until;
                };
                hosts.complete(*host, *end);
                under_way.pop_front();
            };
            batch.clear();
            let issued = hosts.issue(&mut batch).unwrap();
            assert_eq!((issued.time_ns / 1000, batch.lba[0] / 2048), *expected);
            done = done.max(time_ns) + service_us * 1000;
            under_way.push_back((issued.host, done));
        }
        all
    }

    #[test]
    fn the_deeper_queue_has_more_requests_served() {
        let text = "time_based\nruntime=1\n[a]\nsize=1m\n[b]\noffset=1m\nsize=1m\niodepth=3\n";
        let all = issued(text, 10, 4000);
        let of_a = all.iter().filter(|(_, job)| *job == 0).count();
        assert!(of_a.abs_diff(1000) <= 1, "{of_a}");
        assert!(all.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn groups_delays_and_runtimes_follow_the_clock() {
        let text = "[a]\nsize=8k\n[b]\noffset=1m\nsize=4k\nstartdelay=50us\n\
                    [c]\nstonewall\noffset=2m\nsize=8k\ntime_based\nruntime=25us\n";
        let expected = [(0, 0), (10, 0), (50, 1), (60, 2), (70, 2), (80, 2)];
        assert_eq!(issued(text, 10, 100), expected);
    }

    #[test]
    fn rates_and_thinking_hold_jobs_back() {
        // 100 requests of 4 KiB a second; two requests, and then 30 us.
        assert_eq!(
            issued("[a]\nsize=12k\nrate_iops=100\n", 10, 9),
            [(0, 0), (10_000, 0), (20_000, 0)]
        );
        assert_eq!(
            issued("[a]\nsize=12k\nrate=409600\n", 10, 9),
            [(0, 0), (10_000, 0), (20_000, 0)]
        );
        let text = "[a]\nsize=16k\nthinktime=30us\nthinktime_blocks=2\n";
        assert_eq!(issued(text, 10, 9), [(0, 0), (10, 0), (50, 0), (60, 0)]);
    }

    #[test]
    fn what_takes_no_time_is_refused() {
        let jobs = JobFile::parse("[a]\nrw=randread\nsize=1m\n", "text").unwrap();
        let error = jobs.hosts(&SPACE, open_trace, false).err().unwrap().to_string();
        assert!(error.contains("[a] writes nothing"), "{error}");
    }
}

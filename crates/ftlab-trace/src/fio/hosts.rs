//! Several jobs at once, with a clock: each is a host of its own.
//!
//! A job issues its next request as soon as fewer are under way than its `iodepth`, its `startdelay` is over,
//! its `rate` allows it, and it has thought (`thinktime`, after every `thinktime_blocks` requests, when all
//! of them are complete). With `runtime` it issues none after that. Of all jobs, the one that issues first
//! comes first, and of several at the same time the first of the file. How long a request takes, somebody
//! else knows, who says so. Reads, trims and flushes take no time.

use super::job::{Job, Request};
use super::options::{READ, TRIM, WRITE};
use super::plan::Plan;
use super::turns::{check_maps, push};
use crate::{Op, RequestBatch, TraceError};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A job and its clock, in nanoseconds.
struct Host {
    job: Job,
    /// What it issues next.
    pending: Request,
    /// When it began, its start delay included.
    start: u64,
    /// When it issued its last request.
    last: u64,
    /// When it has thought.
    ready: u64,
    /// When each request under way is complete.
    under_way: BinaryHeap<Reverse<u64>>,
    /// When the last of all so far is complete.
    done: u64,
    /// Bytes issued of reads, writes and trims.
    issued: [u64; 3],
    /// Requests since it last thought.
    unthought: u64,
}

impl Host {
    /// Begins at `start`; `None` if it has nothing to do.
    fn begin(plan: Plan, start: u64) -> Result<Option<Self>, TraceError> {
        let start = start + plan.options.startdelay_us.saturating_mul(1000);
        let mut job = Job::new(plan)?;
        let Some(pending) = job.next_request() else { return Ok(None) };
        Ok(Some(Self {
            job,
            pending,
            start,
            last: start,
            ready: start,
            under_way: BinaryHeap::new(),
            done: start,
            issued: [0; 3],
            unthought: 0,
        }))
    }

    /// When it issues its next request; `None` if its time is over before.
    fn next(&self) -> Option<u64> {
        let plan = self.job.plan();
        let is_full = self.under_way.len() == plan.depth as usize;
        let slot = self.under_way.peek().filter(|_| is_full).map_or(0, |Reverse(done)| *done);
        let next = self.last.max(self.ready).max(slot).max(self.by_rate());
        let runtime = plan.options.runtime_us.saturating_mul(1000);
        (runtime == 0 || next < self.start.saturating_add(runtime)).then_some(next)
    }

    /// When its rate lets it issue the next request.
    fn by_rate(&self) -> u64 {
        let options = &self.job.plan().options;
        let Some(direction) = direction(self.pending.op) else { return 0 };
        let (least, _) = options.bs_of(direction);
        let by_iops = options.rate_iops[direction].saturating_mul(least);
        let bytes_per_second =
            [options.rate[direction], by_iops].into_iter().find(|rate| *rate > 0);
        let after = |rate| u128::from(self.issued[direction]) * 1_000_000_000 / u128::from(rate);
        bytes_per_second.map_or(0, |rate: u64| self.start.saturating_add(after(rate) as u64))
    }

    /// Issues its request at `time`; false if there is none after it.
    fn issue(&mut self, time: u64) -> bool {
        if self.under_way.len() == self.job.plan().depth as usize {
            self.under_way.pop();
        }
        self.last = time;
        if let Some(direction) = direction(self.pending.op) {
            self.issued[direction] += self.pending.bytes;
        }
        match self.job.next_request() {
            Some(request) => self.pending = request,
            None => return false,
        }
        true
    }

    /// Its last request is complete.
    fn complete(&mut self, done: u64) {
        self.under_way.push(Reverse(done));
        self.done = self.done.max(done);
        self.unthought += 1;
        let options = &self.job.plan().options;
        if options.thinktime_us > 0 && self.unthought >= options.thinktime_blocks {
            self.unthought = 0;
            self.ready = self.done.saturating_add(options.thinktime_us.saturating_mul(1000));
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
    waiting: VecDeque<Vec<Plan>>,
    running: Vec<Host>,
    /// The host whose request is being carried out, and when it was issued.
    present: Option<(usize, u64)>,
    /// Whether that was its last.
    is_last: bool,
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
        reads_take_time: bool,
    ) -> Result<Self, TraceError> {
        check_maps(&groups)?;
        for plan in groups.iter().flatten().filter(|_| !reads_take_time) {
            let takes_time = plan.options.direction.does[WRITE];
            if !takes_time || (plan.options.direction.does[READ] && plan.options.rwmixread == 100) {
                return Err(plan.refuse(
                    "writes nothing, and reads and trims take no time on the simulated flash",
                    "let requests take time (--timing slc:unit=request), or leave out the job",
                ));
            }
        }
        let has_streams = groups.iter().flatten().any(|plan| plan.placement.is_some());
        Ok(Self {
            waiting: groups.into(),
            running: Vec::new(),
            present: None,
            is_last: false,
            now: 0,
            has_streams,
            notes,
        })
    }

    /// What is worth knowing of the jobs, by name.
    pub fn notes(&self) -> &[(&'static str, String)] {
        &self.notes
    }

    /// The first group begins at this time, in nanoseconds.
    pub fn begin_at(&mut self, now_ns: u64) {
        self.now = now_ns;
    }

    /// Adds the next request to `batch`, and says when it is issued, in nanoseconds; `None` at the end. The
    /// one before is complete at `done_ns`, or at once if that is before it was issued.
    pub fn next(
        &mut self,
        done_ns: u64,
        batch: &mut RequestBatch,
    ) -> Result<Option<u64>, TraceError> {
        if let Some((index, issued)) = self.present.take() {
            self.running[index].complete(done_ns.max(issued));
            if std::mem::take(&mut self.is_last) {
                self.end(index);
            }
        }
        loop {
            let times = self.running.iter().enumerate();
            let first = times.map(|(index, host)| (host.next(), index));
            // None, a host whose time is over, is before every time.
            match first.min() {
                Some((None, index)) => self.end(index),
                Some((Some(time), index)) => {
                    let host = &mut self.running[index];
                    push(batch, host.pending, host.job.plan().start, self.has_streams);
                    self.is_last = !host.issue(time);
                    self.present = Some((index, time));
                    return Ok(Some(time));
                }
                None => {
                    let Some(group) = self.waiting.pop_front() else { return Ok(None) };
                    let begin = |plan| Host::begin(plan, self.now).transpose();
                    self.running = group.into_iter().filter_map(begin).collect::<Result<_, _>>()?;
                }
            }
        }
    }

    /// A host has issued its last request.
    fn end(&mut self, index: usize) {
        let host = self.running.remove(index);
        self.now = self.now.max(host.done);
    }
}

#[cfg(test)]
mod tests {
    use crate::RequestBatch;
    use crate::fio::JobFile;
    use crate::synthetic::Space;

    const SPACE: Space = Space { logical_pages: 1 << 12, page_bytes: 4096, seed: 1 };

    /// Who issues when, in microseconds, if a request takes `service_us` alone, and they are served one after
    /// the other: by the sector, which tells the job.
    fn issued(text: &str, service_us: u64, most: usize) -> Vec<(u64, u64)> {
        let text = format!("[global]\nioengine=io_uring\nfilename=/dev/drive\nrw=write\n{text}");
        let mut hosts = JobFile::parse(&text, "text").unwrap().hosts(&SPACE, false).unwrap();
        let (mut batch, mut done, mut all) = (RequestBatch::new(), 0, Vec::new());
        while all.len() < most {
            batch.clear();
            let Some(time) = hosts.next(done, &mut batch).unwrap() else { break };
            done = done.max(time) + service_us * 1000;
            all.push((time / 1000, batch.lba[0] / 2048));
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
        let error = jobs.hosts(&SPACE, false).err().unwrap().to_string();
        assert!(error.contains("[a] writes nothing"), "{error}");
    }
}

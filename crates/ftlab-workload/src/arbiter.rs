//! Tenants that share a drive which takes a limited number of requests at once.
//!
//! What a tenant submits waits in a queue of its own until the drive has a slot for it. A slot that is free goes to
//! the tenants in turn, to each for as many requests as its weight, which is NVMe's weighted round robin with a
//! queue as a class (NVMe base specification, command arbitration). A tenant with an empty queue is passed over,
//! and loses what is left of its turn. Or it goes to the request that has waited longest. A slot is given away before the
//! tenant that had it can submit more.

use ftlab_trace::{ClosedLoop, Done, Issued, Turn};
use ftlab_trace::{RequestBatch, TraceError};
use std::collections::VecDeque;

/// Hosts, and the queues of their tenants.
pub struct Arbiter {
    hosts: Box<dyn ClosedLoop>,
    /// Requests that the drive may have at once.
    slots: u32,
    taken: u32,
    /// Tenant -> how many of its requests are taken in turn.
    weights: Vec<u32>,
    /// Whether the oldest request is taken, whatever the turn.
    is_oldest_first: bool,
    /// Tenant -> what it has submitted, the oldest first.
    queues: Vec<VecDeque<(RequestBatch, Issued)>>,
    /// What the drive has taken, and the caller has not.
    ready: VecDeque<(RequestBatch, Issued)>,
    /// Whose turn it is, and for how many requests more.
    turn: usize,
    left: u32,
    /// The present, as far as anything has happened.
    now: u64,
    /// Requests that are complete, of which the hosts have not been told.
    complete: VecDeque<(u32, u64)>,
    /// Memory for requests.
    spare: Vec<RequestBatch>,
}

impl Arbiter {
    /// With `slots` requests at once, and a weight of each tenant of `hosts`.
    pub fn new(hosts: Box<dyn ClosedLoop>, slots: u32, weights: Vec<u32>) -> Self {
        let queues = weights.iter().map(|_| VecDeque::new()).collect();
        let left = weights.first().copied().unwrap_or(1);
        Self {
            hosts,
            slots,
            taken: 0,
            weights,
            is_oldest_first: false,
            queues,
            ready: VecDeque::new(),
            turn: 0,
            left,
            now: 0,
            complete: VecDeque::new(),
            spare: Vec::new(),
        }
    }

    /// Takes the request that has waited longest.
    #[must_use]
    pub fn oldest_first(self) -> Self {
        Self { is_oldest_first: true, ..self }
    }

    /// Takes in what the hosts submit up to this time, if nothing is complete before.
    fn submit(&mut self, until_ns: u64) -> Result<(), TraceError> {
        while let Turn::Issue(time_ns) = self.hosts.turn()?
            && time_ns <= until_ns
        {
            let mut request = self.spare.pop().unwrap_or_else(|| RequestBatch::with_limit(1));
            request.clear();
            let Some(issued) = self.hosts.issue(&mut request) else { break };
            self.queues[usize::from(issued.tenant)].push_back((request, issued));
        }
        Ok(())
    }

    /// Gives free slots to the tenants in turn.
    fn dispatch(&mut self) {
        while self.taken < self.slots
            && let Some((request, submitted)) = self.take()
        {
            self.taken += 1;
            let (time_ns, queued_ns) = (self.now, self.now - submitted.time_ns);
            self.ready.push_back((request, Issued { time_ns, queued_ns, ..submitted }));
        }
    }

    /// The request that is taken next.
    fn take(&mut self) -> Option<(RequestBatch, Issued)> {
        if self.is_oldest_first {
            let waiting = self.queues.iter_mut().filter(|queue| !queue.is_empty());
            return waiting.min_by_key(|queue| queue[0].1.time_ns)?.pop_front();
        }
        for _ in 0..=self.queues.len() {
            if self.left > 0
                && let Some(taken) = self.queues[self.turn].pop_front()
            {
                self.left -= 1;
                return Some(taken);
            }
            self.turn = (self.turn + 1) % self.queues.len();
            self.left = self.weights[self.turn];
        }
        None
    }
}

impl ClosedLoop for Arbiter {
    fn notes(&self) -> Vec<(&'static str, String)> {
        self.hosts.notes()
    }

    fn tenants(&self) -> Vec<String> {
        self.hosts.tenants()
    }

    fn begin_at(&mut self, now_ns: u64) {
        self.now = now_ns;
        self.hosts.begin_at(now_ns);
    }

    fn turn(&mut self) -> Result<Turn, TraceError> {
        while let Some((host, done_ns)) = self.complete.pop_front() {
            self.submit(done_ns)?;
            self.now = self.now.max(done_ns);
            self.taken -= 1;
            self.dispatch();
            self.hosts.complete(host, done_ns);
        }
        self.submit(self.now)?;
        self.dispatch();
        match self.ready.front() {
            Some((_, next)) => Ok(Turn::Issue(next.time_ns)),
            None if self.taken == self.slots => Ok(Turn::Wait),
            None => self.hosts.turn(),
        }
    }

    fn issue(&mut self, batch: &mut RequestBatch) -> Option<Issued> {
        if self.ready.is_empty()
            && let Ok(Turn::Issue(time_ns)) = self.hosts.turn()
        {
            // Whoever submits at the same time takes part.
            self.now = self.now.max(time_ns);
            self.submit(self.now).ok()?;
            self.dispatch();
        }
        let (request, issued) = self.ready.pop_front()?;
        batch.push_from(&request, 0);
        self.spare.push(request);
        Some(issued)
    }

    fn complete(&mut self, host: u32, done_ns: u64) {
        self.complete.push_back((host, done_ns));
    }

    fn take_done(&mut self) -> Vec<Done> {
        self.hosts.take_done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_fio::JobFile;
    use ftlab_trace::Space;

    const SPACE: Space = Space { logical_pages: 1 << 12, page_bytes: 4096, seed: 1 };

    const GLOBAL: &str = "[global]\nioengine=io_uring\nfilename=/dev/drive\nrw=write\ntime_based\nruntime=1\nsize=1m\n";

    /// The tenant, start and time in the queue of each request, in microseconds, on a drive that does `slots` at once
    /// in 10 us each.
    fn taken(jobs: &str, slots: u32, weights: &[u32], most: usize) -> Vec<(u16, u64, u64)> {
        served(jobs, slots, most, |hosts| Arbiter::new(hosts, slots, weights.to_vec()))
    }

    fn served(
        jobs: &str,
        slots: u32,
        most: usize,
        arbiter: impl Fn(Box<dyn ClosedLoop>) -> Arbiter,
    ) -> Vec<(u16, u64, u64)> {
        let hosts = JobFile::parse(&format!("{GLOBAL}{jobs}"), "text").unwrap();
        let hosts = Box::new(
            hosts.hosts(&SPACE, |_, _| unreachable!("nothing is replayed"), true).unwrap(),
        );
        let mut arbiter = arbiter(hosts);
        arbiter.begin_at(0);
        let (mut all, mut under_way) = (Vec::new(), VecDeque::new());
        let mut batch = RequestBatch::new();
        while all.len() < most {
            let until = match arbiter.turn().unwrap() {
                Turn::Issue(time_ns) => time_ns,
                Turn::Wait => u64::MAX,
                Turn::End => break,
            };
            if let Some((host, done)) = under_way.front().filter(|(_, done)| *done <= until) {
                arbiter.complete(*host, *done);
                under_way.pop_front();
                continue;
            }
            batch.clear();
            let issued = arbiter.issue(&mut batch).unwrap();
            assert_eq!(batch.len(), 1);
            under_way.push_back((issued.host, issued.time_ns + 10_000));
            assert!(under_way.len() <= slots as usize);
            all.push((issued.tenant, issued.time_ns / 1000, issued.queued_ns / 1000));
        }
        all
    }

    #[test]
    fn tenants_whose_queues_are_never_empty_are_served_by_their_weights() {
        let jobs = "[a]\niodepth=16\n[b]\niodepth=8\n[c]\niodepth=8\n";
        for (weights, turns) in [([1, 1, 1], &[0, 1, 2][..]), ([3, 1, 2], &[0, 0, 0, 1, 2, 2])] {
            for slots in [1, 2, 3] {
                let order: Vec<_> =
                    taken(jobs, slots, &weights, 600).iter().map(|of| of.0).collect();
                let expected: Vec<u16> = turns.iter().copied().cycle().take(600).collect();
                assert_eq!(order, expected, "{weights:?}, {slots}");
            }
        }
    }

    #[test]
    fn requests_wait_for_those_before_them_and_an_empty_queue_is_passed_over() {
        // Two of a and one of b at the same time, one slot; b has one at a time and so every other slot at most.
        let all = taken("[a]\niodepth=2\n[b]\n", 1, &[1, 4], 6);
        assert_eq!(
            all,
            [(0, 0, 0), (1, 10, 10), (0, 20, 20), (1, 30, 10), (0, 40, 30), (1, 50, 10)]
        );
        // With room for all nobody waits.
        let all = taken("[a]\niodepth=2\n[b]\n", 3, &[1, 4], 300);
        assert!(all.iter().all(|(.., queued)| *queued == 0));
    }

    #[test]
    fn the_oldest_comes_first_whoever_sent_it() {
        // Of twelve that are under way, a has eight: so two of three are its own, and nobody passes another.
        let jobs = "[a]\niodepth=8\n[b]\niodepth=4\n";
        let oldest = |hosts| Arbiter::new(hosts, 1, vec![1, 1]).oldest_first();
        let all = served(jobs, 1, 1200, oldest);
        let of_a = all.iter().filter(|(tenant, ..)| *tenant == 0).count();
        assert_eq!(of_a, 800);
        let submitted: Vec<u64> = all.iter().map(|(_, start, queued)| start - queued).collect();
        assert!(submitted.is_sorted());
        // In turn, each has half, and a waits longer.
        let in_turn = taken(jobs, 1, &[1, 1], 1200);
        assert_eq!(in_turn.iter().filter(|(tenant, ..)| *tenant == 0).count(), 600);
    }

    #[test]
    fn all_time_is_accounted_for_by_littles_law() {
        let all = taken("[a]\niodepth=7\n[b]\niodepth=5\n", 4, &[2, 1], 4000);
        let end = all.last().unwrap().1;
        let waiting: u64 = all.iter().map(|of| of.2).sum();
        // Twelve are under way, four of them on the drive.
        let queued_mean = waiting as f64 / end as f64;
        assert!((queued_mean - 8.0).abs() < 0.05, "{queued_mean}");
    }
}

//! The clients of a database: threads that run one transaction after the other.
//!
//! Transactions are taken in their order, each by the thread that is free first, and so which pages are read
//! and written does not depend on times. A thread issues the requests of its transaction in their order: page
//! writes in a row at once, anything else when all before it is complete. It takes its next transaction when the
//! last request is complete; transactions without requests take no time. The load is written the same way, by
//! all threads, but its parts are no transactions.

use crate::{TransactionSource, Work};
use ftlab_spec::Spec;
use ftlab_trace::Space;
use ftlab_trace::{ClosedLoop, Done, Issued, Turn};
use ftlab_trace::{Op, RequestBatch, TraceError};

/// The threads of a database's clients, and the transactions that they share.
pub struct Clients {
    transactions: TransactionSource,
    threads: Vec<Thread>,
    /// Whether there are no more transactions.
    is_over: bool,
    done: Vec<Done>,
}

#[derive(Default)]
struct Thread {
    /// The requests of its transaction, and how many of them have been issued.
    requests: RequestBatch,
    issued: usize,
    under_way: usize,
    /// What it is at; none before its first transaction.
    work: Option<Work>,
    began: u64,
    /// When it issued its last request, or the last that is complete was.
    now: u64,
}

impl Thread {
    /// When it issues its next request, if that is known.
    fn next(&self) -> Option<u64> {
        let op = *self.requests.op.get(self.issued)?;
        let follows_a_write = self.issued > 0 && self.requests.op[self.issued - 1] == Op::Write;
        let is_free = self.under_way == 0 || (op == Op::Write && follows_a_write);
        is_free.then_some(self.now)
    }

    /// Whether its transaction is complete.
    fn is_done(&self) -> bool {
        self.under_way == 0 && self.issued == self.requests.len()
    }
}

impl Clients {
    /// `threads` threads that run the transactions of the generator that `spec` names.
    pub fn new(spec: &Spec, space: &Space, threads: u32) -> Result<Self, TraceError> {
        Ok(Self {
            transactions: TransactionSource::new(spec, space)?,
            threads: (0..threads).map(|_| Thread::default()).collect(),
            is_over: false,
            done: Vec::new(),
        })
    }

    /// Gives each thread that is done its next transaction, the one that has waited for longest first.
    fn hand_out(&mut self) -> Result<(), TraceError> {
        loop {
            let (threads, is_over) = (self.threads.iter_mut(), self.is_over);
            let idle = threads.filter(|it| it.is_done() && (it.work.is_some() || !is_over));
            let Some(thread) = idle.min_by_key(|it| it.now) else { return Ok(()) };
            if thread.work.take() == Some(Work::Transaction) {
                self.done.push(Done { began_ns: thread.began, done_ns: thread.now });
            }
            thread.requests.clear();
            thread.issued = 0;
            if !is_over {
                thread.began = thread.now;
                thread.work = self.transactions.next_into(&mut thread.requests)?;
                self.is_over = thread.work.is_none();
            }
        }
    }

    /// The thread that issues first, and when; of several at the same time the one with the lowest number.
    fn first(&self) -> Option<(u64, usize)> {
        let times = self.threads.iter().enumerate();
        times.filter_map(|(index, thread)| Some((thread.next()?, index))).min()
    }
}

impl ClosedLoop for Clients {
    fn notes(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn begin_at(&mut self, now_ns: u64) {
        self.threads.iter_mut().for_each(|thread| thread.now = now_ns);
    }

    fn turn(&mut self) -> Result<Turn, TraceError> {
        self.hand_out()?;
        if let Some((time_ns, _)) = self.first() {
            return Ok(Turn::Issue(time_ns));
        }
        let is_busy = self.threads.iter().any(|thread| thread.under_way > 0);
        Ok(if is_busy { Turn::Wait } else { Turn::End })
    }

    fn issue(&mut self, batch: &mut RequestBatch) -> Option<Issued> {
        let (time_ns, index) = self.first()?;
        let thread = &mut self.threads[index];
        batch.push_from(&thread.requests, thread.issued);
        thread.issued += 1;
        thread.under_way += 1;
        Some(Issued { host: index as u32, tenant: 0, time_ns, queued_ns: 0 })
    }

    fn complete(&mut self, host: u32, done_ns: u64) {
        let thread = &mut self.threads[host as usize];
        thread.under_way -= 1;
        thread.now = thread.now.max(done_ns);
    }

    fn take_done(&mut self) -> Vec<Done> {
        std::mem::take(&mut self.done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: Space = Space { logical_pages: 6_000, page_bytes: 4096, seed: 1 };

    type Ran = (Vec<(u32, Op, u64)>, Vec<Done>, Vec<u64>);

    /// Every request as (thread, operation, when issued), and the transactions, if each request takes 10 us and they
    /// do not hinder each other.
    fn run(spec: &str, threads: u32) -> Ran {
        let mut clients = Clients::new(&spec.parse().unwrap(), &SPACE, threads).unwrap();
        let (mut all, mut done, mut pages) = (Vec::new(), Vec::new(), Vec::new());
        let mut under_way = std::collections::VecDeque::new();
        let mut batch = RequestBatch::new();
        loop {
            let turn = clients.turn().unwrap();
            done.extend(clients.take_done());
            let until = match turn {
                Turn::End => break,
                Turn::Wait => u64::MAX,
                Turn::Issue(time_ns) => time_ns,
            };
            if let Some((host, end)) = under_way.front().filter(|(_, end)| *end <= until).copied() {
                clients.complete(host, end);
                under_way.pop_front();
                continue;
            }
            batch.clear();
            let Issued { host, time_ns, .. } = clients.issue(&mut batch).unwrap();
            all.push((host, batch.op[0], time_ns));
            pages.extend((batch.op[0] == Op::Write).then(|| batch.lba[0]));
            under_way.push_back((host, time_ns + 10_000));
        }
        (all, done, pages)
    }

    const TPCC: &str = "tpcc:start=0.3,end=0.5,buffer=0.2,log=on,log-size=0.05";

    #[test]
    fn one_thread_waits_for_all_but_writes_in_a_row() {
        let (all, done, _) = run(TPCC, 1);
        assert!(done.len() > 1000 && all.iter().any(|(_, op, _)| *op == Op::Read));
        for pair in all.windows(2) {
            let ((_, before, began), (_, op, next)) = (pair[0], pair[1]);
            let waited = next - began;
            assert!(
                waited == 10_000 || (waited == 0 && [before, op] == [Op::Write; 2]),
                "{pair:?}"
            );
        }
        assert!(done.windows(2).all(|pair| pair[0].done_ns == pair[1].began_ns));
        let flushes = all.iter().filter(|(_, op, _)| *op == Op::Flush).count();
        assert!(flushes > done.len() / 2, "whoever changes something flushes the log");
    }

    #[test]
    fn more_threads_do_the_same_sooner() {
        let (alone, of_one, mut written) = run(TPCC, 1);
        let (together, of_many, mut by_many) = run(TPCC, 8);
        assert_eq!((alone.len(), of_one.len()), (together.len(), of_many.len()));
        written.sort_unstable();
        by_many.sort_unstable();
        assert_eq!(written, by_many);
        let end = |done: &[Done]| done.iter().map(|of| of.done_ns).max().unwrap();
        assert!(end(&of_many) * 6 < end(&of_one), "{} {}", end(&of_many), end(&of_one));
        assert!((0..8).all(|thread| together.iter().any(|(host, ..)| *host == thread)));
    }

    #[test]
    fn requests_that_only_read_are_transactions_and_the_load_is_none() {
        let spec = "linkbench:start=0.5,end=0.6,buffer=0.3,doublewrite=8";
        let (all, done, _) = run(spec, 4);
        let flushes = all.iter().filter(|(_, op, _)| *op == Op::Flush).count();
        assert!(done.len() > 2 * flushes, "{} {flushes}", done.len());
        let first = done.iter().map(|of| of.began_ns).min().unwrap();
        assert!(all.iter().any(|(_, op, time)| *op == Op::Write && *time < first));
    }

    #[test]
    fn what_has_no_transactions_is_an_error() {
        let error = Clients::new(&"uniform".parse().unwrap(), &SPACE, 1).err().unwrap();
        assert!(error.to_string().contains("tpcc, linkbench"), "{error}");
    }
}

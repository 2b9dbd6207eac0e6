//! Transactions on a thread of their own, which runs ahead of the database by a few batches: two cores
//! make a sequence sooner than one. Which sequence does not depend on it.

use super::{Transactions, Uses};
use ftlab_trace::TraceError;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Uses of the first batch, and of the largest: the larger batches are, the less often threads wake one
/// another.
const FIRST_USES: usize = 1 << 10;
const MOST_USES: usize = 1 << 16;

/// Batches that wait at most.
const BATCHES: usize = 2;

/// Transactions that wait to be run, that run, or that are over.
pub(super) struct Ahead<T> {
    page_bytes: u32,
    /// Whether the ends of transactions are kept.
    keeps_ends: bool,
    waiting: Option<T>,
    running: Option<(Receiver<Uses>, JoinHandle<()>)>,
}

impl<T: Transactions> Ahead<T> {
    /// Transactions on pages of `page_bytes`; they run from the first call of [`Ahead::next`] on.
    pub(super) fn new(transactions: T, page_bytes: u32) -> Self {
        Self { page_bytes, keeps_ends: false, waiting: Some(transactions), running: None }
    }

    /// Keeps the ends of transactions, if it is called before they run.
    pub(super) fn keep_ends(&mut self) {
        self.keeps_ends = true;
    }

    /// What the next transactions do; `None` when they are over.
    pub(super) fn next(&mut self) -> Result<Option<Uses>, TraceError> {
        if let Some(transactions) = self.waiting.take() {
            self.running = Some(start(transactions, self.page_bytes, self.keeps_ends)?);
        }
        if let Some(uses) = self.running.as_ref().and_then(|(batches, _)| batches.recv().ok()) {
            return Ok(Some(uses));
        }
        if let Some((_, thread)) = self.running.take() {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        Ok(None)
    }
}

fn start(
    transactions: impl Transactions,
    page_bytes: u32,
    keeps_ends: bool,
) -> Result<(Receiver<Uses>, JoinHandle<()>), TraceError> {
    let (send, receive) = sync_channel(BATCHES);
    let thread = thread::Builder::new()
        .name("transactions".to_owned())
        .spawn(move || run(transactions, page_bytes, keeps_ends, &send))
        .map_err(|error| TraceError::io("a thread for transactions", error))?;
    Ok((receive, thread))
}

/// Runs transactions until they are over or nobody wants more.
fn run(
    mut transactions: impl Transactions,
    page_bytes: u32,
    keeps_ends: bool,
    batches: &SyncSender<Uses>,
) {
    let (mut has_more, mut most) = (true, FIRST_USES);
    while has_more {
        let mut uses = Uses::with_room(page_bytes, most);
        while has_more && uses.all.len() < most {
            has_more = transactions.run_one(&mut uses);
            if keeps_ends && has_more {
                uses.ends.push(uses.all.len());
                uses.loads += usize::from(transactions.is_loading());
            }
        }
        if batches.send(uses).is_err() {
            return;
        }
        most = MOST_USES.min(2 * most);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Files;
    use super::*;
    use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
    use std::time::Duration;

    /// Reads page after page up to the last, and panics at a bad one.
    struct Reading {
        next: u32,
        last: u32,
        bad: u32,
        _alive: Sender<()>,
    }

    impl Transactions for Reading {
        fn run_one(&mut self, uses: &mut Uses) -> bool {
            assert_ne!(self.next, self.bad, "a bad page");
            if self.next > self.last {
                return false;
            }
            uses.read(self.next);
            self.next += 1;
            true
        }

        fn files(&self) -> &Files {
            unimplemented!()
        }

        fn properties(&self) -> Vec<(&'static str, String)> {
            Vec::new()
        }
    }

    fn reading(last: u32, bad: u32) -> (Ahead<Reading>, Receiver<()>) {
        let (alive, dropped) = channel();
        (Ahead::new(Reading { next: 0, last, bad, _alive: alive }, 4096), dropped)
    }

    #[test]
    fn all_that_transactions_do_comes_in_order_and_once() {
        let (mut ahead, _) = reading(300_000, u32::MAX);
        let mut pages = Vec::new();
        while let Some(uses) = ahead.next().unwrap() {
            pages.extend(uses.all.iter().map(|next| next.page));
        }
        assert!(pages.into_iter().eq(0..=300_000));
        assert!(ahead.next().unwrap().is_none());
    }

    #[test]
    fn the_thread_ends_when_nobody_wants_more() {
        let (mut ahead, dropped) = reading(u32::MAX - 1, u32::MAX);
        ahead.next().unwrap();
        drop(ahead);
        let over = dropped.recv_timeout(Duration::from_secs(60));
        assert_eq!(over, Err(RecvTimeoutError::Disconnected));
    }

    #[test]
    #[should_panic(expected = "a bad page")]
    fn a_panic_of_transactions_is_passed_on() {
        let (mut ahead, _) = reading(300_000, 200_000);
        while ahead.next().unwrap().is_some() {}
    }
}

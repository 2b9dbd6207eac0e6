//! How many transactions a database does, and how long they take.

use crate::response_summary::ResponseSummary;
use crate::timing::TransactionsResult;
use ftlab_host::ResponseTimeRecorder;
use ftlab_trace::Done;

/// Transactions that are complete.
#[derive(Debug, Default)]
pub(crate) struct Transactions {
    times: ResponseTimeRecorder,
    count: u64,
    /// When the first was complete, and the last.
    first_ns: Option<u64>,
    last_ns: u64,
    /// Those of each whole interval, and of the present one.
    intervals: Vec<u64>,
    present: u64,
}

impl Transactions {
    pub(crate) fn add(&mut self, done: Done) {
        self.times.record(done.done_ns - done.began_ns);
        self.count += 1;
        self.present += 1;
        self.first_ns.get_or_insert(done.done_ns);
        self.last_ns = self.last_ns.max(done.done_ns);
    }

    pub(crate) fn end_interval(&mut self) {
        self.intervals.push(std::mem::take(&mut self.present));
    }

    /// The result, with the nanoseconds that each interval took.
    pub(crate) fn finish(&self, intervals: impl Iterator<Item = u64>) -> TransactionsResult {
        let per_second = |count: u64, ns: u64| count as f64 * 1e9 / ns.max(1) as f64;
        let elapsed_ns = self.last_ns - self.first_ns.unwrap_or(self.last_ns);
        let running = self.intervals.iter().zip(intervals);
        TransactionsResult {
            count: self.count,
            per_second: per_second(self.count.saturating_sub(1), elapsed_ns),
            response_ns: ResponseSummary::new(&self.times.times()),
            running_per_second: running.map(|(of, ns)| per_second(*of, ns)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_from_the_end_of_the_first_to_that_of_the_last() {
        let mut transactions = Transactions::default();
        let second = 1_000_000_000;
        for number in 0..11 {
            let done_ns = 50 * second + number * second / 2;
            transactions.add(Done { began_ns: done_ns - 300, done_ns });
            if number % 4 == 3 {
                transactions.end_interval();
            }
        }
        let result = transactions.finish([2 * second; 2].into_iter());
        assert_eq!((result.count, result.response_ns.max), (11, 300));
        assert!((result.per_second - 2.0).abs() < 1e-9);
        assert_eq!(result.running_per_second, [2.0, 2.0]);
        assert_eq!(Transactions::default().finish(std::iter::empty()).count, 0);
    }
}

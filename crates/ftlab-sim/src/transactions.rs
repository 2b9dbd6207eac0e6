//! How many transactions a database does, and how long they take.

use crate::response_summary::ResponseSummary;
use crate::timing::TransactionsResult;
use ftlab_feed::Transactions;

/// The result, with the nanoseconds that each interval took.
pub(crate) fn result_of(
    of: &Transactions,
    intervals: impl Iterator<Item = u64>,
) -> TransactionsResult {
    let per_second = |count: u64, ns: u64| count as f64 * 1e9 / ns.max(1) as f64;
    let elapsed_ns = of.last_ns - of.first_ns.unwrap_or(of.last_ns);
    let running = of.intervals.iter().zip(intervals);
    TransactionsResult {
        count: of.count,
        per_second: per_second(of.count.saturating_sub(1), elapsed_ns),
        response_ns: ResponseSummary::new(&of.times.times()),
        running_per_second: running.map(|(count, ns)| per_second(*count, ns)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_trace::Done;

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
        let result = result_of(&transactions, [2 * second; 2].into_iter());
        assert_eq!((result.count, result.response_ns.max), (11, 300));
        assert!((result.per_second - 2.0).abs() < 1e-9);
        assert_eq!(result.running_per_second, [2.0, 2.0]);
        assert_eq!(result_of(&Transactions::default(), std::iter::empty()).count, 0);
    }
}

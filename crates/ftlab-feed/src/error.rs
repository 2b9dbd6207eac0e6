//! Why a workload cannot be decoded.

use ftlab_spec::{ByteSize, grouped};
use ftlab_trace::TraceError;
use thiserror::Error;

/// Why a workload cannot be decoded; the message names the value, the limit and the remedy.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum FeedError {
    /// The trace or generator.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A request goes beyond the end of the drive.
    #[error(
        "a {operation} of page {page} (byte offset {}) is beyond the drive, which has {} pages \
         ({}){}; enlarge it with --logical {}, or map such addresses into it with --wrap",
        u128::from(*page) * u128::from(*page_bytes),
        grouped(*logical_pages),
        ByteSize(logical_pages * u64::from(*page_bytes)),
        last_page.map_or_else(String::new, |last| format!(", and the last page of the trace is {last}")),
        enlarged(last_page.unwrap_or(*page), *page_bytes)
    )]
    BeyondDrive {
        /// "write" or "trim".
        operation: &'static str,
        /// The first page that the drive does not have.
        page: u64,
        logical_pages: u64,
        page_bytes: u32,
        /// The last page that the trace uses, if it could be read again.
        last_page: Option<u64>,
    },
    /// The trace has no clock.
    #[error(
        "the trace does not say when its requests come, and arrivals=trace needs it; use \
         arrivals=closed with a queue-depth, or for a CSV file name its column with --map ts:us=COLUMN"
    )]
    NoTimes,
    /// The running write amplification would take too much memory.
    #[error(
        "the workload has more than {} intervals of {} page writes, which are as many as are \
         recorded; give a larger --interval, or fewer --writes",
        grouped(*intervals_max),
        grouped(*interval_writes)
    )]
    TooManyIntervals {
        /// Host writes of an interval.
        interval_writes: u64,
        /// Intervals that are recorded at most.
        intervals_max: u64,
    },
    /// The FTL stopped: a bug.
    #[error("{ftl}: {reason}")]
    Ftl {
        /// As it was named.
        ftl: String,
        /// What it says.
        reason: String,
    },
    /// The flash is too slow for its host.
    #[error(
        "{ftl}: the flash falls ever further behind its host, and {} requests and operations wait; lower speed-up or \
         rate, add LUNs, or use arrivals=closed",
        grouped(*pending)
    )]
    Backlog {
        /// As it was named.
        ftl: String,
        /// Requests and operations.
        pending: u64,
    },
    /// The future of the workload is too long to be known.
    #[error(
        "the lifetimes of more than {} page writes do not fit into memory; give fewer --writes, or leave out FTLs that \
         know the future, such as fk and oracle-rate",
        grouped(*writes)
    )]
    TooManyLifetimes {
        /// Page writes whose lifetimes have room.
        writes: u64,
    },
}

/// A size that has `page`.
fn enlarged(page: u64, page_bytes: u32) -> String {
    let bytes = page.saturating_add(1).saturating_mul(u64::from(page_bytes));
    let mib = 1 << 20;
    ByteSize(bytes.checked_next_multiple_of(mib).unwrap_or(bytes)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_beyond_the_drive_names_the_remedies() {
        let error = FeedError::BeyondDrive {
            operation: "write",
            page: 300_000,
            logical_pages: 262_144,
            page_bytes: 4096,
            last_page: None,
        };
        assert_eq!(
            error.to_string(),
            "a write of page 300000 (byte offset 1228800000) is beyond the drive, which has 262,144 \
             pages (1GiB); enlarge it with --logical 1172MiB, or map such addresses into it with --wrap"
        );
    }
}

//! How occupied the parts of a drive were.

/// Sums from the beginning of time, or of a span, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occupied {
    /// LUN -> time for which it was occupied by an operation, waits for its channel included.
    pub busy_ns: Vec<u64>,
    /// Channel -> time for which a page passed over it.
    pub channel_ns: Vec<u64>,
    /// LUN -> time that pages which the host reads or writes waited until it began them, in sum: divided by the time
    /// that passed, how many waited on average.
    pub queued_ns: Vec<u64>,
}

impl Occupied {
    /// What came after `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let less = |now: &[u64], then: &[u64]| {
            let then = then.iter().copied().chain(std::iter::repeat(0));
            now.iter().zip(then).map(|(now, then)| now - then).collect()
        };
        Self {
            busy_ns: less(&self.busy_ns, &before.busy_ns),
            channel_ns: less(&self.channel_ns, &before.channel_ns),
            queued_ns: less(&self.queued_ns, &before.queued_ns),
        }
    }
}

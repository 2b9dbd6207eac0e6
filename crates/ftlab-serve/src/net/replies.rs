//! Replies to be sent.

use super::limits::Limits;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Memory for replies that is kept between requests, at most.
const KEPT_BYTES: usize = 512 << 10;

/// With this much to send, it is sent before more requests are processed.
const FULL_BYTES: usize = 256 << 10;

/// This much may be delayed for every client, whatever is delayed for others.
const HELD_FREE_BYTES: usize = 256 << 10;

/// Bytes to be sent. Their memory is reused, so that requests do not allocate.
#[derive(Debug)]
pub struct Replies {
    /// Memory beyond `used` is free for further replies.
    bytes: Vec<u8>,
    used: usize,
    /// Delayed replies: when they are due, their order, and their bytes.
    held: BinaryHeap<Reverse<(Instant, u64, Vec<u8>)>>,
    holds: u64,
    held_bytes: usize,
    /// What is delayed for all clients, and at most: with more, no more requests are processed until
    /// some of it is due.
    held_in_all: Arc<AtomicUsize>,
    held_max_bytes: usize,
    /// Nothing is added before everything that is delayed has been sent.
    is_barred: bool,
}

impl Default for Replies {
    fn default() -> Self {
        Self::new(Limits::default().delayed_bytes, Arc::default())
    }
}

impl Drop for Replies {
    fn drop(&mut self) {
        self.held_in_all.fetch_sub(self.held_bytes, Ordering::Relaxed);
    }
}

impl Replies {
    /// No replies yet; those that are delayed share a limit with others that count in `held_in_all`.
    pub(crate) fn new(held_max_bytes: usize, held_in_all: Arc<AtomicUsize>) -> Self {
        Self {
            bytes: Vec::new(),
            used: 0,
            held: BinaryHeap::new(),
            holds: 0,
            held_bytes: 0,
            held_in_all,
            held_max_bytes,
            is_barred: false,
        }
    }

    /// The bytes to be sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    /// Whether the bytes should be sent now, or too much is delayed.
    pub fn is_full(&self) -> bool {
        self.used >= FULL_BYTES
            || (self.is_barred && self.is_holding())
            || (self.held_bytes >= HELD_FREE_BYTES
                && self.held_in_all.load(Ordering::Relaxed) >= self.held_max_bytes)
    }

    /// Whether replies are delayed.
    pub(crate) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Adds nothing before all delayed replies have been sent.
    pub(crate) fn bar(&mut self) {
        self.is_barred = true;
    }

    /// Clears the bytes, which have been sent.
    pub fn clear(&mut self) {
        self.used = 0;
        if self.bytes.len() > KEPT_BYTES {
            self.bytes.truncate(KEPT_BYTES);
            self.bytes.shrink_to_fit();
        }
    }

    /// Delays everything after the first `start` bytes until `due`.
    pub(crate) fn hold(&mut self, start: usize, due: Instant) {
        let reply = self.bytes[start..self.used].to_vec();
        self.used = start;
        self.holds += 1;
        self.held_bytes += reply.len();
        self.held_in_all.fetch_add(reply.len(), Ordering::Relaxed);
        self.held.push(Reverse((due, self.holds, reply)));
    }

    /// Adds replies that are due to the bytes to be sent, and returns when the next one is due, if
    /// there is any.
    pub(crate) fn release(&mut self) -> Option<Instant> {
        let now = self.held.peek().map(|_| Instant::now())?;
        while let Some(Reverse((due, ..))) = self.held.peek() {
            if *due > now {
                return Some(*due);
            }
            if let Some(Reverse((_, _, reply))) = self.held.pop() {
                self.held_bytes -= reply.len();
                self.held_in_all.fetch_sub(reply.len(), Ordering::Relaxed);
                self.put(&reply);
            }
        }
        self.is_barred = false;
        None
    }

    /// Memory after the bytes to be sent, with arbitrary content; [`take`](Self::take) adds it to
    /// them.
    pub(crate) fn room(&mut self, bytes: usize) -> &mut [u8] {
        let end = self.used + bytes;
        if end > self.bytes.len() {
            self.bytes.resize(end, 0);
        }
        &mut self.bytes[self.used..end]
    }

    /// Adds the next `bytes` bytes of that memory to the bytes to be sent.
    pub(crate) fn take(&mut self, bytes: usize) {
        self.used += bytes;
        debug_assert!(self.used <= self.bytes.len());
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
        self.take(bytes.len());
    }

    pub(crate) fn put_u16(&mut self, value: u16) {
        self.put(&value.to_be_bytes());
    }

    pub(crate) fn put_u32(&mut self, value: u32) {
        self.put(&value.to_be_bytes());
    }

    pub(crate) fn put_u64(&mut self, value: u64) {
        self.put(&value.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_BYTES: usize = 4 << 20;

    /// Delays replies until no more are taken; how many bytes that were.
    fn fill(replies: &mut Replies, due: Instant) -> usize {
        let mut held = 0;
        while !replies.is_full() {
            replies.put(&vec![0; 64 << 10]);
            replies.hold(0, due);
            held += 64 << 10;
        }
        held
    }

    #[test]
    fn what_is_held_back_is_bounded_for_each_and_for_all() {
        let in_all = Arc::<AtomicUsize>::default();
        let [mut one, mut other] = [0; 2].map(|_| Replies::new(MAX_BYTES, Arc::clone(&in_all)));
        let due = Instant::now();
        assert_eq!(fill(&mut one, due), MAX_BYTES);
        assert_eq!(fill(&mut other, due), HELD_FREE_BYTES, "everyone may delay a little");
        one.release();
        assert_eq!(one.bytes().len(), MAX_BYTES);
        one.clear();
        assert!(!one.is_full() && !other.is_full());
        drop(other);
        assert_eq!(in_all.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_bar_lasts_until_everything_delayed_is_sent() {
        let mut replies = Replies::default();
        replies.put(&[1; 8]);
        replies.hold(0, Instant::now());
        replies.bar();
        assert!(replies.is_full());
        assert_eq!(replies.release(), None);
        assert!(!replies.is_full());
    }
}

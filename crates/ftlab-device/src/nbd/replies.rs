//! Replies to be sent.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

/// Memory for replies that is kept between requests, at most.
const KEPT_BYTES: usize = 1 << 20;

/// With this much to send, it is sent before more requests are processed.
const FULL_BYTES: usize = 256 << 10;

/// With this much delayed, no more requests are processed until some of it is due.
const HELD_MAX_BYTES: usize = 64 << 20;

/// Bytes to be sent. Their memory is reused, so that requests do not allocate.
#[derive(Debug, Default)]
pub struct Replies {
    /// Memory beyond `used` is free for further replies.
    bytes: Vec<u8>,
    used: usize,
    /// Delayed replies: when they are due, their order, and their bytes.
    held: BinaryHeap<Reverse<(Instant, u64, Vec<u8>)>>,
    holds: u64,
    held_bytes: usize,
}

impl Replies {
    /// The bytes to be sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    /// Whether the bytes should be sent now, or too much is delayed.
    pub fn is_full(&self) -> bool {
        self.used >= FULL_BYTES || self.held_bytes >= HELD_MAX_BYTES
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
    pub(super) fn hold(&mut self, start: usize, due: Instant) {
        let reply = self.bytes[start..self.used].to_vec();
        self.used = start;
        self.holds += 1;
        self.held_bytes += reply.len();
        self.held.push(Reverse((due, self.holds, reply)));
    }

    /// Adds replies that are due to the bytes to be sent, and returns when the next one is due, if
    /// there is any.
    pub(super) fn release(&mut self) -> Option<Instant> {
        let now = self.held.peek().map(|_| Instant::now())?;
        while let Some(Reverse((due, ..))) = self.held.peek() {
            if *due > now {
                return Some(*due);
            }
            if let Some(Reverse((_, _, reply))) = self.held.pop() {
                self.held_bytes -= reply.len();
                self.put(&reply);
            }
        }
        None
    }

    /// Memory after the bytes to be sent, with arbitrary content; [`take`](Self::take) adds it to
    /// them.
    pub(super) fn room(&mut self, bytes: usize) -> &mut [u8] {
        let end = self.used + bytes;
        if end > self.bytes.len() {
            self.bytes.resize(end, 0);
        }
        &mut self.bytes[self.used..end]
    }

    /// Adds the next `bytes` bytes of that memory to the bytes to be sent.
    pub(super) fn take(&mut self, bytes: usize) {
        self.used += bytes;
        debug_assert!(self.used <= self.bytes.len());
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
        self.take(bytes.len());
    }

    pub(super) fn put_u16(&mut self, value: u16) {
        self.put(&value.to_be_bytes());
    }

    pub(super) fn put_u32(&mut self, value: u32) {
        self.put(&value.to_be_bytes());
    }

    pub(super) fn put_u64(&mut self, value: u64) {
        self.put(&value.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_back_is_bounded() {
        let mut replies = Replies::default();
        let due = Instant::now();
        let mut held = 0;
        while !replies.is_full() {
            replies.put(&vec![0; 1 << 20]);
            replies.hold(0, due);
            held += 1;
        }
        assert_eq!(held, HELD_MAX_BYTES >> 20);
        assert!(replies.bytes().is_empty());
        replies.release();
        assert_eq!(replies.bytes().len(), HELD_MAX_BYTES);
        replies.clear();
        assert!(!replies.is_full());
    }
}

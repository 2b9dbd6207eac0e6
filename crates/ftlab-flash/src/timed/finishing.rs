//! What will be complete, and when.

use crate::owner::Owner;
use crate::timers::{NEVER, Timers};
use crate::write_buffer::entry_of;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Requests, and pages of the write buffer, of which it is known when they will be complete; each once.
#[derive(Debug, Clone)]
pub(super) struct Finishing {
    requests: Timers,
    pages: BinaryHeap<Reverse<(u64, Owner)>>,
}

impl Finishing {
    pub(super) fn new() -> Self {
        Self { requests: Timers::new(1), pages: BinaryHeap::new() }
    }

    /// A request or a page will be complete at this time.
    #[inline]
    pub(super) fn push(&mut self, time: u64, owner: Owner) {
        if entry_of(owner).is_none() {
            self.requests.set(owner as usize, time);
        } else {
            self.pages.push(Reverse((time, owner)));
        }
    }

    /// When the first of them will be; never if there is none.
    #[inline]
    pub(super) fn first(&self) -> u64 {
        let of_pages = self.pages.peek().map_or(NEVER, |Reverse((time, _))| *time);
        self.requests.first().0.min(of_pages)
    }

    /// Whether there is none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first() == NEVER
    }

    /// Takes out the first, which there is: requests before pages.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(u64, Owner)> {
        let (time, request) = self.requests.first();
        if time < NEVER && time == self.first() {
            self.requests.set(request, NEVER);
            return Some((time, request as Owner));
        }
        self.pages.pop().map(|Reverse(page)| page)
    }
}

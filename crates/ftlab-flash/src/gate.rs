//! Waiting for all operations of a kind that were asked for before.

use std::collections::VecDeque;

/// Operations that others wait for: each gets a number, and whoever waits waits for all up to one.
#[derive(Debug, Clone, Default)]
pub struct Gate<T> {
    /// All up to this one are complete.
    complete: u64,
    /// Of those after it, which are.
    after: VecDeque<bool>,
    /// Up to which one each waits, in ascending order.
    waiting: VecDeque<(u64, T)>,
}

impl<T> Gate<T> {
    /// The number of another operation.
    pub fn enter(&mut self) -> u64 {
        self.after.push_back(false);
        self.last()
    }

    /// The number of the last operation so far.
    pub fn last(&self) -> u64 {
        self.complete + self.after.len() as u64
    }

    /// The number of an operation that is not complete, of which these are the lower bits.
    #[inline]
    pub fn number(&self, lower: u32) -> u64 {
        self.complete + u64::from(lower.wrapping_sub(self.complete as u32))
    }

    /// The operation of this number is complete.
    pub fn leave(&mut self, number: u64) {
        self.after[(number - self.complete - 1) as usize] = true;
        while self.after.front() == Some(&true) {
            self.after.pop_front();
            self.complete += 1;
        }
    }

    /// Lets `who` wait for all so far; false if all are complete.
    pub fn wait(&mut self, who: T) -> bool {
        if self.after.is_empty() {
            return false;
        }
        self.waiting.push_back((self.last(), who));
        true
    }

    /// Somebody who need not wait any longer.
    pub fn release(&mut self) -> Option<T> {
        let (number, _) = self.waiting.front()?;
        if *number > self.complete {
            return None;
        }
        self.waiting.pop_front().map(|(_, who)| who)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_waits_for_all_that_came_before() {
        let mut gate = Gate::default();
        assert!(!gate.wait('a'));
        let [first, second] = [gate.enter(), gate.enter()];
        assert!(gate.wait('b'));
        let third = gate.enter();
        assert!(gate.wait('c'));
        gate.leave(second);
        assert_eq!(gate.release(), None);
        gate.leave(first);
        assert_eq!((gate.release(), gate.release()), (Some('b'), None));
        gate.leave(third);
        assert_eq!((gate.release(), gate.release()), (Some('c'), None));
        assert!(!gate.wait('d'));
    }
}

//! Which requests mark their blocks in the random map.
//!
//! fio takes a unit for each request, and notes there if the request marks none: if it is in sequence within a
//! random job, or the write of what was trimmed. If such a request finds no place, the note stays: the next one with
//! that unit marks none either. Units are taken from a stack, so that is known by how many are under way.

/// What is known of the requests of a job whose map is not told of all.
#[derive(Debug, Clone)]
pub(super) struct Marks {
    /// Whether any request marks none.
    is_needed: bool,
    /// Whether the map is told of this one.
    is_told: bool,
    /// How many are under way when the unit with a note is taken the next time.
    noted_at: Option<u32>,
    under_way: u32,
    /// How many are at most.
    depth: u32,
}

impl Marks {
    /// Of a job with this queue depth.
    pub(super) fn new(is_needed: bool, depth: u32) -> Self {
        Self { is_needed, is_told: true, noted_at: None, under_way: 0, depth }
    }

    /// Whether the request marks its blocks.
    #[inline]
    pub(super) fn marks(&self) -> bool {
        self.is_told || !self.is_needed
    }

    /// It does not.
    #[inline]
    pub(super) fn leave_out(&mut self) {
        self.is_told = false;
    }

    /// Nothing is under way when a pass begins.
    pub(super) fn begin_pass(&mut self) {
        self.under_way = 0;
    }

    /// The next request takes a unit.
    #[inline]
    pub(super) fn begin_request(&mut self) {
        if self.is_needed {
            self.is_told = self.noted_at != Some(self.under_way);
            self.noted_at = self.noted_at.filter(|_| self.is_told);
        }
    }

    /// It is issued, and queued or complete at once. Where the queue is full, one is complete before the next.
    #[inline]
    pub(super) fn issue(&mut self, is_queued: bool) {
        if self.is_needed && is_queued && self.under_way + 1 < self.depth {
            self.under_way += 1;
        }
    }

    /// It finds no place.
    pub(super) fn give_up(&mut self) {
        if self.is_needed && !self.is_told {
            self.noted_at = Some(self.under_way);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_stays_in_its_unit() {
        let mut marks = Marks::new(true, 3);
        for _ in 0..5 {
            marks.begin_request();
            assert!(marks.marks());
            marks.issue(true);
        }
        // Two are under way, so the third unit has the note.
        marks.begin_request();
        marks.leave_out();
        marks.give_up();
        marks.begin_pass();
        let after = [0; 5].map(|_| {
            marks.begin_request();
            marks.issue(true);
            marks.marks()
        });
        assert_eq!(after, [true, true, false, true, true]);
    }
}

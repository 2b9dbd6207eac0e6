//! The length of a queue over time.

/// A number over time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Length {
    now: u64,
    present: u64,
    most: u64,
    /// Its integral over time, in nanoseconds.
    integral: u128,
}

impl Length {
    /// Nothing is there, and time begins here.
    pub(crate) fn beginning_at(now: u64) -> Self {
        Self { now, ..Self::default() }
    }

    /// Its integral over time, in nanoseconds.
    pub(crate) fn integral(&self) -> u128 {
        self.integral
    }

    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    #[inline]
    pub(crate) fn pass(&mut self, until: u64) {
        self.integral += u128::from(self.present) * u128::from(until - self.now);
        self.now = until;
    }

    #[inline]
    pub(crate) fn join(&mut self) {
        self.present += 1;
        self.most = self.most.max(self.present);
    }

    #[inline]
    pub(crate) fn leave(&mut self, at: u64) {
        self.pass(at);
        self.present -= 1;
    }
}

//! Work of the FTL while the host asks for nothing.

/// Whether there is such work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Idle {
    /// Whether there ever is.
    works: bool,
    /// Whether there is none before the next request.
    rests: bool,
}

impl Idle {
    pub(super) fn new(works: bool) -> Self {
        Self { works, rests: false }
    }

    /// Whether there may be some at present.
    #[inline]
    pub(super) fn may_work(self) -> bool {
        self.works && !self.rests
    }

    /// There is nothing to do before the next request.
    pub(super) fn rest(&mut self) {
        self.rests = true;
    }

    /// A request has arrived.
    #[inline]
    pub(super) fn wake(&mut self) {
        self.rests = false;
    }
}

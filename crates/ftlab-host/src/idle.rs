//! Work of the FTL while the host asks for nothing.

/// Whether there is such work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Idle {
    /// Whether there ever is.
    works: bool,
    /// Whether there is none before the next request.
    rests: bool,
}

impl Idle {
    pub(crate) fn new(works: bool) -> Self {
        Self { works, rests: false }
    }

    /// Whether there may be some at present.
    #[inline]
    pub(crate) fn may_work(self) -> bool {
        self.works && !self.rests
    }

    /// There is nothing to do before the next request.
    pub(crate) fn rest(&mut self) {
        self.rests = true;
    }

    /// A request has arrived.
    #[inline]
    pub(crate) fn wake(&mut self) {
        self.rests = false;
    }
}

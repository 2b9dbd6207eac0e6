//! What an observer of a run has watched.

use crate::page_ages::PageAges;
use crate::steps::{Recorder, Step};
use crate::watch::{PageWatch, Watch};
use ftlab_ftl::Observer;

/// An observer of a run: what it has watched.
pub(crate) trait Watching: Observer {
    /// Victims and erases.
    fn watch(&self) -> &Watch;

    /// How long pages last, if that is watched.
    fn ages(&self) -> Option<&PageAges> {
        None
    }

    /// The same, to change it.
    fn ages_mut(&mut self) -> Option<&mut PageAges> {
        None
    }

    /// Every step, in order, if steps are recorded.
    fn steps(&self) -> &[Step] {
        &[]
    }
}

impl Watching for Watch {
    fn watch(&self) -> &Watch {
        self
    }
}

impl Watching for PageWatch {
    fn watch(&self) -> &Watch {
        &self.watch
    }

    fn ages(&self) -> Option<&PageAges> {
        self.ages.as_ref()
    }

    fn ages_mut(&mut self) -> Option<&mut PageAges> {
        self.ages.as_mut()
    }
}

impl Watching for Recorder {
    fn watch(&self) -> &Watch {
        &self.watch
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }
}

//! What an observer of a run has watched.

use crate::page_ages::PageAges;
use crate::steps::{Step, StepRecorder};
use crate::watch::Watch;
use ftlab_ftl::Observer;

/// An observer of a run: what it has watched.
pub(crate) trait Watching: Observer {
    /// Victims and erases.
    fn watch(&self) -> &Watch;

    /// How long pages last, if that is watched.
    fn ages(&self) -> Option<&PageAges> {
        None
    }

    /// How long pages last, to change it.
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

impl Watching for (Watch, Option<PageAges>) {
    fn watch(&self) -> &Watch {
        &self.0
    }

    fn ages(&self) -> Option<&PageAges> {
        self.1.as_ref()
    }

    fn ages_mut(&mut self) -> Option<&mut PageAges> {
        self.1.as_mut()
    }
}

impl Watching for (Watch, StepRecorder) {
    fn watch(&self) -> &Watch {
        &self.0
    }

    fn steps(&self) -> &[Step] {
        &self.1.steps
    }
}

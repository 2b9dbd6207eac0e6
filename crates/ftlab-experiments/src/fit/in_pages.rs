//! A measured series by the pages that the host wrote, instead of by the bytes that it sent.

use super::question::Question;
use super::series::Measured;
use crate::error::ExperimentsError;
use crate::parallel::Stop;
use ftlab_sim::{Experiment, Logical, Progress, SimError, Status};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// The series by capacity; empty if the host writes whole pages.
pub(super) struct InPages(Vec<(u64, Measured)>);

impl InPages {
    /// That of a question, from a pass over its workload for each capacity.
    pub(super) fn new(question: &Question) -> Result<Self, ExperimentsError> {
        let mut all = Vec::new();
        for &capacity in &question.capacities {
            if let Some(measured) = in_pages(question, capacity)? {
                all.push((capacity, measured));
            }
        }
        Ok(Self(all))
    }

    /// The beginning of the series that has as many samples as `measured`, on a drive of `capacity`.
    pub(super) fn of<'a>(&self, measured: &'a Measured, capacity: u64) -> Cow<'a, Measured> {
        match self.0.iter().find(|(own, _)| *own == capacity) {
            Some((_, pages)) => Cow::Owned(pages.first(measured.samples())),
            None => Cow::Borrowed(measured),
        }
    }
}

fn in_pages(question: &Question, capacity: u64) -> Result<Option<Measured>, ExperimentsError> {
    let workload = question.base.workload.of_capacity(capacity)?;
    let mut experiment = Experiment { workload, threads: Some(1), ..question.base.clone() };
    experiment.drive.logical = Logical::Pages(u64::from(question.pages));
    // Bytes of the real drive for each page of the simulated one.
    let page = capacity as f64 / f64::from(question.pages);
    let smaller = f64::from(experiment.drive.page_bytes) / page;
    let wanted: Vec<f64> =
        question.measured.host_after_first().iter().map(|bytes| bytes * smaller).collect();
    let writes = match experiment.page_writes_at(&wanted, &mut Watch(&question.stop)) {
        Ok(Some(writes)) => writes,
        Err(SimError::Stopped) => return Err(SimError::Stopped.into()),
        // Whatever else is wrong is said of the first drive that is run.
        Ok(None) | Err(_) => return Ok(None),
    };
    let host = writes.into_iter().map(|writes| writes * page).collect();
    let unusable = |what: String| SimError::Unusable {
        what,
        remedy: "measure for longer, or check the workload and --page-size".into(),
    };
    Ok(Some(question.measured.with_host(host).map_err(unusable)?))
}

/// Ends a pass that is to stop.
struct Watch<'a>(&'a Stop);

impl Progress for Watch<'_> {
    fn update(&mut self, _: &Status) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

//! A measured series by the pages that the host wrote, instead of by the bytes that it sent.

use super::question::{Question, Series};
use super::series::Measured;
use crate::error::ExperimentsError;
use crate::parallel::Until;
use ftlab_sim::{Experiment, Logical, SimError};
use std::borrow::Cow;

/// The series by capacity; empty if the host writes whole pages.
pub(super) struct InPages(Vec<(u64, Measured)>);

impl InPages {
    /// That of a series, from a pass over its workload for each capacity.
    pub(super) fn new(question: &Question, series: &Series) -> Result<Self, ExperimentsError> {
        let mut all = Vec::new();
        for &capacity in &question.capacities {
            if let Some(measured) = in_pages(question, series, capacity)? {
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

fn in_pages(
    question: &Question,
    series: &Series,
    capacity: u64,
) -> Result<Option<Measured>, ExperimentsError> {
    let workload = series.base.workload.of_capacity(capacity)?;
    let mut experiment = Experiment { workload, threads: Some(1), ..series.base.clone() };
    experiment.drive.logical = Logical::Pages(u64::from(question.pages));
    // Bytes of the real drive for each page of the simulated one.
    let page = capacity as f64 / f64::from(question.pages);
    let smaller = f64::from(experiment.drive.page_bytes) / page;
    // The first number is that of before the series.
    let before = series.after as f64;
    let sent = series.measured.host().iter().map(|bytes| before + bytes);
    let wanted: Vec<f64> =
        std::iter::once(before).chain(sent).map(|bytes| bytes * smaller).collect();
    let writes = match experiment.page_writes_at(&wanted, &mut Until(&question.stop)) {
        Ok(Some(writes)) => writes,
        Err(SimError::Stopped) => return Err(SimError::Stopped.into()),
        // Whatever else is wrong is said of the first drive that is run.
        Ok(None) | Err(_) => return Ok(None),
    };
    let host = writes[1..].iter().map(|own| (own - writes[0]) * page).collect();
    let unusable = |what: String| SimError::Unusable {
        what,
        remedy: "measure for longer, or check the workload and --page-size".into(),
    };
    Ok(Some(series.measured.with_host(host).map_err(unusable)?))
}

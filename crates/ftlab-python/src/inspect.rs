//! `ftlab.inspect`.

use crate::error::{Error, Result};
use crate::experiment::space;
use crate::parse::Settings;
use crate::progress::Interruptible;
use crate::workload::Workload;
use ftlab_analysis::{Extent, InspectOptions, Inspection};
use ftlab_sim::Workload as SimWorkload;
use ftlab_spec::ByteSize;
use ftlab_trace::{TraceError, TraceSource};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// The statistics of a workload, as JSON.
#[pyfunction]
pub(crate) fn inspect(
    py: Python<'_>,
    workload: &Workload,
    settings: BTreeMap<String, String>,
) -> Result<String> {
    let mut settings = Settings::new(settings);
    let window = settings.by("window", str::parse)?;
    let memory: Option<ByteSize> = settings.parsed("memory")?;
    let writes = settings.value("writes")?;
    let phase = settings.text("phase");
    let (page_bytes, space) = space(&workload.inner, &mut settings)?;
    if writes.is_none() && !workload.inner.has_end()? {
        return Err(TraceError::Unsupported {
            what: format!("the generator {} has no end", workload.inner.name()),
            remedy: "give the number of writes to analyse, as in writes=1_000_000".into(),
        }
        .into());
    }
    let mut source = py.detach(|| workload.open_to_write(space.as_ref()))?;
    let default = InspectOptions::default();
    let options = InspectOptions {
        extent: Extent {
            page_bytes,
            range_us: phase.map(|phase| range_us(workload, source.as_ref(), &phase)).transpose()?,
            page_writes_max: writes,
            memory_bytes_max: memory.map_or(default.extent.memory_bytes_max, |memory| memory.0),
        },
        window: window.unwrap_or(default.window),
        drive_bytes: space.map(|space| space.logical_pages * u64::from(page_bytes)),
    };
    let mut watched = Interruptible::new(source.as_mut());
    let found = py.detach(|| ftlab_analysis::inspect(&mut watched, &options));
    let found = match (watched.raised.take(), found) {
        (Some(raised), Err(_)) => return Err(raised.into()),
        (_, found) => found.map_err(|error| workload.raised_or(error))?,
    };
    let found = Inspection { workload: workload.inner.name(), ..found };
    serde_json::to_string(&found)
        .map_err(|error| Error::from(PyRuntimeError::new_err(error.to_string())))
}

/// The start and end of a named phase of a trace.
fn range_us(workload: &Workload, source: &dyn TraceSource, phase: &str) -> Result<Range<u64>> {
    let SimWorkload::Trace { path, .. } = &workload.inner else {
        return Err(TraceError::Unsupported {
            what: format!("{} is not a trace and has no phase {phase:?}", workload.inner.name()),
            remedy: "omit phase".into(),
        }
        .into());
    };
    let metadata = source.metadata();
    let start_us = metadata.phase_start_us(path, phase)?;
    let later = metadata.phases_us().into_iter().map(|(_, time_us)| time_us);
    Ok(start_us..later.filter(|time_us| *time_us > start_us).min().unwrap_or(u64::MAX))
}

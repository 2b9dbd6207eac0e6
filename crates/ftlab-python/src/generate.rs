//! `ftlab.generate`: requests as Arrow tables.

use crate::arrow::to_table;
use crate::capsule::in_pyarrow;
use crate::error::Result;
use crate::experiment::space;
use crate::parse::Settings;
use crate::workload::Workload;
use arrow_array::RecordBatch;
use ftlab_trace::{RequestBatch, TraceSource};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The requests of a workload, a table at a time.
#[pyclass(frozen, module = "ftlab._core")]
pub(crate) struct RequestTables(Mutex<Left>);

struct Left {
    source: Box<dyn TraceSource>,
    batch: RequestBatch,
    /// Requests still to be returned.
    requests: u64,
}

#[pymethods]
impl RequestTables {
    /// The first `requests` of a workload, all if `None`, in tables of about `rows`.
    #[new]
    fn new(
        py: Python<'_>,
        workload: &Workload,
        settings: BTreeMap<String, String>,
        requests: Option<u64>,
        rows: usize,
    ) -> Result<Self> {
        let (_, space) = space(&workload.inner, &mut Settings::new(settings))?;
        let source = py.detach(|| workload.open(space.as_ref()))?;
        let batch = RequestBatch::with_limit(rows);
        Ok(Self(Mutex::new(Left { source, batch, requests: requests.unwrap_or(u64::MAX) })))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        let table = py.detach(|| -> Result<Option<RecordBatch>> {
            let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Left { source, batch, requests } = &mut *left;
            if *requests == 0 || !source.next_batch(batch)? {
                *requests = 0;
                return Ok(None);
            }
            batch.truncate(usize::try_from(*requests).unwrap_or(usize::MAX));
            *requests -= batch.len() as u64;
            let table = to_table(batch);
            table.map(Some).map_err(|error| PyValueError::new_err(error.to_string()).into())
        });
        match table? {
            Some(table) => Ok(Some(in_pyarrow(py, table)?)),
            None => Ok(None),
        }
    }
}

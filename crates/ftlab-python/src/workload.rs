//! Workloads as given in Python.

use crate::arrow::{Batches, Rows};
use crate::capsule::tables_of;
use crate::error::{Error, Result};
use crate::parse::Settings;
use arrow_array::RecordBatch;
use arrow_array::ffi_stream::ArrowArrayStreamReader;
use ftlab_sim::{Requests, Workload as SimWorkload};
use ftlab_spec::{ByteSize, Share};
use ftlab_trace::Space;
use ftlab_trace::{Layout, OpenOptions, TraceError, TraceSource, open};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A trace, a generator or a table, not yet opened.
#[pyclass(frozen, module = "ftlab._core")]
pub(crate) struct Workload {
    pub(crate) inner: SimWorkload,
    /// The exception of an iterator, if it raised one.
    raised: Raised,
}

/// An exception of the user's code, raised where it could not propagate.
pub(crate) type Raised = Arc<Mutex<Option<PyErr>>>;

/// Takes the exception, if there is one.
pub(crate) fn take(raised: &Raised) -> Option<PyErr> {
    raised.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Keeps the first exception.
pub(crate) fn keep(raised: &Raised, error: PyErr) {
    raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
}

impl From<SimWorkload> for Workload {
    fn from(inner: SimWorkload) -> Self {
        Self { inner, raised: Raised::default() }
    }
}

#[pymethods]
impl Workload {
    /// The trace or generator that `text` names.
    #[staticmethod]
    fn parse(text: &str) -> Result<Self> {
        Ok(SimWorkload::parse(text, OpenOptions::default())?.into())
    }

    /// The trace or the jobs of fio in a file; only `volumes` are kept, if any are given.
    #[staticmethod]
    fn trace(
        path: PathBuf,
        volumes: Vec<String>,
        settings: BTreeMap<String, String>,
    ) -> Result<Self> {
        let options = open_options(volumes, &mut Settings::new(settings))?;
        Ok(SimWorkload::file(&path, options)?.into())
    }

    /// An Arrow table; its columns are not copied.
    #[staticmethod]
    fn table(name: String, page_size: &str, table: &Bound<'_, PyAny>) -> Result<Self> {
        let page_bytes = page_bytes(page_size)?;
        let batches = tables_of(table)?.collect::<std::result::Result<Vec<_>, _>>();
        let batches: Arc<[RecordBatch]> =
            batches.map_err(|error| PyValueError::new_err(error.to_string()))?.into();
        let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        let requests = Requests::new(name.clone(), false, move || {
            let (held, mut next) = (Arc::clone(&batches), 0);
            let each: Batches = Box::new(std::iter::from_fn(move || {
                next += 1;
                held.get(next - 1).map(|batch| Ok(batch.clone()))
            }));
            Ok(Box::new(Rows::new(&name, page_bytes, each, Some(rows))))
        });
        Ok(SimWorkload::Requests(requests).into())
    }

    /// An iterator of Arrow tables, consumed once as the run proceeds.
    #[staticmethod]
    fn stream(name: String, page_size: &str, tables: &Bound<'_, PyIterator>) -> Result<Self> {
        let page_bytes = page_bytes(page_size)?;
        let raised = Raised::default();
        let tables = Tables {
            iterator: tables.clone().unbind(),
            present: None,
            raised: Arc::clone(&raised),
        };
        let once = Mutex::new(Some(tables));
        let requests = Requests::new(name.clone(), true, move || {
            let tables = once.lock().unwrap_or_else(PoisonError::into_inner).take();
            let tables = tables.ok_or_else(|| TraceError::Unsupported {
                what: format!("{name} has already been read"),
                remedy: "create a new iterator for each run".into(),
            })?;
            Ok(Box::new(Rows::new(&name, page_bytes, Box::new(tables), None)))
        });
        Ok(Self { inner: SimWorkload::Requests(requests), raised })
    }

    /// Its name in results.
    #[getter]
    fn name(&self) -> String {
        self.inner.name()
    }
}

impl Workload {
    /// Its requests; for a generator, which has no size of its own, those for `space`.
    pub(crate) fn open(&self, space: Option<&Space>) -> Result<Box<dyn TraceSource>> {
        Ok(match (&self.inner, space) {
            (SimWorkload::Trace { path, options }, _) => open(path, options)?,
            (SimWorkload::Requests(requests), _) => requests.open()?,
            (SimWorkload::Copies(copies), of) => {
                copies.open(of.map_or(4096, |space| space.page_bytes))?
            }
            (SimWorkload::Generator(spec), Some(space)) => ftlab_workload::build(spec, space)?,
            (SimWorkload::Generator(spec), None) => {
                return Err(Error::from(TraceError::Unsupported {
                    what: format!("the generator {spec} has no size of its own"),
                    remedy: "give the drive's, as in drive=\"8GiB\"".into(),
                }));
            }
        })
    }

    /// Opens it for a reader that ends after a number of written pages.
    pub(crate) fn open_to_write(&self, space: Option<&Space>) -> Result<Box<dyn TraceSource>> {
        match (&self.inner, space) {
            (SimWorkload::Generator(spec), Some(space)) => {
                Ok(ftlab_workload::build_to_write(spec, space)?)
            }
            _ => self.open(space),
        }
    }

    /// The exception that an iterator raised, instead of the error that it caused.
    pub(crate) fn raised_or(&self, error: impl Into<Error>) -> Error {
        take(&self.raised).map_or_else(|| error.into(), Error::from)
    }
}

fn page_bytes(text: &str) -> Result<u32> {
    let mut settings = Settings::new([("page_size".to_owned(), text.to_owned())].into());
    Ok(crate::experiment::page_bytes(&mut settings)?.unwrap_or(0))
}

/// The items of a Python iterator.
struct Tables {
    iterator: Py<PyIterator>,
    /// What is left of the last one.
    present: Option<ArrowArrayStreamReader>,
    raised: Raised,
}

impl Tables {
    /// Stores the exception for the caller that can raise it.
    fn stopped_by(&self, error: PyErr) -> TraceError {
        let message = error.to_string();
        keep(&self.raised, error);
        TraceError::Unsupported { what: message, remedy: "see the exception".into() }
    }
}

impl Iterator for Tables {
    type Item = std::result::Result<RecordBatch, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        Python::attach(|py| {
            loop {
                if let Some(batch) = self.present.as_mut().and_then(Iterator::next) {
                    let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()));
                    return Some(batch.map_err(|error| self.stopped_by(error)));
                }
                match self.iterator.bind(py).clone().next()?.and_then(|item| tables_of(&item)) {
                    Ok(tables) => self.present = Some(tables),
                    Err(error) => return Some(Err(self.stopped_by(error))),
                }
            }
        })
    }
}

fn open_options(volumes: Vec<String>, settings: &mut Settings) -> Result<OpenOptions> {
    let share: Option<Share> = settings.parsed("skip_bad")?;
    let side_by_side: Option<ByteSize> = settings.parsed("side_by_side")?;
    let compact: Option<ByteSize> = settings.parsed("compact")?;
    let pieces = compact.or(side_by_side).map(|size| Layout::Pieces(size.0));
    Ok(OpenOptions {
        format: settings.text("format"),
        map: settings.text("map"),
        skip_bad_percent: share.map_or(0.0, |share| 100.0 * share.0),
        volumes,
        layout: pieces.unwrap_or(Layout::ByFormat),
        assume_write: settings.flag("assume_write")?,
        ..OpenOptions::default()
    })
}

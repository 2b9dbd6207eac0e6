//! Where the writes of a run come from, as Python names it.

use crate::error::Result;
use crate::parse::Settings;
use ftlab_sim::Workload as SimWorkload;
use ftlab_spec::{ByteSize, Share};
use ftlab_trace::{Layout, OpenOptions};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A trace or a generator, not opened yet.
#[pyclass(frozen, module = "ftlab._core")]
pub(crate) struct Workload(pub(crate) SimWorkload);

#[pymethods]
impl Workload {
    /// A trace or a generator, whichever `text` names.
    #[staticmethod]
    fn parse(text: &str) -> Result<Self> {
        Ok(Self(SimWorkload::parse(text, OpenOptions::default())?))
    }

    /// The trace in a file; `volumes` are kept, or all.
    #[staticmethod]
    fn trace(
        path: PathBuf,
        volumes: Vec<String>,
        settings: BTreeMap<String, String>,
    ) -> Result<Self> {
        let options = open_options(volumes, &mut Settings::new(settings))?;
        Ok(Self(SimWorkload::Trace { path, options }))
    }

    /// Its name in results.
    #[getter]
    fn name(&self) -> String {
        self.0.name()
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

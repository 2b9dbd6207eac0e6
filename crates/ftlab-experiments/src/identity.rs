//! What tells runs apart, for stores of results.

use ftlab_sim::{Experiment, ExperimentIdentity, SimError, Workload, WorkloadIdentity};
use ftlab_trace::Contents;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Finds out what makes an experiment the one it is; looks at each workload once.
#[derive(Debug)]
pub(crate) struct Identities {
    pub(crate) contents: Arc<Contents>,
    /// By workload and page size.
    known: BTreeMap<(String, u32), WorkloadIdentity>,
}

impl Default for Identities {
    fn default() -> Self {
        Self::with(&Arc::new(Contents::of_user()))
    }
}

impl Identities {
    /// Of workloads whose files are looked up there.
    pub(crate) fn with(contents: &Arc<Contents>) -> Self {
        Self { contents: Arc::clone(contents), known: BTreeMap::new() }
    }

    /// What tells an experiment from any other, but for its FTLs.
    pub(crate) fn of(&mut self, experiment: &Experiment) -> Result<ExperimentIdentity, SimError> {
        let page_bytes = experiment.drive.page_bytes;
        let key = (format!("{:?}", experiment.workload), page_bytes);
        let workload = match self.known.get(&key) {
            Some(known) => known.clone(),
            None => experiment.workload.identity(page_bytes, &self.contents)?,
        };
        let identity = experiment.identity(&workload);
        self.known.insert(key, workload);
        identity
    }
}

/// The error of a workload that is no longer what it was when its run began.
pub(crate) fn changed(workload: &Workload) -> SimError {
    SimError::Changed { name: workload.name() }
}

/// What to say of a store that has results which are never used again, since another program made them.
pub fn not_reused(results: usize, store: &Path) -> Option<String> {
    let (are, them) = if results == 1 { ("result", "it") } else { ("results", "them") };
    (results > 0).then(|| {
        format!(
            "{results} {are} in {} will not be reused: a version of ftlab that decides otherwise made {them}",
            store.display()
        )
    })
}

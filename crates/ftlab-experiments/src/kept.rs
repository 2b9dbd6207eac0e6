//! Finished runs in a file of JSON lines, so that nothing is run twice.

use crate::error::ExperimentsError;
use ftlab_sim::{RunIdentity, other_versions};
use rustix::fs::{FlockOperation, flock};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Finished runs by key: `C` says to readers what was run, `R` is what came of it.
#[derive(Debug)]
pub struct Kept<C, R> {
    path: PathBuf,
    file: File,
    finished: HashMap<String, R>,
    /// Runs in which something else decided than in this program.
    others: usize,
    /// Whether the last line was torn, and the next one is to begin after it.
    is_torn: bool,
    of: PhantomData<C>,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line<C, R> {
    key: String,
    /// What wrote it.
    #[serde(default)]
    by: String,
    /// Of everything that decided.
    versions: String,
    cell: C,
    run: R,
}

/// What there is of a line whatever program wrote it.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    versions: String,
}

impl<C: Serialize + DeserializeOwned, R: Serialize + DeserializeOwned + Clone> Kept<C, R> {
    /// The file `name` in `directory`, which is made if it is not there. A line that was torn when a process
    /// was killed is passed over; what it would have told is run again.
    pub fn open(directory: &Path, name: &str) -> Result<Self, ExperimentsError> {
        let path = directory.join(name);
        let cannot = |source: io::Error| ExperimentsError::not_kept(&path, &source);
        fs::create_dir_all(directory).map_err(cannot)?;
        let file =
            OpenOptions::new().create(true).read(true).append(true).open(&path).map_err(cannot)?;
        let bytes = fs::read(&path).map_err(cannot)?;
        let is_other = other_versions();
        let (mut finished, mut others) = (HashMap::new(), 0);
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(head) = serde_json::from_slice::<Head>(line) else { continue };
            if is_other(&head.versions) {
                others += 1;
            } else if let Ok(line) = serde_json::from_slice::<Line<C, R>>(line) {
                finished.insert(line.key, line.run);
            }
        }
        let is_torn = bytes.last().is_some_and(|byte| *byte != b'\n');
        Ok(Self { path, file, finished, others, is_torn, of: PhantomData })
    }

    /// How many runs are there that are never used again, since something else decided than in this program.
    pub fn others(&self) -> usize {
        self.others
    }

    /// How many runs are finished.
    pub fn len(&self) -> usize {
        self.finished.len()
    }

    /// Whether no run is.
    pub fn is_empty(&self) -> bool {
        self.finished.is_empty()
    }

    /// What came of a run, if it is finished.
    pub fn get(&self, of: &RunIdentity) -> Option<R> {
        self.finished.get(&of.hash).cloned()
    }

    /// Keeps a finished run, before anything else is done with it.
    pub fn put(&mut self, of: &RunIdentity, cell: &C, run: &R) -> Result<(), ExperimentsError> {
        let (key, versions) = (of.hash.clone(), of.versions.clone());
        let line = Line { key, by: ftlab_spec::written_by(), versions, cell, run };
        let end_of_torn = if self.is_torn { "\n" } else { "" };
        let text = serde_json::to_string(&line).unwrap_or_default();
        let text = format!("{end_of_torn}{text}\n");
        self.add(text.as_bytes())
            .map_err(|source| ExperimentsError::not_kept(&self.path, &source))?;
        self.is_torn = false;
        self.finished.insert(of.hash.clone(), run.clone());
        Ok(())
    }
}

/// No other process of this program adds to the file meanwhile. Where files cannot be locked, readers pass over what
/// two have torn.
struct Alone<'a>(&'a File);

impl<'a> Alone<'a> {
    fn with(file: &'a File) -> Self {
        let _ = flock(file, FlockOperation::LockExclusive);
        Self(file)
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}

impl<C, R> Kept<C, R> {
    /// Adds a line, whole or not at all.
    fn add(&self, line: &[u8]) -> io::Result<()> {
        let _alone = Alone::with(&self.file);
        let mut file = &self.file;
        let before = file.metadata().map_or(u64::MAX, |file| file.len());
        file.write_all(line).inspect_err(|_| self.take_back(before, line))
    }

    /// Removes the beginning of `line`, which did not fit, unless another process has added to it.
    fn take_back(&self, before: u64, line: &[u8]) {
        let mut end = vec![0; line.len()];
        let bytes = self.file.read_at(&mut end, before).unwrap_or(0);
        let is_ours = bytes > 0 && line.starts_with(&end[..bytes]);
        if is_ours && self.file.metadata().is_ok_and(|file| file.len() == before + bytes as u64) {
            // Where that fails, readers pass over it.
            let _ = self.file.set_len(before);
        }
    }
}

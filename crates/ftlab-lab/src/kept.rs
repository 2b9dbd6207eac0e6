//! Finished runs in a file of JSON lines, so that nothing is run twice.

use crate::error::LabError;
use ftlab_sim::{Prepared, SimError, Workload};
use ftlab_trace::{TraceError, synthetic};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_128;

/// Finished runs by key: `C` says to readers what was run, `R` is what came of it.
#[derive(Debug)]
pub struct Kept<C, R> {
    path: PathBuf,
    file: File,
    finished: HashMap<String, R>,
    of: PhantomData<C>,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line<C, R> {
    key: String,
    /// What wrote it.
    #[serde(default)]
    by: String,
    cell: C,
    run: R,
}

impl<C: Serialize + DeserializeOwned, R: Serialize + DeserializeOwned + Clone> Kept<C, R> {
    /// The file `name` in `directory`, which is made if it is not there. A line that was torn when a process
    /// was killed is passed over; what it would have told is run again.
    pub fn open(directory: &Path, name: &str) -> Result<Self, LabError> {
        let path = directory.join(name);
        let cannot = |source: io::Error| LabError::not_kept(&path, &source);
        fs::create_dir_all(directory).map_err(cannot)?;
        let mut file =
            OpenOptions::new().create(true).read(true).append(true).open(&path).map_err(cannot)?;
        let bytes = fs::read(&path).map_err(cannot)?;
        let parsed = bytes.split(|byte| *byte == b'\n').filter_map(|line| {
            let line: Line<C, R> = serde_json::from_slice(line).ok()?;
            Some((line.key, line.run))
        });
        let finished = parsed.collect();
        if bytes.last().is_some_and(|byte| *byte != b'\n') {
            file.write_all(b"\n").map_err(cannot)?;
        }
        Ok(Self { path, file, finished, of: PhantomData })
    }

    /// How many runs are finished.
    pub fn len(&self) -> usize {
        self.finished.len()
    }

    /// Whether no run is.
    pub fn is_empty(&self) -> bool {
        self.finished.is_empty()
    }

    /// What came of the run with this key, if it is finished.
    pub(crate) fn get(&self, key: &str) -> Option<R> {
        self.finished.get(key).cloned()
    }

    /// Keeps a finished run, before anything else is done with it.
    pub(crate) fn put(&mut self, key: &str, cell: &C, run: &R) -> Result<(), LabError> {
        let line = Line { key: key.to_owned(), by: ftlab_spec::written_by(), cell, run };
        let mut text = serde_json::to_string(&line).unwrap_or_default();
        text.push('\n');
        let before = self.file.metadata().map_or(u64::MAX, |file| file.len());
        self.file.write_all(text.as_bytes()).map_err(|source| {
            self.take_back(before, text.as_bytes());
            LabError::not_kept(&self.path, &source)
        })?;
        self.finished.insert(key.to_owned(), run.clone());
        Ok(())
    }
}

impl<C, R> Kept<C, R> {
    /// Removes the beginning of `line`, which did not fit, unless another process added to it meanwhile.
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

/// What tells a trace or a generator from another of the same name: a hash of its bytes, or what it reads.
pub(crate) fn identity(workload: &Workload) -> Result<String, SimError> {
    let path = match workload {
        Workload::Trace { path, .. } => path,
        Workload::Generator(spec) => return Ok(synthetic::identity(spec)?),
        Workload::Requests(_) => return Ok(String::new()),
    };
    if workload.is_read_once() {
        return Err(SimError::Unusable {
            what: format!("{} can be read once only, and every run reads it", workload.name()),
            remedy: "convert it to a file first: ftlab convert - trace.parquet".into(),
        });
    }
    hash_file(path).map_err(|source| TraceError::Io { name: workload.name(), source }.into())
}

fn hash_file(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = XxHash3_128::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(format!("{:032x}", hasher.finish_128())),
            bytes => hasher.write(&buffer[..bytes]),
        }
    }
}

/// The key of a run: everything that decides its result, with the [`identity`] of its workload.
pub(crate) fn key(prepared: &Prepared, identity: &str) -> String {
    let format = prepared.config().format.clone().unwrap_or_default();
    let parts = [prepared.config_hash(), identity, format.as_str()];
    format!("{:032x}", XxHash3_128::oneshot(parts.join("\n").as_bytes()))
}

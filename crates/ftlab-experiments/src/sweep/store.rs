//! Where results are kept: Parquet files in a directory that any tool reads as one table.
//!
//! A run that is finished is written as a file of its own, which appears under its name when it is
//! complete; so a sweep that is killed loses none, and resumes where it stopped. From time to time these
//! small files are joined to one.

use super::columns::{Runs, StoredRun, decode, decode_heads, encode};
use super::compare::Results;
use super::plan::Plan;
use super::shard::Shard;
use crate::error::ExperimentsError;
use bytes::Bytes;
use ftlab_sim::other_versions;
use ftlab_trace::room;
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Files of single runs that are joined to one.
const PARTS_MAX: usize = 1000;
/// How the name of a file of joined runs begins.
const JOINED: &str = "runs";

/// Results of a sweep, to which finished runs are added. One process at a time adds to each shard.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
    shard: Shard,
    runs: BTreeSet<String>,
    /// Runs in which something else decided than in this program.
    others: usize,
    /// Files of this shard that are to be joined, in order.
    parts: Vec<PathBuf>,
    /// The number of the next file.
    next: u64,
    /// Held for as long as the store is open; the system frees it even if the process is killed.
    _lock: File,
}

impl Store {
    /// Opens the directory, which is made if it does not exist, to add the runs of a shard.
    pub fn open(directory: &Path, shard: Shard) -> Result<Self, ExperimentsError> {
        fs::create_dir_all(directory)
            .map_err(|error| ExperimentsError::not_kept(directory, &error))?;
        let lock = lock(directory, shard)?;
        let mut store = Self {
            directory: directory.into(),
            shard,
            runs: BTreeSet::new(),
            others: 0,
            parts: Vec::new(),
            next: 0,
            _lock: lock,
        };
        store.look()?;
        Ok(store)
    }

    /// How many runs are there that are never used again, since something else decided than in this program.
    pub fn others(&self) -> usize {
        self.others
    }

    /// Whether it has the result of a run.
    pub fn has(&self, run: &str) -> bool {
        self.runs.contains(run)
    }

    /// Adds runs whose Parquet file is `bytes`.
    pub(super) fn add(&mut self, runs: &[StoredRun], bytes: &[u8]) -> Result<(), ExperimentsError> {
        let path = self.write("part", bytes);
        let path = path.map_err(|(path, error)| ExperimentsError::not_kept(&path, &error))?;
        self.parts.push(path);
        self.runs.extend(runs.iter().map(|stored| stored.run.clone()));
        if self.parts.len() >= PARTS_MAX { self.join() } else { Ok(()) }
    }

    /// Adds runs that came as bytes ([`JobOutcome::encode`](super::JobOutcome::encode)), but for those
    /// that it has; returns how many it added.
    pub fn add_encoded(&mut self, bytes: &[u8]) -> Result<usize, ExperimentsError> {
        let runs = decode(Bytes::copy_from_slice(bytes), |run| !self.has(run));
        let bad = |error| ExperimentsError::store(&self.directory, &error);
        let runs = runs.map_err(bad)?;
        if !runs.is_empty() {
            let bytes = encode(&runs).map_err(bad)?;
            self.add(&runs, &bytes)?;
        }
        Ok(runs.len())
    }

    /// Joins the files of single runs to one.
    pub fn join(&mut self) -> Result<(), ExperimentsError> {
        if self.parts.len() < 2 {
            return Ok(());
        }
        let mut runs = Vec::new();
        for path in &self.parts {
            runs.extend(read(path, |_| true)?);
        }
        let bytes =
            encode(&runs).map_err(|error| ExperimentsError::store(&self.directory, &error))?;
        match self.write(JOINED, &bytes) {
            // The files of single runs are as good, and joined when there is room.
            Err((_, error)) if room(&error).is_some() => return Ok(()),
            written => {
                written.map_err(|(path, error)| ExperimentsError::not_kept(&path, &error))?
            }
        };
        // Whoever is killed here leaves rows twice; the next one to open the store removes them.
        for path in self.parts.drain(..) {
            fs::remove_file(&path).map_err(|error| ExperimentsError::store(&path, &error))?;
        }
        Ok(())
    }

    /// Writes a file so that it is complete or not there; if not, its name and why.
    fn write(&mut self, kind: &str, bytes: &[u8]) -> Result<PathBuf, (PathBuf, io::Error)> {
        let name = format!("{kind}-{}-{:06}", self.shard.in_names(), self.next);
        self.next += 1;
        let partial = self.directory.join(format!("{name}.partial"));
        let path = self.directory.join(format!("{name}.parquet"));
        let write = || {
            let mut file = File::create(&partial)?;
            file.write_all(bytes)?;
            // It replaces others, which are removed.
            if kind == JOINED {
                file.sync_data()?;
            }
            fs::rename(&partial, &path)
        };
        let written = write();
        match written {
            Ok(()) => Ok(path),
            Err(error) => {
                // Where that fails, the next process removes it.
                let _ = fs::remove_file(&partial);
                Err((path, error))
            }
        }
    }

    /// Finds out what is there, and removes what an earlier process left half done.
    fn look(&mut self) -> Result<(), ExperimentsError> {
        let own = self.shard.in_names();
        let is_other = other_versions();
        let mut joined = BTreeSet::new();
        // Files of joined runs come last in the alphabet, and parts are held against them.
        for path in files(&self.directory)?.into_iter().rev() {
            let name = file_name(&path);
            let number = number(&name, &own);
            self.next = self.next.max(number.map_or(0, |number| number + 1));
            if name.ends_with(".partial") {
                if number.is_some() {
                    fs::remove_file(&path)
                        .map_err(|error| ExperimentsError::store(&path, &error))?;
                }
                continue;
            }
            let heads = File::open(&path)
                .map_err(|error| ExperimentsError::store(&path, &error))
                .and_then(|file| {
                decode_heads(file).map_err(|error| unreadable(&path, &error))
            })?;
            let heads = match heads {
                Runs::Known(heads) => heads,
                Runs::OfAnother(runs) => {
                    self.others += runs;
                    continue;
                }
            };
            let others = heads.iter().filter(|[_, versions]| is_other(versions)).count();
            let hashes = heads.into_iter().map(|[run, _]| run);
            if others > 0 || number.is_none() || name.starts_with("runs-") {
                // What another program made stays as it is.
                self.others += others;
                joined.extend(hashes);
            } else if hashes.clone().all(|run| joined.contains(&run)) {
                fs::remove_file(&path).map_err(|error| ExperimentsError::store(&path, &error))?;
            } else {
                self.runs.extend(hashes);
                self.parts.push(path);
            }
        }
        self.parts.reverse();
        self.runs.extend(joined);
        Ok(())
    }
}

/// Every result in a directory, of all shards, by the hash of its run.
pub fn read_runs(directory: &Path) -> Result<Results, ExperimentsError> {
    read_some(directory, |_| true)
}

/// The results of the plan's runs, as far as they are in a directory.
pub fn read_runs_of(plan: &Plan, directory: &Path) -> Result<Results, ExperimentsError> {
    let wanted: BTreeSet<&str> = plan.points.iter().map(|point| point.run.as_str()).collect();
    read_some(directory, |run| wanted.contains(run))
}

fn read_some(
    directory: &Path,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Results, ExperimentsError> {
    let mut results = Results::new();
    for path in files(directory)? {
        if !file_name(&path).ends_with(".partial") {
            let runs = read(&path, &is_wanted)?.into_iter();
            results.extend(runs.map(|stored| (stored.run.clone(), stored)));
        }
    }
    Ok(results)
}

fn read(path: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<StoredRun>, ExperimentsError> {
    let file = File::open(path).map_err(|error| ExperimentsError::store(path, &error))?;
    decode(file, is_wanted).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &impl std::fmt::Display) -> ExperimentsError {
    let remedy = "delete the file, and its runs are repeated, or choose another --out";
    ExperimentsError::Store { path: path.into(), message: format!("{error}; {remedy}") }
}

/// Files of stores, in the order of their names.
fn files(directory: &Path) -> Result<Vec<PathBuf>, ExperimentsError> {
    let at = |error| ExperimentsError::store(directory, &error);
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(at)? {
        let path = entry.map_err(at)?.path();
        let name = file_name(&path);
        if name.starts_with("part-") || name.starts_with("runs-") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The number in the name of a file of a shard.
fn number(name: &str, shard: &str) -> Option<u64> {
    let rest = name.strip_prefix("part-").or_else(|| name.strip_prefix("runs-"))?;
    let number = rest.strip_prefix(shard)?.strip_prefix('-')?;
    number.split('.').next()?.parse().ok()
}

fn lock(directory: &Path, shard: Shard) -> Result<File, ExperimentsError> {
    let path = directory.join(format!(".lock-{}", shard.in_names()));
    let file = File::create(&path).map_err(|error| ExperimentsError::not_kept(&path, &error))?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|_| ExperimentsError::Store {
        path: directory.into(),
        message: format!(
            "another process is adding results of part {shard}; wait for it, or choose another --out"
        ),
    })?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_shards_are_not_taken_for_own_ones() {
        for (name, shard, expected) in [
            ("part-1-of-1-000012.parquet", "1-of-1", Some(12)),
            ("runs-1-of-1-000003.parquet", "1-of-1", Some(3)),
            ("part-1-of-1-000012.partial", "1-of-1", Some(12)),
            ("part-1-of-16-000012.parquet", "1-of-1", None),
            ("part-11-of-16-000012.parquet", "1-of-16", None),
            ("results.csv", "1-of-1", None),
        ] {
            assert_eq!(number(name, shard), expected, "{name}");
        }
    }
}

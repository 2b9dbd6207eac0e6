//! Finished cells in a file of JSON lines, so that nothing is run twice.

use super::cell::Cell;
use crate::error::LabError;
use ftlab_sim::result::RunResult;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file's name in its directory.
pub(super) const FILE: &str = "cells.jsonl";

/// Finished cells by key.
#[derive(Debug)]
pub struct CellStore {
    path: PathBuf,
    file: File,
    finished: HashMap<String, RunResult>,
}

/// A line of the file; the cell is there for readers.
#[derive(Serialize, Deserialize)]
struct Line<C, R> {
    key: String,
    cell: C,
    run: R,
}

impl CellStore {
    /// The store in `directory`, which is made if it is not there. A line that was torn when a process
    /// was killed is passed over; what it would have told is run again.
    pub fn open(directory: &Path) -> Result<Self, LabError> {
        let path = directory.join(FILE);
        let cannot = |source: io::Error| LabError::store(&path, &source);
        fs::create_dir_all(directory).map_err(cannot)?;
        let mut file =
            OpenOptions::new().create(true).read(true).append(true).open(&path).map_err(cannot)?;
        let bytes = fs::read(&path).map_err(cannot)?;
        let parsed = bytes.split(|byte| *byte == b'\n').filter_map(|line| {
            let line: Line<Cell, RunResult> = serde_json::from_slice(line).ok()?;
            Some((line.key, line.run))
        });
        let finished = parsed.collect();
        if bytes.last().is_some_and(|byte| *byte != b'\n') {
            file.write_all(b"\n").map_err(cannot)?;
        }
        Ok(Self { path, file, finished })
    }

    /// How many cells are finished.
    pub fn len(&self) -> usize {
        self.finished.len()
    }

    /// Whether no cell is.
    pub fn is_empty(&self) -> bool {
        self.finished.is_empty()
    }

    /// What came of the cell with this key, if it is finished.
    pub(super) fn get(&self, key: &str) -> Option<RunResult> {
        self.finished.get(key).cloned()
    }

    /// Keeps a finished cell, before anything else is done with it.
    pub(super) fn put(&mut self, key: &str, cell: &Cell, run: &RunResult) -> Result<(), LabError> {
        let line = Line { key: key.to_owned(), cell, run };
        let mut text = serde_json::to_string(&line).unwrap_or_default();
        text.push('\n');
        self.file
            .write_all(text.as_bytes())
            .map_err(|source| LabError::store(&self.path, &source))?;
        self.finished.insert(key.to_owned(), run.clone());
        Ok(())
    }
}

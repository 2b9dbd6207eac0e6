//! Cells of a manifest, run on all processors and kept as soon as each is finished.

use crate::manifest::{Cell, Manifest};
use crate::plan::{Fleet, Means};
use ftlab_experiments::sweep::Shard;
use ftlab_experiments::{ExperimentsError, Kept, lock, parallel, when_it_fits, without_series};
use ftlab_sim::result::{DriveSummary, RunResult};
use ftlab_sim::{Experiment, MemoryShare, SimError};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The name of the file of finished cells.
pub const CELLS: &str = "cells.jsonl";

/// What a cell was, for readers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellName {
    /// The volume.
    pub volume: String,
    /// Over-provisioning as asked for.
    pub op_ratio: f64,
    /// The FTL as it was named.
    pub ftl: String,
}

/// What came of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellResult {
    /// What the FTL did, without its running series.
    pub run: RunResult,
    /// The drive.
    pub drive: DriveSummary,
    /// XXH3-128 of the requests that were taken.
    pub trace_hash: String,
}

/// What came of a cell, by its number; why there is nothing, if it failed.
pub type Outcome = (usize, Result<CellResult, String>);

/// Is told of every cell that is finished: how many there are by now, of how many, its name and what came of it.
pub type OnCell<'a> = &'a (dyn Fn(usize, usize, &CellName, &Result<CellResult, String>) + Sync);

type Store = Kept<CellName, CellResult>;

/// Runs the cells of a shard that are not finished; the outcomes of the shard, in the order of cells.
pub fn run(
    fleet: &Fleet,
    manifest: &Manifest,
    means: &Means,
    shard: Shard,
    on_cell: OnCell<'_>,
) -> Result<Vec<Outcome>, ExperimentsError> {
    let store = Mutex::new(Store::open(&means.directory, CELLS)?);
    let parts = means.parts();
    let work: Vec<_> = manifest.cells.iter().map(|cell| work(manifest, cell)).collect();
    // The largest first, so that no processor is left alone with one of them at the end.
    let numbers = shard.of_work(&work);
    let (done, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let runner = Runner { fleet, manifest, parts: &parts, store: &store };
    let outcomes = parallel(means.threads, &numbers, |number| {
        if has_failed.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let cell = &manifest.cells[*number];
        let outcome = runner.outcome(cell);
        match &outcome {
            Ok(run) => {
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                on_cell(done, numbers.len(), &manifest.name(cell), run);
            }
            // What cannot be kept need not be computed.
            Err(_) => has_failed.store(true, Ordering::Relaxed),
        }
        outcome.map(|run| Some((*number, run)))
    });
    let outcomes: Result<Vec<_>, ExperimentsError> = outcomes.into_iter().collect();
    let mut outcomes: Vec<Outcome> = outcomes?.into_iter().flatten().collect();
    outcomes.sort_by_key(|(number, _)| *number);
    Ok(outcomes)
}

/// How many cells of a manifest are finished.
pub fn finished(manifest: &Manifest, directory: &Path) -> Result<usize, ExperimentsError> {
    let store = Store::open(directory, CELLS)?;
    let is_finished =
        |cell: &&Cell| manifest.identity(cell).is_ok_and(|of| store.get(&of).is_some());
    Ok(manifest.cells.iter().filter(is_finished).count())
}

/// Page writes of a cell, its fill among them, about.
fn work(manifest: &Manifest, cell: &Cell) -> u64 {
    let volume = manifest.drive(cell.drive);
    volume.facts.as_ref().map_or(0, |facts| facts.page_writes) + volume.volume.end_sector / 8
}

impl Manifest {
    /// The name of a cell.
    pub fn name(&self, cell: &Cell) -> CellName {
        CellName {
            volume: self.drive(cell.drive).volume.name.clone(),
            op_ratio: self.op_ratios[cell.op],
            ftl: self.ftls[cell.ftl].clone(),
        }
    }
}

struct Runner<'a> {
    fleet: &'a Fleet,
    manifest: &'a Manifest,
    parts: &'a Path,
    store: &'a Mutex<Store>,
}

impl Runner<'_> {
    /// What is kept of a cell, or what comes of running it; an error if that cannot be kept.
    fn outcome(&self, cell: &Cell) -> Result<Result<CellResult, String>, ExperimentsError> {
        let identity = match self.manifest.identity(cell) {
            Ok(identity) => identity,
            Err(why) => return self.failed(cell, why),
        };
        if let Some(known) = lock(self.store).get(&identity) {
            return Ok(Ok(known));
        }
        let experiment = Experiment {
            ftls: vec![self.fleet.ftls[cell.ftl].clone()],
            ..self.fleet.experiment(self.manifest, cell.drive, cell.op, self.parts)
        };
        let layout_bytes = self.fleet.reading_bytes(self.manifest, cell.drive);
        let attempt = || {
            let _share = (layout_bytes > 0).then(|| MemoryShare::new(layout_bytes)).transpose()?;
            experiment.run(&mut ())
        };
        let mut result = match when_it_fits(|| false, attempt) {
            Ok(result) => result,
            Err(error) => return self.failed(cell, error.to_string()),
        };
        let mut run = result.runs.remove(0);
        without_series(&mut run);
        let result = CellResult { run, drive: result.config.drive, trace_hash: result.trace_hash };
        lock(self.store).put(&identity, &self.manifest.name(cell), &result)?;
        Ok(Ok(result))
    }

    fn failed(
        &self,
        cell: &Cell,
        why: String,
    ) -> Result<Result<CellResult, String>, ExperimentsError> {
        if !self.fleet.strict {
            return Ok(Err(why));
        }
        let CellName { volume, ftl, .. } = self.manifest.name(cell);
        Err(SimError::Unusable {
            what: format!("volume {volume} with {ftl}: {why}"),
            remedy: "without --strict it is named, and the rest is run".into(),
        }
        .into())
    }
}

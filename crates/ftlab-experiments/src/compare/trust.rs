//! What a scoreboard rests on: its evidence, what was taken for granted, and whether blocks of other sizes say the same.

use super::cell::{Cell, Outcome};
use super::comparison::Comparison;
use super::score::Scoreboard;
use super::store::CellStore;
use crate::error::ExperimentsError;
use ftlab_sim::format::{percent, significant};
use ftlab_sim::result::DriveSummary;
use ftlab_sim::result::RunResult;
use ftlab_sim::trust::{BlockSize, BlockSizes, Trust, drive_of, full_drive};
use ftlab_sim::{DriveClass, DriveOptions, Fill, compared_wafs, small_blocks};
use ftlab_spec::Share;

/// Write amplifications closer than this are level: no order of two FTLs turns round.
const LEVEL: f64 = 0.005;

/// Two FTLs in a cell, and the pages of its blocks.
struct Duel {
    cells: [Cell; 2],
    workload: usize,
    drive: DriveSummary,
}

impl Comparison {
    /// The scoreboard with its trust line. The two FTLs that do best run once more in one of their cells, with blocks of
    /// half and of double the size; `store` keeps that.
    pub fn with_trust(
        &self,
        mut board: Scoreboard,
        store: CellStore,
        threads: usize,
    ) -> Result<Scoreboard, ExperimentsError> {
        let duel = self.duel(&board);
        let assumed = self.assumed(duel.as_ref().map(|duel| &duel.drive));
        match &self.models {
            Some((class, _)) => board.drive = Some(class.to_string()),
            None => board.caveats.extend(duel.as_ref().and_then(|duel| small_blocks(&duel.drive))),
        }
        let sizes = duel.map(|duel| self.fight(&duel, store, threads)).transpose()?;
        let trust = Trust { assumed, ..std::mem::take(&mut board.trust) };
        board.trust = trust.with_block_sizes(sizes);
        Ok(board)
    }

    /// What was not asked for, and taken for granted, on a `drive` in the middle.
    fn assumed(&self, drive: Option<&DriveSummary>) -> Vec<String> {
        let fill = (self.fills == [Fill::default()]).then(full_drive);
        let of_drive = match (&self.models, drive) {
            (Some((class, _)), _) => class.assumed().into_iter().collect(),
            (None, Some(drive)) => {
                let are_asked = self.pages_per_block != [None];
                let pages_per_block = are_asked.then_some(drive.pages_per_block);
                drive_of(&DriveOptions { pages_per_block, ..self.base.drive.clone() }, drive)
            }
            (None, None) => vec!["blocks of the usual size".into()],
        };
        fill.into_iter().chain(of_drive).collect()
    }

    /// The two FTLs that do best, in the middle one of the cells that both have.
    fn duel(&self, board: &Scoreboard) -> Option<Duel> {
        let [best, second] = board.leaders()?;
        let of = |cell: &Cell, ftl: &str| Cell { ftl: ftl.to_owned(), ..cell.clone() };
        let has = |cell: &Cell| second.by_cell.iter().any(|(other, _)| other == cell);
        let cells = best.by_cell.iter().map(|(cell, _)| cell);
        let both: Vec<_> = cells.filter(|cell| has(&of(cell, &second.ftl))).collect();
        let cell = *both.get(both.len() / 2)?;
        let workload = self.workloads.iter().position(|of| of.name() == cell.workload)?;
        let prepared = self.experiment(cell, workload).ok()?.prepare().ok()?;
        Some(Duel {
            cells: [cell.clone(), of(cell, &second.ftl)],
            workload,
            drive: prepared.config().drive.clone(),
        })
    }

    /// Who is ahead with blocks of half and of double the size.
    fn fight(
        &self,
        duel: &Duel,
        store: CellStore,
        threads: usize,
    ) -> Result<BlockSizes, ExperimentsError> {
        let [best, second] = &duel.cells;
        let pages = duel.drive.pages_per_block;
        let workload = &self.workloads[duel.workload];
        let ftls = [&best.ftl, &second.ftl].map(|ftl| ftl.parse());
        let mut question = Self {
            ftls: ftls.into_iter().collect::<Result<_, _>>().map_err(ftlab_sim::SimError::from)?,
            fills: vec![best.fill.parse().map_err(ftlab_sim::SimError::from)?],
            op_ratios: vec![Share(best.op_ratio)],
            ..self.clone()
        };
        if let Some(mapping) = &best.mapping {
            question.base.drive.mapping = mapping.parse().map_err(ftlab_sim::SimError::from)?;
        }
        let sizes = [0.5, 2.0].map(|times| (times, (f64::from(pages) * times) as u32));
        let (sizes, question): (Vec<u32>, Self) = match &self.models {
            None => {
                let sizes: Vec<u32> =
                    sizes.into_iter().map(|(_, pages)| pages).filter(|pages| *pages >= 2).collect();
                let pages_per_block = sizes.iter().copied().map(Some).collect();
                let workloads = vec![workload.clone()];
                (sizes, Self { workloads, pages_per_block, ..question })
            }
            Some((class, _)) => {
                let some = sizes.into_iter();
                let some =
                    some.filter_map(|(times, pages)| Some((pages, class.with_units(times)?)));
                let (sizes, classes): (Vec<u32>, Vec<DriveClass>) = some.unzip();
                (sizes, question.on_each(&classes, workload)?)
            }
        };
        let outcomes = question.run(store, threads, &|_, _, _| ())?;
        let tried = sizes.iter().zip(outcomes.chunks(2)).map(|(pages, pair)| of_size(*pages, pair));
        let what = format!(
            "{} ahead of {} under {} with {} of over-provisioning",
            best.name(),
            second.name(),
            best.workload,
            percent(best.op_ratio)
        );
        Ok(BlockSizes::new(what, pages, tried.collect()))
    }
}

/// Whether the first of two is still ahead, or level.
fn of_size(pages_per_block: u32, pair: &[Outcome]) -> BlockSize {
    let runs: Vec<&RunResult> = pair.iter().filter_map(|one| one.run.as_ref().ok()).collect();
    let [best, second] = compared_wafs(&runs)[..] else {
        let found = "there is no result".into();
        return BlockSize { pages_per_block, is_same: None, found };
    };
    let [a, b] = [&pair[0], &pair[1]].map(|one| one.cell.name());
    BlockSize {
        pages_per_block,
        is_same: Some(best <= second * (1.0 + LEVEL)),
        found: format!("{a} has {} and {b} {}", significant(best, 4), significant(second, 4)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CELLS, Scoreboard};
    use super::*;
    use crate::parallel::Stop;
    use ftlab_sim::{DriveOptions, Experiment, Length, Logical, Workload};

    #[test]
    fn the_leaders_run_with_blocks_of_half_and_double_the_size() {
        let workload = Workload::parse("hotcold", ftlab_trace::OpenOptions::default()).unwrap();
        let base = Experiment {
            drive: DriveOptions { logical: Logical::Pages(4096), ..DriveOptions::default() },
            length: Length::DriveWrites(4.0),
            ..Experiment::new(workload.clone(), Vec::new())
        };
        let comparison = Comparison {
            base,
            workloads: vec![workload],
            ftls: ["1r-greedy", "sepbit"].map(|ftl| ftl.parse().unwrap()).to_vec(),
            fills: vec![Fill::Sequential],
            op_ratios: vec![Share(0.2)],
            pages_per_block: vec![None],
            models: None,
            stop: Stop::default(),
        };
        let place = tempfile::tempdir().unwrap();
        let store = || CellStore::open(place.path(), CELLS).unwrap();
        let outcomes = comparison.run(store(), 2, &|_, _, _| ()).unwrap();
        let board = Scoreboard::new(&outcomes, &["1r-greedy".into()]);
        let board = comparison.with_trust(board, store(), 2).unwrap();
        let trust = &board.trust;
        let sizes = trust.block_sizes.as_ref().unwrap();
        let pages: Vec<_> = sizes.tried.iter().map(|one| one.pages_per_block).collect();
        assert_eq!((sizes.pages_per_block, pages), (8, vec![4, 16]));
        assert_eq!(
            sizes.what,
            "sepbit ahead of 1r-greedy under hotcold with 20% of over-provisioning"
        );
        assert!(sizes.is_same && trust.line.contains("the same answer with blocks"), "{trust:?}");
        let end =
            "assumed: a drive filled in order, blocks of 8 pages (32 KiB), which span all LUNs.";
        assert!(trust.line.ends_with(end), "{}", trust.line);
        assert!(board.caveats[0].starts_with("The drive is 16 MiB in blocks of 8 pages (32 KiB)"));
        // What was run for it is not run again.
        assert_eq!(store().len(), 6);
    }
}

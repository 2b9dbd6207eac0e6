//! What a scoreboard rests on: its evidence, what was taken for granted, and whether blocks of other sizes say the same.

use super::cell::{Cell, Outcome};
use super::comparison::Comparison;
use super::score::Scoreboard;
use super::store::CellStore;
use crate::error::ExperimentsError;
use ftlab_sim::format::{percent, significant};
use ftlab_sim::result::RunResult;
use ftlab_sim::trust::{BlockSize, BlockSizes, Trust, blocks_of, full_drive};
use ftlab_sim::{Fill, compared_wafs};
use ftlab_spec::Share;

/// Write amplifications closer than this are level: no order of two FTLs turns round.
const LEVEL: f64 = 0.005;

/// Two FTLs in a cell, and the pages of its blocks.
struct Duel {
    cells: [Cell; 2],
    workload: usize,
    pages_per_block: u32,
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
        let mut assumed = Vec::new();
        if self.fills == [Fill::default()] {
            assumed.push(full_drive());
        }
        if self.pages_per_block == [None] {
            let pages = duel.as_ref().map(|duel| blocks_of(duel.pages_per_block));
            assumed.push(pages.unwrap_or_else(|| "blocks of the usual size".into()));
        }
        let sizes = duel.map(|duel| self.fight(&duel, store, threads)).transpose()?;
        let trust = Trust { assumed, ..std::mem::take(&mut board.trust) };
        board.trust = trust.with_block_sizes(sizes);
        Ok(board)
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
            pages_per_block: prepared.config().drive.pages_per_block,
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
        let pages = duel.pages_per_block;
        let sizes: Vec<u32> =
            [pages / 2, pages * 2].into_iter().filter(|pages| *pages >= 2).collect();
        let ftls = [&best.ftl, &second.ftl].map(|ftl| ftl.parse());
        let question = Self {
            workloads: vec![self.workloads[duel.workload].clone()],
            ftls: ftls.into_iter().collect::<Result<_, _>>().map_err(ftlab_sim::SimError::from)?,
            fills: vec![best.fill.parse().map_err(ftlab_sim::SimError::from)?],
            op_ratios: vec![Share(best.op_ratio)],
            pages_per_block: sizes.iter().copied().map(Some).collect(),
            ..self.clone()
        };
        let outcomes = question.run(store, threads, &|_, _, _| ())?;
        let tried = sizes.iter().zip(outcomes.chunks(2)).map(|(pages, pair)| of_size(*pages, pair));
        let what = format!(
            "{} ahead of {} under {} with {} of over-provisioning",
            best.ftl,
            second.ftl,
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
    let [a, b] = [&pair[0].cell.ftl, &pair[1].cell.ftl];
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
        let end = "assumed: a drive filled in order, blocks of 8 pages.";
        assert!(trust.line.ends_with(end), "{}", trust.line);
        // What was run for it is not run again.
        assert_eq!(store().len(), 6);
    }
}

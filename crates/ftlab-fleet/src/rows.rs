//! One row for each volume, over-provisioning and FTL.

use crate::cells::{CellResult, Outcome};
use crate::manifest::{Manifest, Pack, PlannedVolume};
use ftlab_sim::compared_wafs;
use ftlab_sim::result::{RunResult, Standing};
use ftlab_volumes::Facts;
use serde::{Deserialize, Serialize};

/// What a row rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Its numbers are compared, and enter means.
    Evidence,
    /// No block was erased: the volume never fills its drive.
    NeverFills,
    /// It was run, and is too short to conclude from.
    TooLittle,
    /// It could not be run.
    Failed,
    /// The condition left it out.
    NotSelected,
    /// It could not be looked at.
    Unreadable,
}

impl State {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Evidence => "evidence",
            Self::NeverFills => "never fills",
            Self::TooLittle => "too little",
            Self::Failed => "failed",
            Self::NotSelected => "not selected",
            Self::Unreadable => "unreadable",
        }
    }
}

/// A row.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// The volume, or what those of the pack come to.
    pub volume: &'a PlannedVolume,
    /// The pack, if several volumes share the drive.
    pub pack: Option<&'a Pack>,
    /// Over-provisioning as asked for.
    pub op_ratio: f64,
    /// The FTL as it was named.
    pub ftl: &'a str,
    /// What it rests on.
    pub state: State,
    /// Why it is no evidence; all that is wrong with the volume.
    pub why: String,
    /// What came of it.
    pub result: Option<&'a CellResult>,
    /// The write amplification by which it is compared; none unless all FTLs of the volume have evidence.
    pub compared: Option<f64>,
    /// How much less than with the baseline is written, as a share of that; none without two runs of evidence.
    pub reduction: Option<f64>,
}

impl<'a> Row<'a> {
    /// What is in the volume. Of a pack, amounts have meaning, and shares have none.
    pub fn facts(&self) -> Option<&'a Facts> {
        self.volume.facts.as_ref()
    }

    /// What is in the volume, if it is a single one.
    pub fn own_facts(&self) -> Option<&'a Facts> {
        self.facts().filter(|_| self.pack.is_none_or(|pack| pack.members.len() == 1))
    }

    /// By what volumes were put together.
    pub fn order(&self) -> Option<&'a str> {
        self.pack.map(|pack| pack.order.as_str())
    }

    /// The run, if it is evidence.
    pub fn evidence(&self) -> Option<&'a RunResult> {
        self.result.map(|result| &result.run).filter(|_| self.state == State::Evidence)
    }
}

/// Every row: FTLs within over-provisioning within drives. Runs are held against those of `baseline`.
pub fn rows<'a>(manifest: &'a Manifest, outcomes: &'a [Outcome], baseline: &str) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    let mut next = outcomes.iter().peekable();
    let mut cells = manifest.cells.iter().enumerate().peekable();
    for (number, volume) in manifest.drives().into_iter().enumerate() {
        for (op, op_ratio) in manifest.op_ratios.iter().enumerate() {
            let begin = rows.len();
            for (ftl, name) in manifest.ftls.iter().enumerate() {
                let is_it = |(_, cell): &(usize, &crate::manifest::Cell)| {
                    (cell.drive, cell.op, cell.ftl) == (number, op, ftl)
                };
                let cell = cells.next_if(is_it).map(|(cell, _)| cell);
                let outcome = cell.and_then(|cell| next.next_if(|(of, _)| *of == cell));
                let run = outcome.map(|(_, run)| run);
                rows.push(Row {
                    pack: manifest.packs.get(number),
                    ..row(volume, *op_ratio, name, run)
                });
            }
            compare(&mut rows[begin..], baseline);
        }
    }
    rows
}

fn row<'a>(
    volume: &'a PlannedVolume,
    op_ratio: f64,
    ftl: &'a str,
    outcome: Option<&'a Result<CellResult, String>>,
) -> Row<'a> {
    let (state, why) = match outcome {
        Some(Ok(result)) => judge(&result.run),
        Some(Err(why)) => (State::Failed, Some(why.clone())),
        None if volume.facts.is_none() => (State::Unreadable, None),
        None => (State::NotSelected, None),
    };
    let all: Vec<_> = why.into_iter().chain(volume.volume.problems.iter().cloned()).collect();
    let result = outcome.and_then(|outcome| outcome.as_ref().ok());
    Row {
        volume,
        pack: None,
        op_ratio,
        ftl,
        state,
        why: all.join("; "),
        result,
        compared: None,
        reduction: None,
    }
}

fn judge(run: &RunResult) -> (State, Option<String>) {
    let Some(evidence) = &run.evidence else { return (State::TooLittle, None) };
    match evidence.standing {
        Standing::None if run.erases == 0 => (State::NeverFills, evidence.lacks.clone()),
        Standing::None => (State::TooLittle, evidence.lacks.clone()),
        Standing::Steady | Standing::Bound | Standing::Short => (State::Evidence, None),
    }
}

/// Holds the runs of one drive against each other: steady values with steady values only.
fn compare(rows: &mut [Row<'_>], baseline: &str) {
    let all: Option<Vec<&RunResult>> = rows.iter().map(Row::evidence).collect();
    let wafs = all.map(|runs| compared_wafs(&runs));
    for (row, waf) in rows.iter_mut().zip(wafs.into_iter().flatten()) {
        row.compared = Some(waf);
    }
    let Some(base) = rows.iter().position(|row| row.ftl == baseline) else { return };
    let (of_base, run_of_base) = (rows[base].compared, rows[base].evidence());
    for row in rows.iter_mut().filter(|row| row.ftl != baseline) {
        row.reduction = match (of_base, row.compared) {
            (Some(of_base), Some(waf)) => Some(1.0 - waf / of_base),
            _ => run_of_base.zip(row.evidence()).map(|(base, run)| {
                let wafs = compared_wafs(&[base, run]);
                1.0 - wafs[1] / wafs[0]
            }),
        };
    }
}

//! What a fleet comes to: write amplification of all bytes, and how it is spread over volumes.

use crate::manifest::Manifest;
use crate::rows::{Row, State};
use ftlab_sim::trust::Trust;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a fleet comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Totals {
    /// What wrote it.
    pub by: String,
    /// The condition by which volumes were selected.
    pub selection: String,
    /// Why it is not the usual one, if nobody asked for another.
    pub selection_note: Option<String>,
    /// Volumes in the traces.
    pub volumes: usize,
    /// Of these, those that were run.
    pub selected: usize,
    /// Drives that they share, of all packings and draws; none if each has its own.
    pub packs: Option<usize>,
    /// Bytes that all volumes write, and the selected ones.
    pub written_bytes: [u64; 2],
    /// The FTL that others are held against.
    pub baseline: String,
    /// For each packing, each over-provisioning, each FTL.
    pub ftls: Vec<FtlTotals>,
    /// What it rests on.
    pub trust: Trust,
    /// What is wrong with traces.
    pub problems: Vec<String>,
    /// Volumes that are no evidence, and why.
    pub flagged: Vec<Flagged>,
}

/// One FTL with one over-provisioning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FtlTotals {
    /// By what volumes were put together, if they share drives: volumes are packs in what follows.
    pub packed_by: Option<String>,
    /// Over-provisioning as asked for.
    pub op_ratio: f64,
    /// The FTL.
    pub ftl: String,
    /// Volumes by what their runs rest on.
    pub states: BTreeMap<&'static str, usize>,
    /// Volumes whose runs are evidence with every FTL: what follows is of these.
    pub compared: usize,
    /// The share of the page writes of all selected volumes that these have.
    pub share_of_writes: f64,
    /// Bytes that flash programs, by bytes that hosts write, over all these volumes; none without any.
    pub waf_of_all: Option<f64>,
    /// The same for each draw of a random packing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waf_of_draws: Vec<f64>,
    /// Write amplification over these volumes, each counting as one.
    pub waf: Option<Spread>,
    /// How much less than with the baseline is written, as a share of that.
    pub reduction: Option<Spread>,
    /// The same for all bytes together.
    pub reduction_of_all: Option<f64>,
}

/// How numbers are spread over volumes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The least, 5%, a quarter, half, three quarters, 95%, the most.
    pub quantiles: [f64; 7],
}

/// A volume that is in no mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flagged {
    /// Its name.
    pub volume: String,
    /// Over-provisioning as asked for.
    pub op_ratio: f64,
    /// The FTL; none if it is the same with all.
    pub ftl: Option<String>,
    /// What its run rests on.
    pub state: &'static str,
    /// Why.
    pub why: String,
}

/// Shares of volumes at quantiles.
const SHARES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];

impl Spread {
    /// Of these numbers; none of none.
    pub fn of(mut numbers: Vec<f64>) -> Option<Self> {
        if numbers.is_empty() {
            return None;
        }
        numbers.sort_by(f64::total_cmp);
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        Some(Self { mean, quantiles: SHARES.map(|share| quantile(&numbers, share)) })
    }
}

/// Between the two nearest of sorted numbers, as R and `NumPy` do.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - place.floor())
}

impl Totals {
    /// Of these rows, which are all of a manifest; `assumed` is what was taken for granted.
    pub fn new(
        manifest: &Manifest,
        rows: &[Row<'_>],
        baseline: &str,
        assumed: Vec<String>,
    ) -> Self {
        let ftls = manifest.ftls.len().max(1);
        let mut totals: Vec<Gathered> = Vec::new();
        let mut orders: Vec<Option<&str>> = Vec::new();
        let ops = manifest.op_ratios.len().max(1);
        // Rows are FTLs within over-provisioning within drives.
        for (number, drive) in rows.chunks(ftls).enumerate() {
            let order = drive[0].order();
            let place = orders.iter().position(|known| *known == order).unwrap_or_else(|| {
                for op_ratio in &manifest.op_ratios {
                    totals.extend(
                        manifest.ftls.iter().map(|ftl| Gathered::new(order, *op_ratio, ftl)),
                    );
                }
                orders.push(order);
                orders.len() - 1
            });
            let begin = (place * ops + number % ops) * ftls;
            for (gathered, row) in totals[begin..].iter_mut().zip(drive) {
                *gathered.totals.states.entry(row.state.name()).or_default() += 1;
                gathered.add(row);
            }
        }
        let mut ftls: Vec<_> = totals.into_iter().map(Gathered::finish).collect();
        of_all(&mut ftls, baseline);
        let evidence = rows.iter().filter_map(|row| row.result?.run.evidence.as_ref());
        let written = |is_counted: fn(&crate::manifest::PlannedVolume) -> bool| {
            let counted = manifest.volumes.iter().filter(|volume| is_counted(volume));
            counted.filter_map(|volume| Some(volume.facts.as_ref()?.written_bytes)).sum()
        };
        Self {
            by: ftlab_spec::written_by(),
            selection: manifest.selection.clone(),
            selection_note: manifest.selection_note.clone(),
            volumes: manifest.volumes.len(),
            selected: manifest.selected().count(),
            packs: (!manifest.packs.is_empty()).then_some(manifest.packs.len()),
            written_bytes: [written(|_| true), written(|volume| volume.is_selected)],
            baseline: baseline.to_owned(),
            ftls,
            trust: Trust::of(evidence, assumed),
            problems: manifest.problems.clone(),
            flagged: flagged(rows, manifest.ftls.len()),
        }
    }
}

/// What an FTL comes to, so far.
struct Gathered {
    totals: FtlTotals,
    wafs: Vec<f64>,
    reductions: Vec<f64>,
    /// Page writes of all volumes, and of those that are compared.
    page_writes: [u64; 2],
    /// Pages that hosts wrote, and that flash programmed, by draw.
    pages: BTreeMap<Option<u32>, [f64; 2]>,
}

impl Gathered {
    fn new(packed_by: Option<&str>, op_ratio: f64, ftl: &str) -> Self {
        Self {
            totals: FtlTotals {
                packed_by: packed_by.map(str::to_owned),
                op_ratio,
                ftl: ftl.to_owned(),
                states: BTreeMap::new(),
                compared: 0,
                share_of_writes: 0.0,
                waf_of_all: None,
                waf_of_draws: Vec::new(),
                waf: None,
                reduction: None,
                reduction_of_all: None,
            },
            wafs: Vec::new(),
            reductions: Vec::new(),
            page_writes: [0; 2],
            pages: BTreeMap::new(),
        }
    }

    fn add(&mut self, row: &Row<'_>) {
        let page_writes = row.facts().map_or(0, |facts| facts.page_writes);
        self.page_writes[0] += if row.state == State::NotSelected { 0 } else { page_writes };
        let Some((waf, run)) = row.compared.zip(row.evidence()) else { return };
        self.totals.compared += 1;
        self.page_writes[1] += page_writes;
        self.wafs.push(waf);
        self.reductions.extend(row.reduction);
        let pages = self.pages.entry(row.pack.and_then(|pack| pack.draw)).or_default();
        pages[0] += run.host_writes as f64;
        pages[1] += run.host_writes as f64 * run.waf;
    }

    fn finish(self) -> FtlTotals {
        let all = self.pages.values().fold([0.0; 2], |all, of| [all[0] + of[0], all[1] + of[1]]);
        let draws = self.pages.iter().filter(|(draw, _)| draw.is_some());
        FtlTotals {
            share_of_writes: self.page_writes[1] as f64 / self.page_writes[0].max(1) as f64,
            waf_of_all: (all[0] > 0.0).then(|| all[1] / all[0]),
            waf_of_draws: draws.map(|(_, [host, media])| media / host).collect(),
            waf: Spread::of(self.wafs),
            reduction: Spread::of(self.reductions),
            ..self.totals
        }
    }
}

/// Holds all bytes against those of the baseline.
fn of_all(ftls: &mut [FtlTotals], baseline: &str) {
    let bases: Vec<_> = ftls.iter().filter(|of| of.ftl == baseline).cloned().collect();
    for of in ftls.iter_mut() {
        let base = bases.iter().find(|base| {
            base.op_ratio.total_cmp(&of.op_ratio).is_eq() && base.packed_by == of.packed_by
        });
        let base = base.and_then(|base| base.waf_of_all);
        of.reduction_of_all = of.waf_of_all.zip(base).map(|(waf, base)| 1.0 - waf / base);
    }
}

/// Volumes in no mean although they were selected, or could not be looked at.
fn flagged(rows: &[Row<'_>], ftls: usize) -> Vec<Flagged> {
    let mut flagged = Vec::new();
    for drive in rows.chunks(ftls.max(1)) {
        let of = |row: &Row<'_>, ftl: Option<&str>| Flagged {
            volume: row.volume.volume.name.clone(),
            op_ratio: row.op_ratio,
            ftl: ftl.map(str::to_owned),
            state: row.state.name(),
            why: row.why.clone(),
        };
        let first = &drive[0];
        let is_same = drive.iter().all(|row| (row.state, &row.why) == (first.state, &first.why));
        if is_same && is_worth_saying(first) {
            flagged.push(of(first, None));
        } else if !is_same {
            let some = drive.iter().filter(|row| is_worth_saying(row));
            flagged.extend(some.map(|row| of(row, Some(row.ftl))));
        }
    }
    flagged
}

fn is_worth_saying(row: &Row<'_>) -> bool {
    match row.state {
        State::Evidence | State::NotSelected => !row.why.is_empty(),
        State::NeverFills | State::TooLittle | State::Failed | State::Unreadable => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_numbers() {
        let spread = Spread::of(vec![4.0, 1.0, 2.0, 3.0, 5.0]).unwrap();
        let text = format!("{:?}", spread.quantiles);
        assert_eq!(text, "[1.0, 1.2, 2.0, 3.0, 4.0, 4.8, 5.0]");
        assert!((spread.mean - 3.0).abs() < 1e-12);
        assert!(
            Spread::of(vec![7.0]).unwrap().quantiles.iter().all(|of| of.total_cmp(&7.0).is_eq())
        );
        assert!(Spread::of(Vec::new()).is_none());
    }
}

//! What an answer rests on, in one line: the trust line.

use crate::drive::{DriveOptions, DriveSummary, Logical, Physical};
use crate::evidence::{RunEvidence, Standing};
use crate::format::{bytes, grouped, percent, significant};
use crate::precondition::Fill;
use crate::sizing::usual_pages_per_block;
use crate::timing::TimingSummary;
use ftlab_host::Timing;
use ftlab_spec::Share;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an answer rests on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trust {
    /// All of it in one line.
    pub line: String,
    /// Runs that it rests on.
    pub runs: usize,
    /// Of these, those whose value a longer run has too.
    pub steady: usize,
    /// Those of which is known what a longer run has at least or at most.
    pub bounds: usize,
    /// Those that are too short to tell.
    pub short: usize,
    /// Those that are no evidence: nothing is concluded from them.
    pub without_evidence: usize,
    /// What one of these lacks.
    pub lacks: Option<String>,
    /// Counted drive writes, the least and the most.
    pub drive_writes: [f64; 2],
    /// How often a block was erased on average, in the run that erased least and in that which erased most.
    pub erases_per_block: [f64; 2],
    /// Of the time that LUNs worked, the share of erases, the least and the most; none without a clock.
    pub erase_time_share: Option<[f64; 2]>,
    /// The same question with blocks of half and of double the size; none if it was not asked.
    pub block_sizes: Option<BlockSizes>,
    /// What was not asked for, and taken for granted.
    pub assumed: Vec<String>,
}

/// The same question with blocks of half and of double the size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockSizes {
    /// What was asked there.
    pub what: String,
    /// Pages of a block of the answer.
    pub pages_per_block: u32,
    /// Whether the answer is the same with all of them.
    pub is_same: bool,
    /// What came of it.
    pub tried: Vec<BlockSize>,
}

/// A question with blocks of another size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockSize {
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Whether the answer is the same; none if it cannot be told.
    pub is_same: Option<bool>,
    /// What came of it, in words.
    pub found: String,
}

impl Trust {
    /// Of these runs, with what was taken for granted.
    pub fn of<'a>(runs: impl Iterator<Item = &'a RunEvidence>, assumed: Vec<String>) -> Self {
        let mut trust = Self { assumed, ..Self::default() };
        let mut times: Option<[f64; 2]> = None;
        for run in runs {
            let count = match run.standing {
                Standing::Steady => &mut trust.steady,
                Standing::Bound => &mut trust.bounds,
                Standing::Short => &mut trust.short,
                Standing::None => &mut trust.without_evidence,
            };
            *count += 1;
            let is_first = trust.runs == 0;
            trust.runs += 1;
            // Runs come in any order.
            trust.lacks = trust.lacks.into_iter().chain(run.lacks.clone()).min();
            widen(&mut trust.drive_writes, run.drive_writes, is_first);
            widen(&mut trust.erases_per_block, run.erases_per_block, is_first);
            if let Some(share) = run.erase_time_share {
                widen(times.get_or_insert([share; 2]), share, false);
            }
        }
        trust.erase_time_share = times;
        trust.line = trust.text();
        trust
    }

    /// It with what other block sizes say.
    #[must_use]
    pub fn with_block_sizes(mut self, sizes: Option<BlockSizes>) -> Self {
        self.block_sizes = sizes;
        self.line = self.text();
        self
    }

    fn text(&self) -> String {
        let Self { drive_writes, erases_per_block, .. } = self;
        let mut parts = vec![
            self.standing(),
            format!("{} drive writes", range(*drive_writes, |writes| significant(writes, 3))),
            format!("{} erases a block", range(*erases_per_block, |erases| significant(erases, 2))),
        ];
        parts.extend(
            self.erase_time_share.map(|shares| {
                format!("{} of the work of LUNs are erases", range(shares, percent_of))
            }),
        );
        parts.push(self.sizes());
        if !self.assumed.is_empty() {
            parts.push(format!("assumed: {}", self.assumed.join(", ")));
        }
        format!("Rests on {}.", parts.join("; "))
    }

    /// What the values are.
    fn standing(&self) -> String {
        let Self { runs, .. } = *self;
        if runs == 0 {
            return "no run".into();
        }
        if self.without_evidence == runs {
            let lacks = self.lacks.as_deref().unwrap_or_default();
            return format!("no evidence ({lacks})");
        }
        let kinds = [
            (self.steady, "steady", "steady values"),
            (self.bounds, "not steady but bounded", "bounds, not steady values"),
            (self.short, "too short to be steady", "runs too short to be steady"),
            (self.without_evidence, "without evidence", ""),
        ];
        let some: Vec<_> = kinds.iter().filter(|(count, ..)| *count > 0).collect();
        if let [(_, _, all)] = some[..] {
            return (*all).to_owned();
        }
        let some = some.iter().map(|(count, what, _)| format!("{} {what}", grouped(*count as u64)));
        format!("{} runs: {}", grouped(runs as u64), some.collect::<Vec<_>>().join(", "))
    }

    fn sizes(&self) -> String {
        let Some(sizes) = &self.block_sizes else { return "other block sizes not tried".into() };
        if sizes.is_same {
            return "the same answer with blocks of half and double the size".into();
        }
        let others = sizes.tried.iter().filter(|one| one.is_same != Some(true));
        let others = others.map(|one| {
            format!("with blocks of {} pages {}", grouped(one.pages_per_block.into()), one.found)
        });
        let turns = sizes.tried.iter().any(|one| one.is_same == Some(false));
        let how = if turns { "not the same" } else { "not told" };
        format!("{how} with other block sizes: {}", others.collect::<Vec<_>>().join(", "))
    }
}

impl BlockSizes {
    /// What came of the same question with blocks of other sizes than `pages_per_block`.
    pub fn new(what: String, pages_per_block: u32, tried: Vec<BlockSize>) -> Self {
        let is_same = tried.iter().all(|one| one.is_same == Some(true));
        Self { what, pages_per_block, is_same, tried }
    }
}

fn widen([least, most]: &mut [f64; 2], value: f64, is_first: bool) {
    (*least, *most) = if is_first { (value, value) } else { (least.min(value), most.max(value)) };
}

/// One number, or two if they differ as they are printed.
fn range([least, most]: [f64; 2], text: impl Fn(f64) -> String) -> String {
    let [least, most] = [least, most].map(text);
    if least == most { least } else { format!("{least} to {most}") }
}

fn percent_of(share: f64) -> String {
    format!("{}%", significant(100.0 * share, 2))
}

/// What a result takes for granted where nothing else was asked for.
pub(crate) fn assumed(
    drive: &DriveSummary,
    fill: &str,
    timing: Option<&TimingSummary>,
) -> Vec<String> {
    let usual_op = match DriveOptions::default().physical {
        Physical::OverProvisioning(Share(share)) => Some(share),
        Physical::Blocks(_) => None,
    };
    let parts = [
        usual_op.filter(|_| drive.op_ratio_asked == usual_op).map(over_provisioning),
        (fill == Fill::default().to_string()).then(full_drive),
        has_usual_blocks(drive, timing).then(|| blocks_of(drive.pages_per_block)),
    ];
    parts.into_iter().flatten().collect()
}

/// Whether blocks are those of the flash that a timing names, or without one the usual ones for the size of the drive.
fn has_usual_blocks(drive: &DriveSummary, timing: Option<&TimingSummary>) -> bool {
    let of_chip = |of: &TimingSummary| {
        let timing = Timing::from_spec(&of.timing.parse().ok()?).ok()?;
        Some(timing.pages_per_block(drive.page_bytes))
    };
    let usual = match timing {
        Some(timing) => of_chip(timing),
        None => Some(usual_pages_per_block(drive.logical_pages)),
    };
    usual == Some(drive.pages_per_block)
}

/// The assumption that over-provisioning is `share`.
pub fn over_provisioning(share: f64) -> String {
    format!("{} of over-provisioning", percent(share))
}

/// The assumption of the usual fill.
pub fn full_drive() -> String {
    "a drive filled in order".into()
}

/// What is taken for granted of a drive for which these options were given: its size, its blocks and its LUNs.
pub fn drive_of(options: &DriveOptions, drive: &DriveSummary) -> Vec<String> {
    let is_of_trace = options.logical == Logical::OfWorkload;
    let size = is_of_trace.then(|| format!("a drive of {}", bytes(drive.logical_bytes)));
    let are_usual = options.pages_per_block.is_none();
    let block_bytes = u64::from(drive.pages_per_block) * u64::from(drive.page_bytes);
    let blocks = are_usual.then(|| {
        format!(
            "{} ({}), which span all LUNs",
            blocks_of(drive.pages_per_block),
            bytes(block_bytes)
        )
    });
    size.into_iter().chain(blocks).collect()
}

/// The assumption of the usual number of pages in a block.
fn blocks_of(pages: u32) -> String {
    format!("blocks of {} pages", grouped(pages.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(standing: Standing, drive_writes: f64) -> RunEvidence {
        let lacks = (standing == Standing::None).then(|| "no block was erased".to_owned());
        RunEvidence {
            standing,
            lacks,
            drive_writes,
            erases_per_block: 9.0,
            ..RunEvidence::default()
        }
    }

    fn line(runs: &[RunEvidence]) -> String {
        Trust::of(runs.iter(), vec![full_drive(), blocks_of(512)]).line
    }

    #[test]
    fn one_line_says_what_it_rests_on() {
        let one = [run(Standing::Steady, 46.0)];
        assert_eq!(
            line(&one),
            "Rests on steady values; 46.0 drive writes; 9.0 erases a block; other block sizes not tried; assumed: a \
             drive filled in order, blocks of 512 pages."
        );
        let mixed = [one[0].clone(), run(Standing::None, 0.18), run(Standing::Bound, 200.0)];
        let text = line(&mixed);
        let start = "Rests on 3 runs: 1 steady, 1 not steady but bounded, 1 without evidence; 0.180 to 200 drive writes;";
        assert!(text.starts_with(start), "{text}");
        let text = line(&mixed[1..2]);
        assert!(
            text.starts_with("Rests on no evidence (no block was erased); 0.180 drive"),
            "{text}"
        );
        assert!(line(&[]).starts_with("Rests on no run;"));
    }

    #[test]
    fn erases_have_a_share_of_the_work_where_time_passes() {
        let timed =
            |share| RunEvidence { erase_time_share: Some(share), ..run(Standing::Short, 4.0) };
        let text = line(&[timed(0.511), timed(0.03), run(Standing::Short, 4.0)]);
        assert!(text.contains("; 3.0% to 51% of the work of LUNs are erases; "), "{text}");
    }

    #[test]
    fn other_block_sizes_are_told_with_what_turns() {
        let one = |pages_per_block, is_same| BlockSize {
            pages_per_block,
            is_same: Some(is_same),
            found: "2r++ is ahead".into(),
        };
        let trust = Trust::of([run(Standing::Steady, 46.0)].iter(), Vec::new());
        let sizes =
            |same| BlockSizes::new("who is ahead".into(), 16, vec![one(8, true), one(32, same)]);
        let same = trust.clone().with_block_sizes(Some(sizes(true))).line;
        assert!(
            same.ends_with("; the same answer with blocks of half and double the size."),
            "{same}"
        );
        let other = trust.with_block_sizes(Some(sizes(false))).line;
        let end = "; not the same with other block sizes: with blocks of 32 pages 2r++ is ahead.";
        assert!(other.ends_with(end), "{other}");
    }
}

//! Every step of FTLs on a drive that is small enough to be drawn page by page.
//!
//! ```
//! use ftlab_sim::lesson::{LessonPlan, Step};
//! use ftlab_sim::Workload;
//!
//! let workload = Workload::parse("hotcold", Default::default())?;
//! let lesson = LessonPlan::new(workload, vec!["1r-greedy".parse()?, "2r-fifo".parse()?]).run()?;
//! let (result, recording) = (&lesson.result.runs[0], &lesson.recordings[0]);
//! let moves = recording.counted().iter().filter(|step| matches!(step, Step::Move { .. }));
//! assert_eq!(moves.count() as u64, result.relocations);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::drive::{DriveOptions, Logical, Physical};
use crate::ftl_run::FtlRun;
use crate::precondition::Fill;
use crate::result::ExperimentResult;
use crate::run_options::{Experiment, Length};
use crate::workload::Workload;
use crate::{SimError, StackError};
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry::{self, DriveShape, Kind};
use ftlab_host::Timing;
use ftlab_spec::Spec;
use ftlab_stack::AnyFtl;
use ftlab_trace::Space;

pub use ftlab_stack::{Candidate, Step};

/// Erase blocks of a drive at most.
pub const BLOCKS_MAX: u32 = 32;

/// Pages of an erase block at most.
pub const PAGES_PER_BLOCK_MAX: u32 = 64;

/// FTLs at most.
pub const FTLS_MAX: usize = 3;

/// Host writes after the fill at most.
pub const WRITES_MAX: u64 = 1000;

/// Bytes of a page.
pub const PAGE_BYTES: u32 = 4096;

/// Blocks of data that an advised drive has.
const DATA_BLOCKS_ADVISED: u32 = 3;

/// What a lesson shows.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonPlan {
    /// Where the writes come from; addresses beyond the drive are taken modulo its size.
    pub workload: Workload,
    /// What serves them: page-mapped FTLs, up to [`FTLS_MAX`].
    pub ftls: Vec<Spec>,
    /// Erase blocks, up to [`BLOCKS_MAX`].
    pub blocks: u32,
    /// Pages in each, from 2 to [`PAGES_PER_BLOCK_MAX`].
    pub pages_per_block: u32,
    /// Pages that the host can address; as many as all FTLs can do with if `None`.
    pub logical_pages: Option<u32>,
    /// Host writes after the fill, up to [`WRITES_MAX`]; fewer if the workload ends before.
    pub writes: u64,
    /// How the drive is filled first.
    pub fill: Fill,
    /// Seed of generator and random fill.
    pub seed: u64,
}

/// What the FTLs did.
#[derive(Debug, Clone)]
pub struct Lesson {
    /// The results of the run.
    pub result: ExperimentResult,
    /// The steps of each FTL, in the order of the results.
    pub recordings: Vec<Recording>,
}

/// The steps of one FTL.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// What it does, in a line.
    pub summary: String,
    /// All steps, those of the fill included.
    pub steps: Vec<Step>,
    /// How many of them belong to the fill.
    pub fill_steps: usize,
}

impl Recording {
    /// The steps after the fill.
    pub fn counted(&self) -> &[Step] {
        &self.steps[self.fill_steps..]
    }
}

impl LessonPlan {
    /// 200 writes to a full drive of 8 blocks of 16 pages.
    pub fn new(workload: Workload, ftls: Vec<Spec>) -> Self {
        Self {
            workload,
            ftls,
            blocks: 8,
            pages_per_block: 16,
            logical_pages: None,
            writes: 200,
            fill: Fill::default(),
            seed: 1,
        }
    }

    /// Writes all pages, and keeps what the lesson shows.
    pub fn run(&self) -> Result<Lesson, SimError> {
        self.check()?;
        let experiment = Experiment {
            drive: self.drive()?,
            length: Length::Writes(self.writes),
            fill: self.fill,
            seed: self.seed,
            wrap: true,
            ..Experiment::new(self.workload.clone(), self.ftls.clone())
        };
        let prepared = experiment.prepare_with(&experiment.threads()?, record)?;
        let read = |runs: &[FtlRun]| self.ftls.iter().zip(runs).map(recorded).collect();
        let (result, recordings) = prepared.run_and_read(&mut (), read)?;
        Ok(Lesson { result, recordings })
    }

    /// Refuses what cannot be drawn.
    fn check(&self) -> Result<(), SimError> {
        within("--blocks", self.blocks.into(), 1, BLOCKS_MAX.into())?;
        within("--pages-per-block", self.pages_per_block.into(), 2, PAGES_PER_BLOCK_MAX.into())?;
        within("--writes", self.writes, 1, WRITES_MAX)?;
        if self.logical_pages == Some(0) {
            return Err(SimError::Unusable {
                what: "--logical-pages 0: the host would have nothing to write to".into(),
                remedy: "give 1 or more, or leave it out".into(),
            });
        }
        if self.ftls.len() > FTLS_MAX {
            return Err(SimError::Unusable {
                what: format!("{} FTLs do not fit side by side, {FTLS_MAX} do", self.ftls.len()),
                remedy: "name fewer, or make a page for each".into(),
            });
        }
        let policies = registry::policy_names();
        let is_hybrid = |ftl: &&Spec| {
            !policies.contains(&ftl.name) && registry::ftl_names().contains(&ftl.name)
        };
        match self.ftls.iter().find(is_hybrid) {
            Some(ftl) => Err(SimError::Unusable {
                what: format!(
                    "{ftl} is hybrid-mapped, and merges blocks instead of choosing victims"
                ),
                remedy: "name page-mapped FTLs, such as 1r-greedy; `ftlab list ftls` has them"
                    .into(),
            }),
            None => Ok(()),
        }
    }

    /// The drive: its reserve is the smallest that all FTLs can do with, and all that is left is data unless
    /// the logical pages are given.
    fn drive(&self) -> Result<DriveOptions, SimError> {
        let pages_per_block = self.pages_per_block;
        let mut shape = DriveShape {
            blocks: self.blocks,
            pages_per_block,
            logical_pages: self.logical_pages.unwrap_or(self.blocks.div_ceil(2) * pages_per_block),
            reserve_blocks: 1,
        };
        // Parameters may depend on the drive, whose size depends on what the FTLs need.
        for _ in 0..2 {
            let needs = self.needs(shape)?;
            shape.reserve_blocks = needs.reserve_blocks;
            shape.logical_pages = match self.logical_pages {
                Some(pages) => pages,
                None => self.blocks.saturating_sub(needs.blocks()) * pages_per_block,
            };
            let data_blocks = shape.logical_pages.div_ceil(pages_per_block);
            if data_blocks == 0 || needs.blocks() + data_blocks > self.blocks {
                return Err(self.too_few(&needs, data_blocks));
            }
        }
        Ok(DriveOptions {
            logical: Logical::Pages(shape.logical_pages.into()),
            page_bytes: PAGE_BYTES,
            pages_per_block: Some(pages_per_block),
            physical: Physical::Blocks(self.blocks),
            reserve_blocks: shape.reserve_blocks,
            ..DriveOptions::default()
        })
    }

    /// What all FTLs together ask of a drive of this shape.
    fn needs(&self, shape: DriveShape) -> Result<Needs, SimError> {
        let space = Space {
            logical_pages: shape.logical_pages.into(),
            page_bytes: PAGE_BYTES,
            seed: self.seed,
        };
        let oracle = self.workload.oracle(&space)?;
        let mut needs = Needs { ftl: String::new(), streams: 0, reserve_blocks: 1 };
        for ftl in &self.ftls {
            let policy = registry::boxed_policy(&registry::fit(ftl, shape, &oracle)?, shape)?;
            let streams = policy.streams().len() as u32;
            if streams > needs.streams {
                needs = Needs { ftl: ftl.to_string(), streams, ..needs };
            }
            needs.reserve_blocks = needs.reserve_blocks.max(policy.reserve_blocks_min());
        }
        Ok(needs)
    }

    fn too_few(&self, needs: &Needs, data_blocks: u32) -> SimError {
        let Self { blocks, pages_per_block, .. } = self;
        let Needs { ftl, streams, reserve_blocks } = needs;
        let enough = needs.blocks() + data_blocks.max(DATA_BLOCKS_ADVISED);
        let fewer = self.blocks.saturating_sub(needs.blocks()) * self.pages_per_block;
        let data = match self.logical_pages {
            Some(pages) => format!("{pages} logical pages fill {data_blocks}, and "),
            None => String::new(),
        };
        let remedy = match self.logical_pages {
            _ if enough > BLOCKS_MAX && fewer == 0 => "name an FTL with fewer streams".into(),
            Some(_) if enough > BLOCKS_MAX => format!("give --logical-pages {fewer} or fewer"),
            Some(_) if fewer > 0 => {
                format!("give --blocks {enough}, or --logical-pages {fewer} or fewer")
            }
            _ => format!("give --blocks {enough}"),
        };
        SimError::Unusable {
            what: format!(
                "{blocks} blocks of {pages_per_block} pages are too few: {data}{ftl} needs {streams} \
                 open (one per stream), {reserve_blocks} in reserve and 1 to collect into beside the data"
            ),
            remedy,
        }
    }
}

/// Blocks that FTLs need beside those of the data.
struct Needs {
    /// The FTL with the most streams.
    ftl: String,
    streams: u32,
    reserve_blocks: u32,
}

impl Needs {
    fn blocks(&self) -> u32 {
        self.streams + self.reserve_blocks + 1
    }
}

fn record(
    _experiment: &Experiment,
    (fitted, _mapping): (&Spec, &Mapping),
    drive: DriveConfig,
    _timing: Option<&Timing>,
) -> Result<AnyFtl, StackError> {
    AnyFtl::recorded(fitted, drive)
}

fn recorded((ftl, run): (&Spec, &FtlRun)) -> Recording {
    let (steps, fill_steps) = run.steps();
    Recording { summary: summary(ftl), steps: steps.to_vec(), fill_steps }
}

/// What is registered of an FTL, or of the two parts of its name.
fn summary(ftl: &Spec) -> String {
    let entries = registry::entries();
    let of = |kind: Kind, name: &str| {
        let entry = entries.iter().find(|entry| entry.kind == kind && entry.name == name);
        entry.map_or(String::new(), |entry| entry.summary.clone())
    };
    match ftl.name.split_once('/') {
        Some((placement, victim)) => {
            format!("{}; collects {}", of(Kind::Placement, placement), of(Kind::Victim, victim))
        }
        None => of(Kind::Ftl, &ftl.name),
    }
}

fn within(option: &str, value: u64, least: u64, most: u64) -> Result<(), SimError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(SimError::Unusable {
        what: format!("{option} {value}: a page shows from {least} to {most}"),
        remedy: format!(
            "give {option} {}, or use `ftlab run` for larger drives",
            value.clamp(least, most)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_trace::OpenOptions;

    fn plan(ftls: &[&str]) -> LessonPlan {
        let workload = Workload::parse("hotcold", OpenOptions::default()).unwrap();
        LessonPlan::new(workload, ftls.iter().map(|ftl| ftl.parse().unwrap()).collect())
    }

    fn count(steps: &[Step], is: impl Fn(&Step) -> bool) -> u64 {
        steps.iter().filter(|step| is(step)).count() as u64
    }

    #[test]
    fn every_page_mapped_ftl_fits_or_is_told_what_would() {
        let mut fitting = 0;
        for ftl in registry::policy_names() {
            let small = plan(&[&ftl]);
            let (lesson, writes) = match small.run() {
                Ok(lesson) => {
                    fitting += 1;
                    (lesson, 200)
                }
                Err(error) => {
                    let error = error.to_string();
                    let (_, blocks) = error.rsplit_once("--blocks ").expect(&error);
                    let blocks: u32 = blocks.parse().unwrap();
                    // Enough to fill it, so that something is collected.
                    let writes = u64::from(blocks * small.pages_per_block).max(200);
                    let larger = LessonPlan { blocks, writes, ..small };
                    (larger.run().unwrap_or_else(|error| panic!("{ftl}: {error}")), writes)
                }
            };
            let (run, recording) = (&lesson.result.runs[0], &lesson.recordings[0]);
            let counted = recording.counted();
            assert_eq!(run.host_writes, writes);
            assert_eq!(count(counted, |step| matches!(step, Step::Write { .. })), writes);
            let moves = count(counted, |step| matches!(step, Step::Move { .. }));
            assert_eq!(moves, run.relocations, "{ftl}");
            assert_eq!(count(counted, |step| matches!(step, Step::Erase(_))), run.erases, "{ftl}");
            assert!(run.erases > 0 && !recording.summary.is_empty(), "{ftl}");
        }
        assert!(fitting >= 40, "{fitting}");
    }

    #[test]
    fn a_lesson_has_the_counts_of_any_run() {
        let plan = plan(&["1r-greedy", "2r-fifo", "sep-gc/cost-benefit"]);
        let lesson = plan.run().unwrap();
        let experiment = Experiment {
            drive: plan.drive().unwrap(),
            length: Length::Writes(plan.writes),
            ..Experiment::new(plan.workload.clone(), plan.ftls.clone())
        };
        let result = experiment.run(&mut ()).unwrap();
        for (lesson, run) in lesson.result.runs.iter().zip(&result.runs) {
            assert_eq!((lesson.waf, lesson.relocations), (run.waf, run.relocations));
            assert_eq!(lesson.erase_counts, run.erase_counts);
        }
        assert_eq!(lesson.result.config.drive.logical_pages, 64);
    }

    #[test]
    fn what_cannot_be_drawn_is_refused_with_the_remedy() {
        let one = plan(&["1r-greedy"]);
        for (plan, part) in [
            (
                LessonPlan { blocks: 33, ..one.clone() },
                "--blocks 33: a page shows from 1 to 32; give --blocks 32",
            ),
            (LessonPlan { pages_per_block: 1, ..one.clone() }, "give --pages-per-block 2"),
            (LessonPlan { writes: 0, ..one.clone() }, "give --writes 1"),
            (LessonPlan { writes: 1001, ..one.clone() }, "give --writes 1000"),
            (LessonPlan { logical_pages: Some(0), ..one.clone() }, "give 1 or more"),
            (
                LessonPlan { logical_pages: Some(81), ..one.clone() },
                "81 logical pages fill 6, and 1r-greedy needs 1 open",
            ),
            (
                LessonPlan { logical_pages: Some(81), ..one.clone() },
                "give --blocks 9, or --logical-pages 80 or fewer",
            ),
            (LessonPlan { blocks: 3, ..one.clone() }, "give --blocks 6"),
            (plan_of_four(), "4 FTLs do not fit side by side, 3 do"),
            (plan(&["fast"]), "fast is hybrid-mapped"),
            (plan(&["1r-greed"]), "1r-greed"),
            (plan(&["fifo", "fifo"]), "named twice"),
            (plan(&[]), "no FTL is named"),
        ] {
            let error = plan.run().unwrap_err().to_string();
            assert!(error.contains(part), "{part:?} is not in {error:?}");
        }
    }

    fn plan_of_four() -> LessonPlan {
        plan(&["1r-greedy", "2r-fifo", "fifo", "2r-greedy"])
    }
}

//! The page of a lesson: what FTLs do on a small drive, step by step.

use crate::text::{name_of, script_json};
use crate::{BYTES_MAX, ReportError};
use askama::Template;
use ftlab_sim::ExperimentResult;
use ftlab_sim::format::{grouped, percent, significant};
use ftlab_sim::lesson::{Candidate, Lesson, Recording, Step};
use ftlab_sim::result::{Config, RunResult};
use serde::Serialize;

/// The page that shows `lesson`.
pub fn lesson_page(lesson: &Lesson) -> Result<String, ReportError> {
    let text = Page::new(lesson)?.render()?;
    if text.len() > BYTES_MAX {
        return Err(ReportError::TooManySteps { bytes: text.len() });
    }
    Ok(text)
}

#[derive(Template)]
#[template(path = "lesson.html")]
struct Page<'a> {
    result: &'a ExperimentResult,
    question: String,
    drive: String,
    reserve: String,
    answer: String,
    data: String,
}

impl<'a> Page<'a> {
    fn new(lesson: &'a Lesson) -> Result<Self, ReportError> {
        let result = &lesson.result;
        let names: Vec<_> = result.runs.iter().map(|run| run.ftl.as_str()).collect();
        let (verb, names) = match names.as_slice() {
            [one] => ("does", (*one).to_owned()),
            [rest @ .., last] => ("do", format!("{} and {last}", rest.join(", "))),
            [] => ("does", "nothing".to_owned()),
        };
        let reserve = result.config.drive.reserve_blocks;
        Ok(Self {
            result,
            question: format!("How {verb} {names} collect garbage?"),
            drive: drive(&result.config),
            reserve: format!("{reserve} block{}", if reserve == 1 { "" } else { "s" }),
            answer: answer(&result.runs),
            data: Data::new(lesson).to_json()?,
        })
    }

    const STYLE: &'static str =
        concat!(include_str!("../assets/style.css"), include_str!("../assets/lesson.css"));

    const SCRIPTS: [&'static str; 4] = [
        include_str!("../assets/page.js"),
        include_str!("../assets/steps.js"),
        include_str!("../assets/stage.js"),
        include_str!("../assets/lesson.js"),
    ];
}

/// The outcome, in a sentence.
fn answer(runs: &[RunResult]) -> String {
    let writes = runs.iter().map(|run| run.host_writes).max().unwrap_or(0);
    let waf =
        |run: &RunResult| format!("{} programs {:.2} flash pages per host write", run.ftl, run.waf);
    let wafs: Vec<_> = runs.iter().map(waf).collect();
    format!("After {} host writes, {}.", grouped(writes), wafs.join("; "))
}

/// The drive and its writes, in a sentence.
fn drive(config: &Config) -> String {
    let drive = &config.drive;
    let filled = match config.fill.as_str() {
        "none" => "empty at first",
        "random" => "first filled in random order",
        _ => "first filled in order",
    };
    format!(
        "{} blocks of {} pages, {} logical pages (over-provisioning {}), {filled}; writes of {}, the same for all.",
        grouped(drive.blocks.into()),
        grouped(drive.pages_per_block.into()),
        grouped(drive.logical_pages.into()),
        percent(drive.op_ratio),
        name_of(config),
    )
}

/// What the scripts show.
#[derive(Serialize)]
struct Data<'a> {
    blocks: u32,
    pages_per_block: u32,
    logical_pages: u32,
    runs: Vec<Run<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    ftl: &'a str,
    summary: &'a str,
    streams: Vec<Stream<'a>>,
    /// How scores are computed; none if there are none.
    formula: Option<&'static str>,
    /// How many of the steps fill the drive.
    fill: usize,
    steps: Vec<Line>,
}

#[derive(Serialize)]
struct Stream<'a> {
    name: &'a str,
    cold: bool,
}

/// A step as an array: a letter, and its numbers.
#[derive(Serialize)]
#[serde(untagged)]
enum Line {
    /// r, t, e: a page or a block.
    One(char, u32),
    /// v: block, valid pages.
    Victim(char, u32, u32),
    /// w: page, to, stream.
    Write(char, u32, u32, u8),
    /// m: page, from, to, stream.
    Move(char, u32, u32, u32, u8),
    /// c: candidates as block, valid pages and score; victims.
    Choice(char, Vec<(u32, u32, Option<String>)>, Vec<u32>),
}

impl<'a> Data<'a> {
    fn new(lesson: &'a Lesson) -> Self {
        let drive = &lesson.result.config.drive;
        let runs = lesson.result.runs.iter().zip(&lesson.recordings);
        Self {
            blocks: drive.blocks,
            pages_per_block: drive.pages_per_block,
            logical_pages: drive.logical_pages,
            runs: runs.map(|(run, recording)| Run::new(run, recording)).collect(),
        }
    }

    /// As JSON that can stand in a script element.
    fn to_json(&self) -> Result<String, serde_json::Error> {
        script_json(self)
    }
}

impl<'a> Run<'a> {
    fn new(run: &'a RunResult, recording: &'a Recording) -> Self {
        let (fill, counted) = recording.steps.split_at(recording.fill_steps);
        let fill = lines(fill);
        let candidates = recording.steps.iter().flat_map(|step| match step {
            Step::Choice { candidates, .. } => candidates.as_slice(),
            _ => &[],
        });
        Self {
            ftl: &run.ftl,
            summary: &recording.summary,
            streams: run
                .streams
                .iter()
                .map(|stream| Stream { name: &stream.name, cold: stream.cold })
                .collect(),
            formula: candidates
                .filter_map(|candidate| candidate.score)
                .map(|score| score.formula)
                .next(),
            fill: fill.len(),
            steps: fill.into_iter().chain(lines(counted)).collect(),
        }
    }
}

/// Steps as the scripts read them. A choice tells of its first victim already.
fn lines(steps: &[Step]) -> Vec<Line> {
    let before = [None].into_iter().chain(steps.iter().map(Some));
    let is_told = |(step, before): &(&Step, Option<&Step>)| match (step, before) {
        (Step::Victim { block, .. }, Some(Step::Choice { victims, .. })) => {
            victims.first() == Some(block)
        }
        _ => false,
    };
    steps.iter().zip(before).filter(|pair| !is_told(pair)).map(|(step, _)| line(step)).collect()
}

fn line(step: &Step) -> Line {
    match step {
        Step::Request(lpn) => Line::One('r', lpn.0),
        Step::Write { lpn, to, stream } => Line::Write('w', lpn.0, to.0, stream.0),
        Step::Trim(lpn) => Line::One('t', lpn.0),
        Step::Choice { candidates, victims } => Line::Choice(
            'c',
            candidates.iter().map(candidate).collect(),
            victims.iter().map(|block| block.0).collect(),
        ),
        Step::Victim { block, valid_pages } => Line::Victim('v', block.0, *valid_pages),
        Step::Move { lpn, from, to, stream } => Line::Move('m', lpn.0, from.0, to.0, stream.0),
        Step::Erase(block) => Line::One('e', block.0),
    }
}

fn candidate(candidate: &Candidate) -> (u32, u32, Option<String>) {
    let text = |value: f64| {
        if value.is_finite() { significant(value, 3) } else { "∞".to_owned() }
    };
    let score = candidate.score.map(|score| text(score.value));
    (candidate.block.0, candidate.valid_pages, score)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_sim::Workload;
    use ftlab_sim::lesson::LessonPlan;
    use ftlab_trace::OpenOptions;
    use serde_json::Value;

    fn data(ftls: &[&str]) -> (Lesson, Value) {
        let workload = Workload::parse("hotcold", OpenOptions::default()).unwrap();
        let ftls = ftls.iter().map(|ftl| ftl.parse().unwrap()).collect();
        let lesson = LessonPlan::new(workload, ftls).run().unwrap();
        let data = serde_json::from_str(&Data::new(&lesson).to_json().unwrap()).unwrap();
        (lesson, data)
    }

    #[test]
    fn the_page_is_given_every_step_that_was_counted() {
        let (lesson, data) = data(&["1r-greedy", "single/cost-benefit"]);
        for (run, shown) in lesson.result.runs.iter().zip(data["runs"].as_array().unwrap()) {
            let fill = shown["fill"].as_u64().unwrap() as usize;
            let steps = &shown["steps"].as_array().unwrap()[fill..];
            let count = |letter| steps.iter().filter(|step| step[0] == letter).count() as u64;
            assert_eq!(count("w"), run.host_writes);
            assert_eq!(count("r"), run.host_writes);
            assert_eq!(count("m"), run.relocations);
            assert_eq!(count("e"), run.erases);
            assert_eq!(count("c"), run.collections);
            assert_eq!(count("v"), 0, "each choice has one victim, which it tells");
        }
        assert_eq!(data["runs"][0]["formula"], Value::Null);
        assert_eq!(data["runs"][1]["formula"], "age x (1 - u) / u");
    }

    #[test]
    fn a_page_of_the_largest_lesson_is_small_enough() {
        let workload = Workload::parse("uniform", OpenOptions::default()).unwrap();
        let ftls = ["1r-greedy", "single/cost-benefit", "2r-fifo"];
        let ftls = ftls.iter().map(|ftl| ftl.parse().unwrap()).collect();
        let plan = LessonPlan {
            blocks: 32,
            pages_per_block: 64,
            writes: 1000,
            ..LessonPlan::new(workload, ftls)
        };
        let page = lesson_page(&plan.run().unwrap()).unwrap();
        assert!(page.len() < BYTES_MAX && page.contains("</html>"));
    }
}

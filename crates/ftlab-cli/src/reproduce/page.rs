//! The page of an experiment: text, table, figures, numbers.

use super::kinds::{self, Count};
use crate::error::CliError;
use crate::figure::{self, FigureSize, experiment};
use crate::table::csv_line;
use crate::table::ruled;
use ftlab_experiments::sweep::{
    Comparison, FigureSpec, Kind, METRICS, Numbers, Plan, StatedLine, filled_in, stated,
};
use ftlab_trace::replace_file;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The report on one experiment.
pub(super) struct Page {
    id: String,
    scale: String,
    pub(super) lines: Vec<Comparison>,
    stated: Vec<StatedLine>,
    findings: String,
    pub(super) took: Took,
    /// Figures, relative to the page.
    figures: Vec<(String, String)>,
}

/// Seconds that an experiment took.
#[derive(Debug, Clone)]
pub(super) enum Took {
    /// CPU time of the FTLs of all runs, including those whose results are reused.
    InFtls(f64),
    /// Elapsed time until everything was finished.
    InAll(f64),
    /// Nothing was run: the line of the page that was there.
    Before(String),
}

/// The entry of one experiment in the index.
#[derive(Debug, Serialize, Deserialize)]
struct Summary {
    id: String,
    title: String,
    scale: String,
    /// Numbers and statements that were compared.
    compared: usize,
    /// Those that agree with the publication.
    agree: usize,
    /// Both counts, of each kind of row.
    #[serde(default)]
    kinds: Vec<Count>,
}

impl Page {
    pub(super) fn new(
        id: &str,
        plan: &Plan,
        numbers: &dyn Numbers,
        lines: Vec<Comparison>,
    ) -> Result<Self, CliError> {
        Ok(Self {
            id: id.to_owned(),
            scale: plan.scale.to_string(),
            lines,
            stated: stated(plan, numbers)?,
            findings: filled_in(plan, numbers, plan.file.findings.trim())?,
            took: Took::InAll(0.0),
            figures: Vec::new(),
        })
    }

    /// Lines that are not as they should be: controls should differ from the publication, all others agree.
    pub(super) fn unexpected(&self) -> impl Iterator<Item = &Comparison> {
        self.lines.iter().filter(|line| kinds::is_as_it_should_be(line) == Some(false))
    }

    /// Lines that were compared with the publication, and not only measured.
    pub(super) fn compared(&self) -> usize {
        self.lines.iter().filter(|line| line.agrees.is_some()).count()
    }

    /// Those that agree with the publication, or as controls do not.
    fn agree(&self) -> usize {
        self.compared() - self.unexpected().count()
    }

    /// The table for a terminal.
    pub(super) fn table(&self) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let headings = ["", "kind", "published", "measured", "difference", ""].map(str::to_owned);
        let rows = self.lines.iter().map(|line| {
            [
                line.what.clone(),
                kinds::name(line).to_owned(),
                line.published.clone(),
                measured(line).to_owned(),
                difference(line),
                agreement(line).to_owned(),
            ]
        });
        ruled(&headings, rows)
    }

    /// Draws every figure, in every format that there is.
    pub(super) fn draw(
        &mut self,
        plan: &Plan,
        numbers: &dyn Numbers,
        size: FigureSize,
        out: &Path,
    ) -> Result<(), CliError> {
        for spec in &plan.file.figure {
            let Some(picture) = experiment::picture(spec, plan, numbers)? else { continue };
            let stem = stem(out, &self.id, &spec.name);
            make_parent(&stem)?;
            for ending in figure::ENDINGS {
                let path = with_ending(&stem, ending);
                figure::write(&path, |svg| experiment::draw(&picture, size, svg))?;
            }
            let file = file_name(&with_ending(&stem, "svg"));
            self.figures.push((file, alternative(spec, plan)));
        }
        Ok(())
    }

    /// Links the figures that are there already.
    pub(super) fn link(&mut self, plan: &Plan, out: &Path) {
        for spec in &plan.file.figure {
            let path = with_ending(&stem(out, &self.id, &spec.name), "svg");
            if path.is_file() {
                self.figures.push((file_name(&path), alternative(spec, plan)));
            }
        }
    }

    /// Writes the page, and its entry for the index.
    pub(super) fn write(&self, plan: &Plan, out: &Path) -> Result<(), CliError> {
        let stem = stem(out, &self.id, "");
        make_parent(&stem)?;
        write_file(&with_ending(&stem, "md"), &self.markdown(plan))?;
        let summary = Summary {
            id: self.id.clone(),
            title: plan.file.title.clone(),
            scale: self.scale.clone(),
            compared: self.compared(),
            agree: self.agree(),
            kinds: kinds::counts(&self.lines),
        };
        let text = serde_json::to_string_pretty(&summary).unwrap_or_default();
        write_file(&with_ending(&stem, "json"), &format!("{text}\n"))
    }

    /// Writes its numbers as CSV.
    pub(super) fn write_csv(
        &self,
        plan: &Plan,
        numbers: &dyn Numbers,
        out: &Path,
    ) -> Result<(), CliError> {
        let path = csv_path(out, &self.id);
        make_parent(&path)?;
        write_file(&path, &csv(plan, numbers))
    }

    fn markdown(&self, plan: &Plan) -> String {
        let file = &plan.file;
        let mut text = format!("# {}\n\n", file.title);
        if !file.source.is_empty() {
            let _ = writeln!(text, "{}\n", file.source);
        }
        for part in [&file.text] {
            if !part.trim().is_empty() {
                let _ = writeln!(text, "{}\n", part.trim());
            }
        }
        for (name, alternative) in &self.figures {
            let _ = writeln!(text, "![{alternative}]({name})\n");
        }
        self.markdown_table(&mut text);
        if !self.findings.is_empty() {
            let _ = writeln!(text, "{}\n", self.findings);
        }
        self.markdown_setup(&mut text);
        for absent in &plan.absent {
            let _ = writeln!(text, "Skipped: {absent}.\n");
        }
        text += &self.made_by();
        text
    }

    /// The line at the end, which says how the page was made.
    fn made_by(&self) -> String {
        if let Took::Before(line) = &self.took {
            return format!("{line}\n");
        }
        let scale = match self.scale.as_str() {
            "1" => String::new(),
            scale => format!(" --scale {scale}"),
        };
        format!(
            "{MADE_BY}{}{scale}` ({}) {}, {}: [every number]({}).\n",
            self.id,
            ftlab_spec::written_by(),
            self.took,
            machine(),
            file_name(&csv_path(Path::new(""), &self.id))
        )
    }

    /// The numbers of the publication's setup.
    fn markdown_setup(&self, text: &mut String) {
        if self.stated.is_empty() {
            return;
        }
        let _ = writeln!(text, "## The setup as published\n\n| published | here |\n|---|---|");
        for line in &self.stated {
            let here = match line.matches {
                Some(false) if self.scale == "1" => format!("**{}**", line.here),
                _ => line.here.clone(),
            };
            let _ = writeln!(text, "| {} | {here} |", line.says);
        }
        text.push('\n');
    }

    fn markdown_table(&self, text: &mut String) {
        if self.lines.is_empty() {
            return;
        }
        let remarks = self.lines.iter().any(|line| !line.remark.is_empty());
        let (heading, rule) = if remarks { (" remark |", "---|") } else { ("", "") };
        let _ =
            writeln!(text, "| | kind | published | measured | difference | tolerance |{heading}");
        let _ = writeln!(text, "|---|---|---|---|---|---|{rule}");
        for line in &self.lines {
            let difference = match (difference(line), kinds::is_as_it_should_be(line)) {
                (text, Some(false)) if !text.is_empty() => format!("**{text}**"),
                (text, Some(false)) => format!("**no**{text}"),
                (text, _) => text,
            };
            let remark = if remarks { format!(" {} |", line.remark) } else { String::new() };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {difference} | {} |{remark}",
                line.what,
                kinds::name(line),
                line.published,
                measured(line),
                line.tolerance
            );
        }
        text.push('\n');
    }
}

fn measured(line: &Comparison) -> &str {
    if line.measured.is_empty() { "skipped" } else { &line.measured }
}

fn difference(line: &Comparison) -> String {
    line.difference.map_or_else(String::new, |share| format!("{:+.1}%", 100.0 * share))
}

fn agreement(line: &Comparison) -> &'static str {
    match (kinds::is_as_it_should_be(line), line.agrees) {
        (Some(false), Some(true)) => "agrees, as it should not",
        (Some(false), _) => "differs",
        _ => "",
    }
}

fn alternative(spec: &FigureSpec, plan: &Plan) -> String {
    if spec.title.is_empty() { plan.file.title.clone() } else { spec.title.clone() }
}

/// Every point that has a number: its axes, and every number that is expected or drawn.
fn csv(plan: &Plan, numbers: &dyn Numbers) -> String {
    let axes = plan.axes();
    let mut metrics: Vec<&str> = Vec::new();
    let used = plan.file.expect.iter().map(|expect| expect.metric.as_written());
    let drawn = plan.file.figure.iter().flat_map(|figure| figure.y.as_written().split_whitespace());
    let common = (plan.file.kind == Kind::Runs).then(|| METRICS.iter().map(|metric| metric.name));
    for metric in used.chain(drawn).chain(common.into_iter().flatten()) {
        if numbers.check(metric).is_ok() && !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    // Metrics without any value are omitted.
    metrics.retain(|metric| plan.points.iter().any(|p| numbers.number(metric, p).is_some()));
    let headings = axes.iter().chain(&metrics).map(|name| (*name).to_owned());
    let mut text = csv_line(headings);
    for point in &plan.points {
        let values: Vec<_> = metrics.iter().map(|metric| numbers.number(metric, point)).collect();
        if values.iter().all(Option::is_none) {
            continue;
        }
        let labels = axes.iter().map(|axis| point.label(axis).unwrap_or_default().to_owned());
        let values =
            values.into_iter().map(|value| value.map_or_else(String::new, |v| v.to_string()));
        text += &csv_line(labels.chain(values));
    }
    text
}

/// Writes `README.md`: every experiment that has a page in `out`, those of ftlab and `own`.
pub(super) fn index(out: &Path, own: &[Page]) -> Result<(), CliError> {
    let mut text = String::from(
        "# Reproduction\n\nEvery table and figure of the literature that `ftlab reproduce ID` reproduces: \
         published values\ncompared with measured ones. A number agrees if it is within the tolerance on \
         its page, a statement if it\nholds in every case. *Stated* rows run the configuration that the \
         paper states, *readings* ours where it is\nsilent, and *controls* another one, which must not \
         agree.\n\n| experiment | | scale | stated agree | readings agree | controls differ \
         |\n|---|---|---|---|---|---|\n",
    );
    let mut ids: Vec<String> = super::catalogue::all()?.into_iter().map(|(id, _)| id).collect();
    for page in own {
        if !ids.contains(&page.id) {
            ids.push(page.id.clone());
        }
    }
    for id in ids {
        let path = with_ending(&stem(out, &id, ""), "json");
        let Ok(json) = fs::read_to_string(path) else { continue };
        let Ok(summary) = serde_json::from_str::<Summary>(&json) else { continue };
        let agree = kinds::cells(&summary.kinds);
        let _ =
            writeln!(text, "| [{id}]({id}.md) | {} | {} |{agree}", summary.title, summary.scale);
    }
    fs::create_dir_all(out)?;
    write_file(&out.join("README.md"), &text)
}

/// How the last line of a page begins.
const MADE_BY: &str = "Made by `ftlab reproduce ";

/// The numbers of an experiment.
pub(super) fn csv_path(out: &Path, id: &str) -> PathBuf {
    with_ending(&stem(out, id, ""), "csv")
}

/// The last line of the page that is there.
pub(super) fn made_before(out: &Path, id: &str) -> Option<String> {
    let text = fs::read_to_string(with_ending(&stem(out, id, ""), "md")).ok()?;
    text.lines().rfind(|line| line.starts_with(MADE_BY)).map(str::to_owned)
}

/// The name of a file of an experiment, without its extension.
fn stem(out: &Path, id: &str, name: &str) -> PathBuf {
    let suffix = if name.is_empty() { String::new() } else { format!("-{name}") };
    out.join(format!("{id}{suffix}"))
}

/// `path.ending`, even if the path contains dots.
fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{ending}"));
    name.into()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn make_parent(path: &Path) -> Result<(), CliError> {
    match path.parent() {
        Some(folder) => fs::create_dir_all(folder).map_err(|error| {
            CliError::failure(format!("cannot create {}: {error}", folder.display()))
        }),
        None => Ok(()),
    }
}

fn write_file(path: &Path, text: &str) -> Result<(), CliError> {
    Ok(replace_file(path, |file| file.write_all(text.as_bytes()))?)
}

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InFtls(seconds) => {
                write!(f, "with {} of CPU time in FTLs", duration(*seconds))
            }
            Self::InAll(seconds) => write!(f, "in {}", duration(*seconds)),
            Self::Before(line) => f.write_str(line),
        }
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        minutes if minutes >= 90.0 => format!("{:.0} minutes", minutes / 60.0),
        seconds => format!("{seconds:.0} s"),
    }
}

/// The processor, as the system names it.
fn machine() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name"));
    let model =
        model.map_or("an unknown processor", |rest| rest.trim_start_matches([' ', '\t', ':']));
    let threads = ftlab_sim::Threads::processors();
    format!("{threads} threads of {model}")
}

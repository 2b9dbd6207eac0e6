//! `ftlab run --load`: load-latency curves.

use crate::error::{CliError, Results};
use crate::figure::{FigureSize, check, load_svg, write_load};
use crate::output::{print, print_json, say};
use crate::progress::with_spinner;
use crate::report::check_report;
use crate::table::ruled;
use ftlab_experiments::load::{LoadCurve, LoadCurves, LoadPoint, load_curves};
use ftlab_report::{CurvePage, curve_page};
use ftlab_sim::Experiment;
use ftlab_sim::format::{bytes, grouped, percent, significant};
use ftlab_trace::replace_file;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;

/// Shares of the capacity, in ascending order: `0.5,0.9`, or `0.1..0.95` for both of these and every tenth between.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Loads(pub(crate) Vec<f64>);

impl FromStr for Loads {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is not a range of loads such as 0.1..0.95, nor a list such as 0.5,0.7,0.9, above 0 and below 1"
            )
        };
        let load = |text: &str| {
            text.parse().ok().filter(|load: &f64| *load > 0.0 && *load < 1.0).ok_or_else(wrong)
        };
        let mut loads: Vec<f64> = match text.split_once("..") {
            Some((low, high)) => {
                let (low, high) = (load(low)?, load(high)?);
                let between = (1..10).map(|tenth| f64::from(tenth) / 10.0);
                let between = between.filter(|load| *load > low && *load < high);
                std::iter::once(low).chain(between).chain([high]).collect()
            }
            None => text.split(',').map(load).collect::<Result<_, _>>()?,
        };
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        Ok(Self(loads))
    }
}

/// What becomes of the curves.
pub(crate) struct Output<'a> {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) figure: Option<&'a Path>,
    pub(crate) report: Option<&'a Path>,
    pub(crate) size: FigureSize,
    pub(crate) command: String,
}

pub(crate) fn run(experiment: &Experiment, loads: &Loads, output: &Output) -> Result<(), CliError> {
    output.figure.map(check).transpose()?;
    output.report.map(|path| check_report(experiment.ftls.len(), path)).transpose()?;
    let measure = || load_curves(experiment, &loads.0, &mut ());
    let mut curves = with_spinner(output.quiet, "measuring the capacity and each load", measure)?;
    curves.command = Some(output.command.clone());
    let doubts: String = curves.doubts.iter().flat_map(|doubt| [doubt.as_str(), "\n\n"]).collect();
    let text = table(&curves) + &doubts;
    let mut results = Results::default();
    if output.json {
        say(&text);
        results.note(print_json(&curves));
    } else {
        results.note(print(&text));
    }
    if let Some(path) = output.figure {
        results.note(write_load(&curves, output.size, path));
    }
    if let Some(path) = output.report {
        results.note(write_page(&curves, path));
    }
    results.all()
}

fn write_page(curves: &LoadCurves, path: &Path) -> Result<(), CliError> {
    let workload = &curves.config.workload;
    let timing = curves.config.timing.iter();
    let timing = timing
        .map(|of| ("timing, where it measures what each can do".to_owned(), of.timing.clone()));
    let drive = &curves.config.drive;
    let size = ("drive".to_owned(), bytes(drive.logical_bytes));
    let op = ("over-provisioning".to_owned(), percent(drive.op_ratio));
    let rows: Vec<Vec<String>> = lines(curves).collect();
    let is_empty = |column: usize| rows.iter().all(|row| row[column] == "-");
    let columns: Vec<_> = (0..HEADINGS.len()).filter(|column| !is_empty(*column)).collect();
    let page = CurvePage {
        kind: "load".into(),
        evidence_title: "The drive".into(),
        trust: String::new(),
        question: format!("How long do requests of {workload} take as more of them come?"),
        answer: curves.curves.iter().map(sentence).collect::<String>().trim_end().into(),
        evidence: [size, op].into_iter().chain(timing).collect(),
        title: "Load and latency".into(),
        label: "The 99.9th percentile of response times against the load".into(),
        figure: load_svg(curves)?,
        caption: "Response times in milliseconds at each load, a share of what each FTL can do"
            .into(),
        headings: columns.iter().map(|column| HEADINGS[*column].replace('\n', " ")).collect(),
        rows: rows
            .iter()
            .map(|row| columns.iter().map(|column| row[*column].clone()).collect())
            .collect(),
        caveats: std::iter::once(
            "Requests come at random and independently of each other, however many are waiting."
                .to_owned(),
        )
        .chain(curves.doubts.iter().cloned())
        .collect(),
        command_title: "Measure it again".into(),
        command: curves.command.clone(),
    };
    let page = curve_page(&page)?;
    Ok(replace_file(path, |file| file.write_all(page.as_bytes()))?)
}

const HEADINGS: [&str; 10] = [
    "response time\nin ms",
    "load",
    "requests/s",
    "under\nway",
    "mean of\nreads",
    "p99 of\nreads",
    "p99.9 of\nreads",
    "mean of\nwrites",
    "p99 of\nwrites",
    "p99.9 of\nwrites",
];

/// A line for each FTL and load, and a sentence for each FTL.
fn table(curves: &LoadCurves) -> String {
    let sentences = curves.curves.iter().map(sentence);
    ruled(&HEADINGS.map(str::to_owned), lines(curves)) + &sentences.collect::<String>()
}

fn lines(curves: &LoadCurves) -> impl Iterator<Item = Vec<String>> {
    let of = |curve: &'_ LoadCurve| -> Vec<_> {
        curve.points.iter().map(|point| line(&curve.ftl, point)).collect()
    };
    curves.curves.iter().flat_map(of)
}

fn line(ftl: &str, point: &LoadPoint) -> Vec<String> {
    let mut cells = vec![
        ftl.to_owned(),
        format!("{:.0}%", 100.0 * point.load),
        grouped(point.per_second.round() as u64),
        significant(point.under_way_mean, 3),
    ];
    for op in ["read", "write"] {
        let of = point.operations.get(op).map(|times| &times.response_ns);
        let times = of.map(|of| [of.mean, of.p99 as f64, of.p99_9 as f64]);
        let times = times.map(|times| times.map(|ns| significant(ns / 1e6, 4)));
        cells.extend(times.unwrap_or_else(|| ["-"; 3].map(str::to_owned)));
    }
    cells
}

fn sentence(curve: &LoadCurve) -> String {
    let capacity = grouped(curve.capacity_per_second.round() as u64);
    let knee = curve.knee.map_or_else(String::new, |knee| {
        format!("; beyond a load of {:.0}% more load costs more than it brings", 100.0 * knee)
    });
    format!("{} can do {capacity} requests a second{knee}.\n", curve.ftl)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_ranges_or_lists() {
        let loads = |text: &str| text.parse::<Loads>().map(|loads| loads.0);
        assert_eq!(loads("0.75..0.95").unwrap(), [0.75, 0.8, 0.9, 0.95]);
        assert_eq!(loads("0.1..0.95").unwrap().len(), 10);
        assert_eq!(loads("0.9,0.5,0.9").unwrap(), [0.5, 0.9]);
        for wrong in ["", "0", "1", "0.5..1.2", "0.5,x", "50%"] {
            assert!(loads(wrong).unwrap_err().contains("0.1..0.95"), "{wrong}");
        }
    }
}

//! `ftlab curve`: write amplification over over-provisioning.

use crate::advise::base;
use crate::error::{CliError, Results};
use crate::figure::{FigureSize, check, write_curves};
use crate::ftls::Ftls;
use crate::options::{ReadingArgs, parse, parse_in};
use crate::output::{print, print_json, say};
use crate::progress::runs_so_far;
use crate::table::ruled;
use crate::words::{Choice as Takes, Words};
use clap::Args;
use ftlab_experiments::Stop;
use ftlab_experiments::advise::{Choice, Question};
use ftlab_experiments::curve::{
    CurvePoint, Curves, DRAWS_USUAL, Sampling, TableFile, USUAL_OP_RATIOS, write_table,
};
use ftlab_sim::evidence::Standing;
use ftlab_sim::format::{grouped, percent, significant};
use ftlab_sim::{DriveOptions, Experiment, Threads};
use ftlab_spec::Share;
use ftlab_trace::check_file;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// Draws write amplification over over-provisioning, for several FTLs.
///
/// With --sample, from some of the pages: in a fraction of the time, with an interval that has the value of the whole
/// with a probability of 90%. Runs last as those of `ftlab advise`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab curve trace.parquet --ftl 1r-greedy,sepbit --figure curve.svg
  ftlab curve trace.parquet --ftl hazard --pages-per-block 4096 --sample 1/64 --table curve.parquet
  ftlab curve zipf:theta=0.9 --logical 64GiB --pages-per-block 4096 --ftl 2r++ --sample 1/64 --once")]
pub(crate) struct CurveArgs {
    /// A trace file, a generator, or a job file of fio.
    workload: String,
    /// An FTL with parameters, or several after commas; may be repeated. By default those of `ftlab advise`.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]")]
    ftl: Vec<Ftls>,
    /// Runs one page in N and one in 4 N, with blocks of as many fewer pages, and concludes on the whole. At least 64 pages
    /// are left in a block.
    #[arg(long, value_name = "1/N", value_parser = parse_sample)]
    sample: Option<u32>,
    /// Samples of each size; the more, the narrower the intervals.
    #[arg(long, value_name = "N", requires = "sample", default_value_t = DRAWS_USUAL, value_parser = parse_in(2_u32..=64))]
    draws: u32,
    #[command(flatten)]
    drive: DriveArgs,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Plots the curves to this file, which ends in .svg, .png or .pdf.
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    size: FigureSize,
    /// Writes a row for each FTL and drive to this file, which ends in .parquet or .csv.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Maximum number of threads; by default one per processor.
    #[arg(long, value_name = "N", value_parser = parse::<NonZeroU32>)]
    threads: Option<NonZeroU32>,
    /// Prints the curves as JSON on standard output, and the table on standard error.
    #[arg(long)]
    json: bool,
    /// Shows no progress.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Drive")]
struct DriveArgs {
    /// Points of the curves: over-provisioning, (physical - logical) / logical, in ascending order; by default twelve
    /// from 4% to 60%.
    #[arg(long, value_name = "SHARE,...", value_delimiter = ',')]
    op: Vec<Share>,
    #[command(flatten)]
    drive: Words<DriveOptions, OfAll>,
    /// Runs N host page writes, at most. By default a trace, again and again, or a generator runs until write
    /// amplification is steady; a trace of more than 18 drive writes runs twice and counts the second time.
    #[arg(long, value_name = "N", value_parser = parse::<u64>)]
    writes: Option<u64>,
    /// Runs a trace once, or 4 drive writes of a generator, steady or not.
    #[arg(long, conflicts_with = "writes")]
    once: bool,
    #[command(flatten)]
    run: Words<Experiment, OfAll>,
}

/// What all drives have in common, and all runs.
#[derive(Debug)]
struct OfAll;

impl Takes for OfAll {
    const HEADING: Option<&'static str> = Some("Drive");

    fn takes(name: &str, _: &str) -> bool {
        let drive = ["logical", "page_size", "pages_per_block", "reserve"];
        drive.contains(&name) || ["fill", "seed", "ignore_trims", "wrap"].contains(&name)
    }
}

/// One page in how many, from 1/N.
fn parse_sample(text: &str) -> Result<u32, String> {
    let one_in = text.strip_prefix("1/").and_then(|number| number.parse().ok());
    one_in
        .filter(|one_in| *one_in >= 2)
        .ok_or_else(|| format!("{text:?} is not one page in so many, such as 1/32, or 1/2 at most"))
}

pub(crate) fn curve(args: &CurveArgs) -> Result<(), CliError> {
    args.figure.as_deref().map(check).transpose()?;
    let table_file = args.table.as_deref().map(TableFile::of).transpose()?;
    args.table.as_deref().map(check_file).transpose()?;
    let question = question(args)?;
    let sampling = args.sample.map(|one_in| Sampling { one_in, draws: args.draws });
    let threads = args.threads.map_or_else(Threads::processors, |threads| threads.get() as usize);
    let spinner = runs_so_far(args.quiet);
    spinner.set_message(if sampling.is_some() { "sampling the workload" } else { "0 runs" });
    let curves = question.draw_curves(sampling, threads, &|done, of| {
        spinner.set_message(format!("{done} of {of} runs"));
    })?;
    spinner.finish_and_clear();
    let text = text(&curves);
    let mut results = Results::default();
    if args.json {
        say(&text);
        results.note(print_json(&curves));
    } else {
        results.note(print(&text));
    }
    if let Some(path) = &args.figure {
        results.note(write_curves(&curves, args.size, path));
    }
    if let Some((path, kind)) = args.table.as_deref().zip(table_file) {
        results.note(write_table(&curves, path, kind).map_err(CliError::from));
    }
    results.all()
}

fn question(args: &CurveArgs) -> Result<Question, CliError> {
    let asked = &args.drive;
    if !asked.op.is_sorted_by(|a, b| a < b) {
        return Err(CliError::usage("--op is not ascending; give shares such as 7%,10%,28%"));
    }
    let drive = asked.drive.apply(DriveOptions::default())?;
    let ftls = Choice::new(&Ftls::all(&args.ftl), None);
    let lasts = (asked.writes, asked.once);
    let base = base(&args.workload, &args.reading, drive, ftls.answer.clone(), lasts)?;
    let base = asked.run.apply(base)?;
    let op_ratios = if asked.op.is_empty() { USUAL_OP_RATIOS.to_vec() } else { asked.op.clone() };
    Ok(Question {
        base,
        ftls,
        op_ratios,
        class: None,
        target: None,
        service: None,
        stop: Stop::default(),
    })
}

/// Everything that is printed of curves.
fn text(curves: &Curves) -> String {
    let caveats = curves.caveats.iter().flat_map(|caveat| ["- ", caveat.as_str(), "\n"]);
    let refused = curves.curves.iter().filter_map(|curve| curve.refused.as_deref());
    let table = table(curves);
    let mut text = sampled(curves) + &table + &legend(&table);
    text.extend(refused.flat_map(|reason| [reason, "\n\n"]));
    text += &curves.trust.line;
    text.push('\n');
    text.extend(caveats);
    text
}

/// What the marks in a table mean that has some.
fn legend(table: &str) -> String {
    let marks = [("*", "has not settled"), ("?", "is no evidence: too little was erased")];
    let used = marks.iter().filter(|(mark, _)| table.contains(mark));
    let mut text: String = used.flat_map(|(mark, meaning)| [mark, " ", meaning, "\n"]).collect();
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// What was sampled, in a sentence.
fn sampled(curves: &Curves) -> String {
    let Some(sample) = &curves.sample else { return String::new() };
    let [larger, smaller] = sample.pages_per_block;
    format!(
        "{} samples each of one page in {} and one in {}, in blocks of {larger} and {smaller} pages instead of {}: \
         {} times fewer page writes.\n\n",
        sample.draws,
        sample.one_in,
        4 * sample.one_in,
        grouped(curves.pages_per_block.into()),
        significant(1.0 / sample.work, 3),
    )
}

/// A row for each drive, a column for each FTL.
fn table(curves: &Curves) -> String {
    let all = || curves.curves.iter().flat_map(|curve| &curve.points);
    let mut drives: Vec<(u32, f64)> = all().map(|point| (point.blocks, point.op_ratio)).collect();
    drives.sort_by_key(|(blocks, _)| *blocks);
    drives.dedup_by_key(|(blocks, _)| *blocks);
    let names = curves.curves.iter().map(|curve| curve.ftl.clone());
    let headings: Vec<String> = std::iter::once("OP".to_owned()).chain(names).collect();
    let rows = drives.iter().map(|(blocks, op)| {
        let of = |curve: &ftlab_experiments::curve::FtlCurve| {
            let point = curve.points.iter().find(|point| point.blocks == *blocks);
            point.map_or_else(|| "-".to_owned(), cell)
        };
        let cells = curves.curves.iter().map(of);
        std::iter::once(percent(*op)).chain(cells).collect::<Vec<_>>()
    });
    ruled(&headings, rows)
}

fn cell(point: &CurvePoint) -> String {
    let mark = match point.standing {
        Standing::None => "?",
        _ if point.has_settled => "",
        _ => "*",
    };
    let value = significant(point.waf, 4) + mark;
    match point.interval {
        Some([low, high]) => format!("{value} ({low:.3}..{high:.3})"),
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_one_page_in_so_many() {
        assert_eq!(parse_sample("1/32").unwrap(), 32);
        for wrong in ["1/1", "2/3", "0.1", "32", "1/0", "1/x", ""] {
            assert!(parse_sample(wrong).unwrap_err().contains("such as 1/32"), "{wrong}");
        }
    }
}

//! `ftlab fit`: which drive has given series of host and media bytes.

mod latency;
mod told;

use crate::error::{CliError, Results};
use crate::figure::{FigureSize, check, write_fit};
use crate::ftls::Ftls;
use crate::options::{ReadingArgs, parse, parse_in};
use crate::output::{print, print_json, say, say_not_reused};
use crate::progress::runs_so_far;
use clap::Args;
use ftlab_experiments::Stop;
use ftlab_experiments::fit::{
    CounterName, Counters, Errors, Fit, Measured, Question, Reading, Series, TRIALS, Trials,
    USUAL_OP_RATIOS, USUAL_PAGES, possible_ftls, unit_pages,
};
use ftlab_ftl::page::GcSchedule;
use ftlab_ftl::registry;
use ftlab_sim::format::significant;
use ftlab_sim::{DriveOptions, Experiment, Fill, SimError, Threads, Workload};
use ftlab_spec::{ByteSize, Share, SpecError};
use ftlab_trace::{check_file, replace_file};
use latency::Usual;
use serde::Serialize;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// Finds the drive that explains series of host and media bytes best: over-provisioning, unit size,
/// reserve and FTL, with the bounds of what the series cannot tell apart.
///
/// Several series of one drive are fitted together (--and); each is also predicted by a fit of the others.
///
/// The series is a CSV file with columns host_bytes and media_bytes, or a log to which the output of nvme
/// fdp stats, or of nvme ocp smart-add-log and nvme smart-log or smartctl, was appended again and again, as
/// text or JSON. Its counters are known by name, with their units; what was read as what is printed.
/// Drives are simulated scaled down, with as many units as the real one would have.
///
/// With --sequential, media bytes follow from a column seconds in place of a counter: from how long writes took that kept the
/// drive busy.
///
/// With --latency, it finds the --timing that explains latencies under load.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab fit drive.csv fio-randwrite:bs=128 --logical 7.68TB --page-size 128KiB --figure fit.svg
  ftlab fit fdp.log jobs.fio --logical 3.84TB --store fit --ftl lfs-cb --ftl sepbit --op 5%..20%
  ftlab fit drive.csv fio-randwrite --logical 3.84TB,7.68TB --skip 2 --json
  ftlab fit fill.csv fill.fio --and random.csv uniform --fill none,sequential --logical 1.92TB \\
      --save mine.toml
  ftlab fit paced.csv uniform --logical 960GB --sequential 1400MB
  ftlab fit --latency latency.csv --reads 5000 --depth 448 --sequential 1500MB
  ftlab fit sata.log jobs.fio --logical 960GB --media-counter NAND_Writes=32MiB")]
pub(crate) struct FitArgs {
    /// The series: a CSV file, or a log of what tools printed.
    #[arg(required_unless_present = "latency")]
    series: Option<PathBuf>,
    /// Another series of the same drive, and the workload that was run; may be repeated.
    #[arg(long = "and", num_args = 2, value_names = ["SERIES", "WORKLOAD"])]
    and: Vec<String>,
    /// A counter of the host's bytes, with the bytes of one if the tool does not say them; repeated, their sum.
    /// A SATA attribute may be named by its number.
    #[arg(long, value_name = "NAME[=SIZE]")]
    host_counter: Vec<CounterName>,
    /// A counter of the bytes that the drive wrote to its medium, given as --host-counter is.
    #[arg(long, value_name = "NAME[=SIZE]")]
    media_counter: Vec<CounterName>,
    /// The workload that was run: a generator, a job file of fio or, last and after --, a command of fio, or a
    /// trace. Sizes in bytes of jobs of fio shrink with the drive.
    #[arg(required_unless_present = "latency")]
    workload: Option<String>,
    #[command(flatten)]
    latency: latency::LatencyArgs,
    /// What the host can address on the real drive, such as 7.68TB; several if that is to be found, too.
    #[arg(
        long,
        value_name = "SIZE,...",
        value_delimiter = ',',
        value_parser = capacity,
        required_unless_present = "latency"
    )]
    logical: Vec<ByteSize>,
    /// Pages of the simulated drives. A trace is simulated on a drive of its full size.
    #[arg(long, value_name = "N", default_value_t = USUAL_PAGES, value_parser = parse_in(16_384_u32..))]
    pages: u32,
    /// Bytes per page, a multiple of 512; the size of the smallest request saves time.
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = ftlab_sim::page_size)]
    page_size: u32,
    /// An FTL to choose from, or several after commas; may be repeated. By default all that a drive can have.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]")]
    ftl: Vec<Ftls>,
    /// Least and most over-provisioning of the coarse grid.
    #[arg(long, value_name = "SHARE..SHARE", value_parser = parse_range)]
    op: Option<(f64, f64)>,
    /// Free units that host writes may not use.
    #[arg(long, value_name = "UNITS", default_value_t = 4, value_parser = parse::<u32>)]
    reserve: u32,
    /// When garbage is collected, as for `ftlab run`. By default when it has to be, or before, gradually or (several series)
    /// throttled, whichever explains more.
    #[arg(long, value_name = "SCHEDULE")]
    gc: Option<GcSchedule>,
    /// How the drive was filled before: none, sequential, random, twice. Of several series, one for all, or one for
    /// each after commas.
    #[arg(long, value_name = "HOW,...", value_delimiter = ',', default_value = "none")]
    fill: Vec<Fill>,
    /// Drive writes (of host bytes) at the start whose intervals do not count, as of a drive that was not empty; one for
    /// all series, or one for each.
    #[arg(long, value_name = "X,...", value_delimiter = ',', default_value = "0")]
    skip: Vec<f64>,
    /// What the workload had written before the first sample, such as 521GiB; one for all series, or one for each.
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', default_value = "0")]
    after: Vec<ByteSize>,
    /// What the drive writes beside the host's pages and those that it moves, as a share of them. By default what
    /// series tell in which an empty drive is filled; without one, the first drive write of those that begin on one.
    #[arg(long, value_name = "SHARE")]
    overhead: Option<Share>,
    /// Seed of generator and random fill.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse::<u64>)]
    seed: u64,
    /// Saves finished runs in this directory, so that the same command resumes where it was stopped.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Writes the drive to this file, which --drive takes.
    #[arg(long, value_name = "FILE.toml", value_parser = toml_path)]
    save: Option<PathBuf>,
    /// Plots measured and fitted write amplification, and the profile of over-provisioning, to this file,
    /// which ends in .svg, .png or .pdf.
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    size: FigureSize,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Maximum number of threads; by default one per processor. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = parse::<NonZeroU32>)]
    threads: Option<NonZeroU32>,
    /// Prints the fit as JSON on standard output, and the tables on standard error.
    #[arg(long)]
    json: bool,
    /// Shows no progress.
    #[arg(long, short)]
    quiet: bool,
}

/// Two shares with two dots between them.
fn parse_range(text: &str) -> Result<(f64, f64), String> {
    let share = |part: &str| part.parse::<Share>().ok().map(|share| share.0);
    let range = text.split_once("..").and_then(|(a, b)| share(a).zip(share(b)));
    range
        .filter(|(least, most)| *least > 0.0 && least < most)
        .ok_or_else(|| format!("{text:?} is not a range of shares such as 5%..20%"))
}

pub(crate) fn fit(args: &FitArgs) -> Result<(), CliError> {
    let threads = args.threads.map_or_else(Threads::processors, |threads| threads.get() as usize);
    if !args.latency.latency.is_empty() {
        let FitArgs { seed, gc, json, quiet, .. } = *args;
        return latency::fit(&args.latency, &Usual { seed, gc, threads, json, quiet });
    }
    args.figure.as_deref().map(check).transpose()?;
    args.save.as_deref().map(check_file).transpose()?;
    let sequential = args.latency.sequential.map(latency::rate).transpose()?;
    if sequential.is_some() && !args.media_counter.is_empty() {
        return Err(CliError::usage(
            "--sequential tells media bytes by how long writes took, and --media-counter by a counter; give one of them",
        ));
    }
    let counters =
        Counters { host: args.host_counter.clone(), media: args.media_counter.clone(), sequential };
    let (series, readings) = series(args, &counters)?;
    let question = question(args, series)?;
    let kept =
        args.store.as_deref().map(|directory| Trials::open(directory, TRIALS)).transpose()?;
    if let Some((kept, directory)) = kept.as_ref().zip(args.store.as_deref()) {
        say_not_reused(kept.others(), directory);
    }
    let reused = kept.as_ref().map_or(0, Trials::len);
    if reused > 0 && !args.quiet {
        say(&format!("{reused} finished runs are in the store\n"));
    }
    let spinner = runs_so_far(args.quiet);
    let fit = question.answer(kept, threads, &|runs| {
        spinner.set_message(format!("{runs} runs"));
    })?;
    spinner.finish_and_clear();
    let text = told::told(&question, &readings, args.page_size, &fit);
    let mut results = Results::default();
    if args.json {
        say(&text);
        let left_out_errors = Errors::of(&fit.left_out);
        results.note(print_json(&Answer { read: &readings, left_out_errors, fit: &fit }));
    } else {
        results.note(print(&text));
    }
    if let Some(path) = &args.save {
        results.note(save(&fit, path));
    }
    if let Some(path) = &args.figure {
        results.note(write_fit(&question.series, &fit, args.size, path));
    }
    results.all()
}

/// What a host can address: something.
fn capacity(text: &str) -> Result<ByteSize, String> {
    let size: ByteSize = text.parse().map_err(|error: SpecError| error.to_string())?;
    if size.0 == 0 {
        return Err("a drive of 0 bytes holds nothing; give its capacity, such as 7.68TB".into());
    }
    Ok(size)
}

/// A path that ends in .toml.
fn toml_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.extension().is_some_and(|extension| extension == "toml") {
        return Ok(path);
    }
    Err(format!("{text} does not end in .toml, by which --drive tells a file from a name"))
}

/// Writes the drive to a file that is named like it.
fn save(fit: &Fit, path: &Path) -> Result<(), CliError> {
    let title = path.file_stem().unwrap_or_default().to_string_lossy();
    let Some(text) = fit.saved(&title) else {
        return Err(CliError::failure(format!(
            "{} is not written: nothing here explains what was measured, so nothing follows from the nearest drive",
            path.display()
        )));
    };
    Ok(replace_file(path, |file| file.write_all(text.as_bytes()))?)
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    /// What of each series was read as what.
    read: &'a [Reading],
    /// How large the errors of `left_out` are.
    left_out_errors: Option<Errors>,
    #[serde(flatten)]
    fit: &'a Fit,
}

/// All series, and what was read of each.
fn series(args: &FitArgs, counters: &Counters) -> Result<(Vec<Series>, Vec<Reading>), CliError> {
    let named = args.series.as_deref().zip(args.workload.as_deref());
    let first = named.ok_or_else(|| CliError::usage("name a series and its workload"))?;
    let others = args.and.chunks_exact(2).map(|pair| (Path::new(&pair[0]), pair[1].as_str()));
    let all: Vec<(&Path, &str)> = std::iter::once(first).chain(others).collect();
    let count = all.len();
    let (mut series, mut readings) = (Vec::new(), Vec::new());
    for (index, (path, workload)) in all.into_iter().enumerate() {
        let (measured, reading) = Measured::read(path, counters)?;
        let workload = Workload::parse(workload, args.reading.open_options(args.page_size))?;
        let base = Experiment {
            drive: DriveOptions {
                page_bytes: args.page_size,
                reserve_blocks: args.reserve,
                gc: args.gc.unwrap_or_default(),
                ..DriveOptions::default()
            },
            fill: *of_each("--fill", &args.fill, index, count)?,
            seed: args.seed,
            ..Experiment::new(workload, Vec::new())
        };
        series.push(Series {
            name: path.display().to_string(),
            base,
            measured,
            skip: *of_each("--skip", &args.skip, index, count)?,
            after: of_each("--after", &args.after, index, count)?.0,
        });
        readings.push(reading);
    }
    Ok((series, readings))
}

/// The value of an option for one of `count` series: there is one for all, or one for each.
fn of_each<'a, T>(
    option: &str,
    values: &'a [T],
    index: usize,
    count: usize,
) -> Result<&'a T, CliError> {
    match values {
        [all] => Ok(all),
        _ if values.len() == count => Ok(&values[index]),
        _ => Err(CliError::usage(format!(
            "{option} has {} values, and there are {count} series; give one value for all, or one for each",
            values.len()
        ))),
    }
}

fn question(args: &FitArgs, series: Vec<Series>) -> Result<Question, CliError> {
    let capacities: Vec<u64> = args.logical.iter().map(|size| size.0).collect();
    let is_scaled = series.iter().all(|series| series.base.workload.is_generator());
    let pages = if is_scaled { args.pages } else { pages_of(args)? };
    let ftls = if args.ftl.is_empty() { possible_ftls() } else { Ftls::all(&args.ftl) };
    for ftl in &ftls {
        registry::resolve(ftl).map_err(SimError::from)?;
    }
    let largest = capacities.iter().copied().max().unwrap_or(1) as f64;
    for own in &series {
        let drive_writes = own.measured.host_bytes() / largest;
        if own.skip > 0.0 && own.skip >= 0.8 * drive_writes {
            return Err(CliError::usage(format!(
                "--skip {} leaves nothing of {}, a series of {} drive writes; give less",
                own.skip,
                own.name,
                significant(drive_writes, 3)
            )));
        }
    }
    Ok(Question {
        series,
        capacities,
        overhead: args.overhead.map(|share| share.0),
        tries_gradual: args.gc.is_none(),
        pages,
        ftls,
        op_ratios: args.op.unwrap_or(USUAL_OP_RATIOS),
        unit_pages: unit_pages(pages),
        stop: Stop::default(),
    })
}

/// The pages of a drive of its full size, which a trace needs.
fn pages_of(args: &FitArgs) -> Result<u32, CliError> {
    let pages = args.logical[0].0 / u64::from(args.page_size);
    match (u32::try_from(pages), args.logical.len()) {
        (Ok(pages), 1) if pages > 0 => Ok(pages),
        _ => Err(CliError::usage(format!(
            "a trace has addresses of its own, so its drive cannot be scaled down, and {pages} pages of {} bytes are \
             too many or none, or --logical has several sizes; give one --logical and a larger --page-size",
            args.page_size
        ))),
    }
}

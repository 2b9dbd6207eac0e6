//! `ftlab fit`: which drive has given a series of host and media bytes.

use crate::error::{CliError, Results};
use crate::figure::{FigureSize, check, write_fit};
use crate::ftls::Ftls;
use crate::options::{ReadingArgs, parse, parse_in};
use crate::output::{aligned, print, print_json, say, say_not_reused};
use crate::progress::runs_so_far;
use crate::table::ruled;
use clap::Args;
use ftlab_experiments::Stop;
use ftlab_experiments::fit::{
    CounterName, Counters, Fit, Measured, Question, Reading, TRIALS, Trial, Trials,
    USUAL_OP_RATIOS, USUAL_PAGES, possible_ftls, unit_pages,
};
use ftlab_ftl::page::GcSchedule;
use ftlab_ftl::registry;
use ftlab_sim::format::{bytes, grouped, percent, significant};
use ftlab_sim::{DriveOptions, Experiment, Fill, SimError, Threads, Workload};
use ftlab_spec::{ByteSize, Share};
use serde::Serialize;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// Finds the drive that explains a series of host and media bytes best: over-provisioning, unit size,
/// reserve and FTL, with the bounds of what the series cannot tell apart.
///
/// The series is a CSV file with columns host_bytes and media_bytes, or a log to which the output of nvme
/// fdp stats, or of nvme ocp smart-add-log and nvme smart-log or smartctl, was appended again and again, as
/// text or JSON. Its counters are known by name, with their units; what was read as what is printed.
/// Drives are simulated scaled down, with as many units as the real one would have.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab fit drive.csv fio-randwrite:bs=128 --logical 7.68TB --page-size 128KiB --figure fit.svg
  ftlab fit fdp.log jobs.fio --logical 3.84TB --store fit --ftl lfs-cb --ftl sepbit --op 5%..20%
  ftlab fit drive.csv fio-randwrite --logical 3.84TB,7.68TB --skip 2 --json
  ftlab fit sata.log jobs.fio --logical 960GB --media-counter NAND_Writes=32MiB")]
pub(crate) struct FitArgs {
    /// The series: a CSV file, or a log of what tools printed.
    series: PathBuf,
    /// A counter of the host's bytes, with the bytes of one if the tool does not say them; repeated, their sum.
    /// A SATA attribute may be named by its number.
    #[arg(long, value_name = "NAME[=SIZE]")]
    host_counter: Vec<CounterName>,
    /// A counter of the bytes that the drive wrote to its medium, given as --host-counter is.
    #[arg(long, value_name = "NAME[=SIZE]")]
    media_counter: Vec<CounterName>,
    /// The workload that was run: a generator, a job file of fio or, last and after --, a command of fio, or a
    /// trace. Sizes in bytes of jobs of fio shrink with the drive.
    workload: String,
    /// What the host can address on the real drive, such as 7.68TB; several if that is to be found, too.
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', required = true)]
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
    /// When garbage is collected, as for `ftlab run`.
    #[arg(long, value_name = "SCHEDULE", default_value_t = GcSchedule::Foreground)]
    gc: GcSchedule,
    /// How the drive was filled before: none, sequential, random, twice.
    #[arg(long, value_name = "HOW", default_value_t = Fill::None)]
    fill: Fill,
    /// Drive writes (of host bytes) at the start whose intervals do not count, as of a drive that was not empty.
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    skip: f64,
    /// Seed of generator and random fill.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse::<u64>)]
    seed: u64,
    /// Saves finished runs in this directory, so that the same command resumes where it was stopped.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
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
    args.figure.as_deref().map(check).transpose()?;
    let counters = Counters { host: args.host_counter.clone(), media: args.media_counter.clone() };
    let (measured, reading) = Measured::read(&args.series, &counters)?;
    let question = question(args, measured)?;
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
    let threads = args.threads.map_or_else(Threads::processors, |threads| threads.get() as usize);
    let fit = question.answer(kept, threads, &|runs| {
        spinner.set_message(format!("{runs} runs"));
    })?;
    spinner.finish_and_clear();
    let text = header(args, &question, &reading, &fit) + &table(&fit) + "\n" + &answer(&fit);
    let mut results = Results::default();
    if args.json {
        say(&text);
        results.note(print_json(&Answer { read: &reading, fit: &fit }));
    } else {
        results.note(print(&text));
    }
    if let Some(path) = &args.figure {
        results.note(write_fit(&question.measured, &fit, args.size, path));
    }
    results.all()
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    /// What of the series was read as what.
    read: &'a Reading,
    #[serde(flatten)]
    fit: &'a Fit,
}

fn question(args: &FitArgs, measured: Measured) -> Result<Question, CliError> {
    let workload = Workload::parse(&args.workload, args.reading.open_options(args.page_size))?;
    let capacities: Vec<u64> = args.logical.iter().map(|size| size.0).collect();
    let pages = if workload.is_generator() { args.pages } else { pages_of(args)? };
    let base = Experiment {
        drive: DriveOptions {
            page_bytes: args.page_size,
            reserve_blocks: args.reserve,
            gc: args.gc,
            ..DriveOptions::default()
        },
        fill: args.fill,
        seed: args.seed,
        ..Experiment::new(workload, Vec::new())
    };
    let ftls = if args.ftl.is_empty() { possible_ftls() } else { Ftls::all(&args.ftl) };
    for ftl in &ftls {
        registry::resolve(ftl).map_err(SimError::from)?;
    }
    let drive_writes = measured.host_bytes() / capacities.iter().copied().max().unwrap_or(1) as f64;
    if args.skip >= 0.8 * drive_writes {
        return Err(CliError::usage(format!(
            "--skip {} leaves nothing of a series of {} drive writes; give less",
            args.skip,
            significant(drive_writes, 3)
        )));
    }
    Ok(Question {
        base,
        measured,
        capacities,
        pages,
        ftls,
        op_ratios: args.op.unwrap_or(USUAL_OP_RATIOS),
        unit_pages: unit_pages(pages),
        skip: args.skip,
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

/// What was measured, and how it is simulated.
fn header(args: &FitArgs, question: &Question, reading: &Reading, fit: &Fit) -> String {
    let Question { measured, .. } = question;
    let best = &fit.drives[0];
    let real = best.candidate.capacity;
    let simulated = u64::from(fit.pages) * u64::from(args.page_size);
    let mut lines = vec![
        (
            "series",
            format!(
                "{} samples, {} TB of the host, {} drive writes",
                measured.samples(),
                significant(measured.host_bytes() / 1e12, 4),
                significant(measured.host_bytes() / real as f64, 3)
            ),
        ),
        ("read", reading.to_string()),
        (
            "measured",
            format!(
                "{} media bytes per host byte, {} over the last fifth{}",
                significant(measured.waf(), 4),
                significant(measured.waf_last_fifth(), 4),
                in_part(fit)
            ),
        ),
        (
            "simulated",
            format!(
                "{} pages, {}, for {} TB: as many units, each {} times smaller",
                grouped(fit.pages.into()),
                bytes(simulated),
                significant(real as f64 / 1e12, 4),
                significant(real as f64 / simulated as f64, 3)
            ),
        ),
    ];
    if question.skip > 0.0 {
        lines.push(("skipped", format!("the first {} drive writes", question.skip)));
    }
    aligned(&lines) + "\n"
}

/// What is said of a host that writes pages in part; nothing if it writes whole pages.
fn in_part(fit: &Fit) -> String {
    if fit.media_bytes_per_host_byte <= fit.waf {
        return String::new();
    }
    format!(
        "; the host writes pages in part, and the write amplification of pages is {}",
        significant(fit.waf, 4)
    )
}

/// A row for each FTL: those that were followed to the end, and the best of the others.
fn table(fit: &Fit) -> String {
    let several =
        fit.drives.iter().any(|t| t.candidate.capacity != fit.drives[0].candidate.capacity);
    let mut headings: Vec<String> =
        ["FTL", "over-\nprovisioning", "unit", "units", "off, rms\nof WAF - 1", "off, last\nfifth"]
            .map(str::to_owned)
            .to_vec();
    if several {
        headings.insert(1, "capacity".into());
    }
    let row = |trial: &Trial, mark: &str| {
        let mut row = vec![
            format!("{}{mark}", trial.candidate.ftl),
            tenths(trial.op_ratio),
            decimal(trial.unit_bytes),
            grouped(trial.units.into()),
            tenths(trial.distance.rms),
            signed(trial.distance.last_fifth),
        ];
        if several {
            row.insert(1, decimal(trial.candidate.capacity as f64));
        }
        row
    };
    let drives = fit.drives.iter().enumerate();
    let mut rows: Vec<_> = drives
        .map(|(place, trial)| {
            row(trial, if place > 0 && place < fit.as_good { " (as good)" } else { "" })
        })
        .collect();
    rows.extend(fit.left.iter().take(3).map(|trial| row(trial, " (not followed)")));
    ruled(&headings, rows)
}

/// The drive in words, its bounds, and what to keep in mind.
fn answer(fit: &Fit) -> String {
    let (best, bounds) = (&fit.drives[0], &fit.bounds);
    let sentence = format!(
        "{} with {} of over-provisioning ({} to {}), units of {} ({} to {}) and a reserve of {} of them ({} to {}): \
         {} off over the intervals, {} over the last fifth.\n",
        best.candidate.ftl,
        tenths(best.op_ratio),
        tenths(bounds.op_ratio.0),
        tenths(bounds.op_ratio.1),
        decimal(best.unit_bytes),
        decimal(bounds.unit_bytes.0),
        decimal(bounds.unit_bytes.1),
        best.candidate.reserve,
        bounds.reserve.0,
        bounds.reserve.1,
        tenths(best.distance.rms),
        signed(best.distance.last_fifth)
    );
    let caveats = caveats(fit);
    let caveats: String = caveats.iter().flat_map(|caveat| ["- ", caveat.as_str(), "\n"]).collect();
    format!("{sentence}\nTo keep in mind:\n{caveats}")
}

fn caveats(fit: &Fit) -> Vec<String> {
    let (best, bounds) = (&fit.drives[0], &fit.bounds);
    let mut caveats = vec![
        format!(
            "In brackets is what the series does not exclude if this is the FTL (profile likelihood, 95%, {} \
             independent intervals): up to {} off.",
            significant(bounds.intervals, 2),
            tenths(bounds.rms_most)
        ),
        format!(
            "Over-provisioning is beside the reserve: with one more unit in reserve it would be {} more.",
            percent(best.unit_bytes / best.candidate.capacity as f64)
        ),
    ];
    if fit.as_good > 1 {
        let names: Vec<_> =
            fit.drives[1..fit.as_good].iter().map(|trial| trial.candidate.ftl.as_str()).collect();
        caveats.push(format!("The series cannot tell it from {}.", names.join(", ")));
    }
    caveats.extend(fit.scales.as_ref().map(|scales| {
        format!(
            "The same drive with {} pages is {} off over the intervals of the first {} TB, and this one {}.",
            grouped(scales.pages.into()),
            tenths(scales.larger.distance.rms),
            significant(scales.host_bytes / 1e12, 3),
            tenths(scales.own.distance.rms)
        )
    }));
    if !fit.left.is_empty() {
        caveats.push(
            "Drives that were not followed are held against the beginning of the series.".into(),
        );
    }
    caveats.extend(
        fit.refused
            .as_ref()
            .map(|refused| format!("Some drives were not possible, such as {refused}")),
    );
    caveats
}

fn tenths(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

fn signed(share: f64) -> String {
    format!("{:+.1}%", 100.0 * share)
}

/// Bytes as drives are sold: with powers of ten.
fn decimal(bytes: f64) -> String {
    let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let (unit, size) = units.into_iter().find(|(_, size)| bytes >= *size).unwrap_or(("B", 1.0));
    format!("{} {unit}", significant(bytes / size, 3))
}

//! `ftlab fleet`: traces of many volumes, each on a drive of its own.

mod page;
mod told;
mod written;

use crate::error::{CliError, Results};
use crate::figure::{self, write_fleet};
use crate::ftls::Ftls;
use crate::options::{ReadingArgs, parse};
use crate::output::{print, print_json, say};
use crate::words::{Choice, Words};
use clap::{Args, Parser};
use ftlab_experiments::sweep::Shard;
use ftlab_fleet::{
    Fleet, Manifest, Means, Order, Outcome, PACK_MAX, Packing, Row, Selection, Sizes, Totals,
    finished, rows, run, write_rows,
};
use ftlab_ftl::registry;
use ftlab_sim::format::grouped;
use ftlab_sim::{DriveOptions, Experiment, Logical, Threads, Workload, limit_memory};
use ftlab_spec::{ByteSize, Share, Spec};
use ftlab_trace::{available_bytes, check_file, replace_file};
use page::write_page;
use std::ffi::OsString;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use told::{Told, flags, head, table};
use written::{WrittenFile, write_generated};

/// Runs every volume of traces on a drive of its own: each trace is read once, whatever the number of volumes and FTLs.
///
/// Everything is kept in DIR: the same command resumes where it was stopped. `ftlab fleet --out DIR` continues what was
/// planned there, and --shard does a part of it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab fleet alibaba.csv.gz --sizes device_size.csv --ftl 2r-fifo --ftl sepbit --op 15% --out fleet
  ftlab fleet 'traces/*.parquet' --ftl 1r-greedy,sepbit --select all --out fleet
  zcat io_traces.csv.gz | ftlab fleet - --ftl sepbit --memory 16GiB --out fleet
  ftlab fleet alibaba.csv.gz --ftl sepbit --out fleet --plan
  ftlab fleet alibaba.csv.gz --ftl sepbit,nvme-fdp --pack 64 --by lifetime,random --out packs
  ftlab fleet --out fleet --shard $SLURM_ARRAY_TASK_ID/16   # a part of it, for a job array")]
pub(crate) struct FleetArgs {
    /// Traces: files, patterns of their names such as 'traces/*.csv.gz', or - for standard input. A trace that names no
    /// volumes is one, with the name of its file. Without traces, what DIR has planned is continued.
    #[arg(value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Directory for everything: the manifest, what was read, finished runs, and fleet.parquet, totals.json, fleet.svg
    /// and fleet.html.
    #[arg(long, value_name = "DIR", required_unless_present = "write")]
    out: Option<PathBuf>,
    /// An FTL with parameters, or several after commas; may be repeated.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]")]
    ftl: Vec<Ftls>,
    /// The FTL that others are held against; by default the first one.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]")]
    baseline: Option<Ftls>,
    /// Table of sizes of volumes: a line has a name and its bytes. Without it, a drive ends at the highest address of its
    /// volume.
    #[arg(long, value_name = "FILE")]
    sizes: Option<PathBuf>,
    /// Which volumes are run, such as "written > 2 * footprint and footprint > 10GiB", or all. By default this one; if
    /// it selects none, without the size, and at last all.
    #[arg(long, value_name = "CONDITION")]
    select: Option<Selection>,
    /// Puts N volumes on a drive, with their requests merged by time, instead of each on a drive of its own. Answers which
    /// volumes should share a drive.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=PACK_MAX as i64))]
    pack: Option<u16>,
    /// By what volumes are put together: lifetime (of their pages), size, random, random:draws=N, or alone, which is a
    /// drive for each with its own share of the over-provisioning. Several are compared.
    #[arg(
        long,
        value_name = "ORDER,...",
        value_delimiter = ',',
        requires = "pack",
        default_value = "lifetime,size,random"
    )]
    by: Vec<Order>,
    /// Placement handles of a drive, for FTLs that use them (nvme-fdp): volumes of similar lifetime share one.
    #[arg(long, value_name = "N", requires = "pack", default_value_t = 8,
        value_parser = clap::value_parser!(u16).range(1..=16))]
    handles: u16,
    /// Ends at the first trace or volume that something is wrong with, instead of naming it.
    #[arg(long)]
    strict: bool,
    /// Memory for everything together; by default three quarters of what is available.
    #[arg(long, value_name = "SIZE")]
    memory: Option<ByteSize>,
    /// Number of threads; by default one per processor. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = parse::<NonZeroU32>)]
    threads: Option<NonZeroU32>,
    /// Reads the traces and writes the manifest, and runs nothing.
    #[arg(long)]
    plan: bool,
    /// Runs part I of N of what is planned, such as 3/16; any number of processes may share a directory.
    #[arg(long, value_name = "I/N", default_value_t = Shard::WHOLE)]
    shard: Shard,
    /// Writes a fleet that is made up (fleet:volumes=100) to a file, as alibaba, tencent, parquet or another format that
    /// is written, or the sizes of its volumes (sizes=FILE), and runs nothing; may be repeated.
    #[arg(long, value_name = "FORMAT=FILE")]
    write: Vec<WrittenFile>,
    #[command(flatten)]
    shown: ShownArgs,
    #[command(flatten)]
    drives: DrivesArgs,
    #[command(flatten)]
    reading: ReadingArgs,
}

#[derive(Debug, Args)]
struct ShownArgs {
    /// Prints totals as JSON on standard output, and the tables on standard error.
    #[arg(long)]
    json: bool,
    /// Shows no progress.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Drive")]
struct DrivesArgs {
    /// Over-provisioning, (physical - logical) / logical.
    #[arg(long, value_name = "SHARE,...", value_delimiter = ',', default_value = "10%")]
    op: Vec<Share>,
    #[command(flatten)]
    drive: Words<DriveOptions, OfVolumes>,
    #[command(flatten)]
    run: Words<Experiment, OfVolumes>,
}

/// What drives of volumes have, and runs on them.
#[derive(Debug)]
struct OfVolumes;

impl Choice for OfVolumes {
    fn takes(name: &str, heading: &str) -> bool {
        // Over-provisioning is a list here, and every run has one thread.
        !heading.is_empty() && heading != "Report" && !matches!(name, "op" | "blocks" | "threads")
    }
}

/// A question that is asked again, by the words of a manifest.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Again {
    #[command(flatten)]
    args: FleetArgs,
}

/// Files of results, beside the manifest and what it refers to.
const FILES: [&str; 4] = ["fleet.parquet", "totals.json", "fleet.svg", "fleet.html"];

pub(crate) fn fleet(args: &FleetArgs, typed: &[OsString]) -> Result<(), CliError> {
    if !args.write.is_empty() {
        return write_generated(&args.traces, &args.write, args.shown.quiet);
    }
    let means = means(args);
    limit_memory(means.memory_bytes);
    let told = Told::new(args.shown.quiet);
    let (question, fleet, manifest) = if args.traces.is_empty() {
        check_continued(typed, args.place())?;
        let (question, manifest) = asked_before(args)?;
        let fleet = question.fleet(&[])?;
        (Some(question), fleet, manifest)
    } else {
        let words: Vec<_> =
            typed.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        let fleet = args.fleet(&words)?;
        let manifest = fleet.plan(&means, &told)?;
        (None, fleet, manifest)
    };
    told.finish();
    if args.plan {
        return print(&(head(&manifest) + &planned(&manifest, args.place())));
    }
    let outcomes = run(&fleet, &manifest, &means, args.shard, &|done, of, name, outcome| {
        told.ran(done, of, name, outcome);
    })?;
    told.finish();
    if args.shard != Shard::WHOLE {
        return tell_shard(args, &manifest, &outcomes);
    }
    let asked = question.as_ref().unwrap_or(args);
    asked.conclude(args, &fleet, &manifest, &outcomes)
}

fn means(args: &FleetArgs) -> Means {
    let memory = || available_bytes().map_or(4 << 30, |available| available / 4 * 3);
    Means {
        directory: args.place().into(),
        threads: args.threads.map_or_else(Threads::processors, |threads| threads.get() as usize),
        memory_bytes: args.memory.map_or_else(memory, |memory| memory.0),
    }
}

/// The question that a directory was planned for, and the manifest.
fn asked_before(args: &FleetArgs) -> Result<(FleetArgs, Manifest), CliError> {
    let place = args.place().display();
    let Some(manifest) = Manifest::read(args.place())? else {
        return Err(CliError::usage(format!(
            "no trace is named, and {place} has no fleet that was planned; name traces, such as ftlab fleet trace.csv.gz \
             --ftl sepbit --out {place}"
        )));
    };
    let again = Again::try_parse_from(&manifest.words);
    let again = again.map_err(|error| {
        CliError::failure(format!(
            "{place} was planned by a command that is no longer understood: {error}"
        ))
    })?;
    Ok((again.args, manifest))
}

/// Options that have a meaning for what is planned already.
const OF_CONTINUED: [&str; 7] =
    ["--out", "--shard", "--threads", "--memory", "--json", "--quiet", "-q"];

/// Refuses options that the plan has, or has not.
fn check_continued(typed: &[OsString], place: &Path) -> Result<(), CliError> {
    let words = typed.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    let mut options = words.filter(|word| word.starts_with('-'));
    let other = options.find(|word| {
        let name = word.split('=').next().unwrap_or(word);
        !OF_CONTINUED.contains(&name)
    });
    other.map_or(Ok(()), |word| {
        Err(CliError::usage(format!(
            "no trace is named, so what {} has planned is continued, and {word} cannot change that; leave it out, or \
             give the traces and all options again",
            place.display()
        )))
    })
}

fn planned(manifest: &Manifest, place: &Path) -> String {
    format!(
        "planned {} runs; `ftlab fleet --out {}` does them, and with --shard I/N a part of them\n",
        grouped(manifest.cells.len() as u64),
        place.display()
    )
}

fn tell_shard(args: &FleetArgs, manifest: &Manifest, outcomes: &[Outcome]) -> Result<(), CliError> {
    let failed: Vec<_> = outcomes
        .iter()
        .filter_map(|(number, run)| Some((&manifest.cells[*number], run.as_ref().err()?)))
        .collect();
    for (cell, why) in &failed {
        let name = manifest.name(cell);
        say(&format!("volume {} with {}: {why}\n", name.volume, name.ftl));
    }
    let done = finished(manifest, args.place())?;
    print(&format!(
        "part {}: {} runs, {} of them failed; {} of {} runs of the fleet are finished. `ftlab fleet --out {}` makes the \
         tables of all\n",
        args.shard,
        grouped(outcomes.len() as u64),
        grouped(failed.len() as u64),
        grouped(done as u64),
        grouped(manifest.cells.len() as u64),
        args.place().display()
    ))
}

impl FleetArgs {
    /// The directory for everything.
    fn place(&self) -> &Path {
        self.out.as_deref().unwrap_or(Path::new("."))
    }

    fn fleet(&self, words: &[String]) -> Result<Fleet, CliError> {
        let drive = self.drives.drive.apply(DriveOptions::default())?;
        let ftls = self.ftls()?;
        let workload = Workload::Generator(Spec::bare("uniform"));
        let base = Experiment { drive, ..Experiment::new(workload, Vec::new()) };
        let base = self.drives.run.apply(base)?;
        let reading = self.reading.open_options(base.drive.page_bytes);
        if let (Some(path), true) = (&self.sizes, base.drive.logical != Logical::OfWorkload) {
            return Err(CliError::usage(format!(
                "--logical gives all drives one size, and --sizes {} each its own; give one of them",
                path.display()
            )));
        }
        // The manifest has the sizes.
        let sizes = self.sizes.as_ref().filter(|_| !words.is_empty());
        Ok(Fleet {
            traces: self.traces.clone(),
            reading,
            sizes: sizes.map(|path| Sizes::read(path)).transpose()?,
            base,
            ftls,
            op_ratios: self.drives.op.clone(),
            select: self.select.clone(),
            packing: self.pack.map(|volumes| Packing {
                volumes: volumes.into(),
                orders: self.by.clone(),
                handles: self.handles,
            }),
            strict: self.strict,
            words: words.to_vec(),
        })
    }

    /// The FTLs, that of the baseline among them.
    fn ftls(&self) -> Result<Vec<Spec>, CliError> {
        let mut ftls = Ftls::all(&self.ftl);
        let absent = self.baseline()?.filter(|baseline| !ftls.contains(baseline));
        ftls.splice(0..0, absent);
        if ftls.is_empty() {
            return Err(CliError::usage(
                "no FTL is named; give --ftl, such as --ftl sepbit (see `ftlab list ftls`)",
            ));
        }
        for (index, ftl) in ftls.iter().enumerate() {
            registry::resolve(ftl)?;
            if ftls[..index].contains(ftl) {
                return Err(CliError::usage(format!("{ftl} is named twice; name each FTL once")));
            }
        }
        Ok(ftls)
    }

    fn baseline(&self) -> Result<Option<Spec>, CliError> {
        let Some(baseline) = &self.baseline else { return Ok(None) };
        match Ftls::all(std::slice::from_ref(baseline)).as_slice() {
            [one] => Ok(Some(one.clone())),
            _ => Err(CliError::usage("--baseline is one FTL; name the others with --ftl")),
        }
    }

    /// Writes the results of all runs, and shows what they come to.
    fn conclude(
        &self,
        now: &FleetArgs,
        fleet: &Fleet,
        manifest: &Manifest,
        outcomes: &[Outcome],
    ) -> Result<(), CliError> {
        let baseline = self.baseline()?.unwrap_or_else(|| fleet.ftls[0].clone()).to_string();
        let page_bytes = fleet.base.drive.page_bytes;
        let rows = rows(manifest, outcomes, &baseline);
        let totals = Totals::new(manifest, &rows, &baseline, fleet.assumed());
        let [table_path, json, figure, page] = FILES.map(|name| now.place().join(name));
        let mut results = Results::default();
        results.note(write_rows(&rows, page_bytes, &table_path).map_err(Into::into));
        results.note(write_totals(&totals, &json));
        results.note(draw(&totals, &rows, &figure));
        results.note(write_page(manifest, &totals, &rows, page_bytes, &page));
        let text = head(manifest) + &table(&totals) + &flags(&totals) + &totals.trust.line + "\n";
        if now.shown.json {
            say(&text);
            results.note(print_json(&totals));
        } else {
            results.note(print(&text));
        }
        results.all()?;
        if !now.shown.quiet {
            let has_figure = totals.ftls.iter().any(|of| of.waf.is_some());
            let files = FILES.into_iter().filter(|name| has_figure || *name != "fleet.svg");
            let files = files.collect::<Vec<_>>().join(", ");
            say(&format!("wrote {files} to {}\n", now.place().display()));
        }
        Ok(())
    }
}

fn write_totals(totals: &Totals, path: &Path) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(totals)
        .map_err(|error| CliError::failure(format!("{}: {error}", path.display())))?;
    Ok(replace_file(path, |file| writeln!(file, "{text}"))?)
}

fn draw(totals: &Totals, rows: &[Row<'_>], path: &Path) -> Result<(), CliError> {
    if totals.ftls.iter().all(|of| of.waf.is_none()) {
        // There is nothing to draw; what an earlier fleet has drawn would be taken for its picture.
        check_file(path)?;
        let _ = std::fs::remove_file(path);
        return Ok(());
    }
    figure::check(path)?;
    write_fleet(totals, rows, path)
}

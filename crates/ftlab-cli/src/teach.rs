//! `ftlab teach`: garbage collection step by step, on a drive that is small enough to see every page.

use crate::error::CliError;
use crate::ftls::Ftls;
use crate::options::{ReadingArgs, parse};
use crate::output::say;
use crate::typed::command;
use clap::Args;
use ftlab_report::lesson_page;
use ftlab_sim::lesson::LessonPlan;
use ftlab_sim::{Fill, Workload};
use ftlab_trace::{check_file, replace_file};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

/// Writes an HTML page that shows one to three FTLs at work on a small drive, step by step: writes,
/// choices of victims, moves, erases.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab teach
  ftlab teach --ftl 1r-greedy --ftl 2r-fifo --out teach.html
  ftlab teach zipf:theta=0.9 --ftl single/cost-benefit --blocks 10 --fill random
  ftlab teach trace.parquet --ftl sepbit --blocks 16 --compact")]
pub(crate) struct TeachArgs {
    /// A trace file (- is standard input), or a generator, as of `ftlab run`; addresses beyond the drive
    /// are taken modulo its size.
    #[arg(default_value = "hotcold")]
    workload: String,
    /// A page-mapped FTL with parameters, or several after commas; up to three, which serve the same writes side by side.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]", default_values = ["1r-greedy", "2r-fifo"])]
    ftl: Vec<Ftls>,
    /// The HTML page.
    #[arg(long, value_name = "FILE.html", default_value = "teach.html")]
    out: PathBuf,
    /// Number of erase blocks, at most 32.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = parse::<u32>)]
    blocks: u32,
    /// Pages per erase block, from 2 to 64.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = parse::<u32>)]
    pages_per_block: u32,
    /// Pages that the host can address; by default as many as leave the FTLs the blocks that they need.
    #[arg(long, value_name = "N", value_parser = parse::<u32>)]
    logical_pages: Option<u32>,
    /// Host page writes after the fill, at most 1000; fewer if a trace ends before.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = parse::<u64>)]
    writes: u64,
    /// How the drive is filled first, which is not shown: none, every page once in ascending order
    /// (sequential), or every page once in random order (random).
    #[arg(long, value_name = "HOW", default_value_t = Fill::default())]
    fill: Fill,
    /// Seed of generator and random fill: same seed, same steps.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse::<u64>)]
    seed: u64,
    #[command(flatten)]
    reading: ReadingArgs,
}

pub(crate) fn teach(args: &TeachArgs, typed: &[OsString]) -> Result<(), CliError> {
    let open = args.reading.open_options(ftlab_sim::lesson::PAGE_BYTES);
    let plan = LessonPlan {
        blocks: args.blocks,
        pages_per_block: args.pages_per_block,
        logical_pages: args.logical_pages,
        writes: args.writes,
        fill: args.fill,
        seed: args.seed,
        ..LessonPlan::new(Workload::parse(&args.workload, open)?, Ftls::all(&args.ftl))
    };
    check_file(&args.out)?;
    let mut lesson = plan.run()?;
    lesson.result.command = Some(command(typed));
    let page = lesson_page(&lesson)?;
    replace_file(&args.out, |file| file.write_all(page.as_bytes()))?;
    say(&format!("wrote {}\n", args.out.display()));
    Ok(())
}

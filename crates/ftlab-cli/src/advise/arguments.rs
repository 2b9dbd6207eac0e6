//! The arguments of `ftlab advise`.

use crate::figure::FigureSize;
use crate::ftls::Ftls;
use crate::options::{ReadingArgs, parse, parse_positive};
use crate::words::{Choice, Words};
use clap::Args;
use ftlab_experiments::advise::{Service, Slo};
use ftlab_sim::{DriveClass, DriveOptions, Experiment};
use ftlab_spec::{ByteSize, Share, Spec};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// Finds which FTL reaches a target on a workload, and with how much over-provisioning.
///
/// Runs every FTL on drives with increasing amounts of flash, then on drives between those that miss
/// the target and those that meet it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab advise trace.parquet --target-waf 1.3
  ftlab advise trace.parquet --target-waf 1.5 --drive \"7.68TB, 7%\"
  ftlab advise zones --zones 1GiB,2GiB,4GiB,8GiB --open 1,4 --drive fdp-a
  ftlab advise trace.parquet --tbw 600 --endurance 3000 --figure trade-off.svg
  ftlab advise trace.parquet --mapping-cache --figure memory.svg
  ftlab advise zipf:theta=0.9 --logical 1GiB --dwpd 1 --endurance 1000 --ftl 2r++ --ftl hazard
  ftlab advise mixed.fio --logical 1GiB --slo read-p99.9=1ms --load 50k
  ftlab advise trace.parquet --endurance 3000 --daily-writes 1TiB --years 5 --price 0.08")]
pub(crate) struct AdviseArgs {
    /// A trace file, a generator, or a job file of fio; or, last and after --, a command of fio.
    pub(super) workload: String,
    #[command(flatten)]
    pub(super) target: TargetArgs,
    /// An FTL to choose from, or several after commas; may be repeated. By default 1r-greedy, 2r-fifo, 2r++, dac-cb,
    /// sepbit, midas and hazard. With --drive, sep-gc/cost-benefit and 1r-greedy, as drives have them, and beside these
    /// what 2r++, sepbit and hazard would bring.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]")]
    pub(super) ftl: Vec<Ftls>,
    #[command(flatten)]
    pub(super) service: ServiceArgs,
    #[command(flatten)]
    pub(super) drive: DriveArgs,
    #[command(flatten)]
    pub(super) reading: ReadingArgs,
    /// Plots the curves to this file, which ends in .svg, .png or .pdf.
    #[arg(long, value_name = "FILE")]
    pub(super) figure: Option<PathBuf>,
    #[command(flatten)]
    pub(super) size: FigureSize,
    /// Writes evidence, curves, answer and caveats to this HTML page.
    #[arg(long, value_name = "FILE.html")]
    pub(super) report: Option<PathBuf>,
    /// Maximum number of threads; by default one per processor.
    #[arg(long, value_name = "N", value_parser = parse::<NonZeroU32>)]
    pub(super) threads: Option<NonZeroU32>,
    /// Prints the answer as JSON on standard output, and the table on standard error.
    #[arg(long)]
    pub(super) json: bool,
    /// Shows no progress.
    #[arg(long, short)]
    pub(super) quiet: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Target")]
pub(super) struct TargetArgs {
    /// The highest write amplification.
    #[arg(long, value_name = "WAF", conflicts_with_all = ["tbw", "dwpd"], value_parser = parse_waf)]
    pub(super) target_waf: Option<f64>,
    /// The minimum of terabytes (10^12 bytes) that the host can write; requires --endurance.
    #[arg(long, value_name = "TB", requires = "endurance", value_parser = parse_positive)]
    pub(super) tbw: Option<f64>,
    /// What the drive must survive, in drive writes per day over five years.
    #[arg(long, value_name = "N", requires = "endurance", conflicts_with = "tbw",
          value_parser = parse_positive)]
    pub(super) dwpd: Option<f64>,
    /// The longest response time of a percentile of the requests: read or write, mean or p50 to p99.999, and a time,
    /// such as read-p99.9=1ms; requires --load.
    #[arg(long, value_name = "OBJECTIVE", requires = "load", conflicts_with_all = ["target_waf", "tbw", "dwpd"])]
    pub(super) slo: Option<Slo>,
    /// Requests a second that come, at random, such as 50k.
    #[arg(long, value_name = "RATE", requires = "slo", value_parser = parse_rate)]
    pub(super) load: Option<f64>,
    /// The flash for --slo; see `ftlab list timings`.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]", requires = "slo", default_value = "femu")]
    pub(super) timing: Spec,
    /// Program/erase cycles that a block endures.
    #[arg(long, value_name = "CYCLES", value_parser = parse::<NonZeroU32>)]
    pub(super) endurance: Option<NonZeroU32>,
}

/// What the drive is for: adds the one that uses the least flash over the years.
#[derive(Debug, Args)]
#[command(next_help_heading = "Years of service")]
pub(super) struct ServiceArgs {
    /// Bytes that the host writes a day: adds which drive uses the least flash over the years, each replaced when it
    /// is worn out; requires --endurance.
    #[arg(long, value_name = "SIZE", requires = "endurance")]
    pub(super) daily_writes: Option<ByteSize>,
    /// Years of service.
    #[arg(long, value_name = "N", default_value_t = 5.0, value_parser = parse_positive)]
    pub(super) years: f64,
    /// Price of a gigabyte (10^9 bytes) of flash, in any currency.
    #[arg(long, value_name = "PRICE", requires = "daily_writes", value_parser = parse_positive)]
    pub(super) price: Option<f64>,
    /// Kilograms of CO2 equivalent to make a gigabyte of flash; the default is from Tannu and Nair, The Dirty Secret
    /// of SSDs (2023).
    #[arg(long, value_name = "KG", default_value_t = Service::CARBON_PER_GB, value_parser = parse_positive)]
    pub(super) carbon: f64,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Drive")]
pub(super) struct DriveArgs {
    /// Answers for a drive that can be bought, from a model of its shape: its capacity and, if they are known, its
    /// over-provisioning and the unit that it collects at once (1/2,048 of the capacity if not), such as "7.68TB, 7%" or
    /// "3.84TB, 28%, 7.5GB". A small trace is repeated side by side until it fills the drive. FTLs that merge blocks have no
    /// model.
    #[arg(long = "drive", value_name = "CAPACITY[,SHARE][,UNIT]",
          conflicts_with_all = ["logical", "pages_per_block", "slo"])]
    pub(super) class: Option<DriveClass>,
    /// Which zones a host should write on --drive, which has none: tries these sizes, such as 1GiB,2GiB,4GiB. The workload
    /// is then `zones`; --target-waf is 1.05 by default.
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', requires = "class",
          conflicts_with_all = ["figure", "report", "op", "tbw", "dwpd", "slo", "endurance", "daily_writes", "writes",
                                "once", "fill"])]
    pub(super) zones: Vec<ByteSize>,
    /// How many zones are open at a time.
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        requires = "zones",
        default_value = "1"
    )]
    pub(super) open: Vec<u32>,
    /// How much memory the map of the drive needs, if the rest of it is on flash: tries these sizes, or by default all of
    /// the map, a half, a quarter and so on, with dftl, s-ftl and tpftl. --target-waf is what is to be reached; if it is not
    /// given, 5% more than with the map in memory.
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', num_args = 0.., require_equals = true,
          conflicts_with_all = ["class", "zones", "report", "tbw", "dwpd", "slo", "endurance", "daily_writes"])]
    pub(super) mapping_cache: Option<Vec<ByteSize>>,
    /// Points of the curve: over-provisioning, (physical - logical) / logical, in ascending order; by default
    /// 4%,7%,10%,15%,20%,28%,40%,60%.
    #[arg(long, value_name = "SHARE,...", value_delimiter = ',')]
    pub(super) op: Vec<Share>,
    #[command(flatten)]
    pub(super) drive: Words<DriveOptions, OfAll>,
    /// Runs N host page writes, at most. By default a trace, again and again, or a generator runs until write
    /// amplification is steady, as with `ftlab run --until steady`; a trace of more than 18 drive writes runs twice and
    /// counts the second time.
    #[arg(long, value_name = "N", value_parser = parse::<u64>)]
    pub(super) writes: Option<u64>,
    /// Runs a trace once, or 4 drive writes of a generator, steady or not.
    #[arg(long, conflicts_with = "writes")]
    pub(super) once: bool,
    #[command(flatten)]
    pub(super) run: Words<Experiment, OfAll>,
}

/// What all drives have in common, and all runs.
#[derive(Debug)]
pub(super) struct OfAll;

impl Choice for OfAll {
    const HEADING: Option<&'static str> = Some("Drive");

    fn takes(name: &str, _: &str) -> bool {
        let drive = ["logical", "page_size", "pages_per_block", "reserve"];
        drive.contains(&name) || ["fill", "seed", "ignore_trims"].contains(&name)
    }
}

fn parse_waf(text: &str) -> Result<f64, String> {
    let waf = text.parse().ok().filter(|waf: &f64| *waf > 1.0 && waf.is_finite());
    waf.ok_or_else(|| format!("{text:?} is not a number above 1, such as 1.3"))
}

/// Requests a second: `50k`, `1.5M`, `800`.
fn parse_rate(text: &str) -> Result<f64, String> {
    let (number, factor) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1e3),
        Some(b'M') => (&text[..text.len() - 1], 1e6),
        _ => (text, 1.0),
    };
    let rate = number.parse().ok().map(|number: f64| number * factor);
    let rate = rate.filter(|rate| (1e-3..=1e9).contains(rate));
    rate.ok_or_else(|| format!("{text:?} is not a number of requests a second such as 50k"))
}

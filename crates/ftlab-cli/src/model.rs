//! `ftlab model`: what theory predicts, without simulation.

use crate::error::CliError;
use crate::ftls::Ftls;
use crate::options::parse_in;
use crate::output::{print, print_json};
use crate::table::ruled;
use clap::{Args, Subcommand};
use ftlab_model::split::{Allocation, Group, optimum, write_amplification};
use ftlab_model::{hot_cold, uniform};
use ftlab_sim::format::{percent, significant};
use ftlab_spec::{NoParameters, Parameters, Share, Spec, SpecError};
use serde::Serialize;
use std::str::FromStr;

/// Computes write amplification from closed forms, without a simulation.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab model uniform --op 7%,15%,28% --victim greedy --victim d-choices:d=10
  ftlab model hotcold --op 10% --writes 0.9 --pages 0.1
  ftlab model split --op 10% --groups 10%:90%,90%:10%
  ftlab model curve --op 5%..50% --step 5% --json

The models' physical pages are those available to data and collection: subtract the reserve.")]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    model: Model,
}

#[derive(Debug, Subcommand)]
enum Model {
    Uniform(UniformArgs),
    Hotcold(HotColdArgs),
    Split(SplitArgs),
    Curve(CurveArgs),
}

/// Uniform random writes to one region.
#[derive(Debug, Args)]
struct UniformArgs {
    /// Over-provisioning, (physical - logical) / logical; one or more, separated by commas.
    #[arg(long, value_name = "SHARE,...", required = true, value_delimiter = ',')]
    op: Vec<Spare>,
    #[command(flatten)]
    drive: DriveArgs,
}

/// Uniform random writes over a range of over-provisioning.
#[derive(Debug, Args)]
struct CurveArgs {
    /// The first and the last over-provisioning.
    #[arg(long, value_name = "FROM..TO", default_value = "5%..50%")]
    op: SpareRange,
    /// Distance between points.
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    step: Spare,
    #[command(flatten)]
    drive: DriveArgs,
}

#[derive(Debug, Args)]
struct DriveArgs {
    /// Victim rule: fifo, greedy or d-choices:d=10, or several after commas; may be repeated. By default fifo and greedy.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]")]
    victim: Vec<Ftls>,
    /// Pages per erase block.
    #[arg(long, value_name = "N", default_value_t = 1024,
        value_parser = parse_in(1_u32..=65_536))]
    pages_per_block: u32,
    /// Writes JSON to standard output.
    #[arg(long)]
    json: bool,
}

/// Hot and cold writes: mixed in one region under FIFO cleaning, and separated.
#[derive(Debug, Args)]
struct HotColdArgs {
    /// Over-provisioning, (physical - logical) / logical; one or more, separated by commas.
    #[arg(long, value_name = "SHARE,...", required = true, value_delimiter = ',')]
    op: Vec<Spare>,
    /// Share of the writes that go to the hot pages.
    #[arg(long, value_name = "SHARE", default_value = "90%")]
    writes: Share,
    /// Share of the pages that are hot.
    #[arg(long, value_name = "SHARE", default_value = "10%")]
    pages: Share,
    /// Writes JSON to standard output.
    #[arg(long)]
    json: bool,
}

/// Rules for dividing the spare pages among separated groups of pages.
#[derive(Debug, Args)]
struct SplitArgs {
    /// Over-provisioning of the whole drive, (physical - logical) / logical.
    #[arg(long, value_name = "SHARE")]
    op: Spare,
    /// Each group's share of the pages and of the writes, such as 10%:90%,90%:10%.
    #[arg(long, value_name = "PAGES:WRITES,...", required = true, value_delimiter = ',')]
    groups: Vec<GroupArg>,
    /// Writes JSON to standard output.
    #[arg(long)]
    json: bool,
}

/// Over-provisioning for which there is a finite write amplification.
#[derive(Debug, Clone, Copy)]
struct Spare(f64);

impl FromStr for Spare {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let Share(share) = text.parse()?;
        // With less, the printed digits are not accurate, and no such drive exists.
        if share >= 1e-6 {
            return Ok(Self(share));
        }
        let expects = "over-provisioning of 0.0001% or more; with nothing spare nothing can be \
                       written, so give a share such as 7%";
        Err(SpecError::Quantity { text: text.into(), expects })
    }
}

#[derive(Debug, Clone, Copy)]
struct SpareRange {
    from: f64,
    to: f64,
}

impl FromStr for SpareRange {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let expects = "a range FROM..TO such as 5%..50%, FROM at most TO";
        let wrong = || SpecError::Quantity { text: text.into(), expects };
        let (from, to) = text.split_once("..").ok_or_else(wrong)?;
        let (Spare(from), Spare(to)) = (from.parse()?, to.parse()?);
        if from <= to { Ok(Self { from, to }) } else { Err(wrong()) }
    }
}

#[derive(Debug, Clone, Copy)]
struct GroupArg(Group);

impl FromStr for GroupArg {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let expects = "PAGES:WRITES such as 10%:90%, with PAGES above 0";
        let wrong = || SpecError::Quantity { text: text.into(), expects };
        let (pages, writes) = text.split_once(':').ok_or_else(wrong)?;
        let (Share(pages), Share(writes)) = (pages.parse()?, writes.parse()?);
        if pages > 0.0 { Ok(Self(Group { pages, writes })) } else { Err(wrong()) }
    }
}

#[derive(Debug, Clone, Copy)]
enum Victim {
    Fifo,
    Greedy,
    DChoices(u32),
}

ftlab_spec::parameters! {
    /// The number of blocks drawn.
    pub(crate) struct DChoicesParameters {
        /// Blocks drawn at random; the one with the fewest valid pages is the victim.
        d: u32 = 10, "d" in 1..=1_000_000, from "Van Houdt, SIGMETRICS 2013";
    }
}

impl Victim {
    fn from_spec(spec: &Spec) -> Result<Self, SpecError> {
        match spec.name.as_str() {
            "fifo" => NoParameters::from_spec(spec).map(|_| Self::Fifo),
            "greedy" => NoParameters::from_spec(spec).map(|_| Self::Greedy),
            "d-choices" => Ok(Self::DChoices(DChoicesParameters::from_spec(spec)?.d)),
            _ => Err(SpecError::UnknownName {
                kind: "victim rule",
                name: spec.name.clone(),
                known: ["fifo", "greedy", "d-choices"].map(str::to_owned).to_vec(),
            }),
        }
    }

    fn name(self) -> String {
        match self {
            Self::Fifo => "fifo".into(),
            Self::Greedy => "greedy".into(),
            Self::DChoices(d) => format!("d-choices:d={d}"),
        }
    }

    fn write_amplification(self, op_ratio: f64, pages_per_block: u32) -> f64 {
        match self {
            Self::Fifo => uniform::fifo(op_ratio),
            Self::Greedy => uniform::greedy(op_ratio, pages_per_block),
            Self::DChoices(d) => uniform::d_choices(op_ratio, pages_per_block, d),
        }
    }
}

pub(crate) fn model(args: &ModelArgs) -> Result<(), CliError> {
    match &args.model {
        Model::Uniform(args) => {
            points(&args.op.iter().map(|spare| spare.0).collect::<Vec<_>>(), &args.drive)
        }
        Model::Curve(args) => points(&range(args)?, &args.drive),
        Model::Hotcold(args) => hotcold(args),
        Model::Split(args) => split(args),
    }
}

const POINTS_MAX: f64 = 10_000.0;

fn range(CurveArgs { op, step, .. }: &CurveArgs) -> Result<Vec<f64>, CliError> {
    // The last point is not lost to rounding.
    let steps = ((op.to - op.from) / step.0 + 1e-9).floor();
    if steps >= POINTS_MAX {
        return Err(CliError::usage(format!(
            "--step {} makes {} points from {} to {}, and {POINTS_MAX} are allowed; give a larger step",
            Share(step.0),
            steps + 1.0,
            Share(op.from),
            Share(op.to)
        )));
    }
    Ok((0..=steps as u32).map(|index| op.from + f64::from(index) * step.0).collect())
}

#[derive(Debug, Serialize)]
struct UniformReport {
    pages_per_block: u32,
    points: Vec<UniformPoint>,
}

#[derive(Debug, Serialize)]
struct UniformPoint {
    op_ratio: f64,
    victims: Vec<VictimPoint>,
}

#[derive(Debug, Serialize)]
struct VictimPoint {
    victim: String,
    write_amplification: f64,
}

fn points(op_ratios: &[f64], args: &DriveArgs) -> Result<(), CliError> {
    let mut victims =
        Ftls::all(&args.victim).iter().map(Victim::from_spec).collect::<Result<Vec<_>, _>>()?;
    if victims.is_empty() {
        victims = vec![Victim::Fifo, Victim::Greedy];
    }
    let of = |op_ratio: f64| {
        let of = |victim: &Victim| VictimPoint {
            victim: victim.name(),
            write_amplification: victim.write_amplification(op_ratio, args.pages_per_block),
        };
        UniformPoint { op_ratio, victims: victims.iter().map(of).collect() }
    };
    let points: Vec<_> = op_ratios.iter().copied().map(of).collect();
    if args.json {
        return print_json(&UniformReport { pages_per_block: args.pages_per_block, points });
    }
    let mut headings = drive_headings();
    headings.extend(victims.iter().map(|victim| victim.name()));
    let rows = points.iter().map(|point| {
        let mut row = drive_cells(point.op_ratio);
        row.extend(point.victims.iter().map(|of| significant(of.write_amplification, 5)));
        row
    });
    print(&ruled(&headings, rows))
}

fn drive_headings() -> Vec<String> {
    ["OP", "physical /\nlogical", "spare\nfactor"].map(str::to_owned).to_vec()
}

/// Over-provisioning in the three usual forms.
fn drive_cells(op_ratio: f64) -> Vec<String> {
    let physical = 1.0 + op_ratio;
    vec![Share(op_ratio).to_string(), significant(physical, 5), percent(op_ratio / physical)]
}

#[derive(Debug, Serialize)]
struct HotColdReport {
    writes_share: f64,
    pages_share: f64,
    points: Vec<HotColdPoint>,
}

/// Write amplification under FIFO cleaning.
#[derive(Debug, Serialize)]
struct HotColdPoint {
    op_ratio: f64,
    mixed: f64,
    /// Separated, with the optimal division of the spare pages.
    separate: f64,
    /// Without skew.
    uniform: f64,
}

fn hotcold(args: &HotColdArgs) -> Result<(), CliError> {
    let (writes, pages) = (args.writes.0, args.pages.0);
    if writes > 1.0 {
        let message = format!("--writes {} is more than 100%; give 100% or less", args.writes);
        return Err(CliError::usage(message));
    }
    if pages <= 0.0 || pages >= 1.0 {
        return Err(CliError::usage(format!(
            "--pages {} leaves no hot or no cold pages; give a share between 0% and 100%",
            args.pages
        )));
    }
    let groups = [Group { pages, writes }, Group { pages: 1.0 - pages, writes: 1.0 - writes }];
    let of = |Spare(op_ratio): &Spare| HotColdPoint {
        op_ratio: *op_ratio,
        mixed: hot_cold::fifo(*op_ratio, writes, pages),
        separate: write_amplification(&groups, &optimum(&groups, *op_ratio)),
        uniform: uniform::fifo(*op_ratio),
    };
    let points: Vec<_> = args.op.iter().map(of).collect();
    if args.json {
        return print_json(&HotColdReport { writes_share: writes, pages_share: pages, points });
    }
    let mut headings = drive_headings();
    headings.extend(["mixed", "separate,\nat best", "without\nskew"].map(str::to_owned));
    let rows = points.iter().map(|point| {
        let mut row = drive_cells(point.op_ratio);
        row.extend([point.mixed, point.separate, point.uniform].map(|waf| significant(waf, 5)));
        row
    });
    print(&ruled(&headings, rows))
}

#[derive(Debug, Serialize)]
struct SplitReport {
    op_ratio: f64,
    allocations: Vec<AllocationReport>,
}

#[derive(Debug, Serialize)]
struct AllocationReport {
    allocation: &'static str,
    write_amplification: f64,
    /// Over the optimum.
    excess: f64,
    groups: Vec<GroupReport>,
}

#[derive(Debug, Serialize)]
struct GroupReport {
    pages_share: f64,
    writes_share: f64,
    /// Spare pages / pages of the group.
    op_ratio: f64,
    /// Of all spare pages.
    spare_share: f64,
}

fn split(args: &SplitArgs) -> Result<(), CliError> {
    let groups: Vec<Group> = args.groups.iter().map(|group| group.0).collect();
    sums_to_1("pages", groups.iter().map(|group| group.pages))?;
    sums_to_1("writes", groups.iter().map(|group| group.writes))?;
    let spare = args.op.0;
    let best = write_amplification(&groups, &optimum(&groups, spare));
    let of = |allocation: Allocation| {
        let spares = allocation.divide(&groups, spare);
        let waf = write_amplification(&groups, &spares);
        let of = |(group, own): (&Group, f64)| GroupReport {
            pages_share: group.pages,
            writes_share: group.writes,
            op_ratio: own / group.pages,
            spare_share: own / spare,
        };
        AllocationReport {
            allocation: allocation.name(),
            write_amplification: waf,
            excess: waf / best - 1.0,
            groups: groups.iter().zip(spares).map(of).collect(),
        }
    };
    let allocations: Vec<_> = Allocation::ALL.into_iter().map(of).collect();
    if args.json {
        return print_json(&SplitReport { op_ratio: spare, allocations });
    }
    print(&split_table(&groups, &allocations))
}

fn sums_to_1(what: &str, shares: impl Iterator<Item = f64>) -> Result<(), CliError> {
    let sum: f64 = shares.sum();
    if (sum - 1.0).abs() < 1e-6 {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "--groups: the shares of {what} sum to {}, not to 100%; change one, as in 10%:90%,90%:10% \
         (PAGES:WRITES of each group)",
        Share(sum)
    )))
}

fn split_table(groups: &[Group], allocations: &[AllocationReport]) -> String {
    let mut headings = vec!["OP of each group".to_owned()];
    headings.extend(
        groups.iter().map(|group| format!("{}:{}", Share(group.pages), Share(group.writes))),
    );
    headings.extend(["write\namplification", "over the\noptimum"].map(str::to_owned));
    let rows = allocations.iter().map(|allocation| {
        let mut row = vec![allocation.allocation.to_owned()];
        row.extend(allocation.groups.iter().map(|group| percent(group.op_ratio)));
        row.push(significant(allocation.write_amplification, 5));
        // The optimum may differ from itself by rounding.
        row.push(percent(allocation.excess.max(0.0)));
        row
    });
    ruled(&headings, rows)
}

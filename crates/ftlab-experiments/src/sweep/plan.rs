//! From an experiment file to runs.

use super::file::{Case, ExperimentFile, Kind};
use super::file_error::Wrong;
use super::items::{FtlItem, WorkloadItem};
use super::option_table::OptionTable;
use super::report::Selector;
use super::scalar::{AxisValue, Pairs};
use super::scale::Scale;
use super::settings::Settings;
use super::variables::Variables;
use crate::error::ExperimentsError;
use crate::identity::Identities;
use ftlab_ftl::registry;
use ftlab_sim::format::grouped;
use ftlab_sim::{DriveOptions, Experiment, ExperimentIdentity, OwnPolicies};
use ftlab_spec::Spec;
use ftlab_trace::{Contents, check_memory};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// A run of the experiment, by its place on every axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Axis and value: `case` (if there are any), `workload`, the variables of the grid, `ftl`, `seed`.
    pub labels: Vec<(String, String)>,
    /// Hash of what is run, by which its result is found; points that come to the same share it.
    pub run: String,
}

impl Point {
    /// The value on an axis.
    pub fn label(&self, axis: &str) -> Option<&str> {
        self.labels.iter().find(|(name, _)| name == axis).map(|(_, value)| value.as_str())
    }

    /// Whether it has all the values that the selector names.
    pub fn is_in(&self, selector: &Selector) -> bool {
        selector.0.iter().all(|(axis, choice)| choice.has(self.label(axis)))
    }
}

/// FTLs that share a workload and a drive, and therefore one decoding.
#[derive(Debug, Clone)]
pub struct Job {
    /// What is run.
    pub experiment: Experiment,
    /// The first point of each FTL's run.
    pub runs: Vec<Point>,
    /// The labels that all its points share, for messages.
    pub name: String,
    /// Host page writes of each run, fill and warm-up included, where they are known.
    pub writes: Option<u64>,
    /// Where the files of its workload are looked up.
    pub(super) contents: Arc<Contents>,
}

/// Everything that an experiment runs.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What the plan was made from.
    pub file: ExperimentFile,
    /// By how much drives and generators are smaller than the file says.
    pub scale: Scale,
    /// Every point, in the order of the file.
    pub points: Vec<Point>,
    /// What is to be run for them.
    pub jobs: Vec<Job>,
    /// Workloads that are left out because their traces are absent, and why.
    pub absent: BTreeSet<String>,
}

impl Plan {
    /// The runs of an experiment; everything that can be wrong with the file is found.
    pub fn new(file: ExperimentFile, scale: Scale) -> Result<Self, ExperimentsError> {
        let scale = if file.unscaled { Scale::FULL } else { scale };
        let of_file = parts(&file);
        check_size(&file, &of_file)?;
        let expansion =
            expand(&file, &of_file, scale).map_err(|wrong| wrong.within(&file.path, &file.toml));
        let Expansion { points, jobs, absent, .. } = expansion?;
        let plan = Self { file, scale, points, jobs, absent };
        plan.check_selectors()?;
        Ok(plan)
    }

    /// The values on an axis, in the order of the file.
    pub fn axis(&self, name: &str) -> Vec<&str> {
        let mut values = Vec::new();
        for value in self.points.iter().filter_map(|point| point.label(name)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    /// Every axis, in the order of the file.
    pub fn axes(&self) -> Vec<&str> {
        let mut axes: Vec<&str> = Vec::new();
        for (axis, _) in self.points.iter().flat_map(|point| &point.labels) {
            if !axes.contains(&axis.as_str()) {
                axes.push(axis);
            }
        }
        axes
    }

    /// The axes that tell points apart: those whose values do not follow from the axes before them, as
    /// a workload follows from its case.
    pub fn varying_axes(&self) -> Vec<&str> {
        let mut telling: Vec<&str> = Vec::new();
        for axis in self.axes() {
            let mut known = BTreeMap::new();
            let follows = self.points.iter().all(|point| {
                let before: Vec<_> = telling.iter().map(|axis| point.label(axis)).collect();
                *known.entry(before).or_insert(point.label(axis)) == point.label(axis)
            });
            if !follows {
                telling.push(axis);
            }
        }
        telling
    }

    /// Number of different runs.
    pub fn runs(&self) -> usize {
        self.jobs.iter().map(|job| job.runs.len()).sum()
    }

    /// Refuses selectors of axes that do not exist.
    fn check_selectors(&self) -> Result<(), ExperimentsError> {
        // A trace that is absent takes its axes with it, and they are no mistake.
        let grids = self.file.case.iter().map(|case| &case.grid).chain([&self.file.grid]);
        let variables = grids.flat_map(|grid| grid.0.iter().map(|(name, _)| name.as_str()));
        let mut axes: Vec<&str> = self.axes();
        axes.extend(variables.filter(|name| !self.axes().contains(name)));
        let of_expectations = self.file.expect.iter().flat_map(|expect| {
            [&expect.of].into_iter().chain(expect.others()).chain(&expect.ascending)
        });
        let of_stated = self.file.stated.iter().map(|stated| &stated.of);
        for series in &self.file.series {
            series.check().map_err(|wrong| wrong.within(&self.file.path, &self.file.toml))?;
        }
        let of_series = self.file.series.iter().map(|series| &series.of);
        let mut selectors = of_expectations
            .chain(self.file.figure.iter().map(|figure| &figure.of))
            .chain(of_series)
            .chain(of_stated);
        let unknown = selectors
            .find_map(|Pairs(pairs)| pairs.iter().find(|(axis, _)| !axes.contains(&axis.as_str())));
        match unknown {
            Some((axis, value)) if !self.axes().is_empty() => {
                let message = format!("there is no axis {axis}; there are {}", axes.join(", "));
                let wrong = Wrong::at(value.span(), message);
                Err(wrong.within(&self.file.path, &self.file.toml).into())
            }
            _ => Ok(()),
        }
    }
}

#[derive(Default)]
struct Expansion {
    points: Vec<Point>,
    jobs: Vec<Job>,
    absent: BTreeSet<String>,
    policies: OwnPolicies,
    identities: Identities,
    /// Job by the identity of its experiment without FTLs.
    by_identity: BTreeMap<String, usize>,
    /// Run by the labels of its points.
    by_labels: BTreeMap<Vec<(String, String)>, String>,
}

/// One part of the file: what its case gives, over what the file gives.
struct Part<'a> {
    case: Option<&'a str>,
    drive: OptionTable<DriveOptions>,
    run: OptionTable<Experiment>,
    workloads: &'a [WorkloadItem],
    ftls: &'a [FtlItem],
    grid: Vec<&'a (String, Vec<AxisValue>)>,
}

fn parts(file: &ExperimentFile) -> Vec<Part<'_>> {
    let mut parts: Vec<_> = file.case.iter().map(|case| part_of(case, file)).collect();
    if parts.is_empty() {
        parts.push(Part {
            case: None,
            drive: file.drive.clone(),
            run: file.run.clone(),
            workloads: &file.workloads,
            ftls: &file.ftls,
            grid: file.grid.0.iter().collect(),
        });
    }
    parts
}

/// What a case gives, over what the file gives.
fn part_of<'a>(case: &'a Case, file: &'a ExperimentFile) -> Part<'a> {
    let own = &case.grid.0;
    let common = file.grid.0.iter().filter(|(name, _)| own.iter().all(|(other, _)| other != name));
    Part {
        case: Some(&case.name),
        drive: case.drive.over(&file.drive),
        run: case.run.over(&file.run),
        workloads: if case.workloads.is_empty() { &file.workloads } else { &case.workloads },
        ftls: if case.ftls.is_empty() { &file.ftls } else { &case.ftls },
        grid: common.chain(own).collect(),
    }
}

fn expand(file: &ExperimentFile, parts: &[Part<'_>], scale: Scale) -> Result<Expansion, Wrong> {
    let mut expansion = Expansion { policies: file.policies.clone(), ..Expansion::default() };
    let folder = file.path.parent().unwrap_or(Path::new(""));
    let seeds = if file.seeds.is_empty() { &[1][..] } else { &file.seeds };
    for part in parts {
        let of = part.case.map_or_else(String::new, |case| format!("the case {case:?}: "));
        if file.kind == Kind::Splits {
            expansion.add_rules(part)?;
            continue;
        }
        if part.workloads.is_empty() {
            return Err(Wrong::anywhere(format!(
                "{of}no workload is named; add workloads = [\"zipf:theta=0.9\"]"
            )));
        }
        if part.ftls.is_empty() && file.kind != Kind::Inspect {
            let known = registry::known_ftls();
            return Err(Wrong::anywhere(format!(
                "{of}no FTL is named; add ftls = [\"1r-greedy\"]; known: {known}"
            )));
        }
        for workload in part.workloads {
            for grid in combinations(&part.grid)? {
                for seed in seeds {
                    expansion.add(part, workload, &grid, *seed, folder, scale)?;
                }
            }
        }
    }
    Ok(expansion)
}

/// A value of each axis of the grid.
type GridPoint<'a> = Vec<(&'a str, &'a AxisValue)>;

/// Every combination of values, the last axis changing fastest, one at a time.
fn combinations<'a>(
    axes: &[&'a (String, Vec<AxisValue>)],
) -> Result<impl Iterator<Item = GridPoint<'a>>, Wrong> {
    for (name, values) in axes {
        if values.is_empty() {
            return Err(Wrong::anywhere(format!(
                "the variable {name} of the grid has no values; give it some, or leave it out"
            )));
        }
        if ["case", "workload", "ftl", "seed"].contains(&name.as_str()) {
            return Err(Wrong::anywhere(format!(
                "{name} is an axis of every experiment; call the variable of the grid something else"
            )));
        }
    }
    Ok((0..number_of_combinations(axes)).map(|number| combination(axes, number)))
}

fn number_of_combinations(axes: &[&(String, Vec<AxisValue>)]) -> u64 {
    axes.iter().fold(1, |product: u64, (_, values)| product.saturating_mul(values.len() as u64))
}

/// The combination of a number, whose digits are places on the axes.
fn combination<'a>(axes: &[&'a (String, Vec<AxisValue>)], mut number: u64) -> GridPoint<'a> {
    let mut point: GridPoint<'a> = axes
        .iter()
        .rev()
        .map(|(name, values)| {
            let place = number % values.len() as u64;
            number /= values.len() as u64;
            (name.as_str(), &values[place as usize])
        })
        .collect();
    point.reverse();
    point
}

/// Bytes of memory that planning a point takes, and then its row of results.
const POINT_BYTES: u64 = 2048;

/// Refuses more points than fit into memory, before any is planned.
fn check_size(file: &ExperimentFile, parts: &[Part<'_>]) -> Result<(), ExperimentsError> {
    let at_least_one = |items: usize| items.max(1) as u64;
    let points = parts.iter().fold(0, |sum: u64, part| {
        let others = [part.workloads.len(), part.ftls.len(), file.seeds.len()].map(at_least_one);
        let all = others.into_iter().fold(number_of_combinations(&part.grid), u64::saturating_mul);
        sum.saturating_add(all)
    });
    let what = format!("{}: the plan of its {} runs", file.path.display(), grouped(points));
    let remedy = "shorten the axes of [grid] or seeds, or divide the file";
    Ok(check_memory(what, points.saturating_mul(POINT_BYTES), remedy)?)
}

impl Expansion {
    /// Adds a point for each FTL.
    fn add(
        &mut self,
        part: &Part<'_>,
        workload: &WorkloadItem,
        grid: &GridPoint<'_>,
        seed: u64,
        folder: &Path,
        scale: Scale,
    ) -> Result<(), Wrong> {
        let mut variables = Variables::default();
        for (name, value) in grid {
            variables.set(*name, value.label.clone());
            for (field, text) in &value.fields {
                variables.set(format!("{name}.{field}"), text.clone());
            }
        }
        variables.set("seed", seed.to_string());
        let (drive, run) = (part.drive.clone(), part.run.clone());
        let settings = Settings { drive, run, workload, folder, seed, scale };
        let policies = self.policies.clone();
        let experiment = match settings.experiment(&mut variables)? {
            Ok(experiment) => Experiment { policies, ..experiment },
            Err(absent) => {
                self.absent.insert(format!("{}: {absent}", workload.label(&variables)?));
                return Ok(());
            }
        };
        let at_workload = |error| Wrong::at(workload.spec.span(), error);
        let mut labels: Vec<(String, String)> = Vec::new();
        labels.extend(part.case.map(|case| ("case".to_owned(), case.to_owned())));
        labels.push(("workload".into(), workload.label(&variables)?));
        labels.extend(grid.iter().map(|(name, value)| ((*name).to_owned(), value.label.clone())));
        let name = name_of(&labels);
        experiment.check_numbers().map_err(|error| Wrong::anywhere(format!("{name}: {error}")))?;
        let identity = self.identities.of(&experiment).map_err(at_workload)?;
        let job = *self.by_identity.entry(identity.of_workload()).or_insert_with(|| {
            let contents = Arc::clone(&self.identities.contents);
            let writes = writes(&experiment);
            self.jobs.push(Job { experiment, runs: Vec::new(), name, writes, contents });
            self.jobs.len() - 1
        });
        if part.ftls.is_empty() {
            labels.push(("seed".into(), seed.to_string()));
            let point = Point { labels, run: identity.of_workload() };
            let runs = &mut self.jobs[job].runs;
            if runs.is_empty() {
                runs.push(point.clone());
            }
            self.points.push(point);
            return Ok(());
        }
        for ftl in part.ftls {
            self.add_ftl(job, &identity, ftl, &labels, &variables)?;
        }
        Ok(())
    }
}

impl Expansion {
    /// Adds the point of an FTL to a job whose labels are `labels`.
    fn add_ftl(
        &mut self,
        job: usize,
        identity: &ExperimentIdentity,
        ftl: &FtlItem,
        labels: &[(String, String)],
        variables: &Variables,
    ) -> Result<(), Wrong> {
        let wrong = |error: String| Wrong::at(ftl.spec.span(), error);
        let text = ftl.spec.resolve(variables)?;
        let spec: Spec = text.parse().map_err(|error| wrong(format!("{error}")))?;
        let run = identity.of_run(&spec).map_err(|error| wrong(error.to_string()))?.hash;
        let mut labels = labels.to_vec();
        labels.push(("ftl".into(), ftl.label(variables)?));
        labels.push(("seed".into(), variables.fill_in("{seed}").map_err(wrong)?));
        let point = Point { labels, run };
        match self.by_labels.insert(point.labels.clone(), point.run.clone()) {
            Some(same) if same == point.run => return Ok(()),
            Some(_) => {
                return Err(wrong(format!(
                    "{} names two different runs; give one of them another name",
                    name_of(&point.labels)
                )));
            }
            None => {}
        }
        let job = &mut self.jobs[job];
        if job.runs.iter().all(|other| other.run != point.run) {
            job.runs.push(point.clone());
            job.experiment.ftls.push(spec);
        }
        self.points.push(point);
        Ok(())
    }

    /// Adds a point for each rule that divides spare pages.
    fn add_rules(&mut self, part: &Part<'_>) -> Result<(), Wrong> {
        for grid in combinations(&part.grid)? {
            for rule in part.ftls {
                let labels = grid.iter().map(|(axis, v)| ((*axis).to_owned(), v.label.clone()));
                let mut labels: Vec<_> = labels.collect();
                labels.push(("ftl".into(), rule.spec.as_written().to_owned()));
                self.points.push(Point { run: format!("{labels:?}"), labels });
            }
        }
        Ok(())
    }
}

/// Labels as a message names them.
fn name_of(labels: &[(String, String)]) -> String {
    let labels = labels.iter().map(|(axis, value)| format!("{axis} {value}"));
    labels.collect::<Vec<_>>().join(", ")
}

/// Host page writes of a run, where they are known.
fn writes(experiment: &Experiment) -> Option<u64> {
    let pages = experiment.drive.asked_pages()?;
    let counted = experiment.length.writes(pages)?;
    let fill = experiment.fill.writes(pages);
    Some(counted.saturating_add(experiment.warmup_writes).saturating_add(fill))
}

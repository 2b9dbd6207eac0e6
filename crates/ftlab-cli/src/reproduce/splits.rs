//! Wolf's study of rules for dividing the spare pages, over all workloads of a few groups.

use crate::error::CliError;
use ftlab_experiments::sweep::{Curve, Numbers, Plan, Point};
use ftlab_model::exhaustive::{Excess, excesses, workloads};
use ftlab_model::split::Allocation;
use ftlab_spec::SpecError;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The excess of each point, by its hash.
pub(super) struct Study(BTreeMap<String, Excess>);

const METRICS: [&str; 3] = ["workloads", "mean-excess", "largest-excess"];

/// One point of the grid: chunks, groups, and utilisation.
type Place = (u8, u8, String);

/// Carries out the study for every point of the plan.
pub(super) fn study(plan: &Plan) -> Result<Study, CliError> {
    let mut places: BTreeMap<Place, Vec<(&Point, Allocation)>> = BTreeMap::new();
    for point in &plan.points {
        places.entry(place(point)?).or_default().push((point, rule(point)?));
    }
    let places: Vec<_> = places.into_iter().collect();
    let found = places.into_par_iter().map(|((chunks, groups, utilisation), points)| {
        let utilisation = utilisation.parse().unwrap_or(0.5);
        let found = excesses(Allocation::ALL, &workloads(chunks, groups), chunks, utilisation);
        let of = |rule| Allocation::ALL.iter().position(|other| *other == rule).unwrap_or(0);
        points
            .into_iter()
            .map(|(point, rule)| (point.run.clone(), found[of(rule)].clone()))
            .collect::<Vec<_>>()
    });
    Ok(Study(found.collect::<Vec<_>>().into_iter().flatten().collect()))
}

fn place(point: &Point) -> Result<Place, CliError> {
    let label = |axis: &str| {
        point.label(axis).ok_or_else(|| {
            CliError::usage(format!("a study of splits needs {axis} = [...] in its [grid]"))
        })
    };
    let whole = |axis: &str| {
        let text = label(axis)?;
        text.parse::<u8>().ok().filter(|number| (2..=30).contains(number)).ok_or_else(|| {
            CliError::usage(format!("{axis} {text:?} is not a whole number from 2 to 30"))
        })
    };
    let utilisation = label("utilisation")?;
    let is_share = utilisation.parse::<f64>().is_ok_and(|share| share > 0.0 && share < 1.0);
    if !is_share {
        return Err(CliError::usage(format!(
            "utilisation {utilisation:?} is not a share between 0 and 1, such as 0.7"
        )));
    }
    Ok((whole("chunks")?, whole("groups")?, utilisation.to_owned()))
}

fn rule(point: &Point) -> Result<Allocation, CliError> {
    let name = point.label("ftl").unwrap_or_default();
    Allocation::ALL.into_iter().find(|rule| rule.name() == name).ok_or_else(|| {
        let names = Allocation::ALL.map(Allocation::name).join(", ");
        CliError::usage(format!(
            "{name:?} is not a rule for dividing spare pages; the rules are {names}"
        ))
    })
}

impl Numbers for Study {
    fn check(&self, metric: &str) -> Result<(), SpecError> {
        if METRICS.contains(&metric) {
            return Ok(());
        }
        let known = METRICS.map(str::to_owned).to_vec();
        Err(SpecError::UnknownName {
            kind: "number of a study of splits",
            name: metric.into(),
            known,
        })
    }

    /// Excesses are in percent.
    fn number(&self, metric: &str, point: &Point) -> Option<f64> {
        let excess = self.0.get(&point.run)?;
        Some(match metric {
            "workloads" => excess.workloads as f64,
            "mean-excess" => 100.0 * excess.mean(),
            _ => 100.0 * excess.max,
        })
    }

    fn curve(&self, _: &str, _: &Point, _: f64) -> Result<Option<Curve>, SpecError> {
        Ok(None)
    }
}

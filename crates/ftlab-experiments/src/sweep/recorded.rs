//! Numbers of an experiment as its CSV file has them, for a page that is made again without runs.

use super::compare::Numbers;
use super::file::Kind;
use super::metric::Metric;
use super::plan::{Plan, Point};
use super::series::Curve;
use ftlab_spec::SpecError;
use std::collections::BTreeMap;

/// The columns of a CSV file that `ftlab reproduce` wrote, by point.
pub struct Recorded {
    metrics: Vec<String>,
    /// By the labels of a point, in the order of the plan's axes.
    rows: BTreeMap<Vec<String>, Vec<Option<f64>>>,
    axes: Vec<String>,
    /// Whether its metrics are those of runs, of which every name is known.
    is_of_runs: bool,
}

impl Recorded {
    /// The numbers in `csv`, which has the axes of the plan; a column that is missing is not measured.
    pub fn parse(plan: &Plan, csv: &str) -> Result<Self, String> {
        let mut lines = csv.lines().map(fields);
        let heading = lines.next().ok_or("the file is empty")?;
        let axes: Vec<String> = plan.axes().into_iter().map(str::to_owned).collect();
        let is_axis = |name: &String| axes.contains(name);
        let place = |axis: &String| heading.iter().position(|name| name == axis);
        let of_axes: Vec<_> = axes.iter().map(place).collect();
        let of_metrics: Vec<_> = (0..heading.len()).filter(|at| !is_axis(&heading[*at])).collect();
        let field = |row: &[String], at: Option<usize>| {
            at.and_then(|at| row.get(at)).cloned().unwrap_or_default()
        };
        let rows = lines.map(|row| {
            let labels = of_axes.iter().map(|at| field(&row, *at)).collect();
            let numbers = of_metrics.iter().map(|at| field(&row, Some(*at)).parse().ok()).collect();
            (labels, numbers)
        });
        let rows = rows.collect();
        let metrics = of_metrics.iter().map(|at| heading[*at].clone()).collect();
        let is_of_runs = plan.file.kind == Kind::Runs;
        Ok(Self { metrics, rows, axes, is_of_runs })
    }
}

impl Numbers for Recorded {
    fn check(&self, metric: &str) -> Result<(), SpecError> {
        if !self.is_of_runs || self.metrics.iter().any(|name| name == metric) {
            return Ok(());
        }
        Metric::find(metric).map(drop)
    }

    fn number(&self, metric: &str, point: &Point) -> Option<f64> {
        let column = self.metrics.iter().position(|name| name == metric)?;
        let label = |axis: &String| point.label(axis).unwrap_or_default().to_owned();
        let labels: Vec<_> = self.axes.iter().map(label).collect();
        self.rows.get(&labels)?.get(column).copied().flatten()
    }

    fn curve(&self, _: &str, _: &Point, _: f64) -> Result<Option<Curve>, SpecError> {
        Ok(None)
    }
}

/// The fields of a line, of which some are in quotes.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            letter => {
                if let Some(field) = fields.last_mut() {
                    field.push(letter);
                }
            }
        }
    }
    fields
}

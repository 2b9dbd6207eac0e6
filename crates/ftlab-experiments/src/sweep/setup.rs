//! What the runs have for the numbers of a publication's setup.

use super::compare::{Numbers, measured, places, text};
use super::file_error::Wrong;
use super::plan::{Job, Plan, Point};
use super::scalar::Scalar;
use super::stated::Stated;
use crate::error::ExperimentsError;
use ftlab_sim::{Length, Physical, Workload};
use ftlab_spec::Spec;

/// How far off a number of the setup may be, as a share.
const TOLERANCE: f64 = 0.1;

/// A number of the setup, beside what the runs have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedLine {
    /// The number, in the words of the publication.
    pub says: String,
    /// What the runs have, or why they have nothing.
    pub here: String,
    /// Whether it matches; none if nothing does by intention, or nothing was measured.
    pub matches: Option<bool>,
}

/// Every number of the setup, with what the runs have.
pub fn stated(plan: &Plan, numbers: &dyn Numbers) -> Result<Vec<StatedLine>, ExperimentsError> {
    let lines = plan.file.stated.iter().map(|stated| {
        let line = Of { plan, stated }.line(numbers);
        line.map_err(|wrong| wrong.within(&plan.file.path, &plan.file.toml).into())
    });
    lines.collect()
}

/// One number of the setup.
struct Of<'a> {
    plan: &'a Plan,
    stated: &'a Stated,
}

impl Of<'_> {
    fn line(&self, numbers: &dyn Numbers) -> Result<StatedLine, Wrong> {
        let (here, matches) =
            match (&self.stated.setting, &self.stated.metric, &self.stated.unmatched) {
                (Some(setting), None, None) => self.by_setting(setting)?,
                (None, Some(metric), None) => self.by_metric(numbers, metric)?,
                (None, None, Some(reason)) => (format!("unmatched: {reason}"), None),
                _ => {
                    return Err(self.wrong("give one of setting, metric and unmatched".into()));
                }
            };
        Ok(StatedLine { says: self.stated.says.as_written().to_owned(), here, matches })
    }

    fn wrong(&self, message: String) -> Wrong {
        Wrong::at(self.stated.says.span(), message)
    }

    fn value(&self) -> Result<&str, Wrong> {
        let value = self.stated.value.as_ref().map(Scalar::as_written);
        value.ok_or_else(|| self.wrong("it needs a value".into()))
    }

    /// What the points have for a setting: it matches if a value on an axis does, or the setting of every point.
    fn by_setting(&self, name: &str) -> Result<(String, Option<bool>), Wrong> {
        let value = self.value()?;
        let points = self.plan.points.iter().filter(|point| point.is_in(&self.stated.of));
        let on_axis: Vec<&str> = points.clone().filter_map(|point| point.label(name)).collect();
        if !on_axis.is_empty() {
            let matches = on_axis.iter().any(|own| self.is_close(own, value));
            return Ok((format!("{name} {value}"), Some(matches)));
        }
        let mut found: Vec<String> = Vec::new();
        for point in points {
            let job =
                job_of(self.plan, point).ok_or_else(|| self.wrong(format!("no run has {name}")))?;
            let own = setting(job, name).unwrap_or_else(|| "by default".into());
            if !found.contains(&own) {
                found.push(own);
            }
        }
        let matches =
            (!found.is_empty()).then(|| found.iter().all(|own| self.is_close(own, value)));
        Ok((format!("{name} {}", found.join(", ")), matches))
    }

    fn by_metric(
        &self,
        numbers: &dyn Numbers,
        metric: &Scalar,
    ) -> Result<(String, Option<bool>), Wrong> {
        let value = self.value()?;
        let name = metric.as_written();
        numbers.check(name).map_err(|error| Wrong::at(metric.span(), error))?;
        let places = places(self.plan, &self.stated.of);
        let found = places.first().and_then(|place| measured(self.plan, numbers, name, place));
        let Some(found) = found else { return Ok(("not measured".into(), None)) };
        let matches = self.is_close(&found.to_string(), value);
        Ok((format!("{name} {}, expected {value}", text(found)), Some(matches)))
    }

    /// Whether two texts are numbers that are close, or the same text.
    fn is_close(&self, own: &str, value: &str) -> bool {
        match (number(own), number(value)) {
            (Some(own), Some(value)) => {
                (own - value).abs() <= self.stated.tolerance.unwrap_or(TOLERANCE) * value.abs()
            }
            _ => own == value,
        }
    }
}

/// A number, or a percentage as a share.
fn number(text: &str) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok().map(|percent| percent / 100.0),
        None => text.parse().ok(),
    }
}

/// The job that carries out the run of a point.
fn job_of<'a>(plan: &'a Plan, point: &Point) -> Option<&'a Job> {
    plan.jobs.iter().find(|job| job.runs.iter().any(|run| run.run == point.run))
}

/// A setting of a job as text; none if it is left to its default.
fn setting(job: &Job, name: &str) -> Option<String> {
    let experiment = &job.experiment;
    let drive = &experiment.drive;
    if let Some(key) = name.strip_prefix("workload.") {
        let Workload::Generator(spec) = &experiment.workload else { return None };
        return spec.get(key).map(str::to_owned);
    }
    if let Some(key) = name.strip_prefix("ftl.") {
        return experiment.ftls.iter().find_map(|spec| spec.get(key)).map(str::to_owned);
    }
    match name {
        "logical-pages" => drive.asked_pages().map(|pages| pages.to_string()),
        "page-size" => Some(drive.page_bytes.to_string()),
        "pages-per-block" => drive.pages_per_block.map(|pages| pages.to_string()),
        "blocks" => match drive.physical {
            Physical::Blocks(blocks) => Some(blocks.to_string()),
            Physical::OverProvisioning(_) => None,
        },
        "op" => match drive.physical {
            Physical::OverProvisioning(share) => Some(share.0.to_string()),
            Physical::Blocks(_) => None,
        },
        "reserve" => Some(drive.reserve_blocks.to_string()),
        "warmup-writes" => Some(experiment.warmup_writes.to_string()),
        "writes" => match experiment.length {
            Length::Writes(writes) => Some(writes.to_string()),
            _ => None,
        },
        "drive-writes" => match experiment.length {
            Length::DriveWrites(drives) => Some(drives.to_string()),
            _ => None,
        },
        "timing" => experiment.timing.as_ref().map(Spec::to_string),
        _ => None,
    }
}

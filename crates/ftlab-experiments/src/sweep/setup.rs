//! What the runs have for the numbers of a publication's setup.

use super::compare::{Numbers, measured, places, text};
use super::file_error::Wrong;
use super::plan::{Job, Plan, Point};
use super::scalar::Scalar;
use super::stated::Stated;
use crate::error::ExperimentsError;
use ftlab_sim::{DriveOptions, Experiment, Options, Workload};

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
            let matching = on_axis.iter().find(|own| self.is_close(own, value));
            let here = match matching {
                Some(own) => (*own).to_owned(),
                None => each_once(on_axis.iter().map(|own| (*own).to_owned())).join(", "),
            };
            return Ok((format!("{name} {here}"), Some(matching.is_some())));
        }
        self.refuse_unknown(name)?;
        let jobs = points.filter_map(|point| job_of(self.plan, point));
        let own = |job| setting(job, name).unwrap_or_else(|| "by default".into());
        let found = each_once(jobs.map(own));
        let matches =
            (!found.is_empty()).then(|| found.iter().all(|own| self.is_close(own, value)));
        Ok((format!("{name} {}", found.join(", ")), matches))
    }

    /// Refuses the name of a setting that there is not.
    fn refuse_unknown(&self, name: &str) -> Result<(), Wrong> {
        if name.starts_with("workload.") || name.starts_with("ftl.") {
            return Ok(());
        }
        let of_drive =
            DriveOptions::options().iter().map(|option| (&option.key, option.had.is_some()));
        let of_run = Experiment::options().iter().map(|option| (&option.key, option.had.is_some()));
        let known: Vec<&str> =
            of_drive.chain(of_run).filter(|(_, had)| *had).map(|(key, _)| key.as_str()).collect();
        if known.contains(&name) {
            return Ok(());
        }
        let known = known.join(", ");
        Err(self.wrong(format!(
            "there is no setting {name:?}; there are {known}, workload.KEY, ftl.KEY and the axes"
        )))
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

fn each_once(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for text in texts {
        if !once.contains(&text) {
            once.push(text);
        }
    }
    once
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
    let of_drive = DriveOptions::options().iter().find(|option| option.key == name);
    let of_run = Experiment::options().iter().find(|option| option.key == name);
    let had_by_drive = of_drive.and_then(|option| option.had?(drive));
    had_by_drive.or_else(|| of_run.and_then(|option| option.had?(experiment)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::{ExperimentFile, Recorded, Scale};

    fn line(setting: &str, value: &str) -> Result<StatedLine, ExperimentsError> {
        let text = format!(
            "title = \"t\"\nworkloads = [\"zipf:theta=0.9\"]\nftls = [\"1r-greedy\"]\n\
             stated = [{{ says = \"s\", setting = \"{setting}\", value = \"{value}\" }}]\n\
             [drive]\nlogical = \"16MiB\"\nop = \"{{op}}\"\n[run]\nwrites = 5000\n\
             [grid]\nop = [\"10%\", \"20%\"]"
        );
        let plan = Plan::new(ExperimentFile::parse("t.toml".as_ref(), text)?, Scale::FULL)?;
        let unmeasured = Recorded::parse(&plan, "seed").unwrap();
        Ok(stated(&plan, &unmeasured)?.remove(0))
    }

    #[test]
    fn a_line_has_what_the_runs_have_and_not_what_is_stated() {
        for (setting, value, here, matches) in [
            ("op", "0.105", "op 10%", true),
            ("op", "0.3", "op 10%, 20%", false),
            ("logical-pages", "4100", "logical-pages 4096", true),
            ("writes", "9000", "writes 5000", false),
            ("blocks", "7", "blocks by default", false),
            ("workload.theta", "0.9", "workload.theta 0.9", true),
        ] {
            let line = line(setting, value).unwrap();
            assert_eq!((line.here.as_str(), line.matches), (here, Some(matches)));
        }
    }

    #[test]
    fn a_setting_that_there_is_not_is_refused_with_those_that_there_are() {
        let error = line("pages", "7").unwrap_err().to_string();
        assert!(error.contains("there is no setting \"pages\""), "{error}");
        assert!(error.contains("logical-pages, page-size") && error.contains("axes"), "{error}");
    }
}

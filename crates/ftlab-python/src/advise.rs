//! `ftlab.advise`.

use crate::error::{Error, Result};
use crate::experiment::experiment_on;
use crate::parse::{Settings, bad};
use crate::progress::stoppable;
use crate::workload::Workload;
use ftlab_experiments::Stop;
use ftlab_experiments::advise::{
    Choice, Question, Service, Slo, Target, tbw_of_dwpd, timing_at, usual_length,
};
use ftlab_sim::{DriveClass, DriveOptions, Experiment, Length, Threads};
use ftlab_spec::{ByteSize, Share, Spec, SpecError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// Which FTL, and how much over-provisioning: the advice as JSON.
#[pyfunction]
pub(crate) fn advise(
    py: Python<'_>,
    workload: &Workload,
    ftls: Vec<String>,
    op_ratios: Vec<String>,
    settings: BTreeMap<String, String>,
    progress: Option<Py<PyAny>>,
) -> Result<String> {
    let mut settings = Settings::new(settings);
    let question = question(workload, &ftls, &op_ratios, &mut settings)?;
    let threads = question.base.threads.unwrap_or_else(Threads::processors);
    let advice = stoppable(py, &question.stop, progress.as_ref(), |count| {
        question.answer(threads, &|runs| count.done.store(runs, Ordering::Relaxed))
    })?;
    let advice = advice.map_err(|error| workload.raised_or(error))?;
    serde_json::to_string(&advice)
        .map_err(|error| Error::from(PyRuntimeError::new_err(error.to_string())))
}

fn question(
    workload: &Workload,
    ftls: &[String],
    op_ratios: &[String],
    settings: &mut Settings,
) -> Result<Question> {
    let ftls: Vec<Spec> =
        ftls.iter().map(|ftl| ftl.parse()).collect::<std::result::Result<_, _>>()?;
    let class = real_drive(settings)?;
    let once = settings.flag("once")?;
    let (target_waf, tbw, dwpd) =
        (settings.number("target_waf")?, settings.number("tbw")?, settings.number("dwpd")?);
    let daily: Option<ByteSize> = settings.parsed("daily_writes")?;
    let (years, price_per_gb) = (settings.number("years")?, settings.number("price")?);
    let carbon = settings.number("carbon")?;
    let (slo, load, timing) = objective(settings)?;
    let ftls = Choice::new(&ftls, class.as_ref());
    let usual = class.as_ref().map_or_else(DriveOptions::default, DriveClass::usual);
    let mut base = experiment_on(usual, workload.inner.clone(), ftls.answer.clone(), settings)?;
    if base.length == Length::OfWorkload {
        base.length = usual_length(&base.workload, once);
    }
    let mut target = target(&base, class.as_ref(), [target_waf, tbw, dwpd])?;
    if let (Some(slo), Some(load)) = (slo, load) {
        if target.is_some() {
            let expects = "a second target; give one of slo, target_waf, tbw and dwpd";
            return Err(bad("slo", &slo.to_string(), expects).into());
        }
        base.timing = Some(timing_at(&timing, load)?);
        target = Some(Target::Response(slo));
    }
    let service = daily.map(|daily| Service {
        daily,
        years: years.unwrap_or(5.0),
        price_per_gb,
        carbon_per_gb: carbon.unwrap_or(Service::CARBON_PER_GB),
    });
    if (service.is_some() || tbw.is_some() || dwpd.is_some()) && base.endurance_cycles.is_none() {
        let what = "None, and tbw, dwpd and daily_writes need it";
        return Err(bad("endurance", "None", &format!("given: it is {what}")).into());
    }
    let op_ratios_given = op_ratios.join(", ");
    let asked = if op_ratios.is_empty() { Vec::new() } else { shares(op_ratios)? };
    if !asked.is_sorted_by(|a, b| a < b) {
        let expects = "in ascending order, such as [\"7%\", \"10%\"]";
        return Err(bad("op", &op_ratios_given, expects).into());
    }
    let op_ratios = ftlab_experiments::advise::op_ratios(&asked, class.as_ref(), target.is_some())?;
    Ok(Question { base, ftls, class, op_ratios, target, service, stop: Stop::default() })
}

/// The real drive that is asked about, if one is.
pub(crate) fn real_drive(settings: &mut Settings) -> Result<Option<DriveClass>> {
    let Some(text) = settings.text("real_drive") else { return Ok(None) };
    let class: DriveClass =
        text.parse().map_err(|error: SpecError| bad("real_drive", &text, &error.to_string()))?;
    let own = ["logical", "logical_pages", "pages_per_block"];
    if own.iter().any(|name| settings.has(name)) {
        let expects = "a drive whose size and blocks are its own; leave out those of drive";
        return Err(bad("real_drive", &text, expects).into());
    }
    Ok(Some(class))
}

/// An objective, its load, and its flash.
fn objective(settings: &mut Settings) -> Result<(Option<Slo>, Option<f64>, Spec)> {
    let slo: Option<Slo> = settings.by("slo", str::parse)?;
    let load = settings.number("load")?;
    let timing: Option<Spec> = settings.parsed("slo_timing")?;
    if slo.is_some() != load.is_some() {
        let (name, other) = if slo.is_some() { ("load", "slo") } else { ("slo", "load") };
        return Err(bad(name, "None", &format!("given: {other} needs it")).into());
    }
    if let Some(load) = load.filter(|load| !(1e-3..=1e9).contains(load)) {
        return Err(bad("load", &load.to_string(), "a number of requests a second above 0").into());
    }
    Ok((slo, load, timing.unwrap_or_else(|| Spec::bare("femu"))))
}

/// Shares of over-provisioning, one or more.
pub(crate) fn shares(op_ratios: &[String]) -> Result<Vec<Share>> {
    if op_ratios.is_empty() {
        return Err(bad("op", "[]", "one share or more, such as [\"7%\", \"28%\"]").into());
    }
    let parse = |text: &String| {
        text.parse().map_err(|error: SpecError| bad("op", text, &error.to_string()))
    };
    Ok(op_ratios.iter().map(parse).collect::<std::result::Result<_, _>>()?)
}

fn target(
    base: &Experiment,
    class: Option<&DriveClass>,
    [waf, tbw, dwpd]: [Option<f64>; 3],
) -> Result<Option<Target>> {
    let given = [("target_waf", waf), ("tbw", tbw), ("dwpd", dwpd)];
    let given: Vec<_> = given.iter().filter_map(|(name, value)| Some((*name, (*value)?))).collect();
    let [(name, value)] = given[..] else {
        let Some((name, value)) = given.get(1) else { return Ok(None) };
        let expects = "a second target; give one of target_waf, tbw and dwpd";
        return Err(bad(name, &value.to_string(), expects).into());
    };
    if value <= if name == "target_waf" { 1.0 } else { 0.0 } {
        let least = if name == "target_waf" { "a number above 1" } else { "a number above 0" };
        return Err(bad(name, &value.to_string(), least).into());
    }
    let cycles = base.endurance_cycles.unwrap_or(0);
    Ok(Some(match name {
        "target_waf" => Target::Waf(value),
        "tbw" => Target::Endurance { tbw: value, cycles },
        _ => {
            let logical_bytes = match class {
                Some(class) => class.capacity.0,
                None => base.prepare()?.config().drive.logical_bytes,
            };
            Target::Endurance { tbw: tbw_of_dwpd(value, logical_bytes), cycles }
        }
    }))
}

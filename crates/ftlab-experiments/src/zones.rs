//! Which zones a host should write on a drive that has none: how large, and how many at once.
//!
//! Every FTL that the drive may have is run under [`zones`](ftlab_workload::zones) of every size, so many open at a time. A
//! zone that is as large as what the drive collects at once, or a multiple, is worth most; several that are open at once
//! share units, and have to be larger.

use crate::error::ExperimentsError;
use crate::parallel::{Stop, Until, parallel, when_it_fits};
use ftlab_sim::format::{significant, whole};
use ftlab_sim::{DriveClass, Experiment, Fill, Length, Physical, SimError, Workload};
use ftlab_spec::{ByteSize, Spec};
use ftlab_trace::{OpenOptions, TraceError};
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Drive writes that are counted, and before.
const COUNTED: f64 = 8.0;
const BEFORE: f64 = 2.0;

/// What is asked.
#[derive(Debug, Clone)]
pub struct ZonesQuestion {
    /// The drive's options and the seed; its workload, size and FTLs do not count.
    pub base: Experiment,
    /// The drive.
    pub class: DriveClass,
    /// The FTLs that it may have.
    pub ftls: Vec<Spec>,
    /// Bytes of a zone.
    pub sizes: Vec<ByteSize>,
    /// Zones that are open at a time.
    pub open: Vec<u32>,
    /// The most that is to be amplified.
    pub target_waf: f64,
    /// Ends all runs when it is set.
    pub stop: Stop,
}

/// The answer, and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ZonesAdvice {
    /// The answer in words.
    pub answer: String,
    /// The most that is to be amplified.
    pub target_waf: f64,
    /// What every combination amplifies.
    pub points: Vec<ZonesPoint>,
}

/// What a drive amplifies under zones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ZonesPoint {
    /// The FTL.
    pub ftl: String,
    /// Bytes of a zone.
    pub size: u64,
    /// Zones that are open at a time.
    pub open: u32,
    /// Write amplification after the first two drive writes; none if the drive cannot have such zones.
    pub waf: Option<f64>,
}

impl ZonesQuestion {
    /// Runs all combinations, on `threads`; `on_run` is told how many runs there were so far.
    pub fn answer(
        &self,
        threads: usize,
        on_run: &(dyn Fn(usize) + Sync),
    ) -> Result<ZonesAdvice, ExperimentsError> {
        let ran = AtomicUsize::new(0);
        let mut asked = Vec::new();
        for ftl in &self.ftls {
            for open in &self.open {
                asked.extend(self.sizes.iter().map(|size| (ftl, *size, *open)));
            }
        }
        let runs = parallel(threads, &asked, |(ftl, size, open)| {
            let run = self.waf(ftl, *size, *open)?;
            on_run(ran.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(run)
        });
        let runs: Vec<Result<f64, TraceError>> =
            runs.into_iter().collect::<Result<_, ExperimentsError>>()?;
        let mut points = Vec::new();
        let mut misfit = None;
        for ((ftl, size, open), run) in asked.iter().zip(runs) {
            let waf = match run {
                Ok(waf) => Some(waf),
                Err(error) => {
                    misfit.get_or_insert(error);
                    None
                }
            };
            points.push(ZonesPoint { ftl: ftl.to_string(), size: size.0, open: *open, waf });
        }
        if let Some(misfit) = misfit.filter(|_| points.iter().all(|point| point.waf.is_none())) {
            return Err(SimError::Trace(misfit).into());
        }
        let target_waf = self.target_waf;
        Ok(ZonesAdvice { answer: self.in_words(&points), target_waf, points })
    }

    /// Write amplification of an FTL under zones; or how they do not fit on the drive.
    fn waf(
        &self,
        ftl: &Spec,
        size: ByteSize,
        open: u32,
    ) -> Result<Result<f64, TraceError>, SimError> {
        let text = format!("zones:size={size},open={open}");
        let workload = Workload::parse(&text, OpenOptions::default())?;
        let model = self.class.model(&workload, self.base.drive.page_bytes, self.base.seed)?;
        let mut experiment = model.of(&Experiment {
            workload,
            ftls: vec![ftl.clone()],
            fill: Fill::None,
            threads: Some(1),
            ..self.base.clone()
        })?;
        if let Some(op) = self.class.op {
            experiment.drive.physical = Physical::OverProvisioning(op);
        }
        experiment.length = Length::DriveWrites(COUNTED);
        experiment.warmup_writes = (BEFORE * model.size.pages as f64) as u64;
        let is_stopped = || self.stop.load(Ordering::Relaxed);
        let prepared = match when_it_fits(is_stopped, || experiment.prepare()) {
            Ok(prepared) => prepared,
            Err(SimError::Trace(misfit)) => return Ok(Err(misfit)),
            Err(error) => return Err(error),
        };
        let mut result = prepared.run(&mut Until(&self.stop))?;
        Ok(Ok(result.runs.remove(0).waf))
    }

    /// For every number of open zones, the smallest that every FTL of the drive amplifies little enough.
    fn in_words(&self, points: &[ZonesPoint]) -> String {
        let sentences = self.open.iter().map(|open| {
            let worst = |size: &ByteSize| {
                let of = points.iter().filter(|own| own.open == *open && own.size == size.0);
                of.map(|own| own.waf).try_fold(1.0_f64, |most, waf| Some(most.max(waf?)))
            };
            let known: Vec<(ByteSize, f64)> =
                self.sizes.iter().filter_map(|size| Some((*size, worst(size)?))).collect();
            let fits = |(_, waf): &&(ByteSize, f64)| *waf <= self.target_waf;
            let many = if *open == 1 {
                "One open at a time".to_owned()
            } else {
                format!("{open} open at a time")
            };
            let target = significant(self.target_waf, 3);
            // All that is known is that the drive has one of several.
            let told = |size: &ByteSize, waf: f64| match self.ftls.len() {
                1 => (whole(size.0), significant(waf, 4)),
                _ => (whole(size.0), format!("at most {}", significant(waf, 4))),
            };
            match known.iter().filter(fits).min_by_key(|(size, _)| size.0) {
                Some((size, waf)) => {
                    let (size, waf) = told(size, *waf);
                    format!("{many}: zones of {size} amplify {waf}.")
                }
                None => match known.iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
                    Some((size, waf)) => {
                        let (size, waf) = told(size, *waf);
                        format!(
                            "{many}: none of these reaches {target}; {size} comes nearest: {waf}."
                        )
                    }
                    None => format!("{many}: none of these fits on the drive."),
                },
            }
        });
        sentences.collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(sizes: &[&str], open: &[u32]) -> ZonesQuestion {
        let workload = Workload::parse("zones", OpenOptions::default()).unwrap();
        ZonesQuestion {
            base: Experiment::new(workload, Vec::new()),
            class: "64GB, 10%, 1GB".parse().unwrap(),
            ftls: vec!["1r-greedy".parse().unwrap()],
            sizes: sizes.iter().map(|size| size.parse().unwrap()).collect(),
            open: open.to_vec(),
            target_waf: 1.05,
            stop: Stop::default(),
        }
    }

    #[test]
    fn zones_that_fit_what_is_collected_at_once_cost_nothing() {
        let advice = question(&["100MB", "1GB", "50GB"], &[1]).answer(1, &|_| ()).unwrap();
        let [small, unit, large] = advice.points.as_slice() else { panic!("{advice:?}") };
        assert!(unit.waf.unwrap() < 1.001, "{advice:?}");
        assert!(small.waf.unwrap() > 1.2, "{advice:?}");
        assert_eq!(large.waf, None, "more than half of the drive");
        assert!(advice.answer.contains("zones of 1 GB"), "{}", advice.answer);
    }

    #[test]
    fn zones_that_do_not_fit_are_refused() {
        let error = question(&["50GB"], &[1]).answer(1, &|_| ()).unwrap_err().to_string();
        assert!(error.contains("half of it at most"), "{error}");
    }
}

//! What runs are evidence of, and by what they are compared.

use crate::drive::DriveSummary;
use crate::evidence::{Counted, RunEvidence};
use crate::run_result::RunResult;
use crate::timing::TimingSummary;
use crate::trust::{Trust, assumed};
use ftlab_feed::Brought;

impl RunResult {
    /// Finds out what it is evidence of, on its drive; of results of earlier versions, nobody knows what was `brought`.
    pub(crate) fn judge(&mut self, drive: &DriveSummary, brought: Option<Brought>) {
        let counted = Counted {
            host_writes: self.host_writes,
            erases: self.erases,
            waf: self.waf,
            settling: self.settling,
            erase_time_share: self.timing.as_ref().and_then(|of| of.lun_seconds.share_of_erases()),
            logical_pages: drive.logical_pages,
            blocks: drive.blocks,
        };
        self.evidence = Some(RunEvidence::of(&counted, brought));
    }

    /// Whether its numbers may be compared, and enter means.
    pub fn is_evidence(&self) -> bool {
        self.evidence.as_ref().is_none_or(|evidence| evidence.lacks.is_none())
    }

    /// The write amplification that an answer states: the steady value, or that of the whole run if there is none.
    pub fn headline_waf(&self) -> f64 {
        self.steady_waf.unwrap_or(self.waf)
    }
}

/// The write amplification by which runs of one question are compared: their steady values if all have one. A steady value
/// is not compared with a mean that has the transient in it.
pub fn compared_wafs(runs: &[&RunResult]) -> Vec<f64> {
    let are_steady = are_steady(runs);
    let waf = |run: &&RunResult| if are_steady { run.headline_waf() } else { run.waf };
    runs.iter().map(waf).collect()
}

/// Whether all runs of one question have a steady value, so that these are compared.
pub fn are_steady(runs: &[&RunResult]) -> bool {
    runs.iter().all(|run| run.steady_waf.is_some())
}

/// What an answer from these runs rests on, that is all of a result.
pub(crate) fn trust_of(
    drive: &DriveSummary,
    fill: &str,
    timing: Option<&TimingSummary>,
    runs: &[RunResult],
) -> Trust {
    let evidence = runs.iter().filter_map(|run| run.evidence.as_ref());
    Trust::of(evidence, assumed(drive, fill, timing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{RunEvidence, Standing};
    use crate::{DriveOptions, Experiment, Length, Logical, Requests, Workload};
    use ftlab_trace::{Input, OpenOptions, open_input};

    fn of(workload: Workload, change: impl FnOnce(&mut Experiment)) -> RunResult {
        let drive = DriveOptions {
            logical: Logical::Pages(4096),
            pages_per_block: Some(16),
            ..DriveOptions::default()
        };
        let ftls = vec!["1r-greedy".parse().unwrap()];
        let mut experiment = Experiment { drive, ..Experiment::new(workload, ftls) };
        change(&mut experiment);
        experiment.run(&mut ()).unwrap().runs.remove(0)
    }

    fn generator(change: impl FnOnce(&mut Experiment)) -> RunEvidence {
        let workload = Workload::parse("uniform", OpenOptions::default()).unwrap();
        of(workload, change).evidence.unwrap()
    }

    fn lacks(length: f64) -> String {
        let found = generator(|it| it.length = Length::DriveWrites(length));
        assert_eq!(found.standing == Standing::None, found.lacks.is_some());
        found.lacks.unwrap_or_default()
    }

    #[test]
    fn erases_and_drive_writes_of_the_footprint_are_needed() {
        assert_eq!(lacks(0.05), "no block was erased");
        assert!(lacks(0.11).ends_with("blocks were erased, and 100 are enough"), "{}", lacks(0.11));
        let few = lacks(1.5);
        assert!(few.starts_with("its 3,") && few.ends_with("times, and 2 are enough"), "{few}");
        assert_eq!(lacks(2.0), "");
        let counted = generator(|it| {
            it.warmup_writes = 3 * 4096;
            it.length = Length::DriveWrites(0.5);
        });
        let text = counted.lacks.unwrap();
        assert!(
            text.contains("pages were counted 0.5") && text.ends_with("1 are enough"),
            "{text}"
        );
    }

    /// `requests` writes of four pages, over and over the same 40.
    fn trace(requests: u64) -> RunEvidence {
        let open = move || {
            let line = |request: u64| format!("W,{},4\n", 4 * (request * 7 % 10));
            let lines: String = (0..requests).map(line).collect();
            let input = Input::from_bytes("test", lines.into_bytes())?;
            let map = Some("op=1,off:pages=2,len:pages=3".to_owned());
            open_input(input, &OpenOptions { map, ..OpenOptions::default() })
        };
        of(Workload::Requests(Requests::new("test", false, open)), |_| ()).evidence.unwrap()
    }

    #[test]
    fn requests_of_a_trace_are_needed_and_a_small_footprint_is_enough() {
        let few = trace(900);
        assert_eq!(few.lacks.unwrap(), "it has 900 write requests, and 1,000 are enough");
        let enough = trace(1000);
        assert_eq!((enough.standing, enough.requests), (Standing::Short, Some(1000)));
        assert!(enough.drive_writes < 1.0, "{enough:?}");
    }

    #[test]
    fn the_steady_value_is_the_headline_and_is_compared_with_its_like() {
        let workload = || Workload::parse("uniform", OpenOptions::default()).unwrap();
        let steady = of(workload(), |it| it.length = Length::UntilSteady(40.0));
        let short = of(workload(), |it| it.length = Length::DriveWrites(3.0));
        let value = steady.steady_waf.unwrap();
        assert_eq!(steady.evidence.as_ref().unwrap().standing, Standing::Steady);
        assert_eq!((steady.headline_waf(), short.headline_waf()), (value, short.waf));
        assert_eq!(compared_wafs(&[&steady, &steady]), [value, value]);
        assert_eq!(compared_wafs(&[&steady, &short]), [steady.waf, short.waf]);
    }
}

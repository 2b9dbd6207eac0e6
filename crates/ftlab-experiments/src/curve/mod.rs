//! What over-provisioning brings: write amplification of FTLs on drives with more and more flash.
//!
//! A point is a run of the whole workload, as `advise` has it, or an estimate from samples of its pages, with
//! an interval.

mod curves;
mod estimate;
mod measured;
mod sampled;
mod table;

pub use curves::{CurvePoint, Curves, FtlCurve, SampleSummary};
pub use estimate::{Estimate, Sighting, estimate};
pub use measured::{MEASURED, MeasuredError, least_half};
pub use sampled::{DRAWS_USUAL, PAGES_LEFT_MIN, SAMPLE_PAGES_MIN, Sampling};
pub use table::{TableFile, write_table};

use crate::advise::{Point, Question};
use crate::parallel::parallel;
use ftlab_ftl::registry;
use ftlab_sim::evidence::Standing;
use ftlab_sim::result::{DriveSummary, RunEvidence};
use ftlab_sim::trust::Trust;
use ftlab_sim::{Physical, SimError};
use ftlab_spec::{Share, Spec};
use sampled::Sampled;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Over-provisioning of a curve, if nothing else is asked for: twelve points.
pub const USUAL_OP_RATIOS: [Share; 12] = [
    Share(0.04),
    Share(0.05),
    Share(0.07),
    Share(0.1),
    Share(0.125),
    Share(0.15),
    Share(0.2),
    Share(0.25),
    Share(0.28),
    Share(0.4),
    Share(0.5),
    Share(0.6),
];

/// A run that is to be carried out.
struct Task<'a> {
    ftl: &'a Spec,
    op: Share,
    /// The number of a sample; none for the whole workload.
    sample: Option<usize>,
}

impl Question {
    /// Curves of its FTLs, from runs of the whole workload or from samples, on `threads`; `on_run` is told how many runs
    /// there were so far, of how many.
    pub fn draw_curves(
        &self,
        sampling: Option<Sampling>,
        threads: usize,
        on_run: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Curves, SimError> {
        let ftls: Vec<&Spec> = self.ftls.all().map(|(_, ftl)| ftl).collect();
        for ftl in &ftls {
            registry::resolve(ftl)?;
        }
        if sampling.is_some() {
            Sampling::check(&self.base, &ftls)?;
        }
        let (question, drive) = self.for_curves()?;
        let sampled = sampling.map(|of| Sampled::draw(of, &question.base, &drive)).transpose()?;
        self.check_stop()?;
        let samples: Vec<Option<usize>> = match &sampled {
            Some(sampled) => (0..sampled.samples()).map(Some).collect(),
            None => vec![None],
        };
        let mut tasks = Vec::new();
        for &ftl in &ftls {
            for &op in &self.op_ratios {
                tasks.extend(samples.iter().map(|&sample| Task { ftl, op, sample }));
            }
        }
        let done = AtomicUsize::new(0);
        let runs = parallel(threads, &tasks, |task| {
            let run = question.carry_out(task, sampled.as_ref());
            on_run(done.fetch_add(1, Relaxed) + 1, tasks.len());
            run
        });
        self.check_stop()?;
        let mut rests_on = Vec::new();
        let mut curves: Vec<FtlCurve> = Vec::new();
        let of_points = tasks.chunks(samples.len()).zip(runs.chunks(samples.len()));
        for (tasks, runs) in of_points {
            let ftl = tasks[0].ftl.to_string();
            if curves.last().is_none_or(|curve| curve.ftl != ftl) {
                curves.push(FtlCurve { ftl, points: Vec::new(), refused: None });
            }
            let Some(curve) = curves.last_mut() else { continue };
            if let Some(error) = runs.iter().find_map(|run| run.as_ref().err()) {
                curve.refused.get_or_insert(error.to_string());
                continue;
            }
            let runs: Vec<_> = runs.iter().filter_map(|run| run.as_ref().ok()).collect();
            rests_on.extend(runs.iter().filter_map(|(_, evidence)| evidence.clone()));
            let points: Vec<Point> = runs.iter().map(|(point, _)| *point).collect();
            let ftl = curve.ftl.clone();
            curve.points.push(on_curve(&ftl, &points, sampled.as_ref(), &drive));
        }
        let refused = curves.iter().find_map(|curve| curve.refused.clone());
        if let Some(reason) = refused.filter(|_| curves.iter().all(|curve| curve.points.is_empty()))
        {
            return Err(SimError::Unusable {
                what: format!("no FTL runs on any of these drives: {reason}"),
                remedy: "give more over-provisioning (--op) or smaller blocks (--pages-per-block)"
                    .into(),
            });
        }
        Ok(Curves {
            workload: self.base.workload.name(),
            logical_pages: drive.logical_pages,
            logical_bytes: drive.logical_bytes,
            pages_per_block: drive.pages_per_block,
            caveats: sampled.as_ref().map_or_else(Vec::new, |sampled| {
                measured::caveats(&curves, sampled.pages_per_request)
            }),
            sample: sampled.as_ref().map(Sampled::summary),
            curves,
            trust: Trust::of(rests_on.iter(), Vec::new()),
        })
    }

    fn carry_out(
        &self,
        task: &Task<'_>,
        sampled: Option<&Sampled>,
    ) -> Result<(Point, Option<RunEvidence>), SimError> {
        let experiment = self.experiment(task.ftl, Physical::OverProvisioning(task.op));
        match sampled.zip(task.sample) {
            Some((sampled, number)) => self.point_of(&sampled.experiment(&experiment, number)?),
            None => self.point_of(&experiment),
        }
    }
}

/// What the runs of a point come to: one of the whole workload, or one of each sample.
fn on_curve(
    ftl: &str,
    runs: &[Point],
    sampled: Option<&Sampled>,
    drive: &DriveSummary,
) -> CurvePoint {
    let blocks = runs[0].blocks;
    let pages = f64::from(blocks) * f64::from(drive.pages_per_block);
    let seen: Vec<Sighting> = sampled.map_or_else(Vec::new, |sampled| {
        let of = |(number, run): (usize, &Point)| Sighting {
            pages_per_block: sampled.pages_per_block(number),
            waf: run.waf,
        };
        runs.iter().enumerate().map(of).collect()
    });
    let estimated = sampled.map(|sampled| {
        let least = least_half(ftl, sampled.pages_per_request);
        estimate(&seen, drive.pages_per_block).widened(least)
    });
    CurvePoint {
        op_ratio: pages / f64::from(drive.logical_pages) - 1.0,
        blocks,
        waf: estimated.map_or(runs[0].waf, |estimated| estimated.waf),
        interval: estimated.map(|estimated| estimated.interval),
        has_settled: runs.iter().all(Point::has_settled),
        standing: runs
            .iter()
            .map(|run| run.standing)
            .max_by_key(|of| rank(*of))
            .unwrap_or_default(),
        seen,
    }
}

/// The less a run is evidence of, the more.
fn rank(standing: Standing) -> u8 {
    match standing {
        Standing::Steady => 0,
        Standing::Bound => 1,
        Standing::Short => 2,
        Standing::None => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stop;
    use crate::advise::Choice;
    use ftlab_sim::{DriveOptions, Experiment, Length, Logical, Workload};
    use ftlab_trace::OpenOptions;

    /// A drive of 512 blocks with 128 pages.
    fn question(workload: &str, ftls: &[&str]) -> Question {
        let workload = Workload::parse(workload, OpenOptions::default()).unwrap();
        let ftls: Vec<Spec> = ftls.iter().map(|ftl| ftl.parse().unwrap()).collect();
        Question {
            base: Experiment {
                drive: DriveOptions {
                    logical: Logical::Pages(65_536),
                    pages_per_block: Some(128),
                    ..DriveOptions::default()
                },
                length: Length::DriveWrites(3.0),
                ..Experiment::new(workload, Vec::new())
            },
            ftls: Choice::new(&ftls, None),
            class: None,
            op_ratios: [0.1, 0.28].map(Share).to_vec(),
            target: None,
            service: None,
            stop: Stop::default(),
        }
    }

    fn drawn(question: &Question, sampling: Option<Sampling>) -> Curves {
        question.draw_curves(sampling, 2, &|_, _| ()).unwrap()
    }

    const HALF: Sampling = Sampling { one_in: 2, draws: 2 };

    #[test]
    fn samples_come_to_what_whole_runs_do() {
        for workload in ["zipf:theta=0.9", "hotcold"] {
            let question = question(workload, &["1r-greedy", "sepbit"]);
            let (whole, sampled) = (drawn(&question, None), drawn(&question, Some(HALF)));
            for (one, other) in whole.curves.iter().zip(&sampled.curves) {
                assert_eq!((one.points.len(), other.points.len()), (2, 2));
                for (one, other) in one.points.iter().zip(&other.points) {
                    assert_eq!((one.blocks, one.interval), (other.blocks, None));
                    assert!((one.op_ratio - other.op_ratio).abs() < 1e-12);
                    let off = (other.waf - one.waf) / (one.waf - 1.0);
                    assert!(off.abs() < 0.06, "{workload}: {one:?} {other:?}");
                    let few = other.seen.iter().map(|seen| seen.waf).fold(9.0, f64::min);
                    assert!(few < one.waf, "small blocks amplify less: {other:?}");
                }
            }
            let sample = sampled.sample.unwrap();
            assert_eq!((sample.pages_per_block, sample.draws), ([64, 16], 2));
            assert!((sample.work - 1.25).abs() < 0.02, "{}", sample.work);
        }
    }

    #[test]
    fn curves_of_whole_runs_are_those_of_advice() {
        let question = question("hotcold", &["1r-greedy", "2r++"]);
        let advice = question.answer(2, &|_| ()).unwrap();
        for curve in drawn(&question, None).curves {
            let same = advice.curves.iter().find(|of| of.ftl == curve.ftl).unwrap();
            let points = |waf: f64, blocks: u32| (blocks, waf.to_bits());
            let advised: Vec<_> = same.points.iter().map(|of| points(of.waf, of.blocks)).collect();
            let drawn: Vec<_> = curve.points.iter().map(|of| points(of.waf, of.blocks)).collect();
            assert_eq!(drawn, advised);
        }
    }

    #[test]
    fn a_run_until_steady_and_one_with_a_warm_up_are_sampled_as_they_last() {
        let mut question = question("zipf:theta=0.9", &["1r-greedy"]);
        question.base.length = Length::UntilSteady(40.0);
        let sampled = drawn(&question, Some(HALF));
        assert!(sampled.curves[0].points.iter().all(|point| point.has_settled), "{sampled:?}");
        let whole = drawn(&question, None);
        for (one, other) in whole.curves[0].points.iter().zip(&sampled.curves[0].points) {
            assert!(((other.waf - one.waf) / (one.waf - 1.0)).abs() < 0.08, "{one:?} {other:?}");
        }
        question.base.length = Length::Writes(65_536);
        question.base.warmup_writes = 65_536;
        let [least, most] = drawn(&question, Some(HALF)).trust.drive_writes;
        assert!(least > 0.98 && most < 1.02, "{least} to {most}");
    }

    #[test]
    fn what_cannot_be_sampled_is_refused_with_what_can() {
        let asked = question("hotcold", &["1r-greedy"]);
        let error = |question: &Question, sampling| {
            question.draw_curves(Some(sampling), 1, &|_, _| ()).unwrap_err().to_string()
        };
        let text = error(&asked, Sampling { one_in: 4, draws: 2 });
        assert!(
            text.contains("leaves 32 of the 128 pages") && text.contains("1/2 at most"),
            "{text}"
        );
        let mut small = asked.clone();
        small.base.drive.pages_per_block = Some(128);
        small.base.drive.logical = Logical::Pages(16_384);
        let text = error(&small, HALF);
        assert!(text.contains("2048 of the 16384 pages") && text.contains("8192"), "{text}");
        for (ftl, why) in [
            ("fast", "maps whole blocks"),
            ("nvme-fdp", "streams of requests"),
            ("mbf/greedy", "filters"),
        ] {
            let text = error(&question("hotcold", &[ftl]), HALF);
            assert!(text.contains(ftl) && text.contains(why), "{text}");
        }
        let mut timed = asked.clone();
        timed.base.timing = Some("slc".parse().unwrap());
        assert!(error(&timed, HALF).contains("--timing"));
        let mut once = asked;
        once.base.workload = Workload::parse("-", OpenOptions::default()).unwrap();
        assert!(error(&once, HALF).contains("ftlab convert"));
    }

    #[test]
    fn tables_have_a_row_for_each_point() {
        use parquet::file::reader::{FileReader, SerializedFileReader};
        use parquet::record::RowAccessor;
        let curves = drawn(&question("hotcold", &["1r-greedy", "2r++"]), None);
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.csv");
        write_table(&curves, &path, TableFile::of(&path).unwrap()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 5);
        let first = &curves.curves[0].points[0];
        assert!(lines[1].starts_with(&format!(
            "1r-greedy,{},{},{},,,",
            first.op_ratio, first.blocks, first.waf
        )));
        let path = place.path().join("a.parquet");
        write_table(&curves, &path, TableFile::of(&path).unwrap()).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let rows: Vec<_> = SerializedFileReader::new(file)
            .unwrap()
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(rows.len(), 4);
        assert_eq!(rows[3].get_string(0).unwrap(), "2r++");
        assert!((rows[0].get_double(3).unwrap() - first.waf).abs() < 1e-15);
        let error = TableFile::of("a.txt".as_ref()).unwrap_err().to_string();
        assert!(error.contains(".parquet or .csv"), "{error}");
    }
}

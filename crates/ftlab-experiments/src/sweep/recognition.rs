//! Experiments that ask hotness tests which writes are hot, without an FTL.

use super::compare::Numbers;
use super::file_error::{FileError, Wrong};
use super::plan::{Job, Plan, Point};
use super::series::Curve;
use crate::error::ExperimentsError;
use ftlab_flash::Lpn;
use ftlab_ftl::algorithms::placement::{Lru, Mbf};
use ftlab_ftl::algorithms::tools::Hotness;
use ftlab_ftl::registry::{DriveShape, FitContext, PlacementEntry};
use ftlab_sim::{Experiment, SimError, Workload};
use ftlab_spec::{Parameters, Spec, SpecError};
use ftlab_trace::pages::{PageSink, expand, page_sectors};
use ftlab_trace::{RequestBatch, Space};
use ftlab_workload::areas::Area;
use std::collections::BTreeMap;
use std::ops::Range;

/// What the tests of a plan took for hot, by the hash of the run.
#[derive(Debug, Default)]
pub struct Recognised(BTreeMap<String, Shares>);

/// Shares of the writes that a test took for hot.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shares {
    /// Of those to hot pages.
    of_hot: f64,
    /// Of those to cold ones.
    of_cold: f64,
}

const METRICS: [&str; 2] = ["hot-recognised", "cold-taken-for-hot"];

/// The options that decide what a test is shown.
const OF_DRIVE: [&str; 4] = ["logical", "logical-pages", "page-size", "pages-per-block"];
const OF_RUN: [&str; 4] = ["warmup-writes", "warmup-drive-writes", "writes", "drive-writes"];

/// How far the share of the writes that hot pages get may be off what is told of them.
const SHARE_WITHIN: f64 = 0.03;

impl Recognised {
    /// Shows the writes of every workload to every test.
    pub fn new(plan: &Plan) -> Result<Self, ExperimentsError> {
        refuse_unused(plan)?;
        let mut found = BTreeMap::new();
        for job in &plan.jobs {
            found.extend(of_job(job)?);
        }
        Ok(Self(found))
    }
}

/// Refuses options that no test would notice.
fn refuse_unused(plan: &Plan) -> Result<(), FileError> {
    let file = &plan.file;
    let of_cases = file.case.iter().map(|case| (&case.drive, &case.run));
    for (drive, run) in of_cases.chain([(&file.drive, &file.run)]) {
        let unused = drive.other_than(&OF_DRIVE).or_else(|| run.other_than(&OF_RUN));
        if let Some((key, value)) = unused {
            let used = [OF_DRIVE, OF_RUN].concat().join(", ");
            let message = format!(
                "{key} = {:?} has no effect on hotness tests; leave it out, or use one of {used}",
                value.as_written()
            );
            return Err(Wrong::at(value.span(), message).within(&file.path, &file.toml));
        }
    }
    Ok(())
}

fn unusable(what: impl Into<String>, remedy: &str) -> SimError {
    SimError::Unusable { what: what.into(), remedy: remedy.to_owned() }
}

fn of_job(job: &Job) -> Result<Vec<(String, Shares)>, SimError> {
    let experiment = &job.experiment;
    let shape = shape(experiment)?;
    let tests: Result<_, _> = experiment.ftls.iter().map(|spec| test_of(spec, shape)).collect();
    let shares = Audience::of(experiment, shape.logical_pages, tests?)?.judge(experiment)?;
    Ok(job.runs.iter().map(|point| point.run.clone()).zip(shares).collect())
}

/// The drive whose size the parameters of a test may follow.
fn shape(experiment: &Experiment) -> Result<DriveShape, SimError> {
    let drive = &experiment.drive;
    let logical_pages = drive
        .asked_pages()
        .ok_or_else(|| unusable("hotness tests of a drive without a size", "give logical-pages"))?;
    let logical_pages = u32::try_from(logical_pages).map_err(|_| {
        let what = format!("hotness tests of a drive of {logical_pages} pages");
        unusable(what, &format!("give logical-pages of {} at most", u32::MAX))
    })?;
    let pages_per_block = drive
        .pages_per_block
        .filter(|pages| *pages > 0)
        .ok_or_else(|| unusable("hotness tests without blocks", "give pages-per-block"))?;
    let blocks = logical_pages.div_ceil(pages_per_block);
    Ok(DriveShape { blocks, pages_per_block, logical_pages, reserve_blocks: drive.reserve_blocks })
}

/// A hotness test, and what the host does with pages.
trait Test {
    /// Takes note of a write, and then says whether the page is hot, as in the study.
    fn write(&mut self, lpn: Lpn) -> bool;

    /// The host gave up the content of a page.
    fn trim(&mut self, lpn: Lpn);
}

impl<H: Hotness> Test for H {
    fn write(&mut self, lpn: Lpn) -> bool {
        self.record(lpn);
        self.is_hot(lpn)
    }

    fn trim(&mut self, lpn: Lpn) {
        self.forget(lpn);
    }
}

/// The test of an FTL.
fn test_of(spec: &Spec, shape: DriveShape) -> Result<Box<dyn Test>, SpecError> {
    match spec.name.split('/').next() {
        Some("lru") => test::<Lru>(spec, shape),
        Some("mbf") => test::<Mbf>(spec, shape),
        _ => Err(SpecError::UnknownName {
            kind: "hotness test",
            name: spec.name.clone(),
            known: vec!["lru".into(), "mbf".into()],
        }),
    }
}

/// A hotness test with the parameters of an FTL.
fn test<H: Hotness + PlacementEntry + 'static>(
    spec: &Spec,
    shape: DriveShape,
) -> Result<Box<dyn Test>, SpecError> {
    let mut parameters = H::Parameters::from_spec(spec)?;
    H::fit(&mut parameters, &FitContext { ftl: &spec.name, shape, oracle: &[] })?;
    Ok(Box::new(H::new(&parameters, shape)))
}

/// The pages that are written most, as areas that are equally hot, and their share of the writes; none if all pages
/// are alike.
fn hottest(areas: &[Area]) -> Option<(Vec<Range<u64>>, f64)> {
    let heat = |area: &Area| area.writes / area.pages.max(1) as f64;
    let most = areas.iter().map(heat).max_by(f64::total_cmp)?;
    let (mut hot, mut share, mut end) = (Vec::new(), 0.0, 0);
    for area in areas {
        let first = end;
        end += area.pages;
        if heat(area) > 0.999 * most {
            hot.push(first..end);
            share += area.writes;
        }
    }
    (hot.len() < areas.len()).then_some((hot, share))
}

/// Tests that see every write; after the warm-up, what they say is counted.
struct Audience {
    tests: Vec<Box<dyn Test>>,
    hot: Vec<Range<u64>>,
    /// The share of the writes that hot pages get, as it is told.
    told: f64,
    /// Writes of the warm-up that are still to come, and those after it.
    warmup: u64,
    judged: u64,
    /// Judged writes to hot pages and to cold ones, and for each test those that it took for hot.
    all: [u64; 2],
    taken: Vec<[u64; 2]>,
}

impl Audience {
    fn of(
        experiment: &Experiment,
        logical_pages: u32,
        tests: Vec<Box<dyn Test>>,
    ) -> Result<Self, SimError> {
        let areas = match &experiment.workload {
            Workload::Generator(spec) => {
                ftlab_workload::areas(spec, &space(experiment, logical_pages))?
            }
            _ => Vec::new(),
        };
        let (hot, told) = hottest(&areas).ok_or_else(|| {
            let what = format!("{}, of which no hot area is known", experiment.workload.name());
            unusable(what, "give a generator with one, such as skew:x=90")
        })?;
        let judged = experiment
            .length
            .writes(logical_pages.into())
            .ok_or_else(|| unusable("writes without a number", "give writes or drive-writes"))?;
        let taken = vec![[0; 2]; tests.len()];
        Ok(Self { tests, hot, told, warmup: experiment.warmup_writes, judged, all: [0; 2], taken })
    }

    /// Shows the workload to the tests: for each, what it took for hot.
    fn judge(mut self, experiment: &Experiment) -> Result<Vec<Shares>, SimError> {
        let logical_pages = experiment.drive.asked_pages().unwrap_or_default() as u32;
        let mut source = experiment.workload.generate(&space(experiment, logical_pages))?;
        let sectors = page_sectors(experiment.drive.page_bytes)?;
        let mut batch = RequestBatch::new();
        while self.judged > 0 && source.next_batch(&mut batch)? {
            expand(&batch, sectors, &mut self)?;
        }
        self.refuse_moving(&experiment.workload)?;
        let share = |taken: &[u64; 2], kind: usize| taken[kind] as f64 / self.all[kind] as f64;
        let of = |taken| Shares { of_hot: share(taken, 0), of_cold: share(taken, 1) };
        Ok(self.taken.iter().map(of).collect())
    }

    /// Refuses a workload whose hot pages are others on the way than at the beginning.
    fn refuse_moving(&self, workload: &Workload) -> Result<(), SimError> {
        let [hot, cold] = self.all.map(|writes| writes as f64);
        let writes = hot + cold;
        if writes == 0.0 {
            return Err(unusable("no writes to judge", "give more writes or drive-writes"));
        }
        let deviation = (self.told * (1.0 - self.told) / writes).sqrt();
        let share = hot / writes;
        if (share - self.told).abs() > SHARE_WITHIN.max(5.0 * deviation) {
            let what = format!(
                "{}: its hottest pages should get {:.3} of the writes, and got {share:.3}, so \
                 others are hot on the way",
                workload.name(),
                self.told
            );
            return Err(unusable(what, "give fewer writes, or a generator whose hot pages stay"));
        }
        Ok(())
    }

    fn show(&mut self, page: u64) {
        // Areas fill the drive, whose pages have numbers of 32 bits.
        let lpn = Lpn(page as u32);
        let counts = self.warmup == 0;
        let kind = usize::from(!self.hot.iter().any(|area| area.contains(&page)));
        for (test, taken) in self.tests.iter_mut().zip(&mut self.taken) {
            let is_hot = test.write(lpn);
            taken[kind] += u64::from(counts && is_hot);
        }
        self.all[kind] += u64::from(counts);
        *(if counts { &mut self.judged } else { &mut self.warmup }) -= 1;
    }
}

impl PageSink for Audience {
    fn write(&mut self, first_page: u64, pages: u64) {
        let left = self.warmup.saturating_add(self.judged);
        (first_page..first_page + pages.min(left)).for_each(|page| self.show(page));
    }

    fn trim(&mut self, first_page: u64, pages: u64) {
        for page in first_page..first_page + pages {
            self.tests.iter_mut().for_each(|test| test.trim(Lpn(page as u32)));
        }
    }
}

/// What the workload of an experiment writes to.
fn space(experiment: &Experiment, logical_pages: u32) -> Space {
    let page_bytes = experiment.drive.page_bytes;
    Space { logical_pages: logical_pages.into(), page_bytes, seed: experiment.seed }
}

impl Numbers for Recognised {
    fn check(&self, metric: &str) -> Result<(), SpecError> {
        if METRICS.contains(&metric) {
            return Ok(());
        }
        let known = METRICS.map(str::to_owned).to_vec();
        Err(SpecError::UnknownName { kind: "number of hotness tests", name: metric.into(), known })
    }

    fn number(&self, metric: &str, point: &Point) -> Option<f64> {
        let shares = self.0.get(&point.run)?;
        let share = if metric == METRICS[0] { shares.of_hot } else { shares.of_cold };
        share.is_finite().then_some(share)
    }

    fn curve(&self, _: &str, _: &Point, _: f64) -> Result<Option<Curve>, SpecError> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::{ExperimentFile, Scale};

    fn plan(workload: &str, ftl: &str, more: &str) -> Result<Recognised, ExperimentsError> {
        let text = format!(
            "title = \"t\"\nkind = \"recognition\"\nworkloads = [\"{workload}\"]\nftls = [\"{ftl}\"]\n\
             drive.logical-pages = 4096\ndrive.pages-per-block = 128\n\
             run.warmup-writes = 4096\nrun.drive-writes = 2\n{more}"
        );
        let file = ExperimentFile::parse("t.toml".as_ref(), text)?;
        Recognised::new(&Plan::new(file, Scale::FULL)?)
    }

    fn shares(workload: &str, ftl: &str) -> Shares {
        *plan(workload, ftl, "").unwrap().0.values().next().unwrap()
    }

    #[test]
    fn a_list_that_holds_the_hot_area_recognises_it() {
        let large = shares("skew:x=95", "lru/cost-benefit:hot=300,candidates=600");
        assert!(large.of_hot > 0.99 && large.of_cold < 0.1, "{large:?}");
        let small = shares("skew:x=95", "lru/cost-benefit:hot=10,candidates=20");
        assert!(small.of_hot < 0.2 && small.of_cold < 0.1, "{small:?}");
    }

    #[test]
    fn what_is_hottest_may_lie_anywhere() {
        let list = "lru/cost-benefit:hot=300,candidates=600";
        let first = shares("swap:sizes=0.05;0.95,rates=0.95;0.05,at=9", list);
        for rates in ["sizes=0.95;0.05,rates=0.05;0.95", "sizes=0.5;0.05;0.45,rates=0.03;0.95;0.02"]
        {
            let later = shares(&format!("swap:{rates},at=9"), list);
            assert!((later.of_hot - first.of_hot).abs() < 0.01, "{first:?}, {later:?}");
            assert!((later.of_cold - first.of_cold).abs() < 0.05, "{first:?}, {later:?}");
        }
    }

    #[test]
    fn areas_that_are_equally_hot_are_hot_together() {
        let area = |pages, writes| Area { pages, writes };
        let apart = [area(10, 0.4), area(80, 0.2), area(20, 0.4)];
        let one = |hot: Option<(Vec<Range<u64>>, f64)>| {
            hot.map(|(hot, share)| (hot.len(), hot[0].clone(), share))
        };
        assert_eq!(one(hottest(&apart)), Some((1, 0..10, 0.4)));
        let alike = [area(10, 0.4), area(80, 0.2), area(10, 0.4)];
        assert_eq!(hottest(&alike), Some((vec![0..10, 90..100], 0.8)));
        assert_eq!(hottest(&[area(30, 0.3), area(70, 0.7)]), None);
        assert_eq!(hottest(&[]), None);
    }

    /// Takes every page for hot that has been written and not trimmed.
    struct Written(Vec<bool>);

    impl Test for Written {
        fn write(&mut self, lpn: Lpn) -> bool {
            std::mem::replace(&mut self.0[lpn.index()], true)
        }

        fn trim(&mut self, lpn: Lpn) {
            self.0[lpn.index()] = false;
        }
    }

    #[test]
    fn every_page_of_a_write_counts_and_reads_do_not() {
        let mut audience = Audience {
            tests: vec![Box::new(Written(vec![false; 16]))],
            hot: vec![4..6, 6..8],
            told: 0.5,
            warmup: 2,
            judged: 9,
            all: [0; 2],
            taken: vec![[0; 2]],
        };
        audience.write(2, 4);
        assert_eq!((audience.warmup, audience.judged, audience.all), (0, 7, [2, 0]));
        audience.read(0, 16);
        audience.write(3, 2);
        assert_eq!((audience.all, audience.taken[0]), ([3, 1], [1, 1]));
        audience.trim(4, 1);
        audience.write(4, 16);
        assert_eq!((audience.judged, audience.all, audience.taken[0]), (0, [7, 2], [2, 1]));
    }

    #[test]
    fn what_has_no_test_or_no_hot_area_is_refused() {
        let list = "lru/cost-benefit";
        for (workload, ftl, more, part) in [
            ("skew:x=95", "dac/cost-benefit", "", "known: lru, mbf"),
            ("uniform", list, "", "no hot area"),
            ("swap:sizes=0.5;0.5,rates=0.1;0.9,at=2", list, "", "others are hot on the way"),
            ("skew:x=95", list, "run.fill = \"random\"", "fill = \"random\" has no effect"),
            ("skew:x=95", list, "drive.op = \"7%\"", "op = \"7%\" has no effect"),
            ("skew:x=95", list, "run.timing = \"slc\"", "timing = \"slc\" has no effect"),
            ("skew:x=95", list, "run.streams = \"0..1MiB=1\"", "streams = \"0..1MiB=1\" has no"),
            ("skew:x=95", list, "case = [{ name = \"c\", drive.reserve = 9 }]", "reserve = \"9\""),
        ] {
            let error = plan(workload, ftl, more).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}

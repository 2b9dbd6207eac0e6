//! Experiments that ask hotness tests which writes are hot, without an FTL.

use super::compare::Numbers;
use super::plan::{Job, Plan, Point};
use super::series::Curve;
use crate::error::ExperimentsError;
use ftlab_flash::Lpn;
use ftlab_ftl::algorithms::placement::{Lru, Mbf};
use ftlab_ftl::algorithms::tools::Hotness;
use ftlab_ftl::registry::{DriveShape, FitContext, PlacementEntry};
use ftlab_sim::{Experiment, Length, Physical, SimError, Workload};
use ftlab_spec::{Parameters, Spec, SpecError};
use ftlab_trace::pages::page_sectors;
use ftlab_trace::{RequestBatch, Space};
use std::collections::BTreeMap;

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

/// Writes whose pages are known to be hot or cold.
struct Writes {
    /// Of these, a test takes note only.
    before: Vec<Lpn>,
    /// These it judges.
    judged: Vec<Lpn>,
    /// Pages below this are hot.
    hot_pages: u64,
}

impl Recognised {
    /// Shows the writes of every workload to every test.
    pub fn new(plan: &Plan) -> Result<Self, ExperimentsError> {
        let mut found = BTreeMap::new();
        for job in &plan.jobs {
            found.extend(of_job(job)?);
        }
        Ok(Self(found))
    }
}

fn of_job(job: &Job) -> Result<Vec<(String, Shares)>, SimError> {
    let experiment = &job.experiment;
    let shape = shape(experiment)?;
    let writes = Writes::of(experiment, shape.logical_pages)?;
    let tests = job.runs.iter().zip(&experiment.ftls);
    tests.map(|(point, spec)| Ok((point.run.clone(), judged(spec, shape, &writes)?))).collect()
}

/// The drive whose size the parameters of a test may follow.
fn shape(experiment: &Experiment) -> Result<DriveShape, SimError> {
    let drive = &experiment.drive;
    let unusable = |what: &str, remedy: &str| SimError::Unusable {
        what: what.to_owned(),
        remedy: remedy.to_owned(),
    };
    let logical_pages = drive.asked_pages().and_then(|pages| u32::try_from(pages).ok());
    let logical_pages = logical_pages
        .ok_or_else(|| unusable("hotness tests of a drive without a size", "give logical-pages"))?;
    let pages_per_block = drive
        .pages_per_block
        .ok_or_else(|| unusable("hotness tests without blocks", "give pages-per-block"))?;
    let blocks = match drive.physical {
        Physical::Blocks(blocks) => blocks,
        Physical::OverProvisioning(_) => logical_pages.div_ceil(pages_per_block),
    };
    Ok(DriveShape { blocks, pages_per_block, logical_pages, reserve_blocks: drive.reserve_blocks })
}

impl Writes {
    /// The warm-up of the experiment, and the writes that it counts.
    fn of(experiment: &Experiment, logical_pages: u32) -> Result<Self, SimError> {
        let unusable =
            |what: String, remedy: &str| SimError::Unusable { what, remedy: remedy.into() };
        let page_bytes = experiment.drive.page_bytes;
        let space =
            Space { logical_pages: u64::from(logical_pages), page_bytes, seed: experiment.seed };
        let areas = match &experiment.workload {
            Workload::Generator(spec) => ftlab_workload::areas(spec, &space)?,
            _ => Vec::new(),
        };
        let Some(hot) = areas.first().filter(|hot| hot.pages < space.logical_pages) else {
            let what = format!("{}, of which no hot area is known", experiment.workload.name());
            return Err(unusable(what, "give a generator with one, such as skew:x=90"));
        };
        let counted = match experiment.length {
            Length::Writes(writes) => writes,
            Length::DriveWrites(drives) => (drives * f64::from(logical_pages)) as u64,
            _ => {
                return Err(unusable(
                    "writes without a number".into(),
                    "give writes or drive-writes",
                ));
            }
        };
        let before = experiment.warmup_writes as usize;
        let mut source = experiment.workload.generate(&space)?;
        let sectors = u64::from(page_sectors(page_bytes)?);
        let (mut pages, mut batch) = (Vec::new(), RequestBatch::new());
        while pages.len() < before + counted as usize && source.next_batch(&mut batch)? {
            pages.extend(batch.lba.iter().map(|lba| Lpn((lba / sectors) as u32)));
        }
        pages.truncate(before + counted as usize);
        let judged = pages.split_off(before.min(pages.len()));
        Ok(Self { before: pages, judged, hot_pages: hot.pages })
    }
}

/// What the test of an FTL takes for hot.
fn judged(spec: &Spec, shape: DriveShape, writes: &Writes) -> Result<Shares, SimError> {
    match spec.name.split('/').next() {
        Some("lru") => Ok(shares(test::<Lru>(spec, shape)?, writes)),
        Some("mbf") => Ok(shares(test::<Mbf>(spec, shape)?, writes)),
        _ => Err(SpecError::UnknownName {
            kind: "hotness test",
            name: spec.name.clone(),
            known: vec!["lru".into(), "mbf".into()],
        }
        .into()),
    }
}

/// A hotness test with the parameters of an FTL.
fn test<H: PlacementEntry>(spec: &Spec, shape: DriveShape) -> Result<H, SpecError> {
    let mut parameters = H::Parameters::from_spec(spec)?;
    H::fit(&mut parameters, &FitContext { ftl: &spec.name, shape, oracle: &[] })?;
    Ok(H::new(&parameters, shape))
}

/// A test judges a page when it has taken note of the write, as in the study.
fn shares<H: Hotness>(mut test: H, writes: &Writes) -> Shares {
    writes.before.iter().for_each(|&lpn| test.record(lpn));
    let (mut taken, mut all) = ([0_u64; 2], [0_u64; 2]);
    for &lpn in &writes.judged {
        test.record(lpn);
        let kind = usize::from(u64::from(lpn.0) >= writes.hot_pages);
        all[kind] += 1;
        taken[kind] += u64::from(test.is_hot(lpn));
    }
    let share = |kind: usize| taken[kind] as f64 / all[kind] as f64;
    Shares { of_hot: share(0), of_cold: share(1) }
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

    fn plan(workload: &str, ftl: &str) -> Result<Recognised, ExperimentsError> {
        let text = format!(
            "title = \"t\"\nkind = \"recognition\"\nworkloads = [\"{workload}\"]\nftls = [\"{ftl}\"]\n\
             [drive]\nlogical-pages = 4096\npages-per-block = 128\n\
             [run]\nwarmup-writes = 4096\nwrites = 8192"
        );
        let file = ExperimentFile::parse("t.toml".as_ref(), text)?;
        Recognised::new(&Plan::new(file, Scale::FULL)?)
    }

    #[test]
    fn a_list_that_holds_the_hot_area_recognises_it() {
        let of = |ftl| *plan("skew:x=95", ftl).unwrap().0.values().next().unwrap();
        let large = of("lru/cost-benefit:hot=300,candidates=600");
        assert!(large.of_hot > 0.99 && large.of_cold < 0.1, "{large:?}");
        let small = of("lru/cost-benefit:hot=10,candidates=20");
        assert!(small.of_hot < 0.2 && small.of_cold < 0.1, "{small:?}");
    }

    #[test]
    fn what_has_no_test_or_no_hot_area_is_refused() {
        for (workload, ftl, part) in [
            ("skew:x=95", "dac/cost-benefit", "known: lru, mbf"),
            ("uniform", "lru/cost-benefit", "no hot area"),
        ] {
            let error = plan(workload, ftl).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}

//! Which FTL, and how much over-provisioning, for a target: the trade-off curve, and a bisection on it.
//!
//! More spare flash lowers write amplification, and costs. Every FTL runs over the workload on drives
//! with more and more over-provisioning; between the last drive that misses the target and the first
//! that meets it, the number of erase blocks is searched (`search.rs`) until it is known to a quarter of a percent of the
//! logical capacity. Curves fall, but for the noise of a few blocks.
//!
//! An answer is as good as its evidence: a trace is read first for how much it says, runs last until write
//! amplification is steady, and the drive that is recommended is held against other circumstances.

mod answer;
mod block_sizes;
mod choice;
mod circumstance;
mod evidence;
mod life;
mod real_answer;
mod real_drive;
mod search;
mod slo;

pub use choice::{Choice, Role};
pub use circumstance::Circumstance;
pub use evidence::Evidence;
pub use life::{Life, Service};
pub use real_drive::RealDrive;
pub use slo::{Slo, timing_at};

use circumstance::circumstances;
use life::TERABYTE;
use search::{Bracket, Tried, expected};

use crate::parallel::{Stop, Until, lock, parallel, when_it_fits};
use ftlab_ftl::registry;
use ftlab_sim::Physical;
use ftlab_sim::atlas::AtlasDrive;
use ftlab_sim::evidence::{RunEvidence, Standing};
use ftlab_sim::format::percent_tenths;
use ftlab_sim::result::DriveSummary;
use ftlab_sim::trust::{Trust, drive_of, full_drive};
use ftlab_sim::{
    DriveClass, Experiment, Fill, Length, ModelSize, SimError, UNTIL_STEADY_DRIVE_WRITES, Verdict,
    Workload, small_blocks,
};
use ftlab_spec::{Share, Spec};
use serde::Serialize;
use std::cmp::Ordering;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How much more or less over-provisioning is tried at once, and how far from what is expected to meet a target just, so
/// that the next drive is on its other side.
const STRIDE_MAX: f64 = 4.0;
const STRIDE_BEYOND: f64 = 1.07;
/// The least that is tried, as a share of the first.
const AROUND_LEAST: f64 = 0.1;

/// What the over-provisioning is known to, as a share of the logical capacity.
const RESOLUTION: f64 = 0.0025;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The workload, and how it is run; its FTLs and its over-provisioning do not count.
    pub base: Experiment,
    /// The FTLs that it is about.
    pub ftls: Choice,
    /// The real drive that is asked about, if one is: then every drive is a model of it.
    pub class: Option<DriveClass>,
    /// Over-provisioning for which the curve is drawn, rising.
    pub op_ratios: Vec<Share>,
    /// What is to be reached, if anything is.
    pub target: Option<Target>,
    /// What the drive is for, if its flash over the years is asked for; needs the endurance of a block.
    pub service: Option<Service>,
    /// Ends all runs when it is set.
    pub stop: Stop,
}

/// Over-provisioning for which the curve is drawn, if nothing else is asked for.
const USUAL_OP_RATIOS: &str = "4%,7%,10%,15%,20%,28%,40%,60%";

/// Over-provisioning for which the curve is drawn: what was `asked` for, or the usual; of a real drive also what it has, and
/// that alone if nothing is to be reached.
pub fn op_ratios(
    asked: &[Share],
    class: Option<&DriveClass>,
    has_target: bool,
) -> Result<Vec<Share>, SimError> {
    let usual = || USUAL_OP_RATIOS.split(',').map(str::parse).collect::<Result<Vec<Share>, _>>();
    let of_drive = class.and_then(|class| class.op);
    let mut all = match (asked, of_drive) {
        ([], Some(_)) if !has_target => Vec::new(),
        ([], _) => usual()?,
        (asked, _) => asked.to_vec(),
    };
    all.extend(of_drive.filter(|op| !all.contains(op)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(all)
}

/// Passes of a trace that it takes to become steady at least: eight without the transient, which takes a quarter.
const STEADY_PASSES: f64 = 11.0;

/// Drive writes of a trace by which a model is warmed up at most, before a pass is counted.
const WARM_UP: f64 = 20.0;

/// How long every run lasts, unless the number of its writes is given: until write amplification is steady, as `ftlab run
/// --until steady`; or, `once`, all of the workload, steady or not.
pub fn usual_length(workload: &Workload, once: bool) -> Length {
    if once || workload.is_read_once() {
        Length::OfWorkload
    } else {
        Length::UntilSteady(UNTIL_STEADY_DRIVE_WRITES)
    }
}

/// What is to be reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A greatest write amplification.
    Waf(f64),
    /// A least number of terabytes written by the host before the blocks have gone through `cycles`
    /// program/erase cycles on average.
    Endurance {
        /// Terabytes, 10^12 bytes.
        tbw: f64,
        /// Program/erase cycles of a block.
        cycles: u32,
    },
    /// A longest response time; the timing of the experiment says at which load.
    Response(Slo),
}

impl Target {
    /// How far a drive is from it, as a logarithm.
    fn gap(self, point: &Point) -> Option<f64> {
        let moved = |waf: f64| (waf - 1.0).max(1e-9);
        let ratio = match self {
            Self::Waf(waf) => moved(point.waf) / moved(waf),
            Self::Endurance { tbw, .. } => tbw / point.tbw?,
            Self::Response(slo) => point.response_ns? / slo.limit_ns,
        };
        let gap = ratio.ln();
        (gap.is_finite() && point.standing != Standing::None).then_some(gap)
    }
}

/// The answer, and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// The answer in words.
    pub answer: String,
    /// What was asked for.
    pub target: Option<Target>,
    /// The real drive that it is about, if it is about one.
    pub drive: Option<RealDrive>,
    /// Bytes that the host can address.
    pub logical_bytes: u64,
    /// What a trace says; none of a generator.
    pub evidence: Option<Evidence>,
    /// What the best FTL needs under other circumstances, and which would be the best there.
    pub otherwise: Vec<Otherwise>,
    /// The drive that uses the least flash over the years, if they were asked for.
    pub lifelong: Option<Lifelong>,
    /// What to keep in mind.
    pub caveats: Vec<String>,
    /// What the answer rests on.
    pub trust: Trust,
    /// How every drive was run.
    #[serde(skip)]
    pub base: Experiment,
    /// A curve for each FTL; those that meet the target come first, the cheapest of them on top.
    pub curves: Vec<Curve>,
}

/// What is needed under other circumstances.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Otherwise {
    /// Which.
    pub circumstance: Circumstance,
    /// The smallest drive on which the FTL of the answer meets the target there, if it does on any.
    pub needs: Option<Point>,
    /// The FTL that meets it there at the lowest cost, if any does.
    pub best: Option<Best>,
    /// The FTL of the answer there with the over-provisioning that the real drive has, if that is known.
    pub as_it_is: Option<Point>,
}

/// An FTL, and the smallest drive on which it meets the target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Best {
    /// Its spec, which `--ftl` takes.
    pub ftl: String,
    /// Its drive.
    pub needs: Point,
}

/// The drive that uses the least flash over the years.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lifelong {
    /// The spec of the FTL, which `--ftl` takes.
    pub ftl: String,
    /// Its size, and what it amplifies.
    pub point: Point,
    /// Years of service.
    pub years: f64,
    /// Bytes that the host writes a day.
    pub daily: u64,
    /// What it costs.
    pub life: Life,
}

/// What an FTL makes of more and more flash.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// The FTL as it was named.
    pub ftl: String,
    /// What it is to the answer.
    pub role: Role,
    /// Drives from small to large.
    pub points: Vec<Point>,
    /// The smallest drive on which it meets the target, if it does on any.
    pub needs: Option<Point>,
    /// Why there is no point on the smallest drives, if there is none.
    pub refused: Option<String>,
}

/// An FTL on a drive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// Erase blocks.
    pub blocks: u32,
    /// (physical - logical) / logical.
    pub op_ratio: f64,
    /// Bytes of flash; of the real drive, where the answer is about one.
    pub physical_bytes: u64,
    /// Write amplification: without the transient, if the run was to last until it was steady and was long enough to
    /// tell it, or else of the whole run.
    pub waf: f64,
    /// Whether it had settled.
    pub verdict: Verdict,
    /// What that is; a point without evidence meets no target.
    pub standing: Standing,
    /// Terabytes that the host can write, if the endurance of a block is given.
    pub tbw: Option<f64>,
    /// The response time that the target is about, in nanoseconds, if it is about one.
    pub response_ns: Option<f64>,
    /// Bytes that the FTL has to remember beside what every FTL of its kind keeps.
    pub metadata_bytes: u64,
    /// Of the time that LUNs are busy, if time is simulated.
    #[serde(skip)]
    share_of_erases: Option<f64>,
    #[serde(skip)]
    logical_bytes: u64,
    /// It is no step of a bisection.
    #[serde(skip)]
    is_of_grid: bool,
}

impl Point {
    /// What the target is about, and curves show: a response time in milliseconds, terabytes written, or write
    /// amplification.
    pub fn value(&self) -> f64 {
        self.response_ns.map(|ns| ns / 1e6).or(self.tbw).unwrap_or(self.waf)
    }

    /// Whether a longer run would have about the same write amplification: that of a trace may go up and down
    /// with its phases.
    pub fn has_settled(&self) -> bool {
        matches!(self.verdict, Verdict::Steady | Verdict::Unsettled)
    }
}

impl Target {
    fn cycles(self) -> Option<u32> {
        match self {
            Self::Waf(_) | Self::Response(_) => None,
            Self::Endurance { cycles, .. } => Some(cycles),
        }
    }

    fn is_met_by(self, point: &Point) -> bool {
        if point.standing == Standing::None {
            return false;
        }
        match self {
            Self::Waf(waf) => point.waf <= waf,
            Self::Endurance { tbw, .. } => point.tbw.is_some_and(|reached| reached >= tbw),
            Self::Response(slo) => point.response_ns.is_some_and(|ns| ns <= slo.limit_ns),
        }
    }
}

impl Question {
    /// Runs everything, on `threads`; `on_run` is told how many runs there were so far.
    pub fn answer(
        &self,
        threads: usize,
        on_run: &(dyn Fn(usize) + Sync),
    ) -> Result<Advice, SimError> {
        for (_, ftl) in self.ftls.all() {
            registry::resolve(ftl)?;
        }
        // What is wrong with the workload is wrong for all FTLs, and better said once. A generator has the size of the
        // model.
        let is_generator = self.base.workload.is_generator();
        let own = match &self.class {
            Some(_) if is_generator => None,
            _ => Some(self.sized()?),
        };
        let weighed = own.as_ref().map(|own| Evidence::of(&self.base, own.logical_pages));
        let evidence = weighed.transpose()?.flatten();
        if let (Some(evidence), Some(own)) = (&evidence, &own) {
            evidence.require_any(&self.base.workload.name(), own.logical_bytes)?;
        }
        let (question, size) = self.on_its_model()?;
        let drive = match &own {
            Some(own) if size.is_none() => own.clone(),
            _ => question.sized()?,
        };
        let own_bytes = own.map_or(drive.logical_bytes, |own| own.logical_bytes);
        let copies = size.map_or(1, |size| size.copies);
        let question = question.with_length_for(evidence.as_ref(), copies);
        question.answer_with(self, &Asked { evidence, own_bytes, drive, size }, threads, on_run)
    }

    /// It as its curves are run, for those who draw more points of them: with its length, and the drive.
    pub(crate) fn for_curves(&self) -> Result<(Self, DriveSummary), SimError> {
        let drive = self.sized()?;
        let evidence = Evidence::of(&self.base, drive.logical_pages)?;
        if let Some(evidence) = &evidence {
            evidence.require_any(&self.base.workload.name(), drive.logical_bytes)?;
        }
        Ok((self.with_length_for(evidence.as_ref(), 1), drive))
    }

    /// The drive as it comes out, whatever its over-provisioning.
    fn sized(&self) -> Result<DriveSummary, SimError> {
        let ftl = Spec::bare("1r-greedy");
        let prepared = self.experiment(&ftl, Physical::OverProvisioning(Share(1.0))).prepare()?;
        Ok(prepared.config().drive.clone())
    }

    /// It on the model of the real drive that is asked about, with its size; as it is if none is.
    fn on_its_model(&self) -> Result<(Self, Option<ModelSize>), SimError> {
        let Some(class) = &self.class else { return Ok((self.clone(), None)) };
        let (base, size) = on_model(class, &self.base)?;
        Ok((Self { base, ..self.clone() }, Some(size)))
    }

    /// A trace is carried out again and again, until write amplification is steady. One of which too few passes fit is
    /// carried out twice and counted the second time, with all of its phases. It writes a drive with
    /// `copies` copies of it.
    fn with_length_for(&self, evidence: Option<&Evidence>, copies: u64) -> Self {
        let mut question = self.clone();
        let base = &mut question.base;
        if let (Length::UntilSteady(most), Some(evidence)) = (base.length, evidence) {
            base.repeat = true;
            if evidence.drive_writes * STEADY_PASSES > most {
                let pass = evidence.page_writes.saturating_mul(copies);
                // A model is warmed up by a part of a long pass: then a whole pass is counted, from there to there.
                let share =
                    if self.class.is_some() { WARM_UP / evidence.drive_writes } else { 1.0 };
                base.warmup_writes = (pass as f64 * share.min(1.0)).round() as u64;
                base.length = Length::Writes(pass);
            }
        }
        question
    }

    /// Answers on drives as they are simulated; `recorded` is the question without a model.
    fn answer_with(
        &self,
        recorded: &Self,
        asked: &Asked,
        threads: usize,
        on_run: &(dyn Fn(usize) + Sync),
    ) -> Result<Advice, SimError> {
        let runs = AtomicUsize::new(0);
        let rests_on = Mutex::new(Vec::new());
        let point = |ftl: &Spec, physical: Physical| {
            let found = self.point(ftl, physical);
            on_run(runs.fetch_add(1, Relaxed) + 1);
            let (point, of_run) = found?;
            lock(&rests_on).extend(of_run);
            Ok(point)
        };
        let ftls: Vec<(Role, &Spec)> = self.ftls.all().collect();
        let mut curves = self.curves(&ftls, threads, &point);
        self.check_stop()?;
        curves.sort_by(by_rank);
        self.check_stop()?;
        let points = curves.iter().flat_map(|curve| &curve.points);
        let logical_bytes = points.map(|point| point.logical_bytes).next().unwrap_or(0);
        if logical_bytes == 0 {
            let reason = curves.into_iter().find_map(|curve| curve.refused);
            return Err(SimError::Unusable {
                what: format!("no FTL runs on any of these drives: {}", reason.unwrap_or_default()),
                remedy: "give more over-provisioning (--op) or smaller blocks (--pages-per-block)"
                    .into(),
            });
        }
        let mut advice = Advice {
            target: self.target,
            drive: asked.size.and_then(|size| Some(RealDrive::new(self.class?, size))),
            logical_bytes,
            answer: String::new(),
            evidence: asked.evidence,
            otherwise: Vec::new(),
            lifelong: None,
            caveats: Vec::new(),
            trust: Trust::default(),
            base: self.base.clone(),
            curves,
        };
        let count = || on_run(runs.fetch_add(1, Relaxed) + 1);
        let best = advice.best().map(|(_, point)| point);
        if best.is_some() || self.as_it_is().is_some() {
            let others = self.circumstances(recorded, asked.evidence.as_ref())?;
            let chosen = (advice.curves[0].ftl.as_str(), best);
            advice.otherwise = self.otherwise(chosen, &others, threads, &count);
            self.check_stop()?;
        }
        let sizes = self.block_sizes(&advice, asked.drive.pages_per_block, threads, &count);
        self.check_stop()?;
        advice.trust = Trust::of(lock(&rests_on).iter(), self.assumed(&asked.drive));
        advice.trust = advice.trust.with_block_sizes(sizes);
        advice.lifelong = self.service.and_then(|service| least_flash(service, &advice.curves));
        advice.caveats = advice.caveats_of(&self.base, asked.own_bytes);
        advice.caveats.extend(small_blocks(&asked.drive).filter(|_| self.class.is_none()));
        advice.caveats.extend(self.doubts(&advice.curves));
        advice.caveats.extend(self.rests_on());
        advice.answer = advice.sentence();
        Ok(advice)
    }

    /// The curves of all FTLs. Of a real drive, whose models are large, none runs with more flash than it needs.
    fn curves(
        &self,
        ftls: &[(Role, &Spec)],
        threads: usize,
        point: &(dyn Fn(&Spec, Physical) -> Result<Point, SimError> + Sync),
    ) -> Vec<Curve> {
        if self.class.is_some() && self.target.is_some() {
            return parallel(threads, ftls, |(role, ftl)| Curve {
                role: *role,
                ..self.up_to_the_target(ftl, point)
            });
        }
        let drives: Vec<(&Spec, Share)> = ftls
            .iter()
            .flat_map(|(_, ftl)| self.op_ratios.iter().map(move |op| (*ftl, *op)))
            .collect();
        let points =
            parallel(threads, &drives, |(ftl, op)| point(ftl, Physical::OverProvisioning(*op)));
        let rows: Vec<_> = ftls.iter().zip(points.chunks(self.op_ratios.len())).collect();
        parallel(threads, &rows, |((role, ftl), found)| Curve {
            role: *role,
            ..self.curve(ftl, found, point)
        })
    }

    /// The over-provisioning that the real drive has, if it is about one of which that is known.
    fn as_it_is(&self) -> Option<Share> {
        self.class.and_then(|class| class.op)
    }

    /// What is unlike a drive that is built: of the smallest drive that meets the target, or of the smallest at all.
    fn doubts(&self, curves: &[Curve]) -> Vec<String> {
        let Some(curve) = curves.first().filter(|_| self.base.timing.is_some()) else {
            return Vec::new();
        };
        let Some(point) = curve.needs.as_ref().or(curve.points.first()) else { return Vec::new() };
        let Ok(ftl) = curve.ftl.parse::<Spec>() else { return Vec::new() };
        let prepared = self.experiment(&ftl, Physical::Blocks(point.blocks)).prepare();
        let doubts = prepared.map(|of| ftlab_sim::doubts(of.config(), point.share_of_erases));
        let doubts = doubts.unwrap_or_default();
        doubts.into_iter().map(|doubt| format!("{}: {doubt}.", curve.ftl)).collect()
    }

    /// What an answer about a known drive rests on.
    fn rests_on(&self) -> Vec<String> {
        let Some(known) = self.class.and_then(|class| class.known) else { return Vec::new() };
        let overhead = (known.overhead.0 > 0.0).then(|| {
            format!(
                "Write amplification includes the overhead of this drive: {} of what is written, beside the pages of the \
                 host and those that are moved.",
                percent_tenths(known.overhead.0)
            )
        });
        let bounds = known.op_bounds().map(|[least, most]| {
            format!(
                "Its over-provisioning was fitted: {} to {} are not excluded.",
                percent_tenths(least.0),
                percent_tenths(most.0)
            )
        });
        std::iter::once(known.rests_on()).chain(bounds).chain(overhead).collect()
    }

    /// What was not asked for, and taken for granted.
    fn assumed(&self, drive: &DriveSummary) -> Vec<String> {
        let fill = (self.base.fill == Fill::default()).then(full_drive);
        let drive = match &self.class {
            Some(class) => class.assumed().into_iter().collect(),
            None => drive_of(&self.base.drive, drive),
        };
        fill.into_iter().chain(drive).collect()
    }

    pub(crate) fn check_stop(&self) -> Result<(), SimError> {
        if self.stop.load(Relaxed) { Err(SimError::Stopped) } else { Ok(()) }
    }

    /// Those that would be other, each with how it is run; on a model, of the question as it was `recorded`.
    fn circumstances(
        &self,
        recorded: &Self,
        evidence: Option<&Evidence>,
    ) -> Result<Vec<(Circumstance, Experiment)>, SimError> {
        let Some(class) = &self.class else { return Ok(circumstances(&self.base, evidence)) };
        let on = |class: &DriveClass, base: &Experiment| -> Result<Experiment, SimError> {
            let (base, size) = on_model(class, base)?;
            let question = Self { base, ..recorded.clone() };
            Ok(question.with_length_for(evidence, size.copies).base)
        };
        let units = other_units(class).into_iter();
        let units = units.map(|(of, class)| Ok((of, on(&class, &recorded.base)?)));
        let used = circumstances(&recorded.base, evidence);
        let used = used.into_iter().map(|(of, base)| Ok((of, on(class, &base)?)));
        // Without a target it is told what the drive does with the over-provisioning that it has.
        let bounds = self.target.is_none().then_some([Circumstance::LeastOp, Circumstance::MostOp]);
        let bounds = bounds.into_iter().flatten().filter(|of| self.op_under(*of).is_some());
        let bounds = bounds.map(|of| Ok((of, on(class, &recorded.base)?)));
        units.chain(used).chain(bounds).collect()
    }

    /// The over-provisioning that the real drive has under a circumstance, if that is known.
    fn op_under(&self, circumstance: Circumstance) -> Option<Share> {
        let bounds = || self.class.and_then(|class| class.known).and_then(AtlasDrive::op_bounds);
        match circumstance {
            Circumstance::LeastOp => bounds().map(|[least, _]| least),
            Circumstance::MostOp => bounds().map(|[_, most]| most),
            _ => self.as_it_is(),
        }
    }

    /// What the FTL `chosen` needs under other circumstances, and which needs the least there: of a real drive, whose FTL is
    /// not chosen, that one alone, or without a target what it does.
    fn otherwise<'o>(
        &self,
        (chosen, best): (&str, Option<Point>),
        others: &'o [(Circumstance, Experiment)],
        threads: usize,
        on_run: &(dyn Fn() + Sync),
    ) -> Vec<Otherwise> {
        let is_tried = |ftl: &&Spec| self.class.is_none() || ftl.to_string() == chosen;
        let ftls: Vec<&Spec> = self.ftls.answer.iter().filter(is_tried).collect();
        let of_each = |(of, base): &'o (Circumstance, Experiment)| {
            ftls.iter().map(move |ftl| (*of, base, *ftl))
        };
        let tried: Vec<_> = others.iter().flat_map(of_each).collect();
        let found = parallel(threads, &tried, |(of, base, ftl)| {
            let question = Self { base: (*base).clone(), ..self.clone() };
            let point = |ftl: &Spec, physical: Physical| {
                let found = question.point(ftl, physical);
                on_run();
                found.map(|(point, _)| point)
            };
            let op = self.op_under(*of).filter(|_| best.is_none());
            let as_it_is = op.map(|op| point(ftl, Physical::OverProvisioning(op)));
            let curve = match best.filter(|_| self.class.is_some()) {
                Some(best) => question.around(ftl, best.op_ratio, &point),
                None => question.up_to_the_target(ftl, &point),
            };
            (curve, as_it_is.and_then(Result::ok))
        });
        let under =
            |((circumstance, _), found): (&(Circumstance, _), &[(Curve, Option<Point>)])| {
                let curves = || found.iter().map(|(curve, _)| curve);
                let best = curves().min_by(|a, b| by_rank(a, b));
                let best = best
                    .and_then(|curve| Some(Best { ftl: curve.ftl.clone(), needs: curve.needs? }));
                let of_chosen = found.iter().find(|(curve, _)| curve.ftl == chosen);
                Otherwise {
                    circumstance: *circumstance,
                    needs: of_chosen.and_then(|(curve, _)| curve.needs),
                    best,
                    as_it_is: of_chosen.and_then(|(_, point)| *point),
                }
            };
        others.iter().zip(found.chunks(ftls.len().max(1))).map(under).collect()
    }

    /// Drives from small to large, and no further than to the first that meets the target; none without a target. It
    /// begins with the over-provisioning that the real drive has, and leaves out what will miss the target as far as is
    /// known by then.
    fn up_to_the_target(
        &self,
        ftl: &Spec,
        point: &(dyn Fn(&Spec, Physical) -> Result<Point, SimError> + Sync),
    ) -> Curve {
        let ops: Vec<f64> = self.op_ratios.iter().map(|op| op.0).collect();
        let begin = self.as_it_is().and_then(|has| ops.iter().position(|op| *op >= has.0));
        let mut next = (!ops.is_empty() && self.target.is_some()).then(|| begin.unwrap_or(0));
        let mut found: Vec<(usize, Result<Point, SimError>)> = Vec::new();
        let mut last: Option<Tried> = None;
        while let Some(at) = next {
            let op = Share(ops[at]);
            let of = point(ftl, Physical::OverProvisioning(op));
            let tried = self.tried(op.0, of.as_ref().ok());
            let is_met = of.as_ref().is_ok_and(|point| self.is_met(point));
            found.push((at, of));
            let enough = expected(tried, last).unwrap_or(op.0);
            let is_new = |at: &usize| found.iter().all(|(known, _)| known != at);
            let is_enough = |at: &usize| ops[*at] * STRIDE_BEYOND >= enough;
            next = if is_met {
                at.checked_sub(1).filter(is_new).filter(is_enough)
            } else {
                let more = (at + 1..ops.len()).find(is_enough).or(ops.len().checked_sub(1));
                more.filter(|more| *more > at).filter(is_new)
            };
            last = Some(tried);
        }
        found.sort_by_key(|(at, _)| *at);
        let found: Vec<_> = found.into_iter().map(|(_, of)| of).collect();
        self.curve(ftl, &found, point)
    }

    /// Drives with about as much over-provisioning as `start`, until one meets the target and one misses it.
    fn around(
        &self,
        ftl: &Spec,
        start: f64,
        point: &(dyn Fn(&Spec, Physical) -> Result<Point, SimError> + Sync),
    ) -> Curve {
        let most = self.op_ratios.last().map_or(start, |op| op.0).max(start);
        let least = start * AROUND_LEAST;
        let mut found: Vec<(f64, Result<Point, SimError>)> = Vec::new();
        let (mut op, mut last) = (start, None);
        let mut was_met = None;
        loop {
            let of = point(ftl, Physical::OverProvisioning(Share(op)));
            let tried = self.tried(op, of.as_ref().ok());
            let is_met = of.as_ref().is_ok_and(|point| self.is_met(point));
            found.push((op, of));
            let turns = was_met.is_some_and(|was| was != is_met);
            if turns || if is_met { op <= least } else { op >= most } {
                break;
            }
            was_met = Some(is_met);
            let enough = expected(tried, last);
            last = Some(tried);
            op = if is_met {
                let enough = enough.unwrap_or(op) / STRIDE_BEYOND;
                enough.clamp(op / STRIDE_MAX, op / STRIDE_BEYOND).max(least)
            } else {
                let enough = enough.unwrap_or(op * STRIDE_MAX) * STRIDE_BEYOND;
                enough.clamp(op * STRIDE_BEYOND, op * STRIDE_MAX).min(most)
            };
        }
        found.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let found: Vec<_> = found.into_iter().map(|(_, of)| of).collect();
        self.curve(ftl, &found, point)
    }

    fn is_met(&self, point: &Point) -> bool {
        self.target.is_some_and(|target| target.is_met_by(point))
    }

    /// What is known of a drive, whose run may have failed.
    fn tried(&self, op: f64, point: Option<&Point>) -> Tried {
        let gap = self.target.zip(point).and_then(|(target, point)| target.gap(point));
        Tried { op: point.map_or(op, |point| point.op_ratio), gap }
    }

    pub(crate) fn experiment(&self, ftl: &Spec, physical: Physical) -> Experiment {
        let mut experiment = Experiment {
            ftls: vec![ftl.clone()],
            endurance_cycles: self.target.and_then(Target::cycles).or(self.base.endurance_cycles),
            threads: Some(1),
            ..self.base.clone()
        };
        experiment.drive.physical = physical;
        experiment
    }

    /// An FTL on a drive, and what the run was evidence of.
    fn point(
        &self,
        ftl: &Spec,
        physical: Physical,
    ) -> Result<(Point, Option<RunEvidence>), SimError> {
        self.point_of(&self.experiment(ftl, physical))
    }

    /// The same of an experiment with one FTL.
    pub(crate) fn point_of(
        &self,
        experiment: &Experiment,
    ) -> Result<(Point, Option<RunEvidence>), SimError> {
        let run = || experiment.run(&mut Until(&self.stop));
        let result = when_it_fits(|| self.stop.load(Relaxed), run)?;
        let (drive, run) = (&result.config.drive, &result.runs[0]);
        let lately = run.settling.window_waf.filter(|_| result.config.until_steady);
        let pages_waf = lately.unwrap_or(run.waf);
        // What is known to be written beside counts like everything else that the drive writes.
        let waf = (1.0 + self.class.map_or(0.0, |class| class.overhead())) * pages_waf;
        let response_ns = match self.target {
            Some(Target::Response(slo)) => Some(slo.of(run)?),
            _ => None,
        };
        let evidence = run.evidence.clone();
        let capacity = self.class.map_or(drive.logical_bytes, |class| class.capacity.0);
        let larger = capacity as f64 / drive.logical_bytes as f64;
        let point = Point {
            blocks: drive.blocks,
            op_ratio: drive.op_ratio,
            physical_bytes: (drive.physical_bytes as f64 * larger).round() as u64,
            waf,
            verdict: run.settling.verdict,
            standing: evidence.as_ref().map(|of| of.standing).unwrap_or_default(),
            tbw: run.endurance.map(|endurance| endurance.tbw * run.waf / waf),
            response_ns,
            metadata_bytes: run.memory.metadata_bytes,
            share_of_erases: run.timing.as_ref().and_then(|of| of.lun_seconds.share_of_erases()),
            logical_bytes: capacity,
            is_of_grid: matches!(experiment.drive.physical, Physical::OverProvisioning(_)),
        };
        Ok((point, evidence))
    }

    /// The points that were found, and the smallest drive that meets the target.
    fn curve(
        &self,
        ftl: &Spec,
        found: &[Result<Point, SimError>],
        point: &(dyn Fn(&Spec, Physical) -> Result<Point, SimError> + Sync),
    ) -> Curve {
        let refused = found.iter().find_map(|found| found.as_ref().err().map(ToString::to_string));
        let mut points: Vec<Point> =
            found.iter().filter_map(|found| found.as_ref().ok()).copied().collect();
        let needs = points.iter().position(|point| self.is_met(point)).map(|first| {
            let mut met = points[first];
            // Without spare blocks no FTL works.
            let data_blocks = f64::from(met.blocks) / (1.0 + met.op_ratio);
            let before = first.checked_sub(1).map(|before| points[before]);
            let missed = before.map_or(data_blocks as u32, |point| point.blocks);
            let op = |blocks: u32| f64::from(blocks) / data_blocks - 1.0;
            let mut bracket = Bracket {
                missed: (missed, self.tried(op(missed), before.as_ref())),
                met: (met.blocks, self.tried(met.op_ratio, Some(&met))),
                data_blocks,
                step: ((RESOLUTION * data_blocks) as u32).max(1),
                slow: 0,
            };
            while let Some(blocks) = bracket.next() {
                let found = point(ftl, Physical::Blocks(blocks)).ok();
                let is_met = found.as_ref().is_some_and(|found| self.is_met(found));
                bracket = bracket.with(blocks, self.tried(op(blocks), found.as_ref()), is_met);
                points.extend(found);
                met = found.filter(|_| is_met).unwrap_or(met);
            }
            met
        });
        points.sort_by_key(|point| point.blocks);
        points.dedup_by_key(|point| point.blocks);
        Curve { ftl: ftl.to_string(), role: Role::Answer, points, needs, refused }
    }
}

impl Curve {
    /// Sorts by what the target costs: flash, then metadata. All that miss it come last, in order of
    /// their response time or write amplification on the largest drive.
    fn rank(&self) -> (u64, u64, f64) {
        match (&self.needs, self.points.last()) {
            (Some(point), _) => (point.physical_bytes, point.metadata_bytes, point.waf),
            (None, last) => {
                let missed = |point: &Point| point.response_ns.unwrap_or(point.waf);
                (u64::MAX, 0, last.map_or(f64::INFINITY, missed))
            }
        }
    }
}

/// The order of curves in an answer.
fn by_rank(a: &Curve, b: &Curve) -> Ordering {
    let of = |curve: &Curve| (curve.role, curve.rank());
    of(a).partial_cmp(&of(b)).unwrap_or(Ordering::Equal)
}

/// A real drive in units of other sizes: those that its fit does not exclude, or half and double of what is not known.
fn other_units(class: &DriveClass) -> Vec<(Circumstance, DriveClass)> {
    let bounds = class.known.and_then(AtlasDrive::unit_bounds);
    let others = match bounds {
        Some([least, most]) => [
            (Circumstance::LeastUnit, class.with_unit_bytes(least)),
            (Circumstance::MostUnit, class.with_unit_bytes(most)),
        ],
        None if class.unit.is_none() || class.known.is_some() => [
            (Circumstance::HalfUnit, class.with_units(0.5)),
            (Circumstance::DoubleUnit, class.with_units(2.0)),
        ],
        None => return Vec::new(),
    };
    let own = class.units();
    let others = others.into_iter().filter_map(|(of, class)| Some((of, class?)));
    others.filter(|(_, class)| class.units() != own).collect()
}

/// An experiment on the model of a drive, and the size of that.
fn on_model(class: &DriveClass, base: &Experiment) -> Result<(Experiment, ModelSize), SimError> {
    let model = class.model(&base.workload, base.drive.page_bytes, base.seed)?;
    Ok((model.of(base)?, model.size))
}

/// What is known before the first run.
struct Asked {
    /// What a trace says.
    evidence: Option<Evidence>,
    /// Bytes that the host can address on the drive of the trace.
    own_bytes: u64,
    /// The drive that is simulated, and its size if it is a model.
    drive: DriveSummary,
    size: Option<ModelSize>,
}

/// The point of all curves whose drives use the least flash over the years, the smaller one if two do.
fn least_flash(service: Service, curves: &[Curve]) -> Option<Lifelong> {
    let of = |curve: &Curve, point: &Point| {
        let life = service.life(point.tbw?, point.physical_bytes);
        Some(Lifelong {
            ftl: curve.ftl.clone(),
            point: *point,
            years: service.years,
            daily: service.daily.0,
            life,
        })
    };
    let built = curves.iter().filter(|curve| curve.role != Role::Better);
    let all = built.flat_map(|curve| curve.points.iter().filter_map(move |p| of(curve, p)));
    all.min_by(|a, b| {
        let key = |of: &Lifelong| (of.life.drives * of.point.physical_bytes as f64, of.point.waf);
        key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
    })
}

/// Terabytes that a drive of `logical_bytes` takes at `dwpd` drive writes a day for five years.
pub fn tbw_of_dwpd(dwpd: f64, logical_bytes: u64) -> f64 {
    dwpd * logical_bytes as f64 * 365.0 * 5.0 / TERABYTE
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_sim::{DriveOptions, Fill, Logical};

    fn question(target: Option<Target>) -> Question {
        let workload = Workload::parse("hotcold", ftlab_trace::OpenOptions::default()).unwrap();
        let base = Experiment {
            drive: DriveOptions {
                logical: Logical::Pages(8192),
                pages_per_block: Some(16),
                ..DriveOptions::default()
            },
            fill: Fill::Sequential,
            length: Length::DriveWrites(3.0),
            ..Experiment::new(workload, Vec::new())
        };
        Question {
            base,
            ftls: choice(["1r-greedy", "sepbit"]),
            class: None,
            op_ratios: [0.05, 0.1, 0.2, 0.4, 0.8].map(Share).to_vec(),
            target,
            service: None,
            stop: Stop::default(),
        }
    }

    fn choice(ftls: [&str; 2]) -> Choice {
        Choice::new(&ftls.map(|ftl| ftl.parse().unwrap()), None)
    }

    fn answer(question: &Question) -> Advice {
        question.answer(2, &|_| ()).unwrap()
    }

    #[test]
    fn the_smallest_drive_meets_the_target_and_a_step_smaller_misses_it() {
        let question = question(Some(Target::Waf(1.8)));
        let advice = answer(&question);
        assert_eq!(advice.curves[0].ftl, "sepbit", "{}", advice.answer);
        for curve in &advice.curves {
            let needs = curve.needs.unwrap();
            assert!(needs.waf <= 1.8);
            assert_eq!(needs.standing, Standing::Short);
            let step = (RESOLUTION * 8192.0 / 16.0) as u32 + 1;
            let below = question
                .point(&curve.ftl.parse().unwrap(), Physical::Blocks(needs.blocks - 2 * step))
                .unwrap()
                .0;
            assert!(below.waf > 1.79, "{}: {}", curve.ftl, below.waf);
            assert!(curve.points.is_sorted_by(|a, b| a.blocks < b.blocks));
        }
        assert!(advice.answer.starts_with("sepbit reaches a write amplification of 1.8 with "));
        let sizes = advice.trust.block_sizes.as_ref().unwrap();
        let pages: Vec<_> = sizes.tried.iter().map(|one| one.pages_per_block).collect();
        assert_eq!((sizes.pages_per_block, pages), (16, vec![8, 32]), "{:?}", advice.trust);
        let line = &advice.trust.line;
        assert!(
            line.starts_with("Rests on runs too short to be steady; 3.00 drive writes; "),
            "{line}"
        );
        assert!(line.ends_with("; assumed: a drive filled in order."), "{line}");
    }

    #[test]
    fn a_drive_that_erases_nothing_meets_no_target() {
        let mut question = question(Some(Target::Waf(1.8)));
        question.base.length = Length::DriveWrites(0.1);
        let advice = answer(&question);
        assert!(advice.best().is_none(), "{}", advice.answer);
        let text = &advice.answer;
        assert!(text.starts_with("No run is evidence of a write amplification of 1.8"), "{text}");
        assert!(advice.trust.line.starts_with("Rests on no evidence ("), "{}", advice.trust.line);
    }

    #[test]
    fn endurance_counts_more_flash_and_less_amplification() {
        let target = Target::Endurance { tbw: 0.07, cycles: 3000 };
        let advice = answer(&question(Some(target)));
        for point in advice.curves.iter().flat_map(|curve| &curve.points) {
            let tbw = 3000.0 * point.physical_bytes as f64 / point.waf / TERABYTE;
            assert!((point.tbw.unwrap() / tbw - 1.0).abs() < 1e-9);
        }
        let needs = advice.curves[0].needs.unwrap();
        assert!(needs.tbw.unwrap() >= 0.07);
    }

    /// A drive of 4 LUNs, seven reads in ten, at random, `per_second` of them.
    fn at_load(slo: &str, per_second: f64) -> (Question, tempfile::NamedTempFile) {
        let mut file = tempfile::Builder::new().suffix(".fio").tempfile().unwrap();
        let job = "[mixed]\nfilename=/dev/drive\nrw=randrw\nrwmixread=70\nnorandommap\ntime_based\nruntime=1\n";
        std::io::Write::write_all(&mut file, job.as_bytes()).unwrap();
        let name = file.path().display().to_string();
        let mut question = question(Some(Target::Response(slo.parse().unwrap())));
        let workload = Workload::parse(&name, ftlab_trace::OpenOptions::default()).unwrap();
        let timing =
            timing_at(&"slc:luns=4,priority=read-first".parse().unwrap(), per_second).unwrap();
        question.base.workload = workload;
        question.base.timing = Some(timing);
        question.ftls = choice(["1r-greedy", "2r-fifo"]);
        (question, file)
    }

    #[test]
    fn a_response_time_needs_so_much_flash_at_a_load() {
        let (question, _file) = at_load("write-p99=15ms", 4000.0);
        let advice = answer(&question);
        let needs: Vec<_> = advice.curves.iter().map(|curve| curve.needs).collect();
        let some = needs[0].expect(&advice.answer);
        assert!(some.response_ns.unwrap() <= 15e6, "{}", advice.answer);
        assert!(
            advice.answer.contains("15 ms as p99 of writes at 4,000 requests a second with"),
            "{}",
            advice.answer
        );
        for curve in &advice.curves {
            let [first, last] = [curve.points.first(), curve.points.last()].map(Option::unwrap);
            assert!(first.response_ns > last.response_ns, "{curve:?}");
        }
        // No flash makes up for the time of an erase.
        let (question, _file) = at_load("read-p99.9=100us", 4000.0);
        let sentence = answer(&question).answer;
        assert!(sentence.starts_with("No FTL reaches 0.1 ms as p99.9 of reads"), "{sentence}");
        assert!(sentence.contains("lower --load"), "{sentence}");
        // Nothing reads here.
        let (mut question, _file) = at_load("read-p99=1ms", 100.0);
        question.base.workload =
            Workload::parse("uniform", ftlab_trace::OpenOptions::default()).unwrap();
        let error = question.answer(2, &|_| ()).unwrap_err().to_string();
        assert!(error.contains("no read requests"), "{error}");
    }

    #[test]
    fn what_no_drive_reaches_is_said_with_what_comes_nearest() {
        let advice = answer(&question(Some(Target::Waf(1.000_1))));
        let sentence = advice.answer;
        assert!(
            sentence.starts_with("No FTL reaches a write amplification of 1.0001"),
            "{sentence}"
        );
        assert!(sentence.contains("sepbit comes nearest"), "{sentence}");
        assert!(answer(&question(None)).answer.contains("Name a target"));
    }
}

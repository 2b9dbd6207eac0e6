//! What to simulate, and getting it ready.

mod checks;
mod feeds;

use crate::format::{grouped, with_map};
use crate::ftl_run::{FlashOfRun, FtlRun, Label};
use crate::hosts::{self, WhichHosts};
use crate::likeness;
use crate::mappings::Mappings;
use crate::memory::{Needs, Promise};
use crate::option::told_by;
use crate::parameters::named;
use crate::progress::Progress;
use crate::result::{Config, DriveSummary, ExperimentResult, ModelOf, TimingSummary};
use crate::run::Prepared;
use crate::run_options::{Experiment, GENERATOR_DRIVE_WRITES, Length, of_drive};
use crate::threads::Threads;
use crate::versions::{self, Version};
use crate::workload::Workload;
use crate::{SimError, steady};
use ftlab_feed::Bounds;
use ftlab_feed::{INTERVALS_MAX, Schedule};
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::{DriveConfig, Hints};
use ftlab_ftl::registry::{self, DriveShape, OracleGroup};
use ftlab_host::{Arrivals, Timing, Unit};
use ftlab_spec::{Parameters, Spec};
use ftlab_stack::{AnyFtl, StackError};
use ftlab_trace::{Space, StreamMap, TraceSource};
use ftlab_workload::SideBySide;
use rayon::prelude::*;
use std::collections::BTreeMap;
use twox_hash::XxHash3_128;

/// Makes the FTL of a run, with its map: its parameters are fitted to the drive.
pub(crate) type BuildFtl =
    fn(&Experiment, (&Spec, &Mapping), DriveConfig, Option<&Timing>) -> Result<AnyFtl, StackError>;

impl Experiment {
    /// Runs everything.
    pub fn run(&self, progress: &mut impl Progress) -> Result<ExperimentResult, SimError> {
        self.prepare()?.run(progress)
    }

    /// Opens the workload, sizes the drive and builds every FTL, so that whatever is wrong is known
    /// before anything runs.
    pub fn prepare(&self) -> Result<Prepared, SimError> {
        self.prepare_on(&self.threads()?)
    }

    /// Prepares on threads that other experiments may use too, instead of its own.
    pub fn prepare_on(&self, threads: &Threads) -> Result<Prepared, SimError> {
        self.prepare_with(threads, Self::build_ftl)
    }

    /// Prepares with FTLs that `build_ftl` makes.
    pub(crate) fn prepare_with(
        &self,
        threads: &Threads,
        build_ftl: BuildFtl,
    ) -> Result<Prepared, SimError> {
        self.check()?;
        let timing = self.timing()?;
        let timing = timing.as_ref();
        self.check_units(timing)?;
        let open_loop = self.is_open_loop(timing)?;
        let trace = self.workload.open_trace(self.drive.page_bytes, open_loop)?;
        let wanted = self.workload.logical_size(
            self.drive.logical,
            self.drive.page_bytes,
            trace.as_deref(),
        )?;
        let (drive_config, drive) = self.drive_on_its_flash()?.configure(wanted)?;
        let writes_max = self.writes_max(drive.logical_pages)?;
        let interval_writes = self.interval_writes(drive.logical_pages, writes_max)?;
        let space = Space {
            logical_pages: u64::from(drive.logical_pages),
            page_bytes: drive.page_bytes,
            seed: self.seed,
        };
        let schedule = self.schedule(drive.logical_pages, writes_max, interval_writes);
        let bounds = self.bounds(&drive);
        let hosts = self.hosts_on_a_clock()?;
        let hosts = hosts.as_ref();
        self.check_tenants(timing, hosts)?;
        let source = match hosts {
            Some(hosts) => self.requests_of(hosts, &space, timing)?,
            None => self.source(trace, &space, open_loop)?,
        };
        let config = self.config(&*source, drive, timing, writes_max, interval_writes)?;
        let pool = threads.clone();
        let oracle = self.workload.oracle(&space)?;
        let memory = self.promise(&drive_config, &oracle, timing, writes_max, interval_writes)?;
        let build = |fitted: (&Spec, &Mapping), drive| build_ftl(self, fitted, drive, timing);
        let runs = pool.install(|| self.build(&config, drive_config, &oracle, build));
        let mut runs = runs.map_err(|error| likeness::refused(error, &config))?;
        if matches!(hosts, Some(WhichHosts::Threads(..))) {
            runs.iter_mut().for_each(FtlRun::keep_transactions);
        }
        let (requests, notes) = (source.metadata().requests, hosts::notes(source.metadata()));
        let feeds = self.feeds_of_run(source, &space, bounds, schedule, timing, hosts)?;
        Ok(Prepared {
            workload: self.workload.clone(),
            config,
            requests,
            notes,
            ahead: feeds.ahead,
            feeds: feeds.shared,
            hosted: feeds.hosted,
            runs,
            pool,
            memory,
        })
    }

    /// All requests of hosts on a clock, as they come one after the other.
    fn requests_of(
        &self,
        hosts: &WhichHosts,
        space: &Space,
        timing: Option<&Timing>,
    ) -> Result<Box<dyn TraceSource>, SimError> {
        let reads_count = timing.is_some_and(Timing::has_requests);
        Ok(hosts::open(hosts, &self.workload.name(), space, reads_count)?.0)
    }

    /// What is simulated, as results state it.
    fn config(
        &self,
        source: &dyn TraceSource,
        drive: DriveSummary,
        timing: Option<&Timing>,
        writes_max: Option<u64>,
        interval_writes: u64,
    ) -> Result<Config, SimError> {
        let is_trace = !self.workload.is_generator();
        Ok(Config {
            workload: self.workload.name(),
            workload_parameters: self.workload.parameters()?,
            format: is_trace.then(|| source.metadata().format.clone()),
            drive,
            ftls: self.pairs().map(|(ftl, mapping)| self.name_of_run(ftl, mapping)).collect(),
            fill: self.fill.to_string(),
            warmup_writes: self.warmup_writes,
            writes_max,
            until_steady: self.until_steady().is_some(),
            repeat: self.repeats(),
            interval_writes,
            seed: self.seed,
            streams: self.streams.as_ref().map(StreamMap::to_string),
            wrap: self.wrap,
            ignore_trims: self.ignore_trims,
            endurance_cycles: self.endurance_cycles,
            timing: self.timing.as_ref().zip(timing).map(|(s, t)| TimingSummary::new(s, t)),
            faults: self.faults.map(|faults| named(faults.values())),
            model_of: self.model_of.clone(),
            options: told_by(self),
        })
    }

    /// What happens to addresses.
    fn bounds(&self, drive: &DriveSummary) -> Bounds {
        Bounds {
            logical_pages: drive.logical_pages,
            page_bytes: drive.page_bytes,
            wrap: self.wrap,
            ignore_trims: self.ignore_trims,
        }
    }

    /// The memory that it takes; refused if there is less.
    fn promise(
        &self,
        drive: &DriveConfig,
        oracle: &[OracleGroup],
        timing: Option<&Timing>,
        writes_max: Option<u64>,
        interval_writes: u64,
    ) -> Result<Promise, SimError> {
        let has_end = self.workload.has_end()?;
        let needs = Needs {
            ftls: &self.ftls,
            policies: &self.policies,
            drive,
            slc_cache: self.drive.slc_cache,
            mappings: &self.drive.mapping,
            oracle,
            timing,
            has_faults: self.faults.is_some(),
            observe: self.observe,
            hints: self.hints()?,
            has_parts: self.workload.may_write_parts(),
            filled: self.fill.writes(drive.logical_pages.into()),
            page_writes: writes_max
                .filter(|_| !has_end)
                .map(|writes| writes.saturating_add(self.warmup_writes)),
            counted: writes_max,
            interval_writes,
            batch_writes: self.batch_writes,
        };
        Promise::new(needs.bytes()?, self.runs())
    }

    /// The versions of everything that decides results besides the FTLs.
    pub(crate) fn versions(&self) -> Result<Vec<Version>, SimError> {
        self.versions_with(!self.drive.mapping.are_full())
    }

    /// Those of runs with a map on flash, or in memory.
    fn versions_with(&self, has_map_on_flash: bool) -> Result<Vec<Version>, SimError> {
        let mut all = vec![versions::SIMULATION];
        all.extend(self.timing.is_some().then_some(versions::CLOCK));
        all.extend(self.faults.is_some().then_some(versions::FAULTS));
        all.extend(self.until_steady().is_some().then_some(versions::STEADY));
        all.extend(self.drive.slc_cache.is_some().then_some(versions::SLC_CACHE));
        all.extend(has_map_on_flash.then_some(versions::MAPPING));
        match &self.workload {
            Workload::Generator(spec) => all.extend(ftlab_workload::versions(spec)?),
            Workload::Trace { .. } => all.push(versions::TRACES),
            Workload::Requests(requests) => {
                all.extend(requests.identity().map(|_| versions::TRACES));
            }
            Workload::Copies(_) => all.extend([versions::TRACES, SideBySide::VERSION]),
        }
        Ok(all)
    }

    /// What happens after which writes.
    fn schedule(
        &self,
        logical_pages: u32,
        writes_max: Option<u64>,
        interval_writes: u64,
    ) -> Schedule {
        let round_writes = steady::round_writes(logical_pages);
        let mut schedule =
            Schedule::counted(self.warmup_writes, writes_max, interval_writes, round_writes);
        if self.ends_when_steady() {
            schedule = schedule.until_steady();
        }
        if self.observe { schedule.with_frames(logical_pages) } else { schedule }
    }

    /// Whether it may end before the workload does. A trace is read to its end: the rest may be otherwise.
    pub(crate) fn ends_when_steady(&self) -> bool {
        self.until_steady().is_some() && (self.repeat || self.workload.is_generator())
    }

    /// Whether a trace is repeated.
    pub(crate) fn repeats(&self) -> bool {
        self.repeat && !self.workload.is_generator()
    }

    /// The drive writes after which it ends at the latest, if it ends when it is steady.
    pub(crate) fn until_steady(&self) -> Option<f64> {
        match self.length {
            Length::UntilSteady(most) => Some(most),
            _ => None,
        }
    }

    /// The jobs of fio or the threads of a database's clients, if they run on a clock: each is a host of its own.
    fn hosts_on_a_clock(&self) -> Result<Option<WhichHosts>, SimError> {
        let Some(spec) = &self.timing else { return Ok(None) };
        let timing = Timing::from_spec(spec)?;
        if timing.unit() == Unit::Transaction {
            let Workload::Generator(generator) = &self.workload else {
                return Err(SimError::Unusable {
                    what: format!("unit=transaction: {} is a trace", self.workload.name()),
                    remedy: "use tpcc, linkbench or ycsb, or wait for requests (unit=request)"
                        .into(),
                });
            };
            return Ok(Some(WhichHosts::Threads(generator.clone(), timing.queue_depth())));
        }
        if !self.jobs_are_hosts || timing.arrivals() == Arrivals::Poisson {
            return Ok(None);
        }
        let arbitration = timing.arbitration().map(|(slots, weights)| (slots, weights.clone()));
        Ok(self.workload.jobs()?.map(|jobs| WhichHosts::Jobs(jobs, arbitration)))
    }

    /// What each FTL asks for.
    fn hints(&self) -> Result<Vec<Hints>, SimError> {
        Ok(self.ftls.iter().map(|ftl| self.policies.hints(ftl)).collect::<Result<_, _>>()?)
    }

    /// Whether an FTL asks for these hints.
    fn asks_for(&self, hints: Hints) -> Result<bool, SimError> {
        Ok(self.hints()?.contains(&hints))
    }

    /// How long operations take, if time is simulated.
    fn timing(&self) -> Result<Option<Timing>, SimError> {
        let timing = self.timing.as_ref().map(Timing::from_spec).transpose()?;
        if self.slowest > 0 && timing.as_ref().is_none_or(|timing| !timing.has_requests()) {
            return Err(SimError::Unusable {
                what: "the slowest requests are asked for, and the host does not wait for requests"
                    .into(),
                remedy: "add unit=request to --timing".into(),
            });
        }
        let serves_reads = timing.as_ref().is_some_and(|timing| timing.unit() == Unit::Request);
        if self.drive.refresh.reads > 0 && !serves_reads {
            return Err(SimError::Unusable {
                what: format!(
                    "--refresh reads={}: reads are passed over where the host does not wait for requests",
                    self.drive.refresh.reads
                ),
                remedy:
                    "add --timing with unit=request, such as femu:unit=request, or give age= only"
                        .into(),
            });
        }
        let timing = timing.map(|timing| timing.keep_slowest(self.slowest));
        Ok(match self.drive.slc_cache {
            Some(_) => timing.map(Timing::with_slc_pages),
            None => timing,
        })
    }

    /// Whether page writes arrive at the times of the trace.
    fn is_open_loop(&self, timing: Option<&Timing>) -> Result<bool, SimError> {
        let open_loop = timing.is_some_and(|timing| timing.arrivals() == Arrivals::Trace);
        if open_loop && self.workload.is_generator() {
            return Err(SimError::Unusable {
                what: format!(
                    "arrivals=trace: {} is a generator, without times",
                    self.workload.name()
                ),
                remedy: "use arrivals=closed with a queue-depth, or a trace".into(),
            });
        }
        Ok(open_loop)
    }

    /// Whether all its hosts are jobs that end where there is a clock.
    fn ends_by_the_clock(&self) -> Result<bool, SimError> {
        let hosts = self.hosts_on_a_clock()?;
        Ok(matches!(hosts, Some(WhichHosts::Jobs(jobs, _)) if jobs.has_end_by_the_clock()))
    }

    pub(crate) fn writes_max(&self, logical_pages: u32) -> Result<Option<u64>, SimError> {
        let writes = match self.length.writes(logical_pages.into()) {
            Some(writes) => writes,
            None if self.ends_by_the_clock()? => return Ok(None),
            None if self.workload.has_end()? && !self.repeats() => return Ok(None),
            None => of_drive(GENERATOR_DRIVE_WRITES, logical_pages.into()),
        };
        if writes == 0 { Err(no_writes()) } else { Ok(Some(writes)) }
    }

    pub(crate) fn interval_writes(
        &self,
        logical_pages: u32,
        writes_max: Option<u64>,
    ) -> Result<u64, SimError> {
        let interval = self.interval_writes.unwrap_or(u64::from(logical_pages / 4)).max(1);
        // A trace may end before; if it does not, the run stops there.
        let writes = writes_max.filter(|_| self.workload.is_generator()).unwrap_or(0);
        let intervals = writes / interval;
        if intervals > INTERVALS_MAX {
            return Err(SimError::Unusable {
                what: format!(
                    "{} writes are {} intervals of {}, and at most {} are recorded",
                    grouped(writes),
                    grouped(intervals),
                    grouped(interval),
                    grouped(INTERVALS_MAX)
                ),
                remedy: format!("give --interval {} or more", writes.div_ceil(INTERVALS_MAX)),
            });
        }
        Ok(interval)
    }

    /// No more threads than there is work for: one for each FTL, and one that decodes.
    pub(crate) fn threads(&self) -> Result<Threads, SimError> {
        let threads = self.threads.unwrap_or_else(Threads::processors);
        Threads::new(threads.min(self.runs() + 1))
    }

    /// How many runs it has: every FTL with every map.
    pub(crate) fn runs(&self) -> usize {
        self.ftls.len() * self.drive.mapping.each().len()
    }

    /// Every FTL with every map, in the order of their runs.
    fn pairs(&self) -> impl Iterator<Item = (&Spec, &Mapping)> {
        let mappings = self.drive.mapping.each();
        self.ftls.iter().flat_map(move |ftl| mappings.iter().map(move |mapping| (ftl, mapping)))
    }

    /// What a run is called: its FTL, and its map if runs differ in that.
    fn name_of_run(&self, ftl: &Spec, mapping: &Mapping) -> String {
        let told = self.drive.mapping.are_several().then(|| self.name_of_map(mapping));
        with_map(&ftl.to_string(), told.as_deref())
    }

    /// What a map is called: on the model of a drive, what that of the drive is.
    fn name_of_map(&self, mapping: &Mapping) -> String {
        let at = self.drive.mapping.each().iter().position(|own| own == mapping);
        let asked = self.model_of.as_ref().and_then(|of| of.mapping.as_deref());
        let asked = asked.and_then(|asked| asked.parse::<Mappings>().ok());
        let of_drive = asked.as_ref().zip(at).and_then(|(asked, at)| asked.each().get(at));
        of_drive.unwrap_or(mapping).name()
    }

    /// An FTL as every run has it.
    fn build_ftl(
        &self,
        (fitted, mapping): (&Spec, &Mapping),
        drive: DriveConfig,
        timing: Option<&Timing>,
    ) -> Result<AnyFtl, StackError> {
        let own = &self.policies;
        let ftl = AnyFtl::new(fitted, own, mapping, drive, timing, self.faults, self.observe)?;
        match self.drive.slc_cache {
            Some(cache) => ftl.with_slc_cache(cache, &drive),
            None => Ok(ftl),
        }
    }

    /// Every FTL, fitted to the drive and to what `oracle` knows of the workload.
    fn build(
        &self,
        config: &Config,
        drive: DriveConfig,
        oracle: &[OracleGroup],
        build: impl Fn((&Spec, &Mapping), DriveConfig) -> Result<AnyFtl, StackError> + Sync,
    ) -> Result<Vec<FtlRun>, SimError> {
        let policies = &self.policies;
        let of_mapping = |mapping: &Mapping| {
            let versions = versions::text(self.versions_with(!mapping.is_full())?);
            Ok::<_, SimError>((versions, with_mapping(config, mapping)))
        };
        let pairs: Vec<_> = self.pairs().collect();
        pairs
            .into_par_iter()
            .map(|(spec, mapping)| {
                let block_pages = drive.geometry.pages_per_block();
                let (unit_spec, drive) = registry::in_units(spec, drive)?;
                let shape = DriveShape::new(&mapping.of_engine(drive)?);
                let fitted = policies.fit(&unit_spec, shape, oracle)?;
                let ftl = build((&fitted, mapping), drive)?;
                let mut parameters = named(policies.resolve(&fitted)?);
                if unit_spec != *spec {
                    // On its own drive, a unit is one erase block.
                    let given = named(policies.resolve(spec)?);
                    parameters.extend(given.into_iter().filter(|(key, _)| key == "unit"));
                }
                let decisions = policies.decisions(spec)?.map(|decisions| decisions.to_string());
                let (versions, config) = of_mapping(mapping)?;
                let versions = (versions.as_str(), decisions);
                let config_hash = config_hash(&config, &versions, &spec.name, &parameters);
                let slc_blocks = self.drive.slc_cache.and_then(|cache| {
                    let blocks = cache.blocks(&drive.geometry)?;
                    Some([blocks, cache.pages_per_block(&drive.geometry)])
                });
                let flash = FlashOfRun {
                    geometry: drive.geometry,
                    logical_pages: drive.logical_pages,
                    unit_blocks: drive.geometry.pages_per_block() / block_pages,
                    slc_blocks,
                    cache_bytes: mapping
                        .cache_bytes(drive.logical_pages, drive.geometry.page_bytes()),
                    faults: self.faults,
                };
                let are_several = self.drive.mapping.are_several();
                let own = are_several.then(|| mapping.to_string());
                let label = Label { parameters, config_hash, mapping: own };
                Ok(FtlRun::new(self.name_of_run(spec, mapping), label, flash, ftl))
            })
            .collect()
    }
}

fn no_writes() -> SimError {
    SimError::Unusable {
        what: "a run of no writes has no result".into(),
        remedy: "give --writes 1 or more, or a larger --drive-writes".into(),
    }
}

/// What is simulated of runs with this map, as results of these alone would state it.
fn with_mapping(config: &Config, mapping: &Mapping) -> Config {
    let mut config = config.clone();
    let options = &mut config.drive.options;
    if mapping.is_full() {
        options.remove("mapping");
    } else {
        options.insert("mapping".to_owned(), mapping.to_string());
    }
    config
}

/// The hash of everything that decides a run besides its trace: what means the same gives the same,
/// however it was typed. The versions are those of everything that decides.
fn config_hash(
    config: &Config,
    versions: &(&str, Option<String>),
    ftl: &str,
    parameters: &BTreeMap<String, String>,
) -> String {
    let is_generator = config.workload_parameters.is_some();
    let generator = config.workload.split(':').next().filter(|_| is_generator);
    let resolved = Config {
        // The hash of a trace tells its requests, whatever file and format they are in.
        workload: generator.unwrap_or_default().to_owned(),
        format: None,
        ftls: vec![ftl.to_owned()],
        drive: DriveSummary {
            size_from: String::new(),
            rounded_bytes: 0,
            op_ratio_asked: None,
            ..config.drive.clone()
        },
        // What is told of the real drive decides nothing else.
        model_of: config
            .model_of
            .clone()
            .filter(|_| config.endurance_cycles.is_some())
            .map(|of| ModelOf { mapping: None, ..of }),
        timing: config
            .timing
            .clone()
            .map(|timing| TimingSummary { timing: String::new(), ..timing }),
        ..config.clone()
    };
    let text = serde_json::to_string(&(versions, resolved, parameters));
    format!("{:032x}", XxHash3_128::oneshot(text.unwrap_or_default().as_bytes()))
}

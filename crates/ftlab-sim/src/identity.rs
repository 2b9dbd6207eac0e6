//! What makes two runs the same, for whoever keeps results and uses them again.
//!
//! It is everything that decides a result: what decides in which version, all parameters with their values by default,
//! the drive, what fills it, and how much is written to it; and the content of a trace. Names of files, threads, and
//! how something was typed are no part of it.

use crate::option::told_by;
use crate::run_options::{Experiment, GENERATOR_DRIVE_WRITES};
use crate::sizing::{Origin, Wanted};
use crate::versions::{self, Version};
use crate::{SimError, Workload};
use ftlab_ftl::{Engine, registry};
use ftlab_host::Timing;
use ftlab_spec::{Parameters, Spec, SpecError};
use ftlab_stack::OwnPolicies;
use ftlab_trace::{Contents, RequestBatch, TraceSource, trace_identity};
use twox_hash::XxHash3_128;

/// What tells a workload from any other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadIdentity {
    text: String,
    /// The size of the drive that it comes from, if it says.
    wanted: Option<Wanted>,
}

/// What tells an experiment from any other, but for its FTLs.
#[derive(Debug, Clone)]
pub struct ExperimentIdentity {
    text: String,
    versions: Vec<Version>,
    /// Policies that FTLs may name, beside those of the registry.
    policies: OwnPolicies,
}

/// What tells a run from any other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunIdentity {
    /// Equal for equal runs: 32 hexadecimal digits.
    pub hash: String,
    /// Of everything that decides, the version.
    pub versions: String,
}

impl Workload {
    /// What tells it from any other on drives with pages of this size. Files are looked up in `contents`, requests that a
    /// program holds are read.
    pub fn identity(
        &self,
        page_bytes: u32,
        contents: &Contents,
    ) -> Result<WorkloadIdentity, SimError> {
        if self.is_read_once() {
            return Err(SimError::Unusable {
                what: format!("{} can be read once only, and every run reads it", self.name()),
                remedy: "convert it to a file first: ftlab convert - trace.parquet".into(),
            });
        }
        let text = match self {
            Self::Generator(spec) => ftlab_workload::identity(spec, contents)?,
            Self::Trace { path, options } => trace_identity(path, options, contents)?,
            Self::Requests(requests) => match requests.identity() {
                Some(known) => format!("requests {known}"),
                None => hash_of(requests.open()?.as_mut())?,
            },
            Self::Copies(copies) => {
                let of = copies.of.identity(page_bytes, contents)?;
                format!("{} {}", of.text, copies.identity())
            }
        };
        Ok(WorkloadIdentity { text, wanted: self.told_size(page_bytes) })
    }

    /// The size of its drive, if it says so at once. Whatever is wrong with it is said by whoever runs it.
    fn told_size(&self, page_bytes: u32) -> Option<Wanted> {
        let of = |bytes: u64, origin| Some(Wanted { bytes: u128::from(bytes), origin });
        if let Self::Generator(spec) = self {
            return of(ftlab_workload::drive_bytes(spec).ok()??, Origin::Jobs);
        }
        let trace = self.open_trace(page_bytes, false).ok()??;
        of(trace.metadata().device_bytes?, Origin::Device)
    }
}

/// The hash of all that requests say, their times, streams and volumes included.
fn hash_of(source: &mut dyn TraceSource) -> Result<String, SimError> {
    let mut hasher = XxHash3_128::new();
    let mut batch = RequestBatch::new();
    while source.next_batch(&mut batch)? {
        for at in 0..batch.len() {
            let time = batch.time_us.get(at).copied().unwrap_or(u64::MAX);
            let stream = batch.stream.get(at).map_or(u32::MAX, |stream| u32::from(*stream));
            let volume = batch.volume.get(at).copied().unwrap_or(u32::MAX);
            hasher.write(&[batch.op[at] as u8]);
            hasher.write(&batch.lba[at].to_le_bytes());
            hasher.write(&time.to_le_bytes());
            for number in [batch.sectors[at], stream, volume] {
                hasher.write(&number.to_le_bytes());
            }
        }
    }
    Ok(format!("requests {:032x}", hasher.finish_128()))
}

impl Experiment {
    /// What tells it from any other, but for its FTLs: `workload` is that of its workload.
    pub fn identity(&self, workload: &WorkloadIdentity) -> Result<ExperimentIdentity, SimError> {
        let Self {
            workload: _,
            ftls: _,
            policies,
            drive,
            length: _,
            repeat: _,
            fill,
            warmup_writes,
            interval_writes: _,
            timing,
            jobs_are_hosts,
            slowest,
            faults,
            endurance_cycles,
            model_of,
            seed,
            streams,
            wrap,
            ignore_trims,
            observe,
            threads: _,
            batch_writes: _,
        } = self;
        self.refuse_several_maps()?;
        let timing = timing.as_ref().map(Timing::from_spec).transpose()?;
        let versions = [vec![versions::results()], self.versions()?].concat();
        let parts = (
            (&workload.text, self.extent(workload)?),
            (fill.to_string(), warmup_writes, seed, self.repeats()),
            drive.slc_cache.map(|cache| cache.to_string()),
            (timing.map(|timing| timing.values()), jobs_are_hosts, slowest),
            (faults.map(|faults| faults.values()), endurance_cycles),
            (streams.as_ref().map(ToString::to_string), wrap, ignore_trims, observe),
        );
        let told = told_by(self);
        let told = if told.is_empty() { String::new() } else { format!("{told:?}") };
        let map = if drive.mapping.are_full() { String::new() } else { drive.mapping.to_string() };
        let policies = policies.clone();
        // How large the drive is decides what the host can write to it.
        let model = model_of.as_ref().filter(|_| endurance_cycles.is_some());
        let model = model.map_or_else(String::new, |of| format!(" of {}", of.logical_bytes));
        Ok(ExperimentIdentity { text: format!("{parts:?}{told}{map}{model}"), versions, policies })
    }

    /// The drive and how much is written to it: as it comes out, as far as that is known before a pass over the trace.
    fn extent(&self, workload: &WorkloadIdentity) -> Result<String, SimError> {
        let drive = self.drive_on_its_flash()?;
        let asked = self.drive.asked_pages().map(|pages| Wanted {
            bytes: u128::from(pages) * u128::from(self.drive.page_bytes),
            origin: Origin::Asked,
        });
        if let Some(wanted) = asked.or(workload.wanted) {
            let (config, _) = drive.configure(wanted)?;
            let writes = self.writes_max(config.logical_pages);
            let interval = |writes| self.interval_writes(config.logical_pages, writes);
            // What is wrong with these is said when it runs.
            if let Ok((writes, interval)) =
                writes.and_then(|writes| Ok((writes, interval(writes)?)))
            {
                return Ok(format!("{config:?} {writes:?} {:?} {interval}", self.until_steady()));
            }
        }
        let Self { length, interval_writes, .. } = self;
        Ok(format!("{drive:?} {length:?} {interval_writes:?} {GENERATOR_DRIVE_WRITES}"))
    }
}

impl ExperimentIdentity {
    /// What tells the run of this FTL, whose code is known.
    pub fn of_run(&self, ftl: &Spec) -> Result<RunIdentity, SpecError> {
        if let Some(code) = self.policies.code(ftl) {
            let engine = (Engine::PageMapped.name(), Engine::PageMapped.decisions());
            let versions = versions::text(self.versions.iter().copied().chain([engine]));
            let text = format!("{} {:?} {code}", ftl.name, self.policies.resolve(ftl)?);
            return Ok(RunIdentity { hash: self.hash_with(&versions, &text), versions });
        }
        let decisions = registry::decisions(ftl)?;
        let pieces = decisions.pieces().iter().map(|piece| (piece.name, piece.version));
        let versions = versions::text(self.versions.iter().copied().chain(pieces));
        let text = format!("{} {:?}", ftl.name, registry::resolve(ftl)?);
        Ok(RunIdentity { hash: self.hash_with(&versions, &text), versions })
    }

    /// The hash of a run in which these versions decide, of an FTL with these parameters.
    fn hash_with(&self, versions: &str, ftl: &str) -> String {
        hash(&format!("{} {versions} {ftl}", self.text))
    }

    /// What tells an experiment that looks at its workload alone.
    pub fn of_workload(&self) -> String {
        self.hash_with(&versions::text(self.versions.iter().copied()), "")
    }
}

impl RunIdentity {
    /// That of the run of which something else is the same or not.
    #[must_use]
    pub fn with(&self, what: &str) -> Self {
        Self { hash: hash(&format!("{} {what}", self.hash)), versions: self.versions.clone() }
    }
}

fn hash(text: &str) -> String {
    format!("{:032x}", XxHash3_128::oneshot(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DriveOptions, Fill, Length, Logical, Physical};
    use ftlab_spec::Share;
    use ftlab_trace::OpenOptions;

    fn experiment(workload: &str) -> Experiment {
        let drive = DriveOptions { logical: Logical::Pages(4096), ..DriveOptions::default() };
        let workload = Workload::parse(workload, OpenOptions::default()).unwrap();
        Experiment { drive, ..Experiment::new(workload, Vec::new()) }
    }

    fn identity(experiment: &Experiment) -> ExperimentIdentity {
        let page_bytes = experiment.drive.page_bytes;
        let workload = experiment.workload.identity(page_bytes, &Contents::new()).unwrap();
        experiment.identity(&workload).unwrap()
    }

    fn of(experiment: &Experiment, ftl: &str) -> String {
        identity(experiment).of_run(&ftl.parse().unwrap()).unwrap().hash
    }

    #[test]
    fn what_is_the_default_is_the_same_if_it_is_said() {
        let plain = experiment("hotcold");
        let hash = of(&plain, "2r++");
        assert_eq!(of(&plain, "2r++:blk-util=.50,regions=2"), hash);
        assert_eq!(of(&experiment("hotcold:pages=0.10"), "2r++"), hash);
        let said: [fn(&mut Experiment); 7] = [
            |of| of.length = Length::DriveWrites(GENERATOR_DRIVE_WRITES),
            |of| of.length = Length::Writes(4 * 4096),
            |of| of.interval_writes = Some(1024),
            |of| of.drive.pages_per_block = Some(8),
            |of| of.drive.logical = Logical::Bytes("16MiB".parse().unwrap()),
            |of| of.drive.physical = Physical::Blocks(564),
            |of| (of.threads, of.batch_writes) = (Some(1), 7),
        ];
        for (number, say) in said.iter().enumerate() {
            let mut experiment = plain.clone();
            say(&mut experiment);
            assert_eq!(of(&experiment, "2r++"), hash, "{number}");
        }
    }

    #[test]
    fn whatever_is_different_is_another_run() {
        let plain = experiment("hotcold");
        let hash = of(&plain, "2r++");
        for ftl in ["2r++:blk-util=0.4", "2r-fifo", "sep-gc/greedy"] {
            assert_ne!(of(&plain, ftl), hash, "{ftl}");
        }
        for workload in ["hotcold:pages=0.3", "zipf", "uniform"] {
            assert_ne!(of(&experiment(workload), "2r++"), hash, "{workload}");
        }
        let changes: [fn(&mut Experiment); 21] = [
            |of| of.length = Length::Writes(5),
            |of| of.length = Length::UntilSteady(GENERATOR_DRIVE_WRITES),
            |of| of.interval_writes = Some(1),
            |of| of.fill = Fill::Random,
            |of| of.seed = 2,
            |of| of.warmup_writes = 1,
            |of| of.drive.logical = Logical::Pages(4097),
            |of| of.drive.page_bytes = 8192,
            |of| of.drive.pages_per_block = Some(16),
            |of| of.drive.physical = Physical::OverProvisioning(Share(0.2)),
            |of| of.drive.reserve_blocks = 5,
            |of| of.drive.gc = "gradual".parse().unwrap(),
            |of| of.drive.gc = "throttled".parse().unwrap(),
            |of| of.drive.slc_cache = Some("size=1MiB".parse().unwrap()),
            |of| of.drive.mapping = "dftl:cache=1MiB".parse().unwrap(),
            |of| of.timing = Some("slc".parse().unwrap()),
            |of| of.faults = Some("program=0.001".parse().unwrap()),
            |of| of.endurance_cycles = Some(3000),
            |of| of.streams = Some("0..1MiB=1".parse().unwrap()),
            |of| of.ignore_trims = true,
            |of| of.observe = true,
        ];
        let mut hashes = std::collections::BTreeSet::from([hash]);
        for (number, change) in changes.iter().enumerate() {
            let mut experiment = plain.clone();
            change(&mut experiment);
            assert!(hashes.insert(of(&experiment, "2r++")), "{number}");
        }
    }

    #[test]
    fn the_blocks_that_a_timing_brings_are_part_of_it() {
        let mut timed = experiment("hotcold");
        timed.timing = Some("slc".parse().unwrap());
        let hash = of(&timed, "2r++");
        timed.drive.pages_per_block = Some(64);
        assert_eq!(of(&timed, "2r++"), hash);
        timed.drive.pages_per_block = Some(crate::usual_pages_per_block(4096));
        assert_ne!(of(&timed, "2r++"), hash);
    }

    #[test]
    fn every_version_counts() {
        let own = identity(&experiment("hotcold"));
        let RunIdentity { hash, versions } = own.of_run(&"2r++".parse().unwrap()).unwrap();
        assert!(versions.ends_with("simulation 1, hotcold 1, engine 1, 2r++ 1"), "{versions}");
        let text = format!("2r++ {:?}", registry::resolve(&"2r++".parse().unwrap()).unwrap());
        assert_eq!(own.hash_with(&versions, &text), hash);
        for part in ["simulation", "hotcold", "engine", "2r++"] {
            let raised = versions.replace(&format!("{part} 1"), &format!("{part} 2"));
            assert_ne!(own.hash_with(&raised, &text), hash, "{part}");
        }
        let mut slow = experiment("hotcold");
        slow.timing = Some("slc".parse().unwrap());
        slow.drive.slc_cache = Some("size=1MiB".parse().unwrap());
        slow.faults = Some("program=0.001".parse().unwrap());
        let versions = identity(&slow).of_run(&"2r++".parse().unwrap()).unwrap().versions;
        assert!(versions.contains("clock 3, faults 1, slc-cache 1"), "{versions}");
        assert_ne!(own.of_workload(), identity(&slow).of_workload());
    }
}

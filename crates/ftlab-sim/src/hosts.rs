//! Who the hosts with a clock are: jobs of fio, or threads of a database's clients.

use crate::SimError;
use crate::workload::Workload;
use ftlab_feed::{Shared, shared};
use ftlab_host::Weights;
use ftlab_spec::Spec;
use ftlab_trace::{ClosedLoop, OpenOptions, Space, TraceError, TraceMetadata, TraceSource};
use ftlab_workload::fio::JobFile;
use ftlab_workload::{Arbiter, Clients};
use std::sync::Arc;

/// Who the hosts are.
pub(crate) enum WhichHosts {
    /// Jobs of fio, and how the drive takes their requests: how many at once, by these weights; or any number.
    Jobs(JobFile, Option<(u32, Weights)>),
    /// Threads that run the transactions of a generator.
    Threads(Spec, u32),
}

impl WhichHosts {
    /// Whether all of them end where time passes; transactions end by their number.
    fn ends_by_the_clock(&self) -> bool {
        match self {
            Self::Jobs(jobs, _) => jobs.has_end_by_the_clock(),
            Self::Threads(..) => false,
        }
    }

    /// The hosts; jobs that only read are refused if reads take no time.
    fn begin(
        &self,
        space: &Space,
        reads_take_time: bool,
    ) -> Result<Box<dyn ClosedLoop>, TraceError> {
        match self {
            Self::Jobs(jobs, arbitration) => {
                let hosts = Box::new(jobs.hosts(space, open_replayed, reads_take_time)?);
                let Some((slots, weights)) = arbitration else { return Ok(hosts) };
                let tenants = hosts.tenants();
                let of_tenants =
                    weights.of(tenants.len()).ok_or_else(|| TraceError::Unsupported {
                        what: format!(
                            "weights={weights} for the {} jobs {}",
                            tenants.len(),
                            tenants.join(", ")
                        ),
                        remedy: "give as many weights as jobs, in the order of the file".into(),
                    })?;
                let arbiter = Arbiter::new(hosts, *slots, of_tenants);
                Ok(Box::new(match weights {
                    Weights::Oldest => arbiter.oldest_first(),
                    Weights::Equal | Weights::Of(_) => arbiter,
                }))
            }
            Self::Threads(spec, threads) => Ok(Box::new(Clients::new(spec, space, *threads)?)),
        }
    }
}

/// Opens what a job replays: a trace, or any other workload, for a drive as large as its part.
fn open_replayed(name: &str, space: &Space) -> Result<Box<dyn TraceSource>, TraceError> {
    let told = |error: SimError| match error {
        SimError::Trace(error) => error,
        other => TraceError::Unsupported {
            what: other.to_string(),
            remedy: "name a trace or a workload (ftlab list workloads)".into(),
        },
    };
    let workload = Workload::parse(name, OpenOptions::default()).map_err(told)?;
    workload.generate(space).map_err(told)
}

/// What a job file tells of its jobs, by name.
pub(crate) fn notes(metadata: &TraceMetadata) -> Vec<(String, String)> {
    let of_jobs = |(name, value): (&String, &String)| {
        name.strip_prefix("fio ").map(|name| (name.to_owned(), value.clone()))
    };
    metadata.properties.iter().filter_map(of_jobs).collect()
}

/// The requests of the hosts of the workload `name`, and the hosts that they and an FTL share.
pub(crate) fn open(
    which: &WhichHosts,
    name: &str,
    space: &Space,
    reads_take_time: bool,
) -> Result<(Box<dyn TraceSource>, Arc<Shared>), TraceError> {
    let hosts = which.begin(space, reads_take_time)?;
    Ok(shared(hosts, which.ends_by_the_clock(), name, space))
}

//! What an experiment refuses before anything runs.

use crate::SimError;
use crate::experiment::no_writes;
use crate::hosts::WhichHosts;
use crate::run_options::{Experiment, Length};
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::Hints;
use ftlab_ftl::registry;
use ftlab_host::Timing;
use ftlab_spec::Spec;

impl Experiment {
    /// Refuses what is wrong whatever the drive will be.
    pub(super) fn check(&self) -> Result<(), SimError> {
        self.check_ftls()?;
        self.check_numbers()?;
        self.check_writes()?;
        self.check_future()?;
        self.check_slc_cache()?;
        self.check_mapping()
    }

    /// Refuses unknown FTLs and parameters, whatever the drive will be.
    fn check_ftls(&self) -> Result<(), SimError> {
        if self.ftls.is_empty() {
            return Err(SimError::Unusable {
                what: "no FTL is named".into(),
                remedy: format!(
                    "add --ftl NAME, once for each FTL to compare; known: {}",
                    registry::known_ftls()
                ),
            });
        }
        let mut known: Vec<(&Spec, _)> = Vec::new();
        for ftl in &self.ftls {
            let resolved = (ftl.name.as_str(), self.policies.resolve(ftl)?);
            if let Some((same, _)) = known.iter().find(|(_, other)| *other == resolved) {
                let what = if *same == ftl {
                    format!("{ftl} is named twice, and would give the same result twice")
                } else {
                    format!("{same} and {ftl} are the same, and would give the same result twice")
                };
                return Err(SimError::Unusable {
                    what,
                    remedy: "name each FTL once; the same name with other parameters is another"
                        .into(),
                });
            }
            known.push((ftl, resolved));
        }
        Ok(())
    }

    /// Refuses numbers that are wrong whatever the workload is, before a pass over it.
    pub fn check_numbers(&self) -> Result<(), SimError> {
        if self.length == Length::Writes(0) {
            return Err(no_writes());
        }
        if self.interval_writes == Some(0) {
            return Err(SimError::Unusable {
                what: "an interval of no writes".into(),
                remedy: "give --interval 1 or more, or leave it out".into(),
            });
        }
        self.drive.check()
    }

    /// Refuses jobs of fio that cannot write, whatever the drive is.
    fn check_writes(&self) -> Result<(), SimError> {
        match self.workload.jobs()? {
            Some(jobs) if !jobs.writes() => Err(SimError::NoWrites { name: self.workload.name() }),
            _ => Ok(()),
        }
    }

    /// Refuses to look ahead where a first pass would leave nothing for the second.
    fn check_future(&self) -> Result<(), SimError> {
        if !self.asks_for(Hints::Lifetimes)? {
            return Ok(());
        }
        if self.hosts_on_a_clock()?.is_some() {
            return Err(SimError::Unusable {
                what: "an FTL that knows the future, where the order of writes depends on the FTL"
                    .into(),
                remedy: "leave out that FTL, or --timing".into(),
            });
        }
        if self.until_steady().is_some() {
            return Err(SimError::Unusable {
                what: "an FTL that knows the future needs to know how long the run is, and this one ends when \
                       it is steady"
                    .into(),
                remedy: "give its length (--drive-writes 10), or leave out that FTL".into(),
            });
        }
        if !self.workload.is_read_once() {
            return Ok(());
        }
        Err(SimError::Unusable {
            what: format!(
                "{} can be read once only, and an FTL that knows the future needs a first pass",
                self.workload.name()
            ),
            remedy: "convert it to a file (ftlab convert - trace.parquet), or leave out that FTL"
                .into(),
        })
    }

    /// Refuses an SLC cache before FTLs that have to see each host write.
    fn check_slc_cache(&self) -> Result<(), SimError> {
        if self.drive.slc_cache.is_none() {
            return Ok(());
        }
        if self.asks_for(Hints::Lifetimes)? {
            return Err(SimError::Unusable {
                what: "an FTL that knows the future, after an SLC cache that changes what it writes when"
                    .into(),
                remedy: "leave out that FTL, or --slc-cache".into(),
            });
        }
        if self.ftls.iter().any(|ftl| ftl.name == "nvme-fdp") {
            return Err(SimError::Unusable {
                what: "nvme-fdp counts what the host writes by each handle, and an SLC cache comes before it"
                    .into(),
                remedy: "leave out nvme-fdp, or --slc-cache".into(),
            });
        }
        Ok(())
    }

    /// Refuses a map on flash where FTLs have none, or where nobody would wait for it.
    fn check_mapping(&self) -> Result<(), SimError> {
        for mapping in self.drive.mapping.each().iter().filter(|mapping| !mapping.is_full()) {
            self.check_map(mapping)?;
        }
        Ok(())
    }

    /// Refuses several maps where one result of each FTL is kept.
    pub(crate) fn refuse_several_maps(&self) -> Result<(), SimError> {
        if !self.drive.mapping.are_several() {
            return Ok(());
        }
        Err(SimError::Unusable {
            what: format!("--mapping {}: one result of each FTL is kept here", self.drive.mapping),
            remedy:
                "name one map; ftlab run takes several, and experiment files on an axis of [grid]"
                    .into(),
        })
    }

    fn check_map(&self, mapping: &Mapping) -> Result<(), SimError> {
        let refuse = |what: &str, remedy: &str| {
            Err(SimError::Unusable {
                what: format!("--mapping {mapping}: {what}"),
                remedy: remedy.into(),
            })
        };
        for ftl in &self.ftls {
            let name = ftl.name.as_str();
            if mapping.has_units() && self.policies.hints(ftl)? == Hints::Lifetimes {
                return refuse(
                    &format!("how long units live, as {name} is told of pages, is not known"),
                    "leave out that FTL, or units",
                );
            }
            if name.split('/').next() == Some("nvme-fdp") {
                return refuse(
                    "placement handles have streams of their own, and none for translation pages",
                    "leave out nvme-fdp, or use --mapping full",
                );
            }
            if self.policies.maps_blocks(ftl)? {
                return refuse(
                    &format!("{name} maps blocks and a log, and keeps that in memory"),
                    "name page-mapped FTLs only, or use --mapping full",
                );
            }
        }
        if mapping.has_units() && self.faults.is_some() {
            return refuse(
                "units of which a part fails to be programmed are not simulated",
                "leave out --faults, or units",
            );
        }
        if self.drive.slc_cache.is_some() {
            return refuse(
                "an SLC cache would need a map of its own",
                "leave out --slc-cache, or use --mapping full",
            );
        }
        Ok(())
    }

    /// Refuses units where the drive does not see which pages are of one request, and two buffers.
    pub(super) fn check_units(&self, timing: Option<&Timing>) -> Result<(), SimError> {
        let Some(timing) = timing else { return Ok(()) };
        let with = |is: fn(&Mapping) -> bool| self.drive.mapping.each().iter().find(|it| is(it));
        let (of_units, buffered) = (with(Mapping::has_units), with(Mapping::has_buffer));
        let (mapping, what, remedy) = if let Some(units) = of_units
            && !timing.has_requests()
        {
            let what = "a host that waits for single pages does not say which are of one unit";
            (units, what, "add unit=request to --timing, or leave out units")
        } else if let Some(units) = of_units
            && timing.has_write_buffer()
        {
            let what = "a write buffer hands over pages one by one, and none would be a whole unit";
            (units, what, "leave out write-buffer, or units")
        } else if let Some(mapping) = buffered
            && timing.has_write_buffer()
        {
            let what =
                "it has a buffer of its own, and a write buffer waits until pages are programmed";
            (mapping, what, "leave out write-buffer, or add buffer=1 to --mapping")
        } else {
            return Ok(());
        };
        Err(SimError::Unusable {
            what: format!("--mapping {mapping}: {what}"),
            remedy: remedy.into(),
        })
    }

    /// Refuses to tell tenants apart where there is only one.
    pub(super) fn check_tenants(
        &self,
        timing: Option<&Timing>,
        hosts: Option<&WhichHosts>,
    ) -> Result<(), SimError> {
        let Some(timing) = timing else { return Ok(()) };
        let option = match (timing.by().tenant, timing.arbitration()) {
            (true, _) => "by=tenant",
            (false, Some(_)) => "slots",
            (false, None) => return Ok(()),
        };
        if matches!(hosts, Some(WhichHosts::Jobs(..))) {
            return Ok(());
        }
        Err(SimError::Unusable {
            what: format!("{option}: {} is a single tenant here", self.workload.name()),
            remedy: "use a job file of fio in a closed loop, whose jobs are tenants".into(),
        })
    }
}

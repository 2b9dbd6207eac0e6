//! An FTL over flash: with or without a clock, that fails or does not.

use crate::error::StackError;
use crate::page_ages::{Moves, PAGE_BYTES, PageAges};
use crate::picture::{self, Picture};
use crate::policies::OwnPolicies;
use crate::slc_cache::{SlcCache, SlcCached};
use crate::steps::{Step, StepRecorder};
use crate::stop::Stop;
use crate::tally::Tally;
use crate::watch::Watch;
use crate::watching::Watching;
use ftlab_flash::{Chip, Failures, Faults, Faulty, Geometry, NoPayload};
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry::{self, DynFtl};
use ftlab_ftl::{
    Broken, ChosenRule, MemoryBytes, Metadata, PageBatch, PlacementHandles, StreamUse,
};
use ftlab_host::{Host, HostedFlash, Interval, Measured, RequestPart, Timing};
use ftlab_spec::Spec;

// The tests of this crate need not compile the engine for every policy once more.
#[cfg(all(feature = "specialized", not(test)))]
use ftlab_ftl::registry::build;
#[cfg(any(not(feature = "specialized"), test))]
use ftlab_ftl::registry::build_boxed as build;

/// An FTL of any kind over flash of any kind. Flash without a clock that never fails compiles away, and
/// so does watching pages over it; flash that fails, or whose pages are watched, always has a clock, which
/// nobody reads if time is not simulated.
pub struct AnyFtl {
    kind: Kind,
    /// Who asks for pages, if time is simulated.
    host: Option<Host>,
}

/// Watches pages too, if that is wanted.
type PageWatch = (Watch, Option<PageAges>);

/// With the feature `specialized`, the first two are compiled for every policy. Runs with failures are few, so theirs
/// have the policy in a box: each call of it costs them, and a third of the machine code is saved.
enum Kind {
    Plain(DynFtl<NoPayload, Watch>),
    Timed(DynFtl<HostedFlash<NoPayload>, PageWatch>),
    Faulty(DynFtl<HostedFlash<Faulty<NoPayload>>, PageWatch>),
    /// Small drives only: the policy is in a box, too.
    Recorded(DynFtl<NoPayload, (Watch, StepRecorder)>),
}

/// Calls the same method of any.
macro_rules! any {
    ($kind:expr, $ftl:ident => $call:expr) => {
        match $kind {
            Kind::Plain($ftl) => $call,
            Kind::Timed($ftl) => $call,
            Kind::Faulty($ftl) => $call,
            Kind::Recorded($ftl) => $call,
        }
    };
}

/// Calls the same method of the host and its FTL, if time is simulated.
macro_rules! hosted {
    ($any_ftl:expr, $host:ident, $ftl:ident => $call:expr) => {
        match $any_ftl {
            AnyFtl { host: None, .. } | AnyFtl { kind: Kind::Plain(_) | Kind::Recorded(_), .. } => {
                None
            }
            AnyFtl { kind: Kind::Timed($ftl), host: Some($host) } => Some($call),
            AnyFtl { kind: Kind::Faulty($ftl), host: Some($host) } => Some($call),
        }
    };
}

impl AnyFtl {
    /// Bytes that watching the pages of a drive takes for each logical page.
    pub const WATCH_PAGE_BYTES: u64 = PAGE_BYTES;

    /// Makes the FTL that `spec` names, of `policies` or the registry; its parameters are fitted to the
    /// drive. Without `timing` there is no clock, and without `faults` nothing fails.
    pub fn new(
        spec: &Spec,
        policies: &OwnPolicies,
        mapping: &Mapping,
        config: DriveConfig,
        timing: Option<&Timing>,
        faults: Option<Faults>,
        watches_pages: bool,
    ) -> Result<Self, StackError> {
        let ftl = (spec, mapping);
        let geometry: Geometry = config.geometry;
        let watch = Watch::new(geometry.blocks(), geometry.pages_per_block());
        if timing.is_none() && faults.is_none() && !watches_pages {
            let kind = Kind::Plain(policies.build(build, ftl, config, NoPayload, watch)?);
            return Ok(Self { kind, host: None });
        }
        let has_host = timing.is_some();
        let timing = timing.cloned().unwrap_or_default();
        let host_of = |chip: &Chip| has_host.then(|| Host::new(&timing, chip, &geometry));
        let ages = watches_pages.then(|| PageAges::new(config.logical_pages));
        let watch = (watch, ages);
        let (kind, host) = match faults {
            None => {
                let flash = timing.over(NoPayload, &geometry);
                let host = host_of(flash.chip());
                (Kind::Timed(policies.build(build, ftl, config, flash, watch)?), host)
            }
            Some(faults) => {
                let faulty = Faulty::new(NoPayload, &geometry, faults);
                let flash = timing.over(faulty, &geometry);
                let (host, build) = (host_of(flash.chip()), registry::build_boxed);
                (Kind::Faulty(policies.build(build, ftl, config, flash, watch)?), host)
            }
        };
        Ok(Self { kind, host })
    }

    /// Puts an SLC cache before the FTL, on a drive like this: its blocks come on top. The timing has to have [SLC
    /// pages](Timing::with_slc_pages).
    pub fn with_slc_cache(
        self,
        options: SlcCache,
        config: &DriveConfig,
    ) -> Result<Self, StackError> {
        let Some(blocks) = options.blocks(&config.geometry) else {
            return Err(StackError::Name {
                what: format!("an SLC cache of {} does not fit on this flash", options.size),
                remedy: "give a smaller size, or larger blocks (--pages-per-block)",
            });
        };
        let Self { kind, host } = self;
        let (geometry, logical) = (&config.geometry, config.logical_pages);
        let kind = match kind {
            Kind::Plain(ftl) => {
                Kind::Plain(Box::new(SlcCached::new(ftl, options, geometry, logical, blocks)))
            }
            Kind::Timed(ftl) => {
                Kind::Timed(Box::new(SlcCached::new(ftl, options, geometry, logical, blocks)))
            }
            Kind::Faulty(_) | Kind::Recorded(_) => {
                return Err(StackError::Name {
                    what: "an SLC cache on flash that fails, or in a lesson, is not simulated"
                        .into(),
                    remedy: "leave out --faults or the cache",
                });
            }
        };
        Ok(Self { kind, host })
    }

    /// Makes the page-mapped FTL that `spec` names, of the registry, whose every step is recorded: for
    /// drives that are drawn page by page. Its parameters are fitted to the drive.
    pub fn recorded(spec: &Spec, config: DriveConfig) -> Result<Self, StackError> {
        let geometry: Geometry = config.geometry;
        let watch = Watch::new(geometry.blocks(), geometry.pages_per_block());
        let observer = (watch, StepRecorder::default());
        let ftl = registry::build_page_mapped(spec, config, NoPayload, observer)?;
        Ok(Self { kind: Kind::Recorded(ftl), host: None })
    }

    /// The steps so far, in order; none unless they are recorded.
    pub fn steps(&self) -> &[Step] {
        any!(&self.kind, ftl => ftl.observer().steps())
    }

    /// Carries out the writes and trims of a batch. `arrivals_us` has the arrival of each write; it is
    /// empty unless writes arrive by the clock of a trace.
    pub fn apply(&mut self, batch: &PageBatch, arrivals_us: &[u64]) -> Result<(), Stop> {
        let hosted = hosted!(self, host, ftl => host.write_pages(&mut **ftl, batch, arrivals_us).map_err(Stop::from));
        hosted.unwrap_or_else(|| self.apply_without_host(batch))
    }

    /// Carries out a batch that arrives at one time of the clock, in nanoseconds; when the last of its writes is
    /// complete, or 0 if it has none or there is no clock.
    pub fn apply_at(&mut self, batch: &PageBatch, arrival_ns: u64) -> Result<u64, Stop> {
        let hosted = hosted!(self, host, ftl => host.write_pages_at(&mut **ftl, batch, arrival_ns).map_err(Stop::from));
        hosted.unwrap_or_else(|| self.apply_without_host(batch).map(|()| 0))
    }

    fn apply_without_host(&mut self, batch: &PageBatch) -> Result<(), Stop> {
        any!(&mut self.kind, ftl => ftl.apply(batch).map_err(Stop::from))
    }

    /// Carries out parts of requests, in order, whose writes are those of `batch`. Without a clock it does
    /// nothing.
    pub fn serve(&mut self, batch: &PageBatch, parts: &[RequestPart]) -> Result<(), Stop> {
        hosted!(self, host, ftl => host.serve(&mut **ftl, batch, parts).map_err(Stop::from))
            .unwrap_or(Ok(()))
    }

    /// Passes time until a request of a host is complete, at most to `until_ns`: which host, and when.
    pub fn await_hosts(&mut self, until_ns: u64) -> Result<Option<(u32, u64)>, Stop> {
        hosted!(self, host, ftl => host.await_any(&mut **ftl, until_ns).map_err(Stop::from))
            .unwrap_or(Ok(None))
    }

    /// Writes everything that is in the write buffer.
    pub fn empty_buffer(&mut self) -> Result<(), Stop> {
        hosted!(self, host, ftl => host.write_buffered(&mut **ftl).map_err(Stop::from))
            .unwrap_or(Ok(()))
    }

    /// Requests and operations of the flash that are not complete.
    pub fn pending(&mut self) -> usize {
        hosted!(self, host, ftl => host.pending() + ftl.flash().chip().pending()).unwrap_or(0)
    }

    /// When everything so far is complete, in nanoseconds; none without a clock.
    pub fn end_ns(&mut self) -> Option<u64> {
        hosted!(self, _host, ftl => ftl.flash().chip().end_ns())
    }

    /// Measures time from here on.
    pub fn measure(&mut self) {
        hosted!(self, host, ftl => host.measure(ftl.flash_mut()));
    }

    /// The time since the last interval; none without a clock.
    pub fn end_interval(&mut self) -> Option<Interval> {
        hosted!(self, host, ftl => host.end_interval(ftl.flash_mut()))
    }

    /// The time that was measured; none without a clock.
    pub fn measured(&mut self) -> Option<Measured> {
        hosted!(self, host, ftl => host.measured(ftl.flash()))
    }

    /// What has failed so far.
    pub fn failures(&mut self) -> Failures {
        match &mut self.kind {
            Kind::Faulty(ftl) => ftl.flash_mut().below().failures(),
            Kind::Plain(_) | Kind::Timed(_) | Kind::Recorded(_) => Failures::default(),
        }
    }

    /// Blocks out of use, those bad from birth included.
    pub fn retired_blocks(&self) -> u32 {
        any!(&self.kind, ftl => ftl.retired_blocks())
    }

    /// What has been counted.
    pub fn tally(&self) -> Tally {
        let counters = any!(&self.kind, ftl => ftl.counters());
        let [absorbed, buffered] = self.host.as_ref().map_or([0; 2], Host::absorbed);
        let map = any!(&self.kind, ftl => ftl.map_counts()).unwrap_or_default();
        Tally {
            host_pages: counters.host_writes + absorbed + buffered + map.waiting,
            refreshed: any!(&self.kind, ftl => ftl.refreshed()),
            slc: any!(&self.kind, ftl => ftl.slc_counts()).unwrap_or_default(),
            map,
            counters,
        }
    }

    /// Whether its map does not fit into memory, or is one of units.
    pub fn counts_map(&self) -> bool {
        any!(&self.kind, ftl => ftl.map_counts()).is_some()
    }

    /// Pages that its map takes on flash at most.
    pub fn map_pages(&self) -> u32 {
        any!(&self.kind, ftl => ftl.map_pages())
    }

    /// The streams that the FTL keeps apart, with their blocks.
    pub fn streams(&self) -> Vec<StreamUse> {
        any!(&self.kind, ftl => ftl.streams())
    }

    /// Groups of pages alike in temperature that it keeps at present; none if their number never changes.
    pub fn groups(&self) -> Option<u32> {
        any!(&self.kind, ftl => ftl.groups())
    }

    /// The rule by which it decides at present, if it chooses among several.
    pub fn rule(&self) -> Option<ChosenRule> {
        any!(&self.kind, ftl => ftl.rule())
    }

    /// Its placement handles, if it has some.
    pub fn placement_handles(&self) -> Option<PlacementHandles> {
        any!(&self.kind, ftl => ftl.placement_handles())
    }

    /// Memory that it takes here.
    pub fn memory_bytes(&self) -> MemoryBytes {
        any!(&self.kind, ftl => ftl.memory_bytes())
    }

    /// What the algorithm has to remember beside what every FTL keeps.
    pub fn metadata(&self) -> Metadata {
        any!(&self.kind, ftl => ftl.metadata())
    }

    /// Whether its tables agree with each other; a walk over all of them.
    pub fn check(&self) -> Result<(), Broken> {
        any!(&self.kind, ftl => ftl.check())
    }

    /// What was watched of victims and erases.
    pub fn watch(&self) -> &Watch {
        any!(&self.kind, ftl => ftl.observer().watch())
    }

    /// Counts moves of pages from here on, if pages are watched.
    pub fn count_moves(&mut self) {
        let ages = any!(&mut self.kind, ftl => ftl.observer_mut().ages_mut());
        ages.into_iter().for_each(PageAges::begin);
    }

    /// The moves of pages so far; none if pages are not watched.
    pub fn moves(&self) -> Option<Moves> {
        self.ages().map(PageAges::moves)
    }

    /// The flash as it is now; none if pages are not watched.
    pub fn picture(&self, geometry: &Geometry) -> Option<Picture> {
        let ages = self.ages()?;
        Some(any!(&self.kind, ftl => picture::take(&**ftl, geometry, ages)))
    }

    fn ages(&self) -> Option<&PageAges> {
        any!(&self.kind, ftl => ftl.observer().ages())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::workload;
    use ftlab_ftl::registry::{DriveShape, OracleGroup, ftl_names, policy_names};

    const LOGICAL_PAGES: u32 = 1024;

    #[test]
    fn every_ftl_does_the_same_over_any_flash() {
        let own = OwnPolicies::default();
        let drive = DriveConfig::new(Geometry::new(128, 16, 4096).unwrap(), LOGICAL_PAGES, 6);
        let oracle = [0.1, 0.9].map(|pages| OracleGroup { pages, writes: 1.0 - pages });
        let workload = workload(LOGICAL_PAGES, None);
        let retiring = policy_names();
        for name in ftl_names() {
            let shape = DriveShape::new(&drive);
            let spec = own.fit(&name.parse().unwrap(), shape, &oracle).unwrap();
            let counters = |timing: Option<Timing>, faults: Option<Faults>| {
                let mut ftl =
                    AnyFtl::new(&spec, &own, &Mapping::FULL, drive, timing.as_ref(), faults, false)
                        .unwrap();
                ftl.apply(&workload, &[]).unwrap();
                ftl.check().unwrap();
                ftl.tally().counters
            };
            let plain = counters(None, None);
            assert!(plain.erases() > 0, "{name}");
            assert_eq!(counters(Some(Timing::default()), None), plain, "{name}, timed");
            // Hybrid-mapped FTLs have nothing to put in the place of a block that fails.
            if retiring.contains(&name) {
                assert_eq!(counters(None, Some(Faults::default())), plain, "{name}, faulty");
            }
        }
    }
}

//! An FTL over flash: with or without a clock, that fails or does not.

use crate::SimError;
use crate::feed::Segment;
use crate::frames;
use crate::lifetimes::{Lifetimes, Moves};
use crate::observe::{PageWatch, Watch};
use crate::policies::OwnPolicies;
use crate::result::Frame;
use ftlab_flash::{
    Failures, Faults, Faulty, Geometry, Interval, Measured, NoPayload, Timed, Timing,
};
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry::DynFtl;
use ftlab_ftl::{Broken, Counters, FtlError, MemoryBytes, Metadata, StreamUse};
use ftlab_spec::Spec;

/// What a lane runs. Flash without a clock that never fails compiles away, and so does watching pages
/// over it; flash that fails, or whose pages are watched, always has a clock, which nobody reads if time
/// is not simulated.
pub(crate) struct Machine {
    kind: Kind,
    has_clock: bool,
}

enum Kind {
    Plain(DynFtl<NoPayload, Watch>),
    Timed(DynFtl<Timed<NoPayload>, PageWatch>),
    Faulty(DynFtl<Timed<Faulty<NoPayload>>, PageWatch>),
}

/// Why an FTL does not go on.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Too many blocks are worn out.
    ReadOnly(String),
    /// Anything else: a bug.
    Error(String),
}

impl<E: std::error::Error> From<FtlError<E>> for Stop {
    fn from(error: FtlError<E>) -> Self {
        match error {
            FtlError::ReadOnly { .. } => Self::ReadOnly(error.to_string()),
            _ => Self::Error(error.to_string()),
        }
    }
}

/// Calls the same method of any.
macro_rules! any {
    ($machine:expr, $ftl:ident => $call:expr) => {
        match $machine {
            Kind::Plain($ftl) => $call,
            Kind::Timed($ftl) => $call,
            Kind::Faulty($ftl) => $call,
        }
    };
}

/// Calls the same method of the clock, if there is one.
macro_rules! clock {
    ($machine:expr, $clock:ident => $call:expr) => {
        match $machine {
            Machine { has_clock: false, .. } | Machine { kind: Kind::Plain(_), .. } => None,
            Machine { kind: Kind::Timed(ftl), .. } => {
                let $clock = ftl.flash_mut();
                Some($call)
            }
            Machine { kind: Kind::Faulty(ftl), .. } => {
                let $clock = ftl.flash_mut();
                Some($call)
            }
        }
    };
}

impl Machine {
    pub(crate) fn new(
        spec: &Spec,
        policies: &OwnPolicies,
        config: DriveConfig,
        timing: Option<&Timing>,
        faults: Option<Faults>,
        watches_pages: bool,
    ) -> Result<Self, SimError> {
        let geometry: Geometry = config.geometry;
        let has_clock = timing.is_some();
        let watch = Watch::new(geometry.blocks(), geometry.pages_per_block());
        if !has_clock && faults.is_none() && !watches_pages {
            let kind = Kind::Plain(policies.build(spec, config, NoPayload, watch)?);
            return Ok(Self { kind, has_clock });
        }
        let timing = timing.cloned().unwrap_or_default();
        let lifetimes = watches_pages.then(|| Lifetimes::new(config.logical_pages));
        let watch = PageWatch { watch, lifetimes };
        let kind = match faults {
            None => {
                let flash = Timed::new(NoPayload, &timing, &geometry);
                Kind::Timed(policies.build(spec, config, flash, watch)?)
            }
            Some(faults) => {
                let faulty = Faulty::new(NoPayload, &geometry, faults);
                let flash = Timed::new(faulty, &timing, &geometry);
                Kind::Faulty(policies.build(spec, config, flash, watch)?)
            }
        };
        Ok(Self { kind, has_clock })
    }

    /// Carries out the writes and trims of a segment.
    pub(crate) fn apply(&mut self, segment: &Segment) -> Result<(), Stop> {
        clock!(self, clock => clock.expect(&segment.arrivals_us));
        any!(&mut self.kind, ftl => ftl.apply(&segment.batch).map_err(Stop::from))
    }

    /// Measures time from here on.
    pub(crate) fn measure(&mut self) {
        clock!(self, clock => clock.measure());
    }

    /// The time since the last interval; none without a clock.
    pub(crate) fn end_interval(&mut self) -> Option<Interval> {
        clock!(self, clock => clock.end_interval())
    }

    /// The time that was measured; none without a clock.
    pub(crate) fn measured(&mut self) -> Option<Measured> {
        clock!(self, clock => clock.measured())
    }

    /// What has failed so far.
    pub(crate) fn failures(&mut self) -> Failures {
        match &mut self.kind {
            Kind::Faulty(ftl) => ftl.flash_mut().below().failures(),
            Kind::Plain(_) | Kind::Timed(_) => Failures::default(),
        }
    }

    pub(crate) fn retired_blocks(&self) -> u32 {
        any!(&self.kind, ftl => ftl.retired_blocks())
    }

    pub(crate) fn counters(&self) -> Counters {
        any!(&self.kind, ftl => ftl.counters())
    }

    pub(crate) fn streams(&self) -> Vec<StreamUse> {
        any!(&self.kind, ftl => ftl.streams())
    }

    pub(crate) fn memory_bytes(&self) -> MemoryBytes {
        any!(&self.kind, ftl => ftl.memory_bytes())
    }

    pub(crate) fn metadata(&self) -> Metadata {
        any!(&self.kind, ftl => ftl.metadata())
    }

    pub(crate) fn check(&self) -> Result<(), Broken> {
        any!(&self.kind, ftl => ftl.check())
    }

    pub(crate) fn watch(&self) -> &Watch {
        match &self.kind {
            Kind::Plain(ftl) => ftl.observer(),
            Kind::Timed(ftl) => &ftl.observer().watch,
            Kind::Faulty(ftl) => &ftl.observer().watch,
        }
    }

    /// Counts moves of pages from here on, if pages are watched.
    pub(crate) fn count_moves(&mut self) {
        let lifetimes = match &mut self.kind {
            Kind::Plain(_) => None,
            Kind::Timed(ftl) => ftl.observer_mut().lifetimes.as_mut(),
            Kind::Faulty(ftl) => ftl.observer_mut().lifetimes.as_mut(),
        };
        lifetimes.into_iter().for_each(Lifetimes::begin);
    }

    /// The moves of pages so far; none if pages are not watched.
    pub(crate) fn moves(&self) -> Option<Moves> {
        self.lifetimes().map(Lifetimes::moves)
    }

    /// The flash as it is now; none if pages are not watched.
    pub(crate) fn picture(&self, geometry: &Geometry, host_writes: u64) -> Option<Frame> {
        let lifetimes = self.lifetimes()?;
        Some(any!(&self.kind, ftl => frames::take(&**ftl, geometry, lifetimes, host_writes)))
    }

    fn lifetimes(&self) -> Option<&Lifetimes> {
        match &self.kind {
            Kind::Plain(_) => None,
            Kind::Timed(ftl) => ftl.observer().lifetimes.as_ref(),
            Kind::Faulty(ftl) => ftl.observer().lifetimes.as_ref(),
        }
    }
}

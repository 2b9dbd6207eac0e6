//! An FTL over flash with or without a clock.

use crate::feed::Segment;
use crate::observe::Watch;
use ftlab_flash::{Flash, Geometry, Interval, Measured, NoPayload, Timed, Timing};
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry::{self, BuildError, DynFtl};
use ftlab_ftl::{Broken, Counters, FtlError, MemoryBytes, Metadata, StreamUse};
use ftlab_spec::Spec;

/// What a lane runs. Without a clock, flash compiles away.
pub(crate) enum Machine {
    Plain(DynFtl<NoPayload, Watch>),
    Timed(DynFtl<Timed<NoPayload>, Watch>),
}

/// Calls the same method of either.
macro_rules! either {
    ($machine:expr, $ftl:ident => $call:expr) => {
        match $machine {
            Machine::Plain($ftl) => $call,
            Machine::Timed($ftl) => $call,
        }
    };
}

impl Machine {
    pub(crate) fn new(
        spec: &Spec,
        config: DriveConfig,
        timing: Option<&Timing>,
    ) -> Result<Self, BuildError> {
        let geometry: Geometry = config.geometry;
        let watch = Watch::new(geometry.blocks(), geometry.pages_per_block());
        Ok(match timing {
            None => Self::Plain(registry::build(spec, config, NoPayload, watch)?),
            Some(timing) => {
                let flash = Timed::new(NoPayload, timing, &geometry);
                Self::Timed(registry::build(spec, config, flash, watch)?)
            }
        })
    }

    /// Carries out the writes and trims of a segment.
    pub(crate) fn apply(
        &mut self,
        segment: &Segment,
    ) -> Result<(), FtlError<<NoPayload as Flash>::Error>> {
        if let Self::Timed(ftl) = self {
            ftl.flash_mut().expect(&segment.arrivals_us);
        }
        either!(self, ftl => ftl.apply(&segment.batch))
    }

    /// Measures time from here on.
    pub(crate) fn measure(&mut self) {
        if let Self::Timed(ftl) = self {
            ftl.flash_mut().measure();
        }
    }

    /// The time since the last interval; none without a clock.
    pub(crate) fn end_interval(&mut self) -> Option<Interval> {
        match self {
            Self::Plain(_) => None,
            Self::Timed(ftl) => Some(ftl.flash_mut().end_interval()),
        }
    }

    /// The time that was measured; none without a clock.
    pub(crate) fn measured(&mut self) -> Option<Measured> {
        match self {
            Self::Plain(_) => None,
            Self::Timed(ftl) => Some(ftl.flash_mut().measured()),
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        either!(self, ftl => ftl.counters())
    }

    pub(crate) fn streams(&self) -> Vec<StreamUse> {
        either!(self, ftl => ftl.streams())
    }

    pub(crate) fn memory_bytes(&self) -> MemoryBytes {
        either!(self, ftl => ftl.memory_bytes())
    }

    pub(crate) fn metadata(&self) -> Metadata {
        either!(self, ftl => ftl.metadata())
    }

    pub(crate) fn check(&self) -> Result<(), Broken> {
        either!(self, ftl => ftl.check())
    }

    pub(crate) fn observer(&self) -> &Watch {
        either!(self, ftl => ftl.observer())
    }
}

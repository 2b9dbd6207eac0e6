//! Hosts over chips.

use ftlab_flash::{Geometry, NoPayload, Ppn};
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry::{self, DynFtl};
use ftlab_ftl::{Counters, PageBatch};
use ftlab_host::{
    Arrival, BufferedWrite, Host, HostOp, HostedFlash, Interval, Measured, Step, Timing,
};
use ftlab_spec::Spec;
use std::ops::{Deref, DerefMut};

/// A host, and flash without an FTL: tests ask for its pages themselves.
#[derive(Clone)]
pub(crate) struct BareDrive {
    host: Host,
    flash: HostedFlash<NoPayload>,
    by_request: bool,
    /// When the last request was complete that has ended.
    done_ns: u64,
}

impl BareDrive {
    pub(crate) fn new(timing: &Timing, geometry: &Geometry) -> Self {
        let flash = timing.over(NoPayload, geometry);
        let host = Host::new(timing, flash.chip(), geometry);
        Self { host, flash, by_request: timing.has_requests(), done_ns: 0 }
    }

    pub(crate) fn begin_request(&mut self, op: HostOp, arrival: Arrival) -> Step {
        self.host.begin_request(&mut self.flash, op, arrival)
    }

    pub(crate) fn read_for_host(&mut self, from: Option<Ppn>) {
        self.host.read(self.flash.chip_mut(), from);
    }

    pub(crate) fn buffer_write(&mut self, write: BufferedWrite) -> bool {
        self.host.buffer_write(self.flash.chip(), write)
    }

    pub(crate) fn empty_buffer(&mut self) -> Option<BufferedWrite> {
        self.host.empty_buffer(self.flash.chip_mut())
    }

    pub(crate) fn end_request(&mut self) {
        self.done_ns = self.host.end_request(self.flash.chip_mut()).max(self.done_ns);
    }

    /// When the last of what was asked for since the last call is complete.
    pub(crate) fn take_done_ns(&mut self) -> u64 {
        if self.by_request {
            return std::mem::take(&mut self.done_ns);
        }
        self.flash.chip_mut().take_answer().done_ns.unwrap_or(0)
    }

    pub(crate) fn measure(&mut self) {
        self.host.measure(&mut self.flash);
    }

    pub(crate) fn measured(&self) -> Measured {
        self.host.measured(&self.flash)
    }

    pub(crate) fn end_interval(&mut self) -> Interval {
        self.host.end_interval(&mut self.flash)
    }
}

impl Deref for BareDrive {
    type Target = HostedFlash<NoPayload>;

    fn deref(&self) -> &Self::Target {
        &self.flash
    }
}

impl DerefMut for BareDrive {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.flash
    }
}

/// A host that writes pages to an FTL.
pub(crate) struct Written {
    pub(crate) ftl: DynFtl<HostedFlash<NoPayload>, ()>,
    host: Host,
}

impl Written {
    /// The FTL that `spec` names.
    pub(crate) fn new(spec: &Spec, config: DriveConfig, timing: &str) -> Self {
        let timing = Timing::from_spec(&timing.parse().unwrap()).unwrap();
        let flash = timing.over(NoPayload, &config.geometry);
        let host = Host::new(&timing, flash.chip(), &config.geometry);
        Self { ftl: registry::build_boxed(spec, config, flash, ()).unwrap(), host }
    }

    pub(crate) fn write(&mut self, batch: &PageBatch) {
        self.host.write_pages(&mut *self.ftl, batch, &[]).unwrap();
    }

    pub(crate) fn measure(&mut self) {
        self.host.measure(self.ftl.flash_mut());
    }

    pub(crate) fn measured(&self) -> Measured {
        self.host.measured(self.ftl.flash())
    }

    pub(crate) fn counters(&self) -> Counters {
        self.ftl.counters()
    }
}

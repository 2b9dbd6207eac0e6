//! How long flash operations take, by the name of a chip.

use crate::write_buffer::WriteBuffer;
use ftlab_spec::{Parameter, Parameters, Spec, SpecError, Value};

ftlab_spec::choices! {
    /// Where the pages of an erase block are.
    pub enum Layout {
        /// The erase block is a superblock: page i of it is on LUN i mod n, and it is erased on all.
        Superblock = "superblock",
        /// Erase block b is on LUN b mod n as a whole.
        Block = "block",
    }
}

ftlab_spec::choices! {
    /// When the host asks for its next page write or request.
    pub enum Arrivals {
        /// As soon as one of `queue-depth` earlier ones is complete: a closed loop.
        Closed = "closed",
        /// At the time of the request in the trace, however many are not complete: an open loop.
        Trace = "trace",
        /// At random, `rate` a second on average, independent of each other and of the drive: an open loop.
        Poisson = "poisson",
    }
}

ftlab_spec::choices! {
    /// What the host asks for, and waits for, as one.
    pub enum Unit {
        /// A page write; reads, trims and flushes take no time.
        Page = "page",
        /// A request, of any operation: its pages go out at once, and it is complete when all of them are.
        Request = "request",
    }
}

ftlab_spec::choices! {
    /// What a LUN does next.
    pub enum Priority {
        /// What it was asked for first; it waits until that can begin.
        None = "none",
        /// The same, and nothing waits for anything but its LUN, as FEMU has it.
        Femu = "femu",
        /// Reads before programs before erases, of those that can begin.
        ReadFirst = "read-first",
    }
}

ftlab_spec::choices! {
    /// With priority=read-first: where collections come.
    pub enum GcPriority {
        /// Their reads and programs are like those of the host.
        Same = "same",
        /// After everything that the host asked for.
        Last = "last",
        /// Before everything that the host asked for, but for erases, which come after reads.
        First = "first",
    }
}

ftlab_spec::choices! {
    /// With priority=read-first: what a read of the host interrupts.
    pub enum Suspend {
        /// Nothing.
        Off = "off",
        /// Programs.
        Programs = "programs",
        /// Erases.
        Erases = "erases",
        /// Programs and erases.
        Both = "both",
    }
}

impl Suspend {
    pub(crate) fn programs(self) -> bool {
        matches!(self, Self::Programs | Self::Both)
    }

    pub(crate) fn erases(self) -> bool {
        matches!(self, Self::Erases | Self::Both)
    }
}

ftlab_spec::parameters! {
    /// Parameters of a timing; times are per page of the simulated drive, whatever its size.
    pub struct TimingParameters {
        /// Microseconds to read a page from the cells.
        read_us: f64 = 25.0, "read-us" in 0.0..=1e9, from "FASTer (SNAPI 2010), table I";
        /// Microseconds to program a page.
        program_us: f64 = 200.0, "program-us" in 0.0..=1e9, from "FASTer (SNAPI 2010), table I";
        /// Microseconds to erase a block.
        erase_us: f64 = 1500.0, "erase-us" in 0.0..=1e9, from "FASTer (SNAPI 2010), table I";
        /// Microseconds to transfer a page over its channel, in or out.
        transfer_us: f64 = 0.0, "transfer-us" in 0.0..=1e9, from "FASTer (SNAPI 2010) counts none";
        /// Channels, each used by one transfer at a time.
        channels: u32 = 1, "channels" in 1..=1024, from "one, as FASTer (SNAPI 2010) counts";
        /// LUNs on a channel, each used by one operation at a time.
        luns: u32 = 1, "luns" in 1..=1024, from "one, as FASTer (SNAPI 2010) counts";
        /// Where the pages of an erase block are.
        layout: Layout = Layout::Superblock, "layout", from "our choice";
        /// When the host asks for its next page write, or request with unit=request.
        arrivals: Arrivals = Arrivals::Closed, "arrivals", from "our choice";
        /// With arrivals=closed: page writes that the host has under way at once, or requests with
        /// unit=request.
        queue_depth: u32 = 1, "queue-depth" in 1..=65536, from "our choice";
        /// With arrivals=trace: how much faster than recorded the requests come.
        speed_up: f64 = 1.0, "speed-up" in 1e-6..=1e6, from "as recorded";
        /// With arrivals=poisson: page writes a second, or requests with unit=request.
        rate: f64 = 1000.0, "rate" in 1e-3..=1e9, from "our choice";
        /// With arrivals=poisson: the seed of the times between them.
        arrivals_seed: u64 = 1, "arrivals-seed", from "our choice";
        /// What the host waits for.
        unit: Unit = Unit::Page, "unit", from "papers on write amplification count page writes";
        /// What a LUN does next.
        priority: Priority = Priority::None, "priority", from "our choice";
        /// A buffer of pages that the host has written and the flash has not: a size, maybe with parts: plp=off
        /// if it does not survive a loss of power, ack=program if the host is told of a page when that is in
        /// flash, keep=50% to leave so much of it there to be rewritten.
        write_buffer: WriteBuffer = WriteBuffer::OFF, "write-buffer", from "none, as papers on write amplification";
        /// With priority=read-first: where the operations of collections come.
        gc_priority: GcPriority = GcPriority::Same, "gc-priority", from "our choice";
        /// With priority=read-first: what reads of the host interrupt.
        suspend: Suspend = Suspend::Off, "suspend", from "our choice";
        /// Microseconds that an interruption takes, before the read and after it together.
        suspend_us: f64 = 5.0, "suspend-us" in 0.0..=1e6, from "our choice";
        /// How often the same program or erase may be interrupted; 0 for any number of times.
        suspend_max: u32 = 0, "suspend-max", from "our choice";
        /// With unit=request: whether to tell what requests waited for, at each percentile.
        waits: bool = false, "waits", from "our choice";
    }
}

/// A chip or drive whose times are known.
#[derive(Debug, Clone, Copy)]
pub struct TimingPreset {
    /// Its name.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where its times come from.
    pub source: &'static str,
    arguments: &'static str,
}

/// Every preset. Cells of more than one bit have slow and fast pages; we take the mean.
pub const TIMINGS: [TimingPreset; 6] = [
    TimingPreset {
        name: "slc",
        summary: "an SLC chip of 2010: 25 us to read, 200 us to program, 1.5 ms to erase",
        source: "FASTer (SNAPI 2010), table I",
        arguments: "",
    },
    TimingPreset {
        name: "mlc",
        summary: "Micron L95B MLC: 56 us, 1,575 us (both means of 2 kinds of pages), 3 ms",
        source: "FEMU, nand.h, as profiled there",
        arguments: "read-us=56,program-us=1575,erase-us=3000,transfer-us=52.433",
    },
    TimingPreset {
        name: "tlc",
        summary: "planar TLC: 80 us, 2,926.5 us (both means of 3 kinds of pages), 3 ms",
        source: "FEMU, nand.h, after SimpleSSD (IEEE CAL 2018)",
        arguments: "read-us=80,program-us=2926.5,erase-us=3000,transfer-us=52.433",
    },
    TimingPreset {
        name: "qlc",
        summary: "QLC: 110.344 us, 4,841.056 us (both means of 4 kinds of pages), 3 ms",
        source: "FEMU, nand.h, extrapolated there from TLC after Micron (FMS 2019)",
        arguments: "read-us=110.344,program-us=4841.056,erase-us=3000,transfer-us=52.433",
    },
    TimingPreset {
        name: "femu",
        summary: "FEMU's black-box SSD as it comes: 40 us, 200 us, 2 ms, 8 channels x 8 LUNs",
        source: "FEMU (FAST 2018), defaults of bbssd",
        arguments: "read-us=40,program-us=200,erase-us=2000,channels=8,luns=8",
    },
    TimingPreset {
        name: "enterprise",
        summary: "an NVMe drive for data centres, 64 KiB pages of 3D TLC: 40.95 us, 637.88 us (a third \
                  of a one-shot program), 3.5 ms, 800 MB/s on each of 8 channels x 16 LUNs",
        source: "NVMeVirt (FAST 2023), SK hynix ZNS prototype; erase: AERO (ASPLOS 2024), abstract",
        arguments: "read-us=40.95,program-us=637.88,erase-us=3500,transfer-us=81.92,channels=8,luns=16",
    },
];

impl TimingPreset {
    /// The parameters with the values that the preset gives them.
    pub fn parameters(&self) -> Vec<Parameter> {
        let preset = self.spec();
        let mut parameters = TimingParameters::describe();
        for parameter in &mut parameters {
            if let Some(value) = preset.get(parameter.name) {
                value.clone_into(&mut parameter.default);
                parameter.source = self.source;
            }
        }
        parameters
    }

    fn spec(&self) -> Spec {
        let text = match self.arguments {
            "" => self.name.to_owned(),
            arguments => format!("{}:{arguments}", self.name),
        };
        text.parse().expect("a preset of ours")
    }
}

/// How long operations take, where pages are, and when the host asks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timing {
    parameters: TimingParameters,
    /// How many of the slowest requests are kept with what LUNs did meanwhile.
    slowest: usize,
}

impl Timing {
    /// The timing that `spec` names, such as `slc:channels=4,luns=2`.
    pub fn from_spec(spec: &Spec) -> Result<Self, SpecError> {
        let Some(preset) = TIMINGS.iter().find(|preset| preset.name == spec.name) else {
            return Err(SpecError::UnknownName {
                kind: "timing",
                name: spec.name.clone(),
                known: TIMINGS.iter().map(|preset| preset.name.to_owned()).collect(),
            });
        };
        // What is given after the preset overrides it.
        let mut full = preset.spec();
        full.arguments.retain(|(key, _)| spec.get(key).is_none());
        full.arguments.extend(spec.arguments.iter().cloned());
        let parameters = TimingParameters::from_spec(&full)?;
        check(&spec.name, &parameters)?;
        Ok(Self { parameters, slowest: 0 })
    }

    /// Keeps so many of the slowest requests, with what LUNs did meanwhile; for requests only.
    #[must_use]
    pub fn keep_slowest(mut self, count: usize) -> Self {
        self.slowest = count;
        self
    }

    pub(crate) fn slowest(&self) -> usize {
        self.slowest
    }

    /// Every parameter with its value.
    pub fn values(&self) -> Vec<(&'static str, String)> {
        self.parameters.values()
    }

    /// When the host asks for its next page write or request.
    pub fn arrivals(&self) -> Arrivals {
        self.parameters.arrivals
    }

    /// What the host waits for.
    pub fn unit(&self) -> Unit {
        self.parameters.unit
    }

    /// Whether it is known when an operation will be complete as soon as it is asked for: no other overtakes
    /// it, and no buffer delays it.
    pub fn is_foreseeable(&self) -> bool {
        self.parameters.priority != Priority::ReadFirst
            && self.parameters.write_buffer.bytes.is_none()
    }

    pub(crate) fn parameters(&self) -> &TimingParameters {
        &self.parameters
    }
}

/// Refuses what does nothing without something else.
fn check(of: &str, parameters: &TimingParameters) -> Result<(), SpecError> {
    let TimingParameters { arrivals, unit, priority, gc_priority, suspend, write_buffer, .. } =
        parameters;
    let by_request = "possible for single page writes; add unit=request";
    let by_choice =
        "possible for LUNs that do what they are asked for first; add priority=read-first";
    let wrong = if *arrivals == Arrivals::Poisson && *unit == Unit::Page {
        ("arrivals", arrivals.to_string(), by_request)
    } else if *priority == Priority::ReadFirst && *unit == Unit::Page {
        ("priority", priority.to_string(), by_request)
    } else if write_buffer.bytes.is_some() && *unit == Unit::Page {
        ("write-buffer", write_buffer.to_string(), by_request)
    } else if parameters.waits && *unit == Unit::Page {
        ("waits", parameters.waits.print(), by_request)
    } else if *gc_priority != GcPriority::Same && *priority != Priority::ReadFirst {
        ("gc-priority", gc_priority.to_string(), by_choice)
    } else if *suspend != Suspend::Off && *priority != Priority::ReadFirst {
        ("suspend", suspend.to_string(), by_choice)
    } else {
        return Ok(());
    };
    let (key, value, expects) = wrong;
    Err(SpecError::BadValue { of: of.into(), key: key.into(), value, expects: expects.into() })
}

/// Microseconds as whole nanoseconds.
pub(crate) fn nanoseconds(microseconds: f64) -> u64 {
    (microseconds * 1e3).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(text: &str) -> Result<TimingParameters, String> {
        let timing = Timing::from_spec(&text.parse().unwrap());
        timing.map(|timing| timing.parameters).map_err(|error| error.to_string())
    }

    #[test]
    fn every_preset_is_complete_and_can_be_overridden() {
        for preset in TIMINGS {
            let parameters = timing(preset.name).unwrap();
            let shown: Vec<_> =
                preset.parameters().into_iter().map(|p| (p.name, p.default)).collect();
            assert_eq!(parameters.values(), shown, "{}", preset.name);
            let faster = timing(&format!("{}:program-us=1,luns=3", preset.name)).unwrap();
            let given = TimingParameters { program_us: 1.0, luns: 3, ..parameters };
            assert_eq!(faster, given);
        }
    }

    #[test]
    fn wrong_names_and_values_are_errors_that_say_what_is_right() {
        assert!(timing("slcc").unwrap_err().contains("did you mean \"slc\"?"));
        assert!(timing("slc:lun=2").unwrap_err().contains("did you mean \"luns\"?"));
        assert_eq!(
            timing("slc:queue-depth=0").unwrap_err(),
            "slc: queue-depth=0 is not a whole number in 1..=65536"
        );
    }
}

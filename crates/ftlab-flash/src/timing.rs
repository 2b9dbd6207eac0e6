//! How long flash operations take, by the name of a chip.

use crate::by::By;
use crate::flash_page::FlashPage;
use crate::page_times::PageTimes;
use crate::read_retries::ReadRetries;
use crate::weights::Weights;
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
        /// A transaction of a database (tpcc, linkbench, ycsb): its page reads and writes and its log, which are
        /// requests, one after the other.
        Transaction = "transaction",
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

ftlab_spec::choices! {
    /// What the pages of a word line have to do with each other.
    pub enum PageTypes {
        /// Nothing: each takes the mean of their times.
        Mean = "mean",
        /// Each takes its own time.
        Each = "each",
        /// They are read each in its own time, and programmed at once, in the sum of their times.
        OneShot = "one-shot",
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
        /// Microseconds to read a page from the cells; with page-types, those of the pages of a word line, as 48/64.
        read_us: PageTimes = PageTimes::alike(25.0), "read-us", from "FASTer (SNAPI 2010), table I", of "chip";
        /// Microseconds to program a page; with page-types, those of the pages of a word line, as 850/2300.
        program_us: PageTimes = PageTimes::alike(200.0), "program-us", from "FASTer (SNAPI 2010), table I", of "chip";
        /// Microseconds to erase a block.
        erase_us: f64 = 1500.0, "erase-us" in 0.0..=1e9, from "FASTer (SNAPI 2010), table I", of "chip";
        /// Microseconds to read a page of an SLC cache from the cells.
        slc_read_us: f64 = 25.0, "slc-read-us" in 0.0..=1e9, from "SLC, as FASTer (SNAPI 2010), table I", of "chip";
        /// Microseconds to program a page of an SLC cache.
        slc_program_us: f64 = 200.0, "slc-program-us" in 0.0..=1e9, from "SLC, as FASTer (SNAPI 2010), table I", of "chip";
        /// Microseconds to transfer a page over its channel, in or out.
        transfer_us: f64 = 0.0, "transfer-us" in 0.0..=1e9, from "FASTer (SNAPI 2010) counts none", of "drive";
        /// Channels, each used by one transfer at a time.
        channels: u32 = 1, "channels" in 1..=1024, from "one, as FASTer (SNAPI 2010) counts", of "drive";
        /// LUNs on a channel, each used by one operation at a time.
        luns: u32 = 1, "luns" in 1..=1024, from "one, as FASTer (SNAPI 2010) counts", of "drive";
        /// Where the pages of an erase block are.
        layout: Layout = Layout::Superblock, "layout", from "our choice", of "drive";
        /// When the host asks for its next page write, or request with unit=request.
        arrivals: Arrivals = Arrivals::Closed, "arrivals", from "our choice", of "host";
        /// With arrivals=closed: page writes that the host has under way at once, requests with
        /// unit=request, or transactions, as threads do, with unit=transaction.
        queue_depth: u32 = 1, "queue-depth" in 1..=65536, from "our choice", of "host";
        /// With arrivals=trace: how much faster than recorded the requests come.
        speed_up: f64 = 1.0, "speed-up" in 1e-6..=1e6, from "as recorded", of "host";
        /// With arrivals=poisson: page writes a second, or requests with unit=request.
        rate: f64 = 1000.0, "rate" in 1e-3..=1e9, from "our choice", of "host";
        /// With arrivals=poisson: requests that come at once; the rate stays that of all.
        burst: u32 = 1, "burst" in 1..=1_000_000, from "our choice", of "host";
        /// With arrivals=poisson: the seed of the times between them.
        arrivals_seed: u64 = 1, "arrivals-seed", from "our choice", of "host";
        /// What the host waits for.
        unit: Unit = Unit::Page, "unit", from "papers on write amplification count page writes", of "host";
        /// What a LUN does next.
        priority: Priority = Priority::None, "priority", from "our choice", of "drive";
        /// A buffer of pages that the host has written and the flash has not: a size, maybe with parts: plp=off
        /// if it does not survive a loss of power, ack=program if the host is told of a page when that is in
        /// flash, keep=50% to leave so much of it there to be rewritten.
        write_buffer: WriteBuffer = WriteBuffer::OFF, "write-buffer", from "none, as papers on write amplification", of "drive";
        /// With priority=read-first: where the operations of collections come.
        gc_priority: GcPriority = GcPriority::Same, "gc-priority", from "our choice", of "drive";
        /// With priority=read-first: what reads of the host interrupt.
        suspend: Suspend = Suspend::Off, "suspend", from "our choice", of "drive";
        /// Microseconds that an interruption takes, before the read and after it together.
        suspend_us: f64 = 5.0, "suspend-us" in 0.0..=1e6, from "our choice", of "chip";
        /// How often the same program or erase may be interrupted; 0 for any number of times.
        suspend_max: u32 = 0, "suspend-max", from "our choice", of "drive";
        /// With unit=request and several jobs of fio: requests that the drive takes at once from the queues of its
        /// tenants; 0 for any number.
        slots: u32 = 0, "slots" in 0..=65536, from "our choice", of "drive";
        /// With slots: how many requests it takes from each tenant in turn, in the order of the job file, such as
        /// 3/1; equal for one each.
        weights: Weights = Weights::default(), "weights", from "NVMe base specification, weighted round robin", of "drive";
        /// With unit=request: by what response times are told apart, beside the operation: size for the pages of a
        /// request in powers of two, tenant for fio's jobs, stream for placement handles, or several, as size/stream.
        by: By = By::default(), "by", from "our choice", of "report";
        /// With unit=request: whether to tell what requests waited for, at each percentile.
        waits: bool = false, "waits", from "our choice", of "report";
        /// Whether each page takes its own time by its place in its word line: LSB, CSB, MSB.
        page_types: PageTypes = PageTypes::Mean, "page-types", from "the means, as papers count", of "chip";
        /// Planes of a LUN, on which the pages of a block take turns; those of the same offset are programmed at
        /// once.
        planes: u32 = 1, "planes" in 1..=16, from "one, as FASTer (SNAPI 2010) counts", of "chip";
        /// Page of the chip, which is read and programmed as one, such as 16KiB: with 4 KiB pages, four that follow
        /// each other. Pages of it, and of those at the same place of other planes, that a collection or a request
        /// reads one after the other take one read and a transfer each. Times of reads and programs are then those
        /// of a page of the chip.
        flash_page: FlashPage = FlashPage::OFF, "flash-page", from "as FASTer (SNAPI 2010) counts", of "chip";
        /// Retries of a read by the P/E cycles of its block: 1000:1/3000:3 for one from 1,000 on and three from
        /// 3,000 on. Each takes another read and transfer.
        read_retries: ReadRetries = ReadRetries::default(), "read-retries", from "none: new flash", of "chip";
        /// With read-retries: P/E cycles that every block has had before.
        pe_cycles: u32 = 0, "pe-cycles" in 0..=1_000_000, from "new flash", of "chip";
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
    /// What it gives instead with page-types=each and one-shot, as far as the source says.
    of_each: &'static str,
}

/// Every preset. Cells of more than one bit have slow and fast pages; by default we take the mean.
pub const TIMINGS: [TimingPreset; 6] = [
    TimingPreset {
        name: "slc",
        summary: "an SLC chip of 2010: 25 us to read, 200 us to program, 1.5 ms to erase",
        source: "FASTer (SNAPI 2010), table I",
        arguments: "",
        of_each: "",
    },
    TimingPreset {
        name: "mlc",
        summary: "Micron L95B MLC: 56 us (48 and 64 by page type), 1,575 us (850 and 2,300), 3 ms",
        source: "FEMU, nand.h, as profiled there",
        arguments: "read-us=56,program-us=1575,erase-us=3000,transfer-us=52.433",
        of_each: "read-us=48/64,program-us=850/2300",
    },
    TimingPreset {
        name: "tlc",
        summary: "planar TLC: 80 us (56.5, 77.5 and 106 by page type), 2,926.5 us (820.5, 2,225 and \
                  5,734), 3 ms",
        source: "FEMU, nand.h, after SimpleSSD (IEEE CAL 2018)",
        arguments: "read-us=80,program-us=2926.5,erase-us=3000,transfer-us=52.433",
        of_each: "read-us=56.5/77.5/106,program-us=820.5/2225/5734",
    },
    TimingPreset {
        name: "qlc",
        summary: "QLC: 110.344 us (59.325, 85.25, 127.2 and 169.6 by page type), 4,841.056 us (861.525, \
                  2,447.5, 6,880.8 and 9,174.4), 3 ms",
        source: "FEMU, nand.h, extrapolated there from TLC after Micron (FMS 2019)",
        arguments: "read-us=110.344,program-us=4841.056,erase-us=3000,transfer-us=52.433",
        of_each: "read-us=59.325/85.25/127.2/169.6,\
                  program-us=861.525/2447.5/6880.8/9174.4",
    },
    TimingPreset {
        name: "femu",
        summary: "FEMU's black-box SSD as it comes: 40 us, 200 us, 2 ms, 8 channels x 8 LUNs",
        source: "FEMU (FAST 2018), defaults of bbssd",
        arguments: "read-us=40,program-us=200,erase-us=2000,channels=8,luns=8",
        of_each: "",
    },
    TimingPreset {
        name: "enterprise",
        summary: "an NVMe drive for data centres, 64 KiB pages of 3D TLC: 40.95 us, 637.88 us (a third \
                  of a one-shot program), 3.5 ms, 800 MB/s on each of 8 channels x 16 LUNs",
        source: "NVMeVirt (FAST 2023), SK hynix ZNS prototype; erase: AERO (ASPLOS 2024), abstract",
        arguments: "read-us=40.95,program-us=637.88,erase-us=3500,transfer-us=81.92,channels=8,luns=16",
        of_each: "program-us=637.88/637.88/637.88",
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
        self.with(self.arguments)
    }

    fn with(&self, arguments: &str) -> Spec {
        let text = match arguments {
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
    /// Whether pages beyond the geometry are SLC pages, which the FTL empties while the host asks for nothing.
    has_slc_pages: bool,
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
        let mut full = preset.spec();
        if spec.get("page-types").is_some_and(|types| types != PageTypes::Mean.to_string()) {
            override_by(&mut full, &preset.with(preset.of_each));
        }
        override_by(&mut full, spec);
        let mut parameters = TimingParameters::from_spec(&full)?;
        check(&spec.name, &parameters)?;
        if parameters.page_types == PageTypes::Mean {
            let TimingParameters { read_us, program_us, .. } = &mut parameters;
            for times in [read_us, program_us] {
                *times = PageTimes::alike(times.mean_us());
            }
        }
        Ok(Self { parameters, slowest: 0, has_slc_pages: false })
    }

    /// Keeps so many of the slowest requests, with what LUNs did meanwhile; for requests only.
    #[must_use]
    pub fn keep_slowest(mut self, count: usize) -> Self {
        self.slowest = count;
        self
    }

    /// Pages beyond the geometry of the flash are SLC pages, of a cache that is emptied while the host asks for nothing.
    #[must_use]
    pub fn with_slc_pages(mut self) -> Self {
        self.has_slc_pages = true;
        self
    }

    pub(crate) fn has_slc_pages(&self) -> bool {
        self.has_slc_pages
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

    /// Whether requests take time, and not single page writes alone.
    pub fn has_requests(&self) -> bool {
        self.parameters.unit != Unit::Page
    }

    /// What the host has under way at once in a closed loop.
    pub fn queue_depth(&self) -> u32 {
        self.parameters.queue_depth
    }

    /// Whether it is known when an operation will be complete as soon as it is asked for: no other overtakes
    /// it, and no buffer delays it.
    pub fn is_foreseeable(&self) -> bool {
        self.parameters.priority != Priority::ReadFirst
            && self.parameters.write_buffer.bytes.is_none()
    }

    /// By what response times are told apart.
    pub fn by(&self) -> By {
        self.parameters.by
    }

    /// Requests that the drive takes at once from the queues of its tenants, and their weights; none if it takes any
    /// number.
    pub fn arbitration(&self) -> Option<(u32, &Weights)> {
        let TimingParameters { slots, weights, .. } = &self.parameters;
        (*slots > 0).then_some((*slots, weights))
    }

    pub(crate) fn parameters(&self) -> &TimingParameters {
        &self.parameters
    }
}

/// What is given after a preset overrides it.
fn override_by(full: &mut Spec, spec: &Spec) {
    full.arguments.retain(|(key, _)| spec.get(key).is_none());
    full.arguments.extend(spec.arguments.iter().cloned());
}

/// Refuses what does nothing without something else.
fn check(of: &str, parameters: &TimingParameters) -> Result<(), SpecError> {
    let TimingParameters { arrivals, unit, priority, gc_priority, suspend, write_buffer, .. } =
        parameters;
    let TimingParameters { read_us, program_us, page_types, read_retries, pe_cycles, .. } =
        parameters;
    let TimingParameters { slots, weights, by, .. } = parameters;
    let places = [read_us.places(), program_us.places()];
    let by_request = "possible for single page writes; add unit=request";
    let by_choice =
        "possible for LUNs that do what they are asked for first; add priority=read-first";
    let wrong = if *arrivals != Arrivals::Closed && *unit == Unit::Transaction {
        let expects = "possible for requests; leave it out, or say unit=request";
        ("arrivals", arrivals.to_string(), expects)
    } else if parameters.burst > 1 && *arrivals != Arrivals::Poisson {
        let by_chance = "possible for requests that do not come at random; add arrivals=poisson";
        ("burst", parameters.burst.to_string(), by_chance)
    } else if *arrivals == Arrivals::Poisson && *unit == Unit::Page {
        ("arrivals", arrivals.to_string(), by_request)
    } else if *priority == Priority::ReadFirst && *unit == Unit::Page {
        ("priority", priority.to_string(), by_request)
    } else if write_buffer.bytes.is_some() && *unit == Unit::Page {
        ("write-buffer", write_buffer.to_string(), by_request)
    } else if parameters.waits && *unit == Unit::Page {
        ("waits", parameters.waits.print(), by_request)
    } else if !by.is_none() && *unit == Unit::Page {
        ("by", by.to_string(), by_request)
    } else if *slots > 0 && *unit == Unit::Page {
        ("slots", slots.to_string(), by_request)
    } else if *slots > 0 && (*unit == Unit::Transaction || *arrivals != Arrivals::Closed) {
        let closed = "possible but for jobs of fio in a closed loop; leave it out";
        ("slots", slots.to_string(), closed)
    } else if *slots == 0 && !weights.is_equal() {
        ("weights", weights.to_string(), "of use where nobody has to wait for a turn; add slots=32")
    } else if *gc_priority != GcPriority::Same && *priority != Priority::ReadFirst {
        ("gc-priority", gc_priority.to_string(), by_choice)
    } else if *suspend != Suspend::Off && *priority != Priority::ReadFirst {
        ("suspend", suspend.to_string(), by_choice)
    } else if *page_types != PageTypes::Mean && places == [1, 1] {
        let by_list = "possible for pages that all take as long; give the times of each page of a word line, \
                       such as program-us=850/2300";
        ("page-types", page_types.to_string(), by_list)
    } else if places[0] != places[1] && !places.contains(&1) {
        let as_many = "of as many pages of a word line as read-us; give as many, or one of all";
        ("program-us", program_us.to_string(), as_many)
    } else if *pe_cycles > 0 && read_retries.is_off() {
        let by_wear = "of use where no time depends on wear; add read-retries";
        ("pe-cycles", pe_cycles.to_string(), by_wear)
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
            let given =
                TimingParameters { program_us: PageTimes::alike(1.0), luns: 3, ..parameters };
            assert_eq!(faster, given);
        }
    }

    #[test]
    fn the_times_of_each_page_have_the_mean_of_the_preset() {
        for preset in TIMINGS.iter().filter(|preset| !preset.of_each.is_empty()) {
            let mean = timing(preset.name).unwrap();
            let each = timing(&format!("{}:page-types=each", preset.name)).unwrap();
            assert!(each.program_us.places() > 1, "{}", preset.name);
            for (each, mean) in [(each.read_us, mean.read_us), (each.program_us, mean.program_us)] {
                assert_eq!(PageTimes::alike(each.mean_us()), mean, "{}", preset.name);
            }
        }
        let typed = timing("tlc:page-types=each,program-us=1/2/3").unwrap();
        assert_eq!(typed.read_us.to_string(), "56.5/77.5/106");
        assert_eq!(typed.program_us.to_string(), "1/2/3");
        assert_eq!(timing("slc:program-us=850/2300").unwrap().program_us, PageTimes::alike(1575.0));
    }

    #[test]
    fn options_of_cells_that_do_nothing_are_errors_that_say_what_is_right() {
        for (wrong, message) in [
            (
                "slc:page-types=each",
                "page-types=each is not possible for pages that all take as long",
            ),
            ("femu:page-types=one-shot", "such as program-us=850/2300"),
            (
                "slc:page-types=each,read-us=1/2,program-us=1/2/3",
                "program-us=1/2/3 is not of as many",
            ),
            ("slc:program-us=-1", "program-us=-1 is not a number in 0..=1e9, or 2 to 4 of them"),
            ("slc:pe-cycles=5", "pe-cycles=5 is not of use"),
            ("slc:read-retries=9:1/3:2", "read-retries=9:1/3:2 is not off, or P/E cycles"),
            ("slc:planes=17", "planes=17 is not a whole number in 1..=16"),
        ] {
            let error = timing(wrong).unwrap_err();
            assert!(error.contains(message), "{wrong}: {error}");
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
        let error = timing("slc:unit=request,burst=2").unwrap_err();
        assert!(error.contains("add arrivals=poisson"), "{error}");
        let error = timing("slc:unit=transaction,arrivals=poisson").unwrap_err();
        assert!(error.contains("arrivals=poisson is not possible for requests"), "{error}");
    }
}

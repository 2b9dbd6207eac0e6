//! How long flash operations take, by the name of a chip.

use crate::by::By;
use crate::parameters::{Arrivals, ReadsWhenFull, TimingParameters, Unit};
use crate::presets::TIMINGS;
use crate::weights::Weights;
use ftlab_flash::{
    Chip, ChipParameters, ChipTimes, GcPriority, Geometry, Layout, LunChoice, LunOrder, PageKinds,
    PageTimes, PageTypes, Priority, Suspend,
};
use ftlab_spec::{Parameters, Spec, SpecError, Value};

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
        if parameters.pages.page_types == PageTypes::Mean {
            let ChipTimes { read_us, program_us, .. } = &mut parameters.times;
            for times in [read_us, program_us] {
                *times = PageTimes::alike(times.mean_us());
            }
        }
        Ok(Self { parameters, slowest: 0, has_slc_pages: false })
    }

    /// Keeps the slowest `count` requests, with what LUNs did meanwhile; for requests only.
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

    /// LUNs of the drive.
    pub fn luns(&self) -> u32 {
        self.parameters.times.channels * self.parameters.times.luns
    }

    /// LUNs that an erase block is on.
    pub fn luns_of_block(&self) -> u32 {
        match self.parameters.times.layout {
            Layout::Superblock => self.luns(),
            Layout::Block => 1,
        }
    }

    /// Pages of the drive that a LUN has in each of its blocks: those of the chip's block, on every plane.
    pub fn pages_per_lun(&self, page_bytes: u32) -> u32 {
        let TimingParameters { pages, block_pages, .. } = &self.parameters;
        let of_plane = block_pages.saturating_mul(pages.flash_page.pages(page_bytes));
        of_plane.saturating_mul(pages.planes)
    }

    /// Pages of the drive that a LUN programs at once, at most.
    pub fn pages_at_once(&self, page_bytes: u32) -> u32 {
        let TimingParameters { times, pages, .. } = &self.parameters;
        let word_lines = match pages.page_types {
            PageTypes::OneShot => times.program_us.places().max(times.read_us.places()) as u32,
            PageTypes::Mean | PageTypes::Each => 1,
        };
        word_lines * pages.planes.saturating_mul(pages.flash_page.pages(page_bytes))
    }

    /// Pages of the drive that keep all of its LUNs programming: what each programs at once, and what comes meanwhile.
    pub(crate) fn programs_at_once(&self, page_bytes: u32) -> u32 {
        let TimingParameters { choice, pages, .. } = &self.parameters;
        let of_chip = pages.planes.saturating_mul(pages.flash_page.pages(page_bytes));
        let ahead = if choice.cached_transfers { of_chip } else { 0 };
        self.luns().saturating_mul(self.pages_at_once(page_bytes).saturating_add(ahead))
    }

    /// Pages of an erase block of the drive, if it is made of blocks of the chip.
    pub fn pages_per_block(&self, page_bytes: u32) -> u32 {
        self.pages_per_lun(page_bytes).saturating_mul(self.luns_of_block())
    }

    /// LUNs that no block of a drive with this geometry reaches.
    pub fn idle_luns(&self, geometry: &Geometry) -> u32 {
        let unit = self.parameters.pages.flash_page.pages(geometry.page_bytes());
        let reached = match self.parameters.times.layout {
            Layout::Superblock => geometry.pages_per_block().div_ceil(unit),
            Layout::Block => geometry.blocks(),
        };
        self.luns().saturating_sub(reached)
    }

    /// Whether requests take time, and not single page writes alone.
    pub fn has_requests(&self) -> bool {
        self.parameters.unit != Unit::Page
    }

    /// Whether pages wait in a buffer of the drive until they are programmed.
    pub fn has_write_buffer(&self) -> bool {
        self.parameters.write_buffer.bytes.is_some()
    }

    /// What the host has under way at once in a closed loop.
    pub fn queue_depth(&self) -> u32 {
        self.parameters.queue_depth
    }

    /// Whether it is known when an operation will be complete as soon as it is asked for: no other overtakes
    /// it, and no buffer delays it.
    pub fn is_foreseeable(&self) -> bool {
        self.parameters.order.priority != Priority::ReadFirst && !self.has_write_buffer()
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

    /// The chip, which has this geometry. It keeps accounts if somebody wants to know what requests wait for.
    pub fn chip(&self, geometry: &Geometry) -> Chip {
        let TimingParameters { times, order, choice, pages, .. } = self.parameters.clone();
        let parameters = ChipParameters { times, order, choice, pages };
        let mut chip = Chip::new(&parameters, geometry, self.has_slc_pages);
        if self.has_requests() && self.is_watched() {
            chip.keep_accounts(self.slowest > 0);
        }
        chip
    }

    /// Whether somebody wants to know what requests wait for.
    pub(crate) fn is_watched(&self) -> bool {
        self.parameters.waits || self.slowest > 0
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
    let TimingParameters {
        arrivals, unit, write_buffer, slots, weights, by, reads_when_full, ..
    } = parameters;
    let LunOrder { priority } = &parameters.order;
    let LunChoice { gc_priority, suspend, suspend_slice_us, cached_transfers, .. } =
        &parameters.choice;
    let ChipTimes { read_us, program_us, .. } = &parameters.times;
    let PageKinds { page_types, read_retries, pe_cycles, .. } = &parameters.pages;
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
    } else if parameters.command_us > 0.0 && *unit == Unit::Page {
        ("command-us", parameters.command_us.to_string(), by_request)
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
    } else if *cached_transfers && *priority != Priority::ReadFirst {
        ("cached-transfers", cached_transfers.print(), by_choice)
    } else if *suspend_slice_us > 0.0 && *suspend == Suspend::Off {
        let by_suspension = "of use where nothing is interrupted; add suspend=both";
        ("suspend-slice-us", suspend_slice_us.to_string(), by_suspension)
    } else if *reads_when_full != ReadsWhenFull::First
        && (*priority != Priority::ReadFirst || write_buffer.bytes.is_none())
    {
        let by_buffer = "possible without a buffer that may be full and LUNs that choose; add \
                         priority=read-first and write-buffer=8MiB";
        ("reads-when-full", reads_when_full.to_string(), by_buffer)
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
            let program_us = PageTimes::alike(1.0);
            let times = ChipTimes { program_us, luns: 3, ..parameters.times };
            let given = TimingParameters { times, ..parameters };
            assert_eq!(faster, given);
        }
    }

    #[test]
    fn a_block_of_the_drive_has_one_of_the_chip_on_every_plane_and_lun() {
        for (text, page_bytes, pages) in [
            ("slc", 4096, 64),
            ("mlc:channels=4", 4096, 4 * 512),
            ("femu", 4096, 64 * 256),
            ("femu:layout=block", 4096, 256),
            ("femu:channels=2,luns=2,planes=4,flash-page=16KiB", 4096, 4 * 4 * 4 * 256),
            ("femu:flash-page=16KiB", 16_384, 64 * 256),
            ("enterprise", 65_536, 128 * 1536),
            ("femu:block-pages=65536,planes=16,flash-page=1MiB", 512, u32::MAX),
        ] {
            let timing = Timing::from_spec(&text.parse().unwrap()).unwrap();
            assert_eq!(timing.pages_per_block(page_bytes), pages, "{text}");
        }
    }

    #[test]
    fn luns_are_idle_if_blocks_are_too_small_or_too_few() {
        for (text, blocks, pages, idle) in [
            ("femu", 100, 64, 0),
            ("femu", 100, 24, 40),
            ("femu:flash-page=16KiB", 100, 64, 48),
            ("femu:layout=block", 100, 24, 0),
            ("femu:layout=block", 60, 512, 4),
        ] {
            let timing = Timing::from_spec(&text.parse().unwrap()).unwrap();
            let geometry = Geometry::new(blocks, pages, 4096).unwrap();
            assert_eq!(timing.idle_luns(&geometry), idle, "{text}");
        }
    }

    #[test]
    fn the_times_of_each_page_have_the_mean_of_the_preset() {
        for preset in TIMINGS.iter().filter(|preset| !preset.of_each.is_empty()) {
            let mean = timing(preset.name).unwrap().times;
            let each = timing(&format!("{}:page-types=each", preset.name)).unwrap().times;
            assert!(each.program_us.places() > 1, "{}", preset.name);
            for (each, mean) in [(each.read_us, mean.read_us), (each.program_us, mean.program_us)] {
                assert_eq!(PageTimes::alike(each.mean_us()), mean, "{}", preset.name);
            }
        }
        let typed = timing("tlc:page-types=each,program-us=1/2/3").unwrap().times;
        assert_eq!(typed.read_us.to_string(), "56.5/77.5/106");
        assert_eq!(typed.program_us.to_string(), "1/2/3");
        let mean = timing("slc:program-us=850/2300").unwrap().times;
        assert_eq!(mean.program_us, PageTimes::alike(1575.0));
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
            ("slc:command-us=5", "command-us=5 is not possible for single page writes"),
            ("slc:command-us=-1,unit=request", "command-us=-1 is not a number in"),
            ("slc:unit=request,priority=read-first,suspend-slice-us=9", "add suspend=both"),
            ("slc:unit=request,cached-transfers=on", "add priority=read-first"),
            (
                "slc:unit=request,priority=read-first,reads-when-full=turn",
                "add priority=read-first and write-buffer=8MiB",
            ),
            (
                "slc:unit=request,write-buffer=1MiB,reads-when-full=last",
                "add priority=read-first and write-buffer=8MiB",
            ),
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

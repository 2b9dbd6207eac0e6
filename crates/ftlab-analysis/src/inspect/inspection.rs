//! Everything that is found out of a workload, as one value.

use crate::{
    Extent, FootprintPoint, FrozenPoint, HeatMap, IntervalSummary, Operations, PageTable, Pass,
    Sequentiality, SizeSummary, Skew, Temperature, Updates, WriteCounts, frozen,
};
use crate::{
    Footprint, HeatMapCounter, HintCounter, HintValue, Intervals, RequestCounter,
    SequentialCounter, Sizes,
};
use ftlab_spec::{ByteSize, Share};
use ftlab_trace::{AddressRange, RequestBatch, SkippedLines, TraceError, TraceSource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Several workloads, as `ftlab inspect --json` writes them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "What ftlab inspect found")]
pub struct Inspections {
    /// Version of ftlab, with the commit that it was built from, if that is known: `0.1.0 (647af12)`.
    pub version: String,
    /// One for each workload, in the order in which they were named.
    pub workloads: Vec<Inspection>,
}

/// A workload in numbers, of the part that was looked at. Pages are of `page_bytes`; a page written
/// in part counts as one page write, as an FTL sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Inspection {
    /// The trace as it was named, or the generator with its parameters.
    pub workload: String,
    /// The format with its parameters, or the generator with its own.
    pub format: String,
    /// Size of the drive, where the workload says so.
    pub device_bytes: Option<u64>,
    /// Bytes per page.
    pub page_bytes: u32,
    /// Pages of the drive that shares are of: as asked, as the workload says, or up to its highest
    /// address.
    pub drive_pages: u64,
    /// The part that was looked at; none if it was everything.
    pub part: Option<PartSummary>,
    /// Times of the earliest and the latest request, in microseconds, where there are times.
    pub time_us: Option<(u64, u64)>,
    /// Requests by operation.
    pub requests: Operations,
    /// Bytes by operation, as the requests say (flushes have none).
    pub bytes: Operations,
    /// Pages that the writes touch, counted each time.
    pub page_writes: u64,
    /// Pages that the trims cover whole, counted each time.
    pub page_trims: u64,
    /// Pages written at least once.
    pub distinct_pages: u64,
    /// Write requests that do not begin and end at page borders.
    pub unaligned_writes: u64,
    /// The addresses that are used.
    pub addresses: AddressRange,
    /// Sizes of the write requests.
    pub write_sizes: SizeSummary,
    /// How sequential the write requests are.
    pub sequentiality: Sequentiality,
    /// How unequally the page writes are spread (2R, figure 1).
    pub skew: Skew,
    /// How often pages are written (Wolf, figure 9).
    pub updates: Updates,
    /// How soon pages are written again (FASTer, figure 2c).
    pub intervals: IntervalSummary,
    /// Hot, warm and cold pages (FASTer, section III and figure 3).
    pub temperature: Temperature,
    /// Pages that are not written again, at every percent of the page writes (2R, figure 2).
    pub frozen: Vec<FrozenPoint>,
    /// How the footprint grows, in even steps and at the end.
    pub footprint: Vec<FootprintPoint>,
    /// Where writes go over time (FASTer, figure 2a).
    pub heat_map: HeatMap,
    /// What the streams tell of lifetimes; none if the workload has no streams.
    #[serde(default)]
    #[schemars(!default)]
    pub hints: Option<HintValue>,
    /// Lines that the reader passed over, and why.
    pub skipped: Vec<SkippedLines>,
}

/// The part of a workload that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartSummary {
    /// Begins at this time, in microseconds as the trace counts them.
    pub from_us: u64,
    /// Ends before this time; none if it goes to the end.
    pub until_us: Option<u64>,
    /// Pages written before.
    pub earlier_pages: u64,
}

impl Inspection {
    /// Page writes in sizes of the drive.
    pub fn drive_writes(&self) -> f64 {
        self.page_writes as f64 / self.drive_pages.max(1) as f64
    }

    /// The pages that are frozen at `percent` (1 to 100) of the page writes; `None` without page
    /// writes.
    pub fn frozen_at(&self, percent: usize) -> Option<&FrozenPoint> {
        self.frozen.get(percent.checked_sub(1)?)
    }
}

/// How many page writes a log absorbs: the window that tells hot pages from cold ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LogWindow {
    /// A number of pages.
    Pages(u64),
    /// As many pages as hold these bytes.
    Bytes(ByteSize),
    /// A share of the drive.
    Drive(Share),
}

impl LogWindow {
    fn pages(self, drive_pages: u64, page_bytes: u32) -> u64 {
        match self {
            Self::Pages(pages) => pages,
            Self::Bytes(size) => size.0 / u64::from(page_bytes),
            Self::Drive(share) => (share.0 * drive_pages as f64).round() as u64,
        }
    }
}

impl FromStr for LogWindow {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let window = match text.strip_suffix('%') {
            Some(_) => text.parse().ok().map(Self::Drive),
            None if is_number(text) => text.parse().ok().map(Self::Pages),
            None => text.parse().ok().map(Self::Bytes),
        };
        let is_something = |window: &Self| match window {
            Self::Pages(pages) => *pages > 0,
            Self::Bytes(size) => size.0 > 0,
            Self::Drive(share) => share.0 > 0.0,
        };
        window.filter(is_something).ok_or_else(|| {
            format!(
                "{text:?} is not a log window; give a share of the drive such as 10%, a size such as \
                 800MiB, or a number of pages"
            )
        })
    }
}

impl fmt::Display for LogWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pages(pages) => write!(f, "{pages}"),
            Self::Bytes(size) => write!(f, "{size}"),
            Self::Drive(share) => write!(f, "{share}"),
        }
    }
}

/// How a workload is inspected.
#[derive(Debug, Clone, PartialEq)]
pub struct InspectOptions {
    /// What is looked at.
    pub extent: Extent,
    /// What tells hot pages from cold ones.
    pub window: LogWindow,
    /// Size of the drive; as the workload says, or up to its highest address, if `None`.
    pub drive_bytes: Option<u64>,
}

impl Default for InspectOptions {
    /// All of the workload, in pages of 4 KiB, against a log of a tenth of the drive.
    fn default() -> Self {
        let window = LogWindow::Drive(Share(0.1));
        Self { extent: Extent::default(), window, drive_bytes: None }
    }
}

/// Reads `source` to its end, or to that of the extent, and finds out everything.
///
/// Memory is [`PageTable::BYTES_PER_PAGE`] for each page of the areas written to and some
/// megabytes, however long the workload. A generator has no end: limit its page writes.
///
/// ```
/// use ftlab_analysis::{Extent, InspectOptions, inspect};
/// use ftlab_trace::Space;
/// use ftlab_workload::build;
///
/// let space = Space { logical_pages: 10_000, page_bytes: 4096, seed: 1 };
/// let mut source = build(&"hotcold:writes=0.9,pages=0.1".parse()?, &space)?;
/// let extent = Extent { page_writes_max: Some(100_000), ..Extent::default() };
/// let found = inspect(source.as_mut(), &InspectOptions { extent, ..Default::default() })?;
/// assert!(found.skew.top_20_percent > 0.9);
/// assert_eq!(found.temperature.window_pages, 1000);
/// let frozen = found.frozen_at(50).unwrap();
/// assert!(frozen.share < 0.7 && frozen.written_pages > 4_000);
/// # Ok::<(), ftlab_trace::TraceError>(())
/// ```
pub fn inspect(
    source: &mut dyn TraceSource,
    options: &InspectOptions,
) -> Result<Inspection, TraceError> {
    let mut inspector = Inspector::new(options)?;
    let mut batch = RequestBatch::new();
    while source.next_batch(&mut batch)? {
        if !inspector.update(&batch)? {
            break;
        }
    }
    Ok(inspector.finish(source))
}

type Analyses =
    (RequestCounter, Sizes, SequentialCounter, Intervals, Footprint, HeatMapCounter, HintCounter);

/// [`inspect`] one batch at a time, for callers that use the batches otherwise too.
pub struct Inspector {
    options: InspectOptions,
    pass: Pass<Analyses>,
}

impl Inspector {
    /// An inspector that has seen nothing yet.
    pub fn new(options: &InspectOptions) -> Result<Self, TraceError> {
        let requests = RequestCounter::new(options.extent.page_bytes)?;
        let analyses = (
            requests,
            Sizes::default(),
            SequentialCounter::default(),
            Intervals::default(),
            Footprint::default(),
            HeatMapCounter::default(),
            HintCounter::new(options.extent.page_bytes)?,
        );
        let pass = Pass::new(options.extent.clone(), analyses)?;
        Ok(Self { options: options.clone(), pass })
    }

    /// Takes the requests of a batch; whether more are wanted.
    pub fn update(&mut self, batch: &RequestBatch) -> Result<bool, TraceError> {
        self.pass.observe(batch)
    }

    /// The numbers; format, drive size and skipped lines are those of `source`.
    pub fn finish(self, source: &dyn TraceSource) -> Inspection {
        let Self { options, pass } = self;
        let ((requests, sizes, sequentiality, intervals, footprint, heat_map, hints), pages) =
            pass.finish();
        let metadata = source.metadata();
        let page_bytes = options.extent.page_bytes;
        let known = options.drive_bytes.or(metadata.device_bytes);
        let drive_bytes = known.or(requests.addresses.device_bytes()).unwrap_or(u64::MAX);
        let drive_pages = drive_bytes.div_ceil(u64::from(page_bytes));
        let window_pages = options.window.pages(drive_pages, page_bytes);
        let counts = pages.counts();
        let writes = WriteCounts::of(&pages);
        Inspection {
            workload: metadata.format.clone(),
            format: metadata.format.clone(),
            device_bytes: metadata.device_bytes,
            page_bytes,
            drive_pages,
            part: part(&options.extent, &pages),
            time_us: requests.time_us,
            requests: requests.requests,
            bytes: requests.bytes,
            page_writes: counts.page_writes,
            page_trims: requests.page_trims,
            distinct_pages: counts.distinct_pages,
            unaligned_writes: requests.unaligned_writes,
            addresses: requests.addresses,
            write_sizes: sizes.summary(),
            sequentiality,
            skew: writes.skew(),
            updates: writes.updates(),
            intervals: intervals.summary(drive_pages),
            temperature: Temperature::of(&pages, &intervals, window_pages),
            frozen: frozen(&pages),
            footprint: footprint.series(counts),
            heat_map,
            hints,
            skipped: source.skipped().iter().cloned().collect(),
        }
    }
}

fn part(extent: &Extent, pages: &PageTable) -> Option<PartSummary> {
    extent.range_us.as_ref().map(|range_us| PartSummary {
        from_us: range_us.start,
        until_us: (range_us.end < u64::MAX).then_some(range_us.end),
        earlier_pages: pages.counts().earlier_pages,
    })
}

/// The JSON Schema of [`Inspections`], as published.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Inspections);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_share_a_size_or_pages() {
        let pages = |text: &str| text.parse::<LogWindow>().unwrap().pages(1000, 4096);
        assert_eq!(["10%", "0.1%", "5", "1MiB", "8192B"].map(pages), [100, 1, 5, 256, 2]);
        for text in ["", "0", "0%", "x", "-1", "1.5", "99999999999999999999"] {
            let error = text.parse::<LogWindow>().unwrap_err();
            assert!(error.contains("such as 10%"), "{error}");
        }
        for text in ["10%", "5", "1MiB"] {
            assert_eq!(text.parse::<LogWindow>().unwrap().to_string(), text);
        }
    }
}

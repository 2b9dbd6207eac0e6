//! One pass over a workload, which feeds any number of analyses.

use super::page_table::{Full, PageTable, PageWrite};
use ftlab_spec::ByteSize;
use ftlab_trace::pages::{self, PageSink};
use ftlab_trace::{Op, RequestBatch, TraceError, TraceSource};
use std::ops::Range;

/// Something that is found out of a workload while it goes by.
///
/// Analyses compose: a tuple of them is one, whose report is the tuple of theirs. What follows from
/// the histories of pages alone needs no analysis: it is computed from the [`PageTable`] at the
/// end.
pub trait Analysis {
    /// What comes out.
    type Report;

    /// A request of the part that is looked at. The requests of a batch come before its page
    /// writes.
    fn request(&mut self, request: &Request) {
        let _ = request;
    }

    /// These pages are written, in this order; what is a block says nothing.
    fn page_writes(&mut self, writes: &[PageWrite]) {
        let _ = writes;
    }

    /// What was found.
    fn finish(self) -> Self::Report;
}

/// A request as analyses see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// What is asked.
    pub op: Op,
    /// First sector.
    pub lba: u64,
    /// Length in sectors; 0 for a flush.
    pub sectors: u32,
    /// Microseconds, if the workload has times.
    pub time_us: Option<u64>,
    /// The stream (write hint) that the host names, if the workload has streams.
    pub stream: Option<u16>,
}

macro_rules! compose {
    ($($name:ident $place:tt),+) => {
        impl<$($name: Analysis),+> Analysis for ($($name,)+) {
            type Report = ($($name::Report,)+);

            #[inline]
            fn request(&mut self, request: &Request) {
                $(self.$place.request(request);)+
            }

            fn page_writes(&mut self, writes: &[PageWrite]) {
                $(self.$place.page_writes(writes);)+
            }

            fn finish(self) -> Self::Report {
                ($(self.$place.finish(),)+)
            }
        }
    };
}

compose!(A 0);
compose!(A 0, B 1);
compose!(A 0, B 1, C 2);
compose!(A 0, B 1, C 2, D 3);
compose!(A 0, B 1, C 2, D 3, E 4);
compose!(A 0, B 1, C 2, D 3, E 4, F 5);
compose!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
compose!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

/// What a pass looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// Bytes per page, a multiple of 512.
    pub page_bytes: u32,
    /// Times of the requests that are looked at, in microseconds as the trace counts them; all
    /// requests if `None`. Of earlier requests only the pages that they write are kept.
    pub range_us: Option<Range<u64>>,
    /// Ends after the request with which there are this many page writes. Generators need it: they
    /// have no end of their own.
    pub page_writes_max: Option<u64>,
    /// Memory for the histories of pages at most; see [`PageTable`].
    pub memory_bytes_max: u64,
}

impl Default for Extent {
    /// All of it, in pages of 4 KiB, with up to 4 GiB of memory: a terabyte of pages written.
    fn default() -> Self {
        Self { page_bytes: 4096, range_us: None, page_writes_max: None, memory_bytes_max: 4 << 30 }
    }
}

/// A pass over a workload, one batch at a time; [`analyze`] does all of it.
pub struct Pass<A> {
    extent: Extent,
    page_sectors: u32,
    feed: Feed<A>,
    /// The requests of a batch that are looked at, and those before them, where not all are.
    part: RequestBatch,
    earlier: RequestBatch,
}

/// Reads `source` to its end, or to that of `extent`, and feeds `analysis`.
///
/// ```
/// use ftlab_analysis::{Extent, Intervals, WriteCounts, analyze};
/// use ftlab_trace::Space;
/// use ftlab_workload::build;
///
/// let space = Space { logical_pages: 1 << 16, page_bytes: 4096, seed: 1 };
/// let mut source = build(&"zipf:theta=1.1".parse()?, &space)?;
/// let extent = Extent { page_writes_max: Some(1 << 18), ..Extent::default() };
/// let (intervals, pages) = analyze(source.as_mut(), &extent, Intervals::default())?;
/// assert!(intervals.quantile(0.5) < 1000);
/// assert!(WriteCounts::of(&pages).share_of_top(0.1) > 0.8);
/// # Ok::<(), ftlab_trace::TraceError>(())
/// ```
pub fn analyze<A: Analysis>(
    source: &mut dyn TraceSource,
    extent: &Extent,
    analysis: A,
) -> Result<(A::Report, PageTable), TraceError> {
    let mut pass = Pass::new(extent.clone(), analysis)?;
    let mut batch = RequestBatch::new();
    while source.next_batch(&mut batch)? {
        if !pass.observe(&batch)? {
            break;
        }
    }
    Ok(pass.finish())
}

impl<A: Analysis> Pass<A> {
    /// A pass that has seen nothing yet.
    pub fn new(extent: Extent, analysis: A) -> Result<Self, TraceError> {
        let page_sectors = pages::page_sectors(extent.page_bytes)?;
        let pages = PageTable::new(extent.memory_bytes_max);
        Ok(Self {
            extent,
            page_sectors,
            feed: Feed { pages, analysis, block: Vec::new(), writes: Vec::new(), is_full: false },
            part: RequestBatch::new(),
            earlier: RequestBatch::new(),
        })
    }

    /// Takes the requests of a batch; whether more are wanted.
    pub fn observe(&mut self, batch: &RequestBatch) -> Result<bool, TraceError> {
        if self.extent.range_us.is_none() && self.extent.page_writes_max.is_none() {
            self.take(batch)?;
            return Ok(true);
        }
        let wants_more = self.select(batch)?;
        if !self.earlier.is_empty() {
            let mut earlier = Earlier { pages: &mut self.feed.pages, is_full: false };
            pages::expand(&self.earlier, self.page_sectors, &mut earlier)?;
            self.feed.is_full |= earlier.is_full;
        }
        let part = std::mem::take(&mut self.part);
        self.take(&part)?;
        self.part = part;
        Ok(wants_more)
    }

    fn take(&mut self, batch: &RequestBatch) -> Result<(), TraceError> {
        for (index, (op, lba, sectors)) in batch.iter().enumerate() {
            let sectors = if op == Op::Flush { 0 } else { sectors };
            let time_us = batch.time_us.get(index).copied();
            let stream = batch.stream.get(index).copied();
            self.feed.analysis.request(&Request { op, lba, sectors, time_us, stream });
        }
        let expanded = pages::expand(batch, self.page_sectors, &mut self.feed);
        self.feed.end_block();
        expanded?;
        if self.feed.is_full { Err(self.full()) } else { Ok(()) }
    }

    /// Divides a batch into what is looked at and what came before; whether more is wanted.
    fn select(&mut self, batch: &RequestBatch) -> Result<bool, TraceError> {
        let range_us = self.extent.range_us.clone().unwrap_or(0..u64::MAX);
        if self.extent.range_us.is_some() && batch.time_us.len() != batch.len() {
            return Err(TraceError::Unsupported {
                what: "the workload has no times to choose by".into(),
                remedy: "take all of it, or a trace with times".into(),
            });
        }
        self.part.clear();
        self.earlier.clear();
        let mut page_writes = self.feed.pages.counts().page_writes;
        let page_writes_max = self.extent.page_writes_max.unwrap_or(u64::MAX);
        let page_sectors = u64::from(self.page_sectors);
        for (index, (op, lba, sectors)) in batch.iter().enumerate() {
            if page_writes >= page_writes_max {
                return Ok(false);
            }
            match batch.time_us.get(index) {
                Some(time_us) if *time_us < range_us.start => {
                    self.earlier.push_from(batch, index);
                }
                Some(time_us) if *time_us >= range_us.end => {}
                _ => {
                    self.part.push_from(batch, index);
                    if op == Op::Write && sectors > 0 {
                        let end = lba.saturating_add(u64::from(sectors));
                        page_writes += end.div_ceil(page_sectors) - lba / page_sectors;
                    }
                }
            }
        }
        Ok(page_writes < page_writes_max)
    }

    fn full(&self) -> TraceError {
        let memory = ByteSize(self.extent.memory_bytes_max);
        let pages = self.extent.memory_bytes_max / PageTable::BYTES_PER_PAGE;
        TraceError::Unsupported {
            what: format!(
                "the workload writes to more areas than {memory} of memory can follow ({pages} pages \
                 of {} bytes)",
                self.extent.page_bytes
            ),
            remedy: "if that is no damage, give more (--memory), or larger pages (--page-size)"
                .into(),
        }
    }

    /// Reports, and the histories of all pages.
    pub fn finish(self) -> (A::Report, PageTable) {
        (self.feed.analysis.finish(), self.feed.pages)
    }
}

/// Page writes that are worked off together: few enough for the fastest cache.
const BLOCK: usize = 256;

/// Turns page operations into histories, and shows them to the analysis.
struct Feed<A> {
    pages: PageTable,
    analysis: A,
    /// Pages to be written, in order.
    block: Vec<u64>,
    /// The writes of these pages.
    writes: Vec<PageWrite>,
    is_full: bool,
}

impl<A: Analysis> Feed<A> {
    fn end_block(&mut self) {
        // Nothing more is counted once something could not be.
        if !self.is_full {
            self.writes.clear();
            self.is_full = self.pages.write(&self.block, &mut self.writes) == Err(Full);
            self.analysis.page_writes(&self.writes);
        }
        self.block.clear();
    }
}

impl<A: Analysis> PageSink for Feed<A> {
    #[inline]
    fn write(&mut self, first_page: u64, pages: u64) {
        for page in first_page..first_page + pages {
            self.block.push(page);
            if self.block.len() == BLOCK {
                self.end_block();
                if self.is_full {
                    return;
                }
            }
        }
    }

    fn trim(&mut self, first_page: u64, pages: u64) {
        self.end_block();
        self.pages.trim(first_page, pages);
    }
}

/// Notes what happened before the part that is looked at.
struct Earlier<'a> {
    pages: &'a mut PageTable,
    is_full: bool,
}

impl PageSink for Earlier<'_> {
    fn write(&mut self, first_page: u64, pages: u64) {
        let mut run = first_page..first_page + pages;
        self.is_full |= run.any(|page| self.pages.write_earlier(page) == Err(Full));
    }

    fn trim(&mut self, first_page: u64, pages: u64) {
        self.pages.trim(first_page, pages);
    }
}

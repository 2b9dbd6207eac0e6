//! How often each page of a drive is written.

use ftlab_trace::pages::{PageSink, expand, page_sectors};
use ftlab_trace::{RequestBatch, TraceError, TraceSource};

/// What of a workload is looked at, and on which drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// Pages of the drive.
    pub logical_pages: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Whether addresses beyond the drive are taken modulo its size, instead of being an error.
    pub wrap: bool,
    /// Whether trims are left out.
    pub ignore_trims: bool,
    /// Page writes after which it ends; all if `None`.
    pub writes_max: Option<u64>,
}

/// Takes one page after the other.
pub(super) trait EachPage {
    /// A write, or else a trim, of `page`; `continues` the request of the page before it.
    fn page(&mut self, page: u32, is_write: bool, continues: bool);
}

/// Hands on the pages of requests that are on the drive.
struct Within<'a, T> {
    reach: Reach,
    writes: u64,
    beyond: Option<u64>,
    each: &'a mut T,
}

impl<T: EachPage> Within<'_, T> {
    #[inline]
    fn run(&mut self, first: u64, pages: u64, is_write: bool) {
        let logical = u64::from(self.reach.logical_pages);
        if first + pages > logical && !self.reach.wrap {
            self.beyond.get_or_insert(first + pages - 1);
            return;
        }
        let most = self.reach.writes_max.unwrap_or(u64::MAX);
        for page in first..first + pages {
            if is_write {
                if self.writes == most {
                    return;
                }
                self.writes += 1;
            }
            self.each.page((page % logical) as u32, is_write, page > first);
        }
    }
}

impl<T: EachPage> PageSink for Within<'_, T> {
    #[inline]
    fn write(&mut self, first_page: u64, pages: u64) {
        self.run(first_page, pages, true);
    }

    fn trim(&mut self, first_page: u64, pages: u64) {
        if !self.reach.ignore_trims {
            self.run(first_page, pages, false);
        }
    }
}

impl Reach {
    /// Reads `source` up to its end or the last write that is looked at; the page writes.
    pub(super) fn pass(
        self,
        source: &mut dyn TraceSource,
        each: &mut impl EachPage,
    ) -> Result<u64, TraceError> {
        let sectors = page_sectors(self.page_bytes)?;
        let mut within = Within { reach: self, writes: 0, beyond: None, each };
        let mut batch = RequestBatch::new();
        while self.writes_max.is_none_or(|most| within.writes < most)
            && source.next_batch(&mut batch)?
        {
            expand(&batch, sectors, &mut within)?;
            if let Some(page) = within.beyond {
                return Err(TraceError::Unsupported {
                    what: format!(
                        "a request reaches page {page}, beyond the {} pages of the drive",
                        self.logical_pages
                    ),
                    remedy: "give a larger --logical, or --wrap".into(),
                });
            }
        }
        Ok(within.writes)
    }
}

/// How often each page of a drive is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageWrites {
    /// By page; 2^32 - 1 stands for more, too.
    pub(super) of_page: Vec<u32>,
    /// Of all pages.
    pub(super) writes: u64,
    /// Requests for these.
    requests: u64,
    pub(super) reach: Reach,
}

impl EachPage for PageWrites {
    #[inline]
    fn page(&mut self, page: u32, is_write: bool, continues: bool) {
        let writes = &mut self.of_page[page as usize];
        *writes = writes.saturating_add(is_write.into());
        self.requests += u64::from(is_write && !continues);
    }
}

impl PageWrites {
    /// Counts those of `source`.
    pub fn count(source: &mut dyn TraceSource, reach: Reach) -> Result<Self, TraceError> {
        let of_page = vec![0; reach.logical_pages as usize];
        let mut counts = Self { of_page, writes: 0, requests: 0, reach };
        counts.writes = reach.pass(source, &mut counts)?;
        Ok(counts)
    }

    /// All page writes.
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// Pages of a write request, on average.
    pub fn pages_per_request(&self) -> f64 {
        self.writes as f64 / self.requests.max(1) as f64
    }
}

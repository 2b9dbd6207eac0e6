//! How a database is set up, and how its generator runs: the load, then transactions.

use super::super::Space;
use super::super::requests::Steps;
use super::ahead::Ahead;
use super::{Database, Files, Layout, Uses};
use crate::{RequestBatch, TraceError};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Sizes as shares, and what is on the drive; the generators' parameters say more.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Setup {
    /// Of the drive, the initial database and the one at the end.
    pub(in super::super) start: f64,
    pub(in super::super) end: f64,
    /// Of the initial database, what is never written again.
    pub(in super::super) idle: f64,
    /// Of the initial database, the pool.
    pub(in super::super) buffer: f64,
    /// Of the pool, where pages begin that are read.
    pub(in super::super) old: f64,
    /// Of the pool, what leaves at a time.
    pub(in super::super) batch: f64,
    /// Of the initial database, the redo log.
    pub(in super::super) log_size: f64,
    pub(in super::super) log: bool,
    /// Drive pages of a database page.
    pub(in super::super) page: u32,
    /// Database pages of the double-write area.
    pub(in super::super) doublewrite: u32,
    /// Transactions whose commits are written at once.
    pub(in super::super) group: u32,
}

/// Database pages at most: 8 TiB of 4 KiB.
const PAGES_MAX: u32 = 1 << 31;

/// Pages of a pool at most: 1 TiB of 4 KiB.
const POOL_PAGES_MAX: u32 = 1 << 28;

/// Database pages that a request of the load writes.
const LOAD_PAGES: u32 = 64;

/// Requests that a step collects.
const STEP_REQUESTS: usize = 1024;

impl Setup {
    /// Pages of the initial database with everything in it, and where that lies on the drive.
    fn layout(&self, of: &str, space: &Space) -> Result<(u32, Layout), TraceError> {
        let pages = space.logical_pages / u64::from(self.page);
        if pages > u64::from(PAGES_MAX) {
            return Err(TraceError::Unsupported {
                what: format!("a database of {pages} pages"),
                remedy: format!("{of} works with up to {PAGES_MAX}: give larger pages"),
            });
        }
        let share = |share: f64| (share * pages as f64) as u32;
        let initial = share(self.start);
        let of_initial = |share: f64| (share * f64::from(initial)) as u32;
        let pool_pages = of_initial(self.buffer);
        if pool_pages > POOL_PAGES_MAX {
            return Err(TraceError::Unsupported {
                what: format!("a buffer pool of {pool_pages} pages"),
                remedy: format!(
                    "{of} works with up to {POOL_PAGES_MAX}: lower buffer or give larger pages"
                ),
            });
        }
        let batch_pages = (self.batch * f64::from(pool_pages)) as u32;
        let layout = Layout {
            page_bytes: space.page_bytes * self.page,
            pages: share(self.end),
            pool_pages,
            batch_pages: batch_pages.max(u32::from(self.batch > 0.0)),
            old_share: self.old,
            log_pages: of_initial(self.log_size),
            logs_here: self.log,
            doublewrite_pages: self.doublewrite,
            group: self.group,
            idle_first: 0,
            idle_pages: of_initial(self.idle),
        };
        Ok((initial, layout))
    }
}

/// What a benchmark does.
pub(in super::super) trait Transactions: Send + 'static {
    /// Whether it loads its rows itself, before all else that it does; else the pages of the initial database
    /// are loaded in their order.
    fn loads_rows(&self) -> bool {
        false
    }

    /// Runs the next transaction; false, and nothing done, if the database cannot grow any more.
    fn run_one(&mut self, uses: &mut Uses) -> bool;

    /// The files of the database.
    fn files(&self) -> &Files;

    /// Whether it grows, and so ends.
    fn grows(&self) -> bool {
        true
    }

    /// What is worth knowing of it, by name.
    fn properties(&self) -> Vec<(&'static str, String)>;
}

/// The initial load, and then transactions.
pub(in super::super) struct Benchmark<T> {
    database: Database,
    transactions: Ahead<T>,
    /// What transactions did last, and how much of it has been played.
    uses: Uses,
    played: usize,
    grows: bool,
    properties: Vec<(&'static str, String)>,
    /// Database pages that are loaded in their order, and how many have been.
    load_pages: u32,
    loaded: u32,
}

impl<T: Transactions> Benchmark<T> {
    /// The benchmark `of` with the tables that `load` makes for an initial database of so many pages,
    /// everything included.
    pub(in super::super) fn new(
        of: &str,
        setup: &Setup,
        space: &Space,
        load: impl FnOnce(u32, &Layout, Files, Xoshiro256PlusPlus) -> Result<T, TraceError>,
    ) -> Result<Self, TraceError> {
        let (initial, mut layout) = setup.layout(of, space)?;
        let system = Database::system_pages(&layout);
        if system >= initial {
            return Err(too_small(system, initial, "start"));
        }
        let (database, mut files) = Database::new(layout);
        let idle = layout.idle_pages;
        layout.idle_first = files.reserve(idle);
        let random = Xoshiro256PlusPlus::seed_from_u64(space.seed);
        let transactions = load(initial.saturating_sub(idle), &layout, files, random)?;
        let initial_pages = transactions.files().pages();
        if initial_pages > layout.pages {
            return Err(too_small(initial_pages, layout.pages, "end"));
        }
        let mut properties = transactions.properties();
        let load_pages = if transactions.loads_rows() { 0 } else { initial_pages };
        if load_pages > 0 {
            let page_writes = u64::from(load_pages) * u64::from(setup.page);
            properties.push(("load_page_writes", page_writes.to_string()));
        }
        Ok(Self {
            database,
            grows: transactions.grows(),
            transactions: Ahead::new(transactions, layout.page_bytes),
            uses: Uses::new(layout.page_bytes),
            played: 0,
            properties,
            load_pages,
            loaded: 0,
        })
    }

    /// Loads more of the initial database, or plays more transactions; false, and nothing done, at the end.
    fn go_on(&mut self) -> Result<bool, TraceError> {
        if self.loaded < self.load_pages {
            let pages = LOAD_PAGES.min(self.load_pages - self.loaded);
            self.database.load(self.loaded, pages);
            self.loaded += pages;
            return Ok(true);
        }
        if self.played == self.uses.all.len() {
            let Some(uses) = self.transactions.next()? else { return Ok(false) };
            (self.uses, self.played) = (uses, 0);
        }
        self.played += self.database.play(&self.uses.all[self.played..]);
        Ok(true)
    }
}

/// The error of a database that does not fit into what the parameter `which` gives it.
pub(in super::super) fn too_small(needed: u32, pages: u32, which: &str) -> TraceError {
    TraceError::Unsupported {
        what: format!("a database that needs {needed} pages in the {pages} that {which} gives it"),
        remedy: format!(
            "raise {which} or the size of the drive, or lower idle, log-size or doublewrite"
        ),
    }
}

impl<T: Transactions> Steps for Benchmark<T> {
    fn step(&mut self, out: &mut RequestBatch) -> Result<bool, TraceError> {
        while self.database.waiting() < STEP_REQUESTS && self.go_on()? {}
        self.database.take_requests(out);
        Ok(!out.is_empty())
    }

    fn has_end(&self) -> bool {
        self.grows
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        self.properties.clone()
    }
}

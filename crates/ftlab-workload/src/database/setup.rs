//! How a database is set up, and how its generator runs: the load, then transactions.

use super::ahead::Ahead;
use super::{Database, Files, Layout, Transactions, Uses};
use crate::requests::Steps;
use crate::sequence::{ByTransaction, Work};
use ftlab_trace::Space;
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{RequestBatch, TraceError};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

ftlab_spec::parameters! {
    /// What is on the drive beside the tables, and how pages leave the buffer pool.
    pub struct Setup {
        /// Buffer pool, as a share of the initial database.
        buffer: f64 = 0.1, "buffer" in 0.0..=10.0, from "2R (PVLDB 2020), section 5.1";
        /// Share of the pool that is its old end: pages that are read begin there, become young when they are
        /// used again, and leave from there; 0 for LRU.
        old: f64 = 0.0, "old" in 0.0..=0.95, from "LRU; InnoDB: 0.37 (innodb_old_blocks_pct)";
        /// Share of the pool that is freed at a time, the oldest pages first: those that have not changed
        /// leave, others are written and leave at a later time; 0 writes and frees page by page.
        batch: f64 = 0.0, "batch" in 0.0..=0.9, from "LRU; MariaDB: half of innodb_lru_scan_depth, 768 pages";
        /// Drive pages of a database page.
        page: u32 = 1, "page" in 1..=64, from "our choice";
        /// Whether the redo log is on this drive.
        log: bool = false, "log", from "our choice";
        /// Size of the redo log, as a share of the initial database: changed pages are on the drive
        /// before it has gone round.
        log_size: f64 = 0.1, "log-size" in 0.0..=10.0, from "our choice";
        /// Database pages of the double-write area, which is written from its start; 0 for none.
        doublewrite: u32 = 0, "doublewrite" in 0..=4096, from "our choice";
        /// Transactions whose commits go into one write of the log, as those of many clients do.
        group: u32 = 1, "group" in 1..=1024, from "one client; InnoDB: group commit";
    }
}

/// How large the database is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Of the drive, the initial database and the one at the end.
    pub(crate) start: f64,
    pub(crate) end: f64,
    /// Of the initial database, what is never written again.
    pub(crate) idle: f64,
    /// Whether pages that are added to the initial database are written, or have another drive.
    pub(crate) added: bool,
}

/// Database pages at most: 8 TiB of 4 KiB.
const PAGES_MAX: u32 = 1 << 31;

/// Pages of a pool at most: 1 TiB of 4 KiB.
const POOL_PAGES_MAX: u32 = 1 << 28;

/// Database pages that a request of the load writes.
const LOAD_PAGES: u32 = 64;

/// Requests that a step collects.
const STEP_REQUESTS: usize = 1024;

impl Sizes {
    /// Pages of the initial database with everything in it, and where that lies on the drive.
    fn layout(&self, of: &str, setup: &Setup, space: &Space) -> Result<(u32, Layout), TraceError> {
        let pages = space.logical_pages / u64::from(setup.page);
        if pages > u64::from(PAGES_MAX) {
            return Err(TraceError::Unsupported {
                what: format!("a database of {pages} pages"),
                remedy: format!("{of} works with up to {PAGES_MAX}: give larger pages"),
            });
        }
        let share = |share: f64| (share * pages as f64) as u32;
        let initial = share(self.start);
        let of_initial = |share: f64| (share * f64::from(initial)) as u32;
        let pool_pages = of_initial(setup.buffer);
        if pool_pages > POOL_PAGES_MAX {
            return Err(TraceError::Unsupported {
                what: format!("a buffer pool of {pool_pages} pages"),
                remedy: format!(
                    "{of} works with up to {POOL_PAGES_MAX}: lower buffer or give larger pages"
                ),
            });
        }
        let batch_pages = (setup.batch * f64::from(pool_pages)) as u32;
        let layout = Layout {
            page_bytes: space.page_bytes * setup.page,
            pages: share(self.end),
            pool_pages,
            batch_pages: batch_pages.max(u32::from(setup.batch > 0.0)),
            old_share: setup.old,
            log_pages: of_initial(setup.log_size),
            logs_here: setup.log,
            doublewrite_pages: setup.doublewrite,
            group: setup.group,
            idle_first: 0,
            idle_pages: of_initial(self.idle),
        };
        Ok((initial, layout))
    }
}

/// The initial load, and then transactions.
pub(crate) struct Benchmark<T> {
    database: Database,
    transactions: Ahead<T>,
    /// What transactions did last, and how much of it has been played.
    uses: Uses,
    played: usize,
    /// How many of these transactions have been played, if somebody wants to know.
    played_whole: usize,
    properties: Vec<(&'static str, String)>,
    /// Database pages that are loaded in their order, and how many have been.
    load_pages: u32,
    loaded: u32,
    /// The first sector of pages that have another drive.
    end_sector: u64,
}

impl<T: Transactions> Benchmark<T> {
    /// The benchmark `of` with the tables that `load` makes for an initial database, of whose pages it is
    /// given the number, everything included.
    pub(crate) fn new(
        of: &str,
        sizes: &Sizes,
        setup: &Setup,
        space: &Space,
        load: impl FnOnce(u32, &Layout, Files, Xoshiro256PlusPlus) -> Result<T, TraceError>,
    ) -> Result<Self, TraceError> {
        let (initial, mut layout) = sizes.layout(of, setup, space)?;
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
        let drive_pages = space.logical_pages / u64::from(setup.page);
        if !sizes.added && u64::from(initial_pages) > drive_pages {
            return Err(TraceError::Unsupported {
                what: format!(
                    "an initial database of {initial_pages} pages on a drive of {drive_pages}"
                ),
                remedy: "lower start".to_owned(),
            });
        }
        let page_sectors = u64::from(layout.page_bytes) / SECTOR_BYTES;
        let end_sector =
            if sizes.added { u64::MAX } else { u64::from(initial_pages) * page_sectors };
        let mut properties = transactions.properties();
        let load_pages = if transactions.loads_rows() { 0 } else { initial_pages };
        if load_pages > 0 {
            let page_writes = u64::from(load_pages) * u64::from(setup.page);
            properties.push(("load_page_writes", page_writes.to_string()));
        }
        Ok(Self {
            database,
            transactions: Ahead::new(transactions, layout.page_bytes),
            uses: Uses::new(layout.page_bytes),
            played: 0,
            played_whole: 0,
            properties,
            load_pages,
            loaded: 0,
            end_sector,
        })
    }

    /// Takes the requests that wait, but for those to pages that have another drive; false if none waited.
    fn take_requests(&mut self, out: &mut RequestBatch) -> bool {
        self.database.take_requests(out);
        let are_some = !out.is_empty();
        if self.end_sector < u64::MAX {
            let kept: Vec<bool> = out.lba.iter().map(|lba| *lba < self.end_sector).collect();
            out.retain(&kept);
        }
        are_some
    }

    /// Loads more of the initial database, if its pages are loaded in their order; false if they have been.
    fn load_more(&mut self) -> bool {
        let pages = LOAD_PAGES.min(self.load_pages - self.loaded);
        if pages > 0 {
            self.database.load(self.loaded, pages);
            self.loaded += pages;
        }
        pages > 0
    }

    /// Loads more of the initial database, or plays more transactions; false, and nothing done, at the end.
    fn advance(&mut self) -> Result<bool, TraceError> {
        if self.load_more() {
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

impl<T: Transactions> ByTransaction for Benchmark<T> {
    fn next_transaction(&mut self, out: &mut RequestBatch) -> Result<Option<Work>, TraceError> {
        if self.load_more() {
            self.take_requests(out);
            return Ok(Some(Work::Load));
        }
        while self.played_whole == self.uses.ends.len() {
            let Some(uses) = self.transactions.next()? else { return Ok(None) };
            (self.uses, self.played, self.played_whole) = (uses, 0, 0);
        }
        let end = self.uses.ends[self.played_whole];
        self.database.play_and_read(&self.uses.all[self.played..end]);
        let is_load = self.played_whole < self.uses.loads;
        (self.played, self.played_whole) = (end, self.played_whole + 1);
        self.take_requests(out);
        Ok(Some(if is_load { Work::Load } else { Work::Transaction }))
    }
}

/// The error of a database that does not fit into what the parameter `which` gives it.
pub(crate) fn too_small(needed: u32, pages: u32, which: &str) -> TraceError {
    TraceError::Unsupported {
        what: format!("a database that needs {needed} pages in the {pages} that {which} gives it"),
        remedy: format!(
            "raise {which} or the size of the drive, or lower idle, log-size or doublewrite"
        ),
    }
}

impl<T: Transactions> Steps for Benchmark<T> {
    fn step(&mut self, out: &mut RequestBatch) -> Result<bool, TraceError> {
        while self.database.waiting() < STEP_REQUESTS && self.advance()? {}
        Ok(self.take_requests(out))
    }

    fn by_transaction(&mut self) -> Option<&mut dyn ByTransaction> {
        self.transactions.keep_ends();
        Some(self)
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        self.properties.clone()
    }
}

//! What `tpcc`, `linkbench` and `ycsb` share: the part of a database between its rows and the drive.
//!
//! Transactions read and change pages; [`Database`] decides which page writes come of it. That is
//! much of the workload: what reaches the drive is what leaves the buffer pool.
//!
//! # Rule
//! - Pages are kept in a [`pool`]; the one not used for longest leaves, and is written if it has
//!   changed. A page whose first change lies [`CHECKPOINT_SHARE`] of the redo log's size back is
//!   written too: the log is a ring, and needs the place.
//! - Pages leave one by one, or, when the pool is full, in batches, as MariaDB's page cleaner lets them
//!   go: from the oldest page on, those that have not changed leave; those that have are written, and stay.
//!   They leave with a later batch, unless they have changed again: pages in use that batches reach are
//!   written each time, and never leave.
//! - With a double-write area, changed pages wait until the area is full or a batch is complete. They are
//!   written there from its start, in one request, and then each to its own place.
//! - With the redo log on this drive, a commit writes it from the sector where the one before ended,
//!   and asks for a flush, together with the commits that have waited for it (group commit). Whenever a
//!   quarter of the log has been written, so is its first page, as the record of a checkpoint.
//! - The tables' files take the drive in extents, in the order in which they need them.
//!
//! # What is simplified
//! There is no clock, so nothing happens because time passes: no page cleaner that writes ahead of
//! need; groups of commits are all of the same size. The file system writes nothing of its own (in the
//! captured traces, half a percent). Files grow, and never shrink.
//!
//! # Reference
//! The rules are those of InnoDB as its manual describes them (MariaDB Server documentation, InnoDB
//! buffer pool, redo log and doublewrite buffer).

mod files;
mod log;
mod pool;
mod setup;
pub(super) mod tables;
mod undo;

pub(super) use files::{File, Files};
pub(super) use setup::{Benchmark, Setup, Transactions, too_small};
pub(super) use undo::Undo;

use crate::pages::SECTOR_BYTES;
use crate::{Op, RequestBatch};
use log::{DoubleWrite, RedoLog};
use pool::Pool;

/// Of the redo log's size, how much may be written before a change has to be on the drive: what
/// InnoDB calls the asynchronous flush point.
const CHECKPOINT_SHARE: f64 = 0.75;

/// Where the redo log and the double-write area are, in pages of the database; their files come first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Bytes of a database page, a multiple of 512.
    pub(super) page_bytes: u32,
    /// Pages that the database may grow to.
    pub(super) pages: u32,
    /// Pages of the buffer pool.
    pub(super) pool_pages: u32,
    /// Share of the pool where pages begin that are read; 0 for LRU.
    pub(super) old_share: f64,
    /// Pages that leave the pool at a time, but for one; 0 for one by one.
    pub(super) batch_pages: u32,
    /// Pages of the redo log.
    pub(super) log_pages: u32,
    /// Whether the log is on this drive.
    pub(super) logs_here: bool,
    /// Pages of the double-write area; 0 for none.
    pub(super) doublewrite_pages: u32,
    /// Transactions whose commits are written at once.
    pub(super) group: u32,
    /// Pages that are written by the load and never again: the first, and how many.
    pub(super) idle_first: u32,
    pub(super) idle_pages: u32,
}

#[cfg(test)]
impl Layout {
    /// A kilopage with a pool of four, a log elsewhere, and nothing else.
    pub(super) const SMALL: Self = Self {
        page_bytes: 4096,
        pages: 1024,
        pool_pages: 4,
        old_share: 0.0,
        batch_pages: 0,
        log_pages: 64,
        logs_here: false,
        doublewrite_pages: 0,
        group: 1,
        idle_first: 0,
        idle_pages: 0,
    };
}

/// The pool, the log and the double-write area, and the requests that they make.
pub(super) struct Database {
    pool: Pool,
    page_sectors: u32,
    batch_pages: usize,
    log: RedoLog,
    group: u32,
    /// Commits since the log was written.
    committed: u32,
    doublewrite: DoubleWrite,
    out: RequestBatch,
}

impl Database {
    /// A database without tables, and the files to make them from.
    pub(super) fn new(layout: Layout) -> (Self, Files) {
        let mut files = Files::new(layout.pages);
        let log_pages = if layout.logs_here { layout.log_pages } else { 0 };
        let log_first = files.reserve(log_pages);
        let doublewrite_first = files.reserve(layout.doublewrite_pages);
        let page_sectors = layout.page_bytes / SECTOR_BYTES as u32;
        let database = Self {
            pool: Pool::new(
                layout.pool_pages.max(1) as usize,
                layout.old_share,
                layout.pages as usize,
            ),
            page_sectors,
            batch_pages: layout.batch_pages as usize,
            log: RedoLog::new(log_first, layout.log_pages, page_sectors, layout.logs_here),
            group: layout.group,
            committed: 0,
            doublewrite: DoubleWrite::new(
                doublewrite_first,
                layout.doublewrite_pages,
                page_sectors,
            ),
            out: RequestBatch::new(),
        };
        (database, files)
    }

    /// Pages that the log and the double-write area take.
    pub(super) fn system_pages(layout: &Layout) -> u32 {
        let log_pages = if layout.logs_here { layout.log_pages } else { 0 };
        Files::extents(log_pages) + Files::extents(layout.doublewrite_pages)
    }

    /// Bytes of a page.
    pub(super) fn page_bytes(&self) -> u32 {
        self.page_sectors * SECTOR_BYTES as u32
    }

    /// Requests that wait.
    pub(super) fn waiting(&self) -> usize {
        self.out.len()
    }

    /// Swaps the requests that wait for `out`, which is empty.
    pub(super) fn take_requests(&mut self, out: &mut RequestBatch) {
        std::mem::swap(out, &mut self.out);
    }

    /// Tells that a transaction will use `pages` next: only time depends on it.
    #[inline]
    pub(super) fn look_ahead(&self, pages: &[u32]) {
        self.pool.look_ahead(pages);
    }

    /// A transaction looks at `page`.
    #[inline]
    pub(super) fn read(&mut self, page: u32) {
        self.pool.read(page);
        self.make_room();
    }

    /// A transaction changes `page`, and the redo log grows by `redo_bytes`.
    #[inline]
    pub(super) fn change(&mut self, page: u32, redo_bytes: u32) {
        self.change_or_make(page, false, redo_bytes);
    }

    /// A transaction makes `page`, which was not there or not used, and the redo log grows.
    #[inline]
    pub(super) fn make(&mut self, page: u32, redo_bytes: u32) {
        self.change_or_make(page, true, redo_bytes);
    }

    /// A leaf of an index has split, and `page` is new: half of a page of rows goes through the log.
    pub(super) fn make_half(&mut self, page: u32) {
        self.make(page, self.page_bytes() / 2);
    }

    #[inline]
    fn change_or_make(&mut self, page: u32, is_new: bool, redo_bytes: u32) {
        self.log.append(redo_bytes);
        self.pool.change(page, is_new, self.log.end_sectors());
        self.make_room();
    }

    /// A transaction writes undo records, which the redo log has with what they are for.
    #[inline]
    pub(super) fn write_undo(&mut self, undo: &mut Undo, bytes: u32) {
        let (header, page) = undo.append(bytes);
        self.change(header, 0);
        self.change(page, 0);
    }

    /// If the pool is too full, lets a page go, or a batch of them.
    #[inline]
    fn make_room(&mut self) {
        let excess = self.pool.excess();
        if excess == 0 {
            return;
        }
        let Self { pool, doublewrite, out, .. } = self;
        if self.batch_pages == 0 {
            for page in (0..excess).filter_map(|_| pool.evict()) {
                doublewrite.add(page, out);
            }
        } else {
            pool.clean(excess + self.batch_pages, |page| doublewrite.add(page, out));
            doublewrite.write(out);
        }
    }

    /// A transaction is over.
    #[inline]
    pub(super) fn commit(&mut self) {
        self.committed += 1;
        if self.committed >= self.group {
            self.log.commit(&mut self.out);
            self.committed = 0;
        }
        let oldest = self.log.end_sectors().saturating_sub(self.log.max_age_sectors());
        while let Some(page) = self.pool.pop_changed_before(oldest) {
            self.doublewrite.add(page, &mut self.out);
        }
    }

    /// The initial load: these pages, one after the other.
    pub(super) fn load(&mut self, first_page: u32, pages: u32) {
        let lba = u64::from(first_page) * u64::from(self.page_sectors);
        self.out.push(Op::Write, lba, pages * self.page_sectors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(layout: Layout, work: impl Fn(&mut Database, u32)) -> Vec<(Op, u64, u32)> {
        let (mut database, mut files) = Database::new(layout);
        let first = files.reserve(100);
        work(&mut database, first);
        database.out.iter().collect()
    }

    #[test]
    fn only_changed_pages_that_leave_the_pool_are_written() {
        let written = requests(Layout::SMALL, |database, first| {
            database.change(first, 100);
            database.read(first + 1);
            database.change(first, 100);
            for page in 2..6 {
                database.read(first + page);
            }
            database.commit();
        });
        assert_eq!(written, [(Op::Write, 0, 8)]);
    }

    #[test]
    fn a_page_that_never_leaves_is_written_when_the_log_needs_its_place() {
        let written = requests(Layout::SMALL, |database, first| {
            // 48 of 64 pages of log at 4 KiB each: the change of every round is written 48 later.
            for _ in 0..100 {
                database.change(first, 4096);
                database.commit();
            }
        });
        assert_eq!(written, [(Op::Write, 0, 8); 2]);
    }

    #[test]
    fn pages_are_written_to_the_start_of_the_area_and_then_to_their_places() {
        let layout = Layout { doublewrite_pages: 2, ..Layout::SMALL };
        let written = requests(layout, |database, first| {
            for page in 0..9 {
                database.change(first + page, 100);
            }
        });
        let page = |page: u64| (Op::Write, 8 * (64 + page), 8);
        let flush = (Op::Flush, 0, 0);
        let expected = [
            (Op::Write, 0, 16),
            flush,
            page(0),
            page(1),
            (Op::Write, 0, 16),
            flush,
            page(2),
            page(3),
        ];
        assert_eq!(written, expected);
    }

    #[test]
    fn a_batch_writes_what_has_changed_and_lets_go_what_has_not() {
        let layout = Layout { doublewrite_pages: 8, batch_pages: 2, ..Layout::SMALL };
        let written = requests(layout, |database, first| {
            for page in 0..8 {
                database.change(first + page, 100);
            }
        });
        let page = |page: u64| (Op::Write, 8 * (64 + page), 8);
        let batch = |pages: std::ops::Range<u64>| {
            let twice = [(Op::Write, 0, 8 * pages.clone().count() as u32), (Op::Flush, 0, 0)];
            twice.into_iter().chain(pages.map(page)).collect::<Vec<_>>()
        };
        // All of the first five have changed, so none leaves; the sixth finds four of them unchanged.
        assert_eq!(written, batch(0..5));
    }

    #[test]
    fn commits_write_the_log_from_where_it_ended_and_round() {
        let layout = Layout { log_pages: 2, logs_here: true, ..Layout::SMALL };
        let written = requests(layout, |database, first| {
            for _ in 0..3 {
                database.change(first, 2000);
                database.commit();
            }
        });
        let writes: Vec<_> = written.into_iter().filter(|(op, ..)| *op == Op::Write).collect();
        // The first page is the record of checkpoints, so the ring has one page of 8 sectors: bytes
        // 0 to 2000, then 2000 to 4000, then 4000 to 6000, which begins again. A quarter of the log
        // is 4 sectors.
        assert_eq!(writes[0], (Op::Write, 8, 4));
        assert!(writes.contains(&(Op::Write, 11, 5)));
        assert!(writes.contains(&(Op::Write, 15, 1)) && writes.contains(&(Op::Write, 8, 4)));
        assert!(writes.contains(&(Op::Write, 0, 1)), "{writes:?}");
    }
}

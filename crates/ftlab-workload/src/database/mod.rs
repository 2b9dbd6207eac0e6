//! What `tpcc`, `linkbench` and `ycsb` share: the part of a database between its rows and the drive.
//!
//! [`Transactions`] read and change pages; [`Database`] decides which page writes come of these [`Uses`].
//! That is much of the workload: what reaches the drive is what leaves the buffer pool. Transactions know
//! nothing of the pool, and run ahead of it on a thread of their own ([`ahead`]).
//!
//! # Rule
//! - Pages are kept in a [`pool`]; the one not used for longest leaves, and is written if it has
//!   changed. A page whose first change lies [`CHECKPOINT_SHARE`](log::CHECKPOINT_SHARE) of the redo log's
//!   size back is written too: the log is a ring, and needs the place. Both happen after each block of 256
//!   uses and commits, or fewer for a small pool: a 64th of its pages.
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

mod ahead;
mod files;
mod layout;
mod log;
mod pool;
mod setup;
pub(super) mod tables;
mod transactions;
mod undo;
mod uses;

pub(super) use files::{File, Files};
pub(super) use layout::Layout;
pub(super) use setup::{Benchmark, Setup, Sizes, too_small};
pub(super) use transactions::Transactions;
pub(super) use undo::Undo;
pub(super) use uses::Uses;

use ftlab_trace::{Op, RequestBatch};
use log::{DoubleWrite, RedoLog};
use pool::{PageUse, Pool};
use std::hint::select_unpredictable;
use uses::{Kind, Use};

/// The pool, the log and the double-write area, and the requests that they make.
pub(super) struct Database {
    pool: Pool,
    /// Uses since room was made.
    used: usize,
    page_sectors: u32,
    log: RedoLog,
    doublewrite: DoubleWrite,
    /// Pages on their way out of the pool.
    written: Vec<u32>,
    out: RequestBatch,
}

impl Database {
    /// A database without tables, and the files to make them from.
    pub(super) fn new(layout: Layout) -> (Self, Files) {
        let mut files = Files::new(layout.pages);
        let log_pages = if layout.logs_here { layout.log_pages } else { 0 };
        let log_first = files.reserve(log_pages);
        let doublewrite_first = files.reserve(layout.doublewrite_pages);
        let database = Self {
            pool: Pool::new(
                layout.pool_pages.max(1) as usize,
                layout.old_share,
                layout.batch_pages as usize,
                layout.pages as usize,
            ),
            used: 0,
            page_sectors: layout.page_sectors(),
            log: RedoLog::new(log_first, &layout),
            doublewrite: DoubleWrite::new(doublewrite_first, &layout),
            written: Vec::new(),
            out: RequestBatch::new(),
        };
        (database, files)
    }

    /// Pages that the log and the double-write area take.
    pub(super) fn system_pages(layout: &Layout) -> u32 {
        let log_pages = if layout.logs_here { layout.log_pages } else { 0 };
        Files::extents(log_pages) + Files::extents(layout.doublewrite_pages)
    }

    /// Requests that wait.
    #[inline]
    pub(super) fn waiting(&self) -> usize {
        self.out.len()
    }

    /// Swaps the requests that wait for `out`, which is empty.
    pub(super) fn take_requests(&mut self, out: &mut RequestBatch) {
        std::mem::swap(out, &mut self.out);
    }

    /// Plays the first uses, as many as belong to a block; returns how many.
    fn play(&mut self, uses: &[Use]) -> usize {
        let some = &uses[..uses.len().min(self.pool.block_uses() - self.used)];
        self.pool.prefetch(some.iter().map(|next| next.page));
        self.use_pages(some);
        self.used += some.len();
        if self.used == self.pool.block_uses() {
            self.used = 0;
            self.make_room();
        }
        some.len()
    }

    /// Plays the uses of a transaction, after the reads of the pages that are not in memory.
    fn play_and_read(&mut self, uses: &[Use]) {
        for next in uses {
            let is_read = matches!(next.kind(), Kind::Read | Kind::Change);
            if is_read && self.pool.is_absent(next.page) {
                let lba = u64::from(next.page) * u64::from(self.page_sectors);
                self.out.push(Op::Read, lba, self.page_sectors);
            }
            self.play(std::slice::from_ref(next));
        }
    }

    fn use_pages(&mut self, uses: &[Use]) {
        let Self { pool, log, out, .. } = self;
        pool.use_pages(uses.iter().filter_map(|next| {
            let kind = next.kind();
            if kind == Kind::Commit {
                log.commit(out);
                return None;
            }
            log.append(next.redo_bytes());
            let changed = select_unpredictable(kind == Kind::Read, 0, log.end_sectors());
            Some(PageUse { page: next.page, is_new: kind == Kind::Make, changed })
        }));
    }

    /// Writes the changed pages whose first change lies too far back, and those that leave the pool.
    fn make_room(&mut self) {
        let Self { pool, log, doublewrite, written, out, .. } = self;
        let oldest = log.end_sectors().saturating_sub(log.max_age_sectors());
        written.clear();
        let is_batch = pool.make_room(oldest, written);
        doublewrite.add(written, out);
        if is_batch {
            doublewrite.write(out);
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

    fn requests(layout: Layout, work: impl Fn(&mut Uses, u32)) -> Vec<(Op, u64, u32)> {
        let (mut database, mut files) = Database::new(layout);
        let first = files.reserve(100);
        let mut uses = Uses::new(layout.page_bytes);
        work(&mut uses, first);
        let mut played = 0;
        while played < uses.all.len() {
            played += database.play(&uses.all[played..]);
        }
        database.out.iter().collect()
    }

    #[test]
    fn it_does_not_matter_how_uses_are_handed_over() {
        let layout = Layout { pool_pages: 300, logs_here: true, ..Layout::SMALL };
        let mut uses = Uses::new(layout.page_bytes);
        for number in 0..20_000_u32 {
            uses.change_or_make(number.wrapping_mul(2_654_435_761) >> 23, number % 9 == 0, 100);
            if number % 5 == 0 {
                uses.commit();
            }
        }
        let by = |pieces: usize| {
            let (mut database, _) = Database::new(layout);
            for mut piece in uses.all.chunks(pieces) {
                while !piece.is_empty() {
                    piece = &piece[database.play(piece)..];
                }
            }
            database.out
        };
        let whole = by(uses.all.len());
        assert!(whole.len() > 10_000);
        assert!([1, 3, 1000].into_iter().all(|pieces| by(pieces) == whole));
    }

    #[test]
    fn only_changed_pages_that_leave_the_pool_are_written() {
        let written = requests(Layout::SMALL, |uses, first| {
            uses.change(first, 100);
            uses.read(first + 1);
            uses.change(first, 100);
            for page in 2..6 {
                uses.read(first + page);
            }
            uses.commit();
        });
        assert_eq!(written, [(Op::Write, 0, 8)]);
    }

    #[test]
    fn a_page_that_never_leaves_is_written_when_the_log_needs_its_place() {
        let written = requests(Layout::SMALL, |uses, first| {
            // 48 of 64 pages of log at 4 KiB each: the change of every round is written 48 later.
            for _ in 0..100 {
                uses.change(first, 4096);
                uses.commit();
            }
        });
        assert_eq!(written, [(Op::Write, 0, 8); 2]);
    }

    #[test]
    fn pages_are_written_to_the_start_of_the_area_and_then_to_their_places() {
        let layout = Layout { doublewrite_pages: 2, ..Layout::SMALL };
        let written = requests(layout, |uses, first| {
            for page in 0..9 {
                uses.change(first + page, 100);
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
        let written = requests(layout, |uses, first| {
            for page in 0..8 {
                uses.change(first + page, 100);
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
        let written = requests(layout, |uses, first| {
            for _ in 0..3 {
                uses.change(first, 2000);
                uses.commit();
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

//! `tpcc`: a TPC-C database that grows, as its page writes reach the drive.
//!
//! # Idea
//! The transactions of TPC-C run, row by row, on tables and indexes of real sizes; a buffer pool decides
//! which page writes come of it. Skew, temporal locality and frozen pages are not put in: they follow.
//!
//! - stock and customer are updated in place, with the benchmark's skew;
//! - orders, order lines and history are appended: their pages are hot while they fill, are changed once
//!   more at delivery, and are then frozen;
//! - the queue of new orders is a window that moves;
//! - the indexes of order lines (by item), of orders and of history (by customer) take rows anywhere:
//!   their leaves split, and never freeze.
//!
//! # Rule
//! The initial database takes `start` of the drive and is written first, in order; its number of
//! warehouses follows (`scale`). Then transactions run one by one, ten new orders and ten payments to
//! one delivery, one look at an order and one at the stock, in random order (`inputs`, `transactions`),
//! over what `database` describes. When the database has grown to `end` of the drive, the
//! sequence ends: page writes cannot be asked for beyond that.
//!
//! # Parameters
//! What describes a setup: sizes as shares of the initial database or of the drive, and what else is on
//! the drive. The defaults are those of the 2R paper's simulations, whose trace has the pages of the
//! tables only.
//!
//! # What is simplified
//! Row sizes are constants, those of MariaDB for the schema of sysbench-tpcc with its secondary indexes.
//! Other schemas differ most in those: without the index of order lines by item, half of the page writes
//! would be gone. No order is rolled back, and a look at an order finds the last one of its district. See
//! `database` for what happens below.
//!
//! # Reference
//! TPC Benchmark C, revision 5.11, clauses 1 and 2. Kang et al., "2R: Efficiently Isolating Cold Pages in
//! Flash Storages", PVLDB 2020, sections 2.2 and 5.1. S. T. Leutenegger and D. Dias, "A Modeling Study of
//! the TPC-C Benchmark", SIGMOD 1993.

mod inputs;
mod scale;
mod transactions;

use super::database::{Benchmark, Setup};
use super::requests::Stepped;
use super::{GeneratorInfo, PageSequence, Space};
use crate::TraceError;
use ftlab_spec::{Parameters, Spec};
use scale::Scale;
use transactions::Tpcc;

ftlab_spec::parameters! {
    /// The setup.
    pub struct TpccParameters {
        /// Share of the drive that the initial database takes, log and double-write area included.
        start: f64 = 0.1, "start" in 0.001..=1.0, from "2R (PVLDB 2020), section 5.1: from 1 GB to 10 GB";
        /// Share of the drive that the database grows to.
        end: f64 = 1.0, "end" in 0.001..=1.0, from "2R (PVLDB 2020), section 5.1";
        /// Whether items and customers are drawn with the skew of the specification. sysbench-tpcc draws
        /// the constant of NURand anew for each number, which leaves little of it.
        skew: bool = true, "skew", from "TPC-C, clause 2.1.6";
        /// Share of the initial database that is written by the load and never again, such as undo logs
        /// of the load and tables that nobody uses.
        idle: f64 = 0.0, "idle" in 0.0..=0.9, from "our choice";
        /// Buffer pool, as a share of the initial database.
        buffer: f64 = 0.1, "buffer" in 0.0..=10.0, from "2R (PVLDB 2020), section 5.1";
        /// Share of the pool that is its old end: pages that are read begin there, become young when they are
        /// used again, and leave from there; 0 for LRU.
        old: f64 = 0.0, "old" in 0.0..=0.95, from "LRU; InnoDB: 0.37 (innodb_old_blocks_pct)";
        /// Share of the pool that is freed at a time, the oldest pages first: those that have not changed
        /// leave, others are written and leave at a later time; 0 writes and frees page by page.
        batch: f64 = 0.0, "batch" in 0.0..=0.9, from "LRU; MariaDB: half of innodb_lru_scan_depth, 768 pages";
        /// Drive pages of a database page.
        page: u32 = 1, "page" in 1..=64, from "2R (PVLDB 2020), section 5.1: 4 KB";
        /// Whether the redo log is on this drive.
        log: bool = false, "log", from "our reading: the trace is of the database";
        /// Size of the redo log, as a share of the initial database: changed pages are on the drive
        /// before it has gone round.
        log_size: f64 = 0.1, "log-size" in 0.0..=10.0, from "our choice";
        /// Database pages of the double-write area, which is written from its start; 0 for none.
        doublewrite: u32 = 0, "doublewrite" in 0..=4096, from "our reading: the trace is of a database without";
        /// Transactions whose commits go into one write of the log, as those of many clients do.
        group: u32 = 1, "group" in 1..=1024, from "one client; InnoDB: group commit";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "tpcc",
    summary: "a TPC-C database that grows, behind a buffer pool; ends when it has grown",
    source: "2R (PVLDB 2020), sections 2.2 and 5.1",
    parameters: TpccParameters::describe,
    resolve: TpccParameters::resolve,
    build,
    areas: |_, _| Ok(Vec::new()),
};

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let TpccParameters {
        start,
        end,
        skew,
        idle,
        buffer,
        old,
        batch,
        page,
        log,
        log_size,
        doublewrite,
        group,
    } = TpccParameters::from_spec(spec)?;
    let setup =
        Setup { start, end, idle, buffer, old, batch, log_size, log, page, doublewrite, group };
    let benchmark = Benchmark::new("tpcc", &setup, space, |pages, layout, files, random| {
        Ok(Tpcc::new(&Scale::new(pages, layout)?, skew, files, random))
    })?;
    Ok(Box::new(Stepped::new(benchmark, space.page_bytes)))
}

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
//! - the indexes of orders and of history (by customer), and that of order lines (by item, with
//!   `schema=sysbench`), take rows anywhere: their leaves split, and never freeze.
//!
//! # Rule
//! The initial database takes `start` of the drive and is written first, in order; its number of
//! warehouses follows (`scale`). Then transactions run one by one, ten new orders and ten payments to
//! one delivery, one look at an order and one at the stock, in random order (`inputs`, `transactions`),
//! over what `database` describes. When the database has grown to `end` of the drive, the
//! sequence ends: page writes cannot be asked for beyond that.
//!
//! # Parameters
//! With `added=false` the drive holds the initial database, and pages added to it have another drive:
//! what Wolf's evaluation calls the initial pages of TPC-C (section 6.2).
//!
//! What describes a setup: sizes as shares of the initial database or of the drive, and what else is on
//! the drive. The defaults are those of the 2R paper's simulations, whose trace has the pages of the
//! tables only.
//!
//! | table or index | source | rows come | `tpcc` | `sysbench` | `lookups` |
//! |---|---|---|---|---|---|
//! | warehouse, district, item, stock, customer | clause 1.3 | once | yes | yes | yes |
//! | customers by name | clause 2.5.2.2 | once | yes | yes | yes |
//! | orders, order lines, new orders, history | clause 1.3 | in order | yes | yes | yes |
//! | orders by customer | clause 2.6.2.2 | anywhere | yes | yes | yes |
//! | history by customer | clause 1.3, foreign key | anywhere | yes | yes | |
//! | history by district | clause 1.3, foreign key | in order | yes | yes | |
//! | order lines by item of a warehouse | clause 1.3, foreign key | anywhere | | yes | |
//!
//! The specification asks for keys and not for indexes. Transactions would read whole tables without
//! those of customers by name and of orders by customer. History has no primary key: its foreign keys are
//! all that leads to a row. The last index serves nothing but the check of a foreign key, as MySQL
//! (InnoDB) wants it; half of the page writes to tables and indexes go to its leaves.
//!
//! # What is simplified
//! Row sizes are constants, those of MariaDB for the tables of sysbench-tpcc. No order is rolled back, and
//! a look at an order finds the last one of its district. See `database` for what happens below.
//!
//! # Reference
//! TPC Benchmark C, revision 5.11, clauses 1 and 2. Kang et al., "2R: Efficiently Isolating Cold Pages in
//! Flash Storages", PVLDB 2020, sections 2.2 and 5.1. S. T. Leutenegger and D. Dias, "A Modeling Study of
//! the TPC-C Benchmark", SIGMOD 1993.

mod inputs;
mod scale;
mod transactions;

use super::database::{Benchmark, Setup, Sizes};
use super::generator::{End, GeneratorInfo, Make};
use super::requests::Stepped;
use super::sequence::PageSequence;
use ftlab_spec::{Parameters, Spec};
use ftlab_trace::Space;
use ftlab_trace::TraceError;
use scale::{Scale, Schema};
use transactions::Tpcc;

ftlab_spec::parameters! {
    /// The setup.
    pub struct TpccParameters {
        /// Share of the drive that the initial database takes, log and double-write area included.
        start: f64 = 0.1, "start" in 0.001..=1.0, from "2R (PVLDB 2020), section 5.1: from 1 GB to 10 GB";
        /// Share of the drive that the database grows to; with added=false more than 1 is possible.
        end: f64 = 1.0, "end" in 0.001..=10.0, from "2R (PVLDB 2020), section 5.1";
        /// Whether pages added to the initial database are written, or have a drive of their own.
        added: bool = true, "added", from "false in Wolf (2015), section 6.2";
        /// Indexes of the tables.
        schema: Schema = Schema::Tpcc, "schema", from "TPC-C, clauses 1.3, 2.5.2.2 and 2.6.2.2";
        /// Whether items and customers are drawn with the skew of the specification. sysbench-tpcc draws
        /// a new constant of NURand for each number, which leaves little of it.
        skew: bool = true, "skew", from "TPC-C, clause 2.1.6";
        /// Share of the initial database that is written by the load and never again, such as undo logs
        /// of the load and tables that nobody uses.
        idle: f64 = 0.0, "idle" in 0.0..=0.9, from "our choice";
        ..setup: Setup, except {
            page = 1, "page", from "2R (PVLDB 2020), section 5.1: 4 KB";
            log = false, "log", from "our reading: the trace is of the database";
            doublewrite = 0, "doublewrite", from "our reading: the trace is of a database without";
        };
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "tpcc",
    summary: "a TPC-C database that grows, behind a buffer pool; ends when it has grown",
    source: "2R (PVLDB 2020), sections 2.2 and 5.1",
    parameters: TpccParameters::describe,
    version: 1,
    end: End::Always,
    make: Make::Parameters {
        resolve: TpccParameters::resolve,
        build,
        areas: |_, _| Ok(Vec::new()),
    },
};

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let parameters = TpccParameters::from_spec(spec)?;
    let TpccParameters { start, end, added, schema, skew, idle, setup } = parameters;
    if added && end > 1.0 {
        return Err(TraceError::Unsupported {
            what: format!("a database that takes {end} of the drive"),
            remedy: "lower end to 1, or leave out the pages that are added, with added=false"
                .to_owned(),
        });
    }
    let sizes = Sizes { start, end, idle, added };
    let benchmark =
        Benchmark::new("tpcc", &sizes, &setup, space, |pages, layout, files, random| {
            Ok(Tpcc::new(&Scale::new(schema, pages, layout)?, skew, files, random))
        })?;
    Ok(Box::new(Stepped::new(benchmark)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_trace::{Op, RequestBatch};

    fn pages(spec: &str) -> Result<Vec<u64>, TraceError> {
        pages_on(6_000, spec)
    }

    fn pages_on(logical_pages: u64, spec: &str) -> Result<Vec<u64>, TraceError> {
        let space = Space { logical_pages, page_bytes: 16_384, seed: 1 };
        let mut sequence = build(&spec.parse().unwrap(), &space)?;
        let (mut pages, mut batch) = (Vec::new(), RequestBatch::new());
        while sequence.next_requests(&mut batch, 32)? {
            let writes = batch.iter().filter(|(op, ..)| *op == Op::Write);
            for (_, lba, sectors) in writes {
                pages.extend(lba / 32..(lba + u64::from(sectors)) / 32);
            }
            batch.clear();
        }
        Ok(pages)
    }

    #[test]
    fn the_initial_database_takes_its_share() {
        for schema in ["tpcc", "sysbench", "lookups"] {
            for (drive, asked) in [(20_000, 10_000), (100_000, 50_000), (400_000, 200_000)] {
                let spec = format!("tpcc:start=0.5,end=0.52,added=false,schema={schema}");
                let written = pages_on(drive, &spec).unwrap();
                let loaded = written.iter().max().unwrap() + 1;
                assert!(loaded.abs_diff(asked) < asked / 50, "{spec} on {drive}: {loaded}");
            }
        }
    }

    #[test]
    fn without_added_pages_the_others_are_written_the_same() {
        let all = pages("tpcc:start=0.5,end=0.6").unwrap();
        let initial = pages("tpcc:start=0.5,end=0.6,added=false").unwrap();
        let loaded = (0..).zip(&all).take_while(|(index, page)| index == *page).count() as u64;
        let kept: Vec<u64> = all.iter().copied().filter(|page| *page < loaded).collect();
        assert!(loaded > 2_000 && initial.len() < all.len());
        assert_eq!(initial, kept);
    }

    #[test]
    fn only_without_added_pages_it_may_be_larger_than_the_drive() {
        assert!(pages("tpcc:start=0.9,end=1.05,added=false").is_ok());
        for (wrong, part) in [
            ("tpcc:start=0.5,end=1.1", "a database that takes 1.1 of the drive"),
            ("tpcc:start=1,end=1.5,added=false", " pages on a drive of 6000"),
        ] {
            let error = pages(wrong).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}

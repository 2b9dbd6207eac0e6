//! `ycsb`: the core workloads of YCSB on a table that is updated in place, page by page.
//!
//! # Idea
//! Records of a kilobyte in pages, keys by YCSB's scrambled Zipf distribution, a buffer pool in front: YCSB
//! as a database with a B-tree writes it. For YCSB on a log-structured merge tree there is `lsm`.
//!
//! # Rule
//! The table takes `start` of the drive and is written first. Then operations run one by one over what
//! `database` describes:
//!
//! | workload | operations | the table |
//! |---|---|---|
//! | a | half reads, half updates | stays as it is |
//! | b | 95% reads, 5% updates | stays |
//! | d | 95% reads of what came last, 5% insertions | grows; ends at `end` of the drive |
//! | e | 95% scans of up to 100 records, 5% insertions | grows; ends at `end` |
//! | f | half reads, half read-modify-write | stays |
//!
//! Workload c only reads: there is nothing to write. An update of a and one of f are the same here:
//! both bring the page into the pool and change it. Insertions have keys in random order.
//!
//! # What is simplified
//! Records have one size. See `database` for what happens below.
//!
//! # Reference
//! B. F. Cooper et al., "Benchmarking Cloud Serving Systems with YCSB", SoCC 2010, section 4 and table 2.

use super::database::tables::{Index, Loaded, pages_of, rows_per_page};
use super::database::{
    Benchmark, Database, Files, Layout, Setup, Sizes, Transactions, Uses, too_small,
};
use super::generator::{End, GeneratorInfo, Make};
use super::requests::Stepped;
use super::sequence::PageSequence;
use ftlab_random::draw_below;
use ftlab_random::{Ranks, ScrambledKeys};
use ftlab_spec::{Parameters, Spec, SpecError};
use ftlab_trace::Space;
use ftlab_trace::TraceError;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;

ftlab_spec::choices! {
    /// A core workload that writes.
    pub enum Workload {
        /// Half reads, half updates.
        A = "a",
        /// Mostly reads, some updates.
        B = "b",
        /// Nothing but reads; refused.
        C = "c",
        /// Mostly reads of what came last, some insertions.
        D = "d",
        /// Mostly short scans, some insertions.
        E = "e",
        /// Half reads, half read-modify-write.
        F = "f",
    }
}

impl Workload {
    /// Whether it inserts records, so that the table grows and the sequence ends.
    fn grows(self) -> bool {
        matches!(self, Self::D | Self::E)
    }
}

ftlab_spec::parameters! {
    /// The workload, and the setup.
    pub struct YcsbParameters {
        /// Which of the core workloads.
        workload: Workload = Workload::A, "workload", from "YCSB (SoCC 2010), table 2";
        /// The exponent of the distribution of keys; 0 is uniform.
        theta: f64 = 0.99, "theta" in 0.0..=10.0, from "YCSB";
        /// Bytes of a record in a page.
        record: u32 = 1100, "record" in 16..=65_536, from "YCSB: ten fields of 100 bytes";
        /// Share of the drive that the table takes at first, log and double-write area included.
        start: f64 = 0.8, "start" in 0.001..=1.0, from "our choice";
        /// Share of the drive that it grows to.
        end: f64 = 1.0, "end" in 0.001..=1.0, from "our choice";
        /// Share of the initial database that is written by the load and never again, such as tables
        /// that nobody uses.
        idle: f64 = 0.0, "idle" in 0.0..=0.9, from "our choice";
        ..setup: Setup, except {
            buffer = 0.1, "buffer", from "2R (PVLDB 2020), section 5.1, for other benchmarks";
        };
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "ycsb",
    summary: "YCSB's core workloads on a table updated in place, behind a buffer pool",
    source: "YCSB (SoCC 2010), table 2",
    parameters: YcsbParameters::describe,
    version: 1,
    end: End::If(|spec| Ok(YcsbParameters::from_spec(spec)?.workload.grows())),
    make: Make::Parameters {
        resolve: YcsbParameters::resolve,
        build,
        areas: |_, _| Ok(Vec::new()),
    },
};

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let parameters = YcsbParameters::from_spec(spec)?;
    let refuse = |key: &str, value: &str, expects: &str| SpecError::BadValue {
        of: spec.name.clone(),
        key: key.into(),
        value: value.into(),
        expects: expects.into(),
    };
    if parameters.workload == Workload::C {
        return Err(refuse("workload", "c", "a workload that writes; take a, b, d, e or f").into());
    }
    if (parameters.theta - 1.0).abs() < f64::EPSILON {
        let expects = "possible: 1/(1 - theta) has no value there; use 0.99, and say so";
        return Err(refuse("theta", "1", expects).into());
    }
    let YcsbParameters { start, end, idle, setup, .. } = &parameters;
    let sizes = Sizes { start: *start, end: *end, idle: *idle, added: true };
    let benchmark =
        Benchmark::new("ycsb", &sizes, setup, space, |pages, layout, files, random| {
            Ycsb::new(&parameters, pages, layout, files, random)
        })?;
    Ok(Box::new(Stepped::new(benchmark)))
}

/// Bytes of redo log for a changed record: the ten fields of an insertion, one of an update.
const INSERT_REDO_BYTES: u32 = 1100;
const UPDATE_REDO_BYTES: u32 = 250;

/// Records that workload d looks back to.
const LATEST: usize = 1 << 16;

/// Records of a scan at most.
const SCAN_RECORDS: u64 = 100;

/// Keys of records that are inserted later lie anywhere among those that were loaded.
struct Ycsb {
    random: Xoshiro256PlusPlus,
    files: Files,
    workload: Workload,
    keys: ScrambledKeys,
    /// How long ago a record was inserted that is read as one of the latest.
    latest_ranks: Ranks,
    table: Index,
    /// Pages of the records that were inserted last, the newest first.
    latest: VecDeque<u32>,
}

impl Ycsb {
    fn new(
        parameters: &YcsbParameters,
        pages: u32,
        layout: &Layout,
        mut files: Files,
        random: Xoshiro256PlusPlus,
    ) -> Result<Self, TraceError> {
        let rows = rows_per_page(layout.page_bytes, parameters.record);
        // What is left of the last extent stays empty.
        let fixed = Database::system_pages(layout) + 64;
        if pages <= fixed {
            return Err(too_small(fixed + 1, pages, "start"));
        }
        let records = u64::from(pages - fixed) * u64::from(rows);
        debug_assert_eq!(pages_of(records, rows), pages - fixed);
        Ok(Self {
            table: Index::new(&mut files, records, records, rows, Loaded::InOrder, layout.pages),
            keys: ScrambledKeys::new(records, parameters.theta),
            latest_ranks: Ranks::new(records, parameters.theta),
            workload: parameters.workload,
            files,
            random,
            latest: VecDeque::new(),
        })
    }

    #[inline]
    fn below(&mut self, limit: u64) -> u64 {
        draw_below(&mut self.random, limit)
    }

    /// The page of a record that is drawn.
    #[inline]
    fn draw(&mut self) -> u32 {
        self.table.page(self.keys.draw(&mut self.random))
    }

    fn insert(&mut self, uses: &mut Uses) {
        let key = self.below(self.keys.keys());
        let leaf = self.table.insert(key, &mut self.files);
        uses.change_leaf(leaf, INSERT_REDO_BYTES);
        self.latest.push_front(leaf.0);
        self.latest.truncate(LATEST);
        uses.commit();
    }

    /// Reads a record among those that came last; the rank is how long ago.
    fn read_latest(&mut self, uses: &mut Uses) {
        let rank = self.latest_ranks.draw(&mut self.random);
        let page = match self.latest.get(rank as usize) {
            Some(page) => *page,
            None => self.table.page(rank),
        };
        uses.read(page);
    }

    /// Reads the pages of neighbouring records.
    fn scan(&mut self, uses: &mut Uses) {
        let first = self.keys.draw(&mut self.random);
        let records = 1 + self.below(SCAN_RECORDS);
        let mut last = None;
        for key in first..(first + records).min(self.keys.keys()) {
            let page = self.table.page(key);
            if last != Some(page) {
                uses.read(page);
            }
            last = Some(page);
        }
    }
}

impl Transactions for Ycsb {
    #[inline]
    fn run_one(&mut self, uses: &mut Uses) -> bool {
        if self.files.is_full() {
            return false;
        }
        let writes_percent = match self.workload {
            Workload::A | Workload::F => 50,
            _ => 5,
        };
        let writes = self.below(100) < writes_percent;
        match (self.workload, writes) {
            (Workload::D | Workload::E, true) => self.insert(uses),
            (_, true) => {
                let page = self.draw();
                uses.change(page, UPDATE_REDO_BYTES);
                uses.commit();
            }
            (Workload::D, false) => self.read_latest(uses),
            (Workload::E, false) => self.scan(uses),
            (_, false) => {
                let page = self.draw();
                uses.read(page);
            }
        }
        true
    }

    fn files(&self) -> &Files {
        &self.files
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        vec![("records", self.keys.keys().to_string())]
    }
}

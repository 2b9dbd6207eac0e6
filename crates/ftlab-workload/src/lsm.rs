//! `lsm`: a log-structured merge tree under updates, such as RocksDB under YCSB.
//!
//! # Idea
//! Nothing is updated in place: a full memtable becomes a file, files are merged into larger sorted
//! levels, and the files merged are deleted. The drive sees large sequential writes to wherever the
//! file system finds room, and trims.
//!
//! # Rule
//! First all keys are loaded, in order, into the last level. Then keys are updated, drawn by
//! YCSB's scrambled Zipf distribution. A full memtable is written to level 0, each of its keys once. When
//! level 0 has `level0` files, all of them are merged with what they overlap in the first sorted level;
//! when a sorted level is too large, the file that overlaps least of the next level, for its size, is
//! merged into that (`levels`). The size of a level follows from that of the last one, which is
//! `ratio` times larger than the one before it, and so on up to `base`. A file is placed after the one
//! allocated last (`space`). While a memtable is written, so are the results of a compaction, in
//! turn.
//!
//! # Parameters
//! Sizes as shares of the drive, so that any drive will do; the defaults are RocksDB's on a drive of 8 GiB.
//!
//! With `streams`, the log is stream 1, level 0 is stream 2, and each sorted level has one of its own from 3 on, as a host
//! with placement handles would name them; flushes have stream 0.
//!
//! # What is simplified
//! Every record has the same size, and nothing is compressed. One compaction runs at a time, and none
//! stalls. A log that is not synchronised is deleted before it reaches the drive: leave `wal` off for
//! that. The file system writes nothing of its own.
//!
//! # Reference
//! P. O'Neil et al., "The Log-Structured Merge-Tree", Acta Informatica 1996; RocksDB 7.8, leveled
//! compaction with dynamic level sizes; B. F. Cooper et al., "Benchmarking Cloud Serving Systems with
//! YCSB", SoCC 2010 (records, skew).

mod levels;

use super::extents::{Extent, Space};
use super::generator::{End, GeneratorInfo, Make};
use super::requests::{Stepped, Steps};
use super::sequence::PageSequence;
use ftlab_random::ScrambledKeys;
use ftlab_spec::{Parameters, Spec, SpecError};
use ftlab_trace::Space as Drive;
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Op, RequestBatch, TraceError};
use levels::{Levels, Shape, Table};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

ftlab_spec::parameters! {
    /// The tree.
    pub struct LsmParameters {
        /// Share of the drive that the records take.
        data: f64 = 0.5, "data" in 0.01..=0.9, from "our choice";
        /// Bytes of a record, key and overhead included.
        record: u32 = 1024, "record" in 16..=1_048_576, from "YCSB: ten fields of 100 bytes";
        /// The exponent of the distribution of updates; 0 is uniform.
        theta: f64 = 0.99, "theta" in 0.0..=10.0, from "YCSB";
        /// Size of a memtable and of a file, as a share of the drive.
        memtable: f64 = 0.007_812_5, "memtable" in 0.000_01..=0.1, from "RocksDB: 64 MiB";
        /// Size of the first sorted level at most, in memtables.
        base: f64 = 4.0, "base" in 1.0..=1000.0, from "RocksDB: 256 MiB";
        /// How much larger a level is than the one before.
        ratio: f64 = 10.0, "ratio" in 2.0..=100.0, from "RocksDB";
        /// Files of level 0 that are compacted.
        level0: u32 = 4, "level0" in 1..=100, from "RocksDB";
        /// Whether updates go through a log that is synchronised, before they are in a memtable.
        wal: bool = true, "wal", from "RocksDB";
        /// Whether deleted files are trimmed.
        trim: bool = true, "trim", from "ext4 mounted with discard";
        /// Whether requests name a stream for the log, for level 0, and for each sorted level.
        streams: bool = false, "streams", from "our choice";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "lsm",
    summary: "a log-structured merge tree under updates: flushes, compactions, deleted files trimmed",
    source: "RocksDB 7.8 under YCSB",
    parameters: LsmParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::Parameters { resolve: LsmParameters::resolve, build, areas: |_, _| Ok(Vec::new()) },
};

/// The stream of the log, and that of level 0.
const LOG: u16 = 1;
const LEVEL0: u16 = 2;

/// The stream of a sorted level; the first is 0.
fn stream_of(sorted_level: usize) -> u16 {
    LEVEL0 + 1 + sorted_level as u16
}

/// Pages of a request at most: 1 MiB of 4 KiB, RocksDB's write buffer for files.
const REQUEST_PAGES: u32 = 256;

fn build(spec: &Spec, drive: &Drive) -> Result<Box<dyn PageSequence>, TraceError> {
    let parameters = LsmParameters::from_spec(spec)?;
    if (parameters.theta - 1.0).abs() < f64::EPSILON {
        return Err(SpecError::BadValue {
            of: spec.name.clone(),
            key: "theta".into(),
            value: "1".into(),
            expects: "possible: 1/(1 - theta) has no value there; use 0.99, and say so".into(),
        }
        .into());
    }
    Ok(Box::new(Stepped::new(Lsm::new(&parameters, drive)?)))
}

/// A tree, its files, and who draws.
struct Lsm {
    random: Xoshiro256PlusPlus,
    keys: ScrambledKeys,
    levels: Levels,
    space: Space,
    record_bytes: u64,
    page_bytes: u64,
    memtable_keys: usize,
    logs: bool,
    trims: bool,
    names_streams: bool,
    /// Files of the initial load that have not been written yet, the next one last.
    to_load: Vec<Table>,
    load_pages: u64,
}

impl Lsm {
    fn new(parameters: &LsmParameters, drive: &Drive) -> Result<Self, TraceError> {
        let page_bytes = u64::from(drive.page_bytes);
        let drive_bytes = drive.logical_pages as f64 * page_bytes as f64;
        let record_bytes = u64::from(parameters.record);
        let keys = parameters.data * drive_bytes / record_bytes as f64;
        let memtable_keys = (parameters.memtable * drive_bytes / record_bytes as f64) as usize;
        let unfit =
            |what: String, remedy: &str| TraceError::Unsupported { what, remedy: remedy.into() };
        if memtable_keys < 16 {
            let what = format!("a memtable of {memtable_keys} records");
            return Err(unfit(
                what,
                "give memtable at least 16: raise it or the size of the drive",
            ));
        }
        if keys > f64::from(u32::MAX) || drive.logical_pages > u64::from(u32::MAX) {
            let what = format!("{keys:.0} records on {} pages", drive.logical_pages);
            return Err(unfit(what, "lsm works with up to 2^32 - 1 of each: give larger records"));
        }
        let keys = keys as u32;
        let shape = Shape {
            file_keys: memtable_keys,
            level0_files: parameters.level0 as usize,
            base_keys: parameters.base * memtable_keys as f64,
            ratio: parameters.ratio,
        };
        // Levels before the last shrink by the ratio; level 0 has a file too many while it waits. A
        // compaction writes as much as it reads before it deletes that: level 0 and the first level, which
        // may hold twice its size for a while, or a file and what it overlaps.
        let (ratio, level0) = (parameters.ratio, f64::from(parameters.level0));
        let read = (level0 + 1.0 + 2.0 * parameters.base).max(ratio + 4.0);
        let files = level0 + 2.0 + 2.0 * parameters.base + read;
        let needed = parameters.data * (1.0 + 1.0 / (ratio - 1.0)) + files * parameters.memtable;
        if needed > 1.0 {
            let what = format!("a tree that needs {:.0}% of the drive at times", 100.0 * needed);
            return Err(unfit(what, "lower data, memtable or level0"));
        }
        let mut lsm = Self {
            random: Xoshiro256PlusPlus::seed_from_u64(drive.seed),
            keys: ScrambledKeys::new(u64::from(keys), parameters.theta),
            levels: Levels::new(shape, Vec::new()),
            space: Space::new(drive.logical_pages as u32),
            record_bytes,
            page_bytes,
            memtable_keys,
            logs: parameters.wal,
            trims: parameters.trim,
            names_streams: parameters.streams,
            to_load: Vec::new(),
            load_pages: 0,
        };
        let all: Vec<u32> = (0..keys).collect();
        let last_level = shape.sorted_levels(all.len()) - 1;
        let last: Vec<Table> = all
            .chunks(memtable_keys)
            .map(|keys| lsm.table(keys.to_vec(), stream_of(last_level)))
            .collect();
        lsm.to_load = last.iter().rev().cloned().collect();
        for table in &mut lsm.to_load {
            table.keys = Vec::new();
        }
        let extents = lsm.to_load.iter().flat_map(|table| &table.extents);
        lsm.load_pages = extents.map(|(_, pages)| u64::from(*pages)).sum();
        lsm.levels = Levels::new(shape, last);
        Ok(lsm)
    }

    fn pages_of(&self, records: usize) -> u32 {
        (records as u64 * self.record_bytes).div_ceil(self.page_bytes) as u32
    }

    /// A file for these keys.
    fn table(&mut self, keys: Vec<u32>, stream: u16) -> Table {
        let pages = self.pages_of(keys.len());
        let extents = self.space.allocate(pages).expect("`new` made sure of the room");
        Table { keys, extents, stream }
    }

    /// Adds a request, of a stream if requests name one.
    fn push(&self, op: Op, (lba, sectors): (u64, u64), stream: u16, out: &mut RequestBatch) {
        out.push(op, lba, sectors as u32);
        if self.names_streams {
            out.stream.push(stream);
        }
    }

    fn flush(&self, out: &mut RequestBatch) {
        self.push(Op::Flush, (0, 0), 0, out);
    }

    fn sectors(&self, pages: u32) -> u64 {
        u64::from(pages) * (self.page_bytes / SECTOR_BYTES)
    }

    /// The requests that write a file.
    fn write(&self, table: &Table, out: &mut RequestBatch) {
        for (first, pages) in &table.extents {
            for start in (0..*pages).step_by(REQUEST_PAGES as usize) {
                let length = REQUEST_PAGES.min(pages - start);
                let sectors = (self.sectors(first + start), self.sectors(length));
                self.push(Op::Write, sectors, table.stream, out);
            }
        }
    }

    /// Deletes a file.
    fn delete(&mut self, extents: &[Extent], stream: u16, out: &mut RequestBatch) {
        for extent in extents {
            self.space.release(*extent);
            if self.trims {
                let sectors = (self.sectors(extent.0), self.sectors(extent.1));
                self.push(Op::Trim, sectors, stream, out);
            }
        }
    }

    /// Fills a memtable, with its log if there is one, and writes it to level 0.
    fn fill_memtable(&mut self, out: &mut RequestBatch) {
        let mut keys: Vec<u32> =
            (0..self.memtable_keys).map(|_| self.keys.draw(&mut self.random) as u32).collect();
        let log = if self.logs { self.write_log(out) } else { Vec::new() };
        keys.sort_unstable();
        keys.dedup();
        let table = self.table(keys, LEVEL0);
        self.write(&table, out);
        self.flush(out);
        self.levels.flush(table);
        self.delete(&log, LOG, out);
    }

    /// A log of as many records as a memtable holds, one write a record; the page in which a record
    /// ends is written again with the next.
    fn write_log(&mut self, out: &mut RequestBatch) -> Vec<Extent> {
        let pages = self.pages_of(self.memtable_keys);
        let extents = self.space.allocate(pages).expect("`new` made sure of the room");
        let sector_bytes = SECTOR_BYTES;
        let mut written = 0;
        for (first, pages) in &extents {
            let start = self.sectors(*first);
            let end = u64::from(*pages) * self.page_bytes;
            let mut at = 0;
            while at < end && written < self.memtable_keys {
                let after = (at + self.record_bytes).min(end);
                let sectors = after.div_ceil(sector_bytes) - at / sector_bytes;
                self.push(Op::Write, (start + at / sector_bytes, sectors), LOG, out);
                self.flush(out);
                (at, written) = (after, written + 1);
            }
        }
        extents
    }

    /// Runs the compaction that is due, if one is.
    fn compact(&mut self, out: &mut RequestBatch) -> bool {
        let Some(compaction) = self.levels.pick() else { return false };
        let merged = self.levels.merge(&compaction);
        let stream = stream_of(compaction.level);
        let tables: Vec<Table> = merged.into_iter().map(|keys| self.table(keys, stream)).collect();
        for table in &tables {
            self.write(table, out);
        }
        self.flush(out);
        self.levels.install(&compaction, tables);
        for table in &compaction.inputs {
            self.delete(&table.extents, table.stream, out);
        }
        true
    }
}

/// Adds the requests of both to `out`, those of each in their order, spread evenly.
fn interleave(one: &RequestBatch, other: &RequestBatch, out: &mut RequestBatch) {
    let (mut i, mut j) = (0, 0);
    while i < one.len() || j < other.len() {
        // The one of which the smaller share is done is next.
        if j == other.len() || (i < one.len() && i * other.len() <= j * one.len()) {
            out.push_from(one, i);
            i += 1;
        } else {
            out.push_from(other, j);
            j += 1;
        }
    }
}

impl Steps for Lsm {
    fn step(&mut self, out: &mut RequestBatch) -> Result<bool, TraceError> {
        if let Some(table) = self.to_load.pop() {
            self.write(&table, out);
            return Ok(true);
        }
        let (mut compaction, mut memtable) = (RequestBatch::new(), RequestBatch::new());
        self.compact(&mut compaction);
        self.fill_memtable(&mut memtable);
        interleave(&compaction, &memtable, out);
        while self.compact(out) {}
        Ok(true)
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        vec![("load_page_writes", self.load_pages.to_string())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn lsm(parameters: &LsmParameters, logical_pages: u64) -> Lsm {
        Lsm::new(parameters, &Drive { logical_pages, page_bytes: 4096, seed: 3 }).unwrap()
    }

    #[test]
    fn files_never_overlap_and_what_is_not_theirs_is_free() {
        for parameters in [
            LsmParameters { memtable: 0.01, ..LsmParameters::default() },
            LsmParameters {
                data: 0.3,
                memtable: 0.02,
                base: 1.0,
                ratio: 4.0,
                theta: 0.0,
                ..LsmParameters::default()
            },
            LsmParameters {
                data: 0.6,
                memtable: 0.002,
                level0: 12,
                wal: false,
                ..LsmParameters::default()
            },
        ] {
            let mut lsm = lsm(&parameters, 20_000);
            let mut out = RequestBatch::new();
            for _ in 0..600 {
                out.clear();
                assert!(lsm.step(&mut out).unwrap() && !out.is_empty());
                let mut used = BTreeSet::new();
                for (first, pages) in lsm.levels.tables().flat_map(|table| &table.extents) {
                    assert!((*first..first + pages).all(|page| used.insert(page)));
                }
                assert_eq!(used.len() as u32 + lsm.space.free_pages(), 20_000);
            }
        }
    }

    #[test]
    fn what_is_trimmed_was_written_and_is_not_written_twice_before() {
        let parameters = LsmParameters { wal: false, memtable: 0.01, ..LsmParameters::default() };
        let mut lsm = lsm(&parameters, 20_000);
        let mut live = BTreeSet::new();
        let mut out = RequestBatch::new();
        for _ in 0..300 {
            out.clear();
            lsm.step(&mut out).unwrap();
            for (op, lba, sectors) in out.iter() {
                for page in lba / 8..(lba + u64::from(sectors)) / 8 {
                    match op {
                        Op::Write => assert!(live.insert(page), "page {page}"),
                        Op::Trim => assert!(live.remove(&page), "page {page}"),
                        _ => {}
                    }
                }
            }
        }
    }

    #[test]
    fn each_level_has_a_stream_and_nothing_else_changes() {
        let plain = LsmParameters { memtable: 0.01, ..LsmParameters::default() };
        let named = LsmParameters { streams: true, ..plain.clone() };
        let (mut plain, mut named) = (lsm(&plain, 20_000), lsm(&named, 20_000));
        let (mut one, mut other) = (RequestBatch::new(), RequestBatch::new());
        let mut written = std::collections::BTreeMap::<u16, u64>::new();
        let mut owner = std::collections::BTreeMap::<u64, u16>::new();
        for _ in 0..300 {
            one.clear();
            other.clear();
            assert!(plain.step(&mut one).unwrap() && named.step(&mut other).unwrap());
            assert!(one.iter().eq(other.iter()) && one.stream.is_empty());
            assert_eq!(other.stream.len(), other.len());
            for ((op, lba, sectors), stream) in other.iter().zip(&other.stream) {
                match op {
                    Op::Write => {
                        *written.entry(*stream).or_default() += u64::from(sectors);
                        owner.insert(lba, *stream);
                    }
                    // What is trimmed has the stream that wrote it.
                    Op::Trim => assert_eq!(owner.remove(&lba), Some(*stream)),
                    _ => assert_eq!(*stream, 0),
                }
            }
        }
        // The log, level 0, and three sorted levels, of which the last is merged into most.
        let streams: Vec<u16> = written.keys().copied().collect();
        assert_eq!(streams, [LOG, LEVEL0, 3, 4, 5], "{written:?}");
        assert!(written[&5] > written[&4] && written[&4] > written[&3], "{written:?}");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_advice() {
        let refused = |spec: &str, pages| {
            let drive = Drive { logical_pages: pages, page_bytes: 4096, seed: 0 };
            build(&spec.parse().unwrap(), &drive).err().unwrap().to_string()
        };
        let error = refused("lsm:data=0.9", 1 << 18);
        assert!(
            error.contains("% of the drive at times") && error.contains("lower data"),
            "{error}"
        );
        let error = refused("lsm", 100);
        assert!(error.contains("raise it or the size of the drive"), "{error}");
        let error = refused("lsm:theta=1", 1 << 18);
        assert!(error.contains("use 0.99"), "{error}");
    }
}

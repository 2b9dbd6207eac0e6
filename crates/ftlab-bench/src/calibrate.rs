//! Generators of database workloads compared with traces captured from the databases that they imitate,
//! with the parameters of the captured setup: profiles of the writes, and the write amplification of
//! three FTLs on both.
//!
//! The captured traces are expected in `$FTLAB_SHARED/traces`.

mod figure;
mod profile;
mod side;

use crate::common::Failure;
use ftlab_sim::Workload;
use ftlab_spec::Spec;
use ftlab_trace::Space;
use ftlab_trace::{OpenOptions, open};
use ftlab_workload::build;
use profile::{Load, Profile, SIZES, SKEW_SHARES};
use side::{FILLS, FTLS, SEED, Side};
use std::path::{Path, PathBuf};

const PAGE_BYTES: u32 = 4096;

/// A captured trace, and a generator with the parameters of its setup.
struct Pair<'a> {
    captured: &'a str,
    generator: &'a str,
    /// Whether trims are ignored on both sides: those of the file system before the database is
    /// created, which a generator of a database does not have.
    ignore_trims: bool,
}

/// 32 MiB of pool have 7,900 pages of 4 KiB, 40 MiB have 2,530 of 16 KiB. The page cleaner keeps 768 to
/// 1,536 of them free (innodb_lru_scan_depth): at most 7,132 and 1,762 are in use, and 768 leave at a time.
const PAIRS: [Pair<'static>; 6] = [
    // One warehouse, and everything written before its transactions: 43,863 pages. The log has 32
    // MiB, the double-write area 2 MiB.
    Pair {
        captured: "tpcc-mariadb",
        generator: "tpcc:schema=sysbench,start=0.1673,idle=0.166,end=0.95,skew=off,buffer=0.1626,old=0.37,\
                    batch=0.108,log=on,log-size=0.1867,doublewrite=512",
        ignore_trims: true,
    },
    // 56% of the drive has been written when the load ends, a fifth of that by the load alone: 300,000
    // nodes with 2.2 million links take the rest. The log has 48 MiB; 265,000 transactions of 12 clients
    // made 83,546 writes to it.
    Pair {
        captured: "linkbench-mariadb",
        generator: "linkbench:start=0.56,end=1,idle=0.222,buffer=0.048,old=0.37,batch=0.436,page=4,\
                    log-size=0.082,doublewrite=128,group=3,purge=on",
        ignore_trims: true,
    },
    // 1.1 million records of 1 KB on 2 GiB, memtables and files of 16 MiB, levels from 64 MiB.
    Pair {
        captured: "ycsb-rocksdb",
        generator: "lsm:data=0.54,record=1030,memtable=0.0078125,base=4,wal=off",
        ignore_trims: false,
    },
    TRACE_LIKE,
    Pair { captured: "tpcc-mariadb", ..TRACE_LIKE },
    Pair { captured: "linkbench-mariadb", ..TRACE_LIKE },
];

/// Repeats trims, too.
const TRACE_LIKE: Pair<'static> = Pair {
    captured: "pgbench-postgresql",
    generator: "trace-like:file=TRACE",
    ignore_trims: false,
};

/// Page writes of a generator that ends.
fn page_writes(spec: &Spec, space: &Space) -> Result<u64, Failure> {
    let mut source = build(spec, space)?;
    let profile = Profile::of(source.as_mut(), Load::PageWrites(0), u64::MAX, PAGE_BYTES)?;
    Ok(profile.writes)
}

/// Both sides of a pair, and the pages of the drive.
fn measure(pair: &Pair<'_>, trace: &Path) -> Result<(Side, Side, u64), Failure> {
    let mut source = open(trace, &OpenOptions::default())?;
    let bytes =
        source.metadata().device_bytes.ok_or("the trace does not name the size of its drive")?;
    let run_us = source.metadata().phase_us("run").ok_or("the trace has no phase run")?;
    let logical_pages = bytes / u64::from(PAGE_BYTES);
    let captured = Profile::of(source.as_mut(), Load::UntilUs(run_us), u64::MAX, PAGE_BYTES)?;
    let limit = captured.writes;
    let workload = Workload::parse(&trace.display().to_string(), OpenOptions::default())?;
    let captured = Side {
        name: pair.captured.into(),
        ..Side::measure(&workload, captured, logical_pages, pair.ignore_trims)?
    };

    let spec = pair.generator.replace("TRACE", &trace.display().to_string());
    let space = Space { logical_pages, page_bytes: PAGE_BYTES, seed: SEED };
    let parsed: Spec = spec.parse()?;
    let mut source = build(&parsed, &space)?;
    let told = source.metadata().properties.get("load_page_writes");
    let load = match told {
        Some(writes) => writes.parse()?,
        None if parsed.name == "linkbench" => {
            let mut load = parsed;
            load.arguments.push(("requests".into(), "off".into()));
            page_writes(&load, &space)?
        }
        // A generator that reports no load repeats that of the trace.
        None => captured.profile.load_writes,
    };
    let generated = Profile::of(source.as_mut(), Load::PageWrites(load), limit, PAGE_BYTES)?;
    let workload = Workload::parse(&spec, OpenOptions::default())?;
    let generated = Side {
        name: pair.generator.into(),
        ..Side::measure(&workload, generated, logical_pages, pair.ignore_trims)?
    };
    Ok((captured, generated, logical_pages))
}

/// A row of the table: its label, and the two numbers.
fn row(what: &str, [captured, generated]: [f64; 2], digits: usize) {
    println!("| {what} | {captured:.digits$} | {generated:.digits$} |");
}

fn print(captured: &Side, generated: &Side, logical_pages: u64) {
    println!("\n`{}`\n", generated.name);
    println!("| | {} | generated |\n|---|---|---|", captured.name);
    let both = [&captured.profile, &generated.profile];
    let drive = logical_pages as f64;
    row("page writes, millions", both.map(|side| side.writes as f64 / 1e6), 2);
    row("pages ever written, of the drive", both.map(|side| side.ever as f64 / drive), 3);
    row(
        "pages written after the load, of the drive",
        both.map(|side| side.distinct as f64 / drive),
        3,
    );
    for share in SKEW_SHARES {
        let what = format!("writes to the top {:.0}% of these", 100.0 * share);
        row(&what, both.map(|side| side.skew(share)), 3);
    }
    for share in [0.2, 0.5, 0.8] {
        row(&format!("frozen at {:.0}%", 100.0 * share), both.map(|side| side.frozen(share)), 3);
    }
    for share in [0.1, 0.25, 0.5, 0.75, 0.9, 0.99] {
        let what = format!("write interval, {:.0}th percentile, page writes", 100.0 * share);
        row(&what, both.map(|side| side.interval(share)), 0);
    }
    for (class, (_, name)) in SIZES.iter().enumerate() {
        row(&format!("bytes in requests {name}"), both.map(|side| side.bytes_in(class)), 3);
    }
    for (index, fill) in FILLS.iter().enumerate() {
        for (ftl, name) in FTLS.iter().enumerate() {
            let wafs = [captured.wafs[index][ftl], generated.wafs[index][ftl]];
            println!(
                "| write amplification, `{name}`, fill {fill} | {:.3} | {:.3} ({:+.1}%) |",
                wafs[0],
                wafs[1],
                100.0 * (wafs[1] / wafs[0] - 1.0)
            );
        }
    }
}

/// Prints a table for each pair whose generator contains `only`, and draws it into `folder`; with the
/// generator `instead`, if one is given.
pub(crate) fn run(
    folder: Option<&str>,
    only: Option<&str>,
    instead: Option<&str>,
) -> Result<(), Failure> {
    let shared = std::env::var_os("FTLAB_SHARED").map(PathBuf::from);
    for pair in &PAIRS {
        if only.is_some_and(|only| !pair.generator.contains(only)) {
            continue;
        }
        let trace = format!("traces/{}.parquet", pair.captured);
        let Some(path) = shared.as_ref().map(|shared| shared.join(&trace)).filter(|p| p.exists())
        else {
            println!(
                "SKIPPED: {trace} is missing; set FTLAB_SHARED to the directory that contains it"
            );
            continue;
        };
        let generator = instead.unwrap_or(pair.generator);
        let pair = Pair { generator, ..*pair };
        let (captured, generated, logical_pages) = measure(&pair, &path)?;
        print(&captured, &generated, logical_pages);
        if let Some(folder) = folder {
            let name = pair.generator.split(':').next().unwrap_or(pair.generator);
            let file = Path::new(folder).join(format!("calibration-{name}-{}.svg", pair.captured));
            std::fs::write(file, figure::draw([&captured, &generated])?)?;
        }
    }
    Ok(())
}

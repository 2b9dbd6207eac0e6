//! Every registered FTL over a small trace, to the last relocation.
//!
//! `tests/data/README.md` says what is in the trace, `tests/data/small.parquet`. `make golden` writes both tables
//! again: new rows for a new FTL or pair; any other change is a decision to name in the commit and CHANGELOG.md.

mod decisions;
mod maps;
mod rows;

use ftlab_ftl::registry;
use ftlab_sim::{DriveOptions, Experiment, ExperimentResult, Fill, Logical, Physical, Workload};
use ftlab_trace::OpenOptions;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const TABLE: &str = include_str!("../../data/golden_counters.txt");

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

/// Whether the tables are to be written again, as `make golden` says.
fn is_asked_to_write() -> bool {
    std::env::var_os("FTLAB_WRITE_GOLDEN").is_some()
}

fn experiment(ftls: Vec<ftlab_spec::Spec>) -> Experiment {
    let workload =
        Workload::parse(&data("small.parquet").display().to_string(), OpenOptions::default())
            .unwrap();
    Experiment {
        drive: DriveOptions {
            logical: Logical::Pages(8192),
            pages_per_block: Some(64),
            physical: Physical::Blocks(148),
            ..DriveOptions::default()
        },
        fill: Fill::Sequential,
        ..Experiment::new(workload, ftls)
    }
}

/// The name of an FTL; an oracle has to be told what is hot, since the trace does not say.
fn told(name: &str) -> String {
    if name.starts_with("oracle/") { format!("{name}:hot=0..0.1") } else { name.to_owned() }
}

/// Variants on which published gains rest, besides the FTLs as they are by default.
const VARIANTS: [&str; 2] = ["2r-fifo:victims=region-fifo", "2r++:victims=region-fifo"];

/// Every registered FTL and variant over the trace.
static RESULT: LazyLock<ExperimentResult> = LazyLock::new(|| {
    let registered = registry::ftl_names().into_iter().map(|name| told(&name));
    let ftls = registered.chain(VARIANTS.map(str::to_owned));
    experiment(ftls.map(|name| name.parse().unwrap()).collect()).run(&mut ()).unwrap()
});

#[test]
fn every_ftl_counts_exactly_what_the_table_says() {
    let mut found = String::from(
        "# FTL host_writes relocations erases trims; of merges copies full partial switch\n",
    );
    for run in &RESULT.runs {
        let (host, relocations) = (run.host_writes, run.relocations);
        let _ = write!(found, "{} {host} {relocations} {} {}", run.ftl, run.erases, run.trims);
        let kinds = [run.full_merges, run.partial_merges, run.switch_merges];
        if kinds.iter().sum::<u64>() > 0 {
            let _ = write!(found, "; {} {kinds:?}", run.merge_copies);
        }
        found.push('\n');
    }
    if is_asked_to_write() {
        std::fs::write(data("golden_counters.txt"), &found).unwrap();
        return;
    }
    let changed: Vec<_> = found.lines().filter(|line| !TABLE.lines().any(|l| l == *line)).collect();
    assert!(
        found == TABLE,
        "these counts are not those of tests/data/golden_counters.txt:\n  {}\na changed number is a \
         decision: name it in the commit and the change log; `make golden` writes the table",
        changed.join("\n  ")
    );
}

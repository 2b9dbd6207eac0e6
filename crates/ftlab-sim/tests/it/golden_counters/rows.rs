//! What everything that decides does: FTLs, generators, readers of traces, and the simulation with its options.

use super::{RESULT, data, experiment};
use ftlab_ftl::page::{FreeBlock, GcSchedule, Refresh, WearLeveling};
use ftlab_ftl::registry::{self, Kind};
use ftlab_sim::result::RunResult;
use ftlab_sim::{EarlyCollection, Experiment, Fill, Length, Logical, Physical, Workload};
use ftlab_spec::Share;
use ftlab_trace::Space;
use ftlab_trace::{Contents, Layout, OpenOptions, RequestBatch, TraceSource, open};
use ftlab_workload::GENERATORS;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use twox_hash::XxHash3_128;

/// A part that decides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) version: u32,
    /// Of a part of an FTL, which; one of each may have the same name.
    kind: Option<Kind>,
}

/// What does something, what decides in it, and the hash of what it did.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) parts: Vec<Part>,
    pub(super) did: String,
}

/// Everything; what is done by one part alone comes before what it is combined with.
pub(super) static ROWS: LazyLock<Vec<Row>> =
    LazyLock::new(|| [readers(), generators(), simulations(), ftls()].concat());

impl Part {
    fn new(name: &str, version: u32) -> Self {
        Self { name: name.to_owned(), version, kind: None }
    }

    /// Where its number is, and what to write there.
    pub(super) fn how(&self) -> String {
        let Self { name, version, kind } = self;
        let next = version + 1;
        let set = |what: &str, file: &str| format!("{name}: {next} for {what} in crates/{file}");
        match (name.as_str(), kind) {
            ("traces", _) => set("VERSION", "ftlab-trace/src/format/mod.rs"),
            ("simulation" | "clock" | "faults" | "slc-cache" | "steady", _) => {
                set("its constant", "ftlab-sim/src/versions.rs")
            }
            ("engine" | "hybrid", None) => set("its constant", "ftlab-ftl/src/engine.rs"),
            (_, None) => set("version", &file("ftlab-workload/src", &format!("name: \"{name}\","))),
            (_, Some(kind)) => {
                let own = format!("const NAME: &'static str = \"{name}\";");
                let folder = match kind {
                    Kind::Placement => "ftlab-ftl/src/algorithms/placement",
                    Kind::Victim => "ftlab-ftl/src/algorithms/victim",
                    Kind::Ftl => "ftlab-ftl/src",
                };
                format!(
                    "{name}: `const DECISIONS: u32 = {next};` below NAME in crates/{}",
                    file(folder, &own)
                )
            }
        }
    }
}

/// The file below a folder of `crates` that has this text; whole FTLs are not looked for among their parts.
fn file(folder: &str, text: &str) -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut paths = vec![crates.join(folder)];
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            let is_other = |inner: &Path| {
                path.ends_with("algorithms")
                    && (inner.ends_with("placement") || inner.ends_with("victim"))
            };
            let inner = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
            paths.extend(inner.filter(|inner| !is_other(inner)));
        } else if fs::read_to_string(&path).is_ok_and(|own| own.contains(text)) {
            return path.strip_prefix(crates).unwrap().display().to_string();
        }
    }
    panic!("no file below {folder} has {text}")
}

fn hash(text: &str) -> String {
    format!("{:032x}", XxHash3_128::oneshot(text.as_bytes()))
}

/// Of the first requests of a source, at most this many batches.
fn requests(source: &mut dyn TraceSource, batches: u32) -> String {
    let mut batch = RequestBatch::with_limit(1000);
    let mut hashes = Vec::new();
    for _ in 0..batches {
        if !source.next_batch(&mut batch).unwrap() {
            break;
        }
        let RequestBatch { time_us, op, lba, sectors, stream, volume, .. } = &batch;
        hashes.push(hash(&format!("{:?}", (time_us, op, lba, sectors, stream, volume))));
    }
    hash(&hashes.concat())
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ftlab-trace/tests/data")
}

/// Every file of the tests of readers.
fn readers() -> Vec<Row> {
    let files = fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
    files.sort();
    let row = |path: &PathBuf| {
        let options = OpenOptions {
            layout: Layout::SIDE_BY_SIDE,
            // Some have lines that are wrong.
            skip_bad_percent: 100.0,
            ..OpenOptions::default()
        };
        let mut source = open(path, &options).ok()?;
        let name = format!("read {}", path.file_name().unwrap().to_string_lossy());
        let parts = vec![Part::new("traces", ftlab_trace::format::VERSION)];
        Some(Row { name, parts, did: requests(source.as_mut(), u32::MAX) })
    };
    files.iter().filter_map(row).collect()
}

/// Every generator by default, and some otherwise; the jobs of fio that are compared with its logs.
fn generators() -> Vec<Row> {
    let own = ["trace-like", "fio", "cachelib"];
    let names = GENERATORS.iter().map(|info| info.name).filter(|name| !own.contains(name));
    let mut specs: Vec<String> = names.map(str::to_owned).collect();
    specs.extend(
        [
            "uniform:reads=0.5",
            "tpcc:schema=sysbench,skew=off,old=0.37,batch=0.1,log=on,doublewrite=64",
            "linkbench:start=0.3,page=4,doublewrite=128,old=0.37,batch=0.3,idle=0.2,purge=on",
            "ycsb:workload=e",
            "lsm:data=0.3,wal=off,trim=off,ratio=4",
            "cachelib:region=1MiB",
            "cachelib:region=256KiB,eviction=lru,reinsert-hits=1,reinsert=0.1,trim=on,soc=0.3",
            "lmcache:chunk=256KiB,tokens=100,prefix=300,turns=2,ttl=0.5,theta=0",
            "swap:sizes=0.5;0.5,at=1",
            "zipf:exact=on,theta=1.2",
        ]
        .map(str::to_owned),
    );
    let mut rows: Vec<Row> = specs.iter().map(|spec| generator(spec, spec)).collect();
    let small = data("small.parquet").display().to_string();
    rows.push(generator("trace-like:file=small.parquet", &format!("trace-like:file={small}")));
    let of_fio = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ftlab-fio/tests/data");
    let mut jobs: Vec<_> =
        fs::read_dir(of_fio).unwrap().map(|entry| entry.unwrap().path()).collect();
    jobs.retain(|path| path.extension().is_some_and(|extension| extension == "fio"));
    jobs.sort();
    rows.extend(jobs.iter().map(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        generator(&format!("fio:file={name}"), &format!("fio:file={}", path.display()))
    }));
    rows
}

fn generator(name: &str, spec: &str) -> Row {
    // As large as the drive that fio wrote to.
    let logical_pages = if spec.starts_with("fio:") { 1 << 18 } else { 1 << 16 };
    let space = Space { logical_pages, page_bytes: 4096, seed: 1 };
    let spec = spec.parse().unwrap();
    let versions = ftlab_workload::versions(&spec).unwrap().into_iter();
    let mut source =
        ftlab_workload::build(&spec, &space).unwrap_or_else(|error| panic!("{name}: {error}"));
    Row {
        name: name.to_owned(),
        parts: versions.map(|(name, version)| Part::new(name, version)).collect(),
        did: requests(source.as_mut(), 20),
    }
}

/// Every registered FTL over the trace; `hazard` by the rule that the others of these drives do not come to; and on a drive
/// that is large enough for it to try out rules, until it rests from that.
fn ftls() -> Vec<Row> {
    let small = experiment(Vec::new());
    let registered = RESULT.runs.iter().take(registry::ftl_names().len());
    let mut rows: Vec<_> = registered.map(|run| row(run.ftl.clone(), &small, run)).collect();
    let moves = experiment(vec!["hazard:rule=moves".parse().unwrap()]);
    rows.push(row("hazard, moves".into(), &moves, &moves.run(&mut ()).unwrap().runs[0]));
    let mut large = experiment(vec!["hazard".parse().unwrap()]);
    large.workload = Workload::parse("ycsb:workload=a", OpenOptions::default()).unwrap();
    large.length = Length::Writes(400_000);
    large.drive.logical = Logical::Pages(1 << 16);
    large.drive.physical = Physical::Blocks(1100);
    let result = large.run(&mut ()).unwrap();
    let rules = result.runs[0].rules.as_deref().unwrap();
    assert!(rules.contains("pages") && rules.contains("blocks"), "{rules}");
    rows.push(row("hazard, large".into(), &large, &result.runs[0]));
    rows
}

fn row(name: String, experiment: &Experiment, run: &RunResult) -> Row {
    let ftl = run.ftl.parse().unwrap();
    let contents = Contents::new();
    let workload = experiment.workload.identity(experiment.drive.page_bytes, &contents).unwrap();
    let versions = experiment.identity(&workload).unwrap().of_run(&ftl).unwrap().versions;
    let pieces = registry::decisions(&ftl).unwrap();
    let parts = versions.split(", ").filter(|part| !part.starts_with("results ")).map(|part| {
        let (name, version) = part.split_once(' ').unwrap();
        let piece = pieces.pieces().iter().find(|piece| piece.name == name);
        let kind = piece.and_then(|piece| piece.kind);
        Part { name: name.to_owned(), version: version.parse().unwrap(), kind }
    });
    Row { name, parts: parts.collect(), did: did(run) }
}

/// The hash of what an FTL did in every interval and every stream: sums may be equal by chance.
fn did(run: &RunResult) -> String {
    let counts = [run.host_writes, run.relocations, run.erases, run.trims, run.collections];
    let merges = [run.merge_copies, run.full_merges, run.partial_merges, run.switch_merges];
    let streams: Vec<_> = run
        .streams
        .iter()
        .map(|stream| (&stream.name, stream.blocks, stream.erases, stream.relocations))
        .collect();
    let intervals = (&run.running_relocations, &run.running_erases);
    let blocks = (&run.victim_valid_share.histogram, run.erase_counts.min, run.erase_counts.max);
    let mut parts = vec![format!("{:?}", (counts, merges, intervals, streams, blocks))];
    parts.extend(run.timing.as_ref().map(|timing| {
        let responses = &timing.response_ns;
        format!("{:?}", (timing.elapsed_seconds, responses.mean, responses.p99, responses.max))
    }));
    parts.extend(run.faults.as_ref().map(|faults| {
        format!("{:?}", (faults.retired_blocks, faults.failed_programs, faults.failed_erases))
    }));
    parts.extend(
        run.slc
            .as_ref()
            .map(|slc| format!("{:?}", (slc.writes, slc.folds, slc.dropped, &slc.running_folds))),
    );
    hash(&parts.concat())
}

/// A name, and what is otherwise.
type Change = (&'static str, fn(&mut Experiment));

/// What an experiment has beside its FTL, one at a time.
const CHANGES: &[Change] = &[
    ("fill=none", |of| of.fill = Fill::None),
    ("fill=random", |of| of.fill = Fill::Random),
    ("fill=twice", |of| of.fill = Fill::Twice),
    ("warmup-writes=1000", |of| of.warmup_writes = 1000),
    ("interval=777", |of| of.interval_writes = Some(777)),
    ("ignore-trims", |of| of.ignore_trims = true),
    ("repeat", |of| (of.repeat, of.length) = (true, Length::Writes(70_000))),
    ("until=steady", |of| (of.repeat, of.length) = (true, Length::UntilSteady(40.0))),
    ("wrap", |of| (of.wrap, of.drive.logical) = (true, Logical::Pages(5000))),
    ("page-size=8KiB", |of| of.drive.page_bytes = 8192),
    ("usual drive", |of| {
        of.drive.pages_per_block = None;
        of.drive.physical = Physical::OverProvisioning(Share(0.3));
    }),
    ("streams", |of| of.streams = Some("0..4MiB=1,4MiB..8MiB=2".parse().unwrap())),
    ("zipf", |of| {
        of.workload = Workload::parse("zipf", OpenOptions::default()).unwrap();
        of.length = Length::Writes(20_000);
    }),
    ("gc=incremental", |of| of.drive.gc = "incremental".parse().unwrap()),
    ("gc=background:pages=8", |of| of.drive.gc = "background:pages=8".parse().unwrap()),
    ("gc=garbage:share=0.1", |of| of.drive.gc = GcSchedule::Garbage { per_million: 100_000 }),
    ("gc=gradual", |of| of.drive.gc = "gradual".parse().unwrap()),
    ("gc=throttled", |of| of.drive.gc = "throttled".parse().unwrap()),
    ("gc-start=20%", |of| of.drive.early = Some(EarlyCollection::new(Share(0.2), None))),
    ("wear", |of| {
        of.drive.wear = WearLeveling { free_block: FreeBlock::LeastWorn, threshold: 4 };
    }),
    ("refresh=age=9000", |of| {
        of.drive.refresh = Refresh { age_writes: 9000, ..Refresh::default() }
    }),
    ("slc-cache", |of| {
        of.drive.slc_cache = Some("size=2MiB".parse().unwrap());
        of.ftls.retain(|ftl| ftl.name != "nvme-fdp");
    }),
    ("faults", |of| {
        of.faults = Some("program=0.0001,erase=0.001".parse().unwrap());
        of.drive.physical = Physical::Blocks(180);
    }),
    ("timing=slc", |of| of.timing = Some("slc".parse().unwrap())),
    ("timing=femu:unit=request", |of| of.timing = Some("femu:unit=request".parse().unwrap())),
    ("timing=enterprise:cached-transfers=on", |of| {
        let timing = "enterprise:unit=request,queue-depth=32,priority=read-first,suspend=both,suspend-slice-us=70,\
                      page-types=one-shot,program-us=300/300/300,planes=2,write-buffer=1MiB,cached-transfers=on";
        of.timing = Some(timing.parse().unwrap());
    }),
];

fn simulations() -> Vec<Row> {
    let run = |(name, change): &Change| {
        let ftls = ["2r++", "nvme-fdp:inner=dac,handles=2", "lfs-cb:batch=2"];
        let ftls = ftls.map(|ftl| ftl.parse().unwrap()).to_vec();
        let mut experiment = Experiment { length: Length::Writes(20_000), ..experiment(ftls) };
        change(&mut experiment);
        let result = experiment.run(&mut ()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let row = |run: &RunResult| row(format!("{} {name}", run.ftl), &experiment, run);
        result.runs.iter().map(row).collect::<Vec<_>>()
    };
    CHANGES.iter().flat_map(run).collect()
}

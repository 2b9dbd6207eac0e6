//! Jobs that are drawn at random, against the fio that is installed: `make fio-differential`.
//!
//! Whatever a job is, fio writes what we say that it does, or we refuse it. `FTLAB_FIO_JOBS` says how many are
//! drawn, `FTLAB_FIO_SEED` which. The first that differs is made as short as it can be.
//!
//! fio takes a quarter of a second to begin and to end, which is why jobs run at once.

use crate::job::{Job, difference};
use crate::program::Program;
use ftlab_fio::Version;
use ftlab_trace::RequestBatch;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::time::Instant;

/// Jobs in the suite.
const JOBS: u64 = 100;

const AT_ONCE: usize = 25;

/// Options and their values, with how many of 100 jobs have one of these.
const OPTIONS: &[(u32, &[&str])] = &[
    (80, &["bs=4k", "bs=16k", "bs=512", "bs=3k", "bs=64k", "bs=8k,4k", "bs=4k,8k,16k", "bs=1536"]),
    (12, &["bsrange=4k-16k", "bsrange=512-3k", "bsrange=1k-4k,8k-8k", "bsrange=3k-10k"]),
    (
        12,
        &[
            "bssplit=4k/50:8k",
            "bssplit=4k/10:16k/:512",
            "bssplit=8k/30:4k/,16k",
            "bssplit=3k:12k/20",
        ],
    ),
    (8, &["blockalign=4k", "blockalign=512", "blockalign=1k,8k", "blockalign=3k"]),
    (6, &["bs_is_seq_rand=1"]),
    (
        85,
        &[
            "size=256k",
            "size=1m",
            "size=64k",
            "size=1000k",
            "size=50%",
            "size=33%",
            "size=100%",
            "size=7%",
            "size=333k",
            "size=2m",
        ],
    ),
    (45, &["filesize=512k", "filesize=1m", "filesize=2m", "filesize=300k", "filesize=777k"]),
    (
        40,
        &[
            "io_size=128k",
            "io_size=3m",
            "io_size=50%",
            "io_size=33k",
            "io_size=600k",
            "io_size=100%",
            "io_size=1m",
        ],
    ),
    (
        35,
        &[
            "offset=64k",
            "offset=4k",
            "offset=25%",
            "offset=33%",
            "offset=512",
            "offset=5k",
            "offset=90%",
        ],
    ),
    (8, &["offset_align=8k", "offset_align=3k", "offset_align=512"]),
    (12, &["number_ios=10", "number_ios=33", "number_ios=100"]),
    (30, &["loops=2", "loops=3"]),
    (30, &["norandommap", "norandommap=0", "norandommap=1"]),
    (
        20,
        &["random_generator=lfsr", "random_generator=tausworthe64", "random_generator=tausworthe"],
    ),
    (
        35,
        &[
            "random_distribution=zipf:0.9",
            "random_distribution=zipf:1.3:0.4",
            "random_distribution=pareto:0.2",
            "random_distribution=pareto:0.1:0.9",
            "random_distribution=normal:20",
            "random_distribution=normal:5:0.3",
            "random_distribution=normal:0",
            "random_distribution=zoned:50/5:30/15:20/",
            "random_distribution=zoned:80/20:20/80",
            "random_distribution=zoned:80/20:20/80,10/90:90/10",
            "random_distribution=zoned_abs:60/16k:40/48k",
            "random_distribution=random",
        ],
    ),
    (
        15,
        &[
            "percentage_random=40",
            "percentage_random=0",
            "percentage_random=90,20",
            "percentage_random=70",
        ],
    ),
    (20, &["rwmixread=30", "rwmixread=90", "rwmixwrite=100", "rwmixread=100", "rwmixwrite=80"]),
    (8, &["rw_sequencer=identical", "rw_sequencer=sequential"]),
    (15, &["randseed=7", "randseed=123456789012"]),
    (12, &["allrandrepeat=1", "randrepeat=1"]),
    (25, &["fsync=3", "fsync=1", "fdatasync=2", "fsync=16"]),
    (
        12,
        &[
            "file_service_type=zipf:1.2",
            "file_service_type=pareto",
            "file_service_type=normal:10",
            "file_service_type=random",
            "file_service_type=sequential",
            "file_service_type=roundrobin:2",
        ],
    ),
    (5, &["do_verify=0", "do_verify=1"]),
    (5, &["kb_base=1000", "kb_base=1024"]),
    (
        10,
        &[
            "iodepth_batch=4",
            "iodepth_low=2",
            "iodepth_batch_complete_max=8",
            "serialize_overlap=1",
            "softrandommap=1",
        ],
    ),
    (
        10,
        &[
            "invalidate=0",
            "overwrite=1",
            "refill_buffers=1",
            "zero_buffers",
            "openfiles=1",
            "fallocate=none",
            "scramble_buffers=0",
            "create_serialize=0",
            "runtime=60",
            "nrfiles=2",
        ],
    ),
];

const DIRECTIONS: &[&str] = &[
    "randwrite",
    "write",
    "randrw",
    "rw",
    "read",
    "randread",
    "write:4k",
    "write:-8k",
    "rw:4k",
    "rw:-4k",
    "randwrite:3",
    "randrw:2",
    "randwrite:16",
];

/// With trims, which only an engine without a drive does on a file.
const TRIMS: &[&str] =
    &["trim", "randtrim", "trimwrite", "randtrimwrite", "randtrim:2", "trim:4k", "randtrimwrite:3"];

const ENGINES: &[&str] = &[
    "ioengine=null",
    "ioengine=psync",
    "ioengine=libaio",
    "ioengine=libaio iodepth=4",
    "ioengine=libaio iodepth=16",
];

/// Names of 12 and 13 letters with what fio adds, which its hash treats otherwise.
const NAMES: &[&str] = &["a", "job-678", "job-6789", "a-name-of-twenty-four-ll"];

/// A job: its name, and its options with blanks between them.
type Words = (String, String);

fn words() -> impl Strategy<Value = Words> {
    let name = prop::sample::select(NAMES).prop_map(str::to_owned);
    let engine = prop::sample::select(ENGINES);
    let writes = (prop::sample::select(DIRECTIONS), engine)
        .prop_map(|(direction, engine)| format!("rw={direction} {engine}"));
    let trims =
        prop::sample::select(TRIMS).prop_map(|direction| format!("rw={direction} ioengine=null"));
    let does = prop_oneof![4 => writes, 1 => trims];
    let options: Vec<_> = OPTIONS
        .iter()
        .map(|(percent, values)| {
            prop::option::weighted(f64::from(*percent) / 100.0, prop::sample::select(*values))
        })
        .collect();
    (name, does, options).prop_map(|(name, does, options)| {
        let options: Vec<&str> = options.into_iter().flatten().collect();
        (name, format!("{does} {}", options.join(" ")).trim_end().to_owned())
    })
}

/// Whether the file that an engine without a drive says that there is has another size than one that is there.
fn has_no_file(options: &str) -> bool {
    let says = |what: &str| options.split(' ').any(|option| option.starts_with(what));
    let in_percent = |what: &str| {
        options.split(' ').any(|option| option.starts_with(what) && option.ends_with('%'))
    };
    let asks_size = says("filesize=") || in_percent("size=") || in_percent("offset=");
    options.contains("ioengine=null") && (asks_size || !says("size="))
}

/// Whether flushes of a queue cannot be compared. Until fio 3.37, they hang on what was completed last; until 3.40, those
/// of libaio are logged twice if they have to wait; and as long as they are under way, `number_ios` counts them.
fn has_odd_flushes(options: &str, version: Version) -> bool {
    let flushes = options.contains("fsync=") || options.contains("fdatasync=");
    let is_deep = options.contains("libaio iodepth=");
    let is_before = |version_then: Version| {
        Version::ALL.iter().take_while(|other| **other != version_then).any(|it| *it == version)
    };
    let may_wait = options.contains("iodepth_batch=") && is_before(Version::V41);
    flushes && is_deep && (is_before(Version::V38) || may_wait || options.contains("number_ios="))
}

/// What became of jobs.
#[derive(Debug, Default)]
struct Counts {
    same: usize,
    requests: usize,
    refused: usize,
    failed: usize,
}

/// A drawn job, which is the `number`th of those that run at once.
struct Drawn<T> {
    tree: T,
    number: usize,
    ours: RequestBatch,
}

/// The job of these words after `before` others.
fn job((name, options): &Words, before: usize) -> Job {
    Job::of_options(&format!("{name}{before}"), options).after(before)
}

/// How a job differs if it runs alone; `None` if it does not, or if one of both refuses it.
fn difference_alone(program: &Program, words: &Words, before: usize) -> Option<String> {
    let job = job(words, before);
    let ours = job.made(program.version).ok()?;
    match program.logged(&job) {
        Ok(theirs) => difference(&ours, &theirs),
        Err(said) => (said == crate::program::ENDLESS).then_some(said),
    }
}

/// The words of the shortest job that differs, and how it does.
fn shortest<T: ValueTree<Value = Words>>(
    program: &Program,
    mut drawn: Drawn<T>,
    mut differs: String,
) -> String {
    let mut words = drawn.tree.current();
    let mut may_shrink = drawn.tree.simplify();
    while may_shrink {
        let simpler = drawn.tree.current();
        let is_asked = is_comparable(&simpler.1, program.version);
        let difference = difference_alone(program, &simpler, drawn.number).filter(|_| is_asked);
        may_shrink = match difference {
            Some(difference) => {
                (words, differs) = (simpler, difference);
                drawn.tree.simplify()
            }
            None => drawn.tree.complicate(),
        };
    }
    let job = job(&words, drawn.number);
    format!("fio {}, job {}\n{differs}\n{}", program.version, drawn.number + 1, job.alone())
}

/// Compares jobs that run at once; those that differ, or of which something is wrong, one by one.
fn compare<T: ValueTree<Value = Words>>(
    program: &Program,
    drawn: Vec<Drawn<T>>,
    counts: &mut Counts,
) -> Result<(), String> {
    let jobs: Vec<Job> =
        drawn.iter().map(|drawn| job(&drawn.tree.current(), drawn.number)).collect();
    let logs = program.logged_at_once(&jobs);
    for (index, drawn) in drawn.into_iter().enumerate() {
        let theirs = logs.as_ref().ok().map(|logs| &logs[index]);
        if let Some(theirs) = theirs.filter(|theirs| **theirs == drawn.ours) {
            counts.same += 1;
            counts.requests += theirs.len();
            continue;
        }
        let words = drawn.tree.current();
        if let Some(difference) = difference_alone(program, &words, drawn.number) {
            return Err(shortest(program, drawn, difference));
        }
        match program.logged(&jobs[index]) {
            Ok(_) => counts.same += 1,
            Err(said) => {
                counts.failed += 1;
                println!("fio fails: {}: {}", words.1, said.lines().last().unwrap_or_default());
            }
        }
    }
    Ok(())
}

/// Whether what both do can be compared.
fn is_comparable(options: &str, version: Version) -> bool {
    !has_no_file(options) && !has_odd_flushes(options, version)
}

fn number(variable: &str, default: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

#[test]
fn random_jobs_write_what_the_installed_fio_logs() {
    let Some(program) = Program::installed() else { return };
    let (jobs, seed) = (number("FTLAB_FIO_JOBS", JOBS), number("FTLAB_FIO_SEED", 1));
    let mut seeds = [0; 32];
    seeds[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seeds);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let (begun, mut counts) = (Instant::now(), Counts::default());
    let (mut compared, mut drawn, strategy) = (0, Vec::new(), words());
    while compared < jobs {
        let tree = strategy.new_tree(&mut runner).unwrap();
        let words = tree.current();
        if !is_comparable(&words.1, program.version) {
            continue;
        }
        compared += 1;
        let number = drawn.len();
        match job(&words, number).made(program.version) {
            Ok(ours) => drawn.push(Drawn { tree, number, ours }),
            Err(_) => counts.refused += 1,
        }
        if drawn.len() == AT_ONCE || compared == jobs {
            compare(&program, std::mem::take(&mut drawn), &mut counts)
                .unwrap_or_else(|text| panic!("seed {seed}, after {compared} jobs: {text}"));
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("fio {}, seed {seed}: {counts:?} in {seconds:.0} s", program.version);
    assert!(counts.same as u64 >= jobs / 2, "few are compared: {counts:?}");
}

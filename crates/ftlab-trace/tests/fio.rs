//! Job files against fio itself: against what fio 3.33 logged (`data/fio/logged.txt`), and against the fio
//! that is installed, if there is one.

mod common;

use common::fixture;
use ftlab_trace::fio::{JobFile, OpenReplay};
use ftlab_trace::synthetic::{Space, build};
use ftlab_trace::{ClosedLoop, Turn};
use ftlab_trace::{Op, RequestBatch, RequestHasher};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Requests that are compared of jobs without an end; the others are compared to their last.
const OF_ENDLESS: usize = 5_000;

/// Requests that stand in the table, beside the hash of all.
const SHOWN: usize = 4;

/// The job files of the fixtures, by name.
fn job_files() -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(fixture("fio"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "fio"))
        .collect();
    files.sort();
    files
}

/// The drive that has just room for the files of the jobs.
fn space(jobs: &JobFile) -> Space {
    let logical_pages = jobs.drive_bytes().unwrap().div_ceil(4096);
    Space { logical_pages, page_bytes: 4096, seed: 1 }
}

/// The requests of a job file, made in batches of `limit`.
fn made(path: &Path, limit: usize) -> RequestBatch {
    let jobs = JobFile::read(path).unwrap();
    let most = if jobs.has_end() { usize::MAX } else { OF_ENDLESS };
    let mut requests = jobs.requests(&space(&jobs)).unwrap();
    let (mut all, mut batch) = (RequestBatch::new(), RequestBatch::with_limit(limit));
    while all.len() < most && requests.fill(&mut batch).unwrap() {
        assert!(batch.len() <= limit);
        all.extend_from(&batch);
        batch.clear();
    }
    all.truncate(most);
    all
}

/// The requests that fio logs of it; the log of a whole second is cut.
fn logged(path: &Path) -> RequestBatch {
    let jobs = JobFile::read(path).unwrap();
    let most = if jobs.has_end() { usize::MAX } else { OF_ENDLESS };
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    // A file that is there, without data, for engines that need one.
    let drive = std::fs::File::create(folder.path().join("drive")).unwrap();
    drive.set_len(jobs.drive_bytes().unwrap()).unwrap();
    let output = Command::new("fio")
        .current_dir(folder.path())
        .arg(format!("--write_iolog={}", log.display()))
        .arg(path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", path.display());
    let text = std::fs::read_to_string(&log).unwrap();
    let mut all = RequestBatch::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let op = match fields.get(2) {
            Some(&"write") => Op::Write,
            Some(&"read") => Op::Read,
            Some(&"trim") => Op::Trim,
            Some(&("sync" | "datasync")) => Op::Flush,
            _ => continue,
        };
        let bytes = |index: usize| fields[index].parse::<u64>().unwrap();
        let (offset, length) = if op == Op::Flush { (0, 0) } else { (bytes(3), bytes(4)) };
        assert!(offset.is_multiple_of(512) && length.is_multiple_of(512), "{line}");
        all.push(op, offset / 512, (length / 512) as u32);
    }
    all.truncate(most);
    all
}

/// A line of the table: how many requests, the hash of all, and the first.
fn line(path: &Path, requests: &RequestBatch) -> String {
    let mut hasher = RequestHasher::new();
    hasher.update(requests);
    let name = path.file_stem().unwrap().display();
    let mut line = format!("{name} {} {}", requests.len(), hasher.finish());
    for (op, lba, sectors) in requests.iter().take(SHOWN) {
        write!(line, " {}:{lba}+{sectors}", op.name()).unwrap();
    }
    line + "\n"
}

#[test]
fn jobs_write_what_fio_logged() {
    let table = std::fs::read_to_string(fixture("fio/logged.txt")).unwrap();
    let files = job_files();
    assert_eq!(table.lines().count(), files.len(), "a line for each job file");
    for path in files {
        let line = line(&path, &made(&path, 8192));
        assert!(table.contains(&line), "{}", line.trim_end());
    }
}

#[test]
fn batches_do_not_matter() {
    for name in ["randwrite", "bssplit", "fsync", "zoned"] {
        let path = fixture(&format!("fio/{name}.fio"));
        let whole = made(&path, 8192);
        for limit in [1, 7, 1000] {
            assert_eq!(made(&path, limit).lba, whole.lba, "{name} by {limit}");
        }
    }
}

#[test]
fn the_generator_of_random_writes_is_the_job_with_its_seed() {
    let logged = made(&fixture("fio/randwrite-seeded.fio"), 8192);
    let space = Space { logical_pages: 1024, page_bytes: 4096, seed: 20_240_517 };
    let mut source = build(&"fio-randwrite".parse().unwrap(), &space).unwrap();
    let mut batch = RequestBatch::with_limit(1024);
    assert!(source.next_batch(&mut batch).unwrap());
    assert_eq!(batch.lba, logged.lba[..1024]);
    let first = batch.lba.clone();
    assert!(source.next_batch(&mut batch).unwrap());
    assert_ne!(batch.lba, first, "a new order in every pass");
}

/// With `FTLAB_WRITE_GOLDEN`, the logs become the table.
#[test]
fn jobs_write_what_the_installed_fio_logs() {
    let Ok(version) = Command::new("fio").arg("--version").output() else {
        eprintln!("skipped: fio is not installed");
        return;
    };
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    let mut table = String::new();
    for path in job_files() {
        let (ours, theirs) = (made(&path, 8192), logged(&path));
        let differs = ours.iter().zip(theirs.iter()).position(|(ours, theirs)| ours != theirs);
        let counts = (ours.len(), theirs.len());
        assert_eq!((differs, counts.0), (None, counts.1), "{version}, {}", path.display());
        table += &line(&path, &theirs);
    }
    if std::env::var_os("FTLAB_WRITE_GOLDEN").is_some() {
        std::fs::write(fixture("fio/logged.txt"), table).unwrap();
    }
}

/// Options that are right, most of them, or odd.
fn option() -> impl Strategy<Value = String> {
    let right = prop::sample::select(vec![
        "rw=write",
        "rw=randrw",
        "rw=trim",
        "rw=randtrimwrite",
        "rw=trimwrite",
        "rw=rw:4k",
        "rw=write:-8k",
        "rw=randwrite:3",
        "rw_sequencer=identical",
        "bs=512",
        "bs=16k,4k",
        "bs=1m",
        "bsrange=512-3k",
        "bssplit=4k/50:8k",
        "bssplit=64k/10:4k/,16k",
        "blockalign=512",
        "size=1m",
        "size=50%",
        "size=10m",
        "filesize=3m",
        "io_size=100m",
        "io_size=7%",
        "offset=33%",
        "offset=5k",
        "offset_increment=100k",
        "offset_align=3k",
        "number_ios=10",
        "loops=3",
        "numjobs=3",
        "norandommap",
        "random_generator=lfsr",
        "random_generator=tausworthe64",
        "random_distribution=zipf:0.5:0.1",
        "random_distribution=pareto:0.2",
        "random_distribution=normal:90:0.01",
        "random_distribution=zoned:50/5:30/15:20/",
        "random_distribution=zoned_abs:60/1m:40/3m",
        "randrepeat=0",
        "allrandrepeat=1",
        "percentage_random=40",
        "rwmixread=90",
        "fsync=2",
        "time_based",
        "runtime=1",
        "stonewall",
        "iodepth=7",
        "ioengine=libaio",
        "fdp=1",
        "plids=1-3",
        "plid_select=random",
        "filename=a",
        "kb_base=1000",
        "bs_is_seq_rand=1",
        "rate_iops=100",
        "thinktime=3ms",
        "startdelay=1",
    ]);
    let names = "(size|bs|offset|io_size|loops|numjobs|iodepth|randseed|number_ios|rate|bsrange|bssplit|rw)";
    let odd = format!("{names}=([0-9]{{1,20}}[kmgtp%]?|\\PC{{0,12}})");
    let odd = proptest::string::string_regex(&odd).unwrap();
    prop_oneof![9 => right.prop_map(str::to_owned), 1 => odd].prop_map(|option| option + "\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn whatever_jobs_say_they_write_within_the_drive_or_are_refused(
        global in prop::collection::vec(option(), 0..4),
        first in prop::collection::vec(option(), 0..8),
        second in prop::collection::vec(option(), 0..4),
    ) {
        let [global, first, second] = [global, first, second].map(|options| options.concat());
        let text = format!("[global]\n{global}[a]\nrw=randwrite\n{first}[b]\nrw=rw\n{second}");
        let space = Space { logical_pages: 1 << 12, page_bytes: 4096, seed: 1 };
        let Ok(jobs) = JobFile::parse(&text, "text") else { return Ok(()) };
        let mut batch = RequestBatch::with_limit(300);
        if let Ok(mut requests) = jobs.requests(&space) {
            for _ in 0..4 {
                batch.clear();
                requests.fill(&mut batch).ok();
                prop_assert!(batch.iter().all(|(_, lba, sectors)| lba + u64::from(sectors) <= 8 << 12));
            }
        }
        // No option names a file, so that nothing is opened.
        let open: OpenReplay = |spec, space| build(&spec.parse().unwrap(), space);
        if let Ok(mut hosts) = jobs.hosts(&space, open, true) {
            let mut time = 0;
            for _ in 0..100 {
                batch.clear();
                let Ok(Turn::Issue(_)) = hosts.turn() else { break };
                let Some(next) = hosts.issue(&mut batch) else { break };
                prop_assert!(next.time_ns >= time, "{} after {}", next.time_ns, time);
                time = next.time_ns;
                hosts.complete(next.host, time + 1000);
            }
        }
    }
}

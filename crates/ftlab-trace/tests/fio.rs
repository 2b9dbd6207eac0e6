//! Job files against fio itself: against what fio 3.33 logged (`data/fio/logged.txt`), and against the fio
//! that is installed, if there is one.

mod common;

use common::fixture;
use ftlab_trace::fio::JobFile;
use ftlab_trace::synthetic::Space;
use ftlab_trace::{Op, RequestBatch, RequestHasher};
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

//! Job files against fio itself: against what versions of fio logged (`data/fio/logged.txt`), and against the
//! fio that is installed, if there is one.
//!
//! With `FTLAB_FIO`, that is the fio which is installed. With `FTLAB_WRITE_GOLDEN`, what it logs becomes the
//! lines of its version in the table.

#[path = "../common/mod.rs"]
mod common;

mod bounds;
mod job;
mod placement;
mod program;
mod random_jobs;
mod table;

use ftlab_trace::RequestBatch;
use ftlab_trace::fio::{JobFile, Version};
use ftlab_trace::synthetic::{Space, build};
use job::Job;
use program::Program;
use std::fmt::Write;
use table::Table;

#[test]
fn jobs_write_what_fio_logged() {
    let table = Table::read();
    let jobs = job::fixtures();
    assert_eq!(table.len(), jobs.len());
    for version in Version::ALL {
        for job in &jobs {
            let made = job.made(version).unwrap();
            table.compare(version, job.name(), &made);
        }
    }
}

/// Programs of fio at a time, which wait more than they work.
const AT_ONCE: usize = 8;

#[test]
fn jobs_write_what_the_installed_fio_logs() {
    let Some(program) = Program::installed() else { return };
    let mut jobs = job::fixtures();
    if !table::is_to_be_written() {
        // Others are drawn for it.
        jobs.retain(Job::is_file);
    }
    let logged =
        |jobs: &[Job]| -> Vec<_> { jobs.iter().map(|job| program.logged(job).unwrap()).collect() };
    let all: Vec<_> = std::thread::scope(|scope| {
        let parts = jobs.chunks(jobs.len().div_ceil(AT_ONCE));
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || logged(part))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let (mut table, mut differences) = (Table::read(), String::new());
    for (job, theirs) in jobs.iter().zip(&all) {
        let ours = job.made(program.version).unwrap();
        table.set(program.version, job.name(), theirs);
        if let Some(difference) = job::difference(&ours, theirs) {
            write!(differences, "{}: {difference}\n{}\n", job.name(), job.text()).unwrap();
        }
    }
    if table::is_to_be_written() {
        table.write();
    }
    assert!(differences.is_empty(), "fio {}\n{differences}", program.version);
}

#[test]
fn batches_do_not_matter() {
    for name in ["randwrite", "bssplit", "fsync", "zoned"] {
        let job = Job::fixture(name);
        let whole = job.made_in_batches(Version::NEWEST, 8192).unwrap();
        for limit in [1, 7, 1000] {
            let made = job.made_in_batches(Version::NEWEST, limit).unwrap();
            assert_eq!(made.lba, whole.lba, "{name} by {limit}");
        }
    }
}

#[test]
fn the_generator_of_random_writes_is_the_job_with_its_seed_in_every_version() {
    let space = Space { logical_pages: 1024, page_bytes: 4096, seed: 20_240_517 };
    for version in Version::ALL {
        let logged = Job::fixture("randwrite-seeded").made(version).unwrap();
        let mut source = build(&"fio-randwrite".parse().unwrap(), &space).unwrap();
        let mut batch = RequestBatch::with_limit(1024);
        assert!(source.next_batch(&mut batch).unwrap());
        assert_eq!(batch.lba, logged.lba[..1024]);
        let first = batch.lba.clone();
        assert!(source.next_batch(&mut batch).unwrap());
        assert_ne!(batch.lba, first, "a new order in every pass");
    }
}

#[test]
fn the_version_is_that_of_the_parameter_or_of_the_comment_or_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.fio");
    let job = "[a]\nrw=randwrite\nbs=4k\nsize=1m\n";
    let space = Space { logical_pages: 256, page_bytes: 4096, seed: 1 };
    let first = |text: &str, more: &str| {
        std::fs::write(&path, text).unwrap();
        let spec = format!("fio:file={}{more}", path.display()).parse().unwrap();
        let mut batch = RequestBatch::with_limit(1);
        build(&spec, &space).unwrap().next_batch(&mut batch).unwrap();
        batch.lba[0]
    };
    let of = |version| {
        let jobs = JobFile::parse_for(job, "text", &job::of_version(version)).unwrap();
        let mut batch = RequestBatch::with_limit(1);
        jobs.requests(&space).unwrap().fill(&mut batch).unwrap();
        batch.lba[0]
    };
    let [old, new] = [Version::V33, Version::V42].map(of);
    assert_ne!(old, new);
    let stated = format!("; ftlab: version=3.33\n{job}");
    assert_eq!(first(job, ""), new);
    assert_eq!(first(job, ",version=3.33"), old);
    assert_eq!(first(&stated, ""), old);
    assert_eq!(first(&stated, ",version=auto"), old);
    assert_eq!(first(&stated, ",version=3.42"), new);
}

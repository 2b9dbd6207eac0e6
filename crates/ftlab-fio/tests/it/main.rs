//! Job files against fio itself: against what versions of fio logged (`data/fio/logged.txt`), and against the
//! fio that is installed, if there is one.
//!
//! With `FTLAB_FIO`, that is the fio which is installed. With `FTLAB_WRITE_GOLDEN`, what it logs becomes the
//! lines of its version in the table.

mod bounds;
mod job;
mod placement;
mod program;
mod random_jobs;
mod table;

use ftlab_fio::Version;
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

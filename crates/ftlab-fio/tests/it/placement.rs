//! The identifiers that jobs place their writes by, which no log of requests has.

use crate::job::Job;
use crate::job::fixture;
use crate::program::{Program, folder};
use crate::table::is_to_be_written;
use ftlab_fio::Version;
use ftlab_trace::Op;
use std::fmt::Write;

/// Jobs, and what the newest fio draws for them: `options | identifiers`.
const FILE: &str = "placement.txt";

fn lines() -> Vec<(Job, Vec<u16>)> {
    let text = std::fs::read_to_string(fixture(FILE)).unwrap();
    let line = |line: &str| {
        let (options, drawn) = line.split_once(" | ").unwrap();
        let drawn = drawn.split(' ').map(|number| number.parse().unwrap()).collect();
        (Job::of_options("job", options), drawn)
    };
    text.lines().map(line).collect()
}

/// The identifiers of a job's writes.
fn placed(job: &Job) -> Vec<u16> {
    let made = job.made(Version::NEWEST).unwrap();
    let writes = made.op.iter().zip(&made.stream).filter(|(op, _)| **op == Op::Write);
    writes.map(|(_, stream)| *stream).collect()
}

/// Those that fio says it drew; for a request beyond the end of the file, which is not made, it draws too.
fn drawn(said: &str) -> Vec<u16> {
    let (mut all, mut next) = (Vec::new(), None);
    for line in said.lines() {
        if let Some((_, dspec)) = line.split_once("dspec set to 0x") {
            next = u16::from_str_radix(dspec.trim(), 16).ok();
        } else if line.contains("fill: io_u") {
            all.extend(next.take());
        }
    }
    all
}

#[test]
fn identifiers_are_those_that_fio_drew() {
    for (job, drawn) in lines() {
        assert_eq!(placed(&job), drawn, "{}", job.text());
    }
}

#[test]
fn identifiers_are_those_that_the_installed_fio_draws() {
    let Some(program) = Program::installed() else { return };
    if program.version != Version::NEWEST {
        return;
    }
    let mut table = String::new();
    for (job, _) in lines() {
        let folder = folder();
        let said = program.run(&job, folder.path(), &["--debug=io"]).unwrap();
        let drawn = drawn(&said);
        assert!(!drawn.is_empty(), "{said}");
        let options = job.text().lines().skip(1).collect::<Vec<_>>().join(" ");
        let numbers: Vec<_> = drawn.iter().map(u16::to_string).collect();
        writeln!(table, "{options} | {}", numbers.join(" ")).unwrap();
        if !is_to_be_written() {
            assert_eq!(placed(&job), drawn, "{}", job.text());
        }
    }
    if is_to_be_written() {
        std::fs::write(fixture(FILE), table).unwrap();
    }
}

#[test]
fn a_fio_that_cannot_place_writes_is_not_said_to() {
    let job = Job::of_options("job", "rw=write size=64k fdp=1 plids=0,1");
    let error = job.made(Version::V33).unwrap_err().to_string();
    assert!(error.contains("places its writes, which fio 3.33 cannot do at all"), "{error}");
}

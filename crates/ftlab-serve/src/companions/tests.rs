//! Companions of a real drive.

use super::CompanionOptions;
use crate::CompanionStatus;
use ftlab_drive::{CreateOptions, Drive, Notice, OpenOptions, Store};
use ftlab_flash::{Geometry, Lpn, NoPayload};
use ftlab_ftl::PageBatch;
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry;
use ftlab_trace::{Op, RequestBatch, open};
use std::path::Path;
use std::sync::Arc;

const PAGE_BYTES: u64 = 4096;

/// A drive of 1,024 pages with one block in four to spare.
fn config() -> DriveConfig {
    DriveConfig::new(Geometry::new(88, 16, PAGE_BYTES as u32).unwrap(), 1024, 4)
}

fn create(path: &Path, ftl: &str) {
    let ftl = ftl.parse().unwrap();
    Drive::create(
        path,
        &CreateOptions {
            ftl,
            config: config(),
            mapping: ftlab_ftl::map::Mapping::FULL,
            checkpoint_every: None,
        },
    )
    .unwrap();
}

fn silent() -> Notice {
    Arc::new(|_| {})
}

/// Writes and trims pages in some order, of three streams.
fn work(drive: &Drive, steps: u64) {
    let page = vec![7; PAGE_BYTES as usize];
    let mut random = 1_u64;
    for step in 0..steps {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let lpn = (random >> 33) % 1024;
        drive.write_stream(lpn * PAGE_BYTES, &page, (lpn % 3) as u16).unwrap();
        if step % 50 == 49 {
            drive.trim(lpn.min(1000) * PAGE_BYTES, 20 * PAGE_BYTES).unwrap();
        }
    }
}

#[test]
fn a_shadow_of_the_same_ftl_does_the_same_and_the_trace_replays_to_it() {
    for ftl in ["2r-fifo", "nvme-fdp/greedy"] {
        follow(ftl);
    }
}

fn follow(ftl: &str) {
    let directory = tempfile::tempdir().unwrap();
    let (path, trace) = (directory.path().join("drive"), directory.path().join("t.parquet"));
    create(&path, ftl);
    let shadows = vec![ftl.parse().unwrap(), "1r-greedy".parse().unwrap()];
    let options = CompanionOptions {
        record: Some(trace.clone()),
        shadows,
        names_streams: true,
        emulated_latency: None,
    };
    let (prepared, observer) = options.prepare();
    let drive = Drive::open(&path, OpenOptions { observer, ..OpenOptions::default() }).unwrap();
    let companions = prepared.start(&drive, silent()).unwrap();
    work(&drive, 20_000);
    drive.write(100, b"a part of a page").unwrap();
    let snapshot = drive.snapshot();
    let mapping = drive.mapping();
    drive.close().unwrap();
    while companions.shadows().iter().any(|shadow| shadow.behind > 0) {
        std::thread::yield_now();
    }
    let statuses = companions.shadows();
    let recording = companions.finish().unwrap().unwrap();

    let counters = &snapshot.counters;
    assert!(counters.waf().unwrap() > 1.1 && counters.trims > 1000);
    let same = &statuses[0].flash;
    assert_eq!(
        (same.host_pages, same.relocated_pages, same.erased_blocks, same.trimmed_pages),
        (counters.host_writes, counters.relocations(), counters.erases(), counters.trims)
    );
    assert_ne!(statuses[1].flash.relocated_pages, same.relocated_pages);

    // The trace, done by the same FTL in a simulator.
    let mut ftl =
        registry::build_page_mapped(&ftl.parse().unwrap(), config(), NoPayload, ()).unwrap();
    let mut source = open(&trace, &ftlab_trace::OpenOptions::default()).unwrap();
    assert_eq!(source.metadata().device_bytes, Some(1024 * PAGE_BYTES));
    let (mut batch, mut operations) = (RequestBatch::new(), 0);
    while source.next_batch(&mut batch).unwrap() {
        for ((op, lba, sectors), &stream) in batch.iter().zip(&batch.stream) {
            operations += 1;
            for lpn in lba / 8..(lba + u64::from(sectors)) / 8 {
                match op {
                    Op::Write => {
                        let (writes, streams) = (vec![Lpn(lpn as u32)], vec![stream]);
                        let page = PageBatch { writes, streams, ..PageBatch::default() };
                        ftl.apply(&page).unwrap();
                    }
                    _ => ftl.trim(Lpn(lpn as u32)).unwrap(),
                }
            }
        }
    }
    assert_eq!(operations, recording.operations);
    assert_eq!(&ftl.counters(), counters);
    assert_eq!(ftl.drive().mapping(), mapping);
}

#[test]
fn handles_of_a_shadow_move_on_with_those_of_the_drive() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("drive");
    create(&path, "nvme-fdp:handles=3");
    let shadows = vec!["nvme-fdp:handles=3".parse().unwrap(), "1r-greedy".parse().unwrap()];
    let (prepared, observer) = CompanionOptions { shadows, ..Default::default() }.prepare();
    let drive = Drive::open(&path, OpenOptions { observer, ..OpenOptions::default() }).unwrap();
    let companions = prepared.start(&drive, silent()).unwrap();
    for round in 0..100 {
        work(&drive, 60);
        assert!(drive.renew_handle(round % 3).unwrap());
    }
    assert!(!drive.renew_handle(3).unwrap(), "there is no such handle");
    let counters = drive.snapshot().counters;
    drive.close().unwrap();
    while companions.shadows().iter().any(|shadow| shadow.behind > 0) {
        std::thread::yield_now();
    }
    let [same, other] = companions.shadows().try_into().unwrap();
    assert_eq!((&same.failure, &other.failure), (&None, &None));
    assert_eq!(
        (same.flash.relocated_pages, same.flash.erased_blocks),
        (counters.relocations(), counters.erases())
    );
    assert_eq!(other.flash.host_pages, counters.host_writes);
    companions.finish().unwrap();
}

#[test]
fn a_shadow_begins_with_what_the_drive_holds() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("drive");
    create(&path, "1r-greedy");
    let page = vec![7; PAGE_BYTES as usize];
    let drive = Drive::open(&path, OpenOptions::default()).unwrap();
    for lpn in 0..1024 {
        drive.write(lpn * PAGE_BYTES, &page).unwrap();
    }
    drive.close().unwrap();
    let shadows = vec!["1r-greedy".parse().unwrap()];
    let (prepared, observer) = CompanionOptions { shadows, ..Default::default() }.prepare();
    let drive = Drive::open(&path, OpenOptions { observer, ..OpenOptions::default() }).unwrap();
    let before = drive.snapshot().counters;
    let companions = prepared.start(&drive, silent()).unwrap();
    work(&drive, 3000);
    let done = drive.snapshot().counters.since(&before);
    drive.close().unwrap();
    while companions.shadows()[0].flash.host_pages < done.host_writes {
        std::thread::yield_now();
    }
    // The drive was written in the order of addresses too.
    assert_eq!(companions.shadows()[0].flash.relocated_pages, done.relocations());
    assert!(done.relocations() > 0);
    companions.finish().unwrap();
}

#[test]
fn a_shadow_that_does_not_exist_is_an_error_that_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("drive");
    create(&path, "1r-greedy");
    let shadows = vec!["2r-fifi".parse().unwrap()];
    let (prepared, observer) = CompanionOptions { shadows, ..Default::default() }.prepare();
    let drive = Drive::open(&path, OpenOptions { observer, ..OpenOptions::default() }).unwrap();
    let error = prepared.start(&drive, silent()).unwrap_err().to_string();
    assert!(error.contains("shadow 2r-fifi: ") && error.contains("did you mean \"2r-fifo\"?"));
}

//! A process that serves a drive is killed under load, over and over: nothing that it reported as flushed is lost.

use ftlab_drive::{CreateOptions, Drive, OpenOptions, Store};
use ftlab_flash::Geometry;
use ftlab_ftl::page::DriveConfig;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const PAGE: usize = 4096;
const LOGICAL_PAGES: u32 = 2048;

/// Set for the child: the drive that it works on.
const DRIVE: &str = "FTLAB_KILL_TEST_DRIVE";

/// What the child does until it is killed: rounds of writes, each round flushed and then reported.
#[test]
fn child() {
    let Some(path) = std::env::var_os(DRIVE) else { return };
    let drive = Drive::open(Path::new(&path), OpenOptions::default()).unwrap();
    let first = drive.snapshot().operations;
    let mut out = std::io::stderr().lock();
    for round in first + 1.. {
        let mut page = [round as u8; PAGE];
        page[..8].copy_from_slice(&round.to_le_bytes());
        for step in 0..37 {
            let lpn = round.wrapping_mul(0x9e37_79b9).wrapping_add(step * step)
                % u64::from(LOGICAL_PAGES);
            page[8..16].copy_from_slice(&lpn.to_le_bytes());
            drive.write(lpn * PAGE as u64, &page).unwrap();
        }
        drive.flush().unwrap();
        writeln!(out, "{round}").unwrap();
    }
}

/// Kills a child after a while and returns the rounds that it reported.
fn work_and_die(path: &Path, after: Duration) -> Vec<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["kill::child", "--exact", "--nocapture"])
        .env(DRIVE, path)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut text = String::new();
    lines.read_line(&mut text).unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    lines.read_to_string(&mut text).unwrap();
    // The last line may be torn.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| line.parse().unwrap_or_else(|_| panic!("{line}"))).collect()
}

fn survive_kills(ftl: &str, map: &str, kills: u64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("drive");
    let config = DriveConfig::new(Geometry::new(80, 32, PAGE as u32).unwrap(), LOGICAL_PAGES, 4);
    let options = CreateOptions {
        ftl: ftl.parse().unwrap(),
        config,
        mapping: map.parse().unwrap(),
        checkpoint_every: Some(3000),
    };
    Drive::create(&path, &options).unwrap();
    let mut versions = vec![0; LOGICAL_PAGES as usize];
    for kill in 0..kills {
        let rounds = work_and_die(&path, Duration::from_millis(5 + kill * 37 % 150));
        for round in &rounds {
            for step in 0..37 {
                let lpn = round.wrapping_mul(0x9e37_79b9).wrapping_add(step * step);
                versions[(lpn % u64::from(LOGICAL_PAGES)) as usize] = *round;
            }
        }
        assert!(!rounds.is_empty());
        assert_eq!(ftlab_drive::check(&path).unwrap().damage, Vec::<String>::new());
        let drive = Drive::open(&path, OpenOptions::default()).unwrap();
        let mut page = [0; PAGE];
        for (lpn, version) in versions.iter_mut().enumerate() {
            drive.read((lpn * PAGE) as u64, &mut page).unwrap();
            let number = |at: usize| u64::from_le_bytes(page[at..at + 8].try_into().unwrap());
            assert!(number(0) >= *version, "{ftl}, kill {kill}: page {lpn} is older than flushed");
            assert!(number(0) == 0 || number(8) == lpn as u64, "{ftl}: page {lpn} is another");
            *version = number(0);
        }
        drive.close().unwrap();
    }
}

#[test]
fn what_was_flushed_survives_kills() {
    survive_kills("2r++", "full", 5);
}

#[test]
fn so_it_does_if_the_map_is_on_flash() {
    survive_kills("2r++", "dftl:cache=4KiB", 3);
    survive_kills("1r-greedy", "tpftl:cache=4KiB,by-request=off", 2);
    survive_kills("2r-fifo", "s-ftl:cache=8KiB", 2);
}

#[test]
#[ignore = "long: `make crash-tests`"]
fn what_was_flushed_survives_fifty_kills_of_every_family() {
    for ftl in ["1r-greedy", "2r-greedy", "2r-fifo", "2r++", "sepbit", "wolf", "midas", "hazard"] {
        survive_kills(ftl, "full", 50);
    }
}

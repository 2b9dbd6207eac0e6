//! Real programs on a live drive, in their short forms: file systems, databases, fio and clients of NBD are
//! killed and verified by `crates/ftlab-serve/programs`. Each test says what it lacks and passes without it.
#![cfg(feature = "live")]

use std::io::Write;
use std::process::Command;

/// The exit code of a program that lacks something.
const SKIPPED: i32 = 77;

#[track_caller]
fn short_form(program: &str) {
    let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/../ftlab-serve/programs");
    let arguments = [programs, program, "--short", "--ftlab", env!("CARGO_BIN_EXE_ftlab")];
    let Ok(output) = Command::new("python3").args(arguments).output() else {
        return say("SKIPPED: without python3 (make setup-drive)\n");
    };
    let text = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => {}
        Some(SKIPPED) => say(&text),
        code => panic!("{code:?}: {text}"),
    }
}

/// Not `eprintln!`, which is shown only if the test fails.
fn say(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}

#[test]
fn fio_verifies_what_it_wrote_before_a_kill() {
    short_form("fio");
}

#[test]
fn file_systems_are_whole_after_a_kill() {
    short_form("file-systems");
}

#[test]
fn clients_of_nbd_copy_convert_compare_and_use_tls() {
    short_form("clients");
}

#[test]
fn what_a_power_cut_may_leave_can_be_opened() {
    short_form("power-cuts");
}

#[test]
fn a_disk_that_fills_up_costs_no_flushed_page() {
    short_form("full-disk");
}

#[test]
fn a_nearly_full_drive_is_killed_again_and_again() {
    short_form("long-run");
}

#[test]
fn sqlite_loses_nothing() {
    short_form("sqlite");
}

#[test]
fn postgresql_loses_nothing() {
    short_form("postgresql");
}

#[test]
fn mariadb_loses_nothing() {
    short_form("mariadb");
}

#[test]
fn rocksdb_loses_nothing() {
    short_form("rocksdb");
}

#[test]
fn databases_run_on_slow_flash_and_throughput_is_measured() {
    short_form("2r-fig-12");
}

#[test]
fn tenants_run_on_slow_flash_and_throughput_is_measured() {
    short_form("2r-fig-13");
}

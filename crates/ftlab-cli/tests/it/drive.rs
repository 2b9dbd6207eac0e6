//! `ftlab drive` as a user types it.
#![cfg(feature = "live")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

fn ftlab(directory: &Path, arguments: &str) -> Output {
    let ftlab = Command::new(env!("CARGO_BIN_EXE_ftlab"))
        .args(arguments.split_whitespace())
        .current_dir(directory)
        .output();
    ftlab.unwrap()
}

fn ok(directory: &Path, arguments: &str) -> String {
    let output = ftlab(directory, arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments}: {errors}");
    String::from_utf8(output.stdout).unwrap() + &errors
}

fn fails(directory: &Path, arguments: &str, code: i32) -> String {
    let output = ftlab(directory, arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_drive_is_made_checked_and_looked_at() {
    let directory = tempfile::tempdir().unwrap();
    let made = ok(
        directory.path(),
        "drive create my.drive --size 64MiB --op 12.5% --pages-per-block 64 --ftl 2r-fifo:blk-util=0.4",
    );
    let geometry = "2r-fifo:blk-util=0.4, 16384 pages of 4096 bytes on 288 blocks of 64";
    assert!(made.contains(geometry), "{made}");
    let mode = std::fs::metadata(directory.path().join("my.drive")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let checked = ok(directory.path(), "drive check my.drive");
    assert!(checked.ends_with("0 pages hold data\nno damage\n"), "{checked}");
    let stats = ok(directory.path(), "drive stats my.drive");
    assert!(stats.contains("free blocks") && stats.contains("288"), "{stats}");
    let json = ok(directory.path(), "drive stats my.drive --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["host_writes"], &json["blocks"]), (&0.into(), &288.into()));
}

#[test]
fn the_blocks_of_a_drive_are_the_units_of_its_handles() {
    let directory = tempfile::tempdir().unwrap();
    let ftl = "nvme-fdp:unit=256KiB,persistent=1,inner=2r++,regions=3";
    let size = "--size 64MiB --op 30% --pages-per-block 16 --reserve 6";
    let made =
        ok(directory.path(), &format!("drive create my.drive {size} --handles 2 --ftl {ftl}"));
    for part in ["handles=2", "inner=2r++,regions=3", "blocks of 64"] {
        assert!(made.contains(part), "{part} is not in {made}");
    }
    assert!(!made.contains("unit="), "{made}");
    let checked = ok(directory.path(), "drive check my.drive");
    assert!(checked.ends_with("no damage\n"), "{checked}");
    let odd = format!("drive create d {size} --ftl nvme-fdp:unit=100KiB");
    let error = fails(directory.path(), &odd, 2);
    assert!(error.contains("a multiple of the erase block"), "{error}");
}

#[test]
fn damage_is_named_and_is_a_failure() {
    let directory = tempfile::tempdir().unwrap();
    ok(directory.path(), "drive create my.drive --size 8MiB --pages-per-block 16");
    let path = directory.path().join("my.drive");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let output = ftlab(directory.path(), "drive check my.drive");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("damaged: the superblock at offset 0 is damaged"), "{text}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("my.drive is damaged; everything not listed above can be read"),
        "{errors}"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn what_cannot_be_is_an_error_that_says_why() {
    let directory = tempfile::tempdir().unwrap();
    for (arguments, code, message) in [
        ("drive create d --size 8MiB --ftl fast", 2, "unknown page-mapped FTL \"fast\""),
        ("drive create d --size 8MiB --ftl 2r+", 2, "did you mean \"2r++\"?"),
        (
            "drive create d --size 8MiB --pages-per-block 1024",
            2,
            "raise --op or --blocks (--blocks 10 is enough)",
        ),
        ("drive create d --size 8MiB --page-size 1536 --pages-per-block 64", 2, "a power of two"),
        ("drive check none", 1, "cannot open none"),
        ("drive stats none", 1, "cannot open none"),
    ] {
        let error = fails(directory.path(), arguments, code);
        assert!(error.contains(message), "{arguments}: {error}");
        assert!(!directory.path().join("d").exists());
    }
    ok(directory.path(), "drive create d --size 8MiB --pages-per-block 16");
    let error = fails(directory.path(), "drive create d --size 8MiB --pages-per-block 16", 2);
    assert!(error.contains("d exists; remove it first"), "{error}");
    std::fs::write(directory.path().join("text"), "no drive").unwrap();
    let error = fails(directory.path(), "drive check text", 1);
    assert!(error.contains("this is not a drive of ftlab"), "{error}");
}

/// A drive with a hundred pages, that was closed.
fn written(directory: &Path) -> std::path::PathBuf {
    use ftlab_drive::{Drive, OpenOptions, Store};
    ok(directory, "drive create my.drive --size 8MiB --pages-per-block 16");
    let path = directory.join("my.drive");
    let drive = Drive::open(&path, OpenOptions::default()).unwrap();
    (0..100).for_each(|page| drive.write(page * 4096, &[page as u8 + 1; 4096]).unwrap());
    drive.close().unwrap();
    path
}

#[test]
fn a_drive_is_repaired_after_saying_what_that_costs() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let path = written(directory);
    assert_eq!(ok(directory, "drive repair my.drive"), "no damage: nothing to repair\n");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 1;
    // The number of the first checkpoint.
    bytes[4096 + 9] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let text = ok(directory, "drive repair my.drive");
    assert!(text.contains("damaged: the superblock at offset 0"), "{text}");
    assert!(text.contains("damaged: checkpoint 0: its header is damaged"), "{text}");
    assert!(text.ends_with("repeat it with --yes to write all other structures anew\n"), "{text}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "nothing was changed");
    let text = ok(directory, "drive repair my.drive --yes --report report.json");
    assert!(text.ends_with("repaired\n"), "{text}");
    let report = std::fs::read(directory.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    assert_eq!((&report["done"], &report["lost_operations"]), (&true.into(), &0.into()));
    assert!(ok(directory, "drive check my.drive").ends_with("100 pages hold data\nno damage\n"));
}

#[test]
fn what_is_damaged_in_one_copy_is_healed_when_a_drive_is_opened() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let path = written(directory);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 1;
    bytes[4096 + 9] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let output = ftlab(directory, "drive scrub my.drive");
    let errors = String::from_utf8(output.stderr).unwrap();
    for text in [
        "warning: the superblock at offset 0 is damaged: its checksum is wrong\n",
        "warning: checkpoint 0: its header is damaged\n",
        "healed: the superblock at offset 0 was written again\n",
        "healed: checkpoint 0 was written again\n",
    ] {
        assert!(errors.contains(text), "{errors}");
    }
    assert_eq!(output.status.code(), Some(0));
    assert!(ok(directory, "drive check my.drive").ends_with("100 pages hold data\nno damage\n"));
}

#[test]
fn a_drive_without_checkpoints_is_saved_to_a_new_one() {
    use std::os::unix::fs::FileExt;
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let path = written(directory);
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    // Both headers, and everything between them.
    file.write_all_at(&vec![0; 512 << 10], 4096).unwrap();
    let error = fails(directory, "drive repair my.drive", 1);
    assert!(error.contains("neither checkpoint can be used"), "{error}");
    assert!(error.contains("ftlab drive repair my.drive --to NEW"), "{error}");
    let text = ok(directory, "drive repair my.drive --to new.drive");
    assert_eq!(text, "100 pages were found and are on new.drive\n");
    assert!(ok(directory, "drive check new.drive").ends_with("100 pages hold data\nno damage\n"));
    let error = fails(directory, "drive repair my.drive --to new.drive", 2);
    assert!(error.contains("new.drive exists"), "{error}");
}

#[test]
fn scrubbing_names_pages_that_rot() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let path = written(directory);
    let text = ok(directory, "drive scrub my.drive");
    assert_eq!(text, "100 pages read from the medium, 0 of them written again, 0 unreadable\n");
    let mut bytes = std::fs::read(&path).unwrap();
    let page = bytes.windows(4096).position(|window| window == [43; 4096]).unwrap();
    bytes[page + 7] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let error = fails(directory, "drive scrub my.drive", 1);
    assert!(error.contains("pages that cannot be read: 42"), "{error}");
}

//! What cannot be recorded, and what the message says instead.

use super::devices::{Device, have, is_root, skip};
use crate::common::{Output, Place};
use std::process::Command;

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_target_and_a_command_are_asked_for() {
    let place = Place::new();
    place.ftlab("record --out t.parquet -- true").fails(2, &["--device", "--dir"]);
    place
        .ftlab("record --dir . --device /dev/null --out t.parquet -- true")
        .fails(2, &["cannot be used with"]);
    place.ftlab("record --dir . --out t.parquet").fails(2, &["--dir data -- COMMAND"]);
    place
        .ftlab("record --device /dev/null --out t.parquet --buffer 1KiB -- true")
        .fails(2, &["--buffer 1 KiB is not in 64KiB..=4GiB"]);
}

#[test]
fn what_is_no_device_or_directory_is_named() {
    let place = Place::new();
    place
        .ftlab("record --device /dev/null --out t.parquet -- true")
        .fails(2, &["/dev/null is not a block device", "lsblk"]);
    place
        .ftlab("record --device /dev/absent --out t.parquet -- true")
        .fails(2, &["/dev/absent cannot be used: No such file"]);
    place
        .ftlab("record --dir absent --out t.parquet -- true")
        .fails(2, &["absent: No such file", "name the directory"]);
    place
        .ftlab("record --dir . --out t.xyz -- true")
        .fails(2, &["\"xyz\" does not say which format"]);
}

#[test]
fn nobody_but_root_records_a_device() {
    let place = Place::new();
    let Some(device) = Device::over_file(place.path(), 16) else { return };
    if !have(&["setpriv"]) {
        return;
    }
    // A file that another user may write to, and a binary that it may run.
    let binary = place.path().join("ftlab");
    std::fs::copy(env!("CARGO_BIN_EXE_ftlab"), &binary).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command.arg("sh").arg("-c").arg("exec \"$0\" record --device \"$1\" --out \"$2\" -- true");
    command.arg(&binary).arg(&device.path).arg(place.path().join("open/t.parquet"));
    open_to_all(&place);
    run(&mut command).fails(1, &["needs root", "put sudo in front", "--dir DIRECTORY"]);
}

fn open_to_all(place: &Place) {
    use std::os::unix::fs::PermissionsExt;
    let open = place.path().join("open");
    std::fs::create_dir(&open).unwrap();
    for (path, mode) in [(place.path(), 0o755), (&open, 0o777)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
}

#[test]
fn a_trace_is_not_written_to_the_device_that_it_records() {
    if !is_root() {
        return skip("recording a device needs root");
    }
    let place = Place::new();
    let Some(device) = Device::over_file(place.path(), 16) else { return };
    if !have(&["mkfs.ext4"]) {
        return;
    }
    let script = format!(
        "mkfs.ext4 -q {0} && mkdir mnt && mount {0} mnt && ./ftlab record --device {0} --out \
         mnt/t.parquet -- true; status=$?; umount mnt; exit $status",
        device.name()
    );
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ftlab"), place.path().join("ftlab")).unwrap();
    let output = run(Command::new("sh").args(["-c", &script]).current_dir(place.path()));
    output.fails(2, &["mnt/t.parquet is on /dev/loop", "below /dev/shm"]);
}

#[test]
fn strace_and_the_command_are_missed_by_name() {
    let place = Place::new();
    let mut command = place.command("record --dir . --out t.parquet -- true");
    run(command.env("PATH", "")).fails(1, &["strace, which --dir needs", "apt-get install strace"]);
    if have(&["strace"]) {
        place
            .ftlab("record --dir . --out t.parquet -- ./absent-command")
            .fails(1, &["absent-command", "check its name"]);
    }
    if let Some(device) = Device::over_file(place.path(), 16) {
        place
            .ftlab(&format!("record --device {} --out t.parquet -- ./absent", device.name()))
            .fails(1, &["./absent: No such file", "check the name after --"]);
    }
    assert!(!place.path().join("t.parquet").exists());
}

//! `ftlab drive serve --nvme` with the kernel's NVMe/TCP host, nvme-cli, fio and ext4, in a guest that
//! `make setup-guest` makes: nothing of this machine's kernel is needed.
#![cfg(feature = "live")]

use crate::common::running::have;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn the_kernel_attaches_a_drive_over_nvme_and_nvme_cli_sees_its_handles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guest = root.join("target/guest");
    if !guest.join("base.cpio").exists() {
        eprintln!("SKIPPED: there is no guest in target/guest; `make setup-guest` makes it");
        return;
    }
    if !have(&["qemu-system-x86_64", "busybox"], false) {
        return;
    }
    let output = Command::new(root.join("scripts/guest.sh"))
        .arg("run")
        .arg(&guest)
        .arg(root.join("crates/ftlab-cli/tests/nvme_guest.sh"))
        .arg(env!("CARGO_BIN_EXE_ftlab"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
}

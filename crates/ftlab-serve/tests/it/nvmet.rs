//! Our own NVMe host with the kernel's controller (nvmet), so that the tests of ours do not rest on ours alone. It runs in
//! the guest that `make setup-guest` makes; there this program is both the test and the host.

use ftlab_serve::nvme::initiator::{Initiator, Request};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

/// Where the kernel listens, in the guest.
const ADDRESS: &str = "127.0.0.1:4421";
const HOST: &str = "nqn.2014-08.org.nvmexpress:uuid:ours";
const BLOCK: usize = 4096;

#[test]
fn our_host_works_with_the_kernels_controller() {
    if std::env::var_os("IN_GUEST").is_some() {
        return work_in_guest();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guest = root.join("target/guest");
    let has_qemu = Command::new("qemu-system-x86_64").arg("--version").output().is_ok();
    if !guest.join("base.cpio").exists() || !has_qemu {
        eprintln!("SKIPPED: without QEMU and the guest in target/guest (make setup-guest)");
        return;
    }
    let own = std::env::current_exe().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script");
    let name = own.file_name().unwrap().to_str().unwrap();
    let begin = include_str!("../nvmet.sh");
    std::fs::write(&script, format!("{begin}\nIN_GUEST=1 {name} nvmet:: --nocapture\n")).unwrap();
    let mut command = Command::new(root.join("scripts/guest.sh"));
    let output = command.arg("run").arg(&guest).arg(&script).arg(&own).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

fn begin(digests: bool) -> Initiator<TcpStream> {
    Initiator::begin(TcpStream::connect(ADDRESS).unwrap(), digests).unwrap()
}

fn work_in_guest() {
    for digests in [false, true] {
        let mut admin = begin(digests);
        let controller = admin.connect(0, 32, u16::MAX, "ours", HOST).unwrap();
        admin.enable().unwrap();
        // Identify Controller: its number, and its kind.
        let dwords = [1, 0, 0, 0, 0, 0];
        let identify = Request { opcode: 6, dwords, room: 4096, ..Request::default() };
        let found = admin.run(identify).unwrap();
        assert_eq!((found.status, &found.data[78..80]), (0, &controller.to_le_bytes()[..]));
        // Which namespaces there are.
        let dwords = [2, 0, 0, 0, 0, 0];
        let list = Request { opcode: 6, dwords, room: 4096, ..Request::default() };
        assert_eq!(admin.run(list).unwrap().data[..8], [1, 0, 0, 0, 0, 0, 0, 0]);
        let mut queue = begin(digests);
        queue.connect(1, 32, controller, "ours", HOST).unwrap();
        // In the capsule, and asked for.
        for (first, blocks) in [(0_u64, 1_u32), (8, 16), (64, 64)] {
            let byte = |at: usize| (at >> 5) as u8 ^ blocks as u8 ^ u8::from(digests);
            let data: Vec<u8> = (0..blocks as usize * BLOCK).map(byte).collect();
            let written = queue.run(Request::write(1, first, blocks, data.clone())).unwrap();
            assert_eq!(written.status, 0);
            let read = Request::read(1, first, blocks, data.len() as u32);
            assert!(queue.run(read).unwrap().data == data);
        }
        let beyond = queue.run(Request::read(1, 1 << 40, 1, BLOCK as u32)).unwrap();
        assert_ne!(beyond.status, 0);
    }
}

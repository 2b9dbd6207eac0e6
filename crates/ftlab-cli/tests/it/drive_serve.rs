//! `ftlab drive serve`, `mount` and `smart`, as users type them.
#![cfg(feature = "live")]

use crate::common::running::{Running, have, program, write_pages};
use crate::common::{Output, Place};
use std::fs;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

fn create(place: &Place, arguments: &str) {
    let created: Output = place.ftlab(&format!("drive create my.drive {arguments}"));
    assert_eq!(created.code, 0, "{}", created.stderr);
}

#[test]
fn a_drive_is_served_over_nbd_watched_and_recorded() {
    if !have(&["nbdcopy", "nbdinfo"], false) {
        return;
    }
    let place = Place::new();
    create(&place, "--size 64MiB --op 25% --pages-per-block 64 --ftl 2r-fifo");
    let mut serving = Running::start(
        &place,
        "drive serve my.drive --nbd s --nbd 127.0.0.1:0 --http 127.0.0.1:0 --record t.parquet \
         --shadow 1r-greedy,2r-fifo:blk-util=0.4",
    );
    let url = serving.says("dashboard at ").replace("dashboard at ", "");
    serving.says("NBD at nbd+unix:///?socket=s");
    let tcp = serving.says("NBD at nbd://127.0.0.1:").replace("NBD at ", "");
    let data: Vec<u8> =
        (0..60_u32 << 18).flat_map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
    place.write("there", &data);
    let socket = format!("nbd+unix:///?socket={}", place.path().join("s").display());
    let there = place.path().join("there").display().to_string();
    for uri in [&socket, &tcp, &socket] {
        program("nbdcopy", &["--flush", &there, uri]);
    }
    let back = place.path().join("back");
    program("nbdcopy", &[&tcp, back.to_str().unwrap()]);
    assert!(fs::read(back).unwrap()[..data.len()] == data);

    let pages = data.len() as u64 / 4096;
    // What is shown is as of the last second.
    let written = (3 * pages * 4096).div_ceil(512_000);
    let smart = loop {
        let smart = place.ftlab(&format!("drive smart {url} --json"));
        assert_eq!(smart.code, 0, "{}", smart.stderr);
        let smart = smart.json();
        if smart["data_units_written"] == written {
            break smart;
        }
        assert!(smart["data_units_written"].as_u64().unwrap() < written);
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(smart["critical_warning"], 0);
    let text = place.ftlab(&format!("drive smart {url}")).stdout;
    assert!(text.contains("available_spare                     : 100%"), "{text}");
    let served = place.ftlab(&format!("drive stats {url} --json")).json();
    let wrong = place.ftlab("drive smart http://127.0.0.1:1");
    wrong.fails(1, &["http://127.0.0.1:1: ", "refused"]);

    let output = serving.stop();
    assert!(output.contains(&format!("t.parquet: {} operations", grouped(3 * pages))), "{output}");
    // In the simulator, the operations give one FTL and one result.
    let stats = place.ftlab("drive stats my.drive --json").json();
    let replay = "run t.parquet --fill none --op 25% --pages-per-block 64 --ftl 2r-fifo --json";
    let run = &place.ftlab(replay).json()["runs"][0];
    assert_eq!(stats["host_writes"], 3 * pages);
    assert_eq!((&served["uuid"], &served["relocations"]), (&stats["uuid"], &stats["relocations"]));
    for count in ["host_writes", "relocations", "erases"] {
        assert_eq!(run[count], stats[count], "{count}");
    }
    assert!(!place.path().join("s").exists());
    assert_eq!(place.ftlab("drive check my.drive").code, 0);
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let parts: Vec<_> = digits.as_bytes().rchunks(3).rev().collect();
    parts.iter().map(|part| std::str::from_utf8(part).unwrap()).collect::<Vec<_>>().join(",")
}

#[test]
fn a_drive_is_a_file_and_waits_for_whoever_has_it_open() {
    if !have(&[], true) {
        return;
    }
    let place = Place::new();
    create(&place, "--size 16MiB --op 25% --pages-per-block 64");
    fs::create_dir(place.path().join("m")).unwrap();
    let mut serving = Running::start(&place, "drive serve my.drive --fuse m");
    serving.says("the drive is the file m/drive");
    let file = fs::File::options().read(true).write(true).open(place.path().join("m/drive"));
    let file = file.unwrap();
    file.write_all_at(b"hello", 4090).unwrap();
    file.sync_all().unwrap();
    let mut text = [0; 7];
    file.read_exact_at(&mut text, 4089).unwrap();
    assert_eq!(&text, b"\0hello\0");
    serving.interrupt();
    serving.says("waiting until it is free");
    drop(file);
    let status = serving.child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(!place.path().join("m/drive").exists());
    assert_eq!(place.ftlab("drive check my.drive").code, 0);
}

#[test]
fn a_file_system_survives_a_kill_and_is_mounted_again() {
    if !have(&["mkfs.ext4", "losetup", "mount", "blkid"], true) {
        return;
    }
    let place = Place::new();
    create(&place, "--size 128MiB --op 25% --pages-per-block 128");
    let target = place.path().join("mnt");
    fs::create_dir(&target).unwrap();
    let refused = place.ftlab("drive mount my.drive mnt");
    refused.fails(2, &["no file system on the drive", "--mkfs ext4"]);
    let mut mounted = Running::start(&place, "drive mount my.drive mnt --mkfs ext4 -o noatime");
    mounted.says("mounted on mnt");
    fs::write(target.join("file"), vec![5; 3 << 20]).unwrap();
    let output = mounted.stop();
    assert!(output.contains("closed; "), "{output}");
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0, "it is unmounted");

    let mut mounted = Running::start(&place, "drive mount my.drive mnt --mkfs xfs");
    mounted.says("the drive already has ext4, which is kept");
    mounted.says("mounted on mnt");
    assert!(fs::read(target.join("file")).unwrap() == vec![5; 3 << 20]);
    // Whoever is in it keeps it mounted.
    let inside = fs::File::open(target.join("file")).unwrap();
    mounted.interrupt();
    mounted.says("waiting until it is free");
    drop(inside);
    assert_eq!(mounted.child.wait().unwrap().code(), Some(0));
    let loops = program("losetup", &["--list", "--output", "BACK-FILE", "--noheadings"]);
    assert!(!loops.contains(&format!("ftlab-drive-{}", mounted.child.id())), "{loops}");
}

#[test]
fn a_directory_with_files_is_not_hidden_and_a_dead_mount_is_cleared() {
    if !have(&["mkfs.ext4", "losetup", "mount", "blkid"], true) {
        return;
    }
    let place = Place::new();
    create(&place, "--size 64MiB --op 25% --pages-per-block 128");
    let target = place.path().join("mnt");
    fs::create_dir(&target).unwrap();
    place.write("mnt/precious", "1");
    let refused = place.ftlab("drive mount my.drive mnt --mkfs ext4");
    refused.fails(2, &["mnt is not empty", "hide 1 of its files from everyone", "--nonempty"]);
    let mut mounted = Running::start(&place, "drive mount my.drive mnt --mkfs ext4 --nonempty");
    mounted.says("mounted on mnt");
    fs::write(target.join("file"), "2").unwrap();
    fs::File::open(target.join("file")).unwrap().sync_all().unwrap();
    mounted.child.kill().unwrap();
    mounted.child.wait().unwrap();
    let table = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(table.contains(&target.display().to_string()), "the dead mount is still there");
    let mut mounted = Running::start(&place, "drive mount my.drive mnt --nonempty");
    mounted.says("removed the mount of a killed process");
    mounted.says("mounted on mnt");
    assert_eq!(fs::read(target.join("file")).unwrap(), b"2");
    mounted.stop();
    assert_eq!(fs::read(target.join("precious")).unwrap(), b"1");
    let loops = program("losetup", &["--list", "--output", "BACK-FILE", "--noheadings"]);
    assert!(!loops.contains(&place.path().display().to_string()), "{loops}");
}

#[test]
fn a_drive_is_copied_while_it_is_written() {
    let place = Place::new();
    create(&place, "--size 64MiB --op 25% --pages-per-block 256 --page-size 512");
    fs::create_dir(place.path().join("copies")).unwrap();
    let mut serving =
        Running::start(&place, "drive serve my.drive --nbd s --http 127.0.0.1:0 --copies copies");
    let url = serving.says("dashboard at ").replace("dashboard at ", "");
    serving.says("NBD at ");
    let socket = place.path().join("s");
    write_pages(&socket, 64 << 10);
    let writing = std::thread::spawn(move || write_pages(&socket, 128 << 10));
    let copied = place.ftlab(&format!("drive copy {url} one --ftl 2r++"));
    assert_eq!(copied.code, 0, "{}", copied.stderr);
    writing.join().unwrap();
    let line = &copied.stdout;
    let count = line.split(' ').nth(1).unwrap().replace(',', "");
    assert!(
        line.starts_with("copies/one: ") && count.parse::<u32>().unwrap() >= 64 << 10,
        "{line}"
    );
    let again = place.ftlab(&format!("drive copy {url} one"));
    again.fails(1, &["copies/one exists; choose another name"]);
    place.ftlab(&format!("drive copy {url} ../one")).fails(2, &["../one", "give only a name"]);
    serving.stop();
    let checked = place.ftlab("drive check copies/one").stdout;
    assert!(checked.ends_with(&format!("{count} pages hold data\nno damage\n")), "{checked}");
    let stats = place.ftlab("drive stats copies/one --json").json();
    assert_eq!(stats["ftl"], "2r++");
    assert_eq!(place.ftlab("drive copy my.drive two").stdout, "two: 131,072 pages copied\n");
    place.ftlab("drive copy my.drive two").fails(2, &["two exists; remove it first"]);
}

#[test]
fn a_server_copies_only_if_it_was_told_where() {
    let place = Place::new();
    create(&place, "--size 64MiB --op 25% --pages-per-block 256 --page-size 512");
    let mut serving = Running::start(&place, "drive serve my.drive --nbd s --http 127.0.0.1:0");
    let url = serving.says("dashboard at ").replace("dashboard at ", "");
    let refused = place.ftlab(&format!("drive copy {url} one"));
    refused.fails(1, &["this server makes no copies; start it with --copies DIR"]);
    serving.stop();
    let wrong = place.ftlab("drive serve my.drive --nbd s --http 127.0.0.1:0 --copies nowhere");
    wrong.fails(2, &["--copies nowhere: not a directory"]);
}

#[test]
fn a_recording_survives_a_kill_up_to_the_last_whole_group() {
    let place = Place::new();
    create(&place, "--size 64MiB --op 25% --pages-per-block 256 --page-size 512");
    let command = "drive serve my.drive --nbd s --record t.parquet";
    let mut serving = Running::start(&place, command);
    serving.says("NBD at");
    write_pages(&place.path().join("s"), 100_000);
    let partial = place.path().join("t.parquet.partial");
    let begin = Instant::now();
    while !fs::read(&partial).unwrap().ends_with(b"PAR1") {
        assert!(begin.elapsed() < Duration::from_secs(120), "no group was written");
        std::thread::sleep(Duration::from_millis(10));
    }
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();

    let refused = place.ftlab(command);
    refused.fails(2, &["t.parquet.partial is a recording that was not finished", "ftlab convert"]);
    let converted = place.ftlab("convert t.parquet.partial whole.parquet");
    assert_eq!(converted.code, 0, "{}", converted.stderr);
    assert!(converted.stdout.contains("which was not finished"), "{}", converted.stdout);
    let inspected = place.ftlab("inspect whole.parquet --page-size 512 --json").json();
    let workload = &inspected["workloads"][0];
    let pages = workload["page_writes"].as_u64().unwrap();
    assert!((65_536..=100_000).contains(&pages), "{pages}");
    assert_eq!(workload["distinct_pages"], pages);
    fs::remove_file(partial).unwrap();
    let mut serving = Running::start(&place, command);
    serving.says("NBD at");
    serving.stop();
}

#[test]
fn a_dead_file_is_served_again_in_its_place() {
    if !have(&[], true) {
        return;
    }
    let place = Place::new();
    create(&place, "--size 16MiB --op 25% --pages-per-block 64");
    fs::create_dir(place.path().join("m")).unwrap();
    for _ in 0..2 {
        let mut serving = Running::start(&place, "drive serve my.drive --fuse m");
        serving.says("the drive is the file m/drive");
        serving.child.kill().unwrap();
        serving.child.wait().unwrap();
    }
    let mut serving = Running::start(&place, "drive serve my.drive --fuse m");
    serving.says("removed the mount of a killed process");
    serving.says("the drive is the file m/drive");
    serving.stop();
    assert_eq!(fs::read_dir(place.path().join("m")).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_served_is_said() {
    let place = Place::new();
    create(&place, "--size 16MiB --op 25% --pages-per-block 64");
    let fails = |arguments: &str, code: i32, parts: &[&str]| {
        place.ftlab(&format!("drive serve {arguments}")).fails(code, parts);
    };
    fails("my.drive", 2, &["nothing to serve: give --nbd SOCKET"]);
    fails(
        "my.drive --nbd 0.0.0.0:10809",
        2,
        &["can be reached from other machines", "--allow-remote"],
    );
    fails("my.drive --nbd 127.0.0.1:x", 2, &["\"127.0.0.1:x\" is not an address"]);
    fails("my.drive --nbd s --http 0.0.0.0:0", 2, &["can be reached", "--token-file FILE"]);
    fails("my.drive --nbd s --http nowhere", 2, &["--http \"nowhere\" is not HOST:PORT"]);
    fails("my.drive --nbd s --shadow 2r-fifi", 2, &["did you mean \"2r-fifo\"?"]);
    fails("my.drive --nbd s --record t.xyz", 2, &[".parquet"]);
    fails("my.drive --nbd s --fuse nowhere", 2, &["nowhere: No such file", "name an existing"]);
    fs::create_dir(place.path().join("full")).unwrap();
    place.write("full/file", "");
    fails("my.drive --fuse full", 2, &["full is not empty", "hide 1 of its files", "--nonempty"]);
    fails("no.drive --nbd s", 1, &["no.drive"]);
    place.write("empty", "\n");
    fails("my.drive --nbd s --http 127.0.0.1:0 --token-file empty", 2, &["the file is empty"]);
    fails("my.drive --nbd s --token-file none --http 127.0.0.1:0", 2, &["none: No such file"]);
    fails("my.drive --nbd s --allow 10.0.0.0/33", 2, &["\"10.0.0.0/33\" is no network"]);
    fails("my.drive --nbd s --tls-cert empty", 2, &["--tls-key"]);
    fails("my.drive --nbd s --tls-cert empty --tls-key empty", 2, &["empty: ", "a file in PEM"]);
    assert_eq!(place.ftlab("drive check my.drive").code, 0);
}

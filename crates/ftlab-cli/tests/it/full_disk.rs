//! What is left when a disk is full, of every command that writes files, and how it continues.
//!
//! Disks are in memory and of a few kilobytes, which needs root; limits of file sizes stand in for them
//! where that is said.

use crate::common::{Output, Place};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const FULL: &str = "No space left on device (os error 28)";

/// A disk in memory, mounted as `d` in a place.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None`, with a message, where nothing can be mounted.
    fn mount(place: &Place, kib: u32) -> Option<Self> {
        let path = place.path().join("d");
        fs::create_dir(&path).unwrap();
        if mount(&format!("size={kib}k"), &path) {
            return Some(Self(path));
        }
        let message = b"SKIPPED: a file system in memory cannot be mounted without root\n";
        std::io::stderr().write_all(message).unwrap();
        None
    }

    fn make_room(&self) {
        assert!(mount("remount,size=64m", &self.0));
    }

    /// Names of all files, in order.
    fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut directories = vec![self.0.clone()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                } else {
                    names.push(path.strip_prefix(&self.0).unwrap().display().to_string());
                }
            }
        }
        names.sort();
        names
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

fn mount(options: &str, path: &Path) -> bool {
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(path);
    mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// A command that writes to a disk that is too small, and what comes of it.
struct Case {
    command: &'static str,
    /// Size of the disk.
    kib: u32,
    /// What is said.
    says: &'static [&'static str],
    /// What is left: exactly these files. A star stands for what varies; there is at least one such file.
    left: &'static [&'static str],
    /// What is there when the command is repeated with more room.
    then: &'static [&'static str],
}

const NOTHING_KEPT: &str = "nothing of it is kept, and a file that had this name is as it was";
const FINISHED_KEPT: &str = "every run that finished before is kept; make room on its disk, and \
                             repeat the command, which continues there";
const PART: &str = "make room on its disk";

/// The table: one line for each command and kind of file.
const CASES: &[Case] = &[
    Case {
        command: "convert uniform d/t.parquet --logical 64MiB --writes 99999",
        kib: 64,
        says: &["d/t.parquet: ", NOTHING_KEPT],
        left: &[],
        then: &["t.parquet"],
    },
    Case {
        command: "convert uniform.csv d/t.csv.gz",
        kib: 64,
        says: &["d/t.csv.gz: ", NOTHING_KEPT],
        left: &[],
        then: &["t.csv.gz"],
    },
    // What is on other disks, or smaller, is written all the same, and the table shown.
    Case {
        command: "run zipf --logical-pages 16384 --drive-writes 1 --ftl 1r-greedy --ftl 2r++ \
                  --out d/r --report d/r.html --figure d/f.svg",
        kib: 12,
        says: &["d/r/results.json: ", "d/r.html: ", NOTHING_KEPT],
        left: &["f.svg"],
        then: &["f.svg", "r.html", "r/results.json", "r/series.parquet"],
    },
    Case {
        command: "curve uniform --logical 64MiB --once --ftl 1r-greedy --op 28% --figure d/c.svg --table d/c.csv",
        kib: 4,
        says: &["d/c.svg: ", NOTHING_KEPT],
        left: &["c.csv"],
        then: &["c.csv", "c.svg"],
    },
    Case {
        command: "sweep sweep.toml --out d/s --threads 1",
        kib: 32,
        says: &["d/s/part-1-of-1-", FINISHED_KEPT],
        left: &["s/.lock-1-of-1", "s/part-1-of-1-*.parquet"],
        then: &["s/.lock-1-of-1", "s/results.csv", "s/runs-1-of-1-*.parquet"],
    },
    Case {
        command: "compare uniform zipf --logical 64MiB --op 10%,28% --ftl 1r-greedy --ftl 2r-fifo \
                  --writes 20000 --baseline 1r-greedy --threads 1 --out d/c",
        kib: 12,
        says: &["d/c/cells.jsonl: ", FINISHED_KEPT],
        left: &["c/cells.jsonl"],
        then: &["c/cells.jsonl", "c/scoreboard.csv", "c/scoreboard.md", "c/scoreboard.svg"],
    },
    Case {
        command: "fleet fleet:volumes=8,scale=0.0001 --ftl 1r-greedy --select all --quiet --out d/f",
        kib: 32,
        says: &[
            "d/f/parts/00000.part: ",
            "traces that were read whole are kept; make room on its disk",
        ],
        left: &["f/.lock"],
        then: &[
            "f/.lock",
            "f/cells.jsonl",
            "f/fleet.html",
            "f/fleet.parquet",
            "f/fleet.svg",
            "f/manifest.json",
            "f/parts/00000.json",
            "f/parts/00000.part",
            "f/totals.json",
            "f/volumes.jsonl",
        ],
    },
    Case {
        command: "fleet uniform.csv --ftl 1r-greedy,2r-fifo,sepbit,2r++,dac-cb,midas --select all --threads 1 \
                  --quiet --out d/f",
        kib: 32,
        says: &["d/f/cells.jsonl: ", FINISHED_KEPT],
        left: &[
            "f/.lock",
            "f/cells.jsonl",
            "f/manifest.json",
            "f/parts/00000.json",
            "f/parts/00000.part",
            "f/volumes.jsonl",
        ],
        then: &FLEET_OF_ONE,
    },
    // There is nothing to draw.
    Case {
        command: "fleet uniform.csv --ftl 1r-greedy --select all --quiet --out d/f",
        kib: 48,
        says: &["d/f/fleet.html: ", NOTHING_KEPT],
        left: &FLEET,
        then: &FLEET_OF_ONE,
    },
    Case {
        command: "fit series.csv fio-randwrite:bs=128 --page-size 128KiB --logical 1TB --pages 16384 \
                  --op 10%..30% --ftl sep-gc/greedy --store d/f --figure d/f.svg",
        kib: 16,
        says: &["d/f/trials.jsonl: ", FINISHED_KEPT],
        left: &["f/trials.jsonl"],
        then: &["f.svg", "f/trials.jsonl"],
    },
    Case {
        command: "inspect uniform.csv --report d/i.html",
        kib: 8,
        says: &["d/i.html: ", NOTHING_KEPT],
        left: &[],
        then: &["i.html"],
    },
];

/// What there is of a fleet of one volume, of which there is nothing to draw.
const FLEET_OF_ONE: [&str; 9] = [
    "f/.lock",
    "f/cells.jsonl",
    "f/fleet.html",
    "f/fleet.parquet",
    "f/manifest.json",
    "f/parts/00000.json",
    "f/parts/00000.part",
    "f/totals.json",
    "f/volumes.jsonl",
];

/// What there is of a fleet but its page and picture.
const FLEET: [&str; 8] = [
    "f/.lock",
    "f/cells.jsonl",
    "f/fleet.parquet",
    "f/manifest.json",
    "f/parts/00000.json",
    "f/parts/00000.part",
    "f/totals.json",
    "f/volumes.jsonl",
];

const SWEEP: &str = r#"
title = "a test"
workloads = ["zipf:theta={theta}"]
ftls = ["1r-greedy", "2r-fifo"]
[drive]
logical-pages = 16384
pages-per-block = 64
op = "20%"
[run]
drive-writes = 1
[grid]
theta = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
"#;

/// Write amplification of a drive with 20% of over-provisioning, in quarters of what it holds.
const WAFS: [f64; 16] =
    [1.0, 1.0, 1.0, 1.0, 1.62, 2.69, 1.97, 1.32, 1.6, 2.7, 1.97, 1.31, 1.61, 2.69, 1.96, 1.31];

/// 20,000 requests, an experiment, and the series of a drive of 1 TB.
fn with_input() -> Place {
    let place = Place::new();
    place.write("uniform.csv", requests(20_000));
    place.write("sweep.toml", SWEEP);
    let (mut host, mut media) = (0.0, 0.0);
    let rows = WAFS.map(|waf| {
        host += 250e9;
        media += 250e9 * waf;
        format!("{host},{media}\n")
    });
    place.write("series.csv", format!("host_bytes,media_bytes\n0,0\n{}", rows.concat()));
    place
}

/// Requests to 65,536 pages in an order that no compression makes small.
fn requests(count: u32) -> String {
    let page = |n: u32| n.wrapping_mul(0x9e37_79b9) % (1 << 16);
    let lines: Vec<_> = (0..count).map(|n| format!("write,{},8\n", page(n) * 8)).collect();
    "op,lba,sectors\n".to_owned() + &lines.concat()
}

impl Case {
    fn check(&self) -> Option<()> {
        let place = with_input();
        let disk = SmallDisk::mount(&place, self.kib)?;
        let output = place.ftlab(self.command);
        output.fails(1, self.says);
        output.fails(1, &[FULL]);
        assert_same(&disk.files(), self.left, self.command);
        disk.make_room();
        let output = place.ftlab(self.command);
        assert_eq!(output.code, 0, "{}: {}", self.command, output.stderr);
        assert_same(&disk.files(), self.then, self.command);
        Some(())
    }
}

fn assert_same(found: &[String], expected: &[&str], command: &str) {
    let is_one = |name: &str, pattern: &str| match pattern.split_once('*') {
        Some((start, end)) => name.starts_with(start) && name.ends_with(end),
        None => name == pattern,
    };
    let all_expected = found.iter().all(|name| expected.iter().any(|it| is_one(name, it)));
    let all_there = expected.iter().all(|it| found.iter().any(|name| is_one(name, it)));
    assert!(all_expected && all_there, "{command}: {found:?}, not {expected:?}");
}

#[test]
fn nothing_half_written_is_left_and_the_same_command_continues() {
    std::thread::scope(|scope| {
        let cases = CASES.iter().map(|case| scope.spawn(|| case.check()));
        for case in cases.collect::<Vec<_>>() {
            case.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

#[test]
fn what_stood_there_before_is_as_it_was() {
    let place = with_input();
    let Some(disk) = SmallDisk::mount(&place, 64) else { return };
    for command in ["convert uniform.csv d/x.csv", "inspect uniform.csv --report d/x.html"] {
        let name = command.rsplit('/').next().unwrap();
        place.write(&format!("d/{name}"), "old");
        place.write("d/ballast", vec![0; 48 << 10]);
        place.ftlab(command).fails(1, &[name, FULL, NOTHING_KEPT]);
        assert_eq!(fs::read(place.path().join("d").join(name)).unwrap(), b"old");
        assert_eq!(disk.files(), ["ballast", name]);
        fs::remove_file(place.path().join("d").join(name)).unwrap();
    }
}

#[test]
fn a_full_disk_is_noticed_before_a_run() {
    let place = Place::new();
    let Some(disk) = SmallDisk::mount(&place, 16) else { return };
    place.write("d/ballast", vec![0; 16 << 10]);
    for output in ["--out d/r", "--figure d/f.svg", "--report d/r.html"] {
        let output =
            place.ftlab(&format!("run uniform --logical 1GiB --ftl 1r-greedy -q {output}"));
        output.fails(1, &[FULL, NOTHING_KEPT, PART]);
        assert!(output.stdout.is_empty(), "{}", output.stdout);
    }
    assert_eq!(disk.files(), ["ballast"]);
    // The files of a run do not depend on where its table goes.
    let stdout = fs::File::create(place.path().join("d/json")).unwrap();
    let run = "run uniform --logical-pages 4096 --ftl 1r-greedy -q --json --out r";
    let run = place.command(run).stdout(stdout).stderr(Stdio::piped()).output().unwrap();
    let message = String::from_utf8(run.stderr).unwrap();
    assert!(message.contains(&format!("standard output: {FULL}; make room")), "{message}");
    assert_eq!(run.status.code(), Some(1));
    assert!(place.path().join("r/results.json").exists());
}

/// Checks what a command that failed says it has kept, makes a trace of it, and returns its requests.
fn kept(place: &Place, output: &Output, name: &str) -> u64 {
    let partial = format!("{name}.partial");
    let convert = format!("{partial} keeps ");
    output.fails(1, &[&format!("{name}: "), &convert, &format!("ftlab convert {partial}"), PART]);
    assert!(!place.path().join(name).exists());
    let inspected = place.ftlab(&format!("inspect {partial} --json")).json();
    let requests = inspected["workloads"][0]["requests"]["write"].as_u64().unwrap();
    let run = place.ftlab(&format!("run {partial} --ftl 1r-greedy --logical 256MiB"));
    assert!(run.stdout.contains("end of the file, which was not finished"), "{}", run.stdout);
    let converted = place.ftlab(&format!("convert {partial} whole.parquet --json"));
    assert_eq!(converted.json()["requests"], requests, "{}", converted.stderr);
    if let Some(said) = output.stderr.split("keeps the first ").nth(1) {
        assert_eq!(said.split(' ').next().unwrap(), requests.to_string(), "{}", output.stderr);
    }
    requests
}

#[test]
fn what_passes_only_once_is_kept_as_far_as_it_fits() {
    let input = requests(200_000);
    for (name, kib, least) in [
        // Not one group of rows fits.
        ("d/t.parquet", 100, 10_000),
        // Some do.
        ("d/t.parquet", 300, 65_536),
        ("d/t.csv", 100, 5_000),
        ("d/t.csv.gz", 100, 20_000),
        ("d/t.csv.zst", 100, 20_000),
        ("d/t.u32", 100, 20_000),
    ] {
        let place = Place::new();
        let Some(disk) = SmallDisk::mount(&place, kib) else { return };
        let command = format!("convert - {name}");
        let output = place.ftlab_with_input(&command, input.as_bytes());
        let requests = kept(&place, &output, name);
        assert!((least..200_000).contains(&requests), "{name}: {requests}");
        assert_eq!(disk.files(), [format!("{}.partial", &name[2..])]);
        disk.make_room();
        let refused = place.ftlab_with_input(&command, input.as_bytes());
        refused.fails(2, &["is a recording that was not finished", "and then delete it"]);
        fs::remove_file(place.path().join(format!("{name}.partial"))).unwrap();
        assert_eq!(place.ftlab_with_input(&command, input.as_bytes()).code, 0);
        assert_eq!(disk.files(), [&name[2..]]);
    }
}

#[test]
fn a_limit_of_file_sizes_is_an_error_too() {
    let place = with_input();
    let limited = |command: &str| {
        let line = format!("ulimit -f 16; exec {} {command}", env!("CARGO_BIN_EXE_ftlab"));
        let output =
            Command::new("bash").args(["-c", &line]).current_dir(place.path()).output().unwrap();
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        Output { code: output.status.code().unwrap_or(-1), stdout, stderr }
    };
    let remedy = "raise the limit of file sizes (ulimit -f)";
    limited("convert uniform.csv t.csv").fails(1, &["t.csv: File too large", NOTHING_KEPT, remedy]);
    let output = limited("convert - t.csv < uniform.csv");
    output.fails(1, &["t.csv.partial keeps what was written until then", remedy]);
    let output = limited("convert - t.parquet < uniform.csv");
    let kept = output.stderr.split("keeps the first ").nth(1).unwrap().split(' ').next().unwrap();
    let inspected = place.ftlab("inspect t.parquet.partial --json").json();
    assert_eq!(inspected["workloads"][0]["requests"]["write"].to_string(), kept);
}

#[cfg(feature = "record")]
#[test]
fn what_was_recorded_is_kept_as_far_as_it_fits() {
    if !crate::common::running::have(&["strace", "dd"], false) {
        return;
    }
    let recorded = |name: &str, kib: u32, calls: u32| {
        let place = Place::new();
        let disk = SmallDisk::mount(&place, kib)?;
        fs::create_dir(place.path().join("files")).unwrap();
        let command = format!(
            "record --dir files --out {name} -- dd if=/dev/zero of=files/x bs=512 count={calls} status=none"
        );
        let requests = kept(&place, &place.ftlab(&command), name);
        assert!((100..u64::from(calls)).contains(&requests), "{name}: {requests}");
        Some((place, disk, command))
    };
    let Some((place, _disk, _)) = recorded("d/t.parquet", 8, 4000) else { return };
    let inspected = place.ftlab("inspect d/t.parquet.partial").stdout;
    assert!(inspected.contains("dd if=/dev/zero of=files/x"), "{inspected}");

    let Some((place, disk, command)) = recorded("d/t.csv", 4, 800) else { return };
    disk.make_room();
    let refused = place.ftlab(&command);
    refused.fails(2, &["is a recording that was not finished", "and then delete it"]);
    fs::remove_file(place.path().join("d/t.csv.partial")).unwrap();
    assert_eq!(place.ftlab(&command).code, 0);
    assert_eq!(disk.files(), ["t.csv"]);
}

#[cfg(feature = "live")]
mod live {
    use super::*;
    use crate::common::running::{Running, write_pages};
    use std::io::Read;
    use std::net::TcpStream;
    use std::time::{Duration, Instant};

    /// Gets an answer of the dashboard, whose host is named in capitals.
    fn get(address: &str, path: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        let port = address.rsplit(':').next().unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\nHost: LOCALHOST:{port}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn wait_for(address: &str, path: &str, part: &str) {
        let begin = Instant::now();
        loop {
            let answer = get(address, path);
            if answer.contains(part) {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(120), "{part:?} is not in {answer}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    #[test]
    fn a_drive_whose_recording_has_no_room_is_served_on() {
        let place = Place::new();
        let Some(disk) = SmallDisk::mount(&place, 512) else { return };
        let create =
            "drive create my.drive --size 64MiB --op 25% --pages-per-block 256 --page-size 512";
        assert_eq!(place.ftlab(create).code, 0);
        let serve = "drive serve my.drive --nbd s --http 127.0.0.1:0 --record d/t.parquet";
        let mut serving = Running::start(&place, serve);
        let address = serving.says("dashboard at ").replace("dashboard at http://", "");
        serving.says("NBD at ");
        let socket = place.path().join("s");
        wait_for(&address, "/metrics", "ftlab_recording_failed 0");
        // Everything is written and served, however much of it is recorded.
        for _ in 0..8 {
            write_pages(&socket, 128 << 10);
        }
        let said = serving.says("recording has ended, the drive is served on: d/t.parquet: ");
        assert!(
            said.contains(FULL) && said.contains("t.parquet.partial keeps the first "),
            "{said}"
        );
        wait_for(&address, "/metrics", "ftlab_recording_failed 1");
        wait_for(&address, "/api/status", "t.parquet.partial keeps the first ");
        write_pages(&socket, 1 << 10);
        serving.interrupt();
        assert_eq!(serving.child.wait().unwrap().code(), Some(1));

        let output = Output { code: 1, stdout: String::new(), stderr: said };
        let requests = kept(&place, &output, "d/t.parquet");
        assert!((65_536..8 * (128 << 10)).contains(&requests), "{requests}");
        // Any reader of Parquet can read it: its last footer is of the whole file.
        let bytes = fs::read(place.path().join("d/t.parquet.partial")).unwrap();
        let tail = bytes.len() - 8;
        let footer = u32::from_le_bytes(bytes[tail..tail + 4].try_into().unwrap()) as usize;
        let footer = String::from_utf8_lossy(&bytes[tail - footer..tail]);
        assert!(footer.contains("ftlab.cut") && !footer.contains("ftlab.part"));
        assert_eq!(place.ftlab("drive check my.drive").code, 0);
        disk.make_room();
        place.ftlab(serve).fails(2, &["t.parquet.partial is a recording that was not finished"]);
        fs::remove_file(place.path().join("d/t.parquet.partial")).unwrap();
        let mut serving = Running::start(&place, serve);
        serving.says("NBD at ");
        write_pages(&socket, 1 << 10);
        let said = serving.stop();
        assert!(said.contains("d/t.parquet: 1,024 operations recorded"), "{said}");
        assert_eq!(disk.files(), ["t.parquet"]);
    }
}

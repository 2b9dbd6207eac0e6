//! Job files and commands as a whole: against fio, where it is installed, and jobs for another drive.

use super::job_file::sections;
use super::remarks::Remarks;
use super::{JobFile, Nowhere, Taken, Version};
use super::{command, known};
use ftlab_trace::Space;
use ftlab_trace::{Op, RequestBatch, TraceError};
use proptest::prelude::*;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Requests that are compared at most.
const MOST: usize = 3000;

const PAGE_BYTES: u32 = 4096;

fn jobs(text: &str, taken: &Taken) -> Result<JobFile, TraceError> {
    JobFile::of(&sections(text, "jobs.fio", &[], &Nowhere)?, Remarks::default(), "jobs.fio", taken)
}

fn space(pages: u64) -> Space {
    Space { logical_pages: pages, page_bytes: PAGE_BYTES, seed: 1 }
}

/// (operation, first sector, sectors) of the first requests.
type Requests = Vec<(Op, u64, u32)>;

fn made(jobs: &JobFile, pages: u64) -> Result<Requests, TraceError> {
    let mut requests = jobs.requests(&space(pages))?;
    let (mut all, mut batch) = (Vec::new(), RequestBatch::with_limit(512));
    while all.len() < MOST && requests.fill(&mut batch)? {
        all.extend(batch.iter());
        batch.clear();
    }
    all.truncate(MOST);
    Ok(all)
}

/// The notes of jobs on a drive, one on a line.
fn notes(jobs: &JobFile, pages: u64) -> String {
    let requests = jobs.requests(&space(pages)).unwrap();
    let lines = requests.notes().iter().map(|(name, text)| format!("{name}: {text}"));
    lines.chain([String::new()]).collect::<Vec<_>>().join("\n")
}

fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_owned).collect()
}

/// fio, which runs a command that writes to the file `drive`; `None` if it is not installed.
fn started(folder: &Path, words: &[String]) -> Option<Child> {
    let mut fio = Command::new("fio");
    fio.current_dir(folder).arg("--write_iolog=log").args(&words[1..]).stdout(Stdio::null());
    fio.spawn().ok()
}

fn logged(mut fio: Child, folder: &Path) -> Requests {
    assert!(fio.wait().unwrap().success());
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    let request = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        let number = |index: usize| fields[index].parse::<u64>().unwrap();
        let sized = |op| Some((op, number(3) / 512, (number(4) / 512) as u32));
        match *fields.get(2)? {
            "write" => sized(Op::Write),
            "read" => sized(Op::Read),
            "sync" | "datasync" => Some((Op::Flush, 0, 0)),
            _ => None,
        }
    };
    log.lines().filter_map(request).take(MOST).collect()
}

#[test]
fn commands_do_what_fio_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = "[global]\nrw=write\nsize=64k\n[x]\nbs=8k\n[y]\nstonewall\nbs=16k\n";
    std::fs::write(folder.path().join("one.fio"), file).unwrap();
    let file = folder.path().join("one.fio").display().to_string();
    let commands = [
        // A flush after the last write, of every pass, unless the last request was one.
        "--name=a --rw=write --end_fsync=1",
        "--name=a --rw=randwrite --fsync_on_close=1 --ioengine=libaio --iodepth=4 --loops=3",
        "--name=a --rw=randrw --fsync=5 --end_fsync=1 --loops=2",
        "--name=a --rw=write --fdatasync=1 --end_fsync=1 --io_size=500k",
        "--name=a --rw=write --end_fsync=1 --io_size=500k --ioengine=libaio --iodepth=2",
        "--name=a --rw=write:8k --end_fsync=1 --io_size=500k --do_verify=0",
        "--name=a --rw=randread --end_fsync=1",
        "--name=a --rw=write --fsync=5 --end_fsync=1",
        // What holds for which job, and in which order.
        "-bs 8k -name a -rw write --name=b --rw=read --stonewall",
        "--name=a --rw=write --name=global --bs=16k --name=b --rw=write --stonewall",
        "--section=b --rw=write --name=a --bs=8k --name=b",
        "--bs=4k --kb_base=1000 --bs_is_seq_rand=0 --name=a --rw=write --bs=32kib",
        "FILE --section=y",
        "FILE --bs=4k",
        // With fio's warning it is not time_based.
        "--name=a --rw=write --time_based --description=x",
    ];
    let run = |command: &str| {
        let global = "--filename=drive --ioengine=null --size=220k";
        let words = words(&format!("fio {global} {}", command.replace("FILE", &file)));
        let folder = tempfile::tempdir().unwrap();
        let fio = started(folder.path(), &words)?;
        Some((words, folder, fio))
    };
    let said = known::installed(&["--version".to_owned()]);
    let version = said.as_ref().and_then(|said| Version::of_program(&said[0]));
    let running = commands.map(run).into_iter().collect::<Option<Vec<_>>>();
    let (Some(version), Some(running)) = (version, running) else {
        eprintln!("skipped: fio is not installed, or another version: {said:?}");
        return;
    };
    let taken = Taken { version: Some(version), ..Taken::default() };
    for (words, folder, fio) in running {
        let jobs = JobFile::command(&words, &taken).unwrap();
        let ours = made(&jobs, jobs.drive_bytes().unwrap().div_ceil(4096)).unwrap();
        let theirs = logged(fio, folder.path());
        let differs = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
        assert_eq!((differs, ours.len()), (None, theirs.len()), "{words:?}");
    }
}

#[test]
fn the_last_flush_counts_once() {
    let of = |text: &str| {
        let text = format!("[e]\nioengine=null\nfilename=drive\nbs=4k\nsize=220k\n{text}");
        let all = made(&jobs(&text, &Taken::default()).unwrap(), 55).unwrap();
        let flushes = all.iter().filter(|(op, ..)| *op == Op::Flush).count();
        (all.len() - flushes, flushes)
    };
    assert_eq!(of("rw=write\nend_fsync=1\n"), (55, 1));
    assert_eq!(of("rw=write\nend_fsync=1\nfsync_on_close=1\nloops=3\n"), (165, 3));
    assert_eq!(of("rw=write\nend_syncfs=1\n"), (55, 1));
    assert_eq!(of("rw=write\nend_fsync=0\n"), (55, 0));
    assert_eq!(of("rw=read\nend_fsync=1\n"), (55, 0));
}

#[test]
fn a_file_that_stays_done_has_an_empty_pass_until_3_37_with_a_flush() {
    let of = |version: &str, text: &str| {
        let text = format!(
            "; ftlab: version={version}\n[e]\nrw=write:8k\nbs=4k\nsize=100k\nend_fsync=1\n{text}"
        );
        let all = made(&jobs(&text, &Taken::default()).unwrap(), 25).unwrap();
        let flushes = all.iter().filter(|(op, ..)| *op == Op::Flush).count();
        (all.len() - flushes, flushes)
    };
    let done = "do_verify=0\nio_size=512k\n";
    assert_eq!(of("3.33", done), (9, 2));
    assert_eq!(of("3.37", &format!("{done}fsync=1\n")), (9, 10));
    assert_eq!(of("3.38", done), (9, 1));
    assert_eq!(of("3.33", &format!("{done}end_fsync=0\n")), (9, 0));
    assert_eq!(of("3.33", "do_verify=0\n"), (9, 1));
    assert_eq!(of("3.33", "do_verify=0\nio_size=39k\n"), (9, 1));
    assert_eq!(of("3.33", "io_size=512k\n"), (128, 15));
}

#[test]
fn backwards_from_the_middle_of_a_sector_is_refused() {
    let of = |text: &str| {
        let text = format!("[e]\nfilename=/dev/d\nbs=4k\n{text}\n");
        jobs(&text, &Taken::default()).and_then(|jobs| made(&jobs, 25))
    };
    for text in ["rw=write:-8k\nsize=20100", "rw=rw:-8k\nfilesize=20100", "rw=read:-4k\nsize=20100"]
    {
        let error = of(text).unwrap_err().to_string();
        assert!(error.contains("from byte 20100, which is in the middle"), "{text}: {error}");
        assert!(error.contains("be a multiple of 512"), "{text}: {error}");
    }
    for text in ["rw=write:8k\nsize=20100", "rw=write:-8k\nsize=20k", "rw=write:-8k"] {
        assert!(!of(text).unwrap().is_empty(), "{text}");
    }
}

#[test]
fn a_command_is_of_the_version_that_its_files_state() {
    let folder = tempfile::tempdir().unwrap();
    let of = |command: &str| {
        let path = |word: &str| {
            let is_file = Path::new(word).extension().is_some();
            if is_file { folder.path().join(word).display().to_string() } else { word.to_owned() }
        };
        let words: Vec<_> = command.split(' ').map(path).collect();
        let jobs =
            JobFile::command(&words, &Taken::default()).map_err(|error| error.to_string())?;
        Ok::<Vec<Version>, String>(jobs.threads.iter().map(|job| job.options.version).collect())
    };
    let job = "[a]\nfilename=/dev/d\nrw=randwrite\nbs=4k\nsize=1m\n";
    for (name, stated) in
        [("old", "; ftlab: version=3.33\n"), ("new", "; ftlab: version=3.42\n"), ("any", "")]
    {
        std::fs::write(folder.path().join(format!("{name}.fio")), format!("{stated}{job}"))
            .unwrap();
    }
    let (old, newest) = (Version::V33, Version::NEWEST);
    for (command, versions) in [
        ("fio old.fio", vec![old]),
        ("fio --iodepth=1 old.fio", vec![old]),
        ("fio --name=x --filename=/dev/d --rw=write old.fio", vec![old; 2]),
        ("fio any.fio old.fio", vec![old; 2]),
        ("fio --iodepth=1 old.fio any.fio", vec![old; 2]),
        ("fio --iodepth=1 any.fio", vec![newest]),
    ] {
        assert_eq!(of(command), Ok(versions), "{command}");
    }
    let error = of("fio old.fio --iodepth=1 any.fio new.fio").unwrap_err();
    assert!(
        error.contains(", argument 4: ") && error.contains("new.fio states version=3.42"),
        "{error}"
    );
    assert!(error.contains("old.fio version=3.33; state the same"), "{error}");
}

#[test]
fn a_job_file_is_in_utf8_or_latin1() {
    let folder = tempfile::tempdir().unwrap();
    let of = |bytes: &[u8]| {
        let path = folder.path().join("job.fio");
        std::fs::write(&path, bytes).unwrap();
        JobFile::read(&path).map(|jobs| jobs.drive_bytes()).map_err(|error| error.to_string())
    };
    let job = b"[a]\nrw=write\nsize=1m\n";
    assert_eq!(of(&[b"; f\xfcr\n", &job[..]].concat()), Ok(Some(1 << 20)));
    assert_eq!(of(&["; für\n".as_bytes(), job].concat()), Ok(Some(1 << 20)));
    for comment in [&b""[..], b"; f\xfcr\n"] {
        let marked = of(&[b"\xef\xbb\xbf", &job[..], comment].concat()).unwrap_err();
        assert!(marked.contains("is in no section"), "{marked}");
    }
    let little: Vec<u8> = job.iter().flat_map(|byte| [*byte, 0]).collect();
    let big: Vec<u8> = job.iter().flat_map(|byte| [0, *byte]).collect();
    for wide in [[b"\xff\xfe", &little[..]].concat(), [b"\xfe\xff", &big[..]].concat(), little, big]
    {
        let error = of(&wide).unwrap_err();
        assert!(
            error.contains("job.fio is in UTF-16") && error.contains("save it as UTF-8"),
            "{error}"
        );
    }
}

#[test]
fn what_is_odd_about_options_is_said() {
    let text =
        "[a]\nrw=write\nsize=1MiB\ntime_based\nfilename=drive${X}\ndirect=1\nbuffered=${Y}\n";
    let jobs = jobs(text, &Taken::default()).unwrap();
    assert_eq!((jobs.drive_bytes(), jobs.has_end()), (Some(1_000_000), true));
    let notes = notes(&jobs, 245);
    for part in [
        "fio units: 1MiB is 1000000 bytes: for fio k is 1024",
        "fio variables: not set, and so empty: ${X}\n",
        "fio time_based: not without runtime, as in fio: [a]",
        "fio options: without effect here: buffered, direct\n",
    ] {
        assert!(notes.contains(part), "{part:?} is not in {notes}");
    }
    for (text, part) in [
        ("iodepth=${QD}", "iodepth has no value, and ${QD} is not set; set QD in the environment"),
        ("rw=rand${MODE}", "${MODE} is not set"),
        ("bs=4KiB", "requests of 4000 bytes, which are no whole sectors of 512"),
    ] {
        let text = format!("[a]\nsize=1m\nfilename=/dev/d\n{text}\n");
        let jobs = super::tests::jobs(&text, &Taken::default());
        let error = jobs.and_then(|jobs| made(&jobs, 256)).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn of_several_devices_one_is_taken() {
    let text = "[global]\nbs=4k\nsize=1m\nrw=randwrite\n[a]\nfilename=/dev/nvme0n1\n[b]\nfilename=/dev/nvme1n1\n";
    let of = |device: &str| {
        let device = Some(device.to_owned()).filter(|device| !device.is_empty());
        jobs(text, &Taken { device, ..Taken::default() })
    };
    let error = of("").unwrap_err().to_string();
    for part in ["/dev/nvme0n1 and /dev/nvme1n1, which are drives", "--volume /dev/nvme0n1"] {
        assert!(error.contains(part), "{error}");
    }
    let error = of("/dev/sdx").unwrap_err().to_string();
    assert!(error.contains("name one of /dev/nvme0n1, /dev/nvme1n1"), "{error}");
    // The second job keeps its number, and so the numbers that it draws.
    let both = jobs(&text.replace("nvme1", "nvme0"), &Taken::default()).unwrap();
    let turns = made(&both, 256).unwrap();
    let second = made(&of("nvme1n1").unwrap(), 256).unwrap();
    assert!(turns.iter().skip(1).step_by(2).eq(&second));
    assert!(notes(&of("nvme1n1").unwrap(), 256).contains("fio device: nvme1n1 alone"));
}

#[test]
fn what_goes_beyond_a_device_ends_with_it_where_it_ends() {
    let of = |file: &str, options: &str| {
        let text = format!("[e]\nfilename={file}\nbs=4k\nsize=20T\n{options}");
        let jobs = jobs(&text, &Taken::default())?;
        made(&jobs, 256).map(|all| (all.len(), jobs))
    };
    for (options, writes) in [
        ("rw=write\n", 256),
        ("rw=randwrite\n", 256),
        ("rw=write\noffset=512k\n", 128),
        ("rw=write\nloops=2\n", 512),
        ("rw=randwrite\nbs=12k\n", 85),
        ("rw=randwrite\nnorandommap\nio_size=3m\n", 768),
        ("rw=randwrite\nrandom_generator=lfsr\n", 256),
        ("rw=randwrite\nnorandommap\ntime_based\nruntime=9\n", MOST),
    ] {
        let (made, jobs) = of("/dev/nvme0n1", options).unwrap();
        assert_eq!(made, writes, "{options}");
        assert!(notes(&jobs, 256).contains("[e] goes to the end of the drive, as in fio"));
    }
    let error = of("/dev/nvme0n1", "rw=randwrite\nnorandommap\n").unwrap_err().to_string();
    for part in ["where the drive ends at 1048576", "writes as much all the same", "size=100%"] {
        assert!(error.contains(part), "{error}");
    }
    let error = of("drive", "rw=write\n").unwrap_err().to_string();
    assert!(error.contains("jobs that need 21990232555520 bytes"), "{error}");
}

/// A job in percent, and the same in bytes of a drive of `capacity`.
fn in_both(job: &Job, capacity: u64) -> [String; 2] {
    let Job { size, offset, io_size, increment, rest } = job;
    let percent = |name: &str, share: &u64| match share {
        0 => String::new(),
        share => format!("{name}={share}%\n"),
    };
    let bytes = |name: &str, share: &u64, of: u64| match share {
        0 => String::new(),
        share => format!("{name}={}\n", of * share / 100),
    };
    let head = format!("[a]\nfilename=/dev/d\nioengine=io_uring\n{rest}");
    [
        head.clone()
            + &percent("size", size)
            + &percent("offset", offset)
            + &percent("io_size", io_size)
            + &percent("offset_increment", increment),
        head + &bytes("size", size, capacity)
            + &bytes("offset", offset, capacity)
            + &bytes("io_size", io_size, capacity * size / 100)
            + &bytes("offset_increment", increment, capacity),
    ]
}

/// Shares of the drive, in percent.
#[derive(Debug)]
struct Job {
    size: u64,
    offset: u64,
    io_size: u64,
    increment: u64,
    rest: String,
}

fn job() -> impl Strategy<Value = Job> {
    let rest = prop::sample::select(vec![
        "rw=randwrite\nbs=4k\n",
        "rw=write\nbs=4k\n",
        "rw=randwrite\nbs=12k\nnorandommap\n",
        "rw=randrw\nbssplit=4k/50:16k\nrwmixread=30\n",
        "rw=randwrite\nbs=8k\nrandom_distribution=zipf:1.1\n",
        "rw=randwrite\nbs=4k\nrandom_distribution=zoned:80/20:20/80\ntime_based\nruntime=9\n",
        "rw=write:16k\nbs=4k\n",
        "rw=trimwrite\nbs=4k\n",
    ]);
    let shares = (1_u64..=60, 0_u64..=20, prop::sample::select(vec![0_u64, 0, 25]));
    (shares, 1_u64..=3, rest).prop_map(|((size, offset, io_size), numjobs, rest)| Job {
        size: if size == 60 && offset == 0 && numjobs == 1 { 100 } else { size },
        offset,
        // With gaps a pass ends before, and in bytes another follows; trimwrite issues other sums: so fio does.
        io_size: if rest.starts_with("rw=write:") || rest.contains("trimwrite") {
            0
        } else {
            io_size
        },
        increment: if numjobs > 1 { 7 } else { 0 },
        rest: format!("{rest}numjobs={numjobs}\n"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn sizes_in_bytes_shrink_to_what_percent_come_to(
        job in job(),
        pages in 256_u64..5000,
        hundreds in 500_u64..1_000_000_000,
    ) {
        let capacity = hundreds * 10_000;
        let [percent, bytes] = in_both(&job, capacity);
        let taken = Taken { capacity: Some(capacity), ..Taken::default() };
        let own = made(&jobs(&percent, &Taken::default()).unwrap(), pages);
        let scaled = jobs(&bytes, &taken).unwrap();
        match own {
            Ok(own) => prop_assert_eq!(made(&scaled, pages).unwrap(), own, "{}", bytes),
            // Less than a request.
            Err(_) => prop_assert!(made(&scaled, pages).is_err(), "{}", bytes),
        }
    }
}

#[test]
fn files_and_zones_shrink_with_the_drive_and_what_does_not_is_named() {
    let of = |text: &str| {
        let taken = Taken { capacity: Some(1_000_000_000_000), ..Taken::default() };
        jobs(text, &taken).and_then(|jobs| made(&jobs, 1000).map(|all| (all, jobs)))
    };
    let global = "[global]\nrw=write\nbs=4k\n";
    let files =
        "[a]\nfilename=a\nsize=250g\nkb_base=1000\n[b]\nfilename=b\nsize=750g\nkb_base=1000\n";
    let (all, jobs) = of(&format!("{global}{files}")).unwrap();
    let ends = all.iter().map(|(_, lba, sectors)| lba + u64::from(*sectors));
    assert_eq!((all.len(), ends.max()), (1000, Some(8000)));
    assert!(jobs.has_sizes() && jobs.drive_bytes().is_none());
    let said = notes(&jobs, 1000);
    assert!(said.contains("a drive of 1000000000000 bytes, 244140.6250 times smaller"), "{said}");
    let zones = "[a]\nfilename=/dev/d\nrw=randwrite\nkb_base=1000\nnorandommap\ntime_based\nruntime=1\n\
                 random_distribution=zoned_abs:90/100g:10/900g\n";
    let (all, _) = of(zones).unwrap();
    let hot = all.iter().filter(|(_, lba, _)| *lba < 800).count();
    assert!(hot.abs_diff(MOST * 9 / 10) < MOST / 25, "{hot}");
    for (text, part) in [
        ("size=1g\nnumber_ios=5", "number_ios=5 does not shrink with the drive; give io_size="),
        ("size=1m", "size=1048576 comes to nothing on a drive of 4096000 bytes"),
        ("size=2000m\nio_size=250m", "io_size=262144000 comes to 1024 bytes, less than a request"),
        ("size=50%\nio_size=64k", "io_size=65536 comes to nothing"),
        (
            "offset=2t\nsize=1%",
            "begins at byte 2199023255552 of a drive of 1000000000000 bytes (capacity); let offset",
        ),
    ] {
        let error = of(&format!("{global}filename=/dev/d\n[a]\n{text}\n")).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    let error = of("[a]\nrw=write\nfilename=a\nsize=2t\n").unwrap_err().to_string();
    assert!(error.contains("jobs that need 2199023255552 bytes"), "{error}");
    let none = super::tests::jobs("[a]\nsize=50%\nrw=write\noffset=10%\n", &Taken::default());
    assert!(!none.unwrap().has_sizes());
}

#[test]
fn a_second_filename_is_one_more() {
    for text in ["[global]\nfilename=a\n[x]\nfilename=b\n", "[x]\nfilename=a\nfilename=b\n"] {
        let error = jobs(text, &Taken::default()).unwrap_err().to_string();
        assert!(error.contains("filename=a:b names several"), "{error}");
    }
}

#[test]
fn a_command_without_jobs_is_none() {
    let error = JobFile::command(&words("fio --bs=4k"), &Taken::default()).unwrap_err().to_string();
    assert!(error.starts_with(command::NAME) && error.contains("--name=job"), "{error}");
}

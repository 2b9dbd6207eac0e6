//! Jobs of fio that replay logs and generators.

use ftlab_fio::JobFile;
use ftlab_trace::{
    ClosedLoop, Op, OpenOptions, RequestBatch, Space, TraceError, TraceSource, Turn,
};
use ftlab_workload::build;
use std::io::Write;
use std::path::Path;

const SPACE: Space = Space { logical_pages: 1 << 12, page_bytes: 4096, seed: 1 };

fn open(name: &str, space: &Space) -> Result<Box<dyn TraceSource>, TraceError> {
    let path = Path::new(name);
    if path.exists() {
        let options = OpenOptions { page_bytes: space.page_bytes, ..OpenOptions::default() };
        return ftlab_trace::open(path, &options);
    }
    build(&name.parse()?, space)
}

/// (tenant, operation, sector, stream, microseconds) of the first requests, each of which takes 10 us.
type Seen = Vec<(u16, Op, u64, Option<u16>, u64)>;

fn seen(text: &str, most: usize) -> Result<Seen, TraceError> {
    let mut hosts = JobFile::parse(text, "text")?.hosts(&SPACE, open, true)?;
    let (mut batch, mut all) = (RequestBatch::new(), Vec::new());
    while all.len() < most {
        if hosts.turn()? == Turn::End {
            break;
        }
        batch.clear();
        let of = hosts.issue(&mut batch).unwrap();
        let stream = batch.stream.first().copied();
        all.push((of.tenant, batch.op[0], batch.lba[0], stream, of.time_ns / 1000));
        hosts.complete(of.host, of.time_ns + 10_000);
    }
    Ok(all)
}

fn log() -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".log").tempfile().unwrap();
    let log = "fio version 3 iolog\n0 f add\n0 f open\n5 f write 4096 4096\n6 f read 8192 4096\n\
               100 f write 0 8192\n101 f close\n";
    file.write_all(log.as_bytes()).unwrap();
    file
}

#[test]
fn a_log_is_replayed_in_the_part_of_its_job_at_its_times() {
    let file = log();
    let path = file.path().display();
    let jobs =
        |more: &str| format!("[a]\nfilename=/dev/d\nread_iolog={path}\noffset=1m\nsize=1m\n{more}");
    let stalled = seen(&jobs(""), 9).unwrap();
    let places: Vec<_> = stalled.iter().map(|of| (of.1, of.2)).collect();
    assert_eq!(places, [(Op::Write, 2056), (Op::Read, 2064), (Op::Write, 2048)]);
    let first = stalled[0].4;
    let times: Vec<_> = stalled.iter().map(|of| of.4 - first).collect();
    assert!(times[1] == 10 && times[2] > 90, "{times:?}");
    let at_once = seen(&jobs("replay_no_stall=1\n"), 9).unwrap();
    assert_eq!(at_once.iter().map(|of| of.4).collect::<Vec<_>>(), [0, 10, 20]);
    assert_eq!(seen(&jobs("number_ios=2\n"), 9).unwrap().len(), 2);
    let error = seen(&jobs("").replace("size=1m", "size=4k"), 9).unwrap_err().to_string();
    assert!(error.contains("beyond the 4096 bytes of its part"), "{error}");
}

#[test]
fn other_workloads_have_queues_parts_and_streams_of_their_own() {
    let text = "[global]\nfilename=/dev/d\nioengine=io_uring\nfdp=1\n\
                [a]\nread_iolog=zipf:theta=0.9\nsize=4m\niodepth=3\nplids=4,5\n\
                [b]\nread_iolog=uniform:reads=0.5\noffset=4m\nsize=8m\nplids=7\n";
    let all = seen(text, 4000).unwrap();
    let of = |tenant| all.iter().filter(move |of| of.0 == tenant);
    assert!(of(0).count().abs_diff(3 * of(1).count()) < 8, "queue depths of 3 and 1");
    assert!(of(0).all(|it| it.2 < 8192 && it.1 == Op::Write));
    assert!(of(1).all(|it| (8192..24_576).contains(&it.2)));
    assert!(of(1).any(|it| it.1 == Op::Read) && of(1).any(|it| it.1 == Op::Write));
    let streams: Vec<_> = of(0).take(4).map(|it| it.3).collect();
    assert_eq!(streams, [Some(4), Some(5), Some(4), Some(5)]);
    assert!(of(1).filter(|it| it.1 == Op::Write).all(|it| it.3 == Some(7)));
    // Two tenants with the same workload do not write the same pages at the same time.
    let twice = "[global]\nfilename=/dev/d\nread_iolog=uniform\nsize=4m\n[a]\n[b]\noffset=4m\n";
    let all = seen(twice, 200).unwrap();
    let places = |tenant| -> Vec<u64> {
        all.iter().filter(|of| of.0 == tenant).map(|of| of.2 % 8192).collect()
    };
    assert_ne!(places(0), places(1));
}

#[test]
fn what_cannot_be_replayed_is_an_error_before_anything_runs() {
    let job = |text: &str| format!("[a]\nfilename=/dev/d\n{text}\n");
    for (text, message) in [
        ("read_iolog=-", "reads standard input"),
        ("read_iolog=x.fio", "a job file in a job file"),
        ("read_iolog=uniform\nloops=2", "replays once"),
        ("read_iolog=uniform\nsize=6k", "no whole pages of 4096"),
        ("read_iolog=unifrom", "did you mean"),
        ("read_iolog=zipf:theta=x", "theta"),
    ] {
        let error = seen(&job(text), 1).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("[a]"), "{text}: {error}");
    }
    let jobs = JobFile::parse(&job("read_iolog=uniform"), "text").unwrap();
    let error = jobs.requests(&SPACE).err().unwrap().to_string();
    assert!(error.contains("without a clock"), "{error}");
    assert!(!jobs.has_end());
}

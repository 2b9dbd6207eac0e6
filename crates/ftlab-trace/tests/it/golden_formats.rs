//! Small files of every format that others have made known: recognition, golden parse, volumes.
//! Every one is made up, or a piece of a capture of our own.

use crate::common::{Request, fixture, read_all, shared};
use ftlab_trace::{Input, Layout, Op, OpenOptions, RequestBatch, TraceSource, open, open_input};
use std::path::Path;

/// Time, operation, first sector, sectors, volume.
type Golden = (u64, Op, u64, u32, &'static str);

/// What a file holds, and the format that it was read as.
fn read(path: &Path, options: &OpenOptions) -> (String, Vec<(Request, String)>, String) {
    let options = OpenOptions { layout: Layout::Keep, ..options.clone() };
    let mut source = open(path, &options).unwrap_or_else(|error| panic!("{error}"));
    let mut batch = RequestBatch::with_limit(2);
    let mut all = Vec::new();
    while source.next_batch(&mut batch).unwrap_or_else(|error| panic!("{error}")) {
        for (index, (op, lba, sectors)) in batch.iter().enumerate() {
            let volume = batch.volume.get(index).map_or(String::new(), |number| {
                source.volumes().get(*number as usize).cloned().unwrap_or(number.to_string())
            });
            all.push(((batch.time_us.get(index).copied(), op, lba, sectors), volume));
        }
    }
    (source.metadata().format.clone(), all, source.skipped().to_string())
}

fn golden(all: &[Golden]) -> Vec<(Request, String)> {
    all.iter()
        .map(|(time_us, op, lba, sectors, volume)| {
            ((Some(*time_us), *op, *lba, *sectors), (*volume).to_owned())
        })
        .collect()
}

fn named(format: &str) -> OpenOptions {
    OpenOptions { format: Some(format.into()), ..OpenOptions::default() }
}

fn error_of(text: &str) -> String {
    let opened = Input::from_bytes("test", text.as_bytes().to_vec())
        .and_then(|input| open_input(input, &OpenOptions::default()))
        .and_then(|mut source| read_all(source.as_mut(), 8192));
    opened.unwrap_err().to_string()
}

#[test]
fn the_kinds_of_csv_are_recognised_and_parsed() {
    use Op::{Read, Write};
    let cases: [(&str, &str, &[Golden]); 5] = [
        (
            "msr.csv",
            "msr",
            &[
                (12_816_640_000_000_000, Write, 80, 16, "lab_0"),
                (12_816_640_000_001_234, Read, 6_291_456, 64, "lab_1"),
                (12_816_640_000_002_000, Write, 96, 1, "lab_0"),
                (12_816_640_000_003_199, Write, 0, 8, "srv_0"),
            ],
        ),
        (
            "spc.csv",
            "spc",
            &[
                (26_214, Write, 20_480, 8, "3"),
                (26_531, Read, 512, 16, "0"),
                (1_500_000, Write, 20_488, 3, "3"),
                (2_000_001, Write, 0, 8, "0"),
            ],
        ),
        (
            "alibaba.csv",
            "alibaba",
            &[
                (1_577_900_000_000_321, Write, 160, 8, "17"),
                (1_577_900_000_000_399, Read, 247_468, 9, "4"),
                (1_577_900_000_001_000, Write, 168, 32, "17"),
            ],
        ),
        (
            "tencent.csv",
            "tencent",
            &[
                (1_538_350_007_000_000, Write, 204_800, 16, "1063"),
                (1_538_350_007_000_000, Read, 999, 8, "1063"),
                (1_538_350_008_000_000, Write, 204_816, 1, "2001"),
            ],
        ),
        (
            "systor.csv",
            "systor",
            &[(1_456_140_000_000_204, Write, 80, 8, "4"), (1_456_140_000_010_000, Read, 1, 2, "6")],
        ),
    ];
    for (file, format, expected) in cases {
        let (found, all, skipped) = read(&fixture(file), &OpenOptions::default());
        assert_eq!((found.as_str(), all), (format, golden(expected)), "{file}");
        if file == "systor.csv" {
            assert!(
                skipped.contains("1 x operation that the map skips, first line 3"),
                "{skipped}"
            );
        }
    }
}

#[test]
fn numbers_alone_must_be_named() {
    use Op::{Read, Write};
    let mqsim = [(0, Write, 2048, 8, "0"), (1, Read, 2056, 1, "0"), (2, Write, 0, 16, "1")];
    assert_eq!(read(&fixture("mqsim.txt"), &named("mqsim")).1, golden(&mqsim));
    let disksim = [(523, Write, 2048, 8, "0"), (1250, Read, 2056, 1, "0")];
    assert_eq!(read(&fixture("disksim.txt"), &named("disksim")).1, golden(&disksim));
    let text = |name: &str| std::fs::read_to_string(fixture(name)).unwrap();
    let error = error_of(&text("mqsim.txt"));
    assert!(
        error.contains("fits several formats; say which with --format NAME: mqsim ("),
        "{error}"
    );
    assert!(error.contains("disksim (DiskSim ASCII"), "{error}");
    let error = error_of(&text("disksim.txt"));
    assert!(error.contains("fits one format, as numbers may by chance"), "{error}");
    // These columns are in bytes: nothing tells whether the offsets are sectors.
    let error = error_of("1538350007,512,4096,1,1063\n1538350007,1024,4096,1,1063\n");
    assert!(error.contains("say which with --format NAME: tencent (Tencent CBS"), "{error}");
}

#[test]
fn units_can_be_overridden() {
    let (_, all, _) = read(&fixture("tencent.csv"), &named("tencent:offset=bytes,length=bytes"));
    assert_eq!(all[0].0, (Some(1_538_350_007_000_000), Op::Write, 400, 1));
    let (_, all, _) = read(&fixture("msr.csv"), &named("msr:time=ns"));
    assert_eq!(all[0].0.0, Some(128_166_400_000_000));
    let error = open(&fixture("msr.csv"), &named("msr:time=h")).err().unwrap().to_string();
    assert_eq!(error, "msr: time=h is not one of s, ms, us, 100ns, ns");
}

#[test]
fn a_cut_line_is_wrong() {
    let error =
        error_of("128166400000000000,lab,0,Write,40960,8192,1520\n128166400000,lab,0,Write,4\n");
    assert!(error.contains("of no format that is recognised by itself"), "{error}");
    let text =
        "128166400000000000,lab,0,Write,40960,8192,1520\n".repeat(60) + "1281,lab,0,Write,4,8";
    let error = error_of(&text);
    assert!(
        error.contains("line 61: \"1281,lab,0,Write,4,8\" is wrong: expected as many"),
        "{error}"
    );
}

#[test]
fn volumes_of_spc_lie_side_by_side_and_others_are_refused() {
    let mut source = open(&fixture("spc.csv"), &OpenOptions::default()).unwrap();
    let lbas: Vec<_> = read_all(source.as_mut(), 10).unwrap().iter().map(|r| r.2).collect();
    let gib = 1 << 21;
    assert_eq!(lbas, [20_480, gib + 512, 20_488, gib]);
    let text = std::fs::read_to_string(fixture("msr.csv")).unwrap();
    let error = error_of(&text);
    assert!(error.contains("volume lab_1 follow requests for volume lab_0"), "{error}");
    assert!(error.contains("keep one with --volume lab_0"), "{error}");
}

#[test]
fn fiu_is_recognised_and_parsed() {
    let expected = [
        (120, Op::Write, 4096, 8, "6,0"),
        (340, Op::Read, 4104, 8, "6,0"),
        (1000, Op::Write, 16, 8, "8,17"),
    ];
    let (format, all, _) = read(&fixture("fiu.txt"), &OpenOptions::default());
    assert_eq!((format.as_str(), all), ("fiu", golden(&expected)));
}

#[test]
fn both_versions_of_cloudphysics_agree() {
    for file in ["v1.vscsi", "v2.vscsi"] {
        let (format, all, skipped) = read(&fixture(file), &OpenOptions::default());
        let expected = [
            (100, Op::Write, 8, 8, ""),
            (200, Op::Read, 64, 1, ""),
            (300, Op::Flush, 0, 0, ""),
            (400, Op::Write, 1 << 33, 16, ""),
        ];
        assert_eq!((format.as_str(), all), ("cloudphysics", golden(&expected)), "{file}");
        assert!(skipped.contains("1 x command that moves no data, first line 3"), "{skipped}");
        assert!(skipped.contains("1 x UNMAP, whose ranges are not in the trace"), "{skipped}");
    }
}

#[test]
fn objects_need_leave_to_be_writes() {
    let path = fixture("objects.oracleGeneral");
    let options = OpenOptions { assume_write: true, ..OpenOptions::default() };
    let (format, all, _) = read(&path, &options);
    assert_eq!(format, "oracle-general:assume-write=on");
    let expected = [
        (1_000_000, Op::Write, 40, 8, ""),
        (2_000_000, Op::Write, 72, 1, ""),
        (2_000_000, Op::Write, 40, 8, ""),
    ];
    assert_eq!(all, golden(&expected));
    let error = open(&path, &OpenOptions::default()).err().unwrap().to_string();
    assert!(error.contains("add --assume-write"), "{error}");
    let options = OpenOptions { assume_write: true, ..named("msr") };
    let error = open(&path, &options).err().unwrap().to_string();
    assert!(error.contains("--assume-write cannot be combined with --format msr"), "{error}");
}

#[test]
fn block_events_of_ftrace_are_recognised_and_parsed() {
    let (format, all, _) = read(&fixture("ftrace.txt"), &OpenOptions::default());
    assert_eq!((format.as_str(), all.len()), ("ftrace", 14));
    let first = [
        (2_583_448_587, Op::Flush, 0, 0, "7,2"),
        (2_583_448_952, Op::Trim, 3_145_600, 128, "7,2"),
        (2_583_450_741, Op::Write, 3_145_600, 128, "7,2"),
        (2_583_450_985, Op::Write, 1736, 1024, "7,2"),
    ];
    assert_eq!(all[..4], golden(&first));
    let last = [
        (2_588_660_969, Op::Trim, 266_304, 32, "7,2"),
        (2_590_373_286, Op::Trim, 266_232, 8, "7,2"),
    ];
    assert_eq!(all[12..], golden(&last));
}

#[test]
fn the_files_of_blktrace_equal_the_text_of_blkparse() {
    let (format, binary, skipped) = read(&fixture("own.blktrace.0"), &OpenOptions::default());
    assert_eq!(format, "blktrace");
    assert!(skipped.contains("x another action, first line 1"), "{skipped}");
    let (_, text, _) = read(&fixture("blkparse.txt"), &OpenOptions::default());
    assert!(binary.len() >= 17, "{}", binary.len());
    // The text counts its times from the first record.
    let start_us = binary[0].0.0.unwrap() - text[0].0.0.unwrap();
    for ((binary, device), (text, _)) in binary.iter().zip(&text[..17]) {
        assert_eq!((binary.1, binary.2, binary.3), (text.1, text.2, text.3));
        assert!((binary.0.unwrap() - start_us).abs_diff(text.0.unwrap()) <= 1);
        assert_eq!(device, "7,2");
    }
}

#[test]
fn system_calls_are_recognised_and_parsed() {
    let options = named("strace:below=/data");
    let (_, all, skipped) = read(&fixture("strace.txt"), &options);
    let operations: Vec<_> = all.iter().map(|((_, op, lba, n), _)| (*op, *lba, *n)).collect();
    let write = |lba, sectors| (Op::Write, lba, sectors);
    let flush = (Op::Flush, 0, 0);
    let expected = [
        write(96, 32),
        write(0, 2),
        flush,
        (Op::Read, 96, 8),
        write(0, 1),
        flush,
        write(1, 1),
        flush,
        write(2, 1),
        flush,
        write(0, 8),
        write(8, 8),
        write(16, 8),
        write(0, 8),
        write(8, 8),
        write(16, 8),
        (Op::Trim, 16, 112),
        write(8, 2),
    ];
    assert_eq!(operations, expected);
    assert_eq!((all[0].1.as_str(), all[4].1.as_str()), ("/data/db", "/data/log"));
    assert!(skipped.contains("call that resumes later"), "{skipped}");
    let (format, _, _) = read(&fixture("strace.txt"), &OpenOptions::default());
    assert_eq!(format, "strace");
}

/// Requests without times.
fn untimed(source: &mut dyn TraceSource) -> Vec<(Op, u64, u32)> {
    read_all(source, 8192)
        .unwrap()
        .iter()
        .map(|request| (request.1, request.2, request.3))
        .collect()
}

#[test]
fn the_captured_samples_equal_each_other_and_the_parquet_captures() {
    let Some(samples) = shared("traces/samples") else { return };
    let options = OpenOptions::default();
    let untimed_of = |path: &Path| untimed(open(path, &options).unwrap().as_mut());
    let binary = untimed_of(&samples.join("blktrace-binary.blktrace"));
    let text = untimed_of(&samples.join("blkparse.txt.gz"));
    assert!(text.len() > 3000 && binary[..text.len()] == text);
    for (sample, capture) in [
        ("ftrace-tpcc.txt.gz", "tpcc-mariadb.parquet"),
        ("ftrace-pgbench.txt.gz", "pgbench-postgresql.parquet"),
    ] {
        let events = untimed_of(&samples.join(sample));
        assert_eq!(events.len(), 20_000, "{sample}");
        let Some(path) = shared(&format!("traces/{capture}")) else { return };
        let mut capture = open(&path, &options).unwrap();
        let mut batch = RequestBatch::new();
        let mut all = Vec::new();
        while all.len() < events.len() && capture.next_batch(&mut batch).unwrap() {
            all.extend(batch.iter());
        }
        let same = events.iter().zip(&all).take_while(|(a, b)| a == b).count();
        assert_eq!(same, events.len(), "{sample} differs from the capture at {same}");
    }
}

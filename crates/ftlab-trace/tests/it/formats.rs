//! Every format from its bytes to requests: recognition, compression, golden parses, messages.

use crate::common::{Request, fixture, read_all, shared};
use ftlab_trace::format::FORMATS;
use ftlab_trace::{
    Compression, Input, Layout, Op, OpenOptions, address_range, open, open_input, trace_hash,
};
use std::io::Write;
use std::path::Path;

fn read(path: &Path, options: &OpenOptions) -> (String, Vec<Request>, String) {
    let mut source = open(path, options).unwrap();
    let all = read_all(source.as_mut(), 8192).unwrap();
    (source.metadata().format.clone(), all, source.skipped().to_string())
}

fn error_of(bytes: &[u8], options: &OpenOptions) -> String {
    let opened = Input::from_bytes("test", bytes.to_vec())
        .and_then(|input| open_input(input, options))
        .and_then(|mut source| read_all(source.as_mut(), 8192));
    opened.unwrap_err().to_string()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[test]
fn blkparse_text_is_recognised_and_parsed() {
    let (format, all, skipped) = read(&fixture("blkparse.txt"), &OpenOptions::default());
    assert_eq!(format, "blkparse");
    let first = [(135, Op::Flush, 0, 0), (517, Op::Read, 0, 8), (758, Op::Write, 524_160, 128)];
    for (found, (time_us, op, lba, sectors)) in all.iter().zip(first) {
        assert_eq!(*found, (Some(time_us), op, lba, sectors));
    }
    let last = [
        (Some(2_500_000), Op::Flush, 0, 0),
        (Some(2_500_000), Op::Write, 65_536, 8),
        (Some(2_500_100), Op::Trim, 1_048_576, 2048),
        (Some(2_500_200), Op::Trim, 3_145_600, 128),
    ];
    assert_eq!(all.len(), 21);
    assert_eq!(all[17..], last);
    assert!(skipped.contains("103 x another action, first line 1: \"  7,2"), "{skipped}");
}

#[test]
fn both_versions_of_an_iolog_are_recognised_and_agree() {
    let (format, version_2, skipped) = read(&fixture("fio-v2.iolog"), &OpenOptions::default());
    assert_eq!((format.as_str(), version_2.len()), ("fio-iolog", 37));
    assert_eq!(version_2[0], (Some(0), Op::Write, 788_451_328 / 512, 8));
    assert!(skipped.contains("2 x add, open or close"), "{skipped}");
    let (_, version_3, _) = read(&fixture("fio-v3.iolog"), &OpenOptions::default());
    assert_eq!(version_3[0], (Some(19_969), Op::Write, 788_451_328 / 512, 8));
    let without_time = |all: &[Request]| all.iter().map(|r| (r.1, r.2, r.3)).collect::<Vec<_>>();
    assert_eq!(without_time(&version_2), without_time(&version_3));
}

#[test]
fn a_csv_is_read_through_its_map() {
    let map = "ts=timestamp,op=opcode,off=offset,len=length,volume=device_id,op:=skip";
    let options =
        OpenOptions { map: Some(map.into()), layout: Layout::Keep, ..OpenOptions::default() };
    let (_, all, skipped) = read(&fixture("volumes.csv"), &options);
    let expected = [
        (Some(1_577_900_000_000_321), Op::Write, 160, 8),
        (Some(1_577_900_000_000_399), Op::Read, 160, 32),
        (Some(1_577_900_000_001_000), Op::Write, 247_468, 9),
        (Some(1_577_900_000_002_000), Op::Trim, 2_097_151, 2048),
    ];
    assert_eq!(all, expected);
    assert!(skipped.contains("1 x operation that the map skips, first line 6"), "{skipped}");
    let error = error_of(b"device,opcode\n17,W\n", &OpenOptions::default());
    assert!(error.contains("text, first line \"device,opcode\""), "{error}");
    assert!(error.contains("csv (one request per line in columns that --map names)"), "{error}");
}

#[test]
fn page_numbers_are_read_by_name_and_not_by_content() {
    let (format, all, _) = read(&fixture("fio-zipf-0.9.u32"), &OpenOptions::default());
    assert_eq!((format.as_str(), all.len()), ("lpn-u32", 2000));
    assert_eq!(all[1], (None, Op::Write, 36_677 * 8, 8));
    let options =
        OpenOptions { format: Some("lpn-u32:page=8KiB".into()), ..OpenOptions::default() };
    assert_eq!(read(&fixture("fio-zipf-0.9.u32"), &options).1[1].2, 36_677 * 16);
    let error = error_of(&[1, 0, 0, 0, 9, 9], &options);
    assert_eq!(
        error,
        "test: 2 bytes follow page number 1, not 4; the file is cut short, or is not lpn-u32"
    );
    assert!(error_of(&[1, 0, 0, 0], &OpenOptions::default()).contains("binary, first bytes [01,"));
}

#[test]
fn packing_is_recognised_by_content_and_does_not_matter() {
    let plain = std::fs::read(fixture("blkparse.txt")).unwrap();
    let half = plain.len() / 2;
    let members = [gzip(&plain[..half]), gzip(&plain[half..])].concat();
    let frames = [zstd::encode_all(&plain[..half], 1), zstd::encode_all(&plain[half..], 1)];
    let frames = frames.map(Result::unwrap).concat();
    let expected = read(&fixture("blkparse.txt"), &OpenOptions::default()).1;
    for (bytes, compression) in [
        (plain.clone(), Compression::None),
        (gzip(&plain), Compression::Gzip),
        (members, Compression::Gzip),
        (frames, Compression::Zstd),
    ] {
        let input = Input::from_bytes("test", bytes).unwrap();
        assert_eq!(input.compression(), compression);
        let mut source = open_input(input, &OpenOptions::default()).unwrap();
        assert_eq!(read_all(source.as_mut(), 8192).unwrap(), expected);
        assert_eq!(source.progress(), Some(1.0));
    }
    let mut cut = gzip(&plain);
    cut.truncate(cut.len() / 2);
    assert!(error_of(&cut, &OpenOptions::default()).starts_with("test: "));
}

#[test]
fn nothing_and_rubbish_are_refused_with_the_names_to_try() {
    let error = error_of(b"", &OpenOptions::default());
    assert!(error.contains("(it is empty)"), "{error}");
    let error = error_of(b"\x00\x01\x02", &OpenOptions::default());
    for format in FORMATS {
        assert!(error.contains(format.name), "{error}");
    }
    let options = OpenOptions { format: Some("blkprase".into()), ..OpenOptions::default() };
    let error = error_of(b"x", &options);
    assert!(error.contains("did you mean \"blkparse\""), "{error}");
    let options = OpenOptions { page_bytes: 100, ..OpenOptions::default() };
    assert!(error_of(b"x", &options).contains("not a multiple of 512"));
    let options = OpenOptions { skip_bad_percent: f64::NAN, ..OpenOptions::default() };
    assert!(error_of(b"x", &options).contains("give a percentage in 0..=100"));
    let error = open(Path::new("no such file"), &OpenOptions::default()).err().unwrap();
    assert!(error.to_string().starts_with("no such file: "), "{error}");
}

#[test]
fn wrong_lines_are_tolerated_up_to_a_share() {
    let good = "8,0 1 1 0.0 5 D W 8 + 8 [a]\n";
    let text = format!("{good}rubbish\n{}", good.repeat(98));
    let options = |skip_bad_percent| OpenOptions { skip_bad_percent, ..OpenOptions::default() };
    let input = Input::from_bytes("test", text.clone().into_bytes()).unwrap();
    let mut source = open_input(input, &options(1.0)).unwrap();
    assert_eq!(read_all(source.as_mut(), 8192).unwrap().len(), 99);
    assert_eq!(
        source.skipped().to_string(),
        "1 x wrong line within the tolerance, first line 2: \"rubbish\""
    );
    let error = error_of(text.as_bytes(), &options(0.5));
    assert!(
        error.starts_with(
            "test: 1 of 100 lines are wrong, more than the tolerated 0.5%; the first \
                           is line 2: \"rubbish\", expected \"MAJ,MIN CPU"
        ),
        "{error}"
    );
    let error = error_of(text.as_bytes(), &options(0.0));
    assert!(error.starts_with("test, line 2: \"rubbish\" is wrong: expected"), "{error}");
    assert!(error.ends_with("tolerate a share of such lines with --skip-bad PERCENT"), "{error}");
}

#[test]
fn a_long_file_of_wrong_lines_stops_early() {
    let good = "8,0 1 1 0.0 5 D W 8 + 8 [a]\n";
    let text = format!("{good}{}", "rubbish\n".repeat(5000));
    let options = OpenOptions { skip_bad_percent: 10.0, ..OpenOptions::default() };
    let error = error_of(text.as_bytes(), &options);
    assert!(error.contains("999 of 1000 lines are wrong"), "{error}");
}

#[test]
fn times_are_left_out_where_nobody_needs_them() {
    let options = OpenOptions { need_time: false, ..OpenOptions::default() };
    for name in ["blkparse.txt", "fio-v3.iolog"] {
        assert!(read(&fixture(name), &options).1.iter().all(|request| request.0.is_none()));
    }
}

#[test]
fn the_address_range_and_the_hash_take_one_pass() {
    let path = fixture("blkparse.txt");
    let range = address_range(&path, &OpenOptions::default()).unwrap();
    assert_eq!((range.first_sector, range.end_sector, range.requests), (0, 3_145_728, 21));
    let hash = trace_hash(&path, &OpenOptions::default()).unwrap();
    assert_eq!(hash, trace_hash(&path, &OpenOptions::default()).unwrap());
    let iologs = ["fio-v2.iolog", "fio-v3.iolog"]
        .map(|name| trace_hash(&fixture(name), &OpenOptions::default()).unwrap());
    assert_eq!(iologs[0], iologs[1]);
    assert_ne!(iologs[0], hash);
}

#[test]
fn every_reader_is_registered_and_documented() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/format");
    let helpers = [
        "mod",
        "info",
        "fields",
        "rwbs",
        "cut",
        "delimiter",
        "proposal",
        "map",
        "preset",
        "rows",
        "strangers",
        "tests",
    ];
    for folder in [directory.clone(), directory.join("csv")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let name = name.trim_end_matches(".rs").replace('_', "-");
            let is_helper = helpers.contains(&name.as_str());
            assert!(is_helper || FORMATS.iter().any(|format| format.name == name), "{name}");
        }
    }
    let guide = include_str!("../../../../docs/formats.md");
    for format in FORMATS {
        assert!(guide.contains(&format!("\n| `{}` |", format.name)), "{}", format.name);
        assert!(!format.summary.is_empty() && !format.source.is_empty(), "{}", format.name);
        for parameter in (format.parameters)() {
            assert!(
                !parameter.doc.is_empty() && !parameter.source.is_empty(),
                "{}",
                parameter.name
            );
        }
    }
}

#[test]
fn the_captured_samples_are_read_whole() {
    for (sample, requests) in [
        ("blkparse.txt.gz", None),
        ("fio-zipf-0.9.iolog-v2.gz", Some(19_997)),
        ("fio-zipf-0.9.iolog-v3.gz", Some(19_997)),
    ] {
        let Some(path) = shared(&format!("traces/samples/{sample}")) else { return };
        let mut source = open(&path, &OpenOptions::default()).unwrap();
        let all = read_all(source.as_mut(), 8192).unwrap();
        assert_eq!(all.len() as u64 + source.skipped().total(), 20_000, "{sample}");
        assert!(requests.is_none_or(|requests| requests == all.len()), "{sample}");
        if sample.contains("iolog") {
            let log = shared("traces/fio-zipf-0.9.parquet").unwrap();
            let mut log = open(&log, &OpenOptions::default()).unwrap();
            let log = read_all(log.as_mut(), 8192).unwrap();
            let same = all.iter().zip(&log).all(|(a, b)| (a.1, a.2, a.3) == (b.1, b.2, b.3));
            assert!(same, "{sample} differs from the block trace of the same run");
        }
    }
}

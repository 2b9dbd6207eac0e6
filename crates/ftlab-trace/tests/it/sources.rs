//! What holds for every source: chunks do not matter, parts by time, copies.

use crate::common::{fixture, read_all, shared};
use ftlab_trace::{
    CreateOptions, Input, Op, OpenOptions, Part, RequestBatch, TraceMetadata, TraceSource, convert,
    convert_file, create, open, open_input, window,
};
use proptest::prelude::*;
use std::io::{Cursor, Read};

/// Hands out at most `chunk` bytes at a time.
struct Chunks {
    bytes: Cursor<Vec<u8>>,
    chunk: usize,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = buffer.len().min(self.chunk);
        self.bytes.read(&mut buffer[..bytes])
    }
}

/// Writes of ten pages in turn, without times.
fn page_numbers(count: u32) -> Box<dyn TraceSource> {
    let bytes: Vec<u8> = (0..count).flat_map(|page| (page % 10).to_le_bytes()).collect();
    let options = OpenOptions { format: Some("lpn-u32".into()), ..OpenOptions::default() };
    open_input(Input::from_bytes("numbers", bytes).unwrap(), &options).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn sizes_of_reads_and_batches_do_not_matter(chunk in 1usize..300, limit in 1usize..50) {
        for name in ["blkparse.txt", "fio-v2.iolog", "fio-v3.iolog", "fio-zipf-1.1.u32"] {
            let format = name.ends_with("u32").then(|| "lpn-u32".to_owned());
            let options = OpenOptions { format, ..OpenOptions::default() };
            let mut source = open(&fixture(name), &options).unwrap();
            let whole = read_all(source.as_mut(), 1 << 20).unwrap();
            let plain = std::fs::read(fixture(name)).unwrap();
            for bytes in [plain.clone(), zstd::encode_all(&plain[..], 1).unwrap()] {
                let bytes = Cursor::new(bytes);
                let input = Input::from_reader(name, Chunks { bytes, chunk }).unwrap();
                let mut source = open_input(input, &options).unwrap();
                prop_assert_eq!(&read_all(source.as_mut(), limit).unwrap(), &whole, "{}", name);
            }
        }
    }
}

#[test]
fn a_window_keeps_the_requests_of_its_time() {
    let source = || open(&fixture("fio-v3.iolog"), &OpenOptions::default()).unwrap();
    let all = read_all(source().as_mut(), 8192).unwrap();
    let (from_us, until_us) = (all[5].0.unwrap(), all[20].0.unwrap());
    let mut part = window(source(), from_us..until_us);
    assert_eq!(read_all(part.as_mut(), 8192).unwrap(), all[5..20]);
    assert_eq!(part.metadata().format, "fio-iolog");
    let mut none = window(source(), 0..1);
    assert!(!none.next_batch(&mut RequestBatch::new()).unwrap());
}

#[test]
fn a_window_needs_times() {
    let numbers = page_numbers(1);
    let error = window(numbers, 0..9).next_batch(&mut RequestBatch::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "lpn-u32 has no times to choose by; take all of it, or a trace with times"
    );
}

#[test]
fn a_copy_stops_exactly_where_asked() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let sink = create(&path, &CreateOptions::default()).unwrap();
    let mut numbers = page_numbers(10_000);
    assert_eq!(convert(numbers.as_mut(), sink, Some(8193)).unwrap().requests, 8193);
    let mut source = open(&path, &OpenOptions::default()).unwrap();
    assert_eq!(read_all(source.as_mut(), 100).unwrap().len(), 8193);
}

#[test]
fn a_converted_file_says_where_it_comes_from() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let options = OpenOptions::default();
    let all = Part::default();
    let from = fixture("blkparse.txt");
    let converted = convert_file(&from, &options, &path, None, &all).unwrap();
    assert_eq!(converted.written.requests, 21);
    let properties = open(&path, &options).unwrap().metadata().properties.clone();
    assert_eq!(properties["converted_from"], "blkparse.txt");
    assert_eq!(properties["converted_format"], "blkparse");
    assert!(!properties.contains_key("converted_part"));

    let (part, more) = (directory.path().join("b.parquet"), directory.path().join("c.parquet"));
    let of = |requests| Part { requests_max: Some(requests), ..Part::default() };
    convert_file(&path, &options, &part, None, &of(9)).unwrap();
    let converted = convert_file(&part, &options, &more, None, &of(5)).unwrap();
    assert_eq!(converted.written.requests, 5);
    let properties = open(&more, &options).unwrap().metadata().properties.clone();
    assert_eq!(properties["converted_from"], "blkparse.txt");
    assert_eq!(properties["converted_part"], "at most 9 requests, at most 5 requests");
}

#[test]
fn a_part_without_requests_is_an_error_and_makes_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let mut metadata = TraceMetadata::default();
    metadata.properties.insert("phases_us".into(), r#"[["run", 0], ["end", 99]]"#.into());
    let mut batch = RequestBatch::new();
    batch.push(Op::Trim, 0, 8);
    batch.time_us.push(1);
    let create_options = CreateOptions { metadata, ..CreateOptions::default() };
    let mut sink = create(&at("a.parquet"), &create_options).unwrap();
    sink.write(&batch).unwrap();
    sink.finish().unwrap();
    let options = OpenOptions::default();
    for (to, phase, limit, said) in [
        ("b.csv", Some("end"), None, "that part of the trace (parquet) has no requests"),
        ("b.csv", None, Some(0), "a --limit of 1 or more"),
        ("b.u32", None, None, "no place for any of the 1 requests; write parquet"),
        ("b.csv", Some("start"), None, "has no phase \"start\"; it has run, end"),
    ] {
        let part = Part { from_phase: phase.map(Into::into), requests_max: limit };
        let result = convert_file(&at("a.parquet"), &options, &at(to), None, &part);
        let error = result.unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "{said}");
    }
}

#[test]
fn the_golden_page_numbers_are_read() {
    let Some(path) = shared("golden/Z9.u32.zst") else { return };
    let mut source: Box<dyn TraceSource> = open(&path, &OpenOptions::default()).unwrap();
    let all = read_all(source.as_mut(), 8192).unwrap();
    // A sequential fill of 65,536 pages, then a million writes.
    assert_eq!(all.len(), 1_065_536);
    assert!((0..65_536).all(|page| all[page].2 == 8 * page as u64));
}

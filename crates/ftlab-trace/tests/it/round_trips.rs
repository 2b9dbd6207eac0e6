//! What is written is read back; what is rubbish is refused without a panic.

use crate::common::{Request, read_all};
use ftlab_trace::format::FORMATS;
use ftlab_trace::{
    CreateOptions, DATA_SECTORS_MAX, Input, Layout, Op, OpenOptions, RequestBatch, RequestHasher,
    TraceMetadata, Written, create, open, open_input, trace_hash,
};
use proptest::prelude::*;
use std::path::Path;

/// Requests that every format can carry: flushes without address, ends below 2^55 sectors, writes and
/// reads up to 2 GiB.
fn any_request() -> impl Strategy<Value = Request> {
    (0u64..1 << 50, 0u8..4, 0u64..1 << 54, 1u32..).prop_map(|(time_us, code, lba, sectors)| {
        match Op::from_code(code).unwrap() {
            Op::Flush => (Some(time_us), Op::Flush, 0, 0),
            Op::Trim => (Some(time_us), Op::Trim, lba, sectors),
            op => (Some(time_us), op, lba, sectors % DATA_SECTORS_MAX + 1),
        }
    })
}

fn batch_of(requests: &[Request]) -> RequestBatch {
    let mut batch = RequestBatch::new();
    for (time_us, op, lba, sectors) in requests {
        batch.push(*op, *lba, *sectors);
        batch.time_us.extend(*time_us);
    }
    batch
}

fn write(path: &Path, requests: &[Request], format: Option<&str>, batch: usize) -> Written {
    let metadata = TraceMetadata {
        device_bytes: Some(1 << 30),
        properties: [("note".to_owned(), "by hand".to_owned())].into(),
        ..TraceMetadata::default()
    };
    let options =
        CreateOptions { format: format.map(Into::into), metadata, ..CreateOptions::default() };
    let mut sink = create(path, &options).unwrap();
    for requests in requests.chunks(batch) {
        sink.write(&batch_of(requests)).unwrap();
    }
    assert!(!path.exists(), "a file must not appear before it is complete");
    sink.finish().unwrap()
}

fn hash_of(requests: &[Request]) -> String {
    let mut hasher = RequestHasher::new();
    hasher.update(&batch_of(requests));
    hasher.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn requests_survive_every_container(
        requests in prop::collection::vec(any_request(), 1..300),
        has_time in any::<bool>(),
        write_batch in 1usize..100,
        read_limit in 1usize..100,
    ) {
        let mut requests = requests;
        if !has_time {
            for request in &mut requests {
                request.0 = None;
            }
        }
        let directory = tempfile::tempdir().unwrap();
        for name in [
            "a.parquet", "a.csv", "a.csv.gz", "a.csv.zst", "a.blkparse", "a.blkparse.zst",
            "a.iolog", "a.iolog.gz",
        ] {
            let path = directory.path().join(name);
            let written = write(&path, &requests, None, write_batch);
            prop_assert_eq!(written.requests, requests.len() as u64);
            prop_assert!(written.left_out.is_empty());
            let mut source = open(&path, &OpenOptions::default()).unwrap();
            let all = read_all(source.as_mut(), read_limit).unwrap();
            let exact = has_time || name.contains("parquet") || name.contains("csv");
            for (found, expected) in all.iter().zip(&requests) {
                prop_assert_eq!((found.1, found.2, found.3), (expected.1, expected.2, expected.3));
                prop_assert!(!exact || found.0 == expected.0, "{} {:?}", name, found);
            }
            prop_assert_eq!(all.len(), requests.len(), "{}", name);
            let hash = trace_hash(&path, &OpenOptions::default()).unwrap();
            prop_assert_eq!(hash, hash_of(&requests), "{}", name);
        }
    }

    #[test]
    fn volumes_survive_in_tables_of_clouds(
        requests in prop::collection::vec((any_request(), 0u32..5), 1..200),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let mut batch = RequestBatch::new();
        for ((time_us, op, lba, sectors), volume) in &requests {
            // Tables count times from 1970, and what is recognized is of these years.
            let time_us = 1_577_836_800_000_000 + time_us.unwrap() % (1 << 40);
            batch.push_at(time_us, *op, *lba, *sectors);
            batch.volume.push(*volume);
        }
        let is_kept = |op: Op| matches!(op, Op::Write | Op::Read);
        let kept = (0..batch.len()).filter(|index| is_kept(batch.op[*index]));
        let kept: Vec<_> = kept.collect();
        prop_assume!(!kept.is_empty());
        for (format, unit_us) in [("alibaba", 1), ("tencent", 1_000_000)] {
            let path = directory.path().join("a.csv.gz");
            let options = CreateOptions { format: Some(format.into()), ..CreateOptions::default() };
            let mut sink = create(&path, &options).unwrap();
            sink.write(&batch).unwrap();
            let written = sink.finish().unwrap();
            prop_assert_eq!(written.left_out.values().sum::<u64>() as usize, batch.len() - kept.len());
            let options = OpenOptions {
                format: Some(format.into()),
                layout: Layout::Keep,
                ..OpenOptions::default()
            };
            let mut source = open(&path, &options).unwrap();
            let mut found = RequestBatch::with_limit(1000);
            prop_assert!(source.next_batch(&mut found).unwrap());
            prop_assert_eq!(found.len(), kept.len());
            for (place, index) in kept.iter().enumerate() {
                let of = |batch: &RequestBatch, index: usize| (batch.op[index], batch.lba[index], batch.sectors[index]);
                prop_assert_eq!(of(&found, place), of(&batch, *index));
                prop_assert_eq!(found.time_us[place], batch.time_us[*index] / unit_us * unit_us);
                // Volumes whose names are numbers have these.
                prop_assert!(source.volumes().is_empty());
                prop_assert_eq!(found.volume[place], batch.volume[*index]);
            }
        }
    }

    #[test]
    fn page_numbers_survive(pages in prop::collection::vec(any::<u32>(), 1..300)) {
        let requests: Vec<Request> =
            pages.iter().map(|page| (None, Op::Write, u64::from(*page) * 8, 8)).collect();
        let directory = tempfile::tempdir().unwrap();
        for name in ["a.u32", "a.u32.zst", "a.u32.gz"] {
            let path = directory.path().join(name);
            write(&path, &requests, None, 64);
            let mut source = open(&path, &OpenOptions::default()).unwrap();
            prop_assert_eq!(read_all(source.as_mut(), 50).unwrap(), requests.clone());
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        magic in prop::sample::select(vec![
            b"".as_slice(), b"PAR1", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"fio version 2 iolog\n",
            b"fio version 3 iolog\n", b"op,lba,sectors\n", b"8,0 1 1 0.0 5 D W 8 + 8\n",
        ]),
        skip_bad in any::<bool>(),
    ) {
        read_in_every_format(&[magic, &bytes].concat(), skip_bad);
    }

    #[test]
    fn no_text_makes_a_reader_panic(
        lines in "([0-9]{1,20}[ ,.+:]{0,2}|[A-Za-z]{1,5}[ ,]|\n|\"|write |trim |wait |D W ){0,60}",
        magic in prop::sample::select(vec![
            "", "fio version 2 iolog\n", "fio version 3 iolog\n", "8,0 1 1 0.0 5 D W 8 + 8\n",
        ]),
    ) {
        read_in_every_format(format!("{magic}{lines}").as_bytes(), true);
    }
}

fn read_in_every_format(bytes: &[u8], skip_bad: bool) {
    let formats = FORMATS.iter().map(|format| match format.name {
        "csv" => Some("csv:map=ts:s=1;op=2;off=3;len=4;op:*=W"),
        name => Some(name),
    });
    for format in formats.chain([None]) {
        let options = OpenOptions {
            format: format.map(Into::into),
            skip_bad_percent: if skip_bad { 100.0 } else { 0.0 },
            ..OpenOptions::default()
        };
        // Errors are fine; panics and endless loops are not.
        let _ = Input::from_bytes("rubbish", bytes.to_vec())
            .and_then(|input| open_input(input, &options))
            .and_then(|mut source| read_all(source.as_mut(), 64));
    }
}

#[test]
fn the_native_form_keeps_provenance_streams_and_volumes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let metadata = TraceMetadata {
        device_bytes: Some(4096),
        properties: [("phases_us".to_owned(), "[[\"run\", 7]]".to_owned())].into(),
        ..TraceMetadata::default()
    };
    let options = CreateOptions { metadata, ..CreateOptions::default() };
    let mut batch = batch_of(&[(Some(u64::MAX), Op::Trim, u64::MAX, u32::MAX)]);
    batch.stream.push(u16::MAX);
    batch.volume.push(u32::MAX);
    let mut sink = create(&path, &options).unwrap();
    sink.write(&batch).unwrap();
    sink.finish().unwrap();
    let options = OpenOptions { layout: Layout::Keep, ..OpenOptions::default() };
    let mut source = open(&path, &options).unwrap();
    assert_eq!(source.metadata().device_bytes, Some(4096));
    assert_eq!(source.metadata().requests, Some(1));
    assert_eq!(source.metadata().phase_us("run"), Some(7));
    let mut found = RequestBatch::new();
    assert!(source.next_batch(&mut found).unwrap());
    assert_eq!(found, batch);
    assert_eq!(source.progress(), Some(1.0));
    assert!(!source.next_batch(&mut found).unwrap());
}

#[test]
fn what_a_format_cannot_keep_is_counted_or_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.u32");
    let requests = [(None, Op::Write, 4, 8), (None, Op::Trim, 0, 8), (None, Op::Flush, 0, 0)];
    let written = write(&path, &requests, None, 8);
    assert_eq!((written.requests, written.left_out["trim"], written.left_out["flush"]), (1, 1, 1));
    assert_eq!(std::fs::read(&path).unwrap(), [0, 0, 0, 0, 1, 0, 0, 0]);
    let mut sink = create(&path, &CreateOptions::default()).unwrap();
    let error = sink.write(&batch_of(&[(None, Op::Write, 8 << 32, 8)])).unwrap_err().to_string();
    assert!(error.contains("page 4294967296 does not fit in lpn-u32"), "{error}");
    let error = create(&directory.path().join("a.xyz"), &CreateOptions::default()).err().unwrap();
    assert!(error.to_string().contains("the ending \"xyz\" does not say"), "{error}");
}

#[test]
fn an_unfinished_file_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["a.parquet", "a.csv.zst"] {
        let mut sink = create(&directory.path().join(name), &CreateOptions::default()).unwrap();
        sink.write(&batch_of(&[(None, Op::Write, 0, 8)])).unwrap();
        drop(sink);
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

//! Parquet files that other tools write, rightly and wrongly.

use crate::common::read_all;
use ftlab_trace::{
    CreateOptions, Input, Op, OpenOptions, RequestBatch, TraceMetadata, create, open, open_input,
};
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use std::sync::Arc;

const REQUIRED: &str = "required int32 op (integer(8,false)); \
                        required int64 lba (integer(64,false)); \
                        required int32 sectors (integer(32,false));";

/// A file with these columns; column c of row r holds `values[c][r]`, and `None` is a null.
fn file(columns: &str, values: &[&[Option<i64>]], compression: Compression) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(&format!("message m {{ {columns} }}")).unwrap());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
    // Two groups, so that the change from one to the next is part of every test.
    for _ in 0..2 {
        let mut group = writer.next_row_group().unwrap();
        for column in values {
            let levels: Vec<i16> = column.iter().map(|value| i16::from(value.is_some())).collect();
            let wide: Vec<i64> = column.iter().copied().flatten().collect();
            let narrow: Vec<i32> = wide.iter().map(|value| *value as i32).collect();
            let mut column = group.next_column().unwrap().unwrap();
            match column.untyped() {
                ColumnWriter::Int32ColumnWriter(c) => c.write_batch(&narrow, Some(&levels), None),
                ColumnWriter::Int64ColumnWriter(c) => c.write_batch(&wide, Some(&levels), None),
                _ => unreachable!("only integers are tested"),
            }
            .unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

fn plain(columns: &str, values: &[&[Option<i64>]]) -> Vec<u8> {
    file(columns, values, Compression::UNCOMPRESSED)
}

fn read(bytes: Vec<u8>) -> Result<Vec<crate::common::Request>, String> {
    Input::from_bytes("t.parquet", bytes)
        .and_then(|input| open_input(input, &OpenOptions::default()))
        .and_then(|mut source| read_all(source.as_mut(), 3))
        .map_err(|error| error.to_string())
}

const OPS: &[Option<i64>] = &[Some(0), Some(1), Some(2), Some(3)];
const LBAS: &[Option<i64>] = &[Some(8), Some(16), Some(0), Some(-1)];
const SECTORS: &[Option<i64>] = &[Some(8), Some(-1), Some(0), Some(1)];

#[test]
fn every_codec_and_optional_columns_are_read() {
    let group = [
        (None, Op::Write, 8, 8),
        (None, Op::Trim, 16, u32::MAX),
        (None, Op::Flush, 0, 0),
        (None, Op::Read, u64::MAX, 1),
    ];
    let expected = [group, group].concat();
    for columns in [REQUIRED.to_owned(), REQUIRED.replace("required", "optional")] {
        for compression in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(parquet::basic::GzipLevel::default()),
            Compression::LZ4_RAW,
            Compression::ZSTD(parquet::basic::ZstdLevel::default()),
        ] {
            let bytes = file(&columns, &[OPS, LBAS, SECTORS], compression);
            assert_eq!(read(bytes).unwrap(), expected, "{compression:?} {columns}");
        }
    }
}

#[test]
fn missing_and_mistyped_columns_are_named() {
    let columns = REQUIRED.replace(" lba ", " offset ");
    let error = read(plain(&columns, &[OPS, LBAS, SECTORS])).unwrap_err();
    assert!(
        error.starts_with(
            "t.parquet: there is no column \"lba\", only op, offset, sectors; the native form has"
        ),
        "{error}"
    );
    let columns = REQUIRED.replace("int32 sectors (integer(32,false))", "int64 sectors");
    let error = read(plain(&columns, &[OPS, LBAS, SECTORS])).unwrap_err();
    assert!(error.contains("column \"sectors\" is INT64, not INT32"), "{error}");
}

#[test]
fn impossible_values_are_named_with_their_rows() {
    let error = read(plain(REQUIRED, &[&[Some(4)], &[Some(0)], &[Some(8)]])).unwrap_err();
    assert!(error.contains("rows from 0: op is 4, not 0 write, 1 trim"), "{error}");
    let columns = REQUIRED.replace(" (integer(64,false))", "");
    let error = read(plain(&columns, &[OPS, LBAS, SECTORS])).unwrap_err();
    assert!(error.contains("rows from 3: lba is negative"), "{error}");
    let error = read(plain(REQUIRED, &[&[Some(0)], &[Some(0)], &[Some(1 << 22 | 1)]])).unwrap_err();
    assert!(error.contains("rows from 0: a write or read of more than 4194304 sectors (2 GiB)"));
    let columns = REQUIRED.replace("required int64", "optional int64");
    let error = read(plain(&columns, &[&OPS[..2], &[Some(8), None], &SECTORS[..2]])).unwrap_err();
    assert!(error.contains("rows from 0: column lba has 1 empty values"), "{error}");
    let columns = format!("{REQUIRED} required int32 stream;");
    let one = [Some(0)];
    let error = read(plain(&columns, &[&one, &one, &one, &[Some(70_000)]])).unwrap_err();
    assert!(error.contains("stream is above 65535"), "{error}");
}

#[test]
fn empty_cut_and_streamed_files_are_errors() {
    let error = read(plain(REQUIRED, &[&[], &[], &[]])).unwrap_err();
    assert!(error.contains("no requests in 0 rows (the file has no rows)"), "{error}");
    let mut bytes = plain(REQUIRED, &[OPS, LBAS, SECTORS]);
    bytes.truncate(bytes.len() - 10);
    let error = read(bytes.clone()).unwrap_err();
    assert!(error.contains("not a readable Parquet file"), "{error}");
    let error = read(zstd::encode_all(bytes.as_slice(), 1).unwrap()).unwrap_err();
    assert!(error.contains("Parquet is compressed inside"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn damaged_files_do_not_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        codec in 0..4usize,
    ) {
        let compression = [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::LZ4_RAW,
            Compression::ZSTD(parquet::basic::ZstdLevel::default()),
        ][codec];
        let columns = format!("{REQUIRED} optional int64 t_us;");
        let mut bytes = file(&columns, &[OPS, LBAS, SECTORS, LBAS], compression);
        for (index, byte) in damage {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        // Errors and unlucky successes are fine; panics are not.
        let _ = read(bytes);
    }
}

#[test]
fn what_is_known_only_at_the_end_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.parquet");
    let mut sink = create(&path, &CreateOptions::default()).unwrap();
    let mut batch = RequestBatch::new();
    batch.push(Op::Write, 0, 8);
    sink.write(&batch).unwrap();
    sink.annotate("lost_events", "7".into());
    sink.annotate("device_bytes", "4096".into());
    sink.finish().unwrap();
    let source = open(&path, &OpenOptions::default()).unwrap();
    let TraceMetadata { properties, device_bytes, .. } = source.metadata();
    assert_eq!((properties["lost_events"].as_str(), *device_bytes), ("7", Some(4096)));
}

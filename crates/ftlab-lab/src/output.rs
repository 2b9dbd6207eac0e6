//! Results as files: `results.json`, and the running numbers as `series.parquet`.

use crate::error::LabError;
use ftlab_sim::result::{ExperimentResult, RunResult};
use ftlab_trace::{NewFile, check_file};
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One row for each interval of each run; `host_writes` is the count at the end of the interval, the
/// other columns are of the interval itself.
const SCHEMA: &str = "message series {
    required binary ftl (string);
    required int64 host_writes (integer(64,false));
    required int64 relocations (integer(64,false));
    required int64 erases (integer(64,false));
    required double waf;
    optional double cold_region_share;
    optional double iops;
    optional double response_mean_ns;
    optional double response_max_ns;
    optional double refresh_relocations;
    optional double transactions_per_second;
    optional double read_response_p50_ns;
    optional double read_response_p99_9_ns;
    optional double write_response_p50_ns;
    optional double write_response_p99_9_ns;
    optional double slc_folds;
    optional double host_bytes;
}";

/// Makes `directory` if it does not exist, and finds out whether [`write_results`] can write there:
/// better known before a long run than after it.
pub fn check_results(directory: &Path) -> Result<(), LabError> {
    fs::create_dir_all(directory).map_err(at(directory))?;
    for path in paths(directory) {
        check_file(&path)?;
    }
    Ok(())
}

/// Writes `results.json` and `series.parquet` into `directory`, which is made if it does not exist,
/// and returns their paths. Files of these names are replaced.
pub fn write_results(
    result: &ExperimentResult,
    directory: &Path,
) -> Result<Vec<PathBuf>, LabError> {
    fs::create_dir_all(directory).map_err(at(directory))?;
    let [json, series] = paths(directory);
    let text = serde_json::to_string_pretty(result).map_err(|e| at(&json)(e.into()))?;
    let bytes = encode_series(result).map_err(|error| LabError::store(&series, &error))?;
    // They belong together: both take their places, or neither.
    let files = [
        NewFile::write(&json, |file| writeln!(file, "{text}"))?,
        NewFile::write(&series, |file| file.write_all(&bytes))?,
    ];
    for file in files {
        file.take_place()?;
    }
    Ok(vec![json, series])
}

/// Reads what [`write_results`] wrote into `directory`.
pub fn read_results(directory: &Path) -> Result<ExperimentResult, LabError> {
    let [path, _] = paths(directory);
    let text = fs::read_to_string(&path)
        .map_err(|source| LabError::Results { path: path.clone(), reason: source.to_string() })?;
    serde_json::from_str(&text)
        .map_err(|error| LabError::Results { path, reason: error.to_string() })
}

fn paths(directory: &Path) -> [PathBuf; 2] {
    ["results.json", "series.parquet"].map(|name| directory.join(name))
}

fn at(path: &Path) -> impl Fn(io::Error) -> LabError {
    let path = path.to_owned();
    move |source| LabError::store(&path, &source)
}

fn encode_series(result: &ExperimentResult) -> Result<Vec<u8>, ParquetError> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let pairs = [
        ("version", result.version.clone()),
        ("trace_hash", result.trace_hash.clone()),
        ("interval_writes", result.config.interval_writes.to_string()),
    ];
    let pairs = pairs.into_iter().map(|(key, value)| KeyValue::new(key.to_owned(), value));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_created_by(format!("ftlab {}", result.version))
        .set_key_value_metadata(Some(pairs.collect()))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    for run in &result.runs {
        write_run(&mut writer, run, result.config.interval_writes)?;
    }
    writer.into_inner()
}

/// One row group for each run.
fn write_run(
    writer: &mut SerializedFileWriter<Vec<u8>>,
    run: &RunResult,
    interval_writes: u64,
) -> Result<(), ParquetError> {
    let rows = run.running_waf.len();
    let ends = (1..=rows as u64).map(|interval| interval * interval_writes);
    let time = run.timing.as_ref();
    let mean_ns = time.map(|time| time.running_response_mean_ns.clone());
    let max_ns = time.map(|t| t.running_response_max_ns.iter().map(|ns| *ns as f64).collect());
    let refreshed = run
        .refresh
        .as_ref()
        .map(|refresh| refresh.running_relocations.iter().map(|pages| *pages as f64).collect());
    let transactions = time.and_then(|time| time.transactions.as_ref());
    let transactions = transactions.map(|of| of.running_per_second.clone());
    let requests = time.and_then(|time| time.requests.as_ref());
    let quantiles = |operation: &str| {
        let times = requests.and_then(|requests| requests.operations.get(operation));
        let running = [
            times.and_then(|times| times.running_p50_ns.as_ref()),
            times.and_then(|times| times.running_p99_9_ns.as_ref()),
        ];
        running.map(|running| {
            let real = |ns: &Option<u64>| ns.map(|ns| ns as f64);
            Values::Some(
                running.map_or_else(|| vec![None; rows], |of| of.iter().map(real).collect()),
            )
        })
    };
    let [read_p50, read_p99_9] = quantiles("read");
    let [write_p50, write_p99_9] = quantiles("write");
    let folds = run.slc.as_ref().map(|slc| slc.running_folds.iter().map(|of| *of as f64).collect());
    let sent = run.running_host_bytes.as_ref();
    let sent = sent.map(|sent| sent.iter().map(|bytes| *bytes as f64).collect());
    let signed = |values: &[u64]| values.iter().map(|value| value.cast_signed()).collect();
    let mut columns = [
        Values::Text(vec![ByteArray::from(run.ftl.as_str()); rows]),
        Values::Whole(ends.map(u64::cast_signed).collect()),
        Values::Whole(signed(&run.running_relocations)),
        Values::Whole(signed(&run.running_erases)),
        Values::Real(run.running_waf.clone()),
        Values::Optional(run.running_cold_region_share.clone().unwrap_or_default(), rows),
        Values::Optional(time.map(|time| time.running_iops.clone()).unwrap_or_default(), rows),
        Values::Optional(mean_ns.unwrap_or_default(), rows),
        Values::Optional(max_ns.unwrap_or_default(), rows),
        Values::Optional(refreshed.unwrap_or_default(), rows),
        Values::Optional(transactions.unwrap_or_default(), rows),
        read_p50,
        read_p99_9,
        write_p50,
        write_p99_9,
        Values::Optional(folds.unwrap_or_default(), rows),
        Values::Optional(sent.unwrap_or_default(), rows),
    ]
    .into_iter();
    let mut group = writer.next_row_group()?;
    while let Some(mut column) = group.next_column()? {
        match (column.untyped(), columns.next()) {
            (ColumnWriter::ByteArrayColumnWriter(writer), Some(Values::Text(values))) => {
                writer.write_batch(&values, None, None)?
            }
            (ColumnWriter::Int64ColumnWriter(writer), Some(Values::Whole(values))) => {
                writer.write_batch(&values, None, None)?
            }
            (ColumnWriter::DoubleColumnWriter(writer), Some(Values::Real(values))) => {
                writer.write_batch(&values, None, None)?
            }
            (ColumnWriter::DoubleColumnWriter(writer), Some(Values::Optional(values, rows))) => {
                let present = i16::from(!values.is_empty());
                writer.write_batch(&values, Some(&vec![present; rows]), None)?
            }
            (ColumnWriter::DoubleColumnWriter(writer), Some(Values::Some(values))) => {
                let present: Vec<_> = values.iter().map(|it| i16::from(it.is_some())).collect();
                let there: Vec<f64> = values.into_iter().flatten().collect();
                writer.write_batch(&there, Some(&present), None)?
            }
            _ => {
                return Err(ParquetError::General(
                    "the columns are not those of the schema".into(),
                ));
            }
        };
        column.close()?;
    }
    group.close()?;
    Ok(())
}

enum Values {
    Text(Vec<ByteArray>),
    Whole(Vec<i64>),
    Real(Vec<f64>),
    /// No values at all stand for as many missing ones.
    Optional(Vec<f64>, usize),
    /// Some of them.
    Some(Vec<Option<f64>>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_sim::{DriveOptions, Experiment, Logical, Workload};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;
    use std::fs::File;

    #[test]
    fn the_series_reads_back_as_it_is_in_the_result() {
        let workload = Workload::parse("uniform", ftlab_trace::OpenOptions::default()).unwrap();
        let drive = DriveOptions {
            logical: Logical::Pages(4096),
            pages_per_block: Some(32),
            ..DriveOptions::default()
        };
        let ftls = vec!["1r-greedy".parse().unwrap(), "2r++".parse().unwrap()];
        let experiment = Experiment { drive, ..Experiment::new(workload, ftls) };
        let result = experiment.run(&mut ()).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let files = write_results(&result, &directory.path().join("a/b")).unwrap();
        let reader = SerializedFileReader::new(File::open(&files[1]).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2 * 16);
        for (index, row) in rows.iter().enumerate() {
            let (run, interval) = (&result.runs[index / 16], index % 16);
            assert_eq!(row.get_string(0).unwrap(), &run.ftl);
            assert_eq!(row.get_ulong(1).unwrap(), 1024 * (interval as u64 + 1));
            assert_eq!(row.get_ulong(2).unwrap(), run.running_relocations[interval]);
            assert_eq!(row.get_ulong(3).unwrap(), run.running_erases[interval]);
            assert!((row.get_double(4).unwrap() - run.running_waf[interval]).abs() < 1e-15);
            let shares = run.running_cold_region_share.as_ref().map(|shares| shares[interval]);
            assert_eq!(row.get_double(5).ok(), shares);
        }
    }
}

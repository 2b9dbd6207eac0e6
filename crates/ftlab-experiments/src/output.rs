//! Results as files: `results.json`, and the running numbers as `series.parquet`.

use crate::columns::{field, write_column};
use crate::error::ExperimentsError;
use ftlab_sim::fact::{Column, Fact, Shown, Value};
use ftlab_sim::result::{ExperimentResult, RunResult, shown};
use ftlab_trace::{NewFile, check_file};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// The name of a column of series, what it holds, and the fact that it shows.
type Series = ((&'static str, Column), &'static Fact<RunResult>);

/// The facts that are shown as columns of series, in order.
static SERIES: LazyLock<Vec<Series>> = LazyLock::new(|| {
    shown(|shown| match *shown {
        Shown::Running { at, name, column, .. } => Some((at, (name, column))),
        _ => None,
    })
});

/// One row for each interval of each run; `host_writes` is the count at the end of the interval, the
/// other columns are of the interval itself.
fn schema() -> String {
    let head = [("ftl", Column::Text), ("host_writes", Column::Whole)];
    let series = SERIES.iter().map(|(column, _)| *column);
    let fields = head.into_iter().chain(series).map(|(name, holds)| field(name, holds));
    format!("message series {{ {} }}", fields.collect::<String>())
}

/// Makes `directory` if it does not exist, and finds out whether [`write_results`] can write there:
/// better known before a long run than after it.
pub fn check_results(directory: &Path) -> Result<(), ExperimentsError> {
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
) -> Result<Vec<PathBuf>, ExperimentsError> {
    fs::create_dir_all(directory).map_err(at(directory))?;
    let [json, series] = paths(directory);
    let text = serde_json::to_string_pretty(result).map_err(|e| at(&json)(e.into()))?;
    let bytes = encode_series(result).map_err(|error| ExperimentsError::store(&series, &error))?;
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
pub fn read_results(directory: &Path) -> Result<ExperimentResult, ExperimentsError> {
    let [path, _] = paths(directory);
    let text = fs::read_to_string(&path).map_err(|source| ExperimentsError::Results {
        path: path.clone(),
        reason: source.to_string(),
    })?;
    serde_json::from_str(&text)
        .map_err(|error| ExperimentsError::Results { path, reason: error.to_string() })
}

fn paths(directory: &Path) -> [PathBuf; 2] {
    ["results.json", "series.parquet"].map(|name| directory.join(name))
}

fn at(path: &Path) -> impl Fn(io::Error) -> ExperimentsError {
    let path = path.to_owned();
    move |source| ExperimentsError::store(&path, &source)
}

fn encode_series(result: &ExperimentResult) -> Result<Vec<u8>, ParquetError> {
    let schema = Arc::new(parse_message_type(&schema())?);
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
    let name = Value::Text { text: run.ftl.clone(), rank: 0.0 };
    let ends = (1..=rows as u64).map(|interval| Some(Value::Count(interval * interval_writes)));
    let mut columns = vec![(Column::Text, vec![Some(name); rows]), (Column::Whole, ends.collect())];
    columns.extend(SERIES.iter().map(|((_, holds), fact)| (*holds, values(fact, run, rows))));
    let mut columns = columns.into_iter();
    let mut group = writer.next_row_group()?;
    while let Some(mut column) = group.next_column()? {
        let (holds, cells) = columns.next().unwrap_or((Column::Optional, Vec::new()));
        write_column(column.untyped(), holds, cells.into_iter())?;
        column.close()?;
    }
    group.close()?;
    Ok(())
}

/// The values of a series, or as many missing ones.
fn values(fact: &Fact<RunResult>, run: &RunResult, rows: usize) -> Vec<Option<Value>> {
    match fact.of(run) {
        Some(Value::Series(values)) => {
            values.into_iter().map(|value| value.map(Value::Real)).collect()
        }
        _ => vec![None; rows],
    }
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

//! Runs as rows of Parquet: what one looks for in columns of their own, and the whole result as JSON.

use crate::columns::{field, write_column};
use ftlab_sim::ExperimentResult;
use ftlab_sim::fact::{Column as Holds, Fact, Shown, Value};
use ftlab_sim::result::{Config, RunResult, shown};
use ftlab_spec::written_by;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RowAccessor;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::TypePtr;
use std::sync::{Arc, LazyLock};

/// A finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// Its hash in the plan.
    pub run: String,
    /// Of everything that decided, the version.
    pub versions: String,
    /// The labels of its first point.
    pub labels: Vec<(String, String)>,
    /// What it yielded: a result with this run only.
    pub result: ExperimentResult,
}

/// A column: its name, what it holds, and where its values come from.
struct Column {
    name: &'static str,
    holds: Holds,
    value: Reads,
}

/// Reads what tells a run from others.
type ReadsText = fn(&StoredRun, &RunResult) -> String;

/// Reads what a run was on.
type ReadsNumber = fn(&Config) -> Value;

enum Reads {
    /// What tells the run from others, or all of it.
    Text(ReadsText),
    /// A number of its drive or workload.
    Number(ReadsNumber),
    /// What is told of the run.
    Fact(&'static Fact<RunResult>),
}

impl Column {
    fn cell(&self, stored: &StoredRun, run: &RunResult) -> Option<Value> {
        match &self.value {
            Reads::Text(text) => Some(Value::Text { text: text(stored, run), rank: 0.0 }),
            Reads::Number(number) => Some(number(&stored.result.config)),
            Reads::Fact(fact) => fact.of(run),
        }
    }
}

/// What tells a run from others, in order.
const HEAD: [(&str, ReadsText); 8] = [
    ("run", |stored, _| stored.run.clone()),
    ("versions", |stored, _| stored.versions.clone()),
    ("config_hash", |_, run| run.config_hash.clone()),
    ("trace_hash", |stored, _| stored.result.trace_hash.clone()),
    ("version", |stored, _| stored.result.version.clone()),
    ("labels", |stored, _| labels_text(&stored.labels)),
    ("workload", |stored, _| stored.result.config.workload.clone()),
    ("ftl", |_, run| run.ftl.clone()),
];

/// What it ran on.
const DRIVE: [(&str, Holds, ReadsNumber); 5] = [
    ("seed", Holds::Whole, |config| Value::Count(config.seed)),
    ("logical_pages", Holds::Whole, |config| Value::Count(config.drive.logical_pages.into())),
    ("blocks", Holds::Whole, |config| Value::Count(config.drive.blocks.into())),
    ("pages_per_block", Holds::Whole, |config| Value::Count(config.drive.pages_per_block.into())),
    ("op_ratio", Holds::Real, |config| Value::Real(config.drive.op_ratio)),
];

/// Every column: what tells the run, its drive, the facts that are shown here, and the whole result.
static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let text = |(name, text)| Column { name, holds: Holds::Text, value: Reads::Text(text) };
    let facts = shown(|shown| match *shown {
        Shown::Stored { at, name, column } => Some((at, (name, column))),
        _ => None,
    });
    let mut columns: Vec<_> = HEAD.into_iter().map(text).collect();
    columns.extend(DRIVE.into_iter().map(|(name, holds, number)| Column {
        name,
        holds,
        value: Reads::Number(number),
    }));
    columns.extend(facts.into_iter().map(|((name, holds), fact)| Column {
        name,
        holds,
        value: Reads::Fact(fact),
    }));
    columns.push(text(("result", |stored, _| {
        serde_json::to_string(&stored.result).unwrap_or_default()
    })));
    columns
});

fn labels_text(labels: &[(String, String)]) -> String {
    let object: serde_json::Map<_, _> =
        labels.iter().map(|(axis, value)| (axis.clone(), value.clone().into())).collect();
    serde_json::Value::Object(object).to_string()
}

fn schema<'a>(columns: impl Iterator<Item = &'a Column>) -> Result<TypePtr> {
    let fields: String = columns.map(|column| field(column.name, column.holds)).collect();
    Ok(Arc::new(parse_message_type(&format!("message runs {{ {fields} }}"))?))
}

/// The bytes of a Parquet file with these runs.
pub(super) fn encode(runs: &[StoredRun]) -> Result<Vec<u8>> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_column_compression("result".into(), Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_dictionary_enabled(false)
        .set_created_by(written_by())
        .build();
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema(COLUMNS.iter())?, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in COLUMNS.iter() {
        let cells = runs
            .iter()
            .filter_map(|stored| stored.result.runs.first().map(|run| column.cell(stored, run)));
        let Some(mut open) = group.next_column()? else { break };
        write_column(open.untyped(), column.holds, cells)?;
        open.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(bytes)
}

/// What a file of runs begins with.
pub(super) enum Runs {
    /// Of each, its hash and the versions of what decided.
    Known(Vec<[String; 2]>),
    /// The number of runs of a program that had other columns.
    OfAnother(usize),
}

pub(super) fn decode_heads(file: impl ChunkReader + 'static) -> Result<Runs> {
    let reader = SerializedFileReader::new(file)?;
    if is_ours(&reader)? {
        return read_texts(&reader, ["run", "versions"]).map(Runs::Known);
    }
    let metadata = reader.metadata().file_metadata();
    let columns = metadata.schema_descr().columns();
    if !["run", "result"].iter().all(|name| columns.iter().any(|it| it.name() == *name)) {
        return Err(ParquetError::General("its columns are not those of runs of ftlab".into()));
    }
    Ok(Runs::OfAnother(usize::try_from(metadata.num_rows()).unwrap_or(0)))
}

/// Whether a file has the columns of this program.
fn is_ours<R: ChunkReader + 'static>(reader: &SerializedFileReader<R>) -> Result<bool> {
    Ok(reader.metadata().file_metadata().schema() == schema(COLUMNS.iter())?.as_ref())
}

/// Reads the texts of some columns of every row.
fn read_texts<R: ChunkReader + 'static, const N: usize>(
    reader: &SerializedFileReader<R>,
    names: [&str; N],
) -> Result<Vec<[String; N]>> {
    let wanted = schema(COLUMNS.iter().filter(|column| names.contains(&column.name)))?;
    let rows = reader.get_row_iter(Some(wanted.as_ref().clone()))?.map(|row| {
        let row = row?;
        let mut texts = std::array::from_fn(|_| String::new());
        for (index, text) in texts.iter_mut().enumerate() {
            text.clone_from(row.get_string(index)?);
        }
        Ok(texts)
    });
    rows.collect()
}

/// The runs in a file whose hashes are wanted; none of a program that had other columns.
pub(super) fn decode(
    file: impl ChunkReader + 'static,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<StoredRun>> {
    let broken = |error: serde_json::Error| ParquetError::General(error.to_string());
    let reader = SerializedFileReader::new(file)?;
    if !is_ours(&reader)? {
        return Ok(Vec::new());
    }
    let rows = read_texts(&reader, ["run", "versions", "labels", "result"])?.into_iter();
    let runs = rows.filter(|[run, ..]| is_wanted(run)).map(|[run, versions, labels, result]| {
        let labels: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&labels).map_err(broken)?;
        let text = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        Ok(StoredRun {
            run,
            versions,
            labels: labels.into_iter().map(|(axis, value)| (axis, text(value))).collect(),
            result: serde_json::from_str(&result).map_err(broken)?,
        })
    });
    runs.collect()
}

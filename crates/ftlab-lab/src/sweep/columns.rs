//! Runs as rows of Parquet: what one looks for in columns of their own, and the whole result as JSON.

use ftlab_sim::ExperimentResult;
use ftlab_sim::result::RunResult;
use ftlab_spec::written_by;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RowAccessor;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::TypePtr;
use std::sync::Arc;

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

/// A column: its type in the file, its name, and where its values come from.
struct Column {
    schema: &'static str,
    name: &'static str,
    value: fn(&StoredRun, &RunResult) -> Cell,
}

enum Cell {
    Text(String),
    Whole(u64),
    Real(f64),
    Optional(Option<f64>),
}

/// Declares columns.
macro_rules! columns {
    ($($name:ident: $kind:ident = |$stored:pat_param, $run:pat_param| $value:expr;)+) => {
        &[$(Column {
            schema: columns!(@schema $kind),
            name: stringify!($name),
            value: |$stored, $run| Cell::$kind($value),
        }),+]
    };
    (@schema Text) => { "required binary # (string)" };
    (@schema Whole) => { "required int64 # (integer(64,false))" };
    (@schema Real) => { "required double #" };
    (@schema Optional) => { "optional double #" };
}

const COLUMNS: &[Column] = columns! {
    run: Text = |stored, _| stored.run.clone();
    versions: Text = |stored, _| stored.versions.clone();
    config_hash: Text = |_, run| run.config_hash.clone();
    trace_hash: Text = |stored, _| stored.result.trace_hash.clone();
    version: Text = |stored, _| stored.result.version.clone();
    labels: Text = |stored, _| labels_text(&stored.labels);
    workload: Text = |stored, _| stored.result.config.workload.clone();
    ftl: Text = |_, run| run.ftl.clone();
    seed: Whole = |stored, _| stored.result.config.seed;
    logical_pages: Whole = |stored, _| u64::from(stored.result.config.drive.logical_pages);
    blocks: Whole = |stored, _| u64::from(stored.result.config.drive.blocks);
    pages_per_block: Whole = |stored, _| u64::from(stored.result.config.drive.pages_per_block);
    op_ratio: Real = |stored, _| stored.result.config.drive.op_ratio;
    host_writes: Whole = |_, run| run.host_writes;
    host_bytes: Whole = |_, run| run.host_bytes;
    relocations: Whole = |_, run| run.relocations;
    merge_copies: Whole = |_, run| run.merge_copies;
    erases: Whole = |_, run| run.erases;
    waf: Real = |_, run| run.waf;
    media_bytes_per_host_byte: Real = |_, run| run.media_bytes_per_host_byte;
    waf_last_tenth: Real = |_, run| run.waf_last_tenth;
    settling: Text = |_, run| run.settling.verdict.to_string();
    victim_valid_share: Optional = |_, run| run.victim_valid_share.mean;
    cold_region_share: Optional = |_, run| run.cold_region_share;
    response_mean_ns: Optional = |_, run| run.timing.as_ref().map(|time| time.response_ns.mean);
    response_p99_ns: Optional = |_, run| run.timing.as_ref().map(|time| time.response_ns.p99 as f64);
    seconds: Real = |_, run| run.seconds;
    result: Text = |stored, _| serde_json::to_string(&stored.result).unwrap_or_default();
};

fn labels_text(labels: &[(String, String)]) -> String {
    let object: serde_json::Map<_, _> =
        labels.iter().map(|(axis, value)| (axis.clone(), value.clone().into())).collect();
    serde_json::Value::Object(object).to_string()
}

fn schema(columns: impl Iterator<Item = &'static Column>) -> Result<TypePtr> {
    let fields: String = columns.map(|c| c.schema.replace('#', c.name) + ";\n").collect();
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
    for column in COLUMNS {
        let cells = runs
            .iter()
            .filter_map(|stored| stored.result.runs.first().map(|run| (column.value)(stored, run)));
        let Some(mut open) = group.next_column()? else { break };
        write_column(open.untyped(), cells)?;
        open.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(bytes)
}

fn write_column(writer: &mut ColumnWriter<'_>, cells: impl Iterator<Item = Cell>) -> Result<()> {
    let (mut texts, mut wholes, mut reals, mut present) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut is_optional = false;
    for cell in cells {
        match cell {
            Cell::Text(text) => texts.push(ByteArray::from(text.into_bytes())),
            Cell::Whole(number) => wholes.push(number.cast_signed()),
            Cell::Real(number) => reals.push(number),
            Cell::Optional(number) => {
                is_optional = true;
                present.push(i16::from(number.is_some()));
                reals.extend(number);
            }
        }
    }
    match writer {
        ColumnWriter::ByteArrayColumnWriter(writer) => writer.write_batch(&texts, None, None)?,
        ColumnWriter::Int64ColumnWriter(writer) => writer.write_batch(&wholes, None, None)?,
        ColumnWriter::DoubleColumnWriter(writer) => {
            let levels = is_optional.then_some(present.as_slice());
            writer.write_batch(&reals, levels, None)?
        }
        _ => return Err(ParquetError::General("a column of another type".into())),
    };
    Ok(())
}

/// What a file of runs begins with.
pub(super) enum Runs {
    /// Of each, its hash and the versions of what decided.
    Known(Vec<[String; 2]>),
    /// The number of runs of a program that had other columns.
    OfAnother(usize),
}

/// The runs in a file.
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

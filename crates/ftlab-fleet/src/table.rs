//! Rows as a Parquet file.

use crate::rows::Row;
use ftlab_experiments::ExperimentsError;
use ftlab_experiments::columns::{field, write_column};
use ftlab_sim::fact::{Column as Holds, Fact, Shown, Value};
use ftlab_sim::result::{RunEvidence, RunResult, shown};
use ftlab_trace::replace_file;
use ftlab_volumes::Facts;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Reads the value of a column from a row.
type Reads = Box<dyn Fn(&Row<'_>) -> Option<Value>>;

/// A column: its name, what it holds, and where its values come from.
type Column = (&'static str, Holds, Reads);

fn text(of: impl Fn(&Row<'_>) -> String + 'static) -> Reads {
    Box::new(move |row| Some(Value::Text { text: of(row), rank: 0.0 }))
}

fn number(of: impl Fn(&Row<'_>) -> Option<f64> + 'static) -> Reads {
    Box::new(move |row| of(row).map(Value::Real))
}

fn count(of: impl Fn(&Row<'_>) -> u64 + 'static) -> Reads {
    Box::new(move |row| Some(Value::Count(of(row))))
}

fn of_facts(of: fn(&Facts, f64) -> f64, page_bytes: f64) -> Reads {
    number(move |row| row.facts().map(|facts| of(facts, page_bytes)))
}

fn of_run(of: impl Fn(&RunResult) -> Option<f64> + 'static) -> Reads {
    number(move |row| of(&row.result?.run))
}

fn of_evidence(of: fn(&RunEvidence) -> f64) -> Reads {
    of_run(move |run| run.evidence.as_ref().map(of))
}

/// What tells a row, and what is in its volume.
fn of_volume(page_bytes: u32) -> Vec<Column> {
    let requests = |op: usize| count(move |row| row.volume.volume.requests[op]);
    let facts = |of: fn(&Facts, f64) -> f64| of_facts(of, f64::from(page_bytes));
    let own = |of: fn(&Facts) -> f64| number(move |row| row.own_facts().map(of));
    let members = |row: &Row<'_>| row.pack.map_or(1, |pack| pack.members.len() as u64);
    let days = |row: &Row<'_>| {
        let (first, last) = row.volume.volume.times_us?;
        Some(last.saturating_sub(first) as f64 / 1e6)
    };
    vec![
        ("volume", Holds::Text, text(|row| row.volume.volume.name.clone())),
        ("op_asked", Holds::Real, number(|row| Some(row.op_ratio))),
        ("ftl", Holds::Text, text(|row| row.ftl.to_owned())),
        ("state", Holds::Text, text(|row| row.state.name().to_owned())),
        ("why", Holds::Text, text(|row| row.why.clone())),
        ("write_requests", Holds::Whole, requests(0)),
        ("trim_requests", Holds::Whole, requests(1)),
        ("flush_requests", Holds::Whole, requests(2)),
        ("read_requests", Holds::Whole, requests(3)),
        ("seconds_of_trace", Holds::Optional, number(days)),
        ("requests_backwards", Holds::Whole, count(|row| row.volume.volume.backwards)),
        ("written_bytes", Holds::Optional, facts(|of, _| of.written_bytes as f64)),
        ("trimmed_bytes", Holds::Optional, facts(|of, _| of.trimmed_bytes as f64)),
        ("read_bytes", Holds::Optional, facts(|of, _| of.read_bytes as f64)),
        ("page_writes", Holds::Optional, facts(|of, _| of.page_writes as f64)),
        ("footprint_bytes", Holds::Optional, facts(|of, page| of.footprint_pages as f64 * page)),
        (
            "working_set_bytes",
            Holds::Optional,
            facts(|of, page| of.working_set_pages as f64 * page),
        ),
        ("updated_bytes", Holds::Optional, facts(|of, page| of.updated_pages as f64 * page)),
        ("top_1_percent", Holds::Optional, own(|of| of.top_1_percent)),
        ("top_10_percent", Holds::Optional, own(|of| of.top_10_percent)),
        ("top_20_percent", Holds::Optional, own(|of| of.top_20_percent)),
        ("sequential_share", Holds::Optional, own(|of| of.sequential)),
        (
            "update_interval_pages",
            Holds::Optional,
            number(|row| row.own_facts()?.update_interval.map(|pages| pages as f64)),
        ),
        ("packed_by", Holds::Text, text(|row| row.order().unwrap_or_default().to_owned())),
        ("draw", Holds::Optional, number(|row| row.pack?.draw.map(f64::from))),
        ("volumes_on_drive", Holds::Whole, count(members)),
        ("capacity_from", Holds::Text, text(|row| row.volume.size_from.clone())),
    ]
}

/// What came of a run. Times are left out: they differ from run to run.
fn of_result() -> Vec<Column> {
    let drive = |of: fn(&ftlab_sim::result::DriveSummary) -> f64| {
        number(move |row| row.result.map(|result| of(&result.drive)))
    };
    let hash = |of: fn(&crate::cells::CellResult) -> &String| {
        text(move |row| row.result.map(of).cloned().unwrap_or_default())
    };
    let standing = |row: &Row<'_>| {
        let standing = row.result.and_then(|result| Some(result.run.evidence.as_ref()?.standing));
        standing.map_or_else(String::new, |standing| format!("{standing:?}").to_lowercase())
    };
    let mut columns: Vec<Column> = vec![
        ("logical_bytes", Holds::Optional, drive(|of| of.logical_bytes as f64)),
        ("blocks", Holds::Optional, drive(|of| f64::from(of.blocks))),
        ("pages_per_block", Holds::Optional, drive(|of| f64::from(of.pages_per_block))),
        ("op_ratio", Holds::Optional, drive(|of| of.op_ratio)),
    ];
    let facts = shown(|shown| match *shown {
        Shown::Stored { at, name, column } if name != "seconds" => Some((at, (name, column))),
        _ => None,
    });
    columns.extend(facts.into_iter().map(|((name, holds), fact)| of_fact(name, holds, fact)));
    let judged: [Column; 7] = [
        ("standing", Holds::Text, text(standing)),
        ("headline_waf", Holds::Optional, of_run(|run| Some(run.headline_waf()))),
        ("drive_writes", Holds::Optional, of_evidence(|of| of.drive_writes)),
        ("erases_per_block", Holds::Optional, of_evidence(|of| of.erases_per_block)),
        ("reduction", Holds::Optional, number(|row| row.reduction)),
        ("trace_hash", Holds::Text, hash(|result| &result.trace_hash)),
        ("config_hash", Holds::Text, hash(|result| &result.run.config_hash)),
    ];
    columns.extend(judged);
    columns
}

/// A fact of a run. A row without a run has none of its numbers.
fn of_fact(name: &'static str, holds: Holds, fact: &'static Fact<RunResult>) -> Column {
    let value = move |row: &Row<'_>| row.result.and_then(|result| fact.of(&result.run));
    match holds {
        Holds::Text => (
            name,
            Holds::Text,
            text(move |row| value(row).map_or_else(String::new, |value| value.exact())),
        ),
        _ => (name, Holds::Optional, number(move |row| value(row).map(|value| value.number()))),
    }
}

/// Writes the rows; equal ones make equal bytes.
pub fn write_rows(rows: &[Row<'_>], page_bytes: u32, path: &Path) -> Result<(), ExperimentsError> {
    let bytes = encode(rows, page_bytes).map_err(|error| ExperimentsError::store(path, &error))?;
    Ok(replace_file(path, |file| file.write_all(&bytes))?)
}

fn encode(rows: &[Row<'_>], page_bytes: u32) -> Result<Vec<u8>, ParquetError> {
    let columns: Vec<Column> = of_volume(page_bytes).into_iter().chain(of_result()).collect();
    let fields: String = columns.iter().map(|(name, holds, _)| field(name, *holds)).collect();
    let schema = Arc::new(parse_message_type(&format!("message fleet {{ {fields} }}"))?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_created_by(ftlab_spec::written_by())
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (_, holds, value) in &columns {
        let Some(mut open) = group.next_column()? else { break };
        write_column(open.untyped(), *holds, rows.iter().map(value))?;
        open.close()?;
    }
    group.close()?;
    writer.into_inner()
}

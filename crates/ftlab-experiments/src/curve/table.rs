//! Curves as files: a row for each FTL and drive.

use super::curves::{CurvePoint, Curves};
use crate::columns::{field, write_column};
use crate::error::ExperimentsError;
use ftlab_sim::SimError;
use ftlab_sim::evidence::Standing;
use ftlab_sim::fact::{Column, Value};
use ftlab_trace::replace_file;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFile {
    /// As Parquet.
    Parquet,
    /// As lines of text, with commas between columns.
    Csv,
}

impl TableFile {
    /// By the end of its name.
    pub fn of(path: &Path) -> Result<Self, SimError> {
        let extension = path.extension().map(|text| text.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("parquet") => Ok(Self::Parquet),
            Some("csv") => Ok(Self::Csv),
            _ => Err(SimError::Unusable {
                what: format!("{} does not say which kind of table it is", path.display()),
                remedy: "end it in .parquet or .csv".into(),
            }),
        }
    }
}

const COLUMNS: [(&str, Column); 9] = [
    ("ftl", Column::Text),
    ("op_ratio", Column::Real),
    ("blocks", Column::Whole),
    ("waf", Column::Real),
    ("low", Column::Optional),
    ("high", Column::Optional),
    ("has_settled", Column::Whole),
    ("standing", Column::Text),
    ("samples", Column::Whole),
];

/// What a row has in each column.
fn cells(ftl: &str, point: &CurvePoint) -> [Option<Value>; 9] {
    let text = |text: &str| Some(Value::Text { text: text.into(), rank: 0.0 });
    let real = |number: f64| Some(Value::Real(number));
    let end = |of: usize| point.interval.map(|ends| Value::Real(ends[of]));
    let standing = match point.standing {
        Standing::Steady => "steady",
        Standing::Bound => "bound",
        Standing::Short => "short",
        Standing::None => "none",
    };
    [
        text(ftl),
        real(point.op_ratio),
        Some(Value::Count(point.blocks.into())),
        real(point.waf),
        end(0),
        end(1),
        Some(Value::Count(point.has_settled.into())),
        text(standing),
        Some(Value::Count(point.seen.len() as u64)),
    ]
}

/// Writes a row for each point; a file of this name is replaced.
pub fn write_table(curves: &Curves, path: &Path, kind: TableFile) -> Result<(), ExperimentsError> {
    let points = curves
        .curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(|point| cells(&curve.ftl, point)));
    let rows: Vec<_> = points.collect();
    let bytes = match kind {
        TableFile::Csv => csv(&rows).into_bytes(),
        TableFile::Parquet => {
            parquet(&rows).map_err(|error| ExperimentsError::store(path, &error))?
        }
    };
    Ok(replace_file(path, |file| file.write_all(&bytes))?)
}

fn csv(rows: &[[Option<Value>; 9]]) -> String {
    let names: Vec<_> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let mut text = names.join(",") + "\n";
    for row in rows {
        let cell = |cell: &Option<Value>| {
            let exact = cell.as_ref().map_or_else(String::new, Value::exact);
            if exact.contains(',') { format!("\"{exact}\"") } else { exact }
        };
        text += &row.iter().map(cell).collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    text
}

fn parquet(rows: &[[Option<Value>; 9]]) -> Result<Vec<u8>, ParquetError> {
    let fields: String = COLUMNS.iter().map(|(name, holds)| field(name, *holds)).collect();
    let schema = Arc::new(parse_message_type(&format!("message curve {{ {fields} }}"))?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_created_by(ftlab_spec::written_by())
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    let mut at = 0;
    while let Some(mut column) = group.next_column()? {
        let cells = rows.iter().map(|row| row[at].clone());
        write_column(column.untyped(), COLUMNS[at].1, cells)?;
        column.close()?;
        at += 1;
    }
    group.close()?;
    writer.into_inner()
}

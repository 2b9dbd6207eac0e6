//! Columns of Parquet, from values of facts.

use ftlab_sim::fact::{Column, Value};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};

/// The line of a column in the schema of its file.
pub fn field(name: &str, holds: Column) -> String {
    match holds {
        Column::Text => format!("required binary {name} (string);\n"),
        Column::Whole => format!("required int64 {name} (integer(64,false));\n"),
        Column::Real => format!("required double {name};\n"),
        Column::Optional => format!("optional double {name};\n"),
    }
}

/// Writes the cells of a column; only an optional one may lack some.
pub fn write_column(
    writer: &mut ColumnWriter<'_>,
    holds: Column,
    cells: impl Iterator<Item = Option<Value>>,
) -> Result<()> {
    let number = |cell: Option<Value>| cell.map(|value| value.number());
    match (writer, holds) {
        (ColumnWriter::ByteArrayColumnWriter(writer), Column::Text) => {
            let text = |value: Value| ByteArray::from(value.exact().into_bytes());
            let texts: Vec<_> = cells.flatten().map(text).collect();
            writer.write_batch(&texts, None, None)?
        }
        (ColumnWriter::Int64ColumnWriter(writer), Column::Whole) => {
            let wholes: Vec<_> = cells.flatten().map(|value| whole(&value)).collect();
            writer.write_batch(&wholes, None, None)?
        }
        (ColumnWriter::DoubleColumnWriter(writer), Column::Real) => {
            let reals: Vec<_> = cells.filter_map(number).collect();
            writer.write_batch(&reals, None, None)?
        }
        (ColumnWriter::DoubleColumnWriter(writer), Column::Optional) => {
            let numbers: Vec<_> = cells.map(number).collect();
            let present: Vec<_> = numbers.iter().map(|it| i16::from(it.is_some())).collect();
            let reals: Vec<_> = numbers.into_iter().flatten().collect();
            writer.write_batch(&reals, Some(&present), None)?
        }
        _ => return Err(ParquetError::General("a column of another type".into())),
    };
    Ok(())
}

/// A count as the signed number that Parquet stores it as.
fn whole(value: &Value) -> i64 {
    match value {
        Value::Count(count) => count.cast_signed(),
        other => other.number() as i64,
    }
}

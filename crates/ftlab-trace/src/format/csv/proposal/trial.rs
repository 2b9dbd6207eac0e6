//! What a map would read of the first rows of a table.

use super::super::delimiter::Delimiter;
use super::super::map::ColumnMap;
use super::super::rows::Rows;
use crate::input::LineSource;
use crate::pages::SECTOR_BYTES;
use crate::{Input, Op, OpenOptions, RequestBatch, TraceError, TraceSource};
use ftlab_spec::{ByteSize, Value};

/// Requests that are shown.
const SHOWN: usize = 3;

/// Lines that say what `map` reads of `text`; why not, if it does not.
pub(super) fn read(map: &str, text: &str, page_bytes: u32) -> Result<Vec<String>, String> {
    let failed = |error: String| format!("how to read it all, as the map {map} would not: {error}");
    let parsed = ColumnMap::parse(map).ok_or_else(|| failed("it is no map".into()))?;
    let batch = requests(parsed, text, page_bytes).map_err(|error| failed(error.to_string()))?;
    let mut lines: Vec<_> =
        (0..batch.len().min(SHOWN)).map(|index| request(&batch, index)).collect();
    let bytes = |wanted: Op| {
        let of = batch.iter().filter(|(op, ..)| *op == wanted);
        ByteSize(of.map(|(_, _, sectors)| u64::from(sectors) * SECTOR_BYTES).sum())
    };
    let span = match (batch.time_us.iter().min(), batch.time_us.iter().max()) {
        (Some(first), Some(last)) => format!(", in {} s", seconds(last - first)),
        _ => String::new(),
    };
    lines.push(format!(
        "{} requests of the first rows write {} and read {}{span}",
        batch.len(),
        bytes(Op::Write),
        bytes(Op::Read)
    ));
    Ok(lines)
}

fn requests(map: ColumnMap, text: &str, page_bytes: u32) -> Result<RequestBatch, TraceError> {
    let rows = Rows::new(map, Delimiter::Auto, page_bytes);
    let input = Input::from_bytes("the table", text.as_bytes().to_vec())?;
    let mut source = LineSource::new(input, rows, "csv".into(), &OpenOptions::default());
    let (mut all, mut batch) = (RequestBatch::new(), RequestBatch::new());
    while source.next_batch(&mut batch)? {
        all.extend_from(&batch);
    }
    Ok(all)
}

/// A request, such as `write of 4KiB at byte 8192, 0.1 s`.
fn request(batch: &RequestBatch, index: usize) -> String {
    let (op, lba, sectors) = (batch.op[index], batch.lba[index], batch.sectors[index]);
    let time =
        batch.time_us.get(index).map_or_else(String::new, |us| format!(", at {} s", seconds(*us)));
    if op == Op::Flush {
        return format!("flush{time}");
    }
    let size = ByteSize(u64::from(sectors) * SECTOR_BYTES);
    format!("{} of {size} at byte {}{time}", op.name(), u128::from(lba) * u128::from(SECTOR_BYTES))
}

/// Microseconds as seconds, exactly.
fn seconds(us: u64) -> String {
    let (whole, fraction) = (us / 1_000_000, us % 1_000_000);
    format!("{whole}.{fraction:06}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

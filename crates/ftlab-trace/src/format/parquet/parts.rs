//! Parquet files that were not finished, because the process that wrote them was killed.
//!
//! A Parquet file can be read only with the footer at its end. So after each group of rows the writer
//! adds a small footer of that group alone, which readers of finished files pass over. They lead from
//! the last one back to the start: before a group is the footer of the group before it.

use super::footer;
use crate::input::RandomAccess;
use bytes::Bytes;
use ftlab_spec::written_by;
use memchr::memmem;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{
    FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter,
    RowGroupMetaData,
};
use parquet::file::reader::{ChunkReader, Length};
use std::io::{Chain, Cursor, Read, Take};

/// Says why a file ends early.
pub(crate) const CUT_PROPERTY: &str = "ftlab.cut";
/// Marks a footer that is of one group only.
const PART_PROPERTY: &str = "ftlab.part";
/// What a file begins and ends with, and every footer ends with.
const MAGIC: &[u8; 4] = b"PAR1";
/// Bytes in which a footer is looked for at a time.
const WINDOW_BYTES: u64 = 1 << 20;

/// The footer of a group alone.
#[cfg(feature = "write")]
pub(crate) fn part_footer_of(
    group: &RowGroupMetaData,
    mut pairs: Vec<KeyValue>,
) -> Result<Vec<u8>> {
    pairs.push(KeyValue::new(PART_PROPERTY.to_owned(), Some("1".to_owned())));
    footer_of(vec![group.clone()], pairs)
}

/// The footer of a file of these groups.
pub(crate) fn footer_of(groups: Vec<RowGroupMetaData>, pairs: Vec<KeyValue>) -> Result<Vec<u8>> {
    let schema = groups.first().map(RowGroupMetaData::schema_descr_ptr);
    let schema = schema.ok_or_else(|| ParquetError::General("there is no group".into()))?;
    let rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
    let created_by = Some(written_by());
    let file = FileMetaData::new(1, rows, created_by, Some(pairs), schema, None);
    let mut footer = Vec::new();
    ParquetMetaDataWriter::new(&mut footer, &ParquetMetaData::new(file, groups)).finish()?;
    Ok(footer)
}

/// An unfinished file with the footer that it lacks.
pub(super) struct Recovered {
    pub(super) file: RandomAccess,
    /// Bytes of the file that count.
    pub(super) data_bytes: u64,
    pub(super) footer: Bytes,
}

/// Whether a file was not finished.
pub(super) fn is_unfinished(file: &impl ChunkReader) -> bool {
    match footer::footer(file) {
        Some((_, footer)) => memmem::find(&footer, PART_PROPERTY.as_bytes()).is_some(),
        None => true,
    }
}

/// Where the data of an unfinished file ends, and the footer that it lacks; `None` if no group is whole,
/// and an error if one of them is damaged.
pub(super) fn find(file: &impl ChunkReader) -> Option<Result<(u64, Bytes)>> {
    last_part(file).map(|last| {
        let (data_bytes, pairs) = (last.start, last.pairs.clone());
        let footer = footer_of(groups_to(file, last)?, pairs)?;
        Ok((data_bytes, footer.into()))
    })
}

/// All groups up to the last one.
fn groups_to(file: &impl ChunkReader, last: Part) -> Result<Vec<RowGroupMetaData>> {
    let mut groups = Vec::new();
    let mut part = last;
    loop {
        let start = part.group.columns().iter().map(|column| column.byte_range().0).min();
        groups.push(part.group);
        match start {
            Some(start) if start == MAGIC.len() as u64 => break,
            Some(start) if start < part.start => {
                let before = part_ending_at(file, start);
                let why = || format!("the footer that ends at byte {start} is damaged");
                part = before.ok_or_else(|| ParquetError::General(why()))?;
            }
            _ => return Err(ParquetError::General("a group has no place".into())),
        }
    }
    groups.reverse();
    Ok(groups)
}

/// A group with a footer of its own.
struct Part {
    /// Where its footer begins.
    start: u64,
    group: RowGroupMetaData,
    pairs: Vec<KeyValue>,
}

/// The last group with a whole footer; what follows it was being written.
fn last_part(file: &impl ChunkReader) -> Option<Part> {
    let mut end = file.len();
    while end > MAGIC.len() as u64 {
        let start = end.saturating_sub(WINDOW_BYTES);
        let window = file.get_bytes(start, (end - start) as usize).ok()?;
        let found = memmem::rfind_iter(&window, MAGIC)
            .find_map(|at| part_ending_at(file, start + (at + MAGIC.len()) as u64));
        if found.is_some() || start == 0 {
            return found;
        }
        // The letters may lie on both sides.
        end = start + MAGIC.len() as u64 - 1;
    }
    None
}

fn part_ending_at(file: &impl ChunkReader, end: u64) -> Option<Part> {
    let (start, bytes) = footer::ending_at(file, end)?;
    memmem::find(&bytes, PART_PROPERTY.as_bytes())?;
    footer::check_bytes(&bytes).ok()?;
    let metadata = ParquetMetaDataReader::decode_metadata(&bytes).ok()?;
    let pairs = metadata.file_metadata().key_value_metadata().cloned().unwrap_or_default();
    let pairs = pairs.into_iter().filter(|pair| pair.key != PART_PROPERTY).collect();
    let [group] = metadata.row_groups() else { return None };
    Some(Part { start, group: group.clone(), pairs })
}

impl Length for Recovered {
    fn len(&self) -> u64 {
        self.data_bytes + self.footer.len() as u64
    }
}

impl ChunkReader for Recovered {
    type T = Chain<Take<Box<dyn Read>>, Cursor<Bytes>>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let data_bytes = self.data_bytes.saturating_sub(start);
        let footer = self.footer.slice(start.saturating_sub(self.data_bytes) as usize..);
        let data = self.file.get_read(start.min(self.data_bytes))?.take(data_bytes);
        Ok(data.chain(Cursor::new(footer)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start + length as u64 <= self.data_bytes {
            return self.file.get_bytes(start, length);
        }
        let mut bytes = vec![0; length];
        self.get_read(start)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        CreateOptions, Input, Op, OpenOptions, RequestBatch, TraceError, create, open_input,
    };
    use std::collections::BTreeSet;
    use std::fs;

    const GROUP_ROWS: usize = 64;

    /// What is in the file after some whole groups and a few rows more.
    fn unfinished(groups: usize) -> Vec<u8> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.parquet");
        let options = CreateOptions { group_rows: Some(GROUP_ROWS), ..CreateOptions::default() };
        let mut sink = create(&path, &options).unwrap();
        sink.annotate("ftl", "2r++".to_owned());
        for row in 0..(groups * GROUP_ROWS + 10) as u64 {
            let mut batch = RequestBatch::new();
            batch.push_at(row, Op::Write, row * 8, 8);
            sink.write(&batch).unwrap();
        }
        fs::read(crate::PartialFile::provisional(&path)).unwrap()
    }

    /// Rows of a file, which are checked, and whether its end is missing.
    fn read(bytes: &[u8]) -> Result<(usize, bool), TraceError> {
        let input = Input::from_bytes("t", bytes.to_vec())?;
        let mut source = open_input(input, &OpenOptions::default())?;
        assert_eq!(source.metadata().properties.get("ftl").map(String::as_str), Some("2r++"));
        let (mut batch, mut rows) = (RequestBatch::new(), 0);
        while source.next_batch(&mut batch)? {
            assert!(batch.lba.iter().zip(rows as u64..).all(|(lba, row)| *lba == row * 8));
            rows += batch.len();
        }
        assert_eq!(source.metadata().requests, Some(rows as u64));
        Ok((rows, !source.skipped().is_empty()))
    }

    #[test]
    fn a_file_cut_anywhere_has_its_whole_groups() {
        let bytes = unfinished(4);
        let mut found = BTreeSet::new();
        for end in 0..=bytes.len() {
            match read(&bytes[..end]) {
                Ok((rows, is_cut)) => {
                    assert!(is_cut);
                    found.insert(rows);
                }
                Err(_) => assert!(found.is_empty(), "{end}"),
            }
        }
        let whole: Vec<_> = (1..=4).map(|groups| groups * GROUP_ROWS).collect();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), whole);
    }

    #[test]
    fn what_follows_the_last_group_is_passed_over() {
        let mut bytes = unfinished(3);
        bytes.extend(b"PAR1 and rubbish PAR1".repeat(100_000));
        assert_eq!(read(&bytes).unwrap(), (3 * GROUP_ROWS, true));
    }

    #[test]
    fn damage_in_between_is_an_error() {
        let mut bytes = unfinished(3);
        let key = b"ftlab.part";
        let first = bytes.windows(key.len()).position(|window| window == key).unwrap();
        bytes[first] ^= 1;
        let error = read(&bytes).unwrap_err().to_string();
        assert!(error.contains("the footer that ends at byte"), "{error}");
    }
}

//! Binary traces: one record, one request (or none, or two).

use super::source::{ItemParser, ItemSource, Items};
use super::tally::Unit;
use crate::{Input, OpenOptions, TraceError};
use std::io::{ErrorKind, Read};

const BUFFER_BYTES: usize = 256 * 1024;

/// Cuts bytes into records within one buffer, whatever the sizes of the reads.
pub(crate) struct Records {
    name: String,
    reader: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes before `start`.
    offset: u64,
}

impl Records {
    pub(crate) fn new(input: Input) -> Self {
        Self {
            name: input.name().into(),
            reader: input.into_reader(),
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            offset: 0,
        }
    }

    /// The next `bytes` bytes without moving on (at most 64 KiB); `None` at the end, and an error
    /// if fewer are left.
    #[inline]
    pub(crate) fn peek(&mut self, bytes: usize) -> Result<Option<&[u8]>, TraceError> {
        while self.end - self.start < bytes {
            if !self.refill()? {
                if self.start == self.end {
                    return Ok(None);
                }
                return Err(self.cut_short(bytes));
            }
        }
        Ok(Some(&self.buffer[self.start..self.start + bytes]))
    }

    /// Moves on by `bytes` bytes, which [`Self::peek`] has shown.
    #[inline]
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.start += bytes;
        self.offset += bytes as u64;
    }

    /// The next `bytes` bytes; otherwise as [`Self::peek`].
    #[inline]
    fn next(&mut self, bytes: usize) -> Result<Option<&[u8]>, TraceError> {
        if self.peek(bytes)?.is_none() {
            return Ok(None);
        }
        self.advance(bytes);
        Ok(Some(&self.buffer[self.start - bytes..self.start]))
    }

    /// Bytes before the next record.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads more; `false` at the end of the file.
    #[cold]
    fn refill(&mut self) -> Result<bool, TraceError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(bytes) => {
                    self.end += bytes;
                    return Ok(bytes > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(TraceError::io(&self.name, error)),
            }
        }
    }

    fn cut_short(&self, bytes: usize) -> TraceError {
        TraceError::Damaged {
            name: self.name.clone(),
            what: format!(
                "{} bytes are left at byte {}, where a record of {bytes} begins",
                self.end - self.start,
                self.offset
            ),
            remedy: "the file is cut short, or is of another format; check --format".into(),
        }
    }
}

/// Cuts bytes into records of one size.
pub struct FixedRecords {
    records: Records,
    bytes: usize,
}

impl Items for FixedRecords {
    #[inline]
    fn next(&mut self) -> Result<Option<&[u8]>, TraceError> {
        self.records.next(self.bytes)
    }
}

/// A reader of records of one size made of a parser of records.
pub type RecordSource<P> = ItemSource<FixedRecords, P>;

impl<P: ItemParser> RecordSource<P> {
    /// Reads records of `bytes` bytes from `input` with `parser`; `format` is how the parser can be
    /// asked for again.
    pub fn new(
        input: Input,
        bytes: usize,
        parser: P,
        format: String,
        options: &OpenOptions,
    ) -> Self {
        let records = |input| FixedRecords { records: Records::new(input), bytes };
        Self::of(input, records, Unit::Record, parser, format, options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_do_not_depend_on_the_sizes_of_reads() {
        let bytes: Vec<u8> = (0..BUFFER_BYTES * 3).map(|n| (n % 251) as u8).collect();
        let mut records = Records::new(Input::from_bytes("test", bytes.clone()).unwrap());
        let mut all = Vec::new();
        // 7 does not divide the buffer, so that some records lie across its end.
        while all.len() + 7 <= bytes.len() {
            all.extend_from_slice(records.peek(7).unwrap().unwrap());
            records.advance(7);
        }
        assert_eq!(all, bytes[..all.len()]);
        let left = bytes.len() - all.len();
        let error = records.peek(7).unwrap_err().to_string();
        assert!(error.contains(&format!("test: {left} bytes are left at byte ")), "{error}");
    }
}

//! Traces of caches as requests for objects.

mod columns;
mod lines;
mod records;

use super::access::{Access, Accesses, Ask};
use super::parameters::{CacheLibParameters, TraceFormat};
use crate::parts::seed_of;
use columns::{DELETE, SET};
use ftlab_trace::{
    Input, LineSource, OpenOptions, RecordSource, RequestBatch, TraceError, TraceSource,
};
use lines::{Meta, Twitter};
use records::Record;
use std::path::{Path, PathBuf};

/// A trace of a cache, once or again and again.
pub(super) struct Trace {
    path: PathBuf,
    format: TraceFormat,
    repeats: bool,
    copies: u64,
    seed: u64,
    source: Box<dyn TraceSource>,
    batch: RequestBatch,
    /// The request of `batch` that is next, and how often it has been asked.
    used: usize,
    asked: u64,
}

impl Trace {
    pub(super) fn open(parameters: &CacheLibParameters, seed: u64) -> Result<Self, TraceError> {
        let path = PathBuf::from(parameters.file.as_str());
        Ok(Self {
            source: open(&path, parameters.format)?,
            path,
            format: parameters.format,
            repeats: parameters.repeat,
            copies: u64::from(parameters.copies),
            seed: seed_of(seed, 2),
            batch: RequestBatch::new(),
            used: 0,
            asked: 0,
        })
    }

    /// Makes sure that a request waits; false at the end.
    fn refill(&mut self) -> Result<bool, TraceError> {
        while self.used == self.batch.len() {
            (self.used, self.asked) = (0, 0);
            // A trace without any request is an error of its reader, so that a new beginning is one.
            if !self.source.next_batch(&mut self.batch).map_err(without_tolerance)? {
                if !self.repeats {
                    return Ok(false);
                }
                self.source = open(&self.path, self.format)?;
            }
        }
        Ok(true)
    }
}

impl Accesses for Trace {
    fn next(&mut self, out: &mut Vec<Access>) -> Result<bool, TraceError> {
        while out.len() < out.capacity() && self.refill()? {
            let index = self.used;
            // All copies ask before one asks again.
            let object = seed_of(self.seed ^ self.batch.lba[index], self.asked % self.copies);
            let ask = match self.batch.stream[index] {
                SET => Ask::Set,
                DELETE => Ask::Delete,
                _ => Ask::Get,
            };
            out.push(Access { key: object, bytes: self.batch.sectors[index], ask });
            self.asked += 1;
            if self.asked == u64::from(self.batch.volume[index]) * self.copies {
                (self.used, self.asked) = (index + 1, 0);
            }
        }
        Ok(!out.is_empty())
    }
}

/// The error of a wrong line, without the advice to tolerate some: nothing would tell how many there were.
fn without_tolerance(error: TraceError) -> TraceError {
    match error {
        TraceError::Malformed { name, unit, line, text, expected } => TraceError::Unsupported {
            what: format!("{name}, {unit} {line}: {text:?}"),
            remedy: format!("it should be {expected}; correct it, or leave it out"),
        },
        other => other,
    }
}

fn open(path: &Path, format: TraceFormat) -> Result<Box<dyn TraceSource>, TraceError> {
    let input = Input::open(path)?;
    let options = OpenOptions { need_time: false, ..OpenOptions::default() };
    let format = if format == TraceFormat::Auto { recognise(&input)? } else { format };
    let name = format.to_string();
    Ok(match format {
        TraceFormat::Meta => Box::new(LineSource::new(input, Meta::default(), name, &options)),
        TraceFormat::Twitter => Box::new(LineSource::new(input, Twitter, name, &options)),
        _ => Box::new(RecordSource::new(input, records::BYTES, Record, name, &options)),
    })
}

/// The format that the first line shows, or else the name.
fn recognise(input: &Input) -> Result<TraceFormat, TraceError> {
    let first = input.head().split(|byte| *byte == b'\n').next().unwrap_or_default();
    if lines::Columns::of(first).is_some() {
        return Ok(TraceFormat::Meta);
    }
    if lines::twitter(first).is_some() {
        return Ok(TraceFormat::Twitter);
    }
    if ftlab_trace::format::unpacked_extension(input) == "oracleGeneral" {
        return Ok(TraceFormat::OracleGeneral);
    }
    Err(TraceError::Unsupported {
        what: format!(
            "{}: neither a header with key, op and size (Meta), nor seven fields with an operation in the sixth \
             (Twitter), nor a name that ends in .oracleGeneral",
            input.name()
        ),
        remedy: "give format=meta, twitter or oracle-general".into(),
    })
}

#[cfg(test)]
mod tests;

//! Text traces: one line, one request (or none, or two).

use super::Progress;
use super::tally::{Tally, Unit, Verdict};
use crate::{Input, OpenOptions, RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource};
use memchr::memchr;
use std::io::{ErrorKind, Read};

/// Longest line that is read; the text formats stay far below.
const LINE_BYTES_MAX: usize = 64 * 1024;
const BUFFER_BYTES: usize = 256 * 1024;

/// The part of a text reader that differs between formats.
pub(crate) trait LineParser: Send {
    /// Parses a line without its line end; pushes requests with their time, or nothing unless it
    /// returns [`Verdict::Parsed`].
    fn parse(&mut self, line: &[u8], batch: &mut RequestBatch) -> Verdict;

    /// Names of the volumes by number, as far as read; empty where the number is the name.
    fn volumes(&self) -> &[String] {
        &[]
    }
}

/// A reader of lines made of a parser of lines.
pub(crate) struct LineSource<P> {
    lines: Lines,
    parser: P,
    metadata: TraceMetadata,
    tally: Tally,
    need_time: bool,
    progress: Progress,
}

impl<P: LineParser> LineSource<P> {
    /// Reads `input` with `parser`; `format` is how the parser can be asked for again.
    pub(crate) fn new(input: Input, parser: P, format: String, options: &OpenOptions) -> Self {
        Self {
            progress: input.progress(),
            tally: Tally::new(input.name(), Unit::Line, options),
            lines: Lines::new(input),
            parser,
            metadata: TraceMetadata { format, ..TraceMetadata::default() },
            need_time: options.need_time,
        }
    }
}

impl<P: LineParser> TraceSource for LineSource<P> {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        while !batch.is_full() {
            let Some(line) = self.lines.next()? else { break };
            self.tally.next(line, batch, |batch| self.parser.parse(line, batch))?;
        }
        if batch.is_empty() {
            self.tally.finish()?;
        }
        if !self.need_time {
            batch.time_us.clear();
        }
        Ok(!batch.is_empty())
    }

    fn skipped(&self) -> &Skipped {
        &self.tally.skipped
    }

    fn volumes(&self) -> &[String] {
        self.parser.volumes()
    }

    fn progress(&self) -> Option<f64> {
        self.progress.share()
    }
}

/// Cuts bytes into lines within one buffer, whatever the sizes of the reads.
struct Lines {
    name: String,
    reader: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    number: u64,
}

impl Lines {
    fn new(input: Input) -> Self {
        Self {
            name: input.name().into(),
            reader: input.into_reader(),
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            at_end: false,
            number: 0,
        }
    }

    /// The next line without its line end.
    #[inline]
    fn next(&mut self) -> Result<Option<&[u8]>, TraceError> {
        let mut searched = self.start;
        let (line_end, next_start) = loop {
            if let Some(offset) = memchr(b'\n', &self.buffer[searched..self.end]) {
                break (searched + offset, searched + offset + 1);
            }
            if self.at_end {
                if self.start == self.end {
                    return Ok(None);
                }
                break (self.end, self.end);
            }
            let unsearched = self.end - self.start;
            self.refill()?;
            searched = self.start + unsearched;
        };
        let line = &self.buffer[self.start..line_end];
        self.start = next_start;
        self.number += 1;
        if line.len() > LINE_BYTES_MAX {
            return Err(self.too_long());
        }
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    #[cold]
    fn refill(&mut self) -> Result<(), TraceError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end > LINE_BYTES_MAX {
            self.number += 1;
            return Err(self.too_long());
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(bytes) => self.end += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(TraceError::io(&self.name, error)),
            }
            return Ok(());
        }
    }

    fn too_long(&self) -> TraceError {
        TraceError::Damaged {
            name: self.name.clone(),
            what: format!("line {} is longer than {LINE_BYTES_MAX} bytes", self.number),
            remedy: "this is not a text trace; check --format".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// Hands out one byte at a time.
    struct Trickle(Vec<u8>);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() || buffer.is_empty() {
                return Ok(0);
            }
            buffer[0] = self.0.remove(0);
            Ok(1)
        }
    }

    fn cut(input: Input) -> Result<Vec<Vec<u8>>, TraceError> {
        let mut lines = Lines::new(input);
        let mut all = Vec::new();
        while let Some(line) = lines.next()? {
            all.push(line.to_vec());
        }
        Ok(all)
    }

    #[test]
    fn lines_do_not_depend_on_the_sizes_of_reads() {
        let text = b"one\r\n\ntwo\nlast without end";
        let whole = cut(Input::from_bytes("whole", text.to_vec()).unwrap()).unwrap();
        assert_eq!(whole.len(), 4);
        assert_eq!(whole[0], b"one");
        assert_eq!(whole[3], b"last without end");
        let input = Input::from_reader("trickle", Trickle(text.to_vec())).unwrap();
        assert_eq!(cut(input).unwrap(), whole);
    }

    #[test]
    fn a_buffer_is_refilled_in_the_middle_of_a_line() {
        let mut text = String::new();
        for n in 0..100_000 {
            writeln!(text, "line {n}").unwrap();
        }
        let lines = cut(Input::from_bytes("big", text.into_bytes()).unwrap()).unwrap();
        assert_eq!(lines.len(), 100_000);
        assert!(lines.iter().enumerate().all(|(n, line)| *line == *format!("line {n}").as_bytes()));
    }

    #[test]
    fn a_line_without_end_is_an_error_in_bounded_memory() {
        let endless = Input::from_reader("endless", std::io::repeat(b'x')).unwrap();
        let error = cut(endless).unwrap_err().to_string();
        assert!(error.contains("endless: line 1 is longer than 65536 bytes"), "{error}");
    }
}

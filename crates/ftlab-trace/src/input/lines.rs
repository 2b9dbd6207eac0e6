//! Text traces: one line, one request (or none, or two).

use super::source::{ItemParser, ItemSource, Items};
use super::tally::Unit;
use crate::{Input, OpenOptions, TraceError};
use memchr::memchr;
use std::io::{ErrorKind, Read};

/// Longest line that is read; the text formats stay far below.
const LINE_BYTES_MAX: usize = 64 * 1024;
const BUFFER_BYTES: usize = 256 * 1024;

/// A reader of lines made of a parser of lines without their line ends.
pub type LineSource<P> = ItemSource<Lines, P>;

impl<P: ItemParser> LineSource<P> {
    /// Reads `input` with `parser`; `format` is how the parser can be asked for again.
    pub fn new(input: Input, parser: P, format: String, options: &OpenOptions) -> Self {
        Self::of(input, Lines::new, Unit::Line, parser, format, options)
    }
}

/// Cuts bytes into lines within one buffer, whatever the sizes of the reads.
pub struct Lines {
    name: String,
    reader: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    number: u64,
    /// Whether a last line without its end is not to be trusted.
    is_unfinished: bool,
}

impl Items for Lines {
    /// The next line without its line end.
    #[inline]
    fn next(&mut self) -> Result<Option<&[u8]>, TraceError> {
        let mut searched = self.start;
        let (line_end, next_start) = loop {
            if let Some(offset) = memchr(b'\n', &self.buffer[searched..self.end]) {
                break (searched + offset, searched + offset + 1);
            }
            if self.at_end {
                if self.start == self.end || self.is_unfinished {
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
}

impl Lines {
    fn new(input: Input) -> Self {
        Self {
            name: input.name().into(),
            is_unfinished: input.is_unfinished(),
            reader: input.into_reader(),
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            at_end: false,
            number: 0,
        }
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
    fn the_torn_line_of_an_unfinished_file_is_left_out() {
        let packed = zstd::encode_all(&b"one\ntwo\nthr"[..], 1).unwrap();
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        std::io::Write::write_all(&mut encoder, b"one\ntwo\nthr").unwrap();
        std::io::Write::flush(&mut encoder).unwrap();
        let without_end = encoder.get_ref().clone();
        for (name, bytes) in [
            ("t.partial", b"one\ntwo\nthr".to_vec()),
            ("t.zst.partial", packed),
            ("t.zst.partial", without_end),
        ] {
            let lines = cut(Input::from_bytes(name, bytes).unwrap()).unwrap();
            assert_eq!(lines, [b"one", b"two"], "{name}");
        }
    }

    #[test]
    fn packed_lines_of_an_unfinished_file_are_read_as_far_as_they_go() {
        let mut text = String::new();
        for n in 0..100_000_u64 {
            writeln!(text, "line {}", n * n).unwrap();
        }
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, text.as_bytes()).unwrap();
        let packed = [gzip.finish().unwrap(), zstd::encode_all(text.as_bytes(), 1).unwrap()];
        for bytes in packed {
            let half = bytes[..bytes.len() / 2].to_vec();
            let lines = cut(Input::from_bytes("t.partial", half.clone()).unwrap()).unwrap();
            assert!((10_000..100_000).contains(&lines.len()), "{}", lines.len());
            let whole = text.lines().map(str::as_bytes);
            assert!(lines.iter().zip(whole).all(|(line, whole)| line == whole));
            cut(Input::from_bytes("t", half).unwrap()).unwrap_err();
        }
    }

    #[test]
    fn a_line_without_end_is_an_error_in_bounded_memory() {
        let endless = Input::from_reader("endless", std::io::repeat(b'x')).unwrap();
        let error = cut(endless).unwrap_err().to_string();
        assert!(error.contains("endless: line 1 is longer than 65536 bytes"), "{error}");
    }
}

//! `fio-iolog`: what fio writes with `write_iolog` and replays with `read_iolog`.
//!
//! ```text
//! fio version 2 iolog              fio version 3 iolog
//! /dev/sdb add                     0 /dev/sdb add
//! /dev/sdb write 81920 4096        153 /dev/sdb trim 0 65536
//! /dev/sdb wait 100                TIME FILE ACTION OFFSET LENGTH
//! ```
//!
//! Offsets and lengths are bytes; a write or read that is not made of whole sectors counts for
//! every sector it touches, a trim for those it covers. `sync` and `datasync` are flushes. Version
//! 3 has a time per line, in microseconds; some tools write nanoseconds there, which no content
//! tells apart (`time=ns`). In version 2 time is the sum of the waits, in microseconds.
//!
//! Each file has addresses from 0, so a second file with requests is refused unless `file-bytes`
//! lays the files side by side, in order of first mention.

use super::FormatInfo;
use super::fields::{Fields, decimal, sectors_of_bytes};
use crate::input::{LineParser, LineSource, Verdict};
use crate::pages::SECTOR_BYTES;
use crate::quantity::Bytes;
use crate::{Input, Op, OpenOptions, RequestBatch, TraceError, TraceSource};
use ftlab_spec::{Parameters, Spec};

ftlab_spec::choices! {
    /// Unit of the times of version 3.
    pub enum TimeUnit {
        /// Microseconds.
        Us = "us",
        /// Nanoseconds.
        Ns = "ns",
    }
}

ftlab_spec::parameters! {
    /// How times and files are read.
    pub struct FioIologParameters {
        /// Unit of the times of version 3.
        time: TimeUnit = TimeUnit::Us, "time", from "fio 3.33 writes microseconds";
        /// Bytes given to each file, in order of first mention; 0 refuses a second file.
        file_bytes: Bytes = Bytes(0), "file-bytes", from "our reading: files have addresses of their own";
    }
}

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "fio-iolog",
    extensions: &["iolog"],
    summary: "fio's write_iolog, versions 2 and 3",
    source: "fio(1), trace file format",
    parameters: FioIologParameters::describe,
    detect: |head| head.starts_with(b"fio version "),
    open,
};

fn open(
    input: Input,
    spec: &Spec,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    let FioIologParameters { time, file_bytes } = FioIologParameters::from_spec(spec)?;
    if !file_bytes.0.is_multiple_of(SECTOR_BYTES) {
        return Err(TraceError::Unsupported {
            what: format!("file-bytes={file_bytes} is not a multiple of 512"),
            remedy: "round it up".into(),
        });
    }
    let parser = Parser {
        version: None,
        ticks_per_us: if time == TimeUnit::Ns { 1000 } else { 1 },
        waited_us: 0,
        file_sectors: file_bytes.0 / SECTOR_BYTES,
        files: Vec::new(),
    };
    Ok(Box::new(LineSource::new(input, parser, spec.to_string(), options)))
}

struct Parser {
    /// From the first line.
    version: Option<u32>,
    ticks_per_us: u64,
    waited_us: u64,
    /// 0 refuses a second file.
    file_sectors: u64,
    /// Names of the files that have requests, in order of their first.
    files: Vec<Vec<u8>>,
}

const EXPECTED_2: &str = "\"FILE ACTION OFFSET LENGTH\" with ACTION one of write, read, trim, sync, \
                          datasync, wait, add, open, close";
const EXPECTED_3: &str = "\"TIME FILE ACTION OFFSET LENGTH\" with ACTION one of write, read, trim, \
                          sync, datasync, add, open, close";

impl LineParser for Parser {
    #[inline]
    fn parse(&mut self, line: &[u8], batch: &mut RequestBatch) -> Verdict {
        let mut fields = Fields::new(line);
        let time_us = match self.version {
            None => return self.header(line),
            Some(2) => self.waited_us,
            Some(_) => match fields.next().map(decimal) {
                None => return Verdict::Skip("blank line"),
                Some(None) => return Verdict::Bad(EXPECTED_3),
                Some(Some(ticks)) => ticks / self.ticks_per_us,
            },
        };
        let (file, action) = match (fields.next(), fields.next()) {
            (Some(file), Some(action)) => (file, action),
            (None, _) => return Verdict::Skip("blank line"),
            _ => return Verdict::Bad(self.expected()),
        };
        let op = match action {
            b"write" => Op::Write,
            b"read" => Op::Read,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" => {
                batch.push_at(time_us, Op::Flush, 0, 0);
                return Verdict::Parsed;
            }
            b"wait" => return self.wait(fields.next()),
            b"add" | b"open" | b"close" => return Verdict::Skip("add, open or close"),
            _ => return Verdict::Bad(self.expected()),
        };
        let extent = (fields.next().and_then(decimal), fields.next().and_then(decimal));
        let (Some(offset), Some(bytes)) = extent else {
            return Verdict::Bad(self.expected());
        };
        let Some((sector, sectors)) = sectors_of_bytes(offset, bytes, op != Op::Trim) else {
            return Verdict::Bad("an end below 2^64 bytes and a length below 2 TiB");
        };
        match self.lay_out(file, sector, sectors) {
            Ok(lba) => {
                batch.push_at(time_us, op, lba, sectors);
                Verdict::Parsed
            }
            Err(verdict) => verdict,
        }
    }
}

impl Parser {
    fn header(&mut self, line: &[u8]) -> Verdict {
        self.version = match line.trim_ascii_end() {
            b"fio version 2 iolog" => Some(2),
            b"fio version 3 iolog" => Some(3),
            _ => None,
        };
        match self.version {
            Some(_) => Verdict::Skip("header"),
            None => Verdict::Refuse {
                reason: format!(
                    "the first line is {:?}, not \"fio version 2 iolog\" or version 3",
                    crate::error::excerpt(line)
                ),
                remedy: "write the log with fio 2 or later, or add that line".into(),
            },
        }
    }

    fn expected(&self) -> &'static str {
        if self.version == Some(2) { EXPECTED_2 } else { EXPECTED_3 }
    }

    fn wait(&mut self, us: Option<&[u8]>) -> Verdict {
        if self.version != Some(2) {
            return Verdict::Skip("wait, which version 3 does not have");
        }
        match us.and_then(decimal).and_then(|us| self.waited_us.checked_add(us)) {
            Some(waited_us) => {
                self.waited_us = waited_us;
                Verdict::Skip("wait")
            }
            None => Verdict::Bad("\"FILE wait MICROSECONDS\""),
        }
    }

    /// Where a request of `file` lies on the drive.
    #[inline]
    fn lay_out(&mut self, file: &[u8], sector: u64, sectors: u32) -> Result<u64, Verdict> {
        let index = match self.files.iter().position(|known| known == file) {
            Some(index) => index,
            None => self.add_file(file)?,
        };
        if self.file_sectors == 0 {
            return Ok(sector);
        }
        // Both sums fit: bytes below 2^64 are sectors below 2^55.
        if sector + u64::from(sectors) > self.file_sectors {
            let end_bytes = (sector + u64::from(sectors)).saturating_mul(SECTOR_BYTES);
            return Err(Verdict::Refuse {
                reason: format!(
                    "the request ends at byte {end_bytes} of its file, beyond file-bytes={}",
                    Bytes(self.file_sectors * SECTOR_BYTES)
                ),
                remedy: "raise file-bytes to the size of the largest file".into(),
            });
        }
        let base = (index as u64).checked_mul(self.file_sectors);
        base.and_then(|base| base.checked_add(sector))
            .ok_or(Verdict::Bad("fewer files, or a smaller file-bytes"))
    }

    #[cold]
    fn add_file(&mut self, file: &[u8]) -> Result<usize, Verdict> {
        if let (Some(first), 0) = (self.files.first(), self.file_sectors) {
            return Err(Verdict::Refuse {
                reason: format!(
                    "requests for {:?} follow requests for {:?}",
                    crate::error::excerpt(file),
                    crate::error::excerpt(first)
                ),
                remedy: "lay the files side by side with --format fio-iolog:file-bytes=SIZE, the \
                         size of the largest"
                    .into(),
            });
        }
        self.files.push(file.to_owned());
        Ok(self.files.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_text;
    use super::*;

    fn parse(lines: &str, parameters: &str) -> Result<(RequestBatch, String), String> {
        let format = Some(format!("fio-iolog{parameters}"));
        read_text(lines, &OpenOptions { format, ..OpenOptions::default() })
    }

    #[test]
    fn version_2_sums_its_waits() {
        let text = "fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x write 81920 4096\n\
                    /dev/x wait 100\n/dev/x datasync 0 0\n/dev/x trim 100 2000\n/dev/x close\n";
        let (batch, skipped) = parse(text, "").unwrap();
        assert_eq!(batch.time_us, [0, 100, 100]);
        let expected = [(Op::Write, 160, 8), (Op::Flush, 0, 0), (Op::Trim, 1, 3)];
        assert_eq!(batch.iter().collect::<Vec<_>>(), expected);
        assert!(skipped.contains("3 x add, open or close, first line 2"), "{skipped}");
    }

    #[test]
    fn version_3_has_times_in_either_unit() {
        let text = "fio version 3 iolog\n14 x add\n153999 x write 512 1\n154000 x read 0 512\n";
        assert_eq!(parse(text, "").unwrap().0.time_us, [153_999, 154_000]);
        let (batch, _) = parse(text, ":time=ns").unwrap();
        assert_eq!(batch.time_us, [153, 154]);
        assert_eq!(batch.iter().collect::<Vec<_>>(), [(Op::Write, 1, 1), (Op::Read, 0, 1)]);
    }

    #[test]
    fn several_files_are_refused_or_laid_side_by_side() {
        let text = "fio version 2 iolog\na add\nb add\nb write 0 512\na write 512 512\n";
        let error = parse(text, "").unwrap_err();
        assert_eq!(
            error,
            "test, line 5: requests for \"a\" follow requests for \"b\"; lay the files side by side \
             with --format fio-iolog:file-bytes=SIZE, the size of the largest"
        );
        assert_eq!(parse(text, ":file-bytes=1MiB").unwrap().0.lba, [0, 2049]);
        let error = parse(text, ":file-bytes=512").unwrap_err();
        assert!(error.contains("ends at byte 1024 of its file, beyond file-bytes=512B"), "{error}");
        let error = parse(text, ":file-bytes=1000").unwrap_err();
        assert!(error.contains("not a multiple of 512"), "{error}");
    }

    #[test]
    fn wrong_lines_say_what_is_right() {
        for (line, expected) in [
            ("x write 4096", EXPECTED_2),
            ("x erase 0 4096", EXPECTED_2),
            ("x", EXPECTED_2),
            ("x wait", "\"FILE wait MICROSECONDS\""),
            ("x write 0 2199023255552", "a length below 2 TiB"),
        ] {
            let error = parse(&format!("fio version 2 iolog\n{line}\n"), "").unwrap_err();
            assert!(error.contains(&format!("line 2: {line:?} is wrong")), "{error}");
            assert!(error.contains(expected), "{error}");
        }
        let error = parse("fio version 3 iolog\nx write 0 4096\n", "").unwrap_err();
        assert!(error.contains(EXPECTED_3), "{error}");
        let error = parse("fio version 9 iolog\n", "").unwrap_err();
        assert!(error.contains("the first line is \"fio version 9 iolog\""), "{error}");
    }
}

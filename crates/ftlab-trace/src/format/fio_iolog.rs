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
//! Each file is a volume of its own, with addresses from 0.

use super::FormatInfo;
use super::fields::{Fields, decimal, sectors_of_bytes};
use crate::input::{ItemParser, LineSource, Verdict};
use crate::volumes::VolumeNames;
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
    /// How times are read.
    pub struct FioIologParameters {
        /// Unit of the times of version 3.
        time: TimeUnit = TimeUnit::Us, "time", from "fio 3.33 writes microseconds";
    }
}

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "fio-iolog",
    extensions: &["iolog"],
    summary: "fio's write_iolog, versions 2 and 3",
    source: "fio(1), trace file format",
    parameters: FioIologParameters::describe,
    detect: |head| head.starts_with(b"fio version ").into(),
    volumes_together: false,
    open,
};

fn open(
    input: Input,
    spec: &Spec,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    let FioIologParameters { time } = FioIologParameters::from_spec(spec)?;
    let parser = Parser {
        version: None,
        ticks_per_us: if time == TimeUnit::Ns { 1000 } else { 1 },
        waited_us: 0,
        files: VolumeNames::default(),
    };
    Ok(Box::new(LineSource::new(input, parser, spec.to_string(), options)))
}

struct Parser {
    /// From the first line.
    version: Option<u32>,
    ticks_per_us: u64,
    waited_us: u64,
    /// Files that have requests.
    files: VolumeNames,
}

const EXPECTED_2: &str = "\"FILE ACTION OFFSET LENGTH\" with ACTION one of write, read, trim, sync, \
                          datasync, wait, add, open, close";
const EXPECTED_3: &str = "\"TIME FILE ACTION OFFSET LENGTH\" with ACTION one of write, read, trim, \
                          sync, datasync, add, open, close";

impl ItemParser for Parser {
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
                batch.volume.push(self.files.number(file));
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
        batch.push_at(time_us, op, sector, sectors);
        batch.volume.push(self.files.number(file));
        Verdict::Parsed
    }

    fn volumes(&self) -> &[String] {
        self.files.as_slice()
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
            None => Verdict::refuse(
                format!(
                    "the first line is {:?}, not \"fio version 2 iolog\" or version 3",
                    crate::error::excerpt(line)
                ),
                "write the log with fio 2 or later, or add that line",
            ),
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
    fn each_file_is_a_volume() {
        let text = "fio version 2 iolog\na add\nb add\nb write 0 512\na write 512 512\n";
        let error = parse(text, "").unwrap_err();
        assert!(error.contains("requests for volume a follow requests for volume b"), "{error}");
        let options = OpenOptions { volumes: vec!["a".into()], ..OpenOptions::default() };
        assert_eq!(read_text(text, &options).unwrap().0.lba, [1]);
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

//! `fiu`: the traces of Florida International University, with a hash of what each block holds.
//!
//! ```text
//! 120500 2211 imapd 4096 8 W 6 0 00aa11bb22cc33dd44ee55ff66778899
//! ns pid process lba sectors W|R major minor md5
//! ```
//!
//! # Columns and units
//! Times are nanoseconds, lba and length sectors of 512 bytes. A device is a volume, called
//! `MAJ,MIN`. Pid, process and hash are not read.
//!
//! # Where
//! SNIA IOTTA repository, "FIU Traces": `homes`, `mail`, `webmail` and others, a file per day (Koller
//! and Rangaswami, "I/O Deduplication", FAST 2010).
//!
//! # Traps
//! - Names of processes may hold blanks, so that columns are counted from the right.
//! - Some files have hashes per 4 KiB, some per 512 bytes; each line is a request of its own.

use super::fields::{decimal, is_blank};
use super::{FormatInfo, Looks, first_lines};
use crate::input::{ItemParser, LineSource, Verdict};
use crate::volumes::VolumeNames;
use crate::{Input, Op, OpenOptions, RequestBatch, TraceError, TraceSource};
use ftlab_spec::{Parameters, Spec};

ftlab_spec::choices! {
    /// Unit of the times.
    pub enum TimeUnit {
        /// Nanoseconds.
        Ns = "ns",
        /// Microseconds.
        Us = "us",
    }
}

ftlab_spec::parameters! {
    /// How times are read.
    pub struct FiuParameters {
        /// Unit of the times.
        time: TimeUnit = TimeUnit::Ns, "time", from "the description in the SNIA repository";
    }
}

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "fiu",
    extensions: &[],
    summary: "FIU: ns pid process lba sectors W|R major minor md5",
    source: "SNIA IOTTA, FIU Traces",
    parameters: FiuParameters::describe,
    detect,
    volumes_together: false,
    open,
};

fn open(
    input: Input,
    spec: &Spec,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    let FiuParameters { time } = FiuParameters::from_spec(spec)?;
    let ticks_per_us = if time == TimeUnit::Ns { 1000 } else { 1 };
    let parser = Parser { ticks_per_us, devices: VolumeNames::default(), device: Vec::new() };
    Ok(Box::new(LineSource::new(input, parser, spec.to_string(), options)))
}

fn detect(head: &[u8]) -> Looks {
    let lines = first_lines(head, 20);
    let is_hash = |text: &[u8]| text.len() == 32 && text.iter().all(u8::is_ascii_hexdigit);
    let fits = |line: &&[u8]| Request::parse(line).is_some_and(|request| is_hash(request.hash));
    (!lines.is_empty() && lines.iter().all(fits)).into()
}

struct Parser {
    ticks_per_us: u64,
    devices: VolumeNames,
    /// The name of a device, made of two columns.
    device: Vec<u8>,
}

impl ItemParser for Parser {
    #[inline]
    fn parse(&mut self, line: &[u8], batch: &mut RequestBatch) -> Verdict {
        if line.trim_ascii().is_empty() {
            return Verdict::Skip("blank line");
        }
        let Some(request) = Request::parse(line) else {
            return Verdict::Bad("\"NS PID PROCESS LBA SECTORS W|R MAJOR MINOR MD5\"");
        };
        if request.lba.checked_add(u64::from(request.sectors)).is_none() {
            return Verdict::Bad("a sector below 2^64");
        }
        self.device.clear();
        self.device.extend_from_slice(request.major);
        self.device.push(b',');
        self.device.extend_from_slice(request.minor);
        batch.push_at(request.time / self.ticks_per_us, request.op, request.lba, request.sectors);
        batch.volume.push(self.devices.number(&self.device));
        Verdict::Parsed
    }

    fn volumes(&self) -> &[String] {
        self.devices.as_slice()
    }
}

/// One line, cut into its parts.
struct Request<'a> {
    time: u64,
    lba: u64,
    sectors: u32,
    op: Op,
    major: &'a [u8],
    minor: &'a [u8],
    hash: &'a [u8],
}

impl<'a> Request<'a> {
    #[inline]
    fn parse(line: &'a [u8]) -> Option<Self> {
        let mut fields = line.rsplit(|byte| is_blank(*byte)).filter(|field| !field.is_empty());
        let (hash, minor, major) = (fields.next()?, fields.next()?, fields.next()?);
        let op = match fields.next()? {
            b"W" | b"w" => Op::Write,
            b"R" | b"r" => Op::Read,
            _ => return None,
        };
        let sectors = u32::try_from(decimal(fields.next()?)?).ok()?;
        let lba = decimal(fields.next()?)?;
        decimal(major).and(decimal(minor))?;
        // In front are at least the process, the pid and the time.
        fields.nth(2)?;
        let time = line.trim_ascii_start().split(|byte| is_blank(*byte)).next()?;
        Some(Self { time: decimal(time)?, lba, sectors, op, major, minor, hash })
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_text;
    use super::*;

    fn parse(text: &str, format: Option<&str>) -> Result<(RequestBatch, String), String> {
        let format = format.map(Into::into);
        read_text(text, &OpenOptions { format, ..OpenOptions::default() })
    }

    const HASH: &str = "00aa11bb22cc33dd44ee55ff66778899";

    #[test]
    fn columns_are_counted_from_the_right() {
        let text =
            format!("120500 2211 imap d 2 4096 8 W 6 0 {HASH}\n121999 7 x 0 1 R 6 0 {HASH}\n");
        let (batch, _) = parse(&text, None).unwrap();
        assert_eq!(batch.iter().collect::<Vec<_>>(), [(Op::Write, 4096, 8), (Op::Read, 0, 1)]);
        assert_eq!(batch.time_us, [120, 121]);
        assert_eq!(parse(&text, Some("fiu:time=us")).unwrap().0.time_us, [120_500, 121_999]);
    }

    #[test]
    fn wrong_lines_say_what_is_right() {
        for line in [
            format!("x 2211 imapd 4096 8 W 6 0 {HASH}"),
            format!("1 2211 4096 8 W 6 0 {HASH}"),
            format!("1 2211 imapd 4096 8 X 6 0 {HASH}"),
            format!("1 2211 imapd 4096 W 6 0 {HASH}"),
        ] {
            let error = parse(&line, Some("fiu")).unwrap_err();
            assert!(error.contains("expected \"NS PID PROCESS LBA"), "{error}");
        }
    }
}

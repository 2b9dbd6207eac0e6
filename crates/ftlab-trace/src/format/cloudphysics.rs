//! `cloudphysics`: the SCSI commands of virtual disks, in either version of the records.
//!
//! Little-endian records without a header:
//!
//! | version | bytes | fields |
//! |---|---|---|
//! | 1 | 32 | sn u32, len u32, nSG u32, cmd u16, ver u16, lbn u64, ts u64 |
//! | 2 | 40 | cmd u16, ver u16, sn u32, len u32, nSG u32, lbn u64, ts u64, rt u64 |
//!
//! # Columns and units
//! `len` is bytes, `lbn` sectors of 512 bytes, `ts` microseconds; the upper byte of `ver` is the
//! version, `cmd` the SCSI operation code. One file is one disk.
//!
//! # Where
//! github.com/cacheMon/cache_dataset lists the copies ("CloudPhysics", 106 virtual disks; Waldspurger
//! et al., "Efficient MRC Construction with SHARDS", FAST 2015).
//!
//! # Traps
//! - UNMAP names its ranges in data that the trace does not have: it is passed over and counted.
//! - WRITE SAME counts for a write of its length.

use super::FormatInfo;
use super::fields::sectors_of_bytes;
use crate::input::{ItemParser, RecordSource, Verdict};
use crate::pages::SECTOR_BYTES;
use crate::{Input, Op, OpenOptions, RequestBatch, TraceError, TraceSource};
use ftlab_spec::{NoParameters, Parameters, Spec};

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "cloudphysics",
    extensions: &["vscsi", "vscsitrace"],
    summary: "CloudPhysics: SCSI commands in binary records of version 1 or 2",
    source: "Waldspurger et al., FAST 2015; records as libCacheSim reads them",
    parameters: NoParameters::describe,
    detect: |head| Version::of(head).is_some().into(),
    volumes_together: false,
    open,
};

fn open(
    input: Input,
    spec: &Spec,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    NoParameters::from_spec(spec)?;
    let Some(version) = Version::of(input.head()) else {
        return Err(TraceError::Damaged {
            name: input.name().into(),
            what: "the first records are neither of version 1 nor of version 2".into(),
            remedy: "check --format".into(),
        });
    };
    Ok(Box::new(RecordSource::new(
        input,
        version.record_bytes(),
        version,
        spec.to_string(),
        options,
    )))
}

/// How the fields of a record lie.
#[derive(Clone, Copy)]
enum Version {
    One,
    Two,
}

/// The fields that are read.
struct Record {
    command: u16,
    version: u16,
    bytes: u32,
    sector: u64,
    time_us: u64,
}

impl Version {
    fn record_bytes(self) -> usize {
        match self {
            Self::One => 32,
            Self::Two => 40,
        }
    }

    /// The version of records that all begin with an SCSI command that moves data.
    fn of(head: &[u8]) -> Option<Self> {
        const LOOKED_AT: usize = 64;
        [Self::One, Self::Two].into_iter().find(|version| {
            let mut records = head.chunks_exact(version.record_bytes()).take(LOOKED_AT).peekable();
            records.peek().is_some()
                && records.all(|bytes| {
                    let record = version.fields(bytes);
                    version.is_of(&record) && !matches!(operation(record.command), Meaning::Unknown)
                })
        })
    }

    fn is_of(self, record: &Record) -> bool {
        record.version >> 8 == self.number()
    }

    fn number(self) -> u16 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }

    /// The fields of `bytes`, which has as many as a record.
    #[inline]
    fn fields(self, bytes: &[u8]) -> Record {
        let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let u32_at = |at: usize| u32::from(u16_at(at)) | u32::from(u16_at(at + 2)) << 16;
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        let (command, version, bytes) = match self {
            Self::One => (u16_at(12), u16_at(14), u32_at(4)),
            Self::Two => (u16_at(0), u16_at(2), u32_at(8)),
        };
        Record { command, version, bytes, sector: u64_at(16), time_us: u64_at(24) }
    }
}

/// What an SCSI command is to a drive.
enum Meaning {
    Moves(Op),
    Flushes,
    Unmaps,
    /// One of the many that move no data of the disk, such as INQUIRY.
    Asks,
    Unknown,
}

fn operation(command: u16) -> Meaning {
    match command {
        // READ and WRITE of 6, 10, 12 and 16 bytes; WRITE AND VERIFY; COMPARE AND WRITE; WRITE SAME.
        0x08 | 0x28 | 0xa8 | 0x88 => Meaning::Moves(Op::Read),
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0x8e | 0x89 | 0x41 | 0x93 => Meaning::Moves(Op::Write),
        // SYNCHRONIZE CACHE of 10 and 16 bytes.
        0x35 | 0x91 => Meaning::Flushes,
        0x42 => Meaning::Unmaps,
        0x00..=0xff => Meaning::Asks,
        _ => Meaning::Unknown,
    }
}

impl ItemParser for Version {
    #[inline]
    fn parse(&mut self, record: &[u8], batch: &mut RequestBatch) -> Verdict {
        let record = self.fields(record);
        if !self.is_of(&record) {
            return Verdict::Bad("the version of the first record");
        }
        let op = match operation(record.command) {
            Meaning::Moves(op) => op,
            Meaning::Flushes => {
                batch.push_at(record.time_us, Op::Flush, 0, 0);
                return Verdict::Parsed;
            }
            Meaning::Unmaps => return Verdict::Skip("UNMAP, whose ranges are not in the trace"),
            Meaning::Asks => return Verdict::Skip("command that moves no data"),
            Meaning::Unknown => return Verdict::Bad("an SCSI command below 256"),
        };
        let offset = record.sector.checked_mul(SECTOR_BYTES);
        let extent = offset.and_then(|bytes| sectors_of_bytes(bytes, record.bytes.into(), true));
        let Some((lba, sectors)) = extent else {
            return Verdict::Bad("an end below 2^64 bytes");
        };
        batch.push_at(record.time_us, op, lba, sectors);
        Verdict::Parsed
    }
}

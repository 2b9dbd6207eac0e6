//! Writes text: `blkparse`, `fio-iolog`, `csv`, and the tables of cloud block stores.

use super::output::{Encoder, StreamSink};
use super::{CreateOptions, TraceSink, WriterInfo, Written};
use crate::format::csv::OWN_HEADERS;
use crate::pages::SECTOR_BYTES;
use crate::{Op, PartialFile, RequestBatch, TraceError};
use std::io::Write;

pub(super) const BLKPARSE: WriterInfo = WriterInfo {
    name: "blkparse",
    extensions: &["blkparse"],
    summary: "one issued request (action D) per line; streams and volumes are left out",
    create: |file, _| create(file, Text::Blkparse { sequence: 0 }),
};

pub(super) const FIO_IOLOG: WriterInfo = WriterInfo {
    name: "fio-iolog",
    extensions: &["iolog"],
    summary: "version 3, one file; streams, volumes and requests of no bytes are left out",
    create: |file, _| create(file, Text::FioIolog { time_us: 0 }),
};

pub(super) const CSV: WriterInfo = WriterInfo {
    name: "csv",
    extensions: &["csv"],
    summary: "t_us,op,lba,sectors with a header; streams and volumes are left out",
    create: |file: PartialFile, _: &CreateOptions| create(file, Text::Csv { has_header: false }),
};

pub(super) const ALIBABA: WriterInfo = WriterInfo {
    name: "alibaba",
    extensions: &[],
    summary: "a line for each write and read, with the number of its volume; trims, flushes and streams are left out",
    create: |file, _| create(file, Text::Cloud(Cloud::Alibaba)),
};

pub(super) const TENCENT: WriterInfo = WriterInfo {
    name: "tencent",
    extensions: &[],
    summary: "as alibaba, with times in seconds",
    create: |file, _| create(file, Text::Cloud(Cloud::Tencent)),
};

/// Lines without a clock are written as if a microsecond passed between two of them.
const NO_CLOCK_STEP_US: u64 = 1;
/// The name of the file in iologs: fio opens what it finds there, so it names nothing real.
const IOLOG_FILE: &str = "ftlab-drive";

fn create(file: PartialFile, text: Text) -> Result<Box<dyn TraceSink>, TraceError> {
    StreamSink::boxed(file, text)
}

enum Text {
    Blkparse {
        sequence: u64,
    },
    FioIolog {
        time_us: u64,
    },
    Csv {
        has_header: bool,
    },
    /// A table of many volumes.
    Cloud(Cloud),
}

/// Whose table of volumes.
#[derive(Clone, Copy)]
enum Cloud {
    Alibaba,
    Tencent,
}

impl Encoder for Text {
    fn header(&mut self, out: &mut Vec<u8>) {
        if let Self::FioIolog { .. } = self {
            let lines = format!("fio version 3 iolog\n0 {IOLOG_FILE} add\n0 {IOLOG_FILE} open\n");
            out.extend_from_slice(lines.as_bytes());
        }
    }

    fn encode(
        &mut self,
        batch: &RequestBatch,
        out: &mut Vec<u8>,
        written: &mut Written,
    ) -> Result<(), TraceError> {
        for (index, (op, lba, sectors)) in batch.iter().enumerate() {
            let clock = batch.time_us.get(index).copied();
            let time_us = clock.unwrap_or((written.requests + 1) * NO_CLOCK_STEP_US);
            match self {
                Self::Blkparse { sequence } => {
                    *sequence += 1;
                    blkparse_line(out, *sequence, time_us, (op, lba, sectors));
                }
                Self::Cloud(_) if !matches!(op, Op::Write | Op::Read) => {
                    written.leave_out(op);
                    continue;
                }
                Self::Cloud(cloud) => {
                    let volume = batch.volume.get(index).copied().unwrap_or(0);
                    cloud_line(out, *cloud, (volume, time_us), (op, lba, sectors))?;
                }
                // fio stops at a request of no bytes, or aborts.
                Self::FioIolog { .. } if sectors == 0 && op != Op::Flush => {
                    written.leave_out(op);
                    continue;
                }
                Self::FioIolog { time_us: last_us } => {
                    *last_us = time_us;
                    iolog_line(out, time_us, (op, lba, sectors))?;
                }
                Self::Csv { has_header } => {
                    if !*has_header {
                        let (header, _) = OWN_HEADERS[usize::from(clock.is_none())];
                        line(out, format_args!("{header}\n"));
                        *has_header = true;
                    }
                    if let Some(time_us) = clock {
                        line(out, format_args!("{time_us},"));
                    }
                    line(out, format_args!("{},{lba},{sectors}\n", op.name()));
                }
            }
            written.requests += 1;
        }
        Ok(())
    }

    fn trailer(&mut self, out: &mut Vec<u8>) {
        if let Self::FioIolog { time_us } = self {
            line(out, format_args!("{time_us} {IOLOG_FILE} close\n"));
        }
    }
}

fn line(out: &mut Vec<u8>, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).expect("memory takes every write");
}

fn blkparse_line(out: &mut Vec<u8>, sequence: u64, time_us: u64, request: (Op, u64, u32)) {
    let (seconds, nanos) = (time_us / 1_000_000, time_us % 1_000_000 * 1000);
    let (op, lba, sectors) = request;
    line(out, format_args!("  8,0    0 {sequence:8} {seconds:5}.{nanos:09}     0  D "));
    match op {
        Op::Flush => line(out, format_args!(" FN [ftlab]\n")),
        Op::Write => line(out, format_args!("  W {lba} + {sectors} [ftlab]\n")),
        Op::Trim => line(out, format_args!("  D {lba} + {sectors} [ftlab]\n")),
        Op::Read => line(out, format_args!("  R {lba} + {sectors} [ftlab]\n")),
    }
}

fn iolog_line(
    out: &mut Vec<u8>,
    time_us: u64,
    (op, lba, sectors): (Op, u64, u32),
) -> Result<(), TraceError> {
    if op == Op::Flush {
        line(out, format_args!("{time_us} {IOLOG_FILE} sync 0 0\n"));
        return Ok(());
    }
    let (offset, bytes) = in_bytes(lba, sectors)?;
    line(out, format_args!("{time_us} {IOLOG_FILE} {} {offset} {bytes}\n", op.name()));
    Ok(())
}

/// Where a request begins, and how long it is, in bytes.
fn in_bytes(lba: u64, sectors: u32) -> Result<(u64, u64), TraceError> {
    let bytes = u64::from(sectors) * SECTOR_BYTES;
    let offset = lba.checked_mul(SECTOR_BYTES).filter(|offset| offset.checked_add(bytes).is_some());
    offset.map(|offset| (offset, bytes)).ok_or_else(|| TraceError::Unsupported {
        what: format!("{sectors} sectors at sector {lba} end beyond 2^64 bytes"),
        remedy: "write parquet, csv or blkparse, which count in sectors".into(),
    })
}

/// A write or read of a volume at a time in microseconds.
fn cloud_line(
    out: &mut Vec<u8>,
    cloud: Cloud,
    (volume, time_us): (u32, u64),
    (op, lba, sectors): (Op, u64, u32),
) -> Result<(), TraceError> {
    let is_write = op == Op::Write;
    match cloud {
        Cloud::Alibaba => {
            let (offset, bytes) = in_bytes(lba, sectors)?;
            let code = if is_write { 'W' } else { 'R' };
            line(out, format_args!("{volume},{code},{offset},{bytes},{time_us}\n"));
        }
        Cloud::Tencent => {
            let (seconds, code) = (time_us / 1_000_000, u8::from(is_write));
            line(out, format_args!("{seconds},{lba},{sectors},{code},{volume}\n"));
        }
    }
    Ok(())
}

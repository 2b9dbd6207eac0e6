//! `blktrace`: the binary records that blktrace writes, one file per CPU.
//!
//! A record is 48 bytes in the byte order of the machine (magic u32, sequence u32, time u64 in ns,
//! sector u64, bytes u32, action u32, pid u32, device u32, cpu u32, error u16, length u16 of what
//! follows the record); the magic is `0x65617407`, whose last byte is the version.
//!
//! # Columns and units
//! Nanoseconds, sectors of 512 bytes, lengths in bytes. The lower half of `action` says what happened
//! to the request (1 queued, 12 inserted, 7 issued, 8 completed), the upper half is a set of bits that
//! says what it does. A device is a volume, called `MAJ,MIN`.
//!
//! # Where
//! Your own machine: `blktrace -d /dev/X -o NAME` writes `NAME.blktrace.0`, `.1` and so on; the `blk`
//! tracer of ftrace writes the same records into one file.
//!
//! # Traps
//! - One CPU's file is a part of the trace. All files beside the one that is named are read with it,
//!   merged by time.
//! - A request appears once per action: exactly one is kept, as in [`blkparse`].
//! - Write-zeroes requests look like writes; only text of blkparse or ftrace tells them apart.

use super::FormatInfo;
use super::blkparse::{self, Action, Seen};
use super::rwbs::{self, AGAIN, Requeued};
use crate::input::{Progress, Records, Tally, Unit, Verdict};
use crate::volumes::VolumeNames;
use crate::{Input, OpenOptions, RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource};
use ftlab_spec::{Parameters, Spec};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
const HEADER_BYTES: usize = 48;

// Bits of the upper half of an action.
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const NOTIFY: u32 = 1 << 10;
const DISCARD: u32 = 1 << 13;

ftlab_spec::parameters! {
    /// Which records are kept.
    pub struct BlktraceParameters {
        /// The one action whose records are kept.
        action: Action = Action(b'D'), "action", from "what the drive sees: requests as issued";
    }
}

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "blktrace",
    extensions: &[],
    summary: "binary files of blktrace, those of all CPUs merged, one action per request kept",
    source: "Linux, include/uapi/linux/blktrace_api.h",
    parameters: BlktraceParameters::describe,
    detect: |head| byte_order(head).is_some().into(),
    volumes_together: false,
    open,
};

fn open(
    input: Input,
    spec: &Spec,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    let BlktraceParameters { action } = BlktraceParameters::from_spec(spec)?;
    let tally = Tally::new(input.name(), Unit::Record, options);
    let mut inputs = Vec::new();
    for companion in input.companions() {
        inputs.push(Input::open_alone(companion)?);
    }
    inputs.insert(0, input);
    let mut source = Merged {
        action: action_number(action.0),
        requeued: Requeued::default(),
        seen: Seen::none(),
        progress: inputs.iter().map(Input::progress).collect(),
        files: inputs.into_iter().map(CpuFile::new).collect(),
        next: BinaryHeap::new(),
        devices: VolumeNames::default(),
        device: (u32::MAX, 0),
        tally,
        metadata: TraceMetadata { format: spec.to_string(), ..TraceMetadata::default() },
        need_time: options.need_time,
    };
    for index in 0..source.files.len() {
        source.read_ahead(index)?;
    }
    Ok(Box::new(source))
}

/// The number of an action that can be kept.
fn action_number(letter: u8) -> u32 {
    match letter {
        b'Q' => 1,
        b'I' => 12,
        b'C' => 8,
        _ => 7,
    }
}

/// The number of the action of a request that goes back to its queue.
const REQUEUED: u32 = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

/// The byte order of a record with any version of the magic.
fn byte_order(bytes: &[u8]) -> Option<ByteOrder> {
    let magic = bytes.first_chunk()?;
    if u32::from_le_bytes(*magic) & !0xff == MAGIC {
        return Some(ByteOrder::Little);
    }
    (u32::from_be_bytes(*magic) & !0xff == MAGIC).then_some(ByteOrder::Big)
}

/// One record, as it is in the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Record {
    bytes: [u8; HEADER_BYTES],
    is_big_endian: bool,
}

impl Record {
    fn u32_at(&self, at: usize) -> u32 {
        let bytes = [self.bytes[at], self.bytes[at + 1], self.bytes[at + 2], self.bytes[at + 3]];
        if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn u64_at(&self, at: usize) -> u64 {
        let halves = [self.u32_at(at), self.u32_at(at + 4)].map(u64::from);
        let [low, high] = if self.is_big_endian { [halves[1], halves[0]] } else { halves };
        low | high << 32
    }

    fn time_ns(&self) -> u64 {
        self.u64_at(8)
    }

    fn sector(&self) -> u64 {
        self.u64_at(16)
    }

    fn data_bytes(&self) -> u32 {
        self.u32_at(24)
    }

    /// The first sector, and how many.
    fn extent(&self) -> (u64, u64) {
        (self.sector(), u64::from(self.data_bytes()).div_ceil(crate::pages::SECTOR_BYTES))
    }

    /// What happened: the lower half of the action.
    fn action(&self) -> u32 {
        self.u32_at(28) & 0xffff
    }

    /// What the request does: the upper half of the action.
    fn bits(&self) -> u32 {
        self.u32_at(28) >> 16
    }

    fn device(&self) -> u32 {
        self.u32_at(36)
    }

    /// Bytes that follow the record.
    fn trailing_bytes(&self) -> usize {
        let bytes = [self.bytes[46], self.bytes[47]];
        usize::from(if self.is_big_endian {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        })
    }
}

/// The records of one CPU, in order of time.
struct CpuFile {
    name: String,
    records: Records,
}

impl CpuFile {
    fn new(input: Input) -> Self {
        Self { name: input.name().into(), records: Records::new(input) }
    }

    fn next(&mut self) -> Result<Option<Record>, TraceError> {
        let Some(bytes) = self.records.peek(HEADER_BYTES)? else { return Ok(None) };
        let order = byte_order(bytes);
        let mut record =
            Record { bytes: [0; HEADER_BYTES], is_big_endian: order == Some(ByteOrder::Big) };
        record.bytes.copy_from_slice(bytes);
        if order.is_none() || record.u32_at(0) & 0xff != VERSION {
            return Err(TraceError::Damaged {
                name: self.name.clone(),
                what: format!(
                    "byte {} begins with {:02x?}, not a record of version {VERSION}",
                    self.records.offset(),
                    &record.bytes[..4]
                ),
                remedy: "check that the file is complete; blkparse makes text of other versions"
                    .into(),
            });
        }
        let whole = HEADER_BYTES + record.trailing_bytes();
        self.records.peek(whole)?;
        self.records.advance(whole);
        Ok(Some(record))
    }
}

/// The files of all CPUs as one trace.
struct Merged {
    action: u32,
    requeued: Requeued,
    /// The actions that came besides.
    seen: Seen,
    files: Vec<CpuFile>,
    progress: Vec<Progress>,
    /// The next record of every file that has one: time, index of the file, record.
    next: BinaryHeap<Reverse<(u64, usize, Record)>>,
    devices: VolumeNames,
    /// The device of the record before, and its number as a volume.
    device: (u32, u32),
    tally: Tally,
    metadata: TraceMetadata,
    need_time: bool,
}

impl Merged {
    fn read_ahead(&mut self, index: usize) -> Result<(), TraceError> {
        if let Some(record) = self.files[index].next()? {
            self.next.push(Reverse((record.time_ns(), index, record)));
        }
        Ok(())
    }

    /// The next record of a file takes the place of its first one, which is before those of all other files.
    fn replace(&mut self, index: usize) -> Result<(), TraceError> {
        let next = self.files[index].next();
        if let Ok(Some(record)) = &next
            && let Some(mut first) = self.next.peek_mut()
        {
            *first = Reverse((record.time_ns(), index, *record));
        } else {
            self.next.pop();
        }
        next.map(|_| ())
    }

    fn volume(&mut self, device: u32) -> u32 {
        if self.device.0 != device || self.devices.as_slice().is_empty() {
            let name = format!("{},{}", device >> 20, device & 0xf_ffff);
            self.device = (device, self.devices.number(name.as_bytes()));
        }
        self.device.1
    }
}

impl Merged {
    /// Why a record asks for nothing.
    fn judge(&mut self, record: &Record) -> Option<&'static str> {
        if record.bits() & NOTIFY != 0 {
            return Some("message");
        }
        let action = record.action();
        if action == self.action {
            let is_again = !self.requeued.is_empty()
                && self.requeued.take(record.device(), &rwbs_of(record), record.extent());
            return is_again.then_some(AGAIN);
        }
        if action == action_number(b'C') && !self.requeued.is_empty() {
            self.requeued.take(record.device(), &rwbs_of(record), record.extent());
        }
        if action == REQUEUED && [b'D', b'I'].map(action_number).contains(&self.action) {
            self.requeued.add(record.device(), &rwbs_of(record), record.extent());
        }
        self.seen.add(action);
        Some("another action")
    }
}

impl TraceSource for Merged {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        while !batch.is_full() {
            let Some(&Reverse((_, index, record))) = self.next.peek() else { break };
            let requests = batch.len();
            let without = self.judge(&record);
            self.tally.next(&record.bytes, batch, |batch| match without {
                Some(reason) => Verdict::Skip(reason),
                None => push(&record, batch),
            })?;
            if batch.len() > requests {
                let volume = self.volume(record.device());
                batch.volume.resize(batch.len(), volume);
            }
            self.replace(index)?;
        }
        let has = |action| self.seen.has(action_number(action));
        self.tally.complete(batch, self.need_time, || blkparse::remedy("blktrace", has))
    }

    fn skipped(&self) -> &Skipped {
        &self.tally.skipped
    }

    fn volumes(&self) -> &[String] {
        self.devices.as_slice()
    }

    fn progress(&self) -> Option<f64> {
        let shares: Option<Vec<f64>> = self.progress.iter().map(Progress::share).collect();
        shares.map(|shares| shares.iter().sum::<f64>() / shares.len() as f64)
    }
}

/// The letters of a record: a blank, if no flush comes first, and the operation.
fn rwbs_of(record: &Record) -> [u8; 2] {
    let bits = record.bits();
    let operation = match bits {
        _ if bits & DISCARD != 0 => b'D',
        _ if bits & WRITE != 0 => b'W',
        _ if record.data_bytes() > 0 => b'R',
        _ => b'N',
    };
    [if bits & FLUSH != 0 { b'F' } else { b' ' }, operation]
}

/// Adds the request of a record.
fn push(record: &Record, batch: &mut RequestBatch) -> Verdict {
    let letters = rwbs_of(record);
    let rwbs = letters.strip_prefix(b" ").unwrap_or(&letters);
    rwbs::push(rwbs, record.time_ns() / 1000, record.extent(), batch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, open_input};

    /// A record: time, sector, bytes, action with its bits.
    type Fields = (u64, u64, u32, u32);

    fn bytes((time, sector, bytes, action): Fields, big: bool) -> Vec<u8> {
        let words = |values: &[u32]| -> Vec<u8> {
            let bytes = |v: &u32| if big { v.to_be_bytes() } else { v.to_le_bytes() };
            values.iter().flat_map(bytes).collect()
        };
        let wide = |v: u64| if big { v.to_be_bytes() } else { v.to_le_bytes() };
        let trailer = if big { [0, 0, 0, 3] } else { [0, 0, 3, 0] };
        [
            words(&[MAGIC | VERSION, 0]),
            wide(time).to_vec(),
            wide(sector).to_vec(),
            words(&[bytes, action, 551, 8 << 20 | 16, 0]),
            trailer.to_vec(),
            b"pdu".to_vec(),
        ]
        .concat()
    }

    const ISSUED_WRITE: u32 = WRITE << 16 | 7;
    const RECORDS: [Fields; 6] = [
        (1_999, 8, 4096, WRITE << 16 | 1),
        (2_999, 8, 4096, ISSUED_WRITE),
        (3_000, 0, 0, (FLUSH | 1) << 16 | 7),
        (4_000, 64, 512, 1 << 16 | 7),
        (5_000, 0, 8192, (WRITE | DISCARD) << 16 | 7),
        (6_000, 0, 0, NOTIFY << 16),
    ];

    fn read(bytes: Vec<u8>, format: Option<&str>) -> Result<(RequestBatch, String), String> {
        let options = OpenOptions { format: format.map(Into::into), ..OpenOptions::default() };
        let mut batch = RequestBatch::new();
        let mut source = Input::from_bytes("test", bytes)
            .and_then(|input| open_input(input, &options))
            .map_err(|error| error.to_string())?;
        source.next_batch(&mut batch).map_err(|error| error.to_string())?;
        Ok((batch, source.skipped().to_string()))
    }

    #[test]
    fn records_of_either_byte_order_become_requests() {
        for big in [false, true] {
            let file: Vec<u8> = RECORDS.into_iter().flat_map(|record| bytes(record, big)).collect();
            let (batch, skipped) = read(file.clone(), None).unwrap();
            let expected =
                [(Op::Write, 8, 8), (Op::Flush, 0, 0), (Op::Read, 64, 1), (Op::Trim, 0, 16)];
            assert_eq!(batch.iter().collect::<Vec<_>>(), expected);
            assert_eq!(batch.time_us, [2, 3, 4, 5]);
            assert!(skipped.contains("1 x another action, first line 1"), "{skipped}");
            assert!(skipped.contains("1 x message, first line 6"), "{skipped}");
            let (batch, _) = read(file, Some("blktrace:action=Q")).unwrap();
            assert_eq!(batch.time_us, [1]);
        }
    }

    #[test]
    fn a_requeued_request_is_one() {
        let write = |time, action| (time, 8, 4096, WRITE << 16 | action);
        let records = [write(1_000, 7), write(2_000, REQUEUED), write(3_000, 7), write(4_000, 7)];
        let file: Vec<u8> = records.into_iter().flat_map(|record| bytes(record, false)).collect();
        let (batch, skipped) = read(file, None).unwrap();
        assert_eq!(batch.time_us, [1, 4]);
        assert!(skipped.contains("1 x request that was requeued, and issued again"), "{skipped}");
    }

    #[test]
    fn another_action_is_proposed_if_there_is_none_of_this() {
        let error = read(bytes(RECORDS[0], false), None).unwrap_err();
        assert!(error.ends_with("--format blktrace:action=Q keeps these"), "{error}");
    }

    #[test]
    fn the_files_of_all_cpus_are_merged_by_time() {
        let directory = tempfile::tempdir().unwrap();
        for (cpu, times) in [(0, vec![1_000, 4_000]), (1, vec![2_000, 3_000]), (10, vec![2_500])] {
            let records = times.iter().map(|time| bytes((*time, *time, 512, ISSUED_WRITE), false));
            let path = directory.path().join(format!("sda.blktrace.{cpu}"));
            std::fs::write(path, records.collect::<Vec<_>>().concat()).unwrap();
        }
        for name in ["sda.blktrace.0", "sda.blktrace.10", "sda"] {
            let path = directory.path().join(name);
            let mut source = crate::open(&path, &OpenOptions::default()).unwrap();
            let mut batch = RequestBatch::new();
            assert!(source.next_batch(&mut batch).unwrap());
            assert_eq!(batch.lba, [1_000, 2_000, 2_500, 3_000, 4_000], "{name}");
            assert_eq!(source.progress(), Some(1.0));
        }
    }

    #[test]
    fn damage_is_named_with_its_place() {
        let mut file = bytes(RECORDS[1], false);
        file.extend(b"rubbish, and more of it, for as many bytes as a record has");
        let error = read(file.clone(), None).unwrap_err();
        assert!(error.contains("test: byte 51 begins with [72, 75, 62, 62]"), "{error}");
        file.truncate(60);
        let error = read(file, None).unwrap_err();
        assert!(error.contains("9 bytes are left at byte 51, where a record of 48"), "{error}");
        let mut version_8 = bytes(RECORDS[1], false);
        version_8[0] = 8;
        let error = read(version_8, None).unwrap_err();
        assert!(error.contains("not a record of version 7"), "{error}");
    }
}

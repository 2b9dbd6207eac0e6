//! Commands of I/O queues (NVM command set 1.1, section 3).

use super::commands::Answer;
use super::controller::Controller;
use super::identify::RANGES_MAX;
use super::layout::{Command, Reader, Status, opcode};
use super::namespace::Namespace;
use super::placement::Placements;
use super::subsystem::Subsystem;
use super::{ALL_NAMESPACES, BUFFERED_BYTES_MAX, TRANSFER_BYTES_MAX};
use std::error::Error;
use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// What is read at once to be verified, compared or copied.
const PIECE_BYTES: u64 = 128 << 10;

/// Bits of command dword 12.
const FORCED: u32 = 1 << 30;
const DEALLOCATES: u32 = 1 << 25;

/// What the data of a command are for, once all of them are there.
pub(super) enum Target {
    /// The blocks that it names.
    Blocks(Blocks),
    /// Something else.
    Memory,
}

/// The blocks of a Write or a Compare.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Where they are on the drive.
    range: Range<u64>,
    stream: u16,
    compares: bool,
}

/// What a command works with.
pub(super) struct Context<'a> {
    pub(super) subsystem: &'a Subsystem,
    pub(super) controller: &'a Controller,
}

/// The status of an error of the store, of which `otherwise` is one.
pub(super) fn failure(error: &io::Error, otherwise: Status) -> Status {
    use io::ErrorKind as Kind;
    let mut source = error.get_ref().map(|inner| inner as &dyn Error);
    while error.kind() == Kind::Other
        && let Some(inner) = source
    {
        if let Some(inner) = inner.downcast_ref::<io::Error>() {
            return failure(inner, otherwise);
        }
        source = inner.source();
    }
    match error.kind() {
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Status::WRITE_PROTECTED,
        Kind::InvalidInput => Status::BEYOND,
        Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => Status::CAPACITY,
        Kind::OutOfMemory => Status::INTERNAL,
        _ => otherwise,
    }
}

impl Context<'_> {
    #[inline]
    pub(super) fn namespace(&self, command: &Command) -> Result<&Namespace, Status> {
        self.subsystem.namespace(command.namespace).ok_or(Status::INVALID_NAMESPACE)
    }

    /// The blocks that a command names, on the drive.
    #[inline]
    fn range(&self, command: &Command) -> Result<Range<u64>, Status> {
        let blocks = u64::from(command.dword(12) & 0xffff) + 1;
        self.namespace(command)?.range(command.wide(10), blocks)
    }

    /// The blocks of a command that moves all of them.
    #[inline]
    fn range_of_transfer(&self, command: &Command) -> Result<Range<u64>, Status> {
        let range = self.range(command)?;
        let bytes = range.end - range.start;
        if bytes > TRANSFER_BYTES_MAX.into() {
            return Err(Status::INVALID_FIELD);
        }
        // A write has as many data as it has blocks; there may be room for more than is read.
        let announced = u64::from(command.sgl.bytes);
        let fits = if command.has_data() { announced == bytes } else { announced >= bytes };
        if fits { Ok(range) } else { Err(Status::DATA_LENGTH) }
    }

    #[inline]
    pub(super) fn stream(&self, command: &Command) -> Result<u16, Status> {
        let (directive, placement) =
            ((command.dword(12) >> 20 & 15) as u8, (command.dword(13) >> 16) as u16);
        let namespace = self.namespace(command)?;
        let now = || self.subsystem.uptime_ms();
        self.subsystem.placements.stream(namespace, directive, placement, now)
    }

    /// Where the data of a command go, or why it fails without them.
    #[inline]
    pub(super) fn target(&self, command: &Command) -> Result<Target, Status> {
        let blocks = |range, stream, compares| Target::Blocks(Blocks { range, stream, compares });
        match command.opcode {
            opcode::io::WRITE => {
                let range = self.range_of_transfer(command)?;
                Ok(blocks(range, self.stream(command)?, false))
            }
            opcode::io::COMPARE => Ok(blocks(self.range_of_transfer(command)?, 0, true)),
            opcode::io::DATASET_MANAGEMENT | opcode::io::COPY | opcode::io::MANAGEMENT_SEND => {
                let bytes = command.sgl.bytes;
                let fits = bytes <= BUFFERED_BYTES_MAX;
                if fits { Ok(Target::Memory) } else { Err(Status::INVALID_FIELD) }
            }
            _ => Err(Status::INVALID_OPCODE),
        }
    }

    /// Carries out a command, of which all data are there, or none are needed.
    #[inline]
    pub(super) fn execute(&self, command: &Command, data: &[u8]) -> Result<Answer, Status> {
        if command.opcode == opcode::io::READ {
            let range = self.range_of_transfer(command)?;
            self.subsystem.uncorrectable.check(&range)?;
            return Ok(Answer::Read(range));
        }
        self.execute_other(command, data)
    }

    /// Carries out a command that is not a read.
    #[inline(never)]
    fn execute_other(&self, command: &Command, data: &[u8]) -> Result<Answer, Status> {
        match command.opcode {
            opcode::io::MANAGEMENT_RECEIVE => return self.receive(command),
            opcode::io::COPY => return self.copy(command, data),
            opcode::io::FLUSH => {
                if command.namespace != ALL_NAMESPACES {
                    self.namespace(command)?;
                }
                self.flush()?;
            }
            opcode::io::WRITE_UNCORRECTABLE => {
                self.require_writable()?;
                self.subsystem.uncorrectable.mark(&self.range(command)?);
            }
            opcode::io::WRITE_ZEROES => self.write_zeroes(command)?,
            opcode::io::DATASET_MANAGEMENT => self.deallocate(command, data)?,
            opcode::io::VERIFY => self.verify(command)?,
            opcode::io::MANAGEMENT_SEND => self.send(command, data)?,
            // One of these without data has come here.
            opcode::io::WRITE | opcode::io::COMPARE => return Err(Status::DATA_LENGTH),
            _ => return Err(Status::INVALID_OPCODE),
        }
        Ok(Answer::Done(0))
    }

    pub(super) fn require_writable(&self) -> Result<(), Status> {
        let is_read_only = self.subsystem.store.is_read_only();
        if is_read_only { Err(Status::WRITE_PROTECTED) } else { Ok(()) }
    }

    fn flush(&self) -> Result<(), Status> {
        let flushed = self.subsystem.store.flush();
        flushed.map_err(|error| failure(&error, Status::WRITE_FAULT))
    }

    /// Makes durable what a command has written, if it asks for that or there is no write cache.
    #[inline]
    pub(super) fn force(&self, command: &Command) -> Result<(), Status> {
        let is_forced = command.dword(12) & FORCED != 0;
        let has_write_cache = self.controller.has_write_cache.load(Ordering::Relaxed);
        if is_forced || !has_write_cache { self.flush() } else { Ok(()) }
    }

    /// Makes blocks read as zeros.
    fn write_zeroes(&self, command: &Command) -> Result<(), Status> {
        let range = self.range(command)?;
        self.stream(command)?;
        let may_trim = command.dword(12) & DEALLOCATES != 0;
        let bytes = range.end - range.start;
        let written = self.subsystem.store.write_zeroes(range.start, bytes, may_trim);
        written.map_err(|error| failure(&error, Status::WRITE_FAULT))?;
        self.subsystem.uncorrectable.clear(&range);
        self.force(command)
    }

    /// Dataset Management: trims ranges; hints of how blocks will be used have no effect.
    fn deallocate(&self, command: &Command, data: &[u8]) -> Result<(), Status> {
        const ENTRY_BYTES: usize = 16;
        const DEALLOCATE: u32 = 1 << 2;
        let namespace = self.namespace(command)?;
        let count = (command.dword(10) as u8) as usize + 1;
        let entries = data.get(..count * ENTRY_BYTES).ok_or(Status::DATA_LENGTH)?;
        if count > RANGES_MAX {
            return Err(Status::SIZE_LIMIT);
        }
        let range = |entry| {
            let fields = Reader(entry);
            namespace.range(fields.u64(8), fields.u32(4).into())
        };
        let ranges = entries.chunks_exact(ENTRY_BYTES).map(range);
        let ranges: Vec<_> = ranges.collect::<Result<_, _>>()?;
        if command.dword(11) & DEALLOCATE == 0 {
            return Ok(());
        }
        for range in ranges {
            let trimmed = self.subsystem.store.trim(range.start, range.end - range.start);
            trimmed.map_err(|error| failure(&error, Status::WRITE_FAULT))?;
            self.subsystem.uncorrectable.clear(&range);
        }
        if self.controller.has_write_cache.load(Ordering::Relaxed) { Ok(()) } else { self.flush() }
    }

    /// Calls `use_piece` with where each piece of a range is, and what it holds.
    pub(super) fn read(
        &self,
        range: &Range<u64>,
        mut use_piece: impl FnMut(u64, &[u8]) -> Result<(), Status>,
    ) -> Result<(), Status> {
        self.subsystem.uncorrectable.check(range)?;
        let mut piece = vec![0; PIECE_BYTES.min(range.end - range.start) as usize];
        for start in range.clone().step_by(PIECE_BYTES as usize) {
            let bytes = PIECE_BYTES.min(range.end - start) as usize;
            let piece = &mut piece[..bytes];
            let read = self.subsystem.store.read(start, piece);
            read.map_err(|error| failure(&error, Status::UNREADABLE))?;
            use_piece(start, piece)?;
        }
        Ok(())
    }

    fn verify(&self, command: &Command) -> Result<(), Status> {
        self.read(&self.range(command)?, |_, _| Ok(()))
    }

    /// I/O Management Receive: the status of the reclaim unit handles.
    fn receive(&self, command: &Command) -> Result<Answer, Status> {
        const HANDLE_STATUS: u8 = 1;
        let namespace = self.namespace(command)?;
        let operation = command.dword(10) as u8;
        let placement = self.subsystem.drive.placement();
        match (operation, placement) {
            (HANDLE_STATUS, Some(now)) => {
                let mut data = Placements::status(namespace, &now);
                let bytes = 4 * (u64::from(command.dword(11)) + 1);
                if bytes > TRANSFER_BYTES_MAX.into() {
                    return Err(Status::INVALID_FIELD);
                }
                data.resize(bytes as usize, 0);
                Ok(Answer::Data(data))
            }
            _ => Err(Status::INVALID_FIELD),
        }
    }

    /// I/O Management Send: does nothing, or moves handles on to empty reclaim units.
    fn send(&self, command: &Command, data: &[u8]) -> Result<(), Status> {
        const NOTHING: u8 = 0;
        const HANDLE_UPDATE: u8 = 1;
        let namespace = self.namespace(command)?;
        match command.dword(10) as u8 {
            NOTHING => Ok(()),
            HANDLE_UPDATE => self.renew(namespace, command.dword(10) >> 16, data),
            _ => Err(Status::INVALID_FIELD),
        }
    }

    /// Reclaim Unit Handle Update of placement handles, of which there is one more than `more`: of all of
    /// them, or of none if one of them does not exist.
    fn renew(&self, namespace: &Namespace, more: u32, data: &[u8]) -> Result<(), Status> {
        /// The most placement handles of a namespace.
        const IDENTIFIERS_MAX: usize = 128;
        let count = more as usize + 1;
        if count > IDENTIFIERS_MAX {
            return Err(Status::INVALID_FIELD);
        }
        let list = data.get(..2 * count).ok_or(Status::DATA_LENGTH)?;
        let handle = |identifier| Placements::handle(namespace, Reader(identifier).u16(0));
        let handles: Vec<u16> = list.chunks_exact(2).map(handle).collect::<Result<_, _>>()?;
        for handle in handles {
            let renewed = self.subsystem.store.renew_handle(handle);
            if !renewed.map_err(|error| failure(&error, Status::WRITE_FAULT))? {
                return Err(Status::INVALID_FIELD);
            }
        }
        self.subsystem.note_events();
        Ok(())
    }

    /// Takes data for blocks, `at` bytes after the first.
    #[inline]
    pub(super) fn take(&self, blocks: &Blocks, at: u64, data: &[u8]) -> Result<(), Status> {
        let start = blocks.range.start + at;
        if blocks.compares {
            self.compare(start, data)
        } else {
            self.write(start, data, blocks.stream)
        }
    }

    /// Writes blocks of a stream.
    #[inline]
    pub(super) fn write(&self, start: u64, data: &[u8], stream: u16) -> Result<(), Status> {
        let written = self.subsystem.store.write_stream(start, data, stream);
        written.map_err(|error| failure(&error, Status::WRITE_FAULT))
    }

    fn compare(&self, start: u64, data: &[u8]) -> Result<(), Status> {
        self.read(&(start..start + data.len() as u64), |at, piece| {
            let from = (at - start) as usize;
            if piece == &data[from..from + piece.len()] { Ok(()) } else { Err(Status::COMPARE) }
        })
    }

    /// All data for blocks are there.
    #[inline]
    pub(super) fn finish(&self, command: &Command, blocks: &Blocks) -> Result<Answer, Status> {
        let bytes = blocks.range.end - blocks.range.start;
        if blocks.compares {
            return Ok(Answer::Compared(bytes));
        }
        self.subsystem.uncorrectable.clear(&blocks.range);
        self.force(command)?;
        Ok(Answer::Written(bytes))
    }
}

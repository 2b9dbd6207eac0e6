//! The command Copy.
//!
//! Where a source overlaps the destination, the standard (NVM command set 1.2, section 3.3.2) forbids it in formats 2h
//! and 3h, and leaves the result of the others, one of which is used here, open from block to block. The destination
//! gets what all sources held before, as if each had been read before the first block was written.

use super::commands::Answer;
use super::identify::{COPY_BLOCKS_MAX, RANGES_MAX};
use super::io::Context;
use super::layout::{Command, Reader, Status};
use super::lock::lock;
use std::ops::Range;

/// A source, and where its copy begins, on the drive.
struct Source {
    from: Range<u64>,
    to: u64,
}

impl Source {
    fn bytes(&self) -> u64 {
        self.from.end - self.from.start
    }

    fn overlaps(&self, range: &Range<u64>) -> bool {
        self.from.start < range.end && range.start < self.from.end
    }
}

impl Context<'_> {
    /// Copies ranges of the namespace, one after the other, to consecutive blocks (format 0h). Nothing is copied
    /// before all of them have been checked. If one cannot be read or written then, its number is dword 0.
    pub(super) fn copy(&self, command: &Command, data: &[u8]) -> Result<Answer, Status> {
        let (sources, destination) = self.sources(command, data)?;
        let stream = self.stream(command)?;
        self.require_writable()?;
        for source in &sources {
            self.subsystem.uncorrectable.check(&source.from)?;
        }
        let overlaps = sources.iter().any(|source| source.overlaps(&destination));
        let failed = if overlaps {
            self.copy_at_once(&sources, &destination, stream)?
        } else {
            let copied = |source| self.copy_pieces(source, stream);
            first_failure(sources.iter().map(copied))
        };
        if let Some(failed) = failed {
            return Ok(failed);
        }
        self.force(command)?;
        Ok(Answer::Done(0))
    }

    /// The sources of a command, each with its place in the destination, and the destination.
    fn sources(&self, command: &Command, data: &[u8]) -> Result<(Vec<Source>, Range<u64>), Status> {
        const ENTRY_BYTES: usize = 32;
        let namespace = self.namespace(command)?;
        let count = (command.dword(12) as u8) as usize + 1;
        if command.dword(12) >> 8 & 15 != 0 {
            return Err(Status::INVALID_FIELD);
        }
        let entries = data.get(..count * ENTRY_BYTES).ok_or(Status::DATA_LENGTH)?;
        let source = |entry| {
            let fields = Reader(entry);
            (fields.u64(8), u64::from(fields.u16(16)) + 1)
        };
        let ranges: Vec<_> = entries.chunks_exact(ENTRY_BYTES).map(source).collect();
        let blocks: u64 = ranges.iter().map(|(_, blocks)| blocks).sum();
        if count > RANGES_MAX || blocks > COPY_BLOCKS_MAX.into() {
            return Err(Status::SIZE_LIMIT);
        }
        let destination = namespace.range(command.wide(10), blocks)?;
        let mut to = destination.start;
        let placed = ranges.into_iter().map(|(first, blocks)| {
            let source = Source { from: namespace.range(first, blocks)?, to };
            to += source.bytes();
            Ok(source)
        });
        Ok((placed.collect::<Result<_, _>>()?, destination))
    }

    /// Copies a source that nothing is written to.
    fn copy_pieces(&self, source: &Source, stream: u16) -> Result<(), Status> {
        self.read(&source.from, |at, piece| {
            self.write_copy(source.to + (at - source.from.start), piece, stream)
        })
    }

    /// Reads all sources, and then writes them. It takes memory for all of them, which is why there is one at a time.
    fn copy_at_once(
        &self,
        sources: &[Source],
        destination: &Range<u64>,
        stream: u16,
    ) -> Result<Option<Answer>, Status> {
        let _only = lock(&self.subsystem.overlapping);
        let mut all = Vec::with_capacity((destination.end - destination.start) as usize);
        for source in sources {
            self.read(&source.from, |_, piece| {
                all.extend_from_slice(piece);
                Ok(())
            })?;
        }
        let written = |source: &Source| {
            let at = (source.to - destination.start) as usize;
            self.write_copy(source.to, &all[at..at + source.bytes() as usize], stream)
        };
        Ok(first_failure(sources.iter().map(written)))
    }

    /// Writes copied blocks, which can then be read.
    fn write_copy(&self, start: u64, data: &[u8], stream: u16) -> Result<(), Status> {
        self.write(start, data, stream)?;
        self.subsystem.uncorrectable.clear(&(start..start + data.len() as u64));
        Ok(())
    }
}

/// The answer to a command of which one part has failed; those after it are not carried out.
fn first_failure(parts: impl Iterator<Item = Result<(), Status>>) -> Option<Answer> {
    (0..)
        .zip(parts)
        .find_map(|(index, done)| done.err().map(|status| Answer::Failed(status, index)))
}

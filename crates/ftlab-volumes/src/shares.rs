//! A volume, read from its parts.

use crate::parts::PieceReader;
use crate::spread::Share;
use ftlab_trace::{RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource};
use std::path::PathBuf;

/// Reads a volume from the parts of all traces.
pub struct SharesSource {
    metadata: TraceMetadata,
    skipped: Skipped,
    left: std::vec::IntoIter<PieceReader>,
    open: Option<PieceReader>,
    has_times: bool,
    has_streams: bool,
    taken: u64,
    all: u64,
}

impl SharesSource {
    /// The requests of these shares, one after the other, each in a file of parts: with their times and their streams
    /// only if that is asked for.
    pub fn new<'a>(
        metadata: TraceMetadata,
        shares: impl Iterator<Item = (PathBuf, &'a Share)>,
        has_times: bool,
        has_streams: bool,
    ) -> Self {
        let mut all = 0;
        let of_share = |(path, share): (PathBuf, &Share)| {
            all += share.requests.iter().sum::<u64>();
            PieceReader::new(path.into(), share.pieces.clone(), share.hash.clone())
        };
        let readers: Vec<_> = shares.map(of_share).collect();
        Self {
            metadata,
            skipped: Skipped::default(),
            left: readers.into_iter(),
            open: None,
            has_times,
            has_streams,
            taken: 0,
            all,
        }
    }
}

impl TraceSource for SharesSource {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        while !batch.is_full() {
            let next = match &mut self.open {
                Some(open) => open.next()?,
                None => None,
            };
            let Some(request) = next else {
                self.open = self.left.next();
                if self.open.is_none() {
                    break;
                }
                continue;
            };
            batch.push(request.op, request.lba, request.sectors);
            if self.has_times {
                batch.time_us.push(request.time_us.unwrap_or(0));
            }
            if self.has_streams {
                batch.stream.push(request.stream);
            }
        }
        self.taken += batch.len() as u64;
        Ok(!batch.is_empty())
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn progress(&self) -> Option<f64> {
        Some(self.taken as f64 / self.all.max(1) as f64)
    }
}

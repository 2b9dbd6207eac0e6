//! Requests of several volumes, merged by time.

use ftlab_trace::{Op, RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A volume, and where it is on the drive.
pub struct Placed {
    /// Its requests.
    pub source: Box<dyn TraceSource>,
    /// Its name.
    pub name: String,
    /// Where it begins on the drive.
    pub first_sector: u64,
    /// Sectors that it has there.
    pub sectors: u64,
    /// The stream of its requests.
    pub stream: u16,
}

/// Requests of a volume that are read one at a time.
struct Ahead {
    part: Placed,
    batch: RequestBatch,
    at: usize,
    /// Requests of a volume keep their order, even if their times go back.
    time_us: u64,
}

/// Requests of several volumes, merged by time. Of the same time, those of the earlier volume come first.
pub struct Merged {
    metadata: TraceMetadata,
    skipped: Skipped,
    parts: Vec<Ahead>,
    /// Volumes with a request, by its time.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    is_open: bool,
}

impl Merged {
    /// The requests of these volumes on one drive of that name.
    pub fn new(name: &str, parts: Vec<Placed>) -> Self {
        let metadata = TraceMetadata { format: format!("pack {name}"), ..TraceMetadata::default() };
        let ahead = |part| Ahead { part, batch: RequestBatch::new(), at: 0, time_us: 0 };
        Self {
            metadata,
            skipped: Skipped::default(),
            parts: parts.into_iter().map(ahead).collect(),
            next: BinaryHeap::new(),
            is_open: false,
        }
    }

    /// Notes the next request of a volume.
    fn advance(&mut self, number: usize) -> Result<(), TraceError> {
        let of = &mut self.parts[number];
        if of.at >= of.batch.len() {
            of.at = 0;
            if !of.part.source.next_batch(&mut of.batch)? {
                return Ok(());
            }
        }
        of.time_us = of.time_us.max(of.batch.time_us.get(of.at).copied().unwrap_or(0));
        self.next.push(Reverse((of.time_us, number)));
        Ok(())
    }
}

impl TraceSource for Merged {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        if !self.is_open {
            self.is_open = true;
            (0..self.parts.len()).try_for_each(|number| self.advance(number))?;
        }
        while !batch.is_full() {
            let Some(Reverse((time_us, number))) = self.next.pop() else { break };
            let Ahead { part, batch: own, at, .. } = &mut self.parts[number];
            let (op, lba, sectors) = (own.op[*at], own.lba[*at], own.sectors[*at]);
            *at += 1;
            let moved = if op == Op::Flush { 0 } else { part.place(lba, sectors)? };
            batch.push_at(time_us, op, moved, sectors);
            batch.stream.push(part.stream);
            self.advance(number)?;
        }
        Ok(!batch.is_empty())
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn progress(&self) -> Option<f64> {
        let shares = self.parts.iter().filter_map(|of| of.part.source.progress());
        Some(shares.sum::<f64>() / self.parts.len().max(1) as f64)
    }
}

impl Placed {
    /// Where a request is on the drive.
    fn place(&self, lba: u64, sectors: u32) -> Result<u64, TraceError> {
        if lba.saturating_add(sectors.into()) > self.sectors {
            return Err(TraceError::Unsupported {
                what: format!(
                    "volume {} has a request at sector {lba}, beyond the {} sectors that it has on the drive of its pack,",
                    self.name, self.sectors
                ),
                remedy: "give it a larger size (--sizes)".into(),
            });
        }
        Ok(self.first_sector + lba)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Held(RequestBatch, TraceMetadata, Skipped);

    impl TraceSource for Held {
        fn metadata(&self) -> &TraceMetadata {
            &self.1
        }

        fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
            std::mem::swap(batch, &mut self.0);
            self.0.clear();
            Ok(!batch.is_empty())
        }

        fn skipped(&self) -> &Skipped {
            &self.2
        }
    }

    fn part(times: &[u64], first_sector: u64, stream: u16) -> Placed {
        let mut batch = RequestBatch::new();
        for (page, time) in times.iter().enumerate() {
            batch.push_at(*time, Op::Write, 8 * page as u64, 8);
        }
        batch.push_at(9, Op::Flush, 0, 0);
        let source = Box::new(Held(batch, TraceMetadata::default(), Skipped::default()));
        Placed { source, name: "7".into(), first_sector, sectors: 24, stream }
    }

    #[test]
    fn times_merge_and_addresses_stay_apart() {
        let mut merged = Merged::new("a", vec![part(&[1, 5, 4], 0, 0), part(&[1, 4], 24, 3)]);
        let mut batch = RequestBatch::with_limit(4);
        let mut all = Vec::new();
        while merged.next_batch(&mut batch).unwrap() {
            for index in 0..batch.len() {
                all.push((batch.time_us[index], batch.lba[index], batch.stream[index]));
            }
        }
        let expected =
            [(1, 0, 0), (1, 24, 3), (4, 32, 3), (5, 8, 0), (5, 16, 0), (9, 0, 0), (9, 0, 3)];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_request_beyond_its_volume_is_an_error() {
        let mut merged = Merged::new("a", vec![part(&[1, 2, 3, 4], 0, 0)]);
        let error = merged.next_batch(&mut RequestBatch::new()).unwrap_err().to_string();
        assert!(error.contains("volume 7 has a request at sector 24"), "{error}");
    }
}

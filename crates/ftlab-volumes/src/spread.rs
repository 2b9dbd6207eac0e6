//! The requests of one trace, spread over its volumes.

use crate::codec::{Before, Request};
use crate::parts::{PartWriter, Piece};
use ftlab_trace::{Op, RequestBatch, TraceError, pages::SECTOR_BYTES};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

/// What a trace has of a volume.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Its name.
    pub name: String,
    /// Its requests by operation: writes, trims, flushes, reads.
    pub requests: [u64; 4],
    /// Sectors of these requests.
    pub sectors: [u64; 4],
    /// One past its highest sector.
    pub end_sector: u64,
    /// The time of its first request, and of its last one, in microseconds.
    pub times_us: Option<(u64, u64)>,
    /// Requests with a time.
    pub timed: u64,
    /// Requests that come before the one that precedes them.
    pub backwards: u64,
    /// Whether a request names a stream.
    pub has_streams: bool,
    /// What is wrong with it; requests after that are left out.
    pub problem: Option<String>,
    /// Of all its requests here.
    pub hash: String,
    /// Where they are in the file of parts.
    pub pieces: Vec<Piece>,
}

/// A volume while its trace is read.
struct Open {
    share: Share,
    before: Before,
    hasher: XxHash3_128,
    /// Requests that have not been written, encoded.
    bytes: Vec<u8>,
    /// Their number.
    requests: u64,
}

/// Gathers the requests of each volume.
pub struct Spread<'a> {
    /// Volumes to keep; all if there are none.
    wanted: &'a [String],
    /// The name of the volume of requests that name none.
    own_name: String,
    volumes: Vec<Open>,
    /// Where a volume is by its number in the trace; none if it is not wanted.
    places: FxHashMap<u32, Option<usize>>,
    /// Bytes that wait, and how many may.
    waiting: usize,
    waiting_max: usize,
    parts: PartWriter,
}

impl<'a> Spread<'a> {
    /// Into `parts`, with at most this many bytes in memory.
    pub fn new(
        parts: PartWriter,
        waiting_max: usize,
        wanted: &'a [String],
        own_name: String,
    ) -> Self {
        Self {
            wanted,
            own_name,
            volumes: Vec::new(),
            places: FxHashMap::default(),
            waiting: 0,
            waiting_max: waiting_max.max(1),
            parts,
        }
    }

    /// Adds the requests of a batch; volumes have these names by number.
    pub fn add(&mut self, batch: &RequestBatch, names: &[String]) -> Result<(), TraceError> {
        for index in 0..batch.len() {
            let number = batch.volume.get(index).copied().unwrap_or(u32::MAX);
            let Some(place) = self.place(number, names) else { continue };
            let request = Request {
                op: batch.op[index],
                lba: batch.lba[index],
                sectors: batch.sectors[index],
                time_us: batch.time_us.get(index).copied(),
                stream: batch.stream.get(index).copied().unwrap_or(0),
            };
            self.waiting += self.volumes[place].add(&request, !batch.stream.is_empty());
            if self.waiting >= self.waiting_max {
                self.write()?;
            }
        }
        Ok(())
    }

    /// The volume of this number.
    #[inline]
    fn place(&mut self, number: u32, names: &[String]) -> Option<usize> {
        if let Some(place) = self.places.get(&number) {
            return *place;
        }
        let name = match number {
            u32::MAX => self.own_name.clone(),
            _ => names.get(number as usize).cloned().unwrap_or_else(|| number.to_string()),
        };
        let is_wanted = self.wanted.is_empty() || self.wanted.contains(&name);
        let place = is_wanted.then_some(self.volumes.len());
        if is_wanted {
            self.volumes.push(Open::new(name));
        }
        self.places.insert(number, place);
        place
    }

    /// Writes what waits.
    fn write(&mut self) -> Result<(), TraceError> {
        for volume in &mut self.volumes {
            if volume.requests > 0 {
                // Which volume takes the memory changes with time.
                let bytes = std::mem::take(&mut volume.bytes);
                volume.hasher.write(&bytes);
                volume.share.pieces.push(self.parts.add(&bytes, volume.requests)?);
                volume.requests = 0;
            }
        }
        self.waiting = 0;
        Ok(())
    }

    /// Every volume, and the bytes of the file of parts.
    pub fn finish(mut self) -> Result<(Vec<Share>, u64), TraceError> {
        self.write()?;
        let bytes = self.parts.finish()?;
        Ok((self.volumes.into_iter().map(Open::finish).collect(), bytes))
    }
}

impl Open {
    fn new(name: String) -> Self {
        Self {
            share: Share {
                name,
                requests: [0; 4],
                sectors: [0; 4],
                end_sector: 0,
                times_us: None,
                timed: 0,
                backwards: 0,
                has_streams: false,
                problem: None,
                hash: String::new(),
                pieces: Vec::new(),
            },
            before: Before::default(),
            hasher: XxHash3_128::new(),
            bytes: Vec::new(),
            requests: 0,
        }
    }

    /// Adds a request; how many bytes more wait.
    fn add(&mut self, request: &Request, has_streams: bool) -> usize {
        let Self { share, .. } = self;
        if share.problem.is_some() {
            return 0;
        }
        if request.op != Op::Flush && request.sectors > 0 {
            let end = request.lba.checked_add(u64::from(request.sectors));
            let Some(end) = end.filter(|end| end.checked_mul(SECTOR_BYTES).is_some()) else {
                share.problem = Some(format!(
                    "its request {} ends beyond 2^64 bytes (sector {}), and it is left out from there on",
                    share.requests.iter().sum::<u64>() + 1,
                    request.lba
                ));
                return 0;
            };
            share.end_sector = share.end_sector.max(end);
        }
        share.requests[request.op as usize] += 1;
        let sectors = &mut share.sectors[request.op as usize];
        *sectors = sectors.saturating_add(request.sectors.into());
        share.has_streams |= has_streams;
        if let Some(time_us) = request.time_us {
            share.timed += 1;
            let (first, last) = share.times_us.unwrap_or((time_us, time_us));
            share.backwards += u64::from(time_us < last);
            share.times_us = Some((first, time_us));
        }
        let begin = self.bytes.len();
        self.before.encode(request, &mut self.bytes);
        self.requests += 1;
        self.bytes.len() - begin
    }

    fn finish(mut self) -> Share {
        self.share.hash = format!("{:032x}", self.hasher.finish_128());
        self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::PieceReader;

    #[test]
    fn volumes_are_the_same_whatever_memory_there_is() {
        let place = tempfile::tempdir().unwrap();
        let mut batch = RequestBatch::new();
        for request in 0..5000_u64 {
            batch.push_at(request / 2, Op::Write, 8 * (request * 31 % 700), 8);
            batch.volume.push((request * request % 7) as u32);
        }
        let spread = |name: &str, waiting_max, wanted: &[String]| {
            let path = place.path().join(name);
            let parts = PartWriter::create(&path).unwrap();
            let mut spread = Spread::new(parts, waiting_max, wanted, "all".into());
            spread.add(&batch, &[]).unwrap();
            (path, spread.finish().unwrap().0)
        };
        let (_, whole) = spread("whole", 1 << 30, &[]);
        let (path, little) = spread("little", 1000, &[]);
        assert_eq!(whole.len(), 4, "squares modulo 7");
        assert!(whole.iter().all(|share| share.pieces.len() == 1 && share.backwards == 0));
        for (one, other) in whole.iter().zip(&little) {
            assert!(other.pieces.len() > 5);
            let same = Share { pieces: one.pieces.clone(), ..other.clone() };
            assert_eq!(&same, one);
            let mut reader =
                PieceReader::new(path.as_path().into(), other.pieces.clone(), other.hash.clone());
            let number: u32 = other.name.parse().unwrap();
            let mut read = Vec::new();
            while let Some(request) = reader.next().unwrap() {
                read.push((request.time_us.unwrap(), request.lba));
            }
            let of_volume = (0..batch.len()).filter(|index| batch.volume[*index] == number);
            let expected: Vec<_> =
                of_volume.map(|index| (batch.time_us[index], batch.lba[index])).collect();
            assert!(read == expected);
        }
        let (_, some) = spread("some", 1000, &["2".into()]);
        assert_eq!((some.len(), some[0].name.as_str()), (1, "2"));
    }

    #[test]
    fn a_volume_with_an_impossible_address_ends_there() {
        let place = tempfile::tempdir().unwrap();
        let parts = PartWriter::create(&place.path().join("a")).unwrap();
        let mut batch = RequestBatch::new();
        batch.push_at(9, Op::Write, 0, 8);
        batch.push_at(7, Op::Write, 8, 8);
        batch.push_at(8, Op::Write, u64::MAX - 3, 8);
        batch.push_at(9, Op::Write, 16, 8);
        let mut spread = Spread::new(parts, 1 << 20, &[], "all".into());
        spread.add(&batch, &[]).unwrap();
        let (shares, _) = spread.finish().unwrap();
        let share = &shares[0];
        assert_eq!(
            (share.name.as_str(), share.requests, share.backwards),
            ("all", [2, 0, 0, 0], 1)
        );
        assert_eq!((share.end_sector, share.times_us), (16, Some((9, 7))));
        assert!(share.problem.as_ref().unwrap().starts_with("its request 3 ends beyond"));
    }
}

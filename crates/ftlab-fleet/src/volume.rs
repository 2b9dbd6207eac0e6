//! A volume: what all traces have of it, as requests from the first to the last.

use crate::pass::{Read, part_path};
use ftlab_sim::{Requests, Workload};
use ftlab_trace::{Layout, TraceMetadata, lay_out};
use ftlab_volumes::{Share, SharesSource};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twox_hash::XxHash3_128;

/// A volume of a fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Volume {
    /// Its name in the traces.
    pub name: String,
    /// Its requests by operation: writes, trims, flushes, reads.
    pub requests: [u64; 4],
    /// Sectors of these requests.
    pub(crate) sectors: [u64; 4],
    /// One past its highest sector.
    pub end_sector: u64,
    /// Size of the drive that it was taken from, where a trace says so.
    pub device_bytes: Option<u64>,
    /// The times of its first and its last request, in microseconds.
    pub times_us: Option<(u64, u64)>,
    /// Requests that come before the one that precedes them.
    pub backwards: u64,
    /// What is wrong with it, as far as traces tell.
    pub problems: Vec<String>,
    /// The format of the first trace that has it.
    pub(crate) format: String,
    pub(crate) is_timed: bool,
    pub(crate) has_streams: bool,
    /// Of all its requests.
    pub(crate) hash: String,
    /// Where its requests are: numbers of traces.
    pub(crate) shares: Vec<(usize, Share)>,
}

impl Volume {
    /// All volumes of these traces, in the order in which they are first named.
    pub(crate) fn all(reads: Vec<Read>) -> Vec<Self> {
        let mut volumes: Vec<Self> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (number, read) in reads.into_iter().enumerate() {
            let Read { input, format, device_bytes, problem, has_volumes, volumes: shares, .. } =
                read;
            let cut = problem.map(|_| {
                format!("{} ends before its end, so requests are missing", input.path.display())
            });
            for share in shares {
                let place = *places.entry(share.name.clone()).or_insert(volumes.len());
                if place == volumes.len() {
                    volumes.push(Self::new(&share.name, &format));
                }
                if !has_volumes && !volumes[place].shares.is_empty() {
                    volumes[place].problems.push(format!(
                        "{} has the name of a volume before it, and is taken as more of it",
                        input.path.display()
                    ));
                }
                volumes[place].add(number, share, device_bytes, cut.as_ref());
            }
        }
        for volume in &mut volumes {
            volume.finish();
        }
        volumes
    }

    pub(crate) fn new(name: &str, format: &str) -> Self {
        Self {
            name: name.to_owned(),
            requests: [0; 4],
            sectors: [0; 4],
            end_sector: 0,
            device_bytes: None,
            times_us: None,
            backwards: 0,
            problems: Vec::new(),
            format: format.to_owned(),
            is_timed: false,
            has_streams: false,
            hash: String::new(),
            shares: Vec::new(),
        }
    }

    /// Adds what the trace of this number has.
    fn add(&mut self, number: usize, share: Share, device: Option<u64>, cut: Option<&String>) {
        for (all, of) in self.requests.iter_mut().zip(share.requests) {
            *all += of;
        }
        for (all, of) in self.sectors.iter_mut().zip(share.sectors) {
            *all = all.saturating_add(of);
        }
        self.end_sector = self.end_sector.max(share.end_sector);
        if let Some((first, last)) = share.times_us {
            let (begin, before) = self.times_us.unwrap_or((first, first));
            self.backwards += u64::from(first < before);
            self.times_us = Some((begin, last));
        }
        self.backwards += share.backwards;
        self.has_streams |= share.has_streams;
        match (self.device_bytes, device) {
            (Some(before), Some(now)) if before != now => {
                self.problems.push(format!("its size changes from {before} to {now} bytes"));
                self.device_bytes = Some(before.max(now));
            }
            (before, now) => self.device_bytes = before.or(now),
        }
        self.problems.extend(share.problem.clone());
        self.problems.extend(cut.cloned());
        self.shares.push((number, share));
    }

    fn finish(&mut self) {
        let timed: u64 = self.shares.iter().map(|(_, share)| share.timed).sum();
        self.is_timed = timed == self.all_requests();
        if self.backwards > 0 {
            let requests = if self.backwards == 1 { "request comes" } else { "requests come" };
            self.problems.push(format!(
                "{} {requests} before the one that precedes it in the traces; the order of the traces is kept",
                self.backwards
            ));
        }
        let mut hasher = XxHash3_128::new();
        for (_, share) in &self.shares {
            hasher.write(share.hash.as_bytes());
        }
        self.hash = format!("{:032x}", hasher.finish_128());
    }

    /// A volume of a test, without requests to read.
    #[cfg(test)]
    pub(crate) fn of_tests(name: &str, requests: [u64; 4]) -> Self {
        Self { requests, ..Self::new(name, "alibaba") }
    }

    /// Its requests of any kind.
    pub fn all_requests(&self) -> u64 {
        self.requests.iter().sum()
    }

    /// Its requests from the first, with their times if they are asked for.
    pub(crate) fn open(&self, parts: &Path, with_times: bool) -> SharesSource {
        let metadata = TraceMetadata {
            format: format!("{} --volume {}", self.format, self.name),
            device_bytes: self.device_bytes,
            ..TraceMetadata::default()
        };
        let shares = self.shares.iter().map(|(number, share)| (part_path(parts, *number), share));
        SharesSource::new(metadata, shares, with_times && self.is_timed, self.has_streams)
    }

    /// It as a workload: its addresses are laid out as asked.
    pub(crate) fn workload(&self, parts: &Path, layout: Layout, with_times: bool) -> Workload {
        let identity = format!("volume {} {layout:?}", self.hash);
        let (name, end_sector) = (self.name.clone(), self.end_sector);
        let (volume, parts): (_, PathBuf) = (Arc::new(self.clone()), parts.into());
        let open = move || lay_out(Box::new(volume.open(&parts, with_times)), layout);
        let requests = Requests::new(name, false, open).of_traces(identity);
        let is_laid_out = matches!(layout, Layout::Pieces(_));
        Workload::Requests(if is_laid_out { requests } else { requests.up_to(end_sector) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::inputs;
    use crate::pass::Pass;
    use ftlab_trace::{OpenOptions, RequestBatch, TraceSource};
    use std::fs;

    fn volumes(place: &Path, texts: &[&str]) -> Vec<Volume> {
        let names: Vec<_> = (0..texts.len()).map(|n| place.join(format!("{n}.csv"))).collect();
        for (name, text) in names.iter().zip(texts) {
            fs::write(name, text).unwrap();
        }
        let options = OpenOptions { format: Some("alibaba".into()), ..OpenOptions::default() };
        let pass = Pass {
            directory: &place.join("parts"),
            options: &options,
            threads: 1,
            waiting_bytes: 1,
            strict: false,
        };
        let (inputs, _) = inputs(&names).unwrap();
        Volume::all(pass.run(&inputs, &|_, _, _| ()).unwrap())
    }

    #[test]
    fn a_volume_of_several_traces_is_one_after_the_other() {
        let place = tempfile::tempdir().unwrap();
        let first = "7,W,4096,4096,1577900000000005\n8,W,0,512,1577900000000006\n";
        let second = "8,R,0,512,1577900000000007\n7,W,0,8192,1577900000000004\n";
        let volumes = volumes(place.path(), &[first, second]);
        let [seven, eight] = &volumes[..] else { panic!("{volumes:?}") };
        assert_eq!((seven.requests, eight.requests), ([2, 0, 0, 0], [1, 0, 0, 1]));
        assert_eq!((seven.end_sector, seven.backwards, eight.backwards), (16, 1, 0));
        assert!(seven.problems[0].starts_with("1 request comes before"), "{seven:?}");
        let mut source = seven.open(&place.path().join("parts"), true);
        let mut batch = RequestBatch::new();
        assert!(source.next_batch(&mut batch).unwrap());
        let requests: Vec<_> = batch.iter().map(|(_, lba, sectors)| (lba, sectors)).collect();
        assert_eq!(requests, [(8, 8), (0, 16)]);
        assert_eq!(batch.time_us, [1_577_900_000_000_005, 1_577_900_000_000_004]);
        assert!(!source.next_batch(&mut batch).unwrap() && source.progress() == Some(1.0));
    }

    #[test]
    fn a_volume_that_changes_its_size_says_so_and_has_the_larger_one() {
        let place = tempfile::tempdir().unwrap();
        let [of_trace] = &volumes(place.path(), &["7,W,0,4096,1577900000000005\n"])[..] else {
            panic!("one volume")
        };
        let (number, share) = &of_trace.shares[0];
        let mut volume = Volume::new("7", "alibaba");
        for device_bytes in [None, Some(16_384), Some(8192)] {
            volume.add(*number, share.clone(), device_bytes, None);
        }
        assert_eq!(volume.device_bytes, Some(16_384));
        assert_eq!(volume.problems, ["its size changes from 16384 to 8192 bytes"]);
    }

    #[test]
    fn a_volume_of_a_cut_trace_says_so() {
        let place = tempfile::tempdir().unwrap();
        let volumes = volumes(
            place.path(),
            &["7,W,0,4096,1577900000000005\n7,W,x,1,2\n", "8,W,0,512,1577900000000006\n"],
        );
        assert!(volumes[0].problems[0].contains("0.csv ends before its end"), "{volumes:?}");
        assert!(volumes[1].problems.is_empty());
    }
}

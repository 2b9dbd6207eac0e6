//! `fleet`: volumes that are made up, as a cloud block store has them, in the order of time.
//!
//! Sizes, how often pages are written and how often they are read follow what is [published](published) of the volumes
//! of Alibaba. What volumes do, and how times follow each other, is our choice. A fleet that is made up shows how
//! `ftlab fleet` works, and how fast; it says nothing about FTLs.

mod published;
mod volume;

use ftlab_spec::{Parameters, Spec};
use ftlab_trace::{RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use volume::{Generated, Request};

/// What every name of a fleet that is made up begins with.
const NAME: &str = "fleet";

/// The version of its requests.
const VERSION: u32 = 1;

/// 2020-01-01 00:00 UTC, in microseconds.
const START_US: u64 = 1_577_836_800_000_000;

ftlab_spec::parameters! {
    /// How many volumes, and how large.
    pub struct FleetParameters {
        /// Volumes.
        volumes: u32 = 1000, "volumes" in 1..=1_000_000, from "Alibaba's traces of 2020";
        /// Seed of all random numbers.
        seed: u64 = 1, "seed", from "our choice";
        /// Sizes of volumes, as a share of those published.
        scale: f64 = 0.001, "scale" in 0.000_001..=1.0, from "our choice";
        /// Days from the first request to the last, about.
        days: f64 = 31.0, "days" in 0.001..=3650.0, from "Alibaba's traces of 2020";
    }
}

/// The fleet that a name stands for, if it is none of a file: `fleet`, or `fleet:volumes=100,seed=7`.
pub fn generated(name: &Path) -> Option<Result<Spec, TraceError>> {
    let text = name.to_str().filter(|text| text.split(':').next() == Some(NAME))?;
    if name.is_file() {
        return None;
    }
    let spec = text.parse::<Spec>().map_err(TraceError::from);
    Some(spec.and_then(|spec| {
        FleetParameters::from_spec(&spec)?;
        Ok(spec)
    }))
}

/// What decides the requests of a fleet, beside its parameters.
pub fn generator_version() -> String {
    format!("{NAME} {VERSION}")
}

/// A fleet that is made up, as a trace of many volumes.
pub struct FleetSource {
    metadata: TraceMetadata,
    skipped: Skipped,
    names: Vec<String>,
    volumes: Vec<Generated>,
    /// The next request of each volume that has one, the earliest first.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    /// Those requests.
    ready: Vec<Request>,
    left: usize,
}

impl FleetSource {
    /// The fleet of a spec.
    pub fn new(spec: &Spec) -> Result<Self, TraceError> {
        let FleetParameters { volumes, seed, scale, days } = FleetParameters::from_spec(spec)?;
        let mut metadata = TraceMetadata { format: spec.to_string(), ..TraceMetadata::default() };
        metadata.properties.insert("generator".into(), spec.to_string());
        let mut source = Self {
            metadata,
            skipped: Skipped::default(),
            names: (0..volumes).map(|number| number.to_string()).collect(),
            volumes: (0..u64::from(volumes))
                .map(|number| Generated::new(seed, number, scale, days, START_US))
                .collect(),
            next: BinaryHeap::new(),
            ready: vec![(ftlab_trace::Op::Flush, 0, 0); volumes as usize],
            left: volumes as usize,
        };
        for number in 0..source.volumes.len() {
            source.draw(number);
        }
        Ok(source)
    }

    /// The name and the bytes of each volume.
    pub fn sizes(&self) -> impl Iterator<Item = (&str, u64)> {
        let names = self.names.iter().map(String::as_str);
        names.zip(self.volumes.iter().map(|volume| volume.capacity_bytes))
    }

    /// Draws the next request of a volume.
    fn draw(&mut self, number: usize) {
        let volume = &mut self.volumes[number];
        match volume.next() {
            Some(request) => {
                self.ready[number] = request;
                self.next.push(Reverse((volume.time_us, number)));
            }
            None => self.left -= 1,
        }
    }
}

impl TraceSource for FleetSource {
    fn metadata(&self) -> &TraceMetadata {
        &self.metadata
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        batch.clear();
        while !batch.is_full() {
            let Some(Reverse((time_us, number))) = self.next.pop() else { break };
            let (op, lba, sectors) = self.ready[number];
            batch.push_at(time_us, op, lba, sectors);
            batch.volume.push(number as u32);
            self.draw(number);
        }
        Ok(!batch.is_empty())
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn volumes(&self) -> &[String] {
        &self.names
    }

    fn progress(&self) -> Option<f64> {
        Some(1.0 - self.left as f64 / self.volumes.len().max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(spec: &str) -> RequestBatch {
        let mut source = FleetSource::new(&spec.parse().unwrap()).unwrap();
        let (mut all, mut batch) = (RequestBatch::new(), RequestBatch::new());
        while source.next_batch(&mut batch).unwrap() {
            all.extend_from(&batch);
        }
        all
    }

    #[test]
    fn requests_come_in_the_order_of_time_and_depend_on_the_seed_alone() {
        let fleet = "fleet:volumes=20,scale=0.00002,seed=3";
        let requests = all(fleet);
        assert!(requests.time_us.is_sorted() && requests.len() > 1000);
        assert_eq!(requests.volume.iter().max(), Some(&19));
        assert!(requests == all(fleet));
        assert!(requests != all("fleet:volumes=20,scale=0.00002,seed=4"));
    }

    #[test]
    fn names_of_files_are_none_of_fleets() {
        assert!(generated(Path::new("alibaba.csv")).is_none());
        assert!(generated(Path::new("fleet:volumes=3")).unwrap().is_ok());
        let error = generated(Path::new("fleet:volume=3")).unwrap().unwrap_err().to_string();
        assert!(error.contains("volumes"), "{error}");
        assert!(generated(Path::new("fleet:volumes=0")).unwrap().is_err());
    }
}

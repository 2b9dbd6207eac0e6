//! `fio` and `fio-randwrite`: the requests of fio's job files.
//!
//! # Idea
//! What a benchmark wrote to a real drive can be written to a simulated one, from the job file that it was
//! run with. `ftlab run jobs.fio` is short for `ftlab run fio:file=jobs.fio`.
//!
//! # Rule
//! [`fio`](crate::fio) reads job files and makes their requests. `fio-randwrite` is this one, on the whole
//! drive, with the seed of the generator for S and block sizes for B:
//!
//! ```text
//! [fio-randwrite]
//! rw=randwrite
//! bs=B
//! randrepeat=0
//! randseed=S
//! time_based
//! ```
//!
//! # What to know
//! fio keeps a random map unless `norandommap` is set: no block is written twice before all have been written
//! once. Pages that were written long ago are then sure to be written soon, so blocks empty themselves, and
//! write amplification is much lower than with `uniform`, whose pages are drawn independently.
//!
//! # Reference
//! fio 3.33, HOWTO.

use super::file_name::FileName;
use super::generator::{Bounds, End, GeneratorInfo, Make, PageSequence};
use super::space::Space;
use crate::fio::{JobFile, JobRequests};
use crate::{RequestBatch, TraceError};
use ftlab_spec::{Parameters, Spec, SpecError};
use std::path::Path;

ftlab_spec::parameters! {
    /// Which jobs.
    pub struct FioParameters {
        /// The job file.
        file: FileName = FileName::default(), "file", from "must be given";
    }
}

ftlab_spec::choices! {
    /// From which numbers offsets are drawn.
    pub enum Numbers {
        /// Of 32 bits.
        Tausworthe = "tausworthe",
        /// Of 64 bits.
        Tausworthe64 = "tausworthe64",
        /// A shift register, which passes every block once without a map.
        Lfsr = "lfsr",
    }
}

ftlab_spec::parameters! {
    /// How fio writes at random.
    pub struct FioRandwriteParameters {
        /// KiB of a request.
        bs: u32 = 4, "bs" in 1..=1_048_576, from "fio 3.33";
        /// Whether every block is written once before any is written twice.
        map: bool = true, "map", from "fio 3.33, norandommap=0";
        /// From which numbers offsets are drawn.
        generator: Numbers = Numbers::Tausworthe, "generator", from "fio 3.33";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "fio",
    summary: "the jobs of a job file of fio, request for request; jobs.fio is short for fio:file=jobs.fio",
    source: "fio 3.33",
    parameters: FioParameters::describe,
    version: 1,
    end: End::Told(|spec| {
        let jobs = read(spec)?;
        let (has_end, drive_bytes) = (jobs.has_end(), jobs.drive_bytes());
        Ok(Bounds { has_end, drive_bytes, writes: jobs.writes() })
    }),
    make: Make::OfParameters {
        resolve: FioParameters::resolve,
        build: |spec, space| sequence(&read(spec)?, space),
        areas: |_, _| Ok(Vec::new()),
    },
};

pub(super) const RANDWRITE: GeneratorInfo = GeneratorInfo {
    name: "fio-randwrite",
    summary: "fio's rw=randwrite: every page once, in random order, again and again (its random map)",
    source: "fio 3.33, rw=randwrite",
    parameters: FioRandwriteParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::OfParameters {
        resolve: FioRandwriteParameters::resolve,
        build: |spec, space| {
            let parameters = FioRandwriteParameters::from_spec(spec)?;
            sequence(&JobFile::parse(&randwrite(&parameters), &spec.name)?, space)
        },
        areas: |_, _| Ok(Vec::new()),
    },
};

/// The jobs of the job file that a spec names, if it names one.
pub fn jobs(spec: &Spec) -> Result<Option<JobFile>, TraceError> {
    if spec.name == GENERATOR.name { read(spec).map(Some) } else { Ok(None) }
}

/// The jobs that a spec names.
pub(super) fn read(spec: &Spec) -> Result<JobFile, TraceError> {
    let FioParameters { file } = FioParameters::from_spec(spec)?;
    if file.as_str().is_empty() {
        return Err(SpecError::BadValue {
            of: spec.name.clone(),
            key: "file".into(),
            value: String::new(),
            expects: "the path of a job file; give one, as in fio:file=jobs.fio".into(),
        }
        .into());
    }
    JobFile::read(Path::new(file.as_str()))
}

/// The job file of `fio-randwrite`.
fn randwrite(parameters: &FioRandwriteParameters) -> String {
    let FioRandwriteParameters { bs, map, generator } = parameters;
    let norandommap = u8::from(!map);
    format!(
        "[fio-randwrite]\nfilename=/dev/drive\nioengine=io_uring\nrw=randwrite\nbs={bs}k\n\
         norandommap={norandommap}\nrandom_generator={generator}\nrandrepeat=0\n\
         time_based\nruntime=1\n"
    )
}

fn sequence(jobs: &JobFile, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    Ok(Box::new(jobs.requests(space)?))
}

impl PageSequence for JobRequests {
    fn next_requests(
        &mut self,
        batch: &mut RequestBatch,
        _page_sectors: u32,
    ) -> Result<bool, TraceError> {
        self.fill(batch)
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        self.notes().to_vec()
    }
}

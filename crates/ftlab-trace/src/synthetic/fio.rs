//! `fio`, `fio-randwrite` and `fio-three-streams`: the requests of fio's job files.
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
//! `fio-three-streams` is what drives with placement handles are tried with: a sequential writer and random
//! overwrites of the same nine tenths of the drive, and random writes to the last tenth, which is all written once
//! before. Its queue depths say how the writers share the drive: as turns of so many requests.
//!
//! # What to know
//! fio keeps a random map unless `norandommap` is set: no block is written twice before all have been written
//! once. Pages that were written long ago are then sure to be written soon, so blocks empty themselves, and
//! write amplification is much lower than with `uniform`, whose pages are drawn independently.
//!
//! # Reference
//! fio 3.33, HOWTO. The three streams are those of WARP (FAST 2026).

use super::file_name::FileName;
use super::generator::{Bounds, End, GeneratorInfo, Make, PageSequence};
use super::requests::{Stepped, Steps};
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

ftlab_spec::choices! {
    /// Where overwrites go.
    pub enum Overwrites {
        /// Everywhere alike.
        Uniform = "uniform",
        /// As `zipf` of fio has it.
        Zipf = "zipf",
        /// 80% to the first fifth, 10% to the next and 10% to the rest.
        Zoned = "zoned",
    }
}

ftlab_spec::choices! {
    /// Which placement handles are named.
    pub enum Handles {
        /// One for each stream.
        Own = "own",
        /// Overwrites have that of the sequential writer.
        Shared = "shared",
        /// None.
        None = "none",
    }
}

ftlab_spec::parameters! {
    /// Three streams at once.
    pub struct ThreeStreamsParameters {
        /// Where overwrites go.
        overwrites: Overwrites = Overwrites::Uniform, "overwrites", from "WARP (FAST 2026)";
        /// Skew of zipf.
        theta: f64 = 1.2, "theta" in 0.01..=10.0, from "WARP (FAST 2026)";
        /// Placement handles.
        handles: Handles = Handles::Own, "handles", from "WARP (FAST 2026)";
        /// KiB of a sequential request in its turn.
        sequential: u32 = 128, "sequential" in 4..=65_536, from "WARP (FAST 2026): 128 KiB, one at a time";
        /// Overwrites of 4 KiB in their turn.
        overwrite_depth: u32 = 32, "overwrite-depth" in 1..=65_536, from "WARP (FAST 2026)";
        /// Random writes of 4 KiB in their turn.
        random_depth: u32 = 32, "random-depth" in 1..=65_536, from "WARP (FAST 2026)";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "fio",
    summary: "the jobs of a job file of fio, request for request; jobs.fio is short for fio:file=jobs.fio",
    source: "fio 3.33",
    parameters: FioParameters::describe,
    end: End::Told(|spec| {
        let jobs = read(spec)?;
        Ok(Bounds {
            has_end: jobs.has_end(),
            drive_bytes: jobs.drive_bytes(),
            content: jobs.identity(),
            may_fail: false,
        })
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

pub(super) const THREE_STREAMS: GeneratorInfo = GeneratorInfo {
    name: "fio-three-streams",
    summary: "a sequential writer, overwrites of the same data, and random writes to a tenth, each with a handle",
    source: "WARP (FAST 2026)",
    parameters: ThreeStreamsParameters::describe,
    end: End::Never,
    make: Make::OfParameters {
        resolve: ThreeStreamsParameters::resolve,
        build: |spec, space| {
            let parameters = ThreeStreamsParameters::from_spec(spec)?;
            sequence(&JobFile::parse(&three_streams(&parameters), &spec.name)?, space)
        },
        areas: |_, _| Ok(Vec::new()),
    },
};

/// The jobs of the job file that a spec names, if it names one.
pub fn jobs(spec: &Spec) -> Result<Option<JobFile>, TraceError> {
    if spec.name == GENERATOR.name { read(spec).map(Some) } else { Ok(None) }
}

/// The jobs that a spec names.
fn read(spec: &Spec) -> Result<JobFile, TraceError> {
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

/// The job file of `fio-three-streams`.
fn three_streams(parameters: &ThreeStreamsParameters) -> String {
    let ThreeStreamsParameters { overwrites, theta, handles, sequential, .. } = parameters;
    let ThreeStreamsParameters { overwrite_depth, random_depth, .. } = parameters;
    let distribution = match overwrites {
        Overwrites::Uniform => "random".to_owned(),
        Overwrites::Zipf => format!("zipf:{theta}"),
        Overwrites::Zoned => "zoned:80/20:10/20:10/60".to_owned(),
    };
    let handle = |own: u32| match handles {
        Handles::None => String::new(),
        Handles::Shared if own == 2 => "fdp=1\nfdp_pli=0\n".to_owned(),
        Handles::Own | Handles::Shared => format!("fdp=1\nfdp_pli={own}\n"),
    };
    let [first, last, over] = [0, 1, 2].map(handle);
    format!(
        "[global]\nfilename=/dev/drive\nioengine=io_uring_cmd\nnorandommap\nrandrepeat=0\n\
         [fill]\nrw=write\nbs={sequential}k\nsize=90%\n{first}\
         [fill-random]\nrw=randwrite\nbs=4k\noffset=90%\nsize=10%\niodepth={random_depth}\n{last}\
         [sequential]\nstonewall\nrw=write\nbs={sequential}k\nsize=90%\ntime_based\nruntime=1\n{first}\
         [overwrites]\nrw=randwrite\nbs=4k\nsize=90%\niodepth={overwrite_depth}\n\
         random_distribution={distribution}\ntime_based\nruntime=1\n{over}\
         [random]\nrw=randwrite\nbs=4k\noffset=90%\nsize=10%\niodepth={random_depth}\n\
         time_based\nruntime=1\n{last}"
    )
}

fn sequence(jobs: &JobFile, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    Ok(Box::new(Jobs(Stepped::new(jobs.requests(space)?, space.page_bytes))))
}

/// The requests of jobs; whatever asks for pages only gets those that they write.
struct Jobs(Stepped<JobRequests>);

impl Steps for JobRequests {
    fn step(&mut self, out: &mut RequestBatch) -> Result<bool, TraceError> {
        self.fill(out)
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        self.notes().to_vec()
    }
}

impl PageSequence for Jobs {
    fn fill(&mut self, pages: &mut [u64]) {
        self.0.fill(pages);
    }

    fn next_requests(
        &mut self,
        batch: &mut RequestBatch,
        _page_sectors: u32,
    ) -> Result<bool, TraceError> {
        self.0.steps_mut().fill(batch)
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        self.0.properties()
    }
}

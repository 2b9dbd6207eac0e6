//! `fio` and `fio-randwrite`: the requests of fio's job files.
//!
//! # Idea
//! What a benchmark wrote to a real drive can be written to a simulated one, from the job file or the command that
//! it was run with. `ftlab run jobs.fio` is short for `ftlab run fio:file=jobs.fio`, and
//! `ftlab run -- fio --name=a --rw=randwrite` for `fio:command=fio --name=a --rw=randwrite`.
//!
//! # Rule
//! `ftlab-fio` reads job files and commands and makes their requests. `fio-randwrite` is this one, on the whole
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
//! fio 3.35 made seeds otherwise, and later versions changed more (docs/fio.md). The jobs are those of `version`;
//! if it is not given, of the one that the job file states in a comment (`; ftlab: version=3.33`), or else of the
//! newest. `fio-randwrite` is the same in all.
//!
//! # What to know
//! fio keeps a random map unless `norandommap` is set: no block is written twice before all have been written
//! once. Pages that were written long ago are then sure to be written soon, so blocks empty themselves, and
//! write amplification is much lower than with `uniform`, whose pages are drawn independently.
//!
//! # Reference
//! fio 3.42, HOWTO.

#[cfg(not(feature = "fio"))]
use super::absent_fio as ftlab_fio;
use super::file_name::FileName;
use super::generator::{Bounds, End, GeneratorInfo, Make};
use super::sequence::PageSequence;
use ftlab_spec::{ByteSize, OrAuto, Parameters, Spec, SpecError, Value};
use ftlab_trace::Space;
use ftlab_trace::{RequestBatch, TraceError};
use std::fmt;
use std::path::Path;

pub use ftlab_fio::{Hosts, JobFile};
use ftlab_fio::{JobRequests, Taken, Version};

ftlab_spec::parameters! {
    /// Which jobs.
    pub struct FioParameters {
        /// The job file.
        file: FileName = FileName::default(), "file", from "it or a command must be given";
        /// A command of fio instead, such as fio --name=a --rw=randwrite; it comes last, for it may have commas.
        command: CommandLine = CommandLine::default(), "command", from "none";
        /// Of which fio: `auto` for the one that the job file states, or else the newest.
        version: OrAuto<Version> = OrAuto::Auto, "version", from "the job file";
        /// Of jobs of several devices, those of this one.
        device: FileName = FileName::default(), "device", from "none: all have to be of one";
        /// The drive that sizes in bytes are for, where a smaller one is simulated: they shrink with it.
        capacity: ByteSize = ByteSize(0), "capacity", from "0: the one that is simulated";
    }
}

/// A command as a shell takes it; empty for none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandLine(String);

impl CommandLine {
    /// Its words from `fio` on; `None` if it is no command of fio.
    fn words(&self) -> Option<Vec<String>> {
        let mut words = shlex::split(&self.0)?;
        if words.first().is_some_and(|word| word == "sudo") {
            words.remove(0);
        }
        let program = Path::new(words.first()?).file_name()?;
        (program == GENERATOR.name && words.len() > 1).then_some(words)
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Value for CommandLine {
    fn expects() -> String {
        "a command of fio, such as fio --name=a --rw=randwrite".into()
    }

    fn parse(text: &str) -> Option<Self> {
        let command = Self(text.into());
        (text.is_empty() || command.words().is_some()).then_some(command)
    }
}

/// The parameter that is a command.
const COMMAND: &str = "command";

/// The spec of jobs that `text` stands for, if it is a command of fio, or a spec with one: what follows `command=`
/// belongs to the command.
pub fn of_command(text: &str) -> Option<Spec> {
    let command = |text: &str| (COMMAND.to_owned(), text.to_owned());
    if CommandLine(text.into()).words().is_some() {
        return Some(Spec { name: GENERATOR.name.into(), arguments: vec![command(text)] });
    }
    let (given, rest) = [":command=", ",command="].iter().find_map(|key| text.split_once(key))?;
    let mut spec: Spec = given.parse().ok()?;
    spec.arguments.push(command(rest));
    (spec.name == GENERATOR.name).then_some(spec)
}

/// The command of a spec that says nothing else.
pub fn command(spec: &Spec) -> Option<&str> {
    match spec.arguments.as_slice() {
        [(key, text)] if spec.name == GENERATOR.name && key == COMMAND => Some(text),
        _ => None,
    }
}

/// Whether a spec names jobs of fio.
pub fn is_jobs(spec: &Spec) -> bool {
    spec.name == GENERATOR.name
}

/// These jobs with one more parameter, which does not come after the command.
#[must_use]
pub fn with(spec: &Spec, key: &str, value: impl fmt::Display) -> Spec {
    let mut spec = spec.clone();
    spec.arguments.insert(0, (key.to_owned(), value.to_string()));
    spec
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
    source: "fio 3.33 to 3.42",
    parameters: FioParameters::describe,
    version: 2,
    end: End::Told(|spec| {
        let jobs = read(spec)?;
        let (has_end, drive_bytes) = (jobs.has_end(), jobs.drive_bytes());
        Ok(Bounds { has_end, drive_bytes, writes: jobs.writes() })
    }),
    make: Make::Parameters {
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
    make: Make::Parameters {
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
    let FioParameters { file, command, version, device, capacity } =
        FioParameters::from_spec(spec)?;
    let some = |name: &FileName| Some(name.as_str().to_owned()).filter(|name| !name.is_empty());
    let taken = Taken {
        device: some(&device),
        capacity: Some(capacity.0).filter(|bytes| *bytes > 0),
        version: version.given().copied(),
    };
    match (some(&file), command.words()) {
        (Some(file), None) => JobFile::read_for(Path::new(&file), &taken),
        (None, Some(words)) => JobFile::command(&words, &taken),
        (file, _) => Err(SpecError::BadValue {
            of: spec.name.clone(),
            key: "file".into(),
            value: file.unwrap_or_default(),
            expects: "the path of a job file; give it or a command, as in fio:file=jobs.fio".into(),
        }
        .into()),
    }
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

//! fio's job files and commands as workloads: the pages that fio would write, without fio and without a drive.
//!
//! [`JobFile::read`] takes a file apart, [`JobFile::requests`] makes its requests for a drive. A single job
//! issues the requests of a [`Version`] of fio, bit for bit (the tests compare them with fio's own logs); several
//! take turns (`turns`). docs/fio.md says what each option means here.
//!
//! | file | what it is |
//! |---|---|
//! | `job_file` | sections, comments, includes |
//! | `version` | what changed between versions of fio |
//! | `command` | the same from a command line |
//! | `known` | the names of all options, and which are used, passed over or refused |
//! | `options`, `direction`, `values`, `remarks` | what each option means, and what is worth knowing of it |
//! | `thread`, `targets`, `plan` | jobs that run by themselves, their files, and both on a drive of known size |
//! | `scale` | jobs whose sizes are those of a larger drive |
//! | `lfsr` | random numbers that come once each; the others are in `ftlab-random` |
//! | `distribution`, `axmap`, `marks`, `sizes` | what is made of them: offsets, the random map, sizes |
//! | `job`, `replay` | requests of one job: made, or replayed |
//! | `turns`, `hosts` | of all in turn, of all by a clock |
//!
//! fio is free software under the GPL, version 2. Nothing here is taken from its source but facts: constants,
//! and the order in which numbers are drawn.
#![forbid(unsafe_code)]

mod axmap;
mod command;
mod direction;
mod distribution;
mod hosts;
mod job;
mod job_file;
mod known;
mod lfsr;
mod marks;
mod options;
mod plan;
mod remarks;
mod replay;
mod scale;
mod sizes;
mod targets;
#[cfg(test)]
mod tests;
mod thread;
mod turns;
mod values;
mod version;

use ftlab_trace::Space;
use ftlab_trace::{RequestBatch, TraceError};
pub use hosts::Hosts;
use job_file::{Section, Surroundings, sections};
use options::Options;
use plan::Plan;
use remarks::Remarks;
pub use replay::OpenReplay;
use scale::Scale;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use targets::{ALIGNMENT, Targets};
use thread::Thread;
use turns::Turns;
pub use version::Version;

/// A job file, or a command of fio, that was read and understood.
#[derive(Debug, Clone)]
pub struct JobFile {
    threads: Vec<Thread>,
    targets: Targets,
    remarks: Remarks,
    capacity: Option<u64>,
}

/// Which jobs are taken, and which drive they are for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// Of jobs of several devices, those of this one.
    pub device: Option<String>,
    /// Bytes of the drive that sizes in bytes are for, where a smaller one is simulated: they shrink with it.
    pub capacity: Option<u64>,
    /// Of which fio they are, whatever the job file states.
    pub version: Option<Version>,
}

/// The file system and the environment.
struct System;

impl Surroundings for System {
    fn include(&self, path: &str, from: &str) -> Result<(String, String), TraceError> {
        let beside = Path::new(from).with_file_name(path);
        let found = if Path::new(path).exists() { Path::new(path) } else { &beside };
        let name = found.display().to_string();
        read(found, &name).map(|text| (name, text))
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

/// Nothing: for texts that come from nowhere.
struct Nowhere;

impl Surroundings for Nowhere {
    fn include(&self, path: &str, from: &str) -> Result<(String, String), TraceError> {
        let source = std::io::Error::from(std::io::ErrorKind::NotFound);
        Err(TraceError::io(&format!("{path}, which {from} includes"), source))
    }

    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
}

fn read(path: &Path, name: &str) -> Result<String, TraceError> {
    let bytes = std::fs::read(path).map_err(|source| TraceError::io(name, source))?;
    if is_wide(&bytes) {
        return Err(TraceError::Unsupported {
            what: format!("{name} is in UTF-16, which fio cannot read either"),
            remedy: "save it as UTF-8 without a byte order mark".into(),
        });
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| latin(error.as_bytes())))
}

/// A text in Latin-1, with all of its signs: fio takes no byte order mark and no line end away.
fn latin(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// Whether a job file is in UTF-16: it begins with its mark, or with a sign of ASCII in two bytes.
fn is_wide(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 1..=0x7f, ..] | [1..=0x7f, 0, ..])
}

impl JobFile {
    /// Reads a job file and those that it includes. Its jobs are those of the version that it states in a
    /// comment, or else of the newest.
    pub fn read(path: &Path) -> Result<Self, TraceError> {
        Self::read_for(path, &Taken::default())
    }

    /// Reads a job file with a choice of jobs, for another drive, or of another version.
    pub fn read_for(path: &Path, taken: &Taken) -> Result<Self, TraceError> {
        let name = path.display().to_string();
        let sections = sections(&read(path, &name)?, &name, &[], &System)?;
        Self::of(&sections, Remarks::default(), &name, taken)
    }

    /// The jobs of a command of fio, of which the first of the `words` is `fio`.
    ///
    /// ```
    /// use ftlab_fio::{JobFile, Taken};
    ///
    /// let words = ["fio", "--name=a", "--rw=randwrite", "--size", "1g"].map(str::to_owned);
    /// let jobs = JobFile::command(&words, &Taken::default())?;
    /// assert_eq!(jobs.drive_bytes(), Some(1 << 30));
    /// # Ok::<(), ftlab_trace::TraceError>(())
    /// ```
    pub fn command(words: &[String], taken: &Taken) -> Result<Self, TraceError> {
        let (sections, remarks) = command::sections(words, &System)?;
        Self::of(&sections, remarks, command::NAME, taken)
    }

    /// The jobs in a text; it can include no files, and environment variables are not set.
    ///
    /// ```
    /// use ftlab_fio::JobFile;
    /// use ftlab_trace::Space;
    /// use ftlab_trace::RequestBatch;
    ///
    /// let jobs = JobFile::parse("[job]\nrw=randwrite\nbs=4k\nsize=1g\n", "text")?;
    /// let space = Space { logical_pages: 1 << 18, page_bytes: 4096, seed: 1 };
    /// let mut requests = jobs.requests(&space)?;
    /// let mut batch = RequestBatch::with_limit(1 << 18);
    /// assert!(requests.fill(&mut batch)? && batch.len() == 1 << 18);
    /// batch.lba.sort_unstable();
    /// assert!(batch.lba.iter().copied().eq((0..1 << 18).map(|page| 8 * page)), "each page once");
    /// # Ok::<(), ftlab_trace::TraceError>(())
    /// ```
    pub fn parse(text: &str, name: &str) -> Result<Self, TraceError> {
        Self::parse_for(text, name, &Taken::default())
    }

    /// The jobs in a text with a choice of jobs, for another drive, or of another version.
    pub fn parse_for(text: &str, name: &str, taken: &Taken) -> Result<Self, TraceError> {
        let sections = sections(text, name, &[], &Nowhere)?;
        Self::of(&sections, Remarks::default(), name, taken)
    }

    fn of(
        sections: &[Section],
        mut remarks: Remarks,
        name: &str,
        taken: &Taken,
    ) -> Result<Self, TraceError> {
        let mut threads = thread::threads(sections, taken.version, &mut remarks)?;
        if threads.is_empty() {
            return Err(TraceError::Unsupported {
                what: format!("{name} has no job"),
                remedy: "add one: a section such as [job], or --name=job, with rw=randwrite".into(),
            });
        }
        if let Some(device) = &taken.device {
            threads = targets::of_device(threads, device)?;
            remarks.take_device(device);
        }
        let capacity = taken.capacity;
        Ok(Self { targets: Targets::of(&threads)?, threads, remarks, capacity })
    }

    /// Refuses jobs that wait for others that never end.
    fn check_ends(&self) -> Result<(), TraceError> {
        for (group, jobs) in groups(&self.threads) {
            let endless = jobs.iter().find(|job| job.options.time_based);
            let next = self.threads.iter().find(|job| job.group > group);
            if let (Some(endless), Some(next)) = (endless, next) {
                return Err(next.refuse(
                    format!(
                        "waits (stonewall) for [{}], which is time_based and, without a clock, has no end",
                        endless.name
                    ),
                    "give that one io_size= or loops= instead of time_based",
                ));
            }
        }
        Ok(())
    }

    /// Whether all jobs end: none is `time_based`, or replays what is no file without `number_ios`.
    pub fn has_end(&self) -> bool {
        self.threads.iter().all(|thread| !thread.options.time_based && thread.replay_ends())
    }

    /// Whether any job can write: what a job replays may.
    pub fn writes(&self) -> bool {
        self.threads.iter().any(Thread::writes)
    }

    /// Whether all jobs end where there is a clock, and so `time_based` jobs do by their `runtime`.
    pub fn has_end_by_the_clock(&self) -> bool {
        self.threads.iter().all(|thread| thread.options.runtime_us > 0 || thread.replay_ends())
    }

    /// The smallest drive that has room for all files, in bytes; `None` where a job takes its size from
    /// the drive.
    pub fn drive_bytes(&self) -> Option<u64> {
        if self.capacity.is_some() { None } else { self.targets.bytes(ALIGNMENT) }
    }

    /// Whether any job has sizes in bytes, which are those of the drive that it is for.
    pub fn has_sizes(&self) -> bool {
        self.threads.iter().any(scale::has_sizes)
    }

    /// The drive that sizes in bytes are for, where it is not the one that is simulated.
    pub fn capacity(&self) -> Option<u64> {
        self.capacity
    }

    /// All that these jobs say, but for what they [replay](Self::replays) and where they say it.
    pub fn said(&self) -> String {
        let jobs = self.threads.iter().map(|thread| {
            let Thread { name, place: _, options, number, subjob, group, file } = thread;
            let replays = options.read_iolog.is_some();
            let options = Options { read_iolog: None, ..options.clone() };
            format!("{:?}", (name, options, replays, number, subjob, group, file))
        });
        let drive = self.capacity.map_or_else(String::new, |capacity| format!("; of {capacity}"));
        jobs.collect::<Vec<_>>().join("; ") + &drive
    }

    /// What jobs replay, in their order: paths of traces, and names of other workloads.
    pub fn replays(&self) -> impl Iterator<Item = &str> {
        self.threads.iter().filter_map(|thread| thread.options.read_iolog.as_deref())
    }

    /// The requests on a drive. Its seed counts where fio would take one from the system: with
    /// `randrepeat=0` and no `randseed`.
    pub fn requests(&self, space: &Space) -> Result<JobRequests, TraceError> {
        self.check_ends()?;
        let groups = self.plans(space)?;
        let notes = self.notes(&groups, space, false);
        Ok(JobRequests { turns: Turns::new(groups)?, notes })
    }

    /// The jobs for a clock: each is a host of its own, with its own queue depth. Where reads take no time, neither
    /// do trims, and jobs that write nothing are refused. `open` opens what jobs replay.
    pub fn hosts(
        &self,
        space: &Space,
        open: OpenReplay,
        reads_take_time: bool,
    ) -> Result<Hosts, TraceError> {
        let groups = self.plans(space)?;
        let notes = self.notes(&groups, space, true);
        Hosts::new(groups, notes, open, reads_take_time)
    }

    /// The jobs on a drive, group by group.
    fn plans(&self, space: &Space) -> Result<Vec<Vec<Plan>>, TraceError> {
        let drive_bytes = space.logical_pages.saturating_mul(u64::from(space.page_bytes));
        let (threads, targets, alignment) = self.on_drive(drive_bytes, space.page_bytes)?;
        let extents = targets.place(drive_bytes, alignment)?;
        let plan =
            |thread: &Thread| Plan::new(thread, extents[targets.index_of(&thread.file)], space);
        groups(&threads).map(|(_, jobs)| jobs.iter().map(plan).collect()).collect()
    }

    /// Jobs, files, and to what these are aligned, with sizes of this drive if they are for a larger one.
    fn on_drive(&self, drive: u64, page_bytes: u32) -> Result<Sized<'_>, TraceError> {
        let Some(capacity) = self.capacity else {
            return Ok((Cow::Borrowed(&*self.threads), Cow::Borrowed(&self.targets), ALIGNMENT));
        };
        self.targets.place(capacity, 1)?;
        let scale = Scale { capacity, drive };
        let alignment = u64::from(page_bytes);
        let unit = if self.targets.0.len() > 1 { alignment } else { 1 };
        let scaled = self.threads.iter().map(|thread| scale::scaled(thread, scale, unit));
        let threads: Vec<_> = scaled.collect::<Result<_, _>>()?;
        let targets = Targets::of(&threads)?;
        Ok((Cow::Owned(threads), Cow::Owned(targets), alignment))
    }

    /// What is worth knowing, by name.
    fn notes(
        &self,
        groups: &[Vec<Plan>],
        space: &Space,
        has_clock: bool,
    ) -> Vec<(&'static str, String)> {
        let mut notes = vec![("fio jobs", describe(groups))];
        notes.extend(self.threads.first().map(|thread| {
            ("fio version", format!("the requests of fio {}", thread.options.version))
        }));
        if has_clock {
            let hosts = "each job is a host of its own, with its iodepth";
            notes.push(("fio hosts", hosts.to_owned()));
        } else if groups.iter().any(|group| group.len() > 1) {
            let turns = "jobs at once take turns, each for as many requests as its iodepth";
            notes.push(("fio turns", turns.to_owned()));
        }
        notes.extend(self.sizes(groups, space));
        let timed = self.threads.iter().flat_map(|thread| thread.options.timed.iter().copied());
        let timed: BTreeSet<_> = timed.collect();
        if !timed.is_empty() && !has_clock {
            let names: Vec<_> = timed.into_iter().collect();
            notes.push(("fio ignored", format!("{} (there is no clock)", names.join(", "))));
        }
        notes.extend(self.remarks.notes());
        notes
    }

    /// What became of sizes that are not those of the drive.
    fn sizes(&self, groups: &[Vec<Plan>], space: &Space) -> Option<(&'static str, String)> {
        let drive = space.logical_pages.saturating_mul(u64::from(space.page_bytes));
        let mut parts = Vec::new();
        if let Some(capacity) = self.capacity.filter(|_| self.has_sizes()) {
            let ratio = Scale { capacity, drive }.ratio();
            parts.push(format!("those of a drive of {capacity} bytes, {ratio:.4} times smaller"));
        }
        let beyond: BTreeSet<_> = groups
            .iter()
            .flatten()
            .filter(|plan| plan.is_beyond())
            .map(|plan| format!("[{}] goes to the end of the drive, as in fio", plan.name))
            .collect();
        parts.extend(beyond);
        (!parts.is_empty()).then(|| ("fio sizes", parts.join("; ")))
    }
}

/// Jobs and files of a drive, and to what the files are aligned.
type Sized<'a> = (Cow<'a, [Thread]>, Cow<'a, Targets>, u64);

/// Jobs that run at once, group by group.
fn groups(threads: &[Thread]) -> impl Iterator<Item = (u32, &[Thread])> {
    threads.chunk_by(|a, b| a.group == b.group).map(|jobs| (jobs[0].group, jobs))
}

/// Jobs with the queue depths that count, those with the same name and depth together.
fn describe(groups: &[Vec<Plan>]) -> String {
    let group = |plans: &Vec<Plan>| {
        let alike = plans.chunk_by(|a, b| a.name == b.name && a.depth == b.depth);
        let describe = |plans: &[Plan]| {
            let (plan, count) = (&plans[0], plans.len());
            let times = if count > 1 { format!(" x {count}") } else { String::new() };
            let asked = plan.options.iodepth;
            let because = if plan.depth == asked {
                String::new()
            } else {
                format!(
                    " instead of {asked}: ioengine {} waits for each request",
                    plan.options.engine
                )
            };
            format!("{}{times} (iodepth {}{because})", plan.name, plan.depth)
        };
        alike.map(describe).collect::<Vec<_>>().join(", ")
    };
    groups.iter().map(group).collect::<Vec<_>>().join("; then ")
}

/// The requests of the jobs of a file.
pub struct JobRequests {
    turns: Turns,
    notes: Vec<(&'static str, String)>,
}

impl JobRequests {
    /// Fills `batch`, which is empty, with the next requests; false at the end.
    pub fn fill(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        self.turns.fill(batch)
    }

    /// What is worth knowing of the jobs, by name: which there are, how they take turns, and which options
    /// mean nothing here.
    pub fn notes(&self) -> &[(&'static str, String)] {
        &self.notes
    }
}

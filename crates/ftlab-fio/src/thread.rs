//! What a job file comes to: threads, as fio calls the jobs that `numjobs` makes of a section.

use super::job_file::{Place, Section};
use super::known::Fate;
use super::options::{JOBS_MAX, Options};
use super::remarks::Remarks;
use super::values::Fault;
use super::version::Version;
use ftlab_random::seeds::{self, Seeds};
use ftlab_trace::TraceError;
use std::path::Path;

/// One job that runs by itself.
#[derive(Debug, Clone)]
pub(super) struct Thread {
    /// Its section.
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) options: Options,
    /// From 1 over all sections.
    pub(super) number: u64,
    /// Within its section: 0, and then from the last to the first, as fio counts.
    pub(super) subjob: u32,
    /// Groups run one after the other, divided by `stonewall`.
    pub(super) group: u32,
    /// What it writes to.
    pub(super) file: String,
}

/// The threads of all sections, in fio's order; of a version of it, or else of the one that their file states.
pub(super) fn threads(
    sections: &[Section],
    version: Option<Version>,
    remarks: &mut Remarks,
) -> Result<Vec<Thread>, TraceError> {
    let of_section = |section: &Section| {
        let version = version.or(section.version).unwrap_or(Version::NEWEST);
        Options { version, ..Options::default() }
    };
    let mut defaults = Options::default();
    let mut threads: Vec<Thread> = Vec::new();
    let mut group = 0;
    for (index, section) in sections.iter().enumerate() {
        if index == 0 || section.begins_file {
            defaults = of_section(section);
        }
        if section.is_global() {
            apply(&mut defaults, section, remarks)?;
            continue;
        }
        let mut options = defaults.clone();
        apply(&mut options, section, remarks)?;
        if options.time_based && options.runtime_us == 0 {
            options.time_based = false;
            remarks.note_timeless(&section.name);
        }
        group += u32::from(options.stonewall && !threads.is_empty());
        let jobs = options.numjobs;
        if threads.len() as u64 + u64::from(jobs) > JOBS_MAX {
            return Err(section.place.refuse(Fault::new(
                format!("more than {JOBS_MAX} jobs, with numjobs={jobs}"),
                "let numjobs be less",
            )));
        }
        for subjob in std::iter::once(0).chain((1..jobs).rev()) {
            threads.push(Thread {
                name: section.name.clone(),
                place: section.place.clone(),
                file: file_of(section, &options, subjob)?,
                options: options.clone(),
                number: threads.len() as u64 + 1,
                subjob,
                group,
            });
        }
    }
    Ok(threads)
}

/// Takes the options of a section over, in their order.
fn apply(
    options: &mut Options,
    section: &Section,
    remarks: &mut Remarks,
) -> Result<(), TraceError> {
    for setting in &section.settings {
        let fate = options.set(&setting.name, setting.value.as_deref());
        match fate.map_err(|fault| setting.refuse(fault))? {
            Fate::Used => remarks.note_used(setting, options.kb_base),
            Fate::PassedOver | Fate::Refused(_) => remarks.pass_over(&setting.name),
        }
    }
    Ok(())
}

/// The name of what a thread writes to, as fio makes it.
fn file_of(section: &Section, options: &Options, subjob: u32) -> Result<String, TraceError> {
    let refuse = |what: String| {
        let remedy = "make it a job for each file; a name of [global] and one of the job are two";
        Err(section.place.refuse(Fault::new(what, remedy)))
    };
    let has_several = |text: &str| text.replace("\\:", "").contains(':');
    if let Some(directory) = options.directory.as_deref().filter(|text| has_several(text)) {
        return refuse(format!("directory={directory} names several"));
    }
    let name = match &options.filename {
        Some(names) if has_several(names) => {
            return refuse(format!("filename={names} names several"));
        }
        Some(name) => name.replace("\\:", ":"),
        None if section.name.starts_with("/dev/") => section.name.clone(),
        None => options
            .filename_format
            .replace("$jobname", &section.name)
            .replace("$jobnum", &subjob.to_string())
            .replace("$filenum", "0"),
    };
    Ok(match &options.directory {
        Some(directory) => format!("{directory}/{name}"),
        None => name,
    })
}

impl Thread {
    /// What an error of this job is.
    pub(super) fn refuse(
        &self,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> TraceError {
        let reason = format!("[{}] {}", self.name, reason.into());
        self.place.refuse(Fault { reason, remedy: remedy.into() })
    }

    /// Whether it replays nothing but a file, or a limited number of requests.
    pub(super) fn replay_ends(&self) -> bool {
        let replayed = self.options.read_iolog.as_ref();
        replayed.is_none_or(|name| Path::new(name).exists()) || self.options.number_ios > 0
    }

    /// Whether it can write: what it replays may.
    pub(super) fn writes(&self) -> bool {
        let options = &self.options;
        let [reads, writes, _] = options.direction.does;
        options.read_iolog.is_some() || (writes && !(reads && options.rwmixread == 100))
    }

    /// Whether `randrepeat` holds while the job runs: `randseed` takes it back.
    pub(super) fn is_repeatable(&self) -> bool {
        self.options.randrepeat && self.options.randseed.is_none()
    }

    /// The seeds of its streams; where fio would ask the system, they follow from `own_seed`.
    pub(super) fn seeds(&self, own_seed: u64) -> Seeds {
        let options = &self.options;
        if options.allrandrepeat {
            return self.with_offsets(seeds::all_repeatable(self.number));
        }
        let asks_system = !options.randrepeat && options.randseed.is_none();
        let default = if asks_system { own_seed } else { seeds::RANDSEED };
        let randseed = options.randseed.unwrap_or(default);
        self.with_offsets(seeds::of_randseed(randseed, self.number))
    }

    /// Puts in the seed of offsets that `randrepeat` gave until fio 3.34. Of a section's first job it is not yet
    /// taken back by `randseed` when the streams are seeded.
    fn with_offsets(&self, mut seeds: Seeds) -> Seeds {
        let options = &self.options;
        let is_first = self.subjob == 0;
        let is_repeatable = options.randrepeat && (is_first || self.is_repeatable());
        let is_own = is_repeatable && options.direction.is_random;
        if is_own && !options.version.seeds_follow_randseed() {
            seeds[seeds::OFFSETS] = seeds::repeatable_offsets(self.number);
        }
        seeds
    }

    /// The seed of distributions that have numbers of their own for each file.
    pub(super) fn file_seed(&self, seeds: &Seeds) -> u32 {
        let offsets = seeds[seeds::OFFSETS] as u32;
        let of_file = seeds::of_file(&self.file, self.number);
        if self.options.version.seeds_follow_randseed() {
            of_file.wrapping_mul(offsets)
        } else if self.is_repeatable() {
            of_file
        } else {
            offsets
        }
    }
}

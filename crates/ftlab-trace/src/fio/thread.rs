//! What a job file comes to: threads, as fio calls the jobs that `numjobs` makes of a section.

use super::job_file::{Place, Section};
use super::options::{Fate, Options};
use super::other::JOBS_MAX;
use super::seeds::{self, Seeds};
use super::values::{Fault, KbBase};
use crate::TraceError;
use std::collections::BTreeMap;
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

/// Options that were passed over -> how often.
pub(super) type PassedOver = BTreeMap<String, u32>;

/// The threads of all sections, in fio's order.
pub(super) fn threads(sections: &[Section]) -> Result<(Vec<Thread>, PassedOver), TraceError> {
    let mut defaults = Options::default();
    let mut passed_over = PassedOver::new();
    let mut threads: Vec<Thread> = Vec::new();
    let mut group = 0;
    for section in sections {
        if section.is_global() {
            apply(&mut defaults, section, &mut passed_over)?;
            continue;
        }
        let mut options = defaults.clone();
        apply(&mut options, section, &mut passed_over)?;
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
    Ok((threads, passed_over))
}

/// Takes the options of a section over; `kb_base` first, because sizes depend on it.
fn apply(
    options: &mut Options,
    section: &Section,
    passed_over: &mut PassedOver,
) -> Result<(), TraceError> {
    for setting in section.settings.iter().filter(|setting| setting.name == "kb_base") {
        options.kb_base = match setting.value.as_deref() {
            Some("1000") => KbBase(false),
            Some("1024") => KbBase(true),
            value => {
                let fault = Fault::value(value.unwrap_or_default(), "1000 or 1024");
                return Err(setting.place.refuse(fault));
            }
        };
    }
    for setting in &section.settings {
        let fate = options.set(&setting.name, setting.value.as_deref());
        match fate.map_err(|fault| setting.place.refuse(fault))? {
            Fate::PassedOver if setting.name != "kb_base" => {
                *passed_over.entry(setting.name.clone()).or_default() += 1;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The name of what a thread writes to, as fio makes it.
fn file_of(section: &Section, options: &Options, subjob: u32) -> Result<String, TraceError> {
    let refuse = |what: String| {
        let remedy = "make it a job for each file";
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

    /// Whether it replays nothing but a file, or only so many requests.
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

    /// The same with the seed of offsets that `randrepeat` gives. Of a section's first job it is not yet
    /// taken back by `randseed` when the streams are seeded.
    fn with_offsets(&self, mut seeds: Seeds) -> Seeds {
        let is_first = self.subjob == 0;
        let is_repeatable = self.options.randrepeat && (is_first || self.is_repeatable());
        if is_repeatable && self.options.direction.is_random {
            seeds[seeds::OFFSETS] = seeds::repeatable_offsets(self.number);
        }
        seeds
    }
}

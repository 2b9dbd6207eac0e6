//! Commands of fio: options of jobs as arguments, as people paste them.
//!
//! What stands before the first `--name` holds for all jobs, as in a section `[global]`; every `--name` begins a
//! job. Names have one dash or two, may be cut short as long as one option alone begins so, and have their value
//! after `=` or as the next argument; options that need no value have one only after `=`. What is no option is a
//! job file, whose jobs come after those of the command; of a further file none of the defaults before it hold,
//! and its first job waits for all before. The version that a file states is that of the whole command. `--section`
//! chooses jobs of the first file. Options are taken in their order, `kb_base` too, and `${NAME}` is left to the
//! shell.

use super::job_file::{self, Place, Section, Setting, Surroundings};
use super::known::{self, Known};
use super::remarks::Remarks;
use super::values::Fault;
use super::version::Version;
use ftlab_trace::TraceError;

/// What messages call a command.
pub(super) const NAME: &str = "the command of fio";

/// Options of fio itself that change no job: `?` after those that have a value only after `=`, `!` after those
/// that have none.
const PASSED_OVER: &str = "output output-format append-terse? minimal! terse-version bandwidth-log? latency-log \
                           eta eta-interval eta-newline status-interval debug warnings-fatal! max-jobs alloc-size \
                           daemonize idle-prof trigger trigger-file trigger-timeout trigger-remote aux-path";

/// Options with which fio runs no jobs, or others than those of the command.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        "help! version! cmdhelp? enghelp? cpuclock-test! crctest? memcpytest? inflate-log showcmd! parse-only! \
         merge-blktrace-only!",
        "fio runs no job with it",
        "leave it out",
    ),
    ("readonly!", "fio refuses to write with it", "leave it out"),
    ("client server? server-internal remote-config", "it runs jobs elsewhere", "leave it out"),
    ("profile", "profiles of fio are programs", "write their jobs as options"),
];

/// Whether an option has a value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Argument {
    /// After `=`, or the next argument.
    Needed,
    /// After `=`, if at all.
    Optional,
    Never,
}

/// What an option says.
#[derive(Debug, Clone, Copy)]
enum Meaning {
    /// Something of jobs.
    Job,
    /// `--section`.
    Section,
    PassedOver,
    Refused {
        reason: &'static str,
        remedy: &'static str,
    },
}

/// An option that a command may have.
#[derive(Debug, Clone, Copy)]
struct Choice {
    name: &'static str,
    argument: Argument,
    meaning: Meaning,
}

/// All options; those of fio itself come first, as fio looks them up.
fn choices() -> impl Iterator<Item = Choice> {
    let own = |texts: &'static str, meaning| {
        texts.split_whitespace().map(move |text| {
            let argument = match text.bytes().last() {
                Some(b'?') => Argument::Optional,
                Some(b'!') => Argument::Never,
                _ => Argument::Needed,
            };
            Choice { name: text.trim_end_matches(['?', '!']), argument, meaning }
        })
    };
    let refused = REFUSED
        .iter()
        .flat_map(move |&(texts, reason, remedy)| own(texts, Meaning::Refused { reason, remedy }));
    let of_jobs = known::names().map(|(name, Known { is_switch, .. })| {
        let argument = if is_switch { Argument::Optional } else { Argument::Needed };
        Choice { name, argument, meaning: Meaning::Job }
    });
    own(PASSED_OVER, Meaning::PassedOver)
        .chain(own("section", Meaning::Section))
        .chain(refused)
        .chain(of_jobs)
}

/// The option that is called so, or the only one whose name begins so.
fn find(name: &str) -> Result<Choice, Fault> {
    if let Some(choice) = choices().find(|choice| choice.name == name) {
        return Ok(choice);
    }
    let mut near: Vec<Choice> = choices().filter(|choice| choice.name.starts_with(name)).collect();
    near.dedup_by_key(|choice| choice.name);
    match near.as_slice() {
        [choice] => Ok(*choice),
        [] => Err(known::unknown(name)),
        _ => {
            let names: Vec<_> = near.iter().map(|choice| choice.name).collect();
            Err(Fault::new(
                format!("--{name} may be {}", names.join(" or ")),
                "write the whole name",
            ))
        }
    }
}

/// The sections that a command comes to, and the options of fio itself that were passed over. The first of the
/// `words` is the program.
pub(super) fn sections(
    words: &[String],
    around: &dyn Surroundings,
) -> Result<(Vec<Section>, Remarks), TraceError> {
    let mut reader = Reader::default();
    let mut words = words.iter().zip(0..).skip(1);
    let mut has_options = true;
    while let Some((word, number)) = words.next() {
        let place = Place { file: NAME.into(), unit: "argument", line: number };
        if has_options && word == "--" {
            has_options = false;
        } else if has_options && word.len() > 1 && word.starts_with('-') {
            reader.read_option(word, &place, || words.next().map(|(word, _)| word.clone()))?;
        } else {
            reader.files.push((word.clone(), place));
        }
    }
    reader.read_files(around)?;
    Ok((reader.sections, reader.remarks))
}

#[derive(Default)]
struct Reader {
    sections: Vec<Section>,
    remarks: Remarks,
    /// Whether options belong to the last section.
    is_in_section: bool,
    /// Of `--section`.
    only: Vec<String>,
    files: Vec<(String, Place)>,
}

impl Reader {
    fn read_option(
        &mut self,
        word: &str,
        place: &Place,
        next: impl FnOnce() -> Option<String>,
    ) -> Result<(), TraceError> {
        let text = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or(word);
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let choice = find(name).map_err(|fault| place.refuse(fault))?;
        let value = match choice.argument {
            Argument::Needed => Some(value.or_else(next).ok_or_else(|| {
                let name = choice.name;
                place.refuse(Fault::new(
                    format!("--{name} has no value"),
                    format!("write --{name}=VALUE"),
                ))
            })?),
            Argument::Optional | Argument::Never => value,
        };
        match (choice.meaning, value) {
            (Meaning::Refused { reason, remedy }, _) => {
                Err(place.refuse(Fault::new(format!("--{}: {reason}", choice.name), remedy)))
            }
            (Meaning::PassedOver, _) => {
                self.remarks.pass_over(&format!("--{}", choice.name));
                Ok(())
            }
            (Meaning::Section, Some(name)) => {
                self.only.push(name);
                Ok(())
            }
            (Meaning::Job, Some(name)) if choice.name == "name" => self.begin(name, place),
            (Meaning::Job | Meaning::Section, value) => {
                self.set(choice.name, value, place);
                Ok(())
            }
        }
    }

    /// `--name`: the next job, or again what holds for all.
    fn begin(&mut self, name: String, place: &Place) -> Result<(), TraceError> {
        if name.is_empty() {
            return Err(place.refuse(Fault::new("--name has no value", "write --name=JOB")));
        }
        let section = Section::new(name, place.clone());
        // fio takes the options of a job that --section leaves out for all jobs after it.
        self.is_in_section = section.is_global() || is_chosen(&self.only, &section.name);
        if self.is_in_section {
            self.sections.push(section);
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: Option<String>, place: &Place) {
        if !self.is_in_section {
            self.sections.push(Section::new("global", place.clone()));
            self.is_in_section = true;
        }
        let setting =
            Setting { name: name.to_owned(), value, place: place.clone(), unset: Vec::new() };
        self.sections.last_mut().into_iter().for_each(|section| {
            section.settings.push(setting.clone());
        });
    }

    /// The job files, after the jobs of the command. One fio runs all of them: of the version that they state.
    fn read_files(&mut self, around: &dyn Surroundings) -> Result<(), TraceError> {
        let mut stated = None;
        for (index, (file, place)) in std::mem::take(&mut self.files).into_iter().enumerate() {
            if file == "-" {
                let fault = Fault::new("- reads the jobs from standard input", "name a file");
                return Err(place.refuse(fault));
            }
            let (name, text) = around.include(&file, NAME)?;
            let mut own = job_file::sections(&text, &name, &self.only, around)?;
            let version = own.first().and_then(|section| section.version);
            agree(&mut stated, version, &name).map_err(|fault| place.refuse(fault))?;
            if index > 0 {
                begin_file(&mut own);
            }
            self.sections.append(&mut own);
            // fio forgets them with the first file.
            self.only.clear();
        }
        let version = stated.map(|(version, _)| version);
        self.sections.iter_mut().for_each(|section| section.version = version);
        Ok(())
    }
}

/// Takes over the version that the job file `name` states, if it states one; refuses another than a file before.
fn agree(
    stated: &mut Option<(Version, String)>,
    version: Option<Version>,
    name: &str,
) -> Result<(), Fault> {
    let Some(version) = version else { return Ok(()) };
    let (first, file) = stated.get_or_insert_with(|| (version, name.to_owned()));
    if *first == version {
        return Ok(());
    }
    Err(Fault::new(
        format!("{name} states version={version}, and {file} version={first}"),
        "state the same in both, or run them one after the other",
    ))
}

fn is_chosen(only: &[String], name: &str) -> bool {
    only.is_empty() || only.iter().any(|chosen| chosen == name)
}

/// What holds for a further file: its own defaults, and that its first job waits for all before.
fn begin_file(sections: &mut [Section]) {
    if let Some(first) = sections.first_mut() {
        first.begins_file = true;
    }
    if let Some(job) = sections.iter_mut().find(|section| !section.is_global()) {
        let place = job.place.clone();
        let stonewall = Setting { name: "stonewall".into(), value: None, place, unset: Vec::new() };
        job.settings.insert(0, stonewall);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two job files.
    struct Files;

    impl Surroundings for Files {
        fn include(&self, path: &str, _from: &str) -> Result<(String, String), TraceError> {
            let text = match path {
                "one.fio" => "[global]\nrw=write\n[a]\nbs=8k\n[b]\nbs=16k\n",
                _ => "[c]\nsize=1m\n[d]\nsize=2m\n",
            };
            Ok((path.into(), text.into()))
        }

        fn variable(&self, _name: &str) -> Option<String> {
            None
        }
    }

    fn read(command: &str) -> Result<Vec<Section>, String> {
        let words: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
        sections(&words, &Files).map(|(sections, _)| sections).map_err(|error| error.to_string())
    }

    /// Sections as `name(option=value ...)`.
    fn shown(command: &str) -> String {
        let show = |section: &Section| {
            let settings = section.settings.iter().map(|setting| match &setting.value {
                Some(value) => format!("{}={value}", setting.name),
                None => setting.name.clone(),
            });
            let mark = if section.begins_file { "!" } else { "" };
            format!("{mark}{}({})", section.name, settings.collect::<Vec<_>>().join(" "))
        };
        read(command).unwrap().iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn options_before_a_name_hold_for_all_jobs() {
        for (command, expected) in [
            ("fio --bs=4k --name=a --rw=write --name=b", "global(bs=4k) a(rw=write) b()"),
            ("fio -bs 4k -name a -time_based -rw write", "global(bs=4k) a(time_based rw=write)"),
            ("fio --name=a --blocksize=4k --norandommap=0", "a(blocksize=4k norandommap=0)"),
            ("fio --name=a --name=global --bs=8k --name=b", "a() global(bs=8k) b()"),
            ("fio --name=a --runt=5 --output=x --minimal", "a(runtime=5)"),
            ("fio --name=a --description --rw=read", "a(description=--rw=read)"),
        ] {
            assert_eq!(shown(command), expected, "{command}");
        }
    }

    #[test]
    fn files_come_after_the_jobs_of_the_command_wherever_they_stand() {
        let one = "global(rw=write) a(bs=8k) b(bs=16k)";
        assert_eq!(shown("fio one.fio --iodepth=4"), format!("global(iodepth=4) {one}"));
        assert_eq!(shown("fio one.fio --name=x"), format!("x() {one}"));
        let both = format!("{one} !c(stonewall size=1m) d(size=2m)");
        assert_eq!(shown("fio one.fio -- two.fio"), both);
        assert_eq!(shown("fio --section=b one.fio"), "global(rw=write) b(bs=16k)");
        let forgotten = "global(rw=write) b(bs=16k) !c(stonewall size=1m) d(size=2m)";
        assert_eq!(shown("fio one.fio two.fio --section=b"), forgotten);
        // The options of a job that is left out hold for all after it.
        assert_eq!(shown("fio --section=b --name=a --bs=8k --name=b"), "global(bs=8k) b()");
    }

    #[test]
    fn all_options_of_the_program_are_known() {
        for text in known::listed("command") {
            let name = text.trim_end_matches(['?', '!']);
            let choice = choices().find(|choice| choice.name == name).unwrap();
            let argument = match text.bytes().last() {
                Some(b'?') => Argument::Optional,
                Some(b'!') => Argument::Never,
                _ => Argument::Needed,
            };
            // What takes no value in one version may take one in the next.
            let is_more = choice.argument == Argument::Optional && argument == Argument::Never;
            assert!(choice.argument == argument || is_more, "{name}: {argument:?}");
            assert!(!matches!(choice.meaning, Meaning::Job), "{name} is no option of jobs");
        }
        let Some(said) = known::installed(&["--help".to_owned()]) else { return };
        let names = said[0].lines().filter_map(|line| line.trim().strip_prefix("--"));
        let end = |letter: char| letter == '=' || letter.is_whitespace();
        let names: Vec<_> = names.filter_map(|line| line.split(end).next()).collect();
        assert!(names.len() > 20, "{said:?}");
        for name in names {
            assert!(find(name).is_ok(), "--{name}");
        }
    }

    #[test]
    fn what_is_no_command_says_which_argument() {
        for (command, part) in [
            ("fio --name=a --iodep=4", "argument 2: --iodep may be iodepth or iodepth_batch"),
            ("fio --name=a --bs", "argument 2: --bs has no value"),
            ("fio --name=", "argument 1: --name has no value"),
            ("fio --readonly --name=a", "argument 1: --readonly: fio refuses to write"),
            ("fio --client=host one.fio", "runs jobs elsewhere"),
            ("fio -", "standard input"),
            ("fio --name=a --group-reporting", "did you mean \"group_reporting\""),
        ] {
            let error = read(command).unwrap_err();
            assert!(error.starts_with(NAME) && error.contains(part), "{command}: {error}");
        }
    }
}

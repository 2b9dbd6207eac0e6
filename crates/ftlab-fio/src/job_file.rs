//! Job files as text: sections and the options in them.
//!
//! A section begins with its name in brackets. What follows are options, one on a line, `name=value` or a
//! name alone; `;` and `#` begin comments, anywhere. `include FILE` stands for the options in that file,
//! which has no sections of its own, and lies beside the one that names it, unless it is found where its
//! path says. `${NAME}` is the value of an environment variable, and nothing if it is not set.

use super::values::Fault;
use super::version::Version;
use ftlab_trace::TraceError;

/// A place in a job file or a command, for messages.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub(super) file: String,
    /// `line`, or `argument` of a command.
    pub(super) unit: &'static str,
    pub(super) line: u64,
}

impl Place {
    /// The error of an option at this place.
    pub(super) fn refuse(&self, fault: Fault) -> TraceError {
        TraceError::Refused {
            name: self.file.clone(),
            unit: self.unit,
            line: self.line,
            reason: fault.reason,
            remedy: fault.remedy,
        }
    }
}

/// An option as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) value: Option<String>,
    pub(super) place: Place,
    /// Environment variables that it names and that are not set.
    pub(super) unset: Vec<String>,
}

impl Setting {
    /// The error of this option; of variables that are not set, it says so.
    pub(super) fn refuse(&self, fault: Fault) -> TraceError {
        let Some(name) = self.unset.first() else { return self.place.refuse(fault) };
        let reason = format!("{}, and ${{{name}}} is not set", fault.reason);
        self.place.refuse(Fault::new(reason, format!("set {name} in the environment")))
    }
}

/// A section: `[global]`, or a job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) settings: Vec<Setting>,
    pub(super) place: Place,
    /// Whether it is the first of a further job file, for which no defaults of before hold.
    pub(super) begins_file: bool,
    /// Of which fio its file states that it is.
    pub(super) version: Option<Version>,
}

impl Section {
    /// A section in which nothing is set yet.
    pub(super) fn new(name: impl Into<String>, place: Place) -> Self {
        Self { name: name.into(), settings: Vec::new(), place, begins_file: false, version: None }
    }

    /// Whether it holds for all jobs after it, which every name does that begins with "global".
    pub(super) fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// What a job file takes from elsewhere.
pub(super) trait Surroundings {
    /// The text of a file that `from` includes, and its name.
    fn include(&self, path: &str, from: &str) -> Result<(String, String), TraceError>;
    /// The value of an environment variable, if it is set.
    fn variable(&self, name: &str) -> Option<String>;
}

/// How deep files include each other at most.
const DEPTH_MAX: usize = 16;

/// Sections that a file has at most, and options over all of them.
const SETTINGS_MAX: usize = 100_000;

/// The sections of the job file `name`; of its jobs only those that `only` names, unless it names none.
pub(super) fn sections(
    text: &str,
    name: &str,
    only: &[String],
    around: &dyn Surroundings,
) -> Result<Vec<Section>, TraceError> {
    let mut reader = Reader {
        sections: Vec::new(),
        version: None,
        settings: 0,
        only,
        is_skipping: false,
        around,
    };
    reader.read(text, name, 0)?;
    let mut sections = reader.sections;
    for section in &mut sections {
        section.version = reader.version;
        // Sizes depend on it, wherever it stands in the section.
        section.settings.sort_by_key(|setting| setting.name != "kb_base");
    }
    Ok(sections)
}

struct Reader<'a> {
    sections: Vec<Section>,
    version: Option<Version>,
    settings: usize,
    only: &'a [String],
    /// Whether the section is not one of those.
    is_skipping: bool,
    around: &'a dyn Surroundings,
}

impl Reader<'_> {
    fn read(&mut self, text: &str, file: &str, depth: usize) -> Result<(), TraceError> {
        for (line, number) in text.lines().zip(1..) {
            let place = Place { file: file.to_owned(), unit: "line", line: number };
            let (line, comment) = line.split_once([';', '#']).unwrap_or((line, ""));
            self.state(comment).map_err(|fault| place.refuse(fault))?;
            let line = line
                .trim_matches(|letter: char| letter.is_ascii_whitespace() || letter.is_control());
            if line.is_empty() {
                continue;
            }
            self.settings += 1;
            if self.settings > SETTINGS_MAX {
                return Err(place.refuse(Fault::new(
                    format!("more than {SETTINGS_MAX} sections and options"),
                    "divide the file",
                )));
            }
            self.read_line(line, place, depth)?;
        }
        Ok(())
    }

    /// Takes a version over that a comment states.
    fn state(&mut self, comment: &str) -> Result<(), Fault> {
        let Some(version) = Version::stated(comment)? else { return Ok(()) };
        match self.version.replace(version) {
            Some(other) if other != version => Err(Fault::new(
                format!("version={version} after version={other}"),
                "name one for the whole file",
            )),
            _ => Ok(()),
        }
    }

    fn read_line(&mut self, line: &str, place: Place, depth: usize) -> Result<(), TraceError> {
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.strip_suffix(']').filter(|name| !name.is_empty()).ok_or_else(|| {
                place.refuse(Fault::new(format!("{line:?} is no section"), "write [NAME]"))
            })?;
            if depth > 0 {
                return Err(place.refuse(Fault::new(
                    format!("section [{name}] in a file that is included"),
                    "move it to the job file itself",
                )));
            }
            let section = Section::new(name, place);
            let is_named = self.only.is_empty() || self.only.contains(&section.name);
            self.is_skipping = !is_named && !section.is_global();
            if !self.is_skipping {
                self.sections.push(section);
            }
            return Ok(());
        }
        if self.is_skipping {
            return Ok(());
        }
        if self.sections.is_empty() {
            return Err(place.refuse(Fault::new(
                format!("{line:?} is in no section"),
                "begin with [global], or with the name of a job in brackets",
            )));
        }
        if let Some(path) =
            line.strip_prefix("include").filter(|path| path.starts_with([' ', '\t']))
        {
            return self.include(path.trim(), &place, depth);
        }
        let (line, unset) = self.substitute(line).map_err(|fault| place.refuse(fault))?;
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim().to_owned())),
            None => (line.as_str(), None),
        };
        let setting = Setting { name: name.into(), value, place, unset };
        self.sections.last_mut().into_iter().for_each(|section| {
            section.settings.push(setting.clone());
        });
        Ok(())
    }

    fn include(&mut self, path: &str, place: &Place, depth: usize) -> Result<(), TraceError> {
        if depth == DEPTH_MAX {
            return Err(place.refuse(Fault::new(
                format!("{DEPTH_MAX} files that include each other"),
                "let none include itself",
            )));
        }
        let (name, text) = self.around.include(path, &place.file)?;
        self.read(&text, &name, depth + 1)
    }

    /// `line` with the values of variables, for `${NAME}`; and which of them are not set.
    fn substitute(&self, line: &str) -> Result<(String, Vec<String>), Fault> {
        let (mut out, mut unset) = (String::new(), Vec::new());
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, after)) = after.split_once('}') else { break };
            out.push_str(before);
            match self.around.variable(name) {
                Some(value) => out.push_str(&value),
                None => unset.push(name.to_owned()),
            }
            rest = after;
        }
        out.push_str(rest);
        for keyword in ["$pagesize", "$mb_memory", "$ncpus"] {
            if out.contains(keyword) {
                return Err(Fault::new(
                    format!("{keyword} depends on the machine that runs fio"),
                    "write the number",
                ));
            }
        }
        Ok((out, unset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;

    impl Surroundings for Fixed {
        fn include(&self, path: &str, _from: &str) -> Result<(String, String), TraceError> {
            let text = match path {
                "common" => "bs=8k\niodepth=4",
                "again" => "include again",
                _ => "[x]",
            };
            Ok((path.into(), text.into()))
        }

        fn variable(&self, name: &str) -> Option<String> {
            (name == "SIZE").then(|| "1g".into())
        }
    }

    fn of(text: &str) -> Result<Vec<Section>, String> {
        sections(text, "jobs.fio", &[], &Fixed).map_err(|error| error.to_string())
    }

    #[test]
    fn sections_that_are_not_named_are_passed_over_whatever_is_in_them() {
        let text =
            "[global]\nbs=4k\n[a]\nrw=write\n[b]\ninclude again\nno section [ here\n[c]\nsize=1m\n";
        let only = ["a".to_owned(), "c".to_owned()];
        let read = sections(text, "jobs.fio", &only, &Fixed).unwrap();
        let names: Vec<_> = read.iter().map(|section| section.name.as_str()).collect();
        assert_eq!(names, ["global", "a", "c"]);
        assert!(read.iter().all(|section| section.settings.len() == 1), "{read:?}");
    }

    #[test]
    fn variables_that_are_not_set_are_empty_and_noted() {
        let read = of("[a]\nfilename=/dev/${DEV}${SIZE}\nbs=${SIZE}\n").unwrap();
        let settings = &read[0].settings;
        assert_eq!(settings[0].value.as_deref(), Some("/dev/1g"));
        assert_eq!((&settings[0].unset[..], settings[1].unset.len()), (&["DEV".to_owned()][..], 0));
    }

    #[test]
    fn sections_comments_includes_and_variables_are_read() {
        let text = "; a comment\n[global]\n size = ${SIZE} # how much\n include common\n\n[a b]\ntime_based\n";
        let read = of(text).unwrap();
        let settings = |section: &Section| -> Vec<_> {
            let pair = |setting: &Setting| (setting.name.clone(), setting.value.clone());
            section.settings.iter().map(pair).collect()
        };
        assert!(read[0].is_global() && !read[1].is_global() && read[1].name == "a b");
        let some = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        assert_eq!(
            settings(&read[0]),
            [some("size", "1g"), some("bs", "8k"), some("iodepth", "4")]
        );
        assert_eq!(settings(&read[1]), [("time_based".into(), None)]);
        assert_eq!(
            read[0].settings[1].place,
            Place { file: "common".into(), unit: "line", line: 1 }
        );
    }

    #[test]
    fn what_is_no_job_file_says_where() {
        for (text, part) in [
            ("bs=4k", "jobs.fio, line 1: \"bs=4k\" is in no section"),
            ("[a]\n[b", "line 2: \"[b\" is no section"),
            ("[a]\ninclude other", "other, line 1: section [x] in a file that is included"),
            ("[a]\ninclude again", "16 files that include each other"),
            ("[a]\nnumjobs=$ncpus", "$ncpus depends on the machine"),
            ("; ftlab: version=1\n[a]", "jobs.fio, line 1: version=1 is no version"),
            (
                "# ftlab: version=3.33\n[a]\nbs=4k ; ftlab: version=3.42",
                "line 3: version=3.42 after",
            ),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}

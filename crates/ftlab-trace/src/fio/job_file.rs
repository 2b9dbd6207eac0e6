//! Job files as text: sections and the options in them.
//!
//! A section begins with its name in brackets. What follows are options, one on a line, `name=value` or a
//! name alone; `;` and `#` begin comments, anywhere. `include FILE` stands for the options in that file,
//! which has no sections of its own, and lies beside the one that names it, unless it is found where its
//! path says. `${NAME}` is the value of an environment variable.

use super::values::Fault;
use crate::TraceError;

/// A place in a job file, for messages.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: u64,
}

impl Place {
    /// The error of an option at this place.
    pub(super) fn refuse(&self, fault: Fault) -> TraceError {
        TraceError::Refused {
            name: self.file.clone(),
            unit: "line",
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
}

/// A section: `[global]`, or a job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) settings: Vec<Setting>,
    pub(super) place: Place,
}

impl Section {
    /// Whether it holds for all jobs after it, which every name does that begins with "global".
    pub(super) fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// What a job file takes from elsewhere.
pub(super) trait Surroundings {
    /// The text of a file that `from` includes, and its name.
    fn include(&self, path: &str, from: &str) -> Result<(String, String), TraceError>;
    /// The value of an environment variable; empty if it is not set.
    fn variable(&self, name: &str) -> String;
}

/// How deep files include each other at most.
const DEPTH_MAX: usize = 16;

/// Sections that a file has at most, and options over all of them.
const SETTINGS_MAX: usize = 100_000;

/// The sections of the job file `name`.
pub(super) fn sections(
    text: &str,
    name: &str,
    around: &dyn Surroundings,
) -> Result<Vec<Section>, TraceError> {
    let mut reader = Reader { sections: Vec::new(), settings: 0, around };
    reader.read(text, name, 0)?;
    Ok(reader.sections)
}

struct Reader<'a> {
    sections: Vec<Section>,
    settings: usize,
    around: &'a dyn Surroundings,
}

impl Reader<'_> {
    fn read(&mut self, text: &str, file: &str, depth: usize) -> Result<(), TraceError> {
        for (line, number) in text.lines().zip(1..) {
            let line = line.split([';', '#']).next().unwrap_or_default();
            let line = line
                .trim_matches(|letter: char| letter.is_ascii_whitespace() || letter.is_control());
            if line.is_empty() {
                continue;
            }
            let place = Place { file: file.to_owned(), line: number };
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
            self.sections.push(Section { name: name.into(), settings: Vec::new(), place });
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
        let line = self.substitute(line).map_err(|fault| place.refuse(fault))?;
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim().to_owned())),
            None => (line.as_str(), None),
        };
        let setting = Setting { name: name.into(), value, place };
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

    /// `line` with the values of variables, for `${NAME}`.
    fn substitute(&self, line: &str) -> Result<String, Fault> {
        let mut out = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, after)) = after.split_once('}') else { break };
            out.push_str(before);
            out.push_str(&self.around.variable(name));
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
        Ok(out)
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

        fn variable(&self, name: &str) -> String {
            if name == "SIZE" { "1g".into() } else { String::new() }
        }
    }

    fn of(text: &str) -> Result<Vec<Section>, String> {
        sections(text, "jobs.fio", &Fixed).map_err(|error| error.to_string())
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
        assert_eq!(read[0].settings[1].place, Place { file: "common".into(), line: 1 });
    }

    #[test]
    fn what_is_no_job_file_says_where() {
        for (text, part) in [
            ("bs=4k", "jobs.fio, line 1: \"bs=4k\" is in no section"),
            ("[a]\n[b", "line 2: \"[b\" is no section"),
            ("[a]\ninclude other", "other, line 1: section [x] in a file that is included"),
            ("[a]\ninclude again", "16 files that include each other"),
            ("[a]\nnumjobs=$ncpus", "$ncpus depends on the machine"),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
